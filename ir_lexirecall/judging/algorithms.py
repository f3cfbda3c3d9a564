"""Which algorithm bounds which measure: proven ones, and None for every measure without one."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeAlias

import ir_measures
import numpy as np
from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall._util.arrays import Floats
from ir_lexirecall._util.errors import check_integer, check_number, shown
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.judging import cascades, sums
from ir_lexirecall.judging.normalised import (
    AveragePrecision,
    NestedLexirecall,
    Normalised,
)
from ir_lexirecall.judging.ranking_pairs import Gain, Largest, RankingPairs, Weight
from ir_lexirecall.measures import recall, trec_eval_10
from ir_lexirecall.measures.discounts import gain
from ir_lexirecall.measures.other_programs import (
    GDEVAL_MAX_REL,
    PROGRAM_DEPTH,
    inverse_squares,
    nerr_discount,
)
from ir_lexirecall.measures.scoring import counts_judged, is_native
from ir_lexirecall.measures.trec_eval import optional
from ir_lexirecall.preferences.naming import Preference

DEFAULT_DEPTH = 100
"""The depth of a criterion without a cutoff, unless the user names another one.

Docstrings, pages and help texts name it, too: ``git grep -nwE '(else|or|rank|top|depth) `*100'``
finds them, all but the doctests below and the table in ``README.md``. Tests that name it are
``tests/judging/test_depths.py``, ``tests/judging/test_undecided.py``,
``tests/cli/test_judging.py``, ``tests/comparison/test_tried_judgings.py`` and
``tests/reports/test_in_a_browser.py``. Other defaults of 100 do not depend on it:
``to_judge(n=100)``, and the rankings that a report shows.
"""

DepthLike: TypeAlias = int | Literal["default"] | None
"""A rank, ``"default"`` (the criterion's cutoff, else ``DEFAULT_DEPTH``), or None (everything)."""

_MOST_UNRETRIEVED = 2**53  # more documents no collection has


@dataclass(frozen=True)
class Judgings:
    """Which judgings of unjudged documents are possible.

    Attributes:
        depth: unjudged documents down to this rank of either run may have any grade; what is
            ranked below is not relevant. By default the criterion's cutoff, or 100 if it has none;
            None: whole rankings.
        max_rel: top grade of the scale; by default the measure's own, else the highest grade of the
            judgments.
        unretrieved: relevant documents of each query, at most, that neither run retrieved: they
            move measures that are normalised by the number of relevant documents or by an ideal
            ranking.
    """

    depth: DepthLike = "default"
    max_rel: float | None = None
    unretrieved: int = 0

    def __post_init__(self) -> None:
        if isinstance(self.depth, str) and self.depth != "default":
            raise ValueError(
                f"depth must be a rank, 'default' (the criterion's cutoff, else {DEFAULT_DEPTH}), "
                f"or None (whole rankings), not {shown(self.depth)}"
            )
        if self.depth is not None and self.depth != "default":
            check_integer("depth", self.depth)
        if self.max_rel is not None:
            check_number("max_rel", self.max_rel, least=1)
        check_integer("unretrieved", self.unretrieved, least=0, most=_MOST_UNRETRIEVED)

    def depth_of(self, criterion: IRMeasure | Preference) -> int | None:
        """Return the depth that counts for a measure or preference; None for whole rankings.

        >>> import ir_measures
        >>> Judgings().depth_of(ir_measures.nDCG @ 10), Judgings().depth_of(ir_measures.AP)
        (10, 100)
        >>> Judgings(20).depth_of(ir_measures.nDCG @ 10)
        20
        >>> Judgings(5).depth_of(ir_measures.nDCG @ 10)
        Traceback (most recent call last):
        ValueError: depth 5 leaves out unjudged documents that nDCG@10 looks at; give at least 10
        """
        cutoff: int | None = criterion.params.get("cutoff")
        if self.depth == "default":
            return cutoff or DEFAULT_DEPTH
        if cutoff is not None and self.depth is not None and self.depth < cutoff:
            raise ValueError(
                f"depth {self.depth} leaves out unjudged documents that {criterion} looks at; "
                f"give at least {cutoff}"
            )
        return self.depth

    def pool_depth(self, criteria: Iterable[IRMeasure | Preference]) -> int | None:
        """Return the rank down to which these criteria together need unjudged documents.

        >>> import ir_measures
        >>> Judgings().pool_depth([ir_measures.P @ 10, ir_measures.nDCG @ 20, ir_measures.AP])
        100
        """
        depths = [self.depth_of(criterion) for criterion in criteria]
        if None in depths:
            return None
        return max(depth for depth in depths if depth is not None)

    def top_grade(self, judgments: Judgments, measure: IRMeasure | None = None) -> int:
        """Return the top grade that an unjudged document can get.

        Raises:
            ValueError: ``max_rel`` is below a grade that was given.
        """
        if self.max_rel is not None:
            judgments.check_top_grade(self.max_rel, "max_rel")
            return int(self.max_rel)
        if measure is None:
            top_of_measure = None
        else:
            top_of_measure = measure.params.get("max_rel")
        if top_of_measure is not None:
            return int(top_of_measure)
        return math.ceil(max(1, judgments.highest_grade))


Algorithm = Callable[[RankingPairs], Largest]
"""Finds the largest differences that a judging can make."""


@dataclass(frozen=True)
class Bounded:
    """How a measure is bounded.

    Attributes:
        algorithm: finds the largest differences.
        depth: rank down to which open documents can move the measure; None: all ranks.
        cutoff: rank below which documents count as not retrieved; None: no such rank.
        unretrieved: largest number of relevant documents of a query that neither run retrieved.
    """

    algorithm: Algorithm
    depth: int | None
    cutoff: int | None
    unretrieved: int


def bounded(
    measure: IRMeasure, judgments: Judgments, judgings: Judgings
) -> Bounded | None:
    """Return what bounds a measure by today's judgments; None without a proven algorithm.

    >>> import ir_measures
    >>> judgments = Judgments.from_qrels({"q": {"d": 2}})
    >>> bounded(ir_measures.P @ 10, judgments, Judgings()).cutoff
    10
    >>> bounded(ir_measures.Bpref, judgments, Judgings()) is None
    True
    """
    if type(measure) is not type(ir_measures.measures.registry.get(measure.NAME)):
        return None  # a class of the user's that has the name of another measure
    rel, cutoff = optional(measure, "rel"), optional(measure, "cutoff")
    if not is_native(measure) or optional(measure, "judged_only"):
        return None
    # An unjudged document would count less than any judged one.
    if rel is not None and rel <= 0:
        return None
    top = judgings.top_grade(judgments, measure)
    algorithm = _algorithm_of(measure, judgments, top)
    if algorithm is None:
        return None
    depth = judgings.depth_of(measure)
    if not counts_judged(measure) and top < (1 if rel is None else rel):
        return Bounded(algorithm, 0, cutoff, 0)  # no open document gains anything
    if cutoff is not None and measure.NAME not in _NORMALISED:
        depth = cutoff  # relevant documents below the cutoff do not count
    return Bounded(algorithm, depth, cutoff, judgings.unretrieved)


_NORMALISED = ("R", "AP", "LexiRecall", "TSE", "nDCG", "nDCG_JK")
"""Measures that change with relevant documents below their cutoff."""


def _algorithm_of(
    measure: IRMeasure, judgments: Judgments, top: int
) -> Algorithm | None:
    """Return the algorithm that bounds a measure; None without a proven one.

    Args:
        measure: a measure that this package computes.
        judgments: today's judgments.
        top: the top grade that an unjudged document can get.
    """
    if optional(measure, "unjudged") == "best":
        return None
    return (
        _of_relevant(measure, judgments)
        or _of_ideal(measure, judgments, top)
        or _of_discounted_gains(measure, judgments, top)
        or _of_cascade(measure, judgments, top)
    )


def _of_relevant(measure: IRMeasure, judgments: Judgments) -> Algorithm | None:
    """Return the algorithm of a measure for which a document is relevant or not."""
    rel, k = optional(measure, "rel"), optional(measure, "cutoff")
    match measure.NAME:
        case "P" | "Unjudged":
            falls = measure.NAME == "Unjudged"
            return sums.WeightedSum(
                lambda rank, _: np.full(len(rank), 1 / k), 1.0, falls=falls
            )
        case "NumRet":
            weight = 0.0 if rel is None else 1.0
            return sums.WeightedSum(lambda rank, _: np.full(len(rank), weight), 1.0)
        case "Judged" | "SetP" if not optional(measure, "relative"):
            # Over the documents retrieved, or k if that is smaller.
            return sums.WeightedSum(
                lambda _, retrieved: 1.0 / np.clip(retrieved, 1, k), 1.0
            )
        case "R" | "SetR":
            return partial(sums.recall, rel, judgments.m(rel))
        case "AP":
            return AveragePrecision(rel, judgments.m(rel))
        case "LexiRecall" if measure["form"] == "nested":
            return NestedLexirecall(rel, judgments.m(rel))
        case "RR":
            return partial(sums.first, lambda rank: 1 / rank)
        case "Success":
            return partial(sums.first, lambda rank: np.ones(len(rank)))
        case "TSE" if not measure["normalize"] and measure["impute"] == "pessimistic":
            exposure = recall.exposure(
                measure["exposure"], p=measure["p"], n=measure["n"]
            )
            bottom = math.inf if measure["n"] is None else float(measure["n"])
            of_rank = lambda rank: exposure(np.minimum(rank, bottom))  # noqa: E731
            return partial(sums.last, of_rank, rel, judgments.m(rel))
    return None


def _of_ideal(measure: IRMeasure, judgments: Judgments, top: int) -> Algorithm | None:
    """Return the algorithm of a measure that is normalised by an ideal ranking."""
    k = optional(measure, "cutoff")
    if measure.NAME == "nDCG_JK":
        discount = partial(trec_eval_10.log_discount, a=measure["a"])
        return Normalised(k, discount, _not_negative, top, judgments)
    if measure.NAME != "nDCG" or optional(measure, "gains"):
        return None
    gain_of_grade: Callable[[Floats], Floats] = _not_negative
    if measure["dcg"] == "exp-log2":
        if max(top, judgments.highest_grade) >= _MOST_EXPONENT:
            return None
        gain_of_grade = _exponential
    return Normalised(
        k, lambda rank: 1 / np.log2(rank + 1), gain_of_grade, top, judgments
    )


def _of_discounted_gains(
    measure: IRMeasure, judgments: Judgments, top: int
) -> Algorithm | None:
    """Return the algorithm of a sum of discounts times gains."""
    rel, k = optional(measure, "rel"), optional(measure, "cutoff")
    match measure.NAME:
        case "RBP":
            weight = _geometric(measure["p"])
            # The weights of cwl_eval are those of 1,000 ranks, scaled to sum to 1.
            if rel is not None and k is None:
                weight = _scaled(float(measure["p"]) ** np.arange(float(PROGRAM_DEPTH)))
            return sums.WeightedSum(weight, float(top) if rel is None else 1.0)
        case "RBP_TE":
            top_of_query = trec_eval_10.top_grade_of_queries(judgments)
            weight = _geometric(measure["p"])
            return partial(sums.shares_of_top, weight, float(top), top_of_query)
        case "SDCG":
            weights = 1 / np.log2(np.arange(2.0, min(k, PROGRAM_DEPTH) + 2))
            return sums.WeightedSum(_scaled(weights), _gains(measure, top)[1])
        case "INSQ":
            weights = inverse_squares(measure)[:PROGRAM_DEPTH]
            return sums.WeightedSum(_scaled(weights), _gains(measure, top)[1])
        case "CWL_RBP":
            weight = _geometric(measure["phi"])
            return sums.WeightedSum(weight, _gains(measure, top)[1])
    return None


def _of_cascade(measure: IRMeasure, judgments: Judgments, top: int) -> Algorithm | None:
    """Return the algorithm of a measure in which a document hides those below it."""
    k = optional(measure, "cutoff")
    match measure.NAME:
        case "ERR" | "GERR":
            return partial(cascades.cascade, *_gains(measure, top))
        case "CWL_ERR8" | "CWL_ERR9" | "CWL_ERR10" | "CWL_ERR11" if (
            not judgments.has_fractions
        ):
            # A grade below 1 would be a gain where something else is relevant.
            gains, discount = _gains(measure, top), measure.discount()
            return partial(cascades.expected_utility, *gains, discount, k or math.inf)
        case "NERR8" | "NERR9" | "NERR10" | "NERR11":
            end = min(k or PROGRAM_DEPTH, PROGRAM_DEPTH)
            gains, discount = _gains(measure, top), nerr_discount(measure)
            return partial(cascades.expected_utility, *gains, discount, end)
    return None


def _gains(measure: IRMeasure, top: int) -> tuple[Gain, float]:
    """Return the gains of grades, by a measure's parameters, and that of the top grade."""
    if "min_rel" in measure.SUPPORTED_PARAMS:
        low, high = measure["min_rel"], measure["max_rel"]

        def of_grade(grade: Floats) -> Floats:
            return np.maximum(np.clip(grade, 0, high) - low, 0) / (high - low)

    else:
        high, kind = GDEVAL_MAX_REL, "exp"
        if measure.NAME != "ERR":
            high, kind = measure["max_rel"], measure["gain"]

        def of_grade(grade: Floats) -> Floats:
            return gain(np.minimum(grade, high), high, kind)

    return of_grade, float(of_grade(np.array([float(top)]))[0])


def _not_negative(grade: Floats) -> Floats:
    """Return the grade as a gain, 0 if it is negative."""
    return np.maximum(0.0, grade)


# From this grade on, nDCG scales the gains of each query, lest they overflow.
_MOST_EXPONENT = 512


def _exponential(grade: Floats) -> Floats:
    """Return the gain 2^grade - 1, 0 for negative grades."""
    return np.exp2(np.maximum(grade, 0.0)) - 1


def _geometric(p: float) -> Weight:
    """Return the weight (1 - p) p^(rank - 1)."""
    p = float(p)
    return lambda rank, retrieved: (1 - p) * p ** (rank - 1.0)


def _scaled(weights: Floats) -> Weight:
    """Return the weights of ranks 1, 2, ..., scaled to sum to 1, and 0 below."""
    padded = np.append(weights / weights.sum(), 0.0)
    return lambda rank, retrieved: padded[np.minimum(rank, len(weights) + 1) - 1]
