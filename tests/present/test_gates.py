"""What a gate prints: each interval stands beside the number that it is of."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

import ir_lexirecall as irl
from ir_lexirecall.present.gates import criterion_facts, gate_screen, gate_text


@pytest.mark.parametrize("test", [None, "t", "sign", "wilcoxon"])
@pytest.mark.parametrize("alpha", [0.05, 0.4])
def test_an_interval_stands_beside_the_estimate_that_it_is_of(
    test: str | None, alpha: float
) -> None:
    chosen = irl.SignificanceTest(name=test, alpha=alpha, progress=False)
    runs = [irl.demo.run(name) for name in ("bm25", "ql")]
    gate = irl.gate(irl.demo.qrels(), *runs, ["AP", "lexirecall", "rpp"], test=chosen)
    printed, facts = gate_text(gate), criterion_facts(gate)
    for row in gate.table.itertuples():
        (line,) = re.findall(rf"^\| {row.criterion} .*", printed, re.MULTILINE)
        interval = f"{row.ci_low:.3f} to {row.ci_high:.3f}".replace("-0.000", "0.000")
        assert interval in line
        numbers = [float(number) for number in re.findall(r"[+-]\d\.\d+", line)]
        assert any(abs(number - row.estimate) < 0.0006 for number in numbers)
        fact = facts[str(row.criterion)]
        if row.estimate == pytest.approx(row.difference):
            continue
        assert f"{row.estimate:+.4f}, its interval" in fact
        assert "of the test's estimate (" in printed


def test_intervals_of_means_need_no_word() -> None:
    runs = [irl.demo.run(name) for name in ("bm25", "ql")]
    gate = irl.gate(irl.demo.qrels(), *runs, ["AP", "nDCG@10"])
    assert "estimate" not in gate_text(gate)


def test_a_gate_fits_a_screen_by_listing_fewer_lost_queries() -> None:
    runs = [irl.demo.run(name) for name in ("bm25", "overlap")]
    gate = irl.gate(irl.demo.qrels(), *runs, ["nDCG@10", "AP", "LR"])
    screen, whole = gate_screen(gate, 80), gate_text(gate, markdown=False)
    listed = [len(re.findall(r"^q\d\d ", text, re.M)) for text in (screen, whole)]
    assert listed[1] == 10
    assert 3 <= listed[0] < 10
    assert screen.count("\n") < 24 or listed[0] == 3
    assert f"({listed[0]} are shown)" in screen
    assert gate_screen(gate, 400).count("\n") <= screen.count("\n")


ALLOWANCE = "one-sided 95% bound, allowing for skewness and rare losses"


@pytest.mark.parametrize(
    ("differences", "is_outside"),
    [
        ([0.0] * 18 + [0.01, -0.01], True),  # nearly all ties
        ([0.05, 0.06, 0.04] * 9 + [0.05, 0.05, -0.6], True),  # skewed
        ([-0.1, 0.1, 0.05, -0.05, 0.2, -0.2] * 7, False),
    ],
)
def test_a_bound_outside_the_interval_beside_it_is_explained(
    differences: list[float], is_outside: bool
) -> None:
    main = {f"q{i}": {"accuracy": 0.7} for i in range(len(differences))}
    branch = {
        f"q{i}": {"accuracy": 0.7 + difference}
        for i, difference in enumerate(differences)
    }
    gate = irl.gate(values={"main": main, "branch": branch}, margin=0.1)
    (row,) = gate.table.itertuples()
    assert (row.bound_low < row.ci_low) == is_outside
    assert (ALLOWANCE in " ".join(gate_text(gate).split())) == is_outside


@pytest.mark.parametrize("margin", [0.005, 0.02])
def test_an_undecided_criterion_with_seeds_is_told(margin: float) -> None:
    rng = np.random.default_rng(0)
    rows = [
        (run, seed, f"q{q}", value)
        for run in "ab"
        for seed in range(3)
        for q, value in enumerate(rng.normal(0.5, 0.2, 20).tolist())
    ]
    values = pd.DataFrame(rows, columns=["run", "seed", "query_id", "acc"])
    compared = irl.compare(values=values, baseline="a", repeats="seeds", margin=margin)
    assert compared.verdicts()["verdict"].tolist() == ["undecided"]
    assert "undecided" in compared.summary()
    gate = irl.gate(
        values=values, baseline="a", candidate="b", repeats="seeds", margin=margin
    )
    assert gate.undecided == ["acc"]
    assert "acc" in str(gate)


@pytest.mark.parametrize("is_changed", [False, True], ids=["unchanged", "changed"])
@pytest.mark.parametrize("rule", ["evidence", "strict"])
def test_a_gate_that_only_the_release_leaves_undecided_says_so(
    is_changed: bool, rule: str
) -> None:
    n = 60
    values = {
        "main": {f"q{i}": {"accuracy": 0.5} for i in range(n)},
        "branch": {
            f"q{i}": {"accuracy": 0.5 + 0.01 * (i % 2) * is_changed} for i in range(n)
        },
        "v1": {f"q{i}": {"accuracy": float(i < 33)} for i in range(n)},
    }
    gate = irl.gate(
        None, "main", "branch", values=values, release="v1", margin=0.1, rule=rule
    )
    assert gate.release is not None
    assert (gate.undecided, gate.release.undecided) == ([], ["accuracy"])
    for text in (gate_text(gate), gate_text(gate, markdown=False)):
        first_line = text.splitlines()[0]
        assert "UNDECIDED: branch is not shown to be worse than v1" in first_line
        assert "non-inferior" not in first_line
        assert "undecided by accuracy" in first_line
        assert "Against v1:" in text
        assert re.search(r"accuracy: if there is no loss, about \d+ queries", text)


def test_what_the_gate_itself_leaves_undecided_comes_first() -> None:
    n = 60
    noisy = {f"q{i}": {"accuracy": float(i < 33)} for i in range(n)}
    plain = {f"q{i}": {"accuracy": 0.5} for i in range(n)}
    values = {"main": noisy, "branch": plain, "v1": plain}
    gate = irl.gate(None, "main", "branch", values=values, release="v1", margin=0.1)
    first_line = gate_text(gate).splitlines()[0]
    assert "branch is not shown to be worse than main; undecided" in first_line
