"""``compare`` of values per query that something else computed: everything that needs only values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ir_lexirecall.comparison.criteria import Criterion, MeasureCriterion
from ir_lexirecall.comparison.design import Design
from ir_lexirecall.comparison.margins import margins_against
from ir_lexirecall.comparison.result import Comparison
from ir_lexirecall.io.known_measures import known as known_values
from ir_lexirecall.io.values import ValueTable
from ir_lexirecall.measures.parsing import by_label, known_measure
from ir_lexirecall.measures.scoring import is_added_up
from ir_lexirecall.preferences.naming import parse_preference


def columns_of(by: Any) -> dict[str, str] | None:
    """What values the criteria are, by the name of the criterion; None for all."""
    if by is None:
        return None
    wanted = {label: str(item) for label, item in by_label(by).items()}
    for name in wanted.values():
        if parse_preference(name) is not None:
            raise ValueError(
                f"the preference {name!r} compares rankings, of which values say nothing; name measures, or give qrels and runs"
            )
    return wanted


def costs_among(wanted: Mapping[str, str] | None, smaller_is_better: str | Iterable[str] | None) -> list[str]:
    """The measures of which the smaller value is better by the names that the source has for them; none where there are no values.

    >>> costs_among({"effort": "clicks", "AP": "map"}, "effort")
    ['clicks']
    """
    if smaller_is_better is not None and not isinstance(smaller_is_better, Iterable):
        raise ValueError(f"smaller_is_better must name measures, not {smaller_is_better!r}")
    names = [smaller_is_better] if isinstance(smaller_is_better, str) else list(smaller_is_better or ())
    if names and wanted == {}:
        raise ValueError("smaller_is_better is about values=; a measure of rankings knows which value is better")
    return [(wanted or {}).get(str(name), str(name)) for name in names]


def comparison_of_values(
    table: ValueTable,
    wanted: Mapping[str, str] | None = None,
    design: Design | None = None,
    *,
    least: int = 2,
) -> Comparison:
    """Compare runs by the means of values: by all measures in a table but counts, or by some, named otherwise.

    Which value is better is what the table says of its measures (``ValueTable.is_cost``).
    """
    design = design or Design()
    design.check_runs(dict.fromkeys(table.runs), least)
    known = {name: known_measure(name) for name in table.values}
    if wanted is None:
        counts = [name for name, measure in known.items() if measure is not None and is_added_up(measure)]
        wanted = {name: name for name in known if name not in counts or len(counts) == len(known)}
    criteria: dict[str, Criterion] = {}
    for label, name in wanted.items():
        values, is_cost = table.values[name], table.is_cost(name)
        means, about = values.mean(axis=1), known_values(name)
        criteria[label] = MeasureCriterion(
            label,
            values,
            table.query_ids,
            means,
            bool(is_cost),
            is_cost is None,
            (-np.inf, np.inf) if about is None else about[:2],
        )
    margins = margins_against(design.margin, criteria, table.runs, design.baseline)
    return Comparison(
        table.runs,
        criteria,
        design.baseline,
        design.test,
        margins,
        given=table,
        groups=design.groups,
        cluster=design.cluster,
    )
