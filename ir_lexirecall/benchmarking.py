"""``benchmark``: from a collection's id and runs to an answer."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ir_lexirecall.evaluation import Evaluation, means, parse_measures
from ir_lexirecall.preferences.comparison import compare_ranks, parse_preferences
from ir_lexirecall.preferences.result import Preferences
from ir_lexirecall.significance import SignificanceTest
from ir_lexirecall.tables import collection

if TYPE_CHECKING:
    import pandas as pd

    from ir_lexirecall.report import Report


@dataclass(frozen=True)
class Benchmark:
    """What ``benchmark`` found.

    Attributes:
        table: means, a row per run (index ``run``), a column per measure.
        per_query: values, a row per run and query (index ``run``, ``query_id``), a column per measure.
        preferences: preferences between the runs; None for a single one.
    """

    table: pd.DataFrame
    per_query: pd.DataFrame
    preferences: Preferences | None

    def report(self, **options: Any) -> Report:
        """The whole result as one HTML file: ``report(title=...).write("report.html")``; options as in ``Report``."""
        from ir_lexirecall.report import Report

        return Report.of(self, **options)

    def _repr_html_(self) -> str:
        preferences = "" if self.preferences is None else self.preferences._repr_html_()
        return f"{self.table.to_html(float_format='{:.4f}'.format, border=0)}{preferences}"


def benchmark(
    dataset: Any,
    runs: Mapping[str, Any],
    measures: Any = None,
    *,
    preference: Any = "lexirecall",
    reference: str | None = None,
    test: str = "sign",
    correction: str | None = "holm",
    progress: bool | None = None,
) -> Benchmark:
    """Evaluate runs on a collection: standard measures and ours side by side, and the preferences between the runs.

    Args:
        dataset: an ir_datasets id, what ``ir_datasets_lexirecall.load`` gave for one, or qrels in any format that
            ``evaluate`` takes (then ``measures`` are needed).
        runs: at least one run by name, each in any format that ``evaluate`` takes. Each is read once.
        measures: as in ``evaluate``; None takes those that the collection recommends.
        preference, reference, test, correction: as in ``compare``. Documents count as relevant from the collection's own
            threshold on (1 where there is none).
        progress: show a progress bar over the runs; by default on a terminal only.

    Raises:
        ValueError: bad input; the message names the first offender.

    >>> from ir_lexirecall import demo
    >>> result = benchmark("lexirecall/demo", {"bm25": demo.run("bm25"), "ql": demo.run("ql")}, ["nDCG@10", "LR"])
    >>> result.table.round(3)
          nDCG@10     LR
    run
    bm25    0.578  0.651
    ql      0.565  0.630
    >>> result.preferences.matrix().loc["bm25", "ql"]
    np.float64(0.375)
    """
    import pandas as pd

    found = collection(dataset) if isinstance(dataset, str) and not os.path.isfile(dataset) else dataset
    is_collection = hasattr(found, "recommended")
    if measures is None:
        if not is_collection:
            raise ValueError("benchmark: name the measures, or give a collection's id, which recommends some")
        measures = found.recommended()
    if not isinstance(runs, Mapping) or not runs:
        raise ValueError("benchmark: give the runs as a mapping of names to runs")
    rel = found.rel if is_collection else 1
    names, compared = parse_preferences(preference, rel=rel, cutoff=None)
    asked = parse_measures(measures)
    evaluation = Evaluation(compared | asked, found.qrels if is_collection else found)
    ranks, values = {}, {}
    for name, *result in evaluation.of_all(runs, progress):
        ranks[name], values[name] = result
    preferences = None
    if len(runs) > 1:
        scores = {name: np.stack([each[name].to_numpy() for each in values.values()]) for name in compared}
        how = SignificanceTest.coerce(test, caller="benchmark", correction=correction, progress=progress)
        preferences = compare_ranks(ranks, names, reference=reference, rel=rel, scores=scores, test=how)
    values = {name: each[list(asked)] for name, each in values.items()}
    table = pd.DataFrame({name: means(each, asked) for name, each in values.items()}).T
    return Benchmark(table.rename_axis("run"), pd.concat(values, names=["run", "query_id"]), preferences)
