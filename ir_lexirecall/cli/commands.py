"""``ir-lexirecall``: the measures from the command line."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from subprocess import CalledProcessError
from typing import TYPE_CHECKING, Any

from ir_lexirecall.benchmarking import benchmark
from ir_lexirecall.tables import collection, qrel_table

from ir_lexirecall import __version__, cli_meta
from ir_lexirecall.evaluation import Evaluation, means
from ir_lexirecall.measures import MEASURES, dtype_name
from ir_lexirecall.preferences import compare
from ir_lexirecall.preferences.functions import NAMES
from ir_lexirecall.significance import TESTS

if TYPE_CHECKING:
    import pandas as pd

FORMATS = ("table", "tsv", "json", "latex", "markdown")
_EXACT = ("tsv", "json")  # for machines: all digits unless --places asks for fewer
_DEMO_MEASURES = {
    "TSE": "TSE",
    "LR": "LR",
    "CWL_ERR10": "CWL_ERR10(max_rel=3)",
    "RBU@20": "RBU@20",
    "TOMA@10": "TOMA(aspects={'relevance':3,'credibility':2,'readability':2})@10",
    "nDCG@10": "nDCG@10",
    "AP": "AP",
}
_DEMO_LEGEND = """\
TSE        how soon everything relevant has been seen: 1 / rank of the last relevant document
LR         lexicographic recall: recall first, then how early the last relevant document comes, and so on
CWL_ERR10  C/W/L variant of ERR: expected utility per document of a user who stops when satisfied
RBU@20     rank-biased utility: new subtopics count, repetition and reading effort cost
TOMA@10    nDCG on relevance, credibility and readability together
nDCG@10, AP: the standard measures, from ir_measures
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code: 0, 1 for bad input, 2 for bad usage (which exits)."""
    options = _parser().parse_args(arguments)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # for programmers, not for users of a command
        warnings.showwarning = lambda message, *_: print(f"ir-lexirecall: {message}", file=sys.stderr)
        try:
            return int(options.command(options) or 0)
        except BrokenPipeError:  # the reader of our output has seen enough
            sys.stderr.close()
            return 0
        except (ValueError, OSError, ModuleNotFoundError, CalledProcessError, RuntimeError) as error:
            print(f"ir-lexirecall: {error}", file=sys.stderr)
            return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="ir-lexirecall", description="Evaluate rankings: TSE, lexicographic recall, C/W/L ERR, RBU, TOMA and more."
    )
    parser.add_argument("--version", action="version", version=f"ir-lexirecall {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    evaluate = commands.add_parser(
        "eval",
        help="evaluate runs",
        description="Evaluate runs: a row per run, a column per measure.",
        epilog="Example: ir-lexirecall eval qrels.txt bm25.run dph.run -m 'TSE@1000 LR nDCG@10 RBU(p=0.9)@20'",
    )
    _add_qrels(evaluate)
    evaluate.add_argument(
        "runs",
        metavar="RUN",
        nargs="+",
        help="run file: TREC's format (also .gz, .bz2, .xz, .zst), or a table (.csv, .tsv, .parquet)",
    )
    evaluate.add_argument(
        "-m",
        "--measures",
        metavar="'M M ...'",
        help="measures, separated by blanks (see `measures`); by default those that an ir_datasets collection recommends",
    )
    evaluate.add_argument("--by-query", action="store_true", help="a row per run and query")
    _add_output(evaluate)
    evaluate.set_defaults(command=_evaluate)

    compare = commands.add_parser(
        "compare",
        help="compare runs query by query",
        description="Compare runs by exact preferences between their rankings: a row per pair of runs.",
        epilog="Example: ir-lexirecall compare qrels.txt bm25.run dph.run --explain bm25 dph",
    )
    _add_qrels(compare)
    compare.add_argument("runs", metavar="RUN", nargs="+", help="TREC run files, at least two")
    compare.add_argument(
        "-p",
        "--preference",
        default="lexirecall",
        metavar="'P P ...'",
        help=f"{', '.join(NAMES)}, or measures (default: lexirecall)",
    )
    compare.add_argument("--reference", metavar="RUN", help="compare all others with this run (its name in the table)")
    compare.add_argument(
        "--rel", type=float, help="smallest grade that counts as relevant (default: the collection's own, else 1)"
    )
    compare.add_argument("--cutoff", type=int, help="what is ranked below counts as not retrieved")
    compare.add_argument("--test", choices=TESTS, default="sign", help="significance test (default: sign)")
    compare.add_argument(
        "--correction", default="holm", help="for several comparisons, 'none' for none (default: holm)"
    )
    compare.add_argument("--alpha", type=float, default=0.05, help="significance level (default: 0.05)")
    compare.add_argument("--resamples", type=int, default=10_000, help="of bootstrap and tukey (default: 10000)")
    compare.add_argument("--seed", type=int, default=0, help="of bootstrap and tukey (default: 0)")
    compare.add_argument(
        "--explain", nargs=2, metavar=("A", "B"), help="instead: what decided between two runs, by query"
    )
    compare.add_argument("--plot", metavar="FILE", help="draw the heatmap (with --explain: the pair) into a file")
    _add_output(compare)
    compare.set_defaults(command=_compare)

    report = commands.add_parser(
        "report",
        help="write an evaluation as one HTML file",
        description="Evaluate and compare runs, and write one HTML file that needs no network.",
        epilog="Example: ir-lexirecall report qrels.txt bm25.run dph.run -m 'TSE LR nDCG@10' -o report.html",
    )
    _add_qrels(report)
    report.add_argument("runs", metavar="RUN", nargs="+", help="run files")
    report.add_argument("-m", "--measures", metavar="'M M ...'", help="measures, as in `eval`")
    report.add_argument("-p", "--preference", default="lexirecall", metavar="'P P ...'", help="as in `compare`")
    report.add_argument("--reference", metavar="RUN", help="as in `compare`")
    report.add_argument("--title", help="of the page")
    report.add_argument("-o", "--output", required=True, metavar="FILE", help="HTML file to write")
    report.set_defaults(command=_report)

    cli_meta.add(commands, _add_qrels, _add_output)

    demo = commands.add_parser("demo", help="evaluate five runs on the embedded collection")
    _add_output(demo)
    demo.set_defaults(command=_demo)

    measures = commands.add_parser("measures", help="list the measures with their parameters")
    measures.set_defaults(command=_measures)
    return parser


def _add_qrels(parser: argparse.ArgumentParser, **options: Any) -> None:
    parser.add_argument(
        "qrels",
        metavar="QRELS",
        **options,
        help="qrels file (TREC or ndeval's 4 columns, or with a header line), or an ir_datasets id",
    )
    parser.add_argument(
        "--columns",
        metavar="NAME,NAME,...",
        help="columns of a wide qrels file without a header line, e.g. query_id,iteration,doc_id,relevance,quality",
    )
    parser.add_argument(
        "--aspect",
        action="append",
        default=[],
        metavar="NAME=FILE",
        help="4-column qrels file with the labels of a further aspect (repeatable)",
    )


def _add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--format", choices=FORMATS, default="table", help="of the output (default: table)")
    parser.add_argument("--places", type=_places, help="decimal places (default: 4; all in tsv and json)")


def _places(text: str) -> int:
    if not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 0")
    return int(text)


def split_measures(text: str) -> list[str]:
    """Measure strings out of one text; blanks, commas and semicolons part them, but not within brackets or quotes.

    >>> split_measures("TSE@1000 RBU(p=0.9, e=0.1)@20, LR")
    ['TSE@1000', 'RBU(p=0.9, e=0.1)@20', 'LR']
    """
    parts, current, depth, quote = [], "", 0, ""
    for character in text + " ":
        if not quote and not depth and character in " \t\n,;":
            if current:
                parts.append(current)
            current = ""
            continue
        current += character
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        else:
            depth += (character in "({[") - (character in ")}]")
            if depth < 0:
                raise ValueError(f"measures: {character!r} closes nothing in {current!r}")
    if current.strip():
        raise ValueError(f"measures: a bracket or quote is not closed in {current.strip()!r}")
    return parts


def read_qrels(source: str, columns: str | None, aspects: Sequence[str]) -> Any:
    """The qrels that the command line names: a file or an id, and files of further aspects."""
    if not (columns or aspects):
        return source
    import polars as pl

    from ir_lexirecall import trec

    if columns:
        table = qrel_table(trec.read_qrels(source, columns=[name.strip() for name in columns.split(",")]))
    else:
        table = qrel_table(source)
    extra = []
    for text in aspects:
        name, mark, path = text.partition("=")
        if not (name and mark and path):
            raise ValueError(f"--aspect {text!r} must look like NAME=FILE")
        extra.append(qrel_table(path).select("query_id", "doc_id", "relevance").with_columns(iteration=pl.lit(name)))
    if extra:
        first = table.select("query_id", "doc_id", "relevance").with_columns(iteration=pl.lit("relevance"))
        table = pl.concat([first, *extra])
    return table


def run_names(paths: Sequence[str]) -> list[str]:
    """What runs are called in tables: the file's name without endings, or its path where names would collide.

    >>> run_names(["a/bm25.run.gz", "b/dph.txt"])
    ['bm25', 'dph']
    """
    names = []
    for path in paths:
        name = Path(path).name
        for ending in (".gz", ".bz2", ".xz", ".zst", ".run", ".txt", ".res", ".tsv", ".csv", ".parquet"):
            name = name.removesuffix(ending) or name
        names.append(name)
    names = names if len(set(names)) == len(names) else list(paths)
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{twice}: the same run is given twice")
    return names


def _evaluate(options: argparse.Namespace) -> None:
    names = run_names(options.runs)
    evaluation = Evaluation(_asked_measures(options), read_qrels(options.qrels, options.columns, options.aspect))
    values = {name: value for name, _, value in evaluation.of_all(dict(zip(names, options.runs, strict=True)))}
    _print_values(values, evaluation, options, by_query=options.by_query)


def _compare(options: argparse.Namespace) -> None:
    names = run_names(options.runs)
    result = compare(
        read_qrels(options.qrels, options.columns, options.aspect),
        dict(zip(names, options.runs, strict=True)),
        split_measures(options.preference),
        reference=options.reference,
        rel=relevance_threshold(options),
        cutoff=options.cutoff,
        test=options.test,
        correction=None if options.correction == "none" else options.correction,
        alpha=options.alpha,
        n_resamples=options.resamples,
        seed=options.seed,
    )
    if options.explain:
        a, b = options.explain
        tables = {name: result.explain(a, b, name) for name in result.names}
    else:
        tables = {"": result.table()}
    for name, table in tables.items():
        if len(tables) > 1 and options.format == "table":
            print(f"{name}:")
        keys = [column for column in table.columns if not is_float(table[column])]
        print(render(table, keys, options.format, options.places))
    if options.format == "table":
        print("\n".join(["", result.caption, *result.diagnostics]))
    if options.plot:
        axes = result.plot_pair(*options.explain) if options.explain else result.plot()
        try:
            axes.figure.savefig(options.plot)
        except (OSError, ValueError) as error:
            raise ValueError(f"--plot {options.plot}: {error}") from None


def relevance_threshold(options: argparse.Namespace) -> float:
    """The smallest grade that counts as relevant: as asked for, or the collection's own."""
    if options.rel is not None:
        return float(options.rel)
    return 1 if Path(options.qrels).is_file() else float(collection(options.qrels).rel)


def _asked_measures(options: argparse.Namespace) -> Any:
    if options.measures:
        return split_measures(options.measures)
    if Path(options.qrels).is_file():
        raise ValueError(f"{options.qrels}: a file recommends no measures; name some with -m")
    return collection(options.qrels).recommended()


def _print_values(
    values: dict[str, Any], evaluation: Evaluation, options: argparse.Namespace, *, by_query: bool
) -> None:
    import pandas as pd

    if by_query:
        table = pd.concat(values, names=["run", "query_id"]).reset_index()
        keys = ["run", "query_id"]
    else:
        table = pd.DataFrame({name: means(each, evaluation.measures) for name, each in values.items()}).T
        table = table.rename_axis("run").reset_index()
        keys = ["run"]
    print(render(table, keys, options.format, options.places))


def _number(value: float, places: int | None) -> str:
    """A number with ``places`` decimal places; one that would read as 0 but is not keeps its magnitude."""
    if places is None:
        return repr(value)
    text = f"{value:.{places}f}"
    return f"{value:.1e}" if places and value and not float(text) else text


def is_float(column: pd.Series) -> bool:
    """Whether a column of a table holds numbers with decimal places."""
    return bool(getattr(column.dtype, "kind", "O") == "f")


def render(table: pd.DataFrame, keys: Sequence[str], form: str, places: int | None) -> str:
    """A table as text in one of ``FORMATS``; ``keys`` are the columns that name a row."""
    if places is None and form not in _EXACT:
        places = 4
    if form == "json":
        rounded = table if places is None else table.round(places)
        rounded = rounded.astype(object).where(rounded.notna(), None)
        return json.dumps(rounded.to_dict(orient="records"), indent=1)
    shown = table.copy()
    for column in shown.columns:
        if column not in keys and is_float(shown[column]):
            shown[column] = [_number(v, places) for v in shown[column].tolist()]
        elif shown[column].isna().any():
            missing = "" if form == "tsv" else "-"
            shown[column] = [
                missing if gone else v for v, gone in zip(shown[column], shown[column].isna(), strict=True)
            ]
    if form == "tsv":
        return "\n".join("\t".join(map(str, row)) for row in [shown.columns, *shown.values.tolist()])
    if form == "table":
        return str(shown.to_string(index=False))
    try:
        from tabulate import tabulate
    except ImportError:
        raise ValueError(f"--format {form} needs the package tabulate: pip install 'ir-lexirecall[tables]'") from None
    style = "latex_booktabs" if form == "latex" else "github"
    align = ["left" if column in keys else "right" for column in shown.columns]
    return str(tabulate(shown, headers="keys", tablefmt=style, showindex=False, disable_numparse=True, colalign=align))


def _report(options: argparse.Namespace) -> None:
    names = run_names(options.runs)
    result = benchmark(
        read_qrels(options.qrels, options.columns, options.aspect),
        dict(zip(names, options.runs, strict=True)),
        _asked_measures(options),
        preference=split_measures(options.preference),
        reference=options.reference,
    )
    written = result.report(
        **({"title": options.title} if options.title else {}),
        inputs={"qrels": options.qrels, **dict(zip(names, options.runs, strict=True))},
        command=shlex.join(["ir-lexirecall", *sys.argv[1:]]),
    ).write(options.output)
    print(written)


def _demo(options: argparse.Namespace) -> None:
    from ir_lexirecall import demo

    evaluation = Evaluation(_DEMO_MEASURES, demo.qrels())
    values = {name: evaluation.of(run) for name, run in demo.runs().items()}
    if options.format == "table":
        print(f"{len(demo.docs())} passages, {len(evaluation.judgments)} queries, {len(values)} runs. Means:\n")
    _print_values(values, evaluation, options, by_query=False)
    if options.format == "table":
        print(f"\n{_DEMO_LEGEND}")


def _measures(options: argparse.Namespace) -> None:
    for name, measure in MEASURES.items():
        if name != measure.NAME:
            continue
        aliases = [alias for alias, other in MEASURES.items() if other is measure and alias != name]
        print(f"{name}{f' (also {aliases[0]})' if aliases else ''}: {measure.SHORT_DESC} [{measure.SOURCE}]")
        print(f"    {measure.FORMULA}")
        for key, param in measure.SUPPORTED_PARAMS.items():
            how = (
                "required"
                if param.required
                else f"default {param.default!r}"
                if param.default is not None
                else "optional"
            )
            written = f"@{key}" if key == measure.AT_PARAM else key
            print(f"    {written:<10} {dtype_name(param.dtype):<7} {how:<21} {param.desc}")
        print()
