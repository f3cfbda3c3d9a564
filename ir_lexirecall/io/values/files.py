"""Files of values per query that other programs wrote: trec_eval, ir_measures, autojudge-evaluate, JSON, CSV, Parquet, MTEB."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ir_lexirecall._util.errors import shown
from ir_lexirecall.io.files import is_parquet, parsed_json, rereadable, text_of_file
from ir_lexirecall.io.lines import as_float, csv_rows, number
from ir_lexirecall.io.readers import parquet_table
from ir_lexirecall.io.values.cells import (
    QUERY_NAMES,
    RUN_NAMES,
    SAMPLE_NAMES,
    SUMMARY,
    TASK_NAMES,
    TEXT,
    Cells,
    Table,
    cells_of_dicts,
    is_measure,
)

_LINES = {
    3: "measure, query, value (trec_eval) or query, measure, value (ir_measures)",
    4: "run, measure, query, value or run, query, measure, value (autojudge-evaluate)",
    6: "query, Q0, run, rank, value, measure (autojudge-evaluate's ranking)",
}


def content_of_file(path: str | os.PathLike[str]) -> Cells | Table:
    """What is in a file: a table, if it has columns with names, or else the values; those over all queries are left out."""
    with rereadable(os.fspath(path)) as file:
        if is_parquet(file):
            table = parquet_table(file)
            return Table({name: table[name].to_list() for name in table.columns}, file)
        text = text_of_file(file)
        first = next((line for line in text.splitlines() if line.strip()), "")
        if not first:
            raise ValueError(f"{file}: there are no values in it")
        if first.lstrip().startswith(("{", "[")):
            return _content_of_json(text, file)
        if not text.endswith("\n") and (text[-1].isdigit() or text[-1] == "."):
            raise ValueError(
                f"{file}, line {text.count(chr(10)) + 1}: the file ends within a number, without an end of line: was it cut? "
                "Write it again, or end its last line"
            )
        for separator in (",", "\t", ";"):
            names = [name.strip().strip('"').lower() for name in first.split(separator)]
            if len(names) > 1 and not {*QUERY_NAMES, *TASK_NAMES, *RUN_NAMES, *SAMPLE_NAMES}.isdisjoint(names):
                return _table_of_text(text, separator, file)
        if file.lower().endswith((".csv", ".tsv")) or ("," in first and len(first.split()) not in _LINES):
            raise ValueError(
                f"{file}, line 1: expected a header with query_id, and run or a column per run, got {shown(first)}"
            )
        return _cells_of_lines(text, file)


# -- lines of fields ---------------------------------------------------------------------------------------


def _cells_of_lines(text: str, path: str) -> Cells:
    rows: list[list[str]] = []
    lines: list[int] = []
    for line_number, line in enumerate(text.split("\n"), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        fields = [field.strip() for field in line.split("\t")]
        if len(fields) not in _LINES:
            fields = line.split()
        if rows and len(fields) != len(rows[0]) and fields[0].startswith("relstring"):
            continue  # a text with blanks
        if len(fields) not in _LINES or (rows and len(fields) != len(rows[0])):
            wanted = _LINES.get(len(rows[0]) if rows else 0) or "; ".join(_LINES.values())
            raise ValueError(f"{path}, line {line_number}: {len(fields)} fields where a line has {wanted}")
        rows.append(fields)
        lines.append(line_number)
    measure, query, run = _roles(rows, path)
    cells, places = [], []
    for place, row in zip(lines, rows, strict=True):
        if row[query] in SUMMARY or TEXT.match(row[measure]):
            continue
        written = row[4] if len(row) == 6 else row[-1]
        value = number(written)
        if value is None:
            what = f"the {row[measure]} of query {row[query]!r}"
            raise ValueError(f"{path}, line {place}: {what} is {shown(written)}, not a number")
        cells.append((None if run is None else row[run], row[query], row[measure], value))
        places.append(place)
    if not cells:
        raise ValueError(f"{path}: it has values over all queries only; ask for values per query (trec_eval -q)")
    return Cells.from_rows(cells, lambda n: f"{path}, line {places[n]}")


def _roles(rows: Sequence[Sequence[str]], path: str) -> tuple[int, int, int | None]:
    if len(rows[0]) == 6:
        return 5, 0, 2
    first = len(rows[0]) - 3
    run = None if first == 0 else 0
    several = [{row[first] for row in rows}, {row[first + 1] for row in rows}]
    summary = [not names.isdisjoint(SUMMARY) for names in several]
    known = [all(map(is_measure, names)) for names in several]
    if summary[0] != summary[1]:
        measure_first = summary[1]
    elif known[0] != known[1]:
        measure_first = known[0]
    elif len(several[0]) != len(several[1]):
        measure_first = len(several[0]) < len(several[1])
    else:
        raise ValueError(
            f"{path}: which field is the measure, {shown(rows[0][first])} or {shown(rows[0][first + 1])}, cannot be told; "
            "give a table with a header: run, query_id, measure, value"
        )
    return (first, first + 1, run) if measure_first else (first + 1, first, run)


# -- tables and JSON ---------------------------------------------------------------------------------------


def _table_of_text(text: str, separator: str, path: str) -> Table:
    lines = csv_rows(text, lambda line: f"{path}, line {line}", separator)
    _, names = next(lines)
    rows = []
    for line, row in lines:
        if len(row) != len(names):
            raise ValueError(f"{path}, line {line}: {len(row)} fields where {len(names)} are expected")
        rows.append((line, row))
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{path}: the header names {twice!r} twice; keep one")
    columns = {name: [row[i] or None for _, row in rows] for i, name in enumerate(names)}
    return Table(columns, path, lambda row: f"{path}, line {rows[row][0]}")


def _content_of_json(text: str, path: str) -> Cells | Table:
    """An object per line, a list of objects, or a dict of dicts."""
    lines = [(n, line) for n, line in enumerate(text.split("\n"), start=1) if line.strip()]
    word, places = "record", None
    if len(lines) > 1 and lines[0][1].rstrip().endswith("}") and _is_json(lines[0][1]):
        records: Any = [parsed_json(line, path, n) for n, line in lines]
        word, places = "line", [n for n, _ in lines]
    else:
        content = parsed_json(text, path, 1)
        if not content:
            raise ValueError(f"{path}: there are no values in it")
        if isinstance(content, dict) and any(isinstance(value, (dict, list)) for value in content.values()):
            return cells_of_dicts(content, path)
        records = [content] if isinstance(content, dict) else content
    odd = next((i for i, record in enumerate(records) if not isinstance(record, dict)), None)
    if odd is not None or not records:
        raise ValueError(f"{path}: expected objects with run, query_id, measure and value, got {shown(records[:1])}")
    names = list(dict.fromkeys(name for record in records for name in record))
    columns = {name: [record.get(name) for record in records] for name in names}
    return Table(columns, path, lambda row: f"{path}, {word} {row + 1 if places is None else places[row]}")


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        return False
    return True


# -- folders of results -------------------------------------------------------------------------------------


def mteb_cells(folder: str | os.PathLike[str], measure: str = "main_score") -> Cells:
    """Scores of MTEB's results, a file ``MODEL/REVISION/TASK.json`` each: the mean over its splits and subsets."""
    rows: list[tuple[str, str, str, float]] = []
    places: list[str] = []
    for file in sorted(Path(folder).rglob("*.json")):
        if file.name == "model_meta.json":
            continue
        content = parsed_json(text_of_file(str(file)), str(file), 1)
        if isinstance(content, dict) and "mteb_dataset_name" in content:
            raise ValueError(
                f"{file}: results of MTEB before version 1.11; MTEB's TaskResult.from_disk reads it, to_disk writes it anew"
            )
        if not isinstance(content, dict) or not {"task_name", "scores"} <= content.keys():
            continue
        splits = list(content["scores"].values()) if isinstance(content["scores"], dict) else []
        if not splits or any(
            not isinstance(split, list) or not all(isinstance(item, dict) for item in split) for split in splits
        ):
            raise ValueError(
                f"{file}: expected scores by split, each a list of objects, got {shown(content['scores'])}"
            )
        found = [scores.get(measure) for split in splits for scores in split]
        numbers = [None if isinstance(value, str) else as_float(value) for value in found]
        if not numbers or None in numbers:
            raise ValueError(f"{file}: no number {measure!r} in it; name another one of MTEB's measures")
        parts = file.relative_to(folder).parts
        model = parts[max(-3, -len(parts))] if len(parts) > 1 else file.parent.name  # results/MODEL/REVISION/TASK.json
        rows.append((model, str(content["task_name"]), measure, float(np.mean(found))))
        places.append(str(file))
    if not rows:
        raise ValueError(
            f"{folder}: no files of values in it, nor results of MTEB (JSON files with task_name and scores)"
        )
    return Cells.from_rows(rows, places.__getitem__, per_task=True)
