"""Expected values of utility per document: C/W/L variants of ERR, whose cost depends on the order.

The value is N / D with N = sum of V(i) r_i and D = sum of V(i), and V(i) = B(i) S(i), S the product
of 1 - r above. Both depend on the order, but

    N / D = integral of N exp(-t D) over t from 0 to infinity,

and exp(-t D) is a product over ranks: for each t, its mean follows from counts. A state of a group
is how many of its documents of each gain have been seen. Groups are independent.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, inf, log2, nan, prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ir_lexirecall._util.arrays import Floats, Ints
from ir_lexirecall._util.lazy import cached_property
from ir_lexirecall.measures.declaration import Utility
from ir_lexirecall.measures.expected.graded import gains_on_scale, unjudged_gain
from ir_lexirecall.measures.expected.groups import Groups, groups_of
from ir_lexirecall.measures.other_programs import (
    PROGRAM_DEPTH,
    linear_gain,
    nerr_discount,
)
from ir_lexirecall.measures.scoring import score
from ir_lexirecall.measures.trec_eval import cutoff_of

if TYPE_CHECKING:
    from ir_lexirecall.data.aligned_run import AlignedRun
    from ir_lexirecall.measures.discounts import Discount

_POINTS = 12  # of the quadrature of each panel, whose errors are below 2^-53 then
_FADED = 40.0  # exp(-40) is below 2^-53
_MOST_STEPS = 300_000_000  # ranks times states times nodes of one query


class _Model(NamedTuple):
    """What the users of a measure do."""

    discount: Discount
    end: float
    unjudged: float


def cwl_err(measure: Any, run: AlignedRun) -> Floats:
    """Return the expected CWL_ERR8 to CWL_ERR11; NaN where a group has too many states."""
    end = measure["cutoff"] if "cutoff" in measure.SUPPORTED_PARAMS else inf
    model = _Model(measure.discount(), end, unjudged_gain(measure))
    return _mean_ratios(measure, run, gains_on_scale(measure, run), model)


def nerr(measure: Any, run: AlignedRun) -> Floats:
    """Return the expected NERR8 to NERR11; NaN where a group has too many states."""
    end = min(cutoff_of(measure), PROGRAM_DEPTH)
    model = _Model(nerr_discount(measure), end, 0.0)
    return _mean_ratios(measure, run, linear_gain(measure, run), model)


def _mean_ratios(measure: Any, run: AlignedRun, r: Floats, model: _Model) -> Floats:
    """Return the expected utility per document of each query."""
    result = score(measure, run)
    assert isinstance(result, Utility)
    value, items = result.value.copy(), result.expected_items
    groups = groups_of(run)
    query = groups.segment[groups.start]
    for q in np.unique(query).tolist():
        ranking = _Ranking.of(groups, np.flatnonzero(query == q), run, r, model)
        value[q] = ranking.mean_ratio(float(value[q] * items[q]), float(items[q]))
    return value


@dataclass(frozen=True)
class _Lattice:
    """One group of a ranking: its ranks, and how many of its documents have which gain.

    Attributes:
        rank: the ranks that count.
        size: documents of the group.
        gain: the gains that documents have, the last one that of the unjudged ones.
        number: how many documents have each gain.
        left: S above the group.
        weight: B of the ranks.
        order: the gains by rank of some order, of which the value is known.
    """

    rank: Ints
    size: int
    gain: Floats
    number: Ints
    left: float
    weight: Floats
    order: Floats

    @cached_property
    def counts(self) -> Ints:
        """Return the states: how many documents of each gain but the last have been seen."""
        axes = [np.arange(n) for n in self.shape]
        return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)

    @property
    def shape(self) -> tuple[int, ...]:
        """Return how many counts of each gain but the last there can be."""
        return tuple((np.minimum(self.number[:-1], len(self.weight)) + 1).tolist())

    @property
    def n_states(self) -> int:
        """Return the number of states."""
        return prod(self.shape)

    def of_known_order(self) -> tuple[float, float]:
        """Return the utility and the cost of this group in the known order."""
        left = self.left * np.r_[1.0, np.cumprod(1 - self.order)[:-1]]
        v = self.weight * left[: len(self.weight)]
        return float((v * self.order[: len(v)]).sum()), float(v.sum())

    def transforms(self, t: Floats) -> tuple[Floats, Floats]:
        """Return the means of exp(-t D) and N exp(-t D) of this group, for each t."""
        shape = self.shape
        plain = np.zeros((len(t), *shape))
        plain.reshape(len(t), -1)[:, 0] = 1.0
        times_n = np.zeros_like(plain)
        seen = self.counts.sum(axis=-1)
        factor = np.prod((1 - self.gain[:-1]) ** self.counts, axis=-1)
        for position, weight in enumerate(self.weight.tolist()):
            rest = position - seen
            satisfied = factor * (1 - self.gain[-1]) ** np.maximum(rest, 0)
            v = weight * self.left * satisfied
            decay = np.exp(-t.reshape(-1, *([1] * len(shape))) * v)
            plain, times_n = plain * decay, times_n * decay
            open_ranks = self.size - position
            stay = np.clip(self.number[-1] - rest, 0, None) / open_ranks
            next_plain, next_n = plain * stay, (times_n + plain * (v * self.gain[-1])) * stay
            for axis, (gain, number) in enumerate(
                zip(self.gain[:-1].tolist(), self.number[:-1].tolist(), strict=True)
            ):
                share = (number - self.counts[..., axis]) / open_ranks
                after, before = _shifted(axis + 1, len(shape) + 1)
                next_plain[after] += (plain * share)[before]
                next_n[after] += ((times_n + plain * (v * gain)) * share)[before]
            plain, times_n = next_plain, next_n
        states = tuple(range(1, len(shape) + 1))
        return plain.sum(axis=states), times_n.sum(axis=states)


def _shifted(axis: int, dimensions: int) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
    """Return the slices of one document more, and of one less, along an axis."""
    after, before = [slice(None)] * dimensions, [slice(None)] * dimensions
    after[axis], before[axis] = slice(1, None), slice(None, -1)
    return tuple(after), tuple(before)


@dataclass(frozen=True)
class _Ranking:
    """The tied groups of one query."""

    lattices: list[_Lattice]

    @classmethod
    def of(
        cls, groups: Groups, members: Ints, run: AlignedRun, r: Floats, model: _Model
    ) -> _Ranking:
        """Return the groups of a query that count, with S above each of them."""
        left, above, lattices = 1.0, 0, []
        for g in members.tolist():
            start, count = int(groups.start[g]), int(groups.count[g])
            first, size = int(groups.first[start]), int(groups.size[start])
            rows = slice(start, start + count)
            if model.discount.cascade and model.unjudged:
                left *= (1 - model.unjudged) ** (first - 1 - above)
            if size > 1 and first <= model.end:
                lattices.append(_lattice(first, size, run.rank[rows], r[rows], left, model))
            left *= float(np.prod(1 - r[rows])) * (1 - model.unjudged) ** (size - count)
            above = first + size - 1
        return cls([each for each in lattices if len(each.gain) > 1])

    def mean_ratio(self, utility: float, cost: float) -> float:
        """Return the mean of N / D, from both in the order that is known."""
        if not self.lattices:
            return utility / cost
        known = np.array([each.of_known_order() for each in self.lattices])
        utility, cost = utility - known[:, 0].sum(), cost - known[:, 1].sum()
        least = cost + sum(each.weight[0] * each.left for each in self.lattices)
        most = cost + sum(each.weight.sum() * each.left for each in self.lattices)
        t, share = _nodes(least, most)
        work = sum(each.n_states * len(each.weight) * len(each.gain) for each in self.lattices)
        if work * len(t) > _MOST_STEPS:
            return nan
        transforms = [each.transforms(t) for each in self.lattices]
        product, total = np.exp(-t * cost), np.zeros(len(t))
        for i, (_, times_n) in enumerate(transforms):
            others = [plain for j, (plain, _) in enumerate(transforms) if j != i]
            total += times_n * np.prod([np.ones(len(t)), *others], axis=0)
        total += utility * np.prod([plain for plain, _ in transforms], axis=0)
        return float((share * product * total).sum())


def _lattice(first: int, size: int, ranks: Ints, r: Floats, left: float, model: _Model) -> _Lattice:
    """Return the states of one group."""
    rank = np.arange(first, int(min(model.end, first + size - 1)) + 1)
    satisfies = r != model.unjudged
    gain, number = np.unique(r[satisfies], return_counts=True)
    order = np.full(size, model.unjudged)
    order[ranks - first] = r
    return _Lattice(
        rank=rank,
        size=size,
        gain=np.append(gain, model.unjudged),
        number=np.append(number, size - number.sum()),
        left=left,
        weight=model.discount.at(rank.astype(np.float64)),
        order=order,
    )


def _nodes(least: float, most: float) -> tuple[Floats, Floats]:
    """Return nodes and weights of the integral of exp(-t D), for D between two numbers.

    Panels double in length: from 0 to 1 / most, on to 2 / most, 4 / most, ...
    """
    n_panels = 1 + ceil(log2(_FADED * most / least))
    ends = np.r_[0.0, 2.0 ** np.arange(n_panels)] / most
    x, w = np.polynomial.legendre.leggauss(_POINTS)
    half = np.diff(ends)[:, None] / 2
    middle = (ends[1:] + ends[:-1])[:, None] / 2
    return (middle + half * x).ravel(), (half * w).ravel()
