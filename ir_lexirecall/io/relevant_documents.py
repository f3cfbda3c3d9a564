"""Qrels as sets of relevant documents, as sentence-transformers keeps them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

import numpy as np

from ir_lexirecall._util.errors import naming, shown

RELEVANT = 1
"""Grade of a document that is only said to be relevant."""


def with_grades(qrels: Any) -> Any:
    """Return qrels with a grade for each document; anything but relevant documents stays as it is.

    Args:
        qrels: a mapping of query ids to documents: dicts of grades, or sets, lists or tuples of
            ids; or any other form of qrels.

    Raises:
        ValueError: a query has something among its documents that is not an id.

    >>> with_grades({"q1": ["a", "b"], "q2": {"c": 2}})
    {'q1': {'a': 1, 'b': 1}, 'q2': {'c': 2}}
    """
    if not isinstance(qrels, Mapping):
        return qrels
    only_dicts = set(map(type, qrels.values())) == {dict}
    if only_dicts or not any(map(lists_ids, qrels.values())):
        return qrels
    graded = dict(qrels)
    for query_id, documents in qrels.items():
        if lists_ids(documents):
            graded[query_id] = _graded(query_id, documents)
    return graded


def lists_ids(documents: Any) -> bool:
    """Return whether the documents of a query are listed without grades."""
    if isinstance(documents, np.ndarray):
        return documents.ndim == 1 and documents.dtype.names is None
    return isinstance(documents, (list, tuple, Set))


def _graded(query_id: Any, documents: Iterable[Any]) -> dict[Any, int]:
    """Return the documents of a query with the grade of relevant ones."""
    ids = documents.tolist() if isinstance(documents, np.ndarray) else list(documents)
    label = f"qrels: query {shown(query_id)}"
    for doc_id in ids:
        if isinstance(doc_id, (list, tuple, Mapping, Set)):
            raise ValueError(
                f"{label} has {shown(doc_id)} among its relevant documents; "
                "give their ids, or {query: {document: grade}}"
            )
    with naming(label):
        check_listed(ids)
    return dict.fromkeys(ids, RELEVANT)


def check_listed(ids: Sequence[Any]) -> None:
    """Raise if what is listed as relevant cannot be ids: labels, or a document and its grade.

    >>> check_listed([1, 0, 1])
    Traceback (most recent call last):
    ValueError: expected ids of relevant documents, got 1, 0, 1, which look like labels; give the
    ids of those that are relevant, or {document: grade}
    """
    kinds = {type(one) for one in ids}
    has_words = any(isinstance(one, str) and not one.isdecimal() for one in ids)
    if int in kinds and has_words:
        raise ValueError(
            f"expected ids of relevant documents, got {_some(ids)}, of which some are words and "
            "some are numbers; give ids of one kind, or {document: grade}"
        )
    if kinds == {int} and len({0, 1, *ids}) == 2 and len(ids) > len({*ids}):
        raise ValueError(
            f"expected ids of relevant documents, got {_some(ids)}, which look like labels; give "
            "the ids of those that are relevant, or {document: grade}"
        )


def _some(ids: Sequence[Any]) -> str:
    """Return the first of some ids for a message."""
    return ", ".join(map(shown, ids[:5])) + (", ..." if len(ids) > 5 else "")
