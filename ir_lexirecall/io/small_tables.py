"""Small runs and qrels as plain lists, without a query engine: dicts of dicts, tables of few rows."""

from __future__ import annotations

import numbers
import os
import struct
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ir_lexirecall._util.errors import check_text, is_number, naming, shown
from ir_lexirecall.io.column_names import PYTERRIER

TableLike: TypeAlias = str | os.PathLike[str] | Mapping[Any, Mapping[Any, Any]] | Iterable[Any]
"""A path, a pandas, Polars or Arrow table, a dict of dicts, an iterable of named tuples or of dicts, or an object that holds
one of these (DuckDB, Hugging Face, ranx, trectools, Pyserini's hits)."""
RUN_COLUMNS = ("query_id", "doc_id", "score")
QREL_COLUMNS = ("query_id", "doc_id", "relevance")


def is_plain_number(value: Any) -> bool:
    """Whether a value is a number, or a decimal."""
    return is_number(value) or isinstance(value, Decimal)


def id_string(value: Any) -> str:
    """A query or document id as a string; an integer means its decimal string.

    >>> id_string(7), id_string("d7")
    ('7', 'd7')
    """
    if isinstance(value, str):
        return check_text(str(value), "ids")
    if isinstance(value, numbers.Integral) and not isinstance(value, (bool, np.bool_)):
        return str(int(value))
    raise ValueError(f"ids must be strings or integers, but one is {shown(value)} ({type(value).__name__})")


def with_string_keys(outer: Mapping[Any, Mapping[Any, Any]], what: str) -> Mapping[str, Mapping[str, Any]]:
    """The same dict of dicts if all ids are strings already, else a copy with integer ids as decimal strings."""
    for query_id, docs in outer.items():
        if not isinstance(docs, Mapping):
            hint = " (several runs by name are for compare)" if what == "run" and not is_number(docs) else ""
            raise ValueError(f"{what}: query {shown(query_id)} maps to {shown(docs)}, not to a dict of documents{hint}")
    try:
        for keys in (outer, *outer.values()):
            text = "".join(keys)  # the quickest way to learn that all are strings
            if not text.isascii():
                text.encode("utf-8")
        return outer
    except (TypeError, UnicodeEncodeError):
        pass
    with naming(what):
        copy = {id_string(q): {id_string(d): value for d, value in docs.items()} for q, docs in outer.items()}
    if len(copy) < len(outer) or any(len(a) < len(b) for a, b in zip(copy.values(), outer.values(), strict=True)):
        raise ValueError(f"{what}: an id occurs as a string and as an integer; use one of the two")
    return copy


_FEW_ROWS = 4096  # of a table that is read without a query engine


def nested_dicts(data: TableLike, what: str, needed: tuple[str, str, str]) -> Mapping[str, Mapping[str, Any]] | None:
    """A dict of dicts with strings as keys, of a dict of dicts or of a small plain table; None for any other input.

    A table is plain if it has no other columns, ids that are all strings or all integers, and no row twice. So small inputs
    need no query engine, whose start would take longer than their evaluation; whatever is odd is left to the general way,
    which names the offender.
    """
    if isinstance(data, Mapping):
        return with_string_keys(data, what)
    columns = few_columns(data, needed)
    if columns is None:
        return None
    nested: dict[str, dict[str, Any]] = {}
    query, doc, value = (columns[name] for name in needed)
    for query_id, doc_id, number in zip(query, doc, value, strict=True):
        ranking = nested.get(query_id)
        if ranking is None:
            ranking = nested[query_id] = {}
        ranking[doc_id] = number
    return nested if sum(map(len, nested.values())) == len(doc) else None


def few_columns(data: Any, needed: tuple[str, str, str], texts: tuple[str, ...] = ()) -> dict[str, list[Any]] | None:
    """The columns of a small table or of few named tuples: those that are needed, and all ``texts``.

    None for anything larger, or not plain: with other columns, ids that are neither all strings nor all integers, or texts that
    are no strings.
    """
    if isinstance(data, list):
        if (
            not 0 < len(data) <= _FEW_ROWS
            or getattr(data[0], "_fields", None) is None
            or set(map(type, data)) != {type(data[0])}
        ):
            return None
        names, lists = data[0]._fields, list(map(list, zip(*data, strict=True)))
        if needed[2] == "relevance" and not texts and names[3:] == ("iteration",) and set(lists[3]) == {"0"}:
            names, lists = names[:3], lists[:3]  # ir_measures.Qrel
    else:
        if not hasattr(data, "itertuples") or len(data) > _FEW_ROWS:
            return None
        names, lists = tuple(data.columns), []
    wanted = {*needed, *texts}
    renamed = [PYTERRIER.get(name, name) if name not in wanted else name for name in names]
    if len(renamed) != len(wanted) or set(renamed) != wanted:
        return None
    columns = dict(zip(renamed, lists or [data[name].tolist() for name in names], strict=True))
    for name in (*needed[:2], *texts):
        plain = _plain_ids(columns[name], integers=name not in texts)
        if plain is None:
            return None
        columns[name] = plain
    return columns


def _plain_ids(column: list[Any], integers: bool) -> list[str] | None:
    """Ids as strings, if they are all strings (or all integers, where they may be)."""
    kinds = set(map(type, column))
    if kinds == {str}:
        return column if "".join(column).isascii() else None
    return list(map(str, column)) if integers and kinds == {int} else None


def packed_numbers(rows: Iterable[Sequence[Any]]) -> NDArray[np.float64] | None:
    """All numbers of several sequences, one after the other, as float64; None if a value is not a number.

    Sequences that are made on the way are checked and packed while the processor's cache still has them.
    """
    packed = []
    for row in rows:
        kinds = list(map(type, row))
        if kinds.count(float) < len(row) and not set(kinds) <= {float, int} and not all(map(is_plain_number, row)):
            return None
        try:
            packed.append(struct.pack(f"{len(row)}d", *row))
        except (struct.error, OverflowError, ValueError):
            return None
    return np.frombuffer(b"".join(packed))


def rows_of_dicts(outer: Mapping[Any, Mapping[Any, Any]], value: str) -> dict[str, list[Any]]:
    return {
        "query_id": list(chain.from_iterable([q] * len(docs) for q, docs in outer.items())),
        "doc_id": list(chain.from_iterable(outer.values())),
        value: list(chain.from_iterable(docs.values() for docs in outer.values())),
    }
