"""
MovieLens, with LensKit and without
===================================

Three recommenders for MovieLens, and the user who wants to see everything that she will like, not only the first ten.
You will learn

- how to evaluate recommendations as a table of users, items and scores, whatever made them,
- for which users one recommender is better than another,
- how to do the same in LensKit, where the measures are metrics and item lists are compared directly.

Needs nothing but the package with its pictures: ``pip install -e '.[all]'`` in a checkout. The last part needs LensKit
and is left out without it.
"""

# %%
# Ratings
# -------
#
# MovieLens (latest-small: 100,000 ratings by 671 users; F. M. Harper and J. A. Konstan, 2015) is read from the folder
# that the environment variable ``IR_LEXIRECALL_DATA`` names, if it holds ``movielens-small/ratings.csv.gz``. Elsewhere
# ratings are made up: users and films have six hidden tastes, and some films are popular. A rating of 4 or more means
# that the user liked the film.

import importlib.util
import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import ir_lexirecall as irl

RATINGS = (
    Path(os.environ.get("IR_LEXIRECALL_DATA", "data"))
    / "movielens-small"
    / "ratings.csv.gz"
)


def made_up(users=300, films=400, seed=1):
    """Users rate 40 to 159 films that they are drawn to, by taste and popularity, and like the first half of them."""
    rng = np.random.default_rng(seed)
    taste, character = rng.normal(size=(users, 6)), rng.normal(size=(films, 6))
    drawn = (
        taste @ character.T + rng.gumbel(size=films) + rng.gumbel(size=(users, films))
    )
    order, size = np.argsort(-drawn, axis=1), rng.integers(40, 160, users)
    rows = [
        (u, film, 5 if place < n / 2 else 3)
        for u, n in enumerate(size)
        for place, film in enumerate(order[u, :n])
    ]
    return pd.DataFrame(rows, columns=["userId", "movieId", "rating"])


ratings = pd.read_csv(RATINGS) if RATINGS.exists() else made_up()
liked = ratings.loc[ratings["rating"] >= 4, ["userId", "movieId"]].astype(str)
liked = liked[liked.groupby("movieId")["userId"].transform("size") >= 5]
liked = liked[liked.groupby("userId")["movieId"].transform("size") >= 15]
print(
    f"{'MovieLens' if RATINGS.exists() else 'Made-up ratings'}: {len(liked)} films liked by {liked['userId'].nunique()} users"
)

# %%
# A fifth of what each user liked is for the test; from the rest, recommenders learn.

test = liked.groupby("userId").sample(frac=0.2, random_state=1)
train = liked.drop(test.index)
users, films = sorted(set(liked["userId"])), sorted(set(liked["movieId"]))
seen = np.zeros((len(users), len(films)))
seen[
    pd.Index(users).get_indexer(train["userId"]),
    pd.Index(films).get_indexer(train["movieId"]),
] = 1

# %%
# Three recommenders
# ------------------
#
# Each recommender scores all films for all users in a line or two: by the number of users who liked a film; by its
# similarity to films that the user liked (item-kNN with the cosine); and by EASE (H. Steck, 2019), a linear
# autoencoder in closed form.


def popularity():
    return np.broadcast_to(seen.sum(axis=0), seen.shape)


def item_knn():
    norms = np.maximum(np.linalg.norm(seen, axis=0), 1)
    similarity = (seen.T @ seen) / np.outer(norms, norms)
    return seen @ (similarity - np.diag(np.diag(similarity)))


def ease(penalty=100):
    inverse = np.linalg.inv(seen.T @ seen + penalty * np.eye(len(films)))
    weights = -inverse / np.diag(inverse)
    np.fill_diagonal(weights, 0)
    return seen @ weights


def recommended(scores, depth=200):
    """The best films that a user has not seen yet, as a run: a row per user and film."""
    unseen = np.where(seen > 0, -np.inf, scores)
    best = np.argsort(-unseen, axis=1, kind="stable")[:, :depth]
    score = np.take_along_axis(unseen, best, axis=1).ravel()
    run = pd.DataFrame(
        {
            "query_id": np.repeat(users, best.shape[1]),
            "doc_id": np.array(films)[best].ravel(),
            "score": score,
        }
    )
    return run[np.isfinite(score)]


runs = {
    "popularity": recommended(popularity()),
    "item-kNN": recommended(item_knn()),
    "EASE": recommended(ease()),
}

# %%
# Evaluate
# --------
#
# A user is a query and a film a document. Nothing else is needed. Measures are cut at 200 films, the depth of the
# lists.

qrels = test.rename(columns={"userId": "query_id", "movieId": "doc_id"}).assign(
    relevance=1
)
measures = ["nDCG@10", "R@200", "LR@200", "TSE(exposure='nDCG')@200"]
result = irl.compare(
    qrels,
    runs,
    [*measures, "lexirecall"],
    baseline="popularity",
    test=irl.SignificanceTest(seed=1),
)
means = result.means().pivot(index="run", columns="criterion", values="mean")
means.loc[result.runs, measures].round(3)

# %%
# LexiRecall orders lists by the number of films in them that the user will like, then by the rank of the last of
# these. TSE is the exposure of the last one, and 0 if one is missing. Both measure the cost of seeing everything. The
# preferences compare the lists of each user directly:

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
result.table("lexirecall")[columns].round(4)

# %%
# For whom?
# ---------
#
# A mean hides users. The table splits them into those with few films in the test and those with many. It shows the
# share of users for whom each recommender's list is preferred to the popular films, minus the share for whom it is
# not.

against = pd.concat(
    [
        result.explain(run, "popularity", "lexirecall").assign(run=run)
        for run in ("item-kNN", "EASE")
    ]
)
size = qrels.groupby("query_id").size().rename("films")
against = against.join(size, on="query_id")
against["group"] = pd.cut(
    against["films"], [0, 5, 10, np.inf], labels=["up to 5", "6 to 10", "more"]
)
shares = against.groupby(["group", "run"], observed=True)["preference"].mean().unstack()

axes = shares.plot.bar(rot=0, figsize=(6, 3.5))
axes.axhline(0, color="grey", linewidth=0.8)
axes.set_xlabel("films in the test of a user")
axes.set_ylabel("mean preference over popularity")
axes.set_title("Recommenders against popularity, by how much a user likes")
axes.legend(title=None, loc="lower right")
axes.figure.tight_layout()
plt.show()
shares.round(2)

# %%
# For single users, ``explain`` names the film that decided, and its rank in each list:

explained = result.explain("EASE", "popularity", "lexirecall")
explained[["query_id", "winner", "level", "doc_id", "rank_a", "rank_b"]].head()

# %%
# In LensKit
# ----------
#
# ``lenskit_lexirecall`` has ``LexiRecall``, ``TSE`` and ``Metric(any measure)`` as metrics for LensKit's
# ``MeasurementCollector``, beside its own, and ``compare`` for item lists. The models below are LensKit's own.


def in_lenskit():
    """Two of LensKit's models on the same split, by LensKit's metrics and ours."""
    from lenskit import topn_pipeline
    from lenskit.als import ImplicitMFScorer
    from lenskit.basic import PopScorer
    from lenskit.batch import recommend
    from lenskit.data import ItemList, ItemListCollection, from_interactions_df
    from lenskit.metrics import NDCG, MeasurementCollector
    from lenskit.training import TrainingOptions
    from lenskit_lexirecall import TSE, LexiRecall, Metric, compare

    names = {"userId": "user_id", "movieId": "item_id"}
    data = from_interactions_df(train.rename(columns=names))
    truth = ItemListCollection.from_dict(
        {u: ItemList(rows["movieId"].tolist()) for u, rows in test.groupby("userId")},
        "user_id",
    )
    lists = ItemListCollection.empty(["model", "user_id"])
    for name, scorer in {
        "popularity": PopScorer(),
        "ALS": ImplicitMFScorer(embedding_size=16, epochs=10),
    }.items():
        pipeline = topn_pipeline(scorer, n=200, name=name)
        pipeline.train(data, TrainingOptions(rng=1))
        lists.add_from(recommend(pipeline, list(truth.keys()), n_jobs=1), model=name)

    collector = MeasurementCollector()
    for metric in (
        NDCG(10),
        LexiRecall(200),
        TSE(200, exposure="nDCG"),
        Metric("RBP(p=0.9)"),
    ):
        collector.add_metric(metric)
    measure = (
        getattr(collector, "add_list_measurement", None) or collector.measure_list
    )  # before LensKit 2026
    for key, items in lists:
        measure(items, truth.lookup_projected(key), **key._asdict())
    print(
        compare(truth, lists)
        .table()[["run_a", "run_b", "wins", "losses", "ties", "p"]]
        .to_string(index=False)
    )
    return collector.list_metrics().groupby("model", sort=False).mean().round(3)


if importlib.util.find_spec("lenskit"):
    print(in_lenskit().to_string())
else:
    print("LensKit is not installed: pip install -e '.[lenskit]' to run this part")
