"""The ir_measures provider: what each measure computes from the ranks of the judged documents."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf
from subprocess import CalledProcessError
from typing import Any

import ir_measures
import numpy as np
import polars as pl
from ir_measures import CwlMetric, Metric, measures
from ir_measures.measures.base import Measure
from ir_measures.providers.base import NOT_PROVIDED, Evaluator, Provider
from ir_measures.providers.base import Any as Value

from ir_lexirecall.alignment import JudgedRanks, align
from ir_lexirecall.collecting import EXECUTION, collect
from ir_lexirecall.judgments import Judgments
from ir_lexirecall.measures import MEASURES
from ir_lexirecall.scoring import cwl, lexirecall, rbu, standard, toma, tse
from ir_lexirecall.scoring.arrays import Floats
from ir_lexirecall.scoring.exposure import exposure
from ir_lexirecall.scoring.gain import gain
from ir_lexirecall.tables import and_more

NAME = "ir_lexirecall"
_STAND_IN = 2**26  # documents of a run that is made up for another program


@dataclass(frozen=True)
class Utility:
    """Values of a C/W/L measure for all queries, as ``ir_measures.CwlMetric`` names them; every document costs 1."""

    value: Floats
    expected_total_utility: Floats
    expected_total_cost: Floats
    expected_items: Floats


def _tse(measure: Measure, ranks: JudgedRanks) -> Floats:
    n, k = measure["n"], measure["cutoff"]
    found = ranks.relevant(measure["rel"], k)
    depth = ranks.depth if k is None else np.minimum(ranks.depth, k)
    p_m = tse.last_rank(found.m, found.r, found.p_r, depth, n=n, optimistic=measure["impute"] == "optimistic")
    if n is not None:
        _check_n(measure, ranks, np.maximum(found.p_r + (found.m - found.r), np.where(found.m > 0, p_m, 0)))
    e = exposure(measure["exposure"], p=measure["p"], n=n)
    return tse.total_search_efficiency(found.m, p_m, e, n=n, normalize=measure["normalize"])


def _lexirecall(measure: Measure, ranks: JudgedRanks) -> Floats:
    found = ranks.relevant(measure["rel"], measure["cutoff"])
    if measure["form"] == "nested":
        return lexirecall.nested(found.query, found.rank, found.m)
    _check_n(measure, ranks, found.p_r + (found.m - found.r))
    return lexirecall.weighted(found.query, found.rank, found.m, n=measure["n"], eps=measure["eps"])


def _check_n(measure: Measure, ranks: JudgedRanks, needed: Any) -> None:
    """Refuse an ``n`` below a rank in use."""
    over = np.flatnonzero(needed > measure["n"])
    if len(over):
        raise ValueError(
            f"{measure}: n={measure['n']} is smaller than rank {int(needed[over[0]])}, needed for query "
            f"{ranks.judgments.query_ids[over[0]]!r}{and_more(len(over) - 1)}; n is the size of the collection"
        )


_DISCOUNTS: dict[str, Callable[[Measure], cwl.Discount]] = {
    "CWL_ERR8": lambda measure: cwl.Uniform(),
    "CWL_ERR9": lambda measure: cwl.Reciprocal(),
    "CWL_ERR10": lambda measure: cwl.Geometric(measure["phi"]),
    "CWL_ERR11": lambda measure: cwl.InverseSquare(measure["T"]),
    "CWL_RBP": lambda measure: cwl.Geometric(measure["phi"]),
    "NERR8": lambda measure: cwl.Uniform(),
    "NERR9": lambda measure: cwl.Reciprocal(),
    "NERR10": lambda measure: cwl.Geometric(measure["p"]),
    "NERR11": lambda measure: cwl.InverseSquare(measure["T"]),
}


def _cwl(measure: Measure, ranks: JudgedRanks) -> Utility:
    max_rel, kind = measure["max_rel"], measure["gain"]
    ranks.judgments.check_top_grade(max_rel, str(measure))
    best = float(gain(np.array([float(max_rel)]), max_rel, kind)[0]) if measure["unjudged"] == "best" else 0.0
    has_relevant = ranks.judgments.m() > 0  # a query without scores 0: grades between 0 and 1 have a gain
    items, etu = cwl.cwl(
        ranks.query,
        ranks.rank,
        np.where(has_relevant[ranks.query], gain(ranks.grade, max_rel, kind), 0.0),
        len(ranks.judgments),
        _DISCOUNTS[measure.NAME](measure),
        end=measure["cutoff"] if "cutoff" in measure.SUPPORTED_PARAMS else inf,
        cascade=measure.NAME != "CWL_RBP",
        unjudged=np.where(has_relevant, best, 0.0),
    )
    return Utility(value=etu / items, expected_total_utility=etu, expected_total_cost=items, expected_items=items)


_PROGRAM_DEPTH = 1000  # cwl_eval pads or cuts every ranking to that


def _nerr(measure: Measure, ranks: JudgedRanks) -> Utility:
    """ir_measures' NERR*: linear gain between min_rel and max_rel over 1,000 ranks, as in cwl_eval."""
    low, high = measure["min_rel"], measure["max_rel"]
    if low >= high:
        raise ValueError(f"{measure}: min_rel={low} must be below max_rel={high}")
    ranks.judgments.check_top_grade(high, str(measure))
    k = _cutoff(measure) if "cutoff" in measure.SUPPORTED_PARAMS else inf
    r = np.maximum(np.maximum(ranks.grade, 0) - low, 0) / (high - low)
    discount, queries = _DISCOUNTS[measure.NAME](measure), len(ranks.judgments)

    end = min(k, _PROGRAM_DEPTH)
    items, etu = cwl.cwl(ranks.query, ranks.rank, r, queries, discount, end=end, unjudged=np.zeros(queries))
    value, cost = etu / items, items
    if k > _PROGRAM_DEPTH:
        etu, cost = cwl.truncated_by_program(ranks.query, ranks.rank, r, discount, etu, items, _PROGRAM_DEPTH)
    return Utility(value=value, expected_total_utility=etu, expected_total_cost=cost, expected_items=items)


def _err(measure: Measure, ranks: JudgedRanks) -> Floats:
    """ir_measures' ERR@k: gdeval's, with top grade 4."""
    ranks.judgments.check_top_grade(4, str(measure))
    top = ranks.rank <= _cutoff(measure)
    r = gain(ranks.grade[top], 4, "exp")
    return cwl.expected_reciprocal_rank(ranks.query[top], ranks.rank[top], r, len(ranks.judgments))


def _given(measure: Measure, name: str) -> Any:
    """A parameter of one of ir_measures' own measures, None where it was not given."""
    value = measure[name]
    return None if value is NOT_PROVIDED else value


def _cutoff(measure: Measure) -> float:
    """The cutoff of one of ir_measures' own measures, infinite where there is none."""
    k = _given(measure, "cutoff")
    if k is not None and k < 1:
        raise ValueError(f"{measure}: the cutoff must be at least 1")
    return inf if k is None else float(k)


def _rbu(measure: Measure, ranks: JudgedRanks) -> Floats:
    judgments, p, k = ranks.judgments, measure["p"], measure["cutoff"]
    aspects = judgments.aspects
    # Which rows of the aspect grades each retrieved document has: they stand together.
    first = np.searchsorted(aspects.doc, ranks.doc)
    count = np.searchsorted(aspects.doc, ranks.doc, side="right") - first
    hit = np.repeat(np.arange(len(ranks.doc)), count)
    row = first[hit] + np.arange(len(hit)) - (np.cumsum(count) - count)[hit]
    rank = ranks.rank[hit]
    keep = (aspects.grade[row] > 0) & (rank <= (inf if k is None else k))
    row, rank = row[keep], rank[keep]
    order = np.lexsort((rank, aspects.aspect[row]))  # pairs are numbered by query
    row, rank = row[order], rank[order]
    pair = aspects.aspect[row]
    r = gain(aspects.grade[row], _aspect_top_grades(measure, judgments)[pair], measure["gain"])
    queries = len(judgments)
    utility = rbu.utility(aspects.query[pair], pair, rank, r, aspects.weight[pair], queries, p=p)
    looked_at = ranks.depth if k is None else np.minimum(ranks.depth, k)
    value = utility - measure["e"] * rbu.effort(looked_at, p=p)
    has_relevant = np.bincount(aspects.query, weights=aspects.weight, minlength=queries) > 0
    return np.where(has_relevant, value * ((1 - p) / p if measure["normalize"] else 1), 0.0)


def _aspect_top_grades(measure: Measure, judgments: Judgments) -> Floats:
    """max_rel of every (query, aspect) pair: given, or the pair's largest grade."""
    aspects = judgments.aspects
    largest = np.zeros(len(aspects.query))
    np.maximum.at(largest, aspects.aspect, aspects.grade)
    if measure["max_rel"] is None:
        return np.where(largest > 0, largest, 1.0)
    judgments.check_top_grade(measure["max_rel"], str(measure))
    return np.full(len(aspects.query), float(measure["max_rel"]))


def _toma(measure: Measure, ranks: JudgedRanks) -> Floats:
    positions, embedding = _labels(measure, ranks.judgments)
    weight, k = toma.label_weights(embedding, positions, distance=measure["distance"], gate=measure["gate"])
    threshold = k // 2 if measure["binarize"] == "half" else measure["binarize"]
    return base_values(measure.base_measure(), threshold, ranks.with_grades(weight.astype(np.float64)))


def _aspect_bases(measure: Measure, ranks: JudgedRanks) -> tuple[Floats, Floats]:
    """The base scores of every aspect, shape (aspects, Q), and the weights p_a."""
    base, binarize = measure.base_measure(), measure["binarize"]
    labels = ranks.judgments.labels(list(measure["aspects"]))
    scores = []
    for name, scale in measure["aspects"].items():
        grades = _grades(scale)
        position = _label_positions(measure, name, grades, labels[name], ranks.judgments)
        threshold = _upper_half(measure, name, grades) if binarize == "half" else binarize or 1
        scores.append(base_values(base, threshold, ranks.with_grades(np.array(grades, dtype=np.float64)[position])))
    weights = measure["weights"] or dict.fromkeys(measure["aspects"], 1)
    return np.stack(scores), np.array([float(weights[name]) for name in measure["aspects"]])


def _cam(measure: Measure, ranks: JudgedRanks) -> Floats:
    return toma.weighted_mean(*_aspect_bases(measure, ranks))


def _mm(measure: Measure, ranks: JudgedRanks) -> Floats:
    return toma.harmonic_mean(*_aspect_bases(measure, ranks))


def _upper_half(measure: Measure, name: str, grades: list[float]) -> float:
    """The lowest grade above the middle of an aspect's scale."""
    if len(grades) == 1:
        raise ValueError(
            f"{measure}: binarize='half' needs at least two labels, but the aspect {name!r} has only {grades[0]:g}; give a grade"
        )
    return grades[(len(grades) + 1) // 2]


def _grades(scale: int | Mapping[float, float]) -> list[float]:
    """The labels of an aspect, lowest first."""
    return sorted(scale) if isinstance(scale, Mapping) else list(range(scale + 1))


def _labels(measure: Measure, judgments: Judgments) -> tuple[dict[str, Any], dict[str, list[Fraction]]]:
    """For each aspect, every document's label as a position on the scale, and the scale's embedded values."""
    positions, embedding = {}, {}
    for name, label in judgments.labels(list(measure["aspects"])).items():
        scale = measure["aspects"][name]
        grades = _grades(scale)
        positions[name] = _label_positions(measure, name, grades, label, judgments)
        # Decimal text, not the nearest float: 0.1 + 0.2 must equal 0.3.
        values = [scale[g] for g in grades] if isinstance(scale, Mapping) else grades
        embedding[name] = [Fraction(str(value)) for value in values]
    return positions, embedding


def _label_positions(measure: Measure, name: str, grades: list[float], label: Floats, judgments: Judgments) -> Any:
    """Positions of ``label`` among ``grades``; a missing label is the lowest, a negative one off the scale counts as 0."""
    scale = np.array(grades, dtype=np.float64)
    known = np.where(np.isnan(label), scale[0], label)
    known = np.where((known < 0) & ~np.isin(known, scale), 0, known)
    position = np.minimum(np.searchsorted(scale, known), len(scale) - 1)
    off = np.flatnonzero(scale[position] != known)
    if len(off):
        doc = int(off[0])
        raise ValueError(
            f"{measure}: document {judgments.doc_id[doc]!r} of query {judgments.query_ids[judgments.query[doc]]!r} has the "
            f"label {label[doc]:g} for the aspect {name!r}, whose labels are {_span(grades)}{and_more(len(off) - 1)}"
        )
    return position


def _span(grades: list[float]) -> str:
    return ", ".join(f"{g:g}" for g in grades) if len(grades) <= 6 else f"{grades[0]:g} to {grades[-1]:g}"


def base_values(base: Measure, threshold: float | None, ranks: JudgedRanks) -> Floats:
    """Scores of a base measure; ``threshold`` is its ``rel`` unless it names one itself, None leaves its own default."""
    if threshold is not None and "rel" in base.SUPPORTED_PARAMS and "rel" not in base.params:
        base = base(rel=threshold)
    if base.NAME in SCORERS:
        result = SCORERS[base.NAME](base, ranks)
        return result.value if isinstance(result, Utility) else result
    return _by_ir_measures(base, ranks) if by_others(base) else _STANDARD[base.NAME](base, ranks)


def by_others(base: Measure) -> bool:
    """Whether another program scores a measure: neither this library's, nor a standard one with plain parameters."""
    if base.NAME in SCORERS:
        return False
    return base.NAME not in _STANDARD or not all(
        name in ("cutoff", "rel", "p") or value == base.SUPPORTED_PARAMS[name].default
        for name, value in base.params.items()
    )


def _ndcg(base: Measure, ranks: JudgedRanks) -> Floats:
    j = ranks.judgments
    return standard.ndcg(ranks.query, ranks.rank, ranks.grade, j.query, j.grade, len(j), _cutoff(base))


def _relevant(base: Measure, ranks: JudgedRanks) -> Any:
    k = _cutoff(base) if "cutoff" in base.SUPPORTED_PARAMS else inf
    return ranks.relevant(base["rel"], None if k == inf else int(k))


def _ap(base: Measure, ranks: JudgedRanks) -> Floats:
    found = _relevant(base, ranks)
    return standard.average_precision(found.query, found.rank, found.m)


def _p(base: Measure, ranks: JudgedRanks) -> Floats:
    return standard.precision(_relevant(base, ranks).query, len(ranks.judgments), int(_cutoff(base)))


def _r(base: Measure, ranks: JudgedRanks) -> Floats:
    found = _relevant(base, ranks)
    return standard.recall(found.query, found.m)


def _rprec(base: Measure, ranks: JudgedRanks) -> Floats:
    found = _relevant(base, ranks)
    return standard.r_precision(found.query, found.rank, found.m)


def _rr(base: Measure, ranks: JudgedRanks) -> Floats:
    found = _relevant(base, ranks)
    return standard.reciprocal_rank(found.query, found.rank, len(found.m))


def _rbp(base: Measure, ranks: JudgedRanks) -> Floats:
    found = _relevant(base, ranks)
    return standard.rank_biased_precision(found.query, found.rank, len(found.m), base["p"])


_STANDARD: dict[str, Callable[[Measure, JudgedRanks], Floats]] = {
    "nDCG": _ndcg,
    "AP": _ap,
    "P": _p,
    "R": _r,
    "Rprec": _rprec,
    "RR": _rr,
    "RBP": _rbp,
}


@contextmanager
def failing(*measures: Measure) -> Iterator[None]:
    """Let what another program fails with be a ``ValueError`` that names the measures it was asked for."""
    try:
        yield
    except (ArithmeticError, CalledProcessError) as error:
        names = ", ".join(map(str, measures))
        raise ValueError(f"{names}: ir_measures' provider cannot compute this: {error}") from error


def _by_ir_measures(base: Measure, ranks: JudgedRanks) -> Floats:
    """Any other measure: ir_measures scores a stand-in run with the same judged documents at the same ranks."""
    import pandas as pd

    judgments = ranks.judgments
    judgments.check_whole_grades(str(base))
    if ranks.depth.sum() > _STAND_IN:
        raise ValueError(
            f"{base} needs every document of the rankings, which are {ranks.depth.sum():,} together; at most {_STAND_IN:,} "
            "can be made up"
        )
    names = pl.Series(np.arange(len(judgments.query))).cast(pl.String)
    renamed = judgments.renamed("judged-" + names)  # no name of an unjudged document
    run = replace(ranks, judgments=renamed).as_run("unjudged-").to_dict(as_series=False)
    with failing(base):
        metrics = ir_measures.iter_calc([base], renamed.for_ir_measures(), pd.DataFrame(run))
        values = {metric.query_id: metric.value for metric in metrics}
    return np.array([values.get(query_id, base.DEFAULT) for query_id in judgments.query_ids], dtype=np.float64)


SCORERS: dict[str, Callable[[Measure, JudgedRanks], Floats | Utility]] = {
    "TSE": _tse,
    "LexiRecall": _lexirecall,
    **dict.fromkeys(("CWL_ERR8", "CWL_ERR9", "CWL_ERR10", "CWL_ERR11", "CWL_RBP"), _cwl),
    **dict.fromkeys(("NERR8", "NERR9", "NERR10", "NERR11"), _nerr),
    "ERR": _err,
    "RBU": _rbu,
    "TOMA": _toma,
    "CAM": _cam,
    "MM": _mm,
}


def _warn_of_missing_aspects(asked: Iterable[Measure], judgments: Judgments) -> None:
    """Say that RBU was asked of judgments that name one aspect only."""
    if (
        any(measure.NAME == "RBU" for measure in asked)
        and len(judgments)
        and len(judgments.aspects.query) == len(judgments)
    ):
        warnings.warn(
            "RBU: the qrels name one aspect per query, so nothing counts as redundant. If the collection has subtopics, "
            "give them in 'subtopic_id' or 'iteration' (a dict of dicts cannot hold them).",
            stacklevel=2,
        )


class LexiRecallEvaluator(Evaluator):  # type: ignore[misc]
    """Scores runs with measures of this library; the qrels are read once, each run is aligned once."""

    def __init__(self, measures: Iterable[Measure], qrels: Any) -> None:
        self.judgments = Judgments.of(qrels)
        super().__init__(list(measures), set(self.judgments.query_ids))
        for measure in self.measures:
            measure.validate_params()
        _warn_of_missing_aspects(self.measures, self.judgments)

    def score(self, ranks: JudgedRanks) -> dict[Measure, Floats | Utility]:
        """Values of all queries, in the order of ``judgments.query_ids``, per measure."""
        return {
            measure: EXECUTION.values(collect(ranks)) if measure == EXECUTION else SCORERS[measure.NAME](measure, ranks)
            for measure in self.measures
        }

    def iter_calc(self, run: Any) -> Iterator[Metric]:
        """Metrics of every query of the qrels, measure by measure, in the order of the query ids."""
        query_ids = self.judgments.query_ids
        for measure, result in self.score(align(self.judgments, run)).items():
            if isinstance(result, Utility):
                columns = (
                    result.value,
                    result.expected_total_utility,
                    result.expected_total_cost,
                    result.expected_items,
                )
                rows = zip(query_ids, *(column.tolist() for column in columns), strict=True)
                for query_id, value, etu, etc, items in rows:
                    yield CwlMetric(query_id, measure, value, etu, 1.0, etc, items)
            else:
                for query_id, value in zip(query_ids, result.tolist(), strict=True):
                    yield Metric(query_id, measure, value)

    def calc_aggregate(self, run: Any) -> dict[Measure, float]:
        """Mean of each measure over the queries of the qrels, added up in the order of the query ids."""
        means = {}
        for measure, result in self.score(align(self.judgments, run)).items():
            values = result.value if isinstance(result, Utility) else result
            means[measure] = float(np.cumsum(values)[-1] / len(values)) if len(values) else float("nan")
        return means


class LexiRecallProvider(Provider):  # type: ignore[misc]
    """ir_measures provider of TSE, LexiRecall, CWL_*, RBU, TOMA, CAM and MM, and of NERR* and ERR as a fallback."""

    NAME = NAME
    SUPPORTED_MEASURES = [
        *(measure for name, measure in MEASURES.items() if name == measure.NAME),
        measures._NERR8(cutoff=Value(required=True), min_rel=Value(), max_rel=Value(required=True)),
        measures._NERR9(cutoff=Value(required=True), min_rel=Value(), max_rel=Value(required=True)),
        measures._NERR10(p=Value(), min_rel=Value(), max_rel=Value(required=True)),
        measures._NERR11(T=Value(), min_rel=Value(), max_rel=Value(required=True)),
        measures._ERR(cutoff=Value()),
    ]

    def supports(self, measure: Measure) -> bool:
        measure.validate_params()
        if measure == EXECUTION:
            return True
        ours = MEASURES.get(measure.NAME)
        if ours is not None:
            return isinstance(measure, type(ours))
        return bool(super().supports(measure))

    def _evaluator(self, measures: Iterable[Measure], qrels: Any) -> LexiRecallEvaluator:
        return LexiRecallEvaluator(measures, qrels)


def register() -> None:
    """Append the provider to ir_measures' own, which keep precedence; a second call changes nothing."""
    provider = LexiRecallProvider()
    pipeline = ir_measures.DefaultPipeline.providers
    pipeline[:] = [known for known in pipeline if known.NAME != NAME] + [provider]
    ir_measures.providers.registry[NAME] = provider
