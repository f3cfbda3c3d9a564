"""``pt.lexirecall.Experiment``: ``pt.Experiment`` with the numbers of a ``Comparison``, and preferences beside them.

Every pipeline gets one last stage that keeps what passes; ``pt.Experiment`` runs and scores them, and what was kept is
compared.
"""

from __future__ import annotations

import os
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any, NamedTuple

import ir_measures
import numpy as np
import pandas as pd
import pyterrier as pt
from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall import significance
from ir_lexirecall._util.arrays import Floats
from ir_lexirecall._util.errors import check_choice, entry, is_integer, keeping_errors_of, warn
from ir_lexirecall.comparison import Comparison
from ir_lexirecall.comparison.compared import Design, MarginLike
from ir_lexirecall.comparison.comparing import comparison_of
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.evaluation.scored_runs import ScoredRuns
from ir_lexirecall.io.texts_and_groups import GroupsLike, TextsLike, TextSources
from ir_lexirecall.measures.scoring import is_native, values
from ir_lexirecall.preferences.functions import NAMES
from ir_lexirecall.preferences.naming import PREFERENCES, Preference, parse_preference
from ir_lexirecall.significance import SignificanceTest
from pyterrier_lexirecall.experiment_tables import averages, per_query, read_metrics

_plain_experiment = (
    pt.Experiment
)  # as it is now: who likes this one better may put it in that one's place

PairedTest = Callable[[Floats, Floats], Any]
"""A test as ``pt.Experiment`` calls it: with the values of a system and of the baseline; ``[1]`` is the p-value."""

_RANKED = ("qid", "docno", "score")  # columns of a ranking


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
    *,
    preferences: str | Sequence[str] | None = ("lexirecall",),
    margin: MarginLike | None = None,
    predicted: pd.DataFrame | str | None = None,
    groups: GroupsLike | None = None,
    texts: TextsLike | None = None,
    return_comparison: bool = False,
    **options: Any,
) -> Any:
    """Run ``pt.Experiment`` and compare the systems as ``ir_lexirecall.compare`` does, running each system once.

    Columns: ``name``; the measures, in the order of ``eval_metrics``; with a baseline their statistics (``AP +`` and
    ``AP -``, the queries that the system wins and loses, ``AP p-value``, and with ``correction`` ``AP reject`` and
    ``AP p-value corrected``); then the preferences with theirs. ``pref:lexirecall`` is a system's mean preference over
    the baseline where there is one, else over all other systems, on the queries with relevant documents. All these are
    the numbers of the ``Comparison``, bit for bit: as ``ir_lexirecall.compare`` gives them for the same qrels, runs,
    criteria, test and correction. What it cannot compute again (measures that read other columns than ids and scores,
    or are not numbers for some query) stays as ``pt.Experiment`` gives it.

    A system that retrieves nothing that is judged, which ``ir_lexirecall.compare`` refuses, keeps its row with the means of
    ``pt.Experiment``, under a warning: most often its ids are other ones. Nothing follows on how it ranks, so that its
    statistics and preferences are missing (those of all systems, where it is the baseline).

    Args:
        retr_systems, topics, qrels, names, perquery, dataframe, batch_size, filter_by_qrels, filter_by_topics: as in
            ``pt.Experiment``.
        highlight, round: as in ``pt.Experiment``.
        options: whatever else ``pt.Experiment`` takes, such as ``plan`` and ``save_dir``, whose files keep its own
            numbers (against the first baseline).
        eval_metrics: as in ``pt.Experiment``; texts may also be measures as they print, such as ``"nDCG@10"``.
        baseline: as in ``pt.Experiment``, or a list of places or names: the columns of the statistics and of the
            preferences then end with the baseline's name, as in ``AP p-value (bm25)``.
        test: as in ``ir_lexirecall.compare``; or a function as ``pt.Experiment`` takes it, which then tests the
            measures.
        correction: as in ``pt.Experiment``: of p-values against a baseline; by default there are no columns of it. The
            verdicts of the ``Comparison`` are corrected by it, or by Holm's.
        correction_alpha: level of the correction and of the verdicts, and 1 - confidence of the intervals.
        preferences: names of preferences (``'lexirecall'``, ``'rpp(rel=2)@100'``, ... as in ``ir_lexirecall.compare``).
            None or an empty list: none. Where a system does not rank documents (but gives answers, ``qid`` and
            ``qanswer``), they are left out, with a warning, and there is no ``Comparison``.
        margin: as in ``ir_lexirecall.compare``, by the names of the columns (of preferences without ``pref:``): adds
            the columns ``AP verdict (corrected)`` and, for worse, better, within and not worse, as in
            ``AP worse p-value (one-sided, corrected)``: ``AP p-value`` beside them is two-sided and uncorrected.
        predicted: as in ``ir_lexirecall.compare``: judgments of all topics by a program, with PyTerrier's column names
            or a file. All topics must be run, so that it does not go with ``filter_by_qrels``; nor with a test function.
        groups: as in ``ir_lexirecall.compare``; a name is that of a column of the topics, or of the qrels. With ``cluster`` of the test
            the p-values of all columns are those of groups.
        texts: texts of documents, such as ``pt.get_dataset("irds:vaswani").text_loader()``, or the data set: looked up where a report, or
            a page of what ``to_judge`` gives, shows them. Texts of queries are those of the topics.
        return_comparison: give the pair (result, ``Comparison``).

    Returns:
        What ``pt.Experiment`` gives, with the preferences. Per query, ``pref:lexirecall`` is one more measure. The
        ``Comparison`` of all systems by the measures and preferences is in ``attrs["comparison"]`` of the DataFrame. It
        has the rankings as they were, so that ``to_judge``, ``bounds`` and reports can be had of it.

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
    >>> comparison = table.attrs["comparison"]
    >>> comparison.criteria
    ['map', 'lexirecall']
    >>> comparison.bounds("map")[["run_a", "run_b", "low", "high"]].round(3)  # were c judged
      run_a run_b    low   high
    0   one   two -0.333  0.167
    """
    preferred: dict[str, Preference] = {}
    for name in [preferences] if isinstance(preferences, str) else preferences or ():
        preference = parse_preference(name) or PREFERENCES[check_choice("preference", name, NAMES)]
        preferred[str(preference)] = preference
    if predicted is not None and filter_by_qrels:
        raise ValueError(
            "predicted judgments need the rankings of all topics; leave filter_by_qrels out"
        )
    if isinstance(test, SignificanceTest):
        correction = test.correction if baseline is not None else None
        tested = test
    else:
        tested = SignificanceTest(
            None if callable(test) else test, correction or "holm", correction_alpha
        )
    Design(test=tested, groups=groups)  # which refuses what does not go together
    if predicted is not None and callable(test):
        raise ValueError(
            "a test of your own sees the queries that people judged only; leave out test or predicted"
        )
    if isinstance(retr_systems, Mapping):
        names, systems = list(retr_systems), list(retr_systems.values())
        if isinstance(baseline, str):
            baseline = names.index(
                check_choice("baseline", baseline, [n for n in names if isinstance(n, str)])
            )
    elif isinstance(retr_systems, list):
        names, systems = (
            list(map(str, retr_systems)) if names is None else list(names),
            retr_systems,
        )
    else:
        raise TypeError(
            f"Expected list or dict of systems, instead received {type(retr_systems).__name__}"
        )
    several = isinstance(baseline, (list, tuple))
    baselines: Any = [] if baseline is None else [baseline]  # by place
    if isinstance(baseline, (list, tuple)):
        baselines = [
            names.index(x) if isinstance(x, str) and names.count(x) == 1 else x for x in baseline
        ]
        for given, place in zip(baseline, baselines, strict=True):
            if not is_integer(place) or not 0 <= place < len(names):
                known = f"choose from {', '.join(map(str, names))}, or by place from 0 to {len(names) - 1}"
                raise ValueError(f"unknown baseline {given!r}; {known}")
        if not 0 < len(set(baselines)) == len(baselines):
            raise ValueError(
                f"baseline={list(baseline)!r} must name one system or several different ones"
            )
    metrics, measures = read_metrics(eval_metrics)
    topics, qrels = _read(topics, pt.io.read_topics), _read(qrels, pt.io.read_qrels)
    if isinstance(qrels, pd.DataFrame) and not len(qrels):
        raise ValueError("qrels: there are no judgments in it")
    handed = {"topics": topics, "qrels": qrels, "eval_metrics": metrics, "names": names}
    handed |= {"filter_by_qrels": filter_by_qrels, "filter_by_topics": filter_by_topics}
    handed |= {"correction": correction, "correction_alpha": tested.alpha}
    handed["test"] = test if callable(test) else _paired_test(replace(tested, cluster=False))
    keepers = [_Keep(all_columns=several) for _ in systems]
    pipelines = [
        s >> k if isinstance(s, pt.Transformer) else s
        for s, k in zip(systems, keepers, strict=True)
    ]
    shape = {"perquery": perquery, "dataframe": dataframe, "batch_size": batch_size, "round": round}
    with keeping_errors_of("pyterrier"):
        first = baselines[0] if baselines else None
        result = _plain_experiment(pipelines, **handed, **shape, baseline=first, **options)

    distinct = [str(name) for name in names]
    if len(set(distinct)) < len(names):
        distinct = [f"{i}: {name}" for i, name in enumerate(names)]
    runs = {
        label: keep.retrieved(system, name, topics, options)
        for label, system, keep, name in zip(distinct, systems, keepers, names, strict=True)
    }
    if len(systems) < 2:
        preferred = {}

    def compared(table: pd.DataFrame, **design: Any) -> Comparison | None:
        """By all measures that are numbers for every query, and by the preferences."""
        if filter_by_topics:
            table = table[table["qid"].isin(topics["qid"])]
        scored = ScoredRuns.from_runs(
            {}, Judgments.from_qrels(table), runs, allow_empty=True, progress=False
        )
        by, of_runs = dict[str, Any](), dict[str, Floats]()
        registered = set(map(type, ir_measures.measures.registry.values()))
        for name, measure in measures.items():
            # A user's function may read other columns than ids and scores.
            if measure is not None and (is_native(measure) or type(measure) in registered):
                try:
                    found = np.stack([values(measure, run) for run in scored.runs.values()])
                except (
                    ValueError
                ):  # of a provider that needs more than the ranks of the judged documents
                    continue
                if np.isfinite(found).all():
                    by[name], of_runs[name] = measure, found
        scored = replace(scored, measures=dict(by), values=of_runs)
        by |= preferred
        if not by or not len(scored.judgments):
            return None
        column_of = next(
            (t for t in (topics, table) if isinstance(groups, str) and groups in t), qrels
        )
        grouped = Design(groups=groups).groups_of(scored.judgments.query_ids, column_of)
        return comparison_of(scored, by, Design(test=tested, groups=grouped, **design))

    lacking = {
        name: [c for c in _RANKED if c not in run]
        for name, run in runs.items()
        if not isinstance(run, str)
    }
    unranked = [name for name, columns in lacking.items() if columns]
    reference = None if first is None else distinct[first]
    comparison = None if unranked else compared(qrels, baseline=reference, margin=margin)
    if unranked and preferred:
        said = f"what system {unranked[0]!r} gives has no {' and '.join(lacking[unranked[0]])}"
        warn(
            f"preferences compare documents, and {said}: they are left out, as with preferences=None"
        )
    if comparison is None and (groups is not None or predicted is not None):
        what, argument = (
            ("groups need", "groups") if groups is not None else ("predicted needs", "predicted")
        )
        raise ValueError(
            f"{what} rankings: name a preference or a measure of rankings, or leave {argument} out"
        )
    if comparison is not None:
        assert comparison.scored is not None
        comparison.scored.warn_of_hardly_judged()
        by_program = None
        if predicted is not None:
            by_program = compared(_read(predicted, pt.io.read_qrels))
            if by_program is None:
                raise ValueError("predicted holds no judgments of the topics")
            if missing := [name for name in comparison.by if name not in by_program.by]:
                said = f"{', '.join(missing)} cannot be computed for all topics by the predicted judgments"
                raise ValueError(f"{said}; leave out these measures, or predicted")
        sources = TextSources(texts, topics if "query" in topics else None)
        comparison = replace(comparison, predicted=by_program, texts=sources)

    @cache
    def plain(place: int) -> pd.DataFrame:
        """The averages of ``pt.Experiment`` with a baseline."""
        if place == first:
            return result
        frames = [
            pt.io.read_results(source) if isinstance(source, str) else source
            for source in runs.values()
        ]
        return _plain_experiment(frames, **handed, baseline=place, validate="ignore")

    against: dict[str, tuple[Comparison | None, Callable[[], pd.DataFrame]]] = {}
    for place in baselines:
        over = comparison if len(systems) > 1 else None
        if over is not None:
            others = [name for name, measure in measures.items() if measure and name not in over.by]
            if tested.cluster and others:
                raise ValueError(
                    f"{others[0]} cannot be tested with groups as units; leave out it or cluster=True"
                )
            if predicted is not None and others:
                raise ValueError(
                    f"{others[0]} cannot be tested with predicted judgments; leave out it or predicted"
                )
            if place != first:
                margins = Design(distinct[place], margin).margins(over.by, distinct)
                over = replace(over, baseline=distinct[place], margins=margins)
        against[f" ({distinct[place]})" if several else ""] = over, partial(plain, place)
    shared = names, measures, comparison, round
    looks: dict[str, Any] = {
        "corrected": correction is not None,
        "own_p": callable(test),
        "highlight": highlight,
    }
    if perquery == "both":
        both = averages(result[0], *shared, against, **looks), per_query(result[1], *shared)
        result = type(result)(*both) if dataframe else both
    else:
        result = (
            per_query(result, *shared) if perquery else averages(result, *shared, against, **looks)
        )
    return (result, comparison) if return_comparison else result


class _Keep(pt.Transformer):  # type: ignore[misc]
    """The last stage of a pipeline: keeps what passes, batch by batch."""

    def __init__(self, all_columns: bool) -> None:
        self.all_columns = all_columns
        self.batches: list[pd.DataFrame] = []
        self.seen: set[Any] = set()

    def __repr__(self) -> str:
        return "kept"

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        if len(inp):  # else PyTerrier looks at the columns only
            # A stage may give its rows of all topics in every batch.
            new = inp[~inp["qid"].isin(self.seen)] if self.seen else inp
            self.batches.append(
                new[[column for column in inp if self.all_columns or column in _RANKED]]
            )
            self.seen.update(inp["qid"].unique())
        return inp

    def retrieved(
        self, system: Any, name: Any, topics: pd.DataFrame, options: Mapping[str, Any]
    ) -> Any:
        """What a system retrieved: as kept, or read from ``save_dir``, or given; the path of a file that is a run."""
        if self.batches:
            return (
                self.batches[0]
                if len(self.batches) == 1
                else pd.concat(self.batches, ignore_index=True)
            )
        if options.get("save_dir") is not None and options.get("save_mode") == "reuse":
            form = options.get("save_format", "trec")
            is_module = isinstance(form, types.ModuleType)
            ending = "res.gz" if form == "trec" else "mod" if is_module else "custom"
            path = os.path.join(options["save_dir"], f"{name}.{ending}")
            if os.path.exists(path):
                if form == "trec":
                    return path
                with pt.io.autoopen(path, "rb") as file:
                    return (form.load if is_module else form[0])(file)
        return (
            system[system["qid"].isin(topics["qid"])] if options.get("plan") == "tree" else system
        )


def _read(source: Any, reader: Callable[[str], pd.DataFrame]) -> Any:
    """Topics or qrels, read if they are a file, as ``pt.Experiment`` reads them."""
    return reader(source) if isinstance(source, str) and os.path.isfile(source) else source


class SignTest(NamedTuple):
    """Effect (wins - losses) / (wins + losses), and the p-value where ``pt.Experiment`` looks for it."""

    statistic: float
    pvalue: float


def sign_test(system: Any, baseline: Any) -> SignTest:
    """Exact two-sided sign test of paired values, ties left out; p is 1 where nothing differs.

    Args:
        system, baseline: values per query, in the same order.

    >>> sign_test([0.5, 0.7, 0.9, 0.2], [0.4, 0.6, 0.8, 0.2])
    SignTest(statistic=1.0, pvalue=0.25)
    """
    difference = np.asarray(system, dtype=np.float64) - np.asarray(baseline, dtype=np.float64)
    result = significance.sign_test(np.nan_to_num(difference, nan=0.0)[None])
    return SignTest(float(result.estimate[0]), float(result.p[0]))


def _paired_test(test: SignificanceTest) -> str | PairedTest:
    """What ``pt.Experiment`` takes for a test: for those that it has, their names.

    >>> a, b = np.array([0.5, 0.7, 0.9]), np.array([0.4, 0.6, 0.8])
    >>> float(_paired_test(SignificanceTest("randomisation"))(a, b)[1])
    0.25
    """
    named = test.named(measure=True)
    if named.name in ("t", "wilcoxon"):
        return named.name

    def p(system: Floats, baseline: Floats) -> tuple[float, float]:
        """NaN where differences are not all numbers, or the test is one of all systems at once."""
        difference = (system - baseline)[None]
        known = np.isfinite(difference).all() and not named.procedure.at_once
        return 0.0, float(named.of_pairs(difference).p[0]) if known else np.nan

    return sign_test if named.name == "sign" else p
