"""``describe``: every measure has a page, and what the page says is true."""

from __future__ import annotations

import dataclasses
import html
import re
from html import unescape
from typing import Any

import ir_measures
import pytest

import ir_lexirecall as irl
from ir_lexirecall import significance
from ir_lexirecall._util.arrays import Floats
from ir_lexirecall._util.measure_strings import parse_measure
from ir_lexirecall.data.aligned_run import AlignedRun
from ir_lexirecall.descriptions.describing import _sections, entries, source
from ir_lexirecall.measures.about import About
from ir_lexirecall.measures.declaration import REGISTRY, UNIT
from ir_lexirecall.measures.parameters import cutoff
from ir_lexirecall.preferences import functions as preferences

OURS = {
    measure.NAME
    for measure in REGISTRY.values()
    if type(measure).__module__.startswith("ir_lexirecall.")
}
THEIRS = {
    measure.NAME
    for measure in ir_measures.measures.registry.values()
    if type(measure).__module__.startswith("ir_measures.")
}
NAMES = OURS | THEIRS


def test_everything_is_described_and_nothing_else() -> None:
    assert set(entries("measure")) == THEIRS - OURS
    assert all(REGISTRY[name].ABOUT.formula for name in OURS)
    assert set(entries("preference")) == set(preferences.NAMES)
    assert set(entries("test")) == set(significance.TESTS)


@pytest.mark.parametrize("name", sorted(OURS))
def test_what_is_said_of_values_is_their_range(name: str) -> None:
    told = re.match(r"0 to (less than )?1\b|", REGISTRY[name].ABOUT.values)[0]
    assert not told or REGISTRY[name].RANGE == UNIT, (
        f"{name}: say RANGE = UNIT, {told!r} follows"
    )


@pytest.mark.parametrize("name", [*preferences.NAMES, *significance.TESTS])
def test_preferences_and_tests_are_described(name: str) -> None:
    page = irl.describe(name)
    assert page.name == page.measure == name
    assert all((page.title, page.meaning, page.ties, page.use, page.see_also))
    assert set(page.see_also) <= NAMES | set(preferences.NAMES) | set(
        significance.TESTS
    )
    assert bool(page.source.bibtex) == (name in preferences.NAMES)
    assert str(page).startswith(f"{name}: {page.title}\n")


@pytest.mark.parametrize("name", sorted(NAMES))
def test_the_example_can_be_recomputed(name: str) -> None:
    example = irl.describe(name).example
    assert example is not None
    assert name == parse_measure(example.measure).NAME
    value = irl.evaluate(example.measure, example.qrels, example.run).iloc[0, 0]
    assert value == pytest.approx(example.value, rel=1e-9)
    assert f"{example.value:.4g}" in str(example)


@pytest.mark.parametrize("name", sorted(NAMES))
def test_a_page_is_complete(name: str) -> None:
    page = irl.describe(name)
    texts = [
        getattr(page, field)
        for field in ("title", "meaning", "formula", "plain", "symbols")
    ]
    texts += [getattr(page, field) for field in ("values", "zero", "ties", "use")]
    assert all(isinstance(text, str) and text for text in texts)
    assert "$" not in page.formula
    assert page.formula.count("{") == page.formula.count("}")
    assert page.source.bibtex.startswith("@") if page.source.key else page.source.line
    assert page.see_also
    assert set(page.see_also) <= NAMES - {name}
    measure = ir_measures.measures.registry[name]
    parameters = {item.name.removeprefix("@"): item for item in page.parameters}
    assert list(parameters) == list(measure.SUPPORTED_PARAMS)
    for key, param in measure.SUPPORTED_PARAMS.items():
        assert (parameters[key].default == "required") == param.required
        assert parameters[key].meaning
        assert parameters[key].allowed
    for text in (*texts, str(page.example)):
        assert text in html.unescape(page._repr_html_()) or text == page.plain


@pytest.mark.parametrize("name", sorted(NAMES))
def test_zero_is_what_an_empty_ranking_has(name: str) -> None:
    """An empty ranking is the plainest case of what every page says of 0; those that are better when smaller may differ.

    WSS and ERF are 0 where reading at random would do as well; who finds nothing does worse.
    """
    example = irl.describe(name).example
    assert example is not None
    measure = parse_measure(example.measure)
    value = irl.evaluate(example.measure, example.qrels, {"other": {"x": 1.0}}).iloc[
        0, 0
    ]
    if name in ("WSS", "ERF"):
        assert value < 0
    else:
        assert value == 0 or getattr(measure, "SMALLER_IS_BETTER", False)


def test_the_page_is_of_this_measure() -> None:
    page = irl.describe("RBU(p=0.9)@20")
    assert (page.name, page.measure, page.title) == (
        "RBU",
        "RBU(p=0.9)@20",
        "Rank-Biased Utility",
    )
    shown = {item.name: item.shown for item in page.parameters}
    assert (shown["@cutoff"], shown["p"], shown["e"]) == (
        "@cutoff = 20",
        "p = 0.9",
        "e",
    )
    assert irl.describe(irl.RBU(p=0.9) @ 20) == page
    assert irl.describe(irl.RBU).measure == "RBU"
    assert str(page).startswith("RBU(p=0.9)@20: Rank-Biased Utility\n")
    with pytest.raises(dataclasses.FrozenInstanceError):
        page.name = "x"  # type: ignore[misc]


@pytest.mark.parametrize("text", ["TOMA", "CWL_ERR10", "P", "INSQ"])
def test_what_a_measure_requires_may_be_missing(text: str) -> None:
    assert irl.describe(text).measure == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("LRR", "describe: .*did you mean"),
        ("lexirecal", "did you mean LexiRecall"),
        ("RBU(p=2)", "describe: RBU: p must be a number above 0 and at most 1, not 2"),
        (
            "CWL_ERR10(phi=3)",
            "describe: CWL_ERR10: phi must be a number of at least 0 and below 1, not 3",
        ),
        ("P(foo=1)", "P has no parameter 'foo'"),
        ("IA(base='P')", "describe: IA: base='P' cannot be used"),
        (
            "TOMA(aspects={'a':1},gate='b')",
            "describe: TOMA: gate='b' is not among the aspects a",
        ),
        ("ndcg_cut", "nDCG@k"),
        (3, "describe: "),
        ("", "describe: "),
    ],
)
def test_what_describe_refuses(text: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        irl.describe(text)


def test_the_forms_of_lr_have_their_own_formulas_and_ranges() -> None:
    nested, weighted = irl.describe("LR"), irl.describe("LR(form='weighted')")
    assert "C(p_r - 1, r - 1)" in nested.plain
    assert "Delta^(m-i)" in weighted.plain
    assert weighted.values == "0 to (n - 1)/n; the ideal ranking has less than 1"
    best, none = (
        irl.evaluate(
            "LR(form='weighted',n=4)", {"q": {"a": 1, "b": 1}}, {"q": run}
        ).iloc[0, 0]
        for run in ({"a": 2.0, "b": 1.0}, {"x": 1.0})
    )
    assert 0 < none < best < 3 / 4
    example = irl.describe("LR(form='weighted',n=3)").example
    assert example is not None
    assert (
        irl.evaluate(example.measure, example.qrels, example.run).iloc[0, 0]
        == example.value
        == 4 / 27
    )


def test_tables_say_how_lr_orders_rankings() -> None:
    said = "orders rankings as lexicographic recall does (Diaz et al. 2026)."
    runs = {"a": {"q": {"d": 1.0}}, "b": {"q": {"d": 2.0}}}
    result = irl.compare({"q": {"d": 1}}, runs, ["LR", "LR@5", "AP"])
    assert result.to_markdown().count(said) == 1
    assert said in " ".join(result.to_latex().split())
    other = irl.compare({"q": {"d": 1}}, runs, ["LR(form='weighted',n=9)", "AP"])
    assert said not in other.to_markdown()


def test_a_measure_of_a_user_describes_itself() -> None:
    class FirstGap(irl.Measure):
        """Documents above the first relevant one.

        And more.
        """

        ABOUT = About(plain="p_1 - 1", source="Me 2026")
        SMALLER_IS_BETTER = True
        params = {"cutoff": cutoff()}

        def score(self, run: AlignedRun) -> Floats:
            return run.depth.astype(float)

    try:
        page = irl.describe("FirstGap@5")
        assert (page.measure, page.meaning, page.plain, str(page.source)) == (
            "FirstGap@5",
            "Documents above the first relevant one.",
            "p_1 - 1",
            "Me 2026",
        )
        assert page.example is None
        assert "p_1 - 1" in str(page)
        assert "FirstGap@5" in page._repr_html_()
    finally:
        for known in (REGISTRY, ir_measures.measures.registry):
            known.pop("FirstGap", None)


def test_bibtex_entries_are_whole() -> None:
    used = {irl.describe(name).source.key for name in [*NAMES, *preferences.NAMES]} - {
        ""
    }  # a line of text
    assert used == set(_sections("source"))
    for key in used:
        text = source(key).bibtex
        assert text.startswith("@")
        assert f"{{{key}," in text
        assert text.count("{") == text.count("}")
        assert re.search(r"year = \{\d{4}\}", text)


def test_names_are_escaped_in_notebooks() -> None:
    page = dataclasses.replace(
        irl.describe("LR"), meaning="<script>alert(1)</script>", formula="a < b"
    )
    assert "<script>" not in page._repr_html_()
    assert "a &lt; b" in page._repr_html_()


@pytest.mark.parametrize(
    "name", ["LR", "RBU(p=0.9)@20", "AP", "lexirecall", "wilcoxon", "TOMA"]
)
def test_a_notebook_shows_the_lines_of_the_page(name: str) -> None:
    shown = irl.describe(name)._repr_html_()
    assert "\\n" not in shown.partition("<pre")[2]
    text = unescape(
        shown.partition(">")[2]
        if shown.startswith("<pre")
        else shown.partition("<pre")[2]
    )
    assert irl.describe(name).page(10**6) in text


@pytest.mark.parametrize("name", ["LR", "nDCG@10", "lexirecall", "RBU(max_rel=2)"])
def test_a_console_shows_the_page(name: str) -> None:
    description = irl.describe(name)
    assert repr(description) == str(description)
    assert "\\n" not in repr(description)
