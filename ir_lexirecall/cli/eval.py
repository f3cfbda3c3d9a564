"""Commands on measures: ``eval`` with tests, ``demo``, ``measures`` and ``explain-measure``."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ir_lexirecall._util.arrays import Floats
from ir_lexirecall._util.errors import check_choice
from ir_lexirecall._util.lazy import LazyModule
from ir_lexirecall._util.selecting import reading_order, without
from ir_lexirecall.cli.arguments import (
    DEFAULT_IN_WORDS,
    TEST,
    Inputs,
    Options,
    Parser,
    parse_margin,
    split_measures,
)
from ir_lexirecall.cli.output import (
    Page,
    add_glance,
    add_output,
    add_page,
    emit,
    filled,
    terminal_width,
)
from ir_lexirecall.data import demo
from ir_lexirecall.data.collection import DEMO, find_collection
from ir_lexirecall.evaluation.scored_runs import ScoredRuns
from ir_lexirecall.io.measure_names import (
    from_trec_eval,
    trec_eval_lines,
    trec_eval_name,
)
from ir_lexirecall.io.source import Source
from ir_lexirecall.measures.declaration import REGISTRY
from ir_lexirecall.measures.parsing import is_measures, parse_measures, with_rel
from ir_lexirecall.measures.scoring import aggregate, smaller_is_better
from ir_lexirecall.present.findings import captions, grouped
from ir_lexirecall.present.tables import best_marks
from ir_lexirecall.present.text import count, listed, provenance_line, top_words

algorithms: Any = LazyModule("ir_lexirecall.judging.algorithms")
comparing: Any = LazyModule("ir_lexirecall.comparison.comparing")
descriptions: Any = LazyModule("ir_lexirecall.descriptions")
judging: Any = LazyModule("ir_lexirecall.judging.bounds")
naming: Any = LazyModule("ir_lexirecall.preferences.naming")
present: Any = LazyModule("ir_lexirecall.present")

_READABLE = 100  # columns of a text
_LEAST_AP = 1e-5  # of trec_eval's geometric mean
TREC = "trec"  # a format: trec_eval's lines
_DIFFERENCE_COLUMNS = (
    "difference",
    "ci_low",
    "ci_high",
    "p",
    "p_corrected",
    "effect_size",
    "verdict",
)
# Counts of which more is not better.
_NEVER_BEST = frozenset(("NumQ", "NumRel", "NumRet", "Judged"))


def add_eval(commands: Any) -> None:
    """Declare the command ``eval``."""
    parser: Parser = commands.add_parser(
        "eval",
        help="evaluate runs by measures",
        description="Print a table with a row per run and a column per measure; * marks the best "
        "value of a column.",
        example="eval qrels.txt bm25.run dph.run -m nDCG@10 LR TSE@1000 'RBU(p=0.9)@20'",
    )
    parser.add_runs()
    words = f"(default: {DEFAULT_IN_WORDS}; with --format trec, trec_eval's)"
    parser.add("measures", help=f"measures, one or several {words}")
    parser.add_argument(
        "--by-query", action="store_true", help="print a row per run and query"
    )
    words = "test all others against this run (its name in the table): + is better, - is worse"
    parser.add("baseline", help=words)
    parser.add("allow_empty", "rel")
    parser.add_bounds()
    parser.add("margin", *TEST)
    add_glance(parser)
    add_output(parser, TREC)


def run_eval(options: Options) -> None:
    """Run the command `eval`."""
    if options.format == TREC:
        _take_version_10(options)
    inputs = Inputs(options)
    if options.measures is None:
        trec_names = ["official"]
    else:
        trec_names = split_measures(options.measures)
    named = _named_measures(options, inputs, trec_names)
    _check_no_preferences(named)
    measures = parse_measures(named)
    bounds = options.of_bounds()
    _check_eval(options, inputs)

    scored = ScoredRuns.from_runs(
        measures, inputs.judgments, inputs.runs, allow_empty=options.allow_empty
    )
    page = Page(options)
    if options.format == TREC:
        geometric = not {"official", "gm_map"}.isdisjoint(trec_names)
        emit(
            _trec_lines(scored, inputs.runs, options, geometric=geometric),
            options.output,
        )
        _add_caveats(page, scored)
        return

    is_tested = options.baseline is not None and len(inputs.runs) > 1
    if options.bounds:
        _add_bounds(page, scored, algorithms.Judgings(**bounds))
    elif options.by_query:
        page.add_table(_rows_by_query(scored, scored.values))
    elif is_tested:
        _add_tests(page, scored, options)
    else:
        add_means(page, scored)
    if not is_tested:  # tests come with the caveats of a comparison
        _add_caveats(page, scored)
    page.finish()


def _add_caveats(page: Page, scored: ScoredRuns) -> None:
    """Add what to beware of in runs; beside output for programs, as warnings if asked for."""
    if page.for_people or page.options.caveats:
        cutoff = present.deepest_cutoff(scored.measures.values())
        page.add_notes(grouped(present.run_caveats(scored, cutoff)))


def _named_measures(options: Options, inputs: Inputs, trec_names: list[str]) -> Any:
    """Return the measures that options name, with the grade of `--rel`.

    In the format of trec_eval, measures keep its names, as they do with its option -l.
    """
    if options.format == TREC:
        named = _trec_measures(trec_names)
        if options.rel is None:
            return named
        return {name: with_rel(measure, options.rel) for name, measure in named.items()}
    if options.rel is None:
        return inputs.measures
    return [with_rel(measure, options.rel) for measure in inputs.measures]


def _check_no_preferences(named: Any) -> None:
    """Raise if a preference is among the measures: a single run has none."""
    if not isinstance(named, (list, tuple)):
        return
    for name in named:
        if not isinstance(name, str) or is_measures(name):
            continue
        if naming.parse_preference(name) is not None:
            raise ValueError(
                f"{name} is a preference between two runs: `compare` takes it"
            )


def _check_eval(options: Options, inputs: Inputs) -> None:
    """Raise if options contradict each other, or the baseline is none of the runs."""
    if options.bounds and options.baseline is not None:
        raise ValueError(
            "--bounds of eval is for single runs; `compare --bounds` bounds differences from a "
            "baseline"
        )
    if options.format == TREC and (options.bounds or options.baseline is not None):
        option = "--bounds" if options.bounds else "--baseline"
        raise ValueError(
            f"{option} cannot be combined with --format trec, which prints what trec_eval prints"
        )
    if options.baseline is None:
        _refuse_options_of_tests(options)
    else:
        if options.by_query:
            raise ValueError(
                "--baseline cannot be combined with --by-query: it tests means"
            )
        check_choice("baseline", options.baseline, inputs.runs)


def _refuse_options_of_tests(options: Options) -> None:
    """Raise if an option says how to test, where no baseline is named to test against."""
    for name in ("margin", *TEST):
        if getattr(options, name) != options.parser.get_default(name):
            raise ValueError(f"--{name.replace('_', '-')} needs --baseline RUN")


def _rows_by_query(
    scored: ScoredRuns, values: Mapping[str, Floats]
) -> dict[str, list[Any]]:
    """Return a row per run and query: columns that name it, and arrays of values as columns."""
    query_ids = scored.judgments.query_ids
    order = reading_order(query_ids)
    columns: dict[str, list[Any]] = {
        "run": [name for name in scored.names for _ in order],
        "query_id": [query_ids[i] for i in order] * len(scored.names),
    }
    for name, array in values.items():
        columns[name] = array[:, order].ravel().tolist()
    return columns


def _add_bounds(page: Page, scored: ScoredRuns, judgings: Any) -> None:
    """Add values with their bounds under any judging, of runs or of each query."""
    by_query = page.options.by_query
    depth = judgings.pool_depth(scored.measures.values())
    ends = judging.bounds_by_measure(
        scored.pool(depth), scored.measures, scored.values, judgings
    )
    arrays: dict[str, Floats] = {}
    means: dict[str, list[Any]] = {"run": scored.names}
    for name, measure in scored.measures.items():
        arrays[name] = scored.values[name]
        titles = [name]
        if name in ends:
            titles += [f"{name} low", f"{name} high"]
            arrays |= {titles[1]: ends[name].low, titles[2]: ends[name].high}
        for title in titles:
            means[title] = [aggregate(measure, row) for row in arrays[title]]
    page.add_table(_rows_by_query(scored, arrays) if by_query else means)
    tops = top_words({name: judgings.depth_of(scored.measures[name]) for name in ends})
    page.add_sentences(
        "low, high: smallest and largest value, "
        f"whatever grades the unjudged documents of {tops} would get."
    )


def _add_tests(page: Page, scored: ScoredRuns, options: Options) -> None:
    """Add means, tested against the baseline; programs get the numbers of the tests, too."""
    design = comparing.Design(
        options.baseline, parse_margin(options.margin), options.significance_test()
    )
    result = comparing.comparison_of(scored, scored.measures, design)
    page.say_caveats(result)
    if options.format in ("latex", "markdown"):
        page.add_shown(present.comparison_table(result, page.places))
        return
    if page.for_people:
        page.add_glance(
            present.comparison_glance(result, page.decimals),
            provenance_line(result.provenance),
        )
        return
    columns: dict[str, list[Any]] = {"run": result.runs}
    for name, criterion in result.compared.by.items():
        columns[name] = criterion.means.tolist()
        rows = result.table(name).set_index("run_a").reindex(result.runs)
        columns |= {
            f"{name} {column}": rows[column].tolist() for column in _DIFFERENCE_COLUMNS
        }
        columns[f"{name} test"] = [result.compared.test_of(name).name] * len(rows)
    n_runs, how = len(result.runs), present.how_compared(result, result.criteria)
    columns |= {"queries": [len(result.query_ids)] * n_runs, "tested": [how] * n_runs}
    page.add_table(columns)


def _take_version_10(options: Options) -> None:
    """Order documents as trec_eval 10 does, whose measures `--format trec` prints."""
    if options.trec_eval == 9:
        raise ValueError(
            "--format trec prints what trec_eval 10 prints: leave --trec-eval 9 out, or take "
            "another format and IPrec, ElevenPt(version=9) for the measures that differ"
        )
    options.trec_eval = 10


def _trec_measures(names: Sequence[str]) -> dict[str, str]:
    """Return the measures of ``-m``, by trec_eval's names or by ours, under trec_eval's."""
    measures: dict[str, str] = {}
    family = ""
    for name in names:
        if name.replace(".", "").isdigit():  # of P.5,10
            name = f"{family}.{name}"
        family = name.partition(".")[0]
        try:
            measures |= from_trec_eval([name])
        except ValueError:
            if name != "gm_map" and not is_measures(name):
                raise
            measures |= (
                {"map": "AP"} if name == "gm_map" else {trec_eval_name(name): name}
            )
    return measures


def _trec_lines(
    scored: ScoredRuns, runs: Mapping[str, Source], options: Options, *, geometric: bool
) -> str:
    """Return the lines that trec_eval prints; ``--by-query`` is its ``-q``, and ``-c`` is on."""
    text = ""
    # Of queries that a run lacks, trec_eval -c counts the relevant documents, too; ir_measures does
    # not.
    rel = 1 if options.rel is None else options.rel
    relevant = scored.judgments.m(rel).astype(np.float64)
    for number, (run, source) in enumerate(runs.items()):
        values = {name: array[number] for name, array in scored.values.items()}
        if "num_rel" in values:
            values["num_rel"] = relevant
        means: dict[str, float] = {}
        for name, row in values.items():
            if name == "num_q":
                means[name] = len(row)
            else:
                means[name] = aggregate(scored.measures[name], row)
            if name == "map" and geometric:
                means["gm_map"] = float(
                    np.exp(np.log(np.maximum(row, _LEAST_AP)).mean())
                )
        per_query = None
        if options.by_query:
            per_query = scored.judgments.query_ids, values
        # A run has the tag that it has in TREC's format; its name where it is in another one.
        fields = source.data[0].first_line.split()
        # trec_eval ignores what follows the tag.
        tag = fields[5] if len(fields) >= 6 else run
        text += trec_eval_lines(means, per_query, run=tag, places=options.places) + "\n"
    return text


def add_means(page: Page, scored: ScoredRuns, *, legend: bool = True) -> None:
    """Add a table with a row per run, the best values marked."""
    columns: dict[str, list[Any]] = {"run": scored.names}
    marks = {}
    for name, measure in scored.measures.items():
        columns[name] = [aggregate(measure, row) for row in scored.values[name]]
        if measure.NAME not in _NEVER_BEST:
            marks[name] = best_marks(
                columns[name], smaller_is_better=smaller_is_better(measure)
            )
    where = ""
    if scored.judgments.source:
        where = f" of {scored.judgments.source}"
    best = any(map(any, marks.values()))
    notes = [
        *(["Bold: the best of its column."] if best else []),
        *captions(map(str, scored.measures.values())),
    ]
    page.add_table(
        columns,
        marks,
        title=f"Means on {count(len(scored.judgments), 'query')}{where}.",
        notes=notes,
    )
    if legend and best:
        page.add_sentences("* best of its column")


# -- demo and measures ----------------------------------------------------------------------------


def add_demo(commands: Any) -> None:
    """Declare the command ``demo``."""
    parser: Parser = commands.add_parser(
        "demo",
        help="evaluate five runs on the embedded collection",
        description="Evaluate five runs on the embedded collection. Other commands take the name "
        f"{DEMO} in place of a file of qrels. The runs are the files in {demo.FOLDER / 'runs'}.",
        example=f"eval {DEMO} {demo.FOLDER / 'runs' / 'bm25.run'} "
        f"{demo.FOLDER / 'runs' / 'ql.run'}",
    )
    parser.add_argument(
        "--write",
        metavar="DIR",
        help="write qrels.txt, the runs, queries and passages into a folder instead",
    )
    add_output(parser)


def add_measures(commands: Any) -> None:
    """Declare the command ``measures``."""
    add_page(
        commands.add_parser(
            "measures",
            help="list the measures with their parameters",
            description="List the measures of this library, with their parameters, and standard "
            "measures.",
        )
    )


def add_explain_measure(commands: Any) -> None:
    """Declare the command ``explain-measure``."""
    parser: Parser = commands.add_parser(
        "explain-measure",
        help="explain a measure",
        description="Explain a measure: formula, parameters, range, what 0 means, when it ties, "
        "when to use it, an example, the source.",
        example="explain-measure 'RBU(p=0.9)@20'",
    )
    parser.add_argument(
        "measure",
        metavar="M",
        help="any measure that ir_measures knows, such as LR or nDCG@10",
    )
    add_page(parser)


def run_demo(options: Options) -> None:
    """Run the command ``demo``."""
    if options.write is not None:
        emit("".join(f"{path}\n" for path in demo.write(options.write)), options.output)
        return
    measures = {
        str(measure): measure for measure in find_collection(DEMO).recommended()
    }
    scored = ScoredRuns.from_runs(parse_measures(measures), demo.qrels(), demo.runs())
    page = Page(options)
    sizes = (
        f"{len(demo.docs())} passages, {len(scored.judgments)} queries, "
        f"{len(scored.names)} runs"
    )
    page.add_sentences(f"{sizes}. Means, the best of each column marked *:", "")
    add_means(page, scored, legend=False)  # the first sentence says it
    missing = [
        f"on {int((run.relevant().r < run.relevant().m).sum())} for {name}"
        for name, run in scored.runs.items()
    ]
    page.add_sentences(
        "",
        f"TSE is 0 for a query if a relevant document is missing: of {len(scored.judgments)} "
        f"queries, {listed(missing)}. LR still counts the others. A negative RBU means that "
        "reading cost more than it was worth. `ir-lexirecall explain-measure TSE` says more.",
        "",
    )
    page.add_items(
        *(
            f"{page.shown_name(name)}: {measure.SHORT_DESC}"
            for name, measure in measures.items()
        )
    )
    page.add_short_names()
    files = f"{shlex.quote(str(demo.FOLDER / 'runs'))}/*.run"
    page.add_sentences("", "The same table, and a comparison:")
    page.add_lines(
        f"ir-lexirecall eval {DEMO} {files}", f"ir-lexirecall compare {DEMO} {files}"
    )
    page.add_sentences("In Python:")
    code = "import ir_lexirecall as irl; from ir_lexirecall import demo"
    page.add_lines(code, f'print(irl.benchmark("{DEMO}", demo.runs()))')
    page.finish()


def run_explain_measure(options: Options) -> None:
    """Run the command ``explain-measure``."""
    try:
        page = descriptions.describe(options.measure)
    except ValueError as error:
        raise ValueError(
            f"{error}; `ir-lexirecall measures` lists those of this library"
        ) from None
    emit(
        f"{page.page(min(terminal_width(options) or _READABLE, _READABLE))}\n",
        options.output,
    )


def run_measures(options: Options) -> None:
    """List the measures of this library, then the standard ones, with their parameters."""
    names = list(
        dict.fromkeys(measure.NAME for measure in REGISTRY.values() if measure.PAGE)
    )
    added = without(dict.fromkeys(m.NAME for m in REGISTRY.values()), names)
    lines = ["Measures of this library", ""]
    for name in [*names, *added]:
        lines += [*_lines_on_measure(name, options), ""]
    lines += ["Standard measures, by their names in ir_measures", ""]
    for name in sorted(descriptions.entries("measure"), key=str.lower):
        lines += [*_lines_on_measure(name, options), ""]
    lines.append(filled(_OTHER_PROGRAMS, options, ""))
    emit("\n".join(lines) + "\n", options.output)


_OTHER_PROGRAMS = (
    "Names of trec_eval, ranx and BEIR are taken for the measures they mean: map is AP, "
    "ndcg_cut_10 and ndcg@10 are nDCG@10, recall@100 is R@100, hit_rate@10 and accuracy@10 are "
    "Success@10."
)


def _lines_on_measure(name: str, options: Options) -> list[str]:
    """Return what a measure is, its formula and its parameters, as lines."""
    about = descriptions.describe(name)
    also = ""
    if about.aliases:
        also = f" (also {', '.join(about.aliases)})"
    lines = [filled(f"{about.name}{also}: {about.meaning}", options, " " * 4)]
    if about.plain:
        lines.append(filled(f"    {about.plain}", options, " " * 6))
    for parameter in about.parameters:
        if parameter.default == "required":
            how = parameter.default
        else:
            how = f"default {parameter.default}"
        text = f"    {parameter.name:<11} {how:<21} {parameter.meaning}"
        lines.append(filled(text, options, " " * 16))
    return lines
