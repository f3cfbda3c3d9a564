"""Sums of gains over some documents of a group, in any order."""

from __future__ import annotations

from collections.abc import Sequence

from ir_lexirecall._util.arrays import Floats

SumShares = list[dict[float, float]]
"""For each number s of documents the sums that s of them can have, and how often."""


def shares_of_sums(
    units: Sequence[float] | Floats, below: float, most: int | None = None
) -> SumShares:
    """Return how often s of some documents have a sum below a limit, by s and sum.

    Args:
        units: the gain of each document, all above 0.
        below: sums of at least this are left out.
        most: larger numbers of documents are left out, by default none.

    >>> shares_of_sums([1.0, 1.0, 2.0], below=3.0)
    [{0.0: 1.0}, {1.0: 0.666..., 2.0: 0.333...}, {2.0: 0.333...}, {}]
    """
    shares: SumShares = [{0.0: 1.0} if below > 0 else {}]
    largest = len(units) if most is None else min(most, len(units))
    for n, unit in enumerate(units, start=1):
        if n <= largest:
            shares.append({})
        for s in range(min(n, largest), -1, -1):
            with_it, share = {}, s / n  # of the choices of s among n that have the n-th one
            for total, often in shares[s].items() if s < n else ():
                if share < 1:
                    with_it[total] = often * (1 - share)
            for total, often in shares[s - 1].items() if s else ():
                if total + unit < below:
                    with_it[total + unit] = with_it.get(total + unit, 0.0) + often * share
            shares[s] = with_it
    return shares


def without_each(
    units: Sequence[float] | Floats, below: float, most: int | None = None
) -> dict[float, SumShares]:
    """Return, for each gain that a document has, `shares_of_sums` of the other documents."""
    listed = [float(unit) for unit in units]
    results = {}
    for unit in dict.fromkeys(listed):
        others = listed.copy()
        others.remove(unit)
        results[unit] = shares_of_sums(others, below, most)
    return results
