"""Notes on what to be careful about, with how grave they are, and when not to trust the values of runs: short, missing, tied rankings."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

import numpy as np

from ir_lexirecall.data.matching import FIRST, hardly_judged
from ir_lexirecall.evaluation.scored_runs import ScoredRuns
from ir_lexirecall.io.columns import RISING, scores_rise_with_ranks
from ir_lexirecall.measures.declaration import Measure
from ir_lexirecall.measures.parsing import parse_one
from ir_lexirecall.present.text import enumerated, gathered

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
        note.gravity, note.kind, note.subject, note.runs, note.fact = gravity, kind, subject, runs, fact
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
    kinds = gathered((note.kind or str(note), note) for note in dict.fromkeys(notes))
    return [
        same[0]
        if len(same) == 1
        else Note(f"{kind}: {enumerated([note.subject for note in same])}.", min(note.gravity for note in same))
        for kind, same in kinds.items()
    ]


def notes_of_run(run: str, notes: Iterable[Note]) -> list[str]:
    """Notes on one run, in sentences that do not name it; those of one kind as one sentence.

    >>> notes = [Note(f"a: ties move {name}.", kind="Ties move", runs=("a",), fact=name) for name in ("AP", "RR")]
    >>> notes_of_run("a", notes), notes_of_run("a", notes[:1])
    (['Ties move: AP and RR.'], ['Ties move AP.'])
    """
    kinds = gathered((note.kind if note.fact else str(note), note) for note in notes if note.runs == (run,))
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
    ["LR: same order as Diaz et al. 2026; values by form='weighted' are the paper's."]
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


# -- runs --------------------------------------------------------------------------------------------


def run_caveats(scored: ScoredRuns) -> list[Note]:
    """What to be careful about in runs that are not compared: rankings that are short, missing, tied, or hardly judged."""
    judgments, notes = scored.judgments, []
    m = judgments.m(judgments.threshold)
    counted = m > 0
    queries = int(counted.sum())
    for name, run in scored.runs.items() if queries else ():
        depth, found = run.depth[counted], run.found(judgments.threshold)[counted]
        missed = (found < m[counted]) & (depth < np.maximum(100, m[counted]))
        if (shallow := int(missed.sum())) > queries / 2:
            some, median = f"{shallow} of {queries}", f"median depth {np.median(depth):g}"
            sentence = f"{name}: {some} rankings are shallow ({median}) and miss relevant documents."
            kind = "Shallow rankings that miss relevant documents"
            notes.append(Note(sentence, DOUBTFUL, kind, f"{name} ({some} queries, {median})", runs=(name,)))
        if absent := int((depth == 0).sum()):
            some = f"{absent} of {queries} queries"
            sentence, kind = f"{name}: no documents at all for {some}.", "No documents at all"
            notes.append(Note(sentence, BROKEN, kind, f"{name} (on {some})", runs=(name,)))
    for name, source in scored.sources.items():
        if scores_rise_with_ranks(source):
            kind = RISING[:1].upper() + RISING[1:]
            notes.append(Note(f"{name}: {RISING}.", BROKEN, kind, name, runs=(name,)))
    if not judgments.judged_only:
        kind = "Far fewer judged documents than in the other runs"  # those without a judgment count as not relevant
        for name, share, others, said in hardly_judged(judgments, scored.runs, scored.sources):
            subject = f"{name} ({share:.0%} of the first {FIRST}, {others:.0%} in the others)"
            notes.append(Note(said, DOUBTFUL if share else BROKEN, kind, subject, runs=(name,)))
    for run_name, name, ends, said in scored.tie_warnings():
        fact, subject = f"{name} ({ends})", f"{name} of {run_name} ({ends})"
        notes.append(Note(f"{run_name}: {said}", DOUBTFUL, _MOVED, subject, runs=(run_name,), fact=fact))
    return gravest_first(notes)
