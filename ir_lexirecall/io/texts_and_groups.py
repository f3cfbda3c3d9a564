"""What is said of queries and documents beside judgments: their texts, only those that are asked for, and groups of queries."""

from __future__ import annotations

import html
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ir_lexirecall._util.arrays import Ints
from ir_lexirecall._util.errors import and_more, entry, shown, shown_names, warn
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall.io import files
from ir_lexirecall.io.cells import number_or_text as as_float
from ir_lexirecall.io.columns import is_file
from ir_lexirecall.io.downloads import downloading
from ir_lexirecall.io.frames import Table, table_of_frame
from ir_lexirecall.io.id_forms import form_hint
from ir_lexirecall.io.lines import csv_rows
from ir_lexirecall.io.query_columns import QUERY_NAMES, TASK_NAMES
from ir_lexirecall.io.value_cells import id_text, texts

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
    r"<num>\s*(?:Number\s*:)?\s*([^\s<]+)|<topic\b[^>]*?\b(?:number|id)\s*=\s*[\"']([^\"']+)",
    re.IGNORECASE,
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
    with downloading(str(source) if isinstance(source, (str, os.PathLike)) else what):
        for name, text in _texts(source, wanted, what):
            if name in wanted and name not in found:
                found[name] = text
                if len(found) == len(wanted):
                    break
    lacking = [name for name in wanted if name not in found]
    if lacking and not isinstance(source, Mapping) and not hasattr(type(source), "query_texts"):
        said = f"{len(lacking):,} of {len(wanted):,} {what}, such as {lacking[0]!r}"
        called = (
            os.fspath(source)
            if isinstance(source, (str, os.PathLike))
            else f"the {type(source).__name__}"
        )
        warn(f"{called} has no text of {said}")
    return found


def _texts(source: Any, wanted: Mapping[str, None], what: str) -> Iterator[tuple[str, str]]:
    """Ids and texts, at least those wanted that there are."""
    documents = what == DOCUMENTS
    if isinstance(source, Mapping):
        keys = (
            (name, int(name) if name not in source and _INTEGER.fullmatch(name) else name)
            for name in wanted
        )
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
            raise ValueError(
                f"{source}: there is no such file, and ir_datasets has no data set of that name"
            ) from None
    if not documents and hasattr(source, "get_topics"):  # PyTerrier's data set
        source = source.get_topics()
    elif hasattr(source, "text_loader"):
        source = source.text_loader()
    elif hasattr(source, "get_corpus_iter"):
        return (
            text
            for record in source.get_corpus_iter(verbose=False)
            for text in _record(record, what, "a document")
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
    yield from _rows(
        {name: table[name].tolist() for name in table if name != "qid"},
        DOCUMENTS,
        "the text loader",
    )


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
    text = next(
        (names[name] for name in _TEXTS[what] if name in names and names[name] != ids), None
    )
    title = names.get("title") if what == DOCUMENTS else None
    fields = [name for name in (title, text) if name is not None]
    if ids is None or not fields:
        known = f"expected an id ({', '.join(_IDS[what][:4])}, ...) and a text ({', '.join(_TEXTS[what][:4])}, ...)"
        raise ValueError(f"{place}: {known}, got {', '.join(names.values()) or 'nothing'}")
    return ids, fields


def _joined(parts: Iterable[Any]) -> str:
    """A title and a text, as far as there are any, on lines of their own."""
    return "\n".join(
        str(part) for part in parts if part is not None and part == part and str(part).strip()
    )


def _of_file(path: str, what: str) -> Iterator[tuple[str, str]]:
    with files.rereadable(path) as path:
        first = files.first_line(path).lstrip()
        kind = files.kind_of_file(path)
        if first.startswith("<"):
            yield from _topics(path)
        elif first.startswith("{") and (
            kind != ".json" or _JSON_LINES.match(files.first_text(path, 2**20))
        ):
            for n, line in _lines(path):
                yield from _record(files.parsed_json(line, path, n), what, f"{path}, line {n}")
        elif first.startswith(("{", "[")):
            content = files.parsed_json(files.text_of_file(path), path)
            if isinstance(content, dict) and all(
                isinstance(text, str) for text in content.values()
            ):
                yield from content.items()
            else:
                for record in content if isinstance(content, list) else [content]:
                    yield from _record(record, what, path)
        else:
            rows: Iterable[tuple[int, list[str]]]
            rows = ((n, line.rstrip("\r").split("\t")) for n, line in _lines(path))
            if kind == ".csv":
                rows = csv_rows(files.text_of_file(path), lambda n: f"{path}, line {n}")
            yield from _of_rows(rows, what, path, is_csv=kind == ".csv")


def _of_rows(
    rows: Iterable[tuple[int, list[str]]], what: str, path: str, *, is_csv: bool
) -> Iterator[tuple[str, str]]:
    """Rows of id and text, apart by a tab, else by blanks; with a header, which CSV has, by the names of its columns."""
    places: list[int] = []
    for place, (n, fields) in enumerate(rows):
        names = [field.lower() for field in fields] if place == 0 else []  # texts are long
        known = (
            [{*names}.isdisjoint(some) for some in (_IDS[what], (*_TEXTS[what], "title"))]
            if names
            else []
        )
        # A header names ids first, or ids and texts in any order; the query ``topic`` names none.
        if place == 0 and (
            is_csv or (n == 1 and len(names) > 1 and (names[0] in _IDS[what] or not any(known)))
        ):
            ids, named = _fields(fields, what, path)
            places, width = [fields.index(name) for name in (ids, *named)], len(fields)
        elif places:
            if len(fields) <= max(places) or (is_csv and len(fields) != width):
                raise ValueError(
                    f"{path}, line {n}: {len(fields)} fields, where the header has {width}"
                )
            yield fields[places[0]], _joined(fields[place] for place in places[1:])
        else:
            if len(fields) == 1:
                fields = fields[0].split(None, 1)
            yield fields[0], _joined(fields[1:])


def _lines(path: str) -> Iterator[tuple[int, str]]:
    """The lines of a file that are not empty, with their numbers."""
    lines = chain.from_iterable(block.split(b"\n")[:-1] for block in files.blocks_of_file(path))
    return (
        (n, line.decode("utf-8", "replace"))
        for n, line in enumerate(lines, start=1)
        if line.strip()
    )


def _topics(path: str) -> Iterator[tuple[str, str]]:
    """Topics as TREC has them: their numbers and titles, else descriptions."""
    for topic in _TOPIC.finditer(files.text_of_file(path)):
        number = _NUMBER.search(topic[0])
        fields = {}
        for name, marked in _FIELDS.findall(topic[0]):
            words = re.sub(_TAG, "", marked, flags=re.IGNORECASE).split()
            fields[name.lower()] = html.unescape(" ".join(words))
        text = next(
            (
                fields[name]
                for name in ("title", "query", "desc", "description")
                if fields.get(name)
            ),
            None,
        )
        if number is None or text is None:
            raise ValueError(
                f"{path}: a topic has no number, or neither a title, a query nor a description"
            )
        yield number[1] or number[2], text


# -- groups of queries --------------------------------------------------------------------------------------

GroupsLike: TypeAlias = "Mapping[Any, Any] | str | os.PathLike[str] | Any"
"""A mapping of query ids to groups, a table or column, a file, or the name of a column of another table."""

_GROUP_NAMES = (
    "group",
    "cluster",
    "type",
    "category",
    "language",
    "user",
    "user_id",
    "session",
    "session_id",
)


@dataclass(frozen=True)
class QueryGroups:
    """The group of every query.

    Attributes:
        names: of the groups, sorted (numbers by size).
        query_ids: the queries, in the order that was asked for.
        code: the group of each query, as a place in ``names``, shape ``(Q,)``.
    """

    names: list[str]
    query_ids: list[str]
    code: Ints

    def __iter__(self) -> Iterator[tuple[str, Ints]]:
        """Every group with the places of its queries in ``query_ids``."""
        for place, name in enumerate(self.names):
            yield name, np.flatnonzero(self.code == place)

    def __len__(self) -> int:
        return len(self.names)

    def only(self, query_ids: Sequence[str]) -> QueryGroups:
        """The groups of some of the queries, those without any of them included."""
        place = {query_id: q for q, query_id in enumerate(self.query_ids)}
        return QueryGroups(
            self.names, [*query_ids], self.code[[place[query_id] for query_id in query_ids]]
        )

    @property
    def sizes(self) -> dict[str, int]:
        """Number of queries of each group."""
        return dict(
            zip(self.names, np.bincount(self.code, minlength=len(self.names)).tolist(), strict=True)
        )

    @property
    def labels(self) -> NDArray[Any]:
        """The group of each query, by name; what tests of dependent queries take."""
        return np.array(self.names, dtype=object)[self.code]


@entry
def read_groups(
    groups: GroupsLike,
    query_ids: Sequence[str],
    *,
    table: Any = None,
    collection: str | None = None,
) -> QueryGroups:
    """Read which group each query belongs to.

    Args:
        groups: a mapping of query ids to groups; a table (pandas, Polars, Arrow) with ``query_id`` and one more column; a column
            indexed by query; a file (CSV, TSV or Parquet with a header, or lines of query and group); or the name of a column
            of ``table``.
        query_ids: the queries that need a group, in the order of the result; others are ignored.
        table: where ``groups`` names a column: the table, one row or several (of the same group) per query.
        collection: of a table with a column ``collection`` (or ``dataset``, ``task``), take the rows of this one.

    Raises:
        ValueError: a query has no group or two, there is only one group, or the source cannot be read; the message names the
            query or line.

    >>> found = read_groups({"q1": "who", "q2": "how", "q3": "who"}, ["q1", "q2", "q3"])
    >>> found.names, found.code.tolist(), found.sizes
    (['how', 'who'], [1, 0, 1], {'how': 1, 'who': 2})
    """
    column = None
    if isinstance(groups, str) and table is not None:
        groups, column = table, groups
    if isinstance(groups, Mapping):
        if odd := [
            group for group in groups.values() if isinstance(group, (list, tuple, set, Mapping))
        ]:
            raise ValueError(
                f"groups: expected a mapping of query ids to groups, but one query maps to {shown(odd[0])}"
            )
        columns = {"query_id": texts(groups), "group": texts(groups.values())}
        source = Table(columns, "groups", lambda row: "groups")
    elif isinstance(groups, (str, os.PathLike)):
        if not is_file(groups):
            raise ValueError(
                f"groups: there is no file {os.fspath(groups)!r}; to use a column of a table, give the table, too"
            )
        with files.rereadable(os.fspath(groups)) as file:
            source = Table.from_parquet(file) if files.is_parquet(file) else _of_text(file)
    elif (frame := table_of_frame(groups, "groups")) is None:
        raise ValueError(
            f"groups of type {type(groups).__name__} cannot be read: give a mapping of query ids to groups, a table with query_id "
            "and one more column, or a file"
        )
    else:
        source = frame
    what, has = source.name, f"it has {shown_names(list(source.columns))}"
    query = next((name for name in QUERY_NAMES if name in source.columns and name != column), None)
    if query is None and source.index is None:
        raise ValueError(f"{what} has no column query_id: {has}")
    others = [name for name in source.columns if name != query]
    tasks = [name for name in TASK_NAMES if name in others and name != column]
    if collection is not None and tasks:
        others.remove(tasks[0])
        of_rows = list(map(id_text, source.columns[tasks[0]]))
        source = source.rows([row for row, name in enumerate(of_rows) if name == collection])
        if collection not in of_rows:
            there = shown_names(list(map(str, dict.fromkeys(of_rows))))
            raise ValueError(
                f"{what}: no row is of collection {collection!r}; {tasks[0]} has {there}"
            )
    chosen = column or next(
        (name for name in _GROUP_NAMES if name in others), others[0] if len(others) == 1 else None
    )
    if chosen is None or chosen not in others:
        said, way = f"no column {column!r}", "name one of these"
        if column is None:
            said, way = (
                "several columns, none of them called group",
                "call one group, or leave the others out",
            )
        raise ValueError(f"{what} has {said}: {has}; {way}")
    ids: Any = source.index if query is None else source.columns[query]
    group: dict[str, str] = {}
    for row, (query_id, name) in enumerate(
        zip(map(id_text, ids), map(id_text, source.columns[chosen]), strict=True)
    ):
        if query_id is None:
            raise ValueError(f"{source.location(row)}: there is no query")
        if name is None:
            raise ValueError(
                f"{source.location(row)}: query {query_id!r} has no group; give it one"
            )
        if group.setdefault(query_id, name) != name:
            raise ValueError(
                f"{source.location(row)}: query {query_id!r} is in group {group[query_id]!r} and in {name!r}; keep one"
            )
    if lacking := [query_id for query_id in query_ids if query_id not in group]:
        known = f"; it has {shown_names(list(group), 3)}" if len(lacking) == len(query_ids) else ""
        hint = form_hint(
            lacking,
            [name for name in group if name not in query_ids],
            ("query", "one with a group,"),
        )
        raise ValueError(
            f"{what}: query {lacking[0]!r} has no group{and_more(len(lacking) - 1)}{known}; add it"
            f"{f'. {hint}' if hint else ''}"
        )

    def order(name: str) -> tuple[bool, float, str]:
        """Numbers by size, then texts."""
        value = as_float(name)
        return value is None, value or 0.0, name

    names = sorted({group[query_id] for query_id in query_ids}, key=order)
    if len(names) < 2:
        raise ValueError(
            f"{what}: all queries are in one group, {shown_names(names)}; leave groups out, or give several"
        )
    code = {name: place for place, name in enumerate(names)}
    return QueryGroups(
        names, list(query_ids), np.array([code[group[q]] for q in query_ids], dtype=np.int64)
    )


def _of_text(path: str) -> Table:
    """A text file's table, where it has a header; else its lines of query and group, whatever separates them."""
    text = files.text_of_file(path)
    lines = [
        (n, line)
        for n, line in enumerate(text.split("\n"), start=1)
        if line.strip() and not line.startswith("#")
    ]
    separator = next((mark for mark in ("\t", ",", ";") if lines and mark in lines[0][1]), None)
    rows = [(n, line.split()) for n, line in lines]
    if separator is not None:
        read = csv_rows(text, lambda line: f"{path}, line {line}", separator, skipinitialspace=True)
        rows = [(n, row) for n, row in read if not row[0].startswith("#")]
    if not rows:
        raise ValueError(f"{path}: there are no groups in it")
    has_header = not {*rows[0][1]}.isdisjoint(QUERY_NAMES)
    return Table.from_rows(rows if has_header else [(0, ["query_id", "group"]), *rows], path)
