"""``benchmark`` over many collections: each as alone, what holds over all of them, and bad input named."""

from __future__ import annotations

import gzip
import itertools
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ir_lexirecall as irl
from ir_lexirecall import demo
from ir_lexirecall.benchmarks import Benchmark
from ir_lexirecall.benchmarks import result as result_module
from ir_lexirecall.benchmarks.benchmarking import STANDARD
from ir_lexirecall.data.collection import Collection
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.significance import Resampled
from ir_lexirecall.significance import over_collections as inference

MEASURES = ["nDCG@10", "LR"]
RUNS = {
    name: run for name, run in demo.runs().items() if name in ("bm25", "ql", "tfidf")
}
IDS = sorted(demo.qrels()["query_id"].unique())
PARTS = {
    name: demo.qrels()[demo.qrels()["query_id"].isin(IDS[start::3])]
    for start, name in enumerate(["one", "two", "three"])
}
TEST = irl.SignificanceTest(n_resamples=300, progress=False)
OPTIONS: dict[str, Any] = {"test": TEST}


def dicts(qrels: pd.DataFrame) -> dict[str, dict[str, int]]:
    best = qrels.groupby(["query_id", "doc_id"])["relevance"].max()
    return {
        q: {d: int(g) for (_, d), g in rows.items()}
        for q, rows in best.groupby("query_id")
    }


CRITERIA = [*MEASURES, "lexirecall", "rpp"]


@pytest.fixture(scope="module")
def suite() -> Benchmark:
    return irl.benchmark(
        PARTS, dict.fromkeys(PARTS, RUNS), CRITERIA, baseline="bm25", **OPTIONS
    )


def test_each_collection_is_as_alone(suite: Benchmark) -> None:
    assert list(suite) == list(PARTS)
    assert len(suite) == 3
    for name, qrels in PARTS.items():
        alone = irl.compare(qrels, RUNS, CRITERIA, baseline="bm25", **OPTIONS)
        assert suite[name].table().equals(alone.table())
        assert suite[name].means().equals(alone.means())
        for table in ("means", "table", "verdicts"):
            part = getattr(suite, table)()
            part = (
                part[part["collection"] == name]
                .drop(columns="collection")
                .reset_index(drop=True)
            )
            pd.testing.assert_frame_equal(part, getattr(alone, table)())


def test_overall_is_computed_from_the_values(suite: Benchmark) -> None:
    overall = suite.overall().set_index(["criterion", "run"])
    assert list(overall.index.unique("criterion")) == CRITERIA
    means = suite.means().set_index(["criterion", "collection", "run"])["mean"]
    for criterion in CRITERIA:
        macro = means[criterion].groupby("run", sort=False).mean()
        ranks = (
            means[criterion]
            .groupby("collection")
            .rank(ascending=False)
            .groupby("run")
            .mean()
        )
        for run in RUNS:
            assert overall.loc[(criterion, run), "mean"] == pytest.approx(macro[run])
            assert overall.loc[(criterion, run), "mean_rank"] == pytest.approx(
                ranks[run]
            )
    for run in ("ql", "tfidf"):
        for criterion in MEASURES:
            macro = means[criterion].groupby("run", sort=False).mean()
            assert overall.loc[(criterion, run), "difference"] == pytest.approx(
                macro[run] - macro["bm25"]
            )
        for criterion in ("lexirecall", "rpp"):
            head_to_head = [
                result.matrix(criterion).loc[run, "bm25"] for result in suite.values()
            ]
            assert overall.loc[(criterion, run), "difference"] == pytest.approx(
                np.mean(head_to_head)
            )


@pytest.mark.parametrize("over", ["queries", "collections"])
def test_overall_is_what_inference_gives(suite: Benchmark, over: str) -> None:
    overall = suite.overall(over)
    rows = overall[overall["criterion"] == "LR"].set_index("run")
    values = [
        suite[name].per_query("LR")[list(RUNS)].to_numpy().T for name in sorted(PARTS)
    ]
    differences = [x[1:] - x[0] for x in values]
    if over == "queries":
        resamples = inference.macro_bootstrap(
            differences, over, draws=Resampled(300, 0)
        )
        mean, error = (
            inference.macro_means(differences),
            inference.macro_error(differences, over),
        )
        low, high, p = inference.studentised_interval(
            mean, error, resamples, 0.05, 0.35
        )
    else:
        variance = [
            [x[r].var(ddof=1) / x.shape[1] for x in differences] for r in range(2)
        ]
        means = np.array([[x[r].mean() for x in differences] for r in range(2)])
        expected = inference.random_effects(means, np.array(variance))
        low, high, p = expected.effect_low, expected.effect_high, expected.p
    np.testing.assert_allclose(rows.loc[["ql", "tfidf"], "p"], p)
    np.testing.assert_allclose(
        rows.loc[["ql", "tfidf"], "difference_low"], low, rtol=1e-9
    )
    np.testing.assert_allclose(
        rows.loc[["ql", "tfidf"], "difference_high"], high, rtol=1e-9
    )
    assert np.isnan(rows.loc["bm25", "p"])
    assert (rows["rank_low"] <= rows["rank_high"]).all()
    if over == "collections":
        np.testing.assert_allclose(rows.loc[["ql", "tfidf"], "effect"], expected.effect)
        np.testing.assert_allclose(rows.loc[["ql", "tfidf"], "i2"], expected.i2)
        assert (rows["effect_low"].dropna() == rows["difference_low"].dropna()).all()


@pytest.mark.parametrize("over", ["queries", "collections"])
def test_the_order_of_collections_changes_nothing(over: str) -> None:
    rng = np.random.default_rng(0)
    values = {
        f"c{d}": {
            run: {f"q{i}": {"AP": rng.random()} for i in range(12)} for run in "abc"
        }
        for d in range(4)
    }
    tables = [
        irl.benchmark(
            values={name: values[name] for name in names}, baseline="a"
        ).overall(over)
        for names in (["c0", "c1", "c2", "c3"], ["c2", "c0", "c3", "c1"])
    ]
    pd.testing.assert_frame_equal(*tables)


def test_one_query_that_carries_the_spread_does_not_widen_the_interval() -> None:
    """A run that differs from the baseline on 1 of 1,250 queries: +-.0073 without the floor."""
    rng = np.random.default_rng(0)
    values = {}
    for d in range(5):
        base = {f"q{i}": {"AP": x} for i, x in enumerate(rng.random(250).tolist())}
        values[f"c{d}"] = {"base": base, "new": dict(base)}
    values["c2"]["new"]["q7"] = {"AP": values["c2"]["base"]["q7"]["AP"] - 0.0035}
    overall = (
        irl.benchmark(values=values, baseline="base")
        .overall()
        .set_index("run")
        .loc["new"]
    )
    assert overall["difference"] == pytest.approx(-2.8e-6)
    assert (
        -1.2e-5 < overall["difference_low"] < 0 <= overall["difference_high"] < 1.2e-5
    )
    assert overall["p"] > 0.05


def test_differences_over_collections_are_corrected_whatever_the_test(
    suite: Benchmark,
) -> None:
    tukey = irl.benchmark(
        PARTS,
        lambda name: RUNS,
        MEASURES,
        baseline="bm25",
        test=replace(TEST, name="tukey"),
    ).overall()
    columns = ["p", "p_corrected", "verdict"]
    expected = suite.overall()
    pd.testing.assert_frame_equal(
        tukey[tukey["criterion"] == "LR"][columns].reset_index(drop=True),
        expected[expected["criterion"] == "LR"][columns].reset_index(drop=True),
    )
    assert (tukey["p_corrected"] > tukey["p"]).any()
    assert tukey.attrs["correction"] == "holm"


@pytest.mark.parametrize("over", ["queries", "collections"])
def test_overall_does_not_depend_on_what_is_resampled_together(
    over: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # "two" has a query without relevant documents: measures count it, preferences do not.
    parts = PARTS | {
        "two": pd.concat(
            [PARTS["two"], PARTS["one"].head(1).assign(query_id="none", relevance=0)]
        )
    }

    def overall() -> pd.DataFrame:
        return irl.benchmark(
            parts, lambda name: RUNS, CRITERIA, baseline="bm25", **OPTIONS
        ).overall(over)

    together = overall()
    monkeypatch.setattr(result_module, "_ROWS", 1)
    pd.testing.assert_frame_equal(overall(), together, rtol=1e-9)


# -- forms of input ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_all_forms_of_input_say_the_same(suite: Benchmark, tmp_path: Path) -> None:
    for name, (run, table) in itertools.product(PARTS, RUNS.items()):
        folder = tmp_path / "suiteeval" / name
        folder.mkdir(parents=True, exist_ok=True)
        lines = "".join(
            f"{q} Q0 {d} 0 {s!r} {run}\n"
            for q, d, s in table[["query_id", "doc_id", "score"]].itertuples(
                index=False
            )
        )
        (folder / f"{run}.res.gz").write_bytes(gzip.compress(lines.encode()))
        tirex = tmp_path / "tirex" / name / run
        tirex.mkdir(parents=True)
        (tirex / "run.txt").write_text(lines)
    asked: list[str] = []

    def runs_of(name: str) -> Mapping[str, pd.DataFrame]:
        asked.append(name)
        return RUNS

    plain = {name: dicts(qrels) for name, qrels in PARTS.items()}
    for runs in (
        tmp_path / "suiteeval",
        str(tmp_path / "tirex"),
        runs_of,
        {name: dict(RUNS) for name in PARTS},
    ):
        for collections in (PARTS, plain):
            result = irl.benchmark(collections, runs, MEASURES, **OPTIONS)
            keys = ["collection", "criterion", "run"]
            ours, expected = (
                made.means().set_index(keys).sort_index() for made in (result, suite)
            )
            expected = expected.loc[
                expected.index.get_level_values("criterion").isin(MEASURES)
            ]
            pd.testing.assert_frame_equal(ours, expected, check_exact=True)
    assert asked == [*PARTS, *PARTS]


def test_ids_are_collections_and_apply_their_threshold() -> None:
    by_id = irl.benchmark(
        ["lexirecall/demo"], {"lexirecall/demo": RUNS}, MEASURES, **OPTIONS
    )
    by_object = irl.benchmark(
        [irl.load("lexirecall/demo")], {"lexirecall/demo": RUNS}, MEASURES, **OPTIONS
    )
    assert by_id.means().equals(by_object.means())
    for single in (
        irl.benchmark("lexirecall/demo", RUNS, MEASURES, **OPTIONS),
        irl.benchmark(irl.load("lexirecall/demo"), RUNS, MEASURES, **OPTIONS),
    ):
        assert list(single) == ["lexirecall/demo"]
        assert single.means().equals(by_id.means())
    assert list(irl.benchmark(dicts(PARTS["one"]), RUNS, MEASURES, **OPTIONS)) == [
        "collection"
    ]


def test_runs_that_are_missing_may_be_skipped() -> None:
    runs = {name: dict(RUNS) for name in PARTS}
    del runs["two"]["ql"]
    with pytest.raises(ValueError, match="collection 'two' lacks run 'ql'"):
        irl.benchmark(PARTS, runs, MEASURES, **OPTIONS)
    with pytest.raises(ValueError, match="collection 'two' lacks run 'ql'"):
        irl.benchmark(PARTS, runs.__getitem__, MEASURES, **OPTIONS)
    result = irl.benchmark(PARTS, runs, MEASURES, missing="skip", **OPTIONS)
    assert result.runs == ["bm25", "tfidf"]
    assert result.lacking == {"ql": ["two"]}
    assert "ql is missing for two" in result.diagnostics[0]
    assert set(result.overall()["run"]) == {"bm25", "tfidf"}
    with pytest.raises(
        ValueError,
        match="the baseline 'ql' is missing for collection 'two'; add it, leave out",
    ):
        irl.benchmark(PARTS, runs, MEASURES, missing="skip", baseline="ql", **OPTIONS)


# -- bad input -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("collections", "runs", "options", "message"),
    [
        (["lexirecall/demos"], {"lexirecall/demos": RUNS}, {}, "did you mean 'lexirecall/demo'"),
        (["lexirecall/demo"] * 2, {"lexirecall/demo": RUNS}, {}, "two collections have the same name, lexirecall/demo"),
        ([], {}, {}, "no collections"),
        (PARTS, {"one": RUNS, "two": RUNS}, {}, "no runs for collection 'three'"),
        (PARTS, {"one": RUNS}, {}, "no runs for collection 'two', nor for 'three'"),
        (PARTS, {"one": RUNS, "two": {}, "three": RUNS}, {}, "no runs for collection 'two'"),
        (PARTS, dict.fromkeys([*PARTS, "tree"], RUNS), {}, "unknown collection, 'tree'; did you mean 'three'"),
        (PARTS, RUNS, {}, "runs of an unknown collection, 'bm25'"),
        (PARTS, [RUNS], {}, "mapping of collections to mappings"),
        (PARTS, {key: {"q1": {"d1": 1.0}, "q2": 3} for key in PARTS}, {}, "collection 'one': give its runs as a mapping"),
        (PARTS, lambda name: None, {}, "function of runs gave None for collection 'one'"),
        (PARTS, dict.fromkeys(PARTS, RUNS), {"baseline": "bm52"}, "unknown baseline 'bm52'"),
        (PARTS, dict.fromkeys(PARTS, RUNS), {"missing": "ignore"}, "unknown missing 'ignore'; choose from error, skip"),
        (PARTS, {key: {"a": RUNS["ql"], "b": "b.run"} for key in PARTS}, {}, "collection 'one': b.run: there is no such file"),
        (PARTS | {"two": {}}, dict.fromkeys(PARTS, RUNS), {}, "collection 'two': there are no judgments"),
        (PARTS | {"two": {"q99": {"bee-01": 1}}}, dict.fromkeys(PARTS, RUNS), {}, "collection 'two': .*run 'bm25' retrieves nothing for any query of the qrels"),
        (PARTS, "no-such-folder", {}, "no-such-folder: there is no such folder"),
        (PARTS, {key: {1: RUNS["ql"], "1": RUNS["ql"]} for key in PARTS}, {}, "two runs have the same name, 1"),
    ],
)  # fmt: skip
def test_bad_input_is_named(
    collections: Any, runs: Any, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        irl.benchmark(collections, runs, MEASURES, **OPTIONS, **options)


def test_empty_and_incomplete_folders_are_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no folder for collection 'one'; it is empty"):
        irl.benchmark(PARTS, tmp_path, MEASURES)
    for name in PARTS:
        (tmp_path / name).mkdir()
    with pytest.raises(ValueError, match="one has no runs, such as"):
        irl.benchmark(PARTS, tmp_path, MEASURES)


def test_a_collection_without_relevant_documents_is_named() -> None:
    collections = {"good": {"q": {"a": 1}, "r": {"a": 1}}, "bad": {"q": {"a": 0}}}
    runs = {"x": {"q": {"a": 1.0}}, "y": {"q": {"b": 2.0, "a": 1.0}}}
    result = irl.benchmark(
        collections, dict.fromkeys(collections, runs), ["AP", "lexirecall"], **OPTIONS
    )
    assert set(result.overall()["criterion"]) == {"AP"}
    alone = irl.benchmark(
        collections, dict.fromkeys(collections, runs), "lexirecall", **OPTIONS
    )
    with pytest.raises(
        ValueError, match="no query of collection 'bad' has a relevant document"
    ):
        alone.overall()


def test_what_overall_cannot_say_is_refused(suite: Benchmark) -> None:
    with pytest.raises(
        ValueError, match="unknown over 'documents'; choose from queries, collections"
    ):
        suite.overall("documents")
    with pytest.raises(ValueError, match="friedman: unknown criterion 'MAP'"):
        suite.friedman("MAP")
    without = irl.benchmark(PARTS, dict.fromkeys(PARTS, RUNS), MEASURES, **OPTIONS)
    assert "difference" not in without.overall()
    with pytest.raises(
        ValueError, match="by_collection: no baseline; pass baseline= to benchmark"
    ):
        without.by_collection()


@pytest.mark.parametrize("call", ["by_collection", "plot"])
def test_a_single_run_is_told_to_get_company_before_a_baseline(call: str) -> None:
    alone = irl.benchmark(
        PARTS, {name: {"bm25": demo.run("bm25")} for name in PARTS}, "AP", **OPTIONS
    )
    message = (
        f"^{call}: only the run 'bm25' is common to all .*: nothing can be compared"
    )
    with pytest.raises(ValueError, match=message):
        getattr(alone, call)()


def test_of_a_single_collection_everything_is_its_comparison() -> None:
    single = irl.benchmark(
        "lexirecall/demo", RUNS, CRITERIA, baseline="bm25", **OPTIONS
    )
    alone = irl.compare("lexirecall/demo", RUNS, CRITERIA, baseline="bm25", **OPTIONS)
    assert str(single) == str(alone)
    overall = single.overall().set_index(["criterion", "run"])
    means = alone.means().set_index(["criterion", "run"])
    assert overall[["mean", "ci_low", "ci_high"]].equals(
        means[["mean", "ci_low", "ci_high"]]
    )
    tested = alone.table().set_index(["criterion", "run_a"])
    for key, row in tested.iterrows():
        assert (
            overall.loc[key, ["difference", "p", "p_corrected", "verdict"]].tolist()
            == row[["difference", "p", "p_corrected", "verdict"]].tolist()
        )


# -- rules -----------------------------------------------------------------------------------------------


def collection(dataset_id: str, qrels: pd.DataFrame) -> Collection:
    data_set = SimpleNamespace(
        qrels_iter=lambda: iter(qrels.values.tolist()),
        qrels_cls=lambda: SimpleNamespace(_fields=qrels.columns),
        qrels_defs=dict,
        has_queries=lambda: False,
        has_docs=lambda: False,
    )
    return Collection(dataset_id, {}, False, data_set)


BRIGHT = pd.DataFrame(
    [("1", "a", 1), ("1", "b", 1), ("1", "x", -100), ("2", "c", 1), ("2", "y", -100)],
    columns=["query_id", "doc_id", "relevance"],
)


def test_a_perfect_run_of_bright_scores_1() -> None:
    bright = collection("bright/biology", BRIGHT)
    run = {"1": {"x": 9.0, "a": 8.0, "b": 7.0}, "2": {"y": 9.0, "c": 8.0}}
    values = irl.evaluate("nDCG@10", bright, run)
    assert values["nDCG@10"].tolist() == [1.0, 1.0]
    assert values.attrs == {"rules": "without documents of grade -100"}
    assert (
        irl.evaluate("nDCG@10", irl.load(bright, rules=False), run)["nDCG@10"].max() < 1
    )
    result = irl.compare(bright, {"a": run, "b": run}, ["nDCG@10"])
    assert result.means()["mean"].tolist() == [1.0, 1.0]
    assert result.means().attrs["rules"] == "without documents of grade -100"
    off = irl.compare(irl.load(bright, rules=False), {"a": run, "b": run}, ["nDCG@10"])
    assert off.provenance["rules"] is None
    assert off.means()["mean"].max() < 1
    many = irl.benchmark(
        [bright],
        {"bright/biology": {"a": run}},
        ["nDCG@10"],
        test=irl.SignificanceTest(progress=False),
    )
    assert many.provenance["rules"] == {
        "bright/biology": "without documents of grade -100"
    }


@pytest.mark.parametrize(
    "dataset_id",
    [
        "beir/arguana",
        "beir/quora/test",
        "beir/cqadupstack/english",
        "nano-beir/arguana",
    ],
)
def test_a_querys_own_document_is_taken_out(dataset_id: str) -> None:
    qrels = pd.DataFrame([("q", "a", 1)], columns=["query_id", "doc_id", "relevance"])
    run = {"q": {"q": 9.0, "a": 8.0}}
    judged = collection(dataset_id, qrels)
    assert irl.evaluate("RR", judged, run)["RR"].tolist() == [1.0]
    assert irl.evaluate("RR", irl.load(judged, rules=False), run)["RR"].tolist() == [
        0.5
    ]
    compared = irl.compare(judged, {"a": run, "b": {"q": {"a": 1.0}}})
    assert compared.table()["ties"].tolist() == [1]
    assert irl.compare(
        irl.load(judged, rules=False), {"a": run, "b": {"q": {"a": 1.0}}}
    ).table()["losses"].tolist() == [1]


def test_rules_and_exclude_add_up() -> None:
    bright = collection("bright/biology", BRIGHT)
    judgments = Judgments.from_qrels(irl.load(bright, exclude={"1": ["b"]}))
    assert judgments.doc_ids == ["a", "c"]
    run = {"1": {"x": 9.0, "b": 8.5, "a": 8.0}, "2": {"y": 9.0, "c": 8.0}}
    assert irl.evaluate("RR", irl.load(bright, exclude={"1": ["b"]}), run)[
        "RR"
    ].tolist() == [
        1.0,
        1.0,
    ]


@pytest.mark.parametrize(
    ("queries", "runs", "options", "message"),
    [
        (4, 2, {}, "sign test can give on 4 queries is 0.12: it cannot reject at alpha 0.05."),
        (4, 2, {"name": "t"}, "t test can give on 4 queries is 0.12: it cannot reject"),
        (30, 2, {"name": "t"}, None),
        (8, 4, {}, "is 0.0078 (0.047 after Holm's correction for 6 comparisons)."),
        (8, 5, {}, "is 0.0078 (0.078 after Holm's correction for 10 comparisons): it cannot reject at alpha 0.05."),
        (8, 5, {"correction": None}, "is 0.0078."),
        (8, 5, {"baseline": "run 0"}, "(0.031 after Holm's correction for 4 comparisons)."),
        (30, 5, {}, None),
        (30, 5, {"name": "bootstrap", "n_resamples": 99}, "is 0.010 (0.10 after Holm's correction for 10 comparisons): it"),
        (30, 5, {"name": "tukey", "n_resamples": 99}, None),
    ],
)  # fmt: skip
def test_the_smallest_p_is_told(
    queries: int, runs: int, options: dict[str, Any], message: str | None
) -> None:
    options = dict(options)
    baseline = options.pop("baseline", None)
    qrels = {f"q{i}": {"a": 1} for i in range(queries)}
    made = {
        f"run {i}": {q: {"a": 1.0, "b": float(i)} for q in qrels} for i in range(runs)
    }
    told = [
        note
        for note in irl.compare(
            qrels, made, baseline=baseline, test=irl.SignificanceTest(**options)
        ).diagnostics
        if "smallest p" in note
    ]
    assert len(told) == (message is not None)
    assert message is None or message in told[0]
    assert not told or told[0].endswith(".")


@pytest.mark.slow
def test_a_folder_and_a_toml_file_are_read_as_by_the_command(tmp_path: Path) -> None:
    demo.write(tmp_path / "runs" / "bees")
    demo.write(tmp_path / "runs" / "wasps")
    test = irl.SignificanceTest(n_resamples=99, progress=False)
    by_hand = irl.benchmark(
        {name: tmp_path / "runs" / name / "qrels.tsv" for name in ("bees", "wasps")},
        dict.fromkeys(("bees", "wasps"), RUNS),
        ["AP", "LR"],
        baseline="bm25",
        test=test,
    )
    folder = irl.benchmark(
        tmp_path / "runs", by=["AP", "LR"], baseline="bm25", test=test
    )
    (tmp_path / "suite.toml").write_text(
        'runs = "runs"\nby = ["AP", "LR"]\nbaseline = "bm25"\nn_resamples = 99\nover = "collections"\n'
        '[collections]\nbees = "runs/bees/qrels.tsv"\nwasps = "runs/wasps/qrels.txt"\n'
    )
    for result in (folder, irl.benchmark(str(tmp_path / "suite.toml"))):
        assert list(result) == ["bees", "wasps"]
        for name in RUNS:
            means = [
                one.means().set_index(["collection", "criterion", "run"])["mean"]
                for one in (result, by_hand)
            ]
            assert means[0].xs(name, level="run").equals(means[1].xs(name, level="run"))
    assert list(irl.benchmark(tmp_path / "runs" / "bees", by="AP")) == [
        "bees"
    ]  # of one collection
    (tmp_path / "runs" / "bees" / "below").mkdir()
    assert list(
        irl.benchmark(tmp_path / "runs" / "bees" / "below" / "..", by="AP")
    ) == ["bees"]
    (tmp_path / "runs" / "bees" / "below").rmdir()
    demo.write(tmp_path / "suite" / "runs")
    (tmp_path / "suite" / "qrels.txt").write_text("q01 0 bee-01 1\n")
    assert list(irl.benchmark(tmp_path / "suite", by="AP")) == [
        "runs"
    ]  # it has qrels, so it is no folder of runs
    (tmp_path / "runs" / "bees" / "qrels.more").write_text("q01 0 bee-01 0\n")
    with pytest.raises(
        ValueError,
        match=r"^benchmark: .*bees: there are two files of qrels, qrels\.more and qrels\.tsv",
    ):
        irl.benchmark(tmp_path / "runs", by="AP")


def test_what_counts_as_judged_is_said_once_for_ids_and_files_alike(
    tmp_path: Path,
) -> None:
    demo.write(tmp_path / "bees")
    options: dict[str, Any] = {
        "exclude": {"q01": ["bee-01"]},
        "judged_only": True,
        "queries": IDS[:5],
    }
    collection, judgments = (
        irl.load(source, **options)
        for source in ("lexirecall/demo", tmp_path / "bees" / "qrels.tsv")
    )
    assert collection.n == 90
    assert [str(measure) for measure in collection.recommended()][:2] == [
        "nDCG@10",
        "AP",
    ]
    for measure in ("AP", "LR", "Judged@10"):
        values = [
            irl.evaluate(measure, qrels, RUNS["bm25"])
            for qrels in (collection, judgments)
        ]
        pd.testing.assert_frame_equal(*values)
        assert values[0].index.tolist() == IDS[:5]
    assert (
        irl.evaluate("Judged@10", collection, RUNS["bm25"])["Judged@10"].tolist()
        == [1.0] * 5
    )
    both = irl.load(
        irl.load("lexirecall/demo", exclude={"q01": ["bee-01"]}), queries=["q01", "q02"]
    )
    assert irl.evaluate("NumRet", both, RUNS["bm25"]).index.tolist() == ["q01", "q02"]
    assert "bee-01" not in Judgments.from_qrels(both).restricted_to(["q01"]).doc_ids
    with pytest.raises(
        ValueError, match=r"^load: unknown queries 'some'; give 'relevant'"
    ):
        irl.load(demo.qrels(), queries="some")


def test_a_single_run_has_no_preferences_over_collections() -> None:
    result = irl.benchmark(
        {"c": {"q": {"d": 1}}}, {"c": {"a": {"q": {"d": 1.0}}}}, ["lexirecall"]
    )
    with pytest.raises(
        ValueError,
        match=r"overall: a single run .'a'. has no preferences over others; add a run or a measure",
    ):
        result.overall()


# -- from an id to an answer ---------------------------------------------------------------------------


@pytest.mark.parametrize("dataset", ["lexirecall/demo", irl.load("lexirecall/demo")])
def test_a_collection_recommends_its_measures(dataset: object) -> None:
    result = irl.benchmark(dataset, {"ql": RUNS["ql"]})
    recommended = [
        str(measure) for measure in irl.load("lexirecall/demo").recommended()
    ]
    assert result.criteria == [*recommended, "lexirecall"]


def test_qrels_without_an_id_take_the_standard_measures() -> None:
    result = irl.benchmark(demo.qrels(), RUNS, **OPTIONS)
    assert result.criteria == [str(name) for name in STANDARD]


def test_a_criterion_that_a_collection_cannot_have_is_left_out_alone() -> None:
    """``LR`` needs no relevant documents to be 0; the preference compares nothing without them."""
    parts = PARTS | {"three": PARTS["three"].assign(relevance=0)}
    runs = dict.fromkeys(parts, RUNS)
    result = irl.benchmark(parts, runs, ["LR", "lexirecall", "AP"], **OPTIONS)
    table = result.overall()
    assert list(dict.fromkeys(table["criterion"])) == ["LR", "AP"]
    expected = irl.benchmark(parts, runs, ["LR", "AP"], **OPTIONS).overall()
    pd.testing.assert_frame_equal(table, expected)
    reason = "no query of collection 'three' has a relevant document"
    assert result.left_out == {"lexirecall": reason}
    assert any(
        "lexirecall is left out" in note and reason in note
        for note in result.diagnostics
    )
    with pytest.raises(ValueError, match=reason):
        result.values_of("lexirecall")
    with pytest.raises(ValueError, match=reason):
        irl.benchmark(parts, runs, ["lexirecall"], **OPTIONS).overall()


@pytest.mark.parametrize(
    "test", ["sign", "t", "wilcoxon", "bootstrap", "randomisation", "tukey"]
)
def test_infinite_values_are_not_tested_but_named(test: str) -> None:
    result = irl.benchmark(
        "lexirecall/demo",
        RUNS,
        ["AP", "SL3"],
        test=irl.SignificanceTest(test, n_resamples=99),
    )
    for table in (result.table, lambda: result.best_set("SL3")):
        with pytest.raises(
            ValueError, match=r"SL3 is infinite for run .* on query .* give (it )?n"
        ):
            table()
    assert "Left out, as not every value is a finite number: SL3." in result.summary(
        full=True
    )


@pytest.mark.parametrize("by", ["lexirecall", "rpp", "lexirecall(cutoff=2)"])
def test_a_preference_says_nothing_of_a_single_run(by: str) -> None:
    run = {"bm25": demo.run("bm25")}
    result = irl.benchmark("lexirecall/demo", run, ["AP", by], **OPTIONS)
    means = result.means().set_index("criterion")[["mean", "ci_low", "ci_high"]]
    assert np.isfinite(means.loc["AP"]).all()
    (name,) = [name for name in means.index if name != "AP"]
    assert means.loc[name].isna().all()
    comparison = result["lexirecall/demo"]
    for table in (comparison.per_query(name), comparison.ranking(name)["mean"]):
        assert np.isnan(table.to_numpy()).all()
    left_out = f"A single run has no preference over others: left out {name}."
    for text in (str(result), str(comparison), comparison.summary(full=True)):
        assert left_out in text
        assert "0.000" not in text
    alone = irl.benchmark("lexirecall/demo", run, by, **OPTIONS)
    assert left_out in str(alone)
    assert "No query has a relevant document" not in str(alone)
    both = irl.benchmark(
        dict.fromkeys("xy", demo.qrels()),
        dict.fromkeys("xy", run),
        ["AP", by],
        **OPTIONS,
    )
    reason = "a preference needs two runs, and collection 'x' has one"
    assert both.left_out == {name: reason}


def tables_of(shifts: dict[str, float], measure: str = "AP") -> dict[str, pd.DataFrame]:
    """Return values of three runs on four collections, of which some are shifted by a constant."""
    rng = np.random.default_rng(5)
    tables = {}
    for collection in "abcd":
        rows = []
        for query in range(12):
            value, level = rng.uniform(0.4, 0.6), rng.normal(0, 0.01)
            for run, spread in (("base", 0.0), ("near", 0.05), ("far", 0.1)):
                x = value + (run != "base") * level + spread * rng.normal()
                shifted = x + shifts.get(run, 0.0)
                rows.append((run, f"{collection}{query}", measure, shifted))
        columns = ["run", "query_id", "measure", "value"]
        tables[collection] = pd.DataFrame(rows, columns=columns)
    return tables


@pytest.mark.parametrize("over", ["queries", "collections"])
@pytest.mark.parametrize("correction", ["holm", None])
def test_a_difference_that_is_said_to_be_significant_would_be(over, correction) -> None:
    test = irl.SignificanceTest(
        n_resamples=999, progress=False, correction=correction, seed=1
    )

    def verdicts(shifts: dict[str, float]) -> pd.DataFrame:
        result = irl.benchmark(values=tables_of(shifts), baseline="base", test=test)
        return result.overall(over).set_index("run").drop("base")

    result = irl.benchmark(values=tables_of({}), baseline="base", test=test)
    observed = verdicts({})
    assert observed["verdict"].tolist() == ["undecided"] * 2
    least = dict(
        zip(result.rivals, result.significant_differences("AP", over), strict=True)
    )
    for run, difference in least.items():
        for sign, verdict in ((1, "better"), (-1, "worse")):
            shift = sign * 1.001 * difference - observed.loc[run, "difference"]
            assert verdicts({run: shift}).loc[run, "verdict"] == verdict
        lower = sign * 0.7 * difference - observed.loc[run, "difference"]
        assert correction or verdicts({run: lower}).loc[run, "verdict"] == "undecided"
    said = max(least.values())
    found = re.search(r"a difference of ([\d.]+) would be", flat(result.summary(over)))
    assert found is not None
    assert said <= float(found.group(1)) <= 1.1 * said


def flat(text: str) -> str:
    return " ".join(text.split())


def test_nothing_is_said_of_what_would_be_significant_where_all_is_decided() -> None:
    shifts = {"near": 0.2, "far": -0.2}
    result = irl.benchmark(values=tables_of(shifts), baseline="base", **OPTIONS)
    assert set(result.overall()["verdict"].dropna()) == {"better", "worse"}
    assert "would be significant" not in flat(result.summary())
    undecided = irl.benchmark(values=tables_of({}), baseline="base", **OPTIONS)
    assert "would be significant" in flat(undecided.summary())


def test_over_tasks_and_with_other_corrections() -> None:
    rng = np.random.default_rng(0)
    board = pd.DataFrame({"task": [*"abcdefghi"], "old": rng.uniform(0.3, 0.6, 9)})
    board["new"] = board["old"] + rng.normal(0.01, 0.04, 9)

    def result_of(gain: float, correction: str = "holm") -> Benchmark:
        test = irl.SignificanceTest(correction=correction, progress=False)
        rows = board.assign(
            new=board["new"] + gain, alt=board["old"] + 0.01 * (-1) ** board.index
        )
        values = rows.melt("task", var_name="run", value_name="score")
        return irl.benchmark(values=values, baseline="old", test=test)

    result = result_of(0)
    new = result.rivals.index("new")
    least = result.significant_differences("score", "collections")[new]
    observed = (board["new"] - board["old"]).mean()
    for sign, verdict in ((1, "better"), (-1, "worse")):
        table = result_of(sign * 1.001 * least - observed).overall().set_index("run")
        assert table.loc["new", "verdict"] == verdict
    assert "the spread of these tasks, a difference of" in flat(
        result.summary(full=True)
    )
    strict = result_of(0, "fdr_by")  # demands more than Bonferroni's
    assert np.isnan(strict.significant_differences("score", "collections")).all()


@pytest.mark.parametrize("over", ["queries", "collections"])
def test_a_benchmark_by_two_measures_fits_a_screen(over: str) -> None:
    tables = {
        name: pd.concat([table, tables_of({}, "nDCG@10")[name]])
        for name, table in tables_of({}).items()
    }
    lines = irl.benchmark(values=tables, baseline="base", **OPTIONS).summary(over)
    assert f"the spread of these {over}, a difference of" in flat(lines)
    assert len(lines.splitlines()) <= 24
    assert max(map(len, lines.splitlines())) <= 80
