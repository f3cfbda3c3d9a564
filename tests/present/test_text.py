"""Names, numbers and tables as readers see them."""

from __future__ import annotations

import csv
import html
import io
import math
import re
import unicodedata

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ir_lexirecall.present import text
from ir_lexirecall.present.tables import Shown, align_points

NASTY = [
    "\x1b[31mred\x1b[0m",
    "a\tb",
    "a\nb\r",
    "\u202egnp.exe",
    "\x9b2J",
    "\ud800",
    "\u2028",
    "\x00",
    "\x7f",
]
NAMES = st.text(st.characters() | st.sampled_from("\x1b\t\n|<>&\\_*[]{}$%#~^'\"=+-@"))


@pytest.mark.parametrize("name", NASTY)
@pytest.mark.parametrize(
    "escape",
    [
        text.printable,
        text.escape_html,
        text.escape_latex,
        text.escape_markdown,
        text.escape_csv,
    ],
)
def test_no_reader_is_given_a_character_to_obey(escape, name):
    shown = escape(name)
    assert not [
        c for c in shown if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")
    ]
    assert len(shown.splitlines()) == 1


def test_what_a_terminal_obeys_is_shown_as_its_escape():
    assert text.printable("\x1b[31mred\n\t") == r"\x1b[31mred\n\t"
    assert text.printable("\u202e") == r"\u202e"
    assert text.printable("\ud800") == r"\ud800"


@pytest.mark.parametrize(
    "name", ["bm25", "文書", "é", "e\u0301", "क्\u200dष", "a b", "run-1.2_x", "🐈"]
)
def test_words_of_all_languages_stay_as_they_are(name):
    assert text.printable(name) == name


@given(NAMES)
def test_html_gives_the_text_back(name):
    assert html.unescape(text.escape_html(name)) == text.printable(name)
    assert not set("<>\"'") & set(text.escape_html(name))


@given(NAMES)
def test_latex_sees_no_command_of_the_name(name):
    escaped = text.escape_latex(name)
    plain = re.sub(
        r"\\(textbackslash|textasciitilde|textasciicircum|textless|textgreater|textbar)\{\}|\\[{}$&%#_]",
        "",
        escaped,
    )
    assert not set(re.sub(r"\{[\[\]*]\}", "", plain)) & set("\\{}$&%#_~^|<>[]*")


@given(NAMES)
def test_markdown_sees_no_markup_in_the_name(name):
    escaped = text.escape_markdown(name)
    assert not re.findall(r"(?<!\\)(?:\\\\)*[|`*\[\]<>~$]", escaped)
    assert not re.findall(r"(?<![\\\w])_|(?<!\\)_(?!\w)", escaped)
    assert "\n" not in escaped


def test_markdown_keeps_underscores_within_words():
    assert text.escape_markdown("CWL_ERR10(max_rel=2)") == "CWL_ERR10(max_rel=2)"
    assert text.escape_markdown("_x_") == "\\_x\\_"


@pytest.mark.parametrize("name", ["=cmd()", "+1", "-1", "@sum", "\t=1", "=1+1|x"])
def test_spreadsheets_see_no_formula(name):
    assert text.escape_csv(name)[0] == "'"


def test_as_many_names_as_fit_are_all_listed():
    assert text.listed(["a", "b", "c"], most=3) == "a, b and c"
    assert text.listed(["a", "b", "c", "d"], most=3) == "a, b, c and 1 more"


@given(NAMES)
def test_csv_reads_back(name):
    stream = io.StringIO()
    csv.writer(stream).writerow([text.escape_csv(name), "x"])
    ((cell, _),) = csv.reader(io.StringIO(stream.getvalue()))
    assert cell.removeprefix("'").removeprefix("'") == text.printable(
        name
    ).removeprefix("'").removeprefix("'")
    assert not cell.startswith(("=", "+", "-", "@", "\t", "\r"))


# -- numbers -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("p", "shown"),
    [
        (1, "1.0"),
        (0.5, "0.50"),
        (0.0703125, "0.070"),
        (0.04999, "0.050"),
        (0.0504, "0.0504"),
        (0.05 + 1e-12, "0.050000000001"),
        (0.999999, "1.0"),
        (1e-4, "0.00010"),
        (9.99e-5, "< 0.0001"),
        (0, "< 0.0001"),
        (math.nan, "-"),
    ],
)
def test_p_values(p, shown):
    assert text.format_p(p) == shown


@pytest.mark.parametrize("level", [0.05, 0.01, 1e-6])
def test_tables_print_p_on_the_side_of_their_level(level):
    table = pd.DataFrame({"p": [0.9995 * level, 1.0008 * level]})
    table.attrs["alpha"] = level
    below, above = Shown.from_frame(table).columns[0].cells
    assert float(below) <= level < float(above)


def test_decimal_points_stand_below_each_other():
    cells = align_points([text.format_p(p) for p in (0.0703, 0.5, 1, 0.00012, 1e-9)])
    points = {len(cell) - cell.index(".") for cell in cells if "." in cell}
    assert points == {6}
    assert cells[-1] == "< 0.0001 "
    assert align_points(["0.5", "0.125"], "<0>") == ["0.5<00>", "0.125"]


# -- width -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "columns"),
    [
        ("", 0),
        ("bm25", 4),
        ("文書", 4),
        ("e\u0301", 1),
        ("ｆｕｌｌ", 8),
        ("a\u200db", 2),
        ("각", 2),
    ],
)
def test_width(name, columns):
    assert text.width(name) == columns


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"])), st.integers(3, 30))
def test_a_shortened_name_fits_and_keeps_its_ends(name, columns):
    shortened = text.shorten(name, columns)
    assert text.width(shortened) <= columns
    if text.width(name) <= columns:
        assert shortened == name
    else:
        start, end = (
            shortened.split("…", 1)
            if "…" not in name
            else (shortened[:0], shortened[:0])
        )
        assert name.startswith(start)
        assert name.endswith(end)
