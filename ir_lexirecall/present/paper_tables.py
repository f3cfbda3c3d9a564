"""Tables of a comparison for papers, in LaTeX and Markdown."""

from __future__ import annotations

import itertools
import string
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from ir_lexirecall._util.errors import check_choice
from ir_lexirecall.comparison import Comparison
from ir_lexirecall.comparison.verdicts import NOT_BOUNDED
from ir_lexirecall.present import text as texts
from ir_lexirecall.present.comparisons import signed
from ir_lexirecall.present.standings import (
    SIGNS,
    Standing,
    criteria_captions,
    defined,
    direction_words,
    display_name,
    families_words,
    how_compared,
    missing_shares,
    missing_words,
    standings_of,
)
from ir_lexirecall.present.tables import (
    BEST,
    DAGGER,
    PLACES,
    Column,
    Shown,
    best_marks,
    dagger_note,
)
from ir_lexirecall.present.text import count, listed

TABLES = ("means", "differences")


def marks_of(result: Comparison) -> dict[str, list[str]]:
    """Return marks beside the numbers of each criterion, in the order of the runs.

    They are ``*`` for the best number, and ``+`` and ``-`` by the verdicts.
    """
    marks, tested = {}, defined(result)
    for name, criterion in result.compared.by.items():
        numbers = _numbers_of(result, name).values()
        marks[name] = best_marks(numbers, smaller_is_better=criterion.smaller_is_better)
        if result.baseline is None or name not in tested:
            continue
        verdicts = result.tests.verdicts_by(name)
        signs = [SIGNS.get(verdicts.on(run, result.baseline) or "", "") for run in result.runs]
        marks[name] = [best + sign for best, sign in zip(marks[name], signs, strict=True)]
    return marks


def _numbers_of(result: Comparison, name: str) -> dict[str, float]:
    """Return the number of each run in the table of means.

    It is the mean of a measure. It is the mean preference against the baseline, which is 0 for
    the baseline itself, or against all other runs if there is no baseline.
    """
    criterion = result.compared.by[name]
    if criterion.is_measure or result.baseline is None or name not in defined(result):
        return dict(zip(result.runs, criterion.means.tolist(), strict=True))
    differences = result.table(name).set_index("run_a")["difference"]
    return {run: 0.0 if run == result.baseline else float(differences[run]) for run in result.runs}


def comparison_table(
    result: Comparison,
    places: int = PLACES,
    *,
    holds: bool = False,
    columns: str = "means",
    caption: str | None = None,
) -> Shown:
    """Return a table for a paper.

    Args:
        result: the comparison.
        places: decimal places.
        holds: mark with a dagger the differences that unjudged documents might undo.
        columns: ``"means"``: a row per run, best first by the first criterion, a column per
            criterion, marked by the verdicts; with a baseline ``+`` and ``-`` are raised, without
            one the letters of the runs that each one is significantly better than.
            ``"differences"``: a row per criterion and pair with difference, interval and p.
        caption: the first sentence of the caption; by default what was compared.
    """
    check_choice("columns", columns, TABLES)
    title = caption
    if title is None:
        where = f" of {result.compared.source}" if result.compared.source else ""
        title = f"{columns.capitalize()} on {count(len(result.query_ids), result.compared.unit)}{where}."
    standings = {standing.name: standing for standing in standings_of(result)}
    table = _differences if columns == "differences" else _means
    shown, notes = table(result, standings, places, holds=holds)
    corrected = families_words(result).removeprefix("each criterion tested by itself; ")
    if standings and corrected:  # the sentence on the test ends with "each criterion by itself"
        notes.append(f"{corrected[0].upper()}{corrected[1:]}.")
    if holds:
        notes += _notes_on_daggers(result, standings)
    notes += criteria_captions(result.compared.by, _rivals(result, columns))
    return Shown(shown, title, notes)


def _rivals(result: Comparison, columns: str) -> str:
    """Return which runs the preferences of a table are against."""
    if columns == "differences":
        return ""
    if result.baseline is not None:
        return f"against {result.baseline}"
    return "against the other run" if len(result.runs) == 2 else "mean over all other runs"


# -- means -----------------------------------------------------------------------------------------


def _means(
    result: Comparison, standings: Mapping[str, Standing], places: int, *, holds: bool
) -> tuple[list[Column], list[str]]:
    """Return the columns of means, and notes on their marks."""
    runs = list(map(str, result.ranking(next(iter(standings), None))["run"]))
    is_lettered = result.baseline is None and len(runs) > 1
    letters = dict(zip(runs, _letters(), strict=False))
    columns = [Column("", list(letters.values()))] if is_lettered else []
    columns.append(Column("run", runs))
    marks, is_any_best = marks_of(result), False
    for name, criterion in result.compared.by.items():
        signs = dict(zip(result.runs, marks[name], strict=True))
        is_any_best |= any(BEST in sign for sign in signs.values())
        standing = standings.get(name)
        if standing is not None:
            raised = _letter_marks(standing, letters, holds=holds) if is_lettered else {}
            daggers = {} if is_lettered or not holds else _daggers(standing, runs)
            signs = {run: signs[run] + raised.get(run, "") + daggers.get(run, "") for run in runs}
        numbers = _numbers_of(result, name)
        cells = [texts.format_number(numbers[run], places) for run in runs]
        head = display_name(name, result) + direction_words(criterion)
        columns.append(Column(head, cells, numeric=True, marks=[signs[run] for run in runs]))
    if shares := missing_shares(result, runs):
        columns.append(Column("missing", shares, numeric=True))
    notes = ["Bold: the best of its column."] if is_any_best else []
    if missing := missing_words(result):
        notes.append(f"{missing[0].upper()}{missing[1:]}.")
    if len(runs) > 1 and standings:
        raised_note = "Raised: significantly better than the runs of these letters"
        if result.baseline is not None:
            raised_note = f"+, -: significantly better, worse than {result.baseline}"
        notes.append(f"{raised_note} ({how_compared(result, list(standings))}).")
    return columns, notes


def _letters() -> Iterator[str]:
    """Yield a, b, ... z, aa, ab, ..., as spreadsheets name their columns."""
    for length in itertools.count(1):
        for letters in itertools.product(string.ascii_lowercase, repeat=length):
            yield "".join(letters)


def _letter_marks(standing: Standing, letters: Mapping[str, str], *, holds: bool) -> dict[str, str]:
    """Return, for each run, the letters of the runs that it is significantly better than."""
    runs = list(letters)
    separator = "" if len(runs) <= len(string.ascii_lowercase) else ","
    unsure = (standing.unsure or []) if holds else []
    marks = {}
    for run in runs:
        beaten = standing.verdicts.beaten(run, runs)
        marks[run] = separator.join(
            letters[other] + DAGGER * ({run, other} in unsure) for other in beaten
        )
    return marks


def _daggers(standing: Standing, runs: Sequence[str]) -> dict[str, str]:
    """Return a dagger for each run whose difference to the baseline might be undone."""
    unsure = standing.unsure or []
    return {run: DAGGER * ({run, standing.result.baseline} in unsure) for run in runs}


def _notes_on_daggers(result: Comparison, standings: Mapping[str, Standing]) -> list[str]:
    """Return what daggers mean, and by which criteria nothing is bounded."""
    depth_of: dict[str, int | None] = {}
    unbounded = []
    for name, standing in standings.items():
        depth, held = result.missing.holds(name)
        if standing.unsure:
            depth_of[name] = depth
        if standing.unsure is None and standing.verdicts.decided and NOT_BOUNDED in held:
            unbounded.append(name)
    notes = [dagger_note(depth_of)] if depth_of else []
    if unbounded:
        notes.append(f"What unjudged documents could change is not bounded by {listed(unbounded)}.")
    return notes


# -- differences -----------------------------------------------------------------------------------


def _differences(
    result: Comparison, standings: Mapping[str, Standing], places: int, *, holds: bool
) -> tuple[list[Column], list[str]]:
    """Return the columns of differences with interval and p, and notes on them.

    A column whose cells are all the same is left out; the caption says what it would say.
    """
    level = texts.confidence_words(result.provenance)
    heads = ["criterion", "run", "baseline", "difference", f"{level} interval", "p"]
    rows: list[list[str]] = []
    marks: list[str] = []
    for name, standing in standings.items():
        unsure = (standing.unsure or []) if holds else []
        for row in result.table(name).itertuples():
            rows.append(_difference_cells(display_name(name, result), row, standing, places))
            marks.append(_difference_mark(row, unsure))
    left_out = _heads_left_out(result, standings)
    columns = [
        Column(
            head,
            [cells[i] for cells in rows],
            numeric=head in ("difference", "p"),
            is_p=head == "p",
            marks=marks if head == "difference" else (),
        )
        for i, head in enumerate(heads)
        if head not in left_out
    ]
    return columns, _notes_on_differences(result, standings)


def _difference_cells(name: str, row: Any, standing: Standing, places: int) -> list[str]:
    """Return the cells of a pair: criterion, both runs, difference, interval and p."""
    estimate = row.estimate if standing.criterion.is_measure else row.difference
    return [
        name,
        str(row.run_a),
        str(row.run_b),
        signed(float(estimate), places),
        texts.interval(row.ci_low, row.ci_high, places),
        texts.format_p(float(row.p_corrected)),
    ]


def _difference_mark(row: Any, unsure: Sequence[Collection[str]]) -> str:
    """Return the sign of a verdict, and a dagger if unjudged documents might undo it."""
    return SIGNS.get(str(row.verdict), "") + DAGGER * ({row.run_a, row.run_b} in unsure)


def _heads_left_out(result: Comparison, standings: Mapping[str, Standing]) -> set[str]:
    """Return the heads of the columns that would be the same in every row."""
    left_out = set()
    if len(standings) < 2:
        left_out.add("criterion")
    if result.baseline is not None:
        left_out.add("baseline")
    if len(result.runs) == 2:
        left_out |= {"run", "baseline"}
    return left_out


def _notes_on_differences(result: Comparison, standings: Mapping[str, Standing]) -> list[str]:
    """Return what was subtracted, what the signs mean, and what the intervals are of."""
    if not standings or len(result.runs) < 2:
        return []
    notes = []
    other = result.baseline or "the run of the second column"
    if len(result.runs) == 2:
        (run, other) = result.pairs[0]
        notes.append(f"Differences are {run} minus {other}.")
    notes.append(f"+, -: better, worse than {other} ({how_compared(result, list(standings))}).")
    kinds = {standing.estimate for standing in standings.values()} - {"mean difference"}
    if kinds:
        notes.append(f"Intervals are of what the test estimates ({listed(sorted(kinds))}).")
    return notes
