"""``ir-lexirecall meta ...``: the studies of ``ir_lexirecall.meta``, made from their records."""

from __future__ import annotations

import argparse
from fractions import Fraction
from functools import partial
from typing import Any

from ir_lexirecall import meta
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall.cli.arguments import ONE_CRITERION_TEST, Inputs, Options, Parser, split_measures
from ir_lexirecall.cli.output import EXACT, Page, add_output, save_picture, terminal_width
from ir_lexirecall.meta.records import RECORDS
from ir_lexirecall.preferences import functions as preferences
from ir_lexirecall.preferences.naming import with_parameters
from ir_lexirecall.present.text import format_number
from ir_lexirecall.significance import TESTS

STUDIES = {
    record.name.replace("_", "-"): record for _, record in sorted(RECORDS.items()) if record.example
}


def add_meta(commands: Any) -> None:
    parser: Parser = commands.add_parser(
        "meta",
        help="study measures: axioms, ties, power, stability, correlation",
        description="Study measures, on their own or on runs. Options are the parameters of the functions of "
        "ir_lexirecall.meta, which has more of them.",
    )
    known = parser.add_subparsers(required=True, metavar="STUDY", dest="name")
    names = ", ".join(preferences.NAMES)
    for name, record in STUDIES.items():
        study: Parser = known.add_parser(
            name,
            help=record.title,
            description=record.title,
            example=f"meta {name} {record.example}",
        )
        if record.runs:
            study.add_runs()
            study.add(*record.runs)
        if record.measures:
            also = f", or {names}" if record.runs else ""
            words = f"measures, one or several (see `ir-lexirecall measures`){also}"
            study.add("measures", required=True, help=words)
        if record.test is not None:
            own = record.test.name and {
                "help": f"significance test: {', '.join(TESTS)} (default: {record.test.name})"
            }
            study.add("test", **own or {})
            study.add(*(name for name in ONE_CRITERION_TEST[1:] if name not in record.options))
            study.set_defaults(test=record.test.name, correction=record.test.correction or "none")
        for option_name, option in record.options.items():
            several = "+" if option.several else None
            asked = {"metavar": option.shown, "required": option.required or None, "nargs": several}
            how = _KINDS[option.kind] | {
                key: value for key, value in asked.items() if value is not None
            }
            # What is not given is left to the function.
            flag = f"--{option_name.replace('_', '-')}"
            study.add_argument(flag, default=argparse.SUPPRESS, help=option.help, **how)
        study.add_argument("--plot", metavar="FILE", help="draw the study into a file")
        add_output(study)


def _parted(mark: str, form: str, text: str) -> tuple[str, str]:
    """Two names with a mark between them."""
    first, found, second = text.partition(mark)
    if not found:
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
    record = STUDIES[options.name]
    values = {name: getattr(options, name) for name in record.options if name in options}
    if record.measures:
        cutoff = getattr(options, "cutoff", None)
        values["measures"] = with_parameters(split_measures(options.measures), cutoff=cutoff)
    if groups := values.get("groups"):
        values["groups"] = dict(groups)
        if twice := next(
            (run for run, _ in groups if [name for name, _ in groups].count(run) > 1), None
        ):
            raise ValueError(f"--groups: the run {twice} is named twice")
    if record.test is not None:
        known = {name: getattr(record.test, name) for name in ("n_resamples", "seed")} | vars(
            options
        )
        if "n_resamples" in record.options:  # which are its own
            known["n_resamples"] = record.test.n_resamples
        values["test"] = Options(**known).significance_test()
    if len(values.get("qrels_b", ())) == 1:
        (values["qrels_b"],) = values["qrels_b"]
    study: Any = meta
    if record.runs:
        inputs, kept = Inputs(options), options.allow_empty
        rel = options.rel if "rel" in record.runs else 1
        if rel is None:
            rel = 1 if inputs.collection is None else inputs.collection.rel
        study = meta.Study(
            values.pop("measures"), inputs.judgments, inputs.runs, rel=rel, allow_empty=kept
        )
    table = getattr(study, record.name)(**values)
    page = Page(options)
    if options.name == "axioms" and page.for_people and terminal_width(options) is not None:
        _add_axioms(page, table)
    else:
        shown = table.reset_index(drop=True)
        if (
            options.format not in EXACT
        ):  # exact fractions, of dozens of digits, are for programs only
            if "counterexample" in shown:
                shown = shown[
                    ["measure", "property", "result", "counterexample", "source", "search"]
                ]
            exact = [
                name
                for name in shown.columns
                if any(isinstance(value, Fraction) for value in shown[name])
            ]
            shown = shown.drop(columns=exact)
        page.add_table(shown)
    if page.for_people and "confusion" in table.attrs:
        by_grade = table.attrs["confusion"]
        kappa, alpha = (
            format_number(table.attrs[f"{name}_of_grades"], 3) for name in ("kappa", "alpha")
        )
        said = f"weighted kappa {kappa}, ordinal alpha {alpha}"
        page.add_sentences("", f"Documents by the grades of QRELS (rows) and of --qrels-b: {said}")
        columns = {f"{grade:g}": [row[grade] for row in by_grade.values()] for grade in by_grade}
        page.add_table({"grade": list(columns), **columns})
    if options.plot:
        save_picture(meta.plot(table), options.plot)
    page.finish()


def _add_axioms(page: Page, table: pd.DataFrame) -> None:
    """What measures satisfy, a column each, and their counterexamples below, whole: they would not fit beside it."""
    results = table.assign(result=table["result"].replace("not applicable", "n/a"))
    properties, measures = (list(table[name].drop_duplicates()) for name in ("property", "measure"))
    page.add_table(
        results.pivot(index="property", columns="measure", values="result")
        .loc[properties, measures]
        .reset_index()
    )
    page.add_sentences("(--wide shows sources and how the search went)")
    for measure, rows in table[table["result"] == "fails"].groupby("measure", sort=False):
        page.add_lines("", f"{page.shown_name(str(measure))} fails:")
        found = zip(rows["property"], rows["counterexample"], strict=True)
        page.add_items(*(f"{name}: {counterexample}" for name, counterexample in found))
