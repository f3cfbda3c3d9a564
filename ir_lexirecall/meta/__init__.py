"""Measuring measures: axioms, orientation, ties, sensitivity, stability and relations.

Every study gives a tidy DataFrame that says in ``attrs`` what was run; ``plot`` draws it,
``summary`` says what stands out. Studies of runs are methods of ``Study``, which reads the runs
once; the others are functions of measures (objects, or strings as in ``ir_measures``).

>>> from ir_lexirecall import meta
>>> table = meta.tie_probabilities(n=1000, m=10)
>>> table.attrs["function"], table["measure"].tolist()
('tie_probabilities', ['LexiRecall', 'TSE', 'RR', 'R@1000', 'Rprec'])
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ir_lexirecall._util.errors import check_number, entry
from ir_lexirecall.data.alignment import RunLike
from ir_lexirecall.data.judgments import Judgments, QrelsLike
from ir_lexirecall.evaluation.scored_runs import ScoredRuns, check_runs
from ir_lexirecall.measures.parsing import MeasuresLike
from ir_lexirecall.meta import agreements, missing_labels, sensitivity, two_judges
from ir_lexirecall.meta.checking import axioms, properties
from ir_lexirecall.meta.decisions import Decisions, labelled
from ir_lexirecall.meta.made_up_rankings import SimulatedRankings, simulate_rankings
from ir_lexirecall.meta.reach import provider_exposure, reachable_maximum
from ir_lexirecall.meta.records import plot, summary
from ir_lexirecall.meta.without_runs import (
    balancing_index,
    interval_scale,
    orientation,
    tie_probabilities,
)

__all__ = [
    "SimulatedRankings",
    "Study",
    "axioms",
    "balancing_index",
    "interval_scale",
    "orientation",
    "plot",
    "properties",
    "provider_exposure",
    "reachable_maximum",
    "simulate_rankings",
    "summary",
    "tie_probabilities",
]


class Study(Decisions):
    """Several runs, read once and scored once for all studies of them, which are methods.

    Queries without a relevant document take no part.

    Args:
        measures: measures, strings, and names of preferences (``'lexirecall'``, ``'rpp'``, ...), as
            in ``compare``: one, several, or a mapping of labels to them; ``()`` where a study needs
            none.
        qrels: judgments in any form that ``evaluate`` takes.
        runs: runs by name, in any form that ``evaluate`` takes, or aligned (``AlignedRun``); most
            studies need two.
        rel: smallest grade that counts as relevant.
        allow_empty: take runs without a query or document in common with the qrels, with a warning.
        progress: show progress bars; by default on a terminal only.

    Raises:
        ValueError: bad input, or an unknown measure; the message names the offender.

    >>> from ir_lexirecall import demo, meta
    >>> study = meta.Study(["AP", "lexirecall"], demo.qrels(), demo.runs())
    >>> study.ties(aggregate=True)[["measure", "pairs", "ties"]]
          measure  pairs  ties
    0          AP    160    28
    1  lexirecall    160    28
    >>> study.agreement()["agreement"].round(3).tolist()
    [0.955, 0.955]
    """

    @entry
    def __init__(
        self,
        measures: MeasuresLike,
        qrels: QrelsLike,
        runs: Mapping[str, RunLike],
        *,
        rel: float = 1,
        allow_empty: bool = False,
        progress: bool | None = None,
    ) -> None:
        check_number("rel", rel, above=0)
        labels = labelled(measures)
        check_runs(runs, 1)
        aligned = ScoredRuns.from_runs(
            {},
            Judgments.from_qrels(qrels),
            runs,
            allow_empty=allow_empty,
            progress=progress,
        )
        aligned.warn_of_hardly_judged()
        super().__init__(labels, aligned, rel, progress)

    ties: Final = agreements.ties
    agreement: Final = agreements.agreement
    unanimity: Final = agreements.unanimity
    correlation: Final = agreements.correlation
    per_query_kendall: Final = agreements.per_query_kendall
    discriminative_power: Final = sensitivity.discriminative_power
    achieved_significance: Final = sensitivity.achieved_significance
    split_half: Final = sensitivity.split_half
    degrade: Final = missing_labels.degrade
    stability: Final = missing_labels.stability
    judges: Final = two_judges.judges
