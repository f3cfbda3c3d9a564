"""One rule of rounding: numbers are equal if they differ by a small share of what they come from.

The same sum, added up in another order, differs in its last bits: whoever compares runs must see a
tie. No tolerance is absolute, because values of a measure may be very small (TSE of documents far
down, 1 / 2^40). How large the share is depends on what is known of the numbers:

==============  ======  ===========================================================================
``VALUE``       2^-49   a value of a query, of a few operations: 8 units in the last place
``SUM``         1e-12   a sum or mean of many numbers, relative to their magnitude
``DIFFERENCE``  1e-9    a difference, relative to itself, if the magnitudes before it are not known
==============  ======  ===========================================================================
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ir_lexirecall._util.arrays import Bools, Floats

VALUE = 2.0**-49
SUM = 1e-12
DIFFERENCE = 1e-9


def same(a: Any, b: Any, scale: Any = None, rounding: float = SUM) -> Bools:
    """Return whether numbers differ by rounding only.

    That is by at most ``rounding`` of ``scale``, by default of the larger magnitude.

    >>> same(0.1 + 0.2, [0.3, 0.3001]).tolist(), same(1e-30, 2e-30).tolist()
    ([True, False], False)
    >>> same(0.1 - 0.1 - 1e-17, 0, scale=0.1).tolist()
    True
    """
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    with np.errstate(invalid="ignore"):  # infinite less infinite
        gap = np.abs(a - b)
        noise = rounding * (
            np.maximum(np.abs(a), np.abs(b)) if scale is None else scale
        )
        return (a == b) | ((gap <= noise) & np.isfinite(gap))


def settled(x: Floats, scale: Any, rounding: float = SUM) -> Floats:
    """Return sums, with 0 where rounding of numbers of this ``scale`` explains them.

    >>> settled(np.array([0.3 - 0.1 - 0.2, 1e-3]), 0.3)
    array([0.   , 0.001])
    """
    return np.where(np.abs(x) <= rounding * scale, 0.0, x)


def levelled(values: Floats, rounding: float = VALUE) -> Floats:
    """Return values without the rounding differences within a query, shape ``(S, Q)``.

    They are of S runs on Q queries.

    Neighbouring values are taken for one where they are ``same``.

    >>> levelled(np.array([[0.1 + 0.2, 1e-9], [0.3, 2e-9]]))
    array([[3.e-01, 1.e-09],
           [3.e-01, 2.e-09]])
    """
    order = np.argsort(values, axis=0, kind="stable")
    rising = np.take_along_axis(values, order, axis=0)
    magnitude = np.abs(rising)
    apart = np.ones(values.shape, dtype=bool)
    with np.errstate(invalid="ignore"):
        gap = rising[1:] - rising[:-1]
        apart[1:] = ~np.isfinite(gap) | (
            gap > rounding * np.maximum(magnitude[1:], magnitude[:-1])
        )
    first = np.maximum.accumulate(
        np.where(apart, np.arange(len(values))[:, None], 0), axis=0
    )
    out = np.empty_like(values)
    np.put_along_axis(out, order, np.take_along_axis(rising, first, axis=0), axis=0)
    return out
