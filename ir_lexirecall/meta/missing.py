"""Which labels are missing: what becomes of decisions, and of a group of runs whose documents nobody judged.

Intervals come from one bootstrap over queries and over groups of runs together, the same resamples for all measures, so that
measures can be subtracted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ir_lexirecall._util.arrays import Bools, Floats, Ints, levelled, position_in_segment
from ir_lexirecall._util.errors import check_choice, check_integer, entry
from ir_lexirecall._util.progress import progress_bar
from ir_lexirecall.data.alignment import RunLike
from ir_lexirecall.data.judgments import Judgments, QrelsLike
from ir_lexirecall.measures.parsing import MeasuresLike
from ir_lexirecall.meta.decisions import Decisions, Signs
from ir_lexirecall.meta.degradation import POLICIES, checked_fractions, pool_depth, removals, without_labels
from ir_lexirecall.meta.result import study
from ir_lexirecall.meta.two_way import TwoWay
from ir_lexirecall.significance import corrected, t_test

Contrasts = Sequence[tuple[str, str]]


@entry
def stability(
    measures: MeasuresLike,
    qrels: QrelsLike,
    runs: Mapping[str, RunLike],
    fractions: Iterable[float] = (0.2, 0.5, 0.8),
    *,
    policies: Sequence[str] = POLICIES,
    groups: Mapping[str, str] | None = None,
    contrasts: Contrasts = (),
    n_samples: int = 5,
    n_resamples: int = 2000,
    alpha: float = 0.05,
    rel: float = 1,
    allow_empty: bool = False,
    seed: int = 0,
    progress: bool | None = None,
) -> pd.DataFrame:
    """Agreement with the full labels by how labels were lost, with intervals over queries and groups of runs together.

    Equal shares of every query's relevant labels are removed by each policy (those of ``degrade``). A decision is which of two
    runs is better on a query. ``agreement`` is the share of all decisions that stay the same, ties included; ``decided`` that
    of the decisions which are no ties with the full labels.

    The bootstrap draws queries and groups with replacement, together: a pair of runs of two groups weighs the product of how
    often these are drawn, a pair of one group as often as that is. Intervals are percentiles. A contrast is the difference of two
    measures over the same resamples; its p is 2 min(P(<= 0), P(>= 0)), the observed one counted among them.

    Args:
        measures: measures, strings, and names of preferences (``'lexirecall'``, ...).
        fractions: of the relevant labels to remove, each between 0 and 1.
        policies: how: ``'random'``, ``'pool'``, ``'frequency'``.
        groups: the group of each run, such as who submitted it; by default every run is a group.
        contrasts: pairs of labels of measures, to be subtracted.
        n_samples: how often to draw labels.
        n_resamples: of the bootstrap.
        alpha: 1 - confidence of the intervals, and level of the tests that ``significant`` counts.
        seed: of the labels and of the bootstrap.
        qrels, runs, rel, allow_empty, progress: as in ``ties``.

    Returns:
        A row per policy, fraction, and measure or contrast: ``policy``, ``fraction``, ``measure``, ``minus`` (empty but for
        contrasts), ``agreement``, ``ci_low``, ``ci_high``, ``decided``, ``decided_low``, ``decided_high``, ``p`` (of a contrast's
        ``decided``), ``significant`` (pairs of runs with a significant difference with the full labels: paired t, Holm), and how
        many of these are ``lost`` (no longer significant) or ``reversed`` (significantly the other way), means over the samples.

    Raises:
        ValueError: bad input, a run without a group, or a contrast of what is no measure.

    Source: after Diaz, Ekstrand, Mitra, TORS 2026, Figure 15, doi 10.1145/3728373; the bootstrap after Owen, The Pigeonhole
    Bootstrap, 2007, doi 10.1214/07-AOAS122.

    >>> from ir_lexirecall import demo
    >>> table = stability(["lexirecall", "AP"], demo.qrels(), demo.runs(), [0.5], policies=["random", "pool"],
    ...                   contrasts=[("lexirecall", "AP")], n_samples=2, n_resamples=200)
    >>> table[["policy", "measure", "minus"]].agg(" ".join, axis=1).tolist()
    ['random lexirecall ', 'random AP ', 'random lexirecall AP', 'pool lexirecall ', 'pool AP ', 'pool lexirecall AP']
    """
    shares = checked_fractions(fractions)
    for policy in policies:
        check_choice("policies", policy, POLICIES)
    check_integer("n_samples", n_samples)
    full = Decisions.from_runs(measures, qrels, runs, rel, None, allow_empty, progress)
    _check_contrasts(contrasts, full)
    resamples = TwoWay.draw(full, groups, n_resamples, alpha, seed)
    before = {label: _Judged.by(full, label, full.queries, alpha) for label in full.labels}
    rows: list[dict[str, Any]] = []
    with progress_bar(progress, total=len(policies) * len(shares) * n_samples, desc="degraded labels") as bar:
        for policy in policies:
            sums = {(share, label): _Sums() for share in shares for label in full.labels}
            for share, _, removed in removals(full, shares, policy, n_samples, seed):
                fewer = full.with_judgments(without_labels(full.judgments, removed))
                for label in full.labels:
                    sums[share, label].add(before[label], _Judged.by(fewer, label, full.queries, alpha))
                bar.update()
            for share in shares:
                of_share = {label: sums[share, label] for label in full.labels}
                some = _rows(resamples, before, of_share, contrasts, n_samples)
                rows += [{"policy": policy, "fraction": share, **row} for row in some]
    return study(
        pd.DataFrame(rows),
        "stability",
        **_provenance(full, resamples, contrasts, seed),
        fractions=shares,
        policies=list(policies),
        n_samples=n_samples,
    )


@entry
def left_out(
    measures: MeasuresLike,
    qrels: QrelsLike,
    runs: Mapping[str, RunLike],
    groups: Mapping[str, str],
    *,
    depth: int = 10,
    contrasts: Contrasts = (),
    n_resamples: int = 2000,
    alpha: float = 0.05,
    rel: float = 1,
    allow_empty: bool = False,
    seed: int = 0,
    progress: bool | None = None,
) -> pd.DataFrame:
    """What a group of runs loses where its documents were not pooled.

    The labels of a pool are those of the relevant documents that some run ranks within ``depth``. Each group in turn is left out of
    the pool; its ``bias`` is by how much the mean preference of its runs over those of other groups changes (their decisions:
    1, 0, -1), from the pool of all groups to the pool of the others; below 0, being left out hurts. As a control, as many labels of each query
    are removed at random. The bootstrap is that of ``stability``; the labels are those of the observed groups throughout. A query whose labels
    are all gone decides nothing.

    Args:
        measures, qrels, runs, contrasts, n_resamples, alpha, rel, allow_empty, seed, progress: as in ``stability``.
        groups: the group of each run; at least two.
        depth: of the pool.

    Returns:
        A row per policy (``'left out'``, ``'random, as many'``) and measure or contrast: ``policy``, ``measure``, ``minus``,
        ``groups``, ``lost`` (share of the pool's relevant labels, mean over the groups), ``bias``, ``ci_low``, ``ci_high``, ``p`` (of a
        contrast's bias), and ``agreement`` and ``decided`` of the group's decisions against others.

    Raises:
        ValueError: bad input, a run without a group, or fewer than two groups.

    Source: after Zobel, How Reliable are the Results of Large-Scale Information Retrieval Experiments?, SIGIR 1998,
    doi 10.1145/290941.291014.

    >>> from ir_lexirecall import demo
    >>> by_name = {name: name.partition("_")[0] for name in demo.runs()}
    >>> table = left_out(["lexirecall", "AP"], demo.qrels(), demo.runs(), by_name, n_resamples=200)
    >>> table[["policy", "measure", "groups"]].to_records(index=False).tolist()[:2]
    [('left out', 'lexirecall', 4), ('left out', 'AP', 4)]
    """
    check_integer("depth", depth)
    everything = Decisions.from_runs(measures, qrels, runs, rel, None, allow_empty, progress)
    _check_contrasts(contrasts, everything)
    pooled = without_labels(everything.judgments, pool_depth(everything) > depth)
    full = everything.with_judgments(pooled)
    resamples = TwoWay.draw(full, groups, n_resamples, alpha, seed)
    if len(resamples.groups) < 2:
        raise ValueError(f"at least 2 groups are needed, not {len(resamples.groups)}")
    before = {label: full.signs(label) for label in full.labels}
    rng = np.random.default_rng([seed, 1])
    parts: dict[str, dict[str, list[Signs]]] = {
        policy: {label: [] for label in full.labels} for policy in ("left out", "random, as many")
    }
    selected, turned, lost = [], [], []
    relevant = pooled.grade >= rel
    for g in progress_bar(progress, range(len(resamples.groups)), desc="groups"):
        others = [place for place, group in enumerate(resamples.of_run) if group != g]
        removed = relevant & (pool_depth(everything, others) > depth)
        lost.append(removed.sum() / relevant.sum())
        pairs = np.flatnonzero((resamples.of_pair == g).sum(axis=1) == 1)
        selected.append(pairs)
        turned.append(np.where(resamples.of_pair[pairs, 0] == g, 1, -1))
        for policy, mask in {"left out": removed, "random, as many": _as_many(pooled, relevant, removed, rng)}.items():
            fewer = full.with_judgments(without_labels(pooled, mask))
            for label in full.labels:
                parts[policy][label].append(_signs(fewer, label, full.queries)[pairs])
    pair, turn = np.concatenate(selected), np.concatenate(turned)[:, None]

    def row(policy: str, measure: str, minus: str, bias: Floats) -> dict[str, Any]:
        start = {"policy": policy, "measure": measure, "minus": minus, "groups": len(resamples.groups)}
        low, high = resamples.interval(bias[1:])
        return start | {"lost": float(np.mean(lost)), "bias": bias[0], "ci_low": low, "ci_high": high}

    rows: list[dict[str, Any]] = []
    for policy, signs in parts.items():
        biases = {}
        for label in full.labels:
            after, was = np.concatenate(signs[label]), before[label][pair]
            biases[label] = resamples.ratio((turn * (after - was)).astype(np.float64), np.ones(after.shape), pair)
            kept, decided = after == was, was != 0
            share = float((kept & decided).sum() / decided.sum()) if decided.any() else np.nan
            rows.append(
                row(policy, label, "", biases[label]) | {"p": np.nan, "agreement": kept.mean(), "decided": share}
            )
        for a, b in contrasts:
            difference = biases[a] - biases[b]
            rows.append(row(policy, a, b, difference) | {"p": resamples.p(difference[1:])})
    return study(pd.DataFrame(rows), "left_out", **_provenance(full, resamples, contrasts, seed), depth=depth)


# -- decisions with other labels -------------------------------------------------------------------


@dataclass(frozen=True)
class _Judged:
    """What one measure says of all pairs: signs per query, and whose difference is significant (1, -1, else 0)."""

    signs: Signs
    significant: Ints

    @classmethod
    def by(cls, decisions: Decisions, label: str, queries: Ints, alpha: float) -> _Judged:
        measure, (a, b) = decisions.labels[label], decisions.pairs
        if isinstance(measure, str):
            x = np.concatenate(list(decisions.counts.of_pairs(measure, a.tolist(), b.tolist())))
        else:
            values = levelled(decisions.rising(label))
            x = values[a] - values[b]
        tested = t_test(x, alpha)
        _, reject = corrected(tested.p, "holm", alpha)
        return cls(_signs(decisions, label, queries), np.where(reject, np.sign(tested.estimate), 0).astype(np.int64))


@dataclass
class _Sums:
    """Over samples of labels: how often each decision stays the same, and conclusions that were lost or reversed."""

    kept: Any = 0.0
    lost: int = 0
    reversed: int = 0

    def add(self, before: _Judged, after: _Judged) -> None:
        self.kept = self.kept + (before.signs == after.signs)
        self.lost += int(((before.significant != 0) & (after.significant == 0)).sum())
        self.reversed += int((before.significant * after.significant == -1).sum())


def _rows(
    resamples: TwoWay, before: Mapping[str, _Judged], sums: Mapping[str, _Sums], contrasts: Contrasts, n_samples: int
) -> Iterator[dict[str, Any]]:
    """The measures and contrasts of one policy and share."""
    every, decided = {}, {}
    for label, of_label in sums.items():
        kept, open_ = of_label.kept / n_samples, (before[label].signs != 0).astype(np.float64)
        every[label] = resamples.ratio(kept, np.ones(kept.shape))
        decided[label] = resamples.ratio(kept * open_, open_)
        conclusions = {
            "significant": int((before[label].significant != 0).sum()),
            "lost": of_label.lost / n_samples,
            "reversed": of_label.reversed / n_samples,
        }
        yield _row(resamples, label, "", every[label], decided[label]) | {"p": np.nan} | conclusions
    for a, b in contrasts:
        difference = decided[a] - decided[b]
        yield _row(resamples, a, b, every[a] - every[b], difference) | {"p": resamples.p(difference[1:])}


def _row(resamples: TwoWay, measure: str, minus: str, every: Floats, decided: Floats) -> dict[str, Any]:
    low, high = resamples.interval(every[1:])
    decided_low, decided_high = resamples.interval(decided[1:])
    row = {"measure": measure, "minus": minus, "agreement": float(every[0]), "ci_low": low, "ci_high": high}
    return row | {"decided": float(decided[0]), "decided_low": decided_low, "decided_high": decided_high}


def _signs(decisions: Decisions, label: str, queries: Ints) -> Signs:
    """Decisions on some queries; 0 on those that have no relevant document any more."""
    signs: Signs = np.zeros((len(decisions.pairs[0]), len(queries)), dtype=np.int8)
    signs[:, np.isin(queries, decisions.queries)] = decisions.signs(label)
    return signs


def _as_many(judgments: Judgments, relevant: Bools, removed: Bools, rng: np.random.Generator) -> Bools:
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


def _provenance(decisions: Decisions, resamples: TwoWay, contrasts: Contrasts, seed: int) -> dict[str, Any]:
    names = {name: resamples.groups[group] for name, group in zip(decisions.names, resamples.of_run, strict=True)}
    return {
        "groups": names,
        "contrasts": [tuple(pair) for pair in contrasts],
        "n_resamples": len(resamples.query_weight) - 1,
        "alpha": resamples.alpha,
        "seed": seed,
        **decisions.provenance,
    }
