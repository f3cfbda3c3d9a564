"""``Comparison``: runs on one collection, compared by one or several criteria."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np

from ir_lexirecall._util.arrays import Floats
from ir_lexirecall._util.errors import check_choice, check_number, entry
from ir_lexirecall._util.lazy import cached_property
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.presenting import plots, present
from ir_lexirecall.comparison.compared import ComparedRuns
from ir_lexirecall.comparison.criteria import (
    Criterion,
    PreferenceCriterion,
    all_differences,
    has_seeds,
)
from ir_lexirecall.comparison.explaining import disagreements, explained
from ir_lexirecall.comparison.missing_judgments import MissingJudgments
from ir_lexirecall.comparison.pair_tests import (
    PairTests,
    best_first,
    best_set_columns,
)
from ir_lexirecall.comparison.verdicts import (
    BETTER,
    WORSE,
    p_of_verdicts,
    two_sided,
)
from ir_lexirecall.evaluation.scored_runs import run_name
from ir_lexirecall.judging.algorithms import DepthLike, Judgings
from ir_lexirecall.judging.sequential import sequential_signs
from ir_lexirecall.significance import (
    Planned,
    SignificanceTest,
    corrected,
    detectable_difference,
    heterogeneity,
    queries_for_difference,
    queries_for_margin,
    queries_with_repeats,
    repeats_with_queries,
)
from ir_lexirecall.significance.evidence import differing_queries
from ir_lexirecall.significance.planning import queries_that_differ
from ir_lexirecall.significance.repeats import Components


@dataclass(frozen=True, eq=False)
class Comparison:
    """Result of ``compare``: runs on one collection, compared by criteria.

    Methods take ``by``, a criterion, and return plain tables with the provenance in ``attrs``. By
    default, tables with a column ``criterion`` have rows of all criteria, others those of the first
    one.

    Attributes:
        compared: its inputs: runs, criteria, judgments, groups, predicted judgments, texts.
        tests: the tests of all pairs, as arrays; tables are made of them.
        missing: how documents without a judgment could change the result.
        runs: names of the runs, in order.
        criteria: names of the criteria, in order.
        baseline: the run that all others are compared with, or None for all pairs.
        pairs: names of the two runs of each pair.
        test: the significance test, its level and correction.
        query_ids: all queries of the qrels, or those with values.
        provenance: what was compared and how it was tested; also in the ``attrs`` of every table.

    Raises:
        ValueError: ``predicted`` with fewer than 10 queries (in a group), a query that it lacks,
            ``cluster``, or a test other than ``'t'``.
    """

    compared: ComparedRuns

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self  # nothing in it changes; tables that carry it in their attrs are copied often

    @cached_property
    def tests(self) -> PairTests:
        """The tests of all pairs, as arrays."""
        return PairTests(self.compared)

    @cached_property
    def missing(self) -> MissingJudgments:
        """Possible changes of the result by documents without a judgment."""
        return MissingJudgments(self.tests)

    @property
    def runs(self) -> list[str]:
        """Names of the runs, in order."""
        return self.compared.runs

    @property
    def criteria(self) -> list[str]:
        """Names of the criteria, in order."""
        return self.compared.criteria

    @property
    def baseline(self) -> str | None:
        """The run that all others are compared with, or None for all pairs."""
        return self.compared.baseline

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Names of the two runs of each pair."""
        return self.compared.pairs

    @property
    def test(self) -> SignificanceTest:
        """How differences are tested, with its level and correction."""
        return self.compared.test

    @property
    def query_ids(self) -> list[str]:
        """All queries of the qrels, or those with values."""
        return self.compared.query_ids

    @property
    def provenance(self) -> dict[str, Any]:
        """What was compared, and how it was tested: in the ``attrs`` of every table."""
        return self.compared.provenance

    def _stacked(
        self,
        by: str | None,
        columns: Callable[[str], Sequence[Mapping[str, Any]]],
        in_groups: bool = False,
    ) -> pd.DataFrame:
        """Return a table of the columns of each criterion, or of one.

        The criterion's name stands before them, the direction if a criterion needs one, and the
        group. ``incomparable`` stays only if runs can be.
        """
        names = self.compared.names(by)
        directions = self.provenance["direction"]
        has_incomparable = any(self.compared.by[name].is_partial for name in names)
        parts = []
        for name in names:
            labels: dict[str, Any] = {"criterion": name}
            if directions:
                labels["direction"] = directions.get(name, "")
            if in_groups:
                groups = self._group_columns(name)
            else:
                groups = [{}]
            for group, of_criterion in zip(groups, columns(name), strict=True):
                part = {**labels, **group, **of_criterion}
                if not has_incomparable:
                    part.pop("incomparable", None)
                parts.append(pd.DataFrame(part))
        return self.compared.frame(pd.concat(parts, ignore_index=True))

    def _group_columns(self, name: str) -> list[dict[str, Any]]:
        """Return the columns ``group`` and ``queries``, how many count in it, for each group."""
        return [
            {"group": group, "queries": len(part.by[name].query_ids)}
            for group, part in self.compared.by_group.items()
        ]

    # -- means -------------------------------------------------------------------------------------

    @entry
    def means(self, by: str | None = None) -> pd.DataFrame:
        """Return the mean of each run with its interval at 1 - alpha.

        For a measure, this is the mean over all queries, as in ``evaluate``, with the interval of
        the studentised bootstrap. RR, Success and values of 0 and 1 have the t interval, with the
        two ends of their range added as values; so do all measures if an end of the bootstrap
        interval does not exist. For a preference, it is the mean preference over all other runs and
        queries, with an interval that keeps its level near -1 and 1; NaN for a single run, which
        has no other.

        Returns:
            Columns ``criterion``, ``run``, ``mean``, ``ci_low``, ``ci_high``; ``direction`` if
            smaller values of a criterion are better, or larger ones are only assumed to be better;
            and ``missing``, the share of queries without a value of the run, if another program
            computed the values and some are missing.

        >>> from ir_lexirecall import compare, demo
        >>> runs = {"bm25": demo.run("bm25"), "ql": demo.run("ql")}
        >>> result = compare("lexirecall/demo", runs, "nDCG@10")
        >>> result.means().round(3)
          criterion   run   mean  ci_low  ci_high
        0   nDCG@10  bm25  0.578   0.456    0.700
        1   nDCG@10    ql  0.565   0.448    0.683
        """
        table = self._stacked(by, lambda name: [self.tests.means_of(name)])
        values_given = self.compared.given
        if values_given is not None and values_given.missing_of_run:
            table["missing"] = [values_given.missing_share(run) for run in table["run"]]
        return table

    @entry
    def ranking(self, by: str | None = None) -> pd.DataFrame:
        """Return the rows of ``means`` for one criterion, the best run first.

        Runs keep their order if their means differ only by rounding.
        """
        criterion = self.compared.criterion(by)
        table = self.means(criterion.name)
        order = best_first(criterion.sign * criterion.means)
        return self.compared.frame(table.iloc[order].reset_index(drop=True))

    @entry
    def matrix(self, by: str | None = None) -> pd.DataFrame:
        """Return the mean differences (or preferences) of ``table`` as a matrix.

        A cell is the row's run minus the column's run, or the preference for the row's run.
        """
        criterion, n_runs = self.compared.criterion(by), len(self.runs)
        a, b = np.indices((n_runs, n_runs)).reshape(2, -1)
        means = criterion.mean_differences(a, b).reshape(n_runs, n_runs)
        of_all_pairs = replace(self.compared, baseline=None, margins=None)
        differences = None
        if self.compared.predicted is not None:
            differences = PairTests(of_all_pairs).powered(criterion.name).estimate
        elif self.compared.has_uneven_pairs:
            differences = of_all_pairs.pair_differences(criterion.name)
        if differences is not None:
            first, second = of_all_pairs.pair_indices
            means[first, second], means[second, first] = differences, -differences
        return self.compared.frame(means, index=self.runs, columns=self.runs)

    @entry
    def per_query(self, by: str | None = None) -> pd.DataFrame:
        """Return values of a measure, or mean preferences over all other runs, per query.

        Returns:
            A row per query (index ``query_id``), a column per run.
        """
        criterion = self.compared.criterion(by)
        values = criterion.per_query.T.copy()
        index = pd.Index(criterion.query_ids, name="query_id")
        return self.compared.frame(values, index=index, columns=self.runs)

    # -- differences -------------------------------------------------------------------------------

    @entry
    def table(self, by: str | None = None) -> pd.DataFrame:
        """Return wins, differences, tests and the verdict for each pair of runs.

        Returns:
            A row per criterion and pair of runs, with these columns. If smaller values are better,
            differences keep their sign; wins and verdicts say which run is better.

            - ``criterion``, ``run_a``, ``run_b``.
            - ``wins``, ``losses``, ``ties``: queries on which ``run_a`` is better, worse, equal
              (with ``dominance`` also ``incomparable``); ``net_wins``, (wins - losses) / queries.
            - ``mean_a``, ``mean_b`` (of a measure; ``missing_a``, ``missing_b`` as in ``means``)
              and ``difference``: mean_a - mean_b, for a preference the mean preference. With
              predicted judgments, it is the prediction-powered estimate, while the means are those
              of people's queries.
            - ``estimate`` of the test, with its interval ``ci_low``, ``ci_high`` at 1 - alpha,
              which excludes 0 exactly if ``p`` is at most alpha; ``p``, ``p_corrected``; with
              several criteria ``p_corrected_all``, corrected over all pairs and all criteria.
            - ``effect_size`` with its interval ``effect_low``, ``effect_high`` (for Cohen's d_z by
              the noncentral t; Wilcoxon's effect size has no interval).
            - With repeats: ``repeats``, their number, and standard deviations of the difference:
              between queries (``sd_queries``), between seeds of both runs (``sd_seeds``), and the
              rest (``sd_noise``).
            - With a margin: p-values of these hypotheses. ``worse_p``: there is no loss
              (one-sided); ``better_p``: there is no difference (two-sided; 1 without a gain); both
              corrected over all criteria and pairs. ``within_p``: the loss or gain is at least the
              margin; ``not_worse_p``: the loss is at least the margin (one-sided); both corrected
              over the pairs of the criterion. ``bound_low`` and ``bound_high`` are the one-sided
              bounds of the estimate at 1 - alpha that agree with these p before correction.
            - If some runs lack values: ``queries``, the number of queries that both runs have, on
              which the pair is compared (for MTEB's results also ``cells``, the splits and subsets
              of tasks).
            - With predicted judgments: ``rho``, the correlation of predicted and human differences,
              and ``n_effective``, the number of queries that would be as informative if people
              alone judged them (NaN for preferences, whose intervals include those without
              predictions).
            - ``verdict`` on ``run_a``.

            ``attrs["diagnostics"]`` has what so few queries cannot show, where a run is *not worse*
            or *within margin*; the property ``diagnostics`` has all caveats.

        Raises:
            ValueError: a measure is not a finite number for a run on a query.
        """
        table = self._stacked(by, self.tests.columns_of)
        values_given = self.compared.given
        if values_given is not None and values_given.missing_of_run:
            for side in ("b", "a"):
                shares = [
                    values_given.missing_share(run) for run in table[f"run_{side}"]
                ]
                table.insert(
                    table.columns.get_loc("mean_b") + 1, f"missing_{side}", shares
                )
        return self._with_rare_losses(table, by)

    def _with_rare_losses(
        self, table: pd.DataFrame, by: str | None, *, in_groups: bool = False
    ) -> pd.DataFrame:
        """Add to the ``attrs`` of verdicts with a margin which losses the queries may miss."""
        if self.compared.margins is not None:
            names = self.compared.names(by)
            notes = present.rare_losses(
                self, names, on_all=not in_groups, in_groups=in_groups
            )
            if sentences := [*map(str, notes)]:
                table.attrs["diagnostics"] = sentences
        return table

    @entry
    def verdicts(self, by: str | None = None, *, holds: bool = False) -> pd.DataFrame:
        """Return the verdict on the first run of each pair.

        It is ``better`` or ``worse`` if the corrected test rejects, by the sign of its estimate;
        else ``undecided``. With a margin, it is the first that holds of ``worse``, ``better`` (by
        the two-sided test, as without a margin), ``within margin``, ``not worse`` (by more than the
        margin) and ``undecided``. Ties are no evidence for ``within margin`` and ``not worse``: two
        runs that are identical on 10 queries are undecided, as up to 26% of such queries may
        differ. Sentences, marks, colours and exit codes follow this verdict alone.

        With ``holds=True``, a column ``holds`` says of *better* and *worse* whether unjudged
        documents that were retrieved down to ``depth`` (the criterion's cutoff, else 100) could
        undo the sign of the difference. It holds ``under any judging``; it ``could be undone``
        (some grades of these documents undo it); or it is ``not bounded``: this is not known, as
        bounds are not exact or missing (Wilcoxon's test, groups as units and predicted judgments
        have none), and no judging that was tried undoes it. For the difference to stay
        *significant* is more: see ``bounds``.

        Returns:
            Columns ``criterion``, ``run_a``, ``run_b``, ``verdict`` on ``run_a``, ``p_corrected``
            (two-sided, of a difference), ``difference``. With a margin, ``p_of_verdict`` is the
            corrected p of this verdict, missing for *undecided*; ``table`` has those of all.

        >>> from ir_lexirecall import compare, demo
        >>> result = compare("lexirecall/demo", demo.runs(), "lexirecall", baseline="bm25")
        >>> result.verdicts()["verdict"].tolist()
        ['undecided', 'undecided', 'undecided', 'worse']
        """
        columns = [
            "criterion",
            "run_a",
            "run_b",
            "verdict",
            "p_corrected",
            "difference",
        ]
        rows = self.table(by)
        table = self.compared.frame(rows[columns])
        table.attrs = rows.attrs
        if self.compared.margins is not None:
            position = columns.index("p_corrected")
            table.insert(position, "p_of_verdict", p_of_verdicts(rows))
        if not holds:
            return table
        labels: list[str] = []
        depths: list[int | None] = []
        for name in self.compared.names(by):
            depth, of_pairs = self.missing.holds(name)
            labels += of_pairs
            depths += [depth] * len(of_pairs)
        is_decided = table["verdict"].isin([BETTER, WORSE])
        table["holds"] = pd.Series(labels, dtype=object).where(is_decided, None)
        table["depth"] = pd.array(depths, dtype="Int64")
        return table

    @entry
    def best_set(
        self, by: str | None = None, alpha: float | None = None
    ) -> pd.DataFrame:
        """Return which runs may be the best one.

        With a confidence of 1 - alpha, the best run is among those that may be the best. Their
        ``p_not_beaten``, of the hypothesis that no run has a better mean, is above alpha. With few
        queries, a run that wins rarely but by much may be missing, because the sample may contain
        no such win (a run that gains 0.8 on a tenth of the queries is kept in 0.67 of simulations
        with 10 queries, in 0.93 with 25). A run that differs from another one on k queries is not
        ruled out by it at a level below 2^-k, the smallest one-sided p of exchanged signs.

        The test is the studentised bootstrap of the largest difference from any other run; if
        ``n_resamples`` is above 5,000 it draws half as many, but at least 5,000. It ignores
        predicted judgments.

        Args:
            by: the criterion; by default the first.
            alpha: 1 - confidence; by default that of the comparison.

        Returns:
            Columns ``run``, ``p_not_beaten`` and ``may_be_best``, in the order of ``ranking``.

        Raises:
            ValueError: values that are not finite numbers, or alpha out of range.

        Sources: Hsu, Multiple Comparisons, 1996; Mogstad, Romano, Shaikh, Wilhelm, Inference for
        Ranks with Applications to Mobility across Neighbourhoods and Academic Achievement across
        Countries, Review of Economic Studies 2024.

        >>> from ir_lexirecall import compare, demo
        >>> best = compare("lexirecall/demo", demo.runs(), "AP").best_set()
        >>> best["run"][best["may_be_best"]].tolist()
        ['bm25', 'tfidf', 'ql', 'bm25_rerank']
        """
        criterion = self.compared.criterion(by)
        alpha = self._level(alpha)
        self.compared.check_compared(criterion.name)
        self.compared.check_defined(criterion.name)
        p = self.tests.best_set_p(criterion.name)
        gains = criterion.sign * criterion.means
        return self.compared.frame(best_set_columns(self.runs, gains, p, alpha))

    def _level(self, alpha: float | None) -> float:
        """Return a level; None is that of the comparison."""
        if alpha is None:
            return self.test.alpha
        return check_number("alpha", alpha, above=0, below=1)

    @entry
    def queries_needed(
        self,
        difference: float,
        power: float = 0.8,
        by: str | None = None,
        repeats: int | None = None,
    ) -> pd.DataFrame:
        """Return how many queries like these a t-test needs to find a difference of two runs.

        Before you look at the results, name a difference that would matter, in the criterion's
        unit: the power to find an observed difference only restates its p. The interval reflects
        that these queries only estimate the variance of differences.

        The level is that of one pair, before any correction. For several pairs, divide ``alpha`` by
        their number (``with_test``): each then has this power, whatever the others show.

        With repeats, both runs have ``repeats`` of them, by default the fewest that a run has.
        There is no interval then. If seeds vary so much that no number of queries is enough, the
        number is infinity. It is NaN for identical runs, which leave the variance unknown.

        Returns:
            A row per pair: ``run_a``, ``run_b``, ``difference``, ``power``, ``queries``,
            ``ci_low``, ``ci_high``; with repeats, ``repeats`` instead of the last two.
        """
        check_number("difference", difference, above=0)
        repeated = self.compared.criterion(by).repeated
        if repeats is None and repeated is None:
            return self._planned(
                by, power, queries_for_difference, "queries", difference=difference
            )
        parts, x = self._components(by)
        if repeats is None and repeated is not None:
            repeats = max(2, int(repeated.n_repeats.min()))
        assert repeats is not None
        queries = queries_with_repeats(
            parts, difference, repeats, power, self.test.alpha
        )
        of_ties = queries_that_differ(x, power, self.test.alpha, difference)
        is_known = differing_queries(x) > 0
        queries = np.where(is_known, np.maximum(queries, of_ties), np.nan)
        return self._pair_frame(
            difference=difference, power=power, queries=queries, repeats=repeats
        )

    @entry
    def repeats_needed(
        self,
        difference: float,
        queries: int | None = None,
        power: float = 0.8,
        by: str | None = None,
    ) -> pd.DataFrame:
        """Return how many repeats both runs of a pair need to find a difference.

        The power allows for the variance and the degrees of freedom that the test must estimate.

        Args:
            difference: a difference that would matter, in the criterion's unit.
            queries: number of queries; by default that of the comparison.
            power: probability of finding it.
            by: the criterion.

        Returns:
            A row per pair: ``run_a``, ``run_b``, ``difference``, ``power``, ``queries``,
            ``repeats``; infinity if more than 1,000 are needed, or too few queries differ; NaN for
            identical runs.

        Raises:
            ValueError: there are no repeats.

        >>> from ir_lexirecall import compare
        >>> runs = {"a": [0.1, 0.0, 0.2], "b": [0.0, 0.1, 0.0]}
        >>> def of_seed(seed, n):
        ...     return {f"q{q}": {"acc": seed + q % 7 / 20 + q % n / 50} for q in range(99)}
        >>> values = {
        ...     run: [of_seed(seed, n) for seed in x] for n, (run, x) in enumerate(runs.items(), 2)
        ... }
        >>> result = compare(values=values, repeats="seeds")
        >>> result.repeats_needed(0.1)["repeats"].tolist()
        [12.0]
        """
        check_number("difference", difference, above=0)
        parts, x = self._components(by)
        if queries is None:
            queries = len(self.compared.criterion(by).query_ids)
        repeats = repeats_with_queries(
            parts, difference, queries, power, self.test.alpha
        )
        of_ties = queries_that_differ(x, power, self.test.alpha, difference)
        repeats = np.where(of_ties > queries, np.inf, repeats)
        repeats = np.where(differing_queries(x) > 0, repeats, np.nan)
        return self._pair_frame(
            difference=difference, power=power, queries=queries, repeats=repeats
        )

    def _pair_frame(self, **columns: Any) -> pd.DataFrame:
        """Return a table with a row per pair: the names of the two runs, then these columns."""
        return self.compared.frame(self.compared.pair_columns | columns)

    def _components(self, by: str | None) -> tuple[Components, Floats]:
        """Return the components of variance of every pair, as plans need them.

        Also return the observed differences of averages over repeats, shape ``(P, Q)``.

        Raises:
            ValueError: there are no repeats.
        """
        criterion = self.compared.criterion(by)
        if criterion.repeated is None:
            raise ValueError(
                f"{criterion.name}: there are no repeats; pass repeats= to compare"
            )
        _check_has_variance(criterion)
        x = all_differences(criterion, self.compared.pair_indices)
        parts = criterion.components(self.compared.pair_indices)
        return parts.among_ties(x), x

    def _check_no_seeds(self, by: str | None, way_out: str) -> None:
        """Raise if runs have seeds, which a method does not allow for."""
        if has_seeds(self.compared.criterion(by)):
            raise ValueError(f"it does not allow for seeds; {way_out}")

    @entry
    def queries_for_margin(
        self, margin: float, power: float = 0.8, by: str | None = None
    ) -> pd.DataFrame:
        """Return how many queries are needed to show that a run is not worse by more than a margin.

        They show it with a probability of ``power`` if the run is as good as the other one. As in
        ``queries_needed``, the level is that of one pair.

        Returns:
            Columns as in ``queries_needed``, with ``margin`` for the difference.
        """
        check_number("margin", margin, above=0)
        self._check_no_seeds(by, "see queries_needed")
        width = self.compared.criterion(by).largest_loss(margin)
        plan = partial(queries_for_margin, width=width)
        return self._planned(by, power, plan, "queries", margin=margin)

    @entry
    def detectable(self, power: float = 0.8, by: str | None = None) -> pd.DataFrame:
        """Return the smallest difference that a t-test finds on these queries.

        It finds the difference with a probability of ``power``. As in ``queries_needed``, the level
        is that of one pair.

        Returns:
            A row per pair: ``run_a``, ``run_b``, ``power``, ``difference``, ``ci_low``,
                ``ci_high``; infinity if too few queries differ to find any difference; NaN for
                identical runs. With seeds there is no interval (NaN).
        """
        criterion = self.compared.criterion(by)
        seeds = criterion.variance_with_seeds(self.compared.pair_indices)
        if seeds is not None:
            x = all_differences(criterion, self.compared.pair_indices)
            difference = seeds.detectable(x, power, self.test.alpha)
            return self._pair_frame(
                power=power, difference=difference, ci_low=np.nan, ci_high=np.nan
            )
        return self._planned(by, power, detectable_difference, "difference")

    def _planned(
        self, by: str | None, power: float, plan: Any, name: str, **named: float
    ) -> pd.DataFrame:
        """Return a plan for each pair, by the differences that were observed.

        Args:
            by: the criterion.
            power: probability to find a difference.
            plan: function of differences, the named number, power and alpha; see ``Planned``.
            name: column of the result.
            named: a difference or a margin, with the name of its column.
        """
        criterion = self.compared.criterion(by)
        check_number("power", power, above=0, below=1)
        if self.test.cluster:
            raise ValueError(
                "planning counts queries that are independent of each other; "
                "compare without cluster=True"
            )
        self.compared.check_defined(criterion.name)
        _check_has_variance(criterion)
        planned = []
        for _, part in self.compared.pair_parts:
            blocks = part.by[criterion.name].differences(*part.pair_indices)
            of_blocks = [
                plan(x, *named.values(), power, self.test.alpha) for x in blocks
            ]
            planned.append(Planned.concatenate(of_blocks).arrays)
        arrays = self.compared.joined_each(planned)
        ends = zip((name, "ci_low", "ci_high"), arrays, strict=True)
        return self._pair_frame(**named, power=power, **dict(ends))

    @entry
    def with_test(self, test: str | SignificanceTest) -> Comparison:
        """Return the same comparison with another test.

        If the test is named by a string, level, correction and seed stay as they are. Units
        (``cluster``) always stay.
        """
        if isinstance(test, SignificanceTest):
            tested = test
        else:
            tested = replace(self.test, name=test)
        tested = replace(tested, cluster=tested.cluster or self.test.cluster)
        return Comparison(replace(self.compared, test=tested))

    @entry
    def with_baseline(self, baseline: str | int | None) -> Comparison:
        """Return the same comparison against another baseline, or of all pairs."""
        name = run_name(baseline)
        if name is not None:
            check_choice("baseline", name, self.runs)
        margins = None  # a margin belongs to a baseline
        if name == self.baseline:
            margins = self.compared.margins
        compared = replace(self.compared, baseline=name, margins=margins)
        if compared.results is not None:
            compared.results.check(compared.pairs)
        return Comparison(compared)

    @entry
    def sequential(
        self, by: str | None = None, alpha: float | None = None, seed: int = 0
    ) -> pd.DataFrame:
        """Apply a sequential sign test to the queries in random order.

        You may stop after any query: the probability that any pair of equal runs is ever decided
        is at most alpha. This needs a random order, and it does not allow for testing the same
        queries again.

        Args:
            by: the criterion; by default the first.
            alpha: by default that of the comparison's test.
            seed: random seed of the order.

        Returns:
            A row per pair: ``run_a``, ``run_b``, ``verdict`` on ``run_a``, ``decided_after``
            (number of queries; missing if it was not decided), ``queries``, and the evidence at
            that point: ``e``, and ``e_corrected`` over the pairs (e-Holm: the smallest mean of the
            pair's e-value and any others; at least e / number of pairs). A pair is decided if
            ``e_corrected`` reaches 1 / alpha.
        """
        if self.test.cluster:
            raise ValueError(
                "the sequential test looks at queries that are independent of each other; "
                "compare without cluster=True"
            )
        self._check_no_seeds(by, "see table")
        criterion = self.compared.criterion(by)
        alpha = self.test.alpha if alpha is None else alpha
        of_pairs = np.concatenate(list(criterion.signs(*self.compared.pair_indices)))
        is_corrected = self.test.correction is not None
        signs = sequential_signs(
            criterion.sign * of_pairs, alpha, seed, correct=is_corrected
        )
        is_decided = signs.decided_after > 0
        table = self._pair_frame(
            verdict=two_sided(is_decided, signs.sign),
            decided_after=np.where(is_decided, signs.decided_after, np.nan),
            queries=of_pairs.shape[1],
            e=signs.e,
            e_corrected=signs.e_corrected,
        )
        table.attrs |= {
            "test": {criterion.name: "sequential sign"},
            "correction": f"e-Holm over {len(self.pairs)} pairs"
            if is_corrected
            else None,
            "alpha": alpha,
            "seed": seed,
        }
        return table

    # -- groups of queries -----------------------------------------------------------------------

    @entry
    def group_means(self, by: str | None = None) -> pd.DataFrame:
        """Return ``means`` on the queries of each group.

        Arguments, ``group``, ``queries`` and errors are as in ``group_table``.
        """
        return self._stacked(
            by,
            lambda name: [part.means_of(name) for part in self.tests.by_group],
            in_groups=True,
        )

    @entry
    def group_table(self, by: str | None = None) -> pd.DataFrame:
        """Return ``table`` for the queries of each group.

        The column ``group`` names the group, ``queries`` counts its queries. ``p_corrected`` (and
        so ``verdict``) and the four p of a margin are corrected over all pairs in all groups,
        ``worse_p`` and ``better_p`` over all criteria, too. Numbers of two runs that share no query
        with results in a group are missing there, counts 0; corrections count them as comparisons.
        ``attrs["diagnostics"]`` is as in ``table``.

        Raises:
            ValueError: no groups were given, or they are the units of the tests.

        >>> from ir_lexirecall import compare, demo
        >>> groups = {f"q{i:02}": "first" if i <= 8 else "second" for i in range(1, 17)}
        >>> result = compare(demo.qrels(), demo.runs(), "AP", baseline="bm25", groups=groups)
        >>> table = result.group_table()
        >>> columns = ["group", "queries", "run_a", "difference", "p_corrected"]
        >>> table[table["p"] <= 0.05][columns].round(3)
            group  queries    run_a  difference  p_corrected
        3   first        8  overlap      -0.366        0.062
        7  second        8  overlap      -0.365        0.062
        """
        table = self._stacked(
            by, lambda name: self.tests.columns_of(name, in_groups=True), in_groups=True
        )
        return self._with_rare_losses(table, by, in_groups=True)

    @entry
    def group_differences(
        self, by: str | None = None, alpha: float | None = None
    ) -> pd.DataFrame:
        """Test whether the difference of a pair varies between groups of queries.

        Use this test instead of looking for groups with a significant difference: if effects are
        equal in two groups, often only one is significant.

        Args:
            by: a criterion; by default all.
            alpha: by default that of the test.

        Returns:
            A row per criterion and pair of runs: ``criterion``, ``run_a``, ``run_b``; ``f`` and
            ``p`` of Welch's test that the mean differences of all groups are equal (and of a
            permutation of queries between groups, for skewed differences); ``p_corrected`` over the
            pairs; ``differ``, whether ``p_corrected`` is at most alpha. They are missing if a group
            has fewer than two queries, if all its differences are equal, or if the two runs share
            no query with results there.

        Raises:
            ValueError: no groups were given, or they are the units of the tests.

        >>> from ir_lexirecall import compare, demo
        >>> groups = {f"q{i:02}": "first" if i <= 8 else "second" for i in range(1, 17)}
        >>> result = compare(demo.qrels(), demo.runs(), "AP", baseline="bm25", groups=groups)
        >>> result.group_differences()[["run_a", "p", "differ"]].round(2)
                 run_a     p  differ
        0  bm25_rerank  0.86   False
        1           ql  1.00   False
        2        tfidf  0.75   False
        3      overlap  0.99   False
        """
        level = self._level(alpha)

        def tested(name: str) -> list[dict[str, Any]]:
            pairs = self.compared.pair_indices
            groups = self.compared.by_group.values()
            parts = [all_differences(part.by[name], pairs) for part in groups]
            apart = np.any([*self.compared.apart_by_group.values()], axis=0)
            f, p = np.where(apart, np.nan, heterogeneity(parts, self.test.seed))
            adjusted, _ = corrected(p, self.test.correction, level)
            columns = {
                "f": f,
                "p": p,
                "p_corrected": adjusted,
                "differ": adjusted <= level,
            }
            return [self.compared.pair_columns | columns]

        return self._stacked(by, tested)

    # -- missing judgments -----------------------------------------------------------------------

    @entry
    def bounds(
        self,
        by: str | None = None,
        depth: DepthLike = "default",
        *,
        max_rel: float | None = None,
        unretrieved: int = 0,
    ) -> pd.DataFrame:
        """Return the bounds of each comparison under any judging of retrieved unjudged documents.

        An unjudged document counts as not relevant; here it may have any grade. It has the same
        grade in both rankings, so documents that both retrieved at the same rank cancel.

        Args:
            by: a criterion; by default all.
            depth: unjudged documents below this rank of both rankings are not relevant; by default
                the criterion's cutoff, or 100 if it has no cutoff. None: whole rankings.
            max_rel: top grade of the scale; by default the measure's own, else the highest grade of
                the qrels.
            unretrieved: the largest number of relevant documents of each query that neither run
                retrieved and nobody judged.

        Returns:
            A row per criterion and pair. For a preference, numbers of queries (of all those of the
            qrels): ``certain_wins`` (``run_a`` wins under some judging, ``run_b`` under none),
            ``certain_losses``, ``open`` (either run can win, or, on a query without a known
            relevant document that is now a tie, one of them), ``certain_ties``. For a measure,
            ``low`` and ``high`` of the mean difference, and ``ci_low`` and ``ci_high``, which also
            allow for the sampling of queries. They contain the interval of the mean difference in
            ``table`` (of the t-test if the test is the sign or Wilcoxon's test, which estimate
            something else; missing with ``cluster=True``). ``exact``: whether some judging reaches
            the bounds. ``depth``: the last rank of unjudged documents that count; missing for whole
            rankings.

        Raises:
            ValueError: no criterion has a proven algorithm, ``depth`` is above a cutoff, or the
                runs cannot be read again.
        """
        return self.missing.bounds(by, Judgings(depth, max_rel, unretrieved))

    @entry
    def to_judge(
        self,
        n: int = 100,
        by: str | None = None,
        depth: DepthLike = "default",
        *,
        max_rel: float | None = None,
    ) -> pd.DataFrame:
        """Return the n unjudged documents whose judgment decides most, by one criterion.

        Documents that cannot change which run is better are left out; once all others are judged,
        no pair is open.

        Args:
            n: number of documents, at most.
            by: the criterion; by default the first.
            depth: as in ``bounds``.
            max_rel: as in ``bounds``.

        Returns:
            Columns ``query_id``, ``doc_id``, ``decides`` (how differently the two runs rank it,
            summed over the pairs that can still change; 0 if they rank it alike by the criterion),
            ``runs`` (the number that retrieved it), and ``rank_NAME`` for every run.
        """
        return self.missing.to_judge(n, by, Judgings(depth, max_rel))

    # -- what decided ------------------------------------------------------------------------------

    @entry
    def explain(self, a: str, b: str, by: str | None = None) -> pd.DataFrame:
        """Return which of two runs is better on each query, and what decided.

        Returns:
            A row per query, in the order of their numbers if all ids are integers: ``query_id``,
            ``winner`` (missing if they tie, or are not comparable), ``preference`` for ``a`` over
            ``b`` (for a measure, 1, 0 or -1). For ``lexirecall`` and the two lexiprecisions also
            ``level`` (i, if the i-th relevant document decided), ``tied_levels`` (number of levels
            that tied before), ``doc_id`` (the winner's i-th relevant document), ``rank_a`` and
            ``rank_b`` (the rank of each run's i-th relevant document; missing if it has fewer) and
            ``other_doc_id`` (the loser's document). For recall-paired preferences ``levels_a`` and
            ``levels_b`` (number of levels at which each run is ahead); for measures ``value_a`` and
            ``value_b``. With repeats the preference is an average, without these columns.
        """
        return explained(self.compared, a, b, by)

    @entry
    def disagreements(
        self, by_a: str, by_b: str, run_a: str, run_b: str
    ) -> pd.DataFrame:
        """Return the queries on which two criteria prefer different runs, and what decided each.

        Queries are left out if either criterion has a tie, or cannot compare the runs.

        Returns:
            A row per query, the strongest disagreement first: ``query_id``; for each criterion the
            columns of ``explain``, with its name in front (``"AP winner"``, ``"lexirecall level"``,
            ``"lexirecall rank_a"``, ...); and ``strength``, the product of the two differences (for
            a preference, its value). ``attrs["counts"]`` has the number of queries that either
            criterion counts, on which they disagree (also in each direction), and on which they
            agree.

        Raises:
            ValueError: an unknown criterion or run, or the same one twice.

        >>> from ir_lexirecall import compare, demo
        >>> result = compare("lexirecall/demo", demo.runs(), ["nDCG@10", "lexirecall"])
        >>> table = result.disagreements("nDCG@10", "lexirecall", "bm25", "ql")
        >>> table.attrs["counts"]["disagree"] == len(table)
        True
        """
        return disagreements(self.compared, by_a, by_b, run_a, run_b)

    # -- for readers -------------------------------------------------------------------------------

    @property
    def diagnostics(self) -> list[str]:
        """Reasons not to trust the result, in words, the gravest first; empty if there are none."""
        return [*present.comparison_caveats(self)]

    @entry
    def summary(self, full: bool = False) -> str:
        """Return the result at a glance, as ``print`` shows it.

        Args:
            full: show every run, column and caveat, and how the result was made.
        """
        glance = present.comparison_glance(self)
        if full:
            return present.full_text(glance, self.provenance)
        return str(glance)

    @entry
    def to_markdown(
        self, places: int = 4, *, holds: bool = False, columns: str = "means"
    ) -> str:
        """Return a table for a paper in Markdown; arguments as in ``to_latex``."""
        table = present.comparison_table(self, places, holds=holds, columns=columns)
        return table.markdown()

    @entry
    def to_latex(
        self,
        places: int = 4,
        *,
        label: str = "tab:comparison",
        holds: bool = False,
        columns: str = "means",
        caption: str | None = None,
    ) -> str:
        r"""Return a table for a paper, as a LaTeX ``table`` with caption, label and notes.

        Args:
            places: decimal places.
            label: of the table.
            holds: mark differences that unjudged documents might undo with a dagger; see
                ``verdicts``. Without daggers, the caption says how many marks they might undo.
            columns: ``"means"``: a row per run, best first, the best in bold, marked by the
                verdicts; ``"differences"``: a row per criterion and pair, with difference, interval
                and p; with a margin, p is that of the verdict, which follows with its bound.
            caption: the first sentence of the caption; by default what was compared.

        >>> from ir_lexirecall import compare, demo
        >>> result = compare("lexirecall/demo", demo.runs(), "AP", baseline="ql")
        >>> print(result.to_latex(3, columns="differences", caption="Against ql.").splitlines()[-4])
        overlap      &   $-$0.349 & $^{-}$ & $-$0.436 to $-$0.263 &           0.00012 \\
        """
        table = present.comparison_table(
            self, places, holds=holds, columns=columns, caption=caption
        )
        return table.latex(label=label)

    def _repr_html_(self) -> str:
        return plots.notebook(self)

    @entry
    def plot(self, kind: str = "means", *args: Any, **options: Any) -> Any:
        """Draw a picture of the result.

        ``plot(kind, by, ax=ax)`` is ``ir_lexirecall.plots.KIND(result, by, ax=ax)``.

        Args:
            kind: ``"means"`` with intervals; ``"differences"`` from the baseline, else from the
                leader, with intervals (``"groups"``: in each group of queries); ``"heatmap"`` of
                all pairs, with marks for the verdicts; ``"pair"``: where runs ``a`` and ``b``
                differ, query by query.
            *args: ``by``, by default the first criterion; for ``"pair"``: ``a, b, by``.
            **options: ``ax``, by default new axes.

        Returns:
            The axes.

        Raises:
            ValueError: unknown kind.
        """
        return plots.picture(Comparison, kind)(self, *args, **options)

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        criteria = ", ".join(self.criteria)
        return f"<Comparison of {len(self.runs)} runs by {criteria}; print() shows what it says>"


def _check_has_variance(criterion: Criterion) -> None:
    """Raise if there are fewer than two queries, which have no variance of differences."""
    n_queries = len(criterion.query_ids)
    if n_queries < 2:
        of = ""
        if isinstance(criterion, PreferenceCriterion):
            of = " with relevant documents"
        raise ValueError(
            f"{criterion.name}: the variance needs at least 2 queries{of}, not {n_queries}"
        )
