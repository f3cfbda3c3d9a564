"""Decisions of measures and preferences about every two of several runs on every query.

Runs are read once and scored once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from ir_measures.measures.base import Measure as IRMeasure
from numpy.typing import NDArray

from ir_lexirecall._util.arrays import Floats, Ints, row_blocks
from ir_lexirecall._util.blocks import BLOCK
from ir_lexirecall._util.lazy import cached_property
from ir_lexirecall._util.rounding import levelled
from ir_lexirecall._util.selecting import among, of_type, without_keys
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.evaluation.scored_runs import ScoredRuns, check_runs
from ir_lexirecall.measures.parsing import MeasuresLike, by_own_label, parse_measures
from ir_lexirecall.measures.scoring import smaller_is_better
from ir_lexirecall.preferences.counts import PreferenceCounts
from ir_lexirecall.preferences.functions import NAMES
from ir_lexirecall.preferences.naming import Preference, parse_preference

Signs = NDArray[np.int8]
INCOMPARABLE = 2  # beside the signs -1, 0 and 1


class Decisions:
    """Decisions of measures and preferences between runs, on the queries with relevant documents.

    A decision compares two runs on a query: the first is better (1), the second is (-1), or they
    tie (0). Measures are computed when a study first needs their values, and once.

    Attributes:
        labels: measures and preferences, by the label that tables give them.
        aligned: the runs.
        rel: lowest relevant grade, for choosing queries and for preferences without one.
        progress: whether to show progress bars; None: on a terminal only.
    """

    def __init__(
        self,
        labels: dict[str, IRMeasure | Preference],
        aligned: ScoredRuns,
        rel: float,
        progress: bool | None = None,
    ) -> None:
        self.labels: dict[str, IRMeasure | Preference] = labels
        self.aligned: ScoredRuns = aligned
        self.rel: float = rel
        self.progress: bool | None = progress
        self._counted: dict[tuple[float, int | None, float], PreferenceCounts] = {}

    def check(self, runs: int = 2, measures: int = 1) -> None:
        """Require so many runs and measures, and a query with a relevant document."""
        if measures and not self.labels:
            raise ValueError(
                "no measure is named; give at least one, such as LR, 'nDCG@10' or 'lexirecall'"
            )
        if len(self.labels) < measures:
            raise ValueError(
                f"at least {measures} different measures are needed, not {len(self.labels)}"
            )
        check_runs(self.aligned.runs, runs)
        if not len(self.queries):
            raise ValueError(
                f"no query of the qrels has a relevant document (rel={self._largest_rel:g}); "
                "give a smaller rel"
            )

    @property
    def judgments(self) -> Judgments:
        """What the runs are aligned with."""
        return self.aligned.judgments

    @property
    def names(self) -> list[str]:
        """Names of the runs."""
        return self.aligned.names

    @property
    def _largest_rel(self) -> float:
        preferences = of_type(self.labels, Preference).values()
        return max([self.rel, *map(self.rel_of, preferences)])

    @cached_property
    def queries(self) -> Ints:
        """Positions, in the judgments, of the queries with relevant documents."""
        return np.flatnonzero(self.judgments.m(self._largest_rel))

    @cached_property
    def measures(self) -> dict[str, IRMeasure]:
        """Those of ``labels`` that are no preferences."""
        return of_type(self.labels, IRMeasure)

    @cached_property
    def scored(self) -> ScoredRuns:
        """Return the runs with the values of ``measures``; raise if one is not a number."""
        scored = self.aligned.scored_by(self.measures, self.progress)
        scored.check_defined()
        return scored

    @cached_property
    def pairs(self) -> tuple[Ints, Ints]:
        """Index of the first and of the second run of every pair."""
        first, second = np.triu_indices(len(self.names), 1)
        return first, second

    def rel_of(self, preference: Preference) -> float:
        """Smallest grade that counts as relevant for a preference."""
        return float(preference.params.get("rel", self.rel))

    def counts(self, preference: Preference) -> PreferenceCounts:
        """Return the counts of a preference."""
        key = (self.rel_of(preference), preference["cutoff"], self._largest_rel)
        if key not in self._counted:
            self._counted[key] = PreferenceCounts(
                self.aligned.runs, *key[:2], self.queries
            )
        return self._counted[key]

    def values(self, label: str) -> Floats:
        """Return values of a measure, or mean preferences over all other runs, shape `(S, Q)`."""
        measure = self.labels[label]
        if isinstance(measure, Preference):
            return self.counts(measure).count(measure.NAME).against_others.T
        return self.scored.values[label][:, self.queries]

    def rising(self, label: str) -> Floats:
        """``values``, negated where the smaller one is better."""
        measure, values = self.labels[label], self.values(label)
        if isinstance(measure, Preference):
            return values
        return rising(measure, values)

    def signs(self, label: str, incomparable: int = 0) -> Signs:
        """Return which run of each pair is better on each query, shape `(P, Q)`.

        1 for the first run, -1 for the second, 0 for a tie, or ``incomparable``.
        """
        measure, (a, b) = self.labels[label], self.pairs
        if not isinstance(measure, Preference):
            return self.value_signs(label)
        signs = np.empty((len(a), len(self.queries)), dtype=np.int8)
        for queries, block in self.counts(measure).blocks(measure.NAME):
            of_pairs = block[:, a, b].T
            signs[:, queries] = np.where(
                np.isnan(of_pairs), incomparable, np.sign(of_pairs)
            )
        return signs

    def value_signs(self, label: str) -> Signs:
        """Which run of each pair has the better value on each query, shape ``(P, queries)``."""
        a, b = self.pairs
        values = levelled(self.rising(label))
        signs = np.empty((len(a), values.shape[1]), dtype=np.int8)
        for block in row_blocks(len(a), values.shape[1], BLOCK):
            signs[block] = np.sign(values[a[block]] - values[b[block]])
        return signs

    def with_judgments(self, judgments: Judgments) -> Decisions:
        """Return the same rankings, scored with other grades of the same documents."""
        aligned = self.aligned.with_judgments(judgments)
        return Decisions(self.labels, aligned, self.rel, progress=False)

    @property
    def provenance(self) -> dict[str, Any]:
        """What a study says of its input."""
        return {
            "measures": {label: str(measure) for label, measure in self.labels.items()},
            "runs": self.names,
            "queries": len(self.queries),
            "excluded_queries": len(self.judgments) - len(self.queries),
            "rel": self.rel,
        }


def labelled(measures: MeasuresLike) -> dict[str, IRMeasure | Preference]:
    """Return measures and preferences by label.

    Raises:
        ValueError: one is unknown, or a label is the name of another preference.
    """
    try:
        unparsed = by_own_label(measures)
        preferences = {}
        for label, item in unparsed.items():
            preference = parse_preference(item)
            if preference is not None:
                preferences[label] = preference
        parsed = parse_measures(without_keys(unparsed, preferences))
    except ValueError as error:
        if str(error).endswith("?"):
            hint = ""
        else:
            hint = f"; preferences are {', '.join(NAMES)}"
        raise ValueError(f"{error}{hint}") from None
    if clash := among(parsed, NAMES):
        measure = parsed[clash[0]]
        raise ValueError(
            f"{clash[0]!r} is the name of a preference; label the measure {measure} otherwise"
        )
    return {label: preferences.get(label) or parsed[label] for label in unparsed}


def rising(measure: IRMeasure, values: Floats) -> Floats:
    """Return the values of a measure, negated if the smaller one is better.

    >>> import ir_measures
    >>> from ir_lexirecall import SL3
    >>> rising(ir_measures.AP, np.array([0.5])), rising(SL3(), np.array([3.0]))
    (array([0.5]), array([-3.]))
    """
    if smaller_is_better(measure):
        return -values
    return values


def parse_measures_for(measures: MeasuresLike) -> dict[str, IRMeasure]:
    """Measures by label, at least one."""
    parsed = parse_measures(measures)
    if not parsed:
        raise ValueError(
            "no measure is named; give at least one, such as TSE or 'nDCG@10'"
        )
    return parsed


def means(values: Floats) -> Floats:
    """Return means over the queries, to 12 digits.

    Runs that are equally good must tie, whatever the last bits of sums are.
    """
    return np.array([float(f"{mean:.12g}") for mean in values.mean(axis=1).tolist()])
