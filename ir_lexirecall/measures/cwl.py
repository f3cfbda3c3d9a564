"""C/W/L variants of ERR (Azzopardi, Mackenzie, Moffat, ICTIR 2021), summed in closed form.

A user who looks at rank i goes on with probability C(i); V(1) = 1 and V(i+1) = V(i) C(i). In all variants
V(i) = B(i) S(i): a discount B of the rank alone (``Discount``) and, but for RBP, the satisfaction left over,
S(i) = product of (1 - r_j) over j < i. Between two judged documents the gain is constant, so sums of V over
such a stretch close, and the cost is that of the judged documents retrieved.
"""

from __future__ import annotations

from abc import abstractmethod
from functools import partial
from math import inf, pi
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ir_lexirecall._util.arrays import FEW, Floats
from ir_lexirecall.measures import gain as gains
from ir_lexirecall.measures.about import About, Example
from ir_lexirecall.measures.declaration import Measure, Utility
from ir_lexirecall.measures.parameters import Param, cutoff, gain, max_rel, unjudged
from ir_lexirecall.measures.reading import (
    MOST_HOPED_FOR,
    Discount,
    Reciprocal,
    Uniform,
    cwl,
    cwl_of_few,
    geometric,
    inverse_square,
)

if TYPE_CHECKING:
    from ir_lexirecall.data.aligned_run import AlignedRun
    from ir_lexirecall.data.judgments import Judgments

_DOC = """

    V(1) = 1, V(i+1) = V(i) C(i); the value is sum V(i) r_i / sum V(i), the expected utility per document. The gain
    r_i of grade g is (2^g - 1) / 2^max_rel (``gain='exp'``) or g / max_rel (``'linear'``). ``unjudged='worst'``
    gives unjudged documents no gain, ``'best'`` that of max_rel: the two bound the value (their difference is the
    residual). Yields ``ir_measures.CwlMetric`` with expected total utility (sum V r), cost and items (sum V).
"""


_SYMBOLS = (
    "C(i): probability of going on from rank i to i + 1; V(i): share of users who read rank i, V(1) = 1 and V(i+1) = V(i) C(i); "
    "r_i: gain of rank i, (2^g - 1)/2^max_rel of grade g (gain='exp') or g/max_rel ('linear'); value = sum V(i) r_i / sum V(i)"
)
_VALUE = r"\frac{\sum_i V(i)\, r_i}{\sum_i V(i)}, \quad V(1) = 1,\; V(i+1) = V(i)\, C(i)"
_about = partial(
    About,
    symbols=_SYMBOLS,
    values="0 to 1: expected gain per document read",
    zero="nothing with a gain is read, or the query has no relevant document",
    ties="rankings of the same gains at the same ranks; documents without gain are alike",
    source="azzopardi2021",
)


class _CWL(Measure, register=False):
    """What the variants share: gains, and which users go on."""

    CASCADE: ClassVar[bool] = True  # whether a satisfied user stops

    @abstractmethod
    def discount(self) -> Discount:
        """B, the discount of the rank alone."""

    def score(self, run: AlignedRun) -> Utility:
        top, kind, judgments = self["max_rel"], self["gain"], run.judgments
        judgments.check_top_grade(top, str(self))
        best = float(gains.gain(np.array([float(top)]), top, kind)[0]) if self["unjudged"] == "best" else 0.0
        end = self["cutoff"] if "cutoff" in self.SUPPORTED_PARAMS else inf
        queries, discount = len(judgments), self.discount()
        if not best and len(run.query) <= FEW and queries <= FEW:
            r = judgments.cached(("gain", top, kind), lambda: _gains_of_judged(judgments, top, kind))[run.doc]
            items, etu = cwl_of_few(run.query, run.rank, r, queries, discount, end=end, cascade=self.CASCADE)
        else:
            has_relevant = judgments.m() > 0
            r = np.where(has_relevant[run.query], gains.gain(run.grade, top, kind), 0.0)
            unjudged = np.where(has_relevant, best, 0.0)
            items, etu = cwl(
                run.query, run.rank, r, queries, discount, end=end, cascade=self.CASCADE, unjudged=unjudged
            )
        return Utility(value=etu / items, expected_total_utility=etu, expected_total_cost=items, expected_items=items)


def _gains_of_judged(judgments: Judgments, top: float, kind: str) -> Floats:
    """Gains of all judged documents, 0 where a query has no relevant one and scores 0 (grades between 0 and 1 have a gain)."""
    return np.where((judgments.m() > 0)[judgments.query], gains.gain(judgments.grade, top, kind), 0.0)


_GAINS = {"max_rel": max_rel(required=True), "gain": gain(), "unjudged": unjudged()}


def _phi(default: float) -> Param:
    """``phi``: the probability of going on."""
    return Param(float, "persistence (0: only rank 1 is looked at)", default=default, least=0, below=1)


class CWL_ERR8(_CWL):
    __doc__ = f"""C/W/L variant of ERR, Equation 8: C(i) = 1 - r_i below rank k, 0 from k on.{_DOC}
    >>> from ir_lexirecall import CWL_ERR8
    >>> (CWL_ERR8(max_rel=1) @ 2).calc_aggregate({{"q": {{"a": 1}}}}, {{"q": {{"a": 2.0, "x": 1.0}}}})
    0.33333...
    """

    PRETTY_NAME: ClassVar[str] = "C/W/L ERR (Eq. 8)"
    SHORT_DESC: ClassVar[str] = "Expected utility per document of a user who stops when satisfied, or at rank k."
    ABOUT: ClassVar[About] = _about(
        formula=rf"{_VALUE}, \quad C(i) = 1 - r_i \;(i < k)",
        plain="sum V(i) r_i / sum V(i), C(i) = 1 - r_i below rank k, 0 from k on",
        use="when users stop at the first satisfying document or at rank k, and effort must be counted as in all C/W/L measures",
        example=Example(
            "CWL_ERR8(max_rel=1)@2", (1, 0), 1 / 3, "r_1 = 1/2: V = 1, 1/2, so (1 x 1/2) / (1 + 1/2) = 1/3."
        ),
        see_also=("CWL_ERR9", "CWL_ERR10", "CWL_ERR11", "GERR", "NERR8"),
    )
    params: dict[str, Any] = {"cutoff": cutoff(required=True), **_GAINS}

    def discount(self) -> Discount:
        return Uniform()


class CWL_ERR9(_CWL):
    __doc__ = f"""C/W/L variant of ERR, Equation 9: C(i) = i/(i+1) (1 - r_i) below rank k, 0 from k on.{_DOC}
    >>> from ir_lexirecall import CWL_ERR9
    >>> (CWL_ERR9(max_rel=1) @ 2).calc_aggregate({{"q": {{"a": 1}}}}, {{"q": {{"a": 2.0, "x": 1.0}}}})
    0.4
    """

    PRETTY_NAME: ClassVar[str] = "C/W/L ERR (Eq. 9)"
    SHORT_DESC: ClassVar[str] = "Like CWL_ERR8, the user losing patience as 1/i."
    ABOUT: ClassVar[About] = _about(
        formula=rf"{_VALUE}, \quad C(i) = \frac{{i}}{{i + 1}} (1 - r_i) \;(i < k)",
        plain="sum V(i) r_i / sum V(i), C(i) = i/(i+1) (1 - r_i) below rank k, 0 from k on",
        use="like CWL_ERR8, for users who lose patience with every rank as well; the closest to ERR of the four",
        example=Example(
            "CWL_ERR9(max_rel=1)@2", (1, 0), 2 / 5, "r_1 = 1/2: V = 1, 1/2 x 1/2, so (1/2) / (1 + 1/4) = 2/5."
        ),
        see_also=("CWL_ERR8", "CWL_ERR10", "CWL_ERR11", "GERR", "NERR9"),
    )
    params: dict[str, Any] = {"cutoff": cutoff(required=True), **_GAINS}

    def discount(self) -> Discount:
        return Reciprocal()


class CWL_ERR10(_CWL):
    __doc__ = f"""C/W/L variant of ERR, Equation 10: C(i) = phi (1 - r_i), summed to infinity exactly.{_DOC}
    >>> from ir_lexirecall import CWL_ERR10
    >>> CWL_ERR10(phi=0.5, max_rel=1).calc_aggregate({{"q": {{"a": 1}}}}, {{"q": {{"a": 2.0}}}})
    0.33333...
    """

    PRETTY_NAME: ClassVar[str] = "C/W/L ERR (Eq. 10)"
    SHORT_DESC: ClassVar[str] = "Expected utility per document of a user with persistence phi who stops when satisfied."
    ABOUT: ClassVar[About] = _about(
        formula=rf"{_VALUE}, \quad C(i) = \phi (1 - r_i)",
        plain="sum V(i) r_i / sum V(i), C(i) = phi (1 - r_i), without end",
        symbols=f"{_SYMBOLS}; phi: persistence; summed over infinitely many ranks, exactly",
        use="when users go on with a probability and stop when satisfied; no cutoff is needed",
        example=Example(
            "CWL_ERR10(phi=0.5,max_rel=1)",
            (1,),
            1 / 3,
            "r_1 = 1/2: V = 1, 1/4, 1/8, ... with the sum 1 + 1/2, so (1/2) / (3/2) = 1/3.",
        ),
        see_also=("CWL_RBP", "CWL_ERR8", "CWL_ERR9", "CWL_ERR11", "NERR10"),
    )
    params: dict[str, Any] = {"phi": _phi(0.7), **_GAINS}

    def discount(self) -> Discount:
        return geometric(self["phi"])


class CWL_ERR11(_CWL):
    __doc__ = f"""C/W/L variant of ERR, Equation 11: C(i) = ((i+2T-1)/(i+2T))^2 (1 - r_i), to infinity exactly.{_DOC}
    >>> from ir_lexirecall import CWL_ERR11
    >>> CWL_ERR11(T=1, max_rel=1).calc_aggregate({{"q": {{"a": 1}}}}, {{"q": {{"x": 2.0}}}})
    0.0
    """

    PRETTY_NAME: ClassVar[str] = "C/W/L ERR (Eq. 11)"
    SHORT_DESC: ClassVar[str] = "Expected utility per document of a user who wants gain T and stops when satisfied."
    ABOUT: ClassVar[About] = _about(
        formula=rf"{_VALUE}, \quad C(i) = \left(\frac{{i + 2T - 1}}{{i + 2T}}\right)^2 (1 - r_i)",
        plain="sum V(i) r_i / sum V(i), C(i) = ((i+2T-1)/(i+2T))^2 (1 - r_i), without end",
        symbols=f"{_SYMBOLS}; T: gain that the user hopes for; summed over infinitely many ranks, exactly",
        use="when users want a certain amount of gain and stop when satisfied; larger T, deeper readers",
        example=Example(
            "CWL_ERR11(T=1,max_rel=1)",
            (1,),
            0.5 / (1 + 2 * (pi**2 / 6 - 1.25)),
            "r_1 = 1/2: V(i) = (1/2) (2/(i+1))^2 from rank 2 on, with the sum 2 (pi^2/6 - 5/4), so (1/2) / (1 + 0.7899).",
        ),
        see_also=("CWL_ERR8", "CWL_ERR9", "CWL_ERR10", "NERR11", "INSQ"),
    )
    params: dict[str, Any] = {
        "T": Param(
            float,
            "gain the user hopes for (0: only rank 1 is looked at)",
            default=1.35,
            least=0,
            most=MOST_HOPED_FOR,
            expects="a number of at least 0 and at most 1e300",
        ),
        **_GAINS,
    }

    def discount(self) -> Discount:
        return inverse_square(float(self["T"]))


class CWL_RBP(_CWL):
    __doc__ = f"""Rank-biased precision with the gains of the ERR variants: C(i) = phi, to infinity exactly.{_DOC}
    >>> from ir_lexirecall import CWL_RBP
    >>> CWL_RBP(phi=0.5, max_rel=1).calc_aggregate({{"q": {{"a": 1}}}}, {{"q": {{"a": 2.0}}}})
    0.25
    """

    PRETTY_NAME: ClassVar[str] = "C/W/L Rank-Biased Precision"
    SHORT_DESC: ClassVar[str] = "Expected utility per document of a user with persistence phi."
    CASCADE: ClassVar[bool] = False
    ABOUT: ClassVar[About] = _about(
        formula=r"(1 - \phi) \sum_i \phi^{i-1} r_i",
        plain="(1 - phi) sum of phi^(i-1) r_i, that is C(i) = phi, without end",
        symbols=f"{_SYMBOLS}; phi: persistence",
        use="rank-biased precision beside the ERR variants, with their gains: how much satisfaction changes",
        example=Example("CWL_RBP(phi=0.5,max_rel=1)", (1,), 1 / 4, "r_1 = 1/2: (1 - 1/2) x 1/2 = 1/4."),
        see_also=("CWL_ERR10", "RBP"),
    )
    params: dict[str, Any] = {"phi": _phi(0.6), **_GAINS}

    def discount(self) -> Discount:
        return geometric(self["phi"])
