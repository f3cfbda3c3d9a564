"""One ranked list: the values of ``evaluate``, quickly, without tables."""

from __future__ import annotations

import re
import warnings
from collections import deque
from collections.abc import Callable
from itertools import chain, compress, dropwhile, filterfalse, islice, takewhile
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import reference
from fresh import python
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import AP

import ir_lexirecall as irl
from tests.conftest import collections, subtopic_collections, words

MEASURES = st.sampled_from(
    words(
        "AP AP@7 P@5 Success@2 nDCG nDCG(dcg='exp-log2')@4 AP(rel=2) nDCG@3 LR@5 TSE RR R@4 RBP(p=0.8) "
        "CWL_ERR10(max_rel=4) Bpref Rprec Rndcg SL3(n=500)"
    )
)


@given(collections(st.integers(-1, 4)), MEASURES)
def test_values_are_those_of_evaluate(collection: Any, measure: str) -> None:
    qrels, run = collection
    score = irl.scorer(measure)
    expected = irl.evaluate(measure, qrels, run)[measure]
    rankings = {q: reference.order(run.get(q, {})) for q in qrels}
    for q, grades in qrels.items():
        assert score(rankings[q], grades) == expected[q]  # bit for bit
        assert score(rankings[q], dict(grades)) == score(rankings[q], grades)  # kept
    found = score.batch([rankings[q] for q in qrels], list(qrels.values()))
    assert found.tolist() == [expected[q] for q in qrels]


@given(
    subtopic_collections(st.integers(0, 3)),
    st.sampled_from(
        ["RBU@5", "IA(base='AP')", "SRR", "EU(max_rel=3)", "StRecall@3", "AP"]
    ),
)
def test_subtopics_are_those_of_evaluate(collection: Any, measure: str) -> None:
    qrels, run = collection
    rows = [
        irl_row(q, t, d, g)
        for q, aspects in qrels.items()
        for t, docs in aspects.items()
        for d, g in docs.items()
    ]
    if not rows:
        return
    expected = irl.evaluate(measure, rows, run)[measure]
    score = irl.scorer(measure)
    by_doc: dict[str, dict[str, dict[str, float]]] = {}
    for row in rows:
        by_doc.setdefault(row.query_id, {}).setdefault(row.doc_id, {})[
            row.iteration
        ] = row.relevance
    rankings = {q: reference.order(run.get(q, {})) for q in by_doc}
    for q, docs in by_doc.items():
        assert score(rankings[q], docs) == pytest.approx(expected[q], rel=1e-13)
    found = score.batch([rankings[q] for q in by_doc], list(by_doc.values()))
    assert found.tolist() == pytest.approx([expected[q] for q in by_doc], rel=1e-13)


def irl_row(query: str, aspect: str, doc: str, grade: float) -> Any:
    import ir_measures

    return ir_measures.Qrel(query, doc, grade, aspect)


def test_rel_is_that_of_the_scorer_unless_the_measure_names_one() -> None:
    grades = {"a": 1, "b": 2}
    assert irl.scorer("RR", rel=2)(["a", "b"], grades) == 0.5
    assert irl.scorer("RR(rel=1)", rel=2)(["a", "b"], grades) == 1
    assert irl.scorer(irl.TSE, rel=2)(["a", "b"], grades) == 0.5
    assert repr(irl.scorer("LR@100", rel=2)) == "scorer('LexiRecall(rel=2)@100')"
    assert irl.scorer("SL3").smaller_is_better


def test_changed_judgments_are_not_those_kept() -> None:
    score, grades = irl.scorer("RR"), {"a": 1, "b": 0}
    assert score(["a", "b"], grades) == 1
    grades.update(a=0, b=1)
    assert score(["a", "b"], grades) == 0.5
    nested = {"a": {"t": 1}}
    assert irl.scorer("StRecall@1")(["a"], nested) == 1
    strecall = irl.scorer("StRecall@1")
    assert strecall(["a"], nested) == 1
    nested["a"]["t"] = 0
    assert strecall(["a"], nested) == 0


def test_nothing_found_and_nothing_to_find() -> None:
    score = irl.scorer("AP")
    assert score([], {"a"}) == score(["a"], set()) == score([], {}) == 0
    assert score.batch([], []).tolist() == []


@pytest.mark.parametrize(
    ("ranking", "relevant", "message"),
    [
        (
            ["a", "b", "a"],
            ["a"],
            "document 'a' appears twice in the ranking; keep the first",
        ),
        ("abc", ["a"], "expected ids of documents, best first, got 'abc'"),
        ({"a": 1.0}, ["a"], "expected ids of documents, best first"),
        (["a"], "abc", "expected ids of relevant documents"),
        (["a", None], ["a"], "ids must be strings or integers, but one is None"),
        (
            ["a"],
            {"a": "high"},
            "the grade of document 'a' is 'high', not a finite number",
        ),
        (["a"], {"a": float("nan")}, "the grade of document 'a' is nan"),
        (
            ["a"],
            {"a": {"t": 1}, "b": 1},
            "document 'b' has the grade 1, others have grades for subtopics",
        ),
        (["a"], {"a": {"t": "x"}}, "the grade of document 'a' for 't' is 'x'"),
        (["a"], {1: 1, "1": 1}, "an id occurs as a string and as an integer"),
    ],
)
def test_bad_input_is_named(ranking: Any, relevant: Any, message: str) -> None:
    with pytest.raises(ValueError, match=rf"^scorer\('AP'\): .*{message}"):
        irl.scorer("AP")(ranking, relevant)
    with pytest.raises(ValueError, match=rf"^scorer\('AP'\)\.batch: .*{message}"):
        irl.scorer("AP").batch([ranking], [relevant])


def test_unknown_measures_are_named() -> None:
    with pytest.raises(
        ValueError, match=r"scorer: unknown measure 'LRR'; did you mean"
    ):
        irl.scorer("LRR")
    with pytest.raises(ValueError, match="2 rankings, but relevant documents for 1"):
        irl.scorer("AP").batch([["a"], ["b"]], [["a"]])


def test_no_tables_are_imported() -> None:
    code = (
        "import sys, ir_lexirecall as irl\n"
        "score = irl.scorer('LR@100')\n"
        "score(['a', 'b'], {'a': 1}); score.batch([['a']], [['a']]); irl.scorer('RBU@5')(['a', 'b'], {'a': {'t': 1}, 'b': {'u': 1}})\n"
        "irl.scorer('nDCG@10')(['a'], ['a'])\n"
        "print(sorted({'pandas', 'polars', 'pyarrow'} & set(sys.modules)))"
    )
    assert python(code) == "[]"


# -- rankings without order ------------------------------------------------------------------------

_SCORES = {"a": 3.0, "x": 2.0, "b": 1.0}


@pytest.mark.parametrize(
    "ranking",
    [
        {"a", "x", "b"},
        frozenset(["a", "x", "b"]),
        _SCORES.keys(),
        _SCORES.items(),
        _SCORES,
        iter({"a", "x", "b"}),
        iter(_SCORES),
        map(str, {"a", "x", "b"}),
        filter(None, {"a", "x", "b"}),
        (doc for doc in {"a", "x", "b"}),
        map(str.lower, (doc for doc in filter(None, {"a", "x", "b"}))),
        (doc for doc in _SCORES),
        islice({"a", "x", "b"}, 2),
        islice(iter(_SCORES), 1, None),
        chain({"a", "x"}, ["b"]),
        chain(["a"], {"x", "b"}),
        chain.from_iterable([["a"], {"x", "b"}]),
        takewhile(len, {"a", "x", "b"}),
        dropwhile(len, filter(None, {"a", "x", "b"})),
        filterfalse(None, {"a", "x", "b"}),
        compress({"a", "x", "b"}, [1, 1]),
        "axb",
        b"axb",
        pd.DataFrame({"doc_id": ["a", "x", "b"]}),
        pl.DataFrame({"doc_id": ["a", "x", "b"]}),
        np.array({"a", "x", "b"}),
        np.array(_SCORES),
        np.array("axb"),
        np.array(7),
        7,
        None,
    ],
    ids=lambda ranking: type(ranking).__name__,
)
@pytest.mark.parametrize("measure", ["LR", "nDCG", "TSE(n=9)"])
def test_a_ranking_without_order_is_refused(ranking: Any, measure: str) -> None:
    for call in (
        lambda: irl.scorer(measure)(ranking, {"a", "b"}),
        lambda: irl.scorer(measure).batch([ranking], [{"a", "b"}]),
    ):
        with pytest.raises(
            ValueError, match=r"^scorer\('.*'\)(\.batch)?: .*best first"
        ):
            call()


@pytest.mark.parametrize(
    "ranking",
    [
        ["a", "x", "b"],
        ("a", "x", "b"),
        np.array(["a", "x", "b"]),
        np.array(["a", "x", "b"], dtype=object),
        pd.Series(["a", "x", "b"], index=[2, 1, 0]),
        pd.Index(["a", "x", "b"]),
        pl.Series(["a", "x", "b"]),
        iter(["a", "x", "b"]),
        (doc for doc in ["a", "x", "b"]),
        map(str, ["a", "x", "b"]),
        filter(None, (doc for doc in ("a", "x", "b"))),
        islice(["a", "x", "b", "c"], 3),
        chain(["a"], ("x", "b")),
        chain.from_iterable(iter([["a", "x"], ["b"]])),
        takewhile(len, chain(["a"], iter(["x", "b"]))),
        filterfalse({"c"}.__contains__, ["a", "x", "c", "b"]),
        compress(["a", "x", "c", "b"], [1, 1, 0, 1]),
        deque(["a", "x", "b"]),
        sorted(_SCORES, key=_SCORES.__getitem__, reverse=True),
        {1: "a", 2: "x", 3: "b"}.values(),
    ],
    ids=lambda ranking: type(ranking).__name__,
)
def test_a_ranking_in_order_is_taken(ranking: Any) -> None:
    assert irl.scorer("AP")(ranking, frozenset(["a", "b"])) == (1 + 2 / 3) / 2


@pytest.mark.parametrize("labels", [[1, 0], (0, 1), np.array([1, 0]), [3, 1], [2]])
@pytest.mark.parametrize("measure", ["AP", "LR", "nDCG@10"])
def test_labels_beside_a_ranking_of_words_are_no_ids(labels: Any, measure: str) -> None:
    for call in (
        lambda: irl.scorer(measure)(["d1", "d2"], labels),
        lambda: irl.scorer(measure).batch([["d1", "d2"]], [labels]),
    ):
        with pytest.raises(
            ValueError,
            match=r"got integers .* while the ranking has 'd1'; if they are labels",
        ):
            call()


def test_ids_may_be_integers_in_any_form() -> None:
    score = irl.scorer("AP")
    assert score([2, 3], [2]) == score(["2", "3"], [2]) == score([2, 3], ["2"]) == 1
    assert score(["d1", "2"], [2, 5]) == 0.25
    assert score([], [2]) == score(["d1"], ["2"]) == score(["d1"], []) == 0


def test_rankings_are_paired_with_relevant_documents_in_order() -> None:
    with pytest.raises(ValueError, match="give two lists, not set"):
        irl.scorer("AP").batch({("a", "b"), ("b",)}, [{"a"}, {"b"}])
    with pytest.raises(ValueError, match="give two lists, not dict"):
        irl.scorer("AP").batch([["a"]], {"q": {"a"}})
    with pytest.raises(ValueError, match="give two lists, not generator"):
        irl.scorer("AP").batch((ids for ids in [["a"]]), [{"a"}])
    with pytest.raises(ValueError, match="give two lists, not NoneType"):
        irl.scorer("AP").batch([["a"]], None)
    with pytest.raises(ValueError, match="give two lists, not ndarray"):
        irl.scorer("AP").batch(np.array({"a"}), [{"a"}])


def test_a_set_that_numpy_holds_is_a_set() -> None:
    with pytest.raises(ValueError, match="be a list or tuple, best first, not set: "):
        irl.scorer("nDCG@10")(np.array({"a", "x", "b"}), {"a", "b"})
    with pytest.raises(
        ValueError, match="a list or tuple, best first, not dict_keys: "
    ):
        irl.scorer("nDCG@10")({"a": 2, "b": 1}.keys(), {"a", "b"})


@pytest.mark.parametrize("relevant", [None, 3, b"a", "a", np.array({"a"})], ids=repr)
def test_what_is_neither_ids_nor_grades_is_refused(relevant: Any) -> None:
    with pytest.raises(ValueError, match="expected ids of relevant documents"):
        irl.scorer("AP")(["a"], relevant)
    with pytest.raises(ValueError, match="expected ids of relevant documents"):
        irl.scorer("AP").batch([["a"]], [relevant])


def test_a_column_of_grades_is_not_taken_for_ids() -> None:
    """Its values are grades, which would be read as ids that no ranking has."""
    for grades in ({"a": 1, "b": 0}, {"a": 0.5, "b": 2.0}, {"a": True, "b": False}):
        with pytest.raises(ValueError, match=r"got a column of numbers .* give column"):
            irl.scorer("nDCG")(["a", "b"], pd.Series(grades))
        assert irl.scorer("nDCG")(["a", "b"], pd.Series(grades).to_dict()) > 0
    judged = pd.DataFrame({"doc_id": [7, 8, 9], "relevance": [0, 1, 1]})
    relevant = judged[judged["relevance"] > 0]["doc_id"]
    assert irl.scorer("AP")([8, 9], relevant) == 1
    assert irl.scorer("AP")(["8", "9"], relevant.astype(str)) == 1


def test_a_table_of_relevant_documents_is_refused() -> None:
    with pytest.raises(ValueError, match="give its column of ids"):
        irl.scorer("AP")(["a"], pd.DataFrame({"doc_id": ["a"]}))


@pytest.mark.parametrize("measure", ["AP", "LR", "CWL_RBP(max_rel=1)"])
def test_labels_below_1_warn(measure: str) -> None:
    with pytest.warns(UserWarning, match="no grade of a query is high enough"):
        assert irl.scorer(measure)(["a"], {"a": 0.7}) == 0
    with pytest.warns(UserWarning, match="no grade of a query is high enough"):
        irl.scorer(measure).batch([["a"]], [{"a": 0.7}])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        irl.scorer("nDCG")(["a"], {"a": 0.7})
        irl.scorer("LR", rel=0.5)(["a"], {"a": 0.7})
        irl.scorer(measure)(["a"], {"a": 0.0})


@pytest.mark.parametrize("measure", ["AP", "P@1", "RR"])
@pytest.mark.parametrize("label", [0.9, 0.5, 0.3])
def test_the_way_out_of_labels_below_1_can_be_taken(measure: str, label: float) -> None:
    labels = {"a": label, "b": 0.0}
    level = min(label, 0.5)
    way_out = re.escape(
        f"{{doc: int(label >= {level:g}) for doc, label in labels.items()}}"
    )
    with pytest.warns(
        UserWarning, match=f"give labels of 0 and 1, such as {way_out}, or"
    ):
        irl.scorer(measure)(["a"], labels)
    binary = {doc: int(label >= level) for doc, label in labels.items()}
    assert irl.scorer(measure)(["a"], binary) == 1


@pytest.mark.parametrize(
    "make",
    [
        lambda: irl.scorer("AP", rel=0.5),
        lambda: irl.scorer("AP(rel=0.5)"),
        lambda: irl.scorer(AP(rel=0.5)),
    ],
)
def test_a_fraction_as_rel_is_refused_without_a_word_of_qrels(
    make: Callable[[], Any],
) -> None:
    with pytest.raises(ValueError, match=r"^scorer: AP\(rel=0.5\): .*") as refused:
        make()
    assert "labels of 0 and 1, such as {doc: int(label >= 0.5)" in str(refused.value)
    assert "qrels" not in str(refused.value)
    with pytest.raises(ValueError, match=r"load the qrels with levels=\[0.5\]"):
        irl.evaluate("AP(rel=0.5)", {"q": {"a": 1}}, {"q": {"a": 1.0}})


LABELS = {
    "labels": [1, 0, 1],
    "labels of one document": [0, 0, 1],
    "no label above 0": (0, 0, 0),
    "a document and its grade": ("a", 2),
    "texts and numbers": ["a", "b", 3],
    "a document and its grade in a list": [["a", 2]],
}


@pytest.mark.parametrize("relevant", LABELS.values(), ids=LABELS)
@pytest.mark.parametrize("measure", ["AP", "nDCG@10", "TSE"])
def test_labels_are_not_taken_for_ids(measure: str, relevant: Any) -> None:
    expected = "expected ids of relevant documents, got|ids must be strings or integers"
    for call in (
        lambda: irl.scorer(measure)(["a", "b", "c"], relevant),
        lambda: irl.scorer(measure).batch([["a", "b", "c"]], [relevant]),
    ):
        with pytest.raises(ValueError, match=expected):
            call()


@pytest.mark.parametrize("relevant", [[1], [0, 1], {1, 0}, [7, 8, 7], ["1", "0", "1"]])
def test_numbers_that_may_be_ids_are_taken(relevant: Any) -> None:
    assert irl.scorer("AP")([7, 1, 8], relevant) > 0


@pytest.mark.parametrize("measure", ["AP", "nDCG@10", "TSE"])
def test_generators_that_were_read_before_are_refused(measure: str) -> None:
    for spent in ((doc for doc in ["a"]), (doc for doc in _documents())):
        list(spent)
        for ranking, relevant in ((["a"], spent), (spent, ["a"])):
            with pytest.raises(ValueError, match="read only once: give a list"):
                irl.scorer(measure)(ranking, relevant)
    assert irl.scorer(measure)(_documents(), _documents()) == 1


def _documents() -> Any:
    yield "a"
