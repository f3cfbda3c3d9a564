"""Values per query as a list of cells: the form that all readers of values give."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Self, TypeAlias

import numpy as np

from ir_lexirecall._util.arrays import Floats, Objects
from ir_lexirecall._util.errors import is_integer
from ir_lexirecall._util.selecting import part_and_row
from ir_lexirecall.io.cells import grade_of_text, number_or_text
from ir_lexirecall.io.files import Location
from ir_lexirecall.io.measure_names import equivalent, known
from ir_lexirecall.io.names import VALUE_NAMES

SUMMARY = ("all", "amean", "overall")
"""Names that trec_eval, ir_measures and ndeval give to the row over all queries."""
MISSING_MARKS = frozenset(
    (
        *("na", "n/a", "#n/a", "<na>", "nan", "nat", "none", "null"),
        *("#div/0!", "#value!", "#num!", "#ref!", "#name?", "#null!"),
    )
)
"""What R, pandas, SQL and Excel write where there is no value, in lower case."""
_LONGEST_CELL = 16
"""Letters of a text that may stand for a missing value, with the blanks around it."""
_TEXT_MEASURE = re.compile(r"(runid|relstring(_\d+)?)\Z")

CellRow: TypeAlias = tuple[str | None, str, str, float]
"""A run, a query, a measure and a value."""
RepeatAdvice = Callable[[int, int], str]
"""Returns what to do about two cells of the same run, query and measure."""


@dataclass(frozen=True)
class Cells:
    """Values, one per run, query and measure.

    Attributes:
        run: names of runs; None where the source does not name them.
        query_id: ids of queries.
        measure: names of measures.
        value: the values; NaN where one is missing.
        location: returns the label of the n-th cell in messages.
        per_task: whether the "queries" are whole tasks or collections.
        may_have_summary: whether a row may be a summary of the others, such as their mean.
        advice: see `RepeatAdvice`.
        query_column: the column of queries, if the source is a table.
        notes, cut: as in `Table`.
        repeat: the repeat of each value of a stochastic system; None where there are none.
        repeat_column: the column of repeats, if the source is a table that has one.
    """

    run: Objects
    query_id: Objects
    measure: Objects
    value: Floats
    location: Location
    per_task: bool = False
    may_have_summary: bool = False
    advice: RepeatAdvice = lambda first, second: "keep one"
    query_column: str | None = None
    notes: tuple[str, ...] = ()
    cut: tuple[str, ...] = ()
    repeat: Objects | None = None
    repeat_column: str | None = None

    @classmethod
    def from_rows(
        cls,
        rows: Sequence[CellRow],
        location: Location,
        **options: Any,
    ) -> Self:
        """Return cells made of tuples of run, query, measure and value."""
        columns = zip(*rows, strict=True) if rows else [()] * 4
        run, query_id, measure, value = columns
        values = np.array(value, dtype=np.float64)
        return cls(
            texts(run), texts(query_id), texts(measure), values, location, **options
        )

    @classmethod
    def joined(cls, parts: Sequence[Cells]) -> Self:
        """Return the cells of all parts; messages name the cells of each part as before.

        They have no repeats: these are runs of their own by now (`repeated_values.labelled`).
        """

        def location(n: int) -> str:
            index, row = part_and_row(parts, n)
            return parts[index].location(row)

        def advice(first: int, second: int) -> str:
            index, row = part_and_row(parts, first)
            other_index, other_row = part_and_row(parts, second)
            if index == other_index:
                return parts[index].advice(row, other_row)
            return (
                "keep one, or if these are two runs, rename one, or name them in Python: "
                "{'main': file, 'branch': file}"
            )

        def joined_arrays(name: str) -> Objects:
            return np.concatenate([getattr(part, name) for part in parts])

        query_columns = {part.query_column for part in parts}
        notes = chain.from_iterable(part.notes for part in parts)
        cut = chain.from_iterable(part.cut for part in parts)
        return cls(
            run=joined_arrays("run"),
            query_id=joined_arrays("query_id"),
            measure=joined_arrays("measure"),
            value=joined_arrays("value"),
            location=location,
            per_task=all(part.per_task for part in parts),
            may_have_summary=all(part.may_have_summary for part in parts),
            advice=advice,
            query_column=query_columns.pop() if len(query_columns) == 1 else None,
            notes=tuple(dict.fromkeys(notes)),
            cut=tuple(dict.fromkeys(cut)),
        )

    @property
    def repeats(self) -> Objects:
        """The repeat of each value; None if the value has no repeat."""
        if self.repeat is None:
            return texts([None] * len(self))
        return self.repeat

    def of_run(self, name: str) -> Cells:
        """Return the same cells as values of one run."""
        return replace(self, run=np.full(len(self), name, dtype=object))

    def of_repeat(self, label: str) -> Cells:
        """Return the same cells as those of one repeat."""
        return replace(self, repeat=np.full(len(self), label, dtype=object))

    def only_runs(self, names: Sequence[str]) -> Cells:
        """Return the cells of some runs; messages name each of them as before."""
        (kept,) = np.nonzero(np.isin(self.run, np.array(names, dtype=object)))
        repeat = self.repeat
        if repeat is not None:
            repeat = repeat[kept]
        return replace(
            self,
            run=self.run[kept],
            query_id=self.query_id[kept],
            measure=self.measure[kept],
            value=self.value[kept],
            location=lambda n: self.location(int(kept[n])),
            advice=lambda first, second: self.advice(
                int(kept[first]), int(kept[second])
            ),
            repeat=repeat,
        )

    def __len__(self) -> int:
        """Return the number of values."""
        return len(self.value)


def texts(values: Iterable[Any]) -> Objects:
    """Return values of any type as an array of objects."""
    return np.fromiter(values, dtype=object)


def id_text(value: Any) -> str | None:
    """Return an id as text; None if it is missing.

    Whole floats become integers, because a column of integers with a gap is read as floats.

    >>> id_text(7.0), id_text("7.0"), id_text(float("nan"))
    ('7', '7.0', None)
    """
    if is_missing(value):
        return None
    if isinstance(value, str):
        return str(value) if value.strip() else None
    is_whole = isinstance(value, (float, np.floating)) and float(value).is_integer()
    if is_whole or is_integer(value):
        return str(int(value))
    return str(value)


def is_missing(value: Any) -> bool:
    """Return whether a value is None or NaN."""
    if isinstance(value, (float, np.floating)):
        return bool(value != value)
    return value is None


def is_missing_mark(value: Any) -> bool:
    """Return whether a text stands for a missing value, as R's `NA` and Excel's `#N/A` do."""
    if not isinstance(value, str) or len(value) > _LONGEST_CELL:
        return False
    return value.strip().lower() in MISSING_MARKS


def value_of(value: Any) -> float | None:
    """Return a value as a float, 1 and 0 for True and False; None if it is not a number.

    >>> value_of("0.5"), value_of(True), value_of("FALSE"), value_of("high")
    (0.5, 1.0, 0.0, None)
    """
    if isinstance(value, (bool, np.bool_)):
        return float(value)
    if isinstance(value, str):
        return grade_of_text(value)
    return number_or_text(value)


def is_text_measure(name: str) -> bool:
    """Return whether trec_eval prints a text, not a number, for this measure."""
    return _TEXT_MEASURE.match(name) is not None


def is_measure(name: str) -> bool:
    """Return whether a name is that of a measure of trec_eval or ir_measures."""
    if is_text_measure(name) or equivalent(name) is not None:
        return True
    import ir_measures

    base = re.match(r"[A-Za-z]\w*", name)
    return base is not None and base[0] in ir_measures.measures.registry


def is_known_measure(name: str) -> bool:
    """Return whether a name is that of a measure of any program, or just `score` or `value`.

    >>> is_known_measure("rbp.95"), is_known_measure("F1@5"), is_known_measure("q1")
    (True, True, False)
    """
    return name.lower() in VALUE_NAMES or is_measure(name) or known(name) is not None
