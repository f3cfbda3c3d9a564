"""``Collection``: from a data set's id to all that an evaluation needs.

Ids are those of ir_datasets, and ``lexirecall/demo``, the collection embedded in this library.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from ir_measures.measures.base import Measure

from ir_lexirecall._util.errors import PLEASE_REPORT, check_integer, did_you_mean, entry
from ir_lexirecall._util.lazy import cached_property
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.measure_strings import parse_measure
from ir_lexirecall.data import demo
from ir_lexirecall.data.reading import Reading
from ir_lexirecall.io.downloads import downloading
from ir_lexirecall.io.names import QREL_COLUMNS

DEMO = "lexirecall/demo"
PREFIX = "irds:"  # of ids in PyTerrier, which may stand before any id of ir_datasets

_SELF_MATCHES = re.compile(r"(^|/)(arguana|quora|cqadupstack)(/|$)")
_EXCLUDES_BY_GRADE = re.compile(r"(^|/)bright(/|$)")

ASPECTS: dict[str, dict[str, str]] = {
    "EhealthQrel": {
        "trustworthiness": "trustworthiness",
        "understandability": "understandability",
    },
    "MisinfoQrel": {"effectiveness": "effectiveness", "redibility": "credibility"},
    "ToucheQualityQrel": {"quality": "quality"},
    "ToucheQualityCoherenceQrel": {"quality": "quality", "coherence": "coherence"},
    "ToucheQualityComparativeStanceQrel": {"quality": "quality"},
    "ToucheControversialStanceQrel": {},
    "DemoQrel": {"credibility": "credibility", "readability": "readability"},
}
"""Names of graded aspects beside ``relevance``, by class of qrels and field.

ir_datasets misspells one. A stance is not a grade, so it is not an aspect.
"""

# Fields of ir_datasets' qrels that are neither aspects nor subtopics.
_PLAIN = {
    *("query_id", "doc_id", "relevance", "iteration", "subtopic_id", "stance"),
    *("method", "iprob"),  # how a document was pooled
    *("start", "length", "span_start", "span_len"),  # where a passage is
    *("note", "short_answers", "yes_no_answer"),
}


def aspect_fields(qrel_class: type) -> dict[str, str]:
    """Return the aspect fields of a class of qrels and their names here.

    >>> from ir_datasets.datasets.clueweb12 import MisinfoQrel
    >>> aspect_fields(MisinfoQrel)
    {'effectiveness': 'effectiveness', 'redibility': 'credibility'}
    """
    name, fields = qrel_class.__name__, getattr(qrel_class, "_fields", ())
    mapping = ASPECTS.get(name, {})
    unknown = [
        field for field in fields if field not in mapping and field not in _PLAIN
    ]
    lost = [field for field in mapping if field not in fields]
    if unknown or lost:
        raise ValueError(
            f"ir_datasets' {name} has the fields {', '.join(fields)}: it is not known what "
            f"{(unknown + lost)[0]!r} means; "
            f"{PLEASE_REPORT}, together with the version of ir_datasets"
        )
    return mapping


@dataclass(frozen=True, eq=False)
class Rules:
    """What the makers of a collection take out of rankings and judgments before they evaluate."""

    # Whether a document with the query's own id is taken out.
    self_matches: bool = False
    # Grades that mean *to be excluded*: documents judged so are taken out.
    excluded_grades: tuple[float, ...] = ()

    def __bool__(self) -> bool:
        return self.self_matches or bool(self.excluded_grades)

    def __str__(self) -> str:
        rules = []
        if self.self_matches:
            rules.append("without each query's own document")
        if self.excluded_grades:
            grades = ", ".join(f"{grade:g}" for grade in self.excluded_grades)
            rules.append(f"without documents of grade {grades}")
        return " and ".join(rules)


def rules_of(dataset_id: str) -> Rules:
    """Return the rules of a data set by its id.

    ArguAna, Quora and CQADupStack hold the queries among their documents; BRIGHT marks documents
    that are to be excluded for a query with the grade -100.

    >>> rules_of("beir/arguana"), rules_of("beir/scifact/test")
    (Rules(self_matches=True, excluded_grades=()), Rules(self_matches=False, excluded_grades=()))
    >>> str(rules_of("bright/biology"))
    'without documents of grade -100'
    """
    excluded_grades: tuple[float, ...] = ()
    if _EXCLUDES_BY_GRADE.search(dataset_id):
        excluded_grades = (-100.0,)
    return Rules(_SELF_MATCHES.search(dataset_id) is not None, excluded_grades)


@dataclass(frozen=True, eq=False)
class Collection:
    """A data set: its judgments and queries, and the evaluation that suits them.

    ``load`` makes it; nothing is read before it is needed.

    Attributes:
        dataset_id: its id.
        aspect_fields: fields of its qrels that are aspects besides ``relevance``, and their names
            here.
        has_subtopics: whether documents are judged for subtopics of a query.
        reading: the choices of each call of ``load``, such as excluded documents.
    """

    dataset_id: str
    aspect_fields: Mapping[str, str] = field(repr=False)
    has_subtopics: bool = field(repr=False)
    _dataset: Any = field(default=None, repr=False)  # ir_datasets' own
    reading: tuple[Reading, ...] = ()

    def _table(self, part: str) -> pd.DataFrame:
        """Return what ir_datasets has of the ``qrels`` or ``queries``."""
        kind = getattr(self._dataset, f"{part}_cls")()
        with downloading(self.dataset_id):
            return pd.DataFrame(
                list(getattr(self._dataset, f"{part}_iter")()),
                columns=list(kind._fields),
            )

    @cached_property
    def n(self) -> int | None:
        """Number of documents in the collection, from its metadata; None where it is not known."""
        if not self._dataset.has_docs():
            return None
        # Counting could start a download.
        count = self._dataset.metadata().get("docs", {}).get("count")
        if count is None:
            return None
        return int(count)

    @cached_property
    def qrels(self) -> pd.DataFrame:
        """The judgments, a row per query, document and subtopic.

        Columns: ``query_id``, ``doc_id``, ``relevance``, ``subtopic_id`` if there are subtopics,
        and the aspects.
        """
        table = self._table("qrels").rename(columns=dict(self.aspect_fields))
        keys = ["query_id", "doc_id"]
        if self.has_subtopics:
            keys.append("subtopic_id")
        if self.aspect_fields:
            # The iteration tells rounds of judging apart, not subtopics; the latest round counts.
            table = table.drop_duplicates(keys, keep="last")
        columns = [*QREL_COLUMNS, *keys[2:], *self.aspect_fields.values()]
        return table[columns].reset_index(drop=True)

    @property
    def rules(self) -> Rules:
        """What is taken out of rankings and judgments, unless ``rules=False`` is given."""
        return rules_of(self.dataset_id)

    @cached_property
    def queries(self) -> pd.DataFrame:
        """The queries: ``query_id`` and the data set's further fields, such as ``text``."""
        if self._dataset.has_queries():
            return self._table("queries")
        return pd.DataFrame({"query_id": self.qrels["query_id"].unique()})

    @property
    def query_texts(self) -> dict[str, str]:
        """Texts (else titles) of the queries by their ids; empty where there are none."""
        table = self.queries
        for column in ("text", "title", "query"):
            if column in table.columns:
                return table.astype(str).set_index("query_id")[column].to_dict()
        return {}

    def texts(self, doc_ids: list[str]) -> dict[str, str]:
        """Title and text of documents, of those that the data set holds on this machine.

        Args:
            doc_ids: ids of the documents.
        """
        if not self._dataset.has_docs():
            return {}
        with downloading(self.dataset_id):
            return {
                doc.doc_id: doc.default_text()
                for doc in self._dataset.docs_store().get_many_iter(doc_ids)
            }

    @property
    def has_texts(self) -> bool:
        """Whether ``texts`` can look documents up at once, without a download or a new index."""
        if not self._dataset.has_docs():
            return False
        store = self._dataset.docs_store()
        path = getattr(store, "path", None)
        if path is None or not os.path.exists(path):
            return False
        return bool(store.built())

    @cached_property
    def max_rel(self) -> int:
        """Top grade of relevance: as the data set defines it, or in the data if that is higher."""
        return max(1, *self._dataset.qrels_defs(), int(self.qrels["relevance"].max()))

    @cached_property
    def aspects(self) -> dict[str, int]:
        """Top grade of every judged aspect, ``relevance`` first; empty without further aspects."""
        if not self.aspect_fields:
            return {}
        others = {
            name: max(1, int(self.qrels[name].max()))
            for name in self.aspect_fields.values()
        }
        return {"relevance": self.max_rel, **others}

    @cached_property
    def official_measures(self) -> list[Measure]:
        """The official measures that ir_datasets documents for the collection."""
        if not hasattr(self._dataset, "documentation"):
            return []
        documented = self._dataset.documentation() or {}
        return [parse_measure(text) for text in documented.get("official_measures", [])]

    @cached_property
    def rel(self) -> int:
        """Smallest relevant grade: the largest threshold of the official measures, else 1."""
        thresholds = [
            measure.params["rel"]
            for measure in self.official_measures
            if "rel" in measure.params
        ]
        return max([1, *thresholds])

    @entry
    def recommended(self, cutoff: int = 20) -> list[Measure]:
        """Return the measures that make sense for these judgments, with their parameters.

        The official measures where ir_datasets documents some (else nDCG@10, AP and R@1000),
        LexiRecall and TSE, the C/W/L variant of ERR, RBU only where there are subtopics, and TOMA
        only where several aspects are judged.

        Args:
            cutoff: of RBU and TOMA.
        """
        check_integer("cutoff", cutoff)
        rel = "" if self.rel == 1 else f"(rel={self.rel})"
        names = [str(measure) for measure in self.official_measures] or [
            "nDCG@10",
            f"AP{rel}",
            f"R{rel}@1000",
        ]
        names += [f"LexiRecall{rel}", f"TSE{rel}", f"CWL_ERR10(max_rel={self.max_rel})"]
        if self.has_subtopics:
            names.append(f"RBU@{cutoff}")
        if self.aspects:
            names.append(f"TOMA(aspects={self.aspects})@{cutoff}")
        return [parse_measure(name) for name in names]

    @cached_property
    def relevant_by_query(self) -> pd.Series:
        """Number of relevant documents (of at least grade ``rel``) of every judged query."""
        pairs = self.qrels[["query_id", "doc_id"]].where(
            self.qrels["relevance"] >= self.rel
        )
        counts = pairs.drop_duplicates().groupby("query_id")["doc_id"].count()
        counts = counts.reindex(self.qrels["query_id"].unique(), fill_value=0)
        return counts.rename("relevant")

    def __reduce__(self) -> tuple[Callable[..., Collection], tuple[Any, ...]]:
        # The collection is read where it arrives.
        return find_collection, (self.dataset_id, self.reading)

    def __repr__(self) -> str:
        return f"<Collection {self.dataset_id!r}; present.collection_finding says what it holds>"


class _Demo(Collection):
    """``lexirecall/demo``, for which ir_datasets is not needed."""

    def _table(self, part: str) -> pd.DataFrame:
        if part == "qrels":
            return demo.qrels()
        return demo.queries()

    @cached_property
    def n(self) -> int:
        return len(demo.docs())

    def texts(self, doc_ids: list[str]) -> dict[str, str]:
        rows = demo.docs().values.tolist()
        return {
            doc_id: f"{title}\n{text}"
            for doc_id, title, text in rows
            if doc_id in set(doc_ids)
        }

    @property
    def has_texts(self) -> bool:
        return True


def find_collection(dataset_id: str, reading: tuple[Reading, ...] = ()) -> Collection:
    """Return a collection by its id, one of ir_datasets' or ``lexirecall/demo``; see ``load``.

    Raises:
        ValueError: no such data set, one without qrels, or qrels with an unknown field.
    """
    dataset_id = dataset_id.removeprefix(PREFIX)
    if dataset_id == DEMO:
        data_set = SimpleNamespace(
            qrels_defs=lambda: demo.GRADES, has_queries=lambda: True
        )
        return _Demo(DEMO, ASPECTS["DemoQrel"], True, data_set, reading)
    import ir_datasets

    try:
        dataset = ir_datasets.load(dataset_id)  # its id may also be made from a pattern
    except KeyError:
        hint = did_you_mean(dataset_id, [*ir_datasets.registry, DEMO])
        raise ValueError(f"ir_datasets has no data set {dataset_id!r}{hint}") from None
    if not dataset.has_qrels():
        raise ValueError(
            f"the ir_datasets data set {dataset_id!r} has no qrels; give a file of them"
        )

    kind = dataset.qrels_cls()
    return Collection(
        dataset_id, aspect_fields(kind), "subtopic_id" in kind._fields, dataset, reading
    )


def is_data_set(name: str) -> bool:
    """Whether a name is the id of a data set that is known without looking at patterns of ids.

    >>> is_data_set("lexirecall/demo"), is_data_set("irds:lexirecall/demo")
    (True, True)
    >>> is_data_set("qrels.txt")
    False
    """
    name = name.removeprefix(PREFIX)
    if name == DEMO:
        return True
    import ir_datasets

    return name in ir_datasets.registry
