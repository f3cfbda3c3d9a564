"""``compare``: from runs to preferences."""

from __future__ import annotations

import difflib
import numbers
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ir_lexirecall.alignment import JudgedRanks
from ir_lexirecall.evaluation import Evaluation, check_defined, parse_measures
from ir_lexirecall.preferences.functions import NAMES
from ir_lexirecall.preferences.result import Preferences
from ir_lexirecall.scoring.arrays import Floats
from ir_lexirecall.significance import SignificanceTest


def compare(
    qrels: Any,
    runs: Mapping[str, Any],
    preference: Any = "lexirecall",
    *,
    reference: str | None = None,
    rel: float = 1,
    cutoff: int | None = None,
    test: str = "sign",
    correction: str | None = "holm",
    alpha: float = 0.05,
    n_resamples: int = 10_000,
    seed: int = 0,
    progress: bool | None = None,
) -> Preferences:
    """Compare systems per query by preferences between their rankings, exactly.

    Args:
        qrels: judgments in any format that ``evaluate`` takes.
        runs: at least two runs by name, each in any format that ``evaluate`` takes.
        preference: ``'lexirecall'`` (more relevant documents, then the earlier last one, then the one before it, ...),
            ``'lexiprecision'`` (the same from the top), ``'rrlexiprecision'``, ``'rpp'``, ``'invrpp'``, ``'dcgrpp'``
            (recall-paired preference and its weighted variants), ``'dominance'`` (a partial order), any measure of
            ir_measures (the sign of its difference), or a list of those.
        reference: compare every other system with this one, instead of all pairs.
        rel: smallest grade that counts as relevant.
        cutoff: what is ranked below counts as not retrieved.
        test: ``'sign'`` (exact, without ties), ``'t'``, ``'wilcoxon'``, ``'bootstrap'`` or ``'tukey'`` (randomised
            Tukey HSD on the mean preference against all other systems).
        correction: for several comparisons, by any name that statsmodels' ``multipletests`` knows; None for none.
        alpha: significance level, and 1 - confidence of the intervals.
        n_resamples: of the bootstrap and Tukey's HSD.
        seed: of their random numbers.
        progress: show progress bars; by default on a terminal only.

    Returns:
        ``Preferences``: table, matrix, ranking, explanations, plots. Queries without relevant documents take no part; a
        query that a run lacks is an empty ranking.

    Raises:
        ValueError: bad input, fewer than two runs, or an unknown preference, reference, test or correction.

    Source: Diaz, Ekstrand, Mitra, Recall, Robustness, and Lexicographic Evaluation, TORS 2026,
    doi 10.1145/3728373.

    >>> qrels = {"q1": {"a": 1, "b": 1}, "q2": {"a": 1}}
    >>> good = {"q1": {"a": 3.0, "b": 2.0, "c": 1.0}, "q2": {"a": 2.0, "b": 1.0}}
    >>> weak = {"q1": {"a": 3.0, "c": 2.0, "b": 1.0}, "q2": {"a": 2.0, "b": 1.0}}
    >>> table = compare(qrels, {"good": good, "weak": weak}, correction=None).table()
    >>> table[["system_a", "system_b", "wins", "losses", "ties", "mean"]]
      system_a system_b  wins  losses  ties  mean
    0     good     weak     1       0     1   0.5
    """
    if not isinstance(runs, Mapping):
        raise ValueError("compare: give the runs as a mapping of names to runs")
    if len(set(map(str, runs))) < len(runs):
        raise ValueError(f"compare: two runs have the same name, {_repeated(map(str, runs))}")
    named, measures = parse_preferences(preference, rel=rel, cutoff=cutoff)
    options = {"correction": correction, "alpha": alpha, "n_resamples": n_resamples, "seed": seed, "progress": progress}
    tested = SignificanceTest.coerce(test, caller="compare", **options)
    _check_runs(list(map(str, runs)), reference)
    ranks, values = {}, {}
    for name, *found in Evaluation(measures, qrels).of_all(runs, progress):
        ranks[name], values[name] = found
    return compare_ranks(
        ranks,
        named,
        reference=reference,
        rel=rel,
        cutoff=cutoff,
        scores={measure: np.stack([each[measure].to_numpy() for each in values.values()]) for measure in measures},
        test=tested,
    )


def parse_preferences(preference: Any, *, rel: float, cutoff: int | None) -> tuple[list[str], dict[str, Any]]:
    """The names of the preferences asked for, in order, and those among them that are measures."""
    check_options("compare", rel=rel, cutoff=cutoff)
    many = isinstance(preference, Sequence) and not isinstance(preference, str)
    asked = list({_name(each): each for each in (preference if many else [preference])}.values())
    if not asked:
        raise ValueError("compare: no preference was asked for")
    own = [each for each in asked if isinstance(each, str) and each in NAMES]
    try:
        measures = dict(parse_measures([each for each in asked if each not in own])) if len(own) < len(asked) else {}
    except ValueError as error:
        texts = [each for each in asked if isinstance(each, str) and each not in NAMES]
        slips = [(each, meant) for each in texts for meant in difflib.get_close_matches(each, NAMES, 1, 0.8)]
        if slips:
            slip, meant = slips[0]
            raise ValueError(
                f"compare: there is no preference {slip!r}; did you mean {meant!r}? There are {', '.join(NAMES)} and all "
                "measures"
            ) from None
        raise ValueError(f"compare: {error}; preferences are {', '.join(NAMES)} and all measures") from None
    return [_name(each) for each in asked], measures


def check_options(what: str, *, rel: float, cutoff: int | None = None) -> None:
    """Refuse a threshold or cutoff of preferences that is none."""
    if isinstance(rel, bool) or not isinstance(rel, numbers.Real) or not 0 < rel < float("inf"):
        raise ValueError(f"{what}: rel must be a number above 0, not {rel!r}")
    if cutoff is not None and (isinstance(cutoff, bool) or not isinstance(cutoff, numbers.Integral) or cutoff < 1):
        raise ValueError(f"{what}: cutoff must be an integer of at least 1, not {cutoff!r}")


def _repeated(names: Iterable[str]) -> str:
    seen: set[str] = set()
    return next(name for name in names if name in seen or seen.add(name))  # type: ignore[func-returns-value]


def _name(preference: Any) -> str:
    try:
        return str(preference)
    except KeyError as error:  # a measure of ir_measures cannot print a parameter that it does not have
        raise ValueError(f"compare: the measure {preference.NAME} has no parameter {error}") from None


def _check_runs(names: Sequence[str], reference: str | None) -> None:
    if len(names) < 2:
        raise ValueError(f"compare: at least two runs are needed, not {len(names)}")
    if reference is not None and reference not in names:
        raise ValueError(f"compare: there is no run {reference!r} to refer to; there are {', '.join(names)}")


def compare_ranks(
    ranks: Mapping[str, JudgedRanks],
    preferences: Sequence[str] = ("lexirecall",),
    *,
    reference: str | None = None,
    rel: float = 1,
    cutoff: int | None = None,
    scores: Mapping[str, Floats] | None = None,
    test: SignificanceTest | None = None,
) -> Preferences:
    """``compare`` for runs that are aligned already, all with the same ``Judgments``.

    Args:
        ranks: what ``align`` gave, by the systems' names.
        preferences: names of preferences; what is not one of ours must be in ``scores``.
        scores: for each measure, its values per system and query of the judgments, shape ``(S, Q)``.
        reference, rel, cutoff: as in ``compare``.
        test: how to test, see ``SignificanceTest``.
    """
    _check_runs(list(ranks), reference)
    for measure, values in (scores or {}).items():
        check_defined("compare", measure, values, list(ranks), next(iter(ranks.values())).judgments.query_ids)
    return Preferences(
        ranks=dict(ranks),
        names=list(preferences),
        rel=rel,
        cutoff=cutoff,
        measure_scores=dict(scores or {}),
        reference=reference,
        test=test or SignificanceTest(),
    )
