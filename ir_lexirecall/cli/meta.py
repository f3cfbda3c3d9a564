"""Add and run the commands `ir-lexirecall meta ...`, which the records of studies describe."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

from ir_lexirecall import meta
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall.cli.arguments import (
    ONE_CRITERION_TEST,
    Inputs,
    Options,
    Parser,
    split_measures,
)
from ir_lexirecall.cli.output import (
    UNROUNDED,
    Page,
    add_output,
    save_picture,
    terminal_width,
)
from ir_lexirecall.meta.records import RECORDS, Option, Record
from ir_lexirecall.preferences import functions as preferences
from ir_lexirecall.preferences.naming import with_parameters
from ir_lexirecall.present.text import format_number
from ir_lexirecall.significance import TESTS, SignificanceTest

STUDIES = {
    record.name.replace("_", "-"): record
    for _, record in sorted(RECORDS.items())
    if record.example
}


def add_meta(commands: Any) -> None:
    """Add the command `meta`, with a command of its own for each study."""
    parser: Parser = commands.add_parser(
        "meta",
        help="study measures: axioms, ties, power, stability, correlation",
        description="Study measures, on their own or on runs. The options are parameters of the "
        "functions in ir_lexirecall.meta; some functions have further parameters.",
    )
    studies = parser.add_subparsers(required=True, metavar="STUDY", dest="name")
    for name, record in STUDIES.items():
        study: Parser = studies.add_parser(
            name,
            help=record.title,
            description=record.title,
            example=f"meta {name} {record.example}",
        )
        _add_inputs(study, record)
        if record.test is not None:
            _add_test(study, record, record.test)
        for option_name, option in record.options.items():
            _add_option(study, option_name, option)
        study.add_argument("--plot", metavar="FILE", help="draw the study into a file")
        add_output(study)


def _add_inputs(study: Parser, record: Record) -> None:
    """Add the runs and measures that a study reads."""
    if record.runs:
        study.add_runs()
        study.add(*record.runs)
    if record.measures:
        also = ""
        if record.runs:
            also = f", or {', '.join(preferences.NAMES)}"
        help_text = f"measures, one or several (see `ir-lexirecall measures`){also}"
        study.add("measures", required=True, help=help_text)


def _add_test(study: Parser, record: Record, test: SignificanceTest) -> None:
    """Add the options of a significance test, with the defaults of the study."""
    help_text = f"significance test: {', '.join(TESTS)} (default: {test.name})"
    study.add("test", **({"help": help_text} if test.name else {}))
    study.add(*(name for name in ONE_CRITERION_TEST[1:] if name not in record.options))
    study.set_defaults(test=test.name, correction=test.correction or "none")


def _add_option(study: Parser, name: str, option: Option) -> None:
    """Add an option of a study; the function of the study has its default."""
    settings = dict(_KINDS[option.kind])
    if option.shown is not None:
        settings["metavar"] = option.shown
    if option.required:
        settings["required"] = True
    if option.several:
        settings["nargs"] = "+"
    flag = f"--{name.replace('_', '-')}"
    study.add_argument(flag, default=argparse.SUPPRESS, help=option.help, **settings)


def _parted(mark: str, form: str, text: str) -> tuple[str, str]:
    """Split a text at a separator into two names."""
    first, separator, second = text.partition(mark)
    if not separator:
        raise argparse.ArgumentTypeError(f"{text!r} must look like {form}")
    return first, second


_KINDS: dict[Any, dict[str, Any]] = {
    int: {"type": int, "metavar": "N"},
    float: {"type": float, "metavar": "X"},
    str: {},
    bool: {"action": "store_true"},
    "RUN=GROUP": {"type": partial(_parted, "=", "RUN=GROUP"), "metavar": "RUN=GROUP"},
    "A:B": {"type": partial(_parted, ":", "MEASURE:MEASURE"), "metavar": "A:B"},
}


# -- running ---------------------------------------------------------------------------------------


def run_meta(options: Options) -> None:
    """Make a study, and show its table."""
    record = STUDIES[options.name]
    arguments = _arguments(options, record)
    study: Any = meta
    if record.runs:
        study = _study_of_runs(options, record, arguments.pop("measures"))
    table = getattr(study, record.name)(**arguments)

    page = Page(options)
    if (
        options.name == "axioms"
        and page.for_people
        and terminal_width(options) is not None
    ):
        _add_axioms(page, table)
    else:
        page.add_table(_shown(table, options))
    if page.for_people and "confusion" in table.attrs:
        _add_confusion(page, table)
    if options.plot:
        save_picture(meta.plot(table), options.plot)
    page.finish()


def _arguments(options: Options, record: Record) -> dict[str, Any]:
    """Return the arguments of the function that makes a study.

    Raises:
        ValueError: a run is in two groups, or a measure is unknown.
    """
    arguments = {}
    for name in record.options:
        if name in options:
            arguments[name] = getattr(options, name)
    if record.measures:
        cutoff = getattr(options, "cutoff", None)
        arguments["measures"] = with_parameters(
            split_measures(options.measures), cutoff=cutoff
        )
    if arguments.get("groups"):
        arguments["groups"] = _group_of_each_run(arguments["groups"])
    if record.test is not None:
        arguments["test"] = _significance_test(options, record, record.test)
    if len(arguments.get("qrels_b", ())) == 1:
        (arguments["qrels_b"],) = arguments["qrels_b"]
    return arguments


def _group_of_each_run(groups: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Return the group of each run; raise if a run has several."""
    n_groups = Counter(run for run, _ in groups)
    for run, n in n_groups.items():
        if n > 1:
            raise ValueError(f"--groups: the run {run} is named twice")
    return dict(groups)


def _significance_test(options: Options, record: Record, test: SignificanceTest) -> Any:
    """Return the significance test of a study."""
    settings = {"n_resamples": test.n_resamples, "seed": test.seed, **vars(options)}
    # Such studies have it as an argument of their own, not of the test.
    if "n_resamples" in record.options:
        settings["n_resamples"] = test.n_resamples
    return Options(**settings).significance_test()


def _study_of_runs(
    options: Options, record: Record, measures: Sequence[Any]
) -> meta.Study:
    """Read the judgments and runs of a study."""
    inputs = Inputs(options)
    rel = options.rel if "rel" in record.runs else 1
    if rel is None:
        if inputs.collection is None:
            rel = 1
        else:
            rel = inputs.collection.rel
    return meta.Study(
        measures,
        inputs.judgments,
        inputs.runs,
        rel=rel,
        allow_empty=options.allow_empty,
    )


def _shown(table: pd.DataFrame, options: Options) -> pd.DataFrame:
    """Return the columns of a study that its format shows.

    Exact fractions can have dozens of digits; only formats for programs have them.
    """
    shown = table.reset_index(drop=True)
    if options.format in UNROUNDED:
        return shown
    if "counterexample" in shown:
        columns = [
            "measure",
            "property",
            "result",
            "counterexample",
            "source",
            "search",
        ]
        shown = shown[columns]
    exact = [name for name in shown.columns if _has_fractions(shown[name])]
    return shown.drop(columns=exact)


def _has_fractions(column: pd.Series) -> bool:
    """Return whether a column holds an exact fraction."""
    return any(isinstance(value, Fraction) for value in column)


def _add_confusion(page: Page, table: pd.DataFrame) -> None:
    """Add how many documents got which grades by two judges, and how well the judges agree.

    Of several judges, the rows of each stand in one table.
    """
    measured = ("confusion", "kappa_of_grades", "alpha_of_grades")
    by_grade, kappa, alpha = (table.attrs[name] for name in measured)
    about = "Documents by the grades of QRELS (rows) and of --qrels-b"
    if not isinstance(kappa, Mapping):
        numbers = (
            f"kappa {format_number(kappa, 3)}, ordinal alpha {format_number(alpha, 3)}"
        )
        page.add_sentences("", f"{about}: weighted {numbers}")
        columns = {
            f"{grade:g}": [row[grade] for row in by_grade.values()]
            for grade in by_grade
        }
        page.add_table({"grade": list(columns), **columns})
        return
    page.add_sentences(
        "", f"{about}, with weighted kappa and ordinal alpha of each judge"
    )
    grades = sorted(set().union(*by_grade.values()))
    rows = []
    for judge, matrix in by_grade.items():
        for grade, numbers in matrix.items():
            row = {"judge": judge, "kappa": kappa[judge], "alpha": alpha[judge]}
            row["grade"] = f"{grade:g}"
            for other in grades:
                row[f"{other:g}"] = numbers.get(other, 0)
            rows.append(row)
    page.add_table(pd.DataFrame(rows))


def _add_axioms(page: Page, table: pd.DataFrame) -> None:
    """Add what measures satisfy, a column each, and below it the counterexamples in full."""
    results = table.assign(result=table["result"].replace("not applicable", "n/a"))
    properties = list(table["property"].drop_duplicates())
    measures = list(table["measure"].drop_duplicates())
    matrix = results.pivot(index="property", columns="measure", values="result")
    page.add_table(matrix.loc[properties, measures].reset_index())
    page.add_sentences("(--wide shows sources and how the search went)")
    failed = table[table["result"] == "fails"]
    for measure, rows in failed.groupby("measure", sort=False):
        page.add_lines("", f"{page.shown_name(str(measure))} fails:")
        counterexamples = zip(rows["property"], rows["counterexample"], strict=True)
        page.add_items(*(f"{name}: {example}" for name, example in counterexamples))
