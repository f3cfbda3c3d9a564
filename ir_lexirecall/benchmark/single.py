"""``benchmark``: from a collection and runs to an answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ir_lexirecall.alignment import RunLike
from ir_lexirecall.collections import Collection, load
from ir_lexirecall.evaluation import MeasuresLike, parse_measures
from ir_lexirecall.formats import is_file
from ir_lexirecall.judgments import QrelsLike
from ir_lexirecall.preferences.comparison import (
    CompareOptions,
    PreferenceLike,
    check_baseline,
    parse_preferences,
)
from ir_lexirecall.preferences.result import Preferences
from ir_lexirecall.runs import ScoredRuns, check_runs
from ir_lexirecall.significance import SignificanceTest

if TYPE_CHECKING:
    import pandas as pd
    from typing_extensions import Unpack


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

    def _repr_html_(self) -> str:
        preferences = "" if self.preferences is None else self.preferences._repr_html_()
        return f"{self.table.to_html(float_format='{:.4f}'.format, border=0)}{preferences}"


def benchmark(
    collection: QrelsLike,
    runs: Mapping[str, RunLike],
    measures: MeasuresLike | None = None,
    *,
    preference: PreferenceLike = "lexirecall",
    baseline: str | None = None,
    test: str | SignificanceTest = "sign",
    **options: Unpack[CompareOptions],
) -> Benchmark:
    """Evaluate runs on a collection: standard measures and ours side by side, and the preferences between the runs.

    Args:
        collection: a data set's id, what ``load`` gave for one, or qrels in any form that ``evaluate`` takes (then
            ``measures`` are needed).
        runs: at least one run by name, each in any form that ``evaluate`` takes. Each is read once.
        measures: as in ``evaluate``; None takes those that the collection recommends.
        preference, baseline, test, options: as in ``compare``. Documents count as relevant from the collection's own
            threshold on (1 where there is none).

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
    judged_only, exclude = options.pop("judged_only", False), options.pop("exclude", None)
    tested = SignificanceTest.coerce(test, caller="benchmark", **options)
    found = load(collection) if isinstance(collection, str) and not is_file(collection) else collection
    if measures is None:
        if not isinstance(found, Collection):
            raise ValueError("benchmark: name the measures, or give a collection's id, which recommends some")
        measures = found.recommended()
    check_runs("benchmark", runs, 1)
    if baseline is not None:
        check_baseline("benchmark", baseline, runs)
    rel = found.rel if isinstance(found, Collection) else 1
    names, compared = parse_preferences("benchmark", preference)
    shown = parse_measures(measures)
    scored = ScoredRuns.from_runs(
        compared | shown,
        found,
        runs,
        judged_only=judged_only,
        exclude=exclude,
        caller="benchmark",
        progress=tested.progress,
    )
    preferences = None
    if len(runs) > 1:
        preferences = Preferences.from_runs(
            scored.with_measures(compared), names, baseline=baseline, rel=rel, test=tested, caller="benchmark"
        )
    wanted = scored.with_measures(shown)
    return Benchmark(wanted.table, wanted.per_query, preferences)
