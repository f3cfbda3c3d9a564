"""``pt.lexirecall.Experiment``: ``pt.Experiment`` with exact preferences in the same table."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pyterrier as pt

from ir_lexirecall.alignment import AlignedRun
from ir_lexirecall.errors import check_choice, is_integer
from ir_lexirecall.preferences import Preferences
from ir_lexirecall.preferences.functions import NAMES
from pyterrier_lexirecall import summaries
from pyterrier_lexirecall.collecting import EXECUTION, collecting
from pyterrier_lexirecall.columns import (
    STATISTICS,
    TIME,
    ColumnBuilder,
    Statistics,
    highlighted,
    measure_columns,
    statistics_against,
    statistics_of,
    tested_measures,
)
from pyterrier_lexirecall.testing import RecordingTest, paired_test

_CALLER = "pt.lexirecall.Experiment"
_HIDDEN = str(EXECUTION)


def Experiment(
    retr_systems: Sequence[Any] | Mapping[str, Any],
    topics: pd.DataFrame,
    qrels: pd.DataFrame,
    eval_metrics: Sequence[Any],
    names: Sequence[str] | None = None,
    *,
    preferences: str | Sequence[str] = ("lexirecall",),
    return_preferences: bool = False,
    **options: Any,
) -> Any:
    """Run ``pt.Experiment`` and compare the systems by exact preferences, running each system once.

    Columns: ``name``; the measures, in the order of ``eval_metrics``; with a baseline their statistics (`` +``, `` -``,
    `` p-value``, and with ``correction`` `` reject`` and `` p-value corrected``), all of them as ``pt.Experiment`` gives
    them; then the preferences. ``pref:lexirecall`` is a system's mean preference over the baseline where there is one, else
    against all other systems, over the queries with relevant documents; with a baseline, ``pref:lexirecall +`` and
    ``pref:lexirecall -`` count the queries that the system wins and loses, ``pref:lexirecall p-value`` is the exact
    sign test's whatever ``test`` is, and ``correction`` applies to it as to the measures.

    Args:
        retr_systems, topics, qrels, eval_metrics, names: as in ``pt.Experiment``.
        preferences: names of preferences (``'lexirecall'``, ``'rpp'``, ... as in ``ir_lexirecall.compare``).
        return_preferences: give the pair (result, ``Preferences``).
        options: anything else that ``pt.Experiment`` takes (``correction``, ``batch_size``, ``plan``, ``save_dir``,
            ``perquery``, ...). ``test`` is ``'t'``, ``'wilcoxon'``, ``'sign'`` (``pt.lexirecall.sign_test``) or a function.
            ``baseline`` may also be a list of places or names: the columns of the statistics and of the preferences
            then end with the baseline's name, as in ``AP p-value (bm25)``; the files in ``save_dir`` keep the statistics
            against the first one.

    Returns:
        What ``pt.Experiment`` gives, with the preferences. Per query, ``pref:lexirecall`` is one more measure. The
        ``Preferences`` between all systems are in ``attrs["preferences"]`` of the DataFrame (None for a single system).

    Raises:
        ValueError: an unknown preference, test or baseline, or bad input to an evaluation.

    >>> topics = pd.DataFrame({"qid": ["1"], "query": ["x"]})
    >>> qrels = pd.DataFrame({"qid": ["1", "1"], "docno": ["a", "b"], "label": [1, 1]})
    >>> one = pd.DataFrame({"qid": "1", "docno": ["a", "b"], "score": [2.0, 1.0], "rank": [0, 1]})
    >>> two = pd.DataFrame({"qid": "1", "docno": ["a", "c", "b"], "score": [3.0, 2.0, 1.0], "rank": [0, 1, 2]})
    >>> Experiment([one, two], topics, qrels, ["map"], names=["one", "two"])
      name       map  pref:lexirecall
    0  one  1.000000              1.0
    1  two  0.833333             -1.0
    """
    preferences = [preferences] if isinstance(preferences, str) else list(preferences)
    for preference in preferences:
        check_choice(_CALLER, "preference", preference, NAMES)
    options["test"] = RecordingTest(paired_test(_CALLER, options.get("test", "t")), EXECUTION.has_values)
    if isinstance(retr_systems, Mapping):
        names, systems = list(retr_systems), list(retr_systems.values())
        options["baseline"] = _place_of(options.get("baseline"), names)
    else:
        if not isinstance(retr_systems, list):
            raise TypeError(f"Expected list or dict of systems, instead received {type(retr_systems).__name__}")
        systems = retr_systems
        names = [str(system) for system in systems] if names is None else list(names)
        if len(names) != len(systems):
            raise ValueError("names should be the same length as retr_systems")
    experiment = _Experiment(systems, names, list(eval_metrics), preferences, options)
    result, compared = experiment.run(_read(topics, pt.io.read_topics), _read(qrels, pt.io.read_qrels))
    return (result, compared) if return_preferences else result


def _place_of(baseline: Any, names: list[Any]) -> Any:
    """The place of a baseline that is given by its name; others pass through."""
    if not isinstance(baseline, str):
        return baseline
    return names.index(check_choice(_CALLER, "baseline", baseline, [name for name in names if isinstance(name, str)]))


def _several_places(baselines: Sequence[Any], names: list[Any]) -> list[int]:
    """The places of baselines that are given by place or name."""
    places = []
    for baseline in baselines:
        if isinstance(baseline, str) and names.count(baseline) == 1:
            baseline = names.index(baseline)
        if not is_integer(baseline) or not 0 <= baseline < len(names):
            raise ValueError(
                f"{_CALLER}: unknown baseline {baseline!r}; choose from {', '.join(map(str, names))}, or by place from 0 to "
                f"{len(names) - 1}"
            )
        places.append(int(baseline))
    if len(set(places)) < len(places) or not places:
        raise ValueError(f"{_CALLER}: baseline={list(baselines)!r} must name one system or several different ones")
    return places


def _read(source: Any, reader: Any) -> Any:
    """Topics or qrels, read if they are a file, as ``pt.Experiment`` reads them."""
    return reader(source) if isinstance(source, str) and os.path.isfile(source) else source


class _Experiment:
    """One call of ``pt.Experiment``, with a measure hidden in it that makes every run seen."""

    def __init__(
        self, systems: list[Any], names: list[Any], metrics: list[Any], preferences: list[str], options: dict[str, Any]
    ) -> None:
        self.systems = systems
        self.names = names
        # The tree plan runs the systems in an order of its own: distinct names tell whose result is whose.
        unique = len(set(map(str, names))) == len(names)
        self.distinct = [str(name) if unique else f"{i}: {name}" for i, name in enumerate(names)]
        self.metrics = metrics
        self.preferences = preferences
        self.test: RecordingTest = options["test"]
        self.highlight = options.pop("highlight", None)
        self.as_dataframe = options.get("dataframe", True)
        self.perquery = options.get("perquery", False)
        self.tree = options.get("plan") == "tree"
        self.correction = options.get("correction")
        self.alpha = options.get("correction_alpha", 0.05)
        baseline = options.get("baseline")
        self.several = isinstance(baseline, (list, tuple))
        self.baselines = [] if baseline is None else _several_places(baseline, names) if self.several else [baseline]
        self.options = {**options, "baseline": self.baselines[0] if self.baselines else None}

    def run(self, topics: Any, qrels: Any) -> tuple[Any, Preferences | None]:
        """The result as the user asked for it, and the preferences."""
        with collecting(self._judged(topics, qrels)) as collector:
            result = self._run(topics, qrels)
            runs = collector.runs(len(self.systems))
        by_system = {self.distinct[system]: runs[j] for j, system in enumerate(self._execution_order(result))}
        compared = self._compared({name: by_system[name] for name in self.distinct})
        return self._finished(result, compared), compared

    def _judged(self, topics: Any, qrels: Any) -> pd.DataFrame:
        """The qrels by which ``pt.Experiment`` judges."""
        if not isinstance(qrels, pd.DataFrame):
            return pd.DataFrame()  # of which PyTerrier will say what is wrong
        if self.options.get("filter_by_topics", True) and "qid" in qrels and isinstance(topics, pd.DataFrame):
            return qrels[qrels["qid"].isin(topics.get("qid", []))]
        return qrels

    def _compared(self, runs: dict[str, AlignedRun]) -> Preferences | None:
        if len(runs) < 2 or not self.preferences:
            return None
        return Preferences.from_runs(runs, self.preferences, caller=_CALLER)

    def _run(self, topics: Any, qrels: Any) -> Any:
        names = self.distinct if self.tree else self.names
        metrics = [*self.metrics, EXECUTION]
        save_dir = self.options.get("save_dir")
        if save_dir is None:
            return pt.Experiment(self.systems, topics, qrels, metrics, names=names, **self.options)
        before = summaries.columns(save_dir)
        with warnings.catch_warnings():
            # The files have never held the hidden measure; whether the others differ is said below.
            warnings.filterwarnings("ignore", message="Evaluation measures differ")
            result = pt.Experiment(self.systems, topics, qrels, metrics, names=names, **self.options)
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

    def _finished(self, result: Any, compared: Preferences | None) -> Any:
        """The result without the hidden measure, with preferences, under the names that the user gave."""
        if self.perquery == "both":
            averages, rows = result
            averages, rows = self._averages(averages, compared), self._rows(rows, compared)
            return type(result)(averages, rows) if self.as_dataframe else (averages, rows)
        return self._rows(result, compared) if self.perquery else self._averages(result, compared)

    def _averages(self, result: Any, compared: Preferences | None) -> Any:
        if not self.as_dataframe:
            return self._averages_dict(result, compared)
        table = ColumnBuilder(self.names)
        measures = [name for name in measure_columns(self.metrics) if name in result]
        for name in measures:
            table.add(name, result[name], better="-" if name == TIME else "+")
        for baseline in self.baselines:
            statistics = self._statistics(result, baseline)
            for name in measures:
                table.add_statistics(name, statistics, self._suffix(baseline))
        known = {f"{name} {kind}" for name in [*measures, _HIDDEN] for kind in STATISTICS} | {_HIDDEN}
        for name in result:
            if name not in known and name not in table.columns:  # whatever else PyTerrier may have to say
                table.add(name, result[name])
        if compared is not None:
            for baseline in self.baselines or [None]:
                self._add_preferences(table, compared, baseline)
        frame = pd.DataFrame(table.columns)
        frame.attrs["preferences"] = compared
        return highlighted(frame, self.highlight, table.better)

    def _suffix(self, baseline: int | None) -> str:
        """How columns about this baseline end: with its name where there are several."""
        return f" ({self.distinct[baseline]})" if self.several and baseline is not None else ""

    def _statistics(self, result: pd.DataFrame, baseline: int) -> Statistics:
        """The statistics of the measures against a baseline: PyTerrier's own, or made as it makes them."""
        first = self.baselines[0]
        if baseline == first or len(self.systems) < 2:
            return statistics_of(result)
        values = self.test.values(len(self.systems), first, tested_measures(result.columns))
        del values[_HIDDEN]
        return statistics_against(baseline, values, self.test.test, self.correction, self.alpha)

    def _add_preferences(self, table: ColumnBuilder, compared: Preferences, baseline: int | None) -> None:
        """The columns of all preferences; with a baseline, as PyTerrier names and fills those of measures."""
        for preference in self.preferences:
            name, end = f"pref:{preference}", self._suffix(baseline)
            values = self._means(compared, preference, baseline)
            table.add(f"{name}{end}", [self._rounded(name, value) for value in values], better="+")
            if baseline is not None:
                against = replace(compared, baseline=self.distinct[baseline])
                tested = against.with_test("sign", correction=self.correction, alpha=self.alpha).table_of(preference)
                rows = tested.set_index("run_a").reindex(self.distinct)
                numbers = {"+": "wins", "-": "losses", "p-value": "p"}
                statistics: Statistics = {(name, kind): rows[c].to_numpy(np.float64) for kind, c in numbers.items()}
                if self.correction is not None:
                    statistics[name, "reject"] = rows["reject"].eq(True).to_numpy(bool)
                    statistics[name, "p-value corrected"] = rows["p_corrected"].to_numpy(np.float64)
                table.add_statistics(name, statistics, end)

    def _means(self, compared: Preferences, preference: str, baseline: int | None) -> list[float]:
        """Each system's mean preference over the baseline, or against all others."""
        if baseline is None:
            means: list[float] = compared.scores(preference).mean().tolist()
        else:
            means = compared.matrix(preference)[self.distinct[baseline]].tolist()
        return means

    def _rounded(self, name: str, value: float) -> float:
        places = self.options.get("round")
        if isinstance(places, Mapping):
            places = places.get(name)
        return value if places is None else round(value, places)

    def _averages_dict(self, means: dict[str, dict[str, float]], compared: Preferences | None) -> dict[str, Any]:
        order = measure_columns(self.metrics)
        added: dict[str, list[float]] = {}
        for baseline in self.baselines or [None]:
            for preference in self.preferences if compared is not None else []:
                assert compared is not None
                added[f"pref:{preference}{self._suffix(baseline)}"] = self._means(compared, preference, baseline)
        finished = {}
        for system, (name, distinct) in enumerate(zip(self.names, self.distinct, strict=True)):
            row = means[distinct if self.tree else name]
            finished[name] = {measure: row[measure] for measure in order if measure in row}
            finished[name] |= {column: values[system] for column, values in added.items()}
        return finished

    def _rows(self, rows: Any, compared: Preferences | None) -> Any:
        """Values per query; a query without relevant documents has no preferences."""
        order = measure_columns(self.metrics)
        values = {f"pref:{name}": compared.scores(name) for name in self.preferences} if compared is not None else {}
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
            added["value"] = [self._rounded(name, v) for name, v in zip(added["measure"], added["value"], strict=True)]
            added.index += rows.index.max() + 1
            rows = pd.concat([rows, added])
        rows = _in_order(rows, [*order, *values])
        rows.attrs["preferences"] = compared
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
