"""Qrels and runs in the wrong order, and runs that are no mapping, are named as such."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import ir_lexirecall as irl
from ir_lexirecall import demo

RUNS = {name: demo.run(name) for name in ("bm25", "ql")}
DICTS = {"a": {"q": {"d": 2.0}}, "b": {"q": {"d": 1.0}}}


@pytest.mark.parametrize(
    "runs", [RUNS, DICTS, {"a": "a.run"}, {"a": Path("a.run"), "b": "b.run"}]
)
@pytest.mark.parametrize(
    "qrels", [demo.qrels(), {"q": {"d": 1}}, "qrels.txt", [("q", "d", 1)]]
)
def test_the_wrong_order_is_named(runs: Any, qrels: Any) -> None:
    with pytest.raises(
        ValueError, match=r"^compare: the first argument is a mapping of names to"
    ):
        irl.compare(runs, qrels)


@pytest.mark.parametrize("runs", ["runs/*.run", ["a.run", "b.run"], demo.run("ql"), 7])
def test_runs_that_are_no_mapping_say_how_to_give_them(runs: Any) -> None:
    with pytest.raises(
        ValueError, match=r"^compare: give the runs as a mapping .* \{'bm25':"
    ):
        irl.compare(demo.qrels(), runs)


def test_the_right_order_is_taken() -> None:
    assert irl.compare({"q": {"d": 1}}, DICTS).runs == ["a", "b"]


# -- wins of LexiRecall --------------------------------------------------------------------------


def _deep_run(first_ranks: list[int]) -> dict[str, dict[str, float]]:
    """40 relevant documents a query: one at a given rank, the others 50 ranks apart below 100."""
    run = {}
    for number, first in enumerate(first_ranks):
        rank_of_doc = {"d0": first, **{f"d{i}": 50 * i + 50 for i in range(1, 40)}}
        filler = set(range(1, 2001)) - set(rank_of_doc.values())
        ranks = rank_of_doc | {f"x{rank}": rank for rank in filler}
        run[f"q{number}"] = {doc_id: -float(rank) for doc_id, rank in ranks.items()}
    return run


@pytest.mark.parametrize(
    "measure", ["LR", "LR(rel=1)@2000", "LR(form='weighted',n=5000)"]
)
def test_wins_of_lexirecall_are_those_of_the_exact_order_though_values_tie(
    measure: str,
) -> None:
    qrels = {f"q{number}": {f"d{i}": 1 for i in range(40)} for number in range(6)}
    qrels["nothing"] = {"d0": 0}
    runs = {"a": _deep_run([1, 1, 1, 9, 5, 5]), "b": _deep_run([2, 3, 4, 8, 5, 7])}
    result = irl.compare(qrels, runs, [measure, "lexirecall"], test="sign")
    by_value, exact = result.table().to_dict("records")
    assert (
        result.per_query(measure).nunique(axis=1).eq(1).all()
    )  # floats tell none apart
    assert (by_value["wins"], by_value["losses"], by_value["ties"]) == (4, 1, 2)
    assert (exact["wins"], exact["losses"], exact["ties"]) == (4, 1, 1)
    for column in ("p", "estimate", "ci_low", "ci_high"):
        assert by_value[column] == exact[column]
    assert by_value["difference"] == 0
    winner, exactly = (
        result.explain("a", "b", by).set_index("query_id")["winner"].fillna("neither")
        for by in (measure, "lexirecall")
    )
    assert winner.drop("nothing").tolist() == exactly.tolist()
    assert winner["nothing"] == "neither"
    groups = {
        query_id: "odd" if query_id in ("q1", "q3", "q5") else "even"
        for query_id in qrels
    }
    table = (
        irl.compare(qrels, runs, measure, groups=groups)
        .group_table()
        .set_index("group")
    )
    assert table.loc["odd", ["wins", "losses", "ties"]].tolist() == [2, 1, 0]
    assert table.loc["even", ["wins", "losses", "ties"]].tolist() == [2, 0, 2]


@pytest.mark.parametrize(
    ("by", "hint"),
    [
        (["nDCG@10", "rpp", "NERR8@10"], ""),
        (["LexiRecall", "NERR8@10"], ""),
        (["AP(foo=1)", "rpp"], ""),
        (["rpp", "rpq"], "did you mean RBP, or the preference 'rpp'?"),
        (["LexiRecall", "lexirecal"], "or the preference 'lexirecall'?"),
        (["rpp", "xyz"], "; preferences are lexirecall, "),
        ({"mine": "dominanc"}, "did you mean the preference 'dominance'?"),
    ],
)
def test_only_an_unknown_name_is_held_for_a_preference(by: Any, hint: str) -> None:
    """Not one that was given correctly, nor a measure that lacks a parameter."""
    with pytest.raises(ValueError, match="compare: ") as caught:
        irl.compare(demo.qrels(), demo.runs(), by)
    said = str(caught.value)
    assert hint in said
    assert ("preference" in said) == bool(hint)
