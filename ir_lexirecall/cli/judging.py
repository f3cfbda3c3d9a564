"""What unjudged documents could change: ``--bounds`` of ``eval`` and ``compare``, and the command ``to-judge``."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from ir_lexirecall.cli.arguments import (
    Inputs,
    add_allow_empty,
    add_measures,
    add_preference,
    add_rel,
    add_runs,
    criteria_of,
)
from ir_lexirecall.cli.output import Page, add_output, emit
from ir_lexirecall.comparison.comparing import compare_runs, parse_criteria
from ir_lexirecall.judging.algorithms import top_grade
from ir_lexirecall.judging.files import write_pool_csv, write_pool_page
from ir_lexirecall.judging.run_bounds import bounds_by_measure
from ir_lexirecall.measures.scoring import aggregate
from ir_lexirecall.significance import SignificanceTest

if TYPE_CHECKING:
    from ir_lexirecall.comparison import Comparison
    from ir_lexirecall.evaluation.scored_runs import ScoredRuns

_OPTIONS = {"depth": None, "max_rel": None, "unretrieved": 0}


def add_bounds(parser: argparse.ArgumentParser) -> None:
    """Add ``--bounds`` and what belongs to it."""
    parser.add_argument(
        "--bounds",
        action="store_true",
        help="instead: what any judging of the retrieved unjudged documents can make of it",
    )
    _add_depth(parser)
    parser.add_argument(
        "--unretrieved",
        type=int,
        metavar="N",
        help="of --bounds: relevant documents of a query, at most, that no run retrieved (default: 0)",
    )


def _add_depth(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--depth",
        type=int,
        metavar="N",
        help="what is ranked below and unjudged is not relevant (default: the criterion's cutoff, else whole rankings)",
    )
    parser.add_argument(
        "--max-rel",
        type=float,
        metavar="G",
        help="top grade of the scale (default: the measure's own, else of the qrels)",
    )


def bounds_options(options: argparse.Namespace) -> dict[str, Any]:
    """The options of ``--bounds``.

    Raises:
        ValueError: one was given without ``--bounds``.
    """
    given = {name: getattr(options, name) for name in _OPTIONS if getattr(options, name) is not None}
    if given and not options.bounds:
        raise ValueError(f"--{next(iter(given)).replace('_', '-')} belongs to --bounds; give both")
    return _OPTIONS | given


def add_bounds_of_runs(page: Page, scored: ScoredRuns, options: dict[str, Any], by_query: bool) -> None:
    """A row per run, or per run and query: every value and between what it lies."""
    bounds = bounds_by_measure(scored.pool(options["depth"]), scored.measures, scored.values, **options)
    queries = scored.judgments.query_ids
    columns: dict[str, list[Any]] = {"run": scored.names}
    if by_query:
        columns = {"run": [name for name in scored.names for _ in queries], "query_id": [*queries] * len(scored.names)}
    for name, measure in scored.measures.items():
        ends = {name: scored.values[name]}
        if name in bounds:
            ends |= {f"{name} low": bounds[name].low, f"{name} high": bounds[name].high}
        for title, array in ends.items():
            columns[title] = array.ravel().tolist() if by_query else [aggregate(measure, row) for row in array]
    page.add_table(columns)
    page.add_sentence(
        f"low, high: the least and the largest value that any judging can make of it ({_down_to(options)})"
    )


def _down_to(options: dict[str, Any]) -> str:
    depth = options["depth"]
    return "documents down to the cutoff, else all" if depth is None else f"depth {depth}"


def add_bounds_of_pairs(page: Page, result: Comparison, options: dict[str, Any]) -> None:
    """A row per criterion and pair: what any judging can make of it."""
    table = result.bounds(**options)
    page.add_table(table)
    for note in table.attrs["notes"]:
        page.add_sentence(f"{note}.")


def add_to_judge(commands: Any) -> None:
    """Add the command to what ``ArgumentParser.add_subparsers`` gave."""
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
    _add_depth(parser)
    add_output(parser)
    parser.set_defaults(command=_to_judge)


def _to_judge(options: argparse.Namespace) -> None:
    by = parse_criteria(criteria_of(options, preferences=["lexirecall"]))
    if len(by) > 1:
        raise ValueError(f"one criterion orders the documents; choose one of {', '.join(by)}")
    inputs = Inputs.from_options(options)
    result = compare_runs(
        inputs.judgments,
        inputs.runs,
        by,
        baseline=options.baseline,
        test=SignificanceTest(),
        rel=options.rel,
        cutoff=options.cutoff,
        allow_empty=options.allow_empty,
    )
    table = result.to_judge(options.n, depth=options.depth, max_rel=options.max_rel)
    texts = inputs.collection if inputs.collection is not None and inputs.collection.has_texts else None
    kind = (options.output or "").lower().rpartition(".")[2]
    if kind == "html":
        top = top_grade(inputs.judgments, options.max_rel)
        emit(f"{write_pool_page(table, options.output, texts=texts, max_rel=top)}\n")
    elif kind == "csv":
        emit(f"{write_pool_csv(table, options.output, texts=texts)}\n")
    else:
        page = Page(options)
        page.add_table(table)
        if page.for_people and not len(table):
            page.add_sentence("No unjudged document can change who is better.")
        page.finish()
