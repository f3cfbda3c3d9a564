"""Judging queries in random order until a sign test has seen enough, valid whenever one stops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ir_lexirecall._util.arrays import Floats, Ints
from ir_lexirecall._util.errors import check_number
from ir_lexirecall._util.lazy import special


@dataclass(frozen=True)
class SequentialSigns:
    """What the sign test says after each query, in the order in which they were judged: P pairs."""

    order: Ints  # the queries, shape ``(Q,)``
    e: Floats  # e-values after each of them, shape ``(P, Q)``
    decided_after: Ints  # number of queries after which e reached 1 / alpha, 0: never; shape ``(P,)``
    sign: Ints  # of wins - losses then, or at the end; shape ``(P,)``


def e_value(wins: NDArray[Any], losses: NDArray[Any]) -> Floats:
    """Evidence against wins being as likely as losses: e = 2^n B(w + 1/2, l + 1/2) / B(1/2, 1/2), n = w + l.

    The likelihood of these wins under Jeffreys' prior over their probability, relative to that under 1/2: if neither run is better, its
    expectation is 1 however long one looks, so that it reaches 1 / alpha at any time with probability alpha at most (Ville).

    >>> e_value(np.array([0, 5, 9]), np.array([0, 5, 0])).round(2)
    array([ 1.  ,  0.25, 94.96])
    """
    wins, losses = wins.astype(np.float64), losses.astype(np.float64)
    log_e = (wins + losses) * np.log(2) + special.betaln(wins + 0.5, losses + 0.5) - special.betaln(0.5, 0.5)
    return np.exp(np.minimum(log_e, 700.0))  # beyond, a float would overflow


def sequential_signs(x: Floats, alpha: float = 0.05, seed: int = 0) -> SequentialSigns:
    """Look at queries in random order and stop where the sign test is decided: e >= 1 / alpha. Ties say nothing.

    ``x`` are differences or preferences of P pairs on Q queries, shape ``(P, Q)``; ``alpha`` is the probability of a decision
    where there is no difference, whenever one looks; ``seed`` is of the order.

    What this does not cure: an order that is not random, and asking again on the same queries, as a gate does that runs on every commit.

    Source: Grünwald, de Heide, Koolen, Safe Testing, JRSS B 2024, doi 10.1093/jrsssb/qkae011.

    >>> sequential_signs(np.array([[1.0] * 9 + [0.0]]), seed=1).decided_after
    array([7])
    """
    check_number("alpha", alpha, above=0, below=1)
    order = np.random.default_rng(seed).permutation(x.shape[1])
    wins, losses = (np.cumsum(signs[:, order], axis=1) for signs in (x > 0, x < 0))
    e = e_value(wins, losses)
    enough = e >= 1 / alpha
    decided = enough.any(axis=1)
    after = np.where(decided, enough.argmax(axis=1) + 1, 0)
    last = np.where(decided, after, x.shape[1]) - 1
    row = np.arange(len(x))
    sign = np.sign(wins[row, last] - losses[row, last]) if x.shape[1] else np.zeros(len(x), dtype=np.int64)
    return SequentialSigns(order, e, after, sign)
