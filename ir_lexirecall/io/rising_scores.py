"""Whether the scores of a run rise with its own ranks: then its first documents come last."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from ir_lexirecall._util.lazy import polars as pl
from ir_lexirecall.io.cells import number_or_text
from ir_lexirecall.io.lines import header_of, layout_of_table
from ir_lexirecall.io.names import our_names
from ir_lexirecall.io.readers import is_json
from ir_lexirecall.io.schemas import RANKS_AND_SCORES, RUN
from ir_lexirecall.io.source import Kind, Source

RISING = (
    "scores rise with the run's own ranks: its first documents come last (negate scores if "
    "smaller ones are better)"
)
"""Warning of a run for which ``scores_rise_with_ranks`` is true."""
_LOOKED_AT = 2000  # rows of a table
_RUN_FIELDS = 6  # of a line in TREC's format
_COLUMNS = ("query_id", "rank", "score")


def scores_rise_with_ranks(rows: Iterable[tuple[Any, Any, Any]]) -> bool:
    """Return whether scores rise with the ranks beside them, as costs do.

    At least nine in ten steps to the next rank must rise; a run without ranks has none.

    Args:
        rows: query, rank and score; see ``ranked_scores``.

    >>> scores_rise_with_ranks([("q", 1, 0.1), ("q", 2, 0.7)])
    True
    >>> scores_rise_with_ranks([("q", 2, 0.1), ("q", 1, 0.7)])
    False
    """
    rises = steps = 0
    numbers = (
        (query, number_or_text(rank), number_or_text(score))
        for query, rank, score in rows
    )
    for (query, rank, score), (next_query, next_rank, next_score) in pairwise(numbers):
        if query != next_query or None in (rank, score, next_rank, next_score):
            continue
        step = (next_rank - rank) * (next_score - score)  # type: ignore[operator]
        rises += step > 0
        steps += step != 0
    return steps > 0 and rises >= 0.9 * steps


def ranked_scores(run: Source) -> list[tuple[Any, Any, Any]]:
    """Return query, rank and score of a run's first rows; an empty list without ranks."""
    if run.kind is Kind.FILES:
        file = run.data[0]
        if file.is_parquet or is_json(file.first_line):
            return []
        header = header_of(file.first_line, file.ending)
        if not header.is_one(RUN, file.line_name(1)):
            return _ranks_of_lines(file.beginning)
        if not set(_COLUMNS) <= set(header.columns(RANKS_AND_SCORES)):
            return []
        layout = layout_of_table(header, RANKS_AND_SCORES)
        return _ranks_of_table(next(layout.batches(file.blocks, file.line_of_block)))
    if hasattr(run.data, "itertuples") or isinstance(run.data, pl.DataFrame):
        return _ranks_of_table(run.data.head(_LOOKED_AT))
    return []


def _ranks_of_lines(beginning: bytes) -> list[tuple[Any, Any, Any]]:
    """Return query, rank and score of the first lines of a file in TREC's format."""
    text = beginning.decode("utf-8-sig", "replace")
    rows = map(str.split, text.split("\n")[:-1])  # the last one may be cut
    return [(row[0], row[3], row[4]) for row in rows if len(row) >= _RUN_FIELDS]


def _ranks_of_table(table: Any) -> list[tuple[Any, Any, Any]]:
    """Return query, rank and score of the first rows of a frame of pandas or Polars."""
    columns = [*map(str, table.columns)]
    names = dict(zip(our_names(columns), columns, strict=True))
    if not set(_COLUMNS) <= names.keys() or len(names) != len(columns):
        return []
    values = (table[names[name]][:_LOOKED_AT].to_list() for name in _COLUMNS)
    return list(zip(*values, strict=True))
