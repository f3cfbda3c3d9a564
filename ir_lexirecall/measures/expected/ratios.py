"""Expected values of utility per document: C/W/L variants of ERR, whose cost depends on the order.

The value is N / D with N = sum of V(i) r_i and D = sum of V(i), and V(i) = B(i) S(i), S the product
of 1 - r above. Both depend on the order, but

    N / D = integral of N exp(-t D) over t from 0 to infinity,

and exp(-t D) is a product over ranks: for each t, its mean follows from counts. A state of a group
is how many of its documents of each gain have been seen. Groups are independent.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, log2, nan, prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ir_lexirecall._util.arrays import Floats, Ints
from ir_lexirecall._util.lazy import cached_property
from ir_lexirecall.measures.cwl import gains_on_scale, unjudged_gain
from ir_lexirecall.measures.declaration import Utility, last_rank
from ir_lexirecall.measures.expected.groups import Group, groups_of
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
    """What the users of a measure do.

    Attributes:
        discount: B, and whether satisfied users leave.
        end: the last rank that is read.
        unjudged: the gain of an unjudged document.
    """

    discount: Discount
    end: float
    unjudged: float


def cwl_err(measure: Any, run: AlignedRun) -> Floats:
    """Return the expected CWL_ERR8 to CWL_ERR11; NaN where a group has too many states."""
    model = _Model(measure.discount(), last_rank(measure), unjudged_gain(measure))
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
    for q in np.unique(groups.segment_of_group).tolist():
        lattices = _lattices(groups.of_segment(q), run.rank, r, model)
        utility, cost = float(value[q] * items[q]), float(items[q])
        value[q] = _mean_ratio(lattices, utility, cost)
    return value


# -- a query: its groups are independent ----------------------------------------------------------


def _mean_ratio(lattices: Sequence[_Lattice], utility: float, cost: float) -> float:
    """Return the mean of N / D; NaN if it takes too many steps.

    Args:
        lattices: the groups of which the order makes a difference.
        utility: N in the order that is known.
        cost: D in this order.
    """
    if not lattices:
        return utility / cost
    of_groups = np.array([lattice.of_known_order() for lattice in lattices])
    fixed_utility = utility - of_groups[:, 0].sum()
    fixed_cost = cost - of_groups[:, 1].sum()
    least_cost = fixed_cost + sum(
        lattice.weight[0] * lattice.left for lattice in lattices
    )
    most_cost = fixed_cost + sum(
        lattice.weight.sum() * lattice.left for lattice in lattices
    )
    t, share = _nodes(least_cost, most_cost)
    if sum(lattice.n_steps for lattice in lattices) * len(t) > _MOST_STEPS:
        return nan

    transforms = [lattice.transforms(t) for lattice in lattices]
    plain = [of_group for of_group, _ in transforms]
    total = np.zeros(len(t))  # the mean of N exp(-t D), without the fixed cost
    for i, (_, times_n) in enumerate(transforms):
        others = plain[:i] + plain[i + 1 :]
        total += times_n * np.prod([np.ones(len(t)), *others], axis=0)
    total += fixed_utility * np.prod(plain, axis=0)
    return float((share * np.exp(-t * fixed_cost) * total).sum())


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


def _lattices(
    groups: Iterable[Group], rank: Ints, r: Floats, model: _Model
) -> list[_Lattice]:
    """Return the groups of a query of which the order makes a difference, with S above each.

    Args:
        groups: those of the query.
        rank: the rank of each judged document in the order that is known.
        r: the gain of each one.
        model: what the users do.
    """
    left, last_rank_above, lattices = 1.0, 0, []
    for first, size, rows in groups:
        gains = r[rows]
        if model.discount.cascade and model.unjudged:
            n_between = first - 1 - last_rank_above
            left *= (1 - model.unjudged) ** n_between
        if size > 1 and first <= model.end:
            lattices.append(_lattice(first, size, rank[rows], gains, left, model))
        n_unjudged = size - len(gains)
        left *= float(np.prod(1 - gains)) * (1 - model.unjudged) ** n_unjudged
        last_rank_above = first + size - 1
    return [lattice for lattice in lattices if len(lattice.gain) > 1]


def _lattice(
    first: int, size: int, known_ranks: Ints, r: Floats, left: float, model: _Model
) -> _Lattice:
    """Return the states of one group, whose judged documents have some gains at known ranks."""
    last = int(min(model.end, first + size - 1))
    rank = np.arange(first, last + 1)
    gain, number = np.unique(r[r != model.unjudged], return_counts=True)
    known_order = np.full(size, model.unjudged)
    known_order[known_ranks - first] = r
    return _Lattice(
        size=size,
        gain=np.append(gain, model.unjudged),
        number=np.append(number, size - number.sum()),
        left=left,
        weight=model.discount.at(rank.astype(np.float64)),
        known_order=known_order,
    )


# -- a group: how many of its documents of each gain have been seen -------------------------------


@dataclass(frozen=True)
class _Lattice:
    """One group of a ranking, and how many of its documents have which gain.

    Attributes:
        size: documents of the group.
        gain: the gains that documents have, the last one that of the unjudged ones.
        number: how many documents have each gain.
        left: S above the group.
        weight: B of the ranks that count.
        known_order: the gains by rank of some order, of which the value is known.
    """

    size: int
    gain: Floats
    number: Ints
    left: float
    weight: Floats
    known_order: Floats

    @property
    def shape(self) -> tuple[int, ...]:
        """Return how many counts of each gain but the last there can be."""
        most = np.minimum(self.number[:-1], len(self.weight))
        return tuple((most + 1).tolist())

    @cached_property
    def counts(self) -> Ints:
        """Return the states: how many documents of each gain but the last have been seen."""
        axes = [np.arange(n) for n in self.shape]
        return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)

    @property
    def n_steps(self) -> int:
        """Return the number of ranks times states times gains."""
        return prod(self.shape) * len(self.weight) * len(self.gain)

    def of_known_order(self) -> tuple[float, float]:
        """Return the utility and the cost of this group in the known order."""
        left = self.left * np.r_[1.0, np.cumprod(1 - self.known_order)[:-1]]
        v = self.weight * left[: len(self.weight)]
        return float((v * self.known_order[: len(v)]).sum()), float(v.sum())

    def transforms(self, t: Floats) -> tuple[Floats, Floats]:
        """Return the means of exp(-t D) and N exp(-t D) of this group, for each t.

        Going down the ranks, both are known for every state. At a rank with the weight v = V(i),
        D grows by v and N by v times the gain of the document there, which is of any kind that is
        left, with the probability (documents of the kind left) / (documents left).
        """
        shape = self.shape
        plain = np.zeros((len(t), *shape))
        plain.reshape(len(t), -1)[:, 0] = 1.0
        times_n = np.zeros_like(plain)
        t = t.reshape(-1, *([1] * len(shape)))
        n_seen = self.counts.sum(axis=-1)
        *gains, last_gain = self.gain.tolist()
        *numbers, last_number = self.number.tolist()
        left_by_seen = np.prod((1 - self.gain[:-1]) ** self.counts, axis=-1)
        for position, weight in enumerate(self.weight.tolist()):
            n_seen_of_last = position - n_seen
            left = left_by_seen * (1 - last_gain) ** np.maximum(n_seen_of_last, 0)
            v = weight * self.left * left
            decay = np.exp(-t * v)
            plain, times_n = plain * decay, times_n * decay

            n_left = self.size - position
            probability = np.clip(last_number - n_seen_of_last, 0, None) / n_left
            next_plain = plain * probability
            next_times_n = (times_n + plain * (v * last_gain)) * probability
            for axis, (gain, number) in enumerate(zip(gains, numbers, strict=True)):
                probability = (number - self.counts[..., axis]) / n_left
                one_more, one_less = _shifted(axis + 1, len(shape) + 1)
                next_plain[one_more] += (plain * probability)[one_less]
                gained = (times_n + plain * (v * gain)) * probability
                next_times_n[one_more] += gained[one_less]
            plain, times_n = next_plain, next_times_n
        states = tuple(range(1, len(shape) + 1))
        return plain.sum(axis=states), times_n.sum(axis=states)


def _shifted(axis: int, dimensions: int) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
    """Return the slices of one document more, and of one less, along an axis."""
    after, before = [slice(None)] * dimensions, [slice(None)] * dimensions
    after[axis], before[axis] = slice(1, None), slice(None, -1)
    return tuple(after), tuple(before)
