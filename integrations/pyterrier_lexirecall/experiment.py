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
from ir_lexirecall.comparison.comparing import check_groups, groups_of
from ir_lexirecall.comparison.margins import MarginLike
from ir_lexirecall.data.aligned_run import AlignedRun
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.data.matching import check_matches
from ir_lexirecall.evaluation.scored_runs import ScoredRuns
from ir_lexirecall.io.groups import GroupsLike
from ir_lexirecall.measures.scoring import is_native, values
from ir_lexirecall.preferences.functions import NAMES
from ir_lexirecall.significance import SignificanceTest
from pyterrier_lexirecall import summaries
from pyterrier_lexirecall.collecting import EXECUTION, collecting
from pyterrier_lexirecall.columns import (
    TIME,
    measure_columns,
    readable,
)
from pyterrier_lexirecall.results import HIDDEN, Results
from pyterrier_lexirecall.testing import PairedTest

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
        highlight, round, verbose, validate, save_mode, save_format, precompute_prefix, plan: as in ``pt.Experiment``.
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


class _Experiment(Results):
    """One call of ``pt.Experiment``, with a measure hidden in it that makes every run seen."""

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
            return self.finished(result, None), None
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
        return self.finished(result, comparison), comparison

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
        return self.comparison(ScoredRuns(judgments, runs, measures, scored), baseline)

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
        summaries.remove_measure(save_dir, HIDDEN)
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
        kinds = self.statistics_of_pyterrier if self.baselines else ()
        time = {TIME} & {metric for metric in self.metrics if isinstance(metric, str)}
        return {"name", *measures, *time, *(f"{measure} {kind}" for measure in measures for kind in kinds)}

    def _execution_means(self, result: Any) -> list[float]:
        """The mean of the hidden measure for each system."""
        if not self.perquery:
            return list(result[HIDDEN]) if self.as_dataframe else [result[n][HIDDEN] for n in self.distinct]
        rows = result[1] if self.perquery == "both" else result
        if not self.as_dataframe:
            return [float(np.nanmean([row[HIDDEN] for row in rows[s].values()])) for s in range(len(self.systems))]
        means = rows[rows["measure"] == HIDDEN].groupby("name", sort=False)["value"].mean()
        return [means[name] for name in self.distinct]
