"""PyTerrier knows the measures as soon as it is imported, and its experiments give ``evaluate``'s values."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
import pytest
from fresh import python
from ir_measures import AP, nDCG
from pandas.testing import assert_frame_equal

import ir_lexirecall as irl
from ir_lexirecall import CAM, CWL_ERR10, LR, MM, RBU, TOMA, TSE
from ir_lexirecall.measures import REGISTRY

pytest.importorskip("pyterrier.measures")
import pyterrier as pt

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

TOPICS = pd.DataFrame(
    {"qid": ["q1", "q2", "q3", "q4"], "query": ["one", "two", "three", "four"]}
)
QRELS = pd.DataFrame(
    [
        ("q1", "a", 1),
        ("q1", "b", 2),
        ("q1", "c", 0),
        ("q2", "a", 1),
        ("q2", "d", 2),
        ("q3", "c", 1),
        ("q4", "b", 1),  # no system finds it
    ],
    columns=["qid", "docno", "label"],
)
MEASURES_ASKED = [
    TSE,
    LR,
    "map",
    nDCG @ 10,
    CWL_ERR10(max_rel=2),
    TSE(exposure="nDCG", n=100) @ 5,
]
NAMES = ["first", "second", "third"]


def ranking(**docs: str) -> pd.DataFrame:
    """Results in PyTerrier's columns, best document first."""
    rows = [
        (qid, docno, float(len(names) - rank), rank)
        for qid, names in docs.items()
        for rank, docno in enumerate(names)
    ]
    return pd.DataFrame(rows, columns=["qid", "docno", "score", "rank"]).merge(
        TOPICS, on="qid"
    )


def results() -> list[pd.DataFrame]:
    return [
        ranking(q1="abx", q2="xa", q3="c", q4="z"),
        ranking(q1="xyba", q2="da", q3="z", q4="z"),
        ranking(q1="b", q2="xyzda", q3="xc", q4="zyx"),
    ]


def systems(kind: str) -> list[Any]:
    """The same systems as tables or as transformers; PyTerrier changes tables in place."""
    return (
        results()
        if kind == "tables"
        else [pt.Transformer.from_df(result) for result in results()]
    )


def experiment(
    qrels: pd.DataFrame, measures: list[Any], kind: str = "transformers", **options: Any
) -> pd.DataFrame:
    return pt.Experiment(systems(kind), TOPICS, qrels, measures, names=NAMES, **options)


def column(measure: Any) -> str:
    return str(measure)


def wanted(qrels: pd.DataFrame, measures: list[Any]) -> dict[str, pd.DataFrame]:
    """``evaluate``'s values by system, its columns named as PyTerrier names them."""
    judgments = qrels.rename(
        columns={"qid": "query_id", "docno": "doc_id", "label": "relevance"}
    )
    asked = {
        column(measure): AP if measure == "map" else measure for measure in measures
    }
    return {
        name: irl.evaluate(
            asked, judgments, run.rename(columns={"qid": "query_id", "docno": "doc_id"})
        )
        for name, run in zip(NAMES, results(), strict=True)
    }


def assert_means(table: pd.DataFrame, qrels: pd.DataFrame, measures: list[Any]) -> None:
    means = pd.DataFrame(
        {name: values.mean() for name, values in wanted(qrels, measures).items()}
    ).T
    assert table["name"].tolist() == NAMES
    assert_frame_equal(
        table.set_index("name")[means.columns.tolist()],
        means,
        check_names=False,
        rtol=1e-14,
    )


# -- with nothing but PyTerrier imported ---------------------------------------------------------------

ALONE = """
import json, sys
import pyterrier as pt
import pandas as pd
from pyterrier.measures import TSE, LR, LexiRecall, nDCG
topics, qrels, run = (pd.DataFrame(table) for table in json.loads(sys.argv[1]))
table = pt.Experiment([run], topics, qrels, [TSE, LR, "map", nDCG @ 10, pt.measures.RBU(p=0.9) @ 3], names=["a"])
print(json.dumps({
    "known": [name for name in json.loads(sys.argv[2]) if hasattr(pt.measures, name)],
    "same": LR is LexiRecall is pt.measures.LR,
    "module": pt.lexirecall.__name__,
    "java": pt.java.started(),
    "values": table.to_dict("records"),
}))
"""


@pytest.fixture(scope="module")
def alone() -> Any:
    """What a fresh Python knows after ``import pyterrier``."""
    tables = json.dumps(
        [table.to_dict("list") for table in (TOPICS, QRELS, results()[0])]
    )
    return json.loads(
        python(ALONE, tables, json.dumps([*REGISTRY]), options=("-W", "ignore"))
    )


@pytest.mark.slow
def test_importing_pyterrier_is_enough_for_the_names(alone: Any) -> None:
    assert alone["known"] == [*REGISTRY]
    assert alone["same"]
    assert alone["module"] == "pyterrier_lexirecall"


def test_importing_pyterrier_is_enough_for_an_experiment(alone: Any) -> None:
    values = (
        wanted(QRELS, [TSE, LR, "map", nDCG @ 10, RBU(p=0.9) @ 3])["first"]
        .mean()
        .to_dict()
    )
    assert alone["values"] == [
        {
            "name": "a",
            **{name: pytest.approx(value, rel=1e-14) for name, value in values.items()},
        }
    ]


def test_no_java_is_started(alone: Any) -> None:
    assert not alone["java"]


# -- experiments ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["tables", "transformers"])
def test_means(kind: str) -> None:
    assert_means(experiment(QRELS, MEASURES_ASKED, kind), QRELS, MEASURES_ASKED)


@pytest.mark.parametrize("kind", ["tables", "transformers"])
@pytest.mark.parametrize("options", [{}, {"plan": "tree", "verbose": False}], ids=str)
def test_values_per_query(kind: str, options: dict[str, Any]) -> None:
    table = experiment(QRELS, MEASURES_ASKED, kind, perquery=True, **options)
    got = {
        (row.name, row.qid, row.measure): row.value
        for row in table.itertuples(index=False)
    }
    assert got == {
        (name, qid, measure): value
        for name, values in wanted(QRELS, MEASURES_ASKED).items()
        for (qid, measure), value in values.stack().items()
    }


def test_pipelines_are_systems() -> None:
    first, _, third = systems("transformers")
    table = pt.Experiment(
        [first % 1, first + third],
        TOPICS,
        QRELS,
        [TSE, LR, "map"],
        names=["cut", "sum"],
    )
    cut = (
        results()[0]
        .query("rank == 0")
        .rename(columns={"qid": "query_id", "docno": "doc_id"})
    )
    judgments = QRELS.rename(
        columns={"qid": "query_id", "docno": "doc_id", "label": "relevance"}
    )
    assert table["TSE"].tolist()[0] == pytest.approx(
        irl.evaluate(TSE, judgments, cut)["TSE"].mean()
    )
    assert table["LexiRecall"].tolist()[0] == pytest.approx(
        irl.evaluate("LR", judgments, cut)["LR"].mean()
    )


# -- qrels with aspects --------------------------------------------------------------------------------


@pytest.mark.sparse
@pytest.mark.parametrize(
    "options", [{}, {"batch_size": 1}, {"plan": "tree", "verbose": False}], ids=str
)
@pytest.mark.parametrize("name", ["iteration", "subtopic_id"])
def test_subtopics(name: str, options: dict[str, Any]) -> None:
    qrels = QRELS.assign(**{name: ["s1", "s2", "s1", "s1", "s2", "s1", "s1"]})
    table = experiment(qrels, [RBU, RBU(e=0) @ 2, "map"], **options)
    assert_means(table, qrels, [RBU, RBU(e=0) @ 2, "map"])
    assert (table["RBU"] != experiment(QRELS, [RBU])["RBU"]).all()


ASPECTS = {"relevance": 2, "quality": 2}
MULTI = [
    TOMA(aspects=ASPECTS),
    CAM(aspects=ASPECTS) @ 3,
    MM(aspects=ASPECTS, base="AP"),
    TSE,
    "map",
]
QUALITY = [2, 0, 1, 1, 2, 0, 1]


@pytest.mark.parametrize("kind", ["tables", "transformers"])
def test_aspects_in_columns(kind: str) -> None:
    qrels = QRELS.assign(quality=QUALITY)
    assert_means(experiment(qrels, MULTI, kind), qrels, MULTI)


# -- errors --------------------------------------------------------------------------------------------


def test_bad_input_is_named() -> None:
    with pytest.raises(ValueError, match=r"CWL_ERR10\(max_rel=1\).*'b'.*'q1'.*grade 2"):
        experiment(QRELS, [CWL_ERR10(max_rel=1)])
    with pytest.raises(ValueError, match=r"TSE: p must be .*, not 3"):
        experiment(QRELS, [TSE(p=3)])
    with pytest.raises(ValueError, match="no aspect 'quality'"):
        experiment(QRELS, [TOMA(aspects=ASPECTS)])
