"""``Study``: the table that every function of ``ir_lexirecall.meta`` gives."""

from __future__ import annotations

import platform
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import pandas as pd


class Study(pd.DataFrame):  # type: ignore[misc]
    """A tidy DataFrame that knows what was run (``attrs``) and how to draw it (``plot``)."""

    _metadata = ["_draw"]
    _draw: Callable[[pd.DataFrame, Any], Any] | None

    @classmethod
    def of(cls, table: pd.DataFrame, draw: Callable[[pd.DataFrame, Any], Any], **provenance: Any) -> Study:
        """A table, what draws it on matplotlib axes, and what was run.

        >>> Study.of(pd.DataFrame({"x": [1]}), lambda table, ax: ax, function="none").attrs["function"]
        'none'
        """
        study = cls(table)
        study._draw = draw
        study.attrs.update(provenance)
        study.attrs["versions"] = {
            "ir_lexirecall": version("ir-lexirecall"),
            "ir_measures": version("ir-measures"),
            "numpy": version("numpy"),
            "python": platform.python_version(),
        }
        return study

    @property
    def _constructor(self) -> Callable[..., pd.DataFrame]:
        return pd.DataFrame  # a part of a study is a table like any other

    def plot(self, ax: Any = None) -> Any:
        """Draw the study on matplotlib axes (new ones by default) and return them."""
        from ir_lexirecall.plots import axes

        if self._draw is None:
            raise ValueError("this table was taken out of a study; draw the study itself")
        return self._draw(self, axes(ax, (6.0, 4.0)))
