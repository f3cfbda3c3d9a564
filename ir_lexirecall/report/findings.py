"""What stands at the top of a page: the sentences of a result, what should be distrusted, and where."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ir_lexirecall.benchmark import Benchmark, BenchmarkSuite
from ir_lexirecall.preferences.result import Preferences
from ir_lexirecall.summary import grouped, notes_of_run


@dataclass(frozen=True)
class Summary:
    """The sentences at the top of a page, and what should be distrusted.

    Attributes:
        sentences: what the result says.
        notes: diagnostics of the whole, the gravest first.
        by_run: those that concern a single run, by its name, without it.
        of_pairs: diagnostics that concern a pair of runs.
    """

    sentences: Sequence[str]
    notes: Sequence[str]
    by_run: Mapping[str, list[str]]
    of_pairs: Sequence[str]


def summary_of(result: Benchmark | BenchmarkSuite | Preferences) -> Summary:
    """The summary of a result, its diagnostics sorted by what they concern."""
    said = result.finding
    pairs = [note for note in result.notes if len(note.runs) == 2]
    others = [note for note in result.notes if len(note.runs) < 2]
    runs = dict.fromkeys(run for note in others for run in note.runs)
    by_run = {run: notes_of_run(run, others) for run in runs}
    sentences = [re.sub(r"\bp <= (?=[0-9])", "p ≤ ", sentence) for sentence in said.sentences]
    return Summary(sentences, grouped(others), by_run, pairs)
