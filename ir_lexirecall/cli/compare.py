"""The commands that compare runs: ``compare``, ``report`` and ``gate``."""

from __future__ import annotations

import os
import shlex
from argparse import BooleanOptionalAction
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ir_lexirecall._util.errors import check_choice, check_integer, warn
from ir_lexirecall._util.lazy import LazyModule
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.selecting import among, without
from ir_lexirecall.cli import say
from ir_lexirecall.cli.arguments import (
    DEFAULT_IN_WORDS,
    JUDGMENTS,
    OF_VALUES,
    ONE_CRITERION_TEST,
    TEST,
    Inputs,
    Options,
    Parser,
    parse_margin,
)
from ir_lexirecall.cli.output import (
    Page,
    add_glance,
    add_output,
    emit,
    save_picture,
    terminal_width,
)
from ir_lexirecall.comparison import Comparison
from ir_lexirecall.comparison.compared import Design
from ir_lexirecall.comparison.comparing import (
    compare_runs,
    compare_values,
    parse_criteria,
    wanted_values,
)
from ir_lexirecall.comparison.explaining import LEGEND, explained_together
from ir_lexirecall.comparison.gating import Gate, gate
from ir_lexirecall.io.files import STDIN
from ir_lexirecall.io.repeated_values import Repeats
from ir_lexirecall.io.values import run_name
from ir_lexirecall.plots import KINDS
from ir_lexirecall.present.glance import WIDTH
from ir_lexirecall.present.text import gathered, provenance_line, top_words
from ir_lexirecall.reports import report

present: Any = LazyModule("ir_lexirecall.present")

INCOMPLETE = 5
"""Exit code where a file of values is cut off: only a part of it was compared."""
_CODES = {INCOMPLETE: "a file of --values is cut off: the complete part was compared"}
_PREDICTED_VALUES = "; with --values: the program's values of all queries"


def add_compare(commands: Any) -> None:
    """Declare the command ``compare``."""
    parser: Parser = commands.add_parser(
        "compare",
        help="compare runs query by query",
        description="Compare runs by measures, by preferences between their rankings, or both. "
        "Two runs get a sentence per criterion, more runs a table with a row for each.",
        example="compare qrels.txt bm25.run dph.run --explain bm25 dph",
        codes=_CODES,
    )
    parser.add_runs(least=2, values=True)
    parser.add("measures", help="measures, one or several (default of --values: all)")
    parser.add_preference()
    parser.add(
        "baseline", help="compare all others with this run (its name in the table)"
    )
    parser.add("allow_empty", "rel", "cutoff")
    parser.add("predicted", more=_PREDICTED_VALUES)
    parser.add("groups", "cluster", "margin", *TEST)
    parser.add_argument(
        "--explain",
        nargs=2,
        metavar=("A", "B"),
        help="print instead, query by query, what decided between runs A and B",
    )
    parser.add_argument(
        "--disagree",
        nargs=4,
        metavar=("X", "Y", "A", "B"),
        help="print instead the queries on which criteria X and Y disagree about runs A and B",
    )
    parser.add_argument(
        "--pairs",
        action="store_true",
        help="add a table of all pairs (--wide: with every column)",
    )
    add_glance(parser)
    parser.add_bounds()
    parser.add_argument(
        "--holds",
        action="store_true",
        help="mark significant differences that unjudged documents (down to the criterion's "
        "cutoff, else the top 100) might undo: columns holds and depth of --pairs, a dagger in "
        "LaTeX and Markdown (a sentence on criteria without bounds)",
    )
    kinds = list(KINDS[Comparison])
    parser.add_argument(
        "--plot", metavar="FILE", help="draw a picture into FILE (see --kind)"
    )
    parser.add_argument(
        "--kind",
        choices=kinds,
        metavar="NAME",
        help=f"picture that --plot draws: {', '.join(kinds)} (default: heatmap; with --explain: "
        f"pair)",
    )
    parser.add_argument(
        "--columns",
        choices=["means", "differences"],
        default="means",
        help="contents of a table in LaTeX or Markdown (default: means)",
    )
    parser.add_argument(
        "--caption", metavar="TEXT", help="first sentence of a caption in LaTeX"
    )
    add_output(parser)


def add_report(commands: Any) -> None:
    """Declare the command ``report``."""
    parser: Parser = commands.add_parser(
        "report",
        help="compare runs, and write the result as one HTML file",
        description="Evaluate and compare runs, and write one HTML file that needs no network.",
        example="report qrels.txt bm25.run dph.run -m nDCG@10 LR -o report.html",
        codes=_CODES,
    )
    parser.add_runs(values=True)
    parser.add("measures", help="measures, as in `eval` (default of --values: all)")
    parser.add_preference()
    parser.add(
        "baseline", help="compare all others with this run (its name in the table)"
    )
    parser.add("predicted", more=_PREDICTED_VALUES)
    parser.add("allow_empty", "groups", "cluster", "margin", *TEST)
    parser.add_argument("--title", help="title of the page")
    parser.add_argument(
        "--queries",
        metavar="FILE",
        help="texts of the queries (TSV, CSV, JSON lines, TREC topics), or an id of ir_datasets",
    )
    parser.add_argument(
        "-o", "--output", required=True, metavar="FILE", help="HTML file to write"
    )


_PAIR = (
    "group",
    "queries",
    "criterion",
    "run_a",
    "run_b",
    "wins",
    "losses",
    "ties",
    "incomparable",
)
_COLUMNS_AFTER_PAIR = (
    "difference",
    "p_corrected",
    "verdict",
    "ci_low",
    "ci_high",
    "bound_low",
    "bound_high",
    "holds",
    "depth",
    "rho",
    "n_effective",
)
# Columns that a narrow terminal leaves out first, in this order.
_SPARE_OF_PAIRS = (
    ("n_effective",),
    ("rho",),
    ("ties",),
    ("incomparable",),
    ("wins", "losses"),
)
_SPARE_BESIDE_HOLDS = (
    ("bound_low", "bound_high"),
    ("ci_low",),
    ("p_corrected",),
    ("difference",),
)
_SPARE_OF_BOUNDS = (("depth",), ("exact",))
_SPARE_OF_EXPLANATIONS = ("tied_levels", "other_doc_id", "level", "doc_id")
_SHORT_HEADS = {
    "difference": "diff.",
    "p_corrected": "p corr.",
    "certain_wins": "certain wins",
    "certain_losses": "certain losses",
    "certain_ties": "certain ties",
}


def run_compare(options: Options) -> int:
    """Run the command ``compare``."""
    inputs, bounds = options.inputs(), options.of_bounds()
    _check_compare(options, inputs)
    default = [] if inputs is None else ["lexirecall"]
    criteria = options.criteria(preferences=default)
    if options.disagree:
        criteria = list(dict.fromkeys([*options.criteria(), *options.disagree[:2]]))
    result = compared(options, criteria, inputs)
    page = Page(options)
    if options.bounds:
        _add_bounds(page, result, bounds)
    elif options.disagree:
        _disagree(page, result, *options.disagree)
    elif options.explain:
        _explain(page, result, *options.explain)
        page.add_sentences("", *(result.diagnostics if page.for_people else []))
    else:
        _add_result(page, result)
    if options.plot:
        _save_plot(result, options)
    page.finish()
    page.say_caveats(result)
    return code_of(result)


def _add_result(page: Page, result: Comparison) -> None:
    """Add the result in the format that was asked for."""
    options = page.options
    if options.format in ("latex", "markdown"):
        table = present.comparison_table(
            result,
            page.places,
            holds=options.holds,
            columns=options.columns,
            caption=options.caption,
        )
        page.add_shown(table)
        doubt = "" if options.holds else present.undone_words(result)
        if doubt:
            say(f"{doubt}: --holds marks them")
    elif page.for_people:
        _show_to_people(page, result, holds=options.holds)
    else:
        page.add_table(_table_for_programs(result, holds=options.holds))


def _save_plot(result: Comparison, options: Options) -> None:
    """Draw the picture of ``--plot``: of a pair that is explained, else of all pairs."""
    kind = options.kind or ("pair" if options.explain else "heatmap")
    runs = options.explain if kind == "pair" else []
    save_picture(result.plot(kind, *runs), options.plot)


def _add_bounds(page: Page, result: Comparison, bounds: dict[str, Any]) -> None:
    """Add the table of ``--bounds``, and what it bounds."""
    table = result.bounds(**bounds)
    if terminal_width(page.options) is None:
        page.add_table(table)
    else:
        _add_bounds_by_kind(page, table)
    page.add_sentences(_about_bounds(table))
    page.add_sentences(*(f"{note}." for note in table.attrs["notes"]))


def _add_bounds_by_kind(page: Page, table: pd.DataFrame) -> None:
    """Add a table of the means of measures, and one of the queries that preferences decide."""
    counts = ["certain_wins", "certain_losses", "open", "certain_ties"]
    means = ["low", "high", "ci_low", "ci_high"]
    is_counted = table["certain_wins"].notna()
    for rows, others in ((~is_counted, counts), (is_counted, means)):
        if rows.any():
            if page.parts:
                page.add_sentences("")
            columns = without(table.columns, others)
            page.add_table(
                table.loc[rows, columns],
                spare=_SPARE_OF_BOUNDS,
                short_heads=_SHORT_HEADS,
            )


def _check_compare(options: Options, inputs: Inputs | None) -> None:
    """Raise if options contradict each other, or name a run that is not there."""
    if options.disagree:
        _refuse_beside(
            "--disagree shows a table of its own", options, "explain", "bounds", "plot"
        )
    if options.bounds:
        _refuse_beside("--bounds shows a table only", options, "explain", "plot")
    _check_table_of_paper(options)
    if options.kind and not options.plot:
        raise ValueError("--kind says what --plot FILE draws; give both")
    if options.kind == "pair" and not options.explain:
        raise ValueError("--kind pair draws two runs; name them: --explain A B")
    if inputs is None:
        return
    runs_explained = options.explain or []
    runs_of_disagreements = (options.disagree or [])[2:]
    for name in runs_explained + runs_of_disagreements:
        check_choice("run", name, inputs.runs)


def _check_table_of_paper(options: Options) -> None:
    """Raise if options of a table for a paper would be ignored."""
    if options.columns == "differences":
        if options.format not in ("latex", "markdown"):
            raise ValueError(
                "--columns differences needs --format latex or --format markdown"
            )
        reason = "--columns differences shows a table of its own"
        _refuse_beside(reason, options, "explain", "disagree", "bounds")
    if options.caption is not None:
        if options.format != "latex":
            raise ValueError("--caption needs --format latex")
        reason = "--caption belongs to the table of means or differences"
        _refuse_beside(reason, options, "explain", "disagree", "bounds")


def _refuse_beside(reason: str, options: Options, *names: str) -> None:
    """Raise if one of some options is given, which contradict another one."""
    for name in names:
        if getattr(options, name):
            raise ValueError(f"{reason}; leave out --{name}")


def _explain(page: Page, result: Comparison, a: str, b: str) -> None:
    """Add what decided between two runs: a table with a row per query."""
    names = result.criteria
    if len(names) == 1:
        table = result.explain(a, b)
    else:
        table = explained_together(result.compared, a, b, names)
    left_out = page.add_table(table, spare=_spare_of_explanations(table))
    _add_legend(page, table, left_out, a, b)


def _disagree(
    page: Page, result: Comparison, by_a: str, by_b: str, a: str, b: str
) -> None:
    """Add on how many queries two criteria prefer different runs, and these queries."""
    table = result.disagreements(by_a, by_b, a, b)
    counts = table.attrs["counts"]
    n_this_way, n_reverse = list(counts.values())[3:]
    page.add_sentences(
        f"{by_a} and {by_b} prefer different runs on {counts['disagree']} of {counts['queries']} "
        f"queries: {by_a} prefers {a} on {n_this_way} and {b} on {n_reverse}. "
        f"They prefer the same run on {counts['agree']}.",
    )
    if len(table) or not page.for_people:
        page.add_sentences("")
        # The winner by the second criterion is the other run.
        winners = [name for name in table.columns if name.endswith(" winner")]
        spare = [*_spare_of_explanations(table), winners[1:]]
        left_out = page.add_table(table, spare=spare)
        _add_legend(page, table, left_out, a, b)


def _add_legend(
    page: Page, table: pd.DataFrame, left_out: Sequence[str], a: str, b: str
) -> None:
    """Add a line with the meanings of the columns that are shown, if their names do not tell."""
    # Names of measures may be shortened in the heads that were left out; what follows them is not.
    n_shown = Counter(str(name).rpartition(" ")[2] for name in table.columns)
    n_shown.subtract(head.rpartition(" ")[2] for head in left_out)
    words = []
    for column, meaning in LEGEND.items():
        if n_shown[column] > 0:
            words.append(meaning.format(a=a, b=b))
    if words:
        page.add_sentences("", f"{'; '.join(words)}.")


def _show_to_people(page: Page, result: Comparison, *, holds: bool) -> None:
    """Add the result at a glance and, if they were asked for, the tables of pairs."""
    options = page.options
    glance = present.comparison_glance(result, page.decimals)
    page.add_glance(glance, provenance_line(result.provenance))
    if not (options.pairs or holds):
        return
    tables = {"Pairs:": _pair_table(result, holds=holds)}
    if result.compared.grouped:
        tables["Pairs in groups of queries:"] = result.group_table()
    for title, table in tables.items():
        page.add_sentences("", title)
        if options.wide:
            columns = _ordered(table)
        else:
            columns = _without_repeats(table, result)
        spare = [*_SPARE_OF_PAIRS]
        if holds:
            spare += _SPARE_BESIDE_HOLDS
        else:
            spare.append(("p_corrected",))
        page.add_table(table[columns], spare=spare, short_heads=_SHORT_HEADS)


def _spare_of_explanations(table: pd.DataFrame) -> list[list[str]]:
    """Return the columns that explanations can spare: preferences that only repeat the winner."""
    columns = gathered(
        (name.rpartition(" ")[2], name) for name in map(str, table.columns)
    )
    repeating = []
    for name in columns["preference"]:
        if table[name].dropna().isin([-1, 0, 1]).all():
            repeating.append(name)
    others = [columns.get(end, []) for end in _SPARE_OF_EXPLANATIONS]
    return [repeating, *others]


def _ordered(table: pd.DataFrame) -> list[str]:
    """Return all columns, those that matter most first."""
    first = among((*_PAIR, *_COLUMNS_AFTER_PAIR), table)
    return [*first, *(name for name in table.columns if name not in first)]


def _without_repeats(table: pd.DataFrame, result: Comparison) -> list[str]:
    """Return the columns that decide, without a baseline named in each row, or a number twice."""
    columns = among((*_PAIR, *_COLUMNS_AFTER_PAIR), table)
    if result.baseline is not None:
        columns.remove("run_b")
    if len(result.criteria) == 1:
        columns.remove("criterion")
    return columns


def _table_for_programs(result: Comparison, *, holds: bool) -> pd.DataFrame:
    """Return one table of all pairs; rows of all queries have no group."""
    whole = _pair_table(result, holds=holds)
    if not result.compared.grouped:
        return whole
    in_groups = result.group_table()
    return pd.concat([whole, in_groups], ignore_index=True)[list(in_groups.columns)]


def _pair_table(result: Comparison, *, holds: bool) -> pd.DataFrame:
    """Return the table of pairs; with ``holds``, also whether verdicts hold under any judging."""
    table = result.table()
    if holds:
        table[["holds", "depth"]] = result.verdicts(holds=True)[["holds", "depth"]]
    return table


def _about_bounds(table: pd.DataFrame) -> str:
    """Return what the table of ``--bounds`` bounds, and down to which rank."""
    first = table.drop_duplicates("criterion")
    depths = zip(first["criterion"], first["depth"], strict=True)
    depth_of: dict[str, int | None] = {}
    for name, depth in depths:
        depth_of[name] = None if pd.isna(depth) else int(depth)
    tops = top_words(depth_of)
    return f"Bounds hold whatever grades the unjudged documents of {tops} would get."


def compared(
    options: Options, by: list[Any], inputs: Inputs | None, least: int = 2
) -> Comparison:
    """Return the comparison of runs, or of values that another program computed."""
    design = Design(
        options.baseline,
        parse_margin(options.margin),
        options.significance_test(),
        options.predicted,
        options.groups,
        options.allow_empty,
        2 if inputs is None else least,
    )
    if inputs is None:
        if len(options.values) == 1:
            values = options.values[0]
        else:
            values = list(options.values)
        reading_options = reading_of_values(options)
        costs = reading_options.pop("smaller_is_better")
        reading_options["repeats"] = Repeats.from_argument(
            reading_options["repeats"], reading_options.pop("deterministic")
        )
        return compare_values(
            values, wanted_values(by or None, costs, **reading_options), design
        )
    return compare_runs(inputs.judgments, inputs.runs, parse_criteria(by), design)


def reading_of_values(options: Options) -> dict[str, Any]:
    """Return how ``--values`` are to be read, as arguments of ``gate``."""
    return {
        "smaller_is_better": options.smaller_is_better,
        "missing": options.missing or "error",
        "query": options.query_column,
        "run": options.run_column,
        "where": options.rows_of_values(),
        "repeats": options.repeats_of_values(),
        "deterministic": options.deterministic,
    }


def code_of(result: Comparison) -> int:
    """Return the exit code of a comparison: 5 if values ended early, which is said, else 0."""
    values_given = result.compared.given
    if values_given is None or not values_given.cut:
        return 0
    for sentence in values_given.cut:
        warn(sentence)
    return INCOMPLETE


def run_report(options: Options) -> int:
    """Run the command ``report``."""
    inputs, runs = options.inputs(), {}
    if inputs is None:
        by = options.criteria()
        sources = {run_name(path): path for path in options.values}
    else:
        is_named = options.measures is not None or options.preference is not None
        by = options.criteria([] if is_named else inputs.measures, ["lexirecall"])
        paths = {name: run.name for name, run in inputs.runs.items()}
        runs = {name: path for name, path in paths.items() if os.path.isfile(path)}
        sources = {
            "qrels": options.qrels,
            **{f"judged {file}": file for file in options.judged},
            **paths,
        }
    if options.predicted is not None:
        sources["predicted"] = options.predicted
    result = compared(options, by, inputs, least=1)
    command = shlex.join(["ir-lexirecall", *options.words])
    path = report(
        result,
        options.output,
        title=options.title,
        runs=runs,
        queries=options.queries,
        inputs=sources,
        command=command,
    )
    emit(f"{path}\n")
    return code_of(result)


# -- gate ------------------------------------------------------------------------------------------


def add_gate(commands: Any) -> None:
    """Declare the command ``gate``."""
    parser: Parser = commands.add_parser(
        "gate",
        help="fail if a candidate is worse than a baseline",
        description="Compare a candidate run with a baseline and print a summary for a pull "
        "request, with the queries that lost "
        "most and what decided. For each criterion, the candidate is *worse* if a one-sided test "
        "finds a loss (corrected over all criteria), *better* if a two-sided test finds a gain, "
        "*not worse* if a test finds that a loss is smaller than the margin, *within margin* if "
        "tests find that both a loss and a gain are smaller, and otherwise *undecided*. With "
        "--rule drop, it has *failed* if its mean falls by more than the margin.",
        example="gate qrels.txt main.run branch.run -m nDCG@10 LR > summary.md",
        codes={
            0: "passed",
            3: "the candidate is worse",
            4: "undecided, with --strict",
            **_CODES,
        },
    )
    parser.add("qrels", nargs="?")
    parser.add(*JUDGMENTS[1:])
    words = "run file to compare with"
    parser.add_argument("baseline", metavar="BASELINE", nargs="?", help=words)
    words = "run file that must not be worse"
    parser.add_argument("candidate", metavar="CANDIDATE", nargs="?", help=words)
    parser.add(
        "values",
        help="instead of QRELS, BASELINE and CANDIDATE: values per query, as in `compare`",
    )
    parser.add(*OF_VALUES)
    for name in ("baseline", "candidate"):
        default = "first" if name == "baseline" else "second"
        words = f"name of the {name} in --values (default: the {default} of two runs)"
        parser.add_argument(f"--{name}", metavar="RUN", dest=f"{name}_run", help=words)
    words = f"measures, one or several (default: {DEFAULT_IN_WORDS}; of --values: all)"
    parser.add("measures", help=words)
    parser.add_preference("none")
    parser.add("margin", default="0.01", more=" (default: 0.01)")
    parser.add_argument(
        "--rule",
        choices=["evidence", "drop"],
        default="evidence",
        help="what stops the candidate: 'worse' by a test (evidence), or 'failed' by the means "
        "alone (drop) (default: evidence)",
    )
    parser.add_argument(
        "--strict",
        action="store_true",
        help="also fail if a criterion is undecided (exit code 4)",
    )
    words = (
        "call a loss undecided if grades of unjudged documents could undo it (default); "
        "--no-bounds: count unjudged documents as not relevant"
    )
    parser.add_argument(
        "--bounds", action=BooleanOptionalAction, default=True, help=words
    )
    words = (
        "append each look (an evaluation) to this file of JSON lines, and keep alpha over all "
        "looks together"
    )
    parser.add_argument("--ledger", metavar="FILE", help=words)
    words = (
        "with --ledger: number of looks, which share alpha equally (default: no limit)"
    )
    parser.add_argument("--horizon", type=int, metavar="N", help=words)
    parser.add_argument(
        "--release",
        metavar="RUN",
        help="run file of the last release, a second baseline",
    )
    parser.add_argument(
        "--queries",
        type=int,
        metavar="N",
        help="number of lost queries to list (default: 10, or as many as fit on the terminal)",
    )
    parser.add(
        "rel", "allow_empty", "predicted", "groups", "cluster", *ONE_CRITERION_TEST
    )
    parser.add_argument(
        "--format",
        choices=["text", "markdown", "json"],
        help="output format (default: text on a terminal, else markdown)",
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="write the summary into a file instead"
    )
    parser.set_defaults(wide=False)


def run_gate(options: Options) -> int:
    """Run the command ``gate``."""
    if options.queries is not None:
        check_integer("queries", options.queries, least=0)
    asked = {
        "margin": parse_margin(options.margin) or 0.0,
        "rule": rule_of_gate(options),
        "test": options.significance_test(),
        "allow_empty": options.allow_empty,
        "ledger": options.ledger,
        "horizon": options.horizon,
        "release": options.release,
        "predicted": options.predicted,
        "groups": options.groups,
    }
    if options.values is None:
        disagreements = gate_of_runs(options, asked)
    else:
        disagreements = gate_of_values(options, asked)
    if options.format == "json":
        shown = present.gate_json(disagreements, _most_lost(options))
    else:
        shown = _gate_for_people(disagreements, options)
    code = disagreements.exit_code or code_of(disagreements.comparison)
    options.found = code  # which stands although nobody reads the summary to its end
    emit(f"{shown}\n", options.output)
    if options.output is not None:
        say(present.headline(disagreements))
    return code


def rule_of_gate(options: Options) -> str:
    """Return the rule of a gate.

    Raises:
        ValueError: ``--strict`` is given with ``--rule drop`` or ``--no-bounds``.
    """
    if options.rule != "evidence":
        if options.strict:
            raise ValueError(
                "--strict is about evidence, which --rule drop does not ask for; leave one out"
            )
        return str(options.rule)
    if options.strict and not options.bounds:
        raise ValueError(
            "--strict fails undecided criteria, too, so that bounds let no loss pass; leave out "
            "--no-bounds"
        )
    if options.strict:
        return "strict"
    return "evidence" if options.bounds else "judged"


def gate_of_runs(options: Options, asked: Mapping[str, Any]) -> Gate:
    """Return the gate of two run files."""
    if options.candidate is None:
        options.parser.error(
            "the following arguments are required: QRELS, BASELINE, CANDIDATE"
        )
    options.check_no_values()
    for name in ("baseline", "candidate"):
        if getattr(options, f"{name}_run") is not None:
            raise ValueError(
                f"--{name} needs --values; give run files without it: QRELS BASELINE CANDIDATE"
            )
    if options.baseline != STDIN and _is_one_file(options.baseline, options.candidate):
        options.runs = [options.baseline]
    else:
        options.runs = [options.baseline, options.candidate]
    inputs = Inputs(options)
    (baseline, first), *other = inputs.runs.items()
    # The same file twice is an unchanged run, which passes.
    if other:
        candidate, second = other[0]
    else:
        candidate, second = f"{baseline} (candidate)", first
    if options.measures or options.preference:
        by = options.criteria()
    else:
        by = options.criteria(inputs.measures)
    return gate(
        inputs.judgments, first, second, by, names=(baseline, candidate), **asked
    )


def _is_one_file(first: str, second: str) -> bool:
    """Return whether two paths name one file, as `a.run` and `./a.run` do."""
    return os.path.normpath(first) == os.path.normpath(second)


def gate_of_values(options: Options, asked: Mapping[str, Any]) -> Gate:
    """Return the gate of values that another program computed."""
    options.check_only_values()
    files = list(options.values)
    values: Any = files[0] if len(files) == 1 else files
    if len(files) == 2 and _is_one_file(*files):
        values = {
            run_name(files[0]): files[0],
            f"{run_name(files[0])} (candidate)": files[0],
        }
    return gate(
        None,
        options.baseline_run,
        options.candidate_run,
        options.criteria() or None,
        values=values,
        **reading_of_values(options),
        **asked,
    )


def _most_lost(options: Options) -> int:
    """Return how many lost queries to list."""
    return int(present.MOST_LOST) if options.queries is None else options.queries


def _gate_for_people(found: Gate, options: Options) -> str:
    """Return the summary as text for a terminal, else in Markdown."""
    width, files = terminal_width(options), _files_of_gate(options)
    if options.format == "markdown" or (options.format is None and width is None):
        return str(present.gate_text(found, _most_lost(options), files=files))
    if width is not None and options.queries is None:
        return str(present.gate_screen(found, width, files))
    glance = present.gate_glance(found, _most_lost(options), files)
    return str(
        present.glance_text(glance, width or WIDTH, all_notes=True, options=True)
    )


def _files_of_gate(options: Options) -> list[str]:
    """Return judgments and runs of a gate with the options that say how judgments are read."""
    files = [str(options.qrels), str(options.baseline), str(options.candidate)]
    for name in ("aspect", "judged"):
        for value in getattr(options, name):
            files += [f"--{name}", value]
    if options.trec_eval is not None:
        files += ["--trec-eval", str(options.trec_eval)]
    if options.levels is not None:
        files += ["--levels", *options.levels]
    return files
