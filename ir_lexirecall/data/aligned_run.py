"""Where judged documents stand in a run: ``AlignedRun``, from which measures are computed."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ir_lexirecall._util.arrays import (
    Bools,
    Floats,
    Ints,
    position_in_segment,
    ranges,
    starts_segment,
    stretches,
)
from ir_lexirecall._util.lazy import Memoised, cached_property
from ir_lexirecall.data.judgments import Judgments

Merit: TypeAlias = Literal["grade", "judged", "unjudged first"]
"""By what tied documents are ordered, best or worst first.

It is the grade, 0 of an unjudged document; whether the document is judged; or the grade, below that
of an unjudged document. Documents of a negative grade were pooled, but not judged.
"""


@dataclass(frozen=True, eq=False)
class Relevant:
    """The retrieved relevant documents, by query and rank, with m and r per query.

    Attributes:
        query: index of each document's query, rising, shape ``(R,)``.
        rank: its rank in the whole ranking, from 1, rising within a query, shape ``(R,)``.
        m: relevant documents of each query in the judgments, retrieved or not, shape ``(Q,)``.
        r: those retrieved, shape ``(Q,)``.

    >>> from ir_lexirecall.data.alignment import align
    >>> judgments = Judgments.from_qrels({"q": {"a": 1, "b": 1, "c": 1}})
    >>> relevant = align(judgments, {"q": {"a": 3.0, "x": 2.0, "c": 1.0}}).relevant()
    >>> relevant.rank, relevant.level, relevant.m, relevant.r, relevant.p_r
    (array([1, 3]), array([1, 2]), array([3]), array([2]), array([3]))
    """

    query: Ints
    rank: Ints
    m: Ints
    r: Ints

    @cached_property
    def level(self) -> Ints:
        """Recall level of each document, shape ``(R,)``: i for the i-th relevant of its query."""
        return position_in_segment(self.query) + 1

    @property
    def p_r(self) -> Ints:
        """Rank of the last retrieved relevant document of each query, 0 without, shape ``(Q,)``."""
        last = np.zeros(len(self.m), dtype=np.int64)
        last[self.query] = self.rank
        return last


@dataclass(frozen=True, eq=False)
class Ties:
    """The retrieved judged documents whose score other documents of the ranking share."""

    row: Ints  # their rows in the ``AlignedRun``, rising
    first: Ints  # the rank at which the documents of that score begin, for each row
    size: Ints  # how many documents share the score

    @classmethod
    def among(cls, first: NDArray[Any], size: NDArray[Any]) -> Ties | None:
        """Return the ties among all rows.

        They follow from the first rank of each row's score, and the number of documents that share
        it (1: the row is not tied).
        """
        row = np.flatnonzero(size > 1)
        return cls(row, first[row], size[row]) if len(row) else None


@dataclass(frozen=True, eq=False)
class AlignedRun(Memoised):
    """The ranks of the judged documents that a run retrieved, ordered by query, then rank.

    Attributes:
        judgments: what the run was aligned with; it numbers queries and documents.
        query: query of each retrieved judged document.
        doc: its row in ``judgments``.
        rank: its rank, from 1.
        depth: number of documents retrieved for each query, shape ``(Q,)``; 0 for a query the run
            lacks.
        ties: where scores tie with those of other documents, None where no judged document is tied.
        ranked: the queries that the run has, in the order in which it names them first.
    """

    judgments: Judgments
    query: Ints
    doc: Ints
    rank: Ints
    depth: Ints
    ties: Ties | None = None
    ranked: Ints = field(
        default_factory=lambda: np.zeros(0, dtype=np.int64), repr=False
    )

    @property
    def grade(self) -> Floats:
        """Grade of each retrieved judged document."""
        return self.cached("grade", lambda: self.judgments.grade[self.doc])

    @property
    def is_judged(self) -> Bools:
        """Whether each document was judged: one of a negative grade was pooled only."""
        return self.cached("is judged", lambda: self.judgments.is_judged[self.doc])

    def relevant(self, rel: float = 1, cutoff: int | None = None) -> Relevant:
        """Return the documents of at least grade ``rel`` among the first ``cutoff``."""

        def relevant() -> Relevant:
            keep = self.grade >= rel
            if cutoff is not None:
                keep &= self.rank <= cutoff
            row = keep.nonzero()[0]
            query = self.query[row]
            r = np.bincount(query, minlength=len(self.judgments))
            return Relevant(
                query=query, rank=self.rank[row], m=self.judgments.m(rel), r=r
            )

        return self.cached(("relevant", rel, cutoff), relevant)

    def found(self, rel: float = 1) -> Ints:
        """How many documents of at least grade ``rel`` were retrieved for each query."""
        return self.cached(("found", rel), lambda: self.relevant(rel).r)

    @property
    def is_tied(self) -> bool:
        """Whether a judged document shares its score with another one."""
        return self.ties is not None

    def aspect_places(self) -> tuple[Ints, Ints]:
        """Return the retrieved documents once per judged aspect, by query, rank and aspect.

        They are given by their row in ``judgments.aspects`` and their rank.
        """
        aspects = self.judgments.aspects
        if len(aspects.doc) == len(self.judgments.grade):  # one for each document
            return self.doc, self.rank
        first, end = stretches(aspects.doc, self.doc)
        return ranges(first, end), np.repeat(self.rank, end - first)

    def aspect_rows(self) -> tuple[Ints, Ints, Floats]:
        """Return the retrieved documents once per judged aspect.

        They are given by the number of the (query, aspect) pair, the rank, and the grade for it.

        Pairs are those of ``judgments.aspects``; rows are ordered by query, rank and aspect.
        """
        row, rank = self.aspect_places()
        return (
            self.judgments.aspects.aspect[row],
            rank,
            self.judgments.aspects.grade[row],
        )

    def with_grades(self, grade: Floats) -> AlignedRun:
        """Return the same ranking with another ``grade`` of each judged document."""
        return replace(self, judgments=self.judgments.with_grades(grade))

    def tied(self) -> tuple[Ints, Ints]:
        """Return the rank at which the documents of each row's score begin, and their number."""
        first, size = self.rank.copy(), np.ones(len(self.rank), dtype=np.int64)
        if self.ties is not None:
            first[self.ties.row], size[self.ties.row] = self.ties.first, self.ties.size
        return first, size

    def condensed(self) -> AlignedRun:
        """Return the ranking without the documents that were not judged (a condensed list)."""
        return self.keeping(self.is_judged)

    def keeping(self, which: Bools) -> AlignedRun:
        """Return the ranking of some of its documents alone, which move up.

        Documents of equal score stay tied: those that are kept share the ranks of their group.
        """
        query = self.query[which]
        rank = position_in_segment(query) + 1
        return replace(
            self,
            query=query,
            doc=self.doc[which],
            rank=rank,
            depth=np.bincount(query, minlength=len(self.judgments)),
            ties=self._ties_of(query, rank, which),
        )

    def _ties_of(self, query: Ints, rank: Ints, which: Bools) -> Ties | None:
        """Return the ties among some of the documents, whose new ranks are given."""
        if self.ties is None or len(query) == 0:
            return None
        score_begins = self.tied()[0][which]
        starts = starts_segment(query) | starts_segment(score_begins)
        start = starts.nonzero()[0]
        group = np.cumsum(starts) - 1
        return Ties.among(rank[start][group], np.diff(start, append=len(query))[group])

    def merits(self, merit: Merit) -> tuple[Floats, float]:
        """Return what each judged document counts in ties, and what an unjudged one does."""
        if merit == "judged":
            return self.is_judged.astype(np.float64), 0.0
        if merit == "unjudged first":
            return np.where(self.is_judged, self.grade, np.inf), np.inf
        return self.grade, 0.0

    def with_ties_broken(
        self, *, best_first: bool, merit: Merit = "grade"
    ) -> AlignedRun:
        """Return the ranking with documents of equal score ordered by merit.

        The order is ``best_first`` or worst first.
        """
        if self.ties is None:
            return self
        ties = self.ties
        merit_of_row, of_unjudged = self.merits(merit)
        worth = merit_of_row[ties.row]
        order = np.lexsort(
            (-worth if best_first else worth, ties.first, self.query[ties.row])
        )
        row = ties.row[order]
        first = ties.first[order]
        size = ties.size[order]
        worth = worth[order]
        starts = starts_segment(self.query[row]) | starts_segment(first)
        group = np.cumsum(starts) - 1
        position = position_in_segment(group)
        # Unjudged documents stand between those that are worth more and the others.
        behind = worth <= of_unjudged if best_first else worth > of_unjudged
        judged = np.bincount(group)[group]
        rank = self.rank.copy()
        rank[row] = first + position + np.where(behind, size - judged, 0)
        order = np.lexsort((rank, self.query))
        return replace(self, doc=self.doc[order], rank=rank[order], ties=None)

    def tied_queries(
        self, merit: Merit = "grade"
    ) -> tuple[Ints, AlignedRun, AlignedRun]:
        """Return the queries with tied judged documents, and their two extreme rankings.

        In the first, tied documents are ordered best first, in the second worst first.
        """

        def tied() -> tuple[Ints, AlignedRun, AlignedRun]:
            if self.ties is None:
                query = np.zeros(0, np.int64)
            else:
                query = np.unique(self.query[self.ties.row])
            part = self.restricted_to(query)
            return (
                query,
                part.with_ties_broken(best_first=True, merit=merit),
                part.with_ties_broken(best_first=False, merit=merit),
            )

        return self.cached(("tied queries", merit), tied)

    def restricted_to(self, query: Ints) -> AlignedRun:
        """Return the rankings of some queries, given by their numbers, in rising order."""
        if len(query) == len(self.judgments):
            return self
        ids = self.judgments.query_ids
        wanted = np.zeros(len(self.judgments), dtype=bool)
        wanted[query] = True
        row = wanted[self.query].nonzero()[0]
        judged = wanted[self.judgments.query].nonzero()[0]
        first, size = self.tied()
        return AlignedRun(
            self.judgments.restricted_to([ids[q] for q in query.tolist()]),
            query=query.searchsorted(self.query[row]),
            doc=judged.searchsorted(self.doc[row]),
            rank=self.rank[row],
            depth=self.depth[query],
            ties=Ties.among(first[row], size[row]),
            ranked=query.searchsorted(self.ranked[wanted[self.ranked]]),
        )

    def as_run(self, others: str) -> dict[str, NDArray[Any]]:
        """Return columns of a run with the same judged documents at the same ranks.

        The ids of the other documents are ``others`` and their rank.
        """
        query = np.repeat(np.arange(len(self.depth)), self.depth)
        start = np.cumsum(self.depth) - self.depth
        rank = np.arange(len(query)) - start[query] + 1
        names = np.array(
            [f"{others}{i}" for i in range(1, int(self.depth.max(initial=0)) + 1)],
            dtype=object,
        )
        doc_id = names[rank - 1]
        doc_id[start[self.query] + self.rank - 1] = self.judgments.ids_of(self.doc)
        return {
            "query_id": np.array(self.judgments.query_ids, dtype=object)[query],
            "doc_id": doc_id,
            "score": (self.depth[query] - rank).astype(np.float64),
        }
