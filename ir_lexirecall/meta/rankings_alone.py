"""Rankings without a measure or a run: how likely two random ones tie, and which of two is at least as good, whatever the measure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, product
from math import comb

import numpy as np

from ir_lexirecall._util.arrays import Floats
from ir_lexirecall._util.errors import check_choice, check_integers
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.progress import progress_bar
from ir_lexirecall.meta.records import Headline, Option, recorded, study
from ir_lexirecall.plots.studies import Lines, Symbols
from ir_lexirecall.present.findings import Finding
from ir_lexirecall.present.text import count

_DIAZ = "Diaz, Ekstrand, Mitra, TORS 2026, doi 10.1145/3728373"
_FERRANTE = "Ferrante, Ferro, Maistro, ICTIR 2015, doi 10.1145/2808194.2809452"
_MEANINGS = {"n": "documents n", "depth": "documents retrieved", "m": "relevant documents m"}


def _probabilities(table: pd.DataFrame) -> Lines:
    """Tie probability against the number that varies: n, the depth, or else m."""
    x = next((name for name in ("depth", "n") if table[name].nunique() > 1), "m")
    if x == "depth" and (table["depth"] == table["n"]).all():
        x = "n"
    rest = [name for name in ("n", "m", "depth") if name != x and not (x == "n" and name == "depth")]
    varied = [name for name in rest if table[name].nunique() > 1]

    def named(rows: pd.DataFrame) -> pd.DataFrame:
        names = rows["measure"].copy()
        for name in varied:
            names += f", {name}=" + rows[name].map("{:g}".format)
        return rows.assign(measure=names)

    return Lines(
        "How likely two random rankings tie",
        x,
        "probability",
        _MEANINGS[x],
        "probability of a tie",
        marks=named,
        x_scale="whole" if x == "m" else "log",
        y_scale="linear" if x == "depth" else "log",
    )


@study(
    "Probability that two random rankings tie, exactly",
    Headline("probability", "probability of a tie", "most", "least"),
    _probabilities,
    example="--n 1000 10000 --m 10",
    measures="",
    options={
        "n": Option("documents in the collection, one number or several", int, several=True, required=True),
        "m": Option("relevant documents, one number or several", int, several=True, required=True),
        "k": Option("cutoffs of R@k (default: 1000)", int, several=True),
        "depth": Option("documents that a run retrieves, one number or several (default: all)", int, several=True),
    },
)
def tie_probabilities(
    n: int | Iterable[int],
    m: int | Iterable[int],
    *,
    k: int | Iterable[int] = 1000,
    depth: int | Iterable[int] | None = None,
    progress: bool | None = None,
) -> pd.DataFrame:
    """Probability that two random rankings of a collection tie, in closed form and exact arithmetic.

    Of n documents m are relevant; both rankings are uniformly random permutations, of which the first ñ documents are
    retrieved. With C the binomial coefficient:

    - ``LexiRecall`` (all positions agree): sum over r of C(ñ, r) (C(n-ñ, m-r) / C(n, m))^2, which is 1 / C(n, m) for ñ = n;
    - ``TSE`` (missing documents at the bottom): sum over i <= ñ of (C(i-1, m-1) / C(n, m))^2 + (1 - C(ñ, m) / C(n, m))^2;
    - ``RR``: sum over i <= ñ of (C(n-i, m-1) / C(n, m))^2 + (C(n-ñ, m) / C(n, m))^2, for ñ = n the same as ``TSE``;
    - ``R@k``, and ``P@k``: sum over j of (C(k, j) C(n-k, m-j) / C(n, m))^2, where a k beyond ñ is ñ;
    - ``Rprec``: the same with k = m.

    Args:
        n: documents in the collection, one number or several.
        m: relevant documents, from 1 to n, one number or several.
        k: cutoffs of R@k; one beyond n is n.
        depth: documents retrieved, one number or several, at most n; None retrieves all n.
        progress: show a progress bar; by default on a terminal only.

    Returns:
        A row per n, m, depth and measure: ``n``, ``m``, ``depth``, ``measure``, ``probability`` (rounded once) and ``exact``
        (a ``Fraction``).

    Raises:
        ValueError: a number is not an integer, or out of range.

    Source: Diaz, Ekstrand, Mitra, Recall, Robustness, and Lexicographic Evaluation, TORS 2026, Appendix E,
    doi 10.1145/3728373.

    >>> tie_probabilities(4, 2, k=2)[["measure", "probability", "exact"]]
          measure  probability exact
    0  LexiRecall     0.166667   1/6
    1         TSE     0.388889  7/18
    2          RR     0.388889  7/18
    3         R@2     0.500000   1/2
    4       Rprec     0.500000   1/2
    """
    sizes, relevant, cutoffs = (check_integers(name, value) for value, name in ((n, "n"), (m, "m"), (k, "k")))
    depths = [None] if depth is None else check_integers("depth", depth)
    if max(relevant) > min(sizes):
        raise ValueError(f"m={max(relevant)} relevant documents do not fit into n={min(sizes)}")
    too_deep = [ñ for ñ in depths if ñ is not None and ñ > min(sizes)]
    if too_deep:
        raise ValueError(f"depth={too_deep[0]} is more than the n={min(sizes)} documents of the collection")
    rows: list[tuple[int, int, int, str, Fraction]] = []
    for size, few, cut in progress_bar(progress, list(product(sizes, relevant, depths)), desc="n, m, depth"):
        retrieved = size if cut is None else cut
        rest, ways = size - retrieved, comb(size, few)
        alike = sum(
            comb(retrieved, r) * comb(rest, few - r) ** 2 for r in range(max(0, few - rest), min(few, retrieved) + 1)
        )
        found = _sum_of_squares(size, few - 1) - _sum_of_squares(rest, few - 1)
        exact = {  # same positions; the last, or the first, at the same rank, or missing; as many above a rank
            "LexiRecall": Fraction(alike, ways**2),
            "TSE": Fraction(_sum_of_squares(retrieved, few - 1) + (ways - comb(retrieved, few)) ** 2, ways**2),
            "RR": Fraction(found + comb(rest, few) ** 2, ways**2),
            **{f"R@{cutoff}": _same_count(size, few, min(cutoff, retrieved)) for cutoff in cutoffs},
            "Rprec": _same_count(size, few, min(few, retrieved)),
        }
        rows += [(size, few, retrieved, measure, chance) for measure, chance in exact.items()]
    table = pd.DataFrame(rows, columns=["n", "m", "depth", "measure", "exact"])
    table.insert(4, "probability", [float(row[4]) for row in rows])
    facts = {"n": sizes, "m": relevant, "k": cutoffs, "depth": depth and depths, "source": _DIAZ}
    return recorded(table, "tie_probabilities", **facts)


def _sum_of_squares(n: int, a: int) -> int:
    """Sum of C(x, a)^2 over x = 0, ..., n - 1.

    C(x, a)^2 = sum_j (2a-j)! / (j! (a-j)!^2) C(x, 2a-j), and the sum of C(x, t) over x < n is C(n, t+1).
    """
    total, orders, places = 0, comb(2 * a, a), comb(n, 2 * a + 1)  # of j = 0; each term is made from the one before
    for j in range(a + 1):
        total += orders * places
        if j < a:
            orders = orders * (a - j) ** 2 // ((j + 1) * (2 * a - j))
            places = places * (2 * a - j + 1) // (n - 2 * a + j) if places else comb(n, 2 * a - j)
    return total


def _same_count(n: int, m: int, k: int) -> Fraction:
    """Probability that two random rankings have equally many relevant documents among the first k."""
    least, most = max(0, m - (n - k)), min(k, m)  # relevant documents among the first k
    pairs, ways = 0, comb(k, least) * comb(n - k, m - least)
    for j in range(least, most + 1):
        pairs += ways**2
        if j < most:
            ways = ways * (k - j) * (m - j) // ((j + 1) * (n - k - m + j + 1))
    return Fraction(pairs, comb(n, m) ** 2)


def _comparable(table: pd.DataFrame) -> Finding:
    """How many pairs of rankings can be compared."""
    comparable = int((table["order"] != "not comparable").sum())
    return Finding([f"partial_order: {comparable} of {count(len(table), 'pair')} of rankings can be compared."])


@study(
    "Which of several judged rankings is at least as good as which",
    _comparable,
    Symbols(
        "The row's ranking is better (>), worse (<), equal (=) or not comparable (?)",
        "ranking_a",
        "ranking_b",
        "order",
        {">": (">", 1.0), "<": ("<", -1.0), "=": ("=", 0.0), "not comparable": ("?", 0.0)},
        {">": "<", "<": ">"},
    ),
)
def partial_order(rankings: Mapping[str, Sequence[float]], *, by: str = "rank") -> pd.DataFrame:
    """Tell which of several judged rankings of one topic is at least as good as which, whatever the measure.

    - ``by='rank'``: a <= b iff for every grade g and every depth k, b has among its first k documents at least as many
      documents of grade g or more as a has.
    - ``by='set'``: the same without ranks, of all documents only (k = n). It is total where relevance is binary.

    Where each of two rankings is ahead somewhere, they are not comparable.

    Args:
        rankings: the grades from rank 1 on, by the ranking's name; a shorter ranking is continued with
            grade 0, and a grade below 0 counts as 0.
        by: the order of rankings, or of the sets of their documents.

    Returns:
        A row per pair: ``ranking_a``, ``ranking_b``, ``order`` (``'<'`` a is worse, ``'>'`` a is better, ``'='``, or ``'not
        comparable'``), and where each is ahead first: ``a_ahead`` and ``b_ahead`` as (depth, grade), or None.

    Raises:
        ValueError: fewer than two rankings, or a grade that is not a number.

    Source: Ferrante, Ferro, Maistro, Towards a Formal Framework for Utility-oriented Measurements of Retrieval
    Effectiveness, ICTIR 2015, doi 10.1145/2808194.2809452.

    >>> partial_order({"r": [0, 1, 1], "s": [1, 0, 1], "t": [2, 0, 0]})
      ranking_a ranking_b           order a_ahead b_ahead
    0         r         s               <    None  (1, 1)
    1         r         t  not comparable  (3, 1)  (1, 1)
    2         s         t  not comparable  (3, 1)  (1, 2)
    >>> partial_order({"r": [0, 1, 1], "s": [1, 0, 1]}, by="set")["order"].item()
    '='
    """
    check_choice("by", by, ("rank", "set"))
    if not isinstance(rankings, Mapping) or len(rankings) < 2:
        raise ValueError("give at least two rankings by name")
    if len(set(map(str, rankings))) < len(rankings):
        raise ValueError("two rankings have the same name")
    grades: dict[str, Floats] = {}
    for name, ranking in rankings.items():
        try:
            grades[str(name)] = np.asarray(ranking, dtype=np.float64).reshape(-1)
        except (TypeError, ValueError):
            raise ValueError(f"the grades of ranking {name!r} are not all numbers") from None
        if not np.isfinite(grades[str(name)]).all():
            raise ValueError(f"ranking {name!r} has a grade that is not a finite number")
    levels = np.unique(np.concatenate(list(grades.values())))
    levels = levels[levels > 0]
    depth = max(map(len, grades.values()))
    padded = np.array([np.r_[ranking, np.zeros(depth - len(ranking))] for ranking in grades.values()])
    # Documents of at least each grade level within each depth, shape (rankings, depths, levels).
    counts = np.cumsum(padded.reshape(len(grades), depth)[:, :, None] >= levels, axis=1, dtype=np.int64)
    depths = np.arange(1, depth + 1)
    if by == "set":
        counts, depths = counts[:, -1:], depths[-1:]

    def first(i: int, j: int) -> tuple[int, float] | None:
        """The least depth, and there the lowest grade, at which ranking i is ahead of j."""
        places = np.argwhere(counts[i] > counts[j])
        if len(places) == 0:
            return None
        grade = float(levels[places[0][1]])
        return int(depths[places[0][0]]), int(grade) if grade.is_integer() else grade

    order_of = {(False, False): "=", (True, False): ">", (False, True): "<", (True, True): "not comparable"}
    rows = []
    for (i, a), (j, b) in combinations(enumerate(grades), 2):
        a_ahead, b_ahead = first(i, j), first(j, i)
        rows.append((a, b, order_of[a_ahead is not None, b_ahead is not None], a_ahead, b_ahead))
    table = pd.DataFrame(rows, columns=["ranking_a", "ranking_b", "order", "a_ahead", "b_ahead"])
    return recorded(table, "partial_order", rankings=list(grades), by=by, source=_FERRANTE)
