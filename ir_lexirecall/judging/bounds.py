"""Bounds: what any judging of the retrieved unjudged documents can make of runs, and of pairs of runs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np
from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall._util.arrays import Bools, Floats, Ints, common
from ir_lexirecall._util.errors import entry, shown_names, warn
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.lazy import special
from ir_lexirecall._util.rounding import settled
from ir_lexirecall.data.alignment import RunLike
from ir_lexirecall.data.judgments import Judgments, QrelsLike
from ir_lexirecall.data.pools import Depth, Pool
from ir_lexirecall.evaluation.scored_runs import read_run, rereadable_rows
from ir_lexirecall.io.files import rereadable
from ir_lexirecall.judging.algorithms import DepthLike, Judgings, bounded
from ir_lexirecall.judging.normalised import AveragePrecision, ByRun, largest_ratio
from ir_lexirecall.judging.ranking_pairs import Places, RankingPairs, Retrieved
from ir_lexirecall.judging.winners import WEIGHTS, Outcomes, outcomes
from ir_lexirecall.measures.parsing import MeasuresLike, parse_measures
from ir_lexirecall.measures.scoring import values
from ir_lexirecall.preferences.functions import LEXICOGRAPHIC
from ir_lexirecall.preferences.naming import Preference

_MANY = 4  # pairs for each run, from which on what runs reach by themselves is found first


@dataclass(frozen=True)
class ValueBounds:
    """Of a measure, per pair (or run) and query: arrays of shape ``(P, Q)``."""

    low: Floats  # least difference (or value)
    high: Floats  # largest difference (or value)
    exact: Bools  # whether some judging reaches both

    def mean(self, alpha: float) -> tuple[Floats, Floats, Floats, Floats]:
        """Bounds of the mean over the queries, and an interval that holds sampling of queries, too; shape ``(P,)`` each."""
        low, high = (end.sum(axis=1) / max(1, end.shape[1]) for end in (self.low, self.high))
        return (low, high, *imbens_manski(self.low, self.high, alpha))


@dataclass(frozen=True)
class WinBounds:
    """What A makes of B by a preference (1 wins, 0 ties, -1 loses), per pair and query: arrays of shape ``(P, Q)``.

    That a tie can be reached is certain of lexicographic preferences only; it may be too much otherwise.
    """

    low: Outcomes  # under the worst judging
    high: Outcomes  # under the best judging
    exact: Bools  # whether who can win is known; otherwise "can" may be too much
    unknown: Bools  # queries without a relevant document among the judged ones, where nobody wins yet; shape ``(Q,)``

    @property
    def is_open(self) -> Bools:
        """Whether either can win; where no relevant document is known, whether some judging makes a winner at all."""
        a, b = self.high > 0, self.low < 0
        return (a & b) | (self.unknown & (a | b))

    def counts(self) -> dict[str, Ints]:
        """Queries by who can win under some judging, shape ``(P,)`` each."""
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
    places: Places | Ints,
    judgings: Judgings,
    below: bool | None = None,
) -> ValueBounds | None:
    """Bounds of the differences value(a) - value(b) of pairs of runs; None for a measure without a proven algorithm.

    Args:
        pool: what the runs retrieved, at least as deep as documents may be judged.
        measure: the measure.
        values: its values, shape ``(S, Q)``.
        places: of the runs of P pairs in the pool; or of P runs alone: bounds of their values themselves.
        judgings: which are possible.
        below: what ``is_open_below`` says of the whole, where the pool is a part of a larger one.

    Raises:
        ValueError: the depth is above the measure's cutoff (a shallower bound is none of the measure), or ``max_rel`` is below a grade.
    """
    known = bounded(measure, pool.judgments, judgings)
    if known is None:
        return None
    a, b = places if isinstance(places, tuple) else (places, None)
    queries, looked_at = len(pool.judgments), (known.depth, known.cutoff, known.unretrieved)
    low, high = np.empty((2, len(a), queries))
    exact = np.ones((len(a), queries), dtype=bool)
    if (
        b is not None
        and isinstance(known.algorithm, ByRun)
        and shares_documents(measure, len(pool.names), len(a))
        and not (is_open_below(pool, measure, judgings) if below is None else below)
    ):
        low, high, exact = _by_run(known.algorithm, pool, (a, b), values, *looked_at)
    else:
        for some, pairs in RankingPairs.blocks(pool, a, b, values, *looked_at):
            most, reached = known.algorithm(pairs)
            least, reached_too = known.algorithm(pairs.swapped())
            high[some], low[some] = most.reshape(-1, queries), -least.reshape(-1, queries)
            exact[some] = (reached & reached_too).reshape(-1, queries)
    # Rounding must not push a bound past the value that was measured.
    today = values[a] - (0 if b is None else values[b])
    return ValueBounds(np.minimum(low, today), np.maximum(high, today), exact)


def shares_documents(criterion: IRMeasure | Preference, runs: int, pairs: int) -> bool:
    """Whether all pairs of a query are bounded at once, at little more than the cost of their pool; else one by one."""
    if isinstance(criterion, Preference):
        return criterion.NAME in LEXICOGRAPHIC
    return criterion.NAME in ("AP", "LexiRecall") and pairs > _MANY * runs


def is_open_below(pool: Pool, measure: IRMeasure, judgings: Judgings) -> bool:
    """Whether any run has below the depth a document that is open for another one; of a measure with a proven algorithm."""
    known = bounded(measure, pool.judgments, judgings)
    assert known is not None
    pool = pool.only(~pool.is_judged & pool.within(known.depth))
    rank, top = pool.ranks_within(known.depth, known.cutoff)
    return bool(((rank > 0) & ~top).any())


def _by_run(
    algorithm: ByRun,
    pool: Pool,
    places: Places,
    values: Floats,
    depth: Depth,
    cutoff: Depth,
    unretrieved: int,
) -> tuple[Floats, Floats, Bools]:
    """Bounds of differences, low, high, and exact, from what each run can reach by itself.

    All pairs of a query share their documents: what a run reaches depends on the other one only by how many open documents that one
    has besides, of which there are few different numbers. That is not so where documents are open below the depth: see ``is_open_below``.
    """
    pool = pool.only(np.where(pool.is_judged, pool.grade >= algorithm.rel, pool.within(depth)))
    rank, top = pool.ranks_within(depth, cutoff)
    a, b = places
    low = values[a] - values[b]
    high, exact = low.copy(), np.ones(low.shape, dtype=bool)
    ends = np.searchsorted(pool.query, np.arange(len(pool.judgments) + 1))
    for q, here in enumerate(
        map(slice, ends[:-1].tolist(), ends[1:].tolist())
    ):  # counts are products of matrices
        unjudged, place, is_top = ~pool.is_judged[here], rank[:, here], top[:, here]
        has = (place > 0) & unjudged
        tops, shared = (
            common(is_top[:, unjudged], is_top[:, unjudged]),
            common(has[:, unjudged], has[:, unjudged]),
        )
        is_open = tops.diagonal()[a] + tops.diagonal()[b] - tops[a, b]
        rankings: dict[bytes, int] = {}
        alike = np.array(
            [rankings.setdefault(ranking.tobytes(), len(rankings)) for ranking in place]
        )
        pair = np.flatnonzero((alike[a] != alike[b]) & ((is_open > 0) | (unretrieved > 0)))
        if not len(pair):
            continue
        run, row = np.nonzero(is_top | ((place > 0) & ~unjudged))
        one = Retrieved(place[run, row], pool.retrieved[:, q], values[:, q])
        nothing = Retrieved.nothing(one.rank, len(place))
        grade, query = pool.grade[here][row], np.full(len(place), q)
        runs = RankingPairs(run, one, nothing, unjudged[row], grade, query, nothing.documents)
        of_a, of_b, is_shared = a[pair], b[pair], shared[a, b][pair] > 0
        beside_a, beside_b = (
            is_open[pair] - shared.diagonal()[of] + unretrieved for of in (of_a, of_b)
        )
        exact[pair, q] = False
        if isinstance(algorithm, AveragePrecision):
            some = np.flatnonzero(~is_shared)
            exact[pair[some], q] = True
            best, worst = (algorithm.sums(runs, one, best=is_best) for is_best in (True, False))
            m, beside = (
                np.full(len(some), float(algorithm.m[q])),
                (beside_a - shared.diagonal()[of_b])[some],
            )
            for end, sign, x, y in (
                (high, 1, of_a[some], of_b[some]),
                (low, -1, of_b[some], of_a[some]),
            ):
                end[pair[some], q] = sign * largest_ratio(best.of(x), worst.of(y), m, beside)
            pair, of_a, of_b, beside_a, beside_b = (
                x[is_shared] for x in (pair, of_a, of_b, beside_a, beside_b)
            )
        largest = algorithm.extreme(runs, one, None)
        keys = np.concatenate([(of_a << 32) + beside_a, (of_b << 32) + beside_b])
        keys, where = np.unique(keys, return_inverse=True)
        each = runs.only(keys >> 32)
        smallest_a, smallest_b = np.split(
            algorithm.extreme(each, each.a, keys & 0xFFFFFFFF)[where], 2
        )
        high[pair, q], low[pair, q] = largest[of_a] - smallest_b, smallest_a - largest[of_b]
    return low, high, exact


def bounds_of_wins(
    pool: Pool, preference: Preference, places: Places, judgings: Judgings | None
) -> WinBounds | None:
    """Who can win between pairs of runs under some judging; None for a preference without a proven algorithm.

    Args:
        pool, places: as in ``bounds_of_differences``.
        judgings: which are possible; None: only that of today.
    """
    if preference.NAME not in (*LEXICOGRAPHIC, *WEIGHTS):
        return None
    rel, depth = preference.rel_in(pool.judgments), None
    if judgings is not None:
        depth = judgings.depth_of(preference)
    if judgings is None or judgings.top_grade(pool.judgments) < rel:
        depth = 0  # no open document becomes relevant
    return WinBounds(*outcomes(pool, preference, places, depth), pool.judgments.m(rel) == 0)


def imbens_manski(low: Floats, high: Floats, alpha: float) -> tuple[Floats, Floats]:
    """Interval of a mean known to lie between two means, shape ``(P,)`` each, from bounds per query, shape ``(P, Q)``.

    From mean(low) - c se(low) to mean(high) + c se(high), with c such that the true mean is held with probability 1 - alpha wherever
    it lies between the bounds: T(c + width / larger se) - T(-c) = 1 - alpha, T being Student's distribution of Q - 1 degrees of
    freedom. Bounds that are points give the t interval; far bounds give one-sided ones.

    Source: Imbens, Manski, Confidence Intervals for Partially Identified Parameters, Econometrica 2004,
    doi 10.1111/j.1468-0262.2004.00555.x.

    >>> low, high = imbens_manski(np.array([[0.0, 0.2, 0.1, 0.3]]), np.array([[0.1, 0.2, 0.4, 0.3]]), 0.05)
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
    width = np.divide(mean_high - mean_low, larger, out=np.full(len(low), np.inf), where=larger > 0)
    least, most = (
        np.full(len(low), -special.stdtrit(queries - 1, tail)) for tail in (alpha, alpha / 2)
    )
    for _ in range(60):  # bisection: the probability rises with c
        c = (least + most) / 2
        enough = special.stdtr(queries - 1, c + width) - special.stdtr(queries - 1, -c) >= 1 - alpha
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
    """Bound every value of a run by what any judging of its unjudged documents could make of it.

    An unjudged document counts as not relevant; here it may have any grade from 0 to ``max_rel``. The bounds are reached by some
    judging; their difference is the residual. A query all of whose retrieved documents are judged has points.

    Args:
        measures: as in ``evaluate``. P, R, SetP, SetR, Success, RR, AP, nDCG, RBP, SDCG, INSQ, ERR, NERR8 to NERR11, Judged, NumRet,
            and TSE, LR, CWL_RBP, CWL_ERR8 to CWL_ERR11, GERR, nDCG_JK, RBP_TE, Unjudged have proven algorithms.
        qrels: judgments in any form that ``evaluate`` takes.
        run: a ranking per query, in any form that ``evaluate`` takes.
        depth: treat unjudged documents below this rank as not relevant. By default the measure's
            cutoff, or 100 if it has none. None: whole rankings.
        max_rel: top grade of the scale. By default the measure's own (``GERR(max_rel=4)``), else the highest grade of the qrels.
        unretrieved: relevant documents of each query, at most, that the run did not retrieve and nobody judged: they lower measures
            that are normalised by the number of relevant documents or by an ideal ranking (R, AP, nDCG, TSE).

    Returns:
        A DataFrame with a row per query of the qrels (index ``query_id``) and columns (measure, ``"low"``) and (measure, ``"high"``); NaN
        where a measure has no proven algorithm, which ``attrs["no_algorithm"]`` lists. ``attrs`` also hold ``depth`` (that of
        each measure; None: whole rankings) and ``unretrieved``.

    Raises:
        ValueError: bad input; no measure with a proven algorithm; ``depth`` above the cutoff of a measure; ``max_rel`` below a grade.

    Source: Moffat, Zobel, Rank-Biased Precision for Measurement of Retrieval Effectiveness, TOIS 2008,
    doi 10.1145/1416950.1416952 (residuals of RBP).

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
    with (
        rereadable(os.fspath(run))
        if isinstance(run, (str, os.PathLike))
        else nullcontext(rereadable_rows(run)) as source
    ):
        aligned = read_run(judgments, source)
        pool = Pool.from_runs(judgments, {"run": source}, judgings.pool_depth(parsed.values()))
    of_run = {name: values(measure, aligned)[None, :] for name, measure in parsed.items()}
    bounds = bounds_by_measure(pool, parsed, of_run, judgings)
    ends = {name: np.full((2, len(judgments)), np.nan) for name in parsed}
    ends |= {name: np.stack([found.low[0], found.high[0]]) for name, found in bounds.items()}
    columns = [
        settled(both, np.abs(both).max(axis=0)) for both in ends.values()
    ]  # 0 where only rounding keeps from it
    names = pd.MultiIndex.from_product([list(parsed), ["low", "high"]], names=["measure", "bound"])
    table = pd.DataFrame(
        np.concatenate(columns).T, pd.Index(judgments.query_ids, name="query_id"), names
    )
    lacking = [name for name in parsed if name not in bounds]
    depths = {name: judgings.depth_of(measure) for name, measure in parsed.items()}
    table.attrs.update({"depth": depths, "unretrieved": unretrieved, "no_algorithm": lacking})
    return table


def bounds_by_measure(
    pool: Pool,
    measures: Mapping[str, IRMeasure],
    values_of: Mapping[str, Floats],
    judgings: Judgings,
) -> dict[str, ValueBounds]:
    """Bounds of the values of S runs by each measure that has a proven algorithm."""
    for measure in measures.values():
        judgings.depth_of(measure)
    known, every = {}, np.arange(len(pool.names))
    for name, measure in measures.items():
        if (
            found := bounds_of_differences(pool, measure, values_of[name], every, judgings)
        ) is not None:
            known[name] = found
    refuse_or_warn_of([name for name in measures if name not in known], len(measures))
    return known


def refuse_or_warn_of(lacking: list[str], asked: int) -> None:
    """Say of which criteria there are no bounds; refuse if there are of none."""
    if not lacking:
        return
    said = f"no proven algorithm bounds {shown_names(lacking)}"
    if any(name.startswith(("LexiRecall", "LR")) for name in lacking):
        said += "; compare bounds the preference lexirecall, whose order theirs is"
    if len(lacking) == asked:
        raise ValueError(said)
    warn(said)
