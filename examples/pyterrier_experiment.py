"""
Standard measures and exact preferences in one PyTerrier table
==============================================================

Is B better than A for someone who needs everything, and on which queries? You will see

- LexiRecall, TSE, RBU and C/W/L measures beside ``nDCG@10`` in ``pt.Experiment``;
- ``pt.lexirecall.Experiment``, which adds preferences that the ranks themselves decide, against one baseline and
  against two;
- what decided, query by query.

No Java, no network: the systems are the stored runs of the embedded collection. Needs PyTerrier: ``python
examples/pyterrier_experiment.py``.
"""

import matplotlib.pyplot as plt
import pyterrier as pt
from pyterrier.measures import (
    CWL_ERR10,
    LR,
    RBU,
    TSE,
    nDCG,
)  # standard and new ones alike

from ir_lexirecall import demo

# %%
# Judgments have subtopics where PyTerrier and ir_measures look for them (``iteration``); further columns are aspects. A
# system is anything that PyTerrier takes; here, rankings from a table.

topics = demo.queries().rename(columns={"query_id": "qid", "text": "query"})
qrels = demo.qrels().rename(
    columns={
        "query_id": "qid",
        "doc_id": "docno",
        "relevance": "label",
        "subtopic_id": "iteration",
    }
)
systems = {}
for name, run in demo.runs().items():
    results = run.rename(columns={"query_id": "qid", "doc_id": "docno"})
    systems[name] = pt.Transformer.from_df(pt.model.add_ranks(results))

# %%
# One table for all measures:

measures = [nDCG @ 10, LR, TSE, RBU @ 20, CWL_ERR10(max_rel=3)]
print(pt.Experiment(systems, topics, qrels, measures, round=4).to_string(index=False))

# %%
# Against BM25. The statistics of ``nDCG@10`` are of a t-test, as in PyTerrier; those of the preference count wins and
# losses exactly, and test them by their signs.

options = {"correction": "holm", "round": 4}
table = pt.lexirecall.Experiment(
    systems, topics, qrels, [LR, nDCG @ 10], baseline="bm25", **options
)
print(
    table[["name", *(column for column in table if "nDCG" in column)]].to_string(
        index=False
    ),
    "\n",
)
print(
    table[
        ["name", *(column for column in table if column.startswith("pref:"))]
    ].to_string(index=False)
)

# %%
# Against two baselines:

two = pt.lexirecall.Experiment(
    systems, topics, qrels, [LR], baseline=["bm25", "ql"], round=4
)
print(
    two[["name", *(column for column in two if "p-value" in column)]].to_string(
        index=False
    )
)

# %%
# What decided between BM25 and its reranked version? A query without a winner is a tie: the rankings are equal in all
# that is relevant.

comparison = table.attrs["comparison"]
print(comparison.explain("bm25", "bm25_rerank", "lexirecall").to_string(index=False))

# %%
# All pairs of systems at a glance, and what speaks against trusting them:

axes = comparison.with_baseline(None).plot("heatmap", "lexirecall")
axes.figure.suptitle(
    "Mean preference of the row's system over the column's (lexirecall)",
    fontsize="medium",
)
plt.show()
for note in comparison.diagnostics:
    print(f"- {note}")
