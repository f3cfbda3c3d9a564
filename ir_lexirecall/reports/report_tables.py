"""Prepare the tables of a page, with all digits of numbers and the meanings of columns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.selecting import with_keys, without
from ir_lexirecall.benchmarks import Benchmark
from ir_lexirecall.comparison import Comparison
from ir_lexirecall.present.standings import defined
from ir_lexirecall.present.tables import ALPHA, PLACES, cells_of, plain
from ir_lexirecall.present.text import format_number
from ir_lexirecall.significance import TESTS
from ir_lexirecall.significance.draws import OVER

_RESAMPLED = {
    "queries": "queries resampled within each collection",
    "collections": "collections resampled, then the queries of each",
}
_MEANINGS = {
    "wins": (
        "queries on which run_a is better (losses: run_b is; ties: neither is; "
        "incomparable: the preference does not order the two)"
    ),
    "net_wins": "(wins - losses) / queries",
    "difference": (
        "difference of the means (for a preference: its mean); over collections, from the "
        "baseline"
    ),
    "estimate": "what the test estimates: see the test",
    "ci_low": (
        "interval at 1 - alpha of the mean or the estimate; an interval of the estimate "
        "excludes 0 exactly if p is at most alpha"
    ),
    "p": "p of the test for this pair alone",
    "p_corrected": (
        "p corrected for all pairs of one criterion (of all criteria if the family is all)"
    ),
    "p_corrected_all": "p corrected for all pairs of all criteria",
    "worse_p": "one-sided p for a loss, corrected over all criteria and pairs",
    "better_p": "two-sided p for a gain (else 1), corrected over all criteria and pairs",
    "within_p": "one-sided p for a difference smaller than the margin, corrected over all pairs",
    "not_worse_p": "one-sided p for a loss smaller than the margin, corrected over all pairs",
    "bound_low": (
        "one-sided bounds of the estimate at 1 - alpha, uncorrected; they decide the verdict, and "
        "allow for skewness and rare losses"
    ),
    "effect_size": "; ".join(f"{test.title}: {test.effect}" for test in TESTS.values()),
    "verdict": "on run_a against run_b; over collections, on the run against the baseline",
    "holds": (
        "for significant differences: whether the sign stays the same, "
        "whatever grades the unjudged documents down to the depth would get"
    ),
    "p_not_beaten": "p of the hypothesis that no run has a better mean",
    "rank_low": (
        "interval of the rank by the macro mean, "
        "for all runs at once, also where many are nearly equal"
    ),
    "rank_from": "ranks of the run in 1 - alpha of the resamples",
    "effect": "random-effects mean of the differences over collections",
    "next_low": "interval of the difference on one more collection like these",
    "tau2": "variance of the true differences between collections",
    "i2": "share of the variance not explained by sampling queries",
    "p_heterogeneity": "p of the hypothesis that the difference is the same on all collections",
}
"""What columns mean, where that needs words."""


Table = tuple[str, "pd.DataFrame", int]
"""The title of a table, the table, and how many of its columns name a row."""


def table_of(frame: pd.DataFrame, keys: int = 1) -> dict[str, Any]:
    """Return a data frame as a table of the page.

    Args:
        frame: the data frame.
        keys: how many of its columns, from the first on, name a row.

    Returns:
        `columns`: the name of each, whether it names a row, and whether it holds numbers; `rows` of
        cells: the column, a text, and all digits of a number (else None); `meanings` of columns
        that need explaining.

    >>> import pandas as pd
    >>> table = pd.DataFrame({"run": ["a-b"], "AP": [1 / 3], "p": [1e-7], "wins": [2]})
    >>> rows = table_of(table)["rows"]
    >>> [(text, digits) for _, text, digits in rows[0]]
    [('a-b', None), ('0.3333', '0.3333333333333333'), ('< 0.0001', '1e-07'), ('2', '2')]
    """
    columns, cells = [], []
    for index, name in enumerate(map(str, frame.columns)):
        values = frame.iloc[:, index]
        is_number = getattr(values.dtype, "kind", "O") in "iuf"
        column = {"name": name, "is_key": index < keys, "is_number": is_number}
        columns.append(column)
        exact = map(plain, values.tolist())
        shown: list[tuple[dict[str, Any], str, str | None]] = []
        texts = cells_of(name, values, PLACES, frame.attrs.get("alpha", ALPHA))
        for text, value in zip(texts, exact, strict=True):
            if value is None:
                shown.append((column, minus(text), None))
            elif is_number:
                shown.append((column, minus(text), repr(value)))
            else:
                shown.append((column, text, None))
        cells.append(shown)
    meanings = with_keys(_MEANINGS, map(str, frame.columns))
    return {
        "columns": columns,
        "rows": list(zip(*cells, strict=True)),
        "meanings": meanings,
    }


def fitting(tables: Iterable[Table], room: int) -> tuple[dict[str, Any], str]:
    """Return the tables that fit on a page, by title, and a sentence about all others.

    Args:
        tables: the tables, in order.
        room: how many cells the page may have in all of them.
    """
    shown: dict[str, Any] = {}
    left_out: list[str] = []
    for title, table, keys in tables:
        room -= table.size
        if room >= 0:
            shown[title] = table_of(table, keys)
        else:
            left_out.append(f"{title} ({table.size:,} cells)")
    if not left_out:
        return shown, ""
    return shown, f"Left out, as too large for one page: {'; '.join(left_out)}."


# -- which tables there are ------------------------------------------------------------------------


def tables_of(result: Comparison | Benchmark) -> list[Table]:
    """Return all tables of a result, those that readers need most often first."""
    if isinstance(result, Benchmark):
        return _tables_of_benchmark(result)
    return _tables_of_comparison(result)


def _tables_of_benchmark(result: Benchmark) -> list[Table]:
    """Return the tables over all collections, then those on each collection."""
    tables = [
        (f"Over collections, {_resampled(over, result)}", result.overall(over), 2)
        for over in _ways_of_resampling(result)
    ]
    tables.append(("Means on each collection", result.means(), 3))
    for name, comparison in result.items():
        tables_of_pairs = [comparison.table(by) for by in _defined(comparison)]
        if tables_of_pairs:
            differences = pd.concat(tables_of_pairs, ignore_index=True)
            tables.append((f"Differences on {name}", differences, 3))
    if result.grouped:
        all_defined = all(_defined(one) == one.criteria for one in result.values())
        tables += _tables_of_groups(result, 3, all_defined)
    return tables


def _ways_of_resampling(result: Benchmark) -> list[str]:
    """Return what can be resampled over collections; nothing if they cannot be summed up."""
    if not can_be_summed_up(result):
        return []
    if result.per_task:
        return without(OVER, ["queries"])
    return list(OVER)


def _resampled(over: str, result: Benchmark) -> str:
    """Return in words what is resampled."""
    words = _RESAMPLED[over]
    if result.cluster:
        return words.replace("queries", "groups of queries")
    return words


def _tables_of_comparison(result: Comparison) -> list[Table]:
    """Return the means, the best sets, and the differences by each criterion."""
    names = _defined(result)
    tables: list[Table] = [("Means, a row per criterion and run", result.means(), 2)]
    if names:
        best = pd.concat([result.best_set(by).assign(criterion=by) for by in names])
        columns = ["criterion", "run", "p_not_beaten", "may_be_best"]
        tables.append(("Best sets", best[columns], 2))
    for by in names:
        title = f"Differences by {by}, a row per pair of runs"
        tables.append((title, _differences(result, by), 2))
    if result.compared.grouped:
        tables += _tables_of_groups(result, 2, names == result.criteria)
    return tables


def _differences(result: Comparison, by: str) -> pd.DataFrame:
    """Return the differences by a criterion, without the columns that are alike in all rows."""
    table = result.table(by).drop(columns="criterion")
    if not result.compared.by[by].is_measure:
        table = table.drop(columns=["mean_a", "mean_b"])
    if result.missing.undecided(by) is not None:
        table["holds"] = result.verdicts(by, holds=True)["holds"]
    return table


def _tables_of_groups(
    result: Comparison | Benchmark, keys: int, all_defined: bool
) -> list[Table]:
    """Return means in groups of queries, and differences if all criteria are defined."""
    tables: list[Table] = [("Means in groups of queries", result.group_means(), keys)]
    if all_defined:
        tables.append(("Differences in groups of queries", result.group_table(), keys))
    return tables


def can_be_summed_up(result: Benchmark) -> bool:
    """Return whether there are results over all collections; if not, the finding says why."""
    try:
        result.overall()
    except ValueError:
        return False
    return True


def _defined(result: Comparison) -> list[str]:
    """Return the criteria by which runs can be compared."""
    if len(result.runs) > 1:
        return list(defined(result))
    return []


# -- numbers ---------------------------------------------------------------------------------------


def number(value: float) -> str:
    """Return a number with four decimal places, or its magnitude if it would read as 0.

    >>> number(-0.5), number(0.00001), number(float("nan"))
    ('−0.5000', '1.0e−05', '–')
    """
    return minus(format_number(value, PLACES))


def signed(value: float) -> str:
    """Return a difference with its sign.

    >>> signed(0.5), signed(-0.0), signed(-0.00001), signed(float("nan"))
    ('+0.5000', '+0.0000', '−1.0e−05', '–')
    """
    shown = number(value + 0.0)
    if shown.startswith(("−", "–")):
        return shown
    return f"+{shown}"


def minus(text: str) -> str:
    """Return the text of a number with a typographic minus sign; a dash if it is missing.

    >>> minus("-1.0e-05"), minus("-")
    ('−1.0e−05', '–')
    """
    if text == "-":
        return "–"
    return text.replace("-", "−")
