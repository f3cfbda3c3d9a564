"""``LexiRecallRerankingEvaluator``: sentence-transformers' ``CrossEncoderRerankingEvaluator`` with any measures, per query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from sentence_transformers.cross_encoder.evaluation import CrossEncoderRerankingEvaluator

from ir_lexirecall._util.errors import check_number, entry
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.measures.parsing import MeasuresLike
from sentence_transformers_lexirecall import scores


class LexiRecallRerankingEvaluator(CrossEncoderRerankingEvaluator):  # type: ignore[misc]
    """``CrossEncoderRerankingEvaluator`` with any measures of this library and of ir_measures beside its own.

    Give it to a trainer as ``evaluator``, or call it with a cross-encoder. The metrics are those of sentence-transformers and one
    for each measure, such as ``dev_LexiRecall``; its file of results has them, too. A sample is a query, called by its number; a
    positive document that is not among the ``documents`` is relevant, and not retrieved unless ``always_rerank_positives`` is set.

    Args:
        samples: as ``CrossEncoderRerankingEvaluator`` takes them: dicts of ``query``, ``positive`` and ``negative`` or
            ``documents``.
        measures, primary, alpha: as in ``LexiRecallEvaluator``, and so are the attributes ``primary_metric``, ``per_query`` (a
            row per sample) and ``intervals``.
        options: anything else that ``CrossEncoderRerankingEvaluator`` takes (``name``, ``at_k``, ...).

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
        self.measures, self.primary = scores.measures_and_primary(measures, primary)
        self.alpha = check_number("alpha", alpha, above=0, below=1)
        if not samples:
            raise ValueError("there are no samples")
        super().__init__(samples, **options)
        self.per_query = pd.DataFrame()
        self.intervals = pd.DataFrame()
        self.primary_metric = self._prefix + self.primary

    @property
    def _prefix(self) -> str:
        return f"{self.name}_" if self.name else ""

    def __call__(
        self, model: Any, output_path: str | None = None, epoch: int = -1, steps: int = -1, *args: Any, **options: Any
    ) -> dict[str, float]:
        recorded = _Recorded(model)
        metrics: dict[str, float] = super().__call__(recorded, output_path, epoch, steps, *args, **options)
        qrels: dict[str, dict[str, int]] = {}
        run: dict[str, dict[str, float]] = {}
        for place, sample in enumerate(self.samples):
            positives = dict.fromkeys(_texts(sample["positive"]), 1)
            others = _texts(sample.get("documents") or sample.get("negative") or [])
            ids = {text: f"{i}" for i, text in enumerate(dict.fromkeys([*positives, *others]))}
            qrels[f"{place}"] = {name: positives.get(text, 0) for text, name in ids.items()}
            of_query = recorded.scores.get(sample["query"], {})
            reranked = ids if self.always_rerank_positives or not sample.get("documents") else dict.fromkeys(others)
            run[f"{place}"] = {ids[text]: of_query[text] for text in reranked if text in of_query}
        judgments = Judgments.from_qrels(qrels)
        self.per_query = scores.per_query(self.measures, judgments, run).loc[list(qrels)]
        self.intervals = scores.intervals(self.per_query, self.alpha)
        ours = scores.aggregates(self.measures, self.per_query)
        if output_path is not None and self.write_csv:
            scores.add_to_last_row(Path(output_path) / self.csv_file, ours)
        self.primary_metric = self._prefix + self.primary
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


def _texts(texts: str | Sequence[str]) -> list[str]:
    return [texts] if isinstance(texts, str) else list(texts)
