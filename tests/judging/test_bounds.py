"""Bounds against every judging of small collections, known answers, and laws."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ir_lexirecall as irl
from ir_lexirecall import demo
from ir_lexirecall.data.alignment import align
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.data.pools import Pool
from ir_lexirecall.judging.algorithms import Judgings
from ir_lexirecall.judging.bounds import (
    ValueBounds,
    bounds_of_differences,
    bounds_of_wins,
    imbens_manski,
)
from ir_lexirecall.measures.scoring import values
from ir_lexirecall.preferences.naming import Preference
from tests.judging.every_judging import EveryJudging, Small, small_collections

PAIR = np.array([0]), np.array([1])
CLOSED = [  # exact for any documents
    "P@3", "P(rel=2)@4", "R@3", "R(rel=2)@5", "SetR", "SetP", "NumRet(rel=1)", "NumRet", "RR", "RR@3", "RR(rel=2)", "Success@2",
    "nDCG@3", "nDCG", "nDCG(dcg='exp-log2')@4", "nDCG_JK@5", "nDCG_JK(a=3)", "RBP(p=0.7)", "RBP(p=0.7,rel=1)", "RBP(p=0.6,rel=1)@3",
    "CWL_RBP(phi=0.5,max_rel=2)", "CWL_RBP(phi=0,max_rel=2,gain='linear')", "SDCG(max_rel=2)@4", "INSQ(T=1,max_rel=2)",
    "ERR@3", "ERR", "GERR(max_rel=2)@5", "GERR(max_rel=3,gain='linear')", "TSE", "TSE(n=40)", "TSE@4", "TSE(exposure='RBP')",
    "TSE(exposure='linear',n=20,rel=2)", "RBP_TE", "RBP_TE(p=0.5)",
]  # fmt: skip
OF_ONE = [  # exact for one ranking, and for two where no open document is in both, if at all
    "LR", "LR(rel=2)", "LR@3", "CWL_ERR8(max_rel=2)@4", "CWL_ERR9(max_rel=2,gain='linear')@5", "CWL_ERR10(phi=0.8,max_rel=2)",
    "CWL_ERR11(T=1,max_rel=3)", "NERR8(max_rel=2)@4", "NERR9(max_rel=2)@5", "NERR10(p=0.7,max_rel=2)", "NERR11(T=1,max_rel=2)",
    "NERR10(p=0,max_rel=2)",
]  # fmt: skip
AVERAGE_PRECISION = ["AP", "AP@3", "AP(rel=2)"]
PREFERENCES = [
    "lexirecall",
    "lexiprecision",
    "rrlexiprecision",
    "rpp",
    "invrpp",
    "dcgrpp",
]


def some_or_all(some: list[str], every: list[str]) -> Any:
    """Parametrise a test by `names`: some measures, and in the slow tests all of them."""
    cases = [
        pytest.param(some, id="some"),
        pytest.param(every, id="all", marks=pytest.mark.slow),
    ]
    return pytest.mark.parametrize("names", cases)


def cutoff_of(measure: Any) -> int:
    return measure.params.get("cutoff", 0)


def pooled(small: Small) -> tuple[Judgments, Pool]:
    judgments = Judgments.from_qrels(small.qrels)
    return judgments, Pool.from_runs(judgments, small.runs, small.depth)


def of_pair(small: Small, measure: Any, places: Any = PAIR) -> ValueBounds:
    judgments, pool = pooled(small)
    today = np.stack(
        [values(measure, align(judgments, run)) for run in small.runs.values()]
    )
    bounds = bounds_of_differences(
        pool, measure, today, places, Judgings(small.depth, small.max_rel, small.extra)
    )
    assert bounds is not None
    return bounds


def within(small: Small, names: list[str]) -> list[Any]:
    """Return the measures whose cutoff is not below the depth of the pool."""
    measures = map(ir_measures.parse_measure, names)
    return [measure for measure in measures if cutoff_of(measure) <= small.depth]


def check_pair(
    small: Small, every: EveryJudging, measure: Any, all_exact: bool
) -> None:
    bounds = of_pair(small, measure)
    for q, (a, b) in every.values(measure).items():
        low, high = (a - b).min(), (a - b).max()
        place = int(q)
        if all_exact:
            assert bounds.exact[0, place], measure
        if bounds.exact[0, place]:
            assert bounds.low[0, place] == pytest.approx(low, abs=1e-12), measure
            assert bounds.high[0, place] == pytest.approx(high, abs=1e-12), measure
        else:
            assert bounds.low[0, place] <= low + 1e-12, measure
            assert bounds.high[0, place] >= high - 1e-12, measure


@pytest.mark.slow
@some_or_all(["nDCG@3", "TSE"], CLOSED)
@given(small=small_collections(extra=1))
def test_bounds_of_differences_are_what_the_best_and_the_worst_judging_make(
    names: list[str], small: Small
) -> None:
    every, nothing_else = EveryJudging(small), replace(small, extra=0)
    here = EveryJudging(nothing_else) if small.extra else every
    for measure in within(small, names):
        # Bounds of ERR of two runs know no documents that neither of them holds.
        if "ERR" in str(measure):
            check_pair(nothing_else, here, measure, all_exact=True)
        else:
            check_pair(small, every, measure, all_exact=True)


@pytest.mark.slow
@given(small=small_collections(extra=1))
def test_bounds_of_average_precision_are_exact_without_shared_documents_and_hold_with_them(
    small: Small,
) -> None:
    every = EveryJudging(small)
    for measure in within(small, AVERAGE_PRECISION):
        check_pair(small, every, measure, all_exact=False)
        bounds = of_pair(small, measure)
        k = cutoff_of(measure) or 99
        for q, (a, b) in small.rankings.items():
            shared = set(small.open_docs(q)) & set(a[:k]) & set(b[:k])
            relevant = {
                d for d, grade in small.qrels[q].items() if grade >= measure["rel"]
            }
            places = [
                {
                    d: i
                    for i, d in enumerate(x[:k])
                    if d in relevant | set(small.open_docs(q))
                }
                for x in (a, b)
            ]
            assert bounds.exact[0, int(q)] == (
                not shared or small.max_rel < measure["rel"] or places[0] == places[1]
            ), measure


@pytest.mark.slow
@some_or_all(["LR@3", "CWL_ERR11(T=1,max_rel=3)"], OF_ONE)
@given(small=small_collections(extra=1))
def test_bounds_from_the_best_of_one_and_the_worst_of_the_other_hold_all(
    names: list[str], small: Small
) -> None:
    every = EveryJudging(small)
    for measure in within(small, names):
        check_pair(small, every, measure, False)


@some_or_all(["R@3", "ERR"], [*CLOSED, *OF_ONE, *AVERAGE_PRECISION])
@given(small=small_collections(extra=1))
def test_bounds_of_values_are_what_the_best_and_the_worst_judging_make(
    names: list[str], small: Small
) -> None:
    every = [EveryJudging(small, only) for only in (0, 1)]
    for measure in within(small, names):
        bounds = of_pair(small, measure, np.arange(2))  # of values themselves
        assert bounds.exact.all(), measure
        for s in (0, 1):
            for q, both in every[s].values(measure).items():
                ends = bounds.low[s, int(q)], bounds.high[s, int(q)]
                assert ends == pytest.approx(
                    (both[s].min(), both[s].max()), abs=1e-12
                ), measure


@pytest.mark.slow
@given(small=small_collections(extra=1))
def test_bounds_of_many_pairs_by_what_each_run_reaches_are_those_pair_by_pair(
    small: Small,
) -> None:
    every = EveryJudging(small)
    for measure in within(small, [*AVERAGE_PRECISION, "LR", "LR@3", "LR(rel=2)"]):
        pair_by_pair = of_pair(small, measure)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("ir_lexirecall.judging.bounds._MANY", 0)
            check_pair(small, every, measure, all_exact=False)
            by_run = of_pair(small, measure)
        for one, other in zip(
            vars(pair_by_pair).values(), vars(by_run).values(), strict=True
        ):
            np.testing.assert_array_equal(one, other, err_msg=str(measure))


@pytest.mark.slow
@given(small=small_collections(most_open=6), data=st.data())
def test_who_can_win_is_who_wins_under_some_judging(
    small: Small, data: st.DataObject
) -> None:
    every = EveryJudging(small)
    _, pool = pooled(small)
    for name in PREFERENCES:
        cutoff = data.draw(st.none() | st.integers(1, small.depth))
        bounds = bounds_of_wins(
            pool, Preference(name, cutoff=cutoff), PAIR, Judgings(small.depth)
        )
        assert bounds is not None
        for q, preferences in every.preferences(name, cutoff).items():
            place = int(q)
            assert bounds.exact[0, place], name
            assert (bounds.high[0, place] > 0) == (preferences > 0).any(), name
            assert (bounds.low[0, place] < 0) == (preferences < 0).any(), name
            ends = bounds.low[0, place], bounds.high[0, place]
            reached = np.sign(preferences.min()), np.sign(preferences.max())
            if "lexi" in name:
                assert ends == reached, name
            else:  # a tie may be too much
                assert ends[0] <= reached[0], name
                assert ends[1] >= reached[1], name


@pytest.mark.slow
@given(small=small_collections(most_open=6))
def test_without_looking_at_every_choice_nobody_who_can_win_is_left_out(
    small: Small,
) -> None:
    every = EveryJudging(small)
    _, pool = pooled(small)
    for name in PREFERENCES[3:]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("ir_lexirecall.judging.winners._MOST_SHARED", 0)
            bounds = bounds_of_wins(pool, Preference(name), PAIR, Judgings(small.depth))
        assert bounds is not None
        for q, preferences in every.preferences(name).items():
            place = int(q)
            can = (preferences > 0).any(), (preferences < 0).any()
            assert bounds.low[0, place] <= np.sign(preferences).min(), name
            assert bounds.high[0, place] >= np.sign(preferences).max(), name
            known = (bounds.high[0, place] > 0), (bounds.low[0, place] < 0)
            assert (
                known == can
                if bounds.exact[0, place]
                else all(k or not c for k, c in zip(known, can, strict=True))
            ), name


@pytest.mark.slow
@given(small=small_collections())
def test_without_looking_at_every_choice_bounds_of_err_hold_all(small: Small) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ir_lexirecall.judging.cascades._MOST_SHARED", 0)
        check_pair(small, EveryJudging(small), ir_measures.ERR, all_exact=False)


# -- laws --------------------------------------------------------------------------------------------

SOME = ["P@4", "R@4", "AP", "nDCG@4", "RR", "ERR@4", "TSE", "RBP(rel=1)"]


@pytest.mark.slow
@given(small=small_collections(), data=st.data())
def test_bounds_hold_what_hidden_judgments_say_and_more_judgments_never_widen_them(
    small: Small, data: st.DataObject
) -> None:
    q = data.draw(st.sampled_from(sorted(small.qrels)))
    known = data.draw(st.sampled_from(small.judgings(q)))
    shown = data.draw(st.sets(st.sampled_from(sorted(known)), max_size=len(known)))
    some = {doc: g for doc, g in known.items() if doc in shown or doc in small.qrels[q]}
    more = replace(small, qrels={**small.qrels, q: some})
    for name in SOME:
        measure = ir_measures.parse_measure(name)
        if cutoff_of(measure) > small.depth:
            continue
        before, after = of_pair(small, measure), of_pair(more, measure)
        assert (before.low <= after.low + 1e-12).all()
        assert (before.high >= after.high - 1e-12).all()
    for name in PREFERENCES:
        before, after = (
            bounds_of_wins(
                pooled(one)[1], Preference(name), PAIR, Judgings(small.depth)
            )
            for one in (small, more)
        )
        assert (before.low <= after.low).all()
        assert (before.high >= after.high).all()


@pytest.mark.slow
@given(small=small_collections())
def test_bounds_are_points_where_all_is_judged(small: Small) -> None:
    # A pooled document with a negative grade is open, too.
    qrels = {
        q: {**grades, **dict.fromkeys(small.open_docs(q), 0)}
        for q, grades in small.qrels.items()
    }
    judged = replace(small, qrels=qrels)
    judgments = Judgments.from_qrels(judged.qrels)
    for name in [*CLOSED, "AP"]:
        measure = ir_measures.parse_measure(name)
        if cutoff_of(measure) > small.depth:
            continue
        bounds = of_pair(judged, measure)
        a, b = (values(measure, align(judgments, run)) for run in judged.runs.values())
        np.testing.assert_array_equal(bounds.low[0], a - b)
        np.testing.assert_array_equal(bounds.high[0], a - b)
        assert bounds.exact.all()


def test_bounds_do_not_depend_on_other_runs() -> None:
    judgments = Judgments.from_qrels(demo.qrels())
    runs = demo.runs()
    measure = ir_measures.parse_measure("nDCG@10")
    every = Pool.from_runs(judgments, runs, 10)
    names = list(runs)
    for a, b in combinations(range(len(names)), 2):
        pair = {names[i]: runs[names[i]] for i in (a, b)}
        two = Pool.from_runs(judgments, pair, 10)
        today = np.stack(
            [values(measure, align(judgments, run)) for run in runs.values()]
        )
        places = np.array([a]), np.array([b])
        one = bounds_of_differences(every, measure, today, places, Judgings())
        other = bounds_of_differences(two, measure, today[[a, b]], PAIR, Judgings())
        np.testing.assert_array_equal(one.low, other.low)
        wins = [
            bounds_of_wins(pool, Preference("lexirecall"), at, Judgings(10)).counts()
            for pool, at in ((every, places), (two, PAIR))
        ]
        assert wins[0] == wins[1]


def test_depths_below_the_cutoff_are_refused_and_shallow_runs_are_said() -> None:
    judgments = Judgments.from_qrels(demo.qrels())
    runs = {"x": demo.run("bm25"), "y": {"q": {"d": 1}}}
    pool = Pool.from_runs(judgments, runs, 20)
    with pytest.raises(
        ValueError,
        match=r"depth 5 leaves out unjudged documents that nDCG@10 looks at; give at least 10",
    ):
        bounds_of_differences(
            pool,
            ir_measures.nDCG @ 10,
            np.zeros((2, len(judgments))),
            PAIR,
            Judgings(5),
        )
    with pytest.raises(
        ValueError,
        match="depth 5 leaves out unjudged documents that lexirecall@10 looks at",
    ):
        bounds_of_wins(pool, Preference("lexirecall", cutoff=10), PAIR, Judgings(5))
    with pytest.raises(ValueError, match="max_rel"):
        bounds_of_differences(
            pool,
            ir_measures.nDCG @ 10,
            np.zeros((2, len(judgments))),
            PAIR,
            Judgings(max_rel=0.5),
        )
    shallow = irl.compare(demo.qrels(), runs, allow_empty=True).bounds(depth=20)
    assert shallow.attrs["notes"] == [
        "y retrieves fewer than 20 documents for every query: bounds are narrower for that reason, too"
    ]


@pytest.mark.parametrize(
    "name",
    [
        "Bpref",
        "infAP",
        "AP(judged_only=True)",
        "TSE(normalize=True)",
        "P(rel=0)@5",
        "LR(form='weighted',n=90)",
        "INST(T=1,max_rel=2)",
    ],
)
def test_measures_without_a_proven_algorithm_have_no_bounds(name: str) -> None:
    judgments = Judgments.from_qrels(demo.qrels())
    pool = Pool.from_runs(judgments, {"x": demo.run("bm25"), "y": demo.run("ql")}, 20)
    measure = ir_measures.parse_measure(name)
    assert (
        bounds_of_differences(
            pool, measure, np.zeros((2, len(judgments))), PAIR, Judgings()
        )
        is None
    )
    assert bounds_of_wins(pool, Preference("dominance"), PAIR, Judgings()) is None


# -- intervals ---------------------------------------------------------------------------------------


def test_an_interval_of_points_is_that_of_t() -> None:
    from ir_lexirecall.significance import SignificanceTest

    x = np.random.default_rng(0).normal(size=(3, 20))
    low, high = imbens_manski(x, x, 0.05)
    expected = SignificanceTest("t").of_pairs(x)
    np.testing.assert_allclose(low, expected.low, atol=1e-9)
    np.testing.assert_allclose(high, expected.high, atol=1e-9)


@pytest.mark.slow
def test_an_interval_of_bounds_holds_a_mean_anywhere_between_them() -> None:
    rng = np.random.default_rng(1)
    for width in (0.0, 0.05, 0.2, 1.0):
        x = rng.normal(size=(4000, 30))
        low, high = imbens_manski(x, x + width, 0.05)
        for truth in (0.0, width / 2, width):
            assert np.mean((low <= truth) & (truth <= high)) >= 0.94


# -- known answers -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_residuals_and_unjudged_shares_are_those_of_trec_eval_10(data: Any) -> None:
    from ir_lexirecall.judging.bounds import judgment_bounds

    known = data.vectors("trec_eval10-unjudged.json")["runs"]
    qrels = data.path("robust2003/qrels.txt.gz")
    binary = pd.read_csv(
        qrels,
        sep=r"\s+",
        names=["query_id", "iteration", "doc_id", "relevance"],
        dtype={"query_id": str},
    )
    binary = binary.drop(columns="iteration").assign(
        relevance=binary["relevance"].clip(upper=1)
    )
    measures = ["RBP(p=0.9,rel=1)", *(f"Unjudged@{k}" for k in (5, 10, 20))]
    for name, expected in known.items():
        run = data.path(f"robust2003/runs/{name}.gz")
        table = judgment_bounds(
            measures, qrels, run, depth=None
        )  # trec_eval: whole rankings
        rbp = table["RBP(p=0.9,rel=1)"]
        residual = np.array([expected["rbp_resid"][q] for q in table.index])
        np.testing.assert_allclose(rbp["high"] - rbp["low"], residual, atol=1e-12)
        of_trec_eval = irl.judgment_bounds("RBP_TE", binary, run, depth=None)["RBP_TE"]
        np.testing.assert_allclose(
            of_trec_eval["high"] - of_trec_eval["low"], residual, atol=1e-12
        )
        for k in (5, 10, 20):
            shares = table[f"Unjudged@{k}"]
            assert shares["high"].tolist() == [
                expected[f"unj_{k}"][q] for q in table.index
            ]
            np.testing.assert_allclose(shares["low"], 0, atol=1e-12)


@pytest.mark.parametrize("measure", ["AP", "nDCG@10", "TSE", "R@5"])
def test_no_collection_has_more_documents_than_can_be_unretrieved(measure: str) -> None:
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 2.0, "b": 1.0}}
    low = irl.judgment_bounds(measure, qrels, run, unretrieved=2**53)[measure, "low"]
    assert low["q"] >= 0
    with pytest.raises(
        ValueError,
        match=f"^judgment_bounds: unretrieved must be an integer from 0 to {2**53}, not {10**30}$",
    ):
        irl.judgment_bounds(measure, qrels, run, unretrieved=10**30)


def test_grades_that_do_not_suit_the_measures_are_said() -> None:
    several = pd.DataFrame(
        [("q", "1", "a", 2), ("q", "2", "a", 0)],
        columns=["query_id", "iteration", "doc_id", "relevance"],
    )
    with pytest.warns(UserWarning, match="'a' of query 'q' has several grades"):
        irl.judgment_bounds("nDCG", several, {"q": {"a": 1.0}})
    with pytest.warns(UserWarning, match=r"no grade .* relevant for P@1"):
        irl.judgment_bounds("P@1", {"q": {"a": 0.7}}, {"q": {"a": 1.0}})
