"""What to judge next as files: CSV for assessors' tools, and one HTML page to judge in that needs no server."""

from __future__ import annotations

import hashlib
import json
import os
from base64 import b64encode
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeAlias

from ir_lexirecall._util.errors import check_integer, entry, required
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall.data.collection import Collection
from ir_lexirecall.io.files import written_whole

_RANK = "rank_"
_MOST_GRADES = 10  # that have a key
TextsLike: TypeAlias = Mapping[str, str] | Collection
"""Texts by document id, or a collection that has them."""


@entry
def write_pool_csv(
    table: pd.DataFrame,
    path: str | os.PathLike[str],
    *,
    texts: TextsLike | None = None,
    queries: TextsLike | None = None,
) -> Path:
    """Write what ``Comparison.to_judge`` gave as CSV, with texts and an empty column ``relevance`` to fill in.

    Args:
        table: documents to judge, with the columns ``query_id`` and ``doc_id``.
        path: of the file.
        texts: texts by document id, or a ``Collection`` that holds them.
        queries: texts by query id, or a ``Collection``; by default those of ``texts``, if that is one.

    Returns:
        The file's path. ``merged`` (``--judged``) reads the rows that have a grade in ``relevance`` then.

    Raises:
        ValueError: the table lacks a column, or the folder does not exist.
    """
    _check(table, path)
    of_docs, of_queries = _texts(table, texts, queries)
    out = table.copy()
    out.insert(1, "query", [_cell(of_queries.get(query_id, "")) for query_id in table["query_id"]])
    out.insert(3, "text", [_cell(of_docs.get(doc_id, "")) for doc_id in table["doc_id"]])
    out.insert(4, "relevance", "")
    with written_whole(path) as temporary:
        out.to_csv(temporary, index=False)
    return Path(path)


@entry
def write_pool_page(
    table: pd.DataFrame,
    path: str | os.PathLike[str],
    *,
    texts: TextsLike | None = None,
    queries: TextsLike | None = None,
    max_rel: int = 1,
    labels: Sequence[str] = (),
    title: str = "Documents to judge",
) -> Path:
    """Write what ``Comparison.to_judge`` gave as one HTML page to judge in.

    The page needs no network and no server. Number keys judge, what was judged is kept in the browser, and it is saved as a file of
    qrels that is merged with the judgments (``merged``). Where the runs have a document is folded away, so
    that it does not sway who judges.

    Args:
        table: documents to judge, with the columns ``query_id``, ``doc_id`` and ``rank_NAME`` for runs.
        path, texts, queries: as in ``write_pool_csv``.
        max_rel: top grade of the scale, at most 9.
        labels: what the grades 0, 1, ... mean.
        title: of the page.

    Returns:
        The file's path.

    Raises:
        ModuleNotFoundError: Jinja2 is not installed.
        ValueError: the table lacks a column, the folder does not exist, or ``max_rel`` is out of range.
    """
    _check(table, path)
    check_integer("max_rel", max_rel, most=_MOST_GRADES - 1)
    page = _page(table, *_texts(table, texts, queries), max_rel, labels, title)
    with written_whole(path) as temporary:
        temporary.write_text(page, encoding="utf-8", errors="xmlcharrefreplace", newline="\n")
    return Path(path)


def _cell(text: str) -> str:
    """A text that no spreadsheet takes for a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


def _check(table: pd.DataFrame, path: str | os.PathLike[str]) -> None:
    for column in ("query_id", "doc_id"):
        if column not in getattr(table, "columns", ()):
            raise ValueError(f"the table has no column {column!r}; give what to_judge gave")
    folder = Path(path).parent
    if not folder.is_dir():
        raise ValueError(f"{os.fspath(path)}: there is no folder {str(folder)!r} to write into")


def _texts(
    table: pd.DataFrame, texts: TextsLike | None, queries: TextsLike | None
) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Texts of documents and of queries, by their ids."""
    if queries is None and isinstance(texts, Collection):
        queries = texts
    if isinstance(texts, Collection):
        texts = texts.texts(table["doc_id"].tolist())
    if isinstance(queries, Collection):
        queries = queries.query_texts
    return texts or {}, queries or {}


def _page(
    table: pd.DataFrame,
    texts: Mapping[str, str],
    queries: Mapping[str, str],
    max_rel: int,
    labels: Sequence[str],
    title: str,
) -> str:
    jinja2 = required("jinja2", "a page to judge in", "Jinja2", "report")
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("ir_lexirecall.judging"), autoescape=True, undefined=jinja2.StrictUndefined
    )
    ranks = [column for column in table.columns if str(column).startswith(_RANK)]
    rows = table[["query_id", "doc_id"]].itertuples(index=False, name=None)
    places = table[ranks].astype(object).where(table[ranks].notna(), None).to_numpy().tolist()
    documents = [
        {"query": query_id, "doc": doc_id, "text": texts.get(doc_id), "ranks": place}
        for (query_id, doc_id), place in zip(rows, places, strict=True)
    ]
    meanings = [labels[grade] if grade < len(labels) else "" for grade in range(max_rel + 1)]
    keys = json.dumps([[document["query"], document["doc"]] for document in documents])
    pool = {
        "fingerprint": hashlib.sha256(keys.encode("utf-8", "surrogatepass")).hexdigest()[:16],
        "runs": [str(column).removeprefix(_RANK) for column in ranks],
        "grades": meanings if labels else ["not relevant", *[""] * max_rel],
        "queries": {query_id: queries[query_id] for query_id in table["query_id"].unique() if query_id in queries},
        "documents": documents,
    }
    style, script = _asset("pool.css"), _asset("pool.js")
    assets = {"style": style, "style_hash": _hash(style), "script": script, "script_hash": _hash(script)}
    template = environment.get_template("pool.html")
    return template.render(title=title, version=version("ir-lexirecall"), pool=_json(pool), **assets)


def _json(value: Any) -> str:
    r"""JSON that can stand in a page: nothing in it ends the element.

    >>> _json("</script>")
    '"\\u003c/script\\u003e"'
    """
    text = json.dumps(value)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _asset(name: str) -> str:
    return files("ir_lexirecall.judging").joinpath(f"templates/{name}").read_text(encoding="utf-8").strip()


def _hash(text: str) -> str:
    return b64encode(hashlib.sha256(text.encode()).digest()).decode()
