"""Arrow in, Arrow out: what a framework calls where its data is.

Spark, Ray and Dask hold tables in parts and hand each part to Python as Arrow tables. Parts are evaluated on their own if
all rows of a query, in qrels and run, stand in the same one: ``evaluate_arrow`` gives their values, ``align_arrow`` the
ranks of their judged documents, small enough to be brought together (``ranks_from_arrow``) for a comparison of systems.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from ir_measures.measures.base import Measure

from ir_lexirecall.alignment import JudgedRanks, align
from ir_lexirecall.evaluation import Evaluation, is_ours, parse_measures
from ir_lexirecall.judgments import Judgments
from ir_lexirecall.scoring.arrays import Floats
from ir_lexirecall.tables import run_table

if TYPE_CHECKING:
    import pyarrow as pa

RANK_TYPES = {"query_id": "string", "doc_id": "string", "rank": "int64", "depth": "int64"}


def evaluate_arrow(measures: Any, qrels: pa.Table, run: pa.Table, *, aspects: Iterable[str] = ()) -> pa.Table:
    """``evaluate`` for Arrow tables.

    Args:
        measures: as in ``evaluate``.
        qrels: columns ``query_id``, ``doc_id``, ``relevance``, and optionally ``subtopic_id`` or ``iteration``, ``weight``
            and aspects. Ids are strings or integers.
        run: columns ``query_id``, ``doc_id``, ``score``.
        aspects: where the tables are parts of larger ones: those aspects, of the ones that the measures name and of
            ``relevance``, that rows of the whole qrels name in ``subtopic_id`` or ``iteration``.

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
    _require_pyarrow()
    named = measures_by_column(measures)
    judgments, table = _Part.of_part(qrels, frozenset(aspects)), run_table(run)
    columns: dict[str, Any] = {"query_id": judgments.query_ids, **{name: [] for name in named}}
    if len(judgments):
        # ir_measures knows only the queries with a judgment of relevance, as in ``Evaluation``.
        scored = {name: measure for name, measure in named.items() if is_ours(measure) or not judgments.lacks_relevance}
        values = Evaluation(scored, judgments).of_ranks(align(judgments, table), table)
        for name, measure in named.items():
            default = np.full(len(judgments), measure.DEFAULT)
            columns[name] = values[name].to_numpy(dtype=np.float64) if name in scored else default
    return _arrow(columns, {"query_id": "string", **dict.fromkeys(named, "float64")})


def measures_by_column(measures: Any) -> dict[str, Measure]:
    """Measures by the name of their column, beside ``query_id``.

    Raises:
        ValueError: not a measure, a parameter out of range, or a column called ``query_id``.

    >>> list(measures_by_column("TSE@10"))
    ['TSE@10']
    """
    named = parse_measures(measures)
    if "query_id" in named:
        raise ValueError("no measure can have the column 'query_id': give it another name")
    return named


def align_arrow(qrels: pa.Table, run: pa.Table) -> pa.Table:
    """``align`` for Arrow tables.

    Args:
        qrels, run: as in ``evaluate_arrow``.

    Returns:
        A row per retrieved judged document, sorted by ``query_id`` and ``rank``: ``query_id``, ``doc_id``, ``rank`` (from 1)
        and ``depth``, the number of documents retrieved for the query. A query without such documents has one row, with
        its depth and without ``doc_id`` and ``rank``.

    Raises:
        ValueError: bad input; the message names the first offender.
        ModuleNotFoundError: PyArrow is not installed.

    >>> import pyarrow as pa
    >>> qrels = pa.table({"query_id": ["1", "1", "2"], "doc_id": ["a", "b", "a"], "relevance": [1, 0, 1]})
    >>> run = pa.table({"query_id": ["1", "1"], "doc_id": ["x", "a"], "score": [3.0, 2.0]})
    >>> align_arrow(qrels, run).to_pylist()
    [{'query_id': '1', 'doc_id': 'a', 'rank': 2, 'depth': 2}, {'query_id': '2', 'doc_id': None, 'rank': None, 'depth': 0}]
    """
    _require_pyarrow()
    return ranks_to_arrow(align(Judgments.of(qrels), run_table(run)))


def ranks_to_arrow(ranks: JudgedRanks) -> pa.Table:
    """Ranks in the form that ``align_arrow`` gives.

    Raises:
        ModuleNotFoundError: PyArrow is not installed.

    >>> ranks = align(Judgments.of({"q": {"a": 1}}), {"q": {"x": 2.0, "a": 1.0}})
    >>> ranks_to_arrow(ranks).to_pylist()
    [{'query_id': 'q', 'doc_id': 'a', 'rank': 2, 'depth': 2}]
    """
    _require_pyarrow()
    judgments = ranks.judgments
    found = pl.DataFrame({"query": ranks.query, "doc_id": judgments.doc_id.gather(ranks.doc), "rank": ranks.rank})
    queries = judgments.query_numbers.with_columns(depth=pl.Series(ranks.depth, dtype=pl.Int64))
    rows = queries.join(found, on="query", how="left").sort("query", "rank")
    return _arrow({name: rows[name] for name in RANK_TYPES}, RANK_TYPES)


def ranks_from_arrow(judgments: Judgments, ranks: pa.Table) -> JudgedRanks:
    """The inverse of ``align_arrow``: of one table, or of the tables of all parts, concatenated in any order.

    Args:
        judgments: those of all queries.
        ranks: columns ``query_id``, ``doc_id``, ``rank`` and ``depth``; others are ignored.

    Returns:
        What ``align`` gives for the whole run.

    Raises:
        ValueError: a query or document that is not judged, a query that is missing or stands in two parts.

    >>> judgments = Judgments.of({"q": {"a": 1, "b": 1}})
    >>> ranks = align(judgments, {"q": {"x": 2.0, "a": 1.0}})
    >>> ranks_from_arrow(judgments, ranks_to_arrow(ranks)).rank
    array([2])
    """
    rows = pl.DataFrame(ranks.select(list(RANK_TYPES))).with_columns(pl.col("query_id", "doc_id").cast(pl.String))
    rows = rows.join(judgments.query_numbers.cast({"query": pl.Int32}), on="query_id", how="left")
    rows = rows.join(judgments.keys, on=["query", "doc_id"], how="left").sort("query", "rank")
    unknown = rows.filter(pl.col("query").is_null() | (pl.col("doc_id").is_not_null() & pl.col("doc").is_null()))
    if len(unknown):
        query_id, doc_id, *_ = unknown.row(0)
        raise ValueError(f"ranks: document {doc_id!r} of query {query_id!r} is not judged; align with these judgments")
    depths = rows.select("query_id", "query", "depth").unique(maintain_order=True)
    found = rows.filter(pl.col("doc").is_not_null())
    again = depths.filter(~pl.col("query").is_first_distinct())["query_id"].to_list()
    again += found.filter(~pl.col("doc").is_first_distinct())["query_id"].to_list()
    if again:
        raise ValueError(f"ranks: query {again[0]!r} stands in two parts; all rows of a query belong into the same one")
    depth = np.full(len(judgments), -1, dtype=np.int64)
    depth[depths["query"].to_numpy()] = depths["depth"].to_numpy()
    if (depth < 0).any():
        missing = judgments.query_ids[int(np.argmin(depth))]
        raise ValueError(f"ranks: query {missing!r} of the judgments is missing; give the ranks of all parts")
    query, doc, rank = (found[name].to_numpy().astype(np.int64) for name in ("query", "doc", "rank"))
    return JudgedRanks(judgments, query=query, doc=doc, rank=rank, depth=depth)


@dataclass(frozen=True)
class _Part(Judgments):
    """Judgments of some queries, read as if those of all were there.

    Attributes:
        elsewhere: aspects that rows of other queries may name.
    """

    elsewhere: frozenset[str] = frozenset()

    @classmethod
    def of_part(cls, qrels: Any, elsewhere: frozenset[str]) -> _Part:
        own = Judgments.of(qrels)
        part = cls(**{each.name: getattr(own, each.name) for each in fields(Judgments)}, elsewhere=elsewhere)
        return replace(part, grade=np.zeros(len(own.grade)), _cache={}) if part.lacks_relevance else part

    @property
    def lacks_relevance(self) -> bool:
        """Whether rows of other queries name the aspect ``relevance``, which is then the grade, and none of these do."""
        return "relevance" in self.elsewhere and not bool((self.rows["aspect"] == "relevance").any())

    def labels(self, aspects: Sequence[str]) -> dict[str, Floats]:
        in_rows = set(self.rows["aspect"].unique()) | self.elsewhere
        by_rows = any(name in in_rows for name in aspects)
        return {name: self._label(name, in_rows, by_rows) for name in aspects}


def _arrow(columns: Mapping[str, Any], types: Mapping[str, str]) -> pa.Table:
    """An Arrow table in the plain types that every framework takes, not in those of Polars."""
    import pyarrow as pa

    return pl.DataFrame(columns).to_arrow(compat_level=pl.CompatLevel.oldest()).cast(pa.schema(list(types.items())))


def _require_pyarrow() -> None:
    try:
        import pyarrow  # noqa: F401
    except ModuleNotFoundError:
        raise ModuleNotFoundError("this needs PyArrow: pip install pyarrow") from None
