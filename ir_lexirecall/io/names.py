"""Names of columns: ours, what other programs call them, and what a header says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

RUN_COLUMNS = ("query_id", "doc_id", "score")
QREL_COLUMNS = ("query_id", "doc_id", "relevance")
IDS = ("query_id", "doc_id")
RUN_FIELDS = ("query_id", "iteration", "doc_id", "rank", "score", "tag")
"""Fields of a line of a run in TREC's format."""
ASPECT_COLUMNS = ("subtopic_id", "iteration")
"""Columns of qrels that name the aspect of a row; the first one there counts."""
TEXTS = frozenset(("query_id", "doc_id", "iteration", "subtopic_id", "rank", "tag"))
"""Columns whose values are texts, whatever they look like."""


ALIASES = {
    "qid": "query_id",  # PyTerrier
    "docno": "doc_id",
    "label": "relevance",
    "query-id": "query_id",  # BEIR
    "corpus-id": "doc_id",
    "q_id": "query_id",  # ranx
}
"""Other programs' names for our columns; every reader of runs and qrels takes both.

A name of ours beats them, and an earlier one a later one.
"""
RECORD_ALIASES = {
    **ALIASES,
    "topic_id": "query_id",  # TREC RAG
    "topic": "query_id",  # trec_eval
    "query": "query_id",  # search engines
    "docid": "doc_id",  # Anserini
    "corpus_id": "doc_id",  # sentence-transformers
    "document_id": "doc_id",  # search engines
    "pid": "doc_id",  # ColBERT
    "rel": "relevance",  # trectools
    "grade": "relevance",  # search engines
    "judgment": "relevance",
    "judgement": "relevance",  # Quepid
    "rating": "relevance",  # search engines
}
"""Names that JSON records may use besides.

In tables, ``query`` is a text and ``docid`` a number of PyTerrier's index.
"""
RENAME_HINTS = {
    "user": "query_id",
    "user_id": "query_id",
    "item": "doc_id",
    "item_id": "doc_id",
    "rating": "relevance",
}
"""Names of recommender systems: a message offers to rename them, no reader takes them."""
_NAMES_TO_WRITE = {
    **{name: name for name in (*RUN_COLUMNS, "relevance", "rank", *ALIASES)},
    "position": "rank",
}
"""What to write instead of names in another case, and of `position`, which no reader takes."""
QUERY_NAMES = (
    "query_id",
    "qid",
    "query",
    "topic",
    "topic_id",
    "user",
    "user_id",
    "review",
)
"""Names of a query's id in tables of values."""
RUN_NAMES = (
    "run",
    "run_id",
    "runid",
    "system",
    "model",
    "model_name",
    "recommender",
    "algo",
)
"""Names of a run in tables of values."""
ITEM_NAMES = (
    "doc_id",  # lm-eval
    "instance_id",  # HELM
    "sample_id",
    "question_id",
    "example_id",  # LangSmith, whose `id` is that of an answer
    "dataset_item_id",  # Langfuse
    "id",
    "idx",
    "uid",
)
"""Names of the column with an item's id in tables of values."""
TEXT_NAMES = ("question", "user_input", "input")
"""Names of texts that serve as ids in files without ids, such as those of ragas."""
ID_NAMES = (*ITEM_NAMES, *TEXT_NAMES)
"""Names of the column that names queries, besides `QUERY_NAMES`."""
MEASURE_NAMES, VALUE_NAMES = ("measure", "metric"), ("value", "score")
"""Names of columns in tables with a row per value."""
METRIC_NAMES = frozenset(("query_id", "measure", "value"))
"""Names of the parts of a value of ir_measures."""
TASK_NAMES = ("task", "task_name", "dataset", "collection", "corpus")
"""Names of the column with a task or collection in tables of values."""
GROUP_NAMES = (
    "group",
    "cluster",
    "type",
    "category",
    "language",
    "user",
    "user_id",
    "session",
    "session_id",
)
"""Names of a query's group."""
JUDGMENT_NAMES = (
    ("query_id", "qid", "query", "querytext", "query_text"),
    ("docid", "doc_id", "document_id", "_id", "docno", "id"),
    ("rating", "judgement", "judgment", "grade", "relevance", "label"),
)
"""Names of queries, documents and ratings in the judgment lists of search engines."""
NUGGET_QUERIES = ("qid", "query_id")
NUGGET_DOCUMENTS = ("docid", "doc_id", "docno", "run_id")
"""Names of the fields that hold the query, and the judged text, in assignments of nuggets."""
DOCUMENTS, QUERIES = "documents", "queries"
IDS_OF_TEXTS: dict[str, tuple[str, ...]] = {
    DOCUMENTS: (
        *("doc_id", "docno", "docid", "_id", "id"),
        *("corpus-id", "corpus_id", "pid"),
    ),
    QUERIES: (
        *("query_id", "qid", "_id", "id"),
        *("query-id", "topic_id", "topic", "number"),
    ),
}
NAMES_OF_TEXTS: dict[str, tuple[str, ...]] = {
    DOCUMENTS: (
        *("text", "contents", "content", "body"),
        *("passage", "document", "abstract"),
    ),
    QUERIES: ("query", "text", "title", "question", "description"),
}
"""Names of the ids and the texts of documents and queries; the first one that exists counts."""
_GRADES_ARE_SCORES = ("query-id", "q_id")  # BEIR and ranx call grades scores


def our_names(names: Sequence[str], aliases: Mapping[str, str] = ALIASES) -> list[str]:
    """Return our names of a table's columns.

    A name that is not an alias, or whose column there is already, stays.

    >>> our_names(["qid", "docno", "score"]), our_names(["query_id", "qid"])
    (['query_id', 'doc_id', 'score'], ['query_id', 'qid'])
    """
    renamed = list(names)
    for theirs, ours in aliases.items():
        if theirs in renamed and ours not in renamed:
            renamed = [ours if name == theirs else name for name in renamed]
    return renamed


def grades_may_be_scores(names: Sequence[str]) -> bool:
    """Return whether qrels with these names of columns call grades scores.

    >>> grades_may_be_scores(["query-id", "corpus-id", "score"])
    True
    >>> grades_may_be_scores(["qid", "docno", "score"])
    False
    """
    if "score" not in names or "relevance" in our_names(names):
        return False
    return not {*_GRADES_ARE_SCORES}.isdisjoint(names)


def renaming(names: Sequence[str]) -> str:
    """Return advice to rename columns of recommender systems, or those in another case.

    >>> renaming(["user", "item", "rating"])
    '; rename user to query_id, item to doc_id, rating to relevance'
    >>> renaming(["qid", "DocNo", "position"])
    '; rename DocNo to docno, position to rank'
    >>> renaming(["user", "DocNo"])
    '; rename DocNo to docno'
    """
    renames = [
        f"{name} to {RENAME_HINTS[name]}" for name in names if name in RENAME_HINTS
    ]
    if len(renames) < 2:
        ours = {name: _NAMES_TO_WRITE.get(name.lower(), name) for name in names}
        renames = [f"{name} to {our}" for name, our in ours.items() if our != name]
    return f"; rename {', '.join(renames)}" if renames else ""
