"""Reranking the top of a ranking: where every value ties and the preference does not.

Two systems share everything below rank 100 and order the top 100 differently. Total search efficiency is the same, for
the last relevant document is in the shared tail; and a 64-bit LexiRecall has no digits left for the top. ``compare``
looks at the ranks and decides every query.
"""

import numpy as np

import ir_lexirecall as irl
from ir_lexirecall import LR, TSE


def main(queries: int = 50, depth: int = 1000, relevant: int = 60, seed: int = 1) -> irl.Preferences:
    rng = np.random.default_rng(seed)
    qrels, first, reranked = {}, {}, {}
    for q in range(queries):
        documents = [f"d{i}" for i in range(depth)]
        qrels[f"q{q}"] = {documents[i]: 1 for i in rng.choice(depth, relevant, replace=False)}
        top = [documents[i] for i in rng.permutation(100)]
        for run, order in ((first, documents), (reranked, top + documents[100:])):
            run[f"q{q}"] = {document: float(depth - i) for i, document in enumerate(order)}

    values = [irl.evaluate([TSE, LR, "nDCG@10"], qrels, run) for run in (first, reranked)]
    different = (values[0] != values[1]).sum()
    print(f"{queries} queries. Queries on which the two systems' values differ:")
    print(different.to_string())
    result = irl.compare(qrels, {"first": first, "reranked": reranked})
    print("\nExact preferences:")
    print(result.table()[["run_a", "run_b", "wins", "losses", "ties", "mean", "p"]].to_string(index=False))
    print("\nWhat decided on the first queries:")
    print(result.explain("first", "reranked").head().to_string(index=False))
    return result


if __name__ == "__main__":
    main()
