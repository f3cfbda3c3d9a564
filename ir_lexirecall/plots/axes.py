"""Axes to draw on, and names of runs, queries and measures on them: as data, neither mathematics nor markup."""

from __future__ import annotations

import sys
import textwrap
import threading
from collections.abc import Sequence
from typing import Any

from ir_lexirecall import text as texts
from ir_lexirecall.errors import needs

_LARGEST = 40.0  # inches
_LONGEST = 40  # columns of a name
_SMALL_PRINT = 4  # points


def new_axes(ax: Any, size: tuple[float, float]) -> Any:
    """The axes that the user passed, or new ones of a size in inches."""
    if ax is not None:
        return ax
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        raise ModuleNotFoundError(needs("a picture", "matplotlib", "plots")) from None
    width, height = (min(side, _LARGEST) for side in size)
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None and threading.current_thread() is threading.main_thread():  # somebody draws interactively
        return pyplot.subplots(figsize=(width, height), layout="constrained")[1]
    return Figure(figsize=(width, height), layout="constrained").subplots()


def label(name: Any) -> str:
    r"""A name as pictures show it: in one line, the middle of a long one left out.

    >>> print(label("bm25\n" + "x" * 50 + "rm3"))
    bm25\nxxxxxxxxxxxxxx…xxxxxxxxxxxxxxxxrm3
    """
    return texts.shorten(texts.printable(str(name)), _LONGEST)


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
        shown.append(short if number == 1 else f"{short} ({number})")
    return shown


def name_ticks(axis: Any, names: Sequence[Any], places: Sequence[float] | None = None, **style: Any) -> None:
    """Write names at places of an axis, by default 0, 1, 2, ..."""
    axis.set_ticks(range(len(names)) if places is None else places, labels(names), parse_math=False, **style)


def legend_label(name: Any) -> str:
    """A name as the label of something drawn: matplotlib leaves out of legends what begins with an underscore.

    >>> legend_label("bm25"), legend_label("_bm25")
    ('bm25', ' _bm25')
    """
    short = label(name)
    return f" {short}" if short.startswith("_") else short


def colour_bar(ax: Any, image: Any, meaning: str) -> None:
    """Add a bar that says what the colours of an image mean."""
    bar = ax.figure.colorbar(image, ax=ax, shrink=0.8)
    bar.set_label(meaning, parse_math=False)


def finish(ax: Any, caption: str = "") -> Any:
    """Add small print below, and have all names on the axes taken as they are; returns the axes."""
    from matplotlib.text import Text
    from matplotlib.ticker import LogFormatter

    if caption:
        _small_print(ax, texts.printable(caption))
    powers = {  # the numbers of a logarithmic axis are formulas
        shown
        for axis in (ax.xaxis, ax.yaxis)
        if isinstance(axis.get_major_formatter(), LogFormatter)
        for shown in axis.get_ticklabels(which="both")
    }
    for shown in ax.findobj(lambda artist: isinstance(artist, Text) and artist not in powers):
        shown.set_parse_math(False)
    return ax


def _small_print(ax: Any, caption: str) -> None:
    """Write a caption at the bottom of the figure, in as many lines as it takes; the axes make room for it."""
    width, height = ax.figure.get_size_inches()
    lines = textwrap.wrap(caption, max(20, int(width * 72 / (0.58 * _SMALL_PRINT))))
    written = ax.annotate(
        "\n".join(lines),
        (0, 0),
        (2, 2),
        "figure points",
        "offset points",
        fontsize=_SMALL_PRINT,
        color="grey",
        annotation_clip=False,
    )
    written.set_in_layout(False)  # a long line would leave no room for the axes
    engine = ax.figure.get_layout_engine()
    if engine is not None and "rect" in engine.get():
        share = min(0.5, (1.3 * _SMALL_PRINT * len(lines) + 4) / (72 * height))
        engine.set(rect=(0, share, 1, 1 - share))
