"""Total recall: how far a whole collection must be read, in systematic reviews and e-discovery.

WSS, ATD, RecallLoss, LastRel, ERF.

All are of rankings of a whole collection of n documents: the relevant ones stand at p_1 < ... <
p_m, those that the ranking misses at its end, ranks n-u+1, ..., n.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ir_lexirecall._util.arrays import (
    Floats,
    Ints,
    per_query_sum,
    position_in_segment,
    ratio,
)
from ir_lexirecall._util.errors import and_more, is_integer
from ir_lexirecall._util.rounding import SUM
from ir_lexirecall._util.selecting import without
from ir_lexirecall.measures.about import About, Example
from ir_lexirecall.measures.declaration import UNIT, Measure
from ir_lexirecall.measures.parameters import Param, rel

if TYPE_CHECKING:
    from ir_lexirecall.data.aligned_run import AlignedRun, Relevant

_RANKS = (
    "m: relevant documents of the query; p_1 < ... < p_m: their ranks; n: documents in the "
    "collection; missing ones stand at its end"
)
_RANKING = (1, 0, 0, 1)
_about = partial(About, symbols=_RANKS, source="ferdinands2023")


def _is_size(n: Any) -> bool:
    """Return whether `n` is a size, sizes by query, or 'ranking'."""
    if isinstance(n, Mapping):
        return bool(n) and all(
            is_integer(size) and _is_size(size) for size in n.values()
        )
    if isinstance(n, str):
        return n == "ranking"
    return bool(1 <= n <= 2**53)


class _TotalRecall(Measure, register=False):
    """Base of the measures of total recall: size of the collection, ranks in all of it."""

    RANGE = (0.0, inf)
    FAMILY: ClassVar[str] = "collections"
    PAGE: ClassVar[str] = "screening"
    params: dict[str, Any] = {
        "rel": rel(),
        "n": Param(
            int,
            "documents in the collection: a number, one per query (a dict), or 'ranking', those "
            "ranked",
            default="ranking",
            also=(dict, str),
            check=_is_size,
            expects="an integer of at least 1, a dict of query ids to such integers, or 'ranking'",
        ),
    }

    def positions(self, run: AlignedRun) -> tuple[Relevant, Ints]:
        """Return the ranks of all relevant documents of every query, and the collection sizes.

        Raises:
            ValueError: n lacks a query, is smaller than a rank in use, or is to be the length of a
                ranking that misses some.
        """
        relevant = run.relevant(self["rel"])
        missing = relevant.m - relevant.r
        n = self._collection_sizes(run, relevant)
        if not missing.any():
            return relevant, n
        query = np.repeat(np.arange(len(n)), missing)  # of the missing ones
        rank_at_end = (n - missing + 1)[query] + position_in_segment(query)
        after_retrieved = np.searchsorted(relevant.query, query, side="right")
        every_one = replace(
            relevant,
            query=np.repeat(np.arange(len(n)), relevant.m),
            rank=np.insert(relevant.rank, after_retrieved, rank_at_end),
            r=relevant.m,
        )
        return every_one, n

    def _collection_sizes(self, run: AlignedRun, relevant: Relevant) -> Ints:
        """Return the size of each query's collection; raise if it cannot be right."""
        ids, missing = run.judgments.query_ids, relevant.m - relevant.r
        if self["n"] == "ranking":
            incomplete = np.flatnonzero(missing)
            if len(incomplete):
                raise ValueError(
                    f"{self}: the ranking of query {ids[incomplete[0]]!r} lacks "
                    f"{missing[incomplete[0]]} relevant documents"
                    f"{and_more(len(incomplete) - 1)}; give n, the size of the collection"
                )
            return np.maximum(run.depth, 1)
        if isinstance(self["n"], Mapping):
            n = self._sizes_by_query(ids, relevant)
        else:
            n = np.full(len(ids), self["n"], dtype=np.int64)
        needed = run.depth + missing
        too_small = np.flatnonzero((needed > n) & (relevant.m > 0))
        if len(too_small):
            q = too_small[0]
            raise ValueError(
                f"{self}: n={n[q]} is smaller than the {needed[q]} documents of query "
                f"{ids[q]!r}{and_more(len(too_small) - 1)}; n is the size of the collection"
            )
        return n

    def _sizes_by_query(self, ids: Sequence[str], relevant: Relevant) -> Ints:
        """Return the sizes that `n` gives; raise if a query with relevant documents has none."""
        size_of = {str(query_id): size for query_id, size in self["n"].items()}
        with_relevant = [ids[q] for q in np.flatnonzero(relevant.m).tolist()]
        unknown = without(with_relevant, size_of)
        if unknown:
            raise ValueError(
                f"{self.NAME}: n has no size for query "
                f"{unknown[0]!r}{and_more(len(unknown) - 1)}; add it"
            )
        return np.array([size_of.get(query_id, 1) for query_id in ids], dtype=np.int64)


class WSS(_TotalRecall):
    """Share of the collection that need not be read to reach a recall, beyond chance.

    The share of the collection that need not be read to find j relevant documents, less that which
    reading at random would save.

    ``n`` is the size of the collection: a number, a mapping of query ids to numbers where it
    differs from query to query, or ``'ranking'`` (the default), the documents ranked, of which then
    no relevant one may be missing. Relevant documents that are not ranked end the collection. A
    query without relevant documents scores 0.

    Source: Cohen, Hersh, Peterson, Yen, Reducing Workload in Systematic Review Preparation Using
    Automated Citation Classification, JAMIA 2006, doi 10.1197/jamia.M1929.

    >>> from ir_lexirecall import WSS
    >>> qrels, run = {"q": {"a": 1, "b": 1}}, {"q": {"a": 4.0, "x": 3.0, "b": 2.0}}
    >>> round(WSS(n=10).calc_aggregate(qrels, run), 12)
    0.65
    """

    PRETTY_NAME: ClassVar[str] = "Work Saved over Sampling"
    ABOUT = _about(
        formula=r"\mathrm{WSS}@r = \frac{n - p_j}{n} - (1 - r), \quad j = \lceil r\, m \rceil",
        symbols=f"{_RANKS}; r: recall to be reached",
        values="-(1 - r) to r",
        zero="as much is read as reading at random would take, or the query has no relevant "
        "documents",
        ties="the j-th relevant document stands at the same rank, whatever the others do",
        use="when reviewers stop at a known recall: the share that they need not read",
        example=Example(
            "WSS(n=10)",
            _RANKING,
            0.55,
            "j = ceil(0.95 x 2) = 2, p_2 = 4: (10 - 4)/10 - 0.05 = 0.55.",
        ),
        source="cohen2006",
        see_also=("LastRel", "ERF", "RecallLoss", "TSE"),
    )
    AT_PARAM: ClassVar[str] = "r"
    params: dict[str, Any] = {
        "r": Param(float, "recall to be reached", default=0.95, above=0, most=1),
        **_TotalRecall.params,
    }

    def value_range(self) -> tuple[float, float]:
        """Return the smallest and the largest possible value with these parameters."""
        return self["r"] - 1, self["r"]

    def score(self, run: AlignedRun) -> Floats:
        """Return the work saved over sampling for each query."""
        (relevant, n), r = self.positions(run), self["r"]
        j, p = np.ceil(r * relevant.m * (1 - SUM)), np.zeros(len(n))
        at = relevant.level == j[relevant.query]
        p[relevant.query[at]] = relevant.rank[at]
        return np.where(relevant.m > 0, (n - p) / n - (1 - r), 0.0)


class ATD(_TotalRecall):
    """Mean rank of the relevant documents in the whole collection (smaller is better).

    Smaller is better; (m + 1) / 2 is the best value. ``normalize=True`` gives it as a share of n.

    ``n`` as in ``WSS``: relevant documents that are not ranked end the collection.

    Source: Ferdinands et al., Performance of Active Learning Models for Screening Prioritization in
    Systematic Reviews, Systematic Reviews 2023, doi 10.1186/s13643-023-02257-7.

    >>> from ir_lexirecall import ATD
    >>> ATD.calc_aggregate({"q": {"a": 1, "b": 1}}, {"q": {"a": 4.0, "x": 3.0, "y": 2.0, "b": 1.0}})
    2.5
    """

    PRETTY_NAME: ClassVar[str] = "Average Time to Discovery"
    ABOUT = _about(
        formula=r"\mathrm{ATD} = \frac{1}{m} \sum_{i=1}^{m} p_i",
        values="(m + 1)/2 to n - (m - 1)/2; smaller is better",
        zero="the query has no relevant documents",
        ties="the same mean rank of the relevant documents",
        use="when effort counts on average over the relevant documents: how early a review meets "
        "them",
        example=Example("ATD(n=10)", _RANKING, 2.5, "Mean rank (1 + 4)/2 = 2.5."),
        see_also=("RecallLoss", "RE", "LastRel"),
    )
    SMALLER_IS_BETTER: ClassVar[bool] = True
    params: dict[str, Any] = {
        **_TotalRecall.params,
        "normalize": Param(bool, "as a share of n", default=False),
    }

    def value_range(self) -> tuple[float, float]:
        """Return the smallest and the largest possible value with these parameters."""
        if self["normalize"]:
            return UNIT
        return self.RANGE

    def score(self, run: AlignedRun) -> Floats:
        """Return the mean rank of the relevant documents of each query."""
        relevant, n = self.positions(run)
        value = ratio(per_query_sum(relevant.query, relevant.rank, len(n)), relevant.m)
        if self["normalize"]:
            return value / n
        return value


class RecallLoss(_TotalRecall):
    """Area between the ideal recall curve and that of the ranking, from 0 to 1 (smaller is better).

    0 is best and 1 is worst.

    It is ``RE`` / (n - m), that is, of the same order as ``ATD`` for one query.

    ``n`` as in ``WSS``: relevant documents that are not ranked end the collection.

    Source: asreview-insights (loss); the area over the recall curve as in Ferdinands et al.,
    Systematic Reviews 2023, doi 10.1186/s13643-023-02257-7.

    >>> from ir_lexirecall import RecallLoss
    >>> qrels, run = {"q": {"a": 1, "b": 1}}, {"q": {"a": 4.0, "x": 3.0, "y": 2.0, "b": 1.0}}
    >>> RecallLoss.calc_aggregate(qrels, run)
    0.5
    """

    PRETTY_NAME: ClassVar[str] = "Loss of Recall"
    RANGE = UNIT
    ABOUT = _about(
        formula=r"\mathrm{RecallLoss} = \frac{m \left(n - \frac{m-1}{2}\right) - \sum_{k=1}^{n} "
        r"\mathrm{found}(k)}{m (n - m)}",
        symbols=f"{_RANKS}; found(k): relevant documents among the first k",
        zero="the ideal ranking, or a query without relevant documents",
        ties="the same mean rank of the relevant documents",
        use="to compare reviews of different sizes: 0 is the best ranking, 1 the worst, 0.5 on "
        "average chance",
        example=Example(
            "RecallLoss(n=10)",
            _RANKING,
            0.125,
            "found sums to 3 x 1 + 7 x 2 = 17, at best 1 + 9 x 2 = 19: (19 - 17)/(2 x 8).",
        ),
        see_also=("ATD", "RE", "WSS"),
    )
    SMALLER_IS_BETTER: ClassVar[bool] = True

    def score(self, run: AlignedRun) -> Floats:
        """Return the area between the ideal recall curve and the actual one of each query."""
        relevant, n = self.positions(run)
        m = relevant.m.astype(np.float64)
        # The sum of found(k) over k = 1..n.
        area = m * (n + 1) - per_query_sum(relevant.query, relevant.rank, len(n))
        return ratio(m * (n - (m - 1) / 2) - area, m * (n - m))


class LastRel(_TotalRecall):
    """Rank of the last relevant document in the whole collection (smaller is better).

    It is 1 / TSE.

    Smaller is better.

    ``n`` as in ``WSS``: relevant documents that are not ranked end the collection.

    Source: Kanoulas, Li, Azzopardi, Spijker, CLEF 2017 Technologically Assisted Reviews in
    Empirical Medicine Overview, CLEF 2017; as 1 / TSE: Diaz, Ekstrand, Mitra, TORS 2026,
    doi 10.1145/3728373.

    >>> from ir_lexirecall import LastRel
    >>> qrels, run = {"q": {"a": 1, "b": 1}}, {"q": {"a": 4.0, "x": 3.0, "y": 2.0, "b": 1.0}}
    >>> LastRel.calc_aggregate(qrels, run)
    4.0
    """

    PRETTY_NAME: ClassVar[str] = "Last Relevant Document"
    ABOUT = _about(
        formula=r"\mathrm{LastRel} = p_m",
        values="m to n; smaller is better",
        zero="the query has no relevant documents",
        ties="the last relevant document stands at the same rank",
        use="when everything must be found: how many documents are read until then; TSE is its "
        "reciprocal",
        example=Example(
            "LastRel(n=10)",
            _RANKING,
            4.0,
            "The last of m = 2 relevant documents has rank 4.",
        ),
        source="kanoulas2017",
        see_also=("TSE", "SL3", "WSS"),
    )
    SMALLER_IS_BETTER: ClassVar[bool] = True

    def score(self, run: AlignedRun) -> Floats:
        """Return the rank of the last relevant document of each query."""
        return self.positions(run)[0].p_r.astype(np.float64)


class ERF(_TotalRecall):
    """Recall when a share of the collection is read, beyond what reading at random finds.

    ``n`` as in ``WSS``: relevant documents that are not ranked end the collection.

    Source: Ferdinands et al., Performance of Active Learning Models for Screening Prioritization in
    Systematic Reviews, Systematic Reviews 2023, doi 10.1186/s13643-023-02257-7.

    >>> from ir_lexirecall import ERF
    >>> qrels, run = {"q": {"a": 1, "b": 1}}, {"q": {"a": 4.0, "x": 3.0, "y": 2.0, "b": 1.0}}
    >>> ERF(x=0.5).calc_aggregate(qrels, run)
    0.0
    """

    PRETTY_NAME: ClassVar[str] = "Extra Relevant Documents Found"
    ABOUT = _about(
        formula=r"\mathrm{ERF}@x = \frac{|\{i : p_i \le \lfloor x\, n \rfloor\}|}{m} - x",
        symbols=f"{_RANKS}; x: share of the collection that is read",
        values="-x to 1 - x",
        zero="as much is found as reading at random would find, or the query has no relevant "
        "documents",
        ties="the same number of relevant documents among the first floor(x n)",
        use="when reviewers can read only a share of the collection",
        example=Example(
            "ERF(n=10)@0.1",
            _RANKING,
            0.4,
            "One document is read, one of two is found: 1/2 - 0.1 = 0.4.",
        ),
        see_also=("WSS", "R", "RecallLoss"),
    )
    AT_PARAM: ClassVar[str] = "x"
    params: dict[str, Any] = {
        "x": Param(
            float, "share of the collection that is read", default=0.1, above=0, most=1
        ),
        **_TotalRecall.params,
    }

    def value_range(self) -> tuple[float, float]:
        """Return the smallest and the largest possible value with these parameters."""
        return -self["x"], 1 - self["x"]

    def score(self, run: AlignedRun) -> Floats:
        """Return the recall beyond that of reading at random for each query."""
        (relevant, n), x = self.positions(run), self["x"]
        top = relevant.rank <= np.floor(x * n * (1 + SUM))[relevant.query]
        recall = ratio(np.bincount(relevant.query[top], minlength=len(n)), relevant.m)
        return np.where(relevant.m > 0, recall - x, 0.0)
