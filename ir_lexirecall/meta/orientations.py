"""Where a measure looks: how much the first and the last relevant document decide, and from where on a full tail outweighs the top."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall._util.arrays import Floats
from ir_lexirecall._util.errors import check_integers, check_number
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.progress import progress_bar
from ir_lexirecall._util.rounding import SUM
from ir_lexirecall.data.aligned_run import AlignedRun
from ir_lexirecall.measures import scoring
from ir_lexirecall.measures.parsing import MeasuresLike
from ir_lexirecall.measures.tse import TSE
from ir_lexirecall.meta.decisions import parse_measures_for, rising
from ir_lexirecall.meta.made_up_rankings import has_aspects, made_up_run
from ir_lexirecall.meta.records import Headline, Option, recorded, study
from ir_lexirecall.plots.studies import Lines

_DIAZ = "Diaz, Ekstrand, Mitra, TORS 2026, doi 10.1145/3728373"
_FERRANTE = "Ferrante, Ferro, Maistro, ICTIR 2015, doi 10.1145/2808194.2809452"
_DOCUMENTS = 2**18  # that are scored at once
_ERR_TOP = 4  # the top grade of ir_measures' ERR
_LARGEST = 1e300  # values: infinite ones are equal


def _with_sizes(table: pd.DataFrame) -> pd.DataFrame:
    if table["n"].nunique() == 1:
        return table
    return table.assign(measure=table["measure"] + ", n=" + table["n"].astype(str))


@study(
    "Recall or precision orientation of measures",
    Headline("recall", "recall orientation", "most", "least"),
    Lines(
        "What the last relevant document is worth (recall, solid), and the first one (precision, dashed)",
        "m",
        "recall",
        "relevant documents m",
        "orientation",
        marks=_with_sizes,
        dashed="precision",
        x_scale="whole",
    ),
    example="-m TSE LR AP --m 1 5 10 --n 1000",
    options={
        "n": Option("documents in the collection, one number or several", int, several=True),
        "m": Option("relevant documents, one number or several", int, several=True),
    },
)
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
    facts = {"measures": list(parsed), "m": relevant, "n": sizes, "source": _DIAZ}
    return recorded(pd.DataFrame(rows, columns=columns), "orientation", **facts)


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


@study(
    "How many documents outweigh one at the top",
    Headline("B", "ranks that one top document outweighs", "most", "least"),
    Lines(
        "How many documents of the lowest relevant grade outweigh one of the top grade",
        "n",
        "B",
        "length of the ranking n",
        "balancing index B(n)",
        x_scale="whole",
    ),
)
def balancing_index(
    measures: MeasuresLike,
    n: int | Iterable[int] = range(1, 101),
    *,
    top: float | None = None,
    lowest: float | None = None,
    progress: bool | None = None,
) -> pd.DataFrame:
    """Balancing index B(n): from which rank on a full tail outweighs one document at the top.

    Rankings have n documents. One ranking has a document of the top grade at rank 1 and nothing else; another has
    documents of the lowest relevant grade at ranks b, ..., n. B(n) is the largest b for which the first scores no more
    than the second (Algorithm 1 of the source); 0 where there is none. Both rankings belong to one topic with one document
    of the top grade and n of the lowest relevant one, so that measures that know all relevant documents normalise alike. Where
    a measure's smaller value is better, the first ranking must score no less than the second. Values are floats: those that
    differ by 1e-12 at most count as equal (so RBP with p = 0.5 has B = 2 for n > 40, where p^n is lost, and not 1).
    A small B(n) means a top-heavy measure.

    Args:
        measures: measures or strings, as for ``evaluate``, of one aspect.
        n: lengths of rankings, one number or several.
        top: top grade; by default the measure's ``max_rel`` (4 for ERR), or else its ``rel``, or else 1.
        lowest: lowest relevant grade, at most ``top``; by default ``top``, that is, relevance is binary.
        progress: show a progress bar; by default on a terminal only.

    Returns:
        A row per measure and n: ``measure``, ``n``, ``B``, ``top``, ``lowest``.

    Raises:
        ValueError: a measure of several aspects, or grades out of order.

    Source: Ferrante, Ferro, Maistro, ICTIR 2015, doi 10.1145/2808194.2809452.

    >>> found = balancing_index(["AP", "ERR", "RBP(p=0.8)"], [20, 21])
    >>> found.pivot(index="n", columns="measure", values="B")
    measure  AP  ERR  RBP(p=0.8)
    n
    20       15    1           7
    21       16    1           8
    """
    parsed, sizes = parse_measures_for(measures), check_integers("n", n)
    rows = []
    with progress_bar(progress, total=len(parsed) * len(sizes), desc="B(n)") as bar:
        for name, measure in parsed.items():
            high, low = _grades(name, measure, top, lowest)
            for size in sizes:
                rows.append((name, size, _balance(measure, size, high, low), high, low))
                bar.update()
    table = pd.DataFrame(rows, columns=["measure", "n", "B", "top", "lowest"])
    facts = {"measures": list(parsed), "n": sizes, "top": top, "lowest": lowest, "source": _FERRANTE}
    return recorded(table, "balancing_index", **facts)


def _grades(name: str, measure: IRMeasure, top: float | None, lowest: float | None) -> tuple[float, float]:
    """The top and the lowest relevant grade."""
    if has_aspects(measure):
        raise ValueError(f"{name} judges several aspects; the index is of one scale of grades")
    scale = _ERR_TOP if measure.NAME == "ERR" else measure.params.get("max_rel", measure.params.get("rel", 1))
    high = scale if top is None else top
    low = high if lowest is None else lowest
    for grade_name, grade in (("lowest", low), ("top", high)):
        check_number(grade_name, grade, above=0)
    if low > high:
        raise ValueError(f"the lowest relevant grade, {low}, is above the top grade, {high}")
    if measure.NAME == "ERR" and high > _ERR_TOP:
        raise ValueError(f"{name} has grades up to {_ERR_TOP}, not {high}")
    return high, low


def _balance(measure: IRMeasure, n: int, top: float, lowest: float) -> int:
    """The largest b by scoring, from the last rank up, some b at a time."""
    rank, grade = np.r_[1, np.zeros(n, dtype=np.int64)], np.r_[top, np.full(n, float(lowest))]
    run = made_up_run(np.zeros(n + 1, dtype=np.int64), rank, grade, np.array([n]))
    one = float(_comparable(measure, run)[0])
    step = max(1, min(_DOCUMENTS // (n + 1), 256))  # each b needs n + 1 judged documents
    for end in range(n, 0, -step):
        first = np.arange(end, max(0, end - step), -1)
        rank = first[:, None] + np.arange(n)
        rank = np.where(rank <= n, rank, 0)
        rank = np.concatenate([rank, np.zeros((len(first), 1), dtype=np.int64)], axis=1)  # the top document is missing
        grade = np.tile(np.r_[np.full(n, float(lowest)), top], len(first))
        query = np.repeat(np.arange(len(first)), n + 1)
        tails = _comparable(measure, made_up_run(query, rank.ravel(), grade, np.full(len(first), n)))
        enough = one <= tails + SUM * max(1.0, abs(one))
        if enough.any():
            return int(first[np.argmax(enough)])
    return 0


def _comparable(measure: IRMeasure, run: AlignedRun) -> Floats:
    """Values of which the larger is better, and none infinite."""
    return np.clip(rising(measure, scoring.values(measure, run)), -_LARGEST, _LARGEST)
