"""Several systems, read and scored once: what the studies on data are made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from ir_measures.measures.base import Measure
from ir_measures.providers.base import NOT_PROVIDED
from numpy.typing import NDArray

from ir_lexirecall.alignment import JudgedRanks
from ir_lexirecall.evaluation import Evaluation, by_label, check_defined, parse_measures
from ir_lexirecall.judgments import Judgments
from ir_lexirecall.preferences.comparison import check_options, compare_ranks
from ir_lexirecall.preferences.functions import NAMES
from ir_lexirecall.preferences.result import Preferences
from ir_lexirecall.progress import progress_bar
from ir_lexirecall.provider import base_values, by_others
from ir_lexirecall.scoring.arrays import Floats, Ints
from ir_lexirecall.significance import SignificanceTest

Signs = NDArray[np.int8]
NOT_COMPARABLE = 2  # beside the signs -1, 0 and 1
_BLOCK = 2**22  # differences that are held at once


@dataclass(frozen=True)
class Systems:
    """Several runs, aligned and scored once, on the queries with relevant documents.

    Attributes:
        judgments: what the runs were aligned with.
        ranks: where the judged documents stand, by system.
        runs: the runs themselves, where a measure needs more than the ranks.
        asked: the measures, and names of preferences, by label.
        scores: values of each measure on all queries of the judgments, shape ``(S, Q)``, by label.
        rel, cutoff: of the preferences; ``rel`` also says which queries have relevant documents.
    """

    judgments: Judgments
    ranks: dict[str, JudgedRanks]
    runs: dict[str, Any] = field(repr=False)
    asked: dict[str, Measure | str]
    scores: dict[str, Floats] = field(repr=False)
    rel: float = 1
    cutoff: int | None = None

    @property
    def names(self) -> list[str]:
        """The systems."""
        return list(self.ranks)

    @cached_property
    def queries(self) -> Ints:
        """Positions, in the judgments, of the queries with relevant documents."""
        return np.flatnonzero(self.judgments.m(self.rel) > 0)

    @cached_property
    def query_ids(self) -> list[str]:
        """Their ids."""
        return [self.judgments.query_ids[q] for q in self.queries]

    @cached_property
    def pairs(self) -> tuple[Ints, Ints]:
        """The systems of every pair, by their place."""
        first, second = np.triu_indices(len(self.ranks), 1)
        return first, second

    @cached_property
    def preferences(self) -> Preferences:
        """The preferences asked for."""
        names = list(dict.fromkeys(each for each in self.asked.values() if isinstance(each, str)))
        return compare_ranks(
            self.ranks, names, rel=self.rel, cutoff=self.cutoff, test=SignificanceTest(correction=None)
        )

    def values(self, label: str) -> Floats:
        """Values of a measure, or mean preferences against all other systems, shape ``(S, queries)``."""
        asked = self.asked[label]
        if isinstance(asked, str):
            return self.preferences.scores(asked).to_numpy().T
        return self.scores[label][:, self.queries]

    def decisions(self, label: str, incomparable: int = 0) -> Signs:
        """Which system of each pair is better on each query, shape ``(P, queries)``: 1, -1, or 0 for a tie;
        ``incomparable`` where a partial order does not say."""
        asked = self.asked[label]
        if not isinstance(asked, str):
            return self.differences(label)
        a, b = self.pairs
        signs = np.empty((len(a), len(self.queries)), dtype=np.int8)
        for queries, block in self.preferences.blocks(asked):
            of_pairs = block[:, a, b].T
            signs[:, queries] = np.where(np.isnan(of_pairs), incomparable, np.sign(of_pairs))
        return signs

    def differences(self, label: str) -> Signs:
        """Signs of the differences of ``values`` between the systems of each pair, shape ``(P, queries)``."""
        a, b = self.pairs
        values = self.values(label)
        signs = np.empty((len(a), values.shape[1]), dtype=np.int8)
        step = max(1, _BLOCK // max(1, values.shape[1]))
        for start in range(0, len(a), step):
            some = slice(start, start + step)
            signs[some] = np.sign(values[a[some]] - values[b[some]])
        return signs

    @property
    def provenance(self) -> dict[str, Any]:
        """What a study on these systems says of its input."""
        return {
            "measures": {label: str(each) for label, each in self.asked.items()},
            "systems": self.names,
            "queries": len(self.queries),
            "excluded_queries": len(self.judgments) - len(self.queries),
            "rel": self.rel,
            "cutoff": self.cutoff,
        }


def asked_measures(measures: Any, what: str) -> dict[str, Measure | str]:
    """Measures and names of preferences by label: a string as it was given, an object as it prints.

    >>> asked_measures(["lexirecall", "nDCG@10"], "power")
    {'lexirecall': 'lexirecall', 'nDCG@10': nDCG@10}
    """
    try:
        given = by_label(measures)
    except ValueError as error:
        raise ValueError(f"{what}: {error}") from None
    if not given:
        raise ValueError(f"{what}: no measure was asked for; name at least one, such as LR, 'nDCG@10' or 'lexirecall'")
    own = {label: each for label, each in given.items() if isinstance(each, str) and each in NAMES}
    try:
        parsed = parse_measures({label: each for label, each in given.items() if label not in own})
    except ValueError as error:
        raise ValueError(f"{what}: {error}; preferences are {', '.join(NAMES)}") from None
    return {label: own.get(label) or parsed[label] for label in given}


def read_systems(
    what: str,
    measures: Any,
    qrels: Any,
    runs: Mapping[str, Any],
    *,
    rel: float = 1,
    cutoff: int | None = None,
    least: int = 2,
    least_measures: int = 1,
    keep_runs: bool = False,
    from_ranks: bool = False,
    progress: bool | None = None,
) -> Systems:
    """Read every run once and score it with every measure.

    Args:
        what: the function that asks, for errors.
        measures: measures and names of preferences.
        qrels: judgments in any format that ``evaluate`` takes.
        runs: runs by name, in any format that ``evaluate`` takes, or aligned with ``qrels`` already (``JudgedRanks``).
        rel, cutoff: of the preferences.
        least, least_measures: how many runs and measures there must be.
        keep_runs: keep the runs, for measures that need more than the ranks.
        from_ranks: score from the ranks what they suffice for, also where ``evaluate`` leaves it to another program.
        progress: show a progress bar; by default on a terminal only.
    """
    check_options(what, rel=rel, cutoff=cutoff)
    asked = asked_measures(measures, what)
    if len(asked) < least_measures:
        raise ValueError(f"{what}: at least {least_measures} different measures are needed, not {len(asked)}")
    check_runs(what, runs, least)
    own = {label: each for label, each in asked.items() if not isinstance(each, str)}
    for each in own.values():
        check_rel(each)
    judgments = Judgments.of(qrels)
    check_relevant(what, judgments, rel)
    aligned = any(isinstance(run, JudgedRanks) for run in runs.values())
    others = {} if aligned else {label: each for label, each in own.items() if not from_ranks or by_others(each)}
    evaluation = Evaluation(others, judgments)
    ranks, readable = {}, {}
    columns: dict[str, list[Floats]] = {label: [] for label in own}
    for name, found, again in read_ranks(what, evaluation, runs, progress):
        values = {label: score(each, found) for label, each in own.items() if label not in others}
        if others:
            table = evaluation.of_ranks(found, again)
            values |= {label: table[label].to_numpy(dtype=np.float64) for label in others}
        if keep_runs and not aligned:
            readable[name] = again
        ranks[name] = found
        for label, column in values.items():
            columns[label].append(column)
    scores = {label: np.stack(each) for label, each in columns.items()}
    for label, values_of in scores.items():
        check_defined(what, label, values_of, list(ranks), judgments.query_ids)
    return Systems(judgments, ranks, readable, asked, scores, rel, cutoff)


def check_relevant(what: str, judgments: Judgments, rel: float) -> None:
    """Refuse judgments without a relevant document."""
    if not judgments.m(rel).any():
        raise ValueError(f"{what}: no query of the qrels has a relevant document (rel={rel:g})")


def read_ranks(
    what: str, evaluation: Evaluation, runs: Mapping[str, Any], progress: bool | None
) -> Iterator[tuple[str, JudgedRanks, Any]]:
    """Name, aligned ranks and readable run of every run; the latter is None for runs that are aligned already."""
    unread = {name: run for name, run in runs.items() if not isinstance(run, JudgedRanks)}
    read = evaluation.read_all(unread, progress=False)
    for name, run in progress_bar(progress, runs.items(), desc="runs"):
        if isinstance(run, JudgedRanks):
            if run.judgments is not evaluation.judgments:
                raise ValueError(f"{what}: run {name!r} was aligned with other judgments; give those as qrels")
            yield str(name), run, None
        else:
            yield next(read)


def means(values: Floats) -> Floats:
    """Means over the queries, of 12 digits: systems that are equally good must tie, whatever the last bits of sums say."""
    return np.array([float(f"{mean:.12g}") for mean in values.mean(axis=1).tolist()])


def check_runs(what: str, runs: Any, least: int) -> None:
    """Refuse what is no mapping of at least so many runs with different names."""
    if not isinstance(runs, Mapping):
        raise ValueError(f"{what}: give the runs as a mapping of names to runs")
    if len(runs) < least:
        raise ValueError(f"{what}: at least {least} run{'s' * (least > 1)} must be given, not {len(runs)}")
    if len({str(name) for name in runs}) < len(runs):
        raise ValueError(f"{what}: two runs have the same name")


def score(measure: Measure, ranks: JudgedRanks, run: Any = None) -> Floats:
    """Values of a measure on all queries, shape ``(Q,)``: from the ranks where they suffice, else from the run.

    Without the run, ir_measures scores a stand-in with the same judged documents at the same ranks.
    """
    if run is not None and by_others(measure):
        table = Evaluation({"value": measure}, ranks.judgments).of_ranks(ranks, run)
        return table["value"].to_numpy(dtype=np.float64)
    check_rel(measure)
    return base_values(measure, None, ranks)


def check_rel(measure: Measure) -> None:
    """Refuse a measure whose ``rel`` must be given and is not."""
    if "rel" in measure.SUPPORTED_PARAMS and measure["rel"] is NOT_PROVIDED and not by_others(measure):
        raise ValueError(f"{measure} needs rel, the smallest grade that counts as relevant")
