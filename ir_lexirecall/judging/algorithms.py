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
from ir_lexirecall.judging import sums_and_cascades as sums
from ir_lexirecall.judging.normalised import AveragePrecision, NestedLexirecall, Normalised
from ir_lexirecall.judging.ranking_pairs import Gain, Largest, RankingPairs, Weight
from ir_lexirecall.measures import recall, trec_eval_10
from ir_lexirecall.measures.discounts import gain
from ir_lexirecall.measures.other_programs import GDEVAL_MAX_REL, PROGRAM_DEPTH, nerr_discount
from ir_lexirecall.measures.scoring import is_native
from ir_lexirecall.measures.trec_eval import optional
from ir_lexirecall.preferences.naming import Preference

DEFAULT_DEPTH = 100
"""The depth of a criterion without a cutoff, unless the user names another one."""

DepthLike: TypeAlias = int | Literal["default"] | None
"""A rank, ``"default"`` (the criterion's cutoff, else ``DEFAULT_DEPTH``), or None: whole rankings."""

_MOST_UNRETRIEVED = 2**53  # more documents no collection has


@dataclass(frozen=True)
class Judgings:
    """Which judgings of unjudged documents are possible.

    Attributes:
        depth: unjudged documents down to this rank of either run may have any grade; what is
            ranked below is not relevant. By default the criterion's cutoff, or 100 if it has none;
            None: whole rankings.
        max_rel: top grade of the scale; by default the measure's own, else the highest grade of the judgments.
        unretrieved: relevant documents of each query, at most, that neither run retrieved: they move measures that are
            normalised by the number of relevant documents or by an ideal ranking.
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
        return None if None in depths else max(depth for depth in depths if depth is not None)

    def top_grade(self, judgments: Judgments, measure: IRMeasure | None = None) -> int:
        """The top grade that an unjudged document can get; ``max_rel`` must not be below a grade that was given."""
        if self.max_rel is not None:
            judgments.check_top_grade(self.max_rel, "max_rel")
            return int(self.max_rel)
        own = None if measure is None else measure.params.get("max_rel")
        return math.ceil(max(1, judgments.highest_grade)) if own is None else int(own)


Algorithm = Callable[[RankingPairs], Largest]
"""Finds the largest differences that a judging can make."""


@dataclass(frozen=True)
class Bounded:
    """A measure and what bounds it."""

    algorithm: Algorithm
    depth: int | None  # down to which rank open documents can move the measure; None: all
    cutoff: int | None  # below which documents count as not retrieved; None: nowhere
    unretrieved: int  # relevant documents of each query, at most, that neither run retrieved


def bounded(measure: IRMeasure, judgments: Judgments, judgings: Judgings) -> Bounded | None:
    """What bounds a measure by today's judgments, None without a proven algorithm.

    >>> import ir_measures
    >>> judgments = Judgments.from_qrels({"q": {"d": 2}})
    >>> bounded(ir_measures.P @ 10, judgments, Judgings()).cutoff, bounded(ir_measures.Bpref, judgments, Judgings())
    (10, None)
    """
    if type(measure) is not type(ir_measures.measures.registry.get(measure.NAME)):
        return None  # a class of the user's that has the name of another measure
    rel, k = optional(measure, "rel"), optional(measure, "cutoff")
    # By a rel of 0, unjudged documents would be less than any judged one.
    if not is_native(measure) or optional(measure, "judged_only") or (rel is not None and rel <= 0):
        return None
    top = judgings.top_grade(judgments, measure)
    if optional(measure, "unjudged") == "best":
        return None
    not_negative = partial(np.maximum, 0.0)
    match measure.NAME:
        case "P" | "Unjudged":
            algorithm: Algorithm = sums.WeightedSum(
                lambda rank, retrieved: np.full(len(rank), 1 / k),
                1.0,
                falls=measure.NAME == "Unjudged",
            )
        case "NumRet":
            algorithm = sums.WeightedSum(
                lambda rank, retrieved: np.full(len(rank), 0.0 if rel is None else 1.0), 1.0
            )
        case "Judged" | "SetP" if not optional(measure, "relative"):
            # Over the documents retrieved, or k if that is smaller.
            algorithm = sums.WeightedSum(
                lambda rank, retrieved: 1.0 / np.clip(retrieved, 1, k), 1.0
            )
        case "R" | "SetR":
            algorithm = partial(sums.recall, rel, judgments.m(rel))
        case "AP":
            algorithm = AveragePrecision(rel, judgments.m(rel))
        case "LexiRecall" if measure["form"] == "nested":
            algorithm = NestedLexirecall(rel, judgments.m(rel))
        case "RR":
            algorithm = partial(sums.first, lambda rank: 1 / rank)
        case "Success":
            algorithm = partial(sums.first, lambda rank: np.ones(len(rank)))
        case "TSE" if not measure["normalize"] and measure["impute"] == "pessimistic":
            exposure = recall.exposure(measure["exposure"], p=measure["p"], n=measure["n"])
            bottom = math.inf if measure["n"] is None else float(measure["n"])
            algorithm = partial(
                sums.last, lambda rank: exposure(np.minimum(rank, bottom)), rel, judgments.m(rel)
            )
        case "nDCG":
            exponential = measure["dcg"] == "exp-log2"
            if optional(measure, "gains") or (
                exponential and max(top, judgments.highest_grade) >= 512
            ):
                return None
            of_grade = (
                (lambda grade: np.exp2(np.maximum(grade, 0.0)) - 1) if exponential else not_negative
            )
            algorithm = Normalised(k, lambda rank: 1 / np.log2(rank + 1), of_grade, top, judgments)
        case "nDCG_JK":
            algorithm = Normalised(
                k, partial(trec_eval_10.log_discount, a=measure["a"]), not_negative, top, judgments
            )
        case "RBP" if rel is None or k is not None:
            algorithm = sums.WeightedSum(
                _geometric(measure["p"]), float(top) if rel is None else 1.0
            )
        case "RBP":  # cwl_eval's: of 1,000 ranks, scaled to sum to 1
            algorithm = sums.WeightedSum(
                _scaled(float(measure["p"]) ** np.arange(float(PROGRAM_DEPTH))), 1.0
            )
        case "RBP_TE":
            of_query = np.ones(len(judgments))
            np.maximum.at(of_query, judgments.query, judgments.grade)
            algorithm = partial(sums.shares_of_top, _geometric(measure["p"]), float(top), of_query)
        case "SDCG":
            weights = 1 / np.log2(np.arange(2.0, min(k, PROGRAM_DEPTH) + 2))
            algorithm = sums.WeightedSum(_scaled(weights), _gains(measure, top)[1])
        case "INSQ":
            t = float(measure["T"])
            weights = np.r_[1.0, (2 * t / (np.arange(1.0, PROGRAM_DEPTH) + 2 * t)) ** 2]
            algorithm = sums.WeightedSum(_scaled(weights), _gains(measure, top)[1])
        case "CWL_RBP":
            phi = float(measure["phi"])
            algorithm = sums.WeightedSum(
                _geometric(phi) if phi else _scaled(np.ones(1)), _gains(measure, top)[1]
            )
        case "ERR" | "GERR":
            algorithm = partial(sums.cascade, *_gains(measure, top))
        case "CWL_ERR8" | "CWL_ERR9" | "CWL_ERR10" | "CWL_ERR11" if not judgments.has_fractions:
            # A grade below 1 would be a gain where something else is relevant.
            algorithm = partial(
                sums.expected_utility, *_gains(measure, top), measure.discount(), k or math.inf
            )
        case "NERR8" | "NERR9" | "NERR10" | "NERR11":
            end = min(k or PROGRAM_DEPTH, PROGRAM_DEPTH)
            algorithm = partial(
                sums.expected_utility, *_gains(measure, top), nerr_discount(measure), end
            )
        case _:
            return None
    depth = judgings.depth_of(measure)
    if measure.NAME not in ("Judged", "Unjudged") and top < (1 if rel is None else rel):
        return Bounded(algorithm, 0, k, 0)  # no open document gains anything
    if k is not None and measure.NAME not in ("R", "AP", "LexiRecall", "TSE", "nDCG", "nDCG_JK"):
        depth = k  # relevant documents below the cutoff do not count
    return Bounded(algorithm, depth, k, judgings.unretrieved)


def _gains(measure: IRMeasure, top: int) -> tuple[Gain, float]:
    """The gains of grades, by a measure's parameters, and that of the top grade."""
    if "min_rel" in measure.SUPPORTED_PARAMS:
        low, high = measure["min_rel"], measure["max_rel"]

        def of_grade(grade: Floats) -> Floats:
            return np.maximum(np.clip(grade, 0, high) - low, 0) / (high - low)

    else:
        high, kind = (
            (GDEVAL_MAX_REL, "exp")
            if measure.NAME == "ERR"
            else (measure["max_rel"], measure["gain"])
        )

        def of_grade(grade: Floats) -> Floats:
            return gain(np.minimum(grade, high), high, kind)

    return of_grade, float(of_grade(np.array([float(top)]))[0])


def _geometric(p: float) -> Weight:
    p = float(p)
    return lambda rank, retrieved: (1 - p) * p ** (rank - 1.0)


def _scaled(weights: Floats) -> Weight:
    """Weights of ranks 1, 2, ..., scaled to sum to 1, and 0 below."""
    padded = np.append(weights / weights.sum(), 0.0)
    return lambda rank, retrieved: padded[np.minimum(rank, len(weights) + 1) - 1]
