"""Parameters of measures: what a value may be, and those that several measures share."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any

from ir_measures.measures.base import ParamInfo
from ir_measures.providers.base import NOT_PROVIDED

from ir_lexirecall._util.errors import is_number
from ir_lexirecall.measures.discounts import GAINS


@dataclass(eq=False)
class Param(ParamInfo):  # type: ignore[misc]
    """A parameter of a measure.

    Args:
        dtype: type of its values; ``float`` takes integers, too.
        desc: what it is, in a few words.
        default: its value where none is given.
        required: whether a value must be given.
        choices: the values that it can take, if they can be listed.
        above, least, below, most: the range of a number.
        check: whether a value of the right type is in range, where that is another question.
        expects: what errors say a value must be; by default what the choices or the range say.
        also: further types that are taken.
    """

    dtype: type
    desc: str
    _: KW_ONLY
    default: Any = None
    required: bool = False
    choices: Any = NOT_PROVIDED
    above: float | None = None
    least: float | None = None
    below: float | None = None
    most: float | None = None
    check: Callable[[Any], bool] | None = None
    expects: str = ""
    also: tuple[type, ...] = ()

    def __post_init__(self) -> None:
        """Derive the types that are taken, and what errors say of values."""
        integers_too: tuple[type, ...] = (int,) if self.dtype is float else ()
        self.types: tuple[type, ...] = (self.dtype, *self.also, *integers_too)
        self.expects = self.expects or self._expected_values()

    def _expected_values(self) -> str:
        """Return what errors say a value must be, from the choices or the range."""
        if self.choices is not NOT_PROVIDED:
            return f"one of {', '.join(map(repr, self.choices))}"
        if (self.above, self.below) == (0, 1):
            return "a number between 0 and 1 (both excluded)"
        ends = {
            "above": self.above,
            "of at least": self.least,
            "below": self.below,
            "at most": self.most,
        }
        limits = []
        for relation, end in ends.items():
            if end is not None:
                limits.append(f"{relation} {end:g}")
        if not limits:
            return self.kind
        number = "an integer" if self.dtype is int else "a number"
        return f"{number} {' and '.join(limits)}"

    @property
    def kind(self) -> str:
        """Return the name of the type in errors and lists of measures."""
        names = {float: "number", str: "text or number" if int in self.types else "str"}
        return names.get(self.dtype, self.dtype.__name__)

    def validate(self, value: Any) -> bool:
        """Return whether a value is of the right type and in range; None stands for no value."""
        if value is None:
            return not self.required
        if not self._is_of_type(value):
            return False
        if self.choices is not NOT_PROVIDED and value not in self.choices:
            return False
        if not self._is_in_range(value):
            return False
        return self.check is None or self.check(value)

    def _is_of_type(self, value: Any) -> bool:
        """Return whether a value has one of the types; truth values are not numbers."""
        if isinstance(value, bool) and self.dtype is not bool:
            return False
        if not isinstance(value, self.types):
            return False
        return self.dtype is not float or _is_float(value)

    def _is_in_range(self, value: Any) -> bool:
        """Return whether a value is within the limits that there are."""
        if self.above is not None and value <= self.above:
            return False
        if self.least is not None and value < self.least:
            return False
        if self.below is not None and value >= self.below:
            return False
        return self.most is None or value <= self.most


def _is_float(value: Any) -> bool:
    """Return whether a number is finite as a float; integers may be too large."""
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False


# -- shared by several measures ------------------------------------------------------------------


def cutoff(required: bool = False) -> Param:
    """Return the parameter `cutoff`, below which documents count as not retrieved.

    ``required``: whether it must be given.
    """
    expects = "an integer of at least 1 and below 2^63"
    return Param(
        int,
        "ranking cutoff threshold",
        required=required,
        least=1,
        below=2**63,
        expects=expects,
    )


def rel(default: float | None = 1) -> Param:
    """Return the parameter `rel`, the smallest grade that counts as relevant.

    Args:
        default: its value if a user gives none; None takes the threshold of the collection.
    """
    if default is not None:
        of_collection = ""
    else:
        of_collection = " (default: the collection's own, else 1)"
    return Param(
        float,
        f"smallest grade that counts as relevant{of_collection}",
        default=default,
        above=0,
    )


def is_share(value: Any) -> bool:
    """Return whether a value is a finite number of at least 0."""
    return is_number(value) and _is_float(value) and value >= 0


JUDGED_ONLY = Param(
    bool,
    "ignore returned documents that do not have relevance judgments",
    default=False,
)
"""Every measure has it; what scores measures applies it."""

_IN_COLLECTION = "an integer of at least 1 and at most 2^53"
COLLECTION_SIZE = Param(
    int, "documents in the collection", least=1, most=2**53, expects=_IN_COLLECTION
)
"""``n``."""

_KINDS = "gain of a grade: 'exp' (2^g-1)/2^max_rel or 'linear' g/max_rel"
_GAIN = {"gain": Param(str, _KINDS, default="exp", choices=GAINS)}
_UNJUDGED = "gain of unjudged documents: 'worst': 0; 'best': that of max_rel"

GAIN_OF_ASPECTS = _GAIN | {
    "max_rel": Param(float, "top grade (default: of the query and aspect)", above=0)
}
"""``gain`` and ``max_rel``: how a grade for an aspect becomes a gain in [0, 1]."""

GAIN_ON_SCALE = {
    "max_rel": Param(float, "top grade of the relevance scale", required=True, above=0),
    **_GAIN,
    "unjudged": Param(str, _UNJUDGED, default="worst", choices=("worst", "best")),
}
"""``max_rel``, ``gain`` and ``unjudged``: how a grade, or no judgment, becomes a gain in [0, 1]."""
