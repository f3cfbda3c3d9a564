"""Significance tests and their results: what each has to declare, and to return.

A ``Procedure`` is declared beside its arithmetic and named in ``testing.TESTS``. Here are also
intervals that agree with p, corrections for several comparisons, and verdicts with a margin.
"""

from __future__ import annotations

import difflib
import importlib.util
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from ir_lexirecall._util.arrays import (
    Bools,
    Bounds,
    Floats,
    Ints,
    dividing_by_zero,
    row_blocks,
)
from ir_lexirecall._util.blocks import BLOCK
from ir_lexirecall._util.errors import entry, required
from ir_lexirecall._util.progress import progress_bar
from ir_lexirecall._util.rounding import DIFFERENCE, same, settled
from ir_lexirecall.significance.verdict import Verdict

MEAN_DIFFERENCE = "mean difference"
"""What a test of means estimates, in words."""

Groups = tuple[str, ...] | None


class Arrays:
    """Base of results that are arrays with a number for each pair.

    An index selects the same pairs of all arrays.
    """

    @property
    def arrays(self) -> list[Floats]:
        """The arrays in the order of the attributes."""
        return list(vars(self).values())

    def __getitem__(self, index: Any) -> Self:
        return type(self)(*(array[index] for array in self.arrays))

    @classmethod
    def concatenate(cls, results: Sequence[Self]) -> Self:
        """Return one result with the pairs of several, in order."""
        if not results:
            return cls(*(np.zeros(0) for _ in fields(cls)))  # type: ignore[arg-type]  # dataclasses
        arrays = zip(*(result.arrays for result in results), strict=True)
        return cls(*(np.concatenate(of_results) for of_results in arrays))


@dataclass(frozen=True)
class TestResult(Arrays):
    """Estimates with their intervals, p-values and effect sizes: arrays of one shape.

    Attributes:
        estimate: of the difference; its kind depends on the test (see ``SignificanceTest``).
        low, high: ends of its interval at confidence 1 - alpha. It leaves out 0 exactly if p <=
            alpha.
        p: p-value, before any correction.
        effect_size: of no unit: (wins - losses) / (wins + losses) for the sign test, the
            matched-pairs rank-biserial correlation for Wilcoxon's, else mean / standard deviation
            of the differences (Cohen's d_z).

    >>> result = TestResult(*np.arange(15).reshape(5, 3))
    >>> result[1:].p
    array([10, 11])
    """

    estimate: Floats
    low: Floats
    high: Floats
    p: Floats
    effect_size: Floats

    __test__ = False  # not one of pytest's


@dataclass(frozen=True)
class Sides(Arrays):
    """Results of a test of P pairs, at K shifts: arrays that may be written to.

    Attributes:
        above, below: p of theta <= -shift, and of theta >= shift, shape ``(K, P)``.
        p: two-sided, of theta = 0, shape ``(P,)``.
        mean: of the differences; exactly 0 where wins and losses of one magnitude balance.
        low, high: ends of the interval, if a level was given, shape ``(P,)``.
    """

    above: Floats
    below: Floats
    p: Floats
    mean: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True)
class Resampled:
    """How many resamples are drawn, with which seed, and whether a bar shows how far it is."""

    number: int = 10_000
    seed: int = 0
    progress: bool | None = False

    def blocks(self, total: int, width: int, label: str) -> Iterator[slice]:
        """Yield slices of resamples that hold a bounded number of values each."""
        with progress_bar(self.progress, total=total, desc=label) as bar:
            for block in row_blocks(total, width, BLOCK):
                yield block
                bar.update(block.stop - block.start)


DEFAULT_DRAWS = Resampled()
_SMALLEST = 1e-140  # magnitude whose square is a normal number, with all its digits


class PairTest(Protocol):
    """The arithmetic of a test: what ``SignificanceTest`` asks of every procedure.

    Differences of P pairs on Q queries have the shape ``(P, Q)``. But for signs, they come scaled:
    the largest magnitude of a row lies in [1/2, 1). ``groups``, a label for each query, are the
    units of tests that take them; None: queries are.
    """

    def two_sided(
        self, x: Floats, alpha: float, draws: Resampled, groups: Groups
    ) -> TestResult:
        """Test 0, with an interval at 1 - alpha."""
        ...

    def one_sided(
        self, x: Floats, shifts: Floats, draws: Resampled, groups: Groups
    ) -> tuple[Floats, Floats]:
        """Return p of theta <= -shift and of theta >= shift, for shifts of 0 or more, (K, P)."""
        ...


@dataclass(frozen=True)
class MirroredTest:
    """The arithmetic of a test with a null distribution of its own, the same for x and -x.

    Its units are queries.

    Attributes:
        of_zero: the test of 0 with an interval at 1 - alpha.
        p: p of theta <= -shift, shape ``(K, P)``.
    """

    of_zero: Callable[[Floats, float, Resampled], TestResult]
    p: Callable[[Floats, Floats], Floats]

    def two_sided(
        self, x: Floats, alpha: float, draws: Resampled, groups: Groups
    ) -> TestResult:
        """Test 0, with an interval at 1 - alpha."""
        return self.of_zero(x, alpha, draws)

    def one_sided(
        self, x: Floats, shifts: Floats, draws: Resampled, groups: Groups
    ) -> tuple[Floats, Floats]:
        """Return p of both sides at each shift."""
        return self.p(x, shifts), self.p(-x, shifts)


class AllAtOnce:
    """The arithmetic of a test of all systems at once, which has nothing to say of single pairs."""

    def two_sided(
        self, x: Floats, alpha: float, draws: Resampled, groups: Groups
    ) -> TestResult:
        """Refuse single pairs."""
        raise ValueError("Tukey's HSD tests all systems at once; call of_all")

    def one_sided(
        self, x: Floats, shifts: Floats, draws: Resampled, groups: Groups
    ) -> tuple[Floats, Floats]:
        """Refuse single pairs."""
        raise ValueError(
            "Tukey's HSD tests all systems at once; call margin_test_of_all"
        )


Kernel = Callable[[Floats, Floats, float | None, Resampled], Sides]
"""A test of differences, shape ``(P, Q)``, at shifts, shape ``(K, P)``, the first of which is 0.

Its interval is at 1 - alpha; None for no interval.
"""


@dataclass(frozen=True)
class Procedure:
    """A significance test: how it is computed, and how it is described.

    Attributes:
        name: as users write it, ``test='wilcoxon'``.
        title: as sentences call it.
        meaning, plain, ties, use, see_also: as in ``About``.
        of: what theta is: the mean difference; of signs, the share of decided queries won less that
            lost, whatever the size of the differences; or another centre of them.
        pairs: the arithmetic.
        estimate, effect: theta and the effect size in words.
        exact: queries up to which p is that of all assignments of signs.
        resampled: whether random numbers may be drawn.
        also_called: names that users may expect.
    """

    name: str
    title: str
    meaning: str
    plain: str
    use: str
    see_also: tuple[str, ...]
    pairs: PairTest
    ties: str = "tied queries count as differences of 0"
    of: Literal["mean", "signs", "centre"] = "mean"
    estimate: str = MEAN_DIFFERENCE
    effect: str = "mean / standard deviation of the differences (Cohen's d_z)"
    exact: float = 0
    resampled: bool = False
    also_called: tuple[str, ...] = ()

    @property
    def at_once(self) -> bool:
        """Whether all systems are tested at once."""
        return isinstance(self.pairs, AllAtOnce)


def two_sided(above: Floats, below: Floats) -> Floats:
    """Return two-sided p from both one-sided ones: twice the smaller.

    >>> two_sided(np.array([0.01, 0.6]), np.array([0.995, 0.7]))
    array([0.02, 1.  ])
    """
    return np.minimum(1, 2 * np.minimum(above, below))


def kth_largest(values: Floats, k: int) -> Floats:
    """Return the k-th largest value of each row; infinity if k is 0.

    >>> kth_largest(np.array([[3.0, 1.0, 2.0]]), 2)
    array([2.])
    """
    if k == 0:
        return np.full(len(values), np.inf)
    index = values.shape[1] - k
    return np.partition(values, index, axis=1)[:, index]


def scaled(x: Floats) -> tuple[Floats, Ints]:
    """Return each row times the power of two that brings its largest magnitude into [1/2, 1).

    Multiplying by a power of two rounds nothing. Later computations neither over- nor underflow,
    and thresholds are relative to the row.

    Returns:
        The rows, and the exponents of the powers that give them back, shape ``(P, 1)``.

    >>> scaled(np.array([[3.0, -4.0], [0.0, 0.0]]))
    (array([[ 0.375, -0.5  ],
           [ 0.   ,  0.   ]]), array([[3],
           [0]]...))
    """
    _, exponent = np.frexp(np.abs(x).max(axis=1, initial=0, keepdims=True))
    return np.ldexp(x, -exponent), exponent


def less_shared(values: Sequence[Floats]) -> tuple[list[Floats], int]:
    """Return values less the smallest on each query, scaled by a power of two to at most 1.

    What all runs share on a query changes no difference; without it, rounding errors are smaller.

    Args:
        values: of S runs on the queries of each of D collections, shape ``(S, Q_d)`` each; NaN
            where missing, which they stay.

    Returns:
        The values, and the exponent of the power that gives differences back.

    >>> less_shared([np.array([[104.0, 7.0], [100.0, 9.0]])])
    ([array([[0.5 , 0.  ],
           [0.  , 0.25]])], 3)
    """
    above_lowest = [x - np.fmin.reduce(x, axis=0) for x in values]
    largest = max(
        float(np.fmax.reduce(x, axis=None, initial=0.0)) for x in above_lowest
    )
    exponent = int(np.frexp(largest)[1])
    return [np.ldexp(x, -exponent) for x in above_lowest], exponent


def moved(x: Floats, shift: Floats) -> Floats:
    """Return each row plus its shift, shape ``(P, 1)``; rounding errors become 0.

    >>> moved(np.array([[0.79 - 0.8, 0.02]]), np.array([[0.01]]))
    array([[0.  , 0.03]])
    """
    return settled(x + shift, np.maximum(np.abs(x), np.abs(shift)))


def effect_of_mean(x: Floats) -> Floats:
    """Return Cohen's d_z of each row, mean / standard deviation; 0 for fewer than 2 queries.

    >>> effect_of_mean(np.array([[1.0, 3.0, 2.0], [0.5, 0.5, 0.5], [0.0, 0.0, 0.0]]))
    array([ 2., inf,  0.])
    """
    mean, deviation = mean_and_deviation(x)
    with dividing_by_zero():
        return np.where((mean == 0) | np.isnan(deviation), 0.0, mean / deviation)


def mean_and_deviation(x: Floats) -> tuple[Floats, Floats]:
    """Return mean and standard deviation (ddof 1) of each row.

    Rows of one number have exactly that mean. Those of one number but for rounding have a deviation
    of 0. The deviation of one query is NaN, and so are both numbers without any query.

    >>> mean_and_deviation(np.array([[0.4 - 0.3, 0.6 - 0.5], [0.0, 0.2]]))[1].round(3)
    array([0.   , 0.141])
    """
    if x.shape[1] == 0:
        return np.full(len(x), np.nan), np.full(len(x), np.nan)
    least, most = x.min(axis=1), x.max(axis=1)
    mean = np.where(least == most, x[:, 0], x.mean(axis=1))
    if x.shape[1] < 2:
        return mean, np.full(len(x), np.nan)
    size = np.maximum(np.abs(least), np.abs(most))
    is_constant = same(least, most, size, DIFFERENCE)
    return mean, np.where(is_constant, 0.0, _deviation(x, size))


def _deviation(x: Floats, size: Floats) -> Floats:
    """Return the standard deviation of each row, also where squares over- or underflow.

    Args:
        x: the rows, shape ``(P, Q)``.
        size: the largest magnitude of each row.
    """
    has_squares = (size == 0) | ((size > _SMALLEST) & (size < 1 / _SMALLEST))
    if has_squares.all():
        deviation: Floats = x.std(axis=1, ddof=1)
        return deviation
    x, exponent = scaled(x)
    return np.ldexp(x.std(axis=1, ddof=1), exponent[:, 0])


def check_squares(arrays: Iterable[Floats], name: str = "a measure") -> None:
    """Check that variances can be computed: squares of the numbers neither over- nor underflow.

    Raises:
        ValueError: the largest magnitude is above 1e140, or below 1e-140, but not 0.
    """
    largest = max((float(np.abs(x).max(initial=0.0)) for x in arrays), default=0.0)
    if largest and not _SMALLEST < largest < 1 / _SMALLEST:
        raise ValueError(
            f"values of {name} up to {largest:.2g} have no variance in floating point; give them "
            "in another unit"
        )


def most_extreme(n_resamples: int, alpha: float) -> int:
    """Return how many resamples may be as extreme as the sample, which counts too, for p <= alpha.

    With p = (1 + count) / (1 + n_resamples), a test rejects if count is below this number k. So its
    interval ends at the k-th most extreme resample. If k is 0, no p is that small, and the interval
    has no ends.

    >>> most_extreme(9999, 0.05), most_extreme(19, 0.05), most_extreme(18, 0.05)
    (500, 1, 0)
    """
    # The very division that gives p, so that both round alike.
    p = np.arange(1, n_resamples + 1) / (n_resamples + 1)
    return int(np.searchsorted(p, alpha, side="right"))


def agreeing(result: TestResult, alpha: float, bounds: Bounds | None) -> TestResult:
    """Return the result with intervals cut at bounds, which leave out 0 exactly if p <= alpha.

    Test and interval agree by construction but for rounding errors, and for p = alpha. Then the
    test rejects, and the closed interval ends at 0; that end becomes the next number.
    """
    low, high = result.low, result.high
    if bounds is not None:
        low, high = np.clip(low, *bounds), np.clip(high, *bounds)
    rejects = result.p <= alpha
    is_gain = rejects & (result.estimate > 0)
    is_loss = rejects & ~is_gain
    smallest = np.nextafter(0.0, 1.0)
    low = np.where(is_gain, np.maximum(low, smallest), low)
    high = np.where(is_loss, np.minimum(high, -smallest), high)
    low = np.where(rejects, low, np.minimum(low, 0.0))
    high = np.where(rejects, high, np.maximum(high, 0.0))
    return TestResult(result.estimate, low, high, result.p, result.effect_size)


# -- several comparisons ---------------------------------------------------------------------------


STATSMODELS_CORRECTIONS = (
    "bonferroni",
    "fdr_bh",
    "fdr_by",
    "sidak",
    "holm-sidak",
    "simes-hochberg",
    "hommel",
    "fdr_tsbh",
    "fdr_tsbky",
    "fdr_gbs",
    "lfdr",
)
"""Corrections that ``multipletests`` of statsmodels computes, known without statsmodels, too."""
_CORRECTION_ALIASES = {
    *("b", "bonf", "s", "h", "hs", "sh", "ho", "lfdr_sl", "fdrcorr", "fdr_twostage"),
    *("fdr_i", "fdr_p", "fdri", "fdrp", "fdr_n", "fdr_c", "fdrn"),
    *("fdr_2sbh", "fdr_2sbky"),
}
"""Further names by which ``multipletests`` knows them."""
_CORRECTIONS_ELSEWHERE = {
    **dict.fromkeys(("bh", "fdr", "benjamini-hochberg"), "fdr_bh"),
    **dict.fromkeys(("by", "benjamini-yekutieli"), "fdr_by"),
    **dict.fromkeys(("holm-bonferroni", "bonferroni-holm"), "holm"),
    "hochberg": "simes-hochberg",
}
"""What R and papers call some of them."""


def check_correction(method: str | None) -> None:
    """Check that a correction is None, 'holm' or a method of statsmodels' ``multipletests``.

    The names are known whether or not statsmodels is installed, so that a misspelt one is refused
    at once, and never answered by asking for an installation.

    Raises:
        ValueError: unknown correction.

    >>> check_correction("Holm")
    Traceback (most recent call last):
    ...
    ValueError: unknown correction 'Holm'; choose from holm, ...; did you mean 'holm'?
    """
    names = ["holm", *STATSMODELS_CORRECTIONS]
    if method is None or (
        isinstance(method, str) and method in {*names, *_CORRECTION_ALIASES}
    ):
        return
    choices = ", ".join([*names, "None (no correction)"])
    hint = ""
    if isinstance(method, str):
        hint = _meant_correction(method, names)
    raise ValueError(f"unknown correction {method!r}; choose from {choices}{hint}")


def _meant_correction(method: str, names: Sequence[str]) -> str:
    """Return a hint at the correction that a misspelt name stands for; empty if none is near."""
    plain = method.strip().lower()
    if plain in ("", "none", "no", "off"):
        return "; for no correction, pass None"
    nearest = plain if plain in names else ""
    nearest = _CORRECTIONS_ELSEWHERE.get(re.sub(r"[\s_]+", "-", plain), nearest)
    if not nearest:
        nearest = next(iter(difflib.get_close_matches(plain, names, 1, 0.7)), "")
    if not nearest:
        return ""
    is_missing = nearest != "holm" and importlib.util.find_spec("statsmodels") is None
    return f"; did you mean {nearest!r}{' (needs statsmodels)' if is_missing else ''}?"


@entry
def corrected(p: Floats, method: str | None, alpha: float) -> tuple[Floats, Bools]:
    """Return p-values adjusted for the family of comparisons, and which are rejected.

    All but the default, Holm's, are computed by ``multipletests`` of statsmodels.

    Args:
        p: p-values of one family, shape ``(P,)``.
        method: ``'holm'``, another name that ``multipletests`` knows, or None: p as it is.
        alpha: level of the family (or false discovery rate).

    Raises:
        ValueError: unknown correction.
        ModuleNotFoundError: statsmodels is not installed.

    Source: Holm, A Simple Sequentially Rejective Multiple Test Procedure, Scandinavian Journal of
    Statistics 1979.

    >>> corrected(np.array([0.04, 0.01]), "holm", 0.05)
    (array([0.04, 0.02]), array([ True,  True]))
    """
    if method is None or len(p) == 0:
        return p, p <= alpha
    if method == "holm":
        return _by_holm(p, alpha)
    check_correction(method)
    label = f"the correction {method!r}, unlike 'holm' and None,"
    statsmodels = required(
        "statsmodels.stats.multitest", label, "statsmodels", "compare"
    )
    is_missing = np.isnan(p)
    rejects, adjusted, *_ = statsmodels.multipletests(
        np.where(is_missing, 1.0, p), alpha=alpha, method=method
    )
    return np.where(is_missing, np.nan, adjusted), rejects & ~is_missing


def _by_holm(p: Floats, alpha: float) -> tuple[Floats, Bools]:
    """Return p-values adjusted by Holm's correction, and which are rejected.

    The smallest p counts against all comparisons, the next one against the remaining ones, and so
    on.
    """
    order = np.argsort(p)
    n_remaining = np.arange(len(p), 0, -1)
    adjusted, rejects = np.empty(len(p)), np.empty(len(p), dtype=bool)
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * n_remaining), 1)
    rejects[order] = np.logical_and.accumulate(p[order] <= alpha / n_remaining)
    return adjusted, rejects


# -- margins ---------------------------------------------------------------------------------------

VERDICTS = tuple(verdict.value for verdict in Verdict)


@dataclass(frozen=True)
class MarginTest(Arrays):
    """One-sided p-values of pairs, arrays of one shape, before any correction."""

    better: Floats  # of no improvement
    worse: Floats  # of no loss
    not_worse: Floats  # of a loss of at least the margin
    within: Floats  # of a loss or a gain of at least the margin, the larger of both p


def margin_verdicts(tested: MarginTest, alpha: float) -> NDArray[np.str_]:
    """Return verdicts with a margin, the first that holds for each pair.

    A margin D > 0 is a difference that does not matter, in the unit of the test's estimate. For
    differences turned such that positive is better, and theta what the test estimates:

    ==============  =================  ======================================================
    verdict         what is rejected   one-sided bounds at 1 - alpha
    ==============  =================  ======================================================
    worse           theta >= 0         upper bound < 0
    better          theta <= 0         lower bound > 0
    within margin   |theta| >= D       both inside -D ... D (two one-sided tests)
    not worse       theta <= -D        lower bound > -D (non-inferior)
    undecided       nothing
    ==============  =================  ======================================================

    A loss that is surely there is *worse*, even if it is surely less than D. `compare` gives
    the two-sided p for *better*, so that a margin never turns no significant difference into
    *better*.

    Args:
        tested: p-values; correct those that are to hold for a family (``worse``, over all criteria)
            before, with ``dataclasses.replace``. ``not_worse`` needs no correction if all criteria
            must pass.
        alpha: level of each.

    >>> better, worse = [0.9, 0.6, 0.9, 0.01], [0.01, 0.4, 0.5, 0.99]
    >>> not_worse, within = [1.0, 0.01, 0.01, 0.0], [1.0, 0.03, 0.2, 0.3]
    >>> tested = MarginTest(*np.array([better, worse, not_worse, within]))
    >>> margin_verdicts(tested, 0.05).tolist()
    ['worse', 'within margin', 'not worse', 'better']
    """
    p = [tested.worse, tested.better, tested.within, tested.not_worse]
    return np.select([np.asarray(one) <= alpha for one in p], VERDICTS[:4], VERDICTS[4])
