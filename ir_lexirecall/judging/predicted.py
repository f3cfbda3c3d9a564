"""Inference from few judgments: few human ones beside many predicted ones, or queries judged one by one until a test has seen enough."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ir_lexirecall._util.arrays import Bools, Floats, Ints
from ir_lexirecall._util.errors import and_more, check_number, shown
from ir_lexirecall._util.lazy import special
from ir_lexirecall._util.rounding import same
from ir_lexirecall.significance.closed_form import (
    of_one_magnitude,
    skew_correction,
    skewed_bounds,
    skewed_p,
    with_a_win_and_a_loss,
)
from ir_lexirecall.significance.evidence import (
    differing_queries,
    least_margin_p,
    least_two_sided_p,
)
from ir_lexirecall.significance.outcomes import Bounds, MarginTest, TestResult

LEAST = 10  # human-judged queries
ENOUGH = 25  # of them: intervals of fewer hold the truth less often than they say
_ENOUGH_FOR_PREFERENCES = 20  # of them, with a win and a loss added
_SURPRISES = 5  # residuals of a preference above 1/2 in size that tell how far they spread


@dataclass(frozen=True)
class PredictionPowered:
    """Estimates of P differences, arrays of shape ``(P,)``."""

    estimate: Floats  # of the mean human difference on queries like these (the N queries are a sample, too)
    low: Floats  # ends of its interval at 1 - alpha
    high: Floats
    p: Floats  # of no difference, two-sided
    rho: Floats  # correlation of human and predicted differences over the human-judged queries; 0 if either is constant
    n_effective: Floats  # the number of human-judged queries without predictions that would give as small a variance
    error: Floats  # standard error of the estimate, with n - 2 degrees of freedom
    skew: Floats  # of the residuals, as one-sided tests correct for it: see ``skew_correction``


def prediction_powered(d: Floats, f: Floats, human: Ints, alpha: float = 0.05) -> PredictionPowered:
    """Estimate mean differences from human judgments of a random sample of queries and predicted judgments of all.

    estimate = mean_n d - l (mean_n f - mean_N f), l = Cov(d, f) / Var(f) over the sample; the
    variance is (1/n - 1/N) Var(d - l f) + Var(d) / N, with Student's t of n - 2 degrees of freedom.
    Predictions may be biased: what they are wrong about on the sample is taken off. Queries that
    were chosen because they looked interesting are no random sample, and nothing here can tell.

    Args:
        d: human differences on the n sampled queries, shape ``(P, n)``.
        f: predicted differences on all N queries, shape ``(P, N)``.
        human: places of the sampled queries among the N, shape ``(n,)``.
        alpha: 1 - confidence of the interval.

    Source: Angelopoulos, Bates, Fannjiang, Jordan, Zrnic, Prediction-Powered Inference, Science
    2023, doi 10.1126/science.adi6000; with the l of Angelopoulos, Duchi, Zrnic, PPI++, 2023, arXiv
    2311.01453, for a finite set of queries.

    >>> rng = np.random.default_rng(0)
    >>> truth = rng.normal(0.1, 1, (1, 500))
    >>> judge = truth + 0.5 + rng.normal(0, 0.3, truth.shape)  # too generous by 0.5
    >>> result = prediction_powered(truth[:, :20], judge, np.arange(20))
    >>> result.estimate.round(2), truth.mean().round(2), result.n_effective.round()
    (array([0.]), np.float64(0.07), array([121.]))
    """
    n, count = len(human), f.shape[1]
    (mean_d, d_centred), (mean_f, f_centred) = map(_centred, (d, f[:, human]))
    var_d, var_f = (np.square(x).sum(axis=1) / (n - 1) for x in (d_centred, f_centred))
    covariance = (d_centred * f_centred).sum(axis=1) / (n - 1)
    scale = np.sqrt(var_d * var_f)
    rho = np.divide(covariance, scale, out=np.zeros(len(d)), where=scale > 0).clip(-1, 1)
    residuals, slope = _residuals(d, f[:, human])
    estimate = mean_d - slope * (mean_f - f.mean(axis=1))
    of_residuals = np.square(residuals).sum(axis=1) / (n - 2)
    variance = (1 / n - 1 / count) * of_residuals + var_d / count
    error = np.sqrt(variance)
    half = -special.stdtrit(n - 2, alpha / 2) * error
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(estimate == 0, 0.0, np.abs(estimate) / error)
        n_effective = np.where(variance > 0, var_d / variance, n)
    p = np.maximum(2 * special.stdtr(n - 2, -t), _least_p(estimate, d))
    low, high = _holding_zero(estimate - half, estimate + half, p > alpha)
    skew = skew_correction(residuals)
    return PredictionPowered(estimate, low, high, p, rho, n_effective, error, skew)


def powered_preferences(
    result: PredictionPowered, d: Floats, f: Floats, human: Ints, alpha: float = 0.05
) -> tuple[PredictionPowered, Bools]:
    """Add a win and a loss to the residuals of preferences, as `preference_interval` does.

    That is done from 20 human-judged queries on, where at least 5 residuals, (d - mean d) - l (f -
    mean f), are above 1/2 in size: else too little is known of how far they spread. In simulations
    95% intervals hold the mean preference in .95 to .98, and are .78 to 1.0 as wide as those of
    people's queries alone.

    Args:
        result: as from `prediction_powered` of the same arguments.
        d: human preferences on the n sampled queries, shape ``(P, n)``.
        f: predicted preferences on all N queries, shape ``(P, N)``.
        human: indices of the sampled queries among the N, shape ``(n,)``.
        alpha: 1 - confidence of the interval.

    Returns:
        The result with the intervals and p of the pairs where that could be done, and which these
        are, shape ``(P,)``.
    """
    n, count = d.shape[1], f.shape[1]
    if n < _ENOUGH_FOR_PREFERENCES:
        return result, np.zeros(len(d), dtype=bool)
    residuals, _ = _residuals(d, f[:, human])
    is_powered = np.count_nonzero(np.abs(residuals) > 0.5, axis=1) >= _SURPRISES
    rest = residuals + result.estimate[:, None]
    middle, error = with_a_win_and_a_loss(rest)
    _, error_of_d = with_a_win_and_a_loss(d)
    # One degree of freedom more is spent on l.
    of_rest, of_d = (n + 2) * error**2 * (n + 1) / n, (n + 2) * error_of_d**2
    error = np.sqrt((1 / (n + 2) - 1 / count) * of_rest + of_d / count)
    half = -special.stdtrit(n, alpha / 2) * error
    p = np.maximum(2 * special.stdtr(n, -np.abs(middle) / error), _least_p(result.estimate, d))
    low = np.minimum(middle - half, result.estimate)
    high = np.maximum(middle + half, result.estimate)
    low, high = _holding_zero(low, high, p > alpha)
    columns = {"low": low, "high": high, "p": p}
    powered = {
        name: np.where(is_powered, column, getattr(result, name))
        for name, column in columns.items()
    }
    return replace(result, **powered), is_powered


def with_people_alone(
    result: PredictionPowered,
    d: Floats,
    alone: TestResult,
    bounds: Bounds | None,
    is_powered: Bools | None = None,
) -> PredictionPowered:
    """Widen intervals to hold those of the human-judged queries alone, where differences are coarse.

    Preferences (``bounds`` are -1 and 1) and differences of one magnitude take few values: a sample
    of them says too little of how far they spread, and ten wins out of ten would give a point. The
    hull of two intervals leaves out 0 where both do, on the same side; p goes with it.

    Args:
        result: the estimates.
        d: differences on the queries that people judged, shape ``(P, n)``.
        alone: the test of these alone.
        bounds: -1 and 1 for preferences, else None.
        is_powered: pairs that need no widening: see `powered_preferences`.
    """
    least, most = (-np.inf, np.inf) if bounds is None else bounds
    estimate, low, high = (
        np.clip(x, least, most) for x in (result.estimate, result.low, result.high)
    )
    coarse = of_one_magnitude(d) | (bounds is not None)
    if is_powered is not None:
        coarse &= ~is_powered
    agree = np.where(estimate * alone.estimate > 0, np.maximum(result.p, alone.p), 1.0)
    low, high = (
        np.where(coarse, np.minimum(low, alone.low), low),
        np.where(coarse, np.maximum(high, alone.high), high),
    )
    return replace(
        result, estimate=estimate, low=low, high=high, p=np.where(coarse, agree, result.p)
    )


def powered_margin_test(
    result: PredictionPowered,
    d: Floats,
    alone: MarginTest,
    bounds: Bounds | None,
    sign: int,
    margin: float,
    width: float = 1.0,
) -> MarginTest:
    """Test the estimates one-sided, against 0 and a margin, by t of n - 2 degrees of freedom.

    It is corrected for the skewness of the residuals, as the t-test is for that of differences:
    uncorrected, *not worse* at a true loss of the margin is said in .063 to .107 of samples of 25
    queries for .05, corrected in .058 to .090. Where differences are coarse (see ``with_people_alone``), p is at least that of the queries
    that people judged. Ties on these are no evidence: see ``margin_test``.

    Args:
        result: the estimates.
        d: differences on the queries that people judged, shape ``(P, n)``.
        alone: the same tests of these differences alone.
        bounds: -1 and 1 for preferences, else None.
        sign: -1 where the smaller value is better, else 1.
        margin: the loss that does not matter.
        width: the largest loss on a query.
    """
    n = d.shape[1]
    least = least_margin_p(d, margin, width)
    coarse = of_one_magnitude(d) | (bounds is not None)

    def above(way: int, shift: float, by_people: Floats) -> Floats:
        """p of way * theta <= -shift."""
        gain = way * result.estimate + shift
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.where(gain == 0, 0.0, gain / result.error)
        floor = least_two_sided_p(differing_queries(d)) / 2 if shift == 0 else 2.0**-n
        p = np.maximum(skewed_p(t, way * result.skew, n - 2), np.where(gain == 0, 0.5, floor))
        return np.where(coarse, np.maximum(p, by_people), p)

    not_worse = np.maximum(above(sign, margin, alone.not_worse), least)
    not_better = np.maximum(above(-sign, margin, alone.within), least)
    within = np.maximum(not_worse, not_better)
    return MarginTest(
        above(sign, 0.0, alone.better), above(-sign, 0.0, alone.worse), not_worse, within
    )


def powered_bounds(result: PredictionPowered, n: int, alpha: float) -> tuple[Floats, Floats]:
    """Return the one-sided bounds of estimates at 1 - alpha, corrected for skewness as p is.

    Args:
        result: the estimates, with their intervals at 1 - 2 alpha, which bounds lie inside never.
        n: queries that people judged.
        alpha: level of each bound.
    """
    low, high = skewed_bounds(result.estimate, result.error, result.skew, n - 2, alpha)
    return np.minimum(low, result.low), np.maximum(high, result.high)


def _residuals(d: Floats, f: Floats) -> tuple[Floats, Floats]:
    """Return (d - mean d) - l (f - mean f), and l = Cov(d, f) / Var(f); 0 where d or f is constant."""
    (_, d_centred), (_, f_centred) = _centred(d), _centred(f)
    covariance = (d_centred * f_centred).sum(axis=1) / (d.shape[1] - 1)
    var_d, var_f = (np.square(x).sum(axis=1) / (d.shape[1] - 1) for x in (d_centred, f_centred))
    slope = np.divide(covariance, var_f, out=np.zeros(len(d)), where=np.sqrt(var_d * var_f) > 0)
    return d_centred - slope[:, None] * f_centred, slope


def _least_p(estimate: Floats, d: Floats) -> Floats:
    """Return the least two-sided p: k differing queries have one sign with probability 2^(1-k)."""
    return np.where(estimate == 0, 1.0, least_two_sided_p(differing_queries(d)))


def _holding_zero(low: Floats, high: Floats, holds: Bools) -> tuple[Floats, Floats]:
    """Return intervals that hold 0 where they should."""
    return (
        np.where(holds, np.minimum(low, 0.0), low),
        np.where(holds, np.maximum(high, 0.0), high),
    )


def _centred(x: Floats) -> tuple[Floats, Floats]:
    """Means of rows, and numbers less these; exactly 0 in rows that differ by rounding only."""
    mean = x.mean(axis=1)
    centred = x - mean[:, None]
    constant = same(np.abs(centred).max(axis=1), 0.0, np.abs(x).max(axis=1))
    centred[constant] = 0
    return mean, centred


def human_queries(human: Sequence[str], predicted: Sequence[str]) -> Ints:
    """Places, among the queries with predictions, of those that people judged: at least 10.

    >>> human_queries([f"q{i}" for i in range(10)], [f"q{i}" for i in range(9)])
    Traceback (most recent call last):
    ValueError: query 'q9' is judged, but has no predicted judgments; predict for every query that people judged
    """
    if len(human) < LEAST:
        raise ValueError(f"at least {LEAST} human-judged queries are needed, not {len(human)}")
    place = {query_id: q for q, query_id in enumerate(predicted)}
    lacking = [query_id for query_id in human if query_id not in place]
    if lacking:
        raise ValueError(
            f"query {shown(lacking[0])} is judged, but has no predicted judgments{and_more(len(lacking) - 1)}; predict for "
            "every query that people judged"
        )
    return np.array([place[query_id] for query_id in human], dtype=np.int64)


@dataclass(frozen=True)
class SequentialSigns:
    """What the sign test says of P pairs, arrays of shape ``(P,)``: when it has seen enough, or at the end."""

    decided_after: Ints  # number of queries after which ``e_corrected`` reached 1 / alpha, 0: never
    sign: Ints  # of wins - losses then
    e: Floats  # e-values then
    e_corrected: Floats  # the same, corrected over the pairs (``e_holm``)


def e_value(wins: NDArray[Any], losses: NDArray[Any]) -> Floats:
    """Evidence against wins being as likely as losses: e = 2^n B(w + 1/2, l + 1/2) / B(1/2, 1/2), n = w + l.

    The likelihood of these wins under Jeffreys' prior over their probability, relative to that
    under 1/2: if neither run is better, its expectation is 1 however long one looks, so that it
    reaches 1 / alpha at any time with probability alpha at most (Ville).

    >>> e_value(np.array([0, 5, 9]), np.array([0, 5, 0])).round(2)
    array([ 1.  ,  0.25, 94.96])
    """
    wins, losses = wins.astype(np.float64), losses.astype(np.float64)
    log_e = (
        (wins + losses) * np.log(2)
        + special.betaln(wins + 0.5, losses + 0.5)
        - special.betaln(0.5, 0.5)
    )
    return np.exp(np.minimum(log_e, 700.0))  # beyond, a float would overflow


def e_holm(e: Floats) -> Floats:
    """e-values of P hypotheses, shape ``(P, ...)``, corrected over them: the smallest mean of each with any of the others.

    A mean of e-values of true hypotheses is one, too, however they depend on each other; a
    hypothesis is rejected where every set that holds it is (closed testing). So any true one
    reaches 1 / alpha, whenever one looks, with probability alpha at most. At least e / P,
    Bonferroni's; the e-values themselves where all of them are equal.

    Source: Vovk, Wang, E-values: Calibration, Combination and Applications, Annals of Statistics
    2021, doi 10.1214/20-AOS2020, Algorithm 1.

    >>> e_holm(np.array([90.0, 30.0, 0.0]))
    array([40., 15.,  0.])
    """
    order = np.argsort(e, axis=0, kind="stable")
    rising = np.take_along_axis(e, order, axis=0)
    least, smaller = rising.copy(), np.zeros_like(rising[:1])
    for j in range(
        len(e) - 1
    ):  # together with the j + 1 smallest ones; a larger one only lifts the mean
        smaller = smaller + rising[j]
        least[j + 1 :] = np.minimum(least[j + 1 :], (rising[j + 1 :] + smaller) / (j + 2))
    out = np.empty_like(least)
    np.put_along_axis(out, order, least, axis=0)
    return out


def sequential_signs(
    x: Floats, alpha: float = 0.05, seed: int = 0, *, correct: bool = True
) -> SequentialSigns:
    """Look at queries in random order and stop where the sign test is decided: e >= 1 / alpha, corrected. Ties say nothing.

    ``x`` are differences or preferences of P pairs on Q queries, shape ``(P, Q)``; ``alpha`` is the
    probability that any pair without a difference is ever decided, whenever one looks
    (``correct=False``: of each such pair by itself); ``seed`` is of the order.

    What this does not cure: an order that is not random, and asking again on the same queries, as a
    gate does that runs on every commit.

    Source: Grünwald, de Heide, Koolen, Safe Testing, JRSS B 2024, doi 10.1093/jrsssb/qkae011.

    >>> sequential_signs(np.array([[1.0] * 9 + [0.0]]), seed=1).decided_after
    array([7])
    """
    check_number("alpha", alpha, above=0, below=1)
    order = np.random.default_rng(seed).permutation(x.shape[1])
    # Before the first query there is no evidence: e = 1.
    wins, losses = (
        np.cumsum(np.pad(ahead[:, order], ((0, 0), (1, 0))), axis=1) for ahead in (x > 0, x < 0)
    )
    e = e_value(wins, losses)
    adjusted = e_holm(e) if correct else e
    decided_after = (adjusted >= 1 / alpha).argmax(axis=1)
    then = np.arange(len(x)), np.where(decided_after > 0, decided_after, x.shape[1])
    return SequentialSigns(
        decided_after, np.sign(wins[then] - losses[then]), e[then], adjusted[then]
    )
