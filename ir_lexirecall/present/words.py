"""Words that all texts share: counts, lists of names, intervals, tests and their corrections."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ir_lexirecall.present.text import format_number, format_p

if TYPE_CHECKING:
    from ir_lexirecall.significance import SignificanceTest

MOST_NAMES = 10  # in a sentence
FEW_NAMES = 4  # in a sentence that lists runs for several criteria

_TESTS = {
    "sign": "sign test",
    "t": "paired t-test",
    "wilcoxon": "Wilcoxon signed-rank test",
    "bootstrap": "paired bootstrap test",
    "randomisation": "randomisation test",
    "tukey": "randomised Tukey HSD test",
}
_CORRECTIONS = {
    "holm": "Holm's",
    "bonferroni": "Bonferroni's",
    "sidak": "Šidák's",
    "holm-sidak": "Holm and Šidák's",
    "simes-hochberg": "Hochberg's",
    "hommel": "Hommel's",
    "fdr_bh": "Benjamini and Hochberg's",
    "fdr_by": "Benjamini and Yekutieli's",
}
_ESTIMATES = {"sign": "net share of decided queries won", "wilcoxon": "pseudomedian of differences"}


def count(number: int, noun: str) -> str:
    """A number and its noun.

    >>> count(1, "query"), count(2000, "query"), count(0, "run")
    ('1 query', '2,000 queries', '0 runs')
    """
    plural = noun if number == 1 else f"{noun[:-1]}ies" if noun.endswith("ry") else f"{noun}s"
    return f"{number:,} {plural}"


def listed(names: Sequence[str], most: int = MOST_NAMES) -> str:
    """Names in a sentence; of many the first ones, and how many more there are.

    >>> listed(["a"]), listed(["a", "b", "c"]), listed(list("abcde"), most=3)
    ('a', 'a, b and c', 'a, b, c and 2 more')
    """
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def enumerated(facts: Sequence[str], most: int = MOST_NAMES) -> str:
    """Facts in a sentence: as ``listed``, but parted by semicolons where they have commas of their own.

    >>> enumerated(["a", "b"]), enumerated(["a, 1", "b, 2", "c, 3"], most=2)
    ('a and b', 'a, 1; b, 2; and 1 more')
    """
    if not any(", " in fact for fact in facts):
        return listed(facts, most)
    more = len(facts) - most
    return "; ".join([*facts[:most], *([f"and {more} more"] if more > 0 else [])])


def interval(low: float, high: float, places: int = 4) -> str:
    """An interval in words, ``-`` where there is none.

    >>> interval(0.25, 0.5, 2), interval(float("-inf"), float("inf"))
    ('0.25 to 0.50', '-')
    """
    if not (math.isfinite(low) and math.isfinite(high)):
        return "-"
    return f"{format_number(float(low), places)} to {format_number(float(high), places)}"


def number_and_interval(value: float, low: float, high: float, places: int = 4) -> str:
    """A number with its interval, as far as there is one; ``-`` where there is no number.

    >>> number_and_interval(0.5, 0.25, 0.75, 2), number_and_interval(0.5, float("nan"), float("nan"), 2)
    ('0.50 (0.25 to 0.75)', '0.50')
    """
    within = interval(low, high, places)
    number = format_number(value, places)
    return number if within == "-" else f"{number} ({within})"


def confidence_words(provenance: Mapping[str, Any]) -> str:
    """The confidence of intervals.

    >>> confidence_words({"alpha": 0.01}), confidence_words({})
    ('99%', '95%')
    """
    return f"{100 * (1 - provenance.get('alpha', 0.05)):g}%"


def p_words(p: float) -> str:
    """A p-value in a sentence.

    >>> p_words(0.0113), p_words(1e-9)
    ('p = 0.0113', 'p < 1e-4')
    """
    shown = format_p(p)
    return f"p {shown}" if shown.startswith("<") else f"p = {shown}"


# -- tests -----------------------------------------------------------------------------------------


def how_tested(tests: Mapping[str, SignificanceTest], comparisons: int) -> str:
    """How differences were tested, in a few words.

    >>> from ir_lexirecall.significance import SignificanceTest
    >>> how_tested({"AP": SignificanceTest("t"), "lexirecall": SignificanceTest("sign")}, 10)
    "paired t-test for AP, sign test for lexirecall; Holm's correction for 10 comparisons, p <= 0.05"
    """
    by_test: dict[str, list[str]] = {}
    for name, test in tests.items():
        units = "" if test.groups is None else " with groups of queries as units"
        by_test.setdefault(_TESTS[str(test.name)] + units, []).append(name)
    several = len(by_test) > 1
    words = ", ".join(f"{test} for {listed(names)}" if several else test for test, names in by_test.items())
    first = next(iter(tests.values()))
    correction = first.counted_correction if comparisons > 1 else None
    how = [f"{correction_words(correction)} for {comparisons:,} comparisons"] if correction else []
    return ("; " if several else ", ").join([words, ", ".join([*how, f"p <= {first.alpha:g}"])])


def correction_words(method: str) -> str:
    """A correction for several comparisons by its inventors.

    >>> correction_words("holm"), correction_words("fdr_tsbh")
    ("Holm's correction", 'fdr_tsbh correction')
    """
    return f"{_CORRECTIONS.get(method, method)} correction"


def estimate_words(test: SignificanceTest) -> str:
    return _ESTIMATES.get(str(test.name), "mean difference")


def provenance_line(provenance: Mapping[str, Any]) -> str:
    """The provenance of a result in one line of small print."""
    facts = {name: value for name, value in provenance.items() if name not in ("versions", "metadata", "criteria")}
    numbers = ", ".join(f"{name} {number}" for name, number in provenance["versions"].items())
    return "; ".join([*(f"{name} {fact_words(value)}" for name, value in facts.items() if value is not None), numbers])


def fact_words(value: Any) -> str:
    """A fact of a provenance in words; of several criteria, collections or runs what is the same once.

    >>> fact_words(["AP", "LR"]), fact_words({"AP": "t", "LR": "t"}), fact_words({"AP": "t", "LR": "t", "rpp": "sign"})
    ('AP, LR', 't', 't (AP, LR), sign (rpp)')
    """
    if isinstance(value, Mapping):
        names: dict[str, list[str]] = {}
        for name, fact in value.items():
            names.setdefault(fact_words(fact), []).append(str(name))
        if len(names) == 1:
            return next(iter(names))
        return ", ".join(f"{fact} ({', '.join(some)})" for fact, some in names.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    return f"{value:.6g}" if isinstance(value, float) else str(value)
