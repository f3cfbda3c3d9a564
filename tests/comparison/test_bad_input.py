"""What `compare` and the methods of its result refuse: the call, the offender and the way out."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
import pytest

import ir_lexirecall as irl
from ir_lexirecall import demo
from ir_lexirecall.preferences.naming import Preference

QRELS, RUNS = demo.qrels(), demo.runs()
QUERIES = [f"q{i:02}" for i in range(1, 17)]
NAMES = ", ".join(RUNS)
TESTS = "sign, t, wilcoxon, bootstrap, randomisation, tukey"
RANKED = {"qrels": QRELS, "runs": RUNS}
SEVERAL = {"bm25": RUNS["bm25"], "model": [RUNS["ql"], RUNS["tfidf"]]}
TWICE = pd.DataFrame(
    [("q01", "r1", 1.0), ("q01", "r1", 2.0)], columns=["query_id", "doc_id", "score"]
)
VALUES = pd.DataFrame(
    {"run": ["a"] * 3 + ["b"] * 3, "query_id": list("qrs") * 2, "AP": 0.5, "P@5": 0.2}
)
SEEDS = pd.DataFrame(
    [
        (run, seed, f"q{q}", (q + seed) / 9)
        for run in "ab"
        for seed in (0, 1)
        for q in range(5)
    ],
    columns=["run", "seed", "query_id", "acc"],
)
CLUSTERED = irl.SignificanceTest(cluster=True)

BAD: dict[str, list[tuple[dict[str, Any], str]]] = {
    "runs": [
        ({"runs": {"good": RUNS["ql"]}}, "at least 2 runs are needed, not 1"),
        ({"runs": {}}, "at least 2 runs are needed, not 0"),
        ({"runs": [RUNS["ql"], RUNS["bm25"]]}, ".*a mapping of names to runs"),
        (
            {"runs": {1: RUNS["ql"], "1": RUNS["bm25"], "bad": RUNS["tfidf"]}},
            r".*\b1\b",
        ),
        (
            {"runs": RUNS | {"weak": {"q01": {"r1": math.nan}}}},
            "run 'weak'.*'r1'.*'q01'.*nan",
        ),
        ({"runs": RUNS | {"weak": TWICE}}, ".*'r1'.*'q01'"),
        ({"baseline": "best"}, f".*'best'.*{NAMES}"),
    ],
    "criteria": [
        ({"by": "lexirecal"}, ".*'lexirecal'.*lexirecall"),
        ({"by": ["lexirecall", "nDCGG@10"]}, ".*'nDCGG@10'"),
        ({"by": "nDCG(colour=3)"}, ".*colour"),
        ({"by": "LR(form='round')"}, ".*round"),
        ({"by": 5}, ".*5"),
        ({"by": []}, ".*no criterion"),
        ({"by": "rpp(rel=0)"}, "rpp: rel.*0"),
        ({"by": Preference("rpp", rel=math.nan)}, "rpp: rel.*nan"),
        ({"by": "rpp(rel='1')"}, "rpp: rel.*'1'"),
        ({"by": "rpp(rel=True)"}, "rpp: rel.*True"),
        ({"by": "rpp@0"}, "rpp: cutoff.*0"),
        ({"by": "rpp@2.5"}, "rpp: cutoff.*2.5"),
        ({"by": "rpp(p=0.5)"}, "rpp has no parameter 'p'; it has cutoff, rel"),
        ({"by": "rpp@"}, "'rpp@' is not a measure: invalid syntax"),
    ],
    "tests and margins": [
        ({"test": "chi"}, f".*'chi'.*{TESTS}"),
        ({"margin": 0.1}, ".*margin needs a baseline"),
        ({"margin": -0.1, "baseline": "ql"}, ".*margin of lexirecall.*-0.1"),
        ({"margin": math.nan, "baseline": "ql"}, ".*margin of lexirecall.*nan"),
        ({"margin": "2%", "baseline": "ql"}, ".*margin of lexirecall.*2%.*preference"),
        (
            {"margin": {"AP": 0.1}, "baseline": "ql"},
            ".*unknown criterion of a margin 'AP'",
        ),
        ({"margin": "much", "by": "AP", "baseline": "ql"}, ".*margin of AP.*'much'"),
    ],
    "groups": [
        (
            {"groups": {"q01": "a"}},
            r"groups: query 'q02' has no group .and 14 other cases.; add",
        ),
        (
            {"groups": dict.fromkeys(QUERIES, "a")},
            "groups: all queries are in one group, a; leave groups out",
        ),
        ({"groups": "kind"}, "the table of groups has no column 'kind': it has"),
        (
            {"groups": "nowhere.csv", "qrels": {"q": {"d": 1}}},
            "groups: there is no file 'nowhere.csv'",
        ),
        (
            {"test": CLUSTERED},
            "cluster=True takes groups of queries as units of the tests; pass groups=",
        ),
    ],
    "values": [
        (
            {"values": VALUES, "by": "lexirecall"},
            "the preference 'lexirecall' compares rankings, not values; name measures",
        ),
        (
            {"values": VALUES, "qrels": {"q": {"d": 1}}},
            "give qrels and runs, or values, not both",
        ),
        ({"values": None}, "give qrels and runs, or values="),
        (
            {"values": VALUES, "by": "nDCG"},
            "values: no values of 'nDCG'; there are AP, P@5",
        ),
    ],
    "repeats": [
        ({"values": SEEDS}, ".*say what they are: repeats="),
        (
            {"values": SEEDS, "repeats": "seeds", "test": "wilcoxon"},
            ".*needs the t-test, not 'wilcoxon'",
        ),
        (
            {"runs": SEVERAL, "by": "AP"},
            ".*run 'model' is a list of 2 runs; say what they are",
        ),
        (
            {"runs": SEVERAL, "by": "AP", "repeats": "seeds"},
            ".*run 'bm25' has one seed",
        ),
        (
            {"runs": SEVERAL, "by": "dominance", "repeats": "samples"},
            ".*'dominance' leaves some rankings incomparable",
        ),
        (
            {"runs": SEVERAL | {"bm25": []}, "by": "AP", "repeats": "samples"},
            "run 'bm25' is an empty list; give its runs",
        ),
    ],
}


@pytest.mark.parametrize(
    ("arguments", "message"), [case for cases in BAD.values() for case in cases]
)
def test_bad_input_is_named(arguments: dict[str, Any], message: str) -> None:
    others = {} if "values" in arguments else RANKED
    with pytest.raises(ValueError, match=f"^compare: {message}"):
        irl.compare(**others | arguments)


OF_METHODS: list[tuple[str, list[Any], str]] = [
    *(
        (name, ["rpp"], ".*'rpp'.*lexirecall")
        for name in (
            "matrix",
            "per_query",
            "means",
            "table",
            "verdicts",
            "ranking",
            "best_set",
        )
    ),
    ("best_set", [None, 2], ".*alpha.*2"),
    ("explain", ["ql", "best"], f".*'best'.*{NAMES}"),
    ("explain", ["best", "ql"], f".*'best'.*{NAMES}"),
    ("explain", ["ql", "bm25", "rpp"], ".*'rpp'.*lexirecall"),
    (
        "plot",
        ["forest"],
        "unknown kind 'forest'; choose from means, differences, groups, heatmap, pair",
    ),
    ("plot", ["means", "rpp"], ".*'rpp'.*lexirecall"),
    ("plot", ["pair", "ql", "best"], f".*'best'.*{NAMES}"),
    ("with_test", ["chi"], f".*'chi'.*{TESTS}"),
    ("with_baseline", ["best"], f".*'best'.*{NAMES}"),
    ("group_table", [], "there are no groups of queries; pass groups="),
]


@pytest.mark.parametrize(("method", "arguments", "message"), OF_METHODS)
def test_bad_input_of_methods_is_named(
    method: str, arguments: list[Any], message: str
) -> None:
    result = irl.compare(QRELS, RUNS)
    with pytest.raises(ValueError, match=f"^{method}: {message}"):
        getattr(result, method)(*arguments)
