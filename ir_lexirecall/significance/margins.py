"""Margins: one-sided questions of a candidate against a baseline, and the words that answer them.

A margin D > 0 is a difference that does not matter, in the unit of the test's estimate. For differences turned such that
positive is better, and theta what the test estimates:

==============  =================  ======================================================
verdict         what is rejected   one-sided bounds at 1 - alpha
==============  =================  ======================================================
worse           theta >= 0         upper bound < 0
better          theta <= 0         lower bound > 0
within margin   |theta| >= D       both inside -D ... D (two one-sided tests)
not worse       theta <= -D        lower bound > -D (non-inferior)
undecided       nothing
==============  =================  ======================================================

The first that holds is the verdict: a loss that is surely there is *worse*, also where it is surely less than D.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ir_lexirecall._util.arrays import Bools, Floats
from ir_lexirecall._util.errors import entry
from ir_lexirecall.significance.binomial import one_sided_sign_p
from ir_lexirecall.significance.clusters import degrees_of_groups, group_units
from ir_lexirecall.significance.intervals import LEVEL, moved, scaled
from ir_lexirecall.significance.one_magnitude import of_one_magnitude, one_sided_exact_p
from ir_lexirecall.significance.resampling import one_sided_bootstrap_p, one_sided_randomisation_p, one_sided_tukey_p
from ir_lexirecall.significance.signed_rank import one_sided_wilcoxon_p
from ir_lexirecall.significance.student import one_sided_t_p
from ir_lexirecall.significance.testing import SignificanceTest

VERDICTS = ("worse", "better", "within margin", "not worse", "undecided")


@dataclass(frozen=True)
class MarginTest:
    """One-sided p-values of pairs, arrays of one shape, before any correction."""

    better: Floats  # of no improvement
    worse: Floats  # of no loss
    not_worse: Floats  # of a loss of at least the margin
    within: Floats  # of a loss or a gain of at least the margin, the larger of both p


@entry
def margin_test(test: SignificanceTest, x: Floats, margin: float | Floats) -> MarginTest:
    """Test the differences of pairs one-sided, against 0 and against a margin.

    Where theta is a mean or a centre (t, bootstrap, randomisation, Wilcoxon's), the margin is added to every difference and
    the sum tested against 0; ``bootstrap`` halves its two-sided p. The sign test's theta is the effect
    (wins - losses) / (wins + losses): its margin is one of shares, (1 - D) / 2 of the decided queries. Where the differences
    other than 0 have one magnitude, the tests of means use the t interval with one more win and loss, never below
    2^-Q, and never above the exact p of D = 0.

    Args:
        test: any but ``tukey``, see ``margin_test_of_all``. Its alpha is not used. Its groups are units, if it has any.
        x: finite differences of P pairs on Q queries, positive where better, shape ``(P, Q)``.
        margin: D, 0 or more, in the unit of the test's estimate; one, or one per pair, shape ``(P,)``.

    Raises:
        ValueError: wrong shape, a number that is not finite, a margin below 0, or Tukey's HSD.

    Source: Schuirmann, A Comparison of the Two One-Sided Tests Procedure and the Power Approach for Assessing the
    Equivalence of Average Bioavailability, Journal of Pharmacokinetics and Biopharmaceutics 1987, doi 10.1007/BF01068419.

    >>> x = np.array([[0.01, -0.02, 0.0, 0.01, -0.01, 0.02, -0.01, 0.0]])
    >>> tested = margin_test(SignificanceTest("t"), x, 0.02)
    >>> tested.worse.round(3), tested.not_worse.round(3), tested.within.round(3)
    (array([0.5]), array([0.002]), array([0.002]))
    """
    x, margins = _checked(x, margin)
    if test.name == "tukey":
        raise ValueError("Tukey's HSD tests all systems at once; call margin_test_of_all")
    shifts = np.stack([np.zeros(len(x)), np.broadcast_to(margins, len(x))])
    units = x.shape[1] if test.groups is None else len(set(test.groups))
    if units < 2 and test.name != "sign":  # one query, or group, says nothing of the spread
        above = below = np.ones(shifts.shape)
    elif test.name == "sign":
        above, below = one_sided_sign_p(x, shifts), one_sided_sign_p(-x, shifts)
    else:
        x, exponent = scaled(x)
        if test.groups is not None:
            x = group_units(x, test.groups, resampled=test.name == "bootstrap")
        above, below = _one_sided(test, x, np.ldexp(shifts, -exponent[:, 0]))
    return MarginTest(above[0], below[0], above[1], np.maximum(above[1], below[1]))


@entry
def margin_test_of_all(test: SignificanceTest, values: Floats, margin: float) -> MarginTest:
    """``margin_test`` for all pairs of systems by their values per query, shape ``(Q, S)``: arrays of shape ``(S, S)``.

    For ``tukey`` all p are simultaneous: the share of permutations whose largest difference of means is at least the pair's
    difference plus the margin, so that bounds are the ends of its (two-sided, simultaneous) intervals. On the diagonal p of
    better and worse is 1.

    >>> values = np.array([[0.9, 0.1], [0.8, 0.2], [0.7, 0.3], [0.9, 0.1], [0.8, 0.2], [0.6, 0.1]])
    >>> margin_test_of_all(SignificanceTest("sign"), values, 0.1).better
    array([[1.      , 0.015625],
           [1.      , 1.      ]])
    """
    values, _ = _checked(values, margin)
    systems = values.shape[1]
    if test.name == "tukey":
        shifts = np.array([0.0, margin])
        above = one_sided_tukey_p(values, shifts, n_resamples=test.n_resamples, seed=test.seed, progress=test.progress)
        return MarginTest(above[0], above[0].T, above[1], np.maximum(above[1], above[1].T))
    i, j = np.indices((systems, systems)).reshape(2, -1)
    tested = margin_test(test, (values[:, i] - values[:, j]).T, margin)
    return MarginTest(*(p.reshape(systems, systems) for p in vars(tested).values()))


def verdicts(p: Floats, difference: Floats, alpha: float) -> NDArray[np.str_]:
    """Verdicts without a margin: *better* or *worse* where the (corrected) two-sided p is at most alpha, else *undecided*.

    >>> verdicts(np.array([0.01, 0.01, 0.3]), np.array([0.1, -0.1, 0.1]), 0.05).tolist()
    ['better', 'worse', 'undecided']
    """
    reject = np.asarray(p) <= alpha
    return np.select([reject & (difference < 0), reject & (difference > 0)], ["worse", "better"], "undecided")


def margin_verdicts(tested: MarginTest, alpha: float) -> NDArray[np.str_]:
    """Verdicts with a margin, the first of the module's table that holds.

    Args:
        tested: p-values; correct those that are to hold for a family (``worse``, over all criteria) before, with
            ``dataclasses.replace``. ``not_worse`` needs no correction where all criteria must pass.
        alpha: level of each.

    >>> p = np.array([[0.9, 0.6, 0.9, 0.01], [0.01, 0.4, 0.5, 0.99], [1.0, 0.01, 0.01, 0.0], [1.0, 0.03, 0.2, 0.3]])
    >>> margin_verdicts(MarginTest(*p), 0.05).tolist()
    ['worse', 'within margin', 'not worse', 'better']
    """
    p = [tested.worse, tested.better, tested.within, tested.not_worse]
    return np.select([np.asarray(one) <= alpha for one in p], VERDICTS[:4], VERDICTS[4])


def falls_by_more(difference: Floats, margin: float | Floats, scale: float | Floats) -> Bools:
    """Whether a difference is below -margin by more than rounding, 1e-12 of the scale of the values: no test, a point.

    >>> falls_by_more(np.array([0.79 - 0.8, 0.7899 - 0.8]), 0.01, 0.8).tolist()
    [False, True]
    """
    return -np.asarray(difference) - margin > LEVEL * np.maximum(np.abs(scale), margin)


def _one_sided(test: SignificanceTest, x: Floats, shifts: Floats) -> tuple[Floats, Floats]:
    """p of theta <= -shift and of theta >= shift, shape ``(K, P)`` each."""
    if test.name == "wilcoxon":
        return one_sided_wilcoxon_p(x, shifts), one_sided_wilcoxon_p(-x, shifts)
    above, below = np.empty((2, *shifts.shape))
    exact = of_one_magnitude(x)
    above[:, exact] = one_sided_exact_p(x[exact], shifts[:, exact])
    below[:, exact] = one_sided_exact_p(-x[exact], shifts[:, exact])
    above[:, ~exact], below[:, ~exact] = _of_means(test, x[~exact], shifts[:, ~exact])
    return above, below


def _of_means(test: SignificanceTest, x: Floats, shifts: Floats) -> tuple[Floats, Floats]:
    """The same for tests of means, of rows that are not of one magnitude: exact where they are with the margin added.

    What rejects a mean of at most 0 rejects one of at most -shift, so the exact p is never above that of the shift 0.
    """
    if test.name == "t":
        degrees = x.shape[1] - 1 if test.groups is None else degrees_of_groups(test.groups)
        both = one_sided_t_p(x, shifts, degrees), one_sided_t_p(-x, shifts, degrees)
    else:
        one_sided = one_sided_bootstrap_p if test.name == "bootstrap" else one_sided_randomisation_p
        both = one_sided(x, shifts, n_resamples=test.n_resamples, seed=test.seed, progress=test.progress)
    for p, signed in zip(both, (x, -x), strict=True):
        for k, shift in enumerate(shifts):
            total = moved(signed, shift)
            exact = of_one_magnitude(total)
            of_total = one_sided_exact_p(total[exact], np.zeros((1, np.count_nonzero(exact))))[0]
            p[k, exact] = np.minimum(of_total, p[0, exact])  # the first shift is 0
    return both


def _checked(x: Floats, margin: float | Floats) -> tuple[Floats, Floats]:
    x = np.asarray(x, dtype=np.float64)
    if x.ndim != 2 or not np.isfinite(x).all():
        raise ValueError("expected a matrix of finite numbers")
    margin = np.asarray(margin, dtype=np.float64)
    if not (np.isfinite(margin).all() and (margin >= 0).all()):
        raise ValueError(f"a margin must be a finite number of at least 0, not {margin.tolist()!r}")
    return x, margin
