"""
Runs on several collections
===========================

What holds over all collections, and how surely? You will see macro means with intervals, ranks, and differences to a
baseline, once with these collections as the benchmark and once as a sample of tasks; and three pictures of them.

The embedded collection is split in three by subject. Needs the package with its pictures and comparisons; a script with
arguments::

    python examples/benchmark_suite.py
    python examples/benchmark_suite.py --plots out   # the pictures as files
    python examples/benchmark_suite.py --data DATA   # also vaswani, TREC 2003 Robust, CLEF eHealth 2016, the Web Track
"""

import argparse
import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import ir_lexirecall as irl
from ir_lexirecall import demo
from ir_lexirecall.benchmarks import Benchmark

# %%
# Three collections out of one, by the subject of the queries.

SUBJECTS = {
    "nature": ("bee", "volcano", "tide"),
    "kitchen": ("bread", "coffee"),
    "body": ("bike", "sleep"),
}


def by_subject() -> dict[str, object]:
    """The judgments of the embedded collection, each query with the subject that most of its relevant documents have."""
    qrels = demo.qrels()
    relevant = qrels[qrels["relevance"] > 0]
    subject_of_word = {
        word: subject for subject, words in SUBJECTS.items() for word in words
    }
    subject = (
        relevant["doc_id"]
        .str.split("-")
        .str[0]
        .map(subject_of_word)
        .groupby(relevant["query_id"])
    )
    of_query = subject.agg(lambda several: several.mode()[0])
    return {name: qrels[qrels["query_id"].map(of_query) == name] for name in SUBJECTS}


# %%
# What a benchmark says: ``overall()`` for these collections, ``overall("collections")`` for collections like these, and
# Friedman's test on ranks.


def show(result: Benchmark) -> None:
    columns = [
        "criterion",
        "run",
        "mean",
        "ci_low",
        "ci_high",
        "mean_rank",
        "rank_low",
        "rank_high",
    ]
    difference = ["difference", "difference_low", "difference_high", "p_corrected"]
    print(result.overall()[columns + difference].round(3).to_string(index=False))
    print("\nWere the collections a sample of tasks:\n")
    over = result.overall("collections")
    print(
        over[["criterion", "run", *difference, "effect", "i2"]]
        .dropna(subset="difference")
        .round(3)
        .to_string(index=False)
    )
    test = result.friedman()
    print(
        f"\nFriedman's test by {test['criterion']}: p {test['p']:.3f}; critical difference {test['critical_difference']:.2f}"
    )
    for note in result.diagnostics[:5]:
        print(f"- {note}")


def embedded(n_resamples: int) -> Benchmark:
    collections = by_subject()
    result = irl.benchmark(
        collections,
        dict.fromkeys(collections, demo.runs()),
        ["nDCG@10", "LR"],
        baseline="bm25",
        test=irl.SignificanceTest(n_resamples=n_resamples),
    )
    print(f"The embedded collection by subject: {', '.join(collections)}\n")
    show(result)
    return result


# %%
# The same systems on a collection of another kind: rankings made on the spot, of the three parts and of vaswani, where a folder
# of evaluation data has it.


def rankings(docs: pd.Series, queries: pd.Series) -> dict[str, pd.DataFrame]:
    """Two variants of BM25, and TF-IDF, of texts by their ids."""

    def words(texts: pd.Series, name: str) -> pd.DataFrame:
        parts = (
            texts.str.lower()
            .str.findall("[a-z0-9]+")
            .explode()
            .rename("word")
            .rename_axis(name)
            .reset_index()
        )
        return parts.value_counts().rename("tf").reset_index()

    postings = words(docs, "doc_id")
    length = postings.groupby("doc_id")["tf"].transform("sum")
    relative = length / (length.groupby(postings["doc_id"]).first().mean())
    documents = postings.groupby("word")["tf"].transform("size")
    idf = np.log(1 + (len(docs) - documents + 0.5) / (documents + 0.5))
    tf = postings["tf"]
    weights = {
        "bm25": idf * tf * 2.2 / (tf + 1.2 * (0.25 + 0.75 * relative)),
        "bm25 short": idf * tf * 1.9 / (tf + 0.9 * (0.6 + 0.4 * relative)),
        "tf-idf": idf * (1 + np.log(tf)) / np.sqrt(length),
    }
    asked = words(queries, "query_id").merge(postings.assign(**weights), on="word")
    scores = asked.groupby(["query_id", "doc_id"], as_index=False)[list(weights)].sum()
    return {
        name: scores[["query_id", "doc_id", name]].rename(columns={name: "score"})
        for name in weights
    }


def with_vaswani(home: Path, n_resamples: int) -> None:
    """Means over the parts of the embedded collection and vaswani, which each count once."""
    os.environ["IR_DATASETS_HOME"] = str(
        home
    )  # ir_datasets looks there when it is imported
    import ir_datasets

    vaswani = irl.load("vaswani")
    docs = pd.Series(
        {doc.doc_id: doc.text for doc in ir_datasets.load("vaswani").docs_iter()}
    )
    ours = rankings(
        demo.docs().set_index("doc_id")["text"],
        demo.queries().set_index("query_id")["text"],
    )
    theirs = rankings(docs, vaswani.queries.set_index("query_id")["text"])
    result = irl.benchmark(
        {**by_subject(), "vaswani": vaswani},
        {**dict.fromkeys(SUBJECTS, ours), "vaswani": theirs},
        ["nDCG@10", "LR"],
        baseline="bm25",
        test=irl.SignificanceTest(n_resamples=n_resamples),
    )
    print("\n\nThree systems on these three parts and on vaswani\n")
    means = result.means().pivot(
        index=["collection", "run"], columns="criterion", values="mean"
    )
    print(means.loc[list(result), result.criteria].round(3).to_string())
    show(result)


# %%
# Collections from a folder of evaluation data, where there is one.


def evaluation_data(folder: Path, n_resamples: int) -> None:
    """Four submitted runs on each of two collections, and one run per year of the Web Track."""
    places = {
        "robust 2003": ("robust2003", "qrels.txt.gz"),
        "ehealth 2016": ("clef-ehealth-2016", "relevance.qrels.gz"),
    }
    collections = {
        name: str(folder / place / qrels) for name, (place, qrels) in places.items()
    }
    runs = {
        name: {
            f"run {n}": str(path)
            for n, path in enumerate(sorted((folder / place / "runs").iterdir())[:4], 1)
        }
        for name, (place, _) in places.items()
    }
    result = irl.benchmark(
        collections,
        runs,
        ["nDCG@10", "LR"],
        baseline="run 1",
        test=irl.SignificanceTest(n_resamples=n_resamples),
    )
    print(
        "\n\nFour runs each of TREC 2003 Robust and CLEF eHealth 2016 (by place: not the same systems)\n"
    )
    show(result)

    columns = ["query_id", "iteration", "doc_id", "relevance"]
    qrels = pd.read_csv(
        folder / "web-adhoc" / "qrels.txt.gz",
        sep=r"\s+",
        names=columns,
        dtype={"query_id": str, "doc_id": str},
    )
    year = 2009 + (qrels["query_id"].astype(int) - 1) // 50  # fifty topics a year
    web = {
        f"web {y}": qrels[year == y][["query_id", "doc_id", "relevance"]]
        for y in range(2011, 2015)
    }
    of_year = {
        name: {"ql": str(folder / "web-adhoc" / f"wt{name[-2:]}.run.gz")}
        for name in web
    }
    result = irl.benchmark(
        web,
        of_year,
        ["nDCG@10", "LR"],
        test=irl.SignificanceTest(n_resamples=n_resamples),
    )
    print("\nWeb Track ad hoc, one run per year:\n")
    print(result.means().round(3).to_string(index=False))


# %%
# The tables and pictures of the embedded collection.


def main(n_resamples: int, plots: Path | None, data: Path | None) -> None:
    result = embedded(n_resamples)
    pictures = {
        "forest": result.plot(),
        "ranks": result.plot("rank_intervals"),
        "cd": result.plot("critical_differences"),
    }
    pictures["forest"].figure.suptitle(
        "Difference of nDCG@10 to bm25, by subject and over all", fontsize="medium"
    )
    pictures["ranks"].figure.suptitle(
        "Which ranks are possible, by mean nDCG@10", fontsize="medium"
    )
    if plots is not None:
        for name, axes in pictures.items():
            axes.figure.savefig(plots / f"{name}.svg")
    else:
        plt.show()
    if data is not None:
        with_vaswani(data / "ir_datasets_home", n_resamples)
        evaluation_data(data, n_resamples)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n-resamples", type=int, default=10_000)
    parser.add_argument("--plots", type=Path, help="folder for the pictures")
    parser.add_argument(
        "--data",
        type=Path,
        help="folder with ir_datasets_home/vaswani, robust2003, clef-ehealth-2016 and web-adhoc",
    )
    options = parser.parse_args()
    main(options.n_resamples, options.plots, options.data)
