"""The balancing index of the paper's script, against its definition and known answers."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ir_lexirecall import evaluate


@pytest.fixture(scope="module")
def index() -> Callable[..., Any]:
    sys.path.insert(0, str(Path(__file__).parents[2] / "examples" / "papers"))
    try:
        from ferrante_2015 import balancing_index
    finally:
        del sys.path[0]
    return lambda measure, n, **options: balancing_index([measure], n, **options)["B"].tolist()


def tails_outweigh(measure: str, n: int, top: int, lowest: int) -> list[bool]:
    """For b = 1..n, whether a tail from b on scores at least as much as one top document, by evaluating both as runs."""
    docs = {"top": top} | {f"d{i}": lowest for i in range(n)}
    qrels = {str(b): docs for b in range(n + 1)}
    one = {"top": 0.0} | {f"x{i}": -float(i) for i in range(1, n)}
    run = {"0": one}
    for b in range(1, n + 1):
        run[str(b)] = {(f"d{i}" if i >= b - 1 else f"x{i}"): -float(i) for i in range(n)}
    values = evaluate(measure, qrels, run).iloc[:, 0]
    return [values[str(b)] >= values["0"] - 1e-12 for b in range(1, n + 1)]


@pytest.mark.parametrize("measure", ["AP", "nDCG", "ERR", "RBP(p=0.8)", "LR", "R@3", "CWL_ERR10(max_rel=4)", "Bpref"])
@pytest.mark.parametrize(("top", "lowest"), [(1, 1), (3, 1), (4, 3)])
def test_it_is_the_last_rank_at_which_a_tail_outweighs_the_top(
    measure: str, top: int, lowest: int, index: Callable[..., Any]
) -> None:
    for n in (1, 2, 5, 11):
        outweighed = [b for b, enough in enumerate(tails_outweigh(measure, n, top, lowest), start=1) if enough]
        assert index(measure, [n], top=top, lowest=lowest) == [max(outweighed, default=0)], n


# Ferrante, Ferro, Maistro, ICTIR 2015, Figure 1 (a), whose curves are not printed as numbers: an independent computation.
FIGURE_1A = {
    "RBP(p=0.5)": [1, 1, 1, 1, 2, 2, 2],  # 1 in exact arithmetic: floats lose p^n from n = 41 on
    "RBP(p=0.8)": [3, 6, 7, 8, 8, 8, 8],
    "RBP(p=0.95)": [4, 9, 18, 19, 41, 57, 59],
    "nDCG": [3, 7, 16, 17, 45, 94, 193],
    "AP": [3, 7, 15, 16, 41, 87, 181],
    "ERR": [1, 1, 1, 1, 1, 1, 1],
}


@pytest.mark.parametrize("measure", FIGURE_1A)
def test_the_curves_of_figure_1a(measure: str, index: Callable[..., Any]) -> None:
    assert index(measure, [5, 10, 20, 21, 50, 100, 200]) == FIGURE_1A[measure]
