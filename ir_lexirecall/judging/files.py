"""What to judge next as files (CSV for assessors' tools, one HTML page to judge in that needs no server), and what was judged, merged.

``page_template`` is what every page in one file is made from.
"""

from __future__ import annotations

import hashlib
import json
import os
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from ir_lexirecall._util.errors import and_more, check_integer, entry, naming, required, shown, warn
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.lazy import polars as pl
from ir_lexirecall.data.collection import DEMO, Collection
from ir_lexirecall.data.judgments import Judgments, QrelsLike, is_judged, load_collection
from ir_lexirecall.io.files import written_whole
from ir_lexirecall.io.id_forms import form_hint
from ir_lexirecall.io.lines import stacked
from ir_lexirecall.io.readers import read_pool
from ir_lexirecall.io.spreadsheets import escaped_table
from ir_lexirecall.io.texts import QUERIES, TextsLike, TextSources, texts_of

_RANK = "rank_"
MOST_GRADES = 10  # that have a key


@entry
def write_pool_csv(
    table: pd.DataFrame,
    path: str | os.PathLike[str],
    *,
    texts: TextsLike | None = None,
    queries: TextsLike | None = None,
) -> Path:
    """Write what ``Comparison.to_judge`` gave as CSV, with texts and an empty column ``relevance`` to fill in.

    Args:
        table: documents to judge, with the columns ``query_id`` and ``doc_id``.
        path: of the file.
        texts: texts of documents: a mapping by document id, a frame, a file (TSV, CSV, JSON lines),
            an id of ir_datasets, its data set or ``docs_store``, a ``Collection``, or PyTerrier's
            data set or ``text_loader``. Only those in the table are looked up. By default those
            that the comparison has (of ``pt.lexirecall.Experiment(..., texts=)``).
        queries: texts of queries, alike (also TREC topics, and PyTerrier's topics); by default
            those of ``texts``, if that is a ``Collection``.

    Returns:
        The file's path. ``merged`` (``--judged``) reads the rows that have a grade in ``relevance``
        then. Texts that a spreadsheet would execute as formulas stand behind an apostrophe; ids
        lose it again when the file is read.

    Raises:
        ValueError: the table lacks a column, or the folder does not exist.
    """
    _check(table, path)
    of_docs, of_queries = _texts(table, texts, queries)
    out = table.copy()
    out.insert(1, "query", [of_queries.get(query_id, "") for query_id in table["query_id"]])
    out.insert(3, "text", [of_docs.get(doc_id, "") for doc_id in table["doc_id"]])
    out.insert(4, "relevance", "")
    with written_whole(path) as temporary:
        escaped_table(out).to_csv(temporary, index=False)
    return Path(path)


@entry
def write_pool_page(
    table: pd.DataFrame,
    path: str | os.PathLike[str],
    *,
    texts: TextsLike | None = None,
    queries: TextsLike | None = None,
    max_rel: int = 1,
    labels: Sequence[str] = (),
    title: str = "Documents to judge",
) -> Path:
    """Write what ``Comparison.to_judge`` gave as one HTML page to judge in.

    The page needs no network and no server. Number keys judge, what was judged is kept in the
    browser, and it is saved as a file of qrels that is merged with the judgments (``merged``).
    Where the runs have a document is folded away, so that it does not sway who judges.

    Args:
        table: documents to judge, with the columns ``query_id``, ``doc_id`` and ``rank_NAME`` for
            runs.
        path, texts, queries: as in ``write_pool_csv``.
        max_rel: top grade of the scale, at most 9.
        labels: what the grades 0, 1, ... mean, at most one for each.
        title: of the page.

    Returns:
        The file's path.

    Raises:
        ModuleNotFoundError: Jinja2 is not installed.
        ValueError: the table lacks a column, the folder does not exist, ``max_rel`` is out of
            range, or there are more labels than grades.
    """
    _check(table, path)
    check_integer("max_rel", max_rel, most=MOST_GRADES - 1)
    _check_labels(labels, max_rel)
    template = page_template("ir_lexirecall.judging", "pool", "a page to judge in")
    of_docs, of_queries = _texts(table, texts, queries)
    ranks = [column for column in table.columns if str(column).startswith(_RANK)]
    ids = table[["query_id", "doc_id"]].to_numpy().tolist()
    places = table[ranks].astype(object).where(table[ranks].notna(), None).to_numpy().tolist()
    pool = {
        "fingerprint": hashlib.sha256(json.dumps(ids).encode("utf-8", "surrogatepass")).hexdigest()[
            :16
        ],
        "runs": [str(column).removeprefix(_RANK) for column in ranks],
        "grades": _labels_of_grades(labels, max_rel),
        "queries": {
            query: of_queries[query] for query in table["query_id"].unique() if query in of_queries
        },
        "documents": [
            {"query": query, "doc": doc, "text": of_docs.get(doc), "ranks": place}
            for (query, doc), place in zip(ids, places, strict=True)
        ],
    }
    page = template.render(title=title, pool=pool)
    with written_whole(path) as temporary:
        temporary.write_text(page, encoding="utf-8", errors="xmlcharrefreplace", newline="\n")
    return Path(path)


def _check_labels(labels: Sequence[str], max_rel: int) -> None:
    """Raise if the labels are not texts, or more than there are grades."""
    if isinstance(labels, str) or not all(isinstance(label, str) for label in labels):
        raise ValueError(
            f"labels must be a list of texts, one for each of the grades 0, 1, ..., not {shown(labels)}"
        )
    if len(labels) > max_rel + 1:
        raise ValueError(
            f"labels: there are {len(labels)}, but the grades are 0 to {max_rel}: {shown(labels[max_rel + 1])} "
            f"has none; give max_rel={len(labels) - 1} (--max-rel), or leave it out"
        )


def _labels_of_grades(labels: Sequence[str], max_rel: int) -> list[str]:
    """Return a label for each of the grades from 0 to `max_rel`, empty where there is none."""
    given = [*labels] or ["not relevant"]
    return given + [""] * (max_rel + 1 - len(given))


def _check(table: pd.DataFrame, path: str | os.PathLike[str]) -> None:
    for column in ("query_id", "doc_id"):
        if column not in getattr(table, "columns", ()):
            raise ValueError(f"the table has no column {column!r}; give the table of to_judge")
    check_folder(path)


def check_folder(path: str | os.PathLike[str]) -> None:
    """Require that there is a folder to write a file into."""
    folder = Path(path).parent
    if not folder.is_dir():
        raise ValueError(f"{os.fspath(path)}: there is no folder {str(folder)!r} to write into")


def page_template(
    package: str, name: str, what: str, filters: Mapping[str, Any] | None = None, **options: Any
) -> Any:
    """The template ``name``.html of a package, which knows the version, and the style and the script beside it with their hashes.

    ``filters`` and ``options`` are of its environment; where Jinja2 is not installed, the error
    says that ``what`` needs it.
    """
    jinja2 = required("jinja2", what, "Jinja2", "report")
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader(package),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        **options,
    )
    environment.filters.update(filters or {})
    environment.globals["version"] = version("ir-lexirecall")
    for kind, ending in (("style", "css"), ("script", "js")):
        asset = (
            files(package)
            .joinpath(f"templates/{name}.{ending}")
            .read_text(encoding="utf-8")
            .strip()
        )
        environment.globals[kind] = asset
        environment.globals[f"{kind}_hash"] = b64encode(
            hashlib.sha256(asset.encode()).digest()
        ).decode()
    return environment.get_template(f"{name}.html")


def _texts(
    table: pd.DataFrame, texts: TextsLike | None, queries: TextsLike | None
) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Texts of documents and of queries, by their ids."""
    if isinstance(known := table.attrs.get("texts"), TextSources):
        texts, queries = (
            known.texts if texts is None else texts,
            known.queries if queries is None else queries,
        )
    if queries is None and isinstance(texts, Collection):
        queries = texts
    sources = [
        load_collection(x) if isinstance(x, str) and x == DEMO else x for x in (texts, queries)
    ]
    of_docs = texts_of(sources[0], map(str, table["doc_id"]))
    return of_docs, texts_of(sources[1], map(str, table["query_id"].unique()), QUERIES)


_KEPT = ("rules", "source", "threshold", "judged_only", "only_relevant", "order")
"""What merged judgments keep of the first ones, beside their queries."""


def merged(judgments: Judgments, more: QrelsLike) -> Judgments:
    """Judgments with those of ``more`` (in any form) added; a document that both judge needs the same grade in both.

    Subtopics, aspects and further columns are left out, with a warning: every document has one
    grade, its highest.

    Raises:
        ValueError: a query or a grade that contradicts the judgments.

    >>> more = merged(Judgments.from_qrels({"q": {"a": 1}}), {"q": {"b": 2, "a": 1}})
    >>> more.doc_ids, more.grade.tolist()
    (['a', 'b'], [1.0, 2.0])
    """
    name = os.fspath(more) if isinstance(more, (str, os.PathLike)) else "the judgments to be added"
    added = _judgments_of(more)
    if judgments.table is not None or added.table is not None:
        warn(f"{name}: merged judgments keep one grade for each document; subtopics are left out")
    unknown = [query_id for query_id in added.query_ids if query_id not in judgments.place]
    if unknown:
        hint = form_hint(unknown, judgments.query_ids, ("added", "qrels'"))
        raise ValueError(
            f"{name}: the qrels have no query {unknown[0]!r}{and_more(len(unknown) - 1)}; their first is "
            f"{judgments.query_ids[0]!r}{f'. {hint}' if hint else ''}"
        )
    with naming(name):
        both = Judgments.from_qrels(_with_grades_over_pooled(_rows(judgments), _rows(added)))
    # Queries without any judged document stay.
    query = np.array([judgments.place[query_id] for query_id in both.query_ids], dtype=np.int64)[
        both.query
    ]
    both = replace(both, query_ids=judgments.query_ids, query=query)
    kept = {name: getattr(judgments, name) for name in _KEPT}
    return replace(both, **kept).excluding(judgments.excluded)


@entry
def merged_judges(a: QrelsLike, b: QrelsLike) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Put together what two judges judged: what they agree on, and the documents to which they gave two grades.

    Args:
        a, b: the judgments of either, in any form that ``evaluate`` takes, or a file of
            ``write_pool_csv`` with grades.

    Returns:
        Judgments (``query_id``, ``doc_id``, ``relevance``) of the documents that both gave the same
        grade, or that one of them judged alone; and disagreements (``query_id``, ``doc_id``,
        ``grade_a``, ``grade_b``), which ``write_pool_page`` takes to be judged again.

    Raises:
        ValueError: bad input, or no query that both judged.

    >>> agreed, differ = merged_judges({"q": {"d": 1, "e": 0, "f": 1}}, {"q": {"d": 1, "e": 2}})
    >>> agreed.values.tolist(), differ.values.tolist()
    ([['q', 'd', 1], ['q', 'f', 1]], [['q', 'e', 0, 2]])
    """
    judged = [_judgments_of(source) for source in (a, b)]
    first, second = (pd.DataFrame(_rows(one).to_dict(as_series=False)) for one in judged)
    if {*first["query_id"]}.isdisjoint(second["query_id"]):
        of_a, of_b = judged[0].query_ids, judged[1].query_ids
        hint = form_hint(of_a, of_b, ("first judge's", "second judge's"))
        raise ValueError(
            "the two judges have no query in common; are these judgments of the same pool? Their first are "
            f"{of_a[0]!r} and {of_b[0]!r}{f'. {hint}' if hint else ''}"
        )
    both = first.merge(
        second, on=["query_id", "doc_id"], how="outer", suffixes=("_a", "_b"), sort=True
    )
    both = both.rename(columns={"relevance_a": "grade_a", "relevance_b": "grade_b"})
    numbers = (
        np.int64 if all(np.all(one.grade == np.round(one.grade)) for one in judged) else np.float64
    )
    judged_a, judged_b = (is_judged(both[name].to_numpy()) for name in ("grade_a", "grade_b"))
    differ = judged_a & judged_b & (both["grade_a"] != both["grade_b"])
    # What a judge left at a negative grade was pooled: the other one's grade counts.
    relevance = both["grade_a"].where(judged_a | both["grade_b"].isna(), both["grade_b"])
    agreed = both[~differ].assign(relevance=relevance[~differ].astype(numbers))
    disputed = both[differ].astype({"grade_a": numbers, "grade_b": numbers}).reset_index(drop=True)
    return agreed[["query_id", "doc_id", "relevance"]].reset_index(drop=True), disputed


def _with_grades_over_pooled(*tables: pl.DataFrame) -> pl.DataFrame:
    """Put judgments together; a document that one of them judged loses the others' negative grades."""
    rows = stacked(tables)
    is_graded = is_judged(rows["relevance"].to_numpy())
    if is_graded.all():
        return rows
    pairs = list(zip(rows["query_id"].to_list(), rows["doc_id"].to_list(), strict=True))
    graded = {pair for pair, known in zip(pairs, is_graded.tolist(), strict=True) if known}
    kept = is_graded | np.array([pair not in graded for pair in pairs])
    return rows[np.flatnonzero(kept)]


def _rows(judgments: Judgments) -> pl.DataFrame:
    """Return the judged documents and their grades, a row each."""
    query_ids = [judgments.query_ids[q] for q in judgments.query.tolist()]
    return pl.DataFrame(
        {"query_id": query_ids, "doc_id": judgments.doc_ids, "relevance": judgments.grade},
        schema={"query_id": pl.String, "doc_id": pl.String, "relevance": pl.Float64},
    )


def _judgments_of(source: QrelsLike) -> Judgments:
    """Return judgments in any form, or those that were filled into a table to judge in."""
    graded = _graded(source)
    if isinstance(source, (str, os.PathLike)) and graded is not source:
        with naming(os.fspath(source)):
            return Judgments.from_qrels(graded)
    return Judgments.from_qrels(graded)


def _graded(source: QrelsLike) -> QrelsLike:
    """Return the graded rows of a table to judge in; other judgments as they are.

    Raises:
        ValueError: no row has a grade, or the table has a fault.
    """
    path = os.fspath(source) if isinstance(source, (str, os.PathLike)) else ""
    pool = read_pool(path)
    if pool is None:
        return source
    graded, n_without = pool
    if not len(graded):
        raise ValueError(f"{path}: no document in it has a grade; fill in the column 'relevance'")
    if n_without:
        n_rows = len(graded) + n_without
        warn(f"{path}: {n_without} of {n_rows} documents have no grade yet and are left out")
    return graded
