"""``LexiRecallEvaluator``: sentence-transformers' ``InformationRetrievalEvaluator`` with any measures, per query."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

try:
    from sentence_transformers.sentence_transformer.evaluation import InformationRetrievalEvaluator
except ModuleNotFoundError:  # before version 6
    from sentence_transformers.evaluation import InformationRetrievalEvaluator

from ir_lexirecall.alignment import align
from ir_lexirecall.benchmark.inference import bca_of_means
from ir_lexirecall.errors import check_choice, check_number
from ir_lexirecall.evaluation import MeasuresLike, parse_measures
from ir_lexirecall.judgments import Judgments
from ir_lexirecall.measures.scoring import aggregate, values

_CALLER = "LexiRecallEvaluator"


class LexiRecallEvaluator(InformationRetrievalEvaluator):  # type: ignore[misc]
    """``InformationRetrievalEvaluator`` with any measures of this library and of ir_measures beside its own.

    Give it to a trainer as ``evaluator``, or call it with a model. The metrics are those of sentence-transformers and one for
    each measure, such as ``dev_cosine_LexiRecall``. Documents of equal scores stand in trec_eval's order for our measures (ids
    descending), in sentence-transformers' (ascending) for its own.

    Args:
        queries, corpus: texts by id.
        relevant_docs: for each query its relevant documents: a set of ids, or a dict of ids to grades.
        measures: measures or strings, as in ``evaluate``. Rankings are as deep as the largest k of sentence-transformers'
            options (``map_at_k``: 100) unless ``depth`` is larger.
        primary: the measure that selects the best model; by default the first one.
        depth: how deep rankings are at least.
        alpha: 1 - confidence of the intervals.
        options: anything else that ``InformationRetrievalEvaluator`` takes (``name``, ``score_functions``, ...).

    Attributes:
        primary_metric: name of the metric that selects the best model, known after the first call.
        per_query: values of the last call, a row per score function and query (index ``score_function``, ``query_id``), a column
            per measure.
        intervals: means of the last call with BCa bootstrap intervals: ``score_function``, ``measure``, ``mean``, ``ci_low``,
            ``ci_high``.

    Raises:
        ValueError: an unknown measure, a ``primary`` that is none of them, or no query with relevant documents.
    """

    def __init__(
        self,
        queries: Mapping[str, Any],
        corpus: Mapping[str, Any],
        relevant_docs: Mapping[str, Iterable[str] | Mapping[str, float]],
        measures: MeasuresLike = ("LR", "TSE", "nDCG@10"),
        *,
        primary: str | None = None,
        depth: int = 100,
        alpha: float = 0.05,
        **options: Any,
    ) -> None:
        self.measures = parse_measures(measures)
        self.primary = (
            next(iter(self.measures)) if primary is None else check_choice(_CALLER, "primary", primary, self.measures)
        )
        self.alpha = check_number(_CALLER, "alpha", alpha, above=0, below=1)
        grades = {
            query_id: {str(d): float(g) for d, g in docs.items()}
            if isinstance(docs, Mapping)
            else dict.fromkeys(docs, 1.0)
            for query_id, docs in relevant_docs.items()
        }
        relevant = {query_id: {doc for doc, grade in docs.items() if grade > 0} for query_id, docs in grades.items()}
        options["map_at_k"] = sorted({*options.get("map_at_k", [100]), depth})
        super().__init__(dict(queries), dict(corpus), relevant, **options)
        if not self.queries_ids:
            raise ValueError(f"{_CALLER}: no query has a relevant document")
        self.judgments = Judgments.from_qrels({str(query_id): grades[query_id] for query_id in self.queries_ids})
        self.per_query = pd.DataFrame()
        self.intervals = pd.DataFrame()
        self._values: list[pd.DataFrame] = []

    def __call__(self, model: Any, *args: Any, **kwargs: Any) -> dict[str, float]:
        self._values = []
        metrics: dict[str, float] = super().__call__(model, *args, **kwargs)
        names = list(self.score_functions)
        self.per_query = pd.concat(dict(zip(names, self._values, strict=True)), names=["score_function"])
        self.intervals = self._with_intervals(names)
        function = self._selecting(names)
        prefix = f"{self.name}_" if self.name else ""
        self.primary_metric = f"{prefix}{function}_{self.primary}"
        return metrics

    def compute_metrics(self, queries_result_list: Sequence[Any]) -> dict[str, dict[Any, float]]:
        """The metrics of one score function: sentence-transformers' own, and ours by their names."""
        metrics: dict[str, dict[Any, float]] = super().compute_metrics(queries_result_list)
        run = {
            str(query_id): {str(hit["corpus_id"]): float(hit["score"]) for hit in hits}
            for query_id, hits in zip(self.queries_ids, queries_result_list, strict=True)
        }
        aligned = align(self.judgments, run)
        columns = {name: values(measure, aligned) for name, measure in self.measures.items()}
        self._values.append(pd.DataFrame(columns, index=pd.Index(self.judgments.query_ids, name="query_id")))
        ours = {name: {"": float(aggregate(measure, columns[name]))} for name, measure in self.measures.items()}
        return {**metrics, **ours}

    def _selecting(self, names: Sequence[str]) -> str:
        """The score function that counts: the main one, or the best by the primary measure."""
        if self.main_score_function is not None:
            return str(self.main_score_function.value)
        return max(names, key=lambda name: float(self.per_query.loc[name, self.primary].mean()))

    def _with_intervals(self, names: Sequence[str]) -> pd.DataFrame:
        rows = []
        for name, table in zip(names, self._values, strict=True):
            low, high = bca_of_means(table.to_numpy().T, self.alpha)
            for place, measure in enumerate(self.measures):
                rows.append((name, measure, float(table[measure].mean()), float(low[place]), float(high[place])))
        return pd.DataFrame(rows, columns=["score_function", "measure", "mean", "ci_low", "ci_high"])
