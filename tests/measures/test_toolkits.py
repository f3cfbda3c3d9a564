"""DCG, F1, capped recall and holes, as ranx and BEIR have them; names of other programs."""

from __future__ import annotations

import math

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ir_lexirecall as irl
from ir_lexirecall import DCG, F1, WHAM, R_cap
from ir_lexirecall.data.alignment import align
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.measures.scoring import check_judgments
from ir_lexirecall.measures.scoring import values as values_of
from tests.conftest import CUTOFFS, collections, reference_values

pytestmark = pytest.mark.sparse


def values(measure, qrels, run):
    aligned = align(Judgments.from_qrels(qrels), run)
    return dict(
        zip(
            aligned.judgments.query_ids,
            values_of(measure, aligned).tolist(),
            strict=True,
        )
    )


def of_first(ranking, grades, k):
    """Relevant documents among the first k, the number of relevant ones, and k or the depth."""
    m = sum(grade >= 1 for grade in grades.values())
    top = ranking[:k]
    return sum(grades.get(doc, 0) >= 1 for doc in top), m, len(top) if k is None else k


def f1(ranking, grades, k):
    r, m, documents = of_first(ranking, grades, k)
    if not r:
        return 0.0
    precision, recall = r / documents, r / m
    return 2 * precision * recall / (precision + recall)


def capped_recall(ranking, grades, k):
    r, m, documents = of_first(ranking, grades, k)
    return r / min(documents, m) if r else 0.0


def dcg(ranking, grades, k):
    return math.fsum(
        max(grades.get(doc, 0), 0) / math.log2(i + 1)
        for i, doc in enumerate(ranking[:k], 1)
    )


@pytest.mark.parametrize(
    ("measure", "definition"),
    [(F1, f1), (R_cap, capped_recall), (DCG, dcg)],
    ids=["F1", "R_cap", "DCG"],
)
@given(collections(), CUTOFFS)
def test_they_follow_their_definitions(measure, definition, collection, k):
    qrels, run = collection
    expected = reference_values(definition, qrels, run, k)
    assert values(measure(cutoff=k), qrels, run) == pytest.approx(
        expected, rel=1e-12, abs=1e-14
    )


@given(collections(), st.sampled_from(["log2", "exp-log2"]))
def test_dcg_over_that_of_the_ideal_is_ndcg(collection, kind):
    qrels, run = collection
    ideal = {
        q: {doc: float(g) for doc, g in grades.items()} for q, grades in qrels.items()
    }
    ours = values(DCG(dcg=kind) @ 5, qrels, run)
    best = values(DCG(dcg=kind) @ 5, qrels, ideal)
    ndcg = values(ir_measures.nDCG(dcg=kind) @ 5, qrels, run)
    assert {q: ours[q] / best[q] if best[q] else 0.0 for q in ours} == pytest.approx(
        ndcg
    )


def test_holes_are_unjudged_documents() -> None:
    run = {"q": {"x": 4.0, "a": 3.0, "y": 2.0, "b": 1.0}}
    assert values(irl.Hole @ 3, {"q": {"a": 1, "b": 0}}, run) == {"q": 2 / 3}
    assert str(irl.Hole @ 3) == "Unjudged@3"


def test_a_gain_too_large_for_a_float() -> None:
    judgments = Judgments.from_qrels({"q": {"a": 600}})
    with pytest.raises(
        ValueError, match=r"too large a gain; load the qrels with levels="
    ):
        check_judgments([DCG(dcg="exp-log2")], judgments)


def test_wham_is_mm_of_two_aspects() -> None:
    aspects = {"relevance": 1, "quality": 1, "age": 1}
    with pytest.raises(
        ValueError, match="WHAM is for two aspects, not 3; MM takes any number"
    ):
        WHAM(aspects=aspects).validate_params()
