"""Bounds: what any judging of unjudged documents can make of runs, and of pairs of runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall._util.arrays import (
    Bools,
    Floats,
    Ints,
    PairIndices,
    common,
    means_of_present,
    ratio,
)
from ir_lexirecall._util.errors import entry, shown_names, warn
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.lazy import special
from ir_lexirecall._util.rounding import settled
from ir_lexirecall._util.selecting import without
from ir_lexirecall.data.aligned_run import AlignedRun
from ir_lexirecall.data.alignment import RunLike
from ir_lexirecall.data.judgments import Judgments, QrelsLike
from ir_lexirecall.data.pools import Pool, Ranks
from ir_lexirecall.evaluation.scored_runs import read_run
from ir_lexirecall.io.schemas import RUN
from ir_lexirecall.io.source import what_is
from ir_lexirecall.judging.algorithms import Bounded, DepthLike, Judgings, bounded
from ir_lexirecall.judging.normalised import (
    AveragePrecision,
    ByRun,
    largest_ratio,
)
from ir_lexirecall.judging.ranking_pairs import (
    RankingPairs,
    Retrieved,
    worst_and_best,
)
from ir_lexirecall.judging.winners import WEIGHTS, Outcomes, outcomes
from ir_lexirecall.measures.parsing import MeasuresLike, parse_measures
from ir_lexirecall.measures.scoring import check_judgments, values
from ir_lexirecall.preferences.functions import LEXICOGRAPHIC
from ir_lexirecall.preferences.naming import Preference

_MANY = 4  # pairs for each run; if there are more, what each run reaches by itself is found first


@dataclass(frozen=True)
class ValueBounds:
    """Bounds of a measure, per pair (or run) and query: arrays of shape `(P, Q)`."""

    low: Floats  # least difference (or value)
    high: Floats  # largest difference (or value)
    exact: Bools  # whether some judging reaches both

    def mean(self, alpha: float) -> tuple[Floats, Floats, Floats, Floats]:
        """Return bounds of the mean over the queries, and an interval that holds sampling, too.

        Returns:
            low, high, and the ends of the interval, shape `(P,)` each.
        """
        return (*self.ends_of_mean(), *imbens_manski(self.low, self.high, alpha))

    def ends_of_mean(self) -> tuple[Floats, Floats]:
        """Return the lowest and the highest mean over the queries, shape `(P,)` each."""
        n_queries = max(1, self.low.shape[1])
        return self.low.sum(axis=1) / n_queries, self.high.sum(axis=1) / n_queries


@dataclass(frozen=True)
class WinBounds:
    """Outcomes of A against B by a preference, per pair and query: arrays of shape `(P, Q)`.

    An outcome is 1 (A wins), 0 (a tie) or -1 (A loses). That a tie can be reached is certain for
    lexicographic preferences only.

    Attributes:
        low, high: under the worst and the best judging.
        exact: whether who can win is known; otherwise "can" may be too much.
        unknown: queries without a relevant document among the judged ones, where nobody wins yet;
            shape `(Q,)`.
    """

    low: Outcomes
    high: Outcomes
    exact: Bools
    unknown: Bools

    @property
    def is_open(self) -> Bools:
        """Whether either can win.

        Where no relevant document is known: whether some judging makes a winner at all.
        """
        a, b = self.high > 0, self.low < 0
        return (a & b) | (self.unknown & (a | b))

    def ends_of_mean(self) -> tuple[Floats, Floats]:
        """Return the lowest and the highest mean over the queries, shape `(P,)` each.

        A query without a known relevant document takes no part, until an unjudged one turns out to
        be relevant.
        """
        low = np.where(~self.unknown | (self.low < 0), self.low, np.nan)
        high = np.where(~self.unknown | (self.high > 0), self.high, np.nan)
        return means_of_present(low), means_of_present(high)

    def counts(self) -> dict[str, Ints]:
        """Return numbers of queries by who can win under some judging, shape `(P,)` each."""
        a, b, is_open = self.high > 0, self.low < 0, self.is_open
        cases = {
            "certain_wins": a & ~is_open,
            "certain_losses": b & ~is_open,
            "open": is_open,
            "certain_ties": ~a & ~b,
        }
        return {name: case.sum(axis=1) for name, case in cases.items()}


def bounds_of_differences(
    pool: Pool,
    measure: IRMeasure,
    values: Floats,
    indices: PairIndices | Ints,
    judgings: Judgings,
    below: bool | None = None,
) -> ValueBounds | None:
    """Return bounds of the differences value(a) - value(b) of pairs of runs.

    Args:
        pool: what the runs retrieved, at least as deep as documents may be judged.
        measure: the measure.
        values: its values, shape `(S, Q)`.
        indices: indices of the runs of P pairs in the pool. With indices of P runs instead, the
            bounds are those of their values.
        judgings: which are possible.
        below: what `is_open_below` says of the whole, if the pool is a part of a larger one.

    Returns:
        The bounds; None for a measure without a proven algorithm.

    Raises:
        ValueError: the depth is above the measure's cutoff, or `max_rel` is below a grade.
    """
    proven = bounded(measure, pool.judgments, judgings)
    if proven is None:
        return None
    algorithm = proven.algorithm
    if not isinstance(indices, tuple):
        today = values[indices]
        low, high, exact = _by_pair(pool, indices, None, values, proven)
    else:
        a, b = indices
        today = values[a] - values[b]
        if isinstance(algorithm, ByRun) and _is_faster_by_run(
            pool, measure, len(a), judgings, below
        ):
            low, high, exact = _by_run(algorithm, pool, indices, values, proven)
        else:
            low, high, exact = _by_pair(pool, a, b, values, proven)
    # Rounding must not push a bound past the value that was measured.
    return ValueBounds(np.minimum(low, today), np.maximum(high, today), exact)


def _is_faster_by_run(
    pool: Pool, measure: IRMeasure, pairs: int, judgings: Judgings, below: bool | None
) -> bool:
    """Return whether what runs reach by themselves bounds all pairs, and is found faster."""
    if not shares_documents(measure, len(pool.names), pairs):
        return False
    return not (is_open_below(pool, measure, judgings) if below is None else below)


def _by_pair(
    pool: Pool, a: Ints, b: Ints | None, values: Floats, known: Bounded
) -> tuple[Floats, Floats, Bools]:
    """Return bounds of differences, low, high, and exact, found pair by pair.

    Without ``b``, they are those of the values of runs.
    """
    depths = known.depth, known.cutoff, known.unretrieved
    blocks = RankingPairs.blocks(pool, a, b, values, *depths)
    shape = len(a), len(pool.judgments)
    return worst_and_best(known.algorithm, blocks, shape, np.float64)


def shares_documents(criterion: IRMeasure | Preference, runs: int, pairs: int) -> bool:
    """Return whether all pairs of a query are bounded at once, for little more than one pool."""
    if isinstance(criterion, Preference):
        return criterion.NAME in LEXICOGRAPHIC
    return criterion.NAME in ("AP", "LexiRecall") and pairs > _MANY * runs


def is_open_below(pool: Pool, measure: IRMeasure, judgings: Judgings) -> bool:
    """Return whether a run has, below the depth, a document that is open for another run.

    The measure must have a proven algorithm.
    """
    proven = bounded(measure, pool.judgments, judgings)
    assert proven is not None
    pool = pool.only(~pool.is_judged & pool.within(proven.depth))
    rank, top = pool.ranks_within(proven.depth, proven.cutoff)
    return bool(((rank > 0) & ~top).any())


def _by_run(
    algorithm: ByRun,
    pool: Pool,
    pair_indices: PairIndices,
    values: Floats,
    known: Bounded,
) -> tuple[Floats, Floats, Bools]:
    """Return bounds of differences, low, high, and exact, from what each run reaches by itself.

    All pairs of a query share their documents: what a run reaches depends on the other one only by
    how many open documents that one has besides, of which there are few different numbers. That is
    not so where documents are open below the depth: see `is_open_below`.
    """
    is_counted = np.where(
        pool.is_judged, pool.grade >= algorithm.rel, pool.within(known.depth)
    )
    pool = pool.only(is_counted)
    rank, is_top = pool.ranks_within(known.depth, known.cutoff)
    a, b = pair_indices
    low = values[a] - values[b]
    high, exact = low.copy(), np.ones(low.shape, dtype=bool)
    ends = np.searchsorted(pool.query, np.arange(len(pool.judgments) + 1))
    for q, rows in enumerate(map(slice, ends[:-1].tolist(), ends[1:].tolist())):
        runs = _RunsOfQuery.of_pool(
            pool, q, rows, rank[:, rows], is_top[:, rows], values
        )
        pairs = runs.open_pairs(a, b, known.unretrieved)
        if not len(pairs.pair):
            continue
        exact[pairs.pair, q] = False
        if isinstance(algorithm, AveragePrecision):
            apart = pairs.only(~pairs.is_shared)
            exact[apart.pair, q] = True
            low[apart.pair, q], high[apart.pair, q] = runs.ratios(algorithm, apart)
            pairs = pairs.only(pairs.is_shared)
        low[pairs.pair, q], high[pairs.pair, q] = runs.outer(algorithm, pairs)
    return low, high, exact


class _OpenPairs(NamedTuple):
    """Pairs of runs whose difference open documents can move, on one query: arrays of shape `(P,)`.

    Attributes:
        pair: index of the pair.
        a, b: indices of its runs.
        beside_a, beside_b: open documents that the other run has besides, and relevant documents
            elsewhere.
        n_open_b: open documents of run B.
        is_shared: whether the two have an open document in common.
    """

    pair: Ints
    a: Ints
    b: Ints
    beside_a: Ints
    beside_b: Ints
    n_open_b: Ints
    is_shared: Bools

    def only(self, which: Bools) -> _OpenPairs:
        """Return some of the pairs."""
        return _OpenPairs._make(column[which] for column in self)


@dataclass(frozen=True)
class _RunsOfQuery:
    """The rankings of S runs for one query, and their N documents.

    Attributes:
        query: index of the query.
        rank: ranks within the cutoff, 0 below, shape `(S, N)`.
        is_top: whether a document is unjudged and within the depth of the run, shape `(S, N)`.
        is_unjudged: shape `(N,)`.
        alone: each run as a ranking beside none.
    """

    query: int
    rank: Ranks
    is_top: Bools
    is_unjudged: Bools
    alone: RankingPairs

    @classmethod
    def of_pool(
        cls,
        pool: Pool,
        query: int,
        rows: slice,
        rank: Ranks,
        is_top: Bools,
        values: Floats,
    ) -> _RunsOfQuery:
        """Return the rankings of a query, whose documents are these rows of the pool."""
        is_unjudged = ~pool.is_judged[rows]
        run, doc = np.nonzero(is_top | ((rank > 0) & ~is_unjudged))
        one = Retrieved(rank[run, doc], pool.retrieved[:, query], values[:, query])
        nothing = Retrieved.nothing(one.rank, len(rank))
        grade, of_query = pool.grade[rows][doc], np.full(len(rank), query)
        is_open = is_unjudged[doc]
        alone = RankingPairs(
            run, one, nothing, is_open, grade, of_query, nothing.documents
        )
        return cls(query, rank, is_top, is_unjudged, alone)

    def open_pairs(self, a: Ints, b: Ints, unretrieved: int) -> _OpenPairs:
        """Return the pairs whose difference open documents can move."""
        has = (self.rank > 0) & self.is_unjudged
        top, shown = self.is_top[:, self.is_unjudged], has[:, self.is_unjudged]
        n_top, n_shared = common(top, top), common(shown, shown)
        n_open = n_top.diagonal()[a] + n_top.diagonal()[b] - n_top[a, b]
        ranking = self._distinct()
        is_movable = (ranking[a] != ranking[b]) & ((n_open > 0) | (unretrieved > 0))
        pair = np.flatnonzero(is_movable)
        of_a, of_b = a[pair], b[pair]
        n_has = n_shared.diagonal()
        return _OpenPairs(
            pair,
            of_a,
            of_b,
            n_open[pair] - n_has[of_a] + unretrieved,
            n_open[pair] - n_has[of_b] + unretrieved,
            n_has[of_b],
            n_shared[of_a, of_b] > 0,
        )

    def _distinct(self) -> Ints:
        """Return a number for each run's ranking, the same for equal rankings."""
        numbers: dict[bytes, int] = {}
        return np.array(
            [numbers.setdefault(ranks.tobytes(), len(numbers)) for ranks in self.rank]
        )

    def ratios(
        self, algorithm: AveragePrecision, pairs: _OpenPairs
    ) -> tuple[Floats, Floats]:
        """Return exact bounds of AP for pairs without open documents in common."""
        best = algorithm.sums(self.alone, self.alone.a, best=True)
        worst = algorithm.sums(self.alone, self.alone.a, best=False)
        m = np.full(len(pairs.pair), float(algorithm.m[self.query]))
        outside_both = pairs.beside_a - pairs.n_open_b
        high = largest_ratio(best.of(pairs.a), worst.of(pairs.b), m, outside_both)
        low = -largest_ratio(best.of(pairs.b), worst.of(pairs.a), m, outside_both)
        return low, high

    def outer(self, algorithm: ByRun, pairs: _OpenPairs) -> tuple[Floats, Floats]:
        """Return bounds from the largest value of one run and the smallest of the other."""
        largest = algorithm.extreme(self.alone, self.alone.a, None)
        # The smallest value of a run, once for each number of open documents that others have.
        keys = np.concatenate(
            [(pairs.a << 32) + pairs.beside_a, (pairs.b << 32) + pairs.beside_b]
        )
        keys, where = np.unique(keys, return_inverse=True)
        cases = self.alone.only(keys >> 32)
        smallest = algorithm.extreme(cases, cases.a, keys & 0xFFFFFFFF)[where]
        smallest_a, smallest_b = np.split(smallest, 2)
        return smallest_a - largest[pairs.b], largest[pairs.a] - smallest_b


def bounds_of_wins(
    pool: Pool,
    preference: Preference,
    pair_indices: PairIndices,
    judgings: Judgings | None,
) -> WinBounds | None:
    """Return who can win between pairs of runs under some judging.

    None for a preference without a proven algorithm.

    Args:
        pool: what the runs retrieved, as in `bounds_of_differences`.
        preference: the preference.
        pair_indices: indices of the runs of P pairs in the pool.
        judgings: which are possible; None: only that of today.
    """
    if preference.NAME not in (*LEXICOGRAPHIC, *WEIGHTS):
        return None
    rel, depth = preference.rel_in(pool.judgments), None
    if judgings is not None:
        depth = judgings.depth_of(preference)
    if judgings is None or judgings.top_grade(pool.judgments) < rel:
        depth = 0  # no open document becomes relevant
    return WinBounds(
        *outcomes(pool, preference, pair_indices, depth), pool.judgments.m(rel) == 0
    )


def imbens_manski(low: Floats, high: Floats, alpha: float) -> tuple[Floats, Floats]:
    """Return the interval of a mean that lies between two means.

    It goes from mean(low) - c se(low) to mean(high) + c se(high), with c such that the true mean is
    held with probability 1 - alpha wherever it lies between the bounds:
    T(c + width / larger se) - T(-c) = 1 - alpha, T being Student's distribution of Q - 1 degrees of
    freedom. Bounds that are points give the t interval; far bounds give one-sided ones.

    Args:
        low: lower bounds per query, shape `(P, Q)`.
        high: upper bounds per query, shape `(P, Q)`.
        alpha: 1 - confidence.

    Returns:
        The ends, shape `(P,)` each.

    Source: Imbens, Manski, Confidence Intervals for Partially Identified Parameters, Econometrica
    2004, doi 10.1111/j.1468-0262.2004.00555.x.

    >>> least, most = np.array([[0.0, 0.2, 0.1, 0.3]]), np.array([[0.1, 0.2, 0.4, 0.3]])
    >>> low, high = imbens_manski(least, most, 0.05)
    >>> low.round(3), high.round(3)
    (array([-0.022]), array([0.422]))
    """
    queries = low.shape[1]
    if queries < 2:
        nothing = np.full(len(low), np.inf)
        return -nothing, nothing
    se_low, se_high = (x.std(axis=1, ddof=1) / np.sqrt(queries) for x in (low, high))
    mean_low, mean_high = low.mean(axis=1), high.mean(axis=1)
    larger = np.maximum(se_low, se_high)
    width = ratio(mean_high - mean_low, larger, np.inf)
    least, most = (
        np.full(len(low), -special.stdtrit(queries - 1, tail))
        for tail in (alpha, alpha / 2)
    )
    for _ in range(60):  # bisection: the probability rises with c
        c = (least + most) / 2
        enough = (
            special.stdtr(queries - 1, c + width) - special.stdtr(queries - 1, -c)
            >= 1 - alpha
        )
        least, most = np.where(enough, least, c), np.where(enough, c, most)
    return mean_low - most * se_low, mean_high + most * se_high


@entry
def judgment_bounds(
    measures: MeasuresLike,
    qrels: QrelsLike,
    run: RunLike,
    depth: DepthLike = "default",
    *,
    max_rel: float | None = None,
    unretrieved: int = 0,
) -> pd.DataFrame:
    """Return the lowest and highest value that judgments of unjudged documents could give a run.

    An unjudged document counts as not relevant; here it may have any grade from 0 to ``max_rel``.
    Some judgments reach each bound; the difference of the bounds is the residual. If all retrieved
    documents of a query are judged, its two bounds are equal.

    Args:
        measures: as in ``evaluate``. P, R, SetP, SetR, Success, RR, AP, nDCG, RBP, SDCG, INSQ, ERR,
            NERR8 to NERR11, Judged, NumRet, and TSE, LR, CWL_RBP, CWL_ERR8 to CWL_ERR11, GERR,
            nDCG_JK, RBP_TE, Unjudged have proven algorithms.
        qrels: judgments in any form that ``evaluate`` takes.
        run: a ranking per query, in any form that ``evaluate`` takes.
        depth: treat unjudged documents below this rank as not relevant. By default the measure's
            cutoff, or 100 if it has none. None: whole rankings.
        max_rel: top grade of the scale. By default the measure's own (``GERR(max_rel=4)``), else
            the highest grade of the qrels.
        unretrieved: the largest number of relevant documents of each query that the run did not
            retrieve and nobody judged. They lower measures that are normalised by the number of
            relevant documents or by an ideal ranking (R, AP, nDCG, TSE).

    Returns:
        A DataFrame with a row per query of the qrels (index ``query_id``) and columns
        (measure, ``"low"``) and (measure, ``"high"``). Measures without a proven algorithm have NaN
        and are listed in ``attrs["no_algorithm"]``. ``attrs`` also hold ``depth`` (of each measure;
        None: whole rankings) and ``unretrieved``.

    Raises:
        ValueError: bad input; no measure with a proven algorithm; ``depth`` above the cutoff of a
            measure; ``max_rel`` below a grade.

    Source: Moffat, Zobel, Rank-Biased Precision for Measurement of Retrieval Effectiveness, TOIS
    2008, doi 10.1145/1416950.1416952 (residuals of RBP).

    >>> qrels = {"q": {"a": 1, "b": 0, "c": 1}}
    >>> run = {"q": {"a": 4.0, "x": 3.0, "c": 2.0, "y": 1.0}}
    >>> judgment_bounds(["P@4", "AP", "nDCG@2"], qrels, run).T.round(3)
    query_id           q
    measure bound
    P@4     low    0.500
            high   1.000
    AP      low    0.806
            high   1.000
    nDCG@2  low    0.613
            high   1.000
    """
    parsed, judgings = parse_measures(measures), Judgings(depth, max_rel, unretrieved)
    judgments = Judgments.from_qrels(qrels)
    check_judgments(parsed.values(), judgments)
    source = run if isinstance(run, AlignedRun) else what_is(run, RUN)
    aligned = read_run(judgments, source)
    pool = Pool.from_runs(
        judgments, {"run": source}, judgings.pool_depth(parsed.values())
    )
    of_run = {
        name: values(measure, aligned)[None, :] for name, measure in parsed.items()
    }
    bounds = bounds_by_measure(pool, parsed, of_run, judgings)
    ends = {name: np.full((2, len(judgments)), np.nan) for name in parsed}
    ends |= {
        name: np.stack([ends_of.low[0], ends_of.high[0]])
        for name, ends_of in bounds.items()
    }
    # Rounding can keep a bound from being exactly 0.
    columns = [settled(both, np.abs(both).max(axis=0)) for both in ends.values()]
    names = pd.MultiIndex.from_product(
        [list(parsed), ["low", "high"]], names=["measure", "bound"]
    )
    table = pd.DataFrame(
        np.concatenate(columns).T, pd.Index(judgments.query_ids, name="query_id"), names
    )
    unbounded = without(parsed, bounds)
    depths = {name: judgings.depth_of(measure) for name, measure in parsed.items()}
    table.attrs.update(
        {"depth": depths, "unretrieved": unretrieved, "no_algorithm": unbounded}
    )
    return table


def bounds_by_measure(
    pool: Pool,
    measures: Mapping[str, IRMeasure],
    values_of: Mapping[str, Floats],
    judgings: Judgings,
) -> dict[str, ValueBounds]:
    """Return bounds of the values of S runs by each measure that has a proven algorithm."""
    for measure in measures.values():
        judgings.depth_of(measure)
    runs = np.arange(len(pool.names))
    bounds_of: dict[str, ValueBounds] = {}
    for name, measure in measures.items():
        bounds = bounds_of_differences(pool, measure, values_of[name], runs, judgings)
        if bounds is not None:
            bounds_of[name] = bounds
    refuse_or_warn_of(without(measures, bounds_of), len(measures))
    return bounds_of


def refuse_or_warn_of(without: list[str], n_criteria: int) -> None:
    """Warn about criteria without bounds; raise if no criterion has any."""
    if not without:
        return
    message = f"no proven algorithm bounds {shown_names(without)}"
    if any(name.startswith(("LexiRecall", "LR")) for name in without):
        message += "; compare bounds the preference lexirecall, whose order theirs is"
    if len(without) == n_criteria:
        raise ValueError(message)
    warn(message)
