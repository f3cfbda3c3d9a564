"""Rows that summarise the others, such as `Average` below a table: they are no queries."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import takewhile
from typing import TypeAlias

import numpy as np

from ir_lexirecall._util.arrays import Floats, Ints
from ir_lexirecall.io.value_cells import SUMMARY

Statistic: TypeAlias = Callable[[Floats], float]
_LEAST_IN_LOGARITHMS = 1e-5
PrintedRow: TypeAlias = tuple[str | None, str, str, float | None]
"""A run, a query, a measure, and the value; None if it is not a number."""


def _deviation(values: Floats) -> float:
    return float(values.std(ddof=1)) if len(values) > 1 else 0.0


def _quantile(percent: float) -> Statistic:
    return lambda x: float(np.percentile(x, percent))


def _geometric_mean(values: Floats) -> float:
    # As in trec_eval, values of 0 count as a little more.
    return float(np.exp(np.log(np.maximum(values, _LEAST_IN_LOGARITHMS)).mean()))


def _harmonic_mean(values: Floats) -> float:
    if (values <= 0).any():
        return 0.0
    return float(len(values) / (1 / values).sum())


_MEANS: tuple[Statistic, ...] = (np.mean, np.sum)
"""The mean, or the sum, as trec_eval has it for counts."""
_MEAN_WORDS = (
    "aggregate",
    "all",
    "amean",
    "average",
    "averaged",
    "avg",
    "macro",
    "mean",
    "means",
    "micro",
    "overall",
    "sum",
    "summary",
    "total",
)
_RANK_WORDS = frozenset(("borda", "rank", "ranks"))
_MEANS_OF_TASKS = _RANK_WORDS.union(("average", "averaged", "avg", "mean", "overall"))
"""Words of means and ranks of tasks, whatever other words stand beside them."""
_STATISTICS: dict[str, tuple[Statistic, ...]] = {
    **dict.fromkeys(_MEAN_WORDS, _MEANS),
    **dict.fromkeys(("count", "counts", "n", "num"), (len,)),
    **dict.fromkeys(("geometric", "gm", "gmean"), (_geometric_mean,)),
    **dict.fromkeys(("harmonic", "hm", "hmean"), (_harmonic_mean,)),
    **dict.fromkeys(("best", "max", "maximum"), (np.max,)),
    **dict.fromkeys(("min", "minimum", "worst"), (np.min,)),
    "median": (np.median,),
    **dict.fromkeys(
        ("se", "sem", "stderr"), (lambda x: _deviation(x) / np.sqrt(len(x)),)
    ),
    **dict.fromkeys(
        ("deviation", "sd", "std", "stddev", "stdev"), (_deviation, np.std)
    ),
    **dict.fromkeys(("var", "variance"), (lambda x: _deviation(x) ** 2,)),
}
"""What a row holds of the others, by a word in its name."""
_FURTHER_WORDS = frozenset(
    [
        *("across", "arithmetic", "by", "of", "over", "per", "q", "standard", "the"),
        *("column", "models", "queries", "query", "row", "runs", "score", "systems"),
        *("task", "tasks", "topic", "topics", "value", "grand", "dev", "dataset"),
        *("datasets", "tasktype", "type", "types", *(_RANK_WORDS - {"borda"})),
    ]
)
"""Words beside that of a statistic, as in `Mean rank`; `Borda count` is no number of rows."""
_OUTCOMES = frozenset(
    (
        *("delta", "diff", "difference", "improvement", "gain", "change", "t test"),
        *("wins", "losses", "ties", "ci", "p value", "pvalue"),
        *(*_RANK_WORDS, "rank borda", "borda rank"),
    )
)
"""Names of rows that say what a comparison of the columns gives."""
_SUMMARY_WORDS = {*_STATISTICS, *" ".join(_OUTCOMES).split()}
"""Words of which the name of a summary has one at least, unless it is a quantile."""
_WORD = re.compile(r"[^\W\d_]+")
_LETTERS_OF_IDS = frozenset(("n", "num", "q"))
"""Words of names of rows that are ids with a number behind them, such as `n7`."""
_QUANTILE = re.compile(r"\s*(\d{1,2}(?:\.\d{1,9})?)\s*%\s*", re.ASCII)
"""The name of a quantile, as `describe` of pandas has it."""
_SPREAD = re.compile(
    r"(9\d(\.\d)?\s*%?\s*)?(ci|±|\+/-)(\s*9\d(\.\d)?\s*%?)?(\s*(low|upp)(er)?)?|9\d\s*%",
    re.ASCII | re.IGNORECASE,
)
"""The name of an interval, or of an end of it."""
_STANDARD_ERROR = re.compile(r"st(andar)?d\.?[\s_]*err(or)?(?![a-z])")
_SUBTOTAL_WORDS = frozenset(("average", "avg", "mean", "means", "subtotal", "total"))
_MOST_WORDS = 5
_LEAST_CHANCE = 1e-3
"""A row under an ordinary name is a summary if it is the mean by chance at most this often."""
_CHANCE_OF_DIGITS = 0.1
"""How often the last query may have more digits than all others."""
_MOST_PARTS = 60
"""Values of RR down to rank 5 and of P@30 are multiples of 1/60, and of fewer parts."""
_SLACK = 1e-9
_MOST_DIGITS = 12
_MOST_UNANSWERED = 2
"""Queries of the qrels are at most this many times as many as those of a run."""
_MOST_SUMMARIES = 100
"""Rows of summaries that a table has at most; each is compared with all other rows."""
COARSEST = 0.01
"""The unit of the last digit that programs print at least."""
_WIDEST_GRADES = 10
"""Range up to which whole numbers count as grades; wider ones may be rounded percentages."""
COARSE = 0.02
"""Share of the spread of values above which the unit of a last digit says nothing."""


def is_summary_name(name: str) -> bool:
    """Return whether a row may be a summary by its name, which has no other words.

    >>> is_summary_name("Mean (Task)"), is_summary_name("macro-avg"), is_summary_name("q1")
    (True, True, False)
    >>> is_summary_name("what is the average height?")
    False
    """
    if _is_spread(name):
        return True
    words = _words_of_row(name)
    if words.isdisjoint(_SUMMARY_WORDS) and _QUANTILE.fullmatch(name) is None:
        return False  # as of most queries, quickly
    plain = re.sub(r"[\W_]+", " ", name.lower()).strip()
    if len(plain) == 1:
        return False  # a letter names a query as well
    return plain in _OUTCOMES or bool(statistics_named(name))


def names_means(name: str) -> bool:
    """Return whether a name is one of means or sums, not of other statistics.

    >>> names_means("Average"), names_means("std"), names_means("q1")
    (True, False, False)
    """
    statistics = statistics_named(name)
    return bool(statistics) and {*statistics} <= {*_MEANS}


def _is_spread(name: str) -> bool:
    """Return whether a name is that of an interval around means, such as `95% CI` or `±`."""
    return _SPREAD.fullmatch(name.strip()) is not None


def has_word_of_means(name: str) -> bool:
    """Return whether the name of a row of tasks says that it may hold means or ranks.

    >>> [has_word_of_means(name) for name in ("Retrieval (avg)", "Task ranks", "QA", "all")]
    [True, True, False, True]
    """
    return is_summary_name(name) or not _words_of_row(name).isdisjoint(_MEANS_OF_TASKS)


def _words_of_row(name: str) -> set[str]:
    """Return the words of the name of a row, in lower case; `std err` counts as one word."""
    return set(_WORD.findall(_STANDARD_ERROR.sub("stderr", name.lower())))


def statistics_named(name: str) -> list[Statistic]:
    """Return the statistics that the name of a row stands for; none if it has other words, too."""
    if quantile := _QUANTILE.fullmatch(name):
        return [_quantile(float(quantile[1]))]
    words = _words_of_row(name)
    if words.isdisjoint(_STATISTICS):
        return []
    if words <= _LETTERS_OF_IDS and re.search(r"\d", name):
        return []
    if not words <= _STATISTICS.keys() | _FURTHER_WORDS:
        return []
    statistics: list[Statistic] = []
    for word in sorted(words):
        statistics += _STATISTICS.get(word, ())
    return statistics


def is_subtotal_name(name: str) -> bool:
    """Return whether a row may be a summary of some other rows by its name.

    >>> is_subtotal_name("Group A mean"), is_subtotal_name("weighted avg")
    (True, True)
    """
    words = _WORD.findall(name.lower())
    return 1 < len(words) < _MOST_WORDS and words[-1] in _SUBTOTAL_WORDS


def _may_summarise(name: str) -> bool:
    """Return whether a name is one of a summary of the others, or of some of them."""
    if has_word_of_means(name) or is_subtotal_name(name):
        return True
    return bool(statistics_named(name))


def summary_rows(
    values: Floats, query_ids: Sequence[str], n_beside: Ints | None = None
) -> list[int]:
    """Return the indices of queries whose values are the means of the others.

    They are the last rows, or the first ones, without a query between or beside them; means with a
    value that no query has may stand anywhere. Every value must be the mean of the other values of
    its run and measure, up to the digits that are printed.
    Under a name such as `Average` or `std`, it may be another statistic that the name stands for:
    the sum, as trec_eval has it for counts, the median, the standard deviation, ...; under a name
    such as `Rank (Borda)`, the ranks of the runs. Beside means, `95% CI` may have any values.
    Under another name, the row must be the last one, and its values must be so many and so precise
    that they are no means by chance: where all queries have the same value, or a table has one
    column of two digits, a query may well be the mean of the others.

    Args:
        values: shape ``(K, S, Q)``; NaN where a value is missing.
        query_ids: the names of the rows.
        n_beside: how many rows of a run stand before each row, and behind it, at most, shape
            ``(2, Q)``; None if rows with a name such as `Average` may stand anywhere.

    >>> table = np.array([[[0.5, 0.25, 0.38], [0.75, 0.5, 0.63]]])
    >>> order = np.array([[0, 1, 2], [2, 1, 0]])
    >>> summary_rows(table, ["q1", "q2", "Average"], order)
    [2]
    >>> summary_rows(table, ["q1", "Average", "q2"], order)
    []
    """
    named = {q for q, name in enumerate(query_ids) if _may_summarise(name)}
    rows = _Rows(values, query_ids, frozenset(named))
    if n_beside is None:
        return rows.proved(named)
    n_before, n_behind = n_beside
    last = {*np.flatnonzero(n_behind == 0).tolist()}
    sure = rows.sure_means(last, _unbroken(n_behind, rows.named | last))
    at_end = _unbroken(n_behind, rows.named | sure)
    summaries = {*sure & at_end, *rows.proved(at_end)}
    if any(map(rows.names_means, summaries)) or sure & at_end:
        summaries |= {q for q in at_end if _is_spread(query_ids[q])}
    at_start = _unbroken(n_before, rows.named - at_end)
    first = rows.proved(at_start, summaries)
    if len(first) == len(at_start) and any(map(rows.is_no_value, first)):
        summaries |= at_start
    means = set(filter(rows.names_means, named))
    if len(means) <= _MOST_SUMMARIES:
        # Where rows were sorted by name, means stand in the middle.
        summaries |= set(filter(rows.has_own_value, rows.proved(means, summaries)))
    return sorted(summaries)


def _unbroken(n_beside: Ints, rows: Set[int]) -> set[int]:
    """Return the rows at one end of a table, up to the first one that is not in `rows`.

    There are none if they are more than a table has summaries.

    Args:
        n_beside: how many rows of a run stand between each row and that end, at most.
        rows: the rows that may be taken, by index.
    """
    in_order = np.argsort(n_beside, kind="stable").tolist()
    block = list(takewhile(rows.__contains__, in_order))
    while block and n_beside[block[-1]] >= len(block):
        block.pop()  # another row is between in some run
    return set(block) if len(block) <= _MOST_SUMMARIES else set()


@dataclass(frozen=True)
class _Rows:
    """The rows of a table.

    Attributes:
        values: shape ``(K, S, Q)``; NaN where a value is missing.
        names: the names of the rows.
        named: the rows with the name of a summary.
    """

    values: Floats
    names: Sequence[str]
    named: frozenset[int]

    def names_means(self, q: int) -> bool:
        """Return whether a row by its name holds means or sums."""
        return names_means(self.names[q])

    def has_own_value(self, q: int) -> bool:
        """Return whether a row holds a value that no other row has."""
        others = np.delete(self.values, q, axis=2)
        return not (others == self.values[:, :, [q]]).any(axis=2).all()

    def is_no_value(self, q: int) -> bool:
        """Return whether a row holds means by its name, or a value that no other row has."""
        return self.names_means(q) or self.has_own_value(q)

    def sure_means(self, last: Set[int], at_end: Set[int]) -> set[int]:
        """Return the last rows, whatever their names, whose values are no means by chance."""
        means = set()
        for q in last:
            without = [sorted({*others, q}) for others in (at_end, self.named, ())]
            if _is_mean_for_sure(self.values, q, without):
                means.add(q)
        return means

    def proved(
        self, candidates: Set[int], summaries: Set[int] = frozenset()
    ) -> list[int]:
        """Return the candidates whose values are what their names say of the others.

        Args:
            candidates: rows with the name of a summary.
            summaries: rows that are no others.
        """
        proved: list[int] = []
        for q in sorted(candidates):
            # A query may be called `all`, so the rows with such names are others, too, or not.
            of_row = statistics_named(self.names[q])
            several = (proved, candidates, self.named)
            without = [sorted({*rows, *summaries, q}) for rows in several]
            is_proved = of_row and any(
                _is_row_of(self.values, q, rows, of_row) for rows in without
            )
            if is_proved or _are_ranks(self.names[q], self.values[:, :, q]):
                proved.append(q)
        return proved


def _are_ranks(name: str, row: Floats) -> bool:
    """Return whether a row, by its name and values, holds the ranks 1 to S of the S runs."""
    if row.shape[1] < 2 or _RANK_WORDS.isdisjoint(_words_of_row(name)):
        return False
    if not is_summary_name(name):
        return False
    return bool((np.sort(row) == np.arange(1, row.shape[1] + 1)).all())


def rows_over_queries(rows: Sequence[PrintedRow]) -> set[int]:
    """Return the indices of rows that a program, such as trec_eval, wrote over all queries.

    A query may be called `all`, too. Of two such rows, the last one is over all queries. A single
    one is, if it has a measure that no query has, such as `num_q`, or if at least half of its
    values follow from those of the queries.

    >>> rows = [(None, "all", "map", 0.5), (None, "q1", "map", 0.0)]
    >>> rows_over_queries([*rows, (None, "all", "map", 0.25)]), rows_over_queries(rows)
    ({2}, set())
    """
    positions: dict[tuple[str | None, str], list[int]] = {}
    last_rows: dict[tuple[str | None, str], dict[str, int]] = {}
    repeated = set()
    for n, (run, query, measure, _) in enumerate(rows):
        positions.setdefault((run, measure), []).append(n)
        if query in SUMMARY:
            of_name = last_rows.setdefault((run, query), {})
            if measure in of_name:
                repeated.add((run, query))
            of_name[measure] = n
    candidates = {n for of_name in last_rows.values() for n in of_name.values()}
    summaries: set[int] = set()
    for name, of_name in last_rows.items():
        block = [*of_name.values()]
        if name in repeated or _is_over_queries(rows, block, positions, candidates):
            summaries.update(block)
    return summaries


def _is_over_queries(
    rows: Sequence[PrintedRow],
    block: Sequence[int],
    positions: Mapping[tuple[str | None, str], Sequence[int]],
    candidates: Set[int],
) -> bool:
    """Return whether the rows of a run under one name are over all queries.

    Args:
        rows: all rows.
        block: the indices of those under the name, one per measure.
        positions: the indices of the rows of each run and measure.
        candidates: the indices of all rows that may be over all queries.
    """
    follow = []
    for n in block:
        run, _, measure, value = rows[n]
        others = [i for i in positions[run, measure] if i != n]
        queries = [i for i in others if i not in candidates]
        if not queries:
            return True
        if value is None or not np.isfinite(value):
            continue
        # A query may have another one of these names, so it is one of the others, too, or not.
        follow.append(
            any(_follows(value, [rows[i][3] for i in of]) for of in (queries, others))
        )
    return 2 * sum(follow) >= len(follow)


def _follows(value: float, of_queries: Iterable[float | None]) -> bool:
    """Return whether a program may print a value over queries with these values.

    trec_eval prints means, sums of counts, and geometric means of what it prints as logarithms. If
    all queries of the qrels count (-c), it divides by more of them than it prints.
    """
    values = np.array([x for x in of_queries if x is not None], dtype=np.float64)
    values = values[~np.isnan(values)]
    if not len(values) or not np.isfinite(values).all():
        return False
    total = float(values.sum())
    possible = [float(values.mean()), total]
    if values.max() <= 0:
        possible.append(float(np.exp(values.mean())))
    if value > 0 and total / value < _MOST_UNANSWERED * len(values):
        n_of_qrels = max(len(values), round(total / value))
        possible.append(total / n_of_qrels)
    # A program prints all values of a measure with equally many digits; zeros at the end get lost.
    unit = min(COARSEST, unit_of(np.array([value, *values])))
    unit_of_value = unit_of(np.array([value]))
    if unit_of_value > COARSE * np.ptp(values):
        unit_of_value = unit
    tolerance = unit_of_value / 2 + unit * min(0.5, 2 / np.sqrt(12 * len(values)))
    return any(abs(value - one) <= tolerance for one in possible)


def runs_of_means(
    values: Floats, runs: Sequence[str], *, other_statistics: bool = False
) -> list[str]:
    """Return the runs, by a name such as `Average`, that hold the means of the other runs.

    None are, unless two other runs are left.

    Args:
        values: shape ``(K, S, Q)``; NaN where a value is missing.
        runs: their names.
        other_statistics: take other statistics, too, such as the largest value under `max`.

    >>> values = np.array([[[0.5, 0.25], [0.75, 0.5], [0.63, 0.38]]])
    >>> runs_of_means(values, ["a", "b", "Average"]), runs_of_means(values, ["a", "b", "c"])
    (['Average'], [])
    """
    # Runs stand where queries do: (measure, query, run).
    means = [runs[i] for i in summary_rows(values.transpose(0, 2, 1), runs)]
    means = [name for name in means if statistics_named(name)]  # no ranks
    if not other_statistics:
        means = list(filter(names_means, means))
    return means if len(runs) - len(means) > 1 else []


def _is_row_of(
    values: Floats, q: int, left_out: Sequence[int], statistics: Sequence[Statistic]
) -> bool:
    """Return whether a row holds statistics of the other rows, except for those left out.

    A run that lacks values is not checked, unless all runs lack some: its row may be computed from
    values that are not in the table.
    """
    others = np.delete(values, left_out, axis=2)
    has_gaps = np.isnan(others).any(axis=2)
    row = values[:, :, q]
    if not has_gaps.all() and not np.isnan(row[~has_gaps]).all():
        row = np.where(has_gaps, np.nan, row)
    return _is_summary(row, others, statistics)


def _is_mean_for_sure(values: Floats, q: int, without: Iterable[Sequence[int]]) -> bool:
    """Return whether a row under an ordinary name holds means of the others, not by chance."""
    row = values[:, :, q]
    for rows in without:
        others = np.delete(values, rows, axis=2)
        is_mean = _is_summary(row, others, _MEANS[:1])
        if is_mean and _chance(row, others) <= _LEAST_CHANCE:
            return True
    return False


def _is_summary(row: Floats, others: Floats, statistics: Sequence[Statistic]) -> bool:
    """Return whether each value of a row is one of some statistics of the others, as printed."""
    present = ~np.isnan(row)
    printed, columns = row[present], [x[~np.isnan(x)] for x in others[present]]
    if not printed.size or not all(x.size for x in columns):
        return False
    if not np.isfinite(np.concatenate(columns)).all():
        return False
    unit = unit_of(printed)
    for value, x in zip(printed, columns, strict=True):
        if not any(_is_near(value, statistic(x), x, unit) for statistic in statistics):
            return False
    return True


def _is_near(value: float, mean: float, values: Floats, unit: float) -> bool:
    """Return whether a printed value is a mean of printed values, whatever was rounded.

    Args:
        value: the value, printed with its last digit in `unit`.
        mean: the mean, or another statistic, of what is printed of the values.
        values: the values. The mean of n that are rounded to u is off by about u / sqrt(12 n).
            Grades and hits, which are whole numbers, are exact, and so is a single value.
        unit: the smaller unit of `values` replaces one that is coarse for their spread.
    """
    return bool(abs(value - mean) <= _tolerance(values, unit))


def _tolerance(values: Floats, unit: float) -> float:
    """Return how far a printed mean of printed values may be off; see `_is_near`."""
    unit_of_values, spread = unit_of(values), float(np.ptp(values))
    if unit > COARSE * spread:
        unit = min(unit, unit_of_values)
    if unit_of_values == 1 and spread <= _WIDEST_GRADES:
        return unit / 2 if unit < 1 else COARSEST / 2
    if len(values) == 1:
        # The mean of 0.4 is printed as 0.4 or 0.40, not as 0.5, nor as 0.45.
        return max(unit, unit_of_values) / 2 * (1 - 1e-6)
    return unit / 2 + unit_of_values * min(0.5, 2 / np.sqrt(12 * len(values)))


def unit_of(values: Floats) -> float:
    """Return the unit of the last digit of values.

    >>> unit_of(np.array([0.5, 0.25]))
    0.01
    """
    size = max(1.0, float(np.abs(values).max()))
    if not np.isfinite(size):
        return 1.0
    for digits in range(_MOST_DIGITS):
        if np.abs(np.round(values, digits) - values).max() <= 1e-14 * size:
            return float(10.0**-digits)
    return 10.0**-_MOST_DIGITS * size


def _chance(row: Floats, others: Floats) -> float:
    """Return the probability that a row holds the means of the others by chance.

    Each column counts once: with `n` steps of the row's last digit between its smallest and largest
    value, 1 in `n`. If a row with more digits than all others has the very means, it is a tenth.

    Args:
        row: shape ``(K, S)``.
        others: shape ``(K, S, Q)``.
    """
    unit, unit_of_others = (
        unit_of(row[~np.isnan(row)]),
        unit_of(others[~np.isnan(others)]),
    )
    is_finer = unit < unit_of_others
    with np.errstate(invalid="ignore"):
        off = np.nanmax(np.abs(row - np.nanmean(others, axis=2)))
    chance = 1.0
    if is_finer and off <= unit / 2 + _SLACK:
        chance = _CHANCE_OF_DIGITS
    elif is_finer:
        unit = unit_of_others
    columns = np.concatenate([others, row[:, :, None]], axis=2)
    for column in np.unique(columns.reshape(-1, columns.shape[2]), axis=0):
        present = column[~np.isnan(column)]
        spread = float(np.ptp(present[:-1])) if len(present) > 1 else 0.0
        if spread > 0:
            chance *= min(1.0, _step(present, unit) / spread)
    return chance


def _step(values: Floats, unit: float) -> float:
    """Return the step between possible values: of many digits, perhaps a fraction such as 1/30.

    Args:
        values: the values of a column.
        unit: the unit of their last digit.
    """
    if unit > COARSEST / 2:
        return unit
    for parts in range(1, _MOST_PARTS + 1):
        multiples = values * parts
        if np.abs(multiples - np.round(multiples)).max() <= parts * unit / 2 + _SLACK:
            return 1 / parts
    return unit
