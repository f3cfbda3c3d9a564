"""Inputs of a comparison, before anything is tested: ``Design`` and ``ComparedRuns``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self, TypeAlias

import numpy as np

from ir_lexirecall._util.arrays import Bools, Floats, Ints, PairIndices
from ir_lexirecall._util.errors import check_choice, check_number, shown, shown_names
from ir_lexirecall._util.lazy import Memoised, cached_property
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.selecting import among, index_of, of_type, without
from ir_lexirecall._util.versions import copied_as_one, versions
from ir_lexirecall.comparison.criteria import (
    Criterion,
    MeasureCriterion,
    PreferenceCriterion,
    all_differences,
)
from ir_lexirecall.comparison.shared_queries import (
    QueriesWithResults,
    SharedQueries,
)
from ir_lexirecall.comparison.verdicts import all_pairs
from ir_lexirecall.evaluation.scored_runs import ScoredRuns, check_runs
from ir_lexirecall.io.files import named_files
from ir_lexirecall.io.frames import table_of_frame
from ir_lexirecall.io.groups import QueryGroups, read_groups
from ir_lexirecall.io.shared_values import Pair, SharedValues
from ir_lexirecall.io.texts import TextSources
from ir_lexirecall.io.values import ValueTable
from ir_lexirecall.judging.predicted import LEAST, human_queries
from ir_lexirecall.measures.scoring import mean
from ir_lexirecall.significance import SignificanceTest

MarginLike: TypeAlias = float | str | Mapping[str, float | str]
"""A margin for all criteria, or one for each.

It is a number in the criterion's unit, or a text such as ``"2%"`` of the baseline's mean.
"""

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
        """Check that there are enough runs, among them the baseline, before any is read.

        Raises:
            ValueError: there are not, or the runs are not a mapping.
        """
        check_runs(runs, self.least)
        if self.baseline is not None:
            check_choice("baseline", self.baseline, [str(name) for name in runs])

    def groups_of(
        self, query_ids: Sequence[str], table: Any = None
    ) -> QueryGroups | None:
        """Return the groups of the queries, or None.

        A name that is not a file is that of a column of ``table``, if that is a table.
        """
        if self.groups is None:
            return None
        named = (
            isinstance(self.groups, str)
            and not named_files(self.groups)
            and table_of_frame(table) is not None
        )
        return read_groups(
            self.groups,
            query_ids,
            table=table if named else None,
            collection=self.collection,
        )

    def margins(
        self, criteria: Mapping[str, Criterion], runs: Sequence[str]
    ) -> dict[str, float] | None:
        """Return the margin of each criterion in its own unit; None without margins.

        Raises:
            ValueError: a margin without a baseline, below 0, not finite, relative to a preference,
                or for a criterion that is not there; or a criterion without a margin.
        """
        if self.margin is None:
            return None
        if self.baseline is None:
            raise ValueError("a margin needs a baseline; pass baseline=")
        margin_of = self.margin
        if not isinstance(margin_of, Mapping):
            margin_of = dict.fromkeys(criteria, margin_of)
        for name in margin_of:
            check_choice("criterion of a margin", str(name), criteria)
        absent = without(criteria, margin_of)
        if absent:
            raise ValueError(
                f"no margin for {absent[0]}; give one for every criterion, or one number for all"
            )
        baseline = list(runs).index(check_choice("baseline", self.baseline, runs))
        return {
            name: margin_in_unit(margin_of[name], criterion, baseline)
            for name, criterion in criteria.items()
        }


def margin_in_unit(margin: float | str, criterion: Criterion, baseline: int) -> float:
    """Return a margin in the unit of its criterion.

    Args:
        margin: a number, or a share of the baseline's mean such as ``"2%"``.
        criterion: the criterion.
        baseline: index of the baseline among the runs.

    Raises:
        ValueError: the margin is below 0, not finite, no share, or a share for a preference.
    """
    name = criterion.name
    if not isinstance(margin, str):
        return check_number(f"margin of {name}", margin, least=0)
    share = _PERCENT.fullmatch(margin)
    if share is None:
        raise ValueError(
            f"margin of {name}: expected a number, or a share of the baseline's mean such as "
            f"'2%', not {shown(margin)}"
        )
    if not criterion.is_measure:
        raise ValueError(
            f"margin of {name}: {margin} is relative to a mean, and a preference has no mean; "
            "give a number"
        )
    return float(share[1]) / 100 * abs(float(criterion.means[baseline]))


@dataclass(frozen=True, eq=False)
class ComparedRuns(Memoised):
    """Inputs of a comparison: runs, criteria, and how they are tested.

    Attributes:
        runs: names of the runs, in order.
        by: the criteria by name: measures, preferences, or both.
        baseline: the run that all others are compared with, or None for all pairs.
        test: how differences are tested, its level and correction.
        margins: by criterion the difference that does not matter; None without margins.
        scored: the aligned runs with their values; None if only values were given.
        results: for which queries the runs have results; None if only values were given.
        predicted: the same runs by predicted judgments of more queries, which then sharpen the
            tests; see ``compare``.
        groups: the group of each query, or None.
        given: the values, if something else computed them.
        texts: where reports look up texts of documents and queries by default.
        members: queries of the group that this is a part of; None for a whole collection.
        selected_pairs: the pairs that this is a part with; None for all.

    Raises:
        ValueError: ``predicted`` with fewer than 10 queries (in a group), a query that it lacks,
            ``cluster``, or a test other than ``'t'``.
    """

    runs: list[str]
    by: Mapping[str, Criterion] = field(repr=False)
    baseline: str | None = None
    test: SignificanceTest = field(default_factory=SignificanceTest)
    margins: Mapping[str, float] | None = None
    scored: ScoredRuns | None = field(default=None, repr=False)
    results: QueriesWithResults | None = field(default=None, repr=False)
    predicted: ComparedRuns | None = field(default=None, repr=False)
    groups: QueryGroups | None = field(default=None, repr=False)
    given: ValueTable | None = field(default=None, repr=False)
    texts: TextSources = field(default=TextSources(), repr=False)
    members: list[str] | None = field(default=None, repr=False)
    selected_pairs: tuple[Pair, ...] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        self.test.check_groups(self.groups)
        if self.has_seeds:
            self._check_test_of_seeds()
        if self.predicted is not None:
            self._check_predicted(self.predicted)

    @property
    def has_seeds(self) -> bool:
        """Whether runs have seeds, each of which moves all queries at once."""
        return self._kind_of_repeats == "seeds"

    def _check_test_of_seeds(self) -> None:
        """Raise if a test does not know seeds."""
        self._check_is_t("repeats='seeds'")
        for name, is_used in (
            ("cluster=True", self.test.cluster),
            ("predicted", self.predicted),
        ):
            if is_used:
                raise ValueError(
                    f"repeats='seeds' cannot be combined with {name}; leave one out"
                )

    def _check_predicted(self, predicted: ComparedRuns) -> None:
        """Check that predicted judgments have enough queries, and suit the test.

        Raises:
            ValueError: they do not.
        """
        human_queries(self.query_ids, predicted.query_ids)
        if self.test.cluster:
            raise ValueError(
                "predicted cannot be combined with cluster=True: its t-test samples queries; "
                "leave one out"
            )
        if self.groups is not None and predicted.groups is not None:
            sizes = dict.fromkeys(predicted.groups.names, 0) | self.groups.sizes
            few = [f"{group} ({size})" for group, size in sizes.items() if size < LEAST]
            if few:
                raise ValueError(
                    f"predicted needs at least {LEAST} queries judged by people in each group; "
                    f"fewer in {shown_names(few)}: merge groups, or leave groups out"
                )
        self._check_is_t("predicted")

    def _check_is_t(self, option: str) -> None:
        """Raise if another test than t is given with an option that needs t."""
        if self.test.name not in (None, "t"):
            raise ValueError(
                f"{option} needs the t-test, not {self.test.name!r}; leave test out"
            )

    # -- criteria --------------------------------------------------------------------------------

    @property
    def criteria(self) -> list[str]:
        """Names of the criteria, in order."""
        return list(self.by)

    @property
    def measures(self) -> list[str]:
        """Names of the criteria that are measures."""
        return [name for name, criterion in self.by.items() if criterion.is_measure]

    @property
    def defined_criteria(self) -> list[str]:
        """Names of the criteria by which all pairs can be compared on all queries that count.

        These are preferences, and measures whose values are all finite.
        """
        names = []
        for name, criterion in self.by.items():
            if not criterion.is_measure or np.isfinite(criterion.standings).all():
                names.append(name)
        return names

    def criterion(self, by: str | None = None) -> Criterion:
        """Return a criterion by its name; the first one by default.

        Raises:
            ValueError: no such criterion.
        """
        if by is None:
            return self.by[self.criteria[0]]
        return self.by[check_choice("criterion", str(by), self.criteria)]

    def names(self, by: str | None) -> list[str]:
        """Return the name of one criterion in a list, or the names of all if ``by`` is None."""
        if by is None:
            return self.criteria
        return [self.criterion(by).name]

    def test_of(self, by: str | None = None) -> SignificanceTest:
        """Return how the differences by a criterion are tested.

        If no test was named: t for a measure, sign for a preference. With predicted judgments, with
        seeds, and with groups as units, t for both, as these are about means.
        """
        criterion, test = self.criterion(by), self.test
        is_of_means = (
            criterion.is_measure or self.predicted is not None or self.has_seeds
        )
        if self.groups is not None and test.cluster:
            test = replace(test, groups=self.labels_of(criterion))
        return test.named(measure=is_of_means)

    # -- queries and groups of them --------------------------------------------------------------

    @cached_property
    def query_ids(self) -> list[str]:
        """All queries of the qrels, or those with values; of a part the queries of its group."""
        if self.members is not None:
            return self.members
        if self.scored is not None:
            return list(self.scored.judgments.query_ids)
        return max((criterion.query_ids for criterion in self.by.values()), key=len)

    @property
    def grouped(self) -> bool:
        """Whether results by group exist: groups that are not the units of the tests."""
        return self.groups is not None and not self.test.cluster

    def labels_of(self, criterion: Criterion) -> tuple[str, ...]:
        """Return the group of each query that counts."""
        assert self.groups is not None
        group = dict(
            zip(self.groups.query_ids, self.groups.labels.tolist(), strict=True)
        )
        return tuple(group[query_id] for query_id in criterion.query_ids)

    @cached_property
    def by_group(self) -> dict[str, Self]:
        """Return the same runs on the queries of each group, with its predicted judgments.

        Raises:
            ValueError: no groups were given, or they are the units of the tests.
        """
        if self.groups is None:
            raise ValueError("there are no groups of queries; pass groups=")
        if self.test.cluster:
            raise ValueError(
                "the groups are the units of the tests; "
                "compare without cluster=True for a table per group"
            )
        self.check_defined()
        predicted: Mapping[str, ComparedRuns] = {}
        if self.predicted is not None and self.predicted.groups is not None:
            predicted = self.predicted.by_group
        parts = {}
        for group, queries in self.groups:
            parts[group] = replace(
                self,
                by={
                    name: self._in_group(c, group, queries)
                    for name, c in self.by.items()
                },
                groups=None,
                predicted=predicted.get(group),
                members=[self.groups.query_ids[q] for q in queries],
            )
        return parts

    @cached_property
    def apart_by_group(self) -> dict[str, Bools]:
        """Which pairs share no query with results in each group, so that nothing is tested there.

        Shape ``(P,)`` each.
        """
        assert self.groups is not None
        apart = {}
        for group, queries in self.groups:
            apart[group] = np.zeros(len(self.pairs), dtype=bool)
            if self.results is not None:
                apart[group] = self.results.apart_on(queries, self.pairs)
        return apart

    def _in_group(self, criterion: Criterion, group: str, queries: Ints) -> Criterion:
        """Return a criterion on the queries of one group.

        Args:
            criterion: the criterion on all queries.
            group: name of the group.
            queries: indices of its queries among all queries of the qrels.
        """
        if isinstance(criterion, PreferenceCriterion):
            preferences = replace(criterion.preferences, some=queries)
            of_rankings = criterion.repeated and criterion.repeated.only(queries)
            return replace(criterion, preferences=preferences, repeated=of_rankings)
        labels = np.array(self.labels_of(criterion), dtype=object)
        counted = np.flatnonzero(labels == group)
        values = np.ascontiguousarray(criterion.values[:, counted])
        if self.scored is None:
            measure = None
        else:
            measure = self.scored.measures.get(criterion.name)
        if measure is None:
            means = values.mean(axis=1)
        else:
            means = np.array([mean(measure, row) for row in values])
        query_ids = [criterion.query_ids[q] for q in counted]
        if criterion.order is None:
            order = None
        else:
            order = criterion.order.on_queries(query_ids)
        repeated = criterion.repeated and criterion.repeated.only(counted)
        changed = {"values": values, "query_ids": query_ids, "means": means}
        return replace(
            criterion,
            **changed,
            repeated=repeated,
            order=order,
            is_binary_in_call=criterion.is_binary,
        )

    # -- pairs of runs ---------------------------------------------------------------------------

    @cached_property
    def pairs(self) -> list[Pair]:
        """Pairs that are compared: all, in the order of the runs, or each run with the baseline."""
        if self.selected_pairs is not None:
            return list(self.selected_pairs)
        return all_pairs(self.runs, self.baseline)

    @property
    def has_uneven_pairs(self) -> bool:
        """Whether each pair is compared on the values that both runs have, as runs lack some.

        Groups, predicted judgments and tests of all runs at once need values of all runs.
        """
        if (
            self.given is None
            or self.given.shared is None
            or self.selected_pairs is not None
        ):
            return False
        if (
            self.groups is not None
            or self.predicted is not None
            or self.members is not None
        ):
            return False
        return not any(self.test_of(name).procedure.at_once for name in self.criteria)

    @property
    def _shared_values(self) -> SharedValues:
        """What each pair of runs has values for, if there are uneven pairs."""
        assert self.given is not None
        assert self.given.shared is not None
        return self.given.shared

    @cached_property
    def pair_parts(self) -> list[tuple[Ints, ComparedRuns]]:
        """Parts in which all runs have the same values, each with the indices of its pairs.

        Raises:
            ValueError: the runs of a pair share no values.
        """
        if not self.has_uneven_pairs:
            return [(np.arange(len(self.pairs)), self)]
        parts = []
        for indices, table in self._shared_values.tables(self.pairs):
            parts.append(
                (
                    np.array(indices),
                    self._with_pairs([self.pairs[i] for i in indices], table),
                )
            )
        return parts

    def part_of_pair(self, a: str, b: str) -> ComparedRuns:
        """Return the part in which two runs are compared.

        Raises:
            ValueError: the runs share no values.
        """
        if not self.has_uneven_pairs or a == b:
            return self
        ((_, table),) = self._shared_values.tables([(a, b)])
        return self._with_pairs([(a, b)], table)

    def _with_pairs(self, pairs: Sequence[Pair], table: ValueTable) -> ComparedRuns:
        """Return a part with some of the pairs.

        Args:
            pairs: names of the two runs of each.
            table: the values of these runs.
        """
        by: dict[str, Criterion] = {}
        for name, criterion in self.by.items():
            assert isinstance(criterion, MeasureCriterion)
            values = table.values[name]
            means = values.mean(axis=1)
            by[name] = replace(
                criterion, values=values, query_ids=table.query_ids, means=means
            )
        baseline = None
        if self.baseline in table.runs:
            baseline = self.baseline
        return replace(
            self,
            runs=table.runs,
            by=by,
            baseline=baseline,
            given=table,
            selected_pairs=tuple(pairs),
        )

    def joined(self, arrays: Sequence[Any]) -> Any:
        """Return an array of all pairs, made of those of the parts."""
        order = np.argsort(np.concatenate([indices for indices, _ in self.pair_parts]))
        return np.concatenate(arrays)[order]

    def joined_each(self, parts: Iterable[Iterable[Any]]) -> list[Any]:
        """Join several arrays of the parts, each to one array of all pairs; see ``joined``."""
        return [self.joined(arrays) for arrays in zip(*parts, strict=True)]

    def pair_counts(self, by: str) -> tuple[Ints, Ints, Ints, Ints]:
        """Count the queries of each pair: all, won, lost, and those that cannot be compared."""
        counts = [part.by[by].counts(*part.pair_indices) for _, part in self.pair_parts]
        wins, losses, incomparable = self.joined_each(counts)
        return self.n_queries_of_pairs(by), wins, losses, incomparable

    def n_queries_of_pairs(self, by: str) -> Ints:
        """Return on how many queries each pair is compared."""
        return self.joined(
            [
                np.full(len(indices), len(part.by[by].query_ids))
                for indices, part in self.pair_parts
            ]
        )

    def n_shared_cells(self, by: str) -> Ints | None:
        """Return how many of MTEB's cells each pair shares; None of other values."""
        return self._shared_values.n_cells(by, self.pairs)

    def pair_differences(self, by: str) -> Floats:
        """Return the mean difference of each pair."""
        return self.joined(
            [
                part.by[by].mean_differences(*part.pair_indices)
                for _, part in self.pair_parts
            ]
        )

    @cached_property
    def pair_indices(self) -> PairIndices:
        """Return the indices of the first and of the second run of every pair."""
        index = index_of(self.runs)
        first = np.array([index[a] for a, _ in self.pairs], dtype=np.int64)
        second = np.array([index[b] for _, b in self.pairs], dtype=np.int64)
        return first, second

    @property
    def pair_columns(self) -> dict[str, Any]:
        """The columns ``run_a`` and ``run_b`` of tables with a row per pair."""
        return {
            "run_a": [a for a, _ in self.pairs],
            "run_b": [b for _, b in self.pairs],
        }

    def differences_of(self, by: str, pairs: PairIndices) -> Floats:
        """Return differences of pairs on all queries, shape ``(P, Q)``.

        They are 0 on queries that do not count for the criterion.
        """
        criterion = self.by[by]
        column = index_of(self.query_ids)
        differences = np.zeros((len(pairs[0]), len(column)))
        counted = [column[query_id] for query_id in criterion.query_ids]
        differences[:, counted] = all_differences(criterion, pairs)
        return differences

    @cached_property
    def poorly_shared(self) -> list[SharedQueries]:
        """Pairs of runs that share less than half of the queries that either has results for."""
        if self.results is None:
            return []
        return list(self.results.poorly_shared(self.pairs))

    # -- names and provenance --------------------------------------------------------------------

    @property
    def unit(self) -> str:
        """The unit of samples: ``"query"``, or ``"task"`` for values of whole tasks."""
        if self.given is not None and self.given.per_task:
            return "task"
        return "query"

    @property
    def source(self) -> str:
        """Name of the judgments: a data set's id or a file's name; empty if they have no name."""
        if self.scored is None:
            return ""
        return self.scored.judgments.source

    @cached_property
    def provenance(self) -> dict[str, Any]:
        """Return what was compared and how it was tested, for the ``attrs`` of tables."""
        return copied_as_one(
            {
                "criteria": self.criteria,
                "baseline": self.baseline,
                "queries": {
                    name: len(criterion.query_ids)
                    for name, criterion in self.by.items()
                },
                **self._source_provenance(),
                **self._test_provenance(),
                "versions": versions(),
            }
        )

    def _source_provenance(self) -> dict[str, Any]:
        """Return what is known of measures, judgments, runs and values; None for what is not."""
        least_grade = {}
        for name, criterion in of_type(self.by, PreferenceCriterion).items():
            least_grade[name] = criterion.preferences.rel
        provenance: dict[str, Any] = {
            "direction": self._directions,
            "rel": least_grade,
            "rules": "",
            "metadata": {},
            "left_out": [],
        }
        if self.scored is not None:
            provenance["rules"] = self.scored.judgments.conditions
            provenance["metadata"] = self.scored.metadata
        if self.given is not None:
            provenance["left_out"] = list(self.given.skipped)
        return {name: entry or None for name, entry in provenance.items()}

    @property
    def _directions(self) -> dict[str, str]:
        """Which value of each measure is better; empty if it is the larger one of all, surely."""
        directions = {name: self.by[name].direction for name in self.measures}
        if not any(directions.values()):
            return {}
        return {name: text or "larger is better" for name, text in directions.items()}

    def _test_provenance(self) -> dict[str, Any]:
        """Return how differences are tested; None for options that do not apply."""
        test = self.test
        test_of = {name: self.test_of(name) for name in self.criteria}
        # Intervals of the means of measures are drawn at random, whatever the test.
        is_random = bool(self.measures) or any(
            one.resampled for one in test_of.values()
        )
        provenance: dict[str, Any] = {
            "test": {name: of_criterion.name for name, of_criterion in test_of.items()},
            "correction": test.counted_correction,
            "family": None,
            "alpha": test.alpha,
            "repeats": self._kind_of_repeats,
            "margin": self.margins,
            "groups": None,
            "n_resamples": None,
            "seed": None,
            "predicted": None,
        }
        if test.family == "all":
            provenance["family"] = "all criteria"
        if is_random:
            provenance["n_resamples"] = test.n_resamples
            provenance["seed"] = test.seed
        if self.groups is not None:
            units = ", the units of tests" if test.cluster else ""
            provenance["groups"] = f"{len(self.groups)}{units}"
        if self.predicted is not None:
            provenance["predicted"] = f"{len(self.predicted.query_ids)} queries"
        return provenance

    @property
    def _kind_of_repeats(self) -> str | None:
        """Kind of the repeats of runs, ``"samples"`` or ``"seeds"``; None without repeats."""
        for criterion in self.by.values():
            if criterion.repeated is not None:
                return criterion.repeated.kind
        return None

    def frame(self, data: Any, **labels: Any) -> pd.DataFrame:
        """Return a table with the provenance in its ``attrs``."""
        table = pd.DataFrame(data, **labels)
        table.attrs.update(self.provenance)
        return table

    # -- checks ----------------------------------------------------------------------------------

    def check_compared(self, by: str | None = None) -> None:
        """Check that queries count for a criterion, so that something is compared.

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
        """Check that values of a measure, or of all, are finite numbers; given values are.

        Raises:
            ValueError: a value is not.
        """
        if self.scored is not None:
            names = among(self.names(by), self.measures)
            self.scored.with_measures(names).check_defined()
