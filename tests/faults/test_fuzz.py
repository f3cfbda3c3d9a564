"""Readers of damaged files: some cases of ``python -m tests.faults.fuzz``."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytest.importorskip("pyarrow")

from tests.faults.fuzzing import CASES


@pytest.mark.parametrize("name", CASES)
def test_damaged_files(name: str) -> None:
    strategies, check = CASES[name]
    few = settings(max_examples=200 // len(CASES) + 1, deadline=None, suppress_health_check=list(HealthCheck))
    few(given(st.tuples(*strategies))(lambda arguments: check(*arguments)))()
