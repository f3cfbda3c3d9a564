"""``pt.lexirecall.Experiment`` against ``irl.compare`` bit for bit, and against ``pt.Experiment``.

PyTerrier adds values up in another order, calls differences that rounding makes wins, and has no p-value where nothing differs.
"""

from __future__ import annotations

import datetime
import math
import pickle
import random
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import ir_measures
import numpy as np
import pandas as pd
import pyterrier as pt
import pytest
from ir_measures import AP, ERR, nDCG
from pandas.testing import assert_frame_equal
from scipy.stats import binomtest
from statsmodels.stats.multitest import multipletests

import ir_lexirecall as irl
from ir_lexirecall import LR, SL3, TSE
from ir_lexirecall.comparison import Comparison
from ir_lexirecall.judging.files import write_pool_csv, write_pool_page
from ir_lexirecall.measures.scoring import is_added_up

# PyTerrier warns of shared stages, topics without qrels and pandas' plans; what counts is compared below.
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.sparse]

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
GRADES = {
    q: {d: random.Random(f"{q} {d}").choice([0, 0, 1, 1, 2, 3]) for d in DOCS[::2]}
    for q in QUERIES
}
GRADES["12"] = dict.fromkeys(DOCS[:3], 0)  # nothing is relevant
NOTHING_RETRIEVED = {("c", "2")}
SCORES = [
    3.0,
    2.0,
    2.0 + 1e-9,
    1.0,
    -1.0,
]  # few, and two that are equal as 32-bit floats: ties


def topics(query_ids: Sequence[str] = TOPIC_IDS) -> pd.DataFrame:
    return pd.DataFrame({"qid": list(query_ids), "query": "text"})


def qrels(grades: Mapping[str, Mapping[str, int]] = GRADES) -> pd.DataFrame:
    rows = [
        (q, d, grade) for q, judged in grades.items() for d, grade in judged.items()
    ]
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
        for rank, (d, score) in enumerate(
            sorted(_scores(name, q, docs).items(), key=lambda pair: -pair[1])
        )
    ]
    return pd.DataFrame(rows, columns=["qid", "docno", "score", "rank"]).astype(
        {"score": float}
    )


@cache
def _scores(name: str, query_id: str, docs: tuple[str, ...]) -> dict[str, float]:
    return {d: random.Random(f"{name} {query_id} {d}").choice(SCORES) for d in docs}


@cache
def _found(name: str, query_id: str) -> tuple[str, ...]:
    chance = random.Random(f"{name} finds {query_id}").random
    return tuple(
        d for d in DOCS if chance() < 0.8 and (name, query_id) not in NOTHING_RETRIEVED
    )


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
    a, b, x, y = (
        Retrieve("a", calls),
        Retrieve("b", calls),
        Rerank("x", calls),
        Rerank("y", calls),
    )
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


def outcome(
    experiment: Any, systems: Systems, metrics: Sequence[Any], **options: Any
) -> Outcome:
    """A call of an experiment, what was executed, and which warnings were given."""
    calls: Calls = []
    data = {
        "topics": topics(),
        "qrels": qrels(),
        "verbose": False,
        "validate": "ignore",
    }
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = experiment(
            systems(calls), eval_metrics=list(metrics), **{**data, **options}
        )
    return Outcome(
        result, calls, [(each.category, str(each.message)) for each in caught]
    )


def both(systems: Systems, metrics: Sequence[Any], **options: Any) -> tuple[Any, Any]:
    """The results of our experiment and of PyTerrier's, after checking what they executed and warned of.

    Our averages have all columns in the order asked.
    """
    own = {name: options.pop(name) for name in ("preferences",) if name in options}
    plain = outcome(pt.Experiment, systems, metrics, **options)
    ours = outcome(pt.lexirecall.Experiment, systems, metrics, **options, **own)
    assert sorted(ours.calls) == sorted(
        plain.calls
    )  # a tree runs its branches in an order of its own
    assert ours.warnings == plain.warnings
    if options.get("dataframe", True) and options.get("perquery") is not True:
        averages = ours.result
        if options.get("perquery") == "both":
            averages = averages.averages
            metrics = [
                metric for metric in metrics if metric != "mrt"
            ]  # PyTerrier leaves it out
        averages = getattr(averages, "data", averages)  # of a highlighted table
        preferences = (
            own.get("preferences", ["lexirecall"]) or [] if len(systems([])) > 1 else []
        )
        assert list(averages) == columns_asked(
            metrics,
            preferences,
            statistics_asked(options.get("baseline"), options.get("correction")),
        )
    return ours.result, plain.result


def statistics_asked(baseline: Any, correction: Any) -> list[str]:
    if baseline is None:
        return []
    return [
        "+",
        "-",
        "p-value",
        *(["reject", "p-value corrected"] if correction else []),
    ]


def columns_asked(
    metrics: Sequence[Any], preferences: Sequence[str], statistics: Sequence[str]
) -> list[str]:
    """Measures, their statistics, and the preferences with theirs."""
    measures = list(dict.fromkeys(map(str, metrics)))
    columns = [
        "name",
        *measures,
        *(
            f"{name} {kind}"
            for name in measures
            if name != "mrt"
            for kind in statistics
        ),
    ]
    return columns + [
        f"pref:{name}{end}"
        for name in preferences
        for end in ["", *(f" {kind}" for kind in statistics)]
    ]


# -- what the systems gave, compared by itself -----------------------------------------------------


def seen(
    systems: Systems, plan: str = "linear", filter_by_topics: bool = True
) -> tuple[Any, dict[str, Any]]:
    """Judgments and rankings that an experiment must have seen, by names of systems or their places."""
    return _seen(systems, plan, filter_by_topics)


@cache
def _seen(
    systems: Systems, plan: str, filter_by_topics: bool
) -> tuple[Any, dict[str, Any]]:
    made = systems([])
    runs = {}
    for name, system in made.items() if isinstance(made, Mapping) else enumerate(made):
        results = (
            system if isinstance(system, pd.DataFrame) else system.transform(topics())
        )
        if plan == "tree":  # a DataFrame is asked for the topics
            results = results[results["qid"].isin(TOPIC_IDS)]
        by_query = results.groupby("qid")
        runs[str(name)] = {
            q: dict(zip(rows["docno"], rows["score"], strict=True))
            for q, rows in by_query
        }
    return {
        q: judged
        for q, judged in GRADES.items()
        if q != NO_TOPIC or not filter_by_topics
    }, runs


def compared(
    systems: Systems,
    by: Any = ("lexirecall", "rpp"),
    *,
    baseline: int | None = None,
    **options: Any,
) -> Any:
    """What ``irl.compare`` says of the same rankings; options of ``seen`` and of the test."""
    grades, runs = seen(
        systems,
        *(
            options.pop(name)
            for name in ("plan", "filter_by_topics")
            if name in options
        ),
    )
    margin = options.pop("margin", None)
    test = irl.SignificanceTest(
        options.pop("test", None), **{"correction": "holm", **options}
    )
    by = by if isinstance(by, Mapping) else list(by)
    name = None if baseline is None else list(runs)[baseline]
    return irl.compare(grades, runs, by, baseline=name, margin=margin, test=test)


def assert_same_columns(
    ours: pd.DataFrame, plain: pd.DataFrame, rounded: bool = False
) -> None:
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
        known = ~np.isnan(expected) | (
            kind != ""
        )  # a mean of PyTerrier's is NaN where topics without qrels are shown
        np.testing.assert_allclose(got[known], expected[known], rtol=1e-12)
        return
    comparison = ours.attrs["comparison"]
    p = expected_p(measure, plain, comparison)
    exact = of_one_magnitude(comparison, measure)
    if kind == "p-value":
        np.testing.assert_allclose(got[~exact], p[~exact], rtol=1e-9)
        return
    p[exact] = ours[f"{measure} p-value"].to_numpy(dtype=float)[exact]
    others = ~np.isnan(p)
    test = comparison.test
    reject, corrected, *_ = multipletests(p[others], test.alpha, test.correction)
    family = {"reject": reject, "p-value corrected": corrected}[kind]
    np.testing.assert_allclose(got[others], family, rtol=1e-9)
    np.testing.assert_array_equal(got[~others], expected[~others])  # the baseline


def expected_p(measure: str, plain: pd.DataFrame, compared: Comparison) -> Any:
    """PyTerrier's p-values, 1 where nothing differs, and for t at least 2^(1-k) if k queries differ."""
    p = plain[f"{measure} p-value"].to_numpy(dtype=float).copy()
    p[np.isnan(p) & plain[f"{measure} +"].notna().to_numpy()] = 1
    if compared.compared.test_of(measure).name != "t":
        return p
    differing = (differences(compared, measure) > 1e-12).sum(axis=0)
    return np.maximum(
        p, np.minimum(1, 2.0 ** (1 - differing))
    )  # NaN, of the baseline, stays


def differences(compared: Comparison, measure: str) -> Any:
    """Sizes of the differences to the baseline, shape ``(queries, runs)``."""
    values = compared.per_query(measure)
    return values.sub(values[compared.baseline], axis=0).abs().to_numpy()


def of_one_magnitude(compared: Comparison, measure: str) -> Any:
    """For each run, whether its differences to the baseline other than 0 are equal but for the sign: p is exact then."""
    sizes = differences(compared, measure)
    largest = sizes.max(axis=0)
    return ((sizes < 1e-12) | (sizes > largest - 1e-12)).all(axis=0) & (largest > 1e-12)


KINDS = {"+": "wins", "-": "losses", "p-value": "p", "p-value corrected": "p_corrected"}


def assert_one_answer(
    table: pd.DataFrame, compared: Comparison | None = None, end: str = ""
) -> None:
    """What a table says of measures and preferences is what a Comparison says, its own or another one, bit for bit."""
    compared = table.attrs["comparison"] if compared is None else compared
    if compared is None:
        return
    for place, name in enumerate(compared.criteria):
        is_measure = name in compared.compared.measures
        column = name if is_measure else f"pref:{name}"
        if is_measure or (compared.baseline is None and column in table):
            assert table[column].tolist() == means(compared, place)
        if (
            compared.baseline is None
            or f"{column} +{end}" not in table
            or len(compared.runs) < 2
        ):
            continue
        rows = compared.table(name).set_index("run_a").reindex(compared.runs)
        if not is_measure:
            assert (
                table[f"{column}{end}"].tolist()
                == rows["difference"].fillna(0).tolist()
            )
        for kind, ours in KINDS.items():
            if f"{column} {kind}{end}" in table:
                np.testing.assert_array_equal(
                    table[f"{column} {kind}{end}"], rows[ours].to_numpy(dtype=float)
                )
        if f"{column} reject{end}" in table:
            assert (
                table[f"{column} reject{end}"].tolist()
                == rows["verdict"].isin(["better", "worse"]).tolist()
            )


def means(compared: Comparison, place: int) -> list[float]:
    """Of a criterion, as the table shows them: counts are added up."""
    name = compared.criteria[place]
    found: list[float] = compared.means(name)["mean"].tolist()
    if (
        compared.compared.scored is not None
        and name in compared.compared.measures
        and is_added_up(compared.compared.scored.measures[name])
    ):
        return [round(mean * len(compared.query_ids), 9) for mean in found]
    return found


PLANS = pytest.mark.parametrize("plan", ["linear", "tree"])
TREES_ARE_SLOW = pytest.mark.parametrize(
    "plan", ["linear", pytest.param("tree", marks=pytest.mark.slow)]
)
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


# -- averages and statistics -----------------------------------------------------------------------


@pytest.mark.sparse
@pytest.mark.parametrize("systems", [frames, mixed, named])
@FILTERS
@BATCHES
@PLANS
def test_averages(
    systems: Systems, filters: dict[str, bool], batch_size: int | None, plan: str
) -> None:
    options = {
        "baseline": "two" if systems is named else 1,
        "correction": "holm",
        "batch_size": batch_size,
        "plan": plan,
        **filters,
    }
    ours, plain = both(systems, ["map", LR], **options)
    assert_same_columns(ours, plain)
    of_topics = filters.get("filter_by_topics", True)
    assert_one_answer(
        ours,
        compared(
            systems, ["lexirecall"], baseline=1, plan=plan, filter_by_topics=of_topics
        ),
    )
    assert len(ours.columns) == len(plain.columns) + 1 + 5


@pytest.mark.sparse
@pytest.mark.parametrize(
    "test", [None, "t", "sign", "wilcoxon", "bootstrap", "randomisation", "tukey"]
)
@pytest.mark.parametrize(
    "options",
    [{}, {"correction": "holm"}, {"correction": "fdr_bh", "correction_alpha": 0.5}],
    ids=str,
)
@TREES_ARE_SLOW
def test_one_answer(test: str | None, options: dict[str, Any], plan: str) -> None:
    """The numbers of ``irl.compare`` for the same qrels, runs, criteria, test and correction, bit for bit; and PyTerrier's."""
    metrics = [
        "map",
        nDCG @ 3,
        LR(rel=2) @ 4,
        SL3(n=20),
        LR(form="weighted", n=1000),
        "P_1",
        ERR @ 3,
        "num_rel_ret",
    ]
    call = {"baseline": 1, "plan": plan, **options}
    own = {"test": test, "preferences": ["lexirecall", "rpp"]}
    table = outcome(pt.lexirecall.Experiment, named, metrics, **call, **own).result
    by = {
        "map": AP,
        **{str(m): m for m in metrics[1:5]},
        "P_1": "P@1",
        "ERR@3": "ERR@3",
        "num_rel_ret": "NumRelRet",
    }
    test_options = {
        "correction": options.get("correction", "holm"),
        "alpha": options.get("correction_alpha", 0.05),
    }
    both = {**by, "lexirecall": "lexirecall", "rpp": "rpp"}
    alone = compared(named, both, baseline=1, test=test, plan=plan, **test_options)
    attached = table.attrs["comparison"]
    for frame in ("means", "table", "verdicts"):
        assert_frame_equal(
            getattr(attached, frame)(), getattr(alone, frame)(), check_exact=True
        )
    assert_one_answer(table)
    assert [column for column in table if " " not in column][1:] == [
        *by,
        "pref:lexirecall",
        "pref:rpp",
    ]
    if test in (None, "t", "wilcoxon", "sign"):
        theirs = {None: "t", "sign": pt.lexirecall.sign_test}.get(test, test)
        plain = outcome(pt.Experiment, named, metrics, test=theirs, **call).result
        for column in plain:
            if not column.startswith(
                ("name", "SL3", "ERR")
            ):  # PyTerrier wants more of SL3, and has ERR of another program
                assert_same_column(column, table, plain)


@PLANS
def test_margins(plan: str) -> None:
    margin = {"map": "5%", "LexiRecall": 0.02, "lexirecall": 0.1}
    call = {"baseline": [1, 2], "correction": "holm", "margin": margin, "plan": plan}
    table = outcome(pt.lexirecall.Experiment, named, ["map", LR], **call).result
    names, by = (
        list(named([])),
        {"map": AP, "LexiRecall": LR, "lexirecall": "lexirecall"},
    )
    for place in (1, 2):
        alone = compared(named, by, baseline=place, margin=margin)
        for criterion in by:
            rows = alone.table(criterion).set_index("run_a").reindex(names)
            column = f"pref:{criterion}" if criterion == "lexirecall" else criterion
            p_values = {
                f"{what} p-value ({side}-sided, corrected)": f"{what.replace(' ', '_')}_p"
                for what, side in {
                    "worse": "one",
                    "better": "two",
                    "within": "one",
                    "not worse": "one",
                }.items()
            }
            for kind, ours in {"verdict (corrected)": "verdict", **p_values}.items():
                got = table[f"{column} {kind} ({names[place]})"]
                pd.testing.assert_series_equal(
                    got,
                    rows[ours],
                    check_exact=True,
                    check_index=False,
                    check_names=False,
                )
            assert (
                table[f"{column} p-value ({names[place]})"].dropna().tolist()
                == rows["p"].dropna().tolist()
            )
    with pytest.raises(
        ValueError,
        match=r"pt\.lexirecall\.Experiment: .*unknown criterion of a margin 'AP'",
    ):
        outcome(
            pt.lexirecall.Experiment, named, ["map"], baseline=0, margin={"AP": 0.1}
        )
    with pytest.raises(
        ValueError, match=r"pt\.lexirecall\.Experiment: a margin needs a baseline"
    ):
        outcome(pt.lexirecall.Experiment, named, ["map"], margin=0.1)


def test_attrs_say_what_few_queries_cannot_show() -> None:
    queries = [str(q) for q in range(60)]
    topics = pd.DataFrame({"qid": queries, "query": "x"})
    qrels = pd.DataFrame({"qid": queries, "docno": "relevant", "label": 1})

    def ranked(parity: int) -> pd.DataFrame:
        """The relevant document at rank 10 or 11."""
        rows = []
        for q in range(60):
            docs = [f"d{i}" for i in range(12)]
            docs.insert(9 + (q + parity) % 2, "relevant")
            rows += [(str(q), doc, -float(i), i) for i, doc in enumerate(docs)]
        return pd.DataFrame(rows, columns=["qid", "docno", "score", "rank"])

    call = {"baseline": 0, "preferences": None}
    runs = [ranked(0), ranked(1)]
    table = pt.lexirecall.Experiment(
        runs, topics, qrels, ["map"], names=["a", "b"], margin=0.02, **call
    )
    (note,) = table.attrs["diagnostics"]
    assert note.startswith("map: 60 queries may miss losses on fewer than 4.9% of")
    without = pt.lexirecall.Experiment(runs, topics, qrels, ["map"], **call)
    assert "diagnostics" not in without.attrs


@pytest.mark.parametrize("margin", ["2%", {"map": 0.02}, {"map": "2%"}])
def test_default_preferences_are_left_out_where_the_margin_does_not_fit_them(
    margin: Any,
) -> None:
    call = {"baseline": 1, "margin": margin}
    table = outcome(pt.lexirecall.Experiment, named, ["map"], **call).result
    without = outcome(
        pt.lexirecall.Experiment, named, ["map"], preferences=None, **call
    ).result
    assert_frame_equal(table, without)
    assert "map verdict (corrected)" in table
    with pytest.raises(ValueError, match="margin"):
        outcome(
            pt.lexirecall.Experiment, named, ["map"], preferences=["lexirecall"], **call
        )


def test_preferences_may_stand_among_the_measures() -> None:
    call = {"baseline": 1}
    among = outcome(
        pt.lexirecall.Experiment, named, ["rpp", "map"], preferences=None, **call
    )
    apart = outcome(
        pt.lexirecall.Experiment, named, ["map"], preferences=["rpp"], **call
    )
    assert_frame_equal(among.result, apart.result)


def answers(text: str) -> pd.DataFrame:
    """What a system gives that answers instead of ranking."""
    return pd.DataFrame(
        {"qid": TOPIC_IDS, "qanswer": [f"{text} {qid}" for qid in TOPIC_IDS]}
    )


def test_systems_that_answer_have_their_measures_and_no_preferences() -> None:
    length = ir_measures.define_byquery(
        lambda judged, run: float(run["qanswer"].str.len().sum()),
        name="Length",
        run_inputs=["query_id", "qanswer"],
    )
    both = [answers("short"), answers("a longer one")]
    call: dict[str, Any] = {"names": ["a", "b"], "baseline": 0}
    plain = outcome(pt.Experiment, lambda calls: both, [length], **call).result
    found = {}
    for name, preferences in {
        "default": {},
        "none": {"preferences": None},
        "rpp": {"preferences": "rpp"},
    }.items():
        found[name] = outcome(
            pt.lexirecall.Experiment,
            lambda calls: both,
            [length],
            **call,
            **preferences,
        )
        assert_frame_equal(found[name].result, plain, check_like=True)
        assert found[name].result.attrs["comparison"] is None
    said = "preferences compare documents, and what system 'a' gives has no docno and score: they are left out"
    assert [
        any(said in text for _, text in one.warnings) for one in found.values()
    ] == [
        True,
        False,
        True,
    ]


def test_texts_may_be_measures_as_they_print() -> None:
    metrics = ["nDCG@3", "AP(rel=2)", "LR", "P_5", "TSE(exposure='nDCG')@4"]
    table = outcome(pt.lexirecall.Experiment, named, metrics, preferences=None).result
    measures = ["nDCG@3", "AP(rel=2)", "LexiRecall", "P_5", "TSE(exposure='nDCG')@4"]
    assert list(table) == ["name", *measures]
    plain = outcome(
        pt.Experiment, named, [nDCG @ 3, AP(rel=2), LR, "P_5", TSE(exposure="nDCG") @ 4]
    ).result
    assert_same_columns(table, plain)
    calls: Calls = []
    with pytest.raises(
        ValueError, match=r"pt\.lexirecall\.Experiment: unknown measure 'nope'"
    ):
        pt.lexirecall.Experiment(transformers(calls), topics(), qrels(), ["nope"])
    assert not calls


# -- what is returned ------------------------------------------------------------------------------


def assert_plain_rows(
    rows: pd.DataFrame, plain: pd.DataFrame, preferences: Sequence[str] = (PREF,)
) -> None:
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


@pytest.mark.sparse
@METRICS
@pytest.mark.parametrize("perquery", [False, True, "both"])
@BATCHES
@PLANS
def test_tables_and_dicts(
    metrics: list[Any], perquery: bool | str, batch_size: int | None, plan: str
) -> None:
    """Dicts, PyTerrier's, have the numbers of the tables."""
    options = {
        "perquery": perquery,
        "batch_size": batch_size,
        "plan": plan,
        "filter_by_topics": False,
    }
    options["preferences"] = ["lexirecall", "rpp"]
    results = (
        *both(named, metrics, **options),
        *both(named, metrics, dataframe=False, **options),
    )
    assert [type(result) for result in results[::2]] == [
        type(result) for result in results[1::2]
    ]
    alone = compared(named, plan=plan, filter_by_topics=False)
    columns = [
        *(str(m) for m in metrics if m != "mrt" or not perquery),
        "pref:lexirecall",
        "pref:rpp",
    ]
    if perquery is not True:
        averages, expected, means, theirs = (
            result[0] if perquery else result for result in results
        )
        assert_same_columns(averages, expected)
        assert_one_answer(averages, alone)
        assert (
            averages.attrs["comparison"].runs
            == list(means)
            == list(theirs)
            == list(named([]))
        )
        assert all(
            list(row) == columns and {*row} >= {*theirs[system]}
            for system, row in means.items()
        )
        timeless = averages.set_index("name").drop(columns="mrt", errors="ignore")
        assert {
            name: {m: row[m] for m in timeless} for name, row in means.items()
        } == timeless.to_dict("index")
    if perquery:
        rows, expected, ours, theirs = (
            result[1] if perquery == "both" else result for result in results
        )
        assert_plain_rows(rows, expected, ["pref:lexirecall", "pref:rpp"])
        assert_rows_in_order(rows, columns)
        for name in alone.criteria:
            found = rows[rows["measure"] == f"pref:{name}"].pivot(
                index="qid", columns="name", values="value"
            )
            expected = alone.per_query(name)
            assert (
                found.sort_index()[list(expected)].to_numpy().tolist()
                == expected.sort_index().to_numpy().tolist()
            )
        assert rows.attrs["comparison"].runs == list(named([]))
        assert {s: list(of) for s, of in ours.items()} == {
            s: list(of) for s, of in theirs.items()
        }
        values = {
            (s, q, m): value
            for s, of in ours.items()
            for q, row in of.items()
            for m, value in row.items()
        }
        table = rows.assign(system=rows["name"].map(list(named([])).index)).set_index(
            ["system", "qid", "measure"]
        )
        np.testing.assert_equal(values, table["value"].to_dict())
        assert all(
            list(row) == [m for m in columns if m in row]
            for of in ours.values()
            for row in of.values()
        )


@pytest.mark.parametrize("preferences", [[], None, ()], ids=str)
def test_no_preferences(preferences: Any) -> None:
    """Nothing is added, and nothing changes but the order of columns."""
    averages, expected = both(named, [AP, LR], preferences=preferences, baseline=0)
    assert_same_columns(averages, expected)
    assert averages.attrs["comparison"].criteria == ["AP", "LexiRecall"]
    assert_plain_rows(
        *both(named, [AP, LR], preferences=preferences, perquery=True), preferences=[]
    )


# -- rounding and highlighting ---------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    "places", [0, 2, {PREF: 1, "map": 3}, {"LexiRecall": 0, "pref:rpp": 2}], ids=str
)
@PLANS
def test_rounded_averages(places: Any, plan: str) -> None:
    options = {
        "round": places,
        "baseline": 1,
        "plan": plan,
        "preferences": ["lexirecall", "rpp"],
    }
    ours, plain = both(interleaved, ["map", LR], **options)
    assert_same_columns(ours, plain, rounded=True)
    alone = compared(interleaved, baseline=1)
    for name in alone.criteria:
        digits = places if isinstance(places, int) else places.get(f"pref:{name}", 15)
        rows = alone.table(name).set_index("run_a").reindex(alone.runs)
        exact = [round(value, digits) for value in rows["difference"].fillna(0)]
        assert ours[f"pref:{name}"].tolist() == pytest.approx(exact, abs=1e-12)
        np.testing.assert_array_equal(ours[f"pref:{name} p-value"], rows["p"])
    if isinstance(places, int):
        rows, expected = both(
            interleaved, ["map", LR], round=places, perquery=True, plan=plan
        )
        assert_plain_rows(rows, expected)
        found = rows.loc[rows["measure"] == PREF, "value"].tolist()
        assert found == [round(value, places) for value in found]


def cell_styles(styler: Any) -> dict[tuple[int, str], list[tuple[str, str]]]:
    """The styles of the cells that have any, by row and column."""
    cells = styler._compute().ctx
    return {
        (row, styler.data.columns[column]): style
        for (row, column), style in cells.items()
        if style
    }


@pytest.mark.parametrize("highlight", ["bold", "color"])
@pytest.mark.parametrize(
    "metrics", [["map", "mrt"], ["map", "P_1", LR]], ids=["time", "ties"]
)
@pytest.mark.parametrize("baseline", [None, 1])
@PLANS
def test_highlights(
    highlight: str, metrics: list[Any], baseline: int | None, plan: str
) -> None:
    ours, plain = both(
        interleaved, metrics, highlight=highlight, baseline=baseline, plan=plan
    )
    assert type(ours) is type(plain)
    assert_same_columns(ours.data, plain.data)
    assert "comparison" in ours.data.attrs
    recomputed = ("pref:", "mrt")
    styles, expected = cell_styles(ours), cell_styles(plain)
    assert {
        cell: style
        for cell, style in styles.items()
        if not cell[1].startswith(recomputed)
    } == {
        cell: style
        for cell, style in expected.items()
        if not cell[1].startswith(recomputed)
    }
    small = [column for column in ours.data if column == "mrt" or column.endswith(" -")]
    for column in [
        c for c in ours.data if c.startswith(recomputed) and not c.endswith("p-value")
    ]:
        values = ours.data[column]
        best = values.min() if column in small else values.max()
        assert [row for row, name in styles if name == column] == values.index[
            values == best
        ].tolist()
    assert not [
        cell for cell in styles if cell[1] == "name" or cell[1].endswith("p-value")
    ]


# -- what is run, and what is kept of it -------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [{}, {"batch_size": 1}, {"batch_size": BATCH}, {"precompute_prefix": True}],
    ids=str,
)
def test_every_stage_runs_as_often_as_in_pyterrier(options: dict[str, Any]) -> None:
    for systems in (shared_prefix, interleaved):
        ours, plain = both(systems, ["map", LR], baseline=0, **options)
        assert_same_columns(ours, plain)
        assert_one_answer(ours, compared(systems, ["lexirecall"], baseline=0))
    calls = outcome(
        pt.lexirecall.Experiment, interleaved, ["map"], plan="tree", baseline=0
    ).calls
    assert sorted(name for name, _ in calls) == ["a", "b", "x", "x", "y"]


class Whole(Stage):
    """Gives all it has, whatever it is asked."""

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        return frame(self.name)[: None if len(inp) else 0]


@PLANS
def test_what_a_stage_gives_in_every_batch_is_kept_once(plan: str) -> None:
    def systems(calls: Calls) -> list[Any]:
        return [Whole("a", calls), frame("c")]

    ours = outcome(
        pt.lexirecall.Experiment,
        systems,
        ["map"],
        baseline=1,
        batch_size=BATCH,
        plan=plan,
    )
    assert_one_answer(
        ours.result, compared(systems, ["lexirecall"], baseline=1, plan=plan)
    )


@BATCHES
@PLANS
def test_the_comparison_is_of_whole_runs(
    batch_size: int | None, plan: str, tmp_path: Path
) -> None:
    """Every row is kept, unjudged documents included, so that bounds, documents to judge and reports can be had."""
    options = {
        "batch_size": batch_size,
        "plan": plan,
        "baseline": 0,
        "names": list("0123"),
    }
    attached = outcome(
        pt.lexirecall.Experiment, mixed, ["map"], **options
    ).result.attrs["comparison"]
    alone = compared(mixed, ["AP", "lexirecall"], baseline=0, plan=plan)
    for run, wanted in zip(
        attached.compared.scored.runs.values(),
        alone.compared.scored.runs.values(),
        strict=True,
    ):
        for column in ("query", "doc", "rank", "depth"):
            np.testing.assert_array_equal(
                getattr(run, column), getattr(wanted, column), strict=True
            )
        for ours, theirs in zip(run.tied(), wanted.tied(), strict=True):
            np.testing.assert_array_equal(ours, theirs)
    for ours, by in (("map", "AP"), ("lexirecall", "lexirecall")):
        wanted = alone.bounds(by, depth=5)
        assert_frame_equal(
            attached.bounds(ours, depth=5).drop(columns="criterion"),
            wanted.drop(columns="criterion"),
        )
        for found, wanted in (
            (attached.to_judge(5, ours), alone.to_judge(5, by)),
            (attached.sequential(ours), alone.sequential(by)),
        ):
            assert_frame_equal(found, wanted)
    irl.report(attached, tmp_path / "report.html")


# -- runs and summaries on disk --------------------------------------------------------------------


def files(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def summaries(folder: Path) -> tuple[list[dict[str, str]], list[tuple[str, ...]]]:
    """The two tables, as text, without time and the order of measures."""
    averages, rows = (
        pd.read_csv(folder / name, dtype=str, keep_default_na=False)
        for name in ("aggregated.csv", "perquery.csv")
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


SAVED = pytest.mark.parametrize(  # PyTerrier saves batches as trec only
    ("save_format", "batch_size"),
    [
        ("trec", None),
        ("trec", BATCH),
        (pickle, None),
        ((pd.read_csv, pd.DataFrame.to_csv), None),
    ],
    ids=["trec", "trec in batches", "pickle", "csv"],
)


@pytest.mark.slow
@SAVED
@pytest.mark.parametrize("mode", ["overwrite", "reuse"])
def test_saved(
    mode: str, batch_size: int | None, save_format: Any, folders: list[Path]
) -> None:
    """Twice into the same folder: the same files as PyTerrier writes; what is read back is compared as what was run."""
    own, other = folders
    alone = compared(named, ["lexirecall"], baseline=1)
    for turn in range(2):
        options = {
            "save_mode": mode,
            "batch_size": batch_size,
            "baseline": "two",
            "save_format": save_format,
        }
        ours = outcome(
            pt.lexirecall.Experiment,
            named,
            ["map", "mrt", LR],
            save_dir=str(own),
            **options,
        )
        plain = outcome(
            pt.Experiment, named, ["map", "mrt", LR], save_dir=str(other), **options
        )
        assert ours.calls == plain.calls
        assert (ours.calls == []) == (turn == 1 and mode == "reuse")
        assert ours.warnings == plain.warnings
        assert_same_columns(ours.result, plain.result)
        assert_one_answer(ours.result, alone)
        assert files(own).keys() == files(other).keys()
        assert summaries(own) == summaries(other)
        assert not ours.result.attrs["comparison"].bounds("map").empty


# -- inputs and errors -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("systems", "options"),
    [
        (transformers, {"baseline": 9}),
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
    ids=lambda each: (
        "-".join(map(str, each))
        if isinstance(each, dict)
        else getattr(each, "__name__", "systems")
    ),
)
def test_errors_are_those_of_pyterrier(
    systems: Systems, options: dict[str, Any]
) -> None:
    with pytest.raises((AssertionError, TypeError, ValueError)) as expected:
        outcome(pt.Experiment, systems, ["map"], **options)
    kind = ValueError if expected.type is AssertionError else expected.type
    with pytest.raises(kind) as raised:
        outcome(pt.lexirecall.Experiment, systems, ["map"], **options)
    if {"topics", "save_dir"} & set(options) or options == {
        "correction": "holm"
    }:  # what PyTerrier itself looks at
        assert str(raised.value) == str(expected.value)


@pytest.mark.parametrize("baseline", ["a", "none of them"])
def test_a_baseline_of_a_list_is_no_name(baseline: str) -> None:
    with pytest.raises(
        ValueError,
        match=rf"^pt\.lexirecall\.Experiment: baseline='{baseline}': .* baseline=0; to give its",
    ):
        outcome(pt.lexirecall.Experiment, transformers, ["map"], baseline=baseline)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        *(
            (
                {"preferences": names},
                "unknown preference '.*'; choose from lexirecall, ",
            )
            for names in (["AP"], ["rpp", "map"])
        ),
        *(
            ({"baseline": wrong}, ".*baseline")
            for wrong in (
                [],
                [0, 0],
                [0, "one"],
                [4],
                [-1],
                ["none of them"],
                [1.5],
                [True],
                [None],
            )
        ),
        *(
            (
                {"test": wrong, **other},
                f"unknown test {wrong!r}; (did you mean|choose from sign, t, wilcoxon)",
            )
            for wrong in ("no such test", "T", "", 3)
            for other in ({}, {"baseline": 0}, {"perquery": True})
        ),
    ],
    ids=str,
)
def test_what_is_wrong_is_refused_before_anything_is_executed(
    options: dict[str, Any], message: str
) -> None:
    calls: Calls = []
    with pytest.raises(ValueError, match=rf"pt\.lexirecall\.Experiment: {message}"):
        pt.lexirecall.Experiment(named(calls), topics(), qrels(), ["map"], **options)
    assert not calls


# -- several baselines -----------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    "baselines",
    [[0, 2], [3, 0, 1], (2,), ["one", "four"], ["two", 3], [np.int64(1), 2]],
    ids=str,
)
@pytest.mark.parametrize("correction", [None, "holm"])
@TREES_ARE_SLOW
def test_several_baselines(
    baselines: Sequence[Any], correction: str | None, plan: str
) -> None:
    """The statistics against each are those that PyTerrier gives for it alone; their columns end with its name."""
    names = list(named([]))
    places = [
        names.index(baseline) if isinstance(baseline, str) else int(baseline)
        for baseline in baselines
    ]
    metrics = [LR(rel=2) @ 5, "map", "mrt", nDCG @ 3]
    options = {"correction": correction, "plan": plan, "test": "wilcoxon"}
    ours = outcome(
        pt.lexirecall.Experiment, named, metrics, baseline=baselines, **options
    ).result
    statistics = statistics_asked(0, correction)
    measures = [str(metric) for metric in metrics]
    assert list(ours) == [
        *["name", *measures],
        *(
            f"{m} {kind} ({names[p]})"
            for p in places
            for m in measures
            if m != "mrt"
            for kind in statistics
        ),
        *(
            f"{PREF}{kind} ({names[p]})"
            for p in places
            for kind in ["", *(f" {kind}" for kind in statistics)]
        ),
    ]
    for place in places:
        end = f" ({names[place]})"
        plain = outcome(pt.Experiment, named, metrics, baseline=place, **options).result
        scored = [measure for measure in measures if measure != "mrt"]
        columns = [f"{name} {kind}" for name in scored for kind in statistics]
        assert_frame_equal(ours[scored], plain[scored])
        got = ours[[column + end for column in columns]].set_axis(columns, axis=1)
        assert_frame_equal(got, plain[columns], rtol=1e-12)
        alone = compared(
            named,
            ["lexirecall"],
            baseline=place,
            correction=correction,
            test="wilcoxon",
        )
        assert_one_answer(ours, alone, end)


def test_whatever_pyterrier_takes_is_handed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Options of a newer ``pt.Experiment``, and columns that it adds."""
    from pyterrier_lexirecall import experiment

    def newer(*args: Any, novelty: str, **options: Any) -> Any:
        return pt.Experiment(*args, **options).assign(**{"novel": novelty})

    monkeypatch.setattr(experiment, "_plain_experiment", newer)
    table = outcome(
        pt.lexirecall.Experiment, named, ["map"], baseline=0, novelty="yes"
    ).result
    assert set(table["novel"]) == {"yes"}


def test_measures_of_other_columns_against_several_baselines() -> None:
    """What was retrieved is scored again by PyTerrier, with all its columns."""
    deepest = ir_measures.define_byquery(
        lambda qrels, run: float(run["rank"].max()),
        run_inputs=["query_id", "rank"],
        name="deepest",
    )
    judged = topics([q for q in TOPIC_IDS if q not in UNJUDGED])
    table = outcome(
        pt.lexirecall.Experiment,
        named,
        ["map", deepest],
        baseline=[0, 1],
        topics=judged,
    ).result
    for place, name in enumerate(["one", "two"]):
        plain = outcome(
            pt.Experiment, named, ["map", deepest], baseline=place, topics=judged
        ).result
        for kind in ("+", "-", "p-value"):
            pd.testing.assert_series_equal(
                table[f"deepest {kind} ({name})"],
                plain[f"deepest {kind}"],
                check_names=False,
                check_dtype=False,
            )
    assert table.attrs["comparison"].criteria == ["map", "lexirecall"]


# -- tests -----------------------------------------------------------------------------------------


@PLANS
def test_any_function_is_a_test(plan: str) -> None:
    def smallest(system: Any, baseline: Any) -> tuple[None, float]:
        return None, float(min(*system, *baseline))

    for correction in (None, "bonferroni"):
        options = {
            "test": smallest,
            "baseline": 1,
            "correction": correction,
            "plan": plan,
        }
        ours, plain = both(transformers, ["map", LR], **options)
        for column in [
            column for column in plain if "p-value" in column or "reject" in column
        ]:
            assert_frame_equal(ours[[column]], plain[[column]], check_exact=True)
        assert_one_answer(
            ours,
            compared(transformers, ["lexirecall"], baseline=1, correction=correction),
        )
        attached = ours.attrs["comparison"]
        assert [attached.compared.test_of(name).name for name in attached.criteria] == [
            "t",
            "t",
            "sign",
        ]


# -- sign_test -------------------------------------------------------------------------------------


def test_sign_test() -> None:
    rng = np.random.default_rng(0)
    for size in range(40):
        system, baseline = rng.integers(0, 4, (2, size)) / 10
        wins, losses = int((system > baseline).sum()), int((system < baseline).sum())
        found, n = pt.lexirecall.sign_test(system, baseline), wins + losses
        assert (
            found[1]
            == found.pvalue
            == pytest.approx(binomtest(wins, n).pvalue if n else 1)
        )
        assert found.statistic == pytest.approx((wins - losses) / n if n else 0)
        assert type(found.pvalue) is type(found.statistic) is float


def test_sign_test_leaves_out_what_is_missing() -> None:
    missing = pt.lexirecall.sign_test(
        [1.0, 1.0, math.nan, 2.0], [0.0, math.nan, 0.0, 0.0]
    )
    assert missing == pt.lexirecall.sign_test([1.0, 2.0], [0.0, 0.0])


# -- predicted judgments ----------------------------------------------------------------------------


OURS = {"query_id": "qid", "doc_id": "docno", "relevance": "label"}


def from_demo() -> tuple[
    pd.DataFrame, list[str], dict[str, pd.DataFrame], list[pd.DataFrame]
]:
    """Qrels, ids and three runs of the embedded collection, and the runs as systems."""
    qrels = (
        irl.demo.qrels()
        .groupby(["query_id", "doc_id"], as_index=False)["relevance"]
        .max()
    )
    runs = {name: irl.demo.run(name) for name in ("bm25", "ql", "tfidf")}
    systems = [
        run.rename(columns=OURS).assign(rank=run.groupby("query_id").cumcount())
        for run in runs.values()
    ]
    return qrels, sorted(qrels["query_id"].unique()), runs, systems


@PLANS
@pytest.mark.parametrize("options", [{}, {"groups": "kind", "margin": 0.1}], ids=str)
def test_predicted_judgments_give_the_numbers_of_compare(
    options: dict[str, Any], plan: str
) -> None:
    rng = np.random.default_rng(0)
    queries = [f"q{i:02}" for i in range(40)]
    columns = {"qid": np.repeat(queries, 8), "docno": list("abcdefgh") * 40}
    model = pd.DataFrame({**columns, "label": rng.integers(0, 2, 320)})
    people = model.assign(label=(model["label"] + (rng.random(320) < 0.1)) % 2)[
        : 30 * 8
    ]
    systems = {
        name: pt.model.add_ranks(pd.DataFrame({**columns, "score": rng.random(320)}))
        for name in "xy"
    }
    topics = pd.DataFrame({"qid": queries, "query": "x", "kind": ["even", "odd"] * 20})
    call = {"baseline": "x", "predicted": model, "plan": plan, **options}
    table = pt.lexirecall.Experiment(systems, topics, people, ["nDCG@5"], **call)
    if options:
        options = {**options, "groups": dict(zip(queries, topics["kind"], strict=True))}
    by = ["nDCG@5", "lexirecall"]
    expected = irl.compare(
        people, systems, by, baseline="x", predicted=model, **options
    )
    found = table.attrs["comparison"]
    assert_frame_equal(found.table(), expected.table())
    without_margins = Comparison(replace(expected.compared, margins=None))
    assert (
        table["nDCG@5 p-value"].tolist()[1:]
        == without_margins.table()["p"].tolist()[:1]
    )
    if options:
        assert_frame_equal(found.group_table(), expected.group_table())
    with pytest.raises(
        ValueError, match="rankings of all topics; leave filter_by_qrels out"
    ):
        pt.lexirecall.Experiment(
            systems, topics, people, ["AP"], filter_by_qrels=True, **call
        )
    with pytest.raises(ValueError, match="no judgments of the topics"):
        pt.lexirecall.Experiment(
            systems,
            topics,
            people,
            ["AP"],
            **call | {"predicted": model[:1].assign(qid="other")},
        )


@pytest.mark.parametrize(
    ("measures", "options", "said"),
    [
        (
            ["nDCG@5", "GERR(max_rel=1)@5"],
            {},
            r"GERR\(max_rel=1\)@5 cannot be computed .* by the predicted judgments",
        ),
        (["mrt"], {"preferences": None}, "predicted needs rankings"),
        (
            ["map"],
            {"test": lambda a, b: (0, 1)},
            "your own test .* leave out test or predicted",
        ),
        (
            [ir_measures.define_byquery(lambda qrels, run: 1.0, name="Mine")],
            {},
            "Mine cannot be tested with predicted",
        ),
    ],
)
def test_what_predicted_judgments_cannot_sharpen_is_refused(
    measures: list[Any], options: dict[str, Any], said: str
) -> None:
    rankings, ids, runs, systems = from_demo()
    judged = rankings.assign(relevance=rankings["relevance"].clip(upper=1)).rename(
        columns=OURS
    )
    options = {
        "names": list(runs),
        "baseline": 0,
        "predicted": rankings.rename(columns=OURS),
    } | options
    with pytest.raises(ValueError, match=f"^pt.lexirecall.Experiment: {said}"):
        pt.lexirecall.Experiment(systems, topics(ids), judged, measures, **options)


@pytest.mark.slow
def test_reports_and_pages_show_texts_of_topics_and_of_a_text_loader(
    tmp_path: Path,
) -> None:
    pytest.importorskip("jinja2")

    class Loader(pt.Transformer):
        asked: list[str] = []

        def transform(self, table: pd.DataFrame) -> pd.DataFrame:
            self.asked.extend(table["docno"])
            return table.assign(text="text of " + table["docno"])

    qrels, ids, runs, systems = from_demo()
    topics, judged = (
        pd.DataFrame({"qid": ids, "query": [f"query {query}" for query in ids]}),
        qrels.rename(columns=OURS),
    )
    loader = Loader()
    table = pt.lexirecall.Experiment(
        systems, topics, judged, ["nDCG@10"], names=list(runs), texts=loader
    )
    assert loader.asked == []  # nothing is looked up before it is shown
    pool = table.attrs["comparison"].to_judge(3, "lexirecall", depth=20)
    page = write_pool_page(pool, tmp_path / "pool.html").read_text()
    assert loader.asked == pool["doc_id"].tolist()
    assert all(f"text of {doc_id}" in page for doc_id in pool["doc_id"])
    assert all(f"query {query_id}" in page for query_id in pool["query_id"])
    rows = pd.read_csv(
        write_pool_csv(
            pool, tmp_path / "pool.csv", texts={pool["doc_id"][0]: "another"}
        )
    )
    assert rows["text"].tolist()[:1] == ["another"]
    asked = len(loader.asked)
    one, other = (tmp_path / f"{name}.html" for name in ("one", "other"))
    for result, path in ((table, one), (table.attrs["comparison"], other)):
        irl.report(result, path, date=datetime.date(2026, 1, 31))
    assert one.read_text() == other.read_text()
    assert len(loader.asked) > asked
    with pytest.raises(ValueError, match="expected a result of compare or benchmark"):
        irl.report(pd.DataFrame(), tmp_path / "report.html")


# -- groups of topics --------------------------------------------------------------------------------


@pytest.mark.slow
@PLANS
def test_groups_give_the_numbers_of_compare(plan: str) -> None:
    qrels, ids, runs, systems = from_demo()
    kinds = {query: f"kind {i % 3}" for i, query in enumerate(ids)}
    topics = pd.DataFrame(
        {"qid": ids, "query": "x", "kind": [kinds[query] for query in ids]}
    )
    judged, by = qrels.rename(columns=OURS), ["nDCG@10", "lexirecall"]

    def experiment(measures: Any = ("nDCG@10",), **options: Any) -> pd.DataFrame:
        options = {"names": list(runs), "plan": plan, "correction": "holm"} | options
        return pt.lexirecall.Experiment(
            systems, topics, judged, list(measures), **options
        )

    alone = irl.compare(qrels, runs, by, baseline="bm25", groups=kinds)
    for groups in (kinds, "kind"):
        found = experiment(baseline=0, groups=groups).attrs["comparison"]
        assert_frame_equal(found.group_table(), alone.group_table())
    units = irl.compare(
        qrels,
        runs,
        by,
        baseline="bm25",
        groups=kinds,
        test=irl.SignificanceTest(cluster=True),
    ).table()
    for baseline, end in ((0, ""), (["bm25", "ql"], " (bm25)")):
        for margin in (None, 0.02):
            table = experiment(
                baseline=baseline,
                groups=kinds,
                test=irl.SignificanceTest(cluster=True),
                margin=margin,
            )
            for criterion, name in zip(by, ["nDCG@10", PREF], strict=True):
                rows = units[units["criterion"] == criterion]
                assert table[f"{name} p-value{end}"].tolist()[1:] == rows["p"].tolist()
                assert (
                    table[f"{name} p-value corrected{end}"].tolist()[1:]
                    == rows["p_corrected"].tolist()
                )
    other = irl.compare(
        qrels,
        runs,
        by,
        baseline="ql",
        groups=kinds,
        test=irl.SignificanceTest(cluster=True),
    ).table("nDCG@10")
    assert table["nDCG@10 p-value (ql)"].tolist()[::2] == other["p"].tolist()

    for options, message in (
        (
            {"test": irl.SignificanceTest(cluster=True)},
            "cluster=True takes groups of queries as units of the tests; pass groups=",
        ),
        (
            {"groups": kinds, "predicted": judged},
            "predicted needs at least 10 queries judged by people in each group",
        ),
        (
            {
                "groups": kinds,
                "predicted": judged,
                "test": irl.SignificanceTest(cluster=True),
            },
            "predicted cannot be combined with cluster=True",
        ),
        (
            {"groups": {ids[0]: "a"}},
            "query 'q02' has no group .and 14 other cases.; add it",
        ),
        (
            {"groups": kinds, "measures": ["mrt"], "preferences": None},
            "groups need rankings",
        ),
    ):
        with pytest.raises(ValueError, match=f"^pt.lexirecall.Experiment: .*{message}"):
            experiment(baseline=0, **options)


def of_one_topic(*rankings: Sequence[str], **options: Any) -> pd.DataFrame:
    """An experiment on rankings of one topic, of which the first one holds the relevant documents."""
    systems = [
        pd.DataFrame({"qid": "1", "docno": list(docs), "rank": range(len(docs))})
        for docs in rankings
    ]
    systems = [table.assign(score=-table["rank"].astype(float)) for table in systems]
    qrels = pd.DataFrame({"qid": "1", "docno": list(rankings[0]), "label": 1})
    names = ["one", "two", "three"][: len(rankings)]
    return pt.lexirecall.Experiment(
        systems, topics(["1"]), qrels, ["map"], names=names, **options
    )


def test_ids_that_no_judged_document_has_are_said() -> None:
    said = "run 'two' retrieves nothing that the qrels judge.*'A'.*'a' are the same in lower case"
    with pytest.warns(UserWarning, match=said):
        of_one_topic("ab", "AB")


def test_systems_that_are_hardly_judged_are_said() -> None:
    said = "^two: 20% of its first 10 documents are judged, 100% of the other runs'"
    with pytest.warns(UserWarning, match=said):
        of_one_topic("abcdefghij", "abCDEFGHIJ")


def test_systems_whose_ids_differ_are_said_in_one_warning() -> None:
    with pytest.warns(UserWarning, match="retrieves nothing") as said:
        of_one_topic("ab", "AB", "BA")
    (message,) = [text for text in map(_message, said) if "retrieves nothing" in text]
    assert message.startswith("run 'three' retrieves nothing that the qrels judge")
    assert message.endswith(". The same holds for run 'two'")


def _message(warning: Any) -> str:
    return str(warning.message)


@pytest.mark.filterwarnings("ignore:run 'two' retrieves nothing")
def test_of_a_system_without_judged_documents_there_are_means_alone() -> None:
    experiment = partial(of_one_topic, "ab", "AB", "cab")
    for options in (
        {},
        {"baseline": 0, "correction": "holm"},
        {"baseline": 0, "margin": 0.1},
    ):
        table = experiment(**options).set_index("name")
        assert table["map"].tolist() == pytest.approx([1, 0, 7 / 12])
        others = table.drop(
            columns=["map", *(name for name in table if name.endswith("reject"))]
        )
        assert others.loc["two"].isna().all()
        assert others.loc["three"].notna().any()
        assert not table.filter(like="reject").loc["two"].any()
    table = experiment(baseline=1, correction="holm").drop(
        columns=["name", "map", "map reject", f"{PREF} reject"]
    )
    assert table.isna().all(axis=None)
    rows = experiment(perquery=True)
    assert rows[rows["measure"] == PREF]["name"].tolist() == ["one", "three"]


def test_a_frame_yields_to_the_file_that_is_reused(tmp_path: Path) -> None:
    """PyTerrier reads a file of the system's name also where the system is a frame."""
    call = {"save_dir": str(tmp_path), "save_mode": "reuse", "names": ["one", "two"]}
    first = outcome(
        pt.lexirecall.Experiment, lambda calls: transformers(calls)[:2], ["map"], **call
    ).result
    second = outcome(
        pt.lexirecall.Experiment, lambda _: [frame("c"), frame("d")], ["map"], **call
    ).result
    assert_frame_equal(first, second)


@pytest.mark.parametrize(
    "names", [["v", "v", "w", "w"], ["0: v", "v", "v", "w"]], ids=["pairs", "numbered"]
)
def test_baselines_of_the_same_name_are_told_apart(names: list[str]) -> None:
    table = outcome(
        pt.lexirecall.Experiment, interleaved, ["map"], names=names, baseline=[0, 1]
    ).result
    first, second = [column for column in table if column.startswith(f"{PREF} (")]
    assert first != second
    for place, column in enumerate((first, second)):
        end = column.removeprefix(PREF)
        assert_one_answer(
            table, compared(interleaved, ["lexirecall"], baseline=place), end
        )


def test_messages_call_tables_without_names_by_their_numbers() -> None:
    topics = pd.DataFrame({"qid": ["1"], "query": ["x"]})
    qrels = pd.DataFrame({"qid": ["1", "1"], "docno": ["a", "b"], "label": [1, 0]})
    one = pd.DataFrame(
        {"qid": ["1", "1"], "docno": ["a", "b"], "score": [2.0, 1.0], "rank": [0, 1]}
    )
    odd = one.assign(score=[2.0, float("nan")])
    with pytest.raises(ValueError, match="run 'system 1': the score of document 'b'"):
        pt.lexirecall.Experiment([one, odd], topics, qrels, ["AP"])
    with pytest.raises(ValueError, match="unknown baseline 7; choose from system 0, s"):
        pt.lexirecall.Experiment([one, one], topics, qrels, ["AP"], baseline=[7])
