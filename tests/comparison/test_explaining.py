"""Queries on which criteria prefer different runs, against two comparisons read query by query."""

from __future__ import annotations

import re

import numpy as np
import pytest

import ir_lexirecall as irl
from ir_lexirecall.comparison import Comparison
from ir_lexirecall.comparison.explaining import explained_together

BY = ["nDCG@10", "RR", "lexirecall", "rpp"]


def random_collection(seed: int) -> Comparison:
    """Return three random runs on ten queries, of which q9 has no relevant document."""
    rng = np.random.default_rng(seed)
    queries, documents = [f"q{i}" for i in range(10)], [f"d{i}" for i in range(12)]
    qrels = {
        q: {doc: int(rng.integers(0, 3)) for doc in documents[:6]} for q in queries
    }
    qrels["q9"] = dict.fromkeys(documents[:3], 0)
    runs = {
        name: {q: {doc: float(rng.random()) for doc in documents} for q in queries}
        for name in ("one", "two", "three")
    }
    return irl.compare(qrels, runs, BY)


def preferred(
    result: Comparison, by: str, a: str, b: str
) -> dict[str, tuple[str, float]]:
    """Return the run that a criterion prefers on each query that is no tie, and by how much."""
    table = result.explain(a, b, by)
    found = {}
    for row in table.to_dict("records"):
        size = (
            row["value_a"] - row["value_b"] if "value_a" in row else row["preference"]
        )
        if row["preference"]:
            found[row["query_id"]] = (a if row["preference"] > 0 else b, abs(size))
    return found


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(
    "pair", [("nDCG@10", "lexirecall"), ("rpp", "RR"), ("lexirecall", "rpp")]
)
def test_the_queries_are_those_of_two_comparisons(
    seed: int, pair: tuple[str, str]
) -> None:
    result, (x, y) = random_collection(seed), pair
    for a, b in (("one", "two"), ("three", "one")):
        by_x, by_y = preferred(result, x, a, b), preferred(result, y, a, b)
        opposed = {
            q: by_x[q][1] * by_y[q][1]
            for q in by_x.keys() & by_y.keys()
            if by_x[q][0] != by_y[q][0]
        }
        table = result.disagreements(x, y, a, b)
        assert dict(zip(table["query_id"], table["strength"], strict=True)) == opposed
        assert table["strength"].is_monotonic_decreasing
        for row in table.to_dict("records"):
            assert row[f"{x} winner"] == by_x[row["query_id"]][0]
            assert row[f"{y} winner"] == by_y[row["query_id"]][0]
        counts = table.attrs["counts"]
        agree = [q for q in by_x.keys() & by_y.keys() if by_x[q][0] == by_y[q][0]]
        assert (counts["disagree"], counts["agree"]) == (len(opposed), len(agree))
        first = sum(row == a for row in table[f"{x} winner"])
        assert counts[f"{x} prefers {a}, {y} {b}"] == first
        assert counts[f"{x} prefers {b}, {y} {a}"] == len(opposed) - first


def test_what_decided_is_that_of_each_criterion() -> None:
    result = random_collection(1)
    together = explained_together(result.compared, "one", "two", BY).set_index(
        "query_id"
    )
    assert list(together.index) == result.query_ids
    for by in BY:
        alone = result.explain("one", "two", by).set_index("query_id")
        for column in alone:
            shown = together.loc[alone.index, f"{by} {column}"].tolist()
            assert str(shown) == str(alone[column].tolist())
    assert (
        together.loc["q9", "lexirecall winner"] is None
        or together.isna().loc["q9", "lexirecall winner"]
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("RR", "RR", "one", "two"), "RR cannot disagree with itself"),
        (("RR", "rpp", "one", "one"), "run 'one' is named twice"),
        (("RR", "rpp", "one", "four"), "unknown run 'four'"),
        (("RR", "AP", "one", "two"), "unknown criterion 'AP'"),
    ],
)
def test_bad_arguments_are_named(
    arguments: tuple[str, str, str, str], message: str
) -> None:
    with pytest.raises(ValueError, match=f"^disagreements: {re.escape(message)}"):
        random_collection(0).disagreements(*arguments)


def test_tables_for_readers_list_queries_that_are_numbers_by_number() -> None:
    """Tables of values keep the order of the ids as text, as ``evaluate`` does."""
    queries = [str(number) for number in range(1, 13)]
    qrels = {q: {"a": 1, "b": 1} for q in queries}
    runs = {
        "x": {q: {"a": 2.0, "b": 1.0} for q in queries},
        "y": {q: {"c": 3.0, "b": 2.0, "a": 1.0} for q in queries},
    }
    result = irl.compare(qrels, runs, ["AP", "lexirecall"])
    assert result.per_query("AP").index.tolist() == sorted(queries)
    for criterion in result.criteria:
        assert result.explain("x", "y", criterion)["query_id"].tolist() == queries
    together = explained_together(result.compared, "x", "y", result.criteria)
    assert together["query_id"].tolist() == queries
    assert result.to_judge(by="AP")["query_id"].tolist() == queries
    found = irl.gate(qrels, runs["x"], runs["y"], "AP")
    assert found.lost()["query_id"].tolist() == queries
