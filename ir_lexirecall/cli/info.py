"""The commands that show what there is: ``demo``, ``measures`` and ``explain-measure``."""

from __future__ import annotations

import argparse
import shlex
from typing import Any

from ir_lexirecall.cli.arguments import Parser
from ir_lexirecall.cli.eval import add_means
from ir_lexirecall.cli.output import Page, add_output, add_page, emit, filled, terminal_width
from ir_lexirecall.data import demo
from ir_lexirecall.data.collection import DEMO, find_collection
from ir_lexirecall.descriptions import describe
from ir_lexirecall.evaluation.scored_runs import ScoredRuns
from ir_lexirecall.measures.declaration import REGISTRY
from ir_lexirecall.measures.parsing import parse_measures

_READABLE = 100  # columns of a text


def add_demo(commands: Any) -> Parser:
    parser: Parser = commands.add_parser(
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
    return parser


def add_measures(commands: Any) -> Parser:
    parser: Parser = commands.add_parser("measures", help="list the measures with their parameters")
    add_page(parser)
    return parser


def add_explain_measure(commands: Any) -> Parser:
    parser: Parser = commands.add_parser(
        "explain-measure",
        help="say what a measure means",
        description="Say what a measure means: formula, parameters, range, what 0 means, when it ties, when to use it, an "
        "example, the source.",
        example="explain-measure 'RBU(p=0.9)@20'",
    )
    parser.add_argument("measure", metavar="M", help="any measure that ir_measures knows, such as LR or nDCG@10")
    add_page(parser)
    return parser


def run_demo(options: argparse.Namespace) -> None:
    if options.write is not None:
        emit("".join(f"{path}\n" for path in demo.write(options.write)), options.output)
        return
    measures = {str(measure): measure for measure in find_collection(DEMO).recommended()}
    scored = ScoredRuns.from_runs(parse_measures(measures), demo.qrels(), demo.runs())
    page = Page(options)
    sizes = f"{len(demo.docs())} passages, {len(scored.judgments)} queries, {len(scored.names)} runs"
    page.add_sentence(f"{sizes}. Means, the best of each column marked *:")
    page.add_sentence("")
    add_means(page, scored, legend=False)  # the first sentence says it
    page.add_sentence("")
    missing = {name: int((run.relevant().r < run.relevant().m).sum()) for name, run in scored.runs.items()}
    page.add_sentence(
        f"TSE is (nearly) 0 because relevant documents are missing: of {len(scored.judgments)} queries, "
        f"{', '.join(f'{name} on {number}' for name, number in missing.items())}; such a query has TSE 0, whatever else was "
        "found. LR still counts what was found. RBU below 0: reading cost more than it gave. `ir-lexirecall explain-measure "
        "TSE` says more."
    )
    page.add_sentence("")
    for name, measure in measures.items():
        page.add_item(f"{page.shown_name(name)}: {measure.SHORT_DESC}")
    page.add_short_names()
    page.add_sentence("")
    files = f"{shlex.quote(str(demo.FOLDER / 'runs'))}/*.run"
    page.add_sentence("The same table, and a comparison:")
    page.add_line(f"ir-lexirecall eval {DEMO} {files}")
    page.add_line(f"ir-lexirecall compare {DEMO} {files}")
    page.add_sentence("In Python:")
    page.add_line("import ir_lexirecall as irl; from ir_lexirecall import demo")
    page.add_line(f'print(irl.benchmark("{DEMO}", demo.runs()))')
    page.finish()


def run_explain_measure(options: argparse.Namespace) -> None:
    try:
        page = describe(options.measure)
    except ValueError as error:
        said = str(error).replace("describe: ", "explain-measure: ", 1)
        raise ValueError(f"{said}; `ir-lexirecall measures` lists those of this library") from None
    emit(f"{page.page(min(terminal_width(options) or _READABLE, _READABLE))}\n", options.output)


def run_measures(options: argparse.Namespace) -> None:
    lines: list[str] = []
    for name, measure in REGISTRY.items():
        if name != measure.NAME:
            continue
        aliases = [alias for alias, other in REGISTRY.items() if other is measure and alias != name]
        also = f" (also {aliases[0]})" if aliases else ""
        lines.append(filled(f"{name}{also}: {measure.SHORT_DESC}", options, " " * 4))
        lines.append(filled(f"    {measure.ABOUT.plain}", options, " " * 6))
        for key, param in measure.SUPPORTED_PARAMS.items():
            default = "optional" if param.default is None else f"default {param.default!r}"
            how = "required" if param.required else default
            written = f"@{key}" if key == measure.AT_PARAM else key
            told = f"    {written:<11} {param.kind:<7} {how:<21} {param.desc}"
            lines.append(filled(told, options, " " * 16))
        lines.append("")
    emit("\n".join(lines) + "\n", options.output)
