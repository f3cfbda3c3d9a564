"""What sentences, caveats, pictures and pages say of unjudged documents: what every judging says."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ir_lexirecall
from ir_lexirecall import compare, demo
from ir_lexirecall.comparison import Comparison
from ir_lexirecall.significance.binomial import sign_test
from judging.every_judging import every_preference, every_value, small_collections

QRELS = {f"q{i}": {"a": 1, "b": 0} for i in range(8)}
GOOD = {q: {"a": 3.0, "u": 2.0, "b": 1.0} for q in QRELS}
BAD = {q: {"v": 3.0, "w": 2.0, "a": 1.0} for q in QRELS}


@pytest.mark.filterwarnings("ignore:run '.' retrieves nothing")
@pytest.mark.parametrize("name", ["lexirecall", "lexiprecision", "P@3", "nDCG@3", "RR@4", "R@2"])
@given(data=st.data())
def test_what_is_open_is_where_either_run_can_win(name: str, data: st.DataObject) -> None:
    small = data.draw(small_collections())
    deep = type(small)(small.qrels, small.rankings, small.max_rel, 100, 0)
    result = compare(deep.qrels, deep.runs, name, allow_empty=True)
    left = result.left_open(name)
    criterion = result.by[name]
    if left is None:
        assert not criterion.query_ids or not any(deep.open_docs(q) for q in deep.qrels)
        return
    if criterion.is_measure:
        top = max(1, max(g for grades in deep.qrels.values() for g in grades.values()))
        cutoff = criterion_cutoff(name)
        within = type(small)(deep.qrels, deep.rankings, top, cutoff, 0)
        every = {q: a - b for q, (a, b) in every_value(within, ir_measures.parse_measure(name)).items()}
    else:
        every = every_preference(deep, name, None)
    for q, differences in every.items():
        if q in criterion.query_ids:
            can = (differences > 1e-12).any() and (differences < -1e-12).any()
            assert left.is_open[0, criterion.query_ids.index(q)] == can


@pytest.mark.filterwarnings("ignore:run '.' retrieves nothing")
@pytest.mark.parametrize("name", ["lexirecall", "lexiprecision", "rpp", "RR@4"])
@given(data=st.data())
def test_the_sign_test_of_every_judging_is_held_by_the_outer_interval(name: str, data: st.DataObject) -> None:
    small = data.draw(
        small_collections(most_open=3).filter(lambda s: max(map(max, map(dict.values, s.qrels.values()))) > 0)
    )
    top = max(g for grades in small.qrels.values() for g in grades.values())
    deep = type(small)(small.qrels, small.rankings, top, 4 if name == "RR@4" else 100, 0)
    result = compare(deep.qrels, deep.runs, name, test="sign", allow_empty=True)
    left = result.left_open(name)
    if left is None:
        return
    if name == "RR@4":
        every = [a - b for a, b in every_value(deep, ir_measures.parse_measure(name)).values()]
    else:
        every = list(every_preference(deep, name, None).values())
    outcomes = product(*(np.unique(np.sign(differences)) for differences in every))
    tests = sign_test(np.array(list(outcomes)), 0.05)
    assert left.outer is not None
    ends = [left.low[0], left.high[0], left.outer[0][0], left.outer[1][0]]
    known = [tests.estimate.min(), tests.estimate.max(), tests.low.min(), tests.high.max()]
    if name == "rpp":  # a tie may be too much
        assert (np.array([1, -1, 1, -1]) * (np.array(ends) - known) <= 1e-12).all()
    else:
        np.testing.assert_allclose(ends, known, atol=1e-12)


@pytest.mark.filterwarnings("ignore:run .y. retrieves nothing")
def test_wins_that_could_become_ties_are_no_certain_difference() -> None:
    qrels = {f"q{i}": {"a": 1, "b": 0} for i in range(8)}
    runs = {"x": {q: {"a": 2.0} for q in qrels}, "y": {q: {"u": 2.0} for q in qrels}}
    result = compare(qrels, runs, "lexirecall")
    left = result.left_open("lexirecall")
    assert left is not None
    assert not left.is_open.any()
    assert (left.low, left.high) == (0, 1)
    assert any("unjudged documents could undo it" in note for note in result.diagnostics)
    sure = compare(qrels, {**runs, "y": {q: {"b": 2.0, "u": 1.0} for q in qrels}}, "lexiprecision")
    assert not sure.left_open("lexiprecision").holds_zero.any()


@pytest.mark.slow
def test_the_page_has_what_is_open_between_robusts_runs_at_depth_100(data: Any) -> None:
    runs = {path.stem: path for path in sorted(Path(data.path("robust2003/runs")).iterdir())}
    result = compare(data.path("robust2003/qrels.txt.gz"), runs, ["lexirecall", "AP", "RR"])
    bounds = result.bounds("lexirecall", depth=100)
    closed = len(result.query_ids) - bounds["open"].to_numpy()
    leaders = set(result.ranking("AP")["run"][:2])
    between = [set(pair) == leaders for pair in result.pairs]
    assert result.scored is not None
    pool = result.scored.pool(100)
    unjudged = np.sum(~pool.is_judged & pool.within(100)) / len(result.query_ids)
    cells = [f"{unjudged:.0f}", f"{closed.mean():.1f}", str(closed[between].item())]
    for name in result.criteria:
        left, verdicts = result.left_open(name), result.verdicts(name)["verdict"]
        assert left is not None
        significant = verdicts.isin(["better", "worse"]).to_numpy()
        cells.append(f"{np.sum(significant & left.holds_zero)} of {significant.sum()}")
    page = (Path(ir_lexirecall.__file__).parent / "pt_docs" / "missing_judgments.rst").read_text()
    assert re.findall("- (.+)", page.partition("   * - 100\n")[2].partition("   * -")[0]) == cells


def criterion_cutoff(name: str) -> int:
    return int(ir_measures.parse_measure(name)["cutoff"])


def test_summaries_say_on_how_many_queries_the_winner_could_change() -> None:
    two = compare(QRELS, {"good": GOOD, "bad": BAD}, ["lexirecall", "P@1"]).summary()
    assert (
        "With the unjudged documents judged, the winner could change on 8 of 8 queries by lexirecall (depth 100) and on "
        "0 of 8 queries by P@1 (depth 1)." in two
    )
    several = compare("lexirecall/demo", demo.runs(), "lexirecall", baseline="ql")
    left = several.left_open("lexirecall")
    assert left is not None
    number = left.is_open[several.pairs.index(("tfidf", "ql"))].sum()
    assert f"the winner between tfidf and ql could change on {number} of 16 queries (depth 100)." in several.summary()


def test_a_significant_difference_that_could_be_reversed_is_a_caveat() -> None:
    result = compare(QRELS, {"good": GOOD, "bad": BAD}, ["lexirecall", "RR", "P@1"])
    assert [row["verdict"] for row in result.verdicts().to_dict("records")] == ["better"] * 3
    notes = [note for note in result.diagnostics if "unjudged documents could undo it" in note]
    assert [note.partition(",")[0] for note in notes] == ["lexirecall", "RR", "P@1"]
    assert "(from 0.0000 to 1.0000 as they are judged, depth 1; see bounds)" in notes[2]


def test_what_predictions_estimate_is_not_bounded() -> None:
    queries = [f"q{i}" for i in range(16)]
    predicted = dict.fromkeys(queries, QRELS["q0"])
    people = dict.fromkeys(queries[:12], QRELS["q0"])
    runs = {"good": dict.fromkeys(queries, GOOD["q0"]), "bad": dict.fromkeys(queries, BAD["q0"])}
    alone, together = compare(people, runs, "RR"), compare(people, runs, "RR", predicted=predicted)
    assert any("unjudged documents could undo it" in note for note in alone.diagnostics)
    assert together.verdicts()["verdict"].tolist() == ["better"]
    assert not any("unjudged documents could undo it" in note for note in together.diagnostics)
    left = together.left_open("RR")
    assert left is not None
    assert left.outer is None


def known(result: Comparison) -> bool:
    return any(result.left_open(name) is not None for name in result.criteria)


def test_nothing_is_said_where_nothing_is_known() -> None:
    runs = {"good": GOOD, "bad": BAD}
    assert known(compare(QRELS, runs, "AP"))
    assert not known(compare(QRELS, runs, ["Bpref", "dominance"]))
    assert not known(compare(QRELS, runs, "AP", judged_only=True))
    everything = {q: {**dict.fromkeys("uvw", 0), **grades} for q, grades in QRELS.items()}
    result = compare(everything, runs, ["AP", "lexirecall"])
    assert not known(result)
    assert "unjudged" not in result.summary()


@pytest.mark.parametrize("name", ["AP", "lexirecall"])
def test_forests_have_an_outer_interval(name: str) -> None:
    plt = pytest.importorskip("matplotlib.pyplot")
    result = compare("lexirecall/demo", demo.runs(), name, baseline="bm25")
    left = result.left_open(name)
    assert left is not None
    assert left.outer is not None
    ax = result.plot_differences(name)
    thin = ax.collections[2].get_segments()
    place = {text.get_text(): int(y) for y, text in zip(ax.get_yticks(), ax.get_yticklabels(), strict=True)}
    for pair, low, high in zip(result.pairs, *left.outer, strict=True):
        np.testing.assert_allclose(thin[place[pair[0]]][:, 0], [low, high])
    assert "depth 100" in ax.get_xlabel().replace("\n", " ")
    table = result.table()
    assert (left.outer[0] <= table["ci_low"] + 1e-9).all()
    assert (left.outer[1] >= table["ci_high"] - 1e-9).all()
    plt.close("all")
