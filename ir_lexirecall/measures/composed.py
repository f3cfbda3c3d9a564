"""Measures of several judged aspects, made of a base measure.

They are TOMA (Maistro et al., CIKM 2021), CAM and MM.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial, reduce
from math import lcm, log2
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from ir_measures.measures.base import Measure as IRMeasure
from numpy.typing import NDArray

from ir_lexirecall._util.arrays import Floats, Ints
from ir_lexirecall._util.errors import and_more, is_integer, shown
from ir_lexirecall._util.measure_strings import parse_measure
from ir_lexirecall.io.measure_names import known_of
from ir_lexirecall.measures.about import About, Example
from ir_lexirecall.measures.declaration import Measure
from ir_lexirecall.measures.parameters import Param, cutoff, is_share
from ir_lexirecall.measures.parsing import check_parameters
from ir_lexirecall.measures.scoring import values

if TYPE_CHECKING:
    from ir_lexirecall.data.aligned_run import AlignedRun
    from ir_lexirecall.data.judgments import Judgments


DISTANCES = ("euclidean", "manhattan", "chebyshev")
_TOP_GRADE = 10**6
_MOST_TUPLES = 2**25  # label tuples whose distances are compared
_WORDS = ("any", "half")  # thresholds of binary bases
_DEFAULTS = (
    "by default TOMA takes the upper half, and CAM and MM take grades from the base's rel (else 1) "
    "on; 'any' is the same rule in all three"
)
_DROPPED = (
    "a query on which all runs tie has no Kendall's tau: meta.per_query_kendall leaves "
    "it out"
)
_OF_MEANS = {
    "binarize": "what is relevant to a binary base: grades from a number on, 'any' (above the "
    f"lowest label of each scale) or 'half' (above the middle of it); {_DEFAULTS}"
}
_about = partial(About, values="those of the base", meanings=_OF_MEANS)
BASE = Param(str, "measure that scores the ranking", default="nDCG")


class ComposedMeasure(Measure, register=False):
    """A measure made of another one, its base, which is checked and cut off."""

    def base_measure(self) -> IRMeasure:
        """Return the base with this measure's cutoff."""
        try:
            base = self._cut_base()
            check_parameters(base)
        except ValueError as error:
            raise ValueError(
                f"{self.NAME}: base={self['base']!r} cannot be used: {error}"
            ) from None
        return base

    def _cut_base(self) -> IRMeasure:
        """Return the base with this measure's cutoff, its parameters not yet checked."""
        base, k = parse_measure(self["base"]), self["cutoff"]
        if isinstance(base, ComposedMeasure):
            raise ValueError(
                "it is itself made of another measure; name one that is not"
            )
        if k is None:
            return base
        if "cutoff" not in base.SUPPORTED_PARAMS or base.params.get("cutoff", k) != k:
            raise ValueError(f"it cannot be cut at {k}")
        return base(cutoff=k)

    def check_together(self) -> None:
        """Raise if the base cannot be used."""
        self.base_measure()

    def value_range(self) -> tuple[float, float]:
        """Return the range of the base measure, widened to include 0."""
        low, high, _ = known_of(self.base_measure())
        return min(low, 0.0), max(high, 0.0)  # 0 of a query without relevant documents

    def is_cost(self) -> bool:
        """Return whether the smaller value of the base measure is the better one."""
        return known_of(self.base_measure()).smaller_is_better


def _check_aspects(aspects: Any) -> bool:
    """Return whether aspects are texts with scales, and at least one."""
    are_right = []
    for name, scale in aspects.items():
        are_right.append(isinstance(name, str) and _is_scale(scale))
    return len(are_right) > 0 and all(are_right)


def _is_scale(scale: Any) -> bool:
    """Return whether a scale is a top grade, or grades with values that do not fall."""
    if not isinstance(scale, dict):
        return is_integer(scale) and 1 <= scale <= _TOP_GRADE
    embedded = list(scale.values())
    if not embedded or not all(map(is_share, [*scale, *embedded])):
        return False
    return embedded == sorted(embedded)


_ASPECTS = Param(
    dict,
    "judged aspects with their top grade, or with the embedded value of each grade",
    required=True,
    check=_check_aspects,
    expects="a dict of aspect names to a top grade (integer from 1 to 1,000,000) or to {grade: "
    "value}, all at least 0 "
    "(a negative label counts as 0), with values that do not fall, e.g. "
    "{'relevance':2,'quality':{0:0,1:1.5,2:3}}",
)


def _binarize(default: str | None, desc: str) -> Param:
    """Return the parameter that says which labels count as 1."""
    return Param(
        str,
        desc,
        default=default,
        check=lambda b: b in _WORDS if isinstance(b, str) else 1 <= b <= 2**53,
        expects="'any', 'half' or an integer of at least 1 and at most 2^53",
        also=(int,),
    )


class _AspectMeasure(ComposedMeasure, register=False):
    PAGE: ClassVar[str] = "aspects"
    FAMILY: ClassVar[str] = "aspects"

    def positions(
        self, judgments: Judgments
    ) -> Iterator[tuple[str, list[float], Ints]]:
        """Yield each aspect with its labels, lowest first, and which of them each document has.

        A missing label is the lowest, a negative one off the scale counts as 0.
        """
        for name, label in judgments.labels(list(self["aspects"])).items():
            scale = self["aspects"][name]
            if isinstance(scale, Mapping):
                grades = sorted(scale)
            else:
                grades = list(range(scale + 1))
            on_scale = np.array(grades, dtype=np.float64)
            filled = np.where(np.isnan(label), on_scale[0], label)
            is_off_and_negative = (filled < 0) & ~np.isin(filled, on_scale)
            filled = np.where(is_off_and_negative, 0, filled)
            position = np.minimum(np.searchsorted(on_scale, filled), len(on_scale) - 1)
            off = np.flatnonzero(on_scale[position] != filled)
            if len(off):
                raise ValueError(
                    f"{self}: {_off_scale(judgments, name, label, off, grades)}"
                )
            yield name, grades, position


def _off_scale(
    judgments: Judgments, aspect: str, label: Floats, off: Ints, grades: list[float]
) -> str:
    """Return the message about documents whose labels are not on the scale of an aspect."""
    doc = int(off[0])
    query_id = judgments.query_ids[judgments.query[doc]]
    if len(grades) <= 6:
        labels = ", ".join(f"{g:g}" for g in grades)
    else:
        labels = f"{grades[0]:g} to {grades[-1]:g}"
    return (
        f"document {shown(judgments.doc_id[doc])} of query {shown(query_id)} "
        f"has the label {label[doc]:g} for the aspect {aspect!r}, "
        f"whose labels are {labels}{and_more(len(off) - 1)}"
    )


class TOMA(_AspectMeasure):
    """A base measure on weights that order all combinations of several judged aspects.

    The weight of a document is the place of its label tuple's distance to the best tuple: the
    distinct distances of all tuples, farthest first, are numbered 0, 1, 2, ... Aspects are columns
    of the qrels, or rows named in ``iteration``; ``aspects`` maps each to its top grade (labels
    0..top, embedded as they are), or to the embedded value of each grade. A missing label is the
    lowest one. ``gate`` names an aspect without which the others do not count. A binary base needs
    a threshold: ``binarize='half'`` takes weights of at least K // 2 of K, ``'any'`` all weights
    but the lowest. By default ``CAM`` and ``MM`` take another one; ``'any'`` is one rule for the
    three.

    >>> import pandas as pd
    >>> from ir_lexirecall import TOMA
    >>> qrels = pd.DataFrame(
    ...     {"query_id": "q", "doc_id": ["a", "b"], "relevance": [1, 2], "quality": [1, 0]}
    ... )
    >>> measure = TOMA(aspects={"relevance": 2, "quality": 1})
    >>> measure.calc_aggregate(qrels, {"q": {"a": 2.0, "b": 1.0}})
    1.0
    """

    PRETTY_NAME: ClassVar[str] = "Total Order Multi-Aspect"
    ABOUT = _about(
        formula=r"\mathrm{base}(w(d_1), w(d_2), \ldots), \quad w(d) = |\{\delta : \delta > "
        r"\delta(d)\}|",
        plain="the base measure with w(d) for grades, w(d) = number of distinct distances above "
        "that of d's labels",
        symbols="delta(d): distance of the document's labels on all aspects to the best labels; "
        "delta: the distances of all "
        "combinations of labels",
        zero="as for the base: for most bases, no document is better than the worst labels",
        ties=f"documents at the same distance are alike; else as the base; {_DROPPED}",
        use="when documents are judged for several aspects (relevance, credibility, ...) and one "
        "order of all combinations is wanted",
        meanings={
            "binarize": "what is relevant to a binary base: 'half' (w >= K // 2 of K "
            f"weights), 'any' (w >= 1) or the lowest such weight; {_DEFAULTS}"
        },
        example=Example(
            "TOMA(aspects={'relevance':1,'quality':1})",
            ((1, 0), (1, 1)),
            (1 + 2 / log2(3)) / (2 + 1 / log2(3)),
            "(1, 1) has distance 0 and weight 2, (1, 0) distance 1 and weight 1, (0, 0) weight 0: "
            "nDCG of 1, 2.",
            names=("relevance", "quality"),
        ),
        source="maistro2021",
        see_also=("CAM", "MM", "nDCG"),
    )
    params: dict[str, Any] = {
        "cutoff": cutoff(),
        "aspects": _ASPECTS,
        "distance": Param(
            str, "distance to the best tuple", default="euclidean", choices=DISTANCES
        ),
        "base": BASE,
        "gate": Param(str, "aspect without which the others do not count"),
        "binarize": _binarize(
            "half",
            "threshold of binary bases: 'half' (w >= K // 2), 'any' (w >= 1) or a weight",
        ),
    }

    def check_together(self) -> None:
        """Raise if the base cannot be used, or the gate is not among the aspects."""
        super().check_together()
        if self["gate"] is not None and self["gate"] not in self["aspects"]:
            raise ValueError(
                f"TOMA: gate={self['gate']!r} is not among the aspects {', '.join(self['aspects'])}"
            )

    def score(self, run: AlignedRun) -> Floats:
        """Return the base measure of the documents' weights for each query."""
        return values(*self.as_base(run))

    def as_base(self, run: AlignedRun) -> tuple[IRMeasure, AlignedRun, float | None]:
        """Return the base measure, the ranking with weights for grades, and the threshold."""
        positions, embedding = {}, {}
        for name, grades, positions[name] in self.positions(run.judgments):
            # Decimal text, not the nearest float: 0.1 + 0.2 must equal 0.3.
            scale = self["aspects"][name]
            if isinstance(scale, Mapping):
                embedded = [scale[g] for g in grades]
            else:
                embedded = grades
            embedding[name] = [Fraction(str(value)) for value in embedded]
        weight, k = label_weights(
            embedding, positions, distance=self["distance"], gate=self["gate"]
        )
        threshold = {"half": k // 2, "any": 1}.get(self["binarize"], self["binarize"])
        return (
            self.base_measure(),
            run.with_grades(weight.astype(np.float64)),
            threshold,
        )


class _MeanMeasure(_AspectMeasure, register=False):
    """What CAM and MM share: the base scores of the aspects, and their weights."""

    params: dict[str, Any] = {
        "cutoff": cutoff(),
        "aspects": _ASPECTS,
        "base": BASE,
        "weights": Param(
            dict,
            "weight of each aspect (default: equal)",
            check=lambda weights: (
                all(map(is_share, weights.values())) and sum(weights.values()) > 0
            ),
            expects="a dict of aspect names to numbers of at least 0, not all 0",
        ),
        "binarize": _binarize(
            None,
            "threshold of binary bases: a grade, 'any' (above the lowest of each scale) or 'half' "
            "(above half of it)",
        ),
    }

    def check_together(self) -> None:
        super().check_together()
        if self["weights"] is not None and set(self["weights"]) != set(self["aspects"]):
            raise ValueError(
                f"{self.NAME}: weights name {', '.join(self['weights'])}, but the aspects are "
                f"{', '.join(self['aspects'])}"
            )

    def base_scores(
        self, run: AlignedRun, score: Callable[..., Floats] = values
    ) -> tuple[Floats, Floats]:
        """Return base scores of every aspect, shape `(aspects, Q)`, and weights, `(aspects, 1)`.

        Args:
            run: the ranking.
            score: gives the values of the base measure for a ranking and a threshold.
        """
        base, scores = self.base_measure(), []
        for name, grades, position in self.positions(run.judgments):
            graded = run.with_grades(np.array(grades, dtype=np.float64)[position])
            scores.append(score(base, graded, self._threshold(name, grades)))
        weight_of = self["weights"] or dict.fromkeys(self["aspects"], 1)
        weights = np.array([[float(weight_of[name])] for name in self["aspects"]])
        return np.stack(scores), weights

    def _threshold(self, aspect: str, grades: list[float]) -> Any:
        """Return the smallest grade for an aspect that is relevant to a binary base."""
        binarize = self["binarize"]
        if binarize not in _WORDS:
            return binarize or 1
        if len(grades) == 1:
            raise ValueError(
                f"{self}: binarize={binarize!r} needs at least two labels, but the aspect "
                f"{aspect!r} has only {grades[0]:g}; give a grade"
            )
        if binarize == "any":
            return grades[1]
        return grades[(len(grades) + 1) // 2]  # the lowest one above the middle


class CAM(_MeanMeasure):
    """Weighted mean over several judged aspects of a base measure.

    Each aspect's grades are scored as given; ``aspects`` as in ``TOMA``, ``weights`` gives the p_a
    (default: equal). A binary base takes its own ``rel`` (``'AP(rel=2)'``, default 1), or
    ``binarize``: a grade, ``'any'``, which takes the grades above the lowest of each aspect's
    scale, or ``'half'``, which takes those above the middle of it.

    >>> import pandas as pd
    >>> from ir_lexirecall import CAM
    >>> qrels = pd.DataFrame(
    ...     {"query_id": "q", "doc_id": ["a", "b"], "relevance": [1, 0], "quality": [0, 1]}
    ... )
    >>> measure = CAM(aspects={"relevance": 1, "quality": 1}, base="RR")
    >>> measure.calc_aggregate(qrels, {"q": {"a": 2.0, "b": 1.0}})
    0.75
    """

    PRETTY_NAME: ClassVar[str] = "Convex Aggregating Measure"
    ABOUT = _about(
        formula=r"\sum_a p_a\, \mathrm{base}_a",
        symbols="base_a: the base measure of the grades for aspect a; p_a: weights of sum 1, equal "
        "by default",
        zero="the base is 0 for every aspect",
        ties=f"where the base ties on every aspect, or differences balance; {_DROPPED}",
        use="when aspects can make up for each other",
        example=Example(
            "CAM(aspects={'relevance':1,'quality':1},base='RR')",
            ((1, 0), (0, 1)),
            3 / 4,
            "RR is 1 by relevance and 1/2 by quality: (1 + 1/2)/2 = 3/4.",
            names=("relevance", "quality"),
        ),
        source="lioma2017",
        see_also=("MM", "TOMA"),
    )

    def score(self, run: AlignedRun) -> Floats:
        """Return the weighted mean of the base scores over the aspects for each query."""
        return self.mean_of(*self.base_scores(run))

    def mean_of(self, scores: Floats, p: Floats) -> Floats:
        """Return the weighted mean over aspects of the base scores."""
        # One after the other: ``numpy.sum`` groups terms differently for different numbers of
        # queries.
        return np.add.accumulate(p / p.sum() * scores)[-1]


class MM(_MeanMeasure):
    """Weighted harmonic mean over several judged aspects of a base measure.

    Parameters as in ``CAM``.

    >>> import pandas as pd
    >>> from ir_lexirecall import MM
    >>> qrels = pd.DataFrame(
    ...     {"query_id": "q", "doc_id": ["a", "b"], "relevance": [1, 0], "quality": [0, 1]}
    ... )
    >>> measure = MM(aspects={"relevance": 1, "quality": 1}, base="RR")
    >>> measure.calc_aggregate(qrels, {"q": {"a": 2.0, "b": 1.0}})
    0.66666...
    """

    PRETTY_NAME: ClassVar[str] = "Multidimensional Measure"
    ABOUT = _about(
        formula=r"\frac{\sum_a p_a}{\sum_a p_a / \mathrm{base}_a}",
        symbols="base_a: the base measure of the grades for aspect a; p_a: weights, equal by "
        "default",
        zero="the base is 0 for some aspect",
        ties="where the base ties on every aspect, or differences balance; all rankings with an "
        "aspect at 0; "
        f"{_DROPPED}",
        use="when every aspect must be served: a bad one pulls the value down",
        example=Example(
            "MM(aspects={'relevance':1,'quality':1},base='RR')",
            ((1, 0), (0, 1)),
            2 / 3,
            "RR is 1 by relevance and 1/2 by quality: 2/(1 + 2) = 2/3.",
            names=("relevance", "quality"),
        ),
        source="palotti2018",
        see_also=("CAM", "TOMA"),
    )

    def score(self, run: AlignedRun) -> Floats:
        """Return the weighted harmonic mean of the base scores over the aspects for each query."""
        scores, p = self.base_scores(run)
        positive = np.all(scores > 0, axis=0)
        value = np.zeros(scores.shape[1])
        # The harmonic mean, as in ``CAM``.
        value[positive] = p.sum() / np.add.accumulate(p / scores[:, positive])[-1]
        return value


class WHAM(MM):
    """Weighted harmonic mean over two judged aspects of a base measure: MM of two aspects.

    >>> import pandas as pd
    >>> from ir_lexirecall import WHAM
    >>> qrels = pd.DataFrame(
    ...     {"query_id": "q", "doc_id": ["a", "b"], "relevance": [1, 0], "quality": [0, 1]}
    ... )
    >>> measure = WHAM(aspects={"relevance": 1, "quality": 1}, base="RR")
    >>> measure.calc_aggregate(qrels, {"q": {"a": 2.0, "b": 1.0}})
    0.66666...
    """

    PRETTY_NAME: ClassVar[str] = "Weighted Harmonic Mean Aggregating Measure"
    ABOUT = replace(
        MM.ABOUT,
        use="MM under the name that it has for two aspects, such as relevance and credibility",
        example=Example(
            "WHAM(aspects={'relevance':1,'quality':1},base='RR')",
            ((1, 1), (0, 1)),
            1.0,
            "The first document has both: RR is 1 by relevance and by quality, and so is their "
            "mean.",
            names=("relevance", "quality"),
        ),
        source="lioma2017",
        see_also=("MM", "CAM", "TOMA"),
    )

    def check_together(self) -> None:
        """Raise if the base cannot be used, or the aspects are not two."""
        super().check_together()
        if len(self["aspects"]) != 2:
            raise ValueError(
                f"{self}: WHAM is for two aspects, not {len(self['aspects'])}; MM takes any number"
            )


def label_weights(
    embedding: Mapping[str, Sequence[Fraction]],
    labels: Mapping[str, Ints],
    *,
    distance: str,
    gate: str | None,
) -> tuple[Ints, int]:
    """Return the weight of each document's label tuple, and K, the number of distinct weights.

    The distinct distances of all label tuples to the best tuple, farthest first, are numbered 0, 1,
    2, ... Distances are compared as integers (squared for the Euclidean), so that equal ones are
    equal.

    Args:
        embedding: for each aspect, the embedded values of its labels, lowest first.
        labels: for each aspect, the position of each document's label in its embedding.
        distance: one of ``DISTANCES``.
        gate: an aspect; a tuple in which it is lowest while another is not counts as the lowest
            tuple.
    """
    distance_of_labels = _distances_in_integers(
        embedding, 2 if distance == "euclidean" else 1
    )
    merge: Any = np.maximum if distance == "chebyshev" else np.add
    distances = _distances_of_tuples(distance_of_labels, merge, gate)
    is_gated = gate is not None and labels[gate] == 0
    of_docs = [
        of_label[np.where(is_gated, 0, labels[aspect])]
        for aspect, of_label in distance_of_labels.items()
    ]
    n_nearer = np.searchsorted(distances, reduce(merge, of_docs))
    return len(distances) - 1 - n_nearer, len(distances)


def _distances_in_integers(
    embedding: Mapping[str, Sequence[Fraction]], power: int
) -> dict[str, NDArray[Any]]:
    """Return how far each label of an aspect is from the best one, to a power, in integers.

    The unit, one for all aspects, makes all embedded values whole.
    """
    unit = lcm(
        *(value.denominator for embedded in embedding.values() for value in embedded)
    )
    distance_of_labels: dict[str, NDArray[Any]] = {}
    for aspect, embedded in embedding.items():  # lowest first: the last is the best
        distances = [int((embedded[-1] - value) * unit) ** power for value in embedded]
        fits = max(distances) < 2**48  # so that sums over aspects do, too
        distance_of_labels[aspect] = np.array(
            distances, dtype=np.int64 if fits else object
        )
    return distance_of_labels


def _distances_of_tuples(
    distance_of_labels: Mapping[str, NDArray[Any]], merge: Any, gate: str | None
) -> NDArray[Any]:
    """Return the distinct distances of all label tuples to the best one, in rising order.

    Tuples with the lowest label of the gate count as the lowest tuple.
    """
    distances: NDArray[Any] = np.zeros(1, dtype=np.int64)
    for aspect, of_label in distance_of_labels.items():
        counted = of_label[1:] if aspect == gate else of_label
        if len(distances) * len(counted) > _MOST_TUPLES:
            raise ValueError(
                f"the aspects {', '.join(distance_of_labels)} have more than {_MOST_TUPLES:,} "
                "combinations of labels; give the values of their grades, as in "
                "{'relevance':{0:0,50:1,100:2}}, to have fewer"
            )
        distances = np.unique(merge.outer(distances, np.unique(counted)))
    of_lowest_tuple = reduce(
        merge, [of_label[:1] for of_label in distance_of_labels.values()]
    )
    return np.unique(np.concatenate([distances, of_lowest_tuple]))
