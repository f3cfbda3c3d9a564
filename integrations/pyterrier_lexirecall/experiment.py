"""``pt.lexirecall.Experiment``: ``pt.Experiment`` with the numbers of a ``Comparison``, and exact preferences beside them."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
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
        retr_systems, topics, qrels, names, perquery, dataframe, batch_size, filter_by_qrels, filter_by_topics: as in
            ``pt.Experiment``.
        eval_metrics: as in ``pt.Experiment``; texts may also be measures as they print, such as ``"nDCG@10"``.
        baseline: as in ``pt.Experiment``, or a list of places or names: the columns of the statistics and of the preferences
            then end with the baseline's name, as in ``AP p-value (bm25)``.
        test: as in ``ir_lexirecall.compare``: by default ``'t'`` for measures and ``'sign'`` for preferences; one that is named is
            used for both. Or a function as ``pt.Experiment`` takes it, which then tests the measures.
        correction: as in ``pt.Experiment``: of p-values against a baseline; by default there are no columns of it. The verdicts
            of the ``Comparison`` are corrected by it, or by Holm's.
        correction_alpha: level of the correction and of the verdicts, and 1 - confidence of the intervals.
        highlight, round, verbose, validate, save_mode, save_format, precompute_prefix, plan: as in ``pt.Experiment``.
        save_dir: as in ``pt.Experiment``, whose own numbers its files keep (against the first baseline).
        preferences: names of preferences (``'lexirecall'``, ``'rpp'``, ... as in ``ir_lexirecall.compare``). None or an empty
            list: none; then systems need not rank documents, and where one does not, there is no ``Comparison``.
        margin: as in ``ir_lexirecall.compare``, by the names of the columns (of preferences without ``pref:``): adds the columns
            `` verdict``, `` worse p-value`` and `` within p-value``.
        rel, cutoff: as in ``ir_lexirecall.compare``, for preferences.
        predicted: as in ``ir_lexirecall.compare``: judgments of all topics by a program, with PyTerrier's column names or a file;
            ``qrels`` are those of people, for a random sample of at least 10 topics. All topics are run at once, so that it
            goes with neither ``batch_size`` nor ``filter_by_qrels``.
        groups: as in ``ir_lexirecall.compare``: the group of each topic; a name is that of a column of the topics, or of the
            qrels. ``Comparison.group_table`` then compares the systems in each group.
        cluster: as in ``ir_lexirecall.compare``: the p-values of all columns are then those of groups.
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
        baseline = _place_of(baseline, names)
    else:
        if not isinstance(retr_systems, list):
            raise TypeError(f"Expected list or dict of systems, instead received {type(retr_systems).__name__}")
        systems = retr_systems
        names = [str(system) for system in systems] if names is None else list(names)
        if len(names) != len(systems):
            raise ValueError("names should be the same length as retr_systems")
    experiment = _Experiment(
        systems,
        names,
        [readable(metric) for metric in eval_metrics],
        preferences,
        baseline,
        tested,
        test if callable(test) else None,
        correction,
        margin,
        rel,
        cutoff,
        _read(predicted, pt.io.read_qrels),
        groups,
        cluster,
        highlight,
        {
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


def _place_of(baseline: Any, names: list[Any]) -> Any:
    """The place of a baseline that is given by its name; others pass through."""
    if not isinstance(baseline, str):
        return baseline
    return names.index(check_choice("baseline", baseline, [name for name in names if isinstance(name, str)]))


def _several_places(baselines: Sequence[Any], names: list[Any]) -> list[int]:
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
    if measure is None:
        return False
    known = ir_measures.measures.registry.get(measure.NAME)
    return is_native(measure) or type(known) is type(measure)


class _Experiment:
    """One call of ``pt.Experiment``, with a measure hidden in it that makes every run seen."""

    def __init__(
        self,
        systems: list[Any],
        names: list[Any],
        metrics: list[Any],
        preferences: list[str],
        baseline: Any,
        test: SignificanceTest,
        function: PairedTest | None,
        correction: str | None,
        margin: MarginLike | None,
        rel: float | None,
        cutoff: int | None,
        predicted: pd.DataFrame | None,
        groups: GroupsLike | None,
        cluster: bool,
        highlight: str | None,
        options: dict[str, Any],
    ) -> None:
        self.systems = systems
        self.names = names
        # The tree plan runs the systems in an order of its own: distinct names tell whose result is whose.
        unique = len(set(map(str, names))) == len(names)
        self.distinct = [str(name) if unique else f"{i}: {name}" for i, name in enumerate(names)]
        self.metrics = metrics
        self.preferences = preferences if len(systems) > 1 else []
        self.needs_rankings = bool(preferences)
        self.test = test
        self.function = function
        self.recorded = RecordingTest(paired_test(function or test), EXECUTION.has_values)
        self.correction = correction
        self.margin = margin
        self.rel = rel
        self.cutoff = cutoff
        self.predicted = predicted
        self.groups = groups
        self.cluster = cluster
        self.highlight = highlight
        self.as_dataframe = options["dataframe"]
        self.perquery = options["perquery"]
        self.tree = options["plan"] == "tree"
        self.several = isinstance(baseline, (list, tuple))
        self.baselines = [] if baseline is None else _several_places(baseline, names) if self.several else [baseline]
        self.options = {
            **options,
            "baseline": self.baselines[0] if self.baselines else None,
            "test": self.recorded,
            "correction": correction,
            "correction_alpha": test.alpha,
        }

    def run(self, topics: Any, qrels: Any) -> tuple[Any, Comparison | None]:
        """The result as the user asked for it, and the comparison of the systems."""
        predicted = None
        if self.predicted is not None:
            predicted = Judgments.from_qrels(pt.model.to_ir_measures(self._judged(topics, self.predicted)))
        with collecting(self._judged(topics, qrels), self.needs_rankings, predicted) as collector:
            with keeping_errors_of("pyterrier"):
                result = self._run(topics, qrels)
            runs = None if collector.blind else collector.runs(len(self.systems))
        if runs is None:
            return self._finished(self._without_groups(result), None), None
        order = self._execution_order(result)
        by_name = self._by_name(runs, order)
        for (name, run), system in zip(by_name.items(), self.systems, strict=True):
            given = system if isinstance(system, pd.DataFrame) else None
            if run.depth.any():
                check_matches(collector.judgments, run, given, f"system {name!r}", allow_empty=True)
        comparison = self._compared(collector.judgments, by_name)
        if comparison is None:
            return self._finished(self._without_groups(result), None), None
        if comparison.scored is not None:
            comparison.scored.warn_of_hardly_judged()
        table = topics if isinstance(self.groups, str) and self.groups in topics else qrels
        grouped = groups_of(self.groups, collector.judgments.query_ids, table)
        comparison = replace(comparison, groups=grouped, cluster=self.cluster)
        if predicted is not None:
            if not len(predicted):
                raise ValueError("predicted holds no judgments of the topics")
            by_program = self._compared(predicted, self._by_name(collector.by_program, order))
            comparison = replace(comparison, predicted=by_program)
        return self._finished(result, comparison), comparison

    def _without_groups(self, result: Any) -> Any:
        """A result without a comparison, if no groups were asked for."""
        if self.groups is not None:
            raise ValueError("groups are compared by rankings: name a preference, a measure of rankings, or no groups")
        return result

    def _by_name(self, runs: list[AlignedRun], order: list[int]) -> dict[str, AlignedRun]:
        """Runs in the order in which they were scored by the names of their systems, in the order of these."""
        by_system = {self.distinct[system]: runs[j] for j, system in enumerate(order)}
        return {name: by_system[name] for name in self.distinct}

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
        by: dict[str, str | IRMeasure] = {**measures, **{name: name for name in self.preferences}}
        if not by or not len(judgments):
            return None
        return comparison_of(
            ScoredRuns(judgments, runs, measures, scored),
            by,
            baseline=self.distinct[self.baselines[0]] if self.baselines else None,
            test=self.test,
            margin=self.margin,
            rel=judgments.threshold if self.rel is None else self.rel,
            cutoff=self.cutoff,
        )

    def _against(self, comparison: Comparison, baseline: int) -> Comparison:
        """The comparison with a baseline."""
        name = self.distinct[baseline]
        if name == comparison.baseline or self.margin is None:
            return comparison.with_baseline(name)
        assert comparison.scored is not None
        by = {c: comparison.scored.measures.get(c, c) for c in comparison.criteria}
        rel = comparison.scored.judgments.threshold if self.rel is None else self.rel
        options: Any = {"baseline": name, "test": self.test, "margin": self.margin, "rel": rel, "cutoff": self.cutoff}
        return comparison_of(comparison.scored, by, groups=comparison.groups, cluster=comparison.cluster, **options)

    def _run(self, topics: Any, qrels: Any) -> Any:
        names = self.distinct if self.tree else self.names
        metrics = [*self.metrics, EXECUTION]
        save_dir = self.options["save_dir"]
        if save_dir is None:
            return _plain_experiment(self.systems, topics, qrels, metrics, names=names, **self.options)
        before = summaries.columns(save_dir)
        with warnings.catch_warnings():
            # The files have never held the hidden measure; whether the others differ is said below.
            warnings.filterwarnings("ignore", message="Evaluation measures differ")
            result = _plain_experiment(self.systems, topics, qrels, metrics, names=names, **self.options)
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
        count = 0 if not self.baselines else 3 if self.correction is None else len(STATISTICS)
        time = {TIME} & {metric for metric in self.metrics if isinstance(metric, str)}
        return {"name", *measures, *time, *(f"{measure} {kind}" for measure in measures for kind in STATISTICS[:count])}

    def _execution_order(self, result: Any) -> list[int]:
        """The systems in the order in which they were scored."""
        if not self.tree:
            return list(range(len(self.systems)))
        return [int(system) for system in np.argsort(self._execution_means(result), kind="stable")]

    def _execution_means(self, result: Any) -> list[float]:
        if self.perquery:
            rows = result[1] if self.perquery == "both" else result
            if self.as_dataframe:
                rows = rows[rows["measure"] == _HIDDEN]
                means = rows.groupby("name", sort=False)["value"].mean()
                return [float(means[name]) for name in self.distinct]
            return [float(np.nanmean([row[_HIDDEN] for row in rows[s].values()])) for s in range(len(self.systems))]
        if self.as_dataframe:
            return [float(value) for value in result[_HIDDEN]]
        return [float(result[name][_HIDDEN]) for name in self.distinct]

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
        for baseline in self.baselines:
            statistics = self._statistics(result, comparison, baseline)
            for name in measures:
                table.add_statistics(name, statistics, self._kinds, self._suffix(baseline))
        known = {f"{name} {kind}" for name in [*measures, _HIDDEN] for kind in STATISTICS} | {_HIDDEN}
        for name in result:
            if name not in known and name not in table.columns:  # whatever else PyTerrier may have to say
                table.add(name, result[name])
        if comparison is not None:
            for baseline in self.baselines or [None]:
                self._add_preferences(table, comparison, baseline)
        frame = pd.DataFrame(table.columns)
        frame.attrs["comparison"] = comparison
        return highlighted(frame, self.highlight, table.better)

    @property
    def _kinds(self) -> list[str]:
        """The statistics that were asked for."""
        return [*STATISTICS[: 3 if self.correction is None else None], *([] if self.margin is None else WITH_MARGIN)]

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
            ours = statistics_in(against, name)
            by_function = {key: column for key, column in statistics.items() if key[0] == name and self.function}
            tested = {key: column for key, column in by_function.items() if key[1] not in ("+", "-")}
            statistics |= ours | tested
        return statistics

    def _add_preferences(self, table: ColumnBuilder, comparison: Comparison, baseline: int | None) -> None:
        """The columns of all preferences; with a baseline, as PyTerrier names those of measures."""
        against = None if baseline is None else self._against(comparison, baseline)
        for preference in self.preferences:
            name, end = f"pref:{preference}", self._suffix(baseline)
            table.add(
                f"{name}{end}", self._rounded(name, self._mean_preferences(comparison, preference, baseline)), "+"
            )
            if against is not None:
                table.add_statistics(preference, statistics_in(against, preference), self._kinds, end, title=name)

    def _mean_preferences(self, comparison: Comparison, preference: str, baseline: int | None) -> list[float]:
        """Each system's mean preference over the baseline, or over all others."""
        if baseline is None:
            means: list[float] = comparison.criterion(preference).means.tolist()
        else:
            means = comparison.matrix(preference)[self.distinct[baseline]].tolist()
        return means

    def _rounded(self, name: str, numbers: Sequence[float]) -> list[float]:
        places = self.options["round"]
        if isinstance(places, Mapping):
            places = places.get(name)
        return [number if places is None else round(number, places) for number in numbers]

    def _averages_dict(self, means: dict[str, dict[str, float]], comparison: Comparison | None) -> dict[str, Any]:
        order = measure_columns(self.metrics)
        compared = self._means(comparison)
        added: dict[str, list[float]] = {}
        for baseline in self.baselines or [None]:
            for preference in self.preferences if comparison is not None else []:
                assert comparison is not None
                column = f"pref:{preference}{self._suffix(baseline)}"
                added[column] = self._mean_preferences(comparison, preference, baseline)
        finished = {}
        for system, (name, distinct) in enumerate(zip(self.names, self.distinct, strict=True)):
            row = means[distinct if self.tree else name]
            known = {measure: column[system] for measure, column in compared.items()}
            finished[name] = {measure: known.get(measure, row[measure]) for measure in order if measure in row}
            finished[name] |= {column: values[system] for column, values in added.items()}
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
                    "qid": table.index.tolist(),
                    "measure": name,
                    "value": table[system].to_numpy(),
                }
            )
            for name, table in values.items()
            for system in self.distinct
        ]
        if further:
            added = pd.concat(further, ignore_index=True)
            added["value"] = [
                self._rounded(name, [v])[0] for name, v in zip(added["measure"], added["value"], strict=True)
            ]
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
