"""``pt.lexirecall.Experiment``: ``pt.Experiment`` with the numbers of a ``Comparison``, and exact preferences beside them."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import pyterrier as pt
from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall._util.arrays import Floats
from ir_lexirecall._util.errors import check_choice, check_integer, check_number, entry, is_integer, keeping_errors_of
from ir_lexirecall.comparison import Comparison
from ir_lexirecall.comparison.comparing import check_groups, comparison_of, groups_of
from ir_lexirecall.comparison.margins import MarginLike
from ir_lexirecall.data.aligned_run import AlignedRun
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.data.matching import check_matches
from ir_lexirecall.evaluation.scored_runs import ScoredRuns
from ir_lexirecall.io.groups import GroupsLike
from ir_lexirecall.measures.scoring import is_added_up, is_native, smaller_is_better, values
from ir_lexirecall.preferences.functions import NAMES
from ir_lexirecall.significance import SignificanceTest
from pyterrier_lexirecall import summaries
from pyterrier_lexirecall.collecting import EXECUTION, collecting
from pyterrier_lexirecall.columns import (
    STATISTICS,
    TIME,
    WITH_MARGIN,
    ColumnBuilder,
    Statistics,
    highlighted,
    measure_columns,
    readable,
    statistics_against,
    statistics_in,
    statistics_of,
    tested_measures,
)
from pyterrier_lexirecall.testing import PairedTest, RecordingTest, paired_test

_HIDDEN = str(EXECUTION)
_plain_experiment = pt.Experiment  # as it is now: who likes this one better may put it in that one's place


@partial(entry, name="pt.lexirecall.Experiment")
def Experiment(
    retr_systems: Sequence[Any] | Mapping[str, Any],
    topics: pd.DataFrame | str,
    qrels: pd.DataFrame | str,
    eval_metrics: Sequence[str | IRMeasure],
    names: Sequence[str] | None = None,
    perquery: bool | str = False,
    dataframe: bool = True,
    batch_size: int | None = None,
    filter_by_qrels: bool = False,
    filter_by_topics: bool = True,
    baseline: int | str | Sequence[int | str] | None = None,
    test: str | SignificanceTest | PairedTest | None = None,
    correction: str | None = None,
    correction_alpha: float = 0.05,
    highlight: str | None = None,
    round: int | Mapping[str, int] | None = None,
    verbose: bool | str = "auto",
    validate: str = "warn",
    save_dir: str | None = None,
    save_mode: str = "warn",
    save_format: Any = "trec",
    precompute_prefix: bool = False,
    plan: str = "linear",
    *,
    preferences: str | Sequence[str] | None = ("lexirecall",),
    margin: MarginLike | None = None,
    rel: float | None = None,
    cutoff: int | None = None,
    predicted: pd.DataFrame | str | None = None,
    groups: GroupsLike | None = None,
    cluster: bool = False,
    return_comparison: bool = False,
) -> Any:
    """Run ``pt.Experiment`` and compare the systems as ``ir_lexirecall.compare`` does, running each system once.

    Columns: ``name``; the measures, in the order of ``eval_metrics``; with a baseline their statistics (`` +`` and `` -``, the
    queries that the system wins and loses, `` p-value``, and with ``correction`` `` reject`` and `` p-value corrected``); then
    the preferences with theirs. ``pref:lexirecall`` is a system's mean preference over the baseline where there is one, else
    over all other systems, on the queries with relevant documents. All these are the numbers of the ``Comparison``, bit for
    bit: as ``ir_lexirecall.compare`` gives them for the same qrels, runs, criteria, test and correction. What it cannot
    compute again (measures that read other columns than ids and scores, or are not numbers for some query) stays as
    ``pt.Experiment`` gives it.

    Args:
        retr_systems, topics, qrels, names, perquery, dataframe, batch_size, filter_by_qrels, filter_by_topics, highlight, round,
            verbose, validate, save_mode, save_format, precompute_prefix, plan: as in ``pt.Experiment``.
        eval_metrics: as in ``pt.Experiment``; texts may also be measures as they print, such as ``"nDCG@10"``.
        baseline: as in ``pt.Experiment``, or a list of places or names: the columns of the statistics and of the preferences
            then end with the baseline's name, as in ``AP p-value (bm25)``.
        test: as in ``ir_lexirecall.compare``; or a function as ``pt.Experiment`` takes it, which then tests the measures.
        correction: as in ``pt.Experiment``: of p-values against a baseline; by default there are no columns of it. The verdicts
            of the ``Comparison`` are corrected by it, or by Holm's.
        correction_alpha: level of the correction and of the verdicts, and 1 - confidence of the intervals.
        save_dir: as in ``pt.Experiment``, whose own numbers its files keep (against the first baseline).
        preferences: names of preferences (``'lexirecall'``, ``'rpp'``, ... as in ``ir_lexirecall.compare``). None or an empty
            list: none; then systems need not rank documents, and where one does not, there is no ``Comparison``.
        margin: as in ``ir_lexirecall.compare``, by the names of the columns (of preferences without ``pref:``): adds the columns
            `` verdict``, `` worse p-value`` and `` within p-value``.
        rel, cutoff, cluster: as in ``ir_lexirecall.compare``; with ``cluster`` the p-values of all columns are those of groups.
        predicted: as in ``ir_lexirecall.compare``: judgments of all topics by a program, with PyTerrier's column names or a file.
            All topics are run at once, so that it goes with neither ``batch_size`` nor ``filter_by_qrels``.
        groups: as in ``ir_lexirecall.compare``; a name is that of a column of the topics, or of the qrels.
        return_comparison: give the pair (result, ``Comparison``).

    Returns:
        What ``pt.Experiment`` gives, with the preferences. Per query, ``pref:lexirecall`` is one more measure. The
        ``Comparison`` of all systems by the measures and preferences is in ``attrs["comparison"]`` of the DataFrame.

    Raises:
        ValueError: an unknown measure, preference, test or baseline, or bad input to an evaluation.

    >>> topics = pd.DataFrame({"qid": ["1"], "query": ["x"]})
    >>> qrels = pd.DataFrame({"qid": ["1", "1"], "docno": ["a", "b"], "label": [1, 1]})
    >>> one = pd.DataFrame({"qid": "1", "docno": ["a", "b"], "score": [2.0, 1.0], "rank": [0, 1]})
    >>> two = pd.DataFrame({"qid": "1", "docno": ["a", "c", "b"], "score": [3.0, 2.0, 1.0], "rank": [0, 1, 2]})
    >>> table = Experiment([one, two], topics, qrels, ["map"], names=["one", "two"])
    >>> table
      name       map  pref:lexirecall
    0  one  1.000000              1.0
    1  two  0.833333             -1.0
    >>> table.attrs["comparison"].criteria
    ['map', 'lexirecall']
    """
    preferences = [preferences] if isinstance(preferences, str) else list(preferences or ())
    for preference in preferences:
        check_choice("preference", preference, NAMES)
    if rel is not None:
        check_number("rel", rel, above=0)
    if cutoff is not None:
        check_integer("cutoff", cutoff)
    if predicted is not None and (batch_size is not None or filter_by_qrels):
        option = "filter_by_qrels" if filter_by_qrels else "batch_size"
        raise ValueError(f"predicted judgments need the rankings of all topics at once; leave {option} out")
    if isinstance(test, SignificanceTest):
        correction = test.correction if baseline is not None else None
        tested = test
    else:
        tested = SignificanceTest(None if callable(test) else test, correction or "holm", correction_alpha)
    check_groups(tested, groups, cluster, predicted)
    if cluster and callable(test):
        raise ValueError(
            "a function tests queries that are independent of each other; with cluster=True leave test out"
        )
    if isinstance(retr_systems, Mapping):
        names, systems = list(retr_systems), list(retr_systems.values())
        if isinstance(baseline, str):
            baseline = names.index(check_choice("baseline", baseline, [n for n in names if isinstance(n, str)]))
    else:
        if not isinstance(retr_systems, list):
            raise TypeError(f"Expected list or dict of systems, instead received {type(retr_systems).__name__}")
        systems = retr_systems
        names = [str(system) for system in systems] if names is None else list(names)
        if len(names) != len(systems):
            raise ValueError("names should be the same length as retr_systems")
    several = isinstance(baseline, (list, tuple))
    baselines: Any = _several_places(baseline, names) if several else [] if baseline is None else [baseline]
    experiment = _Experiment(
        systems,
        names,
        metrics=[readable(metric) for metric in eval_metrics],
        preferences=preferences,
        baselines=baselines,
        several=several,
        test=tested,
        function=test if callable(test) else None,
        correction=correction,
        margin=margin,
        rel=rel,
        cutoff=cutoff,
        predicted=_read(predicted, pt.io.read_qrels),
        groups=groups,
        cluster=cluster,
        highlight=highlight,
        options={
            "perquery": perquery,
            "dataframe": dataframe,
            "batch_size": batch_size,
            "filter_by_qrels": filter_by_qrels,
            "filter_by_topics": filter_by_topics,
            "round": round,
            "verbose": verbose,
            "validate": validate,
            "save_dir": save_dir,
            "save_mode": save_mode,
            "save_format": save_format,
            "precompute_prefix": precompute_prefix,
            "plan": plan,
        },
    )
    result, comparison = experiment.run(_read(topics, pt.io.read_topics), _read(qrels, pt.io.read_qrels))
    return (result, comparison) if return_comparison else result


def _several_places(baselines: Any, names: list[Any]) -> list[int]:
    """The places of baselines that are given by place or name."""
    places = []
    for baseline in baselines:
        if isinstance(baseline, str) and names.count(baseline) == 1:
            baseline = names.index(baseline)
        if not is_integer(baseline) or not 0 <= baseline < len(names):
            raise ValueError(
                f"unknown baseline {baseline!r}; choose from {', '.join(map(str, names))}, or by place from 0 to "
                f"{len(names) - 1}"
            )
        places.append(int(baseline))
    if len(set(places)) < len(places) or not places:
        raise ValueError(f"baseline={list(baselines)!r} must name one system or several different ones")
    return places


def _read(source: Any, reader: Any) -> Any:
    """Topics or qrels, read if they are a file, as ``pt.Experiment`` reads them."""
    return reader(source) if isinstance(source, str) and os.path.isfile(source) else source


def _is_comparable(measure: IRMeasure | None) -> bool:
    """Whether a measure's values follow from where the judged documents stand: not of a user's function of other columns."""
    return measure is not None and (
        is_native(measure) or type(ir_measures.measures.registry.get(measure.NAME)) is type(measure)
    )


@dataclass
class _Experiment:
    """One call of ``pt.Experiment``, with a measure hidden in it that makes every run seen.

    Attributes are what ``Experiment`` was called with, in the end; ``options`` are those of ``pt.Experiment``.
    """

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

    def run(self, topics: Any, qrels: Any) -> tuple[Any, Comparison | None]:
        """The result as the user asked for it, and the comparison of the systems."""
        predicted = None
        if self.predicted is not None:
            predicted = Judgments.from_qrels(pt.model.to_ir_measures(self._judged(topics, self.predicted)))
        with collecting(self._judged(topics, qrels), self.needs_rankings, predicted) as collector:
            with keeping_errors_of("pyterrier"):
                result = self._run(topics, qrels)
            runs = None if collector.blind else collector.runs(len(self.systems))
        comparison = None
        if runs is not None:
            # Runs are in the order in which they were scored, which the values of the hidden measure say.
            order = np.argsort(self._execution_means(result), kind="stable") if self.tree else np.arange(len(runs))
            places = np.argsort(order).tolist()
            by_name = {name: runs[place] for name, place in zip(self.distinct, places, strict=True)}
            for (name, run), system in zip(by_name.items(), self.systems, strict=True):
                given = system if isinstance(system, pd.DataFrame) else None
                if run.depth.any():
                    check_matches(collector.judgments, run, given, f"system {name!r}", allow_empty=True)
            comparison = self._compared(collector.judgments, by_name)
        if comparison is None:
            if self.groups is not None:
                raise ValueError(
                    "groups are compared by rankings: name a preference, a measure of rankings, or no groups"
                )
            return self._finished(result, None), None
        if comparison.scored is not None:
            comparison.scored.warn_of_hardly_judged()
        table = topics if isinstance(self.groups, str) and self.groups in topics else qrels
        grouped = groups_of(self.groups, collector.judgments.query_ids, table)
        comparison = replace(comparison, groups=grouped, cluster=self.cluster)
        if predicted is not None:
            if not len(predicted):
                raise ValueError("predicted holds no judgments of the topics")
            by_program = {name: collector.by_program[i] for name, i in zip(self.distinct, places, strict=True)}
            comparison = replace(comparison, predicted=self._compared(predicted, by_program))
        return self._finished(result, comparison), comparison

    def _judged(self, topics: Any, qrels: Any) -> pd.DataFrame:
        """The qrels by which ``pt.Experiment`` judges."""
        if not isinstance(qrels, pd.DataFrame):
            return pd.DataFrame()  # of which PyTerrier will say what is wrong
        if self.options["filter_by_topics"] and "qid" in qrels and isinstance(topics, pd.DataFrame):
            return qrels[qrels["qid"].isin(topics.get("qid", []))]
        return qrels

    def _compared(self, judgments: Judgments, runs: dict[str, AlignedRun]) -> Comparison | None:
        """The comparison by all measures that are numbers for every query, and by the preferences."""
        scored: dict[str, Floats] = {}
        measures = {name: m for name, m in measure_columns(self.metrics).items() if m is not None and _is_comparable(m)}
        for name, measure in measures.items():
            try:
                of_runs = np.stack([values(measure, run) for run in runs.values()])
            except ValueError:  # of a provider that needs more than the ranks of the judged documents
                continue
            if np.isfinite(of_runs).all():
                scored[name] = of_runs
        measures = {name: measures[name] for name in scored}
        if not (measures or self.preferences) or not len(judgments):
            return None
        baseline = self.baselines[0] if self.baselines else None
        return self._comparison(ScoredRuns(judgments, runs, measures, scored), baseline)

    def _comparison(self, scored: ScoredRuns, baseline: int | None) -> Comparison:
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
        against = self._comparison(comparison.scored, baseline)
        return replace(against, groups=comparison.groups, cluster=comparison.cluster)

    def _run(self, topics: Any, qrels: Any) -> Any:
        run = partial(
            _plain_experiment,
            self.systems,
            topics,
            qrels,
            [*self.metrics, EXECUTION],
            names=self.distinct if self.tree else self.names,
            baseline=self.baselines[0] if self.baselines else None,
            test=self.recorded,
            correction=self.correction,
            correction_alpha=self.test.alpha,
            **self.options,
        )
        save_dir = self.options["save_dir"]
        if save_dir is None:
            return run()
        before = summaries.columns(save_dir)
        with warnings.catch_warnings():
            # The files have never held the hidden measure; whether the others differ is said below.
            warnings.filterwarnings("ignore", message="Evaluation measures differ")
            result = run()
        summaries.remove_measure(save_dir, _HIDDEN)
        now = self._columns_on_disk(save_dir)
        if before is not None and before != now:
            warnings.warn(
                f"Evaluation measures differ between the existing aggregated.csv ({', '.join(sorted(before))}) and the "
                f"current run ({', '.join(sorted(now))}). Missing values will be filled with NaN.",
                stacklevel=4,
            )
        return result

    def _columns_on_disk(self, save_dir: str) -> set[str]:
        """The columns of this experiment's rows in ``aggregated.csv``."""
        measures = summaries.measures(save_dir, [str(name) for name in self.names])
        kinds = self._statistics_of_pyterrier if self.baselines else ()
        time = {TIME} & {metric for metric in self.metrics if isinstance(metric, str)}
        return {"name", *measures, *time, *(f"{measure} {kind}" for measure in measures for kind in kinds)}

    def _execution_means(self, result: Any) -> list[float]:
        """The mean of the hidden measure for each system."""
        if not self.perquery:
            return list(result[_HIDDEN]) if self.as_dataframe else [result[n][_HIDDEN] for n in self.distinct]
        rows = result[1] if self.perquery == "both" else result
        if not self.as_dataframe:
            return [float(np.nanmean([row[_HIDDEN] for row in rows[s].values()])) for s in range(len(self.systems))]
        means = rows[rows["measure"] == _HIDDEN].groupby("name", sort=False)["value"].mean()
        return [means[name] for name in self.distinct]

    # -- what is given back ------------------------------------------------------------------------

    def _finished(self, result: Any, comparison: Comparison | None) -> Any:
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
        kinds = [*self._statistics_of_pyterrier, *([] if self.margin is None else WITH_MARGIN)]
        for baseline in self.baselines:
            statistics = self._statistics(result, comparison, baseline)
            for name in measures:
                table.add_statistics(name, statistics, kinds, self._suffix(baseline))
        known = {f"{name} {kind}" for name in [*measures, _HIDDEN] for kind in STATISTICS} | {_HIDDEN}
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
    def _statistics_of_pyterrier(self) -> tuple[str, ...]:
        """The statistics that ``pt.Experiment`` gives."""
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

    def _statistics(self, result: pd.DataFrame, comparison: Comparison | None, baseline: int) -> Statistics:
        """The statistics of the measures against a baseline: the comparison's, else PyTerrier's or made as it makes them."""
        first = self.baselines[0]
        if baseline == first or len(self.systems) < 2:
            statistics = statistics_of(result)
        else:
            recorded = self.recorded.values(len(self.systems), first, tested_measures(result.columns))
            del recorded[_HIDDEN]
            statistics = statistics_against(baseline, recorded, self.recorded.test, self.correction, self.test.alpha)
        if comparison is None or len(self.systems) < 2:
            return statistics
        against = self._against(comparison, baseline)
        if self.cluster and (others := [name for name, _ in statistics if name not in (*comparison.measures, _HIDDEN)]):
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
        rows = rows[rows["measure"] != _HIDDEN]
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
        rows = _in_order(rows, [*order, *values])
        rows.attrs["comparison"] = comparison
        return rows


def _in_order(rows: pd.DataFrame, measures: list[str]) -> pd.DataFrame:
    """Rows by name and query as ``pt.Experiment`` sorts them, and then by system and measure.

    The index numbers the rows system by system, which tells systems of the same name apart; the new one numbers them anew.
    """
    place = {name: i for i, name in enumerate(measures)}
    keys = rows[["name", "qid", "measure"]].sort_index()
    keys = keys.assign(
        system=keys.groupby(["name", "qid", "measure"], dropna=False).cumcount(), place=keys["measure"].map(place)
    )
    return rows.loc[keys.sort_values(["name", "qid", "system", "place"]).index].reset_index(drop=True)
