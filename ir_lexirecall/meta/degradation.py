"""Label degradation: what becomes of a measure's decisions when relevance labels are missing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from ir_lexirecall._util.arrays import Bools, Ints, position_in_segment
from ir_lexirecall._util.errors import check_choice, check_integer, is_number
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.progress import progress_bar
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.meta.correlations import coefficient_of
from ir_lexirecall.meta.decisions import INCOMPARABLE, Decisions, means
from ir_lexirecall.meta.records import AGGREGATE, ON_RUNS, SEED, Headline, Option, recorded, study
from ir_lexirecall.plots.studies import Lines

POLICIES = ("random", "pool", "frequency")
_NEVER = np.iinfo(np.int64).max


def _means_by_fraction(table: pd.DataFrame) -> pd.DataFrame:
    rising = table.sort_values("fraction", kind="stable")
    return rising.groupby(["measure", "fraction"], sort=False)[["agreement", "ties"]].mean().reset_index()


@study(
    "Ties and agreement after relevance labels are removed",
    Headline("agreement", "decisions as with the full labels", "most robust", "least robust"),
    Lines(
        "What incomplete judgments change: agreement (solid), ties (dashed)",
        "fraction",
        "agreement",
        "fraction of relevant labels removed ({policy})",
        "share of decisions",
        marks=_means_by_fraction,
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
            rows.append(
                {
                    "measure": label,
                    "fraction": fraction,
                    "sample": sample,
                    "removed": int(removed.sum()),
                    "ties": float((after == 0).mean()),
                    "agreement": float((after == before[label]).mean()),
                    "reversals": float((after * before[label] == -1).mean()),
                    "kendall": coefficient_of("kendall", means_before[label], means(fewer.values(label))),
                }
            )
    table = pd.DataFrame(rows)
    if aggregate:
        mean = table.groupby(["measure", "fraction"]).mean(numeric_only=True).drop(columns="sample")
        table = mean.loc[list(product(self.labels, dict.fromkeys(shares)))].reset_index()
    tied = {label: float((signs == 0).mean()) for label, signs in before.items()}
    facts = {"fractions": shares, "policy": policy, "n_samples": n_samples, "seed": seed, "ties": tied}
    return recorded(table, "degrade", **facts, **self.provenance)


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
    relevant = np.flatnonzero(judgments.grade >= decisions.rel)
    query = judgments.query[relevant]
    m = judgments.m(decisions.rel)
    first = np.zeros(
        len(judgments.grade), dtype=np.int64
    )  # the label of the document with the largest number goes first
    if policy == "pool":
        first = pool_depth(decisions)
    elif policy == "frequency":  # how many of the runs retrieve it
        docs = [run.doc for run in decisions.aligned.runs.values()]
        first = -np.bincount(np.concatenate(docs), minlength=len(judgments.grade))
    first = first[relevant]
    rng = np.random.default_rng(seed)
    for sample in range(n_samples):
        order = np.lexsort((rng.random(len(relevant)), -first, query))
        place = position_in_segment(query[order])
        for fraction in fractions:
            # Rounded first: (1 - 0.9) * 10 must keep one label, not two.
            kept = np.maximum(np.ceil(np.round((1 - fraction) * m, 9)), 1)
            removed = np.zeros(len(judgments.grade), dtype=bool)
            removed[relevant[order]] = place < (m - kept)[query[order]]
            yield fraction, sample, removed


def pool_depth(decisions: Decisions, runs: Iterable[int] | None = None) -> Ints:
    """The smallest rank that any run (of some, by place) gives each judged document; the largest integer where none has it."""
    depth: Ints = np.full(len(decisions.judgments.grade), _NEVER, dtype=np.int64)
    aligned = list(decisions.aligned.runs.values())
    for run in aligned if runs is None else [aligned[place] for place in runs]:
        np.minimum.at(depth, run.doc, run.rank)
    return depth


def without_labels(judgments: Judgments, removed: Bools) -> Judgments:
    """The same documents, some of them (a truth value for each) judged not relevant in every aspect."""
    table = None if judgments.table is None else judgments.table.without_labels(removed)
    return replace(judgments, grade=np.where(removed, 0.0, judgments.grade), table=table)
