"""Arrow in, Arrow out: what a framework calls where its data is.

Spark, Ray and Dask hold tables in parts and hand each part to Python as Arrow tables. Parts are
evaluated on their own if
all rows of a query, in qrels and run, stand in the same one: ``evaluate_arrow`` gives their values,
``align_arrow`` the ranks of their judged documents, small enough to be brought together
(``ranks_from_arrow``) for a comparison of runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall._util import engine
from ir_lexirecall._util.errors import entry, required, shown
from ir_lexirecall.data.aligned_run import AlignedRun, Ties
from ir_lexirecall.data.alignment import align
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.measures.parsing import MeasuresLike, parse_measures
from ir_lexirecall.measures.scoring import check_judgments, values

if TYPE_CHECKING:
    import pyarrow as pa

RANK_TYPES = {
    "query_id": "string",
    "doc_id": "string",
    **dict.fromkeys(("rank", "first_rank", "alike", "depth"), "int64"),
}
"""The columns that ``align_arrow`` gives, and their types."""


@entry
def evaluate_arrow(
    measures: MeasuresLike,
    qrels: pa.Table | Judgments,
    run: pa.Table,
    *,
    aspects: Iterable[str] | None = None,
) -> pa.Table:
    """``evaluate`` for Arrow tables.

    Args:
        measures: as in ``evaluate``.
        qrels: columns ``query_id``, ``doc_id``, ``relevance``, and optionally ``subtopic_id`` or
            ``iteration``, ``weight`` and aspects. Ids are strings or integers. Or ``Judgments``.
        run: columns ``query_id``, ``doc_id``, ``score``.
        aspects: where the tables are parts of larger ones: those aspects, of the ones that the
            measures name and of ``relevance``, that rows of the whole qrels name in ``subtopic_id``
            or ``iteration``. Nothing is said then of qrels that do not suit a measure: that is a
            question about the whole.

    Returns:
        A row per query of the qrels, sorted by ``query_id``, and a float64 column per measure.

    Raises:
        ValueError: bad input or an unknown measure; the message names the first offender.
        ModuleNotFoundError: PyArrow is not installed.

    >>> import pyarrow as pa
    >>> qrels = pa.table({"query_id": [2, 1, 1], "doc_id": ["a", "a", "b"], "relevance": [1, 1, 1]})
    >>> run = pa.table({"query_id": [1, 1, 1], "doc_id": ["b", "x", "a"], "score": [3.0, 2.0, 1.0]})
    >>> evaluate_arrow(["TSE", "AP"], qrels, run).to_pylist()
    [{'query_id': '1', 'TSE': 0.333..., 'AP': 0.833...}, {'query_id': '2', 'TSE': 0.0, 'AP': 0.0}]
    """
    _require_engines()
    named = measures_by_column(measures)
    # The run is checked where nothing is judged, too.
    aligned = _aligned(qrels, run, aspects)
    judgments = aligned.judgments
    columns: dict[str, Any] = {
        "query_id": judgments.query_ids,
        **{name: np.zeros(0) for name in named},
    }
    if len(judgments):
        if aspects is None:
            check_judgments(named.values(), judgments)
        columns |= {
            name: values(measure, aligned).astype(np.float64)
            for name, measure in named.items()
        }
    return _arrow(columns, {"query_id": "string", **dict.fromkeys(named, "float64")})


def measures_by_column(measures: MeasuresLike) -> dict[str, IRMeasure]:
    """Return measures by the names of their columns.

    Args:
        measures: in any form that ``evaluate`` takes.

    Raises:
        ValueError: not a measure, a parameter out of range, or a column called ``query_id``.

    >>> list(measures_by_column("TSE@10"))
    ['TSE@10']
    """
    named = parse_measures(measures)
    if "query_id" in named:
        raise ValueError(
            "no measure can have the column 'query_id': give it another name"
        )
    return named


@entry
def align_arrow(
    qrels: pa.Table | Judgments, run: pa.Table, *, aspects: Iterable[str] | None = None
) -> pa.Table:
    """``align`` for Arrow tables.

    Args:
        qrels: as in ``evaluate_arrow``.
        run: as in ``evaluate_arrow``.
        aspects: as in ``evaluate_arrow``.

    Returns:
        A row per retrieved judged document, sorted by ``query_id`` and ``rank``: ``query_id``,
        ``doc_id``, ``rank`` (from 1), ``first_rank`` and ``alike`` (the rank at which the documents
        of its score begin, and how many these are) and ``depth`` (the number of documents retrieved
        for the query). A query without such documents has one row, with its depth and without
        document.

    Raises:
        ValueError: bad input; the message names the first offender.
        ModuleNotFoundError: PyArrow is not installed.

    >>> import pyarrow as pa
    >>> qrels = pa.table(
    ...     {"query_id": ["1", "1", "2"], "doc_id": ["a", "b", "a"], "relevance": [1, 0, 1]}
    ... )
    >>> run = pa.table({"query_id": ["1", "1"], "doc_id": ["x", "a"], "score": [3.0, 2.0]})
    >>> align_arrow(qrels, run).to_pylist()
    [{'query_id': '1', 'doc_id': 'a', 'rank': 2, 'first_rank': 2, 'alike': 1, 'depth': 2},
     {'query_id': '2', 'doc_id': None, 'rank': None, 'first_rank': None, 'alike': None, 'depth': 0}]
    """
    _require_engines()
    return ranks_to_arrow(_aligned(qrels, run, aspects))


def _aligned(qrels: Any, run: pa.Table, aspects: Iterable[str] | None) -> AlignedRun:
    """Return a run, aligned with qrels that may be a part of larger ones."""
    judgments = Judgments.from_qrels(qrels, allow_empty=True)
    return align(judgments.as_part(aspects or ()), run)


@entry
def ranks_to_arrow(run: AlignedRun) -> pa.Table:
    """Return an aligned ``run`` in the form that ``align_arrow`` gives.

    Raises:
        ModuleNotFoundError: PyArrow is not installed.

    >>> run = align(Judgments.from_qrels({"q": {"a": 1}}), {"q": {"x": 2.0, "a": 1.0}})
    >>> ranks_to_arrow(run).to_pylist()
    [{'query_id': 'q', 'doc_id': 'a', 'rank': 2, 'first_rank': 2, 'alike': 1, 'depth': 2}]
    """
    _require_engines()
    documents: dict[str, Any] = {
        "doc_id": run.judgments.doc_id.gather(run.doc),
        "rank": run.rank,
    }
    documents["first_rank"], documents["alike"] = run.tied()
    retrieved = pl.DataFrame({"query": run.query, **documents})
    rows = run.judgments.query_numbers.join(retrieved, on="query", how="left")
    rows = rows.sort("query", "rank")
    columns = {name: rows[name] for name in ("query_id", *documents)}
    return _arrow({**columns, "depth": run.depth[rows["query"].to_numpy()]}, RANK_TYPES)


@entry
def ranks_from_arrow(judgments: Judgments, ranks: pa.Table) -> AlignedRun:
    """Return the aligned run that tables of ``align_arrow`` hold, in any order.

    Args:
        judgments: those of all queries.
        ranks: the columns that ``align_arrow`` gives; others are ignored.

    Returns:
        What ``align`` gives for the whole run.

    Raises:
        ValueError: a query or document that is not judged, a query that is missing or stands in two
            parts.

    >>> judgments = Judgments.from_qrels({"q": {"a": 1, "b": 1}})
    >>> run = align(judgments, {"q": {"x": 2.0, "a": 1.0}})
    >>> ranks_from_arrow(judgments, ranks_to_arrow(run)).rank
    array([2])
    """
    rows = pl.DataFrame(ranks.select(list(RANK_TYPES))).with_columns(
        pl.col("query_id", "doc_id").cast(pl.String)
    )
    rows = rows.join(
        judgments.query_numbers.cast({"query": pl.Int32}), on="query_id", how="left"
    )
    rows = rows.join(judgments.keys, on=["query", "doc_id"], how="left")
    rows = rows.sort("query", "rank")
    unknown = rows.filter(
        pl.col("query").is_null()
        | (pl.col("doc_id").is_not_null() & pl.col("doc").is_null())
    )
    if len(unknown):
        query_id, doc_id, *_ = unknown.row(0)
        raise ValueError(
            f"ranks: document {shown(doc_id)} of query {shown(query_id)} is not judged; "
            "align with these judgments"
        )
    depths = rows.select("query_id", "query", "depth").unique(maintain_order=True)
    judged_rows = rows.filter(pl.col("doc").is_not_null())
    again = depths.filter(~pl.col("query").is_first_distinct())["query_id"].to_list()
    doubled_rows = judged_rows.filter(~pl.col("doc").is_first_distinct())
    again += doubled_rows["query_id"].to_list()
    if again:
        raise ValueError(
            f"ranks: query {again[0]!r} is in two parts; keep all rows of a query in one"
        )
    depth = np.full(len(judgments), -1, dtype=np.int64)
    depth[depths["query"].to_numpy()] = depths["depth"].to_numpy()
    if (depth < 0).any():
        missing = judgments.query_ids[int(np.argmin(depth))]
        raise ValueError(
            f"ranks: query {missing!r} of the judgments is missing; give the ranks of all parts"
        )
    query, doc, rank, first, alike = (
        judged_rows[name].to_numpy().astype(np.int64)
        for name in ("query", "doc", "rank", "first_rank", "alike")
    )
    return AlignedRun(
        judgments,
        query=query,
        doc=doc,
        rank=rank,
        depth=depth,
        ties=Ties.among(first, alike),
    )


def _arrow(columns: Mapping[str, Any], types: Mapping[str, str]) -> pa.Table:
    """Return an Arrow table in the plain types that every framework takes."""
    import pyarrow as pa

    return (
        pl.DataFrame(columns)
        .to_arrow(compat_level=pl.CompatLevel.oldest())
        .cast(pa.schema(list(types.items())))
    )


def _require_engines() -> None:
    """Raise if Arrow's tables cannot be made or joined here."""
    required("pyarrow", "Arrow", "PyArrow", "all")
    if not engine.computes():
        raise ValueError(
            f"Arrow tables cannot be joined {engine.where()}; "
            "start processes with spawn or forkserver"
        )
