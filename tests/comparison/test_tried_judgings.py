"""Judgings that are tried where no bounds are known: each flip that is claimed is a real one."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

import ir_lexirecall as irl
from ir_lexirecall.comparison.tried_judgings import _relevant_documents
from ir_lexirecall.measures.parsing import parse_one
from ir_lexirecall.preferences.naming import parse_preference
from tests.judging.every_judging import EveryJudging, Small

QRELS = {f"q{i:02}": {"a": 1, "b": 0, "c": 1} for i in range(16)}
GOOD = {q: {"a": 3.0, "c": 2.0, "b": 1.0} for q in QRELS}
NEW = {q: {"new1": 4.0, "new2": 3.0, "a": 2.0, "new3": 1.0} for q in QRELS}
WORSE = {q: {"b": 3.0, "a": 2.0} for q in QRELS}

# Criteria without known bounds; those of AP are not exact where runs share documents.
CRITERIA = [
    ("LR", "t"),
    ("LR@2", "t"),
    ("LR", "sign"),
    ("Bpref", "t"),
    ("infAP", "t"),
    ("Rprec", "t"),
    ("AP", "t"),
    ("AP(judged_only=True)", "t"),
    ("P@2", "wilcoxon"),
    ("AP", "wilcoxon"),
    ("rpp", "t"),
    ("rpp(cutoff=3)", "t"),
    ("dominance", "t"),
]


def tiny(rng: np.random.Generator) -> Small:
    """Return some queries whose rankings have at most two open documents, some of them pooled."""
    qrels: dict[str, dict[str, int]] = {}
    rankings: dict[str, tuple[list[str], list[str]]] = {}
    most = int(rng.integers(1, 3))
    for i in range(int(rng.integers(2, 5))):
        docs = [f"d{j}" for j in range(6)]
        is_open = set(rng.choice(docs, 2, replace=False).tolist())
        grades = {d: int(rng.integers(0, most + 1)) for d in docs if d not in is_open}
        pooled = {d: -1 for d in sorted(is_open) if rng.random() < 0.2}
        elsewhere = {"elsewhere": int(rng.random() < 0.7)}
        qrels[f"q{i}"] = {**elsewhere, **grades, **pooled}
        pair = []
        for favours in (0.6, 0.3):
            score = {d: rng.random() + favours * grades.get(d, 0) for d in docs}
            ranking = sorted(docs, key=lambda d, score=score: -score[d])
            pair.append(ranking[: int(rng.integers(2, 7))])
        rankings[f"q{i}"] = (pair[0], pair[1])
    top = max(1, max(max(of_query.values()) for of_query in qrels.values()))
    return Small(qrels, rankings, top, 100, 0)


def estimates(small: Small, name: str, test: irl.SignificanceTest) -> np.ndarray:
    """Return what the test estimates under every judging of all queries together."""
    preference = parse_preference(name)
    criterion = preference or parse_one(name)
    every = EveryJudging(replace(small, depth=criterion.params.get("cutoff") or 100))
    if preference is None:
        of_query = {q: a - b for q, (a, b) in every.values(criterion).items()}
    else:
        of_query = every.preferences(preference.NAME, preference["cutoff"])
    gains = [np.nan_to_num(of_query[q]) for q in small.qrels]
    if test.name == "sign":
        gains = [np.sign(np.where(np.abs(x) < 1e-12, 0, x)) for x in gains]
    combined = np.array(list(product(*gains)))
    return np.asarray(test.of_pairs(combined).estimate)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.slow_except("LR-t")
@pytest.mark.parametrize(("name", "by"), CRITERIA)
def test_a_flip_that_is_claimed_is_that_of_some_judging(name: str, by: str) -> None:
    rng, n_claimed, n_possible = np.random.default_rng(45), 0, 0
    test = irl.SignificanceTest(by, alpha=0.9, n_resamples=99, progress=False)
    for _ in range(60):
        small = tiny(rng)
        result = irl.compare(small.qrels, small.runs, name, test=test)
        (word,) = result.verdicts(holds=True)["holds"]
        if word is None:
            continue
        today = result.table()["estimate"].iloc[0]
        under_all = estimates(small, name, test)
        is_possible = (np.sign(today) * under_all <= 1e-12).any()
        n_possible += is_possible
        n_claimed += word == "could be undone"
        assert word != "could be undone" or is_possible
        assert word != "under any judging" or not is_possible
    assert n_claimed >= 0.6 * n_possible > 0


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"test": "wilcoxon"},
        {"test": "sign"},
        {"test": irl.SignificanceTest(cluster=True), "groups": "by the last digit"},
    ],
    ids=["t", "wilcoxon", "sign", "groups"],
)
@pytest.mark.parametrize("name", ["LR", "LR@3", "Bpref", "Rprec", "AP", "dominance"])
def test_a_gate_does_not_stop_where_a_judging_that_is_tried_undoes_the_loss(
    name: str, options: Any
) -> None:
    if "groups" in options:
        options = {**options, "groups": {q: q[-1] for q in QRELS}}
    found = irl.gate(QRELS, GOOD, NEW, name, **options)
    assert found.outcome == "passed"
    assert found.undecided == [name]
    text = str(found)
    assert "unjudged documents could undo the loss" in text
    assert "it is not known" not in text
    assert "ir-lexirecall to-judge QRELS RUN RUN" in text
    assert len(found.comparison.to_judge())
    strict = irl.gate(QRELS, GOOD, NEW, name, rule="strict", **options)
    assert strict.exit_code == 4
    judged = irl.gate(QRELS, GOOD, NEW, name, rule="judged", **options)
    assert judged.exit_code == 3


@pytest.mark.parametrize("name", ["Bpref", "Rprec", "rpp"])
def test_a_gate_stops_where_no_judging_that_is_tried_undoes_the_loss(name: str) -> None:
    few = {q: {**docs, "u": 0.0} for q, docs in WORSE.items() if q in ("q00", "q01")}
    found = irl.gate(QRELS, GOOD, {**WORSE, **few}, name, test="t")
    assert found.outcome == "worse"
    assert "worse ?: it is not known whether grades could" in str(found)


def test_judgings_that_would_take_long_are_not_tried(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ir_lexirecall.comparison.missing_judgments._MOST_TRIED", 0)
    assert irl.gate(QRELS, GOOD, NEW, "LR").outcome == "worse"


def test_documents_pooled_but_not_judged_are_open_too() -> None:
    pooled = {q: {**docs, "new1": -1, "new2": -1} for q, docs in QRELS.items()}
    assert irl.gate(pooled, GOOD, NEW, "LR").outcome == "passed"
    judged = {q: {**docs, "new1": 0, "new2": 0, "new3": 0} for q, docs in QRELS.items()}
    assert irl.gate(judged, GOOD, NEW, "LR").outcome == "worse"


def test_page_gate_and_caveat_say_alike_that_a_judging_undoes_a_difference() -> None:
    qrels = {q: {"a": 1, "b": 1, "x": 0} for q in QRELS}
    good = {q: {"n": 9.0, "a": 3.0, "b": 2.0} for q in qrels}
    new = {q: {"new": 9.0, "n": 8.0, "a": 1.0} for q in qrels}
    result = irl.compare(qrels, {"good": good, "new": new}, ["LR", "AP"])
    for name in result.criteria:
        undecided = result.missing.undecided(name)
        assert undecided is not None
        assert not undecided.reached.any()  # the bounds alone do not tell
        assert f"They could undo the difference by {name}" in result.summary(full=True)
    text = " ".join(result.diagnostics)
    assert "significant, but unjudged documents could undo it" in text
    assert "might undo it" not in text
    assert irl.gate(qrels, good, new, ["LR", "AP"]).outcome == "passed"


def test_tables_miss_no_bounds_where_all_significant_differences_hold() -> None:
    """Only a run that does not differ significantly has an unjudged document in its top 2."""
    like_good = {**GOOD, "q00": {"a": 3.0, "new1": 2.0}}
    runs = {"good": GOOD, "bad": WORSE, "like good": like_good}
    result = irl.compare(QRELS, runs, "P@2", test="wilcoxon", baseline="good")
    assert result.verdicts(holds=True)["holds"].tolist() == ["under any judging", None]
    assert "not bounded" not in result.to_markdown(holds=True)


@pytest.mark.parametrize(
    ("name", "test"), [("Bpref", "t"), ("Rprec", "t"), ("rpp", "t"), ("AP", "wilcoxon")]
)
def test_every_page_says_that_a_judging_undoes_a_difference_without_bounds(
    name: str, test: str
) -> None:
    two = irl.compare(QRELS, {"good": GOOD, "new": NEW}, name, test=test)
    ((word, depth),) = two.verdicts(holds=True)[["holds", "depth"]].to_numpy()
    assert word == "could be undone"
    assert depth == 100
    page = " ".join(two.summary().split())
    assert "could undo the difference: with some grades, good is not ahead." in page
    three = irl.compare(
        QRELS,
        {"good": GOOD, "new": NEW, "worse": WORSE},
        name,
        test=test,
        baseline="good",
    )
    holds = three.verdicts(holds=True).set_index("run_a")["holds"]
    row = next(x for x in three.summary().splitlines() if x.startswith("new "))
    assert holds["new"] == "could be undone"
    assert row.endswith("-?")
    assert r"\dagger" in three.to_latex(holds=True)
    for text in (page, two.to_markdown()):
        assert "not bounded" not in text
        assert "no bounds" not in text


def test_judgings_favour_the_document_that_the_other_run_ranks_lowest() -> None:
    ranks = np.array([[1.0, 2, 3, 4], [2.0, 9, 4, 1]])
    masks = [mask.tolist() for mask in _relevant_documents(np.zeros(4, int), ranks)]
    assert len(masks) == 12
    first, lowest = [True, False, False, False], [False, True, False, False]
    assert masks[5:7] == [first, lowest]
    assert masks[10:] == [[False, False, False, True]] * 2
