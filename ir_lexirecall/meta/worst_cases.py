"""Worst cases: what the worst-off user and the worst-off provider get."""

from __future__ import annotations

import numpy as np

from ir_lexirecall._util.arrays import Ints
from ir_lexirecall._util.errors import check_integer
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.progress import progress_bar
from ir_lexirecall.data.aligned_run import AlignedRun
from ir_lexirecall.measures import scoring, tse
from ir_lexirecall.meta.decisions import Decisions, rising
from ir_lexirecall.meta.made_up_rankings import has_aspects, made_up_run
from ir_lexirecall.meta.records import Headline, Option, recorded, study
from ir_lexirecall.plots.studies import GroupedBars

_DIAZ = "Diaz, Ekstrand, Mitra, TORS 2026, doi 10.1145/3728373"
_MOST_ENUMERATED = 16  # relevant documents


@study(
    "Values for users who need some of the relevant documents",
    Headline("user", "mean value of the worst-off user", "best", "worst"),
    GroupedBars(
        "What the worst-off user gets, on average over the queries",
        "run",
        marks=lambda table: (
            table.assign(value=table["user"].fillna(table["closed_form"]))
            .groupby(["run", "measure"], sort=False)["value"]
            .mean()
            .unstack()
        ),
    ),
    example="qrels.txt bm25.run -m AP nDCG",
    runs=("rel", "allow_empty"),
    options={"enumerate_up_to": Option("relevant documents up to which subsets are enumerated", int)},
)
def worst_case(self: Decisions, *, enumerate_up_to: int = 8) -> pd.DataFrame:
    """Values of the worst-off user and of the worst-off provider, by enumeration and in closed form.

    Let R be the m relevant documents of a query and U range over its 2^m - 1 non-empty subsets.

    - A user may need exactly the documents U: ``user`` = min over U of mu(ranking, U), the measure with the documents U
      relevant (grade 1) and all others not (Eq. 4); the largest one, where the smaller value is better.
    - A provider may own exactly the documents U: ``provider`` = min over U of the sum of e(p_d) over d in U, with the
      measure's exposure e: 1/i for AP and RR, 1/log2(i+1) for nDCG, (1-p) p^(i-1) for RBP (Eq. 6). NaN for others.
    - For those measures both equal ``closed_form`` = e(p_m), the total search efficiency of the same exposure, for any
      m; a missing document has exposure 0. NaN for others.

    The study's measures are what a user gets, such as AP, nDCG or RBP: binary or graded, of one aspect; its ``rel`` is the
    smallest grade of a document that somebody may need. One run is enough.

    Args:
        enumerate_up_to: enumerate the subsets of queries with up to this many relevant documents (at most 16); beyond, only
            the closed form is computed.

    Returns:
        A row per run, measure and query that has relevant documents: ``run``, ``measure``, ``query_id``, ``m``, ``user``,
        ``provider``, ``closed_form`` and ``subsets`` (how many were enumerated, 0: none).

    Raises:
        ValueError: a number out of range, a preference, or a measure of several aspects.

    Source: Diaz, Ekstrand, Mitra, TORS 2026, Equations 4 and 6, doi 10.1145/3728373.

    >>> from ir_lexirecall.meta import Study
    >>> qrels, run = {"q": {"a": 1, "b": 1}}, {"q": {"a": 4, "c": 3, "d": 2, "b": 1}}
    >>> Study(["AP", "R@2"], qrels, {"x": run}).worst_case().drop(columns=["run", "m"])
      measure query_id  user  provider  closed_form  subsets
    0      AP        q  0.25      0.25         0.25        3
    1     R@2        q  0.00       NaN          NaN        3
    """
    if preference := next((label for label in self.labels if label not in self.measures), None):
        raise ValueError(f"{preference!r} is a preference, which has no values; name a measure")
    for name, measure in self.measures.items():
        if has_aspects(measure):
            raise ValueError(f"{name} judges several aspects; a user's need is a set of documents")
    check_integer("enumerate_up_to", enumerate_up_to, least=0, most=_MOST_ENUMERATED)
    self.check(runs=1)
    parts = []
    for name, run in progress_bar(self.progress, self.aligned.runs.items(), desc="worst cases"):
        query, rank = relevant_places(run, self.rel)
        place = np.where(rank > 0, rank, np.inf).astype(np.float64)
        m = np.bincount(query, minlength=len(run.depth))
        judged = np.flatnonzero(m)
        small = judged[m[judged] <= enumerate_up_to]
        for label, measure in self.measures.items():
            user, provider, last = (np.full(len(m), np.nan) for _ in range(3))
            grade, k = float(measure.params.get("rel", 1)), measure.params.get("cutoff", np.inf)
            exposed = None  # of each relevant document, by the exposure behind the measure, where it has one
            if measure.NAME in ("AP", "RR", "nDCG", "RBP") and not measure.params.keys() - {"cutoff", "rel", "p"}:
                e = tse.exposure(measure.NAME, p=measure["p"] if measure.NAME == "RBP" else 0.8, n=None)
                exposed = np.where(place <= k, e(place), 0.0)
                last[judged] = exposed[np.cumsum(m)[judged] - 1]
            for q in small.tolist():
                rows = slice(np.searchsorted(query, q), np.searchsorted(query, q, side="right"))
                ranks = rank[rows]
                subsets = 2 ** len(ranks) - 1  # all but the empty one, each a ranking of its own
                subset, doc = np.nonzero((np.arange(1, subsets + 1)[:, None] >> np.arange(len(ranks))) & 1)
                made_up = made_up_run(subset, ranks[doc], np.full(len(doc), grade), np.full(subsets, run.depth[q]))
                values = scoring.values(measure, made_up)
                user[q] = values[np.argmin(rising(measure, values))]
                if exposed is not None:
                    provider[q] = np.bincount(subset, weights=exposed[rows][doc]).min()
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
    facts = {"measures": list(self.measures), "runs": self.names, "queries": len(self.queries), "rel": self.rel}
    table = pd.concat(parts, ignore_index=True)
    return recorded(table, "worst_case", **facts, enumerate_up_to=int(enumerate_up_to), source=_DIAZ)


def relevant_places(run: AlignedRun, rel: float) -> tuple[Ints, Ints]:
    """Query and rank (0: missing) of every relevant document, by query and rank with the missing last."""
    relevant = np.flatnonzero(run.judgments.grade >= rel)
    rank = np.zeros(len(run.judgments.grade), dtype=np.int64)
    rank[run.doc] = run.rank
    query, rank = run.judgments.query[relevant], rank[relevant]
    order = np.lexsort((rank, rank == 0, query))
    return query[order], rank[order]
