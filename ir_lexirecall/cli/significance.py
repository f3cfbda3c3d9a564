"""Arguments of significance tests, margins and groups of queries."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ir_lexirecall.cli.words import split_measures
from ir_lexirecall.significance import TESTS, SignificanceTest

if TYPE_CHECKING:
    from ir_lexirecall.comparison.design import MarginLike


# -- tests -----------------------------------------------------------------------------------------


def add_test(parser: argparse.ArgumentParser, *, text: str = "significance test") -> None:
    known = SignificanceTest()
    parser.add_argument(
        "--test",
        choices=TESTS,
        metavar="TEST",
        help=f"{text}: {', '.join(TESTS)} (default: t for measures, sign for preferences)",
    )
    parser.add_argument(
        "--correction",
        metavar="NAME",
        default=known.correction,
        help=f"for several comparisons; 'none' for none (default: {known.correction})",
    )
    parser.add_argument("--alpha", type=float, default=known.alpha, help=f"significance level (default: {known.alpha})")
    parser.add_argument(
        "--n-resamples",
        type=int,
        metavar="N",
        default=known.n_resamples,
        help=f"number of resamples (default: {known.n_resamples})",
    )
    parser.add_argument("--seed", type=int, default=known.seed, help=f"random seed (default: {known.seed})")


def significance_test(options: argparse.Namespace) -> SignificanceTest:
    correction = None if options.correction == "none" else options.correction
    return SignificanceTest(options.test, correction, options.alpha, options.n_resamples, options.seed)


def add_groups(parser: argparse.ArgumentParser, more: str = "") -> None:
    """Add ``--groups`` and ``--cluster``; ``more`` is what else to say of them."""
    parser.add_argument(
        "--groups",
        metavar="FILE",
        help="the group of each query (lines of query and group, or CSV, TSV or Parquet with a header): compare in each group, "
        f"too{more}",
    )
    parser.add_argument(
        "--cluster",
        action="store_true",
        help="take the groups, instead of queries, as units of the tests (randomisation of their signs, or bootstrap)",
    )


def add_margin(parser: argparse.ArgumentParser, default: str | None = None) -> None:
    parser.add_argument(
        "--margin",
        default=default,
        metavar="D",
        help="difference to the baseline that does not matter: in the criterion's unit, relative to the baseline's mean "
        f"('2%%'), or by criterion ('nDCG@10=0.01 SL3=5'){'' if default is None else f' (default: {default})'}",
    )


def parse_margin(text: str | None) -> MarginLike | None:
    """A margin as the command line gives it.

    >>> parse_margin("0.01"), parse_margin("2%"), parse_margin("nDCG@10=0.01 SL3(n=10)=5")
    (0.01, '2%', {'nDCG@10': 0.01, 'SL3(n=10)': 5.0})
    """
    if text is None:
        return None
    parts = split_measures(text)
    if len(parts) == 1 and "=" not in parts[0]:
        return _margin(parts[0])
    named = [part.rpartition("=") for part in parts]
    if any(not name for name, *_ in named):
        raise ValueError(f"--margin {text!r} must be one number, or a number for every criterion such as nDCG@10=0.01")
    return {name: _margin(value) for name, _, value in named}


def _margin(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text  # such as 2%, or an error that names the margin
