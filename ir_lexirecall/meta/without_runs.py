"""Without runs: how likely two random rankings tie, and where a measure looks.

The orientation of a measure is how much the first and the last relevant document decide; its
balancing index is from where on a full tail outweighs the top; and whether its values are equally
spaced.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from math import comb
from typing import Any

import numpy as np
from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall._util.arrays import Floats
from ir_lexirecall._util.errors import check_integer, check_integers, check_number
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.progress import progress_bar
from ir_lexirecall._util.rounding import same
from ir_lexirecall.data.aligned_run import AlignedRun
from ir_lexirecall.measures import scoring
from ir_lexirecall.measures.parsing import MeasuresLike
from ir_lexirecall.measures.recall import TSE
from ir_lexirecall.meta.decisions import parse_measures_for, rising
from ir_lexirecall.meta.made_up_rankings import (
    Ranking,
    aspect_ends,
    made_up_run,
    values,
)
from ir_lexirecall.meta.records import DIAZ, Headline, Option, recorded, study
from ir_lexirecall.plots.studies import Bars, Lines

_FERRANTE = "Ferrante, Ferro, Maistro, ICTIR 2015, doi 10.1145/2808194.2809452"
_MEANINGS = {
    "n": "documents n",
    "depth": "documents retrieved",
    "m": "relevant documents m",
}


def _probabilities(table: pd.DataFrame) -> Lines:
    """Tie probability against the number that varies: n, the depth, or else m."""
    numbers = ["depth", "n", "m"]
    if (table["depth"] == table["n"]).all():
        numbers.remove("depth")
    varied = [name for name in numbers if table[name].nunique() > 1]
    x, *others = varied or ["m"]
    x_scale, y_scale = "log", "log"
    if x == "m":
        x_scale = "whole"
    elif x == "depth":
        y_scale = "linear"
    return Lines(
        "How likely two random rankings tie",
        x,
        _MEANINGS[x],
        marks=lambda rows: with_names(rows, others),
        x_scale=x_scale,
        y_scale=y_scale,
    )


def with_names(rows: pd.DataFrame, numbers: Iterable[str]) -> pd.DataFrame:
    """Rows whose measures have the numbers behind their names, which tell lines apart."""
    parts = [f", {name}=" + rows[name].map("{:g}".format) for name in numbers]
    return rows.assign(measure=sum(parts, rows["measure"]))


@study(
    "Exact probability that two random rankings tie",
    Headline("probability", "probability of a tie", "most", "least"),
    _probabilities,
    example="--n 1000 10000 --m 10",
    measures=False,
    options={
        "n": Option(
            "numbers of documents in the collection", int, several=True, required=True
        ),
        "m": Option("numbers of relevant documents", int, several=True, required=True),
        "k": Option("cutoffs of R@k (default: 1000)", int, several=True),
        "depth": Option(
            "numbers of documents that a run retrieves (default: all)",
            int,
            several=True,
        ),
    },
)
def tie_probabilities(
    n: int | Iterable[int],
    m: int | Iterable[int],
    *,
    k: int | Iterable[int] = 1000,
    depth: int | Iterable[int] | None = None,
) -> pd.DataFrame:
    """Compute the probability that two random rankings of a collection tie, exactly.

    Of n documents m are relevant; both rankings are uniformly random permutations, of which the
    first ñ documents are retrieved. With C the binomial coefficient:

    - ``LexiRecall`` (all positions agree): sum over r of C(ñ, r) (C(n-ñ, m-r) / C(n, m))^2, which
      is 1 / C(n, m) for ñ = n;
    - ``TSE`` (missing documents at the bottom): sum over i <= ñ of (C(i-1, m-1) / C(n, m))^2 + (1 -
      C(ñ, m) / C(n, m))^2;
    - ``RR``: sum over i <= ñ of (C(n-i, m-1) / C(n, m))^2 + (C(n-ñ, m) / C(n, m))^2, for ñ = n the
      same as ``TSE``;
    - ``R@k``, and ``P@k``: sum over j of (C(k, j) C(n-k, m-j) / C(n, m))^2, where a k beyond ñ is
      ñ;
    - ``Rprec``: the same with k = m.

    Args:
        n: documents in the collection, one number or several.
        m: relevant documents, from 1 to n, one number or several.
        k: cutoffs of R@k; one beyond n is n.
        depth: documents retrieved, one number or several, at most n; None retrieves all n.

    Returns:
        A row per n, m, depth and measure: ``n``, ``m``, ``depth``, ``measure``, ``probability``
        (rounded once) and ``exact`` (a ``Fraction``).

    Raises:
        ValueError: a number is not an integer, or out of range.

    Source: Diaz, Ekstrand, Mitra, Recall, Robustness, and Lexicographic Evaluation, TORS 2026,
    Appendix E, doi 10.1145/3728373.

    >>> tie_probabilities(4, 2, k=2)[["measure", "probability", "exact"]]
          measure  probability exact
    0  LexiRecall     0.166667   1/6
    1         TSE     0.388889  7/18
    2          RR     0.388889  7/18
    3         R@2     0.500000   1/2
    4       Rprec     0.500000   1/2
    """
    sizes = check_integers("n", n)
    relevant = check_integers("m", m)
    cutoffs = check_integers("k", k)
    depths: Sequence[int | None] = [None]
    if depth is not None:
        depths = check_integers("depth", depth)
    _check_fits(relevant, sizes)
    too_deep = [ñ for ñ in depths if ñ is not None and ñ > min(sizes)]
    if too_deep:
        raise ValueError(
            f"depth={too_deep[0]} is more than the n={min(sizes)} documents of the collection"
        )
    rows = []
    combinations = list(product(sizes, relevant, depths))
    for size, n_relevant, cut in progress_bar(None, combinations, desc="n, m, depth"):
        retrieved = size if cut is None else cut
        probabilities = _tie_probabilities(size, n_relevant, retrieved, cutoffs)
        for measure, probability in probabilities.items():
            row = {
                "n": size,
                "m": n_relevant,
                "depth": retrieved,
                "measure": measure,
                "probability": float(probability),
                "exact": probability,
            }
            rows.append(row)
    facts = {
        "n": sizes,
        "m": relevant,
        "k": cutoffs,
        "depth": depth and depths,
        "source": DIAZ,
    }
    return recorded(pd.DataFrame(rows), "tie_probabilities", **facts)


def _check_fits(relevant: Sequence[int], sizes: Sequence[int]) -> None:
    """Raise if a collection has fewer documents than are to be relevant."""
    if max(relevant) > min(sizes):
        raise ValueError(
            f"m={max(relevant)} relevant documents do not fit into n={min(sizes)}"
        )


def _tie_probabilities(
    n: int, m: int, retrieved: int, cutoffs: Iterable[int]
) -> dict[str, Fraction]:
    """Return the probability of a tie by measure; see `tie_probabilities` for the formulas."""
    missed = n - retrieved
    placements = comb(n, m)
    same_positions = sum(
        comb(retrieved, r) * comb(missed, m - r) ** 2
        for r in range(max(0, m - missed), min(m, retrieved) + 1)
    )
    # Pairs of rankings whose last, or first, relevant document has the same rank, or is missing.
    same_last = (
        _sum_of_squares(retrieved, m - 1) + (placements - comb(retrieved, m)) ** 2
    )
    same_first = (
        _sum_of_squares(n, m - 1)
        - _sum_of_squares(missed, m - 1)
        + comb(missed, m) ** 2
    )
    same_recall = {f"R@{k}": _same_count(n, m, min(k, retrieved)) for k in cutoffs}
    return {
        "LexiRecall": Fraction(same_positions, placements**2),
        "TSE": Fraction(same_last, placements**2),
        "RR": Fraction(same_first, placements**2),
        **same_recall,
        "Rprec": _same_count(n, m, min(m, retrieved)),
    }


def _sum_of_squares(n: int, a: int) -> int:
    """Sum of C(x, a)^2 over x = 0, ..., n - 1.

    C(x, a)^2 = sum_j C(2a-j, a) C(a, j) C(x, 2a-j), and the sum of C(x, t) over x < n is C(n, t+1).
    """
    return sum(
        comb(2 * a - j, a) * comb(a, j) * comb(n, 2 * a - j + 1) for j in range(a + 1)
    )


def _same_count(n: int, m: int, k: int) -> Fraction:
    """Return the probability that two random rankings have as many relevant documents down to k."""
    n_found = range(max(0, m - (n - k)), min(k, m) + 1)
    return Fraction(
        sum((comb(k, j) * comb(n - k, m - j)) ** 2 for j in n_found), comb(n, m) ** 2
    )


_DOCUMENTS = 2**18  # that are scored at once
_ERR_TOP = 4  # the top grade of ir_measures' ERR
_LARGEST = 1e300  # values: infinite ones are equal


@study(
    "Recall or precision orientation of measures",
    Headline("recall", "recall orientation", "most", "least"),
    Lines(
        "What the last relevant document is worth (recall, solid), and the first one (precision, "
        "dashed)",
        "m",
        "relevant documents m",
        meaning="orientation",
        marks=lambda table: with_names(
            table, ["n"] if table["n"].nunique() > 1 else []
        ),
        dashed="precision",
        x_scale="whole",
    ),
    example="-m TSE LR AP --m 1 5 10 --n 1000",
    options={
        "n": Option(
            "numbers of documents in the collection (default: 1000)", int, several=True
        ),
        "m": Option(
            "numbers of relevant documents (default: 1 to 15)", int, several=True
        ),
    },
)
def orientation(
    measures: MeasuresLike,
    n: int | Iterable[int] = 1000,
    m: int | Iterable[int] = range(1, 16),
) -> pd.DataFrame:
    """Measure how much a measure rewards the first relevant document, and the last one.

    All n documents are ranked and m of them are relevant (grade 1, or the measure's ``rel``). Write
    mu(p_1, ..., p_m) for the measure's value with the relevant documents at those ranks. Then

    - ``precision`` = mu(1, n-m+2, ..., n) - mu(n-m+1, ..., n): in the worst ranking, the first
      relevant document moves to the top;
    - ``recall`` = mu(1, ..., m) - mu(1, ..., m-1, n): in the ideal ranking, the last relevant
      document moves to the bottom.

    Both are plain differences of values (of the opposite sign where the smaller value is better).
    Only total search efficiency is scaled, by its bounds for that m, (TSE - e(n)) / (e(m) - e(n)),
    so that every exposure gives the same line: precision 0 and recall 1 for 1 < m < n.

    Args:
        measures: measures or strings, as for ``evaluate``.
        n: documents, one number or several, at least m.
        m: relevant documents, one number or several.

    Returns:
        A row per measure, n and m: ``measure``, ``n``, ``m``, ``precision``, ``recall``, and the
        four values (of ``TSE`` unscaled): ``best``, ``worst``, ``first_up`` and ``last_down``.

    Raises:
        ValueError: an unknown measure, or m > n.

    Source: Diaz, Ekstrand, Mitra, Recall, Robustness, and Lexicographic Evaluation, TORS 2026,
    Figures 4 and 5, doi 10.1145/3728373.

    >>> table = orientation(["RR", "TSE", "AP"], n=10, m=2)
    >>> table[["measure", "m", "precision", "recall"]].round(3)
      measure  m  precision  recall
    0      RR  2      0.889     0.0
    1     TSE  2      0.000     1.0
    2      AP  2      0.444     0.4
    """
    parsed = parse_measures_for(measures)
    relevant, sizes = check_integers("m", m), check_integers("n", n)
    if max(sizes) > 2**53:
        raise ValueError(
            f"n={max(sizes)} documents are more ranks than floats tell apart, 2^53"
        )
    _check_fits(relevant, sizes)
    rows = []
    for name, measure in progress_bar(None, parsed.items(), desc="measures"):
        for size, few in product(sizes, relevant):
            extremes = scoring.values(measure, _extreme_rankings(measure, size, few))
            best, worst, first_up, last_down = rising(measure, extremes).tolist()
            scale = 1.0
            if isinstance(measure, TSE) and best > worst:
                scale = best - worst
            row: dict[str, Any] = {"measure": name, "n": size, "m": few}
            row["precision"] = (first_up - worst) / scale
            row["recall"] = (best - last_down) / scale
            rows.append(row | dict(zip(_EXTREMES, extremes.tolist(), strict=True)))
    facts = {"measures": list(parsed), "m": relevant, "n": sizes, "source": DIAZ}
    return recorded(pd.DataFrame(rows), "orientation", **facts)


_EXTREMES = ("best", "worst", "first_up", "last_down")
"""The best ranking, the worst, the worst with its first up, and the best with its last down."""


def _extreme_rankings(measure: IRMeasure, n: int, m: int) -> AlignedRun:
    """Return the four rankings of `_EXTREMES` of n documents, m of them relevant."""
    tops = {aspect: highest for aspect, (_, highest) in aspect_ends(measure).items()}
    top = np.array([*tops.values()] or measure.params.get("rel", 1), dtype=np.float64)
    i = np.arange(1, m + 1)
    worst_ranks = n - m + i
    rank = np.r_[i, worst_ranks, 1, worst_ranks[1:], i[:-1], n]
    grade = np.full((4 * m, *top.shape), top)
    ranking = np.repeat(np.arange(4), m)
    return made_up_run(ranking, rank, grade, np.full(4, n), columns=[*tops])


@study(
    "How many documents outweigh one at the top",
    Headline("B", "ranks that one top document outweighs", "most", "least"),
    Lines(
        "How many documents of the lowest relevant grade outweigh one of the top grade",
        "n",
        "length of the ranking n",
        x_scale="whole",
    ),
)
def balancing_index(
    measures: MeasuresLike,
    n: int | Iterable[int] = range(1, 101),
    *,
    top: float | None = None,
    lowest: float | None = None,
) -> pd.DataFrame:
    """Compute the balancing index B(n): the last rank from which a full tail outweighs the top.

    Rankings have n documents. The first has one relevant document, of the top grade, at rank 1; the
    second has documents of the lowest relevant grade at ranks b, ..., n. B(n) is the largest b for
    which the first scores no more than the second (Algorithm 1 of the source), or 0 if no b does.
    Both rankings belong to one query with one document of the top grade and n of the lowest
    relevant grade, so measures that are normalised by all relevant documents treat both alike. If a
    measure's smaller value is better, the first ranking must score no less than the second. Values
    with a relative difference of at most 1e-12 count as equal (so RBP with p = 0.5 has B = 2, not
    1, for n > 40, where p^n is lost). A small B(n) means a top-heavy measure.

    Args:
        measures: measures or strings, as for ``evaluate``, of one aspect.
        n: lengths of rankings, one number or several.
        top: top grade; by default the measure's ``max_rel`` (4 for ERR), or else its ``rel``, or
            else 1.
        lowest: lowest relevant grade, at most ``top``; by default ``top``, that is, relevance is
            binary.

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
    for name, measure in progress_bar(None, parsed.items(), desc="measures"):
        high, low = _extreme_grades(name, measure, top, lowest)
        rows += [
            (name, size, _balance(measure, size, high, low), high, low)
            for size in sizes
        ]
    table = pd.DataFrame(rows, columns=["measure", "n", "B", "top", "lowest"])
    facts = {
        "measures": list(parsed),
        "n": sizes,
        "top": top,
        "lowest": lowest,
        "source": _FERRANTE,
    }
    return recorded(table, "balancing_index", **facts)


def _extreme_grades(
    name: str, measure: IRMeasure, top: float | None, lowest: float | None
) -> tuple[float, float]:
    """Return the top grade and the lowest relevant one, as given or by default of the measure."""
    if aspect_ends(measure):
        raise ValueError(
            f"{name} judges several aspects; the index is defined for one scale of grades"
        )
    if top is not None:
        high = top
    elif measure.NAME == "ERR":
        high = _ERR_TOP
    else:
        high = measure.params.get("max_rel", measure.params.get("rel", 1))
    low = high if lowest is None else lowest
    check_number("lowest", low, above=0)
    check_number("top", high, above=0)
    if low > high:
        raise ValueError(
            f"the lowest relevant grade, {low}, is above the top grade, {high}"
        )
    if measure.NAME == "ERR" and high > _ERR_TOP:
        raise ValueError(f"{name} has grades up to {_ERR_TOP}, not {high}")
    return high, low


def _balance(measure: IRMeasure, n: int, top: float, lowest: float) -> int:
    """Return the largest b by scoring from the last rank up, a block of b at a time."""
    # Each b needs n + 1 judged documents.
    step = max(1, min(_DOCUMENTS // (n + 1), 256))
    for end in range(n, 0, -step):
        first = np.arange(end, max(0, end - step), -1)
        rank = np.r_[n + 1, first][:, None] + np.arange(n + 1)
        rank[rank > n] = 0
        rank[0, 0] = 1  # the document of the top grade alone; the others lack it
        grade = np.full(rank.shape, float(lowest))
        grade[0, 0] = grade[1:, -1] = top
        query = np.repeat(np.arange(len(rank)), n + 1)
        run = made_up_run(query, rank.ravel(), grade.ravel(), np.full(len(rank), n))
        one, *tails = np.clip(
            rising(measure, scoring.values(measure, run)), -_LARGEST, _LARGEST
        )
        enough = (one <= tails) | same(one, np.array(tails))
        if enough.any():
            return int(first[np.argmax(enough)])
    return 0


_LONGEST = 12  # documents, of which there are 4,096 rankings
_DIGITS = 10
_EQUAL = 10 ** (1 - _DIGITS)  # steps that differ by less are equal
ORDERS = ("top", "swaps", "relevant")
"""Orders of rankings on which a measure may be an interval scale."""


@study(
    "Whether a measure is an interval scale on an order of rankings",
    Headline(
        "ratio",
        "largest step between neighbouring values over the smallest",
        "most",
        "least",
    ),
    Bars(
        "Steps between neighbouring values for {n} documents: 1 where they are equal",
        largest_first=True,
    ),
    example="-m P@5 AP RBP(p=0.5,rel=1)",
    options={
        "n": Option("number of documents in a ranking (default: 5)", int),
        "m": Option("number of relevant documents (default: all n)", int),
        "order": Option(
            "what orders rankings: the first rank that differs ('top', the default), moves up by "
            "a rank ('swaps'), or the number of relevant documents ('relevant')"
        ),
    },
)
def interval_scale(
    measures: MeasuresLike, n: int = 5, m: int | None = None, *, order: str = "top"
) -> pd.DataFrame:
    """Check whether a measure is an interval scale on an order of rankings.

    All rankings of n documents, each relevant (grade 1, or the measure's ``rel``) or not, are
    scored in one topic with m relevant documents. On an interval scale, equal steps in the order of
    rankings are equal steps of the value. The orders:

    - ``'top'``: of two rankings, the one with a relevant document at the first rank where they
      differ is better (a total order: the value must be affine in the position within it).
    - ``'swaps'``: a ranking is better after a relevant document moves up by one rank, or takes the
      place of a nonrelevant one at the last rank (a partial order: the value must be affine along
      every maximal chain of such steps; all chains have the same length and ends, so that all steps
      must be equal).
    - ``'relevant'``: the number of relevant documents decides; rankings with as many must have one
      value.

    Equal spacing of the values that there are, v_(i+1) - v_i, is necessary, not sufficient. A
    measure with fewer than three values, such as TSE with m = n, has no steps to compare. Values
    are compared to 10 digits; where a smaller value is better, steps are those down.

    Args:
        measures: measures or strings, as for ``evaluate``.
        n: documents of a ranking, 1 to 12.
        m: relevant documents of the topic, by default n.
        order: ``'top'``, ``'swaps'`` or ``'relevant'``.

    Returns:
        A row per measure: ``measure``, ``order``, ``values`` (number of different values),
        ``smallest_step``, ``largest_step``, ``ratio`` (the largest step over the smallest; NaN if
        all values are equal, or one is infinite), ``equally_spaced`` (False in these cases), and
        ``interval``: whether the measure is an interval scale on the order. The last two are NaN
        with fewer than three values.

    Raises:
        ValueError: an unknown measure or order, or n or m out of range.

    Sources: Ferrante, Ferro, Pontarollo, Are IR Evaluation Measures on an Interval Scale?, ICTIR
    2017; Ferrante, Ferro, Fuhr, Towards Meaningful Statements in IR Evaluation: Mapping Evaluation
    Measures to Interval Scales, IEEE Access 2021, doi 10.1109/ACCESS.2021.3116857. Against the
    requirement: Moffat, Batch Evaluation Metrics in Information Retrieval: Measures, Scales, and
    Meaning, IEEE Access 2022, arXiv 2207.03103.

    >>> table = interval_scale(["P@5", "RBP(p=0.5,rel=1)", "AP"]).round(4)
    >>> table[["measure", "values", "ratio", "equally_spaced", "interval"]]
                measure  values  ratio  equally_spaced interval
    0               P@5       6    1.0            True    False
    1  RBP(p=0.5,rel=1)      32    1.0            True     True
    2                AP      31   30.0           False    False
    """
    parsed = parse_measures_for(measures)
    check_integer("n", n, most=_LONGEST)
    m = n if m is None else m
    check_integer("m", m)
    if order not in ORDERS:
        raise ValueError(
            f"order must be one of {', '.join(map(repr, ORDERS))}, not {order!r}"
        )
    relevances = [labels for labels in product((0, 1), repeat=n) if sum(labels) <= m]
    rows = []
    for name, measure in progress_bar(None, parsed.items(), desc="measures"):
        value = _values_of(measure, relevances, m)
        row = {"measure": name, "order": order, **_spacing(value)}
        row["interval"] = _is_interval(value, relevances, m, order)
        rows.append(row)
    facts = {
        "measures": list(parsed),
        "n": n,
        "m": m,
        "order": order,
        "source": "Ferrante, Ferro, Pontarollo, ICTIR 2017",
    }
    return recorded(pd.DataFrame(rows), "interval_scale", **facts)


def _values_of(
    measure: IRMeasure, relevances: Sequence[tuple[int, ...]], m: int
) -> Floats:
    """Return the value of each ranking, in a topic with m relevant documents; larger is better."""
    top = measure.params.get("rel", 1)
    rankings = []
    for relevance in relevances:
        n_retrieved = sum(relevance)
        retrieved = tuple(top * label for label in relevance)
        missing = (top,) * (m - n_retrieved) + (0,) * n_retrieved
        rankings.append(Ranking(retrieved, missing))
    return np.round(rising(measure, values(measure, rankings)), _DIGITS)


def _spacing(value: Floats) -> dict[str, Any]:
    """Return the columns on how many values there are, and how alike the steps between them."""
    steps = np.diff(np.unique(value))
    least = most = is_spaced = np.nan
    if len(steps):
        least, most = float(steps.min()), float(steps.max())
    if len(steps) > 1:
        is_spaced = bool(most - least < _EQUAL)
    return {
        "values": len(steps) + 1,
        "smallest_step": least,
        "largest_step": most,
        "ratio": most / least,
        "equally_spaced": is_spaced,
    }


def _is_interval(
    value: Floats, relevances: Sequence[tuple[int, ...]], m: int, order: str
) -> bool | float:
    """Return whether values rise by equal steps along an order; NaN with fewer than 3 values."""
    if len(np.unique(value)) < 3:
        return np.nan
    if not np.isfinite(value).all():
        return False
    value_of = dict(zip(relevances, value.tolist(), strict=True))
    match order:
        case "relevant":
            steps = _steps_by_number(value_of)
        case "top":
            steps = np.diff([value_of[relevance] for relevance in sorted(relevances)])
        case _:
            steps = np.array(
                [value_of[b] - value_of[a] for a, b in _steps_up(relevances, m)]
            )
    if steps is None:
        return False
    return bool(steps.min() > _EQUAL and steps.max() - steps.min() < _EQUAL)


def _steps_by_number(value_of: Mapping[tuple[int, ...], float]) -> Floats | None:
    """Return the steps of the value from each number of relevant documents to the next.

    None if rankings with as many relevant documents have different values.
    """
    values_of_number: dict[int, list[float]] = {}
    for relevance, value in value_of.items():
        values_of_number.setdefault(sum(relevance), []).append(value)
    if any(max(values) - min(values) >= _EQUAL for values in values_of_number.values()):
        return None
    return np.diff([values_of_number[number][0] for number in sorted(values_of_number)])


def _steps_up(
    relevances: Sequence[tuple[int, ...]], m: int
) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Yield each ranking with those that are one step better in the order 'swaps'.

    >>> [better for worse, better in _steps_up([(0, 1)], 2)]
    [(1, 0)]
    """
    for relevance in relevances:
        for i in range(1, len(relevance)):
            if relevance[i - 1 : i + 1] == (0, 1):
                yield relevance, (*relevance[: i - 1], 1, 0, *relevance[i + 1 :])
        if not relevance[-1] and sum(relevance) < m:
            yield relevance, (*relevance[:-1], 1)
