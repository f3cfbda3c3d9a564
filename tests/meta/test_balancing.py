"""The partial order and the balancing index, against their definitions."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ir_lexirecall as irl
from ir_lexirecall.meta.balancing import balancing_index, partial_order


def index(measure: str, n: int, **options: Any) -> int:
    return int(balancing_index(measure, n, **options)["B"].iloc[0])


# -- the partial order -----------------------------------------------------------------------------

GRADES = st.lists(st.integers(0, 2), min_size=1, max_size=5)


@given(a=GRADES, b=GRADES)
def test_a_ranking_is_better_iff_it_is_ahead_at_every_depth_and_grade(a: list[int], b: list[int]) -> None:
    depth = max(len(a), len(b))

    def at_least(x: list[int], y: list[int]) -> bool:
        counts = [
            (sum(g >= grade for g in x[:k]), sum(g >= grade for g in y[:k]))
            for k, grade in itertools.product(range(1, depth + 1), (1, 2))
        ]
        return all(own >= other for own, other in counts)

    expected = {(True, True): "=", (True, False): ">", (False, True): "<", (False, False): "not comparable"}
    row = partial_order({"a": a, "b": b}).iloc[0]
    assert row["order"] == expected[at_least(a, b), at_least(b, a)]
    for ahead, x, y in ((row["a_ahead"], a, b), (row["b_ahead"], b, a)):
        if ahead is not None:
            k, grade = ahead
            assert sum(g >= grade for g in x[:k]) > sum(g >= grade for g in y[:k])


@given(a=GRADES, b=GRADES)
def test_the_partial_order_is_the_preference_dominance(a: list[int], b: list[int]) -> None:
    size = max(len(a), len(b))
    a, b = a + [0] * (size - len(a)), b + [0] * (size - len(b))
    pool = {(grade, i): f"g{grade}-{i}" for grade in range(3) for i in range(size)}
    qrels = {"q": {name: grade for (grade, _), name in pool.items()}}

    def run(grades: list[int]) -> dict[str, dict[str, float]]:
        return {"q": {pool[grade, grades[:i].count(grade)]: -float(i) for i, grade in enumerate(grades)}}

    preference = irl.compare(qrels, {"a": run(a), "b": run(b)}, "dominance", correction=None).tensor()[0, 0, 1]
    sign = {">": 1, "<": -1, "=": 0}
    order = partial_order({"a": a, "b": b})["order"].iloc[0]
    assert np.isnan(preference) if order == "not comparable" else preference == sign[order]


@pytest.mark.parametrize(
    ("rankings", "message"),
    [
        ({"a": [1]}, "at least two rankings"),
        ({1: [1], "1": [0]}, "two rankings have the same name"),
        ([[1], [0]], "at least two rankings"),
        ({"a": [1], "b": ["x"]}, "grades of ranking 'b'"),
        ({"a": [float("nan")], "b": [1]}, "ranking 'a' has a grade that is not a finite number"),
    ],
)
def test_what_is_no_ranking_is_refused(rankings: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        partial_order(rankings)


# -- the balancing index ---------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["algorithm", "closed form"])
def test_known_balancing_indices(method: str) -> None:
    of = {
        n: balancing_index(["RBP(p=0.8)", "RBP(p=0.95)", "ERR"], n, method=method).set_index("measure")["B"]
        for n in (20, 21, 100, 400)
    }
    assert [of[n]["RBP(p=0.8)"] for n in of] == [7, 8, 8, 8]
    assert 55 <= of[400]["RBP(p=0.95)"] <= 60
    assert {of[n]["ERR"] for n in of} == {1}


CLOSED = ["AP", "AP@7", "RBP(p=0.8)", "RBP(p=0.95)", "RBP(p=0.8)@6", "ERR", "ERR@9", "nDCG", "nDCG@12"]


@pytest.mark.parametrize("grades", [{}, {"top": 4, "lowest": 1}, {"top": 3, "lowest": 2}, {"top": 1, "lowest": 1}])
def test_closed_forms_equal_the_algorithm(grades: dict[str, int]) -> None:
    n = [*range(1, 30), 57, 120]
    found = [balancing_index(CLOSED, n, method=method, **grades)["B"] for method in ("algorithm", "closed form")]
    assert (found[0] == found[1]).all()


@pytest.mark.parametrize("p", ["0.5", "0.8", "0.9", "0.75", "0.05"])
@pytest.mark.parametrize("n", [1, 2, 3, 10, 30, 37, 60, 400])
def test_the_closed_form_of_rbp_is_exact(p: str, n: int) -> None:
    share = Fraction(p)
    tail = {b: sum(share ** (i - 1) for i in range(b, n + 1)) for b in range(1, n + 1)}
    assert index(f"RBP(p={p})", n, method="closed form") == max(b for b, value in tail.items() if value >= 1)


def test_a_binary_measure_that_wants_more_than_the_lowest_grade_is_never_balanced() -> None:
    for method in ("algorithm", "closed form"):
        assert index("AP(rel=2)", 10, top=2, lowest=1, method=method) == 0
        assert index("AP(rel=3)", 10, top=2, lowest=1, method=method) == 10  # both score nothing


@pytest.mark.parametrize("n", [1, 2, 3, 7, 20])
def test_the_balancing_index_of_ap_by_its_definition(n: int) -> None:
    tail = {b: sum(Fraction(i - b + 1, i) for i in range(b, n + 1)) for b in range(1, n + 1)}
    assert index("AP", n) == max(b for b, value in tail.items() if value >= 1)


def test_portions_of_tails_do_not_change_the_index(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = balancing_index(["LR", "RBU", "nDCG"], range(1, 25))["B"]
    monkeypatch.setattr("ir_lexirecall.meta.balancing._DOCUMENTS", 40)
    assert (balancing_index(["LR", "RBU", "nDCG"], range(1, 25))["B"] == whole).all()


def test_top_heavy_measures_have_a_smaller_index() -> None:
    found = balancing_index(["RBP(p=0.5)", "RBP(p=0.8)", "RBP(p=0.95)"], 200)["B"].tolist()
    assert found == sorted(found)


@pytest.mark.parametrize(
    ("measure", "options", "message"),
    [
        ("Rprec", {"method": "closed form"}, "no closed form for Rprec"),
        ("nDCG(dcg='exp-log2')", {"method": "closed form"}, "without further parameters"),
        ("AP", {"method": "guess"}, "'algorithm' or 'closed form'"),
        ("AP", {"top": 1, "lowest": 2}, "lowest relevant grade, 2, is above the top grade, 1"),
        ("AP", {"top": 0}, "a number above 0, not 0"),
        ("CAM(aspects={'a':1})", {}, "judges several aspects"),
        ("ERR", {"top": 5}, "ERR has grades up to 4, not 5"),
        ("ERR", {"top": 5, "method": "closed form"}, "ERR has grades up to 4, not 5"),
        ("RBP(p=1.0)", {"method": "closed form"}, "p must lie between 0 and 1, not 1"),
    ],
)
def test_bad_input_is_named(measure: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        balancing_index(measure, 5, **options)


def test_studies_are_drawn() -> None:
    pytest.importorskip("matplotlib")
    assert balancing_index(["AP", "ERR"], [5, 10]).plot().lines
    assert partial_order({"a": [1, 0], "b": [0, 1], "c": [0, 2]}).plot().images
