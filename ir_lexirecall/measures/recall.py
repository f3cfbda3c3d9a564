"""Total search efficiency, lexicographic recall (Diaz et al., TORS 2026), and search lengths."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import comb, inf, perm
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ir_lexirecall._util.arrays import Floats, Ints, per_query_sum, ratio
from ir_lexirecall._util.errors import and_more
from ir_lexirecall.measures.about import RANKS, About, Example
from ir_lexirecall.measures.declaration import UNIT, Measure, looked_at
from ir_lexirecall.measures.parameters import COLLECTION_SIZE, Param, cutoff, rel

if TYPE_CHECKING:
    from ir_lexirecall.data.aligned_run import AlignedRun, Relevant

_EXACT = 2.0**53  # integers below are floats without rounding
_MANY = 96  # terms that are not made one by one any more
_FEW = 16  # queries for which big integers are quicker than arrays
# Relevant documents of one query from which exact binomials take too long.
_QUADRATIC = 512
# Bits of the first bounds of a fraction; doubled until its rounding is certain.
_PRECISION = 128
_FACTORS = 64  # of a product of ratios that are multiplied before they are rounded
EXPOSURES = ("AP", "RR", "nDCG", "RBP", "linear")


def exposure(name: str, *, p: float, n: int | None) -> Callable[[Floats], Floats]:
    """Return the exposure model of a name.

    `p` belongs to RBP's; `n`, the size of the collection, to the linear one.

    >>> exposure("nDCG", p=0.8, n=None)(np.array([1.0, 3.0, np.inf]))
    array([1. , 0.5, 0. ])
    """
    if name == "nDCG":
        return lambda rank: 1 / np.log2(rank + 1)
    if name == "RBP":
        return lambda rank: (1 - p) * p ** (rank - 1)
    if name == "linear":
        assert n is not None
        return lambda rank: 1 - rank / n
    return lambda rank: 1 / rank


class _Recall(Measure, register=False):
    PAGE: ClassVar[str] = "recall"
    RANGE = UNIT
    FAMILY: ClassVar[str] = "binary"

    def in_collection(self, run: AlignedRun) -> Relevant:
        """Return the retrieved relevant documents.

        It raises an error if `n` is too small for all relevant ones.
        """
        relevant = run.relevant(self["rel"], self["cutoff"])
        if self["n"] is not None:
            check_n(self, run, relevant.p_r + (relevant.m - relevant.r))
        return relevant


class TSE(_Recall):
    """Exposure of the last relevant document: how soon everything relevant has been seen.

    How soon is a user served who needs *every* relevant document? With the default exposure e(i) =
    1/i it is the reciprocal rank of the last one. A missing relevant document sits at the bottom of
    the collection (``impute='pessimistic'``: rank n, infinity without ``n``), or follows the
    ranking at once (``'optimistic'``). ``normalize=True`` gives (e(p_m) - e(n)) / (e(m) - e(n)).

    >>> from ir_lexirecall import TSE
    >>> qrels = {"q": {"a": 1, "b": 1}}
    >>> run = {"q": {"a": 3.0, "x": 2.0, "y": 1.5, "b": 1.0}}
    >>> TSE.calc_aggregate(qrels, run), TSE(exposure="nDCG").calc_aggregate(qrels, run)
    (0.25, 0.43067...)
    """

    PRETTY_NAME: ClassVar[str] = "Total Search Efficiency"
    ABOUT = About(
        formula=r"\mathrm{TSE}_e = e(p_m), \quad e(i) = \frac{1}{i}",
        symbols=f"{RANKS}; e(i): exposure of rank i (1/i, 1/log2(i+1), (1-p) p^(i-1) or 1 - i/n); "
        "a missing document has rank n, infinity without n (impute='pessimistic'), or follows the "
        "ranking at once ('optimistic')",
        zero="a relevant document is missing (with n, the value is e(n) instead), or the query has "
        "none",
        ties="the last relevant document stands at the same rank, wherever the others stand; all "
        "rankings that miss one, without n",
        use="when a user needs every relevant document: reviews, patents, law; and to see the "
        "worst-off user or provider",
        example=Example(
            "TSE",
            (1, 0, 0, 1),
            1 / 4,
            "The last relevant document has rank 4: e(4) = 1/4.",
        ),
        source="diaz2026",
        see_also=("LexiRecall", "SL3", "RE", "R", "RR"),
    )
    params: dict[str, Any] = {
        "cutoff": cutoff(),
        "rel": rel(),
        "exposure": Param(
            str,
            "exposure of rank i: 'AP'='RR' 1/i, 'nDCG' 1/log2(i+1), 'RBP' (1-p)p^(i-1), 'linear' "
            "1-i/n",
            default="AP",
            choices=EXPOSURES,
        ),
        "p": Param(
            float, "persistence of the exposure 'RBP'", default=0.8, above=0, below=1
        ),
        "n": COLLECTION_SIZE,
        "impute": Param(
            str,
            "rank of missing relevant documents: 'pessimistic': n; 'optimistic': right below the "
            "last one retrieved",
            default="pessimistic",
            choices=("pessimistic", "optimistic"),
        ),
        "normalize": Param(
            bool, "scale between the worst and the best value", default=False
        ),
    }

    def check_together(self) -> None:
        """Raise if linear exposure lacks the size of the collection."""
        if self["exposure"] == "linear" and self["n"] is None:
            raise ValueError(
                f"{self}: exposure='linear' needs n, the number of documents in the collection"
            )

    def score(self, run: AlignedRun) -> Floats:
        """Return the exposure of the last relevant document of each query."""
        n, k = self["n"], self["cutoff"]
        relevant = run.relevant(self["rel"], k)
        m, missing = relevant.m, relevant.m - relevant.r
        end = np.inf if n is None else float(n)
        bottom: Any = end  # where missing documents are
        if self["impute"] == "optimistic":
            bottom = looked_at(self, run) + missing
        p_m = np.where(missing == 0, relevant.p_r, bottom).astype(np.float64)
        if n is not None:
            check_n(self, run, np.maximum(relevant.p_r + missing, p_m))
        e, has_relevant = exposure(self["exposure"], p=self["p"], n=n), m > 0
        value = np.zeros(len(m))
        value[has_relevant] = e(p_m[has_relevant])
        if self["normalize"]:
            best, worst = e(m[has_relevant].astype(np.float64)), e(np.array([end]))
            value[has_relevant] = scaled(value[has_relevant], worst, best)
        return value


def scaled(value: Floats, worst: Floats, best: Floats) -> Floats:
    """Return values as shares of the way from the worst to the best, 1 if these are equal."""
    span = best - worst
    return np.divide(value - worst, span, out=np.ones(len(span)), where=span != 0)


class LexiRecall(_Recall):
    """Recall, refined by the rank of the last relevant document, then of the one before, and so on.

    ``form='nested'`` (default) is 1 only for the ideal ranking. It is computed with exact integers
    and rounded once, so a better ranking never gets a smaller number; but a float has 53 bits:
    rankings that share their whole tail can get the same one. ``ir_lexirecall.compare`` compares
    exactly.

    ``form='weighted'``: metric lexirecall (Eq. 12 of the source), exact rationals rounded once; it
    needs ``n``, takes ``eps``, and separates fewer rankings, because its weights shrink by 1/n from
    one recall level to the next.

    >>> from ir_lexirecall import LR
    >>> qrels = {"q": {"a": 1, "b": 1}}
    >>> LR.calc_aggregate(qrels, {"q": {"a": 3.0, "x": 2.0, "b": 1.0}})
    0.93333...
    """

    ALIASES: ClassVar[tuple[str, ...]] = ("LR",)
    PRETTY_NAME: ClassVar[str] = "Lexicographic Recall"
    ABOUT = About(
        formula=r"\mathrm{LR} = \frac{r + r / p^*}{m + 1}, \quad p^* = (p_r - 1) + \frac{N' + "
        r"1}{\binom{p_r - 1}{r - 1}}, \quad "
        r"N' = \sum_{i<r} \binom{p_i - 1}{i}",
        symbols=f"{RANKS}; N': how many placements of the first r - 1 are better; C(a, b): "
        "binomial coefficient; "
        "this number is the library's own, with the order of the source; the source's number (Eq. "
        "12) is form='weighted', which needs n",
        values="0 to 1; with r of m relevant documents retrieved, in (r/(m+1), (r+1)/(m+1)]",
        zero="no relevant document is retrieved, or the query has none",
        ties="only the same ranks of the relevant documents; rounded to a float, also rankings "
        "that share their whole tail "
        "(compare() tells them apart)",
        use="when recall comes first and ties of recall should still be decided: the last "
        "relevant document, then the one before",
        example=Example(
            "LR",
            (1, 0, 1),
            14 / 15,
            "r = m = 2, p_1 = 1, p_2 = 3: N' = C(0, 1) = 0, p* = 2 + 1/C(2, 1) = 2.5, so (2 + "
            "2/2.5) / 3 = 14/15.",
        ),
        source="diaz2026",
        see_also=("TSE", "R", "SL3", "RE"),
        caption="LR orders rankings as lexicographic recall does (Diaz et al. 2026).",
    )
    params: dict[str, Any] = {
        "cutoff": cutoff(),
        "rel": rel(),
        "form": Param(
            str,
            "'nested' (needs nothing) or 'weighted' (Eq. 12, needs n)",
            default="nested",
            choices=("nested", "weighted"),
        ),
        "n": COLLECTION_SIZE,
        "eps": Param(
            float,
            "of the form 'weighted': Delta = 1/(n+eps)",
            default=0.5,
            above=0,
            below=1,
        ),
    }

    def about(self) -> About:
        """Return the description of the chosen form."""
        if self["form"] == "nested":
            return self.ABOUT
        return replace(
            self.ABOUT,
            formula=r"\sum_{i=1}^{m} w_i \frac{n - p_i}{n}, \quad w_1 = \frac{\Delta^{m-1}}{(1 + "
            r"\Delta)^{m-1}}, \quad "
            r"w_i = \frac{\Delta^{m-i}}{(1 + \Delta)^{m+1-i}} \; (i > 1), \quad \Delta = "
            r"\frac{1}{n + \varepsilon}",
            plain="",
            symbols="m: relevant documents of the query; p_1 < ... < p_m: their ranks, of those "
            "that are missing the last of the n documents; Eq. 12 of the source",
            values="0 to (n - 1)/n; the ideal ranking has less than 1",
            zero="the query has no relevant document, or its only one has rank n; of several that "
            "are all missing, the value is above 0",
            ties="only the same ranks of the relevant documents; rounded to a float, more than the "
            "default form, for a weight is n "
            "times smaller than the next",
            use="to compare with values of the source; otherwise the default form, which has the "
            "same order and needs no n",
            example=Example(
                "LR(form='weighted',n=3)",
                (1, 0, 1),
                4 / 27,
                "m = 2, n = 3, D = 1/3.5, p_1 = 1, p_2 = 3: w_1 = 2/9, w_2 = 7/9, so 2/9 x 2/3 + "
                "7/9 x 0 = 4/27.",
            ),
            caption="",
        )

    def check_together(self) -> None:
        """Raise if the weighted form lacks the size of the collection."""
        if self["form"] == "weighted" and self["n"] is None:
            raise ValueError(
                f"{self}: form='weighted' needs n, the number of documents in the collection"
            )

    def score(self, run: AlignedRun) -> Floats:
        """Return lexicographic recall of each query, in the chosen form."""
        if self["form"] == "nested":
            return nested(run.relevant(self["rel"], self["cutoff"]))
        return weighted(self.in_collection(run), n=self["n"], eps=self["eps"])


class _SearchLength(_Recall, register=False):
    """Base of both search lengths; missing documents end the collection of n."""

    SMALLER_IS_BETTER: ClassVar[bool] = True
    RANGE = (0.0, inf)
    FAMILY: ClassVar[str] = "collections"
    params: dict[str, Any] = {"cutoff": cutoff(), "rel": rel(), "n": COLLECTION_SIZE}


class SL3(_SearchLength):
    """Nonrelevant documents that a user passes to find all relevant ones (smaller is better).

    Smaller is better, 0 is the ideal ranking, and comparisons take it so. The u missing documents
    of a query (below the cutoff, too) end the collection, at ranks n-u+1, ..., n; without ``n``, a
    value with a missing document is infinite, and so is a mean with it. A query without relevant
    documents scores 0.

    SL3 of Diaz, Ekstrand, Mitra, TORS 2026, Section 3.2, doi 10.1145/3728373.

    >>> from ir_lexirecall import SL3
    >>> SL3.calc_aggregate({"q": {"a": 1, "b": 1}}, {"q": {"a": 4.0, "x": 3.0, "y": 2.0, "b": 1.0}})
    2.0
    """

    PRETTY_NAME: ClassVar[str] = "Search Length of the Last Relevant Document"
    ABOUT = About(
        formula=r"\mathrm{SL3} = p_m - m",
        symbols=f"{RANKS}; missing documents stand at the end of the n documents, without n the "
        "value is infinite",
        values="0 to n - m, or infinite without n; smaller is better",
        zero="the ideal ranking, or a query without relevant documents",
        ties="the last relevant document stands at the same rank",
        use="when effort is the number of nonrelevant documents that a user passes to find "
        "everything; give n",
        example=Example(
            "SL3",
            (1, 0, 0, 1),
            2.0,
            "The last of m = 2 relevant documents has rank 4: 4 - 2 = 2.",
        ),
        source="cooper1968",
        see_also=("RE", "TSE"),
    )

    def score(self, run: AlignedRun) -> Floats:
        """Return the nonrelevant documents above the last relevant one of each query."""
        relevant, n = self.in_collection(run), self["n"]
        return np.where(
            relevant.r == relevant.m, relevant.p_r, np.inf if n is None else n
        ) - relevant.m.astype(np.float64)


class RE(_SearchLength):
    """Mean rank of the relevant documents, minus that of the ideal ranking (smaller is better).

    Smaller is better, 0 is the ideal ranking; ``n`` and missing documents as in ``SL3``.

    RE of Diaz, Ekstrand, Mitra, TORS 2026, Section 3.2, doi 10.1145/3728373.

    >>> from ir_lexirecall import RE
    >>> RE.calc_aggregate({"q": {"a": 1, "b": 1}}, {"q": {"a": 4.0, "x": 3.0, "y": 2.0, "b": 1.0}})
    1.0
    """

    PRETTY_NAME: ClassVar[str] = "Recall Error"
    ABOUT = About(
        formula=r"\mathrm{RE} = \frac{1}{m} \sum_{i=1}^{m} p_i - \frac{m + 1}{2}",
        symbols=f"{RANKS}; the u missing documents stand at ranks n-u+1, ..., n, without n the "
        "value is infinite",
        values="0 to n - m, or infinite without n; smaller is better",
        zero="the ideal ranking, or a query without relevant documents",
        ties="the same mean rank of the relevant documents",
        use="when effort counts on average over the relevant documents, not for the last one; "
        "give n",
        example=Example(
            "RE",
            (1, 0, 0, 1),
            1.0,
            "Mean rank (1 + 4)/2 = 2.5, ideal (1 + 2)/2 = 1.5: 2.5 - 1.5 = 1.",
        ),
        source="rocchio1966",
        see_also=("SL3", "TSE", "AP"),
    )

    def score(self, run: AlignedRun) -> Floats:
        """Return the mean rank of the relevant documents of each query, above the ideal one."""
        relevant, n = self.in_collection(run), self["n"]
        m, u = relevant.m, relevant.m - relevant.r
        if n is None:
            bottom = np.where(u > 0, np.inf, 0.0)
        else:
            bottom = u * (n - (u - 1) / 2)
        return ratio(
            per_query_sum(relevant.query, relevant.rank, len(m)) + bottom, m
        ) - np.where(m > 0, (m + 1) / 2, 0.0)


def check_n(measure: Measure, run: AlignedRun, needed: Ints | Floats) -> None:
    """Raise if `n` is below a rank in use."""
    over = np.flatnonzero(needed > measure["n"])
    if len(over):
        raise ValueError(
            f"{measure}: n={measure['n']} is smaller than rank {int(needed[over[0]])}, needed for "
            f"query "
            f"{run.judgments.query_ids[over[0]]!r}{and_more(len(over) - 1)}; n is the size of the "
            f"collection"
        )


def nested(relevant: Relevant) -> Floats:
    """Return LR = (r + r / p*) / (m + 1), p* = (p_r - 1) + (N' + 1) / C(p_r - 1, r - 1).

    N' = sum_{i<r} C(p_i - 1, i) counts the placements of the first r - 1 relevant documents that
    are better.
    """
    rank, m, r = relevant.rank, relevant.m, relevant.r
    value = np.zeros(len(m))
    start = r.cumsum() - r
    left = r.nonzero()[0]
    # All queries at once, as far as floats hold all integers on the way.
    if len(left) > _FEW:
        first, last = start[left], start[left] + r[left] - 1
        term = _binomials(rank - 1, relevant.level)
        term[last] = 0
        placements = _binomials(rank[last] - 1, r[left] - 1)
        with np.errstate(over="ignore", invalid="ignore"):
            # This is p* times `placements`.
            p_star = (rank[last] - 1) * placements + np.add.reduceat(term, first) + 1
            above, below = r[left] * (p_star + placements), (m[left] + 1) * p_star
            value[left] = above / below
            left = left[~((above < _EXACT) & (below < _EXACT))]
    # What has no width in a float: one query at a time, in a few big-integer operations.
    for q, begin, count in zip(
        left.tolist(), start[left].tolist(), r[left].tolist(), strict=True
    ):
        value[q] = nested_of_one(rank[begin : begin + count].tolist(), int(m[q]))
    return value


def nested_of_one(ranks: list[int], m: int) -> float:
    """Return LR of the ranks p_1 < ... < p_r of one query with m relevant documents.

    It is the exact value, rounded once. With many relevant documents, the fraction
    (N' + 1) / C(p_r - 1, r - 1) is not computed but bounded, more tightly until both bounds give
    the same float: LR falls with the fraction, so the exact value rounds to that float, too.
    """
    if len(ranks) <= _QUADRATIC:
        return _lr_of_fraction(ranks, m, *exact_fraction(ranks))
    p_r = ranks[-1]
    # C(p_r - 1, r - 1) is below 2^most_bits.
    most_bits = min(p_r, len(ranks) * p_r.bit_length())
    bits = _PRECISION
    while bits <= most_bits:
        low, high = fraction_bounds(ranks, bits)
        # The fraction is never 0.
        smallest = (low, 1 << bits) if low else (1, 1 << most_bits)
        highest_value = _lr_of_fraction(ranks, m, *smallest)
        lowest_value = _lr_of_fraction(ranks, m, high, 1 << bits)
        if lowest_value == highest_value:
            return lowest_value
        bits *= 2
    return _lr_of_fraction(ranks, m, *exact_fraction(ranks))


def _lr_of_fraction(
    ranks: list[int], m: int, numerator: int, denominator: int
) -> float:
    """Return (r + r / p*) / (m + 1), p* = (p_r - 1) + numerator / denominator, rounded once."""
    r, p_r = len(ranks), ranks[-1]
    p_star = (p_r - 1) * denominator + numerator  # times the denominator
    return (r * (p_star + denominator)) / ((m + 1) * p_star)


def exact_fraction(ranks: list[int]) -> tuple[int, int]:
    """Return N' + 1 and C(p_r - 1, r - 1), where N' is the sum over i < r of C(p_i - 1, i).

    The time grows with the square of the number of ranks.
    """
    r, p_r = len(ranks), ranks[-1]
    better = term = before = 0
    for i, p in enumerate(ranks[:-1], start=1):
        d = p - before - 1
        if r > _MANY and term and d < i:
            # Of many terms, each one is made from the one before:
            # C(n + 1, i) = C(n, i - 1) (n + 1) / i, and
            # C(n + d, i) = C(n, i) (n + d)...(n + 1) / ((n + d - i)...(n + 1 - i)).
            term = term * before // i * perm(p - 1, d) // perm(p - 1 - i, d)
        else:
            term = comb(p - 1, i)
        better += term
        before = p
    return better + 1, comb(p_r - 1, r - 1)


def fraction_bounds(ranks: list[int], bits: int) -> tuple[int, int]:
    """Return bounds of (N' + 1) / C(p_r - 1, r - 1) in units of 2^-bits.

    The terms of N' are added from the last one, i = r - 1, downwards. With the shares s_i = C(p_i,
    i) / C(p_r - 1, r - 1), the term of i is s_i (p_i - i) / p_i, and each share is made from the
    one of i + 1. What remains below i, with the 1 beside N', is at most s_i; it is s_i where the
    first i relevant documents have the ranks 1 to i, because C(i, i) = 1. So the sum can end as
    soon as s_i is negligible, which few terms need unless most documents are relevant. Each product
    is rounded down for the lower and up for the upper bound.
    """
    share = _Bounds(1 << bits, 1 << bits)
    low = high = 0
    # The share before a step has C(above, i) at the last term, and C(above, i + 1) below it.
    above = ranks[-1] - 1
    for i in range(len(ranks) - 1, -1, -1):
        p = ranks[i - 1] if i else 0
        if i < len(ranks) - 1:
            share = share.times(i + 1, above)  # C(above - 1, i) from C(above, i + 1)
            above -= 1
        share = share.lowered(p, above, i)  # C(p, i) from C(above, i)
        if p == i:
            return low + share.low, high + share.high
        if share.high <= 1:
            return low, high + share.high
        term = share.times(p - i, p)
        low, high = low + term.low, high + term.high
        above = p
    raise AssertionError("the share of i = 0 ends the sum")


@dataclass(frozen=True, slots=True)
class _Bounds:
    """A lower and an upper bound of a positive number, in small units."""

    low: int
    high: int

    def times(self, numerator: int, denominator: int) -> _Bounds:
        """Return bounds of the number times a positive ratio."""
        return _Bounds(
            self.low * numerator // denominator,
            -(-self.high * numerator // denominator),
        )

    def lowered(self, n: int, above: int, k: int) -> _Bounds:
        """Return bounds of x C(n, k) / C(above, k), where x is this number and n <= above.

        The ratio is the product of (j - k) / j over n < j <= above, and also that of
        (n - t) / (above - t) over 0 <= t < k. The one with fewer factors is taken.
        """
        if above - n <= k:
            top, below, count = above - k, above, above - n
        else:
            top, below, count = n, above, k
        bounds = self
        for start in range(0, count, _FACTORS):
            if bounds.high <= 1:
                return _Bounds(0, bounds.high)
            factors = min(_FACTORS, count - start)
            bounds = bounds.times(
                perm(top - start, factors), perm(below - start, factors)
            )
        return bounds


def _binomials(n: Ints, k: Ints) -> Floats:
    """C(n, k), exact below 2^53 and infinite from there on."""
    product = np.where(k > n, 0.0, 1.0)
    k = np.minimum(k, n - k)  # C(n, k) = C(n, n - k)
    open_ = np.arange(len(n))
    for j in range(1, int(k.max(initial=0)) + 1):
        open_ = open_[(k[open_] >= j) & (product[open_] < _EXACT)]
        if len(open_) == 0:
            break
        # C(n, j) = C(n, j - 1) (n - j + 1) / j: the product is exact below 2^53, and so is the
        # quotient.
        product[open_] = product[open_] * (n[open_] - j + 1)
        exact = product[open_] < _EXACT
        product[open_] = np.where(exact, product[open_] / j, np.inf)
    return product


def weighted(relevant: Relevant, *, n: int, eps: float) -> Floats:
    """Metric lexirecall (Diaz et al., Eq. 12): sum of w_i x_i with x_i = (n - p_i) / n.

    With Delta = 1 / (n + eps), w_1 = Delta^(m-1) / (1 + Delta)^(m-1) and w_i = Delta^(m-i) / (1 +
    Delta)^(m+1-i). The m - r missing documents take the last ranks, n - (m - r) + 1, ..., n.

    Writing N = 1 / Delta = u / v and A = u + v, the sum is
    (v^(m-1) X_1 + u sum_{i>=2} A^(i-2) v^(m-i) X_i) / (n A^(m-1)) with the integers X_i = n - p_i.
    """
    value, ranks, end = np.zeros(len(relevant.m)), relevant.rank.tolist(), 0
    u, v = (n + Fraction(eps)).as_integer_ratio()
    for q, (m, r) in enumerate(
        zip(relevant.m.tolist(), relevant.r.tolist(), strict=True)
    ):
        if not m:
            continue
        end += r
        p = ranks[end - r : end] + list(range(n - (m - r) + 1, n + 1))
        tail, power = 0, 1  # the sum over i >= 2, and A^(i-2)
        for p_i in p[1:]:
            tail = tail * v + (n - p_i) * power
            power *= u + v
        value[q] = (v ** (m - 1) * (n - p[0]) + u * tail) / (n * power)
    return value
