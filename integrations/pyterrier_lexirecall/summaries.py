"""The summaries that ``pt.Experiment`` writes into ``save_dir``: ``aggregated.csv`` and ``perquery.csv``."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

_AGGREGATED, _PERQUERY = "aggregated.csv", "perquery.csv"


def columns(save_dir: str) -> set[str] | None:
    """The columns of ``aggregated.csv``, None where there is no such file."""
    file = Path(save_dir) / _AGGREGATED
    return set(pd.read_csv(file, nrows=0).columns) if file.exists() else None


def measures(save_dir: str, names: Iterable[str]) -> set[str]:
    """The measures in ``perquery.csv`` of systems with these names."""
    rows = _read(Path(save_dir) / _PERQUERY)
    return set(rows.loc[rows["name"].isin(list(names)), "measure"])


def remove_measure(save_dir: str, measure: str) -> None:
    """Take a measure out of both files, leaving all other texts as they are."""
    aggregated, perquery = Path(save_dir) / _AGGREGATED, Path(save_dir) / _PERQUERY
    table = _read(aggregated)
    table[[name for name in table if name.partition(" ")[0] != measure]].to_csv(aggregated, index=False)
    rows = _read(perquery)
    rows[rows["measure"] != measure].to_csv(perquery, index=False)


def _read(file: Path) -> pd.DataFrame:
    return pd.read_csv(file, dtype=str, keep_default_na=False)
