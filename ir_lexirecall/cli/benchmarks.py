"""The commands on many collections and on changes: ``benchmark`` and ``gate``."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ir_lexirecall import text as texts
from ir_lexirecall.benchmark import BenchmarkSuite, benchmark
from ir_lexirecall.benchmark.suite import OVER
from ir_lexirecall.cli.arguments import (
    Inputs,
    add_measures,
    add_preference,
    add_qrels,
    add_rel,
    add_test,
    significance_test,
    split_measures,
)
from ir_lexirecall.cli.output import Page, add_output, emit
from ir_lexirecall.collections import DEMO
from ir_lexirecall.errors import check_number, did_you_mean
from ir_lexirecall.evaluation import parse_measures
from ir_lexirecall.formats import is_file
from ir_lexirecall.measures.scoring import smaller_is_better
from ir_lexirecall.preferences import Preferences
from ir_lexirecall.preferences.comparison import parse_preferences
from ir_lexirecall.readers import run_files
from ir_lexirecall.report import report
from ir_lexirecall.runs import ScoredRuns

WORSE = 3  # the exit code of ``gate``
_MEASURES = ("nDCG@10", "AP", "R@1000", "TSE", "LR")


def add_benchmarks(commands: Any) -> None:
    """Add the commands to what ``ArgumentParser.add_subparsers`` gave."""
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
    add_test(parser, "sign")
    add_output(parser)
    parser.set_defaults(command=_benchmark)

    parser = commands.add_parser(
        "gate",
        help="fail where a candidate is worse than a baseline",
        description="Compare a candidate run with a baseline and print a Markdown summary, with the queries that lost most and "
        f"what decided. Exit code {WORSE} if the candidate is worse: the mean of a measure falls by more than --max-drop, or a "
        "preference is significantly for the baseline.",
        example="gate qrels.txt main.run branch.run -m nDCG@10 LR > summary.md",
    )
    add_qrels(parser)
    parser.add_argument("baseline", metavar="BASELINE", help="run file to compare with")
    parser.add_argument("candidate", metavar="CANDIDATE", help="run file that must not be worse")
    add_measures(parser, text="measures, one or several (default: those that a collection recommends)")
    add_preference(parser)
    parser.add_argument(
        "--max-drop", type=float, default=0.01, metavar="D", help="how far a mean may fall (default: 0.01)"
    )
    parser.add_argument(
        "--queries", type=int, default=10, metavar="N", help="how many lost queries to list (default: 10)"
    )
    add_rel(parser)
    add_test(parser, "sign")
    parser.add_argument("-o", "--output", metavar="FILE", help="write the summary into a file instead")
    parser.set_defaults(command=_gate)


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
    result = benchmark(
        asked.pop("collections"),
        asked.pop("runs"),
        measures,
        preference=preference,
        test=significance_test(options, "benchmark"),
        **asked,
    )
    assert isinstance(result, BenchmarkSuite)
    table = result.overall(over)
    page = Page(options)
    columns = (
        [name for name in _SHOWN if name in table]
        if page.for_people or options.format in ("latex", "markdown")
        else list(table)
    )
    marks = {"difference": result.marks(over)} if "difference" in table else {}
    page.add_table(table[columns], marks)
    for sentence in ["", result.caption, *result.diagnostics]:
        page.add_sentence(sentence)
    if options.report is not None:
        report(result, options.report)
    page.finish()


_SHOWN = (
    *("measure", "run", "mean", "ci_low", "ci_high", "mean_rank", "rank_low", "rank_high"),
    *("difference", "difference_low", "difference_high", "p_corrected", "effect", "i2"),
)


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
        toml = importlib.import_module("tomli")
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


# -- gate ----------------------------------------------------------------------------------------------


def _gate(options: argparse.Namespace) -> int:
    check_number("gate", "max-drop", options.max_drop, least=0)
    options.runs = [options.baseline, options.candidate]
    inputs = Inputs.from_options(options)
    baseline, candidate = inputs.runs
    measures = parse_measures(inputs.measures(options))
    names, compared = parse_preferences(
        "gate", ["lexirecall"] if options.preference is None else split_measures(options.preference)
    )
    scored = ScoredRuns.from_runs(measures | compared, inputs.judgments, inputs.runs, caller="gate")
    test = significance_test(options, "gate")
    result = Preferences.from_runs(
        scored.with_measures(compared), names, baseline=baseline, rel=inputs.rel(options), test=test, caller="gate"
    )
    means = scored.with_measures(measures)
    falls = _measure_rows(means, baseline, candidate, options.max_drop)
    preferred = list(_preference_rows(result))
    worse = [name for name, *_, verdict in (*falls, *preferred) if verdict == "worse"]
    lines = [
        f"### {texts.escape_markdown(candidate)} is {'worse than' if worse else 'not worse than'} {texts.escape_markdown(baseline)}"
        + (f": {texts.escape_markdown(', '.join(worse))}" if worse else ""),
        "",
        _markdown(["measure", baseline, candidate, "difference", "verdict"], falls),
        "",
        _markdown(["preference", "wins", "losses", "ties", "mean", "p", "verdict"], preferred),
        "",
        *_most_regressed(result, means, baseline, candidate, options.queries),
        texts.escape_markdown(
            f"A mean may fall by {options.max_drop:g}; a preference is worse where the {test.name} test rejects at alpha "
            f"{test.alpha:g}. {len(result.query_ids)} queries with relevant documents. " + " ".join(result.diagnostics)
        ),
    ]
    emit("\n".join(lines) + "\n", options.output)
    return WORSE if worse else 0


def _measure_rows(scored: ScoredRuns, baseline: str, candidate: str, most: float) -> list[tuple[str, ...]]:
    rows = []
    for name, measure in scored.measures.items():
        before, after = (float(scored.table.loc[run, name]) for run in (baseline, candidate))
        rise = before - after if smaller_is_better(measure) else after - before
        verdict = "worse" if rise < -most else "better" if rise > most else "same"
        numbers = [texts.format_number(value, 4) for value in (before, after)]
        rows.append((name, *numbers, f"{after - before:+.4f}", verdict))
    return rows


def _preference_rows(result: Preferences) -> Iterator[tuple[str, ...]]:
    for name in result.preferences:
        row = result.table_of(name).iloc[0]
        verdict = ("better" if row["estimate"] > 0 else "worse") if row["reject"] else "same"
        counts = [str(row[column]) for column in ("wins", "losses", "ties")]
        yield (name, *counts, f"{row['mean']:+.4f}", texts.format_p(float(row["p"])), verdict)


def _most_regressed(result: Preferences, scored: ScoredRuns, baseline: str, candidate: str, most: int) -> Iterator[str]:
    """The queries that the candidate loses by the first preference, the largest fall of the first measure first."""
    table = result.explain(candidate, baseline).set_index("query_id")
    lost = table[table["winner"] == baseline]
    if lost.empty or most < 1:
        return
    values = scored.per_query
    falls = {
        name: (-1 if smaller_is_better(measure) else 1)
        * (values[name].loc[candidate] - values[name].loc[baseline]).loc[lost.index]
        for name, measure in scored.measures.items()
    }
    first = next(iter(falls.values())) if falls else lost["preference"]
    order = first.sort_values(kind="stable").index[:most]
    details = [
        c for c in ("level", "doc_id", "rank_b", "rank_a", "levels_a", "levels_b", "value_a", "value_b") if c in lost
    ]
    heads = {
        "rank_b": f"rank, {baseline}",
        "rank_a": f"rank, {candidate}",
        "doc_id": "document",
        "level": "decided at level",
    }
    heads |= {"value_a": f"value, {candidate}", "value_b": f"value, {baseline}"}
    heads |= {"levels_a": f"levels, {candidate}", "levels_b": f"levels, {baseline}"}
    rows = [
        (str(query), *(f"{falls[name][query]:+.4f}" for name in falls), *(_detail(lost.loc[query, c]) for c in details))
        for query in order
    ]
    yield f"{len(lost)} queries lost by {texts.escape_markdown(result.preferences[0])}, the most regressed first:"
    yield ""
    yield _markdown(["query", *falls, *(heads[c] for c in details)], rows)
    yield ""


def _detail(value: Any) -> str:
    if value is None or type(value).__name__ == "NAType" or (isinstance(value, float) and np.isnan(value)):
        return "-"
    return texts.format_number(value, 4) if isinstance(value, float) else str(value)


def _markdown(heads: list[str], rows: Any) -> str:
    cells = [[texts.escape_markdown(cell) for cell in row] for row in (heads, *rows)]
    align = ["left", *("right" for _ in heads[1:])]
    return texts.markdown_table(cells, align)
