"""Evaluate runs: values of measures, what equal scores could change, and recall over depth."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Literal, overload

import numpy as np
from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall._util.arrays import Bools, Floats, Ints
from ir_lexirecall._util.errors import entry, shown
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.versions import versions
from ir_lexirecall.data.aligned_run import AlignedRun
from ir_lexirecall.data.alignment import RunLike
from ir_lexirecall.data.judgments import Judgments, QrelsLike
from ir_lexirecall.data.matching import Mismatches
from ir_lexirecall.evaluation.scored_runs import (
    ScoredRuns,
    check_runs,
    is_notable,
    label_of,
    quick_tie_mean,
    read_run,
    runs_by_name,
    tie_range,
    tie_warning,
)
from ir_lexirecall.io.rising_scores import fault_of_order
from ir_lexirecall.io.schemas import RUN
from ir_lexirecall.io.source import Source, what_is
from ir_lexirecall.measures import scoring
from ir_lexirecall.measures.parsing import MeasuresLike, is_measures, parse_measures


@overload
def evaluate(
    measures: MeasuresLike,
    qrels: QrelsLike,
    run: RunLike,
    *,
    allow_empty: bool = ...,
    aggregate: Literal[False] = ...,
) -> pd.DataFrame: ...


@overload
def evaluate(
    measures: MeasuresLike,
    qrels: QrelsLike,
    run: RunLike,
    *,
    allow_empty: bool = ...,
    aggregate: Literal[True],
) -> pd.Series: ...


@overload
def evaluate(
    measures: MeasuresLike,
    qrels: QrelsLike,
    run: RunLike,
    *,
    allow_empty: bool = ...,
    aggregate: bool,
) -> pd.DataFrame | pd.Series: ...


@entry
def evaluate(
    measures: MeasuresLike,
    qrels: QrelsLike,
    run: RunLike,
    *,
    allow_empty: bool = True,
    aggregate: bool = False,
) -> pd.DataFrame | pd.Series:
    """Evaluate a run with measures of this library and of ir_measures side by side.

    Args:
        measures: a measure or a string such as ``"TSE@1000"``, a sequence of them, or a mapping of
            column names to them.
        qrels: judgments: a path, a DataFrame (pandas, Polars, Arrow) with columns ``query_id``,
            ``doc_id`` and ``relevance``, a dict of dicts, or an iterable of named tuples such as
            ``ir_measures.Qrel``. Subtopics come from ``subtopic_id`` or ``iteration``, aspects from
            further columns. Or the id of a data set, or the result of ``load``, which can also
            exclude documents, or switch off a collection's own rules.
        run: a ranking per query, in the same formats, with ``score`` instead of ``relevance``.
        allow_empty: accept a run that shares no query, or no document, with the qrels, with a
            warning (without one if the run names a judged query, as ``{"q1": {}}`` does). False
            raises an error.
        aggregate: return the means over queries instead of the values per query.

    Returns:
        A DataFrame with a row per query of the qrels (index ``query_id``, sorted) and a column per
        measure, in the order asked; with ``aggregate=True`` a Series of means, indexed by measure.
        If there are any, its ``attrs`` hold: ``rules``, those of the collection that were applied
        (and trec_eval 10's order of documents); ``metadata`` of the run file (ir-metadata); and
        ``diagnostics``, which warn of scores that rise with the run's own ranks, and of means that
        the order of documents with equal scores could change by more than 0.005 (see
        ``tie_audit``).

    Raises:
        ValueError: bad input or an unknown measure; the message names the first wrong value.

    >>> qrels = {"q1": {"d1": 1, "d2": 1}, "q2": {"d1": 2}}
    >>> run = {"q1": {"d1": 3.0, "d3": 2.0, "d2": 1.0}}
    >>> evaluate(["LR", "TSE", "AP"], qrels, run, aggregate=True).round(4)
    LR     0.4667
    TSE    0.1667
    AP     0.4167
    dtype: float64
    """
    try:
        parsed = parse_measures(measures)
    except ValueError:
        for position, argument in {"second": qrels, "third": run}.items():
            if is_measures(argument):
                raise ValueError(
                    f"the {position} argument is a measure ({shown(argument)}); "
                    "the order is evaluate(measures, qrels, run)"
                ) from None
        raise
    _check_names(parsed)
    judgments = Judgments.from_qrels(qrels)
    scoring.check_judgments(parsed.values(), judgments)
    source = run if isinstance(run, AlignedRun) else what_is(run, RUN)
    aligned = read_run(judgments, source, allow_empty=allow_empty)
    values_of = {
        name: scoring.values(measure, aligned) for name, measure in parsed.items()
    }

    metadata, warnings = "", []
    if isinstance(source, Source):
        metadata = source.metadata
        if fault := fault_of_order(source.ranked_scores()):
            warnings.append(f"{fault}.")
    warnings += _warnings_of_ties(aligned, parsed, values_of)
    attributes = {
        "rules": judgments.conditions,
        "metadata": metadata,
        "diagnostics": warnings,
    }
    table = _means(parsed, values_of) if aggregate else _per_query(judgments, values_of)
    table.attrs.update({name: value for name, value in attributes.items() if value})
    return table


def _check_names(measures: Mapping[str, IRMeasure]) -> None:
    """Raise if a measure's name is that of the index."""
    if "query_id" in measures:
        raise ValueError(
            "'query_id' is the name of the table's index; "
            f"give {measures['query_id']} another name"
        )


def _means(
    measures: Mapping[str, IRMeasure], values_of: Mapping[str, Floats]
) -> pd.Series:
    """Return the mean of each measure over queries; the sum of counts."""
    means = {
        name: scoring.aggregate(measures[name], values)
        for name, values in values_of.items()
    }
    return pd.Series(means, dtype=float)


def _per_query(judgments: Judgments, values_of: Mapping[str, Floats]) -> pd.DataFrame:
    """Return the values of each measure, a row for each query."""
    index = pd.Index(judgments.query_ids, name="query_id")
    # pandas makes a frame of one array in half the time that it takes for a dict of columns.
    rows = np.array(list(values_of.values()), dtype=np.float64).T
    columns = _column_index(*values_of).view()
    return pd.DataFrame(rows, index=index, columns=columns, copy=False)


@lru_cache(maxsize=64, typed=True)
def _column_index(*names: str) -> pd.Index:
    """Return an index of names, kept from call to call. Take a view: users may name it.

    Otherwise pandas looks at the names of each table again, for a tenth of a small evaluation.
    """
    return pd.Index(names)


def _warnings_of_ties(
    aligned: AlignedRun,
    measures: Mapping[str, IRMeasure],
    values_of: Mapping[str, Floats],
) -> list[str]:
    """Return a warning for each mean that depends on the order of ties.

    Only measures of this library are looked at: others would have to be computed again.
    """
    warnings: list[str] = []
    if aligned.ties is None:
        return warnings
    for name, measure in measures.items():
        if scoring.is_native(measure):
            low, high = tie_range(measure, aligned, values_of[name])
            if is_notable(measure, low, high):
                mean = quick_tie_mean(measure, aligned, values_of[name])
                warnings.append(tie_warning(name, measure, low, mean, high))
    return warnings


@entry
def tie_audit(
    measures: MeasuresLike,
    qrels: QrelsLike,
    runs: Mapping[str, RunLike | AlignedRun] | RunLike | AlignedRun,
    *,
    allow_empty: bool = False,
    by_query: bool = False,
    progress: bool | None = None,
) -> pd.DataFrame:
    """Evaluate runs with tied documents best first, worst first, and on average over all orders.

    Scores do not order documents of equal score (as 32-bit floats); trec_eval's rule, descending
    ids, is one choice. The range of values over all orders shows what that choice can change. Its
    ends are the values with the best and with the worst documents first: by grade, for ``Judged``
    and ``Unjudged`` by being judged, with ``unjudged='best'`` by gain. Measures of subtopics or
    aspects, infAP, BPM, INST and your own measures can fall when a better document moves up. For
    these, all orders are tried on queries with at most 4,096 orders (120 for measures of other
    programs); on other queries, an order that is not tried may give a value outside the range.

    The expected value is the exact mean over all orders, each equally likely. A document of a group
    of n has each of its n ranks with probability 1/n, and s of the K other relevant documents of
    the group are among the j ranks above it with probability C(K, s) C(n-1-K, j-s) / C(n-1, j). So
    the expected AP is, with R relevant documents in the group that begins below rank a, of which L
    stand above it,

        (1/m) sum over groups and j = 1..n of (R/n) (L + 1 + (j-1)(R-1)/(n-1)) / (a + j)

    Args:
        measures: as in ``evaluate``.
        qrels: judgments in any form.
        runs: at least one run by name, or one run alone, in any form.
        allow_empty: accept runs that share no query or document with the qrels, with a warning.
        by_query: return a row for each query whose value depends on the order, not the means.
        progress: show a progress bar; by default on a terminal only.

    Returns:
        A row per run and measure: ``run``, ``measure``, ``lowest``, ``value`` (in trec_eval's
            order), ``expected``, ``highest`` (means over queries), ``tied_queries`` (whose value is
            not a point), ``changed_preferences`` (queries on which the order of ties decides
            whether this run is better than, equal to or worse than another one). With ``by_query``:
            ``run``, ``measure``, ``query_id``, ``lowest``, ``value``, ``expected``, ``highest``,
            ``changes_preference``. ``expected`` is NaN for INST, MM, WHAM and measures of your own
            where a query has more than 4,096 orders (120 for measures of other programs), and for
            cascades per document and interpolated precision where groups are too large to count.

    Raises:
        ValueError: bad input; the message names the first offender.

    Source: McSherry, Najork, Computing Information Retrieval Performance Measures Efficiently in
    the Presence of Tied Scores, ECIR 2008 (P, R, F1, AP, RR, nDCG); the library's own for others.

    >>> qrels = {"q": {"a": 1, "b": 0}}
    >>> runs = {"constant": {"q": {"a": 1.0, "b": 1.0}}, "sorted": {"q": {"a": 2.0, "b": 1.0}}}
    >>> tie_audit("RR", qrels, runs).iloc[:, :6]
            run measure  lowest  value  expected  highest
    0  constant      RR     0.5    0.5      0.75      1.0
    1    sorted      RR     1.0    1.0      1.00      1.0
    """
    named = runs_by_name(runs)
    check_runs(named, 1)
    scored = ScoredRuns.from_runs(
        parse_measures(measures),
        qrels,
        named,
        allow_empty=allow_empty,
        progress=progress,
    )
    scored.warn_of_hardly_judged()
    audit = _audit_by_query if by_query else _audit_of_means
    table = pd.concat(
        [audit(scored, name) for name in scored.measures], ignore_index=True
    )
    table.attrs.update(
        function="tie_audit", queries=len(scored.judgments), versions=versions()
    )
    return table


def _audit_of_means(scored: ScoredRuns, name: str) -> pd.DataFrame:
    """Return the means of a measure, a row for each run."""
    ends, measure = _ends(scored, name), scored.measures[name]
    means = {
        end: [scoring.aggregate(measure, row) for row in values]
        for end, values in ends.items()
    }
    low, high = ends["lowest"], ends["highest"]
    columns = {
        "run": scored.names,
        "measure": name,
        **means,
        "tied_queries": (low < high).sum(axis=1),
        "changed_preferences": _changes_preference(low, high).sum(axis=1),
    }
    return pd.DataFrame(columns)


def _audit_by_query(scored: ScoredRuns, name: str) -> pd.DataFrame:
    """Return the values of a measure, a row for each run and query that ties move."""
    ends = _ends(scored, name)
    low, high = ends["lowest"], ends["highest"]
    run, query = np.nonzero(low < high)
    columns = {
        "run": [scored.names[i] for i in run.tolist()],
        "measure": name,
        "query_id": [scored.judgments.query_ids[q] for q in query.tolist()],
        **{end: values[run, query] for end, values in ends.items()},
        "changes_preference": _changes_preference(low, high)[run, query],
    }
    return pd.DataFrame(columns)


def _ends(scored: ScoredRuns, name: str) -> dict[str, Floats]:
    """Return the lowest, actual, expected and highest values of a measure, shape ``(S, Q)``."""
    low, high = scored.tie_ranges(name, exact=True)
    return {
        "lowest": low,
        "value": scored.values[name],
        "expected": scored.expected_values(name),
        "highest": high,
    }


def _changes_preference(low: Floats, high: Floats) -> Bools:
    """Return where ties decide which of two runs is better, shape ``(S, Q)``.

    They decide nothing where the intervals keep apart, or are one and the same point.
    """
    changes = np.zeros(low.shape, dtype=bool)
    for a in range(len(low)):
        sure = (low[a] > high) | (high[a] < low) | ((low[a] == high) & (high[a] == low))
        sure[a] = True
        changes[a] = ~sure.all(axis=0)
    return changes


@entry
def recall_curves(
    qrels: QrelsLike,
    runs: Mapping[str, RunLike],
    *,
    rel: float = 1,
    n: int | Mapping[str, int] | None = None,
) -> pd.DataFrame:
    """Return where recall rises.

    There is a row per run, query and relevant document, and one for the beginning and the end of
    each curve.

    Args:
        qrels: judgments in any form.
        runs: rankings by name, in any form.
        rel: smallest grade that counts as relevant.
        n: size of the collection, one number or one per query; by default, the documents ranked.

    Returns:
        ``run``, ``query_id``, ``rank`` (0 first), ``share`` of the collection down to it, and
        ``recall`` there. Relevant documents that are not ranked end the collection.
        ``plots.recall_curves`` draws it.

    Raises:
        ValueError: n is smaller than a ranking, or missing for a query.

    >>> run = {"q": {"a": 4.0, "x": 3.0, "b": 2.0, "y": 1.0}}
    >>> table = recall_curves({"q": {"a": 1, "b": 1}}, {"r": run})
    >>> table[["rank", "share", "recall"]].to_numpy().tolist()
    [[0.0, 0.0, 0.0], [1.0, 0.25, 0.5], [3.0, 0.75, 1.0], [4.0, 1.0, 1.0]]
    """
    judgments = Judgments.from_qrels(qrels)
    sizes: int | Mapping[str, int] | None = n
    if isinstance(n, Mapping):
        sizes = {str(query_id): size for query_id, size in n.items()}
    frames = []
    mismatches = Mismatches()
    for name, run in runs.items():
        source = run
        if not isinstance(run, AlignedRun):
            source = what_is(run, RUN, label=label_of(name))
        aligned = read_run(judgments, source, str(name), mismatches=mismatches)
        relevant = aligned.relevant(rel)
        for q in np.flatnonzero(relevant.m > 0).tolist():
            query_id = judgments.query_ids[q]
            ranks = relevant.rank[relevant.query == q]
            n_missing = int(relevant.m[q]) - len(ranks)
            least = int(aligned.depth[q]) + n_missing
            size = _size_of_collection(sizes, query_id, name, least)
            curve = _recall_curve(ranks, n_missing, size)
            frames.append(pd.DataFrame({"run": name, "query_id": query_id, **curve}))
    mismatches.warn()
    if not frames:
        raise ValueError(
            "there is nothing to draw: no run, or no query with relevant documents"
        )
    return pd.concat(frames, ignore_index=True)


def _size_of_collection(
    sizes: int | Mapping[str, int] | None, query_id: str, run: str, least: int
) -> int:
    """Return the size of the collection for a query; by default, the documents of the run.

    Raises:
        ValueError: the size is missing, or smaller than ``least``.
    """
    if sizes is None:
        return least
    if not isinstance(sizes, Mapping):
        size = int(sizes)
    elif query_id in sizes:
        size = int(sizes[query_id])
    else:
        raise ValueError(f"n has no size for query {shown(query_id)}; add it")
    if size < least:
        raise ValueError(
            f"n={size} is smaller than the {least} documents of run {run!r} "
            f"for query {shown(query_id)}"
        )
    return size


def _recall_curve(ranks: Ints, n_missing: int, size: int) -> dict[str, Floats]:
    """Return rank, share and recall at each relevant document, and at both ends.

    Args:
        ranks: ranks of the retrieved relevant documents.
        n_missing: relevant documents that were not retrieved; they end the collection.
        size: of the collection.
    """
    m = len(ranks) + n_missing
    missing = np.arange(size - n_missing + 1, size + 1)
    rank = np.r_[0, ranks, missing, size]
    recall = np.r_[np.arange(m + 1), m] / m
    return {"rank": rank, "share": rank / size, "recall": recall}
