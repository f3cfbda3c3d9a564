"""The balancing index (Ferrante, Ferro, Maistro, ICTIR 2015): from which rank on a full tail outweighs the top."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction

import numpy as np
import pandas as pd
from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall._util.arrays import Floats, Ints
from ir_lexirecall._util.errors import check_choice, check_integers, check_number, entry
from ir_lexirecall._util.progress import progress_bar
from ir_lexirecall.measures import scoring
from ir_lexirecall.measures.gain import gain
from ir_lexirecall.measures.log_dcg import discount
from ir_lexirecall.measures.parsing import MeasuresLike
from ir_lexirecall.measures.rankings import optional
from ir_lexirecall.meta.decisions import parse_measures_for, rising
from ir_lexirecall.meta.rankings import has_aspects, made_up_run
from ir_lexirecall.meta.result import study

_SOURCE = "Ferrante, Ferro, Maistro, ICTIR 2015, doi 10.1145/2808194.2809452"
_METHODS = ("algorithm", "closed form")
_DOCUMENTS = 2**18  # that are scored at once
_ERR_TOP = 4  # the top grade of ir_measures' ERR
_ROUNDING = 1e-12  # sums of floats that are equal in exact arithmetic
_LARGEST = 1e300  # values: infinite ones are equal


@entry
def balancing_index(
    measures: MeasuresLike,
    n: int | Iterable[int] = range(1, 101),
    *,
    top: float | None = None,
    lowest: float | None = None,
    method: str = "algorithm",
    progress: bool | None = None,
) -> pd.DataFrame:
    """Balancing index B(n): from which rank on a full tail outweighs one document at the top.

    Rankings have n documents. One ranking has a document of the top grade at rank 1 and nothing else; another has
    documents of the lowest relevant grade at ranks b, ..., n. B(n) is the largest b for which the first scores no more
    than the second (Algorithm 1 of the source); 0 where there is none. Both rankings belong to one topic with one document
    of the top grade and n of the lowest relevant one, so that measures that know all relevant documents normalise alike. Where
    a measure's smaller value is better, the first ranking must score no less than the second.
    A small B(n) means a top-heavy measure.

    Args:
        measures: measures or strings, as for ``evaluate``, of one aspect.
        n: lengths of rankings, one number or several.
        top: top grade; by default the measure's ``max_rel`` (4 for ERR), or else its ``rel``, or else 1.
        lowest: lowest relevant grade, at most ``top``; by default ``top``, that is, relevance is binary.
        method: ``'algorithm'`` scores the rankings with any measure, in floats: values that differ by 1e-12 at most count
            as equal (so RBP with p = 0.5 has B = 2 for n > 40, where p^n is lost, and not 1); ``'closed form'`` solves the
            formulas of AP, RBP, ERR, nDCG and nDCG_JK: with x(b) = sum over i = b..n, the condition 1 <= x(b) of AP has the
            terms (i - b + 1) / i; g_top <= x(b) of nDCG g / log2(i + 1), of nDCG_JK g / max(1, log_a i), of RBP g p^(i-1) (in
            exact arithmetic; binary with ``rel``); r_top <= x(b) of ERR r (1-r)^(i-b) / i.
        progress: show a progress bar; by default on a terminal only.

    Returns:
        A row per measure and n: ``measure``, ``n``, ``B``, ``top``, ``lowest``, ``method``.

    Raises:
        ValueError: a measure without closed form, a measure of several aspects, or grades out of order.

    Source: Ferrante, Ferro, Maistro, ICTIR 2015, doi 10.1145/2808194.2809452.

    >>> found = balancing_index(["AP", "ERR", "RBP(p=0.8)"], [20, 21, 1000], method="closed form")
    >>> found.pivot(index="n", columns="measure", values="B")
    measure   AP  ERR  RBP(p=0.8)
    n
    20        15    1           7
    21        16    1           8
    1000     957    1           8
    """
    parsed, sizes = parse_measures_for(measures), check_integers("n", n)
    check_choice("method", method, _METHODS)
    rows = []
    with progress_bar(progress, total=len(parsed) * len(sizes), desc="B(n)") as bar:
        for name, measure in parsed.items():
            high, low = _grades(name, measure, top, lowest)
            index_of = _algorithm if method == "algorithm" else _closed_form(name, measure)
            for size in sizes:
                rows.append((name, size, index_of(measure, size, high, low), high, low, method))
                bar.update()
    return study(
        pd.DataFrame(rows, columns=["measure", "n", "B", "top", "lowest", "method"]),
        "balancing_index",
        measures=list(parsed),
        n=sizes,
        top=top,
        lowest=lowest,
        method=method,
        source=_SOURCE,
    )


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


def _algorithm(measure: IRMeasure, n: int, top: float, lowest: float) -> int:
    """The largest b by scoring, from the last rank up, some b at a time."""
    one = _one_at_the_top(measure, n, top, lowest)
    step = max(1, min(_DOCUMENTS // (n + 1), 256))  # each b needs n + 1 judged documents
    for end in range(n, 0, -step):
        tails = np.arange(end, max(0, end - step), -1)
        enough = one <= _tails(measure, n, top, lowest, tails) + _ROUNDING * max(1.0, abs(one))
        if enough.any():
            return int(tails[np.argmax(enough)])
    return 0


def _one_at_the_top(measure: IRMeasure, n: int, top: float, lowest: float) -> float:
    rank, grade = np.r_[1, np.zeros(n, dtype=np.int64)], np.r_[top, np.full(n, float(lowest))]
    run = made_up_run(np.zeros(n + 1, dtype=np.int64), rank, grade, np.array([n]))
    return float(_comparable(measure, scoring.values(measure, run))[0])


def _tails(measure: IRMeasure, n: int, top: float, lowest: float, first: Ints) -> Floats:
    """Values of the rankings with documents of the lowest grade from the given ranks on."""
    place = np.arange(n)
    rank = first[:, None] + place
    rank = np.where(rank <= n, rank, 0)
    rank = np.concatenate([rank, np.zeros((len(first), 1), dtype=np.int64)], axis=1)  # the top document is missing
    grade = np.tile(np.r_[np.full(n, float(lowest)), top], len(first))
    query = np.repeat(np.arange(len(first)), n + 1)
    run = made_up_run(query, rank.ravel(), grade, np.full(len(first), n))
    return _comparable(measure, scoring.values(measure, run))


def _comparable(measure: IRMeasure, values: Floats) -> Floats:
    """Values of which the larger is better, and none infinite."""
    return np.clip(rising(measure, values), -_LARGEST, _LARGEST)


def _closed_form(name: str, measure: IRMeasure) -> Callable[[IRMeasure, int, float, float], int]:
    """What solves the measure's formula."""
    if measure.NAME not in _CLOSED_FORMS or measure.params.keys() - {"cutoff", "rel", "p", "a"}:
        raise ValueError(
            f"there is no closed form for {name}; there is one for {', '.join(_CLOSED_FORMS)} "
            "(without further parameters), and method='algorithm' for any measure"
        )
    return _CLOSED_FORMS[measure.NAME]


def _reached(measure: IRMeasure, n: int) -> int:
    """The last rank that the measure sees."""
    k = optional(measure, "cutoff")
    return n if k is None else min(n, int(k))


def _counted(measure: IRMeasure, grade: float) -> bool:
    """Whether a binary measure takes the grade for relevant."""
    return bool(grade >= measure.params.get("rel", 1))


def _largest(n: int, reached: int, one: float, tail: Callable[[int], float]) -> int:
    """The largest b of 1..n with one <= tail(b), which falls with b and is 0 beyond the last rank that is seen."""
    if one <= _ROUNDING:
        return n
    low, high = 0, reached
    while low < high:
        b = (low + high + 1) // 2
        low, high = (b, high) if one <= tail(b) + _ROUNDING * max(1.0, one) else (low, b - 1)
    return low


def _ap(measure: IRMeasure, n: int, top: float, lowest: float) -> int:
    """One document at the top has precision 1; documents at b..k add (i - b + 1) / i each."""
    if not _counted(measure, lowest):
        return 0 if _counted(measure, top) else n
    k = _reached(measure, n)
    harmonic = np.r_[0.0, np.cumsum(1 / np.arange(1, k + 1))]
    return _largest(n, k, 1.0, lambda b: (k - b + 1) - (b - 1) * float(harmonic[k] - harmonic[b - 1]))


def _rbp(measure: IRMeasure, n: int, top: float, lowest: float) -> int:
    """g_top <= g (p^(b-1) - p^k) / (1 - p), solved for b: b = 1 + floor(log_p((1 - p) g_top / g + p^k)); exact, p and the
    grades being decimal numbers. With ``rel``, relevance is binary: g_top = g."""
    ratio = Fraction(str(top)) / Fraction(str(lowest))
    if "rel" in measure.params:
        if not _counted(measure, lowest):
            return 0 if _counted(measure, top) else n
        ratio = Fraction(1)
    p, k = Fraction(str(measure["p"])), _reached(measure, n)
    if not 0 < p < 1:
        raise ValueError(f"p must lie between 0 and 1, not {float(p):g}")
    bound = (1 - p) * ratio + p**k
    if bound > 1:
        return 0
    b = round(1 + float(np.log(float(bound)) / np.log(float(p))))
    while p ** (b - 1) < bound:
        b -= 1
    while p**b >= bound:
        b += 1
    return b


def _ndcg(measure: IRMeasure, n: int, top: float, lowest: float) -> int:
    """g_top <= g sum_{i=b}^{k} 1 / log2(i + 1); the ideal value of the topic cancels."""
    k = _reached(measure, n)
    discounts = np.r_[0.0, np.cumsum(1 / np.log2(np.arange(2, k + 2)))]
    return _largest(n, k, float(top), lambda b: lowest * float(discounts[k] - discounts[b - 1]))


def _ndcg_jk(measure: IRMeasure, n: int, top: float, lowest: float) -> int:
    """g_top <= g sum_{i=b}^{k} 1 / max(1, log_a i); the ideal value of the topic cancels."""
    k = _reached(measure, n)
    discounts = np.r_[0.0, np.cumsum(discount(np.arange(1, k + 1), measure["a"]))]
    return _largest(n, k, float(top), lambda b: lowest * float(discounts[k] - discounts[b - 1]))


def _err(measure: IRMeasure, n: int, top: float, lowest: float) -> int:
    """r_top <= sum_{i=b}^{k} r (1 - r)^(i - b) / i, with the gains of top grade 4."""
    k = _reached(measure, n)
    r_top, r = gain(np.array([top, lowest], dtype=np.float64), _ERR_TOP, "exp").tolist()
    ranks = np.arange(1, k + 1)
    return _largest(n, k, r_top, lambda b: float((r * (1 - r) ** (ranks[b - 1 :] - b) / ranks[b - 1 :]).sum()))


_CLOSED_FORMS: dict[str, Callable[[IRMeasure, int, float, float], int]] = {
    "AP": _ap,
    "RBP": _rbp,
    "ERR": _err,
    "nDCG": _ndcg,
    "nDCG_JK": _ndcg_jk,
}
