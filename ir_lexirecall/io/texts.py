"""Texts of documents and of queries, from wherever they are: only those that are asked for, in one pass."""

from __future__ import annotations

import html
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, TypeAlias

from ir_lexirecall._util.errors import shown, warn
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall.io.columns import is_file
from ir_lexirecall.io.files import (
    blocks_of_file,
    first_line,
    first_text,
    kind_of_file,
    parsed_json,
    rereadable,
    text_of_file,
)
from ir_lexirecall.io.lines import csv_rows
from ir_lexirecall.io.value_cells import id_text, table_of_frame

TextsLike: TypeAlias = "Mapping[str, str] | str | os.PathLike[str] | Any"
"""Texts by id: a mapping, a frame (PyTerrier's topics, too), a file, an id of ir_datasets, a data set or ``docs_store`` of it, a ``Collection``,
or PyTerrier's data set or ``text_loader``."""


@dataclass(frozen=True, eq=False)
class TextSources:
    """Where texts of documents and of queries are looked up once somebody reads them; tables may carry it in their attrs."""

    texts: TextsLike | None = None
    queries: TextsLike | None = None

    def __deepcopy__(self, memo: dict[int, Any]) -> TextSources:
        return self


DOCUMENTS, QUERIES = "documents", "queries"
_IDS = {
    DOCUMENTS: ("doc_id", "docno", "docid", "_id", "id", "corpus-id", "corpus_id", "pid"),
    QUERIES: ("query_id", "qid", "_id", "id", "query-id", "topic_id", "topic", "number"),
}
_TEXTS = {
    DOCUMENTS: ("text", "contents", "content", "body", "passage", "document", "abstract"),
    QUERIES: ("query", "text", "title", "question", "description"),
}
_TOPIC = re.compile(r"<top>(.*?)</top>|(<topic\b.*?</topic>)", re.DOTALL | re.IGNORECASE)
_NUMBER = re.compile(
    r"<num>\s*(?:Number\s*:)?\s*([^\s<]+)|<topic\b[^>]*?\b(?:number|id)\s*=\s*[\"']([^\"']+)", re.IGNORECASE
)
_TAG = r"</?[a-z!?][^<>]*>"  # "a < b" holds none
_FIELDS = re.compile(  # to its end tag, else to the next tag
    r"<(title|query|desc|description)>\s*(?:Topic\s*:|Description\s*:)?"
    rf"((?:(?!<(?:title|query|desc|description)>).)*?(?=</\1>)|(?:(?!{_TAG}).)*)",
    re.DOTALL | re.IGNORECASE,
)
_JSON_LINES = re.compile(r"\s*\{[^\n]*\}\s*\n\s*\{")  # one object after another, which no JSON is
_INTEGER = re.compile(r"0|-?[1-9]\d{0,18}", re.ASCII)


def texts_of(source: TextsLike | None, ids: Iterable[str], what: str = DOCUMENTS) -> dict[str, str]:
    """The texts of some documents, or queries, by id; those that the source does not hold are missing, with a warning.

    A title stands on a line of its own before the text of a document. A file (TSV or lines of id and text, CSV with a header, JSON lines, JSON,
    TREC topics; compressed or not) is read once, to the last id that is asked for.

    Args:
        source: see ``TextsLike``; None: no texts.
        what: ``"documents"`` or ``"queries"``.

    Raises:
        ValueError: a file that cannot be read, an unknown data set, or something else.

    >>> texts_of({"a": "one", "b": "two"}, ["b"])
    {'b': 'two'}
    >>> texts_of(pd.DataFrame({"qid": ["1"], "query": ["what is it"]}), ["1"], QUERIES)
    {'1': 'what is it'}
    """
    wanted = dict.fromkeys(ids)
    if source is None or not wanted:
        return {}
    found: dict[str, str] = {}
    for name, text in _texts(source, wanted, what):
        if name in wanted and name not in found:
            found[name] = text
            if len(found) == len(wanted):
                break
    lacking = [name for name in wanted if name not in found]
    if lacking and not isinstance(source, Mapping) and not hasattr(type(source), "query_texts"):
        said = f"{len(lacking):,} of {len(wanted):,} {what}, such as {lacking[0]!r}"
        called = os.fspath(source) if isinstance(source, (str, os.PathLike)) else f"the {type(source).__name__}"
        warn(f"{called} has no text of {said}")
    return found


def _texts(source: Any, wanted: Mapping[str, None], what: str) -> Iterator[tuple[str, str]]:
    """Ids and texts, at least those wanted that there are."""
    documents = what == DOCUMENTS
    if isinstance(source, Mapping):
        keys = ((name, int(name) if name not in source and _INTEGER.fullmatch(name) else name) for name in wanted)
        return ((name, str(source[key])) for name, key in keys if source.get(key) is not None)
    if hasattr(type(source), "query_texts"):  # not of the object, which would read them
        return iter((source.texts([*wanted]) if documents else source.query_texts).items())
    if is_file(source):
        return _of_file(os.fspath(source), what)
    if isinstance(source, (str, os.PathLike)):
        import ir_datasets

        try:
            source = ir_datasets.load(os.fspath(source))
        except KeyError:
            raise ValueError(f"{source}: there is no such file, and ir_datasets has no data set of that name") from None
    if not documents and hasattr(source, "get_topics"):  # PyTerrier's data set
        source = source.get_topics()
    elif hasattr(source, "text_loader"):
        source = source.text_loader()
    elif hasattr(source, "get_corpus_iter"):
        return (
            text for record in source.get_corpus_iter(verbose=False) for text in _record(record, what, "a document")
        )
    if hasattr(source, "docs_store"):  # ir_datasets' data set
        if not (source.has_docs() if documents else source.has_queries()):
            raise ValueError(f"the data set {source.dataset_id()!r} has no {what}")
        if not documents:
            return ((query.query_id, query.default_text()) for query in source.queries_iter())
        source = source.docs_store()
    if documents and hasattr(source, "get_many_iter"):  # ir_datasets' store
        return ((doc.doc_id, doc.default_text()) for doc in source.get_many_iter([*wanted]))
    if (table := table_of_frame(source)) is not None:
        return _rows(table.columns, what, f"the table of {what}")
    if documents and hasattr(source, "transform"):
        return _loaded(source, [*wanted])
    raise ValueError(
        f"expected texts of {what} as a mapping, a frame, a file, or a data set of ir_datasets or PyTerrier, got {shown(source)}"
    )


def _loaded(loader: Any, ids: list[str]) -> Iterator[tuple[str, str]]:
    """What PyTerrier's text loader gives, which may refuse all for one that it does not know."""
    try:
        table = loader.transform(pd.DataFrame({"qid": "1", "docno": ids}))
    except KeyError:
        for half in (ids[: len(ids) // 2], ids[len(ids) // 2 :]) if len(ids) > 1 else ():
            yield from _loaded(loader, half)
        return
    yield from _rows({name: table[name].tolist() for name in table if name != "qid"}, DOCUMENTS, "the text loader")


def _record(record: Any, what: str, place: str) -> Iterator[tuple[str, str]]:
    """Id and text of one object."""
    if not isinstance(record, Mapping):
        raise ValueError(f"{place}: expected an object with an id and a text, got {shown(record)}")
    return _rows({str(name): [value] for name, value in record.items()}, what, place)


def _rows(columns: Mapping[str, Iterable[Any]], what: str, place: str) -> Iterator[tuple[str, str]]:
    """Ids and texts of the rows of a table, whatever its columns are called."""
    ids, fields = _fields(columns, what, place)
    for row in zip(*(columns[name] for name in (ids, *fields)), strict=True):
        yield id_text(row[0]) or "", _joined(row[1:])


def _fields(names: Iterable[str], what: str, place: str) -> tuple[str, list[str]]:
    """Names of the id, and of what the text is made of: of documents also a title."""
    names = {str(name).lower(): str(name) for name in names}
    ids = next((names[name] for name in _IDS[what] if name in names), None)
    text = next((names[name] for name in _TEXTS[what] if name in names and names[name] != ids), None)
    title = names.get("title") if what == DOCUMENTS else None
    fields = [name for name in (title, text) if name is not None]
    if ids is None or not fields:
        known = f"expected an id ({', '.join(_IDS[what][:4])}, ...) and a text ({', '.join(_TEXTS[what][:4])}, ...)"
        raise ValueError(f"{place}: {known}, got {', '.join(names.values()) or 'nothing'}")
    return ids, fields


def _joined(parts: Iterable[Any]) -> str:
    """A title and a text, as far as there are any, on lines of their own."""
    return "\n".join(str(part) for part in parts if part is not None and part == part and str(part).strip())


def _of_file(path: str, what: str) -> Iterator[tuple[str, str]]:
    with rereadable(path) as path:
        first = first_line(path).lstrip()
        kind = kind_of_file(path)
        if first.startswith("<"):
            yield from _topics(path)
        elif first.startswith("{") and (kind != ".json" or _JSON_LINES.match(first_text(path, 2**20))):
            for n, line in _lines(path):
                yield from _record(parsed_json(line.decode("utf-8", "replace"), path, n), what, f"{path}, line {n}")
        elif first.startswith(("{", "[")):
            content = parsed_json(text_of_file(path), path)
            if isinstance(content, dict) and all(isinstance(text, str) for text in content.values()):
                yield from content.items()
            else:
                for record in content if isinstance(content, list) else [content]:
                    yield from _record(record, what, path)
        else:
            rows: Iterable[tuple[int, list[str]]]
            rows = ((n, line.decode("utf-8", "replace").rstrip("\r").split("\t")) for n, line in _lines(path))
            if kind == ".csv":
                rows = csv_rows(text_of_file(path), lambda n: f"{path}, line {n}")
            yield from _of_rows(rows, what, path, is_csv=kind == ".csv")


def _of_rows(rows: Iterable[tuple[int, list[str]]], what: str, path: str, *, is_csv: bool) -> Iterator[tuple[str, str]]:
    """Rows of id and text, apart by a tab, else by blanks; with a header, which CSV has, by the names of its columns."""
    places: list[int] = []
    for place, (n, fields) in enumerate(rows):
        if place == 0 and (is_csv or (n == 1 and len(fields) > 1 and _is_header(list(map(str.lower, fields)), what))):
            ids, named = _fields(fields, what, path)
            places, width = [fields.index(name) for name in (ids, *named)], len(fields)
        elif places:
            if len(fields) <= max(places) or (is_csv and len(fields) != width):
                raise ValueError(f"{path}, line {n}: {len(fields)} fields, where the header has {width}")
            yield fields[places[0]], _joined(fields[place] for place in places[1:])
        else:
            if len(fields) == 1:
                fields = fields[0].split(None, 1)
            yield fields[0], _joined(fields[1:])


def _is_header(names: Sequence[str], what: str) -> bool:
    """Whether the first line names columns: ids first, or ids and texts in any order; the query ``topic`` names none.

    >>> _is_header(["title", "docno"], DOCUMENTS), _is_header(["1", "topic"], QUERIES)
    (True, False)
    """
    lacking = [{*names}.isdisjoint(some) for some in (_IDS[what], (*_TEXTS[what], "title"))]
    return names[0] in _IDS[what] or not any(lacking)


def _lines(path: str) -> Iterator[tuple[int, bytes]]:
    """The lines of a file that are not empty, with their numbers."""
    numbers = count(1)
    for block in blocks_of_file(path):
        for line in block.split(b"\n")[:-1]:
            n = next(numbers)
            if line.strip():
                yield n, line


def _topics(path: str) -> Iterator[tuple[str, str]]:
    """Topics as TREC has them: their numbers and titles, else descriptions."""
    for topic in _TOPIC.finditer(text_of_file(path)):
        number = _NUMBER.search(topic[0])
        fields = {}
        for name, marked in _FIELDS.findall(topic[0]):
            words = re.sub(_TAG, "", marked, flags=re.IGNORECASE).split()
            fields[name.lower()] = html.unescape(" ".join(words))
        text = next((fields[name] for name in ("title", "query", "desc", "description") if fields.get(name)), None)
        if number is None or text is None:
            raise ValueError(f"{path}: a topic has no number, or neither a title, a query nor a description")
        yield number[1] or number[2], text
