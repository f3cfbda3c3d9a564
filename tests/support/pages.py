"""HTML reports, read back: their tables, their text, the data of their query browser."""

from __future__ import annotations

import json
import random
import re
import zlib
from base64 import b64decode
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import lxml.html as lxml_html
import numpy as np
import pandas as pd

import ir_lexirecall as irl
from ir_lexirecall.comparison import Comparison

QUICK = irl.SignificanceTest(n_resamples=99, progress=False)

HOSTILE = [
    "<script>alert(1)</script>",
    "</title><img src=x onerror=alert(1)>",
    "\"onmouseover='alert(1)'",
    "]]>&amp;$\\frac{{b}$",
    "_{a}%s\x0b",
]
"""Names that would do harm in HTML, SVG, JavaScript, TeX or a format string."""


def shuffled(
    qrels: dict[str, dict[str, int]], seed: int
) -> dict[str, dict[str, float]]:
    """A run that finds most of what is relevant, in random order."""
    dice = random.Random(seed)
    return {
        q: {d: dice.random() for d in [*docs, *"xyz"] if dice.random() < 0.8}
        for q, docs in qrels.items()
    }


def hostile_comparison() -> Comparison:
    """Runs, queries and documents with names that would do harm."""
    qrels = {query: {f"{query}{i}": 1 for i in range(3)} for query in HOSTILE}
    runs = {name: shuffled(qrels, seed) for seed, name in enumerate(HOSTILE)}
    return irl.compare(
        qrels, runs, {HOSTILE[0]: "AP", "LR": "LR", "lexirecall": "lexirecall"}
    )


def page_of(result: Any, **options: Any) -> str:
    """The page that a report writes."""
    with TemporaryDirectory() as folder:
        return irl.report(result, Path(folder) / "report.html", **options).read_text(
            encoding="utf-8"
        )


_STORED = re.compile('<script type="text/plain" class="stored">([^<]*)</script>')


def whole(page: str) -> str:
    """Return the page with what is stored compressed in its place, as the page's script puts it there."""
    return _STORED.sub(lambda match: unpacked(match[1]), page)


def unpacked(packed: str) -> str:
    """Return the text of what is stored compressed."""
    return zlib.decompress(b64decode(packed)).decode("utf-8")


def root(page: str) -> Any:
    """Return the page as a tree."""
    return lxml_html.document_fromstring(whole(page))


def table(page: str, caption: str) -> pd.DataFrame:
    """A table of the page by the beginning of its caption, with all digits of its numbers; columns as the API calls them."""
    tables = [
        (element, element.find("caption"))
        for element in root(page).xpath("//table[caption]")
    ]
    (found,) = (
        element for element, said in tables if said.text_content().startswith(caption)
    )
    heads = [
        head
        for head in found.iterfind("thead/tr/th")
        if head.get("data-column") is not None
    ]
    places = [list(heads[0].getparent()).index(head) for head in heads]
    numeric = ["number" in (head.get("class") or "").split() for head in heads]
    rows = [
        [
            float(cells[i].get("data-value", "nan"))
            if n
            else cells[i].get("data-value", cells[i].text_content())
            for i, n in zip(places, numeric, strict=True)
        ]
        for cells in map(list, found.iterfind("tbody/tr"))
    ]
    return pd.DataFrame(rows, columns=[head.get("data-column") for head in heads])


def text_of(page: str, path: str) -> str:
    """The text of some elements, blanks joined."""
    return re.sub(
        r"\s+",
        " ",
        " ".join(element.text_content() for element in root(page).iterfind(path)),
    )


def same_numbers(shown: pd.DataFrame, expected: pd.DataFrame) -> None:
    """Every number of the API is on the page, digit by digit."""
    assert list(shown.columns) == list(map(str, expected.columns))
    for name in shown.columns:
        values = expected[name]
        if values.dtype.kind in "iuf":
            np.testing.assert_array_equal(
                shown[name].to_numpy(), values.to_numpy(dtype=float, na_value=np.nan)
            )
        elif values.dtype.kind == "b":
            assert shown[name].tolist() == [
                "yes" if value else "no" for value in values
            ]
        else:
            assert shown[name].tolist() == [
                "–" if pd.isna(value) else value for value in values
            ]


def browsed(page: str, place: int = 0) -> dict[str, Any]:
    """The data of the query browser."""
    packed = root(page).find_class("browser-data")[place].text
    data: dict[str, Any] = json.loads(unpacked(packed))
    return data


def ranking_in(
    data: dict[str, Any], run: str, query_id: str
) -> list[tuple[int, str, float | None]]:
    """What the query browser shows of a ranking: rank, document, grade (None: no judgment)."""
    q = [query["id"] for query in data["queries"]].index(query_id)
    packed = data["rankings"][data["runs"].index(run)]
    ranks = np.cumsum(packed["step"][q]).tolist()
    return [
        (rank, data["docs"][q][number], data["grades"][q][number])
        for rank, number in zip(ranks, packed["doc"][q], strict=True)
    ]
