"""The command line: what it prints, where, and with which exit code."""

from __future__ import annotations

import json
import shlex
import shutil
from glob import glob
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from command_line import QRELS, QUALITY, Cli

import ir_lexirecall as irl
from ir_lexirecall import demo
from ir_lexirecall.cli.arguments import split_measures
from ir_lexirecall.cli.output import FORMATS, UNROUNDED, for_programs
from ir_lexirecall.descriptions import entries
from ir_lexirecall.measures import REGISTRY
from ir_lexirecall.present.tables import Shown
from ir_lexirecall.present.text import short_names

DATA = Path(__file__).parents[2].parent / "shared" / "data" / "ir_datasets_home"
TOMA = "TOMA(aspects={'relevance':2,'quality':1})"

# -- eval ----------------------------------------------------------------------------------------------


def test_several_runs_and_measures(cli: Cli) -> None:
    said = cli(
        "eval", "qrels.txt", "bm25.run", "dph.txt", "-m", "TSE@1000 LR, nDCG@10; P@2"
    )
    assert (said.code, said.err) == (0, "")
    assert said.rows[0] == ["run", "TSE@1000", "LR", "nDCG@10", "P@2"]
    for row, path in zip(said.rows[1:3], ("bm25.run", "dph.txt"), strict=True):
        values = irl.evaluate(
            ["TSE@1000", "LR", "nDCG@10", "P@2"], "qrels.txt", path, aggregate=True
        )
        unmarked = [cell.removesuffix("*") for cell in row]
        assert unmarked == [path[:-4], *(f"{value:.4f}" for value in values)]


def test_a_row_per_run_and_query(cli: Cli) -> None:
    said = cli("eval", "qrels.txt", "bm25.run", "dph.txt", "-m", "TSE AP", "--by-query")
    assert said.rows == [
        ["run", "query_id", "TSE", "AP"],
        ["bm25", "q1", "0.3333", "0.8333"],
        ["bm25", "q2", "0.0000", "0.0000"],
        ["dph", "q1", "0.5000", "1.0000"],
        ["dph", "q2", "0.5000", "0.5000"],
    ]


def test_a_pattern_that_the_shell_left_names_a_run_per_file(cli: Cli) -> None:
    expanded = cli("eval", "qrels.txt", "bm25.run", "dph.txt", "-m", "TSE")
    assert (
        cli("eval", "qrel*.txt", "bm25.ru?", "[c-d]*.txt", "-m", "TSE").rows
        == expanded.rows
    )
    said = cli("eval", "qrels.txt", "*.parquet", "-m", "TSE")
    assert said.code == 1
    assert "*.parquet: no file matches this pattern" in said.err


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("TSE", ["TSE"]),
        (" TSE  LR ", ["TSE", "LR"]),
        ("TSE,LR;AP\nP@5\tR@5", ["TSE", "LR", "AP", "P@5", "R@5"]),
        ("RBU(p=0.9, e=0.1)@20 LR", ["RBU(p=0.9, e=0.1)@20", "LR"]),
        (
            "CAM(aspects={'a, b': 1, 'c': {0: 0, 1: 2}}) AP",
            ["CAM(aspects={'a, b': 1, 'c': {0: 0, 1: 2}})", "AP"],
        ),
        ("CAM(aspects={'a)': 1}) AP", ["CAM(aspects={'a)': 1})", "AP"]),
        ('CAM(aspects={"it\'s": 1}) AP', ['CAM(aspects={"it\'s": 1})', "AP"]),
        ("", []),
    ],
)
def test_measures_in_one_argument(text: str, parts: list[str]) -> None:
    assert split_measures(text) == parts


def example(name: str) -> str:
    """A measure of that name with what it requires, and what its values need to be finite."""
    values = {"max_rel": 3, "aspects": {"relevance": 2}, "cutoff": 10, "recall": 0.5}
    params = REGISTRY[name].SUPPORTED_PARAMS
    given = {
        key: value
        for key, value in values.items()
        if key in params and params[key].required
    }
    if "n" in params and name not in ("TSE", "LexiRecall", "LR"):
        given["n"] = 100
    return str(REGISTRY[name](**given))


@pytest.mark.parametrize(
    "name", [name for name in REGISTRY if name != "WHAM"]
)  # of two aspects
def test_every_measure_can_be_asked_for(name: str, cli: Cli) -> None:
    said = cli("eval", "qrels.txt", "bm25.run", "-m", example(name), "--format", "json")
    qrels = {"q1": {"a": 1, "b": 0, "c": 2}, "q2": {"a": 2}}
    run = {"q1": {"a": 3.0, "x": 2.0, "c": 1.0}, "q2": {"x": 1.0}}
    assert json.loads(said.out) == [
        {"run": "bm25", **irl.evaluate(example(name), qrels, run, aggregate=True)}
    ]


# -- formats -------------------------------------------------------------------------------------------

EVAL = ("eval", "qrels.txt", "bm25.run", "dph.txt", "-m", "LR CWL_ERR10(max_rel=2)")


def exact(name: str, path: str) -> dict[str, Any]:
    values = irl.evaluate(
        ["LR", "CWL_ERR10(max_rel=2)"], "qrels.txt", path, aggregate=True
    )
    return {"run": name, **values.to_dict()}


def test_json_has_all_digits(cli: Cli) -> None:
    said = cli(*EVAL, "--format", "json")
    assert json.loads(said.out) == [exact("bm25", "bm25.run"), exact("dph", "dph.txt")]


@pytest.mark.parametrize("command", [["compare"], ["eval", "--baseline=bm25"]])
@pytest.mark.parametrize("form", ["json", "csv", "markdown"])
def test_caveats_go_to_standard_error_beside_output_for_programs(
    form: str, command: list[str], cli: Cli
) -> None:
    runs = {"bm25": "bm25.run", "dph": "dph.txt"}
    words = (*command, "qrels.txt", *runs.values(), "-m", "AP", "--format", form)
    plain, said = cli(*words), cli(*words, "--caveats")
    notes = irl.compare("qrels.txt", runs, "AP").diagnostics
    assert said.out == plain.out
    assert notes
    assert all(note in said.err and note not in plain.err for note in notes)


@pytest.mark.parametrize("form", ["json", "csv", "markdown", "trec"])
def test_caveats_of_runs_go_to_standard_error_beside_output_for_programs(
    form: str, cli: Cli
) -> None:
    Path("few.run").write_text("q1 Q0 a 1 1 few\n")
    words = ("eval", "qrels.txt", "bm25.run", "few.run", "-m", "AP", "--format", form)
    plain, said = cli(*words), cli(*words, "--caveats")
    assert said.out == plain.out
    assert "few returns nothing for" in said.err
    assert "few returns nothing for" not in plain.err


def test_markdown(cli: Cli) -> None:
    lines = cli(*EVAL, "--format", "markdown").out.splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert cells[0] == ["run", "LR", "CWL_ERR10(max_rel=2)"]
    assert all(set(cell) <= set("-:") for cell in cells[1])
    assert cells[2] == [
        "bm25",
        *(f"{value:.4f}" for value in list(exact("bm25", "bm25.run").values())[1:]),
    ]
    of_lr = "LR orders rankings as lexicographic recall does (Diaz et al. 2026)."
    assert lines[4:] == ["", "Bold: the best of its column.", "", of_lr]


def test_latex(cli: Cli) -> None:
    text = cli(*EVAL, "--format", "latex").out
    lines = text.splitlines()
    assert lines[:3] == [
        "% needs \\usepackage{booktabs}",
        "\\begin{table}",
        "\\centering",
    ]
    caption = " ".join(text.split("\\label")[0].split("\\caption")[1].split())
    assert caption.startswith(
        "{Means on 2 queries of qrels.txt. Bold: the best of its column. LR orders rankings as "
        "lexicographic recall does"
    )
    assert lines[5:7] == ["\\label{tab:eval}", "\\begin{tabular}{@{}lrr@{}}"]
    assert lines[-2:] == ["\\end{tabular}", "\\end{table}"]
    assert "CWL\\_ERR10" in text
    assert f"{exact('dph', 'dph.txt')['LR']:.4f}" in text


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("places", [0, 1, 2, 6])
def test_places(places: int, form: str, cli: Cli) -> None:
    said = cli(
        "eval",
        "qrels.txt",
        "bm25.run",
        "-m",
        "TSE",
        "--format",
        form,
        "--places",
        str(places),
    )
    wanted = f"{1 / 6:.{places}f}"
    assert said.code == 0
    if form == "json":
        assert json.loads(said.out) == [{"run": "bm25", "TSE": float(wanted)}]
    elif form in UNROUNDED:
        assert said.out.replace(",", "\t") == f"run\tTSE\nbm25\t{float(wanted)!r}\n"
    else:
        assert wanted in said.out.replace("|", " ").replace(",", " ").split()


@pytest.mark.parametrize("form", ["text", "latex", "markdown"])
def test_a_number_that_would_read_as_0_keeps_its_magnitude(form: str) -> None:
    shown = Shown.from_frame(
        pd.DataFrame({"run": ["a", "b"], "TSE": [0.00012, 0.0]}), places=3
    )
    text = shown.text()[0] if form == "text" else getattr(shown, form)()
    assert "1.2e-04" in text
    assert "0.000" in text


def test_programs_get_the_same_numbers_in_every_format() -> None:
    table = pd.DataFrame(
        {"run": ["a", "b"], "TSE": [0.12345, 0.0], "p": [1.25e-7, 0.5]}
    )
    for places, tse in ((None, 0.12345), (2, 0.12)):
        rows = [("a", tse, 1.25e-7), ("b", 0.0, 0.5)]
        assert [
            tuple(row.values())
            for row in json.loads(for_programs(table, "json", places))
        ] == rows
        for form, mark in (("tsv", "\t"), ("csv", ",")):
            lines = [
                line.split(mark)
                for line in for_programs(table, form, places).splitlines()
            ]
            assert [(name, float(x), float(p)) for name, x, p in lines[1:]] == rows


# -- qrels ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("file", "separator"),
    [("wide.tsv", "\t"), ("wide.csv", ","), ("wide.txt", " "), ("wide", "  \t")],
)
def test_wide_qrels_with_a_header(file: str, separator: str, cli: Cli) -> None:
    lines = [["query_id", "iteration", "doc_id", "relevance", "quality"]]
    quality = {
        tuple(line.split()[::2]): line.split()[3] for line in QUALITY.splitlines()
    }
    lines += [
        [*line.split(), quality[tuple(line.split()[::2])]]
        for line in QRELS.splitlines()
    ]
    Path(file).write_text("".join(separator.join(line) + "\n" for line in lines))
    asked = ("bm25.run", "dph.txt", "-m", f"TSE {TOMA} AP")
    said = cli("eval", file, *asked)
    assert (said.code, said.err) == (0, "")
    assert said == cli("eval", "qrels.txt", *asked, "--aspect", "quality=quality.txt")


def test_aspects_from_files(cli: Cli) -> None:
    Path("trust.txt").write_text("q1 0 a 1\nq1 0 c 0\nq2 0 a 1\n")
    measure = "CAM(aspects={'relevance':2,'quality':1,'trust':1})"
    said = cli(
        *(
            "eval",
            "qrels.txt",
            "bm25.run",
            "-m",
            f"{measure} TSE AP",
            "--format",
            "json",
        ),
        *("--aspect", "quality=quality.txt", "--aspect", "trust=trust.txt"),
    )
    rows = [
        ("q1", "a", 1, 0, 1),
        ("q1", "b", 0, 1, 0),
        ("q1", "c", 2, 1, 0),
        ("q2", "a", 2, 1, 1),
    ]
    table = pd.DataFrame(
        rows, columns=["query_id", "doc_id", "relevance", "quality", "trust"]
    )
    expected = irl.evaluate([measure, "TSE", "AP"], table, "bm25.run", aggregate=True)
    assert json.loads(said.out) == [{"run": "bm25", **expected}]


@pytest.fixture
def ir_datasets_home(tmp_path: Path) -> str:
    """A home folder of ir_datasets with two collections; ir_datasets writes to it."""
    if not DATA.is_dir():
        pytest.skip(f"{DATA} is missing: it is no part of the project")
    for name in ("vaswani/qrels.txt", "clueweb12/trec-web-2014/qrels.all"):
        copy = tmp_path / "home" / name
        copy.parent.mkdir(parents=True)
        shutil.copyfile(DATA / name, copy)
    return str(tmp_path / "home")


@pytest.mark.slow
def test_qrels_of_ir_datasets(
    process: Cli, tmp_path: Path, ir_datasets_home: str
) -> None:
    (tmp_path / "v.run").write_text("1 Q0 8172 1 2.0 t\n1 Q0 1239 2 1.0 t\n")
    said = process(
        "eval",
        "vaswani",
        "v.run",
        "-m",
        "P@2 LR",
        "--by-query",
        IR_DATASETS_HOME=ir_datasets_home,
    )
    assert (said.code, said.err) == (0, "")
    assert sum(row[0] == "v" and row[1].isdigit() for row in said.rows if row) == 93
    assert said.rows[1][:3] == ["v", "1", "1.0000"]


# -- errors --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("evaluate",),
        ("eval",),
        ("eval", "qrels.txt", "-m", "TSE"),
        ("eval", "qrels.txt", "bm25.run", "-m"),
        (*EVAL, "--format", "xml"),
        ("eval", "qrels.txt", "bm25.run", "--measure", "TSE"),  # one spelling each
        (*EVAL, "--nope"),
        *((*EVAL, f"--places={places}") for places in ("-1", "1.5", "x", "")),
        (
            "compare",
            "qrels.txt",
            "bm25.run",
            "dph.txt",
            "--disagree",
            "AP",
            "LR",
            "dph",
        ),
        ("demo", "extra"),
        ("measures", "extra"),
    ],
    ids=" ".join,
)
def test_bad_usage(arguments: tuple[str, ...], cli: Cli) -> None:
    said = cli(*arguments)
    assert (said.code, said.out) == (2, "")
    usage, error, *further = said.err.splitlines()
    assert usage.startswith("usage: ir-lexirecall ")
    assert len(usage) <= 80
    assert "error:" in error
    assert not further


ASPECT = ("eval", "qrels.txt", "bm25.run", "-m", "TSE", "--aspect")
BAD_INPUT: dict[str, tuple[tuple[str, ...], list[str]]] = {
    "no qrels": (
        ("eval", "nowhere.txt", "bm25.run", "-m", "TSE"),
        ["nowhere.txt", "no such file"],
    ),
    "no run": (
        ("eval", "qrels.txt", "bm25.run", "nowhere.run", "-m", "TSE"),
        ["nowhere.run", "no such file"],
    ),
    "a run twice": (
        ("eval", "qrels.txt", "bm25.run", "bm25.run", "-m", "TSE"),
        ["bm25.run", "twice"],
    ),
    "qrels for a run": (
        ("eval", "qrels.txt", "qrels.txt", "-m", "TSE"),
        ["qrels.txt, line 1", "4 fields"],
    ),
    "run for qrels": (
        ("eval", "bm25.run", "bm25.run", "-m", "TSE"),
        ["bm25.run, line 1", "6 fields"],
    ),
    "unknown measure": (
        ("eval", "qrels.txt", "bm25.run", "-m", "TSE Nope@5"),
        ["'Nope@5'"],
    ),
    "trec_eval's name": (
        ("eval", "qrels.txt", "bm25.run", "-m", "recall"),
        ["'recall'", "R@k"],
    ),
    "a slip": (("eval", "qrels.txt", "bm25.run", "-m", "TES"), ["TSE?"]),
    "parameter out of range": (
        ("eval", "qrels.txt", "bm25.run", "-m", "RBU(p=7)"),
        ["RBU", "p ", "7"],
    ),
    "grade above max_rel": (
        ("eval", "qrels.txt", "bm25.run", "-m", "CWL_RBP(max_rel=1)"),
        ["'c'", "'q1'", "2"],
    ),
    "aspect without a file": ((*ASPECT, "quality"), ["'quality'"]),
    "aspect of no file": ((*ASPECT, "quality="), ["'quality='"]),
    "aspect without a name": ((*ASPECT, "=quality.txt"), ["'=quality.txt'"]),
    "no file of an aspect": ((*ASPECT, "quality=nowhere.txt"), ["nowhere.txt"]),
    "unknown aspect": (
        ("eval", "qrels.txt", "bm25.run", "-m", TOMA),
        ["'quality'", "relevance"],
    ),
}


@pytest.mark.parametrize("kind", BAD_INPUT)
def test_bad_input(kind: str, cli: Cli) -> None:
    arguments, parts = BAD_INPUT[kind]
    said = cli(*arguments)
    assert (said.code, said.out) == (1, "")
    assert said.err.startswith("ir-lexirecall: ")
    assert len(said.err.splitlines()) == 1
    assert [part for part in parts if part not in said.err] == []


def test_advice_does_not_look_like_a_bug(cli: Cli) -> None:
    said = cli("eval", "qrels.txt", "bm25.run", "-m", "RBU")
    assert said.code == 0
    assert "subtopics" in said.err
    assert said.err.startswith("ir-lexirecall: RBU")
    assert len(said.err.splitlines()) == 1
    assert ".py:" not in said.err


# -- demo and measures ---------------------------------------------------------------------------------


def test_demo(cli: Cli) -> None:
    said = cli("demo")
    assert (said.code, said.err) == (0, "")
    assert (
        f"{len(demo.docs())} passages, {len(demo.queries())} queries, {len(demo.RUNS)} runs"
        in said.out
    )
    words = said.rows
    head = next(line for line in words if line[:1] == ["run"])
    measures = [str(measure) for measure in irl.load("lexirecall/demo").recommended()]
    assert head[1:] == [
        short_names(measures).get(measure, measure) for measure in measures
    ]
    assert [
        line[0] for line in words if len(line) == len(head) and line[0] in demo.RUNS
    ] == list(demo.RUNS)
    explained = {
        word.rstrip(",:")
        for line in words[words.index(head) + 1 :]
        for word in line[:2]
    }
    assert set(head[1:]) <= explained


@pytest.mark.slow
def test_the_demo_says_how_to_repeat_it(cli: Cli) -> None:
    lines = cli("demo").out.splitlines()
    for command in ("eval", "compare"):
        (line,) = [
            line for line in lines if line.startswith(f"ir-lexirecall {command}")
        ]
        words = [
            str(path)
            for word in shlex.split(line)[1:]
            for path in (glob(word) if "*" in word else [word])
        ]
        again = cli(*words, "--format", "json")
        assert (again.code, again.err) == (0, "")
        if command == "eval":
            rows = sorted(
                json.loads(cli("demo", "--format", "json").out),
                key=lambda row: row["run"],
            )
            assert sorted(json.loads(again.out), key=lambda row: row["run"]) == rows
    code = "\n".join(lines[lines.index("In Python:") + 1 :][:2])
    assert code.startswith("import ir_lexirecall as irl")
    exec(code, {})


def test_long_names_of_measures_are_short_in_tables_and_explained_below(
    cli: Cli,
) -> None:
    words = (
        "lexirecall/demo",
        *(str(demo.FOLDER / "runs" / f"{name}.run") for name in ("bm25", "ql")),
    )
    full = "TOMA(aspects={'relevance':3,'credibility':2,'readability':2})@10"
    short = "TOMA(aspects=...)@10"
    of_demo = str(irl.load("lexirecall/demo").recommended()[-1])
    for arguments in (
        ("eval", *words, "-m", full),
        ("compare", *words, "-p", full),
        ("demo",),
    ):
        name, brief = (
            (of_demo, "TOMA(aspects=...)@20")
            if arguments == ("demo",)
            else (full, short)
        )
        said = cli(*arguments)
        assert (said.code, said.err) == (0, "")
        assert said.out.count(name) == 1
        assert f"{brief} is {name}" in " ".join(said.out.split())
        wide = cli(*arguments, "--wide").out
        assert brief not in wide
        assert name in wide
        if arguments[0] == "eval":
            assert list(json.loads(cli(*arguments, "--format", "json").out)[0]) == [
                "run",
                full,
            ]
    two = [full, full.replace("'credibility':2", "'credibility':3")]
    both = cli("eval", *words, "-m", *two).out
    assert all(name in both for name in two)
    assert short not in both


def test_list_of_measures(cli: Cli) -> None:
    said = cli("measures")
    assert (said.code, said.err) == (0, "")
    for name, measure in REGISTRY.items():
        assert name in said.out
        assert measure.SHORT_DESC in said.out
        for parameter in irl.describe(measure.NAME).parameters:
            assert " ".join(parameter.meaning.split()) in " ".join(said.out.split())
    for name in entries("measure"):
        assert f"\n{name}" in said.out.partition("Standard measures")[2]


def test_version_and_help(cli: Cli) -> None:
    assert cli("--version") == (0, f"ir-lexirecall {irl.__version__}\n", "")
    for command in (
        [],
        ["eval"],
        ["demo"],
        ["measures"],
        ["compare"],
        ["report"],
        ["meta"],
    ):
        said = cli(*command, "--help")
        assert (said.code, said.err) == (0, "")
        assert said.out.startswith("usage: ir-lexirecall")
        text = " ".join(said.out.split())
        assert "exit codes: 0 done; 1 bad input or a failure; 2 bad usage; " in text
        assert text.endswith("130 interrupted")


# -- what is misspelt or mixed up ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "usage", "hint"),
    [
        (
            "eval qrels.txt bm25.run -m LR --by-querry",
            "eval",
            "--by-querry; did you mean '--by-query'?",
        ),
        (
            "eval qrels.txt bm25.run -m LR --qqq",
            "eval",
            "unrecognized arguments: --qqq\n",
        ),
        (
            "meta ties qrels.txt bm25.run -m LR --agregate",
            "meta ties",
            "did you mean '--aggregate'?",
        ),
        ("evla qrels.txt bm25.run", "", "did you mean 'eval'?"),
        ("meta unanimty", "meta", "did you mean 'unanimity'?"),
        (
            "eval qrels.txt bm25.run -m LR --test wilcoxn",
            "eval",
            "did you mean 'wilcoxon'?",
        ),
    ],
)
def test_what_is_misspelt_is_said_by_the_command_that_was_called(
    cli: Cli, words: str, usage: str, hint: str
) -> None:
    said = cli(*words.split())
    assert said.code == 2
    assert said.err.startswith(f"usage: ir-lexirecall {usage} ".replace("  ", " "))
    assert said.err.endswith(hint if hint.endswith("\n") else f"{hint}\n")


@pytest.mark.parametrize(
    ("option", "name", "begins", "ends"),
    [
        (
            "-m",
            "recal",
            "unknown measure",
            "did you mean R (Recall) or LexiRecall, or the preference 'lexirecall'?",
        ),
        ("-p", "mine", "unknown preference", "; or name a measure"),
        ("-p", "lexirecal", "unknown preference", "; did you mean 'lexirecall'?"),
    ],
)
def test_a_criterion_that_is_not_known(
    cli: Cli, option: str, name: str, begins: str, ends: str
) -> None:
    answer = cli("compare", "qrels.txt", "bm25.run", "dph.txt", option, name)
    assert answer.code == 1
    assert answer.err.startswith(f"ir-lexirecall: compare: {begins} {name!r}; ")
    assert answer.err.endswith(f"{ends}\n")


def test_help_says_how_to_use_a_measure_of_ones_own(cli: Cli) -> None:
    for command in ("eval", "compare", "report", "gate", "benchmark"):
        assert "for your own measures, see 'Use it on the command line'" in " ".join(
            cli(command, "--help").out.split()
        )


@pytest.mark.parametrize("command", ["eval", "compare", "to-judge"])
def test_options_of_bounds_say_where_they_belong(command: str, cli: Cli) -> None:
    """Where there is `--bounds`, they are refused without it; else they stand alone."""
    said = " ".join(cli(command, "--help").out.partition("options:")[2].split())
    begin = "" if command == "to-judge" else "with --bounds: "
    helps = ["--depth N", "unjudged documents may"], ["--max-rel G", "top grade of"]
    for option, begins in helps:
        assert f"{option} {begin}{begins}" in said
    assert ("--unretrieved N with --bounds: assume" in said) == bool(begin)


@pytest.mark.parametrize("command", ["eval", "gate"])
def test_help_names_the_measures_that_are_taken_by_default(
    command: str, cli: Cli
) -> None:
    said = " ".join(cli(command, "--help").out.split())
    assert "(default: the collection's, else nDCG@10, AP and LR; " in said
    options = ["-o", "out.txt"] if command == "gate" else ["--by-query"]
    warned = cli(command, "qrels.txt", "bm25.run", "dph.txt", *options).err
    assert "taking nDCG@10, AP and LR" in warned


@pytest.mark.parametrize("ending", ["txt", "csv", "tsv", "parquet"])
def test_qrels_and_runs_that_are_mixed_up(cli: Cli, ending: str) -> None:
    qrels = pd.DataFrame(
        {"query_id": ["q1"], "iteration": ["0"], "doc_id": ["d1"], "relevance": [1]}
    )
    run = pd.DataFrame(
        {
            "query_id": ["q1"],
            "Q0": ["Q0"],
            "doc_id": ["d1"],
            "rank": [1],
            "score": [2.5],
            "tag": ["t"],
        }
    )
    for name, table in (("judged", qrels), ("ranked", run)):
        if ending == "parquet":
            table.to_parquet(f"{name}.parquet")
        else:
            separator = {"txt": " ", "csv": ",", "tsv": "\t"}[ending]
            table.to_csv(
                f"{name}.{ending}", sep=separator, header=ending != "txt", index=False
            )
    said = cli("eval", "qrels.txt", f"judged.{ending}", "-m", "LR")
    assert (said.code, said.out) == (1, "")
    assert said.err.endswith("; this looks like qrels, not a run\n")
    said = cli("eval", f"ranked.{ending}", "bm25.run", "-m", "LR")
    assert (said.code, said.out) == (1, "")
    assert said.err.endswith("; this looks like a run, not qrels\n")
    assert cli("eval", f"judged.{ending}", f"ranked.{ending}", "-m", "LR").code == 0


def test_disagreements_show_what_the_method_gives(cli: Cli) -> None:
    lines = [f"q{q} 0 d{d} {int(d < 2)}\n" for q in range(4) for d in range(6)]
    Path("qrels.txt").write_text("".join(lines))
    # By RR run a is better on all queries; by recall (both relevant documents early) run b is.
    orders = {"a": [0, 2, 3, 4, 5, 1], "b": [2, 0, 1, 3, 4, 5]}
    for name, order in orders.items():
        lines = [
            f"q{q} Q0 d{d} 1 {9 - i} x\n" for q in range(4) for i, d in enumerate(order)
        ]
        Path(f"{name}.run").write_text("".join(lines))
    files = ("qrels.txt", "a.run", "b.run")
    shown = cli("compare", *files, "--disagree", "RR", "lexirecall", "a", "b").out
    assert shown.startswith(
        "RR and lexirecall prefer different runs on 4 of 4 queries: RR prefers a on 4 and b on 0"
    )
    (legend,) = [line for line in shown.splitlines() if line.startswith("level: ")]
    assert "rank_a, rank_b: ranks that decided, of a and b (-: not retrieved)" in legend
    for column in ("tied_levels", "other_doc_id", "value_b", "strength"):
        assert f"{column}: " in legend
    table = cli(
        "compare", *files, "--disagree", "RR", "lexirecall", "a", "b", "--format", "csv"
    ).out
    assert table.splitlines()[0].startswith(
        "query_id,RR winner,RR preference,RR value_a"
    )
    assert len(table.splitlines()) == 5
    together = cli(
        "compare", *files, "-m", "RR", "-p", "lexirecall", "--explain", "a", "b"
    ).out
    assert together.count("query_id") == 1
    assert "tied_levels: number of levels that tied" in together


def test_queries_that_are_numbers_stand_in_their_order(cli: Cli) -> None:
    numbers = [10, 9, 1, 100, 2]
    Path("qrels.txt").write_text("".join(f"{q} 0 d 1\n" for q in numbers))
    for name, docs in {"a": "de", "b": "ed"}.items():
        lines = [f"{q} Q0 {d} 0 {-i} x\n" for q in numbers for i, d in enumerate(docs)]
        Path(f"{name}.run").write_text("".join(lines))
    files = ("qrels.txt", "a.run", "b.run", "-m", "RR", "--format", "csv")
    for command, column in (
        (("eval", *files, "--by-query"), 1),
        (("eval", *files, "--by-query", "--bounds"), 1),
        (("compare", *files, "--explain", "a", "b"), 0),
        (("compare", *files, "-p", "AP", "--explain", "a", "b"), 0),
    ):
        rows = [line.split(",") for line in cli(*command).out.splitlines()[1:6]]
        assert [int(row[column]) for row in rows] == sorted(numbers)


@pytest.mark.parametrize("form", ["latex", "markdown"])
@pytest.mark.parametrize("columns", ["means", "differences"])
def test_an_export_says_that_marks_might_be_undone(
    form: str, columns: str, cli: Cli
) -> None:
    queries = range(20)
    judged = [
        f"q{q} 0 {d} {g}\n"
        for q in queries
        for d, g in zip("abx", (1, 1, 0), strict=True)
    ]
    Path("qrels.txt").write_text("".join(judged))
    for name, docs in {"main": "ab", "new": "nma", "bad": "xa"}.items():
        lines = [
            f"q{q} Q0 {d} 0 {9 - i} t\n" for q in queries for i, d in enumerate(docs)
        ]
        Path(f"{name}.run").write_text("".join(lines))
    asked = ["compare", "qrels.txt", "main.run", "new.run", "-m", "P@2", "-o", "out"]
    asked += ["--format", form, "--columns", columns]
    said = cli(*asked)
    assert (said.code, said.out) == (0, "")
    (line,) = [line for line in said.err.splitlines() if "might undo" in line]
    assert line == (
        "ir-lexirecall: unjudged documents might undo 1 of 1 marked difference: "
        "--holds marks them"
    )
    assert "might undo" not in cli(*asked, "--holds").err
    assert "might undo" not in cli(*asked[:2], "main.run", "bad.run", *asked[4:]).err
