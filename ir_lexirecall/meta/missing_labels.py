"""Missing labels: what becomes of decisions, and of a group of runs whose documents nobody judged.

Intervals come from one bootstrap over queries and over groups of runs together, the same resamples for all measures, so that
measures can be subtracted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from ir_lexirecall._util.arrays import Bools, Floats, Ints, position_in_segment, row_blocks
from ir_lexirecall._util.errors import check_choice, check_integer, check_number, is_number
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.progress import progress_bar
from ir_lexirecall._util.rounding import levelled
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.meta.correlations import coefficient_of
from ir_lexirecall.meta.decisions import INCOMPARABLE, Decisions, Signs, means
from ir_lexirecall.meta.records import AGGREGATE, ON_RUNS, SEED, Headline, Option, recorded, study
from ir_lexirecall.plots.studies import Intervals, Lines, single
from ir_lexirecall.preferences.naming import Preference
from ir_lexirecall.significance import SignificanceTest, corrected

Contrasts = Sequence[tuple[str, str]]
POLICIES = ("random", "pool", "frequency")

_BLOCK = 2**22  # weights that are held at once
_TWO_WAY = {
    "contrasts": Option("measures to subtract, B from A", "A:B", several=True),
    "n_resamples": Option("of the bootstrap (default: 2000)", int),
    "alpha": Option("1 - confidence of the intervals (default: 0.05)", float),
    **SEED,
}


@study(
    "Ties and agreement after relevance labels are removed",
    Headline("agreement", "decisions as with the full labels", "most robust", "least robust"),
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
        "fractions": Option("of labels to remove (0.1 to 0.9)", float, several=True, shown="F"),
        "policy": Option("which labels go: 'random' (the default), 'pool' or 'frequency'"),
        "n_samples": Option("how often to draw (default: 10)", int),
    }
    | AGGREGATE
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
    """Ties and agreement with the full labels after a fraction of the relevant labels is removed.

    Of the m relevant documents of a query, ceil((1 - fraction) m) keep their labels, at least one; the others count as
    judged not relevant (grade 0, lowest label of every aspect). Within a sample, what a smaller fraction removes a
    larger one removes too.

    - ``policy='random'``: they are drawn at random.
    - ``policy='pool'``: those that a shallower pool would not have found. A document's pool depth is the smallest rank
      that any of the runs gives it; the deepest go first, before them those that no run retrieved, equals at random.
    - ``policy='frequency'``: by how many of the runs retrieve them; those that the fewest retrieve go first, equals at random.

    The runs are read and aligned once, then judged again. A decision is which of two runs is better on a query.

    Args:
        fractions: of the relevant labels to remove, each between 0 and 1.
        policy: which ones.
        n_samples: how often to draw.
        aggregate: give the means over the samples, a row per measure and fraction.
        seed: random seed.

    Returns:
        A row per measure, fraction and sample: ``measure``, ``fraction``, ``sample``, ``removed`` (labels, all
        queries), and as shares of all decisions ``ties``, ``agreement`` (the same as with the full labels: ties, and
        pairs that a partial order leaves open, included) and ``reversals`` (the opposite); ``kendall`` (tau-b of the
        runs' orders by mean). ``attrs["ties"]`` has the shares of ties with the full labels.

    Raises:
        ValueError: a number out of range, fewer than two runs, or an unknown policy.

    Source: Diaz, Ekstrand, Mitra, Recall, Robustness, and Lexicographic Evaluation, TORS 2026, Figures 14 and 15,
    doi 10.1145/3728373.

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
    for fraction, sample, removed in progress_bar(self.progress, samples, total=steps, desc="degraded labels"):
        fewer = self.with_judgments(without_labels(self.judgments, removed))
        for label in self.labels:
            after = fewer.signs(label, INCOMPARABLE)
            row = {"measure": label, "fraction": fraction, "sample": sample, "removed": int(removed.sum())}
            row["ties"] = float((after == 0).mean())
            row["agreement"] = float((after == before[label]).mean())
            row["reversals"] = float((after * before[label] == -1).mean())
            row["kendall"] = coefficient_of("kendall", means_before[label], means(fewer.values(label)))
            rows.append(row)
    table = pd.DataFrame(rows)
    if aggregate:
        mean = table.groupby(["measure", "fraction"]).mean(numeric_only=True).drop(columns="sample")
        table = mean.loc[list(product(self.labels, dict.fromkeys(shares)))].reset_index()
    tied = {label: float((signs == 0).mean()) for label, signs in before.items()}
    facts = {"fractions": shares, "policy": policy, "n_samples": n_samples, "seed": seed, "ties": tied}
    return recorded(table, "degrade", **facts, **self.provenance)


@study(
    "Decisions that survive missing labels, with intervals over queries and groups of runs",
    Headline("decided", "decisions that survive missing labels", "most", "fewest"),
    Lines(
        "Decisions that survive: it matters which labels are missing",
        "fraction",
        "fraction of relevant labels removed",
        marks=single,
        dash_by="policy",
    ),
    example="qrels.txt *.run -m lexirecall AP --fractions 0.5 --contrasts lexirecall:AP",
    options={
        "fractions": Option("of labels to remove (0.2, 0.5 and 0.8)", float, several=True, shown="F"),
        "policies": Option("which labels go: 'random', 'pool', 'frequency' (all)", several=True, shown="POLICY"),
        "groups": Option("who made each run (default: every run is a group)", "RUN=GROUP", several=True),
        "n_samples": Option("how often to draw labels (default: 5)", int),
    }
    | _TWO_WAY,
    runs=ON_RUNS,
)
def stability(
    self: Decisions,
    fractions: Iterable[float] = (0.2, 0.5, 0.8),
    *,
    policies: Sequence[str] = POLICIES,
    groups: Mapping[str, str] | None = None,
    contrasts: Contrasts = (),
    n_samples: int = 5,
    n_resamples: int = 2000,
    alpha: float = 0.05,
    seed: int = 0,
) -> pd.DataFrame:
    """Agreement with the full labels by how labels were lost, with intervals over queries and groups of runs together.

    Equal shares of every query's relevant labels are removed by each policy (those of ``degrade``). A decision is which of two
    runs is better on a query. ``agreement`` is the share of all decisions that stay the same, ties included; ``decided`` that
    of the decisions which are no ties with the full labels.

    The bootstrap draws queries and groups with replacement, together: a pair of runs of two groups weighs the product of how
    often these are drawn, a pair of one group as often as that is. Intervals are percentiles. A contrast is the difference of two
    measures over the same resamples; its p is 2 min(P(<= 0), P(>= 0)), the observed one counted among them.

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
        A row per policy, fraction, and measure or contrast: ``policy``, ``fraction``, ``measure``, ``minus`` (empty but for
        contrasts), ``agreement``, ``ci_low``, ``ci_high``, ``decided``, ``decided_low``, ``decided_high``, ``p`` (of a contrast's
        ``decided``), ``significant`` (pairs of runs with a significant difference with the full labels: paired t, Holm), and how
        many of these are ``lost`` (no longer significant) or ``reversed`` (significantly the other way), means over the samples.

    Raises:
        ValueError: a number out of range, fewer than two runs, a run without a group, or a contrast of what is no measure.

    Source: after Diaz, Ekstrand, Mitra, TORS 2026, Figure 15, doi 10.1145/3728373; the bootstrap after Owen, The Pigeonhole
    Bootstrap, 2007, doi 10.1214/07-AOAS122.

    >>> from ir_lexirecall import demo
    >>> from ir_lexirecall.meta import Study
    >>> table = Study(["lexirecall", "AP"], demo.qrels(), demo.runs()).stability(
    ...     [0.5], policies=["random", "pool"], contrasts=[("lexirecall", "AP")], n_samples=2, n_resamples=200)
    >>> table[["policy", "measure", "minus"]].agg(" ".join, axis=1).tolist()
    ['random lexirecall ', 'random AP ', 'random lexirecall AP', 'pool lexirecall ', 'pool AP ', 'pool lexirecall AP']
    """
    shares = checked_fractions(fractions)
    for policy in policies:
        check_choice("policies", policy, POLICIES)
    check_integer("n_samples", n_samples)
    self.check()
    resamples = TwoWay.draw(self, groups, n_resamples, alpha, seed, contrasts)
    before = {label: _conclusions(self, label, self.queries, alpha) for label in self.labels}
    rows: list[dict[str, Any]] = []
    with progress_bar(self.progress, total=len(policies) * len(shares) * n_samples, desc="degraded labels") as bar:
        for policy in policies:
            # Over the samples: how often each decision is kept, and how many conclusions are lost, or reversed.
            kept: dict[tuple[float, str], Any] = dict.fromkeys(product(shares, self.labels), 0.0)
            lost, turned = dict.fromkeys(kept, 0), dict.fromkeys(kept, 0)
            for share, _, removed in removals(self, shares, policy, n_samples, seed):
                fewer = self.with_judgments(without_labels(self.judgments, removed))
                for label, (signs, found) in before.items():
                    signs_after, found_after = _conclusions(fewer, label, self.queries, alpha)
                    kept[share, label] = kept[share, label] + (signs == signs_after)
                    lost[share, label] += int(((found != 0) & (found_after == 0)).sum())
                    turned[share, label] += int((found * found_after == -1).sum())
                bar.update()
            for share in shares:
                every, decided = {}, {}
                for label, (signs, _) in before.items():
                    stays, is_decided = kept[share, label] / n_samples, (signs != 0).astype(np.float64)
                    every[label] = resamples.ratio(stays, np.ones(stays.shape))
                    decided[label] = resamples.ratio(stays * is_decided, is_decided)
                for (a, b, agreement), (*_, of_decided) in zip(
                    resamples.with_contrasts(every), resamples.with_contrasts(decided), strict=True
                ):
                    row = {"policy": policy, "fraction": share, "measure": a, "minus": b}
                    row["agreement"], row["ci_low"], row["ci_high"] = resamples.interval(agreement)
                    row["decided"], row["decided_low"], row["decided_high"] = resamples.interval(of_decided)
                    row["p"] = resamples.p(of_decided) if b else np.nan
                    if not b:
                        row["significant"] = int((before[a][1] != 0).sum())
                        row |= {"lost": lost[share, a] / n_samples, "reversed": turned[share, a] / n_samples}
                    rows.append(row)
    facts = {"fractions": shares, "policies": list(policies), "n_samples": n_samples}
    return recorded(pd.DataFrame(rows), "stability", **resamples.provenance(self), **facts)


@study(
    "What a group of runs loses whose documents were not pooled",
    Headline(
        "bias",
        "change of the mean preference of a group that is left out",
        "largest",
        "smallest",
        rows=lambda table: table[table["policy"] == "left out"],
    ),
    Intervals("What a group of runs loses that the pool left out", "policy", marks=single),
    example="qrels.txt *.run -m lexirecall AP --groups bm25=ours ql=theirs",
    options={
        "groups": Option("who made each run", "RUN=GROUP", several=True, required=True),
        "depth": Option("of the pool (default: 10)", int),
    }
    | _TWO_WAY,
    runs=ON_RUNS,
)
def left_out(
    self: Decisions,
    groups: Mapping[str, str],
    *,
    depth: int = 10,
    contrasts: Contrasts = (),
    n_resamples: int = 2000,
    alpha: float = 0.05,
    seed: int = 0,
) -> pd.DataFrame:
    """What a group of runs loses where its documents were not pooled.

    The labels of a pool are those of the relevant documents that some run ranks within ``depth``. Each group in turn is left out of
    the pool; its ``bias`` is by how much the mean preference of its runs over those of other groups changes (their decisions:
    1, 0, -1), from the pool of all groups to the pool of the others; below 0, being left out hurts. As a control, as many labels of each query
    are removed at random. The bootstrap is that of ``stability``; the labels are those of the observed groups throughout. A query whose labels
    are all gone decides nothing.

    Args:
        groups: the group of each run; at least two.
        depth: of the pool.
        contrasts, n_resamples, alpha, seed: as in ``stability``.

    Returns:
        A row per policy (``'left out'``, ``'random, as many'``) and measure or contrast: ``policy``, ``measure``, ``minus``,
        ``groups``, ``lost`` (share of the pool's relevant labels, mean over the groups), ``bias``, ``ci_low``, ``ci_high``, ``p`` (of a
        contrast's bias), and ``agreement`` and ``decided`` of the group's decisions against others.

    Raises:
        ValueError: a number out of range, fewer than two runs, a run without a group, or fewer than two groups.

    Source: after Zobel, How Reliable are the Results of Large-Scale Information Retrieval Experiments?, SIGIR 1998,
    doi 10.1145/290941.291014.

    >>> from ir_lexirecall import demo
    >>> from ir_lexirecall.meta import Study
    >>> by_name = {name: name.partition("_")[0] for name in demo.runs()}
    >>> table = Study(["lexirecall", "AP"], demo.qrels(), demo.runs()).left_out(by_name, n_resamples=200)
    >>> table[["policy", "measure", "groups"]].to_records(index=False).tolist()[:2]
    [('left out', 'lexirecall', 4), ('left out', 'AP', 4)]
    """
    check_integer("depth", depth)
    self.check()
    pooled = without_labels(self.judgments, pool_depth(self) > depth)
    full = self.with_judgments(pooled)
    resamples = TwoWay.draw(full, groups, n_resamples, alpha, seed, contrasts)
    if len(resamples.groups) < 2:
        raise ValueError(f"at least 2 groups are needed, not {len(resamples.groups)}")
    before = {label: full.signs(label) for label in full.labels}
    rng = np.random.default_rng([seed, 1])
    parts: dict[str, dict[str, list[Signs]]] = {
        policy: {label: [] for label in full.labels} for policy in ("left out", "random, as many")
    }
    selected, turned, lost = [], [], []
    relevant = pooled.grade >= self.rel
    for g in progress_bar(self.progress, range(len(resamples.groups)), desc="groups"):
        removed = relevant & (pool_depth(self, np.flatnonzero(resamples.of_run != g)) > depth)
        lost.append(removed.sum() / relevant.sum())
        pairs = np.flatnonzero((resamples.of_pair == g).sum(axis=1) == 1)
        selected.append(pairs)
        turned.append(np.where(resamples.of_pair[pairs, 0] == g, 1, -1))
        masks = removed, as_many(pooled, relevant, removed, rng)
        for of_policy, mask in zip(parts.values(), masks, strict=True):
            fewer = full.with_judgments(without_labels(pooled, mask))
            for label, signs in of_policy.items():
                signs.append(_signs(fewer, label, full.queries)[pairs])
    pair, turn = np.concatenate(selected), np.concatenate(turned)[:, None]
    rows: list[dict[str, Any]] = []
    for policy, of_policy in parts.items():
        biases: dict[str, Floats] = {}
        shares: dict[str, dict[str, Any]] = {}
        for label, some in of_policy.items():
            after, was = np.concatenate(some), before[label][pair]
            biases[label] = resamples.ratio((turn * (after - was)).astype(np.float64), np.ones(after.shape), pair)
            stays, decided = after == was, was != 0
            of_decided = float((stays & decided).sum() / decided.sum()) if decided.any() else np.nan
            shares[label] = {"p": np.nan, "agreement": stays.mean(), "decided": of_decided}
        for a, b, bias in resamples.with_contrasts(biases):
            row = {"policy": policy, "measure": a, "minus": b, "groups": len(resamples.groups), "lost": np.mean(lost)}
            row["bias"], row["ci_low"], row["ci_high"] = resamples.interval(bias)
            rows.append(row | ({"p": resamples.p(bias)} if b else shares[a]))
    return recorded(pd.DataFrame(rows), "left_out", **resamples.provenance(full), depth=depth)


# -- fewer labels ----------------------------------------------------------------------------------


def checked_fractions(fractions: Any) -> list[float]:
    """Shares of labels to remove, as numbers between 0 and 1."""
    several = list(fractions) if isinstance(fractions, Iterable) and not isinstance(fractions, str) else []
    bad = [share for share in several if not is_number(share) or not 0 <= share <= 1]
    if bad or not several:
        raise ValueError(f"fractions must be numbers between 0 and 1, not {bad[0] if bad else fractions!r}")
    return [float(share) for share in several]


def removals(
    decisions: Decisions, fractions: Iterable[float], policy: str, n_samples: int, seed: int
) -> Iterator[tuple[float, int, Bools]]:
    """Fractions, samples, and which of the judged documents lose their label."""
    judgments = decisions.judgments
    first = np.zeros(len(judgments.grade), dtype=np.int64)  # the document with the largest number loses its label first
    if policy == "pool":
        first = pool_depth(decisions)
    elif policy == "frequency":  # how many of the runs retrieve it
        docs = [run.doc for run in decisions.aligned.runs.values()]
        first = -np.bincount(np.concatenate(docs), minlength=len(judgments.grade))
    m = judgments.m(decisions.rel)
    rng = np.random.default_rng(seed)
    for sample in range(n_samples):
        order, place = _in_random_order(judgments, judgments.grade >= decisions.rel, rng, first)
        for fraction in fractions:
            # Rounded first: (1 - 0.9) * 10 must keep one label, not two.
            kept = np.maximum(np.ceil(np.round((1 - fraction) * m, 9)), 1)
            removed = np.zeros(len(judgments.grade), dtype=bool)
            removed[order] = place < (m - kept)[judgments.query[order]]
            yield fraction, sample, removed


def as_many(judgments: Judgments, relevant: Bools, removed: Bools, rng: np.random.Generator) -> Bools:
    """As many relevant documents of each query, drawn at random."""
    order, place = _in_random_order(judgments, relevant, rng)
    chosen = np.zeros(len(relevant), dtype=bool)
    chosen[order] = place < np.bincount(judgments.query[removed], minlength=len(judgments))[judgments.query[order]]
    return chosen


def _in_random_order(
    judgments: Judgments, relevant: Bools, rng: np.random.Generator, first: Ints | None = None
) -> tuple[Ints, Ints]:
    """The relevant documents of each query in random order, or by a number, the largest first; and their places there."""
    rows = np.flatnonzero(relevant)
    keys = [rng.random(len(rows)), *([] if first is None else [-first[rows]]), judgments.query[rows]]
    order = rows[np.lexsort(keys)]
    return order, position_in_segment(judgments.query[order])


def pool_depth(decisions: Decisions, runs: Iterable[int] | None = None) -> Ints:
    """The smallest rank that any run (of some, by place) gives each judged document; the largest integer where none has it."""
    depth = np.full(len(decisions.judgments.grade), np.iinfo(np.int64).max, dtype=np.int64)
    aligned = list(decisions.aligned.runs.values())
    for run in aligned if runs is None else [aligned[place] for place in runs]:
        np.minimum.at(depth, run.doc, run.rank)
    return depth


def without_labels(judgments: Judgments, removed: Bools) -> Judgments:
    """The same documents, some of them (a truth value for each) judged not relevant in every aspect."""
    table = None if judgments.table is None else judgments.table.without_labels(removed)
    return replace(judgments, grade=np.where(removed, 0.0, judgments.grade), table=table)


# -- what is concluded, and from how many others it would be ------------------------------------------


def _conclusions(decisions: Decisions, label: str, queries: Ints, alpha: float) -> tuple[Signs, Ints]:
    """What one measure says of all pairs: signs per query, and whose difference is significant (1, -1, else 0)."""
    measure, (a, b) = decisions.labels[label], decisions.pairs
    if isinstance(measure, Preference):
        x = np.concatenate(list(decisions.counts(measure).of_pairs(measure.NAME, a.tolist(), b.tolist())))
    else:
        values = levelled(decisions.rising(label))
        x = values[a] - values[b]
    tested = SignificanceTest("t", alpha=alpha).of_pairs(x)
    _, reject = corrected(tested.p, "holm", alpha)
    return _signs(decisions, label, queries), np.where(reject, np.sign(tested.estimate), 0).astype(np.int64)


def _signs(decisions: Decisions, label: str, queries: Ints) -> Signs:
    """Decisions on some queries; 0 on those that have no relevant document any more."""
    signs: Signs = np.zeros((len(decisions.pairs[0]), len(queries)), dtype=np.int8)
    signs[:, np.isin(queries, decisions.queries)] = decisions.signs(label)
    return signs


@dataclass(frozen=True)
class TwoWay:
    """How often a bootstrap draws each group of runs and each query, together; the first row is the sample itself.

    After Owen, The Pigeonhole Bootstrap, 2007, doi 10.1214/07-AOAS122.
    """

    groups: list[str]
    of_run: Ints  # the group of each run, by place
    of_pair: Ints  # the groups of both runs of each pair, shape (P, 2)
    group_weight: Floats  # how often each group is drawn, shape (B + 1, groups)
    query_weight: Floats  # how often each query is drawn, shape (B + 1, Q)
    alpha: float
    seed: int
    contrasts: Contrasts  # measures to subtract, the second from the first

    @classmethod
    def draw(
        cls,
        decisions: Decisions,
        groups: Mapping[str, str] | None,
        n_resamples: int,
        alpha: float,
        seed: int,
        contrasts: Contrasts = (),
    ) -> TwoWay:
        """Draw queries and groups with replacement; every run needs a group."""
        unknown = [label for pair in contrasts for label in pair if label not in decisions.labels]
        if unknown:
            raise ValueError(f"{unknown[0]!r} in contrasts is not among the measures {', '.join(decisions.labels)}")
        check_integer("n_resamples", n_resamples)
        check_integer("seed", seed, least=0)
        check_number("alpha", alpha, above=0, below=1)
        names = decisions.names
        by_name = (
            dict(zip(names, names, strict=True)) if groups is None else {str(k): str(v) for k, v in groups.items()}
        )
        if lacking := [name for name in names if name not in by_name]:
            raise ValueError(f"run {lacking[0]!r} has no group")
        known = sorted({by_name[name] for name in names})
        of_run = np.array([known.index(by_name[name]) for name in names])
        of_pair = np.stack([of_run[place] for place in decisions.pairs], axis=1)
        rng = np.random.default_rng(seed)
        of_groups, of_queries = (times_drawn(rng, size, n_resamples) for size in (len(known), len(decisions.queries)))
        return cls(known, of_run, of_pair, of_groups, of_queries, alpha, seed, contrasts)

    def ratio(self, numerator: Floats, denominator: Floats, pairs: Ints | None = None) -> Floats:
        """Weighted sum of one over that of another, shape ``(B + 1,)``; both of ``pairs`` (all) and queries, shape ``(P, Q)``."""
        groups = self.of_pair if pairs is None else self.of_pair[pairs]
        result = np.empty(len(self.query_weight))
        for some in row_blocks(len(result), sum(numerator.shape), _BLOCK):
            a, b = (self.group_weight[some][:, place] for place in groups.T)
            weight = np.where(groups[:, 0] == groups[:, 1], a, a * b)
            above, below = (((weight @ x) * self.query_weight[some]).sum(axis=1) for x in (numerator, denominator))
            result[some] = np.divide(above, below, out=np.full(len(above), np.nan), where=below > 0)
        return result

    def with_contrasts(self, ratios: Mapping[str, Floats]) -> Iterator[tuple[str, str, Floats]]:
        """Those of each measure, with an empty text; then of the measures of each contrast, and their difference."""
        for label, of_label in ratios.items():
            yield label, "", of_label
        for a, b in self.contrasts:
            yield a, b, ratios[a] - ratios[b]

    def interval(self, ratios: Floats) -> tuple[float, float, float]:
        """That of the sample, and the percentile interval; resamples without a pair of runs are left out."""
        return float(ratios[0]), *percentiles(ratios[1:], self.alpha)

    def p(self, ratios: Floats) -> float:
        """2 min(P(<= 0), P(>= 0)), the observed one counted among the resamples."""
        known = ratios[1:][~np.isnan(ratios[1:])]
        tail = min(np.count_nonzero(known <= 0), np.count_nonzero(known >= 0))
        return min(1.0, 2 * (1 + tail) / (1 + len(known)))

    def provenance(self, decisions: Decisions) -> dict[str, Any]:
        """What a study says of its resamples and of its input."""
        return {
            "groups": {name: self.groups[group] for name, group in zip(decisions.names, self.of_run, strict=True)},
            "contrasts": [tuple(pair) for pair in self.contrasts],
            "n_resamples": len(self.query_weight) - 1,
            "alpha": self.alpha,
            "seed": self.seed,
            **decisions.provenance,
        }


def times_drawn(rng: np.random.Generator, size: int, n_resamples: int) -> Floats:
    """How often a bootstrap draws each of ``size`` things, shape ``(B + 1, size)``; the first row is the sample itself."""
    drawn = rng.multinomial(size, np.full(size, 1 / size), size=n_resamples)
    return np.concatenate([np.ones((1, size)), drawn])


def percentiles(resampled: Floats, alpha: float) -> tuple[float, float]:
    """The percentile interval of what resamples give; NaN in some of them is left out, in all of them NaN."""
    known = resampled[~np.isnan(resampled)]
    low, high = np.quantile(known, [alpha / 2, 1 - alpha / 2]) if len(known) else (np.nan, np.nan)
    return float(low), float(high)
