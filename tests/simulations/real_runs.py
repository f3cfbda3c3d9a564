"""How often what the library says is true of real runs: TREC 2003 Robust and CLEF eHealth 2016, their queries resampled.

Truth is that of all queries of the collection. Where a test must find nothing, runs that are near-duplicates are exchanged within
each query, and the others shifted to one mean, so that ties stay ties. Nothing without the data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.random import Generator
from scipy.sparse.csgraph import connected_components

import ir_lexirecall as irl
from ir_lexirecall import significance as sig
from ir_lexirecall.judging.bounds import imbens_manski
from ir_lexirecall.judging.predicted import (
    powered_preferences,
    prediction_powered,
    with_people_alone,
)
from ir_lexirecall.judging.sequential import sequential_signs
from ir_lexirecall.present.caveats import are_mostly_skewed
from ir_lexirecall.significance import SignificanceTest
from ir_lexirecall.significance import over_collections as inference
from tests.simulations.rows import (
    ALPHA,
    BASELINE_BY_T,
    BASELINE_OR_MORE,
    DISCRETE,
    ENDS,
    FAMILY,
    FEW_COLLECTIONS,
    HULL,
    INTERVALS,
    JOINT,
    MORE_COLLECTIONS,
    MORE_QUERIES,
    NEXT,
    RARE_LOSS,
    ROUGH,
    SKEW,
    STOPPING,
    Floats,
    Row,
    covers,
    false,
    tested,
)

DATA = Path(__file__).parents[2].parent / "shared" / "data"
SOME = 40  # pairs, where all take long
SIZES = (10, 25, 50)
FAMILY_SIZES = (10, 25, 50, 100)
FEW_SIZES = (5, 8)
NEAR_DUPLICATES = (
    0.5  # share of queries on which two runs tie, from which they are near-duplicates
)


def of_pairs(
    statement: str,
    where: str,
    right: Floats,
    level: float = 1 - ALPHA,
    reason: str = SKEW,
    instead: str = MORE_QUERIES,
) -> Row:
    """A row of pairs; ``right``: whether the statement holds (is false, of verdicts), NaN where there is none, shape ``(samples, P)``."""
    of_each = np.nanmean(right[:, ~np.isnan(right.astype(float)).all(axis=0)], axis=0)
    worst = float(of_each.min() if level > 0.5 else of_each.max())
    return Row(
        statement,
        where,
        level,
        float(of_each.mean()),
        len(right),
        reason,
        worst,
        instead,
    )


def holds(low: Floats, truth: Floats | float, high: Floats) -> Floats:
    """Whether intervals hold the truth; so does one that is not given."""
    return ~((low > truth) | (high < truth))


def drawn(x: Floats, samples: int, queries: int, rng: Generator) -> Floats:
    """Resampled queries of each pair: shape ``(samples, P, queries)``."""
    return x[
        np.arange(len(x))[:, None],
        rng.integers(x.shape[1], size=(samples, len(x), queries)),
    ]


def drawn_together(x: Floats, samples: int, queries: int, rng: Generator) -> Floats:
    """Resampled queries, the same ones of all runs: shape ``(samples, S, queries)``."""
    return x[:, rng.integers(x.shape[1], size=(samples, queries))].transpose(1, 0, 2)


def of_each(result: Callable[[Floats], Floats], x: Floats) -> Floats:
    """What a function of rows says of samples of pairs, shape ``(samples, P)``."""
    return result(x.reshape(-1, x.shape[2])).reshape(x.shape[:2])


def one_sided(test: SignificanceTest) -> Callable[[Floats], Floats]:
    """Whether a gain is found, for rows of differences."""
    return lambda x: sig.margin_test(test, x, 0.0).better <= ALPHA


def without_difference(x: Floats) -> Floats:
    """Return differences of pairs with a mean of 0, in which queries that tie still tie.

    The runs of a near-duplicate pair are exchanged: each difference has both signs. Of other
    pairs, the mean is taken off the queries that differ.

    Args:
        x: differences, shape ``(P, Q)``.

    Returns:
        A population to draw queries from, shape ``(P, 2 Q)``.
    """
    differs = x != 0
    n_differing = np.maximum(1, differs.sum(axis=1, keepdims=True))
    shifted = x - differs * x.sum(axis=1, keepdims=True) / n_differing
    are_alike = (~differs).mean(axis=1, keepdims=True) >= NEAR_DUPLICATES
    return np.concatenate(
        [np.where(are_alike, x, shifted), np.where(are_alike, -x, shifted)], axis=1
    )


@dataclass(frozen=True)
class EqualRuns:
    """Runs without a difference in mean, among which near-duplicates still tie on many queries.

    Attributes:
        values: of runs whose clusters have one mean, shape ``(S, Q)``.
        clusters: of near-duplicates, as indices of runs; their values are exchanged within a query.
    """

    values: Floats
    clusters: tuple[Floats, ...]

    @classmethod
    def of(cls, values: Floats) -> EqualRuns:
        """Return runs of which each cluster of near-duplicates is shifted to the mean of all."""
        clusters = clusters_of_near_duplicates(values)
        equal = values.copy()
        for cluster in clusters:
            equal[cluster] += values.mean() - values[cluster].mean()
        return cls(equal, clusters)

    def drawn(self, queries: int, rng: Generator) -> Floats:
        """Return values on resampled queries, shape ``(S, queries)``."""
        x = self.values[:, rng.integers(self.values.shape[1], size=queries)]
        for cluster in self.clusters:
            x[cluster] = rng.permuted(x[cluster], axis=0)
        return x


def clusters_of_near_duplicates(values: Floats) -> tuple[Floats, ...]:
    """Return runs that tie on many queries, directly or by way of other runs, as indices."""
    ties = (values[:, None] == values[None]).mean(axis=2) >= NEAR_DUPLICATES
    _, labels = connected_components(ties)
    return tuple(np.flatnonzero(labels == label) for label in np.unique(labels))


def pairs_of(values: Floats, *, ordered: bool = False) -> Floats:
    """Differences of pairs of runs, shape ``(P, Q)``, those that differ on at least three queries."""
    a, b = (
        (p.ravel() for p in np.indices((len(values), len(values))))
        if ordered
        else np.triu_indices(len(values), 1)
    )
    x = (values[a] - values[b])[a != b]
    return x[np.count_nonzero(x, axis=1) >= 3]


def is_adverse(x: Floats) -> Floats:
    """Return which pairs have their long tail on the losing side; none that is symmetric."""
    return sig.skewness(x) < -1e-9


def real_pairs(samples: int, rng: Generator) -> Iterator[Row]:
    """Intervals and one-sided verdicts of pairs, by each test on the same pairs and samples."""
    for where, values in real_values():
        unordered = pairs_of(values)
        every = without_difference(pairs_of(values, ordered=True))
        equal = without_difference(unordered)
        adverse = is_adverse(every)
        for queries in SIZES:
            setting = f"real pairs, {where}, {queries} queries"
            wrong = np.stack(
                [
                    one_sided(SignificanceTest("t"))(
                        x[rng.integers(len(x), size=(samples, queries))]
                    )
                    for x in every
                ],
                axis=1,
            )
            yield from _rows_of_t(setting, wrong, adverse)
            some = rng.permutation(np.flatnonzero(adverse))[: SOME // 2]
            x = drawn(every[some], samples // 10, queries, rng)
            for name in ("bootstrap", "randomisation"):
                test = SignificanceTest(name, n_resamples=499, progress=False)
                wrong = of_each(one_sided(test), x)
                yield of_pairs(
                    f"{name}: better, worse, not worse",
                    f"{setting}, adverse skewness",
                    wrong,
                    ALPHA,
                    instead="take t" if queries > 10 else MORE_QUERIES,
                )
            sd = x.std(axis=2, ddof=1).mean()
            wrong = of_each(
                lambda y, half=sd / 2: (
                    sig.margin_test(SignificanceTest("t"), y - half, half).within
                    <= ALPHA
                ),
                x,
            )
            yield of_pairs(
                "within margin", f"{setting}, adverse skewness", wrong, ALPHA
            )
            x = drawn(equal, samples // 10, queries, rng)
            for name in ("t", "bootstrap", "randomisation"):
                found = tested(
                    SignificanceTest(name, n_resamples=499), x.reshape(-1, queries)
                )
                right = holds(found.low, 0.0, found.high).reshape(x.shape[:2])
                yield of_pairs(
                    f"{name}: interval",
                    setting,
                    right,
                    instead=MORE_QUERIES if name == "bootstrap" else INTERVALS,
                )
            some = rng.permutation(len(unordered))[: SOME // 2]
            yield from _ranks_of_signs(
                unordered[some], samples // 10, queries, setting, rng
            )


def real_few_queries(samples: int, rng: Generator) -> Iterator[Row]:
    """One-sided verdicts by t on fewer than 10 queries."""
    for where, values in real_values():
        every = without_difference(pairs_of(values, ordered=True))
        adverse = is_adverse(every)
        for queries in FEW_SIZES:
            setting = f"real pairs, {where}, {queries} queries"
            x = drawn(every, samples, queries, rng)
            wrong = of_each(one_sided(SignificanceTest("t")), x)
            yield from _rows_of_t(setting, wrong, adverse)


def _rows_of_t(setting: str, wrong: Floats, adverse: Floats) -> Iterator[Row]:
    """One-sided verdicts by t on all pairs, and on those whose long tail is on the losing side.

    More queries mend the mean of the pairs, but not the worst one.
    """
    for where, some in (
        (setting, wrong),
        (f"{setting}, adverse skewness", wrong[:, adverse]),
    ):
        row = of_pairs("t: better, worse, not worse", where, some, ALPHA)
        yield replace(row, for_some=RARE_LOSS)


def _ranks_of_signs(
    pairs: Floats, samples: int, queries: int, setting: str, rng: Generator
) -> Iterator[Row]:
    """The sign test and Wilcoxon's, which are not about means."""
    x = drawn(pairs, samples, queries, rng)
    for name, truth in (
        ("sign", np.sign(pairs).sum(axis=1) / np.count_nonzero(pairs, axis=1)),
        ("wilcoxon", [median_of_walsh(pair[pair != 0]) for pair in pairs]),
    ):
        found = SignificanceTest(name, progress=False).of_pairs(x.reshape(-1, queries))
        right = holds(
            found.low.reshape(x.shape[:2]), truth, found.high.reshape(x.shape[:2])
        )
        yield of_pairs(f"{name}: interval", setting, right, reason=DISCRETE)


def median_of_walsh(x: Floats) -> float:
    """Return the median of all means of two differences, each with itself, too."""
    i, j = np.triu_indices(len(x))
    return float(np.median((x[i] + x[j]) / 2))


def real_reciprocal_ranks(samples: int, rng: Generator) -> Iterator[Row]:
    """Means of reciprocal ranks, and Wilcoxon's intervals of pairs that tie on half of the queries."""
    for where, values in real_values(("RR",)):
        differences = pairs_of(values)
        ties = np.mean(differences == 0, axis=1)
        pairs = differences[(ties >= 0.4) & (ties <= 0.6)]
        truth = [median_of_walsh(pair[pair != 0]) for pair in pairs]
        for queries in FAMILY_SIZES:
            means = drawn_together(values, samples, queries, rng)
            ends = [
                sig.mean_interval(one, limits=(0.0, 1.0), few_values=True)
                for one in means
            ]
            low, high = np.array(ends).transpose(1, 0, 2)
            right = holds(low, values.mean(axis=1), high)
            setting = f"real runs, {where}, {queries} queries"
            yield of_pairs("mean of a measure", setting, right, reason=ENDS)
            x = drawn(pairs, samples // 10, queries, rng)
            test = SignificanceTest("wilcoxon", progress=False)
            found = test.of_pairs(x.reshape(-1, queries))
            low, high = (end.reshape(x.shape[:2]) for end in (found.low, found.high))
            setting = f"real pairs, half of the queries tie, {where}, {queries} queries"
            right = holds(low, truth, high)
            yield of_pairs("wilcoxon: interval", setting, right, reason=DISCRETE)


def spread_of(x: Floats, ddof: int) -> Floats:
    """Return deviations as plans have them: of the k queries that differ, about their mean.

    Their variance, with k - ``ddof``, counts k / Q.
    """
    differs = x != 0
    k = np.maximum(differs.sum(axis=1), 1)
    mean = x.sum(axis=1) / k
    squares = (np.square(x - mean[:, None]) * differs).sum(axis=1)
    return np.sqrt(squares / np.maximum(k - ddof, 1) * k / x.shape[1])


def real_planning(samples: int, rng: Generator) -> Iterator[Row]:
    """Effect sizes and planning."""
    for where, values in real_values():
        pairs = pairs_of(values)
        sd, n = pairs.std(axis=1), pairs.shape[1]
        for queries in (*SIZES, 100):
            setting = f"real pairs, {where}, {queries} queries"
            x = drawn_together(pairs, samples // 5, queries, rng)
            flat = x.reshape(-1, queries)
            low, high = sig.effect_interval(sig.effect_of_mean(flat), queries)
            right = holds(
                low.reshape(x.shape[:2]),
                pairs.mean(axis=1) / sd,
                high.reshape(x.shape[:2]),
            )
            yield of_pairs("effect size d_z", setting, right, instead=ROUGH)
            planned = sig.detectable_difference(flat)
            with np.errstate(divide="ignore", invalid="ignore"):
                per_deviation = planned.estimate / spread_of(flat, 1)
            truth = np.tile(spread_of(pairs, 0), len(x)) * per_deviation
            right = holds(planned.low, truth, planned.high).reshape(x.shape[:2])
            yield of_pairs("detectable difference", setting, right, instead=ROUGH)
            some = rng.permutation(len(pairs))[:10]
            for name, plan in (
                ("queries needed", sig.queries_for_difference),
                ("queries for a margin", sig.queries_for_margin),
            ):
                exact = pairs[some] * np.sqrt(
                    (n - 1) / n
                )  # whose deviation with ddof 1 is that of all queries
                truth = plan(exact, sd[some] / 2).estimate
                few = x[: max(1, len(x) // 2), some]
                planned = plan(
                    few.reshape(-1, queries), np.tile(sd[some] / 2, len(few))
                )
                right = holds(
                    planned.low.reshape(few.shape[:2]),
                    truth,
                    planned.high.reshape(few.shape[:2]),
                )
                yield of_pairs(name, setting, right, instead=ROUGH)


def real_families(samples: int, rng: Generator) -> Iterator[Row]:
    """Means of all runs; families of tests, best sets and ranks of all runs without a difference."""
    for where, values in real_values():
        for queries in SIZES:
            setting, count = f"real runs, {where}, {queries} queries", samples
            x = drawn_together(values, count, queries, rng)
            ends = [
                sig.mean_interval(one, draws=sig.Resampled(499, k))
                for k, one in enumerate(x)
            ]
            low, high = np.array(ends).transpose(1, 0, 2)
            right = np.where(
                np.isnan(low), np.nan, holds(low, values.mean(axis=1), high)
            )
            yield of_pairs("mean of a measure", setting, right)
        equal = EqualRuns.of(values)
        for queries in FAMILY_SIZES:
            setting = f"real runs, {where}, {queries} queries, {len(values)} equal runs"
            yield from _families_of_equal_runs(equal, setting, queries, samples, rng)


def _families_of_equal_runs(
    equal: EqualRuns, setting: str, queries: int, samples: int, rng: Generator
) -> Iterator[Row]:
    """Families of tests, ranks and best sets, by the same samples."""
    n_runs = len(equal.values)
    i, j = np.triu_indices(n_runs, 1)
    holm, tukey, intervals, ranks, kept = [], [], [], [], []
    for k in range(samples):
        x = equal.drawn(queries, rng)
        p = SignificanceTest("t").of_pairs(x[i] - x[j]).p
        holm.append(sig.corrected(p, "holm", ALPHA)[1].any())
        test = SignificanceTest("tukey", n_resamples=199, seed=k, progress=False)
        found = test.of_all(x.T)
        tukey.append((found.p <= ALPHA).any())
        intervals.append(holds(found.low, 1e-12, found.high + 2e-12).all())
        deviations = sig.studentised_deviations([x], draws=sig.Resampled(499, k))
        kept.append(sig.best_set(deviations) > ALPHA)
        low, high = sig.rank_intervals(deviations)
        ranks.append(((low == 1) & (high == n_runs)).all())
    for row in (
        false("t with Holm: any pair", setting, np.array(holm), FAMILY),
        false("tukey: any pair", setting, np.array(tukey), FAMILY),
        covers("tukey: intervals of all pairs", setting, np.array(intervals), JOINT),
        covers(
            "rank intervals: true ranks of all runs", setting, np.array(ranks), JOINT
        ),
    ):
        yield replace(row, instead=_instead_of(row.statement))
    yield of_pairs(
        "best set: the best run is kept", setting, np.array(kept), reason=JOINT
    )


def _instead_of(statement: str) -> str:
    """Return what to do where a statement on all runs is off.

    More queries mend ranks and Holm's correction, but not Tukey's HSD.
    """
    if statement.startswith("rank"):
        return MORE_QUERIES
    return BASELINE_OR_MORE if statement.startswith("t with") else BASELINE_BY_T


def real_many_pairs(samples: int, rng: Generator) -> Iterator[Row]:
    """All pairs of 17 runs without a difference, on collections of TREC and CLEF."""
    matrices = _many_values()
    if not matrices:
        return
    skewed = [values for values in matrices if are_mostly_skewed([pairs_of(values)])]
    for which, some, sizes in (
        ("matrices", matrices, (13, 25, 50)),
        ("skewed matrices", skewed, (50,)),
    ):
        for queries in sizes:
            said = np.stack(
                [_any_by_holm(values, queries, samples, rng) for values in some], axis=1
            )
            setting = (
                f"real runs, {len(some)} {which}, {queries} queries, 17 equal runs"
            )
            statement = "t with Holm: any pair"
            row = of_pairs(statement, setting, said, ALPHA, FAMILY)
            yield replace(row, instead=BASELINE_OR_MORE)


def _any_by_holm(values: Floats, queries: int, samples: int, rng: Generator) -> Floats:
    """Return of each sample whether some verdict on the pairs of equal runs is given."""
    equal = EqualRuns.of(values)
    i, j = np.triu_indices(len(values), 1)
    said = np.zeros(samples, dtype=bool)
    for k in range(samples):
        x = equal.drawn(queries, rng)
        p = SignificanceTest("t").of_pairs(x[i] - x[j]).p
        said[k] = sig.corrected(p, "holm", ALPHA)[1].any()
    return said


def real_gates(samples: int, rng: Generator) -> Iterator[Row]:
    """Verdicts by two measures at once, and in groups of queries."""
    of_collections: dict[str, list[Floats]] = {}
    for where, values in real_values():
        of_collections.setdefault(where.partition(",")[0], []).append(values)
    for collection, (ap, ndcg) in of_collections.items():
        a, b = np.triu_indices(len(ap), 1)
        some = rng.permutation(len(a))[:SOME]
        both = [
            without_difference((values[a] - values[b])[some]) for values in (ap, ndcg)
        ]
        for queries in (25, 50):
            draws = rng.integers(both[0].shape[1], size=(samples // 5, SOME, queries))
            x = np.stack(
                [one[np.arange(SOME)[:, None], draws] for one in both], axis=2
            ).reshape(-1, queries)
            worse = sig.margin_test(SignificanceTest("t"), x, 0.01).worse.reshape(-1, 2)
            said = np.array(
                [sig.corrected(p, "holm", ALPHA)[1].any() for p in worse]
            ).reshape(-1, SOME)
            setting = f"real pairs, {collection}, {queries} queries, AP and nDCG@10"
            yield of_pairs("gate: worse by any measure", setting, said, ALPHA, FAMILY)
        groups = drawn(both[0], samples // 5, 4 * 12, rng).reshape(-1, 12)
        p = SignificanceTest("t").of_pairs(groups).p.reshape(-1, 4)
        said = np.array(
            [sig.corrected(row, "holm", ALPHA)[1].any() for row in p]
        ).reshape(-1, SOME)
        setting = f"real pairs, {collection}, AP, 4 groups of 12 queries"
        yield of_pairs(
            "in groups of queries: any better or worse", setting, said, ALPHA, FAMILY
        )


def real_units(samples: int, rng: Generator) -> Iterator[Row]:
    """Groups of queries as units, parts that are alike, prediction-powered differences, bounds, sequential tests: by AP."""
    of_measures = dict(real_values())
    for where, values in of_measures.items():
        if not where.endswith("AP"):
            continue
        judge = of_measures[where.replace("AP", "nDCG@10")]
        a, b = np.triu_indices(len(values), 1)
        some = rng.permutation(
            np.flatnonzero((values[a] != values[b]).sum(axis=1) >= 3)
        )[:SOME]
        pairs, count = (values[a] - values[b])[some], samples // 5
        x = without_difference(pairs)
        for groups in (10, 30):
            labels = np.repeat(np.arange(groups), 5)
            shared = drawn(x, count, groups, rng)[:, :, labels]
            flat = (shared + drawn(x, count, len(labels), rng)).reshape(-1, len(labels))
            for name, statement in (
                ("randomisation", "signs of groups"),
                ("bootstrap", "bootstrap of groups"),
            ):
                test = SignificanceTest(
                    name,
                    groups=tuple(f"{g:02}" for g in labels),
                    n_resamples=499,
                    progress=False,
                )
                found = tested(test, flat)
                setting = f"real pairs, {where}, {groups} groups of 5 queries"
                yield of_pairs(
                    f"{statement}: interval",
                    setting,
                    holds(found.low, 0.0, found.high).reshape(count, -1),
                )
        for sizes in ((8, 30), (10, 10, 20, 30, 60)):
            parts = [drawn(x, count, size, rng).reshape(-1, size) for size in sizes]
            wrong = np.where(
                np.isnan(p := sig.heterogeneity(parts)[1]), np.nan, p <= ALPHA
            ).reshape(count, -1)
            yield of_pairs(
                "differences are the same in all parts (groups, collections)",
                f"real pairs, {where}, {len(sizes)} parts of {min(sizes)} to {max(sizes)} queries",
                wrong,
                ALPHA,
            )
        f = np.tile(0.5 * (judge[a] - judge[b])[some], 2)
        for sizes in ((10, 100), (25, 200)):
            yield from _predicted(where, x, f, sizes, count, rng)
        for queries in SIZES:
            flat = drawn(x, count, queries, rng).reshape(-1, queries)
            low, high = imbens_manski(
                flat, flat + 0.1 * np.abs(rng.permutation(flat, axis=1)), ALPHA
            )
            table = SignificanceTest("t").of_pairs(flat)
            right = holds(
                np.minimum(low, table.low), 0.0, np.maximum(high, table.high)
            ).reshape(count, -1)
            yield of_pairs(
                "bounds of judgments: interval",
                f"real pairs, {where}, {queries} queries",
                right,
            )
        signs = np.sign(pairs)
        flat = drawn(np.concatenate([signs, -signs], axis=1), count, 200, rng).reshape(
            -1, 200
        )
        said = (
            sequential_signs(flat, ALPHA, 0, correct=False).decided_after > 0
        ).reshape(count, -1)
        yield of_pairs(
            "sequential sign test",
            f"real pairs, {where}, 200 queries, runs exchanged",
            said,
            ALPHA,
            STOPPING,
        )


def _predicted(
    where: str,
    d: Floats,
    f: Floats,
    sizes: tuple[int, int],
    samples: int,
    rng: Generator,
) -> Iterator[Row]:
    """Prediction-powered differences and preferences of pairs.

    Args:
        where: collection and measure.
        d: differences by people, shape ``(P, Q)``.
        f: the same by predicted judgments.
        sizes: numbers of queries that people judged, and of all.
        samples: how many samples of queries.
        rng: random numbers.
    """
    n, queries = sizes
    setting = (
        f"real pairs, {where}, {n} of {queries} queries, predicted by half of nDCG@10"
    )
    draws = (
        np.arange(len(d))[:, None],
        rng.integers(d.shape[1], size=(samples, len(d), queries)),
    )
    human, predicted = (v[draws].reshape(-1, queries) for v in (d, f))
    got = prediction_powered(human[:, :n], predicted, np.arange(n), ALPHA)
    yield of_pairs(
        "prediction-powered difference",
        setting,
        holds(got.low, 0.0, got.high).reshape(samples, -1),
    )
    human, predicted = np.sign(human), np.sign(predicted)
    alone = SignificanceTest("t").of_pairs(human[:, :n], bounds=(-1, 1))
    given = human[:, :n], predicted, np.arange(n)
    found, is_powered = powered_preferences(prediction_powered(*given), *given)
    got = with_people_alone(found, human[:, :n], alone, (-1, 1), is_powered)
    right = holds(
        got.low.reshape(samples, -1),
        np.sign(d).mean(axis=1),
        got.high.reshape(samples, -1),
    )
    yield of_pairs("prediction-powered preference", setting, right, reason=HULL)
    low, high = sig.preference_interval(human[:, :n])
    right = holds(
        low.reshape(samples, -1), np.sign(d).mean(axis=1), high.reshape(samples, -1)
    )
    yield of_pairs("mean preference", f"real pairs, {where}, {n} queries", right)


def real_predictions(samples: int, rng: Generator) -> Iterator[Row]:
    """What predicted judgments say of pairs of which people judged more queries, by AP."""
    of_measures = dict(real_values())
    for where, values in of_measures.items():
        if not where.endswith("AP"):
            continue
        both = values, 0.5 * of_measures[where.replace("AP", "nDCG@10")]
        a, b = np.triu_indices(len(values), 1)
        differs = (values[a] != values[b]).sum(axis=1) >= 3
        some = rng.permutation(np.flatnonzero(differs))[:SOME]
        by_people, by_program = ((x[a] - x[b])[some] for x in both)
        d, f = without_difference(by_people), np.tile(by_program, 2)
        yield from _predicted(where, d, f, (50, 400), samples // 5, rng)


def real_collections(samples: int, rng: Generator) -> Iterator[Row]:
    """Over collections that are made of real pairs and runs, by AP."""
    pools = [values for where, values in real_values() if where.endswith("AP")]
    if not pools:
        return
    best = [
        values[np.argsort(-values.mean(axis=1), kind="stable")[:6]] for values in pools
    ]
    truth = np.mean([values.mean(axis=1) for values in best], axis=0)
    both = np.concatenate([truth, truth[1:] - truth[0]])
    right = []
    for k in range(samples // 2):
        x = [values[:, rng.integers(values.shape[1], size=25)] for values in best]
        x = [np.concatenate([y, y[1:] - y[:1]]) for y in x]
        resamples = inference.macro_bootstrap(x, "queries", draws=sig.Resampled(499, k))
        low, high, _ = inference.macro_interval(x, resamples, "queries", ALPHA)
        right.append(holds(low, both, high))
    for statement, some in (
        ("macro mean", slice(6)),
        ("macro difference", slice(6, None)),
    ):
        yield of_pairs(
            statement,
            "real runs, 2 collections of 25 queries, AP",
            np.array(right)[:, some],
        )
    # A collection is a pair of runs, the better one first: its true difference is that on all queries.
    pairs = [
        x * np.where(x.mean(axis=1, keepdims=True) < 0, -1, 1)
        for x in map(pairs_of, pools)
    ]
    every = [row for x in pairs for row in x]
    means, rows = np.array([row.mean() for row in every]), np.arange(len(every))
    for collections, queries in ((5, 25), (8, 10), (8, 50)):
        drawn_pairs = rng.choice(rows, size=(samples, collections + 1))
        x = np.array(
            [
                [every[r][rng.integers(len(every[r]), size=queries)] for r in some[:-1]]
                for some in drawn_pairs
            ]
        )
        found = inference.random_effects(
            x.mean(axis=2), x.var(axis=2, ddof=1) / queries
        )
        setting = f"real pairs as collections, {collections} x {queries} queries, AP"
        row = covers(
            "random effects: mean",
            setting,
            holds(found.effect_low, means.mean(), found.effect_high),
            FEW_COLLECTIONS,
        )
        yield replace(row, instead=MORE_COLLECTIONS)
        row = covers(
            "random effects: next collection",
            setting,
            holds(found.next_low, means[drawn_pairs[:, -1]], found.next_high),
            NEXT,
        )
        yield replace(row, instead=MORE_COLLECTIONS)
    # Eight collections of 25 queries each, on which five runs are equal.
    said: dict[str, list[bool]] = {}
    test, i, j = SignificanceTest("t"), *np.triu_indices(5, 1)
    equal = [EqualRuns.of(values[:5]) for values in best]
    for _ in range(samples):
        x = [equal[d % 2].drawn(25, rng) for d in range(8)]
        of_runs = np.stack([y.mean(axis=1) for y in x])
        gains = np.stack(
            [y[1:] - y[:1] for y in x], axis=1
        )  # rivals, collections, queries
        p = sig.margin_test(test, gains.reshape(-1, 25), 0.0).better.reshape(4, 8)
        better = {}
        for combination in ("fisher", "simes"):
            of_one = inference.partial_conjunction(p, combination)[:, 0]
            better[combination] = sig.corrected(of_one, "holm", ALPHA)[1].any()
        colours = sig.corrected(test.of_pairs(gains.reshape(-1, 25)).p, "holm", ALPHA)[
            1
        ].any()
        for statement, found in (
            ("better on at least: one too many, any rival by Fisher", better["fisher"]),
            ("better on at least: one too many, any rival by Simes", better["simes"]),
            ("colours per collection: any", colours),
            ("Friedman: p at most 0.05", inference.friedman(of_runs)[1] <= ALPHA),
            (
                "Wilcoxon with Holm: any pair",
                (inference.wilcoxon_of_pairs(of_runs) <= ALPHA).any(),
            ),
        ):
            said.setdefault(statement, []).append(bool(found))
        if (
            len(said["colours per collection: any"]) <= samples // 5
        ):  # the studentised range takes long
            nemenyi = (inference.nemenyi(of_runs)[1][i, j] <= ALPHA).any()
            said.setdefault("Nemenyi: any pair", []).append(bool(nemenyi))
    for statement, found in said.items():
        setting = "real runs, 8 collections of 25 queries, 5 equal runs"
        statement, _, combination = statement.partition(" by ")
        if combination:
            setting += f", {combination}"
        row = false(statement, setting, np.array(found), FAMILY)
        yield replace(row, instead=MORE_QUERIES)


def real_replicability(samples: int, rng: Generator) -> Iterator[Row]:
    """Whether any of four rivals is said to be better on one of 8 equal collections, by AP."""
    test = SignificanceTest("t")
    for where, values in real_values():
        if not where.endswith("AP"):
            continue
        best = values[np.argsort(-values.mean(axis=1), kind="stable")[:5]]
        equal = EqualRuns.of(best)
        # On CLEF, one run gains much on few queries: 50 queries miss that as often as 25 do.
        advice = RARE_LOSS if where.startswith("CLEF") else MORE_QUERIES
        for queries in (25, 50):
            said: dict[str, list[bool]] = {"Fisher": [], "Simes": []}
            for _ in range(samples):
                x = [equal.drawn(queries, rng) for _ in range(8)]
                gains = np.stack([y[1:] - y[:1] for y in x], axis=1)
                tested = sig.margin_test(test, gains.reshape(-1, queries), 0.0)
                for name, falsely in said.items():
                    p = tested.better.reshape(4, 8)
                    of_one = inference.partial_conjunction(p, name.lower())[:, 0]
                    falsely.append(sig.corrected(of_one, "holm", ALPHA)[1].any())
            for name, falsely in said.items():
                statement = "better on at least: one too many, any rival"
                setting = f"real runs, 8 times {where}, {queries} queries, {name}"
                row = false(statement, setting, np.array(falsely), FAMILY)
                yield replace(row, instead=advice)


@cache
def real_values(
    measures: tuple[str, ...] = ("AP", "nDCG@10"),
) -> list[tuple[str, Floats]]:
    """Values of the runs of both collections by measure, shape ``(S, Q)``."""
    found = []
    for name, folder, qrels in (
        ("Robust 2003", "robust2003", "qrels.txt.gz"),
        ("CLEF 2016", "clef-ehealth-2016", "relevance.qrels.gz"),
    ):
        if (DATA / folder).exists():
            runs = {
                path.stem: path for path in sorted((DATA / folder / "runs").iterdir())
            }
            result = irl.compare(DATA / folder / qrels, runs, by=[*measures])
            found += [
                (f"{name}, {measure}", result.compared.by[measure].standings)
                for measure in result.compared.by
            ]
    return found


@cache
def _many_values() -> list[Floats]:
    """Return values of 16 or 17 runs of many collections, shape ``(S, Q)`` each.

    Of more runs, 17 of the better three quarters are drawn.
    """
    folder = DATA / "value-files" / "urbano-per-topic"
    names = [
        *(
            f"sigir2019-statistical/adhoc{n}_{m}"
            for n in range(5, 9)
            for m in ("ap", "rr")
        ),
        *(
            f"sigir2018-simulation/web{year}_{m}"
            for year in range(2010, 2015)
            for m in ("ap", "rr", "ndcg20")
        ),
        "sigir2018-simulation/robust2004_ap",
        "sigir2019-standardization/terabyte2006_ap",
    ]
    matrices = [values for _, values in real_values()]
    for name in names if folder.exists() else []:
        table = pd.read_csv(folder / f"{name}.csv.gz").drop(
            columns="topic", errors="ignore"
        )
        values = table.to_numpy().T
        better = np.argsort(-values.mean(axis=1), kind="stable")
        better = better[: max(17, len(values) * 3 // 4)]
        some = np.random.default_rng(1).permutation(better)[:17]
        matrices.append(values[np.sort(some)])
    return matrices


REAL = [
    real_pairs,
    real_few_queries,
    real_reciprocal_ranks,
    real_planning,
    real_families,
    real_many_pairs,
    real_gates,
    real_units,
    real_collections,
    real_replicability,
    real_predictions,
]
