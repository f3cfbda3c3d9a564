"""Qrels as sorted and checked columns: queries, judged documents, grades, and aspects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from ir_lexirecall._util import engine
from ir_lexirecall._util.arrays import Bools, Floats, Ints, starts_segment
from ir_lexirecall._util.errors import and_more, check_text, shown
from ir_lexirecall._util.lazy import polars as pl
from ir_lexirecall._util.selecting import among, index_of, without_keys
from ir_lexirecall.io.columns import (
    checked_columns,
    nested_columns,
    packed_numbers,
    plain_columns,
    read_columns,
)
from ir_lexirecall.io.lines import stacked
from ir_lexirecall.io.names import ASPECT_COLUMNS, QREL_COLUMNS
from ir_lexirecall.io.schemas import QRELS
from ir_lexirecall.io.source import Kind, Source

_SMALL = 2**17  # lines that one thread sorts


@dataclass(frozen=True, eq=False)
class AspectRows:
    """Qrels that say more than a grade for each document: several aspects, or further columns.

    A row per document and aspect, ordered by document, then by the name of the aspect.
    """

    doc: Ints  # for each row, the row of the document in the judgments
    aspect: Ints  # its aspect, as a place in ``names``
    grade: Floats  # the grade for it
    names: list[str]  # names of aspects, sorted
    columns: Mapping[str, pl.Series]  # further columns of the qrels, as they were
    # Lines of the qrels about these rows, ordered by row; several if they say the same twice.
    line: Ints
    row: Ints  # the row that each of these lines is about

    def of_documents(self, kept: Ints) -> AspectRows:
        """Return the rows of some documents, which are numbered anew.

        ``kept`` are the rows of the documents, in rising order.
        """
        keep = np.isin(self.doc, kept)
        lines = keep[self.row]
        row = (np.cumsum(keep) - 1)[self.row[lines]]
        return replace(
            self,
            doc=np.searchsorted(kept, self.doc[keep]),
            aspect=self.aspect[keep],
            grade=self.grade[keep],
            line=self.line[lines],
            row=row,
        )

    def without_labels(self, removed: Bools) -> AspectRows:
        """Return the same rows, some with grade 0 and without further labels.

        ``removed`` says of each document whether its rows lose their labels.
        """
        gone = removed[self.doc]
        lines = ~gone[self.row]
        return replace(
            self,
            grade=np.where(gone, 0.0, self.grade),
            line=self.line[lines],
            row=self.row[lines],
        )


class Qrels(NamedTuple):
    """What ``Judgments`` are made of."""

    query_ids: list[str]
    query: Ints
    docs: list[str] | pl.Series
    grade: Floats
    table: AspectRows | None = None


def read_qrels(source: Source) -> Qrels:
    """Return qrels, sorted and checked.

    Raises:
        ValueError: a missing column, a grade that is not a number, or the same judgment twice with
            different grades.
    """
    if source.kind is Kind.FILES:
        table = stacked([*read_columns(source, QRELS)])
        return _sorted_rows(table.to_dict())
    if source.kind is Kind.NESTED:
        qrels = _of_nested(source.data)
        if qrels is not None:
            return qrels
    columns = source.columns(QRELS)
    if source.kind is Kind.TABLE:
        qrels = _of_few(plain_columns(columns, QRELS))
        if qrels is not None:
            return qrels
    qrels = _sorted_rows(checked_columns(columns, QRELS).to_dict())
    if source.kind is Kind.NESTED:
        return _with_queries(qrels, source.data)
    return qrels


def _of_nested(nested: Mapping[str, Mapping[str, Any]]) -> Qrels | None:
    """Return the qrels of a dict of dicts; None if a grade is not a finite number."""
    query_ids = sorted(nested)
    docs = [sorted(nested[query_id]) for query_id in query_ids]
    grade = packed_numbers(
        list(map(nested[query_id].__getitem__, ids))
        for query_id, ids in zip(query_ids, docs, strict=True)
    )
    if grade is None or not np.isfinite(grade).all():
        return None
    lengths = np.array([len(ids) for ids in docs], dtype=np.int64)
    query = np.arange(len(docs)).repeat(lengths)
    return Qrels(query_ids, query, list(chain.from_iterable(docs)), grade)


def _of_few(columns: Mapping[str, list[Any]] | None) -> Qrels | None:
    """Return the qrels of a few plain rows; None without, or if a grade is not a finite number."""
    if columns is None:
        return None
    nested = nested_columns(columns)
    if nested is not None:
        return _of_nested(nested)
    grade = packed_numbers([columns["relevance"]])
    if grade is None or not np.isfinite(grade).all():
        return None
    return _sorted_rows({**columns, "relevance": grade})


def _with_queries(qrels: Qrels, nested: Mapping[str, Mapping[str, Any]]) -> Qrels:
    """Return qrels with the queries that have no documents."""
    query_ids = sorted(nested)
    index = index_of(query_ids)
    new = np.array([index[query_id] for query_id in qrels.query_ids], dtype=np.int64)
    return qrels._replace(query_ids=query_ids, query=new[qrels.query])


def _sorted_rows(columns: Mapping[str, Any]) -> Qrels:
    """Return qrels with rows sorted by query, document and aspect.

    Args:
        columns: what ``read_columns`` gives, or lists: these are sorted without Polars.

    Raises:
        ValueError: a document is judged twice, with different grades.
    """
    aspect = aspect_column(columns)
    keys = {name: columns[name] for name in ("query_id", "doc_id")}
    if aspect is not None:
        keys["aspect"] = aspect
    grades = np.asarray(columns["relevance"])
    line, in_order = _order(keys, grades)
    query_id, doc_id, *aspects = in_order
    new_query = starts_segment(query_id)
    new_doc = new = new_query | starts_segment(doc_id)
    names, code = ["0"], np.zeros(len(new), np.int64)
    if aspects:
        new = new_doc | starts_segment(aspects[0])
        names, code = numbered(_as_list(aspects[0]))
    grade = grades[line]
    _check_judged_once(in_order, grade, new)
    docs = doc_id[np.flatnonzero(new_doc)]
    if isinstance(docs, np.ndarray):
        docs = docs.tolist()
    qrels = Qrels(
        _as_list(query_id[np.flatnonzero(new_query)]),
        (np.cumsum(new_query) - 1)[new_doc],
        docs,
        grade[new],
    )
    further = without_keys(columns, QREL_COLUMNS)
    if aspect is None and set(further) <= set(ASPECT_COLUMNS):
        return qrels
    for name, values in further.items():
        if isinstance(values, list):
            further[name] = pl.Series(name, values, dtype=pl.String)
    row, doc = np.cumsum(new) - 1, np.cumsum(new_doc) - 1
    table = AspectRows(doc[new], code[new], grade[new], names, further, line, row)
    return qrels._replace(grade=top_grades(table, len(docs)), table=table)


def _order(keys: Mapping[str, Any], grades: Floats) -> tuple[Ints, list[Any]]:
    """Return the order of rows by their keys, then by grade, and the keys in that order."""
    if not isinstance(keys["doc_id"], list) and engine.computes():
        ordered = pl.DataFrame(
            {**keys, "relevance": grades, "line": np.arange(len(grades))}
        )
        ordered = ordered.sort(*keys, "relevance", multithreaded=len(grades) > _SMALL)
        return ordered["line"].to_numpy(), [ordered[name] for name in keys]
    rows = list(zip(*keys.values(), grades.tolist(), strict=True))
    line = sorted(range(len(grades)), key=rows.__getitem__)
    in_order = [
        np.array([rows[i][k] for i in line], dtype=object) for k in range(len(keys))
    ]
    return np.array(line, dtype=np.int64), in_order


def _as_list(values: Any) -> list[Any]:
    """Return the values of an array or a Polars series as a list, in one step.

    ``list`` takes a series value by value, which is 30 times as slow.
    """
    if isinstance(values, np.ndarray):
        return values.tolist()
    return values.to_list()


def _check_judged_once(in_order: Sequence[Any], grade: Floats, new: Bools) -> None:
    """Raise if rows with the same keys have different grades.

    Args:
        in_order: queries, documents and perhaps aspects of the rows, sorted.
        grade: the grade of each row.
        new: whether a row has other keys than the one before.
    """
    if new.all():
        return
    conflicts = np.flatnonzero(~new[1:] & (grade[1:] != grade[:-1])) + 1
    if not len(conflicts):
        return
    first = int(conflicts[0])
    query_id, doc_id, *aspects = in_order
    start = np.flatnonzero(np.r_[new, True])
    end = int(np.searchsorted(start, first, side="right"))
    grades = np.unique(grade[start[end - 1] : start[end]]).tolist()
    has_aspects = bool(aspects) and len(set(aspects[0])) > 1
    of_aspect = f" (aspect {shown(aspects[0][first])})" if has_aspects else ""
    raise ValueError(
        f"qrels: document {shown(doc_id[first])} of query "
        f"{shown(query_id[first])}{of_aspect} is judged twice, "
        f"with the grades {' and '.join(f'{label:g}' for label in grades)}"
        f"{and_more(len(conflicts) - 1)}; keep one judgment"
    )


def numbered(names: list[str]) -> tuple[list[str], Ints]:
    """Return the different names, sorted, and the index of each of them."""
    different = sorted(set(names))
    index = index_of(different)
    return different, np.fromiter(map(index.__getitem__, names), np.int64, len(names))


def aspect_column(columns: Mapping[str, Any]) -> pl.Series | list[str] | None:
    """Return the aspect (subtopic) that each line of the qrels judges.

    It is ``"0"`` where a line names none; None if no line names one.
    """
    present = among(ASPECT_COLUMNS, columns)
    if not present:
        return None
    names = columns[present[0]]
    if not isinstance(names, list):
        names = _names_of_aspects(names)
    if len(names) == 0:
        return None
    if isinstance(names, list):
        says_nothing = set(names) == {"0"}
    else:
        says_nothing = bool((names == "0").all())
    return None if says_nothing else names


def _names_of_aspects(column: pl.Series) -> pl.Series:
    """Return a column of aspects as texts, ``"0"`` where a name is missing."""
    if column.dtype == pl.Null:
        return pl.Series(["0"] * len(column), dtype=pl.String)
    if column.dtype == pl.String and not column.null_count():
        return column
    if column.dtype == pl.Object or column.dtype.is_nested() or column.null_count():
        names = list(map(_aspect_name, column.to_list()))
        return pl.Series(names, dtype=pl.String)
    return column.cast(pl.String)


def _aspect_name(name: Any) -> str:
    """Return the name of an aspect as a text, ``"0"`` for a missing one."""
    if name is None:
        return "0"
    return check_text(str(name), "names of aspects")


def top_grades(table: AspectRows, documents: int) -> Floats:
    """Return the highest grade of each document.

    If an aspect is called ``relevance``, it is the grade for that one, 0 without.
    """
    doc, grade = table.doc, table.grade
    if "relevance" in table.names:
        named = table.aspect == table.names.index("relevance")
        doc, grade = doc[named], grade[named]
    top = np.full(documents, -np.inf)
    np.maximum.at(top, doc, grade)
    top[np.isinf(top)] = 0
    return top
