"""Measures that are made of another measure: IA, TOMA, CAM, MM."""

from __future__ import annotations

from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall._util.measure_strings import parse_measure
from ir_lexirecall.measures.declaration import Measure
from ir_lexirecall.measures.parameters import Param


def base() -> Param:
    """``base``: the measure that scores the ranking."""
    return Param(str, "measure that scores the ranking", default="nDCG")


class ComposedMeasure(Measure, register=False):
    """A measure made of another one, its base, which is checked and cut off."""

    def base_measure(self) -> IRMeasure:
        """The base with this measure's cutoff."""
        try:
            base = parse_measure(self["base"])
        except ValueError as error:
            raise ValueError(f"{self.NAME}: base={self['base']!r} is not a measure: {error}") from None
        if isinstance(base, ComposedMeasure):
            raise ValueError(
                f"{self.NAME}: base={self['base']!r} is made of another measure itself; name one that is not"
            )
        if self["cutoff"] is not None:
            base_cutoff = base.params.get("cutoff", self["cutoff"])
            if "cutoff" not in base.SUPPORTED_PARAMS or base_cutoff != self["cutoff"]:
                raise ValueError(f"{self.NAME}: the base {base} cannot be cut at {self['cutoff']}")
            base = base(cutoff=self["cutoff"])
        missing = [name for name, param in base.SUPPORTED_PARAMS.items() if param.required and name not in base.params]
        if missing:
            raise ValueError(f"{self.NAME}: base={self['base']!r} needs {missing[0]}")
        try:
            base.validate_params()
        except (ValueError, AssertionError) as error:
            raise ValueError(f"{self.NAME}: base={self['base']!r} is not a measure: {error}") from None
        if base.params.get("cutoff") is not None and base.params["cutoff"] < 1:
            raise ValueError(f"{self.NAME}: base={self['base']!r}: the cutoff must be at least 1")
        return base

    def check_together(self) -> None:
        self.base_measure()
