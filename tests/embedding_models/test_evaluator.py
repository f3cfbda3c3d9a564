"""The evaluator for training, on a tiny model made on the spot."""

from __future__ import annotations

import copy
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


def test_training_selects_the_best_model_by_it(model: Any, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    pytest.importorskip("accelerate")  # the trainer needs it
    pairs = [(QUERIES[q], CORPUS[d]) for q, docs in GRADES.items() for d, grade in docs.items() if grade > 0]
    anchors, positives = (list(texts) for texts in zip(*pairs, strict=True))
    tested, trained = evaluator(primary="LR"), copy.deepcopy(model)
    before = tested(trained)["dev_cosine_LR"]
    arguments = sentence_transformers.SentenceTransformerTrainingArguments(
        output_dir=str(tmp_path),
        num_train_epochs=3,
        per_device_train_batch_size=16,
        learning_rate=0.05,
        eval_strategy="epoch",
        save_strategy="epoch",
        load_best_model_at_end=True,
        metric_for_best_model=f"eval_{tested.primary_metric}",
        greater_is_better=True,
        use_cpu=True,
        report_to=[],
        disable_tqdm=True,
        seed=1,
    )
    trainer = sentence_transformers.SentenceTransformerTrainer(
        trained,
        args=arguments,
        train_dataset=datasets.Dataset.from_dict({"anchor": anchors, "positive": positives}),
        loss=_loss(trained),
        evaluator=tested,
    )
    trainer.train()
    history = [log["eval_dev_cosine_LR"] for log in trainer.state.log_history if "eval_dev_cosine_LR" in log]
    assert len(history) == 3
    assert max(history) > before
    assert trainer.state.best_metric == max(history)
    assert tested(trained)["dev_cosine_LR"] == pytest.approx(max(history))  # the best model was loaded again
    row = tested.intervals.set_index("measure").loc["LR"]
    assert row["ci_low"] <= max(history) <= row["ci_high"]


def _loss(model: Any) -> Any:
    try:
        from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss
    except ModuleNotFoundError:  # before version 6
        from sentence_transformers.losses import MultipleNegativesRankingLoss
    return MultipleNegativesRankingLoss(model)
