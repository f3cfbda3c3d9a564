"""Whether a run and qrels speak of the same queries and documents, and what would make their ids meet."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import islice

import numpy as np

from ir_lexirecall._util.errors import shown, warn
from ir_lexirecall.data.aligned_run import AlignedRun
from ir_lexirecall.data.alignment import RunLike, checked_batches
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.io.columns import readable, run_table
from ir_lexirecall.io.files import content_path

FIRST = 10  # documents of a ranking that are expected to be judged
_SAMPLE = 2**16  # rows of a run in which ids are looked at


def check_matches(
    judgments: Judgments,
    aligned: AlignedRun,
    run: RunLike | AlignedRun | None,
    title: str,
    *,
    allow_empty: bool,
) -> None:
    """Refuse a run that has no query, or no document, in common with the qrels, however small both are; or warn.

    Args:
        judgments, aligned: the run, and what it was aligned with.
        run: as it was given, to name an id of each side and what would make them meet; None where it cannot be read again.
        title: what messages call it.
        allow_empty: warn only.
    """
    if len(aligned.doc) or not len(judgments):
        return
    if not aligned.depth.any():
        if (
            allow_empty
            and isinstance(run, Mapping)
            and any(str(query_id) in judgments.place for query_id in run)
        ):
            return  # it says that it retrieves nothing
        said = nothing_retrieved(title, judgments.query_ids[0])
    else:
        ids = [] if run is None else _ids(judgments, run)
        if any(doc_id in judgments.excluded.get(query_id, ()) for query_id, doc_id in ids):
            return  # what it has in common is excluded
        said = f"{title} retrieves nothing that the qrels judge; do their document ids agree?"
        if meeting := _meeting(judgments, ids):
            said = f"{said} {meeting}"
        elif judgments.doc_ids:
            first = f"The run's first is {shown(ids[0][1])}, the" if ids else "The"
            said = f"{said} {first} qrels' first is {shown(judgments.doc_ids[0])}"
    if not allow_empty:
        raise ValueError(f"{said}; allow_empty=True (--allow-empty) takes such a run")
    warn(said)


def nothing_retrieved(title: str, query_id: str) -> str:
    """What to say of a run that retrieves nothing for any query of the qrels, the first of which is ``query_id``."""
    return (
        f"{title} retrieves nothing for any query of the qrels; do their query ids agree? The qrels' first is "
        f"{shown(query_id)}"
    )


def judged_share(run: AlignedRun) -> float:
    """The share of judged documents among the first ten of every ranking (Judged@10, micro); NaN without documents.

    >>> from ir_lexirecall.data.alignment import align
    >>> judged_share(align(Judgments.from_qrels({"q": {"a": 1, "b": 0}}), {"q": {"a": 4, "b": 3, "x": 2, "y": 1}}))
    0.5
    """
    retrieved = int(np.minimum(run.depth, FIRST).sum())
    judged = run.cached("judged first", lambda: int((run.rank <= FIRST).sum()))
    return judged / retrieved if retrieved else float("nan")


def hardly_judged(
    judgments: Judgments,
    runs: Mapping[str, AlignedRun],
    sources: Mapping[str, RunLike | AlignedRun],
) -> Iterator[tuple[str, float, float, str]]:
    """Runs with far fewer judged documents than the others: name, its share and the others' median, and what to say of it.

    Where all judged documents are relevant, a small share mostly says that a run is worse: there it is named if it is 0, or if more
    than half of the other runs' documents are judged.
    """
    share = {name: judged_share(run) for name, run in runs.items() if run.depth.any()}
    for name, own in share.items():
        others = float(np.median([value for other, value in share.items() if other != name] or [0]))
        if own < others / 2 and not (judgments.are_relevant and own > 0 and others <= 0.5):
            judged = f"{own:.0%} of its first {FIRST} documents are judged, {others:.0%} of the other runs'"
            ids = _ids(judgments, sources[name]) if name in sources else []
            meeting = _meeting(
                judgments, [(q, doc_id) for q, doc_id in ids if doc_id not in _judged(judgments, q)]
            )
            counted = "those without a judgment count as not relevant."
            yield (
                name,
                own,
                others,
                f"{name}: {judged}; {counted}{f' {meeting}.' if meeting else ''}",
            )


def _ids(judgments: Judgments, run: RunLike | AlignedRun) -> list[tuple[str, str]]:
    """Query and document ids of the first rows of a run that are about judged queries; none where it cannot be read again."""
    if isinstance(run, AlignedRun):
        return []
    if isinstance(run, (str, os.PathLike)):
        path = os.fspath(run)
        if not os.path.isfile(content_path(path)):
            return []
        table = next(checked_batches(path))
    else:
        table = run_table(readable(run, "run"))
    table = table[:_SAMPLE]
    pairs = zip(table["query_id"].to_list(), table["doc_id"].to_list(), strict=True)
    return [pair for pair in pairs if pair[0] in judgments.place]


def _judged(judgments: Judgments, query_id: str) -> dict[str, int]:
    """The judged documents of a query, and their rows."""
    q = judgments.place[query_id]
    return judgments.cached(
        ("judged", q), lambda: {doc_id: row for row, doc_id in judgments.rows_of_query(q)}
    )


# -- what would make ids meet ----------------------------------------------------------------------

_FORMS: dict[str, Callable[[str], str]] = {
    "in lower case": str.casefold,
    "without blanks": str.strip,
    "without '.0' at the end": lambda doc_id: doc_id.removesuffix(".0"),
    "without leading zeros": lambda doc_id: doc_id.lstrip("0"),
    "without the folder": lambda doc_id: re.split(r"[/\\]", doc_id)[-1],
    "without the ending": lambda doc_id: re.sub(r"(\.[A-Za-z]\w{0,4})+$", "", doc_id),
    "without the folder and the ending": lambda doc_id: re.split(r"[/\\]", doc_id)[-1].partition(
        "."
    )[0],
    "without the prefix": lambda doc_id: re.sub(r"^[^\d\s]+[\W_](?=\w)", "", doc_id),
    "without the letters before the number": lambda doc_id: re.sub(r"^[A-Za-z]+(?=\d)", "", doc_id),
}
"""Ways to write ids in which those of a run and of the qrels often differ."""


def _meeting(judgments: Judgments, ids: list[tuple[str, str]]) -> str:
    """How ids would meet that do not: the form in which most of them do, for their queries."""
    found: Counter[str] = Counter()
    examples: dict[str, tuple[str, str]] = {}
    queries = dict.fromkeys(query_id for query_id, _ in ids)
    for query_id in islice(queries, 5):
        of_run = [doc_id for other, doc_id in ids if other == query_id]
        of_qrels = list(_judged(judgments, query_id))
        for words, form in _FORMS.items():
            known = {form(doc_id): doc_id for doc_id in reversed(of_qrels)}
            for doc_id in of_run:
                same = known.get(form(doc_id))
                if same is not None and form(doc_id) and same != doc_id:
                    found[words] += 1
                    examples.setdefault(words, (doc_id, same))
    if not found:
        return ""
    words = max(found, key=lambda form: found[form])  # the first of several: the simplest
    first, second = examples[words]
    return f"The run's {shown(first)} and the qrels' {shown(second)} are the same {words}"
