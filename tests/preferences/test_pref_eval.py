"""Preferences are those of pref_eval, the program of the papers' authors."""

from __future__ import annotations

import pytest
from conftest import Data

import ir_lexirecall as irl
from ir_lexirecall import demo

NAMES = ("lexirecall", "lexiprecision", "rrlexiprecision", "rpp", "invrpp", "dcgrpp")


@pytest.mark.parametrize("name", NAMES)
def test_mean_preferences_are_those_of_pref_eval(name: str, data: Data) -> None:
    theirs = data.vectors("pref_eval-demo.json")["pairs"]
    runs = {run: demo.run(run) for run in dict.fromkeys(" ".join(theirs).split())}
    table = irl.compare(demo.qrels(), runs, name).table()
    mean = "mean" if "mean" in table else "difference"
    ours = {f"{row.run_a} {row.run_b}": getattr(row, mean) for row in table.itertuples()}
    ours |= {" ".join(reversed(pair.split())): -value for pair, value in ours.items()}
    assert {pair: ours[pair] for pair in theirs} == pytest.approx(
        {p: value[name] for p, value in theirs.items()}, abs=1e-12
    )
