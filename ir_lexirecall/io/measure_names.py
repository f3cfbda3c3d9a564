"""What names of measures mean: trec_eval's as ours, and values printed as it prints them; range and direction of values of any name."""

from __future__ import annotations

import configparser
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import e, inf
from pathlib import Path
from typing import NamedTuple

from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall._util.errors import did_you_mean, entry
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.measure_strings import parse_measure


@dataclass(frozen=True)
class Equivalent:
    """What a measure of trec_eval is here.

    Attributes:
        name: as trec_eval prints it; K stands for a cutoff, X for a recall point.
        measure: ours, with the same letters; empty where there is none.
        note: what differs, or what to use instead.
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
    Equivalent("rbp_resid", "", "the residual of RBP: give the bounds of RBP_TE instead (its value with unjudged documents"
               " as best)"),
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
    Equivalent("gm_map", "", "np.exp(np.log(np.maximum(table['AP'], 1e-5)).mean()) of evaluate('AP', ...)"),
    Equivalent("gm_bpref", "", "np.exp(np.log(np.maximum(table['Bpref'], 1e-5)).mean()) of evaluate('Bpref', ...)"),
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
"""Every measure of trec_eval's ``-m all_trec`` that is not text, in the order of its manual's families."""

_CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
_OTHER_CUTOFFS = {"success": (1, 5, 10), "unj": (5, 10, 20)}
_COUNTS = ("num_q", "num_ret", "num_rel", "num_rel_ret")
_OFFICIAL = (
    *(*_COUNTS, "map", "Rprec", "bpref", "recip_rank"),
    *(f"iprec_at_recall_{i / 10:.2f}" for i in range(11)),
    *(f"P_{k}" for k in _CUTOFFS),
)


def equivalent(name: str) -> Equivalent | None:
    """What a measure of trec_eval is here; None if trec_eval has no such measure.

    >>> equivalent("ndcg_cut_10").measure, equivalent("11pt_avg").measure, equivalent("iprec_at_recall.0.1").measure
    ('nDCG@10', 'ElevenPt', 'IPrec_TE@0.1')
    >>> equivalent("iprec_at_recall_0.10").note
    'trec_eval 9: IPrec@0.1, or IPrec_TE(version=9)@0.1'
    """
    for known in EQUIVALENTS:
        pattern = (
            re.escape(known.name)
            .replace("_K", r"[._](?P<value>\d+)")
            .replace("_X", r"[._](?P<value>(?:\d*\.)?\d+)")
        )
        match = re.fullmatch(pattern, name)
        if match is not None:
            value = f"{float(match['value']):g}" if "value" in pattern else ""
            ours, note = (
                re.sub(r"(?<=[@=])[KX]\b", value, text) for text in (known.measure, known.note)
            )
            return Equivalent(name, ours, note)
    return None


@entry
def from_trec_eval(names: Iterable[str]) -> dict[str, str]:
    """Our measures by trec_eval's names, as ``evaluate`` takes them.

    Args:
        names: as trec_eval prints them or is asked for them (``P.5,10``; ``P`` for all its cutoffs); ``official`` stands for its
            default ones, without the geometric mean.

    Raises:
        ValueError: trec_eval has no such measure, or there is no such one here, with what to use instead.

    >>> from_trec_eval(["map", "P.5,10"])
    {'map': 'AP', 'P_5': 'P@5', 'P_10': 'P@10'}
    """
    measures = {}
    asked: list[str] = []
    for name in names:
        family, _, parameters = name.partition(".")
        if name == "official":
            asked += _OFFICIAL
        elif any(item.name == f"{name}_K" for item in EQUIVALENTS):
            asked += [f"{name}_{k}" for k in _OTHER_CUTOFFS.get(name, _CUTOFFS)]
        elif name == "iprec_at_recall":
            asked += [measure for measure in _OFFICIAL if measure.startswith(name)]
        else:
            asked += (
                [f"{family}.{one}" for one in parameters.split(",")]
                if "," in parameters
                else [name]
            )
    for name in asked:
        family, _, parameters = name.partition(".")
        found = equivalent(name) or equivalent(family)
        if found is None:
            hint = (
                did_you_mean(name, [item.name for item in EQUIVALENTS])
                or "; name those that you want, or official"
            )
            raise ValueError(f"trec_eval has no single measure {name!r}{hint}")
        if not found.measure:
            raise ValueError(f"trec_eval's {found.name} is not available here; use {found.note}")
        if equivalent(name) is None:
            raise ValueError(
                f"trec_eval's parameters of {family}, {parameters!r}, are not read here; give {found.measure} its own, as in "
                "RBP_TE(p=0.8)"
            )
        measures[trec_eval_name(found.measure)] = found.measure
    return measures


def trec_eval_name(measure: str) -> str:
    """What trec_eval calls a measure of ours; the measure itself where it has none.

    >>> trec_eval_name("nDCG@10"), trec_eval_name("IPrec_TE@0.1"), trec_eval_name("TSE")
    ('ndcg_cut_10', 'iprec_at_recall_0.10', 'TSE')
    """
    if measure == "NumRet(rel=1)":  # as NumRelRet prints
        return "num_rel_ret"
    for known in EQUIVALENTS:
        pattern = re.sub(r"(?<=[@=])[KX]\b", r"(?P<value>[\\d.]+)", re.escape(known.measure))
        if match := re.fullmatch(pattern, measure) if pattern else None:
            value = match.groupdict().get("value", "0")
            return re.sub("K$", value, re.sub("X$", f"{float(value):.2f}", known.name))
    return measure


@entry
def trec_eval_lines(
    means: Mapping[str, float] | pd.Series,
    per_query: pd.DataFrame | tuple[Sequence[str], Mapping[str, Sequence[float]]] | None = None,
    *,
    run: str | None = None,
    places: int | None = None,
) -> str:
    """Values in the lines that trec_eval prints: ``map                   \\tall\\t0.2500``.

    Args:
        means: values over all queries by measure, ours or trec_eval's name: ``evaluate(..., aggregate=True)``.
        per_query: a row per query and a column per measure, whose lines come first (``-q``); or ids of queries, and columns.
        run: the run's name, for the line ``runid``.
        places: decimal places, by default 4 as trec_eval has.

    >>> print(trec_eval_lines({"AP": 0.25, "NumRel": 3}, run="bm25").expandtabs(1))
    runid                  all bm25
    map                    all 0.2500
    num_rel                all 3
    """
    if isinstance(per_query, tuple):
        query_ids, columns = per_query
    else:
        query_ids = [] if per_query is None else list(map(str, per_query.index))
        columns = {} if per_query is None else per_query.to_dict("list")
    shown = {name: trec_eval_name(name) for name in [*columns, *means.keys()]}

    def line(name: str, query_id: str, value: float) -> str:
        text = (
            f"{value:.0f}"
            if shown[name] in _COUNTS
            else f"{value:6.{4 if places is None else places}f}"
        )
        return f"{shown[name]:<22}\t{query_id}\t{text}"

    of_queries = [
        name for name in columns if shown[name] != "num_q"
    ]  # trec_eval counts queries over all of them only
    lines = [
        line(name, query_id, columns[name][q])
        for q, query_id in enumerate(query_ids)
        for name in of_queries
    ]
    if run is not None:
        lines.append(f"{'runid':<22}\tall\t{run}")
    return "\n".join([*lines, *(line(name, "all", value) for name, value in means.items())])


# -- ranges and directions -----------------------------------------------------------------------------------------

_RANGES = {
    "0 to 1": (0.0, 1.0),
    "0 to 1.582": (0.0, e / (e - 1)),
    "0 upwards": (0.0, inf),
    "any": (-inf, inf),
}
_TURNED = re.compile(r"\A\s*([-−]|1\s*[-−/])|[↑↓]|\A[^(]*+\(.*(neg|inv)", re.DOTALL)
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
    if name == "err" or _TURNED.search(
        name
    ):  # an error, or expected reciprocal rank? and a cost turned round is none
        return None
    trec_eval = equivalent(name)
    try:
        return known_of(parse_measure(name if trec_eval is None else trec_eval.measure))
    except ValueError:
        names, beside = _names()
    base = re.split("[(@]", name, maxsplit=1)[0]
    if base == name:
        base = re.sub(r"(_at_\d+|(?<=[A-Za-z])_[\d.]+)\Z", "", name)
    words = re.sub(r"(?<=[a-z\d])(?=[A-Z])|[\W_]+", " ", base).lower().split()
    for end in (-1, 0):
        while words[1:] and words[end] in beside and "".join(words) not in names:
            words.pop(end)
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
    in_grades = "gains" in measure.params or (
        measure.NAME == "RBP" and measure.params.get("rel") is None
    )
    return (
        found._replace(low=-inf if "gains" in measure.params else found.low, high=inf)
        if in_grades
        else found
    )


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
        names |= {
            _plain(name): KnownMeasure(*_RANGES[values], better == "smaller is better")
            for name in of_section
        }
    return names, beside
