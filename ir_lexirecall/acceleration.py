"""``accelerate``: ir_measures and PyTerrier take the standard measures from here, bit for bit."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from types import TracebackType
from typing import Any

import ir_measures
import numpy as np
from ir_measures import Metric
from ir_measures.measures.base import Measure as IRMeasure
from ir_measures.providers.base import Evaluator

from ir_lexirecall.alignment import AlignedRun, RunLike, align
from ir_lexirecall.arrays import Floats, Ints
from ir_lexirecall.judgments import Judgments
from ir_lexirecall.measures import standard
from ir_lexirecall.measures.base import Measure, Utility
from ir_lexirecall.measures.scoring import aggregate, score
from ir_lexirecall.provider import LexiRecallProvider, metrics

NAME = "ir_lexirecall_accelerated"


class AcceleratedEvaluator(Evaluator):  # type: ignore[misc]
    """Scores standard measures and ours from one alignment, with pytrec_eval's values in pytrec_eval's order.

    What pytrec_eval reads in a way of its own (several judgments of one document, a document twice in a ranking, scores that
    are no numbers) is left to it, so that nothing changes but the time.
    """

    def __init__(self, measures: Iterable[IRMeasure], qrels: Any) -> None:
        listed = qrels if isinstance(qrels, Mapping) or hasattr(qrels, "columns") else list(qrels)
        self._ours = [measure for measure in measures if isinstance(measure, Measure)]
        self._standard = [measure for measure in measures if not isinstance(measure, Measure)]
        self._qrels = listed
        self._pytrec_eval: Evaluator | None = None
        try:
            self.judgments: Judgments | None = Judgments.from_qrels(listed)
        except ValueError:
            if self._ours:
                raise
            self.judgments = None
        for measure in measures:
            measure.validate_params()
            if isinstance(measure, Measure) and self.judgments is not None:
                measure.check_judgments(self.judgments)
        left = self._leaves_standard_measures()
        super().__init__(measures, self._left_to.qrel_qids if left else set(self._judged.query_ids))

    @property
    def _judged(self) -> Judgments:
        assert self.judgments is not None
        return self.judgments

    @property
    def _left_to(self) -> Evaluator:
        """pytrec_eval's own evaluator, made when it is first needed."""
        if self._pytrec_eval is None:
            provider = ir_measures.providers.registry["pytrec_eval"]
            self._pytrec_eval = provider.evaluator(self._standard, self._qrels)
        return self._pytrec_eval

    def _leaves_standard_measures(self) -> bool:
        """Whether the judgments are such that pytrec_eval reads them in a way of its own."""
        judgments = self.judgments
        if not self._standard:
            return False
        return judgments is None or (judgments.table is not None and len(judgments.table) > len(judgments.grade))

    def _scored(self, run: RunLike) -> tuple[dict[IRMeasure, Floats | Utility], Ints, Any]:
        """Values by measure, the queries in the order of their sums, and the run where pytrec_eval must read it."""
        listed: Any = run if isinstance(run, (str, os.PathLike, Mapping)) or hasattr(run, "columns") else list(run)
        if self.judgments is None:
            return {}, np.zeros(0, dtype=np.int64), listed
        try:
            aligned = align(self.judgments, listed)
        except ValueError:
            if self._ours:
                raise
            return {}, np.zeros(0, dtype=np.int64), listed
        # An empty ranking is not a missing one to pytrec_eval.
        leave = self._leaves_standard_measures() or (isinstance(listed, Mapping) and not all(map(len, listed.values())))
        leave = leave and bool(self._standard)
        wanted = self._ours if leave else self.measures
        return {measure: score(measure, aligned) for measure in wanted}, _order(aligned), listed if leave else None

    def iter_calc(self, run: RunLike) -> Iterator[Metric]:
        """Metrics of every query of the qrels, measure by measure: the run's queries in its order, then the others."""
        values, order, left = self._scored(run)
        for measure, result in values.items():
            yield from metrics(measure, result, self._judged.query_ids, order)
        if left is not None:
            yield from self._left_to.iter_calc(left)

    def calc_aggregate(self, run: RunLike) -> dict[IRMeasure, float]:
        """Aggregate of each measure, added up in the order of ``iter_calc``."""
        values, order, left = self._scored(run)
        result = {}
        for measure, array in values.items():
            column = (array.value if isinstance(array, Utility) else array)[order]
            result[measure] = aggregate(measure, column)
        return result if left is None else result | self._left_to.calc_aggregate(left)


def _order(run: AlignedRun) -> Ints:
    """The queries that the run has in its order, then the others as their ids sort."""
    rest = np.ones(len(run.depth), dtype=bool)
    rest[run.ranked] = False
    return np.concatenate([run.ranked, np.flatnonzero(rest)])


class AcceleratedProvider(LexiRecallProvider):
    """Provides our measures, and the standard ones whose values are identical to pytrec_eval's in every bit."""

    NAME = NAME

    def supports(self, measure: IRMeasure) -> bool:
        measure.validate_params()
        return isinstance(measure, Measure) or standard.identical(measure)

    def _evaluator(self, measures: Iterable[IRMeasure], qrels: Any) -> AcceleratedEvaluator:
        return AcceleratedEvaluator(list(measures), qrels)


class accelerate:
    """Let ir_measures, and so PyTerrier, take the standard measures from here: the same values, bit for bit, sooner.

    ``accelerate()`` puts our provider first in ir_measures' pipeline for the measures and parameters whose values are
    identical to pytrec_eval's; ``accelerate(False)`` takes it out again. As a context manager, it is on (or off) within the
    ``with`` block. It is off unless the environment variable ``IR_LEXIRECALL_ACCELERATE`` is 1 when the package is imported.

    >>> import ir_lexirecall as irl
    >>> qrels, run = {"q": {"a": 1}}, {"q": {"x": 2.0, "a": 1.0}}
    >>> with irl.accelerate():
    ...     ir_measures.calc_aggregate([ir_measures.AP], qrels, run)
    {AP: 0.5}
    """

    def __init__(self, on: bool = True) -> None:
        self._before = _is_on()
        _switch(on)

    def __enter__(self) -> accelerate:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _switch(self._before)

    def __repr__(self) -> str:
        return f"accelerate: {'on' if _is_on() else 'off'}"


def _is_on() -> bool:
    return any(provider.NAME == NAME for provider in ir_measures.DefaultPipeline.providers)


def _switch(on: bool) -> None:
    pipeline = ir_measures.DefaultPipeline.providers
    others = [provider for provider in pipeline if provider.NAME != NAME]
    pipeline[:] = [AcceleratedProvider(), *others] if on else others
