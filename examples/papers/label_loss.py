"""Labels that pools leave out, for ``missing_labels.py``: which go, what becomes of conclusions and decisions, and contrasts of these.

A decision is which of two runs is better on a query. A conclusion is a pair of runs whose mean difference is significant (paired
Student's t, p < .01, no correction: a pair that somebody could publish). Queries and groups of runs are resampled together, once for a
collection: all cells of depth x policy x measure are estimated from the same resamples, as one saturated model, and intervals of several
contrasts are simultaneous (largest standardised deviation). Where nothing is missing there is no cell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy import stats

from ir_lexirecall._util.arrays import Bools, Floats, Ints, position_in_segment
from ir_lexirecall._util.rounding import levelled
from ir_lexirecall.data.aligned_run import AlignedRun
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.meta import Study
from ir_lexirecall.meta.missing_labels import TwoWay, without_labels

MEASURES = ["lexirecall", "AP", "nDCG", "nDCG@10"]
DEPTHS = [10, 30, 100, 200]
POLICIES = {  # which labels are missing, at a depth
    "pool": "all that a pool of this depth of all runs lacks",
    "share": "as large a share of every query's labels as that, the deepest first",
    "random": "as many of every query as the pool lacks, at random",
    "reverse": "as many of every query, those that stand highest (a control)",
    "left out": "those that only one group ranks within this depth, each in turn; decisions of that group against others",
}
DRAWN = (
    "share",
    "random",
    "reverse",
)  # policies that draw labels, at least among equally deep ones
OUTCOMES = {
    "lost": "conclusions lost",
    "turned": "conclusions turned round",
    "decided": "decisions kept",
}
CONCLUSION = 0.01
LEVEL = 0.05
_NEVER = np.iinfo(np.int64).max
_BLOCK = 2**23


@dataclass(frozen=True)
class Systems:
    """Judgments, and aligned runs with the group that made each.

    Attributes:
        kind: how the labels came about.
    """

    name: str
    kind: str
    judgments: Judgments
    runs: dict[str, AlignedRun]
    groups: dict[str, str]

    @property
    def depth(self) -> int:
        """Documents per ranking, in the middle of all rankings."""
        return int(np.median([np.median(run.depth) for run in self.runs.values()]))

    def told(self) -> str:
        """What this is, in one line."""
        m = int(self.judgments.m().sum())
        return f"{self.name}: {len(self.judgments)} queries, {m} relevant documents, {len(self.runs)} runs of {len(set(self.groups.values()))} groups, depth {self.depth}; {self.kind}"


def pool_depth(systems: Systems, runs: Iterable[str] | None = None) -> Ints:
    """The smallest rank that any run (of some) gives each judged document; the largest integer where none has it."""
    depth: Ints = np.full(len(systems.judgments.grade), _NEVER, dtype=np.int64)
    for name in systems.runs if runs is None else runs:
        np.minimum.at(depth, systems.runs[name].doc, systems.runs[name].rank)
    return depth


def first_of_each(
    judgments: Judgments,
    relevant: Bools,
    count: Ints,
    first: Floats,
    rng: np.random.Generator,
) -> Bools:
    """So many relevant documents of each query, those with the smallest ``first``, equal ones at random."""
    rows = np.flatnonzero(relevant)
    order = rows[
        np.lexsort((rng.random(len(rows)), first[rows], judgments.query[rows]))
    ]
    chosen = np.zeros(len(relevant), dtype=bool)
    chosen[order] = (
        position_in_segment(judgments.query[order]) < count[judgments.query[order]]
    )
    return chosen


def missing(systems: Systems, policy: str, depth: int, samples: int) -> Iterator[Bools]:
    """Which judged documents lose their label, once or several times."""
    judgments, ranks = systems.judgments, pool_depth(systems)
    relevant = judgments.grade >= judgments.threshold
    unpooled = relevant & (ranks > depth)
    if policy == "pool":
        yield unpooled
        return
    count = np.bincount(judgments.query[unpooled], minlength=len(judgments))
    first = {"share": -ranks, "reverse": ranks, "random": np.zeros(len(ranks))}[
        policy
    ].astype(float)
    if policy == "share":
        count = np.round(judgments.m() * unpooled.sum() / relevant.sum()).astype(
            np.int64
        )
    rng = np.random.default_rng(depth)
    for _ in range(samples):
        yield first_of_each(judgments, relevant, count, first, rng)


def differences(study: Study, label: str, queries: Ints) -> Floats:
    """Differences of a measure, or preferences, of all pairs of runs on some queries, shape ``(P, Q)``."""
    a, b = study.pairs
    out = np.zeros((len(a), len(queries)))
    if label == "lexirecall":
        out[:, np.isin(queries, study.queries)] = study.signs(label)
        return out
    values = levelled(study.values(label))
    out[:, np.isin(queries, study.queries)] = values[a] - values[b]
    return out


def concluded(x: Floats, resamples: TwoWay) -> np.ndarray:
    """Whose mean difference is significant, 1, -1 or 0, in every resample of the queries; shape ``(B + 1, P)``."""
    n = x.shape[1]
    result = np.empty((len(resamples.query_weight), len(x)), dtype=np.int8)
    step = max(1, _BLOCK // len(x))
    for start in range(0, len(result), step):
        weight = resamples.query_weight[start : start + step]
        mean, square = weight @ x.T / n, weight @ (x**2).T / n
        error = np.sqrt(np.maximum(square - mean**2, 0) / (n - 1))
        clear = np.abs(mean) > stats.t.ppf(1 - CONCLUSION / 2, n - 1) * error + 1e-12
        result[start : start + step] = np.sign(mean) * clear
    return result


@dataclass
class Cell:
    """What becomes of one measure's conclusions and decisions; shape ``(B + 1,)`` each, the sample itself first.

    Attributes:
        significant: pairs of runs with a conclusion before.
        draws: the sample's own value of each outcome for each draw of labels.
    """

    significant: int
    lost: Floats
    turned: Floats
    decided: Floats
    draws: dict[str, Floats]


@dataclass
class Lost:
    """All cells of a collection, by policy, depth and measure.

    Attributes:
        removed: share of the relevant labels that are missing, by policy and depth.
        skipped: depths that the runs do not reach.
    """

    systems: Systems
    cells: dict[tuple[str, int, str], Cell] = field(default_factory=dict)
    removed: dict[tuple[str, int], float] = field(default_factory=dict)
    skipped: list[int] = field(default_factory=list)

    def values(
        self, outcome: str, policy: str, depth: int, measure: str, minus: str = ""
    ) -> Floats:
        """An outcome in all resamples, or the difference of two measures."""
        value = getattr(self.cells[policy, depth, measure], outcome)
        return (
            value - getattr(self.cells[policy, depth, minus], outcome)
            if minus
            else value
        )

    def error(
        self, outcome: str, policy: str, depth: int, measure: str, minus: str = ""
    ) -> float:
        """Standard error of an outcome, or of a difference over the same draws, that is due to the draws of labels; of one draw, unknown."""
        draws = self.cells[policy, depth, measure].draws[outcome]
        if minus:
            draws = draws - self.cells[policy, depth, minus].draws[outcome]
        if policy not in DRAWN:
            return 0.0
        return (
            float(np.std(draws, ddof=1) / np.sqrt(len(draws)))
            if len(draws) > 1
            else np.inf
        )

    @property
    def units(self) -> int:
        """The fewer of groups and queries."""
        return min(len(set(self.systems.groups.values())), len(self.systems.judgments))

    @property
    def nothing(self) -> list[tuple[str, int]]:
        """Policies and depths by which no label is missing."""
        return [place for place, removed in self.removed.items() if removed == 0]


def study_of(
    systems: Systems,
    *,
    places: Iterable[tuple[str, int]] = tuple(
        (policy, depth) for depth in DEPTHS for policy in POLICIES
    ),
    measures: Sequence[str] = tuple(MEASURES),
    samples: int = 10,
    n_resamples: int = 1000,
    seed: int = 0,
) -> Lost:
    """Estimate the cells of a collection for some policies and depths, and some measures."""
    study = Study(list(measures), systems.judgments, systems.runs, progress=False)
    queries = study.queries
    resamples = TwoWay.draw(study, systems.groups, n_resamples, seed)
    before = {label: differences(study, label, queries) for label in measures}
    sure = {label: concluded(x, resamples) for label, x in before.items()}
    weight = _pair_weights(resamples)
    result = Lost(systems)
    for policy, depth in places:
        if depth >= systems.depth:
            if depth not in result.skipped:
                result.skipped.append(depth)
            continue
        if policy == "left out":
            _leave_out(result, study, resamples, weight, depth)
            continue
        counted: dict[str, list[Floats]] = {label: [] for label in measures}
        for removed in missing(systems, policy, depth, samples):
            result.removed[policy, depth] = float(
                removed.sum() / systems.judgments.m().sum()
            )
            if not removed.any():
                break
            fewer = study.with_judgments(without_labels(systems.judgments, removed))
            for label, x in before.items():
                after = differences(fewer, label, queries)
                still = concluded(after, resamples)
                counted[label].append(
                    _counts(x, after, sure[label], still, resamples, weight)
                )
        if result.removed[policy, depth]:
            for label, several in counted.items():
                result.cells[policy, depth, label] = _cell(several)
    return result


def _pair_weights(resamples: TwoWay) -> Floats:
    """How often each pair of runs is drawn: as often as both groups, or as the one group of both; shape ``(B + 1, P)``."""
    first, second = resamples.of_pair.T
    a, b = resamples.group_weight[:, first], resamples.group_weight[:, second]
    return np.where(first == second, a, a * b)


def _counts(
    x: Floats,
    after: Floats,
    sure: np.ndarray,
    still: np.ndarray,
    resamples: TwoWay,
    weight: Floats,
) -> Floats:
    """Conclusions, those lost and those turned round; decisions, and those kept; in all resamples, shape ``(5, B + 1)``."""
    open_ = x != 0
    kept = open_ & (np.sign(x) == np.sign(after))
    conclusions = [sure != 0, (sure != 0) & (still == 0), sure * still == -1]
    return np.stack(
        [np.einsum("bp,bp->b", weight, some.astype(np.float64)) for some in conclusions]
        + [
            ((weight @ some.astype(np.float64)) * resamples.query_weight).sum(axis=1)
            for some in (open_, kept)
        ]
    )


def _cell(several: list[Floats]) -> Cell:
    """Shares, means over the draws of labels, from what was counted in each."""
    with np.errstate(invalid="ignore", divide="ignore"):
        found, lost, turned, open_, kept = np.stack(several, axis=1)
        shares = {
            "lost": lost / found,
            "turned": turned / found,
            "decided": kept / open_,
        }
    draws = {outcome: share[:, 0] for outcome, share in shares.items()}
    return Cell(
        round(found[0, 0]),
        **{outcome: share.mean(axis=0) for outcome, share in shares.items()},
        draws=draws,
    )


def _leave_out(
    result: Lost, study: Study, resamples: TwoWay, weight: Floats, depth: int
) -> None:
    """Cells of all groups, left out of the pool in turn: their decisions against others, from the pool of all to that of the others."""
    systems = result.systems
    judgments, queries = systems.judgments, study.queries
    relevant = judgments.grade >= judgments.threshold
    pooled = relevant & (pool_depth(systems) <= depth)
    full = study.with_judgments(without_labels(judgments, relevant & ~pooled))
    names = list(systems.runs)
    befores = {label: differences(full, label, queries) for label in study.labels}
    sures = {label: concluded(x, resamples) for label, x in befores.items()}
    counted = dict.fromkeys(study.labels, np.zeros((5, len(weight))))
    gone = []
    for group in range(len(resamples.groups)):
        others = [names[run] for run in np.flatnonzero(resamples.of_run != group)]
        kept = pooled & (pool_depth(systems, others) <= depth)
        gone.append(1 - kept.sum() / pooled.sum())
        fewer = study.with_judgments(without_labels(judgments, relevant & ~kept))
        pairs = np.flatnonzero((resamples.of_pair == group).sum(axis=1) == 1)
        for label, x in befores.items():
            after = differences(fewer, label, queries)[pairs]
            still = concluded(after, resamples)
            counted[label] = counted[label] + _counts(
                x[pairs],
                after,
                sures[label][:, pairs],
                still,
                resamples,
                weight[:, pairs],
            )
    result.removed["left out", depth] = float(np.mean(gone))
    if result.removed["left out", depth]:
        for label, counts in counted.items():
            result.cells["left out", depth, label] = _cell([counts])


@dataclass(frozen=True)
class Estimate:
    """A contrast with its simultaneous interval."""

    value: float
    low: float
    high: float

    @property
    def side(self) -> int:
        """1 where the whole interval is above 0, -1 where it is below, else 0."""
        return int(self.low > 0) - int(self.high < 0)

    def depends_on_draws(
        self, verdict: Callable[[Estimate], object], error: float
    ) -> bool:
        """Whether two standard errors of the draws of labels, up or down, change the verdict; of one draw, nobody knows.

        >>> Estimate(0.03, 0.01, 0.05).depends_on_draws(lambda moved: moved.side, 0.004)
        False
        >>> Estimate(0.03, 0.01, 0.05).depends_on_draws(lambda moved: moved.side, 0.006)
        True
        """
        shifted = (
            Estimate(self.value + by, self.low + by, self.high + by)
            for by in (-2 * error, 2 * error)
        )
        return not np.isfinite(error) or any(
            verdict(moved) != verdict(self) for moved in shifted
        )

    def __str__(self) -> str:
        return f"{self.value:+.3f} [{self.low:+.3f}, {self.high:+.3f}]"


def simultaneous(
    values: Sequence[Floats], units: int, level: float = LEVEL
) -> list[Estimate]:
    """Estimates with intervals that all hold at once: by the largest standardised deviation over the resamples.

    A bootstrap of few units is too sure: its standard error is sqrt((units - 1) / units) of the right one, and the quantile is that of
    Student's t with units - 1 degrees of freedom where the resamples have the normal one. A resample in which an estimate is not defined is
    left out for that estimate.

    Args:
        values: of each contrast in all resamples, the sample itself first.
        units: the fewer of groups and queries.

    >>> rng = np.random.default_rng(0)
    >>> one, other = simultaneous([np.r_[0.0, rng.normal(0, 1, 4000)], np.r_[5.0, rng.normal(5, 1, 4000)]], 10**6)
    >>> round(one.high, 1), round(other.low, 1)
    (2.2, 2.8)
    """
    array = np.stack(values)
    point, drawn = array[:, 0], array[:, 1:]
    spread = np.nanstd(drawn, axis=1) * np.sqrt(units / (units - 1))
    with np.errstate(invalid="ignore", divide="ignore"):
        deviation = np.abs(drawn - point[:, None]) / spread[:, None]
    largest = np.quantile(
        np.nanmax(np.where(np.isfinite(deviation), deviation, 0.0), axis=0), 1 - level
    )
    margin = (
        stats.t.isf(stats.norm.sf(largest * np.sqrt(units / (units - 1))), units - 1)
        * spread
    )
    return [
        Estimate(*map(float, row))
        for row in zip(point, point - margin, point + margin, strict=True)
    ]
