"""Which algorithm bounds which measure: proven ones, and None for every measure without one."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall._util.arrays import Bools, Floats
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.judging.average_precision import AveragePrecision
from ir_lexirecall.judging.cascades import Cascade
from ir_lexirecall.judging.duels import Duels, Weight
from ir_lexirecall.judging.ends import First, Last
from ir_lexirecall.judging.ideals import Normalised
from ir_lexirecall.judging.sums import Recall, WeightedSum
from ir_lexirecall.measures import exposure, log_dcg
from ir_lexirecall.measures.gain import gain
from ir_lexirecall.measures.other_programs import GDEVAL_MAX_REL, PROGRAM_DEPTH
from ir_lexirecall.measures.rankings import optional
from ir_lexirecall.measures.scoring import is_native

PREFERENCES = ("lexirecall", "lexiprecision", "rrlexiprecision", "rpp", "invrpp", "dcgrpp")
"""The preferences between rankings that have an algorithm."""


class Algorithm(Protocol):
    """Finds the largest difference that a judging can make."""

    def high(self, duels: Duels) -> tuple[Floats, Bools]:
        """Largest difference of each case (or a bound of it), and whether some judging reaches it."""


@dataclass(frozen=True)
class Bounded:
    """A measure and what bounds it."""

    algorithm: Algorithm  # finds the largest difference
    cutoff: int | None  # below which documents count as not retrieved; None: nowhere
    can_gain: bool  # whether the top grade is a gain at all: else no open document matters


def bounded(measure: IRMeasure, judgments: Judgments, max_rel: float | None = None) -> Bounded | None:
    """What bounds a measure by today's judgments, None without a proven algorithm; ``max_rel`` as of ``bounds_of_differences``.

    >>> import ir_measures
    >>> judgments = Judgments.from_qrels({"q": {"d": 2}})
    >>> bounded(ir_measures.P @ 10, judgments).cutoff, bounded(ir_measures.Bpref, judgments)
    (10, None)
    """
    if not is_native(measure) or optional(measure, "judged_only") or measure.NAME not in _ALGORITHMS:
        return None
    rel = optional(measure, "rel")
    if rel is not None and rel <= 0:  # unjudged documents would be less than any judged one
        return None
    top = top_grade(judgments, max_rel, measure)
    algorithm = _ALGORITHMS[measure.NAME](measure, judgments, top)
    if algorithm is None:
        return None
    can_gain = measure.NAME in ("Judged", "Unjudged") or top >= (1 if rel is None else rel)
    return Bounded(algorithm, optional(measure, "cutoff"), can_gain)


def top_grade(judgments: Judgments, max_rel: float | None, measure: IRMeasure | None = None) -> int:
    """The top grade that an unjudged document can get; ``max_rel`` must not be below a grade that was given."""
    own = None if measure is None else measure.params.get("max_rel")
    if max_rel is not None:
        judgments.check_top_grade(max_rel, "max_rel")
        return int(max_rel)
    return int(own) if own is not None else max(1, math.ceil(judgments.highest_grade)) if len(judgments.grade) else 1


def _constant(weight: float) -> Weight:
    return lambda rank, retrieved: np.full(len(rank), weight)


def _per_retrieved(k: int | None) -> Weight:
    """1 / (number of documents retrieved, or k if that is smaller)."""
    most = np.iinfo(np.int64).max if k is None else k
    return lambda rank, retrieved: 1.0 / np.clip(retrieved, 1, most).astype(np.float64)


def _table(weights: Floats) -> Weight:
    """Weights of ranks 1, 2, ..., 0 below."""
    padded = np.append(weights, 0.0)
    return lambda rank, retrieved: padded[np.minimum(rank, len(weights) + 1) - 1]


def _rbp(measure: IRMeasure, judgments: Judgments, top: int) -> Algorithm:
    p, rel = float(measure["p"]), optional(measure, "rel")
    if rel is not None and optional(measure, "cutoff") is None:  # cwl_eval's: of 1,000 ranks, scaled to sum to 1
        weights = p ** np.arange(float(PROGRAM_DEPTH))
        return WeightedSum(_table(weights / weights.sum()), 1.0)
    return WeightedSum(lambda rank, retrieved: (1 - p) * p ** (rank - 1.0), float(top) if rel is None else 1.0)


def _cwl_rbp(measure: IRMeasure, judgments: Judgments, top: int) -> Algorithm | None:
    if measure["unjudged"] != "worst":
        return None
    phi, best = float(measure["phi"]), _best_gain(measure, top)
    if phi == 0:
        return WeightedSum(_table(np.ones(1)), best)
    return WeightedSum(lambda rank, retrieved: (1 - phi) * phi ** (rank - 1.0), best)


def _sdcg(measure: IRMeasure, judgments: Judgments, top: int) -> Algorithm:
    k = min(measure["cutoff"], PROGRAM_DEPTH)
    v = 1 / np.log2(np.arange(2.0, k + 2))
    return WeightedSum(_table(v / v.sum()), _linear(measure, top))


def _insq(measure: IRMeasure, judgments: Judgments, top: int) -> Algorithm:
    t = float(measure["T"])
    v = np.r_[1.0, (2 * t / (np.arange(1.0, PROGRAM_DEPTH) + 2 * t)) ** 2]
    return WeightedSum(_table(v / v.sum()), _linear(measure, top))


def _linear(measure: IRMeasure, top: int) -> float:
    low, high = measure["min_rel"], measure["max_rel"]
    return float(max(min(top, high) - low, 0) / (high - low))


def _best_gain(measure: IRMeasure, top: float) -> float:
    return _gain(top, measure["max_rel"], measure["gain"])


def _gain(top: float, max_rel: float, kind: str) -> float:
    """Gain of the best grade that a document can get on a scale."""
    return float(gain(np.array([float(min(top, max_rel))]), max_rel, kind)[0])


def _tse(measure: IRMeasure, judgments: Judgments, top: int) -> Algorithm | None:
    if measure["normalize"] or measure["impute"] != "pessimistic":
        return None
    n = measure["n"]
    e = exposure.exposure(measure["exposure"], p=measure["p"], n=n)
    return Last(
        lambda rank: e(rank if n is None else np.minimum(rank, float(n))), measure["rel"], judgments.m(measure["rel"])
    )


def _ndcg(measure: IRMeasure, judgments: Judgments, top: int) -> Algorithm | None:
    if optional(measure, "gains"):
        return None
    of_grade = _exponential if measure["dcg"] == "exp-log2" else _plain
    if of_grade is _exponential and max(top, judgments.highest_grade) >= 512:
        return None
    return _normalised(measure, judgments, top, of_grade, lambda rank: 1 / np.log2(rank + 1))


def _normalised(
    measure: IRMeasure,
    judgments: Judgments,
    top: int,
    of_grade: Callable[[Floats], Floats],
    discount: Callable[[Floats], Floats],
) -> Algorithm:
    k = optional(measure, "cutoff")
    return Normalised(k, discount, of_grade, top, judgments.query, judgments.grade)


def _plain(grade: Floats) -> Floats:
    return np.maximum(grade, 0.0)


def _exponential(grade: Floats) -> Floats:
    return np.exp2(np.maximum(grade, 0.0)) - 1


def _gerr(measure: IRMeasure, judgments: Judgments, top: int) -> Algorithm | None:
    if measure["unjudged"] != "worst":
        return None
    return Cascade(measure["max_rel"], measure["gain"], _best_gain(measure, top))


_ALGORITHMS: dict[str, Callable[[IRMeasure, Judgments, int], Algorithm | None]] = {
    "P": lambda measure, judgments, top: WeightedSum(_constant(1 / measure["cutoff"]), 1.0),
    "R": lambda measure, judgments, top: Recall(measure["rel"], judgments.m(measure["rel"])),
    "SetR": lambda measure, judgments, top: Recall(measure["rel"], judgments.m(measure["rel"])),
    "SetP": lambda measure, judgments, top: None if measure["relative"] else WeightedSum(_per_retrieved(None), 1.0),
    "NumRet": lambda measure, judgments, top: WeightedSum(
        _constant(0.0 if optional(measure, "rel") is None else 1.0), 1.0
    ),
    "AP": lambda measure, judgments, top: AveragePrecision(measure["rel"], judgments.m(measure["rel"])),
    "RR": lambda measure, judgments, top: First(lambda rank: 1 / rank),
    "Success": lambda measure, judgments, top: First(lambda rank: np.ones(len(rank))),
    "nDCG": _ndcg,
    "nDCG_JK": lambda measure, judgments, top: _normalised(
        measure, judgments, top, _plain, partial(log_dcg.discount, a=measure["a"])
    ),
    "RBP": _rbp,
    "CWL_RBP": _cwl_rbp,
    "SDCG": _sdcg,
    "INSQ": _insq,
    "ERR": lambda measure, judgments, top: Cascade(GDEVAL_MAX_REL, "exp", _gain(top, GDEVAL_MAX_REL, "exp")),
    "GERR": _gerr,
    "TSE": _tse,
    "Judged": lambda measure, judgments, top: WeightedSum(_per_retrieved(optional(measure, "cutoff")), 1.0),
    "Unjudged": lambda measure, judgments, top: WeightedSum(_constant(1 / measure["cutoff"]), 1.0, falls=True),
}
