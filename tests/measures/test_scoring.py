"""Values of measures: what is said where another program's provider fails."""

from __future__ import annotations

import ir_measures
import pytest

import ir_lexirecall as irl

QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1, "b": 1}, "q3": {"a": 1}}
RUN = {
    "q1": {"b": 2.0, "a": 1.0},
    "q2": {"a": 2.0, "b": 1.0},
    "q3": {"a": 2.0, "x": 1.0},
}


@pytest.mark.parametrize(
    ("measure", "query"),
    [("Accuracy", "q2"), ("Accuracy@1", "q2"), ("Accuracy@2", "q2")],
)
def test_the_query_for_which_a_provider_fails_is_named(
    measure: str, query: str
) -> None:
    with pytest.raises(
        ValueError,
        match=rf"^evaluate: {measure}: ir_measures' provider fails for query '{query}' "
        r"\(float division by zero\), .* Success@1; leave out the measure or the query",
    ):
        irl.evaluate(measure, QRELS, RUN)
    table = irl.evaluate(measure, {"q1": QRELS["q1"]}, {"q1": RUN["q1"]})
    assert table[measure].tolist() == [0.0]


def test_a_provider_that_fails_as_a_whole_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls = []

    def fail_for_several(measures: object, qrels: object, run: object) -> object:
        calls.append(measures)
        if len(calls) == 1:
            raise ZeroDivisionError("x" * 10_000)
        return iter([])

    monkeypatch.setattr(ir_measures, "iter_calc", fail_for_several)
    with pytest.raises(
        ValueError, match=r"provider fails \(x+…\); leave out the"
    ) as raised:
        irl.evaluate("Compat(p=0.8)", QRELS, RUN)
    assert len(str(raised.value)) < 300
    assert len(calls) == 4  # once, then query by query
