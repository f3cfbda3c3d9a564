"""What decided a preference between two systems, query by query."""

from __future__ import annotations

from typing import Any

import numpy as np

from ir_lexirecall._util.arrays import Floats, Ints
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall.preferences.counts import PreferenceCounts
from ir_lexirecall.preferences.functions import PAIRWISE

_FROM_THE_END = "lexirecall"
_FROM_THE_TOP = ("lexiprecision", "rrlexiprecision")


def explain(preference: str, counts: PreferenceCounts, pair: tuple[int, int], values: Floats) -> dict[str, Any]:
    """What decided a preference between two runs, as columns with a row per query; see ``Comparison.explain``.

    Args:
        preference: its name.
        counts: the preferences between the runs.
        pair: the two runs, by their place among all.
        values: the preference of the first over the second on each query.
    """
    positions, table = counts.positions, {}
    runs = list(counts.runs.values())
    if preference == _FROM_THE_END or preference in _FROM_THE_TOP:
        level, tied = np.zeros((2, len(values)), dtype=np.int64)
        for q in range(len(values)):  # the levels of one query are one comparison of arrays
            a, b = (positions.rank[positions.start[s, q] : positions.start[s, q] + positions.r[s, q]] for s in pair)
            m, both, longest = int(positions.m[q]), min(len(a), len(b)), max(len(a), len(b))
            if preference == _FROM_THE_END:
                differ = np.flatnonzero(a != b) if len(a) == len(b) else np.array([longest - 1])
                level[q] = differ[-1] + 1 if len(differ) else 0
                tied[q] = m - level[q]
            else:
                differ = np.flatnonzero(a[:both] != b[:both])
                level[q] = differ[0] + 1 if len(differ) else (both + 1 if longest > both else 0)
                tied[q] = level[q] - 1 if level[q] else m
        # The recall level (from 1) at which the two first differ, 0 for a tie, and the levels that tied before.
        table["level"] = _whole(level)
        table["tied_levels"] = tied
        rank, doc_id = np.zeros((2, len(level)), dtype=np.int64), np.full((2, len(level)), None, dtype=object)
        for i, s in enumerate(pair):  # rank (0: none) and document with which each run reaches the level
            there = (level > 0) & (positions.r[s] >= level)
            place = (positions.start[s] + level - 1)[there]
            rank[i, there] = positions.rank[place]
            doc_id[i, there] = runs[s].judgments.doc_id.gather(runs[s].doc[positions.row[place]]).to_list()
        a_wins = values > 0
        table["doc_id"] = np.where(a_wins, doc_id[0], doc_id[1])
        table["rank_a"], table["rank_b"] = _whole(rank[0]), _whole(rank[1])
        table["other_doc_id"] = np.where(a_wins, doc_id[1], doc_id[0])
    elif preference in PAIRWISE:
        ranks = (positions.padded([q], list(pair))[:, 0].T for q in range(len(values)))
        ahead = [(int((a < b).sum()), int((b < a).sum())) for a, b in ranks]
        table["levels_a"], table["levels_b"] = zip(*ahead, strict=True) if ahead else ((), ())
    return table


def _whole(values: Ints) -> Any:
    """Integers in which 0 stands for nothing, as pandas' nullable ones."""
    return pd.arrays.IntegerArray(values, values == 0)
