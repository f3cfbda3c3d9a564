"""``--bounds`` of ``eval`` and ``compare``: what unjudged documents could change."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from ir_lexirecall._util.lazy import LazyModule
from ir_lexirecall.cli.output import Page
from ir_lexirecall.measures.scoring import aggregate

if TYPE_CHECKING:
    from ir_lexirecall.comparison import Comparison
    from ir_lexirecall.evaluation.scored_runs import ScoredRuns

algorithms: Any = LazyModule("ir_lexirecall.judging.algorithms")
run_bounds: Any = LazyModule("ir_lexirecall.judging.bounds")

_OPTIONS = {"depth": None, "max_rel": None, "unretrieved": 0}


def add_bounds(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--bounds",
        action="store_true",
        help="instead: what any judging of the retrieved unjudged documents can make of it",
    )
    add_depth(parser)
    parser.add_argument(
        "--unretrieved",
        type=int,
        metavar="N",
        help="of --bounds: relevant documents of a query, at most, that no run retrieved (default: 0)",
    )


def add_depth(parser: argparse.ArgumentParser) -> None:
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
    given = {name: getattr(options, name) for name in _OPTIONS if getattr(options, name) is not None}
    if given and not options.bounds:
        raise ValueError(f"--{next(iter(given)).replace('_', '-')} belongs to --bounds; give both")
    return _OPTIONS | given


def add_bounds_of_runs(page: Page, scored: ScoredRuns, options: dict[str, Any], by_query: bool) -> None:
    """A row per run, or per run and query: every value and between what it lies."""
    judgings = algorithms.Judgings(**options)
    bounds = run_bounds.bounds_by_measure(scored.pool(judgings.depth), scored.measures, scored.values, judgings)
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
    depth = "documents down to the cutoff, else all" if options["depth"] is None else f"depth {options['depth']}"
    page.add_sentence(f"low, high: the least and the largest value that any judging can make of it ({depth})")


def add_bounds_of_pairs(page: Page, result: Comparison, options: dict[str, Any]) -> None:
    """A row per criterion and pair: what any judging can make of it."""
    table = result.bounds(**options)
    page.add_table(table)
    for note in table.attrs["notes"]:
        page.add_sentence(f"{note}.")
