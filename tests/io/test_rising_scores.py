"""Scores that rise with the run's own ranks are named, in whatever form the run comes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

import ir_lexirecall as irl
from ir_lexirecall import cli
from ir_lexirecall.io import rising_scores
from ir_lexirecall.io.schemas import RUN
from ir_lexirecall.io.source import what_is

QRELS = {"q": {"a": 1}}
OTHER = {"q": {"a": 1.0}}
RISING = pd.DataFrame(
    {
        "query_id": "q",
        "doc_id": list("abc"),
        "rank": [1, 2, 3],
        "score": [0.1, 0.2, 0.3],
    }
)
CAVEAT = "scores rise with the run's own ranks"


def in_form(table: pd.DataFrame, form: str, file: Path) -> Any:
    """Return a run as a frame, or as the path of a file."""
    match form:
        case "frame":
            return table
        case "polars":
            return pl.from_pandas(table)
        case "trec":
            rows = table.itertuples(index=False)
            file.write_text(
                "".join(f"q Q0 {doc} {rank} {x} t\n" for _, doc, rank, x in rows)
            )
        case "csv":
            file.write_text(table.to_csv(index=False))
    return file


@pytest.mark.parametrize("form", ["frame", "polars", "trec", "csv"])
@pytest.mark.parametrize("rises", [True, False])
def test_scores_that_rise_with_ranks_are_a_caveat(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], form: str, rises: bool
) -> None:
    table = RISING if rises else RISING.assign(rank=[3, 2, 1])
    run = in_form(table, form, tmp_path / "a.run")
    rows = what_is(run, RUN).ranked_scores()
    assert [(query, float(x)) for query, _, x in rows] == [
        ("q", 0.1),
        ("q", 0.2),
        ("q", 0.3),
    ]
    notes = irl.evaluate("AP", QRELS, run).attrs.get("diagnostics", [])
    assert any(CAVEAT in note for note in notes) == rises
    result = irl.compare(QRELS, {"a": run, "b": OTHER}, "AP")
    assert (f"a: {CAVEAT}" in str(result.summary(full=True))) == rises
    if form in ("trec", "csv"):
        (tmp_path / "qrels").write_text("q 0 a 1\n")
        assert cli.main(["eval", str(tmp_path / "qrels"), str(run), "-m", "AP"]) == 0
        assert (f"a: {CAVEAT}" in capsys.readouterr().out) == rises


def test_nothing_is_said_of_ranks_that_are_not_there(tmp_path: Path) -> None:
    lines = tmp_path / "ranked.run"  # query, document, rank
    lines.write_text("q a 1\nq b 2\n")
    for run in (
        lines,
        RISING.drop(columns="rank"),
        RISING.assign(rank=0),
        {"q": {"a": 0.1, "b": 0.2}},
    ):
        assert "diagnostics" not in irl.evaluate("AP", QRELS, run).attrs


def rises(rows: list[tuple[Any, Any, Any]]) -> bool:
    """Return whether scores rise with ranks in rows of query, rank and score."""
    return rising_scores.fault_of_order(rows) == rising_scores.RISING


def test_nine_in_ten_steps_must_rise() -> None:
    rows = [("q", rank, float(rank)) for rank in range(1, 11)]
    one_falls = [*rows, ("q", 11, 0.0)]  # nine steps rise, one falls
    assert rises(one_falls)
    assert not rises([*one_falls, ("q", 12, -1.0)])
    other_query = [("p", 1, 5.0), *rows]  # no step leads from one query to another
    assert rises(other_query)
    assert not rises([("q", 1, "x"), ("q", 2, "y")])
    assert rises([("q", 1, "-inf"), ("q", 2, "-inf"), ("q", 3, 0.5)])


SWAPPED = RISING.assign(rank=[2.5, 1.5, 0.5], score=[1, 2, 3])


@pytest.mark.parametrize("form", ["frame", "polars", "trec"])
def test_ranks_and_scores_that_are_swapped_are_told(form: str, tmp_path: Path) -> None:
    run = in_form(SWAPPED, form, tmp_path / "swapped.run")
    table = irl.evaluate("RR", QRELS, run)
    assert table.attrs["diagnostics"] == [f"{rising_scores.SWAPPED}."]
    result = irl.compare(QRELS, {"swapped": run, "other": OTHER}, "RR")
    assert "ranks have decimals and scores count from 1" in str(result)


@pytest.mark.parametrize(
    ("ranks", "scores"),
    [
        ([1, 2, 3], [3, 2, 1]),
        ([0.5, 1.5, 2.5], [0.9, 0.8, 0.7]),
        (["-", "-", "-"], [3, 2, 1]),
    ],
)
def test_ranks_and_scores_in_their_places_need_no_word(
    ranks: list[Any], scores: list[float]
) -> None:
    run = RISING.assign(rank=ranks, score=scores)
    assert "diagnostics" not in irl.evaluate("RR", QRELS, run).attrs
