"""Two judges: do two sets of judgments agree on documents, on the order of runs, and on what is significant?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall._util import engine
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
    """Return the finding: agreement on documents, on the order of runs, and on conclusions."""
    kappa, alpha = (
        format_number(table.attrs[f"{name}_of_grades"], 3) for name in ("kappa", "alpha")
    )
    sentences = [f"{introduction(table)} Of grades: kappa {kappa}, alpha {alpha}."]
    for row in table.itertuples():
        sentences.append(
            f"{row.measure}, grade {row.rel:g} or more: tau {format_number(row.tau, 3)}; "
            f"of {count(row.pairs, 'pair')} of runs, {row.both} differ significantly by both, "
            f"{row.only_a + row.only_b} by one only, {row.opposite} in opposite directions."
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
    """Compare two judges of the same queries, such as people and a language model.

    At every threshold (every grade above 0 that either judge gives), documents with a lower grade
    count as not relevant. Three things are compared: the documents that both judged (Cohen's kappa,
    Krippendorff's alpha); the order of runs by their means (Kendall's tau-b, and tau_AP, which
    weighs the top more and takes the study's qrels for the truth); and conclusions, that is, pairs
    of runs that differ significantly by both in the same direction, by one of them only, or by both
    in opposite directions. Agreement on documents does not imply agreement on runs, or vice versa.

    Args:
        qrels_b: judgments by the other judge, in any form that ``evaluate`` takes; the study's
            qrels are those of the first. Queries that only one of them has are left out.
        test: of the differences: a test's name, or a ``SignificanceTest``, as in ``compare``.
        n_resamples, seed: queries are resampled, to see how much tau depends on them.

    Returns:
        A row per measure and threshold: ``measure``, ``rel``, ``queries``, ``documents`` (judged by
        both), ``kappa``, ``alpha``, ``tau``, ``tau_low``, ``tau_high``, ``tau_ap``, ``tau_ap_low``,
        ``tau_ap_high``, ``pairs``, ``both``, ``only_a``, ``only_b``, ``opposite``, ``neither``.
        From ``tau_low`` to ``tau_high`` lie 95% of the taus of resampled queries: other queries
        would give another tau. This is not a confidence interval of the tau of the true means: in
        resamples close runs change places more often than in the sample, so tau is lower there, and
        two judges whose true orders agree are found below 1. ``attrs`` hold ``confusion``
        (documents by grade of a, then of b), ``kappa_of_grades`` (linear weights) and
        ``alpha_of_grades`` (ordinal). NaN if a coefficient is not defined, such as kappa of a judge
        who gives one grade only.

    Raises:
        ModuleNotFoundError: statsmodels or krippendorff is not installed.
        ValueError: no common query, fewer than two runs, bad input, an unknown test, or runs that
            were given aligned.

    Source: Yilmaz, Aslam, Robertson, A New Rank Correlation Coefficient for Information Retrieval,
    SIGIR 2008, doi 10.1145/1390334.1390435; Hayes, Krippendorff, Answering the Call for a Standard
    Reliability Measure for Coding Data, 2007, doi 10.1080/19312450709336664.

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
    if not isinstance(test, SignificanceTest):
        test = SignificanceTest(test, progress=self.progress)
    if not self.labels:
        self.check()
    two = TwoJudges.of(self, Judgments.from_qrels(qrels_b))
    rows: list[dict[str, Any]] = []
    for rel in two.thresholds():
        facts = {"rel": rel, **two.agreement_on_documents(rel)}
        comparisons = two.comparisons(rel, self.labels, test)
        for name in self.labels:
            order = _orders(comparisons, name, n_resamples, seed)
            rows.append({"measure": name, **facts, **order, **_conclusions(comparisons, name)})
    rows.sort(key=lambda row: list(self.labels).index(row["measure"]))
    provenance = {
        "measures": list(self.labels),
        "runs": self.names,
        "queries": len(two.query_ids),
        "test": {
            name: test.named(measure=isinstance(criterion, IRMeasure)).name
            for name, criterion in self.labels.items()
        },
        "correction": test.counted_correction,
        "alpha": test.alpha,
        "n_resamples": n_resamples,
        "seed": seed,
        "confusion": confusion(*two.grades),
        "kappa_of_grades": _kappa(*two.grades, weights="linear"),
        "alpha_of_grades": _alpha(*two.grades, "ordinal"),
    }
    return recorded(pd.DataFrame(rows), "judges", **provenance)


@dataclass(frozen=True)
class TwoJudges:
    """Two sets of judgments of the same queries, and the runs aligned with each.

    Attributes:
        query_ids: the queries that both sets have.
        judgments: the judgments of both on these queries.
        runs: the aligned runs by name, for each judge.
        grades: the grades of the documents that both judged, for each judge.
    """

    query_ids: list[str]
    judgments: tuple[Judgments, Judgments]
    runs: tuple[dict[str, AlignedRun], dict[str, AlignedRun]]
    grades: tuple[Floats, Floats]

    @classmethod
    def of(cls, decisions: Decisions, other: Judgments) -> TwoJudges:
        """Return the judgments of a study and of another judge, with the study's runs."""
        first = decisions.judgments
        query_ids = [query_id for query_id in first.query_ids if query_id in other.place]
        if not query_ids:
            raise ValueError("the two sets of judgments have no query in common")
        sources = _full_runs(decisions)
        rows = np.array([first.place[query_id] for query_id in query_ids])
        judgments = first.restricted_to(query_ids), other.restricted_to(query_ids)
        runs_of_first = {
            name: run.restricted_to(rows) for name, run in decisions.aligned.runs.items()
        }
        runs_of_other = {name: align(judgments[1], run) for name, run in sources.items()}
        grades = _grades_of_common_documents(*judgments)
        return cls(query_ids, judgments, (runs_of_first, runs_of_other), grades)

    def thresholds(self) -> list[float]:
        """Return the grades above 0 that either judge gives, whole ones as integers."""
        grades = np.concatenate([judgments.grade for judgments in self.judgments])
        return [
            int(grade) if grade.is_integer() else grade
            for grade in np.unique(grades[grades > 0]).tolist()
        ]

    def agreement_on_documents(self, rel: float) -> dict[str, float]:
        """Return how far the judges agree on which documents have grade ``rel`` or more."""
        relevant_a, relevant_b = ((grades >= rel).astype(np.float64) for grades in self.grades)
        return {
            "queries": len(self.query_ids),
            "documents": len(relevant_a),
            "kappa": _kappa(relevant_a, relevant_b),
            "alpha": _alpha(relevant_a, relevant_b, "nominal"),
        }

    def comparisons(
        self, rel: float, criteria: Mapping[str, Any], test: SignificanceTest
    ) -> list[Comparison]:
        """Return the comparison of the runs for each judge, with grades below ``rel`` not relevant."""
        at_threshold = {name: _with_rel(criterion, rel) for name, criterion in criteria.items()}
        design = Design(test=test, allow_empty=True)
        comparisons = []
        for judgments, runs in zip(self.judgments, self.runs, strict=True):
            grade = judgments.grade
            binary = judgments.with_grades(np.where(grade >= rel, grade, np.minimum(grade, 0)))
            rejudged: dict[str, Any] = {
                name: replace(run, judgments=binary) for name, run in runs.items()
            }
            comparisons.append(compare_runs(binary, rejudged, at_threshold, design))
        return comparisons


def _full_runs(decisions: Decisions) -> dict[str, Any]:
    """Return the runs as they were given; raise if one was given aligned."""
    sources = decisions.aligned.sources
    for name in decisions.names:
        if name not in sources or isinstance(sources[name], AlignedRun):
            raise ValueError(
                f"run {name!r} is aligned with one judge's documents; give the full run"
            )
    return {name: run for name, run in sources.items() if not isinstance(run, AlignedRun)}


def _grades_of_common_documents(a: Judgments, b: Judgments) -> tuple[Floats, Floats]:
    """Return both judges' grades of the documents that both judged."""
    columns = ["query", "doc_id"]
    if not engine.computes():
        row_a, row_b = _common_rows(a, b)
        return a.grade[row_a], b.grade[row_b]
    joined = a.judged_keys.join(b.judged_keys, on=columns, how="inner", suffix="_b")
    return a.grade[joined["doc"].to_numpy()], b.grade[joined["doc_b"].to_numpy()]


def _common_rows(a: Judgments, b: Judgments) -> tuple[list[int], list[int]]:
    """Return the rows of the documents that both judged, without Polars' threads."""
    row_of_a, row_of_b = (
        {key: row for row, key in enumerate(zip(judge.query.tolist(), judge.doc_ids, strict=True))}
        for judge in (a, b)
    )
    common = [
        (row, row_of_b[key])
        for key, row in row_of_a.items()
        if key in row_of_b and a.is_judged[row] and b.is_judged[row_of_b[key]]
    ]
    return [row for row, _ in common], [row for _, row in common]


def _with_rel(criterion: Any, rel: float) -> Any:
    """Return a criterion with the threshold ``rel``, unless it has one of its own or takes none."""
    if "rel" in criterion.SUPPORTED_PARAMS and "rel" not in criterion.params:
        return criterion(rel=rel)
    return criterion


def _conclusions(comparisons: list[Comparison], name: str) -> dict[str, int]:
    """Return the number of pairs of runs, and of those by what the two judges conclude."""
    sign_of = {BETTER: 1, WORSE: -1}
    first, second = (
        np.array([sign_of.get(verdict, 0) for verdict in compared.verdicts(name)["verdict"]])
        for compared in comparisons
    )
    pairs = {
        "both": (first == second) & (first != 0),
        "only_a": (first != 0) & (second == 0),
        "only_b": (first == 0) & (second != 0),
        "opposite": first * second == -1,
        "neither": (first == 0) & (second == 0),
    }
    return {"pairs": len(first)} | {label: int(np.sum(chosen)) for label, chosen in pairs.items()}


def confusion(a: Floats, b: Floats) -> dict[float, dict[float, int]]:
    """Count documents by the grade of one judge, then of the other.

    >>> confusion(np.array([1.0, 1.0, 0.0]), np.array([1.0, 0.0, 0.0]))
    {0.0: {0.0: 1, 1.0: 0}, 1.0: {0.0: 1, 1.0: 1}}
    """
    grades = np.unique(np.concatenate([a, b])).tolist()
    return {x: {y: int(np.sum((a == x) & (b == y))) for y in grades} for x in grades}


def _orders(
    comparisons: list[Comparison], name: str, n_resamples: int, seed: int
) -> dict[str, float]:
    """Return Kendall's tau and tau_AP of the orders of runs, with 95% ranges over resampled queries."""
    one, other = (comparison.compared.criterion(name) for comparison in comparisons)
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
    """Return tau_AP of the order by ``other``, with ``truth`` as the true means.

    2 / (S - 1) sum over i = 2..S of C(i) / (i - 1), minus 1. C(i) counts the runs that ``other``
    puts above its i-th one and that are truly better; ties count one half. Shapes are ``(S, R)``: S
    runs, R times.

    >>> tau_ap(np.array([[3.0], [2.0], [1.0]]), np.array([[3.0], [1.0], [2.0]]))
    array([0.5])
    >>> tau_ap(np.eye(2), np.eye(2)[::-1])
    array([-1., -1.])
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
    """Return Cohen's kappa; NaN if it is not defined."""
    inter_rater = required("statsmodels.stats.inter_rater", "kappa", "statsmodels", "compare")
    table = np.array([list(row.values()) for row in confusion(a, b).values()], dtype=np.float64)
    if len(table) < 2 or not len(a):
        return float("nan")
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(inter_rater.cohens_kappa(table, wt=weights, return_results=False))


def _alpha(a: Floats, b: Floats, level: str) -> float:
    """Return Krippendorff's alpha; NaN if it is not defined."""
    krippendorff = required("krippendorff", "Krippendorff's alpha", "krippendorff", "compare")
    if len(np.unique(np.concatenate([a, b]))) < 2:
        return float("nan")
    return float(krippendorff.alpha(np.stack([a, b]), level_of_measurement=level))
