"""nDCG, AP, P, R, Rprec, RR and RBP as trec_eval and cwl_eval compute them: bases of TOMA, CAM and MM."""

from __future__ import annotations

import numpy as np

from ir_lexirecall.scoring.arrays import Floats, Ints, per_query_sum, position_in_segment


def dcg(query: Ints, rank: Ints, grade: Floats, queries: int) -> Floats:
    """Sum of grade / log2(rank + 1); a grade below 0 counts as 0."""
    return per_query_sum(query, np.maximum(grade, 0) / np.log2(rank + 1.0), queries)


def ndcg(
    query: Ints, rank: Ints, grade: Floats, judged_query: Ints, judged_grade: Floats, queries: int, k: float
) -> Floats:
    """DCG@k over the DCG@k of the ideal ranking; ``judged_*`` are all judged documents, by query."""
    order = np.lexsort((-judged_grade, judged_query))
    ideal_query, ideal_grade = judged_query[order], judged_grade[order]
    ideal_rank = position_in_segment(ideal_query) + 1
    top = ideal_rank <= k
    ideal = dcg(ideal_query[top], ideal_rank[top], ideal_grade[top], queries)
    top = rank <= k
    actual = dcg(query[top], rank[top], grade[top], queries)
    return np.divide(actual, ideal, out=np.zeros(queries), where=ideal > 0)


def average_precision(query: Ints, rank: Ints, m: Ints) -> Floats:
    """AP = (1 / m) sum of i / p_i over the retrieved relevant documents (``query``, ``rank``: theirs)."""
    total = per_query_sum(query, (position_in_segment(query) + 1) / rank, len(m))
    return np.divide(total, m, out=np.zeros(len(m)), where=m > 0)


def precision(query: Ints, queries: int, k: int) -> Floats:
    """P@k: relevant documents among the first k, over k."""
    return np.bincount(query, minlength=queries) / k


def recall(query: Ints, m: Ints) -> Floats:
    """R@k: relevant documents among the first k, over m."""
    return np.divide(np.bincount(query, minlength=len(m)), m, out=np.zeros(len(m)), where=m > 0)


def r_precision(query: Ints, rank: Ints, m: Ints) -> Floats:
    """Rprec: relevant documents among the first m, over m."""
    return recall(query[rank <= m[query]], m)


def reciprocal_rank(query: Ints, rank: Ints, queries: int) -> Floats:
    """RR = 1 / p_1."""
    value = np.zeros(queries)
    first = position_in_segment(query) == 0
    value[query[first]] = 1 / rank[first]
    return value


def rank_biased_precision(query: Ints, rank: Ints, queries: int, p: float) -> Floats:
    """RBP = (1 - p) sum of p^(i - 1) over the ranks of the retrieved relevant documents."""
    return per_query_sum(query, (1 - p) * p ** (rank - 1.0), queries)
