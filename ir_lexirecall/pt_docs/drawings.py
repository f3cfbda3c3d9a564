"""Pictures of the documentation, drawn from the library's own numbers.

They are SVG texts with a description for those who cannot see them.
"""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

import matplotlib
import pandas as pd
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.text import Text

import ir_lexirecall as irl
from ir_lexirecall.data import demo
from ir_lexirecall.measures.declaration import REGISTRY

INK = "#010203"  # stands for the colour of the letters around the picture
BLUES = {"1": "#9ecae1", "2": "#3182bd", "3": "#08519c"}
SUBTOPICS = {"a": "#3182bd", "b": "#e6862f", "c": "#4d9d4d"}
EMPTY = "#8884"

ASPECTS = {"relevance": 2, "quality": 2}
BLOCKS = map(
    str.splitlines,
    (Path(__file__).parent / "rankings.txt").read_text(encoding="utf-8").split("\n\n"),
)
RANKINGS = {
    family: [line.split() for line in lines]
    for families, *lines in BLOCKS
    for family in families.split()
}
"""Rankings that the measures of each family are drawn for, of at most ten documents.

'.' is a document that is not relevant.
"""
# Families with a curve: what one relevant document is worth.
OF_RANKS = ("binary", "collections", "graded")
MEANING = {
    "subtopics": "letters are subtopics",
    "aspects": "grades for relevance and quality",
}
MEANING |= dict.fromkeys(("binary", "collections"), "1 is relevant")


class Drawing:
    """A figure as SVG with a text for those who cannot see it."""

    def __init__(self, figure: Figure, text: str, letters: str = "none") -> None:
        self.text: str = text
        written = io.StringIO()
        with matplotlib.rc_context(
            {"svg.fonttype": letters, "svg.hashsalt": "ir-lexirecall", "font.size": 9}
        ):
            figure.savefig(
                written,
                format="svg",
                transparent=True,
                bbox_inches="tight",
                metadata={"Date": None},
            )
        self.svg: str = written.getvalue()

    def inline(self, name: str) -> str:
        """Return the picture as a part of an HTML page, in the page's colours."""
        svg = self.svg[self.svg.index("<svg") :].replace(INK, "currentColor")
        svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg, flags=re.DOTALL)
        used = set(re.findall(r"#([\w-]+)", svg))
        svg = re.sub(
            r' id="([\w-]+)"',
            lambda i: f' id="{name}-{i[1]}"' if i[1] in used else "",
            svg,
        )
        svg = re.sub(r'(url\(|href=")#([\w-]+)', rf"\1#{name}-\2", svg)
        tag, body = svg.split(">", 1)
        width = re.search(r'width="([\d.]+)pt"', tag)
        if width:
            size = f' style="width: 100%; height: auto; max-width: {float(width[1]) * 1.35:.0f}px"'
        else:
            size = ""
        tag = re.sub(r' (height|width)="[^"]*"', "", tag).removeprefix("<svg")
        head = f'<svg class="drawn" role="img" aria-label="{escape(self.text, quote=True)}"{size}'
        return re.sub(r"\s*\n\s*", " ", f"{head}{tag}>{body}")


def shorter(svg: str) -> str:
    """Return an SVG of matplotlib's without metadata, indentation and digits that nobody sees."""
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg, flags=re.DOTALL)
    return re.sub(r"(\d+\.\d\d)\d+", r"\1", re.sub(r"\n\s+", "\n", svg))


def plain(ax: Any) -> Any:
    """Return the axes without a frame, in the colour of the page."""
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0, colors=INK, labelsize=9)
    for words in (ax.title, ax.xaxis.label, ax.yaxis.label):
        words.set_color(INK)
    return ax


# -- what a measure rewards ------------------------------------------------------------------------


def rewards(name: str) -> Drawing:
    """Draw rankings ordered by a measure.

    For families with a curve, also draw what one relevant document is worth at each rank.
    """
    family, measure = REGISTRY[name].FAMILY, with_required(name)
    cells, curve = RANKINGS[family], family in OF_RANKS
    value = irl.evaluate(measure, *collection(cells, family))[measure]
    order = sorted(
        range(len(cells)),
        key=lambda i: value[f"q{i}"],
        reverse=not REGISTRY[name].SMALLER_IS_BETTER,
    )
    figure = Figure(figsize=(7.4 if curve else 5.4, 0.3 * len(cells) + 0.5))
    if curve:
        left, right = figure.subplots(1, 2, width_ratios=[3, 2])
    else:
        left, right = figure.subplots(), None
    ladder(
        plain(left), [cells[i] for i in order], [float(value[f"q{i}"]) for i in order]
    )
    # The value of a ranking with one relevant document, by its rank.
    if right is not None:
        ranks, grade = list(range(1, 21)), 2 if family == "graded" else 1
        run = {
            f"q{i}": {**{f"x{j}": -float(j) for j in range(1, i)}, "d": -float(i)}
            for i in ranks
        }
        qrels = {f"q{i}": {"d": grade} for i in ranks}
        worth = irl.evaluate(measure, qrels, run)[measure]
        worths = [worth[f"q{i}"] for i in ranks]
        plain(right).plot(
            ranks, worths, color=BLUES["2"], marker="o", markersize=3, linewidth=1
        )
        right.set_ylim(bottom=0)
        right.set_xticks([1, 5, 10, 15, 20])
        right.set_xlabel("rank of the only relevant document")
        right.grid(color=EMPTY, linewidth=0.5)
    texts = "; ".join(f"{' '.join(cells[i])}: {value[f'q{i}']:.3g}" for i in order)
    about = (
        f"{MEANING.get(family, 'grades')}, "
        f"a dot is not {'judged' if family == 'unjudged' else 'relevant'}"
    )
    return Drawing(
        figure, f"{len(cells)} rankings ({about}), best first by {measure}: {texts}"
    )


def with_required(name: str) -> str:
    """Return the measure as text, with a value for every parameter that it requires."""
    defaults = {"max_rel": 2, "cutoff": 10, "aspects": ASPECTS, "recall": 0.5}
    params = {}
    for p, declared in REGISTRY[name].SUPPORTED_PARAMS.items():
        if declared.required:
            params[p] = defaults[p]
    if REGISTRY[name].FAMILY == "collections":
        params["n"] = 20
    return str(REGISTRY[name](**params))


def collection(
    cells: Sequence[Sequence[str]], family: str
) -> tuple[pd.DataFrame, dict[str, dict[str, float]]]:
    """Return qrels and a run in which the i-th ranking answers query ``q{i}``.

    Documents of the first ranking that another one lacks were not retrieved.
    """
    rows: list[dict[str, Any]] = []
    run = {}
    for i, ranking in enumerate(cells):
        run[f"q{i}"] = {f"d{place}": -float(place) for place in range(len(ranking))}
        if family in OF_RANKS:
            missing_labels = Counter(cells[0]) - Counter(ranking)
        else:
            missing_labels = Counter()
        missing = sorted(cell for cell in missing_labels.elements() if cell != ".")
        if family == "subtopics" and "c" not in "".join(ranking):
            missing = ["c"]
        documents = {
            f"d{place}": cell for place, cell in enumerate(ranking) if cell != "."
        }
        documents |= {f"missing{place}": cell for place, cell in enumerate(missing)}
        for doc_id, cell in documents.items():
            row = {"query_id": f"q{i}", "doc_id": doc_id}
            if family == "subtopics":
                rows += [
                    {**row, "subtopic_id": letter, "relevance": 1} for letter in cell
                ]
            elif family == "aspects":
                rows.append({**row, "relevance": int(cell[0]), "quality": int(cell[1])})
            else:
                rows.append({**row, "relevance": int(cell)})
    return pd.DataFrame(rows), run


def ladder(ax: Any, rankings: Sequence[Sequence[str]], values: Sequence[float]) -> None:
    """Draw a strip of cells for each ranking, and its value."""
    width = max(map(len, rankings))
    for y, (ranking, value) in enumerate(zip(rankings, values, strict=True)):
        for x, cell in enumerate(ranking):
            share = 0.88 / len(cell)
            # A cell shows its grade, its subtopics, or its two grades.
            for i, part in enumerate(cell):
                left = x + 0.06 + i * share
                colour = BLUES.get(part, SUBTOPICS.get(part, EMPTY))
                ax.add_patch(
                    Rectangle(
                        (left, y + 0.12), share, 0.76, facecolor=colour, linewidth=0
                    )
                )
                ink = "white" if part in ("2", "3", "a") else "black"
                at = x + 0.06 + (i + 0.5) * share
                if part != ".":
                    ax.text(
                        at,
                        y + 0.52,
                        part,
                        ha="center",
                        va="center",
                        fontsize=7,
                        color=ink,
                    )
        ax.text(width + 0.4, y + 0.5, f"{value:.3f}", va="center", color=INK)
    ax.set_xlim(0, width + 2.6)
    ax.set_ylim(len(rankings), 0)
    ax.set_yticks([0.5, len(rankings) - 0.5], ["best", "worst"])
    ax.set_xticks([0.5, width - 0.5, width + 1.3], ["rank 1", str(width), "value"])
    ax.xaxis.tick_top()


# -- comparisons -----------------------------------------------------------------------------------


def means() -> Drawing:
    """Draw how much each embedded run is preferred to all others."""
    figure = Figure(figsize=(6.4, 2.8))
    result = irl.compare(demo.qrels(), demo.runs())
    result.plot(ax=plain(figure.subplots()))
    means = ", ".join(
        f"{row.run} {row.mean:.2f}" for row in result.ranking().itertuples()
    )
    return in_colour_of_page(
        figure,
        f"Mean preference over all other runs by lexirecall, with 95% intervals: {means}",
    )


def pair() -> Drawing:
    """Draw what separates two embedded runs, query by query."""
    figure = Figure(figsize=(6.4, 3.4))
    result = irl.compare(
        demo.qrels(), {name: demo.run(name) for name in ("bm25", "ql")}
    )
    result.plot("pair", "bm25", "ql", ax=figure.subplots())
    row = result.table().iloc[0]
    text = (
        "For each query, the ranks of the relevant document that decides, blue in bm25 and orange "
        f"in ql: bm25 is preferred on {row['wins']}, ql on {row['losses']}, {row['ties']} are ties"
    )
    return in_colour_of_page(figure, text)


def in_colour_of_page(figure: Figure, words: str) -> Drawing:
    """Return the drawing with black letters and lines in the colour of the page.

    Grids get a grey that is quiet on any page.
    """
    for text in figure.findobj(Text):
        if to_hex(text.get_color()) == "#000000":
            text.set_color(INK)
    for ax in figure.axes:
        ax.spines[:].set_edgecolor(INK)
        ax.tick_params(color=INK)
        for line in (*ax.get_xgridlines(), *ax.get_ygridlines()):
            line.set_color(EMPTY)
    return Drawing(figure, words, "path")


DRAWINGS = {"means": means, "pair": pair}
