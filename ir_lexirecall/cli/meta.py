"""``ir-lexirecall meta ...``: every study of ``ir_lexirecall.meta`` under its name, its parameters as options."""

from __future__ import annotations

import argparse
import ast
import inspect
import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ir_lexirecall import meta
from ir_lexirecall.cli.arguments import Inputs, add_measures, add_qrels, add_rel, add_runs, split_measures
from ir_lexirecall.cli.output import EXACT, Page, add_output, save_picture
from ir_lexirecall.significance import TESTS

if TYPE_CHECKING:
    import pandas as pd

_NO_STUDIES = ("SimulatedRankings", "plot", "summary")


def studies() -> dict[str, Callable[..., Any]]:
    """The functions of ``ir_lexirecall.meta`` that are studies, by the name of their command.

    >>> "discriminative-power" in studies()
    True
    """
    functions = {name: getattr(meta, name) for name in meta.__all__ if name not in _NO_STUDIES}
    return {name.replace("_", "-"): function for name, function in functions.items()}


# -- options ---------------------------------------------------------------------------------------


def _number(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        return float(text)


def _value(text: str) -> Any:
    """A parameter's value: a number if it looks like one, else the text."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def _ranking(text: str) -> tuple[str, list[float]]:
    name, mark, grades = text.partition("=")
    try:
        return name, [_number(grade) for grade in grades.split(",") if mark and grade]
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} must look like NAME=GRADE,GRADE,...") from None


_METAVARS: dict[Any, str] = {int: "N", float: "X"}
_SEVERAL: dict[str, Any] = {"nargs": "+"}
_OPTIONS: dict[str, dict[str, Any]] = {
    "aggregate": {"action": "store_true", "help": "sums or means instead of single values"},
    "allow_empty": {"action": "store_true", "help": "take runs that retrieve nothing for any query of the qrels"},
    "alpha": {"type": float, "help": "significance level"},
    "bounds": {"type": float, "nargs": 2, "metavar": ("LOW", "HIGH"), "help": "range of the parameter"},
    "by": {"help": "what a point is"},
    "cases": {"type": int, "help": "random cases of larger size per property"},
    "coefficient": {"help": "what to maximise"},
    "correction": {"help": "for several comparisons; 'none' for none"},
    "cutoff": {"type": int, "help": "of preferences: what is ranked below counts as not retrieved"},
    "depth": {"type": int, **_SEVERAL, "metavar": "N", "help": "documents that a run retrieves, one number or several"},
    "enumerate_up_to": {"type": int, "help": "relevant documents up to which subsets are enumerated"},
    "exposure": {"help": "exposure by rank: AP, RR, nDCG, RBP or linear"},
    "fractions": {"type": float, **_SEVERAL, "metavar": "F", "help": "of the relevant labels to remove"},
    "grades": {"type": int, **_SEVERAL, "metavar": "G", "help": "of documents, from 0 up"},
    "grid": {"type": _value, **_SEVERAL, "metavar": "VALUE", "help": "values of the parameter to try"},
    "k": {"type": int, **_SEVERAL, "metavar": "K", "help": "cutoffs of R@k"},
    "lowest": {"type": float, "help": "lowest relevant grade"},
    "m": {"type": int, **_SEVERAL, "metavar": "M", "help": "relevant documents of a query, one number or several"},
    "method": {"help": "'algorithm' for any measure, or 'closed form'"},
    "n": {"type": int, **_SEVERAL, "metavar": "N", "help": "documents in the collection, one number or several"},
    "n_queries": {"type": int, "help": "queries in either half (default: half of them)"},
    "n_resamples": {"type": int, "help": "of tests that resample"},
    "n_samples": {"type": int, "help": "how often to draw"},
    "n_splits": {"type": int, "help": "ways of halving the queries, at most"},
    "p": {"type": float, "help": "of the exposure RBP"},
    "parameter": {"help": "name of the parameter to fit"},
    "policy": {"help": "which labels go: 'random' or 'pool'"},
    "providers": {"metavar": "FILE", "help": "table (.csv, .tsv, .parquet) with the columns doc_id and provider"},
    "quality": {"type": float, **_SEVERAL, "metavar": "Q", "help": "of all runs, or one number for each"},
    "queries": {"type": int, "help": "how many queries"},
    "rankings": {"type": _ranking, **_SEVERAL, "metavar": "NAME=G,G,...", "help": "grades from rank 1 on, by name"},
    "seed": {"type": int, "help": "of random numbers"},
    "size": {"type": int, "help": "documents up to which all rankings are tried"},
    "systems": {"type": _value, **_SEVERAL, "metavar": "NAME", "help": "how many systems, or their names"},
    "test": {"choices": TESTS, "help": "significance test"},
    "top": {"type": float, "help": "top grade"},
}
_OF_ONE_STUDY: dict[tuple[str, str], dict[str, Any]] = {
    ("best-run-labels", "k"): {"nargs": None, "help": "ranks to look at"},
    ("partial-order", "by"): {"help": "the order of rankings ('rank') or of the sets of their documents ('set')"},
    ("balancing-index", "n"): {"help": "lengths of rankings, one number or several"},
    ("provider-exposure", "n"): {"nargs": None, "help": "documents in the collection"},
    ("simulate-rankings", "depth"): {"nargs": None, "help": "documents that a run retrieves"},
    ("simulate-rankings", "m"): {"help": "relevant documents of each query: one number, or one for every query"},
    ("simulate-rankings", "n"): {"nargs": None, "help": "documents in the collection"},
}
_LISTS = ("measures", "measure", "target", "targets", "among")  # parameters that are measures
_ELSEWHERE = ("qrels", "runs", "rel", "progress", *_LISTS)
_ONE_OR_SEVERAL = ("m", "quality", "systems")  # options of simulate-rankings of which one value is not a list
_EXAMPLES = {
    "achieved-significance": "qrels.txt *.run -m LR AP --test t",
    "agreement": "qrels.txt *.run -m lexirecall TSE R@1000",
    "axioms": "-m TSE LR nDCG@10",
    "balancing-index": "-m AP 'RBP(p=0.8)' --n 10 100",
    "best-run-labels": "qrels.csv *.run -m \"CAM(aspects={'relevance':2,'quality':2})@5\" --k 5",
    "check": "-m nDCG@10 --grades 0 1 2",
    "correlation": "qrels.txt *.run -m LR AP nDCG",
    "degrade": "qrels.txt *.run -m LR AP --fractions 0.3 0.6 0.9",
    "discriminative-power": "qrels.txt *.run -m LR AP lexirecall --test t",
    "fit": "qrels.txt *.run -m \"TSE(exposure='RBP')\" --target AP --parameter p --bounds 0.1 0.99",
    "orientation": "-m TSE LR AP --m 1 5 10 --n 1000",
    "per-query-kendall": "qrels.txt *.run -m LR AP nDCG",
    "partial-order": "--rankings a=1,0,2 b=2,0,1",
    "properties": "",
    "provider-exposure": "qrels.txt bm25.run --providers providers.csv",
    "reachable-maximum": "qrels.csv -m \"CAM(aspects={'relevance':2,'quality':2})\"",
    "simulate-rankings": "--n 1000 --m 10 --depth 100 --queries 50",
    "split-half": "qrels.txt *.run -m LR AP nDCG",
    "tie-probabilities": "--n 1000 10000 --m 10",
    "ties": "qrels.txt *.run -m LR R@1000 Rprec",
    "unanimity": "qrels.txt *.run -m RBU ERR_IA@20 StRecall@20",
    "worst-case": "qrels.txt bm25.run -m AP nDCG",
}


def parameters(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """The parameters of a study, those of ``**options`` one by one."""
    known: dict[str, inspect.Parameter] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is not parameter.VAR_KEYWORD:
            known[name] = parameter
            continue
        (options,) = re.findall(r"\[(\w+)\]", str(parameter.annotation))  # Unpack[TestOptions]
        defaults = function.__globals__.get("_DEFAULTS", {})
        for option in function.__globals__[options].__annotations__:
            known[option] = inspect.Parameter(option, parameter.KEYWORD_ONLY, default=defaults.get(option))
    return known


def add_studies(commands: Any) -> None:
    """Add the command ``meta`` with its studies to what ``ArgumentParser.add_subparsers`` gave."""
    parser = commands.add_parser(
        "meta",
        help="study measures: axioms, ties, power, stability, correlation",
        description="Study measures, on their own or on runs. Options are the parameters of the functions of ir_lexirecall.meta.",
    )
    known = parser.add_subparsers(required=True, metavar="STUDY")
    for name, function in studies().items():
        summary = (inspect.getdoc(function) or "").partition("\n")[0].replace("``", "").replace("%", "%%")
        _add_study(
            known.add_parser(
                name,
                help=summary,
                description=summary,
                example=f"meta {name} {_EXAMPLES[name]}".rstrip() if name in _EXAMPLES else None,
            ),
            name,
            function,
        )


def _add_study(parser: argparse.ArgumentParser, study: str, function: Callable[..., Any]) -> None:
    known = parameters(function)
    if "runs" in known:
        add_runs(parser)
    elif "qrels" in known:
        add_qrels(parser)
        parser.set_defaults(runs=[])
    if "measures" in known:
        add_measures(parser, required=True, preferences="runs" in known)
    for name in ("measure", "target", "targets", "among"):
        if name in known:
            short = ["-m"] if name == "measure" else []
            required = known[name].default is inspect.Parameter.empty
            parser.add_argument(
                *short, f"--{name}", action="append", metavar="M", required=required, help=_MEASURES[name]
            )
    if "rel" in known:
        add_rel(parser)
    for name, parameter in known.items():
        if name not in _ELSEWHERE:
            _add_option(parser, study, parameter)
    parser.add_argument("--plot", metavar="FILE", help="draw the study into a file")
    add_output(parser)
    parser.set_defaults(command=_run, study=function)


_MEASURES = {
    "measure": "the measure",
    "target": "the measure, or preference, to come close to",
    "targets": "the measures, or preferences, to predict (default: those of -m)",
    "among": "the measures that must agree (default: those of -m)",
}


def _add_option(parser: argparse.ArgumentParser, study: str, parameter: inspect.Parameter) -> None:
    """An option with the name of a parameter; what is not given is left to the function."""
    name, default = parameter.name, parameter.default
    flag = f"--{name.replace('_', '-')}"
    spec = {**_OPTIONS[name], **_OF_ONE_STUDY.get((study, name), {})}
    if "metavar" not in spec and spec.get("type") in _METAVARS:
        spec["metavar"] = _METAVARS[spec["type"]]
    if default is inspect.Parameter.empty:
        parser.add_argument(flag, required=True, **spec)
        return
    if default is not None and "action" not in spec:
        spec["help"] += f" (default: {_shown(default)})"
    parser.add_argument(flag, default=argparse.SUPPRESS, **spec)


def _shown(default: Any) -> str:
    if isinstance(default, range):
        return f"{default.start} to {default.stop - 1}"
    if isinstance(default, (tuple, list)):
        return " ".join(map(str, default))
    return str(getattr(default, "name", default))


# -- running ---------------------------------------------------------------------------------------


def _run(options: argparse.Namespace) -> None:
    known = parameters(options.study)
    values = {name: getattr(options, name) for name in known if name in options and name not in _ELSEWHERE}
    if "correction" in values and values["correction"] == "none":
        values["correction"] = None
    if "rankings" in values:
        values["rankings"] = _by_name(values["rankings"])
    if "providers" in values:
        values["providers"] = _providers(values["providers"])
    if "queries" in known:
        values |= {name: values[name][0] for name in _ONE_OR_SEVERAL if len(values.get(name, ())) == 1}
    for name in _LISTS:
        words = getattr(options, name, None)
        if name in known and words is not None:
            values[name] = split_measures(words) if name in ("measures", "targets", "among") else _one(name, words)
    if "qrels" in known:
        inputs = Inputs.from_options(options)
        values["qrels"] = inputs.judgments
        if "runs" in known:
            values["runs"] = inputs.runs
        if "rel" in known:
            values["rel"] = inputs.rel(options)
    result = options.study(**values)
    study = getattr(result, "table", result)  # of simulated rankings
    page = Page(options)
    page.add_table(_for_reader(study, options.format))
    if options.plot:
        save_picture(meta.plot(study), options.plot)
    page.finish()


def _for_reader(study: Any, form: str) -> pd.DataFrame:
    """The table of a study; exact fractions, of dozens of digits, are for programs only."""
    table: pd.DataFrame = study.reset_index(drop=True)
    if form in EXACT:
        return table
    exact = [name for name in table.columns if any(isinstance(value, Fraction) for value in table[name])]
    return table.drop(columns=exact)


def _one(name: str, words: Sequence[str]) -> str:
    several = split_measures(words)
    if len(several) != 1:
        raise ValueError(f"--{name}: name one measure, not {len(several)}: {', '.join(several)}")
    return several[0]


def _by_name(rankings: Sequence[tuple[str, list[float]]]) -> dict[str, list[float]]:
    names = [name for name, _ in rankings]
    if twice := [name for name in names if names.count(name) > 1]:
        raise ValueError(f"--rankings: two rankings have the same name, {twice[0]}")
    return dict(rankings)


def _providers(path: str) -> pd.DataFrame:
    """The table of providers, ids as texts."""
    import pandas as pd

    try:
        if path.lower().endswith(".parquet"):
            return pd.read_parquet(path)
        return pd.read_csv(path, sep="\t" if path.lower().endswith(".tsv") else ",", dtype=str)
    except (ValueError, UnicodeDecodeError, ImportError) as error:
        raise ValueError(f"--providers {path}: {error}") from None
