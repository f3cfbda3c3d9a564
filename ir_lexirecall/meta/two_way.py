"""The bootstrap over queries and over groups of runs together (Owen, The Pigeonhole Bootstrap, 2007, doi 10.1214/07-AOAS122)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ir_lexirecall._util.arrays import Floats, Ints, row_blocks
from ir_lexirecall._util.errors import check_integer, check_number
from ir_lexirecall.meta.decisions import Decisions

_BLOCK = 2**22  # weights that are held at once


@dataclass(frozen=True)
class TwoWay:
    """How often a bootstrap draws each group of runs and each query, together; the first row is the sample itself."""

    groups: list[str]
    of_run: Ints  # the group of each run, by place
    of_pair: Ints  # the groups of both runs of each pair, shape (P, 2)
    group_weight: Floats  # how often each group is drawn, shape (B + 1, groups)
    query_weight: Floats  # how often each query is drawn, shape (B + 1, Q)
    alpha: float

    @classmethod
    def draw(
        cls,
        decisions: Decisions,
        groups: Mapping[str, str] | None,
        n_resamples: int,
        alpha: float,
        seed: int,
    ) -> TwoWay:
        """Draw queries and groups with replacement; every run needs a group."""
        check_integer("n_resamples", n_resamples)
        check_integer("seed", seed, least=0)
        check_number("alpha", alpha, above=0, below=1)
        names = (
            {name: name for name in decisions.names} if groups is None else {str(k): str(v) for k, v in groups.items()}
        )
        lacking = [name for name in decisions.names if name not in names]
        if lacking:
            raise ValueError(f"run {lacking[0]!r} has no group")
        known = sorted({names[name] for name in decisions.names})
        of_run = np.array([known.index(names[name]) for name in decisions.names])
        rng = np.random.default_rng(seed)
        group_weight, query_weight = (
            np.concatenate([np.ones((1, size)), rng.multinomial(size, np.full(size, 1 / size), size=n_resamples)])
            for size in (len(known), len(decisions.queries))
        )
        of_pair = np.stack([of_run[place] for place in decisions.pairs], axis=1)
        return cls(known, of_run, of_pair, group_weight, query_weight, alpha)

    def ratio(self, numerator: Floats, denominator: Floats, pairs: Ints | None = None) -> Floats:
        """Weighted sum of one over that of another, shape ``(B + 1,)``; both of ``pairs`` (all) and queries, shape ``(P, Q)``."""
        groups = self.of_pair if pairs is None else self.of_pair[pairs]
        result = np.empty(len(self.query_weight))
        for some in row_blocks(len(result), sum(numerator.shape), _BLOCK):
            a, b = (self.group_weight[some][:, place] for place in groups.T)
            weight = np.where(groups[:, 0] == groups[:, 1], a, a * b)
            above, below = (((weight @ x) * self.query_weight[some]).sum(axis=1) for x in (numerator, denominator))
            result[some] = np.divide(above, below, out=np.full(len(above), np.nan), where=below > 0)
        return result

    def interval(self, resampled: Floats) -> tuple[float, float]:
        """The percentile interval; resamples without a pair of runs are left out. NaN where there is none."""
        known = resampled[~np.isnan(resampled)]
        if len(known) == 0:
            return np.nan, np.nan
        low, high = np.quantile(known, [self.alpha / 2, 1 - self.alpha / 2])
        return float(low), float(high)

    def p(self, resampled: Floats) -> float:
        """2 min(P(<= 0), P(>= 0)), the observed one counted among the resamples."""
        known = resampled[~np.isnan(resampled)]
        tail = min(np.count_nonzero(known <= 0), np.count_nonzero(known >= 0))
        return min(1.0, 2 * (1 + tail) / (1 + len(known)))
