"""``tie_audit``: how far documents of equal score could move the values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from ir_lexirecall._util.arrays import Bools, Floats
from ir_lexirecall._util.errors import entry
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.provenance import versions
from ir_lexirecall.data.aligned_run import AlignedRun
from ir_lexirecall.data.alignment import RunLike
from ir_lexirecall.data.judgments import ExcludeLike, QrelsLike
from ir_lexirecall.evaluation.scored_runs import ScoredRuns, check_runs
from ir_lexirecall.evaluation.tie_ranges import tie_warning
from ir_lexirecall.measures.parsing import MeasuresLike, parse_measures
from ir_lexirecall.measures.scoring import aggregate


@entry
def tie_audit(
    measures: MeasuresLike,
    qrels: QrelsLike,
    runs: Mapping[str, RunLike | AlignedRun],
    *,
    exclude: ExcludeLike | None = None,
    rules: bool = True,
    allow_empty: bool = False,
    by_query: bool = False,
    progress: bool | None = None,
) -> pd.DataFrame:
    """Evaluate runs with tied documents in trec_eval's order, best first and worst first (by grade).

    Documents of equal score (as 32-bit floats) have no order of their own; trec_eval's rule, descending ids, is one choice.
    The range between the best and the worst order says what that choice can change. It holds every order of the tied
    documents for measures that never fall when a better document moves up (of one aspect; RBU and TOMA are ordered by the
    grade of relevance).

    Args:
        measures: as in ``evaluate``.
        qrels: judgments in any form.
        runs: at least one run by name, in any form.
        exclude, rules: as in ``evaluate``.
        allow_empty: take runs without a query or document in common with the qrels, with a warning.
        by_query: a row for every query whose value is not a point, instead of the means.
        progress: show a progress bar; by default on a terminal only.

    Returns:
        A row per run and measure: ``run``, ``measure``, ``lowest``, ``value`` (in trec_eval's order), ``highest`` (means over
        queries), ``tied_queries`` (whose value is not a point), ``changed_preferences`` (queries on which the order of ties
        decides whether this run is better than, equal to or worse than another one). With ``by_query``: ``run``,
        ``measure``, ``query_id``, ``lowest``, ``value``, ``highest``, ``changes_preference``.

    Raises:
        ValueError: bad input; the message names the first offender.

    >>> qrels = {"q": {"a": 1, "b": 0}}
    >>> runs = {"constant": {"q": {"a": 1.0, "b": 1.0}}, "sorted": {"q": {"a": 2.0, "b": 1.0}}}
    >>> tie_audit("RR", qrels, runs)
            run measure  lowest  value  highest  tied_queries  changed_preferences
    0  constant      RR     0.5    0.5      1.0             1                    1
    1    sorted      RR     1.0    1.0      1.0             0                    1
    """
    check_runs(runs, 1)
    scored = ScoredRuns.from_runs(
        parse_measures(measures), qrels, runs, exclude=exclude, rules=rules, allow_empty=allow_empty, progress=progress
    )
    scored.warn_of_hardly_judged()
    tables = []
    for name, measure in scored.measures.items():
        low, high = scored.tie_ranges(name)
        value, moves = scored.values[name], low < high
        changes = _changed_preferences(low, value, high)
        if by_query:
            run, query = np.nonzero(moves)
            columns = {
                "run": [scored.names[i] for i in run.tolist()],
                "measure": name,
                "query_id": [scored.judgments.query_ids[q] for q in query.tolist()],
                "lowest": low[run, query],
                "value": value[run, query],
                "highest": high[run, query],
                "changes_preference": changes[run, query],
            }
        else:
            columns = {
                "run": scored.names,
                "measure": name,
                "lowest": [aggregate(measure, row) for row in low],
                "value": [aggregate(measure, row) for row in value],
                "highest": [aggregate(measure, row) for row in high],
                "tied_queries": moves.sum(axis=1),
                "changed_preferences": changes.sum(axis=1),
            }
        tables.append(pd.DataFrame(columns))
    table = pd.concat(tables, ignore_index=True)
    table.attrs.update(function="tie_audit", queries=len(scored.judgments), versions=versions())
    return table


def _changed_preferences(low: Floats, value: Floats, high: Floats) -> Bools:
    """Whether ties can change which of a run and any other one is better on a query, shape ``(S, Q)``."""
    changed = np.zeros(value.shape, dtype=bool)
    for a in range(len(value)):
        better, worse = value[a] > value, value[a] < value
        sure = (
            (better & (low[a] > high))
            | (worse & (high[a] < low))
            | ((value[a] == value) & (low[a] == high[a]) & (low == high))
        )
        sure[a] = True
        changed[a] = ~sure.all(axis=0)
    return changed


def tie_warnings(scored: ScoredRuns) -> Iterator[tuple[str, str, str, str]]:
    """Means that documents of equal score could change by more than 0.005: run, measure, range, and a sentence on them."""
    if all(run.ties is None for run in scored.runs.values()):
        return
    for name, measure in scored.measures.items():
        low, high = scored.tie_ranges(name)
        for place, run in enumerate(scored.names):
            warning = tie_warning(name, measure, low[place], high[place])
            if warning is not None:
                lowest, highest = aggregate(measure, low[place]), aggregate(measure, high[place])
                yield run, name, f"{lowest:.3f} to {highest:.3f}", warning
