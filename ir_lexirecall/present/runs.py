"""When not to trust the values of runs: notes on rankings that are short, missing, tied, or hardly judged."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ir_lexirecall.data.matching import FIRST, hardly_judged
from ir_lexirecall.evaluation.scored_runs import ScoredRuns
from ir_lexirecall.evaluation.tie_audits import tie_warnings
from ir_lexirecall.present.notes import BROKEN, DOUBTFUL, Note, gravest_first

_MOVED = "Documents of equal score move means (give them different scores, or see tie_audit)"


def run_caveats(scored: ScoredRuns) -> list[Note]:
    """What to be careful about in runs that are not compared: rankings that are short, missing, tied, or hardly judged."""
    return gravest_first([*_on_runs(scored), *_on_judged(scored), *_on_ties(scored)])


def _on_ties(scored: ScoredRuns) -> Iterator[Note]:
    """A note for every mean that documents of equal score could change by more than 0.005."""
    return (
        Note(f"{run}: {said}", DOUBTFUL, _MOVED, f"{name} of {run} ({ends})", runs=(run,), fact=f"{name} ({ends})")
        for run, name, ends, said in tie_warnings(scored)
    )


def _on_runs(scored: ScoredRuns) -> Iterator[Note]:
    """Notes on rankings that are too short, or not there."""
    judgments = scored.judgments
    m = judgments.m(judgments.threshold)
    counted = m > 0
    queries = int(counted.sum())
    if not queries:
        return
    for name, run in scored.runs.items():
        relevant = run.relevant(judgments.threshold, None)
        depth, found = run.depth[counted], relevant.r[counted]
        missed = (found < m[counted]) & (depth < np.maximum(100, m[counted]))
        if (shallow := int(missed.sum())) > queries / 2:
            median = f"median depth {np.median(depth):g}"
            yield Note(
                f"{name}: {shallow} of {queries} rankings are shallow ({median}) and miss relevant documents.",
                DOUBTFUL,
                "Shallow rankings that miss relevant documents",
                f"{name} ({shallow} of {queries} queries, {median})",
                runs=(name,),
            )
        if absent := int((depth == 0).sum()):
            yield Note(
                f"{name}: no documents at all for {absent} of {queries} queries.",
                BROKEN,
                "No documents at all",
                f"{name} (on {absent} of {queries} queries)",
                runs=(name,),
            )


def _on_judged(scored: ScoredRuns) -> Iterator[Note]:
    """Notes on runs with far fewer judged documents than the others: those without a judgment count as not relevant."""
    if scored.judged_only:
        return
    for name, share, others, said in hardly_judged(scored.judgments, scored.runs, scored.sources):
        yield Note(
            said,
            DOUBTFUL if share else BROKEN,
            "Far fewer judged documents than in the other runs",
            f"{name} ({share:.0%} of the first {FIRST}, {others:.0%} in the others)",
            runs=(name,),
        )
