"""Values do not depend on how queries are batched, rows are ordered or tables are given: not in a single bit."""

from __future__ import annotations

import gzip
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import Qrel, ScoredDoc

from ir_lexirecall._util.measure_strings import parse_measure
from tests.conftest import PROVIDER, collections

pytestmark = pytest.mark.filterwarnings("ignore:RBU. the qrels name one aspect per query")

ON_GRADES = [
    parse_measure(measure)
    for measure in (
        "TSE",
        "TSE(exposure='nDCG',impute='optimistic',normalize=True)@7",
        "TSE(exposure='RBP',n=5000,normalize=True)",
        "TSE(exposure='linear',n=5000)",
        "LR",
        "LR(form='weighted',n=5000)@20",
        "CWL_ERR8(max_rel=4)@20",
        "CWL_ERR9(max_rel=4,unjudged='best')@20",
        "CWL_ERR10(max_rel=4)",
        "CWL_ERR10(phi=0.9,max_rel=5,unjudged='best')",
        "CWL_ERR11(max_rel=4,gain='linear')",
        "CWL_ERR11(max_rel=5,unjudged='best')",
        "CWL_RBP(max_rel=4,gain='linear',unjudged='best')",
        "NERR9(max_rel=4)@1200",
        "NERR10(max_rel=4)",
        "NERR11(max_rel=4)",
        "ERR@20",
        "RBU",
        "RBU(p=0.8,e=0.03,gain='linear',max_rel=4,normalize=True)@10",
    )
]
ASPECTS = "{'relevance':4,'a1':3,'a2':3,'a3':3,'a4':3,'a5':3,'a6':3,'a7':3,'a8':3,'a9':3,'a10':3}"
ON_ASPECTS = [
    parse_measure(measure)
    for measure in (
        f"TOMA(aspects={ASPECTS})",
        f"TOMA(aspects={ASPECTS},distance='manhattan',base='AP@30')",
        f"TOMA(aspects={ASPECTS},distance='chebyshev',base='RBP(p=0.7)')",
        f"TOMA(aspects={ASPECTS},gate='a1',base='CWL_ERR11(max_rel=200)')",
        "TOMA(aspects={'relevance':4,'a1':3},base='P@10')",
        "TOMA(aspects={'relevance':4,'a1':3},base='R@10')",
        "TOMA(aspects={'relevance':4,'a1':3},base='RR')",
        "TOMA(aspects={'relevance':4,'a1':3},base='Rprec')",
        f"CAM(aspects={ASPECTS})",
        f"CAM(aspects={ASPECTS},base='AP',binarize='half')",
        f"MM(aspects={ASPECTS})",
        f"MM(aspects={ASPECTS},base='RBP(p=0.7)')",
    )
]


def bits(measures: Any, qrels: Any, run: Any) -> dict[tuple[str, str], tuple[float, ...]]:
    """All that every measure says about each query."""
    return {(metric.query_id, str(metric.measure)): metric[2:] for metric in PROVIDER.iter_calc(measures, qrels, run)}


# -- a large collection with everything a measure can ask for ----------------------------------------


@pytest.fixture(scope="module")
def qrels() -> pd.DataFrame:
    """120 queries with subtopics, their weights, and ten more aspects."""
    rng = np.random.default_rng(7)
    rows = []
    for q in range(120):
        docs = rng.choice(200, size=rng.integers(1, 80), replace=False)
        weight = rng.random(5)
        for doc in docs:
            aspects = rng.integers(0, 4, size=10)
            for subtopic in rng.choice(5, size=rng.integers(1, 4), replace=False):
                rows.append((f"q{q}", f"d{doc}", rng.integers(-2, 5), f"s{subtopic}", weight[subtopic], *aspects))
    names = ["query_id", "doc_id", "relevance", "subtopic_id", "weight", *(f"a{i}" for i in range(1, 11))]
    return pd.DataFrame(rows, columns=names)


@pytest.fixture(scope="module")
def run() -> pd.DataFrame:
    """Rankings of all but a few of the queries, of any length up to 1,200, a third of the scores tied."""
    rng = np.random.default_rng(8)
    rankings = []
    for q in range(115):
        depth = rng.integers(1, 1200 if q % 10 == 0 else 150)
        doc = np.char.add("d", rng.choice(1300, size=depth, replace=False).astype(str))
        score = np.where(rng.random(depth) < 1 / 3, 0.5, rng.standard_normal(depth))
        rankings.append(pd.DataFrame({"query_id": f"q{q}", "doc_id": doc, "score": score}))
    return pd.concat(rankings, ignore_index=True)


@pytest.mark.slow
def test_a_query_scores_the_same_alone_and_among_many_others(qrels, run):
    together = bits(ON_GRADES + ON_ASPECTS, qrels, run)
    rankings = dict(list(run.groupby("query_id")))
    judgments = dict(list(qrels.groupby("query_id")))
    alone = {}
    for query_id, rows in judgments.items():
        alone |= bits(ON_GRADES + ON_ASPECTS, rows, rankings.get(query_id, run.head(0)))
    assert together == alone


def test_the_order_of_rows_changes_nothing(qrels, run):
    in_order = bits(ON_GRADES + ON_ASPECTS, qrels, run)
    for seed in range(3):
        shuffled = [table.sample(frac=1, random_state=seed) for table in (qrels, run)]
        assert bits(ON_GRADES + ON_ASPECTS, *shuffled) == in_order


def wide_file(qrels: pd.DataFrame, folder: Path) -> str:
    path = folder / "wide.qrels"
    qrels.to_csv(path, sep="\t", index=False)
    return str(path)


TABLE_FORMATS = {
    "polars": pl.from_pandas,
    "lazy polars": lambda table: pl.from_pandas(table).lazy(),
    "arrow": pa.Table.from_pandas,
    "arrow-backed pandas": lambda table: table.convert_dtypes(dtype_backend="pyarrow"),
    "named tuples": lambda table: list(table.itertuples(index=False, name="Row")),
    "generator": lambda table: table.itertuples(index=False, name="Row"),
    "categories": lambda table: table.astype({"query_id": "category", "doc_id": "category"}),
    "objects": lambda table: table.astype({"query_id": object, "doc_id": object}),
    "another index": lambda table: table.set_index(np.arange(len(table))[::-1]),
}


@pytest.mark.parametrize("form", TABLE_FORMATS)
def test_the_kind_of_table_changes_nothing(qrels, run, form):
    convert = TABLE_FORMATS[form]
    assert bits(ON_GRADES + ON_ASPECTS, convert(qrels), convert(run)) == bits(ON_GRADES + ON_ASPECTS, qrels, run)


def test_a_wide_file_is_read_as_the_table_it_was_written_from(qrels, run, tmp_path):
    assert bits(ON_GRADES + ON_ASPECTS, wide_file(qrels, tmp_path), run) == bits(ON_GRADES + ON_ASPECTS, qrels, run)


def test_integer_ids_mean_their_decimal_strings(qrels, run):
    def numbered(table: pd.DataFrame, dtype: Any) -> pd.DataFrame:
        ids = {name: table[name].str[1:].astype(dtype) for name in ("query_id", "doc_id")}
        return table.assign(**ids)

    as_strings = bits(ON_GRADES, numbered(qrels, str), numbered(run, str))
    assert bits(ON_GRADES, numbered(qrels, int), numbered(run, int)) == as_strings
    assert bits(ON_GRADES, numbered(qrels, np.uint16), numbered(run, str)) == as_strings
    nested = {
        query_id: dict(zip(ranking["doc_id"].tolist(), ranking["score"].tolist(), strict=True))
        for query_id, ranking in numbered(run, int).groupby("query_id")
    }
    assert bits(ON_GRADES, numbered(qrels, str), nested) == as_strings


# -- small collections, however odd ------------------------------------------------------------------


@given(collections())
def test_a_query_scores_the_same_alone_and_among_others(collection):
    qrels, run = collection
    alone = {}
    for q, grades in qrels.items():
        alone |= bits(ON_GRADES, {q: grades}, {q: run[q]} if q in run else {})
    assert bits(ON_GRADES, qrels, run) == alone


def forms(qrels: Any, run: Any, folder: Path) -> Iterator[tuple[Any, Any]]:
    """Qrels and run in other formats."""
    judged = [Qrel(q, doc, grade) for q, grades in qrels.items() for doc, grade in grades.items()]
    scored = [ScoredDoc(q, doc, score) for q, scores in run.items() for doc, score in scores.items()]
    yield judged, scored
    yield iter(judged), iter(scored)
    yield (
        pd.DataFrame(judged, columns=Qrel._fields),
        pd.DataFrame(scored, columns=ScoredDoc._fields).astype({"score": float}),
    )
    yield (
        pl.DataFrame(
            judged, schema={"query_id": str, "doc_id": str, "relevance": float, "iteration": str}, orient="row"
        ),
        pl.DataFrame(scored, schema={"query_id": str, "doc_id": str, "score": float}, orient="row"),
    )
    judged_lines = "".join(f"{item.query_id} 0\t{item.doc_id} {item.relevance}\n" for item in judged)
    scored_lines = "".join(f"{item.query_id}  Q0 {item.doc_id} 1 {item.score!r} tag\r\n" for item in scored)
    for name, opener in (("plain", open), ("packed.gz", gzip.open)):
        for kind, lines in (("qrels", judged_lines), ("run", scored_lines)):
            with opener(folder / f"{kind}.{name}", "wb") as file:
                file.write(lines.encode())
        yield folder / f"qrels.{name}", str(folder / f"run.{name}")


@given(collections(), st.randoms(use_true_random=False))
def test_neither_format_nor_order_of_rows_changes_a_value(collection, random):
    qrels, run = collection
    values = bits(ON_GRADES, qrels, run)
    with tempfile.TemporaryDirectory() as folder:
        for other_qrels, other_run in forms(shuffled(qrels, random), shuffled(run, random), Path(folder)):
            assert bits(ON_GRADES, other_qrels, other_run) == values


def shuffled(outer: Any, random: Any) -> dict[str, dict[str, float]]:
    """The same dict of dicts in another order of queries and documents."""
    pairs = [(q, random.sample(list(docs.items()), len(docs))) for q, docs in outer.items()]
    return {q: dict(docs) for q, docs in random.sample(pairs, len(pairs))}
