"""The tables of a page: what a result has, as far as there is room, with all digits of numbers and what columns mean."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall.benchmarks import Benchmark
from ir_lexirecall.comparison import Comparison
from ir_lexirecall.present.standings import defined
from ir_lexirecall.present.tables import PLACES, cells_of, plain
from ir_lexirecall.present.text import format_number
from ir_lexirecall.significance import TESTS
from ir_lexirecall.significance.draws import OVER

_RESAMPLED = {
    "queries": "queries resampled within each collection",
    "collections": "collections resampled, then the queries of each",
}
_MEANINGS = {
    "wins": "queries on which run_a is better (losses: run_b, ties: neither, incomparable: a partial order does not say)",
    "net_wins": "(wins - losses) / queries",
    "difference": "of the means (of a preference: the mean preference); over collections, to the baseline",
    "estimate": "what the test estimates: see the test",
    "ci_low": "interval, at 1 - alpha, of the mean, or of the estimate: then it leaves out 0 exactly where p is at most alpha",
    "p": "of the test, for this pair alone",
    "p_corrected": "for all pairs of one criterion together; of all criteria, where the family is all",
    "p_corrected_all": "for all pairs and all criteria together",
    "worse_p": "one-sided, of no loss, for all criteria and pairs together",
    "better_p": "two-sided, 1 where there is no gain, for all criteria and pairs together",
    "within_p": "one-sided, of a loss or a gain of at least the margin, for all pairs together",
    "not_worse_p": "one-sided, of a loss of at least the margin, for all pairs together",
    "bound_low": "one-sided bounds of the estimate at 1 - alpha, which decided the verdict, uncorrected",
    "effect_size": "; ".join(f"{test.title}: {test.effect}" for test in TESTS.values()),
    "verdict": "on run_a beside run_b; over collections, on the run beside the baseline",
    "holds": "of significant differences: whether the sign stays the same, whatever grades the unjudged documents down to the depth would get",
    "p_not_beaten": "of the hypothesis that no run has a better mean",
    "rank_low": "interval of the rank by the macro mean, which holds for all runs at once and where many are nearly equal",
    "rank_from": "where 1 - alpha of the resamples put the run",
    "effect": "random-effects mean of the differences over collections",
    "next_low": "interval of the difference on one more collection like these",
    "tau2": "variance of the true differences between collections",
    "i2": "share of the variance not explained by sampling queries",
    "p_heterogeneity": "of the test that the difference is the same on all collections",
}
"""What columns mean, where that needs words."""


def table_of(frame: pd.DataFrame, keys: int = 1) -> dict[str, Any]:
    """A data frame as a table of the page; its first columns, ``keys`` of them, name a row.

    Returns:
        ``columns``: the name of each, whether it names a row, whether it holds numbers; ``rows`` of
        cells: the column, a text, all digits of a number (else None); ``meanings`` of columns, as
        far as that needs words.

    >>> import pandas as pd
    >>> rows = table_of(pd.DataFrame({"run": ["a-b"], "AP": [1 / 3], "p": [1e-7], "wins": [2]}))["rows"]
    >>> [(text, digits) for _, text, digits in rows[0]]
    [('a-b', None), ('0.3333', '0.3333333333333333'), ('< 0.0001', '1e-07'), ('2', '2')]
    """
    columns, cells = [], []
    for place, name in enumerate(map(str, frame.columns)):
        values = frame.iloc[:, place]
        is_number = getattr(values.dtype, "kind", "O") in "iuf"
        column = {"name": name, "is_key": place < keys, "is_number": is_number}
        columns.append(column)
        exact = [plain(value) for value in values.tolist()]
        texts = zip(cells_of(name, values, PLACES), exact, strict=True)
        shown = [minus(text) if is_number or value is None else text for text, value in texts]
        digits = [repr(value) if is_number and value is not None else None for value in exact]
        cells.append([(column, *cell) for cell in zip(shown, digits, strict=True)])
    meanings = {name: _MEANINGS[name] for name in map(str, frame.columns) if name in _MEANINGS}
    return {"columns": columns, "rows": list(zip(*cells, strict=True)), "meanings": meanings}


def fitting(
    tables: Iterable[tuple[str, pd.DataFrame, int]], room: int
) -> tuple[dict[str, Any], str]:
    """The tables that fit a page with a limit on cells, in order, and a sentence on those that do not; empty where all do.

    ``tables`` are the name of each, the table, and how many of its columns name a row; ``room`` is
    the cells of all together.
    """
    shown, left_out = {}, []
    for name, table, keys in tables:
        room -= table.size
        if room >= 0:
            shown[name] = table_of(table, keys)
        else:
            left_out.append(f"{name} ({table.size:,} cells)")
    return shown, f"Left out, as too large for one page: {'; '.join(left_out)}." if left_out else ""


# -- which tables there are ------------------------------------------------------------------------


def tables_of(result: Comparison | Benchmark) -> list[tuple[str, pd.DataFrame, int]]:
    """The tables of a result by their titles, and how many of their columns name a row; what is most asked for first."""
    tables, keys = [], 3 if isinstance(result, Benchmark) else 2
    if isinstance(result, Benchmark):
        for over in OVER if can_be_summed_up(result) else ():
            if over == "queries" and result.per_task:
                continue
            what = _RESAMPLED[over].replace(
                "queries", "groups of queries" if result.cluster else "queries"
            )
            tables.append((f"Over collections, {what}", result.overall(over), 2))
        tables.append(("Means on each collection", result.means(), 3))
        for name, comparison in result.items():
            pairs = [comparison.table(by) for by in _defined(comparison)]
            tables += (
                [(f"Differences on {name}", pd.concat(pairs, ignore_index=True), 3)]
                if pairs
                else []
            )
        all_defined = all(
            _defined(comparison) == comparison.criteria for comparison in result.values()
        )
    else:
        names = _defined(result)
        tables.append(("Means, a row per criterion and run", result.means(), 2))
        if names:
            best = pd.concat([result.best_set(by).assign(criterion=by) for by in names])
            tables.append(
                ("Best sets", best[["criterion", "run", "p_not_beaten", "may_be_best"]], 2)
            )
        for by in names:
            said_once = [
                "criterion",
                *([] if result.compared.by[by].is_measure else ["mean_a", "mean_b"]),
            ]
            table = result.table(by).drop(columns=said_once)
            if result.missing.undecided(by) is not None:
                table["holds"] = result.verdicts(by, holds=True)["holds"]
            tables.append((f"Differences by {by}, a row per pair of runs", table, 2))
        all_defined = names == result.criteria
    grouped = result.grouped if isinstance(result, Benchmark) else result.compared.grouped
    if grouped:
        tables.append(("Means in groups of queries", result.group_means(), keys))
        if all_defined:
            tables.append(("Differences in groups of queries", result.group_table(), keys))
    return tables


def can_be_summed_up(result: Benchmark) -> bool:
    """Whether something can be said over collections; if not, the finding says why."""
    try:
        result.overall()
    except ValueError:
        return False
    return True


def _defined(result: Comparison) -> list[str]:
    """The criteria by which there are pairs to compare."""
    return list(defined(result)) if len(result.runs) > 1 else []


# -- numbers ---------------------------------------------------------------------------------------


def number(value: float) -> str:
    """A number with four decimal places; one that would read as 0 but is not keeps its magnitude.

    >>> number(-0.5), number(0.00001), number(float("nan"))
    ('−0.5000', '1.0e−05', '–')
    """
    return minus(format_number(value, PLACES))


def signed(value: float) -> str:
    """A difference with its sign.

    >>> signed(0.5), signed(-0.0), signed(-0.00001), signed(float("nan"))
    ('+0.5000', '+0.0000', '−1.0e−05', '–')
    """
    shown = number(value + 0.0)
    return shown if shown.startswith(("−", "–")) else f"+{shown}"


def minus(text: str) -> str:
    """The text of a number with the minus sign of typography; what is missing as a dash.

    >>> minus("-1.0e-05"), minus("-")
    ('−1.0e−05', '–')
    """
    return "–" if text == "-" else text.replace("-", "−")
