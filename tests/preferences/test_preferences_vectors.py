"""Preferences are those of pref_eval, the program of the papers' authors, and between four Robust 2003 runs the published ones."""

from __future__ import annotations

import pytest

import ir_lexirecall as irl
from ir_lexirecall import demo

RUNS = ("InexpC2", "NLPR03vb10", "Sel50", "humR03dc")
PREFERENCES = (
    "lexirecall",
    "lexiprecision",
    "rrlexiprecision",
    "rpp",
    "invrpp",
    "dcgrpp",
)


@pytest.fixture(scope="module")
def compared(data):
    runs = {name: data.path(f"robust2003/runs/{name}.gz") for name in RUNS}
    return irl.compare(data.path("robust2003/qrels.txt.gz"), runs, PREFERENCES)


def test_lexirecall_prefers_the_published_number_of_times(data, compared):
    published = data.vectors("robust2003-lexirecall-pairs.json")["pairs"]
    table = compared.table()
    table = table[table["criterion"] == "lexirecall"]
    found = {
        f"{row.run_a}:{row.run_b}": {
            "wins": row.wins,
            "losses": row.losses,
            "ties": row.ties,
        }
        for row in table.itertuples()
    }
    assert found == published


def test_mean_preferences_are_the_published_ones(data, compared):
    published = data.vectors("robust2003-preferences.json")["pairs"]
    expected = {
        (pair, name): mean
        for pair, means in published.items()
        for name, mean in means.items()
    }
    found = {
        (f"{row.run_a}:{row.run_b}", row.criterion): row.difference
        for row in compared.table().itertuples(index=False)
    }
    assert found == pytest.approx(expected, rel=0, abs=1e-12)


@pytest.mark.parametrize("name", PREFERENCES)
def test_mean_preferences_are_those_of_pref_eval(data, name):
    theirs = data.vectors("pref_eval-demo.json")["pairs"]
    runs = {run: demo.run(run) for run in dict.fromkeys(" ".join(theirs).split())}
    table = irl.compare(demo.qrels(), runs, name).table()
    mean = "mean" if "mean" in table else "difference"
    ours = {
        f"{row.run_a} {row.run_b}": getattr(row, mean) for row in table.itertuples()
    }
    ours |= {" ".join(reversed(pair.split())): -value for pair, value in ours.items()}
    assert {pair: ours[pair] for pair in theirs} == pytest.approx(
        {p: value[name] for p, value in theirs.items()}, abs=1e-12
    )
