"""Preferences against brute force: pair by pair, level by level, in exact numbers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st

import ir_lexirecall as irl
from ir_lexirecall._util.lazy import cached_property
from ir_lexirecall.comparison import Comparison
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.preferences import counts
from ir_lexirecall.preferences.functions import NAMES
from ir_lexirecall.preferences.naming import Preference

compare = partial(
    irl.compare, test=irl.SignificanceTest(correction=None), allow_empty=True
)  # no test matters here

# -- random comparisons ------------------------------------------------------------------------------

QUERY_IDS = st.sampled_from(["q1", "q2", "q3", "q10"])
SHARED_QUERY = "q0"
DOC_IDS = st.sampled_from([f"d{number}" for number in range(12)])
GRADES = st.sampled_from([-1, 0, 1, 1, 1, 2, 3])
SCORES = st.integers(0, 3)  # few scores: many ties, which the documents' ids decide
RANKINGS = st.dictionaries(DOC_IDS, SCORES)
JUDGMENTS = st.dictionaries(
    QUERY_IDS, st.dictionaries(DOC_IDS, GRADES, min_size=1), min_size=1
)
RELS = st.sampled_from([0.5, 1, 1, 1, 2, 3])
CUTOFFS = st.none() | st.integers(1, 12)

Runs = dict[str, dict[str, dict[str, float]]]


def similar(ranking: dict[str, float]) -> st.SearchStrategy[dict[str, float]]:
    """The same documents, some of them with another score: rankings that tie on many levels."""
    return st.fixed_dictionaries(
        {doc: st.just(score) | SCORES for doc, score in ranking.items()}
    )


@st.composite
def comparisons(draw: st.DrawFn) -> tuple[dict[str, dict[str, float]], Runs]:
    """Draw judgments and two to four systems that rank alike or not.

    Queries may be unjudged, and a run may lack some. All runs retrieve something for one query
    with a relevant document, because runs that share no query are refused.
    """
    qrels = draw(JUDGMENTS)
    first = {q: draw(RANKINGS) for q in qrels}
    runs = {"first": first, "other": draw(st.dictionaries(QUERY_IDS, RANKINGS))}
    for name in draw(st.sampled_from([(), ("third",), ("third", "fourth")])):
        retrieved = draw(st.sets(st.sampled_from(sorted(qrels))))
        runs[name] = {q: draw(similar(first[q]) | RANKINGS) for q in retrieved}
    qrels[SHARED_QUERY] = draw(st.dictionaries(DOC_IDS, GRADES)) | {"d0": 3}
    for run in runs.values():
        run[SHARED_QUERY] = draw(RANKINGS.filter(bool))
    order = draw(st.permutations(sorted(runs)))
    return qrels, {name: runs[name] for name in order}


# -- preferences by brute force ----------------------------------------------------------------------

Ranks = Sequence[float]  # p_1, ..., p_m, infinite where missing


def sign(number: Any) -> int:
    return (number > 0) - (number < 0)


def lexirecall(a: Ranks, b: Ranks) -> int:
    return next(
        (sign(q - p) for p, q in zip(reversed(a), reversed(b), strict=True) if p != q),
        0,
    )


def lexiprecision(a: Ranks, b: Ranks) -> int:
    return next((sign(q - p) for p, q in zip(a, b, strict=True) if p != q), 0)


def reciprocal(rank: float) -> Fraction:
    return Fraction(0) if rank == math.inf else Fraction(1, int(rank))


def rrlexiprecision(a: Ranks, b: Ranks) -> Fraction:
    return next(
        (reciprocal(p) - reciprocal(q) for p, q in zip(a, b, strict=True) if p != q),
        Fraction(0),
    )


def recall_paired(weight: Callable[[int], Any]) -> Callable[[Ranks, Ranks], Any]:
    def preference(a: Ranks, b: Ranks) -> Any:
        levels = range(1, len(a) + 1)
        ahead = sum(
            weight(i) * ((p < q) - (p > q))
            for i, p, q in zip(levels, a, b, strict=True)
        )
        return ahead / sum(weight(i) for i in levels)

    return preference


BY_RANKS: dict[str, Callable[[Ranks, Ranks], Any]] = {
    "lexirecall": lexirecall,
    "lexiprecision": lexiprecision,
    "rrlexiprecision": rrlexiprecision,
    "rpp": recall_paired(lambda i: Fraction(1)),
    "invrpp": recall_paired(lambda i: Fraction(1, i)),
    "dcgrpp": recall_paired(
        lambda i: 1 / math.log2(i + 1)
    ),  # up to level 12, nothing but 0 adds up to nearly 0
}
MEASURES = ("AP", "P@3", "LR(rel=2)")
PREFERENCES = (*BY_RANKS, "dominance", *MEASURES)


def compared_at(
    rel: float,
    cutoff: int | None,
    qrels: Any,
    runs: Any,
    criteria: Sequence[str] = PREFERENCES,
) -> Comparison:
    """The runs on the queries with documents of grade ``rel``, which is relevant for all preferences."""
    relevant = Judgments.from_qrels(qrels).restricted_to(
        q for q, docs in qrels.items() if max(docs.values(), default=0) >= rel
    )
    by = {
        name: Preference(name, rel=rel, cutoff=cutoff) if name in NAMES else name
        for name in criteria
    }
    return compare(relevant, runs, by)


def test_no_preference_goes_without_brute_force() -> None:
    assert {*BY_RANKS, "dominance"} == set(NAMES)


def dominance(
    a: Sequence[str], b: Sequence[str], grades: dict[str, float], rel: float
) -> int | None:
    """Which ranking has as many documents of every grade or more at every depth; None: neither of the two."""
    thresholds = {grade for grade in grades.values() if grade >= rel}
    counts = [
        [
            sum(doc in grades and grades[doc] >= threshold for doc in ranking[:depth])
            for threshold in thresholds
            for depth in range(1, max(len(a), len(b)) + 1)
        ]
        for ranking in (a, b)
    ]
    at_least = all(x >= y for x, y in zip(*counts, strict=True))
    at_most = all(x <= y for x, y in zip(*counts, strict=True))
    return at_least - at_most if at_least or at_most else None


class BruteForce:
    """Every preference of every pair on every query that takes part, one at a time."""

    def __init__(
        self,
        qrels: dict[str, dict[str, float]],
        runs: Runs,
        rel: float = 1,
        cutoff: int | None = None,
    ):
        self.qrels, self.runs, self.rel = qrels, runs, rel
        self.queries = [q for q in sorted(qrels) if reference.relevant(qrels[q], rel)]
        self.rankings = {
            (name, q): reference.cut(reference.order(run.get(q, {})), cutoff)
            for name, run in runs.items()
            for q in self.queries
        }

    @cached_property
    def values(self) -> dict[str, dict[str, dict[str, float]]]:
        """Values of the measures by system, measure, and query."""
        judgments = Judgments.from_qrels(self.qrels)
        return {
            name: irl.evaluate(MEASURES, judgments, run).to_dict()
            for name, run in self.runs.items()
        }

    def found(self, name: str, q: str) -> list[int]:
        """p_1, ..., p_r."""
        return reference.positions(self.rankings[name, q], self.qrels[q], self.rel)

    def ranks(self, name: str, q: str) -> list[float]:
        """p_1, ..., p_m."""
        found = self.found(name, q)
        return [
            *found,
            *[math.inf] * (reference.relevant(self.qrels[q], self.rel) - len(found)),
        ]

    def preference(self, preference: str, a: str, b: str, q: str) -> Any:
        """An exact number, or None for what is not comparable."""
        if preference == "dominance":
            return dominance(
                self.rankings[a, q], self.rankings[b, q], self.qrels[q], self.rel
            )
        if preference in MEASURES:
            return sign(self.values[a][preference][q] - self.values[b][preference][q])
        return BY_RANKS[preference](self.ranks(a, q), self.ranks(b, q))

    def preferences(self, preference: str, a: str, b: str) -> list[Any]:
        return [self.preference(preference, a, b, q) for q in self.queries]

    def document_at(
        self, name: str, q: str, level: int | None
    ) -> tuple[str | None, int | None]:
        """Document and rank with which a system reaches a recall level, if it does."""
        found = self.found(name, q)
        if level is None or level > len(found):
            return None, None
        return self.rankings[name, q][found[level - 1] - 1], found[level - 1]


def mean(values: Sequence[Any]) -> float:
    """What is not comparable counts as 0."""
    return (
        float(sum(Fraction(value or 0) for value in values) / len(values))
        if values
        else 0.0
    )


def near(expected: Any) -> Any:
    return pytest.approx(expected, rel=0, abs=1e-12)


def assert_near(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(np.asarray(found), expected, rtol=0, atol=1e-12)


def as_float(value: Any) -> float:
    return math.nan if value is None else float(value)


# -- the whole result --------------------------------------------------------------------------------


def tensor_of(compared: Comparison, name: str) -> np.ndarray:
    """Preference of every pair on every query, shape ``(Q, S, S)``; of a measure the sign of its gain."""
    criterion = compared.compared.criterion(name)
    if criterion.is_measure:
        values = criterion.standings.T
        return np.sign(values[:, :, None] - values[:, None, :])
    return criterion.preferences.tensor(name)


@pytest.mark.slow
@given(comparisons(), RELS, CUTOFFS)
def test_wins_losses_ties_and_means_are_those_of_brute_force(comparison, rel, cutoff):
    qrels, runs = comparison
    brute = BruteForce(qrels, runs, rel, cutoff)
    table = compared_at(rel, cutoff, qrels, runs).table()
    pairs = list(itertools.combinations(runs, 2))
    keys = list(zip(table["criterion"], table["run_a"], table["run_b"], strict=True))
    assert keys == [(preference, *pair) for preference in PREFERENCES for pair in pairs]
    for row in table.itertuples():
        values = brute.preferences(row.criterion, row.run_a, row.run_b)
        signs = [None if value is None else sign(value) for value in values]
        expected = [signs.count(outcome) for outcome in (1, -1, 0, None)]
        assert [row.wins, row.losses, row.ties, row.incomparable] == expected, row
        decided = sum(expected)
        assert row.net_wins == near((expected[0] - expected[1]) / max(1, decided)), row
        assert row.criterion in MEASURES or row.difference == near(mean(values)), row


@given(comparisons(), RELS, CUTOFFS)
def test_every_single_preference_is_that_of_brute_force(comparison, rel, cutoff):
    qrels, runs = comparison
    brute = BruteForce(qrels, runs, rel, cutoff)
    compared = compared_at(rel, cutoff, qrels, runs)
    assert compared.compared.criterion().query_ids == brute.queries
    for preference in PREFERENCES:
        values = {
            pair: brute.preferences(preference, *pair)
            for pair in itertools.product(runs, repeat=2)
        }
        by_query = [
            [[as_float(values[a, b][q]) for b in runs] for a in runs]
            for q in range(len(brute.queries))
        ]
        assert_near(
            tensor_of(compared, preference),
            np.reshape(by_query, (-1, len(runs), len(runs))),
        )

        if preference in MEASURES:
            continue
        matrix = compared.matrix(preference)
        assert (list(matrix.index), list(matrix.columns)) == (list(runs), list(runs))
        assert_near(matrix, [[mean(values[a, b]) for b in runs] for a in runs])
        scores = compared.per_query(preference)
        assert (list(scores.index), list(scores.columns)) == (brute.queries, list(runs))
        for q, row in enumerate(scores.to_numpy()):
            assert_near(
                row, [mean([values[a, b][q] for b in runs if b != a]) for a in runs]
            )


@pytest.mark.slow
@given(comparisons(), RELS, CUTOFFS)
def test_explanations_are_those_of_brute_force(comparison, rel, cutoff):
    qrels, runs = comparison
    brute = BruteForce(qrels, runs, rel, cutoff)
    compared = compared_at(rel, cutoff, qrels, runs)
    a, b = list(runs)[:2]
    for preference in PREFERENCES:
        rows = compared.explain(a, b, preference).to_dict("records")
        assert [row["query_id"] for row in rows] == brute.queries
        for row in rows:
            found = {
                name: None if pd.isna(cell) else cell for name, cell in row.items()
            }
            assert found == explanation(brute, preference, a, b, row["query_id"]), (
                preference
            )


def explanation(
    brute: BruteForce, preference: str, a: str, b: str, q: str
) -> dict[str, Any]:
    value = brute.preference(preference, a, b, q)
    winner = {1: a, -1: b}.get(sign(value or 0))
    row = {
        "query_id": q,
        "winner": winner,
        "preference": None if value is None else near(float(value)),
    }
    pairs = list(zip(brute.ranks(a, q), brute.ranks(b, q), strict=True))
    if preference in MEASURES:
        return row | {
            "value_a": brute.values[a][preference][q],
            "value_b": brute.values[b][preference][q],
        }
    if preference in ("rpp", "invrpp", "dcgrpp"):
        return row | {
            "levels_a": sum(x < y for x, y in pairs),
            "levels_b": sum(x > y for x, y in pairs),
        }
    if preference not in ("lexirecall", "lexiprecision", "rrlexiprecision"):
        return row
    differ = [level for level, (x, y) in enumerate(pairs, start=1) if x != y]
    if preference == "lexirecall":
        level = differ[-1] if differ else None
        tied = len(pairs) - level if level else len(pairs)
    else:
        level = differ[0] if differ else None
        tied = level - 1 if level else len(pairs)
    (doc_a, rank_a), (doc_b, rank_b) = (
        brute.document_at(name, q, level) for name in (a, b)
    )
    return row | {
        "level": level,
        "tied_levels": tied,
        "doc_id": doc_a if winner == a else doc_b,
        "rank_a": rank_a,
        "rank_b": rank_b,
        "other_doc_id": doc_b if winner == a else doc_a,
    }


@pytest.mark.slow
@given(comparisons())
def test_results_do_not_depend_on_how_many_preferences_are_held_at_once(comparison):
    at_once = compare(*comparison, PREFERENCES)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counts, "BLOCK", 1)
        in_blocks = compare(*comparison, PREFERENCES)
        for preference in PREFERENCES:
            assert np.array_equal(
                tensor_of(in_blocks, preference),
                tensor_of(at_once, preference),
                equal_nan=True,
            )
        assert in_blocks.table().equals(at_once.table())


# -- exactness ---------------------------------------------------------------------------------------


def run_with(ranks: Sequence[float]) -> dict[str, dict[str, float]]:
    """A run of one query with relevant documents r1, r2, ... at these ranks and others between them."""
    found = [int(rank) for rank in ranks if rank != math.inf]
    documents = {rank: f"other{rank}" for rank in range(1, max(found, default=0) + 1)}
    documents |= {rank: f"r{number}" for number, rank in enumerate(found, start=1)}
    return {"q": {doc: -float(rank) for rank, doc in documents.items()}}


def judged(relevant: int) -> dict[str, dict[str, float]]:
    return {"q": {f"r{number}": 1 for number in range(1, relevant + 1)}}


@pytest.mark.parametrize(
    ("preference", "ahead", "behind", "relevant"),
    [
        ("rpp", [4, 5, 6], [1, 2, 3], 6),
        ("rpp", [1, 2, 4, 6, 8], [3, 5, 7, 9, 10], 10),
        ("invrpp", [1], [2, 3, 6], 6),
        ("invrpp", [2], [3, 6], 12),
        ("invrpp", [3, 6], [2], 6),  # the floats differ by 3e-17
        ("dcgrpp", [1], [3, 7, 63], 63),
        ("dcgrpp", [3], [7, 63], 64),  # by 7e-18
    ],
)
def test_recall_levels_that_cancel_out_are_a_tie(preference, ahead, behind, relevant):
    """1/2 + 1/3 + 1/6 = 1 also where floats say otherwise."""
    levels = range(1, relevant + 1)
    runs = {
        "a": run_with([3 * level + (level in behind) for level in levels]),
        "b": run_with([3 * level + (level in ahead) for level in levels]),
    }
    compared = compare(judged(relevant), runs, preference)
    table = compared.table()
    assert table[["wins", "losses", "ties"]].to_numpy().tolist() == [[0, 0, 1]]
    explained = compared.explain("a", "b").iloc[0]
    assert (explained["winner"], explained["levels_a"], explained["levels_b"]) == (
        None,
        len(ahead),
        len(behind),
    )


PLACEMENTS = st.integers(1, 8).flatmap(
    lambda relevant: st.tuples(
        st.just(relevant),
        st.lists(
            st.lists(st.integers(1, 14), max_size=relevant, unique=True).map(sorted),
            min_size=2,
            max_size=4,
        ),
    )
)
EXPOSURES: dict[str, Callable[[float], Any]] = {
    "1/i": reciprocal,
    "1/log2(i+1)": lambda rank: (
        0.0 if rank == math.inf else 1 / math.log2(rank + 1)
    ),  # falls by far more than rounding
    "0.8^i": lambda rank: (
        Fraction(0) if rank == math.inf else Fraction(4, 5) ** int(rank)
    ),
}


@pytest.mark.parametrize("exposure", EXPOSURES)
@given(PLACEMENTS)
def test_lexirecall_is_leximin_over_all_users_who_look_for_some_relevant_documents(
    exposure, placements
):
    """A user per non-empty subset of the relevant documents, served as well as its last document is exposed.

    The worst-served user decides between two rankings, of equally served ones the next, and so on.
    """
    relevant, rankings = placements
    served = []
    for found in rankings:
        ranks = [*found, *[math.inf] * (relevant - len(found))]
        subsets = itertools.chain.from_iterable(
            itertools.combinations(ranks, size) for size in range(1, relevant + 1)
        )
        served.append(sorted(EXPOSURES[exposure](max(subset)) for subset in subsets))
    runs = {str(number): run_with(found) for number, found in enumerate(rankings)}
    preferences = tensor_of(compare(judged(relevant), runs), "lexirecall")[0]
    leximin = [[(a > b) - (a < b) for b in served] for a in served]
    assert preferences.tolist() == leximin
