"""The pages of the papers: pictures and verdicts, without code, and a link to the whole output."""

from __future__ import annotations

from pathlib import Path

import pytest

from ir_lexirecall.pt_docs import placeholders

SCRIPT = '''"""
A paper of one year
===================

Of 2 printed numbers 1 is reproduced.
"""
import pathlib, sys
pathlib.Path(sys.argv[sys.argv.index("--plots") + 1], "a_picture.svg").write_text("<svg/>")
print("Table 1: a long table\\n\\nWhat the paper says in words\\n  holds  Table 1: it does\\n  FAILS  Table 2: it does not\\n  cannot tell  Table 3: no data")
print("1 of 2 printed numbers agree.")
'''


def test_a_page_has_pictures_and_verdicts_and_links_to_the_whole_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(placeholders, "HERE", tmp_path)
    script = tmp_path / "paper.py"
    script.write_text(SCRIPT, encoding="utf-8")
    page = placeholders.paper(script, run=True)
    for gone in ("pathlib", "a long table", "holds  Table 1", "cannot tell  Table 3"):
        assert gone not in page
    for kept in (
        "Of 2 printed numbers",
        ":alt: a picture",
        "/paper.txt>`",
        "FAILS  Table 2",
        "1 of 2",
        "/paper.py>`",
    ):
        assert kept in page
    assert page.count(".. code-block:: none") == 1
    whole = (tmp_path / "gallery" / "paper" / "paper.txt").read_text(encoding="utf-8")
    assert whole.startswith("Table 1: a long table\n")
    assert "holds  Table 1" in whole
    without = placeholders.paper(script, run=False)
    assert "Of 2 printed numbers" in without
    assert "code-block" not in without


def test_verdicts_are_the_end_of_the_output() -> None:
    assert (
        placeholders.verdicts("a\n\nWhat holds on these\n  yes\n")
        == "What holds on these\n  yes"
    )
    assert placeholders.verdicts("no verdicts\n") == "no verdicts"
    declared = "What holds\n  yes\nDeclared before it\n  no\n"
    assert placeholders.verdicts(declared) == "Declared before it\n  no"
