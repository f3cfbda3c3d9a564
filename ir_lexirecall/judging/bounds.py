"""Bounds: what any judging of the retrieved unjudged documents can make of runs and of pairs of runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall._util.arrays import Bools, Floats, Ints, row_blocks
from ir_lexirecall._util.errors import shown_names, warn
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.lazy import special
from ir_lexirecall.data.pools import Pool
from ir_lexirecall.judging import lexicographic, recall_paired
from ir_lexirecall.judging.algorithms import PREFERENCES, bounded
from ir_lexirecall.judging.cascades import Cascade
from ir_lexirecall.judging.duels import Duels
from ir_lexirecall.judging.ends import First
from ir_lexirecall.judging.lexicographic import Outcomes
from ir_lexirecall.judging.sums import WeightedSum

_AT_ONCE = 2**22  # documents of pairs


@dataclass(frozen=True)
class ValueBounds:
    """Of a measure, per pair (or run) and query: arrays of shape ``(P, Q)``."""

    low: Floats  # least difference (or value)
    high: Floats  # largest difference (or value)
    exact: Bools  # whether some judging reaches both

    def mean(self, queries: Ints, alpha: float) -> tuple[Floats, Floats, Floats, Floats]:
        """Bounds of the mean over some queries, and an interval that holds sampling of queries, too; shape ``(P,)`` each."""
        low, high = self.low[:, queries], self.high[:, queries]
        return (_mean(low), _mean(high), *imbens_manski(low, high, alpha))


@dataclass(frozen=True)
class WinBounds:
    """What A makes of B by a preference (1 wins, 0 ties, -1 loses), per pair and query: arrays of shape ``(P, Q)``.

    That a tie can be reached is certain of lexicographic preferences only; it may be too much otherwise.
    """

    low: Outcomes  # under the worst judging
    high: Outcomes  # under the best judging
    exact: Bools  # whether who can win is known; otherwise "can" may be too much

    @property
    def a_can(self) -> Bools:
        """Whether A can win under some judging."""
        return self.high > 0

    @property
    def b_can(self) -> Bools:
        """Whether B can win under some judging."""
        return self.low < 0

    def counts(self, queries: Ints) -> dict[str, Ints]:
        """Queries by who can win under some judging, shape ``(P,)`` each."""
        a, b = self.a_can[:, queries], self.b_can[:, queries]
        cases = {"certain_wins": a & ~b, "certain_losses": b & ~a, "open": a & b, "certain_ties": ~a & ~b}
        return {name: case.sum(axis=1) for name, case in cases.items()}


def bounds_of_differences(
    pool: Pool,
    measure: IRMeasure,
    values: Floats,
    a: Ints,
    b: Ints | None,
    *,
    depth: int | None = None,
    max_rel: float | None = None,
    unretrieved: int = 0,
) -> ValueBounds | None:
    """Bounds of the differences value(a) - value(b) of pairs of runs; None for a measure without a proven algorithm.

    Args:
        pool: what the runs retrieved, at least down to ``depth``.
        measure: the measure.
        values: its values, shape ``(S, Q)``.
        a, b: places of the runs of P pairs in the pool, shape ``(P,)``; ``b`` None: bounds of the values of ``a`` themselves.
        depth: unjudged documents down to this rank of either run may have any grade; what is ranked below is not relevant.
            By default the measure's cutoff, or all.
        max_rel: top grade of the scale; by default the measure's own, else the highest grade of the judgments.
        unretrieved: relevant documents of each query, at most, that neither run retrieved: they move measures that are
            normalised by the number of relevant documents or by an ideal ranking.

    Raises:
        ValueError: ``depth`` is above the measure's cutoff (a shallower bound is none of the measure), or ``max_rel`` is below a grade.
    """
    known = bounded(measure, pool.judgments, max_rel)
    if known is None:
        return None
    depth = checked_depth(str(measure), depth, known.cutoff)
    queries = len(pool.judgments)
    low, high = np.empty((2, len(a), queries))
    exact = np.ones((len(a), queries), dtype=bool)
    if not known.can_gain:
        depth, unretrieved = 0, 0
    elif known.cutoff is not None and isinstance(known.algorithm, (WeightedSum, First, Cascade)):
        depth = known.cutoff  # what is ranked below cannot move them
    for some in row_blocks(len(a), len(pool.query), _AT_ONCE):
        others = None if b is None else b[some]
        duels = Duels.from_pool(
            pool, a[some], others, values, depth=depth, cutoff=known.cutoff, unretrieved=unretrieved
        )
        most, reached = known.algorithm.high(duels)
        least, reached_too = known.algorithm.high(duels.swapped())
        high[some], low[some] = most.reshape(-1, queries), -least.reshape(-1, queries)
        exact[some] = (reached & reached_too).reshape(-1, queries)
    # Rounding must not push a bound past the value that was measured.
    today = values[a] - (0 if b is None else values[b])
    return ValueBounds(np.minimum(low, today), np.maximum(high, today), exact)


def bounds_of_wins(
    pool: Pool,
    preference: str,
    a: Ints,
    b: Ints,
    *,
    rel: float = 1,
    cutoff: int | None = None,
    depth: int | None = None,
    max_rel: float | None = None,
) -> WinBounds | None:
    """Who can win between pairs of runs under some judging; None for a preference without a proven algorithm.

    Args:
        preference: a name, such as ``'lexirecall'``.
        rel: smallest grade that counts as relevant.
        cutoff: what is ranked below counts as not retrieved.
        pool, a, b, depth: as in ``bounds_of_differences``.
        max_rel: top grade of the scale; with one below ``rel`` no unjudged document can be relevant.
    """
    if preference not in PREFERENCES:
        return None
    depth = checked_depth(preference, depth, cutoff)
    if max_rel is not None and max_rel < rel:
        depth = 0
    if preference in recall_paired.WEIGHTS:
        (high, exact), (low, exact_too) = (
            recall_paired.best_outcome(pool, x, y, preference, rel=rel, cutoff=cutoff, depth=depth)
            for x, y in ((a, b), (b, a))
        )
        return WinBounds(-low, high, exact & exact_too)
    from_the_end = preference == "lexirecall"
    high, low = (
        lexicographic.best_outcome(pool, x, y, rel=rel, cutoff=cutoff, depth=depth, from_the_end=from_the_end)
        for x, y in ((a, b), (b, a))
    )
    return WinBounds(-low, high, np.ones(high.shape, dtype=bool))


def checked_depth(criterion: str, depth: int | None, cutoff: int | None) -> int | None:
    """The depth that counts: the one asked for, else the cutoff.

    >>> checked_depth("nDCG@10", None, 10), checked_depth("nDCG@10", 100, 10)
    (10, 100)
    >>> checked_depth("nDCG@10", 5, 10)
    Traceback (most recent call last):
    ValueError: depth 5 leaves out unjudged documents that nDCG@10 looks at; give at least 10
    """
    if cutoff is not None and depth is not None and depth < cutoff:
        raise ValueError(
            f"depth {depth} leaves out unjudged documents that {criterion} looks at; give at least {cutoff}"
        )
    return cutoff if depth is None else depth


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
    mean_low, mean_high = _mean(low), _mean(high)
    larger = np.maximum(se_low, se_high)
    width = np.divide(mean_high - mean_low, larger, out=np.full(len(low), np.inf), where=larger > 0)
    least, most = (np.full(len(low), -special.stdtrit(queries - 1, tail)) for tail in (alpha, alpha / 2))
    for _ in range(60):  # bisection: the probability rises with c
        c = (least + most) / 2
        enough = special.stdtr(queries - 1, c + width) - special.stdtr(queries - 1, -c) >= 1 - alpha
        least, most = np.where(enough, least, c), np.where(enough, c, most)
    return mean_low - most * se_low, mean_high + most * se_high


def _mean(x: Floats) -> Floats:
    return x.mean(axis=1) if x.shape[1] else np.zeros(len(x))


def depth_notes(pool: Pool, depth: int | None) -> list[str]:
    """What to say of runs that are shallower than the bounds' depth.

    A run that retrieves fewer documents has fewer unjudged ones: its bounds are narrower for that reason alone.
    """
    longest = pool.retrieved.max(axis=1, initial=0)
    wanted = int(longest.max(initial=0)) if depth is None else depth
    shallow = [name for name, n in zip(pool.names, longest.tolist(), strict=True) if n < wanted]
    if not shallow:
        return []
    return [
        f"{shown_names(shallow)} retrieve{'s' if len(shallow) == 1 else ''} fewer than {wanted} documents for every query: "
        "bounds are narrower for that reason, too"
    ]


def bounds_table(
    pool: Pool,
    criteria: Mapping[str, IRMeasure | str],
    values: Mapping[str, Floats],
    pairs: Sequence[tuple[str, str]],
    queries: Mapping[str, Ints],
    *,
    rel: float = 1,
    cutoff: int | None = None,
    depth: int | None = None,
    max_rel: float | None = None,
    unretrieved: int = 0,
    alpha: float = 0.05,
) -> pd.DataFrame:
    """What any judging of the retrieved unjudged documents can make of pairs of runs.

    Args:
        pool: what the runs retrieved, at least down to ``depth``.
        criteria: a measure, or the name of a preference, by the name of the criterion.
        values: of the measures, shape ``(S, Q)``, by the name of the criterion.
        pairs: names of the runs that are compared.
        queries: the queries that count for each criterion, as numbers.
        rel, cutoff: of preferences.
        depth, max_rel, unretrieved: see ``bounds_of_differences``.
        alpha: 1 - confidence of the intervals.

    Returns:
        A row per criterion and pair: ``criterion``, ``run_a``, ``run_b``; of preferences ``certain_wins`` (queries on which ``run_a`` can win
        under some judging, and ``run_b`` cannot), ``certain_losses``, ``open`` (either can), ``certain_ties`` (neither can); of
        measures ``low`` and ``high`` of the mean difference, and ``ci_low``, ``ci_high``, which hold sampling of queries, too;
        ``exact`` (whether bounds are reached by some judging; otherwise they may be too wide), ``depth``. ``attrs``:
        ``notes`` on shallow runs, and ``no_algorithm``, criteria without a proven algorithm, whose rows are missing values.

    Raises:
        ValueError: no criterion has a proven algorithm, or ``depth`` is above a cutoff.
    """
    place = {name: s for s, name in enumerate(pool.names)}
    a, b = (np.array([place[pair[side]] for pair in pairs], dtype=np.int64) for side in (0, 1))
    parts, lacking = [], []
    for name, what in criteria.items():
        run_a, run_b = zip(*pairs, strict=True) if pairs else ((), ())
        columns: dict[str, Any] = {"criterion": name, "run_a": run_a, "run_b": run_b}
        own = cutoff if isinstance(what, str) else what.params.get("cutoff")
        bounds: WinBounds | ValueBounds | None
        if isinstance(what, str):
            bounds = bounds_of_wins(pool, what, a, b, rel=rel, cutoff=cutoff, depth=depth, max_rel=max_rel)
            columns |= {} if bounds is None else bounds.counts(queries[name])
        else:
            bounds = bounds_of_differences(
                pool, what, values[name], a, b, depth=depth, max_rel=max_rel, unretrieved=unretrieved
            )
            ends = () if bounds is None else bounds.mean(queries[name], alpha)
            columns |= dict(zip(("low", "high", "ci_low", "ci_high"), ends, strict=False))
        if bounds is None:
            lacking.append(name)
        else:
            columns["exact"] = np.all(bounds.exact[:, queries[name]], axis=1)
        shown = own if depth is None else depth
        parts.append(pd.DataFrame(columns).assign(depth=pd.array([shown] * len(pairs), dtype="Int64")))
    refuse_or_warn_of(lacking, len(criteria))
    table = pd.concat(parts, ignore_index=True)
    counts = [name for name in ("certain_wins", "certain_losses", "open", "certain_ties") if name in table]
    table = table.astype(dict.fromkeys(counts, "Int64") | ({"exact": "boolean"} if "exact" in table else {}))
    known = ["criterion", "run_a", "run_b", *counts, "low", "high", "ci_low", "ci_high", "exact", "depth"]
    table = table[[name for name in known if name in table]]
    table.attrs.update(
        {"notes": depth_notes(pool, depth), "no_algorithm": lacking, "unretrieved": unretrieved, "alpha": alpha}
    )
    return table


def refuse_or_warn_of(lacking: list[str], asked: int) -> None:
    """Say of which criteria there are no bounds; refuse if there are of none."""
    if not lacking:
        return
    said = f"no proven algorithm bounds {shown_names(lacking)}"
    if len(lacking) == asked:
        raise ValueError(said)
    warn(said)
