"""Split-half stability: how well the order of runs on some queries predicts their order on others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations, islice
from math import comb

import numpy as np
import pandas as pd

from ir_lexirecall._util.arrays import Floats, Ints
from ir_lexirecall._util.errors import check_integer, entry
from ir_lexirecall._util.progress import progress_bar
from ir_lexirecall.data.alignment import RunLike
from ir_lexirecall.data.judgments import QrelsLike
from ir_lexirecall.measures.parsing import MeasuresLike
from ir_lexirecall.meta.agreements import tau_b
from ir_lexirecall.meta.decisions import Decisions, Signs, parse_two_sets, printed
from ir_lexirecall.meta.result import study

_ROUNDING = 1e-12  # relative: means that are equal but for the order of additions
_BLOCK = 2**20  # values of splits that are compared at once


@entry
def split_half(
    measures: MeasuresLike,
    qrels: QrelsLike,
    runs: Mapping[str, RunLike],
    *,
    targets: MeasuresLike | None = None,
    n_queries: int | None = None,
    n_splits: int = 1000,
    seed: int = 0,
    rel: float = 1,
    cutoff: int | None = None,
    allow_empty: bool = False,
    progress: bool | None = None,
) -> pd.DataFrame:
    """Split-half stability: predict the order of runs on one half of the queries from the other half.

    A split takes two disjoint sets of queries. The first orders the runs by their means of a measure, the second by their
    means of a target (the measure itself, or another one); Kendall's tau-b and the share of swapped pairs compare the two.
    Where there are few queries, all splits are taken, otherwise a random sample.

    Args:
        measures: measures, or preferences (a run's mean preference over all others), that predict.
        targets: measures or preferences that are predicted; by default ``measures``.
        n_queries: size of either set of queries, by default half of the queries; equal sizes make collections compare.
        n_splits: how many splits at most.
        seed: random seed.
        qrels, runs, rel, cutoff, allow_empty, progress: as in ``ties``.

    Returns:
        A row per measure and target: ``measure``, ``target``, ``queries`` (in either set), ``splits``, ``kendall`` (mean over
        the splits that have a tau) and its standard deviation ``kendall_sd``, and ``swaps`` (pairs of runs in opposite
        orders, as a share of all pairs).

    Raises:
        ValueError: bad input, fewer than two runs, or not enough queries.

    Source: after Voorhees, Buckley, The Effect of Topic Set Size on Retrieval Experiment Error, SIGIR 2002,
    doi 10.1145/564376.564432.

    >>> from ir_lexirecall import demo
    >>> table = split_half(["AP", "lexirecall"], demo.qrels(), demo.runs(), n_splits=100)
    >>> table[["measure", "target", "queries"]].to_records(index=False).tolist()
    [('AP', 'AP', 8), ('AP', 'lexirecall', 8), ('lexirecall', 'AP', 8), ('lexirecall', 'lexirecall', 8)]
    """
    seed = check_integer("seed", seed, least=0)
    check_integer("n_splits", n_splits)
    predicting, predicted = parse_two_sets(measures, targets, "targets")
    decisions = Decisions.from_runs({**predicting, **predicted}, qrels, runs, rel, cutoff, allow_empty, progress)
    queries = len(decisions.queries)
    if queries < 2:
        raise ValueError(f"at least 2 queries with relevant documents are needed, not {queries}")
    size = queries // 2 if n_queries is None else check_integer("n_queries", n_queries, most=queries // 2)
    values = {label: decisions.rising(label) for label in decisions.labels}
    sums: dict[tuple[str, str], list[Floats]] = {(a, b): [] for a in predicting for b in predicted}
    total = min(n_splits, comb(queries, size) * comb(queries - size, size))
    with progress_bar(progress, total=total, desc="splits") as bar:
        for first, second in _splits(queries, size, n_splits, np.random.default_rng(seed)):
            before = {label: _order(values[label], first, decisions.pairs) for label in predicting}
            after = {label: _order(values[label], second, decisions.pairs) for label in predicted}
            for a, b in sums:
                swaps = (before[a] * after[b] < 0).mean(axis=0)
                sums[a, b].append(np.stack([tau_b(before[a], after[b]), swaps]))
            bar.update(len(first))
    rows = []
    for (a, b), parts in sums.items():
        tau, swaps = np.concatenate(parts, axis=1)
        tau = tau[~np.isnan(tau)]
        mean, deviation = (float(tau.mean()), float(tau.std())) if len(tau) else (np.nan, np.nan)
        rows.append((a, b, size, total, mean, deviation, float(swaps.mean())))
    return study(
        pd.DataFrame(rows, columns=["measure", "target", "queries", "splits", "kendall", "kendall_sd", "swaps"]),
        "split_half",
        n_queries=size,
        n_splits=n_splits,
        seed=seed,
        targets=printed(predicted),
        **decisions.provenance | {"measures": printed(predicting)},
    )


def _splits(queries: int, size: int, most: int, rng: np.random.Generator) -> Iterator[tuple[Ints, Ints]]:
    """Two disjoint sets of queries per split, shape ``(splits, size)`` each, some splits at a time."""
    step = max(1, _BLOCK // queries)
    if comb(queries, size) * comb(queries - size, size) <= most:
        pairs = _all_splits(queries, size)
        while some := list(islice(pairs, step)):
            first, second = np.array(some).transpose(1, 0, 2)
            yield first, second
        return
    for start in range(0, most, step):
        some_queries = np.tile(np.arange(queries), (min(step, most - start), 1))
        order = rng.permuted(some_queries, axis=1)
        yield order[:, :size], order[:, size : 2 * size]


def _all_splits(queries: int, size: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    for first in combinations(range(queries), size):
        rest = [query for query in range(queries) if query not in first]
        for second in combinations(rest, size):
            yield first, second


def _order(values: Floats, queries: Ints, pairs: tuple[Ints, Ints]) -> Signs:
    """Which run of each pair has the larger mean over the queries of each split, shape ``(P, splits)``."""
    a, b = pairs
    mean = values[:, queries].mean(axis=2)
    difference = mean[a] - mean[b]
    scale = np.maximum(np.abs(mean[a]), np.abs(mean[b]))
    signs: Signs = np.where(np.abs(difference) <= _ROUNDING * scale, 0, np.sign(difference)).astype(np.int8)
    return signs
