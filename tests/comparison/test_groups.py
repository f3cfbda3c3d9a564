"""Groups of queries: each group is compared as a collection of its own, and all of them are corrected together."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ir_lexirecall as irl
from ir_lexirecall import demo
from ir_lexirecall.cli import main
from ir_lexirecall.pt_docs.commands import write_files
from ir_lexirecall.significance import (
    SignificanceTest,
    TestResult,
    corrected,
    margin_test,
)

QRELS, RUNS = demo.qrels(), demo.runs()
QUERIES = [f"q{i:02}" for i in range(1, 17)]
KINDS = {
    query: "how" if i < 6 else "what" if i < 9 else "who"
    for i, query in enumerate(QUERIES)
}
USERS = {query: f"u{i % 5}" for i, query in enumerate(QUERIES)}
BY = ["AP", "SL3(n=90)", "lexirecall", "rpp", "dominance"]


def clustered(
    name: str, x: np.ndarray, groups: Iterable[object], **options: int
) -> TestResult:
    return SignificanceTest(
        name, groups=tuple(map(str, groups)), progress=False, **options
    ).of_pairs(x)


def qrels_of(group: str) -> pd.DataFrame:
    return QRELS[QRELS["query_id"].map(KINDS) == group]


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"baseline": "ql"},
        {"baseline": "ql", "margin": 0.05},
        {"test": SignificanceTest("tukey", n_resamples=99)},
    ],
)
def test_a_group_is_a_collection_of_its_own(options: dict[str, Any]) -> None:
    """But for what is corrected over all groups."""
    options = {"test": SignificanceTest(n_resamples=99), **options}
    result = irl.compare(QRELS, RUNS, BY, groups=KINDS, **options)
    table, means = result.group_table(), result.group_means()
    over_groups = ["p_corrected", "p_corrected_all", "verdict"]
    over_groups += ["worse_p", "better_p", "within_p", "not_worse_p"]
    for group in ("how", "what", "who"):
        alone = irl.compare(qrels_of(group), RUNS, BY, **options)
        rows = table[table["group"] == group].reset_index(drop=True)
        assert set(rows["queries"]) == {len(alone.query_ids)}
        expected = alone.table()
        columns = [name for name in expected.columns if name not in over_groups]
        pd.testing.assert_frame_equal(
            rows[columns], expected[columns], check_exact=False
        )
        rows = means[means["group"] == group].reset_index(drop=True)
        pd.testing.assert_frame_equal(
            rows[alone.means().columns.tolist()], alone.means()
        )


@pytest.mark.parametrize("test", ["t", "sign", "tukey"])
def test_p_is_corrected_over_groups_and_pairs(test: str) -> None:
    result = irl.compare(
        QRELS,
        RUNS,
        ["AP", "RR"],
        groups=KINDS,
        test=SignificanceTest(test, n_resamples=199),
    )
    for by in ("AP", "RR"):
        table = result.group_table(by)
        assert len(table) == 3 * 10
        adjusted, reject = corrected(table["p"].to_numpy(), "holm", 0.05)
        assert table["p_corrected"].tolist() == adjusted.tolist()
        assert (table["verdict"] != "undecided").tolist() == reject.tolist()


def test_verdicts_with_a_margin_are_corrected_over_groups_and_criteria() -> None:
    result = irl.compare(
        QRELS, RUNS, ["AP", "RR"], baseline="bm25", groups=KINDS, margin=0.1
    )
    table, p = (
        result.group_table(),
        {"worse": [], "better": [], "within": [], "not_worse": []},
    )
    for by in ("AP", "RR"):
        values = result.per_query(by)
        for group in ("how", "what", "who"):
            some = values[values.index.map(KINDS) == group]
            x = np.array([some[run] - some["bm25"] for run in RUNS if run != "bm25"])
            tested = margin_test(SignificanceTest("t"), x, 0.1)
            for side in p:
                p[side] += getattr(tested, side).tolist()
    for side in ("worse", "better"):
        adjusted, reject = corrected(np.array(p[side]), "holm", 0.05)
        assert table[f"{side}_p"].tolist() == pytest.approx(adjusted.tolist())
        assert (table["verdict"] == side).tolist() == reject.tolist()
    for side in ("within", "not_worse"):
        of_criteria = [
            corrected(part, "holm", 0.05)[0] for part in np.split(np.array(p[side]), 2)
        ]
        assert table[f"{side}_p"].tolist() == pytest.approx(
            np.concatenate(of_criteria).tolist()
        )


def test_groups_are_units() -> None:
    result = irl.compare(
        QRELS,
        RUNS,
        ["AP", "lexirecall"],
        baseline="bm25",
        groups=USERS,
        test=irl.SignificanceTest(cluster=True),
    )
    values = result.per_query("AP")
    x = np.array([values[run] - values["bm25"] for run in RUNS if run != "bm25"])
    labels = [USERS[query] for query in values.index]
    table, peer = result.table("AP"), clustered("randomisation", x, labels)
    assert (
        pytest.approx(np.array([peer.estimate, peer.low, peer.high, peer.p]))
        == table[["estimate", "ci_low", "ci_high", "p"]].to_numpy().T
    )
    of_runs = clustered("randomisation", values.to_numpy().T, labels)
    means = result.means("AP")
    assert (means["ci_low"].tolist(), means["ci_high"].tolist()) == (
        pytest.approx(np.maximum(of_runs.low, 0)),
        pytest.approx(np.minimum(of_runs.high, 1)),
    )
    assert result.compared.test_of("lexirecall").name == "randomisation"
    drawn = result.with_test("bootstrap").table("AP")
    assert (
        drawn["p"].tolist()
        == clustered("bootstrap", x, labels, n_resamples=10_000, seed=0).p.tolist()
    )
    by_object = result.with_test(SignificanceTest("bootstrap", alpha=0.1)).table("AP")
    assert by_object["p"].tolist() == drawn["p"].tolist()
    with pytest.raises(
        ValueError,
        match=r"^with_test: groups of queries are units of the tests .*, not of t",
    ):
        result.with_test(SignificanceTest("t"))
    assert result.provenance["groups"] == "5, the units of tests"
    assert "with groups of queries as units, Holm's correction" in result.summary(
        full=True
    )


def test_copies_of_a_query_are_no_more_evidence() -> None:
    copies = pd.concat(
        [QRELS.assign(query_id=QRELS["query_id"] + f"-{i}") for i in range(3)]
    )
    runs = {
        name: pd.concat(
            [run.assign(query_id=run["query_id"] + f"-{i}") for i in range(3)]
        )
        for name, run in RUNS.items()
    }
    users = {f"{query}-{i}": query for query in QUERIES for i in range(3)}
    once = irl.compare(
        QRELS, RUNS, "AP", baseline="bm25", margin=0.05, test="randomisation"
    ).table()
    many = irl.compare(
        copies,
        runs,
        "AP",
        baseline="bm25",
        margin=0.05,
        groups=users,
        test=irl.SignificanceTest(cluster=True),
    ).table()
    for column in ("ci_low", "ci_high", "p", "worse_p", "within_p"):
        assert many[column].tolist() == pytest.approx(once[column].tolist())


def test_what_groups_cannot_say() -> None:
    plain = irl.compare(QRELS, RUNS, "AP")
    units = irl.compare(
        QRELS, RUNS, "AP", groups=USERS, test=irl.SignificanceTest(cluster=True)
    )
    with pytest.raises(
        ValueError, match=r"^group_means: the groups are the units of the tests"
    ):
        units.group_means()
    with pytest.raises(
        ValueError, match=r"^detectable: planning counts queries that are independent"
    ):
        units.detectable()
    with pytest.raises(
        ValueError,
        match=r"^sequential: the sequential test looks at queries that are independent",
    ):
        units.sequential()
    assert plain.bounds()[["ci_low", "ci_high"]].notna().all(axis=None)
    assert units.bounds()[["ci_low", "ci_high"]].isna().all(axis=None)
    assert units.bounds()["low"].tolist() == plain.bounds()["low"].tolist()


def test_a_column_of_the_values_names_the_groups_and_is_no_measure() -> None:
    values = irl.evaluate(["AP"], QRELS, RUNS["ql"]).reset_index()
    frame = pd.concat([values.assign(run=run, session=range(16)) for run in "ab"])
    frame["session"] //= 4
    assert irl.compare(values=frame, groups="session").criteria == ["AP"]
    both = pd.concat([frame.assign(collection=name) for name in ("one", "two")])
    assert irl.benchmark(values=both, groups="session").criteria == ["AP"]


def test_a_column_of_the_qrels_names_the_groups() -> None:
    qrels = QRELS.assign(kind=QRELS["query_id"].map(KINDS))
    assert irl.compare(qrels, RUNS, "AP", groups="kind").compared.groups.sizes == {
        "how": 6,
        "what": 3,
        "who": 7,
    }


@pytest.mark.slow
def test_pictures_and_reports_show_every_group() -> None:
    pytest.importorskip("matplotlib").use("agg")
    pytest.importorskip("jinja2")
    pytest.importorskip("lxml.html")
    from pages import page_of, whole

    result = irl.compare(QRELS, RUNS, ["AP", "SL3(n=90)"], groups=KINDS)
    rows = [tick.get_text() for tick in result.plot("groups").get_yticklabels()]
    assert len(rows) == 4 * 3
    assert rows[:3] == ["tfidf, how", "tfidf, what", "tfidf, who"]
    html = whole(page_of(result))
    assert html.count('<section id="groups"') == 1
    assert html.count(">how (6)</th>") == 2 * 4
    assert "Differences in groups of queries" in html
    assert '<section id="groups"' not in page_of(
        irl.compare(
            QRELS, RUNS, "AP", groups=USERS, test=irl.SignificanceTest(cluster=True)
        )
    )


@pytest.mark.slow
def test_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_files(tmp_path)
    (tmp_path / "kinds.txt").write_text(
        "".join(f"{q} {g}\n" for q, g in KINDS.items()), encoding="utf-8"
    )
    monkeypatch.chdir(tmp_path)
    command = [
        "compare",
        "qrels.txt",
        "bm25.run",
        "ql.run",
        "-m",
        "AP",
        "--groups",
        "kinds.txt",
    ]
    assert main([*command, "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["group"] for row in rows] == [None, "how", "what", "who"]
    assert main(command) == 0
    out = capsys.readouterr().out
    assert "By query group" in out
    assert "Pairs in groups of queries:" not in out
    assert main([*command, "--pairs"]) == 0
    assert "Pairs in groups of queries:" in capsys.readouterr().out
    assert main([*command, "--cluster"]) == 0
    assert "groups of queries as units" in " ".join(capsys.readouterr().out.split())
    assert main([*command, "--cluster", "--test", "sign"]) == 1
    assert "compare: groups of queries are units" in capsys.readouterr().err
    assert main([*command[:-2], "--cluster"]) == 1
    assert (
        "--cluster takes groups of queries as units of the tests; give --groups"
        in capsys.readouterr().err
    )
    assert main(["report", *command[1:], "-o", "out.html"]) == 0
    assert '<section id="groups"' in Path("out.html").read_text(encoding="utf-8")


# -- many collections ------------------------------------------------------------------------------------

PARTS = {
    name: QRELS[QRELS["query_id"].isin(ids)]
    for name, ids in (("one", QUERIES[::2]), ("two", QUERIES[1::2]))
}
TABLE = pd.DataFrame(
    [
        (c, q, KINDS[q])
        for c, part in PARTS.items()
        for q in sorted(set(part["query_id"]))
    ]
)
TABLE.columns = ["collection", "query_id", "group"]
OPTIONS: dict[str, Any] = {"baseline": "bm25", "test": SignificanceTest(n_resamples=99)}


def over_parts(groups: Any, by: Any = ("AP", "lexirecall"), **options: Any) -> Any:
    return irl.benchmark(
        PARTS, dict.fromkeys(PARTS, RUNS), list(by), groups=groups, **OPTIONS | options
    )


@pytest.mark.slow
def test_groups_of_a_benchmark_are_those_of_each_collection(tmp_path: Path) -> None:
    TABLE.to_csv(tmp_path / "groups.csv", index=False)
    TABLE.to_parquet(tmp_path / "groups.parquet")
    by_name = {
        name: {q: KINDS[q] for q in part["query_id"]} for name, part in PARTS.items()
    }
    for groups in (
        KINDS,
        by_name,
        TABLE,
        tmp_path / "groups.csv",
        str(tmp_path / "groups.parquet"),
    ):
        result = over_parts(groups)
        for table in ("group_table", "group_means"):
            found = getattr(result, table)()
            for name, qrels in PARTS.items():
                alone = irl.compare(
                    qrels, RUNS, ["AP", "lexirecall"], groups=KINDS, **OPTIONS
                )
                rows = (
                    found[found["collection"] == name]
                    .drop(columns="collection")
                    .reset_index(drop=True)
                )
                pd.testing.assert_frame_equal(rows, getattr(alone, table)())
    assert over_parts(KINDS).overall().equals(over_parts(None).overall())
    kinds = {
        name: part.assign(kind=part["query_id"].map(KINDS))
        for name, part in PARTS.items()
    }
    result = irl.benchmark(
        kinds,
        dict.fromkeys(PARTS, RUNS),
        ["AP", "lexirecall"],
        groups="kind",
        **OPTIONS,
    )
    assert result.group_table().equals(over_parts(KINDS).group_table())


@pytest.mark.parametrize("over", ["queries", "collections"])
def test_over_collections_copies_of_a_query_are_no_more_evidence(over: str) -> None:
    def copied(table: pd.DataFrame) -> pd.DataFrame:
        return pd.concat(
            [table.assign(query_id=table["query_id"] + f"-{i}") for i in range(3)]
        )

    users = {f"{query}-{i}": query for query in QUERIES for i in range(3)}
    runs = {name: copied(run) for name, run in RUNS.items()}
    parts = {name: copied(part) for name, part in PARTS.items()}
    options: dict[str, Any] = {
        **OPTIONS,
        "groups": users,
        "test": SignificanceTest(n_resamples=99, cluster=True),
    }
    many = irl.benchmark(
        parts, dict.fromkeys(parts, runs), ["AP", "lexirecall"], **options
    )
    once = over_parts(None, test=SignificanceTest("randomisation", n_resamples=99))
    expected, found = once.overall(over), many.overall(over)
    pd.testing.assert_frame_equal(found, expected, check_exact=False, check_like=True)
    pd.testing.assert_frame_equal(many.best_set("AP", over), once.best_set("AP", over))
    pd.testing.assert_frame_equal(many.replicated("AP"), once.replicated("AP"))
    assert "groups of " in str(many)


@pytest.mark.parametrize(
    ("groups", "options", "message"),
    [
        ({"one": KINDS}, {}, "there are no groups for collection 'two'"),
        (
            {"one": KINDS, "two": KINDS, "tow": KINDS},
            {},
            "groups of an unknown collection, 'tow'; did you mean 'two'",
        ),
        (
            {"one": KINDS, "two": {"q02": "a"}},
            {},
            "collection 'two': groups: query 'q04' has no group",
        ),
        (
            dict.fromkeys(QUERIES, "a"),
            {},
            "collection 'one': groups: all queries are in one group, a",
        ),
        (
            TABLE[TABLE["collection"] == "one"],
            {},
            "collection 'two': groups: no row is of collection 'two'; .* has one",
        ),
    ],
)
def test_bad_groups_of_a_benchmark(
    groups: Any, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=f"^benchmark: {message}"):
        over_parts(groups, **options)


def test_groups_stay_units_where_the_test_of_a_file_is_overridden(
    tmp_path: Path,
) -> None:
    source = tmp_path / "suite.toml"
    for name, part in PARTS.items():
        part.to_csv(tmp_path / f"{name}.csv", index=False)
        (tmp_path / "runs" / name).mkdir(parents=True)
        for run, table in RUNS.items():
            table.to_parquet(tmp_path / "runs" / name / f"{run}.parquet")
    TABLE.to_csv(tmp_path / "groups.csv", index=False)
    collections = "\n".join(f'{name} = "{name}.csv"' for name in PARTS)
    options = 'runs = "runs"\nby = ["AP"]\ngroups = "groups.csv"\ncluster = true\n'
    source.write_text(f"{options}[collections]\n{collections}\n")
    assert irl.benchmark(source, test="bootstrap").cluster
    with pytest.raises(
        ValueError, match=r"units of the tests randomisation and bootstrap, not of t"
    ):
        irl.benchmark(source, test="t")


def test_a_test_of_groups_asks_for_groups() -> None:
    result = irl.compare(QRELS, RUNS, "AP")
    with pytest.raises(
        ValueError,
        match=r"cluster=True takes groups of queries as units of the tests; pass groups=",
    ):
        result.with_test(SignificanceTest(cluster=True))


def test_over_collections_no_interval_of_groups_whose_size_goes_with_their_effect() -> (
    None
):
    users = [f"user{u:02}" for u in range(12) for _ in range(1 + 3 * u)]
    gain = np.repeat(np.arange(12) / 24, [1 + 3 * u for u in range(12)])
    noise = np.random.default_rng(0).normal(0, 0.01, len(users))
    table = pd.DataFrame(
        {
            "base": 0.2 + noise,
            "more for large ones": 0.2 + gain,
            "as much for all": 0.3 - noise,
        }
    )
    table["query_id"] = [f"q{i}" for i in range(len(users))]
    parts = {
        name: table.melt("query_id", var_name="run", value_name="AP")
        for name in ("a", "b")
    }
    result = irl.benchmark(
        values=parts,
        baseline="base",
        groups={
            name: dict(zip(table["query_id"], users, strict=True)) for name in parts
        },
        test=SignificanceTest("bootstrap", cluster=True),
    )
    found = result.overall().set_index("run")
    assert (
        found.loc[
            "more for large ones",
            ["ci_low", "ci_high", "difference_low", "difference_high"],
        ]
        .isna()
        .all()
    )
    assert (
        found.loc["as much for all", ["difference_low", "difference_high"]]
        .notna()
        .all()
    )
    assert found.loc["more for large ones", "p"] < 0.01
    others = result.overall("collections").set_index("run")[
        ["effect_low", "effect_high", "next_low", "next_high"]
    ]
    assert others.loc["more for large ones"].isna().all()
    assert others.loc["as much for all"].notna().all()
    assert "a: Groups differ in size. The test keeps its level" in result.summary(
        full=True
    )


# -- groups in which runs share no query ------------------------------------------------------


def apart_in_who(**options: Any) -> irl.Comparison:
    """Compare runs of which ``ql`` has no result in the group ``who``."""
    runs = {name: RUNS[name] for name in ("bm25", "ql", "tfidf")}
    is_who = runs["ql"]["query_id"].map(KINDS) == "who"
    runs["ql"] = runs["ql"][~is_who]
    return irl.compare(QRELS, runs, groups=KINDS, **options)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"baseline": "ql"},
        {"baseline": "ql", "margin": 0.05},
        {"test": SignificanceTest("tukey", n_resamples=99)},
        {"test": SignificanceTest(correction="bonferroni")},
        {"test": SignificanceTest(family="all")},
    ],
)
def test_a_group_without_a_shared_query_has_no_statistics(
    options: dict[str, Any],
) -> None:
    result = apart_in_who(by=["AP", "lexirecall"], **options)
    table = result.group_table()
    is_apart = (table["group"] == "who") & (
        (table["run_a"] == "ql") | (table["run_b"] == "ql")
    )
    assert is_apart.sum() == 4
    apart, others = table[is_apart], table[~is_apart]
    assert set(apart["verdict"]) == {"undecided"}
    assert (apart[["wins", "losses", "ties"]] == 0).all(axis=None)
    numbers = apart.select_dtypes(float)
    assert numbers.isna().all(axis=None)
    assert others["p_corrected"].notna().all()
    differing = result.group_differences()
    with_ql = (differing["run_a"] == "ql") | (differing["run_b"] == "ql")
    assert differing[with_ql]["p"].isna().all()
    assert differing[~with_ql]["p"].notna().all()
    assert result.table()["p"].notna().all()


def test_a_group_without_a_shared_query_is_said() -> None:
    whole = apart_in_who(by="AP")
    notes = [note for note in whole.diagnostics if "share no query" in note]
    assert notes == [
        "who: bm25 and ql share no query with results, so they are not compared in this group.",
        "who: ql and tfidf share no query with results, so they are not compared in this group.",
    ]
    said = " ".join(whole.summary(full=True).split())
    assert "in who (7 queries), no significant differences, 2 pairs share" in said
    shared = irl.compare(QRELS, RUNS, "AP", groups=KINDS)
    assert "share no query" not in shared.summary(full=True)
