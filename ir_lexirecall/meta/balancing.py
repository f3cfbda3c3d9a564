"""Utility-oriented measurement (Ferrante, Ferro, Maistro, ICTIR 2015): the partial order and the balancing index."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from ir_measures.measures.base import Measure
from ir_measures.providers.base import NOT_PROVIDED

from ir_lexirecall.evaluation import parse_measures
from ir_lexirecall.meta.behaviour import _integers
from ir_lexirecall.meta.rankings import has_aspects, judged_ranks, score
from ir_lexirecall.meta.study import Study
from ir_lexirecall.progress import progress_bar
from ir_lexirecall.scoring.arrays import Floats, Ints
from ir_lexirecall.scoring.gain import gain

if TYPE_CHECKING:
    import pandas as pd

_SOURCE = "Ferrante, Ferro, Maistro, ICTIR 2015, doi 10.1145/2808194.2809452"
_DOCUMENTS = 2**18  # that are scored at once
_ERR_TOP = 4  # the top grade of ir_measures' ERR
_ROUNDING = 1e-12  # sums of floats that are equal in exact arithmetic


# -- the partial order -----------------------------------------------------------------------------


def partial_order(rankings: Mapping[str, Sequence[float]]) -> Study:
    """Which of several judged rankings of one topic is at least as good as which, whatever the measure.

    a <= b iff for every grade g and every depth k, b has among its first k documents at least as many documents of grade
    g or more as a has. The order is partial: where each of two rankings is ahead somewhere, they are not comparable.

    Args:
        rankings: the grades from rank 1 on, by the ranking's name; a shorter ranking is continued with
            grade 0, and a grade below 0 counts as 0.

    Returns:
        A ``Study`` with a row per pair: ``a``, ``b``, ``order`` (``'<'`` a is worse, ``'>'`` a is better, ``'='``, or
        ``'not comparable'``), and where each is ahead first: ``a_ahead`` and ``b_ahead`` as (depth, grade), or None.

    Raises:
        ValueError: fewer than two rankings, or a grade that is not a number.

    Source: Ferrante, Ferro, Maistro, Towards a Formal Framework for Utility-oriented Measurements of Retrieval
    Effectiveness, ICTIR 2015, doi 10.1145/2808194.2809452.

    >>> partial_order({"r": [0, 1, 1], "s": [1, 0, 1], "t": [2, 0, 0]})
       a  b           order a_ahead b_ahead
    0  r  s               <    None  (1, 1)
    1  r  t  not comparable  (3, 1)  (1, 1)
    2  s  t  not comparable  (3, 1)  (1, 2)
    """
    import pandas as pd

    if not isinstance(rankings, Mapping) or len(rankings) < 2:
        raise ValueError("partial_order: give at least two rankings by name")
    if len(set(map(str, rankings))) < len(rankings):
        raise ValueError("partial_order: two rankings have the same name")
    grades: dict[str, Floats] = {}
    for name, ranking in rankings.items():
        try:
            grades[str(name)] = np.asarray(ranking, dtype=np.float64).reshape(-1)
        except (TypeError, ValueError):
            raise ValueError(f"partial_order: the grades of ranking {name!r} are not all numbers") from None
        if not np.isfinite(grades[str(name)]).all():
            raise ValueError(f"partial_order: ranking {name!r} has a grade that is not a finite number")
    counts, levels = _counts(list(grades.values()))
    rows = []
    for (i, a), (j, b) in combinations(enumerate(grades), 2):
        a_ahead, b_ahead = _first(counts[i] > counts[j], levels), _first(counts[j] > counts[i], levels)
        order = {(False, False): "=", (True, False): ">", (False, True): "<", (True, True): "not comparable"}
        rows.append((a, b, order[a_ahead is not None, b_ahead is not None], a_ahead, b_ahead))
    table = pd.DataFrame(rows, columns=["a", "b", "order", "a_ahead", "b_ahead"])
    return Study.of(table, _draw_order, function="partial_order", rankings=list(grades), source=_SOURCE)


def _counts(grades: Sequence[Floats]) -> tuple[Ints, Floats]:
    """Documents of at least each grade level among the first k, shape (rankings, depth, levels); and the levels."""
    levels = np.unique(np.concatenate(grades))
    levels = levels[levels > 0]
    depth = max(map(len, grades))
    padded = np.array([np.r_[each, np.zeros(depth - len(each))] for each in grades]).reshape(len(grades), depth)
    return np.cumsum(padded[:, :, None] >= levels, axis=1), levels


def _first(ahead: Any, levels: Floats) -> tuple[int, float] | None:
    """The least depth, and there the lowest grade, at which a ranking is ahead."""
    places = np.argwhere(ahead)
    if len(places) == 0:
        return None
    grade = float(levels[places[0][1]])
    return int(places[0][0]) + 1, int(grade) if grade.is_integer() else grade


def _draw_order(table: pd.DataFrame, ax: Any) -> Any:
    """A matrix: whether the row's ranking is better, equal, worse or not comparable with the column's."""
    names = list(dict.fromkeys([*table["a"], *table["b"]]))
    matrix = np.zeros((len(names), len(names)))
    symbols = {">": (1, ">"), "<": (-1, "<"), "=": (0, "="), "not comparable": (np.nan, "?")}
    mirrored = {">": "<", "<": ">"}
    for a, b, order in table[["a", "b", "order"]].itertuples(index=False):
        i, j = names.index(a), names.index(b)
        for x, y, way in ((i, j, order), (j, i, mirrored.get(order, order))):
            matrix[x, y], symbol = symbols[way]
            ax.text(y, x, symbol, ha="center", va="center")
    ax.imshow(matrix, cmap="RdBu", vmin=-2, vmax=2)
    ax.set_xticks(range(len(names)), names, rotation=45, ha="right")
    ax.set_yticks(range(len(names)), names)
    return ax


# -- the balancing index ---------------------------------------------------------------------------


def balancing_index(
    measures: Any,
    n: int | Iterable[int] = range(1, 101),
    *,
    top: float | None = None,
    lowest: float | None = None,
    method: str = "algorithm",
    progress: bool | None = None,
) -> Study:
    """Balancing index B(n): from which rank on a full tail outweighs one document at the top.

    Rankings have n documents. One ranking has a document of the top grade at rank 1 and nothing else; another has
    documents of the lowest relevant grade at ranks b, ..., n. B(n) is the largest b for which the first scores no more
    than the second (Algorithm 1 of the source); 0 where there is none. Both rankings belong to one topic with one document
    of the top grade and n of the lowest relevant one, so that measures that know all relevant documents normalise alike.
    A small B(n) means a top-heavy measure.

    Args:
        measures: measures or strings, as for ``evaluate``, of one aspect.
        n: lengths of rankings, one number or several.
        top: top grade; by default the measure's ``max_rel`` (4 for ERR), or else its ``rel``, or else 1.
        lowest: lowest relevant grade, at most ``top``; by default ``top``, that is, relevance is binary.
        method: ``'algorithm'`` scores the rankings with any measure, in floats: values that differ by 1e-12 at most count
            as equal (so RBP with p = 0.5 has B = 2 for n > 40, where p^n is lost, and not 1); ``'closed form'`` solves the
            formulas of AP, RBP, ERR and nDCG: with x(b) = sum over i = b..n, the condition 1 <= x(b) of AP has the terms
            (i - b + 1) / i; g_top <= x(b) of nDCG g / log2(i + 1), of RBP p^(i-1) (binary, in exact arithmetic), of ERR
            r (1-r)^(i-b) / i.
        progress: show a progress bar; by default on a terminal only.

    Returns:
        A ``Study`` with a row per measure and n: ``measure``, ``n``, ``B``, ``top``, ``lowest``, ``method``.

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
    import pandas as pd

    named, sizes = parse_measures(measures), _integers(n, "n")
    if method not in ("algorithm", "closed form"):
        raise ValueError(f"balancing_index: method must be 'algorithm' or 'closed form', not {method!r}")
    rows = []
    with progress_bar(progress, total=len(named) * len(sizes), desc="B(n)") as bar:
        for name, measure in named.items():
            high, low = _grades(name, measure, top, lowest)
            index_of = _algorithm if method == "algorithm" else _closed_form(name, measure)
            for size in sizes:
                rows.append((name, size, index_of(measure, size, high, low), high, low, method))
                bar.update()
    return Study.of(
        pd.DataFrame(rows, columns=["measure", "n", "B", "top", "lowest", "method"]),
        _draw_balancing,
        function="balancing_index",
        measures=list(named),
        n=sizes,
        top=top,
        lowest=lowest,
        method=method,
        source=_SOURCE,
    )


def _grades(name: str, measure: Measure, top: float | None, lowest: float | None) -> tuple[float, float]:
    """The top and the lowest relevant grade."""
    if has_aspects(measure):
        raise ValueError(f"balancing_index: {name} judges several aspects; the index is of one scale of grades")
    scale = _ERR_TOP if measure.NAME == "ERR" else measure.params.get("max_rel", measure.params.get("rel", 1))
    high = scale if top is None else top
    low = high if lowest is None else lowest
    for grade in (low, high):
        if isinstance(grade, bool) or not isinstance(grade, numbers.Real) or not 0 < float(grade) < np.inf:
            raise ValueError(f"balancing_index: a grade must be a number above 0, not {grade!r}")
    if low > high:
        raise ValueError(f"balancing_index: the lowest relevant grade, {low}, is above the top grade, {high}")
    if measure.NAME == "ERR" and high > _ERR_TOP:
        raise ValueError(f"balancing_index: {name} has grades up to {_ERR_TOP}, not {high}")
    return high, low


def _algorithm(measure: Measure, n: int, top: float, lowest: float) -> int:
    """The largest b by scoring, from the last rank up, some b at a time."""
    one = _one_at_the_top(measure, n, top, lowest)
    for tails in _descending(n):
        enough = one <= _tails(measure, n, top, lowest, tails) + _ROUNDING * max(1.0, abs(one))
        if enough.any():
            return int(tails[np.argmax(enough)])
    return 0


def _descending(n: int) -> Iterator[Ints]:
    """The ranks n, n-1, ..., 1 in portions: each b needs n + 1 judged documents."""
    step = max(1, min(_DOCUMENTS // (n + 1), 256))
    for end in range(n, 0, -step):
        yield np.arange(end, max(0, end - step), -1)


def _one_at_the_top(measure: Measure, n: int, top: float, lowest: float) -> float:
    rank, grade = np.r_[1, np.zeros(n, dtype=np.int64)], np.r_[top, np.full(n, float(lowest))]
    ranks = judged_ranks(np.zeros(n + 1, dtype=np.int64), rank, grade, np.array([n]))
    return float(score(measure, ranks)[0])


def _tails(measure: Measure, n: int, top: float, lowest: float, first: Ints) -> Floats:
    """Values of the rankings with documents of the lowest grade from the given ranks on."""
    place = np.arange(n)
    rank = first[:, None] + place
    rank = np.where(rank <= n, rank, 0)
    rank = np.concatenate([rank, np.zeros((len(first), 1), dtype=np.int64)], axis=1)  # the top document is missing
    grade = np.tile(np.r_[np.full(n, float(lowest)), top], len(first))
    query = np.repeat(np.arange(len(first)), n + 1)
    return score(measure, judged_ranks(query, rank.ravel(), grade, np.full(len(first), n)))


def _closed_form(name: str, measure: Measure) -> Callable[[Measure, int, float, float], int]:
    """What solves the measure's formula."""
    if measure.NAME not in _CLOSED_FORMS or measure.params.keys() - {"cutoff", "rel", "p"}:
        raise ValueError(
            f"balancing_index: there is no closed form for {name}; there is one for {', '.join(_CLOSED_FORMS)} "
            "(without further parameters), and method='algorithm' for any measure"
        )
    return _CLOSED_FORMS[measure.NAME]


def _reached(measure: Measure, n: int) -> int:
    """The last rank that the measure sees."""
    k = measure["cutoff"] if "cutoff" in measure.params else n
    return n if k is NOT_PROVIDED or k is None else min(n, int(k))


def _counted(measure: Measure, grade: float) -> bool:
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


def _ap(measure: Measure, n: int, top: float, lowest: float) -> int:
    """One document at the top has precision 1; documents at b..k add (i - b + 1) / i each."""
    if not _counted(measure, lowest):
        return 0 if _counted(measure, top) else n
    k = _reached(measure, n)
    harmonic = np.r_[0.0, np.cumsum(1 / np.arange(1, k + 1))]
    return _largest(n, k, 1.0, lambda b: (k - b + 1) - (b - 1) * float(harmonic[k] - harmonic[b - 1]))


def _rbp(measure: Measure, n: int, top: float, lowest: float) -> int:
    """1 <= (p^(b-1) - p^k) / (1 - p), solved for b: b = 1 + floor(log_p(1 - p + p^k)); exact, p being a decimal number."""
    if not _counted(measure, lowest):
        return 0 if _counted(measure, top) else n
    p, k = Fraction(str(measure["p"])), _reached(measure, n)
    if not 0 < p < 1:
        raise ValueError(f"balancing_index: p must lie between 0 and 1, not {float(p):g}")
    bound = 1 - p + p**k
    b = round(1 + float(np.log(float(bound)) / np.log(float(p))))
    while p ** (b - 1) < bound:
        b -= 1
    while p**b >= bound:
        b += 1
    return b


def _ndcg(measure: Measure, n: int, top: float, lowest: float) -> int:
    """g_top <= g sum_{i=b}^{k} 1 / log2(i + 1); the ideal value of the topic cancels."""
    k = _reached(measure, n)
    discounts = np.r_[0.0, np.cumsum(1 / np.log2(np.arange(2, k + 2)))]
    return _largest(n, k, float(top), lambda b: lowest * float(discounts[k] - discounts[b - 1]))


def _err(measure: Measure, n: int, top: float, lowest: float) -> int:
    """r_top <= sum_{i=b}^{k} r (1 - r)^(i - b) / i, with the gains of top grade 4."""
    k = _reached(measure, n)
    r_top, r = gain(np.array([top, lowest], dtype=np.float64), _ERR_TOP, "exp").tolist()
    ranks = np.arange(1, k + 1)
    return _largest(n, k, r_top, lambda b: float((r * (1 - r) ** (ranks[b - 1 :] - b) / ranks[b - 1 :]).sum()))


_CLOSED_FORMS: dict[str, Callable[[Measure, int, float, float], int]] = {
    "AP": _ap,
    "RBP": _rbp,
    "ERR": _err,
    "nDCG": _ndcg,
}


def _draw_balancing(table: pd.DataFrame, ax: Any) -> Any:
    """B(n) against n, a line per measure."""
    for measure, rows in table.groupby("measure", sort=False):
        ax.plot(rows["n"], rows["B"], marker=".", label=measure)
    ax.set_xlabel("length of the ranking n")
    ax.set_ylabel("balancing index B(n)")
    ax.legend(fontsize="small")
    return ax
