"""Options handed on to ``pt.Experiment``: wrong values are refused by name, before a system runs."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

pt = pytest.importorskip("pyterrier")

TOPICS = pd.DataFrame({"qid": ["1", "2"], "query": ["x", "y"]})
QRELS = pd.DataFrame({"qid": ["1", "2"], "docno": ["a", "b"], "label": [1, 1]})
COUNT = "must be an integer of at least 1"
FLAG = "must be True or False"
WRONG: list[tuple[dict[str, Any], str]] = [
    *[({"batch_size": x}, f"batch_size {COUNT}") for x in (0, -1, 2.0, "5", True)],
    *[
        ({"save_mode": x}, "unknown save_mode .*; choose from warn, error, reuse")
        for x in ("append", None, 3)
    ],
    *[
        ({"validate": x}, "unknown validate .*; choose from warn, error, ignore")
        for x in ("warning", True, None)
    ],
    *[({"verbose": x}, "verbose must be True, False or 'auto'") for x in ("yes", 2)],
    *[({"filter_by_qrels": x}, f"filter_by_qrels {FLAG}") for x in ("no", 1, None)],
    *[({"filter_by_topics": x}, f"filter_by_topics {FLAG}") for x in ("no", 0)],
    ({"precompute_prefix": "yes"}, f"precompute_prefix {FLAG}"),
]
"""Wrong at both doors."""
OF_TABLES: list[tuple[dict[str, Any], str]] = [
    *[({"plan": x}, "unknown plan .*; choose from linear, tree") for x in ("trie", 1)],
    *[
        ({"perquery": x}, "perquery must be True, False or 'both'")
        for x in ("all", 1, None)
    ],
    *[({"dataframe": x}, f"dataframe {FLAG}") for x in ("no", None)],
    *[({"round": x}, "round must be an integer of at least 0") for x in (-1, 2.5, "3")],
    ({"round": {"map": -1}}, "round of 'map' must be an integer of at least 0"),
    *[({"highlight": x}, "unknown highlight") for x in ("italic", True)],
    ({"save_dir": 3}, "save_dir must be a folder"),
    *[
        ({"save_format": x}, "save_format must be 'trec', a module such as pickle")
        for x in ("csv", None, (len,))
    ],
    ({"save_dir": ".", "plan": "tree"}, "plan='tree' saves no results"),
    (
        {"save_dir": ".", "save_format": (len, len), "batch_size": 1},
        "batches of topics are saved in TREC's format only",
    ),
    ({"baseline": 2}, "unknown baseline 2; choose from one, two, or by place"),
    ({"baseline": -1}, "unknown baseline -1"),
    ({"baseline": 0, "perquery": True}, "a baseline is compared by averages"),
    ({"baseline": 0, "perquery": "both"}, "a baseline is compared by averages"),
    ({"round": {"map": 1}, "perquery": True}, "decimal places by column"),
]
"""Wrong at `Experiment`, and not taken by `Benchmark`."""


class Never(pt.Transformer):
    """A system that must not run."""

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        raise AssertionError("a system ran")


@pytest.mark.parametrize(("options", "message"), [*WRONG, *OF_TABLES], ids=str)
def test_an_experiment_refuses_wrong_values(
    options: dict[str, Any], message: str
) -> None:
    systems = {"one": Never(), "two": Never()}
    options = {"validate": "ignore", **options}
    with pytest.raises(ValueError, match=rf"^pt\.lexirecall\.Experiment: {message}"):
        pt.lexirecall.Experiment(systems, TOPICS, QRELS, ["map"], **options)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"retr_systems": []}, "there are no systems"),
        ({"retr_systems": {}}, "there are no systems"),
        ({"names": ["one"]}, "names: 1 name for 2 systems; give one for each"),
        ({"names": list("abc")}, "names: 3 names for 2 systems"),
        ({"topics": "none.txt"}, "topics: none.txt: there is no such file"),
        ({"qrels": "none.txt"}, "qrels: none.txt: there is no such file"),
        ({"topics": ["x"]}, "topics must be a DataFrame or a file, not"),
        ({"qrels": {"1": {"a": 1}}}, "qrels must be a DataFrame or a file, not"),
        (
            {"eval_metrics": "map"},
            r"eval_metrics must be a list of measures, such as \['map'\]",
        ),
    ],
)
def test_an_experiment_says_what_its_first_arguments_are(
    change: dict[str, Any], message: str
) -> None:
    arguments = {
        "retr_systems": [Never(), Never()],
        "topics": TOPICS,
        "qrels": QRELS,
        "eval_metrics": ["map"],
        "validate": "ignore",
        **change,
    }
    with pytest.raises(ValueError, match=rf"^pt\.lexirecall\.Experiment: {message}"):
        pt.lexirecall.Experiment(**arguments)


@pytest.mark.parametrize(("options", "message"), WRONG, ids=str)
def test_a_benchmark_refuses_wrong_values(
    options: dict[str, Any], message: str
) -> None:
    with pytest.raises(
        ValueError, match=rf"^pt\.lexirecall\.Benchmark: experiment: {message}"
    ):
        pt.lexirecall.Benchmark(
            {"one": Never()}, {"tiny": (TOPICS, QRELS)}, ["AP"], experiment=options
        )


@pytest.mark.parametrize(
    "name",
    sorted({name for options, _ in OF_TABLES for name in options} - {"batch_size"}),
)
def test_a_benchmark_refuses_options_without_effect(name: str) -> None:
    with pytest.raises(
        ValueError,
        match=rf"^pt\.lexirecall\.Benchmark: experiment may not hold {name!r}: ",
    ):
        pt.lexirecall.Benchmark(
            {"one": Never()},
            {"tiny": (TOPICS, QRELS)},
            ["AP"],
            experiment={name: None},
        )


def test_options_are_those_of_pyterrier_where_its_experiment_is_replaced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ranked = pd.DataFrame({"qid": ["1", "2"], "docno": ["a", "b"], "rank": 0})
    system = pt.Transformer.from_df(ranked.assign(score=1.0))
    monkeypatch.setattr(pt, "Experiment", pt.lexirecall.Experiment)
    table = pt.Experiment(
        [system], TOPICS, QRELS, ["map"], plan="linear", verbose=False, batch_size=1
    )
    assert table["map"].tolist() == [1.0]
    result = pt.lexirecall.Benchmark(
        {"one": system},
        {"tiny": (TOPICS, QRELS)},
        ["AP"],
        experiment={"verbose": False, "batch_size": 1},
    )
    assert result["tiny"].means()["mean"].tolist() == [1.0]
