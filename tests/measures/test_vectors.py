"""Known answers, digit by digit."""

from __future__ import annotations

import itertools
import math
from functools import reduce

import ir_measures
import pandas as pd
import pytest

from ir_lexirecall import CAM, LR, MM, TOMA
from ir_lexirecall._util.measure_strings import parse_measure
from ir_lexirecall.io.columns import qrel_table
from tests.conftest import PROVIDER, cwl_values, values, words


def exactly(expected):
    """Equal to 12 digits, and 0 where 0 is expected."""
    return pytest.approx(expected, rel=1e-12, abs=0)


@pytest.mark.parametrize("run", ["InexpC2", "NLPR03vb10", "Sel50", "humR03dc"])
def test_tse_and_lexirecall_on_robust_2003(data, run):
    by_query = data.vectors("robust2003.json")["values"][run]
    expected = {
        (q, name): value
        for q, by_measure in by_query.items()
        for name, value in by_measure.items()
    }
    names = {parse_measure(name): name for _, name in expected}
    metrics = PROVIDER.iter_calc(
        names,
        data.path("robust2003/qrels.txt.gz"),
        data.path(f"robust2003/runs/{run}.gz"),
    )
    found = {
        (metric.query_id, names[metric.measure]): metric.value for metric in metrics
    }
    assert {key: found[key] for key in expected} == exactly(expected)


@pytest.mark.parametrize(
    "measure",
    words(
        "CWL_ERR8(max_rel=4)@20 CWL_ERR9(max_rel=4)@20 CWL_ERR10(phi=0.7,max_rel=4) CWL_ERR11(T=1.35,max_rel=4) "
        "CWL_RBP(phi=0.6,max_rel=4) NERR8(max_rel=4)@20 NERR9(max_rel=4)@20 NERR10(p=0.7,max_rel=4) "
        "NERR11(T=1.35,max_rel=4)"
    ),
)
def test_value_and_expected_items_of_cwl_measures_on_web_2011(data, measure):
    by_query = data.vectors("web2011-cwl.json")["values"]
    found = cwl_values(
        parse_measure(measure),
        data.path("web-adhoc/qrels.txt.gz"),
        data.path("web-adhoc/wt11.run.gz"),
    )
    for place, field in enumerate(("value", "expected_items")):
        expected = {q: by_measure[measure][place] for q, by_measure in by_query.items()}
        assert {q: found[q, field] for q in expected} == exactly(expected)


def test_err_on_web_2011(data):
    expected = {
        q: by_measure["ERR@20"][0]
        for q, by_measure in data.vectors("web2011-cwl.json")["values"].items()
    }
    found = values(
        ir_measures.ERR @ 20,
        data.path("web-adhoc/qrels.txt.gz"),
        data.path("web-adhoc/wt11.run.gz"),
    )
    assert {q: found[q] for q in expected} == exactly(expected)


@pytest.mark.parametrize("measure", ["RBU", "RBU(p=0.8,e=0.03,normalize=True)"])
def test_rbu_on_web_2014(data, measure):
    expected = data.vectors("web2014-rbu.json")["values"][measure]
    found = values(
        parse_measure(measure),
        data.path("web2014-diversity/qrels.ndeval.txt.gz"),
        data.path("web2014-diversity/ql.run.gz"),
    )
    assert {q: found[q] for q in expected} == exactly(expected)


@pytest.mark.parametrize("run", ["GUIR_EN_Run1", "KDEIR_EN_Run1"])
@pytest.mark.parametrize("distance", ["euclidean", "manhattan", "chebyshev"])
def test_toma_on_clef_ehealth_2016(data, run, distance):
    names = ("relevance", "trustworthiness", "understandability")
    labels = [
        qrel_table(data.path(f"clef-ehealth-2016/{name}.qrels.gz"))
        .drop("iteration")
        .rename({"relevance": name})
        for name in names
    ]
    qrels = reduce(
        lambda left, right: left.join(right, on=["query_id", "doc_id"], how="left"),
        labels,
    )
    measure = (
        "TOMA(aspects={'relevance':2,'trustworthiness':100,'understandability':100},"
        f"distance='{distance}',base='nDCG')@10"
    )
    expected = data.vectors("toma.json")["clef"][measure][run]
    found = values(
        parse_measure(measure), qrels, data.path(f"clef-ehealth-2016/runs/{run}.gz")
    )
    assert {q: found[q] for q in expected} == exactly(expected)


# -- Table 3 of Maistro et al. -----------------------------------------------------------------------

ASPECTS = {"relevance": {0: 0, 1: 1, 2: 2, 3: 3}, "correctness": {0: 0, 1: 1.5, 2: 3}}
LABELS = pd.DataFrame(
    [("d1", 1, 2), ("d2", 3, 1), ("d3", 3, 0)],
    columns=["doc_id", "relevance", "correctness"],
)
DISTANCES = {"EUCL": "euclidean", "MANH": "manhattan", "CHEB": "chebyshev"}


def over_all_rankings(measure):
    """Values of the six rankings of d1, d2, d3 in the order of the table: a query each."""
    rankings = list(itertools.permutations(["d1", "d2", "d3"]))
    qrels = pd.concat(
        [LABELS.assign(query_id="".join(ranking)) for ranking in rankings]
    )
    run = {
        "".join(ranking): {doc: -float(i) for i, doc in enumerate(ranking)}
        for ranking in rankings
    }
    found = values(measure, qrels, run)
    return [found["".join(ranking)] for ranking in rankings]


def to_printed_digits(expected):
    return pytest.approx(expected, rel=0, abs=0.5e-4 + 1e-12)


@pytest.mark.parametrize("row", DISTANCES)
@pytest.mark.parametrize("base", ["AP", "nDCG"])
def test_toma_as_published(data, base, row):
    expected = data.vectors("toma.json")[f"table3_{base}"][row]
    measure = TOMA(
        aspects=ASPECTS, distance=DISTANCES[row], base=base, gate="relevance"
    )
    assert over_all_rankings(measure) == to_printed_digits(expected)


@pytest.mark.parametrize(
    ("base", "parameters"),
    [
        ("AP", {"base": "AP", "binarize": "half"}),
        ("AP", {"base": "AP(rel=2)"}),
        ("nDCG", {"base": "nDCG"}),
    ],
)
def test_cam_and_mm_as_published(data, base, parameters):
    table = data.vectors("toma.json")[f"table3_{base}"]
    assert over_all_rankings(CAM(aspects=ASPECTS, **parameters)) == to_printed_digits(
        table["CAM"]
    )
    # The published table prints 1 / sum(1 / base_a), half of MM as it is defined for two aspects.
    halves = [
        value / 2 for value in over_all_rankings(MM(aspects=ASPECTS, **parameters))
    ]
    assert halves == to_printed_digits(table["MM"])


# -- ties --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("relevant", "collection"), [(1, 9), (2, 9), (3, 9), (4, 8)])
def test_rankings_of_a_collection_tie_in_lexirecall_as_often_as_published(
    data, relevant, collection
):
    """Two random rankings tie with probability 1 / C(n, m): only where all relevant documents share their ranks."""
    placements = list(itertools.combinations(range(collection), relevant))
    qrels = {
        str(placement): {f"d{place}": 1 for place in placement}
        for placement in placements
    }
    run = {
        query_id: {f"d{place}": -float(place) for place in range(collection)}
        for query_id in qrels
    }
    separated = len(set(values(LR, qrels, run).values()))
    assert separated == math.comb(collection, relevant)

    published = data.vectors("ties.json")["m=10"]
    assert {
        n: 1 / math.comb(int(n.removeprefix("n=")), 10) for n in published
    } == exactly({n: of_measures["LR"] for n, of_measures in published.items()})
