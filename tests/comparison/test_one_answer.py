"""Whoever asks gets one answer: the same numbers for a criterion through every door of the library."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ir_lexirecall as irl
from ir_lexirecall import cli

pytestmark = pytest.mark.filterwarnings("ignore")

NUMBERS = (
    "difference",
    "ci_low",
    "ci_high",
    "p",
    "p_corrected",
    "effect_size",
    "verdict",
)
MEASURES = ("AP", "nDCG@3", "TSE", "SL3(n=9)")  # of SL3 the smaller value is better
DOCS = [f"d{i}" for i in range(6)]


@st.composite
def cases(
    draw: st.DrawFn,
) -> tuple[
    dict[str, dict[str, int]], dict[str, dict[str, dict[str, float]]], str | None
]:
    """Qrels with queries without relevant documents, and runs with missing queries and tied scores; a test."""
    queries = [f"q{i}" for i in range(draw(st.integers(2, 7)))]
    qrels = {
        q: {
            d: draw(st.integers(0, 2))
            for d in draw(st.sets(st.sampled_from(DOCS), min_size=1))
        }
        for q in queries
    }
    qrels[queries[0]]["d0"] = 1  # at least one query has a relevant document
    runs = {}
    for name in ("base", "one", "two"):
        kept = draw(st.sets(st.sampled_from(queries), min_size=1))
        runs[name] = {
            q: {
                d: float(draw(st.integers(0, 3)))
                for d in draw(st.sets(st.sampled_from(DOCS), min_size=1))
            }
            for q in sorted(kept)
        }
        # A judged document, else it is refused.
        runs[name].setdefault(queries[0], {})["d0"] = float(draw(st.integers(0, 3)))
    return (
        qrels,
        runs,
        draw(st.sampled_from([None, "t", "sign", "wilcoxon", "randomisation"])),
    )


def same(a: Any, b: Any) -> bool:
    """Bit for bit; numbers that are not there are the same. JSON writes infinities as texts."""
    if isinstance(a, str) or isinstance(b, str):
        return str(a) == str(b) or (
            not isinstance(a, str)
            and str(b) in ("Infinity", "-Infinity")
            and float(b) == a
        )
    if a is None or b is None or math.isnan(a) or math.isnan(b):
        return (a is None or math.isnan(a)) and (b is None or math.isnan(b))
    return bool(a == b)


def rows_of(table: pd.DataFrame, criterion: str) -> dict[str, dict[str, Any]]:
    part = table[table["criterion"] == criterion] if "criterion" in table else table
    return {str(row["run_a"]): row for row in part.to_dict(orient="records")}


class Doors:
    """One collection on disk, and what the command line says of it."""

    def __init__(
        self, folder: Path, qrels: Mapping[str, Any], runs: Mapping[str, Any]
    ) -> None:
        self.folder = folder / "collection"
        self.folder.mkdir(parents=True, exist_ok=True)
        for old in self.folder.iterdir():
            old.unlink()
        self.qrels = self.folder / "qrels.txt"
        self.qrels.write_text(
            "".join(
                f"{q} 0 {d} {g}\n" for q, docs in qrels.items() for d, g in docs.items()
            )
        )
        self.runs = []
        for name, run in runs.items():
            path = self.folder / f"{name}.run"
            path.write_text(
                "".join(
                    f"{q} Q0 {d} 0 {s} {name}\n"
                    for q, docs in run.items()
                    for d, s in docs.items()
                )
            )
            self.runs.append(str(path))

    def say(self, command: str, *words: str, codes: tuple[int, ...] = (0,)) -> Any:
        output = self.folder.parent / "output.json"
        assert (
            cli.main([command, *words, "--format", "json", "-o", str(output)]) in codes
        )
        return json.loads(output.read_text())


def check(
    expected: Mapping[str, Mapping[str, Any]],
    found: Mapping[str, Mapping[str, Any]],
    names: Mapping[str, str],
) -> None:
    for run, row in expected.items():
        for name, called in names.items():
            assert same(row[name], found[run][called]), (
                run,
                name,
                row[name],
                found[run][called],
            )


@pytest.mark.slow_except("lexirecall")
@pytest.mark.parametrize("by", [*MEASURES, "lexirecall"])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=10)
@given(case=cases())
def test_every_door_gives_the_same_numbers(by: str, case: Any, tmp_path: Path) -> None:
    qrels, runs, test = case
    doors = Doors(tmp_path, qrels, runs)
    result = irl.compare(
        qrels,
        runs,
        by,
        baseline="base",
        test=irl.SignificanceTest(test, n_resamples=99),
    )
    expected = rows_of(result.table(), by)
    means = dict(zip(result.runs, result.means()["mean"], strict=True))
    intervals = {row["run"]: row for row in result.means().to_dict(orient="records")}
    columns = {name: name for name in NUMBERS}

    suite = irl.benchmark(
        {"x": qrels},
        {"x": runs},
        [by],
        baseline="base",
        test=irl.SignificanceTest(test, n_resamples=99),
    )
    check(
        expected,
        rows_of(suite["x"].table(), by),
        {**columns, "mean_a": "mean_a", "estimate": "estimate"},
    )
    overall = {row["run"]: row for row in suite.overall().to_dict(orient="records")}
    check(
        expected,
        overall,
        {
            "difference": "difference",
            "p": "p",
            "p_corrected": "p_corrected",
            "verdict": "verdict",
        },
    )
    check(
        intervals, overall, {"mean": "mean", "ci_low": "ci_low", "ci_high": "ci_high"}
    )

    options = ["--n-resamples", "99", *([] if test is None else ["--test", test])]
    flag = "-p" if by == "lexirecall" else "-m"
    said = doors.say(
        "compare",
        str(doors.qrels),
        *doors.runs,
        flag,
        by,
        "--baseline",
        "base",
        *options,
    )
    check(
        expected,
        {row["run_a"]: row for row in said},
        {**columns, "mean_b": "mean_b", "wins": "wins", "net_wins": "net_wins"},
    )
    said = doors.say(
        "benchmark", str(doors.folder.parent), flag, by, "--baseline", "base", *options
    )
    check(
        expected,
        {row["run"]: row for row in said},
        {"difference": "difference", "p": "p", "verdict": "verdict"},
    )
    for candidate in ("one", "two"):
        files = [
            next(path for path in doors.runs if path.endswith(f"{name}.run"))
            for name in ("base", candidate)
        ]
        alone = irl.compare(
            qrels,
            {name: runs[name] for name in ("base", candidate)},
            by,
            baseline="base",
            test=irl.SignificanceTest(test, n_resamples=99),
        )
        said = doors.say(
            "gate", str(doors.qrels), *files, flag, by, *options, codes=(0, 3)
        )
        (row,) = said["criteria"]
        once = {
            name: name for name in NUMBERS if name != "verdict"
        }  # a gate has a margin
        check(
            rows_of(alone.table(), by),
            {candidate: row},
            {**once, "mean_a": "mean_a", "mean_b": "mean_b"},
        )
        assert row["queries"] == len(alone.compared.criterion().query_ids)
        assert row["test"] == alone.compared.test_of().name
    if by != "lexirecall":
        said = doors.say(
            "eval",
            str(doors.qrels),
            *doors.runs,
            "-m",
            by,
            "--baseline",
            "base",
            *options,
        )
        check(
            expected,
            {row["run"]: row for row in said},
            {name: f"{by} {name}" for name in NUMBERS},
        )
        assert all(same(row[by], means[row["run"]]) for row in said)
        for name, run in runs.items():
            assert same(irl.evaluate(by, qrels, run, aggregate=True)[by], means[name])


def test_a_measure_counts_every_query_and_a_preference_those_with_relevant_documents() -> (
    None
):
    qrels = {"q1": {"a": 1}, "q2": {"a": 0}, "q3": {"b": 1}}
    runs = {
        "x": {q: {"a": 2.0, "b": 1.0} for q in qrels},
        "y": {q: {"b": 2.0, "a": 1.0} for q in qrels},
    }
    result = irl.compare(qrels, runs, ["AP", "lexirecall"])
    assert [
        len(result.compared.criterion(name).query_ids) for name in result.criteria
    ] == [3, 2]
    assert result.means("AP")["mean"].tolist() == pytest.approx([0.5, 0.5])
    table = result.table().set_index("criterion")
    assert table.loc["AP", ["wins", "losses", "ties"]].tolist() == [1, 1, 1]
    assert table.loc["lexirecall", ["wins", "losses", "ties"]].tolist() == [1, 1, 0]
    relevant = irl.compare(
        irl.load(qrels, queries="relevant"), runs, ["AP", "lexirecall"]
    )
    assert [
        len(relevant.compared.criterion(name).query_ids) for name in relevant.criteria
    ] == [
        2,
        2,
    ]
    assert any(
        "1 query has no relevant document" in note for note in result.diagnostics
    )


def test_where_the_smaller_value_is_better_differences_are_raw_and_verdicts_say_who_is_better() -> (
    None
):
    qrels = {f"q{i}": {"a": 1} for i in range(12)}
    early = {q: {"a": 2.0, "b": 1.0} for q in qrels}
    late = {
        q: {"b": 3.0, "c": 2.0, **({"d": 1.5} if q < "q5" else {}), "a": 1.0}
        for q in qrels
    }
    row = (
        irl.compare(qrels, {"early": early, "late": late}, "SL3(n=10)").table().iloc[0]
    )
    assert row["difference"] == row["mean_a"] - row["mean_b"] < 0
    assert row["ci_high"] < 0
    assert (row["wins"], row["losses"], row["verdict"]) == (12, 0, "better")


def test_rounding_is_no_difference() -> None:
    qrels = {"q1": {"a": 1, "b": 1, "c": 1}, "q2": {"a": 1}}
    runs = {
        "x": {"q1": {"a": 1.0}, "q2": {"a": 1.0}},
        "y": {"q1": {"b": 1.0}, "q2": {"a": 1.0}},
    }
    table = irl.compare(qrels, runs, ["AP", "nDCG", "Bpref"]).table()
    assert (table["ties"] == 2).all()
    assert (table["p"] == 1).all()


def test_the_default_test_is_t_for_measures_and_sign_for_preferences() -> None:
    result = irl.compare("lexirecall/demo", irl.demo.runs(), ["AP", "lexirecall"])
    assert [result.compared.test_of(name).name for name in result.criteria] == [
        "t",
        "sign",
    ]
    asked = irl.compare(
        "lexirecall/demo", irl.demo.runs(), ["AP", "lexirecall"], test="wilcoxon"
    )
    assert {asked.compared.test_of(name).name for name in asked.criteria} == {
        "wilcoxon"
    }


@pytest.mark.parametrize("exponent", [-16, -15, -14, -13, -12.5, -12, -11.5, -11])
@pytest.mark.parametrize("is_random", [False, True])
def test_what_is_rounding_is_a_tie_for_queries_mean_p_and_verdict(exponent, is_random):
    rng = np.random.default_rng(0)
    old, loss = rng.uniform(0.2, 0.8, 100), np.full(100, 10.0**exponent)
    if is_random:
        loss *= rng.uniform(0, 2, 100)
    values = {
        run: {f"q{q}": {"AP": value} for q, value in enumerate(of_run)}
        for run, of_run in (("old", old), ("new", old - loss))
    }
    row = irl.compare(values=values).table().iloc[0]
    is_tied = row["ties"] == 100
    assert (row["difference"] == 0) == (row["p"] == 1) == is_tied
    assert row["verdict"] == ("undecided" if is_tied else "better")
    assert is_tied == (exponent == -16)
    outcome = irl.gate(values=values, margin=0.01).outcome
    assert outcome == ("passed" if is_tied else "worse")


def test_small_values_are_no_rounding_beside_large_ones():
    values = {
        run: {f"q{q}": {"AP": value} for q, value in enumerate([0.5] * 9 + [small] * 9)}
        for run, small in (("a", 2.0**-44), ("b", 2.0**-45))
    }
    row = irl.compare(values=values).table().iloc[0]
    assert (row["wins"], row["verdict"]) == (9, "better")
    assert row["difference"] == pytest.approx(2.0**-46)


@pytest.mark.parametrize("by", ["AP", "RR", "Success@5", "nDCG@10"])
def test_values_have_the_intervals_of_the_rankings_that_they_were_computed_from(by):
    """Values of a table lie in memory by query, those of rankings by run: sums differ in order."""
    result = irl.compare(irl.demo.qrels(), irl.demo.runs(), by)
    values = {
        run: {query: {by: value} for query, value in column.items()}
        for run, column in result.per_query().items()
    }
    of_values = irl.compare(values=values).means()
    pd.testing.assert_frame_equal(of_values, result.means(), check_exact=True)
    by_tukey = irl.compare(irl.demo.qrels(), irl.demo.runs(), by, test="tukey").table()
    of_values = irl.compare(values=values, test="tukey").table()
    for name in ("ci_low", "ci_high", "p", "effect_size"):
        np.testing.assert_array_equal(of_values[name], by_tukey[name])
