"""``load`` and ``Judgments``: qrels of any format, columnar, sorted, checked once.

They can be restricted, excluded and changed, and answer what measures ask about them.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeAlias

import numpy as np

from ir_lexirecall._util.arrays import (
    Bools,
    Floats,
    Ints,
    ranges,
    ratio,
    starts_segment,
    stretches,
)
from ir_lexirecall._util.errors import and_more, entry, naming, shown, warn
from ir_lexirecall._util.lazy import Memoised, cached_property
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.lazy import polars as pl
from ir_lexirecall._util.selecting import index_of
from ir_lexirecall.data.collection import Collection, Rules, find_collection
from ir_lexirecall.data.qrels import AspectRows, read_qrels
from ir_lexirecall.data.reading import RELEVANT, ExcludeLike, LevelsLike, Reading
from ir_lexirecall.data.tie_rule import TREC_EVAL_9, ScoreOrder
from ir_lexirecall.io.cells import number_of
from ir_lexirecall.io.columns import TableLike, are_odd
from ir_lexirecall.io.files import named_files
from ir_lexirecall.io.id_forms import are_plain, form_hint, visible
from ir_lexirecall.io.names import ASPECT_COLUMNS
from ir_lexirecall.io.schemas import QRELS
from ir_lexirecall.io.source import Kind, Source, what_is

QrelsLike: TypeAlias = "TableLike | Collection | Judgments | Source"
"""Judgments in any form: a path, a data set's id, a ``Collection``, a DataFrame (pandas, Polars,
Arrow), a dict of dicts, a dict of relevant documents (sets or lists of ids, which get grade 1), an
iterable of named tuples, or ``Judgments`` themselves."""

# How missing values of Python, NumPy and pandas print.
_MOST_WITHOUT_POLARS = 2**14  # documents; Polars finds the odd ids of more
_MISSING = ("None", "nan", "<NA>", "NaT")


def is_judged(grade: Floats) -> Bools:
    """Return whether a grade says that its document was judged.

    A negative grade does not: by trec_eval's rule, such a document was pooled, but not judged. This
    is the only place that decides it, for measures, condensed lists, pools, and bounds alike.

    >>> is_judged(np.array([-2.0, -1.0, 0.0, 0.5])).tolist()
    [False, False, True, True]
    """
    return grade >= 0


@dataclass(frozen=True, eq=False)
class AspectGrades:
    """Grades per aspect, a row per judged document and aspect, in this order."""

    doc: Ints  # row of the document in the judgments
    aspect: Ints  # number of the (query, aspect) pair
    grade: Floats
    query: Ints  # for every (query, aspect) pair: its query
    # For every (query, aspect) pair: w_t, summing to 1 within a query; 0 if nothing is relevant.
    weight: Floats

    @cached_property
    def top_grade(self) -> Floats:
        """The largest grade of every (query, aspect) pair, 1 where none is above 0."""
        largest = np.zeros(len(self.query))
        np.maximum.at(largest, self.aspect, self.grade)
        return np.where(largest > 0, largest, 1.0)


@dataclass(frozen=True, eq=False)
class Judgments(Memoised):
    """The judged documents of all queries: a row each, sorted by query id, then document id.

    Build it with ``Judgments.from_qrels(qrels)`` once and align any number of runs with it.

    Attributes:
        query_ids: the Q query ids, sorted.
        query: for every judged document, the position of its query in ``query_ids``.
        docs: the ids of the judged documents, as a list or a Polars series: see ``doc_ids`` and
            ``doc_id``.
        grade: the grade of each; the highest one if several subtopics were judged (that of the
            aspect ``relevance``, if the rows name such an aspect).
        table: what else the qrels say; None where they have a grade for each document and nothing
            else.
        elsewhere: where these are a part of larger judgments, the aspects that rows of other
            queries name: whether an aspect is named by rows is a question about the whole.
        excluded: documents that were taken out, by query: runs that are aligned with them lose
            these, too; see ``excluding``.
        rules: the collection's rules that were applied, in words; empty where there were none.
        source: what summaries call them: a data set's id, a file's name; empty where they have
            none.
        threshold: smallest grade that counts as relevant in the collection they are from; 1 where
            none says.
        judged_only: whether runs that are aligned with them lose all documents without a judgment
            (condensed lists).
        only_relevant: whether the queries were chosen because they have relevant documents.
        order: how the documents of a run that is aligned with them are ordered.
    """

    query_ids: list[str]
    query: Ints
    docs: list[str] | pl.Series
    grade: Floats
    table: AspectRows | None = field(default=None, repr=False)
    elsewhere: frozenset[str] = frozenset()
    excluded: Mapping[str, frozenset[str]] = field(default_factory=dict, repr=False)
    rules: str = ""
    source: str = field(default="", compare=False)
    threshold: float = field(default=1, compare=False)
    judged_only: bool = False
    only_relevant: bool = field(default=False, compare=False)
    order: ScoreOrder = field(default=TREC_EVAL_9, repr=False)

    @classmethod
    @entry
    def from_qrels(cls, qrels: QrelsLike, *, allow_empty: bool = False) -> Judgments:
        """Return judgments read from qrels in any form; ``Judgments`` are returned as they are.

        ``load`` takes documents or queries out.

        Args:
            qrels: a path, a data set's id, a table, a dict of dicts or of relevant documents, or
                named tuples.
            allow_empty: take qrels without any judgment, as a part of larger qrels may be.

        >>> qrels = {"q1": {"d2": 1, "d1": 0}, "q0": {"d9": 2}}
        >>> judgments = Judgments.from_qrels(qrels)
        >>> judgments.query_ids, judgments.doc_ids, judgments.grade.tolist()
        (['q0', 'q1'], ['d9', 'd1', 'd2'], [2.0, 0.0, 1.0])

        Raises:
            ValueError: a missing column, a grade that is not a number, the same judgment twice with
                different grades, or no judgment at all.
        """
        if isinstance(qrels, Judgments):
            return qrels
        if isinstance(qrels, Collection):
            return cls._from_collection(qrels, allow_empty=allow_empty)
        source = what_is(qrels, QRELS, ids=True)
        if source.kind is Kind.ID:
            return cls._from_collection(
                load_collection(source.name), allow_empty=allow_empty
            )
        with naming(source.name or "qrels"):
            judgments = cls(*read_qrels(source), source=os.path.basename(source.name))
            if not len(judgments.grade) and not allow_empty:
                hint = "add some"
                if isinstance(qrels, Iterator):
                    hint = "it can be read only once: give a list"
                raise ValueError(f"there are no judgments in it; {hint}")
        return judgments

    @classmethod
    def _from_collection(
        cls, collection: Collection, *, allow_empty: bool
    ) -> Judgments:
        """Return the judgments of a data set, read as it was loaded."""
        with naming(collection.dataset_id):
            judgments = cls.from_qrels(collection.qrels, allow_empty=allow_empty)
        judgments = replace(
            judgments, source=collection.dataset_id, threshold=collection.rel
        )
        if all(reading.rules for reading in collection.reading):
            judgments = judgments.with_rules(collection.rules)
        for reading in collection.reading:
            judgments = judgments.read_as(reading)
        return judgments

    def read_as(self, reading: Reading) -> Judgments:
        """Return the judgments without what a reading takes out.

        Raises:
            ValueError: no query is left, or one that counts is not judged.
        """
        excluded = reading.excluded_of(self.query_ids)
        if excluded and self.place.keys().isdisjoint(excluded):
            warn(self._why_nothing_is_excluded(excluded))
        judgments = self.excluding(excluded) if excluded else self
        if reading.queries == RELEVANT:
            judgments = judgments.with_relevant_queries()
        elif reading.queries is not None:
            judgments = judgments.restricted_to(reading.queries)
        if reading.levels is not None:
            judgments = judgments.with_levels(reading.levels)
        return replace(
            judgments,
            judged_only=judgments.judged_only or reading.judged_only,
            order=reading.order or judgments.order,
        )

    def with_relevant_queries(self) -> Judgments:
        """Return the judgments of the queries that have a relevant document.

        Raises:
            ValueError: no query has one.
        """
        relevant = np.flatnonzero(self.m(self.threshold))
        if not len(relevant):
            raise ValueError(
                "queries='relevant': no query has a relevant document, of grade "
                f"{self.threshold:g} or higher; leave queries out"
            )
        judgments = self.restricted_to([self.query_ids[q] for q in relevant])
        return replace(judgments, only_relevant=True)

    def restricted_to(self, query_ids: Iterable[str]) -> Judgments:
        """Return the judgments of some queries, read as a part of these.

        Every query keeps its documents, grades and aspects.

        >>> qrels = {"q1": {"a": 1}, "q2": {"a": 2, "b": 0}, "q3": {"a": 1}}
        >>> judgments = Judgments.from_qrels(qrels)
        >>> judgments.restricted_to(["q2", "q1"]).grade.tolist()
        [1.0, 2.0, 0.0]

        Raises:
            ValueError: a query that is not judged.
        """
        wanted = set(query_ids)
        if unknown := wanted - self.place.keys():
            raise ValueError(f"judgments: unknown query {min(unknown)!r}")
        if len(wanted) == len(self):
            return self
        queries = np.array(
            sorted(self.place[query_id] for query_id in wanted), dtype=np.int64
        )
        first, end = stretches(self.query, queries)
        row = ranges(first, end)
        return replace(
            self.of_documents(row),
            query_ids=[self.query_ids[q] for q in queries],
            query=np.repeat(np.arange(len(queries)), end - first),
            excluded={
                query_id: ids
                for query_id, ids in self.excluded.items()
                if query_id in wanted
            },
            elsewhere=self.elsewhere | self.aspect_names,
        )

    def as_part(self, elsewhere: Iterable[str]) -> Judgments:
        """Return the same judgments, read as a part of larger ones.

        ``elsewhere`` are the aspects that the rows of the other parts name.
        """
        part = replace(self, elsewhere=frozenset(elsewhere))
        if part.relevance_is_named and "relevance" not in part.aspect_names:
            return replace(part, grade=np.zeros(len(self.grade)))
        return part

    def knowing(self, *, highest_grade: float, has_fractions: bool) -> Judgments:
        """Return the same judgments, read as a part of larger ones whose grades are known."""
        part = replace(self)
        # These facts of the whole stand in place of the part's own.
        object.__setattr__(part, "highest_grade", highest_grade)
        object.__setattr__(part, "has_fractions", has_fractions)
        return part

    def __getstate__(self) -> dict[str, Any]:
        """Without what is derived: hashes hold within one process only."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def with_grades(self, grade: Floats) -> Judgments:
        """Return the same documents with other grades, judged for one aspect."""
        return replace(self, grade=grade, table=None, elsewhere=frozenset())

    def of_documents(self, row: Ints) -> Judgments:
        """Return the judgments of some documents, given by their rows, in rising order."""
        docs: pl.Series | list[str]
        if isinstance(self.docs, list):
            docs = self.ids_of(row)
        else:
            docs = self.docs.gather(row)
        table = None if self.table is None else self.table.of_documents(row)
        return replace(
            self, query=self.query[row], docs=docs, grade=self.grade[row], table=table
        )

    def _why_nothing_is_excluded(self, excluded: Iterable[str]) -> str:
        """Return that documents are to be taken out of queries that the qrels do not have."""
        theirs = list(excluded)
        hint = form_hint(theirs, self.query_ids, ("table's", "qrels'"))
        return (
            f"exclude: none of its queries is in the qrels (its first is {shown(theirs[0])}, the "
            f"qrels' first is {shown(self.query_ids[0])}), so no document is taken out. {hint}"
        ).rstrip(" ")

    def excluding(self, doc_ids: Mapping[str, Iterable[str]]) -> Judgments:
        """Return the judgments without some documents; runs aligned with them lose these, too.

        Args:
            doc_ids: documents to take out, by query; queries without judgments are ignored.

        >>> judgments = Judgments.from_qrels({"q": {"a": 1, "q": 1}}).excluding({"q": ["q", "x"]})
        >>> judgments.doc_ids, sorted(judgments.excluded["q"])
        (['a'], ['q', 'x'])
        """
        taken_out = {
            q: self.excluded.get(q, frozenset()).union(ids)
            for q, ids in doc_ids.items()
            if q in self.place
        }
        first = np.searchsorted(self.query, np.arange(len(self) + 1)).tolist()
        judged = self.doc_ids
        gone: list[int] = []
        for query_id, ids in taken_out.items():
            q = self.place[query_id]
            rows = range(first[q], first[q + 1])
            gone += [row for row in rows if judged[row] in ids]
        kept = np.delete(np.arange(len(self.grade)), gone)
        return replace(self.of_documents(kept), excluded={**self.excluded, **taken_out})

    @cached_property
    def excluded_keys(self) -> pl.DataFrame:
        """``keys`` of the documents that were taken out; ``doc`` is -1."""
        query: list[int] = []
        docs: list[str] = []
        for query_id, ids in self.excluded.items():
            query += [self.place[query_id]] * len(ids)
            docs += ids
        return pl.DataFrame(
            {
                "query": np.array(query, dtype=np.int32),
                "doc_id": pl.Series(docs, dtype=pl.String),
                "doc": np.full(len(docs), -1),
            }
        )

    @cached_property
    def _hashed_keys(self) -> pl.DataFrame:
        """The keys of judged and excluded documents, with their hashes."""
        if self.excluded:
            keys = pl.concat([self.keys, self.excluded_keys]).sort("query")
        else:
            keys = self.keys
        return keys.with_columns(keys[["query", "doc_id"]].hash_rows().alias("hash"))

    def hashed_keys(self, query: Ints) -> pl.DataFrame:
        """Return ``keys`` and ``excluded_keys`` of some queries, with a ``hash`` of each document.

        ``find_judged`` looks documents up in them.
        """
        whole = self._hashed_keys
        if len(query) == len(self):
            return whole
        return whole[ranges(*stretches(whole["query"].to_numpy(), query))]

    def with_rules(self, rules: Rules) -> Judgments:
        """Return the judgments after a collection's rules; see ``Rules``.

        >>> judgments = Judgments.from_qrels({"q": {"q": 1, "a": 2, "b": -100}})
        >>> judgments.with_rules(Rules(self_matches=True, excluded_grades=(-100.0,))).doc_ids
        ['a']
        """
        if not rules:
            return self
        taken_out: dict[str, list[str]] = {}
        if rules.self_matches:
            taken_out = {query_id: [query_id] for query_id in self.query_ids}
        for row in np.flatnonzero(np.isin(self.grade, rules.excluded_grades)).tolist():
            query_id = self.query_ids[self.query[row]]
            taken_out.setdefault(query_id, []).append(self.doc_ids[row])
        return replace(self.excluding(taken_out), rules=str(rules))

    def with_levels(self, levels: Mapping[float, float]) -> Judgments:
        """Return the judgments with grades of another scale.

        Args:
            levels: from which grade on a document gets which new one; below the first it gets 0. A
                negative grade stays as it is: the document was not judged.

        >>> judgments = Judgments.from_qrels({"q": {"a": 0.9, "b": 0.5, "c": 0.1, "d": -1}})
        >>> judgments.with_levels({0.5: 1, 0.8: 2}).grade.tolist()
        [2.0, 1.0, 0.0, -1.0]
        """
        thresholds = np.array(sorted(levels), dtype=np.float64)
        new = np.array([0.0, *(levels[threshold] for threshold in sorted(levels))])

        def mapped(grade: Floats) -> Floats:
            return np.where(
                is_judged(grade),
                new[np.searchsorted(thresholds, grade, "right")],
                grade,
            )

        table = self.table and replace(self.table, grade=mapped(self.table.grade))
        return replace(self, grade=mapped(self.grade), table=table, threshold=1)

    def with_labels(self, labels: Mapping[str, Floats]) -> Judgments:
        """Return the same judgments of one aspect with further columns.

        ``labels`` has those of every document by the name of the aspect.
        """
        columns = {name: pl.Series(name, values) for name, values in labels.items()}
        return replace(
            self, table=replace(replace(self, table=None).aspect_rows, columns=columns)
        )

    # -- what measures ask about them --------------------------------------------------------------

    @cached_property
    def doc_ids(self) -> list[str]:
        """Ids of the judged documents as a list."""
        if isinstance(self.docs, list):
            return self.docs
        return self.docs.to_list()

    @cached_property
    def doc_id(self) -> pl.Series:
        """Ids of the judged documents as a column."""
        if isinstance(self.docs, list):
            return pl.Series("doc_id", self.docs, dtype=pl.String)
        return self.docs

    @cached_property
    def odd_ids(self) -> tuple[dict[str, str], dict[str, str]]:
        """Ids of queries and of documents that are not plain ASCII, by how they look."""
        docs = self.docs
        if not isinstance(docs, list):
            if len(docs) > _MOST_WITHOUT_POLARS:
                docs = docs.filter(are_odd(docs))
            docs = docs.to_list()
        return _odd(self.query_ids), _odd(docs)

    @cached_property
    def aspect_rows(self) -> AspectRows:
        """``table``, also of judgments that name no aspects."""
        if self.table is not None:
            return self.table
        row = np.arange(len(self.grade))
        return AspectRows(
            row, np.zeros(len(row), dtype=np.int64), self.grade, ["0"], {}, row, row
        )

    def __len__(self) -> int:
        return len(self.query_ids)

    @property
    def conditions(self) -> str:
        """Sentence on how runs are read, for results.

        It names the collection's rules, and an order of documents other than the default.
        """
        conditions = [self.rules] if self.rules else []
        if self.order != TREC_EVAL_9:
            order = f"with documents in trec_eval {self.order.version}'s order"
            conditions.append(order)
        return " and ".join(conditions)

    @cached_property
    def aspect_names(self) -> frozenset[str]:
        """Names of the aspects that rows of the qrels name, ``"0"`` where they name none."""
        if self.table is None:
            return frozenset(["0"])
        return frozenset(self.table.names[i] for i in np.unique(self.table.aspect))

    @property
    def relevance_is_named(self) -> bool:
        """Whether rows, here or elsewhere, name the aspect ``relevance``.

        Only those are a document's grade then.
        """
        return "relevance" in self.aspect_names | self.elsewhere

    def m(self, rel: float = 1) -> Ints:
        """Return each query's number of documents of at least grade ``rel``, shape ``(Q,)``."""
        return self.cached(
            ("m", rel),
            lambda: np.bincount(self.query[self.grade >= rel], minlength=len(self)),
        )

    @cached_property
    def query_numbers(self) -> pl.DataFrame:
        """Query ids and their positions, for joins."""
        return pl.DataFrame(
            {
                "query_id": pl.Series(self.query_ids, dtype=pl.String),
                "query": np.arange(len(self)),
            }
        )

    @cached_property
    def place(self) -> dict[str, int]:
        """The position of each query id."""
        return index_of(self.query_ids)

    def rows_of_query(self, q: int) -> list[tuple[int, str]]:
        """Return the rows and ids of the judged documents of query number ``q``."""

        def rows() -> list[tuple[int, str]]:
            first = int(self.query.searchsorted(q))
            end = int(self.query.searchsorted(q, "right"))
            return list(zip(range(first, end), self.doc_ids[first:end], strict=True))

        return self.cached(("rows", q), rows)

    @cached_property
    def is_judged(self) -> Bools:
        """Whether each document was judged, not only pooled; see `is_judged`."""
        return is_judged(self.grade)

    @cached_property
    def judged_keys(self) -> pl.DataFrame:
        """``keys`` of the documents that were judged, not only pooled."""
        if self.is_judged.all():
            return self.keys
        return self.keys.filter(pl.Series(self.is_judged))

    @cached_property
    def keys(self) -> pl.DataFrame:
        """Query position, document id and row of every judged document, for joins."""
        return pl.DataFrame(
            {
                "query": self.query.astype(np.int32),
                "doc_id": self.doc_id,
                "doc": np.arange(len(self.query)),
            }
        )

    def ids_of(self, row: Ints) -> list[str]:
        """Ids of the documents of some rows (``row``)."""
        if isinstance(self.docs, list):
            return [self.docs[i] for i in row.tolist()]
        return self.docs.gather(row).to_list()

    def for_ir_measures(self) -> pd.DataFrame:
        """Return qrels as ir_measures' providers read them, with whole grades as integers.

        Where several aspects were judged, providers without a notion of them keep a document's last
        row: that is made the one with the highest grade, as in ``grade`` (rows of named aspects:
        that of ``relevance``).
        """
        table = self.aspect_rows
        row = np.arange(len(table.doc))
        if self.relevance_is_named:
            row = row[np.array(table.names, dtype=object)[table.aspect] == "relevance"]
        row = row[np.argsort(table.grade[row], kind="stable")]
        grade, query = table.grade[row], self.query[table.doc[row]]
        best = np.full(len(self), -np.inf)
        np.maximum.at(best, query, grade)
        # pytrec_eval writes beyond its memory, or never ends, for a query whose grades are all
        # negative; nothing of it is
        # relevant anyway.
        hopeless = best[query] < 0
        return pd.DataFrame(
            {
                "query_id": [self.query_ids[q] for q in query.tolist()],
                "doc_id": self.ids_of(table.doc[row]),
                "relevance": np.where(hopeless, 0, grade).astype(np.int64),
                "iteration": [table.names[code] for code in table.aspect[row].tolist()],
            }
        )

    @cached_property
    def highest_grade(self) -> float:
        """The highest grade of all documents, minus infinity without any."""
        return float(self.grade.max(initial=-np.inf))

    @cached_property
    def has_decimals(self) -> bool:
        """Whether at least half of the grades are no whole numbers."""
        return bool(np.count_nonzero(self.grade % 1) >= len(self.grade) / 2)

    @cached_property
    def lowest_gain(self) -> float:
        """The lowest grade above 0 of all documents, infinite without any."""
        return float(self.grade[self.grade > 0].min(initial=np.inf))

    @cached_property
    def has_fractions(self) -> bool:
        """Whether any grade is between 0 and 1."""
        return self.lowest_gain < 1

    @cached_property
    def are_relevant(self) -> bool:
        """Whether all documents that were judged have a grade above 0."""
        return not (self.is_judged & (self.grade <= 0)).any()

    def check_top_grade(
        self, max_rel: float, measure: str, *, of_aspects: bool = False
    ) -> None:
        """Raise if a grade, for any aspect, is above ``max_rel``, the maximum of a measure."""
        if not of_aspects and self.highest_grade <= max_rel:
            return
        grade = self.aspects.grade if of_aspects else self.grade
        above = np.flatnonzero(grade > max_rel)
        if len(above):
            doc = self.aspects.doc[above[0]] if of_aspects else above[0]
            raise ValueError(
                f"{measure}: {self.label_of(doc)} has grade {grade[above[0]]:g}, "
                f"above max_rel={max_rel:g}"
                f"{and_more(len(above) - 1)}; raise max_rel to the scale's top grade"
            )

    @cached_property
    def with_several_grades(self) -> Ints:
        """Return the rows of documents whose last grade for a subtopic is not their highest.

        Other programs take the last one. Where rows are named `relevance`, those are the grades.
        """
        if self.table is None or self.relevance_is_named:
            return np.zeros(0, dtype=np.int64)
        line, row = self.table.line, self.table.row
        doc = self.table.doc[row]
        starts = starts_segment(doc)
        last_line = np.maximum.reduceat(line, np.flatnonzero(starts))
        is_last = line == last_line[np.cumsum(starts) - 1]
        # A document without lines keeps its grade.
        last = self.grade.copy()
        last[doc[is_last]] = self.table.grade[row[is_last]]
        return np.flatnonzero(last < self.grade)

    def label_of(self, doc: int) -> str:
        """Return what messages call a document (its row)."""
        return f"document {self.doc_ids[doc]!r} of query {self.query_ids[self.query[doc]]!r}"

    def check_whole_grades(self, measure: str) -> None:
        """Raise if a grade is not a whole number: other providers of ``measure`` cannot read it."""
        odd = np.flatnonzero(
            (self.grade != np.floor(self.grade)) | (np.abs(self.grade) >= 2**31)
        )
        if len(odd):
            raise ValueError(
                f"{measure} needs whole grades of at most 31 bits, "
                f"but {self.label_of(odd[0])} has {self.grade[odd[0]]:g}"
                f"{and_more(len(odd) - 1)}"
            )

    @cached_property
    def aspects(self) -> AspectGrades:
        """Return the grades per aspect (subtopic) with the aspects' weights.

        Raises:
            ValueError: a weight is not a number, negative, or differs within one aspect of a query.
        """
        if self.table is None:  # each query has one aspect
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
        doc, grade = self.table.doc, self.table.grade
        codes = len(self.table.names)
        pairs, aspect = np.unique(
            self.query[doc] * codes + self.table.aspect, return_inverse=True
        )
        pair_query = pairs // codes
        weight = np.ones(len(pairs))
        if "weight" in self.table.columns:
            values = self._further_column("weight")
            pair = aspect[self.table.row]
            weight[pair] = values
            bad = np.flatnonzero(
                ~(values >= 0) | (values != weight[pair]) | np.isinf(values)
            )
            if len(bad):
                query_id, doc_id = self._ids_of_line(int(bad[0]))
                name = self.table.names[self.table.aspect[self.table.row[bad[0]]]]
                said = shown(self.table.columns["weight"][int(self.table.line[bad[0]])])
                raise ValueError(
                    f"qrels: aspect {name!r} of query {shown(query_id)} has weight {said} "
                    f"at document {shown(doc_id)}; an aspect needs one "
                    f"weight per query, not negative{and_more(len(bad) - 1)}"
                )
        # An aspect without relevant documents does not count.
        weight[np.bincount(aspect[grade > 0], minlength=len(pairs)) == 0] = 0
        total = np.bincount(pair_query, weights=weight, minlength=len(self))[pair_query]
        return AspectGrades(
            doc=doc,
            aspect=aspect,
            grade=grade,
            query=pair_query,
            weight=ratio(weight, total),
        )

    @cached_property
    def has_weight(self) -> Bools:
        """Return whether each query has an aspect with a relevant document and a weight above 0."""
        return (
            np.bincount(
                self.aspects.query, weights=self.aspects.weight, minlength=len(self)
            )
            > 0
        )

    def _further_column(self, name: str) -> Floats:
        """Numbers of a further column of the qrels, for each line; NaN where one is missing."""
        table = self.aspect_rows
        values, line = table.columns[name], table.line
        if values.dtype.is_numeric():
            return values.cast(pl.Float64).to_numpy()[line]
        items = values.to_list()
        picked = [items[i] for i in line.tolist()]
        numbers = [number_of(value) for value in picked]
        odd = [n for n, number in enumerate(numbers) if number is None]
        bad = [n for n in odd if not _is_missing(picked[n])]
        if bad:
            query_id, doc_id = self._ids_of_line(bad[0])
            raise ValueError(
                f"qrels: the {name} of document {shown(doc_id)} for query {shown(query_id)} is "
                f"{shown(picked[bad[0]])}, not a finite number"
                f"{and_more(len(bad) - 1)}"
            )
        return np.array(numbers, dtype=np.float64)  # NaN for None

    def _ids_of_line(self, line: int) -> tuple[str, str]:
        """Query and document that the n-th line is about."""
        doc = int(self.aspect_rows.doc[self.aspect_rows.row[line]])
        return self.query_ids[self.query[doc]], self.doc_ids[doc]

    def labels(self, aspects: Sequence[str]) -> dict[str, Floats]:
        """Return labels of the judged documents for ``aspects``, NaN without, a row per document.

        An aspect is a row label (in ``subtopic_id`` or ``iteration``) or a further column of the
        qrels; the column ``relevance`` serves unless other aspects are rows.

        Raises:
            ValueError: the qrels have no such aspect, or two different labels for one document.
        """
        in_rows = self.aspect_names | self.elsewhere
        by_rows = not in_rows.isdisjoint(aspects)
        columns = {"relevance", *self.aspect_rows.columns} - set(ASPECT_COLUMNS)
        labels: dict[str, Floats] = {}
        for name in aspects:
            if name in in_rows:
                labels[name] = self._labels_of_rows(name)
            elif name == "relevance" and not by_rows:
                labels[name] = self.grade
            elif name in columns and name != "relevance":
                labels[name] = self._labels_in_column(name)
            else:
                if len(in_rows) > 1:
                    columns |= in_rows
                raise ValueError(
                    f"the qrels have no aspect {name!r}; they have "
                    f"{', '.join(sorted(columns))}"
                )
        return labels

    def _labels_of_rows(self, aspect: str) -> Floats:
        """Return the labels of the rows of an aspect, NaN for a document without one."""
        table, label = self.aspect_rows, np.full(len(self.grade), np.nan)
        if aspect in table.names:
            picked = np.flatnonzero(table.aspect == table.names.index(aspect))
            label[table.doc[picked]] = table.grade[picked]
        return label

    def _labels_in_column(self, aspect: str) -> Floats:
        """Return the label of each document in the column of an aspect; NaN if it has none.

        Raises:
            ValueError: a document has two different labels.
        """
        table, label = self.aspect_rows, np.full(len(self.grade), np.nan)
        values, doc = self._further_column(aspect), table.doc[table.row]
        label[doc] = values
        are_missing = np.isnan(label[doc]) & np.isnan(values)
        differs = np.flatnonzero((label[doc] != values) & ~are_missing)
        if len(differs):
            first = differs[0]
            raise ValueError(
                f"qrels: {self.label_of(doc[first])} has the labels {values[first]:g} "
                f"and {label[doc[first]]:g} for the aspect "
                f"{aspect!r}{and_more(len(differs) - 1)}"
            )
        return label


@entry
def load(
    source: QrelsLike,
    exclude: ExcludeLike | None = None,
    judged_only: bool = False,
    queries: str | Iterable[Any] | None = None,
    rules: bool = True,
    trec_eval: int | None = None,
    levels: LevelsLike | None = None,
) -> Collection | Judgments:
    """Load a collection or qrels, and choose queries, excluded documents, levels and order.

    Every function that takes qrels applies these choices.

    Args:
        source: a data set's id (one of ir_datasets', or ``lexirecall/demo``); or qrels in any form
            that ``evaluate`` takes, such as a path, a frame, a dict, or a result of ``load``.
        exclude: documents to remove from the judgments and from every run: a mapping of query ids
            to document ids, a table or run file with the columns ``query_id`` and ``doc_id``, or
            ``'self'``, the document with the query's own id.
        judged_only: remove documents without a judgment from every run (condensed lists).
        queries: the queries that count: their ids, or ``'relevant'``, those with relevant
            documents; by default all.
        rules: apply the collection's own rules (``Collection.rules``) first.
        trec_eval: order the documents of runs as trec_eval 9 does (comparing scores as 32-bit
            floats, the default, as in ir_measures), or as trec_eval 10 does (as 64-bit floats).
            Both order equal scores by document id.
        levels: for labels of another scale: the lowest label that counts as grade 1, as 2, and so
            on (a number, or several, rising), or a mapping of such labels to grades. Lower labels
            become 0. For labels between 0 and 1, such as those of a language model: ``levels=0.5``.

    Returns:
        For an id, a ``Collection`` with ``qrels`` (a DataFrame with subtopics and aspects where our
        measures look for them), ``queries``, ``n`` (documents in the collection), ``aspects``
        (their top grades), ``max_rel``, ``rel``, ``has_subtopics`` and ``recommended()``; each is
        read when it is first needed. For other qrels, ``Judgments``. Every function that takes
        qrels takes both.

    Raises:
        ValueError: no such data set or file, a data set without qrels or with an unknown field, or
            bad qrels.

    >>> import ir_lexirecall as irl
    >>> irl.load("lexirecall/demo").recommended()
    [nDCG@10, AP, R@1000, LexiRecall, TSE, CWL_ERR10(max_rel=3), RBU@20,
     TOMA(aspects={'credibility':2,'readability':2,'relevance':3})@20]
    >>> qrels = irl.load(
    ...     {"q1": {"a": 1, "q1": 1}, "q2": {"b": 0}},
    ...     exclude="self",
    ...     judged_only=True,
    ...     queries="relevant",
    ... )
    >>> irl.evaluate("RR", qrels, {"q1": {"q1": 3.0, "x": 2.0, "a": 1.0}})["RR"].to_dict()
    {'q1': 1.0}
    >>> qrels = irl.load({"q": {"a": 0.7, "b": 0.2}}, levels=0.5)
    >>> irl.evaluate("AP", qrels, {"q": {"a": 1.0}})["AP"].to_dict()
    {'q': 1.0}
    >>> qrels, run = {"q": {"a": 1}}, {"q": {"a": 12.34567891, "b": 12.34567890}}
    >>> irl.evaluate("RR", irl.load(qrels, trec_eval=10), run)["RR"].to_dict()
    {'q': 1.0}
    """
    reading = Reading.from_arguments(
        exclude=exclude,
        queries=queries,
        judged_only=judged_only,
        rules=rules,
        trec_eval=trec_eval,
        levels=levels,
    )
    if isinstance(source, str) and not named_files(source):
        source = load_collection(source)
    if isinstance(source, Collection):
        return replace(source, reading=(*source.reading, reading))
    return Judgments.from_qrels(source).read_as(reading)


def load_collection(source: str) -> Collection:
    """Return a collection by its id; an unknown id is reported as a missing file."""
    try:
        return find_collection(source)
    except ValueError as error:
        if os.path.isdir(source):
            raise ValueError(f"{source} is a directory, not a file; {error}") from None
        if glob.has_magic(source):
            raise ValueError(
                f"{source}: no file matches this pattern; correct it"
            ) from None
        raise ValueError(f"{source}: there is no such file; {error}") from None


def _is_missing(value: Any) -> bool:
    """Return whether a value of a column stands for a missing one; no text does."""
    return not isinstance(value, str) and str(value) in _MISSING


def _odd(ids: Sequence[str]) -> dict[str, str]:
    """Return the ids that are not plain ASCII, or have blanks around them, by what is seen of them.

    >>> _odd(["e", "a "])
    {'a': 'a '}
    """
    if are_plain(ids):
        return {}
    return {visible(one): one for one in ids if not are_plain([one])}
