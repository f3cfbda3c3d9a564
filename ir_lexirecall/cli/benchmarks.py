"""The command on many collections: ``benchmark``."""

from __future__ import annotations

import argparse
import importlib
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ir_lexirecall import text as texts
from ir_lexirecall.benchmark import BenchmarkSuite, benchmark
from ir_lexirecall.benchmark.inputs import runs_in_folder
from ir_lexirecall.benchmark.suite import OVER
from ir_lexirecall.cli.arguments import (
    add_measures,
    add_preference,
    add_test,
    significance_test,
    split_measures,
)
from ir_lexirecall.cli.output import Page, add_output, render, terminal_width
from ir_lexirecall.collections import DEMO
from ir_lexirecall.errors import did_you_mean, needs
from ir_lexirecall.formats import is_file
from ir_lexirecall.readers import run_files
from ir_lexirecall.report import report
from ir_lexirecall.summary import interval

if TYPE_CHECKING:
    import pandas as pd

_PLACES = 4
_MEASURES = ("nDCG@10", "AP", "R@1000", "TSE", "LR")


def add_benchmark(commands: Any) -> None:
    """Add the command to what ``ArgumentParser.add_subparsers`` gave."""
    parser = commands.add_parser(
        "benchmark",
        help="evaluate runs on many collections",
        description="Evaluate runs on many collections: means over them with intervals, ranks, differences to a baseline. A "
        "collection counts once. SOURCE is a folder with a folder of runs per collection, named by its id (dashes for slashes) "
        "or holding a file qrels.*; or a TOML file with [collections] (name = id or qrels file), runs (a folder, or a table "
        "[runs.NAME] with run = file), and measures, preference, baseline, test, over, missing, ...",
        example="benchmark runs/ -m nDCG@10 LR --baseline bm25",
    )
    parser.add_argument("source", metavar="SOURCE", help="a folder, or a .toml file")
    add_measures(parser, text=f"measures, one or several (default: {', '.join(_MEASURES)})")
    add_preference(parser)
    parser.add_argument("--baseline", metavar="RUN", help="run that all others are compared with")
    parser.add_argument(
        "--over",
        choices=OVER,
        help="what is a sample: the queries of these collections (default), or the collections, too",
    )
    parser.add_argument(
        "--missing", choices=["error", "skip"], help="what to do where a collection lacks runs (default: error)"
    )
    parser.add_argument("--report", metavar="FILE", help="write an HTML report as well")
    add_test(
        parser,
        "sign",
        text="significance test within each collection; over collections, differences are tested by a bootstrap",
    )
    add_output(parser)
    parser.set_defaults(command=_benchmark)


# -- benchmark -----------------------------------------------------------------------------------------

_KEYS: dict[str, type | tuple[type, ...]] = {
    "collections": dict,
    "runs": (str, dict),
    "measures": (str, list),
    "preference": (str, list),
    "baseline": str,
    "over": str,
    "missing": str,
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
    if source.is_dir():
        asked: dict[str, Any] = dict(zip(("collections", "runs"), _from_folder(source), strict=True))
    elif source.suffix.lower() == ".toml":
        asked = _from_toml(source)
    elif source.exists():
        raise ValueError(f"{source}: expected a folder or a .toml file")
    else:
        raise ValueError(f"{source}: there is no such folder or file")
    over = options.over or asked.pop("over", "queries")
    asked.pop("over", None)
    measures = split_measures(options.measures) if options.measures else asked.pop("measures", list(_MEASURES))
    preference = split_measures(options.preference) if options.preference else asked.pop("preference", "lexirecall")
    for name in ("measures", "preference"):
        asked.pop(name, None)
    settings = {
        name: asked.pop(name) for name in ("test", "correction", "alpha", "n_resamples", "seed") if name in asked
    }
    for name, value in settings.items():
        if f"--{name.replace('_', '-')}" not in " ".join(options.words):  # the command line has the last word
            setattr(options, name, value)
    if options.baseline is not None:
        asked["baseline"] = options.baseline
    if options.missing is not None:
        asked["missing"] = options.missing
    collections, runs = asked.pop("collections"), asked.pop("runs")
    if isinstance(runs, str):
        runs = runs_in_folder(runs, list(collections))
    result = benchmark(
        collections,
        runs,
        measures,
        preference=preference,
        test=significance_test(options, "benchmark"),
        **asked,
    )
    assert isinstance(result, BenchmarkSuite)
    page = Page(options)
    if options.format in ("markdown", "latex"):
        shown = result.to_markdown if options.format == "markdown" else result.to_latex
        page.parts.append(shown(over, _PLACES if options.places is None else options.places))
    elif page.for_people:
        page.add_finding(result.finding_over(over), ranking=False)
        _add_overall(page, result, over)
        page.add_sentence(_legend(result))
        page.add_sentence(result.caption)
    else:
        page.add_table(result.overall(over))
    if options.report is not None:
        inputs = {f"{name}: qrels": source for name, source in collections.items()}
        inputs |= {f"{name}: {run}": file for name, of_one in runs.items() for run, file in of_one.items()}
        command = shlex.join(["ir-lexirecall", *options.words])
        report(result, options.report, runs=runs, inputs=inputs, command=command)
    page.finish()


def _add_overall(page: Page, result: BenchmarkSuite, over: str) -> None:
    """A table per measure, best run first, with as many columns as the terminal has room for in all of them."""
    overall = result.overall(over)
    overall["mark"] = result.marks(over)
    places = _PLACES if page.options.places is None else page.options.places
    tables, marks = {}, {}
    for name in overall["measure"].unique():
        rows = overall[overall["measure"] == name]
        rows = rows.sort_values("mean", ascending=name in result.smaller_is_better, kind="stable")
        tables[name], marks[name] = _readable(rows, result.test.alpha, places), {"difference": list(rows["mark"])}
    columns = list(next(iter(tables.values())))
    width = terminal_width(page.options)
    for kept in range(len(columns), 2, -1):
        shown = {
            name: render(table[columns[:kept]], "table", places, marks=marks[name], width=width)
            for name, table in tables.items()
        }
        if not any(sentence for _, sentence in shown.values()):
            break
    for name, (table, _) in shown.items():
        page.add_sentence(f"{name}:")
        page.parts += [table, ""]
    if left_out := columns[kept:]:
        page.add_sentence(
            f"({len(left_out)} of {len(columns)} columns left out: {', '.join(left_out)}; --wide shows all)"
        )


def _readable(rows: pd.DataFrame, alpha: float, places: int) -> pd.DataFrame:
    """The rows of ``overall`` of one measure, with the two ends of each interval in one column."""
    import pandas as pd

    confidence = f"{100 * (1 - alpha):g} % interval"

    def ends(low: str, high: str) -> list[str]:
        return [interval(*both, places) for both in zip(rows[low], rows[high], strict=True)]

    columns: dict[str, Any] = {
        "run": list(rows["run"]),
        "mean": list(rows["mean"]),
        confidence: ends("ci_low", "ci_high"),
        "rank": [f"{low} to {high}" for low, high in zip(rows["rank_low"], rows["rank_high"], strict=True)],
    }
    if "difference" in rows:
        columns |= {
            "difference": list(rows["difference"]),
            "p_corrected": list(rows["p_corrected"]),
            "its interval": ends("difference_low", "difference_high"),
        }
    columns["mean_rank"] = _two_places(rows["mean_rank"])
    if "effect" in rows:
        columns |= {
            "random effects": list(rows["effect"]),
            "their interval": ends("effect_low", "effect_high"),
            "I2": _two_places(rows["i2"]),
        }
    return pd.DataFrame(columns)


def _two_places(values: pd.Series) -> list[str]:
    """Numbers with two decimal places, below each other."""
    cells = [texts.format_number(value, 2) for value in values]
    return [cell.rjust(max(map(len, cells))) for cell in cells]


def _legend(result: BenchmarkSuite) -> str:
    """How to read the table: which numbers are corrected, and what a run is compared with."""
    facts = ["intervals, also that of a rank, are of one run and not corrected for their number"]
    if result.baseline is not None:
        facts[0] += ", p_corrected is"
    if any(compared is not None for compared in result.preferences.values()):
        facts.append("the mean of a preference is over all other runs")
        if result.baseline is not None:
            facts[-1] += f", its difference is head to head with {result.baseline}"
    return "; ".join(facts)


def _from_folder(folder: Path) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
    """The collections and runs of a folder of folders."""
    collections, runs = {}, {}
    for place in sorted(item for item in folder.iterdir() if item.is_dir() and not item.name.startswith(".")):
        qrels = [file for file in sorted(place.iterdir()) if file.is_file() and file.name.lower().startswith("qrels")]
        if len(qrels) > 1:
            raise ValueError(f"{place}: there are two files of qrels, {qrels[0].name} and {qrels[1].name}")
        collections[place.name] = str(qrels[0]) if qrels else _id_of(place)
        files = run_files(place)
        runs[place.name] = {name: path for name, path in files.items() if not qrels or path != str(qrels[0])}
        if not runs[place.name]:
            raise ValueError(f"{place}: there are no runs in it, such as bm25.res.gz or bm25/run.txt.gz")
    if not collections:
        raise ValueError(f"{folder}: there is no folder of a collection in it")
    return collections, runs


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
