"""The worst-off user and provider, against enumeration."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ir_lexirecall as irl
from ir_lexirecall.meta import Study

DOCS = ["a", "b", "c", "d", "e", "f"]
JUDGED = st.dictionaries(st.sampled_from(DOCS), st.integers(0, 1), min_size=1)
RELEVANT = JUDGED.filter(lambda grades: 1 in grades.values())
ROW = st.dictionaries(st.sampled_from(DOCS), st.integers(0, 9))
RUN = st.fixed_dictionaries({"q1": ROW, "q2": ROW})


# -- worst cases -----------------------------------------------------------------------------------


@settings(max_examples=40)
@given(qrels=st.fixed_dictionaries({"q1": RELEVANT, "q2": JUDGED}), run=RUN)
def test_the_worst_user_and_provider_get_total_search_efficiency(qrels: Any, run: Any) -> None:
    table = Study(["AP", "RR", "nDCG", "RBP(p=0.8)"], qrels, {"r": run}, allow_empty=True).worst_case()
    assert table["user"].to_numpy() == pytest.approx(table["closed_form"].to_numpy(), rel=1e-12)
    assert table["provider"].to_numpy() == pytest.approx(table["closed_form"].to_numpy(), rel=1e-12)
    tse = irl.evaluate(["TSE", "TSE(exposure='nDCG')", "TSE(exposure='RBP')"], qrels, run)
    for measure, column in {"AP": 0, "RR": 0, "nDCG": 1, "RBP(p=0.8)": 2}.items():
        rows = table[table["measure"] == measure].set_index("query_id")["closed_form"]
        assert rows.to_numpy() == pytest.approx(tse.loc[rows.index].iloc[:, column].to_numpy())


@settings(max_examples=25)
@given(grades=RELEVANT, ranking=ROW, measure=st.sampled_from(["AP@3", "R@2", "Rprec", "nDCG@2"]))
def test_the_worst_user_is_the_minimum_over_all_needs(grades: Any, ranking: Any, measure: str) -> None:
    relevant = [doc for doc, grade in grades.items() if grade]
    needs = [need for size in range(1, len(relevant) + 1) for need in itertools.combinations(relevant, size)]
    values = [
        irl.evaluate(measure, {"q": {doc: int(doc in need) for doc in {*grades, *ranking}}}, {"q": ranking}).iloc[0, 0]
        for need in needs
    ]
    row = Study(measure, {"q": grades}, {"r": {"q": ranking}}, allow_empty=True).worst_case().iloc[0]
    assert row["user"] == pytest.approx(min(values))
    assert row["subsets"] == len(needs)


def test_many_relevant_documents_have_the_closed_form_only() -> None:
    qrels = {"q": {f"d{i}": 1 for i in range(12)}}
    run = {"q": {f"d{i}": -i for i in range(12)}}
    row = Study("AP", qrels, {"r": run}).worst_case().iloc[0]
    assert np.isnan(row["user"])
    assert row["subsets"] == 0
    assert row["closed_form"] == 1 / 12
    assert Study("AP", qrels, {"r": run}).worst_case(enumerate_up_to=12).iloc[0]["user"] == pytest.approx(1 / 12)


# -- input and pictures ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda q, r: Study("CAM(aspects={'a':1})", q, r).worst_case(), "worst_case: CAM.* judges several aspects"),
        (lambda q, r: Study("AP", q, r).worst_case(enumerate_up_to=17), "worst_case: .* from 0 to 16, not 17"),
        (lambda q, r: Study("AP", q, {}).worst_case(), "Study: at least 1 run is needed, not 0"),
        (lambda q, r: Study("AP", q, r, rel=float("nan")).worst_case(), "Study: rel must be a number above 0"),
        (
            lambda q, r: Study("AP", q, r, rel=2).worst_case(),
            "worst_case: no query of the qrels has a relevant document",
        ),
        (lambda q, r: Study("AP", q, {1: r["r"], "1": r["r"]}).worst_case(), "Study: two runs have the same name"),
    ],
)
def test_bad_input_is_named(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call({"q": {"a": 1}}, {"r": {"q": {"b": 2, "a": 1}}})
