"""A run of any format, aligned with judgments: ``align``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ir_lexirecall._util import engine
from ir_lexirecall._util.arrays import (
    Floats,
    Ints,
    ranges,
    starts_segment,
    stretches,
)
from ir_lexirecall._util.engine import one_ahead
from ir_lexirecall._util.errors import and_more, entry, naming, shown, warn
from ir_lexirecall._util.lazy import polars as pl
from ir_lexirecall.data.aligned_run import AlignedRun, Ties
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.data.tie_rule import Blocks, ScoreOrder, ranks_of
from ir_lexirecall.io.columns import (
    TableLike,
    checked_columns,
    nested_columns,
    packed_numbers,
    plain_columns,
    read_columns,
)
from ir_lexirecall.io.id_forms import are_plain
from ir_lexirecall.io.names import RUN_COLUMNS
from ir_lexirecall.io.schemas import RUN
from ir_lexirecall.io.source import Kind, Source, what_is

RunLike: TypeAlias = TableLike | Source
"""A run in any form: a path, a DataFrame (pandas, Polars, Arrow), a dict of dicts, or an iterable
of named tuples; or what `what_is` made of it."""

_NONE = np.zeros(0, dtype=np.int64)
_FEW_QUERIES = 4  # of a dict of dicts, up to which queries are aligned one by one,
_SHORT = 256  # if their rankings have no more documents than this
_ROWS = 2**18  # of a run that are aligned at once
_CHECKED_PARTS = 8  # parts of a long table in which odd ids are looked for
_ROWS_OF_PART = 512  # rows of each of these parts


@entry
def align(judgments: Judgments, run: RunLike) -> AlignedRun:
    """Return the ranks of the documents of ``judgments`` in ``run``, a run in any form.

    Queries without judgments are ignored; a query the run lacks has depth 0.

    >>> judgments = Judgments.from_qrels({"q": {"a": 1, "b": 0, "c": 2}})
    >>> ranks = align(judgments, {"q": {"c": 0.5, "x": 0.9, "a": 0.5}})
    >>> ranks.rank.tolist(), ranks.grade.tolist(), ranks.depth.tolist()
    ([2, 3], [2.0, 1.0], [3])

    Raises:
        ValueError: a missing column, a score that is missing or not a finite number, or a document
            twice for one query.
    """
    aligned = ranks_as_given(judgments, what_is(run, RUN))
    if judgments.judged_only:
        return aligned.condensed()
    return aligned


def ranks_as_given(judgments: Judgments, run: Source) -> AlignedRun:
    """Align a run without condensing its rankings, even if ``judged_only`` is set."""
    if run.kind is Kind.FILES:
        with naming(run.name):
            parts = _align_batches(judgments, read_columns(run, RUN))
            if isinstance(parts, _Scattered):
                warn(
                    f"{run.name}: query {parts.query_id!r} is not contiguous; reading the file "
                    "again, all of it at once. Sort it by query to save time and memory."
                )
                parts = _align_at_once(judgments, read_columns(run, RUN))
        return _joined(judgments, parts)
    rankings = run.data
    if run.kind is Kind.TABLE:
        columns = run.columns(RUN)
        plain = plain_columns(columns, RUN)
        rankings = None if plain is None else nested_columns(plain)
        if plain is None or rankings is None:
            table = checked_columns(columns, RUN)
            run.oddity.is_sure = _has_odd_ids(table)
            return _joined(judgments, _align_rows(judgments, [table]))
        run.oddity.is_sure = not are_plain(plain["query_id"] + plain["doc_id"])
    if len(rankings) <= _FEW_QUERIES and not judgments.excluded:
        aligned = _align_few(judgments, rankings)
        if aligned is not None:
            return aligned
    return _joined(judgments, _align_dict(judgments, rankings))


def _has_odd_ids(table: pl.DataFrame) -> bool:
    """Return whether some ids are not plain ASCII, or have blanks around them.

    Of a long table, only some parts are checked; this does not start Polars' threads.
    """
    step = max(_ROWS_OF_PART, 1 + len(table) // _CHECKED_PARTS)
    for ids in (table["query_id"], table["doc_id"]):
        for start in range(0, len(ids), step):
            if not are_plain(ids.slice(start, _ROWS_OF_PART).to_list()):
                return True
    return False


def _joined(judgments: Judgments, parts: Iterable[_Part]) -> AlignedRun:
    """Return parts of a run as one."""
    doc, rank, first, size, ranked, length = map(
        np.concatenate, zip(*parts, (_NONE,) * 6, strict=True)
    )
    depth = np.zeros(len(judgments), dtype=np.int64)
    depth[ranked] = length
    ranked = ranked[length > 0]  # what is left where documents are excluded
    query = judgments.query[doc]
    order = np.lexsort((rank, query))
    ties = Ties.among(first[order], size[order])
    return AlignedRun(
        judgments, query[order], doc[order], rank[order], depth, ties, ranked
    )


class _Part(NamedTuple):
    """Where the judged documents stand in the rankings of some queries."""

    doc: Ints  # the retrieved judged documents: rows of the judgments,
    rank: Ints
    first: Ints  # the rank at which the documents of its score begin,
    size: Ints  # and how many these are, 1 for itself
    ranked: Ints  # the queries, whether or not they retrieved any,
    depth: Ints  # and their depths


def _align_rows(judgments: Judgments, tables: Iterable[pl.DataFrame]) -> list[_Part]:
    """Align the parts of a run, all of them, with or without Polars' threads."""
    if engine.computes():
        parts: list[_Part] = []
        for table in tables:
            parts += _align_table(judgments, table)
        return parts
    rankings: dict[str, dict[str, float]] = {}
    again: list[tuple[str, str]] = []
    for table in tables:
        for query_id, doc_id, score in zip(
            *(table[name].to_list() for name in RUN_COLUMNS), strict=True
        ):
            if query_id in judgments.place:
                ranking = rankings.setdefault(query_id, {})
                if doc_id in ranking:
                    again.append((query_id, doc_id))
                ranking[doc_id] = score
    if again:
        order = list(rankings)
        query_id, doc_id = min(again, key=lambda pair: order.index(pair[0]))
        raise _twice(query_id, doc_id, len(again))
    return _align_dict(judgments, rankings)


def _twice(query_id: str, doc_id: str, count: int) -> ValueError:
    """Return the error about a document that a ranking has twice."""
    return ValueError(
        f"run: document {shown(doc_id)} appears twice in the ranking of query {shown(query_id)}"
        f"{and_more(count - 1)}; keep one"
    )


class _Scattered(NamedTuple):
    """A query whose lines are not contiguous in a file."""

    query_id: str


def _align_batches(
    judgments: Judgments, batches: Iterator[pl.DataFrame]
) -> list[_Part] | _Scattered:
    """Align a file some whole queries at a time, so that memory is bounded however long it is.

    Where the lines of a query are not contiguous, return that query.
    """
    if not engine.computes():
        return _align_rows(judgments, batches)
    parts: list[_Part] = []
    seen: set[str] = set()
    for table in _whole_queries(one_ahead(batches)):
        first_rows = pl.Series(starts_segment(table["query_id"]))
        queries = (
            judgments.place.keys() & table["query_id"].filter(first_rows).to_list()
        )
        again = queries & seen
        if again:
            return _Scattered(min(again))
        seen |= queries
        if queries:
            parts += _align_table(judgments, table)
    return parts


def _align_at_once(
    judgments: Judgments, batches: Iterator[pl.DataFrame]
) -> list[_Part]:
    """Align all judged queries of a file together."""
    wanted = pl.col("query_id").is_in(list(judgments.place))
    table = pl.concat([batch.filter(wanted) for batch in one_ahead(batches)])
    return _align_table(judgments, table)


def _whole_queries(batches: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """Yield the same rows, cut between queries.

    What a batch's last query has so far waits for the next batch.
    """
    waiting: list[pl.DataFrame] = []
    for batch in filter(len, batches):
        query = batch["query_id"]
        others = (query != query[-1]).arg_true()
        last = int(others[-1]) + 1 if len(others) else 0
        if last or (waiting and waiting[-1]["query_id"][-1] != query[0]):
            yield pl.concat([*waiting, batch[:last]])
            waiting = []
        waiting.append(batch[last:])
    if waiting:
        yield pl.concat(waiting)


def numbered_queries(judgments: Judgments, table: pl.DataFrame) -> tuple[Ints, Ints]:
    """Return the number of each stretch's query, -1 if it is not judged, and its length.

    A stretch is a sequence of rows of one query.
    """
    new, number_of_query = starts_segment(table["query_id"]), judgments.place
    names = table["query_id"].filter(pl.Series(new)).to_list()
    query = np.array([number_of_query.get(name, -1) for name in names], dtype=np.int64)
    return query, np.diff(np.flatnonzero(np.r_[new, True]))


def _align_table(judgments: Judgments, table: pl.DataFrame) -> list[_Part]:
    """Align a table, some whole queries at a time.

    So memory beyond the table is that of a block.
    """
    query, length = numbered_queries(judgments, table)
    if (query < 0).any():
        table = table.filter(np.repeat(query >= 0, length))
        query, length = query[query >= 0], length[query >= 0]
    # The rows of a query that stands in several places are brought together.
    if len(np.unique(query)) < len(query):
        _, first, number = np.unique(query, return_index=True, return_inverse=True)
        appearance = np.argsort(np.argsort(first))[number]
        table = table[np.argsort(np.repeat(appearance, length), kind="stable")]
        rows = np.bincount(query, weights=length).astype(np.int64)
        query = query[np.sort(first)]
        length = rows[query]
    return [
        _part_of_table(judgments, query[queries], length[queries], table[rows])
        for queries, rows in portions(length)
    ]


def portions(length: Ints) -> Iterator[tuple[slice, slice]]:
    """Consecutive queries with about ``_ROWS`` rows together: which queries, and which rows."""
    end = np.cumsum(length)
    start = end - length
    cuts = [0, *(np.flatnonzero(np.diff(start // _ROWS)) + 1).tolist(), len(length)]
    for first, last in pairwise(cuts):
        if first < last:
            yield slice(first, last), slice(int(start[first]), int(end[last - 1]))


def _part_of_table(
    judgments: Judgments, query: Ints, length: Ints, table: pl.DataFrame
) -> _Part:
    """Find the judged documents of a table by hashes, and return where they stand."""
    block = np.repeat(np.arange(len(query)), length)
    keys = pl.DataFrame(
        {"query": query.astype(np.int32)[block], "doc_id": table["doc_id"]}
    )
    hashes = keys.hash_rows()
    repeated = repetitions(keys, hashes)
    if len(repeated):
        q, doc_id = repeated.row(0)
        raise _twice(judgments.query_ids[q], doc_id, len(repeated))
    row, doc = find_judged(judgments.hashed_keys(query), keys, hashes)
    score, doc_ids = table["score"].to_numpy(), table["doc_id"]
    if judgments.excluded:
        kept = np.ones(len(block), dtype=bool)
        kept[row[doc < 0]] = False
        row, doc = (np.cumsum(kept) - 1)[row[doc >= 0]], doc[doc >= 0]
        block = block[kept]
        score = score[kept]
        doc_ids = doc_ids.filter(pl.Series(kept))
        length = np.bincount(block, minlength=len(query))
    blocks = Blocks(
        length,
        score,
        lambda rows: doc_ids.gather(rows).to_list(),
        doc,
        block[row],
        score[row],
        judgments.order,
    )
    return _Part(doc, *ranks_of(blocks, judgments.ids_of), query, length)


def _align_few(
    judgments: Judgments, run: Mapping[str, Mapping[str, Any]]
) -> AlignedRun | None:
    """Align short rankings of few queries one by one; None if this shortcut does not apply.

    Ties among documents without a judgment are not looked for.

    Ties of judged documents, and values that are not numbers, are left to the general way.
    """
    depth = np.zeros(len(judgments), dtype=np.int64)
    docs, ranks, ranked = [_NONE], [_NONE], list[int]()
    for query_id, ranking in run.items():
        ascending = _few_scores(ranking, judgments.order)
        if ascending is None:
            return None
        q = judgments.place.get(query_id)
        if q is None:
            continue
        judged = _ranks_without_ties(judgments, q, ranking, ascending)
        if judged is None:
            return None
        docs.append(judged[0])
        ranks.append(judged[1])
        depth[q] = len(ascending)
        ranked.append(q)
    if ranked != sorted(ranked):
        return None
    doc = np.concatenate(docs)
    return AlignedRun(
        judgments,
        judgments.query[doc],
        doc,
        np.concatenate(ranks),
        depth,
        None,
        np.array(ranked, dtype=np.int64),
    )


def _few_scores(ranking: Mapping[str, Any], order: ScoreOrder) -> Floats | None:
    """Return the scores of a short ranking in rising order, as floats that are compared.

    None if there are none or too many, or if one of them is not a finite number.
    """
    scores = packed_numbers([list(ranking.values())])
    if scores is None or not 0 < len(scores) <= _SHORT:
        return None
    scores = np.sort(scores)
    # NaN comes last.
    if scores[0] >= -order.largest and scores[-1] <= order.largest:
        return scores.astype(order.dtype)
    return None


def _ranks_without_ties(
    judgments: Judgments, q: int, ranking: Mapping[str, Any], ascending: Floats
) -> tuple[Ints, Ints] | None:
    """Return the retrieved judged documents of query number ``q``, by rank, and their ranks.

    None if one of them has the same score as another document.
    """
    retrieved = [
        (row, ranking[doc_id])
        for row, doc_id in judgments.rows_of_query(q)
        if doc_id in ranking
    ]
    if not retrieved:
        return _NONE, _NONE
    rows, scores = zip(*retrieved, strict=True)
    score = np.array(scores, dtype=np.float64).astype(ascending.dtype)
    # Number of documents of this score or a smaller one.
    n_up_to = ascending.searchsorted(score, "right")
    if max((n_up_to - ascending.searchsorted(score)).tolist()) > 1:
        return None
    by_rank = n_up_to.argsort()[::-1]
    ranks = len(ascending) + 1 - n_up_to[by_rank]
    return np.array(rows, dtype=np.int64)[by_rank], ranks


def _align_dict(
    judgments: Judgments, run: Mapping[str, Mapping[str, Any]]
) -> list[_Part]:
    """Align a dict of dicts, some queries at a time."""
    counted, removed = _without_excluded(judgments, run)
    judged: list[str] = []
    ignored: list[str] = []
    for name, ranking in counted.items():
        if name not in judgments.place:
            ignored.append(name)
        elif ranking:
            judged.append(name)
    query = np.array([judgments.place[name] for name in judged], dtype=np.int64)
    rankings = [counted[name] for name in judged]
    length = np.array([len(ranking) for ranking in rankings], dtype=np.int64)
    # Scores that do not count must be numbers all the same.
    scores = (list(counted[name].values()) for name in (*judged, *ignored))
    score = packed_numbers(chain(scores, [removed]))
    if score is None or not np.isfinite(score).all():
        # The general way names the offender.
        return _align_rows(judgments, read_columns(Source(Kind.NESTED, run), RUN))
    parts = []
    for queries, rows in portions(length):
        part = query[queries], length[queries], rankings[queries], score[rows]
        parts.append(_part_of_dict(judgments, *part))
    return parts


def _without_excluded(
    judgments: Judgments, run: Mapping[str, Mapping[str, Any]]
) -> tuple[Mapping[str, Mapping[str, Any]], list[Any]]:
    """Return the run without the documents that the judgments exclude, and the scores of these."""
    if not judgments.excluded:
        return run, []
    kept, removed = dict(run), list[Any]()
    for name, ids in judgments.excluded.items():
        ranking = kept.get(name, {})
        excluded = ids & ranking.keys()
        if excluded:
            removed += map(ranking.__getitem__, excluded)
            kept[name] = {
                doc_id: score
                for doc_id, score in ranking.items()
                if doc_id not in excluded
            }
    return kept, removed


def _part_of_dict(
    judgments: Judgments,
    query: Ints,
    length: Ints,
    rankings: list[Mapping[str, Any]],
    score: Floats,
) -> _Part:
    """Dicts look documents up themselves: only the few judged ones are looked for, one by one."""
    first, end = stretches(judgments.query, query)
    doc_ids = judgments.doc_ids
    judged_scores: list[Any] = []
    for ranking, a, b in zip(rankings, first.tolist(), end.tolist(), strict=True):
        judged_scores += map(ranking.get, doc_ids[a:b])
    doc = ranges(first, end)
    doc_block = np.repeat(np.arange(len(query)), end - first)
    doc_score = np.array(judged_scores, dtype=np.float64)  # NaN: not retrieved
    is_retrieved = ~np.isnan(doc_score)

    start = np.cumsum(length) - length

    def doc_ids_of(rows: Ints) -> list[str]:
        block = np.searchsorted(start, rows, side="right") - 1
        names = {b: list(rankings[b]) for b in np.unique(block).tolist()}
        positions = zip(block.tolist(), (rows - start[block]).tolist(), strict=True)
        return [names[b][i] for b, i in positions]

    doc, doc_block = doc[is_retrieved], doc_block[is_retrieved]
    blocks = Blocks(
        length,
        score,
        doc_ids_of,
        doc,
        doc_block,
        doc_score[is_retrieved],
        judgments.order,
    )
    return _Part(doc, *ranks_of(blocks, judgments.ids_of), query, length)


# -- finding documents by hashes, every match being checked ----------------------------------------
# Keys are tables with the columns query (position in the judgments) and doc_id.


def find_judged(
    judged: pl.DataFrame, keys: pl.DataFrame, hashes: pl.Series
) -> tuple[Ints, Ints]:
    """Return the rows of ``keys`` that are judged, and the document that each of them is.

    ``hashes`` are those of the keys; for ``judged`` see ``hashed_keys``.

    A join by hashes is several times faster than one by texts; texts are compared where hashes are
    equal.

    >>> keys = pl.DataFrame({"query": [0, 0, 1], "doc_id": ["x", "b", "a"]})
    >>> judged = pl.DataFrame({"query": [0, 0], "doc_id": ["a", "b"]})
    >>> judged = judged.with_columns(doc=pl.Series([0, 1]), hash=judged.hash_rows())
    >>> [rows.tolist() for rows in find_judged(judged, keys, keys.hash_rows())]
    [[1], [1]]
    """
    hashed = pl.DataFrame({"hash": hashes, "row": np.arange(len(hashes))})
    alike = hashed.join(judged, on="hash", how="inner", maintain_order="left")
    row, doc = alike["row"].to_numpy(), alike["doc"].to_numpy()
    same = (keys["doc_id"][row] == alike["doc_id"]).to_numpy()
    same &= keys["query"].to_numpy()[row] == alike["query"].to_numpy()
    return row[same], doc[same]


def repetitions(keys: pl.DataFrame, hashes: pl.Series) -> pl.DataFrame:
    """Return the rows that an earlier row equals.

    Equal rows have equal hashes: only those are looked at.

    >>> keys = pl.DataFrame({"query": [0, 0, 0, 1], "doc_id": ["a", "b", "a", "a"]})
    >>> repetitions(keys, keys.hash_rows()).rows()
    [(0, 'a')]
    """
    if hashes.n_unique() == len(hashes):
        return keys[:0]
    suspects = keys.filter(hashes.is_duplicated())
    return suspects.filter(~pl.struct(pl.all()).is_first_distinct())
