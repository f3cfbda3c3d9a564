"""Tables fit the terminal, and say what they leave out; the best and what differs from the baseline are marked."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import BM25, DPH, Cli, Said

import ir_lexirecall as irl
from ir_lexirecall import demo
from ir_lexirecall.present.comparisons import comparison_glance
from ir_lexirecall.present.glance import glance_text
from ir_lexirecall.present.tables import best_marks
from ir_lexirecall.present.text import width

pytestmark = pytest.mark.sparse

Terminal = Callable[..., Said]

LONG = ["experiment-robust-bm25-rm3-k1-0.9", "experiment-robust-bm25-rm3-k1-1.2", "dph"]
HEADS = [["run"], ["criterion"], ["query_id"], ["measure"], ["measure_a"]]
MEASURES = [
    "LR",
    "TSE",
    "nDCG@10",
    "AP",
    "P@5",
    "RBP(p=0.8,rel=1)@1000",
    "RBP(p=0.9,rel=1)@1000",
]


@pytest.fixture
def runs(folder: Path) -> list[str]:
    """Runs with long names that differ in the middle and at the end."""
    for name, text in zip(LONG, (BM25, DPH, DPH), strict=True):
        Path(f"{name}.run").write_text(text)
    return [f"{name}.run" for name in LONG]


def table_of(said: Said) -> list[str]:
    """The lines of the first table of runs, pairs or measures, up to the sentences below."""
    lines = said.out.splitlines()
    lines = lines[
        next(
            i
            for i, line in enumerate(lines)
            if line.split()[:1] in HEADS and "  " in line.strip()
        ) :
    ]
    end = next(
        (i for i, line in enumerate(lines) if line.startswith(("(", "*")) or not line),
        len(lines),
    )
    return lines[:end]


@pytest.mark.parametrize("columns", [40, 80, 200])
@pytest.mark.parametrize(
    "command",
    ["eval", "eval --by-query", "compare --explain", "meta"],
)
def test_tables_fit_the_terminal(
    columns: int, command: str, terminal: Terminal, runs: list[str]
) -> None:
    words = {
        "eval": ("eval", "qrels.txt", *runs, "-m", *MEASURES),
        "eval --by-query": ("eval", "qrels.txt", *runs, "-m", *MEASURES, "--by-query"),
        "compare --explain": ("compare", "qrels.txt", *runs, "--explain", *LONG[:2]),
        "meta": ("meta", "agreement", "qrels.txt", *runs, "-m", *MEASURES),
    }[command]
    said = terminal(columns, *words)
    assert said.code == 0
    too_wide = [line for line in said.out.splitlines() if width(line) > columns]
    least = [re.split(r"\s{2,}", line.strip()) for line in too_wide if " " in line]
    assert all(
        len(cells) <= 4 for cells in least
    )  # the names of a row and one number stay, whatever room there is
    names = {row.split()[0] for row in table_of(said)[1:]}
    assert len(names) >= (
        2 if command in ("eval --by-query", "compare --explain") else 3
    )
    shown, wide = said.out.split(), terminal(columns, *words, "--wide").out.split()
    assert ("--wide shows all" in " ".join(shown)) == (shown != wide)


@pytest.mark.parametrize("columns", [40, 80, 200])
@pytest.mark.parametrize("measure", ["LR", "nDCG@10", "RBU(p=0.9)@20"])
def test_what_a_measure_means_fits_the_terminal(
    columns: int, measure: str, terminal: Terminal, cli: Cli
) -> None:
    said = terminal(columns, "explain-measure", measure)
    assert said.code == 0
    assert all(width(line) <= columns for line in said.out.splitlines())
    assert (
        said.out.split()
        == str(irl.describe(measure)).split()
        == cli("explain-measure", measure).out.split()
    )
    assert cli("explain-measure", measure, "-o", "page.txt").out == ""
    assert Path("page.txt").read_text() == cli("explain-measure", measure).out


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_compare_shows_the_result_at_a_glance(
    columns: int, terminal: Terminal, folder: Path
) -> None:
    runs = {name: str(demo.FOLDER / "runs" / f"{name}.run") for name in demo.RUNS}
    result = irl.compare("lexirecall/demo", runs)
    said = terminal(columns, "compare", "lexirecall/demo", *runs.values())
    assert (
        said.out.replace("\r", "")
        == glance_text(comparison_glance(result), columns, options=True) + "\n"
    )
    assert max(map(len, said.out.splitlines())) <= columns or columns == 40
    for run in demo.RUNS:
        assert any(line[4:].startswith(run) for line in said.out.splitlines())
    everything = terminal(
        columns, "compare", "lexirecall/demo", *runs.values(), "--caveats", "--verbose"
    )
    words = " ".join(everything.out.split())
    assert all(
        " ".join(note.split()) in words for note in comparison_glance(result).notes
    )
    assert "correction holm" in words
    assert "correction holm" not in said.out


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_the_demo_explains_its_zeros(columns: int, terminal: Terminal) -> None:
    said = terminal(columns, "demo")
    to_copy = ("ir-lexirecall ", "import ", "print(")  # stay in one line
    assert all(
        width(line) <= columns
        for line in said.out.splitlines()
        if not line.startswith(to_copy)
    )
    words = " ".join(said.out.split())
    missing = [
        f"on {irl.evaluate('TSE', demo.qrels(), run)['TSE'].eq(0).sum()} for {name}"
        for name, run in demo.runs().items()
    ]
    assert (
        "TSE is 0 for a query if a relevant document is missing: of 16 queries, "
        f"{', '.join(missing[:-1])} and {missing[-1]}."
    ) in words
    assert "ir-lexirecall explain-measure TSE" in words


def test_columns_are_left_out_from_the_last_on(
    terminal: Terminal, runs: list[str]
) -> None:
    said = terminal(40, "eval", "qrels.txt", *runs, "-m", *MEASURES)
    head = table_of(said)[0].split()
    assert head == ["run", *MEASURES][: len(head)]
    sentence = " ".join(said.out[said.out.index("(") :].split())
    missing = ["run", *MEASURES][len(head) :]
    assert sentence == (
        f"({len(missing)} of {len(MEASURES) + 1} columns left out: {', '.join(missing)}; --wide shows all) * best of its column"
    )


def test_wide_and_a_file_show_all(
    terminal: Terminal, cli: Cli, runs: list[str]
) -> None:
    words = ("eval", "qrels.txt", *runs, "-m", *MEASURES)
    assert (
        terminal(40, *words, "--wide").out
        == cli(*words).out
        == terminal(400, *words).out
    )
    assert all(name in cli(*words).out for name in [*LONG, *MEASURES])
    assert terminal(40, *words, "-o", "table.txt").out == ""
    assert Path("table.txt").read_text() == cli(*words).out


# -- marks -------------------------------------------------------------------------------------------


def test_the_best_of_each_column_is_marked(cli: Cli) -> None:
    said = cli("eval", "qrels.txt", "bm25.run", "dph.txt", "-m", "LR", "P@1", "NumRet")
    assert [row[1:] for row in said.rows[1:3]] == [
        ["0.4667", "0.5000", "4.0000"],
        ["0.8750*", "0.5000", "4.0000"],  # the same, and a count
    ]
    assert best_marks([0.1, 0.3, 0.3]) == ["", "*", "*"]


@pytest.mark.parametrize("test", ["t", "sign", "wilcoxon"])
def test_what_differs_from_the_baseline_is_marked(test: str, cli: Cli) -> None:
    runs = {name: str(demo.FOLDER / "runs" / f"{name}.run") for name in demo.RUNS}
    measures = ["nDCG@10", "AP", "LR"]
    words = (
        "eval",
        "lexirecall/demo",
        *runs.values(),
        "-m",
        *measures,
        "--baseline",
        "ql",
        "--test",
        test,
    )
    said = cli(*words)
    assert said.code == 0
    result = irl.compare("lexirecall/demo", runs, measures, baseline="ql", test=test)
    tested = {
        (row["run_a"], row["criterion"]): row
        for row in result.table().to_dict(orient="records")
    }
    glance = comparison_glance(result)
    assert said.out == glance_text(glance, options=True) + "\n"
    signs = {"better": "+", "worse": "-"}
    for group in glance.groups:
        for name, mark in zip(glance.rows, group.marks, strict=True):
            verdict = tested[name, group.name]["verdict"] if name != "ql" else ""
            assert mark.strip("?") == signs.get(verdict, "")
    assert any("-" in mark for group in glance.groups for mark in group.marks)
    how = {
        "t": "paired t-test",
        "sign": "sign test",
        "wilcoxon": "Wilcoxon signed-rank test",
    }[test]
    in_full = " ".join(cli(*words, "--all").out.split())  # a full screen may say less
    assert (
        f"worse than ql ({how}, Holm's correction for 4 comparisons, p <= 0.05"
        in in_full
    )
    rows = list(csv.DictReader(io.StringIO(cli(*words, "--format", "csv").out)))
    for row in rows:
        for measure in measures:
            facts = tested.get((row["run"], measure), {})
            for fact in (
                "difference",
                "ci_low",
                "ci_high",
                "p",
                "p_corrected",
                "effect_size",
                "verdict",
            ):
                assert row[f"{measure} {fact}"] == str(facts.get(fact, ""))
            assert row[f"{measure} test"] == test
    assert list(rows[0])[:3] == ["run", measures[0], f"{measures[0]} difference"]
    assert {row["queries"] for row in rows} == {"16"}


# -- compare -----------------------------------------------------------------------------------------

RUNS = {name: str(demo.FOLDER / "runs" / f"{name}.run") for name in demo.RUNS}


def test_compare_prints_what_the_function_gives(cli: Cli) -> None:
    options = (
        "-p",
        "rpp",
        "AP",
        "--baseline",
        "ql",
        "--rel",
        "2",
        "--cutoff",
        "50",
        "--test",
        "bootstrap",
    )
    options += (
        "--n-resamples",
        "200",
        "--seed",
        "4",
        "--alpha",
        "0.1",
        "--correction",
        "none",
    )
    said = cli(
        "compare", "lexirecall/demo", *RUNS.values(), *options, "--format", "json"
    )
    expected = irl.compare(
        "lexirecall/demo",
        RUNS,
        ["rpp(rel=2)@50", "AP(rel=2)"],
        baseline="ql",
        test=irl.SignificanceTest(
            "bootstrap", correction=None, alpha=0.1, n_resamples=200, seed=4
        ),
    ).table()
    assert json.loads(said.out) == expected.astype(object).where(
        expected.notna(), None
    ).to_dict(orient="records")


def test_a_gate_lists_as_many_lost_queries_as_are_asked_for(
    terminal: Terminal, folder: Path
) -> None:
    runs = [str(demo.FOLDER / "runs" / f"{name}.run") for name in ("bm25", "overlap")]
    words = ("gate", "lexirecall/demo", *runs, "-m", "nDCG@10", "AP", "LR")
    numbers = []
    for asked in ((), ("--queries", "9")):
        said = terminal(80, *words, *asked).out
        n_listed = sum(line.startswith("q") for line in said.splitlines()) - 1
        assert f"({n_listed} are shown)" in said
        numbers.append(n_listed)
    assert 3 <= numbers[0] < numbers[1] == 9


@pytest.mark.parametrize("name", ["none", "None"])
def test_no_correction_has_the_name_that_an_error_lists(name: str, cli: Cli) -> None:
    words = ("eval", "lexirecall/demo", *RUNS.values(), "-m", "AP", "--baseline", "ql")
    said = cli(*words, "--correction", name)
    assert said.code == 0
    assert "(paired t-test, p <= 0.05)" in said.out.replace("\n", " ")
    listed = cli(*words, "--correction", "bonferoni").err
    assert "None (no correction)" in listed


def pairs_of(said: Said) -> list[dict[str, str]]:
    """The rows of the table of pairs."""
    lines = said.out.splitlines()
    lines = [*lines[lines.index("Pairs:") + 1 :], ""]
    head, *rows = [
        re.split(r"\s{2,}", line.strip()) for line in lines[: lines.index("")]
    ]
    return [dict(zip(head, row, strict=True)) for row in rows]


def test_compare_says_what_is_significant(cli: Cli) -> None:
    said = cli("compare", "lexirecall/demo", *RUNS.values(), "--pairs")
    table = irl.compare("lexirecall/demo", RUNS).table()
    heads = [
        "run_a",
        "run_b",
        "wins",
        "losses",
        "ties",
        "difference",
        "p_corrected",
        "verdict",
    ]
    for row, expected in zip(
        pairs_of(said), table.to_dict(orient="records"), strict=True
    ):
        assert list(row)[: len(heads)] == heads
        names = ("run_a", "run_b", "verdict")
        assert [row[name] for name in names] == [expected[name] for name in names]
        assert row["difference"] == f"{expected['difference']:.4f}"
        assert (
            row["95% interval"]
            == f"{expected['ci_low']:.4f} to {expected['ci_high']:.4f}"
        )
    assert {"better", "undecided"} <= set(table["verdict"])
    decided = (table["verdict"] != "undecided").sum()
    assert f"{decided} of 10 pairs differ significantly (sign test" in said.out


CRITERIA = ("-m", "nDCG@10", "AP", "-p", "lexirecall")


@pytest.mark.sparse
@pytest.mark.parametrize(
    ("option", "heads"),
    [
        (
            "--disagree nDCG@10 lexirecall bm25 tfidf",
            "winner value_a value_b winner doc_id rank_a rank_b strength",
        ),
        ("--bounds", "low high 95% interval wins losses open ties"),
        ("--holds", "diff. verdict holds depth"),
        ("--pairs", "diff. verdict 95% interval"),
        ("--pairs --baseline ql", "diff. verdict 95% interval"),
        ("--explain bm25 tfidf", "nDCG@10 AP lexirecall value_a value_b winner"),
    ],
)
def test_columns_that_an_option_asks_for_are_kept(
    option: str, heads: str, terminal: Terminal, cli: Cli
) -> None:
    words = ["compare", "lexirecall/demo"]
    words += [RUNS[name] for name in ("bm25", "tfidf", "ql")]
    words += [*CRITERIA, *option.split()]
    lines = terminal(80, *words).out.splitlines()
    assert max(map(len, lines)) <= 80
    begins = ("criterion", "query_id")
    places = [i for i, line in enumerate(lines) if line.startswith(begins)]
    shown = " ".join(" ".join(lines[max(0, i - 1) : i + 1]) for i in places).split()
    for head in heads.split():
        assert head in shown
    # Programs get every column.
    in_json = json.loads(cli(*words, "--format", "json").out)
    in_csv = cli(*words, "--format", "csv").out.splitlines()[0].split(",")
    assert list(in_json[0]) == in_csv
    wide = terminal(80, *words, "--wide").out
    assert wide == cli(*words, "--wide").out


def test_the_one_ranking_explained_has_all_but_the_preference(
    terminal: Terminal,
) -> None:
    words = ("compare", "lexirecall/demo", RUNS["bm25"], RUNS["tfidf"])
    said = terminal(80, *words, "--explain", "bm25", "tfidf").out
    assert said.split("\n")[0].split()[-1].strip() == "other_doc_id"
    assert "(1 of 9 columns left out: preference; --wide shows all)" in said


@pytest.mark.parametrize("columns", [60, 80, 100, 200])
def test_a_legend_explains_the_columns_that_are_shown(
    columns: int, terminal: Terminal
) -> None:
    words = ["compare", "lexirecall/demo", RUNS["bm25"], RUNS["tfidf"], *CRITERIA]
    shown = terminal(columns, *words, "--explain", "bm25", "tfidf").out
    above, _, legend = shown.partition("\n\n")
    legend = legend.split("\n\n")[0].split("Careful")[0]
    heads = above.split("\n(")[0].split("\n")[:2]
    for column in ("level", "tied_levels", "doc_id", "rank_a", "other_doc_id"):
        is_shown = column in " ".join(heads).split()
        assert (f"{column}: " in f" {legend}" or f"{column}, " in legend) == is_shown


def test_explain_prints_what_decided(cli: Cli) -> None:
    words = (
        "compare",
        "lexirecall/demo",
        RUNS["bm25"],
        RUNS["ql"],
        "--explain",
        "bm25",
        "ql",
        "--format",
        "json",
    )
    table = irl.compare(
        "lexirecall/demo", {name: RUNS[name] for name in ("bm25", "ql")}
    ).explain("bm25", "ql")
    expected = table.astype(object).where(table.notna(), None).to_dict(orient="records")
    assert json.loads(cli(*words).out) == expected
    said = cli(*words, "-p", "lexirecall", "AP", "--format", "table")
    head = next(line for line in said.out.splitlines() if line.startswith("query_id"))
    assert "lexirecall" in head
    assert "AP" in head


def test_a_report_is_written(cli: Cli) -> None:
    pytest.importorskip("jinja2")
    pytest.importorskip("matplotlib")
    words = (
        "report",
        "qrels.txt",
        "bm25.run",
        "dph.txt",
        "-m",
        "LR",
        "AP",
        "-p",
        "rpp",
        "--baseline",
        "bm25",
    )
    said = cli(*words, "--title", "Two <runs>", "--test", "t", "-o", "report.html")
    assert (said.code, said.out, said.err) == (0, "report.html\n", "")
    page = Path("report.html").read_text()
    assert "Two &lt;runs&gt;" in page
    assert "ir-lexirecall report qrels.txt bm25.run dph.txt -m LR AP -p rpp" in page


@pytest.mark.slow
@pytest.mark.parametrize("columns", [60, 80])
def test_counterexamples_are_whole_in_a_terminal(
    columns: int, terminal: Terminal, cli: Cli
) -> None:
    words = ("meta", "axioms", "-m", "AP", "nDCG@10", "--size", "3", "--cases", "0")
    said = terminal(columns, *words)
    assert all(width(line) <= columns for line in said.out.splitlines())
    head, *rows = (line.split() for line in said.out.splitlines()[:34])
    assert head == ["property", "AP", "nDCG@10"]
    assert ["set-based", "order", "fails", "fails"] in rows
    shown = " ".join(said.out.split())
    table = list(csv.DictReader(io.StringIO(cli(*words, "--format", "csv").out)))
    failed = [row for row in table if row["result"] == "fails"]
    assert len(failed) > 10
    assert all(
        f"- {row['property']}: {row['counterexample']}" in shown for row in failed
    )
