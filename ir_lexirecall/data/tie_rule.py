"""trec_eval's tie rule, in its one place: scores as 32-bit floats, descending; ties by document id, descending in byte order.

A run that is sorted this way already is recognised, not sorted again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from ir_lexirecall._util.arrays import Floats, Ints, ranges
from ir_lexirecall.data.judgments import Judgments


@dataclass(frozen=True)
class Blocks:
    """A run restricted to judged queries, whose rows stand together: a block per query."""

    length: Ints  # of each block, at least 1
    score: NDArray[np.float32]  # of each row
    doc_ids: Callable[[Ints], Sequence[str]]  # of the given rows
    doc: Ints  # the retrieved judged documents: rows of the judgments,
    doc_block: Ints  # the block each one is in,
    doc_score: NDArray[np.float32]  # and its score


def as_32_bits(score: Floats) -> NDArray[np.float32]:
    """Scores as trec_eval holds them; beyond the range of 32 bits they are infinite, and -0 equals 0."""
    with np.errstate(over="ignore"):
        rounded: NDArray[np.float32] = score.astype(np.float32)
    return np.add(rounded, np.float32(0))


def sort_key(block: Ints, score: NDArray[np.float32]) -> NDArray[np.uint64]:
    """A number that sorts by block, then by descending score: the block above the inverted bits of the score."""
    bits = score.view(np.uint32)
    ascending = np.where(bits >> 31 == 1, ~bits, bits | np.uint32(1 << 31))
    key: NDArray[np.uint64] = block.astype(np.uint64) << np.uint64(32)
    key |= ~ascending
    return key


def ranks_of(blocks: Blocks, judgments: Judgments) -> tuple[Ints, Ints, Ints]:
    """Rank of each retrieved judged document: one more than the documents before it.

    And where the documents of its score begin, and how many these are.
    """
    key = sort_key(np.repeat(np.arange(len(blocks.length)), blocks.length), blocks.score)
    in_order = key if np.all(key[1:] >= key[:-1]) else np.sort(key)
    doc_key = sort_key(blocks.doc_block, blocks.doc_score)
    start = np.cumsum(blocks.length) - blocks.length
    first = np.searchsorted(in_order, doc_key)
    rank = first - start[blocks.doc_block] + 1
    size = np.ones(len(rank), dtype=np.int64)
    # A document whose key its right neighbour shares is tied: document ids decide.
    tied = np.flatnonzero(
        (first + 1 < len(key)) & (in_order[np.minimum(first + 1, len(key) - 1)] == doc_key)
    )
    if len(tied) == 0:
        return rank, rank, size
    size[tied] = np.searchsorted(in_order, doc_key[tied], side="right") - first[tied]
    first_rank = rank.copy()
    shared = np.unique(doc_key[tied])
    if in_order is key:
        rows = ranges(np.searchsorted(key, shared), np.searchsorted(key, shared, side="right"))
    else:
        rows = np.flatnonzero(np.isin(key, shared))
    names = judgments.ids_of(blocks.doc[tied])
    rank[tied] += _before(key[rows].tolist(), blocks.doc_ids(rows), doc_key[tied].tolist(), names)
    return rank, first_rank, size


def _before(
    keys: Sequence[int],
    doc_ids: Sequence[str],
    wanted_keys: Sequence[int],
    wanted_ids: Sequence[str],
) -> list[int]:
    """How many documents of equal key stand before each one that is wanted: those whose id is greater.

    Python compares strings by code point, which is the byte order of UTF-8.
    """
    in_order = sorted(zip(keys, doc_ids, strict=True), key=itemgetter(1), reverse=True)
    place: dict[tuple[int, str], int] = {}
    seen: dict[int, int] = {}
    for key, doc_id in in_order:
        place[key, doc_id] = seen.get(key, 0)
        seen[key] = place[key, doc_id] + 1
    return [place[pair] for pair in zip(wanted_keys, wanted_ids, strict=True)]
