"""Measures of novelty with graded gains: term by term from their definitions, known values, and peers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ir_lexirecall import (
    ACT,
    CT,
    DCG,
    EU,
    IA,
    NRBP_G,
    SRR,
    P_at_Recall,
    alpha_DCG_IA,
    alpha_nDCG_G,
    nDCU,
)
from tests.conftest import CUTOFFS, reference_values, subtopic_collections
from tests.measures.test_diversity import (
    EFFORTS,
    GAINS,
    MAX_REL,
    RELS,
    SATURATIONS,
    SHARES,
    WEIGHTS,
    close,
    ct,
    eu,
    gains_of,
    table,
    values,
    weights_of,
)

pytestmark = pytest.mark.sparse

OF_GAINS = {"cutoff": CUTOFFS, "alpha": SHARES, "gain": GAINS, "max_rel": MAX_REL}


def act(ranking, subtopics, weights, cutoff, **parameters):
    """Mean of the cube test cut off at every rank that is read."""
    read = len(ranking[:cutoff])
    at_each = [
        ct(ranking, subtopics, weights, i, **parameters) for i in range(1, read + 1)
    ]
    return math.fsum(at_each) / read if read else 0.0


def new_gain(
    doc: str, before: list[str], r: Mapping[str, Mapping[str, float]], w, alpha
) -> float:
    """Gain of a document after others, over the subtopics with weights ``w``."""
    return sum(
        w[t] * r[t].get(doc, 0) * (1 - alpha) ** sum(d in r[t] for d in before)
        for t in sorted(r)
    )


def novelty(
    ranking: list[str],
    r: Mapping[str, Mapping[str, float]],
    w: Mapping[str, float],
    alpha: float,
    discount: Callable[[int], float],
) -> float:
    return math.fsum(
        discount(i) * new_gain(doc, ranking[: i - 1], r, w, alpha)
        for i, doc in enumerate(ranking, start=1)
    )


def greedy(
    r: Mapping[str, Mapping[str, float]], w: Mapping[str, float], alpha: float
) -> list[str]:
    """The document of the largest gain next; of equal ones, that with the last id."""
    left, ranking = {doc for grades in r.values() for doc in grades}, []
    while left:
        best = max(
            left, key=lambda doc: (new_gain(doc, ranking, r, w, alpha), doc.encode())
        )
        left.remove(best)
        ranking.append(best)
    return ranking


def logarithmic(rank: int) -> float:
    return 1 / math.log2(rank + 1)


def alpha_dcg_ia(ranking, subtopics, weights, cutoff, alpha, gain, max_rel):
    r, w = gains_of(subtopics, gain, max_rel), weights_of(subtopics, weights)
    known = {t: r[t] for t in w}
    return novelty(list(ranking[:cutoff]), known, w, alpha, logarithmic)


def nrbp_g(ranking, subtopics, weights, cutoff, p, alpha, gain, max_rel):
    r = gains_of(subtopics, gain, max_rel)
    return novelty(
        list(ranking[:cutoff]),
        r,
        dict.fromkeys(r, 1),
        alpha,
        lambda rank: p ** (rank - 1),
    )


def p_at_recall(ranking, subtopics, weights, cutoff, rel, form):
    wanted = {t for t, grades in subtopics.items() if max(grades.values()) >= rel}
    seen: set[str] = set()
    worth = 0.0
    for i, doc in enumerate(ranking[:cutoff], start=1):
        about = {t for t in wanted if subtopics[t].get(doc, -math.inf) >= rel}
        new = about - seen
        seen |= about
        if about and form == "subtopics":
            worth += len(new) / len(about)
        elif new:
            worth += 1
        if seen == wanted or i == len(ranking[:cutoff]):
            return worth / i if wanted else 0.0
    return 0.0


DEFINITIONS = {
    "ACT": (ACT, act, {**OF_GAINS, "saturation": SATURATIONS}),
    "alpha_DCG_IA": (alpha_DCG_IA, alpha_dcg_ia, OF_GAINS),
    "NRBP_G": (NRBP_G, nrbp_g, {**OF_GAINS, "p": st.sampled_from([0, 0.5, 0.8, 1])}),
    "P_at_Recall": (
        P_at_Recall,
        p_at_recall,
        {
            "cutoff": CUTOFFS,
            "rel": RELS,
            "form": st.sampled_from(["documents", "subtopics"]),
        },
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", DEFINITIONS)
@given(subtopic_collections(), WEIGHTS, st.data())
def test_measures_of_novelty_follow_their_definitions(name, collection, weights, data):
    (judgments, run), (measure, definition, strategies) = collection, DEFINITIONS[name]
    params = data.draw(st.fixed_dictionaries(strategies))
    expected = reference_values(definition, judgments, run, weights, **params)
    assert values(measure(**params), table(judgments, weights), run) == close(expected)


def powers_of_two(judgments):
    """Grades whose linear gains are exact, so that equal gains are equal in any order of adding."""
    return {
        q: {
            t: {doc: min(2 ** int(max(g, 0)) // 2, 4) for doc, g in grades.items()}
            for t, grades in of.items()
        }
        for q, of in judgments.items()
    }


@given(subtopic_collections(), CUTOFFS, st.sampled_from([0, 0.5, 1]))
def test_graded_alpha_ndcg_is_its_sum_over_that_of_the_greedy_ideal(
    collection, k, alpha
):
    judgments, run = powers_of_two(collection[0]), collection[1]

    def definition(ranking, subtopics):
        r = gains_of(subtopics, "linear", 4)
        w = dict.fromkeys(r, 1)
        ideal = novelty(greedy(r, w, alpha)[:k], r, w, alpha, logarithmic)
        return (
            novelty(list(ranking[:k]), r, w, alpha, logarithmic) / ideal
            if ideal
            else 0.0
        )

    measure = alpha_nDCG_G(alpha=alpha, gain="linear", max_rel=4, cutoff=k)
    assert values(measure, table(judgments), run) == close(
        reference_values(definition, judgments, run)
    )


@given(subtopic_collections(), CUTOFFS, st.sampled_from([0, 0.5, 1]), EFFORTS)
def test_ndcu_is_expected_utility_over_that_of_the_greedy_ideal(
    collection, k, alpha, e
):
    judgments, run = powers_of_two(collection[0]), collection[1]
    options = {"alpha": alpha, "e": e, "gain": "linear", "max_rel": 4}

    def definition(ranking, subtopics):
        w = weights_of(subtopics, None)
        r = {
            t: grades
            for t, grades in gains_of(subtopics, "linear", 4).items()
            if t in w
        }
        order = greedy(r, w, alpha)
        worthwhile = [
            doc
            for i, doc in enumerate(order)
            if new_gain(doc, order[:i], r, w, alpha) > e
        ]
        ideal = eu(worthwhile, subtopics, None, k, **options) if worthwhile else 0.0
        return eu(ranking, subtopics, None, k, **options) / ideal if ideal > 0 else 0.0

    assert values(nDCU(cutoff=k, **options), table(judgments), run) == pytest.approx(
        reference_values(definition, judgments, run), rel=1e-9, abs=1e-9
    )


SUBTOPICS = {"1": {"a": 2, "b": 1}, "2": {"b": 2, "c": 1}}
RUN = {"q": {"c": 4.0, "a": 3.0, "x": 2.0, "b": 1.0}}


def test_binary_judgments_without_a_cutoff_give_ndevals_values() -> None:
    binary = {t: dict.fromkeys(grades, 1) for t, grades in SUBTOPICS.items()}
    qrels = table({"q": binary})
    ours = values(alpha_nDCG_G(gain="linear") @ 10, qrels, RUN)
    assert ours == close(values(ir_measures.alpha_nDCG @ 10, qrels, RUN))
    ours = values(NRBP_G(gain="linear", p=0.5), qrels, RUN)["q"] * (1 - 0.5 * 0.5) / 2
    assert {"q": ours} == close(values(ir_measures.NRBP, qrels, RUN))


def test_alpha_0_is_the_intent_aware_form_of_dcg() -> None:
    qrels = table({"q": SUBTOPICS}, {"1": 0.7, "2": 0.3})
    ours = values(alpha_DCG_IA(alpha=0, gain="linear", max_rel=2) @ 3, qrels, RUN)["q"]
    assert {"q": 2 * ours} == close(values(IA(base="DCG") @ 3, qrels, RUN))
    assert isinstance(DCG, ir_measures.measures.Measure)


def test_the_best_order_of_documents_has_ndcu_1_and_act_lies_below_ct() -> None:
    qrels = table({"q": SUBTOPICS})
    best = {"q": {"b": 3.0, "a": 2.0, "c": 1.0}}
    assert values(nDCU(e=0.01), qrels, best)["q"] == pytest.approx(1)
    assert 0 < values(ACT @ 4, qrels, RUN)["q"] < values(CT @ 4, qrels, RUN)["q"]
    assert (
        values(EU(e=0.3) @ 4, qrels, RUN)["q"]
        < 0
        > values(nDCU(e=0.3) @ 4, qrels, RUN)["q"]
    )


def test_precision_at_recall_ends_where_everything_is_covered() -> None:
    qrels = table({"q": SUBTOPICS})
    assert values(SRR(), qrels, RUN) == {"q": 1 / 2}
    assert values(P_at_Recall(), qrels, RUN) == {"q": 1.0}  # c, then a: each is new
    late = {
        "q": {"x": 4.0, "c": 3.0, "y": 2.0}
    }  # never covered: one new document of three
    assert values(P_at_Recall(), qrels, late) == close({"q": 1 / 3})


def test_no_document_is_worth_its_effort() -> None:
    qrels = table({"q": SUBTOPICS})
    assert values(nDCU(e=2), qrels, RUN) == {"q": 0.0}
