"""Descriptions of measures: the attribute `ABOUT` of their classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ir_lexirecall.measures.latex import plain_text

RANKS = (
    "m: relevant documents of the query; r: how many of them were retrieved; p_1 < ... < p_r: "
    "their ranks"
)
Label = int | None | tuple[int | None, ...]


class Judgment(NamedTuple):
    """A row of qrels."""

    query_id: str
    doc_id: str
    relevance: int
    iteration: str


@dataclass(frozen=True, eq=False)
class Example:
    """A ranking whose value can be worked out by hand.

    Attributes:
        measure: what is computed, as a string.
        ranking: grades from rank 1 on; None for a document without judgment; a tuple of grades for
            several ``names``.
        value: what comes out.
        working: how, in words and numbers.
        missing: grades of judged documents that are not retrieved.
        names: subtopics or aspects that tuples have grades for.
    """

    measure: str
    ranking: Sequence[Label]
    value: float
    working: str
    missing: Sequence[Label] = ()
    names: Sequence[str] = ("t1", "t2")

    @property
    def qrels(self) -> list[Judgment]:
        """The judgments as rows."""
        rows = []
        for index, label in enumerate((*self.ranking, *self.missing), start=1):
            if isinstance(label, tuple):
                grade_of_name = dict(zip(self.names, label, strict=True))
            else:
                grade_of_name = {"0": label}
            for name, grade in grade_of_name.items():
                if grade is not None:
                    rows.append(Judgment("q", f"d{index}", grade, name))
        return rows

    @property
    def run(self) -> dict[str, dict[str, float]]:
        """The ranking as scores of documents."""
        return {
            "q": {f"d{rank}": float(-rank) for rank in range(1, len(self.ranking) + 1)}
        }

    def __str__(self) -> str:
        several = any(isinstance(label, tuple) for label in self.ranking)
        if several:
            what = f"Grades for {' and '.join(self.names)}"
        else:
            what = "Grades"
        shown = f"{what} from rank 1 on: {', '.join(map(_grade, self.ranking))}"
        if self.missing:
            shown += f"; not retrieved: {', '.join(map(_grade, self.missing))}"
        return f"{shown}. {self.working} {self.measure} = {self.value:.4g}."


def _grade(label: Label) -> str:
    """Return the label of a document in an example as a text."""
    if isinstance(label, tuple):
        return f"({', '.join(map(_grade, label))})"
    if label is None:
        return "unjudged"
    return str(label)


@dataclass(frozen=True, eq=False)
class About:
    """Description of a measure, a test or a preference.

    All of it is optional; ``describe`` shows what there is.
    """

    formula: str = ""  # in LaTeX, without dollar signs
    # The formula in plain text; made of the LaTeX unless words say it better.
    plain: str = ""
    symbols: str = ""  # what its letters mean
    values: str = ""  # the range, where the class's ``RANGE`` does not say it all
    zero: str = ""  # what 0 means
    ties: str = ""  # when two rankings get the same value
    use: str = ""  # when to use it
    example: Example | None = None  # worked out by hand
    # A line of text, or the key of a source in ``descriptions/entries.ini``.
    source: str = ""
    see_also: Sequence[str] = ()  # related names
    caption: str = ""  # what a table of its values says below
    # Meanings of parameters that the class describes badly.
    meanings: Mapping[str, str] = field(default_factory=dict)
    title: str = ""  # the full name, where the class has none
    meaning: str = ""  # a sentence, where there is no class

    def __post_init__(self) -> None:
        if self.formula and not self.plain:
            object.__setattr__(self, "plain", plain_text(self.formula))
