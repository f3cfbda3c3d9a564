"""The commands on runs (``eval``, ``compare``, ``report``), and ``demo`` and ``measures``."""

from __future__ import annotations

import argparse
import os
import shlex
import textwrap
from typing import TYPE_CHECKING, Any

from ir_lexirecall._util.errors import check_choice
from ir_lexirecall._util.lazy import LazyModule
from ir_lexirecall.cli.arguments import (
    Inputs,
    add_allow_empty,
    add_measures,
    add_preference,
    add_rel,
    add_runs,
    criteria_of,
    values_of,
)
from ir_lexirecall.cli.evaluation import TREC, add_means, evaluate
from ir_lexirecall.cli.judging import add_bounds, add_bounds_of_pairs, bounds_options
from ir_lexirecall.cli.output import Page, add_output, add_page, emit, save_picture, terminal_width
from ir_lexirecall.cli.significance import (
    add_groups,
    add_margin,
    add_test,
    parse_margin,
    query_groups,
    significance_test,
)
from ir_lexirecall.comparison.comparing import compare, compare_runs, parse_criteria
from ir_lexirecall.data import demo
from ir_lexirecall.data.collection import DEMO, load
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.descriptions import describe
from ir_lexirecall.evaluation.scored_runs import ScoredRuns
from ir_lexirecall.io.values.reading import run_name
from ir_lexirecall.measures.declaration import REGISTRY
from ir_lexirecall.measures.parsing import parse_measures
from ir_lexirecall.present.words import confidence_words, provenance_line
from ir_lexirecall.reports import report

if TYPE_CHECKING:
    from ir_lexirecall.comparison import Comparison

present: Any = LazyModule("ir_lexirecall.present")

_READABLE = 100  # columns of a text
_DEMO_LEGEND = {
    "nDCG": "a standard measure: graded relevance, discounted by rank",
    "AP": "a standard measure: precision at every relevant document",
    "R": "a standard measure: the share of the relevant documents that is retrieved",
    "TSE": "how soon everything relevant has been seen: 1 / rank of the last relevant document",
    "LexiRecall": "LR in short: recall first, then how early the last relevant document comes, and so on",
    "CWL_ERR10": "C/W/L variant of ERR: expected utility per document of a user who stops when satisfied",
    "RBU": "rank-biased utility: new subtopics count, repetition and reading effort cost",
    "TOMA": "nDCG on relevance, credibility and readability together",
}
"""What the measures recommended for the embedded collection are."""


def add_commands(commands: Any) -> None:
    """Add the commands to what ``ArgumentParser.add_subparsers`` gave."""
    parser = commands.add_parser(
        "eval",
        help="evaluate runs",
        description="Evaluate runs: a row per run, a column per measure. The best value of a column is marked *.",
        example="eval qrels.txt bm25.run dph.run -m TSE@1000 LR nDCG@10 'RBU(p=0.9)@20'",
    )
    add_runs(parser)
    add_measures(parser, text="measures, one or several (default: those that a collection recommends)")
    parser.add_argument("--by-query", action="store_true", help="a row per run and query")
    parser.add_argument(
        "--baseline",
        metavar="RUN",
        help="test all others against this run: + is better, - is worse (its name in the table)",
    )
    add_rel(parser)
    add_allow_empty(parser)
    add_bounds(parser)
    add_margin(parser)
    add_test(parser)
    add_output(parser, TREC)
    parser.set_defaults(command=evaluate)

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

    parser = commands.add_parser(
        "demo",
        help="evaluate five runs on the embedded collection",
        description=f"Evaluate five runs on the embedded collection. Its runs are the files in {demo.FOLDER / 'runs'}, its "
        f"judgments {demo.FOLDER / 'qrels.tsv'}; other commands know it as {DEMO}, instead of a file of qrels.",
        example=f"eval {DEMO} {demo.FOLDER / 'runs' / 'bm25.run'} {demo.FOLDER / 'runs' / 'ql.run'}",
    )
    parser.add_argument(
        "--write", metavar="DIR", help="instead: write qrels.txt, the runs, queries and passages into a folder"
    )
    add_output(parser)
    parser.set_defaults(command=_demo)

    parser = commands.add_parser("measures", help="list the measures with their parameters")
    add_page(parser)
    parser.set_defaults(command=_measures)

    parser = commands.add_parser(
        "explain-measure",
        help="say what a measure means",
        description="Say what a measure means: formula, parameters, range, what 0 means, when it ties, when to use it, an "
        "example, the source.",
        example="explain-measure 'RBU(p=0.9)@20'",
    )
    parser.add_argument("measure", metavar="M", help="any measure that ir_measures knows, such as LR or nDCG@10")
    add_page(parser)
    parser.set_defaults(command=_explain_measure)


_FIRST = [
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


def _compare(options: argparse.Namespace) -> None:
    values, bounds = values_of(options), bounds_options(options)
    if options.bounds and (options.explain or options.plot):
        raise ValueError(f"--bounds shows a table only; leave out {'--explain' if options.explain else '--plot'}")
    if values is not None:
        result = _compare_values(options, values, rel=options.rel, cutoff=options.cutoff, predicted=options.predicted)
    else:
        inputs = Inputs.from_options(options)
        for name in options.explain or ():
            check_choice("run", name, inputs.runs)
        result = compare_runs(
            inputs.judgments,
            inputs.runs,
            parse_criteria(criteria_of(options, preferences=["lexirecall"])),
            baseline=options.baseline,
            test=significance_test(options),
            margin=parse_margin(options.margin),
            rel=options.rel,
            cutoff=options.cutoff,
            predicted=None if options.predicted is None else Judgments.from_qrels(options.predicted),
            groups=query_groups(options, inputs.judgments),
            cluster=options.cluster,
            allow_empty=options.allow_empty,
        )
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


def _compare_values(options: argparse.Namespace, values: str | list[str], **others: Any) -> Comparison:
    """The comparison of values that another program computed."""
    return compare(
        by=criteria_of(options) or None,
        values=values,
        baseline=options.baseline,
        test=significance_test(options),
        margin=parse_margin(options.margin),
        missing=options.missing or "error",
        groups=options.groups,
        cluster=options.cluster,
        **others,
    )


def _add_pairs(page: Page, result: Comparison) -> None:
    """A row per pair, and per group and pair; for people, what matters most stands first."""
    import pandas as pd

    table = result.table()
    if page.for_people:
        first = [name for name in _FIRST if name in table]
        table = table[[*first, *(name for name in table.columns if name not in first)]]
        page.add_sentence("Pairs:")
    in_groups = None if result.groups is None or result.cluster else result.group_table()
    if in_groups is None or page.for_people:
        page.add_table(table, confidence=confidence_words(result.provenance))
    if in_groups is None:
        return
    if page.for_people:
        first = [name for name in ["group", "queries", *_FIRST] if name in in_groups]
        page.add_sentence("Pairs in groups of queries:")
        in_groups = in_groups[[*first, *(name for name in in_groups.columns if name not in first)]]
    else:  # one table: rows of all queries have no group
        in_groups = pd.concat([table, in_groups], ignore_index=True)[list(in_groups.columns)]
    page.add_table(in_groups, confidence=confidence_words(result.provenance))


def _report(options: argparse.Namespace) -> None:
    values, runs = values_of(options), {}
    if values is not None:
        result, sources = _compare_values(options, values), {run_name(path): path for path in options.values}
    else:
        inputs = Inputs.from_options(options)
        runs = {name: run for name, run in inputs.runs.items() if os.path.isfile(run)}  # a pipe is read once only
        sources = {"qrels": options.qrels, **{f"judged {file}": file for file in options.judged}, **inputs.runs}
        result = compare_runs(
            inputs.judgments,
            inputs.runs,
            parse_criteria(criteria_of(options, [] if options.measures else inputs.measures(options), ["lexirecall"])),
            baseline=options.baseline,
            test=significance_test(options),
            margin=parse_margin(options.margin),
            groups=query_groups(options, inputs.judgments),
            cluster=options.cluster,
            allow_empty=options.allow_empty,
            least=1,
        )
    path = report(
        result,
        options.output,
        title=options.title,
        runs=runs,
        inputs=sources,
        command=shlex.join(["ir-lexirecall", *options.words]),
    )
    emit(f"{path}\n")


def _demo(options: argparse.Namespace) -> None:
    if options.write is not None:
        emit("".join(f"{path}\n" for path in demo.write(options.write)), options.output)
        return
    measures = {str(measure): measure for measure in load(DEMO).recommended()}
    scored = ScoredRuns.from_runs(parse_measures(measures), demo.qrels(), demo.runs())
    page = Page(options)
    sizes = f"{len(demo.docs())} passages, {len(scored.judgments)} queries, {len(scored.names)} runs"
    page.add_sentence(f"{sizes}. Means, the best of each column marked *:")
    page.add_sentence("")
    add_means(page, scored, legend=False)  # the first sentence says it
    page.add_sentence("")
    page.add_sentence(_zeros(scored))
    page.add_sentence("")
    page.add_definitions({page.shown_name(name): _DEMO_LEGEND[measure.NAME] for name, measure in measures.items()})
    page.add_short_names()
    page.add_sentence("")
    files = f"{shlex.quote(str(demo.FOLDER / 'runs'))}/*.run"
    page.add_sentence("The same table, and who is really ahead:")
    page.add_line(f"ir-lexirecall eval {DEMO} {files}")
    page.add_line(f"ir-lexirecall compare {DEMO} {files}")
    page.add_sentence("In Python:")
    page.add_line("import ir_lexirecall as irl; from ir_lexirecall import demo")
    page.add_line(f'print(irl.benchmark("{DEMO}", demo.runs()))')
    page.finish()


def _zeros(scored: ScoredRuns) -> str:
    """Why TSE is nearly 0: what the runs miss."""
    missing = {name: int((run.relevant().r < run.relevant().m).sum()) for name, run in scored.runs.items()}
    shown = ", ".join(f"{name} on {number}" for name, number in missing.items())
    return (
        f"TSE is (nearly) 0 because relevant documents are missing: of {len(scored.judgments)} queries, {shown}; such a query has "
        "TSE 0, whatever else was found. LR still counts what was found. RBU below 0: reading cost more than it gave. "
        "`ir-lexirecall explain-measure TSE` says more."
    )


def _explain_measure(options: argparse.Namespace) -> None:
    try:
        page = describe(options.measure)
    except ValueError as error:
        said = str(error).replace("describe: ", "explain-measure: ", 1)
        raise ValueError(f"{said}; `ir-lexirecall measures` lists those of this library") from None
    emit(f"{page.page(min(terminal_width(options) or _READABLE, _READABLE))}\n", options.output)


def _measures(options: argparse.Namespace) -> None:
    width = terminal_width(options) or 10_000
    lines: list[str] = []

    def add(text: str, indent: int = 0, further: int = 4) -> None:
        lines.append(
            textwrap.fill(
                text, width, initial_indent=" " * indent, subsequent_indent=" " * further, break_on_hyphens=False
            )
        )

    for name, measure in REGISTRY.items():
        if name != measure.NAME:
            continue
        aliases = [alias for alias, other in REGISTRY.items() if other is measure and alias != name]
        add(f"{name}{f' (also {aliases[0]})' if aliases else ''}: {measure.SHORT_DESC}")
        add(measure.ABOUT.plain, 4, 6)
        for key, param in measure.SUPPORTED_PARAMS.items():
            if param.required:
                how = "required"
            else:
                how = "optional" if param.default is None else f"default {param.default!r}"
            written = f"@{key}" if key == measure.AT_PARAM else key
            add(f"{written:<11} {param.kind:<7} {how:<21} {param.desc}", 4, 16)
        lines.append("")
    emit("\n".join(lines) + "\n", options.output)
