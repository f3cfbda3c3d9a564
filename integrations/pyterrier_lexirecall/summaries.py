"""The summaries that ``pt.Experiment`` writes into ``save_dir``: ``aggregated.csv`` and ``perquery.csv``."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from ir_lexirecall.io.files import written_whole

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
    table, rows = _read(aggregated), _read(perquery)
    _write(aggregated, table[[name for name in table if name.partition(" ")[0] != measure]])
    _write(perquery, rows[rows["measure"] != measure])


def _write(file: Path, table: pd.DataFrame) -> None:
    """Write the table whole or not at all: the file holds what earlier experiments measured."""
    with written_whole(file) as temporary:
        table.to_csv(temporary, index=False)


def _read(file: Path) -> pd.DataFrame:
    return pd.read_csv(file, dtype=str, keep_default_na=False)
