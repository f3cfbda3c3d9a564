"""The README's pictures are of reports as they are now."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("PIL")

import readme_pictures


def test_the_pictures_show_what_a_report_says(tmp_path: Path) -> None:
    text = readme_pictures.text_at_a_glance(readme_pictures.write_report(tmp_path))
    assert "overlap 0.235" in text
    for scheme in readme_pictures.SCHEMES:
        picture = readme_pictures.FOLDER / f"report-{scheme}.png"
        assert readme_pictures.text_of(picture) == text, (
            "draw the pictures again: see tests/support/readme_pictures.py"
        )
