"""
Where every value ties and the preference does not
==================================================

Two systems share everything below rank 100 and order the first 100 documents differently, as rerankers do. You will see
that

- total search efficiency is the same for both, for the last relevant document is in the shared tail;
- LexiRecall as a number is the same, too: a 64-bit float has no digits left for the top;
- ``compare`` looks at the ranks, and decides every query.

Needs nothing but the package with its pictures: ``python examples/reranking.py``.
"""

# %%
# 50 queries with 60 relevant documents each among 1,000; the second system shuffles the first 100.

import matplotlib.pyplot as plt
import numpy as np

import ir_lexirecall as irl
from ir_lexirecall import LR, TSE

QUERIES, DEPTH, RELEVANT = 50, 1000, 60

rng = np.random.default_rng(1)
documents = [f"d{i}" for i in range(DEPTH)]
qrels, first, reranked = {}, {}, {}
for q in range(QUERIES):
    qrels[f"q{q}"] = {
        documents[i]: 1 for i in rng.choice(DEPTH, RELEVANT, replace=False)
    }
    top = [documents[i] for i in rng.permutation(100)]
    for run, order in ((first, documents), (reranked, top + documents[100:])):
        run[f"q{q}"] = {document: float(DEPTH - i) for i, document in enumerate(order)}

# %%
# On how many queries do the values differ?

values = [irl.evaluate(["nDCG@10", LR, TSE], qrels, run) for run in (first, reranked)]
different = (values[0] != values[1]).sum()
print(f"{QUERIES} queries. Queries on which the two systems' values differ:")
print(different.to_string())

# %%
# The rankings themselves differ on all of them:

result = irl.compare(qrels, {"first": first, "reranked": reranked})
print("Exact preferences:")
print(
    result.table()[
        ["run_a", "run_b", "wins", "losses", "ties", "difference", "p"]
    ].to_string(index=False)
)
print("\nWhat decided on the first queries:")
print(result.explain("first", "reranked").head().to_string(index=False))

# %%
# ``level`` is the recall level that decided, ``tied_levels`` how many levels below it are equal. The picture shows, for
# every query, the ranks at that level.

axes = result.plot("pair", "first", "reranked")
axes.figure.suptitle(
    "The rank that decided each query: first (blue) and reranked (orange)",
    fontsize="medium",
)
plt.show()
