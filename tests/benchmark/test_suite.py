"""``benchmark`` over many collections: each as alone, what holds over all of them, and bad input named."""

from __future__ import annotations

import gzip
import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ir_lexirecall as irl
from ir_lexirecall import demo
from ir_lexirecall.benchmark import inference
from ir_lexirecall.benchmark import suite as suite_module
from ir_lexirecall.significance import TESTS

MEASURES = ["nDCG@10", "LR"]
RUNS = {name: run for name, run in demo.runs().items() if name in ("bm25", "ql", "tfidf")}
IDS = sorted(demo.qrels()["query_id"].unique())
PARTS = {
    name: demo.qrels()[demo.qrels()["query_id"].isin(IDS[start::3])]
    for start, name in enumerate(["one", "two", "three"])
}
OPTIONS: dict[str, Any] = {"n_resamples": 300, "progress": False}


def dicts(qrels: pd.DataFrame) -> dict[str, dict[str, int]]:
    best = qrels.groupby(["query_id", "doc_id"])["relevance"].max()
    return {q: {d: int(g) for (_, d), g in rows.items()} for q, rows in best.groupby("query_id")}


@pytest.fixture(scope="module")
def suite() -> irl.BenchmarkSuite:
    runs = dict.fromkeys(PARTS, RUNS)
    result = irl.benchmark(PARTS, runs, MEASURES, preference=["lexirecall", "rpp", "AP"], baseline="bm25", **OPTIONS)
    assert isinstance(result, irl.BenchmarkSuite)
    return result


def test_each_collection_is_as_alone(suite: irl.BenchmarkSuite) -> None:
    assert suite.collections == list(PARTS)
    for name, qrels in PARTS.items():
        alone = irl.benchmark(qrels, RUNS, MEASURES, preference=["lexirecall", "rpp", "AP"], baseline="bm25", **OPTIONS)
        assert suite.table.loc[name].equals(alone.table)
        assert suite.per_query.loc[name].equals(alone.per_query)
        preferences = suite.preferences[name]
        assert preferences is not None
        assert preferences.table().equals(alone.preferences.table())


def test_overall_is_computed_from_the_values(suite: irl.BenchmarkSuite) -> None:
    overall = suite.overall().set_index(["measure", "run"])
    assert list(overall.index.unique("measure")) == [*MEASURES, "pref:lexirecall", "pref:rpp", "pref:AP"]
    for measure in MEASURES:
        macro = suite.table[measure].groupby("run", sort=False).mean()
        for run in RUNS:
            assert overall.loc[(measure, run), "mean"] == pytest.approx(macro[run])
            assert overall.loc[(measure, run), "mean_rank"] == pytest.approx(
                np.mean(
                    [1 + (t > t[run]).sum() + ((t == t[run]).sum() - 1) / 2 for _, t in _by_collection(suite, measure)]
                )
            )
        for run in ("ql", "tfidf"):
            difference = overall.loc[(measure, run), "difference"]
            assert difference == pytest.approx(macro[run] - macro["bm25"])
    for name in ("lexirecall", "rpp", "AP"):
        for run in ("ql", "tfidf"):
            means = [p.matrix(name).loc[run, "bm25"] for p in suite.preferences.values() if p is not None]
            assert overall.loc[(f"pref:{name}", run), "difference"] == pytest.approx(np.mean(means))


def _by_collection(suite: irl.BenchmarkSuite, measure: str) -> list[tuple[str, pd.Series]]:
    return [(name, suite.table[measure].loc[name]) for name in suite.collections]


@pytest.mark.parametrize("over", ["queries", "collections"])
def test_overall_is_what_inference_gives(suite: irl.BenchmarkSuite, over: str) -> None:
    overall = suite.overall(over)
    rows = overall[overall["measure"] == "LR"].set_index("run")
    values = [suite.per_query["LR"].loc[name].unstack("query_id").loc[list(RUNS)].to_numpy() for name in PARTS]
    resample = inference.stratified_bootstrap if over == "queries" else inference.two_level_bootstrap
    differences = [x[1:] - x[0] for x in values]
    resamples = resample(differences, n_resamples=300, seed=0)
    mean, error = inference.macro_means(differences), inference.macro_error(differences, over)
    low, high, p = inference.studentised_interval(mean, error, resamples, 0.05)
    np.testing.assert_allclose(rows.loc[["ql", "tfidf"], "p"], p)
    widest = max(x.max() for x in values) - min(x.min() for x in values)
    np.testing.assert_allclose(rows.loc[["ql", "tfidf"], "difference_low"], np.maximum(low, -widest), rtol=1e-9)
    np.testing.assert_allclose(rows.loc[["ql", "tfidf"], "difference_high"], np.minimum(high, widest), rtol=1e-9)
    assert np.isnan(rows.loc["bm25", "p"])
    assert (rows["rank_low"] <= rows["rank_high"]).all()
    if over == "collections":
        variance = [[x[1:][r].var(ddof=1) / x.shape[1] for x in [v - v[0] for v in values]] for r in range(2)]
        means = np.array([[(x[r + 1] - x[0]).mean() for x in values] for r in range(2)])
        expected = inference.random_effects(means, np.array(variance), np.array([x.shape[1] for x in values]))
        np.testing.assert_allclose(rows.loc[["ql", "tfidf"], "effect"], expected.mean)
        np.testing.assert_allclose(rows.loc[["ql", "tfidf"], "i2"], expected.i2)


def test_differences_over_collections_are_corrected_whatever_the_test(suite: irl.BenchmarkSuite) -> None:
    tukey = irl.benchmark(PARTS, lambda name: RUNS, MEASURES, baseline="bm25", test="tukey", **OPTIONS).overall()
    columns = ["p", "p_corrected", "reject"]
    expected = suite.overall()
    pd.testing.assert_frame_equal(
        tukey[tukey["measure"] == "LR"][columns], expected[expected["measure"] == "LR"][columns]
    )
    assert (tukey["p_corrected"] > tukey["p"]).any()
    assert tukey.attrs["correction"] == "holm"


@pytest.mark.parametrize("over", ["queries", "collections"])
def test_overall_does_not_depend_on_what_is_resampled_together(over: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # "two" has a query without relevant documents: measures count it, preferences do not.
    parts = PARTS | {"two": pd.concat([PARTS["two"], PARTS["one"].head(1).assign(query_id="none", relevance=0)])}

    def overall() -> pd.DataFrame:
        result = irl.benchmark(parts, lambda name: RUNS, MEASURES, baseline="bm25", **OPTIONS)
        assert isinstance(result, irl.BenchmarkSuite)
        return result.overall(over)

    together = overall()
    monkeypatch.setattr(suite_module, "_ROWS", 1)
    pd.testing.assert_frame_equal(overall(), together, rtol=1e-9)


def test_friedman_and_nemenyi_use_the_means(suite: irl.BenchmarkSuite) -> None:
    means = suite.table["nDCG@10"].unstack("run").loc[list(PARTS), list(RUNS)].to_numpy()
    test = suite.friedman("nDCG@10")
    assert (test["chi2"], test["p"]) == inference.friedman(means)
    assert test["critical_difference"] == inference.nemenyi(means)[0]
    assert test["mean_rank"].is_monotonic_increasing


# -- forms of input ------------------------------------------------------------------------------------


def test_all_forms_of_input_say_the_same(suite: irl.BenchmarkSuite, tmp_path: Path) -> None:
    for name, (run, table) in itertools.product(PARTS, RUNS.items()):
        folder = tmp_path / "suiteeval" / name
        folder.mkdir(parents=True, exist_ok=True)
        lines = "".join(
            f"{q} Q0 {d} 0 {s!r} {run}\n" for q, d, s in table[["query_id", "doc_id", "score"]].itertuples(index=False)
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
    for runs in (tmp_path / "suiteeval", str(tmp_path / "tirex"), runs_of, {name: dict(RUNS) for name in PARTS}):
        for collections in (PARTS, plain):
            result = irl.benchmark(collections, runs, MEASURES, **OPTIONS)
            ours = result.table.sort_index()
            pd.testing.assert_frame_equal(ours, suite.table.sort_index(), check_exact=True)
    assert asked == [*PARTS, *PARTS]


def test_ids_are_collections_and_apply_their_threshold() -> None:
    by_id = irl.benchmark(["lexirecall/demo"], {"lexirecall/demo": RUNS}, MEASURES, **OPTIONS)
    by_object = irl.benchmark([irl.load("lexirecall/demo")], {"lexirecall/demo": RUNS}, MEASURES, **OPTIONS)
    assert by_id.table.equals(by_object.table)
    assert isinstance(irl.benchmark("lexirecall/demo", RUNS, MEASURES), irl.Benchmark)
    assert isinstance(irl.benchmark(dicts(PARTS["one"]), RUNS, MEASURES), irl.Benchmark)


def test_folders_may_have_dashes_for_slashes(tmp_path: Path) -> None:
    (tmp_path / "lexirecall-demo").mkdir()
    (tmp_path / "lexirecall-demo" / "ql.run").write_bytes((demo.FOLDER / "runs" / "ql.run").read_bytes())
    result = irl.benchmark(["lexirecall/demo"], tmp_path, ["LR"], **OPTIONS)
    assert result.runs == ["ql"]
    assert irl.benchmark("lexirecall/demo", tmp_path, ["LR"]).table.equals(result.results["lexirecall/demo"].table)


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
    assert "ql left out, missing for two" in result.to_markdown()
    assert set(result.overall()["run"]) == {"bm25", "tfidf"}
    with pytest.raises(ValueError, match="the baseline 'ql' is missing for collection 'two'"):
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
def test_bad_input_is_named(collections: Any, runs: Any, options: dict[str, Any], message: str) -> None:
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
    runs = {"x": {"q": {"a": 1.0}}, "y": {"q": {"b": 1.0}}}
    result = irl.benchmark(collections, dict.fromkeys(collections, runs), ["AP"], **OPTIONS)
    with pytest.raises(ValueError, match="no query of collection 'bad' has a relevant document"):
        result.overall()


def test_what_overall_cannot_say_is_refused(suite: irl.BenchmarkSuite) -> None:
    with pytest.raises(ValueError, match="unknown over 'documents'; choose from queries, collections"):
        suite.overall("documents")
    with pytest.raises(ValueError, match="unknown measure 'MAP'"):
        suite.friedman("MAP")
    without = irl.benchmark(PARTS, dict.fromkeys(PARTS, RUNS), MEASURES, **OPTIONS)
    assert "difference" not in without.overall()
    with pytest.raises(ValueError, match="no baseline to differ from"):
        without.by_collection()


# -- for readers -----------------------------------------------------------------------------------------


def test_texts_and_pictures_show_every_run(suite: irl.BenchmarkSuite) -> None:
    for shown in (suite.to_markdown(), suite.to_latex("collections"), suite._repr_html_()):
        assert all(run in shown for run in RUNS)
    for measure in ("LR", "lexirecall"):
        forest = suite.plot(measure)
        assert {text.get_text() for text in forest.get_yticklabels()} >= {"one: ql", "all: tfidf"}
    assert next(text.get_text() for text in suite.plot_ranks("LR").get_yticklabels()) == "tfidf"
    assert "critical difference" in suite.plot_cd().get_title("left")


def test_provenance_is_in_every_table(suite: irl.BenchmarkSuite) -> None:
    for table in (suite.table, suite.per_query, suite.overall(), suite.means(), suite.by_collection()):
        assert table.attrs["collections"] == list(PARTS)
        assert table.attrs["seed"] == 0
        assert table.attrs["baseline"] == "bm25"


# -- means of one collection -----------------------------------------------------------------------------


@pytest.mark.parametrize("test", TESTS)
def test_measures_are_tested_on_their_differences(test: str) -> None:
    runs = demo.runs()
    result = irl.benchmark("lexirecall/demo", runs, ["nDCG@10", "LR"], test=test, **OPTIONS)
    tests = result.tests()
    compared = irl.compare("lexirecall/demo", runs, ["nDCG@10", "LR"], test=test, **OPTIONS).table()
    columns = ["run_a", "run_b", "estimate", "ci_low", "ci_high", "p", "p_corrected", "effect_size"]
    for measure in ("nDCG@10", "LR"):
        ours = tests[tests["measure"] == measure].reset_index(drop=True)
        theirs = compared[compared["preference"] == measure].reset_index(drop=True)
        pd.testing.assert_frame_equal(
            ours[[*columns[:2], "estimate", "ci_low", "ci_high", "p"]],
            theirs[[*columns[:2], "estimate", "ci_low", "ci_high", "p"]],
        )
        means = result.means().set_index(["measure", "run"]).loc[measure]
        for row in ours[ours["reject"]].itertuples():
            better, worse = (row.run_a, row.run_b) if row.estimate > 0 else (row.run_b, row.run_a)
            assert means.loc[worse, "letter"] in means.loc[better, "better_than"]
        assert means["better_than"].str.len().sum() == ours["reject"].sum()


def test_marks_stand_in_markdown_and_latex() -> None:
    result = irl.benchmark("lexirecall/demo", demo.runs(), ["LR"], test="t", **OPTIONS)
    assert "<sup>" in result.to_markdown()
    assert "$^{" in result.to_latex()
    assert "t test on 16 queries, Holm's correction, alpha 0.05" in result.to_markdown()
    alone = irl.benchmark("lexirecall/demo", {"ql": RUNS["ql"]}, ["LR"], **OPTIONS)
    assert alone.means()["better_than"].tolist() == [""]
    assert alone.tests().empty
    assert "ql" in alone.to_markdown()


# -- rules -----------------------------------------------------------------------------------------------


def collection(dataset_id: str, qrels: pd.DataFrame) -> irl.Collection:
    return irl.Collection(
        dataset_id, {}, False, lambda: qrels, lambda: None, lambda: None, dict, list, lambda doc_ids: {}
    )


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
    assert irl.evaluate("nDCG@10", bright, run, rules=False)["nDCG@10"].max() < 1
    result = irl.benchmark(bright, {"a": run, "b": run}, ["nDCG@10"])
    assert result.table["nDCG@10"].tolist() == [1.0, 1.0]
    assert result.table.attrs["rules"] == "without documents of grade -100"
    assert result.preferences.provenance["rules"] == "without documents of grade -100"
    off = irl.benchmark(bright, {"a": run, "b": run}, ["nDCG@10"], rules=False)
    assert "rules" not in off.table.attrs
    assert off.table["nDCG@10"].max() < 1
    many = irl.benchmark([bright], {"bright/biology": {"a": run}}, ["nDCG@10"], progress=False)
    assert many.provenance["rules"] == {"bright/biology": "without documents of grade -100"}


@pytest.mark.parametrize(
    "dataset_id", ["beir/arguana", "beir/quora/test", "beir/cqadupstack/english", "nano-beir/arguana"]
)
def test_a_querys_own_document_is_taken_out(dataset_id: str) -> None:
    qrels = pd.DataFrame([("q", "a", 1)], columns=["query_id", "doc_id", "relevance"])
    run = {"q": {"q": 9.0, "a": 8.0}}
    judged = collection(dataset_id, qrels)
    assert irl.evaluate("RR", judged, run)["RR"].tolist() == [1.0]
    assert irl.evaluate("RR", judged, run, rules=False)["RR"].tolist() == [0.5]
    compared = irl.compare(judged, {"a": run, "b": {"q": {"a": 1.0}}})
    assert compared.table()["ties"].tolist() == [1]
    assert irl.compare(judged, {"a": run, "b": {"q": {"a": 1.0}}}, rules=False).table()["losses"].tolist() == [1]


@pytest.mark.parametrize("dataset_id", ["beir/scifact/test", "vaswani", "beir/quoras", "brighter/x"])
def test_other_collections_have_no_rules(dataset_id: str) -> None:
    assert not collection(dataset_id, BRIGHT).rules


def test_rules_and_exclude_add_up() -> None:
    bright = collection("bright/biology", BRIGHT)
    judgments = irl.Judgments.from_qrels(bright, {"1": ["b"]})
    assert judgments.doc_ids == ["a", "c"]
    run = {"1": {"x": 9.0, "b": 8.5, "a": 8.0}, "2": {"y": 9.0, "c": 8.0}}
    assert irl.evaluate("RR", bright, run, exclude={"1": ["b"]})["RR"].tolist() == [1.0, 1.0]


# -- power -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("test", TESTS)
def test_power_is_that_of_significance(test: str) -> None:
    from ir_lexirecall import significance

    compared = irl.compare(
        "lexirecall/demo", demo.runs(), ["lexirecall", "LR"], test=test, n_resamples=99, progress=False
    )
    power = compared.power(queries=40)
    assert list(power.columns) == ["preference", "run_a", "run_b", "queries", "power"]
    values = np.stack([irl.evaluate("LR", "lexirecall/demo", run)["LR"] for run in demo.runs().values()])
    expected = significance.power_of_all(compared.test, values.T, 40)[np.triu_indices(5, 1)]
    np.testing.assert_allclose(power[power["preference"] == "LR"]["power"], expected)
    if test in ("sign", "t"):
        needed = compared.queries_needed(power=0.8)
        finite = needed[np.isfinite(needed["queries_needed"])].head(3)
        for row in finite.itertuples():
            again = compared.power(int(row.queries_needed)).set_index(["preference", "run_a", "run_b"])
            assert again.loc[(row.preference, row.run_a, row.run_b), "power"] >= 0.8


def test_power_of_a_suite_is_that_of_each_collection(suite: irl.BenchmarkSuite) -> None:
    for table, of_one in ((suite.power(queries=30), "power"), (suite.queries_needed(power=0.9), "queries_needed")):
        assert list(table["collection"].unique()) == list(PARTS)
        for name, preferences in suite.preferences.items():
            assert preferences is not None
            expected = preferences.power(queries=30) if of_one == "power" else preferences.queries_needed(power=0.9)
            ours = table[table["collection"] == name].drop(columns="collection").reset_index(drop=True)
            pd.testing.assert_frame_equal(ours, expected)


@pytest.mark.parametrize(
    ("queries", "runs", "options", "message"),
    [
        (4, 2, {}, "sign test can give on 4 queries is 0.125: it cannot reject at alpha 0.05."),
        (4, 2, {"test": "t"}, None),
        (8, 2, {}, "sign test can give on 8 queries is 0.00781."),
        (8, 4, {}, "is 0.00781 (0.0469 after Holm's correction for 6 comparisons)."),
        (8, 5, {}, "is 0.00781 (0.0781 after Holm's correction for 10 comparisons): it cannot reject at alpha 0.05."),
        (8, 5, {"correction": None}, "is 0.00781."),
        (8, 5, {"correction": "fdr_bh"}, "is 0.00781."),
        (8, 5, {"baseline": "run 0"}, "(0.0312 after Holm's correction for 4 comparisons)."),
        (16, 5, {}, None),
        (30, 5, {}, None),
        (30, 5, {"test": "bootstrap", "n_resamples": 99}, "is 0.0100 (0.100 after Holm's correction for 10 comparisons): it"),
        (30, 5, {"test": "tukey", "n_resamples": 99}, None),
    ],
)  # fmt: skip
def test_the_smallest_p_is_told(queries: int, runs: int, options: dict[str, Any], message: str | None) -> None:
    qrels = {f"q{i}": {"a": 1} for i in range(queries)}
    made = {f"run {i}": {q: {"a": 1.0, "b": float(i)} for q in qrels} for i in range(runs)}
    told = [note for note in irl.compare(qrels, made, progress=False, **options).diagnostics if "smallest p" in note]
    assert len(told) == (message is not None)
    assert message is None or message in told[0]
    assert not told or told[0].endswith(".")


@pytest.mark.parametrize("tested", [irl.compare, irl.benchmark])
def test_the_differences_of_a_measure_are_tested_not_their_signs(tested: Any) -> None:
    from scipy import stats

    runs = demo.runs()
    options = {"baseline": "bm25", "correction": None}
    result = irl.compare("lexirecall/demo", runs, preference="nDCG@10", test="t", **options)
    values = {name: irl.evaluate("nDCG@10", "lexirecall/demo", run)["nDCG@10"] for name, run in runs.items()}
    table = (
        result.table()
        if tested is irl.compare
        else irl.benchmark("lexirecall/demo", runs, ["nDCG@10"], test="t", **options).tests()
    )
    for row in table.itertuples():
        peer = stats.ttest_rel(values[row.run_a], values[row.run_b])
        assert row.p == pytest.approx(peer.pvalue)
        assert row.estimate == pytest.approx((values[row.run_a] - values[row.run_b]).mean())


@pytest.mark.parametrize(
    ("preference", "test", "words"),
    [
        ("nDCG@10", "t", "differences of nDCG@10"),
        ("nDCG@10", "sign", "signs of differences of nDCG@10"),
        ("lexirecall", "t", "preferences by lexirecall"),
        (["lexirecall", "LR", "AP"], "wilcoxon", "differences of LR, AP and preferences by lexirecall"),
    ],
)
def test_a_comparison_says_what_it_tests(preference: Any, test: str, words: str) -> None:
    result = irl.compare("lexirecall/demo", RUNS, preference=preference, test=test)
    assert result.provenance["tested"] == words
    assert f"tested {words};" in result.to_markdown()
    assert f"tested {words};" in result.to_latex()
    assert result.table().attrs["tested"] == words
