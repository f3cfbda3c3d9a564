"""``ScoredRuns``: several runs, read, aligned and scored once.

Comparisons, benchmarks and studies work on it.
"""

from __future__ import annotations

import numbers
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent import futures
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, cast

import numpy as np
from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall._util.arrays import Floats, Interval, Ints
from ir_lexirecall._util.engine import started
from ir_lexirecall._util.errors import (
    and_more,
    entry,
    is_integer,
    naming,
    repeated,
    shown,
    warn,
)
from ir_lexirecall._util.lazy import Memoised, cached_property, memoised
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.paths import is_path
from ir_lexirecall._util.progress import progress_bar
from ir_lexirecall._util.rounding import same
from ir_lexirecall._util.selecting import of_type, without
from ir_lexirecall.data.aligned_run import AlignedRun
from ir_lexirecall.data.alignment import RunLike, ranks_as_given
from ir_lexirecall.data.judgments import Judgments, QrelsLike
from ir_lexirecall.data.matching import (
    Mismatches,
    are_swapped,
    check_matches,
    hardly_judged,
    warn_once,
)
from ir_lexirecall.data.pools import Pool
from ir_lexirecall.io.schemas import RUN
from ir_lexirecall.io.source import Kind, Source, what_is
from ir_lexirecall.measures.expected import expected_values
from ir_lexirecall.measures.expected.orders import ends_over_orders
from ir_lexirecall.measures.scoring import (
    aggregate,
    check_judgments,
    merit_in_ties,
    rises_with_merit,
    values,
)
from ir_lexirecall.measures.trec_eval import with_named_gains

NOTABLE = 0.005  # by which ties must be able to change a mean to be worth a warning
_QUICKLY_AVERAGED = 100  # documents of one score
_MOST_DOCUMENTS = 5_000_000  # of all runs, that are read again without being asked for
_READERS = min(4, os.cpu_count() or 1)  # files that are read at the same time


@dataclass(frozen=True)
class ScoredRuns(Memoised):
    """Several runs, aligned with the same judgments once and scored with every measure once.

    Attributes:
        judgments: what the runs are aligned with.
        runs: the S runs, by name.
        measures: the measures, by the name of their column.
        values: of each measure, for every run and query of the judgments, shape ``(S, Q)``.
        metadata: ir-metadata of the runs that have it, by the run's name.
        sources: the runs as they were given, for what unjudged documents could change; see
            ``pool``.
    """

    judgments: Judgments
    runs: dict[str, AlignedRun]
    measures: dict[str, IRMeasure]
    values: dict[str, Floats] = field(repr=False)
    metadata: dict[str, str] = field(default_factory=dict, repr=False)
    sources: dict[str, Source | AlignedRun] = field(default_factory=dict, repr=False)

    @classmethod
    @entry
    def from_runs(
        cls,
        measures: Mapping[str, IRMeasure],
        qrels: QrelsLike,
        runs: Mapping[str, RunLike | AlignedRun],
        *,
        allow_empty: bool = False,
        progress: bool | None = None,
    ) -> ScoredRuns:
        """Read every run once, align it and score it.

        Args:
            measures: the measures by the name of their column, see ``parse_measures``; there may be
                none.
            qrels: judgments in any form.
            runs: runs by name, in any form, or aligned with ``qrels`` (which are ``Judgments``
                then).
            allow_empty: take a run that has no query, or no document, in common with the qrels,
                with a warning.
            progress: show a progress bar; by default on a terminal only.

        Raises:
            ValueError: bad input; the message names the run and the offender.
        """
        judgments = Judgments.from_qrels(qrels)
        check_judgments(measures.values(), judgments)
        aligned: dict[str, AlignedRun] = {}
        sources: dict[str, Source | AlignedRun] = {}
        for given_name, given in runs.items():
            if not isinstance(given, AlignedRun):
                given = what_is(given, RUN, label=label_of(given_name))
            sources[str(given_name)] = given
        columns: dict[str, list[Floats]] = {name: [] for name in measures}
        mismatches = Mismatches()
        bar = progress_bar(progress, total=len(runs), desc="runs")
        with bar, ExitStack() as stack:
            # Files are read a few at a time, in threads: parsing, hashing and sorting release the
            # GIL.
            readers = futures.ThreadPoolExecutor(_READERS)
            # Waiting readers are given up after an interruption, too.
            stack.callback(readers.shutdown, wait=False, cancel_futures=True)
            coming: dict[str, Callable[[], AlignedRun]] = {}
            for name, source in sources.items():
                read = partial(
                    read_run, judgments, source, name, allow_empty, mismatches
                )
                coming[name] = read
                if isinstance(source, Source) and source.kind is Kind.FILES:
                    coming[name] = started(readers, read)
            for name, wait in coming.items():
                run = aligned[name] = wait()
                for column, measure in measures.items():
                    columns[column].append(values(measure, run))
                run.forget()
                bar.update()
        mismatches.warn()
        scored = {
            column: np.reshape(rows, (len(sources), len(judgments)))
            for column, rows in columns.items()
        }
        metadata: dict[str, str] = {}
        for name, source in of_type(sources, Source).items():
            if source.metadata:
                metadata[name] = source.metadata
        return cls(judgments, aligned, dict(measures), scored, metadata, sources)

    def warn_of_hardly_judged(self) -> None:
        """Warn of runs with far fewer judged documents than the others.

        Results that show caveats say so there.
        """
        hardly = hardly_judged(self.judgments, self.runs, self.sources)
        # Of runs without any judged document this was said when they were read.
        warn_once(
            {name: said for name, _, _, said in hardly if len(self.runs[name].doc)}
        )

    def pool(self, depth: int | None = None) -> Pool:
        """Read the runs again, and return what they retrieved.

        Unjudged documents are those among the first ``depth`` of any run.

        Raises:
            ValueError: unjudged documents were taken out, or a run was given aligned, has changed,
                or cannot be read again.
        """
        if self.judgments.judged_only:
            raise ValueError(
                "judged_only removed the unjudged documents; to judge some, leave it out"
            )
        return self._pooled(depth)

    @memoised
    def _pooled(self, depth: int | None) -> Any:
        """Read the runs again; see `pool`."""
        missing = without(self.runs, self.sources)
        if missing:
            raise ValueError(
                f"run {missing[0]!r}: only judged documents were kept; "
                "pass the full runs to irl.compare"
            )
        pool = Pool.from_runs(
            self.judgments, {name: self.sources[name] for name in self.runs}, depth
        )
        pool.check_agrees(self.runs)
        return pool

    @property
    def can_be_read_again(self) -> bool:
        """Whether all runs are there as they were given."""
        return self.runs.keys() <= self.sources.keys()

    @property
    def has_unjudged(self) -> bool:
        """Whether unjudged documents can be read again within seconds."""
        is_known = not self.judgments.judged_only and self.can_be_read_again
        return (
            is_known
            and 0
            < sum(int(run.depth.sum()) for run in self.runs.values())
            <= _MOST_DOCUMENTS
        )

    @property
    def names(self) -> list[str]:
        """Names of the runs, in order."""
        return list(self.runs)

    @cached_property
    def per_query(self) -> pd.DataFrame:
        """Values, a row per run and query (index ``run``, ``query_id``), a column per measure."""
        index = pd.MultiIndex.from_product(
            [self.names, self.judgments.query_ids], names=["run", "query_id"]
        )
        return pd.DataFrame(
            {name: array.ravel() for name, array in self.values.items()}, index=index
        )

    @cached_property
    def table(self) -> pd.DataFrame:
        """Aggregates (means; sums of counts), a row per run, a column per measure."""
        index = pd.Index(self.names, name="run")
        columns = {}
        for name, array in self.values.items():
            measure = self.measures[name]
            columns[name] = [aggregate(measure, row) for row in array]
        return pd.DataFrame(columns, index=index, dtype=float)

    def with_measures(self, names: Iterable[str]) -> ScoredRuns:
        """Return the same runs with the measures ``names``, in that order."""
        wanted = list(names)
        measures = {name: self.measures[name] for name in wanted}
        return replace(
            self, measures=measures, values={name: self.values[name] for name in wanted}
        )

    def with_judgments(self, judgments: Judgments) -> ScoredRuns:
        """Return the same rankings, judged and scored again.

        ``judgments`` are of the same documents in the same order.
        """
        runs = {
            name: replace(run, judgments=judgments) for name, run in self.runs.items()
        }
        scored = {}
        for name, measure in self.measures.items():
            scored[name] = np.stack([values(measure, run) for run in runs.values()])
        return replace(self, judgments=judgments, runs=runs, values=scored)

    def scored_by(
        self, measures: Mapping[str, IRMeasure], progress: bool | None = None
    ) -> ScoredRuns:
        """Return the same runs with the values of other measures."""
        check_judgments(measures.values(), self.judgments)
        shape = (len(self.runs), len(self.judgments))
        scored = {name: np.empty(shape) for name in measures}
        for number, run in enumerate(
            progress_bar(
                progress, self.runs.values() if measures else (), desc="values"
            )
        ):
            for name, measure in measures.items():
                scored[name][number] = values(measure, run)
            run.forget()
        return replace(self, measures=dict(measures), values=scored)

    def tie_ranges(self, name: str, *, exact: bool = False) -> Interval:
        """Return what `tie_range` gives for each run, shape ``(S, Q)`` each."""
        measure = self.measures[name]
        pairs = zip(self.runs.values(), self.values[name], strict=True)
        low, high = zip(
            *(tie_range(measure, run, value, exact=exact) for run, value in pairs),
            strict=True,
        )
        return np.stack(low), np.stack(high)

    def expected_values(self, name: str) -> Floats:
        """Return the mean of a measure over all orders of ties, shape ``(S, Q)``."""
        measure = self.measures[name]
        pairs = zip(self.runs.values(), self.values[name], strict=True)
        return np.stack([tie_mean(measure, run, value) for run, value in pairs])

    def tie_warnings(self) -> Iterator[tuple[str, str, str, str]]:
        """Yield means that documents of equal score could change by more than 0.005.

        Each comes as run, measure, range with the average, and a sentence.
        """
        if not any(run.is_tied for run in self.runs.values()):
            return
        for name, measure in self.measures.items():
            for run, low, high in zip(self.names, *self.tie_ranges(name), strict=True):
                if not is_notable(measure, low, high):
                    continue
                expected = quick_tie_mean(
                    measure, self.runs[run], self.value_of(run, name)
                )
                between = "to" if rises_with_merit(measure) else "or"
                least, most = aggregate(measure, low), aggregate(measure, high)
                ends = f"{least:.3f} {between} {most:.3f}"
                average = aggregate(measure, expected)
                if not np.isnan(average):
                    ends += f", {average:.3f} on average"
                yield run, name, ends, tie_warning(name, measure, low, expected, high)

    def value_of(self, run: str, name: str) -> Floats:
        """Return the values of a measure for one run, shape ``(Q,)``."""
        return self.values[name][self.names.index(run)]

    def check_defined(self) -> None:
        """Raise if a value is not a finite number."""
        for name, array in self.values.items():
            undefined = np.argwhere(~np.isfinite(array))
            if not len(undefined):
                continue
            run, query = undefined[0].tolist()
            fault = "not a number" if np.isnan(array[run, query]) else "infinite"
            measure = self.measures[name]
            advice = "it cannot be compared"
            if "n" in measure.SUPPORTED_PARAMS and measure["n"] is None:
                advice = "give n, the number of documents in the collection"
            raise ValueError(
                f"{name} is {fault} for run {self.names[run]!r} on query "
                f"{self.judgments.query_ids[query]!r}{and_more(len(undefined) - 1)}; {advice}"
            )


def check_runs(runs: Any, least: int) -> None:
    """Require a mapping of at least ``least`` distinctly named runs.

    >>> check_runs({"bm25": "bm25.run"}, 2)
    Traceback (most recent call last):
    ValueError: at least 2 runs are needed, not 1
    """
    if not isinstance(runs, Mapping):
        raise ValueError(
            "give the runs as a mapping of names to runs, such as {'bm25': 'bm25.run'}, "
            f"not {shown(runs)}"
        )
    if len(runs) < least:
        needed = f"{least} runs are" if least > 1 else f"{least} run is"
        raise ValueError(f"at least {needed} needed, not {len(runs)}")
    twice = repeated([str(name) for name in runs])
    if twice is not None:
        raise ValueError(f"two runs have the same name, {twice}")


def runs_by_name(runs: Any) -> Any:
    """Return runs by name, also where one run is given alone.

    A run alone gets its file's name, else ``run``. Scores by document by query are one run.

    >>> runs_by_name({"q": {"a": 1.0}}), runs_by_name({"bm25": {"q": {"a": 1.0}}})
    ({'run': {'q': {'a': 1.0}}}, {'bm25': {'q': {'a': 1.0}}})
    """
    if is_path(runs):
        return {os.path.basename(os.fspath(runs)): runs}
    if not isinstance(runs, Mapping):
        return {"run": runs}
    ranking = next(
        (ranking for ranking in runs.values() if isinstance(ranking, Mapping)), {}
    )
    is_one_run = any(isinstance(score, numbers.Real) for score in ranking.values())
    return {"run": runs} if is_one_run else runs


def run_name(name: str | int | None) -> str | None:
    """Return the name of a run as tables have it: an integer means its decimal digits.

    >>> run_name(1), run_name("bm25"), run_name(None)
    ('1', 'bm25', None)
    """
    if is_integer(name):
        return str(name)
    return cast("str | None", name)


def label_of(name: object) -> str:
    """Return what errors call a run of several, unless it is a file.

    >>> label_of("bm25")
    "run 'bm25'"
    """
    return f"run {str(name)!r}"


def read_run(
    judgments: Judgments,
    source: Source | AlignedRun,
    name: str | None = None,
    allow_empty: bool = True,
    mismatches: Mismatches | None = None,
) -> AlignedRun:
    """Align a run, and check that it meets the judgments.

    Args:
        judgments: what it is aligned with.
        source: the run, as `what_is` returns it.
        name: its name in errors and warnings if there are several; by default, its file's.
        allow_empty: take a run that has no query, or no document, in common with the qrels, with a
            warning.
        mismatches: takes the warnings on ids, for one warning about several runs.

    Raises:
        ValueError: the run cannot be read.
    """
    label, title = "run", "the run"
    if name is not None:
        label = title = label_of(name)
    if isinstance(source, AlignedRun):
        if source.judgments is not judgments:
            raise ValueError(
                f"{title} was aligned with other judgments; give those as qrels"
            )
        if not allow_empty:
            check_matches(judgments, source, None, title, allow_empty=False)
        return source
    with naming(source.name or label):
        aligned = ranks_as_given(judgments, source)
    check_matches(
        judgments,
        aligned,
        source,
        title,
        allow_empty=allow_empty,
        mismatches=mismatches,
    )
    if are_swapped(judgments, aligned):
        warn(
            f"{title}: most of its judged documents have equal scores, while many grades of the "
            "qrels are fractions and differ; were the two swapped? The qrels come first, then the "
            "run"
        )
    if judgments.judged_only:
        return aligned.condensed()
    return aligned


def tie_range(
    measure: IRMeasure, run: AlignedRun, value: Floats, *, exact: bool = False
) -> Interval:
    """Return lowest and highest values of a measure over orders of ties, shape ``(Q,)``.

    They are those of trec_eval's order, of which ``value`` are the values, and of the orders with
    the best and the worst documents first, by what the measure looks at. For a measure that never
    falls when a better document moves up, no other order gives a value beyond. With ``exact``, all
    orders are tried for other measures, on queries that have few.

    >>> from ir_lexirecall.data.judgments import Judgments
    >>> from ir_lexirecall.data.alignment import align
    >>> from ir_measures import RR
    >>> run = align(Judgments.from_qrels({"q": {"a": 1, "b": 0}}), {"q": {"a": 1.0, "b": 1.0}})
    >>> tie_range(RR, run, values(RR, run))
    (array([0.5]), array([1.]))
    """
    if not run.is_tied:
        return value, value

    tries_all = exact and not rises_with_merit(measure)

    def ends() -> Interval:
        query, *orders = _extreme_orders(measure, run)
        low, high = value.copy(), value.copy()
        moved = [value[query], *(values(measure, order) for order in orders)]
        low[query], high[query] = np.minimum.reduce(moved), np.maximum.reduce(moved)
        if tries_all:
            least, most = ends_over_orders(measure, run.restricted_to(query))
            low[query] = np.fmin(low[query], least)
            high[query] = np.fmax(high[query], most)
        return low, high

    return run.cached(_key_of_ends(measure, tries_all), ends)


def keep_tie_values(
    measure: IRMeasure, run: AlignedRun, low: Floats, expected: Floats, high: Floats
) -> None:
    """Keep values that `tie_range` and `quick_tie_mean` shall return for a run.

    For runs whose documents are elsewhere, where these values were computed.
    """
    run.cached(_key_of_ends(measure, False), lambda: (low, high))
    run.cached(_key_of_quick_mean(measure), lambda: expected)


def _key_of_ends(measure: IRMeasure, tries_all: bool) -> tuple[Any, ...]:
    """Return the key under which a run keeps the lowest and highest values of a measure."""
    return "ends", measure, tries_all


def _key_of_quick_mean(measure: IRMeasure) -> tuple[Any, ...]:
    """Return the key under which a run keeps the mean of `quick_tie_mean`."""
    return "quickly expected", measure


def _extreme_orders(
    measure: IRMeasure, run: AlignedRun
) -> tuple[Ints, AlignedRun, AlignedRun]:
    """Return the queries with ties, and their rankings with the best, and the worst, first."""
    if not measure.params.get("gains"):
        return run.tied_queries(merit_in_ties(measure))
    query, best, worst = with_named_gains(measure, run).tied_queries()
    judgments = run.restricted_to(query).judgments  # with grades again, not their gains
    return (
        query,
        replace(best, judgments=judgments),
        replace(worst, judgments=judgments),
    )


def tie_mean(measure: IRMeasure, run: AlignedRun, value: Floats) -> Floats:
    """Return the mean of a measure over all orders of ties, shape ``(Q,)``.

    Queries without ties keep their ``value``; NaN where the mean cannot be had exactly.

    >>> from ir_lexirecall.data.judgments import Judgments
    >>> from ir_lexirecall.data.alignment import align
    >>> from ir_measures import RR
    >>> run = align(Judgments.from_qrels({"q": {"a": 1, "b": 0}}), {"q": {"a": 1.0, "b": 1.0}})
    >>> tie_mean(RR, run, values(RR, run))
    array([0.75])
    """
    if not run.is_tied:
        return value

    def mean() -> Floats:
        query, *orders = _extreme_orders(measure, run)
        expected = expected_values(measure, run.restricted_to(query))
        # Where ties change nothing, sums in another order must not say otherwise.
        for known in (value[query], *(values(measure, order) for order in orders)):
            expected = np.where(same(expected, known), known, expected)
        results = value.copy()
        results[query] = expected
        return results

    return run.cached(("expected", measure), mean)


def quick_tie_mean(measure: IRMeasure, run: AlignedRun, value: Floats) -> Floats:
    """Return `tie_mean`; NaN if more than 100 documents of a query have the same score.

    For some measures the mean over all orders of 1,000 documents takes a second a query: a warning
    does without it, `tie_audit` has it.

    >>> from ir_lexirecall.data.judgments import Judgments
    >>> from ir_lexirecall.data.alignment import align
    >>> from ir_measures import RR
    >>> tied = {f"d{i}": 1.0 for i in range(200)}
    >>> run = align(Judgments.from_qrels({"q": {"d7": 1}}), {"q": tied})
    >>> quick_tie_mean(RR, run, values(RR, run))
    array([nan])
    """
    if not run.is_tied:
        return value

    def mean() -> Floats:
        if run.ties is not None and run.ties.size.max() > _QUICKLY_AVERAGED:
            return np.full_like(value, np.nan)
        return tie_mean(measure, run, value)

    return run.cached(_key_of_quick_mean(measure), mean)


def is_notable(measure: IRMeasure, low: Floats, high: Floats) -> bool:
    """Return whether ties could change the mean of a measure by more than 0.005."""
    return aggregate(measure, high) - aggregate(measure, low) > NOTABLE


def tie_warning(
    name: str, measure: IRMeasure, low: Floats, expected: Floats, high: Floats
) -> str:
    """Return a sentence on what ties could change of the mean of a measure."""
    lowest, mean, highest = (aggregate(measure, each) for each in (low, expected, high))
    queries = int((low < high).sum())
    tied = f"ties in {queries} quer{'y' if queries == 1 else 'ies'}"
    average = "" if np.isnan(mean) else f", {mean:.3f} on average over all orders"
    if rises_with_merit(measure):
        effect = f"leave {name} between {lowest:.3f} and {highest:.3f}"
    else:  # other orders may give values beyond
        effect = f"can make {name} {lowest:.3f} or {highest:.3f}"
    return f"tied scores {effect}{average} ({tied}); break the ties, or see tie_audit."
