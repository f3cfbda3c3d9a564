"""Differences from few human judgments and many predicted ones: prediction-powered inference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ir_lexirecall._util.arrays import Floats, Ints
from ir_lexirecall._util.errors import and_more, shown
from ir_lexirecall._util.lazy import special

LEAST = 10  # human-judged queries


@dataclass(frozen=True)
class PredictionPowered:
    """Estimates of P differences, arrays of shape ``(P,)``."""

    estimate: Floats  # of the mean human difference on queries like these (the N queries are a sample, too)
    low: Floats  # ends of its interval at 1 - alpha
    high: Floats
    p: Floats  # of no difference, two-sided
    rho: Floats  # correlation of human and predicted differences over the human-judged queries; 0 if either is constant
    n_effective: Floats  # the number of human-judged queries without predictions that would give as small a variance


def prediction_powered(d: Floats, f: Floats, human: Ints, alpha: float = 0.05) -> PredictionPowered:
    """Estimate mean differences from human judgments of a random sample of queries and predicted judgments of all.

    estimate = mean_n d - l (mean_n f - mean_N f), l = Cov(d, f) / Var(f) over the sample; the variance is
    (1/n - 1/N) Var(d - l f) + Var(d) / N, with Student's t of n - 2 degrees of freedom. Predictions may be biased: what they
    are wrong about on the sample is taken off. Queries that were chosen because they looked interesting are no random sample, and
    nothing here can tell.

    Args:
        d: human differences on the n sampled queries, shape ``(P, n)``.
        f: predicted differences on all N queries, shape ``(P, N)``.
        human: places of the sampled queries among the N, shape ``(n,)``.
        alpha: 1 - confidence of the interval.

    Source: Angelopoulos, Bates, Fannjiang, Jordan, Zrnic, Prediction-Powered Inference, Science 2023,
    doi 10.1126/science.adi6000; with the l of Angelopoulos, Duchi, Zrnic, PPI++, 2023, arXiv 2311.01453, for a finite set of queries.

    >>> rng = np.random.default_rng(0)
    >>> truth = rng.normal(0.1, 1, (1, 500))
    >>> judge = truth + 0.5 + rng.normal(0, 0.3, truth.shape)  # too generous by 0.5
    >>> result = prediction_powered(truth[:, :20], judge, np.arange(20))
    >>> result.estimate.round(2), truth.mean().round(2), result.n_effective.round()
    (array([0.]), np.float64(0.07), array([121.]))
    """
    n, count = len(human), f.shape[1]
    if n < LEAST:
        raise ValueError(f"at least {LEAST} human-judged queries are needed, not {n}")
    of_sample = f[:, human]
    mean_d, mean_f = d.mean(axis=1), of_sample.mean(axis=1)
    d_centred, f_centred = _centred(d, mean_d), _centred(of_sample, mean_f)
    var_d, var_f = (np.square(x).sum(axis=1) / (n - 1) for x in (d_centred, f_centred))
    covariance = (d_centred * f_centred).sum(axis=1) / (n - 1)
    scale = np.sqrt(var_d * var_f)
    rho = np.divide(covariance, scale, out=np.zeros(len(d)), where=scale > 0).clip(-1, 1)
    slope = np.divide(covariance, var_f, out=np.zeros(len(d)), where=scale > 0)
    estimate = mean_d - slope * (mean_f - f.mean(axis=1))
    residual = np.square(d_centred - slope[:, None] * f_centred).sum(axis=1) / (n - 2)
    variance = (1 / n - 1 / count) * residual + var_d / count
    error = np.sqrt(variance)
    half = -special.stdtrit(n - 2, alpha / 2) * error
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(estimate == 0, 0.0, np.abs(estimate) / error)
        n_effective = np.where(variance > 0, var_d / variance, n)
    # Equal differences have no variance to judge by: n of one sign happen with probability 2^(1-n).
    p = np.maximum(2 * special.stdtr(n - 2, -t), np.where(estimate == 0, 1.0, 2.0 ** (1 - n)))
    return PredictionPowered(estimate, estimate - half, estimate + half, p, rho, n_effective)


def _centred(x: Floats, mean: Floats) -> Floats:
    """Numbers less their mean; exactly 0 in rows that differ by rounding only."""
    centred = x - mean[:, None]
    constant = np.abs(centred).max(axis=1) <= 1e-12 * np.abs(x).max(axis=1)
    centred[constant] = 0
    return centred


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
