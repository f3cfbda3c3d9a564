"""Stability: what becomes of a measure's decisions when relevance labels are missing."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from numpy.typing import NDArray

from ir_lexirecall.evaluation import Evaluation
from ir_lexirecall.judgments import Judgments
from ir_lexirecall.meta.relations import coefficient_of
from ir_lexirecall.meta.study import Study, other
from ir_lexirecall.meta.systems import NOT_COMPARABLE, Systems, asked_measures, means, read_systems, score
from ir_lexirecall.progress import progress_bar
from ir_lexirecall.provider import by_others
from ir_lexirecall.scoring.arrays import Floats, Ints, position_in_segment

POLICIES = ("random", "pool")
_LABELS = ("query_id", "doc_id", "doc", "aspect", "subtopic_id", "iteration", "relevance", "weight")
_NEVER = np.iinfo(np.int64).max


def degrade(
    measures: Any,
    qrels: Any,
    runs: Mapping[str, Any],
    fractions: Sequence[float] = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
    policy: str = "random",
    n_samples: int = 10,
    seed: int = 0,
    *,
    rel: float = 1,
    cutoff: int | None = None,
    progress: bool | None = None,
) -> Study:
    """Ties and agreement with the full labels after a fraction of the relevant labels is removed.

    Of the m relevant documents of a query, ceil((1 - fraction) m) keep their labels, at least one; the others count as
    judged not relevant (grade 0, lowest label of every aspect). Within a sample, what a smaller fraction removes a
    larger one removes too.

    - ``policy='random'``: they are drawn at random.
    - ``policy='pool'``: those that a shallower pool would not have found. A document's pool depth is the smallest rank
      that any of the runs gives it; the deepest go first, before them those that no run retrieved, equals at random.

    The runs are read and aligned once, then judged again. A decision is which of two systems is better on a query.

    Args:
        measures: measures, strings, and names of preferences (``'lexirecall'``, ...).
        qrels: judgments in any format that ``evaluate`` takes.
        runs: at least two runs by name, in any format that ``evaluate`` takes, or ``JudgedRanks``.
        fractions: of the relevant labels to remove, each between 0 and 1.
        policy: which ones.
        n_samples: how often to draw.
        seed: of the random numbers.
        rel: smallest grade that counts as relevant; queries without a relevant document take no part.
        cutoff: of preferences: what is ranked below counts as not retrieved.
        progress: show progress bars; by default on a terminal only.

    Returns:
        A row per measure, fraction and sample: ``measure``, ``fraction``, ``sample``, ``removed`` (labels, all
        queries), and as shares of all decisions ``ties``, ``agreement`` (the same as with the full labels: ties, and
        pairs that a partial order leaves open, included) and ``reversals`` (the opposite); ``kendall`` (tau-b of the
        systems' orders by mean).

    Raises:
        ValueError: bad input, fewer than two runs, or an unknown policy.

    Source: Diaz, Ekstrand, Mitra, Recall, Robustness, and Lexicographic Evaluation, TORS 2026, doi 10.1145/3728373.

    >>> from ir_lexirecall import demo
    >>> table = degrade(["LR", "R@10"], demo.qrels(), demo.runs(), fractions=[0, 0.5], n_samples=2)
    >>> table[table["fraction"] == 0]["agreement"].tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    fractions = _checked_fractions(fractions)
    if policy not in POLICIES:
        raise ValueError(f"degrade: there is no policy {policy!r}; there are {', '.join(POLICIES)}")
    if isinstance(n_samples, bool) or not isinstance(n_samples, numbers.Integral) or n_samples < 1:
        raise ValueError(f"degrade: n_samples must be an integer of at least 1, not {n_samples!r}")
    if isinstance(seed, bool) or not isinstance(seed, numbers.Integral) or seed < 0:
        raise ValueError(f"degrade: seed must be an integer of at least 0, not {seed!r}")
    asked = asked_measures(measures, "degrade")
    keep_runs = any(not isinstance(each, str) and by_others(each) for each in asked.values())
    full = read_systems(
        "degrade",
        asked,
        qrels,
        runs,
        rel=rel,
        cutoff=cutoff,
        keep_runs=keep_runs,
        from_ranks=True,  # before as after
        progress=progress,
    )
    decisions = {label: full.decisions(label, NOT_COMPARABLE) for label in asked}
    full_means = {label: means(full.values(label)) for label in asked}
    rows = []
    drawn = _samples(full, fractions, policy, n_samples, seed)
    for fraction, sample, removed in progress_bar(
        progress, drawn, total=len(fractions) * n_samples, desc="degraded labels"
    ):
        fewer = _judged_again(full, without_labels(full.judgments, removed))
        for label in asked:
            decision = fewer.decisions(label, NOT_COMPARABLE)
            rows.append(
                {
                    "measure": label,
                    "fraction": fraction,
                    "sample": sample,
                    "removed": int(removed.sum()),
                    "ties": float((decision == 0).mean()),
                    "agreement": float((decision == decisions[label]).mean()),
                    "reversals": float((decision * decisions[label] == -1).mean()),
                    "kendall": coefficient_of("kendall", full_means[label], means(fewer.values(label))),
                }
            )
    return Study.of(
        pd.DataFrame(rows),
        _draw,
        function="degrade",
        fractions=fractions,
        policy=policy,
        n_samples=n_samples,
        seed=seed,
        ties={label: float((decision == 0).mean()) for label, decision in decisions.items()},
        **full.provenance,
    )


def mean_degradation(table: Study) -> Study:
    """The means over samples of what ``degrade`` gave: a row per measure and fraction.

    >>> from ir_lexirecall import demo
    >>> table = degrade("LR", demo.qrels(), demo.runs(), fractions=[0.2, 0.5], n_samples=3)
    >>> mean_degradation(table)["fraction"].tolist()
    [0.2, 0.5]
    """
    mean = table.groupby(["measure", "fraction"], sort=False).mean(numeric_only=True)
    mean = mean.drop(columns="sample").reset_index()
    return Study.of(mean, other(table), **table.attrs)


def _checked_fractions(fractions: Sequence[float]) -> list[float]:
    given = list(fractions) if isinstance(fractions, Iterable) and not isinstance(fractions, str) else []
    bad = [each for each in given if not isinstance(each, numbers.Real) or not 0 <= each <= 1]
    if bad or not given:
        raise ValueError(f"degrade: fractions must be numbers between 0 and 1, not {bad[0] if bad else fractions!r}")
    return [float(each) for each in given]


def _samples(
    systems: Systems, fractions: Sequence[float], policy: str, n_samples: int, seed: int
) -> Iterator[tuple[float, int, NDArray[np.bool_]]]:
    """Fractions, samples, and which of the judged documents lose their label."""
    judgments = systems.judgments
    relevant = np.flatnonzero(judgments.grade >= systems.rel)
    query = judgments.query[relevant]
    m = judgments.m(systems.rel)
    depth = pool_depth(systems)[relevant] if policy == "pool" else np.zeros(len(relevant), dtype=np.int64)
    rng = np.random.default_rng(seed)
    for sample in range(n_samples):
        order = np.lexsort((rng.random(len(relevant)), -depth, query))
        place = position_in_segment(query[order])
        for fraction in fractions:
            # Rounded first: (1 - 0.9) * 10 must keep one label, not two.
            kept = np.maximum(np.ceil(np.round((1 - fraction) * m, 9)), 1)
            removed = np.zeros(len(judgments.grade), dtype=bool)
            removed[relevant[order]] = place < (m - kept)[query[order]]
            yield fraction, sample, removed


def pool_depth(systems: Systems) -> Ints:
    """The smallest rank that any system gives each judged document; the largest integer where none retrieved it."""
    depth: Ints = np.full(len(systems.judgments.grade), _NEVER, dtype=np.int64)
    for ranks in systems.ranks.values():
        np.minimum.at(depth, ranks.doc, ranks.rank)
    return depth


def without_labels(judgments: Judgments, removed: NDArray[np.bool_]) -> Judgments:
    """The same documents, some of them (a truth value each) judged not relevant in every aspect."""
    rows = judgments.rows
    gone = pl.Series(removed[rows["doc"].to_numpy()])
    aspects = [name for name in rows.columns if name not in _LABELS]
    rows = rows.with_columns(
        pl.when(gone).then(0.0).otherwise(pl.col("relevance")).alias("relevance"),
        *(pl.when(gone).then(None).otherwise(pl.col(name)).alias(name) for name in aspects),
    )
    return replace(judgments, grade=np.where(removed, 0.0, judgments.grade), rows=rows, _cache={})


def _judged_again(systems: Systems, judgments: Judgments) -> Systems:
    """The same systems with other labels for the same documents."""
    ranks = {name: replace(each, judgments=judgments) for name, each in systems.ranks.items()}
    own = {label: each for label, each in systems.asked.items() if not isinstance(each, str)}
    others = {label: each for label, each in own.items() if by_others(each) and systems.runs}
    scores: dict[str, Floats] = {
        label: np.stack([score(measure, each) for each in ranks.values()])
        for label, measure in own.items()
        if label not in others
    }
    if others:
        evaluation = Evaluation(others, judgments)
        tables = [evaluation.of_ranks(each, systems.runs[name]) for name, each in ranks.items()]
        scores |= {label: np.stack([table[label].to_numpy(dtype=np.float64) for table in tables]) for label in others}
    return replace(systems, judgments=judgments, ranks=ranks, scores=scores)


def _draw(table: pd.DataFrame, ax: Any) -> Any:
    """Agreement (solid) and ties (dashed) by the fraction of labels removed, on average over the samples."""
    for i, (label, rows) in enumerate(table.groupby("measure", sort=False)):
        mean = rows.groupby("fraction")[["agreement", "ties"]].mean()
        ax.plot(mean.index, mean["agreement"], color=f"C{i}", label=label)
        ax.plot(mean.index, mean["ties"], color=f"C{i}", linestyle="--")
    ax.set_xlabel(f"fraction of relevant labels removed ({table.attrs['policy']})")
    ax.set_ylabel("share of decisions: agreement (solid), ties (dashed)")
    ax.legend(fontsize="small")
    return ax
