"""Checks of tables that all readers share."""

from __future__ import annotations

import pytest

from ir_lexirecall.io.checks import check_names, check_not_cut
from ir_lexirecall.io.schemas import Cut


@pytest.mark.parametrize("names", [["query_id", "x", "query_id"], ["query_id"] * 3])
def test_a_wanted_column_is_named_once(names: list[str]) -> None:
    with pytest.raises(ValueError, match="the header names 'query_id' twice"):
        check_names(names, ["query_id"])


def test_other_columns_may_be_named_twice() -> None:
    check_names(["query_id", "note", "note"], ["query_id"])


@pytest.mark.parametrize(
    ("numbers", "rule"),
    [
        (["10", "1"], Cut.IF_LONGER),  # a grade that begins another one
        (
            ["30", "20", "10", "1"],
            Cut.IF_SHORTER,
        ),  # a digit more does not exceed the one before
        (["0.5", "2.5", "1"], Cut.IF_LONGER),  # 1.5
        (["0.5", "2."], Cut.IF_LONGER),
        (["0.25", "0.75", "1.0"], Cut.IF_LONGER),
        (["3", "2", "1."], Cut.IF_SHORTER),  # a point without a decimal
        (["2.50", "1.50", "0.5"], Cut.IF_SHORTER),
        (["2.5e-3", "1.5e-3", "1.5"], Cut.IF_SHORTER),  # a lost exponent
        (["short", "long", "lo"], Cut.IF_BEGINNING),
        (["0.5", "0.25"], Cut.ALWAYS),
        (["8", "9", "1"], Cut.IF_NOT_RISING),  # 10
        (["98", "99", "10"], Cut.IF_NOT_RISING),  # 100
        (["1", "1"], Cut.IF_NOT_RISING),
        (["1.0", "2."], Cut.IF_NOT_RISING),
    ],
)
def test_a_last_number_that_may_be_cut_is_refused(
    numbers: list[str], rule: Cut
) -> None:
    with pytest.raises(
        ValueError, match=r"^x\.txt: the file ends with the number .*cut\?"
    ):
        check_not_cut(numbers, rule, lambda: "x.txt")


@pytest.mark.parametrize(
    ("numbers", "rule"),
    [
        (["1", "1"], Cut.IF_LONGER),
        (["1.0", "1"], Cut.IF_LONGER),  # the same number
        (["0.0", "1.0", "2"], Cut.IF_LONGER),  # all of them are whole
        (["0.5", "0", "1"], Cut.IF_LONGER),
        (["0.5", "1"], Cut.IF_LONGER),
        (["0.", "1."], Cut.IF_LONGER),
        (["4", "3", "2", "1"], Cut.IF_SHORTER),
        (["9", "1"], Cut.IF_SHORTER),
        (["2.50", "1.50", "0.50"], Cut.IF_SHORTER),
        (["short", "long", "long"], Cut.IF_BEGINNING),
        (["10", "1"], Cut.NEVER),
        (["1"], Cut.IF_NOT_RISING),
        (["1", "2"], Cut.IF_NOT_RISING),
        (["9", "10"], Cut.IF_NOT_RISING),
        ([], Cut.ALWAYS),
        (["0.5", "-"], Cut.ALWAYS),  # not a number
    ],
)
def test_a_last_number_that_is_whole_is_taken(numbers: list[str], rule: Cut) -> None:
    check_not_cut(numbers, rule, lambda: "x.txt")


@pytest.mark.parametrize("rule", [Cut.ALWAYS, Cut.IF_LONGER, Cut.IF_BEGINNING])
def test_a_message_is_short_however_long_the_number_is(rule: Cut) -> None:
    with pytest.raises(ValueError, match="was it cut") as error:
        check_not_cut(["1" * 200 + "2", "1" * 200], rule, lambda: "x.txt")
    assert len(str(error.value)) < 350
