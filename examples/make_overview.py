"""Draw the picture of the README, for light and dark pages: ``overview-light.svg`` and ``overview-dark.svg`` in the documentation.

Left: two rankings of one query, and what decides between them. Right: all queries of the embedded collection, against a baseline.

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


def overview() -> Drawing:
    """Two rankings of one query and what decides between them; and all queries, against a baseline."""
    runs, qrels = demo.runs(), demo.qrels()
    relevant = set(
        qrels[(qrels["query_id"] == "q06") & (qrels["relevance"] > 0)]["doc_id"]
    )
    result = irl.compare(qrels, runs, ["lexirecall", "nDCG@10"], baseline="bm25")
    decided = result.explain("bm25", "bm25_rerank").set_index("query_id").loc["q06"]
    figure = Figure(figsize=(6.4, 2.5))
    left, right = map(
        plain, figure.subplots(1, 2, width_ratios=[1, 1], gridspec_kw={"wspace": 0.6})
    )
    for y, (name, rank) in enumerate((("bm25", "rank_a"), ("bm25_rerank", "rank_b"))):
        run = (
            runs[name][runs[name]["query_id"] == "q06"]
            .sort_values(["score", "doc_id"], ascending=False)
            .head(SHOWN)
        )
        for x, doc in enumerate(run["doc_id"]):
            colour = (
                EMPTY
                if doc not in relevant
                else DECIDES
                if x + 1 == decided[rank]
                else BLUES["1"]
            )
            left.add_patch(
                Rectangle(
                    (x + 0.06, 1.5 * y + 0.1), 0.88, 0.8, facecolor=colour, linewidth=0
                )
            )
    left.set_xlim(0, SHOWN)
    left.set_ylim(3.1, -0.1)
    left.set_yticks([0.5, 2.0], ["A", "B"])
    left.set_xticks([i - 0.5 for i in (1, 5, 10)], ["1", "5", "10"])
    left.set_xlabel("rank (blue: relevant; purple: decides)")
    said = "One query, 5 relevant in both: the\nlast one decides, A has it earlier"
    left.set_title(said, fontsize=9, color=INK, loc="left")
    table = result.table()
    table = table[table["criterion"] == "lexirecall"].reset_index(drop=True)
    for y, row in table.iterrows():
        start = 0
        for kind, colour, ink in (
            ("wins", BLUES["2"], "white"),
            ("ties", EMPTY, INK),
            ("losses", LOST, "white"),
        ):
            count = row[kind]
            right.barh(y, count, left=start, color=colour, height=0.7)
            if count:
                right.text(
                    start + count / 2,
                    y,
                    str(count),
                    ha="center",
                    va="center",
                    fontsize=8,
                    color=ink,
                )
            start += count
    right.set_yticks(range(len(table)), table["run_a"])
    right.invert_yaxis()
    right.set_xticks([])
    right.set_title(
        "All 16 queries, against bm25:\nbetter, tie, worse",
        fontsize=9,
        color=INK,
        loc="left",
    )
    counts = "; ".join(
        f"{row['run_a']} {row['wins']}, {row['ties']}, {row['losses']}"
        for _, row in table.iterrows()
    )
    one = "Two rankings of one query with five relevant documents each, of which the last one decides"
    return Drawing(
        figure, f"{one}; and all queries, better, tied and worse than bm25: {counts}"
    )


def main() -> None:
    """Write both files."""
    parser = argparse.ArgumentParser(description="Draw the picture of the README.")
    pages = Path(__file__).resolve().parents[1] / "ir_lexirecall" / "pt_docs"
    parser.add_argument(
        "--out",
        type=Path,
        default=pages,
        help="folder of the pictures (default: the documentation's)",
    )
    folder: Path = parser.parse_args().out
    drawing = overview()
    svg = shorter(drawing.svg).replace("'DejaVu Sans'", "system-ui, 'DejaVu Sans'")
    svg = svg.replace(
        ' version="1.1">', f' version="1.1">\n<title>{escape(drawing.text)}</title>', 1
    )
    for name, ink in (("light", "#1f2328"), ("dark", "#e6edf3")):
        (folder / f"overview-{name}.svg").write_text(
            svg.replace(INK, ink), encoding="utf-8"
        )


if __name__ == "__main__":
    main()
