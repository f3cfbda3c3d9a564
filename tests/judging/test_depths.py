"""One default depth for every statement on unjudged documents: the criterion's cutoff, else 100."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ir_measures
import pandas as pd
import pytest
from command_line import Said, exit_code
from pandas.testing import assert_frame_equal

import ir_lexirecall as irl
from ir_lexirecall.judging.algorithms import Judgings
from ir_lexirecall.preferences.naming import Preference

QUERIES = [f"q{i}" for i in range(12)]
QRELS = {q: {"a": 1, "b": 0} for q in QUERIES}


def ranking(first: str, n: int = 150) -> dict[str, float]:
    """A relevant document, and unjudged ones that no other ranking has, some below rank 100."""
    return {"a": 1000.0} | {f"{first}{i}": -float(i) for i in range(n)}


RUNS = {
    "x": {q: ranking("x") for q in QUERIES},
    "y": {q: {"b": 2000.0} | ranking("y") for q in QUERIES},
}
DEEP = ["AP", "LR", "R@1000", "nDCG", "P@5"]


@pytest.mark.parametrize(
    ("criterion", "depth"),
    [
        (ir_measures.AP, 100),
        (ir_measures.nDCG @ 10, 10),
        (ir_measures.R @ 1000, 1000),
        (Preference("lexirecall"), 100),
        (Preference("lexirecall", cutoff=20), 20),
    ],
)
def test_the_default_is_the_cutoff_else_100(criterion: Any, depth: int) -> None:
    assert Judgings().depth_of(criterion) == depth
    assert Judgings(None).depth_of(criterion) is None


@pytest.mark.parametrize("name", ["AP", "LR", "nDCG", "TSE", "RBP(p=0.9)"])
def test_values_are_bounded_down_to_100_and_further_if_asked(name: str) -> None:
    default = irl.judgment_bounds(name, QRELS, RUNS["x"])
    assert_frame_equal(default, irl.judgment_bounds(name, QRELS, RUNS["x"], depth=100))
    whole = irl.judgment_bounds(name, QRELS, RUNS["x"], depth=None)
    assert_frame_equal(whole, irl.judgment_bounds(name, QRELS, RUNS["x"], depth=151))
    assert not default.equals(whole)


def test_the_depth_of_each_measure_is_told() -> None:
    told = irl.judgment_bounds(DEEP, QRELS, RUNS["x"]).attrs["depth"]
    assert [told[name] for name in DEEP] == [100, 100, 1000, 100, 5]
    told = irl.judgment_bounds("P@5", QRELS, RUNS["x"], depth=None).attrs["depth"]
    assert told == {"P@5": None}


def test_pairs_are_bounded_down_to_the_same_depth_as_the_summary() -> None:
    result = irl.compare(QRELS, RUNS, ["lexirecall", "AP", "P@5"])
    bounds, verdicts = result.bounds(), result.verdicts(holds=True)
    assert bounds["depth"].tolist() == verdicts["depth"].tolist() == [100, 100, 5]
    for name in ("lexirecall", "AP"):
        columns = ["criterion", "run_a", "run_b", "depth"]
        default = result.bounds(name).drop(columns=columns)
        assert_frame_equal(
            default, result.bounds(name, depth=100).drop(columns=columns)
        )
        assert result.bounds(name, depth=None)["depth"].isna().all()
    left = result.missing.undecided("AP")
    assert left is not None
    assert [left.low[0], left.high[0]] == result.bounds("AP")[["low", "high"]].iloc[
        0
    ].tolist()


def test_what_to_judge_is_looked_for_down_to_the_same_depth() -> None:
    result = irl.compare(QRELS, RUNS, "lexirecall")
    ranks = ["rank_x", "rank_y"]
    assert result.to_judge(9999)[ranks].min(axis=1).max() <= 100
    assert result.to_judge(9999, depth=None)[ranks].min(axis=1).max() > 100
    assert_frame_equal(result.to_judge(9999), result.to_judge(9999, depth=100))


def test_sentences_name_the_documents_that_they_speak_of() -> None:
    result = irl.compare(QRELS, RUNS, ["AP", "P@5"])
    assert "whatever grades the unjudged documents of the top 5 would get" in (
        irl.compare(QRELS, RUNS, "P@1")
        .summary(full=True)
        .replace("the top 1 ", "the top 5 ")
    )
    assert (
        "njudged documents of the top 100 (AP) and the top 5 (P@5)"
        in result.summary(full=True)
    )
    assert "(the top 100)" in " ".join(result.diagnostics)
    assert "†: unjudged documents of the top 100" in result.to_markdown(holds=True)


@pytest.mark.parametrize("depth", ["deep", "all", 0, 1.5, True])
def test_other_depths_are_refused(depth: Any) -> None:
    for ask in (
        lambda: irl.judgment_bounds("AP", QRELS, RUNS["x"], depth=depth),
        lambda: irl.compare(QRELS, RUNS, "AP").bounds(depth=depth),
        lambda: irl.compare(QRELS, RUNS, "AP").to_judge(depth=depth),
    ):
        with pytest.raises(ValueError, match="depth must be"):
            ask()


@pytest.fixture
def cli(capfd: pytest.CaptureFixture[str]) -> Any:
    """The command line."""

    def call(*arguments: str) -> Said:
        return Said(exit_code(*arguments), *capfd.readouterr())

    return call


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    lines = [f"{q} 0 {d} {g}" for q, of in QRELS.items() for d, g in of.items()]
    Path("qrels.txt").write_text("\n".join(lines) + "\n")
    for name, run in RUNS.items():
        lines = [f"{q} Q0 {d} 0 {s} t" for q, of in run.items() for d, s in of.items()]
        Path(f"{name}.run").write_text("\n".join(lines) + "\n")
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_the_command_line_has_the_same_default_and_says_it(cli: Any) -> None:
    words = ["qrels.txt", "x.run", "y.run", "-m", "AP", "P@5", "--bounds"]
    said = cli("eval", *words).out
    assert (
        "whatever grades the unjudged documents of the top 100 (AP) and the top 5 (P@5)"
        in said
    )
    assert "the top 150 would get" in cli("eval", *words, "--depth", "150").out
    assert "whole rankings would get" in cli("eval", *words, "--depth", "all").out
    compared = cli("compare", *words).out
    assert (
        "the unjudged documents of the top 100 (AP) and the top 5 (P@5) would get"
        in compared
    )
    assert "of whole rankings would get" in cli("compare", *words, "--depth", "all").out
    of_one = cli(
        "to-judge", "qrels.txt", "x.run", "y.run", "-n", "9999", "--format", "csv"
    )
    of_all = cli(
        "to-judge", *words[:3], "-n", "9999", "--depth", "all", "--format", "csv"
    )
    assert 0 < len(of_one.out.splitlines()) < len(of_all.out.splitlines())
    assert (
        "--depth belongs to --bounds" in cli("eval", *words[:6], "--depth", "all").err
    )


def test_depths_of_tables_are_integers() -> None:
    bounds = irl.compare(QRELS, RUNS, ["AP", "P@5"]).bounds(depth=None)
    assert bounds["depth"].dtype == pd.Int64Dtype()


# -- a grade that no document can get --------------------------------------------------------------

LOW = {q: {"a": 1, "b": 0} for q in QUERIES}
PAIR = {
    "x": {q: {"u": 2.0, "a": 1.0} for q in QUERIES},
    "y": {q: {"a": 2.0, "v": 1.0} for q in QUERIES},
}


@pytest.mark.parametrize(
    ("name", "max_rel"),
    [
        *(
            (name, None)
            for name in ("lexirecall", "lexiprecision", "rpp", "invrpp", "dcgrpp")
        ),
        ("lexirecall", 1),
        ("rpp", 1.5),
    ],
)
@pytest.mark.parametrize("rel", [2, 3])
def test_no_preference_is_open_where_the_top_grade_is_below_rel(
    name: str, max_rel: float | None, rel: int
) -> None:
    """The top grade is that of the scale, else the highest of the qrels, as measures have it."""
    result = irl.compare(LOW, PAIR, [f"{name}(rel={rel})", "P@2"])
    row = result.bounds(f"{name}(rel={rel})", max_rel=max_rel).iloc[0]
    counts = row[["certain_wins", "certain_losses", "open", "certain_ties"]].tolist()
    assert counts == [0, 0, 0, len(QUERIES)]
    assert not len(result.to_judge(99, f"{name}(rel={rel})", max_rel=max_rel))
    possible = result.bounds(f"{name}(rel={rel})", max_rel=rel).iloc[0]
    assert possible["certain_ties"] < len(QUERIES)


@pytest.mark.parametrize("name", ["P(rel=2)@2", "AP(rel=2)", "RR(rel=2)", "LR(rel=2)"])
def test_no_measure_moves_where_the_top_grade_is_below_rel(name: str) -> None:
    bounds = irl.judgment_bounds(name, LOW, PAIR["x"])
    assert (bounds[name, "low"] == bounds[name, "high"]).all()
    more = irl.judgment_bounds(name, LOW, PAIR["x"], max_rel=2)
    assert (more[name, "low"] < more[name, "high"]).all()
