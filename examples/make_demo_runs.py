"""Make the run files of the demo collection.

Reads ``docs.tsv`` and ``queries.tsv`` from ``ir_lexirecall/data/demo`` and writes
five TREC runs (``qid Q0 docid rank score tag``) to ``ir_lexirecall/data/demo/runs``:

bm25         BM25 over title and text (k1=0.9, b=0.4)
tfidf        cosine of log-tf * idf vectors over title and text, no stop list
ql           query likelihood with Dirichlet smoothing (mu=100)
overlap      number of query terms in the title / sqrt(title length)
bm25_rerank  the BM25 run with its first ten documents reordered

Plurals are folded, nothing else is stemmed. All runs but tfidf drop a few
function words. A run holds at most 50 documents for a query, and only those
whose score is positive, so runs differ in depth, and a query for which nothing
scores is absent. Equal scores are ordered by document id. Nothing is random.

Usage: ``python examples/make_demo_runs.py [--out FOLDER]``
"""

from __future__ import annotations

import argparse
import csv
import re
from pathlib import Path

import numpy as np

DEMO = Path(__file__).resolve().parents[1] / "ir_lexirecall" / "data" / "demo"
DEPTH = 50
RERANK_DEPTH = 10
STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at be by do does for from how in is it of on or that the to what why you",
    )
)
Ranking = list[tuple[str, float]]


def read_tsv(path: Path) -> list[dict[str, str]]:
    """Read a tab-separated file with a header line."""
    with path.open(encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle, delimiter="\t", quoting=csv.QUOTE_NONE))


def tokenize(text: str) -> list[str]:
    """Lower-cased runs of letters and digits, without a plural ``s`` or ``es``."""
    words = re.findall(r"[^\W_]+", text.lower())
    return [
        re.sub(r"(?<=o)es$|(?<=[^isu])s$", "", w) if len(w) > 3 else w for w in words
    ]


class Index:
    """Document-by-term counts of a list of texts, with the statistics that rankers need."""

    def __init__(
        self, texts: list[str], stop_words: frozenset[str] = STOP_WORDS
    ) -> None:
        tokens = [[t for t in tokenize(text) if t not in stop_words] for text in texts]
        terms = sorted({term for doc in tokens for term in doc})
        self.column = {term: i for i, term in enumerate(terms)}
        self.tf = np.zeros((len(texts), len(terms)))
        for row, doc in enumerate(tokens):
            for term in doc:
                self.tf[row, self.column[term]] += 1
        self.length = self.tf.sum(axis=1)
        self.df = (self.tf > 0).sum(axis=0)

    def columns(self, query: str) -> list[int]:
        """Columns of the distinct query terms that occur in the texts."""
        terms = dict.fromkeys(tokenize(query))
        return [self.column[term] for term in terms if term in self.column]


def bm25(index: Index, query: str, k1: float = 0.9, b: float = 0.4) -> np.ndarray:
    """BM25 with the Robertson-Sparck Jones idf."""
    cols = index.columns(query)
    tf, df = index.tf[:, cols], index.df[cols]
    idf = np.log((len(tf) - df + 0.5) / (df + 0.5))
    norm = k1 * (1 - b + b * index.length / index.length.mean())
    scores: np.ndarray = (idf * tf * (k1 + 1) / (tf + norm[:, None])).sum(axis=1)
    return scores


def tfidf(index: Index, query: str) -> np.ndarray:
    """Cosine of (1 + log tf) * log(N / df) document vectors and the idf query vector."""
    cols = index.columns(query)
    idf = np.log(len(index.tf) / index.df)
    weights = np.where(index.tf > 0, 1 + np.log(np.maximum(index.tf, 1)), 0) * idf
    norms = np.linalg.norm(weights, axis=1) * np.linalg.norm(idf[cols])
    scores: np.ndarray = weights[:, cols] @ idf[cols] / norms
    return scores


def query_likelihood(index: Index, query: str, mu: float = 100.0) -> np.ndarray:
    """Dirichlet-smoothed log likelihood, less that of a document without any query term.

    The constant ``sum(log p(term | collection))`` is left out: the order is the
    same, and a positive score means "more likely than under the collection".
    """
    cols = index.columns(query)
    prior = index.tf[:, cols].sum(axis=0) / index.length.sum()
    gain = np.log1p(index.tf[:, cols] / (mu * prior)).sum(axis=1)
    scores: np.ndarray = gain + len(cols) * np.log(mu / (index.length + mu))
    return scores


def overlap(titles: Index, query: str) -> np.ndarray:
    """Number of distinct query terms in the title over the root of the title length."""
    hits = (titles.tf[:, titles.columns(query)] > 0).sum(axis=1)
    scores: np.ndarray = hits / np.sqrt(np.maximum(titles.length, 1))
    return scores


def rank(doc_ids: list[str], scores: np.ndarray) -> Ranking:
    """The best documents with a positive score, ties in order of document id."""
    rounded = [
        (doc_id, round(float(s), 6)) for doc_id, s in zip(doc_ids, scores, strict=True)
    ]
    positive = [pair for pair in rounded if pair[1] > 0]
    return sorted(positive, key=lambda pair: (-pair[1], pair[0]))[:DEPTH]


def rerank(
    ranking: Ranking, title_score: dict[str, float], weight: float = 0.3
) -> Ranking:
    """Reorder the first documents by a blend of their score and their title overlap.

    Both parts are scaled to [0, 1]. The last score of the head is added to the
    blend, so that the head stays above the tail, which is left as it is.
    """
    head, tail = ranking[:RERANK_DEPTH], ranking[RERANK_DEPTH:]
    if not head:
        return ranking
    top, floor = head[0][1], head[-1][1]
    best_title = max(title_score[doc_id] for doc_id, _ in head) or 1.0
    blended = [
        (
            d,
            round(
                floor + (1 - weight) * s / top + weight * title_score[d] / best_title, 6
            ),
        )
        for d, s in head
    ]
    return sorted(blended, key=lambda pair: (-pair[1], pair[0])) + tail


def write_run(path: Path, rankings: dict[str, Ranking]) -> None:
    """Write rankings in TREC format; the tag is the file's stem."""
    with path.open("w", encoding="utf-8", newline="\n") as handle:
        for query_id, ranking in rankings.items():
            for position, (doc_id, score) in enumerate(ranking, start=1):
                handle.write(
                    f"{query_id} Q0 {doc_id} {position} {score:.6f} {path.stem}\n"
                )


def main(out: Path = DEMO / "runs") -> None:
    """Make all five runs."""
    docs = read_tsv(DEMO / "docs.tsv")
    queries = {row["query_id"]: row["text"] for row in read_tsv(DEMO / "queries.tsv")}
    doc_ids = [doc["doc_id"] for doc in docs]
    texts = [f"{doc['title']} {doc['text']}" for doc in docs]
    full, unstopped = Index(texts), Index(texts, stop_words=frozenset())
    titles = Index([doc["title"] for doc in docs])

    runs: dict[str, dict[str, Ranking]] = {}
    for query_id, text in queries.items():
        title_scores = overlap(titles, text)
        rankings = {
            "bm25": rank(doc_ids, bm25(full, text)),
            "tfidf": rank(doc_ids, tfidf(unstopped, text)),
            "ql": rank(doc_ids, query_likelihood(full, text)),
            "overlap": rank(doc_ids, title_scores),
        }
        by_id = {
            doc_id: float(s) for doc_id, s in zip(doc_ids, title_scores, strict=True)
        }
        rankings["bm25_rerank"] = rerank(rankings["bm25"], by_id)
        for name, ranking in rankings.items():
            runs.setdefault(name, {})[query_id] = ranking

    out.mkdir(exist_ok=True)
    for name, rankings in runs.items():
        write_run(out / f"{name}.run", rankings)
        print(f"{name}: {sum(map(len, rankings.values()))} lines")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description="Make the run files of the demo collection."
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=DEMO / "runs",
        help="folder to write to (default: the package's)",
    )
    main(parser.parse_args().out)
