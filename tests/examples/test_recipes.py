"""Recipes for frameworks give the values of ``scorer``, where the frameworks are installed; no model is asked."""

from __future__ import annotations

import asyncio
import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

import ir_lexirecall as irl
from ir_lexirecall.io.values import read_values

RECIPES = Path(__file__).parents[2] / "examples" / "recipes"
RANKING, RELEVANT = ["a", "x", "b", "a"], ["a", "b"]
VALUE = irl.scorer("LR@100")(["a", "x", "b"], RELEVANT)


def recipe(name: str, *needs: str) -> Any:
    """The recipe's module; the test is skipped where its framework is not installed or does not run."""
    for package in needs:
        pytest.importorskip(
            package,
            reason=f"{package} is not installed, or cannot be imported",
            exc_type=ImportError,
        )
    spec = importlib.util.spec_from_file_location(name, RECIPES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def test_llama_index() -> None:
    module = recipe("llama_index_metric", "llama_index.core.evaluation")
    metric = module.LexicographicRecall()
    assert (
        metric.compute(query="q", expected_ids=RELEVANT, retrieved_ids=RANKING).score
        == VALUE
    )
    assert module.METRIC_REGISTRY["lexicographic_recall"] is module.LexicographicRecall


def test_haystack() -> None:
    module = recipe("haystack_component", "haystack")
    from haystack import Document, Pipeline

    pipeline = Pipeline()
    pipeline.add_component("lr", module.RankingEvaluator("LR@100"))
    truth, found = (
        [[Document(id=i, content=i) for i in ids]] * 2 for ids in (RELEVANT, RANKING)
    )
    result = pipeline.run(
        {"lr": {"ground_truth_documents": truth, "retrieved_documents": found}}
    )["lr"]
    assert result == {
        "score": pytest.approx(VALUE),
        "individual_scores": [VALUE, VALUE],
    }
    assert (
        module.RankingEvaluator.from_dict(
            module.RankingEvaluator("AP").to_dict()
        ).measure
        == "AP"
    )


def test_ragas() -> None:
    module = recipe("ragas_metric", "ragas.metrics.base")
    from ragas.dataset_schema import SingleTurnSample

    sample = SingleTurnSample(
        retrieved_context_ids=RANKING, reference_context_ids=RELEVANT
    )
    assert asyncio.run(module.RankedContexts().single_turn_ascore(sample)) == VALUE
    assert (
        asyncio.run(module.RankedContexts(measure="RR").single_turn_ascore(sample)) == 1
    )


def test_cornac(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # Cornac writes a log beside
    module = recipe("cornac_metric", "cornac")
    import cornac
    import numpy as np

    assert (
        module.Ranked("RR").compute(
            gt_pos=np.array([7, 3]), pd_rank=np.array([1, 3, 7])
        )
        == 0.5
    )
    assert not module.Ranked("SL3").higher_better
    ratings = [
        (f"u{u}", f"i{i}", 1.0)
        for u in range(12)
        for i in range(9)
        if (u * i + u + i) % 3
    ]
    split = cornac.eval_methods.RatioSplit(
        ratings, test_size=0.3, exclude_unknowns=True, seed=1
    )
    metrics = [module.Ranked("RR"), cornac.metrics.MRR()]
    models = [cornac.models.MostPop(), cornac.models.MostPop(name="again")]
    experiment = cornac.Experiment(split, models, metrics, user_based=True)
    experiment.run()
    tables = {
        result.model_name: result.metric_user_results for result in experiment.result
    }
    values = read_values(tables, measures=["RR", "MRR"])
    assert (values.runs, len(values.query_ids) > 5) == (["MostPop", "again"], True)
    assert values.values["RR"].tolist() == values.values["MRR"].tolist()


@pytest.mark.parametrize("kind", ["dict", "pandas", "polars"])
def test_replay(kind: str) -> None:
    module = recipe("replay_metric", "replay.metrics")
    import pandas as pd
    import polars as pl
    from replay.metrics import MRR, PerUser

    class First(module.LexicographicRecall):  # type: ignore[misc, name-defined]
        score = irl.scorer("RR")

    rows = [
        (user, item, float(score))
        for user in (1, 2)
        for score, item in enumerate([user + 5, 3, 9, 1])
    ]
    truth = [(1, 3), (1, 1), (2, 9), (3, 4)]
    found: Any = pd.DataFrame(rows, columns=["query_id", "item_id", "rating"])
    right: Any = pd.DataFrame(truth, columns=["query_id", "item_id"])
    if kind == "polars":
        found, right = pl.from_pandas(found), pl.from_pandas(right)
    if kind == "dict":
        found = {
            user: [(item, score) for u, item, score in rows if u == user]
            for user in (1, 2)
        }
        right = {1: [3, 1], 2: [9], 3: [4]}
    assert First([2, 4])(found, right) == pytest.approx(
        {f"First@{k}": MRR([2, 4])(found, right)[f"MRR@{k}"] for k in (2, 4)}
    )
    by_user = module.LexicographicRecall([4], mode=PerUser())(found, right)
    assert by_user["LexicographicRecall-PerUser@4"] == {
        1: irl.scorer("LR")([1, 9, 3, 6], [3, 1]),
        2: irl.scorer("LR")([1, 9, 3, 7], [9]),
        3: 0.0,
    }
    values = read_values({"one": by_user, "two": by_user})
    assert (values.query_ids, values.measures) == (
        ["1", "2", "3"],
        ["LexicographicRecall-PerUser@4"],
    )


def test_mteb(tmp_path: Path) -> None:
    module = recipe("mteb_task", "mteb", "mteb.mocks.mock_tasks.retrieval")
    import mteb
    from mteb.mocks.mock_tasks.retrieval import MockRetrievalTask

    task = module.with_measures(MockRetrievalTask, ["nDCG@10", "LR@100"])()
    model = mteb.get_model("mteb/baseline-random-encoder")
    result = mteb.evaluate(
        model, [task], cache=None, prediction_folder=tmp_path, show_progress_bar=False
    )
    [scores] = next(iter(result.task_results[0].scores.values()))
    assert scores["nDCG@10"] == pytest.approx(
        scores["ndcg_at_10"], abs=1e-5
    )  # theirs is rounded
    assert 0 < scores["LR@100"] <= 1

    class ById(type(task)):  # type: ignore[misc]
        ignore_identical_ids = True

    found = {"a": {"a": 2.0, "b": 1.0}}
    scores = ById().task_specific_scores(
        {}, {"a": {"b": 1}}, found, hf_split="test", hf_subset="default"
    )
    assert scores["nDCG@10"] == 1.0


@pytest.mark.parametrize("graded", [False, True])
def test_vespa(graded: bool) -> None:
    module = recipe("vespa_evaluator", "vespa.evaluation")
    from vespa.io import VespaQueryResponse

    class App:
        def query_many(self, bodies: list[dict[str, Any]], **_: Any) -> list[Any]:
            hits = {"one": ["x", "a", "b"], "two": ["c"]}
            return [
                VespaQueryResponse(
                    {
                        "root": {
                            "children": [
                                {"id": f"id:n:d::{doc}", "relevance": 9.0 - i}
                                for i, doc in enumerate(hits[body["q"]])
                            ]
                        }
                    },
                    200,
                    "",
                    {},
                )
                for body in bodies
            ]

    evaluator = module.RankedEvaluator(
        ["LR@100", "nDCG@10"],
        queries={"q1": "one", "q2": "two"},
        relevant_docs={"q1": {"a": 1.0, "b": 1.0, "z": 0.5}, "q2": {"d": 1.0}}
        if graded
        else {"q1": {"a", "b"}, "q2": {"d"}},
        vespa_query_fn=lambda text, k: {"q": text},
        app=App(),
    )
    result = evaluator.run()
    assert evaluator.rankings == {"q1": ["x", "a", "b"], "q2": ["c"]}
    assert evaluator.per_query["LR@100"]["q1"] == irl.scorer("LR@100")(
        ["x", "a", "b"], ["a", "b"]
    )
    assert result["LR@100"] == evaluator.per_query["LR@100"]["q1"] / 2
    assert result["nDCG@10"] == pytest.approx(result["ndcg@10"])


def test_every_recipe_is_tried() -> None:
    tried = Path(__file__).read_text(encoding="utf-8")
    assert all(f'recipe("{path.stem}"' in tried for path in RECIPES.glob("*.py"))
