"""``Benchmark``: runs on many collections, and what holds over all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

import numpy as np

from ir_lexirecall._util.arrays import (
    Bools,
    Floats,
    Interval,
    means_of_present,
    row_blocks,
)
from ir_lexirecall._util.errors import check_choice, check_number, counted, entry, warn
from ir_lexirecall._util.lazy import Memoised, cached_property, memoised
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.presenting import plots, present
from ir_lexirecall._util.rounding import SUM, levelled
from ir_lexirecall._util.selecting import index_of, without, without_keys
from ir_lexirecall._util.versions import copied_as_one, versions
from ir_lexirecall.benchmarks.leaderboard import Leaderboard, columns_of_differences
from ir_lexirecall.comparison import Comparison
from ir_lexirecall.comparison.criteria import (
    Criterion,
    MeasureCriterion,
    all_differences,
)
from ir_lexirecall.comparison.pair_tests import Columns, best_set_columns, cut_at_range
from ir_lexirecall.comparison.verdicts import two_sided
from ir_lexirecall.io.mteb_results import CellScores
from ir_lexirecall.significance import (
    SignificanceTest,
    TestResult,
    corrected,
    differing_queries,
    group_units,
    least_two_sided_p,
)
from ir_lexirecall.significance import over_collections as inference
from ir_lexirecall.significance.closed_form import group_interval_holds
from ir_lexirecall.significance.deviations import (
    Deviations,
    PairDeviations,
    best_set,
    rank_intervals,
)
from ir_lexirecall.significance.draws import OVER, resample
from ir_lexirecall.significance.leaderboards import (
    TaskCells,
    interval_over_tasks,
    shared_deviations,
)
from ir_lexirecall.significance.macro_repeats import MacroSeeds
from ir_lexirecall.significance.outcomes import check_squares
from ir_lexirecall.significance.resampling import heterogeneity

_SINGLE = {"run_a": "run", "ci_low": "difference_low", "ci_high": "difference_high"}
_SHARED_COLUMNS = ("difference", "p", "p_corrected", "verdict")
_ENDS = ("_low", "_high")
_OF_QUERIES_ALONE = ("next_low", "next_high", "tau2", "i2", "p_heterogeneity")
_NO_COMMON_RUN = "no run is common to all collections"
_ROWS = 500  # of values that are resampled at once
# Pairs of a leaderboard with up to so many runs are also tested one by one.
_FEW_RUNS = 40


@dataclass(frozen=True, eq=False)
class Benchmark(Memoised, Mapping[str, Comparison]):
    """Result of ``benchmark``: a mapping of collections to comparisons, with inference over all.

    Methods take ``by``, a criterion (the first one by default), and ``over``, the kind of sample:
    ``'queries'`` of these collections, or ``'collections'`` as well.

    Attributes:
        results: the comparison of each collection, by its name.
        baseline: the run that all others are compared with, or None.
        test: how differences are tested within a collection; its alpha, correction, n_resamples and
            seed also hold over collections (there the correction counts for Tukey's HSD, too: what
            is tested is not its statistic).
        lacking: for each run that some collections lack, these collections. Statements over
            collections leave such runs out; a leaderboard compares them on the tasks that both
            runs of a pair have.
    """

    results: Mapping[str, Comparison] = field(repr=False)
    baseline: str | None = None
    test: SignificanceTest = field(default_factory=SignificanceTest)
    lacking: Mapping[str, list[str]] = field(default_factory=dict)

    def __getitem__(self, collection: str) -> Comparison:
        return self.results[collection]

    def __iter__(self) -> Iterator[str]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    @property
    def _first(self) -> Comparison:
        return next(iter(self.results.values()))

    @cached_property
    def runs(self) -> list[str]:
        """Names of the runs that every collection has, in order; of a leaderboard, of all runs."""
        if self.per_task:
            of_tasks = [one.runs for one in self.results.values()]
            given = self._first.compared.given
            if given is not None and given.grid is not None:
                of_tasks.insert(0, given.grid.runs)
            return list(dict.fromkeys(chain.from_iterable(of_tasks)))
        return without(self._first.runs, self.lacking)

    @property
    def criteria(self) -> list[str]:
        """Names of the criteria, in order."""
        return self._first.criteria

    def criterion(self, by: str | None = None) -> Criterion:
        """Return a criterion by its name, as on the first collection."""
        return self._first.compared.criterion(by)

    @property
    def per_task(self) -> bool:
        """Whether only one value per collection is given, as on a leaderboard.

        Then only the collections are a sample.
        """
        return all(
            result.compared.given is not None and result.compared.given.per_task
            for result in self.results.values()
        )

    def sample(self, over: str | None = None) -> str:
        """Return what is a sample: ``over``, by default the queries where they are known.

        Raises:
            ValueError: unknown, or the queries where only a value per collection is given.
        """
        if over is None:
            return "collections" if self.per_task else "queries"
        if check_choice("over", over, OVER) == "queries" and self.per_task:
            raise ValueError(
                "there is one value per task, none per query; use over='collections'"
            )
        return over

    # -- each collection ---------------------------------------------------------------------------

    def means(self, by: str | None = None) -> pd.DataFrame:
        """Return ``Comparison.means`` of all collections, with ``collection`` as a column."""
        return self._listed(lambda result: result.means(by))

    def table(self, by: str | None = None) -> pd.DataFrame:
        """Return ``Comparison.table`` of all collections, with ``collection`` as a column.

        A single run has no pairs: the table has its columns and no rows. See ``means``.
        """
        self._warn_of_one_run("table")
        return self._listed(lambda result: result.table(by))

    def verdicts(self, by: str | None = None) -> pd.DataFrame:
        """Return ``Comparison.verdicts`` of all collections, with ``collection`` as a column.

        A single run has no pairs: the table has no rows.
        """
        self._warn_of_one_run("verdicts")
        return self._listed(lambda result: result.verdicts(by))

    def _warn_of_one_run(self, method: str) -> None:
        """Warn that a table of pairs has no rows because there is only one run."""
        names = {name for result in self.results.values() for name in result.runs}
        if len(names) == 1:
            warn(
                f"{method}: {names.pop()!r} is the only run that all collections have, so there "
                "is no pair to compare; its means are in means() and overall()"
            )

    def group_means(self, by: str | None = None) -> pd.DataFrame:
        """Return ``Comparison.group_means`` of all collections, with ``collection`` as a column."""
        return self._listed(lambda result: result.group_means(by))

    def group_table(self, by: str | None = None) -> pd.DataFrame:
        """Return ``Comparison.group_table`` of every collection, corrected within it.

        It has a column ``collection`` before the others.
        """
        return self._listed(lambda result: result.group_table(by))

    @property
    def grouped(self) -> bool:
        """``Comparison.grouped``, of all collections."""
        return self._first.compared.grouped

    @property
    def cluster(self) -> bool:
        """Whether groups of queries, instead of queries, are the units of tests and intervals."""
        return self.test.cluster

    def _listed(self, table: Callable[[Comparison], pd.DataFrame]) -> pd.DataFrame:
        """Return a table of every collection, below each other."""
        parts, facts, notes = [], {}, []
        for name, result in self.results.items():
            part = table(result).copy()
            notes += [f"{name}: {x}" for x in part.attrs.get("diagnostics", [])]
            part.attrs = {}  # concat need not compare them
            part.insert(0, "collection", name)
            parts.append(part)
        if notes:
            facts["diagnostics"] = notes
        return self._frame(pd.concat(parts, ignore_index=True), **facts)

    @property
    def provenance(self) -> dict[str, Any]:
        """What was evaluated, and how: in the ``attrs`` of every table."""

        def of_each(fact: str) -> dict[str, Any] | None:
            fact_of_collection = {}
            for name, result in self.results.items():
                if result.provenance[fact]:
                    fact_of_collection[name] = result.provenance[fact]
            return fact_of_collection or None

        facts = {
            "collections": list(self.results),
            "criteria": self.criteria,
            "direction": self._first.provenance["direction"],
            "queries": {
                name: len(result.query_ids) for name, result in self.results.items()
            },
            "baseline": self.baseline,
            "test": self._first.provenance["test"],
            "correction": self.test.correction,
            "alpha": self.test.alpha,
            "margin": of_each("margin"),  # relative ones differ between collections
            "n_resamples": self.test.n_resamples,
            "seed": self.test.seed,
            "groups": of_each("groups"),
            "rules": of_each("rules"),
            "lacking": dict(self.lacking) or None,
            "metadata": of_each("metadata"),
            "versions": versions(),
        }
        return copied_as_one(facts)

    def _frame(self, columns: Any, **facts: Any) -> pd.DataFrame:
        """Return columns as a table with the provenance and further facts."""
        table = pd.DataFrame(columns)
        table.attrs.update(self.provenance | facts)
        return table

    # -- over collections --------------------------------------------------------------------------

    @entry
    def overall(self, over: str | None = None) -> pd.DataFrame:
        """Return means, ranks and differences over all collections.

        The table has a row per criterion and run; each collection counts once. Columns:
        ``criterion``, ``direction`` as in ``Comparison.means``, ``run``; the macro ``mean`` (for a
        preference: over all other runs) with its interval ``ci_low``, ``ci_high``; ``mean_rank``
        over collections, 1 for the best; ``rank_low``, ``rank_high``, the interval of the rank by
        the macro mean, which holds for all runs together, also if many are nearly equal (with as
        many resamples as ``Comparison.best_set``; over collections, and on leaderboards of up to 40
        runs, it tells two runs apart only if the interval of their difference does); and
        ``rank_from``, ``rank_to``, the range of ranks in 1 - alpha of the resamples.

        With a baseline also the macro ``difference`` (for a preference: the mean preference over
        the baseline) with its interval, ``p``, ``p_corrected`` (by the correction of ``test``, over
        the runs of one criterion; with several criteria ``p_corrected_all``, over all of them) and
        the ``verdict``. Ranks and verdicts allow for measures whose smaller value is better;
        differences keep their sign. For a single collection, means, differences and tests are those
        of its comparison. Over collections, intervals and p are by t with one degree of freedom
        less than collections (random effects, with equal weights; corrected for skewness from 4
        collections on), and ``effect`` repeats the difference. Further columns are ``next_low``,
        ``next_high``, the prediction interval of the difference on one more collection like these;
        ``tau2`` (variance of the true differences between collections), ``i2`` (share of the
        variance that sampling of queries does not explain) and ``p_heterogeneity`` (Welch's test
        that all true differences are equal).

        For runs with seeds, intervals, p and ranks allow for seeds that shift all collections
        together; ``next_low`` to ``p_heterogeneity`` are NaN.

        A leaderboard (a value per task and run) has more columns. ``tasks`` is the number of tasks
        of a run. With ``missing='skip'`` runs may lack tasks: each pair is compared on the tasks
        that both have (``shared_tasks``: with the baseline), and pairs that share fewer than 6 stay
        undecided (the method ``shared_cells`` counts them for all pairs). ``mean`` and
        ``mean_rank`` are over the tasks that the run has; if n of S runs have a task, their ranks 1
        to n are spread over 1 to S. If runs have different splits and subsets of MTEB's tasks, the
        value of a task is the mean over the ``cells`` that the run has, and a pair is compared, and
        ranked on each task, by the ``shared_cells`` of both; tasks remain the sample.
        ``borda_low``, ``borda_high``: the interval of the rank by ``mean_rank`` (Borda), for all
        runs together. ``mean_corrected``, for the best run among those with the most tasks: its
        mean without the gain from being selected, max_i mean_i - average of (mean*_w - mean_w) over
        resamples of the tasks, where w is the best run of the resample (Tibshirani, Tibshirani,
        Annals of Applied Statistics 2009, doi 10.1214/08-AOAS224); NaN if the run does not beat
        each other one on the cells that both have, where these differ. It removes most of the bias:
        for 40 nearly equal runs on 41 tasks, 0.0052 of 0.0167 remained.

        >>> import pandas as pd
        >>> from ir_lexirecall import benchmark
        >>> board = pd.DataFrame({"task": list("abcdefgh"), "small": [0.3, 0.4] * 4})
        >>> board["large"], board["new"] = board["small"] + 0.2, [None, None, *[0.7, 0.6] * 3]
        >>> rows = board.melt("task", var_name="run", value_name="score")
        >>> table = benchmark(values=rows, missing="skip").overall()
        >>> table[["run", "tasks", "mean", "mean_rank", "borda_low", "borda_high"]].round(2)
             run  tasks  mean  mean_rank  borda_low  borda_high
        0  small      8  0.35       3.00          3           3
        1  large      8  0.55       1.56          1           2
        2    new      6  0.65       1.25          1           2

        Args:
            over: ``"queries"``: these collections are the benchmark, and queries are resampled
                within each; ``"collections"``: they are a sample of tasks, and collections are
                resampled, then the queries of each. By default queries; collections if there is
                only one value for each.

        Raises:
            ValueError: ``over`` is neither, no run is common to all collections, there is a single
                run and only preferences, or no criterion has queries that count on every
                collection. A criterion without such queries is left out if another has them.
            ModuleNotFoundError: random effects without statsmodels.
        """
        over = self.sample(over)
        self.check_common()
        if not self.quantities:
            raise ValueError(
                f"a single run ({self.runs[0]!r}) has no preferences over others; "
                "add a run or a measure"
            )

        return self._overall(over).copy()

    @memoised
    def _overall(self, over: str) -> pd.DataFrame:
        """Return the table of `overall`."""
        if self.per_task:
            tables = [self._overall_of_tasks(name) for name in self.quantities]
        else:
            tables = [
                table
                for rows in row_blocks(
                    len(self.quantities), len(self.runs) + len(self.rivals), _ROWS
                )
                for table in self._overall_of_block(self.quantities[rows], over)
            ]
        table = self._over_all_criteria(pd.concat(tables, ignore_index=True))
        return self._frame(table, over=over)

    def _overall_of_block(self, names: Sequence[str], over: str) -> list[pd.DataFrame]:
        """Return the rows of some criteria, which are resampled together."""
        parts = {}
        for name in names:
            values = self._units(name, self.values_of(name))
            check_squares(values, name)
            differences = [np.zeros((0, x.shape[1])) for x in values]
            if self.rivals:
                differences = self._units(name, self.differences_of(name))
            both = [
                np.concatenate(rows) for rows in zip(values, differences, strict=True)
            ]
            means = inference.MacroMeans(both, over, self.test.n_resamples)
            parts[name] = values, differences, means, self._pairs(name, values, over)
        statistics = [
            statistic
            for *_, means, pairs in parts.values()
            for statistic in (means, pairs)
        ]
        resample(statistics, self.test.resampling)
        tables = []
        for name, (values, differences, means, pairs) in parts.items():
            self.cached(("deviations", name, over), lambda pairs=pairs: pairs.result)  # type: ignore[misc]
            tables.append(
                self._overall_of(name, values, differences, means.resamples, over)
            )
        return tables

    def _overall_of_tasks(self, by: str) -> pd.DataFrame:
        """Return the rows of a criterion where there is a value per task."""
        board = self._leaderboard(by)
        columns = board.columns(self._deviations(by, "collections"))
        table = pd.DataFrame(self._labels(by) | columns)
        if not self.rivals:
            return table
        against = pd.DataFrame(board.against(str(self.baseline)))
        return table.merge(against, on="run", how="left")

    def _labels(self, by: str) -> Columns:
        """Return the first columns of `overall`: a criterion and, if need be, its direction."""
        labels = {"criterion": by}
        if directions := self._first.provenance["direction"]:
            labels["direction"] = directions.get(by, "")
        return labels

    def _leaderboard(self, by: str) -> Leaderboard:
        """Return the values per task of a criterion, or those in the cells of tasks."""
        criterion = self.criterion(by)
        scores = self.cell_scores
        if scores is None:
            cells = TaskCells.of_tasks(self._values_per_task(criterion.name))
        else:
            cells = TaskCells(*scores.of_measure(criterion.name, self.runs))
        cells = replace(cells, values=levelled(cells.values, SUM))
        return Leaderboard(self.runs, cells, criterion, self.test)

    def _values_per_task(self, name: str) -> Floats:
        """Return the values of a measure, NaN where missing, tasks in the order of their names."""
        if name in self._refused:
            raise ValueError(self._refused[name])
        index = index_of(self.runs)
        values = np.full((len(self.runs), len(self)), np.nan)
        for d, collection in enumerate(sorted(self.results)):
            result = self.results[collection]
            rows = [index[run] for run in result.runs]
            criterion = result.compared.criterion(name)
            assert isinstance(criterion, MeasureCriterion)
            values[rows, d] = criterion.values[:, 0]
        return values

    @property
    def has_gaps(self) -> bool:
        """Whether this is a leaderboard of which some run lacks a task."""
        return self.per_task and bool(self.lacking)

    @property
    def cell_scores(self) -> CellScores | None:
        """The scores of all cells of a leaderboard, where some run lacks some; else None."""
        values_given = self._first.compared.given
        if self.per_task and values_given is not None:
            return values_given.cells
        return None

    @property
    def is_by_pair(self) -> bool:
        """Whether two runs are compared on the cells that both have, which not all runs have."""
        return self.has_gaps or self.cell_scores is not None

    def contested_by(self, by: str) -> str:
        """Return a run that is not behind the run with the best mean on the cells of both.

        Empty if there is none, or if means are over the same cells; see ``Leaderboard``.
        """
        return self._leaderboard(by).contested_by if self.is_by_pair else ""

    def check_common(self) -> None:
        """Raise if no run has all collections, so that nothing is known over them.

        Raises:
            ValueError: no run is common to all collections.
        """
        if not self.runs:
            raise ValueError(
                "no run is common to all collections: nothing can be compared over them; add the "
                "missing runs, or look at one collection"
            )

    def _check_baseline(self) -> None:
        """Raise if there is no baseline, so that nothing is compared."""
        if self.baseline is not None:
            return
        if len(self.runs) > 1:
            raise ValueError("no baseline; pass baseline= to benchmark")
        left = f"only the run {self.runs[0]!r} is" if self.runs else "no run is"
        raise ValueError(
            f"{left} common to all collections: nothing can be compared; add a run that all "
            "collections have, and pass baseline= to benchmark"
        )

    def check_rivals(self) -> None:
        """Raise if there is no baseline, or no other run to compare with it.

        Raises:
            ValueError: no baseline, or no other run that all collections have.
        """
        self._check_baseline()
        if not self.rivals:
            raise ValueError(
                f"only the baseline {self.baseline!r} is left: nothing can be compared with it; "
                "add a run that all collections have"
            )

    @entry
    def values_of(self, by: str | None = None) -> list[Floats]:
        """Return values of a measure, or mean preferences over all other runs, per collection.

        Returns:
            An array of each collection, shape ``(S, Q_d)``; NaN for a task of a leaderboard that a
            run lacks.

        Raises:
            ValueError: no query of a collection counts, or a value is not a finite number.
        """
        name = self.criterion(by).name
        if self.has_gaps:
            return [x[:, None] for x in self._values_per_task(name).T]
        if name in self._refused:
            raise ValueError(self._refused[name])
        return [
            np.ascontiguousarray(self._values_on(result, name))
            for result in self.results.values()
        ]

    def _values_on(self, result: Comparison, name: str) -> Floats:
        """Return the values of the runs that all collections have, on one of these."""
        rows = [result.runs.index(run) for run in self.runs]
        return result.compared.criterion(name).per_query[rows]

    @cached_property
    def _refused(self) -> dict[str, str]:
        """Why nothing is said over collections, for each criterion of which that holds."""
        refused = {}
        for by in self.criteria:
            for collection, result in self.results.items():
                reason = self._why_undefined(collection, result, by)
                if reason:
                    refused[by] = reason
                    break
        return refused

    def _why_undefined(self, collection: str, result: Comparison, by: str) -> str:
        """Return why a criterion has no value on a collection; empty if it has."""
        criterion = result.compared.criterion(by)
        query_ids = criterion.query_ids
        if not query_ids:
            return f"no query of collection {collection!r} has a relevant document"
        if self.has_gaps:
            return ""  # what was read are finite numbers
        if not criterion.is_measure and len(result.runs) == 1:
            return f"a preference needs two runs, and collection {collection!r} has one"
        x = self._values_on(result, by)
        undefined = np.argwhere(~np.isfinite(x))
        if not len(undefined):
            return ""
        run, query = undefined[0].tolist()
        kind, hint = "not a number", ""
        if np.isinf(x[run, query]):
            kind, hint = "infinite", ", or give it n, the number of documents"
        return (
            f"collection {collection!r}: {by} is {kind} for run {self.runs[run]!r} on query "
            f"{query_ids[query]!r}; leave this measure out{hint}"
        )

    @entry
    def differences_of(self, by: str | None = None) -> list[Floats]:
        """Return the differences of all other runs to the baseline, per collection.

        Of a preference, return the preferences over the baseline. The shapes are ``(S - 1, Q_d)``.
        """
        self._check_baseline()
        if self.has_gaps:
            values = levelled(self._values_per_task(self.criterion(by).name), SUM)
            row = self.runs.index(str(self.baseline))
            return [
                x[:, None] for x in (np.delete(values, row, axis=0) - values[row]).T
            ]
        arrays = []
        for result in self.results.values():
            index = np.array(
                [result.runs.index(run) for run in self.rivals], dtype=np.int64
            )
            base = np.full(len(index), result.runs.index(str(self.baseline)))
            criterion = result.compared.criterion(by)
            arrays.append(all_differences(criterion, (index, base)))
        return arrays

    def _units(self, by: str, arrays: list[Floats]) -> list[Floats]:
        """Return what is resampled of values or differences per query: these, or groups of them.

        Collections are in the order of their names, so that no number depends on the order in
        which they were given.
        """
        units = []
        for name, x in sorted(
            zip(self.results, arrays, strict=True), key=lambda one: one[0]
        ):
            groups = self.results[name].compared.test_of(by).groups
            if groups is None:
                units.append(x)
            else:
                units.append(group_units(x, groups))
        return units

    @property
    def has_seeds(self) -> bool:
        """Whether runs have seeds, each of which moves all queries of all collections."""
        return self._first.compared.has_seeds

    def _seeds(self, by: str) -> MacroSeeds | None:
        """Return the values of runs with seeds, collections sorted by name; None without seeds."""
        parts = []
        for collection in sorted(self.results):
            result = self.results[collection]
            criterion = result.compared.criterion(by)
            if (
                not isinstance(criterion, MeasureCriterion)
                or criterion.repeated is None
            ):
                return None
            repeated = criterion.repeated
            if not repeated.is_of_seeds:
                return None
            parts.append(
                repeated.of_systems([result.runs.index(run) for run in self.runs])
            )
        return MacroSeeds(parts)

    def _withheld(self, by: str, arrays_of: Callable[[str], list[Floats]]) -> Bools:
        """Return which rows have no interval.

        On some collection, the sizes of their groups may go with the values in them.
        """
        if not self.cluster:
            return np.zeros(1, dtype=bool)
        holds = []
        for x, result in zip(arrays_of(by), self.results.values(), strict=True):
            groups = result.compared.test_of(by).groups
            if groups is not None:
                holds.append(group_interval_holds(x, groups))
        return ~np.all(holds, axis=0)

    @property
    def rivals(self) -> list[str]:
        """The runs that are compared with the baseline, in order; empty without a baseline."""
        if self.baseline is None:
            return []
        return without(self.runs, [self.baseline])

    @cached_property
    def quantities(self) -> list[str]:
        """The criteria that are summed up over collections.

        Of a single run no preferences, and no criterion without values on some collection, unless
        that holds for all criteria.
        """
        names = []
        for name in self.criteria:
            if len(self.runs) > 1 or self.criterion(name).is_measure:
                names.append(name)
        return without(names, self._refused) or names

    @property
    def left_out(self) -> dict[str, str]:
        """The criteria that are not summed up although others are, with the reason."""
        names = self.quantities
        return without_keys(self._refused, names)

    def _overall_of(
        self,
        by: str,
        values: list[Floats],
        differences: list[Floats],
        both: inference.Resamples,
        over: str,
    ) -> pd.DataFrame:
        """Return the rows of `overall` of a criterion.

        Args:
            by: the criterion.
            values: of each run, on what is resampled of each collection.
            differences: those of each other run to the baseline, likewise.
            both: resampled macro means of the values, then of the differences.
            over: what is a sample.
        """
        n_runs = len(self.runs)
        means = self._macro_means(by, values, both[:n_runs], over)
        columns = self._labels(by) | means
        is_single = len(self) == 1 and over == "queries"
        if is_single:  # the only mean, interval and test are those of the collection
            columns |= {
                name: self._first.means(by)[name]
                for name in ("mean", "ci_low", "ci_high")
            }
        table = pd.DataFrame(columns)
        if not self.rivals:
            return table
        if is_single:
            numbers = self._first.table(by).rename(columns=_SINGLE)[
                [*_SINGLE.values(), *_SHARED_COLUMNS]
            ]
            return table.merge(numbers, on="run", how="left")
        against = self._macro_differences(by, differences, both[n_runs:], over)
        if over == "collections":
            against |= self._between_collections(by, differences, against)
        is_unknown = self._withheld(by, self.differences_of)
        for name in against:
            if name.endswith(_ENDS):
                against[name] = np.where(is_unknown, np.nan, against[name])
        return table.merge(pd.DataFrame(against), on="run", how="left")

    def _macro_means(
        self, by: str, values: list[Floats], resamples: inference.Resamples, over: str
    ) -> Columns:
        """Return macro means and ranks of all runs, with their intervals; see `_overall_of`."""
        alpha, criterion, seeds = self.test.alpha, self.criterion(by), self._seeds(by)
        low, high, _ = inference.macro_interval(values, resamples, over, alpha)
        resampled = resamples.mean
        if seeds is None:
            rank_low, rank_high = rank_intervals(self._deviations(by, over), alpha)
        else:
            variance = seeds.variance([np.arange(len(self.runs))], over)
            with_seeds = variance.interval(alpha)
            low, high = np.fmin(low, with_seeds[0]), np.fmax(high, with_seeds[1])
            rng = np.random.default_rng(self.test.seed)
            noise = rng.standard_normal(resampled.shape)
            resampled = resampled + np.sqrt(seeds.added())[:, None] * noise
            rank_low, rank_high = seeds.rank_intervals(criterion.sign, over, alpha)
        low, high = cut_at_range(low, high, criterion.limits, self.values_of(by))
        low, high = np.where(self._withheld(by, self.values_of), np.nan, (low, high))
        ranks = [inference.ranks(criterion.sign * x.mean(axis=1)) for x in values]
        rank_from, rank_to = inference.rank_interval(criterion.sign * resampled, alpha)
        return {
            "run": self.runs,
            "mean": inference.macro_means(values),
            "ci_low": low,
            "ci_high": high,
            "mean_rank": np.mean(ranks, axis=0),
            "rank_low": rank_low,
            "rank_high": rank_high,
            "rank_from": rank_from,
            "rank_to": rank_to,
        }

    def _macro_differences(
        self,
        by: str,
        differences: list[Floats],
        resamples: inference.Resamples,
        over: str,
    ) -> Columns:
        """Return macro differences to the baseline and their tests; see `_overall_of`."""
        alpha, seeds = self.test.alpha, self._seeds(by)
        mean = inference.macro_means(differences)
        low, high, p = inference.macro_interval(differences, resamples, over, alpha)
        low, high = np.clip((low, high), *self.criterion(by).range_of_differences)
        low_of_one, high_of_one, _ = inference.macro_interval(
            differences, resamples, over, self._level_of_one
        )
        self._ends_of_one[by, over] = (low_of_one, high_of_one)
        # No exchange of the signs of so few differing queries gives a smaller p.
        differing = differing_queries(np.concatenate(differences, axis=1))
        tested = TestResult(
            mean, low, high, np.maximum(p, least_two_sided_p(differing)), mean
        )
        if seeds is not None:
            others = np.array([self.runs.index(run) for run in self.rivals])
            base = np.full(len(others), self.runs.index(str(self.baseline)))
            tested = seeds.variance([others, base], over).widened(tested, alpha)
        columns = columns_of_differences(tested, self.criterion(by), self.test)
        return {"run": self.rivals} | columns

    @property
    def _level_of_one(self) -> float:
        """The level of a difference that is significant whatever the others are (Bonferroni)."""
        if self.test.correction is None:
            return self.test.alpha
        n_comparisons = len(self.rivals)
        if self.test.family == "all":
            n_comparisons *= len(self.quantities)
        return self.test.alpha / max(1, n_comparisons)

    @property
    def _ends_of_one(self) -> dict[tuple[str, str], Interval]:
        """Intervals of differences at `_level_of_one`, by criterion and kind of sample.

        ``overall`` fills them in: they need its resamples, which are not kept.
        """
        return self.cached("ends at the level of one", dict)

    def significant_differences(self, by: str, over: str) -> Floats:
        """Return the smallest difference of each run to the baseline that would be significant.

        A run whose values all moved by one constant would keep its spread. As soon as its macro
        difference exceeded the returned number, it would be significant. Shape ``(S - 1,)``; NaN
        where the number is unknown: with seeds, groups of queries, tasks that some run lacks, and
        corrections that may demand more than Bonferroni's.

        Args:
            by: the criterion.
            over: what is a sample, as in ``overall``.
        """
        level, alpha = self._level_of_one, self.test.alpha
        unknown = np.full(len(self.rivals), np.nan)
        others = np.ones(round(alpha / level) - 1)
        p = np.append(level * (1 - SUM), others)
        rejected = corrected(p, self.test.correction, alpha)[1]
        is_known = not (self.has_seeds or self.cluster or self.is_by_pair)
        if not (is_known and rejected[0]) or (len(self) == 1 and over == "queries"):
            return unknown
        differences = self.differences_of(by)
        if self.per_task:
            low, high, _ = interval_over_tasks(
                np.concatenate(differences, axis=1), level
            )
        else:
            self.overall(over)
            low, high = self._ends_of_one[by, over]
        mean = inference.macro_means(differences)
        n_differing = differing_queries(np.concatenate(differences, axis=1))
        # Equal ends are those of the largest values, at which intervals over queries are cut.
        is_cut = (low == -high) & (over == "queries")
        is_lacking = least_two_sided_p(n_differing) > level
        return np.where(is_cut | is_lacking, np.nan, np.fmax(mean - low, high - mean))

    def _between_collections(
        self, by: str, differences: list[Floats], against: Mapping[str, Any]
    ) -> Columns:
        """Return the columns of the random-effects model, which follow those of `against`."""
        columns = {
            "effect": against["difference"],
            "effect_low": against["difference_low"],
            "effect_high": against["difference_high"],
        }
        if self._seeds(by) is not None:  # the others know nothing of seeds
            unknown = np.full(len(self.rivals), np.nan)
            return columns | dict.fromkeys(_OF_QUERIES_ALONE, unknown)
        means = inference.collection_means(differences)
        combined = inference.random_effects(*means, self.test.alpha)
        bounds = self.criterion(by).range_of_differences
        return columns | {
            "next_low": np.clip(combined.next_low, *bounds),
            "next_high": np.clip(combined.next_high, *bounds),
            "tau2": combined.tau2,
            "i2": combined.i2,
            "p_heterogeneity": heterogeneity(differences, self.test.seed)[1],
        }

    def _over_all_criteria(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return `overall` with p-values corrected over all criteria, where there are several.

        With the family ``"all"`` verdicts follow these.
        """
        if "p" not in table or table["criterion"].nunique() < 2:
            return table
        is_tested = table["run"] != self.baseline
        p = table["p"][is_tested].to_numpy()
        adjusted, reject = corrected(p, self.test.correction, self.test.alpha)
        table["p_corrected_all"] = np.nan
        table.loc[is_tested, "p_corrected_all"] = adjusted
        if self.test.family == "all":
            signs = table["criterion"][is_tested].map(
                lambda name: self.criterion(name).sign
            )
            gain = signs.to_numpy() * table["difference"][is_tested].to_numpy()
            table.loc[is_tested, "p_corrected"] = adjusted
            table.loc[is_tested, "verdict"] = two_sided(reject, gain)
        return table

    def _deviations(self, by: str, over: str) -> Deviations:
        """Return the studentised deviations of all differences between runs.

        Best sets and intervals of ranks share them.
        """

        def resampled() -> Deviations:
            if self.is_by_pair:
                deviations = shared_deviations(
                    self._leaderboard(by).gains, self.test.resampling
                )
            else:
                pairs = self._pairs(by, self._units(by, self.values_of(by)), over)
                resample([pairs], self.test.resampling)
                deviations = pairs.result
            # A pair counts as apart only if its own p agrees. Among many runs it always does,
            # because bounds that hold for all pairs at once are far wider.
            if self.per_task and len(self.runs) <= _FEW_RUNS:
                alone_p = self._leaderboard(by).pair_p()
                deviations = replace(deviations, alone_p=alone_p)
            return deviations

        return self.cached(("deviations", by, over), resampled)

    def _pairs(self, by: str, values: list[Floats], over: str) -> PairDeviations:
        """Return the object that finds the deviations from resamples."""
        # Tasks are resampled as the queries of one collection are.
        if self.per_task:
            values, over = [np.concatenate(values, axis=1)], "queries"
        return PairDeviations(
            [self.criterion(by).sign * x for x in values], over, self.test.n_resamples
        )

    @entry
    def best_set(
        self, by: str | None = None, over: str | None = None, alpha: float | None = None
    ) -> pd.DataFrame:
        """Return which runs may be the best over all collections.

        Args:
            by: the criterion; by default the first one.
            over: what is a sample, as in ``overall``.
            alpha: 1 - confidence; by default that of the test.

        Returns:
            A row per run, best first: ``run``, ``p_not_beaten``, ``may_be_best``; see
            ``Comparison.best_set``.
        """
        name = self.criterion(by).name
        over = self.sample(over)
        self.check_common()
        if alpha is None:
            alpha = self.test.alpha
        else:
            alpha = check_number("alpha", alpha, above=0, below=1)
        seeds = self._seeds(name)
        if seeds is None:
            p = best_set(self._deviations(name, over))
        else:
            p = seeds.not_beaten(self.criterion(name).sign, over)
        if self.is_by_pair:
            means = means_of_present(self._leaderboard(name).values)
        else:
            means = inference.macro_means(self.values_of(name))
        gains = self.criterion(name).sign * means
        return self._frame(best_set_columns(self.runs, gains, p, alpha), over=over)

    @entry
    def shared_cells(self, by: str | None = None) -> pd.DataFrame:
        """Return how many tasks of a leaderboard each pair of runs shares, by run.

        Of MTEB's results, return how many cells (task, split, subset).

        Args:
            by: the criterion; by default the first one.

        >>> import pandas as pd
        >>> from ir_lexirecall import benchmark
        >>> board = pd.DataFrame({"task": list("abc"), "old": [0.3, 0.4, 0.5]})
        >>> board["new"] = [None, 0.6, 0.7]
        >>> rows = board.melt("task", var_name="run", value_name="score")
        >>> benchmark(values=rows, missing="skip").shared_cells()
             old  new
        old    3    2
        new    2    2

        Raises:
            ValueError: there are values per query, or rankings.
        """
        name = self.criterion(by).name
        if not self.per_task:
            raise ValueError(
                "cells are splits and subsets of a leaderboard, which has one value per task and "
                "run; compare a single collection to see which queries two runs share"
            )
        shared = self._leaderboard(name).cells.shared_cells()
        return self._frame(pd.DataFrame(shared, index=self.runs, columns=self.runs))

    @entry
    def by_collection(self, by: str | None = None) -> pd.DataFrame:
        """Return the differences to the baseline on each collection.

        These are the rows of ``table`` for the runs that all collections have. But ``p_corrected``
        and ``verdict`` (two-sided, without a margin) hold for all runs and collections together:
        where nothing differs anywhere, any verdict is false with a
        probability of at most alpha. What is coloured or filled goes by them.
        """
        self._check_baseline()
        table = self.table(self.criterion(by).name)
        is_shared = table["run_a"].isin(self.runs) & (table["run_b"] == self.baseline)
        table = table[is_shared].reset_index(drop=True)
        adjusted, reject = corrected(
            table["p"].to_numpy(), self.test.correction, self.test.alpha
        )
        gain = self.criterion(by).sign * table["estimate"].to_numpy()
        return self._frame(
            table.assign(p_corrected=adjusted, verdict=two_sided(reject, gain))
        )

    @entry
    def replicated(
        self, by: str | None = None, *, dependent: bool = False
    ) -> pd.DataFrame:
        """Return on how many collections each run is better than the baseline, at least.

        The one-sided p of the collections are combined (partial conjunction): by Fisher where no
        two of them share a query id, else by Simes. The attribute ``combination`` of the table
        names the one that was used.

        Args:
            by: the criterion; by default the first one.
            dependent: whether collections have topics in common under other ids, as translations,
                splits, or other judgments of one topic set have: then Simes', which allows for that
                (as for seeds, which all collections share).

        Returns:
            A row per run: ``run``, ``better_on_at_least``, the largest u with p_u at most alpha;
            ``p_1`` ... ``p_D``: p of "better on at least u of the D collections", corrected over
            the runs, so that with a confidence of 1 - alpha no number of any run is too large (by
            Holm's correction; by another one, each u by itself).

        >>> from ir_lexirecall import benchmark, demo
        >>> runs = {"ql": demo.run("ql"), "overlap": demo.run("overlap")}
        >>> result = benchmark("lexirecall/demo", runs, "AP", baseline="overlap")
        >>> result.replicated().round(4)
          run  better_on_at_least  p_1
        0  ql                   1  0.0

        Source: Dror, Baumer, Bogomolov, Reichart, Replicability Analysis for Natural Language
        Processing, TACL 2017, doi 10.1162/tacl_a_00074.
        """
        name = self.criterion(by).name
        self._check_baseline()
        if self.per_task:
            raise ValueError(
                "a value per task cannot be tested within the task; give values per query"
            )
        # A seed moves all collections together.
        is_fisher = not (dependent or self.share_queries or self._seeds(name))
        combination = "fisher" if is_fisher else "simes"
        p_u = inference.partial_conjunction(self._p_better(name), combination)
        p_u = inference.corrected_over_runs(p_u, self.test.correction, self.test.alpha)
        columns = {f"p_{u}": p_u[:, u - 1] for u in range(1, len(self) + 1)}
        # As p_u rises with u, one run needs no further correction.
        least = np.count_nonzero(p_u <= self.test.alpha, axis=1)
        table = self._frame(
            {"run": self.rivals, "better_on_at_least": least, **columns}
        )
        table.attrs["combination"] = "Fisher" if is_fisher else "Simes"
        return table

    def _p_better(self, by: str) -> Floats:
        """Return one-sided p that each rival is better than the baseline on each collection."""
        p = np.ones((len(self.rivals), len(self)))
        for d, result in enumerate(self.results.values()):
            compared = result.with_baseline(self.baseline)
            (tested,) = compared.tests.one_sided(by, 0.0)
            better = dict(
                zip((run for run, _ in compared.pairs), tested.better, strict=True)
            )
            p[:, d] = [better[run] for run in self.rivals]
        return p

    @property
    def share_queries(self) -> bool:
        """Whether two collections have a query id in common, so that they may share topics."""
        ids = [set(result.query_ids) for result in self.results.values()]
        return len(set().union(*ids)) < sum(map(len, ids))

    @entry
    def friedman(self, by: str | None = None) -> dict[str, Any]:
        """Test whether all runs rank alike over collections.

        Friedman's test is followed by Nemenyi's comparison of all pairs.

        Returns:
            ``chi2`` and ``p`` of Friedman's test (NaN for fewer than 3 runs),
            ``critical_difference`` of mean ranks at ``alpha``, ``mean_rank`` (a Series, best first)
            and ``p_pairs`` (a DataFrame, by Nemenyi), which depends on all runs that are there;
            beside it ``p_wilcoxon``: of each pair alone by Wilcoxon's signed ranks over
            collections, Holm-corrected. Runs that lack a collection are left out.

        Raises:
            ValueError: no run has all collections, or the runs have seeds.
        """
        criterion = self.criterion(by)
        self.check_common()
        if self._seeds(criterion.name) is not None:
            raise ValueError("it does not allow for seeds; overall() does")
        means = inference.means_on_collections(self.values_of(criterion.name))
        is_complete = ~np.isnan(means).any(axis=1)
        if not is_complete.any():
            raise ValueError(
                f"{_NO_COMMON_RUN}; leave out the tasks or runs that lack most"
            )
        names = without(self.runs, self.lacking)
        means = criterion.sign * levelled(means[is_complete], SUM).T
        chi2, p = inference.friedman(means)
        difference, pairs = inference.nemenyi(means, self.test.alpha)
        mean_rank = pd.Series(
            inference.ranks(means.T).mean(axis=1), names, name="mean_rank"
        )
        return {
            "criterion": criterion.name,
            "chi2": chi2,
            "p": p,
            "critical_difference": difference,
            "alpha": self.test.alpha,
            "mean_rank": mean_rank.sort_values(kind="stable"),
            "p_pairs": pd.DataFrame(pairs, index=names, columns=names),
            "p_wilcoxon": pd.DataFrame(
                inference.wilcoxon_of_pairs(means), index=names, columns=names
            ),
        }

    # -- for readers -------------------------------------------------------------------------------

    @property
    def diagnostics(self) -> list[str]:
        """Reasons not to trust the result, the gravest first; empty if nothing stands out."""
        return [*present.benchmark_caveats(self)]

    @entry
    def summary(self, over: str | None = None, full: bool = False) -> str:
        """Return the result at a glance, as ``print`` shows it.

        Args:
            over: what is a sample, as in ``overall``.
            full: show every run, column and caveat, and how the result was made.
        """
        glance = present.benchmark_glance(self, over)
        if full:
            return present.full_text(glance, self.provenance)
        return str(glance)

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        runs, collections = (
            counted(len(self.runs), "run"),
            counted(len(self), "collection"),
        )
        contents = f"{runs} on {collections} by {', '.join(self.criteria)}"
        return f"<Benchmark of {contents}; print() shows what it says>"

    @entry
    def to_markdown(
        self, over: str | None = None, places: int = 4, *, columns: str | None = None
    ) -> str:
        """Return ``overall`` in Markdown; arguments as in ``to_latex``, by default every number."""
        table = present.benchmark_table(self, over, places, columns=columns)
        return table.markdown()

    @entry
    def to_latex(
        self,
        over: str | None = None,
        places: int = 4,
        *,
        label: str = "tab:benchmark",
        columns: str = "means",
        caption: str | None = None,
    ) -> str:
        """Return ``overall`` as a LaTeX ``table`` with caption, label and notes.

        Args:
            over: what is a sample, as in ``overall``.
            places: decimal places.
            label: of the table.
            columns: ``"means"``: macro mean with its interval, rank, difference to the baseline;
                ``"differences"``: difference with its interval, and p.
            caption: the first sentence of the caption; by default what was evaluated.
        """
        table = present.benchmark_table(
            self, over, places, columns=columns, caption=caption
        )
        return table.latex(label=label)

    def _repr_html_(self) -> str:
        return plots.notebook(self)

    @entry
    def plot(self, kind: str = "forest", *args: Any, **options: Any) -> Any:
        """Draw a kind of picture.

        ``plot(kind, by, ax=ax)`` is ``ir_lexirecall.plots.KIND(result, by, ax=ax)``.

        Args:
            kind: ``"forest"``: differences to the baseline, per collection and over all;
                ``"rank_intervals"`` (also ``over="collections"``): ranks by macro mean, best first;
                ``"critical_differences"`` of mean ranks (Demsar 2006).
            *args: of the picture: ``by``, by default the first criterion.
            **options: of the picture: ``ax``, by default new axes.

        Returns:
            The axes.

        Raises:
            ValueError: unknown kind.
        """
        return plots.picture(Benchmark, kind)(self, *args, **options)
