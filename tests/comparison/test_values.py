"""Comparisons of values that something else computed: the same answers as from runs, and what needs rankings says so."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ir_lexirecall as irl
from ir_lexirecall import demo
from ir_lexirecall.comparison import Comparison
from ir_lexirecall.io.values import read_values

FILES = Path(__file__).parents[1] / "files" / "values"
MEASURES = ["AP", "P@5", "SL3(n=200)"]
OPTIONS: dict[str, Any] = {"baseline": "ql", "margin": 0.01, "test": "t"}


def frame_of(result: Comparison) -> pd.DataFrame:
    """What another program would have written: run, query_id, measure, value."""
    parts = [
        result.per_query(name)
        .reset_index()
        .melt("query_id", var_name="run")
        .assign(measure=name)
        for name in result.criteria
    ]
    return pd.concat(parts, ignore_index=True)


@pytest.fixture(scope="module")
def from_runs() -> Comparison:
    return irl.compare(demo.qrels(), demo.runs(), MEASURES, **OPTIONS)


@pytest.fixture(scope="module")
def from_values(from_runs: Comparison) -> Comparison:
    return irl.compare(values=frame_of(from_runs), **OPTIONS)


@pytest.mark.parametrize(
    "ask",
    [
        Comparison.table,
        Comparison.means,
        Comparison.verdicts,
        Comparison.ranking,
        Comparison.best_set,
        Comparison.matrix,
        Comparison.per_query,
        Comparison.sequential,
        lambda result: result.with_baseline(None).table(),
        lambda result: result.with_test("tukey").table(),
        lambda result: result.explain("bm25", "ql"),
        lambda result: result.queries_needed(0.02),
        lambda result: result.detectable(),
    ],
)
def test_values_give_the_answers_that_runs_give(
    ask: Callable[[Comparison], pd.DataFrame],
    from_runs: Comparison,
    from_values: Comparison,
) -> None:
    pd.testing.assert_frame_equal(ask(from_values), ask(from_runs))


@pytest.mark.parametrize("ask", [Comparison.bounds, Comparison.to_judge])
def test_what_needs_rankings_says_so(
    ask: Callable[[Comparison], Any], from_values: Comparison
) -> None:
    with pytest.raises(
        ValueError, match=r"(bounds|to_judge): .*only values were given.*runs"
    ):
        ask(from_values)


def test_measures_are_asked_for_by_our_names_and_by_trec_evals() -> None:
    files = [FILES / f"{run}.trec_eval" for run in ("bm25", "ql")]
    everything = irl.compare(values=files)
    assert everything.criteria == [
        "map",
        "P_5",
    ]  # counts are not compared unless they are named
    assert irl.compare(values=files, by="num_rel").criteria == ["num_rel"]
    ours = irl.compare(values=files, by={"average precision": "AP"})
    assert ours.criteria == ["average precision"]
    np.testing.assert_array_equal(ours.table()["p"], everything.table("map")["p"])


def test_costs_are_better_where_they_are_smaller(from_values: Comparison) -> None:
    wide = pd.DataFrame(
        {"query_id": ["a", "b", "c"], "short": [1.0, 2.0, 1.0], "long": [3.0, 4.0, 5.0]}
    )
    costs = irl.compare(values=wide, by="SL3(n=200)")
    assert costs.ranking()["run"].tolist() == ["short", "long"]
    assert costs.table()["wins"].tolist() == [3]
    unknown = irl.compare(values=wide, by="answer_relevancy")
    assert unknown.ranking()["run"].tolist() == ["long", "short"]


def test_a_missing_value_is_refused_or_its_query_skipped() -> None:
    values: dict[str, dict[str, float]] = {
        "a": {"q1": 0.5, "q2": 0.25, "q3": 1.0},
        "b": {"q1": 0.5, "q3": 0.75},
    }
    with pytest.raises(
        ValueError,
        match=r"compare: .*run 'b' for query 'q2' is missing; add it, or give missing='skip'",
    ):
        irl.compare(values=values, by="AP")
    result = irl.compare(values=values, by="AP", missing="skip")
    read = read_values(values, measures="AP", missing="skip")
    pd.testing.assert_frame_equal(
        irl.compare(values=read, by="AP").table(), result.table()
    )
    assert result.query_ids == ["q1", "q3"]
    assert result.provenance["left_out"] == ["q2"]
    assert "1 query (q2) lacks a value of some run: left out (" in result.summary(
        full=True
    )


# -- many collections -------------------------------------------------------------------------------------


def board(tasks: int = 12) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    models = {
        model: rng.random(tasks) / 10 + k / 20
        for k, model in enumerate(["e5", "bge", "gte"])
    }
    return pd.DataFrame({"task_name": [f"task {i}" for i in range(tasks)], **models})


@pytest.fixture(scope="module")
def collections(from_runs: Comparison) -> dict[str, pd.DataFrame]:
    frame = frame_of(from_runs)
    return {"one": frame, "two": frame.assign(value=frame["value"] / 2)}


def test_values_of_collections_give_the_answers_that_runs_give(
    collections: dict[str, pd.DataFrame],
) -> None:
    from_runs = irl.benchmark(
        {"one": demo.qrels(), "two": demo.qrels()},
        dict.fromkeys(("one", "two"), demo.runs()),
        MEASURES,
    )
    frames = {"one": collections["one"], "two": collections["one"]}
    stacked = pd.concat(
        [frame.assign(collection=name) for name, frame in frames.items()]
    )
    for values in (frames, stacked):
        result = irl.benchmark(values=values)
        for over in ("queries", "collections"):
            pd.testing.assert_frame_equal(result.overall(over), from_runs.overall(over))


def test_a_folder_has_a_folder_for_each_collection(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        for run in ("bm25", "ql"):
            (tmp_path / name / f"{run}.txt").write_bytes(
                (FILES / f"{run}.ir_measures").read_bytes()
            )
    result = irl.benchmark(values=tmp_path, by="AP")
    assert list(result) == ["one", "two"]
    assert result.runs == ["bm25", "ql"]


def test_a_leaderboard_is_a_sample_of_tasks_only() -> None:
    result = irl.benchmark(values=board(), by="nDCG@10", baseline="e5")
    over_tasks = irl.compare(values=board(), by="nDCG@10", baseline="e5")
    assert (len(result), result.sample()) == (12, "collections")
    with pytest.raises(
        ValueError,
        match=r"overall: there is one value per task, none per query; use over='collections'",
    ):
        result.overall("queries")
    with pytest.raises(
        ValueError,
        match="replicated: a value per task cannot be tested within the task",
    ):
        result.replicated()
    np.testing.assert_allclose(result.overall()["mean"], over_tasks.means()["mean"])
    pd.testing.assert_frame_equal(
        result.best_set(), over_tasks.best_set(), check_like=True
    )
    assert "12 tasks" in over_tasks.summary(full=True)
    assert "take the tasks as a sample" in over_tasks.summary(full=True)
    assert "There is one value per collection" in result.summary(full=True)


def test_collections_that_lack_something_are_named(
    collections: dict[str, pd.DataFrame],
) -> None:
    lacking = {**collections, "two": collections["two"].query("run != 'ql'")}
    with pytest.raises(
        ValueError,
        match="benchmark: collection 'two' lacks run 'ql', which others have",
    ):
        irl.benchmark(values=lacking)
    assert "ql" not in irl.benchmark(values=lacking, missing="skip").runs
    other = {**collections, "two": collections["two"].query("measure != 'AP'")}
    with pytest.raises(
        ValueError,
        match="benchmark: collection 'two' has no values of AP, which others have; name those",
    ):
        irl.benchmark(values=other)
    assert irl.benchmark(values=other, by="P@5").criteria == ["P@5"]
    with pytest.raises(
        ValueError,
        match="benchmark: the table of values has no column that names collections; add a column",
    ):
        irl.benchmark(values=collections["one"])
    with pytest.raises(ValueError, match="benchmark: there are no collections"):
        irl.benchmark(values={})


# -- command line -------------------------------------------------------------------------------------------


def run(*words: str) -> int:
    from ir_lexirecall.cli import main

    return main(list(words))


def test_the_command_compares_files(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    files = [str(FILES / f"{run}.ir_measures") for run in ("bm25", "ql")]
    assert run("compare", "--values", *files, "-m", "AP", "--format", "json") == 0
    [row] = json.loads(capsys.readouterr().out)
    expected = (
        irl.compare(
            demo.qrels(), {name: demo.run(name) for name in ("bm25", "ql")}, "AP"
        )
        .table()
        .iloc[0]
    )
    assert (row["wins"], row["losses"]) == (expected["wins"], expected["losses"])
    assert row["p"] == pytest.approx(expected["p"], rel=1e-9)
    assert run("report", "--values", *files, "-o", str(tmp_path / "report.html")) == 0
    assert "bm25.ir_measures" in (tmp_path / "report.html").read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-p", "rpp"], "the preference 'rpp' compares rankings"),
        (["-p", "rpp", "--cutoff", "5"], "the preference 'rpp@5' compares rankings"),
        (["--aspect", "a=b"], "give QRELS and RUN, or --values FILE, not both"),
        (["--explain", "bm25", "dph"], "unknown run 'dph'"),
    ],
)
def test_the_command_names_what_needs_rankings(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        run(
            "compare",
            "--values",
            str(FILES / "bm25.ir_measures"),
            str(FILES / "ql.ir_measures"),
            *words,
        )
        == 1
    )
    assert f"ir-lexirecall: compare: {message}" in capsys.readouterr().err


# -- which value is better -----------------------------------------------------------------------------------

WITH_COST = {
    run: {f"q{i:02}": {"AP": 0.5, "cost of it": cost + i / 100} for i in range(20)}
    for run, cost in (("good", 1), ("bad", 3))
}


def renamed(measure: str) -> dict[str, Any]:
    return {
        run: {q: {measure: one["cost of it"]} for q, one in by_query.items()}
        for run, by_query in WITH_COST.items()
    }


COSTS = "RMSE|mae|loss|val_loss|latency|mean_latency_ms|Latency (s)|cost|perplexity|error_rate|word error rate|errors|bpb|WER|cer"
COSTS += (
    "|Character Error Rate|root_mean_square_error|ErrorRate|hallucination|MSE@10|time"
)
COSTS += (
    "|rank|first_rank|mean_rank|median_rank|rank_of_first_relevant|position|distance|kl_div"
    "|seconds|fallout|num_errors|tokens|total_tokens|memory_mb|energy|unjudged|refusals"
)


@pytest.mark.parametrize("measure", COSTS.split("|"))
def test_well_known_costs_are_known_by_their_names(measure: str) -> None:
    result = irl.compare(values=renamed(measure), by=measure)
    assert result.tests.verdicts_by(measure).on("good", "bad") == "better"
    assert result.provenance["direction"] == {measure: "smaller is better"}


@pytest.mark.parametrize("measure", ["RMSE", "Latency (s)"])
def test_every_text_says_that_smaller_is_better(measure: str, tmp_path: Path) -> None:
    result = irl.compare(values=renamed(measure), by=measure)
    page = irl.report(result, tmp_path / "page.html").read_text(encoding="utf-8")
    for said in (
        result.summary(full=True),
        page,
        irl.benchmark(values={"a": renamed(measure)}).summary(full=True),
    ):
        assert f"Smaller is better: {measure}" in said


def test_of_unknown_measures_the_larger_value_is_assumed_to_be_better(
    tmp_path: Path,
) -> None:
    result = irl.compare(values=renamed("zeal"))
    assert result.tests.verdicts_by("zeal").on("good", "bad") == "worse"
    assert result.means().attrs["direction"] == {"zeal": "larger is better (assumed)"}
    page = irl.report(result, tmp_path / "page.html").read_text(encoding="utf-8")
    for said in (
        result.summary(full=True),
        result.to_markdown(),
        page,
        irl.benchmark(values={"a": renamed("zeal")}).summary(full=True),
    ):
        assert "arger is better (assumed)" in said
    assert irl.compare(values=renamed("faithfulness")).provenance["direction"] is None
    for either in ("memory", "bias", "power"):  # costs, or what a model is good at
        assert irl.compare(values=renamed(either)).provenance["direction"] == {
            either: "larger is better (assumed)"
        }


@pytest.mark.parametrize("name", ["zeal", "mine"])
def test_costs_are_named_by_the_user(name: str) -> None:
    by = {"mine": "zeal"}
    groups = {f"q{i:02}": "early" if i < 10 else "late" for i in range(20)}
    result = irl.compare(
        values=renamed("zeal"), by=by, smaller_is_better=name, groups=groups
    )
    assert result.tests.verdicts_by("mine").on("good", "bad") == "better"
    assert set(result.group_table()["verdict"]) == {"better"}
    several = irl.benchmark(
        values={"a": renamed("zeal"), "b": renamed("zeal")},
        by=by,
        smaller_is_better=[name],
    )
    assert several.overall().set_index("run")["mean_rank"].to_dict() == {
        "good": 1,
        "bad": 2,
    }
    assert "mine (smaller is better)" in several.summary(full=True)


@pytest.mark.parametrize("function", [irl.compare, irl.benchmark])
def test_costs_that_are_not_there_are_refused(function: Callable[..., Any]) -> None:
    name, values = (
        function.__name__,
        renamed("zeal") if function is irl.compare else {"a": renamed("zeal")},
    )
    with pytest.raises(
        ValueError,
        match=rf"{name}: .*smaller_is_better: .* no measure 'zest'; there are .*zeal",
    ):
        function(values=values, smaller_is_better="zest")
    with pytest.raises(
        ValueError,
        match=rf"{name}: smaller_is_better names 'zest', which is not among what is compared: mine",
    ):
        function(values=values, by={"mine": "zeal"}, smaller_is_better="zest")
    with pytest.raises(ValueError, match="smaller_is_better needs values="):
        function(demo.qrels(), demo.runs(), "AP", smaller_is_better="AP")


# -- values of any magnitude -----------------------------------------------------------------------


def _of_magnitude(power: int) -> dict[str, Any]:
    """Values of two runs on 30 queries, times a power of two."""
    rng = np.random.default_rng(0)
    old = rng.uniform(0.3, 0.7, 30)
    values = {"old": old, "new": old + rng.normal(0.02, 0.05, 30)}
    return {
        run: {f"q{q}": {"score": float(np.ldexp(v, power))} for q, v in enumerate(x)}
        for run, x in values.items()
    }


@pytest.mark.parametrize("power", [-900, -660, 660, 900])
@pytest.mark.parametrize("test", ["t", "bootstrap", "wilcoxon"])
@pytest.mark.filterwarnings("error")
def test_results_do_not_depend_on_the_magnitude_of_values(
    test: str, power: int
) -> None:
    """Squares of values of 1e200 are infinite, and those of 1e-200 are 0."""
    tables = []
    for exponent in (0, power):
        options = {"baseline": "old", "margin": float(np.ldexp(0.01, exponent))}
        values = _of_magnitude(exponent)
        result = irl.compare(values=values, test=test, **options)
        difference = float(np.ldexp(0.02, exponent))
        tables.append(
            [
                result.table()[["p", "worse_p", "not_worse_p", "effect_size"]],
                result.best_set()[["p_not_beaten"]],
                result.queries_needed(difference)[["queries", "ci_low", "ci_high"]],
                np.ldexp(result.table()[["difference", "ci_low"]], -exponent),
                np.ldexp(result.means()[["mean", "ci_low", "ci_high"]], -exponent),
                np.ldexp(result.detectable()[["difference"]], -exponent),
            ]
        )
        text = str(result) + str(irl.gate(values=values, margin=options["margin"]))
        assert "nan" not in text
        assert max(map(len, str(result).splitlines())) <= 80
    for expected, found in zip(*tables, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize("power", [-660, 660])
def test_values_whose_variance_is_no_number_are_refused_where_it_is_needed(
    power: int,
) -> None:
    values = _of_magnitude(power)
    message = "have no variance in floating point; give them in another unit"
    human = {run: dict(list(x.items())[:12]) for run, x in values.items()}
    suite = irl.benchmark(values={"a": values, "b": values}, baseline="old")
    with pytest.raises(ValueError, match=message):
        suite.overall()
    assert message in " ".join(str(suite).split())
    with pytest.raises(ValueError, match=message):
        irl.compare(values=human, predicted=values).table()
    repeated = {run: [x, x, x] for run, x in values.items()}
    with pytest.raises(ValueError, match=message):
        irl.compare(values=repeated, repeats="seeds").table()
