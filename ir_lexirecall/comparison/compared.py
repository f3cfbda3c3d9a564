"""``ComparedRuns``: runs, what they are compared by, and how they are tested, before anything is tested."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from ir_lexirecall._util.errors import check_choice, entry, shown_names
from ir_lexirecall._util.lazy import Memoised, cached_property
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.versions import versions
from ir_lexirecall.comparison.criteria import Criterion, MeasureCriterion, Places, PreferenceCriterion
from ir_lexirecall.comparison.pair_tests import labels_of
from ir_lexirecall.comparison.verdicts import all_pairs
from ir_lexirecall.evaluation.scored_runs import ScoredRuns
from ir_lexirecall.io.groups import QueryGroups
from ir_lexirecall.io.texts import TextSources
from ir_lexirecall.io.values import ValueTable
from ir_lexirecall.judging.predicted import LEAST, human_queries
from ir_lexirecall.significance import SignificanceTest


@dataclass(frozen=True, eq=False)
class ComparedRuns(Memoised):
    """What a ``Comparison``, which says what its attributes are, compares."""

    runs: list[str]
    by: Mapping[str, Criterion] = field(repr=False)
    baseline: str | None = None
    test: SignificanceTest = field(default_factory=SignificanceTest)
    margins: Mapping[str, float] | None = None
    scored: ScoredRuns | None = field(default=None, repr=False)
    predicted: ComparedRuns | None = field(default=None, repr=False)
    groups: QueryGroups | None = field(default=None, repr=False)
    cluster: bool = False
    given: ValueTable | None = field(default=None, repr=False)
    texts: TextSources = field(default=TextSources(), repr=False)

    def __post_init__(self) -> None:
        if self.predicted is not None:
            human_queries(self.query_ids, self.predicted.query_ids)
            if self.cluster:
                raise ValueError("predicted cannot be combined with cluster=True: its t-test samples queries")
            if self.groups is not None and self.predicted.groups is not None:
                sizes = dict.fromkeys(self.predicted.groups.names, 0) | self.groups.sizes
                if few := [f"{group} ({size})" for group, size in sizes.items() if size < LEAST]:
                    raise ValueError(
                        f"predicted needs at least {LEAST} queries judged by people in each group; fewer in {shown_names(few)}: merge "
                        "groups, or leave groups out"
                    )
            if self.test.name not in (None, "t"):
                raise ValueError(f"predicted needs the t-test, not {self.test.name!r}; leave test out")

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self  # nothing in it changes; tables that carry it in their attrs are copied often

    @property
    def criteria(self) -> list[str]:
        """Names of the criteria, in order."""
        return list(self.by)

    @property
    def measures(self) -> list[str]:
        """Names of the criteria that are measures."""
        return [name for name, criterion in self.by.items() if criterion.is_measure]

    @cached_property
    def query_ids(self) -> list[str]:
        """All queries of the qrels, or those with values."""
        if self.scored is not None:
            return list(self.scored.judgments.query_ids)
        return max((criterion.query_ids for criterion in self.by.values()), key=len)

    def criterion(self, by: str | None = None) -> Criterion:
        """A criterion by its name; the first one by default.

        Raises:
            ValueError: no such criterion.
        """
        return self.by[self.criteria[0] if by is None else check_choice("criterion", str(by), self.criteria)]

    def test_of(self, by: str | None = None) -> SignificanceTest:
        """How the differences by a criterion are tested: where no test was named, t for a measure, sign for a preference.

        With predicted judgments t for both: they sharpen means. So do groups as units.
        """
        criterion, test = self.criterion(by), self.test
        if self.groups is not None and self.cluster:
            test = replace(test, groups=labels_of(self.groups, criterion))
        return test.named(measure=criterion.is_measure or self.predicted is not None)

    @property
    def unit(self) -> str:
        """What differences are sampled over: queries, or tasks where values are of whole tasks."""
        return "task" if self.given is not None and self.given.per_task else "query"

    @property
    def source(self) -> str:
        """What the judgments are called: a data set's id, or a file's name; empty where they have no name."""
        return "" if self.scored is None else self.scored.judgments.source

    @cached_property
    def provenance(self) -> dict[str, Any]:
        """What was compared, and with what: in the ``attrs`` of every table."""
        rel = {name: c.preferences.rel for name, c in self.by.items() if isinstance(c, PreferenceCriterion)}
        directions = {name: self.by[name].direction or "larger is better" for name in self.measures}
        resampled = any(self.test_of(name).resampled for name in self.criteria)
        return {
            "criteria": self.criteria,
            "baseline": self.baseline,
            "queries": {name: len(criterion.query_ids) for name, criterion in self.by.items()},
            "direction": directions if any(self.by[name].direction for name in directions) else None,
            "rel": rel or None,
            "rules": (self.scored and self.scored.judgments.rules) or None,
            "metadata": (self.scored and self.scored.metadata) or None,
            "left_out": list(self.given.skipped) if self.given is not None and self.given.skipped else None,
            "test": {name: self.test_of(name).name for name in self.criteria},
            "correction": self.test.counted_correction,
            "alpha": self.test.alpha,
            "margin": self.margins,
            "groups": self.groups and f"{len(self.groups)}{', the units of tests' if self.cluster else ''}",
            "n_resamples": self.test.n_resamples if resampled or self.measures else None,
            "seed": self.test.seed if resampled or self.measures else None,
            "predicted": None if self.predicted is None else f"{len(self.predicted.query_ids)} queries",
            "versions": versions(),
        }

    def _frame(self, data: Any, **labels: Any) -> pd.DataFrame:
        table = pd.DataFrame(data, **labels)
        table.attrs.update(self.provenance)
        return table

    def _of_pairs(self, columns: Mapping[str, Any]) -> pd.DataFrame:
        """A row per pair, beginning with its runs."""
        return self._frame({"run_a": [a for a, _ in self.pairs], "run_b": [b for _, b in self.pairs], **columns})

    def _names(self, by: str | None) -> list[str]:
        """The criterion that was asked for, or all."""
        return self.criteria if by is None else [self.criterion(by).name]

    @cached_property
    def pairs(self) -> list[tuple[str, str]]:
        """The pairs compared: all, in the order of the runs, or every other run with the baseline."""
        return all_pairs(self.runs, self.baseline)

    @cached_property
    def places(self) -> Places:
        """The runs of every pair by their place among the runs."""
        place = {name: i for i, name in enumerate(self.runs)}
        a, b = (np.array([place[pair[side]] for pair in self.pairs], dtype=np.int64) for side in (0, 1))
        return a, b

    @entry
    def per_query(self, by: str | None = None) -> pd.DataFrame:
        """Values of a measure, or mean preferences over all other runs: a row per query (index ``query_id``), a column per run."""
        criterion = self.criterion(by)
        values = criterion.values if isinstance(criterion, MeasureCriterion) else criterion.standings
        return self._frame(values.T.copy(), index=pd.Index(criterion.query_ids, name="query_id"), columns=self.runs)

    @property
    def grouped(self) -> bool:
        """Whether there is something to show of each group of queries: not where groups are the units of the tests."""
        return self.groups is not None and not self.cluster

    def _check_defined(self, criterion: Criterion) -> None:
        if isinstance(criterion, MeasureCriterion) and self.scored is not None:
            self.scored.with_measures([criterion.name]).check_defined()

    def _refuse_clusters(self, what: str) -> None:
        """Refuse groups as units for what looks at single queries."""
        if self.cluster:
            raise ValueError(f"{what} queries that are independent of each other; compare without cluster=True")
