"""What missing judgments mean for a ``Comparison``: its bounds, what to judge next, and when to stop judging queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ir_lexirecall._util.arrays import Floats
from ir_lexirecall._util.errors import check_integer
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall.data.pools import Pool
from ir_lexirecall.judging.bounds import bounds_table
from ir_lexirecall.judging.ordering import decides, to_judge_table
from ir_lexirecall.judging.predicted import PredictionPowered, human_queries, prediction_powered
from ir_lexirecall.judging.run_bounds import check_bounds_options
from ir_lexirecall.judging.sequential import sequential_signs


def bounds(
    comparison: Any, names: Sequence[str], depth: int | None, max_rel: float | None, unretrieved: int
) -> pd.DataFrame:
    """``Comparison.bounds`` by some of its criteria: see ``bounds_table``."""
    check_bounds_options(depth, max_rel, unretrieved)
    criteria = {name: _what(comparison, name) for name in names}
    rel, cutoff = _options(comparison)
    return bounds_table(
        _pool(comparison, depth, [_cutoff(what, cutoff) for what in criteria.values()]),
        criteria,
        comparison.scored.values,
        comparison.pairs,
        {name: _queries(comparison, name) for name in names},
        rel=rel,
        cutoff=cutoff,
        depth=depth,
        max_rel=max_rel,
        unretrieved=unretrieved,
        alpha=comparison.test.alpha,
    )


def to_judge(comparison: Any, n: int, name: str, depth: int | None, max_rel: float | None) -> pd.DataFrame:
    """``Comparison.to_judge`` by one of its criteria: see ``decides`` and ``to_judge_table``."""
    check_integer("n", n)
    check_bounds_options(depth, max_rel, 0)
    what, (rel, cutoff) = _what(comparison, name), _options(comparison)
    pool = _pool(comparison, depth, [_cutoff(what, cutoff)])
    a, b = comparison.places
    values = comparison.scored.values.get(name)
    scores = decides(pool, what, a, b, values=values, rel=rel, cutoff=cutoff, depth=depth, max_rel=max_rel)
    return to_judge_table(pool, n, *scores)


def powered(comparison: Any, name: str) -> PredictionPowered:
    """Differences by one criterion from human and predicted judgments: see ``prediction_powered``.

    A query on which a preference has nothing to say, having no relevant document, counts as a tie: else the queries that people
    judged would be no random sample of those with predictions.
    """
    human = human_queries(comparison.query_ids, comparison.predicted.query_ids)
    d, f = (_of_all_queries(by_judge, name, comparison.places) for by_judge in (comparison, comparison.predicted))
    result = prediction_powered(d, f, human, comparison.test.alpha)
    if (ends := comparison.by[name].bounds) is None:
        return result
    return replace(result, low=np.maximum(result.low, ends[0]), high=np.minimum(result.high, ends[1]))


def _of_all_queries(comparison: Any, name: str, places: Any) -> Floats:
    """Differences on all queries of the judgments, shape ``(P, Q)``."""
    criterion = comparison.by[name]
    place = {query_id: q for q, query_id in enumerate(comparison.query_ids)}
    differences = np.zeros((len(places[0]), len(place)))
    counted = [place[query_id] for query_id in criterion.query_ids]
    differences[:, counted] = np.concatenate([differences[:0, counted], *criterion.differences(*places)])
    return differences


def sequential(comparison: Any, name: str, alpha: float, seed: int) -> dict[str, Any]:
    """Columns of ``Comparison.sequential`` by one criterion: see ``sequential_signs``."""
    criterion = comparison.by[name]
    differences = np.concatenate(list(criterion.differences(*comparison.places)))
    signs = sequential_signs(criterion.sign * differences, alpha, seed)
    last = np.where(signs.decided_after > 0, signs.decided_after, differences.shape[1]) - 1
    way = np.where(signs.decided_after > 0, signs.sign, 0)
    return {
        "run_a": [first for first, _ in comparison.pairs],
        "run_b": [second for _, second in comparison.pairs],
        "verdict": [{1: "better", -1: "worse"}.get(sign, "undecided") for sign in way.tolist()],
        "decided_after": np.where(signs.decided_after > 0, signs.decided_after, np.nan),
        "queries": differences.shape[1],
        "e": signs.e[np.arange(len(last)), last] if differences.shape[1] else np.ones(len(last)),
    }


def _what(comparison: Any, name: str) -> Any:
    """The measure or the name of the preference that a criterion is."""
    _scored(comparison)
    criterion = comparison.by[name]
    return comparison.scored.measures[name] if criterion.is_measure else criterion.preference


def _scored(comparison: Any) -> Any:
    if comparison.scored is None:
        raise ValueError("only values were given: compare runs to see what unjudged documents could change")
    return comparison.scored


def _options(comparison: Any) -> tuple[float, int | None]:
    """``rel`` and ``cutoff`` of the preferences."""
    preferences = [c.preferences for c in comparison.by.values() if not c.is_measure]
    return (preferences[0].rel, preferences[0].cutoff) if preferences else (1, None)


def _cutoff(what: Any, cutoff: int | None) -> int | None:
    return cutoff if isinstance(what, str) else what.params.get("cutoff")


def _pool(comparison: Any, depth: int | None, cutoffs: Sequence[int | None]) -> Pool:
    """What the runs retrieved, as deep as any criterion looks."""
    deep = depth if depth is not None or None in cutoffs else max(k for k in cutoffs if k is not None)
    pool: Pool = _scored(comparison).pool(deep)
    return pool


def _queries(comparison: Any, name: str) -> Any:
    """The queries that count for a criterion, as numbers."""
    place = comparison.scored.judgments.place
    return np.array([place[query_id] for query_id in comparison.by[name].query_ids], dtype=np.int64)
