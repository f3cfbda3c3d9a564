"""``ir-lexirecall meta ...``: studies of ``ir_lexirecall.meta``, their parameters as options."""

from __future__ import annotations

import argparse
import ast
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from ir_lexirecall._util.lazy import LazyModule
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall.cli.arguments import ALLOW_EMPTY, Inputs, add_measures, add_rel, add_runs
from ir_lexirecall.cli.output import EXACT, Page, add_output, save_picture, terminal_width
from ir_lexirecall.cli.words import split_measures
from ir_lexirecall.present.text import format_number
from ir_lexirecall.significance import TESTS

if TYPE_CHECKING:
    from ir_lexirecall import meta
else:
    meta = LazyModule("ir_lexirecall.meta")


# -- what is declared ------------------------------------------------------------------------------


class Study(NamedTuple):
    """A command: what it says of itself, and its options by the names of the function's parameters."""

    summary: str
    example: str
    options: dict[str, dict[str, Any]]
    runs: bool = True  # takes qrels, runs and --rel
    measures: str | None = "measures"  # the parameter that -m fills
    qrels: str = "qrels"  # the parameter that QRELS fills
    rel: bool = True  # takes --rel


def _value(text: str) -> Any:
    """A parameter's value: a number if it looks like one, else the text."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def _parted(mark: str, form: str) -> Callable[[str], tuple[str, str]]:
    """Reads two names with a mark between them."""

    def parse(text: str) -> tuple[str, str]:
        first, found, second = text.partition(mark)
        if not found:
            raise argparse.ArgumentTypeError(f"{text!r} must look like {form}")
        return first, second

    return parse


def _integer(text: str) -> dict[str, Any]:
    return {"type": int, "metavar": "N", "help": text}


def _integers(text: str) -> dict[str, Any]:
    return {"type": int, "nargs": "+", "metavar": "N", "help": text}


def _fractions(default: str) -> dict[str, Any]:
    return {"type": float, "nargs": "+", "metavar": "F", "help": f"of labels to remove ({default})"}


def _significance(test: str, correction: str) -> dict[str, Any]:
    return {
        "test": {"choices": TESTS, "help": f"significance test (default: {test})"},
        "correction": {"metavar": "NAME", "help": f"for several comparisons; 'none' for none ({correction})"},
        "alpha": {"type": float, "metavar": "X", "help": "significance level (default: 0.05)"},
    }


_MEASURES = ("targets", "target", "among")
_SEED = {"seed": _integer("random seed (default: 0)")}
_AGGREGATE = {"action": "store_true", "help": "sums or means instead of single values"}
_EMPTY = {"allow_empty": ALLOW_EMPTY}
_PREFERENCES = {"cutoff": _integer("of preferences: what is ranked below counts as not retrieved"), **_EMPTY}
_TWO_WAY = {
    "contrasts": {
        "type": _parted(":", "MEASURE:MEASURE"),
        "nargs": "+",
        "metavar": "A:B",
        "help": "measures to subtract, B from A",
    },
    "n_resamples": _integer("of the bootstrap (default: 2000)"),
    "alpha": {"type": float, "metavar": "X", "help": "1 - confidence of the intervals (default: 0.05)"},
    **_SEED,
    **_EMPTY,
}


def _groups(default: str = "") -> dict[str, Any]:
    return {
        "type": _parted("=", "RUN=GROUP"),
        "nargs": "+",
        "metavar": "RUN=GROUP",
        "help": f"who made each run{default}",
    }


STUDIES = {
    "agreement": Study(
        "Agreement of measures on which of two runs is better, query by query",
        "qrels.txt *.run -m lexirecall TSE R@1000",
        _PREFERENCES,
    ),
    "axioms": Study(
        "Properties of the literature that measures have, and counterexamples",
        "-m TSE LR nDCG@10",
        {
            "grades": {"type": int, "nargs": "+", "metavar": "G", "help": "of documents, from 0 up"},
            "size": _integer("documents up to which all rankings are tried"),
            "cases": _integer("random cases of larger size per property (default: 200)"),
            **_SEED,
        },
        runs=False,
    ),
    "correlation": Study(
        "Correlation of measures",
        "qrels.txt *.run -m LR AP nDCG",
        {"by": {"help": "what a point is: values (of a run on a query; the default) or runs"}, **_PREFERENCES},
    ),
    "degrade": Study(
        "Ties and agreement after relevance labels are removed",
        "qrels.txt *.run -m LR AP --fractions 0.3 0.6 0.9",
        {
            "fractions": _fractions("0.1 to 0.9"),
            "policy": {"help": "which labels go: 'random' (the default), 'pool' or 'frequency'"},
            "n_samples": _integer("how often to draw (default: 10)"),
            "aggregate": _AGGREGATE,
            **_SEED,
            **_PREFERENCES,
        },
    ),
    "discriminative-power": Study(
        "Share of pairs of runs whose difference a test finds significant",
        "qrels.txt *.run -m LR AP lexirecall --test t",
        {
            **_significance("bootstrap", "the default"),
            "n_resamples": _integer("of tests that resample (default: 10000)"),
            **_SEED,
            **_PREFERENCES,
        },
    ),
    "fit": Study(
        "Parameter with which a measure correlates best with another one",
        "qrels.txt *.run -m \"TSE(exposure='RBP')\" --target AP --parameter p --bounds 0.1 0.99",
        {
            "target": {"action": "append", "required": True, "metavar": "M", "help": "measure or preference to match"},
            "parameter": {"required": True, "help": "name of the parameter to fit"},
            "grid": {"type": _value, "nargs": "+", "metavar": "VALUE", "help": "values of the parameter to try"},
            "bounds": {"type": float, "nargs": 2, "metavar": ("LOW", "HIGH"), "help": "range of the parameter"},
            "coefficient": {"help": "pearson (the default), spearman, kendall or top_weighted_kendall"},
            "by": {"help": "what a point is: values (of a run on a query; the default) or runs"},
            **_PREFERENCES,
        },
        measures="measure",
    ),
    "judges": Study(
        "Agreement of two judges on documents, on the order of runs, and on what is significant",
        "qrels.txt *.run --qrels-b model.qrels -m nDCG@10 AP",
        {
            "qrels_b": {"required": True, "metavar": "FILE", "help": "qrels of the other judge, on the same queries"},
            **_significance("t for measures, sign for preferences", "default: holm"),
            "cutoff": _PREFERENCES["cutoff"],
            "n_resamples": _integer("resamples of the queries, for the range of tau (default: 1000)"),
            **_SEED,
        },
        qrels="qrels_a",
        rel=False,
    ),
    "left-out": Study(
        "What a group of runs loses whose documents were not pooled",
        "qrels.txt *.run -m lexirecall AP --groups bm25=ours ql=theirs",
        {"groups": _groups() | {"required": True}, "depth": _integer("of the pool (default: 10)"), **_TWO_WAY},
    ),
    "orientation": Study(
        "Recall or precision orientation of measures",
        "-m TSE LR AP --m 1 5 10 --n 1000",
        {
            "n": _integers("documents in the collection, one number or several"),
            "m": _integers("relevant documents, one number or several"),
        },
        runs=False,
    ),
    "split-half": Study(
        "How well the order of runs on one half of the queries predicts the other half",
        "qrels.txt *.run -m LR AP nDCG",
        {
            "targets": {"action": "append", "metavar": "M", "help": "measures or preferences to predict (default: -m)"},
            "n_queries": _integer("queries in either half (default: half of them)"),
            "n_splits": _integer("ways of halving the queries, at most (default: 1000)"),
            **_SEED,
            **_PREFERENCES,
        },
    ),
    "stability": Study(
        "Decisions that survive missing labels, with intervals over queries and groups of runs",
        "qrels.txt *.run -m lexirecall AP --fractions 0.5 --contrasts lexirecall:AP",
        {
            "fractions": _fractions("0.2, 0.5 and 0.8"),
            "policies": {
                "nargs": "+",
                "metavar": "POLICY",
                "help": "which labels go: 'random', 'pool', 'frequency' (all)",
            },
            "groups": _groups(" (default: every run is a group)"),
            "n_samples": _integer("how often to draw labels (default: 5)"),
            **_TWO_WAY,
        },
    ),
    "tie-probabilities": Study(
        "Probability that two random rankings tie, exactly",
        "--n 1000 10000 --m 10",
        {
            "n": _integers("documents in the collection, one number or several") | {"required": True},
            "m": _integers("relevant documents, one number or several") | {"required": True},
            "k": _integers("cutoffs of R@k (default: 1000)"),
            "depth": _integers("documents that a run retrieves, one number or several (default: all)"),
        },
        runs=False,
        measures=None,
    ),
    "ties": Study(
        "Pairs of runs that tie, query by query",
        "qrels.txt *.run -m LR R@1000 Rprec",
        {"aggregate": _AGGREGATE, **_PREFERENCES},
    ),
    "unanimity": Study(
        "How often a measure decides as all measures do that agree",
        "qrels.txt *.run -m RBU ERR_IA@20 StRecall@20",
        {
            "among": {"action": "append", "metavar": "M", "help": "measures that must agree (default: those of -m)"},
            **_PREFERENCES,
        },
    ),
    "worst-case": Study(
        "Values for users who need some of the relevant documents",
        "qrels.txt bm25.run -m AP nDCG",
        {"enumerate_up_to": _integer("relevant documents up to which subsets are enumerated"), **_EMPTY},
    ),
}


def add_meta(commands: Any) -> None:
    parser = commands.add_parser(
        "meta",
        help="study measures: axioms, ties, power, stability, correlation",
        description="Study measures, on their own or on runs. Options are the parameters of the functions of "
        "ir_lexirecall.meta, which has more of them.",
    )
    known = parser.add_subparsers(required=True, metavar="STUDY", dest="name")
    for name, study in STUDIES.items():
        example = f"meta {name} {study.example}"
        _add_study(known.add_parser(name, help=study.summary, description=study.summary, example=example), study)


def _add_study(parser: argparse.ArgumentParser, study: Study) -> None:
    if study.runs:
        add_runs(parser)
        if study.rel:
            add_rel(parser)
    if study.measures:
        add_measures(parser, required=True, preferences=study.runs)
    for name, option in study.options.items():
        # What is not given is left to the function.
        parser.add_argument(f"--{name.replace('_', '-')}", **{"default": argparse.SUPPRESS, **option})
    parser.add_argument("--plot", metavar="FILE", help="draw the study into a file")
    add_output(parser)
    parser.set_defaults(command=_run)


# -- running ---------------------------------------------------------------------------------------


def _run(options: argparse.Namespace) -> None:
    study = STUDIES[options.name]
    values = {name: getattr(options, name) for name in study.options if name in options}
    values |= {name: split_measures(values[name]) for name in _MEASURES if name in values}
    if study.measures:
        values[study.measures] = split_measures(options.measures)
    for name in ("measure", "target"):
        if name in values:
            values[name] = _one("-m" if name == "measure" else f"--{name}", values[name])
    if values.get("correction") == "none":
        values["correction"] = None
    if "groups" in values:
        values["groups"] = _by_run(values["groups"])
    if study.runs:
        inputs = Inputs.from_options(options)
        values |= {study.qrels: inputs.judgments, "runs": inputs.runs}
        values |= {"rel": inputs.rel(options)} if study.rel else {}
    table = getattr(meta, options.name.replace("-", "_"))(**values)
    page = Page(options)
    if options.name == "axioms" and page.for_people and terminal_width(options) is not None:
        _add_axioms(page, table)
    else:
        page.add_table(_for_reader(table, options.format))
    if page.for_people and "confusion" in table.attrs:
        _add_confusion(page, table.attrs)
    if options.plot:
        save_picture(meta.plot(table), options.plot)
    page.finish()


def _add_axioms(page: Page, table: pd.DataFrame) -> None:
    """What measures satisfy, a column each, and their counterexamples below, whole: they would not fit beside it."""
    results = table.assign(result=table["result"].replace("not applicable", "n/a"))
    properties, measures = (list(table[name].drop_duplicates()) for name in ("property", "measure"))
    page.add_table(
        results.pivot(index="property", columns="measure", values="result").loc[properties, measures].reset_index()
    )
    page.add_sentence("(--wide shows sources and how the search went)")
    for measure, rows in table[table["result"] == "fails"].groupby("measure", sort=False):
        page.add_line("")
        page.add_line(f"{page.shown_name(str(measure))} fails:")
        for name, found in rows[["property", "counterexample"]].itertuples(index=False):
            page.add_item(f"{name}: {found}")


def _add_confusion(page: Page, attrs: Mapping[Any, Any]) -> None:
    confusion = {f"{grade:g}": row for grade, row in attrs["confusion"].items()}
    kappa, alpha = (format_number(attrs[f"{name}_of_grades"], 3) for name in ("kappa", "alpha"))
    page.add_sentence("")
    page.add_sentence(
        f"Documents by the grades of QRELS (rows) and of --qrels-b: weighted kappa {kappa}, ordinal alpha {alpha}"
    )
    columns = {f"{grade:g}": [row[grade] for row in confusion.values()] for grade in attrs["confusion"]}
    page.add_table({"grade": list(confusion), **columns})


def _for_reader(study: pd.DataFrame, form: str) -> pd.DataFrame:
    """The table of a study; exact fractions, of dozens of digits, are for programs only."""
    table = study.reset_index(drop=True)
    if form in EXACT:
        return table
    if "counterexample" in table:
        table = table[["measure", "property", "result", "counterexample", "source", "search"]]
    exact = [name for name in table.columns if any(isinstance(value, Fraction) for value in table[name])]
    return table.drop(columns=exact)


def _by_run(groups: list[tuple[str, str]]) -> dict[str, str]:
    names = [name for name, _ in groups]
    if twice := [name for name in names if names.count(name) > 1]:
        raise ValueError(f"--groups: the run {twice[0]} is named twice")
    return dict(groups)


def _one(option: str, measures: list[str]) -> str:
    if len(measures) != 1:
        raise ValueError(f"{option}: name one measure, not {len(measures)}: {', '.join(measures)}")
    return measures[0]
