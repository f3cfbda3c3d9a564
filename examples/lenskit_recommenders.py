"""
Recommenders in LensKit, compared user by user
==============================================

Which recommender serves the user who wants to see everything relevant, and on which users does it win? Trains three of
LensKit's models on generated interactions, measures their recommendations with LensKit's run analysis, its own nDCG and
recall beside measures of this library, and compares them by exact preferences between their lists.

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
from lenskit.metrics import NDCG, Recall, RunAnalysis
from lenskit.splitting import SampleN, TTSplit, sample_users
from lenskit.training import TrainingOptions
from lenskit_lexirecall import TSE, LexiRecall, Metric, compare

import ir_lexirecall as irl

MODELS = {
    "popularity": PopScorer(),
    "item-kNN": ItemKNNScorer(max_nbrs=20, feedback="implicit"),
    "ALS": ImplicitMFScorer(embedding_size=8, epochs=10),
}


def interactions(users: int, items: int, rng: np.random.Generator) -> Dataset:
    """Who clicked what: tastes and items as latent factors, beside the items' popularity."""
    taste, character = rng.normal(size=(users, 6)), rng.normal(size=(items, 6))
    liking = taste @ character.T + rng.normal(size=items) + rng.gumbel(size=(users, items))
    clicked = np.argsort(-liking, axis=1)[:, :30]
    user_id = np.repeat(np.arange(users), clicked.shape[1])
    return from_interactions_df(pd.DataFrame({"user_id": user_id, "item_id": clicked.ravel()}))


def recommendations(split: TTSplit, n: int, seed: int) -> ItemListCollection:
    """The lists of all models in one collection, keyed by model and user."""
    recs = ItemListCollection.empty(["model", "user_id"])
    for name, scorer in MODELS.items():
        pipeline = topn_pipeline(scorer, n=n, name=name)
        pipeline.train(split.train, TrainingOptions(rng=seed))
        recs.add_from(recommend(pipeline, split.test, n_jobs=1), model=name)
    return recs


def main(users: int = 600, items: int = 400, n: int = 100, seed: int = 1) -> irl.Preferences:
    rng = np.random.default_rng(seed)
    data = interactions(users, items, rng)
    split = sample_users(data, users // 3, SampleN(8, rng=rng), rng=rng)
    recs = recommendations(split, n, seed)

    tse = TSE(n, exposure="nDCG", n_items=items)
    metrics = RunAnalysis(
        NDCG(n), Recall(n), tse, LexiRecall(n), Metric("CWL_ERR10(max_rel=1)")
    )  # any measure is a metric
    measured = metrics.measure(recs, split.test).list_metrics()
    print(f"Means over {len(split.test)} users, 8 test items each, {n} items recommended:\n")
    print(measured.groupby("model", sort=False).mean().round(4).to_string())

    preferences = compare(split.test, recs, correction=None)
    print("\nExact preferences between the lists of each user:\n")
    columns = ["run_a", "run_b", "wins", "losses", "ties", "mean", "p"]
    print(preferences.table()[columns].round(4).to_string(index=False))
    print("\nWhat decided between ALS and item-kNN for the first users:\n")
    print(preferences.explain("ALS", "item-kNN").head().to_string(index=False))
    for note in preferences.diagnostics:
        print(f"- {note}")
    return preferences


if __name__ == "__main__":
    main()
