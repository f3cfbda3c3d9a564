"""The share of unjudged documents among the first k."""

from __future__ import annotations

from typing import Any

import pytest
import reference
from conftest import collections, values
from hypothesis import given
from hypothesis import strategies as st

from ir_lexirecall import Unjudged


@given(collection=collections(), k=st.integers(1, 50))
def test_it_counts_what_has_no_judgment(collection: Any, k: int) -> None:
    qrels, run = collection
    expected = {
        q: sum(judged.get(doc, -1) < 0 for doc in reference.order(run.get(q, {}))[:k]) / k
        for q, judged in qrels.items()
    }
    assert values(Unjudged @ k, qrels, run) == expected
    if all(grade >= 0 for judged in qrels.values() for grade in judged.values()):
        assert set(values(Unjudged(judged_only=True) @ k, qrels, run).values()) <= {0}


def test_it_needs_a_cutoff() -> None:
    with pytest.raises(ValueError, match="cutoff"):
        values(Unjudged(), {"q": {"a": 1}}, {"q": {"a": 1}})
