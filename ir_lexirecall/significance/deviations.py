"""Which run may be the best, and which rank each may have: differences of all pairs, studentised, bounded together.

The difference of a pair is divided by its own standard error, in the sample and in every resample,
so that a pair of nearly equal runs counts as much as one of very different ones. Unstudentised,
such bounds keep the true best run of several nearly equal ones in .80 to .93 of cases instead of
.95.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from ir_lexirecall._util.arrays import Bools, Floats, Ints
from ir_lexirecall._util.errors import entry
from ir_lexirecall._util.lazy import cached_property
from ir_lexirecall._util.rounding import DIFFERENCE, SUM
from ir_lexirecall.significance.draws import Draws, Statistic, resample
from ir_lexirecall.significance.outcomes import Resampled, kth_largest, most_extreme

_DRAWS = Resampled()
_ENOUGH = 5_000  # resamples of all pairs
_ROWS = 64  # of a matrix product: one of few rows costs as much
_KEPT = 2**22  # squared differences that may be kept
_MANY = 2**18  # differences of pairs on queries from which single precision is enough
_SMALL = 1e-12  # differences whose squares it might not tell from 0
# Of the observed standard error, what that of a resample is at least, for bounds of ranks.
_LEAST_ERROR = 0.35
_LEAST_ERROR_OF_MANY = 0.25  # of more runs than these:
_MANY_RUNS = 20
_FLAT: dict[type, float] = {np.float64: SUM, np.float32: 2e-6}  # relative variance that is rounding


@dataclass(frozen=True)
class Deviations:
    """Differences of all pairs of S runs, and the largest deviations of B resamples from them.

    Attributes:
        t: macro mean of the column's run minus that of the row's, divided by its standard error,
            shape ``(S, S)``; 0 for equal runs, infinite where a difference has no spread.
        above: per run and resample, the largest t of another run's gain on it, shape ``(S, B)``; 0
            where there is none.
        furthest: per resample, the largest absolute t of any pair, shape ``(B,)``, with standard
            errors of at least c times the observed ones: see `rank_intervals`.
        least_p: the smallest p that the sample allows, 2^-n with n queries in all.
    """

    t: Floats
    above: Floats
    furthest: Floats
    least_p: float


@entry
def studentised_deviations(
    values: Sequence[Floats],
    over: str = "queries",
    draws: Resampled = _DRAWS,
    *,
    for_ranks: bool = True,
) -> Deviations:
    """Return differences of all pairs and their studentised deviations in resamples.

    A resample's t of a pair is (its difference - the observed one) / (the standard error of the
    difference in the resample), infinite where it has no spread. The resamples are those of
    ``macro_bootstrap``. ``over="queries"``: the variance of a difference is the sum of its
    variances over queries / Q_d, / D^2. ``over="collections"``: the variance is that of the D means
    / D, but at least that over queries; what the drawn collections' means differ from the macro
    mean is scaled by sqrt(D / (D - 1)).

    Args:
        values: of S runs on the queries of each of D collections, larger is better, shape ``(S,
            Q_d)`` each.
        over: ``"queries"`` or ``"collections"``.
        draws: resamples of the queries, the same for all runs. Of more than 5,000 the first half is
            taken, but at least 5,000: with so many the level of .05 varies by .003, and all pairs
            cost much more than all means.
        for_ranks: whether ``rank_intervals`` takes the result; ``best_set`` alone needs no
            ``furthest``, which is 0 then.

    >>> x = np.random.default_rng(0).normal([[0.5], [0.5], [0.9]], 0.3, (3, 40))
    >>> deviations = studentised_deviations([x], draws=Resampled(999))
    >>> deviations.t[0].round(1), deviations.above.shape
    (array([0. , 1.6, 7.7]), (3, 999))
    """
    if not len(values):
        raise ValueError("values holds no collection")
    pairs = PairDeviations(values, over, draws.number, for_ranks=for_ranks)
    resample([pairs], seed=draws.seed, progress=draws.progress)
    return pairs.found


class PairDeviations(Statistic):
    """``studentised_deviations`` as a statistic that takes resamples.

    Attributes:
        found: what it has found.
    """

    def __init__(
        self, values: Sequence[Floats], over: str, n_resamples: int, *, for_ranks: bool = True
    ) -> None:
        enough = min(n_resamples, max(_ENOUGH, n_resamples // 2))
        super().__init__(
            values, over, n_resamples=enough, widest=max(16, 3 + len(values)) * len(values[0])
        )
        self._for_ranks = for_ranks
        # What all runs share on a query changes no difference: without it, less is rounded.
        values = [x - x.min(axis=0) for x in values]
        largest = max(float(x.max(initial=0)) for x in values)
        values = [np.ldexp(x, -np.frexp(largest)[1]) for x in values]
        self._scale = np.max(
            [x.max(axis=1) for x in values], axis=0
        )  # largest value of each run, shape (S,)
        self._means = np.stack([x.mean(axis=1) for x in values])  # of each collection, shape (D, S)
        self._mean = self._means.mean(axis=0)  # macro means
        self._centered = [x - m[:, None] for x, m in zip(values, self._means, strict=True)]
        # All collections side by side, shape (S, sum Q_d): the sum of their squares is the variance
        # of the macro mean over queries.
        root = [np.sqrt(size * max(size - 1, 1)) * len(values) for size in self.sizes]
        self._y = np.concatenate([x / r for x, r in zip(self._centered, root, strict=True)], axis=1)
        above: Any = np.zeros((len(values[0]), self.n_resamples), dtype=self._precision)
        furthest = np.zeros(self.n_resamples)
        self.found: Deviations = Deviations(
            np.zeros((len(above), len(above))), above, furthest, 2.0 ** -sum(self.sizes)
        )
        self._least_errors = np.zeros((len(above), len(above)))  # of each run and those after it
        share = least_error_share(len(above))
        over_collections = over == "collections"
        if min(self.sizes) < 2 or (over_collections and len(values) < 2):
            return  # nothing is known of the spread
        for j in range(len(above) - 1):
            difference = self._mean[j + 1 :] - self._mean[j]
            noise = SUM * np.maximum(self._scale[j + 1 :], self._scale[j])
            difference[np.abs(difference) <= noise] = 0
            variance = (self._spread(j) ** 2).sum(axis=1)
            if over_collections:
                between = self._means[:, j + 1 :] - self._means[:, j : j + 1]
                variance = np.maximum(variance, between.var(axis=0, ddof=1) / len(values))
            error = np.sqrt(np.where(variance <= noise**2, 0.0, variance))
            self._least_errors[j, j + 1 :] = share * error
            # No difference: 0; one without spread: infinite.
            with np.errstate(divide="ignore", invalid="ignore"):
                t = difference / error
            self.found.t[j, j + 1 :] = np.where(difference == 0, 0.0, t)
            self.found.t[j + 1 :, j] -= self.found.t[j, j + 1 :]

    def take(self, draws: Draws) -> None:
        """The largest deviations of some resamples: t of the gains of the runs after each run j on it."""
        above, of_runs = self.found.above[:, draws.some], draws.means(self._centered)
        lowest = np.zeros_like(above)  # t of the gains of the runs before each run j on it, negated
        furthest = self.found.furthest[draws.some]
        collections, over_collections = len(self.sizes), self.over == "collections"
        inverse = 1 / (np.maximum(np.array(self.sizes) - 1, 1) * collections**2)
        weights: Any = inverse[draws.drawn.T].astype(self._precision)
        count = draws.count.astype(self._precision, copy=False)
        blocks = (
            np.split(squares @ count, ends)
            for squares, ends in self._kept_squares or self._squares()
        )
        for j, variance in enumerate(chain.from_iterable(blocks)):
            # Of collections that are drawn, means may differ by rounding alone.
            precision: Any = np.float64 if over_collections else self._precision
            moved: Any = np.empty(of_runs[:, j + 1 :].shape, dtype=precision)
            np.subtract(of_runs[:, j + 1 :], of_runs[:, j : j + 1], out=moved, casting="same_kind")
            of_mean = np.square(moved[0])
            of_mean *= weights[0]
            for place, weight in zip(moved[1:], weights[1:], strict=True):
                of_mean += weight * place**2
            # The square of the mean is the mean of squares where all drawn differences are equal.
            constant = of_mean >= (1 - _FLAT[self._precision]) * variance
            variance -= of_mean
            difference = moved[0]
            noise = SUM * np.maximum(self._scale[j + 1 :], self._scale[j])
            if over_collections:
                effects = (
                    self._means[:, j + 1 :]
                    - self._means[:, j : j + 1]
                    - (self._mean[j + 1 :] - self._mean[j])
                )
                # Of D drawn with replacement, the spread is by (D - 1) / D smaller than that of the
                # population.
                effects *= np.sqrt(collections / max(1, collections - 1))
                for place, drawn in zip(moved, draws.drawn.T, strict=True):
                    place += effects.T[:, drawn]
            if collections > 1:
                difference = moved.mean(axis=0)
            if over_collections and collections > 1:
                moved -= difference
                between = np.einsum("dpb,dpb->pb", moved, moved) / ((collections - 1) * collections)
                constant &= between <= noise[:, None] ** 2
                variance = np.maximum(variance, between)
            if constant.any():
                variance[constant] = 0.0
            error = np.sqrt(variance, out=variance)
            raised = self._raised(j, difference, error) if self._for_ranks else None
            t = _studentised(difference, error, constant, noise)
            np.maximum(above[j], t.max(axis=0), out=above[j])
            np.minimum(lowest[j + 1 :], t, out=lowest[j + 1 :])
            if raised is not None:
                pair, sample, smaller = raised
                t[pair, sample] = smaller
                np.maximum(furthest, np.maximum(t.max(axis=0), -t.min(axis=0)), out=furthest)
        np.maximum(above, np.negative(lowest, out=lowest), out=above)

    def _raised(self, j: int, difference: Any, error: Any) -> tuple[Ints, Ints, Any]:
        """Return pairs and resamples whose standard error is raised to the least one, and their t."""
        least_error = self._least_errors[j, j + 1 :]
        rows = np.flatnonzero(error.min(axis=1) < least_error)
        pair, sample = np.nonzero(error[rows] < least_error[rows, None])
        pair = rows[pair]
        return pair, sample, difference[pair, sample] / least_error[pair]

    @cached_property
    def _precision(self) -> type:
        """Single precision where there are many differences, none of them so small that its square would be 0."""
        if len(self._mean) < 2 or len(self._mean) * self._y.size <= _MANY:
            return np.float64
        largest = np.concatenate(
            [np.abs(self._spread(j)).max(axis=1) for j in range(len(self._mean) - 1)]
        )
        return np.float32 if largest[largest > 0].min(initial=1) > _SMALL else np.float64

    def _spread(self, j: int) -> Floats:
        """Differences of the rows after j to it, without rounding."""
        spread = self._y[j + 1 :] - self._y[j]
        noise = (
            SUM
            * np.maximum(self._scale[j + 1 :], self._scale[j])
            / (min(self.sizes) * len(self.sizes))
        )
        spread[np.abs(spread) <= noise[:, None]] = 0
        return spread

    def _squares(self) -> Iterator[tuple[Any, Ints]]:
        """The squares of these differences for some j at a time, and where those of one j end."""
        squares: list[Any] = []
        for j in range(len(self._mean) - 1):
            squares.append((self._spread(j) ** 2).astype(self._precision))
            ends = np.cumsum([len(rows) for rows in squares])
            if ends[-1] >= _ROWS or len(squares[-1]) == 1:
                yield np.concatenate(squares), ends[:-1]
                squares = []

    @cached_property
    def _kept_squares(self) -> list[tuple[Any, Ints]]:
        """All squares, or none where they are many."""
        return list(self._squares()) if len(self._mean) ** 2 * self._y.shape[1] <= _KEPT else []


def _studentised(difference: Any, error: Any, constant: Bools, noise: Floats) -> Any:
    """Return differences over their standard errors, in the array of the latter, shape ``(P, B)``.

    Args:
        difference: of P pairs in B resamples.
        error: 0 for those that are constant.
        constant: where all drawn differences are equal.
        noise: the largest differences that are rounding, shape ``(P,)``.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.divide(difference, error, out=error)
    if constant.any():
        difference = difference[constant]
        differs = np.abs(difference) > noise[np.nonzero(constant)[0]]
        t[constant] = np.where(differs, np.copysign(np.inf, difference), 0.0)
    return t


def least_error_share(n_runs: int) -> float:
    """Return which share of the observed standard error that of a resample is at least."""
    return _LEAST_ERROR if n_runs <= _MANY_RUNS else _LEAST_ERROR_OF_MANY


def best_set(deviations: Deviations) -> Floats:
    """p that each run is the best one, shape ``(S,)``: where it is at most alpha, another run is surely better.

    For run j, T_j is the largest t of the gain of another run k on j, and p the share of resamples
    in which the largest deviation of such gains is at least T_j; never below 2^-n. The run of the
    largest mean has p = 1. With a probability of at least 1 - alpha, the true best run is among
    those whose p is above alpha.

    Sources: Hsu, Multiple Comparisons: Theory and Methods, 1996; Mogstad, Romano, Shaikh, Wilhelm,
    Inference for Ranks with Applications to Mobility across Neighbourhoods and Academic Achievement
    across Countries, Review of Economic Studies 2024, doi 10.1093/restud/rdad006.

    >>> x = np.random.default_rng(0).normal([[0.5], [0.8], [0.9]], 0.3, (3, 40))
    >>> best_set(studentised_deviations([x], draws=Resampled(999))).round(3)
    array([0.001, 0.559, 1.   ])
    """
    largest = deviations.t.max(axis=1)
    resamples = deviations.above.shape[1]
    count = np.count_nonzero(deviations.above >= (largest * (1 - DIFFERENCE))[:, None], axis=1)
    p = np.maximum((1 + count) / (1 + resamples), deviations.least_p)
    return np.where(largest > 0, p, 1.0)


def rank_intervals(deviations: Deviations, alpha: float = 0.05) -> tuple[Ints, Ints]:
    """Return the ranks that each run may have: 1 + runs surely better, S - runs surely worse.

    The differences of all pairs are bounded together: a run is surely better where its t is above,
    and surely worse where it is below, all but alpha of the largest absolute deviations of any
    pair. With a probability of at least 1 - alpha, the intervals hold the true ranks of all runs at
    once.

    In these deviations the standard error of a resample is at least c times the observed one, c =
    0.35 for up to 20 runs and 0.25 for more. Two runs that are nearly the same differ on few
    queries, which many resamples miss; without the floor they alone would decide the bound (of 63
    runs, .098 of the pairs were told apart instead of .376). Of 30 matrices of 16 or 17 runs, all
    ranks hold in .978, .965 and .955 of samples of 25, 50 and 100 queries, on the worst in .930,
    .928 and .914; with differences as skewed as those of TREC 5 (AP) in .905 at 50.

    Returns:
        The lowest and the highest ranks, shape ``(S,)`` each.

    Source: Mogstad, Romano, Shaikh, Wilhelm, see ``best_set``.

    >>> x = np.random.default_rng(0).normal([[0.5], [0.5], [0.9]], 0.3, (3, 40))
    >>> rank_intervals(studentised_deviations([x], draws=Resampled(999)))
    (array([2, 2, 1]), array([3, 3, 1]))
    """
    runs, resamples = deviations.above.shape
    k = most_extreme(resamples, alpha) if 2 * deviations.least_p <= alpha else 0
    bound = kth_largest(deviations.furthest[None], k)[0] * (1 + DIFFERENCE)
    better = np.count_nonzero(deviations.t > bound, axis=1)
    worse = np.count_nonzero(deviations.t < -bound, axis=1)
    return 1 + better, runs - worse
