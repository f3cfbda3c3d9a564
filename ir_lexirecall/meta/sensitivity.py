"""Sensitivity: how many differences between runs a measure finds significant (Sakai's discriminative power)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from ir_lexirecall._util.errors import entry
from ir_lexirecall._util.progress import progress_bar
from ir_lexirecall.comparison.comparing import coerce_test, comparison_of
from ir_lexirecall.comparison.verdicts import UNDECIDED
from ir_lexirecall.data.alignment import RunLike
from ir_lexirecall.data.judgments import QrelsLike
from ir_lexirecall.measures.parsing import MeasuresLike
from ir_lexirecall.meta.decisions import Decisions
from ir_lexirecall.meta.result import study
from ir_lexirecall.significance import SignificanceTest


@entry
def discriminative_power(
    measures: MeasuresLike,
    qrels: QrelsLike,
    runs: Mapping[str, RunLike],
    *,
    test: str | SignificanceTest = "bootstrap",
    correction: str | None = None,
    alpha: float = 0.05,
    n_resamples: int = 10_000,
    seed: int = 0,
    rel: float = 1,
    cutoff: int | None = None,
    allow_empty: bool = False,
    progress: bool | None = None,
) -> pd.DataFrame:
    """Discriminative power: the share of pairs of runs whose difference a test finds significant.

    What is tested per pair are a measure's differences per query, a preference's preferences per query; the sign test
    sees only their signs. Tukey's HSD tests all pairs at once: on a measure's values, on a preference's means against
    all other runs.

    Args:
        measures: measures, strings, and names of preferences (``'lexirecall'``, ...).
        test: a test's name, as in ``compare``; or a ``SignificanceTest``, which has the next four itself.
        correction, alpha, n_resamples, seed: of the test, as in ``SignificanceTest``.
        progress: show progress bars; by default on a terminal only.
        qrels, runs, rel, cutoff, allow_empty: as in ``ties``.

    Returns:
        A row per measure: ``measure``, ``pairs``, ``significant``, ``share``.

    Raises:
        ValueError: bad input, fewer than two runs, or an unknown test or correction.

    Source: Sakai, Evaluating Evaluation Metrics based on the Bootstrap, SIGIR 2006, doi 10.1145/1148170.1148261.

    >>> from ir_lexirecall import demo
    >>> table = discriminative_power(["AP", "lexirecall"], demo.qrels(), demo.runs(), test="t")
    >>> table["pairs"].tolist(), bool(table["share"].between(0, 1).all())
    ([10, 10], True)
    """
    tested = coerce_test(test, correction, alpha, n_resamples, seed, progress)
    curve = _curves(measures, qrels, runs, tested, rel, cutoff, allow_empty)
    by_measure = curve.groupby("measure", sort=False)["significant"]
    table = by_measure.agg(pairs="size", significant="sum", share="mean").reset_index()
    return study(table, **curve.attrs | {"function": "discriminative_power"})


@entry
def achieved_significance(
    measures: MeasuresLike,
    qrels: QrelsLike,
    runs: Mapping[str, RunLike],
    *,
    test: str | SignificanceTest = "bootstrap",
    correction: str | None = None,
    alpha: float = 0.05,
    n_resamples: int = 10_000,
    seed: int = 0,
    rel: float = 1,
    cutoff: int | None = None,
    allow_empty: bool = False,
    progress: bool | None = None,
) -> pd.DataFrame:
    """The achieved significance level of every pair of runs, largest first: what ``discriminative_power`` counts.

    Arguments and errors are those of ``discriminative_power``.

    Returns:
        A row per measure and pair: ``measure``, ``place`` (1 for the largest p-value), ``run_a``, ``run_b``, ``difference``
        (mean over the queries of a measure's differences, or of a preference), ``p``, ``p_corrected``, ``significant``.

    >>> from ir_lexirecall import demo
    >>> curve = achieved_significance("AP", demo.qrels(), demo.runs(), test="t")
    >>> len(curve), bool(curve["p"].is_monotonic_decreasing)
    (10, True)
    """
    tested = coerce_test(test, correction, alpha, n_resamples, seed, progress)
    return _curves(measures, qrels, runs, tested, rel, cutoff, allow_empty)


def _curves(
    measures: MeasuresLike,
    qrels: QrelsLike,
    runs: Mapping[str, RunLike],
    test: SignificanceTest,
    rel: float,
    cutoff: int | None,
    allow_empty: bool,
) -> pd.DataFrame:
    """The pairs of runs of every measure, in the order of their p-values, largest first."""
    decisions = Decisions.from_runs(measures, qrels, runs, rel, cutoff, allow_empty, test.progress)
    compared = comparison_of(decisions.scored, decisions.labels, test=test, rel=rel, cutoff=cutoff, queries="relevant")
    tables = []
    for label in progress_bar(test.progress, decisions.labels, desc="measures"):
        tested = compared.table(label).sort_values("p", ascending=False, kind="stable", ignore_index=True)
        table = tested[["run_a", "run_b", "difference", "p", "p_corrected"]]
        table = table.assign(significant=tested["verdict"] != UNDECIDED)
        table.insert(0, "measure", label)
        table.insert(1, "place", np.arange(1, len(table) + 1))
        table.attrs = {}
        tables.append(table)
    return study(
        pd.concat(tables, ignore_index=True),
        "achieved_significance",
        test=test.name,
        alpha=test.alpha,
        correction=test.counted_correction,
        n_resamples=test.n_resamples if test.resampled else None,
        seed=test.seed if test.resampled else None,
        **decisions.provenance,
    )
