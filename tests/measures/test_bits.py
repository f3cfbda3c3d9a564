"""Values do not depend on how queries are batched, rows are ordered or tables are given: not in a single bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

from ir_lexirecall._util.measure_strings import parse_measure
from tests.conftest import PROVIDER, collections, words

ON_GRADES = [
    parse_measure(measure)
    for measure in words(
        "TSE TSE(exposure='nDCG',impute='optimistic',normalize=True)@7 TSE(exposure='RBP',n=5000,normalize=True) "
        "TSE(exposure='linear',n=5000) LR LR(form='weighted',n=5000)@20 CWL_ERR8(max_rel=4)@20 "
        "CWL_ERR9(max_rel=4,unjudged='best')@20 CWL_ERR10(max_rel=4) CWL_ERR10(phi=0.9,max_rel=5,unjudged='best') "
        "CWL_ERR11(max_rel=4,gain='linear') CWL_ERR11(max_rel=5,unjudged='best') "
        "CWL_RBP(max_rel=4,gain='linear',unjudged='best') NERR9(max_rel=4)@1200 NERR10(max_rel=4) NERR11(max_rel=4) "
        "ERR@20 RBU RBU(p=0.8,e=0.03,gain='linear',max_rel=4,normalize=True)@10"
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


def bits(
    measures: Any, qrels: Any, run: Any
) -> dict[tuple[str, str], tuple[float, ...]]:
    """All that every measure says about each query."""
    return {
        (metric.query_id, str(metric.measure)): metric[2:]
        for metric in PROVIDER.iter_calc(measures, qrels, run)
    }


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
                rows.append(
                    (
                        f"q{q}",
                        f"d{doc}",
                        rng.integers(-2, 5),
                        f"s{subtopic}",
                        weight[subtopic],
                        *aspects,
                    )
                )
    names = [
        "query_id",
        "doc_id",
        "relevance",
        "subtopic_id",
        "weight",
        *(f"a{i}" for i in range(1, 11)),
    ]
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
        rankings.append(
            pd.DataFrame({"query_id": f"q{q}", "doc_id": doc, "score": score})
        )
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


@pytest.mark.slow
def test_the_order_of_rows_changes_nothing(qrels, run):
    in_order = bits(ON_GRADES + ON_ASPECTS, qrels, run)
    for seed in range(3):
        shuffled = [table.sample(frac=1, random_state=seed) for table in (qrels, run)]
        assert bits(ON_GRADES + ON_ASPECTS, *shuffled) == in_order


# -- small collections, however odd ------------------------------------------------------------------


@given(collections())
def test_a_query_scores_the_same_alone_and_among_others(collection):
    qrels, run = collection
    alone = {}
    for q, grades in qrels.items():
        alone |= bits(ON_GRADES, {q: grades}, {q: run[q]} if q in run else {})
    assert bits(ON_GRADES, qrels, run) == alone
