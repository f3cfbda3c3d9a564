"""Texts of queries and documents, of which only those that are asked for are read."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, TypeAlias, TypeVar

from ir_lexirecall._util.errors import shown, warn
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.paths import is_path
from ir_lexirecall.io.cells import unquoted
from ir_lexirecall.io.downloads import downloading
from ir_lexirecall.io.files import File, named_files
from ir_lexirecall.io.frames import table_of_frame
from ir_lexirecall.io.lines import csv_rows, separator_of
from ir_lexirecall.io.names import DOCUMENTS, IDS_OF_TEXTS, NAMES_OF_TEXTS, QUERIES
from ir_lexirecall.io.topics import read_topics
from ir_lexirecall.io.value_cells import id_text

TextsLike: TypeAlias = "Mapping[str, str] | str | os.PathLike[str] | Any"
"""Texts by id: a mapping, a frame (PyTerrier's topics, too), a file, an id of ir_datasets, a data
set or ``docs_store`` of it, a ``Collection``, or PyTerrier's data set or ``text_loader``."""

IdsAndTexts: TypeAlias = Iterator[tuple[str, str]]
Row = TypeVar("Row")


@dataclass(frozen=True, eq=False)
class TextSources:
    """Where texts of documents and queries are looked up; tables may carry it in their attrs."""

    texts: TextsLike | None = None
    queries: TextsLike | None = None

    def __deepcopy__(self, memo: dict[int, Any]) -> TextSources:
        return self


_INTEGER = re.compile(r"0|-?[1-9]\d{0,18}", re.ASCII)
_FIRST_OBJECTS = 2**20  # characters in which JSON lines are told from JSON


def texts_of(
    source: TextsLike | None, ids: Iterable[str], what: str = DOCUMENTS
) -> dict[str, str]:
    """Return the texts of some documents, or queries, by id.

    Those that the source does not hold are missing, with a warning. A title stands on a line of its
    own before the text of a document. A file (TSV or lines of id and text, CSV with a header, JSON
    lines, JSON, TREC topics; compressed or not) is read once, to the last id that is asked for.

    Args:
        source: see ``TextsLike``; None: no texts.
        ids: ids of the documents or queries.
        what: ``"documents"`` or ``"queries"``.

    Returns:
        Texts by id.

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
    text_of = {}
    label = what
    if is_path(source):
        label = str(source)
    with downloading(label):
        for one_id, text in _texts(source, wanted, what):
            if one_id in wanted and one_id not in text_of:
                text_of[one_id] = text
                if len(text_of) == len(wanted):
                    break
    missing = [one_id for one_id in wanted if one_id not in text_of]
    _warn_of_missing(source, missing, len(wanted), what)
    return text_of


def _warn_of_missing(
    source: TextsLike, missing: list[str], wanted: int, what: str
) -> None:
    """Warn of ids without a text; mappings and collections need not have all."""
    if not missing or isinstance(source, Mapping) or _is_collection(source):
        return
    name = f"the {type(source).__name__}"
    if is_path(source):
        name = os.fspath(source)
    warn(
        f"{name} has no text of {len(missing):,} of {wanted:,} {what}, such as {missing[0]!r}"
    )


def _is_collection(source: Any) -> bool:
    """Return whether a source is a ``Collection``, without reading what it holds."""
    return hasattr(type(source), "query_texts")


# -- what the source is ----------------------------------------------------------------------------


def _texts(source: Any, wanted: Mapping[str, None], what: str) -> IdsAndTexts:
    """Return ids and texts, at least those that are wanted and there."""
    if isinstance(source, Mapping):
        return _of_mapping(source, wanted)
    if _is_collection(source):
        if what == DOCUMENTS:
            return iter(source.texts([*wanted]).items())
        return iter(source.query_texts.items())
    if is_path(source):
        if named_files(source):
            return _of_file(File.opened(source), what)
        return _of_object(_data_set(os.fspath(source)), wanted, what)
    if what == QUERIES and hasattr(source, "get_topics"):  # PyTerrier's data set
        return _of_object(source.get_topics(), wanted, what)
    if hasattr(source, "text_loader"):
        return _of_object(source.text_loader(), wanted, what)
    if hasattr(source, "get_corpus_iter"):
        records = source.get_corpus_iter(verbose=False)
        return chain.from_iterable(
            _of_record(record, what, "a document") for record in records
        )
    return _of_object(source, wanted, what)


def _of_object(source: Any, wanted: Mapping[str, None], what: str) -> IdsAndTexts:
    """Return ids and texts of an object of another program."""
    if hasattr(source, "docs_store"):  # ir_datasets' data set
        _check_has(source, what)
        if what == QUERIES:
            return (
                (query.query_id, query.default_text())
                for query in source.queries_iter()
            )
        source = source.docs_store()
    if what == DOCUMENTS and hasattr(source, "get_many_iter"):  # ir_datasets' store
        return (
            (doc.doc_id, doc.default_text()) for doc in source.get_many_iter([*wanted])
        )
    table = table_of_frame(source)
    if table is not None:
        return _of_columns(table.columns, what, f"the table of {what}")
    if what == DOCUMENTS and hasattr(source, "transform"):
        return _of_loader(source, [*wanted])
    raise ValueError(
        f"expected texts of {what} as a mapping, a frame, a file, or a data set of ir_datasets or "
        f"PyTerrier, got {shown(source)}"
    )


def _data_set(name: str) -> Any:
    """Return a data set of ir_datasets by its id."""
    import ir_datasets

    try:
        return ir_datasets.load(name)
    except KeyError:
        raise ValueError(
            f"{name}: there is no such file, and ir_datasets has no data set of that name"
        ) from None


def _check_has(data_set: Any, what: str) -> None:
    """Raise if a data set has no documents, or no queries."""
    if what == DOCUMENTS:
        has_texts = data_set.has_docs()
    else:
        has_texts = data_set.has_queries()
    if not has_texts:
        raise ValueError(
            f"the data set {data_set.dataset_id()!r} has no {what}; give texts as a file"
        )


def _of_mapping(source: Mapping[Any, Any], wanted: Iterable[str]) -> IdsAndTexts:
    """Yield ids and texts of a mapping, whose keys may be integers."""
    for one_id in wanted:
        key: Any = one_id
        if one_id not in source and _INTEGER.fullmatch(one_id):
            key = int(one_id)
        text = source.get(key)
        if text is not None:
            yield one_id, str(text)


def _of_loader(loader: Any, ids: list[str]) -> IdsAndTexts:
    """Yield ids and texts of PyTerrier's text loader, which may refuse all for an unknown id."""
    try:
        table = loader.transform(pd.DataFrame({"qid": "1", "docno": ids}))
    except KeyError:
        half = len(ids) // 2
        if half:
            yield from _of_loader(loader, ids[:half])
            yield from _of_loader(loader, ids[half:])
        return
    columns = {name: table[name].tolist() for name in table if name != "qid"}
    yield from _of_columns(columns, DOCUMENTS, "the text loader")


# -- records and tables ----------------------------------------------------------------------------


def _of_record(record: Any, what: str, location: str) -> IdsAndTexts:
    """Return the id and the text of one object."""
    if not isinstance(record, Mapping):
        raise ValueError(
            f"{location}: expected an object with an id and a text, got {shown(record)}"
        )
    return _of_columns(
        {str(name): [value] for name, value in record.items()}, what, location
    )


def _of_columns(
    columns: Mapping[str, Iterable[Any]], what: str, location: str
) -> IdsAndTexts:
    """Yield the ids and texts of the rows of a table, whatever its columns are called."""
    id_column, text_columns = _columns_for(columns, what, location)
    ids, *texts = (columns[name] for name in (id_column, *text_columns))
    for one_id, *parts in zip(ids, *texts, strict=True):
        yield id_text(one_id) or "", _joined(parts)


def _columns_for(
    columns: Iterable[str], what: str, location: str
) -> tuple[str, list[str]]:
    """Return the column of ids, and those that make the text: of documents also a title."""
    by_name = {str(name).lower(): str(name) for name in columns}
    ids = _columns_called(IDS_OF_TEXTS[what], by_name)
    texts = [
        name
        for name in _columns_called(NAMES_OF_TEXTS[what], by_name)
        if name not in ids[:1]
    ]
    titles = _columns_called(["title"], by_name) if what == DOCUMENTS else []
    text_columns = [*titles, *texts[:1]]
    if not ids or not text_columns:
        raise ValueError(
            f"{location}: expected an id ({', '.join(IDS_OF_TEXTS[what][:4])}, ...) and a text "
            f"({', '.join(NAMES_OF_TEXTS[what][:4])}, ...), "
            f"got {', '.join(by_name.values()) or 'nothing'}"
        )
    return ids[0], text_columns


def _columns_called(names: Iterable[str], by_name: Mapping[str, str]) -> list[str]:
    """Return the columns that have one of some names, in the order of the names."""
    return [by_name[name] for name in names if name in by_name]


def _joined(parts: Iterable[Any]) -> str:
    """Return a title and a text, as far as there are any, on lines of their own."""
    # NaN does not equal itself: it is left out.
    texts = [str(part) for part in parts if part is not None and part == part]
    return "\n".join(text for text in texts if text.strip())


# -- files -----------------------------------------------------------------------------------------


def _of_file(file: File, what: str) -> IdsAndTexts:
    """Return the ids and texts in a file, whose format its first line tells."""
    first = file.first_line.lstrip()
    if first.startswith("<"):
        return read_topics(file.text(), file.path)
    if first.startswith("{") and _has_json_lines(file):
        return _of_json_lines(file, what)
    if first.startswith(("{", "[")):
        return _of_json(file.json(), what, file.path)
    if file.ending == ".csv":
        return _of_csv(file, what)
    return _of_lines(file, what)


def _has_json_lines(file: File) -> bool:
    """Return whether a file that begins with `{` holds an object on each line.

    A file called .json does so if an object ends in its first line and another one follows, as in
    no JSON text.
    """
    if file.ending != ".json":
        return True
    first, _, rest = file.start(_FIRST_OBJECTS).lstrip().partition("\n")
    return first.rstrip().endswith("}") and rest.lstrip().startswith("{")


def _of_json_lines(file: File, what: str) -> IdsAndTexts:
    """Yield the ids and texts in a file with a JSON object on each line."""
    for n, line, _ in _lines(file):
        record = file.parsed_json(line, n)
        yield from _of_record(record, what, file.line_name(n))


def _of_json(content: Any, what: str, path: str) -> IdsAndTexts:
    """Yield the ids and texts in an object of texts by id, or in records."""
    records = content if isinstance(content, list) else [content]
    if isinstance(content, dict):
        are_texts = all(isinstance(text, str) for text in content.values())
        if are_texts:
            yield from content.items()
            return
    for record in records:
        yield from _of_record(record, what, path)


def _of_csv(file: File, what: str) -> IdsAndTexts:
    """Yield the ids and texts in a CSV file, which has a header."""
    content = file.text()
    rows = csv_rows(content, file.line_name, separator_of(file.first_line))
    header = next(rows, None)
    if header is None:
        return
    columns = _TextColumns.of_header(header[1], what, file.path)
    # After a closing quotation mark, nothing is cut.
    is_ended = content.endswith(("\n", '"'))
    for (n, fields), is_last in _with_last(rows):
        if len(fields) != columns.width:
            raise columns.wrong_number_of_fields(n, fields)
        if is_last and not is_ended and columns.ends_with_text:
            _check_end(fields[-1], file.line_name(n), what)
        yield columns.id_and_text(n, fields)


def _with_last(rows: Iterable[Row]) -> Iterator[tuple[Row, bool]]:
    """Yield rows, each with whether it is the last one."""
    previous: list[Row] = []
    for row in rows:
        if previous:
            yield previous.pop(), False
        previous.append(row)
    for row in previous:
        yield row, True


def _of_lines(file: File, what: str) -> IdsAndTexts:
    """Yield the ids and texts in lines, separated by a tab, else by blanks."""
    columns = None
    for n, line, is_ended in _lines(file):
        fields = _fields_between_tabs(line.rstrip("\r"))
        if n == 1 and _is_header(fields, what):
            columns = _TextColumns.of_header(fields, what, file.path)
            continue
        if columns is not None:
            one_id, text = columns.id_and_text(n, fields)
        else:
            if len(fields) == 1:
                fields = fields[0].split(None, 1)
            one_id, text = fields[0], _joined(fields[1:])
        if not is_ended and (columns is None or columns.ends_with_text):
            _check_end(text, file.line_name(n), what)
        yield one_id, text


def _fields_between_tabs(line: str) -> list[str]:
    """Return the fields of a line between tabs.

    If quotation marks stand around the first field, the id, they are those of CSV, and are taken
    away from all fields. Otherwise, marks around a text belong to the text.
    """
    fields = line.split("\t")
    if len(fields) > 1 and unquoted(fields[0]) != fields[0]:
        return list(map(unquoted, fields))
    return fields


def _check_end(text: str, location: str, what: str) -> None:
    """Check the last line of a file, which has no end of line.

    Raises:
        ValueError: there is no text, so that the line was cut; else warns that the text may be.
    """
    no_end = f"{location}: the file ends without an end of line"
    if not text.strip():
        raise ValueError(
            f"{no_end}, and its last line has no text: was it cut? Write it again, or end the line"
        )
    warn(f"{no_end}; the last text of {what} may be cut")


def _is_header(fields: list[str], what: str) -> bool:
    """Return whether fields are a header: ids are named first, or ids and texts in any order.

    A line with a single name is none: it may be about the query `topic`.
    """
    names = [field.lower() for field in fields]
    if len(names) < 2:
        return False
    if names[0] in IDS_OF_TEXTS[what]:
        return True
    has_ids = not {*names}.isdisjoint(IDS_OF_TEXTS[what])
    has_texts = not {*names}.isdisjoint((*NAMES_OF_TEXTS[what], "title"))
    return has_ids and has_texts


@dataclass(frozen=True)
class _TextColumns:
    """Where the rows of a file have ids and texts."""

    path: str
    width: int
    id_index: int
    text_indexes: tuple[int, ...]

    @property
    def ends_with_text(self) -> bool:
        """Whether the last column is part of the text."""
        return self.width - 1 in self.text_indexes

    @classmethod
    def of_header(cls, header: list[str], what: str, path: str) -> _TextColumns:
        """Return the columns that a header names."""
        id_column, text_columns = _columns_for(header, what, path)
        indexes = tuple(header.index(name) for name in text_columns)
        return cls(path, len(header), header.index(id_column), indexes)

    def id_and_text(self, n: int, fields: list[str]) -> tuple[str, str]:
        """Return the id and the text in the fields of line `n`."""
        if not max(self.id_index, *self.text_indexes) < len(fields) <= self.width:
            raise self.wrong_number_of_fields(n, fields)
        return fields[self.id_index], _joined(
            fields[index] for index in self.text_indexes
        )

    def wrong_number_of_fields(self, n: int, fields: list[str]) -> ValueError:
        """Return the error of a line whose fields are not those of the header."""
        return ValueError(
            f"{self.path}, line {n}: {len(fields)} fields, where the header has {self.width}"
        )


def _lines(file: File) -> Iterator[tuple[int, str, bool]]:
    """Yield the lines of a file that are not empty: their numbers, and whether they are ended."""
    n = 0
    for block in file.blocks():
        lines = block.removesuffix(b"\n").split(b"\n")
        n_before, n = n, n + len(lines)
        for number, line in enumerate(lines, start=n_before + 1):
            if line.strip():
                is_ended = number < n or block.endswith(b"\n")
                yield number, line.decode("utf-8", "replace"), is_ended
