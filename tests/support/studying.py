"""What tests of studies share."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

import ir_lexirecall as irl
from ir_lexirecall.meta import Study


def studied(
    name: str, measures: Any, qrels: Any, runs: Any, *arguments: Any, **options: Any
) -> pd.DataFrame:
    """A study by its name, with options of ``Study`` and its own."""
    of_runs = {
        key: options.pop(key)
        for key in ("rel", "allow_empty", "progress")
        if key in options
    }
    table: pd.DataFrame = getattr(Study(measures, qrels, runs, **of_runs), name)(
        *arguments, **options
    )
    return table


def values_of(label: str, qrels: Any, runs: Any) -> Any:
    """Values of a measure by query (rows) and run (columns)."""
    return np.stack(
        [irl.evaluate(label, qrels, run)[label].to_numpy() for run in runs.values()],
        axis=1,
    )
