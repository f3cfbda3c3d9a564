"""``ComparedRuns``: runs, what they are compared by, and how they are tested, before anything is tested."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from ir_lexirecall._util.arrays import Floats
from ir_lexirecall._util.errors import check_choice, entry, shown_names
from ir_lexirecall._util.lazy import Memoised, cached_property
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.versions import versions
from ir_lexirecall.comparison.criteria import Criterion, MeasureCriterion, Places, PreferenceCriterion
from ir_lexirecall.comparison.verdicts import all_pairs
from ir_lexirecall.evaluation.scored_runs import ScoredRuns
from ir_lexirecall.io.groups import QueryGroups
from ir_lexirecall.io.texts import TextSources
from ir_lexirecall.io.values import ValueTable
from ir_lexirecall.judging.predicted import LEAST, human_queries
from ir_lexirecall.measures.scoring import mean
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
    given: ValueTable | None = field(default=None, repr=False)
    texts: TextSources = field(default=TextSources(), repr=False)
    members: list[str] | None = field(default=None, repr=False)  # of the group that this is a part of

    def __post_init__(self) -> None:
        self.test.check_groups(self.groups)
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
        """All queries of the qrels, or those with values; of a group its own."""
        if self.members is not None:
            return self.members
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
        if self.groups is not None and test.cluster:
            test = replace(test, groups=self.labels_of(criterion))
        return test.named(measure=criterion.is_measure or self.predicted is not None)

    def labels_of(self, criterion: Criterion) -> tuple[str, ...]:
        """The group of each query that counts."""
        assert self.groups is not None
        group = dict(zip(self.groups.query_ids, self.groups.labels.tolist(), strict=True))
        return tuple(group[query_id] for query_id in criterion.query_ids)

    def in_group(self, group: str) -> Self:
        """The same runs, compared on the queries of a group; so are the predicted judgments, where they have groups."""
        assert self.groups is not None
        by: dict[str, Criterion] = {}
        for name, criterion in self.by.items():
            if isinstance(criterion, PreferenceCriterion):
                some = np.flatnonzero(self.groups.code == self.groups.names.index(group))
                by[name] = replace(criterion, preferences=replace(criterion.preferences, some=some))
                continue
            queries = np.flatnonzero(np.array(self.labels_of(criterion), dtype=object) == group)
            values = np.ascontiguousarray(criterion.values[:, queries])
            measure = None if self.scored is None else self.scored.measures.get(name)
            means = values.mean(axis=1) if measure is None else np.array([mean(measure, row) for row in values])
            by[name] = replace(
                criterion, values=values, query_ids=[criterion.query_ids[q] for q in queries], means=means
            )
        other = self.predicted
        predicted = other.in_group(group) if other is not None and other.groups is not None else None
        return replace(self, by=by, groups=None, predicted=predicted, members=self.groups.members(group))

    def differences_of(self, by: str, places: Places) -> Floats:
        """Differences of pairs of runs on all queries, 0 where a criterion has nothing to say, shape ``(P, Q)``."""
        criterion, place = self.by[by], {query_id: q for q, query_id in enumerate(self.query_ids)}
        differences = np.zeros((len(places[0]), len(place)))
        counted = [place[query_id] for query_id in criterion.query_ids]
        differences[:, counted] = np.concatenate([differences[:0, counted], *criterion.differences(*places)])
        return differences

    @property
    def cluster(self) -> bool:
        """Whether the groups, instead of queries, are the units of tests and intervals."""
        return self.test.cluster

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
        return self._frame({**self.of_pairs, **columns})

    def _names(self, by: str | None) -> list[str]:
        """The criterion that was asked for, or all."""
        return self.criteria if by is None else [self.criterion(by).name]

    @cached_property
    def pairs(self) -> list[tuple[str, str]]:
        """The pairs compared: all, in the order of the runs, or every other run with the baseline."""
        return all_pairs(self.runs, self.baseline)

    @property
    def of_pairs(self) -> dict[str, Any]:
        """The columns that name the pairs."""
        return {"run_a": [a for a, _ in self.pairs], "run_b": [b for _, b in self.pairs]}

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
