"""Reference values by brute force: every measure for one query, evaluated term by term as it is defined.

Nothing here is fast or shared with the library. A `ranking` lists document ids, rank 1 first; `grades` maps
the judged documents of the query to their grades; keyword parameters carry the names and defaults of the
measures.
"""

from __future__ import annotations

import ctypes
import itertools
import math
import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

Grades = Mapping[str, float]
Aspects = Mapping[str, float | Mapping[float, float]]
Base = str | Callable[..., float]
CwlValues = tuple[float, float, float, float, float]


# -- ranking and relevance -------------------------------------------------------------------------


def order(run: Mapping[str, float]) -> list[str]:
    """trec_eval's order: score as 32-bit float, descending; ties by id, descending (bytes of UTF-8)."""
    return sorted(
        run,
        key=lambda doc: (ctypes.c_float(run[doc]).value, doc.encode("utf-8")),
        reverse=True,
    )


def cut(ranking: Sequence[str], cutoff: int | None) -> list[str]:
    """What is ranked below the cutoff counts as not retrieved."""
    if cutoff is None:
        return list(ranking)
    return list(ranking[:cutoff])


def positions(
    ranking: Sequence[str], grades: Grades, rel: float = 1, cutoff: int | None = None
) -> list[int]:
    """p_1 < ... < p_r, the ranks (from 1) of the retrieved documents with a grade of at least `rel`."""
    return [
        i
        for i, doc in enumerate(cut(ranking, cutoff), start=1)
        if doc in grades and grades[doc] >= rel
    ]


def relevant(grades: Grades, rel: float = 1) -> int:
    """m, the number of relevant documents of the query."""
    return sum(1 for grade in grades.values() if grade >= rel)


def gain_of(grade: float, gain: str, max_rel: float) -> float:
    """r = (2^g - 1) / 2^max_rel for 'exp', g / max_rel for 'linear'; negative grades count as 0."""
    grade = max(grade, 0)
    if gain == "exp":
        return (2**grade - 1) / 2**max_rel
    if gain == "linear":
        return grade / max_rel
    raise ValueError(f"unknown gain {gain!r}")


# -- total search efficiency -----------------------------------------------------------------------


def exposure_at(
    rank: int | None, exposure: str = "AP", p: float = 0.8, n: int | None = None
) -> float:
    """e(i): 1/i, 1/log2(i+1), (1-p) p^(i-1) or 1 - i/n; e(infinity) = 0 for rank None."""
    if rank is None:
        return 0.0
    if exposure in ("AP", "RR"):
        return 1 / rank
    if exposure == "nDCG":
        return 1 / math.log2(rank + 1)
    if exposure == "RBP":
        return (1 - p) * p ** (rank - 1)
    return float(1 - Fraction(rank, n))


def tse(
    ranking: Sequence[str],
    grades: Grades,
    *,
    rel: float = 1,
    cutoff: int | None = None,
    exposure: str = "AP",
    p: float = 0.8,
    n: int | None = None,
    impute: str = "pessimistic",
    normalize: bool = False,
) -> float:
    """TSE = e(p_m), the exposure of the last relevant document; 0 for m = 0.

    Missing documents: p_m = n (`pessimistic`, e(infinity) = 0 without n) or depth + (m - r) (`optimistic`).
    `normalize`: (e(p_m) - e(n)) / (e(m) - e(n)), with e(n) = 0 without n, and 1 if the two bounds meet.
    """
    m = relevant(grades, rel)
    if m == 0:
        return 0.0
    found = positions(ranking, grades, rel, cutoff)
    missing = m - len(found)
    last: int | None
    if missing == 0:
        last = found[-1]
    elif impute == "optimistic":
        last = len(cut(ranking, cutoff)) + missing
    else:
        last = n
    value = exposure_at(last, exposure, p, n)
    if not normalize:
        return value
    worst = exposure_at(n, exposure, p, n)
    best = exposure_at(m, exposure, p, n)
    if best == worst:
        return 1.0
    return (value - worst) / (best - worst)


# -- lexicographic recall --------------------------------------------------------------------------


def lexirecall_preference(
    positions_a: Sequence[int], positions_b: Sequence[int]
) -> int:
    """1 if a beats b, -1 if b beats a, 0 for a tie, from the sorted ranks of the relevant retrieved.

    More retrieved wins; at equal r compare p_r, then p_(r-1), ...: at the first difference the smaller rank
    wins.
    """
    if len(positions_a) != len(positions_b):
        return 1 if len(positions_a) > len(positions_b) else -1
    for rank_a, rank_b in zip(
        reversed(positions_a), reversed(positions_b), strict=True
    ):
        if rank_a != rank_b:
            return 1 if rank_a < rank_b else -1
    return 0


def lexirecall(
    ranking: Sequence[str],
    grades: Grades,
    *,
    rel: float = 1,
    cutoff: int | None = None,
    form: str = "nested",
    n: int | None = None,
    eps: float = 0.5,
) -> float:
    """Lexicographic recall as a number, exact until a single rounding at the end; 0 for m = 0.

    nested:    N' = sum_{i<r} C(p_i - 1, i);  p* = (p_r - 1) + (N' + 1) / C(p_r - 1, r - 1);
               LR = (r + r / p*) / (m + 1), and 0 if r = 0.
    weighted:  x_i = (n - p_i) / n, missing documents at the last ranks n - (m - r) + 1, ..., n;
               w_1 = D^(m-1) / (1 + D)^(m-1),  w_i = D^(m-i) / (1 + D)^(m+1-i),  D = 1 / (n + eps);
               LR = sum_i w_i x_i (for m > 1 above 0 even if r = 0).
    """
    m = relevant(grades, rel)
    if m == 0:
        return 0.0
    found = positions(ranking, grades, rel, cutoff)
    r = len(found)
    if form == "nested":
        if r == 0:
            return 0.0
        better = sum(math.comb(found[i - 1] - 1, i) for i in range(1, r))
        last = (found[-1] - 1) + Fraction(better + 1, math.comb(found[-1] - 1, r - 1))
        return float((r + r / last) / (m + 1))
    everywhere = found + list(range(n - (m - r) + 1, n + 1))
    delta = 1 / (n + Fraction(eps))
    total = Fraction(0)
    for i, rank in enumerate(everywhere, start=1):
        if i == 1:
            weight = delta ** (m - 1) / (1 + delta) ** (m - 1)
        else:
            weight = delta ** (m - i) / (1 + delta) ** (m + 1 - i)
        total += weight * Fraction(n - rank, n)
    return float(total)


# -- C/W/L variants of ERR -------------------------------------------------------------------------


def continuation(
    kind: str, i: int, r: float, cutoff: int | None, phi: float, T: float
) -> float:
    """C(i), the probability of going on from rank i, where the gain is r."""
    if kind in ("ERR8", "ERR9"):
        assert cutoff is not None
        if i >= cutoff:
            return 0.0
        return 1 - r if kind == "ERR8" else i / (i + 1) * (1 - r)
    if kind == "ERR10":
        return phi * (1 - r)
    if kind == "ERR11":
        return ((i + 2 * T - 1) / (i + 2 * T)) ** 2 * (1 - r)
    if kind == "RBP":
        return phi
    raise ValueError(f"unknown kind {kind!r}")


def cwl(
    kind: str,
    ranking: Sequence[str],
    grades: Grades,
    *,
    max_rel: float,
    gain: str = "exp",
    cutoff: int | None = None,
    phi: float | None = None,
    T: float = 1.35,
    unjudged: str = "worst",
) -> CwlValues:
    """(value, expected_total_utility, expected_cost, expected_total_cost, expected_items) of a C/W/L measure.

    V(1) = 1, V(i+1) = V(i) C(i); value = sum V(i) r_i / sum V(i), total utility = sum V(i) r_i, cost = 1,
    total cost = items = sum V(i). kind is 'ERR8' or 'ERR9' (need `cutoff`; the ranking is cut or padded to
    it), or one of 'ERR10' (phi=0.7), 'ERR11' (T=1.35), 'RBP' (phi=0.6), which run to infinity. What is not
    judged, only pooled (of a negative grade), or beyond the end, has gain 0 (`unjudged='worst'`) or
    the gain of max_rel (`'best'`). At worst a query with m = 0 scores 0: all its gains count as 0.

    The infinite sums go on until what is left is below 1e-20 of the first term beyond the ranking. Where V
    falls only as 1/i^2 (ERR11, no gain beyond the end), the terms from rank M on are V(M) x^2 / (x + j)^2
    for j = 0, 1, ... with x = M + 2T - 1; Euler-Maclaurin sums them to V(M) (x + 1/2 + 1/(6x) - 1/(30x^3)),
    to O(x^-5), used with x > 1000.
    """
    finite = kind in ("ERR8", "ERR9")
    if phi is None:
        phi = 0.6 if kind == "RBP" else 0.7
    judged = {doc: grade for doc, grade in grades.items() if grade >= 0}
    gains_by_doc = {doc: gain_of(grade, gain, max_rel) for doc, grade in judged.items()}
    beyond = 0.0 if unjudged == "worst" else gain_of(max_rel, gain, max_rel)
    if relevant(grades) == 0 and not beyond:
        gains_by_doc = {}
    gains = [gains_by_doc.get(doc, beyond) for doc in cut(ranking, cutoff)]

    if cutoff is not None:
        gains += [beyond] * (cutoff - len(gains))
    views: list[float] = []
    utilities: list[float] = []
    view = 1.0
    for i, r in enumerate(gains, start=1):
        views.append(view)
        utilities.append(view * r)
        view *= continuation(kind, i, r, cutoff, phi, T)

    if not finite:
        limit = {"ERR10": phi * (1 - beyond), "ERR11": 1 - beyond, "RBP": phi}[kind]
        i = len(gains) + 1
        if limit < 1:
            negligible = view * 1e-20 * (1 - limit)
            while view > negligible:
                views.append(view)
                utilities.append(view * beyond)
                view *= continuation(kind, i, beyond, cutoff, phi, T)
                i += 1
        else:
            for _ in range(1000):
                views.append(view)
                view *= continuation(kind, i, beyond, cutoff, phi, T)
                i += 1
            x = i + 2 * T - 1
            views.append(view * (x + 1 / 2 + 1 / (6 * x) - 1 / (30 * x**3)))

    utility = math.fsum(utilities)
    items = math.fsum(views)
    return utility / items, utility, 1.0, items, items


def nerr(
    kind: str,
    ranking: Sequence[str],
    grades: Grades,
    *,
    max_rel: float,
    min_rel: float = 0,
    cutoff: int | None = None,
    p: float = 0.9,
    T: float = 1.0,
) -> CwlValues:
    """The same five values as cwl_eval has them: 'NERR8', 'NERR9' (need `cutoff`), 'NERR10', 'NERR11'.

    Negative grades count as 0, then grades are clipped to [min_rel, max_rel] and scaled to [0, 1]; unjudged
    documents have gain 0; the ranking is cut or padded with gain 0 to 1000 ranks. Over these ranks, with
    V(1) = 1, V(i+1) = V(i) C(i) and L(i) = V(i) (1 - C(i)):

        value = sum V(i) r_i / sum V(i),   items = sum V(i),   cost = 1,
        total utility = sum_i L(i) (r_1 + ... + r_i),   total cost = sum_i L(i) i.

    The totals leave out the user who goes on after rank 1000: total utility = sum V(i) r_i - V(1001) sum
    r_i and total cost = sum V(i) - 1000 V(1001).
    """
    depth = 1000
    gains = []
    for doc in ranking[:depth]:
        if doc in grades:
            grade = min(max(grades[doc], 0, min_rel), max_rel)
            gains.append((grade - min_rel) / (max_rel - min_rel))
        else:
            gains.append(0.0)
    gains += [0.0] * (depth - len(gains))

    views, utilities, total_utilities, total_costs = [], [], [], []
    view = 1.0
    for i, r in enumerate(gains, start=1):
        go_on = continuation(kind.removeprefix("N"), i, r, cutoff, p, T)
        stop_here = view * (1 - go_on)
        views.append(view)
        utilities.append(view * r)
        total_utilities.append(stop_here * math.fsum(gains[:i]))
        total_costs.append(stop_here * i)
        view *= go_on
    items = math.fsum(views)
    return (
        math.fsum(utilities) / items,
        math.fsum(total_utilities),
        1.0,
        math.fsum(total_costs),
        items,
    )


def err(ranking: Sequence[str], grades: Grades, cutoff: int | None = None) -> float:
    """gdeval's ERR@k = sum_{i<=k} R_i / i prod_{j<i} (1 - R_j), R = (2^g - 1) / 2^4, no grade above 4."""
    gains = {doc: gain_of(grade, "exp", 4) for doc, grade in grades.items()}
    total = 0.0
    for i, doc in enumerate(cut(ranking, cutoff), start=1):
        unsatisfied = math.prod(
            1 - gains.get(before, 0.0) for before in ranking[: i - 1]
        )
        total += 1 / i * gains.get(doc, 0.0) * unsatisfied
    return total


# -- rank-biased utility ---------------------------------------------------------------------------


def rbu(
    ranking: Sequence[str],
    judgments: Mapping[str, Grades],
    weights: Mapping[str, float] | None = None,
    *,
    p: float = 0.99,
    e: float = 0.05,
    cutoff: int | None = None,
    gain: str = "exp",
    max_rel: float | None = None,
    normalize: bool = False,
) -> float:
    """RBU@k = sum_{i=1..min(k, depth)} p^i ( sum_t w_t r(d_i,t) prod_{j<i} (1 - r(d_j,t)) - e ).

    `judgments` maps each aspect of the query to its judged documents. An aspect without a grade above 0
    does not count; the weights (default: equal) of the others are scaled to sum to 1. `max_rel` defaults to
    the largest grade of the aspect in this query, retrieved or not. `normalize` multiplies by (1 - p) / p.
    0 for a query without relevant documents.
    """
    retrieved = cut(ranking, cutoff)
    aspects = [
        t
        for t, grades in judgments.items()
        if any(grade > 0 for grade in grades.values())
    ]
    if not aspects:
        return 0.0
    raw = {t: 1.0 if weights is None else weights[t] for t in aspects}
    w = {t: raw[t] / math.fsum(raw.values()) for t in aspects}
    r: dict[str, dict[str, float]] = {}
    for t in aspects:
        top = max(judgments[t].values()) if max_rel is None else max_rel
        r[t] = {doc: gain_of(grade, gain, top) for doc, grade in judgments[t].items()}
    terms = []
    for i, doc in enumerate(retrieved, start=1):
        novel = 0.0
        for t in aspects:
            unsatisfied = math.prod(
                1 - r[t].get(before, 0.0) for before in retrieved[: i - 1]
            )
            novel += w[t] * r[t].get(doc, 0.0) * unsatisfied
        terms.append(p**i * (novel - e))
    return math.fsum(terms) * ((1 - p) / p if normalize else 1)


# -- standard measures -----------------------------------------------------------------------------


def ndcg(ranking: Sequence[str], grades: Grades, cutoff: int | None = None) -> float:
    """trec_eval's nDCG: sum_i g_i / log2(i+1) over that of the best order; negative grades count as 0."""
    dcg = math.fsum(
        max(grades.get(doc, 0), 0) / math.log2(i + 1)
        for i, doc in enumerate(cut(ranking, cutoff), start=1)
    )
    best_order = sorted(grades, key=lambda doc: grades[doc], reverse=True)
    ideal = math.fsum(
        max(grades[doc], 0) / math.log2(i + 1)
        for i, doc in enumerate(cut(best_order, cutoff), start=1)
    )
    return dcg / ideal if ideal > 0 else 0.0


def ap(
    ranking: Sequence[str], grades: Grades, rel: float = 1, cutoff: int | None = None
) -> float:
    """trec_eval's average precision: (1/m) sum_j j / p_j; with a cutoff, too, over all m relevant."""
    m = relevant(grades, rel)
    if m == 0:
        return 0.0
    found = positions(ranking, grades, rel, cutoff)
    return float(sum(Fraction(j, rank) for j, rank in enumerate(found, start=1)) / m)


def precision(
    ranking: Sequence[str], grades: Grades, cutoff: int, rel: float = 1
) -> float:
    """P@k: relevant documents among the first k, over k (also if fewer were retrieved)."""
    return len(positions(ranking, grades, rel, cutoff)) / cutoff


def recall(
    ranking: Sequence[str], grades: Grades, cutoff: int | None = None, rel: float = 1
) -> float:
    """R@k: relevant documents among the first k, over m."""
    m = relevant(grades, rel)
    return len(positions(ranking, grades, rel, cutoff)) / m if m else 0.0


def reciprocal_rank(
    ranking: Sequence[str], grades: Grades, rel: float = 1, cutoff: int | None = None
) -> float:
    """1 / p_1, and 0 if nothing relevant was retrieved."""
    found = positions(ranking, grades, rel, cutoff)
    return 1 / found[0] if found else 0.0


def rbp(
    ranking: Sequence[str],
    grades: Grades,
    p: float = 0.8,
    rel: float = 1,
    cutoff: int | None = None,
) -> float:
    """Rank-biased precision, binary: (1 - p) sum_j p^(p_j - 1), no gain beyond the end."""
    return (1 - p) * math.fsum(
        p ** (rank - 1) for rank in positions(ranking, grades, rel, cutoff)
    )


STANDARD: dict[str, Callable[..., float]] = {
    "nDCG": ndcg,
    "AP": ap,
    "P": precision,
    "R": recall,
    "RR": reciprocal_rank,
    "RBP": rbp,
}


def score_base(
    base: Base,
    ranking: Sequence[str],
    grades: Grades,
    threshold: int | float,
    cutoff: int | None,
) -> float:
    """`base` on one set of grades: a name such as 'nDCG', 'AP', 'RBP(p=0.9)', 'P(rel=3)', or a callable.

    A binary base takes `threshold` as its `rel` unless its own parameters give one. A callable is called as
    base(ranking, grades) on the ranking cut at `cutoff` and looks after its own threshold.
    """
    if not isinstance(base, str):
        return base(cut(ranking, cutoff), grades)
    parts = re.fullmatch(r"(\w+)(?:\((.*)\))?", base)
    assert parts is not None
    parameters: dict[str, Any] = {} if parts[1] == "nDCG" else {"rel": threshold}
    for assignment in (parts[2] or "").split(","):
        if assignment.strip():
            name, value = assignment.split("=")
            parameters[name.strip()] = float(value)
    return STANDARD[parts[1]](ranking, grades, cutoff=cutoff, **parameters)


# -- multi-aspect measures -------------------------------------------------------------------------

Labels = Mapping[str, Grades]
LabelTuple = tuple[Fraction, ...]


def embeddings(aspects: Aspects) -> dict[str, dict[float, Fraction]]:
    """The exact value of every grade of every aspect.

    A top grade alone, {'relevance': 2, 'trustworthiness': 100}, stands for the grades themselves, 0 -> 0,
    1 -> 1, ..., top -> top: no aspect is rescaled, so the one with the longest scale dominates the distance.
    Given values count as the decimals they are written as (0.1 is one tenth).
    """
    embedded = {}
    for aspect, scale in aspects.items():
        if isinstance(scale, Mapping):
            values = {grade: Fraction(str(scale[grade])) for grade in sorted(scale)}
        else:
            values = {grade: Fraction(grade) for grade in range(int(scale) + 1)}
        embedded[aspect] = values
    return embedded


def label_of(label: Grades, aspect: str, values: Mapping[float, Fraction]) -> float:
    """A document's grade for the aspect; missing, or negative and off the scale: the lowest grade."""
    grade = label.get(aspect, min(values))
    if grade not in values and grade < 0:
        grade = min(values)
    return grade


def tuple_weights(
    aspects: Aspects, distance: str = "euclidean", gate: str | None = None
) -> dict[LabelTuple, int]:
    """The weight of every embedded label tuple: the distances to the best one, farthest first: 0, 1, 2, ...

    Distances are exact (the euclidean one squared: the same order, the same ties). `gate` leaves out tuples
    in which that aspect has its lowest value and another has not.
    """
    embedded = embeddings(aspects)
    names = list(embedded)
    best = [max(embedded[a].values()) for a in names]
    lowest = [min(embedded[a].values()) for a in names]
    distances: dict[LabelTuple, Fraction] = {}
    for values in itertools.product(*(embedded[a].values() for a in names)):
        if gate is not None:
            at = names.index(gate)
            if values[at] == lowest[at] and list(values) != lowest:
                continue
        differences = [top - value for top, value in zip(best, values, strict=True)]
        if distance == "euclidean":
            distances[values] = sum((d * d for d in differences), Fraction(0))
        elif distance == "manhattan":
            distances[values] = sum(differences, Fraction(0))
        elif distance == "chebyshev":
            distances[values] = max(differences)
        else:
            raise ValueError(f"unknown distance {distance!r}")
    numbers = {
        d: w for w, d in enumerate(sorted(set(distances.values()), reverse=True))
    }
    return {values: numbers[d] for values, d in distances.items()}


def toma_weights(
    labels: Labels,
    aspects: Aspects,
    distance: str = "euclidean",
    gate: str | None = None,
) -> dict[str, int]:
    """The TOMA weight of every labelled document; a document whose tuple the gate leaves out has weight 0."""
    embedded = embeddings(aspects)
    weights = tuple_weights(aspects, distance, gate)
    return {
        doc: weights.get(
            tuple(values[label_of(label, a, values)] for a, values in embedded.items()),
            0,
        )
        for doc, label in labels.items()
    }


def toma(
    ranking: Sequence[str],
    labels: Labels,
    aspects: Aspects,
    *,
    distance: str = "euclidean",
    base: Base = "nDCG",
    gate: str | None = None,
    cutoff: int | None = None,
    binarize: str | int = "half",
) -> float:
    """TOMA: `base` with the weights as grades.

    For a binary base, relevant is w >= K // 2 of the K weights (`binarize='half'`), any weight but the lowest (`'any'`), or
    w >= an integer.
    """
    if binarize == "any":
        threshold = 1
    elif isinstance(binarize, str):
        threshold = len(set(tuple_weights(aspects, distance, gate).values())) // 2
    else:
        threshold = binarize
    return score_base(
        base, ranking, toma_weights(labels, aspects, distance, gate), threshold, cutoff
    )


def aspect_scores(
    ranking: Sequence[str],
    labels: Labels,
    aspects: Aspects,
    base: Base,
    cutoff: int | None,
    binarize: str | int | None,
) -> dict[str, float]:
    """`base` on the grades of each aspect, as given; `binarize` as for `cam`."""
    scores = {}
    for aspect, values in embeddings(aspects).items():
        grades = {doc: label_of(label, aspect, values) for doc, label in labels.items()}
        if binarize is None:
            threshold = 1
        elif binarize == "any":
            threshold = sorted(values)[1]
        elif isinstance(binarize, str):
            threshold = sorted(values)[(len(values) + 1) // 2]
        else:
            threshold = binarize
        scores[aspect] = score_base(base, ranking, grades, threshold, cutoff)
    return scores


def cam(
    ranking: Sequence[str],
    labels: Labels,
    aspects: Aspects,
    *,
    base: Base = "nDCG",
    weights: Mapping[str, float] | None = None,
    cutoff: int | None = None,
    binarize: str | int | None = None,
) -> float:
    """CAM = sum_a p_a base_a, with p scaled to sum to 1 (default: equal).

    A binary base has its own `rel` (`binarize=None`: 1 or as written, 'AP(rel=2)'), or an integer for all
    aspects. `binarize='half'` is the upper half of the aspect's K grades *without* a middle one, index >=
    (K + 1) // 2; on a scale 0..top: grade > top / 2. This reproduces Table 3 of Maistro et al. (AP), where
    grades of 2 and more are relevant on both scales, 0..3 and 0..2; the rule of TOMA, K // 2, does not.
    """
    scores = aspect_scores(ranking, labels, aspects, base, cutoff, binarize)
    p = {a: 1.0 if weights is None else weights[a] for a in scores}
    return math.fsum(p[a] * scores[a] for a in scores) / math.fsum(p.values())


def mm(
    ranking: Sequence[str],
    labels: Labels,
    aspects: Aspects,
    *,
    base: Base = "nDCG",
    weights: Mapping[str, float] | None = None,
    cutoff: int | None = None,
    binarize: str | int | None = None,
) -> float:
    """MM = sum_a p_a / sum_a (p_a / base_a), 0 if any base_a is 0; `binarize` as for `cam`.

    Table 3 of Maistro et al. prints 1 / sum_a (1 / base_a), which for its two aspects is half of this value.
    """
    scores = aspect_scores(ranking, labels, aspects, base, cutoff, binarize)
    if any(score == 0 for score in scores.values()):
        return 0.0
    p = {a: 1.0 if weights is None else weights[a] for a in scores}
    return math.fsum(p.values()) / math.fsum(p[a] / scores[a] for a in scores)
