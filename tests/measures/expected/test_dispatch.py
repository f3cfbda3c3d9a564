"""Expected values and ends equal those over all orders of the tied documents, tried one by one."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import permutations, product
from typing import Any

import ir_measures
import numpy as np
import pytest

from ir_lexirecall._util.arrays import Floats
from ir_lexirecall.data.alignment import align
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.evaluation.scored_runs import tie_range
from ir_lexirecall.measures.declaration import REGISTRY
from ir_lexirecall.measures.expected import dispatch, expected_values
from ir_lexirecall.measures.parsing import parse_measures
from ir_lexirecall.measures.scoring import values
from tests.conftest import words

BINARY = words(
    "AP AP(rel=2)@3 AP(judged_only=True) RR RR@2 P@2 P(rel=2)@3 P(judged_only=True)@2 R@2 Success@1 "
    "Success(rel=2)@3 Rprec Bpref Bpref(rel=2) infAP IPrec@0.3 IPrec@0.8 SetP SetR SetF SetAP "
    "NumRet NumRet(rel=1) NumRel NumQ Judged@2 Unjudged@3 F1 F1@3 R_cap@2 RelP RelP@3 IPrec_TE@0.5 "
    "ElevenPt ElevenPt(version=9)"
)
RECALL = words(
    "LR LR@3 LR(rel=2) LR(judged_only=True) LR(form='weighted',n=50) LR(form='weighted',n=50)@3 TSE "
    "TSE@3 TSE(impute='optimistic') TSE(impute='optimistic')@2 TSE(exposure='nDCG')@3 "
    "TSE(n=40,normalize=True)@4 TSE(exposure='linear',n=30) SL3 SL3@4 SL3(n=30)@3 RE RE@4 RE(n=30) "
    "RE(n=30)@3 WSS(n=30) WSS(n=30,r=0.5) ATD(n=30) ATD(n=30,normalize=True) RecallLoss(n=30) "
    "LastRel(n=30) ERF(n=30)@0.1"
)
GRADED = words(
    "nDCG nDCG@3 nDCG(dcg='exp-log2')@4 nDCG(gains={1:3,2:1}) DCG DCG@3 Rndcg nDCG_JK nDCG_JK(a=3)@4 "
    "ERR ERR@3 RBP(p=0.5,rel=1) RBP(p=0.7) RBP(p=0.6,rel=1)@3 RBP_TE RBP_TE(judged_only=True) "
    "SDCG(max_rel=4,min_rel=0)@3 INSQ(T=2.0,min_rel=0,max_rel=4) CWL_RBP(max_rel=4) "
    "CWL_RBP(max_rel=5,unjudged='best') GERR(max_rel=4) GERR(max_rel=5)@3 "
    "GERR(max_rel=5,unjudged='best')@3 GERR(max_rel=5,unjudged='best') "
    "GERR(max_rel=4,gain='linear',judged_only=True) CWL_ERR8(max_rel=4)@3 "
    "CWL_ERR8(max_rel=5,unjudged='best')@4 CWL_ERR9(max_rel=4)@5 CWL_ERR10(max_rel=4) "
    "CWL_ERR11(max_rel=4) CWL_ERR11(max_rel=5,unjudged='best') NERR8(max_rel=4,min_rel=0)@3 "
    "NERR9(max_rel=4,min_rel=0)@5 NERR10(p=0.8,max_rel=4,min_rel=0) "
    "NERR11(T=1.0,max_rel=4,min_rel=0) BPM(T=2.0,min_rel=0,max_rel=4)@4 "
    "BPM(T=0.5,min_rel=0,max_rel=4)@10 CWL_ERR8(max_rel=4,gain='linear',unjudged='best')@3 "
    "CWL_ERR9(max_rel=5,unjudged='best')@4 CWL_ERR10(max_rel=5,unjudged='best') "
    "GERR(max_rel=4,unjudged='best',judged_only=True) CWL_RBP(max_rel=4,gain='linear',unjudged='best')"
)
SUBTOPICS = words(
    "D_nDCG D_nDCG@2 DSharp DSharp@2 EU EU@3 EU(gain='linear',e=0) CT "
    "CT(gain='linear',saturation=1.5)@4 CT(saturation=0.4) SRR SRR@3 ACT "
    "ACT(gain='linear',saturation=2)@4 nDCU nDCU@3 alpha_DCG_IA alpha_DCG_IA@3 alpha_nDCG_G "
    "alpha_nDCG_G@2 NRBP_G P_at_Recall P_at_Recall@2 P_at_Recall(form='subtopics') "
    "P_at_Recall(form='subtopics')@3 RBU RBU@3 RBU(p=0.9,normalize=True,gain='linear') "
    "RBU(judged_only=True) IA(base='AP') IA(base='nDCG@2') IA(base='RR') alpha_nDCG@3 "
    "alpha_nDCG(alpha=0.3,judged_only=True)@3 alpha_DCG@1 alpha_DCG@3 ERR_IA@3 nERR_IA@3 NRBP nNRBP "
    "AP_IA P_IA@3 StRecall@2 AP"
)
_ASPECTS = "aspects={'relevance':2,'quality':1}"
ASPECTS = [
    f"TOMA({_ASPECTS})",
    f"TOMA({_ASPECTS},base='AP')",
    f"CAM({_ASPECTS},base='RR')",
    f"CAM({_ASPECTS},base='nDCG',weights={{'relevance':2,'quality':1}})",
]
TRIED = [
    f"MM({_ASPECTS},base='RR')",
    f"WHAM({_ASPECTS})",
    "INST(T=1.0,min_rel=0,max_rel=4)",
]
"""Measures without a formula: their orders are tried one by one."""


def orders(run: dict[str, float]) -> Iterator[dict[str, float]]:
    """Yield the ranking with tied documents in every order."""
    groups: dict[float, list[str]] = {}
    for doc, score in run.items():
        groups.setdefault(score, []).append(doc)
    for choice in product(
        *(permutations(groups[score]) for score in sorted(groups, reverse=True))
    ):
        docs = [doc for group in choice for doc in group]
        yield {doc: -float(rank) for rank, doc in enumerate(docs)}


def values_of_all_orders(
    measures: dict[str, Any], qrels: Any, run: dict[str, float]
) -> list[Floats]:
    """Return the values of each measure by all permutations of tied documents."""
    rankings = {f"{i:05d}": ranking for i, ranking in enumerate(orders(run))}
    aligned = align(Judgments.from_qrels(qrels(list(rankings))), rankings)
    return [values(measure, aligned) for measure in measures.values()]


def check(names: list[str], qrels: Any, run: dict[str, float]) -> None:
    """Compare the expected values and the ends of one ranking with those of its orders."""
    measures = parse_measures(names)
    aligned = align(Judgments.from_qrels(qrels(["q"])), {"q": run})
    for name, of_orders in zip(
        measures, values_of_all_orders(measures, qrels, run), strict=True
    ):
        expected = expected_values(measures[name], aligned)
        value = values(measures[name], aligned)
        low, high = tie_range(measures[name], aligned, value, exact=True)
        found = [float(of_query[0]) for of_query in (expected, low, high)]
        wanted = [float(of(of_orders)) for of in (np.mean, np.min, np.max)]
        assert found == pytest.approx(wanted, rel=1e-12, abs=1e-12, nan_ok=True), (
            name,
            run,
        )


def a_run(draw: random.Random, docs: str) -> dict[str, float]:
    """Return a ranking of some documents, many of them tied."""
    kept = [doc for doc in docs if draw.random() < 0.85] or ["a"]
    return {doc: float(draw.choice([1, 2, 2, 3])) for doc in kept}


def of_one_aspect(draw: random.Random) -> None:
    """Check measures of grades: some documents unjudged, missing, or of a negative grade."""
    docs = "abcdefg"[: draw.randint(1, 7)]
    grades = {
        doc: draw.choice([-1, 0, 0, 1, 1, 2, 4])
        for doc in f"{docs}h"
        if draw.random() < 0.7
    } or {"a": 1}
    check(
        BINARY + RECALL + GRADED,
        lambda ids: dict.fromkeys(ids, grades),
        a_run(draw, docs),
    )


def of_subtopics(draw: random.Random) -> None:
    """Check measures of subtopics, of which documents have up to three."""
    docs = "abcdefg"[: draw.randint(1, 7)]
    rows = [
        (doc, draw.choice([0, 1, 1, 2, 4]), topic)
        for doc in f"{docs}h"
        for topic in ("t1", "t2", "t3")[: draw.randint(1, 3)]
        if draw.random() < 0.6
    ] or [("a", 1, "t1")]
    check(
        SUBTOPICS,
        lambda ids: [
            ir_measures.Qrel(query_id, *row) for query_id in ids for row in rows
        ],
        a_run(draw, docs),
    )


def of_aspects(draw: random.Random) -> None:
    """Check measures of two aspects, and those whose orders are tried."""
    docs = "abcde"[: draw.randint(1, 5)]
    rows = [
        {"doc_id": doc, "relevance": draw.randint(0, 2), "quality": draw.randint(0, 1)}
        for doc in f"{docs}h"
    ]
    check(
        ASPECTS + TRIED,
        lambda ids: [{"query_id": query_id, **row} for query_id in ids for row in rows],
        a_run(draw, docs),
    )


@pytest.mark.parametrize("draw_and_check", [of_one_aspect, of_subtopics, of_aspects])
@pytest.mark.parametrize("seed", range(1, 4))
def test_a_few_rankings(draw_and_check: Any, seed: int) -> None:
    draw_and_check(random.Random(seed))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("draw_and_check", "rankings"),
    [(of_one_aspect, 600), (of_subtopics, 300), (of_aspects, 100)],
)
def test_a_thousand_rankings(draw_and_check: Any, rankings: int) -> None:
    draw = random.Random(rankings)
    for _ in range(rankings):
        draw_and_check(draw)


def test_every_measure_is_checked() -> None:
    names = {
        name.partition("(")[0].partition("@")[0]
        for name in BINARY + RECALL + GRADED + SUBTOPICS + ASPECTS + TRIED
    }
    other_names = {"LR", "Hole"}
    of_library = {
        name
        for name, measure in REGISTRY.items()
        if type(measure).__module__.startswith("ir_lexirecall.")
    }
    by_formula = {
        *dispatch._STANDARD,
        *(of_library - other_names - {"LexiRecall"}),
    }
    assert by_formula <= names


def test_formulas_need_no_orders(monkeypatch: pytest.MonkeyPatch) -> None:
    """The measures but those of `TRIED` have a formula: no order is tried."""

    def refuse(*_: Any) -> None:
        raise AssertionError

    monkeypatch.setattr(dispatch, "mean_over_orders", refuse)
    of_one_aspect(random.Random(11))
    of_subtopics(random.Random(12))


def test_thousands_of_tied_documents() -> None:
    """Closed forms by hand for 3 relevant documents among 3,000 tied ones."""
    n, count = 3000, 3
    run = {"q": {f"d{i}": 1.0 for i in range(n)}}
    aligned = align(Judgments.from_qrels({"q": {"d1": 1, "d2": 1, "d3": 1}}), run)
    ranks = np.arange(1, n + 1.0)
    # P(last one at rank p) = C(p - 1, 2) / C(n, 3), and that of the first one mirrored.
    last = (ranks - 1) * (ranks - 2) / 2 / (n * (n - 1) * (n - 2) / 6)
    wanted = {
        "P@10": count / n,
        "TSE": (last / ranks).sum(),
        "RR": (last[::-1] / ranks).sum(),
        "LastRel": (last * ranks).sum(),
        "nDCG": (count / n * (1 / np.log2(ranks + 1)).sum())
        / (1 / np.log2(np.arange(2.0, 5))).sum(),
    }
    for name, measure in parse_measures(list(wanted)).items():
        assert expected_values(measure, aligned)[0] == pytest.approx(
            wanted[name], rel=1e-9
        )


def test_lexirecall_of_one_group() -> None:
    """With all documents tied, y is uniform given the last rank: a harmonic sum for each rank."""
    n, count, m = 40, 4, 6
    run = {"q": {f"d{i}": 1.0 for i in range(n)}}
    qrels = {"q": {f"{'d' if i < count else 'x'}{i}": 1 for i in range(m)}}
    total = 0.0
    for p in range(count, n + 1):
        placements = np.arange(1, int(np.prod(range(p - count + 1, p)) / 6) + 1)
        mean = (1 / (p - 1 + placements / len(placements))).mean()
        total += len(placements) * count * (1 + mean) / (m + 1)
    orders_of_group = n * (n - 1) * (n - 2) * (n - 3) / 24
    aligned = align(Judgments.from_qrels(qrels), run)
    measure = next(iter(parse_measures("LR").values()))
    assert expected_values(measure, aligned)[0] == pytest.approx(
        total / orders_of_group, rel=1e-13
    )


def test_too_many_orders() -> None:
    """A measure without a formula has no expected value where too many orders differ."""
    run = {"q": {f"d{i}": 1.0 for i in range(200)}}
    aligned = align(Judgments.from_qrels({"q": {f"d{i}": 1 for i in range(3)}}), run)
    measure = next(iter(parse_measures("INST(T=1.0,min_rel=0,max_rel=1)").values()))
    assert np.isnan(expected_values(measure, aligned)).all()
