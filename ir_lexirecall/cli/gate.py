"""The command that stops a change which makes rankings worse: ``gate``."""

from __future__ import annotations

import argparse
from typing import Any

from ir_lexirecall._util.errors import check_integer
from ir_lexirecall._util.lazy import LazyModule
from ir_lexirecall.cli.arguments import (
    Inputs,
    add_allow_empty,
    add_measures,
    add_preference,
    add_qrels,
    add_rel,
    criteria_of,
)
from ir_lexirecall.cli.output import emit
from ir_lexirecall.cli.significance import add_margin, add_test, parse_margin, significance_test
from ir_lexirecall.comparison.gating import RULES, gate

present: Any = LazyModule("ir_lexirecall.present")


def add_gate(commands: Any) -> None:
    parser = commands.add_parser(
        "gate",
        help="fail where a candidate is worse than a baseline",
        description="Compare a candidate run with a baseline and print a summary for a pull request, with the queries that lost "
        "most and what decided. By evidence, a criterion is worse where a one-sided test finds a loss (corrected over all "
        "criteria), not worse where it finds that the loss is less than the margin, else undecided. The rule 'drop' looks at the "
        "means alone: they may not fall by more than the margin.",
        example="gate qrels.txt main.run branch.run -m nDCG@10 LR > summary.md",
        codes={3: "the candidate is worse", 4: "undecided, with --strict"},
    )
    add_qrels(parser)
    parser.add_argument("baseline", metavar="BASELINE", help="run file to compare with")
    parser.add_argument("candidate", metavar="CANDIDATE", help="run file that must not be worse")
    add_measures(parser, text="measures, one or several (default: those that a collection recommends)")
    add_preference(parser, "none")
    add_margin(parser, "0.01")
    parser.add_argument("--rule", choices=RULES, default="evidence", help="what makes a run worse (default: evidence)")
    parser.add_argument("--strict", action="store_true", help="let what is undecided not pass")
    parser.add_argument(
        "--queries", type=int, default=10, metavar="N", help="how many lost queries to list (default: 10)"
    )
    add_rel(parser)
    add_allow_empty(parser)
    add_test(parser)
    parser.add_argument(
        "--format", choices=["markdown", "json"], default="markdown", help="output format (default: markdown)"
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="write the summary into a file instead")
    parser.set_defaults(command=_gate)


def _gate(options: argparse.Namespace) -> int:
    check_integer("queries", options.queries, least=0)
    options.runs = [options.baseline, options.candidate]
    inputs = Inputs.from_options(options)
    (baseline, first), (candidate, second) = inputs.runs.items()
    found = gate(
        inputs.judgments,
        first,
        second,
        criteria_of(options, () if options.measures or options.preference else inputs.measures(options)),
        margin=parse_margin(options.margin) or 0.0,
        rule=options.rule,
        strict=options.strict,
        names=(baseline, candidate),
        test=significance_test(options),
        allow_empty=options.allow_empty,
    )
    shown = (present.gate_json if options.format == "json" else present.gate_text)(found, options.queries)
    options.found = found.exit_code  # which stands although nobody reads the summary to its end
    emit(f"{shown}\n", options.output)
    return found.exit_code
