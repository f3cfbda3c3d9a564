"""Partial orders of judged rankings (Ferrante, Ferro, Maistro, ICTIR 2015): what every measure must respect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from ir_lexirecall._util.arrays import Bools, Floats, Ints
from ir_lexirecall._util.errors import check_choice, entry
from ir_lexirecall.meta.result import study

_SOURCE = "Ferrante, Ferro, Maistro, ICTIR 2015, doi 10.1145/2808194.2809452"
_BY = ("rank", "set")
_ORDER = {(False, False): "=", (True, False): ">", (False, True): "<", (True, True): "not comparable"}


@entry
def partial_order(rankings: Mapping[str, Sequence[float]], *, by: str = "rank") -> pd.DataFrame:
    """Tell which of several judged rankings of one topic is at least as good as which, whatever the measure.

    - ``by='rank'``: a <= b iff for every grade g and every depth k, b has among its first k documents at least as many
      documents of grade g or more as a has.
    - ``by='set'``: the same without ranks, of all documents only (k = n). It is total where relevance is binary.

    Where each of two rankings is ahead somewhere, they are not comparable.

    Args:
        rankings: the grades from rank 1 on, by the ranking's name; a shorter ranking is continued with
            grade 0, and a grade below 0 counts as 0.
        by: the order of rankings, or of the sets of their documents.

    Returns:
        A row per pair: ``ranking_a``, ``ranking_b``, ``order`` (``'<'`` a is worse, ``'>'`` a is better, ``'='``, or ``'not
        comparable'``), and where each is ahead first: ``a_ahead`` and ``b_ahead`` as (depth, grade), or None.

    Raises:
        ValueError: fewer than two rankings, or a grade that is not a number.

    Source: Ferrante, Ferro, Maistro, Towards a Formal Framework for Utility-oriented Measurements of Retrieval
    Effectiveness, ICTIR 2015, doi 10.1145/2808194.2809452.

    >>> partial_order({"r": [0, 1, 1], "s": [1, 0, 1], "t": [2, 0, 0]})
      ranking_a ranking_b           order a_ahead b_ahead
    0         r         s               <    None  (1, 1)
    1         r         t  not comparable  (3, 1)  (1, 1)
    2         s         t  not comparable  (3, 1)  (1, 2)
    >>> partial_order({"r": [0, 1, 1], "s": [1, 0, 1]}, by="set")["order"].item()
    '='
    """
    check_choice("by", by, _BY)
    if not isinstance(rankings, Mapping) or len(rankings) < 2:
        raise ValueError("give at least two rankings by name")
    if len(set(map(str, rankings))) < len(rankings):
        raise ValueError("two rankings have the same name")
    grades: dict[str, Floats] = {}
    for name, ranking in rankings.items():
        try:
            grades[str(name)] = np.asarray(ranking, dtype=np.float64).reshape(-1)
        except (TypeError, ValueError):
            raise ValueError(f"the grades of ranking {name!r} are not all numbers") from None
        if not np.isfinite(grades[str(name)]).all():
            raise ValueError(f"ranking {name!r} has a grade that is not a finite number")
    counts, depths, levels = _counts(list(grades.values()), by)
    rows = []
    for (i, a), (j, b) in combinations(enumerate(grades), 2):
        a_ahead = _first(counts[i] > counts[j], depths, levels)
        b_ahead = _first(counts[j] > counts[i], depths, levels)
        rows.append((a, b, _ORDER[a_ahead is not None, b_ahead is not None], a_ahead, b_ahead))
    table = pd.DataFrame(rows, columns=["ranking_a", "ranking_b", "order", "a_ahead", "b_ahead"])
    return study(table, "partial_order", rankings=list(grades), by=by, source=_SOURCE)


def _counts(grades: Sequence[Floats], by: str) -> tuple[Ints, Ints, Floats]:
    """Documents of at least each grade level within each depth, shape (rankings, depths, levels); the depths, the levels."""
    levels = np.unique(np.concatenate(grades))
    levels = levels[levels > 0]
    depth = max(map(len, grades))
    padded = np.array([np.r_[ranking, np.zeros(depth - len(ranking))] for ranking in grades])
    counts: Ints = np.cumsum(padded.reshape(len(grades), depth)[:, :, None] >= levels, axis=1, dtype=np.int64)
    depths: Ints = np.arange(1, depth + 1)
    return (counts, depths, levels) if by == "rank" else (counts[:, -1:], depths[-1:], levels)


def _first(ahead: Bools, depths: Ints, levels: Floats) -> tuple[int, float] | None:
    """The least depth, and there the lowest grade, at which a ranking is ahead."""
    places = np.argwhere(ahead)
    if len(places) == 0:
        return None
    depth, level = places[0]
    grade = float(levels[level])
    return int(depths[depth]), int(grade) if grade.is_integer() else grade
