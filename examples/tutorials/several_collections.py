"""
Several collections: what may be concluded?
===========================================

A system is tried on six collections against a baseline. It wins on some and loses on others: is it better? You will
learn

- how to evaluate systems on many collections in one call,
- how to read a forest of differences, intervals of ranks, and a diagram of critical differences,
- which of two questions your paper asks: *on these collections*, or *on collections like these*?

Needs nothing but the package with its pictures and comparisons: ``pip install -e '.[all]'`` in a checkout.
"""

# %%
# Collections with a known truth
# ------------------------------
#
# With real collections nobody knows which system is better. So here the rankings are simulated: at each rank, a
# relevant document is ``quality`` times as likely to come next as another one. Four systems meet a baseline:
#
# - *twin* is exactly as good as the baseline;
# - *better* is better everywhere;
# - *specialist* is much better on two of the collections and a little worse on the four others;
# - *worse* is worse everywhere.

# sphinx_gallery_thumbnail_number = 3
import matplotlib.pyplot as plt
import pandas as pd

import ir_lexirecall as irl
from ir_lexirecall import meta

COLLECTIONS = ["news", "web", "health", "law", "code", "chat"]
QUALITY = {"baseline": 60, "twin": 60, "better": 80, "specialist": 50, "worse": 40}
SPECIAL = {"health", "law"}


def simulated(number, collection):
    """40 queries with 5 to 29 relevant documents each, in a collection of 100,000; systems retrieve 1,000."""
    quality = QUALITY | ({"specialist": 160} if collection in SPECIAL else {})
    return meta.simulate_rankings(
        100_000,
        m=range(5, 30),
        depth=1000,
        queries=40,
        systems=quality,
        seed=20 + number,
    )


rankings = {
    collection: simulated(number, collection)
    for number, collection in enumerate(COLLECTIONS)
}
qrels = {collection: of_one.qrels for collection, of_one in rankings.items()}
runs = {collection: of_one.runs for collection, of_one in rankings.items()}

# %%
# One call
# --------
#
# ``benchmark`` takes a mapping of collections to judgments and a mapping of collections to runs. In daily work these
# are ids of ``ir_datasets`` and a folder of run files: ``irl.benchmark(["beir/scifact/test", "vaswani"], "runs/",
# ...)``. The result maps collections to comparisons. It has the means on every collection, and everything below.

result = irl.benchmark(
    qrels,
    runs,
    ["AP", "LR"],
    baseline="baseline",
    test=irl.SignificanceTest(correction="holm", n_resamples=2000, seed=1),
)
means = result.means("LR").pivot(index="collection", columns="run", values="mean")
means.loc[COLLECTIONS, list(QUALITY)].round(3)

# %%
# The forest
# ----------
#
# The forest shows differences from the baseline on every collection with their intervals, and the mean over all
# collections below. Look at the specialist: the mean hides that there are two kinds of collections.

axes = result.plot("forest", "LR")
axes.figure.suptitle(
    "LexiRecall: difference from the baseline, by collection and over all",
    fontsize="medium",
)
plt.show()

# %%
# Question 1: on these collections
# --------------------------------
#
# *If these six collections are the benchmark*, as in a shared task, only the queries are a sample. ``overall()``
# resamples queries within each collection; every collection counts the same, however many queries it has.

columns = ["run", "mean", "rank_low", "rank_high", "difference", "p_corrected"]
here = result.overall("queries")
here.loc[here["criterion"] == "LR", columns].round(3)

# %%
# ``rank_low`` to ``rank_high`` are the ranks that the data leave open, for all systems at once. A system whose interval
# begins at 1 may be the best.

axes = result.plot("rank_intervals", "LR")
axes.figure.suptitle("Which ranks are possible, by mean LexiRecall", fontsize="medium")
plt.show()

# %%
# Question 2: on collections like these
# -------------------------------------
#
# *If the six collections stand for many others*, they are a sample, too. ``overall("collections")`` resamples
# collections, and a random-effects model, as in medicine, says how much the true differences vary: ``i2`` is the
# share of the variance not explained by sampling queries. (``tau2`` and ``p_heterogeneity`` are in the table, too.)

columns = [
    "run",
    "difference",
    "difference_low",
    "difference_high",
    "p_corrected",
    "i2",
]
elsewhere = result.overall("collections")
elsewhere.loc[
    (elsewhere["criterion"] == "LR") & (elsewhere["run"] != "baseline"), columns
].round(3)

# %%
# The same numbers, two answers:

answers = pd.DataFrame(
    {
        "truth": {
            "twin": "equal",
            "better": "better everywhere",
            "specialist": "depends",
            "worse": "worse everywhere",
        },
        **{
            question: table[table["criterion"] == "LR"]
            .set_index("run")["p_corrected"]
            .drop("baseline")
            for question, table in {
                "p on these": here,
                "p on others like these": elsewhere,
            }.items()
        },
    }
)
answers["what may be said"] = [
    (
        "a difference on these and on others"
        if others <= 0.05
        else "a difference on these collections only"
    )
    if these <= 0.05
    else "no difference shown"
    for these, others in answers[["p on these", "p on others like these"]].to_numpy()
]
answers.round(4)

# %%
# Ranks only
# ----------
#
# The oldest way to compare over data sets looks at the ranks of the systems alone: Friedman's test, and Nemenyi's
# critical difference for all pairs. It asks question 2 and throws away how large differences are, so it needs many
# collections.

friedman = result.friedman("LR")
print(
    f"Friedman's test: p = {friedman['p']:.3f}; mean ranks closer than {friedman['critical_difference']:.2f} do not differ"
)
axes = result.plot("critical_differences", "LR")
axes.figure.suptitle("Mean ranks of the systems by LexiRecall", fontsize="medium")
plt.show()

# %%
# What to write
# -------------
#
# - Say which question you ask. "On these six collections" needs queries; "in general" needs collections.
# - Show the forest, or the table by collection: a mean over collections of two kinds describes neither.
# - If ``i2`` is large, say for which collections the system is better, instead of an average.
# - Name what was resampled, and the correction. ``to_latex`` writes both beside the table:

print(result.to_latex("collections", places=3))

# %%
# Last, read the caveats of the result:

print("\n".join(result.diagnostics) or "Nothing stands out.")
