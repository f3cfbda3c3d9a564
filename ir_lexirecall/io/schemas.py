"""What each reader needs of a table: columns, numbers, and rules for a file's end."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from ir_lexirecall.io.names import ASPECT_COLUMNS, QREL_COLUMNS, RUN_COLUMNS


class Cut(Enum):
    """When a file is refused that may have lost the end of its last number or label."""

    NEVER = "never"
    IF_LONGER = "if the file has a longer number that begins with the last one"
    IF_BEGINNING = "if another label of the file begins with the last one"
    ALWAYS = "if it ends with a number"
    IF_SHORTER = (
        "if the last number is written shorter than all others, "
        "or could be a longer one of the file"
    )
    IF_NOT_RISING = (
        "if the last rank is not larger than the one before it for the same query, "
        "or is written with fewer decimals"
    )


@dataclass(frozen=True, eq=False)
class Schema:
    """What a reader needs of a table.

    Attributes:
        what: what messages call the table.
        needed: columns with a value in every row.
        numbers: the needed columns that are numbers; the others are texts.
        further: whether further columns are kept, as texts.
        gaps: whether a number may be missing (NaN).
        cut: when a last line without an end of line is refused.
        aspects: columns that may name the aspect of a row.
        of_qrels: whether files hold it in the formats of qrels, not of runs, and ``True`` and
            ``False`` are grades, 1 and 0.
    """

    what: str
    needed: tuple[str, ...]
    numbers: frozenset[str]
    further: bool = False
    gaps: bool = False
    cut: Cut = Cut.NEVER
    aspects: tuple[str, ...] = ()
    of_qrels: bool = False


RUN = Schema("run", RUN_COLUMNS, frozenset(("score",)), cut=Cut.IF_SHORTER)
RANKED_RUN = Schema(
    "run", ("query_id", "doc_id", "rank"), frozenset(("rank",)), cut=Cut.IF_NOT_RISING
)
QRELS = Schema(
    "qrels",
    QREL_COLUMNS,
    frozenset(("relevance",)),
    further=True,
    cut=Cut.IF_LONGER,
    aspects=ASPECT_COLUMNS,
    of_qrels=True,
)
POOL = replace(QRELS, gaps=True)
RANKS_AND_SCORES = Schema("run", ("query_id", "rank", "score"), frozenset(("score",)))
PAIRS = Schema("exclude", ("query_id", "doc_id"), frozenset())
VALUES = Schema("values", (), frozenset(), further=True, cut=Cut.ALWAYS)
"""Of values: every column."""
