"""The same numbers as other programs, where they measure the same."""

from __future__ import annotations

import ir_measures
import pandas as pd
import pytest
import reference
from ir_measures import ERR_IA, NRBP

from ir_lexirecall import RBU
from ir_lexirecall.io.columns import qrel_table
from tests.conftest import values

pytestmark = pytest.mark.sparse


def of_provider(provider, measure, qrels, run):
    return {
        metric.query_id: metric.value
        for metric in provider.iter_calc([measure], qrels, run)
    }


# -- ndeval ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def diversity(data):
    """Binary judgments of the subtopics of TREC 2014's topics, and a run without ties: ndeval's rule is another."""
    qrels = qrel_table(data.path("web2014-diversity/qrels.ndeval.txt.gz")).to_pandas()
    scores = pd.DataFrame(
        ir_measures.read_trec_run(data.path("web2014-diversity/ql.run.gz"))
    )
    rankings = {
        query_id: reference.order(dict(zip(rows["doc_id"], rows["score"], strict=True)))
        for query_id, rows in scores.groupby("query_id")
    }
    run = {
        query_id: {doc: -float(place) for place, doc in enumerate(ranking)}
        for query_id, ranking in rankings.items()
    }
    return qrels.assign(relevance=(qrels["relevance"] >= 1).astype(int)), run


@pytest.mark.slow
@pytest.mark.parametrize("p", [0.2, 0.5, 0.8])
def test_rbu_without_effort_is_nrbp_on_another_scale(diversity, p):
    """Both weigh rank i by p^i and halve what a subtopic gives with each relevant document before."""
    pytest.importorskip("pyndeval")
    expected = of_provider(ir_measures.pyndeval, NRBP(alpha=0.5, beta=p), *diversity)
    rbu = values(RBU(e=0, p=p, max_rel=1), *diversity)
    assert {
        q: value * (1 - p / 2) / (p / 2) for q, value in rbu.items()
    } == pytest.approx(expected, rel=1e-12)


@pytest.mark.slow
def test_what_rbu_gains_at_each_rank_adds_up_to_intent_aware_err(diversity):
    pytest.importorskip("pyndeval")
    depth = 20
    expected = of_provider(ir_measures.pyndeval, ERR_IA @ depth, *diversity)
    at = [values(RBU(e=0, p=1, max_rel=1) @ k, *diversity) for k in range(1, depth + 1)]
    # ndeval scales by the value of relevant documents at all ranks.
    best = sum(2**-k / k for k in range(1, depth + 1))
    found = {
        q: sum(
            (at[k - 1][q] - (at[k - 2][q] if k > 1 else 0)) / k
            for k in range(1, depth + 1)
        )
        / best
        for q in at[0]
    }
    assert found == pytest.approx(expected, rel=1e-12, abs=1e-15)


def test_the_benchmarks_beside_peers_can_be_started() -> None:
    from tests.benchmarks.cases import CASES

    assert {"dict", "dataframe", "suite"} <= {case.name for case in CASES}
