"""``pt.lexirecall.Experiment`` against ``irl.compare`` bit for bit, against brute force, and against ``pt.Experiment``.

PyTerrier adds values up in another order, calls differences that rounding makes wins, and has no p-value where nothing differs.
"""

from __future__ import annotations

import copy
import json
import math
import os
import pickle
import random
import re
import subprocess
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple

import ir_measures
import numpy as np
import pandas as pd
import pyterrier as pt
import pytest
import reference
from ir_measures import AP, nDCG
from pandas.testing import assert_frame_equal
from pyterrier_lexirecall import collecting
from pyterrier_lexirecall import summaries as summaries_of_pyterrier
from scipy.stats import binomtest
from statsmodels.stats.multitest import multipletests

import ir_lexirecall as irl
from ir_lexirecall import LR, RBU, TOMA, TSE
from ir_lexirecall.comparison import Comparison
from ir_lexirecall.data import judgments
from ir_lexirecall.data.alignment import align
from ir_lexirecall.measures.scoring import is_added_up
from ir_lexirecall.preferences.functions import NAMES

# PyTerrier warns of shared stages, topics without qrels and pandas' plans; what counts is compared below.
pytestmark = pytest.mark.filterwarnings("ignore")

HIDDEN = "lexirecall_execution"
PREF = "pref:lexirecall"


@pytest.fixture(autouse=True)
def _no_garbage_collection(monkeypatch: pytest.MonkeyPatch) -> None:
    """statsmodels' ``multipletests`` collects garbage at every call, which takes longer than an experiment."""
    monkeypatch.setattr("gc.collect", lambda *_: 0)


# -- topics, qrels and systems ---------------------------------------------------------------------

UNJUDGED = ["30", "31", "32"]
TOPIC_IDS = ["10", "2", "1", *UNJUDGED, "11", "3", "12"]
BATCH = 3  # one batch without any qrels
NO_TOPIC = "40"
DOCS = [f"d{i}" for i in range(14)]
QUERIES = [q for q in [*TOPIC_IDS, NO_TOPIC] if q not in UNJUDGED]
GRADES = {q: {d: random.Random(f"{q} {d}").choice([0, 0, 1, 1, 2, 3]) for d in DOCS[::2]} for q in QUERIES}
GRADES["12"] = dict.fromkeys(DOCS[:3], 0)  # nothing is relevant
NOTHING_RETRIEVED = {("c", "2")}
SCORES = [3.0, 2.0, 2.0 + 1e-9, 1.0, -1.0]  # few, and two that are equal as 32-bit floats: ties


def topics(query_ids: Sequence[str] = TOPIC_IDS) -> pd.DataFrame:
    return pd.DataFrame({"qid": list(query_ids), "query": "text"})


def qrels(grades: Mapping[str, Mapping[str, int]] = GRADES) -> pd.DataFrame:
    rows = [(q, d, grade) for q, judged in grades.items() for d, grade in judged.items()]
    return pd.DataFrame(rows, columns=["qid", "docno", "label"])


Calls = list[tuple[str, tuple[str, ...]]]


class Stage(pt.Transformer):
    """A stage with a name, by which it scores; notes each call with the topics it was called for."""

    def __init__(self, name: str, calls: Calls) -> None:
        self.name = name
        self.calls = calls

    def __repr__(self) -> str:
        return self.name

    def note(self, query_ids: pd.Series) -> None:
        if len(query_ids):  # not PyTerrier's validation
            self.calls.append((self.name, tuple(dict.fromkeys(query_ids))))

    def ranked(self, found: Mapping[str, tuple[str, ...]]) -> pd.DataFrame:
        return _ranked(self.name, tuple(found.items())).copy()


@cache
def _ranked(name: str, found: tuple[tuple[str, tuple[str, ...]], ...]) -> pd.DataFrame:
    rows = [
        (q, d, score, rank)
        for q, docs in found
        for rank, (d, score) in enumerate(sorted(_scores(name, q, docs).items(), key=lambda pair: -pair[1]))
    ]
    return pd.DataFrame(rows, columns=["qid", "docno", "score", "rank"]).astype({"score": float})


@cache
def _scores(name: str, query_id: str, docs: tuple[str, ...]) -> dict[str, float]:
    return {d: random.Random(f"{name} {query_id} {d}").choice(SCORES) for d in docs}


@cache
def _found(name: str, query_id: str) -> tuple[str, ...]:
    chance = random.Random(f"{name} finds {query_id}").random
    return tuple(d for d in DOCS if chance() < 0.8 and (name, query_id) not in NOTHING_RETRIEVED)


class Retrieve(Stage):
    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        self.note(inp["qid"])
        return self.ranked({q: _found(self.name, q) for q in inp["qid"]})


class Rerank(Stage):
    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        self.note(inp["qid"])
        found: dict[str, list[str]] = {}
        for q, d in zip(inp["qid"], inp["docno"], strict=True):
            found.setdefault(q, []).append(d)
        return self.ranked({q: tuple(docs) for q, docs in found.items()})


def frame(name: str) -> pd.DataFrame:
    """Results of a system, also for a query that is no topic."""
    return Retrieve(name, []).transform(topics([*TOPIC_IDS, NO_TOPIC]))


def transformers(calls: Calls) -> list[Any]:
    return [Retrieve(name, calls) for name in "abcd"]


def interleaved(calls: Calls) -> list[Any]:
    """A tree executes them in the order 0, 2, 3, 1."""
    a, b, x, y = Retrieve("a", calls), Retrieve("b", calls), Rerank("x", calls), Rerank("y", calls)
    return [a >> x, b >> x, a >> y, b]


def shared_prefix(calls: Calls) -> list[Any]:
    a = Retrieve("a", calls)
    return [a >> Rerank(name, calls) for name in "xyz"]


def frames(calls: Calls) -> list[Any]:
    return [frame(name) for name in "abc"]


def mixed(calls: Calls) -> list[Any]:
    a, x = Retrieve("a", calls), Rerank("x", calls)
    return [frame("c"), a >> x, frame("d"), a]


def named(calls: Calls) -> dict[str, Any]:
    return dict(zip(["one", "two", "three", "four"], interleaved(calls), strict=True))


Systems = Callable[[Calls], Any]


class Outcome(NamedTuple):
    result: Any
    calls: Calls
    warnings: list[tuple[type[Warning], str]]


def outcome(experiment: Any, systems: Systems, metrics: Sequence[Any], **options: Any) -> Outcome:
    """A call of an experiment, what was executed, and which warnings were given."""
    calls: Calls = []
    data = {"topics": topics(), "qrels": qrels(), "verbose": False, "validate": "ignore"}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = experiment(systems(calls), eval_metrics=list(metrics), **{**data, **options})
    return Outcome(result, calls, [(each.category, str(each.message)) for each in caught])


def both(systems: Systems, metrics: Sequence[Any], **options: Any) -> tuple[Any, Any]:
    """The results of our experiment and of PyTerrier's, after checking what they executed and warned of.

    Our averages have all columns in the order asked.
    """
    own = {name: options.pop(name) for name in ("preferences",) if name in options}
    plain = outcome(pt.Experiment, systems, metrics, **options)
    ours = outcome(pt.lexirecall.Experiment, systems, metrics, **options, **own)
    assert ours.calls == plain.calls
    assert ours.warnings == plain.warnings
    if options.get("dataframe", True) and options.get("perquery") is not True:
        averages = ours.result
        if options.get("perquery") == "both":
            averages = averages.averages
            metrics = [metric for metric in metrics if metric != "mrt"]  # PyTerrier leaves it out
        averages = getattr(averages, "data", averages)  # of a highlighted table
        preferences = own.get("preferences", ["lexirecall"]) or [] if len(systems([])) > 1 else []
        assert list(averages) == columns_asked(
            metrics, preferences, statistics_asked(options.get("baseline"), options.get("correction"))
        )
    return ours.result, plain.result


def statistics_asked(baseline: Any, correction: Any) -> list[str]:
    if baseline is None:
        return []
    return ["+", "-", "p-value", *(["reject", "p-value corrected"] if correction else [])]


def columns_asked(metrics: Sequence[Any], preferences: Sequence[str], statistics: Sequence[str]) -> list[str]:
    """Measures, their statistics, and the preferences with theirs."""
    measures = list(dict.fromkeys(map(str, metrics)))
    columns = ["name", *measures, *(f"{name} {kind}" for name in measures if name != "mrt" for kind in statistics)]
    return columns + [f"pref:{name}{end}" for name in preferences for end in ["", *(f" {kind}" for kind in statistics)]]


# -- brute force -----------------------------------------------------------------------------------


def _padded(positions: Sequence[int], m: int) -> list[float]:
    return [*positions, *[math.inf] * (m - len(positions))]


def lexirecall(a: Sequence[int], b: Sequence[int], m: int) -> float:
    return reference.lexirecall_preference(a, b)


def rpp(a: Sequence[int], b: Sequence[int], m: int) -> float:
    """Mean over recall levels of the sign of p'_i - p_i."""
    return sum((p < q) - (p > q) for p, q in zip(_padded(a, m), _padded(b, m), strict=True)) / m


PREFER = {"lexirecall": lexirecall, "rpp": rpp}


@dataclass(frozen=True)
class BruteForce:
    """Preferences between systems, pair by pair and query by query."""

    runs: Sequence[Mapping[str, Mapping[str, float]]]
    grades: Mapping[str, Mapping[str, int]]

    def queries(self) -> list[str]:
        return [q for q, judged in self.grades.items() if reference.relevant(judged, 1)]

    def preference(self, a: int, b: int, query: str, name: str = "lexirecall") -> float:
        judged = self.grades[query]
        first, second = (
            reference.positions(reference.order(self.runs[system].get(query, {})), judged, 1, None) for system in (a, b)
        )
        return PREFER[name](first, second, reference.relevant(judged, 1))

    def against_others(self, system: int, query: str, name: str = "lexirecall") -> float:
        others = [other for other in range(len(self.runs)) if other != system]
        return sum(self.preference(system, other, query, name) for other in others) / len(others)

    def mean(self, system: int, name: str = "lexirecall") -> float:
        return float(np.mean([self.against_others(system, query, name) for query in self.queries()]))

    def means(self, name: str = "lexirecall", baseline: int | None = None) -> list[float]:
        """Each system's mean preference against all others, or over the baseline."""
        systems = range(len(self.runs))
        if baseline is None:
            return [self.mean(system, name) for system in systems]
        return [float(np.mean([self.preference(s, baseline, q, name) for q in self.queries()])) for s in systems]

    def statistics(self, baseline: int, name: str = "lexirecall") -> pd.DataFrame:
        """Wins, losses and p-value of every system against the baseline."""
        rows = []
        for system in range(len(self.runs)):
            values = [self.preference(system, baseline, q, name) for q in self.queries()]
            wins, losses = sum(value > 0 for value in values), sum(value < 0 for value in values)
            p = binomtest(wins, wins + losses).pvalue if wins + losses else 1.0
            rows.append([math.nan] * 3 if system == baseline else [wins, losses, p])
        return pd.DataFrame(rows, columns=["+", "-", "p-value"])

    def corrected(self, baseline: int, method: str, alpha: float = 0.05, **parameters: Any) -> pd.DataFrame:
        """``statistics`` with the columns of a correction over all systems but the baseline."""
        table = self.statistics(baseline, **parameters)
        others = table.index != baseline
        reject, p, *_ = multipletests(table.loc[others, "p-value"], alpha=alpha, method=method)
        table["reject"], table["p-value corrected"] = False, math.nan
        table.loc[others, "reject"], table.loc[others, "p-value corrected"] = reject, p
        return table


def brute_force(systems: Systems, plan: str = "linear", filter_by_topics: bool = True) -> BruteForce:
    """``BruteForce`` for what an experiment must have seen."""
    return _brute_force(systems, plan, filter_by_topics)


@cache
def _brute_force(systems: Systems, plan: str, filter_by_topics: bool) -> BruteForce:
    made = systems([])
    runs = []
    for system in made.values() if isinstance(made, Mapping) else made:
        results = system if isinstance(system, pd.DataFrame) else system.transform(topics())
        if plan == "tree":  # a DataFrame is asked for the topics
            results = results[results["qid"].isin(TOPIC_IDS)]
        runs.append({q: dict(zip(rows["docno"], rows["score"], strict=True)) for q, rows in results.groupby("qid")})
    grades = {q: judged for q, judged in GRADES.items() if q != NO_TOPIC or not filter_by_topics}
    return BruteForce(runs, grades)


def assert_statistics(table: pd.DataFrame, name: str, expected: pd.DataFrame, end: str = "") -> None:
    """The columns of one measure or preference; numbers may differ in the last bits."""
    columns = [column for column in table if column.startswith(f"{name} ") and column.endswith(end)]
    columns = [column for column in columns if column != f"{name}{end}"]
    assert columns == [f"{name} {column}{end}" for column in expected]
    assert_frame_equal(table[columns], expected.set_axis(columns, axis=1), rtol=1e-12, check_dtype=True)


def assert_preference(table: pd.DataFrame, means: list[float], statistics: pd.DataFrame, name: str = PREF) -> None:
    """All columns of one preference."""
    assert table[name].tolist() == pytest.approx(means)
    assert_statistics(table, name, statistics)


def assert_same_columns(ours: pd.DataFrame, plain: pd.DataFrame, rounded: bool = False) -> None:
    """All of PyTerrier's columns are there with its numbers, but for time; what else there is belongs to preferences.

    Their order in PyTerrier is that of a set in ir_measures: another one in each process, and with one measure more.
    """
    assert {column for column in ours if not column.startswith("pref:")} == set(plain)
    assert ours["name"].tolist() == plain["name"].tolist()
    for column in set(plain) - {"name", "mrt"}:
        assert_same_column(column, ours, plain)
    if "mrt" in plain:
        assert (ours["mrt"] >= 0).all()
    if not rounded:
        assert_one_answer(ours)


def assert_same_column(column: str, ours: pd.DataFrame, plain: pd.DataFrame) -> None:
    measure, _, kind = column.partition(" ")
    got, expected = (table[column].to_numpy(dtype=float) for table in (ours, plain))
    if kind in ("", "+", "-"):
        known = ~np.isnan(expected) | (kind != "")  # a mean of PyTerrier's is NaN where topics without qrels are shown
        np.testing.assert_allclose(got[known], expected[known], rtol=1e-12)
        return
    p, counts = plain[f"{measure} p-value"].to_numpy(dtype=float), plain[f"{measure} +"].to_numpy(dtype=float)
    undefined, exact = np.isnan(p) & ~np.isnan(counts), of_one_magnitude(ours.attrs["comparison"], measure)
    if kind == "p-value":
        np.testing.assert_allclose(got[~undefined & ~exact], expected[~undefined & ~exact], rtol=1e-9)
        assert (got[undefined] == 1).all()
    elif not (undefined | exact).any():  # else the family of the correction is another one
        np.testing.assert_allclose(got, expected, rtol=1e-9)


def of_one_magnitude(compared: Comparison | None, measure: str) -> Any:
    """For each run, whether its differences to the baseline other than 0 are equal but for the sign: p is exact then."""
    if compared is None or compared.baseline is None:
        return np.zeros(0, dtype=bool)
    values = compared.per_query(measure)
    sizes = values.sub(values[compared.baseline], axis=0).abs().to_numpy()
    largest = sizes.max(axis=0)
    return ((sizes < 1e-12) | (sizes > largest - 1e-12)).all(axis=0) & (largest > 1e-12)


KINDS = {"+": "wins", "-": "losses", "p-value": "p", "p-value corrected": "p_corrected"}


def assert_one_answer(table: pd.DataFrame) -> None:
    """What a table says of measures and preferences is what its Comparison says, bit for bit."""
    compared = table.attrs["comparison"]
    if compared is None:
        return
    for place, name in enumerate(compared.criteria):
        is_measure = name in compared.measures
        column = name if is_measure else f"pref:{name}"
        if is_measure or (compared.baseline is None and column in table):
            assert table[column].tolist() == means(compared, place)
        if compared.baseline is None or f"{column} +" not in table or len(compared.runs) < 2:
            continue
        rows = compared.table(name).set_index("run_a").reindex(compared.runs)
        if not is_measure:
            others = rows["difference"].fillna(0).tolist()
            assert table[column].tolist() == others
        for kind, ours in KINDS.items():
            if f"{column} {kind}" in table:
                np.testing.assert_array_equal(table[f"{column} {kind}"], rows[ours].to_numpy(dtype=float))
        if f"{column} reject" in table:
            assert table[f"{column} reject"].tolist() == rows["verdict"].isin(["better", "worse"]).tolist()


def means(compared: Comparison, place: int) -> list[float]:
    """Of a criterion, as the table shows them: counts are added up."""
    name = compared.criteria[place]
    found: list[float] = compared.means(name)["mean"].tolist()
    if compared.scored is not None and name in compared.measures and is_added_up(compared.scored.measures[name]):
        return [round(mean * len(compared.query_ids), 9) for mean in found]
    return found


PLANS = pytest.mark.parametrize("plan", ["linear", "tree"])
BATCHES = pytest.mark.parametrize("batch_size", [None, BATCH])
FILTERS = pytest.mark.parametrize(
    "filters",
    [{}, {"filter_by_qrels": True}, {"filter_by_topics": False}],
    ids=["default", "by_qrels", "not_by_topics"],
)
METRICS = pytest.mark.parametrize(
    "metrics",
    [["map", "mrt"], [LR, TSE], [LR(rel=2) @ 5, "ndcg", nDCG @ 3, AP]],
    ids=["strings", "ours", "mixed"],
)


def test_the_data_is_of_the_kind_that_matters() -> None:
    brute = brute_force(interleaved, "linear", False)
    pairs = [(a, b, q) for a in range(4) for b in range(a) for q in brute.queries()]
    signs = [brute.preference(*pair) for pair in pairs]
    assert set(signs) == {-1, 0, 1}
    assert [q for q in brute.grades if q not in brute.queries()] == ["12"]
    assert any(brute.preference(*pair) != np.sign(brute.preference(*pair, "rpp")) for pair in pairs)
    # By 64-bit scores, or with ties by ascending id, some preference would be another.
    for key in (lambda score, doc: (-score, doc), lambda score, doc: (-np.float32(score), doc)):
        places = [
            {
                q: {d: -i for i, (_, d) in enumerate(sorted((key(s, d), d) for d, s in r.items()))}
                for q, r in run.items()
            }
            for run in brute.runs
        ]
        assert [BruteForce(places, brute.grades).preference(*pair) for pair in pairs] != signs


# -- averages and statistics -----------------------------------------------------------------------


@pytest.mark.parametrize("systems", [frames, mixed, named])
@FILTERS
@BATCHES
@PLANS
def test_averages(systems: Systems, filters: dict[str, bool], batch_size: int | None, plan: str) -> None:
    options = {"baseline": 1, "correction": "holm", "batch_size": batch_size, "plan": plan, **filters}
    ours, plain = both(systems, ["map", LR], **options)
    brute = brute_force(systems, plan, filters.get("filter_by_topics", True))
    assert_same_columns(ours, plain)
    assert_preference(ours, brute.means(baseline=1), brute.corrected(1, "holm"))
    assert not [column for column in ours if HIDDEN in column]
    assert len(ours.columns) == len(plain.columns) + 1 + 5


@pytest.mark.parametrize("baseline", [None, 1])
@PLANS
def test_counts_are_added_up_as_pyterrier_does(baseline: int | None, plan: str) -> None:
    ours, plain = both(frames, ["num_q", "num_rel_ret", AP, "num_ret"], baseline=baseline, plan=plan)
    assert_same_columns(ours, plain)
    assert ours["num_q"].tolist() == plain["num_q"].tolist() != [1.0] * len(plain)


@pytest.mark.parametrize("correction", [None, "bonferroni"])
@pytest.mark.parametrize("baseline", [0, 3])
@pytest.mark.parametrize("test", ["t", "wilcoxon", "sign"])
@PLANS
def test_statistics_of_measures_are_those_of_pyterrier(
    test: str, baseline: int, correction: str | None, plan: str
) -> None:
    """LexiRecall's among them: a p-value is of the test that was asked for, also of the preferences."""
    metrics = [LR(rel=2), AP, LR(rel=2) @ 4, LR, LR @ 4, LR(form="weighted", n=1000)]
    options = {"correction": correction, "correction_alpha": 0.6} if correction else {}
    options |= {"baseline": baseline, "plan": plan}
    ours = outcome(pt.lexirecall.Experiment, interleaved, metrics, test=test, **options).result
    plain = outcome(
        pt.Experiment, interleaved, metrics, test=pt.lexirecall.sign_test if test == "sign" else test, **options
    ).result
    assert list(ours) == columns_asked(metrics, ["lexirecall"], statistics_asked(baseline, correction))
    assert_same_columns(ours, plain)
    brute = brute_force(interleaved)
    assert ours[PREF].tolist() == pytest.approx(brute.means(baseline=baseline))
    expected = brute.corrected(baseline, correction, 0.6) if correction else brute.statistics(baseline)
    assert_statistics(ours[[PREF, f"{PREF} +", f"{PREF} -"]], PREF, expected[["+", "-"]])
    if test == "sign":
        assert_statistics(ours, PREF, expected)


@pytest.mark.parametrize("test", [None, "t", "sign", "wilcoxon", "bootstrap", "randomisation", "tukey"])
@pytest.mark.parametrize(
    "options", [{}, {"correction": "holm"}, {"correction": "fdr_bh", "correction_alpha": 0.5}], ids=str
)
@PLANS
def test_one_answer(test: str | None, options: dict[str, Any], plan: str) -> None:
    """The numbers of ``irl.compare`` for the same qrels, runs, criteria, test and correction, bit for bit."""
    metrics = ["map", nDCG @ 3, LR(rel=2) @ 4, "SL3(n=20)", "P_1", ir_measures.ERR @ 3, "num_rel_ret"]
    call = {"baseline": 1, "test": test, "plan": plan, "preferences": ["lexirecall", "rpp"], **options}
    table = outcome(pt.lexirecall.Experiment, interleaved, metrics, **call).result
    brute = brute_force(interleaved)
    names = [str(system) for system in interleaved([])]
    by = {"map": AP, **{str(m): m for m in metrics[1:4]}, "P_1": "P@1", "ERR@3": "ERR@3", "num_rel_ret": "NumRelRet"}
    compared = irl.compare(
        brute.grades,
        dict(zip(names, brute.runs, strict=True)),
        {**by, "lexirecall": "lexirecall", "rpp": "rpp"},
        baseline=names[1],
        test=test,
        correction=options.get("correction", "holm"),
        alpha=options.get("correction_alpha", 0.05),
    )
    attached = table.attrs["comparison"]
    for frame in ("means", "table", "verdicts"):
        assert_frame_equal(getattr(attached, frame)(), getattr(compared, frame)(), check_exact=True)
    assert_one_answer(table)
    assert [column for column in table if " " not in column][1:] == [*by, "pref:lexirecall", "pref:rpp"]
    costs = compared.table("SL3(n=20)").set_index("run_a")["wins"]
    assert table["SL3(n=20) +"].drop(1).tolist() == costs[[n for n in names if n != names[1]]].tolist()


@PLANS
def test_margins(plan: str) -> None:
    margin = {"map": "5%", "LexiRecall": 0.02, "lexirecall": 0.1}
    call = {"baseline": [1, 2], "correction": "holm", "margin": margin, "plan": plan}
    table = outcome(pt.lexirecall.Experiment, named, ["map", LR], **call).result
    brute, names = brute_force(named), list(named([]))
    for place in (1, 2):
        options: dict[str, Any] = {"baseline": names[place], "margin": margin}
        by = {"map": AP, "LexiRecall": LR, "lexirecall": "lexirecall"}
        compared = irl.compare(brute.grades, dict(zip(names, brute.runs, strict=True)), by, **options)
        for criterion in by:
            rows = compared.table(criterion).set_index("run_a").reindex(names)
            column = f"pref:{criterion}" if criterion == "lexirecall" else criterion
            for kind, ours in {"verdict": "verdict", "worse p-value": "worse_p", "within p-value": "within_p"}.items():
                got = table[f"{column} {kind} ({names[place]})"]
                pd.testing.assert_series_equal(got, rows[ours], check_exact=True, check_index=False, check_names=False)
            assert table[f"{column} p-value ({names[place]})"].dropna().tolist() == rows["p"].dropna().tolist()
    with pytest.raises(ValueError, match=r"pt\.lexirecall\.Experiment: .*unknown criterion of a margin 'AP'"):
        outcome(pt.lexirecall.Experiment, named, ["map"], baseline=0, margin={"AP": 0.1})
    with pytest.raises(ValueError, match=r"pt\.lexirecall\.Experiment: a margin needs a baseline"):
        outcome(pt.lexirecall.Experiment, named, ["map"], margin=0.1)


def test_what_counts_as_relevant_and_retrieved_for_preferences() -> None:
    table = outcome(pt.lexirecall.Experiment, named, ["map"], rel=2, cutoff=3).result
    brute, names = brute_force(named), list(named([]))
    compared = irl.compare(brute.grades, dict(zip(names, brute.runs, strict=True)), rel=2, cutoff=3)
    assert table[PREF].tolist() == compared.means()["mean"].tolist()
    for option, message in (({"rel": 0}, "rel must be"), ({"cutoff": 0}, "cutoff must be")):
        with pytest.raises(ValueError, match=rf"pt\.lexirecall\.Experiment: {message}"):
            outcome(pt.lexirecall.Experiment, named, ["map"], **option)


def test_texts_may_be_measures_as_they_print() -> None:
    metrics = ["nDCG@3", "AP(rel=2)", "LR", "P_5", "TSE(exposure='nDCG')@4"]
    table = outcome(pt.lexirecall.Experiment, named, metrics, preferences=None).result
    measures = ["nDCG@3", "AP(rel=2)", "LexiRecall", "P_5", "TSE(exposure='nDCG')@4"]
    assert list(table) == ["name", *measures]
    plain = outcome(pt.Experiment, named, [nDCG @ 3, AP(rel=2), LR, "P_5", TSE(exposure="nDCG") @ 4]).result
    assert_same_columns(table, plain)
    calls: Calls = []
    with pytest.raises(ValueError, match=r"pt\.lexirecall\.Experiment: unknown measure 'nope'"):
        pt.lexirecall.Experiment(transformers(calls), topics(), qrels(), ["nope"])
    assert not calls


@pytest.mark.parametrize("baseline", ["one", "four", 0, 3])
@PLANS
def test_baseline_by_name(baseline: str | int, plan: str) -> None:
    ours, plain = both(named, ["map", LR], baseline=baseline, plan=plan)
    assert_same_columns(ours, plain)
    place = baseline if isinstance(baseline, int) else list(named([])).index(baseline)
    brute = brute_force(named)
    assert_preference(ours, brute.means(baseline=place), brute.statistics(place))


def test_baseline_is_a_place_also_where_names_are_numbers() -> None:
    def numbered(calls: Calls) -> dict[int, Any]:
        return dict(zip([2, 1, 0], transformers(calls), strict=False))

    ours, plain = both(numbered, ["map"], baseline=0)
    assert_same_columns(ours, plain)


@pytest.mark.parametrize("names", [None, ["v", "w", "x", "y"]], ids=["not_given", "given"])
@pytest.mark.parametrize("systems", [interleaved, frames, mixed, named])
@PLANS
def test_names(systems: Systems, names: list[str] | None, plan: str) -> None:
    made = systems([])
    names = names and names[: len(made)]
    ours, plain = both(systems, ["map"], names=names, plan=plan)
    assert_same_columns(ours, plain)
    expected = list(made) if isinstance(made, dict) else names or [str(system) for system in made]
    assert ours["name"].tolist() == expected


def sorted_rows(rows: pd.DataFrame) -> list[tuple[Any, ...]]:
    return sorted(rows.itertuples(index=False, name=None), key=str)


DUPLICATES = [["v", "v", "w", "w"], ["v", "v", "v #0", "0: v"], ["v"] * 4]


@pytest.mark.parametrize("names", DUPLICATES, ids=["duplicates", "numbered", "equal"])
@pytest.mark.parametrize("perquery", [False, True, "both"])
@PLANS
def test_duplicate_names(names: list[str], perquery: bool | str, plan: str) -> None:
    ours, plain = both(interleaved, ["map"], names=names, perquery=perquery, plan=plan)
    brute = brute_force(interleaved)
    if perquery is not True:
        averages, expected = (ours[0], plain[0]) if perquery else (ours, plain)
        assert_same_columns(averages, expected)
        assert averages[PREF].tolist() == pytest.approx(brute.means())
    if perquery:
        rows, expected = (ours[1], plain[1]) if perquery == "both" else (ours, plain)
        plain_rows = [row for row in sorted_rows(rows) if row[2] != PREF]
        np.testing.assert_equal(plain_rows, sorted_rows(expected))
        found = sorted(rows.loc[rows["measure"] == PREF, ["name", "qid", "value"]].itertuples(index=False))
        wanted = sorted((names[s], q, brute.against_others(s, q)) for s in range(4) for q in brute.queries())
        assert [row[:2] for row in found] == [row[:2] for row in wanted]
        assert [row[2] for row in found] == pytest.approx([row[2] for row in wanted])


@pytest.mark.parametrize("precompute_prefix", [False, True])
@BATCHES
def test_common_prefix(precompute_prefix: bool, batch_size: int | None) -> None:
    ours, plain = both(shared_prefix, ["map"], precompute_prefix=precompute_prefix, batch_size=batch_size)
    assert_same_columns(ours, plain)
    brute = brute_force(shared_prefix)
    assert ours[PREF].tolist() == pytest.approx(brute.means())


# -- what is returned ------------------------------------------------------------------------------


def assert_plain_rows(rows: pd.DataFrame, plain: pd.DataFrame, preferences: Sequence[str] = (PREF,)) -> None:
    """PyTerrier's rows, as they were, beside those of the preferences, all in the order of names and queries."""
    assert list(rows) == list(plain)
    assert set(rows["measure"]) <= {*plain["measure"], *preferences}
    kept, expected = (
        table.sort_values(["name", "qid", "measure"], ignore_index=True)
        for table in (rows[~rows["measure"].isin(preferences)], plain)
    )
    assert_frame_equal(kept, expected, check_exact=True)
    order = rows.sort_values(["name", "qid"], kind="stable")
    assert_frame_equal(rows.reset_index(drop=True), order.reset_index(drop=True))


def assert_rows_in_order(rows: pd.DataFrame, measures: Sequence[Any]) -> None:
    """The measures of every system and query stand in the order asked."""
    place = {str(measure): i for i, measure in enumerate(measures)}
    for _, group in rows.groupby(["name", "qid"], sort=False):
        places = [place[measure] for measure in group["measure"]]
        assert places == sorted(places)


def assert_preference_rows(rows: pd.DataFrame, brute: BruteForce, name: str = "lexirecall") -> None:
    """A row for each system and query with relevant documents."""
    values = rows[rows["measure"] == f"pref:{name}"].set_index(["name", "qid"])["value"].to_dict()
    expected = {
        (system, q): brute.against_others(s, q, name)
        for s, system in enumerate(dict.fromkeys(named([])))
        for q in brute.queries()
    }
    assert values == pytest.approx(expected)


@METRICS
@pytest.mark.parametrize("perquery", [False, "both"])
@BATCHES
@PLANS
def test_tables(metrics: list[Any], perquery: bool | str, batch_size: int | None, plan: str) -> None:
    options = {"perquery": perquery, "batch_size": batch_size, "plan": plan, "filter_by_topics": False}
    ours, plain = both(named, metrics, preferences=["lexirecall", "rpp"], **options)
    brute = brute_force(named, plan, filter_by_topics=False)
    assert type(ours) is type(plain)
    averages, expected = (ours.averages, plain.averages) if perquery else (ours, plain)
    assert_same_columns(averages, expected)
    for name in PREFER:
        assert averages[f"pref:{name}"].tolist() == pytest.approx(brute.means(name))
    assert averages.attrs["comparison"].runs == list(named([]))
    if perquery:
        assert_plain_rows(ours.perquery, plain.perquery, ["pref:lexirecall", "pref:rpp"])
        assert_rows_in_order(ours.perquery, [*metrics, "pref:lexirecall", "pref:rpp"])
        for name in PREFER:
            assert_preference_rows(ours.perquery, brute, name)
        assert ours.perquery.attrs["comparison"].runs == list(named([]))


@METRICS
@PLANS
def test_rows_alone(metrics: list[Any], plan: str) -> None:
    ours, plain = both(named, metrics, perquery=True, batch_size=BATCH, plan=plan)
    assert_plain_rows(ours, plain)
    assert_rows_in_order(ours, [*metrics, PREF])
    assert_preference_rows(ours, brute_force(named))
    assert ours.attrs["comparison"].runs == list(named([]))


@pytest.mark.parametrize("metrics", [["map", "mrt"], [LR(rel=2) @ 5, "ndcg", AP]], ids=["strings", "mixed"])
@pytest.mark.parametrize("perquery", [False, True, "both"])
@BATCHES
@PLANS
def test_dicts(metrics: list[Any], perquery: bool | str, batch_size: int | None, plan: str) -> None:
    options = {"perquery": perquery, "batch_size": batch_size, "plan": plan, "filter_by_topics": False}
    ours, plain = both(named, metrics, preferences=["lexirecall", "rpp"], dataframe=False, **options)
    brute = brute_force(named, plan, filter_by_topics=False)
    assert type(ours) is type(plain)
    if perquery is not True:
        means, expected = (ours[0], plain[0]) if perquery else (ours, plain)
        assert list(means) == list(expected)
        for s, (system, row) in enumerate(means.items()):
            timed = [str(metric) for metric in metrics if metric != "mrt" or not perquery]
            assert list(row) == [*timed, "pref:lexirecall", "pref:rpp"]
            assert set(row) == {*expected[system], "pref:lexirecall", "pref:rpp"}
            for measure in set(expected[system]) - {"mrt"}:
                assert_same_dicts(row[measure], expected[system][measure])
            assert row["pref:lexirecall"] == pytest.approx(brute.mean(s))
            assert row["pref:rpp"] == pytest.approx(brute.mean(s, "rpp"))
    if perquery:
        rows, expected = (ours[1], plain[1]) if perquery == "both" else (ours, plain)
        assert list(rows) == list(expected)
        for s, by_query in rows.items():
            assert list(by_query) == list(expected[s])
            for q, row in by_query.items():
                preferred = {m: v for m, v in row.items() if m.startswith("pref:")}
                np.testing.assert_equal({m: v for m, v in row.items() if m not in preferred}, dict(expected[s][q]))
                judged = PREFER if q in brute.queries() else {}
                assert preferred == pytest.approx({f"pref:{name}": brute.against_others(s, q, name) for name in judged})
                assert list(row) == [m for m in [*map(str, metrics), *preferred] if m != "mrt"]


@pytest.mark.parametrize("perquery", [True, "both"])
@PLANS
def test_rows_can_be_told_apart_by_their_index(perquery: bool | str, plan: str) -> None:
    ours, plain = both(named, ["map", LR], perquery=perquery, plan=plan)
    rows, expected = (ours.perquery, plain.perquery) if perquery == "both" else (ours, plain)
    assert expected.index.is_unique
    assert rows.index.is_unique


@PLANS
def test_several_preferences(plan: str) -> None:
    ours, plain = both(interleaved, [AP, LR @ 5], preferences=NAMES, baseline=2, correction="holm", plan=plan)
    brute = brute_force(interleaved)
    names = [str(system) for system in interleaved([])]
    runs = dict(zip(names, brute.runs, strict=True))
    compared = irl.compare(brute.grades, runs, list(NAMES), baseline=names[2])
    assert_same_columns(ours, plain)
    for name in NAMES:
        assert ours[f"pref:{name}"].tolist() == compared.matrix(name)[names[2]].tolist()
        table = compared.table(name).set_index("run_a").reindex(names)
        expected = table[["wins", "losses", "p", "verdict", "p_corrected"]].reset_index(drop=True)
        expected["verdict"] = expected["verdict"].isin(["better", "worse"])
        expected.columns = ["+", "-", "p-value", "reject", "p-value corrected"]
        assert_statistics(ours, f"pref:{name}", expected)
    for name in PREFER:
        assert_preference(ours, brute.means(name, 2), brute.corrected(2, "holm", name=name), f"pref:{name}")


def assert_same_dicts(ours: Any, plain: Any) -> None:
    """The same but for the last bits of sums, and for means of PyTerrier's that are NaN for topics without qrels."""
    if isinstance(plain, Mapping):
        assert set(ours) == set(plain)
        for key in plain:
            assert_same_dicts(ours[key], plain[key])
    elif isinstance(plain, tuple):
        for a, b in zip(ours, plain, strict=True):
            assert_same_dicts(a, b)
    elif not math.isnan(plain):
        assert ours == pytest.approx(plain, rel=1e-12)


@pytest.mark.parametrize("preferences", [[], None, ()], ids=str)
@pytest.mark.parametrize("perquery", [False, True, "both"])
@pytest.mark.parametrize("dataframe", [True, False])
@PLANS
def test_no_preferences(perquery: bool | str, dataframe: bool, plan: str, preferences: Any) -> None:
    """Nothing is added, and nothing changes but the order of columns."""
    options: dict[str, Any] = {"preferences": preferences} | ({} if perquery else {"baseline": 0})
    ours, plain = both(named, [AP, LR], perquery=perquery, dataframe=dataframe, plan=plan, **options)
    if not dataframe:
        assert_same_dicts(ours, plain)
        return
    if perquery is not True:
        averages, expected = (ours[0], plain[0]) if perquery else (ours, plain)
        assert_same_columns(averages, expected)
        assert set(averages) == set(expected)
        assert averages.attrs["comparison"].criteria == ["AP", "LexiRecall"]
    if perquery:
        rows, expected = (ours[1], plain[1]) if perquery == "both" else (ours, plain)
        assert_plain_rows(rows, expected, [])


@pytest.mark.parametrize("options", [{}, {"perquery": True}, {"perquery": "both"}, {"baseline": 1}])
@pytest.mark.parametrize("dataframe", [True, False])
def test_return_comparison(options: dict[str, Any], dataframe: bool) -> None:
    call = {"eval_metrics": ["map"], "verbose": False, "plan": "tree", "dataframe": dataframe, **options}
    args = (topics(), qrels())
    result, compared = pt.lexirecall.Experiment(named([]), *args, return_comparison=True, **call)
    alone = pt.lexirecall.Experiment(named([]), *args, **call)
    assert type(result) is type(alone)
    brute = brute_force(named)
    assert compared.runs == list(named([]))
    assert sorted(compared.criterion("lexirecall").query_ids) == sorted(brute.queries())
    assert sorted(compared.query_ids) == sorted(q for q in brute.grades)
    names = compared.runs
    for b in range(4):
        for a in range(b):
            explained = compared.explain(names[a], names[b], "lexirecall").set_index("query_id")["preference"].to_dict()
            assert explained == {q: brute.preference(a, b, q) for q in brute.queries()}


@pytest.mark.parametrize("options", [{}, {"perquery": True}, {"perquery": "both"}, {"highlight": "bold"}])
@pytest.mark.parametrize("dataframe", [True, False])
@PLANS
def test_single_system(options: dict[str, Any], dataframe: bool, plan: str) -> None:
    def single(calls: Calls) -> list[Any]:
        return [Retrieve("a", calls) >> Rerank("x", calls)]

    options = {"dataframe": dataframe, "plan": plan, **options}
    ours, plain = both(single, [AP, LR], **options)
    if not dataframe:
        assert_same_dicts(ours, plain)
    elif options.get("perquery") is True:
        assert_plain_rows(ours, plain, [])
    elif options.get("perquery") == "both":
        assert_same_columns(ours.averages, plain.averages)
        assert_plain_rows(ours.perquery, plain.perquery, [])
    elif "highlight" in options:
        assert_same_columns(ours.data, plain.data)
        assert cell_styles(ours) == cell_styles(plain)
    else:
        assert_same_columns(ours, plain)
        assert ours.attrs["comparison"].criteria == ["AP", "LexiRecall"]


@PLANS
def test_single_system_with_baseline(plan: str) -> None:
    ours, plain = both(lambda calls: [Retrieve("a", calls)], [AP, LR], baseline=0, plan=plan)
    assert_same_columns(ours, plain)


@pytest.mark.parametrize("metrics", [[], ["mrt"]])
@pytest.mark.parametrize("baseline", [None, 1])
@PLANS
def test_preferences_alone(metrics: list[Any], baseline: int | None, plan: str) -> None:
    """No measure but time: PyTerrier refuses that, but preferences are enough."""
    ours = outcome(pt.lexirecall.Experiment, interleaved, metrics, baseline=baseline, plan=plan).result
    brute = brute_force(interleaved)
    assert list(ours) == columns_asked(metrics, ["lexirecall"], statistics_asked(baseline, None))
    assert ours[PREF].tolist() == pytest.approx(brute.means(baseline=baseline))


# -- rounding and highlighting ---------------------------------------------------------------------


@pytest.mark.parametrize("places", [0, 2, {PREF: 1, "map": 3}, {"LexiRecall": 0, "pref:rpp": 2}], ids=str)
@PLANS
def test_rounded_averages(places: Any, plan: str) -> None:
    options = {"round": places, "baseline": 1, "plan": plan, "preferences": ["lexirecall", "rpp"]}
    ours, plain = both(interleaved, ["map", LR], **options)
    assert_same_columns(ours, plain, rounded=True)
    brute = brute_force(interleaved)
    for name in PREFER:
        digits = places if isinstance(places, int) else places.get(f"pref:{name}", 15)
        exact = brute.means(name, 1)
        assert ours[f"pref:{name}"].tolist() == pytest.approx([round(value, digits) for value in exact], abs=1e-12)
        assert_statistics(ours, f"pref:{name}", brute.statistics(1, name))


@pytest.mark.parametrize("perquery", [True, "both"])
@PLANS
def test_rounded_rows(perquery: bool | str, plan: str) -> None:
    ours, plain = both(named, ["map", LR], round=1, perquery=perquery, plan=plan)
    rows, expected = (ours.perquery, plain.perquery) if perquery == "both" else (ours, plain)
    assert_plain_rows(rows, expected)
    brute = brute_force(named)
    values = rows[rows["measure"] == PREF].set_index(["name", "qid"])["value"].to_dict()
    names = list(named([]))
    assert values == {
        (names[s], q): pytest.approx(round(brute.against_others(s, q), 1)) for s in range(4) for q in brute.queries()
    }


@pytest.mark.parametrize("perquery", [False, True, "both"])
def test_dicts_are_not_rounded(perquery: bool | str) -> None:
    options = {"dataframe": False, "perquery": perquery}
    rounded, _ = both(named, ["map"], round=1, **options)
    exact, _ = both(named, ["map"], **options)
    np.testing.assert_equal(rounded, exact)


def cell_styles(styler: Any) -> dict[tuple[int, str], list[tuple[str, str]]]:
    """The styles of the cells that have any, by row and column."""
    cells = styler._compute().ctx
    return {(row, styler.data.columns[column]): style for (row, column), style in cells.items() if style}


@pytest.mark.parametrize("highlight", ["bold", "color"])
@pytest.mark.parametrize("metrics", [["map", "mrt"], ["map", "P_1", LR]], ids=["time", "ties"])
@pytest.mark.parametrize("baseline", [None, 1])
@PLANS
def test_highlights(highlight: str, metrics: list[Any], baseline: int | None, plan: str) -> None:
    ours, plain = both(interleaved, metrics, highlight=highlight, baseline=baseline, plan=plan)
    assert type(ours) is type(plain)
    assert_same_columns(ours.data, plain.data)
    assert "comparison" in ours.data.attrs
    recomputed = ("pref:", "mrt")
    styles, expected = cell_styles(ours), cell_styles(plain)
    assert {cell: style for cell, style in styles.items() if not cell[1].startswith(recomputed)} == {
        cell: style for cell, style in expected.items() if not cell[1].startswith(recomputed)
    }
    small = [column for column in ours.data if column == "mrt" or column.endswith(" -")]
    for column in [c for c in ours.data if c.startswith(recomputed) and not c.endswith("p-value")]:
        values = ours.data[column]
        best = values.min() if column in small else values.max()
        assert [row for row, name in styles if name == column] == values.index[values == best].tolist()
    assert not [cell for cell in styles if cell[1] == "name" or cell[1].endswith("p-value")]


@pytest.mark.parametrize(("highlight", "same_as"), [("colour", "color"), ("unknown", None)])
def test_other_highlights(highlight: str, same_as: str | None) -> None:
    result, _ = both(interleaved, ["map"], highlight=highlight)
    expected, _ = both(interleaved, ["map"], highlight=same_as)
    assert type(result) is type(expected)
    if same_as is None:
        assert_frame_equal(result, expected)
    else:
        assert cell_styles(result) == cell_styles(expected)


def test_highlighted_averages_beside_rows() -> None:
    result = outcome(pt.lexirecall.Experiment, named, ["map"], highlight="bold", perquery="both").result
    styles = cell_styles(result.averages)
    assert styles
    assert all(style == [("font-weight", "bold")] for style in styles.values())
    assert_preference_rows(result.perquery, brute_force(named))


# -- execution -------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch_size", [None, 1, 3, 100])
@pytest.mark.parametrize("metrics", [["map"], [LR]], ids=["map", "LR"])
def test_every_system_is_executed_once_per_batch(batch_size: int | None, metrics: list[Any]) -> None:
    def complete(calls: Calls) -> list[Any]:
        return [Retrieve(name, calls) for name in "abd"]

    calls = outcome(pt.lexirecall.Experiment, complete, metrics, batch_size=batch_size, baseline=0).calls
    size = batch_size or len(TOPIC_IDS)
    batches = [tuple(TOPIC_IDS[start : start + size]) for start in range(0, len(TOPIC_IDS), size)]
    assert calls == [(name, batch) for name in "abd" for batch in batches]


def test_a_tree_executes_every_stage_once_and_in_its_own_order() -> None:
    calls = outcome(pt.lexirecall.Experiment, interleaved, ["map"], plan="tree", baseline=0).calls
    assert [name for name, _ in calls] == ["a", "x", "y", "b", "x"]


@pytest.mark.parametrize("seed", range(3))
@BATCHES
def test_a_tree_in_any_order(seed: int, batch_size: int | None) -> None:
    def shuffled(calls: Calls) -> list[Any]:
        a, b, x, y = Retrieve("a", calls), Retrieve("b", calls), Rerank("x", calls), Rerank("y", calls)
        z = Rerank("z", calls)
        systems = [a, a >> x, a >> y, a >> x >> y, b >> x, b >> y >> x, b >> y, frame("d"), a >> z]
        return random.Random(seed).sample(systems, len(systems))

    options = {"batch_size": batch_size, "baseline": 4, "filter_by_topics": False}
    ours, plain = both(shuffled, ["map", LR @ 3], plan="tree", **options)
    brute = _brute_force.__wrapped__(shuffled, "tree", False)
    assert_same_columns(ours, plain)
    assert_preference(ours, brute.means(baseline=4), brute.statistics(4))


@pytest.mark.parametrize("batch_size", [None, 1, BATCH])
@pytest.mark.parametrize("test", ["t", "wilcoxon"])
@PLANS
def test_tests_warn_of_what_the_user_asked_for_only(batch_size: int | None, test: Any, plan: str) -> None:
    def complete(calls: Calls) -> list[Any]:
        return [Retrieve(name, calls) for name in "abd"]

    ours, plain = both(complete, ["map"], batch_size=batch_size, test=test, baseline=0, plan=plan)
    assert_same_columns(ours, plain)


@PLANS
def test_the_users_test_sees_values_of_the_users_measures_only(plan: str) -> None:
    seen = []

    def test(system: Any, baseline: Any) -> tuple[float, float]:
        seen.extend([*system, *baseline])
        return 0.0, 0.5

    ours, plain = both(transformers, ["map"], test=test, baseline=0, plan=plan)
    assert ours["map p-value"].dropna().tolist() == plain["map p-value"].dropna().tolist() == [0.5] * 3
    assert max(seen) <= 1


class Complaining(Retrieve):
    """A system that warns."""

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        if len(inp):
            warnings.warn("an old index", FutureWarning, stacklevel=1)
        return super().transform(inp)


@pytest.mark.parametrize("action", ["always", "default", "ignore"])
@pytest.mark.parametrize("where", [{}, {"module": re.escape(__name__)}], ids=["anywhere", "here"])
def test_warnings_of_systems_meet_the_users_filters(action: Any, where: dict[str, str]) -> None:
    def counted(experiment: Any) -> int:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("ignore")
            warnings.filterwarnings(action, category=FutureWarning, **where)
            systems = [Complaining(name, []) for name in "abd"]
            experiment(systems, topics(), qrels(), ["map"], batch_size=BATCH, validate="ignore")
        return len(caught)

    assert counted(pt.lexirecall.Experiment) == counted(pt.Experiment)


def test_warnings_of_systems_come_before_a_failure() -> None:
    class Failing(Complaining):
        def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
            super().transform(inp)
            raise RuntimeError("no index")

    with pytest.warns(FutureWarning, match="an old index"), pytest.raises(RuntimeError, match="no index"):
        pt.lexirecall.Experiment([Failing("a", [])], topics(), qrels(), ["map"], validate="ignore")


def test_a_warning_that_is_an_error_stops_the_system() -> None:
    calls: Calls = []
    with warnings.catch_warnings():
        warnings.simplefilter("error", FutureWarning)
        with pytest.raises(FutureWarning):
            pt.lexirecall.Experiment([Complaining("a", calls)], topics(), qrels(), ["map"], validate="ignore")
    assert not calls


def test_an_evaluation_inside_a_system_is_none_of_the_experiment() -> None:
    class Evaluating(Retrieve):
        """A system that looks at a measure of its own, as one that is tuned does."""

        def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
            results = super().transform(inp)
            if len(inp):
                pt.Evaluate(frame("d"), qrels(), [LR])
            return results

    def systems(calls: Calls) -> list[Any]:
        return [Evaluating(name, calls) for name in "abc"]

    ours, plain = both(systems, ["map"])
    assert_same_columns(ours, plain)
    brute = brute_force(lambda calls: transformers(calls)[:3])
    assert ours[PREF].tolist() == pytest.approx(brute.means())


def test_an_experiment_inside_a_system() -> None:
    class Experimenting(Retrieve):
        def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
            if len(inp):
                pt.lexirecall.Experiment([frame("a"), frame("d")], topics(), qrels(), [LR])
            return super().transform(inp)

    ours, plain = both(lambda calls: [Experimenting(name, calls) for name in "abc"], ["map"])
    assert_same_columns(ours, plain)
    brute = brute_force(lambda calls: transformers(calls)[:3])
    assert ours[PREF].tolist() == pytest.approx(brute.means())


def test_a_failure_leaves_nothing_behind() -> None:
    class Failing(Retrieve):
        def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
            if len(inp):
                raise RuntimeError("no index")
            return super().transform(inp)

    call = {"topics": topics(), "qrels": qrels(), "eval_metrics": [LR]}
    with pytest.raises(RuntimeError, match="no index"):
        pt.lexirecall.Experiment([Retrieve("a", []), Failing("b", [])], **call)
    ours, plain = both(transformers, [LR])
    assert_same_columns(ours, plain)
    assert ours[PREF].tolist() == pytest.approx(brute_force(transformers).means())


def test_experiments_in_threads() -> None:
    def means(systems: Systems) -> list[float]:
        return pt.lexirecall.Experiment(systems([]), topics(), qrels(), ["map"])[PREF].tolist()

    kinds = [transformers, interleaved, shared_prefix] * 2
    with ThreadPoolExecutor(3) as pool:
        results = list(pool.map(means, kinds))
    for systems, result in zip(kinds, results, strict=True):
        brute = brute_force(systems)
        assert result == pytest.approx(brute.means())


def test_overlapping_threads_leave_the_filters_of_warnings() -> None:
    """One experiment begins within another one, and ends after it."""
    first_runs, second_runs, first_is_done = Event(), Event(), Event()

    class First(Retrieve):
        def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
            first_runs.set()
            assert second_runs.wait(30)
            return super().transform(inp)

    class Second(Retrieve):
        def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
            second_runs.set()
            assert first_is_done.wait(30)
            return super().transform(inp)

    def run(system: Retrieve) -> None:
        pt.lexirecall.Experiment([system], topics(), qrels(), ["map"], validate="ignore")

    before, show = list(warnings.filters), warnings.showwarning
    with warnings.catch_warnings(), ThreadPoolExecutor(2) as pool:
        expected = list(warnings.filters)
        first = pool.submit(run, First("a", []))
        assert first_runs.wait(30)
        second = pool.submit(run, Second("b", []))
        first.result(60)
        first_is_done.set()
        second.result(60)
        assert list(warnings.filters) == expected
    assert (warnings.filters, warnings.showwarning) == (before, show)


# -- runs and summaries on disk --------------------------------------------------------------------


def files(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def summaries(folder: Path) -> tuple[list[dict[str, str]], list[tuple[str, ...]]]:
    """The two tables, as text, without time and the order of measures."""
    averages, rows = (
        pd.read_csv(folder / name, dtype=str, keep_default_na=False) for name in ("aggregated.csv", "perquery.csv")
    )
    records = averages.drop(columns="mrt", errors="ignore").to_dict("records")
    return records, sorted(rows.itertuples(index=False, name=None))


@pytest.fixture
def folders(tmp_path: Path) -> list[Path]:
    """A folder for our experiment, and one for PyTerrier's."""
    both = [tmp_path / name for name in ("ours", "plain")]
    for folder in both:
        folder.mkdir()
    return both


@METRICS
@pytest.mark.parametrize("mode", ["overwrite", "reuse"])
@BATCHES
def test_saved(metrics: list[Any], mode: str, batch_size: int | None, folders: list[Path]) -> None:
    """Twice into the same folder: the same files as PyTerrier writes, none of ours in them, no warning."""
    own, other = folders
    brute = brute_force(named)
    for turn in range(2):
        options = {"save_mode": mode, "batch_size": batch_size, "baseline": "two"}
        ours = outcome(pt.lexirecall.Experiment, named, metrics, save_dir=str(own), **options)
        plain = outcome(pt.Experiment, named, metrics, save_dir=str(other), **options)
        assert ours.calls == plain.calls
        assert (ours.calls == []) == (turn == 1 and mode == "reuse")
        assert ours.warnings == plain.warnings
        assert not [message for _, message in ours.warnings if "measures differ" in message]
        assert_same_columns(ours.result, plain.result)
        assert_preference(ours.result, brute.means(baseline=1), brute.statistics(1))
        assert set(files(own)) == {*(f"{name}.res.gz" for name in named([])), "aggregated.csv", "perquery.csv"}
        assert summaries(own) == summaries(other)
        assert not [name for name, text in files(own).items() if name.endswith(".csv") and HIDDEN.encode() in text]


@pytest.mark.parametrize("name", ["aggregated.csv", "perquery.csv"])
def test_a_full_disk_leaves_the_summaries_whole(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They hold what earlier experiments measured, too."""
    outcome(pt.Experiment, named, ["map", "ndcg"], save_dir=str(tmp_path), save_mode="reuse")
    before = files(tmp_path)
    write = pd.DataFrame.to_csv

    def full(table: pd.DataFrame, path: Any, **options: Any) -> None:
        write(table.head(1), path, **options)
        if ("measure" in table) == (name == "perquery.csv"):
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(pd.DataFrame, "to_csv", full)
    with pytest.raises(OSError, match="No space left"):
        summaries_of_pyterrier.remove_measure(str(tmp_path), "map")
    assert files(tmp_path)[name] == before[name]
    assert files(tmp_path).keys() == before.keys()


@pytest.mark.parametrize("save_format", ["trec", pickle])
def test_reused_files_are_left_as_they_are(save_format: Any, tmp_path: Path) -> None:
    options = {"save_dir": str(tmp_path), "save_mode": "reuse", "save_format": save_format}
    first = outcome(pt.lexirecall.Experiment, named, ["map"], **options)
    before = files(tmp_path)
    second = outcome(pt.lexirecall.Experiment, named, ["map"], **options)
    assert first.calls
    assert not second.calls
    assert files(tmp_path) == before
    assert_frame_equal(first.result, second.result)


@pytest.mark.parametrize("perquery", [True, "both"])
@pytest.mark.parametrize("dataframe", [True, False])
def test_saved_in_every_form(perquery: bool | str, dataframe: bool, folders: list[Path]) -> None:
    own, other = folders
    options = {"save_mode": "reuse", "perquery": perquery, "dataframe": dataframe, "round": 2}
    for _ in range(2):
        outcome(pt.lexirecall.Experiment, named, ["map"], save_dir=str(own), **options)
        outcome(pt.Experiment, named, ["map"], save_dir=str(other), **options)
        for name in ("aggregated.csv", "perquery.csv"):
            assert files(own)[name].decode() == files(other)[name].decode()


def subset(*names: str) -> Systems:
    return lambda calls: {name: system for name, system in named(calls).items() if name in names}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ((("one", "two"), ["map"]), (("one", "two"), ["map"])),
        ((("one", "two"), ["map"]), (("three", "four"), ["map"])),
        ((("one", "two"), ["map"]), (("one", "two"), ["map", "P_5"])),
        ((("one", "two"), ["map", "P_5"]), (("one", "two"), ["map"])),
        ((("one", "two"), ["map"]), (("three", "four"), ["map", "P_5"])),
        ((("one", "two"), ["map", "P_5"]), (("three", "four"), ["map"])),
        ((("one", "two"), ["map"]), (("two", "four"), ["P_5"])),
        ((("one", "two"), [LR]), (("one", "two"), ["map"])),
        ((("one", "two"), ["map"]), (("one", "two"), [LR])),
        ((("one", "two"), ["map", LR]), (("three", "four"), ["map"])),
        ((("one", "two"), ["map", LR(rel=2) @ 5]), (("one", "two"), ["map", LR(rel=2) @ 5])),
        ((("one", "two"), ["map", LR(rel=2) @ 5]), (("one", "two"), ["map", LR(rel=2) @ 5, "ndcg"])),
        ((("one", "two"), ["map", LR(form="weighted", n=1000)]), (("one", "two"), ["map"])),
    ],
    ids=[
        "same",
        "other systems",
        "more measures",
        "fewer measures",
        "other systems, more measures",
        "other systems, fewer measures",
        "overlapping systems, other measures",
        "without ours",
        "with ours",
        "other systems, without ours",
        "same, with parameters",
        "more measures, with parameters",
        "without parameters",
    ],
)
def test_a_warning_where_measures_differ(first: Any, second: Any, folders: list[Path]) -> None:
    own, other = folders
    for systems, metrics in (first, second):
        options = {"save_mode": "overwrite", "baseline": 0}
        ours = outcome(pt.lexirecall.Experiment, subset(*systems), metrics, save_dir=str(own), **options)
        plain = outcome(pt.Experiment, subset(*systems), metrics, save_dir=str(other), **options)
        assert [category for category, message in ours.warnings if "measures differ" in message] == [
            category for category, message in plain.warnings if "measures differ" in message
        ]
        assert not [message for _, message in ours.warnings if HIDDEN in message]
        assert summaries(own) == summaries(other)


@pytest.mark.parametrize("metrics", [["map"], [LR]], ids=["map", "LR"])
def test_summaries_keep_names_that_look_missing(metrics: list[Any], folders: list[Path]) -> None:
    names = ["None", "NA", "007", "a b"]
    own, other = folders
    outcome(pt.lexirecall.Experiment, transformers, metrics, names=names, save_dir=str(own))
    outcome(pt.Experiment, transformers, metrics, names=names, save_dir=str(other))
    for name in ("aggregated.csv", "perquery.csv"):
        assert files(own)[name].decode() == files(other)[name].decode()


# -- preferences that numbers cannot see -----------------------------------------------------------


def deep_data() -> tuple[pd.DataFrame, pd.DataFrame, list[str]]:
    """Rankings of 400 documents; the last 59 are relevant, and so is the second, which only reranking brings up."""
    docs = [f"d{i:03}" for i in range(400)]
    query_ids = [str(q) for q in range(8)]
    relevant = [docs[1], *docs[-59:]]
    judged = pd.DataFrame([(q, d, 1) for q in query_ids for d in relevant], columns=["qid", "docno", "label"])
    return topics(query_ids), judged, docs


class Deep(pt.Transformer):
    def __init__(self, docs: list[str]) -> None:
        self.docs = docs

    def __repr__(self) -> str:
        return "deep"

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        rows = [(q, d, -float(i), i) for q in inp["qid"] for i, d in enumerate(self.docs)]
        return pd.DataFrame(rows, columns=["qid", "docno", "score", "rank"])


class SwapTop(pt.Transformer):
    """Exchanges the first two documents, for some of the queries."""

    def __init__(self, query_ids: Sequence[str]) -> None:
        self.query_ids = query_ids

    def __repr__(self) -> str:
        return f"swap in {len(self.query_ids)}"

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        here = inp["qid"].isin(self.query_ids)
        score = inp["score"].mask(here & (inp["rank"] == 0), -1.0).mask(here & (inp["rank"] == 1), 0.0)
        return pt.model.add_ranks(inp.assign(score=score))


@BATCHES
@PLANS
def test_differences_above_a_long_shared_tail(batch_size: int | None, plan: str) -> None:
    queries, judged, docs = deep_data()
    deep = Deep(docs)
    systems = [deep >> SwapTop(queries["qid"][:7].tolist()), deep, deep >> SwapTop(queries["qid"][:2].tolist())]
    call = {"baseline": 1, "verbose": False, "batch_size": batch_size, "plan": plan, "test": pt.lexirecall.sign_test}
    plain = pt.Experiment(systems, queries, judged, [AP, LR], **call)
    ours = pt.lexirecall.Experiment(systems, queries, judged, [AP, LR], **call)
    assert plain["AP +"].tolist() == pytest.approx([7, math.nan, 2], nan_ok=True)
    assert plain["LexiRecall"].nunique() == 1
    assert plain["LexiRecall +"].tolist() == pytest.approx([0, math.nan, 0], nan_ok=True)
    assert plain["LexiRecall p-value"].tolist() == pytest.approx([1, math.nan, 1], nan_ok=True)
    assert_same_columns(ours, plain)
    assert ours[f"{PREF} +"].tolist() == pytest.approx([7, math.nan, 2], nan_ok=True)
    assert ours[f"{PREF} -"].tolist() == pytest.approx([0, math.nan, 0], nan_ok=True)
    assert ours[f"{PREF} p-value"].tolist() == pytest.approx([2 / 2**7, math.nan, 0.5], nan_ok=True)
    assert ours[PREF].tolist() == pytest.approx([7 / 8, 0, 2 / 8])
    alone = pt.lexirecall.Experiment(systems, queries, judged, [AP, LR], **{**call, "baseline": None})
    assert alone[PREF].tolist() == pytest.approx([(7 + 5) / 16, (-7 - 2) / 16, (-5 + 2) / 16])


# -- inputs and errors -----------------------------------------------------------------------------


@pytest.mark.parametrize("systems", [transformers, frames, named])
@PLANS
def test_inputs_stay_as_they_are(systems: Systems, plan: str) -> None:
    made, queries, judged = systems([]), topics(), qrels()
    frozen = {
        "eval_metrics": ["map", LR, "mrt"],
        "names": ["same"] * len(made),
        "preferences": ["rpp", "lexirecall"],
        "round": {"pref:rpp": 2},
    }
    options = copy.deepcopy(frozen)
    members = list(made.values()) if isinstance(made, dict) else list(made)
    before = [each.copy(deep=True) if isinstance(each, pd.DataFrame) else each for each in members]
    keys = list(made) if isinstance(made, dict) else None
    pt.lexirecall.Experiment(
        made, queries, judged, baseline=0, correction="holm", highlight="bold", plan=plan, verbose=False, **options
    )
    assert options == frozen
    assert_frame_equal(queries, topics())
    assert_frame_equal(judged, qrels())
    after = list(made.values()) if isinstance(made, dict) else list(made)
    assert keys is None or list(made) == keys
    for old, same, new in zip(before, members, after, strict=True):
        assert same is new
        if isinstance(new, pd.DataFrame):
            # PyTerrier makes ids objects, in place.
            assert_frame_equal(new, old, check_dtype=False)


@pytest.mark.parametrize("validate", ["warn", "error", "ignore"])
def test_validation_is_that_of_pyterrier(validate: str) -> None:
    def not_inspectable(calls: Calls) -> list[Any]:
        return [pt.apply.generic(lambda inp: Retrieve("a", calls).transform(inp[["qid"]])), frame("b")]

    ours, plain = both(not_inspectable, ["map"], names=["one", "two"], validate=validate)
    assert_same_columns(ours, plain)


@pytest.mark.parametrize(
    ("systems", "options"),
    [
        (transformers, {"baseline": 9}),
        (transformers, {"baseline": "a"}),
        (named, {"baseline": "none of them"}),
        (transformers, {"baseline": 0, "perquery": True}),
        (transformers, {"correction": "holm"}),
        (transformers, {"names": ["too", "few"]}),
        (transformers, {"no_such_option": 1}),
        (transformers, {"round": -1}),
        (transformers, {"round": "two"}),
        (transformers, {"round": {"map": 1}, "perquery": True}),
        (transformers, {"save_dir": "/no/such/folder"}),
        (transformers, {"topics": topics(["77"])}),
        (transformers, {"baseline": 0, "correction": "no such correction"}),
        (lambda calls: Retrieve("a", calls), {}),
        (lambda calls: [Retrieve("a", calls), "b"], {}),
        (lambda calls: [Retrieve("a", calls), frame("b").iloc[:0]], {}),
    ],
    ids=lambda each: "-".join(map(str, each)) if isinstance(each, dict) else getattr(each, "__name__", "systems"),
)
def test_errors_are_those_of_pyterrier(systems: Systems, options: dict[str, Any]) -> None:
    with pytest.raises((AssertionError, TypeError, ValueError)) as expected:
        outcome(pt.Experiment, systems, ["map"], **options)
    with pytest.raises(expected.type) as raised:
        outcome(pt.lexirecall.Experiment, systems, ["map"], **options)
    if {"topics", "save_dir"} & set(options) or options == {"correction": "holm"}:  # what PyTerrier itself looks at
        assert str(raised.value) == str(expected.value)


@pytest.mark.parametrize("preferences", [["LexiRecall"], ["lexirecall", "map"], ["AP"]])
def test_an_unknown_preference_is_refused_before_anything_is_executed(preferences: list[str]) -> None:
    calls: Calls = []
    with pytest.raises(
        ValueError, match=r"pt\.lexirecall\.Experiment: unknown preference '.*'; choose from lexirecall, "
    ):
        pt.lexirecall.Experiment(transformers(calls), topics(), qrels(), ["map"], preferences=preferences)
    assert not calls


# -- several baselines -----------------------------------------------------------------------------


@pytest.mark.parametrize("baselines", [[0, 2], [3, 0, 1], (2,), ["one", "four"], ["two", 3], [np.int64(1), 2]], ids=str)
@pytest.mark.parametrize("correction", [None, "holm"])
@PLANS
def test_several_baselines(baselines: Sequence[Any], correction: str | None, plan: str) -> None:
    """The statistics against each are those that PyTerrier gives for it alone; their columns end with its name."""
    names = list(named([]))
    places = [names.index(baseline) if isinstance(baseline, str) else int(baseline) for baseline in baselines]
    metrics = [LR(rel=2) @ 5, "map", "mrt", nDCG @ 3]
    options = {"correction": correction, "plan": plan, "test": "wilcoxon"}
    ours = outcome(pt.lexirecall.Experiment, named, metrics, baseline=baselines, **options).result
    brute, statistics = brute_force(named), statistics_asked(0, correction)
    measures = [str(metric) for metric in metrics]
    assert list(ours) == [
        *["name", *measures],
        *(f"{m} {kind} ({names[p]})" for p in places for m in measures if m != "mrt" for kind in statistics),
        *(f"{PREF}{kind} ({names[p]})" for p in places for kind in ["", *(f" {kind}" for kind in statistics)]),
    ]
    for place in places:
        end = f" ({names[place]})"
        plain = outcome(pt.Experiment, named, metrics, baseline=place, **options).result
        assert_frame_equal(
            ours[["LexiRecall(rel=2)@5", "map", "nDCG@3"]], plain[["LexiRecall(rel=2)@5", "map", "nDCG@3"]]
        )
        for name in ("LexiRecall(rel=2)@5", "map", "nDCG@3"):
            columns = [f"{name} {kind}" for kind in statistics]
            assert_statistics(ours, name, plain[columns].set_axis(statistics, axis=1), end)
        expected = brute.corrected(place, correction) if correction else brute.statistics(place)
        assert ours[f"{PREF}{end}"].tolist() == pytest.approx(brute.means(baseline=place))
        assert_statistics(ours, PREF, expected, end)


def test_several_baselines_highlighted_rounded_and_without_a_frame() -> None:
    options: dict[str, Any] = {"baseline": [1, 3], "round": {PREF: 1, "map": 2}, "highlight": "bold"}
    styled = outcome(pt.lexirecall.Experiment, named, ["map"], **options).result
    table, brute = styled.data, brute_force(named)
    for place, end in ((1, " (two)"), (3, " (four)")):
        assert table[f"{PREF}{end}"].tolist() == [round(value, 1) for value in brute.means(baseline=place)]
    painted = {column for _, column in cell_styles(styled)}
    kinds = [f"{name}{kind} ({base})" for name in ("map", PREF) for kind in (" +", " -") for base in ("two", "four")]
    assert painted == {"map", *kinds, f"{PREF} (two)", f"{PREF} (four)"}
    means = outcome(pt.lexirecall.Experiment, named, ["map"], baseline=[1, 3], dataframe=False).result
    for s, row in enumerate(means.values()):
        assert list(row) == ["map", f"{PREF} (two)", f"{PREF} (four)"]
        assert [row[f"{PREF} (two)"], row[f"{PREF} (four)"]] == pytest.approx(
            [brute.means(baseline=1)[s], brute.means(baseline=3)[s]]
        )


def test_several_baselines_beside_saved_files(folders: list[Path]) -> None:
    own, other = folders
    ours = outcome(pt.lexirecall.Experiment, named, ["map", LR], baseline=[2, 0], save_dir=str(own))
    outcome(pt.Experiment, named, ["map", LR], baseline=2, save_dir=str(other))
    assert summaries(own) == summaries(other)
    plain = outcome(pt.Experiment, named, ["map", LR], baseline=0).result
    for name in ("map", "LexiRecall"):
        for kind in ("+", "-", "p-value"):
            expected = plain[f"{name} {kind}"].tolist()
            assert ours.result[f"{name} {kind} (one)"].tolist() == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize("names", [["v", "v", "w", "w"], ["0: v", "v", "v", "w"]], ids=["pairs", "numbered"])
def test_baselines_of_the_same_name_are_told_apart(names: list[str]) -> None:
    table = outcome(pt.lexirecall.Experiment, interleaved, ["map"], names=names, baseline=[0, 1]).result
    brute = brute_force(interleaved)
    first, second = [column for column in table if column.startswith(f"{PREF} (")]
    assert first != second
    assert table[first].tolist() == pytest.approx(brute.means(baseline=0))
    assert table[second].tolist() == pytest.approx(brute.means(baseline=1))


def test_several_baselines_of_a_single_system() -> None:
    table = outcome(pt.lexirecall.Experiment, lambda calls: [Retrieve("a", calls)], [AP], baseline=[0]).result
    assert list(table) == ["name", "AP", "AP + (a)", "AP - (a)", "AP p-value (a)"]
    assert table.iloc[:, 2:].isna().all().all()


@pytest.mark.parametrize(
    "baseline", [[], [0, 0], [0, "one"], [4], [-1], ["none of them"], [1.5], [True], [None]], ids=str
)
def test_baselines_that_are_none_are_refused_before_anything_is_executed(baseline: list[Any]) -> None:
    calls: Calls = []
    with pytest.raises(ValueError, match=r"pt\.lexirecall\.Experiment: .*baseline"):
        pt.lexirecall.Experiment(named(calls), topics(), qrels(), ["map"], baseline=baseline)
    assert not calls


# -- tests -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"baseline": 0}, {"perquery": True}])
@pytest.mark.parametrize("test", ["no such test", "T", "", 3], ids=str)
def test_an_unknown_test_is_refused_before_anything_is_executed(test: Any, options: dict[str, Any]) -> None:
    calls: Calls = []
    message = rf"pt\.lexirecall\.Experiment: unknown test {re.escape(repr(test))}; (did you mean|choose from sign, t, wilcoxon)"
    with pytest.raises(ValueError, match=message):
        pt.lexirecall.Experiment(transformers(calls), topics(), qrels(), ["map"], test=test, **options)
    assert not calls


@PLANS
def test_any_function_is_a_test(plan: str) -> None:
    def smallest(system: Any, baseline: Any) -> tuple[None, float]:
        return None, float(min(*system, *baseline))

    for correction in (None, "bonferroni"):
        options = {"test": smallest, "baseline": 1, "correction": correction, "plan": plan}
        ours, plain = both(transformers, ["map", LR], **options)
        for column in [column for column in plain if "p-value" in column or "reject" in column]:
            assert_frame_equal(ours[[column]], plain[[column]], check_exact=True)
        brute = brute_force(transformers)
        assert_statistics(ours, PREF, brute.corrected(1, correction) if correction else brute.statistics(1))
        compared = ours.attrs["comparison"]
        assert [compared.test_of(name).name for name in compared.criteria] == ["t", "t", "sign"]


def test_a_test_with_its_options() -> None:
    test = irl.SignificanceTest("randomisation", correction="bonferroni", alpha=0.5, n_resamples=99, seed=3)
    table = outcome(pt.lexirecall.Experiment, named, ["map"], test=test, baseline=0).result
    assert list(table) == columns_asked(["map"], ["lexirecall"], statistics_asked(0, "bonferroni"))
    assert table.attrs["comparison"].test == test
    assert_one_answer(table)
    outcome(pt.lexirecall.Experiment, named, ["map"], test=test)  # its correction needs no baseline


# -- order -----------------------------------------------------------------------------------------

IN_ORDER = """
import json, sys, warnings
warnings.simplefilter("ignore")
import pandas as pd, pyterrier as pt
from pyterrier.measures import *
topics = pd.DataFrame({"qid": ["1"], "query": ["x"]})
qrels = pd.DataFrame({"qid": ["1", "1"], "docno": ["a", "b"], "label": [1, 1]})
runs = {n: pd.DataFrame({"qid": "1", "docno": list(n), "score": [2.0, 1.0], "rank": [0, 1]}) for n in ("ab", "ba")}
metrics = ["ndcg", TSE, "mrt", R @ 5, LR, "map", RBU @ 3, CWL_ERR10(max_rel=1), "P"]
call = {"baseline": "ab", "correction": "holm"}
table = pt.lexirecall.Experiment(runs, topics, qrels, metrics, **call)
rows = pt.lexirecall.Experiment(runs, topics, qrels, metrics, perquery=True)
own = pt.Experiment(runs, topics, qrels, [TSE, LR, RBU @ 3, LR @ 2], perquery=True)
print(json.dumps([list(table), rows["measure"].tolist(), own["measure"].tolist()]))
"""


def test_the_order_is_the_one_asked_whatever_the_hash_seed() -> None:
    printed = []
    for seed in ("0", "1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run(
            [sys.executable, "-c", IN_ORDER], env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        printed.append(json.loads(done.stdout))
    assert printed[0] == printed[1] == printed[2]
    columns, rows, own = printed[0]
    precisions = [f"P@{k}" for k in (5, 10, 15, 20, 30, 100, 200, 500, 1000)]
    measures = ["ndcg", "TSE", "R@5", "LexiRecall", "map", "RBU@3", "CWL_ERR10(max_rel=1)", *precisions]
    statistics = [f"{m} {kind}" for m in measures for kind in statistics_asked(0, "holm")]
    assert columns[: 3 + len(measures) - 1] == ["name", *measures[:2], "mrt", *measures[2:]]
    assert columns[2 + len(measures) :] == [
        *statistics,
        *columns_asked([], ["lexirecall"], statistics_asked(0, "holm"))[1:],
    ]
    assert rows == [*measures, PREF] * 2
    assert own[:4] == own[4:]


# -- judgments -------------------------------------------------------------------------------------


@pytest.fixture
def judgments_made(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of judged documents of qrels that are read."""
    sizes: list[int] = []
    read = judgments.read_qrels

    def counted(qrels: Any) -> Any:
        columns = read(qrels)
        sizes.append(len(columns[1]))
        return columns

    monkeypatch.setattr(judgments, "read_qrels", counted)
    return sizes


@pytest.mark.parametrize("options", [{}, {"filter_by_topics": False}, {"filter_by_qrels": True}], ids=str)
@pytest.mark.parametrize("perquery", [False, True])
@BATCHES
@PLANS
def test_judgments_are_made_once(
    plan: str, batch_size: int | None, perquery: bool, options: dict[str, bool], judgments_made: list[int]
) -> None:
    """Five systems in several batches, whose judgments are made of one table, with the values of PyTerrier's."""

    def systems(calls: Calls) -> list[Any]:
        return [*[Retrieve(name, calls) for name in "abd"], Retrieve("a", calls) >> Rerank("x", calls), frame("d")]

    metrics = [LR, TSE(rel=2), RBU @ 5, "map"]
    call = {"batch_size": batch_size, "plan": plan, "perquery": perquery, **options}
    ours = outcome(pt.lexirecall.Experiment, systems, metrics, **call).result
    judged = qrels() if options.get("filter_by_topics", True) is False else qrels()[qrels()["qid"].isin(TOPIC_IDS)]
    assert judgments_made == [len(judged)]
    plain = outcome(pt.Experiment, systems, metrics, **call).result
    assert len(judgments_made) >= 5
    if perquery:
        assert_plain_rows(ours, plain)
    else:
        assert_same_columns(ours, plain)
        assert ours[PREF].tolist() == pytest.approx(
            _brute_force.__wrapped__(systems, plan, options.get("filter_by_topics", True)).means()
        )


@BATCHES
@PLANS
def test_preferences_rest_on_the_runs_as_align_gives_them(batch_size: int | None, plan: str) -> None:
    def complete(calls: Calls) -> list[Any]:
        return [Retrieve(name, calls) for name in "abd"]

    table = outcome(pt.lexirecall.Experiment, complete, ["map"], batch_size=batch_size, plan=plan).result
    runs = table.attrs["comparison"].scored.runs
    tied = 0
    for run, system in zip(runs.values(), complete([]), strict=True):
        wanted = align(run.judgments, pt.model.to_ir_measures(system.transform(topics())))
        for name in ("query", "doc", "rank", "depth"):
            np.testing.assert_array_equal(getattr(run, name), getattr(wanted, name), strict=True)
        for ours, theirs in zip(run.tied(), wanted.tied(), strict=True):
            np.testing.assert_array_equal(ours, theirs)
        tied += int((run.tied()[1] > 1).sum())
    assert tied > 0


def test_qrels_in_a_file_are_read_once(tmp_path: Path, judgments_made: list[int]) -> None:
    judged = qrels()
    lines = [f"{qid} 0 {docno} {label}\n" for qid, docno, label in judged.itertuples(index=False)]
    (tmp_path / "qrels.txt").write_text("".join(lines))
    ours, plain = both(transformers, ["map", LR], qrels=str(tmp_path / "qrels.txt"), batch_size=BATCH, baseline=0)
    assert_same_columns(ours, plain)
    assert ours[PREF].tolist() == pytest.approx(brute_force(transformers).means(baseline=0))
    assert judgments_made.count(len(judged[judged["qid"].isin(TOPIC_IDS)])) == 1


def test_qrels_that_change_after_an_experiment_are_read_again() -> None:
    judged = qrels()
    call = {"qrels": judged, "batch_size": BATCH, "filter_by_topics": False}
    first, _ = both(transformers, [LR], **call)
    judged["label"] = judged["label"] * (judged["docno"] != "d0")
    second, _ = both(transformers, [LR], **call)
    assert first["LexiRecall"].tolist() != second["LexiRecall"].tolist()


def test_other_qrels_of_the_same_queries_inside_a_system() -> None:
    """Of the same size, but with other grades: as by a system that is tuned on judgments of its own."""
    stricter = qrels().assign(label=lambda table: (table["label"] >= 2).astype(int))
    seen: list[float] = []

    class Tuned(Retrieve):
        def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
            if len(inp):
                seen.append(pt.Evaluate(frame("d"), stricter, [LR])["LexiRecall"])
            return super().transform(inp)

    outcome(pt.lexirecall.Experiment, lambda calls: [Tuned("a", calls), Tuned("b", calls)], [LR])
    alone = pt.Evaluate(frame("d"), stricter, [LR])["LexiRecall"]
    assert set(seen) == {alone}
    assert alone != pt.Evaluate(frame("d"), qrels(), [LR])["LexiRecall"]


def test_qrels_that_change_while_an_experiment_runs_are_refused() -> None:
    collector_qrels, changed = qrels(), qrels().assign(label=lambda table: 1 - table["label"].clip(upper=1))
    with collecting.collecting(collector_qrels) as collector:
        for judged in (collector_qrels, changed):
            list(ir_measures.iter_calc([collecting.EXECUTION], pt.model.to_ir_measures(judged), []))
        with pytest.raises(ValueError, match="the qrels changed while the experiment ran"):
            collector.runs(2)


def test_aspects_that_only_some_batches_name() -> None:
    """What names the aspects of a query is a question about all qrels, not about a batch."""
    judged = pd.DataFrame(
        [
            ("1", "d1", 2, "relevance"),
            ("1", "d1", 1, "quality"),
            ("2", "d1", 3, "quality"),
            ("3", "d2", 1, "relevance"),
        ],
        columns=["qid", "docno", "label", "iteration"],
    )

    def complete(calls: Calls) -> list[Any]:
        return [Retrieve(name, calls) for name in "abd"]

    metrics = [TSE, TOMA(aspects={"relevance": 2, "quality": 3})]
    call = {"topics": topics(["1", "2", "3"]), "qrels": judged}
    whole = outcome(pt.lexirecall.Experiment, complete, metrics, **call).result
    batched = outcome(pt.lexirecall.Experiment, complete, metrics, batch_size=1, **call).result
    assert_frame_equal(batched, whole)
    assert_same_columns(whole, outcome(pt.Experiment, complete, metrics, **call).result)


def test_only_pyterrier_s_public_names_are_used() -> None:
    for module in Path(collecting.__file__).parent.glob("*.py"):
        source = module.read_text()
        assert not re.search(
            r"(pyterrier|pt)\.(\w+\.)*_[a-z]|from pyterrier[\w.]* import _|_evaluation|_rendering", source
        )


# -- what becomes of the tables --------------------------------------------------------------------


def two_results(**options: Any) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Two measures of the same systems, one by one."""
    first, second = (
        pt.lexirecall.Experiment(named([]), topics(), qrels(), [metric], **options) for metric in ("map", "P_5")
    )
    return first, second


@pytest.mark.parametrize("perquery", [False, True])
def test_tables_can_be_concatenated(perquery: bool) -> None:
    first, second = two_results(perquery=perquery)
    assert len(pd.concat([first, second])) == len(first) + len(second)


def test_tables_can_be_merged() -> None:
    first, second = two_results()
    assert first.merge(second, on=["name", PREF]).columns.tolist() == ["name", "map", PREF, "P_5"]


@pytest.mark.parametrize("perquery", [False, True])
def test_tables_can_be_written(perquery: bool, tmp_path: Path) -> None:
    table, _ = two_results(perquery=perquery)
    table.attrs.clear()  # pandas writes attrs as JSON
    table.to_parquet(tmp_path / "table.parquet")
    assert_frame_equal(pd.read_parquet(tmp_path / "table.parquet"), table, check_dtype=False)


def test_the_comparison_of_a_table_survives_a_selection() -> None:
    table, _ = two_results()
    assert table[["name", PREF]].attrs["comparison"].runs == list(named([]))


# -- sign_test -------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
def test_sign_test(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size = int(rng.integers(0, 40))
    system, baseline = rng.integers(0, 4, (2, size)) / 10
    wins, losses = int((system > baseline).sum()), int((system < baseline).sum())
    result = pt.lexirecall.sign_test(system, baseline)
    assert result[1] == result.pvalue == pytest.approx(binomtest(wins, wins + losses).pvalue if wins + losses else 1)
    assert result.statistic == pytest.approx((wins - losses) / (wins + losses) if wins + losses else 0)
    assert type(result.pvalue) is type(result.statistic) is float


def test_sign_test_leaves_out_what_is_missing() -> None:
    missing = pt.lexirecall.sign_test([1.0, 1.0, math.nan, 2.0], [0.0, math.nan, 0.0, 0.0])
    assert missing == pt.lexirecall.sign_test([1.0, 2.0], [0.0, 0.0])


@pytest.mark.parametrize("correction", [None, "holm"])
@pytest.mark.parametrize("experiment", [pt.Experiment, pt.lexirecall.Experiment], ids=["plain", "ours"])
@PLANS
def test_sign_test_in_an_experiment(experiment: Any, correction: str | None, plan: str) -> None:
    def equal_first(calls: Calls) -> list[Any]:
        return [Retrieve("a", calls), frame("a"), Retrieve("b", calls), Retrieve("d", calls)]

    options = {"baseline": 0, "correction": correction, "plan": plan}
    table = outcome(experiment, equal_first, [AP, nDCG], test=pt.lexirecall.sign_test, **options).result
    rows = outcome(pt.Experiment, equal_first, [AP, nDCG], names=list("abcd"), perquery=True).result
    for measure in ("AP", "nDCG"):
        values = rows[rows["measure"] == measure].pivot_table(index="qid", columns="name", values="value")
        p = [1.0]
        for system in "cd":
            wins, losses = (values[system] > values["a"]).sum(), (values[system] < values["a"]).sum()
            p.append(binomtest(wins, wins + losses).pvalue)
        assert table[f"{measure} p-value"].tolist() == pytest.approx([math.nan, *p], nan_ok=True)
        assert table[f"{measure} +"][1] == table[f"{measure} -"][1] == 0
        if correction:
            corrected = multipletests(p, method=correction)[1]
            assert table[f"{measure} p-value corrected"].tolist() == pytest.approx([math.nan, *corrected], nan_ok=True)
    if experiment is pt.lexirecall.Experiment:
        assert table[f"{PREF} p-value"][1] == 1.0


# -- predicted judgments ----------------------------------------------------------------------------


@pytest.mark.parametrize("plan", ["linear", "tree"])
def test_predicted_judgments_give_the_numbers_of_compare(plan: str) -> None:
    qrels = irl.demo.qrels().groupby(["query_id", "doc_id"], as_index=False)["relevance"].max()
    ids = sorted(qrels["query_id"].unique())
    people = qrels[qrels["query_id"].isin(ids[2:13])]
    model = qrels.assign(relevance=(qrels["relevance"] - (qrels.index % 7 == 0)).clip(lower=0))
    runs = {name: irl.demo.run(name) for name in ("bm25", "ql", "tfidf")}
    ours = {"query_id": "qid", "doc_id": "docno", "relevance": "label"}
    systems = [run.rename(columns=ours).assign(rank=run.groupby("query_id").cumcount()) for run in runs.values()]
    topics = pd.DataFrame({"qid": ids, "query": "x"})
    options = {"names": list(runs), "baseline": 0, "predicted": model.rename(columns=ours), "plan": plan}
    table = pt.lexirecall.Experiment(systems, topics, people.rename(columns=ours), ["nDCG@10"], **options)
    expected = irl.compare(people, runs, ["nDCG@10", "lexirecall"], baseline="bm25", predicted=model).table()
    assert_frame_equal(table.attrs["comparison"].table(), expected)
    assert table["nDCG@10 p-value"].tolist()[1:] == expected["p"].tolist()[:2]
    for wrong in ({"batch_size": 2}, {"filter_by_qrels": True}):
        with pytest.raises(ValueError, match=f"rankings of all topics at once; leave {next(iter(wrong))} out"):
            pt.lexirecall.Experiment(systems, topics, people.rename(columns=ours), ["AP"], **{**options, **wrong})
    nothing = {**options, "predicted": model[:1].rename(columns=ours).assign(qid="other")}
    with pytest.raises(ValueError, match="no judgments of the topics"):
        pt.lexirecall.Experiment(systems, topics, people.rename(columns=ours), ["AP"], **nothing)


# -- groups of topics --------------------------------------------------------------------------------


@pytest.mark.parametrize("plan", ["linear", "tree"])
def test_groups_give_the_numbers_of_compare(plan: str) -> None:
    qrels = irl.demo.qrels().groupby(["query_id", "doc_id"], as_index=False)["relevance"].max()
    ids = sorted(qrels["query_id"].unique())
    kinds = {query: f"kind {i % 3}" for i, query in enumerate(ids)}
    runs = {name: irl.demo.run(name) for name in ("bm25", "ql", "tfidf")}
    ours = {"query_id": "qid", "doc_id": "docno", "relevance": "label"}
    systems = [run.rename(columns=ours).assign(rank=run.groupby("query_id").cumcount()) for run in runs.values()]
    topics = pd.DataFrame({"qid": ids, "query": "x", "kind": [kinds[query] for query in ids]})
    judged, by = qrels.rename(columns=ours), ["nDCG@10", "lexirecall"]

    def experiment(measures: Any = ("nDCG@10",), **options: Any) -> pd.DataFrame:
        options = {"names": list(runs), "plan": plan, "correction": "holm"} | options
        return pt.lexirecall.Experiment(systems, topics, judged, list(measures), **options)

    alone = irl.compare(qrels, runs, by, baseline="bm25", groups=kinds)
    for groups in (kinds, "kind"):
        found = experiment(baseline=0, groups=groups).attrs["comparison"]
        assert_frame_equal(found.group_table(), alone.group_table())
    units = irl.compare(qrels, runs, by, baseline="bm25", groups=kinds, cluster=True).table()
    for baseline, end in ((0, ""), (["bm25", "ql"], " (bm25)")):
        for margin in (None, 0.02):
            table = experiment(baseline=baseline, groups=kinds, cluster=True, margin=margin)
            for criterion, name in zip(by, ["nDCG@10", PREF], strict=True):
                rows = units[units["criterion"] == criterion]
                assert table[f"{name} p-value{end}"].tolist()[1:] == rows["p"].tolist()
                assert table[f"{name} p-value corrected{end}"].tolist()[1:] == rows["p_corrected"].tolist()
    other = irl.compare(qrels, runs, by, baseline="ql", groups=kinds, cluster=True).table("nDCG@10")
    assert table["nDCG@10 p-value (ql)"].tolist()[::2] == other["p"].tolist()

    for options, message in (
        ({"cluster": True}, "cluster=True takes groups of queries as units of the tests; pass groups="),
        ({"groups": kinds, "cluster": True, "test": "sign"}, "units of the tests t and bootstrap, not of sign"),
        ({"groups": kinds, "cluster": True, "test": lambda a, b: (0, 1)}, "with cluster=True leave test out"),
        ({"groups": kinds, "predicted": judged}, "predicted judgments sharpen what is said of all queries"),
        ({"groups": {ids[0]: "a"}}, "there is no group for query 'q02' .and 14 more like it.; add it"),
        ({"groups": "nowhere"}, "groups has no column 'nowhere'"),
        ({"groups": kinds, "measures": ["mrt"], "preferences": None}, "groups are compared by rankings"),
    ):
        with pytest.raises(ValueError, match=f"^pt.lexirecall.Experiment: .*{message}"):
            experiment(baseline=0, **options)


def test_ids_that_no_judged_document_has_are_said() -> None:
    one = pd.DataFrame({"qid": "1", "docno": ["a", "b"], "score": [2.0, 1.0], "rank": [0, 1]})
    topics = pd.DataFrame({"qid": ["1"], "query": ["x"]})
    qrels = pd.DataFrame({"qid": "1", "docno": ["a", "b"], "label": [1, 1]})
    upper = one.assign(docno=["A", "B"])
    with pytest.warns(
        UserWarning, match="system 'two' retrieves nothing that the qrels judge.*'A'.*'a' are the same in lower case"
    ):
        pt.lexirecall.Experiment([one, upper], topics, qrels, ["map"], names=["one", "two"])


def test_systems_that_are_hardly_judged_are_said() -> None:
    docs = [f"d{i}" for i in range(10)]
    one = pd.DataFrame({"qid": "1", "docno": docs, "score": [float(-i) for i in range(10)], "rank": range(10)})
    topics = pd.DataFrame({"qid": ["1"], "query": ["x"]})
    qrels = pd.DataFrame({"qid": "1", "docno": docs, "label": 1})
    partly = one.assign(docno=["d0", "d1", *map(str.upper, docs[2:])])
    with pytest.warns(UserWarning, match="^two: 20% of its first 10 documents are judged, 100% of the other runs'"):
        pt.lexirecall.Experiment([one, partly], topics, qrels, ["map"], names=["one", "two"])
