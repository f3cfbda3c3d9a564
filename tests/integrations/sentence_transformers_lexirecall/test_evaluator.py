"""The evaluators for training, on tiny models made on the spot."""

from __future__ import annotations

import copy
import inspect
import math
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ir_lexirecall as irl
from ir_lexirecall import demo

sentence_transformers = pytest.importorskip("sentence_transformers")

QUERIES = dict(demo.queries()[["query_id", "text"]].itertuples(index=False))
CORPUS = {
    doc_id: f"{title} {text}"
    for doc_id, title, text in demo.docs().itertuples(index=False)
}
GRADES = {
    q: rows.groupby("doc_id")["relevance"].max().to_dict()
    for q, rows in demo.qrels().groupby("query_id")
}


@pytest.fixture(scope="module")
def model() -> Any:
    """A static embedding: a random vector per word."""
    import torch

    torch.manual_seed(0)
    embedding = static_embedding()(words_as_tokens(), embedding_dim=64)
    return sentence_transformers.SentenceTransformer(modules=[embedding], device="cpu")


def words_as_tokens() -> Any:
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace

    words = sorted(
        {
            word
            for text in [*QUERIES.values(), *CORPUS.values()]
            for word in text.split()
        }
    )
    tokenizer = Tokenizer(
        WordLevel(
            {w: i for i, w in enumerate(["[PAD]", "[UNK]", *words])}, unk_token="[UNK]"
        )
    )
    tokenizer.pre_tokenizer = Whitespace()
    return tokenizer


def static_embedding() -> Any:
    try:
        from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    except ModuleNotFoundError:  # before version 6
        from sentence_transformers.models import StaticEmbedding
    return StaticEmbedding


def evaluator(**options: Any) -> Any:
    from sentence_transformers_lexirecall import LexiRecallEvaluator

    return LexiRecallEvaluator(
        QUERIES, CORPUS, GRADES, ["LR", "nDCG@10"], name="dev", **options
    )


def test_its_values_are_those_of_the_rankings(model: Any) -> None:
    tested = evaluator(depth=len(CORPUS))
    metrics = tested(model)
    vectors = {
        name: model.encode(list(texts.values()))
        for name, texts in (("q", QUERIES), ("d", CORPUS))
    }
    unit = {
        name: v / np.linalg.norm(v, axis=1, keepdims=True)
        for name, v in vectors.items()
    }
    cosine = unit["q"] @ unit["d"].T
    run = {
        q: dict(zip(CORPUS, map(float, row), strict=True))
        for q, row in zip(QUERIES, cosine, strict=True)
    }
    values = irl.evaluate(["LR", "nDCG@10"], GRADES, run)
    pd.testing.assert_frame_equal(tested.per_query.loc["cosine"], values)
    assert metrics["dev_cosine_LR"] == pytest.approx(values["LR"].mean())


def test_its_values_are_those_of_the_predictions(model: Any, tmp_path: Path) -> None:
    from sentence_transformers_lexirecall import InformationRetrievalEvaluator

    if (
        "write_predictions"
        not in inspect.signature(InformationRetrievalEvaluator).parameters
    ):
        pytest.skip("this version of sentence-transformers writes no predictions")
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
    assert tested(model)[tested.primary_metric] == pytest.approx(
        tested.per_query["LR"].mean()
    )
    assert tested.primary_metric == "dev_cosine_LR"
    tested = evaluator(primary="nDCG@10")
    for _ in range(2):
        metrics = tested(model, epoch=1, steps=2)
        assert tested.primary_metric == "dev_cosine_nDCG@10"
        assert all(math.isfinite(value) for value in metrics.values())


def test_the_file_of_results_has_the_measures(model: Any, tmp_path: Path) -> None:
    for epoch in range(2):
        tested = evaluator()
        metrics = tested(model, str(tmp_path), epoch=epoch, steps=7)
    table = pd.read_csv(
        tmp_path / "Information-Retrieval_evaluation_dev_results.csv",
        float_precision="round_trip",
    )
    assert table["epoch"].tolist() == [0, 1]
    assert table["cosine-LR"].tolist() == [metrics["dev_cosine_LR"]] * 2
    assert table["cosine-nDCG@10"].tolist() == [metrics["dev_cosine_nDCG@10"]] * 2
    assert table["cosine-NDCG@10"].tolist() == pytest.approx(
        [metrics["dev_cosine_ndcg@10"]] * 2
    )  # its own
    quiet = evaluator(write_csv=False)
    quiet(model, str(tmp_path))
    assert len(pd.read_csv(tmp_path / quiet.csv_file)) == 2


def test_bad_arguments_are_named() -> None:
    from sentence_transformers_lexirecall import LexiRecallEvaluator

    with pytest.raises(
        ValueError,
        match="LexiRecallEvaluator: unknown primary 'AP'; choose from LR, nDCG@10",
    ):
        evaluator(primary="AP")
    with pytest.raises(ValueError, match="no query has a relevant document"):
        LexiRecallEvaluator(QUERIES, CORPUS, {"q01": set()}, ["LR"])
    with pytest.raises(ValueError, match="nonsense"):
        LexiRecallEvaluator(QUERIES, CORPUS, GRADES, ["nonsense"])


def test_training_selects_the_best_model_by_it(model: Any, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    pytest.importorskip("accelerate")  # the trainer needs it
    pairs = [
        (QUERIES[q], CORPUS[d])
        for q, docs in GRADES.items()
        for d, grade in docs.items()
        if grade > 0
    ]
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
        train_dataset=datasets.Dataset.from_dict(
            {"anchor": anchors, "positive": positives}
        ),
        loss=_loss(trained),
        evaluator=tested,
    )
    trainer.train()
    history = [
        log["eval_dev_cosine_LR"]
        for log in trainer.state.log_history
        if "eval_dev_cosine_LR" in log
    ]
    assert len(history) == 3
    assert max(history) > before
    assert trainer.state.best_metric == max(history)
    assert tested(trained)["dev_cosine_LR"] == pytest.approx(
        max(history)
    )  # the best model was loaded again
    row = tested.intervals.set_index("measure").loc["LR"]
    assert row["ci_low"] <= max(history) <= row["ci_high"]


def _loss(model: Any) -> Any:
    try:
        from sentence_transformers.sentence_transformer.losses import (
            MultipleNegativesRankingLoss,
        )
    except ModuleNotFoundError:  # before version 6
        from sentence_transformers.losses import MultipleNegativesRankingLoss
    return MultipleNegativesRankingLoss(model)


# -- sparse encoders -------------------------------------------------------------------------------


def test_sparse_encoders(tmp_path: Path) -> None:
    pytest.importorskip(
        "sentence_transformers.sparse_encoder",
        reason="sentence-transformers 5 has sparse encoders",
    )
    import torch
    from sentence_transformers import SparseEncoder
    from sentence_transformers.sparse_encoder.modules import SparseStaticEmbedding
    from sentence_transformers_lexirecall import LexiRecallSparseEvaluator
    from transformers import PreTrainedTokenizerFast

    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=words_as_tokens(), unk_token="[UNK]", pad_token="[PAD]"
    )
    weight = torch.rand(
        len(tokenizer.get_vocab()), generator=torch.Generator().manual_seed(0)
    )
    encoder = SparseEncoder(
        modules=[SparseStaticEmbedding(tokenizer, weight=weight)], device="cpu"
    )
    tested = LexiRecallSparseEvaluator(
        QUERIES, CORPUS, GRADES, ["LR", "nDCG@10"], name="dev", depth=len(CORPUS)
    )
    metrics = tested(encoder, str(tmp_path))
    scores = encoder.similarity(
        encoder.encode_query(list(QUERIES.values())),
        encoder.encode_document(list(CORPUS.values())),
    )
    rows = zip(QUERIES, scores.tolist(), strict=True)
    values = irl.evaluate(
        ["LR", "nDCG@10"],
        GRADES,
        {q: dict(zip(CORPUS, row, strict=True)) for q, row in rows},
    )
    pd.testing.assert_frame_equal(tested.per_query.loc["dot"], values)
    assert metrics["dev_dot_LR"] == pytest.approx(values["LR"].mean())
    assert metrics["dev_avg_flops"] > 0  # its own
    table = pd.read_csv(tmp_path / tested.csv_file, float_precision="round_trip")
    assert table["dot-LR"].tolist() == [metrics["dev_dot_LR"]]
    assert table["avg_flops"].tolist() == pytest.approx([metrics["dev_avg_flops"]])


# -- cross-encoders --------------------------------------------------------------------------------


class Words:
    """In a cross-encoder's place: a pair scores by the words that it shares."""

    class Card:
        def set_evaluation_metrics(self, *args: Any, **options: Any) -> None:
            self.metrics = args[1] if len(args) > 1 else options

    def __init__(self) -> None:
        self.model_card_data = self.Card()

    def predict(self, pairs: Any, **options: Any) -> Any:
        return np.array([score(query, text) for query, text in pairs])


def score(query: str, text: str) -> float:
    words = set(text.lower().split())
    return (
        sum(word in words for word in query.lower().split())
        + zlib.crc32(text.encode()) / 2**33
    )  # no two tie


def samples(kind: str, missing: bool = False) -> list[dict[str, Any]]:
    made = []
    for q, grades in GRADES.items():
        positive = [CORPUS[d] for d, grade in grades.items() if grade > 0]
        others = [text for d, text in CORPUS.items() if grades.get(d, 0) <= 0]
        documents = [*others, *positive[missing:]]
        made.append(
            {
                "query": QUERIES[q],
                "positive": positive,
                kind: others if kind == "negative" else documents,
            }
        )
    return made


@pytest.mark.parametrize(
    ("kind", "options", "missing"),
    [
        ("negative", {}, False),
        ("documents", {}, True),
        ("documents", {"always_rerank_positives": False}, True),
        ("documents", {"always_rerank_positives": False}, False),
    ],
)
def test_cross_encoders(
    kind: str, options: dict[str, Any], missing: bool, tmp_path: Path
) -> None:
    from sentence_transformers_lexirecall import LexiRecallRerankingEvaluator

    made, model = samples(kind, missing), Words()
    tested = LexiRecallRerankingEvaluator(
        made, ["LR", "AP", "nDCG@10"], name="dev", **options
    )
    assert tested.primary_metric == "dev_LR"
    metrics = tested(model, str(tmp_path))
    qrels = {
        f"{i}": dict.fromkeys(sample["positive"], 1) for i, sample in enumerate(made)
    }
    run = {}
    for i, sample in enumerate(made):
        texts = set(sample[kind]) | (set() if options else set(sample["positive"]))
        run[f"{i}"] = {text: score(sample["query"], text) for text in texts}
    values = irl.evaluate(["LR", "AP", "nDCG@10"], qrels, run).loc[list(qrels)]
    pd.testing.assert_frame_equal(tested.per_query, values)
    for name in values:
        assert metrics[f"dev_{name}"] == pytest.approx(values[name].mean())
    assert tested.intervals["measure"].tolist() == ["LR", "AP", "nDCG@10"]
    assert metrics[tested.primary_metric] == metrics["dev_LR"]
    if not options:  # where all positives are ranked, its own AP is ours
        assert metrics["dev_map"] == pytest.approx(metrics["dev_AP"])
    table = pd.read_csv(tmp_path / tested.csv_file, float_precision="round_trip")
    assert table[["LR", "AP"]].iloc[0].tolist() == [
        metrics["dev_LR"],
        metrics["dev_AP"],
    ]


def test_without_the_extra_the_error_says_what_to_install() -> None:
    code = "import sys; sys.modules['sentence_transformers'] = None; import sentence_transformers_lexirecall"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    expected = "sentence_transformers_lexirecall needs sentence-transformers: install it, or the extra 'sentence-transformers'"
    assert expected in done.stderr
