"""Mistakes on the command line that had misleading answers."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pages import browsed

from ir_lexirecall import demo

QRELS = str(demo.FOLDER / "qrels.tsv")
RUNS = [str(demo.FOLDER / "runs" / f"{name}.run") for name in ("bm25", "ql")]


@pytest.mark.parametrize("command", ["eval", "compare", "report", "to-judge"])
@pytest.mark.parametrize("beside", [[], RUNS[:1]])
def test_a_pattern_without_a_match_is_named(
    command: str, beside: list[str], cli: Any
) -> None:
    options = ["-o", "x.html"] if command == "report" else []
    said = cli(command, QRELS, *beside, "runs/*.rnu", "-m", "AP", *options)
    assert said.code == 1
    assert said.err.endswith("runs/*.rnu: no file matches this pattern; correct it\n")


@pytest.mark.parametrize("command", ["compare", "report"])
def test_a_pattern_of_values_without_a_match_is_named(command: str, cli: Any) -> None:
    options = ["-o", "x.html"] if command == "report" else []
    said = cli(command, "--values", "values/[ab]?.csv", *options)
    assert said.err.endswith(
        "values/[ab]?.csv: no file matches this pattern; correct it\n"
    )


@pytest.mark.parametrize("form", ["table", "json", "csv", "latex", "markdown"])
def test_eval_takes_standard_measures_of_a_file_and_says_so(
    form: str, cli: Any
) -> None:
    said = cli("eval", QRELS, *RUNS, "--format", form)
    named = cli("eval", QRELS, *RUNS, "--format", form, "-m", "nDCG@10", "AP", "LR")
    assert said.code == 0
    assert said.out == named.out
    assert (
        f"{QRELS} recommends no measures: taking nDCG@10, AP and LR; name others"
        in said.err
    )
    assert "recommends" not in named.err


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ["gate", QRELS, *RUNS],
        ["report", QRELS, *RUNS, "-o", "x.html", "--n-resamples", "50"],
    ],
)
def test_gate_and_report_take_them_too(arguments: list[str], cli: Any) -> None:
    assert "recommends no measures: taking nDCG@10, AP and LR" in cli(*arguments).err
    assert "recommends" not in cli(*arguments, "-p", "lexirecall").err
    collection = [arguments[0], "lexirecall/demo", *arguments[2:]]
    assert "recommends" not in cli(*collection).err


def test_the_help_of_the_program_has_all_exit_codes(cli: Any) -> None:
    text = " ".join(cli("--help").out.split())
    assert (
        "3 gate: the candidate is worse; 4 gate --strict: undecided; "
        "5 compare, report, gate: a file of --values is cut off; 130 interrupted"
        in text
    )
    assert (
        "4 "
        not in " ".join(cli("eval", "--help").out.split()).rpartition("exit codes")[2]
    )


def test_a_margin_without_a_baseline_names_the_options(cli: Any) -> None:
    said = cli("compare", QRELS, *RUNS, "--margin", "0.1")
    assert said.err.endswith("compare: --margin needs --baseline\n")


@pytest.mark.parametrize(
    ("words", "needed"),
    [
        ("eval --test t", "--test needs --baseline RUN"),
        ("eval --margin 0.1", "--margin needs --baseline RUN"),
        ("eval --n-resamples 99", "--n-resamples needs --baseline RUN"),
        (
            "compare --columns differences",
            "--columns differences needs --format latex or --format markdown",
        ),
        ("compare --caption Title", "--caption needs --format latex"),
        (
            "compare --columns differences --format latex --bounds",
            "--columns differences shows a table of its own; leave out --bounds",
        ),
        (
            "compare --caption Title --format latex --explain bm25 ql",
            "--caption belongs to the table of means or differences; leave out --explain",
        ),
    ],
)
def test_an_option_without_the_one_that_it_needs_is_refused(
    words: str, needed: str, cli: Any
) -> None:
    command, *options = words.split()
    said = cli(command, QRELS, *RUNS, *options)
    assert said.code == 1
    assert said.err.endswith(f"{command}: {needed}\n")


def test_a_verdict_by_means_alone_is_named_in_the_help(cli: Any) -> None:
    """It is *failed*, as *worse* needs evidence; for programs the outcome is the same."""
    overlap = str(demo.FOLDER / "runs" / "overlap.run")
    files = [QRELS, RUNS[0], overlap, "-m", "nDCG@10", "--rule", "drop"]
    said = cli("gate", *files)
    assert said.code == 3
    assert "| failed" in said.out
    assert json.loads(cli("gate", *files, "--format", "json").out)["outcome"] == "worse"
    shown = " ".join(cli("gate", "--help").out.split())
    assert (
        "'worse' by a test (evidence), or 'failed' by the means alone (drop)" in shown
    )
    assert "With --rule drop, it has *failed* if its mean falls" in shown


def test_the_help_of_gate_names_all_verdicts(cli: Any) -> None:
    description, _, _ = " ".join(cli("gate", "--help").out.split()).partition(
        "options:"
    )
    for verdict in ("worse", "better", "within margin", "not worse", "undecided"):
        assert f"*{verdict}*" in description


def test_a_folder_without_collections_says_what_one_holds(
    folder: Any, cli: Any
) -> None:
    (folder / "empty").mkdir()
    said = cli("benchmark", "empty").err
    assert (
        "there is no folder of a collection in it; each holds the runs of one" in said
    )


@pytest.mark.parametrize("option", ["-m", "-p"])
def test_either_option_takes_measures_and_preferences(option: str, cli: Any) -> None:
    for name in ("lexirecall", "nDCG@10"):
        said = cli("compare", QRELS, *RUNS, option, name, "--format", "json")
        assert f'"criterion": "{name}"' in said.out


def test_eval_says_where_preferences_go(cli: Any) -> None:
    said = cli("eval", QRELS, *RUNS, "-m", "nDCG@10 lexirecall")
    assert said.err.endswith(
        "eval: lexirecall is a preference between two runs: `compare` takes it\n"
    )


def test_a_report_shows_texts_of_queries_from_a_file(folder: Any, cli: Any) -> None:
    pytest.importorskip("jinja2")
    ids = sorted(set(demo.qrels()["query_id"]))
    lines = [f"{query_id}\tasked in words {query_id}\n" for query_id in ids]
    (folder / "topics.tsv").write_text("".join(lines))
    said = cli(
        "report", QRELS, *RUNS, "-m", "AP", "--queries", "topics.tsv", "-o", "page.html"
    )
    assert said.code == 0
    page = (folder / "page.html").read_text(encoding="utf-8")
    texts = [query["text"] for query in browsed(page)["queries"]]
    assert texts == [f"asked in words {query_id}" for query_id in ids]
    assert str(demo.FOLDER) not in page
