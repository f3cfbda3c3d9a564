"""What must hold of the measures for every ranking."""

from __future__ import annotations

import itertools
from typing import Any

import ir_measures
import pytest
import reference
from hypothesis import assume, given
from hypothesis import strategies as st

from ir_lexirecall import (
    CAM,
    CWL_ERR8,
    CWL_ERR9,
    CWL_ERR10,
    CWL_ERR11,
    CWL_RBP,
    LR,
    MM,
    RBU,
    TSE,
)
from ir_lexirecall._util.measure_strings import parse_measure
from tests.conftest import (
    GRADES,
    aspect_collections,
    bases,
    collections,
    in_columns,
    judged,
    placements,
    retrieved,
    subtopic_table,
    values,
    values_of_placements,
    words,
)

MISSING = st.lists(GRADES, min_size=1, max_size=4)


# -- better rankings ---------------------------------------------------------------------------------


def assert_the_exchange_does_not_lower(
    measure: Any, before: dict[str, float], after: dict[str, float], qrels: Any
) -> None:
    lower, higher = (values(measure, qrels, {"q": run})["q"] for run in (before, after))
    rounding = (
        0.0
        if measure.NAME in ("TSE", "LexiRecall")
        else 1e-12 * max(abs(lower), abs(higher))
    )
    assert higher >= lower - rounding


@pytest.mark.sparse
@pytest.mark.parametrize(
    "measure",
    words(
        "TSE TSE(rel=3)@6 TSE(exposure='nDCG',normalize=True) TSE(exposure='RBP',n=100,impute='optimistic')@6 "
        "TSE(exposure='linear',n=100,normalize=True) LR LR(rel=3)@6 LR(form='weighted',n=100) CWL_ERR8(max_rel=4)@6 "
        "CWL_ERR8(max_rel=4,gain='linear')@40 CWL_ERR8(max_rel=4,unjudged='best')@6 CWL_ERR9(max_rel=4)@6 "
        "CWL_ERR9(max_rel=4,gain='linear')@40 CWL_ERR9(max_rel=4,unjudged='best')@6 CWL_ERR10(max_rel=4) "
        "CWL_ERR10(max_rel=4,gain='linear',unjudged='best') CWL_ERR11(max_rel=4) "
        "CWL_ERR11(max_rel=4,gain='linear',unjudged='best') CWL_RBP(max_rel=4) CWL_RBP(max_rel=4,unjudged='best') "
        "ERR@6 RBU RBU(p=1,e=0.5)@6 RBU(p=0.5,gain='linear',normalize=True)"
    ),
)
@given(st.lists(st.none() | GRADES, min_size=2, max_size=12), MISSING, st.data())
def test_exchanging_two_documents_so_that_the_better_comes_first_never_lowers(
    measure, ranking, missing, choice
):
    measure = parse_measure(measure)
    top = 4 if measure.NAME.startswith("CWL") and measure["unjudged"] == "best" else 0
    # At best also what was only pooled, with a negative grade, is worth as much as the top grade.
    worth = [
        top if grade is None or (top and grade < 0) else grade for grade in ranking
    ]
    pairs = [
        (i, j)
        for i, j in itertools.combinations(range(len(ranking)), 2)
        if worth[i] < worth[j]
    ]
    assume(pairs)
    i, j = choice.draw(st.sampled_from(pairs), label="exchanged")
    before = retrieved(ranking)
    after = before | {str(i): before[str(j)], str(j): before[str(i)]}
    assert_the_exchange_does_not_lower(
        measure, before, after, {"q": judged(ranking, missing)}
    )


@pytest.mark.parametrize(
    "measure", [RBU, RBU(p=1, e=0.3) @ 6, RBU(p=0.7, max_rel=5, gain="linear")]
)
@given(st.lists(st.tuples(GRADES, GRADES, GRADES), min_size=2, max_size=12), st.data())
def test_exchanging_two_documents_never_lowers_rbu_if_the_first_is_then_better_in_every_aspect(
    measure, ranking, choice
):
    pairs = [
        (i, j)
        for i, j in itertools.combinations(range(len(ranking)), 2)
        if all(a <= b for a, b in zip(ranking[i], ranking[j], strict=True))
    ]
    assume(pairs)
    i, j = choice.draw(st.sampled_from(pairs), label="exchanged")
    aspects = {
        "q": {
            f"aspect{t}": judged(grades)
            for t, grades in enumerate(zip(*ranking, strict=True))
        }
    }
    before = retrieved([grades[0] for grades in ranking])
    after = before | {str(i): before[str(j)], str(j): before[str(i)]}
    assert_the_exchange_does_not_lower(
        measure, before, after, subtopic_table(aspects, "iteration")
    )


@pytest.mark.parametrize(
    "measure",
    [
        "TSE",
        "LR",
        "CWL_ERR8(max_rel=4)@40",
        "CWL_ERR9(max_rel=4)@40",
        "CWL_ERR11(max_rel=4)",
    ],
)
@given(st.lists(st.none() | GRADES, max_size=12), MISSING)
def test_retrieving_another_document_at_the_end_never_lowers(measure, ranking, missing):
    measure = parse_measure(measure)
    qrels = {"q": judged(ranking, missing)}
    before = retrieved(ranking)
    assert_the_exchange_does_not_lower(
        measure, before, before | {"missing0": -100.0}, qrels
    )


# -- lexicographic recall ----------------------------------------------------------------------------


@given(st.integers(1, 30), st.data())
def test_lexirecall_never_contradicts_the_preference(relevant, draw):
    a, b = (draw.draw(placements(relevant), label=name) for name in "ab")
    lr_a, lr_b = values_of_placements(LR, relevant, a, b)
    preference = reference.lexirecall_preference(a, b)
    assert (lr_a > lr_b) - (lr_a < lr_b) in (0, preference)


@given(st.integers(1, 30), st.data())
def test_lexirecall_refines_recall_and_tse(relevant, draw):
    a, b = (draw.draw(placements(relevant), label=name) for name in "ab")
    lr_a, lr_b = values_of_placements(LR, relevant, a, b)
    tse_a, tse_b = values_of_placements(TSE, relevant, a, b)
    if len(a) > len(b):
        assert lr_a > lr_b
        assert tse_a >= tse_b
    if tse_a > tse_b:
        assert lr_a >= lr_b


@given(st.integers(1, 30), st.data())
def test_lexirecall_lies_above_r_and_up_to_r_plus_1_of_m_plus_1(relevant, draw):
    ranks = draw.draw(placements(relevant))
    (lr,) = values_of_placements(LR, relevant, ranks)
    r, m = len(ranks), relevant
    if r == 0:
        assert lr == 0
    else:
        assert r / (m + 1) < lr <= (r + 1) / (m + 1)
        assert (lr == (r + 1) / (m + 1)) == (ranks == list(range(1, r + 1)))


# -- total search efficiency -------------------------------------------------------------------------


@given(collections(st.just(0)), st.data())
def test_tse_of_one_relevant_document_is_its_reciprocal_rank_in_trec_eval(
    collection, draw
):
    pytest.importorskip("pytrec_eval")
    judgments, run = collection
    qrels = {}
    for query_id, grades in judgments.items():
        relevant = draw.draw(
            st.sampled_from(sorted(grades)), label=f"relevant document of {query_id}"
        )
        qrels[query_id] = grades | {relevant: 1}
    rankings = {query_id: scores for query_id, scores in run.items() if scores}
    expected = {
        m.query_id: m.value
        for m in ir_measures.pytrec_eval.iter_calc([ir_measures.RR], qrels, rankings)
    }
    assert values(TSE, qrels, run) == expected


# -- C/W/L -------------------------------------------------------------------------------------------

CWL = [
    CWL_ERR8(max_rel=4) @ 20,
    CWL_ERR9(max_rel=4) @ 20,
    CWL_ERR10(max_rel=4),
    CWL_ERR11(max_rel=4),
    CWL_RBP(max_rel=4),
]


@pytest.mark.sparse
@pytest.mark.parametrize("gain", ["exp", "linear"])
@pytest.mark.parametrize("measure", CWL)
@given(collections())
def test_unjudged_documents_are_worth_least_at_worst_and_most_at_best(
    measure, gain, collection
):
    worst = values(measure(gain=gain, unjudged="worst"), *collection)
    best = values(measure(gain=gain, unjudged="best"), *collection)
    assert all(0 <= worst[q] <= best[q] * (1 + 1e-12) for q in worst)
    assert all(value <= 1 for value in best.values())


# -- several aspects ---------------------------------------------------------------------------------


@pytest.mark.slow
@given(aspect_collections(), bases(), st.sampled_from([None, "half"]), st.data())
def test_mm_is_at_most_cam_and_both_lie_between_the_bases_of_the_aspects(
    collection, base, binarize, draw
):
    scales, judgments, run = collection
    shared = {**base[0], "binarize": binarize}
    weights = draw.draw(
        st.fixed_dictionaries({name: st.sampled_from([0.5, 1, 7]) for name in scales}),
        label="weights",
    )
    qrels = in_columns(judgments)
    of_aspects = [
        values(CAM(aspects={name: scale}, **shared), qrels, run)
        for name, scale in scales.items()
    ]
    cam, mm = (
        values(mean(aspects=scales, weights=weights, **shared), qrels, run)
        for mean in (CAM, MM)
    )
    up = 1 + 1e-12
    for q in judgments:
        lowest, highest = (
            extreme(scores[q] for scores in of_aspects) for extreme in (min, max)
        )
        assert lowest <= mm[q] * up <= cam[q] * up**2 <= highest * up**3
