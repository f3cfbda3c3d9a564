"""The embedded collection: ``pt.get_dataset("lexirecall:demo")`` and its ir_datasets form."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyterrier as pt
from pyterrier.datasets._irds import IRDSDataset

from ir_lexirecall import demo

IRDS_NAME = "irds:lexirecall/demo"


class DatasetProvider(pt.datasets.DatasetProvider):  # type: ignore[misc]
    """Finds the data sets ``lexirecall:NAME``."""

    def get_dataset(self, name: str) -> pt.datasets.Dataset:
        """Return the data set of that name; only ``demo`` exists."""
        if name != "demo":
            raise KeyError(
                f"there is no data set lexirecall:{name}; there is lexirecall:demo"
            )
        return DemoDataset()

    def list_dataset_names(self) -> Iterable[str]:
        """Return the names of the data sets."""
        return ["demo"]


class RegisteredDemo(IRDSDataset):  # type: ignore[misc]
    """The embedded collection as PyTerrier reads data sets of ir_datasets.

    The first use registers it with ir_datasets, which has no entry points for data sets.

    >>> pt.get_dataset("irds:lexirecall/demo").irds_ref().queries_count()
    16
    """

    def __init__(self) -> None:
        self._irds_id = IRDS_NAME.partition(":")[2]

    @property
    def _irds_ref(self) -> Any:
        """Return the data set of ir_datasets, where the demo is registered first."""
        import ir_datasets
        import ir_datasets_lexirecall

        ir_datasets_lexirecall.register()
        return ir_datasets.load(self._irds_id)


class DemoDataset(pt.datasets.Dataset):  # type: ignore[misc]
    """The embedded collection with PyTerrier's column names.

    >>> data_set = pt.get_dataset("lexirecall:demo")
    >>> data_set.get_topics().head(1)
       qid                           query
    0  q01  how do bees survive the winter
    """

    def get_corpus_iter(self, *, verbose: bool = True) -> pt.model.IterDict:
        """Return the passages: ``docno``, ``title``, ``text``."""
        passages = (
            demo.docs().rename(columns={"doc_id": "docno"}).to_dict(orient="records")
        )
        if verbose:
            documents = pt.tqdm(passages, desc="lexirecall:demo documents")
        else:
            documents = passages
        return pt.utils.GeneratorLen(iter(documents), len(passages))

    def get_corpus_lang(self) -> str:
        """Return the language of the passages."""
        return "en"

    def get_topics(self, variant: str | None = None) -> pt.model.pd.DataFrame:
        """Return the queries: ``qid``, ``query``."""
        return demo.queries().rename(columns={"query_id": "qid", "text": "query"})

    def get_topics_lang(self) -> str:
        """Return the language of the queries."""
        return "en"

    def get_qrels(self, variant: str | None = None) -> pt.model.pd.DataFrame:
        """Return the judgments: ``qid``, ``docno``, ``label``, ``iteration`` and two aspects.

        ``iteration`` has the subtopics; the aspects are credibility and readability.
        """
        names = {
            "query_id": "qid",
            "doc_id": "docno",
            "relevance": "label",
            "subtopic_id": "iteration",
        }
        return demo.qrels().rename(columns=names)

    def _describe_component(self, component: str) -> bool | None:
        if component in ("topics", "qrels", "corpus"):
            return True
        return None

    def __repr__(self) -> str:
        return "DemoDataset()"
