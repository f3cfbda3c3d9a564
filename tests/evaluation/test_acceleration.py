"""``accelerate`` changes how long ir_measures and PyTerrier take, and nothing else."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from itertools import groupby
from types import MappingProxyType
from typing import Any, NamedTuple

import ir_measures
import pandas as pd
import polars as pl
import pytest
from fresh import python
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_measures import AP, Bpref, NumQ, NumRel, NumRet, P, R, nDCG
from ir_measures.measures.base import Measure

import ir_lexirecall as irl
from ir_lexirecall import CWL_ERR10, LR, TSE
from ir_lexirecall.evaluation import acceleration
from ir_lexirecall.measures.scoring import identical
from tests.conftest import collections
from tests.measures.test_standard import FIXED
from tests.support.odd_inputs import (
    ODD_QRELS,
    ODD_RUNS,
    QRELS,
    RUN,
    VALUES,
    frame,
    rows,
    strings,
    tuples,
)

STANDARD = [AP, nDCG @ 10, P @ 2, R @ 2, Bpref, NumRet, NumRel, NumQ]
OURS = [TSE, LR, CWL_ERR10(max_rel=4)]


@pytest.fixture(autouse=True)
def off() -> Iterator[None]:
    """Every test begins and ends without acceleration."""
    with irl.accelerate(False):
        yield


def names() -> list[str]:
    return [provider.NAME for provider in ir_measures.DefaultPipeline.providers]


def exact(value: float) -> str:
    """Type and every bit of a number; NaN equals NaN."""
    return f"{type(value).__name__} {float(value).hex()}"


def aggregates(measures: list[Measure], qrels: Any, run: Any) -> Any:
    values = ir_measures.calc_aggregate(measures, qrels(), run())
    return {str(measure): exact(value) for measure, value in values.items()}


def per_query(measures: list[Measure], qrels: Any, run: Any) -> Any:
    """Metrics by measure, in the order in which they come, and the order in which queries come first."""
    metrics = list(ir_measures.iter_calc(measures, qrels(), run()))
    by_measure: dict[str, list[Any]] = {str(measure): [] for measure in measures}
    by_measure["queries"] = list(dict.fromkeys(metric.query_id for metric in metrics))
    for metric in metrics:
        row = (metric.query_id, type(metric), *map(exact, metric[2:]))
        by_measure[str(metric.measure)].append(row)
    return by_measure


def kept(measures: list[Measure], qrels: Any, run: Any) -> Any:
    """What one evaluator says of a run twice, and of it in all detail."""
    evaluator = ir_measures.evaluator(measures, qrels())
    twice = [evaluator.calc_aggregate(run()) for _ in range(2)]
    result = evaluator.calc(run())
    return (
        [
            {str(measure): exact(value) for measure, value in values.items()}
            for values in (*twice, result.aggregated)
        ],
        sorted(
            (metric.query_id, str(metric.measure), exact(metric.value))
            for metric in result.per_query
        ),
        set(evaluator.qrel_qids),
        set(evaluator.measures),
    )


def outcome(compute: Callable[..., Any], *arguments: Any) -> Any:
    """What comes out, be it an exception's type."""
    try:
        return compute(*arguments)
    except Exception as error:
        return type(error)


def check_nothing_changes(
    measures: list[Measure], qrels: Callable[[], Any], run: Callable[[], Any]
) -> None:
    for compute in (aggregates, per_query, kept):
        plain = outcome(compute, measures, qrels, run)
        with irl.accelerate():
            assert outcome(compute, measures, qrels, run) == plain


# -- identical values --------------------------------------------------------------------------------


def pass_of(measure: Measure) -> str:
    """What a pass of pytrec_eval over the data fixes for all measures that it scores."""
    return repr([measure.params.get(name) for name in ("judged_only", "gains")])


IDENTICAL = [measure for measure in FIXED if identical(measure)]
# Beside others, ir_measures takes NumRet, NumQ and nDCG from pytrec_eval's pass for whichever measure comes first in a set of
# them, with its gains and without unjudged documents if that is what it asks: their values would depend on the hash seed.
UNMIXED = [
    list(measures)
    for _, measures in groupby(sorted(IDENTICAL, key=pass_of), key=pass_of)
]
# pytrec_eval reads and writes beyond its memory where all grades of a query are negative, or its first ranking is empty.
NATURAL = st.integers(0, 4)


def after_another_query(collection: tuple[Any, Any]) -> tuple[Any, Any]:
    """The same collection with a ranking before all others that retrieves something."""
    qrels, run = collection
    return {**qrels, "first": {"d": 1}}, {"first": {"d": 1.0}, **run}


def test_the_measures_that_are_compared() -> None:
    assert len(IDENTICAL) == len(FIXED) > 20


@given(collections(NATURAL).map(after_another_query))
def test_all_measures_of_random_collections(collection: Any) -> None:
    qrels, run = collection
    for measures in UNMIXED:
        check_nothing_changes(measures, lambda: qrels, lambda: run)


@pytest.mark.slow
@given(collections(NATURAL).map(after_another_query), st.data())
@settings(max_examples=50)
def test_ours_and_standard_together_in_other_formats(
    collection: Any, data: st.DataObject
) -> None:
    qrels, run = (
        data.draw(st.sampled_from(FORMATS))(table, value)
        for table, value in zip(collection, VALUES, strict=True)
    )
    for measures in UNMIXED:
        check_nothing_changes([*measures, *OURS], qrels, run)


def test_a_measure_is_worth_the_same_beside_others() -> None:
    qrels, run = {"q": {"x": 1, "y": 2}}, {"q": {"u": 3.0, "y": 2.0, "x": 1.0}}
    alone = {
        measure: ir_measures.calc_aggregate([measure], qrels, run)[measure]
        for measure in IDENTICAL
    }
    with irl.accelerate():
        assert ir_measures.calc_aggregate(IDENTICAL, qrels, run) == alone


# -- unusual input -----------------------------------------------------------------------------------


class Wide(NamedTuple):
    """A named tuple with the fields of qrels and runs in another order, and one more."""

    score: float
    relevance: int
    tag: str
    doc_id: str
    query_id: str


FORMATS: list[Callable[[Any, str], Callable[[], Any]]] = [
    lambda table, value: lambda: table,
    lambda table, value: lambda: OrderedDict(table),
    lambda table, value: lambda: MappingProxyType(table),
    lambda table, value: lambda: tuples(table, value),
    lambda table, value: lambda: iter(tuples(table, value)),
    lambda table, value: lambda: tuple(tuples(table, value)),
    lambda table, value: (
        lambda: [Wide(v, v, "tag", doc, q) for q, doc, v in rows(table)]
    ),
    lambda table, value: (
        lambda: [row._replace(query_id=[]) for row in tuples(table, value)]
    ),
    lambda table, value: lambda: [tuple(row) for row in rows(table)],
    lambda table, value: lambda: strings(table, value, object),
    lambda table, value: lambda: strings(table, value, "string[python]"),
    lambda table, value: lambda: strings(table, value, "string[pyarrow]"),
    lambda table, value: lambda: strings(table, value, "category"),
    lambda table, value: lambda: frame(table, value, **{value: object}),
    lambda table, value: lambda: frame(table, value).convert_dtypes(),
    lambda table, value: (
        lambda: frame(table, value).rename(
            columns={"query_id": "qid", "doc_id": "docno"}
        )
    ),
    lambda table, value: lambda: frame(table, value).drop(columns="doc_id"),
    lambda table, value: lambda: frame(table, value).assign(iteration="0", rank=1),
    lambda table, value: lambda: pl.DataFrame(frame(table, value)),
    lambda table, value: lambda: pd.concat([frame(table, value), frame(table, value)]),
]


@pytest.mark.parametrize(
    "measures", [STANDARD, [*STANDARD, *OURS], OURS], ids=["standard", "both", "ours"]
)
@pytest.mark.parametrize("name", ODD_QRELS)
def test_odd_qrels(name: str, measures: list[Measure]) -> None:
    check_nothing_changes(measures, ODD_QRELS[name], lambda: RUN)


@pytest.mark.parametrize(
    "measures", [STANDARD, [*STANDARD, *OURS], OURS], ids=["standard", "both", "ours"]
)
@pytest.mark.parametrize("name", ODD_RUNS)
def test_odd_runs(name: str, measures: list[Measure]) -> None:
    check_nothing_changes(measures, lambda: QRELS, ODD_RUNS[name])


def test_pytrec_eval_gets_no_empty_ranking_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It would end the process, or give back values of whatever it had evaluated before."""
    monkeypatch.setattr(
        ir_measures.providers.registry["pytrec_eval"], "_evaluator", None
    )
    with irl.accelerate():
        values = ir_measures.calc_aggregate(
            [AP, NumQ, NumRel, NumRet], QRELS, {"q1": {}, "q2": {"x": 2.0, "a": 1.0}}
        )
        assert values == {AP: 0.5 / 3, NumQ: 2, NumRel: 3, NumRet: 2}
        nothing = ir_measures.calc_aggregate(
            [AP, NumQ, NumRel, NumRet], QRELS, {"q1": {}}
        )
        assert nothing == {AP: 0, NumQ: 1, NumRel: 2, NumRet: 0}


# -- one alignment -----------------------------------------------------------------------------------


def test_pytrec_eval_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: Any) -> None:
        raise AssertionError("pytrec_eval was asked")

    monkeypatch.setattr(
        ir_measures.providers.registry["pytrec_eval"], "_evaluator", refuse
    )
    for build in (FORMATS[0], FORMATS[3], FORMATS[9], FORMATS[11], FORMATS[12]):
        with irl.accelerate():
            values = ir_measures.calc_aggregate(
                [*IDENTICAL, *OURS], build(QRELS, "relevance")(), build(RUN, "score")()
            )
        assert len(values) == len({*IDENTICAL, *OURS})


# -- on and off --------------------------------------------------------------------------------------


def test_blocks_nest_and_restore() -> None:
    before = names()
    with irl.accelerate() as outer:
        assert names() == [acceleration.NAME, *before]
        assert repr(outer) == "accelerate: on"
        with irl.accelerate():
            assert names() == [acceleration.NAME, *before]
            with irl.accelerate(False):
                assert names() == before
            assert names() == [acceleration.NAME, *before]
        assert names() == [acceleration.NAME, *before]
    assert names() == before
    assert repr(outer) == "accelerate: off"


def test_a_switch_that_is_no_flag_is_refused() -> None:
    before = names()
    with pytest.raises(ValueError, match=r"^accelerate: on must be True or False, not"):
        irl.accelerate("no")  # type: ignore[arg-type]
    assert names() == before


def test_without_a_block() -> None:
    before = names()
    irl.accelerate()
    irl.accelerate()
    assert names() == [acceleration.NAME, *before]
    irl.accelerate(False)
    irl.accelerate(False)
    assert names() == before


PROVIDERS = "print([p.NAME for p in ir_measures.DefaultPipeline.providers])"


@pytest.mark.parametrize(("value", "on"), [("1", True), ("0", False), ("", False)])
def test_the_environment_variable(value: str, on: bool) -> None:
    program = f"import ir_measures, ir_lexirecall; {PROVIDERS}"
    found = python(program, IR_LEXIRECALL_ACCELERATE=value)
    assert found.startswith(f"['{acceleration.NAME}', ") == on
    assert acceleration.NAME in found or not on


def test_importing_adds_to_the_registries_and_changes_nothing_else() -> None:
    program = """
import ir_measures
def state():
    modules = [ir_measures, ir_measures.util, ir_measures.measures, ir_measures.measures.base, ir_measures.providers,
               ir_measures.providers.base, ir_measures.Evaluator, ir_measures.Provider, ir_measures.Measure,
               type(ir_measures.DefaultPipeline)]
    return [{name: id(value) for name, value in vars(module).items() if not name.startswith("_abc")} for module in modules]
measures, providers = dict(ir_measures.measures.registry), dict(ir_measures.providers.registry)
pipeline, before = list(ir_measures.DefaultPipeline.providers), state()
import ir_lexirecall
assert state() == before
known = ir_measures.measures.registry
assert {name: known[name] for name in measures} == measures
assert set(known) - set(measures) == set(ir_lexirecall.measures.REGISTRY)
assert ir_measures.providers.registry.items() >= providers.items()
assert set(ir_measures.providers.registry) - set(providers) == {"ir_lexirecall"}
assert ir_measures.DefaultPipeline.providers[:-1] == pipeline
assert ir_measures.DefaultPipeline.providers[-1].NAME == "ir_lexirecall"
print("the same")
"""
    assert python(program, IR_LEXIRECALL_ACCELERATE="") == "the same"
