"""``summary``: what a study says, in a few sentences."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pandas as pd

from ir_lexirecall._util.errors import entry
from ir_lexirecall.present.findings import Finding
from ir_lexirecall.present.text import format_number
from ir_lexirecall.present.words import count, listed


class _Headline(NamedTuple):
    """What is compared in a study: the column, its meaning, and what the largest and the smallest of it are."""

    column: str
    meaning: str
    largest: str
    smallest: str


_HEADLINES = {
    "achieved_significance": _Headline("significant", "share of pairs of runs that differ", "most", "least"),
    "agreement": _Headline("agreement", "share of decisions that are the same", "most alike", "least alike"),
    "balancing_index": _Headline("B", "ranks that one top document outweighs", "most", "least"),
    "best_run_labels": _Headline("mean", "mean sum of labels over the ranks", "largest", "smallest"),
    "correlation": _Headline("kendall", "Kendall's tau", "most alike", "least alike"),
    "degrade": _Headline("agreement", "decisions as with the full labels", "most robust", "least robust"),
    "discriminative_power": _Headline("share", "share of pairs of runs that differ", "most", "least"),
    "left_out": _Headline("bias", "change of the mean preference of a group that is left out", "largest", "smallest"),
    "orientation": _Headline("recall", "recall orientation", "most", "least"),
    "per_query_kendall": _Headline("kendall", "mean of Kendall's tau", "most alike", "least alike"),
    "provider_exposure": _Headline("exposure", "mean exposure of a provider", "most", "least"),
    "reachable_maximum": _Headline("value", "mean of the largest value reached", "largest", "smallest"),
    "split_half": _Headline("kendall", "Kendall's tau with the order on the other half", "best predictor", "worst"),
    "stability": _Headline("decided", "decisions that survive missing labels", "most", "fewest"),
    "tie_audit": _Headline("range", "how far ties can move the mean", "most", "least"),
    "tie_probabilities": _Headline("probability", "probability of a tie", "most", "least"),
    "ties": _Headline("share", "share of pairs of runs that tie on a query", "most", "least"),
    "unanimity": _Headline("unanimity", "metric unanimity", "most", "least"),
    "worst_case": _Headline("user", "mean value of the worst-off user", "best", "worst"),
}
_SUBJECTS = (("measure_a", "measure_b"), ("run", "measure"), ("measure", "target"), ("measure",), ("run",))


@entry
def summary(table: pd.DataFrame) -> str:
    """A study in a few sentences: what was studied on what, and what stands out; then the numbers, largest first.

    Args:
        table: what a function of ``ir_lexirecall.meta``, or ``tie_audit``, gave.

    Raises:
        ValueError: the table is not a study.

    >>> from ir_lexirecall import meta
    >>> print(meta.summary(meta.tie_probabilities(n=1000, m=10)).splitlines()[0])
    tie_probabilities: 5 measures. Probability of a tie: most R@1000 (1.0000), least LexiRecall (3.8e-24).
    """
    return str(finding(table))


def finding(table: pd.DataFrame) -> Finding:
    """What ``summary`` says, in parts."""
    function = getattr(table, "attrs", {}).get("function")
    if function in _SPECIAL:
        return _SPECIAL[function](table)
    if function not in _HEADLINES:
        raise ValueError(f"expected the table of a study (attrs['function'] names it), got {function!r}")
    headline = _HEADLINES[function]
    if function == "tie_audit":
        table = table.assign(range=table["highest"] - table["lowest"])
    if "minus" in table:
        table = table[table["minus"] == ""]
    if function == "left_out":
        table = table[table["policy"] == "left out"]
    subjects = next(list(columns) for columns in _SUBJECTS if set(columns) <= set(table.columns))
    groups = table.assign(number=table[headline.column].astype(float)).groupby(subjects, sort=False)["number"]
    moved_only = function == "tie_audit" and "query_id" in table  # what ties do not move has no row
    numbers = groups.sum() / table.attrs["queries"] if moved_only else groups.mean()
    ranking = numbers.sort_values(ascending=False, kind="stable").reset_index()
    sentences = [_head(table)]
    if len(defined := ranking.dropna()):
        largest, smallest = defined.iloc[0], defined.iloc[-1]
        said = f"{headline.largest} {_subject(largest, subjects)}"
        if len(defined) > 1:
            said += f", {headline.smallest} {_subject(smallest, subjects)}"
        sentences.append(f"{headline.meaning[0].upper()}{headline.meaning[1:]}: {said}.")
    shown = ranking.rename(columns={"number": headline.column})
    return Finding(
        sentences, ranking=shown, title=f"{headline.meaning[0].upper()}{headline.meaning[1:]}, largest first:"
    )


def _head(table: pd.DataFrame) -> str:
    """What was studied on what."""
    attrs = table.attrs
    facts = []
    for name, noun in (("measures", "measure"), ("runs", "run")):
        known = attrs.get(name)
        size = len(known) if known is not None else table[noun].nunique() if noun in table else 0
        facts += [count(size, noun)] if size else []
    if isinstance(attrs.get("queries"), int):
        facts.append(count(attrs["queries"], "query"))
    return f"{attrs['function']}: {listed(facts) or count(len(table), 'row')}."


def _subject(row: pd.Series, columns: list[str]) -> str:
    joint = " with " if columns[0].endswith("_a") else " by " if columns == ["run", "measure"] else " for "
    return f"{joint.join(str(row[column]) for column in columns)} ({format_number(float(row['number']), 4)})"


def _axioms(table: pd.DataFrame) -> Finding:
    """How many properties hold, and which fail."""
    sentences = [_head(table)]
    counts = table.groupby(["measure", "result"], sort=False).size().unstack(fill_value=0)
    for measure, row in counts.iterrows():
        failed = table[(table["measure"] == measure) & (table["result"] == "fails")]["property"].tolist()
        fails = f"{len(failed)} fail ({listed(failed, most=len(failed))})" if failed else "none fails"
        sentences.append(f"{measure}: {row.get('holds', 0)} of {row.sum()} properties hold, {fails}.")
    return Finding(sentences)


def _fit(table: pd.DataFrame) -> Finding:
    """The best value of a parameter."""
    attrs = table.attrs
    best = attrs.get("best")
    return Finding(
        [
            f"{attrs.get('parameter')} of {attrs.get('measure')} to {attrs.get('target')}.",
            f"Of {count(len(table), 'value')} tried, {best} is closest ({attrs.get('coefficient')} "
            f"{format_number(float(attrs.get('correlation', float('nan'))), 4)}).",
        ]
    )


def _partial_order(table: pd.DataFrame) -> Finding:
    """How many pairs of rankings can be compared."""
    comparable = int((table["order"] != "not comparable").sum())
    return Finding([f"partial_order: {comparable} of {count(len(table), 'pair')} of rankings can be compared."])


def _judges(table: pd.DataFrame) -> Finding:
    """How far two judges agree on documents, on runs and on conclusions."""
    attrs = table.attrs
    sentences = [
        f"{_head(table)} Of grades: kappa {format_number(attrs['kappa_of_grades'], 3)}, alpha "
        f"{format_number(attrs['alpha_of_grades'], 3)}."
    ]
    for row in table.itertuples():
        said = f"{row.measure}, grade {row.rel:g} or more: tau {format_number(row.tau, 3)}; of {count(row.pairs, 'pair')} of runs"
        sentences.append(
            f"{said}, {row.both} differ significantly by both, {row.only_a + row.only_b} by one only, {row.opposite} in opposite "
            "directions."
        )
    return Finding(sentences)


def _rows(table: pd.DataFrame) -> Finding:
    return Finding([f"{table.attrs['function']}: {count(len(table), 'row')}."], ranking=table)


_SPECIAL: dict[str, Callable[[pd.DataFrame], Finding]] = {
    "axioms": _axioms,
    "check": _axioms,
    "fit": _fit,
    "judges": _judges,
    "partial_order": _partial_order,
    "properties": _rows,
    "simulate_rankings": _rows,
}
