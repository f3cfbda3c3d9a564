"""Both orders of documents, those of trec_eval 9 and 10, on every way on which a run is aligned."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ir_lexirecall as irl
from ir_lexirecall import cli
from ir_lexirecall.data.alignment import align
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.data.pools import Pool
from ir_lexirecall.data.tie_rule import ORDERS, TREC_EVAL_9, TREC_EVAL_10
from ir_lexirecall.evaluation.arrow import evaluate_arrow

QRELS = {"q": {"a": 1, "c": 0}, "r": {"a": 0, "b": 2}}
CLOSE = {
    "q": {"a": 12.345678912, "b": 12.345678911, "c": 12.34567891, "d": 1.0},
    "r": {"a": 5.0, "b": 5.0, "x": 5.0 + 1e-12},
}
EXPECTED = {9: [1 / 3, 1 / 2], 10: [1.0, 1 / 2]}


def rows(run: Any) -> pd.DataFrame:
    triples = [
        (q, doc, score) for q, docs in run.items() for doc, score in docs.items()
    ]
    return pd.DataFrame(triples, columns=["query_id", "doc_id", "score"])


def as_file(path: Path, run: Any) -> Path:
    lines = [
        f"{q} Q0 {doc} 0 {score!r} t\n"
        for q, doc, score in rows(run).itertuples(index=False)
    ]
    path.write_text("".join(lines))
    return path


FORMS = {
    "a dict": lambda path: CLOSE,
    "a dict of many queries": lambda path: (
        CLOSE | {str(i): {"a": 1.0} for i in range(9)}
    ),
    "a pandas frame": lambda path: rows(CLOSE),
    "a frame with scattered queries": lambda path: rows(CLOSE).iloc[
        [0, 4, 1, 5, 2, 6, 3]
    ],
    "a Polars frame": lambda path: pl.DataFrame(rows(CLOSE)),
    "an Arrow table": lambda path: pa.table(rows(CLOSE)),
    "named tuples": lambda path: rows(CLOSE).itertuples(index=False),
    "a TREC file": lambda path: as_file(path / "r.run", CLOSE),
    "an upside-down TREC file": lambda path: as_file(
        path / "r.run", {q: dict(reversed(docs.items())) for q, docs in CLOSE.items()}
    ),
}


@pytest.mark.parametrize("version", ORDERS)
@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_run_takes_the_chosen_order(
    form: str, version: int, tmp_path: Path
) -> None:
    qrels = irl.load(QRELS, trec_eval=version)
    table = irl.evaluate("RR", qrels, FORMS[form](tmp_path))
    assert table["RR"].tolist() == EXPECTED[version]


def test_version_9_is_the_default_and_a_choice_stays() -> None:
    assert irl.load(QRELS).order == Judgments.from_qrels(QRELS).order == TREC_EVAL_9
    assert (
        irl.load(irl.load(QRELS, trec_eval=10), judged_only=True).order == TREC_EVAL_10
    )
    assert irl.load(irl.load(QRELS, trec_eval=10), trec_eval=9).order == TREC_EVAL_9
    assert (
        Judgments.from_qrels(irl.load("lexirecall/demo", trec_eval=10)).order
        == TREC_EVAL_10
    )


@pytest.mark.parametrize("version", [8, 11, "10", 10.0, True])
def test_other_versions_are_refused(version: Any) -> None:
    with pytest.raises(
        ValueError, match=r"^load: trec_eval must be 9 \(.*or 10 \(.*, not "
    ):
        irl.load(QRELS, trec_eval=version)


@pytest.mark.parametrize("version", ORDERS)
def test_pools_arrow_ties_and_comparisons_take_it(version: int) -> None:
    qrels = irl.load(QRELS, trec_eval=version)
    pool = Pool.from_runs(qrels, {"r": CLOSE})
    rank = dict(
        zip(
            zip(pool.query.tolist(), pool.doc_id, strict=True),
            pool.rank[0],
            strict=True,
        )
    )
    assert rank[0, "a"] == round(1 / EXPECTED[version][0])
    assert (
        evaluate_arrow(["RR"], qrels, pa.table(rows(CLOSE)))["RR"].to_pylist()
        == EXPECTED[version]
    )
    audit = irl.tie_audit("RR", qrels, {"r": CLOSE}).iloc[0]
    assert audit["tied_queries"] == {9: 2, 10: 1}[version]
    other = {"q": {"z": 2.0, "a": 1.0}, "r": {"b": 1.0}}
    result = irl.compare(qrels, {"close": CLOSE, "other": other}, "RR")
    mean = result.means().set_index("run")["mean"]["close"]
    assert mean == np.mean(EXPECTED[version])
    bounds = irl.judgment_bounds("RR", qrels, CLOSE, depth=1)
    assert bounds["RR"]["low"].tolist() == EXPECTED[version]
    assert bounds["RR"]["high"].tolist() == [EXPECTED[version][0], 1.0]


def test_a_result_says_which_order_it_has() -> None:
    runs = {"close": CLOSE, "other": {"q": {"a": 1.0}}}
    for version, words in {
        9: None,
        10: "with documents in trec_eval 10's order",
    }.items():
        qrels = irl.load(QRELS, trec_eval=version)
        assert irl.evaluate("RR", qrels, CLOSE).attrs.get("rules") == words
        assert irl.compare(qrels, runs, "RR").provenance["rules"] == words


scores = st.one_of(
    st.floats(-1e300, 1e300),
    st.sampled_from(
        [0.0, -0.0, 1.0, 1 + 1e-9, 1 + 1e-15, 1e39, 2e39, -1e39, 5e-324, 1e-46]
    ),
)


@given(
    st.dictionaries(
        st.text("abé\U0001f41d", min_size=1, max_size=3), scores, min_size=1
    ),
    st.integers(0, 3),
)
def test_ranks_equal_a_plain_sort(ranking: dict[str, float], n_more: int) -> None:
    more = {f"more{i}": ranking for i in range(n_more * 2)}
    for version, dtype in {9: np.float32, 10: np.float64}.items():
        judgments = irl.load(
            {q: dict.fromkeys(ranking, 1) for q in ["q", *more]}, trec_eval=version
        )
        with np.errstate(over="ignore"):
            key = {
                doc: (dtype(score) + 0, doc.encode()) for doc, score in ranking.items()
            }
        expected = sorted(ranking, key=key.__getitem__, reverse=True)
        for run in ({"q": ranking} | more, rows({"q": ranking} | more)):
            aligned = align(judgments, run)
            docs = judgments.ids_of(aligned.doc)
            assert docs[-len(ranking) :] == expected


# -- the command line ------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    (tmp_path / "q").write_text("q 0 a 1\nq 0 c 0\nr 0 a 0\nr 0 b 2\n")
    return [str(tmp_path / "q"), str(as_file(tmp_path / "r.run", CLOSE))]


def printed(capsys: Any, *words: str) -> str:
    assert cli.main([*words]) in (0, None)
    return str(capsys.readouterr().out)


def test_format_trec_is_version_10_throughout(files: list[str], capsys: Any) -> None:
    out = printed(capsys, "eval", *files, "--format", "trec", "-m", "recip_rank")
    assert out.split()[-1] == "0.7500"


@pytest.mark.parametrize(
    ("words", "value"), [([], 5 / 12), (["--trec-eval", "10"], 0.75)]
)
def test_the_flag_chooses(
    files: list[str], capsys: Any, words: list[str], value: float
) -> None:
    out = printed(capsys, "eval", *files, "-m", "RR", "--format", "json", *words)
    assert json.loads(out)[0]["RR"] == pytest.approx(value)


def test_format_trec_refuses_version_9(files: list[str], capsys: Any) -> None:
    assert cli.main(["eval", *files, "--format", "trec", "--trec-eval", "9"]) == 1
    assert "--format trec prints what trec_eval 10 prints" in capsys.readouterr().err
