"""What sentences, caveats, pictures and pages say of unjudged documents: what every judging says."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import ir_measures
import numpy as np
import pytest
from hypothesis import given

import ir_lexirecall
import ir_lexirecall as irl
from ir_lexirecall import compare, demo
from ir_lexirecall.comparison import Comparison
from ir_lexirecall.data.judgments import load
from ir_lexirecall.present.comparisons import _the_difference
from ir_lexirecall.present.standings import standings_of
from ir_lexirecall.significance import SignificanceTest
from ir_lexirecall.significance.closed_form import sign_test
from tests.judging.every_judging import EveryJudging, Small, comparable_collections

PREFERENCES = ["lexirecall", "lexiprecision", "rpp"]
QRELS = {f"q{i}": {"a": 1, "b": 0} for i in range(8)}
GOOD = {q: {"a": 3.0, "u": 2.0, "b": 1.0} for q in QRELS}
BAD = {q: {"v": 3.0, "w": 2.0, "a": 1.0} for q in QRELS}


def top_grade(small: Small) -> int:
    return max(
        1, max(grade for grades in small.qrels.values() for grade in grades.values())
    )


def looked_at(small: Small, depth: int = 100) -> Small:
    """Return the collection with all documents down to this depth open, of grades that it has."""
    return Small(small.qrels, small.rankings, top_grade(small), depth, 0)


def judgings_at_depths(small: Small, names: list[str]) -> dict[str, EveryJudging]:
    """Return every judging down to the depth at which each criterion is looked at."""
    depth_of = {
        name: ir_measures.parse_measure(name)["cutoff"] if "@" in name else 100
        for name in names
    }
    every = {
        depth: EveryJudging(looked_at(small, depth))
        for depth in sorted({*depth_of.values()})
    }
    return {name: every[depth] for name, depth in depth_of.items()}


def differences(every: EveryJudging, name: str) -> dict[str, np.ndarray]:
    """Return what a gains on b under every judging, by query: of values, or preferences."""
    if "@" not in name:
        return every.preferences(name)
    return {
        q: a - b for q, (a, b) in every.values(ir_measures.parse_measure(name)).items()
    }


@pytest.mark.slow
@given(small=comparable_collections())
def test_what_is_open_is_where_either_run_can_win(small: Small) -> None:
    names = ["lexirecall", "lexiprecision", "P@3", "nDCG@3", "RR@4", "R@2"]
    every = judgings_at_depths(small, names)
    result = compare(small.qrels, small.runs, names, allow_empty=True)
    for name in names:
        left = result.missing.undecided(name)
        criterion = result.compared.by[name]
        if left is None:
            deep = looked_at(small)
            assert not criterion.query_ids or not any(
                deep.open_docs(q) for q in deep.qrels
            )
            continue
        assert left.query_ids == list(small.qrels), name
        for q, gains in differences(every[name], name).items():
            wins, loses = (gains > 1e-12).any(), (gains < -1e-12).any()
            unknown = not criterion.is_measure and max(small.qrels[q].values()) < 1
            assert left.is_open[0, left.query_ids.index(q)] == (
                (wins or loses) if unknown else (wins and loses)
            ), name


@pytest.mark.slow
@given(small=comparable_collections())
def test_every_query_on_which_some_judging_makes_a_winner_counts(small: Small) -> None:
    """Also those without a known relevant document; and what there is to judge on them is asked for."""
    names = [
        "lexirecall",
        "lexiprecision",
        "rrlexiprecision",
        "rpp",
        "invrpp",
        "dcgrpp",
    ]
    nothing = {
        q: {doc: min(grade, 0) for doc, grade in small.qrels[q].items()}
        for q in list(small.qrels)[1:]
    }
    deep = Small({**small.qrels, **nothing}, small.rankings, small.max_rel, 100, 0)
    every = EveryJudging(deep)
    result = compare(deep.qrels, deep.runs, names, allow_empty=True)
    bounds = result.bounds().set_index("criterion")
    for name in names:
        asked = set(result.to_judge(999, by=name)["query_id"])
        counts = dict.fromkeys(
            ["certain_wins", "certain_losses", "open", "certain_ties"], 0
        )
        for q, preferences in every.preferences(name).items():
            wins, loses = (preferences > 0).any(), (preferences < 0).any()
            unknown = max(deep.qrels[q].values()) < 1 and (wins or loses)
            assert q in asked or not unknown, name
            sure = (
                "certain_wins"
                if wins
                else "certain_losses"
                if loses
                else "certain_ties"
            )
            counts["open" if unknown or (wins and loses) else sure] += 1
        assert {kind: bounds.loc[name, kind] for kind in counts} == counts, name


@pytest.mark.slow
@given(
    small=comparable_collections(most_open=3).filter(
        lambda small: max(max(grades.values()) for grades in small.qrels.values()) > 0
    )
)
def test_the_sign_test_of_every_judging_is_held_by_the_outer_interval(
    small: Small,
) -> None:
    names = ["lexirecall", "lexiprecision", "rpp", "RR@4"]
    every = judgings_at_depths(small, names)
    result = compare(small.qrels, small.runs, names, test="sign", allow_empty=True)
    for name in names:
        left = result.missing.undecided(name)
        if left is None:
            continue
        outcomes = product(
            *(
                np.unique(np.sign(gains))
                for gains in differences(every[name], name).values()
            )
        )
        tests = sign_test(np.array(list(outcomes)), 0.05)
        assert left.outer is not None
        ends = [left.low[0], left.high[0], left.outer[0][0], left.outer[1][0]]
        known = [
            tests.estimate.min(),
            tests.estimate.max(),
            tests.low.min(),
            tests.high.max(),
        ]
        if name == "rpp":  # a tie may be too much
            assert (np.array([1, -1, 1, -1]) * (np.array(ends) - known) <= 1e-12).all()
        else:
            np.testing.assert_allclose(ends, known, atol=1e-12, err_msg=name)


def test_wins_that_could_become_ties_are_no_certain_difference() -> None:
    qrels = {f"q{i}": {"a": 1, "b": 0} for i in range(8)}
    runs = {"x": {q: {"a": 2.0} for q in qrels}, "y": {q: {"u": 2.0} for q in qrels}}
    result = compare(qrels, runs, "lexirecall", allow_empty=True)
    left = result.missing.undecided("lexirecall")
    assert left is not None
    assert not left.is_open.any()
    assert (left.low, left.high) == (0, 1)
    assert any(
        "unjudged documents could undo it" in note for note in result.diagnostics
    )
    sure = compare(
        qrels, {**runs, "y": {q: {"b": 2.0, "u": 1.0} for q in qrels}}, "lexiprecision"
    )
    assert not sure.missing.undecided("lexiprecision").holds_zero.any()


@pytest.mark.filterwarnings("ignore:run '.' retrieves nothing")
@pytest.mark.parametrize(
    "names",
    [
        pytest.param(["lexirecall", "AP@4"], id="some"),
        pytest.param(
            [*PREFERENCES, "P@3", "nDCG@3", "AP@4", "RR@4", "LR@3", "TSE@4"],
            id="all",
            marks=pytest.mark.slow,
        ),
    ],
)
@given(small=comparable_collections(most_open=3))
def test_what_holds_has_its_sign_under_every_judging_and_what_could_be_undone_is_undone_by_some(
    names: list[str], small: Small
) -> None:
    every = judgings_at_depths(small, names)
    gains_of = {name: [*differences(every[name], name).values()] for name in names}
    for test in ("t", "sign", "wilcoxon"):
        result = compare(small.qrels, small.runs, names, test=test, allow_empty=True)
        for name in names:
            check_what_holds(result, name, gains_of[name])


def check_what_holds(result: Comparison, name: str, gains: list[np.ndarray]) -> None:
    """Check what is said to hold against the gains under every judging, by query."""
    depth, (word,) = result.missing.holds(name)
    assert (depth is None) <= (word == "not bounded"), name
    criterion, test = result.compared.by[name], result.compared.test.name
    if not criterion.query_ids or not np.isfinite(
        estimate := result.table(name)["estimate"].iloc[0]
    ):
        return
    if (
        not criterion.is_measure
    ):  # a query takes part where a relevant document is known
        gains = [np.sign(x) for x in gains]
        if len(criterion.query_ids) < len(gains):
            return
    ends = [sum(end(x) for x in gains) for end in (np.min, np.max)]
    if test == "sign":
        ends = [
            sum(np.sign(end(np.where(np.abs(x) < 1e-12, 0, x))) for x in gains)
            for end in (np.min, np.max)
        ]
    if test != "wilcoxon" and word == "under any judging":
        assert (
            ends[0] > 1e-12
            or ends[1] < -1e-12
            or ends[0] == ends[1] == 0
            or abs(estimate) < 1e-12
        ), name
    if word == "could be undone":
        assert ends[0] <= 1e-12, name
        assert ends[1] >= -1e-12, name


def test_the_only_difference_that_might_be_undone_names_its_runs() -> None:
    sure = {q: {"b": 1.0} for q in QRELS}
    runs = {"good": GOOD, "bad": BAD, "sure": sure}
    result = compare(QRELS, runs, "P@1")
    unsure = [{"good", "bad"}]
    text = " ".join(result.summary(full=True).split())
    undone = "unjudged documents of the top 1 might undo 1 of 2 significant differences"
    assert f"{undone}, that between good and bad" in text
    (standing,) = standings_of(result)
    assert standing.unsure == unsure
    only = SimpleNamespace(
        runs=standing.runs, unsure=unsure, verdicts=SimpleNamespace(decided=1)
    )
    said = _the_difference(cast(Any, only), "")
    assert said == "the only significant difference, that between good and bad"


def test_verdicts_and_tables_say_which_differences_hold() -> None:
    sure = {q: {"b": 1.0} for q in QRELS}
    result = compare(QRELS, {"good": GOOD, "bad": BAD, "sure": sure}, ["P@1", "Bpref"])
    table = result.verdicts(holds=True)
    assert table["holds"].tolist()[:3] == ["could be undone", "under any judging", None]
    assert table["holds"].tolist()[3:] == [None, "not bounded", "could be undone"]
    assert table["depth"].tolist()[:3] == [1] * 3
    page = result.summary(full=True)
    shares = "1 of 2 differences by P@1 and 1 of 2 by Bpref"
    documents = "unjudged documents of the top 1 (P@1) and the top 100 (Bpref)"
    assert f"{documents} might undo {shares}" in page
    # Nothing is known of good and sure.
    assert "What unjudged documents could change is not bounded by Bpref." in page
    assert "textdagger" in result.to_latex(holds=True)
    assert "†" in result.to_markdown(holds=True)
    assert "†" not in result.to_markdown() + result.to_latex()
    against = compare(
        QRELS, {"good": GOOD, "bad": BAD, "sure": sure}, "P@1", baseline="good"
    )
    assert [
        against.to_latex(holds=True).count(sign)
        for sign in ("$^{-\\dagger}$", "$^{-}$")
    ] == [
        1,
        1,
    ]
    judged = compare(
        {q: {**g, "u": 0, "v": 0, "w": 0} for q, g in QRELS.items()},
        {"good": GOOD, "bad": BAD},
        "Bpref",
    )
    assert judged.verdicts(holds=True)["holds"].isin(["under any judging", None]).all()


def test_a_summary_says_where_nothing_is_bounded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runs = {"good": GOOD, "bad": BAD, "sure": {q: {"b": 1.0} for q in QRELS}}
    with monkeypatch.context() as patch:
        patch.setattr("ir_lexirecall.comparison.missing_judgments._MOST_TRIED", 0)
        by_rank = compare(QRELS, runs, "P@1", test="wilcoxon")
        page, table = by_rank.summary(full=True), by_rank.to_markdown(holds=True)
    effects = "bounds on what unjudged documents could change"
    assert f"There are no {effects}, for the Wilcoxon signed-rank test." in page
    assert "keep their sign" not in page
    assert "\u2020" not in table
    assert "What unjudged documents could change is not bounded by P@1." in table
    for limit, name in (("_MOST_SHARED", "lexirecall"), ("_MOST_APART", "P@1")):
        with monkeypatch.context() as patch:
            patch.setattr(f"ir_lexirecall.comparison.missing_judgments.{limit}", 0)
            result = compare(QRELS, runs, ["lexirecall", "P@1"])
            said = result.summary(full=True)
            assert [result.missing.too_many(by) for by in result.criteria] == [
                by == name for by in result.criteria
            ]
            assert (
                f"Bounds by {name} on what unjudged documents could change were left out: 3"
                in said
            )
            assert set(result.verdicts(name, holds=True)["holds"]) <= {
                "not bounded",
                None,
            }
        assert "were left out" not in compare(
            QRELS, runs, ["lexirecall", "P@1"]
        ).summary(full=True)


@pytest.mark.parametrize("markdown", [True, False])
def test_a_difference_without_bounds_has_a_sentence(markdown: bool) -> None:
    """The same that a table for papers has, once for all criteria, and nothing of values."""
    two = {name: demo.run(name) for name in ("bm25", "overlap")}
    sentence = "What unjudged documents could change is not bounded by"
    for by, names in (
        ("Rprec", "Rprec"),
        (["Rprec", "AP"], "Rprec"),
        (["Rprec", "AP", "dominance"], "Rprec and dominance"),
    ):
        result = compare(demo.qrels(), two, by)
        assert "not bounded" in set(result.verdicts(holds=True)["holds"])
        if markdown:
            said = result.to_markdown(holds=True)
        else:
            said = " ".join(result.summary(full=True).split())
        assert said.count(sentence) == 1
        assert f"{sentence} {names}." in said
    bounded = compare(demo.qrels(), two, "AP").summary(full=True)
    level = compare(demo.qrels(), {n: demo.run(n) for n in ("bm25", "ql")}, "Rprec")
    values = {
        run: {f"q{i}": {"Rprec": value + i / 100} for i in range(8)}
        for run, value in (("better", 0.5), ("worse", 0.2 - 0.001))
    }
    alone = compare(values=values)
    assert alone.table()["verdict"].tolist() == ["better"]
    for summary in (bounded, level.summary(full=True), alone.summary(full=True)):
        assert sentence not in " ".join(summary.split())


def test_a_query_that_only_one_run_can_win_need_not_take_part_in_a_mean() -> None:
    """Without a relevant document it does not, so that the other run's lead stays what it is."""
    judged = {"a": 1, "b": 0}
    qrels = {"first": judged, "second": {"n": 0}, "third": judged}
    worse, better = {"b": 2.0, "a": 1.0}, {"a": 2.0, "b": 1.0}
    runs = {
        "loses": {"first": worse, "second": {"x": 1.0}, "third": worse},
        "wins": {"first": better, "second": {"n": 1.0}, "third": better},
    }
    means = []
    for grade in (0, 1):
        judging = qrels | {"second": {"n": 0, "x": grade}}
        means.append(compare(judging, runs, "lexirecall").table()["difference"].item())
    assert means == [pytest.approx(-1), pytest.approx(-1 / 3)]
    for names, ends in ((["loses", "wins"], means), (["wins", "loses"], [1 / 3, 1])):
        undecided = compare(
            qrels, {name: runs[name] for name in names}, "lexirecall", test="t"
        ).missing.undecided("lexirecall")
        assert [undecided.low.item(), undecided.high.item()] == pytest.approx(ends)


def test_no_bound_is_minus_nought_or_rounding() -> None:
    runs = {
        "good": GOOD,
        "bad": BAD,
        "sure": {q: {"b": 1.0, "u": 0.5, "v": 0.2} for q in QRELS},
    }
    bounds = compare(QRELS, runs, ["Unjudged@3", "P@3", "RBP(p=0.3)"]).bounds()
    ends = bounds[["low", "high"]].to_numpy()
    of_one = irl.judgment_bounds(["Unjudged@3", "P@3"], QRELS, GOOD).to_numpy()
    for numbers in (ends, of_one):
        assert not np.signbit(numbers[numbers == 0]).any()
        assert (np.abs(numbers[numbers != 0]) > 1e-9).all()


@pytest.mark.slow
def test_the_page_has_what_is_open_between_robusts_runs_at_depth_100(data: Any) -> None:
    runs = {
        path.stem: path for path in sorted(Path(data.path("robust2003/runs")).iterdir())
    }
    result = compare(
        data.path("robust2003/qrels.txt.gz"), runs, ["lexirecall", "AP", "RR"]
    )
    bounds = result.bounds("lexirecall", depth=100)
    closed = len(result.query_ids) - bounds["open"].to_numpy()
    leaders = set(result.ranking("AP")["run"][:2])
    between = [set(pair) == leaders for pair in result.pairs]
    assert result.compared.scored is not None
    pool = result.compared.scored.pool(100)
    unjudged = np.sum(~pool.is_judged & pool.within(100)) / len(result.query_ids)
    cells = [f"{unjudged:.0f}", f"{closed.mean():.1f}", str(closed[between].item())]
    for name in result.criteria:
        left, verdicts = (
            result.missing.undecided(name),
            result.verdicts(name)["verdict"],
        )
        assert left is not None
        significant = verdicts.isin(["better", "worse"]).to_numpy()
        cells.append(f"{np.sum(significant & left.holds_zero)} of {significant.sum()}")
    page = (
        Path(ir_lexirecall.__file__).parent / "pt_docs" / "missing_judgments.rst"
    ).read_text()
    assert (
        re.findall("- (.+)", page.partition("   * - 100\n")[2].partition("   * -")[0])
        == cells
    )


def test_summaries_say_on_how_many_queries_either_run_could_win() -> None:
    two = compare(QRELS, {"good": GOOD, "bad": BAD}, ["lexirecall", "P@1"]).summary(
        full=True
    )
    assert (
        "Unjudged documents of the top 100 (lexirecall) and the top 1 (P@1) could let "
        "either run win on 8 of 8 queries by lexirecall and on 0 of 8 queries by P@1."
        in two
    )
    few = {name: demo.run(name) for name in ("bm25", "tfidf", "ql")}
    several = compare("lexirecall/demo", few, "lexirecall", baseline="ql")
    left = several.missing.undecided("lexirecall")
    assert left is not None
    number = left.is_open[several.pairs.index(("tfidf", "ql"))].sum()
    assert f"either of tfidf and ql win on {number} of 16 queries." in several.summary(
        full=True
    )


def test_ties_that_one_run_could_win_are_no_queries_that_either_could_win() -> None:
    queries = [f"q{i}" for i in range(30)]
    qrels = {q: {"r": 1, "n": 0, "x": 1} for q in queries}
    a = {q: {"r": 2.0} if q < "q2" else {"n": 1.0} for q in queries}
    b = {q: {"n": 2.0} if q < "q2" else {"u": 1.0} for q in queries}
    result = compare(qrels, {"a": a, "b": b}, "P@1")
    text = result.summary(full=True)
    assert "could let either run win on 0 of 30 queries." in text
    assert "They could undo the difference: depending on their grades" in text


def test_a_significant_difference_that_could_be_reversed_is_a_caveat() -> None:
    result = compare(QRELS, {"good": GOOD, "bad": BAD}, ["lexirecall", "RR", "P@1"])
    assert [row["verdict"] for row in result.verdicts().to_dict("records")] == [
        "better"
    ] * 3
    notes = [
        note
        for note in result.diagnostics
        if "unjudged documents could undo it" in note
    ]
    assert [note.partition(",")[0] for note in notes] == ["lexirecall", "RR", "P@1"]
    assert (
        "depending on their grades the difference is 0.0000 to 1.0000 (the top 1)."
        in notes[2]
    )


def test_predictions_do_not_mend_what_people_left_unjudged() -> None:
    queries = [f"q{i}" for i in range(16)]
    predicted = dict.fromkeys(queries, QRELS["q0"])
    people = dict.fromkeys(queries[:12], QRELS["q0"])
    runs = {
        "good": dict.fromkeys(queries, GOOD["q0"]),
        "bad": dict.fromkeys(queries, BAD["q0"]),
    }
    for result in (
        compare(people, runs, "RR"),
        compare(people, runs, "RR", predicted=predicted),
    ):
        assert result.verdicts()["verdict"].tolist() == ["better"]
        could = (
            "might" if result.compared.predicted else "could"
        )  # with predictions, no bound is known
        assert any(
            f"unjudged documents {could} undo it" in note for note in result.diagnostics
        )
        assert any(
            "12 queries judged by people" in note for note in result.diagnostics
        ) == bool(result.compared.predicted)
    left = result.missing.undecided("RR")
    assert left is not None
    assert left.outer is None


@pytest.mark.parametrize("test", ["t", "sign", "bootstrap", "wilcoxon", "tukey"])
def test_intervals_of_bounds_hold_those_of_the_table(test: str) -> None:
    test_of = SignificanceTest(test, n_resamples=199)
    sure = compare(
        QRELS,
        {"good": GOOD, "bad": {q: {"b": 1.0} for q in QRELS}},
        "P@1",
        test=test_of,
    )
    bounds, table = sure.bounds().iloc[0], sure.table().iloc[0]
    if test in ("sign", "wilcoxon"):  # these estimate something else
        table = sure.with_test("t").table().iloc[0]
    assert (bounds["low"], bounds["high"]) == (1, 1)
    assert (bounds["ci_low"], bounds["ci_high"]) == (table["ci_low"], table["ci_high"])
    many = compare(
        "lexirecall/demo", demo.runs(), ["nDCG@10", "AP", "P@5"], test=test_of
    )
    bounds, table = many.bounds(), many.table()
    if test in ("sign", "wilcoxon"):
        table = many.with_test("t").table()
    assert (
        (bounds["ci_low"] <= table["ci_low"]) & (bounds["ci_high"] >= table["ci_high"])
    ).all()
    for name in many.criteria if test not in ("wilcoxon", "tukey") else ():
        left, table = many.missing.undecided(name), many.table(name)
        assert left is not None
        assert left.outer is not None
        assert (
            (left.outer[0] <= table["ci_low"]) & (left.outer[1] >= table["ci_high"])
        ).all()


def known(result: Comparison) -> bool:
    return any(result.missing.undecided(name) is not None for name in result.criteria)


def test_nothing_is_said_where_nothing_is_known() -> None:
    runs = {"good": GOOD, "bad": BAD}
    assert known(compare(QRELS, runs, "AP"))
    assert not known(compare(QRELS, runs, ["Bpref", "dominance"]))
    assert not known(compare(load(QRELS, judged_only=True), runs, "AP"))
    everything = {
        q: {**dict.fromkeys("uvw", 0), **grades} for q, grades in QRELS.items()
    }
    result = compare(everything, runs, ["AP", "lexirecall"])
    assert not known(result)
    assert "unjudged" not in result.summary(full=True)
    assert result.missing.holds("AP") == (100, ["under any judging"])


@pytest.mark.parametrize("name", ["AP", "lexirecall"])
def test_forests_have_an_outer_interval(name: str) -> None:
    plt = pytest.importorskip("matplotlib.pyplot")
    result = compare("lexirecall/demo", demo.runs(), name, baseline="bm25")
    left = result.missing.undecided(name)
    assert left is not None
    assert left.outer is not None
    ax = result.plot("differences", name)
    thin = ax.collections[2].get_segments()
    place = {
        text.get_text(): int(y)
        for y, text in zip(ax.get_yticks(), ax.get_yticklabels(), strict=True)
    }
    for pair, low, high in zip(result.pairs, *left.outer, strict=True):
        np.testing.assert_allclose(thin[place[pair[0]]][:, 0], [low, high])
    assert "top 100" in ax.get_xlabel().replace("\n", " ")
    table = result.table()
    assert (left.outer[0] <= table["ci_low"] + 1e-9).all()
    assert (left.outer[1] >= table["ci_high"] - 1e-9).all()
    plt.close("all")


@pytest.mark.parametrize("name", ["rpp", "dcgrpp", "rrlexiprecision"])
def test_means_of_graded_preferences_are_not_bounded_by_who_wins(name: str) -> None:
    """Many narrow wins and few heavy losses: the mean may turn where wins do not."""
    narrow = {f"q{i}": {"a": 3.0, "b": 2.0, "u": 1.0} for i in range(40)}
    heavy = {
        q: {"u": 9.0, **docs} if int(q[1:]) < 26 else {"a": 8.0, "u": 1.0}
        for q, docs in narrow.items()
    }
    result = irl.compare(
        {q: {"a": 1, "b": 1} for q in narrow}, {"x": narrow, "y": heavy}, name, test="t"
    )
    assert set(result.verdicts(holds=True)["holds"]) <= {"not bounded"}
    assert not any("could undo" in note for note in result.diagnostics)
    by_sign = irl.compare(
        {q: {"a": 1, "b": 1} for q in narrow},
        {"x": narrow, "y": heavy},
        name,
        test="sign",
    )
    assert by_sign.missing.undecided(name).bounded


# -- documents to judge, where a difference could be undone ------------------------------------------


def a_collection(
    rng: np.random.Generator, judged_share: float = 0.5
) -> tuple[dict[str, dict[str, int]], dict[str, Any]]:
    """Return judgments, of a share of the documents, and two runs of a few queries."""
    qrels: dict[str, dict[str, int]] = {}
    runs: dict[str, Any] = {"a": {}, "b": {}}
    for i in range(int(rng.integers(2, 6))):
        docs = [f"d{j}" for j in range(5)]
        judged = {
            doc: int(rng.integers(0, 2)) for doc in docs if rng.random() < judged_share
        }
        qrels[f"q{i}"] = {"elsewhere": 1, **judged}
        for name, favours in (("a", 0.6), ("b", 0.3)):
            score = {
                doc: rng.random() + favours * judged.get(doc, 0)
                for doc in docs
                if rng.random() < 0.8
            }
            runs[name][f"q{i}"] = score or {"d0": 1.0}
    return qrels, runs


@pytest.mark.slow_except("lexirecall(cutoff=2)-sign")
@pytest.mark.parametrize("test", ["t", "sign"])
@pytest.mark.parametrize(
    "by",
    [
        "lexirecall(cutoff=2)",
        "lexirecall",
        "lexiprecision(cutoff=2)",
        "P@2",
        "RBP(p=0.5,rel=1)@3",
        "nDCG@2",
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_where_a_difference_could_be_undone_there_are_documents_to_judge(
    by: str, test: str
) -> None:
    rng, n_undone = np.random.default_rng(7), 0
    chosen = irl.SignificanceTest(test, alpha=0.9, n_resamples=99, progress=False)
    for _ in range(12):
        qrels, runs = a_collection(rng)
        result = irl.compare(qrels, runs, by, test=chosen, allow_empty=True)
        if result.verdicts(holds=True)["holds"].tolist() != ["could be undone"]:
            continue
        n_undone += 1
        table = result.to_judge(1000)
        assert len(table)
        for query_id, doc_id in zip(table["query_id"], table["doc_id"], strict=True):
            qrels[query_id][doc_id] = int(rng.integers(0, 2))
        judged = irl.compare(qrels, runs, by, test=chosen, allow_empty=True)
        assert judged.verdicts(holds=True)["holds"].tolist() != ["could be undone"]
    assert n_undone


@pytest.mark.parametrize("test", ["t", "sign"])
@pytest.mark.parametrize("by", ["rpp(cutoff=2)", "rpp(cutoff=3)", "rrlexiprecision"])
@pytest.mark.filterwarnings("ignore")
def test_where_a_preference_might_be_undone_there_are_documents_to_judge(
    by: str, test: str
) -> None:
    rng, n_unsure = np.random.default_rng(7), 0
    chosen = irl.SignificanceTest(test, alpha=0.9, n_resamples=99, progress=False)
    for judged_share in [0.5] * 12 + [0.8] * 24:
        collection = a_collection(rng, judged_share)
        result = irl.compare(*collection, by, test=chosen, allow_empty=True)
        word = result.verdicts(holds=True)["holds"].iloc[0]
        if word in ("not bounded", "could be undone"):
            n_unsure += 1
            assert len(result.to_judge(1000))
    assert n_unsure


@pytest.mark.parametrize(
    "by", ["rpp@3", "dominance@3", "GERR(max_rel=1,unjudged='best')@3", "Bpref"]
)
def test_documents_below_the_cutoff_raise_no_doubt(by: str) -> None:
    low = {q: {"a": 3.0, "b": 2.0, "c": 1.0, "u": 0.0} for q in QRELS}
    high = {q: {"c": 3.0, "b": 2.0, "a": 1.0, "v": 0.0} for q in QRELS}
    qrels = {q: {**grades, "c": 0} for q, grades in QRELS.items()}
    result = compare(qrels, {"low": low, "high": high}, by, test="t")
    word = result.verdicts(holds=True)["holds"].iloc[0]
    can_move = by == "Bpref"
    assert (word == "under any judging") == (not can_move)
    assert bool(len(result.to_judge())) == can_move
