"""Studies of the same runs share one reading and one scoring, and each is described once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

from ir_lexirecall import demo, meta
from ir_lexirecall.evaluation import scored_runs
from ir_lexirecall.meta.records import RECORDS, Headline
from ir_lexirecall.plots.studies import Picture

MEASURES = ["AP", "nDCG@10", "lexirecall"]
STUDIES: dict[str, dict[str, Any]] = {
    name: {} for name in vars(meta.Study) if name in RECORDS
} | {
    "split_half": {"n_splits": 20},
    "discriminative_power": {"test": "t"},
    "achieved_significance": {"test": "sign"},
    "degrade": {"fractions": [0.5], "n_samples": 1},
    "stability": {"fractions": [0.5], "n_samples": 1, "n_resamples": 20},
    "judges": {"qrels_b": demo.qrels(), "n_resamples": 20},
}
OTHERS: dict[str, Callable[[], pd.DataFrame]] = {
    "axioms": lambda: meta.axioms(["AP", "RR"], size=2, cases=0),
    "balancing_index": lambda: meta.balancing_index(["AP", "ERR"], [5, 10]),
    "interval_scale": lambda: meta.interval_scale(["P@5", "AP"]),
    "orientation": lambda: meta.orientation(["AP", "LR"], n=[100, 200]),
    "properties": meta.properties,
    "provider_exposure": lambda: meta.provider_exposure(
        demo.qrels(), demo.runs(), dict.fromkeys(demo.qrels()["doc_id"], "P")
    ),
    "reachable_maximum": lambda: meta.reachable_maximum(OF_TWO, ASPECTS),
    "tie_probabilities": lambda: meta.tie_probabilities([10, 100], 3),
}


OF_TWO = "CAM(aspects={'relevance':1,'quality':1})"
ASPECTS = pd.DataFrame(
    {"query_id": "q", "doc_id": ["a", "b"], "relevance": [1, 0], "quality": [0, 1]}
)


def test_studies_of_the_same_runs_read_and_score_them_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read, scored = Counter[str](), Counter[str]()
    read_run, values = scored_runs.read_run, scored_runs.values

    def reading(judgments: Any, run: Any, name: str, *rest: Any) -> Any:
        read[name] += 1
        return read_run(judgments, run, name, *rest)

    def scoring(measure: Any, run: Any) -> Any:
        scored[str(measure)] += 1
        return values(measure, run)

    monkeypatch.setattr(scored_runs, "read_run", reading)
    monkeypatch.setattr(scored_runs, "values", scoring)
    runs = demo.runs()
    study = meta.Study(MEASURES, demo.qrels(), runs)
    for name in (
        "ties",
        "agreement",
        "unanimity",
        "correlation",
        "per_query_kendall",
        "split_half",
    ):
        getattr(study, name)()
    study.discriminative_power(test="t")
    assert read == dict.fromkeys(runs, 1)
    assert scored == dict.fromkeys(["AP", "nDCG@10"], len(runs))


@pytest.mark.slow
def test_what_was_studied_before_changes_nothing() -> None:
    """Forwards, backwards, and each on its own."""
    orders = [list(STUDIES), list(reversed(STUDIES))]
    results = []
    for order in orders:
        study = meta.Study(["AP", "nDCG@10"], demo.qrels(), demo.runs())
        results.append({name: getattr(study, name)(**STUDIES[name]) for name in order})
    for name, options in STUDIES.items():
        alone = getattr(meta.Study(["AP", "nDCG@10"], demo.qrels(), demo.runs()), name)(
            **options
        )
        for result in results:
            pd.testing.assert_frame_equal(result[name], alone, check_exact=True)


def test_nothing_is_read_that_a_study_does_not_need() -> None:
    """A measure that is undefined here is refused by studies of its values, not by others."""
    study = meta.Study(["SL3", "rpp"], demo.qrels(), demo.runs())
    assert study.values("rpp").shape == (5, 16)
    with pytest.raises(ValueError, match=r"^ties: SL3 is infinite .* give n"):
        study.ties()


@pytest.mark.parametrize("name", sorted(RECORDS))
def test_every_study_is_described(name: str) -> None:
    record = RECORDS[name]
    assert record.title
    assert record.title[-1] != "."
    assert isinstance(record.headline, Headline) or callable(record.headline)
    if name in ("tie_audit", "properties"):
        return
    assert isinstance(record.picture, Picture) or callable(record.picture)
    assert hasattr(meta, name) or hasattr(meta.Study, name)
    assert not record.runs or hasattr(meta.Study, record.name)


@pytest.mark.sparse
@pytest.mark.parametrize("name", sorted(RECORDS.keys() - {"tie_audit"}))
def test_it_says_what_it_ran_and_is_told_and_drawn(name: str) -> None:
    pytest.importorskip("matplotlib")
    if name in OTHERS:
        table = OTHERS[name]()
    else:
        study = meta.Study({"average": "AP", "rpp": "rpp"}, demo.qrels(), demo.runs())
        table = getattr(study, name)(**STUDIES[name])
        assert table.attrs["runs"] == list(demo.runs())
        if name != "judges":
            assert table.attrs["measures"] == {"average": "AP", "rpp": "rpp"}
            assert (
                table.attrs["queries"],
                table.attrs["excluded_queries"],
                table.attrs["rel"],
            ) == (16, 0, 1)
    assert type(table) is pd.DataFrame
    assert table.attrs["function"] == name
    assert table.attrs["versions"]["ir_lexirecall"]
    assert meta.summary(table).startswith(f"{name}: ")
    if name == "properties":
        with pytest.raises(ValueError, match="a study with a picture"):
            meta.plot(table)
        return
    axes = meta.plot(table)
    assert axes.get_title(loc="left")
    assert axes.lines or axes.patches or axes.images
