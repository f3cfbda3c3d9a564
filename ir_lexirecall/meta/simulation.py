"""Random rankings of large collections, drawn without building permutations."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ir_lexirecall.alignment import JudgedRanks
from ir_lexirecall.judgments import Judgments
from ir_lexirecall.meta.study import Study
from ir_lexirecall.progress import progress_bar
from ir_lexirecall.scoring.arrays import Floats, Ints

if TYPE_CHECKING:
    from numpy.random import Generator

_MOST = 2**53  # documents: ranks that floats tell apart
_SMALLEST = 1e-300  # quality
_DEEPEST = 2**24  # whole numbers up to here differ as 32-bit floats, which is how scores are compared


class Rankings(Study):
    """Simulated rankings: a row per system, query and retrieved relevant document (``system``, ``query_id``,
    ``doc_id``, ``rank``), and the same in the forms that evaluation takes.

    ``judgments`` and ``ranks`` go into the studies of this package and cost no more than the relevant documents;
    ``qrels`` and ``runs`` are tables for everything else, with every retrieved document in a row of its own.
    """

    _metadata = [*Study._metadata, "_ranks"]
    _ranks: dict[str, JudgedRanks]

    @property
    def ranks(self) -> dict[str, JudgedRanks]:
        """Where the relevant documents stand, by system."""
        return self._ranks

    @property
    def judgments(self) -> Judgments:
        """The relevant documents of all queries."""
        return next(iter(self._ranks.values())).judgments

    @cached_property
    def qrels(self) -> pd.DataFrame:
        """The relevant documents as a table: ``query_id``, ``doc_id``, ``relevance``."""
        rows = self.judgments.rows
        return pd.DataFrame(
            {
                "query_id": rows["query_id"].to_list(),
                "doc_id": rows["doc_id"].to_list(),
                "relevance": rows["relevance"].to_numpy().astype(np.int64),
            }
        )

    @property
    def runs(self) -> dict[str, pd.DataFrame]:
        """The runs as tables (``query_id``, ``doc_id``, ``score``), every retrieved document a row.

        Raises:
            ValueError: the rankings are so deep that 32-bit scores cannot order them; ``ranks`` still serve.
        """
        return {name: _run(ranks) for name, ranks in self._ranks.items()}


def _run(ranks: JudgedRanks) -> pd.DataFrame:
    """A run whose documents without judgment are called by their rank."""
    depth = ranks.depth
    if depth.max(initial=0) > _DEEPEST:
        raise ValueError(
            f"runs: rankings of {depth.max()} documents are deeper than 32-bit scores can order ({_DEEPEST}); use ranks"
        )
    return pd.DataFrame(ranks.as_run("x").to_dict(as_series=False))


def simulate_rankings(
    n: int,
    m: int,
    depth: int,
    queries: int,
    systems: int | Sequence[str] = 2,
    seed: int = 0,
    *,
    quality: float | Sequence[float] | Mapping[str, float] = 1.0,
    progress: bool | None = None,
) -> Rankings:
    """Rankings of a collection of n documents, m of them relevant, by systems of a given quality.

    A ranking is drawn from the top: whatever is left, each relevant document is ``quality`` times as likely to come
    next as each other one (Plackett and Luce). So a relevant document stands above another one with probability
    quality / (quality + 1): 1 is a random ranking, above 1 a better one, below 1 a worse one; and of the first k
    documents, as many are relevant as Wallenius' noncentral hypergeometric distribution says.

    No permutation is built: a relevant document arrives at an exponential time of rate ``quality``, another one of
    rate 1, so that between two relevant arrivals a binomial number of the others arrives. Time and memory grow with
    queries, systems and m, not with n.

    Args:
        n: size of the collection, up to 10^9 and more.
        m: relevant documents of each query.
        depth: how many documents a system retrieves; what is ranked below is lost.
        queries: how many.
        systems: how many (named ``s1``, ``s2``, ...), or their names.
        seed: of the random numbers.
        quality: of all systems, or one number for each.
        progress: show a progress bar; by default on a terminal only.

    Returns:
        ``Rankings``: rows ``system``, ``query_id``, ``doc_id``, ``rank``; with ``judgments`` and ``ranks`` for the
        studies of this package, ``qrels`` and ``runs`` as tables for ``evaluate`` and ``compare``.

    Raises:
        ValueError: a number out of range, or not one quality per system.

    >>> rankings = simulate_rankings(10**9, m=3, depth=10**9, queries=2, systems=["a", "b"], seed=1)
    >>> len(rankings), rankings["rank"].is_unique
    (12, True)
    >>> from ir_lexirecall import compare
    >>> few = simulate_rankings(100, m=5, depth=50, queries=30, systems=["good", "bad"], quality=[20, 1])
    >>> bool(compare(few.qrels, few.runs, correction=None).table()["wins"][0] > 20)
    True
    """
    for name, value, least in (("n", n, 1), ("m", m, 1), ("depth", depth, 1), ("queries", queries, 1)):
        _check_count(name, value, least)
    if m > n:
        raise ValueError(f"simulate_rankings: m={m} relevant documents do not fit into a collection of n={n}")
    _check_count("seed", seed, 0)
    names = _names(systems)
    qualities = _qualities(quality, names)
    depth = min(depth, n)

    rng = np.random.default_rng(seed)
    judgments = _judgments(queries, m)
    ranks = {}
    for name, theta in zip(names, progress_bar(progress, qualities, desc="simulated systems"), strict=True):
        doc, rank = positions(rng, n, m, queries, theta)
        row = doc + m * np.arange(queries)[:, None]
        query = np.broadcast_to(np.arange(queries)[:, None], rank.shape)
        there = rank <= depth
        ranks[name] = JudgedRanks(
            judgments, query=query[there], doc=row[there], rank=rank[there], depth=np.full(queries, depth)
        )
    rankings = Rankings.of(
        _table(judgments, ranks),
        _draw,
        function="simulate_rankings",
        n=n,
        m=m,
        depth=depth,
        queries=queries,
        quality=dict(zip(names, qualities, strict=True)),
        seed=seed,
    )
    rankings._ranks = ranks
    return rankings


def positions(rng: Generator, n: int, m: int, queries: int, quality: float) -> tuple[Ints, Ints]:
    """The relevant documents (0..m-1) of each query in the order of their ranks, and the ranks; shape ``(queries, m)``."""
    arrival = rng.exponential(1 / quality, size=(queries, m))
    doc = np.argsort(arrival, axis=1)
    wait = np.diff(np.take_along_axis(arrival, doc, axis=1), axis=1, prepend=0.0)
    passed = -np.expm1(-wait)  # the probability that another document arrives within the wait
    rank = np.empty((queries, m), dtype=np.int64)
    others = np.zeros(queries, dtype=np.int64)  # that have arrived
    for i in range(m):
        others += rng.binomial(n - m - others, passed[:, i])
        rank[:, i] = others + i + 1
    return doc, rank


def _judgments(queries: int, m: int) -> Judgments:
    """m relevant documents for each query, numbered so that their ids sort as their numbers do."""
    query_ids = [f"q{q:0{len(str(queries))}d}" for q in range(1, queries + 1)]
    doc_ids = [f"d{i:0{len(str(m))}d}" for i in range(1, m + 1)]
    return Judgments.of(
        pd.DataFrame({"query_id": np.repeat(query_ids, m), "doc_id": np.tile(doc_ids, queries), "relevance": 1})
    )


def _table(judgments: Judgments, ranks: Mapping[str, JudgedRanks]) -> pd.DataFrame:
    """A row per system, query and retrieved relevant document."""
    m = len(judgments.query) // len(judgments)
    found = list(ranks.values())
    system = np.repeat(np.arange(len(found)), [len(each.rank) for each in found])
    doc = np.concatenate([each.doc for each in found])
    return pd.DataFrame(
        {
            "system": pd.Categorical.from_codes(system, list(ranks)),
            "query_id": pd.Categorical.from_codes(doc // m, judgments.query_ids),
            "doc_id": pd.Categorical.from_codes(doc % m, judgments.doc_id[:m].to_list()),
            "rank": np.concatenate([each.rank for each in found]),
        }
    )


def _draw(table: pd.DataFrame, ax: Any) -> Any:
    """Relevant documents found by rank, on average over the queries."""
    for name, rows in table.groupby("system", observed=False):
        rank = np.sort(rows["rank"].to_numpy())
        share = np.arange(1, len(rank) + 1) / (table.attrs["queries"] * table.attrs["m"])
        ax.step(rank, share, where="post", label=name)
    ax.set_xscale("log")
    ax.set_xlabel("rank")
    ax.set_ylabel("recall")
    ax.legend(fontsize="small")
    return ax


def _check_count(name: str, value: Any, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or not least <= int(value) <= _MOST:
        raise ValueError(f"simulate_rankings: {name} must be an integer from {least} to 2^53, not {value!r}")


def _names(systems: int | Sequence[str]) -> list[str]:
    if isinstance(systems, numbers.Integral):
        _check_count("systems", systems, 1)
        return [f"s{i}" for i in range(1, int(systems) + 1)]
    names = [str(name) for name in systems] if isinstance(systems, Iterable) else []
    if isinstance(systems, str) or not names or len(set(names)) < len(names):
        raise ValueError(f"simulate_rankings: systems must be a number or different names, not {systems!r}")
    return names


def _qualities(quality: Any, names: Sequence[str]) -> list[float]:
    if isinstance(quality, Mapping):
        unknown = sorted(set(quality) ^ set(names))
        if unknown:
            raise ValueError(f"simulate_rankings: quality must name each system once; see {unknown[0]!r}")
        given: Floats = np.array([quality[name] for name in names], dtype=np.float64)
    else:
        given = np.asarray(quality, dtype=np.float64)
        if given.ndim and given.shape != (len(names),):
            raise ValueError(f"simulate_rankings: {given.size} qualities for {len(names)} systems; give one for each")
        given = np.broadcast_to(given, len(names))
    bad = [value for value in given.tolist() if not _SMALLEST <= value <= 1 / _SMALLEST]
    if bad:
        raise ValueError(
            f"simulate_rankings: quality must be a number above 0 (1: a random ranking) within 1e-300 and 1e300, not {bad[0]:g}"
        )
    return given.tolist()
