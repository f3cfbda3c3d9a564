"""Comparing runs on one collection."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ir_lexirecall._util.lazy import exports

if TYPE_CHECKING:
    from ir_lexirecall.comparison.comparing import compare
    from ir_lexirecall.comparison.gating import Gate, gate
    from ir_lexirecall.comparison.result import Comparison
else:
    __getattr__, __dir__ = exports(
        __name__,
        {
            "Comparison": "ir_lexirecall.comparison.result",
            "Gate": "ir_lexirecall.comparison.gating",
            "compare": "ir_lexirecall.comparison.comparing",
            "gate": "ir_lexirecall.comparison.gating",
        },
    )

__all__ = ["Comparison", "Gate", "compare", "gate"]
