"""Blocks of text as columns: lines of fields between blanks, and tables (CSV, TSV) with a header.

A file is read a few million bytes at a time. Regular text (single blanks, no quotes within quotes)
goes straight to a columnar parser. What that does not take is read value by value: the slow way,
which knows every rule, names the line that breaks one, and serves where Polars cannot compute.
"""

from __future__ import annotations

import contextlib
import csv
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, compress
from typing import Any, TypeAlias

import numpy as np

from ir_lexirecall._util import engine
from ir_lexirecall._util.errors import and_more, counted, shown
from ir_lexirecall._util.lazy import polars as pl
from ir_lexirecall.io.cells import (
    grade_of_text,
    number_hint,
    number_of_text,
    unquoted,
)
from ir_lexirecall.io.checks import check_names, check_not_cut
from ir_lexirecall.io.files import BLANKS, Location, naming_lines
from ir_lexirecall.io.names import (
    QREL_COLUMNS,
    RUN_FIELDS,
    TEXTS,
    grades_may_be_scores,
    our_names,
    renaming,
)
from ir_lexirecall.io.schemas import RANKED_RUN, RUN, Cut, Schema

NumberedRow: TypeAlias = tuple[int, list[str]]
"""The number of a row's first line, and its fields."""
_WHITE = bytes.maketrans(b"\t\r\v\f", b"    ")
# Empty lines and comments, ir-metadata among them.
_ON_TOP = re.compile(rb"(?:[ \t\r\v\f]*+(?:#[^\n]*+|[ \t\r\v\f,;]*+)\n)*+")
_COMMENT = re.compile(rb"^[ \t\r\v\f]*#[^\n]*", re.MULTILINE)
_SEPARATORS = {".csv": (",", ";", "\t", "|"), ".tsv": ("\t", ",", ";")}
_ANY_SEPARATOR = (",", "\t", ";")
_SEPARATOR_NAMES = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_REGULAR_QUOTES = {
    separator: re.compile(
        rb'(?<![^%(part)s\n])"[^"\n]*"(?![^%(part)s\r\n])'
        % {b"part": separator.encode()}
    )
    for separator in _SEPARATOR_NAMES
}
_EMPTY_LINES = {
    separator: re.compile(
        rb"\n[ \t\v\f%(part)s]*(?=\n)" % {b"part": separator.encode()}
    )
    for separator in _SEPARATOR_NAMES
}
"""For each separator, a pattern of lines without values, as Excel writes for empty rows."""
BEIR = ("query-id", "corpus-id", "score")
"""The header of BEIR's qrels."""
_QREL_FIELDS = ("query_id", "iteration", "doc_id", "relevance")
_RANKED = ("query_id", "doc_id", "rank")
_RUN_WIDTH, _QRELS_WIDTH = len(RUN_FIELDS), len(_QREL_FIELDS)
_WIDTH_HINTS = {
    (_RUN_WIDTH, _QRELS_WIDTH): "; this looks like a run, not qrels",
    (_QRELS_WIDTH, _RUN_WIDTH): "; this looks like qrels, not a run",
    (
        3,
        _RUN_WIDTH,
    ): ": query, Q0, document, rank, score and name of the run; write them, or put "
    "the header line 'query_id doc_id score' (or rank) above three columns",
    (
        3,
        _QRELS_WIDTH,
    ): ": query, 0 (or a subtopic), document and grade; write them, or put the "
    "header line 'query_id doc_id relevance' above three columns",
}
"""Advice on a line, by the number of its fields and of those that are expected."""
# Faults by how the messages of the standard library's ``csv`` begin.
_FAULTS = {
    "unexpected end": "a quotation mark is not closed",
    "'": "something follows a closing quotation mark",
    "new-line": "a carriage return within a line",
}


def stacked(tables: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Return tables of the same columns below each other."""
    if len(tables) == 1:
        return tables[0]
    if engine.computes():
        return pl.concat(tables, how="vertical_relaxed")
    columns = {}
    for name, dtype in tables[0].schema.items():
        values = []
        for table in tables:
            values += table[name].to_list()
        columns[name] = pl.Series(name, values, dtype=dtype)
    return pl.DataFrame(columns)


@dataclass(frozen=True, eq=False)
class Layout:
    """How the lines of a file hold columns.

    Attributes:
        names: of all columns.
        schema: which of them must have values, and which are numbers.
        wanted: the columns to return.
        separator: what stands between them; a blank means any white space.
        quote: what may stand around a value; None where a value ends at the next separator.
        header: whether the first line names the columns.
        unquoted: whether quotation marks around a whole value are taken away although ``quote`` is
            None, as in a table whose header has no quotation marks.
    """

    names: Sequence[str]
    schema: Schema
    wanted: Sequence[str]
    separator: str = " "
    quote: str | None = None
    header: bool = False
    unquoted: bool = False

    @property
    def has_ranks_only(self) -> bool:
        """Whether these are lines of query, document and rank, as in runs of MS MARCO."""
        return self.schema is RANKED_RUN and not self.header

    @property
    def by_blanks(self) -> bool:
        """Whether any white space separates."""
        return self.separator == " "

    @property
    def blanks_in_ids(self) -> set[str]:
        """Texts in lines whose ids may have blanks around them; quotes may enclose blanks."""
        if self.by_blanks:
            return set()
        # Ends of lines are carriage returns and line feeds, too.
        return {*BLANKS, '"', "\r" + self.separator} - {"\r", "\n", self.separator}

    def dtype(self, name: str) -> Any:
        """Return the type of a column."""
        if name in self.schema.numbers:
            return pl.Float64
        return pl.String

    def batches(
        self,
        all_blocks: Callable[[], Iterator[bytes]],
        line_of_block: Callable[[int, bytes, int], str],
    ) -> Iterator[pl.DataFrame]:
        """Yield a file's columns, some million rows at a time; once for an empty file.

        Args:
            all_blocks: gives the blocks of the file, each time from its beginning.
            line_of_block: what messages call a line of a block; see ``File.line_of_block``.

        Raises:
            ValueError: see ``checked``; or the last number may be cut.
        """
        blocks = all_blocks()
        for number, block in enumerate(chain([next(blocks, b"")], blocks)):
            skipped = _length_on_top(block, header=self.header) if number == 0 else 0
            rows, is_regular = block[skipped:], True
            if self.quote and not self._has_regular_quotes(rows):
                rows, is_regular = b"".join([rows, *blocks]), False
            location = partial(line_of_block, number, block[:skipped])
            if self.by_blanks:
                rows = _without_comments(rows)
            if rows.isspace():
                rows = b""
            if rows and not rows.endswith(b"\n"):
                self._check_end(all_blocks, rows, location)
                rows += b"\n"
            yield self._parsed_block(rows, location, is_regular=is_regular)

    def _parsed_block(
        self, rows: bytes, location: Location, *, is_regular: bool
    ) -> pl.DataFrame:
        """Return the columns of a block; Polars reads it if it is regular."""
        if self.unquoted and b'"' in rows:
            return self.checked(rows, location)
        if is_regular and engine.computes():
            table = self._fast(rows)
            if table is not None:
                return table
        return self.checked(rows, location)

    def _has_regular_quotes(self, rows: bytes) -> bool:
        """Return whether quotation marks stand around whole fields, without line breaks in them."""
        if b'"' not in rows:
            return True
        return b'"' not in _REGULAR_QUOTES[self.separator].sub(b"", rows)

    def _check_end(
        self, all_blocks: Callable[[], Iterator[bytes]], rows: bytes, location: Location
    ) -> None:
        """Raise if the last line, which has no end of line, may be cut within its last number."""
        cut, last_line = self.schema.cut, rows.rpartition(b"\n")[2]
        fields = last_line.split(self._part)
        self._check_last_row_is_whole(rows, fields, location)
        name = self.names[min(len(fields), len(self.names)) - 1]
        if name not in self.schema.numbers or len(fields) > len(self.names):
            return
        if self.by_blanks and len(fields) < len(self.names):
            return
        if last_line != last_line.rstrip():
            return
        if cut is Cut.IF_NOT_RISING:
            texts = self._last_fields(self._rows_of_last_query(rows))
        else:
            texts = self._last_fields(rows)
        if cut is Cut.IF_LONGER:  # any grade of the file may show it
            earlier = Counter[str]()
            for block in all_blocks():
                earlier.update(self._last_fields(block))
            earlier[texts[-1]] -= 1
            texts = [*sorted(+earlier), texts[-1]]
        line = rows.count(b"\n") + 1
        label = {"relevance": "grade"}.get(name, name)
        check_not_cut(texts, cut, lambda: location(line), label)

    def _check_last_row_is_whole(
        self, rows: bytes, fields: Sequence[bytes], location: Location
    ) -> None:
        """Raise if the last row ends with a number that other rows have fields behind."""
        if self.by_blanks or len(fields) >= len(self.names):
            return
        name, last = self.names[len(fields) - 1], fields[-1].strip()
        *others, _ = rows.split(b"\n")
        separator = self.separator.encode()
        most = max((line.count(separator) for line in others), default=0)
        if name in self.schema.numbers and last and most >= len(fields):
            line = location(len(others) + 1)
            label = {"relevance": "grade"}.get(name, name)
            raise ValueError(
                f"{line}: the file ends with the {label} {last.decode('utf-8', 'replace')[:40]}, "
                "without an end of line, and other rows have more fields: was it cut? Write it "
                "again, or end its last line"
            )

    def _rows_of_last_query(self, rows: bytes) -> bytes:
        """Return the rows of the query that the last row is about."""
        index = self.names.index("query_id")
        lines = [line for line in rows.split(b"\n") if line.strip()]
        queries = [line.split(self._part)[index : index + 1] for line in lines]
        is_last = [query == queries[-1] for query in queries]
        return b"\n".join(compress(lines, is_last))

    @property
    def _part(self) -> bytes | None:
        """What separates fields; None for any white space."""
        return None if self.by_blanks else self.separator.encode()

    def _last_fields(self, rows: bytes) -> list[str]:
        """Return the last field of each line that is not empty."""
        rows = _without_comments(rows) if self.by_blanks else rows
        lines = [line.rstrip() for line in rows.split(b"\n")]
        fields = [line.rsplit(self._part, 1)[-1] for line in lines if line]
        return [field.decode("utf-8", "replace").strip(" \t") for field in fields]

    # -- the fast way ------------------------------------------------------------------------------

    def _fast(self, rows: bytes) -> pl.DataFrame | None:
        """Return the columns of regular lines in UTF-8; None for others."""
        if not rows.isascii():
            try:
                rows.decode("utf-8")
            except UnicodeDecodeError:
                return None
        if self.by_blanks:
            return self._regular_lines(rows)
        return self._regular_table(rows)

    def _regular_lines(self, rows: bytes) -> pl.DataFrame | None:
        """Return the columns of lines of fields between blanks; None if one is not regular."""
        last = len(self.names) - 1
        columns = [
            i for i, name in enumerate(self.names) if name in self.wanted or i == last
        ]
        for lines in _as_single_blanks(rows):
            table = self._parsed(lines, columns=columns)
            # A missing field reads as null. If no line lacks the last one, the number of blanks
            # says that no line has a further one.
            if table is None or any(column.null_count() for column in table):
                continue
            blank = np.frombuffer(lines, dtype=np.uint8) == ord(" ")
            has_doubled = np.any(blank[1:] & blank[:-1])
            if np.count_nonzero(blank) == len(table) * last and not has_doubled:
                return self._named(table)
        return None

    def _regular_table(self, rows: bytes) -> pl.DataFrame | None:
        """Return the columns of rows below a header; None if a row is not regular."""
        if b"\r" in rows:
            rows = rows.replace(b"\r\n", b"\n")
        if b"\r" in rows:
            return None
        empty_line = _EMPTY_LINES[self.separator]
        rows = empty_line.sub(b"", b"\n" + rows).removeprefix(b"\n")
        quote = self.quote if b'"' in rows else None
        if (table := self._parsed(rows, quote)) is None:
            return None
        table = self._named(table)
        if self._may_lack_a_value(table, is_quoted=quote is not None):
            return None
        return table

    def _may_lack_a_value(self, table: pl.DataFrame, *, is_quoted: bool) -> bool:
        """Return whether a needed value is missing, or a text in quotation marks is empty."""
        needed = [name for name in self.schema.needed if name in self.wanted]
        if any(table[name].null_count() for name in needed):
            return True
        texts = [values for values in table if values.dtype == pl.String]
        return is_quoted and any((values == "").any() for values in texts)

    def _parsed(
        self, block: bytes, quote: str | None = None, columns: list[int] | None = None
    ) -> pl.DataFrame | None:
        """Parse a block with Polars into numbered columns; None if Polars cannot."""
        schema = {str(i): self.dtype(name) for i, name in enumerate(self.names)}
        if not block:
            return pl.DataFrame(schema=schema)
        try:
            return pl.read_csv(
                block,
                has_header=False,
                separator=self.separator,
                quote_char=quote,
                schema=schema,
                columns=columns,
            )
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
            return None

    def _named(self, table: pl.DataFrame) -> pl.DataFrame:
        """Return the wanted columns of a table whose columns are numbered."""
        return pl.DataFrame(
            {name: table[str(self.names.index(name))] for name in self.wanted}
        )

    # -- the slow way ------------------------------------------------------------------------------

    def checked(self, block: bytes, location: Location) -> pl.DataFrame:
        """Return the columns of any lines, read value by value.

        In a table, an empty field is a missing value, missing fields at the end are empty, and
        empty lines do not count. In CSV a field may stand in quotation marks, doubled within, and
        have separators and line breaks.

        Raises:
            ValueError: a line has a wrong number of fields or is not UTF-8, or a needed value is
                missing or not a number.
        """
        rows = []
        lines = []
        records = list(self._records(block, location))
        tag_may_be_number = self.by_blanks and _tag_may_be_number(records)
        for line, fields in records:
            if self.unquoted:
                fields = list(map(unquoted, fields))
            fields = self._complete(
                fields, partial(location, line), tag_may_be_number=tag_may_be_number
            )
            rows.append(fields)
            lines.append(line)

        def row_location(row: int) -> str:
            return location(lines[row])

        texts = {name: [row[i] for row in rows] for i, name in enumerate(self.names)}
        self._check_needed(texts, row_location)
        columns = {}
        for name in self.wanted:
            values: list[Any] = [text or None for text in texts[name]]
            if name in self.schema.numbers:
                values = self._numbers(name, texts, row_location)
            columns[name] = pl.Series(name, values, dtype=self.dtype(name))
        return pl.DataFrame(columns)

    def _records(self, block: bytes, location: Location) -> Iterator[NumberedRow]:
        """Yield the number and the fields of each line that is not empty, as they are written."""
        with naming_lines(location):
            text = block.decode("utf-8")
        if self.by_blanks:  # only ASCII's blanks separate
            for number, line in enumerate(block.split(b"\n"), start=1):
                if line.strip():
                    yield number, [part.decode() for part in line.split()]
        elif self.quote is None:
            for number, row in enumerate(text.split("\n"), start=1):
                if row.strip(" \t\v\f\r"):
                    yield number, row.rstrip("\r").split(self.separator)
        else:
            yield from csv_rows(text, location, self.separator, strip=False)

    def _complete(
        self, fields: list[str], location: Callable[[], str], *, tag_may_be_number: bool
    ) -> list[str]:
        """Return one text for each column, empty where a table's row lacks fields at its end.

        Args:
            fields: those of a line.
            location: returns what messages call the line.
            tag_may_be_number: whether a number may be the tag of the run.

        Raises:
            ValueError: there are too many fields, or too few between blanks.
        """
        width = len(self.names)
        if len(fields) == width:
            return fields
        is_short = len(fields) < width and not self.by_blanks
        if is_short and not self._may_be_shifted(fields):
            return fields + [""] * (width - len(fields))
        message = (
            f"{location()}: {counted(len(fields), 'field')} where {width} are expected"
        )
        if len(fields) < width or not self.by_blanks:
            raise ValueError(message + self._width_hint(fields))
        if self.schema is not RUN or width != _RUN_WIDTH:
            raise ValueError(message + self._width_hint(fields))
        if reason := _shifted(fields, tag_may_be_number=tag_may_be_number):
            raise ValueError(f"{message}; {reason}")
        return fields[:width]

    def _may_be_shifted(self, fields: Sequence[str]) -> bool:
        """Return whether the grade of a row that is too short may stand in another column."""
        if not self.schema.gaps:
            return False
        return any(name in self.schema.needed for name in self.names[len(fields) :])

    def _width_hint(self, fields: Sequence[str]) -> str:
        """Return advice on a line with a wrong number of fields, by its probable format."""
        if not self.by_blanks:
            separator = _SEPARATOR_NAMES[self.separator]
            hint = f" (separated by {separator})"
            if len(fields) < len(self.names):
                hint += "; leave the field empty where there is no value"
            elif self.quote:
                hint += "; put a text that contains the separator in quotation marks"
            return hint
        return _WIDTH_HINTS.get((len(fields), len(self.names)), "")

    def _check_needed(self, texts: Mapping[str, list[str]], location: Location) -> None:
        """Raise if a needed value is empty."""
        for name in self.schema.needed:
            may_lack = self.schema.gaps and name in self.schema.numbers
            if not may_lack and "" in texts.get(name, ()):
                row = texts[name].index("")
                raise ValueError(f"{location(row)}: there is no {name}")

    def _numbers(
        self,
        name: str,
        texts: Mapping[str, list[str]],
        location: Location,
    ) -> list[float | None]:
        """Return the numbers of a column, None for an empty text that may be missing."""
        parse = grade_of_text if self.schema.of_qrels else number_of_text
        column = [text.strip(" \t") for text in texts[name]]
        numbers = [parse(text) for text in column]
        wrong = [i for i, number in enumerate(numbers) if number is None]
        if self.schema.gaps:
            wrong = [i for i in wrong if column[i]]
        if wrong:
            row = wrong[0]
            if our_names([texts["query_id"][row]]) == ["query_id"]:
                raise ValueError(
                    f"{location(row)}: the header is repeated; leave this line out"
                )
            label = f"{name}{self._subject(texts, row)}"
            raise ValueError(
                f"{location(row)}: the {label} is {shown(column[row])}, not a number"
                f"{and_more(len(wrong) - 1)}{number_hint(column[row])}"
            )
        return numbers

    def _subject(self, texts: Mapping[str, list[str]], row: int) -> str:
        """Return the document and the query of a row, as messages on its number name them."""
        subject = ""
        for name, label in {"doc_id": "of document", "query_id": "for query"}.items():
            if name in self.schema.needed and name in texts:
                subject += f" {label} {shown(texts[name][row])}"
        return subject


def _length_on_top(block: bytes, *, header: bool) -> int:
    """Return the number of bytes of empty lines, comments and header on top of a file."""
    match = _ON_TOP.match(block)
    length = match.end() if match else 0
    if header:
        return block.find(b"\n", length) + 1 or len(block)
    return length


def _tag_may_be_number(records: Sequence[NumberedRow]) -> bool:
    """Return whether a number may be the tag: all lines share it, and ranks begin at 0 or 1.

    In lines that a blank in an id shifts, the score is where the tag should begin, and a part of
    the id where the rank should be.
    """
    tags = {tuple(fields[_RUN_WIDTH - 1 :]) for _, fields in records}
    is_shared = len(records) > 1 and len(tags) == 1
    return is_shared and records[0][1][3:4] in (["0"], ["1"])


def _shifted(fields: Sequence[str], *, tag_may_be_number: bool) -> str:
    """Return why a run's line with more than six fields is shifted; empty if it is not.

    trec_eval ignores what follows the tag. A blank in an id shifts rank and score to the right. A
    missing end of line hides the next row behind the tag.

    Args:
        fields: those of the line.
        tag_may_be_number: whether a number may be the tag of the run.
    """
    for index in range(_RUN_WIDTH - 1, len(fields) - 4):
        _, iteration, _, rank, score = fields[index : index + 5]
        is_like_row = iteration == fields[1] and _is_rank(rank)
        if is_like_row and number_of_text(score) is not None:
            return (
                f"fields {index + 1} to {index + 5} look like another row: is an end of line "
                "missing, or a carriage return (CR)?"
            )
    _, _, _, rank, score, tag, *_ = fields
    if not _is_rank(rank):
        return f"field 4, the rank, is {shown(rank)}: is there a blank in an id?"
    if number_of_text(score) is None:
        return f"field 5, the score, is {shown(score)}: is there a blank in an id?"
    if number_of_text(tag) is not None and not tag_may_be_number:
        return f"field 6, the tag, is the number {tag}: is there a blank in an id?"
    return ""


def _is_rank(text: str) -> bool:
    """Return whether a field is a whole number, as ranks are."""
    return re.fullmatch(r"[+-]?\d+", text) is not None


# -- which layout a file has -----------------------------------------------------------------------


def layout_of(line: str, ending: str, schema: Schema, location: str) -> Layout:
    """Return the layout of a file's lines.

    Args:
        line: the first line of the file.
        ending: that of the file's name.
        schema: which columns are needed.
        location: what messages call the line.

    Raises:
        ValueError: the file must have a header and has none, or the header names a column twice.
    """
    fields = line.split()
    if schema.of_qrels:
        return _layout_of_qrels(fields, header_of(line, ending), schema, location)
    if len(fields) == len(_RANKED) and fields[2].isdecimal():  # as in runs of MS MARCO
        return Layout(_RANKED, RANKED_RUN, _RANKED)
    header = header_of(line, ending)
    names = header.columns(schema)
    if {*RANKED_RUN.needed} <= {*names} and "score" not in header.names:
        return layout_of_table(header, RANKED_RUN)
    if header.is_one(schema, location):
        return layout_of_table(header, schema)
    for possible in (RUN, RANKED_RUN):
        if {*possible.needed} <= {*our_names(fields)}:  # a header between blanks
            return Layout(our_names(fields), possible, possible.needed, header=True)
    return Layout(RUN_FIELDS, RUN, RUN.needed)


def _layout_of_qrels(
    fields: list[str], header: Header, schema: Schema, location: str
) -> Layout:
    """Return the layout of qrels without a header, from the fields of the first line."""
    if tuple(fields) == BEIR:
        return Layout(QREL_COLUMNS, schema, QREL_COLUMNS, header=True, unquoted=True)
    if header.is_one(schema, location):
        return layout_of_table(header, schema)
    names = replace(header, names=fields).columns(schema)
    if {*QREL_COLUMNS} <= {*names}:  # a header between blanks
        check_names(names, names)
        numbers = frozenset(names) - TEXTS
        return Layout(
            names,
            replace(schema, needed=tuple(names), numbers=numbers),
            names,
            header=True,
        )
    return Layout(_QREL_FIELDS, schema, _QREL_FIELDS)


def check_ranks(table: pl.DataFrame) -> None:
    """Raise if the ranks of a query are not 1, 2, 3, ... in the order of the lines.

    In another order, these numbers may as well be scores.
    """
    ranks: dict[str, list[float]] = {}
    for query_id, rank in zip(
        table["query_id"].to_list(), table["rank"].to_list(), strict=True
    ):
        ranks.setdefault(query_id, []).append(rank)
    for query_id, of_query in ranks.items():
        rising = [*range(1, len(of_query) + 1)]
        if of_query == rising:
            continue
        if sorted(of_query) == rising:
            raise ValueError(
                f"the third field may be a rank or a score: the lines of query {shown(query_id)} "
                "are not in the order 1, 2, 3, ...; put the header line 'query_id doc_id rank' (or "
                "score) above, or write six fields: query Q0 document rank score tag"
            )
        raise ValueError(
            f"taken for lines of query, document and rank, but the ranks of query "
            f"{shown(query_id)} are not 1, 2, 3, ...; a TREC run has six fields: "
            "query Q0 document rank score tag"
        )


def _as_single_blanks(block: bytes) -> Iterator[bytes]:
    """Yield forms of a block, more and more regular.

    They are the block as it is, if it may be regular; with blanks for other white space; and with
    single blanks only.
    """
    if not any(blank in block for blank in (b"\t", b"\r", b"\v", b"\f")):
        yield block
    block = block.translate(_WHITE)
    yield block
    block = re.sub(rb" {2,}", b" ", block).replace(b" \n", b"\n").replace(b"\n ", b"\n")
    yield re.sub(rb"\n{2,}", b"\n", block).lstrip(b" \n")


def _without_comments(block: bytes) -> bytes:
    """Return the block with an empty line in place of each comment.

    A comment begins with ``#``, after blanks. A block of comments alone gives no lines.
    """
    if b"#" not in block:
        return block
    if _length_on_top(block, header=False) == len(block):
        return b""
    letters = np.frombuffer(block, dtype=np.uint8)
    before = letters[np.flatnonzero(letters == ord("#")) - 1]
    if not block.startswith(b"#") and np.all(before > ord(" ")):  # in names only
        return block
    return _COMMENT.sub(b"", block)


# -- tables with a header --------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Header:
    """The first line of a table.

    Attributes:
        names: its names of columns, as they are written.
        line: the whole line.
        ending: that of the file's name.
        separator: what stands between them.
        quote: what may stand around a value.
    """

    names: list[str]
    line: str
    ending: str
    separator: str
    quote: str | None

    def is_one(self, schema: Schema, location: str) -> bool:
        """Return whether the line is the header of a table that the schema describes.

        Args:
            schema: the columns that are needed.
            location: what messages call the line.

        Raises:
            ValueError: the file must have a header and has none: a .csv file, or a line with commas
                or semicolons and without blanks.
        """
        names = {*self.columns(schema)}
        is_table = self.ending in _SEPARATORS or names.issuperset(schema.needed)
        if "query_id" in names and is_table:
            return True
        line = self.line.strip()
        if self.separator == "\t" or len(self.names) < 2:
            return False
        if self.ending == ".csv" or len(line.split()) == 1:
            raise ValueError(
                f"{location}: a CSV file needs a header line with {', '.join(schema.needed)}; "
                f"this one is {line[:200]!r}{renaming(self.names)}"
            )
        return False

    def columns(self, schema: Schema) -> list[str]:
        """Return our names of the columns; where qrels call grades scores, also of these."""
        names = our_names(self.names)
        if schema.of_qrels and grades_may_be_scores(self.names):
            return ["relevance" if name == "score" else name for name in names]
        return names


def header_of(line: str, ending: str) -> Header:
    """Return the columns of a first line, split by the separator that makes one a query's.

    Without one, the separator is what the file's ending says, or the first one that the line has.
    """
    row = line.rstrip("\r\n")
    separators = _SEPARATORS.get(ending, _ANY_SEPARATOR)
    headers = [_split(row, separator, ending) for separator in separators]
    with_query = [header for header in headers if "query_id" in our_names(header.names)]
    split = [header for header in headers if len(header.names) > 1]
    return next(iter([*with_query, *split, headers[0]]))


def _split(row: str, separator: str, ending: str) -> Header:
    """Return the fields of a header line; between tabs, quotation marks count if it has some."""
    names = row.split(separator)
    if separator == "\t" and '"' not in row:
        return Header(names, row, ending, separator, None)
    with contextlib.suppress(csv.Error):
        names = next(csv.reader([row], delimiter=separator, strict=True), [])
    return Header(names, row, ending, separator, '"')


def layout_of_table(header: Header, schema: Schema) -> Layout:
    """Return the layout of the rows below a header.

    Raises:
        ValueError: the header names a wanted column twice.
    """
    names = header.columns(schema)
    wanted = [name for name in names if name]  # Excel adds columns without a name
    if not schema.further and {*schema.needed} <= {*names}:
        wanted = list(schema.needed)
    check_names(names, wanted)
    return Layout(
        names,
        schema,
        wanted,
        header.separator,
        header.quote,
        header=True,
        unquoted=header.quote is None,
    )


def separator_of(header: str) -> str:
    """Return the separator of a header: the more frequent of ``;`` and ``,``."""
    return ";" if header.count(";") > header.count(",") else ","


def numbered_lines(text: str) -> list[tuple[int, str]]:
    """Return the lines of a text that are neither empty nor comments, with their numbers."""
    numbered = []
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip() and not line.startswith("#"):
            numbered.append((number, line))
    return numbered


def csv_rows(
    text: str,
    location: Location,
    separator: str,
    *,
    strip: bool = True,
    **options: Any,
) -> Iterator[NumberedRow]:
    """Yield the rows of a CSV text that are not empty, each with the number of its first line.

    Args:
        text: the text.
        location: what messages call a line.
        separator: what stands between fields.
        strip: whether to strip blanks around fields; rows of empty quotes count as empty then.
        options: of ``csv.reader``.

    Raises:
        ValueError: a quotation mark is not closed, or something follows a closing one.
    """
    lines = text.split("\n")
    limit = csv.field_size_limit()  # of the whole program, which gets it back
    reader = csv.reader(
        (f"{line}\n" for line in lines), delimiter=separator, strict=True, **options
    )
    start = 0
    try:
        csv.field_size_limit(max(limit, len(text)))  # the text is in memory anyway
        for row in reader:
            if strip:
                row = written = [field.strip() for field in row]
            else:
                written = [
                    line.strip(" \t\v\f\r" + separator)
                    for line in lines[start : reader.line_num]
                ]
            if any(written):
                yield start + 1, row
            start = reader.line_num
    except csv.Error as error:
        raise ValueError(f"{location(start + 1)}: {_fault(error)}") from None
    finally:
        csv.field_size_limit(limit)


def _fault(error: csv.Error) -> str:
    """Return the fault of a CSV text in plain words."""
    for beginning, words in _FAULTS.items():
        if str(error).startswith(beginning):
            return words
    return str(error)
