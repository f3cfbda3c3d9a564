"""
Ferrante, Ferro, Maistro, ICTIR 2015: partial orders, swap and replacement, and the balancing index
===================================================================================================

Of 14 printed numbers (eight examples of the orders, four sums, two sentences about B(n), each counted once) 12 are
reproduced. Of 28 claims 25 hold, 3 fail and 0 cannot be decided.

- **Numbers that differ**: one order, which contradicts the paper's definition, and B(n) = 1 of ERR. The latter holds if one
  grade satisfies with a probability of 3/8 or more; with the definition's own range of grades, 1 to 2, 3 or 4, B(n) is 0.
- **Claims that fail**: the inequality 3/2 > 53/30, B(n) = 1 of ERR for graded relevance, and Figure 1 (b) for independent
  draws of relevance.
- **By enumeration**: Equation 1 and Theorem 5.2 hold, for the order by ranks and for the order by sets.
- **Figure 1** has no printed numbers. (a) is computed; (b) is simulated by the paper's design in both readings (independent
  draws, or exact counts of relevant documents). No data are needed.

"Towards a Formal Framework for Utility-oriented Measurements of Retrieval Effectiveness" (ICTIR 2015,
doi 10.1145/2808194.2809452)::

    python examples/papers/ferrante_2015.py
    python examples/papers/ferrante_2015.py --full --plots out
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
from printed import Printed, drawn, new_figure, save

from ir_lexirecall.measures.declaration import Measure
from ir_lexirecall.measures.parsing import parse_measures
from ir_lexirecall.meta import Study, axioms, balancing_index, plot
from ir_lexirecall.meta.made_up_rankings import Ranking, values

MEASURES = [
    "ERR",
    "RBP(p=0.5)",
    "RBP(p=0.8)",
    "RBP(p=0.95)",
    "nDCG",
    "AP",
]  # from top-heavy to not
COMPARED = [
    "CWL_RBP(phi=0.5,max_rel=1)",
    "CWL_RBP(phi=0.8,max_rel=1)",
    "CWL_RBP(phi=0.95,max_rel=1)",
    "nDCG",
    "AP",
]
ORDERS = [  # two rankings, the printed order, and what is wrong with it
    ([0, 1, 1, 2, 2], [0, 1, 1, 2, 3], "rank", "<", ""),
    ([0, 1, 1, 2, 2], [0, 1, 1, 1, 3], "rank", "not comparable", ""),
    ([0, 1, 1, 2, 2], [2, 0, 1, 2, 1], "rank", "not comparable", "by the definition the second is at least as good at every depth and grade"),
    ([0, 1, 0, 1, 0], [1, 0, 0, 0, 1], "rank", "not comparable", ""),
    ([1, 0, 0, 1, 0], [0, 1, 1, 0, 1], "rank", "not comparable", ""),
    ([0, 1, 1, 2, 2], [0, 1, 1, 2, 3], "set", "<", ""),
    ([0, 1, 1, 2, 2], [0, 1, 1, 1, 3], "set", "not comparable", ""),
    ([0, 1, 1, 2, 2], [2, 0, 1, 2, 1], "set", "=", ""),
]  # fmt: skip
LENGTHS = [5, 10, 20, 21, 50, 100, 200]
ENUMERATED = [
    "AP",
    "nDCG",
    "RBP(p=0.8,rel=1)",
    "GERR(max_rel=2)",
    "P@3",
    "RR",
    "TSE",
    "LR",
    "EU(max_rel=2)",
    "CT(max_rel=2)",
    "SL3(n=20)",
]


def orders(count: Printed) -> None:
    print(
        "The partial orders: < the second is better (by rank; by set, without ranks), printed beside ours"
    )
    for r, s, by, paper, why in ORDERS:
        (_, up), (down, _) = at_most([r, s], by).tolist()
        ours = {(True, True): "=", (True, False): "<", (False, True): ">"}.get(
            (up, down), "not comparable"
        )
        same = count.compare(f"order by {by} of {r} and {s}", paper, ours, why=why)
        print(
            f"  {r} and {s}, by {by}: {paper}"
            + ("" if same else f"; ours {ours}: {why}")
        )
    r, s = [1, 0, 0, 1, 0], [0, 1, 1, 0, 1]
    precision = [
        sum(Fraction(sum(run[: i + 1]), i + 1) for i in range(5) if run[i])
        for run in (r, s)
    ]
    for what, paper, ours in (
        ("P@5 of (1,0,0,1,0)", "2/5", Fraction(sum(r), 5)),
        ("P@5 of (0,1,1,0,1)", "3/5", Fraction(sum(s), 5)),
        ("sum of precisions of (1,0,0,1,0)", "3/2", precision[0]),
        ("sum of precisions of (0,1,1,0,1)", "53/30", precision[1]),
    ):
        count.compare(what, paper, ours)
    print(
        f"  AP times RB is {precision[0]} and {precision[1]}: printed as 3/2 > 53/30, but it is smaller, AP agrees with P@5"
    )
    count.claim(
        "AP prefers (1,0,0,1,0) to (0,1,1,0,1), against P@5 (as printed: 3/2 > 53/30)",
        precision[0] > precision[1],
    )


def worked_steps(count: Printed) -> None:
    """Check what the text says of single rankings, and of measurements on what is not comparable."""
    r, between, s = [1, 0, 1, 0, 1, 1], [1, 0, 1, 1, 1, 0], [1, 1, 0, 1, 1, 0]
    order = at_most([r, between, s], "rank")
    count.claim(
        "Theorem 5.2: the proof's (1,0,1,1,1,0) lies between (1,0,1,0,1,1) and (1,1,0,1,1,0)",
        bool(order[0, 1] and order[1, 2] and not order[1, 0] and not order[2, 1]),
    )
    one, two = [1, 0, 0, 0, 0], [0, 0, 0, 1, 1]
    order = at_most([one, two], "rank")
    p_5 = [sum(run) / 5 for run in (one, two)]
    ap = [
        sum(sum(run[: i + 1]) / (i + 1) for i in range(5) if run[i])
        for run in (one, two)
    ]
    count.claim(
        "Section 5: measurements may disagree where runs are not comparable ((1,0,0,0,0) and "
        f"(0,0,0,1,1): P@5 {p_5[0]:g}, {p_5[1]:g}; AP times RB {ap[0]:g}, {ap[1]:g})",
        not order[0, 1] and not order[1, 0] and p_5[0] < p_5[1] and ap[0] > ap[1],
    )
    ends = [[3, 0, 0, 0, 0], [0, 1, 1, 1, 1]]
    order = at_most([*ends, [0, 0, 0, 0, 1]], "rank")
    count.claim(
        "Section 6: (3,0,0,0,0) and (0,1,1,1,1) are linked by comparable neighbours, and not comparable",
        not order[0, 1] and not order[1, 0] and bool(order[2, 0] and order[2, 1]),
    )
    index = by_closed_forms([20, 21]).set_index(["measure", "n"])["B"]
    small, large = (index["RBP(p=0.8)", n] for n in (20, 21))
    count.claim(
        f"Section 6: B(n) of RBP(p=0.8) is 8 from n = 21 on, not before ({small} at 20)",
        (small, large) == (7, 8),
    )
    count.slip(
        "Algorithm 1 does not end where B(n) = 0, as for ERR with the definition's own range of grades"
    )


def swap_and_replacement(cases: int, count: Printed) -> None:
    print(
        "\nSwap and replacement: what no measurement may violate, and what sensitive ones also have strictly"
    )
    laws = axioms(
        ["AP", "RBP(p=0.8)", "ERR@20", "nDCG", "R@5", "P@5"], size=5, cases=cases
    )
    laws = laws[laws["source"].str.startswith("Ferrante")]
    table = laws.pivot(index="measure", columns="property", values="result")
    print(table.to_string())
    for row in laws[laws["result"] == "fails"].itertuples():
        print(f"  {row.measure}, {row.property}: {row.counterexample}")
    laws_of_measurements = ["swap", "replacement"]
    count.claim(
        "ERR is a measurement: swap and replacement hold",
        (table.loc["ERR@20", laws_of_measurements] == "holds").all(),
    )
    count.claim(
        "Section 5.1: so are AP, RBP and nDCG",
        (table.loc[["AP", "RBP(p=0.8)", "nDCG"], laws_of_measurements] == "holds").all(
            axis=None
        ),
    )
    rises_at_least(count)
    without_cutoff = axioms(["GERR(max_rel=4)"], size=5, cases=cases).set_index(
        "property"
    )
    count.claim(
        "Section 5.1: ERR rises strictly with each probability (strict replacement, no cutoff)",
        without_cutoff.loc["strict replacement", "result"] == "holds",
    )


def rises_at_least(count: Printed) -> None:
    """Check the bound of ERR's slope, on all rankings of five probabilities below a document.

    From rank i on, ERR is x_i / i + (1 - x_i) T, where T is what the documents below give. So its
    slope in x_i is 1/i - T, which is smallest if the next document satisfies for sure.
    """
    probabilities = [Fraction(k, 4) for k in range(5)]
    slopes = []
    for i in (1, 2, 5):
        for below in itertools.product(probabilities, repeat=3):
            reached, gained = Fraction(1), Fraction(0)
            for rank, x in enumerate(below, start=i + 1):
                gained += reached * x / rank
                reached *= 1 - x
            slopes.append(
                (Fraction(1, i) - gained - Fraction(1, i * (i + 1)), below[0])
            )
    is_exact = all((excess == 0) == (first == 1) for excess, first in slopes)
    count.claim(
        "Section 5.1: ERR's slope in the probability at rank i is at least 1/(i (i + 1)), with "
        "equality where the next document satisfies for sure",
        min(excess for excess, _ in slopes) >= 0 and is_exact,
    )


def at_most(rankings: Sequence[Sequence[int]], by: str) -> np.ndarray:
    """Whether r <= s for every two rankings of one length: within every depth (``by`` sets: in all), s has as many of every grade or more."""
    grades = np.array(rankings)
    counts = np.cumsum(grades[:, :, None] >= np.arange(1, grades.max() + 1), axis=1)
    counts = counts if by == "rank" else counts[:, -1:]
    return (counts[:, None] <= counts[None]).all(axis=(2, 3))


class AllRankings:
    """All rankings of n documents of the grades 0, 1 and 2, and the orders among them.

    Attributes:
        rankings: the rankings.
        index: the number of each ranking.
        by_rank: whether the ranking of the row is at most that of the column, by ranks.
        by_set: the same by sets.
    """

    def __init__(self, n: int) -> None:
        self.n = n
        self.rankings = list(itertools.product(range(3), repeat=n))
        self.index = {ranking: i for i, ranking in enumerate(self.rankings)}
        self.by_rank = at_most(self.rankings, "rank")
        self.by_set = at_most(self.rankings, "set")

    def between_extremes(self, order: np.ndarray) -> list[bool]:
        """Return which rankings lie between the worst and the best with as many relevant documents."""
        within = []
        for i, ranking in enumerate(self.rankings):
            k = np.count_nonzero(ranking)
            worst = self.index[(0,) * (self.n - k) + (1,) * k]
            best = self.index[(2,) * k + (0,) * (self.n - k)]
            within.append(bool(order[worst, i] and order[i, best]))
        return within

    def steps(self) -> np.ndarray:
        """Return from which ranking one swap, or one replacement, leads to which."""
        step = np.zeros_like(self.by_rank)
        for ranking, i in self.index.items():
            for after in (*self._replaced(ranking), *self._swapped(ranking)):
                step[i, self.index[after]] = True
        return step

    def _replaced(self, ranking: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        """Yield the ranking with one document replaced by one of a higher grade."""
        for rank, grade in enumerate(ranking):
            for higher in range(grade + 1, 3):
                yield (*ranking[:rank], higher, *ranking[rank + 1 :])

    def _swapped(self, ranking: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        """Yield the ranking with two documents swapped so that the better one stands above."""
        for a, b in itertools.combinations(range(self.n), 2):
            if ranking[a] < ranking[b]:
                changed = list(ranking)
                changed[a], changed[b] = ranking[b], ranking[a]
                yield tuple(changed)

    def replaceable(self) -> np.ndarray:
        """Return which ranking replacements lead to which, whatever the order of documents."""
        in_order = [sorted(ranking) for ranking in self.rankings]
        return np.array(
            [
                [
                    all(a <= b for a, b in zip(one, other, strict=True))
                    for other in in_order
                ]
                for one in in_order
            ]
        )

    def values_of(self, measure: Measure) -> np.ndarray:
        """Return the value of every ranking, on a topic with n documents of either grade."""
        ours = []
        for ranking in self.rankings:
            left = list((1, 2) * self.n)
            for grade in filter(None, ranking):
                left.remove(grade)
            unretrieved = (0,) * np.count_nonzero(ranking) + tuple(left)
            ours.append(Ranking(ranking, unretrieved))
        return values(measure, ours) * (-1 if measure.NAME == "SL3" else 1)


def reached_from(step: np.ndarray) -> np.ndarray:
    """Return which ranking any number of steps leads to which."""
    reached = step | np.eye(len(step), dtype=bool)
    while True:
        further = (reached.astype(np.float32) @ reached) > 0
        if further.sum() == reached.sum():
            return reached
        reached = further


def by_enumeration(n: int, count: Printed) -> None:
    """Show Equation 1 and Theorem 5.2 on all rankings of n documents of the grades 0, 1 and 2."""
    every = AllRankings(n)
    print(
        f"\nBy enumeration of the {len(every.rankings)} rankings of {n} documents of the grades 0, 1 and 2"
    )
    extremes(every, count)
    orders_by_sets(every, count)
    step = every.steps()
    theorem_5_2(every, step, count)
    measures_along_the_order(every, step, count)


def extremes(every: AllRankings, count: Printed) -> None:
    """Check Equation 1, by ranks and by sets."""
    within = every.between_extremes(every.by_rank)
    print(
        f"  Equation 1: {sum(within)} of {len(within)} rankings with k relevant documents lie between (0..0,1..1) and (2..2,0..0)"
    )
    count.claim(
        f"Equation 1: the extremes of rankings with k relevant documents, n={every.n}, by enumeration",
        all(within),
    )
    within = every.between_extremes(every.by_set)
    print(
        f"  Equation 1 for sets: {sum(within)} of {len(within)} lie between {{0..0,1..1}} and {{0..0,2..2}}"
    )
    count.claim(
        f"Equation 1, for sets: the same extremes, n={every.n}, by enumeration",
        all(within),
    )


def orders_by_sets(every: AllRankings, count: Printed) -> None:
    """Check what the text says of the order by sets."""
    one_grade = [i for ranking, i in every.index.items() if 2 not in ranking]
    is_total = (every.by_set | every.by_set.T)[np.ix_(one_grade, one_grade)].all()
    count.claim(
        f"Section 3: the order by sets is total for binary grades, n={every.n}, by enumeration",
        bool(is_total),
    )
    count.claim(
        f"Section 3: what is ordered by ranks is ordered by sets, n={every.n}, by enumeration",
        not (every.by_rank & ~every.by_set).any(),
    )
    total = np.array([sum(ranking) for ranking in every.rankings])
    count.claim(
        f"Section 4.1: sums of grades on a ratio scale order all, as sets do, n={every.n}, by enumeration",
        not (every.by_set & (total[:, None] > total[None])).any(),
    )


def theorem_5_2(every: AllRankings, step: np.ndarray, count: Printed) -> None:
    """Check that the orders are what swaps and replacements reach."""
    reached = reached_from(step)
    print(
        f"  Theorem 5.2: r <= s holds for {every.by_rank.sum()} ordered pairs; swaps and replacements lead from r to s in {reached.sum()}, the same: {(reached == every.by_rank).all()}"
    )
    count.claim(
        f"Theorem 5.2: the order is what swaps and replacements reach, n={every.n}, by enumeration",
        (reached == every.by_rank).all(),
    )
    is_same = (every.replaceable() == every.by_set).all()
    print(
        f"  Theorem 5.2 for sets: the order by sets is what replacements reach: {is_same}"
    )
    count.claim(
        f"Theorem 5.2, for sets: the order is what replacements reach, n={every.n}, by enumeration",
        is_same,
    )


def measures_along_the_order(
    every: AllRankings, step: np.ndarray, count: Printed
) -> None:
    """Check that measures with swap and replacement are those that never fall along the order."""
    rows = []
    for text, measure in parse_measures(ENUMERATED).items():
        value = every.values_of(measure)
        falls = (
            value[:, None] > value[None, :] + 1e-12
        )  # from the row's ranking to the column's
        rows.append(
            (text, int((falls & step).sum()), int((falls & every.by_rank).sum()))
        )
    table = pd.DataFrame(
        rows,
        columns=["measure", "falls by a swap or replacement", "falls along r <= s"],
    )
    print("  " + table.to_string(index=False).replace("\n", "\n  "))
    both = table.iloc[:, 1:] == 0
    count.claim(
        f"Theorem 5.2: of {len(table)} measures, the {both.iloc[:, 1].sum()} that never fall along the order are those with swap and replacement",
        (both.iloc[:, 0] == both.iloc[:, 1]).all() and not both.all(axis=None),
    )


def by_closed_forms(lengths: Iterable[int]) -> pd.DataFrame:
    """B(n) of binary relevance: the largest b at which the documents at b, ..., n score at least as much as one at rank 1."""
    rows = []
    for measure, n in itertools.product(MEASURES, lengths):
        rank = np.arange(1, n + 1)
        if measure.startswith("RBP"):  # p^(b-1) - p^n >= 1 - p, in exact arithmetic
            p = Fraction(measure[6:-1])
            enough = [p ** (b - 1) - p**n >= 1 - p for b in range(1, n + 1)]
        elif measure == "ERR":  # the sum of (1 - r)^(i - b) / i, with gain r = 15/16
            enough = [
                ((1 / 16) ** (rank[b:] - b - 1.0) / rank[b:]).sum() >= 1 - 1e-12
                for b in range(n)
            ]
        elif measure == "AP":  # the sum of (i - b + 1) / i
            enough = [((rank[b:] - b) / rank[b:]).sum() >= 1 - 1e-12 for b in range(n)]
        else:  # of nDCG, the sum of 1 / log2(i + 1)
            enough = [(1 / np.log2(rank[b:] + 1)).sum() >= 1 - 1e-12 for b in range(n)]
        rows.append(
            (
                measure,
                n,
                max((b for b, holds in enumerate(enough, start=1) if holds), default=0),
            )
        )
    return pd.DataFrame(rows, columns=["measure", "n", "B"])


def older_ndcg(n: int, a: int) -> int:
    """B(n) of nDCG with base a, discount 1 down to rank a and 1/log_a(rank) below: the printed closed form, binary."""

    def log(rank: int) -> float:
        return np.log(rank) / np.log(a)

    b1 = [
        b
        for b in range(a + 1, n + 1)
        if sum(1 / log(k + b) for k in range(n - b + 1)) >= 1
    ]
    b2 = [
        b
        for b in range(1, min(a, n) + 1)
        if min(a, n) - b + 1 + sum(1 / log(k + a + 1) for k in range(n - a)) >= 1
    ]
    return max([*b1, *b2])


def err_by(n: int, x: float, exponent: str) -> int:
    """B(n) of ERR, binary with probability x: the closed form with the printed exponent, or with that of the algorithm."""
    holds = [
        b
        for b in range(1, n + 1)
        if x
        * sum(
            (1 - x) ** (k - (1 if exponent == "printed" else b)) / k
            for k in range(b, n + 1)
        )
        >= x - 1e-15
    ]
    return max(holds, default=0)


def balancing(count: Printed, plots: Path | None) -> None:
    exact = by_closed_forms(LENGTHS)
    scored = balancing_index(MEASURES, LENGTHS[:-1])
    index = exact.set_index(["measure", "n"])["B"]
    print("\nBalancing index B(n), by the closed forms")
    print(
        exact.pivot(index="measure", columns="n", values="B").loc[MEASURES].to_string()
    )
    both = scored.merge(exact, on=["measure", "n"], suffixes=("", "_exact"))
    other = both[both["B"] != both["B_exact"]][["measure", "n", "B", "B_exact"]]
    print("  where Algorithm 1, which scores in floats, says otherwise:")
    print(
        "    "
        + (
            other.to_string(index=False).replace("\n", "\n    ")
            if len(other)
            else "nowhere"
        )
    )
    beyond_20 = sorted({int(index["RBP(p=0.8)", n]) for n in LENGTHS if n > 20})
    count.compare(
        "B(n) of RBP(p=0.8), n > 20 (n = 21, 50, 100, 200)",
        "8",
        ", ".join(map(str, beyond_20)),
    )
    graded = {
        top: sorted(
            set(balancing_index(f"GERR(max_rel={top})", LENGTHS, lowest=1)["B"])
        )
        for top in (2, 3, 4)
    }
    print("\nERR: B(n) for every n above, by the range of relevant grades")
    for top, found in graded.items():
        print(
            f"  lowest 1, top max_rel={top}, as the definition has it: {', '.join(map(str, found))}"
        )
    binary = sorted({int(index["ERR", n]) for n in LENGTHS})
    print(
        f"  one relevant grade, 4 of 4 (it satisfies with probability 15/16): {', '.join(map(str, binary))}, as printed"
    )
    of_graded = ", ".join(sorted({str(b) for found in graded.values() for b in found}))
    why = "with the definition's range of grades, lowest 1 and top 2, 3 or 4; 1 with one grade of probability 3/8 or more"
    count.compare("B(n) of ERR, any n", "1", of_graded, why=why)
    count.note(
        "A sentence counts once, whatever its number of lengths n: one of B(n) of RBP(p=0.8), one of B(n) of ERR."
    )
    count.claim(
        "B(n) of ERR is 1 for every n where one grade of probability 15/16 is relevant",
        binary == [1],
    )
    count.claim(
        "B(n) of ERR is 1 for every n where grades 1 to 2, 3 or 4 are relevant",
        of_graded == "1",
    )
    count.claim(
        f"B(n) of RBP(p=0.95) is almost 60 for long runs (n=200: {index['RBP(p=0.95)', 200]})",
        55 <= index["RBP(p=0.95)", 200] < 60,
    )
    near = min(index[name, 100] for name in ("AP", "nDCG"))
    count.claim(
        f"AP and nDCG are close to the bisector (n=100: at least {near})", near > 80
    )

    print(
        "\nnDCG of base a in the older form: printed closed form, and Algorithm 1 on the measure itself"
    )
    for a in (2, 10):
        closed = [older_ndcg(n, a) for n in (5, 10, 20, 50, 100)]
        run = balancing_index(f"nDCG_JK(a={a})", [5, 10, 20, 50, 100])["B"].tolist()
        print(f"  a={a}: n = 5, 10, 20, 50, 100: {closed} and {run}")
        count.claim(
            f"the closed form of nDCG with base {a} is what Algorithm 1 finds",
            closed == run,
        )

    print("\nClosed forms with misprints")
    printed = [
        b for b in range(1, 101) if b >= np.log(1 - 0.8 + 0.8**100) / np.log(0.8) + 1
    ]
    print(
        f"  RBP(p=0.8), n=100: printed b >= log_p(1-p+p^n) + 1, whose largest b is {max(printed)}; with <= it is {index['RBP(p=0.8)', 100]}"
    )
    for x, name in ((0.5, "1/2"), (0.25, "1/4"), (0.125, "1/8"), (0.0625, "1/16")):
        run = balancing_index(
            f"GERR(max_rel={round(-np.log2(x))})", [10, 100], top=1, lowest=1
        )["B"].tolist()
        formulas = {
            kind: [err_by(n, x, kind) for n in (10, 100)]
            for kind in ("algorithm", "printed")
        }
        print(
            f"  ERR, x={name}, n = 10, 100: Algorithm 1 {run}; exponent k-b {formulas['algorithm']}; printed exponent k-1 {formulas['printed']}"
        )
    print(
        "  So B(n) of ERR is 1 only where a document satisfies with a large probability (1 at x=1/2, 2 at x=1/4)."
    )
    if drawn(plots):
        figure = by_closed_forms(range(1, 101))
        figure.attrs["function"] = "balancing_index"
        save(plot(figure), plots, "ferrante_2015_figure_1a")


def figure_1b(repetitions: int, plots: Path | None, count: Printed) -> None:
    """Share of significant differences between two runs of 1,000 documents over 50 topics, Student's t at .05, RBP(p=0.8)."""
    from scipy.stats import ttest_ind

    shown, p = 60, 0.8  # what stands below rank 60 changes RBP by less than 2e-6
    rng = np.random.default_rng(1)

    def rbp(rnk: int, high: float, low: float, exact: bool) -> np.ndarray:
        segments = [(rnk, 0.2), (20 - rnk, high), (980, low)]
        value, rank = np.zeros((repetitions, 50)), 0
        for length, share in segments:
            left = np.full(
                value.shape, round(share * length)
            )  # relevant documents not yet drawn
            for place in range(min(length, shown - rank)):
                relevant = rng.random(value.shape) < (
                    left / (length - place) if exact else share
                )
                left -= relevant
                value += (1 - p) * p**rank * relevant
                rank += 1
        return value

    rows = {}
    for exact, name in ((False, "independent draws"), (True, "exact counts")):
        shares = []
        for rnk in range(21):
            test = ttest_ind(
                rbp(rnk, 0.7, 0.1, exact), rbp(rnk, 0.3, 0.7, exact), axis=1
            )
            shares.append(float((test.pvalue < 0.05).mean()))
        rows[name] = shares
    table = pd.DataFrame(rows, index=pd.RangeIndex(21, name="rnk"))
    print(
        f"\nFigure 1 (b): share of significant differences by rnk, {repetitions} repetitions (unpaired t)"
    )
    print(table.T.to_string(float_format=lambda share: f"{share:.2f}"))
    count.claim(
        "Figure 1 (b): almost always significant where the runs differ from rank 5 on or above",
        (table.loc[:4] > 0.95).all(axis=None),
    )
    count.claim(
        "Figure 1 (b): so up to rnk = 8 = B (more than 80% of the repetitions), exact counts",
        table.loc[:8, "exact counts"].min() > 0.8,
    )
    count.claim(
        "Figure 1 (b): so up to rnk = 8 = B, independent draws",
        table.loc[:8, "independent draws"].min() > 0.8,
    )
    count.claim(
        "Figure 1 (b): beyond, it falls to chance",
        (table.loc[15:] < 0.12).all(axis=None),
    )
    if drawn(plots):
        axes = new_figure(5, 3.5).add_subplot()
        for name in rows:
            axes.plot(table.index, table[name], label=name)
        axes.axvline(8, color="0.7", linestyle="--")
        axes.set(xlabel="rnk", ylabel="share of significant differences")
        axes.legend()
        save(axes, plots, "ferrante_2015_figure_1b")


def random_runs(
    topics: int, length: int, relevant: int, seed: int
) -> tuple[dict[str, dict[str, int]], dict[str, dict]]:
    """Judgments, and two runs that rank the same documents in random orders."""
    rng = np.random.default_rng(seed)
    qrels = {
        f"q{q}": {f"d{i}": int(i < relevant) for i in range(length)}
        for q in range(topics)
    }
    runs: dict[str, dict] = {}
    for name in ("one", "other"):
        rankings = rng.permuted(np.tile(np.arange(length), (topics, 1)), axis=1)
        runs[name] = {
            f"q{q}": {f"d{i}": -float(rank) for rank, i in enumerate(rankings[q])}
            for q in range(topics)
        }
    return qrels, runs


def simulation(topics: int, plots: Path | None, count: Printed) -> None:
    print(
        f"\nNot in the paper: {topics} pairs of random rankings of 50 documents, 5 of them relevant"
    )
    decided = Study(
        ["dominance", *COMPARED], *random_runs(topics, 50, 5, seed=1), progress=False
    ).agreement()
    against = decided[decided["measure_a"] == "dominance"]
    print(
        against[["measure_b", "incomparable", "agree", "disagree", "tied_b"]].to_string(
            index=False
        )
    )
    count.claim(
        "no measure contradicts the partial order", (against["disagree"] == 0).all()
    )
    if drawn(plots):
        save(plot(decided), plots, "ferrante_2015_simulation")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--topics",
        type=int,
        default=500,
        help="pairs of random rankings (default: %(default)s)",
    )
    parser.add_argument(
        "--repetitions",
        type=int,
        default=200,
        help="of Figure 1 (b) (default: %(default)s; the paper: 10,000)",
    )
    parser.add_argument(
        "--cases",
        type=int,
        default=50,
        help="random cases per property (default: %(default)s)",
    )
    parser.add_argument(
        "--full",
        action="store_true",
        help="10,000 repetitions, and enumerate rankings of 5 documents",
    )
    parser.add_argument(
        "--plots", type=Path, metavar="FOLDER", help="draw the figures into this folder"
    )
    options = parser.parse_args(arguments)
    if options.full:
        options.repetitions = 10_000
    count = Printed()
    orders(count)
    worked_steps(count)
    swap_and_replacement(options.cases, count)
    by_enumeration(5 if options.full else 4, count)
    balancing(count, options.plots)
    figure_1b(options.repetitions, options.plots, count)
    simulation(options.topics, options.plots, count)
    count.report()


if __name__ == "__main__":
    main()
