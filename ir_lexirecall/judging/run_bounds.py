"""``judgment_bounds``: between which values a run's measures lie, whatever its unjudged documents are worth (residuals)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall._util.arrays import Floats
from ir_lexirecall._util.errors import check_integer, check_number, entry
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall.data.alignment import RunLike
from ir_lexirecall.data.judgments import ExcludeLike, Judgments, QrelsLike
from ir_lexirecall.data.pools import Pool
from ir_lexirecall.evaluation.scored_runs import read_run, rereadable_rows
from ir_lexirecall.io.files import rereadable
from ir_lexirecall.judging.bounds import ValueBounds, bounds_of_differences, checked_depth, refuse_or_warn_of
from ir_lexirecall.measures.parsing import MeasuresLike, parse_measures
from ir_lexirecall.measures.scoring import values

_MOST_UNRETRIEVED = 2**53  # more documents no collection has


@entry
def judgment_bounds(
    measures: MeasuresLike,
    qrels: QrelsLike,
    run: RunLike,
    depth: int | None = None,
    *,
    max_rel: float | None = None,
    unretrieved: int = 0,
    exclude: ExcludeLike | None = None,
    rules: bool = True,
) -> pd.DataFrame:
    """Bound every value of a run by what any judging of its unjudged documents could make of it.

    An unjudged document counts as not relevant; here it may have any grade from 0 to ``max_rel``. The bounds are reached by some
    judging; their difference is the residual. A query all of whose retrieved documents are judged has points.

    Args:
        measures: as in ``evaluate``. P, R, SetP, SetR, Success, RR, AP, nDCG, RBP, SDCG, INSQ, ERR, Judged, NumRet, and TSE,
            CWL_RBP, GERR, nDCG_JK, Unjudged have proven algorithms.
        qrels: judgments in any form that ``evaluate`` takes.
        run: a ranking per query, in any form that ``evaluate`` takes.
        depth: how many documents of each ranking could be judged; what is ranked below and unjudged is not relevant. By default the
            measure's cutoff, and all documents for a measure without one.
        max_rel: top grade of the scale. By default the measure's own (``GERR(max_rel=4)``), else the highest grade of the qrels.
        unretrieved: relevant documents of each query, at most, that the run did not retrieve and nobody judged: they lower measures
            that are normalised by the number of relevant documents or by an ideal ranking (R, AP, nDCG, TSE).
        exclude, rules: as in ``evaluate``.

    Returns:
        A DataFrame with a row per query of the qrels (index ``query_id``) and columns (measure, ``"low"``) and (measure, ``"high"``); NaN
        where a measure has no proven algorithm, which ``attrs["no_algorithm"]`` lists. ``attrs`` also hold ``depth`` and
        ``unretrieved``.

    Raises:
        ValueError: bad input; no measure with a proven algorithm; ``depth`` above the cutoff of a measure; ``max_rel`` below a grade.

    Source: Moffat, Zobel, Rank-Biased Precision for Measurement of Retrieval Effectiveness, TOIS 2008,
    doi 10.1145/1416950.1416952 (residuals of RBP).

    >>> qrels = {"q": {"a": 1, "b": 0, "c": 1}}
    >>> run = {"q": {"a": 4.0, "x": 3.0, "c": 2.0, "y": 1.0}}
    >>> judgment_bounds(["P@4", "AP", "nDCG@2"], qrels, run).T.round(3)
    query_id           q
    measure bound
    P@4     low    0.500
            high   1.000
    AP      low    0.806
            high   1.000
    nDCG@2  low    0.613
            high   1.000
    """
    parsed = parse_measures(measures)
    check_bounds_options(depth, max_rel, unretrieved)
    judgments = Judgments.from_qrels(qrels, exclude, rules=rules)
    with readable_twice(run) as source:
        aligned = read_run(judgments, source)
        pool = Pool.from_runs(judgments, {"run": source}, depth)
    of_run = {name: values(measure, aligned)[None, :] for name, measure in parsed.items()}
    bounds = bounds_by_measure(pool, parsed, of_run, depth, max_rel, unretrieved)
    nothing = np.full(len(judgments), np.nan)
    columns = {
        (name, end): getattr(bounds[name], end)[0] if name in bounds else nothing
        for name in parsed
        for end in ("low", "high")
    }
    index = pd.Index(judgments.query_ids, name="query_id")
    table = pd.DataFrame(columns, index=index)
    table.columns = pd.MultiIndex.from_tuples(list(columns), names=["measure", "bound"])
    table.attrs.update(
        {"depth": depth, "unretrieved": unretrieved, "no_algorithm": [name for name in parsed if name not in bounds]}
    )
    return table


def bounds_by_measure(
    pool: Pool,
    measures: Mapping[str, IRMeasure],
    values_of: Mapping[str, Floats],
    depth: int | None = None,
    max_rel: float | None = None,
    unretrieved: int = 0,
) -> dict[str, ValueBounds]:
    """Bounds of the values of S runs by each measure that has a proven algorithm; arguments as of ``judgment_bounds``."""
    check_bounds_options(depth, max_rel, unretrieved)
    for name, measure in measures.items():
        checked_depth(name, depth, measure.params.get("cutoff"))
    options: Any = {"depth": depth, "max_rel": max_rel, "unretrieved": unretrieved}
    every = np.arange(len(pool.names))
    bounds = {
        name: bounds_of_differences(pool, measure, values_of[name], every, None, **options)
        for name, measure in measures.items()
    }
    known = {name: found for name, found in bounds.items() if found is not None}
    refuse_or_warn_of([name for name in measures if name not in known], len(measures))
    return known


def check_bounds_options(depth: int | None, max_rel: float | None, unretrieved: int) -> None:
    """Refuse options of bounds that are out of range."""
    if depth is not None:
        check_integer("depth", depth)
    if max_rel is not None:
        check_number("max_rel", max_rel, least=1)
    check_integer("unretrieved", unretrieved, least=0, most=_MOST_UNRETRIEVED)


@contextmanager
def readable_twice(run: RunLike) -> Iterator[Any]:
    """A run that can be read more than once: what is used up by reading is copied."""
    if isinstance(run, (str, os.PathLike)):
        with rereadable(os.fspath(run)) as path:
            yield path
    else:
        yield rereadable_rows(run)
