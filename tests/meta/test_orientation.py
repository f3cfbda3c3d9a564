"""Ties, orientation, agreement and worst cases, against enumeration and known answers."""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ir_lexirecall as irl
from ir_lexirecall.meta.behaviour import (
    agreement,
    orientation,
    provider_exposure,
    tie_probabilities,
    ties,
    worst_case,
)
from ir_lexirecall.meta.simulation import simulate_rankings

pytestmark = pytest.mark.filterwarnings("ignore:.*retrieves nothing")


# -- tie probabilities -----------------------------------------------------------------------------


def exact(study: pd.DataFrame) -> dict[str, Fraction]:
    return dict(zip(study["measure"], study["exact"], strict=True))


@pytest.mark.parametrize(("n", "m"), [(n, m) for n in range(1, 9) for m in range(1, n + 1)])
def test_tie_probabilities_are_those_of_all_pairs_of_rankings(n: int, m: int) -> None:
    k = 3
    outcomes = {
        "LexiRecall": lambda p: p,
        "TSE": lambda p: p[-1],
        "RR": lambda p: p[0],
        "R@3": lambda p: sum(rank <= k for rank in p),
        "Rprec": lambda p: sum(rank <= m for rank in p),
    }
    placements = list(itertools.combinations(range(1, n + 1), m))
    expected = {
        name: Fraction(sum(count**2 for count in Counter(map(outcome, placements)).values()), len(placements) ** 2)
        for name, outcome in outcomes.items()
    }
    assert exact(tie_probabilities(n, m, k=k)) == expected


NAMES = {"LR": "LexiRecall", "R1000": "R@1000", "RP": "Rprec", "TSE": "TSE"}


def test_tie_probabilities_equal_the_known_values(data: Any) -> None:
    for n, known in data.vectors("ties.json")["m=10"].items():
        found = tie_probabilities(int(n.removeprefix("n=")), 10).set_index("measure")["probability"]
        assert {name: found[NAMES[name]] for name in known} == pytest.approx(known, rel=1e-12, abs=0)


def test_tie_probabilities_print_as_in_the_paper(data: Any) -> None:
    table = data.vectors("ties.json")["paper_table3"]
    for n, printed in table.items():
        found = tie_probabilities(int(n.removeprefix("n=")), 10).set_index("measure")["probability"]
        for name, value in printed.items():
            assert abs(found[NAMES[name]] - value) <= 0.001, (n, name)  # the paper rounds some up and cuts others


def test_tie_probabilities_of_large_collections_are_exact() -> None:
    n, m = 10**9, 40
    found = exact(tie_probabilities(n, m))
    assert found["TSE"] == found["RR"]
    assert found["LexiRecall"] < found["TSE"] < Fraction(1, 10**6)
    assert exact(tie_probabilities(5, 5))["TSE"] == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n": 3, "m": 4}, "m=4 relevant documents do not fit into n=3"),
        ({"n": 0, "m": 1}, "n must be integers of at least 1, not 0"),
        ({"n": 3, "m": 1.5}, "m must be integers of at least 1, not 1.5"),
        ({"n": 3, "m": []}, "m: give at least one number"),
        ({"n": 3, "m": 1, "k": True}, "k must be integers"),
    ],
)
def test_impossible_collections_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        tie_probabilities(**arguments)


# -- orientation -----------------------------------------------------------------------------------


def test_reciprocal_rank_looks_at_the_first_and_tse_at_the_last() -> None:
    found = orientation(["RR", "TSE"], m=range(2, 6), n=50).set_index("measure")
    assert (found.loc["RR", ["precision", "recall"]].to_numpy() == [1, 0]).all()
    assert (found.loc["TSE", ["precision", "recall"]].to_numpy() == [0, 1]).all()


def test_with_one_relevant_document_first_and_last_are_the_same() -> None:
    found = orientation(["AP", "nDCG", "RR", "TSE", "LR", "R@10", "RBP"], m=1, n=100)
    assert found[["precision", "recall"]].to_numpy() == pytest.approx(1)


def test_recall_at_k_weighs_first_and_last_alike() -> None:
    found = orientation("R@10", m=range(1, 11), n=100)
    assert found["precision"].to_numpy() == pytest.approx(1 / found["m"].to_numpy())
    assert found["recall"].to_numpy() == pytest.approx(1 / found["m"].to_numpy())


def test_orientation_of_average_precision_is_that_of_its_formula() -> None:
    n, m = 30, 4

    def ap(*ranks: int) -> Fraction:
        return sum((Fraction(i, p) for i, p in enumerate(ranks, start=1)), Fraction(0)) / m

    best, worst = ap(1, 2, 3, 4), ap(27, 28, 29, 30)
    row = orientation("AP", m=m, n=n).iloc[0]
    assert row["precision"] == pytest.approx(float((ap(1, 28, 29, 30) - worst) / (best - worst)))
    assert row["recall"] == pytest.approx(float((best - ap(1, 2, 3, 30)) / (best - worst)))


def test_lexirecall_is_as_recall_oriented_as_tse_whatever_the_depth() -> None:
    found = orientation(["LR", "AP"], m=10, n=[1_000, 10**7]).set_index(["measure", "n"])["recall"]
    assert found["LR", 10**7] > 0.99
    assert found["AP", 10**7] < 0.2


def test_a_measure_of_another_provider_is_scored_on_whole_rankings() -> None:
    found = orientation("Rprec", m=3, n=20).iloc[0]
    assert found[["best", "worst", "first_up", "last_down"]].to_numpy(float) == pytest.approx([1, 0, 1 / 3, 2 / 3])


def test_a_measure_of_aspects_is_oriented_like_its_base() -> None:
    aspects = "TOMA(aspects={'relevance':2,'quality':{0:0,3:1}},base='AP')"
    found = orientation(["AP", aspects], m=[2, 3], n=40)
    alike = found.groupby("m")[["precision", "recall"]].nunique()
    assert (alike == 1).all(axis=None)


def test_where_everything_is_relevant_there_is_nothing_to_orient() -> None:
    found = orientation("AP", m=3, n=3)
    assert found[["precision", "recall"]].isna().all(axis=None)
    with pytest.raises(ValueError, match="m=4 relevant documents do not fit into n=3"):
        orientation("AP", m=4, n=3)


# -- ties and agreement on data --------------------------------------------------------------------

DOCS = ["a", "b", "c", "d", "e", "f"]
JUDGED = st.dictionaries(st.sampled_from(DOCS), st.integers(0, 1), min_size=1)
ROW = st.dictionaries(st.sampled_from(DOCS), st.integers(0, 9))
RUN = st.fixed_dictionaries({"q1": ROW, "q2": ROW})
SYSTEMS = st.fixed_dictionaries({"r1": RUN, "r2": RUN, "r3": RUN})
MEASURES = ["AP", "R@2", "TSE"]


@settings(max_examples=40)
@given(qrels=st.fixed_dictionaries({"q1": JUDGED, "q2": JUDGED}), runs=SYSTEMS)
def test_ties_and_agreement_count_decisions_one_by_one(qrels: Any, runs: Any) -> None:
    values = {name: irl.evaluate(MEASURES, qrels, run) for name, run in runs.items()}
    queries = sorted(q for q, grades in qrels.items() if max(grades.values()) > 0)

    def sign(measure: str, query: str, x: str, y: str) -> int:
        return int(np.sign(values[x].loc[query, measure] - values[y].loc[query, measure]))

    pairs = list(itertools.combinations(runs, 2))
    if not queries:
        for study in (ties, agreement):
            with pytest.raises(ValueError, match=rf"^{study.__name__}: no query of the qrels has a relevant document"):
                study(MEASURES, qrels, runs)
        return
    found = ties(MEASURES, qrels, runs)
    assert list(zip(found["measure"], found["query_id"], strict=True)) == list(itertools.product(MEASURES, queries))
    for row in found.itertuples():
        assert row.ties == sum(sign(row.measure, row.query_id, x, y) == 0 for x, y in pairs)
        assert row.share == row.ties / 3

    for row in agreement(MEASURES, qrels, runs).itertuples():
        signs = [(sign(row.measure_a, q, x, y), sign(row.measure_b, q, x, y)) for q in queries for x, y in pairs]
        assert row.decisions == len(signs)
        assert row.agree == sum(a == b != 0 for a, b in signs)
        assert row.disagree == sum(a * b < 0 for a, b in signs)
        assert row.tied_a == sum(a == 0 != b for a, b in signs)
        assert row.tied_b == sum(b == 0 != a for a, b in signs)
        assert row.tied_both == sum(a == b == 0 for a, b in signs)
        assert row.agree + row.disagree + row.tied_a + row.tied_b + row.tied_both == row.decisions


def test_pairs_that_a_partial_order_leaves_open_are_counted_apart() -> None:
    qrels = {"q": {"a": 1, "b": 1}}
    runs = {
        "x": {"q": {"a": 5, "c": 4, "d": 3, "b": 2}},
        "y": {"q": {"c": 5, "a": 4, "b": 3}},
        "z": {"q": {"c": 5, "a": 4, "b": 3}},
    }
    found = ties(["dominance", "lexirecall"], qrels, runs).set_index("measure")
    assert found[["ties", "incomparable"]].to_numpy().tolist() == [[1, 2], [1, 0]]
    row = agreement(["dominance", "lexirecall"], qrels, runs).iloc[0]
    assert (row["incomparable"], row["tied_both"], row["agreement_with_ties"]) == (2, 1, 1.0)
    assert np.isnan(row["agreement"])


def test_lexirecall_ties_least_on_robust_2003(data: Any) -> None:
    runs = {name: data.path(f"robust2003/runs/{name}.gz") for name in ("InexpC2", "NLPR03vb10", "Sel50", "humR03dc")}
    found = ties(["lexirecall", "R@1000", "Rprec"], data.path("robust2003/qrels.txt.gz"), runs)
    share = found.groupby("measure")["ties"].sum()
    assert share["lexirecall"] < share["R@1000"]
    assert share["lexirecall"] < share["Rprec"]


def test_agreement_needs_two_measures() -> None:
    with pytest.raises(ValueError, match="at least 2 different measures"):
        agreement("AP", {"q": {"a": 1}}, {"x": {"q": {"a": 1}}, "y": {"q": {"b": 1}}})


def test_simulated_rankings_of_a_huge_collection_need_no_runs() -> None:
    rankings = simulate_rankings(10**9, m=3, depth=10**9, queries=5, systems=3, seed=1)
    given = rankings.judgments, rankings.ranks
    assert ties(["TSE", "lexirecall", "Rprec"], *given)["ties"].to_numpy().reshape(3, 5).tolist() == [
        [0] * 5,
        [0] * 5,
        [3] * 5,
    ]
    assert agreement(["TSE", "lexirecall"], *given)["decisions"].to_list() == [15]
    worst = worst_case("AP", *given)
    assert worst["user"].to_numpy() == pytest.approx(worst["closed_form"].to_numpy())
    exposed = provider_exposure(*given, {doc: doc for doc in rankings.judgments.doc_ids})
    assert exposed[exposed["worst"]]["exposure"].to_numpy() == pytest.approx(worst["closed_form"].to_numpy())
    with pytest.raises(ValueError, match="Bpref needs every document of the rankings, which are 5,000,000,000"):
        ties("Bpref", *given)


# -- worst cases -----------------------------------------------------------------------------------


@settings(max_examples=40)
@given(qrels=st.fixed_dictionaries({"q1": JUDGED.filter(lambda grades: 1 in grades.values()), "q2": JUDGED}), run=RUN)
def test_the_worst_user_and_provider_get_total_search_efficiency(qrels: Any, run: Any) -> None:
    found = worst_case(["AP", "RR", "nDCG", "RBP(p=0.8)"], qrels, {"r": run})
    assert found["user"].to_numpy() == pytest.approx(found["closed_form"].to_numpy(), rel=1e-12)
    assert found["provider"].to_numpy() == pytest.approx(found["closed_form"].to_numpy(), rel=1e-12)
    tse = irl.evaluate(["TSE", "TSE(exposure='nDCG')", "TSE(exposure='RBP')"], qrels, run)
    for measure, column in {"AP": 0, "RR": 0, "nDCG": 1, "RBP(p=0.8)": 2}.items():
        rows = found[found["measure"] == measure].set_index("query_id")["closed_form"]
        assert rows.to_numpy() == pytest.approx(tse.loc[rows.index].iloc[:, column].to_numpy())


@settings(max_examples=25)
@given(
    grades=JUDGED.filter(lambda grades: 1 in grades.values()),
    ranking=ROW,
    measure=st.sampled_from(["AP@3", "R@2", "Rprec", "nDCG@2"]),
)
def test_the_worst_user_is_the_minimum_over_all_needs(grades: Any, ranking: Any, measure: str) -> None:
    relevant = [doc for doc, grade in grades.items() if grade]
    needs = [need for size in range(1, len(relevant) + 1) for need in itertools.combinations(relevant, size)]
    values = [
        irl.evaluate(measure, {"q": {doc: int(doc in need) for doc in {*grades, *ranking}}}, {"q": ranking}).iloc[0, 0]
        for need in needs
    ]
    row = worst_case(measure, {"q": grades}, {"r": {"q": ranking}}).iloc[0]
    assert row["user"] == pytest.approx(min(values))
    assert row["subsets"] == len(needs)


def test_many_relevant_documents_have_the_closed_form_only() -> None:
    qrels = {"q": {f"d{i}": 1 for i in range(12)}}
    run = {"q": {f"d{i}": -i for i in range(12)}}
    row = worst_case("AP", qrels, {"r": run}).iloc[0]
    assert np.isnan(row["user"])
    assert row["subsets"] == 0
    assert row["closed_form"] == 1 / 12
    assert worst_case("AP", qrels, {"r": run}, enumerate_up_to=12).iloc[0]["user"] == pytest.approx(1 / 12)


def test_with_a_provider_per_document_the_worst_off_gets_tse() -> None:
    qrels = {"q1": {"a": 1, "b": 1, "c": 0}, "q2": {"a": 2, "c": 1}}
    runs = {"r1": {"q1": {"c": 3, "a": 2, "b": 1}, "q2": {"c": 1}}}
    found = provider_exposure(qrels, runs, {doc: doc for doc in "abc"}, exposure="nDCG")
    least = found[found["worst"]].set_index("query_id")["exposure"]
    tse = irl.evaluate("TSE(exposure='nDCG')", qrels, runs["r1"]).iloc[:, 0]
    assert least.to_dict() == pytest.approx(tse.to_dict())


def test_providers_get_the_exposure_of_all_their_documents() -> None:
    qrels = {"q": {"a": 1, "b": 1, "c": 1}}
    providers = pd.DataFrame({"doc_id": ["a", "b", "c"], "provider": ["P", "Q", "P"]})
    found = provider_exposure(qrels, {"r": {"q": {"a": 2, "b": 1}}}, providers, n=10).set_index("provider")
    assert found["exposure"].to_dict() == pytest.approx({"P": 1 + 1 / 10, "Q": 1 / 2})
    assert found["per_document"].to_dict() == pytest.approx({"P": 0.55, "Q": 0.5})
    assert found[["relevant", "retrieved"]].to_numpy().tolist() == [[2, 1], [1, 1]]
    assert found["worst"].to_dict() == {"P": False, "Q": True}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda q, r: worst_case("CAM(aspects={'a':1})", q, r), "judges several aspects"),
        (lambda q, r: worst_case("AP", q, r, enumerate_up_to=17), "from 0 to 16, not 17"),
        (lambda q, r: worst_case("AP", q, {}), "at least 1 run must"),
        (lambda q, r: provider_exposure(q, r, {"x": "P"}), "document 'a' has no provider"),
        (lambda q, r: provider_exposure(q, r, ["P"]), "mapping of document ids"),
        (lambda q, r: provider_exposure(q, r, {"a": None}), "document 'a' has no provider"),
        (
            lambda q, r: provider_exposure(q, r, pd.DataFrame({"doc_id": ["a", "a"], "provider": ["P", "Q"]})),
            "document 'a' has the providers 'P' and 'Q'",
        ),
        (lambda q, r: provider_exposure(q, r, {"a": "P"}, rel=0), "provider_exposure: rel must be a number above 0"),
        (lambda q, r: worst_case("AP", q, r, rel=float("nan")), "worst_case: rel must be a number above 0"),
        (lambda q, r: worst_case("AP", q, r, rel=2), "worst_case: no query of the qrels has a relevant document"),
        (lambda q, r: worst_case("AP", q, {1: r["r"], "1": r["r"]}), "two runs have the same name"),
        (lambda q, r: orientation("AP", n=10**20), "n=100000000000000000000 documents are more ranks"),
        (lambda q, r: orientation(5), "5 is no measure"),
        (lambda q, r: ties(None, q, r), "None is no measure"),
        (lambda q, r: ties("lexirecall", q, {**r, "s": r["r"]}, cutoff="a"), "cutoff must be an integer"),
        (lambda q, r: provider_exposure(q, r, {"a": "P"}, exposure="log"), "no exposure 'log'"),
        (lambda q, r: provider_exposure(q, r, {"a": "P"}, exposure="linear"), "needs n"),
        (lambda q, r: provider_exposure(q, r, {"a": "P"}, n=1), "n=1 is smaller than rank 2"),
        (lambda q, r: provider_exposure(q, r, {"a": "P"}, exposure="RBP", p=1), "between 0 and 1"),
    ],
)
def test_bad_input_is_named(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call({"q": {"a": 1}}, {"r": {"q": {"b": 2, "a": 1}}})


def test_every_study_is_drawn_and_says_what_was_run() -> None:
    qrels = {"q": {"a": 1, "b": 1}}
    runs = {"x": {"q": {"a": 2, "b": 1}}, "y": {"q": {"c": 3, "a": 2, "b": 1}}}
    studies = [
        tie_probabilities([10, 100], 3),
        tie_probabilities(10, [1, 2, 3]),
        orientation(["AP", "LR"], n=[100, 200]),
        ties(["AP", "lexirecall"], qrels, runs),
        agreement(["AP", "lexirecall", "TSE"], qrels, runs),
        worst_case(["AP", "nDCG", "RBP(p=0.8)"], qrels, runs),
        provider_exposure(qrels, runs, {"a": "P", "b": "Q"}),
    ]
    pytest.importorskip("matplotlib")
    for study in studies:
        axes = study.plot()
        assert axes.lines or axes.patches or axes.images
        assert study.attrs["function"] in (
            "tie_probabilities",
            "orientation",
            "ties",
            "agreement",
            "worst_case",
            "provider_exposure",
        )
        assert study.attrs["versions"]["ir_lexirecall"]
