"""What every study gives: a plain DataFrame that says in ``attrs`` what was run."""

from __future__ import annotations

from typing import Any

import pandas as pd

from ir_lexirecall._util.provenance import versions

_COMPUTED_BY = ("ir-lexirecall", "ir-measures", "numpy", "scipy", "pandas")


def study(table: pd.DataFrame, function: str, **provenance: Any) -> pd.DataFrame:
    """Record in ``attrs`` which function the user called (``plot`` draws by it), its options, and versions of what computed.

    >>> study(pd.DataFrame({"x": [1]}), "ties", rel=1).attrs["function"]
    'ties'
    """
    table.attrs = {"function": function, **provenance, "versions": versions(_COMPUTED_BY)}
    return table
