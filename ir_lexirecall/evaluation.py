"""``evaluate``: one run, any measures, one table."""

from __future__ import annotations

import difflib
import os
import re
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

import ir_measures
import numpy as np
from ir_measures.measures.base import Measure

from ir_lexirecall.alignment import JudgedRanks, align
from ir_lexirecall.judgments import Judgments
from ir_lexirecall.measures import MEASURES, UnknownParameter
from ir_lexirecall.progress import progress_bar
from ir_lexirecall.provider import LexiRecallEvaluator, Utility, failing
from ir_lexirecall.scoring.arrays import Floats
from ir_lexirecall.tables import RUN_COLUMNS, and_more, naming, run_table, with_string_keys

if TYPE_CHECKING:
    import pandas as pd


_PATHS = (str, os.PathLike)
_READERS = min(4, os.cpu_count() or 1)  # files that are read at the same time


def parse_measures(measures: Any) -> dict[str, Measure]:
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
            parsed[name] = ir_measures.parse_measure(measure)
        except UnknownParameter:
            raise
        except (NameError, SyntaxError, ValueError, TypeError, AttributeError) as error:
            raise ValueError(f"{measure!r} is not a measure that ir_measures knows: {error}{_hint(measure)}") from None
        check_parameters(parsed[name])
    if not parsed and not isinstance(measures, Mapping):
        raise ValueError("no measure was asked for; name at least one, such as TSE or 'nDCG@10'")
    return parsed


def by_label(measures: Any) -> dict[str, Any]:
    """What is asked for by the name of its column, unparsed."""
    if isinstance(measures, Mapping):
        return dict(measures)
    several = [measures] if isinstance(measures, (str, Measure)) else measures
    if not isinstance(several, Iterable):
        raise ValueError(f"{measures!r} is no measure; give one, such as TSE or 'nDCG@10', or several in a list")
    return {str(each): each for each in several}


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
    name, rest = re.match(r"(\w*)(.*)", measure, re.DOTALL).groups()  # type: ignore[union-attr]
    registry = ir_measures.measures.registry
    known = {each.lower(): each if each in MEASURES else measure.__name__ for each, measure in registry.items()}
    close = [] if name in registry else difflib.get_close_matches(name.lower(), known, n=1)
    return f"; did you mean {known[close[0]]}{rest}?" if close else ""


def check_parameters(measure: Measure) -> None:
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


def is_ours(measure: Measure) -> bool:
    """Whether the measure is one of this library's."""
    return isinstance(measure, tuple({type(ours) for ours in MEASURES.values()}))


class Evaluation:
    """Measures and qrels, read once, for any number of runs.

    >>> evaluation = Evaluation(["TSE", "AP"], {"q1": {"d1": 1}})
    >>> evaluation.of({"q1": {"d1": 1.0}})
              TSE   AP
    query_id
    q1        1.0  1.0
    """

    def __init__(self, measures: Any, qrels: Any) -> None:
        self.measures = parse_measures(measures)
        standard = [measure for measure in self.measures.values() if not is_ours(measure)]
        self.judgments = Judgments.of(qrels)
        self._ours = LexiRecallEvaluator([m for m in self.measures.values() if is_ours(m)], self.judgments)
        if standard:
            self.judgments.check_whole_grades(str(standard[0]))
        self._standard: Any = ir_measures.evaluator(standard, self.judgments.for_ir_measures()) if standard else None

    def of(self, run: Any) -> pd.DataFrame:
        """Values of a run: a row per query of the qrels (index ``query_id``, sorted), a column per measure."""
        return self.of_ranks(*self.read(run))

    def read(self, run: Any, *, name: str | None = None) -> tuple[JudgedRanks, Any]:
        """The aligned ranks of a run, and the run in a form that can be read again (a generator cannot).

        ``name`` is what errors call the run, where there are several and it is not a file.
        """
        called = "the run" if name is None else f"run {name!r}"
        source = os.fspath(run) if isinstance(run, _PATHS) else "run" if name is None else called
        with naming(source):
            return self._read(run, called)

    def _read(self, run: Any, called: str) -> tuple[JudgedRanks, Any]:
        if not isinstance(run, (Mapping, *_PATHS)) or (self._standard is not None and not isinstance(run, Mapping)):
            run = run_table(run)
        ranks = align(self.judgments, run)
        if len(self.judgments) and not ranks.depth.any():
            warnings.warn(
                f"{called} retrieves nothing for any query of the qrels; do their query ids agree? The qrels' first is "
                f"{self.judgments.query_ids[0]!r}",
                stacklevel=4,
            )
        return ranks, run

    def of_all(
        self, runs: Mapping[str, Any], progress: bool | None = None
    ) -> Iterator[tuple[str, JudgedRanks, pd.DataFrame]]:
        """Name, aligned ranks and values of every run, in order."""
        for name, ranks, run in self.read_all(runs, progress):
            yield name, ranks, self.of_ranks(ranks, run)

    def read_all(self, runs: Mapping[str, Any], progress: bool | None = None) -> Iterator[tuple[str, JudgedRanks, Any]]:
        """Name and what ``read`` gives of every run, in order, each read once.

        Files are read a few at a time, in threads: reading, hashing and sorting leave the interpreter to others.
        """
        waiting: deque[tuple[str, Callable[[], tuple[JudgedRanks, Any]]]] = deque()
        with (
            progress_bar(progress, total=len(runs), desc="runs") as bar,
            ThreadPoolExecutor(_READERS) as readers,
        ):
            for name, run in runs.items():
                read = partial(self.read, run, name=str(name))
                waiting.append((str(name), readers.submit(read).result if isinstance(run, _PATHS) else read))
                if len(waiting) > _READERS:
                    first, wait = waiting.popleft()
                    yield first, *wait()
                    bar.update()
            while waiting:
                first, wait = waiting.popleft()
                yield first, *wait()
                bar.update()

    def of_ranks(self, ranks: JudgedRanks, run: Any) -> pd.DataFrame:
        """``of`` for what ``read`` gave."""
        import pandas as pd

        columns: dict[Measure, Any] = {}
        for measure, result in self._ours.score(ranks).items():
            columns[measure] = result.value if isinstance(result, Utility) else result
        if self._standard is not None:
            columns.update(self._standard_values(run))
        index = pd.Index(self.judgments.query_ids, name="query_id")
        return pd.DataFrame({name: columns[measure] for name, measure in self.measures.items()}, index=index)

    def _standard_values(self, run: Any) -> dict[Measure, list[float]]:
        by_query: dict[Measure, dict[str, float]] = {m: {} for m in self.measures.values() if not is_ours(m)}
        with failing(*by_query):
            for metric in self._standard.iter_calc(_dict_of_dicts(run)):
                by_query[metric.measure][metric.query_id] = metric.value
        # ir_measures knows only the queries with a judgment of relevance.
        return {
            measure: [values.get(query_id, measure.DEFAULT) for query_id in self.judgments.query_ids]
            for measure, values in by_query.items()
        }


def _dict_of_dicts(run: Any) -> Mapping[str, Mapping[str, float]]:
    if isinstance(run, Mapping):
        run = with_string_keys(run, "run")
        kinds = {kind for docs in run.values() for kind in map(type, docs.values())}
        if kinds <= {float, int}:
            return run
        return {query_id: {doc_id: float(score) for doc_id, score in docs.items()} for query_id, docs in run.items()}
    nested: dict[str, dict[str, float]] = {}
    for query_id, doc_id, score in zip(*(run[name].to_list() for name in RUN_COLUMNS), strict=True):
        nested.setdefault(query_id, {})[doc_id] = score
    return nested


def check_defined(what: str, measure: str, values: Floats, systems: Sequence[str], query_ids: Sequence[str]) -> None:
    """Refuse values per system and query that are not numbers, naming the first."""
    undefined = np.argwhere(np.isnan(values))
    if len(undefined):
        system, query = undefined[0].tolist()
        raise ValueError(
            f"{what}: {measure} is not a number for run {systems[system]!r} on query {query_ids[query]!r}"
            f"{and_more(len(undefined) - 1)}; it prefers nothing"
        )


def evaluate(measures: Any, qrels: Any, run: Any, *, aggregate: bool = False) -> Any:
    """Evaluate a run with measures of this library and of ir_measures side by side.

    Args:
        measures: a measure or a string such as ``"TSE@1000"``, a sequence of them, or a mapping of column names to them.
        qrels: judgments: a path, a DataFrame (pandas, Polars, Arrow) with columns ``query_id``, ``doc_id`` and
            ``relevance``, a dict of dicts, or an iterable of named tuples such as ``ir_measures.Qrel``. Subtopics come
            from ``subtopic_id`` or ``iteration``, aspects from further columns.
        run: a ranking per query, in the same formats, with ``score`` instead of ``relevance``.
        aggregate: give the means over queries instead of the values per query.

    Returns:
        A DataFrame with a row per query of the qrels (index ``query_id``, sorted) and a column per measure in the order
        asked; with ``aggregate=True`` a Series of means, indexed by measure.

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
    evaluation = Evaluation(measures, qrels)
    values = evaluation.of(run)
    return means(values, evaluation.measures) if aggregate else values


def means(values: pd.DataFrame, measures: Mapping[str, Measure]) -> pd.Series:
    """Aggregate per-query values as each measure says (a mean, for counts a sum)."""
    import pandas as pd

    totals = {}
    for name, measure in measures.items():
        aggregator = measure.aggregator()
        for value in values[name].tolist():
            aggregator.add(value)
        totals[name] = aggregator.result()
    return pd.Series(totals, dtype=float)
