"""What other programs call the columns of runs and qrels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ir_lexirecall._util.lazy import polars as pl

PYTERRIER = {"qid": "query_id", "docno": "doc_id", "label": "relevance"}
OTHERS = {
    **PYTERRIER,
    "query-id": "query_id",  # BEIR
    "corpus-id": "doc_id",
    "q_id": "query_id",  # ranx
}
"""Other names, and ours."""

_GRADES_ARE_SCORES = ("query-id", "q_id")  # whose tables call the grades of qrels scores


_RECOMMENDERS = {
    "user": "query_id",
    "user_id": "query_id",
    "item": "doc_id",
    "item_id": "doc_id",
    "rating": "relevance",
}


def our_names(names: Sequence[str]) -> list[str]:
    """The names of a table's columns, PyTerrier's as ours.

    >>> our_names(["qid", "docno", "score"]), our_names(["query_id", "qid"])
    (['query_id', 'doc_id', 'score'], ['query_id', 'qid'])
    """
    return [ours if (ours := PYTERRIER.get(name, name)) == name or ours not in names else name for name in names]


def renaming(names: Sequence[str]) -> str:
    """A hint at what columns should be called here that recommender systems call otherwise; empty for others.

    >>> renaming(["user", "item", "rating"])
    '; rename user to query_id, item to doc_id, rating to relevance'
    """
    known = [f"{name} to {_RECOMMENDERS[name]}" for name in names if name in _RECOMMENDERS]
    return f"; rename {', '.join(known)}" if len(known) > 1 else ""


def theirs(needed: tuple[str, ...]) -> set[str]:
    """All names under which a table may have the columns that are needed.

    >>> sorted(theirs(("query_id", "score")))
    ['q_id', 'qid', 'query-id', 'query_id', 'score']
    """
    return {*needed, *(name for name, ours in OTHERS.items() if ours in needed)}


def with_our_names(table: dict[str, pl.Series], needed: tuple[str, ...]) -> dict[str, pl.Series]:
    """A table with our names for the columns that are needed and that it has under another one."""
    names = {name: OTHERS[name] for name in table if OTHERS.get(name) in needed and OTHERS[name] not in table}
    if "relevance" in needed and not {"relevance", "label"} & table.keys() and _has_grades_as_scores(table):
        names["score"] = "relevance"
    if not names:
        return table
    return {names.get(name, name): values.alias(names.get(name, name)) for name, values in table.items()}


def _has_grades_as_scores(table: Mapping[str, pl.Series]) -> bool:
    """Whether a table is named as BEIR's and ranx's qrels are; with fractions among the scores, it is a run."""
    if "score" not in table or not any(name in table for name in _GRADES_ARE_SCORES):
        return False
    score = table["score"]
    if score.dtype.is_float():
        values = score.to_numpy()
        return bool((values == values.round()).all())
    return bool(score.dtype.is_integer())
