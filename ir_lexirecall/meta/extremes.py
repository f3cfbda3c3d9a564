"""Extremes: what the best ranking of several aspects can reach and the best run shows, and what the worst-off user gets."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import permutations

import numpy as np
from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall._util.arrays import Floats, Ints, position_in_segment
from ir_lexirecall._util.errors import check_integer
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.progress import progress_bar
from ir_lexirecall.data.aligned_run import AlignedRun
from ir_lexirecall.data.judgments import Judgments, QrelsLike
from ir_lexirecall.measures import scoring, tse
from ir_lexirecall.measures.parsing import MeasuresLike
from ir_lexirecall.meta.decisions import Decisions, parse_measures_for, printed, rising
from ir_lexirecall.meta.made_up_rankings import has_aspects, made_up_run
from ir_lexirecall.meta.records import Headline, Option, recorded, study
from ir_lexirecall.plots.studies import GroupedBars, Lines

_MAISTRO = "Maistro, Chaves Lima, Simonsen, Lioma, CIKM 2021, doi 10.1145/3459637.3482287"
_MOST_ASPECTS = 6  # 720 orders


def _in_rising_order(table: pd.DataFrame) -> pd.DataFrame:
    rising = table.assign(measure=pd.Categorical(table["measure"], table["measure"].unique()))
    rising = rising.sort_values(["measure", "value"], kind="stable")
    return rising.assign(place=rising.groupby("measure", observed=True).cumcount() + 1)


@study(
    "The largest value that any ranking reaches, for measures of several aspects",
    Headline("value", "mean of the largest value reached", "largest", "smallest"),
    Lines(
        "The best value that any ranking of these documents has",
        "place",
        "queries, by what can be reached",
        meaning="largest value of any ranking",
        marks=_in_rising_order,
    ),
)
def reachable_maximum(measures: MeasuresLike, qrels: QrelsLike) -> pd.DataFrame:
    """Estimate the largest value that any ranking reaches, for measures of several aspects such as CAM and MM.

    The judged documents of a query are ranked in many ways: by the labels of the aspects one after the other, in every order
    of the aspects, by the sum of the labels, by the sum of their squares, and by the largest label. The best value over these
    rankings is what the measure can be expected to reach; it may be below 1.

    Args:
        measures: measures that name their aspects: ``CAM``, ``MM``, ``TOMA``.
        qrels: judgments in any form that ``evaluate`` takes.

    Returns:
        A row per measure and query that has a label above the lowest: ``measure``, ``query_id``, ``value`` and ``order`` (of
        the first ranking that reaches it, such as ``'relevance > quality'`` or ``'sum'``).

    Raises:
        ValueError: a measure that names no aspects, or more than 6; or bad input.

    Source: Maistro, Chaves Lima, Simonsen, Lioma, Principled Multi-Aspect Evaluation Measures of Rankings, CIKM 2021,
    Figure 2, doi 10.1145/3459637.3482287.

    >>> qrels = pd.DataFrame({"query_id": "q", "doc_id": ["a", "b"], "relevance": [1, 0], "quality": [0, 1]})
    >>> aspects = {"relevance": 1, "quality": 1}
    >>> from ir_lexirecall import CAM, TOMA
    >>> reachable_maximum([CAM(aspects=aspects, base="RR"), TOMA(aspects=aspects)], qrels)["value"].tolist()
    [0.75, 1.0]
    """
    parsed = _with_aspects(parse_measures_for(measures))
    judgments = Judgments.from_qrels(qrels)
    parts = []
    for name, measure in progress_bar(None, parsed.items(), desc="measures"):
        labels = _labels(measure, judgments)
        best, order = np.full(len(judgments), -np.inf), np.full(len(judgments), "", dtype=object)
        every = np.stack(list(labels.values()))
        orders = [
            (" > ".join(names), [labels[a] for a in names]) for names in permutations(labels)
        ]  # most important first
        orders += [("sum", [every.sum(axis=0)]), ("sum of squares", [(every**2).sum(axis=0)])]
        orders.append(("largest label", [every.max(axis=0)]))
        for words, keys in orders:
            order_of = np.lexsort((*(-key for key in reversed(keys)), judgments.query))
            query = judgments.query[order_of]
            depth = np.bincount(judgments.query, minlength=len(judgments))
            ranked = AlignedRun(judgments, query=query, doc=order_of, rank=position_in_segment(query) + 1, depth=depth)
            found = scoring.values(measure, ranked)
            better = found > best
            best[better], order[better] = found[better], words
        some = _labelled(judgments, labels)
        columns = {"query_id": [judgments.query_ids[q] for q in some], "value": best[some], "order": order[some]}
        parts.append(pd.DataFrame({"measure": name, **columns}))
    table = pd.concat(parts, ignore_index=True)
    return recorded(table, "reachable_maximum", measures=printed(parsed), source=_MAISTRO)


@study(
    "Labels of the first documents of the run that a measure likes best",
    Headline("mean", "mean sum of labels over the ranks", "largest", "smallest"),
    Lines(
        "What the best run by each measure shows at each rank",
        "rank",
        "rank in the best run",
        x_scale="whole",
    ),
)
def best_run_labels(self: Decisions, *, k: int = 100) -> pd.DataFrame:
    """Count the labels of the first k documents of the run that a measure likes best, query by query.

    For every query and measure, the run with the highest value (the first of equals) is looked at: S is the sum of a
    document's labels over the aspects, 0 for a document without any. The study's measures name the same aspects: ``CAM``,
    ``MM``, ``TOMA``; one run is enough.

    Args:
        k: how many ranks to look at.

    Returns:
        A row per measure and rank from 1 to k: ``measure``, ``rank``, ``documents`` (how many of the best runs have one
        there), ``zero`` (of these, with S = 0) and ``mean`` (of S). Queries without a label above the lowest are left out.

    Raises:
        ValueError: measures that name no aspects, or different ones; or bad input.

    Source: Maistro, Chaves Lima, Simonsen, Lioma, CIKM 2021, Tables 5 and 6, doi 10.1145/3459637.3482287.

    >>> qrels = pd.DataFrame({"query_id": "q", "doc_id": ["a", "b"], "relevance": [1, 0], "quality": [2, 1]})
    >>> runs = {"good": {"q": {"a": 3.0, "x": 2.0, "b": 1.0}}, "weak": {"q": {"x": 3.0, "a": 2.0, "b": 1.0}}}
    >>> from ir_lexirecall.meta import Study
    >>> study = Study("CAM(aspects={'relevance':1,'quality':2})", qrels, runs)
    >>> study.best_run_labels(k=3)[["rank", "zero", "mean"]]
       rank  zero  mean
    0     1     0   3.0
    1     2     1   0.0
    2     3     0   1.0
    """
    if preference := next((label for label in self.labels if label not in self.measures), None):
        raise ValueError(f"{preference!r} is a preference; give CAM, MM or TOMA")
    parsed = _with_aspects(self.measures)
    check_integer("k", k)
    aspects = {frozenset(measure["aspects"]): name for name, measure in parsed.items()}
    if len(aspects) > 1:
        names = list(aspects.values())
        raise ValueError(f"{names[0]} and {names[1]} name different aspects; compare measures of the same ones")
    judgments, scored = self.judgments, self.scored
    labels = _labels(next(iter(parsed.values())), judgments)
    total = np.sum(list(labels.values()), axis=0)
    some = _labelled(judgments, labels)
    aligned = list(scored.runs.values())
    parts = []
    for name in parsed:
        best = scored.values[name].argmax(axis=0)
        documents, zero, sums = np.zeros(k, dtype=np.int64), np.zeros(k, dtype=np.int64), np.zeros(k)
        for number in np.unique(best[some]).tolist():
            chosen = np.zeros(len(judgments), dtype=bool)
            chosen[some[best[some] == number]] = True
            run = aligned[number]
            depth = np.minimum(run.depth[chosen], k)
            at_least = np.bincount(depth, minlength=k + 1)[::-1].cumsum()[::-1]  # rankings that are deep enough
            documents += at_least[1:]
            top = chosen[run.query] & (run.rank <= k) & (total[run.doc] > 0)
            zero += at_least[1:] - np.bincount(run.rank[top] - 1, minlength=k)
            sums += np.bincount(run.rank[top] - 1, weights=total[run.doc[top]], minlength=k)
        mean = np.divide(sums, documents, out=np.full(k, np.nan), where=documents > 0)
        columns = {"rank": np.arange(1, k + 1), "documents": documents, "zero": zero, "mean": mean}
        parts.append(pd.DataFrame({"measure": name, **columns}))
    facts = {"measures": printed(parsed), "runs": scored.names, "queries": len(some), "k": int(k)}
    return recorded(pd.concat(parts, ignore_index=True), "best_run_labels", **facts, source=_MAISTRO)


def _with_aspects(parsed: dict[str, IRMeasure]) -> dict[str, IRMeasure]:
    """The measures, at least one, all of which name few aspects."""
    if not parsed:
        raise ValueError("no measure is named; give CAM, MM or TOMA")
    for name, measure in parsed.items():
        if not has_aspects(measure):
            raise ValueError(f"{name} names no aspects; give CAM, MM or TOMA")
        if len(measure["aspects"]) > _MOST_ASPECTS:
            raise ValueError(f"{name} names more than {_MOST_ASPECTS} aspects; their orders are too many")
    return parsed


def _labels(measure: IRMeasure, judgments: Judgments) -> dict[str, Floats]:
    """Labels of every judged document for the measure's aspects; a missing or negative one is 0."""
    return {
        name: np.maximum(np.nan_to_num(label, nan=0.0), 0.0)
        for name, label in judgments.labels(list(measure["aspects"])).items()
    }


def _labelled(judgments: Judgments, labels: Mapping[str, Floats]) -> np.ndarray:
    """The queries with a label above 0."""
    largest = np.max(list(labels.values()), axis=0)
    return np.flatnonzero(np.bincount(judgments.query[largest > 0], minlength=len(judgments)))


_DIAZ = "Diaz, Ekstrand, Mitra, TORS 2026, doi 10.1145/3728373"
_MOST_ENUMERATED = 16  # relevant documents


@study(
    "Values for users who need some of the relevant documents",
    Headline("user", "mean value of the worst-off user", "best", "worst"),
    GroupedBars(
        "What the worst-off user gets, on average over the queries",
        "run",
        marks=lambda table: (
            table.assign(value=table["user"].fillna(table["closed_form"]))
            .groupby(["run", "measure"], sort=False)["value"]
            .mean()
            .unstack()
        ),
    ),
    example="qrels.txt bm25.run -m AP nDCG",
    runs=("rel", "allow_empty"),
    options={"enumerate_up_to": Option("relevant documents up to which subsets are enumerated", int)},
)
def worst_case(self: Decisions, *, enumerate_up_to: int = 8) -> pd.DataFrame:
    """Values of the worst-off user and of the worst-off provider, by enumeration and in closed form.

    Let R be the m relevant documents of a query and U range over its 2^m - 1 non-empty subsets.

    - A user may need exactly the documents U: ``user`` = min over U of mu(ranking, U), the measure with the documents U
      relevant (grade 1) and all others not (Eq. 4); the largest one, where the smaller value is better.
    - A provider may own exactly the documents U: ``provider`` = min over U of the sum of e(p_d) over d in U, with the
      measure's exposure e: 1/i for AP and RR, 1/log2(i+1) for nDCG, (1-p) p^(i-1) for RBP (Eq. 6). NaN for others.
    - For those measures both equal ``closed_form`` = e(p_m), the total search efficiency of the same exposure, for any
      m; a missing document has exposure 0. NaN for others.

    The study's measures are what a user gets, such as AP, nDCG or RBP: binary or graded, of one aspect; its ``rel`` is the
    smallest grade of a document that somebody may need. One run is enough.

    Args:
        enumerate_up_to: enumerate the subsets of queries with up to this many relevant documents (at most 16); beyond, only
            the closed form is computed.

    Returns:
        A row per run, measure and query that has relevant documents: ``run``, ``measure``, ``query_id``, ``m``, ``user``,
        ``provider``, ``closed_form`` and ``subsets`` (how many were enumerated, 0: none).

    Raises:
        ValueError: a number out of range, a preference, or a measure of several aspects.

    Source: Diaz, Ekstrand, Mitra, TORS 2026, Equations 4 and 6, doi 10.1145/3728373.

    >>> from ir_lexirecall.meta import Study
    >>> qrels, run = {"q": {"a": 1, "b": 1}}, {"q": {"a": 4, "c": 3, "d": 2, "b": 1}}
    >>> Study(["AP", "R@2"], qrels, {"x": run}).worst_case().drop(columns=["run", "m"])
      measure query_id  user  provider  closed_form  subsets
    0      AP        q  0.25      0.25         0.25        3
    1     R@2        q  0.00       NaN          NaN        3
    """
    if preference := next((label for label in self.labels if label not in self.measures), None):
        raise ValueError(f"{preference!r} is a preference, which has no values; name a measure")
    for name, measure in self.measures.items():
        if has_aspects(measure):
            raise ValueError(f"{name} judges several aspects; a user's need is a set of documents")
    check_integer("enumerate_up_to", enumerate_up_to, least=0, most=_MOST_ENUMERATED)
    self.check(runs=1)
    parts = []
    for name, run in progress_bar(self.progress, self.aligned.runs.items(), desc="worst cases"):
        query, rank = relevant_places(run, self.rel)
        place = np.where(rank > 0, rank, np.inf).astype(np.float64)
        m = np.bincount(query, minlength=len(run.depth))
        judged = np.flatnonzero(m)
        small = judged[m[judged] <= enumerate_up_to]
        for label, measure in self.measures.items():
            user, provider, last = (np.full(len(m), np.nan) for _ in range(3))
            grade, k = float(measure.params.get("rel", 1)), measure.params.get("cutoff", np.inf)
            exposed = None  # of each relevant document, by the exposure behind the measure, where it has one
            if measure.NAME in ("AP", "RR", "nDCG", "RBP") and not measure.params.keys() - {"cutoff", "rel", "p"}:
                e = tse.exposure(measure.NAME, p=measure["p"] if measure.NAME == "RBP" else 0.8, n=None)
                exposed = np.where(place <= k, e(place), 0.0)
                last[judged] = exposed[np.cumsum(m)[judged] - 1]
            for q in small.tolist():
                rows = slice(np.searchsorted(query, q), np.searchsorted(query, q, side="right"))
                ranks = rank[rows]
                subsets = 2 ** len(ranks) - 1  # all but the empty one, each a ranking of its own
                subset, doc = np.nonzero((np.arange(1, subsets + 1)[:, None] >> np.arange(len(ranks))) & 1)
                made_up = made_up_run(subset, ranks[doc], np.full(len(doc), grade), np.full(subsets, run.depth[q]))
                values = scoring.values(measure, made_up)
                user[q] = values[np.argmin(rising(measure, values))]
                if exposed is not None:
                    provider[q] = np.bincount(subset, weights=exposed[rows][doc]).min()
            columns = {
                "run": name,
                "measure": label,
                "query_id": [run.judgments.query_ids[q] for q in judged],
                "m": m[judged],
                "user": user[judged],
                "provider": provider[judged],
                "closed_form": last[judged],
                "subsets": np.where(m[judged] <= enumerate_up_to, 2 ** np.minimum(m[judged], _MOST_ENUMERATED) - 1, 0),
            }
            parts.append(pd.DataFrame(columns))
    facts = {"measures": list(self.measures), "runs": self.names, "queries": len(self.queries), "rel": self.rel}
    table = pd.concat(parts, ignore_index=True)
    return recorded(table, "worst_case", **facts, enumerate_up_to=int(enumerate_up_to), source=_DIAZ)


def relevant_places(run: AlignedRun, rel: float) -> tuple[Ints, Ints]:
    """Query and rank (0: missing) of every relevant document, by query and rank with the missing last."""
    relevant = np.flatnonzero(run.judgments.grade >= rel)
    rank = np.zeros(len(run.judgments.grade), dtype=np.int64)
    rank[run.doc] = run.rank
    query, rank = run.judgments.query[relevant], rank[relevant]
    order = np.lexsort((rank, rank == 0, query))
    return query[order], rank[order]
