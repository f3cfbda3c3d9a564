"""Frames of any library, as columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def columns_of_frame(data: Any) -> tuple[dict[str, Sequence[Any]], Sequence[Any] | None] | None:
    """A frame's columns by name, and its index where that names something; None of what is no frame."""
    if hasattr(data, "collect") and not hasattr(data, "itertuples"):  # Polars' LazyFrame
        data = data.collect()
    if hasattr(data, "to_frame") and hasattr(data, "index"):  # pandas' Series
        data = data.to_frame(data.name if data.name is not None else "value")
    if not hasattr(data, "itertuples") and hasattr(data, "to_pandas") and not hasattr(data, "__arrow_c_stream__"):
        data = data.to_pandas()  # ragas' results
    if hasattr(data, "itertuples"):
        if any(name is not None for name in data.index.names):
            data = data.reset_index()
        names = [str(name) for name in data.columns]
        columns = {name: _plain(data.iloc[:, i]) for i, name in enumerate(names)}
        if len(columns) < len(names):
            raise ValueError(f"the column {next(n for n in names if names.count(n) > 1)!r} occurs twice; keep one")
        counted = type(data.index).__name__ == "RangeIndex"
        return columns, None if counted else data.index.tolist()
    if hasattr(data, "to_dicts"):  # Polars
        return {series.name: series.to_list() for series in data}, None
    if hasattr(data, "to_pydict"):  # Arrow
        return data.to_pydict(), None
    return None


def _plain(column: Any) -> Any:
    kind = getattr(column.dtype, "kind", "O")
    if kind in "fiu" and not hasattr(column.dtype, "na_value"):
        return column.to_numpy()
    return [None if missing else value for value, missing in zip(column.tolist(), column.isna(), strict=True)]
