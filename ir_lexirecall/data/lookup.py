"""Finding judged documents in a run, and documents that it holds twice: by hashes, every match being checked.

Keys are tables with the columns ``query`` (position in the judgments) and ``doc_id``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ir_lexirecall._util.arrays import Bools, Ints
from ir_lexirecall._util.lazy import polars as pl

Hashes = NDArray[np.uint64]
_ROOMY = 3  # 2^3 places for each row keep the share of rows that meet another one at 6%
_SPARSE = 5  # 2^5 places for each key keep the share of other rows that look like one at 3%


@dataclass(frozen=True)
class Lookup:
    """The judged documents, arranged to be found by the hashes of their keys."""

    keys: pl.DataFrame  # query and document of every judged document
    seed: int  # of the hash function; one under which all keys have different hashes
    known: Hashes  # the hashes, sorted
    row: Ints  # the row of ``keys`` that each hash belongs to
    seen: Bools  # which leading bits of a hash occur
    shift: np.uint64  # how many trailing bits these leave out

    @classmethod
    def from_keys(cls, keys: pl.DataFrame) -> Lookup:
        """Arrange keys, no two of which are equal.

        >>> lookup = Lookup.from_keys(pl.DataFrame({"query": [0, 0], "doc_id": ["a", "b"]}))
        >>> run = pl.DataFrame({"query": [0, 0, 1], "doc_id": ["x", "b", "a"]})
        >>> [found.tolist() for found in lookup.find(run, lookup.hashes(run))]
        [[1], [1]]
        """
        seed = 0
        while True:
            hashes = _hashes(keys, seed)
            row = np.argsort(hashes)
            known = hashes[row]
            if not np.any(known[1:] == known[:-1]):
                break
            seed += 1
        bits = len(keys).bit_length() + _SPARSE
        shift = np.uint64(64 - bits)
        seen = np.zeros(2**bits, dtype=bool)
        seen[known >> shift] = True
        return cls(keys, seed, known, row, seen, shift)

    def hashes(self, keys: pl.DataFrame) -> Hashes:
        """A hash for each row."""
        return _hashes(keys, self.seed)

    def find(self, keys: pl.DataFrame, hashes: Hashes) -> tuple[Ints, Ints]:
        """Which rows of ``keys`` are judged, and the row of the judged document that each of them is."""
        looks_known = np.flatnonzero(self.seen.take((hashes >> self.shift).view(np.int64)))
        if len(self.known) == 0:
            return looks_known[:0], looks_known[:0]
        place = np.minimum(np.searchsorted(self.known, hashes[looks_known]), len(self.known) - 1)
        alike = self.known[place] == hashes[looks_known]
        found, judged = looks_known[alike], self.row[place[alike]]
        same = (keys["doc_id"][found] == self.keys["doc_id"][judged]).to_numpy()
        same &= keys["query"].to_numpy()[found] == self.keys["query"].to_numpy()[judged]
        return found[same], judged[same]


def _hashes(keys: pl.DataFrame, seed: int) -> Hashes:
    return keys.hash_rows(seed).to_numpy()


def repetitions(keys: pl.DataFrame, hashes: Hashes) -> pl.DataFrame:
    """The rows that an earlier row equals. Equal rows have equal hashes: only those are looked at.

    >>> keys = pl.DataFrame({"query": [0, 0, 0, 1], "doc_id": ["a", "b", "a", "a"]})
    >>> repetitions(keys, keys.hash_rows().to_numpy()).rows()
    [(0, 'a')]
    """
    # Of the rows whose hashes lead to one place, the last one stays there: the others are looked at, and it.
    place = (hashes >> np.uint64(64 - len(hashes).bit_length() - _ROOMY)).view(np.int64)
    last = np.empty(2 ** (len(hashes).bit_length() + _ROOMY), dtype=np.int32)
    row = np.arange(len(hashes), dtype=np.int32)
    last[place] = row
    stays = last[place]
    displaced = np.flatnonzero(stays != row)
    crowded = np.concatenate([displaced, np.unique(stays[displaced])])
    in_order = np.sort(hashes[crowded])
    twice = in_order[1:][in_order[1:] == in_order[:-1]]
    if len(twice) == 0:
        return keys[:0]
    suspects = keys[np.sort(crowded[np.isin(hashes[crowded], twice)])]
    return suspects.filter(~pl.struct(pl.all()).is_first_distinct())
