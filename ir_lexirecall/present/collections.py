"""What a collection holds, in sentences."""

from __future__ import annotations

from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall.data.collection import Collection
from ir_lexirecall.present.findings import Finding
from ir_lexirecall.present.notes import ASIDE, DOUBTFUL, Note, gravest_first
from ir_lexirecall.present.words import count, listed


def collection_finding(collection: Collection) -> Finding:
    """What the ``summary`` of a collection says."""
    qrels, relevant = collection.qrels, collection.relevant_by_query
    documents = len(qrels[["query_id", "doc_id"]].drop_duplicates())
    some = relevant[relevant > 0]
    sentences = [
        f"{collection.dataset_id}: {count(len(collection.queries), 'query')}, {len(relevant):,} of them judged."
    ]
    size = f", of {collection.n:,} documents in the collection" if collection.n is not None else ""
    sentences.append(f"{count(documents, 'judgment')}{size}.")
    if len(some):
        spread = f"{some.min():,} to {some.max():,} (median {some.median():g})"
        sentences.append(
            f"Relevant documents of a query: {spread}, from grade {collection.rel} on; the top grade is {collection.max_rel}."
        )
    if collection.has_subtopics:
        sentences.append("Documents are judged for each subtopic of a query.")
    if collection.aspects:
        aspects = [f"{name} (top grade {top})" for name, top in collection.aspects.items()]
        sentences.append(f"Judged aspects: {listed(aspects)}.")
    if collection.rules:
        sentences.append(f"Rankings are evaluated {collection.rules}.")
    sentences.append(
        f"Recommended measures: {listed([str(measure) for measure in collection.recommended()], most=20)}."
    )
    notes = []
    if without := len(relevant) - len(some):
        notes.append(
            Note(f"{count(without, 'judged query')} without a relevant document: no part in comparisons.", ASIDE)
        )
    if len(some) < 25:
        notes.append(Note(f"Only {count(len(some), 'query')}: a test sees no difference but a large one.", DOUBTFUL))
    if len(some) and some.median() < 3:
        noun = "document" if some.median() == 1 else "documents"
        notes.append(Note(f"Half of the queries have at most {some.median():g} relevant {noun}."))
    grades = qrels["relevance"].value_counts().sort_index(ascending=False)
    table = pd.DataFrame({"grade": grades.index.astype(str), "judgments": grades.to_numpy()})
    return Finding(sentences, gravest_first(notes), table, title="Judgments by grade of relevance:")
