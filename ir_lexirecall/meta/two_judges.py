"""Two or more judges: agreement on documents, on runs, and on what is significant."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import numpy as np
from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall._util import engine
from ir_lexirecall._util.arrays import Floats, dividing_by_zero
from ir_lexirecall._util.errors import check_integer, check_number, naming, required
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.paths import is_path
from ir_lexirecall._util.rounding import same
from ir_lexirecall._util.selecting import among, index_of
from ir_lexirecall.comparison.compared import Design
from ir_lexirecall.comparison.comparing import compare_runs
from ir_lexirecall.comparison.result import Comparison
from ir_lexirecall.comparison.verdicts import BETTER, WORSE
from ir_lexirecall.data.aligned_run import AlignedRun
from ir_lexirecall.data.alignment import align
from ir_lexirecall.data.judgments import Judgments, QrelsLike
from ir_lexirecall.io.values import run_name
from ir_lexirecall.measures.scoring import with_threshold
from ir_lexirecall.meta.agreements import order_of, tau_b
from ir_lexirecall.meta.decisions import Decisions, Signs
from ir_lexirecall.meta.records import (
    ON_RUNS,
    SEED,
    Option,
    introduction,
    recorded,
    study,
)
from ir_lexirecall.plots.studies import Shares
from ir_lexirecall.present.findings import Finding
from ir_lexirecall.present.text import count, format_number
from ir_lexirecall.significance import SignificanceTest
from ir_lexirecall.significance.draws import percentile_interval, sample_and_draws


def _finding(table: pd.DataFrame) -> Finding:
    """Return the finding: agreement on documents, on the order of runs, and on conclusions."""
    kappa, alpha = table.attrs["kappa_of_grades"], table.attrs["alpha_of_grades"]
    if not isinstance(kappa, Mapping):
        kappa, alpha = {"": kappa}, {"": alpha}
    of_judges = []
    for judge in kappa:
        label = f"{judge}: " if judge else ""
        coefficients = (
            f"kappa {format_number(kappa[judge], 3)}, alpha "
            f"{format_number(alpha[judge], 3)}"
        )
        of_judges.append(label + coefficients)
    sentences = [f"{introduction(table)} Of grades: {'; '.join(of_judges)}."]
    for row in table.itertuples():
        judge = f"{row.judge}, " if "judge" in table else ""
        threshold = _threshold_label(row.rel, row.rel_b)
        sentences.append(
            f"{judge}{row.measure}, {threshold}: tau {format_number(row.tau, 3)}; "
            f"of {count(row.pairs, 'pair')} of runs, {row.both} differ significantly by both, "
            f"{row.only_a + row.only_b} by one only, {row.opposite} in opposite directions."
        )
    left_out = table.attrs["left_out"]
    if left_out:
        sentences.append(
            f"Left out, as a judge has nothing relevant: {'; '.join(left_out)}."
        )
    return Finding(sentences)


def _threshold_label(rel: float, rel_b: float) -> str:
    """Return the label of a threshold, or of one for each judge.

    >>> _threshold_label(2, 2), _threshold_label(2, 1)
    ('grade 2 or more', 'grade 2 or more (the other judge: 1)')
    """
    label = f"grade {rel:g} or more"
    if rel == rel_b:
        return label
    return f"{label} (the other judge: {rel_b:g})"


def _bar_labels(table: pd.DataFrame) -> pd.Series:
    """Return the label of each row in the picture."""
    labels = table["measure"] + ", grade ≥ " + table["rel"].map("{:g}".format)
    other = " / " + table["rel_b"].map("{:g}".format)
    labels = labels + other.where(table["rel"] != table["rel_b"], "")
    if "judge" in table:
        return table["judge"] + ": " + labels
    return labels


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
        marks=lambda table: table.set_index(_bar_labels(table)),
    ),
    example="qrels.txt *.run --qrels-b model.qrels -m nDCG@10 AP",
    options={
        "qrels_b": Option(
            "qrels of one other judge, or of several, on the same queries",
            several=True,
            required=True,
            shown="FILE",
        ),
        "rel_b": Option(
            "smallest grade of the other judge that counts as relevant, used with --rel of QRELS "
            "(default: every grade in turn, the same for both)",
            float,
        ),
        "n_resamples": Option(
            "resamples of the queries, for the range of tau (default: 1000)", int
        ),
        **SEED,
    },
    runs=ON_RUNS,
    test=SignificanceTest(),
)
def judges(
    self: Decisions,
    qrels_b: QrelsLike | Mapping[str, QrelsLike] | Sequence[str | os.PathLike[str]],
    *,
    rel_b: float | Mapping[float, float] | None = None,
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
            qrels are those of the first. Queries that only one of them has are left out. Or
            several judges: a mapping of names to judgments, or a list of files.
        rel_b: the smallest grade of the other judge that counts as relevant, where the study's
            ``rel`` is that of its qrels; or a mapping of thresholds, ``{2: 1}`` for people's 2
            against the other judge's 1. By default every threshold is that of both.
        test: of the differences: a test's name, or a ``SignificanceTest``, as in ``compare``.
        n_resamples: how often queries are resampled, to see how much tau depends on them.
        seed: random seed of the resamples.

    Returns:
        A row per measure and threshold (of several judges, per ``judge``, too): ``measure``,
        ``rel``, ``rel_b``, ``queries``, ``documents`` (judged by both), ``kappa``, ``alpha``,
        ``tau``, ``tau_p05``, ``tau_p95``, ``tau_ap``, ``tau_ap_p05``, ``tau_ap_p95``, ``pairs``,
        ``both``, ``only_a``, ``only_b``, ``opposite``, ``neither``. ``tau_p05`` and ``tau_p95`` are
        percentiles of the taus of resampled queries: other queries would give another tau. They
        are no confidence interval, and tau may lie outside: in resamples close runs change places
        more often than in the sample. A threshold at which a judge has nothing relevant has no row;
        ``attrs["left_out"]`` names it. ``attrs`` also hold ``confusion`` (documents by grade of a,
        then of b), ``kappa_of_grades`` (linear weights) and ``alpha_of_grades`` (ordinal); of
        several judges, these by judge. NaN if a coefficient is not defined, such as kappa of a
        judge who gives one grade only, or tau and tau_AP of runs that all tie.

    Raises:
        ModuleNotFoundError: statsmodels or krippendorff is not installed.
        ValueError: no common query, fewer than two runs, bad input, an unknown test, runs that
            were given aligned, or no threshold at which both judges have something relevant.

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
    first = FirstJudge(self.labels, test, self.rel, n_resamples, seed)
    several = several_judges(qrels_b)
    rows: list[dict[str, Any]] = []
    left_out: list[str] = []
    grades: dict[str, Any]
    if several is None:
        two = TwoJudges.of(self, Judgments.from_qrels(qrels_b))
        rows, left_out = first.beside(two, rel_b)
        grades = two.agreement_on_grades()
    else:
        grades = {}
        for judge, qrels in several.items():
            with naming(f"judge {judge!r}" if judge else ""):
                two = TwoJudges.of(self, Judgments.from_qrels(qrels))
                rows_of_judge, reasons = first.beside(two, rel_b)
            rows += [{"judge": judge, **row} for row in rows_of_judge]
            left_out += [f"{judge}, {reason}" for reason in reasons]
            for name, value in two.agreement_on_grades().items():
                grades.setdefault(name, {})[judge] = value
    if not rows:
        raise ValueError(
            f"a judge has nothing relevant at any threshold: {'; '.join(left_out)}"
        )
    provenance = {
        "measures": list(self.labels),
        "runs": self.names,
        "queries": len(two.query_ids),
        "left_out": left_out,
        "test": {
            name: test.named(measure=isinstance(criterion, IRMeasure)).name
            for name, criterion in self.labels.items()
        },
        "correction": test.counted_correction,
        "alpha": test.alpha,
        "n_resamples": n_resamples,
        "seed": seed,
        **grades,
    }
    return recorded(pd.DataFrame(rows), "judges", **provenance)


def several_judges(qrels: Any) -> dict[str, Any] | None:
    """Return judgments of several judges by name; None for those of one judge.

    >>> several_judges({"q1": {"d1": 1}}) is None
    True
    >>> list(several_judges({"llama": {"q1": {"d1": 1}}, "gpt": "gpt.qrels"}))
    ['llama', 'gpt']
    """
    if not isinstance(qrels, (list, tuple, Mapping)) or not qrels:
        return None
    if not isinstance(qrels, Mapping):
        if all(map(is_path, qrels)):
            return {judge_name(path): path for path in qrels}
        return None
    if all(map(_is_query, qrels.values())):
        return None
    return {str(name): judgments for name, judgments in qrels.items()}


def _is_query(judgments: Any) -> bool:
    """Return whether judgments are grades by document, those of one query."""
    if not isinstance(judgments, Mapping):
        return False
    return not any(isinstance(grade, Mapping) for grade in judgments.values())


def judge_name(path: str | os.PathLike[str]) -> str:
    """Return the name of the judge whose judgments a file holds.

    >>> judge_name("judges/llama.qrels.gz")
    'llama'
    """
    return run_name(path).removesuffix(".qrels")


@dataclass(frozen=True)
class FirstJudge:
    """The study's judge, whose comparisons of the runs are the same beside each other judge.

    Attributes:
        criteria: the measures and preferences.
        test: how differences are tested.
        rel: the study's threshold.
        n_resamples, seed: of the queries.
        known: comparisons by queries and threshold.
    """

    criteria: Mapping[str, Any]
    test: SignificanceTest
    rel: float
    n_resamples: int
    seed: int
    known: dict[Any, Comparison] = field(default_factory=dict)

    def beside(
        self, two: TwoJudges, rel_b: Any
    ) -> tuple[list[dict[str, Any]], list[str]]:
        """Return the rows of the table, by measure and threshold, and why thresholds have none."""
        rows: list[dict[str, Any]] = []
        left_out: list[str] = []
        for rel, rel_other in two.thresholds(rel_b, self.rel):
            reason = two.lacks_relevant(rel, rel_other)
            if reason:
                left_out.append(reason)
                continue
            facts = {
                "rel": rel,
                "rel_b": rel_other,
                **two.agreement_on_documents(rel, rel_other),
            }
            comparisons = two.comparisons(rel, rel_other, self)
            for name in self.criteria:
                order = _orders(comparisons, name, self.n_resamples, self.seed)
                conclusions = _conclusions(comparisons, name)
                rows.append({"measure": name, **facts, **order, **conclusions})
        rows.sort(key=lambda row: list(self.criteria).index(row["measure"]))
        return rows, left_out

    def comparison(
        self, judgments: Judgments, runs: Mapping[str, AlignedRun], rel: float
    ) -> Comparison:
        """Return the comparison of runs by the study's judge, made once."""
        key = tuple(judgments.query_ids), rel
        if key not in self.known:
            self.known[key] = self.compared(judgments, runs, rel)
        return self.known[key]

    def compared(
        self, judgments: Judgments, runs: Mapping[str, AlignedRun], rel: float
    ) -> Comparison:
        """Return the comparison of runs where grades below ``rel`` count as not relevant."""
        criteria = {
            name: with_threshold(criterion, rel)
            for name, criterion in self.criteria.items()
        }
        grade = judgments.grade
        binary = judgments.with_grades(
            np.where(grade >= rel, grade, np.minimum(grade, 0))
        )
        rejudged: dict[str, Any] = {
            name: replace(run, judgments=binary) for name, run in runs.items()
        }
        return compare_runs(
            binary, rejudged, criteria, Design(test=self.test, allow_empty=True)
        )


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
        query_ids = among(first.query_ids, other.place)
        if not query_ids:
            raise ValueError("the two sets of judgments have no query in common")
        sources = _full_runs(decisions)
        rows = np.array([first.place[query_id] for query_id in query_ids])
        judgments = first.restricted_to(query_ids), other.restricted_to(query_ids)
        runs_of_first = {
            name: run.restricted_to(rows)
            for name, run in decisions.aligned.runs.items()
        }
        runs_of_other = {
            name: align(judgments[1], run) for name, run in sources.items()
        }
        grades = _grades_of_common_documents(*judgments)
        return cls(query_ids, judgments, (runs_of_first, runs_of_other), grades)

    def thresholds(
        self, rel_b: float | Mapping[float, float] | None, rel: float
    ) -> list[tuple[float, float]]:
        """Return thresholds of both judges.

        Args:
            rel_b: that of the other judge, or the other judge's by the study's; by default every
                grade above 0 that either judge gives, whole ones as integers, for both.
            rel: the study's own.
        """
        if isinstance(rel_b, Mapping):
            pairs = []
            for one, other in rel_b.items():
                own = check_number("rel_b", one, above=0)
                pairs.append((own, check_number("rel_b", other, above=0)))
            return pairs
        if rel_b is not None:
            return [(rel, check_number("rel_b", rel_b, above=0))]
        grades = np.concatenate([judgments.grade for judgments in self.judgments])
        levels = []
        for grade in np.unique(grades[grades > 0]).tolist():
            if grade.is_integer():
                levels.append(int(grade))
            else:
                levels.append(grade)
        return [(level, level) for level in levels]

    def lacks_relevant(self, rel: float, rel_b: float) -> str:
        """Return which judge has nothing relevant on the common queries; empty if both have."""
        thresholds = {"the first judge": rel, "the other judge": rel_b}
        for judgments, (judge, least) in zip(
            self.judgments, thresholds.items(), strict=True
        ):
            if not (judgments.grade >= least).any():
                return f"{judge} gives no grade {least:g} or more"
        return ""

    def agreement_on_documents(self, rel: float, rel_b: float) -> dict[str, float]:
        """Return how far the judges agree on which documents are relevant."""
        relevant_a, relevant_b = (
            (grades >= least).astype(np.float64)
            for grades, least in zip(self.grades, (rel, rel_b), strict=True)
        )
        return {
            "queries": len(self.query_ids),
            "documents": len(relevant_a),
            "kappa": _kappa(relevant_a, relevant_b),
            "alpha": _alpha(relevant_a, relevant_b, "nominal"),
        }

    def agreement_on_grades(self) -> dict[str, Any]:
        """Return how many documents have which grades, and how far the judges agree on them."""
        return {
            "confusion": confusion(*self.grades),
            "kappa_of_grades": _kappa(*self.grades, weights="linear"),
            "alpha_of_grades": _alpha(*self.grades, "ordinal"),
        }

    def comparisons(
        self, rel: float, rel_b: float, first: FirstJudge
    ) -> list[Comparison]:
        """Return the comparison of the runs for each judge, at the judges' thresholds."""
        (judgments, other), (runs, other_runs) = self.judgments, self.runs
        return [
            first.comparison(judgments, runs, rel),
            first.compared(other, other_runs, rel_b),
        ]


def _full_runs(decisions: Decisions) -> dict[str, Any]:
    """Return the runs as they were given; raise if one was given aligned."""
    sources = decisions.aligned.sources
    full_runs = {}
    for name in decisions.names:
        run = sources.get(name)
        if run is None or isinstance(run, AlignedRun):
            raise ValueError(
                f"run {name!r} is aligned with one judge's documents; give the full run"
            )
        full_runs[name] = run
    return full_runs


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
    row_of_a = index_of(zip(a.query.tolist(), a.doc_ids, strict=True))
    row_of_b = index_of(zip(b.query.tolist(), b.doc_ids, strict=True))
    common = []
    for key, row in row_of_a.items():
        if key in row_of_b and a.is_judged[row] and b.is_judged[row_of_b[key]]:
            common.append((row, row_of_b[key]))
    return [row for row, _ in common], [row for _, row in common]


def _signs_of_verdicts(result: Comparison, name: str) -> Signs:
    """Return 1 for each pair whose first run is better, -1 where it is worse, else 0."""
    verdicts = result.verdicts(name)["verdict"].to_numpy()
    return (verdicts == BETTER).astype(np.int8) - (verdicts == WORSE).astype(np.int8)


def _conclusions(comparisons: list[Comparison], name: str) -> dict[str, int]:
    """Return the number of pairs of runs, and of those by what the two judges conclude."""
    first, second = (_signs_of_verdicts(result, name) for result in comparisons)
    pairs = {
        "both": (first == second) & (first != 0),
        "only_a": (first != 0) & (second == 0),
        "only_b": (first == 0) & (second != 0),
        "opposite": first * second == -1,
        "neither": (first == 0) & (second == 0),
    }
    return {"pairs": len(first)} | {
        label: int(np.sum(chosen)) for label, chosen in pairs.items()
    }


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
    """Return Kendall's tau and tau_AP of the orders of runs, with percentiles over resamples."""
    one, other = (comparison.compared.criterion(name) for comparison in comparisons)
    common, index, other_place = np.intersect1d(
        one.query_ids, other.query_ids, return_indices=True
    )
    if not len(common):
        names = product(("tau", "tau_ap"), ("", "_p05", "_p95"))
        return dict.fromkeys(map("".join, names), np.nan)
    a, b = one.standings[:, index], other.standings[:, other_place]
    weights = sample_and_draws(
        np.random.default_rng(seed), len(common), n_resamples
    ).T / len(common)
    means = a @ weights, b @ weights
    pairs = np.triu_indices(len(a), 1)
    tau = tau_b(*(order_of(x, pairs) for x in means))
    # Without an order there is no agreement on it.
    from_the_top = np.where(np.isnan(tau), np.nan, tau_ap(*means))
    columns: dict[str, float] = {}
    for what, values in (("tau", tau), ("tau_ap", from_the_top)):
        value, low, high = percentile_interval(values, 0.1)
        if np.isnan(value):
            low = high = np.nan
        columns[what], columns[f"{what}_p05"], columns[f"{what}_p95"] = value, low, high
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
    inter_rater = required(
        "statsmodels.stats.inter_rater", "kappa", "statsmodels", "compare"
    )
    table = np.array(
        [list(row.values()) for row in confusion(a, b).values()], dtype=np.float64
    )
    if len(table) < 2 or not len(a):
        return float("nan")
    with dividing_by_zero():
        return float(inter_rater.cohens_kappa(table, wt=weights, return_results=False))


def _alpha(a: Floats, b: Floats, level: str) -> float:
    """Return Krippendorff's alpha; NaN if it is not defined."""
    krippendorff = required(
        "krippendorff", "Krippendorff's alpha", "krippendorff", "compare"
    )
    if len(np.unique(np.concatenate([a, b]))) < 2:
        return float("nan")
    return float(krippendorff.alpha(np.stack([a, b]), level_of_measurement=level))
