"""What is known of values by the name of their measure: their range, and whether the smaller or the larger one is better."""

from __future__ import annotations

import configparser
import re
from functools import cache
from math import e, inf
from pathlib import Path
from typing import NamedTuple

from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall._util.measure_strings import parse_measure
from ir_lexirecall.io.trec_eval_names import equivalent

_RANGES = {
    "0 to 1": (0.0, 1.0),
    "0 to 1.582": (0.0, e / (e - 1)),
    "0 upwards": (0.0, inf),
    "any": (-inf, inf),
}


_TURNED = re.compile(r"\A\s*([-−]|1\s*[-−/])|[↑↓]|\(.*(neg|inv)")
"""What says that values are turned round: ``-RMSE``, ``1 - WER``, ``1/latency``, ``loss (negated)``."""


class KnownMeasure(NamedTuple):
    """The smallest and the largest value that a measure can have (infinite where there is none), and its direction."""

    low: float
    high: float
    smaller_is_better: bool


def known(name: str) -> KnownMeasure | None:
    """What is known of a measure by its name here, in trec_eval, or among those of other programs; None if it is not.

    >>> known("-RMSE"), known("err"), known("negative log likelihood").smaller_is_better
    (None, None, True)
    >>> known("ndcg_cut_10"), known("WSS@0.95").high, known("mean_latency_ms").smaller_is_better, known("zeal")
    (KnownMeasure(low=0.0, high=1.0, smaller_is_better=False), 0.95, True, None)
    """
    if name == "err" or _TURNED.search(name):  # an error, or expected reciprocal rank? and a cost turned round is none
        return None
    trec_eval = equivalent(name)
    try:
        return known_of(parse_measure(name if trec_eval is None else trec_eval.measure))
    except ValueError:
        names, beside = _names()
    base = re.sub(r"(\(.*|@.*|_at_\d+|(?<=[A-Za-z])_[\d.]+)\Z", "", name)
    words = re.sub(r"(?<=[a-z\d])(?=[A-Z])|[\W_]+", " ", base).lower().split()
    while words[1:] and words[-1] in beside and "".join(words) not in names:
        words.pop()
    while words[1:] and words[0] in beside and "".join(words) not in names:
        words.pop(0)
    return names.get("".join(words), names.get(_plain(base)))


def known_of(measure: IRMeasure) -> KnownMeasure:
    """What is known of a measure with its parameters: as its class declares it here, or of one of ir_measures by its name.

    >>> from ir_measures import RBP
    >>> known_of(RBP).high, known_of(RBP(rel=1)).high
    (inf, 1.0)
    """
    if hasattr(measure, "value_range"):
        low, high = measure.value_range()
        return KnownMeasure(low, high, measure.is_cost())
    found = _names()[0].get(_plain(measure.NAME), KnownMeasure(-inf, inf, False))
    in_grades = "gains" in measure.params or (measure.NAME == "RBP" and measure.params.get("rel") is None)
    return found._replace(low=-inf if "gains" in measure.params else found.low, high=inf) if in_grades else found


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "", name.lower())


@cache
def _names() -> tuple[dict[str, KnownMeasure], frozenset[str]]:
    """Measures by their plain names, and the words that may stand beside these."""
    parser = configparser.ConfigParser(delimiters=("=",))
    parser.read(Path(__file__).with_suffix(".ini"), encoding="utf-8")
    listed = {
        section: [name.strip() for names in parser[section].values() for name in names.split(",")]
        for section in parser.sections()
    }
    beside = frozenset(listed.pop("beside"))
    names: dict[str, KnownMeasure] = {}
    for section, of_section in listed.items():
        values, _, better = section.partition(", ")
        names |= {_plain(name): KnownMeasure(*_RANGES[values], better == "smaller is better") for name in of_section}
    return names, beside
