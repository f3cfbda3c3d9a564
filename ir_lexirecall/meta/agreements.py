"""Agreement: how often two measures put the same two runs in the same order."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations, permutations

import numpy as np
import pandas as pd

from ir_lexirecall._util.arrays import Floats
from ir_lexirecall._util.errors import entry
from ir_lexirecall.data.alignment import RunLike
from ir_lexirecall.data.judgments import QrelsLike
from ir_lexirecall.measures.parsing import MeasuresLike
from ir_lexirecall.meta.decisions import INCOMPARABLE, Decisions, Signs
from ir_lexirecall.meta.result import study


@entry
def agreement(
    measures: MeasuresLike,
    qrels: QrelsLike,
    runs: Mapping[str, RunLike],
    *,
    rel: float = 1,
    cutoff: int | None = None,
    allow_empty: bool = False,
    progress: bool | None = None,
) -> pd.DataFrame:
    """Agreement of every measure or preference with every other on the order of two runs, query by query.

    A decision is a pair of runs on a query. The agreement of a with b is the share of the decisions that a makes which b
    makes alike: ``agreement`` = agree / (agree + disagree + tied_b). Ties of b stay in the denominator, those of a do not, so
    that agreement is not symmetric. ``agreement_with_ties`` = (agree + tied_both) / (decisions - incomparable) is: a tie of
    both counts as agreement, a tie of one as none.

    Args:
        measures: at least two measures or preferences of ``compare``.
        qrels, runs, rel, cutoff, allow_empty, progress: as in ``ties``.

    Returns:
        A row per ordered pair of measures: ``measure_a``, ``measure_b``, ``decisions``, ``agree``, ``disagree``, ``tied_a`` and
        ``tied_b`` (only that one ties), ``tied_both``, ``incomparable`` (either is a partial order that leaves the pair open;
        these count nowhere else), ``agreement`` (of a with b) and ``agreement_with_ties``; NaN where nothing was decided.

    Raises:
        ValueError: fewer than two measures or runs, or bad input; the message names the offender.

    Source: Diaz, Ekstrand, Mitra, TORS 2026, Section 6, doi 10.1145/3728373.

    >>> qrels = {"q": {"a": 1, "b": 1}}
    >>> runs = {"x": {"q": {"a": 3, "c": 2, "d": 1, "b": 0}}, "y": {"q": {"a": 3, "c": 2, "b": 1}}}
    >>> agreement(["RR", "TSE"], qrels, runs)[["measure_a", "measure_b", "agree", "tied_a", "tied_b", "agreement"]]
      measure_a measure_b  agree  tied_a  tied_b  agreement
    0        RR       TSE      0       1       0        NaN
    1       TSE        RR      0       0       1        0.0
    """
    decisions = Decisions.from_runs(measures, qrels, runs, rel, cutoff, allow_empty, progress, least_measures=2)
    signs = {label: decisions.signs(label, INCOMPARABLE) for label in decisions.labels}
    rows = [{"measure_a": a, "measure_b": b, **_agreement(signs[a], signs[b])} for a, b in permutations(signs, 2)]
    return study(pd.DataFrame(rows), "agreement", **decisions.provenance)


def _agreement(a: Signs, b: Signs) -> dict[str, float]:
    """Counts and shares of the decisions of two measures."""
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
    return {
        "decisions": a.size,
        **counts,
        "incomparable": int(undecided.sum()),
        "agreement": counts["agree"] / decided if decided else np.nan,
        "agreement_with_ties": (counts["agree"] + counts["tied_both"]) / compared if compared else np.nan,
    }


@entry
def per_query_kendall(
    measures: MeasuresLike,
    qrels: QrelsLike,
    runs: Mapping[str, RunLike],
    *,
    rel: float = 1,
    cutoff: int | None = None,
    allow_empty: bool = False,
    progress: bool | None = None,
) -> pd.DataFrame:
    """Kendall's tau between the orders in which two measures put the runs, query by query.

    Tau is tau-b; queries on which a measure gives all runs the same value have none and are left out.

    Args:
        measures: at least two measures, or preferences (a run's mean preference over all others orders it).
        qrels, runs, rel, cutoff, allow_empty, progress: as in ``agreement``.

    Returns:
        A row per pair of measures: ``measure_a``, ``measure_b``, ``queries`` (with a tau), ``kendall`` (the mean),
        ``smallest``, ``largest``.

    Raises:
        ValueError: fewer than two measures or runs, or bad input; the message names the offender.

    Source: Maistro, Chaves Lima, Simonsen, Lioma, Principled Multi-Aspect Evaluation Measures of Rankings, CIKM 2021,
    doi 10.1145/3459637.3482287.

    >>> from ir_lexirecall import demo
    >>> per_query_kendall(["AP", "nDCG"], demo.qrels(), demo.runs())["queries"].tolist()
    [16]
    """
    decisions = Decisions.from_runs(measures, qrels, runs, rel, cutoff, allow_empty, progress, least_measures=2)
    signs = {label: decisions.value_signs(label) for label in decisions.labels}
    rows = []
    for a, b in combinations(signs, 2):
        tau = tau_b(signs[a], signs[b])
        tau = tau[~np.isnan(tau)]
        summary = (tau.mean(), tau.min(), tau.max()) if len(tau) else (np.nan,) * 3
        rows.append(
            {"measure_a": a, "measure_b": b, "queries": len(tau)}
            | dict(zip(("kendall", "smallest", "largest"), map(float, summary), strict=True))
        )
    return study(pd.DataFrame(rows), "per_query_kendall", **decisions.provenance)


def tau_b(x: Signs, y: Signs) -> Floats:
    """Kendall's tau-b of every column from the signs of the differences of all pairs, shape ``(P, Q)``; NaN: undefined.

    >>> tau_b(np.array([[1], [1], [1]], dtype=np.int8), np.array([[1], [1], [-1]], dtype=np.int8)).round(3)
    array([0.333])
    """
    decided = np.sqrt((x != 0).sum(axis=0) * (y != 0).sum(axis=0))
    return (x * y).sum(axis=0) / np.where(decided > 0, decided, np.nan)
