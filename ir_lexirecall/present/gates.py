"""What a gate says: Markdown for a pull request, plain text for a terminal, JSON for programs."""

from __future__ import annotations

import itertools
import json
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.selecting import among
from ir_lexirecall.comparison.gating import Gate
from ir_lexirecall.comparison.verdicts import (
    BETTER,
    NOT_BOUNDED,
    UNDECIDED,
    UNDONE,
    WORSE,
)
from ir_lexirecall.present import text as texts
from ir_lexirecall.present.caveats import (
    IDENTICAL,
    MIGHT_BE_UNDONE,
    caveats_without,
    losses_on_unseen_queries,
    shared_words,
)
from ir_lexirecall.present.comparisons import (
    POWER,
    about_predictions,
    planned_queries,
    signed,
    signed_beside,
)
from ir_lexirecall.present.findings import grouped
from ir_lexirecall.present.glance import (
    COMMAND,
    LINES,
    PLACES,
    Glance,
    Group,
    Part,
    glance_markdown,
    glance_text,
)
from ir_lexirecall.present.standings import (
    allowance_of_bounds,
    is_below_margin,
    loss_cell,
    standings_of,
)
from ir_lexirecall.present.tables import Shown, plain
from ir_lexirecall.significance.outcomes import MEAN_DIFFERENCE

MOST_LOST = 10  # queries that a summary lists
_FEWEST_LOST = 3  # the same on a screen that is full
UNKNOWN_FILES = ("QRELS", "RUN", "RUN")
"""What stands for the judgments and the two runs where no files of them are known."""
_ABOUT_LEVELS = (
    "Level i is the i-th relevant document that a run retrieves. At the level that decided, the "
    "better run has it at a smaller rank, or the other run has none (-)."
)
_DECIDED = {
    "level": "decided at level",
    "doc_id": "document",
    "rank_b": "its rank, {baseline}",
    "rank_a": "rank, {candidate}",
    "levels_b": "levels ahead, {baseline}",
    "levels_a": "levels ahead, {candidate}",
    "value_b": "value, {baseline}",
    "value_a": "value, {candidate}",
}
"""Titles of the columns of ``Comparison.explain``, for the candidate (a) and the baseline (b)."""


def gate_text(
    gate: Gate,
    most: int = MOST_LOST,
    *,
    markdown: bool = True,
    files: Sequence[str] = UNKNOWN_FILES,
) -> str:
    """Return the summary: the verdict on every criterion, the queries that lost most, the caveats.

    Args:
        gate: what to summarise.
        most: how many lost queries to list, at most.
        markdown: Markdown for a pull request; otherwise plain text for a terminal.
        files: judgments, runs and options of a command line that reads them again.
    """
    glance = gate_glance(gate, most, files)
    if markdown:
        return glance_markdown(glance)
    return glance_text(glance, all_notes=True)


def gate_screen(gate: Gate, width: int, files: Sequence[str] = UNKNOWN_FILES) -> str:
    """Return the summary for a terminal, with as many lost queries as fit a screen.

    Args:
        gate: what to summarise.
        width: columns of the terminal.
        files: as in `gate_text`.
    """
    for most in range(MOST_LOST, _FEWEST_LOST - 1, -1):
        glance = gate_glance(gate, most, files)
        text = glance_text(glance, width, all_notes=True, options=True)
        if text.count("\n") < LINES:
            break
    return text


def gate_glance(
    gate: Gate, most: int = MOST_LOST, files: Sequence[str] = UNKNOWN_FILES
) -> Glance:
    """Return a gate at a glance: a row per criterion, the bound that decides, the verdict."""
    alpha = level_of_all(gate)
    notes = []
    for one in _gates_of(gate):
        hidden = [MIGHT_BE_UNDONE]
        if one.unchanged:  # identical rankings show nothing about losses
            hidden.append(IDENTICAL)
        notes += caveats_without(one.comparison, hidden)
    details = []
    if gate.release is not None:
        details.append(
            (f"{headline(gate.release)}:", _release_table(gate.release, alpha))
        )
    lost = _lost(gate, most)
    return Glance(
        headline(gate),
        rows=gate.table["criterion"].tolist(),
        groups=_groups(gate, alpha),
        legend=[*_legend(gate)],
        unjudged=_unjudged_of_all(gate),
        remarks=[
            *about_predictions(gate.comparison, standings_of(gate.comparison)),
            *_would_decide(gate, files),
            *_would_decide_release(gate),
            *([str(gate.look)] if gate.look is not None else []),
        ],
        notes=grouped(notes),
        kept=gate.table["criterion"].tolist(),
        row_head="criterion",
        details=[*details, *lost],
    )


def _gates_of(gate: Gate) -> list[Gate]:
    """Return a gate, and that against the last release if there is one."""
    if gate.release is None:
        return [gate]
    return [gate, gate.release]


def _lost(gate: Gate, most: int) -> list[tuple[str, Shown]]:
    """Return how many queries the candidate loses by the first criterion, and the worst ones."""
    lost, first = gate.lost(), gate.comparison.criteria[0]
    if not len(lost):
        return []
    queries = texts.count(len(gate.comparison.compared.by[first].query_ids), "query")
    shown = lost.head(most)
    title = f"By {first}, {gate.candidate} loses {len(lost)} of {queries}"
    if not most:
        return [(f"{title}.", Shown([]))]
    if len(shown) < len(lost):
        title += f" ({len(shown)} {'is' if len(shown) == 1 else 'are'} shown)"
    names = {"baseline": gate.baseline, "candidate": gate.candidate}
    columns = {"query": shown["query_id"]}
    for column, head in _DECIDED.items():
        if column in shown:
            columns[head.format(**names)] = shown[column]
    notes = [_ABOUT_LEVELS] if "level" in shown else []
    return [(f"{title}:", replace(Shown.from_frame(columns), notes=notes))]


def headline(gate: Gate) -> str:
    """Return the outcome in a sentence, with a warning if the runs hardly share queries."""
    sentence = f"{_outcome_word(gate)}: {_outcome(gate)}"
    shared = shared_words(gate.comparison)
    if shared:
        sentence += f"; {shared}"
    if gate.exit_code:
        return f"{sentence} (exit {gate.exit_code})"
    if _outcome_word(gate) == "UNDECIDED":
        return f"{sentence} (passes without --strict)"
    return sentence


def _outcome_word(gate: Gate) -> str:
    """Return `FAILED`, `UNDECIDED` or `PASSED` for a gate and that against the last release.

    A gate that is undecided passes unless its rule is `strict`.
    """
    if any(one.failed for one in _gates_of(gate)):
        return "FAILED"
    if gate.rule != "drop" and any(one.undecided for one in _gates_of(gate)):
        return "UNDECIDED"
    return "PASSED"


def _outcome(gate: Gate) -> str:
    """Return the outcome in words; a candidate is called worse only with evidence."""
    baseline, candidate = gate.baseline, gate.candidate
    if gate.failed and gate.rule == "drop":
        return f"{candidate} against {baseline}: {'; '.join(_drops(gate))}"
    if gate.failed:
        return f"{candidate} is worse than {baseline} by {texts.listed(_losses(gate))}"
    if gate.release is not None and _decides(gate.release, gate):
        return _outcome(gate.release)
    if gate.unchanged:
        queries = texts.count_all(len(gate.comparison.query_ids), "query")
        return (
            f"nothing changed: {candidate} retrieves the same documents as {baseline}, "
            f"at the same ranks, on {queries}"
        )
    if gate.rule == "drop":
        fell = "no mean fell by more than its margin"
        if gate.comparison.compared.predicted is not None:
            fell = "no prediction-powered loss exceeds its margin"
        return f"{candidate} against {baseline}: {fell}"
    if gate.undecided:
        by = texts.listed(gate.undecided)
        sentence = (
            f"{candidate} is not shown to be worse than {baseline}; undecided by {by}"
        )
        undone = undone_losses(gate)
        if undone:
            sentence += "; unjudged documents could undo the loss"
        if undone and undone != gate.undecided:
            sentence += f" by {texts.listed(undone)}"
        return sentence
    return f"{candidate} is not worse than {baseline} ({_margins(gate)})"


def _losses(gate: Gate) -> list[str]:
    """Return the criteria that fail, with the margin where the loss is shown to be below it."""
    names = []
    for row in gate.table[gate.table["fails"]].itertuples():
        if is_below_margin(row, gate.comparison.test.alpha):
            names.append(f"{row.criterion} (less than {row.margin:g})")
        else:
            names.append(row.criterion)
    return names


def _decides(release: Gate, gate: Gate) -> bool:
    """Return whether the release decides although the gate itself passes."""
    if release.failed:
        return True
    return bool(release.undecided) and not gate.undecided


def _margins(gate: Gate) -> str:
    """Return the margin in words, once if all criteria have the same."""
    margins = {row.criterion: f"{row.margin:g}" for row in gate.table.itertuples()}
    if len(set(margins.values())) == 1:
        return f"margin {margins[gate.comparison.criteria[0]]}"
    return f"margins: {texts.fact_words(margins)}"


def _drops(gate: Gate) -> list[str]:
    """Return, for each criterion that fails by the rule ``'drop'``, what was found."""
    facts, alpha = [], gate.comparison.test.alpha
    for row in gate.table[gate.table["fails"]].itertuples():
        criterion = gate.comparison.compared.by[row.criterion]
        if not criterion.is_measure:
            p = texts.p_words(row.p_corrected, alpha)
            facts.append(f"{row.criterion} significantly prefers {gate.baseline} ({p})")
            continue
        change = "rose by" if criterion.smaller_is_better else "fell by"
        change = f"mean {row.criterion} {change}"
        if gate.comparison.compared.predicted is not None:
            change = f"the prediction-powered loss of {row.criterion} is"
        size = _more_than(abs(row.difference), row.margin)
        facts.append(f"{change} {size}; {texts.p_words(row.p, alpha)}")
    return facts


def _more_than(loss: float, margin: float) -> str:
    """Return a loss and the smaller margin, with digits that show which is larger.

    >>> _more_than(0.0123, 0.01), _more_than(0.010004, 0.01)
    ('0.0123, more than 0.0100', '0.010004, more than 0.010000')
    """
    for places in range(4, 12):
        shown = [texts.format_number(x, places) for x in (loss, margin)]
        if float(shown[0]) > float(shown[1]):
            break
    return ", more than ".join(shown)


def level_of_all(gate: Gate) -> float:
    """Return the level that was asked for, which looks and baselines share: that of intervals."""
    if gate.look is not None:
        return gate.look.alpha
    return gate.comparison.test.alpha * (1 if gate.release is None else 2)


def _groups(gate: Gate, alpha: float) -> list[Group]:
    """Return the columns of the table of criteria.

    Args:
        gate: what was decided.
        alpha: 1 - confidence of the intervals; the test may have another level.
    """
    table = gate.table
    groups = [
        _column(gate.baseline, map(_mean_cell, table["mean_b"])),
        _column(gate.candidate, map(_mean_cell, table["mean_a"])),
        _column(
            "difference", map(_difference_cell, table["difference"], table["margin"])
        ),
        _interval_column(gate, alpha),
    ]
    if gate.rule != "drop":
        groups.append(_column("loses", _bounds_of_losses(gate)))
    groups += [
        _column("margin", (f"{x:g}" for x in table["margin"])),
        _column("worse: p", _worse_cells(gate), 2),
        _column("not worse: p", _not_worse_cells(gate), 2),
        _verdict_column(gate),
    ]
    return groups


def _column(head: str, cells: Iterable[str], importance: int = 0) -> Group:
    """Return a column of numbers that has one head."""
    return Group(head, [Part("", list(cells), importance)])


def _mean_cell(mean: Any) -> str:
    """Return a mean; ``-`` for a criterion that has none."""
    if pd.isna(mean):
        return "-"
    return texts.format_number(mean, PLACES)


def _worse_cells(gate: Gate) -> list[str]:
    """Return the p of *worse* by each criterion."""
    level = gate.comparison.test.alpha
    return [texts.format_p(p, level) for p in gate.table["worse_p"].astype(float)]


def _not_worse_cells(gate: Gate) -> list[str]:
    """Return the p of *not worse* by each criterion; ``-`` where *better* has a p of its own.

    Ties or skewness may keep the p of *not worse* above alpha where the two-sided test of the
    gain is significant. The legend gives the p of *better*.
    """
    cells = []
    for row in gate.table.itertuples():
        if row.verdict == BETTER:
            cells.append("-")
        else:
            cells.append(
                texts.format_p(float(row.not_worse_p), gate.comparison.test.alpha)
            )
    return cells


def _difference_cell(difference: float, margin: float) -> str:
    """Return a difference, on the side of the margin on which it lies."""
    return signed_beside(difference, margin, PLACES)


def _verdict_column(gate: Gate) -> Group:
    """Return the column of verdicts, with a mark where unjudged documents might undo one."""
    table, unsure = gate.table, _unsure(gate)
    signs = ["?" if name in unsure else "" for name in table["criterion"]]
    return Group("verdict", [Part("", _printed_verdicts(gate), numeric=False)], signs)


def _printed_verdicts(gate: Gate) -> list[str]:
    """Return what is said of each criterion: its verdict, if there is a change to judge."""
    table = gate.table
    if gate.unchanged:
        return ["unchanged"] * len(table)
    if gate.rule == "drop":
        return ["failed" if fails else "passed" for fails in table["fails"]]
    return table["verdict"].tolist()


def _interval_column(gate: Gate, alpha: float) -> Group:
    """Return the column of intervals, after the estimate where that is not the difference."""
    table = _table_at(gate, alpha)
    others = _other_estimates(gate)
    cells = []
    for row in table.itertuples():
        interval = texts.interval(row.ci_low, row.ci_high, PLACES)
        if row.criterion in others:
            cells.append(f"{signed(row.estimate, PLACES)} ({interval})")
        else:
            cells.append(interval)
    level = texts.confidence_words({"alpha": alpha})
    return _column(f"{level} interval", cells, 1)


def _table_at(gate: Gate, alpha: float) -> pd.DataFrame:
    """Return the table of criteria with two-sided intervals at 1 - alpha."""
    result = gate.comparison
    if alpha == result.test.alpha:
        return gate.table
    return result.with_test(replace(result.test, alpha=alpha)).table()


def _other_estimates(gate: Gate) -> dict[str, str]:
    """Return what the test estimates by each criterion for which that is not the difference."""
    compared, estimates = gate.comparison.compared, {}
    for name in gate.comparison.criteria:
        procedure = compared.test_of(name).procedure
        _, wins, losses, _ = compared.pair_counts(name)
        # A centre is that of the differences that are not 0: identical runs have none.
        has_estimate = procedure.of != "centre" or bool(np.any(wins + losses))
        if procedure.estimate != MEAN_DIFFERENCE and has_estimate:
            estimates[name] = procedure.estimate
    return estimates


def _bounds_of_losses(gate: Gate) -> list[str]:
    """Return the one-sided bound of the loss that decided by each criterion."""
    losses = {}
    for standing in standings_of(gate.comparison):
        for row in standing.row_of_run.values():
            losses[standing.name] = loss_cell(standing, row)
    return [losses.get(name, "-") for name in gate.table["criterion"]]


def _release_table(release: Gate, alpha: float) -> Shown:
    """Return the table of criteria of the second baseline."""
    columns: dict[str, Any] = {"criterion": release.table["criterion"].tolist()}
    for group in _groups(release, alpha):
        marks = group.marks or [""] * len(release.table)
        pairs = zip(group.parts[0].cells, marks, strict=True)
        columns[group.name] = [f"{cell} {mark}".strip() for cell, mark in pairs]
    return Shown.from_frame(columns)


def _unsure(gate: Gate) -> list[str]:
    """Return the criteria whose significant difference unjudged documents might undo.

    None by the rule ``'judged'``, which counts these documents as not relevant.
    """
    if gate.rule == "judged":
        return []
    table = gate.table
    return table["criterion"][table["holds"].isin([UNDONE, NOT_BOUNDED])].tolist()


def _legend(gate: Gate) -> Iterator[str]:
    """Yield how the criteria were tested, and what the bound is."""
    if gate.rule != "drop":
        allowance = allowance_of_bounds(standings_of(gate.comparison))
        yield f"loses: {_which_bound(gate)}{allowance}"
    if others := _other_estimates(gate):
        estimates = texts.listed(sorted(set(others.values())))
        names = texts.listed(others)
        yield f"intervals and bounds by {names}: of the test's estimate ({estimates})"
    result = gate.comparison
    tests = {name: result.compared.test_of(name) for name in result.criteria}
    corrected = ""
    if len(tests) > 1 and result.test.counted_correction:
        corrected = f"; worse is corrected over {len(tests):,} criteria"
        if gate.rule != "drop":
            corrected += ", its bound is not"
    how = texts.how_tested(
        tests,
        1,
        is_predicted=result.compared.predicted is not None,
        p_values=gate.table[["worse_p", "not_worse_p", "better_p"]].to_numpy().flat,
    )
    yield f"{how}; worse and not worse are one-sided{corrected}"
    better = gate.table[gate.table["verdict"] == BETTER]
    if len(better):
        p_values = [
            f"{row.criterion} ({texts.p_words(float(row.better_p), result.test.alpha)})"
            for row in better.itertuples()
        ]
        yield f"better is two-sided: {texts.listed(p_values)}"


def _unjudged_of_all(gate: Gate) -> list[str]:
    """Return the meaning of question marks in the tables of all baselines, without repetition."""
    sentences = itertools.chain.from_iterable(map(_unjudged, _gates_of(gate)))
    return [*dict.fromkeys(sentences)]


def _which_bound(gate: Gate) -> str:
    """Return the level of the bounds of losses, which is that of the tests.

    Intervals stay at the level that was asked for. A look of a ledger, or a gate with two
    baselines, tests at a part of it.
    """
    alpha = gate.comparison.test.alpha
    if alpha == level_of_all(gate):
        return f"one-sided {texts.confidence_words(gate.comparison.provenance)} bound"
    part = "this look" if gate.release is None else "each baseline"
    return f"one-sided bound at the level of {part}, {texts.format_level(alpha)}"


def _unjudged(gate: Gate) -> Iterator[str]:
    """Yield what the question mark of some criteria means, and what it does to the verdict."""
    names = _unsure(gate)
    if not names:
        return
    holds = {name: gate.comparison.missing.holds(name)[0] for name in names}
    depth_of = {name: depth for name, depth in holds.items() if depth is not None}
    documents = "unjudged documents"
    if depth_of:
        documents += f" of {texts.top_words(depth_of)}"
    yield f"? {documents} might undo the difference"
    if gate.rule not in ("evidence", "strict"):
        return
    doubtful = gate.table[gate.table["criterion"].isin(names)]
    if ((doubtful["verdict"] == UNDECIDED) & (doubtful["holds"] == UNDONE)).any():
        yield "undecided ?: some grades would undo the loss"
    if (doubtful["verdict"] == WORSE).any():
        yield "worse ?: it is not known whether grades could"


def _would_decide(gate: Gate, files: Sequence[str]) -> Iterator[str]:
    """Yield how to decide the undecided criteria: with more queries, or with judgments.

    More queries make new data, which a gate with a ledger tests at the level of its next look.
    """
    result, level = gate.comparison, ""
    if gate.look is not None and gate.look.spent_next:
        alpha = result.test.alpha * gate.look.spent_next / gate.look.spent
        result = result.with_test(replace(result.test, alpha=alpha))
        level = f", at the next look's level {texts.format_level(alpha)}"
    undone = undone_losses(gate)
    for name in gate.undecided:
        margin = gate.table.set_index("criterion").loc[name, "margin"]
        if name in undone:
            yield (
                f"{name}: judgments of unjudged documents would decide; this command lists them:"
            )
            yield judging_command(gate, name, files)
            continue
        queries = planned_queries(result, name, margin)
        if queries is not None and 0 < queries[0] < np.inf:
            needed = queries[0]
            n_queries = len(result.compared.by[name].query_ids)
            enough = f"about {needed:,.0f} queries would rule out a loss of {margin:g}"
            yield (
                f"{name}: if there is no loss, {enough} (power {POWER:g}{level}); "
                f"{_what_these_queries_did(n_queries, needed)}."
            )


def _would_decide_release(gate: Gate) -> Iterator[str]:
    """Yield what would decide the criteria that are undecided against the last release."""
    if gate.release is None:
        return
    release = replace(gate.release, look=gate.look)
    sentences = list(_would_decide(release, UNKNOWN_FILES))
    if sentences:
        yield f"Against {gate.release.baseline}:"
        yield from sentences


def judging_command(gate: Gate, name: str, files: Sequence[str] = UNKNOWN_FILES) -> str:
    """Return the command that lists which documents to judge to decide by a criterion."""
    option = "-m" if gate.comparison.compared.by[name].is_measure else "-p"
    return COMMAND + shlex.join(["to-judge", *files, option, name])


def undone_losses(gate: Gate) -> list[str]:
    """Return the undecided criteria with a significant loss that unjudged documents could undo."""
    undone = gate.table["criterion"][gate.table["holds"] == UNDONE]
    return among(gate.undecided, undone.tolist())


def _what_these_queries_did(n_queries: int, needed: float) -> str:
    """Return why so many queries left a criterion undecided."""
    if needed > n_queries:
        return f"{texts.count(n_queries, 'query')} are too few"
    return f"these {texts.count(n_queries, 'query')} did not"


def gate_json(gate: Gate, most: int = MOST_LOST) -> str:
    """Return all that a gate says, in JSON."""

    def records(table: pd.DataFrame) -> list[dict[str, Any]]:
        rows = table.to_dict(orient="records")
        return [
            {str(name): plain(value) for name, value in row.items()} for row in rows
        ]

    release, look = None, None
    if gate.release is not None:
        release = records(gate.release.table)
    if gate.look is not None:
        look = {
            "number": gate.look.number,
            "spent": gate.look.spent,
            "in_all": gate.look.spent_in_all,
        }
    facts = {
        "baseline": gate.baseline,
        "candidate": gate.candidate,
        "rule": gate.rule,
        "outcome": gate.outcome,
        "unchanged": gate.unchanged,
        "worse": gate.failed,
        "undecided": gate.undecided,
        "alpha": gate.comparison.test.alpha,
        "correction": gate.comparison.test.counted_correction,
        "criteria": records(gate.table),
        "release": release,
        "look": look,
        "lost": records(gate.lost(most)),
        "lost_queries": len(gate.lost()),
        "diagnostics": gate.comparison.diagnostics,
    }
    return json.dumps(facts, indent=1)


def criterion_facts(gate: Gate) -> dict[str, str]:
    """Return a line on each criterion: difference, interval, bound, p, margin, verdict."""
    facts = {}
    others = _other_estimates(gate)
    alpha = level_of_all(gate)
    level = texts.confidence_words({"alpha": alpha})
    level_of_test = gate.comparison.test.alpha
    which = _which_bound(gate)
    bounds = _bounds_of_losses(gate)
    intervals = _table_at(gate, alpha)[["ci_low", "ci_high"]].to_numpy()
    for row, bound, ends in zip(
        gate.table.itertuples(), bounds, intervals, strict=True
    ):
        interval = f"{level} interval {texts.interval(*ends)}"
        if estimate := others.get(row.criterion):
            interval = f"{estimate} {row.estimate:+.4f}, its {interval}"
        p, worse = (texts.p_words(p, level_of_test) for p in (row.p, row.worse_p))
        facts[row.criterion] = (
            f"difference {row.difference:+.4f}, {interval}, {p}, worse: {worse}, "
            f"loses {bound} ({which}), margin {row.margin:g}: {row.verdict}"
        )
    for standing in standings_of(gate.comparison):
        for note in losses_on_unseen_queries(gate.comparison, [standing]):
            facts[standing.name] += f" ({note.removesuffix('.')})"
    return facts
