"""Records of studies: the headline, the picture and the command of each.

A study is a function with the decorator ``study``; ``summary``, ``plot``, the command line and the
table of studies in the documentation read the records that this makes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ParamSpec, TypeVar

from ir_lexirecall._util.errors import entry
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.versions import versions
from ir_lexirecall.plots.studies import Picture, draw
from ir_lexirecall.present.findings import Finding
from ir_lexirecall.present.text import count, format_number, listed
from ir_lexirecall.significance import SignificanceTest

P = ParamSpec("P")
R = TypeVar("R")

DIAZ = "Diaz, Ekstrand, Mitra, TORS 2026, doi 10.1145/3728373"
"""The source of several studies."""
_COMPUTED_BY = ("ir-lexirecall", "ir-measures", "numpy", "scipy", "pandas")
_SUBJECTS = (
    ("measure_a", "measure_b"),
    ("run", "measure"),
    ("measure", "target"),
    ("measure",),
    ("run",),
)


# -- what is declared ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Headline:
    """What a study compares: a column, its meaning, and what its largest and smallest values are.

    Attributes:
        rows: which rows of the table count, by default all.
    """

    column: str
    meaning: str
    largest: str
    smallest: str
    rows: Callable[[pd.DataFrame], pd.DataFrame] | None = None


@dataclass(frozen=True)
class Option:
    """An option of a study's command, which fills the parameter of its name.

    An option that is not given is left to the function.

    Attributes:
        kind: ``int``, ``float``, ``str``, ``bool`` (a switch), or in words what the text is:
            ``"RUN=GROUP"``, ``"A:B"`` (two measures).
        several: takes one or more.
        shown: stands for the value in the help.
    """

    help: str
    kind: Any = str
    several: bool = False
    required: bool = False
    shown: str | None = None


ON_RUNS = ("rel", "cutoff", "allow_empty")
"""Options of the commands of most studies of runs, the same as of other commands."""
SEED = {"seed": Option("random seed (default: 0)", int)}


@dataclass(frozen=True)
class Record:
    """A study.

    Attributes:
        name: of the function.
        title: what it finds, in a line.
        headline: or a function that says what the table says.
        picture: or a function that gives the picture of a table.
        example: arguments of its command; empty where it has none.
        measures: whether its command takes ``-m``.
        runs: which of ``ON_RUNS`` the command of a study of runs takes.
        options: of its command, by parameter.
        test: how its command tests unless options say otherwise, by the arguments of other commands
            that are not in ``options``.
    """

    name: str
    title: str
    headline: Headline | Callable[[pd.DataFrame], Finding]
    picture: Picture | Callable[[pd.DataFrame], Picture] | None = None
    example: str = ""
    measures: bool = True
    runs: Sequence[str] = ()
    options: Mapping[str, Option] = field(default_factory=dict)
    test: SignificanceTest | None = None


RECORDS: dict[str, Record] = {}


def study(
    title: str,
    headline: Headline | Callable[[pd.DataFrame], Finding],
    picture: Picture | Callable[[pd.DataFrame], Picture] | None = None,
    **command: Any,
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Declare that a function is a study, with its headline, picture and command.

    ``Record`` describes them.
    """

    def declare(function: Callable[P, R]) -> Callable[P, R]:
        name = function.__name__
        RECORDS[name] = Record(name, title, headline, picture, **command)
        return entry(function)

    return declare


def recorded(table: pd.DataFrame, name: str, **provenance: Any) -> pd.DataFrame:
    """Record in ``attrs`` which study was run, its options, and versions of what computed.

    >>> recorded(pd.DataFrame({"x": [1]}), "ties", rel=1).attrs["function"]
    'ties'
    """
    table.attrs = {"function": name, **provenance, "versions": versions(_COMPUTED_BY)}
    return table


# -- what is read from it --------------------------------------------------------------------------


def plot(table: Any, ax: Any = None) -> Any:
    """Draw a study.

    Args:
        table: what a function of ``ir_lexirecall.meta`` or a method of ``Study`` gave, or some of
            its rows; ``attrs["function"]`` names it.
        ax: matplotlib axes; new ones by default.

    Raises:
        ValueError: the table is not a study.
    """
    function = getattr(table, "attrs", {}).get("function")
    record = RECORDS.get(str(function))
    if record is None or record.picture is None:
        raise ValueError(
            "plot: expected the table of a study with a picture (attrs['function'] names it), got "
            f"{function!r}"
        )
    if isinstance(record.picture, Picture):
        picture = record.picture
    else:
        picture = record.picture(table)
    if isinstance(said := record.headline, Headline):
        picture = replace(
            picture,
            value=picture.value or said.column,
            meaning=picture.meaning or said.meaning,
        )
    return draw(picture, table, ax)


@entry
def summary(table: pd.DataFrame) -> str:
    """Summarise a study in a few sentences, followed by its numbers, largest first.

    Args:
        table: what a function of ``ir_lexirecall.meta``, a method of ``Study``, or ``tie_audit``
            gave.

    Raises:
        ValueError: the table is not a study.

    >>> import textwrap
    >>> from ir_lexirecall import meta
    >>> text = meta.summary(meta.tie_probabilities(n=1000, m=10))
    >>> print(textwrap.fill(text.splitlines()[0], 80))
    tie_probabilities: 5 measures. Probability of a tie: most R@1000 (1.0000), least
    LexiRecall (3.8e-24).
    """
    return str(finding(table))


def finding(table: pd.DataFrame) -> Finding:
    """Return the parts of ``summary``."""
    function = getattr(table, "attrs", {}).get("function")
    if function not in RECORDS:
        raise ValueError(
            f"expected the table of a study (attrs['function'] names it), got {function!r}"
        )
    headline = RECORDS[function].headline
    if not isinstance(headline, Headline):
        return headline(table)
    ranking = _ranked_means(table, headline)
    meaning = f"{headline.meaning[0].upper()}{headline.meaning[1:]}"
    sentences = [introduction(table)]
    extremes = _extremes(ranking, headline)
    if extremes:
        sentences.append(f"{meaning}: {', '.join(extremes)}.")
    renamed = ranking.rename(columns={"number": headline.column})
    return Finding(sentences, ranking=renamed, title=f"{meaning}, largest first:")


def _ranked_means(table: pd.DataFrame, headline: Headline) -> pd.DataFrame:
    """Return the mean of the headline's column, `number`, by subject, largest first."""
    if headline.rows:
        rows = headline.rows(table)
    else:
        rows = table
    if "minus" in rows:
        rows = rows[rows["minus"] == ""]
    subjects = next(
        list(columns) for columns in _SUBJECTS if set(columns) <= set(rows.columns)
    )
    rows = rows.assign(number=rows[headline.column].astype(float))
    groups = rows.groupby(subjects, sort=False)["number"]
    if table.attrs["function"] == "tie_audit" and "query_id" in rows:
        # Values that ties do not move have no row.
        means = groups.sum() / table.attrs["queries"]
    else:
        means = groups.mean()
    return means.sort_values(ascending=False, kind="stable").reset_index()


def _extremes(ranking: pd.DataFrame, headline: Headline) -> list[str]:
    """Return the subjects with the largest and the smallest number, in words."""
    subjects = [str(column) for column in ranking.columns if column != "number"]
    if subjects[0].endswith("_a"):
        joint = " with "
    else:
        joint = " by " if subjects == ["run", "measure"] else " for "
    rows = ranking.dropna().to_dict("records")
    ends = [*rows[:1], *rows[1:][-1:]]
    extremes = []
    for end, row in zip((headline.largest, headline.smallest), ends, strict=False):
        extremes.append(
            f"{end} {joint.join(str(row[subject]) for subject in subjects)} "
            f"({format_number(row['number'], 4)})"
        )
    return extremes


def introduction(table: pd.DataFrame) -> str:
    """Return what was studied on which data."""
    facts = []
    for name, noun in (("measures", "measure"), ("runs", "run")):
        size = _number_of(table, name, noun)
        if size:
            facts.append(count(size, noun))
    if isinstance(table.attrs.get("queries"), int):
        facts.append(count(table.attrs["queries"], "query"))
    if not facts:
        facts.append(count(len(table), "row"))
    return f"{table.attrs['function']}: {listed(facts)}."


def _number_of(table: pd.DataFrame, name: str, column: str) -> int:
    """Return how many runs or measures were studied, 0 if the table does not say."""
    recorded_names = table.attrs.get(name)
    if recorded_names is not None:
        return len(recorded_names)
    if column in table:
        return table[column].nunique()
    return 0


RECORDS["tie_audit"] = Record(
    "tie_audit",
    "How far documents of equal score could move the values",
    Headline(
        "range",
        "how far ties can move the mean",
        "most",
        "least",
        rows=lambda table: table.assign(range=table["highest"] - table["lowest"]),
    ),
)
