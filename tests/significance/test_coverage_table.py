"""The table of coverage: every part of it runs, and the stored one has no row that is off."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import ir_lexirecall
from tests.simulations import coverage

STORED = Path(ir_lexirecall.__file__).parent / "pt_docs" / "coverage_table.txt"


def stored_rows() -> list[list[str]]:
    """The rows below the head of the table in the documentation."""
    return list(csv.reader(line.strip() for line in STORED.read_text(encoding="utf-8").splitlines()[4:]))


@pytest.mark.parametrize("simulate", coverage.TABLE, ids=lambda function: function.__name__)
def test_every_row_is_a_share_of_a_statement_that_the_table_has(simulate) -> None:
    if simulate is coverage.real and not coverage.DATA.exists():
        pytest.skip(f"no real runs at {coverage.DATA}")
    rows = [*simulate(10, np.random.default_rng(0))]
    stored = {tuple(row[:3]) for row in stored_rows()}
    assert rows
    for row in rows:
        assert 0 <= row.share <= 1
        assert row.level in (coverage.ALPHA, 1 - coverage.ALPHA)
        assert (row.statement, row.setting, f"{row.level:.2f}") in stored


def test_a_stored_row_that_is_off_says_what_to_do_instead() -> None:
    remarks = [row[5] for row in stored_rows()]
    assert len(remarks) > 200
    assert not {"off", "conservative: unexplained"} & set(remarks)


def test_rows_that_are_off_say_so() -> None:
    """1,000 intervals, of which 93 in 100 hold the truth; and verdicts, of which 7 in 100 are false."""
    holds = np.arange(1000) % 100 < 93
    assert coverage.covers("mean", "x", holds).remark == "off"
    assert coverage.covers("mean", "x", holds | True).remark == "conservative: unexplained"
    assert coverage.covers("mean", "x", holds | True, "few queries").remark == "conservative: few queries"
    assert coverage.false("worse", "x", ~holds).remark == "off"
    assert replace(coverage.covers("mean", "x", holds), instead="take more").remark == "off: take more"
    assert coverage.false("worse", "x", np.arange(1000) % 100 < 6).remark == ""


def test_the_program_fails_where_a_row_is_off(monkeypatch, tmp_path, capsys) -> None:
    def lies(samples, rng):
        yield coverage.covers("mean", "always wrong", np.zeros(samples))

    page = tmp_path / "table.txt"
    monkeypatch.setattr(coverage, "TABLE", [lies])
    monkeypatch.setattr("sys.argv", ["coverage", "--samples", "7", "--page", str(page)])
    assert coverage.main() == 1
    assert "always wrong" in capsys.readouterr().out
    assert page.read_text().endswith("\n   mean,always wrong,0.95,0.000,,off\n")
