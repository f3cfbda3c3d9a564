"""The largest of many ratios, by guesses that rise to it (Dinkelbach, Management Science 1967, doi 10.1287/mnsc.13.7.492)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ir_lexirecall._util.arrays import Floats, Ints

_GUESSES = 100


def largest_ratio(plus: Floats, most_plus: Ints, minus: Floats, most_minus: Ints, m: Floats, outside: Ints) -> Floats:
    """Largest (plus[i] - minus[j]) / (m + i + j + k) over i, j and k up to their numbers; 0 where nothing is relevant.

    Args:
        plus, minus: values for each number of documents from 0 on, shape ``(C, ...)``, each at least 0.
        most_plus, most_minus, outside: largest i, j and k, shape ``(C,)``.
        m: shape ``(C,)``; where it is 0, the values for no document are 0.

    >>> largest_ratio(np.array([[1.0, 3.0]]), np.array([1]), np.array([[0.5, 2.0]]), np.array([1]), np.array([1.0]), np.array([0]))
    array([1.25])
    """
    i, j = np.arange(plus.shape[1]), np.arange(minus.shape[1])
    plus = np.where(i <= most_plus[:, None], plus, -np.inf)
    minus = np.where(j <= most_minus[:, None], minus, np.inf)

    def best(guess: Floats, some: Ints) -> Floats:
        best_i = (plus[some] - guess[:, None] * i).argmax(axis=1)
        best_j = (minus[some] + guess[:, None] * j).argmin(axis=1)
        numerator = plus[some, best_i] - minus[some, best_j]
        denominator = m[some] + best_i + best_j + np.where(guess < 0, outside[some], 0)
        return np.divide(numerator, denominator, out=np.zeros(len(some)), where=denominator > 0)

    guess = np.divide(plus[:, 0] - minus[:, 0], m, out=np.zeros(len(m)), where=m > 0)
    return raised(guess, np.flatnonzero((most_plus > 0) | (most_minus > 0) | (outside > 0)), best)


def raised(guess: Floats, active: Ints, best: Callable[[Floats, Ints], Floats]) -> Floats:
    """Guesses, some of which (``active``) are raised to the largest ratios.

    ``best`` gives, for guesses and the places they stand at, the ratio of the choice with the largest numerator - guess x
    denominator: it is larger than the guess, unless that is the largest.
    """
    for _ in range(_GUESSES):
        ratio = best(guess[active], active)
        better = ratio > guess[active]
        guess[active[better]] = ratio[better]
        active = active[better]
        if not len(active):
            break
    return guess
