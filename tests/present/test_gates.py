"""What a gate prints: each interval stands beside the number that it is of."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ir_lexirecall as irl
from ir_lexirecall.present.gates import (
    criterion_facts,
    gate_json,
    gate_screen,
    gate_text,
)


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
        assert f"{row.estimate:+.4f}, its {100 * (1 - alpha):g}% interval" in fact
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
        assert "is not worse" not in first_line
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


# -- levels of looks, and bounds beside intervals --------------------------------------------------


def gated(tmp_path: Path, n_looks: int, **how: Any) -> irl.Gate:
    """Return the last of several looks at values that change a little."""
    rng = np.random.default_rng(0)
    main = {f"q{q}": {"AP": x} for q, x in enumerate(rng.uniform(0.2, 0.8, 60))}
    for look in range(n_looks):
        gains = rng.normal(0.001, 0.02, 60).tolist()
        branch = {
            q: {"AP": of_query["AP"] + gain}
            for (q, of_query), gain in zip(main.items(), gains, strict=True)
        }
        gate = irl.gate(
            values={"main": main, f"branch{look}": branch},
            ledger=tmp_path / "looks.jsonl",
            **{"margin": 0.01, **how},
        )
    return gate


@pytest.mark.parametrize(
    ("n_looks", "level"), [(1, "0.030"), (2, "0.0076"), (4, "0.0019")]
)
def test_a_look_has_intervals_at_95_and_a_bound_at_its_level(
    n_looks: int, level: str, tmp_path: Path
) -> None:
    gate = gated(tmp_path, n_looks)
    text = " ".join(gate_text(gate).split()).replace("\\", "")
    assert f"loses: one-sided bound at the level of this look, {level}" in text
    assert "95% interval" in text
    assert not re.search(r"\d\d\.\d+ ?%", text + str(gate.comparison))
    assert f"intervals: 1 - {level};" in " ".join(str(gate.comparison).split())
    as_asked = gate.comparison.with_test(irl.SignificanceTest()).table().iloc[0]
    interval = f"{as_asked['ci_low']:.3f} to {as_asked['ci_high']:.3f}"
    assert interval in text
    row = gate.table.iloc[0]
    assert row["bound_low"] < as_asked["bound_low"]  # which is at 0.05
    if row["verdict"] == "within margin":
        bound = f"+-{max(-row['bound_low'], row['bound_high']):.2g}"
    else:
        bound = f"<= {-row['bound_low']:.2g}"
    assert bound in text
    facts = criterion_facts(gate)["AP"]
    ends = f"95% interval {as_asked['ci_low']:.4f} to {as_asked['ci_high']:.4f}"
    assert ends in facts
    assert f"(one-sided bound at the level of this look, {level})" in facts


@pytest.mark.parametrize(("horizon", "level"), [(None, 0.05), (30, 0.05), (3, 0.05)])
@pytest.mark.parametrize("n_looks", [1, 3])
def test_queries_that_would_decide_are_planned_at_the_level_of_the_next_look(
    horizon: int | None, level: float, n_looks: int, tmp_path: Path
) -> None:
    gate = gated(tmp_path, n_looks, horizon=horizon, margin=0.002)
    again = gated(tmp_path, n_looks, horizon=horizon, margin=0.002)
    assert again.look is not None
    assert again.look.again
    if horizon is None:
        level = 6 * level / (np.pi * (n_looks + 1)) ** 2
    else:
        level /= horizon
    test = irl.SignificanceTest(alpha=level)
    planned = gate.comparison.with_test(test).queries_for_margin(0.002)["queries"]
    for one in (gate, again):
        text = " ".join(gate_text(one, markdown=False).split())
        assert f"about {planned.iloc[0]:,.0f} queries would rule out a loss" in text


def test_looks_of_a_horizon_have_a_level_with_two_digits(tmp_path: Path) -> None:
    text = " ".join(gate_text(gated(tmp_path, 2, horizon=30), markdown=False).split())
    assert "bound at the level of this look, 0.0017" in text
    assert not re.search(r"\d\d\.\d+ ?%", text)


def test_a_second_baseline_halves_the_level_of_the_bounds_alone() -> None:
    runs = [irl.demo.run(name) for name in ("bm25", "ql", "tfidf")]
    gate = irl.gate(irl.demo.qrels(), *runs[:2], "AP", release=runs[2])
    text = " ".join(gate_text(gate).split())
    assert "one-sided bound at the level of each baseline, 0.025" in text
    assert text.count("95% interval") == 2
    assert "97.5%" not in text


@pytest.mark.parametrize(
    ("shift", "verdict", "sign", "end"),
    [
        (-0.05, "worse", ">= ", "bound_high"),
        (0.0, "within margin", "+-", None),
        (-0.0015, "not worse", "<= ", "bound_low"),
    ],
)
def test_a_gate_shows_the_bound_that_decided(
    shift: float, verdict: str, sign: str, end: str | None
) -> None:
    gains = np.random.default_rng(0).normal(0, 0.01, 50)
    gains += shift - gains.mean()
    if verdict == "not worse":
        gains[0] += 0.6  # so that a gain of the margin is not ruled out
    main = {f"q{q}": {"AP": 0.3} for q in range(50)}
    branch = {f"q{q}": {"AP": 0.3 + gain} for q, gain in enumerate(gains.tolist())}
    gate = irl.gate(values={"main": main, "branch": branch}, margin=0.012)
    row = gate.table.iloc[0]
    assert row["verdict"] == verdict
    if end is None:
        bound = max(-row["bound_low"], row["bound_high"])
    else:
        bound = -row[end]
    text = gate_text(gate).replace("\\", "")
    assert f"{sign}{bound:.2g}" in text
    assert "95% interval" in text
    assert "loses: one-sided 95% bound" in text


@pytest.mark.parametrize("rule", ["evidence", "judged", "strict", "drop"])
def test_json_names_the_rule_that_decided(rule: str) -> None:
    qrels = {"q1": {"a": 1}}
    gate = irl.gate(
        qrels, {"q1": {"a": 2.0}}, {"q1": {"a": 1.0}}, "AP", rule=rule, margin=0.1
    )
    assert json.loads(gate_json(gate))["rule"] == rule


def _of_queries(values: np.ndarray) -> dict[str, dict[str, float]]:
    return {f"q{i:03}": {"AP": float(value)} for i, value in enumerate(values)}


def test_an_undecided_gate_on_groups_is_printed_without_a_plan() -> None:
    rng = np.random.default_rng(1)
    old = rng.uniform(0.2, 0.8, 40)
    runs = {
        "old": _of_queries(old),
        "new": _of_queries(old + rng.normal(0, 0.05, 40)),
    }
    gate = irl.gate(
        values=runs,
        groups={query: f"g{i % 8}" for i, query in enumerate(runs["old"])},
        test=irl.SignificanceTest(cluster=True),
        margin=0.01,
    )
    assert gate.undecided == ["AP"]
    for printed in (str(gate), gate_text(gate), gate_screen(gate, 80)):
        assert "UNDECIDED" in printed
        assert "would rule out" not in printed


@pytest.mark.parametrize("rule", ["evidence", "drop"])
def test_a_gate_on_predictions_says_that_its_means_are_of_fewer_queries(
    rule: str,
) -> None:
    """The printed means fall by 0.010 beside a difference of +0.006."""
    rng = np.random.default_rng(0)
    old = rng.uniform(0.3, 0.7, 200)
    new = old + rng.normal(0.02, 0.1, 200)
    new[:30] -= new[:30].mean() - old[:30].mean() + 0.01
    gate = irl.gate(
        values={"old": _of_queries(old[:30]), "new": _of_queries(new[:30])},
        predicted={"old": _of_queries(old), "new": _of_queries(new)},
        margin=0.02,
        rule=rule,
    )
    for printed in (str(gate), gate_screen(gate, 80)):
        words = " ".join(printed.split())
        assert "Means are those of the queries that people judged." in words
        assert "only if people's queries were drawn at random" in words
        assert "prediction-powered t-test" in words
        assert "paired t-test" not in words
        assert "no mean fell" not in words


@pytest.mark.parametrize("is_predicted", [True, False])
def test_a_gate_that_fails_by_a_drop_says_what_fell(is_predicted: bool) -> None:
    """The prediction-powered loss is 0.03 where the means of human-judged queries rise."""
    rng = np.random.default_rng(0)
    old = rng.uniform(0.3, 0.7, 200)
    new = old + rng.normal(-0.03, 0.05, 200)
    values, options = {"old": _of_queries(old), "new": _of_queries(new)}, {}
    if is_predicted:
        new[:30] -= new[:30].mean() - old[:30].mean() - 0.01
        predicted = {"old": _of_queries(old), "new": _of_queries(new)}
        values = {name: dict(list(x.items())[:30]) for name, x in predicted.items()}
        options["predicted"] = predicted
    gate = irl.gate(values=values, margin=0.01, rule="drop", **options)
    assert gate.failed == ["AP"]
    loss = -gate.table["difference"].iloc[0]
    if is_predicted:
        assert gate.table["mean_a"].iloc[0] > gate.table["mean_b"].iloc[0]
        fact = f"the prediction-powered loss of AP is {loss:.4f}, more than 0.0100"
    else:
        fact = f"mean AP fell by {loss:.4f}, more than 0.0100"
    assert f"FAILED: new against old: {fact}" in gate_text(gate)
    criterion_margin = loss - 1e-6
    near = irl.gate(values=values, margin=criterion_margin, rule="drop", **options)
    larger, smaller = re.findall(r" (0\.\d+),? more than (0\.\d+);", gate_text(near))[0]
    assert float(larger) > float(smaller)


@pytest.mark.parametrize("n_queries", [3, 20, 300])
def test_ties_under_a_margin_of_zero_have_no_bound(n_queries: int) -> None:
    """2% of a mean of 0 is 0. Identical queries do not show that nothing is lost."""
    zeros = {f"q{q}": {"Success@1": 0.0} for q in range(n_queries)}
    values = {"old": zeros, "new": zeros}
    gate = irl.gate(values=values, margin="2%")
    (row,) = re.findall(r"^\| Success@1 .*", gate_text(gate), re.MULTILINE)
    assert re.search(r"0\.000 to 0\.000 \| +- \| +0 \|", row)
    several = irl.compare(values={**values, "twin": zeros}, baseline="old", margin="2%")
    assert "up to 0" not in str(several)
    assert "has no known bounds" in " ".join(str(several).split())


def test_wilcoxon_names_no_differences_of_identical_runs() -> None:
    runs = {"old": _of_queries(np.linspace(0.2, 0.8, 40))}
    gate = irl.gate(values=runs | {"new": runs["old"]}, test="wilcoxon")
    assert "not 0" not in gate_text(gate)
    assert "not 0" not in criterion_facts(gate)["AP"]


def test_one_criterion_is_not_corrected_over_several() -> None:
    rng = np.random.default_rng(0)
    queries = [f"q{i}" for i in range(20)]
    values = {
        run: pd.DataFrame(rng.uniform(size=(20, 2)), queries, ["AP", "RR"])
        for run in "ab"
    }
    for by in (["AP"], ["AP", "RR"]):
        text = gate_text(irl.gate(values=values, by=by))
        assert ("is corrected over" in text) == (len(by) == 2)


def test_a_p_beside_its_level_is_on_the_side_that_decided() -> None:
    """A p of 0.0502 would read as 0.050, which is not above 0.05."""
    rng = np.random.default_rng(0)
    old, x = rng.uniform(0.2, 0.8, 200), rng.normal(0, 0.05, 200)
    error = x.std(ddof=1) / np.sqrt(200)
    runs = {
        "old": _of_queries(old),
        "new": _of_queries(old + x - x.mean() - 1.9710 * error),
    }
    result = irl.compare(values=runs, test="t")
    p = result.table()["p"].iloc[0]
    assert 0.05 < p < 0.0505
    words = " ".join(str(result).split())
    assert "p = 0.050)" not in words
    assert re.search(r"p = 0\.050\d+\)", words)
