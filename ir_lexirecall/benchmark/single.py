"""``Benchmark``: runs on one collection, with means, intervals, tests and preferences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ir_lexirecall import plots, text
from ir_lexirecall.alignment import RunLike
from ir_lexirecall.arrays import Floats, levelled
from ir_lexirecall.audit import tie_warnings
from ir_lexirecall.benchmark.inference import intervals_of_means
from ir_lexirecall.collections import Collection, load
from ir_lexirecall.errors import check_choice
from ir_lexirecall.evaluation import MeasuresLike, parse_measures
from ir_lexirecall.formats import is_file
from ir_lexirecall.judgments import ExcludeLike, Judgments, QrelsLike
from ir_lexirecall.measures.scoring import smaller_is_better
from ir_lexirecall.preferences.comparison import PreferenceLike, check_baseline, parse_preferences
from ir_lexirecall.preferences.counts import all_pairs
from ir_lexirecall.preferences.result import Preferences
from ir_lexirecall.provenance import versions
from ir_lexirecall.runs import ScoredRuns, check_runs
from ir_lexirecall.significance import SignificanceTest, TestResult
from ir_lexirecall.summary import (
    DOUBTFUL,
    Finding,
    Note,
    Standing,
    best_first,
    correction_words,
    count,
    estimate_words,
    gravest_first,
    grouped,
    html,
    leading,
    listed,
    ranked,
)

if TYPE_CHECKING:
    import pandas as pd

_ENDS = ("ci_low", "ci_high", "t_low", "t_high")  # columns of intervals of means
_MOST_DRAWN = 60  # runs in the picture of a notebook


@dataclass(frozen=True)
class Benchmark:
    """What ``benchmark`` found on one collection.

    Methods take ``measure``, one of the measures, and ``places``, decimal places.

    Attributes:
        table: means, a row per run (index ``run``), a column per measure.
        per_query: values, a row per run and query (index ``run``, ``query_id``), a column per measure.
        preferences: preferences between the runs; None for a single one.
        baseline: the run that all others are compared with, or None for all pairs.
        test: how differences are tested.
        metadata: what runs say of themselves (ir-metadata), as far as they do.
        scored: the runs with all values, which ``diagnostics`` needs.
    """

    table: pd.DataFrame
    per_query: pd.DataFrame
    preferences: Preferences | None
    baseline: str | None = None
    test: SignificanceTest = field(default_factory=SignificanceTest)
    metadata: Mapping[str, str] = field(default_factory=dict)
    scored: ScoredRuns | None = field(default=None, repr=False, compare=False)

    @property
    def runs(self) -> list[str]:
        """Names of the runs, in order."""
        return [str(name) for name in self.table.index]

    @property
    def measures(self) -> list[str]:
        """Names of the measures, in order."""
        return [str(name) for name in self.table.columns]

    @cached_property
    def query_ids(self) -> list[str]:
        """The queries, those without relevant documents among them."""
        ids = self.per_query.index.get_level_values("query_id")
        return [str(query_id) for query_id in ids[: len(ids) // max(1, len(self.runs))]]

    def values(self, measure: str) -> Floats:
        """Values of a measure, shape ``(S, Q)``."""
        values: Floats = self.per_query[measure].to_numpy(np.float64).reshape(len(self.runs), -1)
        return values

    def means(self) -> pd.DataFrame:
        """Means over the queries with BCa bootstrap intervals: a row per measure and run.

        Columns: ``measure``, ``run``, ``mean``, ``ci_low``, ``ci_high`` (BCa, at 1 - alpha), ``t_low``, ``t_high``, and ``better_than``: the letters of the
        runs that it is significantly better than, by ``tests``; ``letter`` is its own. ``t_low`` and ``t_high`` are studentised
        (bootstrap-t) intervals from the same resamples: with fewer than some 100 queries the better ones, as BCa intervals are
        then too narrow. Of 95 %, BCa hold the true mean of skewed values in 86 % with 10 queries, 91 % with 25, 92 % with 50 and
        94 % with 100, bootstrap-t in 95 to 96 %.

        >>> from ir_lexirecall import demo
        >>> from ir_lexirecall.benchmark import benchmark
        >>> result = benchmark("lexirecall/demo", {"bm25": demo.run("bm25"), "ql": demo.run("ql")}, ["nDCG@10"])
        >>> result.means().drop(columns=["t_low", "t_high"]).round(3)
           measure   run letter   mean  ci_low  ci_high better_than
        0  nDCG@10  bm25      a  0.578   0.461    0.671
        1  nDCG@10    ql      b  0.565   0.455    0.655
        """
        import pandas as pd

        tables = []
        for name in self.measures:
            values = self.values(name)
            ends = self._intervals(values) if values.size else dict.fromkeys(_ENDS, np.nan)
            columns = {"measure": name, "run": self.runs, "letter": self.letters, "mean": values.mean(axis=1)}
            columns |= {**ends, "better_than": self.better_than[name]}
            tables.append(pd.DataFrame(columns))
        return pd.concat(tables, ignore_index=True)

    def _intervals(self, values: Floats) -> dict[str, Floats]:
        return intervals_of_means(values, self.test.alpha, n_resamples=self.test.n_resamples, seed=self.test.seed)

    def tests(self) -> pd.DataFrame:
        """Differences of the measures between runs, tested query by query: a row per measure and pair.

        Columns: ``measure``, ``run_a``, ``run_b``, ``mean`` difference, what the test estimates (``estimate``) with its interval
        ``ci_low``, ``ci_high``, ``p``, ``p_corrected`` (for the pairs of one measure), ``reject``, ``effect_size``. With a
        baseline, every other run against it. The tests are on the differences, not their signs (but for the sign test).

        Raises:
            ValueError: a measure is infinite for a run on a query, or not a number.
        """
        import pandas as pd

        columns = ["measure", "run_a", "run_b", "mean", "estimate", "ci_low", "ci_high", "p", "p_corrected", "reject"]
        tables = [self._tests_of(name) for name in self.measures] if len(self.runs) > 1 else []
        return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=[*columns, "effect_size"])

    def _tests_of(self, name: str) -> pd.DataFrame:
        """The rows of ``tests`` for a measure."""
        import pandas as pd

        if name in self._known_tests:
            return self._known_tests[name]
        if self.scored is not None:
            self.scored.with_measures([name]).check_defined("benchmark")
        pairs = all_pairs(self.runs, self.baseline)
        a, b = ([self.runs.index(pair[side]) for pair in pairs] for side in (0, 1))
        values = self.values(name)
        tested: TestResult = (
            self.test.of_all(values.T)[a, b] if self.test.name == "tukey" else self.test.of_pairs(values[a] - values[b])
        )
        adjusted, reject = self.test.corrected(tested.p)
        columns = {
            "measure": name,
            "run_a": [first for first, _ in pairs],
            "run_b": [second for _, second in pairs],
            "mean": (values[a] - values[b]).mean(axis=1),
            "estimate": tested.estimate,
            "ci_low": tested.low,
            "ci_high": tested.high,
            "p": tested.p,
            "p_corrected": adjusted,
            "reject": reject,
            "effect_size": tested.effect_size,
        }
        self._known_tests[name] = pd.DataFrame(columns)
        return self._known_tests[name]

    @cached_property
    def _known_tests(self) -> dict[str, pd.DataFrame]:
        return {}

    @cached_property
    def smaller_is_better(self) -> frozenset[str]:
        """Names of the measures of which the smaller value is better."""
        measures = {} if self.scored is None else self.scored.measures
        return frozenset(name for name, measure in measures.items() if smaller_is_better(measure))

    @cached_property
    def letters(self) -> list[str]:
        """A letter for each run: a, b, ..., z, aa, ab, ..."""
        return [_letter(place) for place in range(len(self.runs))]

    @cached_property
    def better_than(self) -> dict[str, list[str]]:
        """For each measure and run, the letters of the runs that it is significantly better than."""
        letter = dict(zip(self.runs, self.letters, strict=True))
        beaten: dict[str, list[str]] = {}
        for name in self.measures:
            losers: dict[str, list[str]] = {run: [] for run in self.runs}
            rows = self._tests_of(name) if len(self.runs) > 1 else None
            for row in () if rows is None else rows[rows["reject"]].itertuples():
                first_is_better = (row.estimate > 0) != (name in self.smaller_is_better)
                better, worse = (row.run_a, row.run_b) if first_is_better else (row.run_b, row.run_a)
                losers[better].append(letter[worse])
            separator = "" if len(self.runs) <= 26 else ","
            beaten[name] = [separator.join(sorted(losers[run], key=self.letters.index)) for run in self.runs]
        return beaten

    @cached_property
    def diagnostics(self) -> list[str]:
        """When not to trust a result, in words, the gravest first; empty where nothing stands out.

        Those of the preferences, the means that documents of equal score could change by more than 0.005, the leaders that lose
        more queries than they win against a run that is not told from them, and the measures that are 0 on most queries of the run
        that leads by them.
        """
        return [*self.notes]

    @cached_property
    def notes(self) -> list[Note]:
        """The diagnostics with how grave they are."""
        preferred = [] if self.preferences is None else self.preferences.notes
        return gravest_first([*self._of_leaders(), *preferred, *self.notes_on_data])

    @cached_property
    def notes_on_data(self) -> list[Note]:
        """The diagnostics on queries, rankings and values alone, which need no test."""
        notes = [] if self.preferences is None else self.preferences.notes_on_data
        ties = [] if self.scored is None else tie_warnings(self.scored)
        return gravest_first([*notes, *ties, *self._mostly_zero()])

    def _of_leaders(self) -> Iterator[Note]:
        """Notes on leaders that lose more queries than they win."""
        for name in self._defined if self.query_ids and len(self.runs) > 1 else ():
            values = levelled(self.values(name)) * (-1 if name in self.smaller_is_better else 1)

            def won(a: str, b: str, values: Floats = values) -> tuple[int, int]:
                first, second = values[self.runs.index(a)], values[self.runs.index(b)]
                return int((first > second).sum()), int((first < second).sum())

            yield from self.standing(name).outnumbered(won)

    def _mostly_zero(self) -> Iterator[Note]:
        """Notes on measures that are 0 on most queries, of the leader, too: few queries decide."""
        queries = len(self.query_ids)
        for name in self._defined if queries and len(self.runs) > 1 else ():
            values = self.values(name)
            leader = int(values.mean(axis=1).argmax())
            others = np.count_nonzero(values[leader])
            if name not in self.smaller_is_better and 0 < others < queries / 2:
                where = f"{queries - others} of {queries} queries of {self.runs[leader]}"
                yield Note(
                    f"{name} is 0 on {where}, which leads by it: the other {others} decide.",
                    DOUBTFUL,
                    "0 on most queries even of the leader",
                    f"{name} ({where})",
                )

    # -- the finding -------------------------------------------------------------------------------

    def standing(self, measure: str | None = None) -> Standing:
        """How the runs stand by a measure: by its mean, with the studentised intervals of ``means``.

        Args:
            measure: its name; by default the first one.
        """
        import pandas as pd

        name = self.measures[0] if measure is None else check_choice("benchmark", "measure", measure, self.measures)
        values = self.values(name)
        order = best_first(values.mean(axis=1), name not in self.smaller_is_better)
        ends = self._intervals(values)
        columns = {"mean": values.mean(axis=1), "ci_low": ends["t_low"], "ci_high": ends["t_high"]}
        ranking = pd.DataFrame({"run": self.runs, **columns}).iloc[order].reset_index(drop=True)
        ranking.attrs["confidence"] = 1 - self.test.alpha
        pairs = self._tests_of(name) if len(self.runs) > 1 else self.tests()
        return Standing(name, f"mean {name}", ranking, pairs, name not in self.smaller_is_better)

    @cached_property
    def _defined(self) -> list[str]:
        """The measures of which all values are finite numbers."""
        return [name for name in self.measures if np.isfinite(self.values(name)).all()]

    @cached_property
    def finding(self) -> Finding:
        """What ``summary`` says, in parts."""
        judgments = None if self.scored is None else self.scored.judgments
        names = [*self.measures, *([] if self.preferences is None else self.preferences.preferences)]
        what = [f"{count(len(self.runs), 'run')} on {count(len(self.query_ids), 'query')}"]
        what += [f"of {judgments.source}"] if judgments is not None and judgments.source else []
        what += [judgments.rules] if judgments is not None and judgments.rules else []
        head = f"{' '.join(what)}, by {listed(names)}."
        if not self.query_ids:
            return Finding(
                [head, "There are no queries: nothing can be compared."], grouped(self.notes), measures=names
            )
        standings = [self.standing(name) for name in self._defined]
        undefined = [name for name in self.measures if name not in self._defined]
        without = [f"Left out, as not every value is a number: {listed(undefined)}."] if undefined else []
        preferences = self.preferences
        if preferences is not None and preferences.query_ids:
            new = [name for name in preferences.preferences if name not in self.measures]
            standings += [preferences.standing(name) for name in new]
        if not standings:
            return Finding([head, *without], grouped(self.notes), measures=names)
        sentences = [head, *without, *leading(standings, self.test, self.baseline)]
        return Finding(sentences, grouped(self.notes), *ranked(standings, self.test.alpha, self.baseline), names)

    def summary(self) -> str:
        """The result in a few sentences: what was evaluated, who leads, who cannot be told from the leader, how many pairs
        differ, what should be distrusted; then the runs, best first by the first measure.

        >>> from ir_lexirecall import benchmark, demo
        >>> result = benchmark("lexirecall/demo", {"bm25": demo.run("bm25"), "ql": demo.run("ql")}, ["nDCG@10", "LR"])
        >>> print(result.summary())  # doctest: +ELLIPSIS
        2 runs on 16 queries of lexirecall/demo, by nDCG@10, LR and lexirecall. bm25 leads by nDCG@10, LR and lexirecall. ...
        """
        return str(self.finding)

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        return (
            f"<Benchmark: {count(len(self.runs), 'run')} by {listed(self.measures)} on {count(len(self.query_ids), 'query')}; "
            "print() shows what it says>"
        )

    @property
    def caption(self) -> str:
        """How differences are tested, and with what, in one line."""
        return f"superscripts: better than the runs of these letters, {self._how}"

    @property
    def _how(self) -> str:
        test = self.test
        corrected = f", {correction_words(test.counted_correction)}" if test.counted_correction else ""
        numbers = ", ".join(f"{name} {number}" for name, number in versions().items())
        return f"{test.name} test on {len(self.query_ids)} queries{corrected}, alpha {test.alpha:g}; {numbers}"

    def plot(self, measure: str | None = None, ax: Any = None) -> Any:
        """Forest of the means of a measure (by default the first one) with their intervals, best first; returns the axes.

        Args:
            measure: its name; by default the first one.
            ax: matplotlib axes; new ones by default.
        """
        shown = self.standing(measure)
        level = [run in shown.level for run in shown.runs] if self.baseline is None else None
        return plots.means(shown.ranking, level, shown.quantity, shown.name, caption=self._how, ax=ax)

    def plot_differences(self, measure: str | None = None, ax: Any = None) -> Any:
        """Forest of what the test estimates of all runs against the baseline, or the leader; returns the axes.

        Args:
            measure: its name; by default the first one.
            ax: matplotlib axes; new ones by default.
        """
        shown = self.standing(measure)
        reference = self.baseline or shown.leader
        what = estimate_words(self.test)
        return plots.differences(shown.against(reference), reference, what, shown.name, caption=self._how, ax=ax)

    def to_markdown(self, places: int = 4) -> str:
        """The means in Markdown, the best of a column bold, with superscript letters of the runs that each one beats."""
        cells = self._cells(places, text.escape_markdown, "**{}**", "{}<sup>{}</sup>")
        return f"{text.markdown_table(cells, self._alignment)}\n\n{text.escape_markdown(self.caption)}"

    def to_latex(self, places: int = 4) -> str:
        """The means in LaTeX (booktabs), the best of a column bold, with superscript letters of the runs that each one beats."""
        cells = self._cells(places, text.escape_latex, "\\textbf{{{}}}", "{}$^{{{}}}$")
        return f"% {text.printable(self.caption)}\n{text.latex_table(cells, self._alignment)}"

    @property
    def _alignment(self) -> list[str]:
        return ["left", "left", *("right" for _ in self.measures)]

    def _cells(self, places: int, escape: Any, bold: str, superscript: str) -> list[list[str]]:
        columns: list[Sequence[str]] = [["", *self.letters], ["run", *map(escape, self.runs)]]
        for name in self.measures:
            numbers = self.table[name]
            best = numbers.min() if name in self.smaller_is_better else numbers.max()
            top = best if numbers.nunique() > 1 else None
            cells = [escape(name)]
            for number, letters in zip(numbers, self.better_than[name], strict=True):
                cell = text.format_number(float(number), places)
                cell = bold.format(cell) if number == top else cell
                cells.append(superscript.format(cell, letters) if letters else cell)
            columns.append(cells)
        return [list(row) for row in zip(*columns, strict=True)]

    def _repr_html_(self) -> str:
        drawn = bool(self.query_ids and self._defined) and len(self.runs) <= _MOST_DRAWN
        size = plots.means_size(len(self.runs))
        picture = plots.inline(partial(self.plot, self._defined[0]), size, self.finding.title) if drawn else ""
        return html(self.finding, picture, self._how)


def _letter(place: int) -> str:
    """The letters of a number, as spreadsheets count their columns.

    >>> _letter(0), _letter(25), _letter(26)
    ('a', 'z', 'aa')
    """
    letters = ""
    while place >= 0:
        place, letter = divmod(place, 26)
        letters = chr(ord("a") + letter) + letters
        place -= 1
    return letters


@dataclass(frozen=True)
class Settings:
    """What is asked of a collection, checked before anything is read.

    Attributes:
        measures: as in ``evaluate``; None: those that a collection recommends.
        preference, baseline, test: as in ``compare``.
        judged_only, exclude, rules, allow_empty: as in ``compare``.
    """

    measures: MeasuresLike | None
    preference: PreferenceLike
    baseline: str | None
    test: SignificanceTest
    judged_only: bool = False
    exclude: ExcludeLike | None = None
    rules: bool = True
    allow_empty: bool = False


def benchmark_collection(collection: QrelsLike, runs: Mapping[str, RunLike], settings: Settings) -> Benchmark:
    """``benchmark`` for one collection; see there."""
    found = load(collection) if isinstance(collection, str) and not is_file(collection) else collection
    measures = settings.measures
    if measures is None:
        if not isinstance(found, Collection):
            raise ValueError("benchmark: name the measures, or give a collection's id, which recommends some")
        measures = found.recommended()
    check_runs("benchmark", runs, 1)
    if settings.baseline is not None:
        check_baseline("benchmark", settings.baseline, runs)
    names, compared = parse_preferences("benchmark", settings.preference)
    shown = parse_measures(measures)
    judgments = Judgments.from_qrels(found, settings.exclude, rules=settings.rules)
    scored = ScoredRuns.from_runs(
        compared | shown,
        judgments,
        runs,
        judged_only=settings.judged_only,
        allow_empty=settings.allow_empty,
        caller="benchmark",
        progress=settings.test.progress,
    )
    preferences = None
    if len(runs) > 1:
        preferences = Preferences.from_runs(
            scored.with_measures(compared),
            names,
            baseline=settings.baseline,
            rel=found.rel if isinstance(found, Collection) else 1,
            test=settings.test,
            caller="benchmark",
        )
    wanted = scored.with_measures(shown)
    if judgments.rules:
        wanted.table.attrs["rules"] = judgments.rules
    if scored.metadata:
        wanted.table.attrs["metadata"] = scored.metadata
    return Benchmark(
        wanted.table, wanted.per_query, preferences, settings.baseline, settings.test, scored.metadata, wanted
    )
