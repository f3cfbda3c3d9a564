"""Orientation: how much the first, and how much the last, relevant document decides."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd
from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall._util.arrays import Floats
from ir_lexirecall._util.errors import check_integers, entry
from ir_lexirecall._util.progress import progress_bar
from ir_lexirecall.measures import scoring
from ir_lexirecall.measures.parsing import MeasuresLike
from ir_lexirecall.measures.tse import TSE
from ir_lexirecall.meta.decisions import parse_measures_for, rising
from ir_lexirecall.meta.rankings import has_aspects, made_up_run
from ir_lexirecall.meta.result import study

_SOURCE = "Diaz, Ekstrand, Mitra, TORS 2026, doi 10.1145/3728373"


@entry
def orientation(
    measures: MeasuresLike,
    n: int | Iterable[int] = 1000,
    m: int | Iterable[int] = range(1, 16),
    *,
    progress: bool | None = None,
) -> pd.DataFrame:
    """Precision and recall orientation: how much a measure rewards the first, and the last, relevant document.

    All n documents are ranked and m of them are relevant (grade 1, or the measure's ``rel``). Write mu(p_1, ..., p_m) for
    the measure's value with the relevant documents at those ranks. Then

    - ``precision`` = mu(1, n-m+2, ..., n) - mu(n-m+1, ..., n): in the worst ranking, the first relevant document moves to
      the top;
    - ``recall`` = mu(1, ..., m) - mu(1, ..., m-1, n): in the ideal ranking, the last relevant document moves to the bottom.

    Both are plain differences of values (of the opposite sign where the smaller value is better). Only total search
    efficiency is scaled, by its bounds for that m, (TSE - e(n)) / (e(m) - e(n)), so that every exposure gives
    the same line: precision 0 and recall 1 for 1 < m < n.

    Args:
        measures: measures or strings, as for ``evaluate``.
        n: documents, one number or several, at least m.
        m: relevant documents, one number or several.
        progress: show a progress bar; by default on a terminal only.

    Returns:
        A row per measure, n and m: ``measure``, ``n``, ``m``, ``precision``, ``recall``, and the four values (of ``TSE``
        unscaled): ``best``, ``worst``, ``first_up`` and ``last_down``.

    Raises:
        ValueError: an unknown measure, or m > n.

    Source: Diaz, Ekstrand, Mitra, Recall, Robustness, and Lexicographic Evaluation, TORS 2026, Figures 4 and 5,
    doi 10.1145/3728373.

    >>> orientation(["RR", "TSE", "AP"], n=10, m=2)[["measure", "m", "precision", "recall"]].round(3)
      measure  m  precision  recall
    0      RR  2      0.889     0.0
    1     TSE  2      0.000     1.0
    2      AP  2      0.444     0.4
    """
    parsed = parse_measures_for(measures)
    relevant, sizes = check_integers("m", m), check_integers("n", n)
    if max(sizes) > 2**53:
        raise ValueError(f"n={max(sizes)} documents are more ranks than floats tell apart, 2^53")
    if max(relevant) > min(sizes):
        raise ValueError(f"m={max(relevant)} relevant documents do not fit into n={min(sizes)}")
    rows = []
    for name, measure in progress_bar(progress, parsed.items(), desc="measures"):
        for size in sizes:
            for few in relevant:
                extremes = _extremes(measure, few, size)
                best, worst, first_up, last_down = rising(measure, extremes).tolist()
                scale = best - worst if isinstance(measure, TSE) and best > worst else 1.0
                precision, recall = (first_up - worst) / scale, (best - last_down) / scale
                rows.append((name, size, few, precision, recall, *extremes.tolist()))
    columns = ["measure", "n", "m", "precision", "recall", "best", "worst", "first_up", "last_down"]
    return study(
        pd.DataFrame(rows, columns=columns), "orientation", measures=list(parsed), m=relevant, n=sizes, source=_SOURCE
    )


def _extremes(measure: IRMeasure, m: int, n: int) -> Floats:
    """Values of the best ranking, the worst, the worst with its first up, and the best with its last down."""
    i = np.arange(1, m + 1)
    best, worst = i, n - m + i
    first_up = np.r_[1, worst[1:]]
    last_down = np.r_[best[:-1], n]
    rank = np.concatenate([best, worst, first_up, last_down])
    grade = np.full(4 * m, float(measure.params.get("rel", 1)))
    columns = list(measure["aspects"]) if has_aspects(measure) else []
    if columns:
        tops = [scale if isinstance(scale, int) else max(scale) for scale in measure["aspects"].values()]
        grade = np.tile(np.array(tops, dtype=np.float64), (4 * m, 1))
    return scoring.values(measure, made_up_run(np.repeat(np.arange(4), m), rank, grade, np.full(4, n), columns=columns))
