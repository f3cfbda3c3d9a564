"""Ties: how often two random rankings, or two runs, are equally good to a measure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from itertools import product
from math import comb

import pandas as pd

from ir_lexirecall._util.errors import check_integers, entry
from ir_lexirecall._util.progress import progress_bar
from ir_lexirecall.data.alignment import RunLike
from ir_lexirecall.data.judgments import QrelsLike
from ir_lexirecall.measures.parsing import MeasuresLike
from ir_lexirecall.meta.decisions import INCOMPARABLE, Decisions
from ir_lexirecall.meta.result import study

_SOURCE = "Diaz, Ekstrand, Mitra, TORS 2026, doi 10.1145/3728373"


@entry
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
        exact = {
            "LexiRecall": _same_positions(size, few, retrieved),
            "TSE": _same_last(size, few, retrieved),
            "RR": _same_first(size, few, retrieved),
            **{f"R@{cutoff}": _same_count(size, few, min(cutoff, retrieved)) for cutoff in cutoffs},
            "Rprec": _same_count(size, few, min(few, retrieved)),
        }
        rows += [(size, few, retrieved, measure, chance) for measure, chance in exact.items()]
    table = pd.DataFrame(rows, columns=["n", "m", "depth", "measure", "exact"])
    table.insert(4, "probability", [float(row[4]) for row in rows])
    return study(table, "tie_probabilities", n=sizes, m=relevant, k=cutoffs, depth=depth and depths, source=_SOURCE)


def _same_positions(n: int, m: int, depth: int) -> Fraction:
    """Probability that the retrieved relevant documents of two random rankings stand at the same ranks."""
    pairs = sum(comb(depth, r) * comb(n - depth, m - r) ** 2 for r in range(max(0, m - (n - depth)), min(m, depth) + 1))
    return Fraction(pairs, comb(n, m) ** 2)


def _same_last(n: int, m: int, depth: int) -> Fraction:
    """Probability that the last relevant documents of two random rankings stand at the same rank, or both are missing."""
    missing = comb(n, m) - comb(depth, m)
    return Fraction(_sum_of_squares(depth, m - 1) + missing**2, comb(n, m) ** 2)


def _same_first(n: int, m: int, depth: int) -> Fraction:
    """Probability that the first relevant documents of two random rankings stand at the same rank, or both are missing."""
    found = _sum_of_squares(n, m - 1) - _sum_of_squares(n - depth, m - 1)
    return Fraction(found + comb(n - depth, m) ** 2, comb(n, m) ** 2)


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


@entry
def ties(
    measures: MeasuresLike,
    qrels: QrelsLike,
    runs: Mapping[str, RunLike],
    *,
    aggregate: bool = False,
    rel: float = 1,
    cutoff: int | None = None,
    allow_empty: bool = False,
    progress: bool | None = None,
) -> pd.DataFrame:
    """Count the pairs of runs that tie, query by query: exactly equal values, or no preference either way.

    Args:
        measures: a measure or a preference of ``compare`` (``'lexirecall'``, ``'rpp'``, ...), or several.
        qrels: judgments in any form that ``evaluate`` takes.
        runs: at least two runs by name, in any form that ``evaluate`` takes, or aligned (``AlignedRun``).
        aggregate: sum over the queries, a row per measure.
        rel: smallest grade that counts as relevant; queries without a relevant document take no part.
        cutoff: of preferences: what is ranked below counts as not retrieved.
        allow_empty: take runs without a query or document in common with the qrels, with a warning.
        progress: show a progress bar; by default on a terminal only.

    Returns:
        A row per measure and query that has relevant documents: ``measure``, ``query_id``, ``pairs``, ``ties``,
        ``incomparable`` (pairs that a partial order leaves open; they do not tie) and ``share`` = ties / pairs.

    Raises:
        ValueError: bad input; the message names the offender.

    >>> qrels = {"q": {"a": 1}, "r": {"a": 1}}
    >>> runs = {"x": {"q": {"a": 2}, "r": {"a": 1}}, "y": {"q": {"c": 2, "a": 1}, "r": {"a": 1}}}
    >>> ties("AP", qrels, runs)
      measure query_id  pairs  ties  incomparable  share
    0      AP        q      1     0             0    0.0
    1      AP        r      1     1             0    1.0
    >>> ties("AP", qrels, runs, aggregate=True)
      measure  pairs  ties  incomparable  share
    0      AP      2     1             0    0.5
    """
    decisions = Decisions.from_runs(measures, qrels, runs, rel, cutoff, allow_empty, progress)
    parts = []
    for label in decisions.labels:
        signs = decisions.signs(label, INCOMPARABLE)
        columns = {
            "measure": label,
            "query_id": decisions.query_ids,
            "pairs": len(signs),
            "ties": (signs == 0).sum(axis=0),
            "incomparable": (signs == INCOMPARABLE).sum(axis=0),
        }
        parts.append(pd.DataFrame(columns))
    table = pd.concat(parts, ignore_index=True)
    if aggregate:
        table = table.drop(columns="query_id").groupby("measure", sort=False).sum().reset_index()
    table["share"] = table["ties"] / table["pairs"]
    return study(table, "ties", **decisions.provenance)
