"""What studies and checks refuse, by the name of the function that was called."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from studying import studied

from ir_lexirecall import meta

NAN = float("nan")
RUN = {"q": {"b": 2.0, "a": 1.0}}
TWO = "CAM(aspects={'a':2,'b':1})"
COLLECTION = {
    "measures": ["AP", "RR"],
    "qrels": {"q": {"a": 1}},
    "runs": {"x": {"q": {"a": 1.0}}, "y": RUN},
}
DEFAULTS: dict[str, dict[str, Any]] = {
    "simulate_rankings": {
        "n": 100,
        "m": 5,
        "depth": 10,
        "queries": 3,
        "systems": 2,
        "seed": 0,
    },
    "tie_probabilities": {"n": 3, "m": 1},
    "orientation": {"measures": "AP", "n": 9, "m": 1},
    "balancing_index": {"measures": "AP", "n": 5},
    "stability": {"fractions": [0.5]},
    "axioms": {"measures": "AP"},
}
OF_STUDIES: list[tuple[dict[str, Any], str]] = [  # refused whatever is studied
    ({"measures": 5}, "expected a measure .* got 5"),
    ({"measures": None}, "expected a measure .* got None"),
    ({"measures": "nonsense"}, "unknown measure 'nonsense'"),
    ({"measures": "lexirecall@0"}, "cutoff"),
    (
        {"measures": {"rpp": "AP"}},
        "'rpp' is the name of a preference; label the measure AP otherwise",
    ),
    ({"rel": "a"}, "rel must be a number above 0, not 'a'"),
    ({"rel": NAN}, "rel must be a number above 0"),
    ({"runs": ["x", "y"]}, "give the runs as a mapping"),
    ({"runs": {}}, "at least 1 run is needed, not 0"),
    ({"runs": {1: RUN, "1": RUN}}, "two runs have the same name"),
]
BAD: dict[str, list[tuple[dict[str, Any], str]]] = {
    "ties": [
        ({"measures": ()}, "no measure is named; give at least one"),
        ({"runs": {"r": RUN}}, "at least 2 runs are needed, not 1"),
        ({"rel": 3}, "no query of the qrels has a relevant document"),
    ],
    "agreement": [
        ({"measures": "AP"}, "at least 2 different measures are needed, not 1")
    ],
    "correlation": [
        ({"measures": ["AP"]}, "at least 2 different measures are needed, not 1"),
        ({"by": "topics"}, "unknown by 'topics'; choose from values, runs"),
        ({"runs": {"x": RUN}}, "at least 2 runs are needed, not 1"),
    ],
    "unanimity": [
        ({"measures": "AP"}, "at least 2 different measures are needed, not 1"),
        (
            {"measures": {"x": "AP", "y": "AP"}},
            "at least 2 different measures are needed, not one under several labels",
        ),
    ],
    **{
        name: [
            ({"measures": []}, "no measure is"),
            ({"runs": {"x": RUN}}, "at least 2 runs are needed, not 1"),
            (
                {"test": "foo"},
                "unknown test 'foo'; choose from sign, t, wilcoxon, bootstrap, randomisation, tukey",
            ),
            ({"rel": 3}, "no query of the qrels has a relevant document"),
        ]
        for name in ("discriminative_power", "achieved_significance")
    },
    "split_half": [
        (
            {"qrels": {q: {"a": 1} for q in "qrst"}, "n_queries": 3},
            "n_queries must be an integer from 1 to 2, not 3",
        ),
        (
            {"qrels": {q: {"a": 1} for q in "qr"}, "n_splits": 0},
            "n_splits must be an integer of at least 1, not 0",
        ),
        (
            {"qrels": {q: {"a": 1} for q in "qr"}, "seed": -1},
            "seed must be an integer of at least 0, not -1",
        ),
        ({}, "at least 2 queries with relevant documents are needed, not 1"),
    ],
    "degrade": [
        *(
            ({"fractions": bad}, "fractions must be numbers between 0 and 1")
            for bad in ([1.5], [], 0.5, [None], [NAN])
        ),
        (
            {"policy": "depth"},
            "unknown policy 'depth'; choose from random, pool, frequency",
        ),
        ({"n_samples": 0}, "n_samples"),
        ({"seed": -1}, "seed"),
    ],
    "stability": [
        ({"groups": {"y": "x"}}, "run 'x' has no group"),
        ({"measures": "AP", "contrasts": [("AP", "RR")]}, "'RR' in contrasts"),
        ({"policies": ["depth"]}, "'depth'"),
        ({"fractions": [1.5]}, "fractions must be numbers between 0 and 1"),
    ],
    "balancing_index": [
        (
            {"top": 1, "lowest": 2},
            "lowest relevant grade, 2, is above the top grade, 1",
        ),
        ({"top": 0}, "lowest must be a number above 0, not 0"),
        ({"top": "a", "lowest": 1}, "top must be a number above 0, not 'a'"),
        ({"measures": "CAM(aspects={'a':1})"}, "judges several aspects"),
        ({"measures": "ERR", "top": 5}, "ERR has grades up to 4, not 5"),
    ],
    "orientation": [
        ({"n": 3, "m": 4}, "m=4 relevant documents do not fit into n=3"),
        ({"n": 10**20}, "n=100000000000000000000 documents are more ranks"),
        ({"measures": 5}, "expected a measure .* got 5"),
        ({"measures": []}, "no measure is named"),
        ({"m": 0}, "m must be an integer of at least 1, not 0"),
    ],
    "interval_scale": [
        ({"measures": "AP", "n": 13}, "n must be an integer from 1 to 12, not 13")
    ],
    "tie_probabilities": [
        ({"m": 4}, "m=4 relevant documents do not fit into n=3"),
        ({"n": 0}, "n must be an integer of at least 1, not 0"),
        ({"m": 1.5}, "m must be an integer of at least 1, not 1.5"),
        ({"m": []}, "m: give at least one number"),
        ({"k": True}, "k must be an integer of at least 1, not True"),
        ({"depth": 4}, "depth=4 is more than the n=3 documents"),
        ({"depth": 0}, "depth must be an integer of at least 1, not 0"),
    ],
    "simulate_rankings": [
        *(({name: 0}, f"{name} must be") for name in ("n", "depth", "systems")),
        ({"n": 10**19}, "n must be an integer from 1 to 9007199254740992"),
        ({"queries": True}, "queries must be"),
        ({"seed": -1}, "seed must be"),
        *(({"systems": bad}, "systems must be") for bad in ("a", 2.5)),
        (
            {"systems": {"a": 1e-320}},
            "quality of a must be a number of at least 1e-300",
        ),
        ({"systems": {"a": NAN}}, "quality of a must be"),
        *(
            ({"m": bad}, "m must be an integer from 1 to 100, not 101")
            for bad in (101, range(5, 102))
        ),
        *(
            ({"m": bad}, "m must be an integer from 1")
            for bad in (1.5, range(0), range(5), "ab")
        ),
    ],
    "axioms": [
        ({"measures": "nothing"}, "unknown measure 'nothing'"),
        ({"measures": "CWL_ERR10"}, "max_rel"),
        (
            {"measures": "CWL_ERR10(max_rel=1)", "grades": [0, 1, 2], "size": 3},
            "above max_rel=1",
        ),
        *(
            ({"grades": bad}, "grades must be 0 and some larger integers")
            for bad in ([1, 2], [0, 1.5], 5)
        ),
        ({"measures": TWO, "grades": [0, 2]}, "leave out grades"),
        ({"cases": -1}, "cases must be an integer of at least 0, not -1"),
        ({"size": 0}, "size must be an integer of at least 1, not 0"),
        ({"seed": -1}, "seed must be an integer of at least 0, not -1"),
    ],
}


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [(name, *case) for name, cases in BAD.items() for case in cases],
)
def test_bad_input_is_named(name: str, changes: dict[str, Any], message: str) -> None:
    arguments = DEFAULTS.get(name, {}) | changes
    call = getattr(meta, name, partial(studied, name, **COLLECTION))
    with pytest.raises(ValueError, match=f"^{name}: .*{message}"):
        call(**arguments)


@pytest.mark.parametrize(("changes", "message"), OF_STUDIES)
def test_bad_input_of_all_studies_is_named(
    changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=f"^Study: .*{message}"):
        studied("degrade", **COLLECTION | changes)


def test_an_unknown_option_of_a_study_says_where_it_belongs() -> None:
    message = (
        r"^Study: unexpected argument 'cutoff'; write it into the name of a preference"
    )
    with pytest.raises(TypeError, match=message):
        meta.Study(**COLLECTION, cutoff=10)
