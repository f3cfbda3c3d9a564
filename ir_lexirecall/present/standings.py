"""How runs stand by one criterion, on one collection or over several.

Sentences, tables, pictures and reports read it.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from ir_lexirecall._util.arrays import Bools
from ir_lexirecall._util.lazy import cached_property
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.rounding import same
from ir_lexirecall._util.selecting import among
from ir_lexirecall.comparison.verdicts import (
    BETTER,
    NOT_BOUNDED,
    NOT_WORSE,
    UNDECIDED,
    UNDONE,
    WITHIN,
    WORSE,
    Verdicts,
    turned_verdict,
)
from ir_lexirecall.preferences.functions import PAIRWISE
from ir_lexirecall.preferences.naming import parse_preference
from ir_lexirecall.present.findings import captions
from ir_lexirecall.present.glance import MAY_BE_BEST
from ir_lexirecall.present.tables import BEST
from ir_lexirecall.present.text import (
    capitalised,
    confidence_words,
    correction_words,
    format_beside,
    format_bound,
    format_level,
    gathered,
    how_tested,
    listed,
)
from ir_lexirecall.significance.outcomes import MEAN_DIFFERENCE

if TYPE_CHECKING:
    from ir_lexirecall.benchmarks import Benchmark
    from ir_lexirecall.comparison import Comparison
    from ir_lexirecall.comparison.compared import ComparedRuns
    from ir_lexirecall.comparison.criteria import Criterion
    from ir_lexirecall.comparison.missing_judgments import Undecided
    from ir_lexirecall.io.mteb_results import CellScores
    from ir_lexirecall.io.values import ValueTable
    from ir_lexirecall.significance import SignificanceTest

SIGNS = {BETTER: "+", WORSE: "-"}
VERDICTS = [BETTER, WORSE, WITHIN, NOT_WORSE, UNDECIDED]  # in the order of sentences
NO_DIFFERENCE = "not significantly different"
_SMALLEST = 1e-300  # a smaller loss stands for any above 0
MAY_BE_UNDECIDED = (
    "a run without a mark need not be significantly worse than the leader"
)
BY_ITSELF = ", each criterion by itself"  # the end of how differences are tested
_ALONE = "each criterion tested by itself"
_NUMBERS = dict(
    enumerate(
        ["two", "three", "four", "five", "six", "seven", "eight", "nine"], start=2
    )
)

_TURNED = {"run_a": "run_b", "wins": "losses", "mean_a": "mean_b", "ci_low": "ci_high"}
_TURNED |= {b: a for a, b in _TURNED.items()}
_SIGNED = ["net_wins", "difference", "estimate", "ci_low", "ci_high", "effect_size"]
_OVERALL = {
    "difference": "estimate",
    "difference_low": "ci_low",
    "difference_high": "ci_high",
}


def verdict_words(verdict: str | None, *, has_margin: bool = False) -> str:
    """Return a verdict in words, also of two runs that were not compared.

    With a margin, *undecided* says more than that no difference is significant.

    >>> verdict_words("worse"), verdict_words("undecided"), verdict_words(None)
    ('worse', 'not significantly different', 'not compared')
    >>> verdict_words("undecided", has_margin=True)
    'undecided'
    """
    if verdict is None:
        return "not compared"
    if verdict == UNDECIDED and not has_margin:
        return NO_DIFFERENCE
    return verdict


def defined(result: Comparison) -> dict[str, Criterion]:
    """Return the criteria that count some query, and whose values are all finite numbers."""
    criteria = {}
    for name, criterion in result.compared.by.items():
        if criterion.query_ids and np.isfinite(criterion.standings).all():
            criteria[name] = criterion
    return criteria


def missing_shares(result: Comparison | Benchmark, runs: Iterable[str]) -> list[str]:
    """Return the share of queries without a value of each run, such as rows that failed.

    Empty if no value is missing. Over collections of queries, of all their queries; over tasks,
    of the tasks, or of their cells where a run has only some cells of a task.
    """
    if lacks_cells(result):
        share_of_run = _share_of_cells(cast("Benchmark", result))
        return [f"{share_of_run[run]:.1%}" for run in runs]
    tables = _given_values(result)
    if not any(table.missing_of_run for table in tables):
        return []
    if tables[0].per_task:  # each task has the shares over all of them
        return [f"{tables[0].missing_share(run):.1%}" for run in runs]
    return [f"{_missing_share(tables, run):.1%}" for run in runs]


def lacks_cells(result: Comparison | Benchmark) -> bool:
    """Return whether a leaderboard has a run with values for only a part of a task.

    Means of runs are then over different cells. Those of a comparison are over common ones.
    """
    scores: CellScores | None = getattr(result, "cell_scores", None)
    if scores is None:
        return False
    names = cast("Benchmark", result).quantities
    return any(scores.runs_that_lack(name) for name in names)


def _share_of_cells(result: Benchmark) -> dict[str, float]:
    """Return the share of the cells of a leaderboard that each run lacks by some criterion."""
    scores = cast("CellScores", result.cell_scores)
    is_missing = np.isnan(scores.stacked(result.quantities))
    lacks: Bools = np.asarray(is_missing.any(axis=0))
    shares = lacks[:, ~lacks.all(axis=0)].mean(axis=1)
    return dict(zip(scores.runs, shares.tolist(), strict=True))


def _missing_share(tables: Iterable[ValueTable], run: str) -> float:
    """Return the share of the queries of all tables with a run for which it has no value."""
    with_run = [table for table in tables if run in table.runs]
    n_missing = sum(table.missing_of_run.get(run, 0) for table in with_run)
    return n_missing / max(1, sum(table.n_queries for table in with_run))


def missing_words(result: Comparison | Benchmark) -> str:
    """Return what the column of missing shares is; empty if no value is missing."""
    if not missing_shares(result, result.runs):
        return ""
    if lacks_cells(result):
        return (
            "missing: share of the cells (task, split, subset) for which the run has no value; "
            "its mean is over the others"
        )
    units = "tasks" if _given_values(result)[0].per_task else "queries"
    return f"missing: share of the {units} for which the run has no value"


def _given_values(result: Comparison | Benchmark) -> list[ValueTable]:
    """Return the tables of values of a result: one, or that of each collection."""
    single: ComparedRuns | None = getattr(result, "compared", None)
    if single is not None:
        if single.given is None:
            return []
        return [single.given]
    values = [one.compared.given for one in cast("Benchmark", result).values()]
    return [table for table in values if table is not None]


def standings_of(result: Comparison) -> list[Standing]:
    """Return how the runs stand by every criterion that is defined, computed once for a result."""
    return [standing_of(result, name) for name in defined(result)]


def standing_of(result: Comparison, name: str) -> Standing:
    """Return how the runs stand by one criterion, computed once for a result."""
    return result.tests.cached(("standing", name), lambda: Standing(result, name))


def not_bounded_words(names: Sequence[str]) -> str:
    """Return by which criteria nothing bounds what unjudged documents could change.

    >>> not_bounded_words(["Rprec", "GMAP"])
    'What unjudged documents could change is not bounded by Rprec and GMAP.'
    """
    return f"What unjudged documents could change is not bounded by {listed(names)}."


def direction_words(criterion: Criterion) -> str:
    """Return which value is better, to follow a name; empty if readers know it."""
    direction = criterion.direction
    if "(" in direction:
        return f", {direction}"
    return f" ({direction})" if direction else ""


def directions(by: Mapping[str, Criterion]) -> str:
    """Return which value is better, in a sentence for each group of measures.

    Measures whose better value readers know are left out.
    """
    names_of = gathered((criterion.direction, name) for name, criterion in by.items())
    names_of.pop("", None)
    return " ".join(
        f"{capitalised(direction)}: {listed(names)}."
        for direction, names in names_of.items()
    )


def criteria_captions(
    names: Iterable[str], rivals: str = "mean over all other runs"
) -> list[str]:
    """Return what a table of criteria says of its measures, and what its preferences are.

    ``rivals`` are the runs that preferences are against; empty if the table names both runs.

    >>> criteria_captions(["AP", "lexirecall", "rpp"])  # doctest: +NORMALIZE_WHITESPACE
    ['lexirecall: (wins - losses) / queries with relevant documents, mean over all other runs.',
     'rpp: preference from -1 to 1 on queries with relevant documents, mean over all other runs.']
    >>> criteria_captions(["lexirecall"], rivals="against bm25")
    ['lexirecall: (wins - losses) / queries with relevant documents, against bm25.']
    """
    names = list(names)
    sentences = captions(names)
    for name in names:
        with suppress(ValueError):  # a label of the user's
            preference = parse_preference(name)
            if preference is not None:
                quantity = "(wins - losses) / queries with relevant documents"
                if preference.NAME in PAIRWISE:
                    quantity = (
                        "preference from -1 to 1 on queries with relevant documents"
                    )
                against = f", {rivals}" if rivals else ""
                sentences.append(f"{name}: {quantity}{against}.")
    return sentences


def display_name(name: str, result: Comparison) -> str:
    """Return a criterion's name, told apart from the measure of the same name."""
    criteria = result.compared.by
    preference = getattr(criteria[name], "preference", None)
    if preference is None or preference.NAME != "lexirecall":
        return name
    is_measured = any(
        getattr(other, "order", None) is not None for other in criteria.values()
    )
    if is_measured:
        return f"{name} (exact)"
    return name


def how_compared(result: Comparison, names: Sequence[str], groups: int = 1) -> str:
    """Return how differences by some criteria were tested, in each of some groups of queries."""
    n_pairs, n_criteria = len(result.pairs) * groups, len(result.criteria)
    has_margin = result.compared.margins is not None
    is_over_all = has_margin or result.test.family == "all"
    how = how_tested(
        {display_name(name, result): result.compared.test_of(name) for name in names},
        n_pairs * n_criteria if is_over_all else n_pairs,
        margin_comparisons=n_pairs if has_margin else 0,
        criteria=n_criteria,
        is_predicted=result.compared.predicted is not None,
        p_values=_p_beside_level(result, names, in_groups=groups > 1),
    )
    if n_criteria > 1 and not is_over_all:
        how += BY_ITSELF
    return how


def _p_beside_level(
    result: Comparison, names: Iterable[str], *, in_groups: bool
) -> Iterator[float]:
    """Yield the corrected p-values by some criteria, which are shown beside the level."""
    for name in names:
        for columns in result.tests.columns_of(name, in_groups):
            yield from columns["p_corrected"]


def how_all_compared(result: Comparison, names: Sequence[str]) -> str:
    """Return `how_compared` without its end, if `families_words` follows and says more."""
    how = how_compared(result, names)
    if _is_each_by_itself(result):
        return how.removesuffix(BY_ITSELF)
    return how


def families_words(result: Comparison) -> str:
    """Return that each criterion is tested by itself, and what a correction over all would leave.

    Empty for one criterion, with a margin, and where the correction runs over all criteria.
    """
    if not _is_each_by_itself(result):
        return ""
    if result.test.correction is None:
        return f"{_ALONE}, without a correction"
    return _families_sentence(_numbers_left(result), len(result.pairs))


def families_numbers(result: Comparison) -> str:
    """Return the numbers of differences that a correction over all criteria would leave.

    Empty where there is no such correction; see `families_words`.
    """
    if not _is_each_by_itself(result) or result.test.correction is None:
        return ""
    numbers = _numbers_left(result)
    shown = listed(f"{n:,}" for n in numbers.values())
    return f"each criterion by itself; over {_all_criteria(len(numbers))}: {shown}"


def _is_each_by_itself(result: Comparison) -> bool:
    """Return whether there are several criteria, each of them corrected by itself."""
    if result.compared.margins is not None or result.test.family == "all":
        return False
    return len(result.compared.defined_criteria) > 1 and len(result.runs) > 1


def _numbers_left(result: Comparison) -> dict[str, int]:
    """Return how many differences a correction over all criteria would leave, by criterion."""
    n_left = {}
    for name in result.compared.defined_criteria:
        (columns,) = result.tests.columns_of(name)
        is_left = columns["p_corrected_all"] <= result.test.alpha
        n_left[display_name(name, result)] = int(is_left.sum())
    return n_left


def how_resampled(result: Benchmark) -> str:
    """Return how differences to the baseline over all collections were tested."""
    n_comparisons, n_criteria = len(result.runs) - 1, len(result.quantities)
    is_over_all = result.test.family == "all" and n_criteria > 1
    if is_over_all:
        n_comparisons *= n_criteria
    how = f"p <= {format_level(result.test.alpha)}"
    if result.test.correction and n_comparisons > 1:
        correction = correction_words(result.test.correction)
        how += f", {correction} for {n_comparisons:,} comparisons"
    if is_over_all:
        return f"{how} over all {n_criteria} criteria"
    if n_criteria > 1:
        return how + BY_ITSELF
    return how


def macro_families_words(result: Benchmark, over: str) -> str:
    """Return what a correction over all criteria would leave over all collections, if anything.

    Empty for one criterion, without a baseline, and where the correction runs over all criteria.
    """
    overall = result.overall(over)
    if "p_corrected_all" not in overall or result.test.family == "all":
        return ""
    if result.test.correction is None:
        return f"{_ALONE}, without a correction"
    is_left = overall["p_corrected_all"] <= result.test.alpha
    n_left = is_left.groupby(overall["criterion"], sort=False).sum()
    return _families_sentence(n_left.astype(int).to_dict(), len(result.runs) - 1)


def _families_sentence(n_left: Mapping[str, int], n_pairs: int) -> str:
    """Return how many differences a correction over all criteria would leave, by criterion."""
    left = _differences_left(n_left, n_pairs)
    return f"{_ALONE}; corrected over {_all_criteria(len(n_left))}: {left}"


def _all_criteria(n_criteria: int) -> str:
    """Return the number of all criteria in words."""
    if n_criteria == 2:
        return "both"
    return f"all {_NUMBERS.get(n_criteria, n_criteria)}"


def _differences_left(n_left: Mapping[str, int], n_pairs: int) -> str:
    """Return the number of differences by each criterion; the number of pairs is named once."""
    kept = {name: n for name, n in n_left.items() if n}
    if not kept:
        return "no significant difference"
    if n_pairs == 1:
        return f"still significant by {listed(kept)}"
    first, *further = kept
    share = f"{kept[first]:,} of {n_pairs:,} pairs by"
    if len(kept) == len(n_left) and len(set(kept.values())) == 1:
        return f"{share} each"
    others = [f"{kept[name]:,} by {name}" for name in further]
    return listed([f"{share} {first}", *others])


Outer: TypeAlias = tuple[int, dict[str, tuple[float, float]]]
"""A depth of bounds, and by run an interval that holds any judging down to it."""


class AnyStanding(ABC):
    """How runs stand by one criterion, on one collection or over several.

    Attributes:
        name: the name of the criterion.
        criterion: the criterion; of several collections that of the first one.
        quantity: what ranks the runs, such as ``mean AP``.
        ranking: the rows of the runs with ``mean``, ``ci_low`` and ``ci_high``, best first.
        runs: the runs, best first.
        alike: which runs have the best mean, but for rounding.
        leaders: the runs that lead.
        all_alike: whether all runs have the same mean.
        reference: the run that the others are compared with; empty if there is none.
        how: how differences were tested, in a few words.
        estimate: what the test estimates, in words.
    """

    quantity: str
    leaders: list[str]
    all_alike: bool
    reference: str
    how: str
    estimate: str

    def __init__(self, name: str, criterion: Criterion, ranking: pd.DataFrame) -> None:
        self.name: str = name
        self.criterion: Criterion = criterion
        self.ranking: pd.DataFrame = ranking
        self.runs: list[str] = ranking["run"].tolist()
        means = ranking["mean"].to_numpy()
        self.alike: Bools = same(means, means[:1])

    @property
    @abstractmethod
    def may_be_best(self) -> list[str]:
        """Return the runs that may be the best at 1 - alpha, best first."""

    @property
    @abstractmethod
    def against(self) -> pd.DataFrame:
        """Return the rows that compare the runs with the reference, best first."""

    @property
    def outer(self) -> Outer | None:
        """Return intervals that hold any judging of unjudged documents; None if not known."""
        return None

    def best_marks(self, runs: Sequence[str]) -> list[str]:
        """Return the marks of the best mean and of runs that may be the best as well."""
        if self.all_alike or len(runs) < 2:
            return [""] * len(runs)
        marks = []
        for run in runs:
            if run in self.leaders:
                marks.append(BEST)
            elif run in self.may_be_best:
                marks.append(MAY_BE_BEST)
            else:
                marks.append("")
        return marks


class Standing(AnyStanding):
    """How the runs of a comparison stand by one criterion.

    All runs that share the best mean lead. The reference is the baseline, or the leader.

    Attributes:
        label: the criterion's name, told apart from the measure of the same name.
        test: how differences were tested.
        margin: the difference that does not matter; None without a margin.
    """

    def __init__(self, result: Comparison, name: str) -> None:
        super().__init__(name, result.compared.by[name], result.ranking(name))
        self.result: Comparison = result
        self.label: str = display_name(name, result)
        self.test: SignificanceTest = result.compared.test_of(name)
        self.margin: float | None = (result.compared.margins or {}).get(name)
        self.quantity: str = self.criterion.quantity
        self.leaders: list[str] = [*itertools.compress(self.runs, self.alike)]
        self.all_alike: bool = len(self.leaders) == len(self.runs)
        self.reference: str = result.baseline or self.runs[0]
        self.how: str = how_compared(result, [name])
        self.estimate: str = self.test.procedure.estimate

    @cached_property
    def may_be_best(self) -> list[str]:
        """Return the runs that may be the best at 1 - alpha, best first, with the leaders."""
        best = self.result.best_set(self.name).set_index("run")["may_be_best"]
        return [run for run in self.runs if best[run] or run in self.leaders]

    @cached_property
    def verdicts(self) -> Verdicts:
        """Return the verdicts on all pairs by this criterion."""
        return self.result.tests.verdicts_by(self.name)

    @cached_property
    def against(self) -> pd.DataFrame:
        """Return the rows of ``table`` that compare the runs with the reference, best first.

        Each row is turned so that the reference is the second run.
        """
        return self.seen_from(self.reference)

    def seen_from(self, reference: str) -> pd.DataFrame:
        """Return the rows that compare the runs with a reference, turned like ``against``."""
        return self._against(self.result.table(self.name), reference)

    def in_groups(self) -> dict[str, pd.DataFrame]:
        """Return ``against`` in each group of queries."""
        table = self.result.group_table(self.name)
        return {
            str(group): self._against(rows, self.reference)
            for group, rows in table.groupby("group", sort=False)
        }

    def _against(self, table: pd.DataFrame, reference: str) -> pd.DataFrame:
        """Return the rows of a table of pairs that compare a run with the reference, best first."""
        turned = table[table["run_a"] == reference].rename(columns=_TURNED)
        turned = turned[table.columns]
        turned[_SIGNED] = 0.0 - turned[_SIGNED]  # 0, not -0
        turned["verdict"] = [turned_verdict(verdict) for verdict in turned["verdict"]]
        both = pd.concat([turned, table[table["run_b"] == reference]])
        both = both.set_index("run_a")
        best_first = among(self.runs, both.index)
        return both.loc[best_first].rename_axis("run").reset_index()

    @cached_property
    def row_of_run(self) -> dict[str, pd.Series]:
        """Return the rows of ``against`` by run."""
        return {row["run"]: row for _, row in self.against.iterrows()}

    @property
    def undecided(self) -> Undecided | None:
        """Return what unjudged documents could change; None if nothing bounds it."""
        return self.result.missing.undecided(self.name)

    @property
    def bounded(self) -> Undecided | None:
        """What unjudged documents could change, if it has bounds; else None."""
        undecided = self.undecided
        if undecided is None or not undecided.bounded:
            return None
        return undecided

    @cached_property
    def unsure(self) -> list[set[str]] | None:
        """Return the pairs whose significant difference unjudged documents might undo.

        Without bounds, these are the pairs of which a judging that was tried undoes it; None if
        there are none.
        """
        if self.bounded is not None:
            return self._significant(self.bounded.holds, (UNDONE, NOT_BOUNDED))
        if not self.verdicts.decided:
            return None
        return self._significant(self.holds, (UNDONE,)) or None

    @property
    def is_unbounded(self) -> bool:
        """Whether it is not known of some significant difference if any grades could undo it."""
        if self.bounded is not None or not self.verdicts.decided:
            return False
        return bool(self._significant(self.holds, (NOT_BOUNDED,)))

    def _significant(
        self, holds: Sequence[str], words: Collection[str]
    ) -> list[set[str]]:
        """Return the pairs that differ significantly, and whose sign holds as the words say."""
        pairs = []
        for (pair, verdict), word in zip(
            self.verdicts.pairs.items(), holds, strict=True
        ):
            if verdict in SIGNS and word in words:
                pairs.append({*pair})
        return pairs

    @property
    def holds(self) -> list[str]:
        """How the sign of each pair's difference holds; see `Comparison.verdicts`."""
        _, holds = self.result.missing.holds(self.name)
        return holds

    @cached_property
    def outer(self) -> Outer | None:
        """Return the depth of bounds, and the interval of each run's difference to the reference.

        The interval holds any judging of unjudged documents. None if it is not known.
        """
        undecided = self.undecided
        if undecided is None or undecided.outer is None:
            return None
        lows, highs = (ends.tolist() for ends in undecided.outer)
        interval_of_run = {}
        for (a, b), low, high in zip(self.result.pairs, lows, highs, strict=True):
            if b == self.reference:
                interval_of_run[a] = (low, high)
            elif a == self.reference:
                interval_of_run[b] = (-high, -low)
        return undecided.depth, interval_of_run


class MacroStanding(AnyStanding):
    """How the runs of a benchmark stand by one criterion over all collections.

    The first run leads, unless all have the same mean, or means are over different cells and
    another run is not behind it on those of both (``contested_by``). The reference is the baseline.
    """

    def __init__(self, result: Benchmark, name: str, over: str | None = None) -> None:
        criterion = result.criterion(name)
        super().__init__(name, criterion, _macro_ranking(result, name, over))
        self.result: Benchmark = result
        self.over: str | None = over
        self.quantity: str = f"macro {criterion.quantity}"
        self.all_alike: bool = len(self.runs) > 1 and bool(self.alike.all())
        self.contested_by: str = "" if self.all_alike else result.contested_by(name)
        has_leader = not self.all_alike and not self.contested_by
        self.leaders: list[str] = self.runs[:1] if has_leader else []
        self.reference: str = result.baseline or ""
        self.how: str = how_resampled(result)
        self.estimate: str = "macro difference"

    @cached_property
    def may_be_best(self) -> list[str]:
        """Return the runs that may be the best over all collections, the leader first.

        Empty if all runs have the same mean.
        """
        if self.all_alike:
            return []
        table = self.result.best_set(self.name, self.over)
        best = table.set_index("run")["may_be_best"]
        return [run for run in self.runs if run in self.leaders or best[run]]

    @cached_property
    def against(self) -> pd.DataFrame:
        """Return the runs without the baseline, with columns as in a comparison's table."""
        rivals = self.ranking[self.ranking["run"] != self.reference]
        differences = rivals.drop(columns=["ci_low", "ci_high"])
        return differences.rename(columns=_OVERALL)


def _macro_ranking(result: Benchmark, name: str, over: str | None) -> pd.DataFrame:
    """Return the rows of ``overall`` for a criterion, the best run first."""
    overall, rising = result.overall(over), result.criterion(name).smaller_is_better
    rows = overall[overall["criterion"] == name].sort_values(
        "mean", ascending=rising, kind="stable"
    )
    if result.has_gaps:  # means over fewer tasks are no match for those over all
        rows = rows.sort_values("tasks", key=lambda n: n < n.max(), kind="stable")
    return rows.reset_index(drop=True)


def loss_words(standing: Standing, row: pd.Series) -> str:
    """Return the one-sided bound of a loss, or of a difference, that decided a verdict.

    Bounds are those of a run by itself. Where they exclude a loss of the margin, but no longer do
    after correction for several runs, the words say so.
    """
    low, high = _bounds_of_gain(standing, row)
    if not _is_bounded(standing, row):
        return "has no known bounds"
    assert standing.margin is not None
    if row["verdict"] == WITHIN:
        return f"differs by at most {format_beside(max(-low, high), standing.margin)}"
    if row["verdict"] == WORSE and is_below_margin(row, standing.test.alpha):
        return f"{_least_loss_words(-high)}, but less than {standing.margin:g}"
    if row["verdict"] == WORSE:
        return _least_loss_words(-high)
    loss = format_beside(max(-low, 0.0), standing.margin)
    if loses_less_before_correction(standing, row):
        return f"loses at most {loss} before correction"
    if row["verdict"] == UNDECIDED:
        return f"may lose up to {loss}"
    return f"loses at most {loss}"


def _least_loss_words(loss: float) -> str:
    """Return the smallest loss that a bound allows, which is above 0."""
    if loss < _SMALLEST:
        return "loses more than 0"
    return f"loses at least {format_bound(loss)}"


def is_below_margin(row: Any, alpha: float) -> bool:
    """Return whether the loss of a run, if it has one, is shown to be smaller than the margin."""
    return bool(row.not_worse_p <= alpha)


def loses_less_before_correction(standing: Standing, row: pd.Series) -> bool:
    """Return whether a run is undecided although its bound excludes a loss of the margin.

    Only a correction, which verdicts have and bounds have not, does that.
    """
    assert standing.margin is not None
    low, _ = _bounds_of_gain(standing, row)
    is_inside = np.isfinite(low) and -low < standing.margin
    return row["verdict"] == UNDECIDED and bool(is_inside)


def loss_cell(standing: Standing, row: pd.Series) -> str:
    """Return the one-sided bound of `loss_words` for a column of losses; ``-`` if it is not known.

    A loss is at most the bound; of a run that is worse, it is at least the bound, and may be shown
    to be below the margin, too. Within the margin, the bound holds for losses and gains.
    """
    low, high = _bounds_of_gain(standing, row)
    if not _is_bounded(standing, row):
        return "-"
    assert standing.margin is not None
    if row["verdict"] == WITHIN:
        return f"+-{format_beside(max(-low, high), standing.margin)}"
    if row["verdict"] == WORSE:
        least = "> 0" if -high < _SMALLEST else f">= {format_bound(-high)}"
        if is_below_margin(row, standing.test.alpha):
            return f"{least}, < {standing.margin:g}"
        return least
    loss = max(0.0, -low)  # 0, not -0
    return f"<= {format_beside(loss, standing.margin)}"


def _bounds_of_gain(standing: Standing, row: pd.Series) -> tuple[float, float]:
    """Return the one-sided bounds of what a run gains, also where smaller values are better."""
    low, high = float(row["bound_low"]), float(row["bound_high"])
    if standing.criterion.sign < 0:
        return -high, -low
    return low, high


def _is_bounded(standing: Standing, row: pd.Series) -> bool:
    """Return whether a loss has a bound.

    A margin of 0, such as 2% of a mean of 0, gives none where nearly all queries tie: ties do not
    rule out any loss.
    """
    low, high = _bounds_of_gain(standing, row)
    if not np.isfinite([low, high]).all():
        return False
    is_of_ties = standing.margin == 0 and low >= 0
    return not (is_of_ties and row["verdict"] == UNDECIDED)


def exceeds_interval(standing: Standing, row: pd.Series) -> bool:
    """Return whether the one-sided bound of the loss lies outside the two-sided interval.

    Bounds allow for skewness and rare losses: on 18 ties and two small
    differences, the interval is narrow and the bound is not.
    """
    if standing.criterion.sign > 0:
        return bool(-np.inf < row["bound_low"] < row["ci_low"])
    return bool(row["ci_high"] < row["bound_high"] < np.inf)


def allowance_of_bounds(standings: Iterable[Standing]) -> str:
    """Return why bounds of losses lie outside intervals; empty if none of them does."""
    for standing in standings:
        for row in standing.row_of_run.values():
            if exceeds_interval(standing, row):
                return ", allowing for skewness and rare losses"
    return ""


def about_bounds(result: Comparison, standings: Iterable[Standing]) -> str:
    """Return what the one-sided bounds beside verdicts are.

    Args:
        result: the comparison, with a margin.
        standings: of it, by the criteria whose intervals stand beside bounds.
    """
    level = level_of_bounds(result)
    if len(result.pairs) > 1 and result.test.counted_correction:
        level += ": each run by itself"
    return f"bounds: {level}{allowance_of_bounds(standings)}"


def level_of_bounds(result: Comparison) -> str:
    """Return the level of one-sided bounds, and that verdicts are corrected but bounds are not."""
    level = f"one-sided {confidence_words(result.provenance)}"
    is_family = len(result.pairs) * len(result.criteria) > 1
    if is_family and result.test.counted_correction:
        level += ", uncorrected"
    return level


def bound_words(standing: Standing, row: pd.Series) -> str:
    """Return the bound of `loss_words` with its confidence, and its unit if that is no mean.

    Of a single pair, only *worse* is corrected, over several criteria. Its bound is not.
    """
    how = f"one-sided {confidence_words(standing.result.provenance)}"
    if row["verdict"] == WORSE:
        how = level_of_bounds(standing.result)
    if standing.estimate != MEAN_DIFFERENCE:
        how += f"; {standing.estimate}"
    how += allowance_of_bounds([standing])
    return f"{loss_words(standing, row)} ({how})"
