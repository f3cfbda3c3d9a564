"""Array types, and sums and products within the segments of sorted arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

_FEW_SEGMENTS = 8  # that are quicker one by one
FEW = 128  # rows that are quicker one by one than as arrays
# Products of longer rows gain from threads; of shorter ones, threads wait longer than they work.
_SHORT_ROW = 96
# OpenBLAS computes a product in one thread up to 2^18 multiplications, with a single row up to
# 9,216. So parts of products have so many rows, and at most so many numbers of the second matrix.
_ROWS_AT_ONCE = 16
_NUMBERS_AT_ONCE = 2**13
# It computes so many columns at once, and adds the terms of those left over in another order.
_COLUMNS_OF_KERNEL = 8

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Objects = NDArray[Any]

PairIndices: TypeAlias = tuple[Ints, Ints]
"""Indices, among the runs, of the first and of the second run of P pairs, shape ``(P,)`` each."""
Indices: TypeAlias = Sequence[int] | Ints
Interval: TypeAlias = tuple[Floats, Floats]
"""Low and high ends of several intervals: two arrays of one shape."""
Bounds: TypeAlias = tuple[float, float]
"""The smallest and the largest possible number."""


def per_query_sum(query: Ints, values: NDArray[Any], queries: int) -> Floats:
    """Sum the ``values`` of each query in row order: the same bits for every batching."""
    return np.bincount(query, weights=values, minlength=queries).astype(
        np.float64, copy=False
    )


def row_blocks(total: int, width: int, room: int) -> Iterator[slice]:
    """Yield slices of ``total`` rows of ``width`` numbers: as many as ``room`` holds, at least one.

    >>> list(row_blocks(5, 10, 25))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    step = max(1, room // max(1, width))
    return (slice(start, min(total, start + step)) for start in range(0, total, step))


def dividing_by_zero() -> np.errstate:
    """Let ``x / 0`` be infinite and ``0 / 0`` NaN in a ``with`` statement, without a warning.

    >>> with dividing_by_zero():
    ...     np.array([1.0, 0.0]) / 0.0
    array([inf, nan])
    """
    return np.errstate(divide="ignore", invalid="ignore")


def ratio(part: Any, whole: Any, default: float = 0.0) -> Floats:
    """Return ``part / whole``, and ``default`` where ``whole`` is 0.

    >>> ratio(np.array([1, 2]), np.array([2, 0]))
    array([0.5, 0. ])
    """
    return np.divide(part, whole, out=np.full(whole.shape, default), where=whole > 0)


def means_of_present(values: Floats) -> Floats:
    """Return the mean of each row over what is there; NaN for a row without any value.

    >>> means_of_present(np.array([[0.25, np.nan, 0.75], [np.nan, np.nan, np.nan]]))
    array([0.5, nan])
    """
    # Each row is added up from left to right.
    by_column = np.ascontiguousarray(values.T)
    is_there = ~np.isnan(by_column)
    n = is_there.sum(axis=0)
    sums = np.where(is_there, by_column, 0.0).sum(axis=0)
    return ratio(sums, n, np.nan)


def common(a: Bools, b: Bools) -> Ints:
    """How many columns are true in both, for every row of ``a`` and every row of ``b``.

    >>> first = np.array([[True, True, False]])
    >>> common(first, np.array([[True, True, True], [False, False, True]]))
    array([[2, 0]])
    """
    # Single precision is fast, and exact up to 2^24 columns.
    return (a.astype(np.float32) @ b.T.astype(np.float32)).astype(np.int64)


def product(a: Any, b: Any) -> Any:
    """Return the product of two matrices, that of short rows in one thread.

    It is computed in parts so small that BLAS takes one thread for each. Threads that wait for the
    next of many products spin: on a busy machine they took ten times the processor time of all
    products. If rows are long, threads are worth their price.

    Parts have one size, as BLAS adds terms in an order that depends on it: a row has the same
    product, to the last digit, with any other rows beside it.

    >>> product(np.array([[1.0, 2.0]]), np.array([[3.0], [4.0]]))
    array([[11.]])
    """
    (n_rows, n_terms), n_columns = a.shape, b.shape[1]
    if n_terms > _SHORT_ROW or 0 in (n_rows, n_terms, n_columns):
        return a @ b
    n_padded = -(-n_rows // _ROWS_AT_ONCE) * _ROWS_AT_ONCE
    padded = np.zeros((n_padded, n_terms), dtype=a.dtype)
    padded[:n_rows] = a
    result = np.empty((n_padded, n_columns), dtype=np.result_type(a, b))
    width = min(_NUMBERS_AT_ONCE // n_terms, n_columns)
    if width > _COLUMNS_OF_KERNEL:
        width -= width % _COLUMNS_OF_KERNEL
    covered = n_columns - n_columns % width
    _set_product(result[:, :covered], padded, b[:, :covered], width)
    if covered < n_columns:
        # The last part is as wide as the others, and begins within the one before it.
        _set_product(result[:, -width:], padded, b[:, -width:], width)
    return result[:n_rows]


def _set_product(result: Any, a: Any, b: Any, width: int) -> None:
    """Set the product of matrices in one call for all tiles of a width.

    A call for each tile would take as long as the tile.
    """
    n_terms = len(b)
    # Views: tiles of rows, and tiles of columns, stand before the rows and columns within them.
    row_tiles = a.reshape(-1, 1, _ROWS_AT_ONCE, n_terms)
    column_tiles = b.reshape(n_terms, -1, width).transpose(1, 0, 2)
    shape = (len(row_tiles), _ROWS_AT_ONCE, -1, width)
    of_tiles = result.reshape(shape).transpose(0, 2, 1, 3)
    np.matmul(row_tiles, column_tiles, out=of_tiles)


def geometric_sum(ratio: float, terms: Floats) -> Floats:
    """Return the sum of ratio^j for j = 0..terms-1, with 0 < ratio <= 1.

    ``terms`` may be infinite for a ratio below 1.

    >>> geometric_sum(0.5, np.array([1.0, 3.0, np.inf]))
    array([1.  , 1.75, 2.  ])
    """
    if ratio == 1:
        return terms
    return np.expm1(terms * np.log(ratio)) / (ratio - 1)


def starts_segment(segment: Any) -> Bools:
    """Return which values of an array, or of a column of Polars, begin a segment of equal ones.

    The first value does, and each one that differs from the value before it.

    >>> starts_segment(np.array([4, 4, 7]))
    array([ True, False,  True])
    """
    starts = np.empty(len(segment), dtype=bool)
    starts[:1] = True
    starts[1:] = segment[1:] != segment[:-1]
    return starts


def position_in_segment(segment: Ints) -> Ints:
    """Return the positions 0, 1, 2, ... of values within each segment of equal, adjacent ones.

    >>> position_in_segment(np.array([4, 4, 4, 7, 9, 9]))
    array([0, 1, 2, 0, 0, 1])
    """
    rows = np.arange(len(segment))
    return rows - np.maximum.accumulate(np.where(starts_segment(segment), rows, 0))


def stretches(ordered: NDArray[Any], values: Ints) -> tuple[Ints, Ints]:
    """Return where each value begins and ends in rising numbers, for `ranges`.

    >>> stretches(np.array([0, 0, 2]), np.array([0, 1, 2]))
    (array([0, 2, 2]), array([2, 2, 3]))
    """
    first = np.searchsorted(ordered, values, side="left")
    return first, np.searchsorted(ordered, values, side="right")


def ranges(first: Ints, end: Ints) -> Ints:
    """``first[0]``, ..., ``end[0] - 1``, ``first[1]``, ...

    >>> ranges(np.array([5, 0, 9]), np.array([7, 1, 9]))
    array([5, 6, 0])
    """
    count = end - first
    return np.repeat(first - (np.cumsum(count) - count), count) + np.arange(count.sum())


def running_product(segment: Ints, factors: Floats) -> Floats:
    """Cumulative product of ``factors`` within every run of equal, adjacent values of ``segment``.

    >>> running_product(np.array([1, 1, 1, 2, 2]), np.array([0.5, 0.5, 2.0, 3.0, 4.0]))
    array([ 0.5 ,  0.25,  0.5 ,  3.  , 12.  ])
    """
    return _running(np.multiply, 1.0, segment, factors)


def running_sum(segment: Ints, terms: Floats) -> Floats:
    """Return cumulative sums of ``terms`` within runs of equal values of ``segment``.

    They are added in row order.

    >>> running_sum(np.array([1, 1, 1, 2, 2]), np.array([0.5, 0.5, 2.0, 3.0, 4.0]))
    array([0.5, 1. , 3. , 3. , 7. ])
    """
    return _running(np.add, 0.0, segment, terms)


def product_before(segment: Ints, factors: Floats) -> Floats:
    """Product of the ``factors`` above each row within its segment, 1 for the first.

    >>> product_before(np.array([1, 1, 1, 2, 2]), np.array([0.5, 0.5, 2.0, 3.0, 4.0]))
    array([1.  , 0.5 , 0.25, 1.  , 3.  ])
    """
    return shifted_within_segment(segment, running_product(segment, factors), 1)


def sum_before(segment: Ints, terms: Floats) -> Floats:
    """Sum of the ``terms`` above each row within its segment, 0 for the first.

    >>> sum_before(np.array([1, 1, 1, 2, 2]), np.array([0.5, 0.5, 2.0, 3.0, 4.0]))
    array([0. , 0.5, 1. , 0. , 3. ])
    """
    return shifted_within_segment(segment, running_sum(segment, terms), 0)


def _running(
    combine: np.ufunc, neutral: float, segment: Ints, values: Floats
) -> Floats:
    """Accumulate within segments; those of similar length share one padded block.

    So memory stays within twice the input. Few segments go one by one.
    """
    results = np.empty(len(values))
    starts = starts_segment(segment).nonzero()[0]
    if len(starts) <= _FEW_SEGMENTS:
        bounds = [*starts.tolist(), len(values)]
        for first, end in pairwise(bounds):
            combine.accumulate(values[first:end], out=results[first:end])
        return results
    lengths = np.diff(starts, append=len(segment))
    size_class = np.frexp(lengths)[1]
    for size in np.unique(size_class):
        alike = np.flatnonzero(size_class == size)
        column = np.arange(lengths[alike].max())
        inside = column < lengths[alike, None]
        rows = (starts[alike, None] + column)[inside]
        block = np.full(inside.shape, neutral)
        block[inside] = values[rows]
        results[rows] = combine.accumulate(block, axis=1)[inside]
    return results


def shifted_within_segment(
    segment: Ints, values: NDArray[Any], first: float
) -> NDArray[Any]:
    """``values`` moved one row down within every segment, whose first row gets ``first``.

    >>> shifted_within_segment(np.array([1, 1, 2, 2]), np.array([5.0, 6.0, 7.0, 8.0]), 1.0)
    array([1., 5., 1., 7.])
    """
    shifted = np.empty_like(values)
    shifted[1:] = values[:-1]
    shifted[starts_segment(segment)] = first
    return shifted
