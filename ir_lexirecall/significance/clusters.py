"""Queries that come in groups (of a user, a session, a topic): groups instead of queries as units of tests and intervals."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ir_lexirecall._util.arrays import Floats
from ir_lexirecall._util.errors import entry
from ir_lexirecall.significance.intervals import TestResult, effect_of_mean, mean_and_deviation, moved
from ir_lexirecall.significance.one_magnitude import exact_where_of_one_magnitude
from ir_lexirecall.significance.resampling import bootstrap
from ir_lexirecall.significance.student import t_of_mean


@entry
def group_units(x: Floats, groups: ArrayLike, *, resampled: bool = False) -> Floats:
    """One number per group in place of those of its queries, with the same mean: jackknife pseudo-values, shape ``(P, G)``.

    With n_g of the Q queries in group g, their sum X_g, and the mean m over all queries, it is
    m + (G - 1) (X_g - n_g m) / (Q - n_g), moved such that the mean is m. For groups of one size, that is the group's mean.
    Whatever takes differences or values of queries takes these: tests, their intervals, intervals of means.

    Args:
        x: differences or values of P pairs or runs on Q queries, shape ``(P, Q)``.
        groups: a label per query, shape ``(Q,)``.
        resampled: for the bootstrap, which knows no degrees of freedom: where sizes differ, spread about the mean as as many
            equal groups would be that weigh the same, n = Q^2 / sum_g n_g^2: wider by sqrt(n / (n - 1) (G - 1) / G).

    Raises:
        ValueError: another number of labels than of queries.

    >>> group_units(np.array([[0.2, 0.4, 0.1, 0.3]]), ["a", "a", "b", "b"])
    array([[0.3, 0.2]])
    """
    member, size = _membership(x, groups)
    mean = mean_and_deviation(x)[0][:, None]
    count = len(size)
    if count < 2:
        return mean
    further = (count - 1) * ((x - mean) @ member) / (x.shape[1] - size)
    further -= further.mean(axis=1, keepdims=True)
    degrees = degrees_of_groups(groups)
    if resampled and degrees < count - 1:
        further *= np.sqrt((1 + 1 / degrees) * (1 - 1 / count))
    return np.stack([moved(row[None], m)[0] for row, m in zip(further, mean, strict=True)]) if len(x) else further


def degrees_of_groups(groups: ArrayLike) -> float:
    """Degrees of freedom of groups: of as many equal ones as weigh the same, less 1.

    >>> degrees_of_groups(["a", "a", "b", "b"]), degrees_of_groups(["a", "a", "a", "b"])
    (1.0, 0.6000000000000001)
    """
    size = np.unique(np.asarray(groups), return_counts=True)[1].astype(np.float64)
    return float(size.sum() ** 2 / (size**2).sum()) - 1


@entry
def clustered_t_test(x: Floats, groups: ArrayLike, alpha: float = 0.05) -> TestResult:
    """Paired t-test of the mean over queries with groups as units: ``t_test`` of ``group_units``.

    For groups of unequal sizes it has the degrees of freedom of as many equal ones as weigh the same,
    Q^2 / sum_g n_g^2 - 1. In simulations with 5 to 100 groups, 95% intervals hold the true mean of symmetric differences in
    94 to 96% (with G - 1 degrees of freedom in 90 to 96%; intervals that ignore groups in 58 to 85%).

    The effect size is that of the queries. A single group says nothing of the spread: p is 1.

    >>> x = np.array([[0.2, 0.4, 0.1, 0.3, -0.1, 0.3]])
    >>> clustered_t_test(x, ["a", "a", "b", "b", "c", "c"]).p.round(3), clustered_t_test(x, range(6)).p.round(3)
    (array([0.074]), array([0.041]))
    """
    units, degrees = group_units(x, groups), degrees_of_groups(groups)
    result = exact_where_of_one_magnitude(units, alpha, lambda rows: t_of_mean(rows, alpha, degrees))
    return TestResult(result.estimate, result.low, result.high, result.p, effect_of_mean(x))


@entry
def clustered_bootstrap(
    x: Floats, groups: ArrayLike, alpha: float = 0.05, *, n_resamples: int, seed: int, progress: bool | None = False
) -> TestResult:
    """Paired bootstrap of the mean over queries that draws groups: ``bootstrap`` of ``group_units``, spread.

    In simulations with 5 to 30 groups, 95% intervals hold the true mean in 94 to 98%; were groups of unequal sizes not spread, in
    92 to 98%.

    >>> x = np.array([[0.2, 0.4, 0.1, 0.3, -0.1, 0.35, 0.2, 0.25]])
    >>> bool(clustered_bootstrap(x, [0, 0, 1, 1, 2, 2, 3, 3], n_resamples=999, seed=0).p[0] > 0.01)
    True
    """
    units = group_units(x, groups, resampled=True)
    result = bootstrap(units, alpha, n_resamples=n_resamples, seed=seed, progress=progress)
    return TestResult(result.estimate, result.low, result.high, result.p, effect_of_mean(x))


def _membership(x: Floats, groups: ArrayLike) -> tuple[Floats, Floats]:
    """1 where a query is in a group, shape ``(Q, G)``, and the groups' sizes."""
    labels, group = np.unique(np.asarray(groups), return_inverse=True)
    if group.shape != (x.shape[1],):
        raise ValueError(f"expected a group for each of {x.shape[1]} queries, got {np.size(groups)} labels")
    member = np.zeros((len(group), len(labels)))
    member[np.arange(len(group)), group] = 1
    return member, member.sum(axis=0)
