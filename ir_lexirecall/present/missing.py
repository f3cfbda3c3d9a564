"""What unjudged documents and predicted judgments mean for a comparison, in sentences and intervals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ir_lexirecall.comparison import Comparison
from ir_lexirecall.present.words import count, listed


def predicted_words(result: Comparison, names: Sequence[str]) -> list[str]:
    """What predicted judgments are worth, and what that rests on."""
    if result.predicted is None:
        return []
    human = count(len(result.query_ids), "query")
    worth = {name: float(np.median(result.powered(name).n_effective)) for name in names}
    said = listed([f"{number:.0f} for {name}" if len(names) > 1 else f"{number:.0f}" for name, number in worth.items()])
    pairs = f", the median over {len(result.pairs):,} pairs" if len(result.pairs) > 1 else ""
    return [
        f"Differences are prediction-powered: with the predicted judgments of {len(result.predicted.query_ids):,} queries, "
        f"the {human} that people judged are worth {said}{pairs}. That holds only if people's queries were drawn at random."
    ]


def left_open_words(result: Comparison, names: Sequence[str], runs: Sequence[str]) -> list[str]:
    """On how many queries unjudged documents could change the winner of the two best ``runs``, or the best one and the baseline."""
    if len(result.runs) < 2:
        return []
    first, *others = runs
    other = others[0] if result.baseline in (None, first) else str(result.baseline)
    pair = next(i for i, pair in enumerate(result.pairs) if set(pair) == {first, other})
    facts = []
    for name in names:
        if (left := result.left_open(name)) is not None:
            number, queries = int(left.is_open[pair].sum()), left.is_open.shape[1]
            most = "" if left.exact[pair] or not number else "at most "
            by = f" by {name}" if len(names) > 1 else ""
            facts.append(f"on {most}{number} of {count(queries, 'query')}{by} (depth {left.depth})")
    if not facts:
        return []
    who = f" between {first} and {other}" if len(result.runs) > 2 else ""
    return [f"With the unjudged documents judged, the winner{who} could change {listed(facts)}."]


def outer_intervals(
    result: Comparison, name: str, reference: str
) -> tuple[int, dict[str, float], dict[str, float]] | None:
    """The depth, and the ends of the intervals of all runs' differences to one that hold any judging of unjudged documents, too.

    None where these are not known.
    """
    left = result.left_open(name)
    if left is None or left.outer is None:
        return None
    low, high = {}, {}
    for (a, b), least, most in zip(result.pairs, *left.outer, strict=True):
        if b == reference:
            low[a], high[a] = float(least), float(most)
        elif a == reference:
            low[b], high[b] = -float(most), -float(least)
    return left.depth, low, high
