"""``accelerate``: ir_measures and PyTerrier take the standard measures from here, bit for bit."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from operator import itemgetter
from threading import Lock
from typing import Any, TypeAlias, cast

import ir_measures
import numpy as np
from ir_measures import Metric
from ir_measures.measures.base import Measure as IRMeasure
from ir_measures.providers.base import Evaluator

from ir_lexirecall._util.arrays import Floats, Ints
from ir_lexirecall._util.errors import NotText, called, check_flag, check_text, entry
from ir_lexirecall._util.lazy import cached_property
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall.data.aligned_run import AlignedRun
from ir_lexirecall.data.alignment import RunLike, align
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.evaluation.provider import LexiRecallProvider, metrics
from ir_lexirecall.measures import scoring
from ir_lexirecall.measures.declaration import Measure, Utility
from ir_lexirecall.measures.scoring import aggregate, check_judgments, score

NAME = "ir_lexirecall_accelerated"
Scored: TypeAlias = "tuple[IRMeasure, Floats | Utility, Ints | None]"
"""A measure, its values, and their order if it is not that of the judgments."""


class AcceleratedEvaluator(Evaluator):  # type: ignore[misc]
    """Scores standard measures and ours from one alignment, as pytrec_eval gives them.

    What pytrec_eval reads in a way of its own, or refuses (several judgments of one document, a
    document twice in a ranking, scores that are no numbers, ids that are no strings), is left to
    it, so that nothing changes but the time.
    """

    def __init__(self, measures: Iterable[IRMeasure], qrels: Any) -> None:
        """Read the qrels, and decide which measures are left to pytrec_eval."""
        listed = list(measures)
        self._ours = [measure for measure in listed if isinstance(measure, Measure)]
        self._standard = [
            measure for measure in listed if not isinstance(measure, Measure)
        ]
        self._qrels = _rereadable(qrels)
        self.judgments: Any = None  # where all measures are left to pytrec_eval
        self._leaves_all = bool(self._standard) and not _reads_alike(
            self._qrels, "relevance", int
        )
        if self._ours or not self._leaves_all:
            with called(""):
                self._read_qrels()
        for measure in listed:
            measure.validate_params()
        judgments = cast(Any, self.judgments)  # read in the meantime
        if self._ours:
            check_judgments(self._ours, judgments)
        if self._leaves_all:
            query_ids = self._left_to.qrel_qids
        else:
            query_ids = set(judgments.query_ids)
        super().__init__(listed, query_ids)

    def _read_qrels(self) -> None:
        """Read the qrels; leave standard measures to pytrec_eval if it reads them otherwise.

        Raises:
            ValueError: they cannot be read; where there are standard measures, pytrec_eval is the
                first to complain, as without acceleration.
        """
        if self._leaves_all:
            _ = self._left_to
        try:
            self.judgments = Judgments.from_qrels(self._qrels, allow_empty=True)
        except NotText:
            raise
        except ValueError:
            if self._standard:
                _ = self._left_to
            if self._ours:
                raise
            reads_otherwise = True
        else:
            table = self.judgments.table
            several = table is not None and len(table.doc) > len(self.judgments.grade)
            reads_otherwise = several or self.judgments.relevance_is_named
        self._leaves_all |= bool(self._standard) and reads_otherwise

    @cached_property
    def _left_to(self) -> Evaluator:
        """pytrec_eval's own evaluator, made when it is first needed."""
        _check_texts(self._qrels, "qrels")
        return ir_measures.providers.registry["pytrec_eval"].evaluator(
            self._standard, self._qrels
        )

    @called("")
    def _leaves(self, run: Any) -> tuple[Any, bool, AlignedRun | ValueError | None]:
        """Read a run for the measures that are not left to pytrec_eval.

        Returns:
            The run; whether the standard measures are left to pytrec_eval; and the run for the
            others, or why it cannot be read.
        """
        run = _rereadable(run)
        leaves = bool(self._standard) and not _reads_alike(run, "score", (float, int))
        leaves |= self._leaves_all
        if leaves:
            _check_texts(run, "run")
            if not self._ours:
                return run, True, None
        try:
            aligned = align(self.judgments, run)
        except NotText:
            raise
        except ValueError as error:
            return run, bool(self._standard), error
        if isinstance(run, dict) and not all(run.values()):
            aligned = self._with_empty_rankings(aligned, run)
        return run, leaves, aligned

    def _with_empty_rankings(
        self, aligned: AlignedRun, run: Mapping[str, Any]
    ) -> AlignedRun:
        """Return an aligned run in which empty rankings count among those that the run has.

        They do so with pytrec_eval; elsewhere they are missing. They are withheld from it: where
        the first query of a run is empty, it reads memory that it has given back.
        """
        number = self.judgments.place
        ranked = [number[query_id] for query_id in run if query_id in number]
        return replace(aligned, ranked=np.array(ranked, dtype=np.int64))

    def _scored(
        self, aligned: AlignedRun | ValueError | None, leaves: bool
    ) -> list[Scored]:
        """Return the values of our measures and of the standard ones that are not left.

        Ours come last, as where ir_measures asks one provider after the other: PyTerrier takes the
        queries' order from the first values, and p-values depend on it in their last bits.
        """
        measures = self._ours if leaves else [*self._standard, *self._ours]
        if not measures or aligned is None:
            return []
        if isinstance(aligned, ValueError):
            raise aligned
        # pytrec_eval's order: the queries that the run has as they stand there, then the others,
        # sorted; ours are all sorted.
        others = np.setdiff1d(np.arange(len(aligned.depth)), aligned.ranked)
        order = np.r_[aligned.ranked, others]
        scored = []
        for measure in measures:
            order_of_measure = None if isinstance(measure, Measure) else order
            scored.append((measure, score(measure, aligned), order_of_measure))
        return scored

    def iter_calc(self, run: RunLike) -> Iterator[Metric]:
        """Yield metrics of every query, measure by measure, in the order of its provider."""
        run, leaves, aligned = self._leaves(run)
        if leaves:
            yield from self._left_to.iter_calc(run)
        for measure, result, order in self._scored(aligned, leaves):
            yield from metrics(measure, result, self.judgments.query_ids, order)

    def calc_aggregate(self, run: RunLike) -> dict[IRMeasure, float]:
        """Aggregate of each measure, added up in the order of ``iter_calc``."""
        run, leaves, aligned = self._leaves(run)
        result = dict(self._left_to.calc_aggregate(run)) if leaves else {}
        for measure, array, order in self._scored(aligned, leaves):
            column = array.value if isinstance(array, Utility) else array
            if order is not None:
                column = column[order]
            if len(column):
                result[measure] = aggregate(measure, column)
            else:
                result[measure] = measure.aggregator().result()
        return result


def _rereadable(data: Any) -> Any:
    """Return the same data, an iterator as a list."""
    if isinstance(data, (str, os.PathLike, Mapping)) or hasattr(data, "columns"):
        return data
    if isinstance(data, Iterable):
        return list(data)
    return data


def _check_texts(data: Any, what: str) -> None:
    """Raise if an id has half a character, which ends the process in pytrec_eval."""
    for text in chain.from_iterable(_ids_in(data)):
        if isinstance(text, str) and not text.isascii():
            check_text(text, f"{what}: ids")


def _ids_in(data: Any) -> Iterator[Iterable[Any]]:
    """Yield the ids of queries and documents in qrels or a run, some at a time."""
    names = ("query_id", "doc_id")
    if isinstance(data, Mapping):
        yield data
        yield from (docs for docs in data.values() if isinstance(docs, Mapping))
    elif hasattr(data, "columns"):
        yield from (data[name] for name in names if name in data.columns)
    elif isinstance(data, Iterable):  # else the reader raises the error
        yield from ([getattr(row, name, None) for row in data] for name in names)


def _reads_alike(data: Any, value: str, kinds: type | tuple[type, ...]) -> bool:
    """Return whether pytrec_eval takes qrels or a run for what this library takes them for.

    Ids must be strings, and values of its types.

    >>> _reads_alike({"q": {"d": 1}}, "relevance", int)
    True
    >>> _reads_alike({"q": {"d": 1.0}}, "relevance", int)
    False
    >>> _reads_alike([ir_measures.ScoredDoc("q", 7, 1.0)], "score", (float, int))
    False
    """
    if isinstance(data, dict):
        return _dicts_are(data, kinds)
    wanted = {"query_id": str, "doc_id": str, value: kinds}
    if hasattr(data, "itertuples"):
        names = list(data.columns)
        if any(names.count(name) != 1 for name in wanted):
            return False
        return all(_column_is(data[name], kind) for name, kind in wanted.items())
    return isinstance(data, list) and _rows_are(data, wanted)


def _rows_are(data: list[Any], wanted: Mapping[str, Any]) -> bool:
    """Return whether named tuples of one class have some fields, with values of some types."""
    if len(set(map(type, data))) > 1:
        return False
    if not data:
        return True
    fields = getattr(data[0], "_fields", ())
    if not wanted.keys() <= set(fields):
        return False
    columns = {name: map(itemgetter(fields.index(name)), data) for name in wanted}
    return all(_are(columns[name], kind) for name, kind in wanted.items())


def _dicts_are(data: Mapping[Any, Any], kinds: type | tuple[type, ...]) -> bool:
    """Return whether a dict of dicts has strings as keys, and values of some types."""
    rankings = data.values()
    if not _are(rankings, dict) or not _are(data, str):
        return False
    if not _are(chain.from_iterable(rankings), str):
        return False
    return _are(chain.from_iterable(docs.values() for docs in rankings), kinds)


def _are(values: Iterable[Any], kinds: type | tuple[type, ...]) -> bool:
    """Return whether all values are of some types."""
    return all(issubclass(kind, kinds) for kind in set(map(type, values)))


def _column_is(column: Any, kinds: type | tuple[type, ...]) -> bool:
    """Return whether a pandas column hands out values of these types.

    Missing ones are not looked for where strings are.
    """
    if isinstance(column.dtype, np.dtype) and column.dtype.kind != "O":
        return issubclass(type(np.zeros(1, column.dtype).item()), kinds)
    if kinds is str:
        return bool(pd.api.types.is_string_dtype(column))
    return _are(column, kinds)


class AcceleratedProvider(LexiRecallProvider):
    """Provides our measures, and the standard ones whose values pytrec_eval gives bit for bit."""

    NAME: str = NAME

    def supports(self, measure: IRMeasure) -> bool:
        """Return whether a measure is ours, or a standard one with identical values."""
        measure.validate_params()
        return isinstance(measure, Measure) or scoring.identical(measure)

    def _evaluator(
        self, measures: Iterable[IRMeasure], qrels: Any
    ) -> AcceleratedEvaluator:
        return AcceleratedEvaluator(measures, qrels)


class accelerate:
    """Let ir_measures, and so PyTerrier, take the standard measures from here.

    The values are the same, bit for bit, and come sooner.

    ``accelerate()`` (``on=True``) puts our provider first in ir_measures' pipeline for the measures
    and parameters whose values are identical to pytrec_eval's; ``accelerate(False)`` takes it out
    again. As a context manager, it is on (or off) within the ``with`` block. It is off unless the
    environment variable ``IR_LEXIRECALL_ACCELERATE`` is 1 when the package is imported.

    >>> import ir_lexirecall as irl
    >>> qrels, run = {"q": {"a": 1}}, {"q": {"x": 2.0, "a": 1.0}}
    >>> with irl.accelerate():
    ...     ir_measures.calc_aggregate([ir_measures.AP], qrels, run)
    {AP: 0.5}
    """

    @entry
    def __init__(self, on: bool = True) -> None:
        self._on: bool = check_flag("on", on)
        with _lock:
            _switches.append(self)
            _switch(on)
        self._is_block = False

    def __enter__(self) -> accelerate:
        with _lock:
            if self._is_block:  # entered before
                _switches.append(self)
            self._is_block = True
            _switch(_switches[-1]._on)
        return self

    def __exit__(self, *error: object) -> None:
        with _lock:
            _switches.remove(self)
            _switch(bool(_switches) and _switches[-1]._on)

    def __repr__(self) -> str:
        names = [provider.NAME for provider in ir_measures.DefaultPipeline.providers]
        if NAME in names:
            return "accelerate: on"
        return "accelerate: off"


_lock = Lock()
_switches: list[accelerate] = []
"""Stack of active switches; the most recent one wins.

Blocks of several threads, which end in any order, leave what was before the first.
"""


def _switch(on: bool) -> None:
    """Put our provider first in the pipeline of ir_measures, or take it out."""
    pipeline = ir_measures.DefaultPipeline.providers
    providers = [provider for provider in pipeline if provider.NAME != NAME]
    if on:
        providers.insert(0, AcceleratedProvider())
    pipeline[:] = providers
