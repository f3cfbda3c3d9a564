"""The sources of the documentation: examples run, commands run, pictures have texts, and nothing unfinished is left."""

from __future__ import annotations

import ast
import builtins
import doctest
import inspect
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

import ir_lexirecall as irl
from ir_lexirecall import demo
from ir_lexirecall.benchmarks.result import Benchmark
from ir_lexirecall.measures.declaration import REGISTRY
from ir_lexirecall.measures.parsing import parse_measures

pytestmark = [pytest.mark.usefixtures("_registries_as_before"), pytest.mark.sparse]

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "ir_lexirecall" / "pt_docs"
SOURCES = sorted(
    path
    for path in PAGES.rglob("*.rst")
    if "gallery" not in path.relative_to(PAGES).parts
)
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
LEFT_OUT = {
    "needs-data",
    "needs-spark",
    "slow",
}  # classes of code blocks that say why they are not run here
OF_A_SCRIPT = "esl"  # the class of a block that a test runs with the measure above it
SLOW = "ir-lexirecall meta axioms"  # a command that searches for violations
OF_PYTEST = "a-test"  # that of a block that the tests of the plugin run


def page_id(path: Path) -> str:
    return path.relative_to(PAGES).as_posix()


def slow_page(path: Path) -> Any:
    """Leave the page that simulates judging, the slowest one, to the slow command."""
    is_slow = page_id(path) == "judging.rst"
    return pytest.param(
        path, id=page_id(path), marks=[pytest.mark.slow] if is_slow else []
    )


@pytest.mark.parametrize("path", [slow_page(path) for path in SOURCES])
def test_examples_of_a_page_run(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for name in re.findall(
        r"^ *>>> (?:import|from) (pyterrier|bm25s|pytrec_eval)", text, re.MULTILINE
    ):
        pytest.importorskip(name)
    if ".plot" in text:
        pytest.importorskip("matplotlib").use("agg")
    pytest.importorskip("matplotlib")

    from ir_lexirecall.pt_docs.commands import files

    found = doctest.DocTestParser().get_doctest(
        text, {"__name__": "__main__"}, page_id(path), str(path), 0
    )
    with files():
        assert doctest.DocTestRunner(optionflags=FLAGS).run(found).failed == 0


def blocks(path: Path) -> Iterator[tuple[str, str, str]]:
    """Language, class and text of the code blocks of a page."""
    text = path.read_text(encoding="utf-8")
    for block in re.finditer(
        r"^( *)\.\. code-block:: (\w+)\n((?:\1   .*\n|\n)+)", text, re.MULTILINE
    ):
        lines = [line[len(block[1]) + 3 :] for line in block[3].splitlines()]
        options = [line for line in lines if line.startswith(":")]
        kind = next(
            (
                option.partition(": ")[2]
                for option in options
                if option.startswith(":class:")
            ),
            "",
        )
        yield (
            block[2],
            kind,
            "\n".join(line for line in lines if not line.startswith(":")).strip(),
        )


def commands() -> list[Any]:
    """The commands of this project on all pages that can run on the embedded collection."""
    shown = []
    for path in SOURCES:
        for language, kind, text in blocks(path):
            if language == "sh" and kind not in LEFT_OUT:
                lines = text.replace("\\\n", " ").splitlines()
            elif language == "yaml":
                lines, kind = (
                    [line.partition(" >> ")[0] for line in steps(yaml.safe_load(text))],
                    "may-fail",
                )
            else:
                continue
            shown += [
                pytest.param(
                    line,
                    kind,
                    id=line,
                    marks=[pytest.mark.slow] if line.startswith(SLOW) else [],
                )
                for line in lines
                if line.startswith("ir-lexirecall ")
            ]
    return shown


def steps(workflow: Any) -> Iterator[str]:
    """All texts in the file of a workflow."""
    if isinstance(workflow, str):
        yield workflow
    for inner in (
        workflow.values()
        if isinstance(workflow, dict)
        else workflow
        if isinstance(workflow, list)
        else ()
    ):
        yield from steps(inner)


@pytest.mark.sparse
@pytest.mark.parametrize(("line", "kind"), commands())
def test_commands_run_on_files_of_the_embedded_collection(
    line: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib")

    from ir_lexirecall.cli import main
    from ir_lexirecall.pt_docs.commands import files

    with files():
        assert main(shlex.split(line, comments=True)[1:]) in (
            (0, 3, 4) if kind == "may-fail" else (0,)
        )


@pytest.mark.slow
def test_a_measure_of_ones_own_is_one_of_the_command_line() -> None:
    pytest.importorskip("matplotlib")

    from ir_lexirecall.pt_docs.commands import files

    page = PAGES / "contributing.rst"
    text = page.read_text(encoding="utf-8")
    found = doctest.DocTestParser().get_examples(text)
    (ending,) = (block for _, kind, block in blocks(page) if kind == OF_A_SCRIPT)
    last = next(i for i, example in enumerate(found) if "class ESL" in example.source)
    script = "".join(example.source for example in found[: last + 1]) + "\n\n" + ending
    lines = re.findall(r"^ +python esl\.py (.+)$", text, re.MULTILINE)
    assert len(lines) >= 3
    with files() as folder:
        (folder / "esl.py").write_text(script, encoding="utf-8")
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "integrations")])
        }
        for line in lines:
            ran = subprocess.run(
                [sys.executable, "esl.py", *shlex.split(line)],
                env=environment,
                capture_output=True,
                text=True,
                timeout=600,
            )
            assert ran.returncode == 0, ran.stderr
            assert "ESL" in ran.stdout


def test_what_to_cite_is_the_file_to_cite_and_the_description() -> None:
    shown = [
        text
        for language, _, text in blocks(PAGES / "testing.rst")
        if language == "bibtex"
    ]
    assert irl.describe("TSE").source.bibtex.strip() in shown
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    (software,) = (text for text in shown if "@misc" in text)
    title, version = (
        re.search(rf"^{key}: (.+)$", cited, re.MULTILINE)[1]
        for key in ("title", "version")
    )  # type: ignore[index]
    author = re.search(r"^authors:\n  - name: (.+)$", cited, re.MULTILINE)
    assert author is not None
    assert version == irl.__version__
    assert f"title = {{{title}}}" in software
    assert f"Version {version}" in software
    assert f"{{{{{author[1]}}}}}" in software


@pytest.mark.parametrize("path", SOURCES, ids=page_id)
def test_code_runs_or_says_what_it_is(path: Path) -> None:
    for language, kind, text in blocks(path):
        assert language in ("sh", "text", "toml", "yaml", "bibtex") or kind in {
            *LEFT_OUT,
            OF_A_SCRIPT,
            OF_PYTEST,
        }, text


@pytest.mark.parametrize("path", SOURCES, ids=page_id)
def test_pictures_have_texts_and_nothing_is_left_to_do(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for picture in re.finditer(r"\.\. (?:image|figure)::.*\n((?: {3}.*\n)*)", text):
        assert ":alt:" in picture[1]
    assert not re.search(r"\b(TODO|FIXME|XXX|TBD)\b", text)


def test_drawn_pictures_tell_what_they_show() -> None:
    pytest.importorskip("matplotlib")
    from ir_lexirecall.pt_docs import drawings

    for name in ("TSE", "RBU", "TOMA"):
        drawing = drawings.rewards(name)
        assert len(drawing.text) > 100
        assert drawing.text.replace("'", "&#x27;")[:40] in drawing.inline(name)


def literals() -> Iterator[Any]:
    """What pages name in passing, outside of blocks that run: calls and options in tables, attributes of what is public anywhere."""
    for path in SOURCES:
        text = path.read_text(encoding="utf-8")
        tables = [
            table[2]
            for table in re.finditer(
                r"^( *)\.\. list-table::.*\n((?:\1   .*\n|\n)+)", text, re.MULTILINE
            )
        ]
        if (
            path.name == "migrate.rst"
        ):  # what stands first in a row is of the other tool
            tables = [
                re.sub(r"^ +\* - .*$", "", table, flags=re.MULTILINE)
                for table in tables
            ]
        said = {
            one
            for table in tables
            for one in re.findall(r"``(.+?)``", table)
            if set("(=") & set(one)
        }
        said |= {
            one
            for one in re.findall(r"``(.+?)``", text)
            if re.match(r"(irl|result|suite)\.", one)
        }
        yield from (
            pytest.param(one, id=f"{page_id(path)}-{one}")
            for one in sorted(said)
            if not one.startswith("np.")
        )


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    """What pages call results."""
    qrels, runs, queries = (
        demo.qrels(),
        demo.runs(),
        demo.queries()["query_id"].tolist(),
    )
    halves = {"first": queries[:8], "second": queries[8:]}
    by, groups = (
        ["nDCG@10", "lexirecall"],
        {query: f"group {i % 2}" for i, query in enumerate(queries)},
    )
    suite = irl.benchmark(
        {name: qrels[qrels["query_id"].isin(half)] for name, half in halves.items()},
        {
            half: {
                name: run[run["query_id"].isin(halves[half])]
                for name, run in runs.items()
            }
            for half in halves
        },
        by,
        baseline="bm25",
        groups=groups,
    )
    inputs = {
        "qrels": qrels,
        "runs": runs,
        "run": runs["bm25"],
        "measures": by[:1],
        "measure": by[0],
        "a": "bm25",
        "b": "ql",
    }
    return {"irl": irl, "result": irl.compare(qrels, runs, by), "suite": suite} | inputs


@pytest.mark.sparse
@pytest.mark.parametrize("text", list(literals()))
def test_what_a_page_names_in_passing_is_there(
    text: str, results: dict[str, Any]
) -> None:
    pytest.importorskip("matplotlib").use("agg")
    if text.startswith("ir-lexirecall "):
        from ir_lexirecall.cli import main
        from ir_lexirecall.pt_docs.commands import files

        for name, of_the_demo in {
            "QRELS": "qrels.txt",
            "RUN": "bm25.run",
            "max_rel=1": "max_rel=3",
        }.items():
            text = text.replace(name, of_the_demo)
        with files():
            assert main(shlex.split(text)[1:]) == 0
    elif option := re.fullmatch(r"(\w+)=(.*)", text):
        methods = (Benchmark.overall, Benchmark.replicated)
        doors = (irl.compare, irl.evaluate, irl.load, irl.SignificanceTest, *methods)
        taken = {name for door in doors for name in inspect.signature(door).parameters}
        if option[1] not in taken:
            assert [m for m in REGISTRY.values() if option[1] in m.SUPPORTED_PARAMS]
        elif option[1] == "test" and option[2]:
            irl.SignificanceTest(ast.literal_eval(option[2]))
    elif text[0].isupper() or text.startswith("nDCG"):
        measure = re.sub(r"\bn=n\b", "n=5000", text.replace(" ", ""))
        assert irl.describe(str(*parse_measures(measure).values()))
    else:
        check_expression(
            ast.parse(
                text if "." in text.partition("(")[0] else f"irl.{text}", mode="eval"
            ).body,
            results,
        )


def check_expression(node: ast.expr, names: dict[str, Any]) -> None:
    """Run it; where ``...`` or a file leaves something out, check the names and the number of arguments."""
    source = ast.unparse(node)
    known = all(
        name.id in names or name.id in dir(builtins)
        for name in ast.walk(node)
        if isinstance(name, ast.Name)
    )
    files = any(
        "." in str(text.value)
        for text in ast.walk(node)
        if isinstance(text, ast.Constant)
    )
    if "..." not in source and known and not files and "accelerate" not in source:
        eval(source, dict(names))
        return
    for call in (inner for inner in ast.walk(node) if isinstance(inner, ast.Call)):
        name = ast.unparse(call.func)
        if re.fullmatch(r"(irl|result|suite)(\.\w+)+", name):
            given = [
                argument for argument in call.args if ast.unparse(argument) != "..."
            ]
            named = {str(keyword.arg): keyword.value for keyword in call.keywords}
            inspect.signature(eval(name, dict(names))).bind_partial(*given, **named)
    if isinstance(node, ast.Attribute):
        eval(source, dict(names))


@pytest.mark.parametrize(
    "text",
    [
        "irl.compare(qrels, runs, 'mc4')",
        "irl.evaluate('NoSuchMeasure', qrels, run)",
        "result.ranking(method='mc4')",
    ],
)
def test_a_call_that_is_refused_would_be_found(
    text: str, results: dict[str, Any]
) -> None:
    with pytest.raises((ValueError, TypeError), match=r"mc4|NoSuchMeasure|method"):
        check_expression(ast.parse(text, mode="eval").body, results)


def test_names_of_trec_eval_mean_what_the_page_says() -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    text = (PAGES / "migrate.rst").read_text(encoding="utf-8").partition("From ranx")[0]
    rows = re.findall(r"^   \* - (``.+``)\n     - (``.+``)$", text, re.MULTILINE)
    pairs = [
        [
            name.strip(" `")
            .replace("_K", "_10")
            .replace("@K", "@10")
            .replace("_X", "_0.50")
            .replace("@X", "@0.5")
            for name in pair
        ]
        for theirs, ours in rows
        if not theirs.startswith("``-")
        for pair in zip(theirs.split(", "), ours.split(", "), strict=True)
    ]
    assert len(pairs) > 15
    documents = [f"d{i}" for i in range(30)]
    qrels = {
        "q1": {d: i % 3 for i, d in enumerate(documents)},
        "q2": {d: int(i % 7 == 0) for i, d in enumerate(documents)},
    }
    run = {
        q: {d: float((7 * i) % 30) for i, d in enumerate(documents[5:])} for q in qrels
    }
    theirs = pytrec_eval.RelevanceEvaluator(
        qrels, {asked(name) for name, _ in pairs}
    ).evaluate(run)
    ours = irl.evaluate([name for _, name in pairs], qrels, run)
    for name, measure in pairs:
        if name != "num_q":  # of all queries, not of each
            assert [theirs[q][name] for q in qrels] == pytest.approx(
                ours.loc[list(qrels), measure].tolist()
            ), name


def asked(name: str) -> str:
    """What pytrec_eval is asked for to give a name: cutoffs follow a dot."""
    return re.sub(r"_(\d[\d.]*)$", r".\1", name)


def test_one_page_has_all_differences_from_the_experiment_of_pyterrier() -> None:
    page = (PAGES / "frameworks.rst").read_text(encoding="utf-8")
    differences = " ".join(
        page.partition("Some numbers differ from those of ``pt.Experiment``")[2].split()
    ).partition("``test`` is")[0]
    for difference in (
        "If *k* queries differ",
        "not NaN",
        "exact order",
        "without subtopics",
        "order of the measures",
    ):
        assert difference in differences


def test_the_changelog_keeps_its_form() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert all(
        re.fullmatch(r"\[Unreleased\]|\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d", heading)
        for heading in headings
    )
    kinds = {
        "Added",
        "Changed",
        "Deprecated",
        "Removed",
        "Fixed",
        "Security",
        "Moved",
    }  # the last: names, old and new
    assert headings
    assert set(re.findall(r"^### (.+)$", text, re.MULTILINE)) <= kinds


def test_the_readme_is_short_and_shows_what_is_there() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.split()) < 1000
    assert len(text.splitlines()) <= 120
    assert "not published" in text
    targets = re.findall(r'\]\((?!http)([^)#]+)|(?:src|srcset)="([^"]+)"', text)
    assert [
        target
        for pair in targets
        for target in pair
        if target and not (ROOT / target).exists()
    ] == []


def sections_of(page: Path) -> dict[str, str]:
    """Return the text of each section of a page by the anchor that code hosts give it."""
    text = page.read_text(encoding="utf-8")
    parts = re.split(r"^(\S.*)\n([-=~])\2{3,}$", text, flags=re.MULTILINE)
    anchors = [re.sub(r"[^a-z0-9]+", "-", head.lower()) for head in parts[1::3]]
    return dict(zip(anchors, parts[3::3], strict=True))


def test_code_hosts_show_the_sections_that_the_readme_links() -> None:
    """Outside of Sphinx, a directive that docutils does not know takes its text with it."""
    known = {"code-block", "list-table", "admonition", "image"}
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    links = re.findall(r"\]\(([\w/]+\.rst)(?:#([\w-]+))?\)", text)
    assert len(links) >= 5
    for page, anchor in links:
        sections = sections_of(ROOT / page)
        shown = sections[anchor] if anchor else "\n".join(sections.values())
        assert set(re.findall(r"^ *\.\. ([\w-]+)::", shown, re.MULTILINE)) <= known
