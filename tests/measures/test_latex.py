"""Formulas in LaTeX as plain text."""

from __future__ import annotations

import inspect

import pytest

import ir_lexirecall as irl
from ir_lexirecall.descriptions.describing import entries
from ir_lexirecall.measures import REGISTRY
from ir_lexirecall.measures.latex import plain_text

FORMULAS = {name: measure.ABOUT.formula for name, measure in REGISTRY.items()}
FORMULAS |= {name: about.formula for name, about in entries("measure").items()}


@pytest.mark.parametrize("name", FORMULAS)
def test_every_formula_becomes_text(name: str) -> None:
    text = plain_text(FORMULAS[name])
    assert "\\" not in text
    assert "{" not in text.replace("{", "", text.count("|{") + text.count("min{"))
    assert text.count("(") == text.count(")")
    assert "  " not in text
    assert text == text.strip()


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (r"\frac{a + b}{c}", "(a + b) / c"),
        (r"\frac{a}{b} c", "(a/b) c"),
        (r"\frac{a}{b} + c", "a/b + c"),
        (r"\frac{m (n - 1)}{m (n - m)}", "(m (n - 1)) / (m (n - m))"),
        (r"x^{i-1} y_{ij}", "x^(i-1) y_ij"),
        (r"\max_{i \ge c} \frac{i}{p_i}", "max over i >= c of i/p_i"),
        (r"\min(k, m)", "min(k, m)"),
        (r"\sum_{i<r} \binom{p_i - 1}{i}", "sum over i < r of C(p_i - 1, i)"),
        (r"\lfloor x\, n \rfloor", "floor(x n)"),
        (r"\left( 1 - \tfrac{1}{2} \right)^2", "(1 - 1/2)^2"),
        (r"\log_2(i + 1)", "log2(i + 1)"),
    ],
)
def test_parts_of_formulas(latex: str, text: str) -> None:
    assert plain_text(latex) == text


def test_a_formula_stands_once_and_is_in_the_docstring() -> None:
    page = irl.describe("GERR(max_rel=4)")
    assert page.plain == "sum over i of (r_i/i) product over j < i of (1 - r_j)"
    doc = inspect.getdoc(type(irl.GERR))
    assert doc is not None
    assert f"Formula: {page.plain}" in doc
    weighted = irl.LR(form="weighted", n=10).about()
    assert weighted.plain.startswith("sum over i = 1..m of w_i (n - p_i) / n")
