"""The commands that compare runs: ``compare``, ``report`` and ``gate``."""

from __future__ import annotations

import os
import shlex
from argparse import BooleanOptionalAction
from typing import Any

from ir_lexirecall._util.errors import check_choice, check_integer
from ir_lexirecall._util.lazy import LazyModule
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall.cli.arguments import (
    BOUNDS,
    JUDGMENTS,
    ONE_CRITERION_TEST,
    TEST,
    Inputs,
    Options,
    Parser,
    parse_margin,
)
from ir_lexirecall.cli.output import Page, add_output, emit, save_picture
from ir_lexirecall.comparison import Comparison
from ir_lexirecall.comparison.compared import Design
from ir_lexirecall.comparison.comparing import (
    compare_runs,
    compare_values,
    parse_criteria,
    wanted_values,
)
from ir_lexirecall.comparison.gating import gate
from ir_lexirecall.io.files import STDIN
from ir_lexirecall.io.values import run_name
from ir_lexirecall.plots import KINDS
from ir_lexirecall.present.text import provenance_line, top_words
from ir_lexirecall.reports import report

present: Any = LazyModule("ir_lexirecall.present")

_PREDICTED_VALUES = "; with --values, values that follow from such judgments"


def add_compare(commands: Any) -> None:
    parser: Parser = commands.add_parser(
        "compare",
        help="compare runs query by query",
        description="Compare runs by measures, by exact preferences between their rankings, or both: a row per pair of runs.",
        example="compare qrels.txt bm25.run dph.run --explain bm25 dph",
    )
    parser.add_runs(least=2, values=True)
    parser.add("measures", help="measures, one or several (default of --values: all)")
    parser.add_preference("lexirecall, where no measure is named")
    parser.add("baseline", help="compare all others with this run (its name in the table)")
    parser.add("allow_empty", "rel", "cutoff")
    parser.add("predicted", more=_PREDICTED_VALUES)
    parser.add("groups", "cluster", "margin", *TEST)
    parser.add_argument(
        "--explain",
        nargs=2,
        metavar=("A", "B"),
        help="print instead, query by query, what decided between runs A and B",
    )
    parser.add(*BOUNDS)
    parser.add_argument(
        "--holds",
        action="store_true",
        help="mark the significant differences that unjudged documents might undo, down to the "
        "criterion's cutoff, else the top 100 (columns holds, depth; a dagger in LaTeX and Markdown)",
    )
    kinds = list(KINDS[Comparison])
    parser.add_argument("--plot", metavar="FILE", help="draw a picture into FILE (see --kind)")
    parser.add_argument(
        "--kind",
        choices=kinds,
        metavar="NAME",
        help=f"picture that --plot draws: {', '.join(kinds)} (default: heatmap; with --explain: pair)",
    )
    add_output(parser)


def add_report(commands: Any) -> None:
    parser: Parser = commands.add_parser(
        "report",
        help="write an evaluation as one HTML file",
        description="Evaluate and compare runs, and write one HTML file that needs no network.",
        example="report qrels.txt bm25.run dph.run -m nDCG@10 LR -o report.html",
    )
    parser.add_runs(values=True)
    parser.add("measures", help="measures, as in `eval` (default of --values: all)")
    parser.add_preference()
    parser.add("baseline", help="as in `compare`")
    parser.add("predicted", more=_PREDICTED_VALUES)
    parser.add("allow_empty", "groups", "cluster", "margin", *TEST)
    parser.add_argument("--title", help="title of the page")
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="HTML file to write")


_PAIR = (
    "group",
    "queries",
    "criterion",
    "run_a",
    "run_b",
    "wins",
    "losses",
    "ties",
    "incomparable",
)
_TESTED = (
    "difference",
    "ci_low",
    "ci_high",
    "bound_low",
    "bound_high",
    "p_corrected",
    "verdict",
    "holds",
    "rho",
    "n_effective",
)


def run_compare(options: Options) -> None:
    """Run the command ``compare``."""
    inputs, bounds = options.inputs(), options.of_bounds()
    _check_compare(options, inputs)
    default = [] if inputs is None else ["lexirecall"]
    result = compared(options, options.criteria(preferences=default), inputs)
    page = Page(options)
    notes: list[str] = []
    if options.bounds:
        table = result.bounds(**bounds)
        page.add_table(table)
        page.add_sentences(_about_bounds(table))
        page.add_sentences(*(f"{note}." for note in table.attrs["notes"]))
    elif options.explain:
        _explain(page, result, *options.explain)
        notes = result.diagnostics if page.for_people else []
    elif options.format in ("latex", "markdown"):
        page.add_shown(present.comparison_table(result, page.places, holds=options.holds))
    elif page.for_people:
        _show_to_people(page, result, holds=options.holds)
    else:
        page.add_table(_table_for_programs(result, holds=options.holds))
    page.add_sentences("", provenance_line(result.provenance), *notes)
    if options.plot:
        kind = options.kind or ("pair" if options.explain else "heatmap")
        runs = options.explain if kind == "pair" else []
        save_picture(result.plot(kind, *runs), options.plot)
    page.finish()


def _check_compare(options: Options, inputs: Inputs | None) -> None:
    """Raise if options contradict each other, or name a run that is not there."""
    if options.bounds and (options.explain or options.plot):
        beside = "--explain" if options.explain else "--plot"
        raise ValueError(f"--bounds shows a table only; leave out {beside}")
    if options.kind and not options.plot:
        raise ValueError("--kind says what --plot FILE draws; give both")
    if options.kind == "pair" and not options.explain:
        raise ValueError("--kind pair draws two runs; name them: --explain A B")
    if inputs is not None:
        for name in options.explain or ():
            check_choice("run", name, inputs.runs)


def _explain(page: Page, result: Comparison, a: str, b: str) -> None:
    """Add what decided between two runs, a table for each criterion."""
    for name in result.criteria:
        if len(result.criteria) > 1:
            page.add_sentences(f"{name}:")
        page.add_table(result.explain(a, b, name))


def _show_to_people(page: Page, result: Comparison, *, holds: bool) -> None:
    """Add the finding, and the tables of pairs with what matters most first."""
    page.add_finding(present.comparison_finding(result))  # with the notes
    tables = {"Pairs:": _pair_table(result, holds=holds)}
    if result.grouped:
        tables["Pairs in groups of queries:"] = result.group_table()
    for title, table in tables.items():
        page.add_sentences(title)
        first = [name for name in (*_PAIR, *_TESTED) if name in table]
        page.add_table(table[[*first, *(name for name in table.columns if name not in first)]])


def _table_for_programs(result: Comparison, *, holds: bool) -> pd.DataFrame:
    """Return one table of all pairs; rows of all queries have no group."""
    whole = _pair_table(result, holds=holds)
    if not result.grouped:
        return whole
    in_groups = result.group_table()
    return pd.concat([whole, in_groups], ignore_index=True)[list(in_groups.columns)]


def _pair_table(result: Comparison, *, holds: bool) -> pd.DataFrame:
    """Return the table of pairs; with ``holds``, also whether verdicts hold under any judging."""
    table = result.table()
    if holds:
        table[["holds", "depth"]] = result.verdicts(holds=True)[["holds", "depth"]]
    return table


def _about_bounds(table: pd.DataFrame) -> str:
    """Return what the table of ``--bounds`` bounds, and down to which rank."""
    first = table.drop_duplicates("criterion")
    depths = zip(first["criterion"], first["depth"], strict=True)
    tops = top_words({name: None if pd.isna(k) else int(k) for name, k in depths})
    return f"Bounds hold whatever grades the unjudged documents of {tops} would get."


def compared(options: Options, by: list[Any], inputs: Inputs | None, least: int = 2) -> Comparison:
    """The comparison that the options ask for: of runs, or of values that another program computed."""
    design = Design(
        options.baseline,
        parse_margin(options.margin),
        options.significance_test(),
        options.predicted,
        options.groups,
        options.allow_empty,
        2 if inputs is None else least,
    )
    if inputs is None:
        values = options.values[0] if len(options.values) == 1 else list(options.values)
        wanted = wanted_values(
            by or None,
            options.smaller_is_better,
            options.missing or "error",
            options.query_column,
        )
        return compare_values(values, wanted, design)
    return compare_runs(inputs.judgments, inputs.runs, parse_criteria(by), design)


def run_report(options: Options) -> None:
    inputs, runs = options.inputs(), {}
    if inputs is None:
        by, sources = options.criteria(), {run_name(path): path for path in options.values}
    else:
        is_named = options.measures is not None or options.preference is not None
        by = options.criteria([] if is_named else inputs.measures, ["lexirecall"])
        runs = {
            name: run for name, run in inputs.runs.items() if os.path.isfile(run)
        }  # a pipe is read once only
        sources = {
            "qrels": options.qrels,
            **{f"judged {file}": file for file in options.judged},
            **inputs.runs,
        }
    if options.predicted is not None:
        sources["predicted"] = options.predicted
    result = compared(options, by, inputs, least=1)
    command = shlex.join(["ir-lexirecall", *options.words])
    path = report(
        result, options.output, title=options.title, runs=runs, inputs=sources, command=command
    )
    emit(f"{path}\n")


# -- gate ------------------------------------------------------------------------------------------


def add_gate(commands: Any) -> None:
    parser: Parser = commands.add_parser(
        "gate",
        help="fail where a candidate is worse than a baseline",
        description="Compare a candidate run with a baseline and print a summary for a pull request, with the queries that lost "
        "most and what decided. By evidence, a criterion is worse where a one-sided test finds a loss (corrected over all "
        "criteria), not worse where it finds that the loss is less than the margin, else undecided. The rule 'drop' looks at the "
        "means alone: they may not fall by more than the margin.",
        example="gate qrels.txt main.run branch.run -m nDCG@10 LR > summary.md",
        codes={3: "the candidate is worse", 4: "undecided, with --strict"},
    )
    parser.add(*JUDGMENTS)
    parser.add_argument("baseline", metavar="BASELINE", help="run file to compare with")
    parser.add_argument("candidate", metavar="CANDIDATE", help="run file that must not be worse")
    parser.add(
        "measures", help="measures, one or several (default: those that a collection recommends)"
    )
    parser.add_preference("none")
    parser.add("margin", default="0.01", more=" (default: 0.01)")
    parser.add_argument(
        "--rule",
        choices=["evidence", "drop"],
        default="evidence",
        help="how 'worse' is decided: by a test (evidence) or by the means alone (drop) "
        "(default: evidence)",
    )
    parser.add_argument(
        "--strict", action="store_true", help="fail where a criterion is undecided, too"
    )
    words = (
        "undecided, not worse, where some grades of unjudged documents are known to undo the loss "
        "(default); --no-bounds: unjudged documents are not relevant"
    )
    parser.add_argument("--bounds", action=BooleanOptionalAction, default=True, help=words)
    words = "append each look to this file (JSON lines), and keep alpha over all looks together"
    parser.add_argument("--ledger", metavar="FILE", help=words)
    parser.add_argument(
        "--release", metavar="RUN", help="run file of the last release, a second baseline"
    )
    parser.add_argument(
        "--queries",
        type=int,
        default=10,
        metavar="N",
        help="how many lost queries to list (default: 10)",
    )
    parser.add("rel", "allow_empty", "predicted", *ONE_CRITERION_TEST)
    parser.add_argument(
        "--format",
        choices=["markdown", "json"],
        default="markdown",
        help="output format (default: markdown)",
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="write the summary into a file instead"
    )


def run_gate(options: Options) -> int:
    check_integer("queries", options.queries, least=0)
    rule = options.rule
    if rule == "evidence":
        if options.strict and not options.bounds:
            said = "--strict fails what is undecided, too, so that bounds excuse nothing; leave out --no-bounds"
            raise ValueError(said)
        rule = "strict" if options.strict else "evidence" if options.bounds else "judged"
    is_one_file = options.baseline == options.candidate != STDIN
    options.runs = [options.baseline] if is_one_file else [options.baseline, options.candidate]
    inputs = Inputs(options)
    (baseline, first), *other = inputs.runs.items()
    # The same file twice is an unchanged run, which passes.
    candidate, second = other[0] if other else (f"{baseline} (candidate)", first)
    found = gate(
        inputs.judgments,
        first,
        second,
        options.criteria(() if options.measures or options.preference else inputs.measures),
        margin=parse_margin(options.margin) or 0.0,
        rule=rule,
        names=(baseline, candidate),
        test=options.significance_test(),
        allow_empty=options.allow_empty,
        ledger=options.ledger,
        release=options.release,
        predicted=options.predicted,
    )
    shown = (present.gate_json if options.format == "json" else present.gate_text)(
        found, options.queries
    )
    options.found = found.exit_code  # which stands although nobody reads the summary to its end
    emit(f"{shown}\n", options.output)
    return found.exit_code
