"""More judgments for the same queries: those that came in after a pool was judged."""

from __future__ import annotations

import os
from dataclasses import replace

from ir_lexirecall._util.errors import and_more, naming, warn
from ir_lexirecall._util.lazy import polars as pl
from ir_lexirecall.data.judgments import Judgments, QrelsLike


def merged(judgments: Judgments, more: QrelsLike) -> Judgments:
    """Judgments with those of ``more`` (in any form) added; a document that both judge needs the same grade in both.

    Subtopics, aspects and further columns are left out, with a warning: every document has one grade, its highest.

    Raises:
        ValueError: a query or a grade that contradicts the judgments.

    >>> more = merged(Judgments.from_qrels({"q": {"a": 1}}), {"q": {"b": 2, "a": 1}})
    >>> more.doc_ids, more.grade.tolist()
    (['a', 'b'], [1.0, 2.0])
    """
    name = os.fspath(more) if isinstance(more, (str, os.PathLike)) else "the judgments to be added"
    added = Judgments.from_qrels(_graded(name) if name.lower().endswith(".csv") and os.path.isfile(name) else more)
    if judgments.table is not None or added.table is not None:
        warn(f"{name}: merged judgments have one grade for each document; what the qrels say of subtopics is left out")
    unknown = [query_id for query_id in added.query_ids if query_id not in judgments.place]
    if unknown:
        raise ValueError(f"{name}: the qrels have no query {unknown[0]!r}{and_more(len(unknown) - 1)}")
    parts = [
        pl.DataFrame(
            {
                "query_id": pl.Series([each.query_ids[q] for q in each.query.tolist()], dtype=pl.String),
                "doc_id": each.doc_id,
                "relevance": each.grade,
            }
        )
        for each in (judgments, added)
    ]
    gone = judgments.exclusion
    with naming(name):
        both = Judgments.from_qrels(pl.concat(parts))
    if judgments.query_ids != both.query_ids:  # queries without any judged document
        both = _with_queries(both, judgments.query_ids)
    both = replace(both, rules=judgments.rules, source=judgments.source, threshold=judgments.threshold)
    if gone is None:
        return both
    excluded: dict[str, list[str]] = {}
    for row in (gone.row < 0).nonzero()[0].tolist():
        query_id = gone.everything.query_ids[gone.everything.query[row]]
        excluded.setdefault(query_id, []).append(gone.everything.doc_ids[row])
    return both.excluding(excluded)


def _graded(path: str) -> str | pl.DataFrame:
    """The rows with a grade of what ``write_pool_csv`` wrote to be filled in; any other file as it is."""
    columns = ["query_id", "doc_id", "relevance"]
    with naming(path):
        try:
            table = pl.read_csv(path, columns=columns, infer_schema=False)
        except pl.exceptions.PolarsError:  # another CSV file, of which the reader of qrels knows more
            return path
        known = table.filter(pl.col("relevance").str.strip_chars().fill_null("") != "")
        if not len(known):
            raise ValueError("no document in it has a grade; fill in the column 'relevance'")
    if left := len(table) - len(known):
        warn(f"{path}: {left} of {len(table)} documents have no grade yet and are left out")
    numbers = known.with_columns(pl.col("relevance").str.strip_chars().cast(pl.Float64, strict=False))
    return known if numbers["relevance"].null_count() else numbers  # the reader of qrels says which is none


def _with_queries(judgments: Judgments, query_ids: list[str]) -> Judgments:
    """The same judgments among more queries."""
    import numpy as np

    place = {query_id: q for q, query_id in enumerate(query_ids)}
    number = np.array([place[query_id] for query_id in judgments.query_ids], dtype=np.int64)
    return replace(judgments, query_ids=query_ids, query=number[judgments.query])
