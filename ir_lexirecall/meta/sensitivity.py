"""Sensitivity: how many differences between runs a measure finds significant (Sakai's discriminative power)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ir_lexirecall.alignment import RunLike
from ir_lexirecall.evaluation import MeasuresLike
from ir_lexirecall.judgments import QrelsLike
from ir_lexirecall.meta.decisions import Decisions
from ir_lexirecall.meta.result import study
from ir_lexirecall.preferences.result import Preferences
from ir_lexirecall.progress import progress_bar
from ir_lexirecall.significance import SignificanceTest, TestOptions

if TYPE_CHECKING:
    from typing_extensions import Unpack


def discriminative_power(
    measures: MeasuresLike,
    qrels: QrelsLike,
    runs: Mapping[str, RunLike],
    *,
    test: str | SignificanceTest = "bootstrap",
    rel: float = 1,
    cutoff: int | None = None,
    allow_empty: bool = False,
    **options: Unpack[TestOptions],
) -> pd.DataFrame:
    """Discriminative power: the share of pairs of runs whose difference a test finds significant.

    What is tested per pair are a measure's differences per query, a preference's preferences per query; the sign test
    sees only their signs. Tukey's HSD tests all pairs at once: on a measure's values, on a preference's means against
    all other runs.

    Args:
        measures: measures, strings, and names of preferences (``'lexirecall'``, ...).
        qrels: judgments in any form that ``evaluate`` takes.
        runs: at least two runs by name, in any form that ``evaluate`` takes, or aligned (``AlignedRun``).
        test: a test's name, as in ``compare``, or a ``SignificanceTest``.
        rel: smallest grade that counts as relevant; queries without a relevant document take no part.
        cutoff: of preferences: what is ranked below counts as not retrieved.
        allow_empty: take runs that retrieve nothing for any query of the qrels, with a warning.
        options: of the test, as in ``SignificanceTest``: ``correction`` (None), ``alpha`` (0.05), ``n_resamples`` (10,000),
            ``seed`` (0), ``progress``.

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
    caller = "discriminative_power"
    curve = _curves(caller, measures, qrels, runs, _uncorrected(caller, test, **options), rel, cutoff, allow_empty)
    by_measure = curve.groupby("measure", sort=False)["significant"]
    table = by_measure.agg(pairs="size", significant="sum", share="mean").reset_index()
    return study(table, **curve.attrs)


def achieved_significance(
    measures: MeasuresLike,
    qrels: QrelsLike,
    runs: Mapping[str, RunLike],
    *,
    test: str | SignificanceTest = "bootstrap",
    rel: float = 1,
    cutoff: int | None = None,
    allow_empty: bool = False,
    **options: Unpack[TestOptions],
) -> pd.DataFrame:
    """The achieved significance level of every pair of runs, largest first: what ``discriminative_power`` counts.

    ``measures``, ``qrels``, ``runs``, ``test``, ``rel``, ``cutoff``, ``allow_empty`` and ``options`` are those of
    ``discriminative_power``, and so are the errors.

    Returns:
        A row per measure and pair: ``measure``, ``place`` (1 for the largest p-value), ``run_a``, ``run_b``, ``difference``
        (mean over the queries of a measure's differences, or of a preference), ``p``, ``p_corrected``, ``significant``.

    >>> from ir_lexirecall import demo
    >>> curve = achieved_significance("AP", demo.qrels(), demo.runs(), test="t")
    >>> len(curve), bool(curve["p"].is_monotonic_decreasing)
    (10, True)
    """
    caller = "achieved_significance"
    return _curves(caller, measures, qrels, runs, _uncorrected(caller, test, **options), rel, cutoff, allow_empty)


def _uncorrected(caller: str, test: str | SignificanceTest, **options: Unpack[TestOptions]) -> SignificanceTest:
    """The test, without a correction unless one is asked for."""
    if isinstance(test, str):
        options = {"correction": None, **options}
    return SignificanceTest.coerce(test, caller=caller, **options)


def _curves(
    caller: str,
    measures: MeasuresLike,
    qrels: QrelsLike,
    runs: Mapping[str, RunLike],
    test: SignificanceTest,
    rel: float,
    cutoff: int | None,
    allow_empty: bool,
) -> pd.DataFrame:
    """The pairs of runs of every measure, in the order of their p-values, largest first."""
    decisions = Decisions.from_runs(
        caller, measures, qrels, runs, rel=rel, cutoff=cutoff, allow_empty=allow_empty, progress=test.progress
    )
    shown = progress_bar(test.progress, decisions.labels, desc="measures")
    names = {label: measure if isinstance(measure, str) else label for label, measure in decisions.labels.items()}
    unique = list(dict.fromkeys(names.values()))
    compared = Preferences.from_runs(decisions.scored, unique, rel=rel, cutoff=cutoff, test=test, caller=caller)
    tables = [_curve(decisions, label, compared.table_of(names[label])) for label in shown]
    return study(
        pd.concat(tables, ignore_index=True),
        caller,
        test=test.name,
        alpha=test.alpha,
        correction=test.counted_correction,
        n_resamples=test.n_resamples if test.resampled else None,
        seed=test.seed if test.resampled else None,
        **decisions.provenance,
    )


def _curve(decisions: Decisions, label: str, tested: pd.DataFrame) -> pd.DataFrame:
    """The tested pairs, largest p-value first."""
    if isinstance(decisions.labels[label], str):
        difference = tested["mean"].to_numpy()
    else:
        a, b = decisions.pairs
        mean = decisions.values(label).mean(axis=1)
        difference = mean[a] - mean[b]
    table = tested[["run_a", "run_b", "p", "p_corrected"]].assign(significant=tested["reject"])
    table.insert(0, "measure", label)
    table.insert(3, "difference", difference)
    table = table.sort_values("p", ascending=False, kind="stable", ignore_index=True)
    table.insert(1, "place", np.arange(1, len(table) + 1))
    table.attrs = {}
    return table
