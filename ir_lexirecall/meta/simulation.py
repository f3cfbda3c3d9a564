"""Random rankings of large collections, drawn without building permutations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ir_lexirecall._util.arrays import Floats, Ints, position_in_segment
from ir_lexirecall._util.errors import is_integer
from ir_lexirecall._util.lazy import cached_property
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.lazy import polars as pl
from ir_lexirecall._util.progress import progress_bar
from ir_lexirecall.data.aligned_run import AlignedRun
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.meta.records import recorded, rows_only, study
from ir_lexirecall.plots.studies import Lines

if TYPE_CHECKING:
    from numpy.random import Generator

_MOST = 2**53  # documents: ranks that floats tell apart
_SMALLEST = 1e-300  # quality
_DEEPEST = 2**24  # whole numbers up to here differ as 32-bit floats, which is how scores are compared


@dataclass(frozen=True)
class SimulatedRankings:
    """Simulated rankings, in the forms that studies and evaluation take.

    Attributes:
        judgments: the relevant documents of all queries.
        aligned: where they stand in every run, by its name. ``judgments`` and ``aligned`` go into the studies of this
            package as ``qrels`` and ``runs``, and cost no more than the relevant documents.
        provenance: what was simulated.
    """

    judgments: Judgments
    aligned: dict[str, AlignedRun]
    provenance: dict[str, Any] = field(repr=False)

    @cached_property
    def table(self) -> pd.DataFrame:
        """A row per run, query and retrieved relevant document: ``run``, ``query_id``, ``doc_id``, ``rank``."""
        runs = list(self.aligned.values())
        doc = np.concatenate([run.doc for run in runs])
        query = self.judgments.query[doc]
        number = position_in_segment(self.judgments.query)[doc]
        largest = int(self.judgments.m().max())
        columns = {
            "run": pd.Categorical.from_codes(
                np.repeat(np.arange(len(runs)), [len(run.rank) for run in runs]), list(self.aligned)
            ),
            "query_id": pd.Categorical.from_codes(query, self.judgments.query_ids),
            "doc_id": pd.Categorical.from_codes(number, _doc_ids(largest)),
            "rank": np.concatenate([run.rank for run in runs]),
        }
        return recorded(pd.DataFrame(columns), "simulate_rankings", **self.provenance)

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


def _recall(table: pd.DataFrame) -> pd.DataFrame:
    """Recall at the rank of each relevant document that was found, over all queries."""
    m = table.attrs["m"]
    relevant = sum(m) if isinstance(m, list) else table.attrs["queries"] * m
    rising = table.sort_values(["run", "rank"], kind="stable")
    return rising.assign(recall=(rising.groupby("run", observed=True).cumcount() + 1) / relevant)


@study(
    "Random rankings of large collections",
    rows_only,
    Lines(
        "Recall by rank, over all queries",
        "rank",
        "rank",
        value="recall",
        meaning="recall",
        marks=_recall,
        name="run",
        x_scale="log",
        steps=True,
    ),
)
def simulate_rankings(
    n: int,
    m: int | Sequence[int],
    depth: int,
    queries: int,
    systems: int | Sequence[str] = 2,
    *,
    seed: int = 0,
    quality: float | Sequence[float] | Mapping[str, float] = 1.0,
    progress: bool | None = None,
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
        m: relevant documents: of each query, one number or a sequence with a number per query; or a ``range``, from which
            each query's number is drawn uniformly.
        depth: how many documents a system retrieves; what is ranked below is lost.
        queries: how many.
        systems: how many (named ``s1``, ``s2``, ...), or their names.
        seed: of the random numbers.
        quality: of all systems, or one number for each.
        progress: show a progress bar; by default on a terminal only.

    Returns:
        ``SimulatedRankings``: ``judgments`` and ``aligned`` for the studies of this package, ``qrels`` and ``runs`` as tables
        for ``evaluate`` and ``compare``, and ``table``, which ``meta.plot`` draws.

    Raises:
        ValueError: a number out of range, or not one quality per system.

    >>> rankings = simulate_rankings(10**9, m=3, depth=10**9, queries=2, systems=["a", "b"], seed=1)
    >>> len(rankings.table), rankings.table["rank"].is_unique
    (12, True)
    >>> from ir_lexirecall import compare
    >>> few = simulate_rankings(100, m=range(2, 9), depth=50, queries=30, systems=["good", "bad"], quality=[20, 1])
    >>> bool(compare(few.qrels, few.runs).table()["wins"][0] > 20)
    True
    """
    for name, value, least in (("n", n, 1), ("depth", depth, 1), ("queries", queries, 1), ("seed", seed, 0)):
        _check_count(name, value, least)
    if is_integer(systems):
        _check_count("systems", systems, 1)
        names = [f"s{i}" for i in range(1, int(systems) + 1)]
    else:
        names = [str(name) for name in systems] if isinstance(systems, Iterable) else []
        if isinstance(systems, str) or not names or len(set(names)) < len(names):
            raise ValueError(f"systems must be a number or different names, not {systems!r}")
    qualities = _qualities(quality, names)
    depth = min(depth, n)
    rng = np.random.default_rng(seed)
    relevant = _relevant(m, n, queries, rng)
    query_ids = [f"q{q:0{len(str(queries))}d}" for q in range(1, queries + 1)]  # ids sort as their numbers do
    query = np.repeat(np.arange(queries), relevant)
    doc_ids = pl.Series(_doc_ids(int(relevant.max())), dtype=pl.String).gather(position_in_segment(query))
    judgments = Judgments(query_ids, query, doc_ids, np.ones(len(query)))
    first = np.cumsum(relevant) - relevant
    aligned = {}
    for name, theta in zip(names, progress_bar(progress, qualities, desc="simulated runs"), strict=True):
        doc, rank = positions(rng, n, relevant, theta)
        query, level = np.nonzero(rank <= depth)
        aligned[name] = AlignedRun(
            judgments,
            query=query,
            doc=first[query] + doc[query, level],
            rank=rank[query, level],
            depth=np.full(queries, depth),
        )
    provenance = {
        "n": n,
        "m": relevant.tolist() if not is_integer(m) else m,
        "depth": depth,
        "queries": queries,
        "quality": dict(zip(names, qualities, strict=True)),
        "seed": seed,
    }
    return SimulatedRankings(judgments, aligned, provenance)


def positions(rng: Generator, n: int, m: Ints, quality: float) -> tuple[Ints, Ints]:
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


def _relevant(m: Any, n: int, queries: int, rng: Generator) -> Ints:
    """The number of relevant documents of each query."""
    if isinstance(m, range):
        if len(m) == 0:
            raise ValueError(f"m must be a range of at least one number, not {m!r}")
        numbers = np.asarray(m, dtype=np.int64)[rng.integers(len(m), size=queries)].tolist()
        checked = [m[0], m[-1], *numbers]
    elif isinstance(m, Iterable) and not isinstance(m, str):
        numbers = list(m)
        checked = numbers
        if len(numbers) != queries:
            raise ValueError(f"{len(numbers)} numbers m for {queries} queries; give one for each")
    else:
        numbers, checked = [m] * queries, [m]
    for number in dict.fromkeys(checked):
        _check_count("m", number, 1)
        if number > n:
            raise ValueError(f"m={number} relevant documents do not fit into a collection of n={n}")
    return np.array(numbers, dtype=np.int64)


def _doc_ids(largest: int) -> list[str]:
    return [f"d{i:0{len(str(largest))}d}" for i in range(1, largest + 1)]


def _check_count(name: str, value: Any, least: int) -> None:
    if not is_integer(value) or not least <= int(value) <= _MOST:
        raise ValueError(f"{name} must be an integer from {least} to 2^53, not {value!r}")


def _qualities(quality: Any, names: Sequence[str]) -> list[float]:
    if isinstance(quality, Mapping):
        unknown = sorted(set(quality) ^ set(names))
        if unknown:
            raise ValueError(f"quality must name each system once; see {unknown[0]!r}")
        numbers: Floats = np.array([quality[name] for name in names], dtype=np.float64)
    else:
        numbers = np.asarray(quality, dtype=np.float64)
        if numbers.ndim and numbers.shape != (len(names),):
            raise ValueError(f"{numbers.size} qualities for {len(names)} systems; give one for each")
        numbers = np.broadcast_to(numbers, len(names))
    bad = [value for value in numbers.tolist() if not _SMALLEST <= value <= 1 / _SMALLEST]
    if bad:
        raise ValueError(
            f"quality must be a number above 0 (1: a random ranking) within 1e-300 and 1e300, not {bad[0]:g}"
        )
    return numbers.tolist()
