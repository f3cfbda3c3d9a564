"""Two judges: do two sets of judgments agree on documents, on the order of runs, and on what is significant?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall._util.arrays import Floats
from ir_lexirecall._util.errors import check_integer, required
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.rounding import same
from ir_lexirecall.comparison.compared import Design
from ir_lexirecall.comparison.comparing import compare_runs
from ir_lexirecall.comparison.result import Comparison
from ir_lexirecall.comparison.verdicts import BETTER, WORSE
from ir_lexirecall.data.aligned_run import AlignedRun
from ir_lexirecall.data.alignment import align
from ir_lexirecall.data.judgments import Judgments, QrelsLike
from ir_lexirecall.meta.agreements import order_of, tau_b
from ir_lexirecall.meta.decisions import Decisions
from ir_lexirecall.meta.missing_labels import interval, times_drawn
from ir_lexirecall.meta.records import SEED, Option, introduction, recorded, study
from ir_lexirecall.plots.studies import Shares
from ir_lexirecall.present.findings import Finding
from ir_lexirecall.present.text import count, format_number
from ir_lexirecall.significance import SignificanceTest


def _finding(table: pd.DataFrame) -> Finding:
    """How far two judges agree on documents, on runs and on conclusions."""
    kappa, alpha = (
        format_number(table.attrs[f"{name}_of_grades"], 3) for name in ("kappa", "alpha")
    )
    sentences = [f"{introduction(table)} Of grades: kappa {kappa}, alpha {alpha}."]
    for row in table.itertuples():
        said = f"{row.measure}, grade {row.rel:g} or more: tau {format_number(row.tau, 3)}; of {count(row.pairs, 'pair')} of runs"
        sentences.append(
            f"{said}, {row.both} differ significantly by both, {row.only_a + row.only_b} by one only, {row.opposite} in opposite "
            "directions."
        )
    return Finding(sentences)


@study(
    "Agreement of two judges on documents, on the order of runs, and on what is significant",
    _finding,
    Shares(
        "What two judges conclude about pairs of runs",
        {
            "both": "significant by both",
            "only_a": "by the first judge only",
            "only_b": "by the second judge only",
            "opposite": "in opposite directions",
            "neither": "by neither",
        },
        meaning="pairs of runs",
        marks=lambda table: table.set_index(
            table["measure"] + ", grade ≥ " + table["rel"].map("{:g}".format)
        ),
    ),
    example="qrels.txt *.run --qrels-b model.qrels -m nDCG@10 AP",
    options={
        "qrels_b": Option(
            "qrels of the other judge, on the same queries", required=True, shown="FILE"
        ),
        "n_resamples": Option(
            "resamples of the queries, for the range of tau (default: 1000)", int
        ),
        **SEED,
    },
    runs=("cutoff", "allow_empty"),
    test=SignificanceTest(),
)
def judges(
    self: Decisions,
    qrels_b: QrelsLike,
    *,
    test: str | SignificanceTest | None = None,
    n_resamples: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    """Compare two judges of the same queries: people and a language model, two assessors, two guidelines.

    For every threshold (every grade above 0 that either judge gives), documents of a lower grade count as not relevant. Compared are
    the documents that both judged (Cohen's kappa, Krippendorff's alpha), the order of runs by their means (Kendall's tau-b, and tau_AP,
    which weighs the top more and takes the study's qrels for the truth), and conclusions: pairs of runs that differ significantly by both in the
    same direction, by one of them only, by both in opposite directions. Agreement on documents does not make agreement on
    runs, nor the other way round.

    Args:
        qrels_b: judgments by the other judge, in any form that ``evaluate`` takes; the study's qrels are those of the first.
            Queries that only one of them has are left out.
        test: of the differences: a test's name, or a ``SignificanceTest``, as in ``compare``.
        n_resamples, seed: queries are resampled, to see how much tau depends on them.

    Returns:
        A row per measure and threshold: ``measure``, ``rel``, ``queries``, ``documents`` (judged by both), ``kappa``, ``alpha``, ``tau``, ``tau_low``,
        ``tau_high``, ``tau_ap``, ``tau_ap_low``, ``tau_ap_high``, ``pairs``, ``both``, ``only_a``, ``only_b``, ``opposite``, ``neither``.
        From ``tau_low`` to ``tau_high`` lie 95% of the taus of resampled queries: other queries would give another tau. That is no
        confidence interval of the tau of the true means: in resamples close runs change places more often than in the sample, so
        that tau is lower there, and two judges whose true orders agree are found below 1.
        ``attrs`` hold ``confusion`` (documents by grade of a, then of b), ``kappa_of_grades`` (linear weights) and ``alpha_of_grades``
        (ordinal). NaN where a coefficient is not defined, as kappa is where a judge gives one grade only.

    Raises:
        ModuleNotFoundError: statsmodels or krippendorff is not installed.
        ValueError: no common query, fewer than two runs, bad input, an unknown test, or runs that were given aligned.

    Source: Yilmaz, Aslam, Robertson, A New Rank Correlation Coefficient for Information Retrieval, SIGIR 2008,
    doi 10.1145/1390334.1390435; Hayes, Krippendorff, Answering the Call for a Standard Reliability Measure for Coding Data, 2007,
    doi 10.1080/19312450709336664.

    >>> from ir_lexirecall import demo
    >>> from ir_lexirecall.meta import Study
    >>> table = Study("AP", demo.qrels(), demo.runs()).judges(demo.qrels())
    >>> table[["measure", "rel", "kappa", "tau", "pairs", "opposite"]]
      measure  rel  kappa  tau  pairs  opposite
    0      AP    1    1.0  1.0     10         0
    1      AP    2    1.0  1.0     10         0
    2      AP    3    1.0  1.0     10         0
    """
    check_integer("n_resamples", n_resamples)
    tested = (
        test
        if isinstance(test, SignificanceTest)
        else SignificanceTest(test, progress=self.progress)
    )
    if not self.labels:
        self.check()
    a, b = self.judgments, Judgments.from_qrels(qrels_b)
    ids = [query_id for query_id in a.query_ids if query_id in b.place]
    if not ids:
        raise ValueError("the two sets of judgments have no query in common")
    full = {
        name: run for name, run in self.aligned.sources.items() if not isinstance(run, AlignedRun)
    }
    if lacking := [name for name in self.names if name not in full]:
        raise ValueError(
            f"run {lacking[0]!r} is aligned with one judge's documents; give the full run"
        )
    place = np.array([a.place[query_id] for query_id in ids])
    both = a.restricted_to(ids), b.restricted_to(ids)
    aligned_a = {name: run.restricted_to(place) for name, run in self.aligned.runs.items()}
    aligned_b = {name: align(both[1], run) for name, run in full.items()}
    joined = both[0].judged_keys.join(
        both[1].judged_keys, on=["query", "doc_id"], how="inner", suffix="_b"
    )
    grades_a, grades_b = (
        judgments.grade[joined[doc].to_numpy()]
        for judgments, doc in zip(both, ("doc", "doc_b"), strict=True)
    )
    highest = np.concatenate([judgments.grade for judgments in both])
    thresholds = [
        int(grade) if grade.is_integer() else grade
        for grade in np.unique(highest[highest > 0]).tolist()
    ]
    rows: list[dict[str, Any]] = []
    for rel in thresholds:
        measures = {
            label: what(rel=rel)
            if "rel" in what.SUPPORTED_PARAMS and "rel" not in what.params
            else what
            for label, what in self.labels.items()
        }
        comparisons = []
        for judgments, runs in zip(both, (aligned_a, aligned_b), strict=True):
            grade = judgments.grade
            binary = judgments.with_grades(np.where(grade >= rel, grade, np.minimum(grade, 0)))
            of_threshold: dict[str, Any] = {
                name: replace(run, judgments=binary) for name, run in runs.items()
            }
            comparisons.append(
                compare_runs(binary, of_threshold, measures, Design(test=tested, allow_empty=True))
            )
        relevant_a, relevant_b = (
            (grades >= rel).astype(np.float64) for grades in (grades_a, grades_b)
        )
        facts = {"rel": rel, "queries": len(ids), "documents": len(grades_a)}
        facts |= {
            "kappa": _kappa(relevant_a, relevant_b),
            "alpha": _alpha(relevant_a, relevant_b, "nominal"),
        }
        for name in self.labels:
            verdicts = (compared.verdicts(name)["verdict"] for compared in comparisons)
            x, y = (
                np.array([{BETTER: 1, WORSE: -1}.get(verdict, 0) for verdict in column])
                for column in verdicts
            )
            conclusions = {
                "both": (x == y) & (x != 0),
                "only_a": (x != 0) & (y == 0),
                "only_b": (x == 0) & (y != 0),
                "opposite": x * y == -1,
                "neither": (x == 0) & (y == 0),
            }
            row = {
                "measure": name,
                **facts,
                **_orders(comparisons, name, n_resamples, seed),
                "pairs": len(x),
            }
            rows.append(
                row | {conclusion: int(np.sum(pairs)) for conclusion, pairs in conclusions.items()}
            )
    rows.sort(key=lambda row: list(self.labels).index(row["measure"]))
    tests = {
        name: tested.named(measure=isinstance(what, IRMeasure)).name
        for name, what in self.labels.items()
    }
    about = {"measures": list(self.labels), "runs": self.names, "queries": len(ids), "test": tests}
    about |= {
        "correction": tested.counted_correction,
        "alpha": tested.alpha,
        "n_resamples": n_resamples,
        "seed": seed,
    }
    kappa, alpha = (
        _kappa(grades_a, grades_b, weights="linear"),
        _alpha(grades_a, grades_b, "ordinal"),
    )
    about |= {
        "confusion": confusion(grades_a, grades_b),
        "kappa_of_grades": kappa,
        "alpha_of_grades": alpha,
    }
    return recorded(pd.DataFrame(rows), "judges", **about)


def confusion(a: Floats, b: Floats) -> dict[float, dict[float, int]]:
    """Documents by the grade of one judge, then of the other.

    >>> confusion(np.array([1.0, 1.0, 0.0]), np.array([1.0, 0.0, 0.0]))
    {0.0: {0.0: 1, 1.0: 0}, 1.0: {0.0: 1, 1.0: 1}}
    """
    grades = np.unique(np.concatenate([a, b])).tolist()
    return {x: {y: int(np.sum((a == x) & (b == y))) for y in grades} for x in grades}


def _orders(
    comparisons: list[Comparison], name: str, n_resamples: int, seed: int
) -> dict[str, float]:
    """Kendall's tau and tau_AP between the orders of runs, and between what ends 95% of them lie if queries are resampled."""
    one, other = (comparison.criterion(name) for comparison in comparisons)
    common, place, other_place = np.intersect1d(one.query_ids, other.query_ids, return_indices=True)
    if not len(common):
        return dict.fromkeys(
            [f"{what}{end}" for what in ("tau", "tau_ap") for end in ("", "_low", "_high")], np.nan
        )
    a, b = one.standings[:, place], other.standings[:, other_place]
    weights = times_drawn(np.random.default_rng(seed), len(common), n_resamples).T / len(common)
    means = a @ weights, b @ weights
    pairs = np.triu_indices(len(a), 1)
    tau = tau_b(*(order_of(x, pairs) for x in means))
    columns: dict[str, float] = {}
    for what, values in (("tau", tau), ("tau_ap", tau_ap(*means))):
        columns[what], columns[f"{what}_low"], columns[f"{what}_high"] = interval(values, 0.05)
    return columns


def tau_ap(truth: Floats, other: Floats) -> Floats:
    """tau_AP of the order by ``other``, with ``truth`` as the true means; shape ``(S, R)`` each, R times.

    2 / (S - 1) sum over i = 2..S of C(i) / (i - 1), less 1: C(i) counts the runs that ``other`` puts above its i-th one and that are
    truly better; ties count one half.

    >>> tau_ap(np.array([[3.0], [2.0], [1.0]]), np.array([[3.0, ], [1.0], [2.0]])), tau_ap(np.eye(2), np.eye(2)[::-1])
    (array([0.5]), array([-1., -1.]))
    """
    size = len(truth)
    order = np.argsort(-other, axis=0, kind="stable")
    truth, other = (np.take_along_axis(x, order, axis=0) for x in (truth, other))
    total = np.zeros(truth.shape[1])
    for i in range(1, size):
        is_tie = same(truth[:i], truth[i]) | same(other[:i], other[i])
        right = np.where(is_tie, 0.5, truth[:i] > truth[i])
        total += right.mean(axis=0)
    return 2 * total / (size - 1) - 1


def _kappa(a: Floats, b: Floats, weights: str | None = None) -> float:
    """Cohen's kappa; NaN where it is not defined."""
    inter_rater = required("statsmodels.stats.inter_rater", "kappa", "statsmodels", "compare")
    table = np.array([list(row.values()) for row in confusion(a, b).values()], dtype=np.float64)
    if len(table) < 2 or not len(a):
        return float("nan")
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(inter_rater.cohens_kappa(table, wt=weights, return_results=False))


def _alpha(a: Floats, b: Floats, level: str) -> float:
    """Krippendorff's alpha; NaN where it is not defined."""
    krippendorff = required("krippendorff", "Krippendorff's alpha", "krippendorff", "compare")
    if len(np.unique(np.concatenate([a, b]))) < 2:
        return float("nan")
    return float(krippendorff.alpha(np.stack([a, b]), level_of_measurement=level))
