"""How measures relate to each other on real or simulated runs: correlation, fitted parameters, unanimity."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from ir_lexirecall.evaluation import parse_measures
from ir_lexirecall.meta.study import Study, bars, matrix
from ir_lexirecall.meta.systems import Signs, asked_measures, means, read_systems, score
from ir_lexirecall.progress import progress_bar
from ir_lexirecall.provider import by_others
from ir_lexirecall.scoring.arrays import Floats

BY = ("scores", "systems")
_SCAN = 16  # values of a parameter that are tried before the best one is refined


# -- correlation -------------------------------------------------------------------------------------


def _pearson(x: Floats, y: Floats) -> float:
    from scipy import stats

    return float(stats.pearsonr(x, y).statistic)


def _spearman(x: Floats, y: Floats) -> float:
    from scipy import stats

    return float(stats.spearmanr(x, y).statistic)


def _kendall(x: Floats, y: Floats) -> float:
    from scipy import stats

    return float(stats.kendalltau(x, y).statistic)


def _top_weighted_kendall(x: Floats, y: Floats) -> float:
    """Vigna's weighted tau: an exchange weighs the sum of 1 / (s + 1) over the two places s = 0, 1, ..., averaged over
    both orders."""
    from scipy import stats

    return float(stats.weightedtau(x, y, rank=True, weigher=lambda s: 1 / (s + 1), additive=True).statistic)


COEFFICIENTS: dict[str, Callable[[Floats, Floats], float]] = {
    "pearson": _pearson,
    "spearman": _spearman,
    "kendall": _kendall,
    "top_weighted_kendall": _top_weighted_kendall,
}


def coefficient_of(name: str, x: Floats, y: Floats) -> float:
    """A coefficient of correlation; NaN where one side is constant, or there are fewer than two points."""
    if len(x) < 2 or np.all(x == x[0]) or np.all(y == y[0]):
        return float("nan")
    return COEFFICIENTS[name](x, y)


def correlation(
    measures: Any,
    qrels: Any,
    runs: Mapping[str, Any],
    *,
    by: str = "scores",
    rel: float = 1,
    progress: bool | None = None,
) -> Study:
    """Correlation of every two measures over systems and queries.

    Coefficients: Pearson's r, Spearman's rho, Kendall's tau (tau-b), and top-weighted Kendall: scipy's ``weightedtau``,
    in which an exchange of places s and s' (from 0, best first) weighs 1/(s+1) + 1/(s'+1).

    Args:
        measures: measures or strings; preferences (``'lexirecall'``, ...) count as the mean preference of a system
            against all others.
        qrels: judgments in any format that ``evaluate`` takes.
        runs: at least two runs by name, in any format that ``evaluate`` takes, or ``JudgedRanks``.
        by: ``'scores'``: a point is a system on a query; ``'systems'``: a point is a system's mean over the queries.
        rel: smallest grade that counts as relevant; queries without a relevant document take no part.
        progress: show a progress bar; by default on a terminal only.

    Returns:
        A row per pair of measures: ``measure_a``, ``measure_b``, ``points``, ``pearson``, ``spearman``, ``kendall``,
        ``top_weighted_kendall`` (NaN where a measure is constant).

    Raises:
        ValueError: bad input, fewer than two measures or runs, or another ``by``.

    Source: Azzopardi, Mackenzie, Moffat, ERR is not C/W/L, ICTIR 2021, doi 10.1145/3471158.3472239.

    >>> from ir_lexirecall import demo
    >>> table = correlation(["AP", "RR"], demo.qrels(), demo.runs(), by="systems")
    >>> table["points"].tolist(), bool(table["kendall"][0] <= 1)
    ([5], True)
    """
    _check_by("correlation", by)
    systems = read_systems("correlation", measures, qrels, runs, rel=rel, least_measures=2, progress=progress)
    points = {label: _points(systems.values(label), by) for label in systems.asked}
    rows = [
        {"measure_a": a, "measure_b": b, "points": len(points[a])}
        | {name: coefficient_of(name, points[a], points[b]) for name in COEFFICIENTS}
        for a, b in combinations(points, 2)
    ]
    return Study.of(
        pd.DataFrame(rows),
        matrix("kendall"),
        function="correlation",
        by=by,
        **systems.provenance,
    )


def _points(values: Floats, by: str) -> Floats:
    return values.ravel() if by == "scores" else means(values)


def _check_by(what: str, by: str) -> None:
    if not isinstance(by, str) or by not in BY:
        raise ValueError(f"{what}: by must be 'scores' or 'systems', not {by!r}")


# -- fitting a parameter -----------------------------------------------------------------------------


def fit(
    measure: Any,
    target: Any,
    parameter: str,
    *,
    qrels: Any,
    runs: Mapping[str, Any],
    grid: Sequence[Any] | None = None,
    bounds: tuple[float, float] | None = None,
    by: str = "scores",
    coefficient: str = "pearson",
    rel: float = 1,
    progress: bool | None = None,
) -> Study:
    """The parameter with which a measure correlates best with another one.

    Args:
        measure: the measure to fit, with its other parameters.
        target: the measure, or preference, to come close to.
        parameter: name of the parameter.
        qrels, runs, by, rel, progress: as in ``correlation``.
        grid: values to try; or else
        bounds: the smallest and largest value: evenly spread values between them are tried, and the best one refined
            (scipy's bounded ``minimize_scalar``; the bounds themselves are not tried).
        coefficient: what to maximise: ``'pearson'``, ``'spearman'``, ``'kendall'`` or ``'top_weighted_kendall'``.

    Returns:
        A row per value tried, in their order: ``parameter``, ``value``, ``correlation``, ``best``; ``attrs`` hold the
        ``best`` value and its ``correlation``.

    Raises:
        ValueError: bad input, no such parameter or coefficient, a value out of range, or not one of grid and bounds.

    Source: Azzopardi, Mackenzie, Moffat, ERR is not C/W/L, ICTIR 2021, doi 10.1145/3471158.3472239.

    >>> from ir_lexirecall import demo
    >>> found = fit("TSE(exposure='RBP')", "TSE(exposure='RBP',p=0.9)", "p", grid=[0.8, 0.9, 0.95],
    ...             qrels=demo.qrels(), runs=demo.runs())
    >>> found.attrs["best"]
    0.9
    """
    _check_by("fit", by)
    if not isinstance(coefficient, str) or coefficient not in COEFFICIENTS:
        raise ValueError(f"fit: there is no coefficient {coefficient!r}; there are {', '.join(COEFFICIENTS)}")
    if (grid is None) == (bounds is None):
        raise ValueError("fit: give either a grid of values or bounds")
    base = next(iter(parse_measures([measure]).values()))
    if not isinstance(parameter, str) or parameter not in base.SUPPORTED_PARAMS:
        known = ", ".join(base.SUPPORTED_PARAMS) or "none"
        raise ValueError(f"fit: {base} has no parameter {parameter!r}; it has {known}")
    systems = read_systems("fit", [target], qrels, runs, rel=rel, keep_runs=by_others(base), progress=progress)
    wanted = _points(systems.values(next(iter(systems.asked))), by)
    tried: dict[Any, float] = {}

    def correlate(value: Any) -> float:
        if value not in tried:
            candidate = next(iter(parse_measures([base(**{parameter: value})]).values()))
            values = np.stack(
                [score(candidate, ranks, systems.runs.get(name)) for name, ranks in systems.ranks.items()]
            )
            tried[value] = coefficient_of(coefficient, _points(values[:, systems.queries], by), wanted)
        return tried[value]

    if grid is not None:
        if isinstance(grid, str) or not isinstance(grid, Iterable):
            raise ValueError(f"fit: the grid must be a list of values, not {grid!r}")
        is_float = base.SUPPORTED_PARAMS[parameter].dtype is float  # ir_measures does not take 2 for 2.0
        values = [value.item() if isinstance(value, np.generic) else value for value in grid]
        odd = [value for value in values if not isinstance(value, (str, numbers.Real))]
        if odd:
            raise ValueError(f"fit: the grid holds {odd[0]!r}, which is neither a number nor a text")
        values = [float(value) if is_float else value for value in values]
        if not values:
            raise ValueError("fit: the grid is empty")
    else:
        low, high = _checked_bounds(bounds)
        values = (low + (high - low) * (np.arange(_SCAN) + 0.5) / _SCAN).tolist()
    for value in progress_bar(progress, values, desc=parameter):
        correlate(value)
    if bounds is not None:
        from scipy.optimize import minimize_scalar

        best, step = _best(tried), (high - low) / _SCAN
        minimize_scalar(
            lambda value: -np.nan_to_num(correlate(float(value)), nan=-np.inf),
            bounds=(max(low, best - step), min(high, best + step)),
            method="bounded",
            options={"xatol": 1e-6 * (high - low)},
        )
    best = _best(tried)
    rows = {"parameter": parameter, "value": list(tried), "correlation": list(tried.values())}
    table = pd.DataFrame(rows)
    table["best"] = table["value"] == best
    return Study.of(
        table.sort_values("value", ignore_index=True),
        _draw_fit,
        function="fit",
        measure=str(base),
        target=str(target),
        parameter=parameter,
        by=by,
        coefficient=coefficient,
        grid=None if grid is None else values,
        bounds=None if bounds is None else (low, high),
        best=best,
        correlation=tried[best],
        **{name: value for name, value in systems.provenance.items() if name != "measures"},
    )


def _checked_bounds(bounds: Any) -> tuple[float, float]:
    try:
        low, high = (float(value) for value in bounds)
    except (TypeError, ValueError):
        raise ValueError(f"fit: bounds must be two numbers, the smaller one first, not {bounds!r}") from None
    if not -float("inf") < low < high < float("inf"):
        raise ValueError(f"fit: bounds must be two numbers, the smaller one first, not {bounds!r}")
    return low, high


def _best(tried: Mapping[Any, float]) -> Any:
    """The value with the largest correlation; the first one tried of equals."""
    defined = {value: each for value, each in tried.items() if not np.isnan(each)}
    if not defined:
        raise ValueError("fit: the correlation is undefined at every value tried: one of the measures is constant")
    return max(defined, key=defined.__getitem__)


def _draw_fit(table: pd.DataFrame, ax: Any) -> Any:
    ax.plot(table["value"], table["correlation"], ".-")
    best = table[table["best"]]
    ax.plot(best["value"], best["correlation"], "o", color="tab:red")
    ax.set_xlabel(f"{table.attrs['parameter']} of {table.attrs['measure']}")
    ax.set_ylabel(f"{table.attrs['coefficient']} with {table.attrs['target']}")
    return ax


# -- unanimity ---------------------------------------------------------------------------------------


def unanimity(
    measures: Any,
    qrels: Any,
    runs: Mapping[str, Any],
    *,
    among: Any = None,
    rel: float = 1,
    progress: bool | None = None,
) -> Study:
    """Metric unanimity: how far a measure rises where all measures rise together.

    MU(m) = log2( P(dm, dM) / (P(dm) P(dM)) ) over all ordered pairs of systems on one query. dM: no measure of M falls
    from the first system to the second and at least one rises. dm: m rises, a tie counting one half; so P(dm) = 1/2. MU
    is 1 where m rises whenever all others do, 0 where it rises in half of the cases, NaN where M never agrees.

    Args:
        measures: the measures, or preferences, to judge.
        qrels, runs, rel, progress: as in ``correlation``.
        among: the set M, by default ``measures`` themselves.

    Returns:
        A row per measure: ``measure``, ``pairs`` (ordered pairs of systems times queries), ``unanimous`` (those with
        dM), ``joint`` (those with dm and dM; ties count one half), ``unanimity``.

    Raises:
        ValueError: bad input, or fewer than two runs.

    Source: Amigó, Spina, Carrillo-de-Albornoz, An Axiomatic Analysis of Diversity Evaluation Metrics, SIGIR 2018,
    doi 10.1145/3209978.3210024.

    >>> qrels = {"q": {"a": 1, "b": 1}}
    >>> runs = {"s1": {"q": {"a": 3.0, "x": 2.0, "b": 1.0}}, "s2": {"q": {"x": 3.0, "a": 2.0, "b": 1.0}}}
    >>> unanimity(["RR", "R@10"], qrels, runs)[["measure", "unanimous", "joint", "unanimity"]]
      measure  unanimous  joint  unanimity
    0      RR          1    1.0        1.0
    1    R@10          1    0.5        0.0
    """
    judged = asked_measures(measures, "unanimity")
    crowd = judged if among is None else asked_measures(among, "unanimity")
    clash = [label for label in judged if label in crowd and str(judged[label]) != str(crowd[label])]
    if clash:
        raise ValueError(f"unanimity: {clash[0]!r} names one measure in measures and another one in among")
    systems = read_systems("unanimity", {**judged, **crowd}, qrels, runs, rel=rel, progress=progress)
    first, _ = systems.pairs
    rises, falls = (np.zeros((len(first), len(systems.queries)), dtype=bool) for _ in range(2))
    for label in crowd:
        decision = systems.decisions(label)
        rises |= decision > 0
        falls |= decision < 0
    # An unordered pair is unanimous in one direction at most: `better` says in which.
    unanimous = rises ^ falls
    better = np.where(rises, 1, -1).astype(np.int8)
    pairs = 2 * unanimous.size
    rows = []
    for label in judged:
        agreed = (systems.decisions(label) * better)[unanimous]
        joint = float((agreed > 0).sum() + (agreed == 0).sum() / 2)
        rows.append(
            {
                "measure": label,
                "pairs": pairs,
                "unanimous": int(unanimous.sum()),
                "joint": joint,
                "unanimity": metric_unanimity(joint, int(unanimous.sum()), pairs),
            }
        )
    return Study.of(
        pd.DataFrame(rows),
        bars("unanimity"),
        function="unanimity",
        among={label: str(each) for label, each in crowd.items()},
        **systems.provenance | {"measures": {label: str(each) for label, each in judged.items()}},
    )


def metric_unanimity(joint: float, unanimous: float, pairs: float) -> float:
    """MU = log2( P(dm, dM) / (P(dm) P(dM)) ) with P(dm) = 1/2, from counts among ``pairs`` ordered pairs.

    Three systems make six ordered pairs. Where all measures agree on their order, three of these are unanimous; a measure
    that agrees with two of the three has

    >>> round(metric_unanimity(joint=2, unanimous=3, pairs=6), 3)
    0.415
    """
    if unanimous == 0:
        return float("nan")
    if joint == 0:
        return float("-inf")
    return float(np.log2((joint / pairs) / (0.5 * (unanimous / pairs))))


# -- agreement per topic -----------------------------------------------------------------------------


def per_topic_kendall(
    measures: Any,
    qrels: Any,
    runs: Mapping[str, Any],
    *,
    rel: float = 1,
    progress: bool | None = None,
) -> Study:
    """Kendall's tau between the orders in which two measures put the systems, topic by topic.

    Tau is tau-b; topics on which a measure gives all systems the same value have none and are left out.

    Args:
        measures: at least two measures, or preferences (a system's mean preference against all others orders it).
        qrels, runs, rel, progress: as in ``correlation``.

    Returns:
        A row per pair of measures: ``measure_a``, ``measure_b``, ``topics`` (with a tau), ``kendall`` (the mean),
        ``smallest``, ``largest``.

    Raises:
        ValueError: bad input, fewer than two measures or runs.

    Source: Maistro, Chaves Lima, Simonsen, Lioma, Principled Multi-Aspect Evaluation Measures of Rankings, CIKM 2021,
    doi 10.1145/3459637.3482287.

    >>> from ir_lexirecall import demo
    >>> per_topic_kendall(["AP", "nDCG"], demo.qrels(), demo.runs())["topics"].tolist()
    [16]
    """
    systems = read_systems("per_topic_kendall", measures, qrels, runs, rel=rel, least_measures=2, progress=progress)
    signs = {label: systems.differences(label) for label in systems.asked}
    rows = []
    for first, second in combinations(signs, 2):
        tau = _tau_b(signs[first], signs[second])
        tau = tau[~np.isnan(tau)]
        summary = (tau.mean(), tau.min(), tau.max()) if len(tau) else (np.nan,) * 3
        rows.append(
            {"measure_a": first, "measure_b": second, "topics": len(tau)}
            | dict(zip(("kendall", "smallest", "largest"), map(float, summary), strict=True))
        )
    return Study.of(pd.DataFrame(rows), matrix("kendall"), function="per_topic_kendall", **systems.provenance)


def _tau_b(x: Signs, y: Signs) -> Floats:
    """Kendall's tau-b of each topic from the signs of the differences of all pairs, shape ``(P, Q)``."""
    decided = np.sqrt((x != 0).sum(axis=0) * (y != 0).sum(axis=0))
    return (x * y).sum(axis=0) / np.where(decided > 0, decided, np.nan)
