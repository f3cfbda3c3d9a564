"""A negative grade says that a document was pooled, but not judged: at every door, as to trec_eval."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ir_lexirecall as irl
from ir_lexirecall import cli
from ir_lexirecall.data.alignment import align
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.data.matching import judged_share
from ir_lexirecall.data.pools import Pool
from ir_lexirecall.evaluation.scored_runs import ScoredRuns
from ir_lexirecall.judging.files import merged, merged_judges

QRELS = {"q": {"a": 1, "b": -1, "c": -2, "d": 0, "e": 1}}
RUN = {"q": {"a": 5.0, "b": 4.0, "c": 3.0, "d": 2.0, "e": 1.0, "x": 0.5}}
OTHER = {"q": {"b": 5.0, "a": 4.0, "x": 3.0}}
WITHOUT = {"q": {doc: grade for doc, grade in QRELS["q"].items() if grade >= 0}}


def test_judged_and_unjudged_add_up_to_one() -> None:
    table = irl.evaluate(["Judged@5", "Unjudged@5"], QRELS, RUN)
    assert table.loc["q"].tolist() == [0.6, 0.4]
    assert judged_share(align(Judgments.from_qrels(QRELS), RUN)) == 0.5


@pytest.mark.parametrize(
    "measure", ["AP", "LR", "TSE", "nDCG@4", "P@3", "Judged@4", "RBU@4", "NumRet"]
)
def test_condensed_lists_lose_them(measure: str) -> None:
    of_pooled, of_absent = (
        irl.evaluate(measure, irl.load(qrels, judged_only=True), RUN)
        for qrels in (QRELS, WITHOUT)
    )
    assert of_pooled.equals(of_absent)
    if measure != "NumRet":
        name, _, cutoff = measure.partition("@")
        alone = f"{name}(judged_only=True)" + (f"@{cutoff}" if cutoff else "")
        if name != "Judged":
            assert irl.evaluate(alone, QRELS, RUN).iloc[0, 0] == of_absent.iloc[0, 0]


def test_residuals_count_them() -> None:
    for measure in (
        "GERR(max_rel=1,unjudged='best')",
        "CWL_ERR8(max_rel=1,unjudged='best')@5",
    ):
        of_pooled, of_absent = (
            irl.evaluate(measure, qrels, RUN) for qrels in (QRELS, WITHOUT)
        )
        assert of_pooled.equals(of_absent)


def test_pools_hold_them_as_unjudged_and_only_within_the_depth() -> None:
    pool = Pool.from_runs(Judgments.from_qrels(QRELS), {"r": RUN, "o": OTHER}, depth=2)
    assert pool.doc_id.filter(pool.is_judged.tolist()).to_list() == ["a", "d", "e"]
    assert pool.doc_id.filter((~pool.is_judged).tolist()).to_list() == ["b"]
    assert pool.grade.min() == 0
    scored = ScoredRuns.from_runs({}, QRELS, {"r": RUN, "o": OTHER})
    scored.pool(2)  # which checks that the judged documents stand where they stood


def test_what_to_judge_next_lists_them() -> None:
    result = irl.compare(QRELS, {"r": RUN, "o": OTHER}, "AP")
    assert set(result.to_judge(9)["doc_id"]) == {"b", "c", "x"}


@given(
    st.dictionaries(
        st.sampled_from("abcd"), st.sampled_from([-2, -1, 0, 1]), min_size=1
    ),
    st.permutations("abcd"),
)
def test_bounds_are_those_over_all_judgings(
    grades: dict[str, int], order: list[str]
) -> None:
    run = {"q": {doc: 9.0 - rank for rank, doc in enumerate(order)}}
    measures = ["AP", "P@3", "nDCG", "LR", "TSE", "RR", "Judged@3", "Unjudged@3"]
    found = irl.judgment_bounds(measures, {"q": grades}, run, max_rel=1)
    unjudged = [doc for doc in order if grades.get(doc, -1) < 0]
    values = []
    for judging in product([None, 0, 1], repeat=len(unjudged)):
        given = {
            doc: grade
            for doc, grade in zip(unjudged, judging, strict=True)
            if grade is not None
        }
        values.append(irl.evaluate(measures, {"q": {**grades, **given}}, run).iloc[0])
    for name in measures:
        column = [value[name] for value in values]
        low, high = found[name].iloc[0]
        assert np.allclose([low, high], [min(column), max(column)])


def test_other_negative_grades_are_no_second_judgments() -> None:
    judgments = Judgments.from_qrels({"q": {"a": 1, "b": -2}})
    more = merged(judgments, {"q": {"b": -1, "c": -1, "a": -3}})
    assert dict(zip(more.doc_ids, more.grade.tolist(), strict=True)) == {
        "a": 1,
        "b": -2,
        "c": -1,
    }


def test_a_grade_takes_the_place_of_a_negative_one() -> None:
    judgments = Judgments.from_qrels(QRELS)
    for more in ({"q": {"b": 2, "c": 0}}, {"q": {"b": 2, "c": 0, "a": -1}}):
        both = merged(judgments, more)
        assert dict(zip(both.doc_ids, both.grade.tolist(), strict=True)) == (
            {"a": 1, "b": 2, "c": 0, "d": 0, "e": 1}
        )
    agreed, differ = merged_judges(
        QRELS, {"q": {"a": 1, "b": 1, "d": -1, "e": 0, "c": -2}}
    )
    assert agreed.values.tolist() == [
        ["q", "a", 1],
        ["q", "b", 1],
        ["q", "c", -2],
        ["q", "d", 0],
    ]
    assert differ.values.tolist() == [["q", "e", 1, 0]]


def test_judges_are_compared_where_both_judged() -> None:
    pytest.importorskip("krippendorff")
    from ir_lexirecall.meta import Study

    other = {"q": {"a": 1, "b": 1, "c": 0, "d": 0, "e": -1}}
    table = Study("AP", QRELS, {"r": RUN, "o": OTHER}).judges(other)
    assert table["documents"].tolist() == [2] * len(table)


def test_bounds_on_the_command_line(tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "q").write_text(
        "".join(f"q 0 {doc} {g}\n" for doc, g in QRELS["q"].items())
    )
    (tmp_path / "r").write_text(
        "".join(f"q Q0 {doc} 0 {s} t\n" for doc, s in RUN["q"].items())
    )
    cli.main(
        [
            "eval",
            str(tmp_path / "q"),
            str(tmp_path / "r"),
            "-m",
            "AP",
            "--bounds",
            "--format",
            "csv",
        ]
    )
    _, low, high = map(float, capsys.readouterr().out.splitlines()[1].split(",")[1:])
    assert low < high
    assert high == pytest.approx(0.95)
