"""Qrels and runs of any format as columns: the one place that knows formats of users.

A run or qrels may be a path, a pandas, Polars or Arrow table, a dict of dicts, an iterable of named
tuples or dicts (a generator too), or what other programs hold. ``source.what_is`` tells them apart;
what comes out here are columns with string ids and checked numbers. Small ones become plain lists,
without a query engine.
"""

from __future__ import annotations

import contextlib
import struct
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from math import nan
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ir_lexirecall._util import engine
from ir_lexirecall._util.arrays import starts_segment
from ir_lexirecall._util.errors import (
    all_repeated,
    and_more,
    check_text,
    naming,
    shown,
    shown_names,
    warn,
)
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.lazy import polars as pl
from ir_lexirecall._util.paths import PathLike
from ir_lexirecall.io.cells import grade_of, id_of, number_of, text_hint
from ir_lexirecall.io.id_forms import are_plain
from ir_lexirecall.io.lines import stacked
from ir_lexirecall.io.names import grades_may_be_scores, our_names, renaming
from ir_lexirecall.io.readers import format_of
from ir_lexirecall.io.schemas import PAIRS, QRELS, RANKED_RUN, RUN, Schema
from ir_lexirecall.io.source import Columns, Kind, Source, what_is

TableLike: TypeAlias = PathLike | Mapping[Any, Mapping[Any, Any]] | Iterable[Any]
"""Everything that can be read as a table.

A path, a pandas, Polars or Arrow table, a dict of dicts, an iterable of named tuples or of dicts,
or an object that holds one of these (DuckDB, Hugging Face, ranx, trectools, Pyserini's hits).
"""
_ROWS_OF_A_QUERY = 8
"""One query id in so many rows of a run is checked: most rows repeat the one above."""
_FEW_ROWS = 4096  # of a table that is read without a query engine
# By what was read, the column that it lacks, and whether there are grades and scores.
_LOOKS = {
    ("score", "score", True, False): "; this looks like qrels, not a run",
    ("relevance", "relevance", False, True): "; this looks like a run, not qrels",
}


def read_columns(source: Source, schema: Schema) -> Iterator[pl.DataFrame]:
    """Yield the columns that a schema needs, some million rows at a time, in input order.

    Ids are texts, and needed numbers float64 and finite. Further columns that the schema keeps are
    as they were. A run that has ranks and no scores gets negative ranks as scores.

    Raises:
        ValueError: a column is missing, or a value is not an id or a number.
    """
    if source.kind is not Kind.FILES:
        yield checked_columns(source.columns(schema), schema)
        return
    for file in source.data:
        row = 1
        for table in format_of(file).read(file, schema):
            with naming(file.path):
                columns = list(table.to_dict().items())
                checked = checked_columns(columns, schema, row, f"{file.path}: ")
            if schema is RUN and file.oddity.is_possible and not file.oddity.is_sure:
                file.oddity.is_sure = has_odd(checked)
            yield checked
            row += len(table)


def has_odd(table: pl.DataFrame) -> bool:
    """Return whether a run has ids that are not plain ASCII, or have blanks around them.

    All document ids are checked, and the query ids of some rows.
    """
    query_ids, doc_ids = table["query_id"], table["doc_id"]
    if not engine.computes():
        return not are_plain(query_ids.to_list() + doc_ids.to_list())
    if len(table) > _FEW_ROWS:
        query_ids = query_ids[::_ROWS_OF_A_QUERY]
    return any(bool(are_odd(ids).any()) for ids in (query_ids, doc_ids))


def are_odd(ids: pl.Series) -> pl.Series:
    r"""Return which ids hold anything but printable ASCII, or have blanks around them.

    >>> are_odd(pl.Series(["d 1", "d1 ", "caf\u00e9", "d1\0"])).to_list()
    [False, True, True, True]
    """
    if not engine.computes():
        return pl.Series(
            [not are_plain([one]) for one in ids.to_list()], dtype=pl.Boolean
        )
    return ids.str.contains(r"^ |[^ -~]| $")


def read_table(source: Source, schema: Schema) -> pl.DataFrame:
    """Return all rows at once; see ``read_columns``."""
    return stacked([*read_columns(source, schema)])


def run_table(run: TableLike) -> pl.DataFrame:
    """Return any run as ``query_id``, ``doc_id`` and ``score``, in input order."""
    return read_table(what_is(run, RUN), RUN)


def qrel_table(qrels: TableLike) -> pl.DataFrame:
    """Return any qrels as ``query_id``, ``doc_id``, ``relevance`` and further columns."""
    return read_table(what_is(qrels, QRELS), QRELS)


def id_pairs(data: TableLike) -> list[tuple[str, str]]:
    """Return the ids of every row of a table with the columns ``query_id`` and ``doc_id``."""
    table = read_table(what_is(data, PAIRS), PAIRS)
    return list(
        zip(table["query_id"].to_list(), table["doc_id"].to_list(), strict=True)
    )


def head(source: Source, schema: Schema, rows: int) -> pl.DataFrame:
    """Return the first rows of a source that can be read again."""
    return next(read_columns(source, schema))[:rows]


def checked_columns(
    columns: Columns, schema: Schema, first_row: int = 1, label: str = "run: "
) -> pl.DataFrame:
    """Return the columns that the schema needs, checked, and further ones if it keeps them.

    Args:
        columns: names, as they are written, and values.
        schema: what is needed.
        first_row: the number of the first row in messages.
        label: what warnings begin with.
    """
    table = _needed_columns(columns, schema)
    what = schema.what
    ids = {name: _ids(table[name], what, first_row) for name in ("query_id", "doc_id")}
    if schema.of_qrels:
        grades = _numbers(table["relevance"], what, ids, grade_of)
        return pl.DataFrame({**table, **ids, "relevance": grades})
    if "score" in table:
        return pl.DataFrame({**ids, "score": _numbers(table["score"], what, ids)})
    if "rank" in table:
        ranks = _numbers(table["rank"], what, ids)
        _check_not_negative(ranks, what, ids)
        _warn_of_equal_ranks(ids["query_id"], ranks, label)
        return pl.DataFrame({**ids, "score": -ranks.to_numpy()})
    return pl.DataFrame(ids)


def _check_not_negative(
    ranks: pl.Series, what: str, ids: Mapping[str, pl.Series]
) -> None:
    """Raise if a rank is below 0, as scores are that somebody made of ranks."""
    negative = (ranks < 0).arg_true()
    if len(negative):
        first = int(negative[0])
        raise ValueError(
            f"{what}: the rank of document {shown(ids['doc_id'][first])} for query "
            f"{shown(ids['query_id'][first])} is {ranks[first]:g}, below 0"
            f"{and_more(len(negative) - 1)}; call the column score if larger is better"
        )


def _warn_of_equal_ranks(query_ids: pl.Series, ranks: pl.Series, label: str) -> None:
    """Warn if a query has a rank twice: such documents are taken for tied."""
    pairs = zip(query_ids.to_list(), ranks.to_list(), strict=True)
    repeated = all_repeated(pairs)
    if repeated:
        query_id, rank = repeated[0]
        warn(
            f"{label}query {shown(query_id)} has the rank {rank:g} twice"
            f"{and_more(len(repeated) - 1)}; documents of one rank count as tied"
        )


def _needed_columns(columns: Columns, schema: Schema) -> dict[str, pl.Series]:
    """Return the columns that the schema needs, and further ones if it keeps them.

    Their values are unchecked.

    A run that has ranks and no scores gives its ranks.

    Raises:
        ValueError: the table lacks a needed column or has it twice.
    """
    names = [
        check_text(name, f"{schema.what}: names of columns") for name, _ in columns
    ]
    renamed = _renamed(names, columns, schema)
    needed = schema.needed
    if schema.what == "run" and "score" not in renamed and "rank" in renamed:
        needed = RANKED_RUN.needed
    kept = set(needed)
    if schema.further:
        kept = set(renamed)
    _check_columns(names, renamed, needed, kept, schema)
    pairs = zip(renamed, columns, strict=True)
    return {name: _series(name, values) for name, (_, values) in pairs if name in kept}


def _renamed(names: Sequence[str], columns: Columns, schema: Schema) -> list[str]:
    """Return our names of columns that the schema needs; the others keep theirs."""
    our_name = {}
    for name, ours in zip(names, our_names(names), strict=True):
        our_name[name] = ours if ours in schema.needed else name
    if "relevance" in schema.needed and grades_may_be_scores(names):
        scores = next(values for name, values in columns if name == "score")
        # With fractions among the scores, it is a run.
        if _are_whole(_series("score", scores)):
            our_name["score"] = "relevance"
    return [our_name[name] for name in names]


def _are_whole(numbers: pl.Series) -> bool:
    """Return whether all are whole numbers."""
    if not numbers.dtype.is_float():
        return numbers.dtype.is_integer()
    values = numbers.to_numpy()
    return bool((values == values.round()).all())


def _check_columns(
    names: Sequence[str],
    renamed: Sequence[str],
    needed: Sequence[str],
    kept: set[str],
    schema: Schema,
) -> None:
    """Raise if a kept column occurs twice, or a needed one is missing."""
    ours = dict(zip(names, renamed, strict=True))
    twice = all_repeated(name for name in names if ours[name] in kept)
    if twice:
        raise ValueError(
            f"{schema.what}: the column {twice[0]!r} occurs twice{and_more(len(twice) - 1)}; "
            "keep one"
        )
    missing = [name for name in needed if name not in renamed]
    if missing:
        has_grades = "relevance" in names or "label" in names
        hint = renaming(names)
        if not hint:
            looks = (needed[-1], missing[-1], has_grades, "score" in names)
            hint = _LOOKS.get(looks, "")
        if not {name.strip() for name in names}.isdisjoint(missing):
            hint = "; take the blanks around names of columns away"
        raise ValueError(
            f"{schema.what} lacks the column {missing[0]!r}: it has {shown_names(names)}"
            f"{hint}"
        )


def _series(name: str, values: Any) -> pl.Series:
    """Return a list, or a column, as a Polars one, of objects if values are of several types."""
    if isinstance(values, pl.Series):
        return values.alias(name)
    if hasattr(values, "to_numpy"):
        return _series_of_column(name, values)
    return _series_of_list(name, values)


def _series_of_column(name: str, values: Any) -> pl.Series:
    """Return a column of pandas, or an array, as a Polars column."""
    dtype = getattr(values, "dtype", None)
    kind = dtype.kind if isinstance(dtype, np.dtype) else ""
    if kind and kind in "iuf":
        return pl.Series(name, _native_numbers(values.to_numpy()))
    if kind != "O":
        # Without PyArrow to translate with, or of an extension type that it does not know, they
        # are objects.
        with contextlib.suppress(
            ImportError,
            TypeError,
            ValueError,
            NotImplementedError,  # of Arrow, such as for complex numbers
            pl.exceptions.PolarsError,
        ):
            return pl.Series(name, values)
    objects = values.to_numpy(dtype=object)
    try:
        return pl.Series(name, objects, dtype=pl.String, strict=True)
    except (TypeError, UnicodeEncodeError, pl.exceptions.PolarsError):
        return _series_of_list(name, objects.tolist())


def _native_numbers(numbers: NDArray[Any]) -> NDArray[Any]:
    """Return numbers in a type that Polars has.

    It has no floats of 16 or 128 bits, nor numbers in the order of bytes of another machine.
    """
    if numbers.dtype.kind == "f" and numbers.dtype.itemsize not in (4, 8):
        return numbers.astype(np.float64)
    return numbers.astype(numbers.dtype.newbyteorder("="), copy=False)


def _series_of_list(name: str, values: Any) -> pl.Series:
    """Return a list as a Polars column, of objects if its values are of several types."""
    first = next(iter(values), None)
    if isinstance(first, Decimal):  # Polars panics at a decimal NaN
        return pl.Series(name, values, dtype=pl.Object)
    try:
        series = pl.Series(name, values, strict=True)
    except (
        TypeError,
        OverflowError,
        UnicodeEncodeError,
        pl.exceptions.PolarsError,
        pl.exceptions.PanicException,
    ):
        return pl.Series(name, values, dtype=pl.Object)
    if series.dtype.is_numeric() and not {bool, np.bool_}.isdisjoint(map(type, values)):
        # Polars takes True after a number for 1.
        return pl.Series(name, values, dtype=pl.Object)
    return series


def _ids(values: pl.Series, what: str, first_row: int) -> pl.Series:
    """Ids as strings: strings stay, integers become decimal strings, everything else is refused."""
    is_text = values.dtype == pl.String
    if not values.null_count() and not (is_text and (values == "").any()):
        if is_text:
            return values
        if values.dtype.is_integer():
            new = starts_segment(values)
            if 4 * np.count_nonzero(new) > len(values):
                return values.cast(pl.String)
            # Where ids repeat, as queries do, each stretch is printed once.
            return values.filter(pl.Series(new)).cast(pl.String)[np.cumsum(new) - 1]
        if values.dtype in (pl.Categorical, pl.Enum):
            return values.cast(pl.String)
    texts = []
    for row, value in enumerate(values.to_list(), start=first_row):
        try:
            texts.append(id_of(value))
        except ValueError as error:
            raise ValueError(
                f"{what}: row {row} has no usable {values.name}: {error}"
            ) from None
    return pl.Series(values.name, texts, dtype=pl.String)


def _numbers(
    values: pl.Series,
    what: str,
    ids: Mapping[str, pl.Series],
    parse: Callable[[Any], float | None] = number_of,
) -> pl.Series:
    """Return scores or grades as float64.

    Raises:
        ValueError: a value is not a finite number.
    """
    name, column = values.name, values
    if not values.dtype.is_numeric():
        column = pl.Series(
            name, [parse(value) for value in values.to_list()], dtype=pl.Float64
        )
    column = column.cast(pl.Float64)
    bad = ~np.isfinite(column.to_numpy())
    if bad.any():
        first = int(bad.argmax())
        raise ValueError(
            f"{what}: the {name} of document {shown(ids['doc_id'][first])} for query "
            f"{shown(ids['query_id'][first])} is {shown(values[first])}, not a finite number"
            f"{and_more(int(bad.sum()) - 1)}{_kind_hint(what, values[first])}"
        )
    return column


def _kind_hint(what: str, value: Any) -> str:
    """Return advice on texts, or on runs or qrels by name where one run or qrels are expected."""
    if not isinstance(value, Mapping):
        return text_hint(value)
    takes = {"run": "runs by name; compare", "qrels": "collections by name; benchmark"}
    if what not in takes:
        return ""
    return f"; these look like {takes[what]} takes them"


def top_k(
    query_ids: Sequence[Any],
    documents: Any,
    scores: Any,
    *,
    names: Sequence[Any] | None = None,
) -> pd.DataFrame:
    """Return the arrays of a search, the k best documents and their scores, as a run.

    Args:
        query_ids: the ids of the Q queries.
        documents: ids of documents, shape ``(Q, k)``; or, with ``names``, their indices; negative
            indices are skipped (FAISS fills short lists with them).
        scores: the scores, shape ``(Q, k)``, in any order.
        names: the ids of all documents, in the index's order.

    Returns:
        A table with a row per retrieved document: ``query_id``, ``doc_id``, ``score``.

    Raises:
        ValueError: shapes that do not fit, or an index without a name.

    >>> top_k(["q1", "q2"], [[2, 0], [1, -1]], [[0.9, 0.5], [0.7, -1.0]], names=["a", "b", "c"])
      query_id doc_id  score
    0       q1      c    0.9
    1       q1      a    0.5
    2       q2      b    0.7
    """
    docs, values = np.asarray(documents), np.asarray(scores)
    if docs.ndim != 2 or docs.shape != values.shape or len(docs) != len(query_ids):
        raise ValueError(
            "top_k: documents and scores must both have the shape (Q, k), with a row per query; "
            f"they have {docs.shape} and {values.shape} for {len(query_ids)} queries"
        )
    are_indices = docs.dtype.kind in "iu"
    retrieved = docs >= 0 if are_indices else np.ones(docs.shape, dtype=bool)
    doc_ids = docs[retrieved]
    if names is not None:
        if not are_indices or np.any(docs >= len(names)):
            raise ValueError(
                f"top_k: with names, documents must be places below their number, {len(names)}"
            )
        doc_ids = np.asarray(names)[doc_ids]
    queries = np.repeat(np.asarray(query_ids), retrieved.sum(axis=1))
    return pd.DataFrame(
        {"query_id": queries, "doc_id": doc_ids, "score": values[retrieved]}
    )


# -- small ones as plain lists ---------------------------------------------------------------------


def plain_columns(columns: Columns, schema: Schema) -> dict[str, list[Any]] | None:
    """Return the columns of a small table as plain lists; None if the general way has to read it.

    So small inputs need no query engine, whose start would take longer than their evaluation.
    Whatever is odd is left to ``checked_columns``, which names the offender: more rows, columns
    other than those needed (in qrels also one of aspects), ids that are neither all strings nor
    all integers, aspects that are not strings. An iteration of ``"0"`` says nothing and is left
    out.
    """
    names = our_names([name for name, _ in columns])
    if not _are_plain_names(names, schema) or len(columns[0][1]) > _FEW_ROWS:
        return None
    plain = {}
    for name, (_, values) in zip(names, columns, strict=True):
        if not isinstance(values, list):
            if not hasattr(values, "tolist"):
                return None
            values = values.tolist()
        plain[name] = values
    for name in plain.keys() - schema.numbers:
        ids = _plain_ids(plain[name], integers=name in schema.needed)
        if ids is None:
            return None
        plain[name] = ids
    if set(plain.get("iteration", ())) == {"0"}:
        del plain["iteration"]
    return plain


def _are_plain_names(names: Sequence[str], schema: Schema) -> bool:
    """Return whether columns are those needed, and at most one of aspects, each of them once."""
    further = set(names) - set(schema.needed)
    if len(names) > len(set(names)) or not set(schema.needed) <= set(names):
        return False
    return len(further) <= 1 and further <= set(schema.aspects)


def nested_columns(
    columns: Mapping[str, list[Any]],
) -> dict[str, dict[str, Any]] | None:
    """Return three columns as a dict of dicts; None if there are more, or a row occurs twice.

    >>> nested_columns({"query_id": ["q", "q"], "doc_id": ["a", "b"], "score": [2.0, 1.0]})
    {'q': {'a': 2.0, 'b': 1.0}}
    """
    if len(columns) > 3:
        return None
    query_ids, doc_ids = columns["query_id"], columns["doc_id"]
    [numbers] = [columns[name] for name in columns.keys() - {"query_id", "doc_id"}]
    nested: defaultdict[str, dict[str, Any]] = defaultdict(dict)
    for query_id, doc_id, number in zip(query_ids, doc_ids, numbers, strict=True):
        nested[query_id][doc_id] = number
    if sum(map(len, nested.values())) == len(doc_ids):
        return dict(nested)
    return None


def _plain_ids(values: list[Any], *, integers: bool) -> list[str] | None:
    """Return ids as texts; None unless all are plain texts, or integers if these may be ids."""
    kinds = set(map(type, values))
    if kinds == {int} and integers:
        return list(map(str, values))
    if kinds == {str} and "".join(values).isascii() and "" not in values:
        return values
    return None


def packed_numbers(rows: Iterable[Sequence[Any]]) -> NDArray[np.float64] | None:
    """Return the numbers of several sequences, one after the other, as float64.

    What is not a number gives NaN. None if a number is too large.

    Sequences that are made on the way are checked and packed while the processor's cache still has
    them.
    """
    packed = []
    for row in rows:
        kinds = list(map(type, row))
        if kinds.count(float) < len(row) and not set(kinds) <= {float, int}:
            numbers = map(number_of, row)
            row = [nan if number is None else number for number in numbers]
        try:
            packed.append(struct.pack(f"{len(row)}d", *row))
        except (OverflowError, struct.error):
            return None
    return np.frombuffer(b"".join(packed))
