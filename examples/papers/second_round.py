"""The second declaration: five contrasts that the first confirmation suggests, and how they are tested.

Declared before any further collection is looked at. `missing_labels.py --confirm` runs them. What
was unsound in the first round is different here:

- The pool is formed again in every resample of teams, by runs of teams that were drawn.
- Nothing is concluded where fewer than 20% of the labels are missing.
- Both sides of a contrast are tested alike: AP by the sign test, too.
- Broken runs are left out by a rule, and named.
- How collections combine is declared: a random-effects mean over at least three of them.
- Monte Carlo errors of both bounds are reported, and verdicts that they could change are marked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from label_loss import (
    Estimate,
    Systems,
    differences,
    first_of_each,
    pool_depth,
    simultaneous,
)
from scipy import stats

from ir_lexirecall._util.arrays import Bools, Floats, Ints
from ir_lexirecall.meta import Study
from ir_lexirecall.meta.missing_labels import without_labels
from ir_lexirecall.significance.over_collections import random_effects

DEPTH = 10  # of the pools
FEW = 5  # runs that form a small pool
LEAST_TEAMS = 10
LEAST_MISSING = 0.2  # share of the labels below which nothing is concluded
LEAST_COLLECTIONS = 3
CONCLUSION = 0.01
LEVEL = 0.05
BATCHES = 10  # of resamples, for the Monte Carlo error of bounds
QUERY_DRAWS = 50  # of queries for each draw of teams
POOL_DRAWS = 4  # whose mean a resample takes; what the draws of one pool add makes intervals wider
MEASURES = ["lexirecall", "AP"]

POOLS = {
    "few": f"a pool of depth {DEPTH} of {FEW} runs, one of each of {FEW} teams",
    "all": f"a pool of depth {DEPTH} of one run of each team",
    "random": f"labels missing at random, as many of every query as a pool of depth {DEPTH} of one run "
    "of each team lacks",
}
TOPICS = {
    "all": "all queries",
    "fewest": "the third of the queries with the fewest relevant documents",
    "most": "the third with the most",
}
Key = tuple[str, str, str, str]  # outcome, pool, measure, topics


@dataclass(frozen=True)
class Contrast:
    """A difference between lexirecall and AP, its direction, and the smallest effect that matters.

    Attributes:
        outcome: `decided` (decisions kept) or `lost` (conclusions lost, by the sign test).
        pool: one of `POOLS`.
        topics: one of `TOPICS`.
        than: pool and topics whose difference is subtracted; None for a comparison with 0.
        direction: 1 for more, -1 for less.
        least: the smallest effect that matters.
    """

    outcome: str
    pool: str
    direction: int
    least: float
    topics: str = "all"
    than: tuple[str, str] | None = None

    def __str__(self) -> str:
        outcome = {"decided": "decisions kept", "lost": "conclusions lost (sign test)"}
        text = f"{outcome[self.outcome]}, {POOLS[self.pool]}"
        if self.topics != "all":
            text += f", {TOPICS[self.topics]}"
        if self.than is None:
            other = "0"
        elif self.than[0] == self.pool:
            other = f"on {TOPICS[self.than[1]]}"
        else:
            other = f"with {POOLS[self.than[0]]}"
        word = "less" if self.direction < 0 else "more"
        return f"{text}: lexirecall - AP is {word} than {other}, by {self.least:g} at least"

    def of(self, shares: Mapping[Key, Floats]) -> Floats:
        """Return the contrast in all resamples."""
        value = _advantage(shares, self.outcome, self.pool, self.topics)
        if self.than is None:
            return value
        return value - _advantage(shares, self.outcome, *self.than)

    def verdict(self, estimate: Estimate) -> str:
        """Return whether the contrast holds, fails, or cannot be decided.

        It holds if the whole interval is beyond 0 and the estimate reaches the least effect, and
        is shown if the whole interval reaches it. It fails if the whole interval is short of it.
        """
        low, high = sorted(
            (self.direction * estimate.low, self.direction * estimate.high)
        )
        if not np.isfinite([low, high]).all():
            return "cannot tell"
        if low >= self.least:
            return "shown"
        if low > 0 and self.direction * estimate.value >= self.least:
            return "holds"
        return "fails" if high < self.least else "cannot tell"


def _advantage(
    shares: Mapping[Key, Floats], outcome: str, pool: str, topics: str
) -> Floats:
    """Return the share of lexirecall less that of AP, in all resamples."""
    return (
        shares[outcome, pool, "lexirecall", topics]
        - shares[outcome, pool, "AP", topics]
    )


SECOND = [
    Contrast("decided", "few", -1, 0.03),
    Contrast("decided", "few", -1, 0.02, than=("all", "all")),
    Contrast("decided", "few", -1, 0.02, topics="fewest", than=("few", "most")),
    Contrast("decided", "random", 1, 0.02),
    Contrast("lost", "few", 1, 0.05),
]


# -- runs and pools --------------------------------------------------------------------------------


def without_broken(systems: Systems) -> tuple[Systems, list[str]]:
    """Leave out broken runs, and name them.

    A run is broken if its mean AP is below a tenth of that of the median run, or if its median
    ranking is less than half as long as that of the median run.
    """
    study = Study(["AP"], systems.judgments, systems.runs, progress=False)
    means = dict(zip(study.names, study.values("AP").mean(axis=1), strict=True))
    depths = {name: np.median(run.depth) for name, run in systems.runs.items()}
    least_mean = 0.1 * np.median(list(means.values()))
    least_depth = 0.5 * np.median(list(depths.values()))
    broken = [
        name
        for name in systems.runs
        if means[name] < least_mean or depths[name] < least_depth
    ]
    runs = {name: run for name, run in systems.runs.items() if name not in broken}
    groups = {name: systems.groups[name] for name in runs}
    return replace(systems, runs=runs, groups=groups), broken


def draw_pools(
    systems: Systems, teams: Mapping[str, list[str]], rng: np.random.Generator
) -> Iterator[tuple[str, Bools]]:
    """Yield each pool with the labels that are missing when some teams form it.

    Args:
        systems: judgments and runs.
        teams: the runs of each team that was drawn.
        rng: draws the runs of the pools, and the labels that are missing at random.
    """
    judgments = systems.judgments
    relevant = judgments.grade >= judgments.threshold
    one_run_each = [str(rng.choice(runs)) for runs in teams.values()]
    few = rng.permutation(one_run_each)[:FEW]
    yield "few", relevant & (pool_depth(systems, few.tolist()) > DEPTH)
    missing = relevant & (pool_depth(systems, one_run_each) > DEPTH)
    yield "all", missing
    count = np.bincount(judgments.query[missing], minlength=len(judgments))
    anywhere = np.zeros(len(relevant))
    yield "random", first_of_each(judgments, relevant, count, anywhere, rng)


def runs_of_teams(groups: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the runs of each team, in order."""
    teams: dict[str, list[str]] = {}
    for run, team in groups.items():
        teams.setdefault(team, []).append(run)
    return teams


# -- what is kept and lost -------------------------------------------------------------------------


def least_wins(queries: int, level: float = CONCLUSION) -> Ints:
    """Return how many of n wins and losses must be wins for a significant two-sided sign test.

    The n-th number is for n decided queries; n + 1 if no number of wins suffices.

    >>> least_wins(10)[[5, 8, 10]]
    array([ 6,  8, 10])
    """
    result = np.empty(queries + 1, dtype=np.int64)
    for n in range(queries + 1):
        p = 2 * stats.binom.sf(np.arange(n + 1) - 1, n, 0.5)
        is_significant = np.flatnonzero(p < level)
        result[n] = is_significant[0] if len(is_significant) else n + 1
    return result


def concluded_by_sign(
    signs: np.ndarray, query_weight: Floats, critical: Ints
) -> np.ndarray:
    """Return which run of each pair is significantly better, 1, -1 or 0, in resamples of queries.

    Args:
        signs: of each pair and query, shape `(P, Q)`.
        query_weight: how often each query is drawn, shape `(B, Q)`.
        critical: see `least_wins`.

    Returns:
        Shape `(P, B)`.
    """
    wins = (signs > 0).astype(np.float64) @ query_weight.T
    losses = (signs < 0).astype(np.float64) @ query_weight.T
    needed = critical[np.rint(wins + losses).astype(np.int64)]
    return (wins >= needed).astype(np.int8) - (losses >= needed).astype(np.int8)


@dataclass(frozen=True)
class Resample:
    """A draw of teams, with draws of queries for it.

    Attributes:
        teams: the runs of each team that was drawn.
        pair_weight: how often each pair of runs is drawn, shape `(P,)`.
        query_weight: how often each query is drawn, shape `(B, Q)`.
    """

    teams: dict[str, list[str]]
    pair_weight: Floats
    query_weight: Floats


def outcomes(
    before: np.ndarray,
    after: np.ndarray,
    resample: Resample,
    topics: Mapping[str, Bools],
) -> dict[tuple[str, str], Floats]:
    """Return shares of decisions kept and conclusions lost, by outcome and topics, shape `(B,)`."""
    weight, queries = resample.pair_weight, resample.query_weight
    decided = weight @ (before != 0)
    kept = weight @ ((before != 0) & (before == after))
    result = {}
    for name, chosen in topics.items():
        within = queries * chosen
        result["decided", name] = _share(within @ kept, within @ decided)
    critical = least_wins(int(queries.sum(axis=1).max()))
    earlier = concluded_by_sign(before, queries, critical)
    later = concluded_by_sign(after, queries, critical)
    lost = weight @ ((earlier != 0) & (later == 0))
    result["lost", "all"] = _share(lost, weight @ (earlier != 0))
    return result


def _share(part: Floats, whole: Floats) -> Floats:
    """Return `part / whole`, not a number where `whole` is 0."""
    return np.divide(part, whole, out=np.full(len(part), np.nan), where=whole > 0)


def thirds(m: Ints) -> dict[str, Bools]:
    """Return which queries belong to each of `TOPICS`, by their relevant documents."""
    order, third = np.argsort(m, kind="stable"), len(m) // 3
    fewest, most = (np.zeros(len(m), dtype=bool) for _ in range(2))
    fewest[order[:third]] = True
    most[order[len(m) - third :]] = True
    return {"all": np.ones(len(m), dtype=bool), "fewest": fewest, "most": most}


# -- one collection --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Shares:
    """Shares in all resamples, the sample itself first.

    Attributes:
        shares: by outcome, pool, measure and topics.
        draws: the sample's own value for each draw of pools.
        missing: share of the labels that are missing, by pool.
        units: the fewer of teams and queries.
        block: resamples for each draw of teams.
    """

    shares: dict[Key, Floats]
    draws: dict[Key, Floats]
    missing: dict[str, float]
    units: int
    block: int


class Tester:
    """Decisions of all pairs of runs with all labels, compared with those from fewer labels."""

    def __init__(self, systems: Systems, seed: int = 0) -> None:
        self.systems = systems
        self.study = Study(MEASURES, systems.judgments, systems.runs, progress=False)
        self.queries = self.study.queries
        self.teams = runs_of_teams(systems.groups)
        self.before = {label: self.signs(self.study, label) for label in MEASURES}
        self.topics = thirds(systems.judgments.m()[self.queries])
        self.rng = np.random.default_rng(seed)

    def signs(self, study: Study, label: str) -> np.ndarray:
        """Return which run of each pair a measure prefers on each query."""
        return np.sign(differences(study, label, self.queries)).astype(np.int8)

    def sample(self) -> Resample:
        """Return the sample itself as a resample."""
        return Resample(
            self.teams,
            np.ones(len(self.study.pairs[0])),
            np.ones((1, len(self.queries))),
        )

    def draw(self) -> Resample:
        """Draw teams with replacement, and queries for them."""
        times = self.rng.multinomial(
            len(self.teams), np.full(len(self.teams), 1 / len(self.teams))
        )
        drawn = dict(zip(self.teams, times.tolist(), strict=True))
        teams = {team: runs for team, runs in self.teams.items() if drawn[team]}
        weight = np.array(
            [drawn[self.systems.groups[name]] for name in self.study.names]
        )
        number = {team: row for row, team in enumerate(self.teams)}
        team = np.array(
            [number[self.systems.groups[name]] for name in self.study.names]
        )
        a, b = self.study.pairs
        pairs = np.where(team[a] == team[b], weight[a], weight[a] * weight[b]).astype(
            np.float64
        )
        n = len(self.queries)
        queries = self.rng.multinomial(n, np.full(n, 1 / n), size=QUERY_DRAWS)
        return Resample(teams, pairs, queries.astype(np.float64))

    def shares(self, resample: Resample) -> tuple[dict[Key, Floats], dict[str, float]]:
        """Return the shares of a resample, and how many labels each of its pools misses."""
        shares, missing = {}, {}
        total = self.systems.judgments.m().sum()
        for pool, removed in draw_pools(self.systems, resample.teams, self.rng):
            missing[pool] = float(removed.sum() / total)
            fewer = self.study.with_judgments(
                without_labels(self.systems.judgments, removed)
            )
            for label, before in self.before.items():
                result = outcomes(
                    before, self.signs(fewer, label), resample, self.topics
                )
                for (outcome, topics), share in result.items():
                    shares[outcome, pool, label, topics] = share
        return shares, missing

    def mean_shares(self, resample: Resample) -> dict[Key, Floats]:
        """Return means of the shares of a resample over draws of its pools."""
        several = [self.shares(resample)[0] for _ in range(POOL_DRAWS)]
        return {
            key: np.mean([shares[key] for shares in several], axis=0)
            for key in several[0]
        }


def shares_of(
    systems: Systems, *, samples: int = 20, blocks: int = 200, seed: int = 0
) -> Shares:
    """Estimate all shares of a collection.

    Args:
        systems: judgments and runs.
        samples: draws of pools for the sample itself.
        blocks: draws of teams; each has `QUERY_DRAWS` draws of queries.
        seed: of all draws.
    """
    tester = Tester(systems, seed)
    point = [tester.shares(tester.sample()) for _ in range(samples)]
    draws = {
        key: np.concatenate([shares[key] for shares, _ in point]) for key in point[0][0]
    }
    missing = {
        pool: float(np.mean([gone[pool] for _, gone in point])) for pool in POOLS
    }
    resampled = [tester.mean_shares(tester.draw()) for _ in range(blocks)]
    shares = {
        key: _recentred(float(np.mean(values)), [block[key] for block in resampled])
        for key, values in draws.items()
    }
    units = min(len(tester.teams), len(tester.queries))
    return Shares(shares, draws, missing, units, QUERY_DRAWS)


def _recentred(point: float, resampled: list[Floats]) -> Floats:
    """Return the sample's value and those of the resamples, moved to have it as their mean.

    A resample has fewer teams than the sample, so its pools are smaller and its mean is another.
    """
    drawn = np.concatenate(resampled)
    return np.r_[point, drawn - np.nanmean(drawn) + point]


def skipped(contrast: Contrast, systems: Systems, result: Shares | None) -> str:
    """Return why a contrast is not tested on a collection; empty if it is."""
    teams = len(set(systems.groups.values()))
    if teams < LEAST_TEAMS:
        return f"there are {teams} teams, fewer than {LEAST_TEAMS}"
    if systems.depth <= DEPTH:
        return f"the runs are not deeper than {DEPTH}"
    if result is not None and result.missing[contrast.pool] < LEAST_MISSING:
        share = result.missing[contrast.pool]
        return f"{share:.0%} of the labels are missing, less than {LEAST_MISSING:.0%}"
    return ""


def confirm(
    systems: Systems, *, samples: int = 20, blocks: int = 200
) -> dict[str, Any]:
    """Test the second declaration on a collection; return plain values for the record."""
    systems, broken = without_broken(systems)
    can_be_tested = not skipped(SECOND[0], systems, None)
    result = (
        shares_of(systems, samples=samples, blocks=blocks) if can_be_tested else None
    )
    rows = [
        {
            "contrast": str(contrast),
            "verdict": "skipped",
            "why": skipped(contrast, systems, result),
        }
        for contrast in SECOND
    ]
    if result is not None:
        chosen = [i for i, row in enumerate(rows) if not row["why"]]
        for i, row in zip(
            chosen, _rows([SECOND[i] for i in chosen], result), strict=True
        ):
            rows[i] = row
    return {
        "told": systems.told(),
        "broken": broken,
        "missing": {} if result is None else result.missing,
        "sizes": {"samples": samples, "n_resamples": blocks * QUERY_DRAWS},
        "rows": rows,
    }


def _rows(contrasts: Sequence[Contrast], result: Shares) -> list[dict[str, Any]]:
    """Return the verdicts on contrasts with simultaneous intervals and what could change them."""
    if not contrasts:
        return []
    values = [contrast.of(result.shares) for contrast in contrasts]
    estimates = simultaneous(values, result.units)
    bounds = monte_carlo_errors(values, result.units, result.block)
    rows = []
    for contrast, estimate, value, bound in zip(
        contrasts, estimates, values, bounds, strict=True
    ):
        draws = contrast.of(result.draws)
        error = (
            float(np.std(draws, ddof=1) / np.sqrt(len(draws)))
            if len(draws) > 1
            else np.inf
        )
        is_unsure = estimate.depends_on_draws(contrast.verdict, error)
        is_unsure |= _depends_on_bounds(contrast, estimate, bound)
        rows.append(
            {
                "contrast": str(contrast),
                "verdict": contrast.verdict(estimate),
                **vars(estimate),
            }
            | {"missing": result.missing[contrast.pool], "error": error}
            | {"low_error": bound[0], "high_error": bound[1], "could_change": is_unsure}
            | {
                "variance": float(
                    np.nanvar(value[1:]) * result.units / (result.units - 1)
                )
            }
        )
    return rows


def monte_carlo_errors(
    values: Sequence[Floats], units: int, block: int
) -> list[tuple[float, float]]:
    """Return the standard errors of both bounds that are due to the number of resamples.

    The resamples are parted into batches of whole draws of teams, and bounds computed from each.
    """
    blocks = (len(values[0]) - 1) // block
    batches = np.array_split(np.arange(blocks), min(BATCHES, blocks))
    if len(batches) < 2:
        return [(np.inf, np.inf)] * len(values)
    bounds = []
    for batch in batches:
        row = 1 + (batch[:, None] * block + np.arange(block)).ravel()
        parts = [np.r_[value[0], value[row]] for value in values]
        bounds.append([(part.low, part.high) for part in simultaneous(parts, units)])
    errors = np.std(bounds, axis=0, ddof=1) / np.sqrt(len(batches))
    return [(float(low), float(high)) for low, high in errors]


def _depends_on_bounds(
    contrast: Contrast, estimate: Estimate, errors: tuple[float, float]
) -> bool:
    """Return whether two Monte Carlo errors of a bound could change the verdict."""
    if not np.isfinite(errors).all():
        return True
    shifted = [
        Estimate(
            estimate.value,
            estimate.low + 2 * a * errors[0],
            estimate.high + 2 * b * errors[1],
        )
        for a in (-1, 1)
        for b in (-1, 1)
    ]
    return any(
        contrast.verdict(moved) != contrast.verdict(estimate) for moved in shifted
    )


# -- over collections ------------------------------------------------------------------------------


def combined(several: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return what each contrast comes to over collections, by the declared rule.

    A random-effects mean in which collections weigh equally, with an interval at a level shared
    equally among the contrasts; the verdict is that of the interval. At least three collections
    must test a contrast.
    """
    rows = []
    for number, contrast in enumerate(SECOND):
        of_contrast = [found["rows"][number] for found in several.values()]
        estimates = [row for row in of_contrast if "value" in row]
        row = {"contrast": str(contrast), "collections": len(estimates)}
        if len(estimates) < LEAST_COLLECTIONS:
            rows.append(row | {"verdict": f"needs {LEAST_COLLECTIONS} collections"})
            continue
        effect = np.array([[row["value"] for row in estimates]])
        variance = np.array([[row["variance"] for row in estimates]])
        model = random_effects(effect, variance, LEVEL / len(SECOND))
        estimate = Estimate(
            float(model.effect[0]),
            float(model.effect_low[0]),
            float(model.effect_high[0]),
        )
        rows.append(row | {"verdict": contrast.verdict(estimate), **vars(estimate)})
    return rows


# -- what is printed -------------------------------------------------------------------------------

RULES = f"""  A run is left out if its mean AP is below a tenth of the median run's, or its rankings less than half as long.
  Nothing is concluded where fewer than {LEAST_MISSING:.0%} of the labels are missing, or from fewer than {LEAST_TEAMS} teams.
  Holds: the whole interval is beyond 0, and the estimate reaches the least effect. Shown: the whole interval does.
  Fails: the whole interval is short of the least effect.
  Confirmed is what holds or is shown in a random-effects mean over at least {LEAST_COLLECTIONS} collections,
  whose interval has level 1 - {LEVEL:g}/{len(SECOND)}; refuted is what fails there."""


def tell_declared() -> None:
    """Print the contrasts and the rules."""
    for number, contrast in enumerate(SECOND, start=1):
        print(f"  {number}. {contrast}")
    print(RULES)


def tell(found: Mapping[str, Any]) -> None:
    """Print the verdicts on a collection."""
    sizes = found["sizes"]
    print(
        f"\n{found['told']}; draws of pools: {sizes['samples']}, resamples: {sizes['n_resamples']:,}"
    )
    if found["broken"]:
        print(f"  left out as broken: {', '.join(found['broken'])}")
    for number, row in enumerate(found["rows"], start=1):
        print(f"  {number}. {row['verdict']:11}  {remark_on(row)}")


def remark_on(row: Mapping[str, Any]) -> str:
    """Return the estimate of a contrast and what weakens its verdict."""
    if "value" not in row:
        return str(row.get("why", ""))
    remarks = [str(Estimate(row["value"], row["low"], row["high"]))]
    if "missing" in row:
        remarks.append(f"{row['missing']:.0%} of the labels missing")
        errors = f"{row['low_error']:.4f}, {row['high_error']:.4f}"
        remarks.append(f"Monte Carlo errors of the bounds {errors}")
    if row.get("could_change"):
        remarks.append("draws or resamples could change the verdict")
    return "; ".join(remarks)


def tell_combined(several: Mapping[str, Mapping[str, Any]]) -> None:
    """Print what the contrasts come to over collections."""
    print(f"\nOver {len(several)} collections")
    for number, row in enumerate(combined(several), start=1):
        print(f"  {number}. {row['verdict']:11}  {remark_on(row)}")
