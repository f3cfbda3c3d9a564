"""What a significance test is and gives: a ``Procedure``, declared beside its arithmetic and named in ``testing.TESTS``; intervals that
agree with p; corrections for several comparisons; verdicts with a margin."""

from __future__ import annotations

import difflib
import importlib.util
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from ir_lexirecall._util.arrays import Bools, Floats, Ints, row_blocks
from ir_lexirecall._util.blocks import BLOCK
from ir_lexirecall._util.errors import entry, required
from ir_lexirecall._util.progress import progress_bar
from ir_lexirecall._util.rounding import settled
from ir_lexirecall.significance.verdict import Verdict

Bounds = tuple[float, float]


class Arrays:
    """Base of results that are arrays of one number per pair; an index selects the same pairs of all of them."""

    @property
    def arrays(self) -> list[Floats]:
        """The arrays in the order of the attributes."""
        return list(vars(self).values())

    def __getitem__(self, index: Any) -> Self:
        return type(self)(*(array[index] for array in self.arrays))

    @classmethod
    def concatenate(cls, results: Sequence[Self]) -> Self:
        """One result of the pairs of several, in order; without any, a result of no pairs."""
        if not results:
            return cls(*(np.zeros(0) for _ in fields(cls)))  # type: ignore[arg-type]  # subclasses are dataclasses
        return cls(
            *(np.concatenate(arrays) for arrays in zip(*(r.arrays for r in results), strict=True))
        )


@dataclass(frozen=True)
class TestResult(Arrays):
    """Estimates with their intervals, p-values and effect sizes: arrays of one shape, a number per pair.

    Attributes:
        estimate: of the difference; its kind depends on the test (see ``SignificanceTest``).
        low, high: ends of its interval at confidence 1 - alpha. It leaves out 0 exactly where p <=
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
    """What a test says of P pairs, at K shifts: arrays that may be written to.

    Attributes:
        above, below: p of theta <= -shift, and of theta >= shift, shape ``(K, P)``.
        p: two-sided, of theta = 0, shape ``(P,)``.
        mean: of the differences; exactly 0 where wins and losses of one magnitude balance.
        low, high: ends of the interval, where a level was given, shape ``(P,)``.
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

    def blocks(self, total: int, width: int, what: str) -> Iterator[slice]:
        """Slices of resamples that hold a bounded number of values each."""
        with progress_bar(self.progress, total=total, desc=what) as bar:
            for some in row_blocks(total, width, BLOCK):
                yield some
                bar.update(some.stop - some.start)


Kernel = Callable[[Floats, Floats, float | None, Resampled], Sides]
"""A test of differences, shape ``(P, Q)``, at shifts, shape ``(K, P)``, the first of which is 0; with an interval at 1 - alpha, or none."""


@dataclass(frozen=True)
class Procedure:
    """A significance test: all that is computed and said of it.

    Attributes:
        name: as users write it, ``test='wilcoxon'``.
        title: as sentences call it.
        meaning, plain, ties, use, see_also: as in ``About``.
        of: what theta is: the mean difference; of signs, the share of decided queries won less that
            lost, whatever the size of the differences; or another centre of them.
        kernel: of a test of means, a ``Kernel``; rows of one magnitude have a test of their own.
        two_sided, one_sided: of any other one, given differences, shape ``(P, Q)``: the test of 0
            with an interval at 1 - alpha; p of theta <= -shift and of theta >= shift, of shifts of
            0 or more, shape ``(K, P)``.
        estimate, effect: theta and the effect size in words.
        exact: queries up to which p is that of all assignments of signs.
        resampled: whether random numbers may be drawn.
        also_called: names that users may expect.

    But for signs, differences come scaled: the largest magnitude of a row lies in [1/2, 1). Without
    any of the three functions, all systems are tested at once.
    """

    name: str
    title: str
    meaning: str
    plain: str
    use: str
    see_also: tuple[str, ...]
    ties: str = "tied queries count as differences of 0"
    of: Literal["mean", "signs", "centre"] = "mean"
    kernel: Kernel | None = None
    two_sided: Callable[[Floats, float, Resampled], TestResult] | None = None
    one_sided: Callable[[Floats, Floats, Resampled], tuple[Floats, Floats]] | None = None
    estimate: str = "mean difference"
    effect: str = "mean / standard deviation of the differences (Cohen's d_z)"
    exact: float = 0
    resampled: bool = False
    also_called: tuple[str, ...] = ()

    @property
    def at_once(self) -> bool:
        """Whether all systems are tested at once."""
        return self.kernel is None and self.two_sided is None


def two_sided(above: Floats, below: Floats) -> Floats:
    """Two-sided p from both one-sided ones: twice the smaller.

    >>> two_sided(np.array([0.01, 0.6]), np.array([0.995, 0.7]))
    array([0.02, 1.  ])
    """
    return np.minimum(1, 2 * np.minimum(above, below))


def kth_largest(values: Floats, k: int) -> Floats:
    """Of each row; of ``most_extreme`` resamples none, for k = 0, it is infinite.

    >>> kth_largest(np.array([[3.0, 1.0, 2.0]]), 2)
    array([2.])
    """
    if k == 0:
        return np.full(len(values), np.inf)
    place = values.shape[1] - k
    return np.partition(values, place, axis=1)[:, place]


def scaled(x: Floats) -> tuple[Floats, Ints]:
    """Each row of ``x`` times the power of two that brings its largest magnitude into [1/2, 1), and its exponent.

    Multiplying by a power of two rounds nothing: what follows neither over- nor underflows, and
    every threshold below it is relative to the row.

    >>> scaled(np.array([[3.0, -4.0], [0.0, 0.0]]))
    (array([[ 0.375, -0.5  ],
           [ 0.   ,  0.   ]]), array([[3],
           [0]]...))
    """
    exponent = np.frexp(np.abs(x).max(axis=1, initial=0, keepdims=True))[1]
    return np.ldexp(x, -exponent), exponent


def moved(x: Floats, shift: Floats) -> Floats:
    """``x`` plus a shift (of each row, shape ``(P, 1)``), and 0 where only rounding is left.

    >>> moved(np.array([[0.79 - 0.8, 0.02]]), np.array([[0.01]]))
    array([[0.  , 0.03]])
    """
    return settled(x + shift, np.maximum(np.abs(x), np.abs(shift)))


def effect_of_mean(x: Floats) -> Floats:
    """Cohen's d_z of each row of differences, shape ``(P, Q)``: mean / standard deviation; 0 for fewer than 2 queries.

    >>> effect_of_mean(np.array([[1.0, 3.0, 2.0], [0.5, 0.5, 0.5], [0.0, 0.0, 0.0]]))
    array([ 2., inf,  0.])
    """
    mean, deviation = mean_and_deviation(x)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((mean == 0) | np.isnan(deviation), 0.0, mean / deviation)


def mean_and_deviation(x: Floats) -> tuple[Floats, Floats]:
    """Return mean and standard deviation (ddof 1) of each row.

    Rows of one number have exactly that mean, and a deviation of 0. The deviation of one query is
    NaN, and so are both numbers where there are no queries.
    """
    if x.shape[1] == 0:
        return np.full(len(x), np.nan), np.full(len(x), np.nan)
    constant = np.all(x == x[:, :1], axis=1)
    mean = np.where(constant, x[:, 0], x.mean(axis=1))
    if x.shape[1] < 2:
        return mean, np.full(len(x), np.nan)
    return mean, np.where(constant, 0.0, x.std(axis=1, ddof=1))


def most_extreme(n_resamples: int, alpha: float) -> int:
    """How many of the resamples, the observed sample counted with them, may be as extreme where p <= alpha.

    With p = (1 + count) / (1 + n_resamples), a test rejects where count is below this number k, and
    so the k-th most extreme resample is where its interval ends; 0: no p is that small, and the
    interval has no ends.

    >>> most_extreme(9999, 0.05), most_extreme(19, 0.05), most_extreme(18, 0.05)
    (500, 1, 0)
    """
    p = np.arange(1, n_resamples + 1) / (n_resamples + 1)  # the very division that gives p
    return int(np.searchsorted(p, alpha, side="right"))


def agreeing(result: TestResult, alpha: float, bounds: Bounds | None) -> TestResult:
    """The result with intervals cut at ``bounds``, and with ends that leave out 0 exactly where p <= alpha.

    Test and interval agree by construction. What is mended here is rounding, and the case p =
    alpha, which rejects, while
    the end of a closed interval is 0: it becomes the next number.
    """
    low, high = result.low, result.high
    if bounds is not None:
        low, high = np.clip(low, *bounds), np.clip(high, *bounds)
    reject, above, smallest = result.p <= alpha, result.estimate > 0, np.nextafter(0.0, 1.0)
    low = np.where(reject, np.where(above, np.maximum(low, smallest), low), np.minimum(low, 0.0))
    high = np.where(
        reject, np.where(above, high, np.minimum(high, -smallest)), np.maximum(high, 0.0)
    )
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
"""Names of corrections that ``multipletests`` of statsmodels computes, known without statsmodels, too."""
_CORRECTION_ALIASES = frozenset(
    {"b", "bonf", "s", "h", "hs", "sh", "ho", "lfdr_sl", "fdrcorr", "fdr_twostage"}
    | {"fdr_i", "fdr_p", "fdri", "fdrp", "fdr_n", "fdr_c", "fdrn", "fdr_2sbh", "fdr_2sbky"}
)
"""Further names by which ``multipletests`` knows them."""


def check_correction(method: str | None) -> None:
    """Check that a correction is None, 'holm' or a method of statsmodels' ``multipletests``.

    The names are known whether or not statsmodels is installed, so that a misspelt one is refused
    at once, and never answered by asking for an installation.

    Raises:
        ValueError: unknown correction.

    >>> check_correction("Holm")
    Traceback (most recent call last):
    ...
    ValueError: unknown correction 'Holm'; choose from holm, bonferroni, fdr_bh, ...; did you mean 'holm'?
    """
    names = ["holm", *STATSMODELS_CORRECTIONS]
    if method is None or (isinstance(method, str) and method in {*names, *_CORRECTION_ALIASES}):
        return
    choices = ", ".join([*names, "None (no correction)"])
    hint = _meant_correction(method, names) if isinstance(method, str) else ""
    raise ValueError(f"unknown correction {method!r}; choose from {choices}{hint}")


def _meant_correction(method: str, names: Sequence[str]) -> str:
    """Return a hint at the correction that a misspelt name stands for; empty if none is near."""
    plain = method.strip().lower()
    if plain in ("", "none", "no", "off"):
        return "; for no correction, pass None"
    nearest = plain if plain in names else ""
    if not nearest:
        nearest = next(iter(difflib.get_close_matches(plain, names, 1, 0.7)), "")
    if not nearest:
        return ""
    is_missing = nearest != "holm" and importlib.util.find_spec("statsmodels") is None
    return f"; did you mean {nearest!r}{' (needs statsmodels)' if is_missing else ''}?"


@entry
def corrected(p: Floats, method: str | None, alpha: float) -> tuple[Floats, Bools]:
    """p-values adjusted for the family of comparisons, and which are rejected, by statsmodels' ``multipletests``.

    Only the default, Holm's, needs no statsmodels.

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
    if (
        method == "holm"
    ):  # the smallest p-value counts against all comparisons, the next one against the rest, ...
        order, left = np.argsort(p), np.arange(len(p), 0, -1)
        adjusted, reject = np.empty(len(p)), np.empty(len(p), dtype=bool)
        adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * left), 1)
        reject[order] = np.logical_and.accumulate(p[order] <= alpha / left)
        return adjusted, reject
    check_correction(method)
    what = f"the correction {method!r}, unlike 'holm' and None,"
    statsmodels = required("statsmodels.stats.multitest", what, "statsmodels", "compare")
    reject, adjusted, *_ = statsmodels.multipletests(p, alpha=alpha, method=method)
    return adjusted, reject & ~np.isnan(p)


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
    """Verdicts with a margin, the first that holds.

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

    A loss that is surely there is *worse*, also where it is surely less than D. `compare` gives
    the two-sided p for *better*, so that a margin never turns no significant difference into
    *better*.

    Args:
        tested: p-values; correct those that are to hold for a family (``worse``, over all criteria)
            before, with ``dataclasses.replace``. ``not_worse`` needs no correction where all
            criteria must pass.
        alpha: level of each.

    >>> p = np.array([[0.9, 0.6, 0.9, 0.01], [0.01, 0.4, 0.5, 0.99], [1.0, 0.01, 0.01, 0.0], [1.0, 0.03, 0.2, 0.3]])
    >>> margin_verdicts(MarginTest(*p), 0.05).tolist()
    ['worse', 'within margin', 'not worse', 'better']
    """
    p = [tested.worse, tested.better, tested.within, tested.not_worse]
    return np.select([np.asarray(one) <= alpha for one in p], VERDICTS[:4], VERDICTS[4])
