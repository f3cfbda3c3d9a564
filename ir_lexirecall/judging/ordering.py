"""What to judge next: unjudged documents by what they can still decide between runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall._util.arrays import Bools, Floats, Ints, position_in_segment
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall.data.pools import Pool, Ranks
from ir_lexirecall.judging.algorithms import bounded
from ir_lexirecall.judging.bounds import bounds_of_differences, bounds_of_wins, checked_depth
from ir_lexirecall.judging.duels import Weight
from ir_lexirecall.judging.sums import WeightedSum


def decides(
    pool: Pool,
    criterion: IRMeasure | str,
    a: Ints,
    b: Ints,
    *,
    values: Floats | None = None,
    rel: float = 1,
    cutoff: int | None = None,
    depth: int | None = None,
    max_rel: float | None = None,
) -> tuple[Floats, Floats]:
    """How much each unjudged document can still decide between runs: ``decides``, and ``concerns``; shape ``(N,)`` each.

    decides(u) = sum over pairs of |w(rank in A) - w(rank in B)| x closeness, over the pairs that are open on the document's query.
    The weight w fits the criterion. A sum of weights (P, DCG, RBP, ...) has its own: the documents that move open differences most
    (Carterette, Allan, Sitaraman 2006). lexirecall, R and what else asks who finds more take 1 for a retrieved document, and the
    closeness of the two runs on the query, 1 / (1 + |r_A - r_B|), with r the relevant documents known so far: before anything is
    judged that is proportional to p (1 - p), with p the share of runs that retrieved it, and then it follows the judgments as they
    come in. AP, nDCG and all others take rank^(-1/4), between retrieval and rank; the closeness is 1 for them.

    Args:
        criterion: a measure, or the name of a preference.
        values: of a measure, shape ``(S, Q)``.
        rel, cutoff: of preferences; a measure may name its own.
        pool, a, b, depth, max_rel: as in ``bounds_of_differences``.

    Returns:
        (decides, concerns): ``concerns`` counts the open pairs that have the document at different ranks (for criteria in which a
        document weighs more or less by what else is relevant, TSE, RR, normalised measures, cascades, recall-paired
        preferences: that have it at all). 0 of both: judging the document cannot change who is better.

    Source: Carterette, Allan, Sitaraman, Minimal Test Collections for Retrieval Evaluation, SIGIR 2006,
    doi 10.1145/1148170.1148219.
    """
    own = cutoff if isinstance(criterion, str) else criterion.params.get("cutoff")
    depth = checked_depth(str(criterion), depth, own)
    if not isinstance(criterion, str):
        rel = criterion.params.get("rel", rel)
    weight, asks_who_finds, not_additive = _weight(criterion, pool, max_rel)
    rank = pool.rank if own is None else np.where(pool.rank <= own, pool.rank, 0)
    retrieved = pool.retrieved[:, pool.query]
    w = np.stack(
        [
            np.where(r > 0, weight(np.maximum(r, 1).astype(np.int64), n), 0.0)
            for r, n in zip(rank, retrieved, strict=True)
        ]
    )
    closeness = _closeness(pool, rank, rel)
    is_open = _open_cases(pool, criterion, a, b, values, rel, cutoff, depth, max_rel)
    shallow = (pool.rank > 0) & (pool.rank <= (np.iinfo(np.int32).max if depth is None else depth))
    total, concerns = np.zeros((2, len(pool.query)))
    for p, (first, second) in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
        counts = is_open[p][pool.query] & ~pool.is_judged & (shallow[first] | shallow[second])
        move = np.where(counts, np.abs(w[first] - w[second]), 0.0)
        total += move * closeness(first, second) if asks_who_finds else move
        concerns += counts & (not_additive | (rank[first] != rank[second]))
    return total, concerns


def _open_cases(
    pool: Pool,
    criterion: IRMeasure | str,
    a: Ints,
    b: Ints,
    values: Floats | None,
    rel: float,
    cutoff: int | None,
    depth: int | None,
    max_rel: float | None,
) -> Bools:
    """Which pairs are open on which queries, shape ``(P, Q)``.

    By a preference: either run can win, or one can and they tie today. By a measure: the mean's sign can change, and the query can
    still move it. Criteria without bounds are open wherever there are unjudged documents.
    """
    if isinstance(criterion, str):
        wins = bounds_of_wins(pool, criterion, a, b, rel=rel, cutoff=cutoff, depth=depth, max_rel=max_rel)
        today = bounds_of_wins(pool, criterion, a, b, rel=rel, cutoff=cutoff, max_rel=0)
        if wins is None or today is None:
            return np.ones((len(a), len(pool.judgments)), dtype=bool)
        tied = ~today.a_can & ~today.b_can
        return (wins.a_can & wins.b_can) | (tied & (wins.a_can | wins.b_can))
    assert values is not None
    bounds = bounds_of_differences(pool, criterion, values, a, b, depth=depth, max_rel=max_rel)
    if bounds is None:
        return np.ones((len(a), len(pool.judgments)), dtype=bool)
    low, high = bounds.low.mean(axis=1), bounds.high.mean(axis=1)
    return ((low <= 0) & (high >= 0))[:, None] & (bounds.low < bounds.high)


def _weight(criterion: IRMeasure | str, pool: Pool, max_rel: float | None) -> tuple[Weight, bool, bool]:
    """w, whether the criterion asks who finds more, and whether what a document adds depends on other documents."""
    if isinstance(criterion, str):
        paired = "rpp" in criterion  # a document at the same rank in both shifts the levels that are compared
        return (_power(-1), False, paired) if "lexiprecision" in criterion else (_power(0), True, paired)
    known = bounded(criterion, pool.judgments, max_rel)
    if known is not None and isinstance(known.algorithm, WeightedSum):
        return known.algorithm.weight, False, False
    if criterion.NAME in ("RR", "ERR", "GERR", "Success"):
        return _power(-1), False, True
    if criterion.NAME in _OF_RETRIEVAL:
        return _power(0), True, True
    return _power(-0.25), False, True


def _power(exponent: float) -> Weight:
    return lambda rank, retrieved: rank.astype(np.float64) ** exponent


def depends_on_others(criterion: IRMeasure | str, pool: Pool) -> bool:
    """Whether what a document adds by a criterion depends on other documents, so that one at the same rank in both runs decides, too."""
    return _weight(criterion, pool, None)[2]


_OF_RETRIEVAL = ("R", "SetR", "TSE", "LexiRecall", "SL3")


def _closeness(pool: Pool, rank: Ranks, rel: float) -> Callable[[int, int], Floats]:
    """1 / (1 + |r_A - r_B|) of two runs on the query of each document, from the judgments so far."""
    known = pool.is_judged & (pool.grade >= rel)
    r = np.stack([np.bincount(pool.query[known & (ranks > 0)], minlength=len(pool.judgments)) for ranks in rank])
    return lambda a, b: (1 / (1 + np.abs(r[a] - r[b])))[pool.query]


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
    >>> scores = decides(pool, "lexirecall", np.array([0]), np.array([1]))
    >>> to_judge_table(pool, 5, *scores)[["query_id", "doc_id", "decides", "rank_x", "rank_y"]]
      query_id doc_id  decides  rank_x  rank_y
    0        q      v      1.0       2    <NA>
    """
    row = np.flatnonzero((decides > 0) | (concerns > 0))
    best = pool.rank.min(axis=0, where=pool.rank > 0, initial=np.iinfo(np.int32).max)[row]
    row = row[np.lexsort((row, best, -concerns[row], -decides[row], pool.query[row]))]
    place = position_in_segment(pool.query[row]) + 1
    row = row[np.lexsort((row, place, -concerns[row] / place, -decides[row] / place))][:n]
    ranks: Mapping[str, pd.arrays.IntegerArray] = {
        f"rank_{name}": pd.arrays.IntegerArray(pool.rank[s, row].astype(np.int64), pool.rank[s, row] == 0)
        for s, name in enumerate(pool.names)
    }
    return pd.DataFrame(
        {
            "query_id": [pool.judgments.query_ids[q] for q in pool.query[row].tolist()],
            "doc_id": pool.doc_id.gather(row).to_list(),
            "decides": decides[row],
            "runs": (pool.rank[:, row] > 0).sum(axis=0),
            **ranks,
        }
    )
