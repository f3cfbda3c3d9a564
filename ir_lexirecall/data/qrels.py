"""Qrels of any format -> columns, sorted and checked: query ids, judged documents, grades, and rows of several aspects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from ir_lexirecall._util import engine
from ir_lexirecall._util.arrays import Bools, Floats, Ints
from ir_lexirecall._util.errors import and_more, check_text
from ir_lexirecall._util.lazy import polars as pl
from ir_lexirecall.io.cells import id_of
from ir_lexirecall.io.columns import (
    changes,
    few_columns,
    nested_dicts,
    packed_numbers,
    qrel_columns,
    readable,
)
from ir_lexirecall.io.names import ASPECT_COLUMNS, QREL_COLUMNS
from ir_lexirecall.io.relevant_documents import with_grades

_SMALL = 2**17  # lines that one thread sorts


@dataclass(frozen=True)
class AspectRows:
    """Qrels that say more than one grade for each document: of several aspects, or in further columns.

    A row per document and aspect, ordered by document, then by the name of the aspect.
    """

    doc: Ints  # for each row, the row of the document in the judgments
    aspect: Ints  # its aspect, as a place in ``names``
    grade: Floats  # the grade for it
    names: list[str]  # names of aspects, sorted
    columns: Mapping[str, pl.Series]  # further columns of the qrels, as they were
    line: Ints  # their lines that are about these rows, ordered by row; more than one where the same is said twice
    row: Ints  # the row that each of these lines is about

    def of_documents(self, kept: Ints) -> AspectRows:
        """The rows of some documents (``kept``: their rows, rising), which are numbered anew."""
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
        """The same rows, those of some documents (a truth value for each) with grade 0 and without further labels."""
        gone = removed[self.doc]
        lines = ~gone[self.row]
        return replace(
            self, grade=np.where(gone, 0.0, self.grade), line=self.line[lines], row=self.row[lines]
        )


class Qrels(NamedTuple):
    """What ``Judgments`` are made of."""

    query_ids: list[str]
    query: Ints
    docs: list[str] | pl.Series
    grade: Floats
    table: AspectRows | None = None


def read_qrels(qrels: Any) -> Qrels:
    """Sort and check qrels: a path, a table, a dict of dicts, or named tuples.

    Raises:
        ValueError: a missing column, a grade that is not a number, or the same judgment twice with
            different grades.
    """
    qrels = with_grades(readable(qrels, "qrels"))
    if (nested := nested_dicts(qrels, "qrels", QREL_COLUMNS)) is not None:
        query_ids = sorted(nested)
        docs = [sorted(nested[query_id]) for query_id in query_ids]
        grade = packed_numbers(
            list(map(nested[query_id].__getitem__, ids))
            for query_id, ids in zip(query_ids, docs, strict=True)
        )
        if grade is not None and np.isfinite(grade).all():
            query = np.arange(len(docs)).repeat(
                np.array([len(ids) for ids in docs], dtype=np.int64)
            )
            return Qrels(query_ids, query, list(chain.from_iterable(docs)), grade)
    for name in ASPECT_COLUMNS:  # a small table with one column more needs no Polars
        if (columns := few_columns(qrels, QREL_COLUMNS, (name,))) is not None:
            grade = packed_numbers([columns["relevance"]])
            if grade is not None and np.isfinite(grade).all():
                return _from_columns(qrels, columns | {"relevance": grade})
    return _from_columns(qrels, qrel_columns(qrels))  # which names the offender


def _from_columns(qrels: Any, columns: Mapping[str, Any]) -> Qrels:
    """Qrels from what ``qrel_columns`` gave, or from lists: these are sorted without Polars."""
    aspect = aspect_column(columns)
    keys = {name: columns[name] for name in ("query_id", "doc_id")} | (
        {} if aspect is None else {"aspect": aspect}
    )
    grades = np.asarray(columns["relevance"])
    if not isinstance(columns["doc_id"], list) and engine.computes():
        ordered = pl.DataFrame({**keys, "relevance": grades, "line": np.arange(len(grades))})
        ordered = ordered.sort(*keys, "relevance", multithreaded=len(grades) > _SMALL)
        in_order: list[Any] = [ordered[name] for name in keys]
        line = ordered["line"].to_numpy()
    else:
        of_line = list(zip(*keys.values(), grades.tolist(), strict=True))
        line = np.array(sorted(range(len(grades)), key=of_line.__getitem__), dtype=np.int64)
        in_order = [
            np.array([of_line[i][k] for i in line.tolist()], dtype=object) for k in range(len(keys))
        ]
    query_id, doc_id = in_order[:2]
    new_query = changes(query_id)
    new_doc = new_query | changes(doc_id)
    new = new_doc if aspect is None else new_doc | changes(in_order[2])
    grade = grades[line]
    if not new.all() and len(conflicts := np.flatnonzero(~new[1:] & (grade[1:] != grade[:-1])) + 1):
        first = int(conflicts[0])
        start = np.flatnonzero(np.r_[new, True])
        end = int(np.searchsorted(start, first, side="right"))
        of_aspect = (
            "" if aspect is None or len(set(aspect)) == 1 else f" (aspect {in_order[2][first]!r})"
        )
        labels = " and ".join(
            f"{label:g}" for label in np.unique(grade[start[end - 1] : start[end]]).tolist()
        )
        raise ValueError(
            f"qrels: document {doc_id[first]!r} of query {query_id[first]!r}{of_aspect} is judged twice, with the grades "
            f"{labels}{and_more(len(conflicts) - 1)}; keep one judgment"
        )
    row, doc = np.cumsum(new) - 1, np.cumsum(new_doc) - 1
    query_ids = list(query_id[np.flatnonzero(new_query)])
    query = (np.cumsum(new_query) - 1)[new_doc]
    empty = (
        [id_of(q) for q, docs in qrels.items() if not docs] if isinstance(qrels, Mapping) else []
    )
    if empty:
        judged, query_ids = query_ids, sorted({*query_ids, *empty})
        place = {name: q for q, name in enumerate(query_ids)}
        query = np.array([place[name] for name in judged], dtype=np.int64)[query]
    docs = doc_id[np.flatnonzero(new_doc)]
    docs = docs.tolist() if isinstance(docs, np.ndarray) else docs
    further = {name: values for name, values in columns.items() if name not in QREL_COLUMNS}
    if aspect is None and set(further) <= set(ASPECT_COLUMNS):
        return Qrels(query_ids, query, docs, grade[new])
    names, code = ["0"], np.zeros(len(new), dtype=np.int64)
    if aspect is not None:
        aspects = list(in_order[2])
        names = sorted(set(aspects))
        place = {name: i for i, name in enumerate(names)}
        code = np.fromiter(map(place.__getitem__, aspects), np.int64, len(new))
    further = {
        name: pl.Series(name, values, dtype=pl.String) if isinstance(values, list) else values
        for name, values in further.items()
    }
    table = AspectRows(doc[new], code[new], grade[new], names, further, line, row)
    return Qrels(query_ids, query, docs, top_grades(table, len(docs)), table)


def aspect_column(columns: Mapping[str, Any]) -> pl.Series | list[str] | None:
    """The aspect (subtopic) that each line of the qrels judges, ``"0"`` where it names none; None where no line names one."""
    names = next((columns[name] for name in ASPECT_COLUMNS if name in columns), None)
    if names is None or isinstance(names, list):
        return None if set(names or ["0"]) == {"0"} else names
    if names.dtype == pl.Null:
        return None
    if names.dtype == pl.Object or names.dtype.is_nested() or names.null_count():
        texts = [
            "0" if name is None else check_text(str(name), "names of aspects")
            for name in names.to_list()
        ]
        names = pl.Series(texts, dtype=pl.String)
    elif names.dtype != pl.String:
        names = names.cast(pl.String)
    return None if len(names) == 0 or (names == "0").all() else names


def top_grades(table: AspectRows, documents: int) -> Floats:
    """The highest grade of each document; that of the aspect ``relevance``, where one is called so (without: 0)."""
    doc, grade = table.doc, table.grade
    if "relevance" in table.names:
        named = table.aspect == table.names.index("relevance")
        doc, grade = doc[named], grade[named]
    top = np.full(documents, -np.inf)
    np.maximum.at(top, doc, grade)
    top[np.isinf(top)] = 0
    return top
