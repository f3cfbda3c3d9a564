"""Correlations, fits, unanimity and agreement per topic, against SciPy and plain counting."""

from __future__ import annotations

import itertools
import math
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import parse_measure
from scipy import stats

from ir_lexirecall import Judgments, align, compare, demo, evaluate
from ir_lexirecall.meta.relations import (
    COEFFICIENTS,
    coefficient_of,
    correlation,
    fit,
    metric_unanimity,
    per_topic_kendall,
    unanimity,
)
from ir_lexirecall.meta.sensitivity import discriminative_power
from ir_lexirecall.meta.simulation import simulate_rankings
from ir_lexirecall.meta.systems import score


@pytest.fixture(scope="module")
def collection():
    return demo.qrels(), demo.runs()


def values_of(label, qrels, runs):
    """Values by query (rows) and system (columns)."""
    return np.stack([evaluate(label, qrels, run)[label].to_numpy() for run in runs.values()], axis=1)


# -- correlation -------------------------------------------------------------------------------------


def top_weighted_kendall(x, y):
    """Vigna's weighted tau (additive hyperbolic) pair by pair, averaged over both orders."""

    def places(first, second):
        order = sorted(range(len(x)), key=lambda i: (first[i], second[i]), reverse=True)
        return {i: place for place, i in enumerate(order)}

    def tau(place):
        def product(u, v):
            return sum(
                np.sign(u[i] - u[j]) * np.sign(v[i] - v[j]) * (1 / (place[i] + 1) + 1 / (place[j] + 1))
                for i, j in itertools.combinations(range(len(x)), 2)
            )

        return product(x, y) / math.sqrt(product(x, x) * product(y, y))

    return (tau(places(x, y)) + tau(places(y, x))) / 2


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=12))
def test_top_weighted_kendall_pair_by_pair(points):
    x, y = (np.array(each, dtype=float) for each in zip(*points, strict=True))
    found = coefficient_of("top_weighted_kendall", x, y)
    if len(set(x)) == 1 or len(set(y)) == 1:
        assert math.isnan(found)
    else:
        assert found == pytest.approx(top_weighted_kendall(x, y), abs=1e-9)


def test_an_exchange_at_the_top_costs_more():
    order = np.arange(10, 0, -1.0)
    top, bottom = order.copy(), order.copy()
    top[[0, 1]], bottom[[8, 9]] = top[[1, 0]], bottom[[9, 8]]
    assert coefficient_of("kendall", order, top) == coefficient_of("kendall", order, bottom)
    assert coefficient_of("top_weighted_kendall", order, top) < coefficient_of("top_weighted_kendall", order, bottom)


@pytest.mark.parametrize("by", ["scores", "systems"])
def test_coefficients_of_scores_and_of_means(collection, by):
    table = correlation(["AP", "nDCG@5", "LR"], *collection, by=by)
    assert table[["measure_a", "measure_b"]].apply(tuple, axis=1).tolist() == [
        ("AP", "nDCG@5"),
        ("AP", "LR"),
        ("nDCG@5", "LR"),
    ]
    for row in table.to_dict("records"):
        x, y = (values_of(row[name], *collection) for name in ("measure_a", "measure_b"))
        x, y = (each.T.ravel() if by == "scores" else each.mean(axis=0) for each in (x, y))
        assert row["points"] == len(x)
        assert row["pearson"] == pytest.approx(np.corrcoef(x, y)[0, 1])
        assert row["spearman"] == pytest.approx(stats.spearmanr(x, y)[0])
        assert row["kendall"] == pytest.approx(stats.kendalltau(x, y)[0])
        assert row["top_weighted_kendall"] == pytest.approx(top_weighted_kendall(x, y))


def test_a_preference_counts_as_its_mean_against_all_others(collection):
    qrels, runs = collection
    [row] = correlation(["LR", "lexirecall"], qrels, runs, by="systems").to_dict("records")
    means = compare(qrels, runs, "lexirecall").scores().mean()
    own = pd.Series({name: evaluate("LR", qrels, run, aggregate=True)["LR"] for name, run in runs.items()})
    assert row["pearson"] == pytest.approx(np.corrcoef(means, own)[0, 1])


def test_a_constant_measure_correlates_with_nothing(collection):
    table = correlation(["AP", "P(rel=9)@5"], *collection)
    assert table[list(COEFFICIENTS)].isna().all(axis=None)


# -- fit ---------------------------------------------------------------------------------------------


def test_the_parameter_of_the_target_is_found(collection):
    qrels, runs = collection
    for options in ({"grid": [0.5, 0.62, 0.9]}, {"bounds": (0, 1)}):
        found = fit("CWL_RBP(max_rel=3)", "CWL_RBP(max_rel=3,phi=0.62)", "phi", qrels=qrels, runs=runs, **options)
        assert found.attrs["best"] == pytest.approx(0.62, abs=1e-3)
        assert found.attrs["correlation"] == pytest.approx(1)
        assert found["best"].sum() == 1
        assert found["value"].is_monotonic_increasing


def test_the_best_of_the_grid_has_the_largest_correlation(collection):
    qrels, runs = collection
    grid = [1, 2, 5, 10, 20]
    found = fit("nDCG", "AP", "cutoff", qrels=qrels, runs=runs, grid=grid, coefficient="kendall", by="systems")
    target = values_of("AP", qrels, runs).mean(axis=0)
    expected = {
        k: stats.kendalltau(values_of(f"nDCG@{k}", qrels, runs).mean(axis=0).round(12), target)[0] for k in grid
    }
    assert dict(zip(found["value"], found["correlation"], strict=True)) == pytest.approx(expected)
    assert found.attrs["best"] == max(grid, key=expected.__getitem__)


def test_bounds_do_as_well_as_a_fine_grid(collection):
    qrels, runs = collection
    options = {"qrels": qrels, "runs": runs, "coefficient": "pearson"}
    grid = fit("CWL_ERR10(max_rel=3)", "nDCG@10", "phi", grid=np.linspace(0.01, 0.99, 99), **options)
    free = fit("CWL_ERR10(max_rel=3)", "nDCG@10", "phi", bounds=(0, 1), **options)
    assert free.attrs["correlation"] >= grid.attrs["correlation"] - 1e-9
    assert free.attrs["best"] == pytest.approx(grid.attrs["best"], abs=0.02)


def test_a_measure_of_another_program_can_be_fitted(collection):
    pytest.importorskip("cwl")
    found = fit(
        "INST(max_rel=3)", "INST(max_rel=3,T=2.0)", "T", qrels=collection[0], runs=collection[1], grid=[1, 2, 3]
    )
    assert found.attrs["best"] == 2


# -- unanimity ---------------------------------------------------------------------------------------


def counted_unanimity(values, judged, among):
    """MU over ordered pairs, one by one; ``values`` by measure, shape ``(Q, S)``."""
    pairs = unanimous = 0
    joint = 0.0
    queries, size = values[judged].shape
    for q in range(queries):
        for i, j in itertools.permutations(range(size), 2):
            pairs += 1
            changes = [values[m][q, j] - values[m][q, i] for m in among]
            if min(changes) >= 0 and max(changes) > 0:
                unanimous += 1
                change = values[judged][q, j] - values[judged][q, i]
                joint += 1 if change > 0 else 0.5 if change == 0 else 0
    if not unanimous:
        return math.nan
    return math.log2((joint / pairs) / (0.5 * unanimous / pairs)) if joint else -math.inf


@pytest.mark.parametrize("among", [None, ["RR", "R@10"], ["P@5"]])
def test_unanimity_pair_by_pair(collection, among):
    measures = ["RR", "P@5", "R@10", "LR"]
    table = unanimity(measures, *collection, among=among)
    values = {label: values_of(label, *collection) for label in {*measures, *(among or [])}}
    expected = {label: counted_unanimity(values, label, among or measures) for label in measures}
    assert dict(zip(table["measure"], table["unanimity"], strict=True)) == pytest.approx(expected)


def test_two_of_three_unanimous_pairs_make_0_415():
    """log2(4/3): three systems, six ordered pairs, P(dM) = 3/6, P(dm) = 1/2, P(dm, dM) = 2/6."""
    assert metric_unanimity(2, 3, 6) == math.log2((2 / 6) / (1 / 2 * 3 / 6))
    assert metric_unanimity(2, 3, 6) == pytest.approx(math.log2(4 / 3), abs=1e-15)
    assert f"{metric_unanimity(2, 3, 6):.3f}" == "0.415"


def test_the_example_with_rankings():
    """RR orders three systems; R@4 puts two of the three pairs in the same order, the third the other way."""
    qrels = {"q": {"a": 1, "b": 1, "c": 1}}
    runs = {
        "s1": {"q": {"a": 9.0, "x": 8.0, "b": 7.0, "y": 6.0}},  # ranks 1, 3
        "s2": {"q": {"x": 9.0, "a": 8.0, "b": 7.0, "c": 6.0}},  # ranks 2, 3, 4
        "s3": {"q": {"x": 9.0, "y": 8.0, "a": 7.0, "z": 6.0}},  # rank 3
    }
    table = unanimity(["R@4", "RR"], qrels, runs, among=["RR"]).set_index("measure")
    # RR: s1 > s2 > s3, three unanimous pairs; R@4: s2 > s1 > s3, two of them in the same direction.
    assert table.loc["R@4", ["pairs", "unanimous", "joint"]].tolist() == [6, 3, 2]
    assert table.loc["R@4", "unanimity"] == pytest.approx(math.log2(4 / 3), abs=1e-15)
    assert table.loc["RR", "unanimity"] == 1


def test_ties_count_one_half(collection):
    table = unanimity(["P(rel=9)@5", "AP"], *collection).set_index("measure")  # P is 0 everywhere
    assert table.loc["P(rel=9)@5", "joint"] == table.loc["P(rel=9)@5", "unanimous"] / 2
    assert table.loc["P(rel=9)@5", "unanimity"] == 0
    assert table.loc["AP", "unanimity"] == 1


def test_measures_that_never_agree_have_no_unanimity():
    qrels = {"q": {"a": 1, "b": 1}}
    runs = {"x": {"q": {"a": 3.0}}, "y": {"q": {"x": 3.0, "a": 2.0, "b": 1.0}}}  # RR prefers x, R@3 y
    table = unanimity(["RR", "R@3"], qrels, runs)
    assert table["unanimous"].tolist() == [0, 0]
    assert table["unanimity"].isna().all()
    assert unanimity("RR", qrels, runs, among="R@3")["unanimity"].tolist() == [-math.inf]


def test_a_label_means_one_measure(collection):
    with pytest.raises(ValueError, match="'m' names one measure"):
        unanimity({"m": "AP"}, *collection, among={"m": "RR"})


# -- per topic ---------------------------------------------------------------------------------------


def test_kendall_per_topic_is_the_mean_of_those_that_are_defined(collection):
    qrels, runs = collection
    table = per_topic_kendall(["AP", "RR", "P@1", "lexirecall"], qrels, runs)
    values = {label: values_of(label, qrels, runs) for label in ("AP", "RR", "P@1")}
    values["lexirecall"] = compare(qrels, runs, "lexirecall").scores().to_numpy()
    for row in table.to_dict("records"):
        pairs = zip(values[row["measure_a"]], values[row["measure_b"]], strict=True)
        taus = [stats.kendalltau(x.round(12), y.round(12))[0] for x, y in pairs if len(set(x)) > 1 and len(set(y)) > 1]
        assert row["topics"] == len(taus)
        assert (row["kendall"], row["smallest"], row["largest"]) == pytest.approx((np.mean(taus), min(taus), max(taus)))
    assert table["topics"].min() < 16  # P@1 gives all systems of some topics the same value


def test_the_order_by_lexirecall_is_the_order_by_its_measure():
    rankings = simulate_rankings(500, 4, 200, 20, 6, seed=2, quality=3)
    table = per_topic_kendall(["LR", "lexirecall"], rankings.judgments, rankings.ranks)
    assert table["kendall"].tolist() == pytest.approx([1])


# -- means, subtopics, pickles -----------------------------------------------------------------------


def test_equal_means_of_systems_tie_whatever_the_order_of_their_sums():
    hits = {"a": (2, 4, 1), "b": (1, 4, 2)}
    qrels = {f"q{q}": {f"d{i}": 1 for i in range(5)} for q in range(3)}
    runs = {
        name: {f"q{q}": {(f"d{i}" if i < found else f"x{i}"): 5.0 - i for i in range(5)} for q, found in enumerate(of)}
        for name, of in hits.items()
    }
    row = correlation(["P@5", "R@5"], qrels, runs, by="systems").iloc[0]
    assert row[list(COEFFICIENTS)].isna().all()  # both measures are constant


def test_subtopics_count_for_aligned_runs_as_well():
    pytest.importorskip("pyndeval")
    qrels = demo.qrels()  # other programs break ties otherwise
    runs = {name: run.assign(score=-np.arange(len(run), dtype=float)) for name, run in demo.runs().items()}
    judgments = Judgments.of(qrels)
    aligned = {name: align(judgments, run) for name, run in runs.items()}
    measures = ["alpha_nDCG@10", "ERR_IA@10", "StRecall@10"]
    by_runs, by_ranks = correlation(measures, qrels, runs), correlation(measures, judgments, aligned)
    assert by_ranks["pearson"].tolist() == pytest.approx(by_runs["pearson"].tolist())


def test_measures_that_need_no_threshold_are_taken_as_they_are(collection):
    qrels, runs = collection
    values = {name: evaluate(["NumRet", "AP"], qrels, run) for name, run in runs.items()}
    points = [np.concatenate([each[measure] for each in values.values()]) for measure in ("NumRet", "AP")]
    found = correlation(["NumRet", "AP"], qrels, runs)
    assert found["spearman"].tolist() == pytest.approx([stats.spearmanr(*points).statistic], nan_ok=True)
    judgments = Judgments.of(qrels)
    assert score(parse_measure("NumRet"), align(judgments, runs["ql"])).tolist() == values["ql"]["NumRet"].tolist()


def test_studies_travel_to_other_processes(collection):
    pytest.importorskip("matplotlib")
    for study in (
        correlation(["AP", "LR"], *collection),
        unanimity(["AP", "LR"], *collection),
        discriminative_power("AP", *collection, test="t"),
    ):
        again = pickle.loads(pickle.dumps(study))
        pd.testing.assert_frame_equal(again, study)
        assert again.plot().get_xlabel() == study.plot().get_xlabel()


# -- all of them -------------------------------------------------------------------------------------


@pytest.mark.parametrize("function", [correlation, unanimity, per_topic_kendall])
def test_it_says_what_it_ran_and_draws_it(collection, function):
    pytest.importorskip("matplotlib")
    table = function(["AP", "LR"], *collection)
    assert table.attrs["function"] == function.__name__
    assert table.attrs["measures"] == {"AP": "AP", "LR": "LexiRecall"}
    assert table.attrs["queries"] == 16
    ax = table.plot()
    assert ax.images or ax.patches


def test_a_fit_says_what_it_ran_and_draws_it(collection):
    pytest.importorskip("matplotlib")
    qrels, runs = collection
    table = fit("nDCG", "AP", "cutoff", qrels=qrels, runs=runs, grid=[5, 10])
    assert table.attrs["function"] == "fit"
    assert (table.attrs["measure"], table.attrs["target"], table.attrs["parameter"]) == ("nDCG", "AP", "cutoff")
    assert len(table.plot().lines) == 2


@pytest.mark.parametrize(
    ("function", "changes", "message"),
    [
        (correlation, {"measures": ["AP"]}, "2 different measures"),
        (correlation, {"by": "topics"}, "'topics'"),
        (correlation, {"measures": ["AP", "Nope"]}, "Nope"),
        (per_topic_kendall, {"measures": "AP"}, "2 different measures"),
        (unanimity, {"among": []}, "no measure"),
        (unanimity, {"runs": {"x": {"q": {"a": 1.0}}}}, "at least 2 runs"),
        (correlation, {"rel": -1}, "rel must"),
        (correlation, {"rel": "a"}, "rel must"),
        (correlation, {"measures": 5}, "5 is no measure"),
        (correlation, {"measures": ["AP", "RBP(p=0.8)"]}, "RBP needs rel"),
        (unanimity, {"runs": {1: {"q": {"a": 1.0}}, "1": {"q": {"a": 1.0}}}}, "same name"),
    ],
)
def test_bad_input_is_named(function, changes, message):
    arguments = {
        "measures": ["AP", "RR"],
        "qrels": {"q": {"a": 1}},
        "runs": {"x": {"q": {"a": 1.0}}, "y": {"q": {"b": 1.0}}},
    } | changes
    with pytest.raises(ValueError, match=message):
        function(arguments.pop("measures"), arguments.pop("qrels"), arguments.pop("runs"), **arguments)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"parameter": "phi"}, "no parameter 'phi'"),
        ({"parameter": ["p"]}, r"no parameter \['p'\]"),
        ({"coefficient": ["pearson"]}, r"no coefficient \['pearson'\]"),
        ({"grid": None}, "grid of values or bounds"),
        ({"bounds": (1, 2)}, "grid of values or bounds"),
        ({"grid": []}, "empty"),
        ({"grid": 5}, "grid must be a list of values, not 5"),
        ({"grid": [["AP"]]}, r"neither a number nor a text"),
        ({"grid": None, "bounds": 5}, "bounds must be two numbers, the smaller one first, not 5"),
        ({"grid": None, "bounds": (1,)}, "bounds must be two numbers"),
        ({"grid": None, "bounds": (2, 1)}, "smaller one first"),
        ({"coefficient": "tau"}, "'tau'"),
        ({"by": "topics"}, "'topics'"),
        ({"measure": "Nope"}, "Nope"),
        ({"measure": "CWL_RBP(max_rel=3)", "parameter": "phi", "grid": [1.5]}, "phi"),
        ({"target": "P(rel=9)@5"}, "constant"),
    ],
)
def test_bad_fits_are_named(collection, changes, message):
    arguments = {"measure": "nDCG", "target": "AP", "parameter": "cutoff", "grid": [5, 10]} | changes
    measure, target, parameter = (arguments.pop(name) for name in ("measure", "target", "parameter"))
    with pytest.raises(ValueError, match=message):
        fit(measure, target, parameter, qrels=collection[0], runs=collection[1], **arguments)
