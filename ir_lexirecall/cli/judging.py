"""The command that says which documents to judge next: ``to-judge``."""

from __future__ import annotations

import argparse
from typing import Any

from ir_lexirecall.cli.arguments import (
    Inputs,
    add_allow_empty,
    add_measures,
    add_preference,
    add_rel,
    add_runs,
    criteria_of,
)
from ir_lexirecall.cli.bounds import add_depth
from ir_lexirecall.cli.output import Page, add_output, emit
from ir_lexirecall.comparison.comparing import compare_runs, parse_criteria
from ir_lexirecall.comparison.design import Design
from ir_lexirecall.judging.algorithms import Judgings
from ir_lexirecall.judging.files import write_pool_csv, write_pool_page


def add_to_judge(commands: Any) -> None:
    parser = commands.add_parser(
        "to-judge",
        help="list the unjudged documents that decide most",
        description="List the unjudged documents whose judgment decides most between runs, by one criterion. -o pool.csv adds texts, "
        "where the collection has them, and a column of grades to fill in; -o pool.html is a page to judge in that needs no "
        "network. Other commands take what was judged with --judged.",
        example="to-judge qrels.txt bm25.run dph.run -n 100 -o pool.html",
    )
    add_runs(parser, least=2)
    parser.add_argument("-n", type=int, default=100, metavar="N", help="how many documents at most (default: 100)")
    add_measures(parser, text="the measure that compares the runs")
    add_preference(parser)
    add_rel(parser)
    parser.add_argument("--cutoff", type=int, help="what is ranked below counts as not retrieved, for preferences")
    parser.add_argument("--baseline", metavar="RUN", help="only what decides between this run and the others")
    add_allow_empty(parser)
    add_depth(parser)
    add_output(parser)
    parser.set_defaults(command=_to_judge)


def _to_judge(options: argparse.Namespace) -> None:
    by = parse_criteria(criteria_of(options, preferences=["lexirecall"]))
    if len(by) > 1:
        raise ValueError(f"one criterion orders the documents; choose one of {', '.join(by)}")
    inputs = Inputs.from_options(options)
    design = Design(options.baseline)
    result = compare_runs(inputs.judgments, inputs.runs, by, design, allow_empty=options.allow_empty)
    if result.scored is not None:
        result.scored.warn_of_hardly_judged()
    table = result.to_judge(options.n, depth=options.depth, max_rel=options.max_rel)
    texts = inputs.collection if inputs.collection is not None and inputs.collection.has_texts else None
    kind = (options.output or "").lower().rpartition(".")[2]
    if kind == "html":
        top = Judgings(max_rel=options.max_rel).top_grade(inputs.judgments)
        emit(f"{write_pool_page(table, options.output, texts=texts, max_rel=top)}\n")
    elif kind == "csv":
        emit(f"{write_pool_csv(table, options.output, texts=texts)}\n")
    else:
        page = Page(options)
        page.add_table(table)
        if page.for_people and not len(table):
            page.add_sentence("No unjudged document can change who is better.")
        page.finish()
