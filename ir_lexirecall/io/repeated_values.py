"""Several values per query of one stochastic system: which repeat each is of, and of what kind."""

from __future__ import annotations

import numbers
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from ir_lexirecall._util.arrays import Floats
from ir_lexirecall._util.errors import check_choice, did_you_mean, shown, shown_names
from ir_lexirecall.io.frames import Table, are_records
from ir_lexirecall.io.value_cells import Cells, texts

KINDS = ("samples", "seeds")
REPEAT_COLUMNS = (
    *("seed", "epoch", "epochs", "repeat", "repetition", "trial", "sample", "fold"),
    "train_trial_index",
)
"""Names of columns that tell repeats apart."""
RepeatLabels: TypeAlias = Mapping[str, Sequence[str]]
"""Of each run the labels that stand for its repeats while values are read, in order."""
RepeatsLike: TypeAlias = "str | tuple[str, str]"
"""The kind of repeats, or the column that tells them apart and their kind."""
CHOICES = (
    'repeats="samples" if they are noise of each query, or repeats="seeds" if each moves all '
    "queries at once"
)


@dataclass(frozen=True)
class Repeats:
    """What the repeats of stochastic systems are.

    Attributes:
        kind: `'samples'`, noise of each query, or `'seeds'`, each of which moves all queries.
        column: the column that tells them apart, if the user named it.
        deterministic: systems that have no repeats.
    """

    kind: str
    column: str | None = None
    deterministic: tuple[str, ...] = ()

    @classmethod
    def from_argument(
        cls,
        repeats: RepeatsLike | Repeats | None,
        deterministic: str | Iterable[str] | None,
    ) -> Repeats | None:
        """Return the user's description of repeats; None without repeats.

        Raises:
            ValueError: neither a kind nor a column and a kind.

        >>> Repeats.from_argument(("run_no", "seeds"), "bm25")
        Repeats(kind='seeds', column='run_no', deterministic=('bm25',))
        """
        if isinstance(repeats, Repeats):
            return repeats
        if isinstance(deterministic, str):
            names = [deterministic]
        elif not isinstance(deterministic, Iterable | None):
            raise ValueError(
                f"deterministic must be names of runs, not {shown(deterministic)}"
            )
        else:
            names = list(deterministic or ())
        if repeats is None:
            if names:
                raise ValueError(
                    f"deterministic={names[0]!r} needs repeats= of the other systems"
                )
            return None
        column = None
        if isinstance(repeats, (tuple, list)) and len(repeats) == 2:
            column, repeats = repeats
        if not isinstance(repeats, str) or not isinstance(column, (str, type(None))):
            raise ValueError(
                "repeats must be 'samples' or 'seeds', or a column and one of these, "
                f"such as ('seed', 'seeds'), not {shown(repeats)}"
            )
        check_choice("repeats", repeats, KINDS)
        return cls(repeats, column, tuple(map(str, names)))

    def of_runs(self, runs: Sequence[str]) -> Repeats:
        """Return what is said of some of the runs."""
        return replace(
            self, deterministic=tuple(x for x in self.deterministic if x in runs)
        )

    def column_in(self, table: Table, other_than: str | None) -> str | None:
        """Return the column of a table that tells repeats apart; None without one.

        Args:
            table: the table.
            other_than: the column of queries, if the user named it.

        Raises:
            ValueError: several columns may do, or there is none of the name that the user gave.
        """
        if self.column is not None:
            return self._named_column_in(table)
        columns = [name for name in table.columns if name != other_than]
        names = [name for name in columns if name.lower() in REPEAT_COLUMNS]
        varying = [name for name in names if len(table.ids(name)) > 1]
        if len(varying) > 1:
            raise ValueError(
                f"{table.name}: {shown_names(varying)} may tell repeats apart; name one, as in "
                f"repeats=({varying[0]!r}, {self.kind!r})"
            )
        return next(iter(varying or names), None)

    def _named_column_in(self, table: Table) -> str | None:
        """Return the column that the user named; None where a deterministic run may lack it."""
        assert self.column is not None
        if self.column in table.columns:
            return self.column
        if self.deterministic:
            return None
        raise ValueError(
            f"{table.name}: no column {self.column!r} to tell repeats apart; the columns "
            f"are {shown_names(list(table.columns))}"
            f"{did_you_mean(self.column, list(table.columns))}"
        )

    def check_labels(self, labels: RepeatLabels, constant: str = "") -> None:
        """Raise if systems have too few repeats, some that should have none, or unclear names.

        Args:
            labels: the labels of the repeats of each system.
            constant: which column of repeats does not vary, in words; empty if that is not known.
        """
        _check_names(labels)
        n_repeats = {run: len(of_run) for run, of_run in labels.items()}
        for name in self.deterministic:
            if name not in n_repeats:
                raise ValueError(
                    f"deterministic names {name!r}; the runs are {shown_names(list(n_repeats))}"
                    f"{did_you_mean(name, list(n_repeats))}"
                )
            if n_repeats[name] > 1:
                raise ValueError(
                    f"deterministic names {name!r}, which has {n_repeats[name]} repeats; leave it "
                    "out of deterministic"
                )
        if max(n_repeats.values()) < 2:
            which = f"the column {self.column!r} has" if self.column else "there is"
            reason = constant or f"{which} one repeat of every run only"
            names = ", ".join(REPEAT_COLUMNS)
            raise ValueError(
                f"{reason}; leave repeats out, or name the column that tells repeats apart, as in "
                f"repeats=('COLUMN', {self.kind!r}) (known: {names})"
            )
        if self.kind == "seeds":
            self._check_seeds(n_repeats)

    def _check_seeds(self, n_repeats: Mapping[str, int]) -> None:
        """Raise if a variance between seeds cannot be estimated well enough."""
        least = 3 if self.deterministic else 2
        for name, number in n_repeats.items():
            if name in self.deterministic or number >= least:
                continue
            if number == 1:
                raise ValueError(
                    f"run {name!r} has one seed, which does not show how much a new seed "
                    f"changes; add seeds, or give deterministic={name!r} if it has no seeds"
                )
            raise ValueError(
                f"run {name!r} has {number} seeds; at least 3 are needed to compare it with a "
                "deterministic run"
            )


def _check_names(labels: RepeatLabels) -> None:
    """Raise if the name of a run is also the label of another run's repeat."""
    for run, of_run in labels.items():
        for label in of_run:
            if label != run and label in labels:
                raise ValueError(
                    f"run {label!r}: its name is also the label of a repeat of {run!r}; rename "
                    "the run"
                )


def labelled(
    parts: Sequence[Cells], repeats: Repeats
) -> tuple[list[Cells], RepeatLabels]:
    """Return values where every repeat is a run of its own, and the labels of these runs.

    Raises:
        ValueError: a run has values with and without a repeat, too few repeats, or the name of
            another's repeat.
    """
    labels_of_run: dict[str, dict[str, None]] = {}
    cells_of_repeats = []
    location_without_repeat: dict[str, str] = {}
    for part in parts:
        labels: list[str | None] = []
        for row, (run, repeat) in enumerate(zip(part.run, part.repeats, strict=True)):
            if run is None:
                labels.append(None)
                continue
            label = run
            if repeat is None:
                location_without_repeat.setdefault(run, part.location(row))
            else:
                label = f"{run}, repeat {repeat}"
            labels_of_run.setdefault(run, {})[label] = None
            labels.append(label)
        cells_of_repeats.append(replace(part, run=texts(labels)))
    for run, of_run in labels_of_run.items():
        if run in location_without_repeat and len(of_run) > 1:
            raise ValueError(
                f"{location_without_repeat[run]}: run {run!r} has repeats elsewhere, but none is "
                "named here; add it"
            )
    repeat_labels = {run: list(of_run) for run, of_run in labels_of_run.items()}
    if repeat_labels:
        _check_told_apart(parts, repeats)
        repeats.check_labels(repeat_labels, _constant_column(parts))
    return cells_of_repeats, repeat_labels


def _check_told_apart(parts: Sequence[Cells], repeats: Repeats) -> None:
    """Raise if a run has several rows for a query, and no column is known to hold its repeats."""
    if any(part.repeat_column is not None for part in parts):
        return
    n_rows: Counter[tuple[str, str, str]] = Counter()
    for part in parts:
        cells = zip(part.run, part.repeats, part.query_id, part.measure, strict=True)
        for run, repeat, query_id, measure in cells:
            if run is not None and repeat is None:
                n_rows[run, query_id, measure] += 1
    for (run, query_id, _), number in n_rows.items():
        if number > 1:
            raise ValueError(
                f"run {run!r} has {number} rows for query {shown(query_id)}, and no column is "
                "known to tell its repeats apart; name or add one, as in "
                f"repeats=('COLUMN', {repeats.kind!r}) (known: {', '.join(REPEAT_COLUMNS)})"
            )


def _constant_column(parts: Sequence[Cells]) -> str:
    """Return that the column of repeats does not vary; empty if it does, or there is none."""
    columns = {part.repeat_column for part in parts}
    values = {repeat for part in parts for repeat in part.repeats}
    if len(columns) != 1 or len(values) != 1 or None in columns | values:
        return ""
    return f"the column {columns.pop()!r} is {values.pop()!r} in every row"


def folded(
    values: Floats, runs: Sequence[str], labels: RepeatLabels
) -> tuple[Floats, ...]:
    """Return the values of each run, shape ``(R, Q)``, made of those of its repeats.

    Args:
        values: of every repeat, shape ``(L, Q)``.
        runs: their labels.
        labels: those of each run.
    """
    row = {label: i for i, label in enumerate(runs)}
    of_runs = []
    for labels_of_run in labels.values():
        of_runs.append(values[[row[label] for label in labels_of_run]])
    return tuple(of_runs)


def averages(values: Sequence[Floats]) -> Floats:
    """Return the values of each run averaged over its repeats, shape ``(S, Q)``."""
    return np.stack([of_run.mean(axis=0) for of_run in values])


def several_runs(source: Any) -> list[Any] | None:
    """Return the runs of one system if a source is a list of them, else None.

    A list of rows of one run (`are_records`), of numbers, or of pairs is not one of runs.
    """
    if not isinstance(source, (list, tuple)) or are_records(source):
        return None
    if any(isinstance(one, (numbers.Number, tuple)) for one in source):
        return None
    return list(source)
