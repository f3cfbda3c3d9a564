"""What a gate says: in Markdown for a pull request, as plain text for a terminal, in JSON for programs."""

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
"""Columns of ``Comparison.explain`` for the candidate (a) and the baseline (b), and what they are called here."""


def gate_text(gate: Gate, most: int = _MOST_LOST, *, markdown: bool = True) -> str:
    """The summary, in Markdown or plain: the verdict on every criterion, the queries that lost most, the caveats."""
    escape = texts.escape_markdown if markdown else texts.printable

    def drawn(shown: Shown) -> str:
        return (
            shown.markdown()
            if markdown
            else "\n\n".join([shown.text()[0], *map(escape, shown.notes)])
        )

    alpha = level_of_all(gate)
    head = f"{'### ' if markdown else ''}{escape(headline(gate))}"
    blocks = [head, drawn(_criteria(gate, alpha))]
    if gate.release is not None:
        blocks += [f"{escape(headline(gate.release))}:", drawn(_criteria(gate.release, alpha))]
    if gate.look is not None:
        blocks.append(escape(str(gate.look)))
    lost = gate.lost()
    if len(lost):
        first, shown = gate.comparison.criteria[0], lost.head(most)
        number = f"{len(lost)} of {texts.count(len(gate.comparison.by[first].query_ids), 'query')}"
        some = (
            f" ({len(shown)} {'is' if len(shown) == 1 else 'are'} shown)"
            if 0 < len(shown) < len(lost)
            else ""
        )
        blocks.append(
            f"By {escape(first)}, {escape(gate.candidate)} loses {number}{some}{':' if most else '.'}"
        )
        if most:
            names = {"baseline": gate.baseline, "candidate": gate.candidate}
            heads = {
                column: head.format(**names) for column, head in _DECIDED.items() if column in shown
            }
            columns = {
                "query": shown["query_id"],
                **{head: shown[column] for column, head in heads.items()},
            }
            blocks.append(drawn(Shown.from_frame(columns)))
            if "level" in shown:
                blocks.append(
                    "Level i is the i-th relevant document that a run retrieves: at the deciding one the better run has it at a "
                    "smaller rank, or alone (-: not retrieved)."
                )
    results = (
        [gate.comparison] if gate.release is None else [gate.comparison, gate.release.comparison]
    )
    if notes := grouped([note for result in results for note in comparison_caveats(result)]):
        blocks += ["Caveats:", "\n".join(f"- {escape(note)}" for note in notes)]
    return "\n\n".join(blocks)


def headline(gate: Gate) -> str:
    """Return the outcome in a sentence, and that the runs hardly share queries where they do not."""
    shared = shared_words(gate.comparison)
    return f"{_outcome(gate)}{f'; {shared}' if shared else ''}"


def _outcome(gate: Gate) -> str:
    """Return the outcome, never *worse* without evidence: by the rule ``'drop'`` means fell."""
    baseline, candidate = gate.baseline, gate.candidate
    if gate.failed and gate.rule != "drop":
        return f"{candidate} is worse than {baseline} by {texts.listed(gate.failed)}"
    if gate.failed:
        facts = []
        for row in gate.table[gate.table["fails"]].itertuples():
            criterion = gate.comparison.by[row.criterion]
            if criterion.is_measure:
                fell = "rose" if criterion.smaller_is_better else "fell"
                by, margin = (
                    texts.format_number(abs(float(x)), 4) for x in (row.difference, row.margin)
                )
                facts.append(
                    f"{row.criterion} {fell} by {by}, more than {margin}; {texts.p_words(float(row.p))}"
                )
            else:
                p = texts.p_words(float(row.p_corrected))
                facts.append(f"{row.criterion} is significantly for {baseline} ({p})")
        return f"{candidate} beside {baseline}: {'; '.join(facts)}"
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
        return f"{candidate} is not shown to be worse than {baseline}; undecided by {texts.listed(gate.undecided)}"
    margins = {str(row.criterion): f"{row.margin:g}" for row in gate.table.itertuples()}
    same = len(set(margins.values())) == 1
    stated = (
        f"margin {margins[gate.comparison.criteria[0]]}"
        if same
        else f"margins: {texts.fact_words(margins)}"
    )
    return f"{candidate} is non-inferior to {baseline} ({stated})"


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
        note += " A loss that some of their grades are known to undo is undecided; any other stays worse."
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
    """All that a gate says, in JSON."""

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
    """What is known of each criterion, in a line: difference, interval, p, margin, verdict."""
    facts = {}
    for row in gate.table.itertuples():
        interval = texts.interval(row.ci_low, row.ci_high)
        p, worse = (texts.p_words(float(p)) for p in (row.p, row.worse_p))
        fact = f"difference {row.difference:+.4f}, interval {interval}, {p}, worse: {worse}, margin {row.margin:g}"
        facts[str(row.criterion)] = f"{fact}: {row.verdict}"
    return facts
