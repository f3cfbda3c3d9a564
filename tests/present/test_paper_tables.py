"""Tables for papers: what they count, what they leave out, and that they fit a page."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import ir_lexirecall as irl

RUNS = ["InexpC2", "MU03rob01", "UIUC03Rd1", "Sel50"]
CRITERIA = ["nDCG@10", "AP", "lexirecall"]


def comparison(n_runs: int, baseline: str | None = None) -> irl.Comparison:
    """Compare runs of the demo under names as long as those of TREC."""
    runs = dict(zip(RUNS[:n_runs], irl.demo.runs().values(), strict=False))
    return irl.compare(irl.demo.qrels(), runs, CRITERIA, baseline=baseline)


def test_preferences_are_against_the_baseline() -> None:
    result = comparison(4, baseline="Sel50")
    head, _, *rows = result.to_markdown().partition("\n\n")[0].splitlines()
    assert "lexirecall" in head
    shown = {cells[1].strip(): cells[-2] for cells in (row.split("|") for row in rows)}
    expected = result.table("lexirecall").set_index("run_a")["difference"]
    for run, difference in expected.items():
        assert f"{difference:.4f}" in shown[run]
    assert "0.0000" in shown["Sel50"]
    assert "relevant documents, against Sel50." in result.to_markdown()
    assert "against" not in comparison(4).to_markdown()


def test_a_single_pair_is_named_in_the_caption() -> None:
    caption, _, table = (
        comparison(2).to_latex(columns="differences").partition("\\label")
    )
    first, second = RUNS[:2]
    assert f"Differences are {first} minus {second}." in " ".join(caption.split())
    assert first not in table
    assert "baseline" not in table


def test_criteria_stand_above_their_rows_in_latex() -> None:
    """A column of criteria would make ten pairs by three criteria wider than a page's text."""
    result = irl.compare(
        irl.demo.qrels(), irl.demo.runs(), ["nDCG@10", "AP", "lexirecall"]
    )
    lines = result.to_latex(columns="differences").splitlines()
    heads = [line for line in lines if line.startswith("\\multicolumn")]
    assert heads == [
        f"\\multicolumn{{6}}{{@{{}}l}}{{\\emph{{{name}}}}} \\\\"
        for name in result.criteria
    ]
    assert lines.count("\\addlinespace") == 2
    assert sum(" & " in line for line in lines) == 1 + 3 * 10
    assert "| criterion" in result.to_markdown(columns="differences")
    one = irl.compare(irl.demo.qrels(), irl.demo.runs(), "AP").to_latex(
        columns="differences"
    )
    assert "multicolumn" not in one


@pytest.mark.parametrize("test", [None, "t", "sign", "wilcoxon"])
def test_a_number_stands_beside_its_own_interval(test: str | None) -> None:
    """The interval of a sign test is of the decided queries: so is the number before it."""
    criteria = ["AP", "lexirecall"]
    result = irl.compare(
        irl.demo.qrels(), irl.demo.runs(), criteria, baseline="bm25", test=test
    )
    shown = result.to_markdown(places=4, columns="differences")
    rows = [
        line for line in shown.splitlines() if " to " in line and line.startswith("| ")
    ]
    for line, row in zip(rows, result.table().itertuples(), strict=True):
        assert f"{abs(row.estimate):.4f}" in line
        assert f"{row.ci_low:.4f} to {row.ci_high:.4f}" in line


def test_what_a_number_is_of_stands_in_the_caption_once() -> None:
    result = irl.compare(
        irl.demo.qrels(), irl.demo.runs(), ["AP", "lexirecall"], baseline="bm25"
    )
    caption = " ".join(result.to_latex(columns="differences").split())
    assert (
        "For AP: mean differences. For lexirecall: (wins - losses) / (wins + losses),"
        in (caption)
    )
    assert "a share of the decided queries, not of all." in caption
    assert "(wins - losses) / queries" not in caption
    assert "(wins - losses) / queries" in " ".join(result.to_latex().split())


@pytest.mark.sparse
@pytest.mark.parametrize(
    ("criteria", "test", "sentences"),
    [
        ("AP", None, []),
        ("AP lexirecall", "t", []),
        ("AP", "sign", ["For AP: (wins - losses) / (wins + losses), a share"]),
        ("lexirecall rpp", None, ["For lexirecall and rpp: (wins - losses) / (wins"]),
        (
            "nDCG@10 AP lexirecall",
            None,
            ["For nDCG@10 and AP: mean differences.", "For lexirecall: (wins"],
        ),
        ("AP RR", "wilcoxon", ["For AP and RR: pseudomedian of the differences"]),
    ],
)
def test_the_caption_says_for_each_criterion_what_its_numbers_are(
    criteria: str, test: str | None, sentences: list[str]
) -> None:
    result = irl.compare(
        irl.demo.qrels(), irl.demo.runs(), criteria.split(), baseline="bm25", test=test
    )
    for text in (
        result.to_latex(columns="differences"),
        result.to_markdown(columns="differences"),
    ):
        caption = " ".join(text.split())
        assert caption.count("For ") == len(sentences)
        assert all(sentence in caption for sentence in sentences)


def test_marks_that_unjudged_documents_might_undo_are_counted_without_daggers() -> None:
    """By P@2 the second run's documents are unjudged; by RR only those of the third are."""
    queries = [f"q{i}" for i in range(20)]
    runs = {
        "main": {q: {"a": 2.0, "b": 1.0} for q in queries},
        "new": {q: {"n1": 3.0, "n2": 2.0, "a": 1.0} for q in queries},
        "bad": {q: {"x": 3.0, "y": 2.0, "a": 1.0} for q in queries},
    }
    qrels = {q: {"a": 1, "b": 1, "x": 0, "y": 0} for q in queries}
    result = irl.compare(qrels, runs, "P@2", baseline="main")
    assert result.verdicts(holds=True)["holds"].tolist() == [
        "could be undone",
        "under any judging",
    ]
    said = "Unjudged documents might undo 1 of 2 marked differences."
    for columns in ("means", "differences"):
        assert said in " ".join(result.to_latex(columns=columns).split())
        assert said in result.to_markdown(columns=columns)
        assert "might undo 1" not in result.to_markdown(holds=True, columns=columns)
    judged = irl.compare(qrels, {"main": runs["main"], "bad": runs["bad"]}, "P@2")
    assert "might undo" not in judged.to_markdown()


def test_a_correction_over_all_criteria_is_said_once() -> None:
    for columns in ("means", "differences"):
        caption = " ".join(comparison(4, "Sel50").to_latex(columns=columns).split())
        assert "each criterion by itself" not in caption
        said = "Each criterion tested by itself; corrected over all three:"
        assert caption.count(said) == 1


def test_the_exact_one_of_two_counts_of_open_queries_is_named() -> None:
    runs = {name: irl.demo.run(name) for name in ("bm25", "ql")}
    said = "LR orders rankings as lexirecall (exact) does; the count for lexirecall (exact) is exact."
    both = irl.compare(irl.demo.qrels(), runs, ["LR", "lexirecall"])
    assert not both.bounds("LR")["exact"].any()
    assert both.bounds("lexirecall")["exact"].all()
    assert said in " ".join(str(both).split())
    alone = irl.compare(irl.demo.qrels(), runs, ["LR", "AP"])
    assert "the count for" not in str(alone)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="TeX is not installed")
def test_tables_fit_the_text_of_an_article(tmp_path: Path) -> None:
    results = [comparison(2), comparison(4, "Sel50")]
    tables = [
        result.to_latex(label=f"tab:{columns}{number}", columns=columns)
        for number, result in enumerate(results)
        for columns in ("means", "differences")
    ]
    body = "\n\n".join(tables)
    document = (
        "\\documentclass{article}\\usepackage{booktabs}\n"
        f"\\begin{{document}}\n{body}\n\\end{{document}}\n"
    )
    (tmp_path / "tables.tex").write_text(document, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "tables.tex"]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stdout[-2000:]
    log = (tmp_path / "tables.log").read_text(encoding="latin-1")
    assert re.findall(r"Overfull \\hbox .*", log) == []
