"""Arguments of several commands, and their values: qrels, runs, criteria, tests, margins."""

from __future__ import annotations

import argparse
import glob
import importlib
import os
import re
import signal
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall._util.errors import did_you_mean, repeated, warn
from ir_lexirecall._util.lazy import LazyModule, cached_property
from ir_lexirecall._util.lazy import polars as pl
from ir_lexirecall.data.collection import Collection
from ir_lexirecall.data.judgments import Judgments, QrelsLike, load, load_collection
from ir_lexirecall.data.tie_rule import ORDERS
from ir_lexirecall.io.columns import qrel_table
from ir_lexirecall.io.files import (
    STDIN,
    matching,
    named_files,
    without_compression,
)
from ir_lexirecall.io.readers import without_ending
from ir_lexirecall.io.repeated_values import KINDS
from ir_lexirecall.io.run_folders import without_run_ending
from ir_lexirecall.io.schemas import RUN
from ir_lexirecall.io.source import Source, what_is
from ir_lexirecall.measures.parsing import is_measures, with_rel
from ir_lexirecall.present.text import printable
from ir_lexirecall.significance import TESTS, SignificanceTest
from ir_lexirecall.significance.testing import FAMILIES

if TYPE_CHECKING:
    from ir_lexirecall.comparison.compared import MarginLike
    from ir_lexirecall.judging.algorithms import DepthLike

merging: Any = LazyModule("ir_lexirecall.judging.files")
naming: Any = LazyModule("ir_lexirecall.preferences.naming")
preference_functions: Any = LazyModule("ir_lexirecall.preferences.functions")

_WRITTEN = ("output", "plot", "report", "disagreements")
"""Options that name files to write."""
_ENDINGS = (
    ".gz",
    ".bz2",
    ".xz",
    ".zst",
    ".run",
    ".txt",
    ".res",
    ".tsv",
    ".csv",
    ".parquet",
)
_CODES = {0: "done", 1: "bad input or a failure", 2: "bad usage", 130: "interrupted"}


class _Help(argparse.HelpFormatter):
    """Help as wide as the terminal; an example stays in its line, so that it can be copied."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        """Wrap a text, but not an example in it."""
        fill, lines = super()._fill_text, text.splitlines()
        filled_lines = []
        for line in lines:
            if line.startswith("example:"):
                filled_lines.append(line)
            else:
                filled_lines.append(fill(line, width, indent))
        return "\n".join(filled_lines)

    def _split_lines(self, text: str, width: int) -> list[str]:
        """Wrap the help of an option, but not within names such as to-judge."""
        return textwrap.wrap(" ".join(text.split()), width, break_on_hyphens=False)


class Parser(argparse.ArgumentParser):
    """A parser with one spelling of each option, and errors that a terminal can show."""

    def __init__(
        self,
        *,
        example: str | None = None,
        codes: Mapping[int, str] | None = None,
        **options: Any,
    ) -> None:
        exit_codes = sorted((_CODES | dict(codes or {})).items())
        epilog = f"exit codes: {'; '.join(f'{code} {meaning}' for code, meaning in exit_codes)}"
        if example is not None:
            epilog = f"example: ir-lexirecall {example}\n\n{epilog}"
        super().__init__(
            allow_abbrev=False, formatter_class=_Help, epilog=epilog, **options
        )
        # The parser of the command overrides that of the program.
        self.set_defaults(parser=self)

    def parse_args(self, words: Any = None, namespace: Any = None) -> Any:
        """Parse a command line; the command, not the program, reports words that are too many."""
        options, unknown = self.parse_known_args(words, namespace or Options())
        if unknown:
            parser: Parser = options.parser
            hint = did_you_mean(
                unknown[0].partition("=")[0],
                re.findall(r"--[a-z-]+", parser.format_help()),
            )
            parser.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
        return options

    def error(self, message: str) -> NoReturn:
        """Print a line of usage and what was wrong; leave with exit code 2."""
        if choice := re.search(
            r"invalid choice: '(.*?)' \(choose from (.*)\)$", message
        ):
            message += did_you_mean(choice[1], re.findall(r"[\w-]+", choice[2]))
        if "are required: QRELS" in message:  # maybe the last option took them
            message += "; name files before -m and -p"
        error = f"{self.prog}: error: {printable(message)}"
        self.exit(2, f"{self._usage_in_a_line()}\n{error}\n")

    def _usage_in_a_line(self) -> str:
        """Return the usage without the options, which ``--help`` lists."""
        files = argparse.HelpFormatter(self.prog, width=10_000)
        files.add_usage(None, self._get_positional_actions(), [], prefix="")
        names = files.format_help().strip().removeprefix(self.prog)
        return f"usage: {self.prog} [options]{names} (see --help)"

    def add(self, *names: str, more: str = "", **changed: Any) -> None:
        """Add options of ``OPTIONS``, changed for one command; ``more`` ends the help."""
        for name in names:
            how = OPTIONS[name] | changed
            how["help"] += _OWN if name == "measures" else more
            self.add_argument(*_FLAGS.get(name, [f"--{name.replace('_', '-')}"]), **how)

    def add_bounds(self) -> None:
        """Add ``--bounds``, and the options that belong to it."""
        self.add("bounds")
        for name in BOUNDS[1:]:
            self.add(name, help=f"with --bounds: {OPTIONS[name]['help']}")

    def add_runs(self, *, least: int = 1, values: bool = False) -> None:
        """Add the arguments that name judgments and runs, or ``--values`` instead."""
        self.add("qrels", nargs="?" if values else None)
        self.add(*JUDGMENTS[1:])
        several = ", at least two" if least == 2 else ""
        formats = (
            "TREC's format (also .gz, .bz2, .xz, .zst), a table (.csv, .tsv, .parquet), "
            'or - (standard input); "runs/*.run" takes each file'
        )
        self.add(
            "runs", nargs="*" if values else "+", help=f"run files{several}: {formats}"
        )
        if values:
            self.add("values", *OF_VALUES)

    def add_preference(
        self, default: str = "lexirecall, if no measure is named"
    ) -> None:
        """Add ``-p``; ``default`` says what is compared without."""
        names = ", ".join(preference_functions.NAMES)
        words = f"preferences or measures; preferences are {names} (default: {default})"
        self.add("preference", help=words)


def files_first(words: Sequence[str]) -> list[str]:
    """Move files that follow measures ahead of their option, which would take them for measures.

    >>> files_first(["eval", "-m", "LR", "nDCG@10", "trec/robust04", "bm25.run", "--wide"])
    ['eval', 'trec/robust04', 'bm25.run', '-m', 'LR', 'nDCG@10', '--wide']
    """
    ordered, first = list(words), len(words)
    for i, option in enumerate(ordered):
        if option in _FLAGS["measures"] + _FLAGS["preference"]:
            first = min(first, i)
            end = next(
                (j for j in range(i + 1, len(ordered)) if re.match("-.", ordered[j])),
                len(ordered),
            )
            for j in range(i + 2, end):
                word = ordered[j]
                if re.match("[^({]*/", word) or (
                    named_files(word) and not is_measures(word)
                ):
                    ordered[first:end] = ordered[j:end] + ordered[first:j]
                    break
    return ordered


def check_patterns(files: Sequence[str]) -> None:
    """Raise if a pattern matches no file.

    >>> check_patterns(["runs/*.rnu"])
    Traceback (most recent call last):
    ValueError: runs/*.rnu: no file matches this pattern; correct it
    """
    for file in files:
        if glob.has_magic(file) and not os.path.exists(file) and not matching(file):
            raise ValueError(f"{file}: no file matches this pattern; correct it")


class _Files(argparse.Action):
    """Several files; a pattern that the shell did not expand means each file that matches."""

    def __call__(
        self,
        parser: Any,
        namespace: argparse.Namespace,
        values: Any,
        option_string: Any = None,
    ) -> None:
        setattr(
            namespace,
            self.dest,
            [file for value in values for file in matching(value) or [value]],
        )


def _depth(text: str) -> DepthLike:
    """Return a rank, None for "all", or "default" (which argparse reads here, too)."""
    if text == "all":
        return None
    if text == "default":
        return "default"
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is neither a rank nor 'all'"
        ) from None


def _cutoff(text: str) -> int:
    """Return the number of a rank, which is at least 1."""
    number = int(text) if text.isdecimal() else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"the cutoff must be at least 1, not {text!r}")
    return number


DEFAULT_MEASURES = ("nDCG@10", "AP", "LR")
"""The measures of qrels that recommend none, where none is named."""
_STANDARD = f"{', '.join(DEFAULT_MEASURES[:-1])} and {DEFAULT_MEASURES[-1]}"
DEFAULT_IN_WORDS = f"the collection's, else {_STANDARD}"
"""Measures that commands take by default."""

_DEFAULT = SignificanceTest()
_REPEATED: dict[str, Any] = {"action": "append", "default": []}
_SWITCH: dict[str, Any] = {"action": "store_true"}
_N: dict[str, Any] = {"type": int, "metavar": "N"}
_FLOAT: dict[str, Any] = {"type": float}
LIST: dict[str, Any] = {"nargs": "+", "action": "extend", "metavar": "M"}
"""An option that takes one or several measures."""
_OWN = "; for your own measures, see 'Use it on the command line' in the documentation"
_FLAGS = {
    "qrels": ["qrels"],
    "runs": ["runs"],
    "measures": ["-m", "--measures"],
    "preference": ["-p", "--preference"],
}
OPTIONS: dict[str, dict[str, Any]] = {
    "qrels": {
        "metavar": "QRELS",
        "help": "qrels file: lines of query, 0 (or subtopic), document, grade, or a table with a "
        "header line; or an ir_datasets id, or - (standard input)",
    },
    "aspect": _REPEATED
    | {
        "metavar": "NAME=FILE",
        "help": "qrels file with the labels of a further aspect, such as credibility (repeatable)",
    },
    "judged": _REPEATED
    | {
        "metavar": "FILE",
        "help": "file of further judgments of the same queries, such as the list of `to-judge` "
        "with grades added (repeatable)",
    },
    "trec_eval": {
        "type": int,
        "choices": list(ORDERS),
        "metavar": "VERSION",
        "help": "version of trec_eval whose order of documents is used: 9, which compares scores "
        "as 32-bit floats (default), or 10, as 64-bit floats",
    },
    "levels": {
        "nargs": "+",
        "action": "extend",
        "metavar": "GRADE",
        "help": "turn labels of another scale into grades: with 0.5 0.8, labels from 0.5 on "
        "become 1 and labels from 0.8 on 2 (with 0.5=1 0.8=3: 1 and 3); lower ones become 0",
    },
    "predicted": {
        "metavar": "FILE",
        "help": "a program's judgments of all queries; QRELS then has people's judgments of a "
        "random sample of at least 10 queries",
    },
    "runs": {"metavar": "RUN", "action": _Files},
    "values": {
        "nargs": "+",
        "action": _Files,
        "metavar": "FILE",
        "help": "instead of QRELS and RUN: values per query that another program computed "
        "(trec_eval -q, ir_measures -q, CSV, JSON lines, Parquet, ...): files, or a folder",
    },
    "missing": {
        "choices": ["error", "skip"],
        "help": "if a run in --values lacks a value: stop, or skip the query in its pairs "
        "(default: error)",
    },
    "smaller_is_better": {
        "nargs": "+",
        "metavar": "MEASURE",
        "help": "measures of --values whose smaller value is better (well-known costs, such as "
        "RMSE or latency, need not be named)",
    },
    "query_column": {
        "metavar": "NAME",
        "help": "column of --values that names the queries (default: query_id, doc_id, "
        "sample_id, id, ..., or the only column of ids that all runs have)",
    },
    "run_column": {
        "metavar": "NAME",
        "help": "column of --values that names the runs (default: run, system, model, ...)",
    },
    "where": {
        "nargs": "+",
        "metavar": "COLUMN=VALUE",
        "help": "take only the rows of --values whose COLUMN is VALUE, such as "
        "filter=strict-match or epoch=1",
    },
    "repeats": {
        "metavar": "COLUMN",
        "help": "column of --values that numbers repeated values of a run and query (default with "
        "--repeats-are: seed, epoch, repeat, trial, sample or fold)",
    },
    "repeats_are": {
        "choices": KINDS,
        "help": "kind of repeats: samples (noise within each query) or seeds (a seed shifts all "
        "queries together)",
    },
    "deterministic": {
        "nargs": "+",
        "metavar": "RUN",
        "help": "runs of --values without seeds; the others need at least 3 seeds each",
    },
    "measures": LIST,
    "preference": LIST | {"metavar": "P"},
    "baseline": {"metavar": "RUN"},
    "rel": _FLOAT
    | {
        "help": "smallest grade that counts as relevant (default: the collection's own, else 1)"
    },
    "cutoff": _N
    | {
        "type": _cutoff,
        "help": "for preferences: treat documents below this rank as not retrieved",
    },
    "allow_empty": _SWITCH
    | {"help": "accept runs that share no query, or no document, with the qrels"},
    "groups": {
        "metavar": "FILE",
        "help": "the group of each query (lines of query and group, or CSV, TSV or Parquet with "
        "a header): compare within each group, too",
    },
    "cluster": _SWITCH
    | {
        "help": "with --groups: take groups, not single queries, as the independent units of "
        "tests (by randomisation or bootstrap)"
    },
    "margin": {
        "metavar": "D",
        "help": "difference from the baseline that does not matter: in the criterion's unit, "
        "relative to the baseline's mean ('2%%'), or by criterion ('nDCG@10=0.01 SL3=5')",
    },
    "test": {
        "choices": TESTS,
        "metavar": "TEST",
        "help": f"significance test: {', '.join(TESTS)} (default: t for measures, sign for "
        f"preferences)",
    },
    "correction": {
        "metavar": "NAME",
        "default": _DEFAULT.correction,
        "help": "correction for several comparisons, or 'none' (default: %(default)s)",
    },
    "family": {
        "choices": FAMILIES,
        "default": _DEFAULT.family,
        "help": "correct together the pairs of one criterion, or of all criteria "
        "(default: %(default)s)",
    },
    "alpha": _FLOAT
    | {"default": _DEFAULT.alpha, "help": "significance level (default: %(default)s)"},
    "n_resamples": _N
    | {
        "default": _DEFAULT.n_resamples,
        "help": "number of resamples (default: %(default)s)",
    },
    "seed": {
        "type": int,
        "default": _DEFAULT.seed,
        "help": "random seed (default: %(default)s)",
    },
    "bounds": _SWITCH
    | {
        "help": "print instead the lowest and highest values that judgments of the retrieved "
        "unjudged documents could give"
    },
    "depth": {
        "type": _depth,
        "default": "default",
        "metavar": "N",
        "help": "unjudged documents may be relevant down to rank N; 'all' for whole rankings "
        "(default: the criterion's cutoff, else 100)",
    },
    "max_rel": _FLOAT
    | {
        "metavar": "G",
        "help": "top grade of the scale (default: the measure's, else the highest in the qrels)",
    },
    "unretrieved": _N
    | {
        "help": "assume up to N unjudged relevant documents per query that no run retrieved "
        "(default: 0)"
    },
}
"""The options that several commands have, by the names of their values."""
_REPEATS = ("repeats", "repeats_are", "deterministic")
OF_VALUES = (
    *("missing", "smaller_is_better", "query_column", "run_column", "where"),
    *_REPEATS,
)
JUDGMENTS = ("qrels", "aspect", "judged", "trec_eval", "levels")
TEST = ("test", "correction", "alpha", "n_resamples", "seed", "family")
ONE_CRITERION_TEST = TEST[:-1]  # where families of criteria have no part
BOUNDS = ("bounds", "depth", "max_rel", "unretrieved")


# -- criteria, tests, margins ----------------------------------------------------------------------


def split_measures(words: str | Sequence[str] | None) -> list[str]:
    """Return the measures in words.

    Blanks, commas and semicolons part them, but not within brackets or quotes.

    >>> split_measures("TSE@1000 RBU(p=0.9, e=0.1)@20, LR")
    ['TSE@1000', 'RBU(p=0.9, e=0.1)@20', 'LR']
    >>> split_measures(["LR AP", "nDCG@10", "TSE @ 5"])
    ['LR', 'AP', 'nDCG@10', 'TSE@5']
    """
    if isinstance(words, str):
        words = [words]
    measures: list[str] = []
    for word in words or []:
        measures += _with_cutoffs(_parts_outside_brackets(word))
    for index, measure in enumerate(measures):
        if measure.startswith("@") or measure.endswith("@"):
            raise _lone_cutoff(measures, index)
    return measures


def _parts_outside_brackets(text: str) -> list[str]:
    """Return the parts of a text between blanks, commas and semicolons outside brackets and quotes.

    Raises:
        ValueError: a bracket or quote is not closed, or not opened.

    >>> _parts_outside_brackets("RBU(p=0.9, e=0.1)@20, LR")
    ['RBU(p=0.9, e=0.1)@20', 'LR']
    """
    parts: list[str] = []
    current, depth = "", 0
    for token in re.findall(r"""'[^']*'?|"[^"]*"?|.""", text + " ", re.DOTALL):
        if depth == 0 and token in " \t\n,;":
            parts.append(current)
            current = ""
            continue
        current += token
        depth += (token in "({[") - (token in ")}]")
        if depth < 0:
            raise ValueError(
                f"measures: {token!r} has no opening bracket in {current!r}"
            )
    if current.strip():
        raise ValueError(
            f"measures: a bracket or quote is not closed in {current.strip()!r}"
        )
    return list(filter(None, parts))


def _lone_cutoff(measures: Sequence[str], index: int) -> ValueError:
    """Return the error about a measure and a cutoff that stand in separate words."""
    first = max(0, index - measures[index].startswith("@"))
    whole = "".join(_with_cutoffs(measures[first : index + 3])[:1])
    if whole.strip("@") == whole:
        return ValueError(f"measures: write {whole} without spaces, or in quotes")
    return ValueError(f"measures: {whole!r} lacks a measure or a cutoff, as in nDCG@10")


def _with_cutoffs(parts: Sequence[str]) -> list[str]:
    """Return the parts of a text, a cutoff that stands apart being added to its measure.

    >>> _with_cutoffs(["TSE", "@", "5", "AP", "nDCG@", "10", "LR", "@3"])
    ['TSE@5', 'AP', 'nDCG@10', 'LR@3']
    """
    joined: list[str] = []
    for part in parts:
        if joined and (part.startswith("@") or joined[-1].endswith("@")):
            joined[-1] += part
        else:
            joined.append(part)
    return joined


def parse_margin(text: str | None) -> MarginLike | None:
    """Return a margin of the command line.

    >>> parse_margin("0.01"), parse_margin("2%"), parse_margin("nDCG@10=0.01 SL3(n=10)=5")
    (0.01, '2%', {'nDCG@10': 0.01, 'SL3(n=10)': 5.0})
    """
    if text is None:
        return None

    parts = split_measures(text)
    margins: dict[str, float | str] = {}
    for part in parts:
        name, _, value = part.rpartition("=")
        try:
            margins[name] = float(value)
        except ValueError:
            margins[name] = value  # such as 2%, or an error that names the margin
    if len(parts) == 1 and "=" not in parts[0]:
        return margins[""]
    if "" in margins:
        raise ValueError(
            f"--margin {text!r} must be one number, or a number for every criterion such as "
            f"nDCG@10=0.01"
        )
    return margins


# -- values of options -----------------------------------------------------------------------------


class Options(argparse.Namespace):
    """Values of the options of a command line, and objects that are made of them."""

    def criteria(
        self, measures: Sequence[Any] = (), preferences: Sequence[str] = ()
    ) -> list[Any]:
        """Return the measures of ``-m`` and the preferences of ``-p``; by default these.

        ``--rel`` and ``--cutoff`` become parameters of preferences, ``--rel`` also of measures.
        """
        preferred = split_measures(self.preference)
        for name in preferred:
            if naming.parse_preference(name) is None and not is_measures(
                re.split("[(@]", name)[0]
            ):
                preference_names = preference_functions.NAMES
                hint = (
                    did_you_mean(name, preference_names, 0.7) or "; or name a measure"
                )
                raise ValueError(
                    f"unknown preference {name!r}; choose from {', '.join(preference_names)}{hint}"
                )
        named = [*split_measures(self.measures), *preferred]
        if self.measures is None and self.preference is None:
            named = [*measures, *preferences]
        rel = getattr(self, "rel", None)
        criteria = naming.with_parameters(
            named, rel=rel, cutoff=getattr(self, "cutoff", None)
        )
        if rel is None:
            return [*criteria]
        return [with_rel(criterion, rel) for criterion in criteria]

    def significance_test(self) -> SignificanceTest:
        """Return how differences are tested."""
        if self.correction.lower() == "none":
            correction = None
        else:
            correction = self.correction
        cluster = getattr(self, "cluster", False)  # of the commands that take groups
        return SignificanceTest(
            self.test,
            correction,
            self.alpha,
            self.n_resamples,
            self.seed,
            cluster=cluster,
            family=getattr(self, "family", _DEFAULT.family),
        )

    def of_bounds(self) -> dict[str, Any]:
        """Return the options of ``--bounds`` that were given; raise if it was not."""
        options = {}
        for name in BOUNDS[1:]:
            value = getattr(self, name)
            if value != self.parser.get_default(name):
                options[name] = value
        if options and not self.bounds:
            first = next(iter(options)).replace("_", "-")
            raise ValueError(f"--{first} belongs to --bounds; give both")
        return options

    def inputs(self) -> Inputs | None:
        """Return the files of QRELS and RUN; None if ``--values`` stands in their place."""
        if self.values is not None:
            self.check_only_values()
            return None
        if not self.runs:
            self.parser.error(
                "the following arguments are required: QRELS, RUN (or --values FILE)"
            )
        self.check_no_values()
        return Inputs(self)

    def check_only_values(self) -> None:
        """Raise if ``--values`` are given with judgments or options on them, or match no file."""
        if self.qrels is not None or self.aspect or self.judged:
            raise ValueError("give QRELS and RUN, or --values FILE, not both")
        if self.trec_eval is not None or self.levels is not None:
            option = "--levels" if self.trec_eval is None else "--trec-eval"
            raise ValueError(
                f"{option} needs QRELS and RUN; leave it out with --values"
            )
        check_patterns(self.values)

    def check_no_values(self) -> None:
        """Raise if options on values are given without ``--values``."""
        if self.missing is not None:
            raise ValueError(
                "--missing needs --values; in a run, a missing query counts as an empty ranking"
            )
        if self.smaller_is_better is not None:
            raise ValueError(
                "--smaller-is-better needs --values; of measures of rankings, the direction is "
                "known"
            )
        for name in ("query_column", "run_column", "where", *_REPEATS):
            if getattr(self, name) is not None:
                option = name.replace("_", "-")
                raise ValueError(f"--{option} needs --values; give it, too")

    def repeats_of_values(self) -> tuple[str, str] | str | None:
        """Return the column of repeats and their kind, or the kind alone.

        Raises:
            ValueError: a column without a kind.
        """
        if self.repeats is None:
            return self.repeats_are
        if self.repeats_are is None:
            raise ValueError(
                "--repeats needs --repeats-are samples (noise of each query) or seeds (each moves "
                "all queries at once)"
            )
        return self.repeats, self.repeats_are

    def rows_of_values(self) -> dict[str, str]:
        """Return the value that a column of ``--values`` must have, by column.

        Raises:
            ValueError: ``--where`` names no column.
        """
        pairs = [word.partition("=") for word in self.where or ()]
        for word, (name, equals, _) in zip(self.where or (), pairs, strict=True):
            if not (name and equals):
                raise ValueError(f"--where {word!r} must look like COLUMN=VALUE")
        return {name: value for name, _, value in pairs}


class Inputs:
    """Qrels and runs that a command line names; sources that can be read only once are read here.

    Attributes:
        runs: paths of the runs by their names in tables.
        collection: the data set, where its id was given.
    """

    def __init__(self, options: Options) -> None:
        aspects = _parse_aspects(options.aspect)
        files = [
            options.qrels,
            *options.runs,
            *options.judged,
            *(path for _, path in aspects),
        ]
        if files.count(STDIN) > 1:
            raise ValueError(
                "-: standard input can be read only once, for the qrels or for one run"
            )
        importlib.import_module("polars")
        if hasattr(signal, "siginterrupt"):
            # Ctrl-C ends the reading of a pipe, and waiting for threads, which Polars asks the
            # system to restart.
            signal.siginterrupt(signal.SIGINT, True)
        check_patterns(options.runs)
        sources = [what_is(path, RUN) for path in options.runs]
        self.runs: dict[str, Source] = dict(
            zip(run_names(options.runs), sources, strict=True)
        )
        self.options: Options = options
        self.collection: Collection | None = None
        self._source: str | pl.DataFrame | Collection = options.qrels
        if aspects:
            self._source = _with_aspects([("relevance", options.qrels), *aspects])
        elif not named_files(options.qrels):
            self._source = load_collection(options.qrels)
            if isinstance(self._source, Collection):
                self.collection = self._source

    @cached_property
    def judgments(self) -> Judgments:
        """Judgments of the qrels, with those of ``--judged``."""
        judgments = Judgments.from_qrels(self._source)
        if len(judgments) == 0:
            raise ValueError(
                f"{self.options.qrels}: there are no judgments in it; add some"
            )
        for file in self.options.judged:
            judgments = merging.merged(judgments, file)
        return reading_of(self.options, judgments)

    @property
    def measures(self) -> Sequence[str | IRMeasure]:
        """The measures of ``-m``, those that the collection recommends, or the standard ones."""
        if self.options.measures is not None:
            return split_measures(self.options.measures)
        if self.collection is None:
            warn(
                f"{self.options.qrels} recommends no measures: taking {_STANDARD}; name others "
                "with -m"
            )
            return DEFAULT_MEASURES
        return self.collection.recommended()


def _parse_aspects(words: Sequence[str]) -> list[tuple[str, str]]:
    """Return the names and the files of ``--aspect``."""
    aspects = []
    for word in words:
        name, _, path = word.partition("=")
        if not (name and path):
            raise ValueError(f"--aspect {word!r} must look like NAME=FILE")
        aspects.append((name, path))
    return aspects


def _with_aspects(parts: Sequence[tuple[str, str]]) -> pl.DataFrame:
    """Return the judgments of several files, with the name of the aspect of each."""
    return pl.concat(
        qrel_table(path)
        .select("query_id", "doc_id", "relevance")
        .with_columns(iteration=pl.lit(name))
        for name, path in parts
    )


def reading_of(options: Options, qrels: QrelsLike) -> Any:
    """Return qrels with the order of documents and the levels that a command line names."""
    if options.trec_eval is None and options.levels is None:
        return qrels
    if options.levels is None:
        levels = None
    else:
        levels = parse_levels(options.levels)
    return load(qrels, trec_eval=options.trec_eval, levels=levels)


def parse_levels(words: Sequence[str]) -> list[Any] | dict[Any, Any]:
    """Return levels as `load` takes them, from words such as `0.5` or `0.5=1`.

    >>> parse_levels(["0.5", "0.8"]), parse_levels(["0.5=1", "0.8=3"])
    ([0.5, 0.8], {0.5: 1.0, 0.8: 3.0})
    """
    pairs = [word.partition("=") for word in words]
    try:
        if any(mark for _, mark, _ in pairs):
            return {float(level): float(grade) for level, _, grade in pairs}
        return [float(word) for word in words]
    except ValueError:
        raise ValueError(
            f"--levels {' '.join(words)} must be numbers such as 0.5 0.8, or pairs such as 0.5=1 "
            f"0.8=3"
        ) from None


def run_names(paths: Sequence[str]) -> list[str]:
    """Return the names of runs in tables: that of the file without endings, or else its path.

    >>> run_names(["a/bm25.run.gz", "b/dph.results", "-"])
    ['bm25', 'dph', 'stdin']
    """
    names = []
    for path in paths:
        name = "stdin" if path == STDIN else Path(path).name
        name = name.encode("utf-8", "surrogateescape").decode(
            "utf-8", "backslashreplace"
        )
        name = whole = without_compression(name)
        for ending in _ENDINGS:
            name = name.removesuffix(ending) or name
        if name == whole:
            name = without_run_ending(name)
        names.append(without_ending(name))
    if repeated(names) is None:
        return names
    if (twice := repeated([os.path.normpath(path) for path in paths])) is not None:
        raise ValueError(f"{twice}: the same run is given twice")
    return list(paths)


def check_output(options: argparse.Namespace) -> None:
    """Raise if a file that is to be written is one of the files that are to be read.

    Raises:
        ValueError: it is, and would be lost.
    """
    for name in _WRITTEN:
        path = getattr(options, name, None)
        if not isinstance(path, str) or not os.path.isfile(path):
            continue
        for file in _files_to_read(options):
            if os.path.samefile(path, file):
                raise ValueError(
                    f"--{name} {path}: this file is read, and would be overwritten; name another "
                    "one"
                )


def _files_to_read(options: argparse.Namespace) -> Iterator[str]:
    """Yield the files that options name, but those that are written."""
    for name, value in vars(options).items():
        if name in (*_WRITTEN, "words", "name"):
            continue
        for word in value if isinstance(value, list) else [value]:
            if isinstance(word, str):
                yield from filter(os.path.isfile, [word, *matching(word)])
