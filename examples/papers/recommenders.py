"""What two scripts of this folder share: recommenders for the users of MovieLens, seven of LensKit and twelve in plain NumPy."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from ir_lexirecall.data.aligned_run import AlignedRun
from ir_lexirecall.data.alignment import align
from ir_lexirecall.data.judgments import Judgments

MISSING = "LensKit is not installed (pip install lenskit): no recommenders"
RELEVANT = 4.0  # stars


def has_lenskit() -> bool:
    """Whether the recommenders can be trained here."""
    try:  # a folder of that name is not LensKit
        return importlib.util.find_spec("lenskit.training") is not None
    except ModuleNotFoundError:
        return False


def cut(run: AlignedRun, depth: int) -> AlignedRun:
    """The first documents of a run."""
    keep = run.rank <= depth
    part = {"query": run.query[keep], "doc": run.doc[keep], "rank": run.rank[keep]}
    return replace(run, **part, depth=np.minimum(run.depth, depth), ties=None)


def held_out(
    folder: Path, users: int | None, seed: int
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """All ratings, those that models are trained on, and judgments of the others, for users with a relevant one."""
    ratings = pd.read_csv(
        folder / "ratings.csv.gz", usecols=["userId", "movieId", "rating"]
    )
    ratings.columns = ["user_id", "item_id", "rating"]
    shuffled = ratings.sample(frac=1, random_state=seed)
    place = shuffled.groupby("user_id").cumcount()
    size = shuffled.groupby("user_id")["item_id"].transform("size")
    away = (place < size / 5).reindex(ratings.index)
    train, test = ratings[~away], ratings[away]
    relevant = test[test["rating"] >= RELEVANT]
    judged = test[test["user_id"].isin(relevant["user_id"].unique()[:users])]
    qrels = pd.DataFrame(
        {
            "query_id": judged["user_id"].astype(str),
            "doc_id": judged["item_id"].astype(str),
            "relevance": (judged["rating"] >= RELEVANT).astype(int),
        }
    )
    return ratings, train, qrels


def movielens(
    folder: Path, *, users: int | None = None, seed: int = 1
) -> tuple[Judgments, dict[str, AlignedRun]]:
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
        users: how many of them get lists; by default all.
        seed: of the split and of the models.
    """
    from lenskit import topn_pipeline
    from lenskit.als import BiasedMFScorer, ImplicitMFScorer
    from lenskit.basic import BiasScorer, PopScorer
    from lenskit.batch import recommend
    from lenskit.data import ItemListCollection, from_interactions_df
    from lenskit.knn import ItemKNNScorer, UserKNNScorer
    from lenskit.training import TrainingOptions

    ratings, train, qrels = held_out(folder, users, seed)
    queries = [int(user) for user in qrels["query_id"].unique()]
    models = {
        "popularity": PopScorer(),
        "bias": BiasScorer(damping=5),
        "item-kNN": ItemKNNScorer(max_nbrs=20, feedback="explicit"),
        "item-kNN, implicit": ItemKNNScorer(max_nbrs=20, feedback="implicit"),
        "user-kNN, implicit": UserKNNScorer(max_nbrs=30, feedback="implicit"),
        "ALS": BiasedMFScorer(embedding_size=20, epochs=10),
        "ALS, implicit": ImplicitMFScorer(embedding_size=20, epochs=10),
    }
    data = from_interactions_df(train)
    runs = {}
    for name, scorer in models.items():
        pipeline = topn_pipeline(scorer, n=ratings["item_id"].nunique(), name=name)
        pipeline.train(data, TrainingOptions(rng=seed))
        lists: ItemListCollection = recommend(pipeline, queries, n_jobs=1)
        rows = lists.to_df()
        run = {
            "query_id": rows["user_id"].astype(str),
            "doc_id": rows["item_id"].astype(str),
            "score": -rows["rank"],
        }
        runs[name] = pd.DataFrame(run)
    return qrels, runs


# -- in plain NumPy --------------------------------------------------------------------------------


def plain(
    folder: Path, *, users: int | None = None, seed: int = 1
) -> tuple[Judgments, dict[str, AlignedRun], dict[str, str]]:
    """Judgments as in ``recommended``, twelve rankings of all films not rated before, and the family (of six) of each.

    Popularity, mean ratings, neighbours by cosine of users and of films, EASE (Steck, WWW 2019, doi 10.1145/3308558.3313710) and a
    truncated SVD, each with two settings. Films of equal score are ranked by id.
    """
    ratings, train, qrels = held_out(folder, users, seed)
    user_ids, film_ids = np.unique(ratings["user_id"]), np.unique(ratings["item_id"])
    user, film = (
        np.searchsorted(user_ids, train["user_id"]),
        np.searchsorted(film_ids, train["item_id"]),
    )
    stars = np.zeros((len(user_ids), len(film_ids)))
    stars[user, film] = train["rating"]
    judgments = Judgments.from_qrels(qrels)
    row = np.searchsorted(user_ids, np.array(judgments.query_ids, dtype=np.int64))
    column = np.searchsorted(film_ids, np.array(judgments.doc_ids, dtype=np.int64))
    runs, families = {}, {}
    for family, variants in _scores(stars).items():
        for setting, score in variants.items():
            name = f"{family}, {setting}"
            runs[name], families[name] = (
                _ranked(judgments, np.where(stars > 0, -np.inf, score), row, column),
                family,
            )
    return judgments, runs, families


def _scores(stars: np.ndarray) -> dict[str, dict[str, np.ndarray]]:
    """Scores of all films for all users, by family and setting."""
    seen, liked = (stars > 0).astype(float), (stars >= RELEVANT).astype(float)
    everybody, count = np.ones(len(stars))[:, None], seen.sum(axis=0)
    mean = stars.sum() / seen.sum()
    of_users = _unit(seen, axis=1)
    alike = of_users @ of_users.T
    np.fill_diagonal(alike, 0)
    of_films = _unit(seen, axis=0)
    _, u = np.linalg.eigh(seen @ seen.T)
    return {
        "popularity": {
            "rated": everybody * count,
            "liked": everybody * liked.sum(axis=0),
        },
        "mean": {
            f"damping {d}": everybody * ((stars.sum(axis=0) + d * mean) / (count + d))
            for d in (5, 25)
        },
        "users": {f"{k} nearest": _nearest(alike, k) @ seen for k in (20, 80)},
        "films": {
            "rated": (seen @ of_films.T) @ of_films,
            "liked": (liked @ of_films.T) @ of_films,
        },
        "EASE": {f"lambda {penalty}": _ease(seen, penalty) for penalty in (50, 500)},
        "SVD": {f"{k} factors": u[:, -k:] @ (u[:, -k:].T @ seen) for k in (10, 40)},
    }


def _unit(rows: np.ndarray, axis: int) -> np.ndarray:
    return rows / np.maximum(np.linalg.norm(rows, axis=axis, keepdims=True), 1)


def _nearest(alike: np.ndarray, k: int) -> np.ndarray:
    """The k largest similarities of each row."""
    least = np.partition(alike, -k, axis=1)[:, -k][:, None]
    return np.where(alike >= least, alike, 0)


def _ease(seen: np.ndarray, penalty: float) -> np.ndarray:
    """X B with B = I - P / diag(P), P = (X'X + penalty I)^-1, by inverting a matrix of users, not of films."""
    inverse = np.linalg.inv(seen @ seen.T + penalty * np.eye(len(seen)))
    half = inverse @ seen
    diagonal = (1 - (seen * half).sum(axis=0)) / penalty
    return seen - half / diagonal  # X P = (XX' + penalty I)^-1 X


def _ranked(
    judgments: Judgments, score: np.ndarray, row: np.ndarray, column: np.ndarray
) -> AlignedRun:
    """Where the judged films stand in the order of scores; equal ones (but for rounding) by id; -inf is not ranked."""
    listed = np.isfinite(score)
    score = score / np.abs(score[listed]).max()
    score = np.round(score, 9) - 1e-13 * np.arange(score.shape[1])  # no two are equal
    falling = np.sort(-score[row], axis=1)
    own = -score[row[judgments.query], column]
    rank = (
        np.array(
            [
                np.searchsorted(falling[q], x)
                for q, x in zip(judgments.query, own, strict=True)
            ]
        )
        + 1
    )
    doc = np.lexsort((rank, judgments.query))
    return AlignedRun(
        judgments,
        query=judgments.query[doc],
        doc=doc,
        rank=rank[doc],
        depth=listed[row].sum(axis=1),
    )
