"""Pictures of studies, by kind: bars, lines, matrices, symbols, stacked shares.

A study's record names the kind; what is drawn, and what the axis says of it, are by default its
headline's column and meaning. Titles and texts at axes may name facts of the table's ``attrs`` in
braces.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ir_lexirecall.plots import axes

_MEASURES = ("measure", "measure_a", "measure_b", "target")  # columns of their names
_BAD, _NEITHER = "#b3261e", "#d0d7de"


@dataclass(frozen=True)
class Picture(ABC):
    """How a study is drawn.

    Attributes:
        title: of the picture.
        value, meaning: the column that is drawn, and what it means; by default those of the study's
            headline.
        marks: makes what is drawn from the table; by default its rows as they are.
        row, column: columns of the table whose names stand beside and below the picture, which
            grows with them; empty where none do.
    """

    title: str
    value: str = field(default="", kw_only=True)
    meaning: str = field(default="", kw_only=True)
    marks: Callable[[Any], Any] | None = field(default=None, kw_only=True)
    row: str = field(default="", kw_only=True)
    column: str = field(default="", kw_only=True)

    @abstractmethod
    def draw(self, table: Any, ax: Any, said: Callable[[str], str]) -> None:
        """Draw the rows of a table; ``said`` gives the words of a label."""


def draw(picture: Picture, table: Any, ax: Any = None) -> Any:
    """Draw a study as its picture says, on the axes ``ax`` (by default new ones); return them."""
    ax = axes.new_axes(ax, _size(picture, table))
    facts = {name: axes.label(fact) for name, fact in table.attrs.items()}
    marks = picture.marks(table) if picture.marks else table
    picture.draw(marks, ax, lambda text: text.format_map(facts))
    measures: set[str] = set()
    for column in _MEASURES:
        if column in table:
            measures.update(map(str, table[column]))
    title = picture.title.format_map(facts)
    return axes.finish(ax, title=title, measures=sorted(measures))


def _size(picture: Picture, table: Any) -> tuple[float, float]:
    """Return the size of a picture in inches, which has room for the names beside and below it."""
    rows, columns = _names(table, picture.row), _names(table, picture.column)
    width = np.clip(0.5 * len(columns) + 3.5, 7.0, 24.0) + 0.075 * _excess(rows)
    height = np.clip(0.3 * len(rows) + 2.2, 4.0, 24.0) + 0.06 * _excess(columns)
    return float(width), float(height)


def _names(table: Any, column: str) -> list[Any]:
    """Return the names in a column, each once; an empty list if no column is given."""
    if not column:
        return []
    return list(dict.fromkeys(table[column]))


def _excess(names: Sequence[Any]) -> int:
    """Return by how many letters the longest name is longer than 12."""
    return max([0, *(len(axes.label(name)) - 12 for name in names)])


@dataclass(frozen=True)
class Bars(Picture):
    """A horizontal bar for each measure, the first on top."""

    largest_first: bool = False
    row: str = field(default="measure", kw_only=True)

    def draw(self, table: Any, ax: Any, said: Callable[[str], str]) -> None:
        """Draw the rows of a table; ``said`` gives the words of a label."""
        if self.largest_first:
            rows = table.sort_values(self.value, ascending=False)
        else:
            rows = table
        ax.barh(range(len(rows)), rows[self.value], color=axes.FIRST)
        axes.name_ticks(ax.yaxis, rows["measure"].tolist())
        ax.invert_yaxis()
        ax.set_xlabel(said(self.meaning))


@dataclass(frozen=True)
class Lines(Picture):
    """A line for each measure.

    Attributes:
        x, across: the column of the horizontal axis, and what it means.
        dashed: the column of a second line of the same name, which is dashed (the first one is
            solid).
        dash_by: a column whose values have a dash each; a name has one colour.
        x_scale, y_scale: ``"whole"`` (numbers), ``"linear"`` or ``"log"``.
        level: a fact at whose height a line goes across.
    """

    x: str
    across: str
    dashed: str = ""
    dash_by: str = ""
    x_scale: str = "linear"
    y_scale: str = "linear"
    level: str = ""

    def draw(self, table: Any, ax: Any, said: Callable[[str], str]) -> None:
        """Draw the rows of a table; ``said`` gives the words of a label."""
        if self.level:
            height = table.attrs[self.level]
            ax.axhline(height, color=axes.GREY, linewidth=0.8, linestyle=":")
        self._scale(ax)
        dashes = {}
        if self.dash_by:
            kinds = table[self.dash_by].unique()
            dashes = dict(zip(kinds, ("-", "--", ":"), strict=False))
        names = table.groupby("measure", sort=False, observed=True)
        for number, (name, of_name) in enumerate(names):
            for label, dash, rows in self._lines_of(name, of_name, dashes):
                style = axes.line_style(number, names.ngroups, len(rows))
                if dash:
                    style["linestyle"] = dash
                label = axes.legend_label(label)
                ax.plot(rows[self.x], rows[self.value], label=label, **style)
                if self.dashed:
                    style["linestyle"] = "--"
                    ax.plot(rows[self.x], rows[self.dashed], **style)
        ax.set_xlabel(said(self.across))
        ax.set_ylabel(said(self.meaning))
        axes.show_legend(ax)

    def _scale(self, ax: Any) -> None:
        """Set the scales of both axes."""
        if self.x_scale == "whole":
            from matplotlib.ticker import MaxNLocator

            ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        else:
            ax.set_xscale(self.x_scale)
        ax.set_yscale(self.y_scale)

    def _lines_of(
        self, name: Any, rows: Any, dashes: Mapping[Any, str]
    ) -> Iterator[tuple[str, str, Any]]:
        """Yield the lines of a measure: label, dash and rows.

        The dash is empty where a line may have any.
        """
        if not dashes:
            yield str(name), "-" if self.dashed else "", rows
            return
        for kind, of_kind in rows.groupby(self.dash_by, sort=False):
            yield f"{name}, {kind}", dashes[kind], of_kind


@dataclass(frozen=True)
class Matrix(Picture):
    """A matrix of numbers up to 1, coloured and written.

    A name by itself is 1; a pair that is there once counts both ways.

    Attributes:
        of_names: rows and columns are the same names.
        lowest: of the colours; None: the smallest number, at most 0.
    """

    row: str = field(default="measure_a", kw_only=True)
    column: str = field(default="measure_b", kw_only=True)
    of_names: bool = True
    lowest: float | None = -1.0
    colours: str = "RdBu"
    beside: str = ""
    below: str = ""

    def draw(self, table: Any, ax: Any, said: Callable[[str], str]) -> None:
        """Draw the rows of a table; ``said`` gives the words of a label."""
        rows, columns = _names(table, self.row), _names(table, self.column)
        numbers = np.full((len(rows), len(columns)), np.nan)
        if self.of_names:
            rows = columns = list(dict.fromkeys([*rows, *columns]))
            numbers = np.eye(len(rows))
        cells = table[[self.row, self.column, self.value]]
        pairs = set(zip(table[self.row], table[self.column], strict=True))
        for a, b, value in cells.itertuples(index=False, name=None):
            numbers[rows.index(a), columns.index(b)] = value
            if self.of_names and (b, a) not in pairs:
                numbers[rows.index(b), columns.index(a)] = value
        lowest = self.lowest
        if lowest is None:
            lowest = float(np.nanmin(numbers, initial=0.0))
        image = ax.imshow(numbers, cmap=self.colours, vmin=lowest, vmax=1)
        texts = [[f"{value:.2f}" for value in row] for row in numbers.tolist()]
        axes.name_cells(ax, image, texts, rows, columns)
        ax.set_xlabel(self.below)
        ax.set_ylabel(self.beside)
        axes.colour_bar(ax, image, self.meaning)


@dataclass(frozen=True)
class Symbols(Picture):
    """A matrix of symbols on colours.

    Attributes:
        symbols: symbol and colour (1 blue, -1 red, 0 grey) of each value.
    """

    symbols: Mapping[str, tuple[str, float]]

    def draw(self, table: Any, ax: Any, said: Callable[[str], str]) -> None:
        """Draw the rows of a table; ``said`` gives the words of a label."""
        rows, columns = _names(table, self.row), _names(table, self.column)
        cells = zip(table[self.row], table[self.column], table[self.value], strict=True)
        value_of = {(a, b): value for a, b, value in cells}
        symbols = [[""] * len(columns) for _ in rows]
        colours = np.zeros((len(rows), len(columns)))
        for i, a in enumerate(rows):
            for j, b in enumerate(columns):
                if (a, b) in value_of:
                    symbols[i][j], colours[i, j] = self.symbols[value_of[a, b]]
        image = ax.imshow(
            colours, cmap="coolwarm_r", vmin=-1.6, vmax=1.6, aspect="auto"
        )
        axes.name_cells(ax, image, symbols, rows, columns)


@dataclass(frozen=True)
class Shares(Picture):
    """A horizontal bar for each name of the marks' index, of parts in different colours.

    Attributes:
        parts: columns, and what they mean: at most five, the last two of something bad and of what
            is neither.
    """

    parts: Mapping[str, str]

    def draw(self, table: Any, ax: Any, said: Callable[[str], str]) -> None:
        """Draw the rows of a table; ``said`` gives the words of a label."""
        left = np.zeros(len(table))
        colours = (
            axes.FIRST,
            axes.line_style(1, 5)["color"],
            axes.line_style(2, 5)["color"],
            _BAD,
            _NEITHER,
        )
        for (column, meaning), colour in zip(self.parts.items(), colours, strict=True):
            ax.barh(
                range(len(table)), table[column], left=left, label=meaning, color=colour
            )
            left += table[column].to_numpy()
        axes.name_ticks(ax.yaxis, table.index.tolist())
        ax.invert_yaxis()
        ax.set_xlabel(self.meaning)
        axes.show_legend(ax)
