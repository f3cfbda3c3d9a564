"""Missing labels: what becomes of decisions.

Intervals come from one bootstrap over queries and over groups of runs together, the same resamples
for all measures, so that measures can be subtracted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, product
from typing import Any, TypeAlias

import numpy as np

from ir_lexirecall._util.arrays import (
    Bools,
    Floats,
    Ints,
    position_in_segment,
    ratio,
    row_blocks,
)
from ir_lexirecall._util.blocks import BLOCK
from ir_lexirecall._util.errors import (
    check_choice,
    check_integer,
    check_number,
    is_number,
)
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.progress import progress_bar
from ir_lexirecall._util.rounding import levelled
from ir_lexirecall._util.selecting import without
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.meta.agreements import coefficient_of
from ir_lexirecall.meta.decisions import INCOMPARABLE, Decisions, Signs, means
from ir_lexirecall.meta.records import (
    ON_RUNS,
    SEED,
    Headline,
    Option,
    recorded,
    study,
)
from ir_lexirecall.plots.studies import Lines
from ir_lexirecall.preferences.naming import Preference
from ir_lexirecall.significance import SignificanceTest, corrected
from ir_lexirecall.significance.draws import (
    percentile_interval,
    sample_and_draws,
    share_beyond_zero,
)

POLICIES = ("random", "pool", "frequency")

Conclusions: TypeAlias = tuple[Signs, Ints]
"""Which run is better by pair and query, and the sign of each pair's difference.

The sign is 0 if the difference is not significant.
"""


@study(
    "Ties and agreement after relevance labels are removed",
    Headline(
        "agreement", "decisions as with the full labels", "most robust", "least robust"
    ),
    Lines(
        "What incomplete judgments change: agreement (solid), ties (dashed)",
        "fraction",
        "fraction of relevant labels removed ({policy})",
        meaning="share of decisions",
        marks=lambda table: (
            table.sort_values("fraction", kind="stable")
            .groupby(["measure", "fraction"], sort=False)[["agreement", "ties"]]
            .mean()
            .reset_index()
        ),
        dashed="ties",
    ),
    example="qrels.txt *.run -m LR AP --fractions 0.3 0.6 0.9",
    options={
        "fractions": Option(
            "shares of labels to remove (default: 0.1 to 0.9)",
            float,
            several=True,
            shown="F",
        ),
        "policy": Option(
            "relevant labels to remove first: at 'random' (the default), the deepest ('pool'), or "
            "of documents that few runs retrieve ('frequency')"
        ),
        "n_samples": Option("number of draws (default: 10)", int),
        "aggregate": Option("show means over the draws", bool),
    }
    | SEED,
    runs=ON_RUNS,
)
def degrade(
    self: Decisions,
    fractions: Iterable[float] = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
    *,
    policy: str = "random",
    n_samples: int = 10,
    aggregate: bool = False,
    seed: int = 0,
) -> pd.DataFrame:
    """Count ties and agreement with the full labels after relevant labels are removed.

    Of the m relevant documents of a query, ceil((1 - fraction) m) keep their labels, at least one;
    the others count as judged not relevant (grade 0, lowest label of every aspect). Within a
    sample, what a smaller fraction removes a larger one removes too.

    - ``policy='random'``: documents lose their labels in random order.
    - ``policy='pool'``: as in a shallower pool. A document's pool depth is its smallest rank in any
      of the runs. Documents that no run retrieved lose their labels first, then the deepest ones;
      ties are broken at random.
    - ``policy='frequency'``: documents that the fewest runs retrieve lose their labels first; ties
      are broken at random.

    The runs are read and aligned once, then judged again. A decision is which of two runs is better
    on a query.

    Args:
        fractions: of the relevant labels to remove, each between 0 and 1.
        policy: which ones.
        n_samples: how often to draw.
        aggregate: give the means over the samples, a row per measure and fraction.
        seed: random seed.

    Returns:
        A row per measure, fraction and sample: ``measure``, ``fraction``, ``sample``, ``removed``
        (labels, all queries), and as shares of all decisions ``ties``, ``agreement`` (the same as
        with the full labels: ties, and pairs that a partial order leaves open, included) and
        ``reversals`` (the opposite); ``kendall`` (tau-b of the runs' orders by mean).
        ``attrs["ties"]`` has the shares of ties with the full labels.

    Raises:
        ValueError: a number out of range, fewer than two runs, or an unknown policy.

    Source: Diaz, Ekstrand, Mitra, Recall, Robustness, and Lexicographic Evaluation, TORS 2026,
    Figures 14 and 15, doi 10.1145/3728373.

    >>> from ir_lexirecall import demo
    >>> from ir_lexirecall.meta import Study
    >>> study = Study(["LR", "R@10"], demo.qrels(), demo.runs())
    >>> table = study.degrade([0, 0.5], n_samples=2)
    >>> table[table["fraction"] == 0]["agreement"].tolist()
    [1.0, 1.0, 1.0, 1.0]
    >>> study.degrade([0.2, 0.5], n_samples=3, aggregate=True)["fraction"].tolist()
    [0.2, 0.5, 0.2, 0.5]
    """
    shares = checked_fractions(fractions)
    check_choice("policy", policy, POLICIES)
    check_integer("n_samples", n_samples)
    seed = check_integer("seed", seed, least=0)
    self.check()
    before = {label: self.signs(label, INCOMPARABLE) for label in self.labels}
    means_before = {label: means(self.values(label)) for label in self.labels}
    rows = []
    samples = removals(self, shares, policy, n_samples, seed)
    steps = len(shares) * n_samples
    for fraction, sample, removed in progress_bar(
        self.progress, samples, total=steps, desc="degraded labels"
    ):
        fewer = self.with_judgments(without_labels(self.judgments, removed))
        for label in self.labels:
            after = fewer.signs(label, INCOMPARABLE)
            row = {
                "measure": label,
                "fraction": fraction,
                "sample": sample,
                "removed": int(removed.sum()),
            }
            row["ties"] = float((after == 0).mean())
            row["agreement"] = float((after == before[label]).mean())
            row["reversals"] = float((after * before[label] == -1).mean())
            row["kendall"] = coefficient_of(
                "kendall", means_before[label], means(fewer.values(label))
            )
            rows.append(row)
    table = pd.DataFrame(rows)
    if aggregate:
        mean = (
            table.groupby(["measure", "fraction"])
            .mean(numeric_only=True)
            .drop(columns="sample")
        )
        table = mean.loc[
            list(product(self.labels, dict.fromkeys(shares)))
        ].reset_index()
    tied = {label: float((signs == 0).mean()) for label, signs in before.items()}
    facts = {
        "fractions": shares,
        "policy": policy,
        "n_samples": n_samples,
        "seed": seed,
        "ties": tied,
    }
    return recorded(table, "degrade", **facts, **self.provenance)


@study(
    "Decisions that survive missing labels, with intervals over queries and groups of runs",
    Headline("decided", "decisions that survive missing labels", "most", "fewest"),
    Lines(
        "Decisions that survive: it matters which labels are missing",
        "fraction",
        "fraction of relevant labels removed",
        marks=lambda table: table[table["minus"] == ""],
        dash_by="policy",
    ),
    example="qrels.txt *.run -m lexirecall AP --fractions 0.5 --contrasts lexirecall:AP",
    options={
        "fractions": Option(
            "shares of labels to remove (default: 0.2, 0.5, 0.8)",
            float,
            several=True,
            shown="F",
        ),
        "policies": Option(
            "relevant labels to remove first: at 'random', the deepest ('pool'), of documents "
            "that few runs retrieve ('frequency') (default: all three)",
            several=True,
            shown="POLICY",
        ),
        "groups": Option(
            "group that submitted each run (default: each run is a group of its own)",
            "RUN=GROUP",
            several=True,
        ),
        "n_samples": Option("number of draws of labels (default: 5)", int),
        "contrasts": Option(
            "show also the difference A - B of these measures", "A:B", several=True
        ),
        "n_resamples": Option("number of resamples (default: 2000)", int),
        "alpha": Option("1 - confidence level of the intervals (default: 0.05)", float),
        **SEED,
    },
    runs=ON_RUNS,
)
def stability(
    self: Decisions,
    fractions: Iterable[float] = (0.2, 0.5, 0.8),
    *,
    policies: Sequence[str] = POLICIES,
    groups: Mapping[str, str] | None = None,
    contrasts: Sequence[tuple[str, str]] = (),
    n_samples: int = 5,
    n_resamples: int = 2000,
    alpha: float = 0.05,
    seed: int = 0,
) -> pd.DataFrame:
    """Compare decisions with those of the full labels, with intervals over queries and groups.

    Each policy (see ``degrade``) removes equal shares of every query's relevant labels. A decision
    is which of two runs is better on a query. ``agreement`` is the share of all decisions that stay
    the same, ties included; ``decided`` is the same share of decisions that are not ties with the
    full labels.

    The bootstrap draws queries and groups of runs with replacement, together. A pair of runs from
    two groups is weighted by the product of how often they are drawn, a pair from one group by how
    often this group is drawn. Intervals are percentiles. A contrast is the difference of two
    measures over the same resamples; its p is 2 min(P(<= 0), P(>= 0)), where the observed
    difference counts as one more resample.

    Args:
        fractions: of the relevant labels to remove, each between 0 and 1.
        policies: how: ``'random'``, ``'pool'``, ``'frequency'``.
        groups: the group of each run, such as who submitted it; by default every run is a group.
        contrasts: pairs of labels of measures, to be subtracted.
        n_samples: how often to draw labels.
        n_resamples: of the bootstrap.
        alpha: 1 - confidence of the intervals, and level of the tests that ``significant`` counts.
        seed: of the labels and of the bootstrap.

    Returns:
        A row per policy, fraction, and measure or contrast: ``policy``, ``fraction``, ``measure``,
        ``minus`` (empty but for contrasts), ``agreement``, ``ci_low``, ``ci_high``, ``decided``,
        ``decided_low``, ``decided_high``, ``p`` (of a contrast's ``decided``), ``significant``
        (pairs of runs with a significant difference with the full labels: paired t, Holm), and how
        many of these are ``lost`` (no longer significant) or ``reversed`` (significantly the other
        way), means over the samples.

    Raises:
        ValueError: a number out of range, fewer than two runs, a run without a group, or a contrast
            of what is no measure.

    Source: after Diaz, Ekstrand, Mitra, TORS 2026, Figure 15, doi 10.1145/3728373; the bootstrap
    after Owen, The Pigeonhole Bootstrap, 2007, doi 10.1214/07-AOAS122.

    >>> from ir_lexirecall import demo
    >>> from ir_lexirecall.meta import Study
    >>> table = Study(["lexirecall", "AP"], demo.qrels(), demo.runs()).stability(
    ...     [0.5],
    ...     policies=["random", "pool"],
    ...     contrasts=[("lexirecall", "AP")],
    ...     n_samples=2,
    ...     n_resamples=200,
    ... )
    >>> rows = table[["policy", "measure", "minus"]].agg(" ".join, axis=1).tolist()
    >>> rows[:3]
    ['random lexirecall ', 'random AP ', 'random lexirecall AP']
    >>> rows[3:]
    ['pool lexirecall ', 'pool AP ', 'pool lexirecall AP']
    """
    shares = checked_fractions(fractions)
    for policy in policies:
        check_choice("policies", policy, POLICIES)
    check_integer("n_samples", n_samples)
    check_integer("n_resamples", n_resamples)
    seed = check_integer("seed", seed, least=0)
    check_number("alpha", alpha, above=0, below=1)
    self.check()
    _check_contrasts(contrasts, self.labels)
    resamples = TwoWay.draw(self, groups, n_resamples, seed)
    before = {
        label: _conclusions(self, label, self.queries, alpha) for label in self.labels
    }
    rows: list[dict[str, Any]] = []
    steps = len(policies) * len(shares) * n_samples
    with progress_bar(self.progress, total=steps, desc="degraded labels") as bar:
        for policy in policies:
            after: dict[tuple[float, str], list[Conclusions]] = {}
            for share, _, removed in removals(self, shares, policy, n_samples, seed):
                fewer = self.with_judgments(without_labels(self.judgments, removed))
                for label in before:
                    conclusions = _conclusions(fewer, label, self.queries, alpha)
                    after.setdefault((share, label), []).append(conclusions)
                bar.update()
            for share in shares:
                samples = {label: after[share, label] for label in before}
                survivals = _survivals(before, samples, resamples)
                for row in _survival_rows(survivals, contrasts, alpha):
                    rows.append({"policy": policy, "fraction": share, **row})
    group_of_run = {
        name: resamples.groups[group]
        for name, group in zip(self.names, resamples.of_run, strict=True)
    }
    facts = {
        "groups": group_of_run,
        "contrasts": [tuple(pair) for pair in contrasts],
        "n_resamples": n_resamples,
        "alpha": alpha,
        "seed": seed,
        **self.provenance,
        "fractions": shares,
        "policies": list(policies),
        "n_samples": n_samples,
    }
    return recorded(pd.DataFrame(rows), "stability", **facts)


def _check_contrasts(
    contrasts: Sequence[tuple[str, str]], labels: Iterable[str]
) -> None:
    """Raise if a contrast names anything but the measures of the study."""
    for label in chain.from_iterable(contrasts):
        if label not in labels:
            raise ValueError(
                f"{label!r} in contrasts is not among the measures {', '.join(labels)}"
            )


@dataclass(frozen=True)
class _Survival:
    """Shares of one measure's decisions that survive, and counts of its significant differences.

    Attributes:
        agreement: share of all decisions that stay the same, in the data and in each resample.
        decided: the same of the decisions that are not ties with the full labels.
        counts: the columns on significance.
    """

    agreement: Floats
    decided: Floats
    counts: dict[str, Any]


def _survivals(
    before: Mapping[str, Conclusions],
    after: Mapping[str, list[Conclusions]],
    resamples: TwoWay,
) -> dict[str, _Survival]:
    """Return for each measure what survives of its conclusions, over the samples of ``after``."""
    survivals = {}
    for label, (signs, significant) in before.items():
        samples = after[label]
        stays = np.mean([signs == sample_signs for sample_signs, _ in samples], axis=0)
        decided = (signs != 0).astype(np.float64)
        lost = [
            np.count_nonzero((significant != 0) & (still == 0)) for _, still in samples
        ]
        turned = [np.count_nonzero(significant * still == -1) for _, still in samples]
        survivals[label] = _Survival(
            decided=resamples.ratio(stays * decided, decided),
            agreement=resamples.ratio(stays, np.ones(stays.shape)),
            counts={
                "p": np.nan,
                "significant": np.count_nonzero(significant),
                "lost": np.mean(lost),
                "reversed": np.mean(turned),
            },
        )
    return survivals


def _survival_rows(
    survivals: Mapping[str, _Survival],
    contrasts: Sequence[tuple[str, str]],
    alpha: float,
) -> Iterator[dict[str, Any]]:
    """Yield a row for each measure, then one for each contrast."""
    for label, survival in survivals.items():
        shares = _intervals(survival.agreement, survival.decided, alpha)
        yield {"measure": label, "minus": "", **shares, **survival.counts}
    for a, b in contrasts:
        agreement = survivals[a].agreement - survivals[b].agreement
        decided = survivals[a].decided - survivals[b].decided
        shares = _intervals(agreement, decided, alpha)
        yield {"measure": a, "minus": b, **shares, "p": share_beyond_zero(decided)}


def _intervals(agreement: Floats, decided: Floats, alpha: float) -> dict[str, float]:
    """Return the columns of two shares with their intervals."""
    columns = (
        "agreement",
        "ci_low",
        "ci_high",
        "decided",
        "decided_low",
        "decided_high",
    )
    numbers = (
        *percentile_interval(agreement, alpha),
        *percentile_interval(decided, alpha),
    )
    return dict(zip(columns, numbers, strict=True))


def checked_fractions(fractions: Any) -> list[float]:
    """Shares of labels to remove, as numbers between 0 and 1."""
    several = []
    if isinstance(fractions, Iterable) and not isinstance(fractions, str):
        several = list(fractions)
    message = "fractions must be numbers between 0 and 1, not"
    if not several:
        raise ValueError(f"{message} {fractions!r}")
    for share in several:
        if not is_number(share) or not 0 <= share <= 1:
            raise ValueError(f"{message} {share!r}")
    return [float(share) for share in several]


def removals(
    decisions: Decisions,
    fractions: Iterable[float],
    policy: str,
    n_samples: int,
    seed: int,
) -> Iterator[tuple[float, int, Bools]]:
    """Yield fractions, samples, and which of the judged documents lose their label."""
    judgments, runs = decisions.judgments, decisions.aligned.runs.values()
    # The document with the largest number loses its label first.
    first = np.zeros(len(judgments.grade), dtype=np.int64)
    if policy == "pool":
        first[:] = np.iinfo(np.int64).max
        for run in runs:
            np.minimum.at(first, run.doc, run.rank)
    elif policy == "frequency":  # how many of the runs retrieve it
        first = -np.bincount(
            np.concatenate([run.doc for run in runs]), minlength=len(first)
        )
    relevant = np.flatnonzero(judgments.grade >= decisions.rel)
    m = judgments.m(decisions.rel)
    rng = np.random.default_rng(seed)
    for sample in range(n_samples):
        keys = rng.random(len(relevant)), -first[relevant], judgments.query[relevant]
        order = relevant[np.lexsort(keys)]
        query = judgments.query[order]
        position = position_in_segment(query)
        for fraction in fractions:
            # Rounded first: (1 - 0.9) * 10 must keep one label, not two.
            kept = np.maximum(np.ceil(np.round((1 - fraction) * m, 9)), 1)
            removed = np.zeros(len(first), dtype=bool)
            removed[order] = position < (m - kept)[query]
            yield fraction, sample, removed


def without_labels(judgments: Judgments, removed: Bools) -> Judgments:
    """Return the judgments with the marked documents not relevant in every aspect."""
    if judgments.table is None:
        table = None
    else:
        table = judgments.table.without_labels(removed)
    return replace(
        judgments, grade=np.where(removed, 0.0, judgments.grade), table=table
    )


def _conclusions(
    decisions: Decisions, label: str, queries: Ints, alpha: float
) -> Conclusions:
    """Return the signs of all pairs on ``queries``, and the signs of significant differences."""
    measure, (a, b) = decisions.labels[label], decisions.pairs
    if isinstance(measure, Preference):
        x = np.concatenate(
            list(
                decisions.counts(measure).of_pairs(measure.NAME, a.tolist(), b.tolist())
            )
        )
    else:
        values = levelled(decisions.rising(label))
        x = values[a] - values[b]
    tested = SignificanceTest("t", alpha=alpha).of_pairs(x)
    _, reject = corrected(tested.p, "holm", alpha)
    # Queries that lost all their relevant documents keep 0.
    signs = np.zeros((len(a), len(queries)), dtype=np.int8)
    signs[:, np.isin(queries, decisions.queries)] = decisions.signs(label)
    return signs, np.where(reject, np.sign(tested.estimate), 0).astype(np.int64)


@dataclass(frozen=True)
class TwoWay:
    """How often a bootstrap draws each group of runs and each query, together.

    The first row is the sample itself.

    After Owen, The Pigeonhole Bootstrap, 2007, doi 10.1214/07-AOAS122.
    """

    groups: list[str]
    of_run: Ints  # the group of each run, by place
    of_pair: Ints  # the groups of both runs of each pair, shape (P, 2)
    group_weight: Floats  # how often each group is drawn, shape (B + 1, groups)
    query_weight: Floats  # how often each query is drawn, shape (B + 1, Q)

    @classmethod
    def draw(
        cls,
        decisions: Decisions,
        groups: Mapping[str, str] | None,
        n_resamples: int,
        seed: int,
    ) -> TwoWay:
        """Draw queries and groups with replacement; every run needs a group."""
        names = decisions.names
        if groups is None:
            groups = {name: name for name in names}
        by_name = {str(name): str(group) for name, group in groups.items()}
        if lacking := without(names, by_name):
            raise ValueError(f"run {lacking[0]!r} has no group")
        different, of_run = np.unique(
            [by_name[name] for name in names], return_inverse=True
        )
        rng = np.random.default_rng(seed)
        drawn = (
            sample_and_draws(rng, size, n_resamples)
            for size in (len(different), len(decisions.queries))
        )
        return cls(
            different.tolist(),
            of_run,
            of_run[np.stack(decisions.pairs, axis=1)],
            *drawn,
        )

    def ratio(self, numerator: Floats, denominator: Floats) -> Floats:
        """Return the ratio of two weighted sums over pairs and queries, for each resample."""
        result = np.empty(len(self.query_weight))
        for block in row_blocks(len(result), sum(numerator.shape), BLOCK):
            a, b = (self.group_weight[block][:, place] for place in self.of_pair.T)
            weight = np.where(self.of_pair[:, 0] == self.of_pair[:, 1], a, a * b)
            above, below = (
                ((weight @ x) * self.query_weight[block]).sum(axis=1)
                for x in (numerator, denominator)
            )
            result[block] = ratio(above, below, np.nan)
        return result
