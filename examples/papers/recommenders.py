"""What two scripts of this folder share: the lists of seven recommenders of LensKit for the users of MovieLens."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from ir_lexirecall.alignment import AlignedRun, align
from ir_lexirecall.judgments import Judgments

MISSING = "LensKit is not installed (pip install lenskit): no recommenders"
RELEVANT = 4.0  # stars


def has_lenskit() -> bool:
    """Whether the recommenders can be trained here."""
    return importlib.util.find_spec("lenskit") is not None


def cut(run: AlignedRun, depth: int) -> AlignedRun:
    """The first documents of a run."""
    keep = run.rank <= depth
    part = {"query": run.query[keep], "doc": run.doc[keep], "rank": run.rank[keep]}
    return replace(run, **part, depth=np.minimum(run.depth, depth), ties=None)


def movielens(folder: Path, *, users: int | None = None, seed: int = 1) -> tuple[Judgments, dict[str, AlignedRun]]:
    """Judgments, and the lists aligned with them; arguments as in ``recommended``."""
    qrels, lists = recommended(folder, users=users, seed=seed)
    judgments = Judgments.from_qrels(qrels)
    return judgments, {name: align(judgments, run) for name, run in lists.items()}


def recommended(
    folder: Path, *, users: int | None = None, seed: int = 1
) -> tuple[pd.DataFrame, dict[str, pd.DataFrame]]:
    """Judgments and runs: a fifth of every user's ratings is held out, and all films not rated before are ranked.

    A query is a user with a held-out rating of at least 4 stars, which are the relevant films.

    Args:
        folder: with ``ratings.csv.gz``.
        users: so many of them get lists; by default all.
        seed: of the split and of the models.
    """
    from lenskit import topn_pipeline
    from lenskit.als import BiasedMFScorer, ImplicitMFScorer
    from lenskit.basic import BiasScorer, PopScorer
    from lenskit.batch import recommend
    from lenskit.data import ItemListCollection, from_interactions_df
    from lenskit.knn import ItemKNNScorer, UserKNNScorer
    from lenskit.training import TrainingOptions

    ratings = pd.read_csv(folder / "ratings.csv.gz", usecols=["userId", "movieId", "rating"])
    ratings.columns = ["user_id", "item_id", "rating"]
    shuffled = ratings.sample(frac=1, random_state=seed)
    place = shuffled.groupby("user_id").cumcount()
    size = shuffled.groupby("user_id")["item_id"].transform("size")
    held_out = (place < size / 5).reindex(ratings.index)
    train, test = ratings[~held_out], ratings[held_out]
    relevant = test[test["rating"] >= RELEVANT]
    judged = test[test["user_id"].isin(relevant["user_id"].unique()[:users])]
    qrels = pd.DataFrame(
        {
            "query_id": judged["user_id"].astype(str),
            "doc_id": judged["item_id"].astype(str),
            "relevance": (judged["rating"] >= RELEVANT).astype(int),
        }
    )
    models = {
        "popularity": PopScorer(),
        "bias": BiasScorer(damping=5),
        "item-kNN": ItemKNNScorer(max_nbrs=20, feedback="explicit"),
        "item-kNN, implicit": ItemKNNScorer(max_nbrs=20, feedback="implicit"),
        "user-kNN, implicit": UserKNNScorer(max_nbrs=30, feedback="implicit"),
        "ALS": BiasedMFScorer(embedding_size=20, epochs=10),
        "ALS, implicit": ImplicitMFScorer(embedding_size=20, epochs=10),
    }
    data, queries = from_interactions_df(train), judged["user_id"].unique().tolist()
    runs = {}
    for name, scorer in models.items():
        pipeline = topn_pipeline(scorer, n=ratings["item_id"].nunique(), name=name)
        pipeline.train(data, TrainingOptions(rng=seed))
        lists: ItemListCollection = recommend(pipeline, queries, n_jobs=1)
        rows = lists.to_df()
        run = {"query_id": rows["user_id"].astype(str), "doc_id": rows["item_id"].astype(str), "score": -rows["rank"]}
        runs[name] = pd.DataFrame(run)
    return qrels, runs
