"""``Preferences``: the result of a comparison, as tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ir_lexirecall import plots, text
from ir_lexirecall.alignment import AlignedRun
from ir_lexirecall.arrays import Floats
from ir_lexirecall.audit import tie_warnings
from ir_lexirecall.errors import check_choice
from ir_lexirecall.lazy import cached_property
from ir_lexirecall.measures.scoring import smaller_is_better
from ir_lexirecall.preferences import aggregation
from ir_lexirecall.preferences.counts import PreferenceCounts, all_pairs
from ir_lexirecall.preferences.explanation import explain
from ir_lexirecall.provenance import versions
from ir_lexirecall.runs import ScoredRuns
from ir_lexirecall.significance import (
    SignificanceTest,
    TestResult,
    power_of_all,
    queries_needed_of_all,
    smallest_p,
)
from ir_lexirecall.significance import power as power_of_pairs
from ir_lexirecall.significance import queries_needed as queries_needed_of_pairs
from ir_lexirecall.summary import (
    ASIDE,
    BROKEN,
    DOUBTFUL,
    FEW_QUERIES,
    Finding,
    Note,
    Standing,
    best_first,
    corrected_words,
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

_PREFERENCE_RANGE = (-1.0, 1.0)
_MOST_DRAWN = 60  # runs in the picture of a notebook


@dataclass(frozen=True, eq=False)
class Preferences:
    """Preferences between runs, per query, and what follows from them. ``compare`` makes it.

    Methods take ``preference``, the name of one where several were compared (the first one by default); ``a`` and ``b``, names of
    runs; ``places``, decimal places; ``ax``, matplotlib's axes to draw on (new ones by default).

    Attributes:
        preferences: names of the preferences.
        baseline: the run that all others are compared with, or None for all pairs.
        test: how differences are tested.
        counts: where the numbers come from.
        scored: the runs with the values of the measures among the preferences; None without values.
    """

    preferences: list[str]
    baseline: str | None
    test: SignificanceTest
    counts: PreferenceCounts = field(repr=False)
    scored: ScoredRuns | None = field(default=None, repr=False)

    @classmethod
    def from_runs(
        cls,
        runs: ScoredRuns | Mapping[str, AlignedRun],
        preferences: Sequence[str] = ("lexirecall",),
        *,
        baseline: str | None = None,
        rel: float = 1,
        cutoff: int | None = None,
        test: SignificanceTest | None = None,
        caller: str = "compare",
    ) -> Preferences:
        """Compare runs that are aligned already, all with the same ``Judgments``.

        Args:
            runs: at least two runs, scored with the measures among the preferences.
            preferences: names of preferences, and of measures of ``runs``.
            baseline, rel, cutoff: as in ``compare``.
            test: how to test.
            caller: the function that the user called; it begins the messages of errors.

        Raises:
            ValueError: fewer than two runs, an unknown baseline, or values that are not numbers.
        """
        aligned = runs.runs if isinstance(runs, ScoredRuns) else dict(runs)
        if len(aligned) < 2:
            raise ValueError(f"{caller}: at least 2 runs are needed, not {len(aligned)}")
        if baseline is not None:
            check_choice(caller, "baseline", baseline, aligned)
        scored, falling = None, frozenset[str]()
        if isinstance(runs, ScoredRuns):
            runs.check_defined(caller)
            scored = runs.with_measures(name for name in preferences if name in runs.values)
            falling = frozenset(name for name, measure in scored.measures.items() if smaller_is_better(measure))
        counts = PreferenceCounts(aligned, rel, cutoff, {} if scored is None else scored.values, falling)
        return cls(list(preferences), baseline, test or SignificanceTest(), counts, scored)

    def __deepcopy__(self, memo: dict[int, Any]) -> Preferences:
        return self  # nothing in it changes; tables that carry it in their attrs are copied often

    @cached_property
    def runs(self) -> list[str]:
        """Names of the runs, in the order in which they were compared."""
        return list(self.counts.runs)

    @cached_property
    def query_ids(self) -> list[str]:
        """The queries compared: those with at least one relevant document."""
        return [self.counts.judgments.query_ids[q] for q in self.counts.queries]

    @property
    def excluded(self) -> int:
        """How many queries of the qrels have no relevant document and take no part."""
        return len(self.counts.judgments) - len(self.query_ids)

    @property
    def provenance(self) -> dict[str, Any]:
        """What was compared, and with what: in the ``attrs`` of every table, and below every text and picture."""
        resampled = self.test.resampled
        return {
            "preference": ", ".join(self.preferences),
            "baseline": self.baseline,
            "rel": self.counts.rel,
            "cutoff": self.counts.cutoff,
            "queries": len(self.query_ids),
            "excluded_queries": self.excluded,
            "rules": self.counts.judgments.rules or None,
            "metadata": None if self.scored is None else self.scored.metadata or None,
            "test": self.test.name,
            "tested": self.tested,
            "correction": self.test.counted_correction,
            "alpha": self.test.alpha,
            "n_resamples": self.test.n_resamples if resampled else None,
            "seed": self.test.seed if resampled else None,
            "versions": versions(),
        }

    @property
    def tested(self) -> str:
        """What the test is of, query by query: differences of measures (``sign``: their signs only), or preferences.

        >>> from ir_lexirecall import compare, demo
        >>> compare("lexirecall/demo", demo.runs(), preference="nDCG@10", test="t").tested
        'differences of nDCG@10'
        """
        measures = [name for name in self.preferences if self.is_measure(name)]
        others = [name for name in self.preferences if not self.is_measure(name)]
        kind = "signs of differences" if self.test.name == "sign" else "differences"
        parts = [f"{kind} of {', '.join(measures)}"] if measures else []
        return " and ".join([*parts, *([f"preferences by {', '.join(others)}"] if others else [])])

    @property
    def caption(self) -> str:
        """The provenance in one line."""
        facts = {k: v for k, v in self.provenance.items() if v is not None and k not in ("versions", "metadata")}
        numbers = ", ".join(f"{name} {number}" for name, number in self.provenance["versions"].items())
        return "; ".join(f"{k} {v}" for k, v in facts.items()) + f"; {numbers}"

    def _name(self, caller: str, preference: str | None) -> str:
        if preference is None:
            return self.preferences[0]
        return check_choice(caller, "preference", str(preference), self.preferences)

    def _place(self, caller: str, run: str) -> int:
        return self.runs.index(check_choice(caller, "run", run, self.runs))

    def _with_provenance(self, table: Any) -> Any:
        table.attrs.update(self.provenance)
        return table

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The pairs compared: all, in the order of the runs, or every other run with the baseline."""
        return all_pairs(self.runs, self.baseline)

    @cached_property
    def _pair_places(self) -> tuple[list[int], list[int]]:
        """The runs of every pair by their place among the runs."""
        place = {name: i for i, name in enumerate(self.runs)}
        return [place[a] for a, _ in self.pairs], [place[b] for _, b in self.pairs]

    def tensor(self, preference: str | None = None) -> Floats:
        """Preference of every pair on every query, shape ``(Q, S, S)``: first over second run; NaN: not comparable."""
        return self.counts.tensor(self._name("tensor", preference))

    def is_measure(self, preference: str) -> bool:
        """Whether a preference is a measure: then its differences are tested, not their signs."""
        return preference in self.counts.values

    def table(self) -> pd.DataFrame:
        """A row per pair: how often each run wins, by how much, and whether that is more than chance.

        Columns: ``run_a``, ``run_b``, ``wins``, ``losses``, ``ties`` (of ``run_a``), ``incomparable`` (with ``dominance``),
        ``mean`` preference, what the test estimates (``estimate``) with its interval ``ci_low``, ``ci_high`` at 1 - alpha,
        ``p``, ``p_corrected``, ``reject`` (the corrected p is at most alpha) and ``effect_size``. An interval leaves out 0
        exactly where ``p`` is at most alpha. ``preference`` comes first where several were compared. The tests of a
        measure are on its per-query differences, those of a preference on its per-query values.
        """
        import pandas as pd

        tables = []
        for name in self.preferences:
            table = self.table_of(name)
            if len(self.preferences) > 1:
                table.insert(0, "preference", name)
            tables.append(table)
        whole = pd.concat(tables, ignore_index=True)
        if "dominance" not in self.preferences:
            whole = whole.drop(columns="incomparable")
        return self._with_provenance(whole)

    def table_of(self, preference: str) -> pd.DataFrame:
        """The rows of ``table`` for one preference, with ``incomparable``."""
        import pandas as pd

        counts = self.counts.count(self._name("table_of", preference))
        a, b = self._pair_places
        tested = self._tested(preference)
        adjusted, reject = self.test.corrected(tested.p)
        columns = {
            "run_a": [name for name, _ in self.pairs],
            "run_b": [name for _, name in self.pairs],
            "wins": counts.wins[a, b],
            "losses": counts.losses[a, b],
            "ties": counts.ties[a, b],
            "incomparable": counts.incomparable[a, b],
            "mean": counts.mean[a, b],
            "estimate": tested.estimate,
            "ci_low": tested.low,
            "ci_high": tested.high,
            "p": tested.p,
            "p_corrected": adjusted,
            "reject": reject,
            "effect_size": tested.effect_size,
        }
        return self._with_provenance(pd.DataFrame(columns))

    def _tested(self, preference: str) -> TestResult:
        """The test of every pair."""
        a, b = self._pair_places
        if self.is_measure(preference):
            values = self.counts.rising(preference)[:, self.counts.queries]
            if self.test.name == "tukey":
                return self.test.of_all(values.T)[a, b]
            return self.test.of_pairs(values[a] - values[b])
        if self.test.name == "tukey":
            return self.test.of_all(self.counts.count(preference).against_others, bounds=(-2.0, 2.0))[a, b]
        blocks = self.counts.of_pairs(preference, a, b)
        return TestResult.concatenate([self.test.of_pairs(x, bounds=_PREFERENCE_RANGE) for x in blocks])

    def power(self, queries: int | None = None) -> pd.DataFrame:
        """How likely the test would find each pair's difference, with so many queries like these.

        Args:
            queries: number of queries; by default as many as there are.

        Returns:
            A row per pair: ``run_a``, ``run_b``, ``queries``, ``power`` at alpha, before any correction. See
            ``significance.power`` for how it is computed.

        Raises:
            ValueError: there are no queries.
            ModuleNotFoundError: the t-test without statsmodels.
        """
        count = len(self.query_ids) if queries is None else queries
        return self._per_pair(
            "power",
            {"queries": count},
            lambda x: power_of_pairs(self.test, x, count),
            lambda values: power_of_all(self.test, values, count),
        )

    def queries_needed(self, power: float = 0.8) -> pd.DataFrame:
        """How many queries like these the test needs to find each pair's difference with a probability of ``power``.

        Args:
            power: between 0 and 1.

        Returns:
            A row per pair: ``run_a``, ``run_b``, ``power``, ``queries_needed`` (inf: no number is enough, or beyond what
            ``significance.queries_needed`` tries).

        Raises:
            ValueError: there are no queries, or ``power`` is out of range.
            ModuleNotFoundError: the t-test without statsmodels.
        """
        return self._per_pair(
            "queries_needed",
            {"power": power},
            lambda x: queries_needed_of_pairs(self.test, x, power),
            lambda values: queries_needed_of_all(self.test, values, power),
        )

    def _per_pair(
        self,
        column: str,
        settings: dict[str, float],
        of_differences: Callable[[Floats], Floats],
        of_values: Callable[[Floats], Floats],
    ) -> pd.DataFrame:
        """A number for every pair by what is tested: differences of pairs, or (Tukey's HSD) values of all runs."""
        import pandas as pd

        if not self.query_ids:
            raise ValueError(f"{column}: no query has a relevant document")
        a, b = self._pair_places
        tables = []
        for name in self.preferences:
            measure = self.counts.rising(name) if self.is_measure(name) else None
            if self.test.name == "tukey":
                values = (
                    self.counts.count(name).against_others if measure is None else measure[:, self.counts.queries].T
                )
                numbers = of_values(values)[a, b]
            elif measure is not None:
                numbers = of_differences(measure[a][:, self.counts.queries] - measure[b][:, self.counts.queries])
            else:
                numbers = np.concatenate([of_differences(x) for x in self.counts.of_pairs(name, a, b)])
            columns = {"run_a": [a for a, _ in self.pairs], "run_b": [b for _, b in self.pairs]}
            table = pd.DataFrame({**columns, **settings, column: numbers})
            if len(self.preferences) > 1:
                table.insert(0, "preference", name)
            tables.append(table)
        return self._with_provenance(pd.concat(tables, ignore_index=True))

    def matrix(self, preference: str | None = None) -> pd.DataFrame:
        """Mean preference of the run of the row over that of the column."""
        import pandas as pd

        mean = self.counts.count(self._name("matrix", preference)).mean
        return self._with_provenance(pd.DataFrame(mean.copy(), index=self.runs, columns=self.runs))

    def per_query(self, preference: str | None = None) -> pd.DataFrame:
        """The preferences one by one: ``query_id``, ``run_a``, ``run_b``, ``preference`` (NaN: not comparable)."""
        import pandas as pd

        name = self._name("per_query", preference)
        a, b = self._pair_places
        values = np.empty((len(self.query_ids), len(a)))
        for where, block in self.counts.blocks(name):
            values[where] = block[:, a, b]
        table = pd.DataFrame(
            {
                "query_id": np.repeat(np.array(self.query_ids, dtype=object), len(a)),
                "run_a": [first for first, _ in self.pairs] * len(self.query_ids),
                "run_b": [second for _, second in self.pairs] * len(self.query_ids),
                "preference": values.ravel(),
            }
        )
        return self._with_provenance(table)

    def scores(self, preference: str | None = None) -> pd.DataFrame:
        """Mean preference of each run against all others, a row per query, a column per run."""
        import pandas as pd

        values = self.counts.count(self._name("scores", preference)).against_others
        index = pd.Index(self.query_ids, name="query_id")
        return self._with_provenance(pd.DataFrame(values.copy(), index=index, columns=self.runs))

    def with_test(self, test: str | SignificanceTest | None = None, **options: Any) -> Preferences:
        """The same preferences, tested otherwise; ``options`` are those of ``SignificanceTest`` (``correction``, ...)."""
        if isinstance(test, str):
            options["name"] = test
        kind = test if isinstance(test, SignificanceTest) else self.test
        return replace(self, test=SignificanceTest.coerce(kind, caller="with_test", **options))

    def ranking(self, method: str = "mean", preference: str | None = None) -> pd.Series:
        """The runs, best first, with the score that orders them.

        Args:
            method: ``'mean'`` preference against all others, ``'borda'`` (points per query: runs beaten, half for
                ties), ``'mc4'`` (stationary probability of the Markov chain MC4 of Dwork et al., WWW 2001) or
                ``'bradley-terry'`` (log strength, fitted by the package choix).
            preference: which of the preferences compared.

        Raises:
            ValueError: no such method.
        """
        import pandas as pd

        check_choice("ranking", "method", method, ["mean", *aggregation.METHODS])
        counts = self.counts.count(self._name("ranking", preference))
        if method == "mean":
            values = counts.against_others.mean(axis=0) if len(self.query_ids) else np.zeros(len(self.runs))
        else:
            values = aggregation.METHODS[method](counts.wins, counts.ties + counts.incomparable)
        order = np.argsort(-values, kind="stable")
        return self._with_provenance(pd.Series(values[order], index=[self.runs[i] for i in order], name=method))

    def explain(self, a: str, b: str, preference: str | None = None) -> pd.DataFrame:
        """Per query: which of two runs is preferred, and what decided.

        Columns: ``query_id``, ``winner`` (missing: a tie, or not comparable), ``preference`` of ``a`` over ``b``; for
        ``lexirecall`` and the two lexiprecisions ``level`` (the recall level that decided: i, for the i-th relevant
        document), ``tied_levels`` (how many levels were equal before), ``doc_id`` (the winner's document at that level),
        ``rank_a`` and ``rank_b`` (where each run reaches the level, missing where it does not), ``other_doc_id`` (the
        loser's document there); for recall-paired preferences ``levels_a`` and ``levels_b`` (levels at which each is
        ahead); for measures ``value_a`` and ``value_b``.
        """
        name, counts = self._name("explain", preference), self.counts
        first, second = self._place("explain", a), self._place("explain", b)
        values = counts.values.get(name)
        table = explain(
            name,
            (a, b),
            (first, second),
            list(counts.runs.values()),
            counts.positions,
            self.query_ids,
            counts.of_pair(name, first, second),
            None if values is None else values[:, counts.queries],
        )
        return self._with_provenance(table)

    @property
    def diagnostics(self) -> list[str]:
        """When not to trust a result, in words, the gravest first; empty where nothing stands out."""
        return [*self.notes]

    @property
    def notes(self) -> list[Note]:
        """The diagnostics with how grave they are."""
        return gravest_first([*self._of_leaders(), *self.notes_on_data])

    @property
    def notes_on_data(self) -> list[Note]:
        """The diagnostics on queries and rankings alone, which need no test."""
        return gravest_first([*self._of_queries(), *self._of_runs(), *self._of_pairs(), *self._tie_warnings])

    def _of_queries(self) -> Iterator[Note]:
        """Notes on the queries."""
        queries, m = len(self.query_ids), self.counts.positions.m
        if self.excluded:
            yield Note(
                f"{count(self.excluded, 'query')} {'has' if self.excluded == 1 else 'have'} no relevant document "
                f"(rel={self.counts.rel:g}) and {'takes' if self.excluded == 1 else 'take'} no part.",
                ASIDE,
            )
        if queries < 25:
            sentence = f"Only {count(queries, 'query')}: a test sees no difference but a large one."
            yield Note(sentence, DOUBTFUL, FEW_QUERIES, count(queries, "query"))
        if queries:
            yield from self._on_smallest_p(queries)
        if queries and np.median(m) < 3:
            documents = "document" if np.median(m) == 1 else "documents"
            yield Note(
                f"Half of the queries have at most {np.median(m):g} relevant {documents}: few levels to compare."
            )

    def _of_runs(self) -> Iterator[Note]:
        """Notes on rankings that are too short, or not there."""
        queries, m = len(self.query_ids), self.counts.positions.m
        for place, (name, run) in enumerate(self.counts.runs.items()):
            depth, found = run.depth[self.counts.queries], self.counts.positions.r[place]
            shallow = int(((found < m) & (depth < np.maximum(100, m))).sum())
            if queries and shallow > queries / 2:
                yield Note(
                    f"{name}: {shallow} of {queries} rankings are shallow (median depth {np.median(depth):g}) and miss "
                    "relevant documents: recall decides most of its comparisons.",
                    DOUBTFUL,
                    "Shallow rankings that miss relevant documents, so that recall decides most comparisons",
                    f"{name} ({shallow} of {queries} queries, median depth {np.median(depth):g})",
                    runs=(name,),
                )
            if queries and (absent := int((depth == 0).sum())):
                yield Note(
                    f"{name}: no documents at all for {absent} of {queries} queries.",
                    BROKEN,
                    "No documents at all",
                    f"{name} (on {absent} of {queries} queries)",
                    runs=(name,),
                )

    def _of_leaders(self) -> Iterator[Note]:
        """Notes on leaders that lose more queries than they win."""
        for name in self.preferences if self.query_ids else ():
            counts = self.counts.count(name)

            def won(a: str, b: str, wins: Any = counts.wins) -> tuple[int, int]:
                i, j = self.runs.index(a), self.runs.index(b)
                return int(wins[i, j]), int(wins[j, i])

            yield from self.standing(name).outnumbered(won)

    def _of_pairs(self) -> Iterator[Note]:
        """Notes on pairs that are mostly ties, or mostly not comparable."""
        queries = len(self.query_ids)
        for preference in self.preferences:
            counts = self.counts.count(preference)
            for (a, b), i, j in zip(self.pairs, *self._pair_places, strict=True):
                if queries and counts.ties[i, j] > queries / 2:
                    yield Note(
                        f"{preference}, {a} and {b}: {counts.ties[i, j]} of {queries} queries are ties.",
                        kind=f"Mostly ties by {preference}",
                        subject=f"{a} and {b} ({counts.ties[i, j]} of {queries} queries)",
                        runs=(a, b),
                    )
                if queries and counts.incomparable[i, j] > queries / 2:
                    yield Note(
                        f"{preference}, {a} and {b}: {counts.incomparable[i, j]} of {queries} are not comparable.",
                        kind=f"Mostly not comparable by {preference}",
                        subject=f"{a} and {b} ({counts.incomparable[i, j]} of {queries} queries)",
                        runs=(a, b),
                    )

    def _on_smallest_p(self, queries: int) -> Iterator[Note]:
        """The smallest p of the test, where the test cannot reject, or queries are few."""
        least = smallest_p(self.test, queries)
        adjusted = self.test.corrected(np.full(len(self.pairs), least))[0].max(initial=least)
        sentence = f"The smallest p that the {self.test.name} test can give on {count(queries, 'query')} is {text.format_p(least)}"
        corrected = "corrected " if adjusted > least else ""
        if adjusted > least:
            correction = f"{correction_words(str(self.test.counted_correction))} for {len(self.pairs):,} comparisons"
            sentence += f" ({text.format_p(float(adjusted))} after {correction})"
        if adjusted > self.test.alpha:
            yield Note(
                f"{sentence}: it cannot reject at alpha {self.test.alpha:g}.",
                BROKEN,
                f"The {self.test.name} test cannot reject at alpha {self.test.alpha:g}",
                f"{count(queries, 'query')} (smallest {corrected}p {text.format_p(float(adjusted))})",
            )
        elif queries < 25 and adjusted > self.test.alpha / 10:
            yield Note(f"{sentence}.", ASIDE)

    @cached_property
    def _tie_warnings(self) -> list[Note]:
        return [] if self.scored is None else tie_warnings(self.scored)

    # -- the finding -------------------------------------------------------------------------------

    def standing(self, preference: str | None = None) -> Standing:
        """How the runs stand by a preference: by their mean over all other runs; by a measure: by its mean.

        The intervals of these means are those of Student's t over the queries, at 1 - alpha.

        Args:
            preference: which of the preferences compared; by default the first one.
        """
        import pandas as pd

        name = self._name("standing", preference)
        if self.is_measure(name):
            values = self.counts.values[name][:, self.counts.queries]
            sign, bounds = -1 if name in self.counts.smaller_is_better else 1, None
        else:
            values, sign, bounds = self.counts.count(name).against_others.T, 1, _PREFERENCE_RANGE
        tested = SignificanceTest("t", alpha=self.test.alpha).of_pairs(values, bounds=bounds)
        order = best_first(sign * tested.estimate)
        columns = {
            "run": [self.runs[i] for i in order],
            "mean": tested.estimate[order],
            "ci_low": tested.low[order],
            "ci_high": tested.high[order],
        }
        quantity = f"mean {name}" if self.is_measure(name) else f"mean preference over all other runs by {name}"
        ranking = self._with_provenance(pd.DataFrame(columns))
        ranking.attrs["confidence"] = 1 - self.test.alpha
        return Standing(name, quantity, ranking, self.table_of(name))

    @cached_property
    def finding(self) -> Finding:
        """What ``summary`` says, in parts."""
        queries = len(self.query_ids)
        source = self.counts.judgments.source
        what = [f"{count(len(self.runs), 'run')} compared by {listed(self.preferences)} on {count(queries, 'query')}"]
        what += [f"of {source}"] if source else []
        what += [self.counts.judgments.rules] if self.counts.judgments.rules else []
        what += [f"down to rank {self.counts.cutoff}"] if self.counts.cutoff is not None else []
        head = f"{' '.join(what)}."
        if not queries:
            return Finding([head, "No query has a relevant document: nothing can be compared."], grouped(self.notes))
        standings = [self.standing(name) for name in self.preferences]
        return Finding(
            [head, *leading(standings, self.test, self.baseline)],
            grouped(self.notes),
            *ranked(standings, self.test.alpha, self.baseline),
            self.preferences,
        )

    def summary(self) -> str:
        """The result in a few sentences: what was compared, who leads, who cannot be told from the leader, how many pairs differ,
        what should be distrusted; then the runs, best first.

        >>> from ir_lexirecall import compare, demo
        >>> print(compare("lexirecall/demo", demo.runs()).summary())  # doctest: +NORMALIZE_WHITESPACE
        5 runs ...
        """
        return str(self.finding)

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        return (
            f"<Preferences: {count(len(self.runs), 'run')} by {listed(self.preferences)} on "
            f"{count(len(self.query_ids), 'query')}; print() shows what they say>"
        )

    def to_markdown(self, places: int = 4) -> str:
        """The table in Markdown, with the provenance below."""
        rows, align = _as_texts(self.table(), places, text.escape_markdown)
        return f"{text.markdown_table(rows, align)}\n\n{text.escape_markdown(self.caption)}"

    def to_latex(self, places: int = 4) -> str:
        """The table in LaTeX (booktabs), with the provenance as a comment."""
        rows, align = _as_texts(self.table(), places, text.escape_latex)
        return f"% {text.printable(self.caption)}\n{text.latex_table(rows, align)}"

    def _repr_html_(self) -> str:
        return html(self.finding, self.picture(), self.caption)

    def picture(self) -> str:
        """The picture that notebooks show, as an element of HTML; empty where there are too many runs, or no matplotlib."""
        drawn = bool(self.query_ids) and len(self.runs) <= _MOST_DRAWN
        return plots.inline(self.plot_means, plots.means_size(len(self.runs)), self.finding.title) if drawn else ""

    def plot(self, preference: str | None = None, ax: Any = None) -> Any:
        """Heatmap of the mean preferences, runs ordered best first, significant ones marked; returns the axes."""
        name = self._name("plot", preference)
        order = list(self.ranking("mean", name).index)
        matrix = self.matrix(name).loc[order, order]
        table = self.table_of(name)
        corrected = corrected_words(method) if (method := self.provenance["correction"]) else ""
        return plots.heatmap(matrix, table, name, corrected=corrected, caption=self.caption, ax=ax)

    def plot_means(self, preference: str | None = None, ax: Any = None) -> Any:
        """Forest of the mean preferences over all other runs (of a measure: its means) with intervals; returns the axes."""
        shown = self.standing(preference)
        level = [run in shown.level for run in shown.runs] if self.baseline is None else None
        return plots.means(shown.ranking, level, shown.quantity, shown.name, caption=self.caption, ax=ax)

    def plot_differences(self, preference: str | None = None, ax: Any = None) -> Any:
        """Forest of what the test estimates of all runs against the baseline, or the leader; returns the axes."""
        shown = self.standing(preference)
        reference = self.baseline or shown.leader
        what = estimate_words(self.test)
        return plots.differences(shown.against(reference), reference, what, shown.name, caption=self.caption, ax=ax)

    def plot_query(self, query_id: str, ax: Any = None) -> Any:
        """Where the relevant documents of a query stand in every run, best run first; returns the axes.

        Args:
            query_id: one of ``query_ids``.
            ax: matplotlib axes; new ones by default.

        Raises:
            ValueError: the query is none of those compared.
        """
        query = self.query_ids.index(check_choice("plot_query", "query_id", str(query_id), self.query_ids))
        positions = self.counts.positions
        ranks, depths = {}, {}
        for name in self.ranking().index:
            place = self.runs.index(name)
            start = positions.start[place, query]
            ranks[name] = positions.rank[start : start + positions.r[place, query]]
            depths[name] = int(self.counts.runs[name].depth[self.counts.queries[query]])
        return plots.rank_profile(ranks, depths, str(query_id), caption=self.caption, ax=ax)

    def plot_pair(self, a: str, b: str, preference: str | None = None, ax: Any = None) -> Any:
        """Per query, where two runs differ: a bar for each; returns the axes."""
        name = self._name("plot_pair", preference)
        for run in (a, b):
            self._place("plot_pair", run)
        return plots.pair(self.explain(a, b, name), a, b, name, caption=self.caption, ax=ax)


def _as_texts(table: pd.DataFrame, places: int, escape: Callable[[str], str]) -> tuple[list[list[str]], list[str]]:
    """The cells of a table with its head, escaped, and how columns are aligned."""
    columns, align = [], list[str]()
    for name, values in table.items():
        kind = getattr(values.dtype, "kind", "O")
        if kind == "f":
            number = text.format_p if name in ("p", "p_corrected") else partial(text.format_number, places=places)
            cells = list(map(number, values.tolist()))
        else:
            cells = list(map(str, values.tolist()))
        columns.append([escape(cell) for cell in (str(name), *cells)])
        align.append("right" if kind in "iuf" else "left")
    return [list(row) for row in zip(*columns, strict=True)], align
