"""The balancing index, against its definition and known answers."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from ir_lexirecall import evaluate
from ir_lexirecall.meta import balancing_index


def index(measure: str, n: int, **options: Any) -> int:
    return int(balancing_index(measure, n, **options)["B"].iloc[0])


# -- the balancing index ---------------------------------------------------------------------------


def test_known_balancing_indices() -> None:
    of = {
        n: balancing_index(["RBP(p=0.8)", "ERR"], n).set_index("measure")["B"]
        for n in (20, 21, 100, 400)
    }
    assert [of[n]["RBP(p=0.8)"] for n in of] == [7, 8, 8, 8]
    assert {of[n]["ERR"] for n in of} == {1}
    assert 55 <= index("RBP(p=0.95)", 400) <= 60


@pytest.mark.parametrize(("top", "lowest"), [(1, 1), (3, 2), (4, 1)])
@pytest.mark.parametrize(
    ("p", "lengths"),
    [("0.8", [1, 2, 3, 10, 30, 60]), ("0.05", [1, 5]), ("0.5", [1, 2, 3, 10, 30])],
)
def test_graded_rbp_by_its_geometric_sum(
    p: str, lengths: list[int], top: int, lowest: int
) -> None:
    """Up to the lengths at which floats lose p^n."""
    share = Fraction(p)
    for n in lengths:
        tail = {
            b: lowest * sum(share ** (i - 1) for i in range(b, n + 1))
            for b in range(1, n + 1)
        }
        expected = max((b for b, value in tail.items() if value >= top), default=0)
        assert index(f"RBP(p={p})", n, top=top, lowest=lowest) == expected


def tails_outweigh(measure: str, n: int, top: int, lowest: int) -> list[bool]:
    """For b = 1..n, whether a tail from b on scores at least as much as one top document, by evaluating both as runs."""
    docs = {"top": top} | {f"d{i}": lowest for i in range(n)}
    qrels = {str(b): docs for b in range(n + 1)}
    one = {"top": 0.0} | {f"x{i}": -float(i) for i in range(1, n)}
    run = {"0": one}
    for b in range(1, n + 1):
        run[str(b)] = {
            (f"d{i}" if i >= b - 1 else f"x{i}"): -float(i) for i in range(n)
        }
    values = evaluate(measure, qrels, run).iloc[:, 0]
    return [values[str(b)] >= values["0"] - 1e-12 for b in range(1, n + 1)]


@pytest.mark.parametrize(
    "measure",
    [
        "AP",
        "nDCG",
        "ERR",
        "RBP(p=0.8)",
        "LR",
        "TSE",
        "R@3",
        "CWL_ERR10(max_rel=4)",
        "Bpref",
    ],
)
@pytest.mark.parametrize(("top", "lowest"), [(1, 1), (3, 1), (4, 3)])
def test_the_balancing_index_is_the_last_rank_at_which_a_tail_outweighs_the_top(
    measure: str, top: int, lowest: int
) -> None:
    for n in (1, 2, 5, 11):
        outweighed = [
            b
            for b, enough in enumerate(tails_outweigh(measure, n, top, lowest), start=1)
            if enough
        ]
        assert index(measure, n, top=top, lowest=lowest) == max(
            outweighed, default=0
        ), n


def test_the_older_ndcg_balances_as_its_base_says() -> None:
    """Base 2 of the older form and log2(i + 1) agree; base 10 counts ten ranks in full."""
    n = [5, 10, 20, 50, 100]
    table = balancing_index(["nDCG", "nDCG_JK(a=2)", "nDCG_JK(a=10)"], n).groupby(
        "measure"
    )["B"]
    assert {name: column.tolist() for name, column in table} == {
        "nDCG": [3, 7, 16, 45, 94],
        "nDCG_JK(a=2)": [3, 7, 16, 45, 94],
        "nDCG_JK(a=10)": [5, 10, 19, 49, 99],
    }


def test_a_binary_measure_that_wants_more_than_the_lowest_grade_is_never_balanced() -> (
    None
):
    assert index("AP(rel=2)", 10, top=2, lowest=1) == 0
    assert index("AP(rel=3)", 10, top=2, lowest=1) == 10  # both score nothing


@pytest.mark.parametrize("n", [1, 2, 3, 7, 20])
def test_the_balancing_index_of_ap_by_its_definition(n: int) -> None:
    tail = {
        b: sum(Fraction(i - b + 1, i) for i in range(b, n + 1)) for b in range(1, n + 1)
    }
    assert index("AP", n) == max(b for b, value in tail.items() if value >= 1)


# Ferrante, Ferro, Maistro, ICTIR 2015, Figure 1 (a), whose curves are not printed as numbers: an independent computation.
FIGURE_1A = {
    "RBP(p=0.5)": [
        1,
        1,
        1,
        1,
        2,
        2,
        2,
    ],  # 1 in exact arithmetic: floats lose p^n from n = 41 on
    "RBP(p=0.8)": [3, 6, 7, 8, 8, 8, 8],
    "RBP(p=0.95)": [4, 9, 18, 19, 41, 57, 59],
    "nDCG": [3, 7, 16, 17, 45, 94, 193],
    "AP": [3, 7, 15, 16, 41, 87, 181],
    "ERR": [1, 1, 1, 1, 1, 1, 1],
}


def test_the_curves_of_figure_1a() -> None:
    n = [5, 10, 20, 21, 50, 100, 200]
    table = balancing_index(list(FIGURE_1A), n)
    assert table.groupby("measure")["B"].apply(list).to_dict() == FIGURE_1A


def test_values_of_any_size_are_told_apart() -> None:
    """One document at rank n is worth less than one at rank 1, however little of a value that is."""
    assert [index("RBP(p=0.9999999)", n) for n in (30, 60)] == [29, 59]
