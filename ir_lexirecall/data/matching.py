"""Whether a run and qrels share queries and documents, and what would make ids meet."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

import numpy as np

from ir_lexirecall._util import engine
from ir_lexirecall._util.errors import and_more, shown, warn
from ir_lexirecall._util.lazy import polars as pl
from ir_lexirecall.data.aligned_run import AlignedRun
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.io.columns import are_odd, head, read_columns
from ir_lexirecall.io.id_forms import (
    FORMS,
    FORMS_OF_ONE_SOURCE,
    Form,
    best_match,
    form_hint,
    matches,
    sentence,
    visible,
)
from ir_lexirecall.io.schemas import RUN
from ir_lexirecall.io.source import Kind, Source

FIRST = 10  # documents of a ranking that are expected to be judged
SIDES = ("run's", "qrels'")
_SAMPLE = 2**16  # rows of a run in which ids are looked at
_MOST_ODD_ROWS = 2**18
_QUERIES = 5  # queries whose documents are looked at
_FEWEST_GRADES = 10  # from which grades and scores tell qrels and a run apart
_NAMED = 5  # further runs that a warning names


@dataclass
class Mismatches:
    """What does not meet the qrels in several runs, to be warned of once.

    Messages are by the run's title; that of a run without a mismatch may be empty.

    Attributes:
        nothing_shared: messages on runs without a query or a document of the qrels.
        other_forms: messages on runs with ids that look as those of the qrels and differ.
    """

    nothing_shared: dict[str, str] = field(default_factory=dict)
    other_forms: dict[str, str] = field(default_factory=dict)

    def warn(self) -> None:
        """Give one warning of each kind."""
        for message_of in (self.nothing_shared, self.other_forms):
            titles = sorted(title for title, message in message_of.items() if message)
            warn_once({title: message_of[title] for title in titles})


def check_matches(
    judgments: Judgments,
    aligned: AlignedRun,
    run: Source | None,
    title: str,
    *,
    allow_empty: bool,
    mismatches: Mismatches | None = None,
) -> None:
    """Check that a run has a query and a document in common with the qrels.

    Args:
        judgments: the judgments.
        aligned: the run, aligned with them.
        run: the run as it was given, to name ids of both sides and the form in which they would
            meet; None if it cannot be read again.
        title: the run's name in messages.
        allow_empty: warn instead of raising.
        mismatches: takes the messages, for one warning about several runs.

    Raises:
        ValueError: there is nothing in common; the message says what would make ids meet.

    Warns:
        UserWarning: some ids differ in blanks around them, in characters that cannot be seen, or in
            their Unicode form.
    """
    if not len(judgments):
        return
    if mismatches is None:
        of_run = Mismatches()
    else:
        of_run = mismatches
    if len(aligned.doc):
        if run is not None and (any(judgments.odd_ids) or run.has_odd_ids()):
            of_run.other_forms[title] = _other_forms(judgments, run, title)
    else:
        message = _nothing_shared(judgments, aligned, run, title, allow_empty)
        if message and not allow_empty:
            raise ValueError(
                f"{message}; allow_empty=True (--allow-empty) takes such a run"
            )
        of_run.nothing_shared[title] = message
    if mismatches is None:
        of_run.warn()


def _nothing_shared(
    judgments: Judgments,
    aligned: AlignedRun,
    run: Source | None,
    title: str,
    allow_empty: bool,
) -> str:
    """Return that a run has no query, or no document, in common with the qrels.

    Empty if that is on purpose.
    """
    if aligned.depth.any():
        return _no_shared_document(judgments, run, title)
    if allow_empty and _retrieves_nothing_on_purpose(judgments, run):
        return ""
    return _no_shared_query(judgments, run, title)


def warn_once(message_of: Mapping[str, str]) -> None:
    """Warn about the first of several runs, and name the others that need the same warning."""
    if not message_of:
        return
    first, *others = message_of
    message = message_of[first].removesuffix(".")
    if others:
        named, rest = ", ".join(others[:_NAMED]), len(others) - _NAMED
        message += f". The same holds for {named}{and_more(max(rest, 0))}"
    warn(message)


def _no_shared_document(judgments: Judgments, run: Source | None, title: str) -> str:
    """Return that a run has judged queries, but no judged document.

    Empty if the documents in common are excluded.
    """
    rows = [] if run is None else first_rows(run)
    of_judged_queries = [row for row in rows if row[0] in judgments.place]
    if any(doc_id in judgments.excluded.get(q, ()) for q, doc_id in of_judged_queries):
        return ""
    return _no_document(judgments, of_judged_queries, title)


def _no_shared_query(judgments: Judgments, run: Source | None, title: str) -> str:
    """Return that a run has no rows, or none of judged queries."""
    rows = None if run is None else first_rows(run)
    if rows == []:
        once = "; an iterator can be read only once: give a list"
        hint = once if run is not None and run.read_once else ""
        return f"{title} is empty: it has no rows{hint}"
    return nothing_retrieved(
        title, judgments.query_ids, (query_id for query_id, _ in rows or [])
    )


def _other_forms(judgments: Judgments, run: Source, title: str) -> str:
    """Return that the run and the qrels write some ids differently that look alike, if they do.

    ``é`` may be one character or two; a blank at the end, or a character of width zero, cannot be
    seen. Such ids do not meet.
    """
    pairs = _pairs_that_look_alike(judgments, _odd_rows(judgments, run))
    if not pairs:
        return ""
    in_run, in_qrels = pairs[0]
    n_ids = len(pairs)
    kind, way_out = _difference(in_run, in_qrels)
    return (
        f"{title}: {n_ids} of its ids {'is' if n_ids == 1 else 'are'} in the qrels {kind}, and so "
        f"{'does' if n_ids == 1 else 'do'} not meet: {in_run!a} here, {in_qrels!a} there; {way_out}"
    )


def _odd_rows(judgments: Judgments, run: Source) -> list[tuple[str, str]]:
    """Return the query and document ids of rows that `_may_look_alike` selects."""
    rows: list[tuple[str, str]] = []
    for table in read_columns(run, RUN):
        odd = table
        if engine.computes():
            odd = table.filter(_may_look_alike(judgments, table))
        rows += zip(odd["query_id"].to_list(), odd["doc_id"].to_list(), strict=True)
        if len(rows) > _MOST_ODD_ROWS:
            break
    return rows[:_MOST_ODD_ROWS]


def _may_look_alike(judgments: Judgments, table: pl.DataFrame) -> pl.Series:
    """Return which rows have an odd id, or an id that looks like an odd one of the qrels."""
    odd_queries, odd_docs = judgments.odd_ids
    query_ids, doc_ids = table["query_id"], table["doc_id"]
    is_candidate = are_odd(query_ids) | are_odd(doc_ids)
    for ids, looks in ((query_ids, odd_queries), (doc_ids, odd_docs)):
        if looks:
            is_candidate |= ids.is_in([*looks])
    return is_candidate


def _pairs_that_look_alike(
    judgments: Judgments, rows: list[tuple[str, str]]
) -> list[tuple[str, str]]:
    """Return pairs of ids that look alike: an unjudged one of the run, a judged one."""
    judged_queries, judged_docs = judgments.odd_ids
    pairs: dict[tuple[str, str], None] = {}
    for query_id, doc_id in dict.fromkeys(rows):
        if query_id in judgments.place:
            name, odd_id_of, judged = doc_id, judged_docs, _judged(judgments, query_id)
        else:
            name, odd_id_of, judged = query_id, judged_queries, judgments.place
        if name in judged:
            continue
        seen = visible(name)
        other = seen if seen in judged else odd_id_of.get(seen)
        if other in judged:
            pairs[name, other] = None
    return list(pairs)


def _difference(in_run: str, in_qrels: str) -> tuple[str, str]:
    """Return how two ids that look alike differ, and what to do about it."""
    if in_run.strip() == in_qrels.strip():
        blanks = "without the blanks" if len(in_run) > len(in_qrels) else "with blanks"
        return f"{blanks} around them", "take the blanks away"
    for form in ("NFC", "NFKC"):
        normalised = [unicodedata.normalize(form, one) for one in (in_run, in_qrels)]
        if normalised[0] == normalised[1]:
            advice = (
                f"write both sides in one form: unicodedata.normalize({form!r}, id)"
            )
            return "in another Unicode form", advice
    return "in another form", "take away the characters that cannot be seen"


def _retrieves_nothing_on_purpose(judgments: Judgments, run: Source | None) -> bool:
    """Return whether a run has judged queries, but no documents for them: ``{"q1": {}}``."""
    if run is None or run.kind is not Kind.NESTED:
        return False
    return any(str(query_id) in judgments.place for query_id in run.data)


def _no_document(judgments: Judgments, rows: list[tuple[str, str]], title: str) -> str:
    """Return that a run retrieves no judged document, and what would make ids meet.

    Args:
        judgments: the judgments.
        rows: rows of the run, for judged queries only.
        title: the run's name in messages.
    """
    message = nothing_judged(title)
    if hint := _meeting(judgments, rows):
        return f"{message} {hint}"
    if not judgments.doc_ids:
        return message
    first = f"The run's first is {shown(rows[0][1])}, the" if rows else "The"
    return f"{message} {first} qrels' first is {shown(judgments.doc_ids[0])}"


def nothing_judged(title: str) -> str:
    """Return the message that a run retrieves no judged document."""
    return (
        f"{title} retrieves nothing that the qrels judge; do their document ids agree?"
    )


def nothing_retrieved(
    title: str, judged: Sequence[str], of_run: Iterable[str] = ()
) -> str:
    """Return the message that a run retrieves nothing for any query of the qrels.

    Args:
        title: the run's name in messages.
        judged: query ids of the qrels, the first one first.
        of_run: query ids of the run, as far as they are known.

    >>> nothing_retrieved("the run", ["001", "002"], ["1", "2"])
    "the run retrieves nothing for any query of the qrels; do their query ids agree? The run's first
    is '1', the qrels' first is '001'. The run's '1' and the qrels' '001' are the same without
    leading zeros"
    """
    queries = list(dict.fromkeys(of_run))
    first = f"The run's first is {shown(queries[0])}, the" if queries else "The"
    message = (
        f"{title} retrieves nothing for any query of the qrels; do their query ids agree? {first} "
        f"qrels' first is {shown(judged[0])}"
    )
    hint = form_hint(queries, judged, SIDES)
    if hint:
        return f"{message}. {hint}"
    return message


def are_swapped(judgments: Judgments, run: AlignedRun) -> bool:
    """Return whether the qrels have numbers as a run has, and the run those of qrels.

    At least half of the grades are fractions, and half are different; three quarters of the run's
    judged documents have the score of another one.
    """
    grade = judgments.grade
    if len(run.doc) < _FEWEST_GRADES or not judgments.has_decimals:
        return False
    if len(np.unique(grade)) < len(grade) / 2:
        return False
    _, n_tied = run.tied()
    return bool((n_tied > 1).mean() >= 0.75)


def judged_share(run: AlignedRun) -> float:
    """Return the share of judged documents among the first ten of every ranking.

    This is Judged@10 over all queries at once; NaN without documents.

    >>> from ir_lexirecall.data.alignment import align
    >>> judgments = Judgments.from_qrels({"q": {"a": 1, "b": 0}})
    >>> judged_share(align(judgments, {"q": {"a": 4, "b": 3, "x": 2, "y": 1}}))
    0.5
    """
    retrieved = int(np.minimum(run.depth, FIRST).sum())
    judged = run.cached(
        "judged first", lambda: int(((run.rank <= FIRST) & run.is_judged).sum())
    )
    return judged / retrieved if retrieved else float("nan")


def hardly_judged(
    judgments: Judgments,
    runs: Mapping[str, AlignedRun],
    sources: Mapping[str, Source | AlignedRun],
) -> Iterator[tuple[str, float, float, str]]:
    """Yield the runs with far fewer judged documents than the others.

    Where all judged documents are relevant, a small share mostly says that a run is worse: there it
    is named if it is 0, or if more than half of the other runs' documents are judged.

    Yields:
        The run's name, its share, the median of the others' shares, and a sentence.
    """
    share_of = {
        name: judged_share(run) for name, run in runs.items() if run.depth.any()
    }
    for name, share in share_of.items():
        remaining = [value for other, value in share_of.items() if other != name]
        median = float(np.median(remaining or [0]))
        if share >= median / 2:
            continue
        if judgments.are_relevant and share > 0 and median <= 0.5:
            continue  # it says that the run is worse
        source = sources.get(name)
        sentence = (
            f"{name}: {share:.0%} of its first {FIRST} documents are judged, {median:.0%} of the "
            "other runs'; those without a judgment count as not relevant."
        )
        if isinstance(source, Source):
            forms = FORMS_OF_ONE_SOURCE if runs[name].is_judged.any() else FORMS
            unjudged = _unjudged(judgments, first_rows(source))
            hint = _meeting(judgments, unjudged, forms)
            if hint:
                sentence += f" {hint}."
        yield name, share, median, sentence


def _unjudged(
    judgments: Judgments, rows: Iterable[tuple[str, str]]
) -> list[tuple[str, str]]:
    """Return the rows of judged queries whose documents have no judgment."""
    unjudged = []
    for query_id, doc_id in rows:
        is_judged_query = query_id in judgments.place
        if is_judged_query and doc_id not in _judged(judgments, query_id):
            unjudged.append((query_id, doc_id))
    return unjudged


def first_rows(run: Source) -> list[tuple[str, str]]:
    """Return query and document ids of the first rows of a run."""
    table = head(run, RUN, _SAMPLE)
    return list(
        zip(table["query_id"].to_list(), table["doc_id"].to_list(), strict=True)
    )


def _judged(judgments: Judgments, query_id: str) -> dict[str, int]:
    """Return the judged documents of a query, and their rows."""
    q = judgments.place[query_id]
    return judgments.cached(
        ("judged", q),
        lambda: {doc_id: row for row, doc_id in judgments.rows_of_query(q)},
    )


def _meeting(
    judgments: Judgments,
    ids: list[tuple[str, str]],
    forms: Mapping[str, Form] = FORMS,
) -> str:
    """Return a sentence on the form in which most documents of the first queries would meet."""
    candidates = []
    for query_id in islice(dict.fromkeys(query_id for query_id, _ in ids), _QUERIES):
        of_run = [doc_id for other, doc_id in ids if other == query_id]
        candidates += matches(of_run, _judged(judgments, query_id), forms)
    return sentence(best_match(candidates), SIDES)
