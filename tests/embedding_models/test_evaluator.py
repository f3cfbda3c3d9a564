"""The evaluator for training, on a tiny model made on the spot."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

import ir_lexirecall as irl
from ir_lexirecall import demo

sentence_transformers = pytest.importorskip("sentence_transformers")

QUERIES = dict(demo.queries()[["query_id", "text"]].itertuples(index=False))
CORPUS = {doc_id: f"{title} {text}" for doc_id, title, text in demo.docs().itertuples(index=False)}
GRADES = {q: rows.groupby("doc_id")["relevance"].max().to_dict() for q, rows in demo.qrels().groupby("query_id")}


@pytest.fixture(scope="module")
def model() -> Any:
    """A static embedding: a random vector per word."""
    import torch
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace

    modules = pytest.importorskip("sentence_transformers.sentence_transformer.modules")
    words = sorted({word for text in [*QUERIES.values(), *CORPUS.values()] for word in text.split()})
    tokenizer = Tokenizer(WordLevel({word: i for i, word in enumerate(["[UNK]", *words])}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    torch.manual_seed(0)
    embedding = modules.StaticEmbedding(tokenizer, embedding_dim=64)
    return sentence_transformers.SentenceTransformer(modules=[embedding], device="cpu")


def evaluator(**options: Any) -> Any:
    from sentence_transformers_lexirecall import LexiRecallEvaluator

    return LexiRecallEvaluator(QUERIES, CORPUS, GRADES, ["LR", "nDCG@10"], name="dev", **options)


def test_its_values_are_those_of_the_predictions(model: Any, tmp_path: Path) -> None:
    tested = evaluator(write_predictions=True)
    metrics = tested(model, output_path=str(tmp_path))
    predictions = next(tmp_path.glob("*_predictions_cosine.jsonl"))
    values = irl.evaluate(["LR", "nDCG@10"], GRADES, predictions)
    assert tested.per_query.loc["cosine"].equals(values)
    assert metrics["dev_cosine_LR"] == pytest.approx(values["LR"].mean())
    assert "dev_cosine_ndcg@10" in metrics
    row = tested.intervals.set_index("measure").loc["LR"]
    assert row["ci_low"] < row["mean"] < row["ci_high"]


def test_the_primary_metric_is_one_of_the_metrics(model: Any) -> None:
    tested = evaluator()
    assert tested(model)[tested.primary_metric] == pytest.approx(tested.per_query["LR"].mean())
    assert tested.primary_metric == "dev_cosine_LR"
    tested = evaluator(primary="nDCG@10")
    for _ in range(2):
        metrics = tested(model, epoch=1, steps=2)
        assert tested.primary_metric == "dev_cosine_nDCG@10"
        assert all(math.isfinite(value) for value in metrics.values())


def test_bad_arguments_are_named() -> None:
    from sentence_transformers_lexirecall import LexiRecallEvaluator

    with pytest.raises(ValueError, match="unknown primary 'AP'; choose from LR, nDCG@10"):
        evaluator(primary="AP")
    with pytest.raises(ValueError, match="no query has a relevant document"):
        LexiRecallEvaluator(QUERIES, CORPUS, {"q01": set()}, ["LR"])
    with pytest.raises(ValueError, match="nonsense"):
        LexiRecallEvaluator(QUERIES, CORPUS, GRADES, ["nonsense"])
