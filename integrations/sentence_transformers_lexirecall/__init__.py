"""Evaluate embedding models and rerankers while they train.

These are sentence-transformers' evaluators with our measures beside their own, per query.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ir_lexirecall._util.errors import check_choice, check_number, entry, needs
from ir_lexirecall.comparison.pair_tests import cut_at_range
from ir_lexirecall.data.alignment import RunLike, align
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.io.files import written_whole
from ir_lexirecall.io.measure_names import holds_few_values, known_of
from ir_lexirecall.measures.parsing import MeasuresLike, parse_measures
from ir_lexirecall.measures.scoring import aggregate, values
from ir_lexirecall.significance.over_collections import mean_interval

try:
    from sentence_transformers.cross_encoder.evaluation import (
        CrossEncoderRerankingEvaluator,
    )
except ModuleNotFoundError as error:
    message = needs(
        "sentence_transformers_lexirecall",
        "sentence-transformers",
        "sentence-transformers",
    )
    raise ModuleNotFoundError(message, name=error.name) from None
try:
    from sentence_transformers.sentence_transformer.evaluation import (
        InformationRetrievalEvaluator,
    )
except ModuleNotFoundError:  # before version 6
    from sentence_transformers.evaluation import InformationRetrievalEvaluator
try:
    from sentence_transformers.sparse_encoder.evaluation import (
        SparseInformationRetrievalEvaluator,
    )
except ModuleNotFoundError:  # before version 5
    SparseInformationRetrievalEvaluator = None

__all__ = ["LexiRecallEvaluator", "LexiRecallRerankingEvaluator"]


class _Measured:
    """What is known of measures in an evaluator of sentence-transformers."""

    name: str
    csv_file: str
    write_csv: bool

    def _take(self, measures: MeasuresLike, primary: str | None, alpha: float) -> None:
        """Check and keep what all evaluators are given."""
        self.measures = parse_measures(measures)
        if primary is None:
            self.primary = next(iter(self.measures))
        else:
            self.primary = check_choice("primary", primary, self.measures)
        self.alpha = check_number("alpha", alpha, above=0, below=1)
        self.per_query = self.intervals = pd.DataFrame()

    @property
    def _prefix(self) -> str:
        return f"{self.name}_" if self.name else ""

    def _scored(self, judgments: Judgments, run: RunLike) -> pd.DataFrame:
        """Values of a run: a row per query, a column per measure."""
        aligned = align(judgments, run)
        columns = {
            name: values(measure, aligned) for name, measure in self.measures.items()
        }
        return pd.DataFrame(
            columns, index=pd.Index(judgments.query_ids, name="query_id")
        )

    def _aggregates(self, table: pd.DataFrame) -> dict[str, float]:
        """Return the mean of each measure, the sum of counts."""
        return {
            name: float(aggregate(measure, table[name].to_numpy()))
            for name, measure in self.measures.items()
        }

    def _intervals(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return means with the intervals of ``Comparison.means``.

        The columns are ``measure``, ``mean``, ``ci_low`` and ``ci_high``.
        """
        rows = []
        for (name, measure), mean in zip(
            self.measures.items(), table.mean(), strict=True
        ):
            x = table[name].to_numpy(dtype=np.float64)[None]
            limits, few_values = known_of(measure)[:2], holds_few_values(str(measure))
            ends = mean_interval(x, self.alpha, limits=limits, few_values=few_values)
            low, high = cut_at_range(*ends, limits, [x])
            rows.append((name, mean, low[0], high[0]))
        return pd.DataFrame(rows, columns=["measure", "mean", "ci_low", "ci_high"])

    def _write(self, output_path: str | None, columns: Mapping[str, float]) -> None:
        """Add columns to the row that sentence-transformers wrote last; earlier rows stay empty."""
        if output_path is None or not self.write_csv:
            return
        path = Path(output_path) / self.csv_file
        table = pd.read_csv(path, dtype=object, keep_default_na=False)
        for name, value in columns.items():
            table.loc[table.index[-1], name] = str(value)
        with written_whole(path) as temporary:
            table.to_csv(temporary, index=False)


class _Retrieval(_Measured):
    """What is added to an evaluator of sentence-transformers that ranks documents for queries."""

    queries_ids: list[str]
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
        self._take(measures, primary, alpha)
        grades = {}
        for q, docs in relevant_docs.items():
            if isinstance(docs, Mapping):
                grades[q] = {str(d): float(g) for d, g in docs.items()}
            else:
                grades[q] = dict.fromkeys(docs, 1.0)
        relevant = {}
        for query_id, grade_of_doc in grades.items():
            relevant[query_id] = {doc for doc, g in grade_of_doc.items() if g > 0}
        options["map_at_k"] = sorted({*options.get("map_at_k", [100]), depth})
        super().__init__(dict(queries), dict(corpus), relevant, **options)  # type: ignore[call-arg]
        if not self.queries_ids:
            raise ValueError("no query has a relevant document; give at least one")
        self.judgments = Judgments.from_qrels(
            {str(query_id): grades[query_id] for query_id in self.queries_ids}
        )
        self._values: list[pd.DataFrame] = []

    def __call__(
        self, model: Any, output_path: str | None = None, *args: Any, **options: Any
    ) -> dict[str, float]:
        self._values = []
        metrics: dict[str, float]
        metrics = super().__call__(model, output_path, *args, **options)  # type: ignore[misc]
        tables = dict(zip(self.score_functions, self._values, strict=True))
        self.per_query = pd.concat(tables, names=["score_function"])
        parts = {name: self._intervals(table) for name, table in tables.items()}
        self.intervals = (
            pd.concat(parts, names=["score_function"])
            .reset_index("score_function")
            .reset_index(drop=True)
        )
        ours = {}
        for function, table in tables.items():
            for name, value in self._aggregates(table).items():
                ours[f"{function}-{name}"] = value
        self._write(output_path, ours)
        selecting = getattr(self.main_score_function, "value", None)
        if selecting is None:
            selecting = max(
                tables, key=lambda name: float(tables[name][self.primary].mean())
            )
        self.primary_metric = f"{self._prefix}{selecting}_{self.primary}"
        return metrics

    def compute_metrics(
        self, queries_result_list: Sequence[Any]
    ) -> dict[str, dict[Any, float]]:
        """Return the metrics of one score function: the framework's own, and ours by name."""
        metrics: dict[str, dict[Any, float]]
        metrics = super().compute_metrics(queries_result_list)  # type: ignore[misc]
        run = {}
        for query_id, hits in zip(self.queries_ids, queries_result_list, strict=True):
            run[str(query_id)] = {
                str(hit["corpus_id"]): float(hit["score"]) for hit in hits
            }
        table = self._scored(self.judgments, run)
        self._values.append(table)
        return {
            **metrics,
            **{name: {"": value} for name, value in self._aggregates(table).items()},
        }


class LexiRecallEvaluator(_Retrieval, InformationRetrievalEvaluator):  # type: ignore[misc]
    """Evaluate a model as ``InformationRetrievalEvaluator`` does, with any measures beside its own.

    Give it to a trainer as ``evaluator``, or call it with a model. The metrics are those of
    sentence-transformers and one for each measure, such as ``dev_cosine_LexiRecall``. Documents of
    equal scores stand in trec_eval's order for our measures (ids descending), in
    sentence-transformers' (ascending) for its own.

    Args:
        queries, corpus: texts by id.
        relevant_docs: for each query its relevant documents: a set of ids, or a dict of ids to
            grades.
        measures: measures or strings, as in ``evaluate``. Rankings are as deep as the largest k of
            sentence-transformers' options (``map_at_k``: 100) unless ``depth`` is larger.
        primary: the measure that selects the best model; by default the first one.
        depth: how deep rankings are at least.
        alpha: 1 - confidence of the intervals.
        options: anything else that ``InformationRetrievalEvaluator`` takes (``name``,
            ``score_functions``, ...).

    Attributes:
        primary_metric: name of the metric that selects the best model, known after the first call.
        per_query: values of the last call, a row per score function and query (index
            ``score_function``, ``query_id``), a column per measure.
        intervals: means of the last call with studentised bootstrap intervals: ``score_function``,
            ``measure``, ``mean``, ``ci_low``, ``ci_high``.

    Raises:
        ValueError: an unknown measure, a ``primary`` that is none of them, or no query with
            relevant documents.
    """


if SparseInformationRetrievalEvaluator is not None:
    __all__ += ["LexiRecallSparseEvaluator"]

    class LexiRecallSparseEvaluator(_Retrieval, SparseInformationRetrievalEvaluator):  # type: ignore[misc]
        """Evaluate sparse encoders by any measures, as sentence-transformers' own evaluator.

        Args:
            queries, corpus, relevant_docs, measures, primary, depth, alpha, options: as in
                ``LexiRecallEvaluator``, and so are the attributes.
        """


class LexiRecallRerankingEvaluator(_Measured, CrossEncoderRerankingEvaluator):  # type: ignore[misc]
    """Evaluate a reranker as ``CrossEncoderRerankingEvaluator`` does, with any measures.

    Give it to a trainer as ``evaluator``, or call it with a cross-encoder. The metrics are those of
    sentence-transformers and one for each measure, such as ``dev_LexiRecall``; its file of results
    has them, too. A sample is a query, called by its number; a positive document that is not among
    the ``documents`` is relevant, and not retrieved unless ``always_rerank_positives`` is set.

    Args:
        samples: as ``CrossEncoderRerankingEvaluator`` takes them: dicts of ``query``, ``positive``
            and ``negative`` or ``documents``.
        measures, primary, alpha: as in ``LexiRecallEvaluator``, and so are the attributes
            ``primary_metric``, ``per_query`` (a row per sample) and ``intervals``.
        options: anything else that ``CrossEncoderRerankingEvaluator`` takes (``name``, ``at_k``,
            ...).

    Raises:
        ValueError: an unknown measure, a ``primary`` that is none of them, or no samples.
    """

    @entry
    def __init__(
        self,
        samples: Sequence[Mapping[str, Any]] | Mapping[Any, Mapping[str, Any]],
        measures: MeasuresLike = ("LR", "TSE", "nDCG@10"),
        *,
        primary: str | None = None,
        alpha: float = 0.05,
        **options: Any,
    ) -> None:
        self._take(measures, primary, alpha)
        if not samples:
            raise ValueError("there are no samples")
        super().__init__(samples, **options)
        self.primary_metric = self._prefix + self.primary

    def __call__(
        self,
        model: Any,
        output_path: str | None = None,
        epoch: int = -1,
        steps: int = -1,
        *args: Any,
        **options: Any,
    ) -> dict[str, float]:
        """Evaluate a cross-encoder, and return its metrics by name."""
        recorded = _Recorded(model)
        metrics: dict[str, float] = super().__call__(
            recorded, output_path, epoch, steps, *args, **options
        )
        qrels: dict[str, dict[str, int]] = {}
        run: dict[str, dict[str, float]] = {}
        for number, sample in enumerate(self.samples):
            positive = sample["positive"]
            if isinstance(positive, str):
                positive = [positive]
            positives = dict.fromkeys(positive, 1)
            others = sample.get("documents") or sample.get("negative") or []
            ids = {
                text: f"{i}"
                for i, text in enumerate(dict.fromkeys([*positives, *others]))
            }
            qrels[f"{number}"] = {
                name: positives.get(text, 0) for text, name in ids.items()
            }
            of_query = recorded.scores.get(sample["query"], {})
            reranked: Iterable[str] = ids
            if sample.get("documents") and not self.always_rerank_positives:
                reranked = dict.fromkeys(others)
            run[f"{number}"] = {
                ids[text]: of_query[text] for text in reranked if text in of_query
            }
        self.per_query = self._scored(Judgments.from_qrels(qrels), run).loc[list(qrels)]
        self.intervals = self._intervals(self.per_query)
        ours = self._aggregates(self.per_query)
        self._write(output_path, ours)
        metrics |= {f"{self._prefix}{name}": value for name, value in ours.items()}
        self.store_metrics_in_model_card_data(model, metrics, epoch, steps)
        return metrics


class _Recorded:
    """A model that keeps what it predicts: the score of each text, by query."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self.scores: dict[str, dict[str, float]] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def predict(self, pairs: Sequence[Sequence[str]], **options: Any) -> Any:
        predicted = self._model.predict(pairs, **options)
        for (query, text), score in zip(pairs, predicted.tolist(), strict=True):
            self.scores.setdefault(query, {})[text] = score
        return predicted
