"""One ranked list, one value: a callable for frameworks that evaluate a query at a time."""

from __future__ import annotations

import contextlib
import itertools
import warnings
from collections.abc import (
    Callable,
    Hashable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
    Set,
)
from math import inf, isfinite, nan
from types import GeneratorType
from typing import Any, TypeAlias

import numpy as np

from ir_lexirecall._util.arrays import Floats
from ir_lexirecall._util.errors import (
    called,
    counted,
    entry,
    is_integer,
    shown,
    shown_names,
    warn,
)
from ir_lexirecall._util.lazy import cached_property
from ir_lexirecall._util.selecting import index_of
from ir_lexirecall.data.aligned_run import AlignedRun
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.data.qrels import AspectRows, numbered
from ir_lexirecall.io.cells import id_of
from ir_lexirecall.io.relevant_documents import check_listed
from ir_lexirecall.measures.declaration import Measure, Utility
from ir_lexirecall.measures.parsing import (
    FractionalRel,
    MeasureLike,
    parse_measures,
)
from ir_lexirecall.measures.scoring import (
    HALF,
    dcg,
    function_of_ranks,
    is_plain_ndcg,
    least_grade,
    score,
    smaller_is_better,
    with_threshold,
)

Relevant: TypeAlias = (
    "Mapping[Any, float] | Mapping[Any, Mapping[Any, float]] | Iterable[Any]"
)
"""What is relevant to a query: ids of documents, their grades, or their grades for subtopics."""


class Scorer:
    """A measure as a function of one ranking: ``scorer`` makes it.

    Attributes:
        measure: what it computes.
        smaller_is_better: whether the smaller value is the better one.
    """

    def __init__(self, measure: MeasureLike, rel: float | None = None) -> None:
        """Prepare a measure; see ``scorer`` for ``measure`` and ``rel``."""
        try:
            [parsed] = parse_measures([measure]).values()
            [parsed] = parse_measures([with_threshold(parsed, rel)]).values()
        except FractionalRel as error:  # there are no qrels to load
            raise ValueError(
                f"{error.measure}: ir_measures takes whole numbers for rel; leave rel out and "
                f"{_way_to_count(error.rel)}"
            ) from None
        self.measure: Any = parsed
        self.smaller_is_better: bool = smaller_is_better(parsed)
        self._score: Callable[[AlignedRun], Any] = lambda run: score(parsed, run)
        if isinstance(parsed, Measure) and not parsed["judged_only"]:
            self._score = parsed.score
        self._of_ranks, self._is_ndcg = function_of_ranks(parsed), is_plain_ndcg(parsed)
        self._least_grade = least_grade(parsed)
        self._rel, self._top = parsed.params.get("rel", 1), parsed.params.get("cutoff")
        self._cutoff = self._top or inf
        self._last: tuple[Any, Any] = (None, None)
        """The relevant documents of the last query, as they were given and checked."""

    def __repr__(self) -> str:
        """Return a call that makes it."""
        return f"scorer({str(self.measure)!r})"

    def __call__(self, ranked_ids: Sequence[Any], relevant: Relevant) -> float:
        """Return the value of one ranking.

        Args:
            ranked_ids: ids of documents, best first, in a list, tuple, array or iterator; not in a
                set, which has no order.
            relevant: ids of relevant documents, a mapping of ids to grades, or of ids to grades per
                subtopic.

        Raises:
            ValueError: a ranking without order, a document twice, an id that is neither text nor an
                integer, or a grade that is not a finite number.
        """
        try:
            return self._value(ranked_ids, relevant)
        except ValueError as error:  # `called` would take longer than the rest
            raise ValueError(f"{self!r}: {error}") from None

    def _value(self, ranked_ids: Sequence[Any], relevant: Relevant) -> float:
        """Return the value of one ranking; see `__call__`."""
        judged = self._judged(relevant)
        ids = _distinct(ranked_ids)
        judged.check_same_kind_as(ids)
        if self._of_ranks is not None:
            hits = judged.relevant
            ranks = [
                rank for rank, doc in enumerate(ids[: self._top], 1) if doc in hits
            ]
            if ranks:
                return self._of_ranks(ranks, len(hits), self._cutoff)
            return 0.0
        if self._is_ndcg:
            best, gains = judged.ideal_dcg, judged.gains
            if not best:
                return 0.0
            numbered = enumerate(ids[: self._top], 1)
            ranked = [(rank, gains[doc]) for rank, doc in numbered if doc in gains]
            return dcg(ranked, self._cutoff) / best
        row_of = judged.row_of
        rows = [
            (0, row_of[doc], rank) for rank, doc in enumerate(ids, 1) if doc in row_of
        ]
        return float(self._values(judged.judgments, rows, [len(ids)])[0])

    def _judged(self, relevant: Relevant) -> _Judged:
        """Return what is relevant to a query, checked.

        The same query often comes with several rankings: a dict is not checked again.
        """
        last_input, judged = self._last
        if type(relevant) is dict and last_input == relevant:
            return judged
        judged = _Judged(relevant, self._rel, self._cutoff)
        judged.check_reached(self._least_grade, self.measure)
        if type(relevant) is dict:
            copy = dict(relevant)
            for doc, grade in relevant.items():
                if isinstance(grade, dict):
                    copy[doc] = dict(grade)
            self._last = (copy, judged)
        return judged

    def _values(
        self, judgments: Judgments, rows: list[tuple[int, int, int]], depth: list[int]
    ) -> Floats:
        """Return the value of each ranking.

        Args:
            judgments: what is relevant.
            rows: query, row in the judgments, and rank of the judged documents in the rankings.
            depth: lengths of the rankings.
        """
        query, doc, rank = np.array(rows, dtype=np.int64).reshape(-1, 3).T
        value = self._score(
            AlignedRun(
                judgments,
                query,
                doc,
                rank,
                np.array(depth),
                None,
                np.arange(len(depth)),
            )
        )
        if isinstance(value, Utility):
            return value.value
        return value

    def batch(
        self, rankings: Sequence[Sequence[Any]], relevant: Sequence[Relevant]
    ) -> Floats:
        """Return the values of several rankings, in one computation.

        Args:
            rankings: ids of documents, best first, for each query.
            relevant: what is relevant to each, as in a call.

        Raises:
            ValueError: as a call; or the rankings and what is relevant are not two lists of one
                length.
        """
        with called(f"{self!r}.batch"):
            return self._values_of_pairs(rankings, relevant)

    def _values_of_pairs(
        self, rankings: Sequence[Sequence[Any]], relevant: Sequence[Relevant]
    ) -> Floats:
        """Return the values of several rankings; see `batch`."""
        _check_pairs(rankings, relevant)
        if not len(rankings):
            return np.zeros(0)
        parts = [_Judged(part, self._rel, self._cutoff) for part in relevant]
        for part in parts:
            part.check_reached(self._least_grade, self.measure)
        ranked = [_distinct(ranking) for ranking in rankings]
        rows: list[tuple[int, int, int]] = []
        start = 0
        for q, (ids, part) in enumerate(zip(ranked, parts, strict=True)):
            part.check_same_kind_as(ids)
            row_of = part.row_of
            for rank, doc in enumerate(ids, 1):
                if doc in row_of:
                    rows.append((q, start + row_of[doc], rank))
            start += len(row_of)
        values = self._values(_joined(parts), rows, [len(ids) for ids in ranked])
        return np.asarray(values, dtype=np.float64)


def _check_pairs(rankings: Any, relevant: Any) -> None:
    """Raise if rankings and what is relevant to them are not two lists of one length."""
    for several in (rankings, relevant):
        is_list = hasattr(several, "__len__") and not isinstance(several, str)
        if not is_list or isinstance(several, (Set, Mapping)) or _is_scalar(several):
            raise ValueError(
                "rankings and relevant documents are paired by their order: give two lists, not "
                f"{type(several).__name__}"
            )
    if len(rankings) != len(relevant):
        raise ValueError(
            f"{counted(len(rankings), 'ranking')}, but relevant documents for {len(relevant)}"
        )


class _Judged:
    """What is relevant to one query, checked, for a measure with this ``rel`` and ``cutoff``.

    Attributes:
        grades: of each document; sorted by document.
        row_of: row of each document in ``judgments``.
        rows: a document's row, a subtopic, and its grade for it, in order; None where grades are
            not for subtopics.
    """

    def __init__(self, relevant: Relevant, rel: float, cutoff: float) -> None:
        """Check what is relevant to a query, for a measure with these parameters."""
        self._rel, self._cutoff = rel, cutoff
        self._are_ids = not isinstance(relevant, Mapping)
        by_doc = _grades_by_document(relevant)
        self._are_integers = self._are_ids and _are_integers(relevant)
        self.row_of = index_of(by_doc)
        self.rows: list[tuple[int, str, float]] | None = None
        self.grades: dict[str, float]
        if any(isinstance(grade, Mapping) for grade in by_doc.values()):
            self.rows = _rows_of_subtopics(by_doc)
            self.grades = dict(
                zip(by_doc, _top_grades(self.rows, len(by_doc)), strict=True)
            )
        else:
            self.grades = {
                doc: _checked_grade(grade, f"document {doc!r}")
                for doc, grade in by_doc.items()
            }

    def check_same_kind_as(self, ranked_ids: Sequence[str]) -> None:
        """Raise if relevant documents are integers, but ids of the ranking are words."""
        if not self._are_integers or any(doc.isdecimal() for doc in ranked_ids):
            return
        if ranked_ids:
            raise ValueError(
                "expected ids of relevant documents, got integers "
                f"({shown_names([*self.grades], 3)}), while the ranking has "
                f"{shown(ranked_ids[0])}; if they are labels, give {{document: label}}"
            )

    def check_reached(self, least_grade: float, measure: Any) -> None:
        """Warn if a measure does not count labels between 0 and 1 as relevant."""
        if self._are_ids or not self.grades:
            return
        top = max(self.grades.values())
        lowest = min((grade for grade in self.grades.values() if grade > 0), default=1)
        if top > 1 or lowest >= min(least_grade, 1):
            return
        way_out = "give a smaller rel, as in scorer('LR', rel=0.5)"
        if not isinstance(measure, Measure):
            way_out = _way_to_count(min(top, HALF))
        if top < least_grade:
            message = (
                "no grade of a query is high enough to count as relevant: the highest is "
                f"{top:g}, and every ranking scores 0"
            )
        else:
            message = (
                f"grades between 0 and 1, such as {lowest:g}, count as not relevant"
            )
        warn(f"{measure}: {message}; {way_out}")

    @cached_property
    def relevant(self) -> frozenset[str]:
        """The documents of at least grade ``rel``."""
        return frozenset(
            doc for doc, grade in self.grades.items() if grade >= self._rel
        )

    @cached_property
    def gains(self) -> dict[str, float]:
        """The grades above 0."""
        return {doc: grade for doc, grade in self.grades.items() if grade > 0}

    @cached_property
    def ideal_dcg(self) -> float:
        """DCG of the best ranking, down to the cutoff."""
        best_first = sorted(self.gains.values(), reverse=True)
        return dcg(list(enumerate(best_first, start=1)), self._cutoff)

    @cached_property
    def judgments(self) -> Judgments:
        """The same as arrays, called by its number."""
        return _joined([self])


def _way_to_count(level: float) -> str:
    """Return how labels of at least a level count as relevant for a measure of ir_measures."""
    return (
        f"give labels of 0 and 1, such as {{doc: int(label >= {level:g}) for doc, label in "
        "labels.items()}, or take a measure of this library, which has any rel, as in "
        "scorer('LR', rel=0.5)"
    )


def _grades_by_document(relevant: Relevant) -> dict[str, Any]:
    """Return the grades of relevant documents, or for each its grades for subtopics, sorted by id.

    Raises:
        ValueError: it is neither ids nor grades, or an id occurs twice.
    """
    is_iterable = isinstance(relevant, Iterable) and not _is_scalar(relevant)
    if isinstance(relevant, (str, bytes)) or not is_iterable:
        raise ValueError(
            "expected ids of relevant documents, their grades, or grades for subtopics, got "
            f"{shown(relevant)}"
        )
    if _is_column_of_grades(relevant):
        raise ValueError(
            "expected ids of relevant documents, got a column of numbers under labels of texts; "
            "for grades by document, give column.to_dict()"
        )
    if hasattr(relevant, "columns"):
        raise ValueError(
            "expected ids of relevant documents, got a table; give its column of ids"
        )
    if isinstance(relevant, Mapping):
        grades = relevant
    else:
        _check_not_spent(relevant)
        ids = list(relevant)
        check_listed(ids)
        grades = dict.fromkeys(ids if _are_hashable(ids) else _texts(ids), 1.0)
    docs = _texts(grades)
    if len(set(docs)) < len(docs):
        raise ValueError(
            "an id occurs as a string and as an integer; use one of the two"
        )
    by_doc = dict(zip(docs, grades.values(), strict=True))
    return {doc: by_doc[doc] for doc in sorted(docs)}


def _are_integers(ids: Any) -> bool:
    """Return whether a list, tuple or array holds integers only, and at least one."""
    if isinstance(ids, np.ndarray):
        return ids.size > 0 and ids.dtype.kind in "iu"
    if not isinstance(ids, (list, tuple)) or not ids:
        return False
    return is_integer(ids[0]) and all(map(is_integer, ids))


def _are_hashable(ids: Iterable[Any]) -> bool:
    """Return whether ids can be the keys of a dict, as all that may be ids can."""
    return all(isinstance(one, Hashable) for one in ids)


def _check_not_spent(ids: Any) -> None:
    """Raise if a generator of ids is used up: it would yield no id."""
    if isinstance(ids, GeneratorType) and ids.gi_frame is None:
        raise ValueError(
            "a generator of ids was read before, and can be read only once: give a list"
        )


def _is_column_of_grades(relevant: Any) -> bool:
    """Return whether a value is a pandas Series of numbers whose labels are texts."""
    index: Any = getattr(relevant, "index", None)
    if not hasattr(index, "dtype") or not hasattr(relevant, "dtype"):
        return False
    values_are_numbers = getattr(relevant.dtype, "kind", "O") in "fiub"
    return values_are_numbers and any(isinstance(label, str) for label in index)


def _rows_of_subtopics(by_doc: Mapping[str, Any]) -> list[tuple[int, str, float]]:
    """Return a document's row, a subtopic, and its grade for it, in order."""
    rows = []
    for row, (doc, grades) in enumerate(by_doc.items()):
        if not isinstance(grades, Mapping):
            raise ValueError(
                f"document {doc!r} has the grade {shown(grades)}, "
                "others have grades for subtopics; "
                "give all documents such grades"
            )
        for name, grade in sorted((str(name), grade) for name, grade in grades.items()):
            rows.append(
                (row, name, _checked_grade(grade, f"document {doc!r} for {name!r}"))
            )
    return rows


def _top_grades(rows: Sequence[tuple[int, str, float]], documents: int) -> list[float]:
    """Return each document's grade: its highest, or that of "relevance", as in qrels."""
    is_named = any(name == "relevance" for _, name, _ in rows)
    top: dict[int, float] = {}
    for row, name, grade in rows:
        if name == "relevance" or not is_named:
            top[row] = max(grade, top.get(row, grade))
    return [top.get(row, 0.0) for row in range(documents)]


@entry
def scorer(measure: MeasureLike, *, rel: float | None = None) -> Scorer:
    """Make a measure a function ``(ranked_ids, relevant) -> float``.

    Frameworks that evaluate one query at a time take such functions.

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
    """Return ids as texts."""
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
            f"document {twice!r} appears twice in the ranking; keep the first: "
            "list(dict.fromkeys(ranked_ids))"
        )
    return ids


def _check_ordered(ranked_ids: Any) -> None:
    """Raise if ids of documents are in no order, or in one that need not be that of the ranking.

    The order of a set is another one in every process. A mapping, and a view of its keys, is in the
    order in which documents were put in, which need not be that of their scores. Lists, tuples,
    arrays, columns of a table, and iterators of these are in order.
    """
    if _is_scalar(ranked_ids):
        _check_ordered(ranked_ids.item())  # a set, as NumPy holds it
    is_iterable = isinstance(ranked_ids, Iterable) and not _is_scalar(ranked_ids)
    if not is_iterable or isinstance(ranked_ids, (str, bytes, Mapping)):
        raise ValueError(
            f"expected ids of documents, best first, got {shown(ranked_ids)}"
        )
    if hasattr(ranked_ids, "columns"):
        raise ValueError(
            "expected ids of documents, best first, got a table; give its column of ids"
        )
    _check_not_spent(ranked_ids)
    for origin in _origins_of(ranked_ids):
        is_set = isinstance(origin, Set) and not isinstance(origin, Sequence)
        if is_set or isinstance(origin, _ITERATORS_OF_SETS):
            raise ValueError(
                f"a ranking must be a list or tuple, best first, not {type(origin).__name__}: "
                "give one, such as sorted(scores, key=scores.get, reverse=True)"
            )


def _origins_of(ids: Any) -> Iterator[Any]:
    """Yield what ``map``, ``islice`` and such, or a generator expression, take ids from.

    Other ids are their own origin.
    """
    frame = getattr(ids, "gi_frame", None)
    if frame is not None and ".0" in frame.f_locals:
        yield from _origins_of(frame.f_locals[".0"])
    elif isinstance(ids, _ITERATORS_OF_OTHERS):
        for source in _sources_of(ids):
            yield from _origins_of(source)
    else:
        yield ids


def _sources_of(iterator: Any) -> list[Any]:
    """Return the arguments that an iterator was made with; none where Python does not tell.

    From Python 3.14 on, it does not for those of `itertools`.
    """
    with warnings.catch_warnings(), contextlib.suppress(TypeError):
        warnings.simplefilter("ignore", DeprecationWarning)
        _, *states = iterator.__reduce__()
        sources: list[Any] = []
        for state in states:
            sources += state if isinstance(state, tuple) else [state]
        if isinstance(iterator, itertools.chain) and sources:
            first = sources[0]  # iterates over the chained iterables
            sources += next(iter(first.__reduce__()[1]), ())
        return sources
    return []


def _is_scalar(value: Any) -> bool:
    """Return whether a value is an array without an axis, as of a set: ``np.array({"a"})``."""
    return isinstance(value, np.ndarray) and not value.ndim


_ITERATORS_OF_OTHERS: tuple[type, ...] = (
    *(map, filter, itertools.chain, itertools.islice, itertools.filterfalse),
    *(itertools.takewhile, itertools.dropwhile, itertools.compress),
)
_ITERATORS_OF_SETS: tuple[type, ...] = (
    type(iter(set())),
    type(iter({})),
    type(iter({}.items())),
)


def _checked_grade(value: Any, where: str) -> float:
    """Return a grade as a finite float."""
    try:
        grade = float(value)
    except (TypeError, ValueError, OverflowError):
        grade = nan
    if not isfinite(grade):
        raise ValueError(f"the grade of {where} is {shown(value)}, not a finite number")
    return grade


def _joined(parts: Sequence[_Judged]) -> Judgments:
    """Return the judgments of several queries, called by their numbers."""
    width, sizes = len(str(len(parts))), [len(part.grades) for part in parts]
    docs: list[str] = []
    grades: list[float] = []
    for part in parts:
        docs += part.grades
        grades += part.grades.values()
    subtopics = None
    if any(part.rows is not None for part in parts):
        subtopics = _joined_subtopics(parts, sizes)
    return Judgments(
        [f"{i:0{width}d}" for i in range(len(parts))],
        np.repeat(np.arange(len(parts)), sizes),
        docs,
        np.array(grades, dtype=np.float64),
        subtopics,
    )


def _joined_subtopics(parts: Sequence[_Judged], sizes: Sequence[int]) -> AspectRows:
    """Return the grades for subtopics of several queries, "0" where there are none."""
    rows = []
    start = 0
    for part, size in zip(parts, sizes, strict=True):
        of_part = part.rows
        if of_part is None:
            grades = part.grades.values()
            of_part = [(row, "0", grade) for row, grade in enumerate(grades)]
        rows += [(start + row, name, grade) for row, name, grade in of_part]
        start += size
    names, aspect = numbered([name for _, name, _ in rows])
    doc = np.array([doc for doc, _, _ in rows], dtype=np.int64)
    grade = np.array([grade for *_, grade in rows], dtype=float)
    line = np.arange(len(rows))
    return AspectRows(doc, aspect, grade, names, {}, line, line)
