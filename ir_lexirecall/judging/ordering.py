"""What to judge next: unjudged documents by what they can still decide between runs; and all that a comparison asks about them."""

from __future__ import annotations

from typing import Any

import numpy as np
from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall._util.arrays import Bools, Floats, Ints, position_in_segment
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.data.pools import Pool
from ir_lexirecall.judging.algorithms import Judgings, bounded
from ir_lexirecall.judging.bounds import (
    ValueBounds,
    WinBounds,
    bounds_of_differences,
    bounds_of_wins,
)
from ir_lexirecall.judging.ranking_pairs import Places, Weight, weighed
from ir_lexirecall.judging.sums_and_cascades import WeightedSum
from ir_lexirecall.preferences.naming import Preference

_ANY = Judgings()


def decides(
    pool: Pool,
    criterion: IRMeasure | Preference,
    places: Places,
    judgings: Judgings = _ANY,
    values: Floats | None = None,
    moving: Bools | None = None,
) -> tuple[Floats, Floats]:
    """How much each unjudged document can still decide between runs: ``decides``, and ``concerns``; shape ``(N,)`` each.

    decides(u) = sum over pairs of |w(rank in A) - w(rank in B)|, over the pairs that are open on the document's query. The weight w fits
    the criterion. A sum of weights (P, DCG, RBP, ...) has its own: the documents that move open differences most (Carterette, Allan,
    Sitaraman 2006). lexirecall, R and what else asks who finds more take 1 for a retrieved document: while all pairs are open that is
    proportional to p (1 - p), with p the share of runs that retrieved it. AP, nDCG and all others take rank^(-1/4), between retrieval and rank.

    Args:
        criterion: a measure or a preference.
        values: of a measure, shape ``(S, Q)``.
        pool, places, judgings: as in ``bounds_of_differences``.
        moving: of a measure, which pairs' mean differences can change their sign, where the pool is a part of a larger one; shape ``(P,)``.

    Returns:
        (decides, concerns): ``concerns`` counts the open pairs that have the document at different ranks (for criteria in which a
        document weighs more or less by what else is relevant, TSE, RR, normalised measures, cascades, recall-paired
        preferences: that have it at all). 0 of both: judging the document cannot change who is better.

    Source: Carterette, Allan, Sitaraman, Minimal Test Collections for Retrieval Evaluation, SIGIR 2006,
    doi 10.1145/1148170.1148219.
    """
    weight, not_additive = _weight(criterion, pool.judgments, judgings)
    rank, shallow = pool.ranks_within(judgings.depth_of(criterion), criterion.params.get("cutoff"))
    w = np.stack(
        [weighed(weight, r, n) for r, n in zip(rank, pool.retrieved[:, pool.query], strict=True)]
    )
    # Which pairs are open on which queries, shape ``(P, Q)``. By a preference: either run can win, or one can and they tie today. By a
    # measure: the mean's sign can change, and the query can still move it. Without bounds: wherever there are unjudged documents.
    a, b = places
    is_open = np.ones((len(a), len(pool.judgments)), dtype=bool)
    if isinstance(criterion, Preference):
        wins, today = (
            bounds_of_wins(pool, criterion, places, possible) for possible in (judgings, None)
        )
        if wins is not None and today is not None:
            a_can, b_can, tied = wins.high > 0, wins.low < 0, (today.high <= 0) & (today.low >= 0)
            is_open = (a_can & b_can) | (tied & (a_can | b_can))
    else:
        assert values is not None
        if (bounds := bounds_of_differences(pool, criterion, values, places, judgings)) is not None:
            is_open = (can_change(bounds) if moving is None else moving)[:, None] & (
                bounds.low < bounds.high
            )
    total, concerns = np.zeros((2, len(pool.query)))
    unjudged = np.flatnonzero(~pool.is_judged)
    ends = np.searchsorted(pool.query[unjudged], np.arange(len(pool.judgments) + 1))
    has = rank > 0
    for q in np.flatnonzero(is_open.any(axis=0) & (ends[1:] > ends[:-1])).tolist():
        row = unjudged[ends[q] : ends[q + 1]]
        w_here, rank_here, top, has_here = (
            w[:, row],
            rank[:, row],
            shallow[:, row],
            has[:, row] | shallow[:, row],
        )
        beside = np.zeros((len(w), len(w)), dtype=np.float32)
        beside[a[is_open[:, q]], b[is_open[:, q]]] = beside[b[is_open[:, q]], a[is_open[:, q]]] = 1
        lacking = beside @ (~has_here).astype(
            np.float32
        )  # open pairs of a run with one that has not got the document
        lacking = np.where(top & (has[:, row] | not_additive), lacking, 0.0).astype(np.float64)
        total[row], concerns[row] = (lacking * w_here).sum(axis=0), lacking.sum(axis=0)
        for first in np.unique(
            a[is_open[:, q]]
        ).tolist():  # beside all others at once, of documents that it has
            others = b[is_open[:, q] & (a == first)]
            column = np.flatnonzero(has_here[first])
            here = np.ix_(others, column)
            counts = has_here[here] & (top[here] | top[first, column])
            move = np.where(counts, np.abs(w_here[here] - w_here[first, column]), 0.0)
            total[row[column]] += move.sum(axis=0)
            differ = (
                counts if not_additive else counts & (rank_here[here] != rank_here[first, column])
            )
            concerns[row[column]] += differ.sum(axis=0)
    return total, concerns


def can_change(bounds: ValueBounds) -> Bools:
    """Whether the sign of each mean difference can be another one, or none, shape ``(P,)``."""
    return (bounds.low.mean(axis=1) <= 0) & (bounds.high.mean(axis=1) >= 0)


def _weight(
    criterion: IRMeasure | Preference, judgments: Judgments, judgings: Judgings
) -> tuple[Weight, bool]:
    """w, and whether what a document adds depends on other documents."""

    def power(exponent: float) -> Weight:
        return lambda rank, retrieved: rank.astype(np.float64) ** exponent

    if isinstance(criterion, Preference):
        paired = (
            "rpp" in criterion.NAME
        )  # a document at the same rank in both shifts the levels that are compared
        return (power(-1), paired) if "lexiprecision" in criterion.NAME else (power(0), paired)
    known = bounded(criterion, judgments, judgings)
    if known is not None and isinstance(known.algorithm, WeightedSum):
        return known.algorithm.weight, False
    if criterion.NAME in ("RR", "ERR", "GERR", "Success"):
        return power(-1), True
    return power(0 if criterion.NAME in ("R", "SetR", "TSE", "LexiRecall", "SL3") else -0.25), True


def to_judge_table(pool: Pool, n: int, decides: Floats, concerns: Floats) -> pd.DataFrame:
    """The n documents to judge next, those that decide most first.

    Several documents of one query say partly the same: the i-th of a query counts 1 / i of what it decides when documents of different
    queries are put in order.

    Returns:
        Columns ``query_id``, ``doc_id``, ``decides``, ``runs`` (how many retrieved it), and ``rank_NAME`` for every run, missing
        where the run did not retrieve it. Documents that cannot change who is better are left out.

    >>> from ir_lexirecall.data.judgments import Judgments
    >>> runs = {"x": {"q": {"u": 2, "v": 1}}, "y": {"q": {"u": 1}}}
    >>> pool = Pool.from_runs(Judgments.from_qrels({"q": {"a": 1}}), runs)
    >>> scores = decides(pool, Preference("lexirecall"), (np.array([0]), np.array([1])))
    >>> to_judge_table(pool, 5, *scores)[["query_id", "doc_id", "decides", "rank_x", "rank_y"]]
      query_id doc_id  decides  rank_x  rank_y
    0        q      v      1.0       2    <NA>
    """
    row = first_to_judge(pool, n, decides, concerns)
    rank = pool.rank[:, row]
    columns: dict[str, Any] = {
        "query_id": [pool.judgments.query_ids[q] for q in pool.query[row].tolist()]
    }
    columns |= {
        "doc_id": pool.doc_id.gather(row).to_list(),
        "decides": decides[row],
        "runs": (rank > 0).sum(axis=0),
    }
    for name, of_run in zip(pool.names, rank, strict=True):
        columns[f"rank_{name}"] = pd.arrays.IntegerArray(of_run.astype(np.int64), of_run == 0)
    return pd.DataFrame(columns)


def first_to_judge(pool: Pool, n: int, decides: Floats, concerns: Floats) -> Ints:
    """Rows of the n documents of ``to_judge_table``, in its order."""
    row = np.flatnonzero((decides > 0) | (concerns > 0))
    best = pool.rank.min(axis=0, where=pool.rank > 0, initial=np.iinfo(np.int32).max)[row]
    row = row[np.lexsort((row, best, -concerns[row], -decides[row], pool.query[row]))]
    place = position_in_segment(pool.query[row]) + 1
    return row[np.lexsort((row, place, -concerns[row] / place, -decides[row] / place))[:n]]


class Unjudged:
    """What a comparison asks about unjudged documents; ``places``, ``judgings`` and ``values`` as in ``bounds_of_differences``.

    Here the documents are those of a ``pool``; where they are elsewhere, a subclass asks there.
    """

    def __init__(self, pool: Pool) -> None:
        self.pool: Pool = pool
        self.judgments: Judgments = pool.judgments
        self.in_short: Judgments = pool.judgments  # as good as all for choosing an algorithm
        self.names: list[str] = pool.names
        self.deepest: Ints = pool.retrieved.max(
            axis=1, initial=0
        )  # documents of each run's longest ranking, (S,)

    def documents(self, depth: int) -> tuple[int, Ints]:
        """How many documents can matter, all runs together and each one ``(S,)``: with a gain, or unjudged down to ``depth`` of any run."""
        pool = self.pool
        pool = pool.only(np.where(pool.is_judged, pool.grade > 0, pool.within(depth)))
        return len(pool.query), (pool.rank > 0).sum(axis=1)

    @property
    def all_judged(self) -> bool:
        """Whether none is unjudged."""
        return bool(self.pool.is_judged.all())

    def wins(
        self, preference: Preference, places: Places, judgings: Judgings | None
    ) -> WinBounds | None:
        """See ``bounds_of_wins``."""
        return bounds_of_wins(self.pool, preference, places, judgings)

    def differences(
        self, measure: IRMeasure, values: Floats, places: Places, judgings: Judgings
    ) -> ValueBounds | None:
        """See ``bounds_of_differences``."""
        return bounds_of_differences(self.pool, measure, values, places, judgings)

    def to_judge(
        self,
        what: IRMeasure | Preference,
        n: int,
        places: Places,
        judgings: Judgings,
        values: Floats | None,
    ) -> pd.DataFrame:
        """See ``to_judge_table``."""
        return to_judge_table(self.pool, n, *decides(self.pool, what, places, judgings, values))

    def depends_on_others(self, what: IRMeasure | Preference) -> bool:
        """Whether what a document adds depends on other documents, so that one at the same rank in both runs decides, too."""
        return _weight(what, self.in_short, _ANY)[1]
