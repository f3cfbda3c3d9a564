"""A measure whose smaller value is better tells every study the same as its negative, whose larger value is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from ir_measures import AP
from studying import studied

from ir_lexirecall import demo, meta
from ir_lexirecall.measures.declaration import REGISTRY, Measure
from ir_lexirecall.measures.parameters import Param, rel
from ir_lexirecall.measures.scoring import values


class Imprecision(Measure):
    """-AP, of which the smaller value is better; an RBP to fit, with ``p``."""

    SMALLER_IS_BETTER = True
    params = {
        "rel": rel(),
        "p": Param(float, "persistence of RBP, 0 for AP", default=0.0),
    }

    def score(self, run: Any) -> Any:
        rows = run.relevant(self["rel"])
        if self["p"]:
            return -np.bincount(
                rows.query, weights=self["p"] ** rows.rank, minlength=len(rows.m)
            )
        return -values(AP(rel=self["rel"]), run)


del REGISTRY["Imprecision"]  # other tests look at all measures of the library

LIKE_AP = {"twin": Imprecision(), "other": "nDCG", "third": "lexirecall"}
WITH_AP = {"twin": AP, "other": "nDCG", "third": "lexirecall"}


@pytest.mark.parametrize(
    ("study", "options"),
    [
        ("agreement", {}),
        ("unanimity", {}),
        ("ties", {}),
        ("per_query_kendall", {}),
        ("correlation", {}),
        ("correlation", {"by": "runs"}),
        ("split_half", {"n_splits": 50}),
        ("degrade", {"fractions": [0.5], "n_samples": 2}),
        ("degrade", {"fractions": [0.5], "policy": "pool", "n_samples": 1}),
        ("discriminative_power", {"test": "t"}),
    ],
)
def test_studies_of_runs(study: str, options: dict[str, Any]) -> None:
    falling, rising = (
        studied(study, measures, demo.qrels(), demo.runs(), **options)
        for measures in (LIKE_AP, WITH_AP)
    )
    pd.testing.assert_frame_equal(falling, rising, rtol=1e-12)


def test_checks_but_for_those_of_the_value_itself() -> None:
    falling, rising = (
        meta.axioms(measure, size=4, cases=20).set_index("property")
        for measure in (Imprecision(), AP)
    )
    # A measure of a user is not declared complete.
    itself = {
        "boundedness",
        "realizability",
        "reachable maximum",
        "Moffat's completeness",
    }
    differ = falling.index[falling["result"] != rising["result"]]
    assert set(differ) == itself
    words = falling.loc[
        "strict swap"
        if falling.loc["strict swap", "result"] == "fails"
        else "set-based order"
    ]
    assert "more than" in words["counterexample"]


def test_orientation_and_balance() -> None:
    falling, rising = (
        meta.orientation(measure, m=[2, 4], n=20) for measure in (Imprecision(), AP)
    )
    columns = ["precision", "recall"]
    pd.testing.assert_frame_equal(falling[columns], rising[columns])
    assert (falling["best"] == -rising["best"]).all()
    assert (
        meta.orientation("RE", m=2, n=20)["recall"].item() == 9
    )  # (1 + 20) / 2 - 3 / 2
    index = [
        meta.balancing_index(measure, [5, 20])["B"].tolist()
        for measure in (Imprecision(), AP)
    ]
    assert index[0] == index[1]
