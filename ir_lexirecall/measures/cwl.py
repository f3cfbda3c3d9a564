"""C/W/L variants of ERR, summed in closed form, and ERR itself for any scale of grades.

A user who looks at rank i goes on with probability C(i); V(1) = 1 and V(i+1) = V(i) C(i). In all
variants
V(i) = B(i) S(i): a discount B of the rank alone (``Discount``) and, but for RBP, the satisfaction
left over, S(i) = product of (1 - r_j) over j < i. Between two judged documents the gain is
constant, so sums of V over such a stretch close, and the cost is that of the judged documents
retrieved.
"""

from __future__ import annotations

from abc import abstractmethod
from functools import partial
from math import pi
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ir_lexirecall._util.arrays import FEW, Floats
from ir_lexirecall.measures import discounts
from ir_lexirecall.measures.about import About, Example
from ir_lexirecall.measures.declaration import UNIT, Measure, Utility, last_rank
from ir_lexirecall.measures.parameters import GAIN_ON_SCALE, Param, cutoff

if TYPE_CHECKING:
    from ir_lexirecall.data.aligned_run import AlignedRun

_SYMBOLS = (
    "C(i): probability of going on from rank i to i + 1; V(i): share of users who read rank i, "
    "V(1) = 1 and V(i+1) = V(i) C(i); "
    "r_i: gain of rank i, (2^g - 1)/2^max_rel of grade g (gain='exp') or g/max_rel ('linear'); "
    "value = sum V(i) r_i / sum V(i)"
)
_VALUE = (
    r"\frac{\sum_i V(i)\, r_i}{\sum_i V(i)}, \quad V(1) = 1,\; V(i+1) = V(i)\, C(i)"
)
_ZERO = (
    "nothing with a gain is read, or the query has no relevant document (with unjudged='best' "
    "unjudged documents count as relevant)"
)
_TIES = "rankings of the same gains at the same ranks; documents without gain are alike"
_about = partial(
    About,
    symbols=_SYMBOLS,
    values="0 to 1: expected gain per document read",
    zero=_ZERO,
    ties=_TIES,
    source="azzopardi2021",
)


class _CWL(Measure, register=False):
    """What the variants share: gains, and which users go on."""

    RANGE = UNIT
    LEAST_GRADE: ClassVar[float] = 1
    PAGE: ClassVar[str] = "satisfied"
    params: dict[str, Any] = {"cutoff": cutoff(required=True), **GAIN_ON_SCALE}

    @abstractmethod
    def discount(self) -> discounts.Discount:
        """B, the discount of the rank alone."""

    def score(self, run: AlignedRun) -> Utility:
        """Return expected utility, cost and number of items for each query."""
        run.judgments.check_top_grade(self["max_rel"], str(self))
        is_small = len(run.query) <= FEW and len(run.judgments) <= FEW
        if is_small and self["unjudged"] == "worst":
            items, utility = self._items_of_few(run)
        else:
            items, utility = self._items_of_many(run)
        return Utility(
            value=utility / items,
            expected_total_utility=utility,
            expected_total_cost=items,
            expected_items=items,
        )

    def _items_of_few(self, run: AlignedRun) -> tuple[Floats, Floats]:
        """Return expected items and utility of a small run; the gains are computed once."""
        judgments, top, kind = run.judgments, self["max_rel"], self["gain"]

        def gains() -> Floats:
            # A query without a relevant document scores 0, though grades between 0 and 1 have a
            # gain.
            has_relevant = (judgments.m() > 0)[judgments.query]
            return np.where(
                has_relevant, discounts.gain(judgments.grade, top, kind), 0.0
            )

        r = judgments.cached(("gain", top, kind), gains)[run.doc]
        return discounts.cwl_of_few(
            run.query,
            run.rank,
            r,
            len(judgments),
            self.discount(),
            end=last_rank(self),
        )

    def _items_of_many(self, run: AlignedRun) -> tuple[Floats, Floats]:
        """Return expected items and utility of a run of any size."""
        return discounts.cwl(
            run.query,
            run.rank,
            gains_on_scale(self, run),
            self.discount(),
            end=last_rank(self),
            unjudged=np.full(len(run.judgments), unjudged_gain(self)),
        )


def unjudged_gain(measure: Measure) -> float:
    """Return the gain of an unjudged document under `unjudged='worst'` or `'best'`."""
    if measure["unjudged"] == "worst":
        return 0.0
    top = np.array([float(measure["max_rel"])])
    return float(discounts.gain(top, measure["max_rel"], measure["gain"])[0])


def gains_on_scale(measure: Measure, run: AlignedRun) -> Floats:
    """Return the gains of retrieved documents on a scale up to `max_rel`.

    With `unjudged='best'`, a document of a negative grade gains like an unjudged one, also where no
    judged one is relevant; else a C/W/L measure gives no gain where no document is relevant.
    """
    r = discounts.gain(run.grade, measure["max_rel"], measure["gain"])
    if measure["unjudged"] == "best":
        return np.where(run.is_judged, r, unjudged_gain(measure))
    if isinstance(measure, _CWL):
        return np.where((run.judgments.m() > 0)[run.query], r, 0.0)
    return r


_PHI = "persistence (0: only rank 1 is looked at)"  # the probability of going on


class CWL_ERR8(_CWL):
    """Expected utility per document of a user who stops when satisfied, or at rank k.

    Equation 8 of the source.

    The gain r_i of grade g is (2^g - 1) / 2^max_rel (``gain='exp'``) or g / max_rel (``'linear'``).
    ``unjudged='worst'`` gives unjudged documents no gain, ``'best'`` that of max_rel: the two bound
    the value (their difference is the residual). Yields ``ir_measures.CwlMetric`` with expected
    total utility (sum V r), cost and items (sum V).

    >>> from ir_lexirecall import CWL_ERR8
    >>> (CWL_ERR8(max_rel=1) @ 2).calc_aggregate({"q": {"a": 1}}, {"q": {"a": 2.0, "x": 1.0}})
    0.33333...
    """

    PRETTY_NAME: ClassVar[str] = "C/W/L ERR (Eq. 8)"
    ABOUT = _about(
        formula=rf"{_VALUE}, \quad C(i) = 1 - r_i \;(i < k)",
        use="when users stop at the first satisfying document or at rank k, and effort must be "
        "counted as in all C/W/L measures",
        example=Example(
            "CWL_ERR8(max_rel=1)@2",
            (1, 0),
            1 / 3,
            "r_1 = 1/2: V = 1, 1/2, so (1 x 1/2) / (1 + 1/2) = 1/3.",
        ),
        see_also=("CWL_ERR9", "CWL_ERR10", "CWL_ERR11", "GERR", "NERR8"),
    )

    def discount(self) -> discounts.Discount:
        """Return B(i) = 1: patience does not depend on the rank."""
        return discounts.UNIFORM


class CWL_ERR9(_CWL):
    """Like CWL_ERR8, for a user whose patience falls as 1/i.

    Equation 9 of the source.

    Gains, ``unjudged`` and what is yielded as in ``CWL_ERR8``.

    >>> from ir_lexirecall import CWL_ERR9
    >>> (CWL_ERR9(max_rel=1) @ 2).calc_aggregate({"q": {"a": 1}}, {"q": {"a": 2.0, "x": 1.0}})
    0.4
    """

    PRETTY_NAME: ClassVar[str] = "C/W/L ERR (Eq. 9)"
    ABOUT = _about(
        formula=rf"{_VALUE}, \quad C(i) = \frac{{i}}{{i + 1}} (1 - r_i) \;(i < k)",
        use="like CWL_ERR8, for users who lose patience with every rank as well; the closest to "
        "ERR of the four",
        example=Example(
            "CWL_ERR9(max_rel=1)@2",
            (1, 0),
            2 / 5,
            "r_1 = 1/2: V = 1, 1/2 x 1/2, so (1/2) / (1 + 1/4) = 2/5.",
        ),
        see_also=("CWL_ERR8", "CWL_ERR10", "CWL_ERR11", "GERR", "NERR9"),
    )

    def discount(self) -> discounts.Discount:
        """Return B(i) = 1/i."""
        return discounts.RECIPROCAL


class CWL_ERR10(_CWL):
    """Expected utility per document of a user with persistence phi who stops when satisfied.

    Equation 10 of the source, summed to infinity exactly.

    Gains, ``unjudged`` and what is yielded as in ``CWL_ERR8``.

    >>> from ir_lexirecall import CWL_ERR10
    >>> CWL_ERR10(phi=0.5, max_rel=1).calc_aggregate({"q": {"a": 1}}, {"q": {"a": 2.0}})
    0.33333...
    """

    PRETTY_NAME: ClassVar[str] = "C/W/L ERR (Eq. 10)"
    ABOUT = _about(
        formula=rf"{_VALUE}, \quad C(i) = \phi (1 - r_i)",
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
    params: dict[str, Any] = {
        "phi": Param(float, _PHI, default=0.7, least=0, below=1),
        **GAIN_ON_SCALE,
    }

    def discount(self) -> discounts.Discount:
        """Return B(i) = phi^(i-1)."""
        return discounts.geometric(self["phi"])


class CWL_ERR11(_CWL):
    """Expected utility per document of a user who wants gain T and stops when satisfied.

    Equation 11 of the source, summed to infinity exactly.

    Gains, ``unjudged`` and what is yielded as in ``CWL_ERR8``.

    >>> from ir_lexirecall import CWL_ERR11
    >>> CWL_ERR11(T=1, max_rel=1).calc_aggregate({"q": {"a": 1}}, {"q": {"x": 2.0}})
    0.0
    """

    PRETTY_NAME: ClassVar[str] = "C/W/L ERR (Eq. 11)"
    ABOUT = _about(
        formula=rf"{_VALUE}, \quad C(i) = \left(\frac{{i + 2T - 1}}{{i + 2T}}\right)^2 (1 - r_i)",
        symbols=f"{_SYMBOLS}; T: gain that the user hopes for; summed over infinitely many ranks, "
        f"exactly",
        use="when users want a certain amount of gain and stop when satisfied; larger T, deeper "
        "readers",
        example=Example(
            "CWL_ERR11(T=1,max_rel=1)",
            (1,),
            0.5 / (1 + 2 * (pi**2 / 6 - 1.25)),
            "r_1 = 1/2: V(i) = (1/2) (2/(i+1))^2 from rank 2 on, with the sum 2 (pi^2/6 - 5/4), "
            "so (1/2) / (1 + 0.7899).",
        ),
        see_also=("CWL_ERR8", "CWL_ERR9", "CWL_ERR10", "NERR11", "INSQ"),
    )
    params: dict[str, Any] = {
        "T": Param(
            float,
            "gain the user hopes for (0: only rank 1 is looked at)",
            default=1.35,
            least=0,
            most=discounts.MOST_HOPED_FOR,
            expects="a number of at least 0 and at most 1e300",
        ),
        **GAIN_ON_SCALE,
    }

    def discount(self) -> discounts.Discount:
        """Return B(i) = (2T / (i - 1 + 2T))^2."""
        return discounts.inverse_square(float(self["T"]))


class CWL_RBP(_CWL):
    """Expected utility per document of a user with persistence phi.

    Rank-biased precision with the gains of the ERR variants, summed to infinity exactly.

    Gains, ``unjudged`` and what is yielded as in ``CWL_ERR8``.

    >>> from ir_lexirecall import CWL_RBP
    >>> CWL_RBP(phi=0.5, max_rel=1).calc_aggregate({"q": {"a": 1}}, {"q": {"a": 2.0}})
    0.25
    """

    PRETTY_NAME: ClassVar[str] = "C/W/L Rank-Biased Precision"
    ABOUT = _about(
        formula=r"(1 - \phi) \sum_i \phi^{i-1} r_i",
        symbols=f"{_SYMBOLS}; phi: persistence",
        use="to compare rank-biased precision with the ERR variants, by the same gains: how much "
        "satisfaction changes",
        example=Example(
            "CWL_RBP(phi=0.5,max_rel=1)",
            (1,),
            1 / 4,
            "r_1 = 1/2: (1 - 1/2) x 1/2 = 1/4.",
        ),
        see_also=("CWL_ERR10", "RBP"),
    )
    params: dict[str, Any] = {
        "phi": Param(float, _PHI, default=0.6, least=0, below=1),
        **GAIN_ON_SCALE,
    }

    def discount(self) -> discounts.Discount:
        """Return B(i) = phi^(i-1), for a user who does not stop when satisfied."""
        return discounts.geometric(self["phi"])._replace(cascade=False)


class GERR(Measure):
    """ERR for any top grade and gain, with bounds for unjudged documents.

    The gain r of grade g is (2^g - 1) / 2^max_rel (``gain='exp'``) or g / max_rel (``'linear'``).
    ``unjudged='worst'`` gives unjudged documents no gain; ``'best'`` gives them that of max_rel,
    and has such documents follow the ranking, down to rank k or for ever: the two bound the value
    whatever the missing judgments are (their difference is the residual). ``GERR(max_rel=4)@k`` is
    ir_measures' ERR@k.

    The residual: Azzopardi, Mackenzie, Moffat, ICTIR 2021, doi 10.1145/3471158.3472239.

    >>> qrels, run = {"q": {"a": 1}}, {"q": {"x": 2.0, "a": 1.0}}
    >>> worst, best = GERR(max_rel=1) @ 2, GERR(max_rel=1, unjudged="best") @ 2
    >>> worst.calc_aggregate(qrels, run), best.calc_aggregate(qrels, run)
    (0.25, 0.625)
    """

    PRETTY_NAME: ClassVar[str] = "Expected Reciprocal Rank of Any Scale"
    PAGE: ClassVar[str] = "satisfied"
    RANGE = UNIT
    ABOUT = About(
        formula=r"\sum_{i} \frac{r_i}{i} \prod_{j<i} (1 - r_j)",
        symbols="r_i: gain of rank i, (2^g - 1)/2^max_rel of grade g (gain='exp') or g/max_rel "
        "('linear'); unjudged='best' gives "
        "unjudged documents the gain of max_rel: with 'worst' it bounds the value",
        zero=_ZERO,
        ties=_TIES,
        use="ERR for any scale of grades, and its residual; for ir_measures' ERR take max_rel=4",
        example=Example(
            "GERR(max_rel=1)@2",
            (None, 1),
            1 / 4,
            "r_2 = 1/2 at rank 2: (1/2) / 2 = 1/4.",
        ),
        source="chapelle2009",
        see_also=("ERR", "CWL_ERR9", "RR"),
    )
    params: dict[str, Any] = {"cutoff": cutoff(), **GAIN_ON_SCALE}

    def score(self, run: AlignedRun) -> Floats:
        """Return the expected reciprocal rank of each query."""
        top, kind = self["max_rel"], self["gain"]
        k, judgments, queries = last_rank(self), run.judgments, len(run.judgments)
        judgments.check_top_grade(top, str(self))
        looked_at = run.rank <= k
        query, rank = run.query[looked_at], run.rank[looked_at]
        r = discounts.gain(run.grade[looked_at], top, kind)
        if self["unjudged"] == "worst":
            return discounts.expected_reciprocal_rank(query, rank, r, queries)
        best = unjudged_gain(self)
        r = np.where(run.is_judged[looked_at], r, best)
        # ERR is the expected total utility of the C/W/L measure with B(i) = 1 / i.
        _, utility = discounts.cwl(
            query,
            rank,
            r,
            discounts.RECIPROCAL,
            end=k,
            unjudged=np.full(queries, best),
        )
        return utility
