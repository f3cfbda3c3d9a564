"""Made-up rankings, scored by any measure at once: one ranking is one query.

And random ones, drawn without building permutations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from ir_measures.measures.base import Measure as IRMeasure
from numpy.typing import NDArray

from ir_lexirecall._util.arrays import Floats, Ints, position_in_segment
from ir_lexirecall._util.errors import check_integer, check_number, entry
from ir_lexirecall._util.lazy import cached_property
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.lazy import polars as pl
from ir_lexirecall._util.progress import progress_bar
from ir_lexirecall.data.aligned_run import AlignedRun
from ir_lexirecall.data.alignment import portions
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.data.qrels import AspectRows
from ir_lexirecall.measures import scoring

Label = int | tuple[int, ...]
"""Of a document: its grade, or its grade for each of several aspects."""


class Ranking(NamedTuple):
    """A ranking of judged documents, and the judged documents of the same topic that it lacks."""

    retrieved: tuple[Label, ...]  # at each rank
    missing: tuple[Label, ...] = ()
    depth: int = 0  # at which the value is taken; 0: that of the whole ranking

    def at(self, depth: int) -> Ranking:
        """Return the ranking, to be scored at a depth."""
        return self._replace(depth=depth)

    def below(self, above: tuple[Label, ...]) -> Ranking:
        """Return the ranking with documents on top of it, at a depth that is as much larger."""
        depth = self.depth + len(above) if self.depth else 0
        return Ranking(above + self.retrieved, self.missing, depth)

    @property
    def size(self) -> int:
        """Judged documents of the topic."""
        return len(self.retrieved) + len(self.missing)

    @property
    def highest(self) -> int:
        """The highest grade of any of them, for any aspect."""
        labels: Any = (*self.retrieved, *self.missing)
        highest = max(labels)
        if isinstance(highest, tuple):
            return max(map(max, labels))
        return highest

    def __str__(self) -> str:
        """Return labels from rank 1 on, and behind a bar those of missing documents.

        Four or more equal ones in a row are counted.
        """
        words: list[str] = []
        for labels in (self.retrieved, self.missing):
            if labels and labels is self.missing:
                words.append("|")
            for label, alike in groupby(labels):
                count = len(list(alike))
                if isinstance(label, int):
                    word = str(label)
                else:
                    word = "+".join(map(str, label))
                if count > 3:
                    words.append(f"{word}x{count}")
                else:
                    words += [word] * count
        depth = ""
        if self.depth:
            depth = f" at depth {self.depth}"
        return f"[{' '.join(words)}]{depth}"


def made_up_run(
    query: Ints,
    rank: Ints,
    grade: Floats,
    depth: Ints,
    *,
    columns: Sequence[str] = (),
    weights: Sequence[float] = (),
) -> AlignedRun:
    """Rankings, given by where their judged documents stand.

    Args:
        query: ranking (0, 1, ...) of each judged document, ascending; every ranking has at least
            one.
        rank: its rank, ascending within a ranking; 0 for the documents that the ranking lacks,
            which come last.
        grade: its grade, shape ``(D,)``, or its grade for each of T aspects, shape ``(D, T)``.
        depth: documents retrieved by each ranking, shape ``(Q,)``.
        columns: names of the T aspects, to make them columns of the qrels; without, they are
            subtopics.
        weights: of the T subtopics; without, equal.
    """
    query_ids = _names(np.arange(len(depth)))
    first = np.searchsorted(query, query)
    doc_ids = _names(np.arange(len(query)) - first)
    grade = grade.astype(np.float64)
    if grade.ndim == 1:
        top = grade
    else:
        top = grade.max(axis=1)
    judgments = Judgments(query_ids.tolist(), query, doc_ids.tolist(), top)
    if columns:
        aspects = dict(zip(columns, grade.T, strict=True))
        judgments = judgments.with_grades(aspects.pop("relevance", top))
        judgments = judgments.with_labels(aspects)
    elif grade.ndim > 1:  # subtopics: T rows per document
        row, subtopics = np.arange(grade.size), grade.shape[1]
        doc, subtopic = np.divmod(row, subtopics)
        names = [f"t{t}" for t in _names(np.arange(subtopics))]
        further = {
            "weight": pl.Series(
                np.array(weights or [1.0] * subtopics, dtype=np.float64)[subtopic]
            )
        }
        judgments = replace(
            judgments,
            table=AspectRows(doc, subtopic, grade.ravel(), names, further, row, row),
        )
    there = np.flatnonzero(rank > 0)
    return AlignedRun(
        judgments, query=query[there], doc=there, rank=rank[there], depth=depth
    )


def _names(numbers: Ints) -> NDArray[Any]:
    """Numbers as texts of equal length, which sort as the numbers do."""
    most = int(numbers.max(initial=0))
    width = len(str(most))
    return np.array([f"{i:0{width}d}" for i in range(most + 1)], dtype=object)[numbers]


def values(
    measure: IRMeasure, rankings: Sequence[Ranking], *, weights: Sequence[float] = ()
) -> Floats:
    """Return the values of a measure for rankings whose labels are all of one kind.

    For a measure with named aspects (``TOMA``, ``CAM``, ``MM``), label 0 is an aspect's lowest
    label and 1 its top one; a label that is one number means it for every aspect.
    """
    depth = np.array([len(ranking.retrieved) for ranking in rankings], dtype=np.int64)
    size = np.array([ranking.size for ranking in rankings], dtype=np.int64)
    ends = aspect_ends(measure)
    parts = [np.zeros(0)]
    for block, _ in portions(size):
        query = np.repeat(np.arange(block.stop - block.start), size[block])
        rank = position_in_segment(query) + 1
        labels = np.array(
            [x for r in rankings[block] for x in (*r.retrieved, *r.missing)],
            dtype=np.float64,
        )
        if ends:
            if labels.ndim == 1:
                labels = labels[:, None]
            lowest, highest = np.array(list(ends.values()), dtype=np.float64).T
            labels = np.where(labels > 0, highest, lowest)
        rank = np.where(rank <= depth[block][query], rank, 0)
        run = made_up_run(
            query, rank, labels, depth[block], columns=list(ends), weights=weights
        )
        parts.append(scoring.values(measure, run))
    return np.concatenate(parts)


def at_depth(
    measure: IRMeasure, rankings: Sequence[Ranking], depth: int
) -> tuple[IRMeasure, Sequence[Ranking]]:
    """Return the measure cut at a depth; one that cannot be cut, and what it sees of the rankings.

    >>> import ir_measures
    >>> at_depth(ir_measures.P @ 9, [Ranking((0, 1, 1))], 2)
    (P@2, [Ranking(retrieved=(0, 1, 1), missing=(), depth=0)])
    >>> at_depth(ir_measures.Rprec, [Ranking((0, 1, 1))], 2)[1]
    [Ranking(retrieved=(0, 1), missing=(1,), depth=0)]
    """
    if not depth:
        return measure, rankings
    if "cutoff" in measure.SUPPORTED_PARAMS and "base" not in measure.SUPPORTED_PARAMS:
        return measure(cutoff=depth), rankings
    cut = [
        Ranking(each.retrieved[:depth], (*each.retrieved[depth:], *each.missing))
        for each in rankings
    ]
    return measure, cut


def aspect_ends(measure: IRMeasure) -> dict[str, tuple[float, float]]:
    """Return the lowest and highest label of each aspect that the measure names."""
    if "aspects" not in measure.SUPPORTED_PARAMS:
        return {}
    ends = {}
    for name, scale in measure["aspects"].items():
        if isinstance(scale, dict):
            ends[name] = (min(scale), max(scale))
        else:
            ends[name] = (0, scale)
    return ends


_MOST = 2**53  # documents: ranks that floats tell apart
# Scores are compared as 32-bit floats: whole numbers up to here differ.
_DEEPEST = 2**24


@dataclass(frozen=True)
class SimulatedRankings:
    """Simulated rankings, in the forms that studies and evaluation take.

    Attributes:
        judgments: the relevant documents of all queries.
        aligned: where they stand in every run, by its name. ``judgments`` and ``aligned`` go into
            the studies of this package as ``qrels`` and ``runs``, and cost no more than the
            relevant documents.
    """

    judgments: Judgments
    aligned: dict[str, AlignedRun]

    @cached_property
    def qrels(self) -> pd.DataFrame:
        """Return the relevant documents as a table: ``query_id``, ``doc_id``, ``relevance``."""
        return self.judgments.for_ir_measures().drop(columns="iteration")

    @property
    def runs(self) -> dict[str, pd.DataFrame]:
        """Return runs as tables with a row for each retrieved document.

        Their columns are ``query_id``, ``doc_id`` and ``score``.

        Raises:
            ValueError: the rankings are so deep that 32-bit scores cannot order them; ``aligned``
                still serves.
        """
        deepest = max(int(run.depth.max(initial=0)) for run in self.aligned.values())
        if deepest > _DEEPEST:
            raise ValueError(
                f"runs: rankings of {deepest} documents are deeper than 32-bit scores can order "
                f"({_DEEPEST}); use aligned"
            )
        return {
            name: pd.DataFrame(run.as_run("x")) for name, run in self.aligned.items()
        }


@entry
def simulate_rankings(
    n: int,
    m: int | range,
    depth: int,
    queries: int,
    systems: int | Mapping[str, float] = 2,
    *,
    seed: int = 0,
) -> SimulatedRankings:
    """Simulate rankings of n documents, m of them relevant, by systems of a given quality.

    A ranking is drawn from the top: whatever is left, each relevant document is ``quality`` times
    as likely to come next as each other one (Plackett and Luce). So a relevant document stands
    above another one with probability quality / (quality + 1): 1 is a random ranking, above 1 a
    better one, below 1 a worse one; and of the first k documents, as many are relevant as
    Wallenius' noncentral hypergeometric distribution says.

    No permutation is built: a relevant document arrives at an exponential time of rate ``quality``,
    another one of rate 1, so that between two relevant arrivals a binomial number of the others
    arrives. Time and memory grow with queries, systems and m, not with n.

    Args:
        n: size of the collection, up to 10^9 and more.
        m: relevant documents of each query; or a ``range``, from which each query's number is drawn
            uniformly.
        depth: how many documents a system retrieves; what is ranked below is lost.
        queries: how many.
        systems: how many random ones (``s1``, ``s2``, ...), or names with the quality of each, at
            least 1e-300.
        seed: of the random numbers.

    Returns:
        ``SimulatedRankings``: ``judgments`` and ``aligned`` for the studies of this package,
        ``qrels`` and ``runs`` as tables for ``evaluate`` and ``compare``.

    Raises:
        ValueError: a number out of range.

    >>> rankings = simulate_rankings(
    ...     10**9, m=3, depth=10**9, queries=2, systems={"good": 5, "bad": 1}, seed=1
    ... )
    >>> {name: len(run.rank) for name, run in rankings.aligned.items()}
    {'good': 6, 'bad': 6}
    >>> from ir_lexirecall import compare
    >>> few = simulate_rankings(
    ...     100, m=range(2, 9), depth=50, queries=30, systems={"good": 20, "bad": 1}
    ... )
    >>> bool(compare(few.qrels, few.runs).table()["wins"][0] > 20)
    True
    """
    check_integer("n", n, most=_MOST)
    check_integer("depth", depth, most=_MOST)
    check_integer("queries", queries, most=_MOST)
    check_integer("seed", seed, least=0, most=_MOST)
    ends: tuple[int | range, ...] = (m,)
    if isinstance(m, range) and len(m):
        ends = m[0], m[-1]
    for number in ends:
        check_integer("m", number, most=n)
    if isinstance(systems, Mapping):
        qualities = {
            str(name): check_number(f"quality of {name}", q, least=1e-300)
            for name, q in systems.items()
        }
    else:
        qualities = {
            f"s{i}": 1.0 for i in range(1, check_integer("systems", systems) + 1)
        }
    depth = min(depth, n)
    rng = np.random.default_rng(seed)
    if isinstance(m, range):
        relevant = np.asarray(m)[rng.integers(len(m), size=queries)]
    else:
        relevant = np.full(queries, m)
    # Ids sort as their numbers do.
    query_ids = [f"q{q:0{len(str(queries))}d}" for q in range(1, queries + 1)]
    query = np.repeat(np.arange(queries), relevant)
    most = int(relevant.max())
    numbered = pl.Series(
        [f"d{i:0{len(str(most))}d}" for i in range(1, most + 1)], dtype=pl.String
    )
    judgments = Judgments(
        query_ids,
        query,
        numbered.gather(position_in_segment(query)),
        np.ones(len(query)),
    )
    first = np.cumsum(relevant) - relevant
    aligned = {}
    for name, quality in progress_bar(None, qualities.items(), desc="simulated runs"):
        doc, rank = positions(rng, n, relevant, quality)
        query, level = np.nonzero(rank <= depth)
        rows, ranks = first[query] + doc[query, level], rank[query, level]
        aligned[name] = AlignedRun(
            judgments, query=query, doc=rows, rank=ranks, depth=np.full(queries, depth)
        )
    return SimulatedRankings(judgments, aligned)


def positions(
    rng: np.random.Generator, n: int, m: Ints, quality: float
) -> tuple[Ints, Ints]:
    """Return the relevant documents of each query by rank, and the ranks; shape ``(Q, max m)``.

    Of a query with fewer relevant documents, the places beyond m have ranks beyond every
    collection.
    """
    levels = np.arange(int(m.max()))
    there = levels < m[:, None]
    arrival = np.where(there, rng.exponential(1 / quality, size=there.shape), np.inf)
    doc = np.argsort(arrival, axis=1)
    in_order = np.take_along_axis(arrival, doc, axis=1)
    before = np.concatenate([np.zeros((len(m), 1)), in_order[:, :-1]], axis=1)
    wait = np.where(there, in_order, 0.0) - np.where(there, before, 0.0)
    # Probability that another document arrives within the wait.
    passed = -np.expm1(-wait)
    rank = np.full(there.shape, np.iinfo(np.int64).max)
    others = np.zeros(len(m), dtype=np.int64)  # that have arrived
    for i in levels:
        others += rng.binomial(n - m - others, passed[:, i])
        rank[:, i] = np.where(there[:, i], others + i + 1, rank[:, i])
    return doc, rank
