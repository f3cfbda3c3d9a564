"""
A retrieval experiment from a collection's id
=============================================

PyTerrier pipelines without Java, standard and lexicographic evaluation, from an id of ``ir_datasets``. You will see

- how to go from an id to queries, texts, judgments and recommended measures;
- four variants of BM25 and a reranker as transformers, indexed in memory;
- a reranker whose TSE ties with BM25's, where the preference between the rankings does not.

Needs PyTerrier and ``bm25s``; a script with arguments::

    python examples/retrieval_experiment.py                      # the embedded collection
    python examples/retrieval_experiment.py vaswani --plots out  # any ir_datasets collection that fits into memory
"""

import argparse
from collections import Counter
from pathlib import Path

import ir_datasets
import ir_datasets_lexirecall  # noqa: F401  # the embedded collection is one of ir_datasets' from now on
import matplotlib.pyplot as plt
import pandas as pd
import pyterrier as pt

import ir_lexirecall as irl
from ir_lexirecall.comparison import Comparison

try:
    import bm25s
except ModuleNotFoundError:
    raise SystemExit("this example needs bm25s: pip install bm25s") from None

# %%
# A variant of BM25 over a collection in memory.


class BM25(pt.Transformer):
    """A variant of BM25 over a collection in memory: qid, query -> qid, docno, score, rank."""

    def __init__(
        self,
        docnos: list[str],
        tokens: bm25s.tokenization.Tokenized,
        depth: int = 1000,
        **variant: object,
    ):
        self.docnos = docnos
        self.depth = min(depth, len(docnos))
        self.index = bm25s.BM25(**variant)
        self.index.index(tokens, show_progress=False)

    def transform(self, topics: pd.DataFrame) -> pd.DataFrame:
        found = []
        for qid, query in zip(topics["qid"], topics["query"], strict=True):
            tokens = bm25s.tokenize([query], stopwords="en", show_progress=False)
            documents, scores = self.index.retrieve(
                tokens, k=self.depth, show_progress=False
            )
            hits = pd.DataFrame(
                {
                    "qid": qid,
                    "query": query,
                    "doc": documents[0],
                    "score": scores[0].astype(float),
                }
            )
            found.append(hits[hits["score"] > 0])
        results = pd.concat(
            [pd.DataFrame(columns=["qid", "query", "doc", "score"]), *found],
            ignore_index=True,
        )
        docno = pd.Series([self.docnos[i] for i in results["doc"]], dtype=str)
        return pt.model.add_ranks(
            results.drop(columns="doc").assign(
                docno=docno, score=results["score"].astype(float)
            )
        )


# %%
# A reranker of the first documents only: what is below stays as it is.


class CoverageReranker(pt.Transformer):
    """Reorders the first ``k`` documents of a ranking by how many query words they hold; the tail stays."""

    def __init__(self, texts: dict[str, str], k: int = 10):
        self.texts = texts
        self.k = k

    def transform(self, results: pd.DataFrame) -> pd.DataFrame:
        def coverage(row: pd.Series) -> float:
            words = Counter(self.texts[row["docno"]].lower().split())
            query = row["query"].lower().split()
            return sum(word in words for word in query) / max(1, len(query))

        results = results.copy()
        top = results["rank"] < self.k
        best = results.groupby("qid")["score"].transform("max")
        if top.any():
            # Above everything else, and among themselves by coverage, then by the first ranking.
            bonus = results[top].apply(coverage, axis=1) - results[top]["rank"] / 1000
            results.loc[top, "score"] = best[top] + 2 + bonus
        return pt.model.add_ranks(results)


# %%
# From the id to the tables. What decided between BM25 and the reranker is in the ranks; the values of TSE are equal.


def main(arguments: list[str] | None = None) -> Comparison:
    parser = argparse.ArgumentParser(
        description="Compare BM25 variants on a collection of ir_datasets."
    )
    parser.add_argument(
        "dataset",
        nargs="?",
        default="lexirecall/demo",
        help="ir_datasets id (default: %(default)s)",
    )
    parser.add_argument("--plots", metavar="FOLDER", help="write the pictures there")
    options = parser.parse_args(arguments)

    collection = irl.load(options.dataset)
    topics = collection.queries.rename(columns={"query_id": "qid"})
    topics = topics.assign(query=topics[topics.columns[1]])[["qid", "query"]]
    qrels = collection.qrels.rename(
        columns={"query_id": "qid", "doc_id": "docno", "relevance": "label"}
    )
    texts = {
        doc.doc_id: doc.default_text()
        for doc in ir_datasets.load(options.dataset).docs_iter()
    }
    docnos = list(texts)
    tokens = bm25s.tokenize(list(texts.values()), stopwords="en", show_progress=False)

    bm25 = BM25(docnos, tokens, method="lucene", k1=1.2, b=0.75)
    systems = {
        "bm25": bm25,
        "bm25 short": BM25(docnos, tokens, method="lucene", k1=0.9, b=0.4),
        "bm25+": BM25(docnos, tokens, method="bm25+"),
        "atire": BM25(docnos, tokens, method="atire"),
        "bm25 >> coverage": bm25 >> CoverageReranker(texts),
    }
    measures = [
        measure for measure in collection.recommended() if str(measure) != "R@1000"
    ]
    table, comparison = pt.lexirecall.Experiment(
        systems,
        topics,
        qrels,
        measures,
        baseline="bm25",
        correction="holm",
        plan="tree",
        verbose=False,
        return_comparison=True,
    )
    print(f"{options.dataset}: {len(texts)} documents, {len(topics)} queries\n")
    statistics = (" +", " -", "p-value", "reject", "corrected")
    print(
        table[[column for column in table if not column.endswith(statistics)]]
        .round(4)
        .to_string(index=False)
    )
    print("\nAgainst bm25, from the ranks themselves:\n")
    print(
        table[["name", *[c for c in table if c.startswith("pref:")]]]
        .round(4)
        .to_string(index=False)
    )

    a, b = "bm25", "bm25 >> coverage"
    print(f"\nWhat decided between {a} and {b} (first ten decided queries):\n")
    explained = comparison.explain(a, b, "lexirecall")
    print(explained[explained["winner"].notna()].head(10).to_string(index=False))
    pairs = comparison.with_baseline(None).plot("heatmap", "lexirecall")
    pictures = {
        "preferences": pairs,
        "pair": comparison.plot("pair", a, b, "lexirecall"),
    }
    pictures["preferences"].figure.suptitle(
        "Mean preference of the row's system over the column's", fontsize="medium"
    )
    pictures["pair"].figure.suptitle(
        f"The rank that decided each query: {a} (blue), {b} (orange)", fontsize="medium"
    )
    if options.plots:
        folder = Path(options.plots)
        folder.mkdir(parents=True, exist_ok=True)
        for name, axes in pictures.items():
            axes.figure.savefig(folder / f"{name}.svg")
    else:
        plt.show()
    return comparison


if __name__ == "__main__":
    main()
