"""What the worst-off user, and the worst-off provider, get from a ranking."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np
import pandas as pd
from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall._util.arrays import Floats, Ints
from ir_lexirecall._util.errors import check_integer, check_number, entry
from ir_lexirecall._util.progress import progress_bar
from ir_lexirecall.data.aligned_run import AlignedRun
from ir_lexirecall.data.alignment import RunLike
from ir_lexirecall.data.judgments import Judgments, QrelsLike
from ir_lexirecall.evaluation.scored_runs import ScoredRuns, check_runs
from ir_lexirecall.measures import exposure as exposures
from ir_lexirecall.measures import scoring
from ir_lexirecall.measures.parsing import MeasuresLike
from ir_lexirecall.meta.decisions import check_relevant, parse_measures_for, rising
from ir_lexirecall.meta.rankings import has_aspects, made_up_run
from ir_lexirecall.meta.result import study

_SOURCE = "Diaz, Ekstrand, Mitra, TORS 2026, doi 10.1145/3728373"
_MOST_ENUMERATED = 16  # relevant documents


@entry
def worst_case(
    measures: MeasuresLike,
    qrels: QrelsLike,
    runs: Mapping[str, RunLike],
    *,
    rel: float = 1,
    enumerate_up_to: int = 8,
    allow_empty: bool = False,
    progress: bool | None = None,
) -> pd.DataFrame:
    """Values of the worst-off user and of the worst-off provider, by enumeration and in closed form.

    Let R be the m relevant documents of a query and U range over its 2^m - 1 non-empty subsets.

    - A user may need exactly the documents U: ``user`` = min over U of mu(ranking, U), the measure with the documents U
      relevant (grade 1) and all others not (Eq. 4); the largest one, where the smaller value is better.
    - A provider may own exactly the documents U: ``provider`` = min over U of the sum of e(p_d) over d in U, with the
      measure's exposure e: 1/i for AP and RR, 1/log2(i+1) for nDCG, (1-p) p^(i-1) for RBP (Eq. 6). NaN for others.
    - For those measures both equal ``closed_form`` = e(p_m), the total search efficiency of the same exposure, for any
      m; a missing document has exposure 0. NaN for others.

    Args:
        measures: what a user gets, such as AP, nDCG or RBP; binary or graded, of one aspect.
        runs: at least one run by name, in any form that ``evaluate`` takes, or aligned (``AlignedRun``).
        rel: smallest grade of a document that somebody may need.
        enumerate_up_to: enumerate the subsets of queries with up to this many relevant documents (at most 16); beyond, only
            the closed form is computed.
        qrels, allow_empty, progress: as in ``ties``.

    Returns:
        A row per run, measure and query that has relevant documents: ``run``, ``measure``, ``query_id``, ``m``, ``user``,
        ``provider``, ``closed_form`` and ``subsets`` (how many were enumerated, 0: none).

    Raises:
        ValueError: bad input, or a measure of several aspects.

    Source: Diaz, Ekstrand, Mitra, TORS 2026, Equations 4 and 6, doi 10.1145/3728373.

    >>> qrels = {"q": {"a": 1, "b": 1}}
    >>> worst_case(["AP", "R@2"], qrels, {"x": {"q": {"a": 4, "c": 3, "d": 2, "b": 1}}}).drop(columns=["run", "m"])
      measure query_id  user  provider  closed_form  subsets
    0      AP        q  0.25      0.25         0.25        3
    1     R@2        q  0.00       NaN          NaN        3
    """
    parsed = parse_measures_for(measures)
    for name, measure in parsed.items():
        if has_aspects(measure):
            raise ValueError(f"{name} judges several aspects; a user's need is a set of documents")
    check_integer("enumerate_up_to", enumerate_up_to, least=0, most=_MOST_ENUMERATED)
    aligned = aligned_runs(qrels, runs, rel, allow_empty, progress)
    parts = []
    for name, run in progress_bar(progress, aligned.items(), desc="worst cases"):
        query, rank = relevant_places(run, rel)
        m = np.bincount(query, minlength=len(run.depth))
        judged = np.flatnonzero(m)
        small = judged[m[judged] <= enumerate_up_to]
        for label, measure in parsed.items():
            user, provider, last = (np.full(len(m), np.nan) for _ in range(3))
            user[small] = _worst_user(measure, query, rank, run.depth, small)
            e = _exposure_of(measure)
            if e is not None:
                provider[small] = _worst_provider(e, query, rank, small)
                last[judged] = 0
                np.maximum.at(last, query, np.where(rank > 0, rank, np.inf))
                last[judged] = e(last[judged])
            columns = {
                "run": name,
                "measure": label,
                "query_id": [run.judgments.query_ids[q] for q in judged],
                "m": m[judged],
                "user": user[judged],
                "provider": provider[judged],
                "closed_form": last[judged],
                "subsets": np.where(m[judged] <= enumerate_up_to, 2 ** np.minimum(m[judged], _MOST_ENUMERATED) - 1, 0),
            }
            parts.append(pd.DataFrame(columns))
    return study(
        pd.concat(parts, ignore_index=True),
        "worst_case",
        measures=list(parsed),
        runs=list(aligned),
        queries=int((next(iter(aligned.values())).judgments.m(rel) > 0).sum()),
        rel=rel,
        enumerate_up_to=int(enumerate_up_to),
        source=_SOURCE,
    )


def aligned_runs(
    qrels: QrelsLike, runs: Mapping[str, RunLike], rel: float, allow_empty: bool, progress: bool | None
) -> dict[str, AlignedRun]:
    """At least one run, aligned with judgments that have relevant documents."""
    check_number("rel", rel, above=0)
    check_runs(runs, 1)
    judgments = Judgments.from_qrels(qrels)
    check_relevant(judgments, rel)
    scored = ScoredRuns.from_runs({}, judgments, runs, allow_empty=allow_empty, progress=progress)
    scored.warn_of_hardly_judged()
    return scored.runs


def relevant_places(run: AlignedRun, rel: float) -> tuple[Ints, Ints]:
    """Query and rank (0: missing) of every relevant document, by query and rank with the missing last."""
    relevant = np.flatnonzero(run.judgments.grade >= rel)
    rank = np.zeros(len(run.judgments.grade), dtype=np.int64)
    rank[run.doc] = run.rank
    query, rank = run.judgments.query[relevant], rank[relevant]
    order = np.lexsort((rank, rank == 0, query))
    return query[order], rank[order]


def _worst_user(measure: IRMeasure, query: Ints, rank: Ints, depth: Ints, queries: Ints) -> Floats:
    """Minimum of the measure over all non-empty sets of relevant documents, for some queries."""
    worst = np.empty(len(queries))
    grade = float(measure.params.get("rel", 1))
    for place, (q, ranks, subset, doc) in enumerate(_subsets(query, rank, queries)):
        run = made_up_run(subset, ranks[doc], np.full(len(doc), grade), np.full(2 ** len(ranks) - 1, depth[q]))
        values = scoring.values(measure, run)
        worst[place] = values[np.argmin(rising(measure, values))]
    return worst


def _subsets(query: Ints, rank: Ints, queries: Ints) -> Iterator[tuple[int, Ints, Ints, Ints]]:
    """Some queries, the ranks of their relevant documents, and the members of all non-empty subsets: subset's number, document."""
    for q in queries.tolist():
        ranks = rank[np.searchsorted(query, q) : np.searchsorted(query, q, side="right")]
        m = len(ranks)
        subset, doc = np.nonzero((np.arange(1, 2**m)[:, None] >> np.arange(m)) & 1)
        yield q, ranks, subset, doc


def _worst_provider(e: Callable[[Floats], Floats], query: Ints, rank: Ints, queries: Ints) -> Floats:
    """Minimum of the sum of exposures over all non-empty sets of relevant documents, for some queries."""
    worst = np.empty(len(queries))
    for place, (_, ranks, subset, doc) in enumerate(_subsets(query, rank, queries)):
        exposed = e(np.where(ranks > 0, ranks, np.inf).astype(np.float64))
        worst[place] = np.bincount(subset, weights=exposed[doc]).min()
    return worst


def _exposure_of(measure: IRMeasure) -> Callable[[Floats], Floats] | None:
    """The exposure behind a measure, 0 below its cutoff; None if it has none."""
    if measure.NAME not in ("AP", "RR", "nDCG", "RBP") or measure.params.keys() - {"cutoff", "rel", "p"}:
        return None
    p = measure["p"] if measure.NAME == "RBP" else 0.8
    e = exposures.exposure(measure.NAME, p=p, n=None)
    k = measure.params.get("cutoff", np.inf)
    return lambda rank: np.where(rank <= k, e(rank), 0.0)
