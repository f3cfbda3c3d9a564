"""``ir-lexirecall meta ...``: the studies of measures from the command line."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ir_lexirecall.preferences.functions import NAMES
from ir_lexirecall.significance import TESTS

if TYPE_CHECKING:
    import pandas as pd

    from ir_lexirecall.meta.study import Study

Adder = Callable[..., None]


def add(commands: Any, add_qrels: Adder, add_output: Adder) -> None:
    """Add the command ``meta`` with its sub-commands.

    Args:
        commands: what ``ArgumentParser.add_subparsers`` gave.
        add_qrels: adds the arguments that name qrels.
        add_output: adds the arguments that choose a format.
    """
    meta = commands.add_parser(
        "meta",
        help="study measures: axioms, ties, power, stability, correlation",
        description="Study measures, on their own or on runs.",
    )
    studies = meta.add_subparsers(required=True, metavar="STUDY")

    def study(name: str, run: Callable[[argparse.Namespace], Study], text: str, example: str) -> Any:
        parser = studies.add_parser(
            name,
            help=text,
            description=f"{text[0].upper()}{text[1:]}.",
            epilog=f"Example: ir-lexirecall meta {example}",
        )
        parser.set_defaults(command=lambda options: _show(run(options), options))
        return parser

    axioms = study("axioms", _axioms, "which axioms measures satisfy", "axioms -m 'TSE LR nDCG@10'")
    _add_measures(axioms)
    axioms.add_argument(
        "--grades",
        type=int,
        nargs="+",
        metavar="G",
        help="of documents, from 0 up (default: what the measure tells apart)",
    )
    axioms.add_argument(
        "--size", type=int, help="documents up to which all rankings are tried (default: by their number)"
    )
    axioms.add_argument("--cases", type=int, default=200, help="random cases per property (default: 200)")
    axioms.add_argument("--seed", type=int, default=0, help="of the random cases (default: 0)")

    orientation = study(
        "orientation", _orientation, "precision and recall orientation of measures", "orientation -m 'TSE LR AP'"
    )
    _add_measures(orientation)
    _add_sizes(orientation, documents=[1000], relevant=list(range(1, 16)), defaults=("1000", "1 to 15"))

    ties = study(
        "ties",
        _ties,
        "how often two runs tie, or two random rankings",
        "ties qrels.txt *.run -m 'LR R@1000 Rprec', or: meta ties --documents 1000 10000 --relevant 10",
    )
    _add_runs(ties, add_qrels, cutoff=True, optional=True)
    ties.add_argument("--by-query", action="store_true", help="a row per measure and query")
    _add_sizes(ties, documents=None, relevant=None)
    ties.add_argument("--cutoffs", type=int, nargs="+", metavar="K", help="of R@k on random rankings (default: 1000)")

    agreement = study(
        "agreement",
        _agreement,
        "how often two measures order the same two runs alike",
        "agreement qrels.txt *.run -m 'lexirecall TSE R@1000'",
    )
    _add_runs(agreement, add_qrels, cutoff=True)

    power = study(
        "power",
        _power,
        "the share of pairs of runs whose difference is significant",
        "power qrels.txt *.run -m 'LR AP lexirecall' --test t",
    )
    _add_runs(power, add_qrels, cutoff=True)
    power.add_argument("--test", choices=TESTS, default="bootstrap", help="significance test (default: bootstrap)")
    power.add_argument("--alpha", type=float, default=0.05, help="significance level (default: 0.05)")
    power.add_argument("--correction", default="none", help="for several comparisons, as in `compare` (default: none)")
    power.add_argument("--resamples", type=int, default=10_000, help="of bootstrap and tukey (default: 10000)")
    power.add_argument("--seed", type=int, default=0, help="of bootstrap and tukey (default: 0)")
    power.add_argument("--curve", action="store_true", help="a row per pair of runs, by p-value")

    degrade = study(
        "degrade",
        _degrade,
        "ties and agreement with the full labels when relevant ones are missing",
        "degrade qrels.txt *.run -m 'LR AP' --fractions 0.3 0.6 0.9",
    )
    _add_runs(degrade, add_qrels, cutoff=True)
    degrade.add_argument(
        "--fractions",
        type=float,
        nargs="+",
        default=[0.1, 0.3, 0.5, 0.7, 0.9],
        metavar="F",
        help="of the relevant labels to remove (default: 0.1 0.3 0.5 0.7 0.9)",
    )
    degrade.add_argument(
        "--policy", choices=("random", "pool"), default="random", help="which labels go (default: random)"
    )
    degrade.add_argument("--samples", type=int, default=10, help="how often to draw (default: 10)")
    degrade.add_argument("--seed", type=int, default=0, help="of the draws (default: 0)")
    degrade.add_argument("--each", action="store_true", help="a row per sample instead of the means")

    correlate = study(
        "correlate",
        _correlate,
        "correlation of measures over runs and queries",
        "correlate qrels.txt *.run -m 'LR AP nDCG' --by systems",
    )
    _add_runs(correlate, add_qrels)
    correlate.add_argument(
        "--by",
        choices=("scores", "systems", "topics"),
        default="scores",
        help="values of systems on queries, means of systems, or the mean over topics of Kendall's tau (default: scores)",
    )

    unanimity = study(
        "unanimity",
        _unanimity,
        "how far a measure rises where all measures rise",
        "unanimity qrels.txt *.run -m 'RBU ERR_IA@20 StRecall@20'",
    )
    _add_runs(unanimity, add_qrels)
    unanimity.add_argument("--among", metavar="'M M ...'", help="the measures that must agree (default: those of -m)")

    for parser in studies.choices.values():
        parser.add_argument("--plot", metavar="FILE", help="draw the study into a file")
        add_output(parser)


def _add_measures(parser: argparse.ArgumentParser, *, preferences: bool = False, required: bool = True) -> None:
    also = f", or {', '.join(NAMES)}" if preferences else ""
    parser.add_argument(
        "-m", "--measures", required=required, metavar="'M M ...'", help=f"measures, separated by blanks{also}"
    )


def _add_runs(
    parser: argparse.ArgumentParser, add_qrels: Adder, *, cutoff: bool = False, optional: bool = False
) -> None:
    """Options of a study of measures, or preferences, on runs."""
    add_qrels(parser, **({"nargs": "?"} if optional else {}))
    parser.add_argument("runs", metavar="RUN", nargs="*" if optional else "+", help="run files, at least two")
    parser.add_argument(
        "--rel", type=float, help="smallest grade that counts as relevant (default: the collection's own, else 1)"
    )
    _add_measures(parser, preferences=True, required=not optional)
    if cutoff:
        parser.add_argument("--cutoff", type=int, help="of preferences: what is ranked below counts as not retrieved")


def _add_sizes(parser: argparse.ArgumentParser, defaults: tuple[str, str] | None = None, **values: Any) -> None:
    """Options for the sizes of made-up rankings."""
    for name, metavar, text in (
        ("documents", "N", "size of the collection, or several"),
        ("relevant", "M", "relevant documents of a query, or several"),
    ):
        known = f" (default: {defaults[name == 'relevant']})" if defaults else ""
        parser.add_argument(
            f"--{name}", type=int, nargs="+", default=values[name], metavar=metavar, help=f"{text}{known}"
        )


def _show(study: Study, options: argparse.Namespace) -> None:
    from ir_lexirecall import cli

    table: pd.DataFrame = study.reset_index(drop=True)
    for column in table.columns:
        if any(isinstance(value, Fraction) for value in table[column]):  # for machines only: dozens of digits
            table[column] = table[column].astype(str)
            if options.format not in ("json", "tsv"):
                table = table.drop(columns=column)
    keys = [column for column in table.columns if not cli.is_float(table[column])]
    print(cli.render(table, keys, options.format, options.places))
    if options.plot:
        axes = study.plot()
        try:
            axes.figure.savefig(options.plot)
        except (OSError, ValueError) as error:
            raise ValueError(f"--plot {options.plot}: {error}") from None


def _measures(options: argparse.Namespace) -> list[str]:
    from ir_lexirecall.cli import split_measures

    return split_measures(options.measures)


def _on_runs(options: argparse.Namespace) -> tuple[list[str], Any, dict[str, str]]:
    """The measures, the qrels, and the runs by name."""
    from ir_lexirecall.cli import read_qrels, run_names

    qrels = read_qrels(options.qrels, options.columns, options.aspect)
    return _measures(options), qrels, dict(zip(run_names(options.runs), options.runs, strict=True))


def _counted(options: argparse.Namespace) -> dict[str, Any]:
    """What counts as relevant and, where the study asks for it, as retrieved."""
    from ir_lexirecall.cli import relevance_threshold

    cutoff = {"cutoff": options.cutoff} if "cutoff" in options else {}
    return {"rel": relevance_threshold(options), **cutoff}


def _axioms(options: argparse.Namespace) -> Study:
    from ir_lexirecall import meta

    return meta.axioms(
        _measures(options), grades=options.grades, size=options.size, cases=options.cases, seed=options.seed
    )


def _orientation(options: argparse.Namespace) -> Study:
    from ir_lexirecall import meta

    return meta.orientation(_measures(options), options.relevant, options.documents)


def _ties(options: argparse.Namespace) -> Study:
    from ir_lexirecall import meta
    from ir_lexirecall.meta.behaviour import ties_by_measure

    if options.qrels is None:
        if not (options.documents and options.relevant) or options.measures:
            raise ValueError("meta ties: give QRELS, RUNs and measures (-m), or else --documents and --relevant")
        of_runs = ("rel", "cutoff", "by_query", "columns", "aspect")
        if ignored := [name for name in of_runs if getattr(options, name)]:
            raise ValueError(f"meta ties: --{ignored[0].replace('_', '-')} is about runs, which come with QRELS")
        return meta.tie_probabilities(options.documents, options.relevant, k=options.cutoffs or 1000)
    if options.documents or options.relevant or options.cutoffs:
        raise ValueError("meta ties: --documents, --relevant and --cutoffs are about random rankings, without QRELS")
    if not options.measures:
        raise ValueError("meta ties: name measures with -m, such as 'LR R@1000'")
    found = meta.ties(*_on_runs(options), **_counted(options))
    return found if options.by_query else ties_by_measure(found)


def _agreement(options: argparse.Namespace) -> Study:
    from ir_lexirecall import meta

    return meta.agreement(*_on_runs(options), **_counted(options))


def _power(options: argparse.Namespace) -> Study:
    from ir_lexirecall.meta.sensitivity import achieved_significance, discriminative_power

    power = achieved_significance if options.curve else discriminative_power
    return power(
        *_on_runs(options),
        test=options.test,
        alpha=options.alpha,
        correction=None if options.correction == "none" else options.correction,
        **_counted(options),
        n_resamples=options.resamples,
        seed=options.seed,
    )


def _degrade(options: argparse.Namespace) -> Study:
    from ir_lexirecall.meta.stability import degrade, mean_degradation

    table = degrade(
        *_on_runs(options),
        options.fractions,
        options.policy,
        options.samples,
        options.seed,
        **_counted(options),
    )
    return table if options.each else mean_degradation(table)


def _correlate(options: argparse.Namespace) -> Study:
    from ir_lexirecall.meta.relations import correlation, per_topic_kendall

    if options.by == "topics":
        return per_topic_kendall(*_on_runs(options), **_counted(options))
    return correlation(*_on_runs(options), by=options.by, **_counted(options))


def _unanimity(options: argparse.Namespace) -> Study:
    from ir_lexirecall import cli
    from ir_lexirecall.meta.relations import unanimity

    among = cli.split_measures(options.among) if options.among else None
    return unanimity(*_on_runs(options), among=among, **_counted(options))
