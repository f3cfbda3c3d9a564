"""Checks that all readers of tables share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ir_lexirecall._util.errors import all_repeated, and_more, shortened, shown
from ir_lexirecall._util.selecting import among
from ir_lexirecall.io.cells import number_of_text
from ir_lexirecall.io.schemas import Cut

_LONG = 41  # characters of a number in a message


def check_names(names: Sequence[str], wanted: Iterable[str]) -> None:
    """Raise if a header names a wanted column twice."""
    wanted = {*wanted}
    twice = all_repeated(among(names, wanted))
    if twice:
        raise ValueError(
            f"the header names {twice[0]!r} twice{and_more(len(twice) - 1)}"
        )


def check_not_cut(
    numbers: Sequence[str], cut: Cut, location: Callable[[], str], value: str = "number"
) -> None:
    """Raise if the last number of a file without a last end of line may have lost its end.

    Args:
        numbers: the texts of the last column, in the file's order; numbers, or labels. Ranks are
            those of the last query.
        cut: the rule of the column.
        location: what messages call the file or its last line.
        value: what messages call such a number.
    """
    if not numbers or cut is Cut.NEVER:
        return
    last = numbers[-1]
    if cut is Cut.IF_BEGINNING:
        _check_not_beginning(last, numbers[:-1], location, value)
        return
    if number_of_text(last) is None:
        return
    printed = shortened(last, _LONG)
    if cut is Cut.ALWAYS:
        beginning = _ends_with(printed, location, value)
        raise ValueError(f"{beginning} Write it again, or end its last line")
    others = [text for text in numbers[:-1] if number_of_text(text) is not None]
    if cut is Cut.IF_NOT_RISING:
        longer = _rank_not_exceeded(last, others)
    else:
        longer = _longer(last, others, by_shape=cut is Cut.IF_SHORTER)
    if longer is not None:
        beginning = _ends_with(printed, location, value)
        raise ValueError(
            f"{beginning} Others are {shortened(longer, _LONG)}; write it again, or end its last "
            "line"
        )


def _ends_with(last: str, location: Callable[[], str], value: str) -> str:
    """Return the beginning of the message on a file that may be cut within its last value."""
    return (
        f"{location()}: the file ends with the {value} {last}, without an end of line: "
        "was it cut?"
    )


def _check_not_beginning(
    last: str, others: Iterable[str], location: Callable[[], str], value: str
) -> None:
    """Raise if the last label is the beginning of another one."""
    for text in others:
        if text != last and text.startswith(last):
            raise ValueError(
                f"{_ends_with(shown(last), location, value)} Another one is {shown(text)}; "
                "write it again, or end its last line"
            )


def _rank_not_exceeded(last: str, others: Sequence[str]) -> str | None:
    """Return the rank before the last if the last may be cut (10 to 1 after 9), else None."""
    if not others:
        return None
    previous = others[-1]
    has_lost_decimals = _decimals(last) < _decimals(previous) or last.endswith(".")
    if has_lost_decimals or float(last) <= float(previous):
        return previous
    return None


def _longer(last: str, others: Sequence[str], *, by_shape: bool) -> str | None:
    """Return another number that shows that the last one may be cut; None if there is none.

    Grades are few, so one that begins another grade may be its beginning. Scores are many: a cut
    one has fewer decimals than all others. In a ranking, the last integer is not cut if a digit
    more would exceed the score before it, as in 10, 9, ..., 2, 1.
    """
    begun = next((text for text in others if _begins(text, last)), None)
    if not others:
        return begun
    previous = others[-1]
    if not by_shape:
        return begun or (previous if _has_lost_decimals(last, others) else None)
    if _decimals(last) < min(map(_decimals, others)) or last.endswith("."):
        return previous
    lost_exponent = "e" in previous.lower() and float(last) > float(previous)
    if lost_exponent:
        return previous
    is_positive_integer = last.lstrip("+").isdigit()
    if is_positive_integer and 10 * float(last) <= float(previous):
        return begun
    if last.startswith("-"):
        return begun
    return None


def _has_lost_decimals(last: str, others: Sequence[str]) -> bool:
    """Return whether a grade has fewer decimals than all others, which are at least two.

    One that ends with a point has lost them if no other does. Where all are whole numbers, such as
    2.0, nothing is lost.
    """
    if last.endswith("."):
        return not any(text.endswith(".") for text in others)
    have_fractions = any(float(text) % 1 for text in others)
    least = min(map(_decimals, others))
    return have_fractions and len(others) > 1 and _decimals(last) < least


def _begins(text: str, last: str) -> bool:
    """Return whether a number is longer than the last one, begins with it and is another one."""
    return text != last and text.startswith(last) and float(text) != float(last)


def _decimals(text: str) -> int:
    """Return the number of digits after the point."""
    return len(text.lower().partition("e")[0].partition(".")[2])
