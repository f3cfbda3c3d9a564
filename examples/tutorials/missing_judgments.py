"""
Missing judgments: what they could change, what to judge, whom to trust
=======================================================================

Nobody judged every document, and new runs retrieve unjudged ones. You will learn

- how to find out whether unjudged documents could change the result for two runs, and at which depth,
- which documents to judge next, and how few decide which run is better,
- how to find out whether a second judge, such as a language model, reaches the same conclusions,
- how to let people judge a few queries and a program all of them.

With the environment variable ``IR_LEXIRECALL_DATA``, a folder that holds ``robust2003`` (qrels and the runs ``fub03IeOLKe3`` and ``UIUC03Rd1``,
from NIST), the first two parts are on TREC 2003 Robust; without it, on the embedded collection.
"""

# %%
# What could the unjudged documents change?
# -----------------------------------------
#
# An unjudged document has one unknown grade, the same in both rankings. Bounds over all possible grades show which
# conclusions rest on the assumption that it is 0. Bounds always belong to a depth, and certainty falls fast with
# depth.

import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import ir_lexirecall as irl
from ir_lexirecall import demo, meta
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.judging.files import merged

robust = Path(os.environ.get("IR_LEXIRECALL_DATA", os.devnull)) / "robust2003"
if robust.is_dir():
    qrels = Judgments.from_qrels(robust / "qrels.txt.gz")
    runs = {
        name: robust / "runs" / f"{name}.gz" for name in ("fub03IeOLKe3", "UIUC03Rd1")
    }
    depths = (10, 100, 1000)
else:
    rows = demo.qrels().groupby(["query_id", "doc_id"], as_index=False)
    qrels = Judgments.from_qrels(rows["relevance"].max())
    runs = {name: demo.run(name) for name in ("bm25", "tfidf")}
    depths = (10, 20, 50)
result = irl.compare(qrels, runs, ["lexirecall", "AP", "nDCG@10"])
for depth in depths:
    row = result.bounds("lexirecall", depth=depth).iloc[0]
    closed = row["certain_wins"] + row["certain_losses"] + row["certain_ties"]
    print(
        f"depth {depth}: at most one run can win on {closed} queries, either on {row['open']}"
    )

# %%
# For a measure, the bounds are those of the mean difference; the wider interval also allows for the sampling of
# queries. The picture shows both.

columns = ["criterion", "low", "high", "ci_low", "ci_high", "exact", "depth"]
bounds = result.bounds(depth=depths[1])
print(bounds.loc[bounds["low"].notna(), columns].round(3).to_string(index=False))
result.plot("differences", "nDCG@10")
plt.show()

# %%
# What to judge next
# ------------------
#
# ``to_judge`` lists the documents whose judgment decides most for one criterion. Here somebody judges the first fifty
# (as not relevant, like most unjudged documents), and fewer queries are open. ``ir-lexirecall to-judge ... -o
# pool.html`` writes a page for judging, and ``--judged`` of every command reads the saved judgments.

pool = result.to_judge(50, "lexirecall", depth=depths[1])
print(pool.head(3).to_string(index=False))
judged = merged(qrels, pool[["query_id", "doc_id"]].assign(relevance=0))
before, after = (
    irl.compare(judgments, runs).bounds(depth=depths[1])["open"].iloc[0]
    for judgments in (qrels, judged)
)
print(f"open before: {before}, after {len(pool)} judgments: {after}")

# %%
# A second judge
# --------------
#
# A program can judge many documents. To see what may go wrong without calling one, we make two judges from the
# judgments of the embedded collection. One errs equally often on all documents. The other is generous to documents
# that one run ranks high, as a language model can be to systems built on itself.

real = demo.qrels().groupby(["query_id", "doc_id"], as_index=False)["relevance"].max()
systems = demo.runs()
rng = np.random.default_rng(1)
flips = rng.random(len(real)) < 0.3
careless = real.assign(
    relevance=np.where(flips, rng.integers(0, 4, len(real)), real["relevance"])
)
favourite = systems["overlap"].sort_values(
    ["query_id", "score"], ascending=[True, False]
)
favoured = favourite.groupby("query_id").head(8)[["query_id", "doc_id"]].assign(liked=3)
liked = real.merge(favoured, how="left", on=["query_id", "doc_id"])["liked"].fillna(0)
partial = real.assign(relevance=np.maximum(real["relevance"], liked).astype(int))
shown = ["rel", "kappa", "tau", "tau_ap", "both", "only_a", "only_b", "opposite"]
for name, judge in {"careless": careless, "partial": partial}.items():
    study = meta.Study("nDCG@10", real, systems).judges(judge, n_resamples=200)
    print(name, study[shown].round(2).to_string(index=False), sep="\n")

# %%
# On documents, the partial judge agrees with people no less than the careless one (kappa). Yet the careless one keeps
# every conclusion, and the partial one reverses the order of runs and loses conclusions. So look at ``tau`` and at
# conclusions, not at kappa alone.
#
# A few queries by people, all by the program
# -------------------------------------------
#
# People judge a random sample of the queries. The partial judge's mean error there is subtracted everywhere. With 25
# or more human queries, intervals of means then hold in spite of its bias (there are 12 here, so they may contain
# the truth less often). ``n_effective`` says how many human queries alone would give the same precision, and ``rho``
# why.

ids = np.array(sorted(real["query_id"].unique()))
sample = rng.choice(ids, 12, replace=False)
people = real[real["query_id"].isin(sample)]
table = irl.compare(
    people, systems, "nDCG@10", baseline="bm25", predicted=partial
).table()
everybody = irl.compare(real, systems, "nDCG@10", baseline="bm25").table()
program = irl.compare(partial, systems, "nDCG@10", baseline="bm25").table()
table = table[["run_a", "estimate", "ci_low", "ci_high", "rho", "n_effective"]]
table.assign(all_people=everybody["difference"], program=program["difference"]).round(2)

# %%
# By the program alone, its favourite ``overlap`` looks half as far behind as it is. With twelve human queries, the
# estimate is close to that of all human judgments. The page on missing judgments explains the assumptions, and what
# to report in a paper.
