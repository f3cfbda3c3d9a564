"""``tie_audit``: ranges and means over every order of documents of equal score, and what results say of them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ir_lexirecall as irl
from ir_lexirecall.data.alignment import align
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.evaluation.scored_runs import ScoredRuns, tie_mean
from ir_lexirecall.measures.parsing import parse_measures
from ir_lexirecall.measures.scoring import values
from ir_lexirecall.present.findings import notes_of_run, run_caveats
from tests.conftest import words

MEASURES = words(
    "AP AP(rel=2)@3 nDCG nDCG@3 RR P@2 P(rel=2)@3 R@2 Success@1 Rprec Bpref ERR@3 RBP(p=0.5,rel=1) NERR10(max_rel=4) "
    "Judged@2 Judged@3 Unjudged@3 LR LR@3 LR(form='weighted',n=50) TSE TSE(impute='optimistic') TSE(exposure='nDCG')@3 "
    "CWL_ERR8(max_rel=4)@3 CWL_ERR10(max_rel=4) CWL_ERR11(max_rel=4) CWL_RBP(max_rel=4) GERR(max_rel=4) "
    "GERR(max_rel=5)@3 RBU@4"
)
UNJUDGED_IS_BEST = words(
    "GERR(max_rel=4,unjudged='best') GERR(max_rel=5,unjudged='best')@3 GERR(max_rel=4,gain='linear',unjudged='best')@2 "
    "CWL_ERR8(max_rel=4,unjudged='best')@3 CWL_ERR9(max_rel=5,unjudged='best')@4 CWL_ERR10(max_rel=4,unjudged='best') "
    "CWL_ERR11(max_rel=4,gain='linear',unjudged='best') CWL_RBP(max_rel=5,unjudged='best')"
)
OF_BEING_JUDGED = ["Judged@2", "Judged@3", "Unjudged@3"]  # whatever the grades

GRADES = st.sampled_from([-1, 0, 0, 1, 1, 2, 4])
DOCS = "abcdefg"


@st.composite
def queries(draw: st.DrawFn) -> tuple[dict[str, float], dict[str, float]]:
    """Judgments and a ranking of few documents whose scores often tie; some are unjudged, others not retrieved."""
    qrels = draw(st.dictionaries(st.sampled_from(DOCS), GRADES, min_size=1))
    run = draw(
        st.dictionaries(
            st.sampled_from(DOCS[:6]),
            st.sampled_from([1.0, 1 + 1e-9, 2.0, 3.0]),
            min_size=1,
        )
    )
    return qrels, run


def orders(ranking: dict[str, float]) -> Iterator[dict[str, float]]:
    """The ranking with documents of equal score (as 32-bit floats) in every order, without ties."""
    groups: dict[float, list[str]] = {}
    for doc, score in ranking.items():
        groups.setdefault(float(np.float32(score)), []).append(doc)
    for choice in product(
        *(permutations(groups[score]) for score in sorted(groups, reverse=True))
    ):
        docs = [doc for group in choice for doc in group]
        yield {doc: -float(place) for place, doc in enumerate(docs)}


def values_of_all_orders(
    measures: list[str], qrels: dict[str, float], run: dict[str, float]
) -> pd.DataFrame:
    """A row for every order of the tied documents."""
    rankings = list(orders(run))
    numbered = [str(number) for number in range(len(rankings))]
    table = irl.evaluate(
        measures,
        dict.fromkeys(numbered, qrels),
        dict(zip(numbered, rankings, strict=True)),
    )
    assert len(table) == len(rankings)
    return table


@pytest.mark.slow
@given(queries())
@settings(max_examples=60)
def test_every_order_of_tied_documents_is_within_the_range(query: Any) -> None:
    qrels, run = query
    measures = MEASURES + UNJUDGED_IS_BEST
    table = values_of_all_orders(measures, qrels, run)
    audit = irl.tie_audit(
        measures, {"q": qrels}, {"run": {"q": run}}, allow_empty=True
    ).set_index("measure")
    plain = irl.evaluate(measures, {"q": qrels}, {"q": run}).loc["q"]
    for measure in measures:
        row = audit.loc[measure]
        assert row["lowest"] == pytest.approx(table[measure].min(), abs=1e-12), measure
        assert row["highest"] == pytest.approx(table[measure].max(), abs=1e-12), measure
        assert row["value"] == plain[measure]
        assert row["expected"] == pytest.approx(table[measure].mean(), abs=1e-12), (
            measure
        )
        assert row["lowest"] <= row["value"] <= row["highest"]
        assert row["tied_queries"] == (row["lowest"] < row["highest"])


def test_ties_of_documents_of_equal_grade_change_nothing() -> None:
    qrels = {"q": {"a": 1, "b": 1, "c": 0}}
    audit = irl.tie_audit(
        MEASURES, qrels, {"run": {"q": {"a": 2.0, "b": 2.0, "c": 1.0, "x": 1.0}}}
    )
    audit = audit[~audit["measure"].isin(OF_BEING_JUDGED)]
    np.testing.assert_allclose(audit["lowest"], audit["highest"], atol=1e-15)


@pytest.mark.slow
@given(st.lists(st.tuples(queries(), queries()), min_size=1, max_size=3))
@settings(max_examples=60)
def test_changed_preferences(drawn: Any) -> None:
    """Two runs of the same queries: is one of them better whatever the order of ties in both?"""
    qrels = {str(q): a[0] for q, (a, _) in enumerate(drawn)}
    runs = {
        "a": {str(q): a[1] for q, (a, _) in enumerate(drawn)},
        "b": {str(q): b[1] for q, (_, b) in enumerate(drawn)},
    }
    measures = ["AP", "nDCG@3", "RR", "LR", "GERR(max_rel=4)"]
    changed = pd.DataFrame(0, index=measures, columns=["count"])
    for q, judged in qrels.items():
        a, b = (
            values_of_all_orders(measures, judged, run[q]).round(12)
            for run in runs.values()
        )
        for measure in measures:
            signs = {
                np.sign(x - y)
                for x, y in product(a[measure].unique(), b[measure].unique())
            }
            changed.loc[measure, "count"] += len(signs) > 1
    audit = irl.tie_audit(measures, qrels, runs, allow_empty=True)
    for _, row in audit.iterrows():
        assert row["changed_preferences"] == changed.loc[row["measure"], "count"]


@pytest.mark.parametrize("measure", OF_BEING_JUDGED)
def test_ends_of_measures_of_being_judged_do_not_depend_on_grades(measure: str) -> None:
    qrels = {"a": 1, "b": 0, "c": 0, "d": -1}  # d was pooled, but not judged
    run = {"a": 2.0, "b": 1.0, "c": 1.0, "d": 1.0, "x": 1.0}
    of_orders = values_of_all_orders([measure], qrels, run)[measure]
    audit = irl.tie_audit(measure, {"q": qrels}, {"q": run}).iloc[0]
    ends = (of_orders.min(), of_orders.mean(), of_orders.max())
    assert tuple(audit[["lowest", "expected", "highest"]]) == pytest.approx(ends)
    assert audit["tied_queries"] == 1


@pytest.mark.parametrize("measure", UNJUDGED_IS_BEST)
def test_unjudged_documents_that_count_as_best_are_ordered_so(measure: str) -> None:
    qrels = {"a": 4, "b": 1, "c": 0, "d": -1}
    run = {"c": 2.0, "b": 1.0, "d": 1.0, "x": 1.0, "y": 1.0}
    of_orders = values_of_all_orders([measure], qrels, run)[measure]
    audit = irl.tie_audit(measure, {"q": qrels}, {"q": run}).iloc[0]
    ends = (of_orders.min(), of_orders.mean(), of_orders.max())
    assert tuple(audit[["lowest", "expected", "highest"]]) == pytest.approx(ends)
    assert ends[0] < ends[2]


QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1}, "q3": {"a": 0}}
RUNS = {
    "constant": {
        "q1": {"a": 1.0, "b": 1.0, "c": 1.0},
        "q2": {"a": 2.0, "b": 1.0},
        "q3": {"a": 1.0, "b": 1.0},
    },
    "sorted": {"q1": {"a": 1.0, "b": 3.0, "c": 0.0}, "q2": {"b": 1.0}},
}


def test_by_query() -> None:
    table = irl.tie_audit(["RR", "LR"], QRELS, RUNS, by_query=True)
    assert list(table) == [
        "run",
        "measure",
        "query_id",
        "lowest",
        "value",
        "expected",
        "highest",
        "changes_preference",
    ]
    assert table[["run", "measure", "query_id"]].to_numpy().tolist() == [
        ["constant", "RR", "q1"],
        ["constant", "LR", "q1"],
    ]
    ends = table.loc[0, ["lowest", "value", "expected", "highest"]].tolist()
    assert ends == pytest.approx(
        [1 / 3, 1 / 3, (1 + 1 / 2 + 1 / 3) / 3, 1.0], abs=1e-15
    )
    assert table["changes_preference"].tolist() == [
        True,
        True,
    ]  # `sorted` has RR 1/2 there


def test_means_are_those_of_the_ranges() -> None:
    audit = irl.tie_audit("RR", QRELS, RUNS).set_index("run")
    assert audit["lowest"].tolist() == pytest.approx([(1 / 3 + 1) / 3, 1 / 6])
    assert audit["value"].tolist() == pytest.approx([(1 / 3 + 1) / 3, 1 / 6])
    assert audit["highest"].tolist() == pytest.approx([2 / 3, 1 / 6])
    assert audit["expected"].tolist() == pytest.approx([(11 / 18 + 1) / 3, 1 / 6])
    assert audit["tied_queries"].tolist() == [1, 0]
    assert audit["changed_preferences"].tolist() == [1, 1]
    assert audit.attrs["function"] == "tie_audit"


def test_one_run() -> None:
    of_one = irl.tie_audit(["RR", "LR"], QRELS, RUNS["constant"])
    named = irl.tie_audit(["RR", "LR"], QRELS, {"run": RUNS["constant"]})
    pd.testing.assert_frame_equal(of_one, named)
    rows = [(q, d, s) for q, docs in RUNS["constant"].items() for d, s in docs.items()]
    frame = pd.DataFrame(rows, columns=["query_id", "doc_id", "score"])
    pd.testing.assert_frame_equal(irl.tie_audit(["RR", "LR"], QRELS, frame), named)


def test_one_run_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "constant.run"
    rows = [(q, d, s) for q, docs in RUNS["constant"].items() for d, s in docs.items()]
    path.write_text("".join(f"{q} Q0 {d} 1 {s} r\n" for q, d, s in rows))
    of_file = irl.tie_audit("RR", QRELS, path)
    assert of_file["run"].tolist() == ["constant.run"]
    named = irl.tie_audit("RR", QRELS, RUNS["constant"])
    assert of_file["expected"].tolist() == named["expected"].tolist()


def test_queries_without_ties_keep_their_value() -> None:
    run = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"a": 1.0, "x": 1.0}}
    judgments = Judgments.from_qrels({"q1": {"a": 1, "b": 2}, "q2": {"a": 1}})
    for measure in parse_measures(MEASURES).values():
        aligned = align(judgments, run)
        plain = values(measure, aligned)
        assert tie_mean(measure, aligned, plain)[0] == plain[0]


def test_condensed_lists_stay_tied() -> None:
    """Judged documents of equal score are tied in a condensed list, too: b and a, not x."""
    judgments = irl.load({"q": {"a": 1, "b": 0}}, judged_only=True)
    run = {"q": {"x": 1.0, "b": 1.0, "a": 1.0}}
    audit = irl.tie_audit("RR", judgments, run).iloc[0]
    assert audit[["lowest", "expected", "highest"]].tolist() == [0.5, 0.75, 1.0]


def test_errors() -> None:
    with pytest.raises(ValueError, match="tie_audit: at least 1 run is needed"):
        irl.tie_audit("RR", QRELS, {})
    with pytest.raises(ValueError, match="RRR"):
        irl.tie_audit("RRR", QRELS, RUNS)


# -- diagnostics -------------------------------------------------------------------------------------

WARNING = (
    "constant: tied scores leave RR between 0.444 and 0.667, 0.537 on average over all orders "
    "(ties in 1 query)"
)


def test_diagnostics_of_preferences() -> None:
    result = irl.compare(QRELS, RUNS, ["lexirecall", "RR"])
    warnings = ScoredRuns.from_runs(parse_measures("RR"), QRELS, RUNS).tie_warnings()
    expected = [f"{run}: {said}" for run, _, _, said in warnings]
    assert [note for note in result.diagnostics if "tied scores" in note] == expected
    assert any(note.startswith(WARNING) for note in result.diagnostics)
    assert not any(
        "tied scores" in note for note in irl.compare(QRELS, RUNS).diagnostics
    )


def test_notes_on_several_means_say_what_they_are_on_average() -> None:
    """Several notes in one sentence of the summary, and in the report's lines on one run."""
    result = irl.compare(QRELS, RUNS, ["AP", "RR"])
    text = " ".join(result.summary(full=True).split())
    assert "RR of constant (0.444 to 0.667, 0.537 on average)" in text
    assert "AP of constant (" in text
    scored = ScoredRuns.from_runs(parse_measures(["AP", "RR"]), QRELS, RUNS)
    (sentence,) = notes_of_run("constant", run_caveats(scored))
    assert sentence.endswith("RR (0.444 to 0.667, 0.537 on average).")


@pytest.mark.parametrize(
    ("measure", "says"),
    [("D_nDCG@2", "can make"), ("alpha_nDCG@2", "can make"), ("RR", "leave")],
)
def test_a_range_is_only_said_where_no_order_gives_a_value_beyond(
    measure: str, says: str
) -> None:
    rows = [("a", "1", 1), ("b", "1", 1), ("c", "2", 1), ("d", "1", 0)]
    qrels = pd.DataFrame(rows, columns=["doc_id", "subtopic_id", "relevance"])
    run = {"q": {"d": 1.0, "a": 1.0, "b": 1.0, "c": 1.0, "x": 1.0}}
    scored = ScoredRuns.from_runs(
        parse_measures(measure), qrels.assign(query_id="q"), {"run": run}
    )
    ((_, _, ends, sentence),) = scored.tie_warnings()
    assert ends.split()[1] == {"can make": "or", "leave": "to"}[says]
    assert sentence.startswith(f"tied scores {says} {measure} ")
