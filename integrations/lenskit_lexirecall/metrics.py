"""TSE and LexiRecall as LensKit's metrics: for ``RunAnalysis``, ``MeasurementCollector`` and ``call_metric``.

A list's own order is its ranking, so there are no ties to break: neither scores nor item ids are looked at. All test
items are relevant, unless ``rating_field`` names the field with their grades and ``rel`` the smallest that counts.

As LensKit's own metrics do, these give NaN to a list without relevant test items, which the tables of ``RunAnalysis``
fill with the default 0; and ``RunAnalysis`` measures no test user for whom there is no list. ``compare`` counts such a
user as one with an empty list.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from ir_lexirecall.scoring import lexirecall, tse
from ir_lexirecall.scoring.arrays import Ints
from ir_lexirecall.scoring.exposure import exposure as exposure_model
from ir_measures.measures.base import Measure
from lenskit.data import ItemList
from lenskit.metrics import ListMetric, RankingMetricBase

from ir_lexirecall import measures
from lenskit_lexirecall.lists import check_ranking, ranks_of, relevant_items

_OURS = {"n": "cutoff", "n_items": "n", "patience": "p"}  # parameters that LensKit's users know by another name


def _checked(measure: Measure, **given: Any) -> dict[str, Any]:
    """Parameters under LensKit's names, as ``measure`` declares them: plain values, refused when out of range."""
    declared = measure(**{_OURS.get(name, name): value for name, value in given.items()})
    values = {name: declared[_OURS.get(name, name)] for name in given}
    for name, value in values.items():
        param = declared.SUPPORTED_PARAMS[_OURS.get(name, name)]
        if not param.validate(value):
            raise ValueError(f"{measure.__name__}: {name} must be {param.expects}, not {value!r} ({param.desc})")
    return values


class _Metric(ListMetric, RankingMetricBase):  # type: ignore[misc]
    """A metric of where the relevant test items stand in the list."""

    n_items: int | None
    rating_field: str | None
    rel: float

    def _set(self, measure: Measure, rating_field: str | None, **given: Any) -> None:
        values = _checked(measure, **given)
        if rating_field is None and values["rel"] != 1:
            raise ValueError(
                f"{measure.__name__}: rel={values['rel']} needs rating_field, the field of the test items that holds "
                "their grades"
            )
        RankingMetricBase.__init__(self, values.pop("n"))
        self.rating_field = rating_field
        for name, value in values.items():
            setattr(self, name, value)

    def measure_list(self, recs: ItemList, test: ItemList, /) -> float:
        """The value for one list; NaN if no test item is relevant.

        Raises:
            ValueError: the list is unordered, holds an item twice, or is longer than ``n_items`` allows; a grade cannot
                be read.
        """
        check_ranking(recs, self.label)
        relevant, m = relevant_items(test, self.rating_field, self.rel, self.label)
        if m == 0:
            return float("nan")
        rank, depth = ranks_of(relevant, recs, self.label), len(recs)
        if self.n is not None:
            rank, depth = rank[rank <= self.n], min(depth, self.n)
        return self._value(m, rank, depth)

    @abstractmethod
    def _value(self, m: int, rank: Ints, depth: int) -> float:
        """The value for ``m`` relevant items, some of them at the given ranks of a list of ``depth`` items."""

    def _check_n_items(self, needed: int) -> None:
        if self.n_items is not None and needed > self.n_items:
            raise ValueError(
                f"{self.label}: n_items={self.n_items} is smaller than rank {needed}, needed for one of the lists; "
                "n_items is the number of items that can be recommended"
            )


class TSE(_Metric):
    """Total search efficiency: the exposure of the last relevant item, TSE = e(p_m).

    How soon does a user find *every* relevant item? With the default exposure e(i) = 1/i it is the reciprocal rank of
    the last one. A relevant item that the list lacks sits at the bottom of the catalogue (``impute='pessimistic'``:
    rank ``n_items``, infinity without), or follows the list at once (``'optimistic'``).

    The label is ``TSE`` or ``TSE@n``; give ``RunAnalysis.add_metric`` another one to measure several variants.

    Args:
        n: The maximum recommendation list length: what is ranked below counts as not recommended (``cutoff`` of
            ``ir_lexirecall.TSE``).
        exposure: Exposure of rank i: ``'AP'`` or ``'RR'`` 1/i, ``'nDCG'`` 1/log2(i+1), ``'RBP'`` (1-p) p^(i-1),
            ``'linear'`` 1 - i/n_items.
        patience: The p of the exposure ``'RBP'`` (``p`` of ``ir_lexirecall.TSE``).
        n_items: The number of items that can be recommended (``n`` of ``ir_lexirecall.TSE``).
        impute: Where missing relevant items are: ``'pessimistic'`` or ``'optimistic'``.
        normalize: Scale between the worst and the best value, (e(p_m) - e(n_items)) / (e(m) - e(n_items)).
        rating_field: The field of the test items that holds their grades; by default, all test items are relevant.
        rel: The smallest grade that counts as relevant.

    Raises:
        ValueError: a parameter is out of range.

    Source: Diaz, Ekstrand, Mitra, Recall, Robustness, and Lexicographic Evaluation, TORS 2026, doi 10.1145/3728373.

    >>> recs = ItemList([31, 50, 60, 42], ordered=True)
    >>> test = ItemList([31, 42], rating=[5.0, 3.0])
    >>> TSE().measure_list(recs, test), TSE(rating_field="rating", rel=4).measure_list(recs, test)
    (0.25, 1.0)
    >>> TSE(3).label, TSE(3).measure_list(recs, test), TSE(3, n_items=100).measure_list(recs, test)
    ('TSE@3', 0.0, 0.01)
    """

    exposure: str
    patience: float
    impute: str
    normalize: bool

    def __init__(
        self,
        n: int | None = None,
        *,
        exposure: str = "AP",
        patience: float = 0.8,
        n_items: int | None = None,
        impute: str = "pessimistic",
        normalize: bool = False,
        rating_field: str | None = None,
        rel: float = 1,
    ) -> None:
        self._set(
            measures.TSE,
            rating_field,
            n=n,
            exposure=exposure,
            patience=patience,
            n_items=n_items,
            impute=impute,
            normalize=normalize,
            rel=rel,
        )
        if exposure == "linear" and n_items is None:
            raise ValueError("TSE: exposure='linear' needs n_items, the number of items that can be recommended")

    def _value(self, m: int, rank: Ints, depth: int) -> float:
        r, p_r = len(rank), int(rank.max(initial=0))
        optimistic = self.impute == "optimistic"
        self._check_n_items(m - r + (depth if optimistic and r < m else p_r))
        ms, rs, last, depths = (np.array([count]) for count in (m, r, p_r, depth))  # arrays of one list
        p_m = tse.last_rank(ms, rs, last, depths, n=self.n_items, optimistic=optimistic)
        e = exposure_model(self.exposure, p=self.patience, n=self.n_items)
        return float(tse.total_search_efficiency(ms, p_m, e, n=self.n_items, normalize=self.normalize)[0])


class LexiRecall(_Metric):
    """Lexicographic recall as a number: ordered first by recall, then by the last relevant item, and so on.

    ``form='nested'`` (default): with r of m relevant items at ranks p_1 < ... < p_r,
    LR = (r + r/p*) / (m + 1), p* = (p_r - 1) + (N' + 1) / C(p_r - 1, r - 1), N' = sum_{i<r} C(p_i - 1, i).
    It lies in (r/(m+1), (r+1)/(m+1)] (0 for r = 0) and is 1 only for the ideal list. It is computed with exact integers
    and rounded once, so a better list never gets a smaller number; but lists that share their whole tail can get the
    same one: ``compare`` compares exactly.

    ``form='weighted'``: metric lexirecall (Eq. 12 of the source), which needs ``n_items``, takes ``eps``, and separates
    fewer lists.

    The label is ``LexiRecall`` or ``LexiRecall@n``; give ``RunAnalysis.add_metric`` another one to measure several
    variants.

    Args:
        n: The maximum recommendation list length: what is ranked below counts as not recommended (``cutoff`` of
            ``ir_lexirecall.LexiRecall``).
        form: ``'nested'`` or ``'weighted'``.
        n_items: The number of items that can be recommended (``n`` of ``ir_lexirecall.LexiRecall``).
        eps: Of the form ``'weighted'``: Delta = 1/(n_items + eps).
        rating_field: The field of the test items that holds their grades; by default, all test items are relevant.
        rel: The smallest grade that counts as relevant.

    Raises:
        ValueError: a parameter is out of range.

    Source: Diaz, Ekstrand, Mitra, Recall, Robustness, and Lexicographic Evaluation, TORS 2026, doi 10.1145/3728373.

    >>> test = ItemList(["x", "y"])
    >>> for recs in (["x", "y"], ["x", "a", "y"], ["a", "x", "y"], ["x"], ["a"]):
    ...     print(recs, round(LexiRecall().measure_list(ItemList(recs, ordered=True), test), 4))
    ['x', 'y'] 1.0
    ['x', 'a', 'y'] 0.9333
    ['a', 'x', 'y'] 0.8889
    ['x'] 0.6667
    ['a'] 0.0
    """

    form: str
    eps: float

    def __init__(
        self,
        n: int | None = None,
        *,
        form: str = "nested",
        n_items: int | None = None,
        eps: float = 0.5,
        rating_field: str | None = None,
        rel: float = 1,
    ) -> None:
        self._set(measures.LexiRecall, rating_field, n=n, form=form, n_items=n_items, eps=eps, rel=rel)
        if form == "weighted" and n_items is None:
            raise ValueError("LexiRecall: form='weighted' needs n_items, the number of items that can be recommended")

    def _value(self, m: int, rank: Ints, depth: int) -> float:
        query, ms = np.zeros_like(rank), np.array([m])  # arrays of one list
        if self.form == "nested":
            return float(lexirecall.nested(query, rank, ms)[0])
        assert self.n_items is not None
        self._check_n_items(int(rank.max(initial=0)) + m - len(rank))
        return float(lexirecall.weighted(query, rank, ms, n=self.n_items, eps=self.eps)[0])
