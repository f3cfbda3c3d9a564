"""Whether an id stands for the same document in all runs, by what samples say of it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ir_lexirecall._util.arrays import Objects
from ir_lexirecall._util.errors import shown
from ir_lexirecall.io.cells import number_of_text
from ir_lexirecall.io.frames import Table
from ir_lexirecall.io.value_cells import id_text, texts
from ir_lexirecall.io.whole_columns import contradictions, id_texts

DOCUMENT_NAMES = ("doc",)
"""Names of what a sample is about, an object with fields."""
_TARGET_NAMES = (
    *("target", "gold", "gold_answer", "gold_label", "ground_truth", "ideal"),
    *("expected", "expected_output", "reference", "reference_answer"),
)
"""Names of what an answer should have been, which no run changes."""
_FEWEST_DIFFERENT = 3
"""Fewest different targets that show another order, unless most differ."""


def check_same_contents(runs: Sequence[tuple[Table, str]]) -> None:
    """Raise if an id stands for different documents in different runs.

    One text of a document that differs is enough. Targets may have been corrected: so many must
    differ that the documents are most likely in another order (`_are_in_another_order`).

    Args:
        runs: the rows of each run, with its column of queries.

    Raises:
        ValueError: it does, for example because the runs have the documents in different orders.
    """
    for name in DOCUMENT_NAMES:
        _check_column(runs, name, _document_text, are_targets=False)
    for name in _TARGET_NAMES:
        _check_column(runs, name, _target_text, are_targets=True)


def _check_column(
    runs: Sequence[tuple[Table, str]],
    name: str,
    text_of: Callable[[Any], str | None],
    *,
    are_targets: bool,
) -> None:
    """Raise if runs differ in a column for an id, or in targets for many ids.

    Raises:
        ValueError: they do; the message names the first one.
    """
    if not _differs(runs, name, text_of):
        return
    first: dict[str | None, tuple[int, str]] = {}
    shared: set[str | None] = set()
    different: dict[str | None, str] = {}
    counts = Counter[str]()
    way_out = ""
    for number, (run, column) in enumerate(runs):
        for row, query, content in _contents(run, column, name, text_of):
            counts[content] += 1
            first_run, first_content = first.setdefault(query, (number, content))
            if first_run == number:
                continue
            shared.add(query)
            if content == first_content or query in different:
                continue
            different[query] = (
                f"{run.location(row)}: {column} {query!r} stands for another document than in the "
                f"other runs: its {name} is {shown(content)} here, {shown(first_content)} there"
            )
            way_out = f"if the documents are the same, say so: query={column!r}"
    if are_targets and not _are_in_another_order(len(different), len(shared), counts):
        return
    if different:
        message = next(iter(different.values()))
        raise ValueError(
            f"{message}; give samples of one version of the task, or {way_out}"
        )


def _are_in_another_order(
    n_different: int, n_shared: int, counts: Counter[str]
) -> bool:
    """Return whether as many targets differ as if documents were in another order.

    Even then, some targets are equal by chance: half of them, if they are yes or no.

    Args:
        n_different: the number of ids with different targets.
        n_shared: the number of ids with targets in several runs.
        counts: how often each target occurs.
    """
    if 2 * n_different > n_shared:
        return True
    shares = np.array([*counts.values()]) / counts.total()
    by_chance = n_shared * (1 - (shares**2).sum())
    return n_different >= _FEWEST_DIFFERENT and 2 * n_different > by_chance


def _differs(
    runs: Sequence[tuple[Table, str]], name: str, text_of: Callable[[Any], str | None]
) -> bool:
    """Return whether any id has two contents in a column, in a quick look at all of it."""
    ids: list[Objects] = []
    contents: list[Objects] = []
    for run, column in runs:
        other = run.named([name])
        if other not in (None, column):
            ids.append(id_texts(run.columns[column]))
            contents.append(texts(map(text_of, run.columns[str(other)])))
    if not ids:
        return False
    values = np.concatenate(contents)
    kept = np.flatnonzero([value is not None for value in values])
    positions, _ = contradictions(np.concatenate(ids)[kept], values[kept])
    return len(positions) > 0


def _contents(
    run: Table, column: str, name: str, text_of: Callable[[Any], str | None]
) -> Iterator[tuple[int, str | None, str]]:
    """Yield the number of each row of a run, its id, and what it has in a column."""
    other = run.named([name])
    if other in (None, column):
        return
    ids, values = run.columns[column], run.columns[str(other)]
    for row, (item, value) in enumerate(zip(ids, values, strict=True)):
        content = text_of(value)
        if content is not None:
            yield row, id_text(item), content


def _document_text(value: Any) -> str | None:
    """Return a document with fields as a text; None for a text, which may be of any document."""
    if not isinstance(value, Mapping):
        return None
    fields = {str(name): field for name, field in value.items()}
    return json.dumps(fields, sort_keys=True, default=str, ensure_ascii=False)


def _target_text(value: Any) -> str | None:
    """Return a target as a text with single blanks; None if it is missing.

    A number is the same in every form: 1 may be 1.0 in a column that has a gap.
    """
    text = id_text(value)
    if text is None:
        return None
    number = number_of_text(text)
    return " ".join(text.split()) if number is None else f"{number:.12g}"
