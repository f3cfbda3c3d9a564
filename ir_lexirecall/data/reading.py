"""``Reading``: how judgments are to be read, as the arguments of ``load`` say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np

from ir_lexirecall._util.errors import check_flag, naming, shown
from ir_lexirecall.data.tie_rule import ScoreOrder, order_of_version
from ir_lexirecall.io.cells import id_of, number_of
from ir_lexirecall.io.columns import TableLike, id_pairs
from ir_lexirecall.io.files import named_files

ExcludeLike: TypeAlias = "str | Mapping[Any, Iterable[Any]] | TableLike"
"""Documents to take out of rankings and judgments: ``'self'`` (the document with the query's own
id), a mapping of query ids to document ids, or a table or run file with the columns ``query_id``
and ``doc_id``."""

LevelsLike: TypeAlias = "float | Iterable[float] | Mapping[float, float]"
"""From which grades on documents count as 1, 2, ...; or the new grade for each of them."""

SELF = "self"
RELEVANT: Literal["relevant"] = "relevant"


@dataclass(frozen=True)
class Reading:
    """How judgments are to be read.

    Attributes:
        exclude: documents that are taken out, by query.
        exclude_self: whether the document with the query's own id is taken out.
        queries: the queries that count: their ids, ``'relevant'`` for those with relevant
            documents, or None for all.
        judged_only: whether runs lose documents without a judgment.
        rules: whether the collection's own rules are applied.
        order: the order of a run's documents; None if `load` was not told.
        levels: from which grade on a document gets which new one; None to keep all grades.
    """

    exclude: Mapping[str, frozenset[str]] = field(default_factory=dict)
    exclude_self: bool = False
    queries: frozenset[str] | Literal["relevant"] | None = None
    judged_only: bool = False
    rules: bool = True
    order: ScoreOrder | None = None
    levels: Mapping[float, float] | None = None

    @classmethod
    def from_arguments(
        cls,
        *,
        exclude: ExcludeLike | None,
        queries: str | Iterable[Any] | None,
        judged_only: bool,
        rules: bool,
        trec_eval: int | None,
        levels: LevelsLike | None,
    ) -> Reading:
        """Return the arguments of ``load``, checked and read.

        Raises:
            ValueError: an argument is not one of its choices, or cannot be read.
        """
        wanted = _queries(queries)
        check_flag("judged_only", judged_only)
        check_flag("rules", rules)
        order = None if trec_eval is None else order_of_version(trec_eval)
        exclude_self = isinstance(exclude, str) and exclude == SELF
        excluded = {} if exclude is None or exclude_self else _excluded(exclude)
        new_grades = None if levels is None else checked_levels(levels)
        return cls(
            excluded, exclude_self, wanted, judged_only, rules, order, new_grades
        )

    def excluded_of(self, query_ids: Iterable[str]) -> Mapping[str, Iterable[str]]:
        """Return the documents that are taken out, by query, of the judged ``query_ids``."""
        if self.exclude_self:
            return {query_id: [query_id] for query_id in query_ids}
        return self.exclude


def _queries(
    queries: str | Iterable[Any] | None,
) -> frozenset[str] | Literal["relevant"] | None:
    """Return the ids of queries, or what stands for some of them."""
    if queries is None:
        return None
    if isinstance(queries, str):
        if queries != RELEVANT:
            raise ValueError(
                f"unknown queries {queries!r}; give 'relevant', or a list of their ids"
            )
        return RELEVANT
    if not isinstance(queries, Iterable):
        raise ValueError(
            f"queries must be 'relevant' or ids of queries, not {queries!r}"
        )
    wanted = frozenset(map(id_of, queries))
    if not wanted:
        raise ValueError("queries is empty; leave it out to take all queries")
    return wanted


def _excluded(exclude: ExcludeLike) -> dict[str, frozenset[str]]:
    """Return the documents of a mapping, a table or a file, by query."""
    if isinstance(exclude, str) and not named_files(exclude):
        raise ValueError(
            f"exclude: unknown rule {exclude!r}; give 'self', a mapping of query ids to document "
            "ids, or a table or run file with query_id and doc_id"
        )
    if isinstance(exclude, Mapping):
        return _excluded_of_mapping(exclude)
    docs_of_query: dict[str, set[str]] = {}
    for query_id, doc_id in id_pairs(exclude):
        docs_of_query.setdefault(query_id, set()).add(doc_id)
    return {query_id: frozenset(docs) for query_id, docs in docs_of_query.items()}


def _excluded_of_mapping(
    exclude: Mapping[Any, Iterable[Any]],
) -> dict[str, frozenset[str]]:
    """Return the documents of a mapping, whose ids may be integers."""
    for query_id, docs in exclude.items():
        if isinstance(docs, str) or not isinstance(docs, Iterable):
            raise ValueError(
                f"exclude: query {shown(query_id)} maps to {docs!r}, not to a list of document ids"
            )
    with naming("exclude"):
        return {
            id_of(query_id): frozenset(map(id_of, docs))
            for query_id, docs in exclude.items()
        }


def checked_levels(levels: LevelsLike) -> dict[float, float]:
    """Return new grades by the lowest old grade of each.

    >>> checked_levels(0.5), checked_levels([0.3, 0.8]), checked_levels({0.3: 1, 0.8: 3})
    ({0.5: 1.0}, {0.3: 1.0, 0.8: 2.0}, {0.3: 1.0, 0.8: 3.0})

    Raises:
        ValueError: a level is not a number above 0, or the levels or the new grades do not rise.
    """
    if isinstance(levels, Mapping):
        pairs = list(levels.items())
    elif isinstance(levels, Iterable) and not isinstance(levels, str):
        pairs = [(level, number) for number, level in enumerate(levels, start=1)]
    else:
        pairs = [(levels, 1)]
    grade_of_level = dict(_checked_level(level, grade) for level, grade in pairs)
    if not pairs or len(grade_of_level) < len(pairs):
        raise ValueError(
            "levels must name at least one grade, and each of them once, as [0.5, 0.8] does, "
            f"not {shown(levels)}"
        )
    if not _is_rising(grade_of_level) or not _is_rising(grade_of_level.values()):
        raise ValueError(
            f"levels must rise, and so must the grades that they stand for: {shown(levels)}"
        )
    return grade_of_level


def _checked_level(level: Any, grade: Any) -> tuple[float, float]:
    """Return a level and its new grade as numbers; raise if one of them is not possible."""
    threshold, new_grade = number_of(level), number_of(grade)
    if (
        threshold is None
        or new_grade is None
        or not 0 < threshold < np.inf
        or not 0 <= new_grade < np.inf
    ):
        raise ValueError(
            f"levels: {shown(level)}: {shown(grade)} must be a finite number above 0 and a grade "
            "of at least 0, as in levels=[0.5, 0.8] or levels={0.5: 1, 0.8: 3}"
        )
    return float(threshold), float(new_grade)


def _is_rising(numbers: Iterable[float]) -> bool:
    """Return whether numbers never fall."""
    listed = list(numbers)
    return listed == sorted(listed)
