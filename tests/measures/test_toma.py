"""TOMA, CAM, MM and their base measures against their definitions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import ir_measures
import pandas as pd
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st

from ir_lexirecall import CAM, MM, TOMA
from ir_lexirecall._util.measure_strings import parse_measure
from tests.conftest import (
    PROVIDER,
    aspect_collections,
    bases,
    in_columns,
    reference_values,
    values,
    words,
)


def in_rows(judgments: Mapping[str, Any]) -> pd.DataFrame:
    """Qrels with a row per document and aspect."""
    rows = [
        (q, doc, aspect, grade)
        for q, docs in judgments.items()
        for doc, label in docs.items()
        for aspect, grade in label.items()
    ]
    return pd.DataFrame(rows, columns=["query_id", "doc_id", "iteration", "relevance"])


def graded(grades: Mapping[str, Mapping[str, float]]) -> pd.DataFrame:
    """Qrels with one grade per document."""
    rows = [
        (q, doc, grade) for q, docs in grades.items() for doc, grade in docs.items()
    ]
    return pd.DataFrame(rows, columns=["query_id", "doc_id", "relevance"])


LAYOUTS = pytest.mark.parametrize("layout", [in_columns, in_rows])
DISTANCES = st.sampled_from(["euclidean", "manhattan", "chebyshev"])


@pytest.mark.sparse
@LAYOUTS
@given(
    aspect_collections(),
    bases(),
    DISTANCES,
    st.sampled_from(["half", "any", 1, 2, 5]),
    st.data(),
)
def test_toma_scores_the_places_of_the_label_tuples(
    layout, collection, base, distance, binarize, more
):
    scales, judgments, run = collection
    ours, theirs = base
    shared = {
        "aspects": scales,
        "distance": distance,
        "gate": more.draw(st.none() | st.sampled_from(sorted(scales)), label="gate"),
        "binarize": binarize,
    }
    expected = reference_values(reference.toma, judgments, run, **shared, **theirs)
    assert values(TOMA(**shared, **ours), layout(judgments), run) == pytest.approx(
        expected, rel=1e-12
    )


@pytest.mark.slow_except("CAM-cam-in_columns")
@LAYOUTS
@pytest.mark.parametrize(
    ("measure", "definition"), [(CAM, reference.cam), (MM, reference.mm)]
)
@given(
    aspect_collections(),
    bases(),
    st.sampled_from([None, "half", "any", 1, 2]),
    st.data(),
)
def test_cam_and_mm_are_means_of_the_aspects(
    measure, definition, layout, collection, base, binarize, more
):
    scales, judgments, run = collection
    ours, theirs = base
    weights = st.fixed_dictionaries(
        {name: st.sampled_from([0.1, 1, 2, 30]) for name in scales}
    )
    shared = {
        "aspects": scales,
        "weights": more.draw(st.none() | weights, label="weights"),
        "binarize": binarize,
    }
    expected = reference_values(definition, judgments, run, **shared, **theirs)
    assert values(measure(**shared, **ours), layout(judgments), run) == pytest.approx(
        expected, rel=1e-12
    )


# Two label tuples that share a place, and every document retrieved at a rank of its own: no tie rule matters.
SCALE = {"relevance": 2, "quality": 1}
LABELS = {
    "q1": {"a": (2, 0), "b": (1, 1), "c": (0, 1), "d": (0, 0), "e": (2, 1)},
    "q2": {"a": (1, 0), "b": (0, 0)},
    "q3": {"a": (0, 0)},
    "q4": {"a": (2, 1)},
}
JUDGMENTS = {
    q: {doc: dict(zip(SCALE, label, strict=True)) for doc, label in docs.items()}
    for q, docs in LABELS.items()
}
RUN = {
    "q1": {"c": 6.0, "x": 5.0, "a": 4.0, "b": 3.0, "y": 2.0, "e": 1.0},
    "q2": {"x": 3.0, "a": 2.0, "b": 1.0},
    "q3": {"a": 1.0},
}


@pytest.mark.parametrize(
    "base",
    words(
        "nDCG(judged_only=True)@3 AP(rel=2,judged_only=True) Rprec(rel=2) Bpref(rel=2) Success(rel=3)@2 Judged@3 "
        "infAP(rel=2) IPrec(rel=1)@0.5 ERR@4 NERR8(max_rel=4)@5 NERR11(max_rel=4) TSE(rel=2) LR(rel=1) LR(rel=2) "
        "CWL_ERR10(max_rel=4) CWL_RBP(max_rel=4,unjudged='best') RBU(p=0.9) RBU(p=0.9,e=0,max_rel=4)@3"
    ),
)
def test_any_measure_can_be_the_base(base):
    """TOMA and CAM give what the base gives for qrels that hold the weights, or the aspect's labels, as grades."""
    weights = graded(
        {q: reference.toma_weights(labels, SCALE) for q, labels in JUDGMENTS.items()}
    )
    quality = graded(
        {
            q: {d: label["quality"] for d, label in docs.items()}
            for q, docs in JUDGMENTS.items()
        }
    )
    parsed = parse_measure(base)
    provider = PROVIDER if PROVIDER.supports(parsed) else ir_measures
    for measure, grades in (
        (TOMA(aspects=SCALE, base=base), weights),
        (CAM(aspects={"quality": 1}, base=base), quality),
    ):
        expected = {
            metric.query_id: metric.value
            for metric in provider.iter_calc([parsed], grades, RUN)
        }
        assert values(measure, in_columns(JUDGMENTS), RUN) == pytest.approx(
            expected, rel=1e-12
        )


def test_the_cutoff_of_the_measure_completes_its_base():
    at_2 = values(TOMA(aspects=SCALE, base="P@2"), in_columns(JUDGMENTS), RUN)
    assert values(TOMA(aspects=SCALE, base="P") @ 2, in_columns(JUDGMENTS), RUN) == at_2


def test_where_all_labels_are_worth_the_same_the_upper_half_is_everything():
    flat = {"relevance": {0: 1, 1: 1}}
    run = {"q": {"x": 3.0, "a": 2.0}}
    expected = reference.toma(["x", "a"], {"a": {"relevance": 0}}, flat, base="RR")
    assert values(TOMA(aspects=flat, base="RR"), {"q": {"a": 0}}, run) == {
        "q": expected
    }


@pytest.mark.parametrize("binarize", ["any", "half"])
def test_an_aspect_with_a_single_label_cannot_be_split(binarize):
    with pytest.raises(ValueError, match="quality"):
        values(
            CAM(aspects={"quality": {0: 0}}, base="RR", binarize=binarize),
            in_columns({"q": {"a": {}}}),
            {},
        )


@pytest.mark.parametrize("scale", [4, {0: 0, 50: 1, 100: 2}])
def test_any_is_one_threshold_for_all_three_measures(scale):
    top = scale if isinstance(scale, int) else max(scale)
    qrels = in_columns(
        {
            "q": {
                "a": {"quality": 0},
                "b": {"quality": 1 if top == 4 else 50},
                "c": {"quality": top},
            }
        }
    )
    run = {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}
    found = [
        values(
            measure(aspects={"quality": scale}, base="AP", binarize="any"), qrels, run
        )["q"]
        for measure in (TOMA, CAM, MM)
    ]
    assert found == pytest.approx([(1 / 2 + 2 / 3) / 2] * 3)  # b and c are relevant
    by_default = values(
        TOMA(aspects={"quality": 4}, base="AP"),
        in_columns({"q": {"b": {"quality": 1}}}),
        run,
    )["q"]
    assert by_default == 0
    assert (
        values(
            CAM(aspects={"quality": 4}, base="AP"),
            in_columns({"q": {"b": {"quality": 1}}}),
            run,
        )["q"]
        == 0.5
    )


def test_mm_is_0_where_any_base_is_0_whatever_its_weight():
    measure = MM(aspects=SCALE, base="RR", weights={"relevance": 1, "quality": 0})
    qrels = in_columns({"q": {"a": {"relevance": 1, "quality": 0}}})
    assert values(measure, qrels, {"q": {"a": 1.0}}) == {"q": 0.0}


def test_tuples_that_the_gate_leaves_out_take_no_place() -> None:
    labels = {
        "a": (1, 1),
        "b": (1, 2),
        "c": (0, 1),
    }  # weights 2 and 3 of (1, 0), (1, 1), (1, 2), and 0
    rows = [
        ("q", doc, relevance, quality) for doc, (relevance, quality) in labels.items()
    ]
    qrels = pd.DataFrame(rows, columns=["query_id", "doc_id", "relevance", "quality"])
    toma = TOMA(aspects={"relevance": 1, "quality": 2}, gate="relevance")
    discount = 1 / math.log2(3)
    expected = (2 + 3 * discount) / (3 + 2 * discount)
    assert toma.calc_aggregate(qrels, {"q": {"a": 2.0, "b": 1.0}}) == pytest.approx(
        expected, rel=1e-13
    )
