"""Diversity measures: ndeval's, and those for graded and weighted subtopics."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import ir_measures
import pandas as pd
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import (
    AP_IA,
    ERR_IA,
    NRBP,
    P_IA,
    StRecall,
    alpha_DCG,
    alpha_nDCG,
    nDCG,
    nERR_IA,
    nNRBP,
)

from ir_lexirecall import CT, EU, GERR, IA, SRR, D_nDCG, DSharp
from ir_lexirecall._util.measure_strings import parse_measure
from ir_lexirecall.data.alignment import align
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.io.columns import qrel_table
from ir_lexirecall.measures.other_programs import is_of_ndeval, ndeval_values
from ir_lexirecall.measures.scoring import values as values_of
from tests.conftest import (
    ASPECT_IDS,
    CUTOFFS,
    DOC_IDS,
    bases,
    collections,
    rankings,
    reference_values,
    subtopic_collections,
    subtopic_table,
    words,
)

pytestmark = pytest.mark.sparse

WHOLE_GRADES = st.sampled_from([-2, -1, 0, 0, 1, 1, 2, 3, 4])
SHARES = st.sampled_from([0, 0.1, 0.25, 0.5, 0.7, 0.9, 1])
Subtopics = Mapping[
    str, Mapping[str, float]
]  # of one query: subtopic -> document -> grade


def table(
    judgments: Mapping[str, Subtopics], weights: Mapping[str, float] | None = None
) -> pd.DataFrame:
    """Qrels with a row per subtopic and document, in the order of the subtopics; ``weights`` by subtopic."""
    qrels = subtopic_table(judgments, "iteration").sort_values("iteration")
    return (
        qrels
        if weights is None
        else qrels.assign(weight=qrels["iteration"].map(weights))
    )


def values(measure: Any, qrels: Any, run: Any) -> dict[str, float]:
    """The value of each query."""
    measure.validate_params()
    aligned = align(Judgments.from_qrels(qrels), run)
    by_query = (
        measure.score(aligned)
        if hasattr(measure, "score")
        else ndeval_values(measure, aligned)
    )
    return dict(zip(aligned.judgments.query_ids, by_query.tolist(), strict=True))


def close(expected: Mapping[str, float]) -> Any:
    return pytest.approx(expected, rel=1e-12, abs=1e-14)


# -- ndeval's measures, term by term -----------------------------------------------------------------


def covered_by(subtopics: Subtopics, rel: float) -> dict[str, list[str]]:
    """The subtopics, in order, that each document is relevant to."""
    covered: dict[str, list[str]] = {}
    for t in sorted(subtopics, key=lambda name: name.encode()):
        for doc, grade in subtopics[t].items():
            if grade >= rel:
                covered.setdefault(doc, []).append(t)
    return covered


def novelty_gains(
    ranking: Sequence[str], covered: Mapping[str, list[str]], alpha: float
) -> list[float]:
    """G(i): sum over the subtopics of document i of (1 - alpha)^(earlier documents relevant to it)."""
    return [
        sum(
            (1 - alpha) ** sum(t in covered.get(before, []) for before in ranking[:i])
            for t in covered.get(doc, [])
        )
        for i, doc in enumerate(ranking)
    ]


def greedy_ranking(covered: Mapping[str, list[str]], alpha: float) -> list[str]:
    """The document of the largest gain next; of equal ones, that with the last id."""
    left, gain, ranking = set(covered), {}, []
    while left:
        best = max(
            left,
            key=lambda doc: (
                sum([gain.get(t, 1.0) for t in covered[doc]]),
                doc.encode(),
            ),
        )
        for t in covered[best]:
            gain[t] = gain.get(t, 1.0) * (1.0 - alpha)
        left.remove(best)
        ranking.append(best)
    return ranking


def discounted(
    gains: Sequence[float], discount: Callable[[int], float], k: int | None
) -> float:
    return math.fsum(gain * discount(i) for i, gain in enumerate(gains[:k], start=1))


def ndeval(ranking: Sequence[str], subtopics: Subtopics, measure: Any) -> float:
    """The value of one of ndeval's measures for one query."""
    name = measure.NAME
    params = {key: measure[key] for key in measure.SUPPORTED_PARAMS}
    k = params.get("cutoff")
    judged = {doc for grades in subtopics.values() for doc in grades}
    if params.get("judged_only"):
        ranking = [doc for doc in ranking if doc in judged]
    covered = covered_by(subtopics, params["rel"])
    relevant = {t: [doc for doc in covered if t in covered[doc]] for t in subtopics}
    counted = [t for t in subtopics if relevant[t]]
    if not counted:
        return 0.0
    if name == "StRecall":
        return len({t for doc in ranking[:k] for t in covered.get(doc, [])}) / len(
            counted
        )
    if name == "P_IA":
        return sum(len(covered.get(doc, [])) for doc in ranking[:k]) / (
            k * len(counted)
        )
    if name == "AP_IA":
        return sum(
            reference.ap(ranking, dict.fromkeys(relevant[t], 1)) for t in counted
        ) / len(counted)
    alpha = params.get("alpha", 0.5)
    discount: Callable[[int], float]
    if "DCG" in name:
        discount = lambda i: 1 / math.log2(i + 1)  # noqa: E731
    elif "ERR" in name:
        discount = lambda i: 1 / i  # noqa: E731
    else:
        discount = lambda i: params["beta"] ** (i - 1)  # noqa: E731
    total = discounted(novelty_gains(ranking, covered, alpha), discount, k)
    if name in ("alpha_nDCG", "nERR_IA", "nNRBP"):
        return total / discounted(
            novelty_gains(greedy_ranking(covered, alpha), covered, alpha), discount, k
        )
    if name == "NRBP":
        return total * (1 - (1 - alpha) * params["beta"]) / len(counted)
    if k == 1:
        return total
    return total / (
        len(counted)
        * math.fsum((1 - alpha) ** (i - 1) * discount(i) for i in range(1, k + 1))
    )


@st.composite
def ndeval_measures_with(draw: st.DrawFn, deepest: int, judged_only: bool) -> Any:
    measure = draw(
        st.sampled_from(
            [alpha_DCG, alpha_nDCG, ERR_IA, nERR_IA, NRBP, nNRBP, AP_IA, P_IA, StRecall]
        )
    )
    options: dict[str, Any] = {
        "cutoff": st.integers(1, deepest),
        "rel": st.sampled_from([1, 1, 2, 3, 0, -1]),
        "alpha": SHARES.map(float),
        "beta": st.sampled_from([0.0, 0.2, 0.5, 0.8, 0.99, 1.0]),
        "judged_only": st.booleans() if judged_only else st.just(False),
    }
    names = [
        name
        for name in measure.SUPPORTED_PARAMS
        if name == "cutoff" or draw(st.booleans())
    ]
    return measure(**{name: draw(options[name]) for name in names})


@given(ndeval_measures_with(deepest=60, judged_only=True), subtopic_collections())
def test_ndeval_measures_follow_their_definitions(measure, collection):
    judgments, run = collection
    assert is_of_ndeval(measure)
    assert values(measure, table(judgments), run) == close(
        reference_values(ndeval, judgments, run, measure)
    )


def without_ties(run: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
    """The same rankings, in trec_eval's order, with scores that do not tie."""
    return {
        q: {doc: -float(i) for i, doc in enumerate(reference.order(scores))}
        for q, scores in run.items()
        if scores
    }


def of_pyndeval(
    measures: Sequence[Any], qrels: Any, run: Any
) -> dict[tuple[str, Any], float]:
    """pyndeval's values; what it divides by 0 (nNRBP of a query without relevant documents) counts as 0."""
    return {
        (metric.query_id, metric.measure): 0.0
        if math.isnan(metric.value)
        else metric.value
        for metric in ir_measures.pyndeval.iter_calc(measures, qrels, run)
    }


@given(
    ndeval_measures_with(deepest=20, judged_only=False),
    subtopic_collections(WHOLE_GRADES),
    st.booleans(),
)
def test_ndeval_measures_equal_pyndeval_where_no_scores_tie(
    measure, collection, judged_only
):
    pytest.importorskip("pyndeval")
    judgments, run = collection
    run = without_ties(run)
    qrels = table(judgments)
    # ir_measures 0.4.3 fails for judged_only=True: the documents are taken out for it.
    if judged_only and "judged_only" in measure.SUPPORTED_PARAMS:
        judged = set(zip(qrels["query_id"], qrels["doc_id"], strict=True))
        rest = {
            q: {doc: s for doc, s in scores.items() if (q, doc) in judged}
            for q, scores in run.items()
        }
        expected = of_pyndeval(
            [measure], qrels, {q: scores for q, scores in rest.items() if scores}
        )
        measure = measure(judged_only=True)
    else:
        expected = of_pyndeval([measure], qrels, run)
    nonzero_factor = (
        measure.NAME != "nNRBP" or (1 - measure["alpha"]) * measure["beta"] < 1
    )
    if nonzero_factor:  # else pyndeval has 0 / 0 for every query
        assert values(measure, qrels, run) == close(
            {q: value for (q, _), value in expected.items()}
        )


@pytest.fixture(scope="module")
def web2014(data) -> tuple[pd.DataFrame, dict[str, dict[str, float]]]:
    """Judgments of the subtopics of TREC 2014's topics, and a run without ties."""
    qrels = qrel_table(data.path("web2014-diversity/qrels.ndeval.txt.gz")).to_pandas()
    scores = pd.DataFrame(
        ir_measures.read_trec_run(data.path("web2014-diversity/ql.run.gz"))
    )
    run = {
        q: dict(zip(rows["doc_id"], rows["score"], strict=True))
        for q, rows in scores.groupby("query_id")
    }
    return qrels, without_ties(run)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rel", "alpha", "beta"),
    [
        (1, 0.5, 0.5),
        (2, 0.5, 0.5),
        (1, 0.1, 0.5),
        (1, 0.7, 0.9),
        (3, 1.0, 0.2),
        (1, 0.0, 0.8),
    ],
)
def test_ndeval_measures_equal_pyndeval_on_the_web_track(web2014, rel, alpha, beta):
    pytest.importorskip("pyndeval")
    # Measures of several sets of parameters in one call: ir_measures 0.4.3 has 0 for all sets but the first.
    calls = [
        [measure(rel=rel, alpha=alpha, beta=beta) for measure in (NRBP, nNRBP)],
        [
            measure(rel=rel, alpha=alpha) @ k
            for measure in (alpha_DCG, alpha_nDCG)
            for k in (1, 5, 10, 20)
        ],
    ]
    if alpha == 0.5:
        at_k = [
            measure(rel=rel) @ k
            for measure in (ERR_IA, nERR_IA, P_IA, StRecall)
            for k in (1, 5, 10, 20)
        ]
        calls.append([*at_k, AP_IA(rel=rel)])
    expected = {
        key: value
        for measures in calls
        for key, value in of_pyndeval(measures, *web2014).items()
    }
    found = {
        (q, measure): value
        for measures in calls
        for measure in measures
        for q, value in values(measure, *web2014).items()
    }
    assert len(found) == 50 * sum(map(len, calls))
    assert found == close(expected)


@pytest.mark.parametrize(
    ("both", "expected"),
    [("z", (2 + 2 / math.log2(3)) / (2 + 1.5 / math.log2(3))), ("a", 1)],
)
def test_of_equal_gains_the_ideal_ranking_takes_the_last_document_first(both, expected):
    """The three documents of two subtopics tie; beginning with the one that overlaps both others is not the best."""
    subtopics = {
        "1": {"x": 1, both: 1},
        "2": {"x": 1},
        "3": {"y": 1, both: 1},
        "4": {"y": 1},
    }
    assert greedy_ranking(covered_by(subtopics, 1), 0.5)[0] == max(both, "y")
    found = values(alpha_nDCG @ 2, table({"q": subtopics}), {"q": {"x": 2.0, "y": 1.0}})
    assert found == close({"q": expected})


def test_the_worked_example_of_clarke_et_al_2008() -> None:
    """Ten documents on six nuggets, alpha = 1/2 (SIGIR 2008): each further document on a nugget has half the gain of the one before."""
    nuggets = {"a": "24", "b": "4", "c": "4", "e": "13", "f": "1", "g": "6", "h": "1"}
    rows = [("q", doc, 1, nugget) for doc, of in nuggets.items() for nugget in of]
    qrels = pd.DataFrame(
        rows, columns=["query_id", "doc_id", "relevance", "subtopic_id"]
    )
    run = {"q": {doc: -float(rank) for rank, doc in enumerate("abcdefghij")}}
    gains, ideal = (
        [2, 1 / 2, 1 / 4, 0, 2, 1 / 2, 1, 1 / 4, 0, 0],
        [2, 2, 1, 1 / 2, 1 / 2, 1 / 4, 1 / 4, 0, 0, 0],
    )
    for k in range(1, 11):
        ours, best = (
            sum(g / math.log2(i + 2) for i, g in enumerate(some[:k]))
            for some in (gains, ideal)
        )
        assert values(alpha_nDCG @ k, qrels, run) == close({"q": ours / best})


def test_sakai_and_song_2011_worked_by_hand() -> None:
    """An example of ours, by the definitions of SIGIR 2011: global gain sum_t P(t) g_t; D#-nDCG is half I-rec and half D-nDCG."""
    grades = {
        "1": {"a": 3, "b": 1},
        "2": {"b": 2, "c": 1},
    }  # intents of probability .7 and .3
    qrels, run = (
        table({"q": grades}, {"1": 0.7, "2": 0.3}),
        {"q": {"c": 4.0, "a": 3.0, "x": 2.0, "b": 1.0}},
    )
    # Global gains: a .7 * 3 = 2.1, b .7 * 1 + .3 * 2 = 1.3, c .3 * 1 = .3; the ideal ranking is a, b, c. 1 / log2(3) = .63093.
    by_hand = {  # cutoff: (I-rec, DCG of the global gains, that of the ideal ranking)
        1: (1 / 2, 0.3, 2.1),
        2: (1, 0.3 + 2.1 * 0.63093, 2.1 + 1.3 * 0.63093),
        3: (1, 0.3 + 2.1 * 0.63093, 2.1 + 1.3 * 0.63093 + 0.3 / 2),
        4: (1, 0.3 + 2.1 * 0.63093 + 1.3 * 0.43068, 2.1 + 1.3 * 0.63093 + 0.3 / 2),
    }
    for k, (recall, dcg, ideal) in by_hand.items():
        assert values(D_nDCG @ k, qrels, run)["q"] == pytest.approx(
            dcg / ideal, abs=1e-5
        )
        assert values(DSharp @ k, qrels, run)["q"] == pytest.approx(
            (recall + dcg / ideal) / 2, abs=1e-5
        )
    assert values(DSharp @ 2, qrels, run)["q"] == pytest.approx(
        0.77823, abs=1e-5
    )  # (1 + 1.62495 / 2.92021) / 2


def test_chapelle_et_al_2009_worked_by_hand() -> None:
    """An example of ours, by the definition of CIKM 2009: R = (2^g - 1) / 2^4, and the reader goes on with probability 1 - R."""
    qrels, run = (
        {"q": {"a": 3, "b": 0, "c": 4, "d": 1}},
        {"q": {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}},
    )
    # R: 7/16, 0, 15/16, 1/16; the reader comes to rank 3 with probability 9/16, to rank 4 with 9/16 * 1/16.
    third, fourth = (9 / 16) * (15 / 16) / 3, (9 / 16) * (1 / 16) * (1 / 16) / 4
    by_hand = {1: 7 / 16, 2: 7 / 16, 3: 7 / 16 + third, 4: 7 / 16 + third + fourth}
    for k, value in by_hand.items():
        assert values(GERR(max_rel=4) @ k, qrels, run) == close({"q": value})
    assert by_hand[3] == 0.61328125


@pytest.mark.parametrize(
    "measure", [alpha_nDCG, ERR_IA(rel=2), P_IA, StRecall], ids=str
)
def test_ndeval_measures_need_a_cutoff(measure):
    with pytest.raises(
        ValueError,
        match=rf"^{measure.NAME}.*: a cutoff is needed, as in {measure.NAME}.*@10$",
    ):
        values(measure, {"q": {"a": 1}}, {"q": {"a": 1.0}})
    with pytest.raises(ValueError, match="@0: the cutoff must be at least 1"):
        values(measure @ 0, {"q": {"a": 1}}, {"q": {"a": 1.0}})


def test_what_is_left_to_other_programs():
    assert not any(
        map(
            is_of_ndeval,
            [nDCG @ 10, alpha_nDCG(alpha=1.5) @ 10, NRBP(beta=-0.1), SRR()],
        )
    )


# -- the others, term by term ------------------------------------------------------------------------


def weights_of(
    subtopics: Subtopics, weights: Mapping[str, float] | None
) -> dict[str, float]:
    """w_t of the subtopics with a grade above 0, scaled to sum to 1; empty if all are 0."""
    counted = {
        t: 1.0 if weights is None else weights[t]
        for t, g in subtopics.items()
        if max(g.values()) > 0
    }
    total = math.fsum(counted.values())
    return {t: weight / total for t, weight in counted.items()} if total else {}


def gains_of(
    subtopics: Subtopics, gain: str, max_rel: float | None
) -> dict[str, dict[str, float]]:
    """r(d, t), above 0 only."""
    return {
        t: {
            doc: reference.gain_of(
                grade, gain, max(grades.values()) if max_rel is None else max_rel
            )
            for doc, grade in grades.items()
            if grade > 0
        }
        for t, grades in subtopics.items()
    }


def d_ndcg(ranking, subtopics, weights, cutoff):
    w = weights_of(subtopics, weights)
    docs = {doc for grades in subtopics.values() for doc in grades}
    return reference.ndcg(
        ranking,
        {
            doc: math.fsum(w[t] * max(subtopics[t].get(doc, 0), 0) for t in w)
            for doc in docs
        },
        cutoff,
    )


def dsharp(ranking, subtopics, weights, cutoff, gamma, rel):
    wanted = [t for t, grades in subtopics.items() if max(grades.values()) >= rel]
    covered = [
        t for t in wanted if reference.positions(ranking, subtopics[t], rel, cutoff)
    ]
    recall = len(covered) / len(wanted) if wanted else 0.0
    return gamma * recall + (1 - gamma) * d_ndcg(ranking, subtopics, weights, cutoff)


def eu(ranking, subtopics, weights, cutoff, alpha, e, gain, max_rel):
    w, r = weights_of(subtopics, weights), gains_of(subtopics, gain, max_rel)
    if not w:
        return 0.0
    terms = []
    for i, doc in enumerate(ranking[:cutoff], start=1):
        new = math.fsum(
            w[t]
            * r[t].get(doc, 0)
            * (1 - alpha) ** sum(before in r[t] for before in ranking[: i - 1])
            for t in w
        )
        terms.append((new - e) / (1 + math.log2(i)))
    return math.fsum(terms)


def exact_gain(grade: float, gain: str, top: float) -> Fraction:
    """The gain without rounding, where it is a rational number."""
    if gain == "linear":
        return Fraction(grade) / Fraction(top)
    return Fraction(2**grade - 1) / Fraction(2**top)


def ct(ranking, subtopics, weights, cutoff, alpha, saturation, gain, max_rel):
    w, r = weights_of(subtopics, weights), gains_of(subtopics, gain, max_rel)
    total = 0.0
    for t in w:
        top = max(subtopics[t].values()) if max_rel is None else max_rel
        for i, doc in enumerate(ranking[:cutoff], start=1):
            earlier = [before for before in ranking[: i - 1] if before in r[t]]
            filled = sum(
                (exact_gain(subtopics[t][before], gain, top) for before in earlier),
                Fraction(0),
            )
            if doc in r[t] and filled < Fraction(str(saturation)):
                total += w[t] * r[t][doc] * (1 - alpha) ** len(earlier) / i
    return total


def srr(
    ranking: Sequence[str],
    subtopics: Subtopics,
    weights: Any,
    cutoff: int | None,
    rel: float,
) -> float:
    wanted = [grades for grades in subtopics.values() if max(grades.values()) >= rel]
    first = [
        min(reference.positions(ranking, grades, rel, cutoff), default=0)
        for grades in wanted
    ]
    return 1 / max(first) if first and all(first) else 0.0


def gerr(ranking, grades, max_rel, cutoff, gain, unjudged):
    best = reference.gain_of(max_rel, gain, max_rel) if unjudged == "best" else 0.0
    gains = [
        reference.gain_of(grades[doc], gain, max_rel)
        if grades.get(doc, -1) >= 0
        else best
        for doc in reference.cut(ranking, cutoff)
    ]
    gains += [best] * (
        2000 if cutoff is None else cutoff - len(gains)
    )  # beyond, less than 2^-2000 is left
    return math.fsum(
        r / i * math.prod(1 - before for before in gains[: i - 1])
        for i, r in enumerate(gains[:200], 1)
    )


WEIGHTS = st.none() | st.fixed_dictionaries(
    dict.fromkeys(["1", "2", "10", "é"], st.sampled_from([0, 0.1, 0.5, 1, 1, 3]))
)
MAX_REL = st.sampled_from([None, None, 4, 10])
GAINS = st.sampled_from(["exp", "linear"])


@given(bases(), subtopic_collections(), WEIGHTS)
def test_ia_follows_its_definition(base, collection, weights):
    judgments, run = collection
    parameters, of_reference = base

    def ia(ranking: Sequence[str], subtopics: Subtopics) -> float:
        w = weights_of(subtopics, weights)
        return math.fsum(
            w[t]
            * reference.score_base(
                of_reference["base"], ranking, subtopics[t], 1, of_reference["cutoff"]
            )
            for t in w
        )

    measure = IA(**parameters)
    assert values(measure, table(judgments, weights), run) == close(
        reference_values(ia, judgments, run)
    )


@given(subtopic_collections(), WEIGHTS)
def test_what_was_not_judged_for_a_subtopic_is_unjudged_for_it(collection, weights):
    judgments, run = collection

    def ia(ranking: Sequence[str], subtopics: Subtopics) -> float:
        w = weights_of(subtopics, weights)
        return math.fsum(
            w[t]
            * reference.cwl(
                "ERR9", ranking, subtopics[t], max_rel=4, cutoff=8, unjudged="best"
            )[0]
            for t in w
        )

    measure = IA(base="CWL_ERR9(max_rel=4,unjudged='best')") @ 8
    assert values(measure, table(judgments, weights), run) == close(
        reference_values(ia, judgments, run)
    )


RELS = st.sampled_from([1, 1, 2, 2.5])
EFFORTS = st.sampled_from([0, 0.05, 0.3])
SATURATIONS = st.sampled_from([0.1, 0.25, 0.3, 0.5, 0.75, 1, 1, 1.5, 3])
OF_GAINS = {"cutoff": CUTOFFS, "alpha": SHARES, "gain": GAINS, "max_rel": MAX_REL}
DEFINITIONS: dict[str, tuple[Any, Callable[..., float], dict[str, Any]]] = {
    "D_nDCG": (D_nDCG, d_ndcg, {"cutoff": CUTOFFS}),
    "DSharp": (DSharp, dsharp, {"cutoff": CUTOFFS, "gamma": SHARES, "rel": RELS}),
    "EU": (EU, eu, {**OF_GAINS, "e": EFFORTS}),
    "CT": (CT, ct, {**OF_GAINS, "saturation": SATURATIONS}),
    "SRR": (SRR, srr, {"cutoff": CUTOFFS, "rel": RELS}),
}


@pytest.mark.parametrize("name", DEFINITIONS)
@given(subtopic_collections(), WEIGHTS, st.data())
def test_measures_of_subtopics_follow_their_definitions(
    name, collection, weights, data
):
    (judgments, run), (measure, definition, strategies) = collection, DEFINITIONS[name]
    params = data.draw(st.fixed_dictionaries(strategies))
    expected = reference_values(definition, judgments, run, weights, **params)
    assert values(measure(**params), table(judgments, weights), run) == close(expected)


@given(
    collections(),
    CUTOFFS,
    st.sampled_from([4, 4.5, 6]),
    GAINS,
    st.sampled_from(["worst", "best"]),
)
def test_gerr_follows_its_definition(collection, k, max_rel, gain, unjudged):
    qrels, run = collection
    params = {"cutoff": k, "max_rel": max_rel, "gain": gain, "unjudged": unjudged}
    expected = reference_values(gerr, qrels, run, **params)
    assert values(GERR(**params), qrels, run) == close(expected)


# -- what must hold ----------------------------------------------------------------------------------

ONE_SUBTOPIC = st.dictionaries(DOC_IDS, WHOLE_GRADES, min_size=1).map(
    lambda grades: grades | {"relevant": 1}
)


@pytest.mark.slow_except("P@3")
@pytest.mark.parametrize(
    "base",
    words(
        "nDCG nDCG@5 AP(rel=2) P@3 RBP(p=0.5) ERR@10 Bpref Judged@4 CWL_ERR10(max_rel=5,unjudged='best') RBU LexiRecall"
    ),
)
@given(ONE_SUBTOPIC, rankings())
def test_ia_of_one_subtopic_is_the_base(base, grades, ranking):
    pytest.importorskip("pytrec_eval")
    measure = parse_measure(base)
    aligned = align(Judgments.from_qrels({"q": grades}), {"q": ranking})
    assert (
        IA(base=base).score(aligned).tolist() == values_of(measure, aligned, 1).tolist()
    )


@given(
    ONE_SUBTOPIC,
    rankings(),
    CUTOFFS,
    GAINS,
    st.lists(WHOLE_GRADES, max_size=5),
    st.data(),
)
def test_the_residual_of_gerr_brackets_the_value_for_any_further_judgments(
    grades, ranking, k, gain, below, choice
):
    measure = GERR(max_rel=4, gain=gain, cutoff=k)
    found = {
        bound: values(measure(unjudged=bound), {"q": grades}, {"q": ranking})["q"]
        for bound in ("worst", "best")
    }
    further = {doc: choice.draw(WHOLE_GRADES) for doc in ranking if doc not in grades}
    further |= {f"below{i}": grade for i, grade in enumerate(below)}
    deeper = without_ties({"q": ranking})
    deeper["q"] = deeper.get("q", {}) | {
        f"below{i}": -1000.0 - i for i in range(len(below))
    }
    value = values(measure, {"q": grades | further}, deeper)["q"]
    assert found["worst"] - 1e-14 <= value <= found["best"] + 1e-14


ALL = [
    parse_measure(text)
    for text in words(
        "alpha_DCG(alpha=0.3)@7 alpha_nDCG(alpha=0.3)@7 alpha_nDCG@50 ERR_IA@10 nERR_IA(judged_only=True)@10 "
        "NRBP(alpha=0.3) nNRBP(beta=0.9) AP_IA(rel=2) P_IA@5 StRecall@5 IA(base='nDCG')@10 IA(base='AP') "
        "IA(base='CWL_ERR11(max_rel=4)') D_nDCG DSharp@10 EU EU(alpha=0.3,e=0.1,gain='linear')@20 CT "
        "CT(alpha=0.3,saturation=0.7,gain='linear',max_rel=7)@20 SRR GERR(max_rel=4) GERR(max_rel=5,unjudged='best') "
        "GERR(max_rel=4.5,gain='linear',unjudged='best')@20"
    )
]


@pytest.mark.parametrize("measure", ALL, ids=str)
def test_queries_without_a_relevant_or_a_retrieved_document_score_0(measure):
    qrels = table(
        {"none": {"1": {"a": 0, "b": -1}}, "empty": {"1": {"a": 1}, "2": {"b": 2}}}
    )
    run = {"none": {"a": 3.0, "b": 2.0, "x": 1.0}, "other": {"a": 1.0}}
    expected = {"none": 0.0, "empty": 0.0}
    if (
        measure.NAME == "GERR" and measure["unjudged"] == "best"
    ):  # anything may be relevant, or follow
        options = {
            key: measure[key] for key in ("max_rel", "cutoff", "gain", "unjudged")
        }
        expected = {
            "none": gerr(["a", "b", "x"], {"a": 0, "b": -1}, **options),
            "empty": gerr([], {"a": 1}, **options),
        }
    assert values(measure, qrels, run) == close(expected)


# -- bad input ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("measure", "parts"),
    [
        (GERR(), ["GERR: max_rel is required"]),
        (GERR(max_rel=3, unjudged="average"), ["GERR: unjudged", "'worst', 'best'"]),
        (EU(alpha=1.5), ["EU: alpha", "at least 0 and at most 1", "1.5"]),
        (IA(base="nGCD"), ["IA: base='nGCD' cannot be used: unknown measure"]),
        (
            IA(base="P"),
            ["IA: base='P' cannot be used: P: the parameter 'cutoff' is required"],
        ),
        (
            IA(base="AP_IA") @ 10,
            ["IA: base='AP_IA' cannot be used: it cannot be cut at 10"],
        ),
        (IA(base="TOMA(aspects={'a':1})"), ["IA", "itself made of another measure"]),
    ],
    ids=str,
)
def test_a_parameter_out_of_range(measure, parts):
    with pytest.raises(ValueError, match=parts[0]) as caught:
        measure.validate_params()
    assert all(part in str(caught.value) for part in parts)


@pytest.mark.parametrize(
    "measure", [EU(max_rel=2), CT(max_rel=2), GERR(max_rel=2) @ 10], ids=str
)
def test_a_grade_above_the_scale(measure):
    qrels = table(
        {
            "q1": {"1": {"a": 2}, "2": {"b": 1}},
            "q2": {"1": {"c": 1}, "2": {"d": 3, "e": 4}},
        }
    )
    with pytest.raises(
        ValueError,
        match=rf"{measure.NAME}.*document 'd' of query 'q2' has grade 3, above max_rel=2 \(and 1 other",
    ):
        values(measure, qrels, {"q1": {"a": 1.0}})


@pytest.mark.parametrize("measure", [EU(max_rel=2), CT(max_rel=2)], ids=str)
def test_a_grade_above_the_scale_for_an_aspect_that_is_not_relevance(measure):
    qrels = table({"q": {"relevance": {"a": 2}, "quality": {"a": 3}}})
    with pytest.raises(
        ValueError, match="document 'a' of query 'q' has grade 3, above max_rel=2"
    ):
        values(measure, qrels, {"q": {"a": 1.0}})


@given(st.lists(ASPECT_IDS, min_size=2, max_size=2, unique=True))
def test_a_weight_that_differs_within_a_subtopic(names):
    qrels = table({"q": {t: {"a": 1, "b": 1} for t in names}}).assign(
        weight=[1, 1, 1, 2]
    )
    for measure in (IA(), D_nDCG(), EU(), CT()):
        with pytest.raises(ValueError, match="an aspect needs one weight per query"):
            values(measure, qrels, {"q": {"a": 1.0}})
