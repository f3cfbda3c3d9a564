"""The command that stops a change which makes rankings worse: ``gate``."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ir_lexirecall import text as texts
from ir_lexirecall.cli.arguments import (
    Inputs,
    add_measures,
    add_preference,
    add_qrels,
    add_rel,
    add_test,
    significance_test,
    split_measures,
)
from ir_lexirecall.cli.output import emit
from ir_lexirecall.errors import check_number
from ir_lexirecall.evaluation import parse_measures
from ir_lexirecall.measures.scoring import smaller_is_better
from ir_lexirecall.preferences import Preferences
from ir_lexirecall.preferences.comparison import parse_preferences
from ir_lexirecall.runs import ScoredRuns
from ir_lexirecall.summary import count

WORSE = 3  # the exit code
_SAME, _BETTER, _WORSE = "same", "better", "worse"

# Columns of ``Preferences.explain`` for the candidate (a) and the baseline (b): what they are called here, and in the table.
_DECIDED = {
    "level": ("level", "decided at level"),
    "doc_id": ("doc_id", "document"),
    "rank_b": ("rank_baseline", "its rank, {baseline}"),
    "rank_a": ("rank_candidate", "rank, {candidate}"),
    "levels_b": ("levels_baseline", "levels ahead, {baseline}"),
    "levels_a": ("levels_candidate", "levels ahead, {candidate}"),
    "value_b": ("value_baseline", "value, {baseline}"),
    "value_a": ("value_candidate", "value, {candidate}"),
}


def add_gate(commands: Any) -> None:
    """Add the command to what ``ArgumentParser.add_subparsers`` gave."""
    parser = commands.add_parser(
        "gate",
        help="fail where a candidate is worse than a baseline",
        description="Compare a candidate run with a baseline and print a summary for a pull request, with the queries that lost "
        f"most and what decided. Exit code {WORSE} if the candidate is worse: the mean of a measure falls by more than --max-drop "
        "(rises, where the smaller value is better), or a preference is significantly for the baseline.",
        example="gate qrels.txt main.run branch.run -m nDCG@10 LR > summary.md",
        codes={WORSE: "the candidate is worse"},
    )
    add_qrels(parser)
    parser.add_argument("baseline", metavar="BASELINE", help="run file to compare with")
    parser.add_argument("candidate", metavar="CANDIDATE", help="run file that must not be worse")
    add_measures(parser, text="measures, one or several (default: those that a collection recommends)")
    add_preference(parser)
    parser.add_argument(
        "--max-drop", type=float, default=0.01, metavar="D", help="how far a mean may fall (default: 0.01)"
    )
    parser.add_argument(
        "--queries", type=int, default=10, metavar="N", help="how many lost queries to list (default: 10)"
    )
    add_rel(parser)
    add_test(parser, "sign")
    parser.add_argument(
        "--format", choices=["markdown", "json"], default="markdown", help="of the summary (default: markdown)"
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="write the summary into a file instead")
    parser.set_defaults(command=_gate)


def _gate(options: argparse.Namespace) -> int:
    check_number("gate", "max-drop", options.max_drop, least=0)
    check_number("gate", "queries", options.queries, least=0)
    options.runs = [options.baseline, options.candidate]
    inputs = Inputs.from_options(options)
    baseline, candidate = inputs.runs
    measures = parse_measures(inputs.measures(options))
    names, compared = parse_preferences(
        "gate", ["lexirecall"] if options.preference is None else split_measures(options.preference)
    )
    scored = ScoredRuns.from_runs(measures | compared, inputs.judgments, inputs.runs, caller="gate")
    test = significance_test(options, "gate")
    result = Preferences.from_runs(
        scored.with_measures(compared), names, baseline=baseline, rel=inputs.rel(options), test=test, caller="gate"
    )
    means = scored.with_measures(measures)
    means.check_defined("gate")
    summary = _summary(result, means, baseline, candidate, options.max_drop, options.queries)
    shown = json.dumps(summary, indent=1) if options.format == "json" else "\n".join(_markdown(summary))
    emit(f"{shown}\n", options.output)
    return WORSE if summary["worse"] else 0


# -- what is found -------------------------------------------------------------------------------------


def _summary(
    result: Preferences, means: ScoredRuns, baseline: str, candidate: str, max_drop: float, most: int
) -> dict[str, Any]:
    """All that the command says: names, numbers and texts."""
    measures = list(_measures(means, baseline, candidate, max_drop))
    preferences = list(_preferences(result))
    return {
        "baseline": baseline,
        "candidate": candidate,
        "worse": [row["measure"] for row in measures if row["verdict"] == _WORSE]
        + [row["preference"] for row in preferences if row["verdict"] == _WORSE],
        "measures": measures,
        "preferences": preferences,
        "queries": len(result.query_ids),
        "lost": _lost(result, means, baseline, candidate, most),
        "max_drop": max_drop,
        "test": result.test.name,
        "alpha": result.test.alpha,
        "diagnostics": result.diagnostics,
    }


def _measures(means: ScoredRuns, baseline: str, candidate: str, max_drop: float) -> Iterator[dict[str, Any]]:
    for name, measure in means.measures.items():
        before, after = (float(means.table.loc[run, name]) for run in (baseline, candidate))
        gain = before - after if smaller_is_better(measure) else after - before
        verdict = _WORSE if gain < -max_drop else _BETTER if gain > max_drop else _SAME
        yield {
            "measure": name,
            "baseline": before,
            "candidate": after,
            "difference": after - before,
            "verdict": verdict,
        }


def _preferences(result: Preferences) -> Iterator[dict[str, Any]]:
    for name in result.preferences:
        row = result.table_of(name).iloc[0]
        verdict = (_BETTER if row["estimate"] > 0 else _WORSE) if row["reject"] else _SAME
        counts = {column: int(row[column]) for column in ("wins", "losses", "ties")}
        yield {"preference": name, **counts, "mean": float(row["mean"]), "p": float(row["p"]), "verdict": verdict}


def _lost(result: Preferences, means: ScoredRuns, baseline: str, candidate: str, most: int) -> dict[str, Any]:
    """The queries that the candidate loses by the first preference, those that the first measure shows worst first."""
    table = result.explain(candidate, baseline).set_index("query_id")
    lost = table[table["winner"] == baseline]
    values = means.per_query
    changes = {
        name: (values[name].loc[candidate] - values[name].loc[baseline]).loc[lost.index] for name in means.measures
    }
    gains = lost["preference"]
    for name, measure in [*means.measures.items()][:1]:
        gains = -changes[name] if smaller_is_better(measure) else changes[name]
    details = {column: name for column, (name, _) in _DECIDED.items() if column in lost}
    return {
        "preference": result.preferences[0],
        "count": len(lost),
        "queries": [
            {
                "query_id": str(query),
                "changes": {name: float(change[query]) for name, change in changes.items()},
                **{name: _plain(lost.loc[query, column]) for column, name in details.items()},
            }
            for query in gains.sort_values(kind="stable").index[:most]
        ],
    }


def _plain(value: Any) -> Any:
    """A cell of a table as JSON has it: None for what is missing."""
    if value is None or type(value).__name__ == "NAType" or (isinstance(value, float) and np.isnan(value)):
        return None
    if isinstance(value, (list, tuple, np.ndarray)):
        return [_plain(part) for part in value]
    return value.item() if isinstance(value, np.generic) else value


# -- how it is said ------------------------------------------------------------------------------------


def _markdown(summary: Mapping[str, Any]) -> Iterator[str]:
    """The lines of the summary for people."""
    baseline, candidate = (texts.escape_markdown(summary[run]) for run in ("baseline", "candidate"))
    worse = ", ".join(map(texts.escape_markdown, summary["worse"]))
    yield f"### {candidate} is {'worse than' if worse else 'not worse than'} {baseline}" + (
        f": {worse} ({_number_worse(summary)})" if worse else ""
    )
    yield ""
    heads = ["measure", summary["baseline"], summary["candidate"], "difference", "verdict"]
    yield _table(
        heads,
        [
            (
                row["measure"],
                *(texts.format_number(row[run], 4) for run in ("baseline", "candidate")),
                f"{row['difference']:+.4f}",
                f"within {summary['max_drop']:g}" if row["verdict"] == _SAME else row["verdict"],
            )
            for row in summary["measures"]
        ],
    )
    yield ""
    heads = ["preference", f"queries for {summary['candidate']}", f"for {summary['baseline']}", "ties"]
    yield _table(
        [*heads, "mean", "p", "verdict"],
        [
            (
                *(str(row[name]) for name in ("preference", "wins", "losses", "ties")),
                f"{row['mean']:+.4f}",
                texts.format_p(row["p"]),
                "not told apart" if row["verdict"] == _SAME else row["verdict"],
            )
            for row in summary["preferences"]
        ],
    )
    yield ""
    yield (
        f"Worse: the mean of a measure falls by more than {summary['max_drop']:g}, or the {summary['test']} test rejects (p at "
        f"most {summary['alpha']:g}) and the preference is for {baseline}. {summary['queries']} queries have relevant documents."
    )
    yield from _lost_lines(summary)
    if summary["diagnostics"]:
        yield from ["", "To keep in mind:", ""]
        yield from (f"- {texts.escape_markdown(note)}" for note in summary["diagnostics"])


def _number_worse(summary: Mapping[str, Any]) -> str:
    """By how many of the measures and preferences the candidate is worse."""
    facts = []
    for rows, kind in ((summary["measures"], "measure"), (summary["preferences"], "preference")):
        worse = sum(row["verdict"] == _WORSE for row in rows)
        facts.append(f"{worse} of {count(len(rows), kind)}")
    return ", ".join(facts)


def _lost_lines(summary: Mapping[str, Any]) -> Iterator[str]:
    """The queries that the candidate loses, and how to read what decided."""
    lost = summary["lost"]
    rows: Sequence[Mapping[str, Any]] = lost["queries"]
    if not rows:
        return
    run, preference = texts.escape_markdown(summary["candidate"]), texts.escape_markdown(lost["preference"])
    changes = list(rows[0]["changes"])
    order = f", the largest loss of {texts.escape_markdown(changes[0])} first" if changes else ""
    number = f"{lost['count']} of {summary['queries']} queries"
    yield ""
    yield f"By {preference}, {run} loses {number}{f' ({len(rows)} are shown)' if len(rows) < lost['count'] else ''}{order}:"
    yield ""
    details = {name: head.format(**summary) for name, head in _DECIDED.values() if name in rows[0]}
    yield _table(
        ["query", *(f"change of {name}" for name in changes), *details.values()],
        [
            (
                row["query_id"],
                *(f"{row['changes'][name]:+.4f}" for name in changes),
                *(_cell(row[name]) for name in details),
            )
            for row in rows
        ],
    )
    if "level" in details:
        yield ""
        yield (
            "Level i is the i-th relevant document that a run retrieves: at the deciding one the better run has it at a smaller "
            "rank, or alone (-: not retrieved)."
        )


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "-"
    return texts.format_number(value, 4) if isinstance(value, float) else str(value)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    cells = [[texts.escape_markdown(cell) for cell in row] for row in (heads, *rows)]
    return texts.markdown_table(cells, ["left", *("right" for _ in heads[1:])])
