"""What results say of themselves: golden texts of three situations, and that every number in them is the result's."""

from __future__ import annotations

import importlib.util
import pickle
import re
from collections.abc import Mapping
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ir_lexirecall as irl
from ir_lexirecall import demo, present
from ir_lexirecall.present.comparisons import comparison_glance
from ir_lexirecall.present.findings import Note, gravest_first, grouped
from ir_lexirecall.present.gates import criterion_facts, gate_json, gate_text
from ir_lexirecall.present.glance import glance_text
from ir_lexirecall.present.text import format_p, p_words

Runs = Mapping[str, Mapping[str, Mapping[str, float]]]

QUERIES = [f"q{number:02}" for number in range(30)]
OTHERS = {
    f"x{rank}": 0 for rank in range(1, 101)
}  # all is judged: nothing is said of unjudged documents
QRELS = {q: {"r1": 2, "r2": 1, "r3": 1, "r4": 1, **OTHERS} for q in QUERIES}


def at_ranks(*ranks: int) -> dict[str, float]:
    """A ranking of 100 documents with the relevant ones at some ranks."""
    docs = [f"x{rank}" for rank in range(1, 101)]
    for number, rank in enumerate(ranks, start=1):
        docs[rank - 1] = f"r{number}"
    return {doc: -float(rank) for rank, doc in enumerate(docs)}


def winner() -> Runs:
    """``best`` is better than the others on every query, and these are one as good as the other."""
    return {
        "fair": {q: at_ranks(1, 2, 3, 20 + i % 2) for i, q in enumerate(QUERIES)},
        "best": {q: at_ranks(1, 2, 3, 4 + i % 3) for i, q in enumerate(QUERIES)},
        "other": {q: at_ranks(1, 2, 3, 21 - i % 2) for i, q in enumerate(QUERIES)},
    }


def group() -> Runs:
    """``a``, ``b`` and ``c`` win in turn, and ``worst`` never does."""
    places = {"a": 0, "b": 1, "c": 2}
    runs: dict[str, dict[str, dict[str, float]]] = {
        name: {
            q: at_ranks(1, 2, 3, 10 + (i + place) % 3) for i, q in enumerate(QUERIES)
        }
        for name, place in places.items()
    }
    return {"worst": {q: at_ranks(1, 2, 3, 50) for q in QUERIES}, **runs}


CLEAR = """\
3 runs, 30 queries, all pairs

            lexirecall
               net      95% interval
 1  best     1.000    0.810 to 1.000  *
 2  fair    -0.500  -0.673 to -0.264
 3  other   -0.500  -0.673 to -0.264

* best mean
2 of 3 pairs differ significantly (sign test, Holm's correction for 3
comparisons, p <= 0.05)
net: (won - lost) / queries, against all other runs

.table()  .explain(a, b)  .bounds()  report(result, path)"""

TIED = """\
4 runs, 30 queries, all pairs

            lexirecall
               net      95% interval
 1  a        0.333    0.097 to 0.528  *
 2  b        0.333    0.097 to 0.528  *
 3  c        0.333    0.097 to 0.528  *
 4  worst   -1.000  -1.000 to -0.810

* best mean
3 of 6 pairs differ significantly (sign test, Holm's correction for 6
comparisons, p <= 0.05)
net: (won - lost) / queries, against all other runs

.table()  .explain(a, b)  .bounds()  report(result, path)"""

FEW = """\
4 runs, 4 queries, all pairs

            lexirecall
               net     95% interval
 1  a        0.500  -0.552 to 1.000  *
 2  b        0.333  -0.596 to 1.000  =
 3  c        0.167  -0.736 to 0.958  =
 4  worst   -1.000  -1.000 to 0.190  =

* best mean, = may be the best as well (95% for each criterion)
0 of 6 pairs differ significantly (sign test, Holm's correction for 6
comparisons, p <= 0.05)
net: (won - lost) / queries, against all other runs

Careful
  The smallest p that the sign test can give on 4 queries is 0.12 (0.75 after
    Holm's correction for 6 comparisons): it cannot reject at alpha 0.05.
  Only 4 queries: tests detect only large differences.

.table()  .explain(a, b)  .bounds()  report(result, path)"""

SEVERAL = """\
4 runs, 30 queries, all pairs

            nDCG@10                    AP         lexirecall
             mean    95% interval       mean         net
 1  a       0.906  0.821 to 0.941  *   0.841  *    0.333  *
 2  b       0.906  0.821 to 0.941  *   0.841  *    0.333  *
 3  c       0.906  0.821 to 0.941  *   0.841  *    0.333  *
 4  worst   0.879  0.799 to 0.912      0.770      -1.000

* best mean
significantly different: 3 of 6 pairs by nDCG@10, 3 by AP, 3 by lexirecall
(paired t-test for nDCG@10 and AP, sign test for lexirecall; Holm's correction
for 6 comparisons, p <= 0.05)
each criterion tested by itself; corrected over all three: 3 of 6 pairs by each
net: (won - lost) / queries, against all other runs

Careful
  Mostly ties by nDCG@10: worst and a (20 of 30 queries), worst and b (20 of 30
    queries) and worst and c (20 of 30 queries).

.table()  .explain(a, b)  .bounds()  .disagreements(x, y, a, b)
report(result, path)  .summary(full=True): 2 columns left out"""


AGAINST = """\
3 runs, 30 queries, against fair

        AP
         mean   diff.     95% interval         p
best    0.956  +0.157   0.144 to 0.170  < 0.0001  +
fair    0.799
other   0.799   0.000  -0.001 to 0.001       1.0

+ better, - worse than fair (paired t-test, Holm's correction for 2 comparisons,
p <= 0.05)
these queries can show a difference of 0.0014 (t-test, power 0.8)

.table()  .explain(a, b)  .bounds()  report(result, path)"""


@pytest.mark.parametrize("baseline", [None, "a"])
def test_a_single_query_has_no_column_of_intervals(baseline):
    values = {
        run: {"q": {"AP": v}} for run, v in {"a": 0.1, "b": 0.2, "c": 0.4}.items()
    }
    shown = str(irl.compare(values=values, baseline=baseline))
    assert "mean" in shown
    assert "interval" not in shown
    runs = {run: {"q": {run: 2.0, "d": 1.0}} for run in "abc"}
    result = irl.compare({"q": {"a": 1, "d": 1}}, runs, ["lexirecall", "AP"])
    assert result.means()["ci_low"].isna().all()
    assert "interval" not in result.summary()


def test_five_runs_by_three_criteria_fit_a_screen() -> None:
    criteria = ["nDCG@10", "AP", "lexirecall"]
    result = irl.compare(irl.demo.qrels(), irl.demo.runs(), criteria, baseline="bm25")
    lines = result.summary().splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("criteria", [["nDCG@10", "LR"], ["nDCG@10", "lexirecall"]])
def test_five_runs_with_a_margin_fit_a_screen_with_what_decides(
    criteria: list[str],
) -> None:
    qrels, runs = irl.demo.qrels(), irl.demo.runs()
    result = irl.compare(qrels, runs, criteria, baseline="bm25", margin=0.05)
    text = result.summary()
    lines = text.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    table = {line.split()[0]: line for line in lines[4:9]}
    assert set(table) == set(result.runs)
    for name in criteria:
        rows = result.table(name).set_index("run_a")
        for run, row in rows.iterrows():
            verdict = row["verdict"].removesuffix(" margin")
            assert table[str(run)].count(verdict) >= 1
            assert f"{row['difference']:+.3f}" in table[str(run)]
    assert "undecided <= 0.17" in table["ql"]
    assert "within +-0.028" in table["tfidf"]
    assert "would decide" in " ".join(text.split())
    assert (
        "16 queries may miss losses on under 17% of queries; 0.29 there costs" in text
    )
    assert "columns left out" in text
    full = result.summary(full=True)
    assert "undecided: may lose up to 0.17" in full
    assert "Holm over 8 for worse and better" in full


@pytest.mark.parametrize("baseline", [None, "bm25"])
def test_columns_that_a_screen_leaves_out_are_counted_in_its_last_line(
    baseline: str | None,
) -> None:
    criteria = ["nDCG@10", "AP", "lexirecall"]
    result = irl.compare(irl.demo.qrels(), irl.demo.runs(), criteria, baseline=baseline)
    glance = comparison_glance(result)
    narrow, wide = (glance_text(glance, width, options=True) for width in (80, 300))
    n_heads = [
        len(re.split(r"\s{2,}", text.splitlines()[3].strip()))
        for text in (narrow, wide)
    ]
    n_missing = n_heads[1] - n_heads[0]
    last = narrow.splitlines()[-1]
    assert n_missing > 0
    assert last.endswith(f"--wide: {n_missing} columns left out")
    assert len(last) <= 80
    assert narrow.count("\n") < 24
    assert "left out" not in wide


def seventeen() -> dict[str, dict[str, dict[str, float]]]:
    """Return the runs of the demo, and twelve more that lose the first document of some queries."""
    runs = {
        name: demo.run(name)
        .groupby("query_id")[["doc_id", "score"]]
        .apply(lambda rows: dict(zip(rows["doc_id"], rows["score"], strict=True)))
        .to_dict()
        for name in demo.RUNS
    }
    for number in range(12):
        copy = {query: dict(ranking) for query, ranking in runs["bm25"].items()}
        for query in [*copy][: number + 1]:
            copy[query].pop(next(iter(copy[query])))
        runs[f"copy{number}"] = copy
    return runs


@pytest.mark.slow_except("bm25-17-criteria0")
@pytest.mark.parametrize(
    "criteria", [["nDCG@10", "lexirecall"], ["AP", "lexirecall", "TSE"]]
)
@pytest.mark.parametrize("n_runs", [6, 17])
@pytest.mark.parametrize("baseline", [None, "bm25", "overlap"])
def test_many_runs_fit_a_screen_that_names_what_it_leaves_out(
    baseline: str | None, n_runs: int, criteria: list[str]
) -> None:
    runs = dict(list(seventeen().items())[:n_runs])
    result = irl.compare(irl.demo.qrels(), runs, criteria, baseline=baseline)
    glance, text = comparison_glance(result), result.summary()
    lines = text.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    shown = [run for run in glance.rows if re.search(rf"^( ?\d+  )?{run} ", text, re.M)]
    assert shown[:3] == glance.rows[:3]
    assert baseline is None or baseline in shown
    n_hidden = n_runs - len(shown)
    assert (f"{n_hidden} more: .summary(full=True)" in text) == bool(n_hidden)
    for group in glance.groups:
        marked = {
            run for run, mark in zip(glance.rows, group.marks, strict=False) if mark
        }
        n_marked = len(marked - {*shown})
        if n_marked:
            assert re.search(rf"marked: .*\b{n_marked} by {group.name}", text)
    full = result.summary(full=True)
    assert all(run in full for run in result.runs)
    assert "Holm's correction for" in full


def few() -> dict[str, dict[str, int]]:
    return {q: QRELS[q] for q in QUERIES[:4]}


@pytest.mark.parametrize(
    ("text", "make"),
    [
        (CLEAR, lambda: irl.compare(QRELS, winner())),
        (TIED, lambda: irl.compare(QRELS, group())),
        (FEW, lambda: irl.compare(few(), group())),
        (SEVERAL, lambda: irl.compare(QRELS, group(), ["nDCG@10", "AP", "lexirecall"])),
        (AGAINST, lambda: irl.compare(QRELS, winner(), "AP", baseline="fair")),
    ],
    ids=[
        "clear winner",
        "tied top group",
        "too few queries",
        "several measures",
        "baseline",
    ],
)
def test_golden_texts(text: str, make: Any) -> None:
    result = make()
    assert result.summary() == text
    assert str(result) == text


def test_who_may_be_the_best_by_all_criteria_is_said() -> None:
    result = irl.compare(
        "lexirecall/demo", demo.runs(), ["nDCG@10", "AP", "TSE", "lexirecall"]
    )
    best = [result.best_set(name) for name in result.criteria]
    everywhere = set.intersection(
        *({*table["run"][table["may_be_best"]]} for table in best)
    )
    (sentence,) = re.findall(
        r".* may be the best by every criterion\.", result.summary(full=True)
    )
    assert {
        run for run in demo.RUNS if re.search(rf"\b{run}\b", sentence)
    } == everywhere


def test_of_two_runs_it_is_said_which_is_better_as_tested() -> None:
    runs = {name: demo.run(name) for name in ("bm25", "ql")}
    result = irl.compare("lexirecall/demo", runs, "AP", test="sign")
    said = "AP   no significant difference: bm25 wins 7, loses 1 (p = 0.070)\n\n(sign test, p <= 0.05)"
    assert said in result.summary()
    clear = irl.compare(QRELS, {name: winner()[name] for name in ("fair", "best")})
    assert "best is better: wins 30, loses 0 (p < 0.0001)" in clear.summary()
    alike = irl.compare(QRELS, {"one": winner()["best"], "two": winner()["best"]})
    assert "level on all 30 queries" in alike.summary()


@pytest.mark.parametrize(
    ("loss", "verdict", "p", "said"),
    [
        (0.0145, "worse", "worse_p", "new is worse: "),
        (-0.0145, "better", "better_p", "new is better: "),
        (
            0.0,
            "within margin",
            "within_p",
            "new and base are equivalent (margin 0.02, P)",
        ),
        (
            -0.01,
            "not worse",
            "not_worse_p",
            "new is not worse than base (margin 0.02, P)",
        ),
        (
            0.01,
            "undecided",
            "not_worse_p",
            "nor shown to be not worse (margin 0.02, P)",
        ),
    ],
)
def test_of_two_runs_with_a_margin_the_verdict_has_its_one_sided_p(
    loss: float, verdict: str, p: str, said: str
) -> None:
    queries = [f"q{k:02}" for k in range(40)]
    gains = 0.06 * np.sin(np.arange(40))
    gains += -loss - gains.mean()
    rows = [("base", q, 0.5) for q in queries] + [
        ("new", q, 0.5 + x) for q, x in zip(queries, gains, strict=True)
    ]
    values = pd.DataFrame(rows, columns=["run", "query_id", "AP"])
    result = irl.compare(values=values, baseline="base", margin=0.02)
    row = result.table().iloc[0]
    assert row["verdict"] == verdict
    text = result.summary(full=True)
    assert said.replace("P", p_words(row[p])) in text
    assert p_words(row[p]) in text


def test_the_winner_of_the_test_is_named_where_the_other_run_has_the_higher_mean() -> (
    None
):
    qrels = {q: {"r1": 1, "x1": 0} for q in QUERIES}
    far = {q: at_ranks(1 if i < 4 else 5) for i, q in enumerate(QUERIES)}
    near = {q: at_ranks(90 if i < 4 else 4) for i, q in enumerate(QUERIES)}
    text = irl.compare(qrels, {"far": far, "near": near}, "RR", test="sign").summary(
        full=True
    )
    assert "near is better: " in text
    assert "(p < 0.0001), although far has the higher mean" in text
    runs = {"far": far, "near": near, "last": outnumbered()["last"]}
    three = irl.compare(qrels, runs, "RR", test="sign").summary()
    assert "near is significantly better than far, pair by pair." in three
    several = irl.compare(qrels, runs, ["RR", "P@100"], test="sign").summary()
    assert "near is significantly better than far by RR, pair by pair." in several


def test_what_was_compared_on_what_is_said(tmp_path: Path) -> None:
    assert "5 runs, 16 queries of lexirecall/demo" in str(
        irl.compare("lexirecall/demo", demo.runs())
    )
    assert (
        " of lexirecall/demo"
        in irl.benchmark("lexirecall/demo", demo.runs(), ["AP"]).summary()
    )
    path = tmp_path / "robust.qrels"
    path.write_text(
        "".join(
            f"{q} 0 {doc} {grade}\n"
            for q, docs in QRELS.items()
            for doc, grade in docs.items()
        )
    )
    first = irl.compare(str(path), winner()).summary().splitlines()[0]
    assert first == "3 runs, 30 queries of robust.qrels, all pairs"
    assert (
        " of robust.qrels, all" in irl.compare(path, winner()).with_test("t").summary()
    )


def test_no_query_has_a_relevant_document() -> None:
    runs = {"one": {"q": {"a": 1.0}}, "two": {"q": {"a": 1.0}}}
    result = irl.compare({"q": {"a": 0}}, runs)
    assert (
        "No query has a relevant document: nothing can be compared." in result.summary()
    )
    assert result._repr_html_()


@pytest.mark.slow
def test_what_is_not_a_number_is_left_out_and_said() -> None:
    """SL3 without n is infinite where a relevant document is missing: printing such a result does not fail."""
    result = irl.benchmark("lexirecall/demo", demo.runs(), ["SL3", "AP"])
    assert "Left out, as not every value is a finite number: SL3." in result.summary()
    assert re.search(r"^ +AP$", result.summary(), re.MULTILINE)
    assert "<img" in result._repr_html_()
    alone = irl.benchmark("lexirecall/demo", {"bm25": demo.run("bm25")}, ["SL3"])
    assert "SL3" in str(alone)
    assert "<img" not in alone._repr_html_()
    both = {"one": "lexirecall/demo", "two": "lexirecall/demo"}
    suite = irl.benchmark(
        both,
        {name: demo.runs() for name in both},
        ["SL3", "AP"],
        test=irl.SignificanceTest(n_resamples=99),
    )
    assert (
        "SL3 is left out of results over all collections: collection 'one': SL3 is infinite for "
        "run 'bm25'" in suite.summary(full=True)
    )
    assert "<img" in suite._repr_html_()


# -- the numbers are the result's --------------------------------------------------------------------


@pytest.mark.parametrize("test", ["sign", "t", "wilcoxon", "tukey"])
@pytest.mark.parametrize("measure", ["AP", "SL3(n=1000)"])
def test_the_sentences_say_what_the_tables_say(test: str, measure: str) -> None:
    runs = {**group(), "best": winner()["best"]}
    result = irl.compare(
        QRELS, runs, measure, test=irl.SignificanceTest(test, n_resamples=500)
    )
    means = result.means().set_index("run")["mean"]
    leader = means.idxmin() if measure.startswith("SL3") else means.idxmax()
    assert result.ranking()["run"].iloc[0] == leader
    decided = result.verdicts()["verdict"].isin(["better", "worse"]).sum()
    lines = result.summary().splitlines()
    (first,) = [line for line in lines if line.startswith(" 1  ")]
    assert leader in first
    assert first.endswith("*")
    assert f"{decided} of 10 pairs differ significantly" in result.summary()
    assert not any(line.endswith("=") for line in lines)


def test_suite_says_who_may_be_first(tmp_path: Path) -> None:
    collections = {"one": QRELS, "two": QRELS}
    runs = {name: winner() for name in collections}
    result = irl.benchmark(
        collections,
        runs,
        ["AP"],
        baseline="fair",
        test=irl.SignificanceTest(n_resamples=500),
    )
    text = result.summary(full=True)
    overall = result.overall().query("criterion == 'AP'").set_index("run")
    assert re.search(r"^best .* \*\+$", text, re.MULTILINE)
    assert overall.loc["best", "rank_high"] == 1
    title = (
        "3 runs, 2 collections (one and two), 60 queries, each collection counts once"
    )
    assert f"{title}; against fair" in text
    assert (
        "+ better, - worse than fair (p <= 0.05, Holm's correction for 2 comparisons)"
        in text
    )
    over = result.summary("collections", full=True)
    assert "t over collections (random effects), ranks by a two-level bootstrap" in over
    with pytest.raises(ValueError, match="over"):
        result.summary("all")
    assert repr(result).startswith("<Benchmark of 3 runs on 2 collections by AP")


def test_collections_say_what_they_hold() -> None:
    collection = irl.load("lexirecall/demo")
    text = str(present.collection_finding(collection))
    qrels = demo.qrels()
    assert text.startswith(
        f"lexirecall/demo: {len(demo.queries())} queries, {qrels['query_id'].nunique()} of them judged."
    )
    relevant = qrels[qrels["relevance"] >= 1].groupby("query_id")["doc_id"].nunique()
    assert (
        f"{relevant.min()} to {relevant.max()} (median {relevant.median():g})" in text
    )
    assert "Only 16 queries" in text
    assert (
        repr(collection)
        == "<Collection 'lexirecall/demo'; present.collection_finding says what it holds>"
    )


# -- shapes ------------------------------------------------------------------------------------------


def test_measures_that_are_mostly_zero_are_told() -> None:
    qrels = {f"q{i}": {"d": 1} for i in range(30)}
    runs = {
        name: {q: {("d" if i < hits else "e"): 1.0} for i, q in enumerate(qrels)}
        for name, hits in (("some", 14), ("half", 15), ("none", 0))
    }

    def told(*names: str) -> list[str]:
        result = irl.benchmark(
            qrels, {name: runs[name] for name in names}, ["AP"], allow_empty=True
        )["collection"]
        return [
            note
            for note in result.diagnostics
            if "has the value 0 on most queries" in note
        ]

    assert told("some", "none") == [
        "The best run by AP has the value 0 on most queries (16 of 30 queries of some); the runs "
        "differ on 14 queries."
    ]
    assert told("half", "some") == []
    assert told("none") == []


def outnumbered() -> Runs:
    """``far`` wins 14 of 30 queries by much, and ``near`` the other 16 by little: no test tells them apart."""
    return {
        "far": {q: at_ranks(1 if i < 14 else 5) for i, q in enumerate(QUERIES)},
        "near": {q: at_ranks(20 if i < 14 else 4) for i, q in enumerate(QUERIES)},
        "last": {q: at_ranks(90) for q in QUERIES},
    }


def test_a_leader_that_loses_more_queries_than_it_wins_is_told() -> None:
    qrels = {q: {"r1": 1, "x1": 0} for q in QUERIES}

    def told(result: Any) -> list[str]:
        return [
            note
            for note in result.diagnostics
            if "loses more queries than it wins" in note
        ]

    facts = "far has the higher mean RR, but loses more queries than it wins against near (wins 14, loses 16)"
    said = f"{facts}: no significant difference."
    result = irl.compare(qrels, outnumbered(), "RR", test="sign")
    assert told(result) == [said]
    assert said in result.summary(full=True)
    assert told(
        irl.compare(qrels, outnumbered(), "RR", test="sign", baseline="near")
    ) == [said]
    assert (
        told(irl.compare(qrels, outnumbered(), "RR", test="sign", baseline="last"))
        == []
    )  # the two were not compared
    assert told(irl.compare(qrels, outnumbered())) == []  # near leads, and wins more
    for clear in (irl.compare(QRELS, winner(), "AP"), irl.compare(QRELS, group())):
        assert told(clear) == []
    assert (
        told(
            irl.compare(
                qrels, {name: outnumbered()[name] for name in ("far", "last")}, "RR"
            )
        )
        == []
    )


def test_a_leader_by_several_measures_is_told_in_one_sentence() -> None:
    qrels = {q: {"r1": 1, "x1": 0} for q in QUERIES}
    result = irl.compare(qrels, outnumbered(), ["RR", "AP"], test="sign")
    facts = "far has a better mean than near by RR and AP, but loses more queries than it wins."
    assert facts in result.summary(full=True)


@pytest.mark.parametrize("measure", ["SL3(n=1000)", "AP", "RR"])
@pytest.mark.parametrize("seed", range(5))
def test_who_loses_more_queries_than_it_wins_is_counted(
    measure: str, seed: int
) -> None:
    """The note's numbers, counted query by query; smaller values win where smaller is better."""
    rng = np.random.default_rng(seed)
    runs = {
        name: {
            q: at_ranks(
                *sorted(rng.choice(np.arange(1, 60), size=4, replace=False).tolist())
            )
            for q in QUERIES
        }
        for name in "abcd"
    }
    result = irl.compare(QRELS, runs, measure)
    leader, *others = result.ranking()["run"]
    values = result.per_query()
    sign = -1 if measure.startswith("SL3") else 1
    expected = []
    for run in others:
        if result.tests.verdicts_by().on(leader, run) != "undecided":
            continue
        pairs = list(zip(values[leader], values[run], strict=True))
        wins, losses = (
            sum(way * (x - y) > 1e-12 for x, y in pairs) for way in (sign, -sign)
        )
        if losses > wins:
            expected.append(f"{run} (wins {wins}, loses {losses})")
    notes = [
        note
        for note in result.diagnostics
        if f"has the higher mean {measure}, but loses" in note
    ]
    assert len(notes) == bool(expected)
    assert all(fact in notes[0] for fact in expected)


TOMA = "TOMA(aspects={'credibility':2,'relevance':3})@10"


@pytest.mark.slow
def test_long_names_of_measures_are_short_and_explained() -> None:
    runs = {name: demo.run(name) for name in ("bm25", "ql", "tfidf")}
    both = {"one": "lexirecall/demo", "two": "lexirecall/demo"}
    results = [
        irl.compare("lexirecall/demo", runs, [TOMA, "AP"]),
        irl.benchmark(
            both,
            dict.fromkeys(both, runs),
            [TOMA, "AP"],
            test=irl.SignificanceTest(n_resamples=99, progress=False),
        ),
    ]
    for result in results:
        said = str(result)
        assert " ".join(said.split()).endswith(f"TOMA(aspects=...)@10 is {TOMA}")
        assert said.count(TOMA) == 1
        shown = unescape(result._repr_html_())
        assert TOMA in shown
        assert f"TOMA(aspects=...)@10 is {TOMA}" in shown
    assert (
        TOMA in results[0].table()["criterion"].tolist()
    )  # of tables for programs nothing is short
    other = TOMA.replace("relevance':3", "relevance':4")
    alike = str(irl.benchmark("lexirecall/demo", runs, [TOMA, other]))
    assert TOMA in alike
    assert other in alike
    assert "aspects=..." not in alike


def test_notes_are_grouped_and_the_gravest_come_first() -> None:
    notes = [
        Note("few", 2),
        Note("a: broken", 0, "Broken", "a"),
        Note("b: broken", 0, "Broken", "b"),
        Note("few", 2),
    ]
    assert grouped(gravest_first(notes)) == ["Broken: a and b.", "few"]
    copied = pickle.loads(pickle.dumps(notes[1]))
    assert (copied, copied.gravity, copied.kind, copied.subject) == (
        "a: broken",
        0,
        "Broken",
        "a",
    )


class Tags(HTMLParser):
    """The elements of a page, and its texts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.count: dict[str, int] = {}
        self.open: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.count[tag] = self.count.get(tag, 0) + 1
        if tag not in ("img", "br", "line", "circle"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        self.count[tag] = self.count.get(tag, 0) + 1

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


RESULTS = {
    "preference": lambda: irl.compare(QRELS, winner()),
    "measures": lambda: irl.compare(QRELS, winner(), ["AP", "LR"]),
    "one run": lambda: irl.benchmark(QRELS, {"best": winner()["best"]}, ["AP"]),
    "suite": lambda: irl.benchmark(
        {"one": QRELS, "two": QRELS},
        {"one": winner(), "two": winner()},
        ["AP"],
        test=irl.SignificanceTest(n_resamples=99),
    ),
}


@pytest.mark.sparse
@pytest.mark.parametrize("name", RESULTS)
def test_a_notebook_shows_a_table_and_a_picture(name: str) -> None:
    mpl = pytest.importorskip("matplotlib")
    pyplot = pytest.importorskip("matplotlib.pyplot")
    before = (pyplot.get_fignums(), dict(mpl.rcParams), mpl.get_backend())
    result = RESULTS[name]()
    page = result._repr_html_()
    tags = Tags(page)
    assert tags.open == []
    assert tags.count["table"] == 1
    assert tags.count["img"] == 1
    assert "script" not in tags.count
    assert (pyplot.get_fignums(), dict(mpl.rcParams), mpl.get_backend()) == before
    first = result.summary(full=True).splitlines()[0]
    assert first in unescape(page)


def test_long_tables_are_cut_and_the_rest_is_counted() -> None:
    runs = {f"run{number:02}": winner()["best"] for number in range(26)}
    page = irl.compare(QRELS, runs)._repr_html_()
    assert page.count("<tr>") == 2 + 10
    assert "16 more rows" in page


def test_without_matplotlib_there_is_no_picture(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "matplotlib", None)
    page = irl.compare(QRELS, winner())._repr_html_()
    assert "<img" not in page
    assert "<table" in page


def test_captions_say_what_a_column_of_preferences_is() -> None:
    result = irl.compare(demo.qrels(), demo.runs(), ["AP", "lexirecall", "rpp"])
    shown = " ".join(result.to_latex().split())
    wins = "lexirecall: (wins - losses) / queries with relevant documents, mean over all other runs."
    share = "rpp: preference from -1 to 1 on queries with relevant documents, mean over all other runs."
    assert wins in shown
    assert share in shown
    means = result.means().set_index(["criterion", "run"])["mean"]
    against = result.table("lexirecall").query(
        "run_a == 'overlap' or run_b == 'overlap'"
    )
    sign = np.where(against["run_a"] == "overlap", 1, -1)
    queries = against[["wins", "losses", "ties"]].sum(axis=1)
    assert means["lexirecall", "overlap"] == pytest.approx(
        (sign * (against["wins"] - against["losses"]) / queries).mean()
    )


@pytest.mark.parametrize(
    ("n_ranked", "verb"), [(3, "has no ranking"), (7, "returns nothing")]
)
def test_missing_rankings_are_not_called_shallow(n_ranked: int, verb: str) -> None:
    """Depths, and shares of shallow rankings, are those of the rankings that exist."""
    qrels = {f"q{i}": {"r1": 1, "r2": 1} for i in range(10)}
    whole = {query: {"r1": 2.0, "r2": 1.0} for query in qrels}
    part = {f"q{i}": {"r1": 2.0} for i in range(n_ranked)}
    summary = irl.compare(qrels, {"whole": whole, "part": part}, "AP").summary(
        full=True
    )
    assert f"part {verb} for {10 - n_ranked} of 10 queries." in summary
    assert (
        f"part: {n_ranked} of {n_ranked} rankings are shallow (median depth 1) and"
        in summary
    )
    assert "median depth 0" not in summary


def test_the_legend_names_every_pairwise_preference() -> None:
    result = irl.compare(demo.qrels(), demo.runs(), ["rpp", "invrpp"])
    legend = " ".join(result.summary().split())
    assert (
        "rpp and invrpp: mean preference from -1 to 1, against all other runs" in legend
    )


def test_a_bound_that_excludes_the_margin_only_before_correction_says_so() -> None:
    rng = np.random.default_rng(3)
    queries = [f"q{number}" for number in range(60)]
    runs = {"base": np.full(60, 0.5)} | {
        run: 0.5 + rng.normal(0, 0.065, 60) for run in "abcd"
    }
    values = {
        run: {query: {"AP": float(x)} for query, x in zip(queries, of_run, strict=True)}
        for run, of_run in runs.items()
    }
    result = irl.compare(values=values, baseline="base", margin=0.02)
    words = " ".join(result.summary(full=True).split())
    table = result.table()
    undecided = table[table["verdict"] == "undecided"]
    is_within = undecided["bound_low"] > -0.02
    assert is_within.any()
    assert words.count("before correction") == is_within.sum()
    assert words.count("undecided: may lose up to") == (~is_within).sum()
    assert "bounds: one-sided 95%, uncorrected: each run by itself" in words


@pytest.mark.parametrize("same", [True, False])
def test_groups_that_are_the_units_are_what_a_sample_may_miss(same: bool) -> None:
    """Ten groups of five queries are ten units: they may miss 26% of groups, not 6% of queries."""
    x = np.tile([0.12, -0.08], 25) * (not same)
    values = {
        "a": {f"q{q}": {"acc": 0.5} for q in range(50)},
        "b": {f"q{q}": {"acc": 0.5 + d} for q, d in enumerate(x.tolist())},
    }
    result = irl.compare(
        values=values,
        margin=0.1,
        groups={f"q{q}": f"g{q % 10}" for q in range(50)},
        test=irl.SignificanceTest(cluster=True, progress=False),
        baseline="a",
    )
    text = " ".join(result.summary(full=True).split())
    if same:
        assert "up to 26% of such groups may differ" in text
    else:
        assert "10 groups may miss losses on fewer than 26% of groups" in text


@pytest.mark.parametrize("differing", [4, 6, 12])
def test_what_queries_can_show_is_not_said_where_too_few_differ(differing: int) -> None:
    """Of 93 queries with 6 that differ, only 0.56 of samples have the 6 that a p of 0.05 asks for."""
    x = np.zeros(93)
    x[:differing] = np.resize([0.1, -0.12, 0.09, -0.11], differing)
    values = {
        "a": {f"q{q}": {"acc": 0.5 + d} for q, d in enumerate(x.tolist())},
        "b": {f"q{q}": {"acc": 0.5} for q in range(93)},
    }
    result = irl.compare(values=values)
    (difference,) = result.detectable()["difference"]
    assert np.isfinite(difference) == (differing == 12)
    words = " ".join(result.summary(full=True).split())
    assert ("can show a difference of" in words) == (differing == 12)
    assert ("unresolvable" in words) == (differing == 4)
    if differing == 12:
        assert result.queries_needed(difference * 1.0001)["queries"][0] == 93


@pytest.mark.parametrize("gap", [0.0, 0.0001, 0.0005, 0.001, 0.0015, 0.002, 0.004])
def test_the_smallest_p_of_a_benchmark_is_that_of_its_table(gap: float) -> None:
    """It was rounded down, and the table's was not: 0.069 beside 0.070."""
    x = np.array([0.01, -0.01, 0.02, -0.02, 0.03, -0.03, 0.015, -0.015])
    rng = np.random.default_rng(0)
    scores = {"base": np.full(8, 0.5), "a": 0.5 + x + gap}
    scores["b"] = 0.5 + rng.normal(0, 0.02, 8)
    rows = [
        (f"t{task}", run, float(score))
        for run, of_run in scores.items()
        for task, score in enumerate(of_run)
    ]
    frame = pd.DataFrame(rows, columns=["task", "run", "score"])
    result = irl.benchmark(values=frame, baseline="base")
    shown = format_p(result.overall()["p_corrected"].min())
    text = str(result)
    words = " ".join(text.split())
    assert f"no significant difference from base, smallest p = {shown} (" in words
    in_table = re.findall(r"^[ab] .*", text, re.MULTILINE)
    assert any(shown in row for row in in_table)


def test_a_summary_says_where_too_few_queries_differ_to_show_anything() -> None:
    rng = np.random.default_rng(4)
    base = rng.uniform(0.2, 0.8, 40)
    near = base.copy()
    near[:3] += 0.05  # no exchange of three signs gives a p of at most 0.05
    values = {"base": base, "near": near, "far": base + rng.normal(0, 0.1, 40)}
    runs = {
        name: pd.DataFrame({"query_id": [f"q{i}" for i in range(40)], "m": x})
        for name, x in values.items()
    }
    both = irl.compare(values=runs, baseline="base")
    shown = " ".join(both.summary().split())
    assert "these queries can show a difference of 0.0" in shown
    assert "more queries are needed: some runs differ on too few of these" in shown
    del runs["far"]
    alone = " ".join(irl.compare(values=runs, baseline="base").summary().split())
    assert "can show a difference" not in alone
    assert "more queries are needed: the runs differ on too few of these" in alone


def values_of_two(base: np.ndarray, gains: np.ndarray) -> dict[str, dict[str, float]]:
    """Values of two runs by query, of which the branch gains so much."""
    return {
        name: {f"q{i}": float(x) for i, x in enumerate(of_run)}
        for name, of_run in (("main", base), ("branch", base + gains))
    }


SOME_LOSS = np.array([-12, -15, -11, -18, -13, -16, -14, -12, -17, 20]) / 100
"""Skewed: Student's p of no loss is 0.007, that corrected for skewness 0.3."""


def test_a_loss_that_one_sided_tests_do_not_show_is_said() -> None:
    values = values_of_two(np.full(10, 0.5), SOME_LOSS)
    expected = (
        r"branch is worse two-sided \(p = 0\.0\d+\), but not one-sided \(p = 0\.\d+\), as few "
        "queries may lack rare gains"
    )
    gated = irl.gate(values=values, baseline="main", candidate="branch")
    assert gated.outcome == "passed"
    with_margin = irl.compare(values=values, baseline="main", margin=0.01)
    for text in (str(gated), with_margin.summary(full=True)):
        assert re.search(expected, " ".join(text.split()))
    without = irl.compare(values=values, baseline="main").summary(full=True)
    assert "one-sided" not in without


@pytest.mark.parametrize("n_queries", [10, 11, 12])
def test_a_large_loss_on_most_queries_is_worse_although_it_is_skewed(
    n_queries: int,
) -> None:
    """All but two queries lose 0.7: Student's p is 0.0001, corrected for skewness it was 0.09."""
    rng = np.random.default_rng(0)
    gains = rng.normal(-0.7, 0.02, n_queries)
    gains[-2:] = 0.0
    values = values_of_two(np.full(n_queries, 0.8), gains)
    gated = irl.gate(values=values, baseline="main", candidate="branch")
    assert gated.outcome == "worse"
    assert "two-sided" not in str(gated)


def test_a_summary_of_few_queries_does_not_say_that_runs_hardly_differ() -> None:
    values = {
        "a": {f"q{i}": x for i, x in enumerate([0.1, 0.2, 0.3, 0.4])},
        "b": {f"q{i}": x for i, x in enumerate([0.2, 0.3, 0.2, 0.6])},
    }
    shown = irl.compare(values=values).summary()
    assert "more queries are needed" in shown
    assert "differ on too few" not in shown


# -- rounding --------------------------------------------------------------------------------------


@pytest.mark.parametrize("test", ["t", "bootstrap", "randomisation"])
@pytest.mark.parametrize("scale", [1.0, 100.0, 1 / 3])
def test_a_difference_of_rounding_is_printed_as_0(test: str, scale: float) -> None:
    """The mean of gains and losses that balance was +3.5e-18."""
    x = np.array([0.3, -0.1, 0.2, -0.3, 0.1, -0.2, 0.3, 0.1, -0.4, 0.0])
    base = np.array([0.1, 0.9, 0.4, 0.8, 0.3, 0.7, 0.2, 0.6, 0.5, 0.9])
    for order in range(20):
        gains = np.random.default_rng(order).permutation(x)
        runs = {"a": scale * base, "b": scale * (base + gains)}
        values = {
            run: {f"q{q}": {"score": float(v)} for q, v in enumerate(of_run)}
            for run, of_run in runs.items()
        }
        chosen = irl.SignificanceTest(test, n_resamples=199, progress=False)
        result = irl.compare(values=values, test=chosen)
        row = result.table().iloc[0]
        assert (row["difference"], row["estimate"]) == (0.0, 0.0)
        assert not re.search(r"\de-1\d", str(result) + result.to_markdown())


def test_repeats_that_vary_by_rounding_are_said_not_to_vary() -> None:
    rows = [
        (run, f"q{q}", seed, q / 10 + 0.1 * (run == "b") + 0.1 * seed)
        for run in "ab"
        for seed in range(3)
        for q in range(10)
    ]
    frame = pd.DataFrame(rows, columns=["run", "query_id", "seed", "score"])
    words = irl.compare(values=frame, repeats="samples").summary(full=True)
    assert "new samples of the same by too little to be seen if" in " ".join(
        words.split()
    )


# -- what is said of verdicts under a margin ---------------------------------------------------------


def with_margin(n_rivals: int, loss: float, spread: float, n: int = 60) -> Any:
    """Runs that lose a little, beside a baseline ``old``, with a margin of 0.01."""
    rng = np.random.default_rng(0)
    old = rng.uniform(0.3, 0.7, n)
    values = {"old": old}
    for number in range(n_rivals):
        values[f"new{number}"] = old - loss + rng.normal(0, spread, n)
    return {
        run: {f"q{q:03}": {"AP": float(value)} for q, value in enumerate(x)}
        for run, x in values.items()
    }


@pytest.mark.parametrize("n_rivals", [1, 14])
@pytest.mark.parametrize(
    ("verdict", "loss", "spread"),
    [
        ("not worse", -0.003, 0.025),
        ("within margin", 0.0, 0.01),
        ("worse", 0.006, 0.005),
    ],
)
def test_whoever_says_that_no_loss_reaches_the_margin_says_what_queries_may_miss(
    n_rivals: int, verdict: str, loss: float, spread: float, tmp_path: Path
) -> None:
    """On 60 queries, a loss on 4.9% of all queries may be missed, which 0.21 there costs."""
    values = with_margin(n_rivals, loss, spread)
    result = irl.compare(values=values, margin=0.01, baseline="old")
    assert verdict in set(result.table()["verdict"])
    gate = irl.gate(None, "old", "new0", values=values, margin=0.01)
    doors = [
        result.summary(full=True),
        result._repr_html_(),
        result.to_markdown(columns="differences"),
        result.to_latex(columns="differences"),
        " ".join(result.diagnostics),
        gate_text(gate),
        gate_text(gate, markdown=False),
        gate_json(gate),
        criterion_facts(gate)["AP"],
    ]
    if importlib.util.find_spec("jinja2"):
        page = irl.report(result, tmp_path / "report.html").read_text(encoding="utf-8")
        assert page.count("may miss losses") == 1
        doors.append(page)
    for door in doors:
        words = " ".join(door.replace("\\", "").split())
        assert "60 queries may miss losses on fewer than 4.9% of queries" in words
    assert "60 queries may miss losses on" in str(result)


def test_a_loss_that_is_smaller_than_the_margin_is_worse_by_less() -> None:
    values = with_margin(1, 0.006, 0.005)
    result = irl.compare(values=values, margin=0.01, baseline="old")
    row = result.table().iloc[0]
    assert row["verdict"] == "worse"
    assert -0.01 < row["bound_low"] < row["bound_high"] < 0
    bound = f"loses at least {-row['bound_high']:.2g}, but less than 0.01"
    assert bound in " ".join(str(result).split())
    assert bound in result.to_markdown(columns="differences")
    gate = irl.gate(values=values, margin=0.01)
    assert "worse than old by AP (less than 0.01)" in gate_text(gate)
    assert f">= {-row['bound_high']:.2g}, < 0.01" in gate_text(gate, markdown=False)
    large = irl.gate(values=with_margin(1, 0.05, 0.005), margin=0.01)
    assert "less than" not in gate_text(large)


def test_a_legend_names_the_tests_and_families_of_several_criteria() -> None:
    """A screen of five runs has room for the short legend only."""
    result = irl.compare(
        demo.qrels(),
        demo.runs(),
        ["nDCG@10", "lexirecall"],
        baseline="bm25",
        margin=0.05,
    )
    words = " ".join(str(result).split())
    assert "t-test for nDCG@10, sign test for lexirecall, one-sided except" in words
    assert "Holm over 8 for worse and better, over 4 per criterion for others" in words


@pytest.mark.parametrize("level", [False, True])
def test_marks_of_a_benchmark_are_explained_where_they_stand(level: bool) -> None:
    rng = np.random.default_rng(0)
    values = {}
    for collection in "xyz":
        base = rng.uniform(0.4, 0.6, 40)
        runs = {"a": base, "b": base if level else base - 0.1, "c": base}
        if not level:
            runs["c"] = base - 0.2
        values[collection] = {
            run: {f"{collection}{q}": {"AP": float(v)} for q, v in enumerate(x)}
            for run, x in runs.items()
        }
    words = str(irl.benchmark(values=values))
    assert "may be the best" not in words
    assert ("* best mean" in words) == (not level)


# -- benchmarks beside comparisons -----------------------------------------------------------------


def two_collections(*, lost: bool = False) -> dict[str, Any]:
    """Values on two collections: ``twin`` gains on 5 queries of the first, on none of the second.

    ``lost``: on the second one, it loses on 9 of 10 queries instead, and gains on one.
    """
    rng = np.random.default_rng(0)
    collections = {}
    for name, n_queries in (("first", 45), ("second", 10 if lost else 48)):
        base = rng.uniform(0.35, 0.65, n_queries)
        twin = base.copy()
        if name == "first":
            twin[:5] += rng.uniform(0.1, 0.12, 5)
        elif lost:
            twin += SOME_LOSS
        low = base - rng.uniform(0.05, 0.15, n_queries)
        collections[name] = {
            run: {f"{name}{q}": {"score": float(v)} for q, v in enumerate(x)}
            for run, x in (("twin", twin), ("run", base), ("low", low))
        }
    return collections


@pytest.mark.parametrize("baseline", ["run", "twin", "low"])
def test_a_benchmark_says_that_a_run_that_is_left_out_need_not_be_worse(
    baseline: str,
) -> None:
    """By 5 differing queries, p is 0.06 at least, and the best set leaves the run out by 0.03."""
    result = irl.benchmark(values=two_collections(), baseline=baseline)
    best = result.best_set().set_index("run")["may_be_best"]
    assert best.to_dict() == {"twin": True, "run": False, "low": False}
    said = "a run without a mark need not be significantly worse than the leader"
    assert (said in " ".join(str(result).split())) == (baseline != "low")


def test_a_benchmark_with_a_margin_names_identical_runs_and_hidden_losses() -> None:
    for lost, sentence in (
        (
            False,
            "second: score, twin and run: identical on all 48 queries, which does not",
        ),
        (True, "second: score, twin and run: twin is worse two-sided (p = 0.0"),
    ):
        values = two_collections(lost=lost)
        result = irl.benchmark(values=values, baseline="run", margin=0.02)
        assert any(note.startswith(sentence) for note in result.diagnostics)
        assert sentence.partition(":")[2] in " ".join(result.summary(full=True).split())
        plain = irl.benchmark(values=values, baseline="run")
        assert not any(note.startswith(sentence) for note in plain.diagnostics)


@pytest.mark.parametrize(
    ("criteria", "is_shallow"),
    [
        ("nDCG@10", False),
        (["P@5", "RR@10"], False),
        (["nDCG@10", "AP"], True),
        (["nDCG@10", "lexirecall"], True),
        ("nDCG@20", True),
        ("lexirecall@10", False),
    ],
)
def test_rankings_as_deep_as_every_cutoff_are_not_shallow(
    criteria: Any, is_shallow: bool
) -> None:
    qrels = {f"q{i}": {f"r{n}": 1 for n in range(15)} for i in range(4)}
    runs = {
        name: {query: {f"r{n}": -n * sign for n in range(10)} for query in qrels}
        for name, sign in (("a", 1.0), ("b", -1.0))
    }
    summary = irl.compare(qrels, runs, criteria).summary(full=True)
    assert ("hallow" in summary) == is_shallow


def test_a_benchmark_says_that_a_margin_is_of_single_collections() -> None:
    said = "; the margin is for single collections, not for these means)"
    with_margin = irl.benchmark(values=two_collections(), baseline="run", margin=0.02)
    assert said in " ".join(str(with_margin).split())
    without = irl.benchmark(values=two_collections(), baseline="run")
    assert "margin" not in str(without)


@pytest.mark.parametrize("margin", [None, 0.005])
@pytest.mark.parametrize("baseline", [0.5, 0.51])
@pytest.mark.parametrize("name", ["AP", "latency"])
@pytest.mark.parametrize("test", ["t", "tukey", "wilcoxon", "bootstrap"])
def test_an_end_that_is_zero_has_no_sign(
    test: str, name: str, baseline: float, margin: float | None
) -> None:
    """Five equal gains leave 0 as one end; the worse run's row is turned."""
    runs = {
        run: {f"q{q}": {name: value} for q in range(5)}
        for run, value in (("old", baseline), ("new", 1.01 - baseline))
    }
    result = irl.compare(
        values=runs,
        baseline=None if margin is None else "old",
        margin=margin,
        test=irl.SignificanceTest(test, n_resamples=999, progress=False),
    )
    for printed in (str(result), result.to_latex()):
        assert not re.search(r"-0\.0+(?![0-9.]|e-)", printed)
    numbers = result.table().select_dtypes("number").to_numpy()
    assert not np.any(np.signbit(numbers) & (numbers == 0))
