"""The axiom checker finds known violations, and finds none where a property is proven."""

from __future__ import annotations

import importlib.util
import itertools
import re
from collections.abc import Iterator
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ir_lexirecall as irl
from ir_lexirecall import evaluate
from ir_lexirecall._util.measure_strings import parse_measure
from ir_lexirecall.data.aligned_run import AlignedRun
from ir_lexirecall.measures.declaration import REGISTRY
from ir_lexirecall.measures.parsing import parse_measures
from ir_lexirecall.meta import axioms
from ir_lexirecall.meta.checking import with_gains
from ir_lexirecall.meta.laws import PROPERTIES, moffat
from ir_lexirecall.meta.laws.properties import Search
from ir_lexirecall.meta.made_up_rankings import Ranking, values

pytestmark = pytest.mark.sparse

TWO = "aspects={'a':2,'b':1}"


def search_only(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Let ``check`` look at these properties alone; all of them take it long for deep rankings."""
    chosen = tuple(known for known in PROPERTIES if known.name in names)
    assert len(chosen) == len(names)
    monkeypatch.setattr("ir_lexirecall.meta.checking.PROPERTIES", chosen)


@pytest.fixture(scope="module")
def found() -> pd.DataFrame:
    """Results and counterexamples of several measures, by measure and property."""
    measures = [
        "AP",
        "nDCG",
        "nDCG@10",
        "R@5",
        "RR",
        "RBP(p=0.8)",
        "TSE",
        "LR",
        "RBU",
        f"CAM({TWO})",
        f"MM({TWO})",
        f"TOMA({TWO})",
    ]
    return axioms(measures, cases=40).set_index(["measure", "property"]).sort_index()


# -- the rankings that are scored ------------------------------------------------------------------

GRADES = st.lists(st.integers(0, 2), min_size=1, max_size=6).map(tuple)
SOME = st.lists(
    st.builds(Ranking, GRADES, st.lists(st.integers(0, 2), max_size=3).map(tuple)),
    min_size=1,
    max_size=5,
)


def collection(
    rankings: list[Ranking],
) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    qrels, run = {}, {}
    for q, ranking in enumerate(rankings):
        labels = [*ranking.retrieved, *ranking.missing]
        qrels[f"q{q}"] = {f"d{i}": label for i, label in enumerate(labels)}
        run[f"q{q}"] = {f"d{i}": -float(i) for i in range(len(ranking.retrieved))}
    return qrels, run


@pytest.mark.slow
@settings(max_examples=30)
@given(rankings=SOME)
def test_rankings_score_as_queries_do(rankings: list[Ranking]) -> None:
    measures = parse_measures(
        [
            "AP",
            "AP(rel=2)@3",
            "nDCG",
            "R@2",
            "TSE",
            "LR",
            "RBU",
            "Rprec",
            "CWL_ERR10(max_rel=2)",
        ]
    )
    expected = irl.evaluate(measures, *collection(rankings))
    for name, measure in measures.items():
        assert values(measure, rankings) == pytest.approx(
            expected[name].to_numpy(), rel=1e-12, abs=1e-15
        ), name


@settings(max_examples=30)
@given(
    labels=st.lists(
        st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=5
    ),
    retrieved=st.integers(0, 5),
    weights=st.sampled_from([(), (3.0, 1.0)]),
)
def test_labels_of_subtopics_score_as_rows_of_the_qrels(
    labels: list[tuple[int, int]], retrieved: int, weights: tuple[float, ...]
) -> None:
    ranking = Ranking(tuple(labels[:retrieved]), tuple(labels[retrieved:]))
    rows = [
        {
            "query_id": "q",
            "doc_id": f"d{i}",
            "relevance": grade,
            "subtopic_id": f"t{t}",
            "weight": (weights or (1, 1))[t],
        }
        for i, label in enumerate(labels)
        for t, grade in enumerate(label)
    ]
    run = {"q": {f"d{i}": -float(i) for i in range(min(retrieved, len(labels)))}}
    expected = irl.evaluate([irl.RBU, "AP"], pd.DataFrame(rows), run).iloc[0]
    for name, measure in parse_measures([irl.RBU, "AP"]).items():
        assert values(measure, [ranking], weights=weights)[0] == pytest.approx(
            expected[name], rel=1e-12, abs=1e-15
        )


def test_labels_of_named_aspects_are_the_ends_of_their_scales() -> None:
    measure = irl.CAM(aspects={"a": {1: 0, 2: 1, 5: 3}, "relevance": 1}, base="nDCG")
    qrels = pd.DataFrame(
        {"query_id": "q", "doc_id": ["x", "y"], "relevance": [1, 0], "a": [1, 5]}
    )
    expected = irl.evaluate(measure, qrels, {"q": {"x": 2, "y": 1}}).iloc[0, 0]
    assert values(measure, [Ranking(((0, 1), (1, 0)))])[0] == pytest.approx(expected)


def test_values_do_not_depend_on_how_rankings_are_blocked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rankings = [Ranking((0,) * i + (1,), (1,) * (i % 3)) for i in range(20)]
    whole = values(irl.LR, rankings)
    monkeypatch.setattr("ir_lexirecall.data.alignment._ROWS", 7)
    assert (values(irl.LR, rankings) == whole).all()


# -- known answers ---------------------------------------------------------------------------------


VIOLATED = {
    "R@5": "strict swap, strict replacement, priority, concavity, realizability",
    "RR": "closeness threshold, priority, strictly increasing in relevance",
    "TSE": "strict swap, strictly increasing in relevance, strictly increasing in swapping up, strict concavity",
    "AP": "deepness threshold, confidence, deepness, set-based order, suffix invariance, prefix invariance, localization, "
    "strictly increasing in retrieval size, strictly decreasing in nonrelevance",
    "nDCG": "deepness threshold",
    "nDCG@10": "priority, localization",
    "LR": "deepness threshold",
    "RBP(p=0.8)": "confidence, redundancy, realizability",
    "RBU": "boundedness, increasing in retrieval size",
    f"CAM({TWO})": "reachable maximum",
    f"MM({TWO})": "reachable maximum",
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("measure", "violated"),
    [(measure, law) for measure, laws in VIOLATED.items() for law in laws.split(", ")],
)
def test_known_violations_are_found(
    found: pd.DataFrame, measure: str, violated: str
) -> None:
    row = found.loc[measure, violated]
    assert row["result"] == "fails"
    assert "[" in row["counterexample"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "measure", ["AP", "nDCG", "nDCG@10", "R@5", "RR", "RBP(p=0.8)", "TSE", "LR", "RBU"]
)
@pytest.mark.parametrize(
    "proven",
    ["swap", "replacement", "increasing in swapping up", "decreasing in nonrelevance"],
)
def test_utility_oriented_measures_never_fall_by_swap_or_replacement(
    found: pd.DataFrame, measure: str, proven: str
) -> None:
    assert found.loc[(measure, proven), "result"] == "holds"
    assert found.loc[(measure, proven), "counterexample"] == ""


@pytest.mark.slow
def test_rank_biased_utility_meets_all_ten_constraints_by_one_reading_of_the_last(
    found: pd.DataFrame,
) -> None:
    constraints = [law.name for law in PROPERTIES if law.source.startswith("Amigó")]
    assert len(constraints) == 11
    result = found.loc["RBU"].loc[constraints, "result"]
    assert list(result.index[result != "holds"]) == ["aspect relevance"]


def test_a_document_below_can_outweigh_the_heavier_subtopic() -> None:
    """As the paper prints aspect relevance, with weights of .4 and .6, RBU violates it."""
    rows = [
        ("q", "h", 1, "t", 0.6),
        ("q", "l", 1, "u", 0.4),
        ("q", "below", 1, "t", 0.6),
    ]
    qrels = pd.DataFrame(
        rows, columns=["query_id", "doc_id", "relevance", "subtopic_id", "weight"]
    )
    measure = "RBU(p=0.8,e=0,gain='linear',max_rel=2)"
    first = {
        doc: evaluate(measure, qrels, {"q": {doc: 2.0, "below": 1.0}}).loc["q", measure]
        for doc in "hl"
    }
    assert first == pytest.approx(
        {"h": 0.8 * 0.3 + 0.64 * 0.15, "l": 0.8 * 0.2 + 0.64 * 0.3}
    )
    assert first["h"] < first["l"]


# -- counterexamples -------------------------------------------------------------------------------


def parsed(ranking: str) -> Ranking:
    retrieved, _, missing = ranking.partition("|")
    parts = []
    for text in (retrieved, missing):
        labels: list[int] = []
        for word in text.split():
            label, _, times = word.partition("x")
            labels += [int(label)] * int(times or 1)
        parts.append(tuple(labels))
    return Ranking(*parts)


@pytest.mark.parametrize("measure", ["AP", "nDCG", "R@5", "TSE", "LR", "Rprec"])
def test_counterexamples_are_true_by_the_reference(measure: str) -> None:
    rows = axioms(measure, size=4, cases=0)
    rows = rows[
        (rows["result"] == "fails")
        & (rows["source"] != "Moffat 2013")  # about depths
        & ~rows["counterexample"].str.contains(
            r"\+|moves up|no order|not 1", regex=True
        )
    ]
    assert len(rows) >= 8
    for row in rows.itertuples():
        first, second = (
            parsed(text) for text in re.findall(r"\[(.*?)\]", row.counterexample)
        )
        scores = irl.evaluate(measure, *collection([first, second])).iloc[:, 0].tolist()
        assert scores[0] <= scores[1], row.property
        strict = next(law for law in PROPERTIES if law.name == row.property).strict
        assert strict or scores[0] < scores[1]
        topics = [
            sorted([*ranking.retrieved, *ranking.missing])
            for ranking in (first, second)
        ]
        assert (
            topics[0] == topics[1] or row.property == "localization"
        )  # both rankings are of one topic


@pytest.mark.slow
def test_the_smallest_counterexamples_are_given(found: pd.DataFrame) -> None:
    assert (
        found.loc[("RR", "strict swap"), "counterexample"]
        == "[1 1 0] scores 1, not more than [1 0 1], 1"
    )
    assert (
        found.loc[("AP", "confidence"), "counterexample"]
        == "[1 | 0] scores 1, not more than [1 0], 1"
    )
    assert found.loc[("AP", "deepness threshold"), "counterexample"].startswith(
        "[1 0x7 | 1 1 1] scores 0.25, not more than [0x4 1x4 | 0 0 0]"
    )


# -- the properties of Diaz et al., Table 8 ------------------------------------------------------------

TABLE_8 = {  # marks of: recall-level metrics, those with z > 0, TSE, LR; None: not applicable there
    "increasing in retrieval size": (1, 1, 1, 1),
    "strictly increasing in retrieval size": (0, 0, 0, 0),
    "decreasing in nonrelevance": (1, 1, 1, 1),
    "strictly decreasing in nonrelevance": (0, 0, 0, 0),
    "increasing in relevance": (1, 1, 1, 1),
    "strictly increasing in relevance": (0, 1, 0, 1),
    "increasing in swapping up": (1, 1, 1, 1),
    "strictly increasing in swapping up": (
        0,
        1,
        0,
        None,
    ),  # of LR the proof shows it, the table leaves it out
    "concavity": (1, 1, 1, None),
    "strict concavity": (0, 1, 0, None),  # where e'' > 0
    "suffix invariance": (0, 0, 0, 0),
    "prefix invariance": (0, 0, 0, 0),
    "localization": (0, 0, 0, None),
}
MEMBERS = (
    ["RR", "AP", "nDCG", "RBP(p=0.8)"],
    ["AP", "nDCG", "RBP(p=0.8)"],
    ["TSE"],
    ["LR"],
)


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLE_8)
def test_the_table_of_diaz_et_al(found: pd.DataFrame, name: str) -> None:
    """What is marked holds for every measure of the class; what is not has a counterexample in it."""
    for mark, members in zip(TABLE_8[name], MEMBERS, strict=True):
        results = [found.loc[(measure, name), "result"] for measure in members]
        if mark is not None:
            assert (set(results) == {"holds"}) == bool(mark), (members, results)
    assert found.loc[("LR", "strictly increasing in swapping up"), "result"] == "holds"


# -- Moffat's numeric properties -----------------------------------------------------------------------

MOFFAT = [law.name for law in PROPERTIES if law.source == "Moffat 2013"]
HAS = {  # in the order of the properties, boundedness first and realizability last
    "P@3": "+-+-++-",
    "R@3": "+++----",
    "RR": "++--+++",
    "RBP(p=0.8)": "++++++-",
    "ERR@5": "++++++-",
    "AP": "++++---",
    "nDCG": "+-++--+",
    "Rprec": "++-----",
    "TSE": "++-----",
    "LR": "++++---",
    "SL3": "-+-----",
}


@pytest.mark.parametrize("measure", HAS)
def test_moffats_properties(measure: str, monkeypatch: pytest.MonkeyPatch) -> None:
    search_only(monkeypatch, *MOFFAT)
    rows = axioms(measure, size=4, cases=0)
    assert rows["property"].tolist() == MOFFAT
    assert "".join(rows["result"].map({"holds": "+", "fails": "-"})) == HAS[measure]


def at_depth(measure: str, row: tuple[int, ...], missing: int, k: int) -> float:
    """The value of the first k documents, by a measure that is cut there."""
    labels = [*row, *[1] * missing]
    run = {"q": {f"d{i}": -float(i) for i in range(len(row))}}
    qrels = {"q": {f"d{i}": label for i, label in enumerate(labels)}}
    return float(irl.evaluate(f"{measure}@{k}", qrels, run, aggregate=True).iloc[0])


@pytest.mark.slow
@pytest.mark.parametrize("measure", ["P", "R", "RR", "AP", "nDCG", "TSE", "LR"])
def test_moffats_properties_by_plain_loops(
    measure: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    has = dict.fromkeys(["monotonicity", "convergence", "top-weightedness"], True)
    for row in itertools.product((0, 1), repeat=4):
        for k, missing in itertools.product((1, 2, 3), (0, 1)):
            if not any(row) and not missing:
                continue
            value = at_depth(measure, row, missing, k)
            has["monotonicity"] &= (
                value <= at_depth(measure, row, missing, k + 1) + 1e-12
            )
            for i, j in itertools.combinations(range(4), 2):
                if row[i] < row[j] and i < k:
                    name = "convergence" if j >= k else "top-weightedness"
                    after = list(row)
                    after[i], after[j] = row[j], row[i]
                    has[name] &= (
                        at_depth(measure, tuple(after), missing, k) > value + 1e-12
                    )
    search_only(monkeypatch, *has)
    results = axioms(f"{measure}@7", size=4, cases=0).set_index("property")["result"]
    assert (results == "holds").to_dict() == has


def test_completeness_of_a_users_measure_is_not_declared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    search_only(monkeypatch, "Moffat's completeness")

    class OfAUser(irl.Measure, register=False):
        """A measure that is declared elsewhere."""

        NAME = "OfAUser"

        def score(self, run: AlignedRun) -> Any:
            return np.ones(len(run.judgments))

    row = axioms(OfAUser(), size=2, cases=0).iloc[0]
    assert row[["result", "search"]].tolist() == ["not applicable", "not declared"]


def test_every_measure_declared_complete_exists() -> None:
    known = {*REGISTRY, *ir_measures.measures.registry}
    assert known >= moffat.WITHOUT_RELEVANT


DIAZ_MEASURES = [
    "AP",
    "nDCG",
    "R@2",
    "P@2",
    "RR",
    "TSE",
    "LR",
    "Rprec",
    "RBP(p=0.8)",
    "NumRet",
]


def verdicts_of_diaz(measure: str, size: int) -> dict[str, bool]:
    """Whether each property holds, by plain loops over all rankings of up to so many documents."""
    known: dict[Any, float] = {}
    cases: list[
        tuple[str, list[tuple[int, Ranking]]]
    ] = []  # sums that must not be negative
    cutoff = int(measure[2:]) if measure[1:2] == "@" else 0
    for length in range(1, size + 1):
        for row in itertools.product((0, 1), repeat=length):
            for missing in ((), (1,)):
                ranking = Ranking(row, missing)
                one, two = Ranking((*row, 0), missing), Ranking((*row, 1), missing)
                without = Ranking(row, (*missing, 0)), Ranking(row, (*missing, 1))
                for longer, shorter in ((one, without[0]), (two, without[1])):
                    cases.append(
                        ("increasing in retrieval size", [(1, longer), (-1, shorter)])
                    )
                cases.append(
                    ("decreasing in nonrelevance", [(1, without[0]), (-1, one)])
                )
                cases.append(("increasing in relevance", [(1, two), (-1, without[1])]))
                for i in range(length):
                    other = Ranking(
                        (*row[:i], 1 - row[i], *row[i + 1 :]), (row[i], *missing)
                    )
                    same = Ranking(row, (1 - row[i], *missing))
                    if i >= max(1, cutoff):
                        cases += [
                            ("suffix invariance", [(s, other), (-s, same)])
                            for s in (1, -1)
                        ]
                        cases += [
                            ("localization", [(s, other), (-s, same)]) for s in (1, -1)
                        ]
                    if i < length - 1:
                        cases += [
                            ("prefix invariance", [(s, other), (-s, same)])
                            for s in (1, -1)
                        ]
                    if row[i] == 0 and missing:
                        up = Ranking((*row[:i], 1, *row[i + 1 :]), (0,))
                        cases.append(
                            ("increasing in swapping up", [(1, up), (-1, ranking)])
                        )
                    for j in range(i + 1, length):
                        if row[i] < row[j]:
                            swapped = [*row]
                            swapped[i], swapped[j] = 1, 0
                            cases.append(
                                (
                                    "increasing in swapping up",
                                    [
                                        (1, Ranking(tuple(swapped), missing)),
                                        (-1, ranking),
                                    ],
                                )
                            )
                    if i >= 2 and row[i - 2 : i + 1] == (0, 0, 1):
                        steps = [
                            Ranking((*row[: i - 2], *step, *row[i + 1 :]), missing)
                            for step in ((0, 1, 0), (1, 0, 0))
                        ]
                        cases.append(
                            ("concavity", [(1, steps[1]), (-2, steps[0]), (1, ranking)])
                        )
                if length >= cutoff and 1 in (*row, *missing):
                    cases += [
                        (
                            "localization",
                            [(s, Ranking(row, (*missing, 1))), (-s, ranking)],
                        )
                        for s in (1, -1)
                    ]
    rankings = list({ranking for _, terms in cases for _, ranking in terms})
    scores = irl.evaluate(measure, *collection(rankings)).iloc[:, 0]
    known = {ranking: scores[f"q{q}"] for q, ranking in enumerate(rankings)}
    holds: dict[str, bool] = {}
    strict = {"concavity": "strict concavity"}
    for name, terms in cases:
        if any(not sum((*r.retrieved, *r.missing)) for _, r in terms):
            continue  # topics without relevant documents
        total = sum(sign * known[ranking] for sign, ranking in terms)
        holds[name] = holds.get(name, True) and total >= -1e-12
        if f"strictly {name}" in TABLE_8 or name in strict:
            other_name = strict.get(name, f"strictly {name}")
            holds[other_name] = holds.get(other_name, True) and total > 1e-12
    return holds


@pytest.mark.parametrize("measure", DIAZ_MEASURES)
def test_properties_of_diaz_et_al_over_all_small_rankings(
    measure: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = verdicts_of_diaz(measure, 4)
    search_only(monkeypatch, *expected)
    table = axioms(measure, size=4, cases=0).set_index("property")["result"]
    assert len(expected) == 13
    assert {name: table[name] == "holds" for name in expected} == expected


def test_a_measure_that_is_no_number_without_relevant_documents_is_not_complete() -> (
    None
):
    class Undefined(irl.Measure, register=False):
        """Precision of a user who needs a relevant document in the topic."""

        NAME = "Undefined"

        def score(self, run: AlignedRun) -> Any:
            return np.where(
                run.judgments.m() > 0,
                run.relevant().r / np.maximum(run.judgments.m(), 1),
                np.nan,
            )

    row = axioms(Undefined(), size=3, cases=0).set_index("property").loc["completeness"]
    assert row[["result", "counterexample"]].tolist() == ["fails", "[| 0] scores nan"]


# -- the constraints of Amigó et al. -------------------------------------------------------------------

NEAR_0 = 2**20  # the top grade of a linear scale that makes grades 1 and 2 gains near 0
LABELS = [(a, b) for a in (0, 1, 2) for b in (0, 1, 2)]


def constraint_values(
    measure: str, rankings: list[Ranking], weights: tuple[float, float] = (1, 1)
) -> dict[Ranking, float]:
    """Values by evaluating every ranking as a query, with a row of the qrels per document and subtopic."""
    rows, run = [], {}
    for q, ranking in enumerate(rankings):
        labels = [*ranking.retrieved, *ranking.missing]
        several = isinstance(labels[0], tuple)
        for i, label in enumerate(labels):
            for t, grade in enumerate(label if several else (label,)):  # type: ignore[arg-type]
                rows.append((f"q{q}", f"d{i}", grade, f"t{t}", float(weights[t])))
        run[f"q{q}"] = {f"d{i}": -float(i) for i in range(len(ranking.retrieved))}
    qrels = pd.DataFrame(
        rows, columns=["query_id", "doc_id", "relevance", "subtopic_id", "weight"]
    )
    scores = irl.evaluate(measure, qrels, run).iloc[:, 0]
    return {ranking: scores[f"q{q}"] for q, ranking in enumerate(rankings)}


def holds_for_all(
    measure: str,
    pairs: list[tuple[Ranking, Ranking]],
    *,
    strict: bool = True,
    weights: Any = (1, 1),
) -> bool:
    """Whether the first ranking of every pair scores more (or not less)."""
    value = constraint_values(
        measure, list({r for pair in pairs for r in pair}), weights
    )
    differences = [value[a] - value[b] for a, b in pairs]
    tolerance = [1e-14 * max(abs(value[a]), abs(value[b])) for a, b in pairs]
    return all(
        d > t if strict else d >= -t
        for d, t in zip(differences, tolerance, strict=True)
    )


def rankings_of(size: int, labels: Any) -> Iterator[tuple[Any, ...]]:
    for length in range(1, size + 1):
        yield from itertools.product(labels, repeat=length)


def exchanged(row: tuple[Any, ...], i: int, j: int) -> tuple[Any, ...]:
    copy = [*row]
    copy[i], copy[j] = copy[j], copy[i]
    return tuple(copy)


def brute_force_constraints(near_0: str, partial: str, full: str) -> dict[str, bool]:
    """The ten constraints as the paper formalises them, the last one in two readings, by plain loops over all small rankings.

    The measure comes on three scales: with gains near 0, with gains below 1, and with gain 1 of the top grade.
    """
    verdict: dict[str, bool] = {}
    priority, deepness, confidence = [], [], []
    for row in rankings_of(4, (0, 1, 2)):
        for i, j in itertools.combinations(range(len(row)), 2):
            if row[i] < row[j]:
                priority.append((Ranking(exchanged(row, i, j)), Ranking(row)))
        for i, j in itertools.combinations(range(len(row) - 1), 2):
            if row[i] == row[j] < row[i + 1] == row[j + 1]:
                deepness.append(
                    (
                        Ranking(exchanged(row, i, i + 1)),
                        Ranking(exchanged(row, j, j + 1)),
                    )
                )
        if any(row):
            confidence.append((Ranking(row, (0,)), Ranking((*row, 0))))
    verdict["priority"] = holds_for_all(near_0, priority)
    verdict["deepness"] = holds_for_all(near_0, deepness)
    verdict["confidence"] = holds_for_all(near_0, confidence)
    ends = {
        n: (
            Ranking((1,) + (0,) * (2 * n - 1), (1,) * (n - 1)),
            Ranking((0,) * n + (1,) * n, (0,) * (n - 1)),
        )
        for n in (*range(1, 21), 500)
    }
    verdict["deepness threshold"] = holds_for_all(near_0, [ends[500]])
    verdict["closeness threshold"] = any(
        holds_for_all(near_0, [ends[n][::-1]]) for n in range(1, 21)
    )
    diversity = [
        (Ranking((*row[:i], label, *row[i + 1 :]), (row[i],)), Ranking(row, (label,)))
        for row in rankings_of(2, LABELS)
        for i in range(len(row))
        for label in LABELS
        if label[0] > row[i][0] and label[1] > row[i][1]
    ]
    verdict["query aspect diversity"] = holds_for_all(near_0, diversity)
    redundancy, monotonic = [], []
    for row in rankings_of(4, [(0, 0), (2, 0), (0, 2)]):
        if sum(a > 0 for a, _ in row) > sum(b > 0 for _, b in row):
            redundancy.append(
                tuple(
                    Ranking((*row, d), (*[(b, a) for a, b in row], d[::-1]))
                    for d in ((0, 2), (2, 0))
                )
            )
    for row in rankings_of(3, [(a, b) for a, b in LABELS if a > b]):
        for g in (1, 2):
            monotonic.append(
                tuple(
                    Ranking((*row, d), (*[(b, a) for a, b in row], d[::-1]))
                    for d in ((0, g), (g, 0))
                )
            )
    verdict["redundancy"] = holds_for_all(partial, redundancy)
    verdict["monotonic redundancy"] = holds_for_all(
        near_0.replace(str(NEAR_0), "2000"), monotonic
    )
    saturation = [
        (Ranking((*row, (2, 0)), ((g, 0),)), Ranking((*row, (2, 0), (g, 0))))
        for row in [(), *rankings_of(3, [(0, 0), (1, 0), (2, 0), (0, 1), (0, 2)])]
        for g in (1, 2)
    ]
    verdict["aspect relevance saturation"] = holds_for_all(
        full, saturation, strict=False
    )
    weightier = [
        tuple(
            Ranking(((0, 0),) * above + (d,) + ((0, 0),) * below, (d[::-1],))
            for d in ((g, 0), (0, g))
        )
        for above in range(4)
        for below in range(4)
        for g in (1, 2)
    ]
    verdict["aspect relevance, unseen elsewhere"] = holds_for_all(
        partial, weightier, weights=(1.1, 1)
    )
    as_printed = [
        tuple(
            Ranking(((0, 0),) * above + (d,) + below, (d[::-1], *lacking))
            for d in ((g, 0), (0, g))
        )
        for above in range(3)
        for below in [
            (),
            *rankings_of(3 - above, [(0, 0), (1, 0), (2, 0), (0, 1), (0, 2)]),
        ]
        for lacking in ((), ((2, 0), (2, 0)))
        for g in (1, 2)
    ]
    verdict["aspect relevance"] = holds_for_all(partial, as_printed, weights=(1.1, 1))
    return verdict


RBUS = [
    "p=0.99,e=0.05",
    "p=0.99,e=0.5",
    "p=0.99,e=0.001",
    "p=0.99,e=10",
    "p=0.76,e=0.05",
    "p=0.74,e=0.05",
    "p=0.99,e=0",
    "p=0.5,e=0.1",
]


@pytest.mark.slow_except("p=0.74,e=0.05")
@pytest.mark.parametrize("parameters", RBUS)
def test_the_ten_constraints_over_all_small_rankings(
    parameters: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``RBU(p=0.99)`` holds all ten for any e > 0, aspect relevance unseen elsewhere, and closeness from p > 3/4 on."""
    scales = [
        f"RBU({parameters},gain='linear',max_rel={top})" for top in (NEAR_0, 4, 2)
    ]
    expected = brute_force_constraints(*scales)
    search_only(monkeypatch, *expected)
    assert len(expected) == 11
    table = axioms(f"RBU({parameters})", cases=30).set_index("property")["result"]
    assert {name: table[name] == "holds" for name in expected} == expected
    p, e = (float(part.partition("=")[2]) for part in parameters.split(","))
    lacking = {name for name, holds in expected.items() if not holds}
    close = {"closeness threshold"} if p <= 0.75 else set()
    assert lacking == close | {"aspect relevance"} | (
        {"confidence"} if e == 0 else set()
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "measure", ["AP", "nDCG", "RR", "P@5", "ERR_IA@20", "alpha_nDCG@20", "LR"]
)
def test_the_constraints_of_measures_without_a_scale(
    measure: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the few rankings of plain loops, nothing breaks that ``check`` lets hold."""
    if (
        measure in ("ERR_IA@20", "alpha_nDCG@20")
        and importlib.util.find_spec("pyndeval") is None
    ):
        pytest.skip("pyndeval is not installed")
    expected = brute_force_constraints(measure, measure, measure)
    search_only(monkeypatch, *expected)
    table = axioms(measure, grades=[0, 1, 2], cases=30).set_index("property")["result"]
    for name, holds in expected.items():
        assert holds or table[name] == "fails", name


# -- the search ------------------------------------------------------------------------------------


def test_gains_are_scaled_where_a_constraint_asks_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    search_only(monkeypatch, "priority", "aspect relevance saturation", "strict swap")
    search = axioms("CWL_ERR10(max_rel=1)", cases=0).set_index("property")["search"]
    assert search["priority"].endswith("; gains near 0 where the measure has a scale")
    assert search["aspect relevance saturation"].endswith(
        "; gain 1 of the top grade where the measure has a scale"
    )
    assert "gain" not in search["strict swap"]
    scaled = with_gains(parse_measure("RBU(p=0.8,e=0.5)"), "small", 2)
    assert scaled == parse_measure("RBU(p=0.8,e=0.5,max_rel=22)")
    assert with_gains(parse_measure("NERR10(p=0.9)"), "partial", 2)["max_rel"] == 4
    inner = with_gains(parse_measure("IA(base='GERR(max_rel=3)')"), "full", 2)
    assert "max_rel=2" in inner["base"]
    assert "linear" in inner["base"]
    assert with_gains(parse_measure("AP"), "small", 2) == parse_measure("AP")


@pytest.mark.slow_except("20")
@pytest.mark.parametrize("cutoff", [20, 1000])
def test_what_breaks_at_the_cutoff_only_is_found(
    cutoff: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken_there = ("priority", "strict swap", "strict replacement", "concavity")
    proven = ("swap", "replacement", "increasing in swapping up", "deepness threshold")
    search_only(monkeypatch, *broken_there, *proven)
    found = axioms(f"nDCG@{cutoff}", cases=20).set_index("property")
    for name in broken_there:
        assert found.loc[name, "result"] == "fails"
        assert f"4 documents across rank {cutoff} (" in found.loc[name, "search"]
    broken = f"[0x{cutoff} 1 0] scores 0, not more than [0x{cutoff + 1} 1], 0 (reaches below the cutoff)"
    assert found.loc["priority", "counterexample"] == broken
    for name in proven:
        assert found.loc[name, "result"] == "holds"
    search_only(monkeypatch, "strict replacement")
    assert (
        axioms(f"P@{cutoff}", cases=0)
        .set_index("property")
        .loc["strict replacement", "result"]
        == "fails"
    )


def test_the_deepness_threshold_may_be_thousands_of_documents(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    search_only(monkeypatch, "deepness threshold")
    for measure in ("RBP(p=0.999)", "P@5000"):  # p^n < 1 - p from n = 6,905 on
        row = (
            axioms(measure, size=1, cases=0)
            .set_index("property")
            .loc["deepness threshold"]
        )
        assert (row["result"], row["search"].partition(";")[0]) == (
            "holds",
            "n = 1, 2, 4, ..., 32768",
        )


def test_tiny_values_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    search_only(monkeypatch, "strict swap", "priority")
    found = axioms("RBP(p=0.05)", size=3, cases=0).set_index("property")
    assert found.loc["strict swap", "result"] == "holds"
    tiny = axioms("RBP(p=0.001)", size=8, cases=0).set_index("property")[
        "counterexample"
    ]
    assert "[0x7 1]" not in tiny["priority"]  # 1e-21 is more than 0


def test_values_that_are_no_numbers_are_refused() -> None:
    class Undefined(irl.Measure, register=False):
        """A number for rankings of one document only."""

        NAME = "Undefined"

        def score(self, run: AlignedRun) -> Any:
            return np.where(run.depth == 1, 1.0, np.nan)

    with pytest.raises(ValueError, match=r"^axioms: Undefined is not a number for \["):
        axioms(Undefined(), size=2, cases=0)


def test_grades_and_size_are_as_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    search_only(monkeypatch, "strict swap", "confidence")
    graded = axioms("AP", grades=[0, 1, 2], size=3, cases=0).set_index("property")
    assert (
        graded.loc["strict swap", "counterexample"]
        == "[2 1] scores 1, not more than [1 2], 1"
    )
    assert graded.loc["strict swap", "search"].startswith("exhaustive to size 3")
    assert (
        axioms("AP(rel=2)", size=2, cases=0)
        .set_index("property")
        .loc["confidence", "counterexample"]
        .startswith("[2 ")
    )


@pytest.mark.slow
def test_a_measure_of_a_small_collection_is_searched_within_it() -> None:
    results = axioms("TSE(n=12,exposure='linear')", cases=20).set_index("property")
    assert results.loc["swap", "result"] == "holds"
    assert results.loc["swap", "search"].endswith("of size 9 to 10")
    assert results.loc["deepness threshold", "search"].startswith(
        "n = 1, 2, 4, ..., 4;"
    )
    assert results.loc["realizability", "search"] == "m = 1 to 12"


@pytest.mark.parametrize(
    ("measures", "grades", "message"),
    [
        ("ERR@10", [0, 7], "ERR@10 does not take grade 7: above max_rel=4"),
        (["AP", "ERR"], [0, 1, 5], "ERR does not take grade 5: above max_rel=4"),
        (
            "RBU(max_rel=2)",
            [0, 3],
            r"RBU\(max_rel=2\) does not .* grade 3: above max_rel=2",
        ),
        ("INST(max_rel=3)", [0, 4], r"INST\(max_rel=3\) does not .*; raise max_rel"),
        ("CWL_ERR10(max_rel=1)", [0, 2], ".* does not take grade 2: above max_rel=1"),
    ],
)
def test_grades_above_the_scale_are_refused_before_the_search(
    measures: Any, grades: list[int], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def search(*_: Any) -> None:
        raise AssertionError("it searches")

    monkeypatch.setattr(Search, "of", search)
    with pytest.raises(ValueError, match=f"^axioms: {message}"):
        axioms(measures, grades=grades)
