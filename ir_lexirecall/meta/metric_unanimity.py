"""Metric unanimity: how far a measure goes along with what all others agree on."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from ir_lexirecall._util.errors import entry
from ir_lexirecall.data.alignment import RunLike
from ir_lexirecall.data.judgments import QrelsLike
from ir_lexirecall.measures.parsing import MeasuresLike
from ir_lexirecall.meta.decisions import Decisions, Signs, parse_two_sets, printed
from ir_lexirecall.meta.result import study


@entry
def unanimity(
    measures: MeasuresLike,
    qrels: QrelsLike,
    runs: Mapping[str, RunLike],
    *,
    among: MeasuresLike | None = None,
    rel: float = 1,
    cutoff: int | None = None,
    allow_empty: bool = False,
    progress: bool | None = None,
) -> pd.DataFrame:
    """Metric unanimity: how much more often a measure rises where none of the other measures falls.

    MU(m) = log2( P(dm, dM) / (P(dm) P(dM)) ) over all ordered pairs of different runs on one query, queries pooled. dm: m
    rises from the first run to the second, a tie counting one half; so P(dm) = 1/2. dM: no measure of the set *other than m*
    falls; a pair on which all of them tie counts in both directions. MU is 1 where m rises whenever the others allow it, 0
    where it rises in half of the cases (a constant measure), NaN where the others never agree.

    Args:
        measures: the measures, or preferences, to judge.
        among: the set of measures, by default ``measures`` themselves. A measure never judges itself.
        qrels, runs, rel, cutoff, allow_empty, progress: as in ``ties``.

    Returns:
        A row per measure: ``measure``, ``pairs`` (ordered pairs of runs times queries), ``unanimous`` (those with dM),
        ``joint`` (those with dm and dM; ties of m count one half), ``unanimity``.

    Raises:
        ValueError: bad input, fewer than two runs, or a measure without any other in the set.

    Source: Amigó, Spina, Carrillo-de-Albornoz, An Axiomatic Analysis of Diversity Evaluation Metrics, SIGIR 2018,
    doi 10.1145/3209978.3210024.

    >>> qrels = {"q": {"a": 1, "b": 1}}
    >>> runs = {"s1": {"q": {"a": 3.0, "x": 2.0, "b": 1.0}}, "s2": {"q": {"x": 3.0, "a": 2.0, "b": 1.0}}}
    >>> unanimity(["RR", "R@10"], qrels, runs)[["measure", "unanimous", "joint", "unanimity"]]
      measure  unanimous  joint  unanimity
    0      RR          2    1.0        0.0
    1    R@10          1    0.5        0.0
    """
    judged, crowd = parse_two_sets(measures, among, "among")
    others = {label: [c for c in crowd if str(crowd[c]) != str(measure)] for label, measure in judged.items()}
    alone = [label for label, rest in others.items() if not rest]
    if alone:
        raise ValueError(f"{alone[0]} needs at least one other measure to be compared with")
    decisions = Decisions.from_runs({**judged, **crowd}, qrels, runs, rel, cutoff, allow_empty, progress)
    size = (len(decisions.pairs[0]), len(decisions.queries))
    # Of every pair of runs, how many measures prefer the first, and how many the second; a measure's own share is taken out.
    rising, falling = (np.zeros(size, dtype=np.int32) for _ in range(2))
    for label in crowd:
        signs = decisions.signs(label)
        rising += signs > 0
        falling += signs < 0
    pairs = 2 * rising.size
    rows = []
    for label in judged:
        signs = decisions.signs(label)
        same = len(crowd) - len(others[label])  # labels of this very measure in the set
        no_fall = falling == same * (signs < 0)
        no_rise = rising == same * (signs > 0)
        unanimous = int(no_fall.sum() + no_rise.sum())
        joint = _rises(signs[no_fall]) + _rises(-signs[no_rise])
        rows.append((label, pairs, unanimous, joint, metric_unanimity(joint, unanimous, pairs)))
    table = pd.DataFrame(rows, columns=["measure", "pairs", "unanimous", "joint", "unanimity"])
    provenance = decisions.provenance | {"measures": printed(judged)}
    return study(table, "unanimity", among=printed(crowd), **provenance)


def _rises(signs: Signs) -> float:
    """How many rise; a tie counts one half."""
    return float((signs > 0).sum() + (signs == 0).sum() / 2)


def metric_unanimity(joint: float, unanimous: float, pairs: float) -> float:
    """MU = log2( P(dm, dM) / (P(dm) P(dM)) ) with P(dm) = 1/2, from counts among ``pairs`` ordered pairs.

    Three runs make six ordered pairs. Where all other measures agree on their order, three of these are unanimous; a measure
    that agrees with two of the three has

    >>> round(metric_unanimity(joint=2, unanimous=3, pairs=6), 3)
    0.415
    """
    if unanimous == 0:
        return float("nan")
    if joint == 0:
        return float("-inf")
    return float(np.log2((joint / pairs) / (0.5 * (unanimous / pairs))))
