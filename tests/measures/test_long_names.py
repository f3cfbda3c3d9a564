"""Measure strings and names of columns of a million characters are read in time linear in it."""

import contextlib

import pytest

import ir_lexirecall as irl
from ir_lexirecall.io.measure_names import equivalent, known, trec_eval_name
from ir_lexirecall.measures.latex import plain_text
from ir_lexirecall.measures.parsing import known_measure, parse_one
from ir_lexirecall.preferences.naming import parse_preference

LONG = 2**20
NAMES = {
    "blanks": "AP" + " " * LONG + "x y",
    "blanks and commas": "AP" + " ," * (LONG // 2) + "x",
    "blanks in front": " " * LONG + "AP",
    "opened": "AP" + "(" * LONG,
    "opened with blanks": "AP" + "( " * (LONG // 2),
    "opened and ended": "AP" + "( )" * (LONG // 3),
    "closed": "AP" + ")" * LONG,
    "digits": "P_" + "1" * LONG + "x",
    "digits alone": "1" * LONG + "x",
    "digits and letters": "a1" * (LONG // 2),
    "digits and dots": "iprec_at_recall_" + "1." * (LONG // 2) + "x",
    "underscores": "P" + "_1" * (LONG // 2) + "x",
    "cutoffs": "P" + "_at_1" * (LONG // 5) + "x",
    "at signs": "P" + "@1" * (LONG // 2),
    "lines": "P(" * (LONG // 2) + "\n",
    "statements": "{}\n" * (LONG // 3),
    "words": "<num>" * (LONG // 5),
    "letters": "a" * LONG,
    "capitals": "aA" * (LONG // 2),
}


@pytest.mark.slow_except("lines")
@pytest.mark.parametrize("name", NAMES)
def test_long_names(name):
    text = NAMES[name]
    with pytest.raises(ValueError, match="measure") as caught:
        parse_one(text)
    assert len(str(caught.value)) < 1000
    assert known_measure(text) is None
    assert equivalent(text) is None
    assert trec_eval_name(text) == text
    known(text)


@pytest.mark.parametrize("name", ["blanks", "blanks in front", "opened", "letters"])
def test_long_names_of_preferences(name):
    with contextlib.suppress(ValueError):
        assert parse_preference(NAMES[name]) is None


@pytest.mark.parametrize(
    ("text", "several"),
    [
        ("AP nDCG@10", True),
        ("AP, nDCG@10", True),
        ("AP,nDCG", True),
        ("RBU(p=0.9, e=(1)) AP", True),
        ("RBU(p=0.9, e=)", False),
        ("AP ,, nDCG", False),
        ("AP@", False),
        ("AP(rel= 1, x y)", False),
    ],
)
def test_several_measures_in_one_string(text, several):
    with pytest.raises(ValueError, match=r"not (a|one) measure") as caught:
        parse_one(text)
    assert str(caught.value).endswith("; give several measures as a list") == several


@pytest.mark.parametrize(
    ("text", "hint"), [("nDCG10", "nDCG@10"), ("ndcg_5", "nDCG@5"), ("R1000", "R@1000")]
)
def test_cutoffs_without_an_at_sign(text, hint):
    with pytest.raises(ValueError, match=f"did you mean {hint}[?]$"):
        irl.evaluate(text, {"q": {"a": 1}}, {"q": {"a": 1.0}})


@pytest.mark.parametrize("unit", ["_a", "a_a", "a_a."])
def test_long_names_in_formulas(unit):
    name = unit * 50_000
    assert plain_text(rf"\frac{{{name}! - 1}}{{m}}") == f"({name}! - 1) / m"
