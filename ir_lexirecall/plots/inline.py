"""Pictures within HTML, for notebooks."""

from __future__ import annotations

import io
import warnings
from base64 import b64encode
from collections.abc import Callable
from typing import Any

from ir_lexirecall.text import escape_html

_DPI = 110


def inline(draw: Callable[..., Any], size: tuple[float, float], description: str = "") -> str:
    """A picture as an element of HTML, drawn without a display and without pyplot; empty where matplotlib is not installed.

    Args:
        draw: draws on the axes that it gets as ``ax``.
        size: of the picture, in inches.
        description: for readers who do not see it.

    >>> inline(lambda ax: ax.plot([1, 2]), (2, 1)).startswith('<img alt="" ')
    True
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
        from matplotlib.text import Annotation
    except ModuleNotFoundError:
        return ""
    figure = Figure(figsize=size, layout="constrained")
    canvas = FigureCanvasAgg(figure)
    ax = figure.subplots()
    draw(ax=ax)
    for small_print in [text for text in ax.texts if isinstance(text, Annotation)]:  # it stands beside the picture
        small_print.remove()
    stream = io.BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")
        canvas.print_figure(stream, format="png", dpi=_DPI, bbox_inches="tight", pad_inches=0.05)
    data = b64encode(stream.getvalue()).decode("ascii")
    width = round(size[0] * 96)
    return f'<img alt="{escape_html(description)}" style="max-width:100%" width="{width}" src="data:image/png;base64,{data}">'
