"""The axiom checker finds known violations, and finds none where a property is proven."""

from __future__ import annotations

import importlib.util
import re
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ir_lexirecall as irl
from ir_lexirecall.evaluation import parse_measures
from ir_lexirecall.meta.checking import PROPERTIES, axioms, check, properties
from ir_lexirecall.meta.rankings import Ranking, values

pytestmark = pytest.mark.filterwarnings("ignore:RBU", "ignore:the run retrieves nothing")

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
    return axioms(measures, cases=60, progress=False).set_index(["measure", "property"]).sort_index()


# -- the rankings that are scored ------------------------------------------------------------------

GRADES = st.lists(st.integers(0, 2), min_size=1, max_size=6).map(tuple)
SOME = st.lists(st.builds(Ranking, GRADES, st.lists(st.integers(0, 2), max_size=3).map(tuple)), min_size=1, max_size=5)


def collection(rankings: list[Ranking]) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    qrels, run = {}, {}
    for q, ranking in enumerate(rankings):
        labels = [*ranking.retrieved, *ranking.missing]
        qrels[f"q{q}"] = {f"d{i}": label for i, label in enumerate(labels)}
        run[f"q{q}"] = {f"d{i}": -float(i) for i in range(len(ranking.retrieved))}
    return qrels, run


@settings(max_examples=30)
@given(rankings=SOME)
def test_rankings_score_as_queries_do(rankings: list[Ranking]) -> None:
    measures = parse_measures(["AP", "AP(rel=2)@3", "nDCG", "R@2", "TSE", "LR", "RBU", "Rprec", "CWL_ERR10(max_rel=2)"])
    expected = irl.evaluate(measures, *collection(rankings))
    for name, measure in measures.items():
        assert values(measure, rankings) == pytest.approx(expected[name].to_numpy(), rel=1e-12, abs=1e-15), name


@settings(max_examples=30)
@given(
    labels=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=5),
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
        assert values(measure, [ranking], weights=weights)[0] == pytest.approx(expected[name], rel=1e-12, abs=1e-15)


def test_labels_of_named_aspects_are_the_ends_of_their_scales() -> None:
    measure = irl.CAM(aspects={"a": {0: 0, 2: 1, 5: 3}, "b": 1}, base="nDCG")
    qrels = pd.DataFrame({"query_id": "q", "doc_id": ["x", "y"], "relevance": 1, "a": [0, 5], "b": [1, 0]})
    expected = irl.evaluate(measure, qrels, {"q": {"x": 2, "y": 1}}).iloc[0, 0]
    assert values(measure, [Ranking(((0, 1), (1, 0)))])[0] == pytest.approx(expected)


def test_values_do_not_depend_on_how_rankings_are_blocked(monkeypatch: pytest.MonkeyPatch) -> None:
    rankings = [Ranking((0,) * i + (1,), (1,) * (i % 3)) for i in range(20)]
    whole = values(irl.LR, rankings)
    monkeypatch.setattr("ir_lexirecall.meta.rankings._DOCUMENTS", 7)
    assert (values(irl.LR, rankings) == whole).all()


def test_rankings_are_spelt_shortly() -> None:
    assert str(Ranking((0, 0, 0, 0, 1), (1, 1))) == "[0x4 1 | 1 1]"
    assert str(Ranking(((1, 0), (0, 2)))) == "[1+0 0+2]"


# -- known answers ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("measure", "violated"),
    [
        ("R@5", "strict swap"),
        ("R@5", "strict replacement"),
        ("R@5", "priority"),
        ("R@5", "concavity"),
        ("RR", "closeness threshold"),
        ("RR", "priority"),
        ("TSE", "strict swap"),
        ("AP", "deepness threshold"),
        ("AP", "confidence"),
        ("AP", "deepness"),
        ("nDCG", "deepness threshold"),
        ("nDCG@10", "priority"),
        ("LR", "deepness threshold"),
        ("RBP(p=0.8)", "confidence"),
        ("RBP(p=0.8)", "redundancy"),
        ("RBP(p=0.8)", "realizability"),
        ("RBU", "boundedness"),
        ("RBU", "monotonicity in retrieval size"),
        (f"CAM({TWO})", "realizability"),
        (f"MM({TWO})", "realizability"),
    ],
)
def test_known_violations_are_found(found: pd.DataFrame, measure: str, violated: str) -> None:
    row = found.loc[measure, violated]
    assert row["result"] == "fails"
    assert "[" in row["counterexample"]


@pytest.mark.parametrize("measure", ["AP", "nDCG", "nDCG@10", "R@5", "RR", "RBP(p=0.8)", "TSE", "LR", "RBU"])
@pytest.mark.parametrize("proven", ["swap", "replacement", "swapping up", "monotonicity in nonrelevance"])
def test_utility_oriented_measures_never_fall_by_swap_or_replacement(
    found: pd.DataFrame, measure: str, proven: str
) -> None:
    assert found.loc[(measure, proven), "result"] == "holds"
    assert found.loc[(measure, proven), "counterexample"] == ""


def test_rank_biased_utility_meets_all_ten_constraints(found: pd.DataFrame) -> None:
    constraints = [each.name for each in PROPERTIES if each.source.startswith("Amigó")]
    assert len(constraints) == 10
    assert (found.loc["RBU"].loc[constraints, "result"] == "holds").all()


def test_a_total_order_of_labels_can_reach_1_and_the_means_cannot(found: pd.DataFrame) -> None:
    assert found.loc[(f"TOMA({TWO})", "realizability"), "result"] == "holds"
    for measure in ("CAM", "MM"):
        told = found.loc[(f"{measure}({TWO})", "realizability"), "counterexample"]
        assert "[1+0 0+1]" in told or "[0+1 1+0]" in told  # two documents with incomparable labels
    assert (found.loc[f"CAM({TWO})", "result"] == "not applicable").sum() == 5


def test_lexirecall_and_ap_answer_to_every_change(found: pd.DataFrame) -> None:
    for measure in ("LR", "AP"):
        assert (found.loc[measure].loc[["strict swap", "strict replacement", "priority"], "result"] == "holds").all()


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
    rows = check(measure, size=4, cases=0)
    rows = rows[(rows["result"] == "fails") & ~rows["counterexample"].str.contains(r"\+|moves up|no order", regex=True)]
    assert len(rows) > 0
    for row in rows.itertuples():
        first, second = (parsed(text) for text in re.findall(r"\[(.*?)\]", row.counterexample))
        scores = irl.evaluate(measure, *collection([first, second])).iloc[:, 0].tolist()
        assert scores[0] <= scores[1], row.property
        strict = next(each for each in PROPERTIES if each.name == row.property).strict
        assert strict or scores[0] < scores[1]
        topics = [sorted([*each.retrieved, *each.missing]) for each in (first, second)]
        assert topics[0] == topics[1]  # both rankings are of one topic


def test_the_smallest_counterexamples_are_given(found: pd.DataFrame) -> None:
    assert found.loc[("RR", "strict swap"), "counterexample"] == "[1 1 0] scores 1, not more than [1 0 1], 1"
    assert found.loc[("AP", "confidence"), "counterexample"] == "[1 | 0] scores 1, not more than [1 0], 1"
    assert found.loc[("AP", "deepness threshold"), "counterexample"].startswith(
        "[1 | 1 1 1 0x4] scores 0.25, not more than"
    )


def test_deepness_of_average_precision_fails_as_its_formula_says() -> None:
    higher = (1 / 5 + 2 / 8) / 2
    lower = (1 / 6 + 2 / 7) / 2
    assert higher < lower
    told = check("AP", cases=0).set_index("property").loc["deepness", "counterexample"]
    assert told == f"[0x4 1 0 0 1] scores {higher:.6g}, not more than [0x5 1 1 0], {lower:.6g}"


# -- the search ------------------------------------------------------------------------------------


def test_results_depend_on_the_seed_alone() -> None:
    pd.testing.assert_frame_equal(
        pd.DataFrame(check("nDCG@10", size=2, cases=30, seed=7)),
        pd.DataFrame(check("nDCG@10", size=2, cases=30, seed=7)),
    )


def test_random_cases_find_what_is_too_large_to_enumerate() -> None:
    small = check("AP", size=2, cases=0).set_index("property")
    assert small.loc["deepness", "result"] == "not applicable"
    large = check("AP", size=2, cases=200).set_index("property")
    assert large.loc["deepness", "result"] == "fails"
    assert large.loc["deepness", "search"].endswith("200 random cases of size 3 to 15")


@pytest.mark.parametrize("cutoff", [20, 1000])
def test_what_breaks_at_the_cutoff_only_is_found(cutoff: int, monkeypatch: pytest.MonkeyPatch) -> None:
    broken_there = ("priority", "strict swap", "strict replacement", "concavity")
    proven = ("swap", "replacement", "swapping up", "deepness threshold")
    if cutoff > 20:
        search_only(monkeypatch, *broken_there, *proven)
    found = check(f"nDCG@{cutoff}", cases=20).set_index("property")
    for name in broken_there:
        assert found.loc[name, "result"] == "fails"
        assert f"4 documents across rank {cutoff} (" in found.loc[name, "search"]
    broken = f"[0x{cutoff} 1 0] scores 0, not more than [0x{cutoff + 1} 1], 0 (reaches below the cutoff)"
    assert found.loc["priority", "counterexample"] == broken
    for name in proven:
        assert found.loc[name, "result"] == "holds"
    search_only(monkeypatch, "strict replacement")
    assert check(f"P@{cutoff}", cases=0).set_index("property").loc["strict replacement", "result"] == "fails"


@pytest.mark.parametrize("measure", ["nDCG@20", "RBU(max_rel=1)@20", "CWL_ERR8(max_rel=1)@20"])
def test_swaps_on_both_sides_of_the_cutoff_are_compared(measure: str, monkeypatch: pytest.MonkeyPatch) -> None:
    search_only(monkeypatch, "deepness")
    row = check(measure, cases=0).set_index("property").loc["deepness"]
    assert (row["result"], row["counterexample"][:6]) == ("fails", "[0x17 ")


def test_what_the_cutoff_has_no_part_in_is_not_put_down_to_it() -> None:
    found, uncut = (check(measure, cases=0).set_index("property") for measure in ("RR@3", "RR"))
    for name in ("strict replacement", "strict swap", "priority"):
        assert found.loc[name, "counterexample"] == uncut.loc[name, "counterexample"]


def test_a_cutoff_within_the_enumerated_rankings_needs_no_search_of_its_own() -> None:
    assert not check("nDCG@2", cases=5)["search"].str.contains("across").any()


def test_the_deepness_threshold_may_be_thousands_of_documents(monkeypatch: pytest.MonkeyPatch) -> None:
    search_only(monkeypatch, "deepness threshold")
    for measure in ("RBP(p=0.999)", "P@5000"):  # p^n < 1 - p from n = 6,905 on
        row = check(measure, size=1, cases=0).set_index("property").loc["deepness threshold"]
        assert (row["result"], row["search"]) == ("holds", "n = 1, 2, 4, ..., 32768")


def test_tiny_values_are_told_apart() -> None:
    found = check("RBP(p=0.05)", size=3, cases=0).set_index("property")
    assert found.loc["strict swap", "result"] == "holds"
    tiny = check("RBP(p=0.001)", size=8, cases=0).set_index("property")["counterexample"]
    assert "[0x7 1]" not in tiny["priority"]  # 1e-21 is more than 0


def test_topics_need_a_document_that_is_relevant_to_the_measure() -> None:
    found = check("AP(rel=2)", grades=[0, 1, 2], cases=0).set_index("property")
    assert found.loc["realizability", "result"] == "holds"


def test_the_properties_of_binary_relevance_are_searched_with_two_grades() -> None:
    found = check("nDCG", grades=[0, 1, 2], cases=0).set_index("property")
    assert found.loc["monotonicity in relevance", "result"] == "holds"


def test_many_rankings_are_not_enumerated(monkeypatch: pytest.MonkeyPatch) -> None:
    largest = check("AP", size=10**9, cases=0).set_index("property")
    assert largest.loc["monotonic redundancy", "result"] == "fails"
    search_only(monkeypatch, "swap", "query aspect diversity")
    for search in (largest["search"], check("AP", size=50, cases=0).set_index("property")["search"]):
        assert search["swap"].startswith("exhaustive to size 11")
        assert search["query aspect diversity"].startswith("exhaustive to size 5")


def test_values_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match=r"axioms: RBU is not a number for \["):
        check("RBU", grades=[0, 2000], size=1, cases=0)


def test_grades_and_size_are_as_asked() -> None:
    graded = check("AP", grades=[0, 1, 2], size=3, cases=0).set_index("property")
    assert graded.loc["strict swap", "counterexample"] == "[2 1] scores 1, not more than [1 2], 1"
    assert graded.loc["strict swap", "search"].startswith("exhaustive to size 3")
    assert (
        check("AP(rel=2)", size=2, cases=0).set_index("property").loc["confidence", "counterexample"].startswith("[2 ")
    )


def test_a_measure_of_a_small_collection_is_searched_within_it() -> None:
    results = check("TSE(n=12,exposure='linear')", cases=20).set_index("property")
    assert results.loc["swap", "result"] == "holds"
    assert results.loc["swap", "search"].endswith("of size 9 to 10")
    assert results.loc["deepness threshold", "search"] == "n = 1, 2, 4, ..., 4"
    assert results.loc["aspect relevance saturation", "result"] == "not applicable"


def test_what_no_small_ranking_shows_is_not_said_to_hold() -> None:
    row = check("TSE", size=3, cases=0).set_index("property").loc["deepness"]  # it takes two swaps
    assert (row["result"], row["counterexample"]) == ("not applicable", "")
    assert row["search"] == "no case is that small: exhaustive to size 3 (0 cases)"
    assert check("TSE", size=3, cases=20).set_index("property").loc["deepness", "result"] == "fails"


@pytest.mark.parametrize(
    ("measure", "options", "message"),
    [
        ("nothing", {}, "not a measure"),
        ("CWL_ERR10", {}, "max_rel"),
        ("AP", {"grades": [1, 2]}, "grades must be 0 and some larger integers"),
        ("AP", {"grades": [0, 1.5]}, "grades must be 0 and some larger integers"),
        ("CWL_ERR10(max_rel=1)", {"grades": [0, 1, 2]}, "above max_rel=1"),
        (f"CAM({TWO})", {"grades": [0, 2]}, "leave out grades"),
        ("AP", {"cases": -1}, "cases must be an integer of at least 0, not -1"),
        ("AP", {"size": 0}, "size must be an integer of at least 1, not 0"),
        ("AP", {"grades": 5}, "grades must be 0 and some larger integers in order, not 5"),
    ],
)
def test_bad_input_is_named(measure: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check(measure, **options)


def test_measures_of_subtopics_are_scored_by_their_provider() -> None:
    if importlib.util.find_spec("pyndeval") is None:
        with pytest.raises(ValueError, match="pyndeval"):
            check("alpha_nDCG@10", size=1, cases=0)
        return
    found = check("alpha_nDCG@10", size=3, cases=0).set_index("property")
    assert found.loc["redundancy", "counterexample"].endswith("(reaches below the cutoff)")
    assert found.loc["query aspect diversity", "counterexample"].endswith("(reaches below the cutoff)")
    assert found.loc["aspect relevance", "result"] == "fails"
    assert not found.loc["aspect relevance", "counterexample"].endswith("(reaches below the cutoff)")


def test_studies_say_what_was_run_and_are_drawn() -> None:
    study = axioms(["AP", f"CAM({TWO})"], size=2, cases=3, seed=5, progress=False)
    assert (study.attrs["seed"], study.attrs["cases"], study.attrs["size"]) == (5, 3, 2)
    assert list(study["property"].unique()) == properties()["property"].to_list()
    pytest.importorskip("matplotlib")
    assert study.plot().images
    assert properties().plot().patches
