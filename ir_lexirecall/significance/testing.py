"""``SignificanceTest``: one object for how differences are tested."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from ir_lexirecall._util.arrays import Bounds, Floats, Interval
from ir_lexirecall._util.errors import (
    check_choice,
    check_flag,
    check_integer,
    check_number,
    entry,
    shown,
)
from ir_lexirecall._util.rounding import settled
from ir_lexirecall.significance import closed_form
from ir_lexirecall.significance.evidence import least_margin_p
from ir_lexirecall.significance.outcomes import (
    MarginTest,
    Procedure,
    Resampled,
    TestResult,
    agreeing,
    check_correction,
    scaled,
)
from ir_lexirecall.significance.resampling import (
    BOOTSTRAP,
    RANDOMISATION,
    TUKEY,
    tukey_hsd,
    tukey_p,
)
from ir_lexirecall.significance.signed_rank import WILCOXON

TESTS = {
    test.name: test
    for test in (
        closed_form.SIGN,
        closed_form.T,
        WILCOXON,
        BOOTSTRAP,
        RANDOMISATION,
        TUKEY,
    )
}

_USUAL_NAMES = {
    name: test.name
    for test in TESTS.values()
    for name in (test.name, *test.also_called)
}

FAMILIES = ("criterion", "all")


@dataclass(frozen=True)
class SignificanceTest:
    """A significance test: its name, interval, correction, level and random numbers.

    ``describe("wilcoxon")`` explains a test. For every test, an interval at confidence 1 - alpha
    excludes 0 exactly if p <= alpha, and p does not depend on the scale of the differences. If
    nothing differs, p is 1 and the effect 0. The interval is then [-1, 1] for ``sign`` and
    unbounded for ``wilcoxon``, which use only queries that differ; for the other tests it is [0,
    0]. If there are too few queries (or resamples) for p <= alpha, intervals are unbounded, or
    reach the ends of the range.

    The three tests of means (t, bootstrap, randomisation) give the same exact p if all differences
    other than 0 have one magnitude, as for preferences and binary measures. It is the p of the
    randomisation test over all signs, which equals that of the sign test; the interval is the t
    interval of these differences and one more win and loss. So none of the tests rejects more often
    than alpha + 0.015 if differences are symmetric about 0, also if they are few or equal. If they
    are skewed, as real ones are, two-sided t intervals contain the truth less often (resampled AP
    of CLEF eHealth 2016: 0.91 with 10 queries, 0.93 with 25), the symmetric ones of ``bootstrap``
    more often. One-sided t-tests are corrected for skewness from 5 queries on. See the page on
    error rates.

    The tests answer different questions: ``sign``, which run wins more often; ``t``, ``bootstrap``
    and ``randomisation``, which run has the higher mean; ``wilcoxon``, whether differences are
    symmetric about 0 (not whether their mean is 0); ``tukey``, whether all systems are
    exchangeable: near-duplicates among noisy systems break its level (0.22 for 0.05), and ``t``
    with Holm's correction finds more.

    Attributes:
        name: one of ``TESTS``. None is ``'t'`` for a measure, ``'sign'`` for a preference.
        correction: for several comparisons, by its name in statsmodels' ``multipletests``, or None.
        alpha: significance level, and 1 - confidence of the intervals.
        n_resamples, seed: of tests by resampling.
        progress: whether to show progress bars; None: on a terminal only.
        groups: a label per query. Groups of queries that depend on each other (of a user, a
            session, a topic) are then the units of the test, instead of queries:
            ``randomisation`` exchanges the signs of whole groups, ``bootstrap`` resamples groups.
        cluster: use the argument ``groups`` of ``compare`` or ``benchmark`` in this way.
        family: the comparisons that are corrected together: the pairs of one ``"criterion"`` (as
            in PyTerrier and ranx), or of ``"all"`` criteria of the call. By ``"criterion"``, two
            equally good runs differ significantly by at least one of five measures in 0.13 to 0.19
            of cases.

    Raises:
        ValueError: unknown test or correction, a number out of range, or groups for another test.

    >>> test = SignificanceTest("wilcoxon", alpha=0.1)
    >>> test.of_pairs(np.array([[0.1, 0.4, 0.2, 0.7, -0.05, 0.6]])).p
    array([0.0625])
    >>> SignificanceTest("wilcoxn")
    Traceback (most recent call last):
    ...
    ValueError: SignificanceTest: unknown test 'wilcoxn'; choose from ...; did you mean 'wilcoxon'?
    """

    name: str | None = None
    correction: str | None = "holm"
    alpha: float = 0.05
    n_resamples: int = 10_000
    seed: int = 0
    progress: bool | None = None
    groups: tuple[str, ...] | None = field(default=None, repr=False)
    cluster: bool = False
    family: str = "criterion"

    @entry
    def __post_init__(self) -> None:
        check_choice("family", self.family, FAMILIES)
        self._check_name()
        self._check_units()
        check_flag("cluster", self.cluster)
        if self.progress is not None:
            check_flag("progress", self.progress)
        check_correction(self.correction)
        check_number("alpha", self.alpha, above=0, below=1)
        check_integer("n_resamples", self.n_resamples)
        check_integer("seed", self.seed, least=0)

    def _check_name(self) -> None:
        """Raise if no test has the name; suggest one that is also called so."""
        if self.name is None:
            return
        if isinstance(self.name, str) and self.name not in TESTS:
            usual_name = _USUAL_NAMES.get(self.name.lower())
            if usual_name is not None:
                raise ValueError(
                    f"unknown test {self.name!r}; did you mean {usual_name!r}? "
                    f"Choose from {', '.join(TESTS)}"
                )
        check_choice("test", self.name, TESTS)

    def _check_units(self) -> None:
        """Raise if the test cannot take groups as units, or if groups are not labels."""
        has_groups = self.cluster or self.groups is not None
        if has_groups and self.name not in (None, "randomisation", "bootstrap"):
            raise ValueError(
                "groups of queries are units of the tests randomisation and bootstrap, "
                f"not of {self.name}; name one of these"
            )
        if self.groups is not None and not isinstance(
            self.groups, (tuple, list, np.ndarray)
        ):
            raise ValueError(
                f"groups must be a label per query, not {shown(self.groups)}"
            )

    @classmethod
    def by_name(cls, test: str | SignificanceTest | None) -> SignificanceTest:
        """Return a test by its name, or as it was given.

        Args:
            test: the name, the test itself, or None for the default.

        >>> SignificanceTest.by_name("sign").name
        'sign'
        """
        if isinstance(test, SignificanceTest):
            return test
        return cls(test)

    def named(self, *, measure: bool) -> SignificanceTest:
        """Return the test with its name.

        By default, it is the test of measures or of preferences; for groups, ``randomisation``.

        Args:
            measure: whether it is a measure whose differences are tested, not a preference.

        >>> SignificanceTest().named(measure=True).name
        't'
        >>> SignificanceTest("tukey").named(measure=False).name
        'tukey'
        """
        if self.name is not None:
            return self
        if self.cluster or self.groups is not None:
            return replace(self, name="randomisation")
        return replace(self, name="t" if measure else "sign")

    def check_groups(self, groups: object) -> None:
        """Raise if groups are to be the units of the test, and there are no groups."""
        if self.cluster and groups is None:
            raise ValueError(
                "cluster=True takes groups of queries as units of the tests; pass groups="
            )

    @property
    def procedure(self) -> Procedure:
        """Computation and description of the test, which has to be ``named``."""
        if self.name is None:
            raise ValueError(f"name the test: choose from {', '.join(TESTS)}")
        return TESTS[self.name]

    @property
    def resampled(self) -> bool:
        """Whether random numbers may be drawn (``randomisation`` draws none up to 12 queries)."""
        return self.name is not None and self.procedure.resampled

    @property
    def counted_correction(self) -> str | None:
        """The correction; None for Tukey's HSD, which accounts for the family itself."""
        if self.name == "tukey":
            return None
        return self.correction

    @entry
    def of_pairs(self, x: Floats, *, bounds: Bounds | None = None) -> TestResult:
        """Test the differences (or preferences) of pairs of systems.

        Args:
            x: finite differences of P pairs on Q queries, shape ``(P, Q)``.
            bounds: smallest and largest possible difference, such as (-1, 1), at which intervals
                are cut; None: no bounds. The sign test's estimate lies in [-1, 1] whatever the
                differences.

        Returns:
            A number per pair, shape ``(P,)``. Without queries, estimates and effects are NaN, and p
            is 1.

        Raises:
            ValueError: wrong shape, a number that is not finite, bounds without 0 between them; or
                Tukey's HSD, which tests all systems at once: ``of_all``.

        >>> x = np.array([[1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0]])
        >>> result = SignificanceTest("t").of_pairs(x, bounds=(-1, 1))
        >>> result.estimate.round(3), result.low.round(3), result.high.round(3)
        (array([0.857]), array([0.123]), array([1.]))
        """
        x, procedure = _checked(x, "x", bounds), self.procedure
        if procedure.at_once:
            raise ValueError("Tukey's HSD tests all systems at once; call of_all")
        is_of_signs = procedure.of == "signs"
        if is_of_signs:
            bounds = (-1, 1)
        if x.shape[1] == 0:
            result = _untested((len(x),))
        elif is_of_signs:
            result = self._two_sided(x)
        else:
            x, exponent = scaled(x)
            result = self._two_sided(x)
            estimate = result.estimate
            if procedure.of == "mean":
                estimate = settled(estimate, 1.0)  # of the largest difference
            ends = (estimate, result.low, result.high)
            estimate, low, high = (np.ldexp(array, exponent[:, 0]) for array in ends)
            result = replace(result, estimate=estimate, low=low, high=high)
            if procedure.of == "mean" and bounds is not None:
                units = settled(self.units_of(x), 1.0)
                result = _widened_where_all_tie(result, units, self.alpha, bounds)
        return agreeing(result, self.alpha, bounds)

    @property
    def resampling(self) -> Resampled:
        """How resamples are drawn."""
        return Resampled(self.n_resamples, self.seed, self.progress)

    def _two_sided(self, x: Floats) -> TestResult:
        """Return the two-sided test of differences, which are scaled unless only signs count."""
        pairs = self.procedure.pairs
        return pairs.two_sided(x, self.alpha, self.resampling, self.groups)

    def _one_sided(self, x: Floats, shifts: Floats) -> tuple[Floats, Floats]:
        """Return p of theta <= -shift and of theta >= shift, shape ``(K, P)`` each.

        Args:
            x: differences, which are scaled unless only signs count, shape ``(P, Q)``.
            shifts: in the same unit, shape ``(K, P)``.
        """
        procedure = self.procedure
        if procedure.of != "signs" and number_of_units(self, x.shape[1]) < 2:
            # One query, or group, says nothing of the spread.
            return np.ones(shifts.shape), np.ones(shifts.shape)
        return procedure.pairs.one_sided(x, shifts, self.resampling, self.groups)

    def units_of(self, x: Floats) -> Floats:
        """Return the differences of queries, or the mean differences of groups that are units.

        Args:
            x: differences of P pairs on Q queries, shape ``(P, Q)``.

        Returns:
            ``x`` itself without groups, else one column per group.

        >>> SignificanceTest("t").units_of(np.array([[0.5, 0.0, -0.5]]))
        array([[ 0.5,  0. , -0.5]])
        """
        if self.groups is None:
            return x
        return closed_form.group_means(x, self.groups)

    @entry
    def of_all(self, values: Floats, *, bounds: Bounds | None = None) -> TestResult:
        """Test all pairs of systems by Tukey's HSD, by their values per query.

        Args:
            values: finite values per query and system, shape ``(Q, S)``.
            bounds: as in ``of_pairs``, of the difference of two values.

        Returns:
            Arrays of shape ``(S, S)``: the system of the row against that of the column; on the
            diagonal no difference.

        Raises:
            ValueError: another test, wrong shape, a number that is not finite, or bounds without 0
                between them.

        >>> a, b = [0.9, 0.8, 0.7, 0.9, 0.8, 0.6], [0.1, 0.2, 0.3, 0.1, 0.2, 0.1]
        >>> values = np.column_stack([a, b])
        >>> SignificanceTest("tukey", n_resamples=999).of_all(values).p
        array([[1.   , 0.035],
               [0.035, 1.   ]])
        """
        values = _checked(values, "values", bounds)
        if not self.procedure.at_once:
            raise ValueError(
                f"{self.name} tests pairs of systems; call of_pairs with their differences"
            )
        n_queries, n_systems = values.shape
        if n_queries == 0:
            result = _untested((n_systems, n_systems))
        else:
            result = tukey_hsd(values, self.alpha, self.resampling)
        return agreeing(result, self.alpha, bounds)


def _checked(array: Floats, name: str, bounds: Bounds | None) -> Floats:
    """Return a matrix of finite numbers.

    Raises:
        ValueError: it is no such matrix, or 0 does not lie between the bounds.
    """
    array = np.asarray(array, dtype=np.float64)
    if array.ndim != 2 or not np.isfinite(array).all():
        raise ValueError(f"{name} must be a matrix of finite numbers")
    if bounds is not None and not bounds[0] <= 0 <= bounds[1]:
        raise ValueError(
            f"bounds must be two numbers with 0 between them, not {bounds!r}"
        )
    return array


def _widened_where_all_tie(
    result: TestResult, units: Floats, alpha: float, bounds: Bounds
) -> TestResult:
    """Widen the intervals of pairs that tie on all queries, or in the means of all groups.

    Ties are no evidence that means are equal. Their interval holds at least that of the ties with
    both bounds added. Without finite bounds, nothing tells how large differences are, and the
    interval stays as it is, as does one that is unknown (NaN).
    """
    all_tie = ~units.any(axis=1)
    if units.shape[1] < 2 or not np.isfinite(bounds).all() or not all_tie.any():
        return result
    least, most = closed_form.interval_with_ends(units[all_tie], bounds, alpha)
    low, high = result.low.copy(), result.high.copy()
    low[all_tie] = np.minimum(low[all_tie], least)
    high[all_tie] = np.maximum(high[all_tie], most)
    return replace(result, low=low, high=high)


def _untested(shape: tuple[int, ...]) -> TestResult:
    """Return the test of no query at all, which estimates nothing and rejects nothing."""
    numbers = (np.nan, -np.inf, np.inf, 1.0, np.nan)
    return TestResult(*(np.full(shape, number) for number in numbers))


def number_of_units(test: SignificanceTest, n_queries: int) -> int:
    """Return how many units a test has: queries, or groups of them."""
    if test.groups is None:
        return n_queries
    return len(set(test.groups))


def smallest_p(
    test: SignificanceTest, queries: int, *, one_sided: bool = False
) -> float:
    """Return the smallest p-value that a test can give with this number of queries.

    Above alpha, the test cannot reject at all. It is 2^(1-n), for tests that draw more resamples
    than that no less than 1 / (n_resamples + 1). Differences of one magnitude need no resamples.
    One query can never be enough. The one-sided p of *worse* is half as large, except for
    Tukey's HSD, which is simultaneous, and for exchanged signs that are drawn at random.

    >>> smallest_p(SignificanceTest("sign"), 5), smallest_p(SignificanceTest("t"), 25) < 1e-7
    (0.0625, True)
    >>> smallest_p(SignificanceTest("t"), 5, one_sided=True)
    0.03125
    >>> smallest_p(SignificanceTest("bootstrap", n_resamples=999), 20)
    0.001
    >>> smallest_p(SignificanceTest("bootstrap", n_resamples=999), 20, one_sided=True)
    0.0005
    """
    n_units = number_of_units(test, queries)
    if n_units < 2:
        return 1.0
    if one_sided and not test.procedure.at_once:
        least = math.ldexp(1.0, -n_units)
    else:
        least = math.ldexp(1.0, 1 - n_units)
    is_drawn = test.resampled and n_units > test.procedure.exact
    if not is_drawn:
        return least
    least_drawn = 1 / (test.n_resamples + 1)
    if one_sided and test.name == "bootstrap":  # half of its two-sided p
        least_drawn /= 2
    return max(least, least_drawn)


# -- margins ---------------------------------------------------------------------------------------


@entry
def margin_test(
    test: SignificanceTest, x: Floats, margin: float | Floats, width: float = 1.0
) -> MarginTest:
    """Test the differences of pairs one-sided, against 0 and against a margin.

    Ties are no evidence that two runs are equivalent. Let S be the sum over queries of
    min(|d| / D, 1), and w = (8 - S) / 5, cut to [0, 1]: p of *not worse* and of *within margin* is
    at least w (1 - D / W)^n, the chance to see only ties where a share D / W of all queries loses
    W. The sign test needs no such floor: it leaves ties out.

    Where theta is a mean or a centre (t, bootstrap, randomisation, Wilcoxon's), the margin is added
    to every difference (by Wilcoxon, that is not 0) and the sum tested against 0; ``bootstrap``
    halves its two-sided p. The sign test's theta is the effect (wins - losses) / (wins + losses):
    its margin is one of shares, (1 - D) / 2 of the decided queries. Where the differences other
    than 0 have one magnitude, the p of a mean comes from the t interval with one more win and loss;
    it is never below 2^-Q, nor above the exact p of D = 0.

    Args:
        test: any but ``tukey``, see ``margin_test_of_all``. Its alpha is not used. Its groups are
            units, if it has any.
        x: finite differences of P pairs on Q queries, positive where better, shape ``(P, Q)``.
        margin: D, 0 or more, in the unit of the test's estimate; one, or one per pair, shape
            ``(P,)``.
        width: W, the largest loss on a query: the width of the measure's range, 2 for a preference.

    Raises:
        ValueError: wrong shape, a number that is not finite, a margin below 0, or Tukey's HSD.

    Source: Schuirmann, A Comparison of the Two One-Sided Tests Procedure and the Power Approach for
    Assessing the Equivalence of Average Bioavailability, Journal of Pharmacokinetics and
    Biopharmaceutics 1987, doi 10.1007/BF01068419.

    >>> x = np.array([[0.01, -0.02, 0.0, 0.01, -0.01, 0.02, -0.01, 0.0] * 2])
    >>> tested = margin_test(SignificanceTest("t"), x, 0.01)
    >>> tested.worse.round(3), tested.not_worse.round(3), tested.within.round(3)
    (array([0.5]), array([0.003]), array([0.003]))
    """
    x = _checked(x, "x", None)
    margins = _checked_margin(margin)
    procedure = test.procedure
    _check_width(width)
    if procedure.at_once:
        raise ValueError(
            "Tukey's HSD tests all systems at once; call margin_test_of_all"
        )
    margins = np.broadcast_to(margins, len(x))
    shifts = np.stack([np.zeros(len(x)), margins])
    if procedure.of == "signs":
        least = np.zeros(len(x))  # signs leave ties out by themselves
    else:
        least = least_margin_p(test.units_of(x), margins, width)
        x, exponent = scaled(x)
        shifts = np.ldexp(shifts, -exponent[:, 0])
    above, below = test._one_sided(x, shifts)
    not_worse, not_better = np.maximum(above[1], least), np.maximum(below[1], least)
    return MarginTest(above[0], below[0], not_worse, np.maximum(not_worse, not_better))


@entry
def margin_test_of_all(
    test: SignificanceTest, values: Floats, margin: float, width: float = 1.0
) -> MarginTest:
    """Test all pairs of systems against 0 and a margin by Tukey's HSD, by values per query.

    The values have shape ``(Q, S)``, the results ``(S, S)``; ``width`` is as in ``margin_test``.

    All p are simultaneous: the share of permutations whose largest difference of means is at least
    the pair's difference plus the margin, so that bounds are the ends of its (two-sided,
    simultaneous) intervals. On the diagonal p of better and worse is 1.

    >>> a, b = [0.9, 0.8, 0.7, 0.9, 0.8, 0.6], [0.1, 0.2, 0.3, 0.1, 0.2, 0.1]
    >>> values = np.column_stack([a, b])
    >>> margin_test_of_all(SignificanceTest("tukey", n_resamples=999), values, 0.1).better
    array([[1.   , 0.035],
           [1.   , 1.   ]])
    """
    values, margin = _checked(values, "values", None), float(_checked_margin(margin))
    if not test.procedure.at_once:
        raise ValueError(
            f"{test.name} tests pairs of systems; call margin_test with their differences"
        )
    _check_width(width)
    above, *_ = tukey_p(values, np.array([0.0, margin]), test.resampling)
    least = [least_margin_p(column - values.T, margin, width) for column in values.T]
    not_worse = np.maximum(above[1], np.reshape(least, above[1].shape))
    return MarginTest(
        above[0], above[0].T, not_worse, np.maximum(not_worse, not_worse.T)
    )


def one_sided_bounds(
    test: SignificanceTest, x: Floats, bounds: Bounds | None = None
) -> Interval:
    """Return the lower and the upper one-sided bounds at 1 - alpha of what a test estimates.

    They are the ends of its interval at 1 - 2 alpha; those of t are corrected for skewness as its
    one-sided p is.

    Args:
        test: any but Tukey's HSD, whose bounds are the ends of its interval at 1 - alpha.
        x: finite differences of P pairs on Q queries, shape ``(P, Q)``.
        bounds: as in ``SignificanceTest.of_pairs``.

    Returns:
        Two arrays of shape ``(P,)``; NaN if alpha is 0.5 or more.

    >>> low, high = one_sided_bounds(SignificanceTest("t"), np.array([[0.1, 0.3, 0.2, 0.0]]))
    >>> low.round(4), high.round(4)
    (array([-0.0019]), array([0.3019]))
    """
    if 2 * test.alpha >= 1:
        return np.full(len(x), np.nan), np.full(len(x), np.nan)
    interval = replace(test, alpha=2 * test.alpha).of_pairs(x, bounds=bounds)
    low, high = interval.low, interval.high
    if test.name == "t" and x.shape[1] >= closed_form.SKEWED:
        rows = ~closed_form.of_one_magnitude(x)
        low[rows], high[rows] = closed_form.t_bounds(x[rows], test.alpha)
    if bounds is None:
        return low, high
    return np.clip(low, *bounds), np.clip(high, *bounds)


def _check_width(width: float) -> None:
    """Check that the width of a range is a positive number; it may be infinite."""
    if not width > 0:
        raise ValueError(f"width must be a number above 0, not {shown(width)}")


def _checked_margin(margin: float | Floats) -> Floats:
    """Return margins as an array; raise if one is below 0 or not finite."""
    margin = np.asarray(margin, dtype=np.float64)
    if not (np.isfinite(margin).all() and (margin >= 0).all()):
        raise ValueError(
            f"a margin must be a finite number of at least 0, not {margin.tolist()!r}"
        )
    return margin
