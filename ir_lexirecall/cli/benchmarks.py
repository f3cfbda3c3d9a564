"""The command on many collections: ``benchmark``."""

from __future__ import annotations

import argparse
import importlib
import shlex
from collections.abc import Iterable
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import Any

from ir_lexirecall._util.errors import check_choice, did_you_mean, needs
from ir_lexirecall._util.lazy import LazyModule
from ir_lexirecall.benchmarks import Benchmark, benchmark
from ir_lexirecall.benchmarks.benchmarking import STANDARD
from ir_lexirecall.benchmarks.sources import runs_in_folder
from ir_lexirecall.cli.arguments import add_allow_empty, add_measures, add_missing, add_preference, criteria_of
from ir_lexirecall.cli.output import Page, add_output, terminal_width
from ir_lexirecall.cli.significance import add_groups, add_margin, add_test, parse_margin, significance_test
from ir_lexirecall.data.collection import DEMO
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.io.columns import is_file
from ir_lexirecall.io.files import rereadable
from ir_lexirecall.io.readers import run_files
from ir_lexirecall.judging.merging import merged
from ir_lexirecall.present.tables import PLACES, Column, Shown
from ir_lexirecall.present.words import confidence_words, provenance_line
from ir_lexirecall.reports import report
from ir_lexirecall.significance.draws import OVER

present: Any = LazyModule("ir_lexirecall.present")


def add_benchmark(commands: Any) -> None:
    parser = commands.add_parser(
        "benchmark",
        help="evaluate runs on many collections",
        description="Evaluate runs on many collections: means over them with intervals, ranks, differences to a baseline. A "
        "collection counts once. SOURCE is a folder with a folder of runs per collection, named by its id (dashes for slashes) "
        "or holding a file qrels.*; or a TOML file with [collections] (name = id or qrels file), runs (a folder, or a table "
        "[runs.NAME] with run = file), and by, baseline, margin, test, over, missing, ...",
        example="benchmark runs/ -m nDCG@10 LR --baseline bm25",
    )
    parser.add_argument("source", metavar="SOURCE", help="a folder, or a .toml file")
    add_measures(parser, text=f"measures, one or several (by default, with preferences: {', '.join(STANDARD)})")
    add_preference(parser, "none where measures are named")
    parser.add_argument("--baseline", metavar="RUN", help="run that all others are compared with")
    parser.add_argument(
        "--over",
        choices=OVER,
        help="what is a sample: the queries of these collections (default), or the collections, too",
    )
    add_missing(parser, "a collection lacks runs (with --values also: a query lacks values)")
    parser.add_argument(
        "--values",
        action="store_true",
        help="SOURCE holds values per query that other programs computed: a folder of files for each collection, a table with a "
        "column collection, or MTEB's results; without -m by all measures",
    )
    parser.add_argument(
        "--judged",
        action="append",
        default=[],
        metavar="COLLECTION=FILE",
        help="further judgments of a collection's queries (repeatable)",
    )
    add_allow_empty(parser)
    add_groups(parser, " (other formats than text: only that); a column collection says where ids of queries do not")
    parser.add_argument("--report", metavar="FILE", help="write an HTML report as well")
    add_margin(parser)
    add_test(
        parser,
        text="significance test within each collection; over collections, differences are tested by a bootstrap",
    )
    add_output(parser)
    parser.set_defaults(command=_benchmark)


# -- benchmark -----------------------------------------------------------------------------------------

_KEYS: dict[str, type | tuple[type, ...]] = {
    "collections": dict,
    "runs": (str, dict),
    "by": (str, list),
    "baseline": str,
    "margin": (str, float),
    "over": str,
    "missing": str,
    "groups": str,
    "cluster": bool,
    "rules": bool,
    "allow_empty": bool,
    "test": str,
    "correction": str,
    "alpha": float,
    "n_resamples": int,
    "seed": int,
}
_KINDS = {str: "a text", dict: "a table", list: "a list", bool: "true or false", float: "a number", int: "an integer"}


def _benchmark(options: argparse.Namespace) -> None:
    source = Path(options.source)
    if options.values:
        asked: dict[str, Any] = {"values": options.source, "collections": {}, "runs": {}}
    elif source.is_dir():
        asked = dict(zip(("collections", "runs"), _from_folder(source), strict=True))
    elif source.suffix.lower() == ".toml":
        asked = _from_toml(source)
    elif source.exists():
        raise ValueError(f"{source}: expected a folder or a .toml file")
    else:
        raise ValueError(f"{source}: there is no such folder or file")
    over, by, margin = (asked.pop(name, None) for name in ("over", "by", "margin"))
    over = options.over or over
    if by is None and not options.values:
        by = list(STANDARD)
    if options.measures or options.preference:
        by = criteria_of(options)
    named = {word.partition("=")[0] for word in options.words}  # the command line has the last word
    for name in [name for name in ("test", "correction", "alpha", "n_resamples", "seed") if name in asked]:
        value = asked.pop(name)
        if f"--{name.replace('_', '-')}" not in named:
            setattr(options, name, value)
    if options.groups is not None:
        options.groups = options.resources.enter_context(rereadable(options.groups))  # once for each collection
    given = ("baseline", "allow_empty", "missing", "groups", "cluster")
    asked |= {name: getattr(options, name) for name in given if getattr(options, name) not in (None, False)}
    collections, runs = asked.pop("collections"), asked.pop("runs")
    if isinstance(runs, str):
        runs = runs_in_folder(runs, list(collections))
    margin = margin if options.margin is None else parse_margin(options.margin)
    judged = _judged(options.judged, collections)
    rules = asked.get("rules", True)
    qrels: dict[str, Any] = {
        name: reduce(merged, judged[name], Judgments.from_qrels(source, rules=rules)) if name in judged else source
        for name, source in collections.items()
    }
    result = benchmark(qrels or None, runs or None, by, test=significance_test(options), margin=margin, **asked)
    page = Page(options)
    places = PLACES if options.places is None else options.places
    if options.format in ("markdown", "latex"):
        page.add_shown(present.benchmark_table(result, over, places))
    elif page.for_people:
        page.add_finding(present.benchmark_finding(result, over), ranking=False)
        _add_overall(page, result, over, places)
        page.add_sentence(_legend(result))
        if result.grouped:
            page.add_sentence("Pairs in groups of queries:")
            page.add_table(result.group_table(), confidence=confidence_words(result.provenance))
        page.add_sentence(provenance_line(result.provenance))
    else:
        page.add_table(result.group_table() if result.grouped else result.overall(over))
    if options.report is not None:
        inputs = {"values": options.source} if options.values else {}
        inputs |= {f"{name}: qrels": source for name, source in collections.items()}
        inputs |= {f"{name}: judged {file}": file for name, files in judged.items() for file in files}
        inputs |= {f"{name}: {run}": file for name, of_one in runs.items() for run, file in of_one.items()}
        command = shlex.join(["ir-lexirecall", *options.words])
        report(result, options.report, runs=runs, inputs=inputs, command=command)
    page.finish()


def _judged(words: list[str], collections: Iterable[str]) -> dict[str, list[str]]:
    """Files of further judgments by collection."""
    files: dict[str, list[str]] = {}
    for word in words:
        name, mark, file = word.partition("=")
        if not (mark and file):
            raise ValueError(f"--judged {word!r} must look like COLLECTION=FILE")
        files.setdefault(check_choice("collection", name, list(collections)), []).append(file)
    return files


def _add_overall(page: Page, result: Benchmark, over: str | None, places: int) -> None:
    """A table per criterion, best run first, with as many columns as the terminal has room for in all of them."""
    whole = present.benchmark_table(result, over, places)
    criterion, *columns = whole.columns
    rows: dict[str, list[int]] = {}
    for place, name in enumerate(criterion.cells):
        rows.setdefault(name, []).append(place)
    width = terminal_width(page.options)
    kept = len(columns)
    while True:
        shown = {name: Shown([_some(c, places) for c in columns[:kept]]).text(width) for name, places in rows.items()}
        if kept == 2 or not any(left_out for _, left_out in shown.values()):
            break
        kept -= 1
    for name, (table, _) in shown.items():
        page.add_sentence(f"{name}:")
        page.parts += [table, ""]
    if left_out := [column.head for column in columns[kept:]]:
        page.add_sentence(
            f"({len(left_out)} of {len(columns)} columns left out: {', '.join(left_out)}; --wide shows all)"
        )


def _some(column: Column, places: list[int]) -> Column:
    marks = [column.marks[place] for place in places] if column.marks else ()
    return replace(column, cells=[column.cells[place] for place in places], marks=marks)


def _legend(result: Benchmark) -> str:
    """How to read the table: which numbers are corrected, and what a run is compared with."""
    facts = [
        "* best of its criterion; intervals of means and differences are of one run, those of ranks hold for all runs at once"
    ]
    if result.baseline is not None:
        facts.append(f"+ better, - worse than {result.baseline} by the corrected p")
    if any(not result.criterion(name).is_measure for name in result.quantities):
        facts.append("the mean of a preference is over all other runs")
        if result.baseline is not None:
            facts[-1] += f", its difference is head to head with {result.baseline}"
    return "; ".join(facts)


def _from_folder(folder: Path) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
    """The collections and runs of a folder of folders."""
    qrels, files = _qrels_in(folder), _runs_in(folder)
    if qrels and files:
        command = shlex.join(["ir-lexirecall", "eval", str(qrels[0]), *list(files.values())[:2]])
        raise ValueError(f"{folder}: there is no folder of a collection in it; for one collection: {command} ...")
    collections, runs = {}, {}
    for place in sorted(item for item in folder.iterdir() if item.is_dir() and not item.name.startswith(".")):
        qrels = _qrels_in(place)
        if len(qrels) > 1:
            raise ValueError(f"{place}: there are two files of qrels, {qrels[0].name} and {qrels[1].name}")
        collections[place.name] = str(qrels[0]) if qrels else _id_of(place)
        runs[place.name] = _runs_in(place)
        if not runs[place.name]:
            raise ValueError(f"{place}: there are no runs in it, such as bm25.res.gz, bm25/run.txt.gz or runs/bm25.run")
    if not collections:
        raise ValueError(f"{folder}: there is no folder of a collection in it")
    return collections, runs


def _runs_in(place: Path) -> dict[str, str]:
    """The runs of a collection: in its folder beside the qrels, or in a folder ``runs`` there."""
    qrels = {str(file) for file in _qrels_in(place)}
    files = {name: path for name, path in run_files(place).items() if path not in qrels}
    below = place / "runs"
    return files or (run_files(below) if below.is_dir() and not _qrels_in(below) else {})


def _qrels_in(place: Path) -> list[Path]:
    """The files of qrels in a folder: ``qrels`` begins their names, or is a part between dots."""
    files = [file for file in sorted(place.iterdir()) if file.is_file() and not file.name.startswith(".")]
    return [file for file in files if file.name.lower().startswith("qrels") or "qrels" in file.name.lower().split(".")]


def _id_of(place: Path) -> str:
    """The data set whose id a folder's name is, with dashes for slashes."""
    import ir_datasets

    known = {dataset_id.replace("/", "-").lower(): dataset_id for dataset_id in [*ir_datasets.registry, DEMO]}
    name = place.name.lower()
    if name not in known:
        raise ValueError(
            f"{place}: no data set has this id, and there is no file qrels.* in it{did_you_mean(name, known)}"
        )
    return known[name]


def _from_toml(path: Path) -> dict[str, Any]:
    """What a TOML file asks for, with paths as seen from its folder."""
    try:
        toml = importlib.import_module("tomllib")
    except ModuleNotFoundError:  # Python 3.10
        try:
            toml = importlib.import_module("tomli")
        except ModuleNotFoundError:
            raise ModuleNotFoundError(needs(f"{path}: a benchmark in a file", "tomli", "toml")) from None
    try:
        asked: dict[str, Any] = toml.loads(path.read_text(encoding="utf-8"))
    except (toml.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: {error}") from None
    for key, value in asked.items():
        if key not in _KEYS:
            raise ValueError(f"{path}: unknown key {key!r}; choose from {', '.join(_KEYS)}{did_you_mean(key, _KEYS)}")
        expected = _KEYS[key]
        kinds = expected if isinstance(expected, tuple) else (expected,)
        fits = isinstance(value, kinds) or (float in kinds and isinstance(value, int))
        if not fits or (isinstance(value, bool) and bool not in kinds):
            raise ValueError(f"{path}: {key} must be {' or '.join(_KINDS[kind] for kind in kinds)}, not {value!r}")
    if missing := [key for key in ("collections", "runs") if not asked.get(key)]:
        raise ValueError(f"{path}: there is no {missing[0]}")
    if "groups" in asked:
        asked["groups"] = str(path.parent / asked["groups"])
    asked["collections"] = {
        name: _beside(path, source, f"collections.{name}") for name, source in asked["collections"].items()
    }
    if isinstance(asked["runs"], str):
        asked["runs"] = str(path.parent / asked["runs"])
    else:
        for name, of_one in asked["runs"].items():
            if not isinstance(of_one, dict):
                raise ValueError(f"{path}: runs.{name} must be a table of names to files, not {of_one!r}")
        asked["runs"] = {
            name: {run: _beside(path, file, f"runs.{name}.{run}") for run, file in of_one.items()}
            for name, of_one in asked["runs"].items()
        }
    return asked


def _beside(path: Path, source: Any, key: str) -> str:
    """A file seen from the folder of the TOML file; what is none there is an id."""
    if not isinstance(source, str):
        raise ValueError(f"{path}: {key} must be a text, not {source!r}")
    file = path.parent / source
    return str(file) if is_file(str(file)) or key.startswith("runs.") else source
