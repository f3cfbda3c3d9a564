"""Which labels are missing: what becomes of decisions, and of a group of runs whose documents nobody judged.

Intervals come from one bootstrap over queries and over groups of runs together, the same resamples for all measures, so that
measures can be subtracted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ir_lexirecall._util.arrays import Bools, Floats, Ints, position_in_segment, row_blocks
from ir_lexirecall._util.errors import check_choice, check_integer, check_number
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.progress import progress_bar
from ir_lexirecall._util.rounding import levelled
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.meta.decisions import Decisions, Signs
from ir_lexirecall.meta.degradation import POLICIES, checked_fractions, pool_depth, removals, without_labels
from ir_lexirecall.meta.records import ON_RUNS, SEED, Headline, Option, recorded, study
from ir_lexirecall.plots.studies import Intervals, Lines, single
from ir_lexirecall.preferences.naming import Preference
from ir_lexirecall.significance import SignificanceTest, corrected

Contrasts = Sequence[tuple[str, str]]

_BLOCK = 2**22  # weights that are held at once
_TWO_WAY = {
    "contrasts": Option("measures to subtract, B from A", "A:B", several=True),
    "n_resamples": Option("of the bootstrap (default: 2000)", int),
    "alpha": Option("1 - confidence of the intervals (default: 0.05)", float),
    **SEED,
}


@study(
    "Decisions that survive missing labels, with intervals over queries and groups of runs",
    Headline("decided", "decisions that survive missing labels", "most", "fewest"),
    Lines(
        "Which decisions survive missing labels, by which labels are missing",
        "fraction",
        "decided",
        "fraction of relevant labels removed",
        "share of decided pairs that stay",
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
    _check_contrasts(contrasts, self)
    resamples = TwoWay.draw(self, groups, n_resamples, alpha, seed)
    before = {label: _conclusions(self, label, self.queries, alpha) for label in self.labels}
    rows: list[dict[str, Any]] = []
    with progress_bar(self.progress, total=len(policies) * len(shares) * n_samples, desc="degraded labels") as bar:
        for policy in policies:
            kept: dict[tuple[float, str], Any] = {(share, label): 0.0 for share in shares for label in self.labels}
            lost, turned = dict.fromkeys(kept, 0), dict.fromkeys(kept, 0)  # conclusions, over the samples
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
                    stays, open_ = kept[share, label] / n_samples, (signs != 0).astype(np.float64)
                    every[label] = resamples.ratio(stays, np.ones(stays.shape))
                    decided[label] = resamples.ratio(stays * open_, open_)
                for a, b in [*((label, "") for label in before), *contrasts]:
                    all_pairs, of_decided = (of[a] - of[b] if b else of[a] for of in (every, decided))
                    low, high = resamples.interval(all_pairs[1:])
                    decided_low, decided_high = resamples.interval(of_decided[1:])
                    row = {
                        "policy": policy,
                        "fraction": share,
                        "measure": a,
                        "minus": b,
                        "agreement": float(all_pairs[0]),
                        "ci_low": low,
                        "ci_high": high,
                        "decided": float(of_decided[0]),
                        "decided_low": decided_low,
                        "decided_high": decided_high,
                        "p": resamples.p(of_decided[1:]) if b else np.nan,
                    }
                    if not b:
                        row["significant"] = int((before[a][1] != 0).sum())
                        row |= {"lost": lost[share, a] / n_samples, "reversed": turned[share, a] / n_samples}
                    rows.append(row)
    facts = {"fractions": shares, "policies": list(policies), "n_samples": n_samples}
    return recorded(pd.DataFrame(rows), "stability", **resamples.provenance(self, contrasts, seed), **facts)


def _left_out_only(table: pd.DataFrame) -> pd.DataFrame:
    return table[table["policy"] == "left out"]


@study(
    "What a group of runs loses whose documents were not pooled",
    Headline(
        "bias", "change of the mean preference of a group that is left out", "largest", "smallest", _left_out_only
    ),
    Intervals(
        "What a group of runs loses that the pool left out",
        "bias",
        "change of the group's mean preference",
        "policy",
        marks=single,
    ),
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
    _check_contrasts(contrasts, self)
    pooled = without_labels(self.judgments, pool_depth(self) > depth)
    full = self.with_judgments(pooled)
    resamples = TwoWay.draw(full, groups, n_resamples, alpha, seed)
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
        others = [run for run, group in enumerate(resamples.of_run) if group != g]
        removed = relevant & (pool_depth(self, others) > depth)
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
        for a, b in [*((label, "") for label in biases), *contrasts]:
            bias = biases[a] - biases[b] if b else biases[a]
            low, high = resamples.interval(bias[1:])
            row = {"policy": policy, "measure": a, "minus": b, "groups": len(resamples.groups)}
            row |= {"lost": float(np.mean(lost)), "bias": bias[0], "ci_low": low, "ci_high": high}
            rows.append(row | ({"p": resamples.p(bias[1:])} if b else shares[a]))
    return recorded(pd.DataFrame(rows), "left_out", **resamples.provenance(full, contrasts, seed), depth=depth)


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


def as_many(judgments: Judgments, relevant: Bools, removed: Bools, rng: np.random.Generator) -> Bools:
    """As many relevant documents of each query, drawn at random."""
    rows = np.flatnonzero(relevant)
    order = rows[np.lexsort((rng.random(len(rows)), judgments.query[rows]))]
    count = np.bincount(judgments.query[removed], minlength=len(judgments))
    chosen = np.zeros(len(relevant), dtype=bool)
    chosen[order] = position_in_segment(judgments.query[order]) < count[judgments.query[order]]
    return chosen


def _check_contrasts(contrasts: Contrasts, decisions: Decisions) -> None:
    unknown = [label for pair in contrasts for label in pair if label not in decisions.labels]
    if unknown:
        raise ValueError(f"{unknown[0]!r} in contrasts is not among the measures {', '.join(decisions.labels)}")


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

    @classmethod
    def draw(
        cls,
        decisions: Decisions,
        groups: Mapping[str, str] | None,
        n_resamples: int,
        alpha: float,
        seed: int,
    ) -> TwoWay:
        """Draw queries and groups with replacement; every run needs a group."""
        check_integer("n_resamples", n_resamples)
        check_integer("seed", seed, least=0)
        check_number("alpha", alpha, above=0, below=1)
        names = (
            {name: name for name in decisions.names} if groups is None else {str(k): str(v) for k, v in groups.items()}
        )
        lacking = [name for name in decisions.names if name not in names]
        if lacking:
            raise ValueError(f"run {lacking[0]!r} has no group")
        known = sorted({names[name] for name in decisions.names})
        of_run = np.array([known.index(names[name]) for name in decisions.names])
        rng = np.random.default_rng(seed)
        group_weight, query_weight = (
            np.concatenate([np.ones((1, size)), rng.multinomial(size, np.full(size, 1 / size), size=n_resamples)])
            for size in (len(known), len(decisions.queries))
        )
        of_pair = np.stack([of_run[place] for place in decisions.pairs], axis=1)
        return cls(known, of_run, of_pair, group_weight, query_weight, alpha)

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

    def interval(self, resampled: Floats) -> tuple[float, float]:
        """The percentile interval; resamples without a pair of runs are left out. NaN where there is none."""
        known = resampled[~np.isnan(resampled)]
        if len(known) == 0:
            return np.nan, np.nan
        low, high = np.quantile(known, [self.alpha / 2, 1 - self.alpha / 2])
        return float(low), float(high)

    def p(self, resampled: Floats) -> float:
        """2 min(P(<= 0), P(>= 0)), the observed one counted among the resamples."""
        known = resampled[~np.isnan(resampled)]
        tail = min(np.count_nonzero(known <= 0), np.count_nonzero(known >= 0))
        return min(1.0, 2 * (1 + tail) / (1 + len(known)))

    def provenance(self, decisions: Decisions, contrasts: Contrasts, seed: int) -> dict[str, Any]:
        """What a study says of its resamples and of its input."""
        return {
            "groups": {name: self.groups[group] for name, group in zip(decisions.names, self.of_run, strict=True)},
            "contrasts": [tuple(pair) for pair in contrasts],
            "n_resamples": len(self.query_weight) - 1,
            "alpha": self.alpha,
            "seed": seed,
            **decisions.provenance,
        }
