"""Runs, what they are compared by, and how they are tested, before anything is tested: ``Design`` and ``ComparedRuns``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self, TypeAlias

import numpy as np

from ir_lexirecall._util.arrays import Floats
from ir_lexirecall._util.errors import check_choice, check_number, entry, shown, shown_names
from ir_lexirecall._util.lazy import Memoised, cached_property
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.versions import versions
from ir_lexirecall.comparison.criteria import (
    Criterion,
    MeasureCriterion,
    Places,
    PreferenceCriterion,
)
from ir_lexirecall.comparison.shared_queries import SharedQueries, poorly_shared
from ir_lexirecall.comparison.verdicts import all_pairs
from ir_lexirecall.evaluation.scored_runs import ScoredRuns, check_runs
from ir_lexirecall.io.columns import is_file
from ir_lexirecall.io.frames import table_of_frame
from ir_lexirecall.io.groups import QueryGroups, read_groups
from ir_lexirecall.io.texts import TextSources
from ir_lexirecall.io.values import ValueTable
from ir_lexirecall.judging.predicted import LEAST, human_queries
from ir_lexirecall.measures.scoring import mean
from ir_lexirecall.significance import SignificanceTest

MarginLike: TypeAlias = float | str | Mapping[str, float | str]
"""A margin for all criteria, or by criterion: a number in the criterion's unit, or ``"2%"`` of the baseline's mean."""

_PERCENT = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*%\s*")


@dataclass(frozen=True)
class Design:
    """How runs are compared: see ``compare``, whose arguments these are.

    Raises:
        ValueError: groups as units where there are none.
    """

    baseline: str | None = None
    margin: MarginLike | None = None
    test: SignificanceTest = field(default_factory=SignificanceTest)
    predicted: Any = None
    groups: Any = None  # as ``compare`` takes them, or ``QueryGroups``
    allow_empty: bool = False
    least: int = 2  # how many runs are needed
    collection: str | None = None  # of which of several groups are wanted

    def __post_init__(self) -> None:
        self.test.check_groups(self.groups)

    def check_runs(self, runs: Any) -> None:
        """Refuse runs that are no mapping of at least so many, or lack the baseline, before any is read."""
        check_runs(runs, self.least)
        if self.baseline is not None:
            check_choice("baseline", self.baseline, [str(name) for name in runs])

    def groups_of(self, query_ids: Sequence[str], table: Any = None) -> QueryGroups | None:
        """The groups of the queries; a name that is no file is that of a column of ``table``, where that is a table."""
        if self.groups is None:
            return None
        named = (
            isinstance(self.groups, str)
            and not is_file(self.groups)
            and table_of_frame(table) is not None
        )
        return read_groups(
            self.groups, query_ids, table=table if named else None, collection=self.collection
        )

    def margins(
        self, criteria: Mapping[str, Criterion], runs: Sequence[str]
    ) -> dict[str, float] | None:
        """The margin of each criterion in its own unit; None where there is none.

        Raises:
            ValueError: a margin without a baseline, below 0, not finite, relative to a preference,
                or for a criterion that is not there; or a criterion without a margin.
        """
        if self.margin is None:
            return None
        if self.baseline is None:
            raise ValueError(
                "a margin needs a baseline that runs may not fall behind; pass baseline="
            )
        given = (
            self.margin
            if isinstance(self.margin, Mapping)
            else dict.fromkeys(criteria, self.margin)
        )
        for name in given:
            check_choice("criterion of a margin", str(name), criteria)
        if lacking := [name for name in criteria if name not in given]:
            raise ValueError(
                f"no margin for {lacking[0]}; give one for every criterion, or one number for all"
            )
        margins = {}
        for name, criterion in criteria.items():
            margin = given[name]
            if not isinstance(margin, str):
                margins[name] = check_number(f"margin of {name}", margin, least=0)
                continue
            if (share := _PERCENT.fullmatch(margin)) is None:
                asked = "expected a number, or a share of the baseline's mean such as '2%'"
                raise ValueError(f"margin of {name}: {asked}, not {shown(margin)}")
            if not criterion.is_measure:
                said = (
                    f"{margin} is relative to a mean, and a preference has no mean; give a number"
                )
                raise ValueError(f"margin of {name}: {said}")
            margins[name] = (
                float(share[1]) / 100 * abs(float(criterion.means[runs.index(self.baseline)]))
            )
        return margins


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
    members: list[str] | None = field(
        default=None, repr=False
    )  # of the group that this is a part of

    def __post_init__(self) -> None:
        self.test.check_groups(self.groups)
        if self.predicted is not None:
            human_queries(self.query_ids, self.predicted.query_ids)
            if self.test.cluster:
                raise ValueError(
                    "predicted cannot be combined with cluster=True: its t-test samples queries"
                )
            if self.groups is not None and self.predicted.groups is not None:
                sizes = dict.fromkeys(self.predicted.groups.names, 0) | self.groups.sizes
                if few := [f"{group} ({size})" for group, size in sizes.items() if size < LEAST]:
                    raise ValueError(
                        f"predicted needs at least {LEAST} queries judged by people in each group; fewer in {shown_names(few)}: merge "
                        "groups, or leave groups out"
                    )
            if self.test.name not in (None, "t"):
                raise ValueError(
                    f"predicted needs the t-test, not {self.test.name!r}; leave test out"
                )

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
        return self.by[
            self.criteria[0] if by is None else check_choice("criterion", str(by), self.criteria)
        ]

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

    @cached_property
    def by_group(self) -> dict[str, Self]:
        """The same runs, compared on the queries of each group; so are the predicted judgments, where they have groups."""
        if self.groups is None:
            raise ValueError("there are no groups of queries; pass groups=")
        if self.test.cluster:
            raise ValueError(
                "the groups are the units of the tests; compare without cluster=True for a table per group"
            )
        self.check_defined()
        predicted = (
            {}
            if self.predicted is None or self.predicted.groups is None
            else self.predicted.by_group
        )
        parts = {}
        for group, some in self.groups:
            by: dict[str, Criterion] = {}
            for name, criterion in self.by.items():
                if isinstance(criterion, PreferenceCriterion):
                    by[name] = replace(
                        criterion, preferences=replace(criterion.preferences, some=some)
                    )
                    continue
                queries = np.flatnonzero(np.array(self.labels_of(criterion), dtype=object) == group)
                values = np.ascontiguousarray(criterion.values[:, queries])
                measure = None if self.scored is None else self.scored.measures.get(name)
                means = (
                    values.mean(axis=1)
                    if measure is None
                    else np.array([mean(measure, row) for row in values])
                )
                query_ids = [criterion.query_ids[q] for q in queries]
                by[name] = replace(criterion, values=values, query_ids=query_ids, means=means)
            members = [self.groups.query_ids[q] for q in some]
            parts[group] = replace(
                self, by=by, groups=None, predicted=predicted.get(group), members=members
            )
        return parts

    def differences_of(self, by: str, places: Places) -> Floats:
        """Differences of pairs of runs on all queries, 0 where a criterion has nothing to say, shape ``(P, Q)``."""
        criterion, place = self.by[by], {query_id: q for q, query_id in enumerate(self.query_ids)}
        differences = np.zeros((len(places[0]), len(place)))
        counted = [place[query_id] for query_id in criterion.query_ids]
        differences[:, counted] = np.concatenate(
            [differences[:0, counted], *criterion.differences(*places)]
        )
        return differences

    @cached_property
    def poorly_shared(self) -> list[SharedQueries]:
        """The pairs of runs that share less than half of the queries that either has results for."""
        return [] if self.scored is None else list(poorly_shared(self.scored, self.pairs))

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
        rel = {
            name: c.preferences.rel
            for name, c in self.by.items()
            if isinstance(c, PreferenceCriterion)
        }
        directions = {name: self.by[name].direction or "larger is better" for name in self.measures}
        resampled = any(self.test_of(name).resampled for name in self.criteria)
        return {
            "criteria": self.criteria,
            "baseline": self.baseline,
            "queries": {name: len(criterion.query_ids) for name, criterion in self.by.items()},
            "direction": directions
            if any(self.by[name].direction for name in directions)
            else None,
            "rel": rel or None,
            "rules": (self.scored and self.scored.judgments.conditions) or None,
            "metadata": (self.scored and self.scored.metadata) or None,
            "left_out": list(self.given.skipped)
            if self.given is not None and self.given.skipped
            else None,
            "test": {name: self.test_of(name).name for name in self.criteria},
            "correction": self.test.counted_correction,
            "family": "all criteria" if self.test.family == "all" else None,
            "alpha": self.test.alpha,
            "margin": self.margins,
            "groups": self.groups
            and f"{len(self.groups)}{', the units of tests' if self.test.cluster else ''}",
            "n_resamples": self.test.n_resamples if resampled or self.measures else None,
            "seed": self.test.seed if resampled or self.measures else None,
            "predicted": None
            if self.predicted is None
            else f"{len(self.predicted.query_ids)} queries",
            "versions": versions(),
        }

    def _frame(self, data: Any, **labels: Any) -> pd.DataFrame:
        table = pd.DataFrame(data, **labels)
        table.attrs.update(self.provenance)
        return table

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
        a, b = (
            np.array([place[pair[side]] for pair in self.pairs], dtype=np.int64) for side in (0, 1)
        )
        return a, b

    @entry
    def per_query(self, by: str | None = None) -> pd.DataFrame:
        """Values of a measure, or mean preferences over all other runs: a row per query (index ``query_id``), a column per run."""
        criterion = self.criterion(by)
        values = (
            criterion.values if isinstance(criterion, MeasureCriterion) else criterion.standings
        )
        return self._frame(
            values.T.copy(), index=pd.Index(criterion.query_ids, name="query_id"), columns=self.runs
        )

    @property
    def grouped(self) -> bool:
        """Whether there is something to show of each group of queries: not where groups are the units of the tests."""
        return self.groups is not None and not self.test.cluster

    def check_compared(self, by: str | None = None) -> None:
        """Raise if no query counts for a criterion, so that it compares nothing.

        Raises:
            ValueError: no query has a relevant document.
        """
        criterion = self.criterion(by)
        if not criterion.query_ids:
            raise ValueError(
                "no query has a relevant document: nothing can be compared by "
                f"{criterion.name}; name a measure, or give qrels with relevant documents"
            )

    def check_defined(self, by: str | None = None) -> None:
        """Refuse values of a measure, or of all, that are not finite numbers; those that were given are."""
        if self.scored is not None:
            names = [name for name in self._names(by) if name in self.measures]
            self.scored.with_measures(names).check_defined()
