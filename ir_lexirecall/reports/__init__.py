"""Results as one HTML file."""

from typing import TYPE_CHECKING

from ir_lexirecall._util.lazy import exports

if TYPE_CHECKING:
    from ir_lexirecall.reports.page import report
else:
    __getattr__, __dir__ = exports(__name__, {"report": "ir_lexirecall.reports.page"})

__all__ = ["report"]
