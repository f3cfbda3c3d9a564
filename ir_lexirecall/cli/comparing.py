"""The commands that compare runs: ``compare`` and ``report``."""

from __future__ import annotations

import argparse
import os
import shlex
from dataclasses import replace
from typing import Any

from ir_lexirecall._util.errors import check_choice
from ir_lexirecall._util.lazy import LazyModule
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall.cli.arguments import (
    Inputs,
    add_allow_empty,
    add_measures,
    add_preference,
    add_rel,
    add_runs,
    criteria_of,
    inputs_or_values,
)
from ir_lexirecall.cli.bounds import add_bounds, add_bounds_of_pairs, bounds_options
from ir_lexirecall.cli.output import Page, add_output, emit, save_picture
from ir_lexirecall.cli.significance import (
    add_groups,
    add_margin,
    add_test,
    parse_margin,
    significance_test,
)
from ir_lexirecall.comparison import Comparison
from ir_lexirecall.comparison.comparing import compare_runs, compare_values, parse_criteria
from ir_lexirecall.comparison.design import Design, groups_of
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.io.values import run_name
from ir_lexirecall.present.text import confidence_words, provenance_line
from ir_lexirecall.reports import report

present: Any = LazyModule("ir_lexirecall.present")


def add_compare(commands: Any) -> None:
    parser = commands.add_parser(
        "compare",
        help="compare runs query by query",
        description="Compare runs by measures, by exact preferences between their rankings, or both: a row per pair of runs.",
        example="compare qrels.txt bm25.run dph.run --explain bm25 dph",
    )
    add_runs(parser, least=2, values=True)
    add_measures(parser, text="measures, one or several (default of --values: all)")
    add_preference(parser, "lexirecall, where no measure is named")
    parser.add_argument("--baseline", metavar="RUN", help="compare all others with this run (its name in the table)")
    add_allow_empty(parser)
    add_rel(parser)
    parser.add_argument("--cutoff", type=int, help="what is ranked below counts as not retrieved")
    parser.add_argument(
        "--predicted",
        metavar="FILE",
        help="judgments of all queries by a program; QRELS are then those of people, for a random sample of at least 10",
    )
    add_groups(parser)
    add_margin(parser)
    add_test(parser)
    parser.add_argument(
        "--explain", nargs=2, metavar=("A", "B"), help="instead: what decided between two runs, by query"
    )
    add_bounds(parser)
    parser.add_argument("--plot", metavar="FILE", help="draw the heatmap (with --explain: the pair) into a file")
    add_output(parser)
    parser.set_defaults(command=_compare)


def add_report(commands: Any) -> None:
    parser = commands.add_parser(
        "report",
        help="write an evaluation as one HTML file",
        description="Evaluate and compare runs, and write one HTML file that needs no network.",
        example="report qrels.txt bm25.run dph.run -m TSE LR nDCG@10 -o report.html",
    )
    add_runs(parser, values=True)
    add_measures(parser, text="measures, as in `eval` (default of --values: all)")
    add_preference(parser)
    parser.add_argument("--baseline", metavar="RUN", help="as in `compare`")
    add_allow_empty(parser)
    add_groups(parser)
    add_margin(parser)
    add_test(parser)
    parser.add_argument("--title", help="of the page")
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="HTML file to write")
    parser.set_defaults(command=_report)


_FIRST = [
    "group",
    "queries",
    "criterion",
    "run_a",
    "run_b",
    "wins",
    "losses",
    "ties",
    "incomparable",
    "difference",
    "ci_low",
    "ci_high",
    "p_corrected",
    "verdict",
    "rho",
    "n_effective",
]
"""Columns that matter most to people."""


def _compare(options: argparse.Namespace) -> None:
    inputs, bounds = inputs_or_values(options), bounds_options(options)
    if options.bounds and (options.explain or options.plot):
        raise ValueError(f"--bounds shows a table only; leave out {'--explain' if options.explain else '--plot'}")
    if inputs is not None:
        for name in options.explain or ():
            check_choice("run", name, inputs.runs)
    result = compared(options, criteria_of(options, preferences=[] if inputs is None else ["lexirecall"]), inputs)
    page = Page(options)
    notes: list[str] = []
    if options.bounds:
        add_bounds_of_pairs(page, result, bounds)
    elif options.explain:
        a, b = options.explain
        for name in result.criteria:
            if len(result.criteria) > 1:
                page.add_sentence(f"{name}:")
            page.add_table(result.explain(a, b, name))
        notes = result.diagnostics if page.for_people else []
    elif options.format in ("latex", "markdown"):
        page.add_shown(present.comparison_table(result, 4 if options.places is None else options.places))
    else:
        if page.for_people:
            page.add_finding(present.comparison_finding(result))  # with the notes
        _add_pairs(page, result)
    for sentence in ["", provenance_line(result.provenance), *notes]:
        page.add_sentence(sentence)
    if options.plot:
        save_picture(result.plot_pair(*options.explain) if options.explain else result.plot_pairs(), options.plot)
    page.finish()


def compared(options: argparse.Namespace, by: list[Any], inputs: Inputs | None, least: int = 2) -> Comparison:
    """The comparison that the options ask for: of runs, or of values that another program computed."""
    predicted = getattr(options, "predicted", None)
    design = Design(options.baseline, parse_margin(options.margin), significance_test(options), cluster=options.cluster)
    design.check_given(options.groups, predicted, options.values)
    if inputs is None:
        values = options.values[0] if len(options.values) == 1 else list(options.values)
        costs, missing = options.smaller_is_better, options.missing or "error"
        return compare_values(values, by or None, costs, design, options.groups, missing)
    by_program = None if predicted is None else Judgments.from_qrels(predicted)
    design = replace(design, groups=groups_of(options.groups, inputs.judgments.query_ids))
    criteria, empty = parse_criteria(by), options.allow_empty
    return compare_runs(inputs.judgments, inputs.runs, criteria, design, by_program, allow_empty=empty, least=least)


def _add_pairs(page: Page, result: Comparison) -> None:
    """A row per pair, and per group and pair; for people, what matters most stands first."""
    tables = {"Pairs:": result.table()}
    if result.grouped:
        tables["Pairs in groups of queries:"] = result.group_table()
    if result.grouped and not page.for_people:  # one table: rows of all queries have no group
        whole, in_groups = tables.values()
        tables = {"": pd.concat([whole, in_groups], ignore_index=True)[list(in_groups.columns)]}
    for title, table in tables.items():
        if page.for_people:
            page.add_sentence(title)
            first = [name for name in _FIRST if name in table]
            table = table[[*first, *(name for name in table.columns if name not in first)]]
        page.add_table(table, confidence=confidence_words(result.provenance))


def _report(options: argparse.Namespace) -> None:
    inputs, runs = inputs_or_values(options), {}
    if inputs is None:
        by, sources = criteria_of(options), {run_name(path): path for path in options.values}
    else:
        by = criteria_of(options, [] if options.measures else inputs.measures(options), ["lexirecall"])
        runs = {name: run for name, run in inputs.runs.items() if os.path.isfile(run)}  # a pipe is read once only
        sources = {"qrels": options.qrels, **{f"judged {file}": file for file in options.judged}, **inputs.runs}
    result = compared(options, by, inputs, least=1)
    path = report(
        result,
        options.output,
        title=options.title,
        runs=runs,
        inputs=sources,
        command=shlex.join(["ir-lexirecall", *options.words]),
    )
    emit(f"{path}\n")
