"""Fitted parameters: the best one is found, by grid, by bounds, and among all integers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from studying import values_of

from ir_lexirecall.meta import Study


def test_the_parameter_of_the_target_is_found(collection):
    qrels, runs = collection
    for options in ({"grid": [0.5, 0.62, 0.9]}, {"bounds": (0, 1)}):
        found = Study((), qrels, runs).fit("CWL_RBP(max_rel=3)", "CWL_RBP(max_rel=3,phi=0.62)", "phi", **options)
        assert found.attrs["best"] == pytest.approx(0.62, abs=1e-3)
        assert found.attrs["correlation"] == pytest.approx(1)
        assert found["best"].sum() == 1
        assert found["value"].is_monotonic_increasing


def test_the_best_of_the_grid_has_the_largest_correlation(collection):
    qrels, runs = collection
    grid = [1, 2, 5, 10, 20]
    found = Study((), qrels, runs).fit("nDCG", "AP", "cutoff", grid=grid, coefficient="kendall", by="runs")
    target = values_of("AP", qrels, runs).mean(axis=0)
    expected = {
        k: stats.kendalltau(values_of(f"nDCG@{k}", qrels, runs).mean(axis=0).round(12), target)[0] for k in grid
    }
    assert dict(zip(found["value"], found["correlation"], strict=True)) == pytest.approx(expected)
    assert found.attrs["best"] == max(grid, key=expected.__getitem__)


def test_bounds_do_as_well_as_a_fine_grid(collection):
    qrels, runs = collection
    wanted = "CWL_ERR10(max_rel=3)", "nDCG@10", "phi"
    study = Study((), qrels, runs)
    grid = study.fit(*wanted, grid=np.linspace(0.01, 0.99, 99), coefficient="pearson")
    free = study.fit(*wanted, bounds=(0, 1), coefficient="pearson")
    assert free.attrs["correlation"] >= grid.attrs["correlation"] - 1e-9
    assert free.attrs["best"] == pytest.approx(grid.attrs["best"], abs=0.02)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"parameter": "phi"}, "no parameter 'phi'"),
        ({"parameter": ["p"]}, r"no parameter \['p'\]"),
        ({"coefficient": ["pearson"]}, r"unknown coefficient \['pearson'\]"),
        ({"grid": None, "bounds": (1.2, 1.8)}, "no integer lies between the bounds 1.2 and 1.8"),
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
    with pytest.raises(ValueError, match=message):
        Study((), *collection).fit(**arguments)


@pytest.mark.parametrize("measure", ["CWL_ERR8(max_rel=3)", "CWL_ERR9(max_rel=3)"])
def test_of_an_integer_parameter_all_values_between_the_bounds_are_tried(collection, measure):
    table = Study((), *collection).fit(measure, f"{measure}@7", "cutoff", bounds=(2, 12.5), coefficient="spearman")
    assert table["value"].tolist() == list(range(2, 13))
    assert (table.attrs["best"], table.attrs["correlation"]) == (7, pytest.approx(1))
    grid = Study((), *collection).fit(measure, "ERR@20", "cutoff", grid=range(1, 21))
    free = Study((), *collection).fit(measure, "ERR@20", "cutoff", bounds=(1, 20))
    pd.testing.assert_frame_equal(grid, free)
    expected = {
        k: np.corrcoef(*(values_of(m, *collection).ravel() for m in (f"{measure}@{k}", "ERR@20")))[0, 1] for k in (3, 9)
    }
    assert grid.set_index("value")["correlation"][[3, 9]].to_dict() == pytest.approx(expected)
