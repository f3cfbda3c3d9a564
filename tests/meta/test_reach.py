"""Exposure of providers against the sum over their documents, one by one."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ir_lexirecall.meta import plot, provider_exposure, summary

DOCS = "abcdef"
EXPOSURES = {
    "AP": lambda i: 1 / i,
    "nDCG": lambda i: 1 / math.log2(i + 1),
    "RBP": lambda i: 0.3 * 0.7 ** (i - 1),
}


def exposure_of(ranks: list[int | None], n: int | None, e: Any) -> float:
    """Equation 2, document by document: the u missing ones take the ranks n-u+1, ..., n."""
    missing = [rank for rank in ranks if rank is None]
    bottom = (
        [] if n is None else [n - len(missing) + i for i in range(1, len(missing) + 1)]
    )
    return math.fsum(
        e(rank) for rank in [rank for rank in ranks if rank is not None] + bottom
    )


@pytest.mark.slow
@settings(max_examples=60)
@given(
    grades=st.dictionaries(st.sampled_from(DOCS), st.integers(0, 1), min_size=1).filter(
        lambda grades: any(grades.values())
    ),
    order=st.permutations([*DOCS, "x", "y"]),
    depth=st.integers(1, 8),
    owners=st.fixed_dictionaries({doc: st.sampled_from("PQ") for doc in DOCS}),
    n=st.none() | st.integers(14, 20),
    exposure=st.sampled_from(list(EXPOSURES)),
)
def test_exposure_of_a_provider_is_the_sum_over_its_documents(
    grades: Any, order: list[str], depth: int, owners: Any, n: int | None, exposure: str
) -> None:
    ranked = order[:depth]
    expected = {}
    for provider in "PQ":
        docs = [
            doc for doc, grade in grades.items() if grade and owners[doc] == provider
        ]
        if docs:
            ranks = [ranked.index(doc) + 1 if doc in ranked else None for doc in docs]
            expected[provider] = exposure_of(ranks, n, EXPOSURES[exposure])
    run = {"q": {doc: -float(i) for i, doc in enumerate(ranked)}}
    table = provider_exposure(
        {"q": grades},
        {"r": run},
        owners,
        exposure=exposure,
        n=n,
        p=0.7,
        allow_empty=True,
    )
    assert dict(
        zip(table["provider"], table["exposure"], strict=True)
    ) == pytest.approx(expected)
    assert (
        table["worst"].tolist()
        == (table["exposure"] == table["exposure"].min()).tolist()
    )


FOUR = {"q": dict.fromkeys("abcd", 1)}


def test_the_missing_documents_of_a_provider_end_the_collection() -> None:
    run = {"r": {"q": {"a": 1.0}}}
    table = provider_exposure(FOUR, run, dict.fromkeys("abc", "P") | {"d": "Q"}, n=100)
    exposed = table.set_index("provider")["exposure"]
    assert exposed["P"] == pytest.approx(1 + 1 / 99 + 1 / 100)
    assert exposed["Q"] == 1 / 100
    linear = provider_exposure(
        FOUR, run, dict.fromkeys("abcd", "P"), n=10, exposure="linear"
    )
    assert linear["exposure"].item() == pytest.approx(0.9 + 0.2 + 0.1 + 0.0)


def test_a_table_of_providers_and_what_is_said_of_the_result() -> None:
    providers = pd.DataFrame({"doc_id": list("abcd"), "provider": list("PPQQ")})
    table = provider_exposure(FOUR, {"r": {"q": {"a": 2.0, "c": 1.0}}}, providers)
    assert table[["retrieved", "per_document"]].to_numpy().tolist() == [
        [1, 0.5],
        [1, 0.25],
    ]
    assert "exposure" in summary(table)
    assert plot(table) is not None


@pytest.mark.parametrize(
    ("providers", "options", "message"),
    [
        (
            {"x": "P"},
            {},
            "the relevant document 'a' has no provider \\(and 3 other cases\\)",
        ),
        ({"a": None}, {}, "document 'a' has no provider; name one"),
        ("P", {}, "give the providers as a mapping of document ids, or a table"),
        (
            dict.fromkeys("abcd", "P"),
            {"n": 3},
            "n=3 is smaller than rank 4, needed for query 'q'",
        ),
        (
            dict.fromkeys("abcd", "P"),
            {"exposure": "linear"},
            "exposure='linear' needs n",
        ),
        (
            dict.fromkeys("abcd", "P"),
            {"exposure": "P@5"},
            "unknown exposure 'P@5'; choose from AP",
        ),
        (
            pd.DataFrame({"doc_id": list("aa"), "provider": list("PQ")}),
            {},
            "document 'a' has the providers 'P' and 'Q'; keep one",
        ),
    ],
)
def test_bad_input(providers: Any, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"^provider_exposure: .*{message}"):
        provider_exposure(FOUR, {"r": {"q": {"a": 1.0}}}, providers, **options)
