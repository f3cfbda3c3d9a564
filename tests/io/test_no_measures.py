"""Columns of numbers that are no measures decide nothing, unless the user says that they are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ir_lexirecall as irl
from ir_lexirecall import cli
from ir_lexirecall.io.no_measures import is_no_measure
from ir_lexirecall.io.values import read_values

N = 12
NO_MEASURES = """
tstamp timestamp created created_at createdAt start_time end_time startTime date pid port worker turn
batch page version prompt_version temperature top_p max_tokens status_code label pred
pred_label p_value attempt seed_threshold metadata.temperature random_seed learning_rate answer
"""
MEASURES = """
score acc latency time response_time rank tokens cost my_score faithfulness label_accuracy date_f1
correct_answer answer_relevancy output_tokens zeal
"""


def records(name: str, shift: float, **more: Any) -> list[dict[str, Any]]:
    """Samples of a run, with numbers under a name that rise with the run."""
    return [
        {"question_id": i, "score": (i % 4) / 4, name: 5.0 + shift + i * 1.5, **more}
        for i in range(N)
    ]


def tables(name: str, form: str, path: Path, **more: Any) -> Any:
    """Two runs in a form: the second one has larger numbers under the name."""
    runs = {
        run: pd.DataFrame(records(name, shift, **more))
        for run, shift in {"a": 0, "b": 100}.items()
    }
    if form == "frames":
        return runs
    if form == "one frame":
        return pd.concat([table.assign(model=run) for run, table in runs.items()])
    for run, table in runs.items():
        if form == "CSV":
            table.to_csv(path / f"{run}.csv", index=False)
        else:
            table.to_json(path / f"{run}.jsonl", orient="records", lines=True)
    return path


IN_ANY_FORM = pytest.mark.parametrize(
    "form", ["frames", "one frame", "CSV", "JSON lines"]
)


@IN_ANY_FORM
@pytest.mark.parametrize("name", NO_MEASURES.split())
def test_what_is_no_measure_by_its_name_is_left_out_with_a_word(
    name: str, form: str, tmp_path: Path
) -> None:
    values = tables(name, form, tmp_path)
    table = read_values(values)
    assert table.measures == ["score"]
    assert (
        f"The column {name!r} is left out: its name is not that of a measure."
        in table.notes
    )
    assert read_values(values, measures=[name, "score"]).measures == [name, "score"]


@pytest.mark.parametrize("name", MEASURES.split())
def test_measures_are_not_left_out(name: str, tmp_path: Path) -> None:
    assert not is_no_measure(name)
    assert name in read_values(tables(name, "CSV", tmp_path)).measures


def test_a_time_does_not_fail_a_gate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    values = tables("tstamp", "JSON lines", tmp_path)
    words = ["gate", "--values", str(values), "--baseline", "b", "--candidate", "a"]
    assert cli.main(words) == 0
    output = " ".join(capsys.readouterr().out.split())
    assert (
        "The column 'tstamp' is left out: its name is not that of a measure." in output
    )
    assert cli.main([*words, "-m", "tstamp"]) == 3


@IN_ANY_FORM
def test_a_column_that_is_the_same_everywhere_is_left_out(
    form: str, tmp_path: Path
) -> None:
    values = tables("zeal", form, tmp_path, window=512)
    table = read_values(values)
    assert table.measures == ["score", "zeal"]
    assert "The column 'window' is 512 in all rows: left out." in table.notes
    assert read_values(values, measures="window").measures == ["window"]


@pytest.mark.parametrize(("name", "level"), [("zeal", 1.0), ("zeal", 0), ("acc", 0.5)])
def test_measures_may_be_level(name: str, level: float, tmp_path: Path) -> None:
    table = read_values(tables("cost", "CSV", tmp_path, **{name: level}))
    assert table.measures == ["score", "cost", name]


def test_a_level_measure_alone_stays() -> None:
    rows = pd.DataFrame({"id": range(N), "zeal": [0.5] * N})
    assert read_values({"a": rows, "b": rows}).measures == ["zeal"]


def test_runs_may_be_called_like_labels_and_be_level() -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {"query_id": range(N), "target": rng.random(N), "control": [0.5] * N}
    )
    assert read_values(table).runs == ["target", "control"]
    beside = read_values(table.assign(page=rng.integers(0, 99, N)))
    assert beside.runs == ["target", "control"]
    assert (
        "The column 'page' is left out: its name is not that of a measure."
        in beside.notes
    )


def test_where_no_column_is_a_measure_it_is_said(tmp_path: Path) -> None:
    rows = [{"id": i, "label": i % 2} for i in range(N)]
    for run in "ab":
        text = "\n".join(map(json.dumps, rows)) + "\n"
        (tmp_path / f"{run}.jsonl").write_text(text)
    with pytest.raises(
        ValueError, match="name those that are measures, such as 'label'"
    ):
        irl.compare(values=tmp_path)
    assert read_values(tmp_path, measures="label").measures == ["label"]


@pytest.mark.parametrize(
    "name", ["AP_std", "acc_stderr", "score.sem", "f1_stdev", "stddev"]
)
@IN_ANY_FORM
def test_spreads_of_values_are_no_measures(
    name: str, form: str, tmp_path: Path
) -> None:
    table = read_values(tables(name, form, tmp_path))
    assert table.measures == ["score"]
    assert (
        f"The column {name!r} is left out: its name is not that of a measure."
        in table.notes
    )


def test_a_constant_is_one_in_any_file_and_beside_gaps(tmp_path: Path) -> None:
    """100 in a file of JSON is 100.0 in a CSV of a frame whose last row has none."""
    rows = pd.DataFrame(records("x", 0)).drop(columns="x").assign(n_docs=100)
    rows.to_json(tmp_path / "a.jsonl", orient="records", lines=True)
    mean = pd.DataFrame({"question_id": ["mean"], "score": [rows["score"].mean()]})
    pd.concat([rows, mean]).to_csv(tmp_path / "b.csv", index=False)
    table = read_values(tmp_path, missing="skip")
    assert table.measures == ["score"]
    assert "The column 'n_docs' is 100 in all rows: left out." in table.notes


@pytest.mark.parametrize("content", [("a", 1), ["a", "b"], {"a": 1}, np.array([1, 2])])
def test_objects_in_a_column_are_no_constants(content: Any) -> None:
    rows = [{"question_id": str(i), "score": i / N, "about": content} for i in range(N)]
    frame = pd.DataFrame(rows)
    assert read_values({"a": frame, "b": frame}).measures == ["score"]
