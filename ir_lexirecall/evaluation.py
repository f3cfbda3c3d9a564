"""``evaluate``: one run, any measures, one table. And what users call measures, read: ``parse_measures``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import ir_measures
from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall.alignment import AlignedRun, RunLike
from ir_lexirecall.arrays import Floats
from ir_lexirecall.judgments import ExcludeLike, Judgments, QrelsLike
from ir_lexirecall.measures.base import REGISTRY, Measure, UnknownParameter
from ir_lexirecall.measures.scoring import aggregate as aggregated
from ir_lexirecall.measures.scoring import is_native, values
from ir_lexirecall.runs import metadata_of, read_run
from ir_lexirecall.ties import tie_range, tie_warning

MeasureLike: TypeAlias = str | IRMeasure | type[Measure]
"""A measure: an object such as ``TSE @ 10``, or its string."""

MeasuresLike: TypeAlias = MeasureLike | Iterable[MeasureLike] | Mapping[str, MeasureLike]
"""A measure, several, or several by the name of their column."""


def parse_measures(measures: MeasuresLike) -> dict[str, IRMeasure]:
    """Measures by the name of their column: a string as it was given, an object as it prints.

    Args:
        measures: a measure or a string, a sequence of them, or a mapping of column names to them.

    Raises:
        ValueError: not a measure, or a parameter out of range.

    >>> list(parse_measures(["LR", "nDCG@10"]).values())
    [LexiRecall, nDCG@10]
    """
    parsed = {}
    for name, measure in by_label(measures).items():
        try:
            if isinstance(measure, type) and issubclass(measure, Measure):
                measure = measure()
            parsed[name] = ir_measures.parse_measure(measure)
        except UnknownParameter:
            raise
        except (NameError, SyntaxError, ValueError, TypeError, AttributeError) as error:
            raise ValueError(f"{measure!r} is not a measure that ir_measures knows: {error}{_hint(measure)}") from None
        check_parameters(parsed[name])
    if not parsed and not isinstance(measures, Mapping):
        raise ValueError("no measure was asked for; name at least one, such as TSE or 'nDCG@10'")
    return parsed


def by_label(measures: MeasuresLike) -> dict[str, MeasureLike]:
    """Measures by the name of their column, unparsed."""
    if isinstance(measures, Mapping):
        return dict(measures)
    several = [measures] if isinstance(measures, (str, IRMeasure, type)) else measures
    if not isinstance(several, Iterable):
        raise ValueError(f"expected a measure such as TSE or 'nDCG@10', or several in a list, got {measures!r}")
    return {str(measure): measure for measure in several}


def _hint(measure: Any) -> str:
    """What the measure may be called in ir_measures: trec_eval's names, or another case."""
    if not isinstance(measure, str):
        return ""
    try:
        by_trec_eval = ir_measures.parse_trec_measure(measure)
    except ValueError:
        by_trec_eval = []
    if by_trec_eval:
        return f"; trec_eval's {measure} is {' '.join(map(str, by_trec_eval))} there"
    if re.search(r"[\w)]\s+\w", measure):
        return "; give several measures as a list"
    import difflib

    name, rest = re.match(r"(\w*)(.*)", measure, re.DOTALL).groups()  # type: ignore[union-attr]
    registry = ir_measures.measures.registry
    known = {key.lower(): key if key in REGISTRY else measure.__name__ for key, measure in registry.items()}
    close = [] if name in registry else difflib.get_close_matches(name.lower(), known, n=1)
    return f"; did you mean {known[close[0]]}{rest}?" if close else ""


def check_parameters(measure: IRMeasure) -> None:
    """Refuse a measure with missing or unusable parameters with a ``ValueError`` (ir_measures' own only assert)."""
    unknown = [name for name in measure.params if name not in measure.SUPPORTED_PARAMS]
    if unknown:  # such a measure cannot even be printed
        known = ", ".join(measure.SUPPORTED_PARAMS) or "none"
        raise UnknownParameter(f"{measure.__name__} has no parameter {unknown[0]!r}; it has {known}")
    for name, param in measure.SUPPORTED_PARAMS.items():
        if param.required and name not in measure.params:
            raise ValueError(f"{measure}: the parameter {name!r} is required ({param.desc})")
    cutoff = measure.params.get("cutoff")
    if isinstance(cutoff, int) and cutoff < 1:
        raise ValueError(f"{measure}: the cutoff must be at least 1")
    try:
        measure.validate_params()
    except AssertionError as error:
        raise ValueError(f"{measure}: {error}") from None


def evaluate(
    measures: MeasuresLike,
    qrels: QrelsLike,
    run: RunLike,
    *,
    aggregate: bool = False,
    exclude: ExcludeLike | None = None,
    rules: bool = True,
) -> Any:
    """Evaluate a run with measures of this library and of ir_measures side by side.

    Args:
        measures: a measure or a string such as ``"TSE@1000"``, a sequence of them, or a mapping of column names to them.
        qrels: judgments: a path, a DataFrame (pandas, Polars, Arrow) with columns ``query_id``, ``doc_id`` and
            ``relevance``, a dict of dicts, or an iterable of named tuples such as ``ir_measures.Qrel``. Subtopics come
            from ``subtopic_id`` or ``iteration``, aspects from further columns.
        run: a ranking per query, in the same formats, with ``score`` instead of ``relevance``.
        aggregate: give the means over queries instead of the values per query.
        exclude: documents that are taken out of ranking and judgments first: a mapping of query ids to document ids, a
            table with the columns ``query_id`` and ``doc_id``, or ``'self'``, the document with the query's own id.
        rules: apply the collection's own rules (``Collection.rules``), where ``qrels`` are a collection or its id.

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
    import pandas as pd

    parsed = parse_measures(measures)
    judgments = Judgments.from_qrels(qrels, exclude, rules=rules)
    for measure in parsed.values():
        if isinstance(measure, Measure):
            measure.check_judgments(judgments)
    aligned = read_run(judgments, run)
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


def _tie_warnings(measures: Mapping[str, IRMeasure], run: AlignedRun, columns: Mapping[str, Floats]) -> list[str]:
    """Means that ties could change by more than 0.005; those of other providers are not computed again to know."""
    native = {name: measure for name, measure in measures.items() if is_native(measure)}
    warnings = (tie_warning(name, measure, *tie_range(measure, run, columns[name])) for name, measure in native.items())
    return [warning for warning in warnings if warning is not None]
