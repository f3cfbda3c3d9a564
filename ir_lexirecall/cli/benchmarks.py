"""The command on many collections: ``benchmark``."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from functools import reduce
from typing import Any

from ir_lexirecall._util.errors import check_choice
from ir_lexirecall._util.lazy import LazyModule
from ir_lexirecall.benchmarks import Benchmark, benchmark
from ir_lexirecall.benchmarks.benchmarking import STANDARD
from ir_lexirecall.benchmarks.sources import Source, read_source
from ir_lexirecall.cli.arguments import TEST, Options, Parser, parse_margin, reading_of
from ir_lexirecall.cli.output import Page, add_glance, add_output
from ir_lexirecall.data.judgments import Judgments, QrelsLike
from ir_lexirecall.io.files import File, named_files
from ir_lexirecall.judging.files import merged
from ir_lexirecall.present.tables import Shown
from ir_lexirecall.present.text import gathered, provenance_line
from ir_lexirecall.reports import report
from ir_lexirecall.significance import TESTS
from ir_lexirecall.significance.draws import OVER

present: Any = LazyModule("ir_lexirecall.present")


def add_benchmark(commands: Any) -> None:
    """Declare the command ``benchmark``."""
    parser: Parser = commands.add_parser(
        "benchmark",
        help="compare runs over several collections",
        description="Compare runs over several collections: means with intervals, ranks, and "
        "differences from a baseline. Each collection counts once. SOURCE has a folder of runs "
        "for each collection; this folder has the collection's id as its name (with dashes for "
        "slashes), or contains a file qrels.*. Or SOURCE is a TOML file with [collections] (name "
        "= id or qrels file), runs (a folder, or a table [runs.COLLECTION] with run = file), and "
        "by, baseline, margin, test, over, missing, ...",
        example="benchmark runs/ -m nDCG@10 LR --baseline bm25",
    )
    parser.add_argument("source", metavar="SOURCE", help="a folder, or a .toml file")
    parser.add(
        "measures",
        help=f"measures, one or several (default: {', '.join(STANDARD)})",
    )
    parser.add_preference()
    parser.add("baseline", help="run that all others are compared with")
    words = "what intervals and tests sample: queries (default), or collections, too"
    parser.add_argument("--over", choices=OVER, help=words)
    where = "a collection lacks runs (with --values, also if a query lacks values)"
    parser.add(
        "missing", help=f"if {where}: stop with an error, or skip (default: error)"
    )
    parser.add_argument(
        "--values",
        action="store_true",
        help="SOURCE holds values per query that other programs computed: a folder of files for "
        "each collection, a table with a "
        "column collection, or MTEB's results (default of -m: all measures)",
    )
    words = "further judgments of a collection's queries (repeatable)"
    parser.add("judged", metavar="COLLECTION=FILE", help=words)
    parser.add(
        "predicted",
        action="append",
        default=[],
        metavar="COLLECTION=FILE",
        help="a program's judgments of all queries of a collection (repeatable); its qrels then "
        "has people's judgments of a random sample of at least 10 queries; with --values, give "
        "one FILE without COLLECTION=: the program's values of all collections",
    )
    parser.add(
        "smaller_is_better", "query_column", "allow_empty", "trec_eval", "levels"
    )
    parser.add("repeats", "repeats_are", "deterministic")
    parser.add(
        "groups",
        more="; if collections share ids of queries, a column collection tells them apart",
    )
    parser.add("cluster")
    parser.add_argument("--report", metavar="FILE", help="write an HTML report as well")
    over = "over collections, differences are tested by t (random effects)"
    tests = f"{', '.join(TESTS)} (default: t for measures, sign for preferences)"
    parser.add("margin")
    parser.add(
        "test", help=f"significance test within each collection: {tests}; {over}"
    )
    parser.add(*TEST[1:])
    parser.add_argument(
        "--pairs",
        action="store_true",
        help="add a table for each criterion: intervals, ranks, differences, random effects",
    )
    add_glance(parser)
    add_output(parser)


def run_benchmark(options: Options) -> None:
    """Run the command ``benchmark``."""
    if options.values:
        source = Source({}, {})
    else:
        source = read_source(options.source)
    _take_test_of_file(options, source)
    if options.groups is not None and named_files(options.groups):
        options.groups = File.opened(options.groups)  # read once for each collection
    judged = gathered(_by_collection("--judged", options.judged, source))
    predicted = {}
    if not options.values:
        predicted = dict(_by_collection("--predicted", options.predicted, source))
    qrels = _qrels_with(judged, options, source)
    arguments = _arguments(options, source, predicted)
    result = benchmark(qrels or None, source.runs or None, **arguments)
    page = Page(options)
    _show(page, result, options.over or source.options.get("over"))
    if options.report is not None:
        inputs = _inputs_of_report(options, source, judged, predicted)
        command = shlex.join(["ir-lexirecall", *options.words])
        report(result, options.report, runs=source.runs, inputs=inputs, command=command)
    page.finish()
    page.say_caveats(result)


def _take_test_of_file(options: Options, source: Source) -> None:
    """Take what the file says of the test, unless the command line says it, too."""
    named = {word.partition("=")[0] for word in options.words}
    for name in {*TEST, "cluster"} & source.options.keys():
        if f"--{name.replace('_', '-')}" not in named:
            setattr(options, name, source.options[name])


def _qrels_with(
    judged: Mapping[str, list[str]], options: Options, source: Source
) -> dict[str, QrelsLike]:
    """Return the qrels of each collection, with further judgments."""
    qrels = source.qrels
    for name, files in judged.items():
        qrels[name] = reduce(merged, files, Judgments.from_qrels(qrels[name]))
    return {name: reading_of(options, of_one) for name, of_one in qrels.items()}


def _arguments(
    options: Options, source: Source, predicted: Mapping[str, str]
) -> dict[str, Any]:
    """Return the arguments of ``benchmark``; the command line overrides the file."""
    named = {}
    for name in (
        "baseline",
        "smaller_is_better",
        "groups",
        "missing",
        "deterministic",
    ):
        named[name] = getattr(options, name)
    named["by"] = options.criteria() or None
    named["margin"] = parse_margin(options.margin)
    named["allow_empty"] = options.allow_empty or None
    named["query"] = options.query_column
    named["repeats"] = options.repeats_of_values()
    arguments = {"by": None if options.values else STANDARD} | source.arguments
    arguments |= {name: value for name, value in named.items() if value is not None}
    arguments["test"] = options.significance_test()
    if options.values:
        arguments["values"] = options.source
    else:
        arguments["values"] = None
    if options.predicted and not options.values:
        arguments["predicted"] = predicted
    elif options.predicted:
        if len(options.predicted) > 1:
            raise ValueError("--predicted: with --values give one FILE of values")
        arguments["predicted"] = options.predicted[0]
    return arguments


def _show(page: Page, result: Benchmark, over: str | None) -> None:
    """Add what holds over all collections, for people, papers or programs."""
    if page.options.format in ("markdown", "latex"):
        columns = "means" if page.options.format == "latex" else None
        table = present.benchmark_table(result, over, page.places, columns=columns)
        page.add_shown(table)
    elif page.for_people:
        _show_to_people(page, result, over)
    else:
        page.add_table(result.group_table() if result.grouped else result.overall(over))


def _show_to_people(page: Page, result: Benchmark, over: str | None) -> None:
    """Add the result at a glance and, if they were asked for, every number of each criterion."""
    options = page.options
    glance = present.benchmark_glance(result, over, page.decimals)
    page.add_glance(glance, provenance_line(result.provenance))
    if not options.pairs:
        return
    for name in result.quantities:
        criterion, *columns = present.benchmark_table(
            result, over, page.places, name
        ).columns
        page.add_sentences("", f"{criterion.cells[0]}:")
        page.add_shown(Shown(columns))
    if result.grouped:
        page.add_sentences("", "Pairs in groups of queries:")
        page.add_table(result.group_table())


def _inputs_of_report(
    options: Options,
    source: Source,
    judged: Mapping[str, list[str]],
    predicted: Mapping[str, str],
) -> dict[str, str]:
    """Return the files that the report lists, by what they are."""
    if options.values:
        inputs = {"values": options.source}
    else:
        inputs = {}
    inputs |= {f"{name}: qrels": file for name, file in source.collections.items()}
    for name, files in judged.items():
        inputs |= {f"{name}: judged {file}": file for file in files}
    inputs |= {f"{name}: predicted": file for name, file in predicted.items()}
    for name, runs in source.runs.items():
        inputs |= {f"{name}: {run}": file for run, file in runs.items()}
    return inputs


def _by_collection(
    option: str, words: list[str], source: Source
) -> list[tuple[str, str]]:
    """Return pairs of a collection and a file from words ``COLLECTION=FILE``."""
    pairs = []
    for word in words:
        name, mark, file = word.partition("=")
        if not (mark and file):
            raise ValueError(f"{option} {word!r} must look like COLLECTION=FILE")
        pairs.append((check_choice("collection", name, source.collections), file))
    return pairs
