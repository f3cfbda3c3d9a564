"""Qrels of any format -> ``Judgments``: columnar, sorted, checked once."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, fields, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ir_lexirecall import engine
from ir_lexirecall.arrays import Bools, Floats, Ints, ranges
from ir_lexirecall.collections import Collection, Rules, load
from ir_lexirecall.errors import and_more, check_text, naming, shown
from ir_lexirecall.formats import (
    QREL_COLUMNS,
    TableLike,
    changes,
    few_columns,
    id_pairs,
    id_string,
    is_file,
    nested_dicts,
    numeric_column,
    packed_numbers,
    qrel_columns,
)
from ir_lexirecall.lazy import LazyModule, cached_property
from ir_lexirecall.lookup import Lookup

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
else:
    pl = LazyModule("polars")

QrelsLike: TypeAlias = "TableLike | Collection | Judgments"
"""Judgments in any form: a path, a data set's id, a ``Collection``, a DataFrame (pandas, Polars, Arrow), a dict of dicts, an
iterable of named tuples, or ``Judgments`` themselves."""

ExcludeLike: TypeAlias = "str | Mapping[Any, Iterable[Any]] | TableLike"
"""Documents to take out of rankings and judgments: ``'self'`` (the document with the query's own id), a mapping of query ids
to document ids, or a table or run file with the columns ``query_id`` and ``doc_id``."""

_SMALL = 2**17  # judged documents
_ASPECT_COLUMNS = ("subtopic_id", "iteration")  # where rows name their aspect; the first one there counts


_known: ContextVar[Callable[[Any], Judgments | None] | None] = ContextVar("ir_lexirecall_judgments", default=None)


@contextmanager
def known_judgments(find: Callable[[Any], Judgments | None]) -> Iterator[None]:
    """Let ``Judgments.from_qrels`` ask a function first, within the ``with`` block (in this thread or task).

    For a framework that hands the same qrels over many times: ``find`` gives the judgments that it made of them, or None.
    """
    token = _known.set(find)
    try:
        yield
    finally:
        _known.reset(token)


@dataclass(frozen=True)
class AspectGrades:
    """Grades per aspect, a row per judged document and aspect, ordered by document row and aspect."""

    doc: Ints  # row of the document in the judgments
    aspect: Ints  # number of the (query, aspect) pair
    grade: Floats
    query: Ints  # for every (query, aspect) pair: its query
    weight: Floats  # for every (query, aspect) pair: w_t, summing to 1 within a query; 0 if nothing is relevant

    @cached_property
    def top_grade(self) -> Floats:
        """The largest grade of every (query, aspect) pair, 1 where none is above 0."""
        largest = np.zeros(len(self.query))
        np.maximum.at(largest, self.aspect, self.grade)
        return np.where(largest > 0, largest, 1.0)


@dataclass(frozen=True)
class AspectRows:
    """Qrels that say more than one grade for each document: of several aspects, or in further columns.

    A row per document and aspect, ordered by document, then by the name of the aspect.

    Attributes:
        doc: for each row, the row of the document in the judgments.
        aspect: its aspect, as a place in ``names``.
        grade: the grade for it.
        names: names of aspects, sorted.
        columns: further columns of the qrels, as they were.
        line: their lines that are about these rows, ordered by row; more than one where the same is said twice.
        row: the row that each of these lines is about.
    """

    doc: Ints
    aspect: Ints
    grade: Floats
    names: list[str]
    columns: Mapping[str, pl.Series]
    line: Ints
    row: Ints

    def __len__(self) -> int:
        return len(self.doc)

    def of_documents(self, new: Ints) -> AspectRows:
        """The rows of some documents: ``new`` is the row of every document among those that remain, -1 for the others."""
        doc = new[self.doc]
        keep = doc >= 0
        lines = keep[self.row]
        row = (np.cumsum(keep) - 1)[self.row[lines]]
        return replace(
            self, doc=doc[keep], aspect=self.aspect[keep], grade=self.grade[keep], line=self.line[lines], row=row
        )

    def without_labels(self, removed: Bools) -> AspectRows:
        """The same rows, those of some documents (a truth value for each) with grade 0 and without further labels."""
        gone = removed[self.doc]
        lines = ~gone[self.row]
        return replace(self, grade=np.where(gone, 0.0, self.grade), line=self.line[lines], row=self.row[lines])


@dataclass(frozen=True)
class Exclusion:
    """Documents that were taken out of judgments and are to be taken out of runs.

    Attributes:
        everything: the judged documents and the excluded ones.
        row: the row in the judgments of each of these, -1 for the excluded.
    """

    everything: Judgments
    row: Ints


@dataclass(frozen=True)
class Judgments:
    """The judged documents of all queries: one row per query and document, sorted by query id, then document id.

    Build it with ``Judgments.from_qrels(qrels)`` once and align any number of runs with it.

    Attributes:
        query_ids: the Q query ids, sorted.
        query: for every judged document, the position of its query in ``query_ids``.
        docs: the ids of the judged documents, as a list or a Polars series: see ``doc_ids`` and ``doc_id``.
        grade: the grade of each; the highest one if several subtopics were judged (that of the aspect ``relevance``,
            if the rows name such an aspect).
        table: what else the qrels say; None where they have a grade for each document and nothing else.
        exclusion: documents that were taken out, see ``excluding``.
        rules: the collection's rules that were applied, in words; empty where there were none.
        source: what summaries call them: a data set's id, a file's name; empty where they have none.
        elsewhere: where these are a part of larger judgments, the aspects that rows of other queries name: whether an
            aspect is named by rows is a question about the whole.
    """

    query_ids: list[str]
    query: Ints
    docs: list[str] | pl.Series
    grade: Floats
    table: AspectRows | None = field(default=None, repr=False)
    exclusion: Exclusion | None = field(default=None, repr=False)
    elsewhere: frozenset[str] = frozenset()
    rules: str = ""
    source: str = field(default="", compare=False)
    _cache: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def doc_ids(self) -> list[str]:
        """Ids of the judged documents as a list."""
        return self.docs if isinstance(self.docs, list) else self.docs.to_list()

    @cached_property
    def doc_id(self) -> pl.Series:
        """Ids of the judged documents as a column."""
        return pl.Series("doc_id", self.docs, dtype=pl.String) if isinstance(self.docs, list) else self.docs

    @cached_property
    def rows(self) -> pl.DataFrame:
        """The qrels as a table, a row per document and aspect, sorted; ``doc`` is the row of the document.

        Columns: ``query_id``, ``doc_id``, ``relevance``, ``aspect``, ``doc``, and further ones of the qrels that are not called
        like these.
        """
        table = self.aspect_rows
        columns = {
            "query_id": [self.query_ids[q] for q in self.query[table.doc].tolist()],
            "doc_id": self.ids_of(table.doc),
            "relevance": table.grade,
            "aspect": [table.names[place] for place in table.aspect.tolist()],
            "doc": table.doc,
        }
        line = dict(zip(table.row[::-1].tolist(), table.line[::-1].tolist(), strict=True))  # the first one of each row
        lines = [line.get(row) for row in range(len(table))]
        others = {
            name: [None if i is None else values[i] for i in lines]
            for name, values in table.columns.items()
            if name not in columns
        }
        return pl.DataFrame({**columns, **others}, strict=False)

    @cached_property
    def aspect_rows(self) -> AspectRows:
        """``table``, also of judgments that name no aspects."""
        if self.table is not None:
            return self.table
        row = np.arange(len(self.grade))
        return AspectRows(row, np.zeros(len(row), dtype=np.int64), self.grade, ["0"], {}, row, row)

    @classmethod
    def from_qrels(cls, qrels: QrelsLike, exclude: ExcludeLike | None = None, *, rules: bool = True) -> Judgments:
        """Judgments from a path, a data set's id, a table, a dict of dicts, or named tuples; ``Judgments`` pass through.

        >>> qrels = {"q1": {"d2": 1, "d1": 0}, "q0": {"d9": 2}}
        >>> judgments = Judgments.from_qrels(qrels)
        >>> judgments.query_ids, judgments.doc_ids, judgments.grade.tolist()
        (['q0', 'q1'], ['d9', 'd1', 'd2'], [2.0, 0.0, 1.0])

        Raises:
            ValueError: a missing column, a grade that is not a number, or the same judgment twice with
                different grades.

        Args:
            qrels: judgments in any form.
            exclude: documents that are taken out, here and of every run that is aligned with the judgments.
            rules: apply the rules of the collection (``Collection.rules``), where ``qrels`` are one or its id.
        """
        if exclude is not None:
            everything = cls.from_qrels(qrels, rules=rules)
            return everything.excluding(_excluded(exclude, everything.query_ids))
        if isinstance(qrels, Judgments):
            return qrels
        if (find := _known.get()) is not None and (known := find(qrels)) is not None:
            return known
        if isinstance(qrels, str) and not is_file(qrels):
            qrels = load_collection(qrels)
        if isinstance(qrels, Collection):
            judged = replace(cls.from_qrels(qrels.qrels), source=qrels.dataset_id)
            return judged.with_rules(qrels.rules) if rules else judged
        with naming(os.fspath(qrels) if isinstance(qrels, (str, os.PathLike)) else "qrels"):
            nested = nested_dicts(qrels, "qrels", QREL_COLUMNS)
            judgments = cls._from_few(qrels) if nested is None else cls._from_dicts(nested)
            if judgments is None:
                judgments = cls._from_table(qrels, qrel_columns(qrels))
            if not judgments.query_ids and isinstance(qrels, (str, os.PathLike)):
                raise ValueError("there are no judgments in it")
            if isinstance(qrels, (str, os.PathLike)):
                return replace(judgments, source=os.path.basename(os.fspath(qrels)))
            return judgments

    @classmethod
    def _from_dicts(cls, nested: Mapping[str, Mapping[str, Any]]) -> Judgments | None:
        """Judgments from a dict of dicts whose keys are strings; None where a grade is no finite number."""
        query_ids = sorted(nested)
        docs = [sorted(nested[query_id]) for query_id in query_ids]
        grade = packed_numbers(
            list(map(nested[query_id].__getitem__, ids)) for query_id, ids in zip(query_ids, docs, strict=True)
        )
        if grade is None or not np.isfinite(grade).all():
            return None
        query = np.arange(len(docs)).repeat(np.array([len(ids) for ids in docs], dtype=np.int64))
        return cls(query_ids, query, list(chain.from_iterable(docs)), grade)

    @classmethod
    def _from_few(cls, qrels: QrelsLike) -> Judgments | None:
        """Judgments from a small table with one column more, which names aspects; None of anything else or odd."""
        for name in _ASPECT_COLUMNS:
            columns = few_columns(qrels, QREL_COLUMNS, (name,))
            if columns is not None:
                break
        else:
            return None
        query, doc, aspect = (columns[key] for key in ("query_id", "doc_id", name))
        grade = packed_numbers([columns["relevance"]])
        keys = sorted(zip(query, doc, aspect, range(len(doc)), strict=True))
        pairs = list(dict.fromkeys(key[:2] for key in keys))
        if grade is None or not np.isfinite(grade).all() or len({key[:3] for key in keys}) < len(keys):
            return None
        query_ids = list(dict.fromkeys(query_id for query_id, _ in pairs))
        place = {query_id: q for q, query_id in enumerate(query_ids)}
        of_query = np.array([place[query_id] for query_id, _ in pairs], dtype=np.int64)
        docs = [doc_id for _, doc_id in pairs]
        line = np.array([key[3] for key in keys], dtype=np.int64)
        names = sorted(set(aspect))
        if names == ["0"]:
            return cls(query_ids, of_query, docs, grade[line])
        number, code = {pair: row for row, pair in enumerate(pairs)}, {text: i for i, text in enumerate(names)}
        table = AspectRows(
            np.array([number[key[:2]] for key in keys], dtype=np.int64),
            np.array([code[key[2]] for key in keys], dtype=np.int64),
            grade[line],
            names,
            {name: pl.Series(name, aspect, dtype=pl.String)},
            line,
            np.arange(len(line)),
        )
        return cls(query_ids, of_query, docs, _top_grades(table, len(docs)), table)

    @classmethod
    def _from_table(cls, qrels: QrelsLike, columns: Mapping[str, pl.Series]) -> Judgments:
        """Judgments from what ``qrel_columns`` gave."""
        aspect = aspect_column(columns)
        line, query_id, doc_id, aspect = _sorted(columns, aspect)
        new_query = changes(query_id)
        new_doc = new_query | changes(doc_id)
        new = new_doc if aspect is None else new_doc | changes(aspect)
        grade = columns["relevance"].to_numpy()[line]
        if not new.all():
            _refuse_conflicts(query_id, doc_id, aspect, grade, new)
        row, doc = np.cumsum(new) - 1, np.cumsum(new_doc) - 1
        query_ids = query_id.filter(pl.Series(new_query)).to_list()
        query = (np.cumsum(new_query) - 1)[new_doc]
        empty = [id_string(q) for q, docs in qrels.items() if not docs] if isinstance(qrels, Mapping) else []
        if empty:
            judged, query_ids = query_ids, sorted({*query_ids, *empty})
            place = {name: q for q, name in enumerate(query_ids)}
            query = np.array([place[name] for name in judged], dtype=np.int64)[query]
        docs = doc_id.filter(pl.Series(new_doc))
        further = {name: values for name, values in columns.items() if name not in QREL_COLUMNS}
        if aspect is None and set(further) <= set(_ASPECT_COLUMNS):
            return cls(query_ids=query_ids, query=query, docs=docs, grade=grade[new])
        code, names = _in_order(aspect, len(new))
        table = AspectRows(doc[new], code[new], grade[new], names, further, line, row)
        return cls(query_ids=query_ids, query=query, docs=docs, grade=_top_grades(table, len(docs)), table=table)

    def __len__(self) -> int:
        return len(self.query_ids)

    def restricted_to(self, query_ids: Iterable[str]) -> Judgments:
        """The judgments of some queries, read as a part of these: every query keeps its documents, grades and aspects.

        >>> judgments = Judgments.from_qrels({"q1": {"a": 1}, "q2": {"a": 2, "b": 0}, "q3": {"a": 1}})
        >>> judgments.restricted_to(["q2", "q1"]).grade.tolist()
        [1.0, 2.0, 0.0]

        Raises:
            ValueError: a query that is not judged.
        """
        wanted = set(query_ids)
        if unknown := wanted - self.place.keys():
            raise ValueError(f"judgments: there is no query {min(unknown)!r}")
        if len(wanted) == len(self):
            return self
        queries = np.array(sorted(self.place[query_id] for query_id in wanted), dtype=np.int64)
        first, end = (np.searchsorted(self.query, queries, side=side) for side in ("left", "right"))
        row = ranges(first, end)
        table, exclusion = self.table, self.exclusion
        if table is not None:
            table = table.of_documents(_renumbered(row, len(self.grade)))
        if exclusion is not None:
            everything = exclusion.everything.restricted_to(wanted)
            old = exclusion.row[np.isin(exclusion.everything.query, queries)]
            exclusion = Exclusion(everything, np.where(old >= 0, np.searchsorted(row, old), -1))
        return replace(
            self,
            query_ids=[self.query_ids[q] for q in queries],
            query=np.repeat(np.arange(len(queries)), end - first),
            docs=self._docs_at(row),
            grade=self.grade[row],
            table=table,
            exclusion=exclusion,
            elsewhere=self.elsewhere | self._aspect_names,
            _cache={},
        )

    def as_part(self, elsewhere: Iterable[str]) -> Judgments:
        """The same judgments, read as a part of larger ones, whose other rows name the aspects ``elsewhere``."""
        part = replace(self, elsewhere=frozenset(elsewhere), _cache={})
        lacks_relevance = part.relevance_is_named and "relevance" not in part._aspect_names
        return replace(part, grade=np.zeros(len(self.grade))) if lacks_relevance else part

    @cached_property
    def _aspect_names(self) -> frozenset[str]:
        return frozenset(["0"] if self.table is None else (self.table.names[i] for i in np.unique(self.table.aspect)))

    @property
    def relevance_is_named(self) -> bool:
        """Whether rows, here or elsewhere, name the aspect ``relevance``: then only those are a document's grade."""
        return "relevance" in self._aspect_names | self.elsewhere

    def m(self, rel: float = 1) -> Ints:
        """Number of documents with at least grade ``rel`` of each query, shape ``(Q,)``."""
        key = ("m", rel)
        if key not in self._cache:
            self._cache[key] = np.bincount(self.query[self.grade >= rel], minlength=len(self))
        counts: Ints = self._cache[key]
        return counts

    def cached(self, key: tuple[Any, ...], compute: Callable[[], Floats]) -> Floats:
        """What ``compute`` gives, kept under ``key``: for what depends on the judgments alone."""
        if key not in self._cache:
            self._cache[key] = compute()
        values: Floats = self._cache[key]
        return values

    @cached_property
    def query_numbers(self) -> pl.DataFrame:
        """Query ids and their positions, for joins."""
        return pl.DataFrame({"query_id": pl.Series(self.query_ids, dtype=pl.String), "query": np.arange(len(self))})

    @cached_property
    def place(self) -> dict[str, int]:
        """The position of each query id."""
        return {query_id: q for q, query_id in enumerate(self.query_ids)}

    def rows_of_query(self, q: int) -> list[tuple[int, str]]:
        """The rows and ids of the judged documents of query number ``q``."""
        key = ("rows", q)
        if key not in self._cache:
            first, end = int(self.query.searchsorted(q)), int(self.query.searchsorted(q, "right"))
            self._cache[key] = list(zip(range(first, end), self.doc_ids[first:end], strict=True))
        rows: list[tuple[int, str]] = self._cache[key]
        return rows

    def lookup(self, query: Ints) -> tuple[Lookup, Ints]:
        """The judged documents of (at least) some queries, to be found in a run; and the row of each one here.

        Small judgments are arranged once for all queries; large ones for each request, to stay in the processor's cache.
        """
        if len(self.query) <= _SMALL:
            return self._whole_lookup, np.arange(len(self.query))
        row = ranges(*(np.searchsorted(self.query, query, side=side) for side in ("left", "right")))
        return Lookup.from_keys(self.keys[["query", "doc_id"]][row]), row

    @cached_property
    def _whole_lookup(self) -> Lookup:
        return Lookup.from_keys(self.keys[["query", "doc_id"]])

    def renamed(self, doc_ids: list[str]) -> Judgments:
        """The same judgments of documents with other ids, a row each."""
        return replace(self, docs=doc_ids, _cache={})

    def __getstate__(self) -> dict[str, Any]:
        """Without what is derived: hashes hold within one process only."""
        return {each.name: getattr(self, each.name) for each in fields(self)} | {"_cache": {}}

    @cached_property
    def keys(self) -> pl.DataFrame:
        """Query position, document id and row of every judged document, for joins."""
        return pl.DataFrame(
            {"query": self.query.astype(np.int32), "doc_id": self.doc_id, "doc": np.arange(len(self.query))}
        )

    def with_grades(self, grade: Floats) -> Judgments:
        """The same documents with other grades (a row each), judged for one aspect."""
        return replace(self, grade=grade, table=None, elsewhere=frozenset(), _cache={})

    def of_documents(self, row: Ints, grade: Floats) -> Judgments:
        """The judgments of some documents (``row``: their rows, rising) for one aspect, with a ``grade`` for each."""
        return replace(
            self,
            query=self.query[row],
            docs=self._docs_at(row),
            grade=grade,
            table=None,
            exclusion=None,
            elsewhere=frozenset(),
            _cache={},
        )

    def _docs_at(self, row: Ints) -> list[str] | pl.Series:
        return self.ids_of(row) if isinstance(self.docs, list) else self.docs.gather(row)

    def ids_of(self, row: Ints) -> list[str]:
        """Ids of the documents of some rows (``row``)."""
        if isinstance(self.docs, list):
            return [self.docs[i] for i in row.tolist()]
        return self.docs.gather(row).to_list()

    def excluding(self, doc_ids: Mapping[str, Iterable[str]]) -> Judgments:
        """The judgments without some documents, which every run that is aligned with them loses, too.

        Args:
            doc_ids: documents to take out, by query; queries without judgments are ignored.

        >>> judgments = Judgments.from_qrels({"q": {"a": 1, "q": 1}}).excluding({"q": ["q", "x"]})
        >>> judgments.doc_ids, len(judgments.exclusion.everything.doc_ids)
        (['a'], 3)
        """
        wanted = {self.place[q]: set(ids) for q, ids in doc_ids.items() if q in self.place}
        if self.exclusion is not None:  # what was taken out before stays out
            before = self.exclusion.everything
            for row in np.flatnonzero(self.exclusion.row < 0).tolist():
                wanted.setdefault(int(before.query[row]), set()).add(before.doc_ids[row])
        start = np.searchsorted(self.query, np.arange(len(self) + 1)).tolist()
        own, docs = self.doc_ids, list[str]()
        old, query = list[int](), list[int]()
        for q in range(len(self)):
            known = own[start[q] : start[q + 1]]
            rows = list(range(start[q], start[q + 1]))
            if q in wanted:
                place = dict(zip(known, rows, strict=True))
                merged = sorted(wanted[q].union(known))
                rows = [-1 if doc_id in wanted[q] else place[doc_id] for doc_id in merged]
                known = merged
            docs += known
            old += rows
            query += [q] * len(known)
        row = np.array(old, dtype=np.int64)
        kept = row[row >= 0]
        new = _renumbered(kept, len(own))
        everything = Judgments(self.query_ids, np.array(query, dtype=np.int64), docs, np.zeros(len(docs)))
        table = None if self.table is None else self.table.of_documents(new)
        exclusion = Exclusion(everything, np.where(row >= 0, new[row], -1))
        remaining = self.of_documents(kept, self.grade[kept])
        return replace(remaining, table=table, exclusion=exclusion, elsewhere=self.elsewhere, _cache={})

    def with_rules(self, rules: Rules) -> Judgments:
        """The judgments after a collection's rules: see ``Rules``.

        >>> judgments = Judgments.from_qrels({"q": {"q": 1, "a": 2, "b": -100}})
        >>> judgments.with_rules(Rules(self_matches=True, excluded_grades=(-100.0,))).doc_ids
        ['a']
        """
        if not rules:
            return self
        taken_out: dict[str, list[str]] = {q: [q] for q in self.query_ids} if rules.self_matches else {}
        for row in np.flatnonzero(np.isin(self.grade, rules.excluded_grades)).tolist():
            taken_out.setdefault(self.query_ids[self.query[row]], []).append(self.doc_ids[row])
        return replace(self.excluding(taken_out), rules=str(rules), _cache={})

    def with_labels(self, labels: Mapping[str, Floats]) -> Judgments:
        """The same judgments of one aspect with further columns: ``labels`` of every document, by the name of the aspect."""
        rows = np.arange(len(self.grade))
        columns = {name: pl.Series(name, values) for name, values in labels.items()}
        table = AspectRows(rows, np.zeros_like(rows), self.grade, ["0"], columns, rows, rows)
        return replace(self, table=table, _cache={})

    def for_ir_measures(self) -> pd.DataFrame:
        """Qrels as ir_measures' providers read them: strings, whole grades as integers, ``iteration``.

        Where several aspects were judged, providers without a notion of them keep a document's last row: that is made
        the one with the highest grade, as in ``grade`` (rows of named aspects: that of ``relevance``).
        """
        import pandas as pd

        table = self.aspect_rows
        row = np.arange(len(table))
        if self.relevance_is_named:
            row = row[[table.names[place] == "relevance" for place in table.aspect.tolist()]]
        row = row[np.argsort(table.grade[row], kind="stable")]
        grade, query = table.grade[row], self.query[table.doc[row]]
        best = np.full(len(self), -np.inf)
        np.maximum.at(best, query, grade)
        # pytrec_eval writes beyond its memory, or never ends, for a query whose grades are all negative; nothing of it is
        # relevant anyway.
        hopeless = best[query] < 0
        return pd.DataFrame(
            {
                "query_id": [self.query_ids[q] for q in query.tolist()],
                "doc_id": self.ids_of(table.doc[row]),
                "relevance": np.where(hopeless, 0, grade).astype(np.int64),
                "iteration": [table.names[place] for place in table.aspect[row].tolist()],
            }
        )

    @cached_property
    def highest_grade(self) -> float:
        """The highest grade of all documents, minus infinity without any."""
        return float(self.grade.max(initial=-np.inf))

    def check_top_grade(self, max_rel: float, measure: str) -> None:
        """Refuse a grade above ``max_rel``, naming the first and the ``measure``."""
        if self.highest_grade <= max_rel:
            return
        above = np.flatnonzero(self.grade > max_rel)
        if len(above):
            raise self._above(above[0], self.grade[above[0]], max_rel, measure, len(above) - 1)

    def check_top_grade_of_aspects(self, max_rel: float, measure: str) -> None:
        """Refuse a grade above ``max_rel`` for any aspect, naming the first and the ``measure``."""
        above = np.flatnonzero(self.aspects.grade > max_rel)
        if len(above):
            row = above[0]
            raise self._above(self.aspects.doc[row], self.aspects.grade[row], max_rel, measure, len(above) - 1)

    def check_whole_grades(self, measure: str) -> None:
        """Refuse a grade that is not a whole number, which other providers of ``measure`` cannot read."""
        odd = np.flatnonzero((self.grade != np.floor(self.grade)) | (np.abs(self.grade) >= 2**31))
        if len(odd):
            doc = int(odd[0])
            raise ValueError(
                f"{measure} needs whole grades of at most 31 bits, but document {self.doc_ids[doc]!r} of query "
                f"{self.query_ids[self.query[doc]]!r} has {self.grade[doc]:g}{and_more(len(odd) - 1)}"
            )

    def _above(self, doc: int, grade: float, max_rel: float, measure: str, rest: int) -> ValueError:
        return ValueError(
            f"{measure}: document {self.doc_ids[int(doc)]!r} of query {self.query_ids[self.query[doc]]!r} has grade "
            f"{grade:g}, above max_rel={max_rel:g}{and_more(rest)}; raise max_rel to the scale's top grade"
        )

    @cached_property
    def aspects(self) -> AspectGrades:
        """The grades per aspect (subtopic) with the aspects' weights.

        Raises:
            ValueError: a weight is not a number, negative, or differs within one aspect of a query.
        """
        if self.table is None:
            return self._one_aspect()
        doc, grade = self.table.doc, self.table.grade
        codes = len(self.table.names)
        pairs, aspect = np.unique(self.query[doc] * codes + self.table.aspect, return_inverse=True)
        pair_query = pairs // codes
        weight = self._aspect_weights(self.table, aspect, len(pairs))
        weight[np.bincount(aspect[grade > 0], minlength=len(pairs)) == 0] = 0  # nothing relevant: not counted
        total = np.bincount(pair_query, weights=weight, minlength=len(self))[pair_query]
        weight = np.divide(weight, total, out=np.zeros(len(pairs)), where=total > 0)
        return AspectGrades(doc=doc, aspect=aspect, grade=grade, query=pair_query, weight=weight)

    @cached_property
    def has_weight(self) -> Bools:
        """Whether an aspect of each query counts: a document is relevant to it, and its weight is not 0."""
        return np.bincount(self.aspects.query, weights=self.aspects.weight, minlength=len(self)) > 0

    def _one_aspect(self) -> AspectGrades:
        """``aspects`` of judgments that name none: each query has one."""
        judged = np.bincount(self.query, minlength=len(self)) > 0
        query = judged.nonzero()[0]
        relevant = np.bincount(self.query[self.grade > 0], minlength=len(self)) > 0
        return AspectGrades(
            doc=np.arange(len(self.query)),
            aspect=(judged.cumsum() - 1)[self.query],
            grade=self.grade,
            query=query,
            weight=relevant[query].astype(np.float64),
        )

    def _aspect_weights(self, table: AspectRows, aspect: Ints, pairs: int) -> Floats:
        """The weight of each (query, aspect) pair; ``aspect`` is the pair of every row."""
        weight = np.ones(pairs)
        if "weight" in table.columns:
            values = self._further_column(table, "weight")
            pair = aspect[table.row]
            weight[pair] = values
            bad = np.flatnonzero(~(values >= 0) | (values != weight[pair]) | np.isinf(values))
            if len(bad):
                query_id, doc_id = self._ids_of_line(table, int(bad[0]))
                name = table.names[table.aspect[table.row[bad[0]]]]
                raise ValueError(
                    f"qrels: aspect {name!r} of query {query_id!r} has weight {shown(table.columns['weight'][int(table.line[bad[0]])])}"
                    f" at document {doc_id!r}; an aspect needs one weight per query, not negative{and_more(len(bad) - 1)}"
                )
        return weight

    def _further_column(self, table: AspectRows, name: str) -> Floats:
        """Numbers of a further column of the qrels, for each line."""
        return numeric_column(table.columns[name], table.line, name, lambda n: self._ids_of_line(table, n))

    def _ids_of_line(self, table: AspectRows, line: int) -> tuple[str, str]:
        """Query and document that the n-th line is about."""
        doc = int(table.doc[table.row[line]])
        return self.query_ids[self.query[doc]], self.doc_ids[doc]

    def labels(self, aspects: Sequence[str]) -> dict[str, Floats]:
        """Labels of the judged documents for ``aspects``, NaN where there is none, each a row per document.

        An aspect is a row label (in ``subtopic_id`` or ``iteration``) or a further column of the qrels; the
        column ``relevance`` serves unless other aspects are rows.

        Raises:
            ValueError: the qrels have no such aspect, or two different labels for one document.
        """
        in_rows = self._aspect_names | self.elsewhere
        by_rows = any(name in in_rows for name in aspects)
        return {name: self._label(name, in_rows, by_rows) for name in aspects}

    def _label(self, name: str, in_rows: frozenset[str], by_rows: bool) -> Floats:
        table = self.aspect_rows
        label = np.full(len(self.grade), np.nan)
        if name in in_rows:
            if name in table.names:
                picked = np.flatnonzero(table.aspect == table.names.index(name))
                label[table.doc[picked]] = table.grade[picked]
            return label
        columns = {"relevance", *table.columns} - set(_ASPECT_COLUMNS)
        if name not in columns or (name == "relevance" and by_rows):
            known = sorted(columns | (in_rows if len(in_rows) > 1 else set()))
            raise ValueError(f"the qrels have no aspect {name!r}; they have {', '.join(known)}")
        if name == "relevance":
            return self.grade
        values, doc = self._further_column(table, name), table.doc[table.row]
        label[doc] = values
        differs = np.flatnonzero((label[doc] != values) & ~(np.isnan(label[doc]) & np.isnan(values)))
        if len(differs):
            query_id, doc_id = self._ids_of_line(table, int(differs[0]))
            raise ValueError(
                f"qrels: document {doc_id!r} of query {query_id!r} has the labels {values[differs[0]]:g} and "
                f"{label[doc][differs[0]]:g} for the aspect {name!r}{and_more(len(differs) - 1)}"
            )
        return label


def _renumbered(kept: Ints, documents: int) -> Ints:
    """For each of so many documents its place among those that are kept, -1 for the others."""
    new = np.full(documents, -1)
    new[kept] = np.arange(len(kept))
    return new


def load_collection(source: str) -> Collection:
    """A collection by its id; what is no id was meant as a file, so the error says that there is none."""
    try:
        return load(source)
    except ValueError as error:
        if os.path.isdir(source):
            raise ValueError(f"{source} is a directory, not a file; {error}") from None
        raise ValueError(f"{source}: there is no such file; {error}") from None


def _excluded(exclude: ExcludeLike, query_ids: Sequence[str]) -> dict[str, list[str]]:
    """Documents to take out, by query.

    >>> _excluded("self", ["1", "2"]), _excluded({1: ["a"]}, ["1", "2"])
    ({'1': ['1'], '2': ['2']}, {'1': ['a']})
    """
    if isinstance(exclude, str) and exclude == "self":
        return {query_id: [query_id] for query_id in query_ids}
    if isinstance(exclude, str) and not is_file(exclude):
        raise ValueError(
            f"exclude: unknown rule {exclude!r}; give 'self', a mapping of query ids to document ids, or a table or run file "
            "with query_id and doc_id"
        )
    if isinstance(exclude, Mapping):
        for query_id, docs in exclude.items():
            if isinstance(docs, str) or not isinstance(docs, Iterable):
                raise ValueError(f"exclude: query {query_id!r} maps to {docs!r}, not to a list of document ids")
        with naming("exclude"):
            return {id_string(query_id): [id_string(doc) for doc in docs] for query_id, docs in exclude.items()}
    pairs: dict[str, list[str]] = {}
    for query_id, doc_id in id_pairs(exclude, "exclude"):
        pairs.setdefault(query_id, []).append(doc_id)
    return pairs


def aspect_column(columns: Mapping[str, pl.Series]) -> pl.Series | None:
    """The aspect (subtopic) that each line of the qrels judges, ``"0"`` where it names none; None where no line names one."""
    names = next((columns[name] for name in _ASPECT_COLUMNS if name in columns), None)
    if names is None or names.dtype == pl.Null:
        return None
    if names.dtype == pl.Object or names.dtype.is_nested() or names.null_count():
        texts = ["0" if name is None else check_text(str(name), "names of aspects") for name in names.to_list()]
        names = pl.Series(texts, dtype=pl.String)
    elif names.dtype != pl.String:
        names = names.cast(pl.String)
    return None if len(names) == 0 or (names == "0").all() else names


def _sorted(
    columns: Mapping[str, pl.Series], aspect: pl.Series | None
) -> tuple[Ints, pl.Series, pl.Series, pl.Series | None]:
    """The lines of qrels by query, document, aspect and grade; and their ids and aspects in this order."""
    ids = {"query_id": columns["query_id"], "doc_id": columns["doc_id"]}
    keys = ids if aspect is None else {**ids, "aspect": aspect}
    lines = np.arange(len(columns["doc_id"]))
    if engine.computes():
        table = pl.DataFrame({**keys, "relevance": columns["relevance"], "line": lines})
        table = table.sort(*keys, "relevance", multithreaded=len(table) > _SMALL)
        in_order = {name: table[name] for name in keys}
        order = table["line"].to_numpy()
    else:
        of_line = list(zip(*(column.to_list() for column in (*keys.values(), columns["relevance"])), strict=True))
        places = sorted(lines.tolist(), key=of_line.__getitem__)
        in_order = {
            name: pl.Series([column[line] for line in places], dtype=pl.String) for name, column in keys.items()
        }
        order = np.array(places, dtype=np.int64)
    return order, in_order["query_id"], in_order["doc_id"], in_order.get("aspect")


def _in_order(aspect: pl.Series | None, lines: int) -> tuple[Ints, list[str]]:
    """The place of each line's aspect among the different ones, sorted; and these."""
    if aspect is None:
        return np.zeros(lines, dtype=np.int64), ["0"]
    names = sorted(aspect.unique().to_list())
    place = {name: i for i, name in enumerate(names)}
    return np.fromiter(map(place.__getitem__, aspect.to_list()), np.int64, lines), names


def _top_grades(table: AspectRows, documents: int) -> Floats:
    """The highest grade of each document; that of the aspect ``relevance``, where one is called so (without: 0)."""
    doc, grade = table.doc, table.grade
    if "relevance" in table.names:
        named = table.aspect == table.names.index("relevance")
        doc, grade = doc[named], grade[named]
    top = np.full(documents, -np.inf)
    np.maximum.at(top, doc, grade)
    top[np.isinf(top)] = 0
    return top


def _refuse_conflicts(
    query_id: pl.Series, doc_id: pl.Series, aspect: pl.Series | None, grade: Floats, new: Bools
) -> None:
    """Refuse two grades for one judgment; lines are sorted, ``new`` are those about another one than the line before."""
    conflicts = np.flatnonzero(~new[1:] & (grade[1:] != grade[:-1])) + 1
    if len(conflicts):
        line = int(conflicts[0])
        start = np.flatnonzero(new)
        first = int(start[np.searchsorted(start, line, side="right") - 1])
        end = int(np.r_[start, len(new)][np.searchsorted(start, line, side="right")])
        of_aspect = f" (aspect {aspect[line]!r})" if aspect is not None and aspect.n_unique() > 1 else ""
        labels = " and ".join(f"{label:g}" for label in np.unique(grade[first:end]).tolist())
        raise ValueError(
            f"qrels: document {doc_id[line]!r} of query {query_id[line]!r}{of_aspect} is judged twice, with the grades "
            f"{labels}{and_more(len(conflicts) - 1)}; keep one judgment"
        )
