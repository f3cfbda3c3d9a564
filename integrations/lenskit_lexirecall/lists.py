"""What is read from LensKit's item lists: the ranking that a list is, and the grades of test items."""

from __future__ import annotations

from typing import Any

import numpy as np
from ir_lexirecall.scoring.arrays import Floats, Ints
from ir_lexirecall.tables import and_more
from lenskit.data import ItemList


def check_ids(items: ItemList, owner: str) -> None:
    """Refuse a list of item numbers without a vocabulary: which items it holds cannot be told."""
    if items.vocabulary is None:
        try:
            items.ids()
        except RuntimeError as error:
            raise ValueError(f"{owner}: {error}") from None


def check_ranking(recs: ItemList, owner: str) -> None:
    """Refuse a list that is no ranking: unordered, in another order than its ranks, or with an item twice.

    >>> check_ranking(ItemList([31, 42, 31], ordered=True), "user 7")
    Traceback (most recent call last):
    ValueError: user 7: item 31 stands twice in the list; keep one
    """
    check_ids(recs, owner)
    if len(recs) == 0:
        return
    if not recs.ordered:
        raise ValueError(
            f"{owner}: the list is not ordered, so it ranks nothing; use the output of a ranker, or "
            "ItemList(..., ordered=True)"
        )
    ranks = recs.ranks()
    falls = np.flatnonzero(ranks[1:] <= ranks[:-1])
    if len(falls):
        raise ValueError(
            f"{owner}: rank {ranks[falls[0] + 1]} follows rank {ranks[falls[0]]}{and_more(len(falls) - 1)}; the list's "
            "own order is the ranking, so sort it by rank"
        )
    numbers = recs.ids() if recs.vocabulary is None else recs.numbers(missing="negative")
    if _has_repetitions(numbers):  # as items that the vocabulary lacks have: ids tell
        ids, count = np.unique(recs.ids(), return_counts=True)
        if count.max() > 1:
            repeated = ids[count > 1]
            raise ValueError(
                f"{owner}: item {repeated.tolist()[0]!r} stands twice in the list{and_more(len(repeated) - 1)}; "
                "keep one"
            )


def _has_repetitions(ids: Any) -> bool:
    if ids.dtype.kind in "iu":
        in_order = np.sort(ids)
        return bool((in_order[1:] == in_order[:-1]).any())
    return len(set(ids.tolist())) < len(ids)


def grades(test: ItemList, rating_field: str | None, owner: str) -> Floats:
    """Grade of every test item: 1, or its value in ``rating_field``.

    >>> grades(ItemList([31, 42], rating=[2.5, 4]), "rating", "user 7")
    array([2.5, 4. ])

    Raises:
        ValueError: there is no such field, a value in it is not a finite number, or an item has two different ones.
    """
    check_ids(test, owner)
    if rating_field is None or len(test) == 0:
        return np.ones(len(test))
    ratings = test.field(rating_field)
    if ratings is None:
        known = [name for name in test.arrow_types(ids=False) if name != "rank"]
        raise ValueError(
            f"{owner}: the test items have no field {rating_field!r}; they have {', '.join(known) or 'none'}"
        )
    ids = test.ids()
    numeric = ratings.dtype.kind in "iufb"
    bad = np.flatnonzero(~np.isfinite(ratings)) if numeric else np.arange(len(ratings))
    if len(bad):
        raise ValueError(
            f"{owner}: the {rating_field} of test item {ids.tolist()[bad[0]]!r} is {ratings.tolist()[bad[0]]!r}, not a "
            f"finite number{and_more(len(bad) - 1)}"
        )
    if _has_repetitions(ids):
        rated = list(zip(ids.tolist(), ratings.tolist(), strict=True))
        last = dict(rated)
        differ = [(item, rating) for item, rating in rated if rating != last[item]]
        if differ:
            item, rating = differ[0]
            raise ValueError(
                f"{owner}: test item {item!r} has {rating_field} {rating} and {last[item]}{and_more(len(differ) - 1)}; "
                "keep one"
            )
    return np.asarray(ratings, dtype=np.float64)


def relevant_items(test: ItemList, rating_field: str | None, rel: float, owner: str) -> tuple[ItemList, int]:
    """The test items of at least grade ``rel``, and how many there are (an item listed twice counts once).

    >>> relevant_items(ItemList([31, 42, 55], rating=[2.5, 4, 5]), "rating", 4, "user 7")[1]
    2
    """
    given = grades(test, rating_field, owner)
    relevant = test if rating_field is None else ItemList(test.ids()[given >= rel])
    return relevant, len(set(relevant.ids().tolist()))


def ranks_of(relevant: ItemList, recs: ItemList, owner: str) -> Ints:
    """Ranks of the relevant items that the list holds, ascending, from 1.

    >>> ranks_of(ItemList([42, 31]), ItemList([31, 50, 42], ordered=True), "user 7")
    array([1, 3])
    """
    ranks: Ints = np.flatnonzero(recs.isin(relevant)) + 1
    if len(ranks) == 0 and len(recs) and len(relevant):
        kinds = [np.asarray(items.ids()).dtype.kind in "iu" for items in (recs, relevant)]
        if kinds[0] != kinds[1]:
            recommended, wanted = ("integers" if integers else "strings" for integers in kinds)
            raise ValueError(
                f"{owner}: recommended items have {recommended} as ids, test items {wanted}; LensKit takes no two of "
                "them for the same item, so give both the same type"
            )
    return ranks
