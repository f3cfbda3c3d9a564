"""``load`` and ``Judgments``: qrels of any format, columnar, sorted, checked once; restricted, excluded, changed."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeAlias

import numpy as np

from ir_lexirecall._util.arrays import Floats, Ints, ranges
from ir_lexirecall._util.errors import check_flag, entry, naming
from ir_lexirecall._util.lazy import cached_property
from ir_lexirecall._util.lazy import polars as pl
from ir_lexirecall.data.collection import Collection, Rules, find_collection
from ir_lexirecall.data.judged_documents import JudgedDocuments
from ir_lexirecall.data.qrels import AspectRows, read_qrels
from ir_lexirecall.io.columns import TableLike, id_pairs, id_string, is_file

QrelsLike: TypeAlias = "TableLike | Collection | Judgments"
"""Judgments in any form: a path, a data set's id, a ``Collection``, a DataFrame (pandas, Polars, Arrow), a dict of dicts, an
iterable of named tuples, or ``Judgments`` themselves."""

ExcludeLike: TypeAlias = "str | Mapping[Any, Iterable[Any]] | TableLike"
"""Documents to take out of rankings and judgments: ``'self'`` (the document with the query's own id), a mapping of query ids
to document ids, or a table or run file with the columns ``query_id`` and ``doc_id``."""


@dataclass(frozen=True)
class Judgments(JudgedDocuments):
    """The judged documents of all queries: one row per query and document, sorted by query id, then document id.

    Build it with ``Judgments.from_qrels(qrels)`` once and align any number of runs with it.

    Attributes:
        query_ids, query, docs, grade, table, elsewhere: as in ``JudgedDocuments``.
        excluded: documents that were taken out, by query: runs that are aligned with them lose these, too; see ``excluding``.
        rules: the collection's rules that were applied, in words; empty where there were none.
        source: what summaries call them: a data set's id, a file's name; empty where they have none.
        threshold: smallest grade that counts as relevant in the collection they are from; 1 where none says.
        judged_only: whether runs that are aligned with them lose all documents without a judgment (condensed lists).
        only_relevant: whether the queries were chosen because they have relevant documents.
    """

    excluded: Mapping[str, frozenset[str]] = field(default_factory=dict, repr=False)
    rules: str = ""
    source: str = field(default="", compare=False)
    threshold: float = field(default=1, compare=False)
    judged_only: bool = False
    only_relevant: bool = field(default=False, compare=False)

    @classmethod
    @entry
    def from_qrels(cls, qrels: QrelsLike) -> Judgments:
        """Judgments from a path, a data set's id, a table, a dict of dicts, or named tuples; ``Judgments`` pass through.

        ``load`` takes documents or queries out.

        >>> qrels = {"q1": {"d2": 1, "d1": 0}, "q0": {"d9": 2}}
        >>> judgments = Judgments.from_qrels(qrels)
        >>> judgments.query_ids, judgments.doc_ids, judgments.grade.tolist()
        (['q0', 'q1'], ['d9', 'd1', 'd2'], [2.0, 0.0, 1.0])

        Raises:
            ValueError: a missing column, a grade that is not a number, or the same judgment twice with
                different grades.
        """
        if isinstance(qrels, str) and not is_file(qrels):
            qrels = load_collection(qrels)
        if isinstance(qrels, Judgments):
            return qrels
        if isinstance(qrels, Collection):
            judgments = cls(*read_qrels(qrels.qrels), source=qrels.dataset_id, threshold=qrels.rel)
            if all(options["rules"] for options in qrels.reading):
                judgments = judgments.with_rules(qrels.rules)
            for options in qrels.reading:
                judgments = judgments.read_with(options)
            return judgments
        path = os.fspath(qrels) if isinstance(qrels, (str, os.PathLike)) else ""
        with naming(path or "qrels"):
            judgments = cls(*read_qrels(qrels), source=os.path.basename(path))
            if path and not judgments.query_ids:
                raise ValueError("there are no judgments in it")
        return judgments

    def read_with(self, options: Mapping[str, Any]) -> Judgments:
        """The judgments as ``load`` reads them with its arguments ``exclude``, ``queries`` and ``judged_only``."""
        judgments, exclude, wanted = self, options["exclude"], options["queries"]
        if isinstance(exclude, str) and exclude == "self":
            judgments = judgments.excluding({query_id: [query_id] for query_id in judgments.query_ids})
        elif isinstance(exclude, str) and not is_file(exclude):
            raise ValueError(
                f"exclude: unknown rule {exclude!r}; give 'self', a mapping of query ids to document ids, or a table or run file "
                "with query_id and doc_id"
            )
        elif isinstance(exclude, Mapping):
            for query_id, docs in exclude.items():
                if isinstance(docs, str) or not isinstance(docs, Iterable):
                    raise ValueError(f"exclude: query {query_id!r} maps to {docs!r}, not to a list of document ids")
            with naming("exclude"):
                ids = {id_string(query_id): [id_string(doc) for doc in docs] for query_id, docs in exclude.items()}
            judgments = judgments.excluding(ids)
        elif exclude is not None:
            pairs: dict[str, list[str]] = {}
            for query_id, doc_id in id_pairs(exclude, "exclude"):
                pairs.setdefault(query_id, []).append(doc_id)
            judgments = judgments.excluding(pairs)
        if wanted == "relevant":
            relevant = np.flatnonzero(judgments.m(judgments.threshold))
            judgments = judgments.restricted_to([judgments.query_ids[q] for q in relevant])
            judgments = replace(judgments, only_relevant=True)
        elif wanted is not None:
            judgments = judgments.restricted_to(map(id_string, wanted))
        return replace(judgments, judged_only=judgments.judged_only or options["judged_only"])

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
            raise ValueError(f"judgments: unknown query {min(unknown)!r}")
        if len(wanted) == len(self):
            return self
        queries = np.array(sorted(self.place[query_id] for query_id in wanted), dtype=np.int64)
        first, end = (np.searchsorted(self.query, queries, side=side) for side in ("left", "right"))
        row = ranges(first, end)
        return replace(
            self.of_documents(row),
            query_ids=[self.query_ids[q] for q in queries],
            query=np.repeat(np.arange(len(queries)), end - first),
            excluded={query_id: ids for query_id, ids in self.excluded.items() if query_id in wanted},
            elsewhere=self.elsewhere | self.aspect_names,
        )

    def as_part(self, elsewhere: Iterable[str]) -> Judgments:
        """The same judgments, read as a part of larger ones, whose other rows name the aspects ``elsewhere``."""
        part = replace(self, elsewhere=frozenset(elsewhere))
        lacks_relevance = part.relevance_is_named and "relevance" not in part.aspect_names
        return replace(part, grade=np.zeros(len(self.grade))) if lacks_relevance else part

    def __getstate__(self) -> dict[str, Any]:
        """Without what is derived: hashes hold within one process only."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def with_grades(self, grade: Floats) -> Judgments:
        """The same documents with other grades (a row each), judged for one aspect."""
        return replace(self, grade=grade, table=None, elsewhere=frozenset())

    def of_documents(self, row: Ints) -> Judgments:
        """The judgments of some documents (``row``: their rows, rising)."""
        docs = self.ids_of(row) if isinstance(self.docs, list) else self.docs.gather(row)
        table = None if self.table is None else self.table.of_documents(row)
        return replace(self, query=self.query[row], docs=docs, grade=self.grade[row], table=table)

    def excluding(self, doc_ids: Mapping[str, Iterable[str]]) -> Judgments:
        """The judgments without some documents, which every run that is aligned with them loses, too.

        Args:
            doc_ids: documents to take out, by query; queries without judgments are ignored.

        >>> judgments = Judgments.from_qrels({"q": {"a": 1, "q": 1}}).excluding({"q": ["q", "x"]})
        >>> judgments.doc_ids, sorted(judgments.excluded["q"])
        (['a'], ['q', 'x'])
        """
        taken_out = {q: self.excluded.get(q, frozenset()).union(ids) for q, ids in doc_ids.items() if q in self.place}
        first, judged = np.searchsorted(self.query, np.arange(len(self) + 1)).tolist(), self.doc_ids
        rows = {q: range(first[self.place[q]], first[self.place[q] + 1]) for q in taken_out}
        gone = [row for q, ids in taken_out.items() for row in rows[q] if judged[row] in ids]
        kept = np.delete(np.arange(len(self.grade)), gone)
        return replace(self.of_documents(kept), excluded={**self.excluded, **taken_out})

    @cached_property
    def excluded_keys(self) -> pl.DataFrame:
        """``keys`` of the documents that were taken out; ``doc`` is -1."""
        query = [self.place[query_id] for query_id, ids in self.excluded.items() for _ in ids]
        docs = pl.Series("doc_id", [doc_id for ids in self.excluded.values() for doc_id in ids], dtype=pl.String)
        return pl.DataFrame({"query": np.array(query, dtype=np.int32), "doc_id": docs, "doc": np.full(len(docs), -1)})

    @cached_property
    def _hashed_keys(self) -> pl.DataFrame:
        keys = pl.concat([self.keys, self.excluded_keys]).sort("query") if self.excluded else self.keys
        return keys.with_columns(keys[["query", "doc_id"]].hash_rows().alias("hash"))

    def hashed_keys(self, query: Ints) -> pl.DataFrame:
        """``keys`` and ``excluded_keys`` of some queries, with a ``hash`` of each document: see ``find_judged``."""
        whole = self._hashed_keys
        if len(query) == len(self):
            return whole
        first, end = (np.searchsorted(whole["query"].to_numpy(), query, side=side) for side in ("left", "right"))
        return whole[ranges(first, end)]

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
        return replace(self.excluding(taken_out), rules=str(rules))

    def with_labels(self, labels: Mapping[str, Floats]) -> Judgments:
        """The same judgments of one aspect with further columns: ``labels`` of every document, by the name of the aspect."""
        rows = np.arange(len(self.grade))
        columns = {name: pl.Series(name, values) for name, values in labels.items()}
        table = AspectRows(rows, np.zeros_like(rows), self.grade, ["0"], columns, rows, rows)
        return replace(self, table=table)


@entry
def load(
    source: QrelsLike,
    exclude: ExcludeLike | None = None,
    judged_only: bool = False,
    queries: str | Iterable[Any] | None = None,
    rules: bool = True,
) -> Collection | Judgments:
    """Qrels with what reading them needs: what counts as judged, and for which queries, said once for all that takes qrels.

    Args:
        source: a data set's id (one of ir_datasets', or ``lexirecall/demo``); or qrels in any form that ``evaluate`` takes, such
            as a path, a frame, a dict, or what ``load`` gave before.
        exclude: documents that are taken out of the judgments, and of every run: a mapping of query ids to document ids, a table or
            run file with the columns ``query_id`` and ``doc_id``, or ``'self'``, the document with the query's own id.
        judged_only: take documents without a judgment out of every run (condensed lists).
        queries: only these count: their ids, or ``'relevant'``, those with relevant documents; by default all.
        rules: apply the collection's own rules (``Collection.rules``) first.

    Returns:
        Of an id a ``Collection``, with ``qrels`` (a DataFrame with subtopics and aspects where our measures look for them),
        ``queries``, ``n`` (documents in the collection), ``aspects`` (their top grades), ``max_rel``, ``rel``, ``has_subtopics``
        and ``recommended()``; nothing is read before it is needed. Of other qrels ``Judgments``. Both go wherever qrels go.

    Raises:
        ValueError: no such data set or file, a data set without qrels or with an unknown field, or bad qrels.

    >>> import ir_lexirecall as irl
    >>> irl.load("lexirecall/demo").recommended()
    [nDCG@10, AP, R@1000, LexiRecall, TSE, CWL_ERR10(max_rel=3), RBU@20,
     TOMA(aspects={'credibility':2,'readability':2,'relevance':3})@20]
    >>> qrels = irl.load({"q1": {"a": 1, "q1": 1}, "q2": {"b": 0}}, exclude="self", judged_only=True, queries="relevant")
    >>> irl.evaluate("RR", qrels, {"q1": {"q1": 3.0, "x": 2.0, "a": 1.0}})["RR"].to_dict()
    {'q1': 1.0}
    """
    if isinstance(queries, str):
        if queries != "relevant":
            raise ValueError(f"unknown queries {queries!r}; give 'relevant', or a list of their ids")
    elif isinstance(queries, Iterable):
        queries = list(queries)
        if not queries:
            raise ValueError("queries is empty; leave it out to take all queries")
    elif queries is not None:
        raise ValueError(f"queries must be 'relevant' or ids of queries, not {queries!r}")
    check_flag("judged_only", judged_only)
    check_flag("rules", rules)
    reading = {"exclude": exclude, "judged_only": judged_only, "queries": queries, "rules": rules}
    if isinstance(source, str) and not is_file(source):
        source = load_collection(source)
    if isinstance(source, Collection):
        return replace(source, reading=(*source.reading, reading))
    return Judgments.from_qrels(source).read_with(reading)


def load_collection(source: str) -> Collection:
    """A collection by its id; an unknown id is reported as a missing file."""
    try:
        return find_collection(source)
    except ValueError as error:
        if os.path.isdir(source):
            raise ValueError(f"{source} is a directory, not a file; {error}") from None
        if glob.has_magic(source):
            raise ValueError(f"{source}: no file matches this pattern") from None
        raise ValueError(f"{source}: there is no such file; {error}") from None
