"""Preferences by name, with their parameters: ``lexirecall(rel=2)@100``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from ir_lexirecall._util.measure_strings import parse_measure
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.measures.declaration import Parameterised
from ir_lexirecall.measures.parameters import cutoff, rel
from ir_lexirecall.preferences.functions import NAMES


class Preference(Parameterised):
    """A preference with its parameters, which print and are read back as those of measures do.

    Attributes:
        NAME: one of ``NAMES``.
        params: ``cutoff``, what is ranked below counts as not retrieved; ``rel``, the smallest
            grade that counts as relevant, by default the collection's own threshold.

    >>> Preference("rpp", rel=2.0) @ 100
    rpp(rel=2)@100
    """

    SUPPORTED_PARAMS = {"cutoff": cutoff(), "rel": rel(default=None)}

    def __init__(self, name: str, **params: Any) -> None:
        self.NAME = name  # type: ignore[misc]
        super().__init__(**params)

    def __call__(self, **params: Any) -> Preference:
        """Return the preference with other parameters."""
        return Preference(self.NAME, **{**self.params, **params})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Preference) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def rel_in(self, judgments: Judgments) -> float:
        """Return the smallest relevant grade, given the threshold of the judgments."""
        rel: float | None = self["rel"]
        if rel is None:
            return judgments.threshold
        return rel


PREFERENCES = {name: Preference(name) for name in NAMES}
"""All of them, without parameters."""


def parse_preference(criterion: Any) -> Preference | None:
    """Return the preference that a criterion names; None if it is not a preference.

    Raises:
        ValueError: parameters that no preference has, or out of range.

    >>> parse_preference("lexirecall( rel=2 ) @ 100"), parse_preference("AP")
    (lexirecall(rel=2)@100, None)
    """
    if isinstance(criterion, str):
        head = re.match(r"\s*(\w*)", criterion)
        if head and head[1] in PREFERENCES:
            criterion = parse_measure(criterion.strip(), PREFERENCES)
        else:
            criterion = None
    if not isinstance(criterion, Preference):
        return None
    criterion.validate_params()
    return criterion


def with_parameters(criteria: Iterable[Any], **params: Any) -> list[Any]:
    """Return criteria; preferences take the parameters that their names leave out.

    A parameter that is None is not given.

    >>> with_parameters(["rpp", "lexirecall@5", "AP"], rel=2, cutoff=10)
    ['rpp(rel=2)@10', 'lexirecall(rel=2)@5', 'AP']
    """
    values = {name: value for name, value in params.items() if value is not None}
    if not values:
        return list(criteria)
    with_params = []
    for item in criteria:
        preference = parse_preference(item)
        if preference is None:
            with_params.append(item)
        else:
            with_params.append(str(preference(**{**values, **preference.params})))
    return with_params
