"""Tables of a comparison for papers, in LaTeX and Markdown."""

from __future__ import annotations

import itertools
import string
from collections.abc import Iterator, Mapping, Sequence

from ir_lexirecall._util.errors import check_choice
from ir_lexirecall.comparison import Comparison
from ir_lexirecall.comparison.verdicts import NOT_BOUNDED
from ir_lexirecall.present import text as texts
from ir_lexirecall.present.comparisons import signed
from ir_lexirecall.present.standings import (
    MISSING,
    SIGNS,
    Standing,
    criteria_captions,
    defined,
    direction_words,
    display_name,
    families_words,
    how_compared,
    missing_shares,
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
    """Return marks beside the means of each criterion, in the order of the runs.

    They are ``*`` for the best mean, and ``+`` and ``-`` by the verdicts.
    """
    marks, tested = {}, defined(result)
    for name, criterion in result.compared.by.items():
        marks[name] = best_marks(criterion.means, smaller_is_better=criterion.smaller_is_better)
        if result.baseline is None or name not in tested:
            continue
        verdicts = result.tests.verdicts_by(name)
        signs = [SIGNS.get(verdicts.on(run, result.baseline) or "", "") for run in result.runs]
        marks[name] = [best + sign for best, sign in zip(marks[name], signs, strict=True)]
    return marks


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
    if len(result.runs) > 1 and standings:
        notes += [f"{words[0].upper()}{words[1:]}." for words in [families_words(result)] if words]
    if holds:
        notes += _notes_on_daggers(result, standings)
    return Shown(shown, title, [*notes, *criteria_captions(result.compared.by)])


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
        means = dict(zip(result.runs, criterion.means.tolist(), strict=True))
        cells = [texts.format_number(means[run], places) for run in runs]
        head = display_name(name, result) + direction_words(criterion)
        columns.append(Column(head, cells, numeric=True, marks=[signs[run] for run in runs]))
    if shares := missing_shares(result, runs):
        columns.append(Column("missing", shares, numeric=True))
    notes = ["Bold: the best of its column."] if is_any_best else []
    notes += [f"{MISSING[:1].upper()}{MISSING[1:]}."] if shares else []
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
    """Return the columns of differences with interval and p, and notes on them."""
    level = texts.confidence_words(result.provenance)
    heads = ["criterion", "run", "baseline", "difference", f"{level} interval", "p"]
    cells: dict[str, list[str]] = {head: [] for head in heads}
    marks = []
    for name, standing in standings.items():
        unsure = (standing.unsure or []) if holds else []
        for row in result.table(name).itertuples():
            estimate = float(row.estimate) if standing.criterion.is_measure else row.difference
            values = [
                display_name(name, result),
                str(row.run_a),
                str(row.run_b),
                signed(float(estimate), places),
                texts.interval(row.ci_low, row.ci_high, places),
                texts.format_p(float(row.p_corrected)),
            ]
            for head, value in zip(heads, values, strict=True):
                cells[head].append(value)
            sign = SIGNS.get(str(row.verdict), "")
            marks.append(sign + DAGGER * ({row.run_a, row.run_b} in unsure))
    columns = [
        Column(head, cells[head], numeric=head in ("difference", "p"), is_p=head == "p")
        for head in heads
        if len(standings) > 1 or head != "criterion"
    ]
    columns[-3] = Column("difference", cells["difference"], numeric=True, marks=marks)
    if result.baseline is not None:
        columns = [column for column in columns if column.head != "baseline"]
    if not standings or len(result.runs) < 2:
        return columns, []
    other = result.baseline or "the run of the second column"
    notes = [f"+, -: better, worse than {other} ({how_compared(result, list(standings))})."]
    kinds = {standing.estimate for standing in standings.values()} - {"mean difference"}
    if kinds:
        notes.append(f"Intervals are of what the test estimates ({listed(sorted(kinds))}).")
    return columns, notes
