"""The same numbers as other programs, where they measure the same."""

from __future__ import annotations

import shutil

import ir_measures
import pandas as pd
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import AP, ERR, ERR_IA, NERR8, NERR9, NERR10, NERR11, NRBP, RR, P, R, nDCG

from ir_lexirecall import RBU, TOMA
from ir_lexirecall.data.alignment import align
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.io import readers
from ir_lexirecall.measures.scoring import values as values_of
from tests.conftest import collections, cwl_values, judged, retrieved, values

WHOLE_GRADES = st.sampled_from([-2, -1, 0, 0, 1, 1, 2, 3, 4])
WEB_RUNS = pytest.mark.parametrize("run", ["wt11", "wt12", "wt13", "wt14"])


def of_provider(provider, measure, qrels, run):
    return {metric.query_id: metric.value for metric in provider.iter_calc([measure], qrels, run)}


# -- trec_eval ---------------------------------------------------------------------------------------

TREC_EVAL = [
    nDCG,
    nDCG @ 1,
    nDCG @ 10,
    AP,
    AP(rel=3),
    AP @ 5,
    P @ 1,
    P(rel=2) @ 10,
    R @ 5,
    R(rel=3) @ 20,
    RR,
    RR(rel=2),
]


@pytest.mark.parametrize("measure", TREC_EVAL)
@given(collections(WHOLE_GRADES))
def test_bases_equal_trec_eval_for_any_grades_and_ties(measure, collection):
    pytest.importorskip("pytrec_eval")
    qrels, run = collection
    # pytrec_eval writes beyond its memory where all grades of a query are negative.
    qrels = {query_id: {"never retrieved": 0, **grades} for query_id, grades in qrels.items()}
    judgments = Judgments.from_qrels(qrels)
    found = dict(zip(judgments.query_ids, values_of(measure, align(judgments, run), 1).tolist(), strict=True))
    rankings = {query_id: scores for query_id, scores in run.items() if scores}
    expected = of_provider(ir_measures.pytrec_eval, measure, qrels, rankings)
    assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("run", ["InexpC2", "oce03noXbmD"])
def test_bases_equal_trec_eval_on_robust_2003(data, run):
    pytest.importorskip("pytrec_eval")
    qrels = pd.DataFrame(ir_measures.read_trec_qrels(data.path("robust2003/qrels.txt.gz")))
    scores = pd.DataFrame(ir_measures.read_trec_run(data.path(f"robust2003/runs/{run}.gz")))
    expected = {
        (metric.query_id, metric.measure): metric.value
        for metric in ir_measures.pytrec_eval.iter_calc(TREC_EVAL, qrels, scores)
    }
    judgments = Judgments.from_qrels(qrels)
    # The weights of a single aspect are its grades.
    found = {
        (query_id, measure): value
        for measure in TREC_EVAL
        for query_id, value in values(
            TOMA(aspects={"relevance": 2}, base=measure, binarize=1), judgments, scores
        ).items()
    }
    assert found == pytest.approx(expected, rel=1e-12)


# -- cwl_eval ----------------------------------------------------------------------------------------

NERR = [
    NERR8(max_rel=4) @ 10,
    NERR8(max_rel=6, min_rel=1) @ 1500,
    NERR9(max_rel=4) @ 10,
    NERR9(max_rel=6, min_rel=1) @ 1500,
    NERR10(max_rel=4),
    NERR10(max_rel=6, p=0.5),
    NERR11(max_rel=4),
    NERR11(max_rel=6, min_rel=1, T=3.5),
]


def assert_equals_cwl_eval(measure, qrels, run):
    """All five values of every query the run has; for another cwl_eval has none but the value."""
    expected = {
        (metric.query_id, field): value
        for metric in ir_measures.cwl_eval.iter_calc([measure], qrels, run)
        if isinstance(metric, ir_measures.CwlMetric)
        for field, value in zip(metric._fields[2:], metric[2:], strict=True)
    }
    found = cwl_values(measure, qrels, run)
    assert expected
    assert {key: found[key] for key in expected} == pytest.approx(expected, rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("measure", NERR)
@given(st.lists(st.none() | WHOLE_GRADES, min_size=1, max_size=60), st.lists(WHOLE_GRADES, min_size=1, max_size=3))
def test_nerr_equals_cwl_eval_where_no_scores_tie(measure, ranking, missing):
    pytest.importorskip("cwl")
    assert_equals_cwl_eval(measure, {"q": judged(ranking, missing)}, {"q": retrieved(ranking)})


@pytest.mark.parametrize("measure", NERR)
def test_nerr_equals_cwl_eval_on_rankings_of_more_than_1000_documents(measure):
    pytest.importorskip("cwl")
    ranking = ([None] * 30 + [0, 2, -1, None, 4]) * 40
    assert_equals_cwl_eval(measure, {"q": judged(ranking)}, {"q": retrieved(ranking)})


# -- gdeval ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [5, 20])
@WEB_RUNS
def test_err_equals_gdeval_to_the_digits_it_prints(data, run, k):
    if not shutil.which("perl"):
        pytest.skip("gdeval needs perl")
    scores = list(ir_measures.read_trec_run(data.path(f"web-adhoc/{run}.run.gz")))
    queries = {score.query_id for score in scores}
    qrels = [
        qrel for qrel in ir_measures.read_trec_qrels(data.path("web-adhoc/qrels.txt.gz")) if qrel.query_id in queries
    ]
    expected = of_provider(ir_measures.gdeval, ERR @ k, qrels, scores)
    assert values(ERR @ k, qrels, scores) == pytest.approx(expected, rel=0, abs=0.5e-5 + 1e-12)


# -- ndeval ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def diversity(data):
    """Binary judgments of the subtopics of TREC 2014's topics, and a run without ties: ndeval's rule is another."""
    qrels = readers.read_qrels(data.path("web2014-diversity/qrels.ndeval.txt.gz")).to_pandas()
    scores = pd.DataFrame(ir_measures.read_trec_run(data.path("web2014-diversity/ql.run.gz")))
    rankings = {
        query_id: reference.order(dict(zip(rows["doc_id"], rows["score"], strict=True)))
        for query_id, rows in scores.groupby("query_id")
    }
    run = {
        query_id: {doc: -float(place) for place, doc in enumerate(ranking)} for query_id, ranking in rankings.items()
    }
    return qrels.assign(relevance=(qrels["relevance"] >= 1).astype(int)), run


@pytest.mark.parametrize("p", [0.2, 0.5, 0.8])
def test_rbu_without_effort_is_nrbp_on_another_scale(diversity, p):
    """Both weigh rank i by p^i and halve what a subtopic gives with each relevant document before."""
    pytest.importorskip("pyndeval")
    expected = of_provider(ir_measures.pyndeval, NRBP(alpha=0.5, beta=p), *diversity)
    rbu = values(RBU(e=0, p=p, max_rel=1), *diversity)
    assert {q: value * (1 - p / 2) / (p / 2) for q, value in rbu.items()} == pytest.approx(expected, rel=1e-12)


def test_what_rbu_gains_at_each_rank_adds_up_to_intent_aware_err(diversity):
    pytest.importorskip("pyndeval")
    depth = 20
    expected = of_provider(ir_measures.pyndeval, ERR_IA @ depth, *diversity)
    at = [values(RBU(e=0, p=1, max_rel=1) @ k, *diversity) for k in range(1, depth + 1)]
    # ndeval scales by the value of relevant documents at all ranks.
    best = sum(2**-k / k for k in range(1, depth + 1))
    found = {
        q: sum((at[k - 1][q] - (at[k - 2][q] if k > 1 else 0)) / k for k in range(1, depth + 1)) / best for q in at[0]
    }
    assert found == pytest.approx(expected, rel=1e-12, abs=1e-15)
