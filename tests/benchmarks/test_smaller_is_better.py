"""Measures of which the smaller value is better (SL3, RE), wherever results say which run is better."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import exit_code

import ir_lexirecall as irl
from ir_lexirecall.benchmarks import Benchmark

QRELS = {f"q{i}": {"a": 1} for i in range(20)}
GOOD = {q: {"a": 3.0, "x": 2.0, "y": 1.0} for q in QRELS}
BAD = {q: {"x": 3.0, "y": 2.0, "a": 1.0} for q in QRELS}
RUNS = {"good": GOOD, "bad": BAD}


@pytest.fixture(scope="module")
def suite() -> Benchmark:
    """Two collections of 20 queries: ``good`` finds the document at rank 1, ``fair`` at 1 or 2, ``bad`` at 3."""
    fair = {
        q: GOOD[q] if int(q[1:]) % 3 else {"x": 3.0, "a": 2.0, "y": 1.0} for q in QRELS
    }
    collections = {"one": QRELS, "two": QRELS}
    runs = {"fair": fair, **RUNS}
    return irl.benchmark(
        collections,
        lambda name: runs,
        ["SL3", "RR"],
        baseline="fair",
        test=irl.SignificanceTest(n_resamples=500),
    )


@pytest.mark.parametrize("over", ["queries", "collections"])
def test_ranks_over_collections_begin_with_the_smallest_mean(
    suite: Benchmark, over: str
) -> None:
    overall = suite.overall(over).set_index(["criterion", "run"])
    for measure in ("SL3", "RR"):
        rows = overall.loc[measure]
        assert rows["mean_rank"].to_dict() == {"good": 1.0, "fair": 2.0, "bad": 3.0}
        for low, high in (("rank_low", "rank_high"), ("rank_from", "rank_to")):
            assert rows.loc["bad", high] == 3
            # By t over two collections, the interval of a difference holds nearly everything.
            if over == "queries" or low == "rank_from":
                assert rows.loc["bad", low] == 3
            assert rows.loc["good", low] == 1
            assert (rows[low] <= rows["mean_rank"]).all()
            assert (rows["mean_rank"] <= rows[high]).all()
    for column in (
        "rank_low",
        "rank_high",
        "rank_from",
        "rank_to",
    ):  # RR = 1 - SL3 / 2 on ranks 1 and 2
        assert overall.loc["SL3", column].tolist() == overall.loc["RR", column].tolist()


def test_differences_keep_their_sign_and_marks_say_what_is_better(
    suite: Benchmark,
) -> None:
    overall = suite.overall()
    verdict = overall.set_index(["criterion", "run"])["verdict"]
    for measure in ("SL3", "RR"):
        assert [verdict[measure, run] for run in ("good", "bad")] == ["better", "worse"]
    difference = overall.set_index(["criterion", "run"])["difference"]
    assert difference["SL3", "good"] < 0 < difference["RR", "good"]
    rows = suite.to_markdown().splitlines()
    assert any(
        "| good" in row and "SL3" in row and "**0.0000**" in row and "\\+" in row
        for row in rows
    )
    assert any("| bad" in row and "SL3" in row and "**" not in row for row in rows)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    # All documents are judged, so that no judging can undo a difference.
    judged = [f"{q} 0 a 1\n{q} 0 x 0\n{q} 0 y 0\n" for q in QRELS]
    (tmp_path / "qrels").write_text("".join(judged))
    for name, run in RUNS.items():
        lines = [
            f"{q} Q0 {doc} 0 {score} tag\n"
            for q, docs in run.items()
            for doc, score in docs.items()
        ]
        (tmp_path / f"{name}.run").write_text("".join(lines))
    return tmp_path


@pytest.mark.parametrize(
    ("baseline", "candidate", "code"), [("bad", "good", 0), ("good", "bad", 3)]
)
def test_the_gate_fails_where_the_value_rises(
    baseline: str, candidate: str, code: int, files: Path
) -> None:
    words = (
        str(files / "qrels"),
        str(files / f"{baseline}.run"),
        str(files / f"{candidate}.run"),
    )
    assert exit_code("gate", *words, "-m", "SL3") == code


def test_the_benchmark_command_marks_the_rise_as_a_loss(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("one", "two"):
        (files / "suite" / name).mkdir(parents=True)
        (files / "suite" / name / "qrels").write_bytes((files / "qrels").read_bytes())
        for run in RUNS:
            (files / "suite" / name / f"{run}.run").write_bytes(
                (files / f"{run}.run").read_bytes()
            )
    words = (
        str(files / "suite"),
        "-m",
        "SL3",
        "--baseline",
        "bad",
        "--n-resamples",
        "99",
        "--alpha",
        "0.2",
        "--wide",
    )
    assert exit_code("benchmark", *words) == 0
    lines = capsys.readouterr().out.splitlines()
    table = [line.strip() for line in lines].index("SL3 (smaller is better)")
    row = next(line for line in lines[table:] if line.startswith("good"))
    assert "-2.000" in row.split()
    assert row.split()[-1] == "*+"  # the best mean, and better than the baseline


@pytest.mark.parametrize("form", ["table", "markdown", "latex", "csv", "tsv", "json"])
def test_every_format_says_beside_a_mean_which_value_is_better(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        f"{c},{run},q{i},{x + i / 99},{x + i / 99}\n"
        for c in "ab"
        for run, x in (("r", 0.1), ("s", 0.3))
        for i in range(9)
    ]
    (tmp_path / "v.csv").write_text(
        "collection,run,query_id,zeal,RMSE\n" + "".join(rows)
    )
    assert (
        exit_code(
            "benchmark",
            "--values",
            str(tmp_path / "v.csv"),
            "--format",
            form,
            "--n-resamples",
            "99",
        )
        == 0
    )
    shown = capsys.readouterr().out
    assert "larger is better (assumed)" in shown
    assert "smaller is better" in shown


def test_provenance_over_collections_says_which_value_is_better(
    suite: Benchmark,
) -> None:
    assert suite.provenance["direction"] == {
        "SL3": "smaller is better",
        "RR": "larger is better",
    }
    assert (
        suite.overall().set_index("criterion")["direction"].to_dict()
        == suite.provenance["direction"]
    )
