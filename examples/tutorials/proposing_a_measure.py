"""
Proposing a measure
===================

You have an idea for a measure. Does it keep the axioms, does it tell systems apart, and is it more than an old measure
under another name? This page takes an idea from its definition to the paragraph of a paper. You will learn

- how to define a measure in one class, which then works wherever the measures of this library and of ``ir_measures``
  do,
- how to find the smallest ranking on which it breaks an axiom, and how to mend it,
- how to measure its power, its stability and its relation to other measures.

Needs nothing but the package with its pictures: ``pip install -e '.[all]'`` in a checkout.
"""

# %%
# The idea
# --------
#
# A reader wants half of the relevant documents, and stops there. With m relevant documents, that is the document at recall
# level ⌈m/2⌉; the value is 1 / its rank.
#
# A measure is a class with ``params`` and ``score``. A run comes in as arrays: the retrieved relevant documents of all
# queries, by query and rank. ``score`` gives a value per query, without a loop over documents.

# sphinx_gallery_thumbnail_number = 2
import textwrap

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import ir_lexirecall as irl
from ir_lexirecall import SignificanceTest, meta
from ir_lexirecall._util.arrays import Floats
from ir_lexirecall.data.aligned_run import AlignedRun
from ir_lexirecall.measures.about import About
from ir_lexirecall.measures.declaration import Measure
from ir_lexirecall.measures.parameters import rel

pd.set_option("display.max_colwidth", None)  # counterexamples are shown in full


class HalfRecall(Measure):
    """The effort until half of the relevant documents are seen: 1 / p, p the rank at recall level ceil(m / 2)."""

    ABOUT = About(plain="1 / p_{ceil(m/2)}", source="this page")
    params = {"rel": rel()}

    def score(self, run: AlignedRun) -> Floats:
        relevant = run.relevant(self["rel"])  # those retrieved, by query and rank
        half = relevant.level == -(-relevant.m // 2)[relevant.query]
        value = np.zeros(len(relevant.m))
        value[relevant.query[half]] = 1 / relevant.rank[half]
        return value


# %%
# Defining the class registers the measure. By hand: with three relevant documents, half is the second one, at rank 4.

qrels = {"q": {"a": 1, "b": 1, "c": 1}}
run = {"q": {"a": 9.0, "x": 8.0, "y": 7.0, "b": 6.0, "c": 5.0}}
irl.evaluate(["HalfRecall", "TSE", "AP"], qrels, run)

# %%
# Axioms
# ------
#
# ``meta.axioms`` tests properties that the literature demands of measures, on all small rankings and on random larger
# ones, and shows the smallest counterexample. (``cases`` and ``size`` set how long it searches.)

checked = meta.axioms("HalfRecall", size=6, cases=50)
checked.loc[checked["result"] == "fails", ["source", "property", "counterexample"]]

# %%
# A ranking is written from rank 1 on, with 1 for a relevant document; documents behind the bar were not retrieved.
# ``[1 1 0]`` against ``[1 0 1]`` shows the problem: only one document counts, and swaps everywhere else change
# nothing. So most rankings tie.
#
# Mend it
# -------
#
# Let readers differ: each wants some share of the relevant documents, and all shares are equally likely. Then every
# relevant document counts, according to its rank. The best ranking must score 1:
#
# .. math:: \sum_{i=1}^{r} \frac{1}{p_i} \; / \; \sum_{i=1}^{m} \frac{1}{i},
#
# where r of the m relevant documents were retrieved, at ranks :math:`p_1` to :math:`p_r`.


class AnyShare(Measure):
    """The effort until any share of the relevant documents is seen: sum_i 1/p_i, over that of the best ranking."""

    ABOUT = About(plain="Σ_{i<=r} 1/p_i / Σ_{i<=m} 1/i", source="this page")
    params = {"rel": rel()}

    def score(self, run: AlignedRun) -> Floats:
        found = run.relevant(self["rel"])
        total = np.bincount(found.query, 1 / found.rank, len(found.m))
        best = np.cumsum(1 / np.arange(1, found.m.max(initial=1) + 1))[found.m - 1]
        return np.where(found.m > 0, total / best, 0.0)


# %%
# The table compares both versions with well-known measures, on the properties on which they do not all agree:

measures = ["HalfRecall", "AnyShare", "AP", "RR", "LR"]
table = meta.axioms(measures, size=6, cases=50)
differ = table.groupby("property")["result"].nunique() > 1
axes = meta.plot(table[table["property"].map(differ)])
axes.figure.suptitle("Axioms: + holds, - fails", fontsize="medium")
plt.show()

# %%
# The new version rewards every better swap (*strict swap*), and its best ranking scores 1 (*reachable maximum*).
# Mention the properties that it still fails in the paper, too:

failed = table[(table["measure"] == "AnyShare") & (table["result"] == "fails")]
failed[["source", "property", "counterexample"]]

# %%
# Does it tell systems apart?
# ---------------------------
#
# For that we need rankings: nine simulated systems, from poor to good, on 50 queries. With runs of your own, give a
# mapping of names to files. First, on how many pairs of rankings do the measures tie?

QUALITY = {f"s{number}": 40 * 1.25**number for number in range(9)}
simulated = meta.simulate_rankings(
    20_000,
    m=range(4, 20),
    depth=1000,
    queries=50,
    systems=QUALITY,
    seed=3,
)
qrels, runs = simulated.qrels, simulated.runs

ties = (
    meta.Study(measures, qrels, runs)
    .ties()
    .groupby("measure", sort=False)[["ties", "pairs"]]
    .sum()
)
(ties["ties"] / ties["pairs"]).rename("share of tied pairs").to_frame().round(3)

# %%
# *Discriminative power* is the share of pairs of systems whose difference is significant. A curve that falls sooner
# tells more pairs apart.

power = meta.Study(measures, qrels, runs).achieved_significance(
    test=SignificanceTest("bootstrap", correction=None, n_resamples=2000, seed=1)
)
axes = meta.plot(power)
axes.figure.suptitle("Achieved significance of all pairs of systems", fontsize="medium")
plt.show()

# %%
# The new version tells more pairs apart than the first idea, and fewer than AP and LexiRecall: 1 / rank is mostly
# decided by the first documents. Axioms say what a measure means, not how many queries it needs; a paper should
# report both.
#
# *Stability*: does half of the queries predict the order of the systems on the other half? A row predicts, a column is
# predicted.

stability = meta.Study(measures, qrels, runs).split_half(n_splits=200, seed=1)
axes = meta.plot(stability)
axes.figure.suptitle("Kendall's tau between halves of the queries", fontsize="medium")
plt.show()

# %%
# Is it new?
# ----------
#
# A measure that orders systems, and queries, exactly as an old one does is the old one.

relation = meta.Study(measures, qrels, runs).per_query_kendall()
axes = meta.plot(relation)
axes.figure.suptitle(
    "Agreement on each query: mean Kendall's tau between measures", fontsize="medium"
)
plt.show()

# %%
# The report
# ----------
#
# One table for the paper has the numbers of this page.

fails = table[table["result"] == "fails"].groupby("measure").size()
significant = power.groupby("measure")["significant"].mean()
itself = stability[stability["measure"] == stability["target"]].set_index("measure")[
    "kendall"
]
with_ap = relation[(relation["measure_a"] == "AP") | (relation["measure_b"] == "AP")]
with_ap = with_ap.assign(
    measure=with_ap["measure_a"].where(
        with_ap["measure_b"] == "AP", with_ap["measure_b"]
    )
)
report = pd.DataFrame(
    {
        "axioms failed": fails,
        "tied pairs": ties["ties"] / ties["pairs"],
        "discriminative power": significant,
        "split-half tau": itself,
        "tau with AP, by query": with_ap.set_index("measure")["kendall"],
    }
)
report.loc[measures].round(3)

# %%
# A paragraph to adapt:

row = report.loc["AnyShare"]
paragraph = (
    f"We checked {table['property'].nunique()} properties of the literature; AnyShare fails {row['axioms failed']:.0f} of them. "
    f"On {len(runs)} simulated systems and 50 queries it ties on {row['tied pairs']:.1%} of the pairs of rankings, finds "
    f"{row['discriminative power']:.0%} of the pairs of systems significantly different (paired bootstrap, alpha 0.05, "
    f"uncorrected), and half of the queries order the systems as the other half does with tau = {row['split-half tau']:.2f}. "
    f"Its order of systems by query agrees with AP's at tau = {row['tau with AP, by query']:.2f}."
)
print(textwrap.fill(paragraph, 76))

# %%
# With a file and a test, it becomes a measure of the library; with one more line in a script, a measure of the
# command line. :doc:`Add a measure </contributing>` shows both. Your class works in ``pt.Experiment`` and in LensKit
# as soon as it is imported.
