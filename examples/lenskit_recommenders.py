"""
Recommenders in LensKit, compared user by user
==============================================

Which recommender serves the user who wants to see everything relevant, and on which users does it win? Trains three of
LensKit's models on generated interactions, measures their recommendations with LensKit's collector of measurements, its own
nDCG and recall beside measures of this library, and compares them by exact preferences between their lists.

Needs LensKit: ``pip install -e '.[lenskit,compare]'`` in a checkout.
"""

import numpy as np
import pandas as pd
from lenskit import topn_pipeline
from lenskit.als import ImplicitMFScorer
from lenskit.basic import PopScorer
from lenskit.batch import recommend
from lenskit.data import Dataset, ItemListCollection, from_interactions_df
from lenskit.knn import ItemKNNScorer
from lenskit.metrics import NDCG, MeasurementCollector, Recall
from lenskit.splitting import SampleN, TTSplit, sample_users
from lenskit.training import TrainingOptions
from lenskit_lexirecall import TSE, LexiRecall, Metric, compare

from ir_lexirecall.comparison import Comparison

MODELS = {
    "popularity": PopScorer(),
    "item-kNN": ItemKNNScorer(max_nbrs=20, feedback="implicit"),
    "ALS": ImplicitMFScorer(embedding_size=8, epochs=10),
}


def interactions(users: int, items: int, rng: np.random.Generator) -> Dataset:
    """Who clicked what: tastes and items as latent factors, beside the items' popularity."""
    taste, character = rng.normal(size=(users, 6)), rng.normal(size=(items, 6))
    liking = (
        taste @ character.T + rng.normal(size=items) + rng.gumbel(size=(users, items))
    )
    clicked = np.argsort(-liking, axis=1)[:, :30]
    user_id = np.repeat(np.arange(users), clicked.shape[1])
    return from_interactions_df(
        pd.DataFrame({"user_id": user_id, "item_id": clicked.ravel()})
    )


def recommendations(split: TTSplit, n: int, seed: int) -> ItemListCollection:
    """The lists of all models in one collection, keyed by model and user."""
    recs = ItemListCollection.empty(["model", "user_id"])
    for name, scorer in MODELS.items():
        pipeline = topn_pipeline(scorer, n=n, name=name)
        pipeline.train(split.train, TrainingOptions(rng=seed))
        recs.add_from(recommend(pipeline, split.test, n_jobs=1), model=name)
    return recs


def measured(
    recs: ItemListCollection, test: ItemListCollection, metrics: list[object]
) -> pd.DataFrame:
    """The value of each metric for each list."""
    collector = MeasurementCollector()
    for metric in metrics:
        collector.add_metric(metric)
    measure = (
        getattr(collector, "add_list_measurement", None) or collector.measure_list
    )  # before LensKit 2026
    for key, items in recs:
        measure(items, test.lookup_projected(key), **key._asdict())
    return collector.list_metrics()


def main(users: int = 600, items: int = 400, n: int = 100, seed: int = 1) -> Comparison:
    rng = np.random.default_rng(seed)
    data = interactions(users, items, rng)
    split = sample_users(data, users // 3, SampleN(8, rng=rng), rng=rng)
    recs = recommendations(split, n, seed)

    tse = TSE(n, exposure="nDCG", n_items=items)
    metrics = [
        NDCG(n),
        Recall(n),
        tse,
        LexiRecall(n),
        Metric("CWL_ERR10(max_rel=1)"),
    ]  # any measure is a metric
    table = measured(recs, split.test, metrics)
    print(
        f"Means over {len(split.test)} users, 8 test items each, {n} items recommended:\n"
    )
    print(table.groupby("model", sort=False).mean().round(4).to_string())

    result = compare(split.test, recs)
    print("\nExact preferences between the lists of each user:\n")
    columns = [
        "run_a",
        "run_b",
        "wins",
        "losses",
        "ties",
        "difference",
        "p_corrected",
        "verdict",
    ]
    print(result.table()[columns].round(4).to_string(index=False))
    print("\nWhat decided between ALS and item-kNN for the first users:\n")
    print(result.explain("ALS", "item-kNN").head().to_string(index=False))
    for note in result.diagnostics:
        print(f"- {note}")
    return result


if __name__ == "__main__":
    main()
