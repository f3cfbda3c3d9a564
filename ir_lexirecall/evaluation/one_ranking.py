"""One ranked list, one value: a callable for frameworks that evaluate a query at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from math import inf, isfinite, nan
from typing import Any, TypeAlias

import numpy as np

from ir_lexirecall._util.arrays import Floats
from ir_lexirecall._util.errors import entry, shown, warn
from ir_lexirecall._util.lazy import cached_property
from ir_lexirecall.data.aligned_run import AlignedRun
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.data.qrels import AspectRows
from ir_lexirecall.io.cells import id_of
from ir_lexirecall.measures.declaration import Measure, Utility
from ir_lexirecall.measures.parsing import MeasureLike, parse_measures
from ir_lexirecall.measures.scoring import (
    dcg,
    function_of_ranks,
    is_plain_ndcg,
    least_grade,
    score,
    smaller_is_better,
)

Relevant: TypeAlias = "Mapping[Any, float] | Mapping[Any, Mapping[Any, float]] | Iterable[Any]"
"""What is relevant to a query: ids of documents, their grades, or for each document its grades for subtopics."""


class Scorer:
    """A measure as a function of one ranking: ``scorer`` makes it.

    Attributes:
        measure: what it computes.
        smaller_is_better: whether the smaller value is the better one.
    """

    def __init__(self, measure: MeasureLike, rel: float | None = None) -> None:
        """Prepare a measure; see ``scorer`` for ``measure`` and ``rel``."""
        [parsed] = parse_measures([measure]).values()
        if rel is not None and "rel" in parsed.SUPPORTED_PARAMS and "rel" not in parsed.params:
            [parsed] = parse_measures([parsed(rel=rel)]).values()
        self.measure: Any = parsed
        self.smaller_is_better: bool = smaller_is_better(parsed)
        self._score: Callable[[AlignedRun], Any] = lambda run: score(parsed, run)
        if isinstance(parsed, Measure) and not parsed["judged_only"]:
            self._score = parsed.score
        self._of_ranks, self._is_ndcg = function_of_ranks(parsed), is_plain_ndcg(parsed)
        self._least_grade = least_grade(parsed)
        self._rel, self._top = parsed.params.get("rel", 1), parsed.params.get("cutoff")
        self._cutoff = self._top or inf
        self._kept: tuple[Any, Any] = (
            None,
            None,
        )  # the last query's relevant documents, as given and checked

    def __repr__(self) -> str:
        return f"scorer({str(self.measure)!r})"

    def __call__(self, ranked_ids: Sequence[Any], relevant: Relevant) -> float:
        """The value of one ranking.

        Args:
            ranked_ids: ids of documents, best first, in a list, tuple, array or iterator; not in a
                set, which has no order.
            relevant: ids of relevant documents, a mapping of ids to grades, or of ids to grades per
                subtopic.

        Raises:
            ValueError: a ranking without order, a document twice, an id that is neither text nor an
                integer, or a grade that is not a finite number.
        """
        known, judged = self._kept
        if (
            type(relevant) is not dict or known != relevant
        ):  # the same query often comes with several rankings
            judged = _Judged(relevant, self._rel, self._cutoff)
            judged.check_reached(self._least_grade, self.measure)
            if type(relevant) is dict:
                copy = {
                    doc: dict(grade) if isinstance(grade, dict) else grade
                    for doc, grade in relevant.items()
                }
                self._kept = (copy, judged)
        ids = _distinct(ranked_ids)
        if self._of_ranks is not None:
            hits = judged.relevant
            ranks = [rank for rank, doc in enumerate(ids[: self._top], 1) if doc in hits]
            return self._of_ranks(ranks, len(hits), self._cutoff) if ranks else 0.0
        if self._is_ndcg:
            best, gains = judged.ideal_dcg, judged.gains
            ranked = [
                (rank, gains[doc]) for rank, doc in enumerate(ids[: self._top], 1) if doc in gains
            ]
            return dcg(ranked, self._cutoff) / best if best else 0.0
        place = judged.place
        found = [(0, place[doc], rank) for rank, doc in enumerate(ids, 1) if doc in place]
        return float(self._values(judged.judgments, found, [len(ids)])[0])

    def _values(
        self, judgments: Judgments, found: list[tuple[int, int, int]], depth: list[int]
    ) -> Floats:
        """The value of each ranking, by the query, row and rank of the judged documents in them."""
        rows = np.array(found, dtype=np.int64).reshape(-1, 3)
        query, doc, rank = rows[:, 0], rows[:, 1], rows[:, 2]
        value = self._score(
            AlignedRun(judgments, query, doc, rank, np.array(depth), None, np.arange(len(depth)))
        )
        return value.value if isinstance(value, Utility) else value

    def batch(self, rankings: Sequence[Sequence[Any]], relevant: Sequence[Relevant]) -> Floats:
        """The values of several rankings, in one computation.

        Args:
            rankings: ids of documents, best first, for each query.
            relevant: what is relevant to each, as in a call.

        Raises:
            ValueError: as a call; or the rankings and what is relevant are not two lists of one
                length.
        """
        for several in (rankings, relevant):
            if isinstance(several, (Set, Mapping)):
                raise ValueError(
                    "batch pairs rankings with what is relevant by their order: give two lists, not "
                    f"{type(several).__name__}"
                )
        if len(rankings) != len(relevant):
            raise ValueError(
                f"{len(rankings)} rankings, but relevant documents for {len(relevant)}"
            )
        if not len(rankings):
            return np.zeros(0)
        parts = [_Judged(part, self._rel, self._cutoff) for part in relevant]
        for part in parts:
            part.check_reached(self._least_grade, self.measure)
        ranked, start = [_distinct(ranking) for ranking in rankings], 0
        found: list[tuple[int, int, int]] = []
        for q, (ids, part) in enumerate(zip(ranked, parts, strict=True)):
            found += [
                (q, start + part.place[doc], rank)
                for rank, doc in enumerate(ids, 1)
                if doc in part.place
            ]
            start += len(part.place)
        values = self._values(_joined(parts), found, [len(ids) for ids in ranked])
        return np.asarray(values, dtype=np.float64)


class _Judged:
    """What is relevant to one query, checked, for a measure with this ``rel`` and ``cutoff``.

    Attributes:
        grades: of each document; sorted by document.
        place: row of each document in ``judgments``.
        rows: a document's row, a subtopic, and its grade for it, in order; None where grades are
            not for subtopics.
    """

    def __init__(self, relevant: Relevant, rel: float, cutoff: float) -> None:
        self._rel, self._cutoff = rel, cutoff
        if isinstance(relevant, str):
            raise ValueError(
                f"expected ids of relevant documents, their grades, or grades for subtopics, got {relevant!r}"
            )
        if hasattr(relevant, "columns"):
            raise ValueError(
                "expected ids of relevant documents, got a table; give its column of ids"
            )
        self._are_ids = not isinstance(relevant, Mapping)
        given = relevant if isinstance(relevant, Mapping) else dict.fromkeys(relevant, 1.0)
        docs = _texts(given)
        if len(set(docs)) < len(docs):
            raise ValueError("an id occurs as a string and as an integer; use one of the two")
        by_doc = dict(zip(docs, given.values(), strict=True))
        self.grades: dict[str, Any] = {doc: by_doc[doc] for doc in sorted(docs)}
        self.place = {doc: row for row, doc in enumerate(self.grades)}
        self.rows: list[tuple[int, str, float]] | None = None
        if any(isinstance(grade, Mapping) for grade in self.grades.values()):
            self.rows = []
            for row, (doc, grades) in enumerate(self.grades.items()):
                if not isinstance(grades, Mapping):
                    raise ValueError(
                        f"document {doc!r} has the grade {shown(grades)}, others have grades for subtopics; give all documents such grades"
                    )
                for name, grade in sorted((str(name), grade) for name, grade in grades.items()):
                    self.rows.append(
                        (row, name, _checked_grade(grade, f"document {doc!r} for {name!r}"))
                    )
            # A document's own grade is the highest, or that of the aspect "relevance", as of qrels.
            named = any(name == "relevance" for _, name, _ in self.rows)
            top: dict[int, float] = {}
            for row, name, grade in self.rows:
                if name == "relevance" or not named:
                    top[row] = max(grade, top.get(row, grade))
            self.grades = {doc: top.get(row, 0.0) for row, doc in enumerate(self.grades)}
        else:
            self.grades = {
                doc: _checked_grade(grade, f"document {doc!r}")
                for doc, grade in self.grades.items()
            }

    def check_reached(self, least_grade: float, measure: Any) -> None:
        """Warn if labels between 0 and 1 are all too low to count as relevant for a measure."""
        if self._are_ids or not self.grades:
            return
        top = max(self.grades.values())
        if 0 < top < min(least_grade, 1):
            warn(
                f"{measure}: no grade of a query is high enough to count as relevant: the highest is "
                f"{top:g}, so that every ranking scores 0; give a smaller rel, as in scorer('LR', rel=0.5)"
            )

    @cached_property
    def relevant(self) -> frozenset[str]:
        """The documents of at least grade ``rel``."""
        return frozenset(doc for doc, grade in self.grades.items() if grade >= self._rel)

    @cached_property
    def gains(self) -> dict[str, float]:
        """The grades above 0."""
        return {doc: grade for doc, grade in self.grades.items() if grade > 0}

    @cached_property
    def ideal_dcg(self) -> float:
        """DCG of the best ranking, down to the cutoff."""
        return dcg(
            list(enumerate(sorted(self.gains.values(), reverse=True), start=1)), self._cutoff
        )

    @cached_property
    def judgments(self) -> Judgments:
        """The same as arrays."""
        return _joined([self])


@entry
def scorer(measure: MeasureLike, *, rel: float | None = None) -> Scorer:
    """Make a measure a function ``(ranked_ids, relevant) -> float``, for frameworks that evaluate one query at a time.

    Args:
        measure: any measure, or its string.
        rel: smallest grade that counts as relevant, unless the measure names one.

    Returns:
        A ``Scorer``. It needs no scores: the order of ``ranked_ids`` is the ranking. Neither pandas
        nor Polars is imported.

    Raises:
        ValueError: an unknown measure, or a parameter out of range.

    >>> lr = scorer("LR@100")
    >>> lr(["a", "x", "b"], {"a", "b"})
    0.9333333333333333
    >>> scorer("nDCG@10")(["a", "x", "b"], {"a": 1, "b": 3}).__round__(4)
    0.6885
    >>> scorer("RBU@5")(["a", "b"], {"a": {"history": 1}, "b": {"travel": 1}}).__round__(4)
    0.394
    >>> lr.batch([["a", "b"], ["x"]], [["a", "b"], ["a"]])
    array([1., 0.])
    """
    return Scorer(measure, rel)


def _texts(ids: Iterable[Any]) -> list[str]:
    texts = ids if type(ids) is list else list(ids)
    try:
        "".join(texts)  # the quickest way to learn that all are strings
    except TypeError:
        return [id_of(doc) for doc in texts]
    return texts


def _distinct(ranked_ids: Iterable[Any]) -> list[str]:
    """Return the documents of a ranking as texts.

    Raises:
        ValueError: it has no order of its own, or a document twice.
    """
    if type(ranked_ids) is not list:
        _check_ordered(ranked_ids)
    ids = _texts(ranked_ids)
    if len(set(ids)) < len(ids):
        twice = next(doc for i, doc in enumerate(ids) if doc in ids[:i])
        raise ValueError(
            f"document {twice!r} appears twice in the ranking; keep the first: list(dict.fromkeys(ranked_ids))"
        )
    return ids


def _check_ordered(ranked_ids: Any) -> None:
    """Raise if ids of documents are in no order, or in one that need not be that of the ranking.

    The order of a set is another one in every process. A mapping, and a view of its keys, is in the
    order in which documents were put in, which need not be that of their scores. Lists, tuples,
    arrays, columns of a table, and iterators of these are in order.
    """
    if isinstance(ranked_ids, (str, bytes, Mapping)) or not isinstance(ranked_ids, Iterable):
        raise ValueError(f"expected ids of documents, best first, got {shown(ranked_ids)}")
    if hasattr(ranked_ids, "columns"):
        raise ValueError(
            "expected ids of documents, best first, got a table; give its column of ids"
        )
    is_set = isinstance(ranked_ids, Set) and not isinstance(ranked_ids, Sequence)
    if is_set or isinstance(ranked_ids, _ITERATORS_OF_SETS):
        raise ValueError(
            f"a ranking must be in order, best first, but {type(ranked_ids).__name__} has no order of its "
            "own: give a list, such as sorted(scores, key=scores.get, reverse=True)"
        )


_ITERATORS_OF_SETS: tuple[type, ...] = (type(iter(set())), type(iter({})), type(iter({}.items())))


def _checked_grade(value: Any, where: str) -> float:
    try:
        grade = float(value)
    except (TypeError, ValueError, OverflowError):
        grade = nan
    if not isfinite(grade):
        raise ValueError(f"the grade of {where} is {shown(value)}, not a finite number")
    return grade


def _joined(parts: Sequence[_Judged]) -> Judgments:
    """The judgments of several queries, called by their numbers."""
    width, sizes = len(str(len(parts))), [len(part.grades) for part in parts]
    table = None
    if any(part.rows is not None for part in parts):
        rows = []
        for start, part in zip(np.cumsum([0, *sizes]).tolist(), parts, strict=False):
            plain = [(row, "0", grade) for row, grade in enumerate(part.grades.values())]
            rows += [
                (start + row, name, grade)
                for row, name, grade in (plain if part.rows is None else part.rows)
            ]
        names, line = sorted({name for _, name, _ in rows}), np.arange(len(rows))
        code = {name: i for i, name in enumerate(names)}
        doc = np.array([doc for doc, _, _ in rows], dtype=np.int64)
        aspect = np.array([code[name] for _, name, _ in rows], dtype=np.int64)
        table = AspectRows(
            doc, aspect, np.array([grade for *_, grade in rows], dtype=float), names, {}, line, line
        )
    return Judgments(
        [f"{i:0{width}d}" for i in range(len(parts))],
        np.repeat(np.arange(len(parts)), sizes),
        [doc for part in parts for doc in part.grades],
        np.array([grade for part in parts for grade in part.grades.values()], dtype=np.float64),
        table,
    )
