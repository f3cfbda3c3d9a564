"""The worst-off user and provider, by a paper's script, get what total search efficiency says."""

from __future__ import annotations

import itertools
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ir_lexirecall as irl
from ir_lexirecall.data.alignment import align
from ir_lexirecall.data.judgments import Judgments

_spec: Any = spec_from_file_location(
    "worst_cases", Path(__file__).parents[2] / "examples" / "papers" / "worst_cases.py"
)
_script: Any = module_from_spec(_spec)
_spec.loader.exec_module(_script)
worst_cases = _script.worst_cases

DOCS = ["a", "b", "c", "d", "e", "f"]
JUDGED = st.dictionaries(st.sampled_from(DOCS), st.integers(0, 1), min_size=1)
RELEVANT = JUDGED.filter(lambda grades: 1 in grades.values())
ROW = st.dictionaries(st.sampled_from(DOCS), st.integers(0, 9))
RUN = st.fixed_dictionaries({"q1": ROW, "q2": ROW})


@given(qrels=st.fixed_dictionaries({"q1": RELEVANT, "q2": JUDGED}), run=RUN)
def test_the_worst_user_and_provider_get_total_search_efficiency(
    qrels: Any, run: Any
) -> None:
    table = worst_cases(
        ["AP", "RR", "nDCG", "RBP(p=0.8)"],
        {"r": align(Judgments.from_qrels(qrels), run)},
    )
    assert table["user"].to_numpy() == pytest.approx(
        table["closed_form"].to_numpy(), rel=1e-12
    )
    assert table["provider"].to_numpy() == pytest.approx(
        table["closed_form"].to_numpy(), rel=1e-12
    )
    tse = irl.evaluate(
        ["TSE", "TSE(exposure='nDCG')", "TSE(exposure='RBP')"], qrels, run
    )
    for measure, column in {"AP": 0, "RR": 0, "nDCG": 1, "RBP(p=0.8)": 2}.items():
        rows = table[table["measure"] == measure].set_index("query_id")["closed_form"]
        assert rows.to_numpy() == pytest.approx(
            tse.loc[rows.index].iloc[:, column].to_numpy()
        )


@settings(max_examples=25)
@given(
    grades=RELEVANT,
    ranking=ROW,
    measure=st.sampled_from(["AP@3", "R@2", "Rprec", "nDCG@2"]),
)
def test_the_worst_user_is_the_minimum_over_all_needs(
    grades: Any, ranking: Any, measure: str
) -> None:
    relevant = [doc for doc, grade in grades.items() if grade]
    needs = [
        need
        for size in range(1, len(relevant) + 1)
        for need in itertools.combinations(relevant, size)
    ]
    values = [
        irl.evaluate(
            measure,
            {"q": {doc: int(doc in need) for doc in {*grades, *ranking}}},
            {"q": ranking},
        ).iloc[0, 0]
        for need in needs
    ]
    row = worst_cases(
        [measure], {"r": align(Judgments.from_qrels({"q": grades}), {"q": ranking})}
    ).iloc[0]
    assert row["user"] == pytest.approx(min(values))
    assert row["subsets"] == len(needs)
