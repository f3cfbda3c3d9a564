"""How runs stand by one criterion, on one collection or over several: what sentences, tables, pictures and reports read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.rounding import same
from ir_lexirecall.comparison.verdicts import (
    ANY_JUDGING,
    BETTER,
    NOT_WORSE,
    UNDECIDED,
    WITHIN,
    WORSE,
    Verdicts,
    turned_verdict,
)
from ir_lexirecall.preferences.functions import PAIRWISE
from ir_lexirecall.preferences.naming import parse_preference
from ir_lexirecall.present.notes import captions
from ir_lexirecall.present.text import correction_words, gathered, how_tested, listed

if TYPE_CHECKING:
    from ir_lexirecall.benchmarks import Benchmark
    from ir_lexirecall.comparison import Comparison
    from ir_lexirecall.comparison.criteria import Criterion

MAY_BE_BEST = "="  # marks runs that may be the best as well as the leader
SIGNS = {BETTER: "+", WORSE: "-"}
VERDICTS = [BETTER, WORSE, WITHIN, NOT_WORSE, UNDECIDED]  # in the order of sentences
NO_DIFFERENCE = "not significantly different"

_TURNED = {"run_a": "run_b", "wins": "losses", "mean_a": "mean_b", "ci_low": "ci_high"}
_TURNED |= {b: a for a, b in _TURNED.items()}
_SIGNED = ["net_wins", "difference", "estimate", "ci_low", "ci_high", "effect_size"]
_OVERALL = {"difference": "estimate", "difference_low": "ci_low", "difference_high": "ci_high"}


def verdict_words(verdict: str | None) -> str:
    """A verdict in words; those of two runs that were not compared, too.

    >>> verdict_words("worse"), verdict_words("undecided"), verdict_words(None)
    ('worse', 'not significantly different', 'not compared')
    """
    return "not compared" if verdict is None else NO_DIFFERENCE if verdict == UNDECIDED else verdict


def is_defined(criterion: Criterion) -> bool:
    """Whether there are queries, and all values are finite numbers."""
    return bool(criterion.query_ids) and bool(np.isfinite(criterion.standings).all())


def standings_of(result: Comparison) -> list[Standing]:
    """How the runs stand by every criterion that is defined."""
    return [Standing(result, name) for name, criterion in result.by.items() if is_defined(criterion)]


def titled(criterion: Criterion) -> str:
    """What a table of means shows, and which value is better where that needs to be said."""
    return criterion.quantity + direction_words(criterion)


def direction_words(criterion: Criterion) -> str:
    """Which value is better, after a name, where that needs to be said."""
    said = criterion.direction
    return f", {said}" if "(" in said else f" ({said})" if said else ""


def directions(by: Mapping[str, Criterion]) -> str:
    """Which value is better, of those measures of which that needs to be said, in a sentence each; empty where there are none."""
    groups = gathered((criterion.direction, name) for name, criterion in by.items())
    return "".join(f" {words[0].upper()}{words[1:]}: {listed(names)}." for words, names in groups.items() if words)


def criteria_captions(names: Iterable[str]) -> list[str]:
    """What a table of criteria says of its measures, and what its columns of preferences are.

    >>> criteria_captions(["AP", "lexirecall", "rpp"])  # doctest: +NORMALIZE_WHITESPACE
    ['lexirecall: (wins - losses) / queries with relevant documents, mean over all other runs.',
     'rpp: preference from -1 to 1, mean over queries with relevant documents and all other runs.']
    """
    said = captions(names := list(names))
    for name in names:
        with suppress(ValueError):  # a label of the user's
            if (preference := parse_preference(name)) is not None:
                wins = "(wins - losses) / queries with relevant documents, mean over all other runs"
                share = "preference from -1 to 1, mean over queries with relevant documents and all other runs"
                said.append(f"{name}: {share if preference.NAME in PAIRWISE else wins}.")
    return said


def how_compared(result: Comparison, names: Sequence[str], groups: int = 1) -> str:
    """How differences by some criteria were tested, in each of some groups of queries, in a few words."""
    margin = result.margins is not None
    comparisons = len(result.pairs) * groups * (len(result.criteria) if margin else 1)
    said = how_tested({name: result.test_of(name) for name in names}, comparisons, one_sided=margin)
    return said if result.predicted is None else said.replace("paired", "prediction-powered", 1)


def how_resampled(result: Benchmark) -> str:
    """How differences to the baseline over all collections were tested, in a few words."""
    comparisons = len(result.runs) - 1
    correction = result.test.correction if comparisons > 1 else None
    what = f", {correction_words(correction)} for {comparisons:,} comparisons" if correction else ""
    return f"p <= {result.test.alpha:g}{what}"


@dataclass(frozen=True)
class Standing:
    """How the runs of a comparison stand by one criterion."""

    result: Comparison
    name: str

    @property
    def criterion(self) -> Criterion:
        return self.result.by[self.name]

    @property
    def quantity(self) -> str:
        """What ranks the runs, such as ``mean AP``."""
        return self.criterion.quantity

    @cached_property
    def ranking(self) -> pd.DataFrame:
        """``run``, ``mean``, ``ci_low``, ``ci_high``, best first."""
        return self.result.ranking(self.name)

    @cached_property
    def runs(self) -> list[str]:
        return list(map(str, self.ranking["run"]))

    @cached_property
    def leaders(self) -> list[str]:
        """The runs that share the best mean."""
        alike = same(self.ranking["mean"], self.ranking["mean"].iloc[0])
        return [run for run, leads in zip(self.runs, alike, strict=True) if leads]

    @property
    def all_alike(self) -> bool:
        return len(self.leaders) == len(self.runs)

    @cached_property
    def may_be_best(self) -> list[str]:
        """The runs that may be the best at 1 - alpha, best first; the leaders among them."""
        best = self.result.best_set(self.name).set_index("run")["may_be_best"]
        return [run for run in self.runs if best[run] or run in self.leaders]

    @cached_property
    def verdicts(self) -> Verdicts:
        return self.result.verdicts_by(self.name)

    @property
    def reference(self) -> str:
        """The run that the others are compared with: the baseline, or the leader."""
        return self.result.baseline or self.runs[0]

    @property
    def how(self) -> str:
        """How differences were tested, in a few words."""
        return how_compared(self.result, [self.name])

    @property
    def estimate(self) -> str:
        """What the test estimates, in words."""
        return self.result.test_of(self.name).procedure.estimate

    @cached_property
    def against(self) -> pd.DataFrame:
        """The rows of ``table`` that compare a run with the reference, turned so that they speak of the others; best first."""
        return self._against(self.result.table(self.name))

    def in_groups(self) -> dict[str, pd.DataFrame]:
        """``against`` in each group of queries."""
        table = self.result.group_table(self.name)
        return {str(group): self._against(rows) for group, rows in table.groupby("group", sort=False)}

    def _against(self, table: pd.DataFrame) -> pd.DataFrame:
        turned = table[table["run_a"] == self.reference].rename(columns=_TURNED)[table.columns]
        turned[_SIGNED] = -turned[_SIGNED]
        turned["verdict"] = [turned_verdict(verdict) for verdict in turned["verdict"]]
        both = pd.concat([turned, table[table["run_b"] == self.reference]]).set_index("run_a")
        return both.loc[[run for run in self.runs if run in both.index]].rename_axis("run").reset_index()

    @property
    def beaten_by(self) -> list[str]:
        """Runs that are significantly better than the leader by what was tested: wins and means may disagree."""
        return [run for run in self.runs[1:] if self.verdicts.on(run, self.runs[0]) == BETTER]

    @cached_property
    def unsure(self) -> list[set[str]] | None:
        """The pairs that differ significantly, but not for certain under any judging; None where nothing is bounded."""
        left = self.result.undecided(self.name)
        if left is None or not left.bounded.any():
            return None
        found = zip(self.verdicts.pairs.items(), left.holds, strict=True)
        return [{*pair} for (pair, verdict), word in found if verdict in SIGNS and word != ANY_JUDGING]

    @cached_property
    def outer(self) -> tuple[int, dict[str, tuple[float, float]]] | None:
        """The depth, and for each run the interval of its difference to the reference that holds any judging of unjudged documents.

        None where these are not known.
        """
        left = self.result.undecided(self.name)
        if left is None or left.outer is None:
            return None
        ends = {}
        for (a, b), low, high in zip(self.result.pairs, *(each.tolist() for each in left.outer), strict=True):
            if self.reference in (a, b):
                ends[a if b == self.reference else b] = (low, high) if b == self.reference else (-high, -low)
        return left.depth, ends


@dataclass(frozen=True)
class MacroStanding:
    """How the runs of a benchmark stand by one criterion over all collections, with what ``Standing`` has."""

    result: Benchmark
    name: str
    over: str | None = None

    estimate = "macro difference"
    outer = None

    @property
    def criterion(self) -> Criterion:
        return self.result.criterion(self.name)

    @property
    def quantity(self) -> str:
        return f"macro {self.criterion.quantity}"

    @cached_property
    def ranking(self) -> pd.DataFrame:
        """The rows of ``overall`` for the criterion, the best run first."""
        overall = self.result.overall(self.over)
        rows = overall[overall["criterion"] == self.name]
        return rows.sort_values("mean", ascending=self.criterion.smaller_is_better, kind="stable").reset_index(
            drop=True
        )

    @cached_property
    def runs(self) -> list[str]:
        return list(map(str, self.ranking["run"]))

    @property
    def leaders(self) -> list[str]:
        return self.may_be_best[:1]

    @property
    def all_alike(self) -> bool:
        return not self.may_be_best

    @cached_property
    def may_be_best(self) -> list[str]:
        """The runs that may be the best over all collections, the leader first; none where all share one mean."""
        if len(self.runs) > 1 and same(self.ranking["mean"], self.ranking["mean"].iloc[0]).all():
            return []
        best = self.result.best_set(self.name, self.over).set_index("run")["may_be_best"]
        return [self.runs[0], *(run for run in self.runs[1:] if best[run])]

    @property
    def reference(self) -> str:
        return self.result.baseline or ""

    @property
    def how(self) -> str:
        return how_resampled(self.result)

    @cached_property
    def against(self) -> pd.DataFrame:
        """The other runs beside the baseline, with columns as in a comparison's table."""
        others = self.ranking[self.ranking["run"] != self.reference].drop(columns=["ci_low", "ci_high"])
        return others.rename(columns=_OVERALL)


def against_words(standing: Standing | MacroStanding) -> str:
    """The other runs by the verdict on them beside the baseline, best first."""
    against = standing.against
    groups = {verdict: [*map(str, runs)] for verdict, runs in against.groupby("verdict", sort=False)["run"]}
    decided = [verdict for verdict in VERDICTS if verdict in groups]
    return ", ".join(f"{len(groups[v])} {verdict_words(v)} ({listed(groups[v])})" for v in decided)
