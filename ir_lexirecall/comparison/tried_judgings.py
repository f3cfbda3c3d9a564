"""Try judgings of unjudged documents, to show that they can undo a difference.

For many criteria, no bounds say what unjudged documents could change. Then some judgings are
tried. Judges could give each of them. So if one undoes the difference, it is proven that judgments
could; if none does, nothing is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall._util.arrays import Bools, Floats, Ints, starts_segment
from ir_lexirecall._util.lazy import cached_property
from ir_lexirecall.comparison.compared import ComparedRuns
from ir_lexirecall.comparison.criteria import (
    Criterion,
    ExactOrder,
    MeasureCriterion,
    PreferenceCriterion,
)
from ir_lexirecall.comparison.pair_tests import PairTests
from ir_lexirecall.data.aligned_run import AlignedRun
from ir_lexirecall.data.alignment import ranks_as_given
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.data.pools import Pool, Ranks
from ir_lexirecall.io.source import Source
from ir_lexirecall.judging.algorithms import Judgings
from ir_lexirecall.judging.files import merged
from ir_lexirecall.measures.scoring import mean, takes_one_grade, values
from ir_lexirecall.preferences.naming import Preference

_PAIR = np.array([0]), np.array([1])
"""The only pair of two runs, by their indices."""


@dataclass(frozen=True, eq=False)
class TriedJudgings:
    """Judgings of the unjudged documents of pairs of runs.

    Attributes:
        compared: the runs.
        name: name of the criterion.
        measured: the measure, or the preference.
        pool: what the runs retrieved.
    """

    compared: ComparedRuns
    name: str
    measured: IRMeasure | Preference
    pool: Pool

    @property
    def is_possible(self) -> bool:
        """Whether judgings can be tried: only the two runs matter, and documents have one grade."""
        if self.compared.predicted is not None:
            return False
        if self.compared.test_of(self.name).procedure.at_once:
            return False
        if self.pool.judgments.table is None or isinstance(self.measured, Preference):
            return True
        return takes_one_grade(self.measured)

    @cached_property
    def _ranks_and_open(self) -> tuple[Ranks, Bools]:
        """Ranks of documents in each run, and which are open, shape `(S, N)` each."""
        depth = Judgings().depth_of(self.measured)
        return self.pool.ranks_within(depth, self.measured.params.get("cutoff"))

    @property
    def has_open_documents(self) -> Bools:
        """Whether each pair has documents that may get any grade, shape `(P,)`."""
        has_open = np.asarray(self._ranks_and_open[1].any(axis=1))
        first, second = self.compared.pair_indices
        return np.asarray(has_open[first] | has_open[second])

    def n_documents(self, pairs: Sequence[int]) -> int:
        """Count the documents of the two rankings of some pairs."""
        n_retrieved = self.pool.retrieved.sum(axis=1)
        runs = [indices[list(pairs)] for indices in self.compared.pair_indices]
        return int(sum(n_retrieved[index].sum() for index in runs))

    def undoes(self, pair: int, estimate: float) -> bool:
        """Return whether a judging that is tried turns the sign of an estimate, or makes it 0.

        Queries are judged independently. So each query gets the judging that moves it most among
        those tried, and the pair is tested again with all of them.

        Args:
            pair: index of the pair.
            estimate: what the test estimates today.
        """
        trial = self._trial_of(pair)
        wanted = -np.sign(estimate)
        grades = np.stack([*trial.judgings()])
        gains = np.stack([wanted * trial.differences(of_docs) for of_docs in grades])
        best_of_query = np.where(np.isnan(gains), -np.inf, gains).argmax(axis=0)
        query = trial.judgments.query
        best = grades[best_of_query[query], np.arange(len(query))]
        return bool(wanted * trial.estimate(best) >= 0)

    def _trial_of(self, pair: int) -> _Trial:
        """Align the runs of a pair with judgments that hold its open documents."""
        scored, pool = self.compared.scored, self.pool
        assert scored is not None
        indices = [int(runs[pair]) for runs in self.compared.pair_indices]
        ranks, is_open_for = (of_runs[indices] for of_runs in self._ranks_and_open)
        is_open = np.asarray(is_open_for.any(axis=0))
        query, doc_ids = pool.query[is_open], pool.doc_id.filter(is_open).to_list()
        judgments = _with_documents(pool.judgments, query, doc_ids)
        runs = {}
        for index in indices:
            source = scored.sources[pool.names[index]]
            assert isinstance(source, Source)
            runs[pool.names[index]] = ranks_as_given(judgments, source)
        keys = zip(judgments.query.tolist(), judgments.doc_ids, strict=True)
        row_of = {key: row for row, key in enumerate(keys)}
        open_keys = zip(query.tolist(), doc_ids, strict=True)
        measure = None if isinstance(self.measured, Preference) else self.measured
        open_ranks = ranks[:, is_open].astype(np.float64)
        return _Trial(
            self,
            runs,
            judgments,
            row=np.array([row_of[key] for key in open_keys], dtype=np.int64),
            ranks=np.where(open_ranks > 0, open_ranks, np.inf),
            top=Judgings().top_grade(pool.judgments, measure),
        )


@dataclass(frozen=True, eq=False)
class _Trial:
    """Two runs, of which O unjudged documents may get any grade.

    Attributes:
        tried: the pairs of which they are one, and the criterion.
        runs: both runs by name, aligned with `judgments`.
        judgments: today's judgments, and the open documents with grade 0.
        row: rows of the open documents in these judgments, shape `(O,)`.
        ranks: their ranks in both runs, shape `(2, O)`; infinite for one not retrieved.
        top: the top grade that they can get.
    """

    tried: TriedJudgings
    runs: dict[str, AlignedRun]
    judgments: Judgments
    row: Ints
    ranks: Floats
    top: float

    def judgings(self) -> Iterator[Floats]:
        """Yield the grades of all documents under each judging that is tried."""
        for is_relevant in _relevant_documents(
            self.judgments.query[self.row], self.ranks
        ):
            grade = self.judgments.grade.copy()
            grade[self.row] = np.where(is_relevant, self.top, 0.0)
            yield grade

    def differences(self, grade: Floats) -> Floats:
        """Return what the first run gains on the second, for each query of the judgments."""
        judged = self._judged(grade)
        differences: Floats = judged.differences_of(self.tried.name, _PAIR)[0]
        return differences

    def estimate(self, grade: Floats) -> float:
        """Return what the test estimates."""
        judged = self._judged(grade)
        test = judged.test_of(self.tried.name)
        tested = PairTests(judged).uncorrected(self.tried.name, test)
        return float(tested["estimate"][0])

    def _judged(self, grade: Floats) -> ComparedRuns:
        """Return the comparison of the two runs by these grades."""
        judgments = self.judgments.with_grades(grade)
        runs = {
            name: replace(run, judgments=judgments) for name, run in self.runs.items()
        }
        compared = self.tried.compared
        return replace(
            compared,
            runs=list(runs),
            test=replace(compared.test, progress=False),
            by={self.tried.name: self._criterion(runs)},
            baseline=None,
            margins=None,
            scored=None,
            members=judgments.query_ids,
            selected_pairs=None,
        )

    def _criterion(self, runs: dict[str, AlignedRun]) -> Criterion:
        """Return the criterion with other judgments of the two runs."""
        criterion = self.tried.compared.by[self.tried.name]
        if isinstance(criterion, PreferenceCriterion):
            preferences = replace(criterion.preferences, runs=runs)
            return replace(criterion, preferences=preferences)
        assert isinstance(criterion, MeasureCriterion)
        counted = [self.judgments.place[query_id] for query_id in criterion.query_ids]
        measured = self.tried.measured
        of_runs = np.stack([values(measured, run)[counted] for run in runs.values()])
        order = criterion.order
        if order is not None:
            of_pair = replace(order.preferences, runs=runs)
            order = ExactOrder(of_pair, order.query_ids)
        means = np.array([mean(measured, of_run) for of_run in of_runs])
        return replace(criterion, values=of_runs, means=means, order=order)


def _with_documents(judgments: Judgments, query: Ints, doc_ids: list[str]) -> Judgments:
    """Return the judgments with further documents, whose grade is 0."""
    grade_of: dict[str, dict[str, float]] = {}
    for q, doc_id in zip(query.tolist(), doc_ids, strict=True):
        grade_of.setdefault(judgments.query_ids[q], {})[doc_id] = 0.0
    return merged(judgments.with_grades(judgments.grade), grade_of)


def _relevant_documents(query: Ints, ranks: Floats) -> Iterator[Bools]:
    """Yield which open documents are relevant in each judging that is tried.

    In the first none is, in the second all are. Five more favour either run: relevant are those
    that it alone has; those that it ranks higher; all that it has; or one per query of those that
    it ranks higher, the first, or the one that the other run ranks lowest compared with it.

    Args:
        query: query of each document, rising, shape `(O,)`.
        ranks: its ranks in both runs, infinite if not retrieved, shape `(2, O)`.
    """
    yield np.zeros(len(query), dtype=bool)
    yield np.ones(len(query), dtype=bool)
    for first, second in (ranks, ranks[::-1]):
        is_higher = first < second
        yield is_higher & np.isinf(second)
        yield is_higher
        yield np.isfinite(first)
        yield _first_of_queries(query, is_higher, first)
        lead = np.where(is_higher, second, 0.0) - np.where(is_higher, first, 0.0)
        yield _first_of_queries(query, is_higher, -lead)


def _first_of_queries(query: Ints, which: Bools, key: Floats) -> Bools:
    """Return which document has the smallest key of its query, among some of them."""
    row = np.flatnonzero(which)
    row = row[np.lexsort((key[row], query[row]))]
    is_first = np.zeros(len(query), dtype=bool)
    is_first[row[starts_segment(query[row])]] = True
    return is_first
