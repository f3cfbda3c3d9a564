"""``pt.lexirecall.Experiment``: ``pt.Experiment`` with exact preferences in the same table."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyterrier as pt
from ir_measures.measures.base import Measure

from ir_lexirecall import significance
from ir_lexirecall.alignment import JudgedRanks
from ir_lexirecall.collecting import EXECUTION, collecting
from ir_lexirecall.measures import LexiRecall
from ir_lexirecall.preferences import Preferences, compare_ranks
from ir_lexirecall.preferences.functions import NAMES

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

    Args:
        retr_systems, topics, qrels, eval_metrics, names: as in ``pt.Experiment``.
        preferences: names of preferences (``'lexirecall'``, ``'rpp'``, ... as in ``ir_lexirecall.compare``).
        return_preferences: give the pair (result, ``Preferences``).
        options: anything else that ``pt.Experiment`` takes (``baseline``, ``correction``, ``batch_size``, ``plan``,
            ``save_dir``, ``perquery``, ...).

    Returns:
        What ``pt.Experiment`` gives, with a column for each preference: the system's mean preference against all other
        systems (over the queries with relevant documents). With ``baseline``, the columns ``+``, ``-``, ``p-value`` (and those of ``correction``) of the preferences
        and of LexiRecall come from the ranks: wins and losses without rounding, and the exact sign test. The
        ``Preferences`` are in ``attrs["preferences"]`` of the DataFrame (None for a single system).

    Raises:
        ValueError: an unknown preference, or bad input to an evaluation.

    >>> topics = pd.DataFrame({"qid": ["1"], "query": ["x"]})
    >>> qrels = pd.DataFrame({"qid": ["1", "1"], "docno": ["a", "b"], "label": [1, 1]})
    >>> one = pd.DataFrame({"qid": "1", "docno": ["a", "b"], "score": [2.0, 1.0], "rank": [0, 1]})
    >>> two = pd.DataFrame({"qid": "1", "docno": ["a", "c", "b"], "score": [3.0, 2.0, 1.0], "rank": [0, 1, 2]})
    >>> Experiment([one, two], topics, qrels, ["map"], names=["one", "two"])
      name       map  lexirecall
    0  one  1.000000         1.0
    1  two  0.833333        -1.0
    """
    preferences = [preferences] if isinstance(preferences, str) else list(preferences)
    if unknown := [each for each in preferences if each not in NAMES]:
        raise ValueError(f"preferences: there is no {unknown[0]!r}; there are {', '.join(NAMES)}")
    baseline = options.get("baseline")
    if isinstance(retr_systems, Mapping):
        names, systems = list(retr_systems), list(retr_systems.values())
        if isinstance(baseline, str):
            if baseline not in names:
                raise ValueError(f"Unknown baseline '{baseline}'. Valid options are: {', '.join(names)}")
            options["baseline"] = names.index(baseline)
    else:
        if not isinstance(retr_systems, list):
            raise TypeError(f"Expected list or dict of systems, instead received {type(retr_systems).__name__}")
        systems = retr_systems
        names = [str(system) for system in systems] if names is None else list(names)
        if len(names) != len(systems):
            raise ValueError("names should be the same length as retr_systems")
    experiment = _Experiment(systems, names, list(eval_metrics), list(preferences), options)
    result, compared = experiment.run(topics, qrels)
    return (result, compared) if return_preferences else result


class _Experiment:
    """One call of ``pt.Experiment``, with a measure hidden in it that makes our evaluator see every run."""

    def __init__(
        self, systems: list[Any], names: list[str], metrics: list[Any], preferences: list[str], options: dict[str, Any]
    ) -> None:
        self.systems = systems
        self.names = names
        # The tree plan runs the systems in an order of its own: distinct names tell whose result is whose.
        unique = len(set(map(str, names))) == len(names)
        self.distinct = [str(name) if unique else f"{i}: {name}" for i, name in enumerate(names)]
        self.metrics = metrics
        self.preferences = preferences
        self.highlight = options.pop("highlight", None)
        self.as_dataframe = options.get("dataframe", True)
        self.baseline: int | None = options.get("baseline")
        self.perquery = options.get("perquery", False)
        self.tree = options.get("plan") == "tree"
        self.options = options

    def run(self, topics: Any, qrels: Any) -> tuple[Any, Preferences | None]:
        """The result as the user asked for it, and the preferences."""
        with collecting() as collector:
            result = self._run(topics, qrels)
        order = self._execution_order(result)
        rankings = collector.rankings(len(self.systems))
        by_system = {self.distinct[system]: rankings[j] for j, system in enumerate(order)}
        ranks = {name: by_system[name] for name in self.distinct}
        compared = compare_ranks(ranks, self.preferences) if len(ranks) > 1 and self.preferences else None
        return self._finished(result, ranks, compared), compared

    def _run(self, topics: Any, qrels: Any) -> Any:
        options = {**self.options, "test": _blind(self.options.get("test", "t"))}
        names = self.distinct if self.tree else self.names
        metrics = [*self.metrics, EXECUTION]
        save_dir = self.options.get("save_dir")
        if save_dir is None:
            return pt.Experiment(self.systems, topics, qrels, metrics, names=names, **options)
        before = _csv_columns(save_dir)
        with warnings.catch_warnings():
            # The files have never held the hidden measure; whether the others differ is said below.
            warnings.filterwarnings("ignore", message="Evaluation measures differ")
            result = pt.Experiment(self.systems, topics, qrels, metrics, names=names, **options)
        _remove_from_csv(save_dir)
        now = self._columns(save_dir)
        if before is not None and before != now:
            warnings.warn(
                f"Evaluation measures differ between the existing aggregated.csv ({', '.join(sorted(before))}) and the "
                f"current run ({', '.join(sorted(now))}). Missing values will be filled with NaN.",
                stacklevel=4,
            )
        return result

    def _columns(self, save_dir: str) -> set[str]:
        """The columns of this experiment's own rows in ``aggregated.csv``."""
        rows = pd.read_csv(Path(save_dir) / "perquery.csv", dtype=str, keep_default_na=False)
        measures = set(rows.loc[rows["name"].isin([str(name) for name in self.names]), "measure"])
        kinds = ["+", "-", "p-value"] if self.baseline is not None else []
        kinds += ["reject", "p-value corrected"] if self.options.get("correction") is not None else []
        time = {"mrt"} if any(metric == "mrt" for metric in self.metrics if isinstance(metric, str)) else set()
        return {"name", *measures, *time, *(f"{measure} {kind}" for measure in measures for kind in kinds)}

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

    def _finished(self, result: Any, ranks: dict[str, JudgedRanks], compared: Preferences | None) -> Any:
        """The result without the hidden measure, with preferences, under the names that the user gave."""
        if self.perquery == "both":
            averages, rows = result
            averages, rows = self._averages(averages, ranks, compared), self._rows(rows, compared)
            return type(result)(averages, rows) if self.as_dataframe else (averages, rows)
        return self._rows(result, compared) if self.perquery else self._averages(result, ranks, compared)

    def _averages(self, table: Any, ranks: dict[str, JudgedRanks], compared: Preferences | None) -> Any:
        if not self.as_dataframe:
            return self._averages_dict(table, compared)
        table = table[_visible(table)].assign(name=self.names)
        statistics = [column for column in table.columns if self._is_statistic(column)]
        values = table.drop(columns=statistics)
        if compared is not None:
            for name in self.preferences:
                values[name] = [self._rounded(name, v) for v in compared.scores(name).mean().tolist()]
        table = pd.concat([values, table[statistics]], axis=1)
        if self.baseline is not None and len(ranks) > 1:
            self._exact_statistics(table, ranks, compared)
        table.attrs["preferences"] = compared
        return self._highlighted(table)

    def _is_statistic(self, column: str) -> bool:
        return self.baseline is not None and column.endswith((" +", " -", " p-value", " reject", " corrected"))

    def _rounded(self, name: str, value: float) -> float:
        places = self.options.get("round")
        if isinstance(places, Mapping):
            places = places.get(name)
        return value if places is None else round(value, places)

    def _exact_statistics(
        self, table: pd.DataFrame, ranks: dict[str, JudgedRanks], compared: Preferences | None
    ) -> None:
        """Put wins, losses and p-values from the ranks in the place of those from the numbers."""
        baseline = self.distinct[int(self.baseline or 0)]
        for name in self.preferences if compared is not None else []:
            self._put(table, name, compare_ranks(ranks, [name], reference=baseline))
        for metric in self.metrics:
            if isinstance(metric, Measure) and metric.NAME == LexiRecall.NAME:
                exact = compare_ranks(ranks, reference=baseline, rel=metric["rel"], cutoff=metric["cutoff"])
                self._put(table, str(metric), exact)

    def _put(self, table: pd.DataFrame, name: str, exact: Preferences) -> None:
        """Columns of one measure or preference, as PyTerrier names and fills them."""
        rows = exact.with_test("sign", correction=None).table().set_index("system_a")
        others = [i for i in range(len(self.distinct)) if i != self.baseline]
        p = rows.loc[[self.distinct[i] for i in others], "p"].to_numpy()
        for column, values in (("+", rows["wins"]), ("-", rows["losses"]), ("p-value", rows["p"])):
            table[f"{name} {column}"] = [float(values[d]) if d in values.index else np.nan for d in self.distinct]
        correction = self.options.get("correction")
        if correction is not None:
            alpha = self.options.get("correction_alpha", 0.05)
            adjusted, reject = significance.corrected(p, correction, alpha)
            table[f"{name} reject"] = np.insert(reject, int(self.baseline or 0), False)
            table[f"{name} p-value corrected"] = np.insert(adjusted, int(self.baseline or 0), np.nan)

    def _averages_dict(self, means: dict[str, dict[str, float]], compared: Preferences | None) -> dict[str, Any]:
        finished = {}
        for name, distinct in zip(self.names, self.distinct, strict=True):
            row = means[distinct if self.tree else name]
            finished[name] = {measure: value for measure, value in row.items() if measure != _HIDDEN}
            if compared is not None:
                finished[name] |= {each: float(compared.scores(each)[distinct].mean()) for each in self.preferences}
        return finished

    def _rows(self, rows: Any, compared: Preferences | None) -> Any:
        """Values per query; a query without relevant documents has no preferences."""
        values = {name: compared.scores(name) for name in self.preferences} if compared is not None else {}
        if not self.as_dataframe:
            finished = {}
            for system, by_query in rows.items():
                finished[system] = {q: {m: v for m, v in row.items() if m != _HIDDEN} for q, row in by_query.items()}
                for name, table in values.items():
                    for query_id, value in table[self.distinct[system]].items():
                        finished[system][query_id][name] = value
            return finished
        rows = rows[rows["measure"] != _HIDDEN]
        given = dict(zip(self.distinct, self.names, strict=True))
        if self.tree:
            rows = rows.assign(name=rows["name"].map(given))
        further = [
            pd.DataFrame(
                {"name": given[system], "qid": table.index, "measure": name, "value": table[system].to_numpy()}
            )
            for name, table in values.items()
            for system in self.distinct
        ]
        if further:
            added = pd.concat(further, ignore_index=True)
            added["value"] = [self._rounded(name, v) for name, v in zip(added["measure"], added["value"], strict=True)]
            added.index += rows.index.max() + 1
            rows = pd.concat([rows, added]).sort_values(["name", "qid"], kind="stable")
        rows.attrs["preferences"] = compared
        return rows

    def _highlighted(self, table: pd.DataFrame) -> Any:
        from pyterrier._evaluation._rendering import _bold_cols, _color_cols  # not public: they may move

        paint = {"bold": _bold_cols, "color": _color_cols, "colour": _color_cols}.get(self.highlight or "")
        if paint is None:
            return table
        counts = (" +", " -")
        painted = [c for c in table.columns if c != "name" and (c.endswith(counts) or not self._is_statistic(c))]
        better = {c: "-" if c.endswith(" -") or c == "mrt" else "+" for c in painted if table[c].notna().any()}
        return table.style.apply(paint, axis=0, col_type=better)


def _blind(test: Any) -> Any:
    """The same test, not bothered with the hidden measure."""
    if isinstance(test, str):
        from scipy import stats

        named = {"t": stats.ttest_rel, "wilcoxon": stats.wilcoxon}
        if test not in named:
            raise AssertionError(f"Unknown test function name {test}")
        test = named[test]

    def on_visible(system: Any, baseline: Any) -> Any:
        executions, rest = np.divmod(baseline, EXECUTION.STEP)
        hidden = np.all((executions >= 1) & (rest == 0))
        return (0.0, 1.0) if hidden else test(system, baseline)

    return on_visible


def _csv_columns(save_dir: str) -> set[str] | None:
    file = Path(save_dir) / "aggregated.csv"
    return set(pd.read_csv(file, nrows=0).columns) if file.exists() else None


def _visible(table: pd.DataFrame) -> list[str]:
    return [column for column in table.columns if column.partition(" ")[0] != _HIDDEN]


def _remove_from_csv(save_dir: str) -> None:
    """Take the hidden measure out of the summaries that ``pt.Experiment`` writes."""
    aggregated, perquery = Path(save_dir) / "aggregated.csv", Path(save_dir) / "perquery.csv"
    table = pd.read_csv(aggregated, dtype=str, keep_default_na=False)
    table[_visible(table)].to_csv(aggregated, index=False)
    rows = pd.read_csv(perquery, dtype=str, keep_default_na=False)
    rows[rows["measure"] != _HIDDEN].to_csv(perquery, index=False)
