"""Measures from strings: as ir_measures reads them, on every Python, with what was meant where one is unknown."""

from __future__ import annotations

import ast
import re
import warnings

import ir_measures
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from ir_measures.measures.base import Measure as IRMeasure

import ir_lexirecall as irl
from ir_lexirecall import demo
from ir_lexirecall._util.measure_strings import UnknownMeasure, parse_measure
from ir_lexirecall.measures.parsing import known_measure, parse_measures
from ir_lexirecall.meta import Study

REFUSED = (
    NameError,
    SyntaxError,
    ValueError,
    TypeError,
    AttributeError,
    MemoryError,
    RecursionError,
)

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    READS = hasattr(ast, "Num")
reads_itself = pytest.mark.skipif(
    not READS, reason="ir_measures cannot read strings on this Python"
)


def content(measure: IRMeasure) -> tuple[type, list[tuple[str, type, object]]]:
    """What a measure is made of: 1, 1.0 and True are equal, but not the same parameter."""
    return type(measure), [
        (name, type(value), value) for name, value in measure.params.items()
    ]


def assert_as_ir_measures(text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            expected = ir_measures.parse_measure(text)
        except REFUSED:
            with pytest.raises(ValueError):  # noqa: PT011  # the messages are our own
                parse_measure(text)
            return
        calls = [
            node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)
        ]
        names = [keyword.arg for call in calls for keyword in call.keywords]
        if len(names) > len(set(names)):  # ir_measures takes the last
            with pytest.raises(ValueError, match="is given twice"):
                parse_measure(text)
        else:
            assert content(parse_measure(text)) == content(expected)


NAMES = st.sampled_from(
    [
        *sorted(ir_measures.measures.registry),
        "Nope",
        "map",
        "nDCG10",
        "1AP",
        "ir.AP",
        "AP()",
        "",
        "é",
    ]
)
KEYS = st.sampled_from(
    ["rel", "cutoff", "judged_only", "dcg", "aspects", "base", "self", "1", "**a", "p"]
)
LITERALS = st.one_of(
    st.integers(0, 2000).map(str),
    st.floats(0, 1e6).map(repr),
    st.text("abc'\"\\{}é \n", max_size=4).map(repr),
    st.booleans().map(str),
    st.sampled_from(
        [
            "None",
            "-1",
            "+1",
            "1j",
            "...",
            "b'x'",
            "'a' 'b'",
            "f'a'",
            "x",
            "[1]",
            "(1,)",
            "(1)",
            "{1}",
            "1+1",
        ]
    ),
    st.sampled_from(
        [
            "1_000",
            "0x10",
            "007",
            "1e400",
            "not 1",
            "lambda: 1",
            "u'x'",
            "''",
            "2 .real",
            "exit()",
            "nan",
        ]
    ),
)
VALUES = st.recursive(
    LITERALS,
    lambda inner: st.lists(st.tuples(inner, inner), max_size=3).map(
        lambda items: "{" + ",".join(f"{key}: {value}" for key, value in items) + "}"
    ),
    max_leaves=4,
)
BLANKS = st.sampled_from(["", "", "", " ", "\n", "#"])


@st.composite
def strings(draw: st.DrawFn) -> str:
    """Strings of measures, most of them nearly right."""
    parts = [draw(NAMES)]
    if draw(st.booleans()):
        params = draw(st.lists(st.tuples(KEYS, VALUES), max_size=3))
        positional = (
            draw(st.lists(VALUES, max_size=1)) if draw(st.integers(0, 9)) == 0 else []
        )
        parts.append(
            "("
            + ",".join(positional + [f"{key}={value}" for key, value in params])
            + ")"
        )
    for _ in range(draw(st.sampled_from([0, 1, 1, 1, 2]))):
        parts += ["@", draw(VALUES)]
    parts.append(
        draw(
            st.sampled_from(
                [""] * 8
                + [";", ",", "; AP", "= 1", ".calc_aggregate", "[0]", " nDCG", "()"]
            )
        )
    )
    return "".join(draw(BLANKS) + part for part in parts)


@reads_itself
@given(strings())
@example("AP(rel=2)@10")
@example("AP@None")
@example("AP(rel=-1)")
@example("AP(rel=1,rel=2)")
@example("TOMA(aspects={'a':1,'b':{'c':2}})@5")
@example("IPrec@0.1")
@example("AP@" + "9" * 5000)
@example("AP(rel=" + "(" * 150 + "1" + ")" * 150 + ")")
@example("(" * 5000)
@example("AP@" + "-" * 5000 + "1")
@example("AP\0")
@example("(AP)@10")
@example("AP(**{'rel': 1})")
@example("AP(self=1)")
@example("{**{}}")
@example("AP(rel={**{}})")
@example("AP(rel={{}: 1})")
def test_strings_are_read_as_ir_measures_reads_them(text: str) -> None:
    assert_as_ir_measures(text)


@reads_itself
@given(st.text("APnDCG@10(rel=2,)'\"{}:. -\n", max_size=20))
def test_odd_strings_are_read_as_ir_measures_reads_them(text: str) -> None:
    assert_as_ir_measures(text)


OURS = [
    "TSE(exposure='nDCG',n=1000)@10",
    "LexiRecall(form='weighted',n=5)",
    "RBU(p=0.5,e=0.1)",
    "CWL_ERR8(max_rel=3)@5",
    "TOMA(aspects={'a':{0:0,1:1},'b':1},base='AP@5')",
    "CAM(aspects={'a':1},weights={'a':0.5})",
    "IA(base='AP',judged_only=True)@5",
]


@reads_itself
@pytest.mark.parametrize("text", OURS)
def test_ir_measures_reads_our_strings(text: str) -> None:
    assert_as_ir_measures(text)
    assert str(ir_measures.parse_measure(text)) == text


@pytest.mark.parametrize("name", sorted(ir_measures.measures.registry))
def test_every_registered_name_is_read(name: str) -> None:
    assert content(parse_measure(name)) == content(ir_measures.measures.registry[name])


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("P(rel=2)@10", {"rel": 2, "cutoff": 10}),
        ("nDCG(dcg='exp-log2')@5", {"dcg": "exp-log2", "cutoff": 5}),
        ("AP(judged_only=True)", {"judged_only": True}),
        ("IPrec@0.25", {"recall": 0.25}),
        ("nDCG(gains={0: 1, 1: 4})", {"gains": {0: 1, 1: 4}}),
    ],
)
def test_values_of_parameters(text: str, value: dict[str, object]) -> None:
    measure = parse_measure(text)
    assert measure.params == value
    assert [type(v) for v in measure.params.values()] == [
        type(v) for v in value.values()
    ]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "Nope",
            "unknown measure 'Nope'; the command ir-lexirecall measures lists all",
        ),
        (
            "gm_map",
            "unknown measure 'gm_map'; trec_eval's gm_map is not here; use np.exp",
        ),
        (
            "iprec_at_recall_0.10",
            "is called IPrec_TE@0.1 here (trec_eval 9: IPrec@0.1, or IPrec_TE(version=9)@0.1)",
        ),
        ("recall", "trec_eval's recall is called R@k here"),
        ("nDCG10", "unknown measure 'nDCG10'; did you mean nDCG@10?"),
        ("recal", "unknown measure 'recal'; did you mean R (Recall) or LexiRecall?"),
        ("recal@10", "did you mean R@10 (Recall) or LexiRecall@10?"),
        ("lexi", "did you mean LexiRecall?"),
        ("ndcg_20", "unknown measure 'ndcg_20'; did you mean nDCG@20?"),
        ("NERR12", "did you mean NERR1"),
        ("ndgc@10", "unknown measure 'ndgc@10'; did you mean nDCG@10?"),
        ("TES(rel=2)", "unknown measure 'TES(rel=2)'; did you mean TSE(rel=2)?"),
        ("AP nDCG@10", "give several measures as a list"),
        ("AP, nDCG@10", "give several measures as a list"),
        (
            "AP(10)",
            "'AP(10)': parameters must be named; write Name(parameter=value, ...)@cutoff",
        ),
        (
            "AP(rel=-1)",
            "'AP(rel=-1)': rel must not be negative, as -1 is",
        ),
        (
            "AP(rel={'a': [1]})",
            "rel must be a number, text, True, False, None or a dict of them, not [1]",
        ),
        ("TSE(rel", "'TSE(rel' is not a measure: '(' was never closed"),
        ("ir_measures.AP", "'ir_measures.AP' is not a measure"),
        ("AP = 1", "'AP = 1' is not one measure"),
        ("TSE(cutof=3)", "TSE has no parameter 'cutof'"),
        ("AP(cutof=3)", "AP has no parameter 'cutof'"),
        ("AP@0", "AP@0: the cutoff must be at least 1"),
        ("P@1.5", "P@1.5: the cutoff must be a whole number, not 1.5"),
        ("nDCG@2.5", "nDCG@2.5: the cutoff must be a whole number, not 2.5"),
    ],
)
def test_what_is_said_of_strings_that_are_not_measures(text: str, says: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011  # says more below
        parse_measures(text)
    assert says in str(caught.value)


def test_only_what_no_registered_name_explains_is_unknown() -> None:
    with pytest.raises(UnknownMeasure):
        parse_measure("Nope")
    with pytest.raises(ValueError, match="must not be negative, as -1 is") as caught:
        parse_measure("AP@-1")
    assert not isinstance(caught.value, UnknownMeasure)


@pytest.mark.parametrize("measure", [3, None, ["AP"], b"AP", 2.5, int])
def test_what_is_no_measure_at_all(measure: object) -> None:
    with pytest.raises(
        ValueError, match="expected a measure such as TSE or 'nDCG@10', got"
    ):
        parse_measures({"x": measure})  # type: ignore[dict-item]


@pytest.mark.parametrize(
    ("name", "measure"),
    [
        ("map", "AP"),
        ("P_5", "P@5"),
        ("nDCG@10", "nDCG@10"),
        ("gm_map", "None"),
        ("answer_relevancy", "None"),
        ("P", "None"),
    ],
)
def test_a_name_of_ours_or_of_trec_eval_is_known(name: str, measure: str) -> None:
    assert str(known_measure(name)) == measure


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("hits@1", "it is Success@1 here"),
        ("acc", "it is Success@k here"),
        ("mrr10", "did you mean RR@10?"),
    ],
)
def test_names_of_other_programs_that_may_mean_several_things(
    text: str, meant: str
) -> None:
    with pytest.raises(
        ValueError, match=re.escape(f"unknown measure {text!r}; {meant}") + "$"
    ):
        parse_measures(text)


@pytest.mark.parametrize(
    ("text", "measure"),
    [
        # trec_eval
        ("map", "AP"),
        ("ndcg_cut_10", "nDCG@10"),
        ("ndcg_cut.10", "nDCG@10"),
        ("P_10", "P@10"),
        ("recip_rank", "RR"),
        ("set_F", "SetF"),
        # ranx
        ("mrr", "RR"),
        ("map@100-l2", "AP(rel=2)@100"),
        ("ndcg_burges@5", "nDCG(dcg='exp-log2')@5"),
        ("dcg@5", "DCG@5"),
        ("f1@5", "F1@5"),
        ("hit_rate@10", "Success@10"),
        ("r-precision", "Rprec"),
        # BEIR and sentence-transformers
        ("ndcg@10", "nDCG@10"),
        ("recall@100", "R@100"),
        ("accuracy@1", "Success@1"),
        ("mrr_at_10", "RR@10"),
        ("recall_cap@10", "R_cap@10"),
        ("HR@10", "Success@10"),
        ("average_precision", "AP"),
    ],
)
def test_names_of_other_programs_are_taken_and_print_as_what_they_mean(
    text: str, measure: str
) -> None:
    [(label, parsed)] = parse_measures(text).items()
    assert (label, str(parsed)) == (measure, measure)
    assert list(parse_measures({text: text})) == [text]


def test_every_door_takes_them() -> None:
    qrels, runs = demo.qrels(), demo.runs()
    assert list(irl.evaluate(["map", "AP", "ndcg@10"], qrels, runs["bm25"])) == [
        "AP",
        "nDCG@10",
    ]
    compared = irl.compare(qrels, runs, ["map", "lexirecall"])
    assert compared.criteria == ["AP", "lexirecall"]
    assert irl.describe("recall@100").measure == "R@100"
    assert Study(["map"], qrels, runs).ties(aggregate=True)["measure"].tolist() == [
        "AP"
    ]


@pytest.mark.parametrize(
    "text",
    [
        "nDCG(cutoff=10)@5",
        "LR(cutoff=10)@5",
        "P(cutoff=5, rel=2)@10",
        "WSS(r=0.9)@0.95",
    ],
)
def test_two_cutoffs_are_one_too_many(text: str) -> None:
    with pytest.raises(ValueError, match=r"has two cutoffs, .* and .*; leave one out"):
        parse_measures(text)


def test_the_same_cutoff_twice_is_one() -> None:
    assert parse_measure("nDCG(cutoff=10)@10") == ir_measures.nDCG @ 10


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("AP@True", "cutoff must be a number, not True"),
        ("nDCG@False", "cutoff must be a number, not False"),
        ("TSE@True", "cutoff must be a number, not True"),
        ("AP(rel=True)", "rel must be a number, not True"),
        ("LR(rel=False)", "rel must be a number, not False"),
        ("IPrec@1.1", "recall must be between 0 and 1, not 1.1"),
    ],
)
def test_parameters_that_no_ranking_can_meet_are_refused(
    text: str, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        parse_measures([text])
