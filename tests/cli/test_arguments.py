"""Which words of a command line are measures, runs and options."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from command_line import Cli

from ir_lexirecall import demo
from ir_lexirecall.cli import arguments
from ir_lexirecall.data import qrels as read_qrels_module


@pytest.mark.parametrize(
    "words",
    [
        ("qrels.txt", "bm25.run", "dph.txt", "-m", "LR", "nDCG@10"),
        ("qrels.txt", "bm25.run", "dph.txt", "-m", "LR nDCG@10"),
        ("qrels.txt", "bm25.run", "dph.txt", "-m", "LR", "--measures=nDCG@10"),
        ("-m", "LR", "nDCG@10", "qrels.txt", "bm25.run", "dph.txt"),
        ("qrels.txt", "bm25.run", "-m", "LR", "-m", "nDCG@10", "dph.txt"),
        ("-m", "LR", "nDCG@10", "--", "qrels.txt", "bm25.run", "dph.txt"),
        (
            "qrels.txt",
            "bm25.run",
            "dph.txt",
            "-m",
            "LR",
            "nDCG@10",
            "--format",
            "table",
        ),
    ],
    ids=" ".join,
)
def test_measures_are_words_in_one_or_several_options(
    words: tuple[str, ...], cli: Cli
) -> None:
    said = cli("eval", *words)
    assert (said.code, said.err) == (0, "")
    assert said.rows[0] == ["run", "LR", "nDCG@10"]
    assert [row[0] for row in said.rows[1:3]] == ["bm25", "dph"]


def test_files_that_are_not_there_are_asked_for_before_measures(cli: Cli) -> None:
    said = cli("eval", "-m", "LR", "qrel.txt", "bm52.run")
    assert (said.code, said.out) == (2, "")
    assert said.err.endswith("required: QRELS, RUN; name files before -m and -p\n")


def test_a_file_that_is_called_like_no_measure_is_a_file(cli: Cli) -> None:
    Path("bm25").write_text(Path("bm25.run").read_text())
    assert cli("eval", "-m", "LR", "AP", "qrels.txt", "bm25").rows[0] == [
        "run",
        "LR",
        "AP",
    ]


def test_a_measure_is_a_measure_although_a_file_is_called_like_it(cli: Cli) -> None:
    Path("AP").write_text("")
    assert cli("eval", "qrels.txt", "bm25.run", "-m", "LR", "AP").rows[0] == [
        "run",
        "LR",
        "AP",
    ]


@pytest.mark.parametrize("slip", ["nDCG10", "LRR", "ndgc@10", "RBU(p=0.9", "Foo(x=1)"])
def test_a_misspelt_measure_is_called_a_measure(slip: str, cli: Cli) -> None:
    said = cli("eval", "qrels.txt", "bm25.run", "-m", "LR", slip)
    assert (said.code, said.out) == (1, "")
    assert slip in said.err
    assert "measure" in said.err


def test_preferences_are_words_too(cli: Cli) -> None:
    words = ("compare", "qrels.txt", "bm25.run", "dph.txt", "--format", "tsv")
    expected = cli(*words, "-p", "lexirecall rpp AP")
    assert expected.code == 0
    for asked in (
        ("-p", "lexirecall", "rpp", "AP"),
        ("-p", "lexirecall", "rpp", "--preference", "AP"),
    ):
        assert cli(*words, *asked) == expected


def test_an_option_without_measures_is_bad_usage(cli: Cli) -> None:
    for words in (("-m",), ("-m", "--by-query"), ("-m", "--")):
        said = cli("eval", "qrels.txt", "bm25.run", *words)
        assert (said.code, said.out) == (2, "")
        assert "-m/--measures" in said.err


def test_what_follows_two_dashes_is_no_option(cli: Cli) -> None:
    Path("-m").write_text(Path("bm25.run").read_text())
    said = cli("eval", "-m", "LR", "--", "qrels.txt", "-m")
    assert (said.code, said.rows[1][0]) == (0, "-m")


# -- what is read ------------------------------------------------------------------------------------

RUNS = [str(demo.FOLDER / "runs" / f"{name}.run") for name in ("bm25", "ql")]


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ("eval", "lexirecall/demo", *RUNS),
        ("eval", "lexirecall/demo", *RUNS, "--baseline", "bm25"),
        ("compare", "lexirecall/demo", *RUNS),
        ("report", "lexirecall/demo", *RUNS, "-o", "report.html"),
    ],
    ids=" ".join,
)
def test_the_judgments_of_an_id_are_made_once(
    words: tuple[str, ...], cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, read = [], []
    sorted_rows, qrels = read_qrels_module._sorted_rows, demo.qrels
    monkeypatch.setattr(
        read_qrels_module,
        "_sorted_rows",
        lambda columns: made.append(len(columns["doc_id"])) or sorted_rows(columns),  # type: ignore[func-returns-value]
    )
    monkeypatch.setattr(demo, "qrels", lambda: read.append(1) or qrels())  # type: ignore[func-returns-value]
    assert cli(*words).code == 0
    # A report ranks the documents of a run by aligning it with judgments of nothing else.
    assert (made.count(len(qrels())), len(read)) == (1, 1)


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["nDCG", "@", "10"], "write nDCG@10 without spaces, or in quotes"),
        (["nDCG@", "10"], "write nDCG@10 without spaces, or in quotes"),
        (["AP", "nDCG", "@10"], "write nDCG@10 without spaces, or in quotes"),
        (["@"], "'@' lacks a measure or a cutoff"),
        (["nDCG@"], "'nDCG@' lacks a measure or a cutoff"),
    ],
)
def test_a_cutoff_apart_from_its_measure_is_named(words: list[str], meant: str) -> None:
    with pytest.raises(ValueError, match=f"^measures: {re.escape(meant)}"):
        arguments.split_measures(words)


@pytest.mark.parametrize(
    "words",
    [["nDCG @ 10"], ["nDCG@ 10"], ["nDCG @10"], ["nDCG  @  10"], ["AP, nDCG @ 10"]],
)
def test_blanks_around_a_cutoff_are_taken_within_quotes(words: list[str]) -> None:
    assert arguments.split_measures(words)[-1] == "nDCG@10"


@pytest.mark.parametrize("cutoff", ["0", "-1", "1.5", "ten"])
def test_a_cutoff_is_a_rank(cutoff: str, cli: Cli) -> None:
    said = cli("compare", "qrels.txt", "bm25.run", "ql.run", f"--cutoff={cutoff}")
    assert (said.code, said.out) == (2, "")
    assert f"--cutoff: the cutoff must be at least 1, not '{cutoff}'" in said.err
