"""ir_measures' standard measures from an aligned run: trec_eval's bits, cwl_eval's and gdeval's numbers, the definitions."""

from __future__ import annotations

import itertools
import math
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import ir_measures
import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_measures import (
    AP,
    BPM,
    ERR,
    INSQ,
    INST,
    NERR10,
    NERR11,
    RBP,
    RR,
    SDCG,
    Bpref,
    IPrec,
    Judged,
    NumRet,
    P,
    R,
    Rprec,
    SetAP,
    SetF,
    SetP,
    SetR,
    Success,
    infAP,
    nDCG,
)
from ir_measures.measures.base import Measure

from ir_lexirecall.data.alignment import align
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.measures import trec_eval
from ir_lexirecall.measures.scoring import identical, is_standard, score, values
from tests.conftest import collections, judged, retrieved

pytestmark = pytest.mark.sparse

WHOLE_GRADES = st.sampled_from([-2, -1, 0, 0, 1, 1, 2, 3, 4])


def parsed(text: str) -> list[Measure]:
    """Measures from their strings, with blanks between them."""
    return [ir_measures.parse_measure(one) for one in text.split()]


FIXED = [
    *parsed(
        "P@1 P(judged_only=True)@5 R(rel=2)@10 AP AP(judged_only=True)@5 nDCG nDCG@10 nDCG(judged_only=True) RR Rprec Bpref "
        "Success@1 IPrec(judged_only=True)@0.0 infAP SetP SetP(relative=True) SetR SetF SetF(beta=0.5) SetAP NumRet NumRet(rel=1) "
        "NumRel NumQ"
    ),
    nDCG(gains={1: 5, 2: 3, 0: 1}),
    *(IPrec @ (tenth / 10) for tenth in range(11)),
]

_REL = st.integers(1, 5)
_K = st.integers(1, 60) | st.integers(1, 2000)
_SOME = {"rel": _REL, "judged_only": st.booleans()}


def some(
    measure: Measure, required: Mapping[str, Any] | None = None, **optional: Any
) -> st.SearchStrategy[Measure]:
    """The measure with all required and any of the optional parameters."""
    return st.fixed_dictionaries(required or {}, optional=optional).map(
        lambda parameters: measure(**parameters)
    )


BY_TREC_EVAL = st.one_of(
    some(P, {"cutoff": _K}, **_SOME),
    some(R, {"cutoff": _K}, **_SOME),
    some(Success, {"cutoff": _K}, **_SOME),
    some(AP, cutoff=_K, **_SOME),
    some(
        nDCG,
        cutoff=_K,
        judged_only=st.booleans(),
        gains=st.dictionaries(st.integers(0, 4), st.integers(0, 7), max_size=4),
    ),
    some(RR, **_SOME),
    some(Rprec, **_SOME),
    some(Bpref, rel=_REL),
    some(infAP, rel=_REL),
    some(IPrec, {"recall": st.floats(0, 1)}, **_SOME),
    some(SetP, relative=st.booleans(), **_SOME),
    some(SetR, rel=_REL),
    some(SetF, beta=st.sampled_from([0.0, 0.1, 0.5, 1.0, 2.0, 2.25, 100.0]), **_SOME),
    some(SetAP, **_SOME),
    some(NumRet, rel=_REL),
)

BY_CWL_EVAL = parsed(
    "RBP(rel=1) RBP(rel=2,p=0.99) RBP(rel=1,p=0.0) RBP(rel=1,p=1.0) BPM(max_rel=4)@1 BPM(max_rel=4)@10 BPM(max_rel=4,T=3.0)@20 "
    "BPM(max_rel=4,T=0.0)@20 BPM(max_rel=6,min_rel=1,T=2.5)@1000 BPM(max_rel=4,T=2.5)@1500 SDCG(max_rel=4)@1 SDCG(max_rel=4)@10 "
    "SDCG(max_rel=6,min_rel=1)@1000 SDCG(max_rel=4)@1001 SDCG(max_rel=4)@3000 INSQ(max_rel=4) INSQ(max_rel=4,T=0.0) "
    "INSQ(max_rel=6,min_rel=1,T=3.5) INST(max_rel=4) INST(max_rel=4,T=0.25) INST(max_rel=4,T=0.5) INST(max_rel=6,min_rel=1,T=3.5) "
    "INST(max_rel=4,T=200.0) NERR8(max_rel=4)@10 NERR8(max_rel=6,min_rel=1)@1500 NERR9(max_rel=4)@10 "
    "NERR9(max_rel=6,min_rel=1)@1500 NERR10(max_rel=4) NERR10(max_rel=4,p=0.0) NERR10(max_rel=6,p=0.5) NERR11(max_rel=4) "
    "NERR11(max_rel=4,T=0.0) NERR11(max_rel=6,min_rel=1,T=3.5)"
)
OTHERS = [
    *parsed(
        "RR@10 RR(judged_only=True)@10 nDCG(dcg='exp-log2') nDCG(dcg='exp-log2',judged_only=True)@5 Judged Judged@5 ERR ERR@10 RBP "
        "RBP@10 RBP(rel=2)@10 NumRel(rel=2)"
    ),
    AP(rel=0),
    Bpref(rel=-1),
    infAP(rel=0),
]


def all_scored(
    measures: Iterable[Measure], qrels: Any, run: Any
) -> dict[Measure, dict[str, float]]:
    """The value of each query, of measures of one aligned run."""
    judgments = Judgments.from_qrels(qrels)
    aligned = align(judgments, run)
    return {
        measure: dict(
            zip(judgments.query_ids, values(measure, aligned).tolist(), strict=True)
        )
        for measure in measures
    }


def scored(measure: Measure, qrels: Any, run: Any) -> dict[str, float]:
    """The value of each query."""
    return all_scored([measure], qrels, run)[measure]


def hexadecimal(value: Any) -> Any:
    """Every bit of values, in nested dicts; NaN equals NaN."""
    return (
        {key: hexadecimal(v) for key, v in value.items()}
        if isinstance(value, dict)
        else value.hex()
    )


def of_provider(
    provider: Any, measures: Sequence[Measure], qrels: Any, run: Any
) -> dict[Measure, dict[str, float]]:
    """Values of one of ir_measures' providers, which gets no empty ranking: some fail for one."""
    rankings = {query_id: ranking for query_id, ranking in run.items() if ranking}
    by_measure: dict[Measure, dict[str, float]] = {measure: {} for measure in measures}
    for metric in provider.iter_calc(measures, qrels, rankings):
        assert type(metric.value) is float
        by_measure[metric.measure][metric.query_id] = metric.value
    return by_measure


def of_pytrec_eval(
    measures: Sequence[Measure], qrels: Any, run: Any
) -> dict[Measure, dict[str, float]]:
    """Values of pytrec_eval.

    Grades of a query that has none above -1 are 0 then: pytrec_eval would write beyond its memory. Measures with gains
    are computed one by one: ir_measures may compute nDCG without gains with the gains of another measure.
    """
    plain = [measure for measure in measures if "gains" not in measure.params]
    by_measure = (
        of_provider(
            ir_measures.pytrec_eval, plain, without_negative_queries(qrels), run
        )
        if plain
        else {}
    )
    for measure in measures:
        if "gains" in measure.params:
            graded = without_negative_queries(with_gains(qrels, measure["gains"]))
            by_measure |= {
                measure: of_provider(
                    ir_measures.pytrec_eval, [measure(gains={})], graded, run
                ).popitem()[1]
            }
    return by_measure


def with_gains(qrels: Any, gains: Mapping[int, int]) -> Any:
    return {
        q: {doc: gains.get(grade, grade) for doc, grade in grades.items()}
        for q, grades in qrels.items()
    }


def without_negative_queries(qrels: Any) -> Any:
    return {
        q: grades if max(grades.values(), default=0) >= 0 else dict.fromkeys(grades, 0)
        for q, grades in qrels.items()
    }


def assert_same_bits(measures: Sequence[Measure], qrels: Any, run: Any) -> None:
    expected = of_pytrec_eval(measures, qrels, run)
    assert hexadecimal(all_scored(measures, qrels, run)) == hexadecimal(expected)


# -- trec_eval ---------------------------------------------------------------------------------------


@given(collections(WHOLE_GRADES))
def test_trec_evals_bits(collection: Any) -> None:
    pytest.importorskip("pytrec_eval")
    assert_same_bits(FIXED, *collection)


@pytest.mark.slow
@settings(max_examples=500)
@given(collections(WHOLE_GRADES), st.lists(BY_TREC_EVAL, min_size=1, max_size=5))
def test_trec_evals_bits_with_any_parameters(
    collection: Any, measures: list[Measure]
) -> None:
    pytest.importorskip("pytrec_eval")
    for measure in measures:  # ir_measures takes IPrec @ 0.1 and IPrec @ 0.101 for one when they are computed together
        assert identical(measure)
        assert_same_bits([measure], *collection)


@given(
    collections(WHOLE_GRADES),
    st.dictionaries(st.integers(-2, 4), st.integers(-1, 7), min_size=1),
)
def test_gains_that_make_grades_negative_or_rescue_them(
    collection: Any, gains: dict[int, int]
) -> None:
    pytest.importorskip("pytrec_eval")
    qrels, run = collection
    qrels = {q: {**grades, "never retrieved": 8} for q, grades in qrels.items()}
    measures = [nDCG(gains=gains), nDCG(gains=gains, judged_only=True) @ 3]
    expected = {}
    for measure in measures:
        expected |= of_provider(ir_measures.pytrec_eval, [measure], qrels, run)
    assert hexadecimal(all_scored(measures, qrels, run)) == hexadecimal(expected)


@pytest.mark.parametrize("seed", range(3))
def test_trec_evals_bits_of_deep_rankings(seed: int) -> None:
    pytest.importorskip("pytrec_eval")
    rng = np.random.default_rng(seed)
    depth = 20_000
    docs = [f"d{i}" for i in range(depth)]
    run = {"q": dict(zip(docs, rng.random(depth).tolist(), strict=True))}
    qrels = {
        "q": dict(zip(docs, rng.integers(-1, 4, depth).tolist(), strict=True))
        | {"d0": 4}
    }
    assert_same_bits(
        [nDCG, nDCG @ 15_000, AP, Bpref(rel=2), infAP(rel=2), IPrec @ 0.33], qrels, run
    )


def test_logarithms_are_the_c_librarys() -> None:
    """NumPy's differ at these ranks on processors with AVX-512."""
    pytest.importorskip("pytrec_eval")
    ranks = [1620, 3241, 6483, 7956, 12967, 15913]
    run = {
        str(rank): {f"d{i}": -float(i) for i in range(1, rank + 1)} for rank in ranks
    }
    qrels = {str(rank): {f"d{rank}": 1} for rank in ranks}
    assert_same_bits([nDCG], qrels, run)
    assert scored(nDCG, qrels, run) == {
        str(rank): 1 / math.log2(rank + 1) for rank in ranks
    }


RUNS = [
    ("robust2003/qrels.txt.gz", "robust2003/runs"),
    ("web-adhoc/qrels.txt.gz", "web-adhoc"),
    ("clef-ehealth-2016/relevance.qrels.gz", "clef-ehealth-2016/runs"),
]


@pytest.mark.slow_except("web-adhoc")
@pytest.mark.parametrize(
    ("qrels", "folder"), RUNS, ids=["robust2003", "web-adhoc", "clef-ehealth-2016"]
)
def test_trec_evals_bits_of_real_runs(data: Any, qrels: str, folder: str) -> None:
    pytest.importorskip("pytrec_eval")
    grades: dict[str, dict[str, int]] = {}
    for qrel in ir_measures.read_trec_qrels(data.path(qrels)):
        grades.setdefault(qrel.query_id, {})[qrel.doc_id] = qrel.relevance
    assert all(max(of_query.values()) >= 0 for of_query in grades.values())
    paths = [path for path in sorted(data.folder(folder)) if "qrels" not in path]
    assert len(paths) > 3
    measures = [measure for measure in FIXED if "gains" not in measure.params]
    judgments, evaluator = (
        Judgments.from_qrels(grades),
        ir_measures.pytrec_eval.evaluator(measures, grades),
    )
    for path in paths:
        run: dict[str, dict[str, float]] = {}
        for scored_doc in ir_measures.read_trec_run(path):
            run.setdefault(scored_doc.query_id, {})[scored_doc.doc_id] = (
                scored_doc.score
            )
        expected: dict[Measure, dict[str, float]] = {
            measure: {} for measure in measures
        }
        for metric in evaluator.iter_calc(run):
            expected[metric.measure][metric.query_id] = metric.value
        assert hexadecimal(all_scored(measures, judgments, path)) == hexadecimal(
            expected
        )


@pytest.mark.parametrize(
    ("qrels", "run"),
    [
        ({"q": {"a": 1}}, {"q": {"a": 1.0}}),
        ({"q": {"a": 0}}, {"q": {"a": 1.0}}),
        ({"q": {"a": 1}}, {"q": {"b": 1.0}}),
        ({"q": {"a": 0, "b": 0}}, {"q": {"c": 1.0}}),
        ({"q": {"a": -1, "b": 1}}, {"q": {"a": 1.0}}),
        ({"q": {"a": -1, "b": -2}}, {"q": {"a": 1.0, "b": 1.0}}),
        ({"q": {"a": 1}}, {"other": {"a": 1.0}}),
        ({"q": {"a": 1}}, {}),
        (
            {"q": {"a": 1}, "empty": {}},
            {"q": {"a": 1.0}, "empty": {"a": 1.0, "b": 0.0}},
        ),
        ({"q": {"a": 1}, "missing": {"a": 1}}, {"q": {"a": 1.0}}),
    ],
)
def test_trec_evals_bits_at_the_edges(qrels: Any, run: Any) -> None:
    pytest.importorskip("pytrec_eval")
    assert_same_bits(FIXED, qrels, run)


def test_a_recall_that_needs_no_document_is_undefined_where_nothing_is_left_of_a_ranking() -> (
    None
):
    run = {"q": {"unjudged": 1.0}}
    assert math.isnan(scored(IPrec(judged_only=True) @ 0.0, {"q": {"a": 1}}, run)["q"])
    assert math.isnan(scored(IPrec(judged_only=True) @ 1.0, {"q": {"a": 0}}, run)["q"])
    assert scored(IPrec(judged_only=True) @ 1.0, {"q": {"a": 1}}, run) == {"q": 0.0}
    assert scored(IPrec(judged_only=True) @ 0.0, {"q": {"a": 1}}, {}) == {"q": 0.0}


# -- cwl_eval ----------------------------------------------------------------------------------------


def assert_equals_cwl_eval(measure: Measure, qrels: Any, run: Any) -> None:
    """All values of every query that the run has, and the value of another."""
    judgments = Judgments.from_qrels(qrels)
    actual = score(measure, align(judgments, run))
    for metric in ir_measures.cwl_eval.iter_calc([measure], qrels, run):
        q = judgments.query_ids.index(metric.query_id)
        if not isinstance(metric, ir_measures.CwlMetric):
            assert (metric.value, actual.value[q]) == (0, 0)
            continue
        assert (
            actual.value[q],
            actual.expected_total_utility[q],
            1,
            actual.expected_total_cost[q],
            actual.expected_items[q],
        ) == pytest.approx(metric[2:], rel=1e-12, abs=1e-13)


@pytest.mark.sparse
@pytest.mark.parametrize("measure", BY_CWL_EVAL, ids=str)
@settings(max_examples=30)
@given(
    st.lists(st.none() | WHOLE_GRADES, min_size=1, max_size=60),
    st.lists(WHOLE_GRADES, min_size=1, max_size=3),
)
def test_cwl_evals_numbers_where_no_scores_tie(
    measure: Measure, ranking: Any, missing: Any
) -> None:
    pytest.importorskip("cwl")
    qrels = {"q": judged(ranking, missing), "missing": {"a": 4}}
    assert_equals_cwl_eval(measure, qrels, {"q": retrieved(ranking)})


@pytest.mark.parametrize("measure", BY_CWL_EVAL, ids=str)
@pytest.mark.parametrize(
    "ranking",
    [
        ([None] * 30 + [0, 2, -1, None, 4]) * 40,
        [4] * 1200,
        [None] * 999 + [4, 4, 4],
        [None] * 1000 + [4],
        [1] * 1500,
        [None] * 1500,
    ],
    ids=["some", "best", "at the end", "below the end", "low", "none"],
)
def test_cwl_evals_numbers_of_rankings_of_about_1000_documents(
    measure: Measure, ranking: Any
) -> None:
    pytest.importorskip("cwl")
    assert_equals_cwl_eval(
        measure, {"q": judged(ranking, [1])}, {"q": retrieved(ranking)}
    )


# -- gdeval, msmarco, judged ---------------------------------------------------------------------------


@pytest.mark.sparse
@pytest.mark.parametrize("run", ["wt11", "wt12", "wt13", "wt14"])
@pytest.mark.parametrize("k", [5, 20])
@pytest.mark.parametrize("measure", [ERR, nDCG(dcg="exp-log2")], ids=str)
def test_gdevals_numbers_to_the_digits_that_it_prints(
    data: Any, measure: Measure, run: str, k: int
) -> None:
    if not shutil.which("perl"):
        pytest.skip("gdeval needs perl")
    scores = list(ir_measures.read_trec_run(data.path(f"web-adhoc/{run}.run.gz")))
    queries = {scored_doc.query_id for scored_doc in scores}
    qrels = [
        qrel
        for qrel in ir_measures.read_trec_qrels(data.path("web-adhoc/qrels.txt.gz"))
        if qrel.query_id in queries
    ]
    expected = {
        metric.query_id: metric.value
        for metric in ir_measures.gdeval.iter_calc([measure @ k], qrels, scores)
    }
    assert any(expected.values())
    assert scored(measure @ k, qrels, scores) == pytest.approx(
        expected, rel=0, abs=0.5e-5 + 1e-12
    )


@pytest.mark.parametrize(
    "measure",
    [RR @ 1, RR @ 10, RR(rel=2) @ 10, Judged, Judged @ 5, Judged @ 100],
    ids=str,
)
@given(
    st.lists(st.none() | WHOLE_GRADES, min_size=1, max_size=30),
    st.lists(WHOLE_GRADES, min_size=1, max_size=3),
)
def test_values_of_programs_that_break_ties_otherwise(
    measure: Measure, ranking: Any, missing: Any
) -> None:
    provider = ir_measures.judged if measure.NAME == "Judged" else ir_measures.msmarco
    qrels, run = (
        {"q": judged(ranking, missing), "missing": {"a": 1}},
        {"q": retrieved(ranking)},
    )
    # Its Judged counts what was pooled only, with a negative grade; to that program it is left out.
    of_program = {
        q: {d: g for d, g in docs.items() if g >= 0} for q, docs in qrels.items()
    }
    if measure.NAME != "Judged":
        of_program = qrels
    expected = of_provider(provider, [measure], of_program, run)
    assert scored(measure, qrels, run) == {
        q: expected[measure].get(q, 0.0) for q in qrels
    }


# -- definitions ---------------------------------------------------------------------------------------

Grades = Mapping[str, float]
CUTOFFS = st.none() | st.integers(1, 60)


def gains_of(grades: Grades) -> dict[str, float]:
    return {doc: 2 ** max(grade, 0) - 1 for doc, grade in grades.items()}


def condensed(ranking: Sequence[str], grades: Grades) -> list[str]:
    return [doc for doc in ranking if grades.get(doc, -1) >= 0]


def bpref(ranking: Sequence[str], grades: Grades, rel: float) -> float:
    m = reference.relevant(grades, rel)
    non_relevant = sum(1 for grade in grades.values() if 0 <= grade < rel)
    total, before = 0.0, 0
    for doc in ranking:
        if grades.get(doc, -1) >= rel:
            total += 1 - min(before, m) / min(non_relevant, m) if before else 1
        elif grades.get(doc, -1) >= 0:
            before += 1
    return total / m if m else 0.0


def inferred_ap(ranking: Sequence[str], grades: Grades, rel: float) -> float:
    total, eps = 0.0, 0.00001
    for rank, doc in enumerate(ranking, start=1):
        if grades.get(doc, -math.inf) < rel:
            continue
        above = [grades[d] for d in ranking[: rank - 1] if d in grades]
        relevant, other = sum(g >= rel for g in above), sum(0 <= g < rel for g in above)
        share = (relevant + eps) / (relevant + other + 2 * eps)
        total += (
            1 / rank + (rank - 1) / rank * (len(above) / (rank - 1)) * share
            if rank > 1
            else 1
        )
    m = reference.relevant(grades, rel)
    return total / m if m else 0.0


def interpolated_precision(
    ranking: Sequence[str], grades: Grades, recall: float, rel: float
) -> float:
    """The best precision among the cuts that retrieve enough of the relevant documents."""
    needed = math.floor(recall * reference.relevant(grades, rel) + 0.9)
    hits = list(itertools.accumulate(grades.get(doc, -1) >= rel for doc in ranking))
    return max(
        (hit / rank for rank, hit in enumerate(hits, start=1) if hit >= needed),
        default=0.0,
    )


def judged_share(ranking: Sequence[str], grades: Grades, k: int | None) -> float:
    top = reference.cut(ranking, k)
    return sum(grades.get(doc, -1) >= 0 for doc in top) / len(top) if top else 0.0


def graded_rbp(
    ranking: Sequence[str], grades: Grades, p: float, k: int | None
) -> float:
    return (1 - p) * math.fsum(
        p**i * max(grades.get(doc, 0), 0)
        for i, doc in enumerate(reference.cut(ranking, k))
    )


def on(
    condense: bool, brute_force: Callable[..., float], *parameters: Any, **named: Any
) -> Callable[..., float]:
    return lambda ranking, grades: brute_force(
        condensed(ranking, grades) if condense else ranking,
        grades,
        *parameters,
        **named,
    )


@settings(max_examples=200)
@given(
    collections(st.sampled_from([-1, 0, 0, 1, 1, 1.5, 2, 2.5, 3, 4])),
    CUTOFFS,
    st.integers(1, 60),
    st.sampled_from([0.5, 1, 1.5, 2, 3]),
    st.floats(0, 1),
    st.booleans(),
)
def test_definitions(
    collection: Any,
    cutoff: int | None,
    k: int,
    rel: float,
    recall: float,
    judged_only: bool,
) -> None:
    """Also of fractional grades and thresholds, which trec_eval cannot read."""
    qrels, run = collection
    at = {} if cutoff is None else {"cutoff": cutoff}
    which = {"rel": rel, "judged_only": judged_only}
    two_digits = round(recall, 2)
    definitions: dict[Measure, Callable[[Sequence[str], Grades], float]] = {
        P(cutoff=k, **which): on(judged_only, reference.precision, k, rel),
        R(cutoff=k, **which): on(judged_only, reference.recall, k, rel),
        AP(**at, **which): on(judged_only, reference.ap, rel, cutoff),
        RR(**at, **which): on(judged_only, reference.reciprocal_rank, rel, cutoff),
        nDCG(**at, judged_only=judged_only): on(judged_only, reference.ndcg, cutoff),
        nDCG(**at, judged_only=judged_only, dcg="exp-log2"): lambda ranking, grades: (
            reference.ndcg(
                condensed(ranking, grades) if judged_only else ranking,
                gains_of(grades),
                cutoff,
            )
        ),
        Bpref(rel=rel): on(False, bpref, rel),
        infAP(rel=rel): on(False, inferred_ap, rel),
        IPrec(recall=two_digits, rel=rel): on(
            False, interpolated_precision, two_digits, rel
        ),
        Judged(**at): on(False, judged_share, cutoff),
        ERR(**at): on(False, reference.err, cutoff),
        RBP(p=0.7, cutoff=k, rel=rel): on(False, reference.rbp, 0.7, rel, k),
        RBP(p=0.7, rel=rel): on(False, reference.rbp, 0.7, rel, None),
        RBP(p=0.7, **at): on(False, graded_rbp, 0.7, cutoff),
    }
    for measure, actual in all_scored(definitions, qrels, run).items():
        rankings = {q: reference.order(run.get(q, {})) for q in qrels}
        expected = {
            q: definitions[measure](rankings[q], grades) for q, grades in qrels.items()
        }
        assert actual == pytest.approx(expected, rel=1e-12, abs=1e-15), str(measure)


@given(collections(), st.sampled_from([0, -1, -1.5]))
def test_thresholds_that_trec_eval_refuses(collection: Any, rel: float) -> None:
    """Every judged document of at least that grade is relevant, an unjudged one never."""
    qrels, run = collection
    shifted = {
        q: {doc: max(grade - rel + 1, 0) for doc, grade in grades.items()}
        for q, grades in qrels.items()
    }
    measures = [
        AP,
        AP @ 7,
        P @ 5,
        R @ 5,
        RR,
        Rprec,
        SetP,
        SetR,
        SetF,
        SetAP,
        IPrec @ 0.4,
        NumRet(rel=1),
    ]
    actual = all_scored([measure(rel=rel) for measure in measures], qrels, run)
    expected = all_scored(measures, shifted, run)
    assert [*map(hexadecimal, actual.values())] == [
        *map(hexadecimal, expected.values())
    ]


# -- what callers rely on ------------------------------------------------------------------------------


def test_what_is_identical_comes_from_pytrec_eval() -> None:
    pipeline = [ir_measures.runtime, ir_measures.pytrec_eval]
    assert ir_measures.DefaultPipeline.providers[:2] == pipeline
    assert all(map(identical, FIXED))
    assert all(map(ir_measures.pytrec_eval.supports, FIXED))
    assert not any(map(identical, [*BY_CWL_EVAL, *OTHERS]))


@pytest.mark.parametrize(
    "measure",
    [
        *(
            P @ 0,
            P(rel=0) @ 10,
            P(rel=2**31) @ 10,
            P(cutoff=True),
            SetF(beta=1e-5),
            SetF(beta=-1.0),
            SetF(beta=math.inf),
        ),
        *(IPrec @ -0.1, IPrec @ 1.5, nDCG(gains={1: 0.5}), nDCG(gains={1: 10**7})),
    ],
    ids=str,
)
def test_parameters_that_pytrec_eval_does_not_read_as_they_were_meant(
    measure: Measure,
) -> None:
    assert is_standard(measure)
    assert not identical(measure)


@pytest.mark.parametrize(
    ("measure", "problem"),
    [
        (P @ 0, "the cutoff must be at least 1"),
        (nDCG @ -3, "the cutoff must be at least 1"),
        (SetF(beta=-1.0), "beta must be a number of at least 0, not -1.0"),
        (SetF(beta=math.inf), "beta must be a number of at least 0, not inf"),
        (IPrec @ -0.1, "recall must be a number of at least 0, not -0.1"),
        (RBP(p=1.5), "p must be a number between 0 and 1, not 1.5"),
        (NERR10(p=-0.5, max_rel=4), "p must be a number between 0 and 1, not -0.5"),
        (
            NERR11(T=-1.0, max_rel=4),
            r"T must be a number between 0 and 1e\+300, not -1.0",
        ),
        (
            INSQ(T=math.nan, max_rel=4),
            r"T must be a number between 0 and 1e\+300, not nan",
        ),
        (
            INST(T=0.2, max_rel=4),
            r"T must be a number between 0.25 and 1e\+300, not 0.2",
        ),
        (
            INST(T=1e301, max_rel=4),
            r"T must be a number between 0.25 and 1e\+300, not 1e\+301",
        ),
        (BPM(T=-1.0, max_rel=4) @ 5, "T must be a number of at least 0, not -1.0"),
        (SDCG(min_rel=4, max_rel=4) @ 5, "min_rel=4 must be below max_rel=4"),
        (SDCG(max_rel=1) @ 5, "document 'a' of query 'q' has grade 2, above max_rel=1"),
    ],
)
def test_parameters_out_of_range(measure: Measure, problem: str) -> None:
    run = align(Judgments.from_qrels({"q": {"a": 2}}), {"q": {"a": 1.0}})
    with pytest.raises(ValueError, match=problem) as caught:
        values(measure, run)
    assert str(caught.value).startswith(f"{measure}:")


def test_err_refuses_a_grade_above_4() -> None:
    with pytest.raises(
        ValueError, match="document 'a' of query 'q' has grade 5, above max_rel=4"
    ):
        scored(ERR @ 10, {"q": {"a": 5}}, {"q": {"a": 1.0}})


def test_logarithms_beyond_those_that_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    run = {"q": {f"d{i}": -float(i) for i in range(3000)}}
    qrels = {"q": {f"d{i}": 1 for i in range(0, 3000, 7)}}
    expected = hexadecimal(scored(nDCG, qrels, run))
    monkeypatch.setattr(trec_eval, "_TABLE_DEPTH", 100)
    assert hexadecimal(scored(nDCG, qrels, run)) == expected


@pytest.mark.parametrize("top", [600, 2000, 1e6])
def test_gains_beyond_the_range_of_a_float(top: float) -> None:
    """With 2^g - 1 only the best document counts, as if all others had no gain."""
    qrels = {"q": {"a": top, "b": top - 100, "c": 1}, "r": {"a": 2, "b": 1}}
    run = {"q": {"x": 3.0, "a": 2.0, "b": 1.0}, "r": {"b": 2.0, "a": 1.0}}
    actual = scored(nDCG(dcg="exp-log2"), qrels, run)
    assert actual["q"] == pytest.approx(1 / math.log2(3), rel=1e-15)
    assert actual["r"] == pytest.approx(
        (1 + 3 / math.log2(3)) / (3 + 1 / math.log2(3)), rel=1e-15
    )
