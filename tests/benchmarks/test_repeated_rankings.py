"""Benchmarks of rankings with several runs per system, beside values per query and `compare`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import ir_lexirecall as irl

MEASURES = ["nDCG@10", "AP"]
N_RUNS = {"new": 3, "old": 3, "bm25": 1}

Qrels = dict[str, dict[str, dict[str, int]]]
Runs = dict[str, dict[str, Any]]


def rankings(n_runs: dict[str, int] = N_RUNS) -> tuple[Qrels, Runs]:
    """Two collections, and systems with so many runs on each; the score knows of relevance."""
    rng = np.random.default_rng(7)
    qrels: Qrels = {}
    runs: Runs = {}
    for collection, n_queries in (("a", 12), ("b", 15)):
        queries = [f"{collection}{q}" for q in range(n_queries)]
        documents = [f"d{d}" for d in range(20)]
        qrels[collection] = {
            query: {doc: int(rng.random() < 0.3) for doc in documents} | {"d0": 1}
            for query in queries
        }
        runs[collection] = {}
        for system, number in n_runs.items():
            several = [
                {
                    query: {
                        doc: float(qrels[collection][query][doc] + rng.normal(0, 1.5))
                        for doc in documents
                    }
                    for query in queries
                }
                for _ in range(number)
            ]
            runs[collection][system] = several if number > 1 else several[0]
    return qrels, runs


def values_of(qrels: Qrels, runs: Runs) -> pd.DataFrame:
    """The values of every run on every query, with a column of seeds."""
    rows = []
    for collection, systems in runs.items():
        for system, several in systems.items():
            for seed, run in enumerate(
                several if isinstance(several, list) else [several]
            ):
                table = irl.evaluate(MEASURES, qrels[collection], run)
                rows.append(
                    table.rename_axis("query_id")
                    .reset_index()
                    .assign(collection=collection, run=system, seed=seed)
                )
    return pd.concat(rows, ignore_index=True)


@pytest.mark.parametrize("kind", ["samples", "seeds"])
@pytest.mark.parametrize("over", ["queries", "collections"])
def test_rankings_give_what_their_values_give(kind: str, over: str) -> None:
    qrels, runs = rankings()
    options: dict[str, Any] = {
        "baseline": "old",
        "repeats": kind,
        "deterministic": "bm25",
    }
    if kind == "samples":
        del options["deterministic"]
    ours = irl.benchmark(qrels, runs, MEASURES, **options)
    theirs = irl.benchmark(values=values_of(qrels, runs), by=MEASURES, **options)
    columns = [
        "criterion",
        "run",
        "mean",
        "rank_low",
        "rank_high",
        "difference",
        "p",
        "verdict",
    ]
    one, other = (
        result.overall(over)[columns].sort_values(
            ["criterion", "run"], ignore_index=True
        )
        for result in (ours, theirs)
    )
    pd.testing.assert_frame_equal(one, other)
    for collection, result in ours.items():
        alone = irl.compare(qrels[collection], runs[collection], MEASURES, **options)
        pd.testing.assert_frame_equal(result.table(), alone.table())


def test_preferences_between_samples_are_averaged_over_pairs_of_runs() -> None:
    qrels, runs = rankings({"new": 2, "old": 3})
    result = irl.benchmark(qrels, runs, "lexirecall", baseline="old", repeats="samples")
    means = []
    for collection, systems in runs.items():
        pairs = []
        for new in systems["new"]:
            for old in systems["old"]:
                both = {"new": new, "old": old}
                table = irl.compare(
                    qrels[collection], both, "lexirecall", baseline="old"
                ).table()
                row = table.iloc[0]
                pairs.append(
                    (row["wins"] - row["losses"])
                    / (row[["wins", "losses", "ties"]].sum())
                )
        means.append(np.mean(pairs))
    row = result.overall().set_index("run").loc["new"]
    assert row["difference"] == pytest.approx(np.mean(means))


def test_by_default_seeds_are_compared_by_measures() -> None:
    qrels, runs = rankings({"new": 2, "old": 2})
    result = irl.benchmark(qrels, runs, repeats="seeds", baseline="old")
    assert result.criteria == ["nDCG@10", "AP", "R@1000", "LR", "TSE"]
    assert "t over queries and seeds" in result.summary(full=True)


def test_what_cannot_be_repeated_names_the_way_out() -> None:
    qrels, runs = rankings()
    with pytest.raises(
        ValueError, match=r"benchmark: collection 'a': run 'new' is a list of 3 run"
    ):
        irl.benchmark(qrels, runs, MEASURES)
    with pytest.raises(
        ValueError, match=r"benchmark: runs with seeds are not .* \(lexirecall\) ov"
    ):
        irl.benchmark(qrels, runs, [*MEASURES, "lexirecall"], repeats="seeds")
    with pytest.raises(
        ValueError, match=r"benchmark: .*run 'bm25' has one seed, which does not show"
    ):
        irl.benchmark(qrels, runs, MEASURES, repeats="seeds")
    with pytest.raises(ValueError, match=r"benchmark: .*deterministic.*'bm52'.*'bm25'"):
        irl.benchmark(qrels, runs, MEASURES, repeats="samples", deterministic="bm52")
    with pytest.raises(
        ValueError, match=r"benchmark: .*repeats names the column 'epoch', which ra"
    ):
        irl.benchmark(qrels, runs, MEASURES, repeats=("epoch", "samples"))
    runs["b"]["new"] = runs["b"]["new"][:2]
    options: dict[str, Any] = {"repeats": "seeds", "missing": "skip"}
    for systems in runs.values():
        del systems["bm25"]
    with pytest.raises(
        ValueError, match=r"run 'new' has other seeds on collection 'b' than on 'a'"
    ):
        irl.benchmark(qrels, runs, MEASURES, **options)


def test_a_deterministic_run_may_lack_a_collection() -> None:
    qrels, runs = rankings()
    del runs["b"]["bm25"]
    result = irl.benchmark(
        qrels, runs, MEASURES, repeats="seeds", deterministic="bm25", missing="skip"
    )
    assert result.runs == ["new", "old"]
    assert result.lacking == {"bm25": ["b"]}
