"""Samples whose ids stand for other documents in another run are refused, also without a hash."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

from ir_lexirecall.io.values import read_values

N = 16
ORDER = [*range(1, N), 0]


def samples(order: list[int], *columns: str) -> list[dict[str, Any]]:
    """Samples with the documents in an order, and some of the columns that say what they are."""
    return [
        {"doc_id": k, "acc": float(k % 3 == 0)}
        | {name: CONTENTS[name](n) for name in columns}
        for k, n in enumerate(order)
    ]


CONTENTS: dict[str, Callable[[int], Any]] = {
    "doc": lambda n: {"question": f"text {n}", "choices": ["x", "y"]},
    "target": lambda n: "ABCD"[n % 4],
    "gold": lambda n: n % 4,
    "expected": lambda n: f"answer {n}",
}


def as_lines(runs: dict[str, list[dict[str, Any]]], path: Path) -> Any:
    for run, rows in runs.items():
        text = "\n".join(map(json.dumps, rows)) + "\n"
        (path / f"{run}.jsonl").write_text(text)
    return path


def of_lm_eval(runs: dict[str, list[dict[str, Any]]], path: Path) -> Any:
    return as_lines(
        {
            run: [{**row, "metrics": ["acc"]} for row in rows]
            for run, rows in runs.items()
        },
        path,
    )


FORMS: dict[str, Callable[..., Any]] = {
    "JSON lines": as_lines,
    "lm-eval": of_lm_eval,
    "pandas": lambda runs, path: {
        run: pd.DataFrame(rows) for run, rows in runs.items()
    },
    "Polars": lambda runs, path: {
        run: pl.DataFrame(rows) for run, rows in runs.items()
    },
    "one table": lambda runs, path: pd.concat(
        [pd.DataFrame(rows).assign(run=run) for run, rows in runs.items()]
    ),
}
IN_ANY_FORM = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)


@IN_ANY_FORM
@pytest.mark.parametrize("columns", [("doc",), ("target",), ("doc", "target")])
def test_documents_in_another_order_are_refused(
    columns: tuple[str, ...], form: Callable[..., Any], tmp_path: Path
) -> None:
    runs = {"a": samples([*range(N)], *columns), "b": samples(ORDER, *columns)}
    values = form(runs, tmp_path)
    with pytest.raises(
        ValueError,
        match=r"doc_id '0' stands for another document than in the other runs: its "
        rf"{columns[0]} is .* if the documents are the same, say so: query='doc_id'",
    ):
        read_values(values)
    assert read_values(values, query="doc_id").query_ids[0] == "0"


@pytest.mark.parametrize("name", ["gold", "expected", "target"])
def test_most_targets_that_differ_are_refused(name: str, tmp_path: Path) -> None:
    runs = {"a": samples([*range(N)], name), "b": samples(ORDER, name)}
    with pytest.raises(ValueError, match=f"another document .* its {name} is"):
        read_values(as_lines(runs, tmp_path))


@IN_ANY_FORM
def test_the_same_documents_in_another_order_are_paired(
    form: Callable[..., Any], tmp_path: Path
) -> None:
    a = samples([*range(N)], "doc", "target")
    runs = {"a": a, "b": a[::-1], "c": [*a[3:], *a[:3]]}
    assert read_values(form(runs, tmp_path)).measures == ["acc"]


def test_a_corrected_target_and_answers_of_the_runs_may_differ(tmp_path: Path) -> None:
    a = samples([*range(N)], "doc", "target")
    b = [{**row, "response": f"other {n}"} for n, row in enumerate(a)]
    b[3] = {**b[3], "target": "E"}
    for rows in (slice(N), slice(2, 4)):  # half of two differ
        runs = {"a": a[rows], "b": b[rows]}
        assert read_values(as_lines(runs, tmp_path)).measures == ["acc"]


def test_one_document_that_differs_is_refused(tmp_path: Path) -> None:
    a = samples([*range(N)], "doc")
    b = [*a[:-1], {**a[-1], "doc": {"question": "another"}}]
    with pytest.raises(ValueError, match="'15' stands for another document"):
        read_values(as_lines({"a": a, "b": b}, tmp_path))


def test_numbers_of_a_document_are_no_values(tmp_path: Path) -> None:
    rows = [{**row, "doc": {"x": 1, "y": 2}} for row in samples([*range(N)])]
    assert read_values(as_lines({"a": rows, "b": rows}, tmp_path)).measures == ["acc"]


N_CHOICES = 200
TARGETS = {
    "yes and no": lambda n: "yes" if (n * 7919) % 13 < 6 else "no",
    "unbalanced": lambda n: int((n * 7919) % 13 < 2),
    "three": lambda n: "xyz"[(n * 7919) % 13 % 3],
}


def choices(name: str, order: list[int]) -> list[dict[str, Any]]:
    """Samples of a task of few choices with documents in an order, of which only the target tells."""
    return [
        {"doc_id": k, "acc": float(k % 3 == 0), "target": TARGETS[name](n)}
        for k, n in enumerate(order)
    ]


@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize("order", ["reversed", "shifted", "shuffled"])
def test_few_targets_show_another_order_too(
    name: str, order: str, tmp_path: Path
) -> None:
    numbers = [*range(N_CHOICES)]
    orders = {
        "reversed": numbers[::-1],
        "shifted": numbers[1:] + numbers[:1],
        "shuffled": [(17 * n + 5) % N_CHOICES for n in numbers],
    }
    runs = {"a": choices(name, numbers), "b": choices(name, orders[order])}
    with pytest.raises(ValueError, match=r"another document .* its target is"):
        read_values(as_lines(runs, tmp_path))


@pytest.mark.parametrize("name", TARGETS)
def test_a_few_corrected_targets_of_two_choices_are_no_other_order(
    name: str, tmp_path: Path
) -> None:
    a = choices(name, [*range(N_CHOICES)])
    b = [dict(row) for row in a]
    for row in b[::40]:
        row["target"] = next(x["target"] for x in a if x["target"] != row["target"])
    assert read_values(as_lines({"a": a, "b": b}, tmp_path)).measures == ["acc"]


def test_a_number_is_the_same_target_in_any_form(tmp_path: Path) -> None:
    """A column of integers with a gap is written as 1.0."""
    rows = samples([*range(N)], "gold")
    pd.DataFrame(rows).to_csv(tmp_path / "a.csv", index=False)
    pd.DataFrame(rows).astype({"gold": float}).to_csv(tmp_path / "b.csv", index=False)
    assert read_values(tmp_path).runs == ["a", "b"]
