"""Sensitivity of measures to differences between runs.

The studies count how many differences a measure finds significant, and ask how well some queries
predict others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations, islice
from math import comb
from typing import Any

import numpy as np

from ir_lexirecall._util.arrays import Floats, Ints
from ir_lexirecall._util.blocks import BLOCK
from ir_lexirecall._util.errors import check_integer
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.progress import progress_bar
from ir_lexirecall._util.selecting import of_type, without, without_keys
from ir_lexirecall.comparison.compared import Design
from ir_lexirecall.comparison.comparing import comparison_of
from ir_lexirecall.comparison.verdicts import UNDECIDED
from ir_lexirecall.meta.agreements import order_of, tau_b
from ir_lexirecall.meta.decisions import Decisions, Signs
from ir_lexirecall.meta.records import ON_RUNS, SEED, Headline, Option, recorded, study
from ir_lexirecall.plots.studies import Bars, Lines, Matrix
from ir_lexirecall.preferences.naming import Preference
from ir_lexirecall.significance import SignificanceTest


@study(
    "Share of pairs of runs whose difference a test finds significant",
    Headline("share", "share of pairs of runs that differ", "most", "least"),
    Bars("How many pairs of runs each measure tells apart", largest_first=True),
    example="qrels.txt *.run -m LR AP lexirecall --test t",
    runs=ON_RUNS,
    test=SignificanceTest("bootstrap", correction=None),
)
def discriminative_power(
    self: Decisions, *, test: str | SignificanceTest = "bootstrap"
) -> pd.DataFrame:
    """Compute discriminative power: the share of pairs of runs that differ significantly.

    For each pair, the test takes a measure's differences per query, or a preference's values per
    query; the sign test uses only their signs. Tukey's HSD tests all pairs at once: on a measure's
    values, or on the mean preferences over all other runs.

    Args:
        test: a test's name, as in ``compare``, without a correction for several comparisons; or a
            ``SignificanceTest``.

    Returns:
        A row per measure: ``measure``, ``pairs``, ``significant``, ``share``.

    Raises:
        ValueError: fewer than two runs, or an unknown test.

    Source: Sakai, Evaluating Evaluation Metrics based on the Bootstrap, SIGIR 2006,
        doi 10.1145/1148170.1148261.

    >>> from ir_lexirecall import demo
    >>> from ir_lexirecall.meta import Study
    >>> study = Study(["AP", "lexirecall"], demo.qrels(), demo.runs())
    >>> table = study.discriminative_power(test="t")
    >>> table["pairs"].tolist(), bool(table["share"].between(0, 1).all())
    ([10, 10], True)
    """
    curve = achieved_significance(self, test=test)
    by_measure = curve.groupby("measure", sort=False)["significant"]
    table = by_measure.agg(pairs="size", significant="sum", share="mean").reset_index()
    facts = without_keys(curve.attrs, ("function", "versions"))
    return recorded(table, "discriminative_power", **facts)


def _with_shares(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table with the share of significant differences behind each measure."""
    share = (
        table.groupby("measure")["significant"].transform("mean").map("{:.1%}".format)
    )
    return table.assign(measure=table["measure"] + " (" + share + ")")


@study(
    "The achieved significance level of every pair of runs",
    Headline("significant", "share of pairs of runs that differ", "most", "least"),
    Lines(
        "The sooner a curve falls, the more pairs of runs the measure tells apart",
        "place",
        "pairs of runs, by p-value",
        value="p",
        meaning="achieved significance level ({test})",
        marks=_with_shares,
        x_scale="whole",
        level="alpha",
    ),
)
def achieved_significance(
    self: Decisions, *, test: str | SignificanceTest = "bootstrap"
) -> pd.DataFrame:
    """List the achieved significance level of every pair of runs, largest first.

    Arguments and errors are those of ``discriminative_power``.

    Returns:
        A row per measure and pair: ``measure``, ``place`` (1 for the largest p-value), ``run_a``,
        ``run_b``, ``difference`` (mean over the queries of a measure's differences, or of a
        preference), ``p``, ``p_corrected``, ``significant``.

    >>> from ir_lexirecall import demo
    >>> from ir_lexirecall.meta import Study
    >>> curve = Study("AP", demo.qrels(), demo.runs()).achieved_significance(test="t")
    >>> len(curve), bool(curve["p"].is_monotonic_decreasing)
    (10, True)
    """
    tested = test
    if not isinstance(tested, SignificanceTest):
        tested = SignificanceTest(tested, correction=None, progress=self.progress)
    self.check()
    criteria = dict(self.labels)
    for label, preference in of_type(self.labels, Preference).items():
        criteria[label] = preference(rel=self.rel_of(preference))
    compared = comparison_of(self.scored, criteria, Design(test=tested), self.queries)
    tables = []
    for label in progress_bar(tested.progress, self.labels, desc="measures"):
        table = compared.table(label).sort_values(
            "p", ascending=False, kind="stable", ignore_index=True
        )
        table.attrs = {}
        significant = table["verdict"] != UNDECIDED
        tables.append(
            table.assign(measure=label, place=table.index + 1, significant=significant)
        )
    columns = [
        "measure",
        "place",
        "run_a",
        "run_b",
        "difference",
        "p",
        "p_corrected",
        "significant",
    ]
    facts = {
        "test": tested.name,
        "alpha": tested.alpha,
        "correction": tested.counted_correction,
    }
    facts |= {"n_resamples": None, "seed": None}
    if tested.resampled:
        facts |= {"n_resamples": tested.n_resamples, "seed": tested.seed}
    return recorded(
        pd.concat(tables, ignore_index=True)[columns],
        "achieved_significance",
        **facts,
        **self.provenance,
    )


@study(
    "How well the order of runs on one half of the queries predicts the other half",
    Headline(
        "kendall",
        "Kendall's tau with the order on the other half",
        "best predictor",
        "worst",
    ),
    Matrix(
        "How well one half of the queries predicts the other: mean Kendall's tau",
        row="measure",
        column="target",
        of_names=False,
        lowest=None,
        colours="Blues",
        beside="predicted by",
        below="order on the other half by",
    ),
    example="qrels.txt *.run -m LR AP nDCG",
    options={
        "n_queries": Option(
            "number of queries in each half (default: half of them)", int
        ),
        "n_splits": Option(
            "largest number of splits of the queries (default: 1000)", int
        ),
    }
    | SEED,
    runs=ON_RUNS,
)
def split_half(
    self: Decisions,
    *,
    n_queries: int | None = None,
    n_splits: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    """Predict the order of runs on one half of the queries from the other half.

    This is split-half stability. A split takes two disjoint sets of queries. The first set orders
    the runs by their means of a measure (or of a preference over all other runs), the second by
    their means of a target (the measure itself, or another one). Kendall's tau-b and the share of
    swapped pairs compare the two orders. With few queries, all splits are taken, otherwise a random
    sample.

    Args:
        n_queries: number of queries in each set, by default half of the queries; with the same
            number, collections can be compared.
        n_splits: the largest number of splits.
        seed: random seed.

    Returns:
        A row per measure and target: ``measure``, ``target``, ``queries`` (in either set),
        ``splits``, ``kendall`` (mean over the splits that have a tau) and its standard deviation
        ``kendall_sd``, and ``swaps`` (pairs of runs in opposite orders, as a share of all pairs).

    Raises:
        ValueError: fewer than two runs, or not enough queries.

    Source: after Voorhees, Buckley, The Effect of Topic Set Size on Retrieval Experiment Error,
    SIGIR 2002, doi 10.1145/564376.564432.

    >>> from ir_lexirecall import demo
    >>> from ir_lexirecall.meta import Study
    >>> table = Study(["AP", "lexirecall"], demo.qrels(), demo.runs()).split_half(n_splits=100)
    >>> table[["measure", "target", "queries"]]
          measure      target  queries
    0          AP          AP        8
    1          AP  lexirecall        8
    2  lexirecall          AP        8
    3  lexirecall  lexirecall        8
    """
    seed = check_integer("seed", seed, least=0)
    check_integer("n_splits", n_splits)
    self.check()
    queries = len(self.queries)
    if queries < 2:
        raise ValueError(
            f"at least 2 queries with relevant documents are needed, not {queries}"
        )
    if n_queries is None:
        size = queries // 2
    else:
        size = check_integer("n_queries", n_queries, most=queries // 2)
    values = {label: self.rising(label) for label in self.labels}
    sums: dict[tuple[str, str], list[Floats]] = {
        (a, b): [] for a in values for b in values
    }
    total = min(n_splits, comb(queries, size) * comb(queries - size, size))
    with progress_bar(self.progress, total=total, desc="splits") as bar:
        for first, second in _splits(
            queries, size, n_splits, np.random.default_rng(seed)
        ):
            before = _orders_on(first, values, self.pairs)
            after = _orders_on(second, values, self.pairs)
            for a, b in sums:
                swaps = (before[a] * after[b] < 0).mean(axis=0)
                sums[a, b].append(np.stack([tau_b(before[a], after[b]), swaps]))
            bar.update(len(first))
    rows = []
    for (a, b), parts in sums.items():
        row: dict[str, Any] = {"measure": a, "target": b}
        row |= {"queries": size, "splits": total}
        rows.append(row | _means_over_splits(*np.concatenate(parts, axis=1)))
    return recorded(
        pd.DataFrame(rows),
        "split_half",
        n_queries=size,
        n_splits=n_splits,
        seed=seed,
        **self.provenance,
    )


def _means_over_splits(tau: Floats, swaps: Floats) -> dict[str, float]:
    """Return the mean and the deviation of tau over the splits that have one, and mean swaps."""
    tau = tau[~np.isnan(tau)]
    mean = deviation = np.nan
    if len(tau):
        mean, deviation = float(tau.mean()), float(tau.std())
    return {"kendall": mean, "kendall_sd": deviation, "swaps": float(swaps.mean())}


def _orders_on(
    queries: Ints, values: Mapping[str, Floats], pairs: tuple[Ints, Ints]
) -> dict[str, Signs]:
    """Return which run of each pair has the larger mean on some sets of queries, by measure."""
    orders = {}
    for label, of_label in values.items():
        orders[label] = order_of(of_label[:, queries].mean(axis=2), pairs)
    return orders


def _splits(
    queries: int, size: int, most: int, rng: np.random.Generator
) -> Iterator[tuple[Ints, Ints]]:
    """Yield two disjoint sets of queries per split, some splits at a time.

    Each set has the shape ``(splits, size)``.
    """
    step = max(1, BLOCK // (4 * queries))
    if comb(queries, size) * comb(queries - size, size) <= most:
        every = range(queries)
        pairs = (
            (first, second)
            for first in combinations(every, size)
            for second in combinations(without(every, first), size)
        )
        while batch := list(islice(pairs, step)):
            first, second = np.array(batch).transpose(1, 0, 2)
            yield first, second
        return
    for start in range(0, most, step):
        some_queries = np.tile(np.arange(queries), (min(step, most - start), 1))
        order = rng.permuted(some_queries, axis=1)
        yield order[:, :size], order[:, size : 2 * size]
