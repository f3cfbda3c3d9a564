"""Qrels of any format -> ``Judgments``: columnar, sorted, checked once."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ir_lexirecall.arrays import Bools, Floats, Ints, ranges
from ir_lexirecall.collections import Collection, Rules, load
from ir_lexirecall.errors import and_more, naming
from ir_lexirecall.formats import (
    QREL_COLUMNS,
    TableLike,
    changes,
    id_pairs,
    id_string,
    is_file,
    nested_dicts,
    numeric_column,
    packed_numbers,
    qrel_table,
)
from ir_lexirecall.lazy import LazyModule
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
to document ids, or a table with the columns ``query_id`` and ``doc_id``."""

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
        table: see ``rows``; None where the qrels have a grade for each document and nothing else.
        exclusion: documents that were taken out, see ``excluding``.
        rules: the collection's rules that were applied, in words; empty where there were none.
        elsewhere: where these are a part of larger judgments, the aspects that rows of other queries name: whether an
            aspect is named by rows is a question about the whole.
    """

    query_ids: list[str]
    query: Ints
    docs: list[str] | pl.Series
    grade: Floats
    table: pl.DataFrame | None = field(default=None, repr=False)
    exclusion: Exclusion | None = field(default=None, repr=False)
    elsewhere: frozenset[str] = frozenset()
    rules: str = ""
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
        """The qrels as they were, sorted, with ``doc`` (the row of the document) and ``aspect``."""
        if self.table is not None:
            return self.table
        columns = {
            "query_id": pl.Series(self.query_ids, dtype=pl.String).gather(self.query),
            "doc_id": self.doc_id,
            "relevance": self.grade,
            "aspect": _constant("aspect", "0", len(self.grade)),
            "doc": np.arange(len(self.grade)),
        }
        return pl.DataFrame(columns)

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
            judged = cls.from_qrels(qrels.qrels)
            return judged.with_rules(qrels.rules) if rules else judged
        with naming(os.fspath(qrels) if isinstance(qrels, (str, os.PathLike)) else "qrels"):
            nested = nested_dicts(qrels, "qrels", QREL_COLUMNS)
            judgments = None if nested is None else cls._from_dicts(nested)
            return cls._from_table(qrels, qrel_table(qrels)) if judgments is None else judgments

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
        query = np.repeat(np.arange(len(docs)), np.array([len(ids) for ids in docs], dtype=np.int64))
        return cls(query_ids, query, list(chain.from_iterable(docs)), grade)

    @classmethod
    def _from_table(cls, qrels: QrelsLike, table: pl.DataFrame) -> Judgments:
        empty = [id_string(q) for q, docs in qrels.items() if not docs] if isinstance(qrels, Mapping) else []
        rows = table.hstack([aspect_column(table)])
        rows = rows.sort("query_id", "doc_id", "aspect", "relevance", multithreaded=len(rows) > _SMALL)
        new_query, new_doc, new = _new(rows)
        if not new.all():
            rows = _without_repetitions(rows)
            new_query, new_doc, new = _new(rows)
        doc = np.cumsum(new_doc) - 1
        query_ids = rows["query_id"].filter(pl.Series(new_query)).to_list()
        query = (np.cumsum(new_query) - 1)[new_doc]
        if empty:
            own, query_ids = query_ids, sorted({*query_ids, *empty})
            place = {query_id: q for q, query_id in enumerate(query_ids)}
            query = np.array([place[query_id] for query_id in own], dtype=np.int64)[query]
        grade = np.full(int(new_doc.sum()), -np.inf)
        by_name = (rows["aspect"] == "relevance").to_numpy()
        counted = by_name if by_name.any() else np.ones(len(rows), dtype=bool)
        np.maximum.at(grade, doc[counted], rows["relevance"].to_numpy()[counted])
        grade[np.isinf(grade)] = 0  # no label for the aspect `relevance`: the lowest one
        return cls(
            query_ids=query_ids,
            query=query,
            docs=rows["doc_id"].filter(pl.Series(new_doc)),
            grade=grade,
            table=rows.hstack([pl.Series("doc", doc)]),
        )

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
            table = table.filter(np.isin(table["doc"].to_numpy(), row))
            table = table.with_columns(doc=np.searchsorted(row, table["doc"].to_numpy()))
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
        return frozenset(["0"] if self.table is None else self.table["aspect"].unique())

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
        """The rows and ids of a query's judged documents."""
        key = ("rows", q)
        if key not in self._cache:
            first, end = (int(np.searchsorted(self.query, q, side=side)) for side in ("left", "right"))
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

    def renamed(self, doc_id: pl.Series) -> Judgments:
        """The same judgments of documents with other ids, a row each."""
        rows = self.rows.with_columns(doc_id.gather(self.rows["doc"]).alias("doc_id"))
        return replace(self, docs=doc_id, table=rows, _cache={})

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
        """The judgments of some of the documents (their rows, rising) for one aspect, with a grade for each."""
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
        """Ids of some of the documents."""
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
        new = np.full(len(own), -1)
        new[kept] = np.arange(len(kept))
        everything = Judgments(self.query_ids, np.array(query, dtype=np.int64), docs, np.zeros(len(docs)))
        table = self.table
        if table is not None:
            doc = new[table["doc"].to_numpy()]
            table = table.with_columns(pl.Series("doc", doc)).filter(doc >= 0)
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

    def for_ir_measures(self) -> pd.DataFrame:
        """Qrels as ir_measures' providers read them: strings, whole grades as integers, ``iteration``.

        Where several aspects were judged, providers without a notion of them keep a document's last row: that is made
        the one with the highest grade, as in ``grade`` (rows of named aspects: that of ``relevance``).
        """
        import pandas as pd

        table = self.rows
        if self.relevance_is_named:
            table = table.filter(pl.col("aspect") == "relevance")
        table = table.sort("relevance", maintain_order=True)
        best = table.select(pl.col("relevance").max().over("query_id"))
        # pytrec_eval writes beyond its memory, or never ends, for a query whose grades are all negative; nothing of it is
        # relevant anyway.
        hopeless = (best.to_series() < 0).to_numpy()
        grade = table["relevance"].to_numpy()
        return pd.DataFrame(
            {
                "query_id": table["query_id"].to_list(),
                "doc_id": table["doc_id"].to_list(),
                "relevance": np.where(hopeless, 0, grade).astype(np.int64),
                "iteration": table["aspect"].to_list(),
            }
        )

    @cached_property
    def highest_grade(self) -> float:
        """The highest grade of all documents, minus infinity without any."""
        return float(self.grade.max(initial=-np.inf))

    def check_top_grade(self, max_rel: float, measure: str) -> None:
        """Refuse a grade above ``max_rel``, naming the first."""
        if self.highest_grade <= max_rel:
            return
        above = np.flatnonzero(self.grade > max_rel)
        if len(above):
            raise self._above(above[0], self.grade[above[0]], max_rel, measure, len(above) - 1)

    def check_top_grade_of_aspects(self, max_rel: float, measure: str) -> None:
        """Refuse a grade above ``max_rel`` for any aspect, naming the first."""
        above = np.flatnonzero(self.aspects.grade > max_rel)
        if len(above):
            row = above[0]
            raise self._above(self.aspects.doc[row], self.aspects.grade[row], max_rel, measure, len(above) - 1)

    def check_whole_grades(self, measure: str) -> None:
        """Refuse a grade that is not a whole number, which ir_measures' other providers cannot read."""
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
        rows = self.rows
        doc = rows["doc"].to_numpy()
        query = self.query[doc]
        code, codes = _in_order(rows["aspect"])
        pairs, aspect = np.unique(query * codes + code, return_inverse=True)
        pair_query = pairs // codes
        grade = rows["relevance"].to_numpy()
        weight = self._aspect_weights(aspect, len(pairs))
        weight[np.bincount(aspect[grade > 0], minlength=len(pairs)) == 0] = 0  # nothing relevant: not counted
        total = np.bincount(pair_query, weights=weight, minlength=len(self))[pair_query]
        weight = np.divide(weight, total, out=np.zeros(len(pairs)), where=total > 0)
        return AspectGrades(doc=doc, aspect=aspect, grade=grade, query=pair_query, weight=weight)

    def _one_aspect(self) -> AspectGrades:
        """``aspects`` of judgments that name none: each query has one."""
        m = np.bincount(self.query, minlength=len(self))
        judged = np.flatnonzero(m)
        place = np.cumsum(m > 0) - 1
        relevant = np.bincount(self.query[self.grade > 0], minlength=len(self))[judged] > 0
        return AspectGrades(
            doc=np.arange(len(self.query)),
            aspect=place[self.query],
            grade=self.grade,
            query=judged,
            weight=relevant.astype(np.float64),
        )

    def _aspect_weights(self, aspect: Ints, pairs: int) -> Floats:
        weight = np.ones(pairs)
        if "weight" in self.rows.columns:
            given = numeric_column(self.rows, "weight")
            weight[aspect] = given
            bad = np.flatnonzero(~(given >= 0) | (given != weight[aspect]) | np.isinf(given))
            if len(bad):
                row = self.rows.row(int(bad[0]), named=True)
                raise ValueError(
                    f"qrels: aspect {row['aspect']!r} of query {row['query_id']!r} has weight {row['weight']!r} at "
                    f"document {row['doc_id']!r}; an aspect needs one weight per query, not negative"
                    f"{and_more(len(bad) - 1)}"
                )
        return weight

    def labels(self, aspects: Sequence[str]) -> dict[str, Floats]:
        """Labels of the judged documents for the named aspects, NaN where there is none, each a row per document.

        An aspect is a row label (in ``subtopic_id`` or ``iteration``) or a further column of the qrels; the
        column ``relevance`` serves unless other aspects are rows.

        Raises:
            ValueError: the qrels have no such aspect, or two different labels for one document.
        """
        in_rows = self._aspect_names | self.elsewhere
        by_rows = any(name in in_rows for name in aspects)
        return {name: self._label(name, in_rows, by_rows) for name in aspects}

    def _label(self, name: str, in_rows: frozenset[str], by_rows: bool) -> Floats:
        doc = self.rows["doc"].to_numpy()
        label = np.full(len(self.grade), np.nan)
        if name in in_rows:
            picked = (self.rows["aspect"] == name).to_numpy()
            label[doc[picked]] = self.rows["relevance"].to_numpy()[picked]
            return label
        columns = [c for c in self.rows.columns if c not in ("query_id", "doc_id", "doc", "aspect", *_ASPECT_COLUMNS)]
        if name not in columns or (name == "relevance" and by_rows):
            known = sorted(set(columns) | (in_rows if len(in_rows) > 1 else set()))
            raise ValueError(f"the qrels have no aspect {name!r}; they have {', '.join(known)}")
        if name == "relevance":
            return self.grade
        given = numeric_column(self.rows, name)
        label[doc] = given
        differs = np.flatnonzero((label[doc] != given) & ~(np.isnan(label[doc]) & np.isnan(given)))
        if len(differs):
            row = self.rows.row(int(differs[0]), named=True)
            raise ValueError(
                f"qrels: document {row['doc_id']!r} of query {row['query_id']!r} has the labels {given[differs[0]]:g} and "
                f"{label[doc][differs[0]]:g} for the aspect {name!r}{and_more(len(differs) - 1)}"
            )
        return label


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
    if isinstance(exclude, str):
        if exclude != "self":
            raise ValueError(
                f"exclude: unknown rule {exclude!r}; give 'self', a mapping of query ids to document ids, or a table with "
                "the columns query_id and doc_id"
            )
        return {query_id: [query_id] for query_id in query_ids}
    if isinstance(exclude, Mapping):
        if text := next((query_id for query_id, docs in exclude.items() if isinstance(docs, str)), None):
            raise ValueError(f"exclude: query {text!r} maps to a string; give a list of document ids")
        with naming("exclude"):
            return {id_string(query_id): [id_string(doc) for doc in docs] for query_id, docs in exclude.items()}
    pairs: dict[str, list[str]] = {}
    for query_id, doc_id in id_pairs(exclude, "exclude"):
        pairs.setdefault(query_id, []).append(doc_id)
    return pairs


def aspect_column(table: pl.DataFrame) -> pl.Series:
    """The aspect (subtopic) that each row of the qrels judges, ``"0"`` where it names none."""
    given = next((table[name] for name in _ASPECT_COLUMNS if name in table.columns), None)
    if given is None or given.dtype == pl.Null:
        return _constant("aspect", "0", len(table))
    if given.dtype == pl.Object:
        given = pl.Series([None if value is None else str(value) for value in given.to_list()], dtype=pl.String)
    names = given.cast(pl.String).alias("aspect")
    return names.fill_null("0") if names.null_count() else names


def _constant(name: str, value: str, length: int) -> pl.Series:
    return pl.Series(name, [value]).new_from_index(0, length)


def _in_order(names: pl.Series) -> tuple[Ints, int]:
    """The place of each name among the different ones, sorted, and how many these are."""
    if len(names) == 0 or (names == names[0]).all():
        return np.zeros(len(names), dtype=np.int64), 1
    code = names.rank("dense").to_numpy().astype(np.int64) - 1
    return code, int(code.max()) + 1


def _new(rows: pl.DataFrame) -> tuple[Bools, Bools, Bools]:
    """Which of the sorted rows are about another query, another document, another aspect of it than the row before."""
    query = changes(rows["query_id"])
    doc = query | changes(rows["doc_id"])
    return query, doc, doc | changes(rows["aspect"])


def _without_repetitions(rows: pl.DataFrame) -> pl.DataFrame:
    """Drop rows that say the same twice; refuse two grades for one judgment."""
    rows = rows.unique(maintain_order=True)
    conflicts = rows.filter(~_new(rows)[2])
    if len(conflicts):
        row = conflicts.row(0, named=True)
        alike = rows.filter(pl.all_horizontal(pl.col(n) == row[n] for n in ("query_id", "doc_id", "aspect")))
        of_aspect = f" (aspect {row['aspect']!r})" if rows["aspect"].n_unique() > 1 else ""
        labels = " and ".join(f"{grade:g}" for grade in alike["relevance"].to_list())
        raise ValueError(
            f"qrels: document {row['doc_id']!r} of query {row['query_id']!r}{of_aspect} is judged twice, with the grades "
            f"{labels}{and_more(len(conflicts) - 1)}; keep one judgment"
        )
    return rows
