"""Two judges: do two sets of judgments agree on documents, on the order of runs, and on what is significant?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from ir_lexirecall._util.arrays import Floats
from ir_lexirecall._util.errors import check_integer, check_number, entry, required
from ir_lexirecall.comparison.comparing import CriteriaLike, coerce_test, compare_runs, parse_criteria
from ir_lexirecall.comparison.result import Comparison
from ir_lexirecall.comparison.verdicts import BETTER, WORSE
from ir_lexirecall.data.aligned_run import AlignedRun
from ir_lexirecall.data.alignment import RunLike, align
from ir_lexirecall.data.judgments import Judgments, QrelsLike
from ir_lexirecall.meta.agreements import tau_b
from ir_lexirecall.meta.decisions import Signs
from ir_lexirecall.meta.result import study
from ir_lexirecall.significance import SignificanceTest


@entry
def judges(
    qrels_a: QrelsLike,
    qrels_b: QrelsLike,
    runs: Mapping[str, RunLike],
    measures: CriteriaLike,
    *,
    test: str | SignificanceTest | None = None,
    correction: str | None = "holm",
    alpha: float = 0.05,
    cutoff: int | None = None,
    n_resamples: int = 1000,
    seed: int = 0,
    progress: bool | None = None,
) -> pd.DataFrame:
    """Compare two judges of the same queries: people and a language model, two assessors, two guidelines.

    For every threshold (every grade above 0 that either judge gives), documents of a lower grade count as not relevant. Compared are
    the documents that both judged (Cohen's kappa, Krippendorff's alpha), the order of runs by their means (Kendall's tau-b, and tau_AP,
    which weighs the top more and takes ``qrels_a`` for the truth), and conclusions: pairs of runs that differ significantly by both in the
    same direction, by one of them only, by both in opposite directions. Agreement on documents does not make agreement on
    runs, nor the other way round.

    Args:
        qrels_a, qrels_b: two sets of judgments in any form that ``evaluate`` takes; queries that only one of them has are left out.
        runs: at least two runs by name, in any form that ``evaluate`` takes.
        measures: measures, names of preferences, or several.
        test, correction, alpha: of the differences, as in ``compare``.
        cutoff: of preferences: what is ranked below counts as not retrieved.
        n_resamples, seed: queries are resampled, to see how much tau depends on them.
        progress: show progress bars; by default on a terminal only.

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
        ValueError: no common query, fewer than two runs, bad input, or an unknown measure or test.

    Source: Yilmaz, Aslam, Robertson, A New Rank Correlation Coefficient for Information Retrieval, SIGIR 2008,
    doi 10.1145/1390334.1390435; Hayes, Krippendorff, Answering the Call for a Standard Reliability Measure for Coding Data, 2007,
    doi 10.1080/19312450709336664.

    >>> from ir_lexirecall import demo
    >>> table = judges(demo.qrels(), demo.qrels(), demo.runs(), "AP")
    >>> table[["measure", "rel", "kappa", "tau", "pairs", "opposite"]]
      measure  rel  kappa  tau  pairs  opposite
    0      AP    1    1.0  1.0     10         0
    1      AP    2    1.0  1.0     10         0
    2      AP    3    1.0  1.0     10         0
    """
    check_integer("n_resamples", n_resamples)
    check_number("alpha", alpha, above=0, below=1)
    tested = coerce_test(test, correction, alpha, SignificanceTest.n_resamples, seed, progress)
    criteria = parse_criteria(measures)
    both = _common(Judgments.from_qrels(qrels_a), Judgments.from_qrels(qrels_b))
    grades = _grades_of_both(*both)
    aligned = [{str(name): align(judgments, run) for name, run in runs.items()} for judgments in both]
    highest = np.concatenate([judgments.grade for judgments in both])
    thresholds = [int(grade) if grade.is_integer() else grade for grade in np.unique(highest[highest > 0]).tolist()]
    rows: list[dict[str, Any]] = []
    for rel in thresholds:
        comparisons = [
            _compared(judgments, of_judge, criteria, rel, tested, cutoff)
            for judgments, of_judge in zip(both, aligned, strict=True)
        ]
        a, b = ((grade >= rel).astype(np.float64) for grade in grades)
        on_documents = {"documents": len(a), "kappa": _kappa(a, b), "alpha": _alpha(a, b, "nominal")}
        for name in criteria:
            rows.append(
                {"measure": name, "rel": rel, "queries": len(both[0]), **on_documents}
                | _orders(comparisons, name, n_resamples, seed)
                | _conclusions(comparisons, name)
            )
    rows.sort(key=lambda row: list(criteria).index(row["measure"]))
    return study(
        pd.DataFrame(rows),
        "judges",
        measures=list(criteria),
        runs=list(aligned[0]),
        queries=len(both[0]),
        test={name: tested.named(measure=not isinstance(what, str)).name for name, what in criteria.items()},
        correction=tested.counted_correction,
        alpha=tested.alpha,
        n_resamples=n_resamples,
        seed=seed,
        confusion=confusion(*grades),
        kappa_of_grades=_kappa(*grades, weights="linear"),
        alpha_of_grades=_alpha(*grades, "ordinal"),
    )


def confusion(a: Floats, b: Floats) -> dict[float, dict[float, int]]:
    """Documents by the grade of one judge, then of the other.

    >>> confusion(np.array([1.0, 1.0, 0.0]), np.array([1.0, 0.0, 0.0]))
    {0.0: {0.0: 1, 1.0: 0}, 1.0: {0.0: 1, 1.0: 1}}
    """
    grades = np.unique(np.concatenate([a, b])).tolist()
    return {x: {y: int(np.sum((a == x) & (b == y))) for y in grades} for x in grades}


def _common(a: Judgments, b: Judgments) -> tuple[Judgments, Judgments]:
    """Both sets of judgments, of the queries that both have."""
    ids = [query_id for query_id in a.query_ids if query_id in b.place]
    if not ids:
        raise ValueError("the two sets of judgments have no query in common")
    return a.restricted_to(ids), b.restricted_to(ids)


def _grades_of_both(a: Judgments, b: Judgments) -> tuple[Floats, Floats]:
    """Grades of the documents that both judged; negative ones count as 0."""
    joined = a.keys.join(b.keys, on=["query", "doc_id"], how="inner", suffix="_b")
    row_a, row_b = joined["doc"].to_numpy(), joined["doc_b"].to_numpy()
    return np.maximum(a.grade[row_a], 0), np.maximum(b.grade[row_b], 0)


def _compared(
    judgments: Judgments,
    runs: Mapping[str, AlignedRun],
    criteria: Mapping[str, Any],
    rel: float,
    test: SignificanceTest,
    cutoff: int | None,
) -> Comparison:
    """The runs compared by what has at least grade ``rel``."""
    binary = judgments.with_grades(np.where(judgments.grade >= rel, judgments.grade, np.minimum(judgments.grade, 0)))
    of_threshold: dict[str, Any] = {name: replace(run, judgments=binary) for name, run in runs.items()}
    measures = {
        name: what(rel=rel)
        if not isinstance(what, str) and "rel" in what.SUPPORTED_PARAMS and "rel" not in what.params
        else what
        for name, what in criteria.items()
    }
    return compare_runs(
        binary, of_threshold, measures, baseline=None, test=test, rel=rel, cutoff=cutoff, allow_empty=True
    )


def _orders(comparisons: list[Comparison], name: str, n_resamples: int, seed: int) -> dict[str, float]:
    """Kendall's tau and tau_AP between the orders of runs, and between what ends 95% of them lie if queries are resampled."""
    standings = [comparison.criterion(name).standings for comparison in comparisons]
    ids = [comparison.criterion(name).query_ids for comparison in comparisons]
    common = [query_id for query_id in ids[0] if query_id in set(ids[1])]
    places = [{query_id: q for q, query_id in enumerate(of_judge)} for of_judge in ids]
    a, b = (x[:, [place[query_id] for query_id in common]] for x, place in zip(standings, places, strict=True))
    if not common:
        return dict.fromkeys([f"{what}{end}" for what in ("tau", "tau_ap") for end in ("", "_low", "_high")], np.nan)
    queries = len(common)
    weights = np.random.default_rng(seed).multinomial(queries, np.full(queries, 1 / queries), size=n_resamples).T
    weights = np.hstack([np.ones((queries, 1)), weights]) / queries
    means = a @ weights, b @ weights
    columns: dict[str, float] = {}
    for what, values in {"tau": tau_b(*map(_signs, means)), "tau_ap": tau_ap(*means)}.items():
        resampled = values[1:][~np.isnan(values[1:])]
        low, high = np.quantile(resampled, [0.025, 0.975]) if len(resampled) else (np.nan, np.nan)
        columns |= {what: float(values[0]), f"{what}_low": float(low), f"{what}_high": float(high)}
    return columns


def _signs(means: Floats) -> Signs:
    """Signs of the differences of all pairs of runs, shape ``(P, R)``; what differs by rounding only is a tie."""
    first, second = np.array(list(combinations(range(len(means)), 2))).T
    difference = means[first] - means[second]
    return np.sign(np.where(np.abs(difference) < 1e-12, 0, difference)).astype(np.int8)


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
        above, of_other = truth[:i] - truth[i], other[:i] - other[i]
        right = np.where((np.abs(above) < 1e-12) | (np.abs(of_other) < 1e-12), 0.5, above > 0)
        total += right.mean(axis=0)
    return 2 * total / (size - 1) - 1


def _conclusions(comparisons: list[Comparison], name: str) -> dict[str, int]:
    """Pairs that are significant by both, by one, in opposite directions, and by neither."""
    ways = [
        np.array([{BETTER: 1, WORSE: -1}.get(verdict, 0) for verdict in comparison.verdicts(name)["verdict"]])
        for comparison in comparisons
    ]
    a, b = ways
    return {
        "pairs": len(a),
        "both": int(np.sum((a == b) & (a != 0))),
        "only_a": int(np.sum((a != 0) & (b == 0))),
        "only_b": int(np.sum((a == 0) & (b != 0))),
        "opposite": int(np.sum(a * b == -1)),
        "neither": int(np.sum((a == 0) & (b == 0))),
    }


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
