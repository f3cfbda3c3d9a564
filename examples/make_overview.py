"""Draw the two pictures of the documentation's first page, for light and dark pages.

``overview-one-light.svg`` has two rankings of one query, and what decides between them; ``overview-all-light.svg`` has
all queries of the embedded collection, against a baseline.

Usage: ``python examples/make_overview.py [--out FOLDER]``
"""

from __future__ import annotations

import argparse
from html import escape
from pathlib import Path

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

import ir_lexirecall as irl
from ir_lexirecall import demo
from ir_lexirecall.pt_docs.drawings import BLUES, EMPTY, INK, Drawing, plain, shorter

DECIDES, LOST = "#9467bd", "#d9480f"
SHOWN = 13  # documents of a ranking


def one_query() -> Drawing:
    """Draw two rankings of one query, and what decides between them."""
    runs, qrels = demo.runs(), demo.qrels()
    relevant = set(
        qrels[(qrels["query_id"] == "q06") & (qrels["relevance"] > 0)]["doc_id"]
    )
    explained = irl.compare(qrels, runs).explain("bm25", "bm25_rerank")
    decided = explained.set_index("query_id").loc["q06"]
    figure = Figure(figsize=(3.2, 2.3))
    ax = plain(figure.subplots())
    for y, (name, rank) in enumerate((("bm25", "rank_a"), ("bm25_rerank", "rank_b"))):
        run = (
            runs[name][runs[name]["query_id"] == "q06"]
            .sort_values(["score", "doc_id"], ascending=False)
            .head(SHOWN)
        )
        for x, doc in enumerate(run["doc_id"]):
            colour = BLUES["1"] if doc in relevant else EMPTY
            if x + 1 == decided[rank]:
                colour = DECIDES
            corner = (x + 0.06, 1.5 * y + 0.1)
            ax.add_patch(Rectangle(corner, 0.88, 0.8, facecolor=colour, linewidth=0))
    ax.set_xlim(0, SHOWN)
    ax.set_ylim(3.1, -0.1)
    ax.set_yticks([0.5, 2.0], ["A", "B"])
    ax.set_xticks([i - 0.5 for i in (1, 5, 10)], ["1", "5", "10"])
    ax.set_xlabel("rank (blue: relevant; purple: decides)")
    title = "One query, 5 relevant in both: the\nlast one decides, A has it earlier"
    ax.set_title(title, fontsize=9, color=INK, loc="left")
    return Drawing(
        figure,
        "Two rankings of one query with five relevant documents each, of which the last one decides",
    )


def all_queries() -> Drawing:
    """Draw the wins, ties and losses of all runs against a baseline."""
    table = irl.compare(demo.qrels(), demo.runs(), baseline="bm25").table()
    figure = Figure(figsize=(3.2, 2.3))
    ax = plain(figure.subplots())
    for y, row in table.iterrows():
        start = 0
        for kind, colour, ink in (
            ("wins", BLUES["2"], "white"),
            ("ties", EMPTY, INK),
            ("losses", LOST, "white"),
        ):
            count = row[kind]
            ax.barh(y, count, left=start, color=colour, height=0.7)
            if count:
                style = {"ha": "center", "va": "center", "fontsize": 8, "color": ink}
                ax.text(start + count / 2, y, str(count), **style)
            start += count
    ax.set_yticks(range(len(table)), table["run_a"])
    ax.invert_yaxis()
    ax.set_xticks([])
    title = "All 16 queries, against bm25:\nbetter, tie, worse"
    ax.set_title(title, fontsize=9, color=INK, loc="left")
    counts = "; ".join(
        f"{row['run_a']} {row['wins']}, {row['ties']}, {row['losses']}"
        for _, row in table.iterrows()
    )
    return Drawing(figure, f"All queries, better, tied and worse than bm25: {counts}")


def main() -> None:
    """Write the four files."""
    parser = argparse.ArgumentParser(
        description="Draw the pictures of the documentation's first page."
    )
    pages = Path(__file__).resolve().parents[1] / "ir_lexirecall" / "pt_docs"
    parser.add_argument(
        "--out",
        type=Path,
        default=pages,
        help="folder of the pictures (default: the documentation's)",
    )
    folder: Path = parser.parse_args().out
    for part, drawing in (("one", one_query()), ("all", all_queries())):
        svg = shorter(drawing.svg).replace("'DejaVu Sans'", "system-ui, 'DejaVu Sans'")
        title = f"<title>{escape(drawing.text)}</title>"
        svg = svg.replace(' version="1.1">', f' version="1.1">\n{title}', 1)
        for name, ink in (("light", "#1f2328"), ("dark", "#e6edf3")):
            path = folder / f"overview-{part}-{name}.svg"
            path.write_text(svg.replace(INK, ink), encoding="utf-8")


if __name__ == "__main__":
    main()
