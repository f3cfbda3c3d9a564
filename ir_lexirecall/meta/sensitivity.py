"""Sensitivity: how many differences between systems a measure finds significant (Sakai's discriminative power)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from ir_lexirecall.meta.study import Study, other
from ir_lexirecall.meta.systems import Systems, read_systems
from ir_lexirecall.progress import progress_bar
from ir_lexirecall.scoring.arrays import Floats, Ints
from ir_lexirecall.significance import SignificanceTest

_BLOCK = 2**22  # differences that are tested at once


def discriminative_power(
    measures: Any,
    qrels: Any,
    runs: Mapping[str, Any],
    *,
    test: str = "bootstrap",
    alpha: float = 0.05,
    correction: str | None = None,
    rel: float = 1,
    cutoff: int | None = None,
    n_resamples: int = 10_000,
    seed: int = 0,
    progress: bool | None = None,
) -> Study:
    """Discriminative power: the share of pairs of systems whose difference a test finds significant.

    What is tested per pair are a measure's differences per query, a preference's preferences per query; the sign test
    sees only their signs. Tukey's HSD tests all pairs at once: on a measure's values, on a preference's means against
    all other systems.

    Args:
        measures: measures, strings, and names of preferences (``'lexirecall'``, ...).
        qrels: judgments in any format that ``evaluate`` takes.
        runs: at least two runs by name, in any format that ``evaluate`` takes, or ``JudgedRanks``.
        test: ``'bootstrap'`` (paired, on studentised means), ``'t'``, ``'wilcoxon'``, ``'sign'`` or ``'tukey'``
            (randomised Tukey HSD), as in ``compare``.
        alpha: significance level; a p-value of at most that is significant.
        correction: for several comparisons, by any name that statsmodels' ``multipletests`` knows; None for none
            (Tukey's HSD needs none).
        rel: smallest grade that counts as relevant for preferences; queries without a relevant document take no part.
        cutoff: of preferences: what is ranked below counts as not retrieved.
        n_resamples, seed: of the bootstrap and Tukey's HSD.
        progress: show progress bars; by default on a terminal only.

    Returns:
        A row per measure: ``measure``, ``pairs``, ``significant``, ``share``. Its plot is the curve of
        ``achieved_significance``.

    Raises:
        ValueError: bad input, fewer than two runs, or an unknown test or correction.

    Source: Sakai, Evaluating Evaluation Metrics based on the Bootstrap, SIGIR 2006, doi 10.1145/1148170.1148261.

    >>> from ir_lexirecall import demo
    >>> table = discriminative_power(["AP", "lexirecall"], demo.qrels(), demo.runs(), test="t")
    >>> table["pairs"].tolist(), bool(table["share"].between(0, 1).all())
    ([10, 10], True)
    """
    curve = achieved_significance(
        measures,
        qrels,
        runs,
        test=test,
        alpha=alpha,
        correction=correction,
        rel=rel,
        cutoff=cutoff,
        n_resamples=n_resamples,
        seed=seed,
        progress=progress,
    )
    by_measure = curve.groupby("measure", sort=False)["significant"]
    table = by_measure.agg(pairs="size", significant="sum", share="mean").reset_index()
    return Study.of(table, other(curve), **curve.attrs | {"function": "discriminative_power"})


def achieved_significance(
    measures: Any,
    qrels: Any,
    runs: Mapping[str, Any],
    *,
    test: str = "bootstrap",
    alpha: float = 0.05,
    correction: str | None = None,
    rel: float = 1,
    cutoff: int | None = None,
    n_resamples: int = 10_000,
    seed: int = 0,
    progress: bool | None = None,
) -> Study:
    """The achieved significance level of every pair of systems, largest first: what ``discriminative_power`` counts.

    Args and errors: as in ``discriminative_power``.

    Returns:
        A row per measure and pair: ``measure``, ``place`` (1 for the largest p-value), ``system_a``, ``system_b``,
        ``difference`` (mean over the queries), ``p``, ``p_corrected``, ``significant``.

    >>> from ir_lexirecall import demo
    >>> curve = achieved_significance("AP", demo.qrels(), demo.runs(), test="t")
    >>> len(curve), bool(curve["p"].is_monotonic_decreasing)
    (10, True)
    """
    options = {"correction": correction, "alpha": alpha, "n_resamples": n_resamples, "seed": seed, "progress": progress}
    testing = SignificanceTest.coerce(test, caller="discriminative_power", **options)
    systems = read_systems("discriminative_power", measures, qrels, runs, rel=rel, cutoff=cutoff, progress=progress)
    tables = [_curve(systems, label, testing) for label in progress_bar(progress, systems.asked, desc="measures")]
    return Study.of(
        pd.concat(tables, ignore_index=True),
        _draw,
        function="achieved_significance",
        test=test,
        alpha=alpha,
        correction=testing.counted_correction,
        n_resamples=n_resamples if testing.resampled else None,
        seed=seed if testing.resampled else None,
        **systems.provenance,
    )


def _curve(systems: Systems, label: str, testing: SignificanceTest) -> pd.DataFrame:
    """The pairs of systems in the order of their p-values, largest first."""
    a, b = systems.pairs
    asked = systems.asked[label]
    if isinstance(asked, str):
        table = replace(systems.preferences, test=testing).table_of(asked)
        p, difference = table["p"].to_numpy(), table["mean"].to_numpy()
    else:
        p, difference = _tested(systems.values(label), testing, a, b)
    adjusted, significant = testing.corrected(p)
    names = np.array(systems.names, dtype=object)
    table = pd.DataFrame(
        {
            "measure": label,
            "system_a": names[a],
            "system_b": names[b],
            "difference": difference,
            "p": p,
            "p_corrected": adjusted,
            "significant": significant,
        }
    )
    table = table.sort_values("p", ascending=False, kind="stable", ignore_index=True)
    table.insert(1, "place", np.arange(1, len(table) + 1))
    return table


def _tested(values: Floats, testing: SignificanceTest, a: Ints, b: Ints) -> tuple[Floats, Floats]:
    """p-values and mean differences of pairs of systems by their values per query, shape ``(S, Q)``."""
    mean = values.mean(axis=1)
    difference = mean[a] - mean[b]
    if testing.name == "tukey":
        return testing.of_all(values.T).p[a, b], difference
    p = np.empty(len(a))
    step = max(1, _BLOCK // values.shape[1])
    for start in range(0, len(a), step):
        some = slice(start, start + step)
        p[some] = testing.of_pairs(values[a[some]] - values[b[some]]).p
    return p, difference


def _draw(table: pd.DataFrame, ax: Any) -> Any:
    """Achieved significance levels, largest first: the sooner a curve falls, the more the measure tells apart."""
    for label, rows in table.groupby("measure", sort=False):
        ax.plot(rows["place"], rows["p"], label=f"{label} ({rows['significant'].mean():.1%})")
    ax.axhline(table.attrs["alpha"], color="grey", linewidth=0.8, linestyle=":")
    ax.set_xlabel("pairs of systems, by p-value")
    ax.set_ylabel(f"achieved significance level ({table.attrs['test']})")
    ax.legend(fontsize="small")
    return ax
