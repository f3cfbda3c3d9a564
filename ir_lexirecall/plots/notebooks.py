"""Results in notebooks: what they say, a picture, how they were made."""

from __future__ import annotations

import io
import warnings
from base64 import b64encode
from collections.abc import Callable
from functools import partial
from typing import Any

from ir_lexirecall.benchmarks import Benchmark
from ir_lexirecall.comparison import Comparison
from ir_lexirecall.plots.across_collections import rank_intervals
from ir_lexirecall.plots.compared_runs import means, means_size
from ir_lexirecall.present.comparisons import comparison_finding
from ir_lexirecall.present.findings import html
from ir_lexirecall.present.macro_means import benchmark_finding
from ir_lexirecall.present.standings import standings_of
from ir_lexirecall.present.text import escape_html, provenance_line

_MOST_DRAWN = 60  # runs in a picture
_DPI = 110


def inline(draw: Callable[..., Any], size: tuple[float, float], description: str = "") -> str:
    """A picture as an element of HTML, drawn without a display and without pyplot; empty where matplotlib is not installed.

    >>> inline(lambda ax: ax.plot([1, 2]), (2, 1)).startswith('<img alt="" ')
    True
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        return ""
    figure = Figure(figsize=size, layout="constrained")
    canvas = FigureCanvasAgg(figure)
    draw(ax=figure.subplots())
    stream = io.BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")
        canvas.print_figure(stream, format="png", dpi=_DPI, bbox_inches="tight", pad_inches=0.05)
    data = b64encode(stream.getvalue()).decode("ascii")
    width = round(size[0] * 96)
    return f'<img alt="{escape_html(description)}" style="max-width:100%" width="{width}" src="data:image/png;base64,{data}">'


def notebook(result: Comparison) -> str:
    said = comparison_finding(result)
    standings = standings_of(result)
    drawn = bool(standings) and len(result.runs) <= _MOST_DRAWN
    size = means_size(len(result.runs))
    picture = inline(partial(means, result, standings[0].name), size, said.title) if drawn else ""
    return html(said, picture, provenance_line(result.provenance))


def benchmark_notebook(result: Benchmark) -> str:
    """A benchmark as HTML; of a single collection as its comparison."""
    if len(result) == 1:
        return notebook(next(iter(result.values())))
    said = benchmark_finding(result)
    drawn, size = said.ranking is not None and 1 < len(result.runs) <= _MOST_DRAWN, (7.0, 1.5 + 0.32 * len(result.runs))
    picture = inline(partial(rank_intervals, result), size, said.title) if drawn else ""
    return html(said, picture, provenance_line(result.provenance))
