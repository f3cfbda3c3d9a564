"""Orientation, against the formulas of measures and the numbers behind the paper's figures."""

from __future__ import annotations

import pytest

from ir_lexirecall import evaluate
from ir_lexirecall.meta import orientation

FIGURE_5 = 10**5  # documents


def value(measure: str, ranks: tuple[int, ...], n: int) -> float:
    """Value of a ranking of all n documents, m of them relevant, by evaluating it as a run."""
    run = {"q": {f"d{rank:09d}": float(-rank) for rank in range(1, n + 1)}}
    return float(
        evaluate(measure, {"q": {f"d{rank:09d}": 1 for rank in ranks}}, run).iloc[0, 0]
    )


@pytest.mark.parametrize(
    "measure",
    ["AP", "nDCG", "RR", "R@10", "P@3", "Rprec", "RBP(p=0.8)", "LR", "TSE", "Bpref"],
)
@pytest.mark.parametrize(("n", "m"), [(12, 1), (12, 4), (30, 7), (5, 5)])
def test_orientation_is_the_plain_difference_of_two_rankings(
    measure: str, n: int, m: int
) -> None:
    row = orientation(measure, n, m).iloc[0]
    best, worst = tuple(range(1, m + 1)), tuple(range(n - m + 1, n + 1))
    expected = {
        "best": value(measure, best, n),
        "worst": value(measure, worst, n),
        "first_up": value(measure, (1, *worst[1:]), n),
        "last_down": value(measure, (*best[:-1], n), n),
    }
    assert row[list(expected)].to_dict() == pytest.approx(expected, abs=1e-15)
    scale = expected["best"] - expected["worst"] if measure == "TSE" and m < n else 1
    assert row["precision"] == pytest.approx(
        (expected["first_up"] - expected["worst"]) / scale, abs=1e-15
    )
    assert row["recall"] == pytest.approx(
        (expected["best"] - expected["last_down"]) / scale, abs=1e-15
    )


@pytest.mark.parametrize("exposure", ["AP", "nDCG", "RBP", "linear"])
def test_total_search_efficiency_is_scaled_so_that_every_exposure_gives_the_same_line(
    exposure: str,
) -> None:
    measure = f"TSE(exposure='{exposure}'{',n=50' if exposure == 'linear' else ''})"
    table = orientation(measure, m=range(2, 6), n=50)
    assert table["precision"].tolist() == [0] * 4
    assert table["recall"].tolist() == pytest.approx([1] * 4)
    scaled = orientation(
        f"TSE(exposure='{exposure}',n=50,normalize=True)", m=3, n=50
    ).iloc[0]
    assert scaled["recall"] == pytest.approx(scaled["best"] - scaled["last_down"]) == 1


# Diaz et al., TORS 2026, Figure 5: n = 10^5; expected values, which are not printed.
PRECISION = {"nDCG": {1: 0.9398, 5: 0.3187, 10: 0.2068, 15: 0.1603}}
RECALL = {
    "nDCG": {1: 0.9398, 5: 0.1108, 10: 0.0504, 15: 0.0324},
    "RBP(p=0.8)": {1: 0.2, 5: 0.0819, 10: 0.0268, 15: 0.0088},
}


@pytest.mark.parametrize(
    ("column", "expected"), [("precision", PRECISION), ("recall", RECALL)]
)
def test_orientation_of_the_figure(
    column: str, expected: dict[str, dict[int, float]]
) -> None:
    table = orientation(list(expected), m=[1, 5, 10, 15], n=FIGURE_5).set_index(
        ["measure", "m"]
    )[column]
    for measure, by_m in expected.items():
        assert table[measure].round(4).to_dict() == by_m


def test_what_the_paper_says_of_the_figure() -> None:
    m = range(1, 16)
    measures = ["RR", "nDCG", "AP", "R@1000", "Rprec", "RBP(p=0.8)", "TSE"]
    table = orientation(measures, FIGURE_5, m)
    precision = table.pivot(index="m", columns="measure", values="precision")
    recall = table.pivot(index="m", columns="measure", values="recall")
    for name in ("AP", "R@1000", "Rprec"):
        assert precision[name].to_numpy() == pytest.approx([1 / i for i in m], abs=2e-4)
        assert recall[name].to_numpy() == pytest.approx([1 / i for i in m], abs=2e-5)
    assert recall["AP"].to_numpy() == pytest.approx(
        [1 / i - 1 / FIGURE_5 for i in m], abs=1e-9
    )
    assert precision["RR"].to_numpy() == pytest.approx(1, abs=2e-5)
    assert precision["RBP(p=0.8)"].to_numpy() == pytest.approx(0.2)  # flat in m
    assert (precision["RBP(p=0.8)"] > precision["AP"] + 1e-4).idxmax() == 6
    assert (precision["RBP(p=0.8)"] > precision["nDCG"]).idxmax() == 11
    assert (precision["nDCG"] > precision["AP"])[1:].all()
    assert recall.loc[2:, "RR"].tolist() == [0] * 14
    assert recall["TSE"].to_numpy() == pytest.approx(1)
