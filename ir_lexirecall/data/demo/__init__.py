"""The embedded collection: passages, queries, graded judgments, and runs.

It has 90 short passages on seven everyday subjects, 16 queries, graded judgments with subtopics and
two further aspects (credibility, readability), and five runs by simple retrieval functions.

Everything was written for this library and comes with it: no network is needed.
"""

from __future__ import annotations

import csv
import os
from contextlib import ExitStack
from pathlib import Path

from ir_lexirecall._util.errors import called, check_choice
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall.io.columns import run_table
from ir_lexirecall.io.files import written_whole

FOLDER = Path(__file__).parent
GRADES = {
    0: "not relevant",
    1: "touches the subtopic",
    2: "answers it in part",
    3: "answers it",
}
RUNS = ("bm25", "bm25_rerank", "ql", "tfidf", "overlap")


def _read(name: str) -> pd.DataFrame:
    """Return a table of the collection."""
    return pd.read_csv(
        FOLDER / name,
        sep="\t",
        quoting=csv.QUOTE_NONE,
        keep_default_na=False,
        dtype={"query_id": str, "doc_id": str, "subtopic_id": str},
    )


def docs() -> pd.DataFrame:
    """Return the passages: ``doc_id``, ``title``, ``text``.

    >>> len(docs())
    90
    """
    return _read("docs.tsv")


def queries() -> pd.DataFrame:
    """Return the queries: ``query_id``, ``text``.

    >>> len(queries())
    16
    """
    return _read("queries.tsv")


def subtopics() -> pd.DataFrame:
    """Return what each subtopic of a query asks for: ``query_id``, ``subtopic_id``, ``text``.

    >>> len(subtopics())
    50
    """
    return _read("subtopics.tsv")


def qrels() -> pd.DataFrame:
    """Return the judgments, a row per query, subtopic and document.

    ``relevance`` is 0-3 for the subtopic, ``credibility`` and ``readability`` 0-2 for the document.
    A document's highest grade comes last, for tools that keep the last one.

    >>> list(qrels().columns)
    ['query_id', 'subtopic_id', 'doc_id', 'relevance', 'credibility', 'readability']
    """
    return _read("qrels.tsv")


@called("demo.run")
def run(name: str) -> pd.DataFrame:
    """Return the run ``name``, one of those in ``RUNS``: ``query_id``, ``doc_id``, ``score``.

    Raises:
        ValueError: there is no run of that name.

    >>> list(run("bm25").columns)
    ['query_id', 'doc_id', 'score']
    """
    check_choice("run", name, RUNS)
    table = run_table(str(FOLDER / "runs" / f"{name}.run"))
    return pd.DataFrame({column: table[column].to_list() for column in table.columns})


def runs() -> dict[str, pd.DataFrame]:
    """All runs by name.

    >>> list(runs())
    ['bm25', 'bm25_rerank', 'ql', 'tfidf', 'overlap']
    """
    return {name: run(name) for name in RUNS}


@called("demo.write")
def write(folder: str | os.PathLike[str]) -> list[str]:
    """Write the collection as files.

    They are ``qrels.txt`` (TREC's columns), a run each such as ``bm25.run``, ``queries.tsv`` and
    ``docs.tsv``.

    ``qrels.txt`` names subtopics in its second column; ``qrels.tsv`` has the two further aspects,
    too.

    Args:
        folder: where; it is made where it is missing.

    Returns:
        The paths of the files.

    Raises:
        ValueError: a file of that name is there already.
    """
    target = Path(folder)
    judged = qrels()[["query_id", "subtopic_id", "doc_id", "relevance"]]
    rows = judged.itertuples(index=False)
    content = {
        "qrels.txt": "".join(
            f"{q} {subtopic} {doc} {grade}\n" for q, subtopic, doc, grade in rows
        )
    }
    files = [
        *(FOLDER / name for name in ("qrels.tsv", "queries.tsv", "docs.tsv")),
        *sorted(FOLDER.glob("runs/*.run")),
    ]
    content |= {file.name: file.read_text(encoding="utf-8") for file in files}
    if there := [name for name in content if (target / name).exists()]:
        raise ValueError(f"{target / there[0]} is there already; name another folder")
    target.mkdir(parents=True, exist_ok=True)
    # Nothing is replaced before everything is written.
    with ExitStack() as stack:
        for name, text in content.items():
            stack.enter_context(written_whole(target / name)).write_text(
                text, encoding="utf-8", newline="\n"
            )
    return [str(target / name) for name in content]
