"""Compare models on systematic reviews by ASReview's command ``asreview lexirecall``.

It reads their ``.asreview`` files.

    asreview lexirecall compare *.asreview
    asreview lexirecall eval *.asreview -m WSS@0.95 RecallLoss --by-review
    asreview lexirecall plot *.asreview -o recall.png

ASReview 2 and 3 find it by the entry point ``asreview.entry_points``; reading the files needs
neither.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Any

import ir_lexirecall as irl
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall.evaluation.evaluating import recall_curves
from ir_lexirecall.io.reviews import Reviews, read_reviews

__all__ = ["EntryPoint"]

_MEASURES = ("LastRel", "WSS@0.95", "ATD", "RecallLoss", "ERF@0.1", "LR")


class EntryPoint:
    """The command: ``execute`` is what ASReview calls."""

    def execute(self, argv: Sequence[str]) -> None:
        """Run a command.

        Args:
            argv: the arguments behind ``asreview lexirecall``.
        """
        parser = argparse.ArgumentParser(
            prog="asreview lexirecall", description=__doc__.partition("\n")[0]
        )
        commands = parser.add_subparsers(required=True, metavar="COMMAND")
        compare = _command(
            commands,
            "compare",
            _compare,
            "which model finds everything first, and what decided",
        )
        compare.add_argument(
            "--by",
            default="lexirecall",
            help="a preference or a measure (default: lexirecall)",
        )
        compare.add_argument("--baseline", help="compare all others with this model")
        evaluate = _command(
            commands, "eval", _evaluate, "measures of total recall, a row per model"
        )
        default = f"default: {' '.join(_MEASURES)}"
        evaluate.add_argument(
            "-m", "--measures", nargs="+", default=list(_MEASURES), help=default
        )
        evaluate.add_argument(
            "--by-review", action="store_true", help="a row per model and review"
        )
        plot = _command(
            commands, "plot", _plot, "recall over the share of records read"
        )
        plot.add_argument(
            "-o", "--output", required=True, help="picture to write (.png, .svg, .pdf)"
        )
        plot.add_argument("--review", help="this one only (default: the mean of all)")
        arguments = parser.parse_args(argv)
        try:
            print(
                arguments.command(
                    read_reviews(_by_model(arguments.files), priors=arguments.priors),
                    arguments,
                )
            )
        except (ValueError, OSError) as error:
            sys.exit(f"asreview lexirecall: {error}")


def _command(commands: Any, name: str, function: Any, about: str) -> Any:
    """Add a command with the arguments that all have, and return its parser."""
    parser = commands.add_parser(name, help=about, description=about)
    files = "simulations or projects (.asreview), or folders of them; NAME=FILE names the model"
    parser.add_argument("files", nargs="+", metavar="FILE", help=files)
    priors = (
        "count the records that models were given to start with (prior knowledge), too"
    )
    parser.add_argument("--priors", action="store_true", help=priors)
    parser.set_defaults(command=function)
    return parser


def _by_model(words: Sequence[str]) -> dict[str, list[str]]:
    """Return the files of each model; files without a model's name are under the empty name."""
    files: dict[str, list[str]] = {}
    for word in words:
        name, mark, path = word.partition("=")
        named = bool(mark) and not os.path.exists(word)
        files.setdefault(name if named else "", []).append(path if named else word)
    return files


def _compare(reviews: Reviews, arguments: argparse.Namespace) -> Any:
    """Return the comparison of the models."""
    return irl.compare(
        reviews.qrels, reviews.runs, arguments.by, baseline=arguments.baseline
    )


def _evaluate(reviews: Reviews, arguments: argparse.Namespace) -> str:
    """Return the means of the models, or their values by review, as a text."""
    tables = {
        model: irl.evaluate(arguments.measures, reviews.qrels, run)
        for model, run in reviews.runs.items()
    }
    table = pd.concat(tables, names=["model", "review"])
    if not arguments.by_review:
        table = table.groupby("model", sort=False).mean()
    return str(table.round(4).to_string())


def _plot(reviews: Reviews, arguments: argparse.Namespace) -> str:
    """Draw recall over the share that was read, and return the file."""
    axes = irl.plots.recall_curves(
        recall_curves(reviews.qrels, reviews.runs), arguments.review
    )
    axes.figure.savefig(arguments.output, dpi=150, bbox_inches="tight")
    return str(arguments.output)
