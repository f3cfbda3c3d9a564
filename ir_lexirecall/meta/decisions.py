"""Several runs, scored once, and what every measure or preference decides about every two of them on every query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from ir_measures.measures.base import Measure as IRMeasure
from numpy.typing import NDArray

from ir_lexirecall._util.arrays import Floats, Ints, levelled, row_blocks
from ir_lexirecall._util.errors import check_integer, check_number
from ir_lexirecall._util.lazy import cached_property
from ir_lexirecall.data.alignment import RunLike
from ir_lexirecall.data.judgments import Judgments, QrelsLike
from ir_lexirecall.evaluation.scored_runs import ScoredRuns, check_runs
from ir_lexirecall.measures.parsing import MeasuresLike, by_label, parse_measures
from ir_lexirecall.measures.scoring import smaller_is_better
from ir_lexirecall.preferences.counts import PreferenceCounts
from ir_lexirecall.preferences.functions import NAMES

Signs = NDArray[np.int8]
INCOMPARABLE = 2  # beside the signs -1, 0 and 1
_BLOCK = 2**22  # differences that are held at once


@dataclass(frozen=True)
class Decisions:
    """What measures and preferences say of several runs, on the queries with relevant documents.

    A decision is a pair of runs on a query: the first is better (1), the second is (-1), or they tie (0).
    """

    scored: ScoredRuns
    labels: dict[str, IRMeasure | str]  # measures, or names of preferences, by the label that tables give them
    rel: float = 1  # of preferences, and of the queries that count
    cutoff: int | None = None  # of preferences

    @classmethod
    def from_runs(
        cls,
        measures: MeasuresLike,
        qrels: QrelsLike,
        runs: Mapping[str, RunLike],
        rel: float = 1,
        cutoff: int | None = None,
        allow_empty: bool = False,
        progress: bool | None = None,
        *,
        least_measures: int = 1,
    ) -> Decisions:
        """Check the arguments of a study (those of ``ties``), read at least two runs once, and score them with every measure."""
        check_number("rel", rel, above=0)
        if cutoff is not None:
            check_integer("cutoff", cutoff)
        labels = parse_labels(measures)
        if len(labels) < least_measures:
            raise ValueError(f"at least {least_measures} different measures are needed, not {len(labels)}")
        check_runs(runs, 2)
        judgments = Judgments.from_qrels(qrels)
        check_relevant(judgments, rel)
        parsed = {label: measure for label, measure in labels.items() if not isinstance(measure, str)}
        scored = ScoredRuns.from_runs(parsed, judgments, runs, allow_empty=allow_empty, progress=progress)
        scored.check_defined()
        scored.warn_of_hardly_judged()
        return cls(scored, labels, rel, cutoff)

    @property
    def judgments(self) -> Judgments:
        """What the runs are aligned with."""
        return self.scored.judgments

    @property
    def names(self) -> list[str]:
        """Names of the runs."""
        return self.scored.names

    @property
    def queries(self) -> Ints:
        """Positions, in the judgments, of the queries with relevant documents."""
        return self.counts.queries

    @property
    def query_ids(self) -> list[str]:
        """Ids of ``queries``."""
        return [self.judgments.query_ids[q] for q in self.queries]

    @cached_property
    def pairs(self) -> tuple[Ints, Ints]:
        """The runs of every pair, by their place."""
        first, second = np.triu_indices(len(self.names), 1)
        return first, second

    @cached_property
    def counts(self) -> PreferenceCounts:
        """The preferences, counted."""
        return PreferenceCounts(self.scored.runs, self.rel, self.cutoff)

    def values(self, label: str) -> Floats:
        """Values of a measure, or a run's mean preference over all others, shape ``(S, queries)``."""
        measure = self.labels[label]
        if isinstance(measure, str):
            return self.counts.count(measure).against_others.T
        return self.scored.values[label][:, self.queries]

    def signs(self, label: str, incomparable: int = 0) -> Signs:
        """Which run of each pair is better on each query, shape ``(P, queries)``: 1, -1, 0 for a tie, or ``incomparable``."""
        measure = self.labels[label]
        if not isinstance(measure, str):
            return self.value_signs(label)
        a, b = self.pairs
        signs = np.empty((len(a), len(self.queries)), dtype=np.int8)
        for queries, block in self.counts.blocks(measure):
            of_pairs = block[:, a, b].T
            signs[:, queries] = np.where(np.isnan(of_pairs), incomparable, np.sign(of_pairs))
        return signs

    def value_signs(self, label: str) -> Signs:
        """Which run of each pair has the better value on each query, shape ``(P, queries)``."""
        a, b = self.pairs
        values = levelled(self.rising(label))
        signs = np.empty((len(a), values.shape[1]), dtype=np.int8)
        for some in row_blocks(len(a), values.shape[1], _BLOCK):
            signs[some] = np.sign(values[a[some]] - values[b[some]])
        return signs

    def rising(self, label: str) -> Floats:
        """``values``, negated where the smaller one is better."""
        measure, values = self.labels[label], self.values(label)
        return values if isinstance(measure, str) else rising(measure, values)

    def with_judgments(self, judgments: Judgments) -> Decisions:
        """The same rankings, judged and scored again; ``judgments`` are of the same documents in the same order."""
        return replace(self, scored=self.scored.with_judgments(judgments))

    @property
    def provenance(self) -> dict[str, Any]:
        """What a study says of its input."""
        return {
            "measures": printed(self.labels),
            "runs": self.names,
            "queries": len(self.queries),
            "excluded_queries": len(self.judgments) - len(self.queries),
            "rel": self.rel,
            "cutoff": self.cutoff,
        }


def rising(measure: IRMeasure, values: Floats) -> Floats:
    """The values of a measure, negated where the smaller one is better: in every study, the larger one is.

    >>> import ir_measures
    >>> from ir_lexirecall import SL3
    >>> rising(ir_measures.AP, np.array([0.5])), rising(SL3(), np.array([3.0]))
    (array([0.5]), array([-3.]))
    """
    return -values if smaller_is_better(measure) else values


def parse_labels(measures: MeasuresLike) -> dict[str, IRMeasure | str]:
    """Measures and names of preferences by label: a string as it is, an object as it prints.

    >>> parse_labels(["lexirecall", "nDCG@10"])
    {'lexirecall': 'lexirecall', 'nDCG@10': nDCG@10}
    """
    try:
        unparsed = by_label(measures)
        preferences = {label: item for label, item in unparsed.items() if isinstance(item, str) and item in NAMES}
        parsed = parse_measures({label: item for label, item in unparsed.items() if label not in preferences})
    except ValueError as error:
        raise ValueError(f"{error}; preferences are {', '.join(NAMES)}") from None
    if not unparsed:
        raise ValueError("no measure is named; give at least one, such as LR, 'nDCG@10' or 'lexirecall'")
    for label, measure in parsed.items():
        if label in NAMES:
            raise ValueError(f"{label!r} is the name of a preference; label the measure {measure} otherwise")
    return {label: preferences.get(label) or parsed[label] for label in unparsed}


def parse_two_sets(
    measures: MeasuresLike, others: MeasuresLike | None, name: str
) -> tuple[dict[str, IRMeasure | str], dict[str, IRMeasure | str]]:
    """``parse_labels`` of ``measures`` and of the argument ``name``, by default the same; a label means one thing in both."""
    first = parse_labels(measures)
    second = first if others is None else parse_labels(others)
    clash = [label for label in first if label in second and str(first[label]) != str(second[label])]
    if clash:
        raise ValueError(f"{clash[0]!r} names one measure in measures and another one in {name}")
    return first, second


def printed(labels: Mapping[str, object]) -> dict[str, str]:
    """Measures as the provenance of a study has them."""
    return {label: str(measure) for label, measure in labels.items()}


def parse_measures_for(measures: MeasuresLike) -> dict[str, IRMeasure]:
    """Measures by label, at least one."""
    parsed = parse_measures(measures)
    if not parsed:
        raise ValueError("no measure is named; give at least one, such as TSE or 'nDCG@10'")
    return parsed


def check_relevant(judgments: Judgments, rel: float) -> None:
    """Refuse judgments without a relevant document."""
    if not judgments.m(rel).any():
        raise ValueError(f"no query of the qrels has a relevant document (rel={rel:g})")


def means(values: Floats) -> Floats:
    """Means over the queries, to 12 digits: runs that are equally good must tie, whatever the last bits of sums say."""
    return np.array([float(f"{mean:.12g}") for mean in values.mean(axis=1).tolist()])
