"""The commands on runs (``eval``, ``compare``, ``report``), and ``demo`` and ``measures``."""

from __future__ import annotations

import argparse
import os
import shlex
from typing import TYPE_CHECKING, Any

import numpy as np

from ir_lexirecall import demo
from ir_lexirecall.audit import tie_warnings
from ir_lexirecall.benchmark import benchmark
from ir_lexirecall.cli.arguments import (
    Inputs,
    add_measures,
    add_preference,
    add_rel,
    add_runs,
    add_test,
    called,
    significance_test,
    split_measures,
)
from ir_lexirecall.cli.output import (
    BEST,
    BETTER,
    EXACT,
    WORSE,
    Page,
    add_output,
    add_page,
    emit,
    save_picture,
    terminal_width,
)
from ir_lexirecall.collections import DEMO, load
from ir_lexirecall.descriptions import describe
from ir_lexirecall.errors import check_choice
from ir_lexirecall.evaluation import parse_measures
from ir_lexirecall.measures.base import REGISTRY
from ir_lexirecall.measures.scoring import smaller_is_better
from ir_lexirecall.preferences import Preferences, compare
from ir_lexirecall.preferences.comparison import check_baseline
from ir_lexirecall.report import report
from ir_lexirecall.runs import ScoredRuns
from ir_lexirecall.summary import correction_words, grouped

if TYPE_CHECKING:
    import pandas as pd

_READABLE = 100  # columns of a text
_COUNTS = frozenset(("NumQ", "NumRel", "NumRet", "Judged"))  # of which more is not better
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
    _add_allow_empty(parser)
    add_test(parser, "t")
    add_output(parser)
    parser.set_defaults(command=_evaluate)

    parser = commands.add_parser(
        "compare",
        help="compare runs query by query",
        description="Compare runs by exact preferences between their rankings: a row per pair of runs.",
        example="compare qrels.txt bm25.run dph.run --explain bm25 dph",
    )
    add_runs(parser, least=2)
    add_preference(parser)
    parser.add_argument("--baseline", metavar="RUN", help="compare all others with this run (its name in the table)")
    _add_allow_empty(parser)
    add_rel(parser)
    parser.add_argument("--cutoff", type=int, help="what is ranked below counts as not retrieved")
    add_test(parser, "sign")
    parser.add_argument(
        "--explain", nargs=2, metavar=("A", "B"), help="instead: what decided between two runs, by query"
    )
    parser.add_argument("--plot", metavar="FILE", help="draw the heatmap (with --explain: the pair) into a file")
    add_output(parser)
    parser.set_defaults(command=_compare)

    parser = commands.add_parser(
        "report",
        help="write an evaluation as one HTML file",
        description="Evaluate and compare runs, and write one HTML file that needs no network.",
        example="report qrels.txt bm25.run dph.run -m TSE LR nDCG@10 -o report.html",
    )
    add_runs(parser)
    add_measures(parser, text="measures, as in `eval`")
    add_preference(parser)
    parser.add_argument("--baseline", metavar="RUN", help="as in `compare`")
    _add_allow_empty(parser)
    add_test(parser, "sign")
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
    add_output(parser)
    parser.set_defaults(command=_demo)

    parser = commands.add_parser("measures", help="list the measures with their parameters")
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


def _add_allow_empty(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--allow-empty", action="store_true", help="take runs that retrieve nothing for any query of the qrels"
    )


def _evaluate(options: argparse.Namespace) -> None:
    inputs = Inputs.from_options(options)
    measures = parse_measures(inputs.measures(options))
    if options.baseline is not None:
        if options.by_query:
            raise ValueError("eval: --baseline tests means, of which --by-query shows none; choose one of the two")
        check_baseline("eval", options.baseline, inputs.runs)
    scored = ScoredRuns.from_runs(
        measures, inputs.judgments, inputs.runs, allow_empty=options.allow_empty, caller="eval"
    )
    page = Page(options)
    if options.by_query:
        page.add_table(scored.per_query.reset_index())
    elif options.baseline is None or len(inputs.runs) < 2:
        _add_means(page, scored)
    else:
        test = significance_test(options, "eval")
        tested = Preferences.from_runs(
            scored, list(measures), baseline=options.baseline, rel=inputs.rel(options), test=test, caller="eval"
        )
        _add_means(page, scored, tested)
    for note in grouped(tie_warnings(scored)) if page.for_people else []:
        page.add_sentence(note)
    page.finish()


def _add_means(page: Page, scored: ScoredRuns, tested: Preferences | None = None, *, legend: bool = True) -> None:
    """A row per run, the best values marked, and those that differ from the baseline's."""
    table = scored.table
    marks = {
        name: best(-table[name] if smaller_is_better(measure) else table[name])
        for name, measure in scored.measures.items()
        if measure.NAME not in _COUNTS
    }
    if tested is None:
        page.add_table(table.reset_index(), marks)
        if legend and any(map(any, marks.values())):
            page.add_sentence(f"{BEST} best of its column")
        return
    rows = table.reset_index()
    for name in scored.measures:
        result = tested.table_of(name)
        columns = (result["run_a"], np.sign(result["estimate"]), result["reject"])
        signs = {run: _sign(way, reject) for run, way, reject in zip(*columns, strict=True)}
        known = marks.get(name, [""] * len(table))
        marks[name] = [mark + signs.get(run, "") for run, mark in zip(table.index, known, strict=True)]
        if page.options.format in EXACT:
            p = dict(zip(result["run_a"], result["p_corrected"], strict=True))
            rows[f"{name} p"] = [p.get(run, np.nan) for run in table.index]
    page.add_table(rows, marks)
    page.add_sentence(
        f"* best of its column; {BETTER} better, {WORSE} worse than {tested.baseline} ({_described(tested)})"
    )


def _described(tested: Preferences) -> str:
    """The test in a few words."""
    test = tested.test
    family = len(tested.pairs)
    corrected = (
        f", {correction_words(test.counted_correction)} for {family:,} comparisons"
        if test.counted_correction and family > 1
        else ""
    )
    return f"{test.name} test on {len(tested.query_ids)} queries{corrected}, p <= {test.alpha:g}"


def best(values: pd.Series) -> list[str]:
    """``*`` beside the largest of several values that differ, nothing beside the others.

    >>> import pandas as pd
    >>> best(pd.Series([0.1, 0.3, 0.3])), best(pd.Series([0.1, 0.1]))
    (['', '*', '*'], ['', ''])
    """
    differ = values.nunique() > 1
    return [BEST if differ and value == values.max() else "" for value in values]


def _sign(way: float, reject: bool) -> str:
    if not reject or way == 0:
        return ""
    return BETTER if way > 0 else WORSE


_FIRST = ("preference", "run_a", "run_b", "wins", "losses", "ties", "incomparable", "mean", "p_corrected")


def _compare(options: argparse.Namespace) -> None:
    inputs = Inputs.from_options(options)
    for name in options.explain or ():
        check_choice("compare", "run", name, inputs.runs)
    result = compare(
        inputs.judgments,
        inputs.runs,
        ["lexirecall"] if options.preference is None else split_measures(options.preference),
        baseline=options.baseline,
        rel=inputs.rel(options),
        cutoff=options.cutoff,
        test=significance_test(options, "compare"),
        allow_empty=options.allow_empty,
    )
    page = Page(options)
    if options.explain:
        a, b = options.explain
        for name in result.preferences:
            if len(result.preferences) > 1:
                page.add_sentence(f"{name}:")
            page.add_table(result.explain(a, b, name))
        notes = result.diagnostics
    else:
        page.add_finding(result.finding)
        _add_pairs(page, result)
        notes = []  # they are part of the finding
    for sentence in ["", result.caption, *notes]:
        page.add_sentence(sentence)
    if options.plot:
        save_picture(result.plot_pair(*options.explain) if options.explain else result.plot(), options.plot)
    page.finish()


def _add_pairs(page: Page, result: Preferences) -> None:
    """A row per pair, the means marked where the test rejects; for people, what matters most stands first."""
    table = result.table()
    signs = [_sign(mean, reject) for mean, reject in zip(table["mean"], table["reject"], strict=True)]
    if page.for_people:
        first = [name for name in _FIRST if name in table]
        table = table[[*first, *(name for name in table.columns if name not in (*first, "reject"))]]
        page.add_sentence("Pairs:")
    page.add_table(table, {"mean": signs})
    if any(signs):
        page.add_sentence(f"{BETTER} run_a is better, {WORSE} worse than run_b ({_described(result)})")


def _report(options: argparse.Namespace) -> None:
    inputs = Inputs.from_options(options)
    with called("benchmark", "report"):
        result = benchmark(
            inputs.collection or inputs.judgments,
            inputs.runs,
            inputs.measures(options),
            preference=["lexirecall"] if options.preference is None else split_measures(options.preference),
            baseline=options.baseline,
            test=significance_test(options, "report"),
            allow_empty=options.allow_empty,
        )
    path = report(
        result,
        options.output,
        **({"title": options.title} if options.title else {}),
        runs={name: run for name, run in inputs.runs.items() if os.path.isfile(run)},  # a pipe is read once only
        inputs={"qrels": options.qrels, **inputs.runs},
        command=shlex.join(["ir-lexirecall", *options.words]),
    )
    emit(f"{path}\n")


def _demo(options: argparse.Namespace) -> None:
    measures = {str(measure): measure for measure in load(DEMO).recommended()}
    scored = ScoredRuns.from_runs(parse_measures(measures), demo.qrels(), demo.runs(), caller="demo")
    page = Page(options)
    sizes = f"{len(demo.docs())} passages, {len(scored.judgments)} queries, {len(scored.names)} runs"
    page.add_sentence(f"{sizes}. Means, the best of each column marked *:")
    page.add_sentence("")
    _add_means(page, scored, legend=False)  # the first sentence says it
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
    lines: list[str] = []
    for name, measure in REGISTRY.items():
        if name != measure.NAME:
            continue
        aliases = [alias for alias, other in REGISTRY.items() if other is measure and alias != name]
        lines.append(f"{name}{f' (also {aliases[0]})' if aliases else ''}: {measure.SHORT_DESC} [{measure.SOURCE}]")
        lines.append(f"    {measure.FORMULA}")
        for key, param in measure.SUPPORTED_PARAMS.items():
            if param.required:
                how = "required"
            else:
                how = "optional" if param.default is None else f"default {param.default!r}"
            written = f"@{key}" if key == measure.AT_PARAM else key
            lines.append(f"    {written:<10} {param.kind:<7} {how:<21} {param.desc}")
        lines.append("")
    emit("\n".join(lines) + "\n")
