"""``pt.lexirecall.Benchmark``: the same numbers as ``irl.benchmark``, runs saved, and continued after an interruption."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import ir_lexirecall as irl
from ir_lexirecall import demo

pt = pytest.importorskip("pyterrier")

MEASURES = ["LR", "nDCG@10"]
OPTIONS: dict[str, Any] = {
    "test": irl.SignificanceTest(n_resamples=100, progress=False)
}
IDS = sorted(demo.qrels()["query_id"].unique())


def renamed(table: pd.DataFrame) -> pd.DataFrame:
    return table.rename(
        columns={
            "query_id": "qid",
            "doc_id": "docno",
            "relevance": "label",
            "text": "query",
        }
    )


def parts() -> dict[str, tuple[pd.DataFrame, pd.DataFrame]]:
    """Topics and qrels of the demo, split in two."""
    topics = renamed(demo.queries())[["qid", "query"]]
    grades = (
        demo.qrels().groupby(["query_id", "doc_id"], as_index=False)["relevance"].max()
    )
    chosen = {"odd": IDS[::2], "Even/Part": IDS[1::2]}
    return {
        name: (
            topics[topics["qid"].isin(ids)],
            renamed(grades[grades["query_id"].isin(ids)]),
        )
        for name, ids in chosen.items()
    }


class Counting(pt.Transformer):
    """Gives a stored run, and counts how often it is asked."""

    def __init__(self, name: str, fails_on: str | None = None) -> None:
        self.run = renamed(demo.run(name)).assign(query="")
        self.asked = 0
        self.fails_on = fails_on

    def transform(self, topics: pd.DataFrame) -> pd.DataFrame:
        if self.fails_on in set(topics["qid"]):
            raise KeyboardInterrupt
        self.asked += len(topics) > 0
        result = self.run[self.run["qid"].isin(topics["qid"])]
        return pt.model.add_ranks(result)


def pipelines() -> dict[str, Counting]:
    return {name: Counting(name) for name in ("bm25", "ql")}


def test_it_says_what_benchmark_says(tmp_path: Path) -> None:
    data = parts()
    result = pt.lexirecall.Benchmark(
        pipelines(), data, MEASURES, baseline="bm25", save_dir=tmp_path, **OPTIONS
    )
    qrels = {name: table for name, (_, table) in data.items()}
    runs = {name: {run: demo.run(run) for run in ("bm25", "ql")} for name in data}
    expected = irl.benchmark(qrels, runs, MEASURES, baseline="bm25", **OPTIONS)
    for table in ("means", "table", "overall"):
        pd.testing.assert_frame_equal(
            getattr(result, table)(), getattr(expected, table)(), check_exact=True
        )
    assert sorted(str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*.gz")) == [
        *(
            "even-part/bm25.res.gz",
            "even-part/ql.res.gz",
            "odd/bm25.res.gz",
            "odd/ql.res.gz",
        )
    ]
    again = irl.benchmark(qrels, tmp_path, MEASURES, baseline="bm25", **OPTIONS)
    assert again.means().equals(result.means())


def test_groups_of_topics_are_those_of_benchmark() -> None:
    data, kinds = parts(), {query: f"kind {i % 3}" for i, query in enumerate(IDS)}
    qrels = {name: table for name, (_, table) in data.items()}
    runs = {name: {run: demo.run(run) for run in ("bm25", "ql")} for name in data}
    for cluster, table in ((False, "group_table"), (True, "overall")):
        tested = irl.SignificanceTest(n_resamples=100, progress=False, cluster=cluster)
        options = {"baseline": "bm25", "groups": kinds, "test": tested}
        result = pt.lexirecall.Benchmark(pipelines(), data, MEASURES, **options)
        expected = irl.benchmark(qrels, runs, MEASURES, **options)
        pd.testing.assert_frame_equal(
            getattr(result, table)(), getattr(expected, table)(), check_exact=True
        )


def test_it_continues_where_it_was_interrupted(tmp_path: Path) -> None:
    first = pipelines() | {"tfidf": Counting("tfidf", fails_on=IDS[1])}
    with pytest.raises(KeyboardInterrupt):
        pt.lexirecall.Benchmark(first, parts(), MEASURES, save_dir=tmp_path, **OPTIONS)
    assert not [
        path for path in tmp_path.rglob("*") if path.name.startswith(".partial")
    ]
    second = pipelines() | {"tfidf": Counting("tfidf")}
    result = pt.lexirecall.Benchmark(
        second, parts(), MEASURES, save_dir=tmp_path, **OPTIONS
    )
    assert [pipeline.asked > 0 for pipeline in second.values()] == [False, False, True]
    assert result.runs == ["bm25", "ql", "tfidf"]
    third = pipelines()
    pt.lexirecall.Benchmark(third, parts(), MEASURES, save_dir=tmp_path, **OPTIONS)
    assert [pipeline.asked for pipeline in third.values()] == [0, 0]


def test_pipelines_may_come_from_a_function_and_data_sets_by_id() -> None:
    def of_data_set(dataset: Any) -> Any:
        assert dataset.get_topics() is not None
        for name in ("bm25", "ql"):
            yield Counting(name), name

    pytest.importorskip("ir_datasets_lexirecall")  # registers it
    result = pt.lexirecall.Benchmark(
        of_data_set, ["irds:lexirecall/demo"], MEASURES, **OPTIONS
    )
    alone = irl.benchmark(
        "lexirecall/demo",
        {name: demo.run(name) for name in ("bm25", "ql")},
        MEASURES,
        **OPTIONS,
    )
    assert list(result) == ["lexirecall/demo"]
    pd.testing.assert_frame_equal(
        result["lexirecall/demo"].means("LR"), alone["lexirecall/demo"].means("LR")
    )


def test_arguments_are_those_of_benchmark() -> None:
    for wrong, hint in (
        ("measures", ""),
        ("baselin", "; did you mean 'baseline'"),
        ("values", ""),
        ("runs", ""),
    ):
        with pytest.raises(
            TypeError,
            match=rf"pt\.lexirecall\.Benchmark: unexpected argument '{wrong}'{hint}",
        ):
            pt.lexirecall.Benchmark(pipelines(), parts(), **{wrong: MEASURES})


@pytest.mark.parametrize(
    ("systems", "collections", "message"),
    [
        ({}, parts(), "there are no pipelines"),
        (pipelines(), {}, "there are no collections"),
        (pipelines(), 7, "list of data sets"),
        (pipelines(), {"a": 7}, "collection 'a' must be a data set"),
        (parts(), pipelines(), r"pipelines come first: pt.lexirecall.Benchmark\(pipelines, coll"),
        ([*parts().values()], [*pipelines().values()], "pipelines come first"),
        (["irds:vaswani"], Counting("ql"), "pipelines come first"),
        (parts(), {"ql": Counting("ql").run}, "pipelines come first"),
        ([Counting("ql"), Counting("ql")], parts(), "pipeline 1 has no name of its own; give pipelines as a mapping"),
        ([Counting("ql") for _ in range(2)], parts(), "pipeline 1 has no name of its own"),
        ({"a/b": Counting("ql")}, parts(), "'a/b' cannot name a file"),
        (lambda dataset: 7, parts(), "expected pipelines"),
        (pipelines(), {"A/b": parts()["odd"], "a-b": parts()["odd"]}, "two collections have the same name or folder"),
    ],
)  # fmt: skip
def test_bad_input_is_named(systems: Any, collections: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pt.lexirecall.Benchmark(systems, collections, MEASURES, **OPTIONS)


ODD_NAMES = [
    "..",
    ".",
    "",
    " ",
    ".hidden",
    "..\\x",
    "C:\\runs",
    "c:",
    "a\0b",
    "a\nb",
    "../..",
    "./a",
    "a" * 300,
    "\u00e9" * 101,
]


@pytest.mark.parametrize("name", ODD_NAMES)
def test_a_name_that_is_no_folder_is_refused_before_anything_runs(
    name: str, tmp_path: Path
) -> None:
    systems, kept = pipelines(), tmp_path / "kept"
    with pytest.raises(
        ValueError, match=r"^pt\.lexirecall\.Benchmark: collection .* cannot name"
    ):
        pt.lexirecall.Benchmark(
            systems, {name: parts()["odd"]}, MEASURES, save_dir=kept, **OPTIONS
        )
    with pytest.raises(
        ValueError, match=r"^pt\.lexirecall\.Benchmark: .* cannot name a file"
    ):
        pt.lexirecall.Benchmark(
            {name: systems["ql"]}, parts(), MEASURES, save_dir=kept, **OPTIONS
        )
    assert systems["ql"].asked == 0
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


@pytest.mark.parametrize("name", ["/etc/x", "a/b", "lexirecall:demo"])
def test_slashes_of_ids_become_dashes_within_the_folder(
    name: str, tmp_path: Path
) -> None:
    kept = tmp_path / "kept"
    one = {name: parts()["odd"]}
    pt.lexirecall.Benchmark(
        {"ql": Counting("ql")}, one, ["LR"], save_dir=kept, **OPTIONS
    )
    assert [path.name for path in kept.iterdir()] == [name.replace("/", "-").lower()]


@pytest.mark.parametrize(
    ("experiment", "message"),
    [
        (
            {"names": ["x"]},
            "experiment may not hold 'names': pipelines are named by pipelines=",
        ),
        ({"save_dir": "x"}, "experiment may not hold 'save_dir': give save_dir= to"),
        ({"save_format": "x"}, "experiment may not hold 'save_format'"),
        ({"eval_metrics": ["map"]}, "experiment may not hold 'eval_metrics': give by="),
        (
            {"batchsize": 3},
            "experiment holds 'batchsize', .* did you mean 'batch_size'",
        ),
        ([("batch_size", 3)], "experiment must be a mapping of options"),
    ],
)
def test_options_of_the_experiment_are_checked(experiment: Any, message: str) -> None:
    with pytest.raises(ValueError, match=rf"^pt\.lexirecall\.Benchmark: {message}"):
        pt.lexirecall.Benchmark(
            pipelines(), parts(), MEASURES, experiment=experiment, **OPTIONS
        )


def test_fractional_grades_are_judged_as_by_benchmark() -> None:
    topics, qrels = parts()["odd"]
    halves = qrels.assign(label=qrels["label"] / 2)
    systems = {"ql": Counting("ql")}
    result = pt.lexirecall.Benchmark(
        systems, {"odd": (topics, halves)}, ["nDCG@10"], **OPTIONS
    )
    names = {"qid": "query_id", "docno": "doc_id", "label": "relevance"}
    values = irl.evaluate(["nDCG@10"], halves.rename(columns=names), demo.run("ql"))
    assert result["odd"].means()["mean"].tolist() == pytest.approx(
        [values.iloc[:, 0].mean()]
    )


def test_pipelines_without_ranks_are_ranked_by_score() -> None:
    scored = demo.run("bm25").rename(columns={"query_id": "qid", "doc_id": "docno"})
    scored = scored[["qid", "docno", "score"]].sample(frac=1, random_state=1)
    ranked = Counting("bm25")
    result = pt.lexirecall.Benchmark(
        {"ranked": ranked, "scored": pt.Transformer.from_df(scored), "frame": scored},
        parts(),
        MEASURES,
        **OPTIONS,
    )
    means = result["odd"].means().pivot(index="criterion", columns="run", values="mean")
    assert means["scored"].tolist() == means["ranked"].tolist()
    assert means["frame"].tolist() == means["ranked"].tolist()


@pytest.mark.parametrize("name", ["names", "topics", "save_format"])
def test_arguments_of_experiment_are_told_where_they_are_given(name: str) -> None:
    with pytest.raises(
        TypeError, match=rf"unexpected argument '{name}'; (give|pipelines|runs) "
    ):
        pt.lexirecall.Benchmark({}, {}, **{name: None})


@pytest.mark.parametrize("name", ["lexirecall:x", "irds:no/such", "no-such", "a:b"])
def test_a_data_set_that_there_is_not_is_named(name: str) -> None:
    with pytest.raises(ValueError, match=f"PyTerrier has no data set '.*{name}'"):
        pt.lexirecall.Benchmark(pipelines(), [name], MEASURES)


def test_topics_that_pyterrier_cannot_use_are_named() -> None:
    topics, qrels = next(iter(parts().values()))
    for odd, message in (
        (topics.assign(qid=range(len(topics))), "topics: qid holds integers"),
        (topics.drop(columns="qid"), "topics lack the column qid"),
    ):
        with pytest.raises(ValueError, match=f"Benchmark: {message}"):
            pt.lexirecall.Benchmark(pipelines(), {"odd": (odd, qrels)}, MEASURES)


def test_frames_with_integers_for_ids_are_those_with_texts() -> None:
    numbers = {query: i for i, query in enumerate(IDS)}

    def numbered(table: pd.DataFrame, kind: type) -> pd.DataFrame:
        return table.assign(qid=[kind(numbers[query]) for query in table["qid"]])

    data = {
        name: (numbered(topics, str), numbered(qrels, str))
        for name, (topics, qrels) in parts().items()
    }
    runs = {name: renamed(demo.run(name)) for name in ("bm25", "ql")}
    results = [
        pt.lexirecall.Benchmark(
            {name: numbered(run, kind) for name, run in runs.items()},
            data,
            MEASURES,
            **OPTIONS,
        ).means()
        for kind in (int, str)
    ]
    pd.testing.assert_frame_equal(*results)


def test_frames_without_names_are_not_printed_whole() -> None:
    runs = [renamed(demo.run(name)) for name in ("bm25", "ql")]
    with pytest.raises(ValueError, match="a frame of results has no name; give pipeli"):
        pt.lexirecall.Benchmark(runs, parts(), MEASURES, **OPTIONS)
    topics, qrels = parts()["odd"]
    odd = [runs[0], runs[1].assign(score=float("nan"))]
    with pytest.raises(ValueError, match="system 1") as error:
        pt.lexirecall.Experiment(odd, topics, qrels, ["map"])
    assert "\n" not in str(error.value)


_TOPICS = pd.DataFrame({"qid": ["1", "2"], "query": ["x", "y"]})
_QRELS = pd.DataFrame({"qid": ["1", "1", "2"], "docno": ["a", "b", "c"], "label": 1})
_RESULTS = pd.DataFrame(
    {"qid": ["1", "1", "2"], "docno": ["a", "b", "c"], "score": [2.0, 1.0, 1.0]}
)


@pytest.mark.parametrize("as_pipeline", [False, True])
@pytest.mark.parametrize("odd", [float("nan"), None])
def test_a_missing_score_is_named(odd: Any, as_pipeline: bool) -> None:
    one = _RESULTS.assign(score=[2.0, odd, 1.0], rank=[0, 1, 0])
    system = pt.Transformer.from_df(one) if as_pipeline else one
    expected = "score of document 'b' for query '1' is missing"
    with pytest.raises(ValueError, match=expected):
        pt.lexirecall.Benchmark({"one": system}, {"c": (_TOPICS, _QRELS)}, ["AP"])
