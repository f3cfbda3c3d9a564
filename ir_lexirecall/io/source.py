"""Recognise runs, qrels and other tables once, when a user hands them over.

`what_is` tells files, tables, dicts of dicts and ids apart. It takes tables out of the objects of
other programs: rankings of ranx, hits of Pyserini, data sets of Hugging Face.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from itertools import chain, islice
from typing import Any, TypeAlias

import numpy as np

from ir_lexirecall._util import engine
from ir_lexirecall._util.errors import is_number, naming, shown
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.lazy import polars as pl
from ir_lexirecall._util.paths import is_path
from ir_lexirecall.io.cells import id_of
from ir_lexirecall.io.files import BLANKS, UNSEEN, File, Oddity, named_files
from ir_lexirecall.io.id_forms import are_plain
from ir_lexirecall.io.lines import header_of, layout_of_table
from ir_lexirecall.io.names import RUN_FIELDS, our_names
from ir_lexirecall.io.relevant_documents import with_grades
from ir_lexirecall.io.schemas import RANKS_AND_SCORES, RUN, Schema

Columns: TypeAlias = Sequence[tuple[str, Any]]
"""Names of columns, as they are written, and values."""

_REFUSED = {
    "dask": "a Dask table is not computed yet; give its .compute()",
    "lenskit": "LensKit's lists are compared by lenskit_lexirecall.compare and measured by its "
    "metrics; or give their .to_df()",
    "pyspark": "a Spark table is evaluated where it is by spark_lexirecall.evaluate; or give its "
    ".toPandas()",
}
"""Packages whose objects cannot be read as tables, and what to give instead."""
_TRECTOOLS = {
    "query": "query_id",
    "docid": "doc_id",
    "rel": "relevance",
    "score": "score",
}
_FRAMES = ("pandas", "polars")
_OF_FRAMES = ("columns", "__arrow_c_stream__", "dtype")
"""Attributes that frames have; an object with one of them is not read row by row."""
_CHECKED = 3  # rankings in which hits are looked for
_LOOKED_AT = 2000  # rows of a table whose ranks are looked at
_TOP_K = "ir_lexirecall.io.columns.top_k"


class Kind(Enum):
    """What a source is."""

    FILES = "files, whose rows belong together"
    ID = "the id of a data set"
    TABLE = "a frame, or columns by name"
    NESTED = "documents by query"


@dataclass(frozen=True, eq=False)
class Source:
    """What a user gave; it can be read twice.

    Attributes:
        kind: what it is.
        data: the files, the id, the table (a frame or ``Columns``), or the dict of dicts.
        name: the path that was given; empty of anything else.
        read_once: whether it was an iterator, which nobody can read again.
        oddity: whether a table that was read as a run has odd ids, or documents by query may have
            some; each file has its own.
    """

    kind: Kind
    data: Any
    name: str = ""
    read_once: bool = False
    oddity: Oddity = field(default_factory=Oddity, repr=False)

    @property
    def metadata(self) -> str:
        """The ir-metadata of a run that is a file; empty where there is none."""
        if self.kind is Kind.FILES:
            return self.data[0].metadata
        return ""

    def ranked_scores(self) -> list[tuple[Any, Any, Any]]:
        """Return query, rank and score of a run's first rows; an empty list without ranks."""
        if self.kind is Kind.FILES:
            file = self.data[0]
            if file.is_parquet or file.is_json:
                return []
            header = header_of(file.first_line, file.ending)
            if not header.is_one(RUN, file.line_name(1)):
                return _ranks_of_lines(file.beginning)
            names = header.columns(RANKS_AND_SCORES)
            if not set(RANKS_AND_SCORES.needed) <= set(names):
                return []
            layout = layout_of_table(header, RANKS_AND_SCORES)
            return _ranks_of_table(
                next(layout.batches(file.blocks, file.line_of_block))
            )
        if hasattr(self.data, "itertuples") or isinstance(self.data, pl.DataFrame):
            names = our_names([*map(str, self.data.columns)])
            if set(RANKS_AND_SCORES.needed) <= set(names):
                return _ranks_of_table(self.data.head(_LOOKED_AT))
        return []

    def has_odd_ids(self) -> bool:
        """Return whether a run has ids that are not plain ASCII, or have blanks around them.

        Files and tables are known once they were read; of long tables, some ids are checked.
        """
        if self.kind is Kind.FILES:
            return any(file.oddity.is_sure for file in self.data)
        if self.kind is not Kind.NESTED:
            return self.oddity.is_sure
        if not self.oddity.is_possible:
            return False
        return not all(map(are_plain, [self.data, *self.data.values()]))

    def columns(self, schema: Schema) -> Columns:
        """Return the names and values of the columns of a table, or of documents by query.

        Raises:
            ValueError: it is neither.
        """
        if self.kind is Kind.NESTED:
            return _columns_of_dicts(self.data, schema)
        if isinstance(self.data, list):
            return self.data
        if hasattr(self.data, "itertuples"):
            return [(str(label), values) for label, values in self.data.items()]
        columns = _columns_of_frame(self.data)
        if columns is None:
            raise ValueError(_not_a_table(self.data, schema))
        return columns


def what_is(data: Any, schema: Schema, *, label: str = "", ids: bool = False) -> Source:
    """Return the user's argument in a form that can be read twice.

    Args:
        data: a path, a table, a dict of dicts, rows, or an object of another program that holds
            one of these; or a ``Source``, which is returned as it is.
        schema: what is to be read.
        label: what errors call it, unless it is a path.
        ids: whether a text that names no file is the id of a data set.

    Raises:
        ValueError: there is no such file, or the object cannot be read.

    >>> from ir_lexirecall.io.schemas import RUN
    >>> what_is({"q": [("a", 2.5), ("b", 1.5)]}, RUN).data
    {'q': {'a': 2.5, 'b': 1.5}}
    """
    if isinstance(data, Source):
        return data
    label = label or schema.what
    if not is_path(data):
        oddity = Oddity()
        with naming(label):
            table = unwrapped(data, schema, oddity)
        kind = Kind.NESTED if isinstance(table, Mapping) else Kind.TABLE
        is_iterator = isinstance(data, Iterator)
        return Source(kind, table, read_once=is_iterator, oddity=oddity)
    path = os.fspath(data)
    paths = named_files(path)
    if ids and not paths and isinstance(data, str):
        return Source(Kind.ID, path, path)
    with naming(path or label):
        # Opening a path that names no file says what is wrong.
        return Source(Kind.FILES, tuple(map(File.opened, paths or [path])), path)


def unwrapped(data: Any, schema: Schema, oddity: Oddity) -> Any:
    """Return the frame, the columns or the dict of dicts that an object of any program holds.

    Note whether a dict may have odd ids.

    >>> from ir_lexirecall.io.schemas import RUN
    >>> types = [("query_id", "U5"), ("doc_id", "U5"), ("score", "f4")]
    >>> unwrapped(np.array([("q", "a", 2.5)], dtype=types), RUN, Oddity())
      query_id doc_id  score
    0        q      a    2.5
    """
    package = type(data).__module__.partition(".")[0]
    if package in _PROGRAMS:
        data = _PROGRAMS[package](data, schema)
    if isinstance(data, Mapping):
        return documents_by_query(data, schema, oddity)
    if package == "pyarrow" and hasattr(data, "to_table"):  # files, or their scanner
        return data.to_table()
    if isinstance(data, Iterator) and hasattr(data, "read_all"):  # of Arrow's tables
        return data.read_all()
    if package in _FRAMES:  # not to ask a lazy frame of Polars for its columns
        return data
    is_frame = any(map(partial(hasattr, data), _OF_FRAMES))
    if is_frame or not isinstance(data, Iterable):
        return data
    return rows_as_columns(list(data), schema)


def _refused(data: Any, schema: Schema) -> Any:
    """Raise if an object of a program cannot be read as a table; its rows can."""
    if hasattr(data, "_fields"):
        return data
    package = type(data).__module__.partition(".")[0]
    raise ValueError(
        f"{schema.what} of type {type(data).__name__}: {_REFUSED[package]}"
    )


def _of_trectools(data: Any, _: Schema) -> pd.DataFrame:
    """Return the table in qrels or a run of trectools."""
    table = data.qrels_data if hasattr(data, "qrels_data") else data.run_data
    columns = [name for name in _TRECTOOLS if name in table]
    return table[columns].rename(columns=_TRECTOOLS)


def _of_hugging_face(data: Any, schema: Schema) -> Any:
    """Return the Arrow table in a data set; raise if it has splits."""
    if isinstance(data, Mapping):
        splits = ", ".join(map(repr, data))
        raise ValueError(
            f"{schema.what}: a {type(data).__name__} has splits ({splits}); give one of them"
        )
    if hasattr(data, "num_rows"):
        return data.with_format("arrow")[:]
    return data


def rows_as_columns(rows: list[Any], schema: Schema) -> Columns:
    """Return named tuples with the same fields, or dicts with the same keys, as columns.

    Raises:
        ValueError: a row is something else.
    """
    if not rows:
        return [(name, []) for name in schema.needed]
    if isinstance(rows[0], Mapping):
        return _dicts_as_columns(rows, schema)
    return _tuples_as_columns(rows, schema)


def _dicts_as_columns(rows: list[Any], schema: Schema) -> Columns:
    """Return dicts as columns; raise if one has other keys than the first."""
    keys = set(rows[0])
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, Mapping) or set(row) != keys:
            wanted = ", ".join(map(str, rows[0]))
            raise ValueError(
                f"{schema.what}: row {number} is {shown(row)}, not a dict with {wanted}"
            )
    return list({str(name): [row[name] for row in rows] for name in rows[0]}.items())


def _tuples_as_columns(rows: list[Any], schema: Schema) -> Columns:
    """Return named tuples as columns; raise if one has other fields than the first."""
    names: Any = getattr(rows[0], "_fields", None)
    for kind in dict.fromkeys(map(type, rows)):
        if names is None or getattr(kind, "_fields", None) != names:
            odd = next(row for row in rows if type(row) is kind)
            fields = ", ".join(names or schema.needed)
            raise ValueError(
                f"{schema.what}: {shown(odd)} is not a named tuple with the fields {fields}"
                f"{_hint_on_hits(odd)}"
            )
    return list(zip(names, map(list, zip(*rows, strict=True)), strict=True))


def _hint_on_hits(hits: Any) -> str:
    """Return advice on a list of hits without its query, as sentence-transformers returns them."""
    if not isinstance(hits, list) or not hits or not isinstance(hits[0], Mapping):
        return ""
    if not {"corpus_id", "score"} <= hits[0].keys():
        return ""
    return (
        "; for hits of sentence-transformers, which are in the order of the queries, give "
        "{query_id: {doc_ids[hit['corpus_id']]: hit['score'] for hit in hits}}"
    )


def _of_numpy(data: Any, schema: Schema) -> Any:
    """Return a structured array as a table; a single number stays as it is.

    Raises:
        ValueError: its columns have no names.
    """
    if not isinstance(data, np.ndarray):
        return data
    if data.dtype.names is None:
        kind = "a single column, without ids"
        if data.ndim != 1:
            kind = (
                f"an array of shape {data.shape}, without ids; for the k best documents of each "
                f"query, use {_TOP_K}"
            )
        raise ValueError(
            f"{schema.what} of type {type(data).__name__} cannot be read: it is {kind}"
        )
    fields = {name: data[name].ravel() for name in data.dtype.names}
    for name, values in fields.items():
        if values.dtype.kind == "S":
            fields[name] = np.char.decode(values, "utf-8")
    return pd.DataFrame(fields)


_PROGRAMS: Mapping[str, Callable[[Any, Schema], Any]] = {
    "ranx": lambda data, _: data.to_dict(),
    "trectools": _of_trectools,
    "datasets": _of_hugging_face,
    "numpy": _of_numpy,
    **dict.fromkeys(_REFUSED, _refused),
}
"""Packages whose objects have forms of their own, and what is read in their place."""

# -- documents by query ----------------------------------------------------------------------------


def documents_by_query(
    data: Mapping[Any, Any], schema: Schema, oddity: Oddity
) -> Mapping[str, Mapping[str, Any]]:
    """Return scores or grades by query and document, with ids as texts; note if ids may be odd.

    The same mapping if it is that already: documents may also be hits of a run, or listed as
    relevant in qrels, and integers are ids, too.

    Raises:
        ValueError: a query has something else, or an id is not a text or an integer.

    >>> from ir_lexirecall.io.schemas import QRELS
    >>> documents_by_query({1: {"a": 2, 7: 0}, 2: ["b"]}, QRELS, Oddity())
    {'1': {'a': 2, '7': 0}, '2': {'b': 1}}
    """
    numbers = data
    if set(map(type, data.values())) != {dict}:
        numbers = _with_numbers_by_document(data, schema)
    if all(_are_texts(ids, oddity) for ids in ([*numbers], *numbers.values())):
        return numbers
    oddity.is_possible = True  # the check ended at the first id that is not a text
    return _with_text_ids(numbers, schema.what)


def _with_numbers_by_document(
    data: Mapping[Any, Any], schema: Schema
) -> Mapping[Any, Mapping[Any, Any]]:
    """Return series, hits and lists of relevant documents as mappings of documents to numbers.

    Raises:
        ValueError: a query has something else, or a document occurs twice.
    """
    if any(hasattr(kind, "to_list") for kind in set(map(type, data.values()))):
        data = {query: _without_series(docs) for query, docs in data.items()}
    numbers = data
    if schema.of_qrels:
        numbers = with_grades(data)
    elif schema.what == "run" and _lists_hits(data.values()):
        numbers = {query: _ranking_of(query, hits) for query, hits in data.items()}
    for query_id, docs in numbers.items():
        if not isinstance(docs, Mapping):
            raise ValueError(_not_documents(query_id, docs, schema.what))
    return numbers


def _without_series(docs: Any) -> Any:
    """Return a series as a list of ids, or as numbers by document if ids are its index.

    Anything else stays.

    Raises:
        ValueError: a document is twice in the index.
    """
    if not hasattr(docs, "to_list"):
        return docs
    if not hasattr(docs, "index"):  # Polars
        return docs.to_list()
    index = docs.index
    are_row_labels = index.name is None and index.dtype.kind in "iu"
    if are_row_labels or isinstance(next(iter(docs), None), str):
        return docs.to_list()
    if not index.is_unique:
        twice = index[index.duplicated()][0]
        raise ValueError(f"document {shown(twice)} occurs twice in a series; keep one")
    return docs.to_dict()


def _are_texts(ids: Collection[Any], oddity: Oddity) -> bool:
    """Return whether all ids are texts that can be written in UTF-8, and none is empty.

    Note if some may be odd.
    """
    if "" in ids:
        return False
    try:
        text = "".join(ids)  # the quickest way to learn that all are strings
        if not text.isascii():
            text.encode("utf-8")
            oddity.is_possible = True
        elif any(map(text.__contains__, BLANKS + UNSEEN)):
            oddity.is_possible = True
    except (TypeError, UnicodeEncodeError):
        return False
    return True


def _with_text_ids(
    numbers: Mapping[Any, Mapping[Any, Any]], what: str
) -> dict[str, dict[str, Any]]:
    """Return a copy with integer ids as decimal texts."""
    copy = {}
    n_documents = 0
    with naming(what):
        for query_id, docs in numbers.items():
            n_documents += len(docs)
            copy[id_of(query_id)] = {
                id_of(doc_id): value for doc_id, value in docs.items()
            }
    if len(copy) < len(numbers) or sum(map(len, copy.values())) < n_documents:
        raise ValueError(
            f"{what}: an id occurs as a string and as an integer; use one of the two"
        )
    return copy


def _not_documents(query_id: Any, docs: Any, what: str) -> str:
    """Return the message on a query that maps to something other than a dict of documents."""
    hint = ""
    if what == "run" and isinstance(docs, (list, tuple, set, frozenset)):
        hint = "; give each document a score, as in {'a': 2, 'b': 1}: the highest comes first"
    elif what == "run" and not is_number(docs):
        hint = " (several runs by name are for compare)"
    return (
        f"{what}: query {shown(query_id)} maps to {shown(docs)}, not to a dict of "
        f"documents{hint}"
    )


def _lists_hits(rankings: Iterable[Any]) -> bool:
    """Return whether the first rankings that are not dicts are lists of hits."""
    first = None
    for first in islice(rankings, _CHECKED):
        if not isinstance(first, Mapping):
            break
    if not isinstance(first, (list, tuple)):
        return False
    return None not in map(_hit, first[:_CHECKED])


def _ranking_of(query_id: Any, hits: Any) -> Any:
    """Return the scores of a query's hits by document; what is not a list of hits stays.

    Raises:
        ValueError: a hit is not a document and its score, or a document occurs twice.
    """
    if not isinstance(hits, (list, tuple)):
        return hits
    ranking = {}
    for hit in hits:
        pair = _hit(hit)
        if pair is None:
            raise ValueError(
                f"run: query {shown(query_id)} has {shown(hit)} among its hits, not a document and "
                "its score"
            )
        doc_id, score = pair
        if doc_id in ranking:
            raise ValueError(
                f"run: document {shown(doc_id)} occurs twice for query {shown(query_id)}"
            )
        ranking[doc_id] = score
    return ranking


def _hit(hit: Any) -> tuple[Any, Any] | None:
    """Return document and score of a hit of Pyserini's, or of a pair; None of anything else."""
    if hasattr(hit, "docid") and hasattr(hit, "score"):
        return hit.docid, hit.score
    if isinstance(hit, (tuple, list)) and len(hit) == 2:
        return (hit[0], hit[1])
    return None


# -- columns ---------------------------------------------------------------------------------------


def _columns_of_frame(table: Any) -> Columns | None:
    """Return the columns of a frame of Polars or Arrow; None if it is not one, or unreadable."""
    if isinstance(table, pl.LazyFrame) and engine.computes():
        table = table.collect()
    if isinstance(table, pl.DataFrame):
        return list(table.to_dict().items())
    if not hasattr(table, "__arrow_c_stream__") or hasattr(table, "dtype"):
        return None
    if engine.computes():
        # Polars panics on types that it does not have, such as 256-bit decimals.
        unreadable = pl.exceptions.PolarsError, pl.exceptions.PanicException
        with contextlib.suppress(TypeError, ValueError, *unreadable):
            return list(pl.DataFrame(table).to_dict().items())
    if hasattr(table, "column_names"):
        return [(name, table.column(name).to_pylist()) for name in table.column_names]
    return None


def _columns_of_dicts(
    nested: Mapping[str, Mapping[str, Any]], schema: Schema
) -> list[tuple[str, list[Any]]]:
    """Return the columns of ``{query: {document: number}}``."""
    query_ids = chain.from_iterable(
        [query_id] * len(docs) for query_id, docs in nested.items()
    )
    return [
        ("query_id", list(query_ids)),
        ("doc_id", list(chain.from_iterable(nested.values()))),
        (
            schema.needed[-1],
            list(chain.from_iterable(docs.values() for docs in nested.values())),
        ),
    ]


def _not_a_table(data: Any, schema: Schema) -> str:
    """Return the message on data that is not a table."""
    kind, where = type(data).__name__, ""
    if hasattr(data, "dtype") and getattr(data, "ndim", 1) == 1:
        kind += ", a single column,"
    if not engine.computes():
        where = f" {engine.where()}"
    return (
        f"{schema.what} of type {kind} cannot be read{where}: give a path, a DataFrame with "
        f"columns {', '.join(schema.needed)}, a dict of dicts, or an iterable of named tuples"
    )


# -- ranks beside scores ---------------------------------------------------------------------------


def _ranks_of_lines(beginning: bytes) -> list[tuple[Any, Any, Any]]:
    """Return query, rank and score of the first lines of a file in TREC's format."""
    text = beginning.decode("utf-8-sig", "replace")
    rows = map(str.split, text.split("\n")[:-1])  # the last one may be cut
    return [(row[0], row[3], row[4]) for row in rows if len(row) >= len(RUN_FIELDS)]


def _ranks_of_table(table: Any) -> list[tuple[Any, Any, Any]]:
    """Return query, rank and score of the first rows of a frame of pandas or Polars."""
    columns = [*map(str, table.columns)]
    names = dict(zip(our_names(columns), columns, strict=True))
    needed = RANKS_AND_SCORES.needed
    if len(names) != len(columns):
        return []
    values = (table[names[name]][:_LOOKED_AT].to_list() for name in needed)
    return list(zip(*values, strict=True))
