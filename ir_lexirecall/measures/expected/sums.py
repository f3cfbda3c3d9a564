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

    Of the choices of s among n documents, the share s / n has the n-th one. So, with the gain g of
    the n-th document, share_n(s, sum) = (1 - s / n) share_(n-1)(s, sum) +
    s / n share_(n-1)(s - 1, sum - g).

    Args:
        units: the gain of each document, all above 0.
        below: sums of at least this are left out.
        most: larger numbers of documents are left out, by default none.

    >>> shares_of_sums([1.0, 1.0, 2.0], below=3.0)
    [{0.0: 1.0}, {1.0: 0.666..., 2.0: 0.333...}, {2.0: 0.333...}, {}]
    """
    if most is None:
        largest = len(units)
    else:
        largest = min(most, len(units))
    shares: SumShares = [{0.0: 1.0} if below > 0 else {}]
    for n, unit in enumerate(units, start=1):
        if n <= largest:
            shares.append({})
        # The largest s comes first, so that shares[s - 1] still leaves out the n-th document.
        for s in range(min(n, largest), 0, -1):
            # Share of the choices of s among n documents that have the n-th one.
            share_with = s / n
            sums = {
                total: share * (1 - share_with) for total, share in shares[s].items()
            }
            for total, share in shares[s - 1].items():
                if total + unit < below:
                    sums[total + unit] = (
                        sums.get(total + unit, 0.0) + share * share_with
                    )
            shares[s] = sums
    return shares


def without_each(
    units: Sequence[float] | Floats, below: float, most: int | None = None
) -> dict[float, SumShares]:
    """Return, for each gain that a document has, `shares_of_sums` of the other documents."""
    gains = [float(unit) for unit in units]
    shares_of_others = {}
    for gain in dict.fromkeys(gains):
        others = gains.copy()
        others.remove(gain)
        shares_of_others[gain] = shares_of_sums(others, below, most)
    return shares_of_others
