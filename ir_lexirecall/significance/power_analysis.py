"""Power: how likely a test finds a difference, and how many queries that takes.

All powers are those of one comparison at level alpha, two-sided, before any correction: for a family of K comparisons,
alpha / K is a cautious level (Bonferroni).
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ir_lexirecall.arrays import Floats, Ints
from ir_lexirecall.errors import needs
from ir_lexirecall.progress import progress_bar
from ir_lexirecall.significance import resampling, signed_rank
from ir_lexirecall.significance.closed_form import sign_test_p
from ir_lexirecall.significance.intervals import effect_of_mean, mean_and_deviation, scaled
from ir_lexirecall.significance.testing import SignificanceTest

_MOST = 10**7  # queries beyond which nobody goes
_MOST_SIMULATED = 10**4
_RESAMPLES = 999  # at most, of a test by resampling within a simulation
_BLOCK = 2**22  # differences that are simulated at once


# -- sign test ---------------------------------------------------------------------------------------


def sign_test_power(win: float, loss: float, tie: float, queries: int, alpha: float = 0.05) -> float:
    """Power of the sign test, exact, from the shares of queries won, lost and tied.

    The number D of decided queries is binomial, and given D so is the number of wins:
    power = sum_D P(D) P(the test rejects | D).

    Args:
        win, loss, tie: shares or counts of one population of queries; scaled to sum to 1.
        queries: number of queries.
        alpha: level of the test.

    Raises:
        ValueError: negative shares, shares of sum 0, a negative number of queries, or alpha not between 0 and 1.

    >>> round(sign_test_power(0.5, 0.2, 0.3, 50), 4)
    0.6778
    """
    shares = _shares(win, loss, tie)
    _check_level("sign_test_power", alpha)
    return _sign_power(*shares, _count("sign_test_power", queries), alpha)


def sign_test_queries_needed(
    win: float, loss: float, tie: float, alpha: float = 0.05, power: float = 0.8
) -> int | float:
    """The smallest number of queries with which the sign test reaches a power, exactly; inf: more than ten million.

    The power does not rise with every query, as the test's size does not stay at alpha: with some more queries it may be
    a little below ``power`` again.

    Args and errors: as in ``sign_test_power``; ``power`` must lie between 0 and 1.

    >>> sign_test_queries_needed(0.5, 0.2, 0.3), sign_test_queries_needed(0.3, 0.3, 0.4)
    (64, inf)
    """
    decided, wins = _shares(win, loss, tie)
    _check_level("sign_test_queries_needed", alpha, power)
    if decided == 0 or wins == 0.5:
        return math.inf

    # No test of level alpha is more powerful than the one that is randomised to have size alpha, and its power rises
    # with every query: the number sought is not below the one that it needs.
    def randomised(queries: int) -> float:
        return _sign_power(decided, wins, queries, alpha, randomised=True)

    needed = _smallest(randomised, power, 1, _MOST)
    while needed <= _MOST and _sign_power(decided, wins, int(needed), alpha) < power:
        needed += 1
    return needed if needed <= _MOST else math.inf


def _sign_power(decided_share: float, wins: float, queries: int, alpha: float, randomised: bool = False) -> float:
    from scipy import stats  # not needed to import this library

    middle, width = queries * decided_share, 10 * math.sqrt(queries * decided_share * (1 - decided_share)) + 10
    decided = np.arange(max(0, int(middle - width)), min(queries, int(middle + width)) + 1)
    fewer = _most_losses(decided, alpha)
    wins_in = stats.binom(decided, wins)
    power = np.where(fewer < 0, 0.0, wins_in.cdf(fewer) + wins_in.sf(decided - fewer - 1))
    if randomised:  # reject some of the next most extreme results, too
        size = np.where(fewer < 0, 0.0, sign_test_p(np.maximum(fewer, 0), decided))
        next_p = sign_test_p(fewer + 1, decided)
        next_power = np.where(
            decided == 2 * (fewer + 1),
            wins_in.pmf(fewer + 1),
            wins_in.pmf(fewer + 1) + wins_in.pmf(decided - fewer - 1),
        )
        next_power = np.where(decided == 0, 1.0, next_power)
        power += (alpha - size) / (next_p - size) * next_power
    return float(stats.binom.pmf(decided, queries, decided_share) @ power)


def _most_losses(decided: Ints, alpha: float) -> Ints:
    """The most losses (or wins) among so many decided queries with which the sign test rejects; -1: none.

    >>> _most_losses(np.array([0, 5, 6, 10, 20]), 0.05)
    array([-1, -1,  0,  1,  5])
    """
    from scipy import special  # not needed to import this library

    fewer = np.maximum(-1, (decided / 2 + special.ndtri(alpha / 2) * np.sqrt(decided) / 2).astype(np.int64))
    while (more := (2 * fewer + 2 <= decided) & (sign_test_p(fewer + 1, decided) <= alpha)).any():
        fewer = fewer + more
    while (less := (fewer >= 0) & (sign_test_p(np.maximum(fewer, 0), decided) > alpha)).any():
        fewer = fewer - less
    return fewer


# -- t-test ------------------------------------------------------------------------------------------


def t_test_power(effect: float, queries: int, alpha: float = 0.05) -> float:
    """Power of the paired t-test of normal differences, by statsmodels.

    Args:
        effect: mean / standard deviation of the differences (Cohen's d_z).
        queries: number of queries.
        alpha: level of the test.

    Raises:
        ModuleNotFoundError: statsmodels is not installed.
        ValueError: a negative number of queries, or alpha not between 0 and 1.

    >>> round(t_test_power(0.5, 34), 4)
    0.8078
    """
    _check_level("t_test_power", alpha)
    queries = _count("t_test_power", queries)
    try:
        from statsmodels.stats.power import ttest_power
    except ModuleNotFoundError:
        raise ModuleNotFoundError(needs("the power of the t-test", "statsmodels", "compare")) from None
    if queries < 2:
        return 0.0
    if math.isinf(effect):
        return 1.0
    right, wrong = (
        float(ttest_power(abs(effect), queries, alpha / 2, alternative=side)) for side in ("larger", "smaller")
    )
    if math.isnan(right):  # a noncentrality beyond 35: the chance lies in the deviation alone
        from scipy import special  # not needed to import this library

        critical = special.stdtrit(queries - 1, alpha / 2)
        right = float(special.chdtr(queries - 1, (queries - 1) * queries * (effect / critical) ** 2))
    return right if math.isnan(wrong) else right + wrong


def t_test_queries_needed(effect: float, alpha: float = 0.05, power: float = 0.8) -> int | float:
    """The smallest number of queries with which the paired t-test reaches a power; inf: more than ten million.

    Args and errors: as in ``t_test_power``; ``power`` must lie between 0 and 1.

    >>> t_test_queries_needed(0.5), t_test_queries_needed(0.0)
    (34, inf)
    """
    _check_level("t_test_queries_needed", alpha, power)
    if effect == 0:
        return math.inf
    return _smallest(lambda queries: t_test_power(effect, queries, alpha), power, 2, _MOST)


# -- any test ----------------------------------------------------------------------------------------


def smallest_p(test: SignificanceTest | str, queries: int) -> float:
    """The smallest p-value that a test can give with so many queries: beyond alpha, it cannot reject at all.

    sign and wilcoxon: 2^(1-n); randomisation: the same up to 12 queries, then 1 / (n_resamples + 1), as for bootstrap
    and tukey; t: 0. One query can never be enough.

    >>> smallest_p("sign", 5), smallest_p("t", 5), smallest_p(SignificanceTest("bootstrap", n_resamples=999), 5)
    (0.0625, 0.0, 0.001)
    """
    test = SignificanceTest.coerce(test, caller="smallest_p")
    queries = _count("smallest_p", queries)
    if queries < 2:
        return 1.0
    if test.name == "t":
        return 0.0
    if test.name in ("sign", "wilcoxon") or (test.name == "randomisation" and queries <= resampling.EXACT):
        return math.ldexp(1.0, 1 - queries)
    return 1 / (test.n_resamples + 1)


def power(test: SignificanceTest | str, x: Floats, queries: int, *, simulations: int = 1000) -> Floats:
    """Power of a test with so many queries like those observed, a number per pair.

    ``sign``: exact from the shares of wins, losses and ties; ``t``: from the effect size, for normal differences; the other
    tests: the share of ``simulations`` samples of queries, drawn from the observed ones with replacement, in which
    p <= alpha (with at most 999 resamples per test).

    Args:
        test: name or ``SignificanceTest``, whose alpha, n_resamples and seed are used.
        x: observed differences of P pairs on Q >= 1 queries, shape ``(P, Q)``.
        queries: number of queries.
        simulations: samples that are simulated.

    Raises:
        ValueError: wrong shape, no queries, unknown test; or Tukey's HSD, see ``power_of_all``.
        ModuleNotFoundError: ``t`` without statsmodels.

    >>> power("sign", np.array([[1.0, 1.0, 0.0, -1.0]]), 100).round(4)
    array([0.8045])
    """
    test, x = _observed("power", test, x)
    queries = _count("power", queries)
    rows = progress_bar(test.progress, x, desc="power")
    return np.array([_power_of_row(test, row, queries, simulations) for row in rows], dtype=np.float64)


def queries_needed(test: SignificanceTest | str, x: Floats, power: float = 0.8, *, simulations: int = 1000) -> Floats:
    """The smallest number of queries like those observed with which a test reaches a power, a number per pair.

    Where the power is simulated (see ``power``), the number is within one percent of the one that the simulation gives.
    inf: more than ten million, where it is simulated more than ten thousand, or none.

    Args and errors: as in ``power``; ``power`` must lie between 0 and 1.

    >>> queries_needed("sign", np.array([[1.0, 1.0, 0.0, -1.0], [1.0, -1.0, 0.0, 0.0]]))
    array([99., inf])
    """
    test, x = _observed("queries_needed", test, x)
    _check_level("queries_needed", test.alpha, power)
    rows = progress_bar(test.progress, x, desc="queries needed")
    return np.array([_needed_by_row(test, row, power, simulations) for row in rows], dtype=np.float64)


def power_of_all(test: SignificanceTest | str, values: Floats, queries: int, *, simulations: int = 1000) -> Floats:
    """``power`` for all pairs of systems by their values per query, shape ``(Q, S)`` -> ``(S, S)``; 0 on the diagonal.

    For ``tukey`` the mean differences of so many queries are taken to be normal, and the critical difference to shrink
    with their square root from the observed one.

    >>> values = np.random.default_rng(0).normal([0.6, 0.5, 0.5], 0.2, (40, 3))
    >>> power_of_all("tukey", values, 200)[0].round(2)
    array([0.  , 0.83, 0.03])
    """
    test, values = _observed("power_of_all", test, values, any_test=True)
    queries = _count("power_of_all", queries)
    if test.name == "tukey":
        of_queries = _tukey_power(test, values)
        return of_queries(np.full((values.shape[1],) * 2, queries))
    return _square(power(test, _differences(values), queries, simulations=simulations), values.shape[1], 0.0)


def queries_needed_of_all(
    test: SignificanceTest | str, values: Floats, power: float = 0.8, *, simulations: int = 1000
) -> Floats:
    """``queries_needed`` for all pairs of systems by their values per query, shape ``(Q, S)`` -> ``(S, S)``.

    For ``tukey`` as in ``power_of_all``. No number is enough on the diagonal: inf.

    >>> values = np.random.default_rng(0).normal([0.6, 0.5, 0.5], 0.2, (40, 3))
    >>> queries_needed_of_all("tukey", values)[0]
    array([   inf,   186., 14878.])
    """
    test, values = _observed("queries_needed_of_all", test, values, any_test=True)
    _check_level("queries_needed_of_all", test.alpha, power)
    systems = values.shape[1]
    if test.name != "tukey":
        return _square(queries_needed(test, _differences(values), power, simulations=simulations), systems, math.inf)
    of_queries = _tukey_power(test, values)
    low, high = np.zeros((systems, systems), dtype=np.int64), np.full((systems, systems), _MOST + 1)
    while ((high - low) > 1).any():
        middle = (low + high) // 2
        enough = of_queries(middle) >= power
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return np.where(high > _MOST, math.inf, high)


def _power_of_row(test: SignificanceTest, row: Floats, queries: int, simulations: int) -> float:
    if test.name == "sign":
        wins, losses = int((row > 0).sum()), int((row < 0).sum())
        return _sign_power(*_shares(wins, losses, len(row) - wins - losses), queries, test.alpha)
    if not row.any():
        return 0.0
    if test.name == "t":
        return t_test_power(float(effect_of_mean(row[None])[0]), queries, test.alpha)
    if smallest_p(test, queries) > test.alpha:
        return 0.0
    test = replace(test, n_resamples=min(test.n_resamples, _RESAMPLES), progress=False)
    rng = np.random.default_rng(test.seed)
    rejected = 0
    step = max(1, _BLOCK // queries)
    for start in range(0, simulations, step):
        sample = row[rng.integers(len(row), size=(min(step, simulations - start), queries))]
        p = signed_rank.wilcoxon(sample, None).p if test.name == "wilcoxon" else test.of_pairs(sample).p
        rejected += int(np.count_nonzero(p <= test.alpha))
    return rejected / simulations


def _needed_by_row(test: SignificanceTest, row: Floats, power: float, simulations: int) -> int | float:
    effect = abs(float(effect_of_mean(row[None])[0]))
    if test.name == "sign":
        wins, losses = int((row > 0).sum()), int((row < 0).sum())
        if wins + losses == 0:
            return math.inf
        return sign_test_queries_needed(wins, losses, len(row) - wins - losses, test.alpha, power)
    if test.name == "t":
        return t_test_queries_needed(effect, test.alpha, power)
    if not row.any():
        return math.inf
    from scipy import special  # not needed to import this library

    # What the t-test would need is not far off.
    distance = special.ndtri(power) - special.ndtri(test.alpha / 2)
    start = int(min(_MOST_SIMULATED, max(2, (distance / effect) ** 2))) if effect else _MOST_SIMULATED
    return _smallest(
        lambda queries: _power_of_row(test, row, queries, simulations), power, start, _MOST_SIMULATED, percent=1
    )


def _tukey_power(test: SignificanceTest, values: Floats) -> Callable[[Ints], Floats]:
    """Power of Tukey's HSD for all pairs, from numbers of queries ``(S, S)``."""
    from scipy import special  # not needed to import this library

    tested = test.of_all(values)
    half = tested.high - tested.estimate
    np.fill_diagonal(half, np.inf)
    difference = np.abs(tested.estimate)
    deviation = np.stack([mean_and_deviation(column - values.T)[1] for column in values.T])

    def of_queries(queries: Ints) -> Floats:
        root, critical = np.sqrt(queries), half * np.sqrt(len(values))
        with np.errstate(divide="ignore", invalid="ignore"):
            further, opposite = (difference * root - critical) / deviation, (-difference * root - critical) / deviation
        # Without any spread, the difference is what it is.
        certain = (difference * root > critical).astype(np.float64)
        power = np.where(deviation > 0, special.ndtr(further) + special.ndtr(opposite), certain)
        return np.where(np.isinf(half), 0.0, power)

    return of_queries


def _differences(values: Floats) -> Floats:
    i, j = np.triu_indices(values.shape[1], 1)
    return (values[:, i] - values[:, j]).T


def _square(of_pairs: Floats, systems: int, diagonal: float) -> Floats:
    """The same number for a pair in either order."""
    square = np.full((systems, systems), diagonal)
    i, j = np.triu_indices(systems, 1)
    square[i, j] = square[j, i] = of_pairs
    return square


def _smallest(power_of: Callable[[int], float], power: float, start: int, most: int, percent: int = 0) -> int | float:
    """The smallest number, of at most ``most``, whose power is reached; of a power that rises. inf: none."""
    low, high = 0, start
    while power_of(high) < power:
        if high >= most:
            return math.inf
        low, high = high, min(most, 2 * high)
    while high - low > max(1, high * percent // 100):
        middle = (low + high) // 2
        if power_of(middle) < power:
            low = middle
        else:
            high = middle
    return high


def _observed(
    caller: str, test: SignificanceTest | str, x: Floats, any_test: bool = False
) -> tuple[SignificanceTest, Floats]:
    test = SignificanceTest.coerce(test, caller=caller)
    x = np.asarray(x, dtype=np.float64)
    if x.ndim != 2 or 0 in x.shape or not np.isfinite(x).all():
        raise ValueError(f"{caller}: expected a matrix of finite numbers, of at least one query")
    if test.name == "tukey" and not any_test:
        raise ValueError(f"{caller}: Tukey's HSD tests all systems at once; call {caller}_of_all")
    return test, scaled(x.reshape(1, -1))[0].reshape(x.shape) if any_test else scaled(x)[0]


def _shares(win: float, loss: float, tie: float) -> tuple[float, float]:
    """Share of decided queries, and of wins among them."""
    total = win + loss + tie
    if not (min(win, loss, tie) >= 0 and 0 < total < math.inf):
        raise ValueError(f"power: shares of wins, losses and ties must be 0 or more, not {win!r}, {loss!r}, {tie!r}")
    return (win + loss) / total, win / (win + loss) if win + loss else 0.5


def _check_level(caller: str, alpha: float, power: float = 0.8) -> None:
    for what, level in (("alpha", alpha), ("power", power)):
        if isinstance(level, bool) or not isinstance(level, numbers.Real) or not 0 < level < 1:
            raise ValueError(f"{caller}: {what} must lie between 0 and 1, not {level!r}")


def _count(caller: str, queries: int) -> int:
    if isinstance(queries, bool) or not isinstance(queries, numbers.Integral) or queries < 0:
        raise ValueError(f"{caller}: queries must be an integer of at least 0, not {queries!r}")
    return int(queries)
