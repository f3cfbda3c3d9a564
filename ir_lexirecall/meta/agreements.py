"""Ties of runs, agreement of measures, and correlation.

The studies count how often runs tie by a measure, and how often two measures, or all of them
together, put two runs in the same order.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, permutations
from typing import Any

import numpy as np

from ir_lexirecall._util.arrays import Floats, Ints, dividing_by_zero
from ir_lexirecall._util.errors import check_choice
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.lazy import stats
from ir_lexirecall._util.rounding import same
from ir_lexirecall.meta.decisions import INCOMPARABLE, Decisions, Signs, means
from ir_lexirecall.meta.records import (
    ON_RUNS,
    Headline,
    Option,
    recorded,
    study,
)
from ir_lexirecall.plots.studies import Bars, Matrix


@study(
    "Pairs of runs that tie, query by query",
    Headline("share", "share of pairs of runs that tie on a query", "most", "least"),
    Bars(
        "How often runs tie, over all queries",
        marks=lambda table: _with_shares(
            table.groupby("measure", sort=False)[["ties", "pairs"]].sum().reset_index()
        ),
    ),
    example="qrels.txt *.run -m LR R@1000 Rprec",
    runs=ON_RUNS,
    options={"aggregate": Option("show sums over the queries", bool)},
)
def ties(self: Decisions, *, aggregate: bool = False) -> pd.DataFrame:
    """Count the pairs of runs that tie, query by query.

    Two runs tie if their values are exactly equal, or there is no preference either way.

    Args:
        aggregate: sum over the queries, a row per measure.

    Returns:
        A row per measure and query that has relevant documents: ``measure``, ``query_id``,
        ``pairs``, ``ties``, ``incomparable`` (pairs that a partial order leaves open; they do not
        tie) and ``share`` = ties / pairs.

    Raises:
        ValueError: fewer than two runs.

    >>> from ir_lexirecall.meta import Study
    >>> qrels = {"q": {"a": 1}, "r": {"a": 1}}
    >>> runs = {"x": {"q": {"a": 2}, "r": {"a": 1}}, "y": {"q": {"c": 2, "a": 1}, "r": {"a": 1}}}
    >>> Study("AP", qrels, runs).ties()
      measure query_id  pairs  ties  incomparable  share
    0      AP        q      1     0             0    0.0
    1      AP        r      1     1             0    1.0
    >>> Study("AP", qrels, runs).ties(aggregate=True)
      measure  pairs  ties  incomparable  share
    0      AP      2     1             0    0.5
    """
    self.check()
    parts = []
    for label in self.labels:
        signs = self.signs(label, INCOMPARABLE)
        columns = {
            "measure": label,
            "query_id": [self.judgments.query_ids[q] for q in self.queries],
            "pairs": len(signs),
            "ties": (signs == 0).sum(axis=0),
            "incomparable": (signs == INCOMPARABLE).sum(axis=0),
        }
        parts.append(pd.DataFrame(columns))
    table = pd.concat(parts, ignore_index=True)
    if aggregate:
        table = (
            table.drop(columns="query_id")
            .groupby("measure", sort=False)
            .sum()
            .reset_index()
        )
    return recorded(_with_shares(table), "ties", **self.provenance)


def _with_shares(table: pd.DataFrame) -> pd.DataFrame:
    return table.assign(share=table["ties"] / table["pairs"])


@study(
    "Agreement of measures on which of two runs is better, query by query",
    Headline(
        "agreement", "share of decisions that are the same", "most alike", "least alike"
    ),
    Matrix(
        "Of the pairs that the row decides, how many the column decides alike",
        lowest=0,
        colours="Blues",
    ),
    example="qrels.txt *.run -m lexirecall TSE R@1000",
    runs=ON_RUNS,
)
def agreement(self: Decisions) -> pd.DataFrame:
    """Compute how far each two measures or preferences agree on two runs, query by query.

    A decision is the better run of a pair on a query. The agreement of a with b is the share of
    a's decisions that b shares: ``agreement`` = agree / (agree + disagree + tied_b). The
    denominator includes ties of b but not those of a, so agreement is not symmetric.
    ``agreement_with_ties`` = (agree + tied_both) / (decisions - incomparable) is symmetric: a tie
    of both counts as agreement, a tie of one does not.

    Returns:
        A row per ordered pair of measures: ``measure_a``, ``measure_b``, ``decisions``, ``agree``,
        ``disagree``, ``tied_a`` and ``tied_b`` (only a, only b ties), ``tied_both``,
        ``incomparable`` (either is a partial order that leaves the pair open; these count only
        here), ``agreement`` (of a with b) and ``agreement_with_ties``; NaN without decisions.

    Raises:
        ValueError: fewer than two measures or runs.

    Source: Diaz, Ekstrand, Mitra, TORS 2026, Section 6, doi 10.1145/3728373.

    >>> from ir_lexirecall.meta import Study
    >>> qrels = {"q": {"a": 1, "b": 1}}
    >>> runs = {"x": {"q": {"a": 3, "c": 2, "d": 1, "b": 0}}, "y": {"q": {"a": 3, "c": 2, "b": 1}}}
    >>> table = Study(["RR", "TSE"], qrels, runs).agreement()
    >>> table[["measure_a", "measure_b", "agree", "tied_a", "tied_b", "agreement"]]
      measure_a measure_b  agree  tied_a  tied_b  agreement
    0        RR       TSE      0       1       0        NaN
    1       TSE        RR      0       0       1        0.0
    """
    self.check(measures=2)
    signs = {label: self.signs(label, INCOMPARABLE) for label in self.labels}
    rows: list[dict[str, Any]] = []
    for (label_a, a), (label_b, b) in permutations(signs.items(), 2):
        undecided = (a == INCOMPARABLE) | (b == INCOMPARABLE)
        cases = {
            "agree": (a == b) & (a != 0),
            "disagree": (a == -b) & (a != 0),
            "tied_a": (a == 0) & (b != 0),
            "tied_b": (a != 0) & (b == 0),
            "tied_both": (a == 0) & (b == 0),
        }
        counts = {name: int((case & ~undecided).sum()) for name, case in cases.items()}
        decided = counts["agree"] + counts["disagree"] + counts["tied_b"]
        compared = int((~undecided).sum())
        shares = {
            "incomparable": int(undecided.sum()),
            "agreement": np.nan,
            "agreement_with_ties": np.nan,
        }
        if decided:
            shares["agreement"] = counts["agree"] / decided
        if compared:
            n_alike = counts["agree"] + counts["tied_both"]
            shares["agreement_with_ties"] = n_alike / compared
        rows.append(
            {
                "measure_a": label_a,
                "measure_b": label_b,
                "decisions": a.size,
                **counts,
                **shares,
            }
        )
    return recorded(pd.DataFrame(rows), "agreement", **self.provenance)


@study(
    "Log2 of how much more often than by chance a measure rises if no other falls",
    Headline("unanimity", "metric unanimity", "most", "least"),
    Bars(
        "Agreement with what all other measures say together, in bits",
        largest_first=True,
    ),
    example="qrels.txt *.run -m RBU ERR_IA@20 StRecall@20",
    runs=ON_RUNS,
)
def unanimity(self: Decisions) -> pd.DataFrame:
    """Compute metric unanimity: how much more often than by chance it rises if no other falls.

    MU(m) = log2( P(dm, dM) / (P(dm) P(dM)) ) over all ordered pairs of different runs on a query,
    for all queries together. dm: m rises from the first run to the second, where a tie counts one
    half; so P(dm) = 1/2. dM: no measure or preference of the study *other than m* falls; a pair on
    which all of them tie counts in both directions. MU is 1 if m rises whenever no other falls, 0
    if it rises in half of these cases (a constant measure), NaN if the others never agree.

    Returns:
        A row per measure: ``measure``, ``pairs`` (ordered pairs of runs times queries),
        ``unanimous`` (those with dM), ``joint`` (those with dm and dM; ties of m count one half),
        ``unanimity``.

    Raises:
        ValueError: fewer than two measures or runs.

    Source: Amigó, Spina, Carrillo-de-Albornoz, An Axiomatic Analysis of Diversity Evaluation
    Metrics, SIGIR 2018, doi 10.1145/3209978.3210024.

    >>> from ir_lexirecall.meta import Study
    >>> qrels = {"q": {"a": 1, "b": 1}}
    >>> runs = {
    ...     "s1": {"q": {"a": 3.0, "x": 2.0, "b": 1.0}},
    ...     "s2": {"q": {"x": 3.0, "a": 2.0, "b": 1.0}},
    ... }
    >>> table = Study(["RR", "R@10"], qrels, runs).unanimity()
    >>> table[["measure", "unanimous", "joint", "unanimity"]]
      measure  unanimous  joint  unanimity
    0      RR          2    1.0        0.0
    1    R@10          1    0.5        0.0
    """
    self.check(measures=2)
    if len({*map(str, self.labels.values())}) == 1:
        raise ValueError(
            "at least 2 different measures are needed, not one under several labels"
        )
    # Of every pair of runs, how many measures prefer the first, and how many the second; a
    # measure's own share is taken out.
    shape = (2, len(self.pairs[0]), len(self.queries))
    rising, falling = np.zeros(shape, dtype=np.int32)
    for label in self.labels:
        signs = self.signs(label)
        rising += signs > 0
        falling += signs < 0
    pairs = 2 * rising.size
    rows = []
    for label, measure in self.labels.items():
        signs = self.signs(label)
        # Labels of this very measure.
        labels = [*map(str, self.labels.values())].count(str(measure))
        no_fall = signs[falling == labels * (signs < 0)]
        no_rise = signs[rising == labels * (signs > 0)]
        unanimous = len(no_fall) + len(no_rise)
        joint = float(
            (no_fall > 0).sum()
            + (no_rise < 0).sum()
            + ((no_fall == 0).sum() + (no_rise == 0).sum()) / 2
        )
        with dividing_by_zero():
            unanimity = np.log2(np.divide(joint / pairs, 0.5 * (unanimous / pairs)))
        row = {
            "measure": label,
            "pairs": pairs,
            "unanimous": unanimous,
            "joint": joint,
            "unanimity": float(unanimity),
        }
        rows.append(row)
    return recorded(pd.DataFrame(rows), "unanimity", **self.provenance)


COEFFICIENTS: dict[str, Callable[[Floats, Floats], Any]] = {
    "pearson": lambda x, y: stats.pearsonr(x, y),
    "spearman": lambda x, y: stats.spearmanr(x, y),
    "kendall": lambda x, y: stats.kendalltau(x, y),
    # Vigna's: an exchange weighs the sum of 1 / (s + 1) over the two places s = 0, 1, ..., averaged
    # over both orders.
    "top_weighted_kendall": lambda x, y: stats.weightedtau(
        x, y, rank=True, weigher=lambda s: 1 / (s + 1), additive=True
    ),
}


def coefficient_of(name: str, x: Floats, y: Floats) -> float:
    """Return a correlation; NaN for constant or infinite values, or fewer than two points."""
    if len(x) < 2 or np.all(x == x[0]) or np.all(y == y[0]):
        return float("nan")
    if name == "pearson" and not (np.isfinite(x).all() and np.isfinite(y).all()):
        return float("nan")
    return float(COEFFICIENTS[name](x, y).statistic)


def order_of(means: Floats, pairs: tuple[Ints, Ints]) -> Signs:
    """Return which run of each pair has the larger mean, ``(S, R)`` to ``(P, R)``.

    It is 1 for the first run, -1 for the second, and 0 if the means differ by rounding only.
    """
    first, second = (means[runs] for runs in pairs)
    signs = np.where(same(first, second), 0, np.sign(first - second))
    return signs.astype(np.int8)


def tau_b(x: Signs, y: Signs) -> Floats:
    """Return Kendall's tau-b of every column; NaN where it is undefined.

    ``x`` and ``y`` are the signs of the differences of all pairs, shape ``(P, Q)``.

    >>> x = np.array([[1], [1], [1]], dtype=np.int8)
    >>> y = np.array([[1], [1], [-1]], dtype=np.int8)
    >>> tau_b(x, y).round(3)
    array([0.333])
    """
    decided = np.sqrt((x != 0).sum(axis=0) * (y != 0).sum(axis=0))
    return (x * y).sum(axis=0) / np.where(decided > 0, decided, np.nan)


@study(
    "Correlation of measures",
    Headline("kendall", "Kendall's tau", "most alike", "least alike"),
    Matrix("How alike measures order the runs: Kendall's tau"),
    example="qrels.txt *.run -m LR AP nDCG",
    runs=ON_RUNS,
    options={
        "by": Option(
            "points to correlate: values (of a run on a query; the default) or runs"
        )
    },
)
def correlation(self: Decisions, *, by: str = "values") -> pd.DataFrame:
    """Correlate each pair of measures over runs and queries.

    Coefficients: Pearson's r, Spearman's rho, Kendall's tau (tau-b), and top-weighted Kendall:
    scipy's ``weightedtau``, in which an exchange of ranks s and s' (from 0, best first) weighs
    1/(s+1) + 1/(s'+1). Measures whose smaller value is better count with the opposite sign, so
    measures that agree correlate positively. Preferences (``'lexirecall'``, ...) count as the mean
    preference of a run over all others.

    Args:
        by: ``'values'``: a point is a run on a query; ``'runs'``: a point is a run's mean over the
            queries.

    Returns:
        A row per pair of measures: ``measure_a``, ``measure_b``, ``points``, ``pearson``,
        ``spearman``, ``kendall``, ``top_weighted_kendall`` (NaN where a measure is constant).

    Raises:
        ValueError: fewer than two measures or runs, or another ``by``.

    Source: Azzopardi, Mackenzie, Moffat, ERR is not C/W/L, ICTIR 2021, doi 10.1145/3471158.3472239.

    >>> from ir_lexirecall import demo
    >>> from ir_lexirecall.meta import Study
    >>> table = Study(["AP", "RR"], demo.qrels(), demo.runs()).correlation(by="runs")
    >>> table["points"].tolist(), bool(table["kendall"][0] <= 1)
    ([5], True)
    """
    check_choice("by", by, ("values", "runs"))
    self.check(measures=2)
    pick = np.ravel if by == "values" else means
    at = {label: pick(self.rising(label)) for label in self.labels}
    rows = []
    for a, b in combinations(at, 2):
        rows.append(
            {"measure_a": a, "measure_b": b, "points": len(at[a])}
            | {name: coefficient_of(name, at[a], at[b]) for name in COEFFICIENTS}
        )
    return recorded(pd.DataFrame(rows), "correlation", by=by, **self.provenance)


@study(
    "Kendall's tau between the orders in which two measures put the runs, query by query",
    Headline("kendall", "mean of Kendall's tau", "most alike", "least alike"),
    Matrix("How alike measures order the runs of a query: mean Kendall's tau"),
)
def per_query_kendall(self: Decisions) -> pd.DataFrame:
    """Compute Kendall's tau between two measures' orders of the runs, query by query.

    Tau is tau-b. Queries on which a measure gives all runs the same value are left out, because tau
    is undefined there. By a preference, runs are ordered by their mean preference over all others.

    Returns:
        A row per pair of measures: ``measure_a``, ``measure_b``, ``queries`` (with a tau),
        ``kendall`` (the mean), ``smallest``, ``largest``.

    Raises:
        ValueError: fewer than two measures or runs.

    Source: Maistro, Chaves Lima, Simonsen, Lioma, Principled Multi-Aspect Evaluation Measures of
    Rankings, CIKM 2021, doi 10.1145/3459637.3482287.

    >>> from ir_lexirecall import demo
    >>> from ir_lexirecall.meta import Study
    >>> Study(["AP", "nDCG"], demo.qrels(), demo.runs()).per_query_kendall()["queries"].tolist()
    [16]
    """
    self.check(measures=2)
    signs = {label: self.value_signs(label) for label in self.labels}
    rows = []
    for a, b in combinations(signs, 2):
        tau = tau_b(signs[a], signs[b])
        tau = tau[~np.isnan(tau)]
        mean, least, most = map(
            float, (tau.mean(), tau.min(), tau.max()) if len(tau) else (np.nan,) * 3
        )
        row = {"measure_a": a, "measure_b": b, "queries": len(tau)}
        rows.append(row | {"kendall": mean, "smallest": least, "largest": most})
    return recorded(pd.DataFrame(rows), "per_query_kendall", **self.provenance)
