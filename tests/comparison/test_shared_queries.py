"""Runs are compared on queries that both have results for."""

import itertools
import re

import numpy as np
import pytest

import ir_lexirecall as irl
from ir_lexirecall.cli import main
from ir_lexirecall.comparison.shared_queries import (
    NothingShared,
    QueriesWithResults,
)
from ir_lexirecall.evaluation.scored_runs import ScoredRuns

QUERIES = [f"q{i:02}" for i in range(24)]
QRELS = {query: {"a": 1, "b": 0, "c": 2} for query in QUERIES}


def run(queries: list[str], first: str = "a") -> dict[str, dict[str, float]]:
    rest = [doc for doc in "abc" if doc != first]
    return {query: {first: 3.0, rest[0]: 2.0, rest[1]: 1.0} for query in queries}


APART = {"even": run(QUERIES[::2]), "odd": run(QUERIES[1::2], "b")}
MESSAGE = (
    "runs 'even' and 'odd' share no query with results: 'even' for q00, q02, q04, ..."
)
BY = ["AP", "lexirecall"]


@pytest.mark.parametrize(
    "runs",
    [
        APART,
        {**APART, "all": run(QUERIES)},  # of three, two share nothing
        {
            "even": APART["even"],
            "odd": {**APART["odd"], "q00": {}},
        },  # an empty ranking is no result
        {"even": APART["even"], "odd": {**APART["odd"], "unjudged": {"a": 1.0}}},
    ],
)
@pytest.mark.parametrize("by", [BY, "nDCG@10", "rpp"])
def test_runs_that_share_no_query_are_refused(runs, by):
    with pytest.raises(ValueError, match=f"^compare: {MESSAGE}"):
        irl.compare(QRELS, runs, by)


@pytest.mark.parametrize(
    ("n_more", "words"), [(0, ""), (1, " (and 1 more pair of runs)"), (2, " (and 2 ")]
)
def test_further_pairs_that_share_no_query_are_counted(n_more, words):
    runs = APART | {f"odd{i}": APART["odd"] for i in range(n_more)}
    with pytest.raises(ValueError, match=re.escape(f"with results{words}")) as raised:
        irl.compare(QRELS, runs, "AP")
    assert ("more pair" in str(raised.value)) == (n_more > 0)


def test_only_pairs_that_are_compared_must_share_queries():
    runs = {**APART, "all": run(QUERIES)}
    result = irl.compare(QRELS, runs, BY, baseline="all")
    assert result.pairs == [("even", "all"), ("odd", "all")]
    with pytest.raises(ValueError, match="share no query"):
        irl.compare(QRELS, runs, BY, baseline="even")
    with pytest.raises(ValueError, match="share no query"):
        result.with_baseline(None)


def test_every_door_refuses_them(tmp_path):
    with pytest.raises(ValueError, match=f"^gate: .*{MESSAGE.split(':')[1]}"):
        irl.gate(QRELS, APART["even"], APART["odd"], "AP", names=("even", "odd"))
    with pytest.raises(ValueError, match=r"^gate: .*share no query"):
        irl.gate(QRELS, run(QUERIES), APART["odd"], "AP", release=APART["even"])
    with pytest.raises(ValueError, match=f"^benchmark: collection 'x': {MESSAGE}"):
        irl.benchmark(
            {"x": QRELS, "y": QRELS},
            {"x": APART, "y": {n: run(QUERIES) for n in APART}},
            "AP",
        )


@pytest.mark.parametrize("repeats", [None, "samples"])
@pytest.mark.parametrize("by", ["lexirecall", ["AP", "rpp"]])
def test_preferences_count_no_queries_without_relevant_documents(by, repeats):
    """They leave these queries out, so that sharing them is sharing nothing."""
    empty = [f"n{i}" for i in range(20)]
    qrels = QRELS | {query: {"a": 0} for query in empty}
    apart = {name: one | run(empty) for name, one in APART.items()}
    half = {"few": run(QUERIES[8:16], "b"), "first": run(QUERIES[:12])}
    half = {name: one | run(empty) for name, one in half.items()}
    none = {"first": run(QUERIES), "none": run(empty)}
    if repeats:
        apart, half, none = map(of_repeats, (apart, half, none))
    message = "'even' and 'odd' share no query with results among those with relevant"
    with pytest.raises(NothingShared, match=message):
        irl.compare(qrels, apart, by, repeats=repeats)
    diagnostics = irl.compare(qrels, none, by, repeats=repeats).diagnostics
    assert any(
        note.startswith("none ") for note in diagnostics
    )  # no ranking for most queries
    words = "share only 4 of the 16 queries with relevant documents that either has"
    assert words in irl.compare(qrels, half, by, repeats=repeats).diagnostics[0]
    assert irl.compare(qrels, apart, "AP", repeats=repeats).pairs == [("even", "odd")]


KINDS_OF_REPEATS = pytest.mark.parametrize("kind", ["samples", "seeds"])


def of_repeats(runs: dict[str, dict], n: int = 2) -> dict[str, list[dict]]:
    return {name: [one] * n for name, one in runs.items()}


@KINDS_OF_REPEATS
def test_every_door_refuses_repeats_that_share_no_query(kind):
    apart, whole = of_repeats(APART), of_repeats(dict.fromkeys(APART, run(QUERIES)))
    for by in BY:
        with pytest.raises(NothingShared, match=f"^compare: {MESSAGE}"):
            irl.compare(QRELS, apart, by, repeats=kind)
    with pytest.raises(NothingShared, match=r"^gate: .*share no query with results"):
        irl.gate(QRELS, apart["even"], apart["odd"], "AP", repeats=kind)
    with pytest.raises(ValueError, match=f"^benchmark: collection 'x': {MESSAGE}"):
        irl.benchmark(
            dict.fromkeys("xy", QRELS), {"x": apart, "y": whole}, "AP", repeats=kind
        )
    runs = apart | of_repeats({"all": run(QUERIES)})
    result = irl.compare(QRELS, runs, "AP", repeats=kind, baseline="all")
    with pytest.raises(NothingShared):
        result.with_baseline("even")


@KINDS_OF_REPEATS
def test_repeats_that_share_less_than_half_say_so_first(kind):
    runs = of_repeats({"few": run(QUERIES[8:16], "b"), "first": run(QUERIES[:12])})
    words = "few and first share only 4 of the 16 queries that either has results for"
    result = irl.compare(QRELS, runs, "AP", repeats=kind)
    assert words in result.summary(full=True).splitlines()[0]
    assert result.diagnostics[0].startswith(words)
    gated = irl.gate(QRELS, *runs.values(), "AP", names=("few", "first"), repeats=kind)
    assert "share only 4 of the 16" in str(gated).splitlines()[0]
    suite = irl.benchmark(
        dict.fromkeys("xy", QRELS), dict.fromkeys("xy", runs), "AP", repeats=kind
    )
    assert suite.diagnostics[0].startswith(f"x: {words}")


@KINDS_OF_REPEATS
def test_a_repeat_that_lacks_queries_is_named(kind):
    """Queries that no repeat of a system has are said of the system, once."""
    runs = {
        "a": [run(QUERIES), run(QUERIES[:20]), run(QUERIES)],
        "b": [run(QUERIES[2:], "b")] * 3,
    }
    result = irl.compare(QRELS, runs, "AP", repeats=kind)
    assert [note for note in result.diagnostics if "returns nothing" in note] == [
        "b returns nothing for 2 of 24 queries.",
        "a, repeat 2 returns nothing for 4 of 24 queries.",
    ]


def test_the_commands_refuse_them(tmp_path, capsys):
    qrels = tmp_path / "qrels.txt"
    qrels.write_text(
        "".join(
            f"{q} 0 {doc} {grade}\n"
            for q, docs in QRELS.items()
            for doc, grade in docs.items()
        )
    )
    paths = []
    for name, rows in APART.items():
        paths.append(tmp_path / f"{name}.run")
        lines = [
            f"{q} Q0 {doc} {rank} {score} {name}\n"
            for q, docs in rows.items()
            for rank, (doc, score) in enumerate(docs.items(), start=1)
        ]
        paths[-1].write_text("".join(lines))
    for arguments in (
        ["compare", qrels, *paths, "-m", "AP"],
        ["eval", qrels, *paths, "-m", "AP", "--baseline", "even"],
        ["gate", qrels, *paths, "-m", "AP"],
        ["report", qrels, *paths, "-m", "AP", "-o", tmp_path / "report.html"],
    ):
        with pytest.raises(SystemExit) as stopped:
            raise SystemExit(main([*map(str, arguments)]))
        assert stopped.value.code == 1, arguments
        assert "share no query with results" in capsys.readouterr().err
    assert main(["eval", str(qrels), *map(str, paths), "-m", "AP"]) == 0


def test_a_run_without_any_results_is_taken_by_name_only():
    runs = {"all": run(QUERIES), "none": {"other": {"a": 1.0}}}
    with pytest.raises(ValueError, match="retrieves nothing"):
        irl.compare(QRELS, runs, "AP")
    with pytest.warns(UserWarning, match="none"):
        assert irl.compare(QRELS, runs, "AP", allow_empty=True).pairs == [
            ("all", "none")
        ]


@pytest.mark.parametrize(
    ("more", "is_said"), [(0, True), (3, True), (4, False), (8, False)]
)
def test_less_than_half_is_the_first_caveat_and_in_the_headline(more, is_said):
    """Of 12 + more queries of one and 8 of the other 4 + more are shared, of 16 in all."""
    runs = {"few": run(QUERIES[8 - more : 16], "b"), "first": run(QUERIES[:12])}
    shared = len({*runs["few"]} & {*runs["first"]})
    words = f"few and first share only {shared} of the 16 queries that either has results for"
    assert is_said == (shared < 8)
    result = irl.compare(QRELS, runs, BY)
    head = result.summary(full=True).splitlines()[0]
    assert (words in head) == is_said
    assert result.diagnostics[0].startswith(words) == is_said
    gated = irl.gate(QRELS, runs["few"], runs["first"], "AP", names=("few", "first"))
    assert ("share only" in str(gated).splitlines()[0]) == is_said
    by_collection = irl.benchmark({"x": QRELS}, {"x": runs}, "AP")
    assert (words in str(by_collection)) == is_said


def test_a_benchmark_says_it_of_each_collection(tmp_path):
    few = {"few": run(QUERIES[8:16], "b"), "first": run(QUERIES[:12])}
    same = {"few": run(QUERIES), "first": run(QUERIES, "b")}
    words = "few and first share only 4 of the 16 queries that either has results for"
    for baseline in (None, "few"):
        options = {"by": "AP", "baseline": baseline}
        result = irl.benchmark(
            dict.fromkeys("xyz", QRELS), {"x": same, "y": few, "z": few}, **options
        )
        head = " ".join(str(result).partition("\n\n")[0].split())
        in_turn = (
            words
            if baseline is None
            else words.replace("few and first", "first and few")
        )
        assert f"; y: {in_turn} (and 1 more collection like this)" in head
        assert result.diagnostics[0].startswith(f"y: {in_turn}: a query")
        page = irl.report(result, tmp_path / "page.html").read_text()
        assert in_turn in page
    shared = irl.benchmark(dict.fromkeys("xy", QRELS), {"x": same, "y": same}, "AP")
    assert "share only" not in shared.summary(full=True)


def test_shared_queries_are_those_counted_one_by_one():
    rng = np.random.default_rng(0)
    for _ in range(20):
        runs = {}
        for name in "uvwx":
            number = rng.integers(1, 12)
            runs[name] = run(rng.choice(QUERIES, number, replace=False).tolist())
        results = QueriesWithResults.of(ScoredRuns.from_runs({}, QRELS, runs))
        pairs = list(itertools.combinations(runs, 2))
        expected = []
        for a, b in pairs:
            both, either = {*runs[a]} & {*runs[b]}, {*runs[a]} | {*runs[b]}
            if 2 * len(both) < len(either):
                expected.append((a, b, len(both), len(either)))
        found = [
            (p.run_a, p.run_b, p.both, p.either) for p in results.poorly_shared(pairs)
        ]
        assert found == expected
        assert bool(results.nothing_shared(pairs)) == any(
            not both for *_, both, _ in expected
        )


def test_values_of_which_most_are_missing_say_so():
    nan = float("nan")
    values = {
        "a": {
            q: {"AP": 0.5 + i / 100 if i < 15 else nan} for i, q in enumerate(QUERIES)
        },
        "b": {q: {"AP": 0.5 if i > 9 else nan} for i, q in enumerate(QUERIES)},
    }
    result = irl.benchmark(values={"x": values}, by="AP", missing="skip")["x"]
    assert result.summary(full=True).startswith(
        "a and b, 5 queries; only 5 of 24 queries have values of"
    )
    assert result.diagnostics[0] == "Only 5 of 24 queries have values of all runs."


def test_tables_for_papers_say_it_too():
    few = {"few": run(QUERIES[8:16], "b"), "first": run(QUERIES[:12])}
    same = {"few": run(QUERIES), "first": run(QUERIES, "b")}
    words = "few and first share only 4 of the 16 queries that either has results for."
    for columns in ("means", "differences"):
        for caption in (None, "Mine."):
            apart = irl.compare(QRELS, few, BY)
            shared = irl.compare(QRELS, same, BY)
            latex = apart.to_latex(columns=columns, caption=caption)
            assert f"Careful: {words}" in " ".join(latex.split())
            assert "Careful" not in shared.to_latex(columns=columns, caption=caption)
        by_collection = irl.benchmark(
            {"x": QRELS, "y": QRELS}, {"x": few, "y": same}, BY
        )
        for text in (
            apart.to_markdown(columns=columns),
            by_collection.to_markdown(columns=columns),
            by_collection.to_latex(columns=columns),
        ):
            assert words in " ".join(text.split())
        assert f"Careful: x: {words}" in by_collection.to_markdown(columns=columns)
        assert "Careful" not in shared.to_markdown(columns=columns)
