"""How often what the library says is true: one table of every interval and verdict, on simulated data whose truth is known.

    python -m tests.simulations.coverage --records FOLDER --page ir_lexirecall/pt_docs/coverage_table.txt

prints a row per statement and setting, and writes them as a table of the documentation. Of an interval, the share of samples in
which it holds the truth; of a verdict, the share in which it is false. A row is off where an interval holds the truth in less than
its level - .015, or a verdict is false in more than alpha + .015; then it says what to do instead, or the program ends with 1. Rows
that keep more than their level by more than .015 say why. Rows of real pairs need the runs at ``../shared/data``.

``TABLE`` lists the functions that yield rows, in order: add one to add rows. The rows of each are kept in the folder of records, with
their date and time: a run that was stopped goes on there; remove a record to measure it again.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, astuple, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from numpy.random import Generator
from scipy import stats

from ir_lexirecall import significance as sig
from ir_lexirecall.comparison.ledger import spent_at
from ir_lexirecall.comparison.margins import margin_columns
from ir_lexirecall.judging.bounds import imbens_manski
from ir_lexirecall.meta.missing_labels import TwoWay
from ir_lexirecall.significance import SignificanceTest, corrected
from ir_lexirecall.significance import over_collections as inference
from ir_lexirecall.significance.draws import (
    percentile_interval,
    sample_and_draws,
    share_beyond_zero,
)
from tests.simulations import judging
from tests.simulations.benchmark import World
from tests.simulations.benchmark_seeds import benchmark_seed_ranks, benchmark_seeds
from tests.simulations.gates import stopped
from tests.simulations.groups import clusters
from tests.simulations.leaderboards import leaderboards
from tests.simulations.real_runs import REAL
from tests.simulations.rows import (
    ALPHA,
    BLOCKS,
    BOTH,
    DISCRETE,
    ENDS,
    FAMILY,
    FEW,
    FEW_COLLECTIONS,
    HULL,
    JOINT,
    KINDS,
    MORE_COLLECTIONS,
    MORE_QUERIES,
    NEXT,
    RANKS,
    RESAMPLES,
    ROUGH,
    STOPPING,
    WHOLE,
    Floats,
    PrintedRow,
    Row,
    advised,
    covers,
    differences,
    false,
    preferences,
    tested,
    values,
)
from tests.simulations.seeds import (
    more_seeds,
    planned_seeds,
    samples_of_queries,
    seeds,
)
from tests.simulations.verdicts import criteria
from tests.simulations.zeros import zeros

# -- one collection --------------------------------------------------------------------------------


def means(samples: int, rng: Generator) -> Iterator[Row]:
    """Intervals of means."""
    for queries in (10, 25, 50, 250):
        x = values(rng, (samples, queries))
        ends = [
            sig.mean_interval(part, draws=sig.Resampled(RESAMPLES, i))
            for i, part in enumerate(np.array_split(x, BLOCKS))
        ]
        low, high = np.concatenate(ends, axis=1)
        yield covers(
            "mean of a measure",
            f"skewed values, {queries} queries",
            (low <= 0.3) & (high >= 0.3),
        )
    for share in (0.01, 0.1, 0.5, 0.9, 0.99):
        for queries in (3, 5, 10, 25, 100):
            x = (rng.random((10 * samples, queries)) < share).astype(float)
            low, high = sig.mean_interval(x)
            setting = f"0 and 1, mean {share:g}, {queries} queries"
            holds = (low <= share) & (share <= high)
            yield covers("mean of a measure", setting, holds, ENDS)
    for mean in (0.0, 0.6, 0.9, 0.98):
        for queries in (5, 10, 25, 100):
            reason = ENDS if mean > 0.5 else FEW
            low, high = sig.preference_interval(
                preferences(rng, (samples, queries), mean, (1 - mean) / 2)
            )
            setting = f"mean {mean:g}, {queries} queries"
            yield covers(
                "mean preference",
                f"over one run, {setting}",
                (low <= mean) & (mean <= high),
                reason,
            )
            share = rng.beta((1 + mean) / 2, (1 - mean) / 2, (samples, queries))
            low, high = sig.preference_interval(2 * rng.binomial(16, share) / 16 - 1)
            yield covers(
                "mean preference",
                f"over 16 runs, {setting}",
                (low <= mean) & (mean <= high),
                reason,
            )


def tests(samples: int, rng: Generator) -> Iterator[Row]:
    """Tests and their intervals, of pairs and of all systems."""
    for name in ("sign", "t", "wilcoxon", "bootstrap", "randomisation"):
        test = SignificanceTest(name, n_resamples=RESAMPLES)
        exact = DISCRETE if name in ("sign", "wilcoxon", "randomisation") else FEW
        for kind, draw in KINDS.items():
            of_counts = "wins" in kind
            for queries in (2, 3, 5, 8, 16, 50) if of_counts else (5, 10, 50):
                x = draw(rng, (samples, queries))
                result = tested(test, x)
                reason = DISCRETE if of_counts or name == "sign" else exact
                yield false(
                    f"{name}: p at most {ALPHA:g}",
                    f"{kind}, {queries} queries",
                    result.p <= ALPHA,
                    reason,
                )
                if name != "sign" and not of_counts:
                    holds = tested(test, x + 0.1)
                    holds = (holds.low <= 0.1) & (holds.high >= 0.1)
                    yield covers(
                        f"{name}: interval", f"{kind}, {queries} queries", holds, exact
                    )
    for win, loss in ((0.4, 0.4), (0.6, 0.2), (0.3, 0.02)):
        for queries in (8, 25, 100):
            x = rng.choice(
                [-1.0, 0.0, 1.0], (samples, queries), p=[loss, 1 - win - loss, win]
            )
            result = tested(SignificanceTest("sign"), x)
            truth = (win - loss) / (win + loss)
            setting = f"wins {win:g}, losses {loss:g}, {queries} queries"
            yield covers(
                "sign: interval",
                setting,
                (result.low <= truth) & (truth <= result.high),
                DISCRETE,
            )
    yield from families(samples, rng)


def families(samples: int, rng: Generator) -> Iterator[Row]:
    """All pairs of five equal systems: any rejection, after correction."""
    i, j = np.triu_indices(5, 1)
    of_values = rng.normal(size=(samples, 40, 1)) + 0.3 * differences(
        rng, (samples, 40, 5)
    )
    test = SignificanceTest("t")
    x = (of_values[:, :, i] - of_values[:, :, j]).transpose(0, 2, 1)
    p = test.of_pairs(x.reshape(-1, 40)).p.reshape(samples, -1)
    said = np.array([corrected(row, test.correction, test.alpha)[1].any() for row in p])
    yield false("t with Holm: any pair", "5 equal systems, 40 queries", said, FAMILY)
    tukey = SignificanceTest("tukey", n_resamples=199, progress=False)
    results = [replace(tukey, seed=k).of_all(one) for k, one in enumerate(of_values)]
    said = np.array([(result.p <= ALPHA).any() for result in results])
    yield false("tukey: any pair", "5 equal systems, 40 queries", said)
    holds = np.array(
        [((result.low <= 1e-12) & (result.high >= -1e-12)).all() for result in results]
    )
    yield covers("tukey: intervals of all pairs", "5 equal systems, 40 queries", holds)


def margins(samples: int, rng: Generator) -> Iterator[Row]:
    """Verdicts of a candidate against a baseline."""
    margin = 0.02
    for name in ("t", "sign", "wilcoxon", "bootstrap", "randomisation"):
        test = SignificanceTest(name, n_resamples=RESAMPLES, progress=False)
        exact = {"sign": DISCRETE, "bootstrap": FEW}.get(name, "")
        for queries in (16, 50, 100):
            x = differences(rng, (samples, queries))
            setting = f"{name}, {queries} queries"
            yield false(
                "worse",
                f"{setting}, no difference",
                sig.margin_test(test, x, margin).worse <= ALPHA,
                exact,
            )
            if name == "sign":
                x, at = (
                    preferences(rng, x.shape, -0.2 * 0.7, 0.3),
                    0.2,
                )  # an effect of -.2
            else:
                x, at = x - margin, margin
            found = sig.margin_test(test, x, at)
            yield false(
                "not worse",
                f"{setting}, true loss the margin",
                found.not_worse <= ALPHA,
                exact,
            )
            yield false(
                "within margin",
                f"{setting}, true loss the margin",
                found.within <= ALPHA,
                BOTH,
            )
    yield from gates(samples, rng)


def gates(samples: int, rng: Generator) -> Iterator[Row]:
    """Three correlated measures gated at once."""
    for queries in (50, 100):
        shared = differences(rng, (samples, queries))
        three = np.stack(
            [shared + differences(rng, shared.shape) for _ in range(3)], axis=1
        )
        test = SignificanceTest("t")
        worse = sig.margin_test(test, three.reshape(-1, queries), 0.01).worse.reshape(
            -1, 3
        )
        said = np.array([sig.corrected(row, "holm", ALPHA)[1].any() for row in worse])
        yield false(
            "gate: worse by any measure",
            f"3 measures, {queries} queries, no difference",
            said,
            FAMILY,
        )
        mean = preferences(rng, (samples, queries), -0.1, 0.3)
        passes = sig.margin_test(test, mean, 0.1).not_worse <= ALPHA
        yield false(
            "gate: not worse by mean preference",
            f"{queries} queries, true loss the margin",
            passes,
        )


def looks(samples: int, rng: Generator) -> Iterator[Row]:
    """A gate at every commit, none of which does harm."""
    for horizon, setting in (
        (None, "50 harmless commits, 50 queries"),
        (20, "horizon of 20"),
    ):
        said = stopped(
            horizon or 50, 0.0, samples, 50, rng, counted=True, horizon=horizon
        )["any"]
        statement = "gate with a ledger and a release: any commit stopped"
        yield Row(statement, setting, ALPHA, said, samples, FAMILY)
    loss = 0.5  # standard deviations of a commit's differences
    for n_queries in (50, 100):
        x = rng.standard_t(4, (2 * samples, n_queries)) / 2**0.5 - loss
        worse = sig.margin_test(SignificanceTest("t"), x, 0.0).worse
        for horizon, instead in ((None, "give a horizon"), (20, MORE_QUERIES)):
            share = float((worse <= spent_at(20, ALPHA, horizon)).mean())
            setting = (
                f"half a standard deviation on {n_queries} queries, {_horizon(horizon)}"
            )
            statement = "gate with a ledger: the loss is found at look 20"
            row = Row(statement, setting, 0.8, share, len(worse), reached=True)
            yield replace(row, instead=instead)


def _horizon(horizon: int | None) -> str:
    """Return how looks share alpha."""
    return "no horizon" if horizon is None else f"horizon of {horizon}"


def rivals(samples: int, rng: Generator) -> Iterator[Row]:
    """Several rivals of a baseline, with a margin, by two measures: any false verdict."""
    test, measures = SignificanceTest("t"), 2
    for count in (4, 16):
        x = differences(rng, (samples, measures, count + 1, 50))
        x = x[:, :, 1:] - x[:, :, :1]
        for what, gain, verdicts in (
            ("as good", 0.0, ("better", "worse")),
            ("that lose the margin", -0.05, ("not worse", "within margin")),
        ):
            rows = (x + gain).reshape(-1, 50)
            one_sided, both = sig.margin_test(test, rows, 0.05), test.of_pairs(rows)
            better = np.where(
                both.estimate > 0, both.p, 1.0
            )  # two-sided, as in comparisons
            p = replace(one_sided, better=better).arrays
            of_samples = np.stack(p).reshape(4, samples, measures, count)
            found = [
                margin_columns(
                    {str(m): [sig.MarginTest(*one[:, m])] for m in range(measures)},
                    test,
                )
                for one in of_samples.transpose(1, 0, 2, 3)
            ]
            for verdict in verdicts:
                by = (
                    slice(None) if gain == 0 else slice(1)
                )  # all measures must pass, so that each has its own family
                said = [
                    any(
                        verdict in parts[0]["verdict"]
                        for parts in list(one.values())[by]
                    )
                    for one in found
                ]
                setting, reason = (
                    f"{count} rivals {what}, 50 queries",
                    BOTH if verdict == "within margin" else FAMILY,
                )
                yield false(
                    f"with a margin: any {verdict}", setting, np.array(said), reason
                )


def effects(samples: int, rng: Generator) -> Iterator[Row]:
    """Effect sizes and planning."""
    for effect, queries in ((0.0, 10), (0.5, 25), (0.2, 100)):
        x = rng.normal(effect, 1, (samples, queries))
        low, high = sig.effect_interval(sig.effect_of_mean(x), queries)
        yield covers(
            "effect size d_z",
            f"true {effect:g}, {queries} queries",
            (low <= effect) & (effect <= high),
        )
    for queries in (10, 50):
        x = rng.normal(0, 0.1, (samples, queries))
        planned, truth = (
            sig.queries_for_difference(x, 0.05),
            34,
        )  # the t-test finds an effect of 1/2 with 34
        yield covers(
            "queries needed",
            f"from {queries} queries",
            (planned.low <= truth) & (truth <= planned.high),
            WHOLE,
        )
        detected, truth = sig.detectable_difference(x), 0.1 * _detectable(queries)
        holds = (detected.low <= truth) & (truth <= detected.high)
        yield covers("detectable difference", f"with {queries} queries", holds, FEW)


def _detectable(queries: int) -> float:
    """Effect that the t-test finds with a power of .8, by bisection."""
    low, high = 0.0, 5.0
    critical = stats.t.isf(ALPHA / 2, queries - 1)
    for _ in range(60):
        middle = (low + high) / 2
        t = stats.nct(queries - 1, middle * queries**0.5)
        low, high = (low, middle) if t.sf(critical) >= 0.8 else (middle, high)
    return high


# -- best sets, ranks, many collections ------------------------------------------------------------


def best(samples: int, rng: Generator) -> Iterator[Row]:
    """Who may be the best, and ranks, of equal runs, of nearly equal ones and of runs a step apart."""
    for over, collections, runs, queries in (
        ("queries", 1, 6, 5),
        ("queries", 1, 17, 16),
        ("queries", 1, 6, 50),
        ("queries", 3, 6, 20),
        ("collections", 2, 6, 50),
        ("collections", 3, 17, 50),
        ("collections", 8, 6, 50),
    ):
        between = 0.03 if over == "collections" else 0.0
        for step in (0.0, 0.0005, 0.01):
            world = World(
                [queries] * collections, [0.3 + step * s for s in range(runs)], between
            )
            kept, ranked = [], []
            for sample in range(samples):
                x = world.collections(rng, rng.normal(0, between, (runs, collections)))
                found = sig.studentised_deviations(
                    x, over, draws=sig.Resampled(499, sample)
                )
                kept.append(sig.best_set(found)[-1] > ALPHA)
                low, high = sig.rank_intervals(found)
                best, worst = (np.arange(runs, 0, -1),) * 2 if step else (1, runs)
                ranked.append(((low <= best) & (worst <= high)).all())
            apart = f"runs {step:g} apart" if step else "equal runs"
            reason = RANKS if step else FEW if over == "queries" else FEW_COLLECTIONS
            setting = f"over {over}: {collections} x {queries} queries, {runs} {apart}"
            yield covers(
                "best set: the best run is kept", setting, np.array(kept), JOINT
            )
            yield covers(
                "rank intervals: true ranks of all runs",
                setting,
                np.array(ranked),
                reason,
            )


def many_collections(samples: int, rng: Generator) -> Iterator[Row]:
    """Macro means, differences and random effects."""
    for over in ("queries", "collections"):
        for queries in ([50] * 2, [50] * 3, [10] * 5, [50] * 8):
            world = World(queries, [0.30, 0.34, 0.38], 0.03)
            of_means, of_differences = [], []
            for sample in range(samples):
                gains = rng.normal(0, world.between, (3, len(queries)))
                x = world.collections(rng, gains if over == "queries" else None)
                truth = np.array(world.quality) + (
                    gains.mean(axis=1) if over == "queries" else 0
                )
                both = [np.concatenate([y, y[1:] - y[:1]]) for y in x]
                truth = np.concatenate([truth, truth[1:] - truth[0]])
                means = sample_of_means(both, over, sample)
                low, high, _ = inference.macro_interval(both, means, over, ALPHA)
                holds = ~((low > truth) | (high < truth))
                of_means.append(holds[:3].mean())
                of_differences.append(holds[3:].mean())
            setting = f"over {over}: {len(queries)} x {queries[0]} queries"
            reason = FEW_COLLECTIONS if over == "collections" else ""
            yield covers("macro mean", setting, np.array(of_means), reason)
            yield covers("macro difference", setting, np.array(of_differences), reason)


def sample_of_means(
    values: Sequence[Floats], over: str, seed: int
) -> inference.Resamples:
    """Return resamples of macro means; none over collections, whose intervals are by t."""
    number = 499 if over == "queries" else 1
    return inference.macro_bootstrap(values, over, draws=sig.Resampled(number, seed))


def too_many(p: np.ndarray, better: list[int], setting: str) -> Iterator[Row]:
    """Claims that rivals are better on more collections than they are, p ``(samples, R, D)``."""
    for combination in ("fisher", "simes"):
        p_u = [inference.partial_conjunction(of_runs, combination) for of_runs in p]
        adjusted = np.array(
            [inference.corrected_over_runs(x, "holm", ALPHA) for x in p_u]
        )
        yield false(
            "better on at least: one too many, any rival",
            f"{setting}, {combination.title()}",
            ((adjusted <= ALPHA).sum(axis=2) > better).any(axis=1),
            FAMILY,
        )


def unequal_replicability(samples: int, rng: Generator) -> Iterator[Row]:
    """Yield error rates for rivals that are better on different numbers of collections."""
    better = [0, 2, 4, 6]
    x = differences(rng, (samples, 4, 8, 50))
    for rival, number in enumerate(better):
        x[:, rival, :number] += 0.15
    p = sig.margin_test(SignificanceTest("t"), x.reshape(-1, 50), 0.0).better
    setting = "4 rivals, better on 0, 2, 4 and 6 of 8 collections"
    yield from too_many(p.reshape(samples, 4, 8), better, setting)


def replicability(samples: int, rng: Generator) -> Iterator[Row]:
    """Claims about single collections and ranks over collections."""
    test = SignificanceTest("t")
    for better in (0, 3):  # of 8 collections
        x = differences(rng, (samples, 4, 8, 50))
        x[:, :, :better] += 0.15
        p = sig.margin_test(test, x.reshape(-1, 50), 0.0).better.reshape(samples, 4, 8)
        setting = f"4 rivals, better on {better} of 8 collections"
        yield from too_many(p, [better] * 4, setting)
        if not better:
            p = SignificanceTest("t").of_pairs(x.reshape(-1, 50)).p.reshape(samples, 32)
            said = np.array([sig.corrected(row, "holm", ALPHA)[1].any() for row in p])
            yield false(
                "colours per collection: any",
                "4 equal rivals, 8 collections",
                said,
                FAMILY,
            )
    for collections in (8, 15):
        said = [
            (
                inference.wilcoxon_of_pairs(rng.normal(size=(collections, 5))) <= ALPHA
            ).any()
            for _ in range(samples)
        ]
        yield false(
            "Wilcoxon with Holm: any pair",
            f"{collections} collections, 5 equal runs",
            np.array(said),
            FAMILY,
        )
        said = [
            (inference.nemenyi(rng.normal(size=(collections, 5)))[1] <= ALPHA).any()
            for _ in range(samples // 4)
        ]
        yield false(
            "Nemenyi: any pair",
            f"{collections} collections, 5 equal runs",
            np.array(said),
            FAMILY,
        )


def missing_judgments(samples: int, rng: Generator) -> Iterator[Row]:
    """Prediction-powered differences with a biased judge, and the sequential sign test, looked at after every query."""
    samples *= 2  # they are quick
    for n in (20, 50):
        for rho in (0.0, 0.5, 0.8, 0.95):
            share = judging.coverage(
                rho, n, 500, 0.05, samples, int(rng.integers(2**32))
            )
            setting = f"{n} of 500 queries, biased judge, rho {rho:g}"
            yield Row(
                "prediction-powered difference", setting, 1 - ALPHA, share, samples
            )
    for n, queries in ((10, 40), (25, 100), (50, 500)):
        for mean in (0.0, 0.6, 0.9):
            share = judging.coverage_of_preferences(
                n, queries, mean, samples, int(rng.integers(2**32))
            )
            setting = f"mean {mean:g}, {n} of {queries} queries"
            yield Row(
                "prediction-powered preference",
                setting,
                1 - ALPHA,
                share,
                samples,
                HULL,
            )
    for tie in (0.0, 0.3):
        share = judging.false_decisions(
            0.5, tie, 500, samples, int(rng.integers(2**32))
        )
        yield Row(
            "sequential sign test",
            f"500 queries, {tie:.0%} ties",
            ALPHA,
            share,
            samples,
            STOPPING,
        )
    share = judging.false_decisions_of_any(
        17, 250, samples // 4, int(rng.integers(2**32))
    )
    yield Row(
        "sequential sign test: any pair",
        "17 equal runs, 250 queries",
        ALPHA,
        share,
        samples // 4,
        STOPPING,
    )
    for queries in (10, 50):
        for width in (
            0.0,
            0.1,
        ):  # the truth lies at the end of the bounds, where it is held least
            x = differences(rng, (samples, queries))
            yield _bounds(
                x,
                width * rng.random(x.shape) * 2,
                0.0,
                f"{queries} queries, {width:g} wide, truth at an end",
                FEW,
            )
        x = preferences(rng, (samples, queries), 0.9, 0.1)  # as a binary measure
        yield _bounds(
            x, np.zeros(x.shape), 0.9, f"{queries} queries, of 0 and 1, mean 0.9", ENDS
        )


def _bounds(x: Floats, width: Floats, truth: float, setting: str, reason: str) -> Row:
    """Of means between ``x`` and ``x + width``, judged as ``x``: the hull with the interval of t."""
    low, high = imbens_manski(x, x + width, ALPHA)
    table = SignificanceTest("t").of_pairs(x)
    holds = (np.minimum(low, table.low) <= truth) & (
        truth <= np.maximum(high, table.high)
    )
    return covers("bounds of judgments: interval", setting, holds, reason)


def parts(samples: int, rng: Generator) -> Iterator[Row]:
    """Whether differences are the same in groups of queries, or on collections; and the difference on one more collection."""
    for what, sizes in {
        "2 parts of 8 and 30": [8, 30],
        "8 parts of 10 to 100": [10, 10, 10, 20, 30, 50, 70, 100],
    }.items():
        for kind, draw in (
            ("heavy tails and ties", differences),
            (
                "skewed, mostly 0",
                lambda rng, shape: (
                    rng.exponential(size=shape) * (rng.random(shape) < 0.3)
                ),
            ),
        ):
            p = sig.heterogeneity([draw(rng, (samples, size)) for size in sizes])[1]
            yield false(
                "differences are the same in all parts (groups, collections)",
                f"{what} queries, {kind}",
                p <= ALPHA,
                FEW,
            )
    for collections, queries, between in (
        (3, 50, 0.03),
        (8, 50, 0.03),
        (8, 10, 0.03),
        (8, 50, 0.1),
    ):
        yield from _random_effects(samples, rng, collections, queries, between)


def four_and_five_collections(samples: int, rng: Generator) -> Iterator[Row]:
    """Random effects over 4 and 5 collections, which differ little or much."""
    for collections in (4, 5):
        for queries in (10, 50):
            for between in (0.03, 0.2):
                yield from _random_effects(samples, rng, collections, queries, between)


def _random_effects(
    samples: int, rng: Generator, collections: int, queries: int, between: float
) -> Iterator[Row]:
    """Random effects of normal differences, and of those that are mostly 0 and skewed."""
    truth = rng.normal(0.05, between, (samples, collections + 1))
    for kind in ("normal", "mostly 0, skewed"):
        if kind == "normal":
            x = truth[:, :-1, None] + rng.normal(
                0, 0.15, (samples, collections, queries)
            )
            real = truth[:, -1], np.full(samples, 0.05)
        else:
            share = np.clip(truth, 0.002, None) / 0.3
            x = rng.random((samples, collections, queries)) < share[:, :-1, None]
            x = x * rng.exponential(0.3, x.shape)
            real = (
                0.3 * share[:, -1],
                np.full(
                    samples,
                    0.3
                    * np.clip(rng.normal(0.05, between, 10**6), 0.002, None).mean()
                    / 0.3,
                ),
            )
        found = inference.random_effects(
            x.mean(axis=2), x.var(axis=2, ddof=1) / queries
        )
        setting = f"{collections} x {queries} queries, {kind}, differing by {between:g}"
        holds = (found.effect_low <= real[1]) & (real[1] <= found.effect_high)
        yield replace(
            covers("random effects: mean", setting, holds, FEW_COLLECTIONS),
            instead=MORE_COLLECTIONS,
        )
        holds = (found.next_low <= real[0]) & (real[0] <= found.next_high)
        yield replace(
            covers("random effects: next collection", setting, holds, NEXT),
            instead=MORE_COLLECTIONS,
        )


def few_units(samples: int, rng: Generator) -> Iterator[Row]:
    """What few queries, groups or collections, or rare and small differences, make of verdicts."""
    for sizes in ([10], [25], [50], [5] * 5, [10] * 5):
        kept, ranked = [], []
        for sample in range(samples):
            ease = [0.2 * rng.beta(0.9, 2.1, size=queries) for queries in sizes]
            x = [one + rng.normal(0, 0.02, (6, len(one))) for one in ease]
            for one in x:
                one[:-1] += 0.072
                one[-1] += 0.8 * (rng.random(one.shape[1]) < 0.1)
            found = sig.studentised_deviations(x, draws=sig.Resampled(499, sample))
            kept.append(sig.best_set(found)[-1] > ALPHA)
            ranked.append(sig.rank_intervals(found)[0][-1] == 1)
        setting = f"{len(sizes)} x {sizes[0]} queries, 6 runs, the best one gains 0.8 on a tenth of the queries"
        yield replace(
            covers("best set: the best run is kept", setting, np.array(kept), JOINT),
            instead=MORE_QUERIES,
        )
        row = covers(
            "rank intervals: true ranks of all runs", setting, np.array(ranked), JOINT
        )
        yield replace(row, instead=MORE_QUERIES)
    for queries in (10, 50):
        x = rng.normal(0, 0.1, (samples, queries))
        planned, truth = (
            sig.queries_for_margin(x, 0.05),
            27,
        )  # one-sided, the t-test finds an effect of 1/2 with 27
        right = (planned.low <= truth) & (truth <= planned.high)
        yield covers("queries for a margin", f"from {queries} queries", right, WHOLE)
    x = differences(rng, (samples, 3, 48)) - differences(rng, (samples, 1, 48))
    p = SignificanceTest("t").of_pairs(x.reshape(-1, 12)).p.reshape(samples, -1)
    said = np.array([sig.corrected(row, "holm", ALPHA)[1].any() for row in p])
    yield false(
        "in groups of queries: any better or worse",
        "3 equal rivals, 4 groups of 12 queries",
        said,
        FAMILY,
    )
    share = judging.coverage(0.8, 10, 500, 0.05, 2 * samples, int(rng.integers(2**32)))
    yield Row(
        "prediction-powered difference",
        "10 of 500 queries, biased judge, rho 0.8",
        1 - ALPHA,
        share,
        2 * samples,
    )
    for collections in (8, 15):
        said = [
            inference.friedman(rng.normal(size=(collections, 5)))[1] <= ALPHA
            for _ in range(samples)
        ]
        yield false(
            "Friedman: p at most 0.05",
            f"{collections} collections, 5 equal runs",
            np.array(said),
            FEW_COLLECTIONS,
        )
    skewed = [
        (rng.exponential(size=(samples, size)) - 1) * scale
        for size, scale in ((8, 3), (30, 1))
    ]
    row = false(
        "differences are the same in all parts (groups, collections)",
        "2 parts of 8 and 30 queries, skewed, of 9 times the variance on the 8",
        sig.heterogeneity(skewed)[1] <= ALPHA,
    )
    yield replace(row, instead="take parts of 25 queries or more")
    for loss, n_queries in (
        (0.2, 50),
        (0.15, 50),
        (0.1, 50),
        (0.15, 100),
        (0.1, 100),
        (0.1, 200),
    ):
        found = stopped(20, loss, samples, n_queries, rng, counted=True)["release"]
        statement = "gate with a ledger and a release: the loss is found"
        setting = (
            f"20 commits that each lose {loss:g} standard deviations of a commit's differences, "
            f"{n_queries} queries"
        )
        row = Row(statement, setting, 0.8, found, samples, instead=MORE_QUERIES)
        yield replace(row, reached=True)


def predicted_values(samples: int, rng: Generator) -> Iterator[Row]:
    """Prediction-powered differences and margins of values, by a judge that favours one run."""
    for human, queries in ((30, 200), (50, 500)):
        setting, seed = (
            f"values, {human} of {queries} queries",
            int(rng.integers(2**32)),
        )
        share = judging.coverage_of_values(human, queries, samples, seed)["coverage"]
        yield Row("prediction-powered difference", setting, 1 - ALPHA, share, samples)
        for rare, kind in ((False, ""), (True, ", gains on a tenth of the queries")):
            share = judging.false_margin_verdicts(
                human, queries, samples, seed, rare=rare
            )
            setting = (
                f"values, {human} of {queries} queries, true loss the margin{kind}"
            )
            yield Row(
                "prediction-powered: not worse",
                setting,
                ALPHA,
                share,
                samples,
                FEW,
                instead=MORE_QUERIES,
            )


def studies(samples: int, rng: Generator) -> Iterator[Row]:
    """Intervals and p of studies of missing labels: agreement of decisions, over queries and groups of runs together."""
    for groups, queries in ((10, 50), (20, 100)):
        a, b = np.triu_indices(groups, 1)
        right, said = [], []
        for sample in range(max(1, samples // 2)):
            resampler = np.random.default_rng(sample)
            draws = [
                sample_and_draws(resampler, size, 399) for size in (groups, queries)
            ]
            names = [str(group) for group in range(groups)]
            two_way = TwoWay(names, np.arange(groups), np.stack([a, b], axis=1), *draws)
            of_run, of_query = (
                0.5 * rng.normal(size=(2, groups)),
                0.5 * rng.normal(size=(2, 1, queries)),
            )
            noise = rng.normal(size=(2, len(a), queries))
            agrees = [
                r[a, None] + r[b, None] + q + e < 1
                for r, q, e in zip(of_run, of_query, noise, strict=True)
            ]
            ratios = [
                two_way.ratio(one.astype(float), np.ones(one.shape)) for one in agrees
            ]
            _, low, high = percentile_interval(ratios[0], ALPHA)
            truth = stats.norm.cdf(1 / np.sqrt(1 + 3 * 0.25))
            right.append(low <= truth <= high)
            said.append(share_beyond_zero(ratios[0] - ratios[1]) <= ALPHA)
        setting = f"{groups} groups of runs, {queries} queries"
        row = covers("missing labels: agreement", setting, np.array(right), FEW)
        yield replace(row, instead=ROUGH)
        row = false(
            "missing labels: p of a contrast",
            f"{setting}, equal measures",
            np.array(said),
            FEW,
        )
        yield replace(row, instead=ROUGH)


TABLE: list[Callable[[int, Generator], Iterator[Row]]] = [
    means,
    tests,
    zeros,
    margins,
    looks,
    rivals,
    effects,
    clusters,
    best,
    many_collections,
    replicability,
    unequal_replicability,
    missing_judgments,
    parts,
    four_and_five_collections,
    few_units,
    predicted_values,
    studies,
    seeds,
    planned_seeds,
    more_seeds,
    samples_of_queries,
    benchmark_seeds,
    benchmark_seed_ranks,
    leaderboards,
    criteria,
    *REAL,
]


# -- output ----------------------------------------------------------------------------------------


def page(rows: Sequence[Row], earlier: Path | None = None) -> str:
    """Return the table as reStructuredText.

    Args:
        rows: as they were measured.
        earlier: a table whose further rows stay; each function has random numbers of its own, so
            that parts give what one run gives.
    """
    lines: dict[tuple[str, str], PrintedRow] = {}
    if earlier is not None:
        text = earlier.read_text(encoding="utf-8").split("\n\n", 1)[1]
        for line in csv.reader(part.strip() for part in text.splitlines()):
            lines[line[0], line[1]] = PrintedRow(*line)
    for r in rows:
        worst = "" if r.worst is None else f"{r.worst:.3f}"
        level, share = f"{r.level:.2f}", f"{r.share:.3f}"
        line = PrintedRow(r.statement, r.setting, level, share, worst, r.remark)
        lines[r.statement, r.setting] = line
    text = io.StringIO()
    printed_rows = map(astuple, advised([*lines.values()]))
    csv.writer(text, lineterminator="\n").writerows(printed_rows)
    head = [
        ".. csv-table::",
        "   :header: Statement, Setting, Nominal, Measured, Worst pair, Remark",
        "   :widths: 26 36 8 8 8 24",
        "",
    ]
    return (
        "\n".join([*head, *(f"   {line}" for line in text.getvalue().splitlines())])
        + "\n"
    )


def record_of(
    simulate: Callable[[int, Generator], Iterator[Row]],
    samples: int,
    folder: Path | None,
) -> Record:
    """Return the record of a function, read from the folder if it has as many samples there."""
    path = None if folder is None else folder / f"{simulate.__name__}.json"
    if path is not None and path.exists():
        record = Record.read(path)
        if record.samples == samples:
            return record
    record = Record.measured(simulate, samples)
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        record.write(path)
    return record


@dataclass(frozen=True)
class Record:
    """The rows of a function of ``TABLE``, as they were measured.

    Attributes:
        rows: the rows.
        samples: simulations that were asked for.
        date: day of the measurement.
        seconds: CPU time.
    """

    rows: list[Row]
    samples: int
    date: str
    seconds: float

    @classmethod
    def measured(
        cls, simulate: Callable[[int, Generator], Iterator[Row]], samples: int
    ) -> Record:
        """Return the rows of a function, which it prints meanwhile."""
        start = time.process_time()
        rows = [printed(row) for row in simulate(samples, np.random.default_rng(1))]
        today = datetime.now(UTC).date().isoformat()
        return cls(rows, samples, today, round(time.process_time() - start, 1))

    @classmethod
    def read(cls, path: Path) -> Record:
        """Return the record in a file."""
        content = json.loads(path.read_text(encoding="utf-8"))
        return cls(**content | {"rows": [Row(**row) for row in content["rows"]]})

    def write(self, path: Path) -> None:
        """Write the record; an interrupted run leaves no half of it."""
        part = path.with_suffix(".part")
        part.write_text(json.dumps(asdict(self), indent=1), encoding="utf-8")
        part.replace(path)


def printed(row: Row) -> Row:
    """Print a row and return it."""
    worst = "" if row.worst is None else f"{row.worst:.3f}"
    print(
        f"{row.statement:45} {row.setting:55} {row.level:.2f} {row.share:.3f} {worst:5} {row.remark}",
        flush=True,
    )
    return row


def main() -> int:
    """Print the rows, and write the page; 1 if any row is off."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--samples", type=int, default=2000, help="simulations a row (default: 2000)"
    )
    parser.add_argument(
        "--only",
        default="",
        help="functions of TABLE whose name holds this; other rows of --page stay",
    )
    parser.add_argument(
        "--records",
        type=Path,
        help="folder of what is measured already, and of what will be",
    )
    parser.add_argument("--page", type=Path, help="file to write the table to")
    options = parser.parse_args()
    rows = []
    for simulate in TABLE:
        if options.only in simulate.__name__:
            rows += record_of(simulate, options.samples, options.records).rows
    if options.page:
        earlier = options.page if options.only and options.page.exists() else None
        options.page.write_text(page(rows, earlier), encoding="utf-8")
    return any(row.remark in ("off", "off for some pairs") for row in rows)


if __name__ == "__main__":
    sys.exit(main())
