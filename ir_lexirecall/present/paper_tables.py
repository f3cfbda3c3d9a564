"""Tables of a comparison for papers, in LaTeX and Markdown."""

from __future__ import annotations

import itertools
import string
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ir_lexirecall._util.errors import check_choice
from ir_lexirecall.comparison import Comparison
from ir_lexirecall.comparison.verdicts import p_of_verdict
from ir_lexirecall.present import text as texts
from ir_lexirecall.present.caveats import losses_on_unseen_queries, shared_words
from ir_lexirecall.present.comparisons import signed, verdict_cell
from ir_lexirecall.present.standings import (
    SIGNS,
    Standing,
    about_bounds,
    criteria_captions,
    defined,
    direction_words,
    display_name,
    families_words,
    how_all_compared,
    missing_shares,
    missing_words,
    not_bounded_words,
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
from ir_lexirecall.present.text import count, gathered, listed
from ir_lexirecall.significance.closed_form import SIGN
from ir_lexirecall.significance.outcomes import MEAN_DIFFERENCE

TABLES = ("means", "differences")
_ESTIMATES = {
    MEAN_DIFFERENCE: "mean differences",
    SIGN.estimate: f"{SIGN.effect}, a share of the decided queries, not of all",
}
"""What the numbers in a table of differences are, by what the test estimates."""


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
        signs = []
        for run in result.runs:
            signs.append(SIGNS.get(verdicts.on(run, result.baseline) or "", ""))
        marks[name] = [
            best + sign for best, sign in zip(marks[name], signs, strict=True)
        ]
    return marks


def _numbers_of(result: Comparison, name: str) -> dict[str, float]:
    """Return the number of each run in the table of means.

    It is the mean of a measure. It is the mean preference against the baseline, which is 0 for
    the baseline itself, or against all other runs if there is no baseline.
    """
    criterion = result.compared.by[name]
    if criterion.is_measure or result.baseline is None or name not in defined(result):
        return dict(zip(result.runs, criterion.means.tolist(), strict=True))
    difference_of_run = result.table(name).set_index("run_a")["difference"]
    return {run: difference_of_run.get(run, 0.0) for run in result.runs}


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
            ``"differences"``: a row per criterion and pair with difference, interval and p; with a
            margin, p is that of the verdict, which follows with its bound.
        caption: the first sentence of the caption; by default what was compared.
    """
    check_choice("columns", columns, TABLES)
    standings = {standing.name: standing for standing in standings_of(result)}
    if columns == "differences":
        shown = _differences(result, standings, places, holds=holds)
        notes = _notes_on_differences(result, standings)
    else:
        shown = _means(result, standings, places, holds=holds)
        notes = _notes_on_means(result, standings)
    notes = [*careful_notes(shared_words(result)), *notes]
    if standings:
        notes += texts.sentences(families_words(result))
    if holds:
        notes += _notes_on_daggers(result, standings)
    else:
        notes += texts.sentences(undone_words(result))
    criteria = dict(result.compared.by)
    # Differences show the estimate of a sign test, not all queries won.
    if columns == "differences":
        for name, standing in standings.items():
            if (
                not standing.criterion.is_measure
                and standing.estimate != MEAN_DIFFERENCE
            ):
                del criteria[name]
    notes += criteria_captions(criteria, _rivals(result, columns))
    if caption is None:
        title = _caption(result, columns)
    else:
        title = caption
    return Shown(shown, title, notes)


def careful_notes(shared: str) -> list[str]:
    """Return that runs hardly share queries, as a note; none if they share most of them."""
    if not shared:
        return []
    return [f"Careful: {shared}."]


def undone_words(result: Comparison) -> str:
    """Return how many marked differences unjudged documents might undo; empty if none."""
    n_marked = n_unsure = 0
    for standing in standings_of(result):
        n_marked += sum(
            verdict in SIGNS for verdict in standing.verdicts.pairs.values()
        )
        n_unsure += len(standing.unsure or [])
    if not n_unsure:
        return ""
    marked = count(n_marked, "marked difference")
    return f"unjudged documents might undo {n_unsure:,} of {marked}"


def _rivals(result: Comparison, columns: str) -> str:
    """Return which runs the preferences of a table are against."""
    if columns == "differences":
        return ""
    if result.baseline is not None:
        return f"against {result.baseline}"
    if len(result.runs) == 2:
        return "against the other run"
    return "mean over all other runs"


def _caption(result: Comparison, columns: str) -> str:
    """Return what a table shows, and on how many queries of which collection."""
    where = ""
    if result.compared.source:
        where = f" of {result.compared.source}"
    n_queries = count(len(result.query_ids), result.compared.unit)
    return f"{columns.capitalize()} on {n_queries}{where}."


# -- means -----------------------------------------------------------------------------------------


def _means(
    result: Comparison, standings: Mapping[str, Standing], places: int, *, holds: bool
) -> list[Column]:
    """Return the columns of means, with their marks."""
    runs = _rows_of_means(result, standings)
    columns = []
    letters: dict[str, str] = {}
    if result.baseline is None and len(runs) > 1:
        letters = dict(zip(runs, _letters(), strict=False))
        columns.append(Column("", list(letters.values())))
    columns.append(Column("run", runs))
    marks = marks_of(result)
    for name, criterion in result.compared.by.items():
        sign_of_run = dict(zip(result.runs, marks[name], strict=True))
        raised = _raised_marks(standings.get(name), runs, letters, holds=holds)
        shown_marks = [sign_of_run[run] + raised.get(run, "") for run in runs]
        number_of_run = _numbers_of(result, name)
        cells = [texts.format_number(number_of_run[run], places) for run in runs]
        head = display_name(name, result) + direction_words(criterion)
        columns.append(Column(head, cells, numeric=True, marks=shown_marks))
    shares = missing_shares(result, runs)
    if shares:
        columns.append(Column("missing", shares, numeric=True))
    return columns


def _raised_marks(
    standing: Standing | None,
    runs: Sequence[str],
    letters: Mapping[str, str],
    *,
    holds: bool,
) -> dict[str, str]:
    """Return the letters of beaten runs or, with a baseline, daggers, by run.

    Args:
        standing: how the runs stand by a criterion; None if the criterion is not defined.
        runs: the rows of the table.
        letters: of the runs; empty if there is a baseline.
        holds: whether daggers are shown.
    """
    if standing is None:
        return {}
    if letters:
        return _letter_marks(standing, letters, holds=holds)
    if holds:
        return _daggers(standing, runs)
    return {}


def _rows_of_means(result: Comparison, standings: Mapping[str, Standing]) -> list[str]:
    """Return the runs, best first by the first criterion that is defined."""
    return result.ranking(next(iter(standings), None))["run"].tolist()


def _notes_on_means(result: Comparison, standings: Mapping[str, Standing]) -> list[str]:
    """Return what the marks of a table of means stand for."""
    notes = []
    if any(BEST in mark for of_runs in marks_of(result).values() for mark in of_runs):
        notes.append("Bold: the best of its column.")
    notes += texts.sentences(missing_words(result))
    if len(result.runs) > 1 and standings:
        signs = "Raised: significantly better than the runs of these letters"
        if result.baseline is not None:
            signs = f"+, -: significantly better, worse than {result.baseline}"
        notes.append(f"{signs} ({how_all_compared(result, list(standings))}).")
    return notes


def _letters() -> Iterator[str]:
    """Yield a, b, ... z, aa, ab, ..., as spreadsheets name their columns."""
    for length in itertools.count(1):
        for letters in itertools.product(string.ascii_lowercase, repeat=length):
            yield "".join(letters)


def _letter_marks(
    standing: Standing, letters: Mapping[str, str], *, holds: bool
) -> dict[str, str]:
    """Return, for each run, the letters of the runs that it is significantly better than."""
    runs = list(letters)
    separator = "" if len(runs) <= len(string.ascii_lowercase) else ","
    unsure = _pairs_with_dagger(standing, holds=holds)
    marks = {}
    for run in runs:
        beaten = standing.verdicts.beaten(run, runs)
        marks[run] = separator.join(
            letters[other] + DAGGER * ({run, other} in unsure) for other in beaten
        )
    return marks


def _pairs_with_dagger(standing: Standing, *, holds: bool) -> list[set[str]]:
    """Return the pairs whose difference unjudged documents might undo; none unless ``holds``."""
    if holds:
        return standing.unsure or []
    return []


def _daggers(standing: Standing, runs: Sequence[str]) -> dict[str, str]:
    """Return a dagger for each run whose difference to the baseline might be undone."""
    unsure = _pairs_with_dagger(standing, holds=True)
    return {run: DAGGER * ({run, standing.result.baseline} in unsure) for run in runs}


def _notes_on_daggers(
    result: Comparison, standings: Mapping[str, Standing]
) -> list[str]:
    """Return what daggers mean, and by which criteria nothing is bounded."""
    depth_of: dict[str, int | None] = {}
    unbounded = []
    for name, standing in standings.items():
        if standing.unsure:
            depth_of[name], _ = result.missing.holds(name)
        if standing.is_unbounded:
            unbounded.append(name)
    notes = [dagger_note(depth_of)] if depth_of else []
    if unbounded:
        notes.append(not_bounded_words(unbounded))
    return notes


# -- differences -----------------------------------------------------------------------------------


def _differences(
    result: Comparison, standings: Mapping[str, Standing], places: int, *, holds: bool
) -> list[Column]:
    """Return the columns of differences with interval and p.

    What all rows share has no column: a single criterion, the baseline, a single pair of runs. The
    caption says it.
    """
    rows: list[_DifferenceRow] = []
    for standing in standings.values():
        rows += _rows_of_differences(standing, places, holds=holds)
    cells = {
        name: [row[i] for row in rows] for i, name in enumerate(_DifferenceRow._fields)
    }
    columns = []
    if len(standings) > 1:
        has_blocks = len(result.pairs) > 1
        columns.append(Column("criterion", cells["criterion"], names_blocks=has_blocks))
    if len(result.runs) != 2:
        columns.append(Column("run", cells["run"]))
        if result.baseline is None:
            columns.append(Column("baseline", cells["baseline"]))
    level = texts.confidence_words(result.provenance)
    columns += [
        Column("difference", cells["difference"], numeric=True, marks=cells["mark"]),
        Column(f"{level} interval", cells["interval"]),
        Column("p", cells["p"], numeric=True, is_p=True),
    ]
    if result.compared.margins is not None:
        columns.append(Column("verdict", cells["verdict"]))
    return columns


class _DifferenceRow(NamedTuple):
    """Cells of a pair of runs in a table of differences."""

    criterion: str
    run: str
    baseline: str
    difference: str
    interval: str
    p: str  # that of the verdict
    mark: str
    verdict: str  # with a margin also the bound that decides it


def _rows_of_differences(
    standing: Standing, places: int, *, holds: bool
) -> Iterator[_DifferenceRow]:
    """Yield the row of each pair by a criterion."""
    result = standing.result
    unsure = _pairs_with_dagger(standing, holds=holds)
    has_margin = standing.margin is not None
    for _, row in result.table(standing.name).iterrows():
        dagger = ""
        if {row["run_a"], row["run_b"]} in unsure:
            dagger = DAGGER
        yield _DifferenceRow(
            standing.label,
            row["run_a"],
            row["run_b"],
            signed(row["estimate"], places),
            texts.interval(row["ci_low"], row["ci_high"], places),
            texts.format_p(
                p_of_verdict(row, has_margin=has_margin), standing.test.alpha
            ),
            SIGNS.get(row["verdict"], "") + dagger,
            verdict_cell(standing, row),
        )


def _notes_on_differences(
    result: Comparison, standings: Mapping[str, Standing]
) -> list[str]:
    """Return what was subtracted, what the signs mean, and what the intervals are of."""
    if not standings or len(result.runs) < 2:
        return []
    notes = []
    baseline = result.baseline or "the run in the column baseline"
    if len(result.runs) == 2:
        run, baseline = result.pairs[0]
        notes.append(f"Differences are {run} minus {baseline}.")
    how = how_all_compared(result, list(standings))
    notes.append(f"+, -: better, worse than {baseline} ({how}).")
    if result.compared.margins is not None:
        notes += texts.sentences(about_bounds(result, standings.values()))
        notes += losses_on_unseen_queries(result, list(standings.values()))
    notes += _notes_on_estimates(standings.values())
    return notes


def _notes_on_estimates(standings: Iterable[Standing]) -> Iterator[str]:
    """Yield what differences and intervals are of, for the criteria of each estimate.

    Nothing, if all are of means: that is what readers expect.
    """
    names_of = gathered(
        (standing.estimate, standing.label)
        for standing in standings
        if standing.criterion.is_measure or standing.estimate != MEAN_DIFFERENCE
    )
    if not set(names_of) - {MEAN_DIFFERENCE}:
        return
    for estimate, names in names_of.items():
        yield f"For {listed(names)}: {_ESTIMATES.get(estimate, estimate)}."
