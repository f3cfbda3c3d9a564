"""Measures of cwl_eval, gdeval, ndeval and ir_measures from one aligned run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, inf, log
from typing import TYPE_CHECKING, Any

import numpy as np
from ir_measures.measures.base import Measure
from numpy.typing import NDArray

from ir_lexirecall._util.arrays import (
    Bools,
    Floats,
    Ints,
    per_query_sum,
    position_in_segment,
    ratio,
    running_product,
    running_sum,
    shifted_within_segment,
    starts_segment,
)
from ir_lexirecall._util.lazy import cached_property
from ir_lexirecall._util.selecting import among
from ir_lexirecall.measures import discounts
from ir_lexirecall.measures.declaration import Utility
from ir_lexirecall.measures.trec_eval import (
    UNLIMITED,
    Score,
    computes,
    cutoff_of,
    log2_of_next,
    number,
    optional,
)

if TYPE_CHECKING:
    from ir_lexirecall.data.aligned_run import AlignedRun
    from ir_lexirecall.data.judgments import Judgments


BY_OTHERS: dict[str, Score] = {}
"""The functions of this module by the measures that they compute."""

PROGRAM_DEPTH = 1000  # cwl_eval pads or cuts every ranking to that
GDEVAL_MAX_REL = 4


@computes(BY_OTHERS, "Judged")
def _judged(measure: Measure, run: AlignedRun) -> Floats:
    """Return the share of judged documents among the first k.

    ir_measures' own program counts pooled documents that nobody judged, those of a negative grade.
    """
    k = cutoff_of(measure)
    judged = run.query[(run.rank <= k) & run.is_judged]
    return ratio(
        np.bincount(judged, minlength=len(run.depth)), np.minimum(run.depth, k)
    )


@computes(BY_OTHERS, "ERR")
def _err(measure: Measure, run: AlignedRun) -> Floats:
    """Compute gdeval's ERR: gains are (2^g - 1) / 2^4."""
    run.judgments.check_top_grade(GDEVAL_MAX_REL, str(measure))
    top = run.rank <= cutoff_of(measure)
    r = discounts.gain(run.grade[top], GDEVAL_MAX_REL, "exp")
    return discounts.expected_reciprocal_rank(
        run.query[top], run.rank[top], r, len(run.judgments)
    )


@computes(BY_OTHERS, "RBP")
def _rbp(measure: Measure, run: AlignedRun) -> Floats | Utility:
    """Compute RBP; cwl_eval's, of binary gains without cutoff, scales 1,000 ranks to sum to 1."""
    p = number(measure, "p", high=1)
    k = cutoff_of(measure)
    gain = rbp_gain(measure, run)
    if optional(measure, "rel") is not None and k == UNLIMITED:
        return _weighted(run, gain, p ** np.arange(PROGRAM_DEPTH + 1.0))
    terms = (1 - p) * p ** (run.rank - 1.0) * gain
    return per_query_sum(run.query, np.where(run.rank <= k, terms, 0.0), len(run.depth))


def rbp_gain(measure: Measure, run: AlignedRun) -> Floats:
    """Return the gain of each judged document in RBP: 0 or 1 with `rel`, else its grade."""
    rel = optional(measure, "rel")
    if rel is None:
        return np.maximum(run.grade, 0)
    return (run.grade >= rel).astype(np.float64)


def linear_gain(measure: Measure, run: AlignedRun) -> Floats:
    """Return the grade of each judged document between min_rel and max_rel, scaled to [0, 1]."""
    low, high = measure["min_rel"], measure["max_rel"]
    if low >= high:
        raise ValueError(f"{measure}: min_rel={low} must be below max_rel={high}")
    run.judgments.check_top_grade(high, str(measure))
    return np.maximum(np.maximum(run.grade, 0) - low, 0) / (high - low)


def _utility(
    utility: Floats, items: Floats, beyond: float | NDArray[Any], gained: Floats
) -> Utility:
    """Return sums of V r and of V down to rank 1,000, as cwl_eval counts them.

    It leaves the users out of the total utility and cost who would look at rank 1,001, V(1001) =
    ``beyond``, and have ``gained``.
    """
    return Utility(
        utility / items,
        utility - beyond * gained,
        items - beyond * PROGRAM_DEPTH,
        items,
    )


def _weighted(run: AlignedRun, gain: Floats, v: Floats) -> Utility:
    """Return the expected utility of users who look at rank i with probability `v[i - 1]`.

    Ranks below 1,000, or below the last that `v` has, do not count.
    """
    queries, top = len(run.depth), run.rank <= min(len(v), PROGRAM_DEPTH)
    query, gain = run.query[top], gain[top]
    utility = per_query_sum(query, v[run.rank[top] - 1] * gain, queries)
    items = np.full(queries, v[:PROGRAM_DEPTH].sum())
    return _utility(
        utility, items, v[PROGRAM_DEPTH:].sum(), per_query_sum(query, gain, queries)
    )


@computes(BY_OTHERS, "SDCG")
def _sdcg(measure: Measure, run: AlignedRun) -> Utility:
    """Compute SDCG: V(i) = 1 / log2(i + 1) down to rank k."""
    return _weighted(run, linear_gain(measure, run), inverse_logarithms(measure))


def inverse_logarithms(measure: Measure) -> Floats:
    """Return V(i) of SDCG down to rank k, at most 1,001."""
    last = min(cutoff_of(measure), PROGRAM_DEPTH + 1)
    return 1 / log2_of_next(np.arange(1, last + 1))


@computes(BY_OTHERS, "INSQ")
def _insq(measure: Measure, run: AlignedRun) -> Utility:
    """Compute INSQ: V(i) = (2T / (i + 2T - 1))^2."""
    return _weighted(run, linear_gain(measure, run), inverse_squares(measure))


def inverse_squares(measure: Measure) -> Floats:
    """Return V(i) of INSQ down to rank 1,001."""
    t = number(measure, "T", high=discounts.MOST_HOPED_FOR)
    i = np.arange(2, PROGRAM_DEPTH + 2)
    return np.r_[1.0, (2 * t / (i - 1 + 2 * t)) ** 2]


@computes(BY_OTHERS, "INST")
def _inst(measure: Measure, run: AlignedRun) -> Utility:
    """Compute INST: V(i + 1) / V(i) = ((b - 1) / b)^2, b = i + 2T less the gain down to rank i.

    Between two gains, sums of V have a closed form.
    """
    # For a smaller T, V(2) could be above V(1).
    t = number(measure, "T", low=0.25, high=discounts.MOST_HOPED_FOR)
    gain, queries = linear_gain(measure, run), len(run.depth)
    keep = (gain > 0) & (run.rank <= PROGRAM_DEPTH)
    query, rank, gain = run.query[keep], run.rank[keep], gain[keep]
    # Behind the last gain of each query stands a document without gain, at rank 1,001.
    end = np.searchsorted(query, np.arange(queries), side="right")
    rank, gain = np.insert(rank, end, PROGRAM_DEPTH + 1), np.insert(gain, end, 0.0)
    query = np.insert(query, end, np.arange(queries))
    total = running_sum(query, gain)
    # V falls as (b / (i + c))^2 below rank i0, with c = 2T - 1 less the gain so far, and b = i0 +
    # c.
    first = shifted_within_segment(query, rank, 0)  # i0, where a gain was before
    c = 2 * t - 1 - shifted_within_segment(query, total, 0)
    b = np.maximum(first, 1) + c
    v = running_product(query, (b / (rank + c)) ** 2)
    between = shifted_within_segment(query, v, 1) * discounts.inverse_square_sum(
        b, first + 1 + c, rank - first - 1.0
    )
    last = rank > PROGRAM_DEPTH
    items = per_query_sum(query, np.where(last, 0.0, v) + between, queries)
    return _utility(
        per_query_sum(query, v * gain, queries), items, v[last], total[last]
    )


@computes(BY_OTHERS, "BPM")
def _bpm(measure: Measure, run: AlignedRun) -> Utility:
    """Compute BPM, the mean gain down to the rank at which the gain reaches T, or rank k."""
    t, k = number(measure, "T"), cutoff_of(measure)
    gain, queries = linear_gain(measure, run), len(run.depth)
    end = min(k, PROGRAM_DEPTH) if t > 0 else 1
    keep = (gain > 0) & (run.rank <= end)
    query, rank = run.query[keep], run.rank[keep]
    total = running_sum(query, gain[keep])
    items, gained = np.full(queries, float(end)), np.zeros(queries)
    reached = np.flatnonzero(total >= t)[::-1]
    items[query[reached]] = rank[reached]  # the first row of each query stays
    read = rank <= items[query]
    gained[query[read]] = total[read]  # the last row of each query stays
    return _utility(gained, items, (gained < t) & (k > PROGRAM_DEPTH), gained)


@computes(BY_OTHERS, "NERR8", "NERR9", "NERR10", "NERR11")
def _nerr(measure: Measure, run: AlignedRun) -> Utility:
    """Compute NERR8 to NERR11: V(i) is the discount times the product of 1 - r_j over j < i."""
    r = linear_gain(measure, run)
    discount = nerr_discount(measure)
    k = cutoff_of(measure)
    end, unjudged = min(k, PROGRAM_DEPTH), np.zeros(len(run.depth))
    items, utility = discounts.cwl(
        run.query, run.rank, r, discount, end=end, unjudged=unjudged
    )
    if k <= PROGRAM_DEPTH:
        return Utility(utility / items, utility, items, items)
    inside = run.rank <= PROGRAM_DEPTH
    query, r = run.query[inside], r[inside]
    left = np.ones(len(run.depth))
    left[query] = running_product(query, 1 - r)  # the last row of each query stays
    beyond = discount.at(np.array([PROGRAM_DEPTH + 1.0])) * left
    return _utility(utility, items, beyond, per_query_sum(query, r, len(beyond)))


def nerr_discount(measure: Measure) -> discounts.Discount:
    """Return the discount of NERR8 to NERR11."""
    if measure.NAME == "NERR10":
        return discounts.geometric(number(measure, "p", high=1))
    if measure.NAME == "NERR11":
        return discounts.inverse_square(
            number(measure, "T", high=discounts.MOST_HOPED_FOR)
        )
    if measure.NAME == "NERR8":
        return discounts.UNIFORM
    return discounts.RECIPROCAL


# -- ndeval ----------------------------------------------------------------------------------------
# ndeval's measures of novelty and diversity, which ir_measures takes from pyndeval.
#
# A document is relevant to a subtopic (its grade for it is at least `rel`) or it is not. Subtopics
# without a relevant document do not count; all others count alike. With c(i, t) = number of
# documents above rank i that are relevant to t and N = number of subtopics that count, the gain at
# rank i is G(i) = sum over the subtopics t of document i of (1 - alpha)^c(i, t), and
#
#     alpha_DCG@k = sum over i <= k of G(i) / log2(i + 1), over its largest value
#     ERR_IA@k    = sum over i <= k of G(i) / i, over its largest value
#     NRBP        = sum over i of G(i) beta^(i-1), over its largest value,
#                   N / (1 - (1 - alpha) beta)
#     alpha_nDCG@k, nERR_IA@k, nNRBP: the same sums, over those of the ideal ranking
#     P_IA@k      = relevant documents of all subtopics among the first k, over k N
#     AP_IA       = mean over subtopics of average precision
#     StRecall@k  = share of the subtopics that have a relevant document among the first k
#
# The largest value at k is that of k documents about all subtopics, N times the sum over i <= k of
# (1 - alpha)^(i-1) x discount. alpha is 1/2 in ERR_IA and nERR_IA. At k = 1, ndeval leaves
# alpha_DCG and ERR_IA as they are, sums of G. The ideal ranking is the greedy one, which takes the
# document of the largest gain next, and of equal ones that with the last id.
#
# Sources: Clarke et al., SIGIR 2008 (alpha_nDCG), doi 10.1145/1390334.1390446; Chapelle et al.,
# CIKM 2009 (ERR_IA), doi 10.1145/1645953.1646033; Clarke et al., ICTIR 2009 (NRBP); Agrawal et al.,
# WSDM 2009 (P_IA, AP_IA), doi 10.1145/1498759.1498766; Zhai et al., SIGIR 2003 (StRecall), doi
# 10.1145/860435.860440.

_NORMALIZED = {"alpha_nDCG", "nERR_IA", "nNRBP"}  # by the ideal ranking
_NAMES = {"alpha_DCG", "ERR_IA", "NRBP", "AP_IA", "P_IA", "StRecall", *_NORMALIZED}

_MOST_RANKS = 2**24  # of a sum over ranks without documents
_NEGLIGIBLE = 2.0**-60  # share of a sum that does not change it


def is_of_ndeval(measure: Measure) -> bool:
    """Return whether `ndeval_values` computes a measure.

    It is one of ir_measures' diversity measures, with `alpha` and `beta` in [0, 1].
    """
    if measure.NAME not in _NAMES:
        return False
    shares = among(("alpha", "beta"), measure.SUPPORTED_PARAMS)
    return all(0 <= measure[name] <= 1 for name in shares)


def ndeval_values(measure: Measure, run: AlignedRun) -> Floats:
    """Return the values of all queries, shape `(Q,)`; 0 for a query without a relevant document.

    They are those of pyndeval, which needs a cutoff of at most 20, has NaN as the nNRBP of a query
    without a relevant document, and breaks ties of scores in another way. Its condensed lists keep
    every document that the qrels name, pooled ones of negative grades among them.
    """
    run = condensed_by_ndeval(measure, run)
    if "cutoff" in measure.SUPPORTED_PARAMS and optional(measure, "cutoff") is None:
        raise ValueError(f"{measure}: a cutoff is needed, as in {measure @ 10}")
    covered = coverage(run, measure["rel"], cutoff_of(measure))
    match measure.NAME:
        case "StRecall":
            return subtopic_recall(covered)
        case "P_IA":
            return _intent_aware_precision(covered, cutoff_of(measure))
        case "AP_IA":
            return _intent_aware_average_precision(covered)
    return normalised_novelty(
        measure, run, Novelty.of(measure).total(covered), covered.subtopics
    )


def condensed_by_ndeval(measure: Measure, run: AlignedRun) -> AlignedRun:
    """Return the ranking, with `judged_only` of every document that the qrels name."""
    if optional(measure, "judged_only"):
        return run.keeping(np.ones(len(run.doc), dtype=bool))
    return run


def normalised_novelty(
    measure: Measure, run: AlignedRun, total: Floats, subtopics: Ints
) -> Floats:
    """Return the sums of discounted gains as ndeval divides them.

    Args:
        measure: one of ndeval's measures.
        run: the ranking.
        total: the sum of each query.
        subtopics: number of subtopics with a relevant document of each query.
    """
    novelty = Novelty.of(measure)
    if measure.NAME in _NORMALIZED:
        judgments = run.judgments
        ideal = judgments.cached(
            ("greedy ideal", str(measure)),
            lambda: novelty.ideal(judgments, measure["rel"]),
        )
        return ratio(total, ideal)
    if measure.NAME == "NRBP":
        return ratio(total * (1 - (1 - novelty.alpha) * measure["beta"]), subtopics)
    if novelty.cutoff == 1:
        return total
    return ratio(total, subtopics * novelty.largest(measure))


def _intent_aware_precision(covered: Coverage, k: int) -> Floats:
    """Return relevant documents of all subtopics among the first k, over k times the subtopics."""
    relevant = np.bincount(covered.query, minlength=len(covered.subtopics))
    return ratio(relevant, float(k) * covered.subtopics)


def _intent_aware_average_precision(covered: Coverage) -> Floats:
    """Return the mean over subtopics of average precision."""
    precision = (position_in_segment(covered.subtopic) + 1) / covered.rank
    part = precision / covered.relevant[covered.subtopic]
    return ratio(
        per_query_sum(covered.query, part, len(covered.subtopics)), covered.subtopics
    )


@dataclass(frozen=True, eq=False)
class Novelty:
    """Sum over ranks of discounted gains, each smaller with earlier ones on the same subtopic.

    Attributes:
        kind: of the discount: `DCG`, `ERR` or `RBP`.
        alpha: share of its gain that a document loses with each earlier one on a subtopic.
        beta: persistence of the discount `RBP`.
        cutoff: ranks that count.
    """

    kind: str
    alpha: float
    beta: float
    cutoff: int

    @classmethod
    def of(cls, measure: Measure) -> Novelty:
        """Return the sum that one of ndeval's measures is made of."""
        if "alpha" in measure.SUPPORTED_PARAMS:
            alpha = measure["alpha"]
        else:
            alpha = 0.5
        kind = next(kind for kind in ("DCG", "ERR", "RBP") if kind in measure.NAME)
        return cls(
            kind, alpha, float(optional(measure, "beta") or 0), cutoff_of(measure)
        )

    def discount(self, rank: Ints) -> Any:
        """Return the discount of ranks."""
        if self.kind == "DCG":
            return 1 / np.log2(rank + 1.0)
        if self.kind == "ERR":
            return 1 / rank
        return self.beta ** (rank - 1.0)

    def total(self, covered: Coverage) -> Floats:
        """Return the sum for each query."""
        gain = (1 - self.alpha) ** position_in_segment(covered.subtopic)
        discounted = self.discount(covered.rank) * gain
        return per_query_sum(covered.query, discounted, len(covered.subtopics))

    @property
    def depth(self) -> float:
        """Ranks of the ideal ranking from which on a discount is too small to change its sum."""
        if self.kind != "RBP":
            return self.cutoff
        if self.beta in (0, 1):
            return inf if self.beta else 1
        # No later gain is larger than the first, so the sum below rank n is at most beta^n / (1 -
        # beta) of it.
        return ceil(log(_NEGLIGIBLE * (1 - self.beta)) / log(self.beta))

    def ideal(self, judgments: Judgments, rel: float) -> Floats:
        """Return the sum of the greedy ideal ranking of the documents of at least grade `rel`."""
        is_relevant = judgments.aspects.grade >= rel
        return greedy_ideal(
            judgments,
            is_relevant.astype(np.float64),
            self.alpha,
            self.discount,
            depth=self.depth,
        )

    def largest(self, measure: Measure) -> float:
        """Return the sum of a subtopic that all of the first k documents are about."""
        k = self.cutoff
        # No discount rises: later terms are too small to change the sum.
        if k > _MOST_RANKS:
            fading = self._fading
            if fading > _MOST_RANKS:
                raise ValueError(
                    f"{measure}: the cutoff must be at most {_MOST_RANKS:,}, not {k}"
                )
            k = int(fading)
        rank = np.arange(1, k + 1)
        return float(np.sum(self.discount(rank) * (1 - self.alpha) ** (rank - 1.0)))

    @property
    def _fading(self) -> float:
        """Ranks below which (1 - alpha)^(rank-1) is too small to change a sum."""
        if self.alpha in (0, 1):
            return 1 if self.alpha else inf
        return ceil(log(_NEGLIGIBLE * self.alpha) / log(1 - self.alpha))


@dataclass(frozen=True, eq=False)
class Coverage:
    """Retrieved documents, once per subtopic that they are relevant to, by subtopic and rank."""

    query: Ints  # of each row
    subtopic: Ints  # those of all queries are numbered as in ``judgments.aspects``
    rank: Ints
    relevant: Ints  # number of relevant documents of each subtopic, retrieved or not
    subtopics: Ints  # number of subtopics with a relevant document of each query, shape ``(Q,)``

    @cached_property
    def is_first(self) -> Bools:
        """Whether each row is the first of its subtopic."""
        return position_in_segment(self.subtopic) == 0

    @property
    def n_covered(self) -> Ints:
        """Number of subtopics of each query with a retrieved relevant document."""
        return np.bincount(self.query[self.is_first], minlength=len(self.subtopics))

    @property
    def rank_of_last(self) -> Ints:
        """Rank at which the last one of these subtopics is covered, 0 without any."""
        last = np.zeros(len(self.subtopics), dtype=np.int64)
        np.maximum.at(last, self.query[self.is_first], self.rank[self.is_first])
        return last


def rows_by_aspect(
    run: AlignedRun, rel: float, cutoff: float | None
) -> tuple[Ints, Ints, Floats]:
    """Return `run.aspect_rows` of at least grade `rel` among the first documents.

    They are sorted by aspect, then by rank.
    """
    pair, rank, grade = run.aspect_rows()
    keep = (grade >= rel) & (rank <= (inf if cutoff is None else cutoff))
    pair, rank, grade = pair[keep], rank[keep], grade[keep]
    order = np.argsort(pair, kind="stable")  # within an aspect, ranks rise already
    return pair[order], rank[order], grade[order]


def coverage(run: AlignedRun, rel: float, cutoff: float | None) -> Coverage:
    """Return which subtopics the first documents are relevant to, with at least grade `rel`."""
    subtopic, rank, _ = rows_by_aspect(run, rel, cutoff)
    relevant, subtopics = relevant_of_pairs(run.judgments, rel)
    query = run.judgments.aspects.query[subtopic]
    return Coverage(query, subtopic, rank, relevant, subtopics)


def relevant_of_pairs(judgments: Judgments, rel: float) -> tuple[Ints, Ints]:
    """Count the relevant documents of each subtopic, and the subtopics with one of each query."""
    aspects = judgments.aspects
    n_relevant = np.bincount(
        aspects.aspect[aspects.grade >= rel], minlength=len(aspects.query)
    )
    n_subtopics = np.bincount(aspects.query[n_relevant > 0], minlength=len(judgments))
    return n_relevant, n_subtopics


def subtopic_recall(covered: Coverage) -> Floats:
    """Return subtopics with a retrieved relevant document, over those with a relevant document."""
    return ratio(covered.n_covered, covered.subtopics)


def greedy_ideal(
    judgments: Judgments,
    worth: Floats,
    alpha: float,
    discount: Callable[[Ints], Floats],
    *,
    depth: float,
    effort: float = 0.0,
) -> Floats:
    """Return the sum over ranks of discount x gain for the greedy ideal ranking of each query.

    At every rank it takes the document of the largest sum of worth x (1 - alpha)^c over its
    aspects, c = number of documents before it with a worth for that aspect; of equal sums, the last
    document. It ends where no document gains more than the effort.

    Args:
        judgments: the judged documents.
        worth: what each row of `judgments.aspects` is worth if its aspect has not been met before.
        alpha: share of its worth that a row loses with every earlier document on its aspect.
        discount: of ranks.
        depth: ranks that count.
        effort: what reading a document costs; documents that gain less are left out.

    Returns:
        The sums, shape `(Q,)`.
    """
    total = np.zeros(len(judgments))
    row = np.flatnonzero(worth > 0)
    if len(row) == 0:
        return total
    worth, aspect = worth[row], judgments.aspects.aspect[row]
    # Documents are sorted by query, then id.
    rows_of_docs, doc = np.unique(judgments.aspects.doc[row], return_inverse=True)
    query_of_doc = judgments.query[rows_of_docs]
    starts = starts_segment(query_of_doc)
    start, segment = np.flatnonzero(starts), np.cumsum(starts) - 1
    query = query_of_doc[start]
    next_gain = np.ones(int(aspect.max()) + 1)
    left = np.ones(len(query_of_doc), dtype=bool)
    chosen = np.zeros(len(start), dtype=np.int64)
    longest = int(min(depth, np.bincount(segment).max()))
    for weight in discount(np.arange(1, longest + 1)).tolist():
        gain = np.bincount(doc, weights=next_gain[aspect] * worth)
        gain[~left] = -1
        largest = np.maximum.reduceat(gain, start)
        total[query] += weight * np.maximum(largest - effort, 0)
        best = np.flatnonzero(gain == largest[segment])
        chosen[segment[best]] = best  # the last row of each query stays
        taken = np.zeros(len(left), dtype=bool)
        taken[chosen] = True
        next_gain[aspect[taken[doc]]] *= 1 - alpha
        left[chosen] = False
    return total
