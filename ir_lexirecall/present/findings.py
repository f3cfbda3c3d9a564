"""What a result says: sentences, notes on what to be careful about, and a ranking, the same in texts, notebooks, on the command line and in reports."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall.data.matching import FIRST, hardly_judged
from ir_lexirecall.evaluation.scored_runs import ScoredRuns
from ir_lexirecall.io.columns import RISING, ranked_scores, scores_rise_with_ranks
from ir_lexirecall.io.source import Source
from ir_lexirecall.measures.declaration import Measure
from ir_lexirecall.measures.parsing import parse_one
from ir_lexirecall.present import text as texts
from ir_lexirecall.present.tables import Shown
from ir_lexirecall.present.text import count, enumerated, gathered, listed

if TYPE_CHECKING:
    from ir_lexirecall.data.collection import Collection

_MOST_NOTES = 5
_MOST_ROWS = 20

# -- notes ---------------------------------------------------------------------------------------

BROKEN, DOUBTFUL, WEAK, ASIDE = range(4)
"""How grave a note is: a run is broken or nothing can be significant; numbers may be off; there is little to go by; to know."""

FEW_QUERIES = "Few queries"  # kind of a note
_MOVED = "Documents of equal score move means (give them different scores, or see tie_audit)"


class Note(str):
    """A sentence on what to be careful about, and how grave it is.

    Attributes:
        gravity: one of ``BROKEN``, ``DOUBTFUL``, ``WEAK``, ``ASIDE``.
        kind: what notes on several runs or pairs have in common, for ``grouped``.
        subject: the run or pair, with its numbers.
        runs: names of the run or the pair that it concerns; empty where it concerns the whole.
        fact: of a note on one run, the numbers alone, for ``notes_of_run``.

    >>> gravest_first([Note("few queries", WEAK), Note("no documents", BROKEN)])
    ['no documents', 'few queries']
    """

    gravity: int
    kind: str
    subject: str
    runs: tuple[str, ...]
    fact: str

    def __new__(
        cls,
        sentence: str,
        gravity: int = WEAK,
        kind: str = "",
        subject: str = "",
        *,
        runs: tuple[str, ...] = (),
        fact: str = "",
    ) -> Note:
        note = super().__new__(cls, sentence)
        note.gravity, note.kind, note.subject, note.runs, note.fact = (
            gravity,
            kind,
            subject,
            runs,
            fact,
        )
        return note

    def within(self, name: str) -> Note:
        """The same note on a part of the result that has a name."""
        return Note(f"{name}: {self}", self.gravity, self.kind, f"{name}: {self.subject}")


def grouped(notes: Iterable[Note]) -> list[Note]:
    """Notes of one kind on several runs or pairs as one note.

    >>> notes = [Note(f"{run}: no documents for 2 queries.", BROKEN, "No documents", f"{run} (2 queries)") for run in ("a", "b")]
    >>> grouped([*notes, Note("Only 3 queries."), Note("Only 3 queries.")])
    ['No documents: a (2 queries) and b (2 queries).', 'Only 3 queries.']
    """
    said = []
    for kind, same in gathered(
        (note.kind or str(note), note) for note in dict.fromkeys(notes)
    ).items():
        together = f"{kind}: {enumerated([note.subject for note in same])}."
        said.append(
            same[0] if len(same) == 1 else Note(together, min(note.gravity for note in same))
        )
    return said


def notes_of_run(run: str, notes: Iterable[Note]) -> list[str]:
    """Notes on one run, in sentences that do not name it; those of one kind as one sentence.

    >>> notes = [Note(f"a: ties move {name}.", kind="Ties move", runs=("a",), fact=name) for name in ("AP", "RR")]
    >>> notes_of_run("a", notes), notes_of_run("a", notes[:1])
    (['Ties move: AP and RR.'], ['Ties move AP.'])
    """
    kinds = gathered(
        (note.kind if note.fact else str(note), note) for note in notes if note.runs == (run,)
    )
    said = []
    for kind, same in kinds.items():
        sentence = f"{kind}: {enumerated([note.fact for note in same])}."
        if len(same) == 1:
            sentence = same[0].removeprefix(f"{run}: ")
            first = sentence.partition(" ")[0]
            if first.isalpha() and first.islower():  # and is no name such as nDCG@10
                sentence = sentence[:1].upper() + sentence[1:]
        said.append(sentence)
    return said


def captions(names: Iterable[str]) -> list[str]:
    """What a table of values says of its measures, without repetitions.

    >>> captions(["LR", "LR@100", "AP", "a label"])
    ['LR orders rankings as lexicographic recall does (Diaz et al. 2026).']
    """
    said = []
    for name in names:
        with suppress(ValueError):  # a label of the user's
            measure = parse_one(name)
            said += [measure.about().caption] if isinstance(measure, Measure) else []
    return [*filter(None, dict.fromkeys(said))]


def gravest_first(notes: Iterable[Note]) -> list[Note]:
    """Notes without repetitions, the gravest first."""
    return sorted(dict.fromkeys(notes), key=lambda note: note.gravity)


def run_caveats(scored: ScoredRuns) -> list[Note]:
    """What to be careful about in runs that are not compared: rankings that are short, missing, tied, or hardly judged."""
    judgments, notes = scored.judgments, []
    m = judgments.m(judgments.threshold)
    counted = m > 0
    queries = int(counted.sum())
    for name, run in scored.runs.items() if queries else ():
        depth, found = run.depth[counted], run.found(judgments.threshold)[counted]
        is_ranked = depth > 0
        missed = is_ranked & (found < m[counted]) & (depth < np.maximum(100, m[counted]))
        absent = int((~is_ranked).sum())
        rankings = queries - absent
        if (shallow := int(missed.sum())) > rankings / 2:
            median = f"median depth {np.median(depth[is_ranked]):g}"
            some = f"{shallow} of {rankings}"
            sentence = (
                f"{name}: {some} rankings are shallow ({median}) and miss relevant documents."
            )
            kind = "Shallow rankings that miss relevant documents"
            notes.append(
                Note(sentence, DOUBTFUL, kind, f"{name} ({some} queries, {median})", runs=(name,))
            )
        if absent:
            some, kind = f"{absent} of {queries} queries", "No documents at all"
            verb = "has no ranking" if absent > queries / 2 else "returns nothing"
            sentence = f"{name} {verb} for {some}."
            notes.append(Note(sentence, BROKEN, kind, f"{name} (on {some})", runs=(name,)))
    for name, source in scored.sources.items():
        if isinstance(source, Source) and scores_rise_with_ranks(ranked_scores(source)):
            kind = RISING[:1].upper() + RISING[1:]
            notes.append(Note(f"{name}: {RISING}.", BROKEN, kind, name, runs=(name,)))
    if not judgments.judged_only:
        kind = "Far fewer judged documents than in the other runs"  # those without a judgment count as not relevant
        for name, share, others, said in hardly_judged(judgments, scored.runs, scored.sources):
            subject = f"{name} ({share:.0%} of the first {FIRST}, {others:.0%} in the others)"
            notes.append(Note(said, DOUBTFUL if share else BROKEN, kind, subject, runs=(name,)))
    for run_name, name, ends, said in scored.tie_warnings():
        fact, subject = f"{name} ({ends})", f"{name} of {run_name} ({ends})"
        notes.append(
            Note(f"{run_name}: {said}", DOUBTFUL, _MOVED, subject, runs=(run_name,), fact=fact)
        )
    return gravest_first(notes)


# -- findings ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Finding:
    """What a result says. ``str()`` is the text that ``summary()`` gives.

    Attributes:
        ranking: best first: ``run``, the quantity that ranks, its interval ``ci_low``, ``ci_high``,
            further means; of a collection or study another short table; or None.
        marks: for each row of the ranking: ``=`` may be the best as well; with a baseline ``+``
            better and ``-`` worse than it.
        names: names of measures in it, which texts show in short where they are long; see
            ``in_short``.
        explained: what these short names stand for.
    """

    sentences: Sequence[str]
    notes: Sequence[str] = ()
    ranking: pd.DataFrame | None = None
    marks: Sequence[str] = ()
    title: str = ""
    names: Sequence[str] = ()
    explained: str = ""

    def in_short(self) -> Finding:
        """The same with short names of measures, and what they stand for."""
        names = texts.short_names(self.names)
        if not names:
            return self
        return replace(
            self,
            sentences=[texts.in_short(sentence, names) for sentence in self.sentences],
            notes=[texts.in_short(note, names) for note in self.notes],
            ranking=None if self.ranking is None else self.ranking.rename(columns=names),
            title=texts.in_short(self.title, names),
            names=[],
            explained=texts.explained_names(names),
        )

    def __str__(self) -> str:
        if (short := self.in_short()) is not self:
            return str(short)
        parts = [" ".join(map(texts.printable, self.sentences))]
        if self.notes:
            parts.append(
                "\n".join(
                    ["Caveats:", *(f"- {texts.printable(note)}" for note in self.shown_notes())]
                )
            )
        if self.ranking is not None and len(self.ranking):
            title = [texts.printable(self.title)] if self.title else []
            parts.append("\n".join([*title, self.shown_ranking().text()[0]]))
        if self.explained:
            parts.append(texts.printable(self.explained))
        return "\n\n".join(parts)

    def shown_notes(self, where: str = "see diagnostics") -> list[str]:
        """The notes that texts show, and how many more there are and ``where``."""
        more = len(self.notes) - _MOST_NOTES
        return [
            *self.notes[:_MOST_NOTES],
            *([f"and {count(more, 'more note')}: {where}"] if more > 0 else []),
        ]

    def shown_ranking(self, places: int = 4) -> Shown:
        """The ranking as a table: places before runs, marks beside the first number.

        >>> import pandas as pd
        >>> ranking = pd.DataFrame({"run": ["bm25", "ql"], "AP": [0.5, 0.25], "ci_low": [0.25, 0.125], "ci_high": [0.75, 0.5]})
        >>> print(Finding([], ranking=ranking, marks=["", "="]).shown_ranking(3).text()[0])
           run       AP  95% interval
        1  bm25  0.500   0.250 to 0.750
        2  ql    0.250=  0.125 to 0.500
        """
        assert self.ranking is not None
        table = self.ranking
        if "run" in table:
            table = table.copy()
            table.insert(0, "", range(1, len(table) + 1))
        number = next((name for name in map(str, table.columns) if name not in ("", "run")), "")
        marks = {number: self.marks} if any(self.marks) else None
        return replace(Shown.from_frame(table, marks, places), title=self.title)


def html(finding: Finding, picture: str = "", caption: str = "", most: int = _MOST_ROWS) -> str:
    """A finding as HTML for a notebook: the sentences, the caveats, the ranking, a picture.

    >>> print(html(Finding(["<b> leads."])))
    <div><p>&lt;b&gt; leads.</p></div>
    """
    finding = finding.in_short()
    parts = [f"<p>{'<br>'.join(map(texts.escape_html, finding.sentences))}</p>"]
    if finding.notes:
        items = "".join(f"<li>{texts.escape_html(note)}</li>" for note in finding.shown_notes())
        parts.append(f"<p><b>Caveats:</b></p><ul>{items}</ul>")
    if finding.ranking is not None and len(finding.ranking):
        parts.append(finding.shown_ranking().html(most))
    parts.append(picture)
    caption = "; ".join(filter(None, [finding.explained, caption]))
    if caption:
        parts.append(f"<p><small>{texts.escape_html(caption)}</small></p>")
    return f"<div>{''.join(parts)}</div>"


def collection_finding(collection: Collection) -> Finding:
    """A collection in a few sentences: its size, what is judged, how it is to be evaluated, what to be careful about.

    >>> from ir_lexirecall import load
    >>> print(collection_finding(load("lexirecall/demo")))  # doctest: +ELLIPSIS
    lexirecall/demo: 16 queries, ...
    """
    qrels, relevant = collection.qrels, collection.relevant_by_query
    documents = len(qrels[["query_id", "doc_id"]].drop_duplicates())
    some = relevant[relevant > 0]
    size = f", of {collection.n:,} documents in the collection" if collection.n is not None else ""
    sentences = [
        f"{collection.dataset_id}: {count(len(collection.queries), 'query')}, {len(relevant):,} of them judged.",
        f"{count(documents, 'judgment')}{size}.",
    ]
    if len(some):
        spread = f"{some.min():,} to {some.max():,} (median {some.median():g})"
        grades = f"from grade {collection.rel} on; the top grade is {collection.max_rel}"
        sentences.append(f"Relevant documents of a query: {spread}, {grades}.")
    if collection.has_subtopics:
        sentences.append("Documents are judged for each subtopic of a query.")
    if collection.aspects:
        aspects = [f"{name} (top grade {top})" for name, top in collection.aspects.items()]
        sentences.append(f"Judged aspects: {listed(aspects)}.")
    if collection.rules:
        sentences.append(f"Rankings are evaluated {collection.rules}.")
    sentences.append(
        f"Recommended measures: {listed(list(map(str, collection.recommended())), most=20)}."
    )
    notes = []
    if without := len(relevant) - len(some):
        lack = f"{count(without, 'judged query')} without a relevant document"
        notes.append(Note(f"{lack}: no part in comparisons.", ASIDE))
    if len(some) < 25:
        notes.append(
            Note(
                f"Only {count(len(some), 'query')}: tests detect only large differences.", DOUBTFUL
            )
        )
    if len(some) and (median := some.median()) < 3:
        noun = "document" if median == 1 else "documents"
        notes.append(Note(f"Half of the queries have at most {median:g} relevant {noun}."))
    by_grade = qrels["relevance"].value_counts().sort_index(ascending=False)
    table = pd.DataFrame({"grade": by_grade.index.astype(str), "judgments": by_grade.to_numpy()})
    return Finding(sentences, gravest_first(notes), table, title="Judgments by grade of relevance:")
