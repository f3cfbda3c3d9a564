"""Measures of several aspects: what the best ranking can reach, and what the best run shows at the top."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import permutations

import numpy as np
from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall._util.arrays import Floats, position_in_segment
from ir_lexirecall._util.errors import check_integer
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.progress import progress_bar
from ir_lexirecall.data.aligned_run import AlignedRun
from ir_lexirecall.data.judgments import Judgments, QrelsLike
from ir_lexirecall.measures import scoring
from ir_lexirecall.measures.parsing import MeasuresLike
from ir_lexirecall.meta.decisions import Decisions, parse_measures_for, printed
from ir_lexirecall.meta.made_up_rankings import has_aspects
from ir_lexirecall.meta.records import Headline, recorded, study
from ir_lexirecall.plots.studies import Lines

_SOURCE = "Maistro, Chaves Lima, Simonsen, Lioma, CIKM 2021, doi 10.1145/3459637.3482287"
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
        "value",
        "queries, by what can be reached",
        "largest value of any ranking",
        marks=_in_rising_order,
    ),
)
def reachable_maximum(measures: MeasuresLike, qrels: QrelsLike, *, progress: bool | None = None) -> pd.DataFrame:
    """Estimate the largest value that any ranking reaches, for measures of several aspects such as CAM and MM.

    The judged documents of a query are ranked in many ways: by the labels of the aspects one after the other, in every order
    of the aspects, by the sum of the labels, by the sum of their squares, and by the largest label. The best value over these
    rankings is what the measure can be expected to reach; it may be below 1.

    Args:
        measures: measures that name their aspects: ``CAM``, ``MM``, ``TOMA``.
        qrels: judgments in any form that ``evaluate`` takes.
        progress: show a progress bar; by default on a terminal only.

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
    for name, measure in progress_bar(progress, parsed.items(), desc="measures"):
        labels = _labels(measure, judgments)
        best, order = np.full(len(judgments), -np.inf), np.full(len(judgments), "", dtype=object)
        for words, keys in _orders(labels):
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
    return recorded(table, "reachable_maximum", measures=printed(parsed), source=_SOURCE)


@study(
    "Labels of the first documents of the run that a measure likes best",
    Headline("mean", "mean sum of labels over the ranks", "largest", "smallest"),
    Lines(
        "What the best run by each measure shows at each rank",
        "rank",
        "mean",
        "rank in the best run",
        "mean sum of labels",
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
    return recorded(pd.concat(parts, ignore_index=True), "best_run_labels", **facts, source=_SOURCE)


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


def _orders(labels: Mapping[str, Floats]) -> Iterator[tuple[str, list[Floats]]]:
    """Names of orders, and what they sort by, the most important first."""
    for names in permutations(labels):
        yield " > ".join(names), [labels[name] for name in names]
    every = np.stack(list(labels.values()))
    yield "sum", [every.sum(axis=0)]
    yield "sum of squares", [(every**2).sum(axis=0)]
    yield "largest label", [every.max(axis=0)]
