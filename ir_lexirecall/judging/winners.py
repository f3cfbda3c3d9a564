"""Who of two rankings can win by a preference, if open documents turn out the best for one of them.

Lexicographic preferences, exact: an open document has one grade, so what both runs retrieved is decided for both at once. A walk goes from
rank to rank, in the order in which the preference looks at them, and stops at the first where A could be ahead; where A cannot, the
documents at that rank must be alike if A is to win below, or to tie, which decides open ones.

Recall-paired preferences: one more relevant document in a ranking moves no recall level down. So open documents of A alone are relevant
and those of B alone are not, if A is to win. Where open documents are in both, a judging that lets A win is looked for: none of them
relevant, all, those that A ranks higher, and, up to 2^8, every choice. A bound is what A gets where they counted for A only: if
A does not win then, it cannot, and if it loses then, it always does. Between the two the answer is "can win", and not exact.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ir_lexirecall._util.arrays import (
    Bools,
    Floats,
    Ints,
    common,
    per_query_sum,
    position_in_segment,
    row_blocks,
)
from ir_lexirecall._util.rounding import settled
from ir_lexirecall.data.pools import Pool
from ir_lexirecall.judging.ranking_pairs import Places, RankingPairs
from ir_lexirecall.preferences.naming import Preference

_AT_ONCE = 2**25  # documents of pairs
_MOST_SHARED = 8  # open documents of both rankings whose 2^s judgings are all looked at
_NO, _YES, _OPEN = 0, 1, 2  # what is known of a document: not relevant, relevant, neither
_DEEPEST = np.iinfo(np.int32).max

Outcomes = NDArray[np.int8]  # of run A: 1 wins, 0 ties, -1 loses; also what is known of documents

WEIGHTS: dict[str, Callable[[Floats], Floats]] = {  # of recall levels
    "rpp": np.ones_like,
    "invrpp": lambda level: 1 / level,
    "dcgrpp": lambda level: 1 / np.log2(level + 1),
}


def outcomes(
    pool: Pool, preference: Preference, places: Places, depth: int | None
) -> tuple[Outcomes, Outcomes, Bools]:
    """What runs make of others under the worst and the best judging, and whether who can win is exact; shape ``(P, Q)`` each.

    1: it wins; 0: it ties (by a recall-paired preference: it does not win, and may tie); -1: it loses.

    Args:
        pool, places: as in ``bounds_of_differences``.
        preference: one of ``LEXICOGRAPHIC`` or ``WEIGHTS``.
        depth: documents without a judgment among the first of either run are open; None: all that are retrieved.
    """
    rel, cutoff = preference.rel_in(pool.judgments), preference["cutoff"]
    queries, (a, b) = len(pool.judgments), places
    worst, best = np.zeros((2, len(a), queries), dtype=np.int8)
    is_exact = np.ones(best.shape, dtype=bool)
    if preference.NAME in WEIGHTS:
        weight, nothing = WEIGHTS[preference.NAME], np.zeros((len(pool.rank), queries))
        for some, pairs in RankingPairs.blocks(pool, a, b, nothing, depth=depth, cutoff=cutoff):
            (high, known), (low, known_too) = (
                _by_levels(each, rel, weight) for each in (pairs, pairs.swapped())
            )
            worst[some], best[some] = -low.reshape(-1, queries), high.reshape(-1, queries)
            is_exact[some] = (known & known_too).reshape(-1, queries)
        return worst, best, is_exact
    order = _Order(pool, rel, cutoff, depth, preference.NAME == "lexirecall")
    if order.from_the_end:
        worst, best = order.by_number(a, b)
    for some in row_blocks(len(a), len(pool.query), _AT_ONCE):
        worst[some] = -order.walk(b[some], a[some], -worst[some])
        best[some] = order.walk(a[some], b[some], best[some])
    return worst, best, is_exact


class _Order:
    """The documents of every run that may be relevant, in the order of the walk: lexicographic recall's is ``from_the_end``."""

    def __init__(
        self, pool: Pool, rel: float, cutoff: int | None, depth: int | None, from_the_end: bool
    ) -> None:
        self.pool = pool = pool.only(
            np.where(pool.is_judged, pool.grade >= rel, pool.within(depth))
        )
        self.from_the_end = from_the_end
        self.relevant: Bools = pool.is_judged & (
            pool.grade >= rel
        )  # judged documents that are, shape ``(N,)``
        # Whether each run has them where open ones stand, and within the cutoff, shape ``(S, N)``.
        rank, self.is_open = pool.ranks_within(depth, cutoff)
        self.seen: Bools = rank > 0
        run, row = np.nonzero(self.seen)
        shape = len(pool.rank), len(pool.judgments)
        ranking, size = run * shape[1] + pool.query[row], shape[0] * shape[1]
        order = rank[run, row].astype(np.int64) * (-1 if from_the_end else 1)
        arranged = np.argsort((ranking << 32) + order)
        # Their rows in the pool, run by run and query by query, and where each stands in the walk; one more at the end, for none.
        self.row, self.order = np.append(row[arranged], -1), np.append(order[arranged], _DEEPEST)
        # Relevant judged documents that each run has within the cutoff; where those of a run and query begin and end; (S, Q) each.
        self.found = np.bincount(ranking[self.relevant[row]], minlength=size).reshape(shape)
        count = np.bincount(ranking, minlength=size)
        self.end = np.cumsum(count).reshape(shape)
        self.start = self.end - count.reshape(shape)

    def walk(self, a: Ints, b: Ints, best: Outcomes) -> Outcomes:
        """What runs ``a`` make of runs ``b`` under the best judging, shape ``(P, Q)``, where ``best`` has 0; else that."""
        decided = np.zeros(
            (len(a), len(self.relevant)), dtype=np.int8
        )  # 1 + what is known of open documents by now
        some = self.start < self.end
        pair, query = np.nonzero((best == 0) & (some[a] | some[b]))
        place = [self.start[s[pair], query] for s in (a, b)]
        end = [self.end[s[pair], query] for s in (a, b)]
        # With lexirecall A is ahead where B has a relevant document and A has not; with lexiprecision the other way round.
        loser, winner = (0, 1) if self.from_the_end else (1, 0)
        while len(pair):
            at = [np.where(p < e, self.order[p], _DEEPEST) for p, e in zip(place, end, strict=True)]
            now = np.minimum(at[0], at[1])
            here = [(each == now) & (p < e) for each, p, e in zip(at, place, end, strict=True)]
            row = [np.where(h, self.row[p], -1) for p, h in zip(place, here, strict=True)]
            known = []  # by lexirecall, open ones of A alone are relevant, and those of B alone are not
            for r, h in zip(row, here, strict=True):
                by_now, in_a, in_b = decided[pair, r], self.seen[a[pair], r], self.seen[b[pair], r]
                said = np.where(by_now > 0, by_now - 1, _OPEN)
                if self.from_the_end:
                    said = np.where(in_a & ~in_b, _YES, np.where(in_b & ~in_a, _NO, said))
                is_open = self.is_open[a[pair], r] | self.is_open[b[pair], r]
                known.append(
                    np.where(h, np.where(is_open, said, self.relevant[r]), _NO).astype(np.int8)
                )
            differ = row[0] != row[1]
            ahead_here = differ & (known[loser] != _YES) & (known[winner] != _NO)
            behind = differ & (known[loser] == _YES) & (known[winner] == _NO)
            # Alike from here on: an open document beside a known one has to be as that one.
            for one, other in ((0, 1), (1, 0)):
                forced = np.flatnonzero(
                    differ & ~ahead_here & (known[one] == _OPEN) & (known[other] != _OPEN)
                )
                decided[pair[forced], row[one][forced]] = 1 + known[other][forced]
            best[pair[ahead_here], query[ahead_here]] = 1
            best[pair[behind], query[behind]] = -1
            place = [p + h for p, h in zip(place, here, strict=True)]
            going = ~(ahead_here | behind) & ((place[0] < end[0]) | (place[1] < end[1]))
            pair, query = pair[going], query[going]
            place, end = [each[going] for each in place], [each[going] for each in end]
        return best

    def by_number(self, a: Ints, b: Ints) -> tuple[Outcomes, Outcomes]:
        """What runs ``a`` make of runs ``b`` by the number of relevant documents within the cutoff, worst and best; shape ``(P, Q)`` each.

        At best, what is open and that A alone has is relevant, and what B alone has is not.
        """
        (left, place_a), (right, place_b) = (
            np.unique(runs, return_inverse=True) for runs in (a, b)
        )
        unjudged = np.flatnonzero(~self.pool.is_judged)
        ends = np.searchsorted(self.pool.query[unjudged], np.arange(len(self.pool.judgments) + 1))
        worst, best = np.zeros((2, len(a), len(ends) - 1), dtype=np.int8)
        for q, (first, end) in enumerate(
            pairwise(ends.tolist())
        ):  # all pairs at once, by products of matrices
            row = unjudged[first:end]
            seen, is_open = self.seen[:, row], self.is_open[:, row]
            mine, lost, deep = seen & is_open, is_open & ~seen, seen & ~is_open
            found, many = self.found[:, q], mine.sum(axis=1)
            for runs, others, out, places, way in (
                (left, right, best, (place_a, place_b), 1),
                (right, left, worst, (place_b, place_a), -1),
            ):
                alone = many[runs, None] - common(mine[runs], seen[others])
                if lost.any():  # open by the other one, which has it below the cutoff
                    alone += common(deep[runs], lost[others])
                ahead = found[runs, None] - found[others] + alone
                out[:, q] = way * np.sign(ahead).astype(np.int8)[places]
        return worst, best


def _by_levels(
    pairs: RankingPairs, rel: float, weight: Callable[[Floats], Floats]
) -> tuple[Outcomes, Bools]:
    """What A makes of B at best by recall levels, and whether that is known to be reached; shape ``(C,)`` each."""
    count = pairs.count(pairs.shared)
    few = count <= _MOST_SHARED
    most = _outcome(pairs, rel, weight, None)
    relaxed = most > 0
    win = relaxed & (count == 0)
    sooner = pairs.a.rank < pairs.b.rank
    for choice in (np.zeros_like(sooner), np.ones_like(sooner), sooner):
        unknown = relaxed & ~win
        win[unknown] = (
            _outcome(pairs.only(np.flatnonzero(unknown)), rel, weight, choice[unknown[pairs.case]])
            > 0
        )
    # Which of the first ``size`` shared documents are relevant, the last of them among these.
    for size in range(1, _MOST_SHARED + 1):
        unknown = relaxed & ~win & few & (count >= size)
        some = pairs.only(np.flatnonzero(unknown))
        number = np.zeros(len(some.case), dtype=np.int64)
        number[some.shared] = position_in_segment(some.case[some.shared])
        for bits in range(2 ** (size - 1), 2**size) if len(some) else ():
            win[unknown] |= _outcome(some, rel, weight, (bits >> number & 1).astype(bool)) > 0
    is_exact = ~relaxed | win | few
    return np.where(win | ~is_exact, 1, np.minimum(most, 0)).astype(np.int8), is_exact


def _outcome(
    pairs: RankingPairs, rel: float, weight: Callable[[Floats], Floats], choice: Bools | None
) -> Outcomes:
    """What A makes of B if its open documents are relevant, those of B are not, and of shared ones these; None: all, in A alone."""
    relevant, shared = ~pairs.is_open & (pairs.grade >= rel), pairs.shared
    chosen = shared if choice is None else shared & choice
    sides = (
        (pairs.a, relevant | (pairs.is_open & ~shared) | chosen),
        (pairs.b, relevant if choice is None else relevant | chosen),
    )
    keys = []  # case and rank as one number, of the relevant documents of each ranking, sorted
    for one, which in sides:
        row = np.flatnonzero(which & one.has)
        keys.append(np.sort((pairs.case[row] << 32) | one.rank[row]))
    total, levels = np.zeros(len(pairs)), np.zeros(len(pairs), dtype=np.int64)
    for sign, mine, other in ((1, keys[0], keys[1]), (-1, keys[1], keys[0])):
        case = mine >> 32
        level = position_in_segment(case) + 1
        down_to = np.searchsorted(other, mine, side="right") - np.searchsorted(other >> 32, case)
        sooner = down_to < level  # the other has fewer than i documents down to this one's i-th
        total += sign * per_query_sum(
            case[sooner], weight(level[sooner].astype(np.float64)), len(pairs)
        )
        levels += np.bincount(case, minlength=len(pairs))
    scale = np.cumsum(np.r_[1.0, weight(np.arange(1.0, levels.max(initial=0) + 1))])[levels]
    return np.sign(settled(total, scale)).astype(np.int8)
