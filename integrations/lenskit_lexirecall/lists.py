"""What is read from LensKit's item lists: the ranking that a list is, and the grades of test items."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from lenskit.data import ItemList

from ir_lexirecall._util.arrays import Floats, Ints
from ir_lexirecall._util.errors import and_more
from ir_lexirecall.data.aligned_run import AlignedRun
from ir_lexirecall.data.judgments import Judgments

_QUERY = "of this list"  # what errors call a user who is not known


def check_ids(items: ItemList, owner: str) -> None:
    """Refuse a list of item numbers without a vocabulary: which items it holds cannot be told."""
    if items.vocabulary is None:
        try:
            items.ids()
        except RuntimeError as error:
            raise ValueError(f"{owner}: {error}") from None


def check_ranking(recs: ItemList, owner: str) -> None:
    """Require a ranking; refuse a list that is unordered, in another order than its ranks, or with an item twice.

    >>> check_ranking(ItemList([31, 42, 31], ordered=True), "user 7")
    Traceback (most recent call last):
    ValueError: user 7: item 31 appears twice in the list; keep one
    """
    check_ids(recs, owner)
    if len(recs) == 0:
        return
    if not recs.ordered:
        raise ValueError(
            f"{owner}: the list is not ordered, so it is not a ranking; use the output of a ranker, or "
            "ItemList(..., ordered=True)"
        )
    ranks = recs.ranks()
    if not (ranks[1:] > ranks[:-1]).all():
        falls = np.flatnonzero(ranks[1:] <= ranks[:-1])
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
                f"{owner}: item {repeated.tolist()[0]!r} appears twice in the list{and_more(len(repeated) - 1)}; "
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


def aligned(
    recs: ItemList,
    test: ItemList,
    owner: str,
    *,
    rating_field: str | None = None,
    aspects: Iterable[str] = (),
    with_ids: bool = False,
) -> AlignedRun:
    """A list and its test items as a run and judgments of one query (an item listed twice in the test counts once).

    ``with_ids`` calls the documents of the judgments by the items' ids, which takes time, not by their numbers.

    >>> run = aligned(ItemList([31, 50, 42], ordered=True), ItemList([42, 77, 31]), "user 7")
    >>> run.rank, run.doc, run.judgments.m()
    (array([1, 3]), array([2, 0]), array([3]))
    """
    check_ranking(recs, owner)
    grade = grades(test, rating_field, owner)
    keys = []
    if len(test):  # their numbers, or ids where these cannot be told from each other by number
        numbers = None if test.vocabulary is None else test.numbers(missing="negative")
        keys = (test.ids() if numbers is None or (numbers < 0).any() else numbers).tolist()
    last = {key: place for place, key in enumerate(keys)}
    if len(last) < len(keys):
        once = np.array(list(last.values()))
        test, grade = test[once], grade[once]
    rank, size = ranks_of(test, recs, owner), len(last)
    judgments = Judgments(
        [_QUERY],
        np.zeros(size, dtype=np.int64),
        list(map(str, test.ids().tolist() if with_ids and size else range(size))),
        grade,
    )
    if names := [name for name in aspects if name != "relevance"]:
        judgments = judgments.with_labels({name: grades(test, name, owner) for name in names})
    row = rank  # of the test items that are recommended
    if len(rank):
        vocabulary = recs.vocabulary
        wanted = test.ids() if vocabulary is None else test.numbers(vocabulary=vocabulary, missing="negative")
        listed = recs.ids() if vocabulary is None else recs.numbers()
        places = {item: place for place, item in enumerate(wanted.tolist())}
        row = np.array([places[item] for item in listed[rank - 1].tolist()], dtype=np.int64)
    return AlignedRun(judgments, np.zeros_like(rank), row, rank, np.array([len(recs)]))


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
