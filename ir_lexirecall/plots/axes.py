"""Make axes to draw on, and write names on them: as data, neither mathematics nor markup."""

from __future__ import annotations

import importlib
import sys
import textwrap
import threading
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ir_lexirecall._util.arrays import Bools
from ir_lexirecall._util.errors import required
from ir_lexirecall.present import text as texts

SMALL, TEXT, TITLE = 8.0, 9.0, 10.0
"""Sizes of letters in points: nothing is smaller than the first."""

FIRST, SECOND, GREY = "#0072B2", "#D55E00", "#6b6b6b"
"""Colours of two runs, and of neither; colour-blind readers tell them apart, also on paper."""

HATCH = "#cccccc"
"""The colour of hatching, light enough for the numbers over it."""

# The palette of Okabe and Ito.
_COLOURS = (FIRST, SECOND, "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_DASHES = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (5, 1.5, 1, 1.5)))
_MARKERS = "osD^vPX*<>"
_LARGEST = 40.0  # inches
_LONGEST = 40  # columns of a name
_OURS = "ir-lexirecall"  # marks figures that are nobody else's
_LETTERS_PER_INCH = 15.0  # of small print


def new_axes(ax: Any, size: tuple[float, float]) -> Any:
    """Return the axes that the user passed, or new ones of a size in inches.

    In a notebook (and in an interactive session that draws with pyplot) the figure is pyplot's, so
    that it is shown. Anywhere
    else, and in threads, pyplot is left alone: its figures, its current figure and its settings are
    global.
    """
    if ax is not None:
        return ax
    make = required("matplotlib.figure", "a picture", "matplotlib", "plots").Figure
    if threading.current_thread() is threading.main_thread():
        ipython, pyplot = (
            sys.modules.get(name) for name in ("IPython", "matplotlib.pyplot")
        )
        is_notebook = ipython is not None and hasattr(ipython.get_ipython(), "kernel")
        if is_notebook or (pyplot is not None and pyplot.isinteractive()):
            make = importlib.import_module("matplotlib.pyplot").figure
    figure = make(
        figsize=tuple(min(side, _LARGEST) for side in size), layout="constrained"
    )
    figure.set_gid(_OURS)
    return figure.subplots()


def line_style(place: int, count: int, points: int = 1) -> dict[str, Any]:
    """How to draw one of several lines so that lines that coincide can still be seen.

    Earlier lines (``place`` counts from 0) are wider than those drawn over them; colours, dashes
    and markers all change, and markers of different lines stand at different ones of their
    ``points``.
    """
    step = max(1, -(-points // 12))
    width = 1.8
    if count > 1:
        width = 1.2 + 3.0 * (count - 1 - place) / (count - 1)
    return {
        "color": _COLOURS[place % len(_COLOURS)],
        "linestyle": _DASHES[place % len(_DASHES)],
        "linewidth": width,
        "marker": _MARKERS[place % len(_MARKERS)],
        "markersize": 5.5,
        "markeredgecolor": "white",
        "markeredgewidth": 0.5,
        "markevery": (min(place * step // max(1, count), points - 1), step),
        "alpha": 0.9,
    }


def label(name: Any) -> str:
    r"""Return a name as pictures show it: in one line, without the middle of a long one.

    A measure is shown without long lists of values.

    >>> label("mean TOMA(aspects={'credibility':2,'relevance':3})@10")
    'mean TOMA(aspects=...)@10'
    >>> print(label("bm25\n" + "x" * 50 + "rm3"))
    bm25\nxxxxxxxxxxxxxx…xxxxxxxxxxxxxxxxrm3
    """
    shown = texts.short_names([str(name)]).get(str(name), str(name))
    return texts.shorten(texts.printable(shown), _LONGEST)


def labels(names: Sequence[Any]) -> list[str]:
    """Names as ``label`` shows them, numbered where they would look the same.

    >>> labels(["a" * 50, "b", "a" * 51])[1:]
    ['b', 'aaaaaaaaaaaaaaaaaaaa…aaaaaaaaaaaaaaaaaaa (2)']
    """
    shown: list[str] = []
    alike: dict[str, dict[str, int]] = {}
    for name in map(str, names):
        short = label(name)
        numbers = alike.setdefault(short, {})
        number = numbers.setdefault(name, len(numbers) + 1)
        if number == 1:
            shown.append(short)
        else:
            shown.append(f"{short} ({number})")
    return shown


def name_ticks(
    axis: Any, names: Sequence[Any], places: Sequence[float] | None = None, **style: Any
) -> None:
    """Write names at places of an axis, by default 0, 1, 2, ..."""
    style = {"fontsize": TEXT, **style}
    axis.set_ticks(
        range(len(names)) if places is None else places,
        labels(names),
        parse_math=False,
        **style,
    )


def legend_label(name: Any) -> str:
    """Return a name as the label of something drawn.

    Matplotlib leaves out of legends what begins with an underscore.

    >>> legend_label("bm25"), legend_label("_bm25")
    ('bm25', ' _bm25')
    """
    short = label(name)
    if short.startswith("_"):
        return f" {short}"
    return short


def show_legend(ax: Any) -> None:
    """Say beside the axes (where nothing is hidden) what is drawn how."""
    location = {
        "loc": "upper left",
        "bbox_to_anchor": (1.01, 1.0),
        "borderaxespad": 0.0,
        "frameon": False,
    }
    ax.legend(fontsize=TEXT, handlelength=3.2, **location)


def colour_bar(
    ax: Any, image: Any, meaning: str, limits: tuple[float, float] | None = None
) -> None:
    """Add a bar that says what the colours of an image mean."""
    bar = ax.figure.colorbar(image, ax=ax, shrink=0.8)
    if limits is not None:
        bar.ax.set_ylim(*limits)
    bar.set_label(meaning, parse_math=False, fontsize=TEXT)
    bar.ax.tick_params(labelsize=TEXT)


def name_cells(
    ax: Any,
    image: Any,
    cells: Sequence[Sequence[str]],
    rows: list[str],
    columns: list[str],
) -> None:
    """Name rows and columns of an image, and write a text into every cell, black or white."""
    name_ticks(ax.xaxis, columns, rotation=45, ha="right", rotation_mode="anchor")
    name_ticks(ax.yaxis, rows)
    for i, row in enumerate(cells):
        for j, text in enumerate(row):
            red, green, blue, _ = image.to_rgba(image.get_array()[i, j])
            dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.55
            ax.text(
                j,
                i,
                text,
                ha="center",
                va="center",
                fontsize=SMALL,
                color="white" if dark else "black",
            )


def hatch_cells(ax: Any, cells: Bools) -> None:
    """Hatch some cells of an image, below the texts in them."""
    from matplotlib.collections import PolyCollection

    corners = np.array([(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)])
    squares = np.argwhere(cells)[:, None, ::-1] + corners  # x is the column, y the row
    if len(squares):
        ax.add_collection(
            PolyCollection(
                squares,
                facecolor="none",
                edgecolor=HATCH,
                hatch="////",
                linewidth=0,
                zorder=1,
            )
        )


def finish(
    ax: Any, caption: str = "", title: str = "", measures: Iterable[Any] = ()
) -> Any:
    """Add a title and small print (to figures of ours), and return the axes.

    All texts on the axes are taken as they are.

    Letters of axes that have no size yet get one; on a figure that somebody else composes, small
    print would be in the way. The small print also says what short names of ``measures`` stand for.
    """
    from matplotlib.text import Text

    if title:
        ax.set_title(title, fontsize=TITLE, loc="left", wrap=True)
    for axis in (ax.xaxis, ax.yaxis):
        axis.label.set_size(TEXT)
        # matplotlib writes powers as mathematics, which is off for the sake of names.
        if axis.get_scale() == "log":
            axis.set_major_formatter("{x:g}")
            axis.set_minor_formatter("")
    ax.tick_params(labelsize=TEXT)
    if not ax.images:
        ax.spines[["top", "right"]].set_visible(False)
    figure = ax.figure
    caption = "; ".join(
        filter(
            None,
            [texts.explained_names(texts.short_names(map(str, measures))), caption],
        )
    )
    if caption and figure.get_gid() == _OURS:
        width = int((figure.get_size_inches()[0] - 0.2) * _LETTERS_PER_INCH)
        small = textwrap.fill(
            texts.printable(caption), max(30, width), break_on_hyphens=False
        )
        figure.supxlabel(
            small,
            fontsize=SMALL,
            color=GREY,
            x=0.01,
            ha="left",
            multialignment="left",
            parse_math=False,
        )
    for shown in ax.findobj(Text):
        shown.set_parse_math(False)
    return ax
