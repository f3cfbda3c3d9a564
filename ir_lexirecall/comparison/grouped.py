"""Runs compared within each group of queries: the same criteria and tests, corrected over all groups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall._util.arrays import Ints
from ir_lexirecall._util.lazy import cached_property
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall.comparison.criteria import Criterion, MeasureCriterion
from ir_lexirecall.comparison.testing import margin_columns, mean_intervals, one_sided_tests, pair_columns
from ir_lexirecall.comparison.verdicts import two_sided
from ir_lexirecall.io.groups import QueryGroups
from ir_lexirecall.measures.scoring import mean
from ir_lexirecall.significance import SignificanceTest, corrected


@dataclass(frozen=True, eq=False)
class InGroups:
    """What is compared in each group: see the attributes of ``Comparison``.

    Attributes:
        tests: of each criterion.
        measures: those that values were computed with; others have plain means.
        places: the runs of every pair by their place among the runs.
    """

    groups: QueryGroups
    runs: Sequence[str]
    by: Mapping[str, Criterion]
    tests: Mapping[str, SignificanceTest]
    measures: Mapping[str, IRMeasure]
    places: tuple[Ints, Ints]
    margins: Mapping[str, float] | None

    def means(self, name: str) -> Iterator[dict[str, Any]]:
        """The columns of ``Comparison.group_means`` for each group, by one criterion."""
        for group, criterion in self._criteria(name):
            low, high = mean_intervals(criterion, self.tests[name])
            named = {"group": group, "queries": len(criterion.query_ids)}
            yield {**named, "run": self.runs, "mean": criterion.means, "ci_low": low, "ci_high": high}

    @cached_property
    def pairs(self) -> dict[str, list[dict[str, Any]]]:
        """The columns of ``Comparison.group_table`` for each criterion and group."""
        found = {name: self._tested(name) for name in self.by}
        if self.margins is None:
            return found
        one_sided = {
            (name, group): one_sided_tests(criterion, self.tests[name], self.places, self.margins[name])
            for name in self.by
            for group, criterion in self._criteria(name)
        }
        test = next(iter(self.tests.values()))
        better, _ = test.corrected(np.concatenate([tested.better for tested in one_sided.values()]))
        for key, gains in zip(one_sided, np.split(better, len(one_sided)), strict=True):
            one_sided[key] = replace(one_sided[key], better=gains)
        with_margin = margin_columns(one_sided, test)
        for name, parts in found.items():
            for part in parts:
                del part["verdict"]
                part.update(with_margin[name, part["group"]])
        return found

    def _tested(self, name: str) -> list[dict[str, Any]]:
        test, parts = self.tests[name], []
        for group, criterion in self._criteria(name):
            columns, _ = pair_columns(criterion, test, self.runs, self.places)
            parts.append({"group": group, "queries": len(criterion.query_ids), **columns})
        # Tukey's HSD accounts for the pairs within a group only, so that its p are corrected, too.
        adjusted, reject = corrected(np.concatenate([part["p"] for part in parts]), test.correction, test.alpha)
        verdicts = two_sided(reject, self.by[name].sign * np.concatenate([part["estimate"] for part in parts]))
        pairs = len(self.places[0])
        for place, part in enumerate(parts):
            some = slice(place * pairs, (place + 1) * pairs)
            part.update(p_corrected=adjusted[some], verdict=verdicts[some])
        return parts

    def _criteria(self, name: str) -> Iterator[tuple[str, Criterion]]:
        """A criterion on the queries of each group."""
        criterion = self.by[name]
        labels = np.array(labels_of(self.groups, criterion), dtype=object)
        for group, members in self.groups:
            if not isinstance(criterion, MeasureCriterion):
                yield group, replace(criterion, preferences=replace(criterion.preferences, some=members))
                continue
            queries = np.flatnonzero(labels == group)
            values = np.ascontiguousarray(criterion.values[:, queries])
            query_ids = [criterion.query_ids[q] for q in queries]
            measure = self.measures.get(name)
            means = values.mean(axis=1) if measure is None else np.array([mean(measure, row) for row in values])
            yield group, replace(criterion, values=values, query_ids=query_ids, means=means)


def labels_of(groups: QueryGroups, criterion: Criterion) -> tuple[str, ...]:
    group = dict(zip(groups.query_ids, groups.labels.tolist(), strict=True))
    return tuple(group[query_id] for query_id in criterion.query_ids)


def stacked_groups(parts: Mapping[str, Iterable[Mapping[str, Any]]]) -> pd.DataFrame:
    tables = [
        pd.DataFrame({"criterion": name, **columns}) for name, of_groups in parts.items() for columns in of_groups
    ]
    return pd.concat(tables, ignore_index=True)
