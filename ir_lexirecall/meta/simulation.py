"""Random rankings of large collections, drawn without building permutations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ir_lexirecall._util.arrays import Ints, position_in_segment
from ir_lexirecall._util.errors import check_integer, check_number, entry
from ir_lexirecall._util.lazy import cached_property
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.lazy import polars as pl
from ir_lexirecall._util.progress import progress_bar
from ir_lexirecall.data.aligned_run import AlignedRun
from ir_lexirecall.data.judgments import Judgments

_MOST = 2**53  # documents: ranks that floats tell apart
_DEEPEST = 2**24  # whole numbers up to here differ as 32-bit floats, which is how scores are compared


@dataclass(frozen=True)
class SimulatedRankings:
    """Simulated rankings, in the forms that studies and evaluation take.

    Attributes:
        judgments: the relevant documents of all queries.
        aligned: where they stand in every run, by its name. ``judgments`` and ``aligned`` go into the studies of this
            package as ``qrels`` and ``runs``, and cost no more than the relevant documents.
    """

    judgments: Judgments
    aligned: dict[str, AlignedRun]

    @cached_property
    def qrels(self) -> pd.DataFrame:
        """The relevant documents as a table: ``query_id``, ``doc_id``, ``relevance``."""
        return self.judgments.for_ir_measures().drop(columns="iteration")

    @property
    def runs(self) -> dict[str, pd.DataFrame]:
        """The runs as tables (``query_id``, ``doc_id``, ``score``), every retrieved document in a row of its own.

        Raises:
            ValueError: the rankings are so deep that 32-bit scores cannot order them; ``aligned`` still serves.
        """
        deepest = max(int(run.depth.max(initial=0)) for run in self.aligned.values())
        if deepest > _DEEPEST:
            raise ValueError(
                f"runs: rankings of {deepest} documents are deeper than 32-bit scores can order ({_DEEPEST}); use aligned"
            )
        return {name: pd.DataFrame(run.as_run("x")) for name, run in self.aligned.items()}


@entry
def simulate_rankings(
    n: int, m: int | range, depth: int, queries: int, systems: int | Mapping[str, float] = 2, *, seed: int = 0
) -> SimulatedRankings:
    """Simulate rankings of a collection of n documents, m of them relevant, by systems of a given quality.

    A ranking is drawn from the top: whatever is left, each relevant document is ``quality`` times as likely to come
    next as each other one (Plackett and Luce). So a relevant document stands above another one with probability
    quality / (quality + 1): 1 is a random ranking, above 1 a better one, below 1 a worse one; and of the first k
    documents, as many are relevant as Wallenius' noncentral hypergeometric distribution says.

    No permutation is built: a relevant document arrives at an exponential time of rate ``quality``, another one of
    rate 1, so that between two relevant arrivals a binomial number of the others arrives. Time and memory grow with
    queries, systems and m, not with n.

    Args:
        n: size of the collection, up to 10^9 and more.
        m: relevant documents of each query; or a ``range``, from which each query's number is drawn uniformly.
        depth: how many documents a system retrieves; what is ranked below is lost.
        queries: how many.
        systems: how many random ones (``s1``, ``s2``, ...), or names with the quality of each, at least 1e-300.
        seed: of the random numbers.

    Returns:
        ``SimulatedRankings``: ``judgments`` and ``aligned`` for the studies of this package, ``qrels`` and ``runs`` as tables
        for ``evaluate`` and ``compare``.

    Raises:
        ValueError: a number out of range.

    >>> rankings = simulate_rankings(10**9, m=3, depth=10**9, queries=2, systems={"good": 5, "bad": 1}, seed=1)
    >>> {name: len(run.rank) for name, run in rankings.aligned.items()}
    {'good': 6, 'bad': 6}
    >>> from ir_lexirecall import compare
    >>> few = simulate_rankings(100, m=range(2, 9), depth=50, queries=30, systems={"good": 20, "bad": 1})
    >>> bool(compare(few.qrels, few.runs).table()["wins"][0] > 20)
    True
    """
    for name, value, least in (("n", n, 1), ("depth", depth, 1), ("queries", queries, 1), ("seed", seed, 0)):
        check_integer(name, value, least=least, most=_MOST)
    for number in (m[0], m[-1]) if isinstance(m, range) and len(m) else (m,):
        check_integer("m", number, most=n)
    if isinstance(systems, Mapping):
        qualities = {str(name): check_number(f"quality of {name}", q, least=1e-300) for name, q in systems.items()}
    else:
        qualities = {f"s{i}": 1.0 for i in range(1, check_integer("systems", systems) + 1)}
    depth = min(depth, n)
    rng = np.random.default_rng(seed)
    relevant = np.asarray(m)[rng.integers(len(m), size=queries)] if isinstance(m, range) else np.full(queries, m)
    query_ids = [f"q{q:0{len(str(queries))}d}" for q in range(1, queries + 1)]  # ids sort as their numbers do
    query = np.repeat(np.arange(queries), relevant)
    most = int(relevant.max())
    numbered = pl.Series([f"d{i:0{len(str(most))}d}" for i in range(1, most + 1)], dtype=pl.String)
    judgments = Judgments(query_ids, query, numbered.gather(position_in_segment(query)), np.ones(len(query)))
    first = np.cumsum(relevant) - relevant
    aligned = {}
    for name, quality in progress_bar(None, qualities.items(), total=len(qualities), desc="simulated runs"):
        doc, rank = positions(rng, n, relevant, quality)
        query, level = np.nonzero(rank <= depth)
        rows, ranks = first[query] + doc[query, level], rank[query, level]
        aligned[name] = AlignedRun(judgments, query=query, doc=rows, rank=ranks, depth=np.full(queries, depth))
    return SimulatedRankings(judgments, aligned)


def positions(rng: np.random.Generator, n: int, m: Ints, quality: float) -> tuple[Ints, Ints]:
    """The relevant documents (0..m-1) of each query in the order of their ranks, and the ranks; shape ``(Q, max m)``.

    Of a query with fewer relevant documents, the places beyond m have ranks beyond every collection.
    """
    levels = np.arange(int(m.max()))
    there = levels < m[:, None]
    arrival = np.where(there, rng.exponential(1 / quality, size=there.shape), np.inf)
    doc = np.argsort(arrival, axis=1)
    in_order = np.take_along_axis(arrival, doc, axis=1)
    before = np.concatenate([np.zeros((len(m), 1)), in_order[:, :-1]], axis=1)
    wait = np.where(there, in_order, 0.0) - np.where(there, before, 0.0)
    passed = -np.expm1(-wait)  # the probability that another document arrives within the wait
    rank = np.full(there.shape, np.iinfo(np.int64).max)
    others = np.zeros(len(m), dtype=np.int64)  # that have arrived
    for i in levels:
        others += rng.binomial(n - m - others, passed[:, i])
        rank[:, i] = np.where(there[:, i], others + i + 1, rank[:, i])
    return doc, rank
