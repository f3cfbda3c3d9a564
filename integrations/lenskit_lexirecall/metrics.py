"""Measures as LensKit's metrics, for its ``MeasurementCollector``.

A list's order is its ranking, so there are no ties to break: neither scores nor item ids are looked at. All test items have
grade 1, unless ``rating_field`` names the field with their grades.

As LensKit's metrics do, these give NaN to a list without relevant test items (in whose place LensKit's tables show 0 before
2026); and LensKit measures no test user for whom there is no list. ``compare`` counts such a user as one with an empty list.
"""

from __future__ import annotations

from typing import Any, ClassVar

from ir_measures.measures.base import Measure as IRMeasure
from lenskit.data import ItemList
from lenskit.metrics import ListMetric, RankingMetricBase

from ir_lexirecall import measures
from ir_lexirecall._util.errors import is_number
from ir_lexirecall.data.aligned_run import AlignedRun
from ir_lexirecall.measures.declaration import Measure
from ir_lexirecall.measures.parsing import MeasureLike, parse_measures
from ir_lexirecall.measures.scoring import check_served, values
from lenskit_lexirecall.lists import aligned

_PARAMETERS = {"n": "cutoff", "n_items": "n", "patience": "p"}
"""What the parameters of measures are called in LensKit, where these are other names."""


class Metric(ListMetric, RankingMetricBase):  # type: ignore[misc]
    """Any measure of ``ir_lexirecall`` and ``ir_measures`` on item lists.

    The label is the measure as it prints, such as ``TSE(exposure='nDCG')@10``: variants of a measure can stand side by side.

    Args:
        measure: An object or a string, such as ``"LexiRecall@10"``, ``"RBU(p=0.9)"`` or ``"nDCG@5"``. Aspects that it names
            are fields of the test items; ``relevance`` is the grade.
        rating_field: The field of the test items that holds their grades; by default, all test items have grade 1.

    Raises:
        ValueError: not a measure, a parameter out of range, or ``rel`` without ``rating_field``.

    >>> recs = ItemList([31, 50, 60, 42], ordered=True)
    >>> test = ItemList([31, 42], rating=[5.0, 3.0])
    >>> for measure in ("TSE", "LR@3", "nDCG"):
    ...     metric = Metric(measure, rating_field="rating")
    ...     print(metric.label, round(metric.measure_list(recs, test), 4))
    TSE 0.25
    LexiRecall@3 0.6667
    nDCG 0.9128
    """

    measure: IRMeasure
    rating_field: str | None

    def __init__(self, measure: MeasureLike, *, rating_field: str | None = None) -> None:
        [self.measure] = parse_measures([measure]).values()
        check_served([self.measure])
        self.rating_field = rating_field
        if rating_field is None and self._rel not in (None, 1):
            raise ValueError(
                f"{self.label}: rel={self._rel} needs rating_field, the field of the test items that holds their grades"
            )
        RankingMetricBase.__init__(self, self.measure.params.get("cutoff"))

    @property
    def label(self) -> str:
        """The measure with its parameters."""
        return str(self.measure)

    @property
    def _rel(self) -> float | None:
        """The smallest grade that counts as relevant, for measures that have one."""
        rel = self.measure["rel"] if "rel" in self.measure.SUPPORTED_PARAMS else None
        return rel if is_number(rel) else None

    def measure_list(self, recs: ItemList, test: ItemList, /) -> float:
        """The value for one list; NaN if no test item is relevant.

        Raises:
            ValueError: the list is unordered, holds an item twice, or is longer than the measure's ``n`` allows; a grade
                cannot be read.
        """
        run = self._aligned(recs, test)
        grade, rel = run.judgments.grade, self._rel
        if not (grade > 0 if rel is None else grade >= rel).any():
            return float("nan")
        try:
            return float(values(self.measure, run)[0])
        except ValueError:  # which shall call the offender by its id
            return float(values(self.measure, self._aligned(recs, test, with_ids=True))[0])

    def _aligned(self, recs: ItemList, test: ItemList, with_ids: bool = False) -> AlignedRun:
        aspects = self.measure["aspects"] if "aspects" in self.measure.SUPPORTED_PARAMS else ()
        return aligned(recs, test, self.label, rating_field=self.rating_field, aspects=aspects, with_ids=with_ids)


class _LensKitMetric(Metric):
    """A measure whose parameters go by LensKit's names."""

    MEASURE: ClassVar[Measure]

    def __init__(self, n: int | None = None, *, rating_field: str | None = None, **params: Any) -> None:
        ours = {_PARAMETERS.get(name, name): value for name, value in {"n": n, **params}.items()}
        super().__init__(self.MEASURE(**ours), rating_field=rating_field)


class TSE(_LensKitMetric):
    """Total search efficiency: the exposure of the last relevant item, TSE = e(p_m); ``Metric(ir_lexirecall.TSE)``.

    How soon does a user find *every* relevant item? With the default exposure e(i) = 1/i it is the reciprocal rank of
    the last one. A relevant item that the list lacks sits at the bottom of the catalogue (``impute='pessimistic'``:
    rank ``n_items``, infinity without), or follows the list at once (``'optimistic'``).

    Args:
        n: The maximum recommendation list length: what is ranked below counts as not recommended (``cutoff`` of
            ``ir_lexirecall.TSE``).
        rating_field: As in ``Metric``.
        params: Parameters of ``ir_lexirecall.TSE``: ``exposure``, ``impute``, ``normalize``, ``rel``, ...; its ``p`` is
            ``patience`` here, its ``n``, the number of items that can be recommended, ``n_items``.

    Raises:
        ValueError: as for ``Metric``.

    Source: Diaz, Ekstrand, Mitra, Recall, Robustness, and Lexicographic Evaluation, TORS 2026, doi 10.1145/3728373.

    >>> recs = ItemList([31, 50, 60, 42], ordered=True)
    >>> test = ItemList([31, 42], rating=[5.0, 3.0])
    >>> TSE().measure_list(recs, test), TSE(rating_field="rating", rel=4).measure_list(recs, test)
    (0.25, 1.0)
    >>> TSE(3).label, TSE(3).measure_list(recs, test), TSE(3, n_items=100).measure_list(recs, test)
    ('TSE@3', 0.0, 0.01)
    """

    MEASURE = measures.TSE


class LexiRecall(_LensKitMetric):
    """Lexicographic recall as a number: ordered first by recall, then by the last relevant item, and so on.

    ``Metric(ir_lexirecall.LexiRecall)``. A better list never gets a smaller number; but lists that share their whole tail
    can get the same one: ``compare`` compares exactly.

    Arguments, errors and source as in ``TSE``; the ``params`` are those of ``ir_lexirecall.LexiRecall`` (``form``, ``eps``,
    ``rel``).

    >>> test = ItemList(["x", "y"])
    >>> for recs in (["x", "y"], ["x", "a", "y"], ["a", "x", "y"], ["x"], ["a"]):
    ...     print(recs, round(LexiRecall().measure_list(ItemList(recs, ordered=True), test), 4))
    ['x', 'y'] 1.0
    ['x', 'a', 'y'] 0.9333
    ['a', 'x', 'y'] 0.8889
    ['x'] 0.6667
    ['a'] 0.0
    """

    MEASURE = measures.LexiRecall
