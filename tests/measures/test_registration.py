"""The measures are ir_measures' measures: known by name, printed and parsed, provided without taking anything away."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import pytest
from fresh import python
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_measures import AP, ERR, NERR8, NERR9, NERR10, NERR11, CwlMetric, P, nDCG

import ir_lexirecall as irl
from ir_lexirecall import CAM, CWL_ERR8, CWL_RBP, LR, RBU, TOMA, TSE
from ir_lexirecall._util.measure_strings import parse_measure
from ir_lexirecall.evaluation.provider import LexiRecallEvaluator, LexiRecallProvider
from ir_lexirecall.measures import REGISTRY, Param
from ir_lexirecall.measures.declaration import PREFERENCE_NAMES
from ir_lexirecall.preferences.functions import NAMES as NAMES_OF_PREFERENCES

pytestmark = pytest.mark.sparse

QRELS = {"q1": {"a": 1, "b": 2}, "q2": {"a": 1}}
RUN = {"q1": {"x": 3.0, "b": 2.0, "a": 1.0}, "q2": {"x": 1.0}}

# -- printing and parsing ------------------------------------------------------------------------------


def numbers(values: st.SearchStrategy[float], kind: type) -> st.SearchStrategy[Any]:
    """Python's and NumPy's numbers."""
    return values | values.map(kind)


NAMES = st.sampled_from(
    ["relevance", "quality", "q", "it's", 'a "b"', "c{d}", "ünder", "x y", "@", "\\"]
) | st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
SCALES = (
    st.integers(1, 200)
    | st.integers(1, 9).map(np.int16)
    | st.dictionaries(
        st.integers(0, 9) | st.floats(0, 9),
        st.integers(0, 9) | st.floats(0, 1e3),
        min_size=1,
        max_size=4,
    ).map(lambda scale: dict(zip(sorted(scale), sorted(scale.values()), strict=True)))
)
WEIGHT = st.integers(1, 5) | st.floats(0.01, 5) | st.just(np.float64(0.5))
BASES = [
    *("nDCG", "AP", "AP(rel=2)", "RBP(p=0.8)", "RBU(e=0)", "TSE(exposure='RBP',p=0.7)"),
    *(AP, nDCG(dcg="exp-log2"), TSE(p=0.5)),
]
# Parameters whose declaration does not say all that their values must be.
SPECIAL: dict[str, st.SearchStrategy[Any]] = {
    "aspects": st.dictionaries(NAMES, SCALES, min_size=1, max_size=4),
    "base": st.sampled_from(BASES),
    "binarize": st.sampled_from(["half", "any"])
    | st.integers(1, 9)
    | st.just(np.int64(2)),
    "weights": st.just(
        {"relevance": 1}
    ),  # `valid_measures` weights the aspects that it drew,
    "gate": st.just("relevance"),  # and takes one of them
    "version": st.sampled_from([9, 10]),
}
MEASURES = {measure.NAME: measure for measure in REGISTRY.values()}
BY_TYPE: dict[type, st.SearchStrategy[Any]] = {
    bool: st.booleans() | st.booleans().map(np.bool_),
    int: numbers(st.integers(1, 10**12), np.int64) | st.integers(1, 9).map(float),
    float: numbers(st.floats(0, 1), np.float64)
    | numbers(st.floats(0, 1e6), np.float64)
    | numbers(st.integers(0, 9), np.int8)
    | st.sampled_from([0.25, 0.5, 2.5]).map(np.float32),
}


def values_to_try(name: str, param: Param) -> st.SearchStrategy[Any]:
    """Values of a parameter, from its declaration."""
    if name in SPECIAL:
        return SPECIAL[name]
    if isinstance(param.choices, tuple):
        return st.sampled_from(param.choices)
    return BY_TYPE[param.dtype].filter(
        lambda value: param.validate(value.item() if hasattr(value, "item") else value)
    )


@st.composite
def valid_measures(draw: st.DrawFn, names: st.SearchStrategy[str]) -> Any:
    """A measure with any of its parameters, in any order, such that it can be evaluated."""
    name = draw(names)
    params = MEASURES[name].SUPPORTED_PARAMS
    keys = [
        key
        for key in draw(st.permutations(list(params)))
        if params[key].required or draw(st.booleans())
    ]
    chosen = {key: draw(values_to_try(key, params[key])) for key in keys}
    if "gate" in keys:
        chosen["gate"] = draw(st.sampled_from(list(chosen["aspects"])))
    if "weights" in keys:
        chosen["weights"] = {aspect: draw(WEIGHT) for aspect in chosen["aspects"]}
    if chosen.get("exposure") == "linear" or chosen.get("form") == "weighted":
        chosen.setdefault("n", 1000)
    if chosen.get("p") == 1:
        chosen.pop("normalize", None)
    if name == "WHAM":  # of exactly two aspects
        chosen["aspects"] = {"relevance": 2, "quality": 1}
        chosen.pop("weights", None)
    if "base" in params:
        chosen.pop("cutoff", None)  # not every base takes one
    return MEASURES[name](**chosen)


@pytest.mark.sparse
@pytest.mark.parametrize("name", MEASURES)
@given(st.data())
@settings(max_examples=30, deadline=None)
def test_a_measure_prints_as_a_string_that_means_it(
    name: str, data: st.DataObject
) -> None:
    measure = data.draw(valid_measures(st.just(name)))
    measure.validate_params()
    parsed = parse_measure(str(measure))
    assert parsed == measure
    assert hash(parsed) == hash(measure)
    assert str(parsed) == str(measure)
    assert type(parsed) is type(measure)
    assert {key: parsed[key] for key in parsed.SUPPORTED_PARAMS} == {
        key: measure[key] for key in measure.SUPPORTED_PARAMS
    }
    parsed.validate_params()


@pytest.mark.parametrize(
    ("measure", "text"),
    [
        (TSE(exposure="nDCG", n=1000) @ 10, "TSE(exposure='nDCG',n=1000)@10"),
        (TSE(n=1000, exposure="nDCG", cutoff=10), "TSE(exposure='nDCG',n=1000)@10"),
        (TSE(p=0.8, rel=1, exposure="AP", normalize=False), "TSE"),
        (TSE(rel=2.0), "TSE(rel=2)"),
        (LR, "LexiRecall"),
        (LR(form="weighted", n=np.int64(5)), "LexiRecall(form='weighted',n=5)"),
        (RBU(e=np.float64(0.1), p=np.float32(0.5)), "RBU(p=0.5,e=0.1)"),
        (CWL_ERR8(max_rel=3) @ 5, "CWL_ERR8(max_rel=3)@5"),
        (
            TOMA(aspects={"b": 1, "a": {1: 1, 0: 0}}, base=AP @ 5),
            "TOMA(aspects={'a':{0:0,1:1},'b':1},base='AP@5')",
        ),
        (
            CAM(aspects={"a": 1}, weights={"a": 0.5}),
            "CAM(aspects={'a':1},weights={'a':0.5})",
        ),
    ],
    ids=str,
)
def test_how_measures_print(measure: Any, text: str) -> None:
    assert str(measure) == text
    assert parse_measure(text) == measure


def test_a_call_does_not_change_the_measure_called() -> None:
    aspects = {"relevance": 2}
    measure = TOMA(aspects=aspects)
    measure(base="AP") @ 3
    assert str(measure) == "TOMA(aspects={'relevance':2})"
    aspects["quality"] = 1
    assert str(measure) == "TOMA(aspects={'relevance':2})"


# -- registration --------------------------------------------------------------------------------------


def test_ir_measures_knows_the_provider() -> None:
    ours = [
        p for p in ir_measures.DefaultPipeline.providers if p.NAME == "ir_lexirecall"
    ]
    assert len(ours) == 1
    assert (
        ir_measures.DefaultPipeline.providers[-1]
        is ours[0]
        is ir_measures.providers.registry["ir_lexirecall"]
    )
    assert ours[0].is_available()


@pytest.mark.parametrize(
    "measure",
    [AP, nDCG @ 10, P @ 5, ir_measures.Bpref, ir_measures.RBP(rel=1)],
    ids=str,
)
def test_standard_measures_stay_with_the_providers_that_ir_measures_ships(
    measure: Any,
) -> None:
    assert LexiRecallProvider().supports(measure)
    assert provider_of(measure) in ("pytrec_eval", "cwl_eval")


TAKEN = """
import warnings
import ir_measures
from ir_measures import measures

class Other(measures.Measure):
    __name__ = NAME = "TSE"
    SUPPORTED_PARAMS = {}

theirs = Other()
measures.register(theirs)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import ir_lexirecall as irl
from ir_lexirecall._util.measure_strings import parse_measure
print(len([w for w in caught if "'TSE'" in str(w.message) and "ir_lexirecall.TSE" in str(w.message)]))
print(type(parse_measure("TSE")) is Other, parse_measure("LR") == irl.LR)
qrels, run = {"q": {"a": 1}}, {"q": {"x": 2.0, "a": 1.0}}
print(irl.TSE.calc_aggregate(qrels, run), irl.evaluate([irl.TSE], qrels, run).iloc[0, 0])
print(irl.evaluation.provider.LexiRecallProvider().supports(theirs))
"""


@pytest.mark.slow
def test_a_taken_name_warns_and_stays_theirs() -> None:
    assert python(TAKEN).splitlines() == ["1", "True True", "0.5 0.5", "False"]


# -- precedence ----------------------------------------------------------------------------------------

STAND_INS = [
    NERR8(max_rel=3) @ 5,
    NERR9(max_rel=3) @ 5,
    NERR10(max_rel=3),
    NERR11(max_rel=3),
]


def provider_of(measure: Any) -> str:
    return next(
        p.NAME
        for p in ir_measures.DefaultPipeline.providers
        if p.is_available() and p.supports(measure)
    )


def without(provider: str, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        ir_measures.providers.registry[provider], "is_available", lambda: False
    )


@pytest.mark.parametrize("measure", STAND_INS, ids=str)
def test_cwl_eval_keeps_its_measures(
    measure: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("cwl")
    assert provider_of(measure) == "cwl_eval"
    assert not isinstance(ir_measures.evaluator([measure], QRELS), LexiRecallEvaluator)
    theirs = measure.calc_aggregate(QRELS, RUN)
    without("cwl_eval", monkeypatch)
    assert measure.calc_aggregate(QRELS, RUN) == pytest.approx(theirs, rel=1e-12)


@pytest.mark.parametrize("measure", STAND_INS, ids=str)
def test_without_cwl_eval_its_measures_come_from_this_library(
    measure: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    without("cwl_eval", monkeypatch)
    assert provider_of(measure) == "ir_lexirecall"
    assert isinstance(ir_measures.evaluator([measure], QRELS), LexiRecallEvaluator)
    assert all(
        isinstance(metric, CwlMetric) for metric in measure.iter_calc(QRELS, RUN)
    )


def test_gdeval_keeps_err_and_without_it_err_comes_from_this_library(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    qrels = {"1": {"a": 1, "b": 2}, "2": {"a": 1}}
    run = {"1": RUN["q1"], "2": RUN["q2"]}
    theirs = None
    if ir_measures.gdeval.is_available():
        assert provider_of(ERR @ 5) == "gdeval"
        theirs = (ERR @ 5).calc_aggregate(qrels, run)
    without("gdeval", monkeypatch)
    assert provider_of(ERR @ 5) == "ir_lexirecall"
    ours = (ERR @ 5).calc_aggregate(qrels, run)
    assert ours == pytest.approx((3 / 16 / 2 + 13 / 16 / 16 / 3 + 0) / 2)
    assert theirs is None or ours == pytest.approx(
        theirs, abs=1e-5
    )  # gdeval prints five digits


def test_what_this_library_cannot_stand_in_for_is_not_claimed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    measure = ir_measures.Compat(p=0.9)
    assert not LexiRecallProvider().supports(measure)
    without("compat", monkeypatch)
    with pytest.raises(ValueError, match="compat"):
        measure.calc_aggregate(QRELS, RUN)


# -- C/W/L metrics -------------------------------------------------------------------------------------


def test_values_of_cwl_metrics() -> None:
    # Gains 0, 3/4, 1/4 with grades 2 and 1 in ranks 2 and 3.
    metric = next((CWL_ERR8(max_rel=2) @ 3).iter_calc(QRELS, RUN))
    assert metric.expected_items == pytest.approx(1 + 1 + 1 / 4)
    assert metric.expected_total_utility == pytest.approx(3 / 4 + 1 / 4 * 1 / 4)
    metric = next(CWL_RBP(phi=0.5, max_rel=2).iter_calc(QRELS, RUN))
    assert metric.expected_items == pytest.approx(2)
    assert metric.expected_total_utility == pytest.approx(0.5 * 3 / 4 + 0.25 * 1 / 4)


# -- names that are taken --------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def registries() -> Iterator[None]:
    """Forget the measures that a test defines."""
    known = [REGISTRY, ir_measures.measures.registry]
    before = [dict(registry) for registry in known]
    yield
    for registry, measures in zip(known, before, strict=True):
        registry.clear()
        registry.update(measures)


_OWN = """
class {name}(irl.Measure):
    params = {{}}
    ALIASES = {aliases!r}
    def score(self, run):
        return np.full(len(run.judgments), 0.25)
"""


def define(name: str, aliases: tuple[str, ...] = (), module: str = "__main__") -> Any:
    names: dict[str, Any] = {"irl": irl, "np": np, "__name__": module}
    exec(_OWN.format(name=name, aliases=aliases), names)
    return names[name]


@pytest.mark.parametrize(
    ("name", "aliases", "taken"),
    [
        ("LR", (), "LR"),
        ("LexiRecall", (), "LexiRecall"),
        ("TSE", (), "TSE"),
        ("Fresh1", ("LR",), "LR"),
        ("RBU", ("Fresh2",), "RBU"),
    ],
)
def test_a_name_of_the_library_keeps_its_meaning(
    name: str, aliases: tuple[str, ...], taken: str
) -> None:
    qrels, run = {"q": {"a": 1}}, {"q": {"x": 2.0, "a": 1.0}}
    before = irl.evaluate(taken, qrels, run).iloc[0, 0]
    for _ in range(2):  # also where the cell runs again
        with pytest.warns(
            UserWarning, match=rf"this library has another measure called '{taken}'"
        ):
            own = define(name, aliases)
        assert irl.evaluate(taken, qrels, run).iloc[0, 0] == before
        assert irl.evaluate([own()], qrels, run).iloc[0, 0] == 0.25
        assert own().calc_aggregate(qrels, run) == 0.25
    for fresh in {name, *aliases} - {taken}:
        assert irl.evaluate(fresh, qrels, run).iloc[0, 0] == 0.25


def test_a_users_class_can_be_defined_again() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        define("Cell3")
        second = define("Cell3")
    assert type(parse_measure("Cell3")) is second


def test_a_class_of_another_module_takes_a_name_with_a_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):  # a module may be read again
            define("Cell4", module="first")
    words = "^'Cell4' means second.Cell4 in strings from now on, no longer first.Cell4"
    with pytest.warns(UserWarning, match=words):
        later = define("Cell4", module="second")
    assert type(parse_measure("Cell4")) is later


def test_bounds_are_not_those_of_another_class_of_the_same_name() -> None:
    with pytest.warns(
        UserWarning, match="this library has another measure called 'TSE'"
    ):
        own = define("TSE")
    with pytest.raises(ValueError, match="algorithm"):
        irl.judgment_bounds([own()], {"q": {"a": 1}}, {"q": {"x": 2.0, "a": 1.0}})


@pytest.mark.parametrize("taken", ["LR", "TSE", "AP", "RBP"])
@pytest.mark.parametrize("own_first", [True, False])
def test_two_measures_of_one_name_are_not_asked_for_together(
    taken: str, own_first: bool
) -> None:
    with pytest.warns(UserWarning, match=f"another measure called '{taken}'"):
        own = define(taken)
    both = [own(), taken] if own_first else [taken, own()]
    runs = {"one": RUN, "two": RUN}
    for ask in (
        lambda by: irl.evaluate(by, QRELS, RUN),
        lambda by: irl.compare(QRELS, runs, by),
        lambda by: irl.gate(QRELS, RUN, RUN, by),
    ):
        with pytest.raises(ValueError, match=f": two measures are called '{taken}'"):
            ask(both)
    named = irl.evaluate({"mine": own(), taken: taken}, QRELS, RUN)
    assert list(named) == ["mine", taken]
    assert list(irl.evaluate([AP, "AP", AP()], QRELS, RUN)) == ["AP"]


@pytest.mark.parametrize(
    "taken", ["map", "recip_rank", "num_ret", "ndcg_cut_10", "bpref"]
)
def test_a_name_of_another_program_keeps_its_meaning(taken: str) -> None:
    before = irl.evaluate(taken, QRELS, RUN)
    with pytest.warns(
        UserWarning,
        match=f"this library reads '{taken}' as .* already; strings mean that one; give "
        f"__main__.{taken} as an object, or another name",
    ):
        mine = define(taken)
    pd.testing.assert_frame_equal(irl.evaluate(taken, QRELS, RUN), before)
    assert list(irl.evaluate(mine, QRELS, RUN)) == [taken]


def test_the_names_of_all_preferences_are_kept_from_measures() -> None:
    assert PREFERENCE_NAMES == NAMES_OF_PREFERENCES


@pytest.mark.parametrize("taken", NAMES_OF_PREFERENCES)
def test_a_name_of_a_preference_keeps_its_meaning(taken: str) -> None:
    runs = {"one": RUN, "two": {"q1": {"b": 1.0}, "q2": {"a": 1.0}}}
    before = irl.compare(QRELS, runs, by=[taken]).table()
    with pytest.warns(
        UserWarning,
        match=f"this library reads '{taken}' as a preference already; strings mean that one; "
        f"give __main__.{taken} as an object, or another name",
    ):
        mine = define(taken)
    with pytest.raises(ValueError, match=f"unknown measure '{taken}'"):
        irl.evaluate(taken, QRELS, RUN)
    pd.testing.assert_frame_equal(irl.compare(QRELS, runs, by=[taken]).table(), before)
    assert list(irl.evaluate(mine, QRELS, RUN)) == [taken]
