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

RECIPES = Path(__file__).parents[1] / "examples" / "recipes"
RANKING, RELEVANT = ["a", "x", "b", "a"], ["a", "b"]
VALUE = irl.scorer("LR@100")(["a", "x", "b"], RELEVANT)


def recipe(name: str, *needs: str) -> Any:
    """The recipe's module; the test is skipped where its framework is not installed or does not run."""
    for package in needs:
        pytest.importorskip(package, reason=f"{package} is not installed, or cannot be imported", exc_type=ImportError)
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
    assert metric.compute(query="q", expected_ids=RELEVANT, retrieved_ids=RANKING).score == VALUE
    assert module.METRIC_REGISTRY["lexicographic_recall"] is module.LexicographicRecall


def test_haystack() -> None:
    module = recipe("haystack_component", "haystack")
    from haystack import Document, Pipeline

    pipeline = Pipeline()
    pipeline.add_component("lr", module.RankingEvaluator("LR@100"))
    truth, found = ([[Document(id=i, content=i) for i in ids]] * 2 for ids in (RELEVANT, RANKING))
    result = pipeline.run({"lr": {"ground_truth_documents": truth, "retrieved_documents": found}})["lr"]
    assert result == {"score": pytest.approx(VALUE), "individual_scores": [VALUE, VALUE]}
    assert module.RankingEvaluator.from_dict(module.RankingEvaluator("AP").to_dict()).measure == "AP"


def test_ragas() -> None:
    module = recipe("ragas_metric", "ragas.metrics.base")
    from ragas.dataset_schema import SingleTurnSample

    sample = SingleTurnSample(retrieved_context_ids=RANKING, reference_context_ids=RELEVANT)
    assert asyncio.run(module.RankedContexts().single_turn_ascore(sample)) == VALUE
    assert asyncio.run(module.RankedContexts(measure="RR").single_turn_ascore(sample)) == 1


def test_cornac() -> None:
    module = recipe("cornac_metric", "cornac")
    import cornac
    import numpy as np

    assert module.Ranked("RR").compute(gt_pos=np.array([7, 3]), pd_rank=np.array([1, 3, 7])) == 0.5
    assert not module.Ranked("SL3").higher_better
    ratings = [(f"u{u}", f"i{i}", 1.0) for u in range(12) for i in range(9) if (u * i + u + i) % 3]
    split = cornac.eval_methods.RatioSplit(ratings, test_size=0.3, exclude_unknowns=True, seed=1)
    metrics = [module.Ranked("RR"), cornac.metrics.MRR()]
    models = [cornac.models.MostPop(), cornac.models.MostPop(name="again")]
    experiment = cornac.Experiment(split, models, metrics, user_based=True)
    experiment.run()
    tables = {result.model_name: result.metric_user_results for result in experiment.result}
    values = read_values(tables, measures=["RR", "MRR"])
    assert (values.runs, len(values.query_ids) > 5) == (["MostPop", "again"], True)
    assert values.values["RR"].tolist() == values.values["MRR"].tolist()


def test_every_recipe_is_tried() -> None:
    tried = Path(__file__).read_text(encoding="utf-8")
    assert all(f'recipe("{path.stem}"' in tried for path in RECIPES.glob("*.py"))
