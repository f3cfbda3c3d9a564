"""``Study``: the table that every function of ``ir_lexirecall.meta`` gives."""

from __future__ import annotations

import platform
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from typing import Any

import numpy as np
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


Draw = Callable[[pd.DataFrame, Any], Any]


def other(study: Study) -> Draw:
    """Draws another study, of which the table is a summary."""
    return partial(_draw_other, study)


def _draw_other(study: Study, _: pd.DataFrame, ax: Any) -> Any:
    return study.plot(ax)


def bars(column: str) -> Draw:
    """Draws a column of a table as a bar per measure, the largest on top."""
    return partial(_draw_bars, column)


def _draw_bars(column: str, table: pd.DataFrame, ax: Any) -> Any:
    order = table.sort_values(column, ascending=True)
    ax.barh(order["measure"], order[column])
    ax.set_xlabel(column.replace("_", " "))
    return ax


def matrix(column: str, *, lowest: float = -1, cmap: str = "RdBu", label: str | None = None) -> Draw:
    """Draws a table of pairs of measures as a matrix of one of its columns, which reaches up to 1."""
    return partial(_draw_matrix, column, lowest, cmap, label or column.replace("_", " "))


def _draw_matrix(column: str, lowest: float, cmap: str, label: str, table: pd.DataFrame, ax: Any) -> Any:
    labels = list(dict.fromkeys([*table["measure_a"], *table["measure_b"]]))
    place = {name: i for i, name in enumerate(labels)}
    values = np.eye(len(labels))
    for a, b, value in table[["measure_a", "measure_b", column]].itertuples(index=False, name=None):
        values[place[a], place[b]] = values[place[b], place[a]] = value
    image = ax.imshow(values, cmap=cmap, vmin=lowest, vmax=1)
    for (i, j), value in np.ndenumerate(values):
        colour = "white" if abs(value) > 0.6 else "black"
        ax.text(j, i, f"{value:.2f}", ha="center", va="center", fontsize="x-small", color=colour)
    ax.set_xticks(range(len(labels)), labels, rotation=45, ha="right")
    ax.set_yticks(range(len(labels)), labels)
    ax.figure.colorbar(image, ax=ax, label=label, shrink=0.8)
    return ax
