"""``load``: from a data set's id to what an evaluation needs."""

from __future__ import annotations

import difflib
from functools import cached_property

import ir_datasets
import ir_measures
import pandas as pd
from ir_measures.measures.base import Measure

from ir_lexirecall.measures import CWL_ERR10, LR, RBU, TOMA, TSE

ASPECTS: dict[str, dict[str, str]] = {
    "EhealthQrel": {"trustworthiness": "trustworthiness", "understandability": "understandability"},
    "MisinfoQrel": {"effectiveness": "effectiveness", "redibility": "credibility"},
    "ToucheQualityQrel": {"quality": "quality"},
    "ToucheQualityCoherenceQrel": {"quality": "quality", "coherence": "coherence"},
    "ToucheQualityComparativeStanceQrel": {"quality": "quality"},
    "ToucheControversialStanceQrel": {},
    "DemoQrel": {"credibility": "credibility", "readability": "readability"},
}
"""For each class of qrels with several judgments: its fields that are graded aspects beside ``relevance``, and what they
are called here (ir_datasets misspells one). A stance is no grade, so it is no aspect."""

_PLAIN = frozenset(
    # Fields of ir_datasets' qrels that are neither aspects nor subtopics: how a document was pooled, where a passage is.
    [
        "query_id",
        "doc_id",
        "relevance",
        "iteration",
        "subtopic_id",
        "method",
        "iprob",
        "start",
        "length",
        "span_start",
        "span_len",
        "note",
        "short_answers",
        "yes_no_answer",
        "stance",
    ]
)


def aspect_fields(qrel_class: type) -> dict[str, str]:
    """The aspect fields of a class of qrels and their names here.

    >>> from ir_datasets.datasets.clueweb12 import MisinfoQrel
    >>> aspect_fields(MisinfoQrel)
    {'effectiveness': 'effectiveness', 'redibility': 'credibility'}

    Raises:
        ValueError: the class has a field of which it is not known whether it is an aspect.
    """
    name, fields = qrel_class.__name__, getattr(qrel_class, "_fields", ())
    mapping = ASPECTS.get(name, {})
    unknown = [field for field in fields if field not in mapping and field not in _PLAIN]
    lost = [field for field in mapping if field not in fields]
    if unknown or lost:
        raise ValueError(
            f"ir_datasets' {name} has the fields {', '.join(fields)}: it is not known what {(unknown + lost)[0]!r} means; "
            "please report this together with the version of ir_datasets"
        )
    return mapping


class Collection:
    """A data set of ir_datasets, see ``load``."""

    def __init__(self, dataset_id: str) -> None:
        if dataset_id not in ir_datasets.registry:
            try:
                ir_datasets.load(dataset_id)  # ids that are made from patterns
            except KeyError:
                close = difflib.get_close_matches(dataset_id, ir_datasets.registry, n=1)
                hint = f"; did you mean {close[0]!r}?" if close else ""
                raise ValueError(f"ir_datasets has no data set {dataset_id!r}{hint}") from None
        self.dataset_id = dataset_id
        self.dataset = ir_datasets.load(dataset_id)
        if not self.dataset.has_qrels():
            raise ValueError(f"the ir_datasets data set {dataset_id!r} has no qrels")
        self._aspect_fields = aspect_fields(self.dataset.qrels_cls())

    def __repr__(self) -> str:
        return f"load({self.dataset_id!r})"

    @property
    def has_subtopics(self) -> bool:
        """Whether documents are judged for subtopics of a query."""
        return "subtopic_id" in self.dataset.qrels_cls()._fields

    @cached_property
    def n(self) -> int | None:
        """Number of documents in the collection, from ir_datasets' metadata; None where it is not known."""
        if not self.dataset.has_docs():
            return None
        # What the metadata knows; counting itself could start a download.
        count = self.dataset.metadata().get("docs", {}).get("count")
        return None if count is None else int(count)

    @cached_property
    def qrels(self) -> pd.DataFrame:
        """The judgments: ``query_id``, ``doc_id``, ``relevance``, ``subtopic_id`` if there are subtopics, the aspects."""
        table = pd.DataFrame(list(self.dataset.qrels_iter()), columns=list(self.dataset.qrels_cls()._fields))
        table = table.rename(columns=self._aspect_fields)
        columns = ["query_id", "doc_id", "relevance", *(["subtopic_id"] if self.has_subtopics else [])]
        if self._aspect_fields:
            # The iteration tells rounds of judging apart, not subtopics; the latest round counts.
            table = table.drop_duplicates([c for c in columns if c != "relevance"], keep="last")
        return table[[*columns, *self._aspect_fields.values()]].reset_index(drop=True)

    @cached_property
    def topics(self) -> pd.DataFrame:
        """The queries: ``query_id`` and ir_datasets' further fields."""
        if not self.dataset.has_queries():
            return pd.DataFrame({"query_id": self.qrels["query_id"].unique()})
        return pd.DataFrame(list(self.dataset.queries_iter()), columns=list(self.dataset.queries_cls()._fields))

    @cached_property
    def max_rel(self) -> int:
        """Top grade of relevance: of the definitions that ir_datasets gives, or of the data if that is higher."""
        return max(1, *self.dataset.qrels_defs(), int(self.qrels["relevance"].max()))

    @cached_property
    def aspects(self) -> dict[str, int]:
        """Top grade of every judged aspect, ``relevance`` first; empty where only relevance is judged."""
        if not self._aspect_fields:
            return {}
        others = {name: max(1, int(self.qrels[name].max())) for name in self._aspect_fields.values()}
        return {"relevance": self.max_rel, **others}

    @cached_property
    def official_measures(self) -> list[Measure]:
        """The official measures that ir_datasets documents for the collection."""
        documented = (self.dataset.documentation() or {}) if hasattr(self.dataset, "documentation") else {}
        return [ir_measures.parse_measure(text) for text in documented.get("official_measures", [])]

    @cached_property
    def rel(self) -> int:
        """Smallest grade that counts as relevant: the largest threshold of the official measures, else 1."""
        thresholds = [measure.params["rel"] for measure in self.official_measures if "rel" in measure.params]
        return max([1, *thresholds])

    def recommended(self, cutoff: int = 20) -> list[Measure]:
        """The measures that make sense for these judgments, with their parameters filled in.

        The official measures where ir_datasets documents some (else nDCG@10, AP and R@1000), TSE and LexiRecall, the C/W/L
        variant of ERR, RBU only where there are subtopics, and TOMA only where several aspects are judged.

        Args:
            cutoff: of RBU and TOMA.
        """
        threshold = {} if self.rel == 1 else {"rel": self.rel}
        standard = self.official_measures or [
            ir_measures.nDCG @ 10,
            ir_measures.AP(**threshold),
            ir_measures.R(**threshold) @ 1000,
        ]
        measures = [*standard, TSE(**threshold), LR(**threshold), CWL_ERR10(max_rel=self.max_rel)]
        if self.has_subtopics:
            measures.append(RBU @ cutoff)
        if self.aspects:
            measures.append(TOMA(aspects=self.aspects) @ cutoff)
        return measures


def load(dataset_id: str) -> Collection:
    """A collection by its ir_datasets id.

    Returns:
        An object with ``qrels`` (a DataFrame with subtopics and aspects where our measures look for them), ``topics``, ``n``
        (documents in the collection), ``aspects`` (their top grades), ``max_rel``, ``rel``, ``has_subtopics`` and
        ``recommended()``. Nothing is read before it is asked for.

    Raises:
        ValueError: no such data set, one without qrels, or qrels with an unknown field.

    >>> load("lexirecall/demo").recommended()
    [nDCG@10, AP, R@1000, TSE, LexiRecall, CWL_ERR10(max_rel=3), RBU@20,
     TOMA(aspects={'credibility':2,'readability':2,'relevance':3})@20]
    """
    return Collection(dataset_id)
