"""The collection embedded in ir_lexirecall as the ir_datasets data set ``lexirecall/demo``.

Importing this module registers it, as community packages of ir_datasets do. ``ir_lexirecall.load``
and the command line know the id without it.

>>> import ir_datasets
>>> import ir_datasets_lexirecall
>>> ir_datasets.load("lexirecall/demo").queries_count()
16
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import ir_datasets
from ir_datasets.datasets.base import Dataset
from ir_datasets.formats import BaseDocs, BaseQrels, BaseQueries, GenericQuery
from ir_datasets.indices import Docstore
from ir_datasets.util.metadata import MetadataComponent, MetadataProvider

from ir_lexirecall import demo

__all__ = ["NAME", "register"]

NAME = "lexirecall/demo"


class DemoDoc(NamedTuple):
    doc_id: str
    title: str
    text: str

    def default_text(self) -> str:
        return f"{self.title} {self.text}"


class DemoQrel(NamedTuple):
    """A judgment of a passage for a subtopic of a query, with two further aspects."""

    query_id: str
    doc_id: str
    relevance: int
    subtopic_id: str
    credibility: int
    readability: int


class _MemoryDocstore(Docstore):  # type: ignore[misc]
    def get_many_iter(self, doc_ids: Any) -> Iterator[DemoDoc]:
        docs = {doc.doc_id: doc for doc in DemoDocs().docs_iter()}
        return (docs[doc_id] for doc_id in doc_ids if doc_id in docs)


class DemoDocs(BaseDocs):  # type: ignore[misc]
    def docs_iter(self) -> Iterator[DemoDoc]:
        return iter([DemoDoc(*row) for row in demo.docs().values.tolist()])

    def docs_cls(self) -> type[DemoDoc]:
        return DemoDoc

    def docs_store(self, *args: Any, **options: Any) -> Docstore:
        return _MemoryDocstore(DemoDoc)

    def docs_lang(self) -> str:
        return "en"


class DemoQueries(BaseQueries):  # type: ignore[misc]
    def queries_iter(self) -> Iterator[GenericQuery]:
        return (GenericQuery(*row) for row in demo.queries().values.tolist())

    def queries_lang(self) -> str:
        return "en"


class DemoQrels(BaseQrels):  # type: ignore[misc]
    def qrels_iter(self) -> Iterator[DemoQrel]:
        return (
            DemoQrel(*row)
            for row in demo.qrels()[list(DemoQrel._fields)].values.tolist()
        )

    def qrels_cls(self) -> type[DemoQrel]:
        return DemoQrel

    def qrels_defs(self) -> dict[int, str]:
        return dict(demo.GRADES)


def register() -> None:
    """Make ir_datasets know the data set; a second call changes nothing."""
    if NAME not in ir_datasets.registry:
        collection = Dataset(DemoDocs(), DemoQueries(), DemoQrels())
        tables = {"docs": demo.docs, "queries": demo.queries, "qrels": demo.qrels}
        counts = MetadataProvider(
            lambda: {
                NAME: {part: {"count": len(read())} for part, read in tables.items()}
            }
        )
        metadata = MetadataComponent(NAME, collection, counts)
        ir_datasets.registry.register(NAME, Dataset(metadata, collection))


register()
