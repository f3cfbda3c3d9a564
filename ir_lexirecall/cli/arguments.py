"""Arguments that several commands share, and what they name: qrels, runs, measures, tests."""

from __future__ import annotations

import argparse
import importlib
import re
import signal
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn

from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall._util.errors import did_you_mean
from ir_lexirecall._util.lazy import LazyModule
from ir_lexirecall._util.lazy import polars as pl
from ir_lexirecall.cli.words import split_measures
from ir_lexirecall.data.collection import Collection
from ir_lexirecall.data.judgments import Judgments, load_collection
from ir_lexirecall.io.columns import is_file, qrel_table
from ir_lexirecall.io.files import STDIN, rereadable
from ir_lexirecall.io.readers import read_qrels
from ir_lexirecall.present.text import printable

merging: Any = LazyModule("ir_lexirecall.judging.files")
naming: Any = LazyModule("ir_lexirecall.preferences.naming")
preference_functions: Any = LazyModule("ir_lexirecall.preferences.functions")

_ENDINGS = (".gz", ".bz2", ".xz", ".zst", ".run", ".txt", ".res", ".tsv", ".csv", ".parquet")
_CODES = {0: "done", 1: "bad input or a failure", 2: "bad usage", 130: "interrupted"}


class _Help(argparse.HelpFormatter):
    """Help as wide as the terminal; an example that is wider goes on after a backslash, so that it can be copied."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        wrap = textwrap.TextWrapper(width - 2, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
        lines = (
            " \\\n".join(wrap.wrap(line))
            if line.startswith("example:")
            else super(_Help, self)._fill_text(line, width, indent)
            for line in text.splitlines()
        )
        return "\n".join(lines)


class Parser(argparse.ArgumentParser):
    """A parser with one spelling of each option, and errors that a terminal can show."""

    def __init__(self, *, example: str | None = None, codes: Mapping[int, str] | None = None, **options: Any) -> None:
        known = sorted((_CODES | dict(codes or {})).items())
        epilog = f"exit codes: {', '.join(f'{code} {meaning}' for code, meaning in known)}"
        epilog = epilog if example is None else f"example: ir-lexirecall {example}\n\n{epilog}"
        super().__init__(allow_abbrev=False, formatter_class=_Help, epilog=epilog, **options)
        self.set_defaults(parser=self)  # that of the command overrides those of the program

    def parse_args(self, words: Any = None, namespace: Any = None) -> Any:
        """Parse a command line; the command, not the program, says how it is used where there is too much."""
        options, unknown = self.parse_known_args(words, namespace)
        if unknown:
            parser: Parser = options.parser
            hint = did_you_mean(unknown[0].partition("=")[0], re.findall(r"--[a-z-]+", parser.format_help()))
            parser.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
        return options

    def error(self, message: str) -> NoReturn:
        """Say how the command is used, and what was wrong; leave with exit code 2."""
        if choice := _INVALID_CHOICE.search(message):
            message += did_you_mean(choice[1], re.findall(r"[\w-]+", choice[2]))
        super().error(printable(message))


_INVALID_CHOICE = re.compile(r"invalid choice: '(.*?)' \(choose from (.*)\)$")


# -- measures --------------------------------------------------------------------------------------


def add_measures(
    parser: argparse.ArgumentParser, *, required: bool = False, preferences: bool = False, text: str | None = None
) -> None:
    """Add ``-m``, which takes one or several words, and may be repeated."""
    also = f", or {', '.join(preference_functions.NAMES)}" if preferences else ""
    parser.add_argument(
        "-m",
        "--measures",
        action="append",
        required=required,
        metavar="M",
        help=text or f"measures, one or several (see `ir-lexirecall measures`){also}",
    )


def add_preference(parser: argparse.ArgumentParser, default: str = "lexirecall") -> None:
    """Add ``-p``, which takes one or several words, and may be repeated."""
    parser.add_argument(
        "-p",
        "--preference",
        action="append",
        metavar="P",
        help=f"preferences, one or several of {', '.join(preference_functions.NAMES)} (default: {default})",
    )


def criteria_of(
    options: argparse.Namespace, measures: Sequence[Any] = (), preferences: Sequence[str] = ()
) -> list[Any]:
    """The measures of ``-m`` and the preferences of ``-p``, in this order; where neither is named, these by default.

    ``--rel`` and ``--cutoff`` become parameters of preferences.
    """
    named = [*split_measures(options.measures), *split_measures(options.preference)]
    if options.measures is None and options.preference is None:
        named = [*measures, *preferences]
    given = {name: getattr(options, name, None) for name in ("rel", "cutoff")}
    return list(naming.with_parameters(named, **given)) if any(x is not None for x in given.values()) else named


# -- qrels and runs --------------------------------------------------------------------------------


def add_qrels(parser: argparse.ArgumentParser, *, values: bool = False) -> None:
    """Add the arguments that name judgments; with ``--values`` they can be left out."""
    parser.add_argument(
        "qrels",
        metavar="QRELS",
        nargs="?" if values else None,
        help="qrels file (TREC or ndeval's 4 columns, or with a header line), an ir_datasets id, or - (standard input)",
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
    parser.add_argument(
        "--judged",
        action="append",
        default=[],
        metavar="FILE",
        help="further judgments of the same queries, such as those of `to-judge` once they have grades (repeatable)",
    )


def add_runs(parser: argparse.ArgumentParser, *, least: int = 1, values: bool = False) -> None:
    """Add the arguments that name judgments and runs, or ``values`` instead."""
    add_qrels(parser, values=values)
    several = ", at least two" if least == 2 else ""
    parser.add_argument(
        "runs",
        metavar="RUN",
        nargs="*" if values else "+",
        help=f"run files{several}: TREC's format (also .gz, .bz2, .xz, .zst), a table (.csv, .tsv, .parquet), or - "
        "(standard input)",
    )
    if values:
        parser.add_argument(
            "--values",
            nargs="+",
            metavar="FILE",
            help="instead of QRELS and RUN: values per query that another program computed (trec_eval -q, ir_measures -q, CSV, "
            "JSON lines, Parquet, ...): files, or a folder",
        )
        add_missing(parser, "a run lacks a value: error, or skip the query")
        add_smaller_is_better(parser)


def add_missing(parser: argparse.ArgumentParser, where: str) -> None:
    parser.add_argument("--missing", choices=["error", "skip"], help=f"what to do where {where} (default: error)")


def add_smaller_is_better(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--smaller-is-better",
        nargs="+",
        metavar="MEASURE",
        help="measures of --values of which the smaller value is the better one (well-known costs, such as RMSE or latency, are known)",
    )


def add_rel(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--rel", type=float, help="smallest grade that counts as relevant (default: the collection's own, else 1)"
    )


ALLOW_EMPTY: dict[str, Any] = {
    "action": "store_true",
    "help": "take runs that have no query, or no document, in common with the qrels",
}


def add_allow_empty(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--allow-empty", **ALLOW_EMPTY)


@dataclass(frozen=True)
class Inputs:
    """Qrels and runs that a command line names.

    Attributes:
        runs: paths of the runs by their names in tables.
    """

    source: str | pl.DataFrame | Collection
    runs: Mapping[str, str]
    qrels: str
    judged: Sequence[str] = ()

    @classmethod
    def from_options(cls, options: argparse.Namespace) -> Inputs:
        """Name the runs, and find the qrels; what can be read only once is read here."""
        aspects = list(_aspects(options.aspect))
        if [options.qrels, *options.runs, *options.judged, *(path for _, path in aspects)].count(STDIN) > 1:
            raise ValueError("-: standard input can be read only once, for the qrels or for one run")
        _heed_interruptions()
        paths = [options.resources.enter_context(rereadable(path)) for path in options.runs]
        runs = dict(zip(run_names(options.runs), paths, strict=True))
        named = is_file(options.qrels) or options.columns or aspects
        source = _qrels(options.qrels, options.columns, aspects) if named else load_collection(options.qrels)
        return cls(source, runs, options.qrels, options.judged)

    @cached_property
    def judgments(self) -> Judgments:
        judgments = Judgments.from_qrels(self.source)
        if len(judgments) == 0:
            raise ValueError(f"{self.qrels}: there are no judgments in it")
        for file in self.judged:
            judgments = merging.merged(judgments, file)
        return judgments

    @property
    def collection(self) -> Collection | None:
        """The data set, where its id was given."""
        return self.source if isinstance(self.source, Collection) else None

    def rel(self, options: argparse.Namespace) -> float:
        """The smallest grade that counts as relevant: that of ``--rel``, or the collection's own."""
        if options.rel is not None:
            return float(options.rel)
        return 1 if self.collection is None else float(self.collection.rel)

    def measures(self, options: argparse.Namespace) -> Sequence[str | IRMeasure]:
        """The measures of ``-m``, or those that the collection recommends."""
        if options.measures is not None:
            return split_measures(options.measures)
        if self.collection is None:
            raise ValueError(
                f'{self.qrels}: a file recommends no measures; name some with -m, as in -m "nDCG@10 AP LR"'
            )
        return self.collection.recommended()


def inputs_or_values(options: argparse.Namespace) -> Inputs | None:
    """What QRELS and RUN name; None where ``--values`` stands in their place."""
    if options.values is None:
        if not options.runs:
            options.parser.error("the following arguments are required: QRELS, RUN (or --values FILE)")
        if options.missing is not None:
            raise ValueError("--missing is about values; a query that a run lacks is an empty ranking")
        if options.smaller_is_better is not None:
            raise ValueError("--smaller-is-better is about --values; a measure of rankings knows which value is better")
        return Inputs.from_options(options)
    if options.qrels is not None or options.columns or options.aspect or options.judged:
        raise ValueError("give QRELS and RUN, or --values FILE, not both")
    return None


def _heed_interruptions() -> None:
    """Let Ctrl-C end the reading of a pipe, and waiting for threads, which Polars asks the system to restart."""
    importlib.import_module("polars")
    if hasattr(signal, "siginterrupt"):
        signal.siginterrupt(signal.SIGINT, True)


def _aspects(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    for word in words:
        name, mark, path = word.partition("=")
        if not (name and mark and path):
            raise ValueError(f"--aspect {word!r} must look like NAME=FILE")
        yield name, path


def _qrels(source: str, columns: str | None, aspects: Sequence[tuple[str, str]]) -> Any:
    """The qrels that the command line names: a file or an id, and files of further aspects."""
    if not (columns or aspects):
        return source
    table = qrel_table(read_qrels(source, columns=[n.strip() for n in columns.split(",")]) if columns else source)
    if not aspects:
        return table
    parts = [("relevance", table), *((name, qrel_table(path)) for name, path in aspects)]
    return pl.concat(
        part.select("query_id", "doc_id", "relevance").with_columns(iteration=pl.lit(name)) for name, part in parts
    )


def run_names(paths: Sequence[str]) -> list[str]:
    """What runs are called in tables: the file's name without endings, or its path where names would be the same.

    >>> run_names(["a/bm25.run.gz", "b/dph.txt", "-"])
    ['bm25', 'dph', 'stdin']
    """
    names = []
    for path in paths:
        name = "stdin" if path == STDIN else Path(path).name
        name = name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
        for ending in _ENDINGS:
            name = name.removesuffix(ending) or name
        names.append(name)
    names = names if len(set(names)) == len(names) else list(paths)
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{twice}: the same run is given twice")
    return names
