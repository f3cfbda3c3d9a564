"""Small collections, and what every judging of their unjudged documents makes of two runs: slow and obvious."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

import numpy as np
from hypothesis import strategies as st
from ir_measures.measures.base import Measure

from ir_lexirecall.data.alignment import align
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.measures.scoring import values
from ir_lexirecall.preferences.counts import PreferenceCounts

DOCS = [f"d{i}" for i in range(9)]


@dataclass(frozen=True)
class Small:
    """A few queries, two rankings of each, and some judgments.

    Attributes:
        qrels: grades by query and document.
        rankings: documents of both rankings, in order, by query.
        max_rel: top grade.
        depth: down to which rank of either ranking unjudged documents are open.
        extra: relevant documents, at most, that neither ranking holds.
    """

    qrels: Mapping[str, Mapping[str, int]]
    rankings: Mapping[str, tuple[list[str], list[str]]]
    max_rel: int
    depth: int
    extra: int

    @property
    def runs(self) -> dict[str, dict[str, dict[str, float]]]:
        return {
            name: {
                q: {doc: -float(i) for i, doc in enumerate(pair[s])}
                for q, pair in self.rankings.items()
            }
            for s, name in enumerate("ab")
        }

    @property
    def is_comparable(self) -> bool:
        """Whether the rankings share a query, or one has none: ``compare`` refuses others."""
        first, second = (
            {q for q, pair in self.rankings.items() if pair[s]} for s in (0, 1)
        )
        return not first or not second or bool(first & second)

    def open_docs(self, query: str, only: int | None = None) -> list[str]:
        pair = self.rankings[query] if only is None else [self.rankings[query][only]]
        top = sorted({doc for ranking in pair for doc in ranking[: self.depth]})
        return [doc for doc in top if self.qrels[query].get(doc, -1) < 0]

    def judgings(self, query: str, only: int | None = None) -> list[dict[str, int]]:
        """All judgments of a query that may come of today's."""
        docs = [
            *self.open_docs(query, only),
            *(f"elsewhere{i}" for i in range(self.extra)),
        ]
        grades = range(self.max_rel + 1)
        return [
            {**self.qrels[query], **dict(zip(docs, choice, strict=True))}
            for choice in product(grades, repeat=len(docs))
        ]


def comparable_collections(most_open: int = 5) -> st.SearchStrategy[Small]:
    """Collections whose two runs ``compare`` takes."""
    return small_collections(most_open=most_open).filter(
        lambda small: small.is_comparable
    )


@st.composite
def small_collections(draw: st.DrawFn, extra: int = 0, most_open: int = 5) -> Small:
    """Collections whose queries have at most so many open documents."""
    max_rel = draw(st.integers(1, 2))
    qrels, rankings = {}, {}
    depth = draw(st.integers(1, 7))
    for q in map(str, range(draw(st.integers(1, 4)))):
        order_a, order_b = draw(st.permutations(DOCS)), draw(st.permutations(DOCS))
        pair = order_a[: draw(st.integers(0, 7))], order_b[: draw(st.integers(0, 7))]
        top = sorted({*pair[0][:depth], *pair[1][:depth]})
        unjudged = (
            draw(st.lists(st.sampled_from(top), max_size=most_open, unique=True))
            if top
            else []
        )
        judged = [doc for doc in DOCS if doc not in unjudged]
        grades = st.sampled_from([0, 0, 0, 1, max_rel])
        # A negative grade says that a document was pooled, but not judged.
        pooled = draw(st.sets(st.sampled_from(unjudged))) if unjudged else set()
        qrels[q] = {doc: draw(grades) for doc in judged} | dict.fromkeys(
            sorted(pooled), -1
        )
        rankings[q] = (list(pair[0]), list(pair[1]))
    return Small(qrels, rankings, max_rel, depth, draw(st.integers(0, extra)))


class EveryJudging:
    """Every judging of every query of a collection, as queries of one large collection.

    It is read and aligned once for all measures and preferences; with ``only``, the judgings are of
    the documents of that run.
    """

    def __init__(self, small: Small, only: int | None = None) -> None:
        qrels: dict[str, Mapping[str, int]] = {}
        runs: dict[str, dict[str, dict[str, float]]] = {name: {} for name in small.runs}
        names: dict[str, list[str]] = {}
        for query in small.qrels:
            names[query] = []
            for number, judging in enumerate(small.judgings(query, only)):
                name = f"{query}/{number}"
                names[query].append(name)
                qrels[name] = judging
                for run, rankings in small.runs.items():
                    runs[run][name] = rankings[query]
        self.judgments = Judgments.from_qrels(qrels)
        self.runs = {
            run: align(self.judgments, rankings) for run, rankings in runs.items()
        }
        self.places = {
            query: [self.judgments.place[name] for name in every]
            for query, every in names.items()
        }

    def values(self, measure: Measure) -> dict[str, np.ndarray]:
        """Values of both runs under every judging, shape ``(2, judgings)``, by query."""
        return self._by_query(
            np.stack([values(measure, run) for run in self.runs.values()])
        )

    def preferences(
        self, name: str, cutoff: int | None = None
    ) -> dict[str, np.ndarray]:
        """Preferences of a over b under every judging that has a relevant document, by query."""
        counts = PreferenceCounts(self.runs, 1, cutoff)
        preferences = np.zeros(len(self.judgments))
        preferences[counts.queries] = counts.of_pair(name, 0, 1)
        return self._by_query(preferences)

    def _by_query(self, array: np.ndarray) -> dict[str, np.ndarray]:
        return {query: array[..., places] for query, places in self.places.items()}
