"""
Missing judgments: what they could change, what to judge, whom to trust
=======================================================================

Nobody judged every document, and new runs retrieve what nobody judged. You will learn

- how to say what the unjudged documents could change between two runs, and at which depth,
- which documents to judge next, and how few settle who is better,
- how to find out whether a second judge, such as a language model, reaches the same conclusions,
- how to let people judge a few queries and a program all of them.

With the environment variable ``IR_LEXIRECALL_DATA``, a folder that holds ``robust2003`` (qrels and the runs ``fub03IeOLKe3`` and ``UIUC03Rd1``,
from NIST), the first two parts are on TREC 2003 Robust; without it, on the embedded collection.
"""

# %%
# What could the unjudged documents change?
# -----------------------------------------
#
# An unjudged document has one grade, whatever it is, in both rankings: bounds over all judgings say which conclusions rest on the
# assumption that it is 0. They always belong to a depth; look how fast certainty goes.

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
# Of a measure, the bounds are those of the mean difference; the wider interval holds sampling of queries, too. The picture has both.

columns = ["criterion", "low", "high", "ci_low", "ci_high", "exact", "depth"]
bounds = result.bounds(depth=depths[1])
print(bounds.loc[bounds["low"].notna(), columns].round(3).to_string(index=False))
result.plot("differences", "nDCG@10")
plt.show()

# %%
# What to judge next
# ------------------
#
# ``to_judge`` names the documents whose judgment decides most for one criterion. Here somebody judges the first fifty (as not relevant, which
# is what most unjudged documents are), and fewer queries are open. ``ir-lexirecall to-judge ... -o pool.html`` writes a page to judge
# in, and ``--judged`` of every command reads what it saves.

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
# Judgments by a program are many. To see what may go wrong without calling one, we make two judges out of the embedded collection's judgments: one that
# errs on any document alike, and one that is generous to what a run ranks high, as a language model can be to systems built on itself.

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
# On documents, the partial judge agrees with people no less than the careless one (kappa). Yet the careless one keeps every conclusion, and the partial one
# reverses the order of runs and loses conclusions: ask for ``tau`` and for conclusions, not for kappa alone.
#
# A few queries by people, all by the program
# -------------------------------------------
#
# What the partial judge gets wrong on queries that are drawn at random for people is subtracted everywhere, so that its bias does no harm to means of
# measures, from 25 human queries on (12 here: intervals may hold the truth less often). ``n_effective`` says how many human queries alone give the same precision, ``rho`` why.

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
# By the program alone, ``overlap``, its favourite, looks half as far behind as it is; with twelve queries of people, the estimate is close to what all
# people say. See the page on missing judgments for what this rests on, and for what to report in a paper.
