"""Write documents to judge as CSV or as an HTML page, and merge judgments.

`page_template` gives the template of every page that is a single file.
"""

from __future__ import annotations

import hashlib
import json
import os
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np

from ir_lexirecall._util.errors import (
    and_more,
    check_integer,
    entry,
    naming,
    required,
    shown,
    warn,
)
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.lazy import polars as pl
from ir_lexirecall._util.paths import is_path
from ir_lexirecall._util.selecting import reading_order, with_keys, without
from ir_lexirecall.data.collection import DEMO, Collection
from ir_lexirecall.data.judgments import (
    Judgments,
    QrelsLike,
    is_judged,
    load_collection,
)
from ir_lexirecall.io.files import written_whole
from ir_lexirecall.io.id_forms import form_hint
from ir_lexirecall.io.lines import stacked
from ir_lexirecall.io.names import QUERIES
from ir_lexirecall.io.readers import read_pool
from ir_lexirecall.io.spreadsheets import write_spreadsheet
from ir_lexirecall.io.texts import TextsLike, TextSources, texts_of

_RANK = "rank_"
MOST_GRADES = 10  # each has a number key on the page


@entry
def write_pool_csv(
    table: pd.DataFrame,
    path: str | os.PathLike[str],
    *,
    texts: TextsLike | None = None,
    queries: TextsLike | None = None,
) -> Path:
    """Write the table of ``Comparison.to_judge`` as CSV, with texts and an empty column of grades.

    Args:
        table: documents to judge, with the columns ``query_id`` and ``doc_id``.
        path: path of the file.
        texts: texts of documents: a mapping by document id, a frame, a file (TSV, CSV, JSON lines),
            an id of ir_datasets, its data set or ``docs_store``, a ``Collection``, or PyTerrier's
            data set or ``text_loader``. Only the documents in the table are looked up. By default
            the texts that the comparison has (of ``pt.lexirecall.Experiment(..., texts=)``).
        queries: texts of queries, in the same forms, or TREC topics or PyTerrier's topics; by
            default those of ``texts``, if it is a ``Collection``.

    Returns:
        The file's path. ``merged`` (``--judged``) reads the rows with a grade in ``relevance``.
        Texts that a spreadsheet would execute as formulas begin with an apostrophe. Ids lose it
        when the file is read.

    Raises:
        ValueError: the table lacks a column, or the folder does not exist.
    """
    _check(table, path)
    text_of_doc, text_of_query = _texts(table, texts, queries)
    pool = table.copy()
    pool.insert(
        1, "query", [text_of_query.get(query_id, "") for query_id in table["query_id"]]
    )
    pool.insert(3, "text", [text_of_doc.get(doc_id, "") for doc_id in table["doc_id"]])
    pool.insert(4, "relevance", "")
    with written_whole(path) as temporary:
        write_spreadsheet(pool, temporary)
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
    """Write the table of ``Comparison.to_judge`` as an HTML page for judging.

    The page needs no network and no server. Number keys judge. The browser keeps the judgments, and
    saves them as a file of qrels that ``merged`` reads. The ranks of documents in the runs are
    folded away, so that they do not sway the judge.

    Args:
        table: documents to judge, with the columns ``query_id``, ``doc_id`` and ``rank_NAME`` for
            runs.
        path: path of the file.
        texts: texts of documents, as in ``write_pool_csv``.
        queries: texts of queries, as in ``write_pool_csv``.
        max_rel: top grade of the scale, at most 9.
        labels: what the grades 0, 1, ... mean, at most one for each. By default from *not relevant*
            to *highly relevant*, on scales of up to 4 grades.
        title: title of the page.

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
    template = page_template("ir_lexirecall.judging", "pool", "a page for judging")
    pool = _content(
        table, _texts(table, texts, queries), _labels_of_grades(labels, max_rel)
    )
    page = template.render(title=title, pool=pool)
    with written_whole(path) as temporary:
        temporary.write_text(
            page, encoding="utf-8", errors="xmlcharrefreplace", newline="\n"
        )
    return Path(path)


def _content(
    table: pd.DataFrame,
    texts: tuple[Mapping[str, str], Mapping[str, str]],
    labels: Sequence[str],
) -> dict[str, Any]:
    """Return what the script of a page for judging reads.

    By its fingerprint, the browser finds the judgments of the same documents again.
    """
    text_of_doc, text_of_query = texts
    columns = [column for column in table.columns if str(column).startswith(_RANK)]
    ranks = (
        table[columns]
        .astype(object)
        .where(table[columns].notna(), None)
        .to_numpy()
        .tolist()
    )
    ids = table[["query_id", "doc_id"]].to_numpy().tolist()
    query_ids = table["query_id"].unique()
    digest = hashlib.sha256(
        json.dumps(ids).encode("utf-8", "surrogatepass")
    ).hexdigest()
    return {
        "fingerprint": digest[:16],
        "runs": [str(column).removeprefix(_RANK) for column in columns],
        "grades": labels,
        "queries": with_keys(text_of_query, query_ids),
        "documents": [
            {
                "query": query_id,
                "doc": doc_id,
                "text": text_of_doc.get(doc_id),
                "ranks": of_doc,
            }
            for (query_id, doc_id), of_doc in zip(ids, ranks, strict=True)
        ],
    }


_DEFAULT_LABELS = {
    1: ["not relevant", "relevant"],
    2: ["not relevant", "relevant", "highly relevant"],
    3: ["not relevant", "marginally relevant", "relevant", "highly relevant"],
}
"""What grades mean by default, by the top grade of the scale."""


def _check_labels(labels: Sequence[str], max_rel: int) -> None:
    """Raise if the labels are not texts, or more than there are grades."""
    if isinstance(labels, str) or not all(isinstance(label, str) for label in labels):
        raise ValueError(
            "labels must be a list of texts, one for each of the grades 0, 1, ..., "
            f"not {shown(labels)}"
        )
    if len(labels) > max_rel + 1:
        raise ValueError(
            f"labels: there are {len(labels)}, but the grades are 0 to {max_rel}: "
            f"{shown(labels[max_rel + 1])} has none; give max_rel={len(labels) - 1} (--max-rel), "
            "or leave it out"
        )


def _labels_of_grades(labels: Sequence[str], max_rel: int) -> list[str]:
    """Return a label for each of the grades from 0 to `max_rel`; an empty one if it is missing."""
    first_labels = [*labels] or _DEFAULT_LABELS.get(max_rel, ["not relevant"])
    return first_labels + [""] * (max_rel + 1 - len(first_labels))


def _check(table: pd.DataFrame, path: str | os.PathLike[str]) -> None:
    """Raise if a table has no documents, or a file cannot be written for want of a folder."""
    for column in ("query_id", "doc_id"):
        if column not in getattr(table, "columns", ()):
            raise ValueError(
                f"the table has no column {column!r}; give the table of to_judge"
            )
    check_folder(path)


def check_folder(path: str | os.PathLike[str]) -> None:
    """Require that a file is named, and that there is a folder to write it into."""
    if not is_path(path):
        raise ValueError(f"path must name a file to write, not {shown(path)}")
    folder = Path(path).parent
    if not folder.is_dir():
        raise ValueError(
            f"{os.fspath(path)}: there is no folder {str(folder)!r} to write into"
        )


def page_template(
    package: str,
    name: str,
    what: str,
    filters: Mapping[str, Any] | None = None,
    **options: Any,
) -> Any:
    """Return a template with its style and script.

    The template knows the version of this library, and the hashes of style and script.

    Args:
        package: the package that has the folder `templates`.
        name: name of the files in it, without their endings.
        what: what needs Jinja2, for the error if it is not installed.
        filters: filters of the template, by name.
        options: further options of Jinja2's environment.
    """
    jinja2 = required("jinja2", what, "Jinja2", "report")
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader(package),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        bytecode_cache=_compiled_templates(),
        **options,
    )
    environment.filters.update(filters or {})
    environment.globals["version"] = version("ir-lexirecall")
    for kind, ending in (("style", "css"), ("script", "js")):
        file = files(package).joinpath(f"templates/{name}.{ending}")
        asset = file.read_text(encoding="utf-8").strip()
        digest = hashlib.sha256(asset.encode()).digest()
        environment.globals[kind] = asset
        environment.globals[f"{kind}_hash"] = b64encode(digest).decode()
    return environment.get_template(f"{name}.html")


@cache
def _compiled_templates() -> Any:
    """Return where Jinja2 keeps compiled templates: in memory, for all pages of this process."""
    import jinja2

    code_of_template: dict[str, Any] = {}

    class InMemory(jinja2.BytecodeCache):  # type: ignore[misc]
        def load_bytecode(self, bucket: Any) -> None:
            bucket.code = code_of_template.get(bucket.key)

        def dump_bytecode(self, bucket: Any) -> None:
            code_of_template[bucket.key] = bucket.code

    return InMemory()


def _texts(
    table: pd.DataFrame, texts: TextsLike | None, queries: TextsLike | None
) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Return the texts of documents and of queries, by id.

    By default, they come from where the comparison has them.
    """
    sources = table.attrs.get("texts")
    if isinstance(sources, TextSources):
        texts = sources.texts if texts is None else texts
        if queries is None:
            queries = sources.queries
    if queries is None and isinstance(texts, Collection):
        queries = texts
    text_of_doc = texts_of(_loaded(texts), map(str, table["doc_id"]))
    query_ids = map(str, table["query_id"].unique())
    return text_of_doc, texts_of(_loaded(queries), query_ids, QUERIES)


def _loaded(texts: TextsLike | None) -> TextsLike | None:
    """Return the collection of the demo for its id; other texts as they are."""
    is_demo = isinstance(texts, str) and texts == DEMO
    if is_demo:
        return load_collection(DEMO)
    return texts


_KEPT = ("rules", "source", "threshold", "judged_only", "only_relevant", "order")
"""Attributes that merged judgments take over from the first ones, besides their queries."""


@entry
def merged(judgments: Judgments, more: QrelsLike) -> Judgments:
    """Add more judgments, in any form, to judgments.

    A document in both needs the same grade in both. Subtopics, aspects and further columns are left
    out, with a warning: every document has one grade, its highest.

    Raises:
        ValueError: a query or a grade that contradicts the judgments.

    >>> more = merged(Judgments.from_qrels({"q": {"a": 1}}), {"q": {"b": 2, "a": 1}})
    >>> more.doc_ids, more.grade.tolist()
    (['a', 'b'], [1.0, 2.0])
    """
    if is_path(more):
        name = os.fspath(more)
    else:
        name = "the judgments to be added"
    added = _judgments_of(more)
    if judgments.table is not None or added.table is not None:
        warn(
            f"{name}: merged judgments keep one grade for each document; subtopics are left out"
        )
    unknown = without(added.query_ids, judgments.place)
    if unknown:
        hint = form_hint(unknown, judgments.query_ids, ("added", "qrels'"))
        raise ValueError(
            f"{name}: the qrels have no query {unknown[0]!r}{and_more(len(unknown) - 1)}; "
            f"their first is {judgments.query_ids[0]!r}{f'. {hint}' if hint else ''}"
        )
    with naming(f"{name} and the judgments before it"):
        both = Judgments.from_qrels(
            _with_grades_over_pooled(_rows(judgments), _rows(added))
        )
    # Queries without any judged document stay.
    index_of_query = [judgments.place[query_id] for query_id in both.query_ids]
    query = np.array(index_of_query, dtype=np.int64)[both.query]
    both = replace(both, query_ids=judgments.query_ids, query=query)
    kept = {name: getattr(judgments, name) for name in _KEPT}
    return replace(both, **kept).excluding(judgments.excluded)


@entry
def merged_judges(a: QrelsLike, b: QrelsLike) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Merge the judgments of two judges, and list their disagreements.

    Args:
        a: judgments of one judge, in any form that ``evaluate`` takes, or a file of
            ``write_pool_csv`` with grades.
        b: judgments of the other judge.

    Returns:
        Judgments (``query_id``, ``doc_id``, ``relevance``) of the documents with the same grade by
        both, or with a grade by one judge only; and disagreements (``query_id``, ``doc_id``,
        ``grade_a``, ``grade_b``), which ``write_pool_page`` takes to be judged again.

    Raises:
        ValueError: bad input, or no query that both judged.

    >>> agreed, differ = merged_judges({"q": {"d": 1, "e": 0, "f": 1}}, {"q": {"d": 1, "e": 2}})
    >>> agreed.values.tolist(), differ.values.tolist()
    ([['q', 'd', 1], ['q', 'f', 1]], [['q', 'e', 0, 2]])
    """
    by_a, by_b = _judgments_of(a), _judgments_of(b)
    both = _grades_of_both(by_a, by_b)
    are_whole = all(np.all(one.grade == np.round(one.grade)) for one in (by_a, by_b))
    kind = np.int64 if are_whole else np.float64

    judged_a = is_judged(both["grade_a"].to_numpy())
    judged_b = is_judged(both["grade_b"].to_numpy())
    differ = judged_a & judged_b & (both["grade_a"] != both["grade_b"])
    # A document with a negative grade was pooled but not judged: the other judge's grade counts.
    relevance = both["grade_a"].where(
        judged_a | both["grade_b"].isna(), both["grade_b"]
    )
    agreed = both[~differ].assign(relevance=relevance[~differ].astype(kind))
    disputed = (
        both[differ].astype({"grade_a": kind, "grade_b": kind}).reset_index(drop=True)
    )
    return agreed[["query_id", "doc_id", "relevance"]].reset_index(drop=True), disputed


def _grades_of_both(a: Judgments, b: Judgments) -> pd.DataFrame:
    """Return the grades that two judges gave, a row for each document that either judged.

    Raises:
        ValueError: no query was judged by both.
    """
    first, second = (
        pd.DataFrame(_rows(one).to_dict(as_series=False)) for one in (a, b)
    )
    if {*first["query_id"]}.isdisjoint(second["query_id"]):
        hint = form_hint(a.query_ids, b.query_ids, ("first judge's", "second judge's"))
        raise ValueError(
            "the two judges have no query in common; are these judgments of the same pool? Their "
            f"first are {a.query_ids[0]!r} and {b.query_ids[0]!r}{f'. {hint}' if hint else ''}"
        )
    ids = ["query_id", "doc_id"]
    both = first.merge(second, on=ids, how="outer", suffixes=("_a", "_b"), sort=True)
    both = both.rename(columns={"relevance_a": "grade_a", "relevance_b": "grade_b"})
    return both.iloc[reading_order(both["query_id"].tolist())].reset_index(drop=True)


def _with_grades_over_pooled(*tables: pl.DataFrame) -> pl.DataFrame:
    """Stack judgments; negative grades count where nobody judged, and the first one of several."""
    rows = stacked(tables)
    is_graded = is_judged(rows["relevance"].to_numpy())
    if is_graded.all():
        return rows
    pairs = list(zip(rows["query_id"].to_list(), rows["doc_id"].to_list(), strict=True))
    taken = set(compress(pairs, is_graded.tolist()))
    kept = []
    for row, pair in enumerate(pairs):
        if is_graded[row] or pair not in taken:
            kept.append(row)
        taken.add(pair)
    return rows[kept]


def _rows(judgments: Judgments) -> pl.DataFrame:
    """Return the judged documents and their grades, a row each."""
    query_ids = [judgments.query_ids[q] for q in judgments.query.tolist()]
    return pl.DataFrame(
        {
            "query_id": query_ids,
            "doc_id": judgments.doc_ids,
            "relevance": judgments.grade,
        },
        schema={"query_id": pl.String, "doc_id": pl.String, "relevance": pl.Float64},
    )


def _judgments_of(source: QrelsLike) -> Judgments:
    """Return judgments in any form, or those that were filled into a table for judging."""
    if not is_path(source):
        return Judgments.from_qrels(source)
    path = os.fspath(source)
    pool = read_pool(path)
    if pool is None:
        return Judgments.from_qrels(source)
    _check_graded(path, *pool)
    with naming(path):
        return Judgments.from_qrels(pool[0])


def _check_graded(path: str, graded: pl.DataFrame, n_without: int) -> None:
    """Raise if no document of a table for judging has a grade; warn of some without."""
    if not len(graded):
        raise ValueError(
            f"{path}: no document in it has a grade; fill in the column 'relevance'"
        )
    if n_without:
        n_rows = len(graded) + n_without
        warn(
            f"{path}: {n_without} of {n_rows} documents have no grade yet and are left out"
        )
