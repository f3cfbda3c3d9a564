"""Margins as users give them: for all criteria or for each, in the criterion's unit or relative to the baseline's mean."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np

from ir_lexirecall._util.errors import check_choice, check_number, shown
from ir_lexirecall.comparison.criteria import Criterion

MarginLike: TypeAlias = float | str | Mapping[str, float | str]
"""A margin for all criteria, or by criterion: a number in the criterion's unit, or ``"2%"`` of the baseline's mean."""

_PERCENT = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*%\s*")


def margins_against(
    margin: MarginLike | None, criteria: Mapping[str, Criterion], runs: Sequence[str], baseline: str | None
) -> dict[str, float] | None:
    """The margin of each criterion in its own unit; None where there is none.

    Raises:
        ValueError: a margin without a baseline, below 0, not finite, relative to a preference, or for a criterion that is not
            there; or a criterion without a margin.
    """
    if margin is None:
        return None
    if baseline is None:
        raise ValueError("a margin needs a baseline that runs may not fall behind; pass baseline=")
    if not isinstance(margin, Mapping):
        margin = dict.fromkeys(criteria, margin)
    for name in margin:
        check_choice("criterion of a margin", str(name), criteria)
    if lacking := [name for name in criteria if name not in margin]:
        raise ValueError(f"no margin for {lacking[0]}; give one for every criterion, or one number for all")
    place = runs.index(baseline)
    return {name: _margin(name, criterion, margin[name], place) for name, criterion in criteria.items()}


def _margin(name: str, criterion: Criterion, margin: float | str, baseline: int) -> float:
    if not isinstance(margin, str):
        return check_number(f"margin of {name}", margin, least=0)
    share = _PERCENT.fullmatch(margin)
    if share is None:
        raise ValueError(
            f"margin of {name}: expected a number, or a share of the baseline's mean such as '2%', not {shown(margin)}"
        )
    if not criterion.is_measure:
        raise ValueError(
            f"margin of {name}: {margin} is relative to a mean, which a preference has none of; give a number"
        )
    return float(share[1]) / 100 * float(np.abs(criterion.means[baseline]))
