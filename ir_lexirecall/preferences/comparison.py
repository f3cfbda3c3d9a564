"""``compare``: from runs to preferences."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall.alignment import RunLike
from ir_lexirecall.errors import check_integer, check_number
from ir_lexirecall.evaluation import MeasureLike, parse_measures
from ir_lexirecall.judgments import ExcludeLike, Judgments, QrelsLike
from ir_lexirecall.preferences.functions import NAMES
from ir_lexirecall.preferences.result import Preferences
from ir_lexirecall.runs import ScoredRuns, check_runs
from ir_lexirecall.significance import SignificanceTest, TestOptions

if TYPE_CHECKING:
    from typing_extensions import Unpack

PreferenceLike: TypeAlias = MeasureLike | Iterable[MeasureLike]
"""The name of a preference (``'lexirecall'``, ``'rpp'``, ...), a measure, or several of these."""


class CompareOptions(TestOptions, total=False):
    """Options of a comparison: those of the test, and ``judged_only``, ``exclude``, ``rules``, ``allow_empty``."""

    judged_only: bool
    exclude: ExcludeLike | None
    rules: bool
    allow_empty: bool


def compare(
    qrels: QrelsLike,
    runs: Mapping[str, RunLike],
    preference: PreferenceLike = "lexirecall",
    *,
    baseline: str | None = None,
    rel: float = 1,
    cutoff: int | None = None,
    test: str | SignificanceTest = "sign",
    **options: Unpack[CompareOptions],
) -> Preferences:
    """Compare runs per query by preferences between their rankings, exactly.

    Args:
        qrels: judgments in any form that ``evaluate`` takes.
        runs: at least two runs by name, in any form that ``evaluate`` takes, or aligned (``AlignedRun``).
        preference: ``'lexirecall'`` (more relevant documents, then the earlier last one, then the one before it, ...),
            ``'lexiprecision'`` (the same from the top), ``'rrlexiprecision'``, ``'rpp'``, ``'invrpp'``, ``'dcgrpp'``
            (recall-paired preference and its weighted variants), ``'dominance'`` (a partial order), any measure of
            ir_measures (the sign of its difference), or a list of those.
        baseline: compare every other run with this one, instead of all pairs.
        rel: smallest grade that counts as relevant.
        cutoff: what is ranked below counts as not retrieved.
        test: ``'sign'`` (exact, without ties), ``'t'``, ``'wilcoxon'``, ``'bootstrap'``, ``'randomisation'`` or
            ``'tukey'`` (randomised Tukey HSD), or a ``SignificanceTest``. A preference is tested on its per-query values,
            a measure on its per-query differences.
        options: of the test, as in ``SignificanceTest``: ``correction`` (``'holm'``), ``alpha`` (0.05), ``n_resamples``
            (10,000), ``seed`` (0), ``progress``. And ``judged_only`` (False): take documents without a judgment out of
            the rankings first (condensed lists); ``exclude``: documents that are taken out of rankings and judgments
            first, as in ``evaluate``; ``rules`` (True): apply the collection's own, as in ``evaluate``; ``allow_empty`` (False): take
            a run that retrieves nothing for any query of the qrels, whose ids are mostly of another collection.

    Returns:
        ``Preferences``: table, matrix, ranking, explanations, plots. Queries without relevant documents take no part; a
        query that a run lacks is an empty ranking.

    Raises:
        ValueError: bad input, fewer than two runs, or an unknown preference, baseline, test or correction.

    Source: Diaz, Ekstrand, Mitra, Recall, Robustness, and Lexicographic Evaluation, TORS 2026,
    doi 10.1145/3728373.

    >>> qrels = {"q1": {"a": 1, "b": 1}, "q2": {"a": 1}}
    >>> good = {"q1": {"a": 3.0, "b": 2.0, "c": 1.0}, "q2": {"a": 2.0, "b": 1.0}}
    >>> weak = {"q1": {"a": 3.0, "c": 2.0, "b": 1.0}, "q2": {"a": 2.0, "b": 1.0}}
    >>> table = compare(qrels, {"good": good, "weak": weak}, correction=None).table()
    >>> table[["run_a", "run_b", "wins", "losses", "ties", "mean"]]
      run_a run_b  wins  losses  ties  mean
    0  good  weak     1       0     1   0.5
    """
    judged_only = options.pop("judged_only", False)
    exclude, rules = options.pop("exclude", None), options.pop("rules", True)
    allow_empty = options.pop("allow_empty", False)
    tested = SignificanceTest.coerce(test, caller="compare", **options)
    check_options("compare", rel=rel, cutoff=cutoff)
    names, measures = parse_preferences("compare", preference)
    check_runs("compare", runs, 2)
    if baseline is not None:
        check_baseline("compare", baseline, runs)
    judgments = Judgments.from_qrels(qrels, exclude, rules=rules)
    scored = ScoredRuns.from_runs(
        measures,
        judgments,
        runs,
        judged_only=judged_only,
        allow_empty=allow_empty,
        caller="compare",
        progress=tested.progress,
    )
    return Preferences.from_runs(scored, names, baseline=baseline, rel=rel, cutoff=cutoff, test=tested)


def parse_preferences(caller: str, preference: PreferenceLike) -> tuple[list[str], dict[str, IRMeasure]]:
    """The names of preferences, in order, and those among them that are measures.

    >>> parse_preferences("compare", ["rpp", "AP"])
    (['rpp', 'AP'], {'AP': AP})
    """
    one = isinstance(preference, (str, type)) or not isinstance(preference, Iterable)
    several: Iterable[Any] = [preference] if one else preference
    by_name = {_name(caller, item): item for item in several}
    if not by_name:
        raise ValueError(f"{caller}: no preference is named; choose from {', '.join(NAMES)} and all measures")
    others = {name: item for name, item in by_name.items() if not (isinstance(item, str) and item in NAMES)}
    try:
        measures = parse_measures(others)
    except ValueError as error:
        texts = [item for item in others.values() if isinstance(item, str)]
        slips = [(text, meant) for text in texts for meant in difflib.get_close_matches(text, NAMES, 1, 0.8)]
        if slips:
            slip, meant = slips[0]
            raise ValueError(
                f"{caller}: unknown preference {slip!r}; choose from {', '.join(NAMES)} and all measures; did you mean "
                f"{meant!r}?"
            ) from None
        raise ValueError(f"{caller}: {error}; preferences are {', '.join(NAMES)} and all measures") from None
    return list(by_name), measures


def check_options(caller: str, *, rel: float, cutoff: int | None = None) -> None:
    """Refuse a threshold or cutoff of preferences that is out of range."""
    check_number(caller, "rel", rel, above=0)
    if cutoff is not None:
        check_integer(caller, "cutoff", cutoff)


def check_baseline(caller: str, baseline: Any, runs: Mapping[str, Any]) -> None:
    """Refuse a baseline that is no run."""
    names = [str(name) for name in runs]
    if baseline not in names:
        raise ValueError(f"{caller}: unknown baseline {baseline!r}; choose from {', '.join(names)}")


def _name(caller: str, preference: Any) -> str:
    try:
        return str(preference)
    except KeyError as error:  # a measure of ir_measures cannot print a parameter that it does not have
        raise ValueError(f"{caller}: the measure {preference.NAME} has no parameter {error}") from None
