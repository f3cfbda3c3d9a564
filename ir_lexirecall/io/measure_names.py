"""Names of measures: trec_eval's and ours, and the range and direction of values by their name."""

from __future__ import annotations

import configparser
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import e, inf
from pathlib import Path
from typing import Any, NamedTuple

from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall._util.errors import did_you_mean, entry
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.measure_strings import parse_measure


@dataclass(frozen=True)
class Equivalent:
    """A measure of trec_eval and its equivalent here.

    Attributes:
        name: the name that trec_eval prints; K stands for a cutoff, X for a recall point.
        measure: our name, with the same letters; empty if there is no equivalent.
        note: differences, or what to use instead.
    """

    name: str
    measure: str
    note: str = ""


EQUIVALENTS = (
    Equivalent("map", "AP"),
    Equivalent("map_cut_K", "AP@K"),
    Equivalent("ndcg", "nDCG"),
    Equivalent("ndcg_cut_K", "nDCG@K"),
    Equivalent("recip_rank", "RR"),
    Equivalent("P_K", "P@K"),
    Equivalent("recall_K", "R@K"),
    Equivalent("success_K", "Success@K"),
    Equivalent("Rprec", "Rprec"),
    Equivalent("Rprec_mult_X", "", "Rprec, and P@K at the cutoffs that matter"),
    Equivalent("bpref", "Bpref"),
    Equivalent("infAP", "infAP"),
    Equivalent("iprec_at_recall_X", "IPrec_TE@X", "trec_eval 9: IPrec@X, or IPrec_TE(version=9)@X"),
    Equivalent("11pt_avg", "ElevenPt", "trec_eval 9: ElevenPt(version=9)"),
    Equivalent("rbp", "RBP_TE", "p = 0.9; with binary judgments also RBP(p=0.9)"),
    Equivalent("rbp_resid", "", "the residual of RBP: give the bounds of RBP_TE instead (its "
               "value with unjudged documents as best)"),
    Equivalent("unj_K", "Unjudged@K"),
    Equivalent("relative_P_K", "RelP@K"),
    Equivalent("set_relative_P", "RelP", "ir_measures has it as SetRelP, too"),
    Equivalent("set_P", "SetP"),
    Equivalent("set_recall", "SetR"),
    Equivalent("set_F", "SetF"),
    Equivalent("set_F_X", "SetF(beta=X)"),
    Equivalent("set_map", "SetAP"),
    Equivalent("Rndcg", "Rndcg"),
    Equivalent("ndcg_rel", "", "an average of nDCG over relevant documents: nDCG, or Rndcg"),
    Equivalent("gm_map", "", "np.exp(np.log(np.maximum(table['AP'], 1e-5)).mean()) of "
               "evaluate('AP', ...)"),
    Equivalent("gm_bpref", "", "np.exp(np.log(np.maximum(table['Bpref'], 1e-5)).mean()) of "
               "evaluate('Bpref', ...)"),
    Equivalent("num_q", "NumQ"),
    Equivalent("num_ret", "NumRet"),
    Equivalent("num_rel", "NumRel"),
    Equivalent("num_rel_ret", "NumRelRet"),
    Equivalent("num_nonrel_judged_ret", "", "Judged, the share of judged documents"),
    Equivalent("G", "", "a gain measure whose cost grows with rank: nDCG, or RBP_TE"),
    Equivalent("binG", "", "a gain measure whose cost grows with rank: AP, or RBP(p=0.9)"),
    Equivalent("utility", "", "SetP and SetR, or the counts NumRelRet and NumRet"),
    Equivalent("yaap", "", "AP through a logit: AP"),
)  # fmt: skip
"""Every measure of trec_eval's ``-m all_trec`` that is a number, in the order of its manual."""

_PLAIN = {item.name: item for item in EQUIVALENTS if item.name[-2:] not in ("_K", "_X")}
_WITH_CUTOFF, _WITH_NUMBER = (
    {item.name[:-2]: item for item in EQUIVALENTS if item.name.endswith(end)}
    for end in ("_K", "_X")
)
_PARAMETER = re.compile(r"(.+?)[._]((?:\d*\.)?\d+)")
_CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
_OTHER_CUTOFFS = {"success": (1, 5, 10), "unj": (5, 10, 20)}
_TREC_COUNTS = ("num_q", "num_ret", "num_rel", "num_rel_ret")
_OFFICIAL = (
    *(*_TREC_COUNTS, "map", "Rprec", "bpref", "recip_rank"),
    *(f"iprec_at_recall_{i / 10:.2f}" for i in range(11)),
    *(f"P_{k}" for k in _CUTOFFS),
)


def equivalent(name: str) -> Equivalent | None:
    """Return the equivalent of a measure of trec_eval; None if trec_eval has no such measure.

    >>> equivalent("ndcg_cut_10").measure, equivalent("iprec_at_recall.0.1").measure
    ('nDCG@10', 'IPrec_TE@0.1')
    >>> equivalent("iprec_at_recall_0.10").note
    'trec_eval 9: IPrec@0.1, or IPrec_TE(version=9)@0.1'
    """
    item, value = _PLAIN.get(name), ""
    parameter = _PARAMETER.fullmatch(name)
    if item is None and parameter is not None:
        base, value = parameter.groups()
        item = _WITH_CUTOFF.get(base) if value.isdecimal() else None
        item = item or _WITH_NUMBER.get(base)
        value = f"{float(value):g}"
    if item is None:
        return None
    measure, note = (
        re.sub(r"(?<=[@=])[KX]\b", value, text) for text in (item.measure, item.note)
    )
    return Equivalent(name, measure, note)


@entry
def from_trec_eval(names: Iterable[str]) -> dict[str, str]:
    """Return our measures by trec_eval's names, as ``evaluate`` takes them.

    Args:
        names: names that trec_eval prints or takes (``P.5,10``; ``P`` for all its cutoffs);
            ``official`` stands for its default ones, without the geometric mean.

    Raises:
        ValueError: trec_eval has no such measure, or there is no equivalent here; the message
            says what to use instead.

    >>> from_trec_eval(["map", "P.5,10"])
    {'map': 'AP', 'P_5': 'P@5', 'P_10': 'P@10'}
    """
    single_names = [single for name in names for single in _single_names(name)]
    measures = [_equivalent_measure(name) for name in single_names]
    return {trec_eval_name(measure): measure for measure in measures}


def _single_names(name: str) -> list[str]:
    """Return the single measures that trec_eval computes for a name with ``-m``."""
    if name == "official":
        return list(_OFFICIAL)
    if name == "iprec_at_recall":
        return [measure for measure in _OFFICIAL if measure.startswith(name)]
    if any(item.name == f"{name}_K" for item in EQUIVALENTS):
        return [f"{name}_{k}" for k in _OTHER_CUTOFFS.get(name, _CUTOFFS)]
    family, _, parameters = name.partition(".")
    if "," in parameters:
        return [f"{family}.{parameter}" for parameter in parameters.split(",")]
    return [name]


def _equivalent_measure(name: str) -> str:
    """Return our name of a single measure of trec_eval.

    Raises:
        ValueError: there is none, or its parameters are not read.
    """
    family, _, parameters = name.partition(".")
    match = equivalent(name)
    item = match or equivalent(family)
    if item is None:
        hint = did_you_mean(name, [item.name for item in EQUIVALENTS])
        hint = hint or "; name those that you want, or official"
        raise ValueError(f"trec_eval has no single measure {name!r}{hint}")
    if not item.measure:
        raise ValueError(
            f"trec_eval's {item.name} is not available here; use {item.note}"
        )
    if match is None:
        raise ValueError(
            f"trec_eval's parameters of {family}, {parameters!r}, are not read here; "
            f"give {item.measure} its own, as in RBP_TE(p=0.8)"
        )
    return item.measure


def trec_eval_name(measure: str) -> str:
    """Return trec_eval's name of a measure; our name if trec_eval has no such measure.

    >>> trec_eval_name("nDCG@10"), trec_eval_name("IPrec_TE@0.1"), trec_eval_name("TSE")
    ('ndcg_cut_10', 'iprec_at_recall_0.10', 'TSE')
    """
    if measure == "NumRet(rel=1)":  # as NumRelRet prints
        return "num_rel_ret"
    for item in EQUIVALENTS:
        pattern = re.sub(
            r"(?<=[@=])[KX]\b", r"(?P<value>[\\d.]+)", re.escape(item.measure)
        )
        match = re.fullmatch(pattern, measure) if pattern else None
        if match is not None:
            value = match.groupdict().get("value", "0")
            return re.sub("K$", value, re.sub("X$", f"{float(value):.2f}", item.name))
    return measure


@entry
def trec_eval_lines(
    means: Mapping[str, float] | pd.Series,
    per_query: pd.DataFrame
    | tuple[Sequence[str], Mapping[str, Sequence[float]]]
    | None = None,
    *,
    run: str | None = None,
    places: int | None = None,
) -> str:
    r"""Return values in the lines that trec_eval prints: ``map                   \tall\t0.2500``.

    Args:
        means: values over all queries by measure (our name or trec_eval's), as from
            ``evaluate(..., aggregate=True)``.
        per_query: a row per query and a column per measure, whose lines come first (``-q``); or
            ids of queries, and columns.
        run: the run's name, for the line ``runid``.
        places: decimal places, by default 4 as trec_eval has.

    >>> print(trec_eval_lines({"AP": 0.25, "NumRel": 3}, run="bm25").expandtabs(1))
    runid                  all bm25
    map                    all 0.2500
    num_rel                all 3
    """
    digits = 4 if places is None else places
    query_ids, columns = _columns_of(per_query)
    # trec_eval counts queries over all of them only.
    columns = {
        name: x for name, x in columns.items() if trec_eval_name(name) != "num_q"
    }
    lines = []
    for q, query_id in enumerate(query_ids):
        for name, column in columns.items():
            lines.append(_trec_eval_line(name, query_id, column[q], digits))
    if run is not None:
        lines.append(f"{'runid':<22}\tall\t{run}")
    lines += [
        _trec_eval_line(name, "all", value, digits) for name, value in means.items()
    ]
    return "\n".join(lines)


def _columns_of(per_query: Any) -> tuple[Sequence[str], Mapping[str, Sequence[float]]]:
    """Return ids of queries and columns of values, given as such, as a frame, or not at all."""
    if per_query is None:
        return [], {}
    if isinstance(per_query, tuple):
        query_ids, columns = per_query
        return query_ids, columns
    return list(map(str, per_query.index)), per_query.to_dict("list")


def _trec_eval_line(name: str, query_id: str, value: float, digits: int) -> str:
    """Return the line of a value; counts are printed without decimal places."""
    shown = trec_eval_name(name)
    text = f"{value:.0f}" if shown in _TREC_COUNTS else f"{value:6.{digits}f}"
    return f"{shown:<22}\t{query_id}\t{text}"


# -- ranges and directions -------------------------------------------------------------------------

_RANGES = {
    "0 to 1": (0.0, 1.0),
    "0 to 1.582": (0.0, e / (e - 1)),
    "0 upwards": (0.0, inf),
    "any": (-inf, inf),
}
_TURNED = re.compile(r"\A\s*([-−]|1\s*[-−/])|[↑↓]|\A[^(]*+\(.*(neg|inv)", re.DOTALL)
"""Names of costs turned round: ``-RMSE``, ``1 - WER``, ``1/latency``, ``loss (negated)``."""

_RELEVANCE_LEVEL = re.compile(r"(?<=[a-z\d])-l\d+(?=@|\Z)")
"""What ranx writes for the least grade that is relevant, as in ``precision-l2@10``."""


class KnownMeasure(NamedTuple):
    """The range of a measure's values, infinite where it has no limit, and its direction."""

    low: float
    high: float
    smaller_is_better: bool


_MOST_WORDS = 20  # of a measure's name, with what qualifies it


def known(name: str) -> KnownMeasure | None:
    """Return the range and direction of a measure by its name; None if the name is unknown.

    The name is one of ours, of trec_eval, or of another program.

    >>> known("-RMSE"), known("err"), known("negative log likelihood").smaller_is_better
    (None, None, True)
    >>> known("ndcg_cut_10")
    KnownMeasure(low=0.0, high=1.0, smaller_is_better=False)
    >>> known("WSS@0.95").high, known("mean_latency_ms").smaller_is_better, known("zeal")
    (0.95, True, None)
    """
    is_ambiguous = name == "err"  # an error, or expected reciprocal rank
    if is_ambiguous or _TURNED.search(name):
        return None
    trec_eval = equivalent(name)
    measure = name if trec_eval is None else trec_eval.measure
    try:
        return known_of(parse_measure(measure))
    except ValueError:
        names, qualifiers = _names()
    base = _without_cutoff(name)
    words = re.sub(r"(?<=[a-z\d])(?=[A-Z])|[\W_]+", " ", base).lower().split()
    if len(words) > _MOST_WORDS:
        return None
    for end in (-1, 0):
        while words[1:] and words[end] in qualifiers and "".join(words) not in names:
            words.pop(end)
    return names.get("".join(words), names.get(_plain(base)))


def range_of(name: str) -> tuple[float, float]:
    """Return the smallest and the largest value of a measure, infinite if it is not known."""
    about = known(name)
    if about is None:
        return -inf, inf
    return about.low, about.high


def known_of(measure: IRMeasure) -> KnownMeasure:
    """Return the range and direction of a measure with its parameters.

    Our classes declare them; measures of ir_measures are looked up by their name.

    >>> from ir_measures import RBP
    >>> known_of(RBP).high, known_of(RBP(rel=1)).high
    (inf, 1.0)
    """
    if hasattr(measure, "value_range"):
        low, high = measure.value_range()
        return KnownMeasure(low, high, measure.is_cost())
    about = _names()[0].get(_plain(measure.NAME), KnownMeasure(-inf, inf, False))
    if "gains" in measure.params:
        return about._replace(low=-inf, high=inf)
    if measure.NAME == "RBP" and measure.params.get("rel") is None:  # a sum of grades
        return about._replace(high=inf)
    return about


def holds_few_values(name: str) -> bool:
    """Return whether a measure of that name gives a query 0, 1, or one over a rank.

    >>> [holds_few_values(name) for name in ("RR@10", "recip_rank", "MRR_at_10", "success_5", "AP")]
    [True, True, True, True, False]
    """
    trec_eval = equivalent(name)
    if trec_eval is not None:
        name = trec_eval.measure
    base = _without_cutoff(name)
    return _plain(base) in {"rr", "reciprank", "mrr", "success"}


def _without_cutoff(name: str) -> str:
    """Return the name of a measure without its parameters and its cutoff."""
    name = _RELEVANCE_LEVEL.sub("", name)
    base = re.split("[(@]", name, maxsplit=1)[0]
    if base == name:
        base = re.sub(r"(_at_\d+|(?<=[A-Za-z])(_[\d.]+|\.\d+))\Z", "", name)
    return base


def _plain(name: str) -> str:
    """Return a name in lower case, with letters and digits only."""
    return re.sub(r"[\W_]+", "", name.lower())


@cache
def _names() -> tuple[dict[str, KnownMeasure], frozenset[str]]:
    """Return measures by their plain names, and words that may stand beside a name."""
    parser = configparser.ConfigParser(delimiters=("=",))
    parser.read(Path(__file__).with_suffix(".ini"), encoding="utf-8")
    names_of_section = {}
    for section in parser.sections():
        names = ",".join(parser[section].values()).split(",")
        names_of_section[section] = [name.strip() for name in names]
    qualifiers = frozenset(names_of_section.pop("beside"))
    measures: dict[str, KnownMeasure] = {}
    for section, names in names_of_section.items():
        values, _, better = section.partition(", ")
        about = KnownMeasure(*_RANGES[values], better == "smaller is better")
        measures |= {_plain(name): about for name in names}
    return measures, qualifiers
