"""What a gate says: Markdown for a pull request, plain text for a terminal, JSON for programs."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall.comparison.gating import Gate
from ir_lexirecall.comparison.verdicts import NOT_BOUNDED, UNDONE
from ir_lexirecall.present import text as texts
from ir_lexirecall.present.caveats import comparison_caveats, shared_words
from ir_lexirecall.present.findings import grouped
from ir_lexirecall.present.standings import loss_words, standings_of
from ir_lexirecall.present.tables import DAGGER, Shown, dagger_note, plain

_MOST_LOST = 10
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


def gate_text(gate: Gate, most: int = _MOST_LOST, *, markdown: bool = True) -> str:
    """Return the summary: the verdict on every criterion, the queries that lost most, the caveats.

    Args:
        gate: what to summarise.
        most: how many lost queries to list, at most.
        markdown: Markdown for a pull request; otherwise plain text for a terminal.
    """
    page, alpha = _Page(markdown), level_of_all(gate)
    page.add_title(headline(gate))
    page.add_table(_criteria(gate, alpha))
    if gate.release is not None:
        page.add(f"{page.escape(headline(gate.release))}:")
        page.add_table(_criteria(gate.release, alpha))
    if gate.look is not None:
        page.add(page.escape(str(gate.look)))
    _add_lost(page, gate, most)
    gates = [gate] if gate.release is None else [gate, gate.release]
    notes = grouped([note for one in gates for note in comparison_caveats(one.comparison)])
    if notes:
        page.add("Caveats:")
        page.add("\n".join(f"- {page.escape(note)}" for note in notes))
    return str(page)


class _Page:
    """Blocks of text and tables, in Markdown or plain."""

    def __init__(self, markdown: bool) -> None:
        self.is_markdown: bool = markdown
        self.blocks: list[str] = []

    def escape(self, text: str) -> str:
        """Return a text without characters that Markdown, or the terminal, would take for marks."""
        return texts.escape_markdown(text) if self.is_markdown else texts.printable(text)

    def add(self, block: str) -> None:
        """Add a block of text that is escaped already."""
        self.blocks.append(block)

    def add_title(self, title: str) -> None:
        """Add a heading."""
        self.add(f"{'### ' if self.is_markdown else ''}{self.escape(title)}")

    def add_table(self, table: Shown) -> None:
        """Add a table and its notes."""
        if self.is_markdown:
            self.add(table.markdown())
        else:
            self.add(table.text()[0])
            self.blocks += [self.escape(note) for note in table.notes]

    def __str__(self) -> str:
        return "\n\n".join(self.blocks)


def _add_lost(page: _Page, gate: Gate, most: int) -> None:
    """Add how many queries the candidate loses by the first criterion, and the largest losses."""
    lost, first = gate.lost(), gate.comparison.criteria[0]
    if not len(lost):
        return
    queries = texts.count(len(gate.comparison.by[first].query_ids), "query")
    shown = lost.head(most)
    sentence = (
        f"By {page.escape(first)}, {page.escape(gate.candidate)} loses {len(lost)} of {queries}"
    )
    if 0 < len(shown) < len(lost):
        sentence += f" ({len(shown)} {'is' if len(shown) == 1 else 'are'} shown)"
    page.add(f"{sentence}{':' if most else '.'}")
    if not most:
        return
    names = {"baseline": gate.baseline, "candidate": gate.candidate}
    columns = {"query": shown["query_id"]}
    for column, head in _DECIDED.items():
        if column in shown:
            columns[head.format(**names)] = shown[column]
    page.add_table(Shown.from_frame(columns))
    if "level" in shown:
        page.add(
            "Level i is the i-th relevant document that a run retrieves: at the deciding one the "
            "better run has it at a smaller rank, or alone (-: not retrieved)."
        )


def headline(gate: Gate) -> str:
    """Return the outcome in a sentence, and that the runs hardly share queries where they do not."""
    shared = shared_words(gate.comparison)
    return f"{_outcome(gate)}{f'; {shared}' if shared else ''}"


def _outcome(gate: Gate) -> str:
    """Return the outcome, never *worse* without evidence: by the rule ``'drop'``, means fell."""
    baseline, candidate = gate.baseline, gate.candidate
    if gate.failed and gate.rule == "drop":
        return f"{candidate} beside {baseline}: {'; '.join(_drops(gate))}"
    if gate.failed:
        return f"{candidate} is worse than {baseline} by {texts.listed(gate.failed)}"
    if gate.release is not None and gate.release.failed:
        return _outcome(gate.release)
    if gate.unchanged:
        queries = texts.count(len(gate.comparison.query_ids), "query")
        return (
            f"Nothing changed: {candidate} retrieves the same documents as {baseline}, "
            f"at the same ranks, on all {queries}"
        )
    if gate.rule == "drop":
        return f"{candidate} beside {baseline}: no mean fell by more than its margin"
    if gate.undecided:
        undecided = f"undecided by {texts.listed(gate.undecided)}"
        return f"{candidate} is not shown to be worse than {baseline}; {undecided}"
    return f"{candidate} is non-inferior to {baseline} ({_margins(gate)})"


def _margins(gate: Gate) -> str:
    """Return the margin in words, once if all criteria have the same."""
    margins = {str(row.criterion): f"{row.margin:g}" for row in gate.table.itertuples()}
    if len(set(margins.values())) == 1:
        return f"margin {margins[gate.comparison.criteria[0]]}"
    return f"margins: {texts.fact_words(margins)}"


def _drops(gate: Gate) -> list[str]:
    """Return, for each criterion that fails by the rule ``'drop'``, what was found."""
    facts = []
    for row in gate.table[gate.table["fails"]].itertuples():
        criterion = gate.comparison.by[row.criterion]
        if not criterion.is_measure:
            p = texts.p_words(float(row.p_corrected))
            facts.append(f"{row.criterion} is significantly for {gate.baseline} ({p})")
            continue
        fell = "rose" if criterion.smaller_is_better else "fell"
        by = texts.format_number(abs(float(row.difference)), 4)
        margin = texts.format_number(abs(float(row.margin)), 4)
        p = texts.p_words(float(row.p))
        facts.append(f"{row.criterion} {fell} by {by}, more than {margin}; {p}")
    return facts


def level_of_all(gate: Gate) -> float:
    """Return the level that was asked for, which looks and baselines share: that of intervals."""
    if gate.look is not None:
        return gate.look.alpha
    return gate.comparison.test.alpha * (1 if gate.release is None else 2)


def _criteria(gate: Gate, alpha: float) -> Shown:
    """Return a row per criterion: means, difference, interval, bound, p, margin, verdict.

    Args:
        gate: what was decided.
        alpha: 1 - confidence of the intervals; the test may have another level.
    """
    table, result = gate.table, gate.comparison
    is_rule = gate.rule == "drop"
    words = list(table["verdict"])
    if is_rule:
        words = ["failed" if fails else "passed" for fails in table["fails"]]
    unsure = [word in (UNDONE, NOT_BOUNDED) for word in table["holds"]]
    words = [word + DAGGER * dagger for word, dagger in zip(words, unsure, strict=True)]
    intervals = table
    if alpha != result.test.alpha:
        intervals = result.with_test(replace(result.test, alpha=alpha)).table()
    ends = zip(intervals["ci_low"], intervals["ci_high"], strict=True)
    columns: dict[str, Any] = {
        "criterion": table["criterion"].tolist(),
        gate.baseline: table["mean_b"].tolist(),
        gate.candidate: table["mean_a"].tolist(),
        "difference": [f"{value:+.4f}" for value in table["difference"]],
        f"{texts.confidence_words({'alpha': alpha})} interval": [
            texts.interval(low, high) for low, high in ends
        ],
        "p": [texts.format_p(float(p)) for p in table["p"]],
        "worse: p": [texts.format_p(float(p)) for p in table["worse_p"]],
        "not worse: p": [texts.format_p(float(p)) for p in table["not_worse_p"]],
        "margin": table["margin"].tolist(),
        "verdict": words,
    }
    notes = [_how_tested(gate), *([] if is_rule else _bounds_note(gate))]
    if any(unsure):
        notes.append(_about_daggers(gate, table["criterion"][unsure].tolist()))
    return replace(Shown.from_frame(columns), notes=notes)


def _about_daggers(gate: Gate, names: list[str]) -> str:
    """Return what the dagger of these criteria means, and what it does to the verdict."""
    holds = {name: gate.comparison.holds(name)[0] for name in names}
    note = dagger_note({name: depth for name, depth in holds.items() if depth is not None})
    if gate.rule in ("evidence", "strict"):
        note += " A loss that some grades are known to undo is undecided; any other stays worse."
    return note


def _how_tested(gate: Gate) -> str:
    """Return how the criteria were tested, and at which level."""
    result = gate.comparison
    tests = {name: result.test_of(name) for name in result.criteria}
    corrected = ""
    if len(tests) > 1 and result.test.counted_correction:
        corrected = f"; worse: corrected over {len(tests):,} criteria"
    return f"{texts.how_tested(tests, 1)}; worse, not worse: one-sided{corrected}."


def _bounds_note(gate: Gate) -> list[str]:
    """Return the one-sided bounds that decided the verdicts, in a sentence; of none, no sentence."""
    standings = standings_of(gate.comparison)
    facts = [
        f"{one.name} {loss_words(one, row)}"
        for one in standings
        for _, row in one.against.iterrows()
    ]
    if not facts:
        return []
    level = texts.confidence_words(gate.comparison.provenance)
    return [f"Bounds (one-sided {level}): {texts.enumerated(facts)}."]


def gate_json(gate: Gate, most: int = _MOST_LOST) -> str:
    """Return all that a gate says, in JSON."""

    def records(table: pd.DataFrame) -> list[dict[str, Any]]:
        rows = table.to_dict(orient="records")
        return [{str(name): plain(value) for name, value in row.items()} for row in rows]

    facts = {
        "baseline": gate.baseline,
        "candidate": gate.candidate,
        "rule": "drop" if gate.rule == "drop" else "evidence",
        "outcome": gate.outcome,
        "unchanged": gate.unchanged,
        "worse": gate.failed,
        "undecided": gate.undecided,
        "alpha": gate.comparison.test.alpha,
        "correction": gate.comparison.test.counted_correction,
        "criteria": records(gate.table),
        "release": None if gate.release is None else records(gate.release.table),
        "look": gate.look
        and {
            "number": gate.look.number,
            "spent": gate.look.spent,
            "in_all": gate.look.spent_in_all,
        },
        "lost": records(gate.lost(most)),
        "lost_queries": len(gate.lost()),
        "diagnostics": gate.comparison.diagnostics,
    }
    return json.dumps(facts, indent=1)


def criterion_facts(gate: Gate) -> dict[str, str]:
    """Return a line on each criterion: difference, interval, p, margin, verdict."""
    facts = {}
    for row in gate.table.itertuples():
        interval = texts.interval(row.ci_low, row.ci_high)
        p, worse = (texts.p_words(float(p)) for p in (row.p, row.worse_p))
        facts[str(row.criterion)] = (
            f"difference {row.difference:+.4f}, interval {interval}, {p}, worse: {worse}, "
            f"margin {row.margin:g}: {row.verdict}"
        )
    return facts
