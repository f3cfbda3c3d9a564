"""``ir-lexirecall benchmark`` and ``gate``: what they say, exit codes, bad input named."""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from command_line import program

import ir_lexirecall as irl
from ir_lexirecall import demo

AGAINST_BM25 = ("-m", "LR", "--baseline", "bm25", "--n-resamples", "200")
RUNS = {
    name: demo.FOLDER / "runs" / f"{name}.run" for name in ("bm25", "ql", "overlap")
}


@pytest.fixture
def suite(folder: Path) -> Path:
    """A folder with two collections: one named by its id, one with qrels."""
    for name in ("lexirecall-demo", "bees"):
        (folder / "suite" / name).mkdir(parents=True)
        for run, path in RUNS.items():
            (folder / "suite" / name / f"{run}.res.gz").write_bytes(
                gzip.compress(path.read_bytes())
            )
    (folder / "suite" / "bees" / "qrels.tsv").write_text(
        "query-id\tcorpus-id\tscore\nq01\tbee-01\t1\nq14\tbee-05\t2\n"
    )
    return folder / "suite"


def test_a_folder_is_a_benchmark(suite: Path, cli: Any) -> None:
    arguments = (
        "-m",
        "LR",
        "nDCG@10",
        "--baseline",
        "bm25",
        "--n-resamples",
        "200",
        "--format",
        "json",
    )
    said = cli("benchmark", str(suite), *arguments)
    assert (said.code, said.err) == (0, "")
    collections = {
        "bees": {"q01": {"bee-01": 1}, "q14": {"bee-05": 2}},
        "lexirecall-demo": "lexirecall/demo",
    }
    expected = irl.benchmark(
        collections,
        suite,
        ["LR", "nDCG@10"],
        baseline="bm25",
        test=irl.SignificanceTest(n_resamples=200, progress=False),
    )
    rows = json.loads(said.out)
    assert [row["mean"] for row in rows] == expected.overall()["mean"].tolist()
    assert [row["p"] for row in rows if row["run"] == "ql"] == expected.overall().query(
        "run == 'ql'"
    )["p"].tolist()


def test_toml_says_the_same_and_the_command_line_has_the_last_word(
    suite: Path, cli: Any
) -> None:
    (suite.parent / "b.toml").write_text(
        'by = ["LR"]\nbaseline = "bm25"\nn_resamples = 200\nover = "collections"\nruns = "suite"\nalpha = 0.1\n'
        '[collections]\nlexirecall-demo = "lexirecall/demo"\nbees = "suite/bees/qrels.tsv"\n'
    )
    options = ("--format", "csv")
    by_toml = cli("benchmark", "b.toml", *options)
    by_folder = (
        "-m",
        "LR",
        "--baseline",
        "bm25",
        "--n-resamples",
        "200",
        "--alpha",
        "0.1",
        "--over",
        "collections",
    )
    assert by_toml.code == 0
    assert sorted(by_toml.out.split()[1:]) != sorted(
        cli("benchmark", "b.toml", *options, "--alpha", "0.3").out.split()[1:]
    )
    assert len(by_toml.out.splitlines()) == len(
        cli("benchmark", str(suite), *by_folder, *options).out.splitlines()
    )
    for run, path in RUNS.items():
        (suite.parent / f"{run}.run").write_bytes(path.read_bytes())
    (suite.parent / "c.toml").write_text(
        'by = ["LR"]\nn_resamples = 200\n[collections]\ndemo = "lexirecall/demo"\n[runs.demo]\nbm25 = "bm25.run"\nql = "ql.run"\n'
    )
    assert "bm25" in cli("benchmark", "c.toml").out


@pytest.mark.parametrize("runs", ["folder", "toml"])
def test_a_report_knows_the_files(runs: str, suite: Path, cli: Any) -> None:
    (suite.parent / "b.toml").write_text(
        'runs = "suite"\n[collections]\nbees = "suite/bees/qrels.tsv"\n'
    )
    source = str(suite) if runs == "folder" else "b.toml"
    assert (
        cli(
            "benchmark",
            source,
            "-m",
            "LR",
            "--n-resamples",
            "99",
            "--report",
            "report.html",
        ).code
        == 0
    )
    page = Path("report.html").read_text(encoding="utf-8")
    assert f"ir-lexirecall benchmark {Path(source).name} -m LR" in page
    assert str(suite.parent) not in page
    assert "bees: qrels" in page
    assert "bees: bm25" in page


@pytest.mark.parametrize("form", ["markdown", "latex"])
def test_documents_get_the_table_of_the_result(
    form: str, suite: Path, cli: Any
) -> None:
    said = cli(
        "benchmark", str(suite), *AGAINST_BM25, "--format", form, "--places", "3"
    )
    collections = {
        "bees": str(suite / "bees" / "qrels.tsv"),
        "lexirecall-demo": "lexirecall/demo",
    }
    expected = irl.benchmark(
        collections,
        suite,
        ["LR"],
        baseline="bm25",
        test=irl.SignificanceTest(n_resamples=200, progress=False),
    )
    assert said.out == getattr(expected, f"to_{form}")(places=3) + "\n"


@pytest.mark.parametrize("columns", [50, 80, 120])
def test_a_terminal_shows_a_table_per_measure_as_far_as_it_has_room(
    columns: int, suite: Path, terminal: Any
) -> None:
    options = (
        "-m",
        "LR",
        "SL3(n=200)",
        "-p",
        "lexirecall",
        "--baseline",
        "bm25",
        "--n-resamples",
        "200",
        "--pairs",
    )
    said = terminal(columns, "benchmark", str(suite), *options).out
    lines = said.splitlines()
    assert max(map(len, lines)) <= columns
    heads = [line for line in lines if line.startswith("run  ")]
    assert len(heads) == 3
    everything = [
        "run",
        "mean (interval)",
        "mean rank",
        "rank",
        "difference to bm25",
        "p corrected",
    ]
    for shown in (re.split(r"\s{2,}", head.strip()) for head in heads):
        assert shown == everything[: len(shown)]
        assert len(shown) >= {50: 2, 80: 4, 120: 6}[columns]
    assert ("columns left out: " in said) == (columns < 120)
    for measure, rising in (("LR", True), ("SL3(n=200)", False), ("lexirecall", True)):
        start = (
            lines.index(f"{measure}:" if rising else f"{measure} (smaller is better):")
            + 2
        )
        means = [
            float(line.split()[1].rstrip("*")) for line in lines[start : start + 3]
        ]
        assert means == sorted(means, reverse=rising)


def test_a_benchmark_says_what_is_corrected_and_what_is_tested(
    suite: Path, cli: Any
) -> None:
    options = (
        "benchmark",
        str(suite),
        "-m",
        "LR",
        "-p",
        "lexirecall",
        "--n-resamples",
        "50",
    )
    said = cli(*options, "--baseline", "bm25", "--test", "t").out
    words = " ".join(said.split())
    of_preference = "means of preferences are against all other runs; their differences are against bm25 alone"
    assert words.count(of_preference) == 1
    how = "p <= 0.05, Holm's correction for 2 comparisons"
    assert f"+ better, - worse than bm25 ({how})" in words
    assert "rank: 95% for all runs at once (stratified bootstrap over queries)" in words
    assert "test t; correction holm" not in said
    verbose = cli(*options, "--baseline", "bm25", "--test", "t", "--verbose").out
    assert "test t; correction holm" in " ".join(verbose.split())
    assert "diff." not in cli(*options).out
    shown = " ".join(cli("benchmark", "--help").out.split())
    assert "over collections, differences are tested by t (random effects)" in shown
    assert "a table [runs.COLLECTION] with run = file" in shown
    assert "what intervals and tests sample: queries (default), or" in shown


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        (
            'measures = ["LR"]',
            "b.toml: unknown key 'measures'; choose from collections, runs, by",
        ),
        ('basline = "bm25"', "did you mean 'baseline'"),
        ("by = 3", "b.toml: by must be a text or a list, not 3"),
        ("alpha = true", "b.toml: alpha must be a number"),
        ("by = [", "b.toml:"),
        ('runs = "suite"', "b.toml: there is no collections"),
        ('[collections]\na = "lexirecall/demo"', "b.toml: there is no runs"),
        (
            '[collections]\na = "lexirecall/demo"\n[runs]\na = "x.run"',
            "runs.a must be a table",
        ),
        (
            '[collections]\na = "lexirecall/demo"\n[runs.a]\nx = "x.run"',
            "x.run: there is no such file",
        ),
        (
            '[collections]\na = "lexirecall/dem"\n[runs.a]\nx = "x.run"',
            "did you mean 'lexirecall/demo'",
        ),
        (
            '[collections]\na = 3\n[runs.a]\nx = "x.run"',
            "collections.a must be a text, not 3",
        ),
    ],
)
def test_bad_toml_is_named(toml: str, message: str, folder: Path, cli: Any) -> None:
    (folder / "b.toml").write_text(toml)
    said = cli("benchmark", "b.toml")
    assert said.code == 1
    assert message in said.err
    assert len(said.err.splitlines()) == 1


def test_bad_folders_are_named(suite: Path, cli: Any) -> None:
    (suite / "unknown").mkdir()
    assert (
        "unknown: no data set has this id, and there is no file qrels.*"
        in cli("benchmark", str(suite)).err
    )
    (suite / "unknown" / "qrels.txt").write_text("1 0 d 1\n")
    assert "unknown: there are no runs in it" in cli("benchmark", str(suite)).err
    (suite.parent / "empty").mkdir()
    assert "there is no folder of a collection" in cli("benchmark", "empty").err
    assert "no such folder or file" in cli("benchmark", "nowhere").err
    assert (
        "expected a folder or a .toml file"
        in cli("benchmark", str(suite / "unknown" / "qrels.txt")).err
    )


def test_missing_runs_are_an_error_or_skipped(suite: Path, cli: Any) -> None:
    (suite / "bees" / "ql.res.gz").unlink()
    arguments = ("benchmark", str(suite), "-m", "LR", "--n-resamples", "50")
    assert "collection 'bees' lacks run 'ql'" in cli(*arguments).err
    assert "ql is missing for bees" in cli(*arguments, "--missing", "skip").out


# -- gate ------------------------------------------------------------------------------------------------


def gate(cli: Any, candidate: str, *options: str, baseline: str = "bm25") -> Any:
    return cli(
        "gate",
        "lexirecall/demo",
        str(RUNS[baseline]),
        str(RUNS[candidate]),
        "-m",
        "nDCG@10",
        "LR",
        *options,
    )


def test_a_gate_lets_through_what_is_not_worse(cli: Any) -> None:
    said = gate(cli, "bm25")
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith(
        "### PASSED: nothing changed: bm25 (candidate) retrieves the same documents"
    )
    said = gate(cli, "bm25", baseline="overlap")
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith("### PASSED: bm25 is not worse than overlap (margin ")


def test_a_gate_closes_on_evidence(cli: Any) -> None:
    said = gate(cli, "overlap")
    assert said.code == 3
    assert said.out.startswith(
        "### FAILED: overlap is worse than bm25 by nDCG@10 and LR (exit 3)\n"
    )
    assert said.out.count("| worse   |") == 2


def test_a_gate_lets_through_what_is_undecided_unless_it_is_strict(cli: Any) -> None:
    said = gate(cli, "ql")
    assert said.code == 0
    assert said.out.startswith(
        "### UNDECIDED: ql is not shown to be worse than bm25; undecided by nDCG@10 and LR "
        "(passes without --strict)\n"
    )
    strict = gate(cli, "ql", "--strict")
    assert strict.code == 4
    assert strict.out == said.out.replace("passes without --strict", "exit 4")
    assert gate(cli, "ql", "--strict", "--margin", "nDCG@10=0.3 LR=30%").code == 0
    both = gate(cli, "ql", "--strict", "--rule", "drop")
    assert both.code == 1
    assert "--strict is about evidence, which --rule drop does not ask for" in both.err


def test_a_gate_closes_where_a_mean_falls_too_far(cli: Any) -> None:
    said = gate(cli, "ql", "--rule", "drop")
    assert said.code == 3
    assert said.out.count("| failed  |") == 2
    table = irl.compare(
        "lexirecall/demo",
        {n: RUNS[n] for n in ("bm25", "ql")},
        "nDCG@10",
        baseline="bm25",
    ).table()
    (fall,), (p,) = -table["difference"], table["p"]
    assert said.out.startswith(
        f"### FAILED: ql against bm25: mean nDCG@10 fell by {fall:.4f}, more than 0.0100; p = {p:.2g}; "
        "mean LR fell"
    )
    assert f"{-fall:+.3f}" in said.out
    said = gate(cli, "ql", "--rule", "drop", "--margin", "0.05")
    assert said.code == 0
    assert said.out.startswith(
        "### PASSED: ql against bm25: no mean fell by more than its margin\n"
    )
    assert said.out.count("| passed  |") == 2


def test_a_gate_closes_where_a_preference_is_significant(cli: Any) -> None:
    preference = ("-p", "lexirecall")
    said = gate(cli, "overlap", *preference, "--margin", "1")
    assert said.code == 3
    assert (
        "worse than bm25 by nDCG@10 (less than 1), LR (less than 1) and lexirecall "
        in said.out
    )
    drop = (*preference, "--rule", "drop", "--margin", "1")
    said = gate(cli, "ql", *drop, "--alpha", "0.1")
    assert said.code == 3
    assert said.out.startswith(
        "### FAILED: ql against bm25: lexirecall significantly prefers bm25 (p = 0.070) (exit 3)\n"
    )
    assert gate(cli, "ql", *drop).code == 0


def preferred(cli: Any, preference: str, *options: str) -> Any:
    words = (
        "gate",
        "lexirecall/demo",
        str(RUNS["bm25"]),
        str(RUNS["ql"]),
        "-p",
        preference,
    )
    return cli(*words, *options)


def test_a_gate_lists_what_decided_on_the_queries_that_lost(cli: Any) -> None:
    said = preferred(cli, "lexirecall", "--queries", "3")
    explained = (
        irl.compare("lexirecall/demo", {n: RUNS[n] for n in ("bm25", "ql")})
        .explain("ql", "bm25")
        .set_index("query_id")
    )
    rows = [
        line
        for line in said.out.splitlines()
        if line.startswith("| q") and not line.startswith("| query")
    ]
    assert len(rows) == 3
    for row in rows:
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        decided = explained.loc[cells[0]]
        assert (decided["winner"], str(decided["level"]), decided["doc_id"]) == (
            "bm25",
            cells[1],
            cells[2],
        )
        assert cells[3:] == [
            str(decided["rank_b"]),
            "-" if pd.isna(decided["rank_a"]) else str(decided["rank_a"]),
        ]
    assert "By lexirecall, ql loses 7 of 16 queries (3 are shown):" in said.out


def test_a_gate_lists_the_largest_losses_of_a_measure_first(cli: Any) -> None:
    said = gate(cli, "ql")
    rows = [
        line.strip("|").split("|")
        for line in said.out.splitlines()
        if re.match(r"\| q\d", line)
    ]
    losses = [float(candidate) - float(baseline) for _, baseline, candidate in rows]
    assert losses == sorted(losses)
    assert losses[-1] < 0
    assert f"By nDCG@10, ql loses {len(rows)} of 16 queries:" in said.out
    assert "(1 is shown):" in gate(cli, "ql", "--queries", "1").out
    none = gate(cli, "ql", "--queries", "0").out
    assert f"By nDCG@10, ql loses {len(rows)} of 16 queries.\n" in none
    assert "| query" not in none


def test_a_gate_says_the_same_in_json(cli: Any) -> None:
    said = gate(
        cli,
        "ql",
        "-p",
        "lexirecall",
        "--rule",
        "drop",
        "--queries",
        "3",
        "--format",
        "json",
    )
    assert said.code == 3
    found = json.loads(said.out)
    assert (found["outcome"], found["worse"], found["rule"]) == (
        "worse",
        ["nDCG@10", "LR"],
        "drop",
    )
    assert (found["baseline"], found["candidate"]) == ("bm25", "ql")
    runs = {n: RUNS[n] for n in ("bm25", "ql")}
    by = ["nDCG@10", "LR", "lexirecall"]
    compared = irl.compare("lexirecall/demo", runs, by, baseline="bm25", margin=0.01)
    expected = json.loads(
        compared.table().to_json(orient="records", double_precision=15)
    )
    assert [row["queries"] for row in found["criteria"]] == [16] * 3
    for row, wanted in zip(found["criteria"], expected, strict=True):
        assert {name: row[name] for name in wanted} == pytest.approx(
            wanted, nan_ok=True
        )
    explained = compared.explain("ql", "bm25", "nDCG@10").set_index("query_id")
    assert (found["lost_queries"], len(found["lost"])) == (
        (explained["winner"] == "bm25").sum(),
        3,
    )
    for lost in found["lost"]:
        assert [lost["value_a"], lost["value_b"]] == explained.loc[
            lost["query_id"], ["value_a", "value_b"]
        ].tolist()


@pytest.mark.slow
def test_a_gate_counts_its_looks_in_a_ledger(cli: Any, folder: Path) -> None:
    for baseline, look, level in (
        ("bm25", "Look 1 of gate.jsonl", "0.030"),
        ("bm25", "Look 1 of gate.jsonl, repeated on the same data", "0.030"),
        ("overlap", "Look 2 of gate.jsonl", "0.0076"),
    ):
        said = gate(cli, "ql", "--ledger", "gate.jsonl", baseline=baseline)
        assert said.code == 0
        assert f"{look}: level {level};" in said.out
    lines = [
        json.loads(line) for line in (folder / "gate.jsonl").read_text().splitlines()
    ]
    assert [(line["look"], "outcome" in line) for line in lines] == [
        (1, False),
        (1, True),
        (2, False),
        (2, True),
    ]
    said = gate(
        cli,
        "bm25",
        "--ledger",
        "gate.jsonl",
        "--release",
        str(RUNS["bm25"]),
        baseline="overlap",
    )
    assert said.code == 0
    assert "Look 3 of gate.jsonl: level" in said.out
    said = gate(
        cli,
        "overlap",
        "--ledger",
        "gate.jsonl",
        "--release",
        str(RUNS["bm25"]),
        baseline="ql",
    )
    assert said.code == 3
    assert "overlap is worse than ql by nDCG@10 and LR" in said.out
    assert "overlap is worse than release by nDCG@10 and LR" in said.out
    assert (
        "was begun with alpha 0.05"
        in gate(cli, "ql", "--ledger", "gate.jsonl", "--alpha", "0.1").err
    )


def test_a_gate_names_the_folder_that_a_ledger_lacks(cli: Any, folder: Path) -> None:
    said = gate(cli, "ql", "--ledger", "none/gate.jsonl")
    assert said.code not in (0, 3, 4)
    assert (
        "there is no folder 'none'; make it, or name a file in another one" in said.err
    )
    assert "Traceback" not in said.err
    assert not (folder / "none").exists()


def test_a_gate_writes_files_and_names_bad_input(cli: Any, folder: Path) -> None:
    assert gate(cli, "overlap", "-o", "summary.md").code == 3
    assert (
        (folder / "summary.md")
        .read_text()
        .startswith(
            "### FAILED: overlap is worse than bm25 by nDCG@10 and LR (exit 3)\n"
        )
    )
    assert (
        "margin of nDCG@10 must be a number of at least 0"
        in gate(cli, "ql", "--margin", "-1").err
    )
    assert (
        "no margin for LR; give one for every criterion"
        in gate(cli, "ql", "--margin", "nDCG@10=0.1").err
    )
    assert (
        "expected a number, or a share of the baseline's mean"
        in gate(cli, "ql", "--margin", "some").err
    )
    assert "queries must be" in gate(cli, "ql", "--queries", "-1").err
    assert (
        "no.run: there is no such file"
        in cli("gate", "lexirecall/demo", "no.run", str(RUNS["ql"]), "-m", "LR").err
    )


@pytest.mark.slow
def test_a_gate_stays_closed_where_nobody_reads_its_summary(folder: Path) -> None:
    words = (
        "gate",
        "lexirecall/demo",
        str(RUNS["bm25"]),
        str(RUNS["overlap"]),
        "-m",
        "LR",
    )
    for start in (program(*words), [sys.executable, "-m", "ir_lexirecall", *words]):
        reading, writing = os.pipe()
        os.close(reading)
        try:
            done = subprocess.run(
                start,
                cwd=folder,
                stdout=writing,
                stderr=subprocess.PIPE,
                check=False,
                timeout=600,
            )
        finally:
            os.close(writing)
        assert (done.returncode, done.stderr) == (3, b"")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            {"names": ("main",)},
            "names must be two, the baseline's and the candidate's, not ('main',)",
        ),
        (
            {"margin": None},
            "margin must be a number, a share such as '2%', or one for each criterion, not None; 0 allows no loss",
        ),
    ],
)
def test_a_gate_refuses_options_that_are_none(
    options: dict[str, Any], said: str
) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(f'gate: {said}')}$"):
        irl.gate("lexirecall/demo", RUNS["bm25"], RUNS["ql"], "LR", **options)
