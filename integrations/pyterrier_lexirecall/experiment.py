"""`pt.lexirecall.Experiment`: `pt.Experiment` with the numbers of a `Comparison`, and preferences.

It works in four steps, which are the four parts of this file:

1. Check the arguments, before any system runs: `_Request`, `_Systems`.
2. Run the systems once. A last stage in every pipeline keeps what passes; `pt.Experiment` runs and
   scores the pipelines: `_Evaluation`, `_Keep`.
3. Compare what was kept: `_compare_rankings`.
4. Put the numbers of the comparison into the table of `pt.Experiment`: `_tabulate`.
"""

from __future__ import annotations

import os
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import starmap
from typing import Any, NamedTuple

import ir_measures
import numpy as np
import pandas as pd
import pyterrier as pt
from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall import significance
from ir_lexirecall._util.arrays import Floats
from ir_lexirecall._util.errors import (
    check_choice,
    counted,
    entry,
    is_integer,
    keeping_errors_of,
    shown,
    warn,
)
from ir_lexirecall._util.selecting import without
from ir_lexirecall.comparison import Comparison
from ir_lexirecall.comparison.compared import Design, MarginLike
from ir_lexirecall.comparison.comparing import (
    check_can_be_repeated,
    comparison_of,
    comparison_of_repeats,
    warn_of_unreached_grades,
)
from ir_lexirecall.comparison.shared_queries import (
    NothingShared,
    QueriesWithResults,
)
from ir_lexirecall.comparison.verdicts import all_pairs
from ir_lexirecall.data.collection import Collection
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.data.tie_rule import TREC_EVAL_9
from ir_lexirecall.evaluation.scored_runs import ScoredRuns
from ir_lexirecall.io.groups import GroupsLike
from ir_lexirecall.io.repeated_values import RepeatsLike
from ir_lexirecall.io.texts import TextsLike, TextSources
from ir_lexirecall.measures.declaration import REGISTRY
from ir_lexirecall.measures.scoring import is_native, values, warn_of_grades
from ir_lexirecall.preferences.functions import NAMES
from ir_lexirecall.preferences.naming import PREFERENCES, Preference, parse_preference
from ir_lexirecall.significance import SignificanceTest
from pyterrier_lexirecall.experiment_tables import (
    NOTHING,
    Against,
    Evaluated,
    Measures,
    averages,
    per_query,
    read_metrics,
)
from pyterrier_lexirecall.options import check_options
from pyterrier_lexirecall.repeated_systems import RepeatedSystems

# Captured before any monkey-patching: users may put the `Experiment` of this module in its place.
_plain_experiment = pt.Experiment

PairedTest = Callable[[Floats, Floats], Any]
"""A test as `pt.Experiment` calls it, with the values of a system and of the baseline.

The second element of its result is the p-value.
"""

_RANKED = ("qid", "docno", "score")  # columns of a ranking


DEFAULT_PREFERENCES = ("lexirecall",)
"""Preferences by which systems are compared if the user names none."""


@partial(entry, name="pt.lexirecall.Experiment")
def Experiment(
    retr_systems: Sequence[Any] | Mapping[str, Any],
    topics: pd.DataFrame | str,
    qrels: pd.DataFrame | str | Judgments | Collection,
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
    *,
    preferences: str | Sequence[str] | None = DEFAULT_PREFERENCES,
    margin: MarginLike | None = None,
    predicted: pd.DataFrame | str | None = None,
    groups: GroupsLike | None = None,
    texts: TextsLike | None = None,
    repeats: RepeatsLike | None = None,
    deterministic: str | Iterable[str] | None = None,
    return_comparison: bool = False,
    **options: Any,
) -> Any:
    """Run `pt.Experiment`, and compare the systems as `ir_lexirecall.compare` does.

    Each system runs once. The columns are:

    - `name`;
    - the measures, in the order of `eval_metrics`, and with a baseline their statistics: `AP +`
      and `AP -` (queries that the system wins and loses), `AP p-value`, and with `correction`
      `AP reject` and `AP p-value corrected`;
    - the preferences, with the same statistics. `pref:lexirecall` is a system's mean preference
      over the baseline, on the queries with relevant documents. Without a baseline, it is the mean
      over all other systems.

    All of these are the numbers of the `Comparison`, bit for bit: those that
    `ir_lexirecall.compare` gives for the same qrels, runs, criteria, test and correction. Measures
    that it cannot compute again keep the numbers of `pt.Experiment`: those that read other columns
    than ids and scores, and those that are not numbers for some query.

    A system may retrieve no judged document, most often because its ids are written differently.
    `ir_lexirecall.compare` refuses it. Here it keeps its row, with the means of `pt.Experiment` and
    a warning, but its statistics and preferences are missing. If it is the baseline, those of all
    systems are.

    Args:
        retr_systems: pipelines or frames of results, in a list or by name. With `repeats`, a system
            may be a list of pipelines, frames or files of runs.
        topics: topics, or a file of topics.
        qrels: qrels, a file of qrels, or what `ir_lexirecall.load` gives.
        eval_metrics: as in `pt.Experiment`, or names as measures print, such as `"nDCG@10"`. Names
            of preferences may stand among them.
        names: names of the systems.
        perquery: True for values per topic, `"both"` for averages and values per topic.
        dataframe: return a DataFrame, else a dict.
        batch_size: how many topics run at once.
        filter_by_qrels: run only topics with qrels.
        filter_by_topics: use only qrels of the topics.
        baseline: as in `pt.Experiment`, or a list of indices or names. With a list, the columns of
            statistics and preferences end with the baseline's name: `AP p-value (bm25)`.
        test: as in `ir_lexirecall.compare`, or a function as `pt.Experiment` takes it, which then
            tests the measures.
        correction: correction of p-values against a baseline, as in `pt.Experiment`; by default
            there are no columns for it. It also corrects the verdicts of the `Comparison`, which
            are corrected by Holm's method by default.
        correction_alpha: level of the correction and of the verdicts, and 1 - confidence of the
            intervals.
        highlight: how the best value of each column is marked, as in `pt.Experiment`.
        round: decimal places of all columns, or by the name of a column.
        preferences: names of preferences, such as `"lexirecall"` or `"rpp(rel=2)@100"`; None or an
            empty list for no preferences. The default is left out if `margin` does not fit it
            (`"2%"`, or a mapping without it). If a system does not rank documents (but gives
            answers, with `qid` and `qanswer`), they are left out with a warning, and there is no
            `Comparison`.
        margin: as in `ir_lexirecall.compare`, by the names of the columns (without `pref:` for
            preferences). It adds the column `AP verdict (corrected)`, and p-values for worse,
            better, within and not worse, as in `AP worse p-value (one-sided, corrected)`. The
            column `AP p-value` stays two-sided and uncorrected.
        predicted: as in `ir_lexirecall.compare`: judgments of all topics by a program, with
            PyTerrier's column names, or a file. It cannot be combined with `filter_by_qrels`,
            because all topics must run, nor with a test function.
        groups: as in `ir_lexirecall.compare`. A name is that of a column of the topics, or of the
            qrels. With `cluster` of the test, groups are the units of all p-values.
        texts: texts of documents for reports and for the page that `to_judge` writes, such as
            `pt.get_dataset("irds:vaswani").text_loader()`, or the data set. Texts of queries are
            those of the topics.
        repeats: what several runs of a system are, `"samples"` or `"seeds"`, as in
            `ir_lexirecall.compare`. There is a row for each system, with averages over its runs.
        deterministic: systems without seeds, as in `ir_lexirecall.compare`.
        return_comparison: return the pair (result, `Comparison`).
        options: further arguments of `pt.Experiment`, such as `plan` and `save_dir`. Saved files
            hold the numbers of `pt.Experiment`, against the first baseline.

    Returns:
        The result of `pt.Experiment`, with the preferences. Per query, each preference is one more
        measure. `attrs["comparison"]` of the DataFrame is the `Comparison` of all systems. It keeps
        the rankings, so that `to_judge`, `bounds` and reports work.

    Raises:
        ValueError: an unknown measure, preference, test or baseline, or bad input to an evaluation.

    >>> topics = pd.DataFrame({"qid": ["1"], "query": ["x"]})
    >>> qrels = pd.DataFrame({"qid": ["1", "1"], "docno": ["a", "b"], "label": [1, 1]})
    >>> one = pd.DataFrame({"qid": "1", "docno": ["a", "b"], "score": [2.0, 1.0], "rank": [0, 1]})
    >>> two = pd.DataFrame({"qid": "1", "docno": ["a", "c", "b"], "score": [3.0, 2.0, 1.0]})
    >>> two["rank"] = [0, 1, 2]
    >>> table = Experiment([one, two], topics, qrels, ["map"], names=["one", "two"])
    >>> table
      name       map  pref:lexirecall
    0  one  1.000000              1.0
    1  two  0.833333             -1.0
    >>> comparison = table.attrs["comparison"]
    >>> comparison.criteria
    ['map', 'lexirecall']
    >>> bounds = comparison.bounds("map")  # if document c were judged
    >>> bounds[["run_a", "run_b", "low", "high"]].round(3)
      run_a run_b    low   high
    0   one   two -0.333  0.167
    """
    # Check: whatever can be refused is refused before a system runs.
    _check_metrics(eval_metrics)
    eval_metrics, named_preferences = _without_preferences(eval_metrics)
    if preferences is DEFAULT_PREFERENCES and not _fits_preferences(
        margin, preferences
    ):
        preferences = None
    preferred = {
        **_read_preferences(preferences),
        **_read_preferences(named_preferences),
    }
    _check_predicted(predicted, test, filter_by_qrels)
    tested, own_test, correction = _read_test(
        test, correction, correction_alpha, baseline
    )
    # This raises if the test needs groups, and there are none.
    Design(test=tested, groups=groups)
    systems = _Systems.checked(retr_systems, names, baseline, repeats, deterministic)
    if systems.several is not None:
        _check_repeats(
            preferred,
            Design(None, None, tested, predicted, groups),
            own_test,
            dataframe,
        )
    handed_on = {"batch_size": batch_size, **options}
    layout = _Layout(perquery, dataframe, round, highlight)
    _check_handed_on(handed_on, layout, systems, filter_by_qrels, filter_by_topics)
    metrics, measures = read_metrics(eval_metrics)
    topics = _read("topics", topics, pt.io.read_topics)
    if isinstance(qrels, (Judgments, Collection)):
        qrels = _frame_of(Judgments.from_qrels(qrels))
    qrels = _read("qrels", qrels, pt.io.read_qrels)
    _check_ids(topics, qrels, measures)
    qrels = _with_whole_grades(qrels, measures)
    request = _Request(
        metrics,
        measures,
        preferred,
        tested,
        own_test,
        correction,
        margin,
        predicted,
        groups,
        texts,
    )
    evaluation = _Evaluation(
        request, systems, topics, qrels, filter_by_qrels, filter_by_topics
    )

    result, rankings = evaluation.run(layout, handed_on)
    try:
        comparison = _compare_rankings(rankings, evaluation)
    except NothingShared as error:
        comparison, evaluation = None, _without_baselines(evaluation, error)
    against = _against_baselines(comparison, result, rankings, evaluation)
    table = _tabulate(result, comparison, against, evaluation, layout)
    if return_comparison:
        return table, comparison
    return table


# -- check ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Request:
    """What to compute, and how to test it.

    Attributes:
        metrics: the measures, as `pt.Experiment` takes them.
        measures: the measures, by the names of their columns.
        preferences: the preferences, by their names.
        test: the test of the comparison.
        own_test: a function of the user, which tests the measures instead.
        correction: correction of p-values in columns of their own; None for no such columns.
        margin, predicted, groups, texts: as in `Experiment`.
    """

    metrics: Sequence[str | IRMeasure]
    measures: Measures
    preferences: Mapping[str, Preference]
    test: SignificanceTest
    own_test: PairedTest | None
    correction: str | None
    margin: MarginLike | None
    predicted: pd.DataFrame | str | None
    groups: GroupsLike | None
    texts: TextsLike | None


def _check_metrics(eval_metrics: Any) -> None:
    """Raise if measures are not a list of names and measures."""
    if isinstance(eval_metrics, str):
        raise ValueError(
            f"eval_metrics must be a list of measures, such as [{eval_metrics!r}]"
        )
    if not isinstance(eval_metrics, Iterable):
        raise ValueError(
            f"eval_metrics must be a list of measures, such as ['map'], not {shown(eval_metrics)}"
        )
    if isinstance(eval_metrics, Iterator):
        return  # reading it would leave nothing
    for metric in eval_metrics:
        if not isinstance(metric, (str, IRMeasure)):
            raise ValueError(
                f"eval_metrics holds {shown(metric)}, which is no measure such as 'map' or nDCG@10"
            )


def _without_preferences(
    eval_metrics: Sequence[str | IRMeasure],
) -> tuple[list[str | IRMeasure], list[str]]:
    """Return the measures, and the names of preferences that stand among them."""
    named = []
    for metric in eval_metrics:
        if isinstance(metric, str) and parse_preference(metric):
            named.append(metric)
    return without(eval_metrics, named), named


def _fits_preferences(margin: MarginLike | None, preferences: Sequence[str]) -> bool:
    """Return whether preferences can have the margin: a number, of their own or for all."""
    if isinstance(margin, Mapping):
        return all(
            isinstance(margin.get(name, ""), (int, float)) for name in preferences
        )
    return not isinstance(margin, str)


def _read_preferences(preferences: str | Sequence[str] | None) -> dict[str, Preference]:
    """Return preferences by their full names.

    Raises:
        ValueError: an unknown preference.
    """
    names = preferences or ()
    if isinstance(preferences, str):
        names = [preferences]
    preference_of_name = {}
    for name in names:
        preference = parse_preference(name)
        if preference is None:
            preference = PREFERENCES[check_choice("preference", name, NAMES)]
        preference_of_name[str(preference)] = preference
    return preference_of_name


def _check_predicted(predicted: Any, test: Any, filter_by_qrels: bool) -> None:
    """Raise if predicted judgments are given with arguments that they cannot be combined with."""
    if predicted is None:
        return
    if filter_by_qrels:
        raise ValueError(
            "predicted judgments need the rankings of all topics; leave filter_by_qrels out"
        )
    if callable(test):
        raise ValueError(
            "your own test would see only the queries that people judged; leave out test or "
            "predicted"
        )


def _check_repeats(
    preferences: Mapping[str, Preference],
    design: Design,
    own_test: Any,
    dataframe: bool,
) -> None:
    """Raise if repeats are given with arguments that they cannot be combined with."""
    check_can_be_repeated(preferences, design)
    if own_test is not None:
        raise ValueError("your own test cannot use repeats; leave out test or repeats")
    if not dataframe:
        raise ValueError(
            "the result with repeats is always a DataFrame; leave dataframe=False out"
        )


def _read_test(
    test: str | SignificanceTest | PairedTest | None,
    correction: str | None,
    alpha: float,
    baseline: Any,
) -> tuple[SignificanceTest, PairedTest | None, str | None]:
    """Return the test of the comparison, the user's own test function, and the correction.

    A `SignificanceTest` has a correction of its own, which there are columns for if there is a
    baseline. Without a correction, the comparison is corrected by Holm's method, but there are no
    columns for it.
    """
    if isinstance(test, SignificanceTest):
        return test, None, None if baseline is None else test.correction
    if callable(test):
        return SignificanceTest(None, correction or "holm", alpha), test, correction
    return SignificanceTest(test, correction or "holm", alpha), None, correction


@dataclass(frozen=True)
class _Systems:
    """The systems, and the baselines among them.

    Attributes:
        systems: pipelines, or frames of results.
        names: names of the systems, as they were given.
        baselines: indices of the baselines; the first one is handed to `pt.Experiment`.
        names_baselines: whether the columns of a baseline end with its name.
        several: the runs of systems that have several; None if each has one.
    """

    systems: Sequence[Any]
    names: Sequence[Any]
    baselines: Sequence[Any]
    names_baselines: bool
    several: RepeatedSystems | None = None

    @classmethod
    def checked(
        cls,
        retr_systems: Sequence[Any] | Mapping[str, Any],
        names: Sequence[str] | None,
        baseline: int | str | Sequence[int | str] | None,
        repeats: RepeatsLike | None,
        deterministic: str | Iterable[str] | None,
    ) -> _Systems:
        """Check the systems, their names and the baselines.

        Raises:
            TypeError: the systems are neither a list nor a mapping.
            ValueError: an unknown baseline, or repeats that do not fit.
        """
        if isinstance(retr_systems, Mapping):
            names, systems = list(retr_systems), list(retr_systems.values())
            if isinstance(baseline, str):
                choices = [name for name in names if isinstance(name, str)]
                baseline = names.index(check_choice("baseline", baseline, choices))
        elif isinstance(retr_systems, list):
            if names is None:
                names = list(map(str, retr_systems))
            else:
                names = list(names)
            systems = retr_systems
        else:
            kind = type(retr_systems).__name__
            raise TypeError(
                f"Expected list or dict of systems, instead received {kind}"
            )
        _check_named_systems(systems, names)
        several = RepeatedSystems.of(systems, names, repeats, deterministic)
        names_baselines = isinstance(baseline, (list, tuple))
        baselines: list[Any] = []
        if isinstance(baseline, (list, tuple)):
            baselines = _indices_of_baselines(baseline, names)
        elif isinstance(baseline, str) and several is None:
            raise ValueError(
                f"baseline={baseline!r}: for a list of systems, give the index of the baseline, as "
                "in baseline=0; to give its name, pass a mapping of names to systems"
            )
        elif baseline is not None:
            baselines = _indices_of_baselines([baseline], names)
        return cls(systems, names, baselines, names_baselines, several)

    @property
    def single_runs(self) -> _Systems:
        """All runs as systems of their own, without a baseline."""
        if self.several is None:
            return self
        return _Systems(
            list(self.several.runs.values()), list(self.several.runs), [], False
        )

    @property
    def first_baseline(self) -> Any:
        """Index of the baseline that `pt.Experiment` gets; None without a baseline."""
        if self.baselines:
            return self.baselines[0]
        return None

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The pairs that are compared, by their labels: all, or those with each baseline."""
        if not self.baselines:
            return all_pairs(self.labels, None)
        pairs = []
        for index in self.baselines:
            pairs.extend(all_pairs(self.labels, self.labels[index]))
        return pairs

    @property
    def labels(self) -> list[str]:
        """Distinct names of the systems; the number of a system that is called by its table."""
        labels = [_label(index, name) for index, name in enumerate(self.names)]
        if len(set(labels)) < len(labels):
            return [f"{index}: {label}" for index, label in enumerate(labels)]
        return labels


def _label(index: int, name: Any) -> str:
    """Return the name of a system, or its number if the name takes several lines, as a table's."""
    label = str(name)
    return f"system {index}" if "\n" in label else label


def _check_named_systems(systems: Sequence[Any], names: Sequence[Any]) -> None:
    """Raise if there are no systems, or not as many names as systems."""
    if not systems:
        raise ValueError("there are no systems; give at least one")
    if len(names) != len(systems):
        raise ValueError(
            f"names: {counted(len(names), 'name')} for {counted(len(systems), 'system')}; "
            "give one for each"
        )


def _indices_of_baselines(baselines: Sequence[Any], names: Sequence[Any]) -> list[Any]:
    """Return the indices of several baselines.

    Raises:
        ValueError: an unknown baseline, the same one twice, or none at all.
    """
    indices = []
    for baseline in baselines:
        index = baseline
        if isinstance(baseline, str) and names.count(baseline) == 1:
            index = names.index(baseline)
        indices.append(index)
        if not is_integer(index) or not 0 <= index < len(names):
            choices = (
                f"{', '.join(starmap(_label, enumerate(names)))}, or by place from 0 to "
                f"{len(names) - 1}"
            )
            raise ValueError(f"unknown baseline {baseline!r}; choose from {choices}")
    if not indices or len(set(indices)) < len(indices):
        raise ValueError(
            f"baseline={list(baselines)!r} must name one system or several different ones"
        )
    return indices


@dataclass(frozen=True)
class _Layout:
    """The arguments of `pt.Experiment` that decide the form of its result."""

    perquery: bool | str
    dataframe: bool
    round: int | Mapping[str, int] | None
    highlight: str | None


def _check_handed_on(
    options: Mapping[str, Any],
    layout: _Layout,
    systems: _Systems,
    filter_by_qrels: bool,
    filter_by_topics: bool,
) -> None:
    """Raise if an option has a value that `pt.Experiment` does not accept."""
    filters = {"filter_by_qrels": filter_by_qrels, "filter_by_topics": filter_by_topics}
    single_baseline: dict[str, Any] = {}
    # Runs of systems with repeats are handed on without a baseline.
    if systems.several is None:
        single_baseline = {"baseline": systems.first_baseline}
    check_options({**options, **vars(layout), **filters, **single_baseline})


def _read(
    name: str, source: Any, reader: Callable[[str], pd.DataFrame]
) -> pd.DataFrame:
    """Return topics or qrels; read them if they are a file, as `pt.Experiment` does.

    Raises:
        ValueError: they are neither a frame nor the path of a file.
    """
    if isinstance(source, str):
        if not os.path.isfile(source):
            raise ValueError(f"{name}: {source}: there is no such file")
        return reader(source)
    if not isinstance(source, pd.DataFrame):
        raise ValueError(f"{name} must be a DataFrame or a file, not {shown(source)}")
    return source


def _frame_of(judgments: Judgments) -> pd.DataFrame:
    """Return judgments as a frame of PyTerrier.

    Raises:
        ValueError: they say how runs are read, which `pt.Experiment` cannot follow.
    """
    if judgments.excluded or judgments.judged_only or judgments.order != TREC_EVAL_9:
        raise ValueError(
            "qrels: pt.Experiment neither takes documents out of runs nor orders them as trec_eval "
            "10 does; load the qrels without exclude, rules, judged_only and trec_eval, or use "
            "ir_lexirecall.compare"
        )
    if judgments.table is not None:
        columns = {"query_id": "qid", "doc_id": "docno", "relevance": "label"}
        return judgments.for_ir_measures().rename(columns=columns)
    query_ids = [judgments.query_ids[q] for q in judgments.query.tolist()]
    ids = {"qid": query_ids, "docno": judgments.doc_ids}
    return pd.DataFrame({**ids, "label": judgments.grade})


def _check_ids(topics: pd.DataFrame, qrels: pd.DataFrame, measures: Measures) -> None:
    """Raise if ids are integers where PyTerrier, or another package, can use texts only.

    Raises:
        ValueError: also if the topics have no ids.
    """
    if "qid" not in topics:
        raise ValueError(
            f"topics lack the column qid: they have {', '.join(map(str, topics))}"
        )
    integers = {
        (name, column)
        for name, frame, column in (
            ("topics", topics, "qid"),
            ("qrels", qrels, "qid"),
            ("qrels", qrels, "docno"),
        )
        if column in frame and pd.api.types.is_integer_dtype(frame[column])
    }
    of_queries = sorted(name for name, column in integers if column == "qid")
    if len(of_queries) == 1:
        [name] = of_queries
        raise ValueError(
            f"{name}: qid holds integers, and that of the {_OTHER[name]} texts; give "
            f"{name}.astype({{'qid': str}})"
        )
    others = _of_other_packages(measures)
    for column in ("qid", "docno"):
        if others and ("qrels", column) in integers:
            raise ValueError(
                f"qrels: {column} holds integers, and pt.Experiment computes {others[0]} from "
                f"texts only; give qrels.astype({{{column!r}: str}}), and topics and results alike"
            )


_OTHER = {"topics": "qrels", "qrels": "topics"}


def _with_whole_grades(qrels: pd.DataFrame, measures: Measures) -> pd.DataFrame:
    """Return qrels whose grades are integers if all are whole numbers, as `pt.Experiment` needs.

    Raises:
        ValueError: no judgments, a grade that is not a number, or fractional grades with a measure
            that other packages compute, which read integers only.
    """
    if not len(qrels):
        raise ValueError("qrels: there are no judgments in it; add some")
    if "label" not in qrels:
        return qrels
    label = qrels["label"]
    if isinstance(label.dtype, np.dtype) and label.dtype.kind in "iu":
        return qrels
    if not pd.api.types.is_bool_dtype(label):
        Judgments.from_qrels(qrels)  # raises if a grade is not a finite number
        label = label.astype("float64")  # of categories and nullable integers, too
        fractions = label[label % 1 != 0]
        if len(fractions):
            _check_takes_fractions(measures, fractions.iloc[0])
            return qrels
    return qrels.assign(label=label.astype("int64"))


def _check_takes_fractions(measures: Measures, fraction: float) -> None:
    """Raise if a measure is computed by another package, which reads whole grades only."""
    others = _of_other_packages(measures)
    if others:
        raise ValueError(
            f"qrels: pt.Experiment computes {others[0]} from whole grades only, and a label is "
            f"{fraction:g}; use ir_lexirecall.compare, or count labels from a level on as 1, as in "
            "qrels.assign(label=(qrels['label'] >= 0.5).astype(int))"
        )


def _of_other_packages(measures: Measures) -> list[str]:
    """Return the names of measures that another package computes."""
    if not any(measures.values()):
        return [str(NOTHING)]  # stands in for measures
    own_classes = {type(measure) for measure in REGISTRY.values()}
    return [
        name
        for name, measure in measures.items()
        if measure and type(measure) not in own_classes
    ]


# -- run -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Evaluation:
    """Systems, topics and qrels, and what is asked of them."""

    request: _Request
    systems: _Systems
    topics: Any
    qrels: Any
    filter_by_qrels: bool
    filter_by_topics: bool

    @property
    def preferences(self) -> Mapping[str, Preference]:
        """The preferences by name; none for a single system, which has nothing to compare with."""
        if len(self.systems.systems) > 1:
            return self.request.preferences
        return {}

    def run(
        self, layout: _Layout, options: Mapping[str, Any]
    ) -> tuple[Any, dict[str, Any]]:
        """Run every system once, and keep the rankings.

        Returns:
            The result of `pt.Experiment`, and what each system retrieved, by label: a frame, or the
            path of a run. With repeats, the result is averaged over the runs of each system, and
            each run has a label.
        """
        several = self.systems.several
        if several is not None:
            request = replace(self.request, correction=None)
            of_single_runs = replace(
                self, systems=self.systems.single_runs, request=request
            )
            result, rankings = of_single_runs.run(replace(layout, round=None), options)
            return several.averaged(result, layout.round), rankings
        systems = self.systems.systems
        keepers = [_Keep(all_columns=self.systems.names_baselines) for _ in systems]
        pipelines = []
        for system, keeper in zip(systems, keepers, strict=True):
            if isinstance(system, pt.Transformer):
                pipelines.append(_KeptPipeline.of(system, keeper))
            else:
                pipelines.append(system)
        with keeping_errors_of("pyterrier"):
            result = _plain_experiment(
                pipelines,
                **self._arguments(),
                baseline=self.systems.first_baseline,
                perquery=layout.perquery,
                dataframe=layout.dataframe,
                round=layout.round,
                **options,
            )
        rankings = {}
        for label, system, keeper, name in zip(
            self.systems.labels, systems, keepers, self.systems.names, strict=True
        ):
            rankings[label] = keeper.retrieved(system, name, self.topics, options)
        return result, rankings

    def averages_against(
        self, baseline: int, rankings: Mapping[str, Any]
    ) -> pd.DataFrame:
        """Return the averages of `pt.Experiment` with another baseline, without running systems."""
        frames = []
        for ranking in rankings.values():
            if isinstance(ranking, str):
                frames.append(pt.io.read_results(ranking))
            else:
                frames.append(ranking)
        table: pd.DataFrame = _plain_experiment(
            frames, **self._arguments(), baseline=baseline, validate="ignore"
        )
        return table

    def _arguments(self) -> dict[str, Any]:
        """Return the arguments of `pt.Experiment` that do not depend on the baseline."""
        request = self.request
        test = request.own_test or _paired_test(replace(request.test, cluster=False))
        return {
            "topics": self.topics,
            "qrels": self.qrels,
            "eval_metrics": request.metrics,
            "names": self.systems.names,
            "filter_by_qrels": self.filter_by_qrels,
            "filter_by_topics": self.filter_by_topics,
            "test": test,
            "correction": request.correction,
            "correction_alpha": request.test.alpha,
        }


class _KeptPipeline(pt.Compose):  # type: ignore[misc]
    """A pipeline that ends with a stage that keeps results, and prints as without that stage."""

    @classmethod
    def of(cls, system: pt.Transformer, keeper: _Keep) -> _KeptPipeline:
        """Return the pipeline of a system; stages of a composed one stay stages."""
        if isinstance(system, pt.Compose):
            stages = system
        else:
            stages = [system]
        return cls(*stages, keeper)

    def __repr__(self) -> str:
        *stages, _ = self
        return repr(stages[0] if len(stages) == 1 else pt.Compose(*stages))


class _Keep(pt.Transformer):  # type: ignore[misc]
    """The last stage of a pipeline, which keeps what passes, batch by batch."""

    def __init__(self, all_columns: bool) -> None:
        self.all_columns = all_columns
        self.batches: list[pd.DataFrame] = []
        self.seen: set[Any] = set()

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        """Keep the rows of new topics, and return all rows."""
        if len(inp):  # PyTerrier passes an empty frame to look at the columns
            # A stage may give its rows of all topics in every batch.
            if self.seen:
                new = inp[~inp["qid"].isin(self.seen)]
            else:
                new = inp
            columns = []
            for column in inp:
                if self.all_columns or column in _RANKED:
                    columns.append(column)
            self.batches.append(new[columns])
            self.seen.update(inp["qid"].unique())
        return inp

    def retrieved(
        self, system: Any, name: Any, topics: pd.DataFrame, options: Mapping[str, Any]
    ) -> Any:
        """Return what a system retrieved, as a frame or as the path of a run.

        A system that did not run has its results in `save_dir`, or is a frame itself.
        """
        if len(self.batches) == 1:
            return self.batches[0]
        if self.batches:
            return pd.concat(self.batches, ignore_index=True)
        saved = _saved_results(name, options)
        if saved is not None:
            return saved
        if options.get("plan") == "tree":
            return system[system["qid"].isin(topics["qid"])]
        return system


def _saved_results(name: Any, options: Mapping[str, Any]) -> Any:
    """Return results that `pt.Experiment` took from `save_dir`, or their path; None without any."""
    if options.get("save_dir") is None or options.get("save_mode") != "reuse":
        return None
    save_format = options.get("save_format", "trec")
    is_module = isinstance(save_format, types.ModuleType)
    if save_format == "trec":
        ending = "res.gz"
    else:
        ending = "mod" if is_module else "custom"
    path = os.path.join(options["save_dir"], f"{name}.{ending}")
    if not os.path.exists(path):
        return None
    if save_format == "trec":
        return path
    if is_module:
        load = save_format.load
    else:
        load = save_format[0]
    with pt.io.autoopen(path, "rb") as file:
        return load(file)


# -- compare -------------------------------------------------------------------------------------


def _compare_rankings(
    rankings: Mapping[str, Any], evaluation: _Evaluation
) -> Comparison | None:
    """Compare the systems, by all measures of rankings and by the preferences.

    Returns:
        The comparison; None if a system does not rank documents, or nothing can be compared.

    Raises:
        ValueError: groups or predicted judgments without a comparison, or predicted judgments that
            do not fit.
    """
    request, systems = evaluation.request, evaluation.systems
    comparison = None
    if _all_rank_documents(rankings, evaluation.preferences):
        first = systems.first_baseline
        if first is None:
            baseline = None
        else:
            baseline = systems.labels[first]
        comparison = _comparison_on(
            evaluation.qrels,
            rankings,
            evaluation,
            baseline=baseline,
            margin=request.margin,
        )
    if comparison is None:
        _check_needs_no_comparison(request)
        return None
    if comparison.compared.scored is not None:
        comparison.compared.scored.warn_of_hardly_judged()
    by_program = None
    if request.predicted is not None:
        by_program = _comparison_by_program(comparison, rankings, evaluation)
    queries = None
    if "query" in evaluation.topics:
        queries = evaluation.topics
    texts = TextSources(request.texts, queries)
    compared = replace(
        comparison.compared,
        predicted=by_program.compared if by_program else None,
        texts=texts,
    )
    return Comparison(compared)


def _without_baselines(evaluation: _Evaluation, error: NothingShared) -> _Evaluation:
    """Warn that systems share no query with results, and return the evaluation without statistics.

    Raises:
        NothingShared: groups or predicted judgments need a comparison.
    """
    request = evaluation.request
    if request.groups is not None or request.predicted is not None:
        raise error
    warn(f"{error}: there are no statistics")
    return replace(evaluation, systems=replace(evaluation.systems, baselines=[]))


def _all_rank_documents(
    rankings: Mapping[str, Any], preferences: Mapping[str, Preference]
) -> bool:
    """Return whether all systems rank documents; warn if preferences need that."""
    for name, ranking in rankings.items():
        if isinstance(ranking, str):
            continue  # the path of a run
        missing = without(_RANKED, ranking)
        if missing:
            if preferences:
                lack = f"what system {name!r} gives has no {' and '.join(missing)}"
                warn(
                    f"preferences compare documents, and {lack}: "
                    "they are left out, as with preferences=None"
                )
            return False
    return True


def _check_needs_no_comparison(request: _Request) -> None:
    """Raise if groups or predicted judgments are given, which only a comparison can use."""
    way_out = "rankings: name a preference or a measure of rankings, or leave"
    if request.groups is not None:
        raise ValueError(f"groups need {way_out} groups out")
    if request.predicted is not None:
        raise ValueError(f"predicted needs {way_out} predicted out")


def _comparison_on(
    qrels: pd.DataFrame,
    rankings: Mapping[str, Any],
    evaluation: _Evaluation,
    baseline: str | None = None,
    margin: MarginLike | None = None,
) -> Comparison | None:
    """Compare rankings by some qrels; return None without criteria or judged topics."""
    request, topics = evaluation.request, evaluation.topics
    if evaluation.filter_by_topics:
        qrels = qrels[qrels["qid"].isin(topics["qid"])]
    # Qrels may be of other topics only.
    judgments = Judgments.from_qrels(qrels, allow_empty=True)
    scored = ScoredRuns.from_runs(
        {}, judgments, rankings, allow_empty=True, progress=False
    )
    several = evaluation.systems.several
    labels = None if several is None else several.labels
    results = QueriesWithResults.of(scored, labels)
    results.check(evaluation.systems.pairs)
    results.warn_of_poorly_shared(evaluation.systems.pairs)
    values_of_measure = _values_of_measures(scored, request.measures)
    measures = {name: request.measures[name] for name in values_of_measure}
    warn_of_grades(measures.values(), judgments)
    warn_of_unreached_grades(evaluation.preferences, judgments)
    scored = replace(scored, measures=measures, values=values_of_measure)
    criteria: dict[str, Any] = {**measures, **evaluation.preferences}
    if not criteria or not len(scored.judgments):
        return None
    table = _table_with_groups(
        request.groups, topics, qrels, otherwise=evaluation.qrels
    )
    groups = Design(groups=request.groups).groups_of(scored.judgments.query_ids, table)
    design = Design(baseline, margin, request.test, groups=groups)
    if several is not None:
        return comparison_of_repeats(
            scored, criteria, design, several.labels, several.repeats
        )
    return comparison_of(scored, criteria, design)


def _values_of_measures(scored: ScoredRuns, measures: Measures) -> dict[str, Floats]:
    """Return the values of measures that can be computed from the rankings, shape `(S, Q)` each.

    Left out are measures that are not numbers for every query, and functions of the user, which
    may read other columns than ids and scores.
    """
    registered = set(map(type, ir_measures.measures.registry.values()))
    values_of_measure: dict[str, Floats] = {}
    for name, measure in measures.items():
        if measure is None or not (is_native(measure) or type(measure) in registered):
            continue
        try:
            of_runs = np.stack([values(measure, run) for run in scored.runs.values()])
        except ValueError:
            # The provider needs more than the ranks of the judged documents.
            continue
        if np.isfinite(of_runs).all():
            values_of_measure[name] = of_runs
    return values_of_measure


def _table_with_groups(
    groups: GroupsLike | None, topics: Any, qrels: pd.DataFrame, otherwise: Any
) -> Any:
    """Return the table that has a column of groups, if groups are named by a column."""
    if isinstance(groups, str):
        for table in (topics, qrels):
            if groups in table:
                return table
    return otherwise


def _comparison_by_program(
    comparison: Comparison, rankings: Mapping[str, Any], evaluation: _Evaluation
) -> Comparison:
    """Compare the systems by predicted judgments, by the criteria of the comparison by people.

    Raises:
        ValueError: there are no predicted judgments of the topics, or a measure cannot be computed
            by them.
    """
    predicted = _read("predicted", evaluation.request.predicted, pt.io.read_qrels)
    by_program = _comparison_on(predicted, rankings, evaluation)
    if by_program is None:
        raise ValueError("predicted holds no judgments of the topics; add some")
    missing = without(comparison.compared.by, by_program.compared.by)
    if missing:
        raise ValueError(
            f"{', '.join(missing)} cannot be computed for all topics by the predicted judgments; "
            "leave out these measures, or predicted"
        )
    return by_program


def _against_baselines(
    comparison: Comparison | None,
    result: Any,
    rankings: Mapping[str, Any],
    evaluation: _Evaluation,
) -> Against:
    """Return the comparison with each baseline, by the ending of its columns.

    Each comes with a function that returns the averages of `pt.Experiment` with the baseline. It is
    called only if the comparison lacks a measure, because it scores all systems once more.
    """
    request, systems = evaluation.request, evaluation.systems
    if len(systems.systems) < 2:
        comparison = None
    if comparison is not None and systems.baselines:
        _check_all_compared(comparison, request, systems)

    @cache
    def plain_averages(index: int) -> Any:
        if index == systems.first_baseline:
            return result
        return evaluation.averages_against(index, rankings)

    against: dict[str, tuple[Comparison | None, Callable[[], pd.DataFrame]]] = {}
    for index in systems.baselines:
        over = comparison
        if over is not None and index != systems.first_baseline:
            baseline = systems.labels[index]
            margins = Design(baseline, request.margin).margins(
                over.compared.by, systems.labels
            )
            over = Comparison(
                replace(over.compared, baseline=baseline, margins=margins)
            )
        ending = ""
        if systems.names_baselines:
            ending = f" ({systems.labels[index]})"
        against[ending] = over, partial(plain_averages, index)
    return against


def _check_all_compared(
    comparison: Comparison, request: _Request, systems: _Systems
) -> None:
    """Raise if `pt.Experiment` would have to test a measure in a way that it does not know."""
    for name, measure in request.measures.items():
        if measure is None or name in comparison.compared.by:
            continue
        if systems.several is not None:
            raise ValueError(
                f"{name} cannot be tested with repeats; leave out {name} or baseline"
            )
        if request.test.cluster:
            raise ValueError(
                f"{name} cannot be tested with groups as units; leave out {name} or cluster=True"
            )
        if request.predicted is not None:
            raise ValueError(
                f"{name} cannot be tested with predicted judgments; leave out {name} or predicted"
            )


# -- tabulate ------------------------------------------------------------------------------------


def _tabulate(
    result: Any,
    comparison: Comparison | None,
    against: Against,
    evaluation: _Evaluation,
    layout: _Layout,
) -> Any:
    """Return the result of `pt.Experiment` with the numbers of the comparison."""
    request = evaluation.request
    evaluated = Evaluated(
        evaluation.systems.names, request.measures, comparison, layout.round
    )
    columns: dict[str, Any] = {
        "corrected": request.correction is not None,
        "own_p": request.own_test is not None,
        "highlight": layout.highlight,
    }
    if layout.perquery == "both":
        tables = (
            averages(result[0], evaluated, against, **columns),
            per_query(result[1], evaluated),
        )
        if layout.dataframe:
            return type(result)(*tables)
        return tables
    if layout.perquery:
        return per_query(result, evaluated)
    return averages(result, evaluated, against, **columns)


# -- tests as pt.Experiment takes them -----------------------------------------------------------


class SignTest(NamedTuple):
    """Result of a sign test: (wins - losses) / (wins + losses), and the p-value.

    `pt.Experiment` takes the p-value from the second place.
    """

    statistic: float
    pvalue: float


def sign_test(system: Any, baseline: Any) -> SignTest:
    """Test paired values by the exact two-sided sign test.

    Ties are left out. If nothing differs, p is 1.

    Args:
        system: values per query.
        baseline: values of the baseline, in the same order.

    >>> sign_test([0.5, 0.7, 0.9, 0.2], [0.4, 0.6, 0.8, 0.2])
    SignTest(statistic=1.0, pvalue=0.25)
    """
    difference = np.asarray(system, dtype=np.float64) - np.asarray(
        baseline, dtype=np.float64
    )
    result = significance.sign_test(np.nan_to_num(difference, nan=0.0)[None])
    return SignTest(float(result.estimate[0]), float(result.p[0]))


def _paired_test(test: SignificanceTest) -> str | PairedTest:
    """Return a test as `pt.Experiment` takes it: a name that it knows, or a function.

    >>> a, b = np.array([0.5, 0.7, 0.9]), np.array([0.4, 0.6, 0.8])
    >>> float(_paired_test(SignificanceTest("randomisation"))(a, b)[1])
    0.25
    """
    named = test.named(measure=True)
    if named.name in ("t", "wilcoxon"):
        return named.name

    if named.name == "sign":
        return sign_test

    def p_of_pair(system: Floats, baseline: Floats) -> tuple[float, float]:
        difference = (system - baseline)[None]
        if named.procedure.at_once or not np.isfinite(difference).all():
            # The test needs all systems at once, or a value is not a number.
            return 0.0, np.nan
        return 0.0, float(named.of_pairs(difference).p[0])

    return p_of_pair
