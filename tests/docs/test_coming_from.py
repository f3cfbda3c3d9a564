"""The page "Coming from another evaluator": each command runs on small files, and gives the verdict that the page says."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from ir_lexirecall import demo
from ir_lexirecall.cli import main
from ir_lexirecall.pt_docs.commands import files

pytestmark = pytest.mark.sparse

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "ir_lexirecall" / "pt_docs" / "coming_from.rst").read_text(
    encoding="utf-8"
)
SECTION = re.compile(
    r"^(?P<title>[^\n]+)\n-+\n.*?^   (?P<command>ir-lexirecall [^\n]+)\n\nVerdict: \*(?P<verdict>[^*]+)\*",
    re.MULTILINE | re.DOTALL,
)
SECTIONS = [match.groupdict() for match in SECTION.finditer(TEXT)]


@pytest.fixture
def _files() -> Iterator[None]:
    """Put the files of the page into the working directory."""
    with files() as folder:
        shutil.copytree(
            ROOT / "tests" / "files" / "coming_from", folder, dirs_exist_ok=True
        )
        for name, run in (("main", "bm25"), ("branch", "bm25_rerank")):
            rankings: dict[str, dict[str, float]] = {}
            for row in demo.run(run).itertuples():
                rankings.setdefault(str(row.query_id), {})[str(row.doc_id)] = float(
                    row.score
                )
            (folder / f"ranx_{name}.json").write_text(json.dumps(rankings))
            lines = [
                {
                    "query_id": q,
                    "results": [{"corpus_id": d, "score": s} for d, s in docs.items()],
                }
                for q, docs in rankings.items()
            ]
            text = "".join(json.dumps(line) + "\n" for line in lines)
            (folder / f"predictions_{name}.jsonl").write_text(text)
            worse = name == "branch"
            rows = [
                f"{user},{0.75 - 0.25 * (worse and user % 2)}\n" for user in range(40)
            ]
            (folder / f"lenskit_{name}.csv").write_text(
                "user_id,NDCG\n" + "".join(rows)
            )
        grades: dict[str, dict[str, int]] = {}
        for row in demo.qrels().itertuples():
            grades.setdefault(str(row.query_id), {})[str(row.doc_id)] = int(
                row.relevance
            )
        (folder / "ranx_qrels.json").write_text(json.dumps(grades))
        yield


def test_every_program_has_a_section() -> None:
    titles = re.findall(r"^([^\n]+)\n-+$", TEXT, re.MULTILINE)
    assert titles[:-1] == [section["title"] for section in SECTIONS]
    for program in (
        "inspect_ai",
        "lm-eval",
        "HELM",
        "MTEB",
        "SWE-bench",
        "OpenSearch",
        "DeepEval",
    ):
        assert program in titles
    for program in ("ragas", "sentence-transformers", "LensKit", "ranx", "trectools"):
        assert program in titles


@pytest.mark.usefixtures("_files")
@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section["title"])
def test_the_command_gives_the_verdict(
    section: dict[str, str], capfd: pytest.CaptureFixture[str]
) -> None:
    if section["title"] == "inspect_ai":
        pytest.importorskip("backports.zstd")
    words = shlex.split(section["command"])[1:]
    code = main([*words, "--format", "json"])
    gate = json.loads(capfd.readouterr().out)
    assert {row["verdict"] for row in gate["criteria"]} == {section["verdict"]}
    assert code == (3 if section["verdict"] == "worse" else 0)
