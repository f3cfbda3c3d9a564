"""Warnings about grades that do not suit the measures, and other scales of grades (`levels`)."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from ir_measures import AP, iter_calc

import ir_lexirecall as irl
from ir_lexirecall import cli

LABELS = {"q": {"a": 0.9, "b": 0.7, "c": 0.1}}
RUN = {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}
OTHER = {"q": {"c": 3.0, "b": 2.0, "a": 1.0}}
SUBTOPICS = pd.DataFrame(
    [("q", "a", 2, "1"), ("q", "a", 0, "2"), ("q", "b", 1, "1"), ("q", "b", 1, "2")],
    columns=["query_id", "doc_id", "relevance", "subtopic_id"],
)


def warned(function: Callable[[], Any]) -> list[str]:
    with warnings.catch_warnings(record=True) as messages:
        warnings.simplefilter("always")
        function()
    return [str(message.message) for message in messages]


@pytest.mark.parametrize(
    "measure",
    [
        "AP",
        "LR",
        "TSE",
        "P@1",
        "RR",
        "SL3(n=9)",
        "CWL_RBP(max_rel=1)",
        "Rndcg",
        "AP(rel=2)",
    ],
)
def test_a_measure_for_which_no_grade_is_relevant_warns_once(measure: str) -> None:
    doors: list[Callable[[], Any]] = [
        lambda: irl.evaluate(["nDCG@10", measure], LABELS, RUN),
        lambda: irl.tie_audit(measure, LABELS, {"r": RUN}),
        lambda: irl.compare(LABELS, {"r": RUN, "o": OTHER}, [measure, "nDCG"]),
        lambda: irl.benchmark(
            {"one": LABELS}, {"r": {"one": RUN}, "o": {"one": OTHER}}, [measure, "nDCG"]
        ),
    ]
    for door in doors[:3]:
        [message] = [one for one in warned(door) if "no grade of the qrels" in one]
        assert "the highest is 0.9" in message
        assert "nDCG" not in message


def test_preferences_warn_too() -> None:
    assert any(
        "for lexirecall: the highest is 0.9" in one
        for one in warned(
            lambda: irl.compare(LABELS, {"r": RUN, "o": OTHER}, ["lexirecall", "nDCG"])
        )
    )


@pytest.mark.parametrize(
    "measure",
    ["nDCG@10", "LR(rel=0.5)", "RBP", "NumRet", "Unjudged@5", "GERR(max_rel=1)"],
)
def test_measures_that_take_such_grades_do_not_warn(measure: str) -> None:
    assert not warned(lambda: irl.evaluate(measure, LABELS, RUN))


@pytest.mark.parametrize("grades", [{"a": 2, "b": 0.5}, {"a": 1, "b": 0}])
def test_other_qrels_do_not_warn(grades: dict[str, float]) -> None:
    assert not warned(lambda: irl.evaluate(["AP", "LR"], {"q": grades}, RUN))


@pytest.mark.parametrize(
    ("qrels", "top"),
    [
        ({"q": {"a": 0}}, "0"),
        ({"q": {"a": 0, "b": -1}}, "0"),
        ({"q": {"a": -1, "b": -2}}, "-1"),
        ({"q": {"a": False}}, "0"),
    ],
)
def test_qrels_without_a_relevant_document_warn(qrels: Any, top: str) -> None:
    """Else all runs are level, and nothing says why."""
    said = (
        "no grade of the qrels is high enough to count as relevant for {}: the highest is "
        f"{top}, so every ranking scores 0"
    )
    doors: list[Callable[[], Any]] = [
        lambda: irl.evaluate(["nDCG", "AP"], qrels, RUN),
        lambda: irl.compare(qrels, {"r": RUN, "o": OTHER}, ["nDCG", "AP"]),
        lambda: irl.benchmark(
            {"x": qrels, "y": LABELS},
            {"x": {"r": RUN, "o": OTHER}, "y": {"r": RUN, "o": OTHER}},
            ["nDCG", "AP"],
        ),
    ]
    for door in doors:
        assert any(said.format("AP") in message for message in warned(door))
    assert not warned(lambda: irl.evaluate("nDCG", qrels, RUN))


def test_a_rel_above_the_highest_grade_is_the_cause() -> None:
    qrels = {"q": {"a": 1, "b": 2}}
    [message] = warned(lambda: irl.evaluate(["AP(rel=3)", "AP"], qrels, RUN))
    assert message == (
        "no grade of the qrels is high enough to count as relevant for AP(rel=3): the highest is "
        "2, so every ranking scores 0; give a rel of at most 2"
    )


def test_levels_that_no_grade_reaches_warn() -> None:
    judgments = irl.load(LABELS, levels=[2.0])
    [message] = warned(lambda: irl.evaluate("AP", judgments, RUN))
    assert "for AP: the highest is 0, so every ranking scores 0" in message


@pytest.mark.parametrize(
    ("levels", "grades"),
    [
        (0.5, [1, 1, 0]),
        ([0.5, 0.8], [2, 1, 0]),
        ((0.1, 0.7), [2, 2, 1]),
        ({0.5: 1, 0.8: 3}, [3, 1, 0]),
        ({0.75: 1}, [1, 0, 0]),
    ],
)
def test_levels(levels: Any, grades: list[int]) -> None:
    judgments = irl.load(LABELS, levels=levels)
    assert judgments.grade.tolist() == grades
    assert not warned(lambda: irl.evaluate(["AP", "LR"], judgments, RUN))
    both = irl.load({"q": {**LABELS["q"], "d": -1}}, levels=levels)
    assert both.grade.tolist() == [*grades, -1]


@pytest.mark.parametrize(
    "levels",
    [
        [],
        {},
        "0.5",
        [0.8, 0.5],
        [0.5, 0.5],
        0,
        -1,
        float("nan"),
        ["a"],
        {0.5: -1},
        {0.5: 2, 0.8: 1},
        True,
    ],
)
def test_bad_levels_are_refused(levels: Any) -> None:
    with pytest.raises(ValueError, match=r"^load: levels"):
        irl.load(LABELS, levels=levels)


@pytest.mark.parametrize("levels", [[], [0.5, 0.5]])
def test_levels_that_name_no_grade_or_one_twice_are_shown(levels: list[float]) -> None:
    shown = re.escape(f"once, as [0.5, 0.8] does, not {levels}")
    with pytest.raises(ValueError, match=shown):
        irl.load(LABELS, levels=levels)


def test_a_fractional_rel_of_ir_measures_is_answered_with_levels() -> None:
    for measure in ("AP(rel=0.5)", "P(rel=0.5)@5"):
        with pytest.raises(
            ValueError, match=r"load the qrels with levels=\[0.5\] \(--levels 0.5\)"
        ):
            irl.evaluate(measure, LABELS, RUN)


def test_levels_and_rel_on_the_command_line(tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "q").write_text("q 0 a 0.9\nq 0 b 0.7\nq 0 c 0.1\n")
    for name, run in {"r": RUN, "o": OTHER}.items():
        rows = run["q"].items()
        (tmp_path / name).write_text(
            "".join(f"q Q0 {doc} 0 {score} t\n" for doc, score in rows)
        )
    files = [str(tmp_path / name) for name in "qro"]

    def values(*words: str) -> list[float]:
        assert cli.main(["eval", *files, *words, "--format", "json"]) in (0, None)
        return [
            next(v for k, v in row.items() if k != "run")
            for row in json.loads(capsys.readouterr().out)
        ]

    assert values("-m", "AP", "--levels", "0.5") == pytest.approx(
        [1.0, (1 / 2 + 2 / 3) / 2]
    )
    assert values("-m", "nDCG(dcg='log2')@1", "--levels", "0.5=1", "0.8=3") == [
        1.0,
        0.0,
    ]
    assert values("-m", "TSE", "--rel", "0.8") == pytest.approx([1.0, 1 / 3])
    assert values("-m", "TSE(rel=0.5)", "--rel", "0.8") == pytest.approx([1 / 2, 1 / 3])
    for words in (
        ["--levels", "a"],
        ["--levels", "0.5=1", "0.8"],
        ["--levels", "0.8", "0.5"],
    ):
        assert cli.main(["eval", *files, "-m", "AP", *words]) == 1
        assert "levels" in capsys.readouterr().err


def test_several_grades_of_a_document_warn_once_per_call() -> None:
    for door in (
        lambda: irl.evaluate(["nDCG", "AP", "LR"], SUBTOPICS, RUN),
        lambda: irl.compare(SUBTOPICS, {"r": RUN, "o": OTHER}, ["nDCG", "AP"]),
        lambda: irl.tie_audit("nDCG", SUBTOPICS, {"r": RUN}),
    ):
        [message] = [one for one in warned(door) if "several grades" in one]
        assert message.startswith("document 'a' of query 'q' has several grades")
        assert "pt.Experiment alone take that of the last row" in message


def test_a_warning_of_several_grades_names_the_measures_that_take_the_highest() -> None:
    qrels = SUBTOPICS.rename(columns={"subtopic_id": "iteration"})
    for door, names in (
        (lambda: [*iter_calc([AP, irl.LR, irl.TSE], qrels, RUN)], "LexiRecall, TSE"),
        (lambda: irl.evaluate(["AP", "LR", "RBU"], SUBTOPICS, RUN), "AP, LexiRecall"),
    ):
        [message] = [one for one in warned(door) if "several grades" in one]
        assert f"the highest one counts by {names}, but" in message


@pytest.mark.parametrize(
    "measure", ["alpha_nDCG@5", "RBU@5", "ERR_IA@5", "NumRet", "Judged@2", "DSharp@5"]
)
def test_measures_of_subtopics_do_not_warn_of_them(measure: str) -> None:
    assert not [
        one
        for one in warned(lambda: irl.evaluate(measure, SUBTOPICS, RUN))
        if "several" in one
    ]


@pytest.mark.parametrize(
    "qrels",
    [
        SUBTOPICS[SUBTOPICS["doc_id"] == "b"],
        SUBTOPICS.iloc[[1, 0, 2, 3]],  # the highest grade comes last
        "lexirecall/demo",
        SUBTOPICS.assign(subtopic_id=["relevance", "credibility"] * 2),
        {"q": {"a": 1}},
    ],
)
def test_one_grade_for_each_document_does_not_warn(qrels: Any) -> None:
    assert not [
        one
        for one in warned(lambda: irl.evaluate("nDCG", qrels, RUN))
        if "several" in one
    ]


@pytest.mark.parametrize(
    ("measure", "names"),
    [
        ("AP", "AP"),
        ("LR", "LexiRecall"),
        ("IA(base='AP')", "IA(base='AP')"),
        (["nDCG", "P@2"], "P@2"),
    ],
)
def test_some_grades_below_1_warn_where_they_do_not_count(
    measure: Any, names: str
) -> None:
    """One grade of 1 had silenced the warning of the others, which count as not relevant."""
    qrels = {"q": {"a": 0.8, "b": 0.7, "c": 1.0, "d": 0.0}}
    runs = {"r": RUN, "o": OTHER}
    said = f"grades between 0 and 1, such as 0.7, count as not relevant for {names}"
    doors: list[Callable[[], Any]] = [
        lambda: irl.evaluate(measure, qrels, RUN),
        lambda: irl.compare(qrels, runs, measure),
    ]
    for door in doors:
        assert any(message.startswith(said) for message in warned(door))
    assert not warned(lambda: irl.evaluate("nDCG", qrels, RUN))
    noise = {"q": {"a": 1.0, "b": 0.05}}
    [message] = warned(lambda: irl.evaluate("AP", noise, RUN))
    assert "levels=[0.5]" in message  # 0.05 would count every document
    whole = {"q": {"a": 1.5, "b": 0.5, "c": 2.0}}
    assert not warned(lambda: irl.evaluate("AP", whole, RUN))


def test_a_scorer_warns_of_some_labels_below_1() -> None:
    score = irl.scorer("AP")
    labels = {"a": 0.8, "b": 1.0}
    [message] = warned(lambda: score(["a", "b"], labels))
    assert message.startswith(
        "AP: grades between 0 and 1, such as 0.8, count as not relevant; "
    )
    [message] = warned(lambda: score(["a", "b"], {"a": 0.2, "b": 1.0}))
    assert "int(label >= 0.5)" in message


def test_ia_of_labels_below_1_warns_as_other_measures_of_subtopics() -> None:
    said = "no grade of the qrels is high enough to count as relevant for IA(base='AP')"
    qrels = {"q": {"a": 0.7, "b": 0.3}}
    [message] = warned(lambda: irl.evaluate("IA(base='AP')", qrels, RUN))
    assert message.startswith(said)
    assert not warned(lambda: irl.evaluate("IA(base='LR(rel=0.3)')", qrels, RUN))
