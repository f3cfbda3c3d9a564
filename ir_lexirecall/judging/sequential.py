"""Decide differences between runs while queries are judged one by one.

The evidence is an e-value: it may be looked at after every query, without losing its level.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ir_lexirecall._util.arrays import Bools, Floats, Ints
from ir_lexirecall._util.errors import check_number
from ir_lexirecall._util.lazy import special


@dataclass(frozen=True)
class SequentialSigns:
    """Decisions on P pairs by the sequential sign test, arrays of shape ``(P,)``.

    Attributes:
        decided_after: number of queries after which the pair was decided; 0 if it never was.
        sign: sign of wins - losses at the decision, or at the end.
        e: e-value at that moment.
        e_corrected: the e-value, corrected over the pairs by `e_holm`.
    """

    decided_after: Ints
    sign: Ints
    e: Floats
    e_corrected: Floats


def e_value(wins: NDArray[Any], losses: NDArray[Any]) -> Floats:
    """Return the evidence against wins being as likely as losses.

    e = 2^n B(w + 1/2, l + 1/2) / B(1/2, 1/2), n = w + l, is the likelihood of these wins under
    Jeffreys' prior over their probability, relative to their likelihood if the probability is 1/2.
    If neither run is better, its expectation is 1 after any number of queries. So it ever reaches
    1 / alpha with probability alpha at most (Ville).

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
    """Correct e-values over P hypotheses, shape ``(P, ...)``.

    A corrected e-value is the smallest mean of the e-value and any of the others. The mean of
    e-values of true hypotheses is an e-value, however they depend on each other. A hypothesis is
    rejected if every set that has it is rejected (closed testing). So any true hypothesis ever
    reaches 1 / alpha with probability alpha at most. Corrected e-values are at least e / P, as by
    Bonferroni's correction. If all e-values are equal, they stay as they are.

    Source: Vovk, Wang, E-values: Calibration, Combination and Applications, Annals of Statistics
    2021, doi 10.1214/20-AOS2020, Algorithm 1.

    >>> e_holm(np.array([90.0, 30.0, 0.0]))
    array([40., 15.,  0.])
    """
    order = np.argsort(e, axis=0, kind="stable")
    rising = np.take_along_axis(e, order, axis=0)
    least_mean = rising.copy()
    sum_of_smallest = np.zeros_like(rising[:1])
    for j in range(len(e) - 1):
        # Means with the j + 1 smallest e-values; a larger one would only lift the mean.
        sum_of_smallest = sum_of_smallest + rising[j]
        means = (rising[j + 1 :] + sum_of_smallest) / (j + 2)
        least_mean[j + 1 :] = np.minimum(least_mean[j + 1 :], means)
    corrected = np.empty_like(least_mean)
    np.put_along_axis(corrected, order, least_mean, axis=0)
    return corrected


def sequential_signs(
    x: Floats, alpha: float = 0.05, seed: int = 0, *, correct: bool = True
) -> SequentialSigns:
    """Look at queries in random order, until the sign test decides.

    A pair is decided when its corrected e-value reaches 1 / alpha. Ties are no evidence. The test
    is not valid for an order that is not random, nor if the same queries are looked at again, as by
    a gate that runs on every commit.

    Args:
        x: differences or preferences of P pairs on Q queries, shape ``(P, Q)``.
        alpha: probability that any pair without a difference is ever decided.
        seed: seed of the order.
        correct: False for a probability alpha for each pair without a difference.

    Source: Grünwald, de Heide, Koolen, Safe Testing, JRSS B 2024, doi 10.1093/jrsssb/qkae011.

    >>> sequential_signs(np.array([[1.0] * 9 + [0.0]]), seed=1).decided_after
    array([7])
    """
    check_number("alpha", alpha, above=0, below=1)
    order = np.random.default_rng(seed).permutation(x.shape[1])
    wins, losses = _counts_so_far(x[:, order] > 0), _counts_so_far(x[:, order] < 0)
    e = e_value(wins, losses)
    e_corrected = e_holm(e) if correct else e
    # The first look that decides; 0 if none does, as after 0 queries e is 1, less than 1 / alpha.
    decided_after = (e_corrected >= 1 / alpha).argmax(axis=1)
    last_look = (
        np.arange(len(x)),
        np.where(decided_after > 0, decided_after, x.shape[1]),
    )
    return SequentialSigns(
        decided_after,
        np.sign(wins[last_look] - losses[last_look]),
        e[last_look],
        e_corrected[last_look],
    )


def _counts_so_far(happens: Bools) -> Ints:
    """Count events after 0, 1, ... queries, for each pair."""
    before_the_first_query = ((0, 0), (1, 0))
    return np.cumsum(np.pad(happens, before_the_first_query), axis=1)
