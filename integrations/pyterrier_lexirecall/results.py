"""What ``pt.lexirecall.Experiment`` gives back: the result of ``pt.Experiment`` with the numbers of a ``Comparison``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import pandas as pd

from ir_lexirecall.comparison import Comparison
from ir_lexirecall.comparison.comparing import comparison_of
from ir_lexirecall.comparison.margins import MarginLike
from ir_lexirecall.evaluation.scored_runs import ScoredRuns
from ir_lexirecall.io.groups import GroupsLike
from ir_lexirecall.measures.scoring import is_added_up, smaller_is_better
from ir_lexirecall.significance import SignificanceTest
from pyterrier_lexirecall.collecting import EXECUTION
from pyterrier_lexirecall.columns import (
    STATISTICS,
    WITH_MARGIN,
    ColumnBuilder,
    Statistics,
    highlighted,
    in_order,
    measure_columns,
    statistics_against,
    statistics_in,
    statistics_of,
    tested_measures,
)
from pyterrier_lexirecall.testing import PairedTest, RecordingTest, paired_test

HIDDEN = str(EXECUTION)


@dataclass
class Results:
    """Results of an experiment: its attributes are what it was called with; ``options`` are those of ``pt.Experiment``."""

    systems: list[Any]
    names: list[Any]
    metrics: list[Any]
    preferences: list[str]
    baselines: list[int]
    several: bool
    test: SignificanceTest
    function: PairedTest | None
    correction: str | None
    margin: MarginLike | None
    rel: float | None
    cutoff: int | None
    predicted: pd.DataFrame | None
    groups: GroupsLike | None
    cluster: bool
    highlight: str | None
    options: dict[str, Any]

    def __post_init__(self) -> None:
        # The tree plan runs the systems in an order of its own: distinct names tell whose result is whose.
        unique = len(set(map(str, self.names))) == len(self.names)
        self.distinct = [str(name) if unique else f"{i}: {name}" for i, name in enumerate(self.names)]
        self.needs_rankings = bool(self.preferences)
        self.preferences = self.preferences if len(self.systems) > 1 else []
        self.recorded = RecordingTest(paired_test(self.function or self.test), EXECUTION.has_values)
        self.as_dataframe, self.perquery = self.options["dataframe"], self.options["perquery"]
        self.tree = self.options["plan"] == "tree"

    def finished(self, result: Any, comparison: Comparison | None) -> Any:
        """The result without the hidden measure, with preferences, under the names that the user gave."""
        if self.perquery == "both":
            averages, rows = result
            averages, rows = self._averages(averages, comparison), self._rows(rows, comparison)
            return type(result)(averages, rows) if self.as_dataframe else (averages, rows)
        return self._rows(result, comparison) if self.perquery else self._averages(result, comparison)

    def _averages(self, result: Any, comparison: Comparison | None) -> Any:
        if not self.as_dataframe:
            return self._averages_dict(result, comparison)
        table = ColumnBuilder(self.names)
        measures = {name: measure for name, measure in measure_columns(self.metrics).items() if name in result}
        means = self._means(comparison)
        for name, measure in measures.items():
            is_cost = measure is None or smaller_is_better(measure)  # the time is one, too
            table.add(
                name, self._rounded(name, means[name]) if name in means else result[name], "-" if is_cost else "+"
            )
        kinds = [*self.statistics_of_pyterrier, *([] if self.margin is None else WITH_MARGIN)]
        for baseline in self.baselines:
            statistics = self._statistics(result, comparison, baseline)
            for name in measures:
                table.add_statistics(name, statistics, kinds, self._suffix(baseline))
        known = {f"{name} {kind}" for name in [*measures, HIDDEN] for kind in STATISTICS} | {HIDDEN}
        for name in result:
            if name not in known and name not in table.columns:  # whatever else PyTerrier may have to say
                table.add(name, result[name])
        for against, preference, means_over in self._mean_preferences(comparison):
            name, end = f"pref:{preference}", self._suffix(against)
            table.add(f"{name}{end}", self._rounded(name, means_over), "+")
            if comparison is not None and against is not None:
                statistics = statistics_in(self._against(comparison, against), preference)
                table.add_statistics(preference, statistics, kinds, end, title=name)
        frame = pd.DataFrame(table.columns)
        frame.attrs["comparison"] = comparison
        return highlighted(frame, self.highlight, table.better)

    @property
    def statistics_of_pyterrier(self) -> tuple[str, ...]:
        return STATISTICS[: 3 if self.correction is None else None]

    def _means(self, comparison: Comparison | None) -> dict[str, list[float]]:
        """The means of the measures that the comparison has; counts are added up, as PyTerrier does."""
        if comparison is None or comparison.scored is None:
            return {}
        measures = {name: comparison.scored.measures[name] for name in comparison.measures}
        return {name: comparison.by[name].means.tolist() for name, m in measures.items() if not is_added_up(m)}

    def _suffix(self, baseline: int | None) -> str:
        """How columns about this baseline end: with its name where there are several."""
        return f" ({self.distinct[baseline]})" if self.several and baseline is not None else ""

    def comparison(self, scored: ScoredRuns, baseline: int | None) -> Comparison:
        return comparison_of(
            scored,
            {**scored.measures, **{name: name for name in self.preferences}},
            baseline=None if baseline is None else self.distinct[baseline],
            test=self.test,
            margin=self.margin,
            rel=scored.judgments.threshold if self.rel is None else self.rel,
            cutoff=self.cutoff,
        )

    def _against(self, comparison: Comparison, baseline: int) -> Comparison:
        """The comparison with a baseline, by whose mean a margin may go."""
        if self.distinct[baseline] == comparison.baseline or self.margin is None:
            return comparison.with_baseline(self.distinct[baseline])
        assert comparison.scored is not None
        against = self.comparison(comparison.scored, baseline)
        return replace(against, groups=comparison.groups, cluster=comparison.cluster)

    def _statistics(self, result: pd.DataFrame, comparison: Comparison | None, baseline: int) -> Statistics:
        """The statistics of the measures against a baseline: the comparison's, else PyTerrier's or made as it makes them."""
        first = self.baselines[0]
        if baseline == first or len(self.systems) < 2:
            statistics = statistics_of(result)
        else:
            recorded = self.recorded.values(len(self.systems), first, tested_measures(result.columns))
            del recorded[HIDDEN]
            statistics = statistics_against(baseline, recorded, self.recorded.test, self.correction, self.test.alpha)
        if comparison is None or len(self.systems) < 2:
            return statistics
        against = self._against(comparison, baseline)
        if self.cluster and (others := [name for name, _ in statistics if name not in (*comparison.measures, HIDDEN)]):
            raise ValueError(f"{others[0]} cannot be tested with groups as units; leave it or cluster=True out")
        for name in comparison.measures:
            p_by_function = {
                key: column
                for key, column in statistics.items()
                if self.function and key[0] == name and key[1] not in ("+", "-")
            }
            statistics |= statistics_in(against, name) | p_by_function
        return statistics

    def _mean_preferences(self, comparison: Comparison | None) -> Iterator[tuple[int | None, str, list[float]]]:
        """For each baseline and preference: these, and each system's mean preference over the baseline, or all others."""
        baselines: Sequence[int | None] = self.baselines or [None]
        for baseline, preference in product(baselines, self.preferences) if comparison is not None else ():
            assert comparison is not None
            if baseline is None:
                yield baseline, preference, comparison.criterion(preference).means.tolist()
            else:
                yield baseline, preference, comparison.matrix(preference)[self.distinct[baseline]].tolist()

    def _rounded(self, name: str, numbers: Sequence[float]) -> list[float]:
        places = self.options["round"]
        if isinstance(places, Mapping):
            places = places.get(name)
        return [number if places is None else round(number, places) for number in numbers]

    def _averages_dict(self, means: dict[str, dict[str, float]], comparison: Comparison | None) -> dict[str, Any]:
        compared = self._means(comparison)
        added = {f"pref:{p}{self._suffix(b)}": over for b, p, over in self._mean_preferences(comparison)}
        finished = {}
        for system, (name, distinct) in enumerate(zip(self.names, self.distinct, strict=True)):
            row = means[distinct if self.tree else name] | {m: column[system] for m, column in compared.items()}
            finished[name] = {measure: row[measure] for measure in measure_columns(self.metrics) if measure in row}
            finished[name] |= {column: of_systems[system] for column, of_systems in added.items()}
        return finished

    def _rows(self, rows: Any, comparison: Comparison | None) -> Any:
        """Values per query; a query without relevant documents has no preferences."""
        order = measure_columns(self.metrics)
        preferences = self.preferences if comparison is not None else []
        values = {f"pref:{name}": comparison.per_query(name) for name in preferences if comparison is not None}
        if not self.as_dataframe:
            finished = {}
            for system, by_query in rows.items():
                finished[system] = {q: {m: row[m] for m in order if m in row} for q, row in by_query.items()}
                for name, table in values.items():
                    for query_id, value in table[self.distinct[system]].items():
                        finished[system][query_id][name] = value
            return finished
        rows = rows[rows["measure"] != HIDDEN]
        own_names = dict(zip(self.distinct, self.names, strict=True))
        if self.tree:
            rows = rows.assign(name=rows["name"].map(own_names))
        further = [
            pd.DataFrame(
                {
                    "name": own_names[system],
                    "qid": table.index,
                    "measure": name,
                    "value": self._rounded(name, table[system].tolist()),
                }
            )
            for name, table in values.items()
            for system in self.distinct
        ]
        if further:
            added = pd.concat(further, ignore_index=True)
            added.index += rows.index.max() + 1
            rows = pd.concat([rows, added])
        rows = in_order(rows, [*order, *values])
        rows.attrs["comparison"] = comparison
        return rows
