"""What measures declare is what lists and documentation need, ir_measures' own included."""

from __future__ import annotations

import inspect
import re
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import pytest

import ir_lexirecall as irl
from ir_lexirecall.descriptions.describing import source
from ir_lexirecall.evaluation.provider import LexiRecallProvider
from ir_lexirecall.io.measure_names import known
from ir_lexirecall.measures.declaration import FAMILIES, REGISTRY, Measure
from ir_lexirecall.measures.other_programs import is_of_ndeval
from ir_lexirecall.measures.parameters import Param
from ir_lexirecall.measures.parsing import parse_one
from ir_lexirecall.measures.scoring import is_native

MEASURES = {measure.NAME: measure for measure in REGISTRY.values()}


def test_the_provider_is_documented_with_its_measures() -> None:
    provider = ir_measures.providers.registry["ir_lexirecall"]
    assert [str(measure) for measure in provider.SUPPORTED_MEASURES] == list(MEASURES)
    assert all(
        LexiRecallProvider().supports(measure)
        for measure in MEASURES.values()
        if not required(measure)
    )


def required(measure: Measure) -> list[str]:
    return [name for name, param in measure.SUPPORTED_PARAMS.items() if param.required]


@pytest.mark.parametrize("measure", MEASURES.values(), ids=str)
def test_a_measure_says_what_it_is(measure: Any) -> None:
    assert measure.PRETTY_NAME
    assert measure.PRETTY_NAME != measure.NAME or measure.NAME in ("D_nDCG",)
    assert measure.SHORT_DESC.endswith(".")
    assert "\n" not in measure.SHORT_DESC
    assert measure.ABOUT.plain
    cited = source(measure.ABOUT.source).line
    assert re.search(r"\d{4}", cited)
    assert "doi 10." in f"{inspect.getdoc(type(measure))} {cited}"


@pytest.mark.parametrize(
    ("measure", "name"),
    [
        (measure, name)
        for measure in MEASURES.values()
        for name in measure.SUPPORTED_PARAMS
    ],
    ids=str,
)
def test_a_parameter_says_what_it_is(measure: Any, name: str) -> None:
    param: Param = measure.SUPPORTED_PARAMS[name]
    assert param.desc
    assert param.kind
    assert isinstance(param.dtype, type)
    assert param.required or param.validate(param.default)
    assert not param.required or not param.validate(None)
    if isinstance(param.choices, tuple):
        assert all(
            param.validate(choice) and choice in param.expects
            for choice in param.choices
        )
        assert param.default in param.choices


def test_every_measure_has_judged_only_last() -> None:
    assert {list(measure.SUPPORTED_PARAMS)[-1] for measure in MEASURES.values()} == {
        "judged_only"
    }


def test_aliases_mean_the_same_object() -> None:
    for name, measure in REGISTRY.items():
        assert name == measure.NAME or name in measure.ALIASES
        assert all(
            REGISTRY[alias] is measure for alias in (measure.NAME, *measure.ALIASES)
        )


# -- ranges ------------------------------------------------------------------------------------------------

OPTIONS = [
    *(
        "WSS(n=40)@0.8",
        "ATD(n=40,normalize=True)",
        "ERF(n=40)@0.3",
        "EU(e=0)",
        "RBU(normalize=True,p=0.4)@5",
        "RBU(p=1)@3",
        "RBU(e=0)",
    ),
    *(
        "RBP(rel=1)",
        "TSE(exposure='RBP',normalize=True,n=40)",
        "LR(form='weighted',n=40)",
        "IA(base='Unjudged@5')",
    ),
    *(
        "nDCG(gains={1:1,2:3})",
        "CAM(aspects={'relevance':3},base='RR')",
        "IA(base='RBP')",
    ),
]


def with_required(measure: Any) -> str:
    given: dict[str, Any] = {
        "max_rel": 3,
        "cutoff": 5,
        "aspects": {"0": 3, "1": 3} if measure.NAME == "WHAM" else {"relevance": 3},
        "recall": 0.5,
        "T": 1.0,
    }
    needed = {
        name for name, param in measure.SUPPORTED_PARAMS.items() if param.required
    }
    needed |= (
        {"cutoff"} & {*measure.SUPPORTED_PARAMS} if is_of_ndeval(measure) else set()
    )
    params = {name: given[name] for name in sorted(needed)}
    return str(
        measure(
            **params,
            **({"n": 40} if getattr(measure, "FAMILY", "") == "collections" else {}),
        )
    )


NATIVE = [
    with_required(m)
    for m in ir_measures.measures.registry.values()
    if is_native(parse_one(with_required(m)))
]


@pytest.mark.parametrize("measure", [*dict.fromkeys(NATIVE), *OPTIONS])
@pytest.mark.filterwarnings("ignore")
def test_values_lie_in_the_declared_range(measure: str) -> None:
    low, high, _ = known(measure)  # type: ignore[misc]
    random = np.random.default_rng(5)
    rows = [
        (f"q{q}", f"d{d}", str(t), random.integers(-1, 4))
        for q in range(30)
        for d in range(12)
        for t in range(1 + q % 3)
    ]
    qrels = pd.DataFrame(rows, columns=["query_id", "doc_id", "iteration", "relevance"])
    run = {
        f"q{q}": {
            f"d{d}": float(random.random())
            for d in random.permutation(20)[: random.integers(0, 20)]
        }
        for q in range(30)
    }
    values = irl.evaluate(measure, qrels, run)[measure]
    assert values.min() >= low - 1e-12
    assert values.max() <= high + 1e-12


def test_what_is_drawn_of_a_family_is_declared() -> None:
    assert {measure.FAMILY for measure in MEASURES.values()} == set(FAMILIES)
