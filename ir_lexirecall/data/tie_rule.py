"""Order of the documents of a run: trec_eval's tie rule.

Documents are ordered by score, descending; those of equal score by document id, descending in byte
order. The versions of trec_eval differ in which scores are equal:

- `TREC_EVAL_9` compares scores as 32-bit floats. pytrec_eval and ir_measures do the same.
- `TREC_EVAL_10` compares scores as 64-bit floats.

Example: the scores 12.34567891 and 12.34567890 are one 32-bit float, but two 64-bit floats. Version
9 orders the two documents by their ids, version 10 by their scores.

Judgments hold the order (`Judgments.order`). Two modules rank by it: `alignment` by `ranks_of`, for
measures, which need judged documents only; and `pools`, which needs all documents, by sorting
`ScoreOrder.keys` and ids. `measures/expected` averages over the orders of tied documents instead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ir_lexirecall._util.arrays import Floats, Ints, ranges
from ir_lexirecall._util.errors import is_integer, shown
from ir_lexirecall._util.lazy import cached_property

Keys = NDArray[np.uint64]
"""A number for each row of a run: the query above, the order of the score below."""


@dataclass(frozen=True)
class ScoreOrder:
    """Which scores are equal, and how runs are sorted by them.

    Attributes:
        version: the version of trec_eval that orders documents so.
        bits: size of the floats as which scores are compared.
    """

    version: int
    bits: int

    @cached_property
    def dtype(self) -> type[np.floating[Any]]:
        """NumPy's type of the floats as which scores are compared."""
        return np.float32 if self.bits == 32 else np.float64

    @cached_property
    def largest(self) -> float:
        """The largest score that is finite as such a float."""
        return float(np.finfo(self.dtype).max)

    def rounded(self, score: Floats) -> Floats:
        """Return scores as they are compared: beyond the largest float infinite, and -0 as 0."""
        with np.errstate(over="ignore"):
            rounded: Floats = score.astype(self.dtype)
        return np.add(rounded, self.dtype(0))

    def keys(
        self, block: Ints, score: Floats, *more: tuple[Ints, Floats]
    ) -> tuple[Keys, ...]:
        """Return numbers that sort by block, then by descending score.

        Args:
            block: the number of the query of each row, below 2**32.
            score: the score of each row, as read.
            more: blocks and scores of further rows, whose keys are comparable with the first ones.
        """
        columns = [(block, score), *more]
        scores = [self.rounded(score) for _, score in columns]
        if self.bits == 32:
            ascending = [_bits_in_order(score) for score in scores]
        else:  # 64 bits leave no room for the block: number the distinct scores instead
            distinct = np.unique(np.concatenate(scores))
            ascending = [
                distinct.searchsorted(score).astype(np.uint32) for score in scores
            ]
        keys = []
        for (block, _), number in zip(columns, ascending, strict=True):
            key: Keys = block.astype(np.uint64) << np.uint64(32)
            key |= ~number  # inverted: the highest score comes first
            keys.append(key)
        return tuple(keys)


TREC_EVAL_9 = ScoreOrder(version=9, bits=32)
"""The default, because ir_measures has it: scores that are equal as 32-bit floats tie."""

TREC_EVAL_10 = ScoreOrder(version=10, bits=64)
"""The order of trec_eval 10: scores that are equal as 64-bit floats tie."""

ORDERS = {order.version: order for order in (TREC_EVAL_9, TREC_EVAL_10)}


def order_of_version(version: int) -> ScoreOrder:
    """Return the order of documents of a version of trec_eval.

    >>> order_of_version(10).bits
    64

    Raises:
        ValueError: the order of this version is unknown.
    """
    if not is_integer(version) or version not in ORDERS:
        raise ValueError(
            f"trec_eval must be 9 (scores as 32-bit floats) or 10 (as 64-bit floats), "
            f"not {shown(version)}"
        )
    return ORDERS[version]


def _bits_in_order(score: Floats) -> NDArray[np.uint32]:
    """Return 32-bit floats as integers of the same order."""
    bits = score.view(np.uint32)
    is_negative = bits >> 31 == 1
    return np.where(is_negative, ~bits, bits | np.uint32(1 << 31))


@dataclass(frozen=True, eq=False)
class Blocks:
    """A run restricted to judged queries, whose rows stand together: a block per query."""

    length: Ints  # of each block, at least 1
    score: Floats  # of each row
    doc_ids: Callable[[Ints], Sequence[str]]  # of the given rows
    doc: Ints  # the retrieved judged documents: rows of the judgments,
    doc_block: Ints  # the block each one is in,
    doc_score: Floats  # and its score
    order: ScoreOrder = TREC_EVAL_9


def ranks_of(
    blocks: Blocks, ids_of: Callable[[Ints], Sequence[str]]
) -> tuple[Ints, Ints, Ints]:
    """Return the rank of each retrieved judged document: one more than the documents before it.

    A run that is sorted by score already is recognised, not sorted again.

    Args:
        blocks: the run.
        ids_of: gives the ids of judged documents, from their rows in the judgments.

    Returns:
        For each judged document its rank, the rank at which the documents of its score begin, and
        how many these are.
    """
    rows_block = np.repeat(np.arange(len(blocks.length)), blocks.length)
    key, doc_key = blocks.order.keys(
        rows_block, blocks.score, (blocks.doc_block, blocks.doc_score)
    )
    in_order = key if np.all(key[1:] >= key[:-1]) else np.sort(key)
    start = np.cumsum(blocks.length) - blocks.length
    first = np.searchsorted(in_order, doc_key)
    rank = first - start[blocks.doc_block] + 1
    size = np.ones(len(rank), dtype=np.int64)
    # A document whose key its right neighbour shares is tied: document ids decide.
    right = np.minimum(first + 1, len(key) - 1)
    tied = np.flatnonzero((first + 1 < len(key)) & (in_order[right] == doc_key))
    if len(tied) == 0:
        return rank, rank, size
    size[tied] = np.searchsorted(in_order, doc_key[tied], side="right") - first[tied]
    first_rank = rank.copy()
    shared = np.unique(doc_key[tied])
    if in_order is key:
        rows = ranges(
            np.searchsorted(key, shared), np.searchsorted(key, shared, side="right")
        )
    else:
        rows = np.flatnonzero(np.isin(key, shared))
    names = ids_of(blocks.doc[tied])
    rank[tied] += _before(
        key[rows].tolist(), blocks.doc_ids(rows), doc_key[tied].tolist(), names
    )
    return rank, first_rank, size


def _before(
    keys: Sequence[int],
    doc_ids: Sequence[str],
    wanted_keys: Sequence[int],
    wanted_ids: Sequence[str],
) -> list[int]:
    """Count the documents of equal key that stand before each wanted one: those of a greater id.

    Python compares strings by code point, which is the byte order of UTF-8.
    """
    in_order = sorted(zip(keys, doc_ids, strict=True), key=itemgetter(1), reverse=True)
    n_before: dict[tuple[int, str], int] = {}
    n_seen: dict[int, int] = {}
    for key, doc_id in in_order:
        n_before[key, doc_id] = n_seen.get(key, 0)
        n_seen[key] = n_before[key, doc_id] + 1
    return [n_before[pair] for pair in zip(wanted_keys, wanted_ids, strict=True)]
