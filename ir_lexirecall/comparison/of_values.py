"""``compare`` of values per query that something else computed: everything that needs only values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ir_lexirecall._util.errors import check_choice
from ir_lexirecall.comparison.criteria import Criterion, MeasureCriterion
from ir_lexirecall.comparison.margins import MarginLike, margins_against
from ir_lexirecall.comparison.result import Comparison
from ir_lexirecall.evaluation.scored_runs import check_runs
from ir_lexirecall.io.groups import QueryGroups
from ir_lexirecall.io.values import ValueTable
from ir_lexirecall.measures.parsing import by_label, known_measure
from ir_lexirecall.measures.scoring import is_added_up, smaller_is_better
from ir_lexirecall.preferences.functions import NAMES
from ir_lexirecall.significance import SignificanceTest


def check_needs_values_only(**options: Any) -> None:
    """Refuse options of rankings; those that were left alone are false.

    >>> check_needs_values_only(cutoff=10, rel=None)
    Traceback (most recent call last):
    ValueError: cutoff is about rankings, of which values say nothing; leave it out, or give qrels and runs
    """
    if given := [name for name, value in options.items() if value]:
        raise ValueError(
            f"{' and '.join(given)} {'is' if len(given) == 1 else 'are'} about rankings, of which values say nothing; "
            "leave it out, or give qrels and runs"
        )


def columns_of(by: Any) -> dict[str, str] | None:
    """What values the criteria are, by the name of the criterion; None for all."""
    if by is None:
        return None
    wanted = {label: str(item) for label, item in by_label(by).items()}
    for name in wanted.values():
        if name in NAMES:
            raise ValueError(
                f"the preference {name!r} compares rankings, of which values say nothing; name measures, or give qrels and runs"
            )
    return wanted


def comparison_of_values(
    table: ValueTable,
    wanted: Mapping[str, str] | None = None,
    *,
    baseline: str | None = None,
    test: SignificanceTest | None = None,
    margin: MarginLike | None = None,
    groups: QueryGroups | None = None,
    cluster: bool = False,
    least: int = 2,
) -> Comparison:
    """Compare runs by the means of values: by all measures in a table but counts, or by some, named otherwise.

    Of a measure that is known by its name, the smaller value may be the better one; of others the larger one is.
    """
    check_runs(dict.fromkeys(table.runs), least)
    if baseline is not None:
        check_choice("baseline", baseline, table.runs)
    known = {name: known_measure(name) for name in table.values}
    if wanted is None:
        counts = [name for name, measure in known.items() if measure is not None and is_added_up(measure)]
        wanted = {name: name for name in known if name not in counts or len(counts) == len(known)}
    criteria: dict[str, Criterion] = {}
    for label, name in wanted.items():
        values, measure = table.values[name], known[name]
        smaller = measure is not None and smaller_is_better(measure)
        criteria[label] = MeasureCriterion(label, values, table.query_ids, values.mean(axis=1), smaller)
    margins = margins_against(margin, criteria, table.runs, baseline)
    return Comparison(
        table.runs,
        criteria,
        baseline,
        test or SignificanceTest(),
        margins,
        given=table,
        groups=groups,
        cluster=cluster,
    )
