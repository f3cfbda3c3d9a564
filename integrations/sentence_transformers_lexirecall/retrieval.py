"""``LexiRecallEvaluator``: sentence-transformers' ``InformationRetrievalEvaluator`` with any measures, per query."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

try:
    from sentence_transformers.sentence_transformer.evaluation import InformationRetrievalEvaluator
except ModuleNotFoundError:  # before version 6
    from sentence_transformers.evaluation import InformationRetrievalEvaluator
try:
    from sentence_transformers.sparse_encoder.evaluation import SparseInformationRetrievalEvaluator
except ModuleNotFoundError:  # before version 5
    SparseInformationRetrievalEvaluator = None

from ir_lexirecall._util.errors import check_number, entry
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.measures.parsing import MeasuresLike
from sentence_transformers_lexirecall import scores


class _WithMeasures:
    """What is added to an evaluator of sentence-transformers that ranks documents for queries."""

    name: str
    queries_ids: list[str]
    csv_file: str
    write_csv: bool
    score_functions: Mapping[str, Any]
    main_score_function: Any

    @partial(entry, name="LexiRecallEvaluator")
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
        self.measures, self.primary = scores.measures_and_primary(measures, primary)
        self.alpha = check_number("alpha", alpha, above=0, below=1)
        grades = {
            query_id: {str(d): float(g) for d, g in docs.items()}
            if isinstance(docs, Mapping)
            else dict.fromkeys(docs, 1.0)
            for query_id, docs in relevant_docs.items()
        }
        relevant = {query_id: {doc for doc, grade in docs.items() if grade > 0} for query_id, docs in grades.items()}
        options["map_at_k"] = sorted({*options.get("map_at_k", [100]), depth})
        super().__init__(dict(queries), dict(corpus), relevant, **options)  # type: ignore[call-arg]
        if not self.queries_ids:
            raise ValueError("no query has a relevant document")
        self.judgments = Judgments.from_qrels({str(query_id): grades[query_id] for query_id in self.queries_ids})
        self.per_query = pd.DataFrame()
        self.intervals = pd.DataFrame()
        self._values: list[pd.DataFrame] = []

    def __call__(self, model: Any, output_path: str | None = None, *args: Any, **options: Any) -> dict[str, float]:
        self._values = []
        metrics: dict[str, float] = super().__call__(model, output_path, *args, **options)  # type: ignore[misc]
        names = list(self.score_functions)
        tables = dict(zip(names, self._values, strict=True))
        self.per_query = pd.concat(tables, names=["score_function"])
        parts = {name: scores.intervals(table, self.alpha) for name, table in tables.items()}
        self.intervals = pd.concat(parts, names=["score_function"]).reset_index("score_function").reset_index(drop=True)
        if output_path is not None and self.write_csv:
            ours = {
                f"{f}-{name}": v for f, t in tables.items() for name, v in scores.aggregates(self.measures, t).items()
            }
            scores.add_to_last_row(Path(output_path) / self.csv_file, ours)
        prefix = f"{self.name}_" if self.name else ""
        self.primary_metric = f"{prefix}{self._selecting(names)}_{self.primary}"
        return metrics

    def compute_metrics(self, queries_result_list: Sequence[Any]) -> dict[str, dict[Any, float]]:
        """The metrics of one score function: sentence-transformers' own, and ours by their names."""
        metrics: dict[str, dict[Any, float]] = super().compute_metrics(queries_result_list)  # type: ignore[misc]
        run = {
            str(query_id): {str(hit["corpus_id"]): float(hit["score"]) for hit in hits}
            for query_id, hits in zip(self.queries_ids, queries_result_list, strict=True)
        }
        table = scores.per_query(self.measures, self.judgments, run)
        self._values.append(table)
        return {**metrics, **{name: {"": value} for name, value in scores.aggregates(self.measures, table).items()}}

    def _selecting(self, names: Sequence[str]) -> str:
        """The score function that counts: the main one, or the best by the primary measure."""
        if self.main_score_function is not None:
            return str(self.main_score_function.value)
        return max(names, key=lambda name: float(self.per_query.loc[name, self.primary].mean()))


class LexiRecallEvaluator(_WithMeasures, InformationRetrievalEvaluator):  # type: ignore[misc]
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
        intervals: means of the last call with studentised bootstrap intervals: ``score_function``, ``measure``, ``mean``, ``ci_low``,
            ``ci_high``.

    Raises:
        ValueError: an unknown measure, a ``primary`` that is none of them, or no query with relevant documents.
    """


if SparseInformationRetrievalEvaluator is not None:

    class LexiRecallSparseEvaluator(_WithMeasures, SparseInformationRetrievalEvaluator):  # type: ignore[misc]
        """``LexiRecallEvaluator`` for sparse encoders: ``SparseInformationRetrievalEvaluator`` with any measures beside its own."""

else:

    class LexiRecallSparseEvaluator:  # type: ignore[no-redef]
        """What is there before sentence-transformers 5, which has no sparse encoders: an error that says so."""

        def __init__(self, *args: Any, **options: Any) -> None:
            raise ImportError(
                "LexiRecallSparseEvaluator needs sentence-transformers 5 or later, which has sparse encoders"
            )
