"""What ``diaz_2026.py`` shows by enumeration: lexicographic recall as a number, as leximin, and ideal rankings at random.

All n documents are ranked, m of them are relevant; a placement is their ranks p_1 < ... < p_m. Lexicographic recall compares placements
from p_m up: where they first differ, the smaller rank is better.
"""

from __future__ import annotations

import itertools

import numpy as np
from ir_measures.measures.base import Measure as IRMeasure
from printed import Printed

from ir_lexirecall._util.arrays import Floats
from ir_lexirecall.measures.parsing import parse_measures
from ir_lexirecall.measures.recall import exposure
from ir_lexirecall.meta.made_up_rankings import Ranking, values

Placement = tuple[int, ...]
MEMBERS = ["AP", "nDCG", "RBP(p=0.8,rel=1)", "RR"]  # top-heavy recall-level measures
EXPOSURES = ["AP", "nDCG", "RBP"]
_ROUNDING = 1e-12


def best_first(n: int, m: int) -> list[Placement]:
    """All placements, best first by lexicographic recall.

    >>> best_first(4, 2)
    [(1, 2), (1, 3), (2, 3), (1, 4), (2, 4), (3, 4)]
    """
    return sorted(
        itertools.combinations(range(1, n + 1), m),
        key=lambda placement: placement[::-1],
    )


def users(m: int) -> list[Placement]:
    """Which of the m relevant documents a user may need: the non-empty subsets of 0..m-1."""
    return [
        some
        for size in range(1, m + 1)
        for some in itertools.combinations(range(m), size)
    ]


def ranked(n: int, placement: Placement) -> Ranking:
    """The ranking of n documents with the relevant ones at the placement."""
    return Ranking(tuple(int(rank in placement) for rank in range(1, n + 1)))


def definition_22(n: int, count: Printed) -> None:
    """Top-heaviness: without its first j relevant documents, a ranking is worth no more; j = 0..m-1."""
    print(
        f"\nDefinition 2.2 (top-heavy) by enumeration, n={n}, every m: placements that are worth more without their first j"
    )
    for text, measure in parse_measures(MEMBERS).items():
        more = pairs = 0
        for m in range(1, n):
            placements = best_first(n, m)
            whole = values(measure, [ranked(n, placement) for placement in placements])
            for j in range(1, m):
                rest = values(
                    measure, [ranked(n, placement[j:]) for placement in placements]
                )
                more, pairs = (
                    more + int((rest > whole + _ROUNDING).sum()),
                    pairs + len(placements),
                )
        print(f"  {text}: {more} of {pairs}")
        count.claim(
            f"Definition 2.2: {text} is top-heavy, all placements of n={n}", more == 0
        )


def equation_12(n: int, count: Printed) -> None:
    """The number LR orders all placements as the comparison from p_m up does."""
    rows = []
    for eps in (0.1, 0.5, 0.9):
        pairs = wrong = 0
        for m in range(1, n):
            measure = next(
                iter(parse_measures(f"LR(form='weighted',n={n},eps={eps})").values())
            )
            value = values(
                measure, [ranked(n, placement) for placement in best_first(n, m)]
            )
            wrong += int((np.triu(value[:, None] <= value[None, :], 1)).sum())
            pairs += len(value) * (len(value) - 1) // 2
        rows.append(f"eps={eps:g} {pairs - wrong} of {pairs}")
        count.claim(
            f"Equation 12, eps={eps:g}: LR orders as lexicographic recall, all placements of n={n}",
            wrong == 0,
        )
    print(
        f"\nEquation 12 by enumeration, n={n}, every m: pairs of placements that LR orders as lexicographic recall does"
    )
    print(f"  {'; '.join(rows)}")


def leximin_orders(vectors: Floats) -> int:
    """Neighbours, best first, of which the sorted values of the first are not lexicographically larger, from the least value up."""
    ascending = np.sort(vectors, axis=1)
    difference = ascending[:-1] - ascending[1:]
    difference[np.abs(difference) <= _ROUNDING] = 0
    first = np.argmax(difference != 0, axis=1)
    return int((difference[np.arange(len(difference)), first] <= 0).sum())


def of_users(measure: IRMeasure, n: int, placements: list[Placement]) -> Floats:
    """The measure for every user, shape ``(placements, users)``: only the documents that a user needs are relevant."""
    needed = users(len(placements[0]))
    rankings = [
        ranked(n, tuple(placement[i] for i in some))
        for placement in placements
        for some in needed
    ]
    return values(measure, rankings).reshape(len(placements), len(needed))


def of_providers(name: str, placements: list[Placement]) -> Floats:
    """The exposure of every provider, shape ``(placements, providers)``: the sum of e(p_i) over the documents that it owns."""
    e = exposure(name, p=0.8, n=None)
    owned = users(len(placements[0]))
    of_document = e(np.array(placements, dtype=np.float64))
    return np.stack([of_document[:, list(some)].sum(axis=1) for some in owned], axis=1)


def equations_9_to_11(n: int, count: Printed) -> None:
    """Leximin over all users, or all providers, is lexicographic recall."""
    print(
        f"\nEquations 9 to 11 (Theorems C.3 to C.6) by enumeration, n={n}, m=1..{n // 2}: leximin over all 2^m-1 users or providers"
    )
    print(
        "  orders all placements as lexicographic recall does; exceptions among neighbours in that order:"
    )
    sizes = range(1, n // 2 + 1)
    placed = {m: best_first(n, m) for m in sizes}
    neighbours = sum(len(placements) - 1 for placements in placed.values())
    found = {}
    for text, measure in parse_measures(MEMBERS).items():
        found[f"users, {text}"] = sum(
            leximin_orders(of_users(measure, n, placed[m])) for m in sizes
        )
    for name in EXPOSURES:
        found[f"providers, exposure of {name}"] = sum(
            leximin_orders(of_providers(name, placed[m])) for m in sizes
        )
    for what, exceptions in found.items():
        print(f"    {what}: {exceptions} of {neighbours}")
    for kind in ("users", "providers"):
        none = all(
            exceptions == 0
            for what, exceptions in found.items()
            if what.startswith(kind)
        )
        count.claim(
            f"Equations 9 to 11: leximin over all {kind} is lexicographic recall, all placements of n={n}",
            none,
        )


def theorem_d1(most: int, count: Printed) -> None:
    """The worst-off user's mean over all orders of the relevant documents is at least that of any one order."""
    print(
        f"\nTheorem D.1 by enumeration, all orders of m = 1..{most} relevant documents: the worst-off user, expected, and of any order"
    )
    everywhere = True
    for text, measure in parse_measures(MEMBERS).items():
        cells = []
        for m in range(1, most + 1):
            orders = list(itertools.permutations(range(1, m + 1)))
            needed = users(m)
            rankings = [
                ranked(m, tuple(order[i] for i in some))
                for order in orders
                for some in needed
            ]
            value = values(measure, rankings).reshape(len(orders), len(needed))
            expected, of_one = value.mean(axis=0).min(), value.min(axis=1).max()
            everywhere &= bool(expected >= of_one - _ROUNDING)
            cells.append(f"{expected:.4f} {of_one:.4f}")
        print(f"  {text:18} " + "   ".join(cells))
    count.claim(
        f"Theorem D.1: a random ideal ranking serves the worst-off user no worse than any fixed one, m=1..{most}",
        everywhere,
    )
