"""``BenchmarkSuite``: runs on many collections, and what holds over all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import groupby
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ir_lexirecall import plots, text
from ir_lexirecall.arrays import Floats
from ir_lexirecall.benchmark import inference
from ir_lexirecall.benchmark.single import Benchmark
from ir_lexirecall.errors import check_choice
from ir_lexirecall.preferences.result import Preferences
from ir_lexirecall.provenance import versions
from ir_lexirecall.significance import SignificanceTest, TestResult, corrected, effect_of_mean
from ir_lexirecall.significance.intervals import agreeing
from ir_lexirecall.summary import (
    BROKEN,
    DOUBTFUL,
    FEW_QUERIES,
    Finding,
    Note,
    correction_words,
    count,
    gravest_first,
    grouped,
    html,
    leading_overall,
    listed,
)

if TYPE_CHECKING:
    import pandas as pd

_T = TypeVar("_T")
OVER = ("queries", "collections")
_ROWS = 500  # of values that are resampled at once
_MOST_DRAWN = 40  # runs in the picture of a notebook
_PREFERENCE = "pref:"  # begins the names of preferences where measures stand beside them


@dataclass(frozen=True)
class BenchmarkSuite:
    """What ``benchmark`` found on many collections.

    Methods take ``measure``, a measure or preference (the first one by default); ``over``, what is a sample: ``'queries'`` of these
    collections, or ``'collections'``, too; ``queries``, how many there would be; ``power``, the one to reach; ``places``, decimal
    places; ``ax``, matplotlib's axes to draw on (new ones by default).

    Attributes:
        results: the result of each collection, by its name.
        baseline: the run that all others are compared with, or None.
        test: how differences are tested within a collection; its alpha, correction, n_resamples and seed also hold over
            collections (there the correction counts for Tukey's HSD, too: what is tested is not its statistic).
        lacking: for each run that some collections lack, these collections. ``overall`` leaves such runs out.
    """

    results: Mapping[str, Benchmark]
    baseline: str | None = None
    test: SignificanceTest = field(default_factory=SignificanceTest)
    lacking: Mapping[str, list[str]] = field(default_factory=dict)
    _cache: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def collections(self) -> list[str]:
        """Names of the collections, in order."""
        return list(self.results)

    @cached_property
    def runs(self) -> list[str]:
        """Names of the runs that every collection has, in order."""
        return [run for run in next(iter(self.results.values())).runs if run not in self.lacking]

    @property
    def measures(self) -> list[str]:
        """Names of the measures, in order."""
        return next(iter(self.results.values())).measures

    @property
    def smaller_is_better(self) -> frozenset[str]:
        """Names of the measures of which the smaller value is better."""
        return next(iter(self.results.values())).smaller_is_better

    def _sign(self, measure: str) -> int:
        """-1 for a measure of which the smaller value is better, else 1."""
        return -1 if measure in self.smaller_is_better else 1

    @property
    def preferences(self) -> dict[str, Preferences | None]:
        """The preferences on each collection; None where it has a single run."""
        return {name: result.preferences for name, result in self.results.items()}

    @cached_property
    def table(self) -> pd.DataFrame:
        """Means, a row per collection and run (index ``collection``, ``run``), a column per measure."""
        return self._stacked({name: result.table for name, result in self.results.items()})

    @cached_property
    def per_query(self) -> pd.DataFrame:
        """Values, a row per collection, run and query (index), a column per measure."""
        return self._stacked({name: result.per_query for name, result in self.results.items()})

    def means(self) -> pd.DataFrame:
        """``Benchmark.means`` of every collection, with a column ``collection`` before: BCa intervals and letters."""
        return self._listed({name: result.means() for name, result in self.results.items()})

    def tests(self) -> pd.DataFrame:
        """``Benchmark.tests`` of every collection, with a column ``collection`` before."""
        return self._listed({name: result.tests() for name, result in self.results.items()})

    def power(self, queries: int | None = None) -> pd.DataFrame:
        """``Preferences.power`` of every collection, with a column ``collection`` before."""
        return self._listed({name: p.power(queries) for name, p in self.preferences.items() if p is not None})

    def queries_needed(self, power: float = 0.8) -> pd.DataFrame:
        """``Preferences.queries_needed`` of every collection, with a column ``collection`` before."""
        return self._listed({name: p.queries_needed(power) for name, p in self.preferences.items() if p is not None})

    def _stacked(self, tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
        import pandas as pd

        plain = {name: _without_attrs(table) for name, table in tables.items()}
        table = pd.concat(plain, names=["collection"])
        table.attrs.update(self.provenance)
        return table

    def _listed(self, tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
        import pandas as pd

        parts = [_without_attrs(table) for table in tables.values()]
        for name, part in zip(tables, parts, strict=True):
            part.insert(0, "collection", name)
        table = pd.concat(parts, ignore_index=True)
        table.attrs.update(self.provenance)
        return table

    @property
    def provenance(self) -> dict[str, Any]:
        """What was evaluated, and how: in the ``attrs`` of every table, and below every text."""
        rules = {
            name: result.table.attrs["rules"] for name, result in self.results.items() if "rules" in result.table.attrs
        }
        metadata = {name: dict(result.metadata) for name, result in self.results.items() if result.metadata}
        return {
            "collections": self.collections,
            "queries": {name: len(result.query_ids) for name, result in self.results.items()},
            "baseline": self.baseline,
            "test": self.test.name,
            "correction": self.test.counted_correction,
            "alpha": self.test.alpha,
            "n_resamples": self.test.n_resamples,
            "seed": self.test.seed,
            "rules": rules or None,
            "lacking": dict(self.lacking) or None,
            "metadata": metadata or None,
            "versions": versions(),
        }

    # -- over collections ----------------------------------------------------------------------------

    def overall(self, over: str = "queries") -> pd.DataFrame:
        """What holds over all collections: a row per measure (or preference) and run, each collection counting once.

        Columns: ``measure`` (a preference has ``pref:`` before its name), ``run``; the macro ``mean`` (of a preference: over
        all other runs) with its interval ``ci_low``, ``ci_high``; ``mean_rank`` over collections, 1 the best; the interval of the run's
        rank by its macro mean, ``rank_low``, ``rank_high``, which holds also where many runs are nearly equal; ``rank_from``,
        ``rank_to``: from where to where 1 - alpha of the resamples put it. With a baseline, the macro ``difference`` (of a
        preference: the mean preference over the baseline) with its interval, ``p``, ``p_corrected`` and ``reject`` (by the
        correction of ``test``, over the runs of one measure). Ranks know of which measures the smaller value is better; differences
        are those of the values, so that there a negative one is a gain. Over collections also the random-effects mean of the
        differences, ``effect``, with its interval, ``tau2`` (variance of the true differences between collections), ``i2``
        (share of the variance that is not chance) and ``p_heterogeneity``.

        Args:
            over: ``"queries"``: these collections are the benchmark, queries are resampled within each; ``"collections"``:
                they are a sample of tasks, collections are resampled, then the queries of each.

        Returns:
            A DataFrame; its ``attrs`` hold the provenance.

        Raises:
            ValueError: ``over`` is neither, no run is common to all collections, or a collection has no query with relevant
                documents.
            ModuleNotFoundError: random effects without statsmodels.
        """
        import pandas as pd

        check_choice("overall", "over", over, OVER)
        if over not in self._cache:
            if not self.runs:
                raise ValueError("overall: no run is common to all collections")
            tables = [self._overall_of(*part, over) for part in self._all_resampled(over)]
            self._cache[over] = pd.concat(tables, ignore_index=True)
            self._cache[over].attrs.update(self.provenance | {"over": over, "correction": self.test.correction})
        table: pd.DataFrame = self._cache[over].copy()
        return table

    @cached_property
    def _quantities(self) -> list[str]:
        """Measures, and preferences, that are summed up over collections."""
        preferences = next(iter(self.results.values())).preferences
        names = [] if preferences is None or len(self.runs) < 2 else preferences.preferences
        return [*self.measures, *(f"{_PREFERENCE}{name}" for name in names)]

    def _name(self, measure: str | None) -> str:
        if measure is None:
            return self._quantities[0]
        named = f"{_PREFERENCE}{measure}"
        return check_choice(
            "overall",
            "measure",
            named if named in self._quantities and measure not in self._quantities else measure,
            self._quantities,
        )

    def values(self, measure: str) -> list[Floats]:
        """Values of a measure (``pref:``: mean preferences against all others) per collection, shape ``(S, Q_d)`` each."""
        arrays = []
        for name, result in self.results.items():
            place = [result.runs.index(run) for run in self.runs]
            if measure.startswith(_PREFERENCE):
                assert result.preferences is not None
                x = result.preferences.counts.count(measure.removeprefix(_PREFERENCE)).against_others.T[place]
            else:
                x = result.values(measure)[place]
            if not x.shape[1]:
                raise ValueError(f"overall: no query of collection {name!r} has a relevant document")
            if not np.isfinite(x).all():
                run, query = np.argwhere(~np.isfinite(x))[0].tolist()
                raise ValueError(
                    f"overall: collection {name!r}: {measure} is {'not a number' if np.isnan(x[run, query]) else 'infinite'} for "
                    f"run {self.runs[run]!r} on query {result.query_ids[query]!r}; leave this measure out"
                    + (", or give it n, the number of documents" if np.isinf(x[run, query]) else "")
                )
            arrays.append(np.ascontiguousarray(x))
        return arrays

    def differences(self, measure: str) -> list[Floats]:
        """Differences of all other runs to the baseline per collection (``pref:``: preferences over it), ``(S - 1, Q_d)`` each."""
        if self.baseline is None:
            raise ValueError("overall: there is no baseline to differ from; give benchmark one")
        others = self._others
        if not measure.startswith(_PREFERENCE):
            base = self.runs.index(self.baseline)
            keep = [self.runs.index(run) for run in others]
            return [x[keep] - x[base] for x in self.values(measure)]
        arrays = []
        for result in self.results.values():
            assert result.preferences is not None
            place = [result.runs.index(run) for run in others]
            base = result.runs.index(self.baseline)
            blocks = result.preferences.counts.of_pairs(measure.removeprefix(_PREFERENCE), place, [base] * len(place))
            arrays.append(np.concatenate(list(blocks)))
        return arrays

    def _resampled(self, values: list[Floats], over: str) -> inference.Resamples:
        resample = inference.stratified_bootstrap if over == "queries" else inference.two_level_bootstrap
        return resample(values, n_resamples=self.test.n_resamples, seed=self.test.seed, progress=self.test.progress)

    @property
    def _others(self) -> list[str]:
        """The runs that differ from a baseline."""
        return [] if self.baseline is None else [run for run in self.runs if run != self.baseline]

    def _all_resampled(self, over: str) -> Iterator[tuple[str, list[Floats], list[Floats], inference.Resamples]]:
        """Of each measure or preference its values, its differences, and resamples of both, one below the other.

        Drawing queries costs as much as a matrix product, so the same draws serve many rows at once.
        """
        parts = []
        for name in self._quantities:
            values = self.values(name)
            differences = self.differences(name) if self._others else [np.zeros((0, x.shape[1])) for x in values]
            parts.append((name, values, differences))
        # Preferences leave out queries without relevant documents, measures do not.
        for _, similar in groupby(parts, key=lambda part: [x.shape[1] for x in part[1]]):
            for group in _portions(list(similar), _ROWS // (len(self.runs) + len(self._others))):
                stacked = [np.concatenate(rows) for rows in zip(*(x for _, *both in group for x in both), strict=True)]
                resamples = self._resampled(stacked, over)
                end = 0
                for name, values, differences in group:
                    start, end = end, end + len(values[0]) + len(differences[0])
                    yield (
                        name,
                        values,
                        differences,
                        inference.Resamples(resamples.mean[start:end], resamples.error[start:end]),
                    )

    def _overall_of(
        self, measure: str, values: list[Floats], differences: list[Floats], both: inference.Resamples, over: str
    ) -> pd.DataFrame:
        import pandas as pd

        alpha, size = self.test.alpha, len(self.runs)
        resamples = inference.Resamples(both.mean[:size], both.error[:size])
        mean = inference.macro_means(values)
        low, high, _ = inference.studentised_interval(mean, inference.macro_error(values, over), resamples, alpha)
        bounds = (min(float(x.min()) for x in values), max(float(x.max()) for x in values))
        sign = self._sign(measure)
        rank_low, rank_high = inference.simultaneous_rank_interval(sign * mean, sign * resamples.mean, alpha)
        rank_from, rank_to = inference.rank_interval(sign * resamples.mean, alpha)
        columns: dict[str, Any] = {
            "measure": measure,
            "run": self.runs,
            "mean": mean,
            "ci_low": np.clip(low, *bounds),
            "ci_high": np.clip(high, *bounds),
            "mean_rank": np.mean([inference.ranks(sign * x.mean(axis=1)) for x in values], axis=0),
            "rank_low": rank_low,
            "rank_high": rank_high,
            "rank_from": rank_from,
            "rank_to": rank_to,
        }
        table = pd.DataFrame(columns)
        if not self._others:
            return table
        of_differences = inference.Resamples(both.mean[size:], both.error[size:])
        numbers = self._differences_of(measure, differences, of_differences, over, bounds)
        numbers.insert(0, "run", self._others)
        return table.merge(numbers, on="run", how="left")

    def _differences_of(
        self,
        measure: str,
        differences: list[Floats],
        resamples: inference.Resamples,
        over: str,
        bounds: tuple[float, float],
    ) -> pd.DataFrame:
        """The columns on differences to the baseline; ``bounds``: the smallest and largest of the values."""
        import pandas as pd

        alpha = self.test.alpha
        mean = inference.macro_means(differences)
        error = inference.macro_error(differences, over)
        low, high, p = inference.studentised_interval(mean, error, resamples, alpha)
        widest = 1.0 if measure.startswith(_PREFERENCE) else bounds[1] - bounds[0]
        tested = agreeing(
            TestResult(mean, low, high, p, effect_of_mean(np.concatenate(differences, axis=1))),
            alpha,
            (-widest, widest),
        )
        adjusted, reject = corrected(p, self.test.correction, alpha)
        columns: dict[str, Any] = {
            "difference": mean,
            "difference_low": tested.low,
            "difference_high": tested.high,
            "p": p,
            "p_corrected": adjusted,
            "reject": pd.array(reject, dtype="boolean"),
        }
        if over == "collections":
            means = np.stack([x.mean(axis=1) for x in differences], axis=1)
            variance = np.stack([inference.macro_error([x], "queries") ** 2 for x in differences], axis=1)
            combined = inference.random_effects(means, variance, np.array([x.shape[1] for x in differences]), alpha)
            columns |= {
                "effect": combined.mean,
                "effect_low": np.clip(combined.low, -widest, widest),
                "effect_high": np.clip(combined.high, -widest, widest),
                "tau2": combined.tau2,
                "i2": combined.i2,
                "p_heterogeneity": combined.p_heterogeneity,
            }
        return pd.DataFrame(columns)

    def by_collection(self, measure: str | None = None) -> pd.DataFrame:
        """Differences to the baseline on each collection: ``collection``, ``run``, ``difference`` and its interval.

        Of a measure or preference (by default the first measure): the mean difference over queries with its studentised
        bootstrap interval at 1 - alpha, and ``queries``. What the forest draws.
        """
        import pandas as pd

        name = self._name(measure)
        others = self._others
        values = self.values(name)
        widest = 1.0 if name.startswith(_PREFERENCE) else max(x.max() for x in values) - min(x.min() for x in values)
        tables = []
        for collection, x in zip(self.collections, self.differences(name), strict=True):
            mean = x.mean(axis=1)
            low, high, _ = inference.studentised_interval(
                mean, inference.macro_error([x], "queries"), self._resampled([x], "queries"), self.test.alpha
            )
            columns = {"collection": collection, "run": others, "queries": x.shape[1], "difference": mean}
            columns |= {
                "difference_low": np.clip(low, -widest, widest),
                "difference_high": np.clip(high, -widest, widest),
            }
            tables.append(pd.DataFrame(columns))
        table = pd.concat(tables, ignore_index=True)
        table.attrs.update(self.provenance | {"measure": name})
        return table

    def friedman(self, measure: str | None = None) -> dict[str, Any]:
        """Friedman's test that all runs rank alike over collections, and Nemenyi's comparison of all pairs after it.

        Returns:
            ``chi2`` and ``p`` of Friedman's test (NaN for fewer than 3 runs), ``critical_difference`` of mean ranks at alpha,
            ``mean_rank`` (a Series, best first) and ``p_pairs`` (a DataFrame, by Nemenyi).
        """
        import pandas as pd

        name = self._name(measure)
        means = self._sign(name) * np.stack([x.mean(axis=1) for x in self.values(name)])
        chi2, p = inference.friedman(means)
        difference, pairs = inference.nemenyi(means, self.test.alpha)
        mean_rank = np.stack([inference.ranks(row) for row in means]).mean(axis=0)
        return {
            "measure": name,
            "chi2": chi2,
            "p": p,
            "critical_difference": difference,
            "mean_rank": pd.Series(mean_rank, index=self.runs, name="mean_rank").sort_values(kind="stable"),
            "p_pairs": pd.DataFrame(pairs, index=self.runs, columns=self.runs),
        }

    @property
    def diagnostics(self) -> list[str]:
        """When not to trust a result, in words, the gravest first; empty where nothing stands out."""
        return [*self.notes]

    @cached_property
    def notes(self) -> list[Note]:
        """The diagnostics with how grave they are."""
        notes = [
            Note(f"{run} is missing for {', '.join(names)}: it is left out of what is said over collections.", BROKEN)
            for run, names in self.lacking.items()
        ]
        if len(self.collections) < 5:
            notes.append(
                Note(
                    f"Only {count(len(self.collections), 'collection')}: little can be said of others (over='collections')."
                )
            )
        small = [name for name, result in self.results.items() if len(result.query_ids) < 25]
        if small:
            notes.append(Note(f"Fewer than 25 queries: {', '.join(small)}.", DOUBTFUL))
        for name, result in self.results.items():
            notes += [note.within(name) for note in result.notes_on_data if note.kind != FEW_QUERIES]
        return gravest_first(notes)

    # -- the finding -----------------------------------------------------------------------------------

    @cached_property
    def finding(self) -> Finding:
        """What ``summary`` says, in parts."""
        return self.finding_over("queries")

    def finding_over(self, over: str) -> Finding:
        """What ``summary`` says, in parts.

        Args:
            over: what is a sample, as in ``overall``.
        """
        queries = sum(len(result.query_ids) for result in self.results.values())
        head = (
            f"{count(len(self.runs), 'run')} on {count(len(self.collections), 'collection')} ({listed(self.collections)}; "
            f"{count(queries, 'query')}), by {listed(self._quantities)}; each collection counts once."
        )
        if not self.runs:
            return Finding([head, "No run is common to all collections."], grouped(self.notes))
        try:
            overall = self.overall(over)
        except ValueError as error:
            sentence = f"Nothing can be said over collections: {str(error).removeprefix('overall: ')}."
            return Finding([head, sentence], grouped(self.notes))
        falling = self.smaller_is_better
        rows = [overall[overall["measure"] == name] for name in self._quantities]
        ordered = [
            part.sort_values("mean", ascending=name in falling, kind="stable")
            for name, part in zip(self._quantities, rows, strict=True)
        ]
        resampled = "stratified bootstrap over queries" if over == "queries" else "two-level bootstrap over collections"
        how = f"{resampled}, {100 * (1 - self.test.alpha):g} % intervals"
        notes, alpha = grouped(self.notes), self.test.alpha
        return leading_overall([head], ordered, self.baseline, how=how, notes=notes, alpha=alpha, falling=falling)

    def summary(self, over: str = "queries") -> str:
        """The result in a few sentences: what was evaluated on which collections, who leads over all of them, who may be first
        as well, who differs from the baseline, what should be distrusted; then the runs, best first by the first measure.

        Args:
            over: what is a sample, as in ``overall``.
        """
        check_choice("summary", "over", over, OVER)
        return str(self.finding if over == "queries" else self.finding_over(over))

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        return (
            f"<BenchmarkSuite: {count(len(self.runs), 'run')} by {listed(self.measures)} on "
            f"{count(len(self.collections), 'collection')}; print() shows what it says>"
        )

    # -- for readers -----------------------------------------------------------------------------------

    @property
    def caption(self) -> str:
        """The provenance in one line."""
        queries = ", ".join(f"{name} ({len(result.query_ids)})" for name, result in self.results.items())
        rules = self.provenance["rules"] or {}
        facts = [
            f"collections (queries): {queries}",
            *(
                [f"baseline {self.baseline} (+ significantly better, - worse than it)"]
                if self.baseline is not None
                else []
            ),
            f"{self.test.name} test within each collection, differences over collections by a bootstrap",
            f"alpha {self.test.alpha:g}",
            *([correction_words(self.test.correction)] if self.test.correction else []),
            f"{self.test.n_resamples} resamples, seed {self.test.seed}",
            *(f"{name}: {rule}" for name, rule in rules.items()),
            *(f"{run} left out, missing for {', '.join(names)}" for run, names in self.lacking.items()),
            ", ".join(f"{name} {number}" for name, number in versions().items()),
        ]
        return "; ".join(facts)

    def to_markdown(self, over: str = "queries", places: int = 4) -> str:
        """``overall`` in Markdown, with the provenance below."""
        rows, align = self._cells(over, places, text.escape_markdown, "**{}**", "{}<sup>{mark}</sup>")
        return f"{text.markdown_table(rows, align)}\n\n{text.escape_markdown(self.caption)}"

    def to_latex(self, over: str = "queries", places: int = 4) -> str:
        """``overall`` in LaTeX (booktabs), with the provenance as a comment."""
        rows, align = self._cells(over, places, text.escape_latex, "\\textbf{{{}}}", "{}$^{{{mark}}}$")
        return f"% {text.printable(self.caption)}\n{text.latex_table(rows, align)}"

    def marks(self, over: str = "queries") -> list[str]:
        """For each row of ``overall``: ``+`` where the run is significantly better than the baseline, ``-`` where it is worse.

        By the corrected p. Of a measure of which the smaller value is better, a run is better where its difference is negative.
        """
        table = self.overall(over)
        if "difference" not in table:
            return [""] * len(table)
        rise = table["difference"].to_numpy(np.float64) * [self._sign(name) for name in table["measure"]]
        rejected = table["reject"].fillna(False).to_numpy(bool)
        return [("+" if gain > 0 else "-") if reject else "" for gain, reject in zip(rise, rejected, strict=True)]

    def _cells(
        self, over: str, places: int, escape: Any, bold: str, superscript: str
    ) -> tuple[list[list[str]], list[str]]:
        """``overall`` as texts: numbers with their intervals in one cell, the best mean of a measure bold."""
        table = self.overall(over)

        def interval(row: Any, value: str, low: str, high: str, shown: Callable[[str], str] = str) -> str:
            numbers = [text.format_number(float(row[name]), places) for name in (value, low, high)]
            return "-" if np.isnan(row[value]) else f"{shown(numbers[0])} ({numbers[1]} to {numbers[2]})"

        heads = ["measure", "run", "mean (interval)", "mean rank", "rank"]
        heads += [f"difference to {self.baseline}", "p corrected"] if "difference" in table else []
        heads += ["random effects", "I2"] if "effect" in table else []
        rows = [list(map(escape, heads))]
        risen = table["mean"] * [self._sign(name) for name in table["measure"]]
        best = risen == risen.groupby(table["measure"]).transform("max")
        tied = table.groupby("measure")["mean"].transform("nunique") == 1
        for (_, row), mark, top in zip(table.iterrows(), self.marks(over), best & ~tied, strict=True):
            mean = interval(row, "mean", "ci_low", "ci_high", bold.format if top else str)
            cells = [escape(str(row["measure"])), escape(str(row["run"])), mean]
            cells += [f"{row['mean_rank']:.2f}", f"{row['rank_low']} to {row['rank_high']}"]
            if "difference" in table:
                marked = partial(superscript.format, mark=mark) if mark else str
                cells += [interval(row, "difference", "difference_low", "difference_high", marked)]
                cells += [escape(text.format_p(float(row["p_corrected"])))]
            if "effect" in table:
                cells += [interval(row, "effect", "effect_low", "effect_high"), text.format_number(float(row["i2"]), 2)]
            rows.append(cells)
        return rows, ["left", "left", *("right" for _ in heads[2:])]

    def _repr_html_(self) -> str:
        drawn = self.finding.ranking is not None and 1 < len(self.runs) <= _MOST_DRAWN
        size = (7.0, 1.5 + 0.32 * len(self.runs))
        return html(
            self.finding, plots.inline(self.plot_ranks, size, self.finding.title) if drawn else "", self.caption
        )

    def plot(self, measure: str | None = None, ax: Any = None) -> Any:
        """Forest of the differences to the baseline, per collection and over all; returns the axes."""
        name = self._name(measure)
        overall = self.overall("queries")
        return plots.forest(
            self.by_collection(name),
            overall[overall["measure"] == name],
            name,
            self.baseline,
            caption=self.caption,
            ax=ax,
        )

    def plot_ranks(self, measure: str | None = None, ax: Any = None, over: str = "queries") -> Any:
        """Ranks by macro mean with their intervals, best first; returns the axes."""
        name = self._name(measure)
        overall = self.overall(over)
        rows = overall[overall["measure"] == name]
        rows = rows.sort_values("mean", ascending=name in self.smaller_is_better, kind="stable")
        return plots.rank_intervals(rows, name, caption=self.caption, ax=ax)

    def plot_cd(self, measure: str | None = None, ax: Any = None) -> Any:
        """Critical-difference diagram of mean ranks (Demsar 2006): runs under one bar are not told apart; returns the axes."""
        test = self.friedman(measure)
        return plots.critical_differences(
            test["mean_rank"], test["critical_difference"], test["measure"], caption=self.caption, ax=ax
        )


def _portions(several: Sequence[_T], most: int) -> Iterator[Sequence[_T]]:
    """Parts of a sequence of at most so many items, at least one."""
    step = max(1, most)
    return (several[start : start + step] for start in range(0, len(several), step))


def _without_attrs(table: pd.DataFrame) -> pd.DataFrame:
    """A copy that ``concat`` need not compare with others."""
    copy = table.copy()
    copy.attrs = {}
    return copy
