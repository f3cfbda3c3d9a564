"""The sources of the documentation: examples run, commands run, pictures have texts, and nothing unfinished is left."""

from __future__ import annotations

import doctest
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ir_measures
import pytest
import yaml

import ir_lexirecall as irl
from ir_lexirecall.measures.declaration import REGISTRY

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "ir_lexirecall" / "pt_docs"
SOURCES = sorted(path for path in PAGES.rglob("*.rst") if "gallery" not in path.relative_to(PAGES).parts)
WIDEST = 82  # characters of a line of code that a desktop's column shows without scrolling
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
LEFT_OUT = {"needs-data", "needs-spark", "slow"}  # classes of code blocks that say why they are not run here
OF_A_SCRIPT = "esl"  # the class of a block that a test runs with the measure above it
OF_PYTEST = "a-test"  # that of a block that the tests of the plugin run


def page_id(path: Path) -> str:
    return path.relative_to(PAGES).as_posix()


@pytest.fixture(autouse=True)
def _registries_as_before() -> Iterator[None]:
    """Forget the measures that a page defines."""
    registries = (REGISTRY, ir_measures.measures.registry)
    before = [dict(registry) for registry in registries]
    yield
    for registry, content in zip(registries, before, strict=True):
        registry.clear()
        registry.update(content)


@pytest.mark.parametrize("path", SOURCES, ids=page_id)
def test_examples_of_a_page_run(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for name in re.findall(r"^ *>>> (?:import|from) (pyterrier|bm25s|pytrec_eval)", text, re.MULTILINE):
        pytest.importorskip(name)
    if ".plot" in text:
        pytest.importorskip("matplotlib").use("agg")
    pytest.importorskip("matplotlib")

    from ir_lexirecall.pt_docs.commands import files

    found = doctest.DocTestParser().get_doctest(text, {"__name__": "__main__"}, page_id(path), str(path), 0)
    with files():
        assert doctest.DocTestRunner(optionflags=FLAGS).run(found).failed == 0


def blocks(path: Path) -> Iterator[tuple[str, str, str]]:
    """Language, class and text of the code blocks of a page."""
    text = path.read_text(encoding="utf-8")
    for block in re.finditer(r"^( *)\.\. code-block:: (\w+)\n((?:\1   .*\n|\n)+)", text, re.MULTILINE):
        lines = [line[len(block[1]) + 3 :] for line in block[3].splitlines()]
        options = [line for line in lines if line.startswith(":")]
        kind = next((option.partition(": ")[2] for option in options if option.startswith(":class:")), "")
        yield block[2], kind, "\n".join(line for line in lines if not line.startswith(":")).strip()


def commands() -> list[Any]:
    """The commands of this project on all pages that can run on the embedded collection."""
    shown = []
    for path in SOURCES:
        for language, kind, text in blocks(path):
            if language == "sh" and kind not in LEFT_OUT:
                lines = text.replace("\\\n", " ").splitlines()
            elif language == "yaml":
                lines, kind = [line.partition(" >> ")[0] for line in steps(yaml.safe_load(text))], "may-fail"
            else:
                continue
            shown += [pytest.param(line, kind, id=line) for line in lines if line.startswith("ir-lexirecall ")]
    return shown


def steps(workflow: Any) -> Iterator[str]:
    """All texts in the file of a workflow."""
    if isinstance(workflow, str):
        yield workflow
    for inner in workflow.values() if isinstance(workflow, dict) else workflow if isinstance(workflow, list) else ():
        yield from steps(inner)


@pytest.mark.parametrize(("line", "kind"), commands())
def test_commands_run_on_files_of_the_embedded_collection(
    line: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib")

    from ir_lexirecall.cli import main
    from ir_lexirecall.pt_docs.commands import files

    with files():
        assert main(shlex.split(line, comments=True)[1:]) in ((0, 3, 4) if kind == "may-fail" else (0,))


@pytest.mark.slow
def test_a_measure_of_ones_own_is_one_of_the_command_line() -> None:
    pytest.importorskip("matplotlib")

    from ir_lexirecall.pt_docs.commands import files

    page = PAGES / "extend.rst"
    text = page.read_text(encoding="utf-8")
    found = doctest.DocTestParser().get_examples(text)
    (ending,) = (block for _, kind, block in blocks(page) if kind == OF_A_SCRIPT)
    last = next(i for i, example in enumerate(found) if "class ESL" in example.source)
    script = "".join(example.source for example in found[: last + 1]) + "\n\n" + ending
    lines = re.findall(r"^ +python esl\.py (.+)$", text, re.MULTILINE)
    assert len(lines) >= 3
    with files() as folder:
        (folder / "esl.py").write_text(script, encoding="utf-8")
        environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "integrations")])}
        for line in lines:
            ran = subprocess.run(
                [sys.executable, "esl.py", *shlex.split(line)], env=environment, capture_output=True, text=True
            )
            assert ran.returncode == 0, ran.stderr
            assert "ESL" in ran.stdout


def test_what_to_cite_is_the_file_to_cite_and_the_description() -> None:
    shown = [text for language, _, text in blocks(PAGES / "compare.rst") if language == "bibtex"]
    assert irl.describe("TSE").source.bibtex.strip() in shown
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    (software,) = (text for text in shown if "@misc" in text)
    title, version = (re.search(rf"^{key}: (.+)$", cited, re.MULTILINE)[1] for key in ("title", "version"))  # type: ignore[index]
    author = re.search(r"^authors:\n  - name: (.+)$", cited, re.MULTILINE)
    assert author is not None
    assert version == irl.__version__
    assert f"title = {{{title}}}" in software
    assert f"Version {version}" in software
    assert f"{{{{{author[1]}}}}}" in software


@pytest.mark.parametrize("path", SOURCES, ids=page_id)
def test_examples_fit_into_the_column(path: Path) -> None:
    typed = re.findall(r"^ *((?:>>>|\.\.\. ).*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    assert [line for line in typed if len(line) > WIDEST] == []


@pytest.mark.parametrize("path", SOURCES, ids=page_id)
def test_code_runs_or_says_what_it_is(path: Path) -> None:
    for language, kind, text in blocks(path):
        assert language in ("sh", "text", "toml", "yaml", "bibtex") or kind in {*LEFT_OUT, OF_A_SCRIPT, OF_PYTEST}, text


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
    for name in ("light", "dark"):
        stored = (PAGES / f"overview-{name}.svg").read_text(encoding="utf-8")
        assert drawings.overview().text.split(";")[0] in stored  # drawn from the embedded collection as it is


def test_names_of_trec_eval_mean_what_the_page_says() -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    text = (PAGES / "migrate.rst").read_text(encoding="utf-8").partition("From ranx")[0]
    rows = re.findall(r"^   \* - (``.+``)\n     - (``.+``)$", text, re.MULTILINE)
    pairs = [
        [
            name.strip(" `").replace("_K", "_10").replace("@K", "@10").replace("_X", "_0.50").replace("@X", "@0.5")
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
    run = {q: {d: float((7 * i) % 30) for i, d in enumerate(documents[5:])} for q in qrels}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {asked(name) for name, _ in pairs}).evaluate(run)
    ours = irl.evaluate([name for _, name in pairs], qrels, run)
    for name, measure in pairs:
        if name != "num_q":  # of all queries, not of each
            assert [theirs[q][name] for q in qrels] == pytest.approx(ours.loc[list(qrels), measure].tolist()), name


def asked(name: str) -> str:
    """What pytrec_eval is asked for to give a name: cutoffs follow a dot."""
    return re.sub(r"_(\d[\d.]*)$", r".\1", name)


def test_the_changelog_keeps_its_form() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert all(re.fullmatch(r"\[Unreleased\]|\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d", heading) for heading in headings)
    kinds = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    assert headings
    assert set(re.findall(r"^### (.+)$", text, re.MULTILINE)) <= kinds


def test_the_readme_is_short_and_shows_what_is_there() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.split()) < 900
    assert "not published" in text
    targets = re.findall(r'\]\((?!http)([^)#]+)\)|(?:src|srcset)="([^"]+)"', text)
    assert [target for pair in targets for target in pair if target and not (ROOT / target).exists()] == []
