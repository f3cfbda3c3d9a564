"""What runs retrieved, judged or not: ranks as everywhere, from any form of run, read again when it is asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import AP, ScoredDoc

from ir_lexirecall import compare, demo, judgment_bounds
from ir_lexirecall._util import engine
from ir_lexirecall.data.alignment import align
from ir_lexirecall.data.judgments import Judgments, load
from ir_lexirecall.data.pools import Pool
from ir_lexirecall.evaluation.scored_runs import ScoredRuns
from tests.conftest import collections

QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"c": 2}}
RUNS = {
    "x": {"q1": {"a": 3.0, "u": 2.0, "v": 1.0}, "q2": {"w": 1.0}},
    "y": {"q1": {"v": 3.0, "b": 2.0}, "q2": {"c": 2.0, "w": 2.0}, "q9": {"z": 1.0}},
}


@pytest.mark.slow
@given(
    collection=collections(), other=collections(), depth=st.none() | st.integers(1, 8)
)
def test_ranks_are_those_of_the_tie_rule(
    collection: Any, other: Any, depth: int | None
) -> None:
    qrels, run = collection
    runs = {
        "one": run,
        "other": {q: docs for q, docs in other[1].items() if q in qrels},
    }
    judgments = Judgments.from_qrels(qrels)
    pool = Pool.from_runs(judgments, runs, depth)
    seen = {}
    for i, (q, doc) in enumerate(
        zip(pool.query.tolist(), pool.doc_id.to_list(), strict=True)
    ):
        seen[judgments.query_ids[q], doc] = tuple(pool.rank[:, i].tolist())
    expected: dict[tuple[str, str], list[int]] = {}
    for s, rankings in enumerate(runs.values()):
        for q in judgments.query_ids:
            for rank, doc in enumerate(reference.order(rankings.get(q, {})), start=1):
                expected.setdefault((q, doc), [0, 0])[s] = rank
    expected = {
        (q, doc): tuple(ranks)
        for (q, doc), ranks in expected.items()
        if qrels[q].get(doc, -1) >= 0
        or depth is None
        or min(filter(None, ranks)) <= depth
    }
    assert seen == expected
    pool.check_agrees(
        {name: align(judgments, rankings) for name, rankings in runs.items()}
    )
    assert (np.diff(pool.query) >= 0).all()


@given(
    collection=collections(), other=collections(), depth=st.none() | st.integers(1, 8)
)
def test_a_pool_is_the_same_where_polars_cannot_compute(
    collection: Any, other: Any, depth: int | None
) -> None:
    qrels, run = collection
    judgments = Judgments.from_qrels(qrels)
    excluded = {q: list(docs)[:1] for q, docs in run.items() if q in qrels}
    runs = {"one": run, "other": other[1]}
    for judged in (judgments, judgments.excluding(excluded)):
        usual = Pool.from_runs(judged, runs, depth)
        with mock.patch.object(engine, "_computes", False):
            slow = Pool.from_runs(judged, runs, depth)
        assert slow.doc_id.to_list() == usual.doc_id.to_list()
        for name in ("query", "doc", "rank"):
            np.testing.assert_array_equal(getattr(slow, name), getattr(usual, name))


def forms(run: dict[str, dict[str, float]], folder: Path) -> dict[str, Any]:
    rows = [(q, doc, score) for q, docs in run.items() for doc, score in docs.items()]
    frame = pd.DataFrame(rows, columns=["query_id", "doc_id", "score"])
    file, scattered = folder / "a.run", folder / "b.run"
    file.write_text("".join(f"{q} Q0 {doc} 0 {score} x\n" for q, doc, score in rows))
    scattered.write_text(
        "".join(
            f"{q} Q0 {doc} 0 {score} x\n"
            for q, doc, score in sorted(rows, key=lambda row: row[1])
        )
    )
    return {
        "dict": run,
        "frame": frame,
        "file": file,
        "scattered": str(scattered),
        "shuffled": frame.iloc[::-1],
    }


@pytest.mark.parametrize("form", ["dict", "frame", "file", "scattered", "shuffled"])
def test_any_form_of_a_run_gives_the_same_pool(form: str, tmp_path: Path) -> None:
    judgments = Judgments.from_qrels(QRELS)
    expected = Pool.from_runs(judgments, RUNS, 2)
    given_as = {}
    for name, run in RUNS.items():
        folder = tmp_path / name
        folder.mkdir()
        given_as[name] = forms(run, folder)[form]
    got = Pool.from_runs(judgments, given_as, 2)
    assert got.doc_id.to_list() == expected.doc_id.to_list()
    assert got.rank.tolist() == expected.rank.tolist()
    assert got.retrieved.tolist() == expected.retrieved.tolist() == [[3, 1], [2, 2]]


# -- of scored runs ----------------------------------------------------------------------------------


def test_scored_runs_read_again_what_they_were_given(tmp_path: Path) -> None:
    file = forms(RUNS["x"], tmp_path)["file"]
    once = (
        ScoredDoc(q, d, score)
        for q, docs in RUNS["y"].items()
        for d, score in docs.items()
    )
    scored = ScoredRuns.from_runs({"AP": AP}, QRELS, {"x": file, "y": once})
    pool = scored.pool(2)
    assert pool is scored.pool(2)
    assert pool.rank.tolist() == Pool.from_runs(scored.judgments, RUNS, 2).rank.tolist()
    file.write_text(file.read_text().replace("a 0 3.0", "a 0 1.5"))
    with pytest.raises(ValueError, match="run 'x' has changed since it was compared"):
        scored.pool(1)


def test_condensed_and_aligned_runs_have_no_pool() -> None:
    with pytest.raises(ValueError, match="judged_only removed the unjudged documents"):
        ScoredRuns.from_runs({}, load(QRELS, judged_only=True), RUNS).pool()
    judgments = Judgments.from_qrels(QRELS)
    aligned = {name: align(judgments, run) for name, run in RUNS.items()}
    with pytest.raises(
        ValueError, match="run 'x' is aligned, which keeps only judged documents"
    ):
        ScoredRuns.from_runs({}, judgments, aligned).pool()
    with pytest.raises(ValueError, match="run 'x': only judged documents were kept"):
        ScoredRuns(judgments, aligned, {}, {}).pool()


def test_a_table_of_bounds_has_a_row_per_criterion_and_pair() -> None:
    runs = demo.runs()
    some = {name: runs[name] for name in list(runs)[:3]}
    result = compare(
        demo.qrels(), some, ["AP", "lexirecall", "dominance"], baseline=list(some)[2]
    )
    with pytest.warns(UserWarning, match="no proven algorithm bounds dominance"):
        table = result.bounds(depth=20)
    assert list(table.columns) == [
        *(
            "criterion",
            "run_a",
            "run_b",
            "certain_wins",
            "certain_losses",
            "open",
            "certain_ties",
        ),
        *("low", "high", "ci_low", "ci_high", "exact", "depth"),
    ]
    assert (
        table["criterion"].tolist()
        == ["AP"] * 2 + ["lexirecall"] * 2 + ["dominance"] * 2
    )
    assert (table["depth"] == 20).all()
    by_ap, by_lexirecall, by_none = (table[i : i + 2] for i in (0, 2, 4))
    assert (by_ap["ci_low"] < by_ap["low"]).all()
    assert (by_ap["low"] <= by_ap["high"]).all()
    assert (by_lexirecall.iloc[:, 3:7].sum(axis=1) == len(result.query_ids)).all()
    assert by_none.iloc[:, 3:12].isna().all(axis=None)
    assert table.attrs["no_algorithm"] == ["dominance"]
    with pytest.raises(ValueError, match="no proven algorithm bounds dominance"):
        result.bounds("dominance", depth=20)


def test_measures_without_bounds_name_the_preference_that_has_them() -> None:
    with pytest.raises(ValueError, match=r"bounds LR.*preference lexirecall"):
        judgment_bounds("LR(form='weighted',n=100)", QRELS, {"q1": {"a": 1.0}})
