"""The judged documents of all queries, and what measures ask about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ir_lexirecall._util.arrays import Bools, Floats, Ints
from ir_lexirecall._util.errors import and_more, shown
from ir_lexirecall._util.lazy import Memoised, cached_property
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.lazy import polars as pl
from ir_lexirecall.data.qrels import ASPECT_COLUMNS, AspectRows
from ir_lexirecall.io.columns import float_of

_MISSING = ("None", "nan", "<NA>", "NaT")  # how the missing values of Python, NumPy and pandas print


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
class JudgedDocuments(Memoised):
    """One row per query and judged document, sorted by query id, then document id.

    Attributes:
        query_ids: the Q query ids, sorted.
        query: for every judged document, the position of its query in ``query_ids``.
        docs: the ids of the judged documents, as a list or a Polars series: see ``doc_ids`` and ``doc_id``.
        grade: the grade of each; the highest one if several subtopics were judged (that of the aspect ``relevance``,
            if the rows name such an aspect).
        table: what else the qrels say; None where they have a grade for each document and nothing else.
        elsewhere: where these are a part of larger judgments, the aspects that rows of other queries name: whether an
            aspect is named by rows is a question about the whole.
    """

    query_ids: list[str]
    query: Ints
    docs: list[str] | pl.Series
    grade: Floats
    table: AspectRows | None = field(default=None, repr=False)
    elsewhere: frozenset[str] = frozenset()

    @cached_property
    def doc_ids(self) -> list[str]:
        """Ids of the judged documents as a list."""
        return self.docs if isinstance(self.docs, list) else self.docs.to_list()

    @cached_property
    def doc_id(self) -> pl.Series:
        """Ids of the judged documents as a column."""
        return pl.Series("doc_id", self.docs, dtype=pl.String) if isinstance(self.docs, list) else self.docs

    @cached_property
    def aspect_rows(self) -> AspectRows:
        """``table``, also of judgments that name no aspects."""
        if self.table is not None:
            return self.table
        row = np.arange(len(self.grade))
        return AspectRows(row, np.zeros(len(row), dtype=np.int64), self.grade, ["0"], {}, row, row)

    def __len__(self) -> int:
        return len(self.query_ids)

    @cached_property
    def aspect_names(self) -> frozenset[str]:
        """Names of the aspects that rows of the qrels name, ``"0"`` where they name none."""
        return frozenset(["0"] if self.table is None else (self.table.names[i] for i in np.unique(self.table.aspect)))

    @property
    def relevance_is_named(self) -> bool:
        """Whether rows, here or elsewhere, name the aspect ``relevance``: then only those are a document's grade."""
        return "relevance" in self.aspect_names | self.elsewhere

    def m(self, rel: float = 1) -> Ints:
        """Number of documents with at least grade ``rel`` of each query, shape ``(Q,)``."""
        return self.cached(("m", rel), lambda: np.bincount(self.query[self.grade >= rel], minlength=len(self)))

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

        def rows() -> list[tuple[int, str]]:
            first, end = int(self.query.searchsorted(q)), int(self.query.searchsorted(q, "right"))
            return list(zip(range(first, end), self.doc_ids[first:end], strict=True))

        return self.cached(("rows", q), rows)

    @cached_property
    def keys(self) -> pl.DataFrame:
        """Query position, document id and row of every judged document, for joins."""
        return pl.DataFrame(
            {"query": self.query.astype(np.int32), "doc_id": self.doc_id, "doc": np.arange(len(self.query))}
        )

    def ids_of(self, row: Ints) -> list[str]:
        """Ids of the documents of some rows (``row``)."""
        if isinstance(self.docs, list):
            return [self.docs[i] for i in row.tolist()]
        return self.docs.gather(row).to_list()

    def for_ir_measures(self) -> pd.DataFrame:
        """Qrels as ir_measures' providers read them: strings, whole grades as integers, ``iteration``.

        Where several aspects were judged, providers without a notion of them keep a document's last row: that is made
        the one with the highest grade, as in ``grade`` (rows of named aspects: that of ``relevance``).
        """
        table = self.aspect_rows
        row = np.arange(len(table.doc))
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

    @cached_property
    def has_fractions(self) -> bool:
        """Whether any grade is between 0 and 1."""
        return bool(((self.grade > 0) & (self.grade < 1)).any())

    @cached_property
    def are_relevant(self) -> bool:
        """Whether all grades are above 0."""
        return not (self.grade <= 0).any()

    def check_top_grade(self, max_rel: float, measure: str, *, of_aspects: bool = False) -> None:
        """Refuse a grade above ``max_rel`` of a document (or for any aspect), naming the first and the ``measure``."""
        if not of_aspects and self.highest_grade <= max_rel:
            return
        grade = self.aspects.grade if of_aspects else self.grade
        above = np.flatnonzero(grade > max_rel)
        if len(above):
            doc = int(self.aspects.doc[above[0]]) if of_aspects else int(above[0])
            raise ValueError(
                f"{measure}: document {self.doc_ids[doc]!r} of query {self.query_ids[self.query[doc]]!r} has grade "
                f"{grade[above[0]]:g}, above max_rel={max_rel:g}{and_more(len(above) - 1)}; raise max_rel to the scale's top grade"
            )

    def check_whole_grades(self, measure: str) -> None:
        """Refuse a grade that is not a whole number, which other providers of ``measure`` cannot read."""
        odd = np.flatnonzero((self.grade != np.floor(self.grade)) | (np.abs(self.grade) >= 2**31))
        if len(odd):
            doc = int(odd[0])
            raise ValueError(
                f"{measure} needs whole grades of at most 31 bits, but document {self.doc_ids[doc]!r} of query "
                f"{self.query_ids[self.query[doc]]!r} has {self.grade[doc]:g}{and_more(len(odd) - 1)}"
            )

    @cached_property
    def aspects(self) -> AspectGrades:
        """The grades per aspect (subtopic) with the aspects' weights.

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
        pairs, aspect = np.unique(self.query[doc] * codes + self.table.aspect, return_inverse=True)
        pair_query = pairs // codes
        weight = np.ones(len(pairs))
        if "weight" in self.table.columns:
            values = self._further_column("weight")
            pair = aspect[self.table.row]
            weight[pair] = values
            bad = np.flatnonzero(~(values >= 0) | (values != weight[pair]) | np.isinf(values))
            if len(bad):
                query_id, doc_id = self._ids_of_line(int(bad[0]))
                name = self.table.names[self.table.aspect[self.table.row[bad[0]]]]
                said = shown(self.table.columns["weight"][int(self.table.line[bad[0]])])
                raise ValueError(
                    f"qrels: aspect {name!r} of query {query_id!r} has weight {said} at document {doc_id!r}; an aspect needs one "
                    f"weight per query, not negative{and_more(len(bad) - 1)}"
                )
        weight[np.bincount(aspect[grade > 0], minlength=len(pairs)) == 0] = 0  # nothing relevant: not counted
        total = np.bincount(pair_query, weights=weight, minlength=len(self))[pair_query]
        weight = np.divide(weight, total, out=np.zeros(len(pairs)), where=total > 0)
        return AspectGrades(doc=doc, aspect=aspect, grade=grade, query=pair_query, weight=weight)

    @cached_property
    def has_weight(self) -> Bools:
        """Whether an aspect of each query counts: a document is relevant to it, and its weight is not 0."""
        return np.bincount(self.aspects.query, weights=self.aspects.weight, minlength=len(self)) > 0

    def _further_column(self, name: str) -> Floats:
        """Numbers of a further column of the qrels, for each line; NaN where one is missing."""
        table = self.aspect_rows
        values, line = table.columns[name], table.line
        if values.dtype == pl.Null:
            return np.full(len(line), np.nan)
        if values.dtype.is_numeric():
            return values.cast(pl.Float64).to_numpy()[line]
        items = values.to_list()
        picked = [items[i] for i in line.tolist()]
        numbers = [float_of(value) for value in picked]
        bad = [
            n
            for n, value in enumerate(picked)
            if numbers[n] is None and (isinstance(value, str) or str(value) not in _MISSING)
        ]
        if bad:
            query_id, doc_id = self._ids_of_line(bad[0])
            raise ValueError(
                f"qrels: the {name} of document {doc_id!r} for query {query_id!r} is {shown(picked[bad[0]])}, not a finite number"
                f"{and_more(len(bad) - 1)}"
            )
        return np.array(numbers, dtype=np.float64)  # NaN for None

    def _ids_of_line(self, line: int) -> tuple[str, str]:
        """Query and document that the n-th line is about."""
        doc = int(self.aspect_rows.doc[self.aspect_rows.row[line]])
        return self.query_ids[self.query[doc]], self.doc_ids[doc]

    def labels(self, aspects: Sequence[str]) -> dict[str, Floats]:
        """Labels of the judged documents for ``aspects``, NaN where there is none, each a row per document.

        An aspect is a row label (in ``subtopic_id`` or ``iteration``) or a further column of the qrels; the
        column ``relevance`` serves unless other aspects are rows.

        Raises:
            ValueError: the qrels have no such aspect, or two different labels for one document.
        """
        in_rows = self.aspect_names | self.elsewhere
        by_rows = any(name in in_rows for name in aspects)
        table, labels = self.aspect_rows, dict[str, Floats]()
        for name in aspects:
            label = labels[name] = np.full(len(self.grade), np.nan)
            if name in in_rows:
                if name in table.names:
                    picked = np.flatnonzero(table.aspect == table.names.index(name))
                    label[table.doc[picked]] = table.grade[picked]
                continue
            columns = {"relevance", *table.columns} - set(ASPECT_COLUMNS)
            if name not in columns or (name == "relevance" and by_rows):
                known = sorted(columns | (in_rows if len(in_rows) > 1 else set()))
                raise ValueError(f"the qrels have no aspect {name!r}; they have {', '.join(known)}")
            if name == "relevance":
                labels[name] = self.grade
                continue
            values, doc = self._further_column(name), table.doc[table.row]
            label[doc] = values
            differs = np.flatnonzero((label[doc] != values) & ~(np.isnan(label[doc]) & np.isnan(values)))
            if len(differs):
                query_id, doc_id = self._ids_of_line(int(differs[0]))
                raise ValueError(
                    f"qrels: document {doc_id!r} of query {query_id!r} has the labels {values[differs[0]]:g} and "
                    f"{label[doc][differs[0]]:g} for the aspect {name!r}{and_more(len(differs) - 1)}"
                )
        return labels


# -- finding documents by hashes, every match being checked ------------------------------------------------
# Keys are tables with the columns query (position in the judgments) and doc_id.


def find_judged(judged: pl.DataFrame, keys: pl.DataFrame, hashes: pl.Series) -> tuple[Ints, Ints]:
    """Which rows of ``keys`` (with their ``hashes``) are ``judged`` (see ``hashed_keys``), and the document that each of them is.

    A join by hashes is several times faster than one by texts; texts are compared where hashes are equal.

    >>> keys = pl.DataFrame({"query": [0, 0, 1], "doc_id": ["x", "b", "a"]})
    >>> judged = pl.DataFrame({"query": [0, 0], "doc_id": ["a", "b"]})
    >>> judged = judged.with_columns(doc=pl.Series([0, 1]), hash=judged.hash_rows())
    >>> [rows.tolist() for rows in find_judged(judged, keys, keys.hash_rows())]
    [[1], [1]]
    """
    hashed = pl.DataFrame({"hash": hashes, "row": np.arange(len(hashes))})
    alike = hashed.join(judged, on="hash", how="inner", maintain_order="left")
    row, doc = alike["row"].to_numpy(), alike["doc"].to_numpy()
    same = (keys["doc_id"][row] == alike["doc_id"]).to_numpy()
    same &= keys["query"].to_numpy()[row] == alike["query"].to_numpy()
    return row[same], doc[same]


def repetitions(keys: pl.DataFrame, hashes: pl.Series) -> pl.DataFrame:
    """The rows that an earlier row equals. Equal rows have equal hashes: only those are looked at.

    >>> keys = pl.DataFrame({"query": [0, 0, 0, 1], "doc_id": ["a", "b", "a", "a"]})
    >>> repetitions(keys, keys.hash_rows()).rows()
    [(0, 'a')]
    """
    in_order = np.sort(hashes.to_numpy())
    twice = in_order[1:][in_order[1:] == in_order[:-1]]
    if len(twice) == 0:
        return keys[:0]
    suspects = keys[np.flatnonzero(np.isin(hashes.to_numpy(), twice))]
    return suspects.filter(~pl.struct(pl.all()).is_first_distinct())
