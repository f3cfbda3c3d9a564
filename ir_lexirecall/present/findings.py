"""What a result says: sentences, notes on what to be careful about, and a ranking.

Texts, notebooks, the command line and reports show the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall.data.matching import FIRST, hardly_judged
from ir_lexirecall.evaluation.scored_runs import ScoredRuns
from ir_lexirecall.io.rising_scores import fault_of_order
from ir_lexirecall.io.source import Source
from ir_lexirecall.measures.declaration import Measure
from ir_lexirecall.measures.parsing import parse_one
from ir_lexirecall.present import text as texts
from ir_lexirecall.present.tables import Shown
from ir_lexirecall.present.text import count, enumerated, gathered, listed

if TYPE_CHECKING:
    from ir_measures.measures.base import Measure as IRMeasure

    from ir_lexirecall.data.collection import Collection
    from ir_lexirecall.preferences.naming import Preference

# -- notes ---------------------------------------------------------------------------------------

BROKEN, DOUBTFUL, WEAK, ASIDE = range(4)
"""How grave a note is.

Broken: a run is broken, or no difference can be significant. Doubtful: numbers may be off. Weak:
there is little to go by. Aside: good to know.
"""

FEW_QUERIES = "Few queries"  # kind of a note
_MOVED = "Tied scores move means (break the ties, or see tie_audit)"


class Note(str):
    """A sentence on what to be careful about, and how grave it is.

    Attributes:
        gravity: one of ``BROKEN``, ``DOUBTFUL``, ``WEAK``, ``ASIDE``.
        kind: what notes on several runs or pairs have in common, for ``grouped``.
        subject: the run or pair, with its numbers.
        runs: names of the run or the pair that it concerns; empty where it concerns the whole.
        fact: of a note on one run, what it says: a measure, or numbers; for ``notes_of_run``.
        around: what stands before and after the subjects of several notes of its kind in one
            sentence; by default the kind with a colon, and a full stop.

    >>> gravest_first([Note("few queries", WEAK), Note("no documents", BROKEN)])
    ['no documents', 'few queries']
    """

    gravity: int
    kind: str
    subject: str
    runs: tuple[str, ...]
    fact: str
    around: tuple[str, str]

    def __new__(
        cls,
        sentence: str,
        gravity: int = WEAK,
        kind: str = "",
        subject: str = "",
        *,
        runs: tuple[str, ...] = (),
        fact: str = "",
        around: tuple[str, str] | None = None,
    ) -> Note:
        """Return a sentence with its gravity; the class describes the arguments."""
        note = super().__new__(cls, sentence)
        note.gravity = gravity
        note.kind, note.subject = kind, subject
        note.runs, note.fact = runs, fact
        note.around = around or (f"{kind}: ", ".")
        return note

    def within(self, name: str) -> Note:
        """Return the same note on a part of the result that has a name."""
        return Note(
            f"{name}: {self}", self.gravity, self.kind, f"{name}: {self.subject}"
        )


def grouped(notes: Iterable[Note]) -> list[Note]:
    """Join notes of one kind on several runs or pairs.

    >>> notes = [Note(f"{run}: empty.", BROKEN, "Empty", f"{run} (2 queries)") for run in "ab"]
    >>> grouped([*notes, Note("Only 3 queries."), Note("Only 3 queries.")])
    ['Empty: a (2 queries) and b (2 queries).', 'Only 3 queries.']
    """
    joined = []
    notes_of_kind = gathered(
        (note.kind or str(note), note) for note in dict.fromkeys(notes)
    )
    for alike in notes_of_kind.values():
        if len(alike) == 1:
            joined.append(alike[0])
            continue
        sentence = _in_one_sentence(alike, [note.subject for note in alike])
        joined.append(Note(sentence, min(note.gravity for note in alike)))
    return joined


def _in_one_sentence(notes: Sequence[Note], subjects: Sequence[str]) -> str:
    """Return what notes of one kind say about several subjects."""
    before, after = notes[0].around
    return f"{before}{enumerated(subjects)}{after}"


def notes_of_run(run: str, notes: Iterable[Note]) -> list[str]:
    """Return the notes on one run, in sentences that do not name it; one sentence for each kind.

    >>> notes = [
    ...     Note(f"a: ties move {name}.", kind="Ties move", runs=("a",), fact=name)
    ...     for name in ("AP", "RR")
    ... ]
    >>> notes_of_run("a", notes), notes_of_run("a", notes[:1])
    (['Ties move: AP and RR.'], ['Ties move AP.'])
    """
    on_run = []
    for note in notes:
        if note.runs == (run,) and note.fact:
            on_run.append((note.kind, note))
        elif note.runs == (run,):
            on_run.append((str(note), note))
    notes_of_kind = gathered(on_run)
    sentences = []
    for alike in notes_of_kind.values():
        if len(alike) == 1:
            sentences.append(_begun(alike[0].removeprefix(f"{run}: ")))
        else:
            facts = [note.fact for note in alike]
            sentences.append(_in_one_sentence(alike, facts))
    return sentences


def _begun(sentence: str) -> str:
    """Return a sentence with a capital, unless it begins with a name such as nDCG@10."""
    first = sentence.partition(" ")[0]
    if first.isalpha() and first.islower():
        return texts.capitalised(sentence)
    return sentence


def captions(names: Iterable[str]) -> list[str]:
    """Return the captions of measures of this library, each once; other names have none.

    >>> captions(["LR", "LR@100", "AP", "a label"])
    ['LR orders rankings as lexicographic recall does (Diaz et al. 2026).']
    """
    sentences = []
    for name in names:
        with suppress(ValueError):  # a label of the user's
            measure = parse_one(name)
            if isinstance(measure, Measure):
                sentences.append(measure.about().caption)
    return [*filter(None, dict.fromkeys(sentences))]


def gravest_first(notes: Iterable[Note]) -> list[Note]:
    """Return notes without repetitions, the gravest first."""
    return sorted(dict.fromkeys(notes), key=lambda note: note.gravity)


def run_caveats(scored: ScoredRuns, cutoff: float = inf) -> list[Note]:
    """Return the notes on rankings that are short, missing, tied, or hardly judged.

    Args:
        scored: the runs.
        cutoff: the deepest rank that a criterion looks at; infinite for whole rankings.
    """
    return gravest_first(
        [
            *_on_depths(scored, cutoff),
            *_on_rising_scores(scored),
            *_on_hardly_judged(scored),
            *_on_ties(scored),
        ]
    )


def deepest_cutoff(criteria: Iterable[IRMeasure | Preference]) -> float:
    """Return the largest cutoff of some criteria; infinite if one of them has none."""
    cutoffs = [criterion.params.get("cutoff", inf) for criterion in criteria]
    return max(cutoffs, default=inf)


def _on_depths(scored: ScoredRuns, cutoff: float) -> Iterator[Note]:
    """Yield notes on runs whose rankings miss relevant documents, as they are short or empty."""
    judgments = scored.judgments
    has_relevant = judgments.m(judgments.threshold) > 0
    n_relevant = judgments.m(judgments.threshold)[has_relevant]
    n_queries = len(n_relevant)
    if n_queries == 0:
        return
    for name, run in scored.runs.items():
        depth = run.depth[has_relevant]
        n_retrieved = run.found(judgments.threshold)[has_relevant]
        is_ranked = depth > 0
        n_rankings = int(is_ranked.sum())
        is_short = is_ranked & (depth < np.minimum(np.maximum(100, n_relevant), cutoff))
        n_shallow = int((is_short & (n_retrieved < n_relevant)).sum())
        if n_shallow > n_rankings / 2:
            median = f"median depth {np.median(depth[is_ranked]):g}"
            share = f"{n_shallow} of {n_rankings}"
            message = (
                f"{name}: {share} rankings are shallow ({median}) and miss relevant "
                "documents."
            )
            kind = "Shallow rankings that miss relevant documents"
            subject = f"{name} ({share} queries, {median})"
            yield Note(message, DOUBTFUL, kind, subject, runs=(name,))
        yield from on_absent_rankings(name, n_queries - n_rankings, n_queries)


def on_absent_rankings(name: str, n_absent: int, n_queries: int) -> Iterator[Note]:
    """Yield a note on a run that returns nothing for some queries."""
    if n_absent:
        share = f"{n_absent} of {n_queries} queries"
        lacks = "has no ranking" if n_absent > n_queries / 2 else "returns nothing"
        subject = f"{name} (on {share})"
        message = f"{name} {lacks} for {share}."
        yield Note(message, BROKEN, "No documents at all", subject, runs=(name,))


def _on_rising_scores(scored: ScoredRuns) -> Iterator[Note]:
    """Yield notes on runs whose scores rise with their ranks, or stand in their place."""
    for name, source in scored.sources.items():
        ranked = source.ranked_scores() if isinstance(source, Source) else []
        if fault := fault_of_order(ranked):
            kind = texts.capitalised(fault)
            yield Note(f"{name}: {fault}.", BROKEN, kind, name, runs=(name,))


def _on_hardly_judged(scored: ScoredRuns) -> Iterator[Note]:
    """Yield notes on runs with far fewer judged documents, which count as not relevant."""
    if scored.judgments.judged_only:
        return
    kind = "Far fewer judged documents than in the other runs"
    shares = hardly_judged(scored.judgments, scored.runs, scored.sources)
    for name, share, of_others, message in shares:
        subject = (
            f"{name} ({share:.0%} of the first {FIRST}, {of_others:.0%} in the others)"
        )
        yield Note(message, DOUBTFUL if share else BROKEN, kind, subject, runs=(name,))


def _on_ties(scored: ScoredRuns) -> Iterator[Note]:
    """Yield a note on each mean that depends on the order of documents of equal score."""
    for run, measure, ends, message in scored.tie_warnings():
        fact, subject = f"{measure} ({ends})", f"{measure} of {run} ({ends})"
        yield Note(
            f"{run}: {message}", DOUBTFUL, _MOVED, subject, runs=(run,), fact=fact
        )


# -- findings ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Finding:
    """What a collection or a study says. ``str()`` is the text that ``summary()`` gives.

    Attributes:
        sentences: what was found.
        notes: what to be careful about, the gravest first.
        ranking: a short table, which numbers its rows if they are runs. None: there is no table.
        title: what stands above the table.

    >>> import pandas as pd
    >>> ranking = pd.DataFrame({"run": ["bm25", "ql"], "AP": [0.5, 0.25]})
    >>> print(Finding(["2 runs."], ["Few queries."], ranking, "Means:"))
    2 runs.
    <BLANKLINE>
    Caveats:
    - Few queries.
    <BLANKLINE>
    Means:
       run   AP
    1  bm25  0.5000
    2  ql    0.2500
    """

    sentences: Sequence[str]
    notes: Sequence[str] = ()
    ranking: pd.DataFrame | None = None
    title: str = ""

    def __str__(self) -> str:
        parts = [" ".join(map(texts.printable, self.sentences))]
        if self.notes:
            notes = [f"- {texts.printable(note)}" for note in self.notes]
            parts.append("\n".join(["Caveats:", *notes]))
        if self.ranking is not None and len(self.ranking):
            table = _numbered(self.ranking).text()[0]
            if self.title:
                parts.append(f"{texts.printable(self.title)}\n{table}")
            else:
                parts.append(table)
        return "\n\n".join(parts)


def _numbered(ranking: pd.DataFrame) -> Shown:
    """Return a ranking as a table, with ranks before runs."""
    if "run" in ranking:
        ranking = ranking.copy()
        ranking.insert(0, "", range(1, len(ranking) + 1))
    return Shown.from_frame(ranking)


def collection_finding(collection: Collection) -> Finding:
    """Return a collection in a few sentences: its size, its judgments, what to be careful about.

    >>> from ir_lexirecall import load
    >>> print(collection_finding(load("lexirecall/demo")))  # doctest: +ELLIPSIS
    lexirecall/demo: 16 queries, ...
    """
    qrels, n_relevant = collection.qrels, collection.relevant_by_query
    queries = count(len(collection.queries), "query")
    documents = count(len(qrels[["query_id", "doc_id"]].drop_duplicates()), "judgment")
    if collection.n is not None:
        documents += f", of {collection.n:,} documents in the collection"
    sentences = [
        f"{collection.dataset_id}: {queries}, {len(n_relevant):,} of them judged.",
        f"{documents}.",
        *_on_judgments(collection),
    ]
    if collection.rules:
        sentences.append(f"Rankings are evaluated {collection.rules}.")
    measures = listed(map(str, collection.recommended()), most=20)
    sentences.append(f"Recommended measures: {measures}.")
    by_grade = qrels["relevance"].value_counts().sort_index(ascending=False)
    table = pd.DataFrame(
        {"grade": by_grade.index.astype(str), "judgments": by_grade.to_numpy()}
    )
    notes = gravest_first(_on_relevant_documents(n_relevant))
    return Finding(sentences, notes, table, title="Judgments by grade of relevance:")


def _on_judgments(collection: Collection) -> Iterator[str]:
    """Yield sentences on what is judged: relevant documents, subtopics, aspects."""
    n_relevant = collection.relevant_by_query[collection.relevant_by_query > 0]
    if len(n_relevant):
        ends = f"{n_relevant.min():,} to {n_relevant.max():,} (median {n_relevant.median():g})"
        grades = (
            f"from grade {collection.rel} on; the top grade is {collection.max_rel}"
        )
        yield f"Relevant documents of a query: {ends}, {grades}."
    if collection.has_subtopics:
        yield "Documents are judged for each subtopic of a query."
    if collection.aspects:
        aspects = [
            f"{name} (top grade {top})" for name, top in collection.aspects.items()
        ]
        yield f"Judged aspects: {listed(aspects)}."


def _on_relevant_documents(n_relevant: pd.Series) -> Iterator[Note]:
    """Yield notes on queries without relevant documents, few queries, and few documents."""
    of_queries = n_relevant[n_relevant > 0]
    n_without = len(n_relevant) - len(of_queries)
    if n_without:
        without = f"{count(n_without, 'judged query')} without a relevant document"
        yield Note(f"{without}: left out of comparisons.", ASIDE)
    if len(of_queries) < 25:
        queries = count(len(of_queries), "query")
        yield Note(f"Only {queries}: tests detect only large differences.", DOUBTFUL)
    if len(of_queries) and of_queries.median() < 3:
        noun = "document" if of_queries.median() == 1 else "documents"
        most = f"{of_queries.median():g} relevant {noun}"
        yield Note(f"Half of the queries have at most {most}.")
