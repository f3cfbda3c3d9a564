"""``evaluate``: one run, any measures, one table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, overload

from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall._util.arrays import Floats
from ir_lexirecall._util.errors import entry, shown
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall.data.aligned_run import AlignedRun
from ir_lexirecall.data.alignment import RunLike
from ir_lexirecall.data.judgments import ExcludeLike, Judgments, QrelsLike
from ir_lexirecall.evaluation.scored_runs import metadata_of, read_run
from ir_lexirecall.evaluation.tie_ranges import tie_range, tie_warning
from ir_lexirecall.measures.declaration import Measure
from ir_lexirecall.measures.parsing import MeasuresLike, is_measures, parse_measures
from ir_lexirecall.measures.scoring import aggregate as aggregated
from ir_lexirecall.measures.scoring import is_native, values


@overload
def evaluate(
    measures: MeasuresLike,
    qrels: QrelsLike,
    run: RunLike,
    *,
    exclude: ExcludeLike | None = None,
    rules: bool = True,
    judged_only: bool = False,
    allow_empty: bool = True,
    aggregate: Literal[False] = False,
) -> pd.DataFrame: ...


@overload
def evaluate(
    measures: MeasuresLike,
    qrels: QrelsLike,
    run: RunLike,
    *,
    exclude: ExcludeLike | None = None,
    rules: bool = True,
    judged_only: bool = False,
    allow_empty: bool = True,
    aggregate: Literal[True],
) -> pd.Series: ...


@overload
def evaluate(
    measures: MeasuresLike,
    qrels: QrelsLike,
    run: RunLike,
    *,
    exclude: ExcludeLike | None = None,
    rules: bool = True,
    judged_only: bool = False,
    allow_empty: bool = True,
    aggregate: bool,
) -> pd.DataFrame | pd.Series: ...


@entry
def evaluate(
    measures: MeasuresLike,
    qrels: QrelsLike,
    run: RunLike,
    *,
    exclude: ExcludeLike | None = None,
    rules: bool = True,
    judged_only: bool = False,
    allow_empty: bool = True,
    aggregate: bool = False,
) -> pd.DataFrame | pd.Series:
    """Evaluate a run with measures of this library and of ir_measures side by side.

    Args:
        measures: a measure or a string such as ``"TSE@1000"``, a sequence of them, or a mapping of column names to them.
        qrels: judgments: a path, a DataFrame (pandas, Polars, Arrow) with columns ``query_id``, ``doc_id`` and
            ``relevance``, a dict of dicts, or an iterable of named tuples such as ``ir_measures.Qrel``. Subtopics come
            from ``subtopic_id`` or ``iteration``, aspects from further columns.
        run: a ranking per query, in the same formats, with ``score`` instead of ``relevance``.
        exclude: documents that are taken out of ranking and judgments first: a mapping of query ids to document ids, a
            table with the columns ``query_id`` and ``doc_id``, or ``'self'``, the document with the query's own id.
        rules: apply the collection's own rules (``Collection.rules``), where ``qrels`` are a collection or its id.
        judged_only: take documents without a judgment out of the ranking (a condensed list).
        allow_empty: take a run that has no query, or no document, in common with the qrels, with a warning.
        aggregate: give the means over queries instead of the values per query.

    Returns:
        A DataFrame with a row per query of the qrels (index ``query_id``, sorted) and a column per measure in the order
        asked; with ``aggregate=True`` a Series of means, indexed by measure. Its ``attrs`` hold, as far as there are any, the
        ``rules`` of the collection that were applied, the ``metadata`` of the run file (ir-metadata), and ``diagnostics``: means
        that the order of documents with equal scores could change by more than 0.005 (see ``tie_audit``).

    Raises:
        ValueError: bad input or an unknown measure; the message names the first offender.

    >>> qrels = {"q1": {"d1": 1, "d2": 1}, "q2": {"d1": 2}}
    >>> run = {"q1": {"d1": 3.0, "d3": 2.0, "d2": 1.0}}
    >>> evaluate(["TSE", "LR", "AP"], qrels, run, aggregate=True).round(4)
    TSE    0.1667
    LR     0.4667
    AP     0.4167
    dtype: float64
    """
    parsed = _parsed(measures, qrels, run)
    if "query_id" in parsed:
        raise ValueError(f"'query_id' is the name of the table's index; call {parsed['query_id']} otherwise")
    judgments = Judgments.from_qrels(qrels, exclude, rules=rules)
    for measure in parsed.values():
        if isinstance(measure, Measure):
            measure.check_judgments(judgments)
    aligned = read_run(judgments, run, allow_empty=allow_empty)
    if judged_only:
        aligned = aligned.condensed()
    columns = {name: values(measure, aligned) for name, measure in parsed.items()}
    table = (
        pd.Series({name: aggregated(parsed[name], column) for name, column in columns.items()}, dtype=float)
        if aggregate
        else pd.DataFrame(columns, index=pd.Index(judgments.query_ids, name="query_id"))
    )
    made = {
        "rules": judgments.rules,
        "metadata": metadata_of(run),
        "diagnostics": [] if aligned.ties is None else _tie_warnings(parsed, aligned, columns),
    }
    table.attrs.update({what: said for what, said in made.items() if said})
    return table


def _parsed(measures: MeasuresLike, qrels: QrelsLike, run: RunLike) -> dict[str, IRMeasure]:
    """The measures; an error where one of the other arguments is what should have been the first one."""
    try:
        return parse_measures(measures)
    except ValueError:
        for place, argument in {"second": qrels, "third": run}.items():
            if is_measures(argument):
                raise ValueError(
                    f"the {place} argument is a measure ({shown(argument)}); the order is evaluate(measures, qrels, run)"
                ) from None
        raise


def _tie_warnings(measures: Mapping[str, IRMeasure], run: AlignedRun, columns: Mapping[str, Floats]) -> list[str]:
    """Means that ties could change by more than 0.005; those of other providers are not computed again to know."""
    native = {name: measure for name, measure in measures.items() if is_native(measure)}
    warnings = (tie_warning(name, measure, *tie_range(measure, run, columns[name])) for name, measure in native.items())
    return [warning for warning in warnings if warning is not None]
