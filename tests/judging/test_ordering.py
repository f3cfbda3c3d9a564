"""What to judge next: judging it shrinks bounds, judging all of it leaves nothing open."""

from __future__ import annotations

from itertools import combinations

import ir_measures
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ir_lexirecall as irl
from ir_lexirecall import demo
from ir_lexirecall.data.alignment import align
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.data.pools import Pool
from ir_lexirecall.judging.algorithms import Judgings
from ir_lexirecall.judging.bounds import bounds_of_differences, bounds_of_wins
from ir_lexirecall.judging.files import merged, merged_judges
from ir_lexirecall.judging.ordering import decides, to_judge_table
from ir_lexirecall.measures.scoring import values
from ir_lexirecall.preferences.naming import Preference, parse_preference
from tests.conftest import words
from tests.judging.every_judging import Small, small_collections

PAIR = np.array([0]), np.array([1])
CRITERIA = words(
    "lexirecall lexiprecision rpp P@3 R@3 nDCG@3 AP RR RBP(rel=1) TSE ERR@3 Success@2"
)


def parsed(name: str) -> object:
    return parse_preference(name) or ir_measures.parse_measure(name)


def to_judge(
    small: Small, judgments: Judgments, name: str, n: int = 99
) -> list[tuple[str, str]]:
    pool = Pool.from_runs(judgments, small.runs, small.depth)
    criterion = parsed(name)
    today = None
    if not isinstance(criterion, Preference):
        today = np.stack(
            [values(criterion, align(judgments, run)) for run in small.runs.values()]
        )
    scores = decides(pool, criterion, PAIR, Judgings(small.depth, small.max_rel), today)
    table = to_judge_table(pool, n, *scores)
    assert (np.diff(table["decides"][table["query_id"] == "0"]) <= 1e-12).all()
    return list(zip(table["query_id"], table["doc_id"], strict=True))


@pytest.mark.slow_except("lexirecall")
@pytest.mark.parametrize("name", CRITERIA)
@given(data=st.data())
def test_judging_what_is_asked_for_leaves_nothing_open(
    name: str, data: st.DataObject
) -> None:
    small = data.draw(small_collections().filter(lambda s: s.depth >= 3))
    judgments = Judgments.from_qrels(small.qrels)
    asked = to_judge(small, judgments, name)
    open_docs = {(q, doc) for q in small.qrels for doc in small.open_docs(q)}
    assert set(asked) <= open_docs
    more: dict[str, dict[str, int]] = {}
    for q, doc in asked:
        more.setdefault(q, {})[doc] = data.draw(st.integers(0, small.max_rel))
    judged = merged(judgments, more) if more else judgments
    pool = Pool.from_runs(judged, small.runs, small.depth)
    criterion = parsed(name)
    if isinstance(criterion, Preference):
        wins = bounds_of_wins(pool, criterion, PAIR, Judgings(small.depth))
        assert not ((wins.high > 0) & (wins.low < 0)).any()
    else:
        today = np.stack(
            [values(criterion, align(judged, run)) for run in small.runs.values()]
        )
        bounds = bounds_of_differences(
            pool, criterion, today, PAIR, Judgings(small.depth, small.max_rel)
        )
        low, high = bounds.low.mean(axis=1), bounds.high.mean(axis=1)
        assert not ((low < -1e-12) & (high > 1e-12)).any()
    assert to_judge(small, judged, name) == [] or not more


def test_by_lexirecall_what_half_of_the_runs_found_comes_first() -> None:
    runs = {
        name: {"q": {doc: -i for i, doc in enumerate(docs)}}
        for name, docs in {"w": "abc", "x": "abd", "y": "aef", "z": "ag"}.items()
    }
    judgments = Judgments.from_qrels({"q": {"known": 0}})
    pool = Pool.from_runs(judgments, runs)
    a, b = np.array(list(combinations(range(4), 2))).T
    score, _ = decides(pool, Preference("lexirecall"), (a, b))
    by_doc = dict(zip(pool.doc_id.to_list(), score.tolist(), strict=True))
    assert by_doc == {"a": 0, "b": 4, "c": 3, "d": 3, "e": 3, "f": 3, "g": 3}


def test_by_a_sum_of_weights_it_is_carterettes_order() -> None:
    runs = {"x": {"q": {"u": 3, "v": 2, "w": 1}}, "y": {"q": {"w": 3, "v": 2, "t": 1}}}
    judgments = Judgments.from_qrels({"q": {"known": 0}})
    pool = Pool.from_runs(judgments, runs)
    measure = ir_measures.parse_measure("RBP(p=0.5)")
    score, _ = decides(pool, measure, PAIR, values=np.zeros((2, 1)))
    by_doc = dict(zip(pool.doc_id.to_list(), score.tolist(), strict=True))
    assert by_doc == {"t": 0.125, "u": 0.5, "v": 0, "w": 0.375}


# -- merging -----------------------------------------------------------------------------------------


def test_merged_judgments_keep_queries_rules_and_what_was_excluded() -> None:
    judgments = irl.load(
        {"q1": {"a": 1, "q1": 1}, "q2": {"b": 0}, "q3": {}}, exclude="self"
    )
    more = merged(judgments, {"q2": {"c": 2}})
    assert more.query_ids == ["q1", "q2", "q3"]
    assert more.doc_ids == ["a", "b", "c"]
    assert more.grade.tolist() == [1, 0, 2]
    assert align(more, {"q1": {"q1": 2, "a": 1}}).rank.tolist() == [1]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (
            {"q": {"a": 2}},
            "document 'a' of query 'q' is judged twice, with the grades 1 and 2",
        ),
        ({"p": {"a": 2}, "r": {"a": 1}}, "the qrels have no query 'p'"),
    ],
)
def test_judgments_that_contradict_are_refused(more: dict, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        merged(Judgments.from_qrels({"q": {"a": 1}}), more)


def test_subtopics_are_left_out_with_a_warning() -> None:
    with pytest.warns(UserWarning, match="subtopics are left out"):
        more = merged(Judgments.from_qrels(demo.qrels()), {"q03": {"new": 2}})
    assert "new" in more.doc_ids
    assert more.table is None


def test_a_document_at_the_same_rank_in_both_runs_can_decide() -> None:
    runs = {
        "a": {"q": {"r1": 5, "n1": 4, "n2": 3, "x": 2, "r2": 1}},
        "b": {"q": {"n3": 5, "r1": 4, "r2": 3, "x": 2, "n4": 1}},
    }
    qrels = {"q": {"r1": 1, "r2": 1, "n1": 0, "n2": 0, "n3": 0, "n4": 0}}
    pool = Pool.from_runs(Judgments.from_qrels(qrels), runs)
    for criterion, asked in (
        (Preference("rpp"), ["x"]),
        (Preference("lexirecall"), []),
    ):  # {1, 5} and {2, 3} tie by rpp, {1, 4, 5} and {2, 3, 4} do not
        table = to_judge_table(pool, 5, *decides(pool, criterion, PAIR))
        assert table["doc_id"].tolist() == asked


def test_of_documents_that_decide_as_much_numbered_queries_come_in_their_order() -> (
    None
):
    numbers = ["10", "9", "1", "100", "2"]
    qrels = {q: {"a": 1} for q in numbers}
    runs = {
        "x": {q: {"u": 2.0, "a": 1.0} for q in numbers},
        "y": {q: {"a": 1.0} for q in numbers},
    }
    table = irl.compare(qrels, runs, "lexirecall").to_judge()
    assert table["query_id"].tolist() == sorted(numbers, key=int)
    agreed, differ = merged_judges(
        {q: {"d": 1, "e": 0} for q in numbers}, {q: {"d": 1, "e": 1} for q in numbers}
    )
    assert agreed["query_id"].tolist() == sorted(numbers, key=int)
    assert differ["query_id"].tolist() == sorted(numbers, key=int)
