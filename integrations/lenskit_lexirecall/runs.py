"""``compare``: the runs of LensKit's item list collections, by measures and exact preferences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
from lenskit.data import ItemList, ItemListCollection

import ir_lexirecall
from ir_lexirecall._util.arrays import Ints, position_in_segment
from ir_lexirecall._util.errors import entry
from ir_lexirecall._util.progress import progress_bar
from ir_lexirecall.comparison import Comparison
from ir_lexirecall.comparison.compared import MarginLike
from ir_lexirecall.comparison.comparing import CriteriaLike, parse_criteria
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.io.columns import id_string
from ir_lexirecall.io.texts_and_groups import GroupsLike
from ir_lexirecall.preferences.naming import Preference
from ir_lexirecall.significance import SignificanceTest
from lenskit_lexirecall.metrics import check_ranking, grades

_Lists = dict[str, ItemList]  # by user


@entry
def compare(
    qrels: ItemListCollection | Judgments,
    runs: ItemListCollection | Mapping[str, ItemListCollection],
    by: CriteriaLike = "lexirecall",
    *,
    baseline: Any = None,
    margin: MarginLike | None = None,
    test: str | SignificanceTest | None = None,
    groups: GroupsLike | None = None,
    allow_empty: bool = False,
    run_key: str | Sequence[str] | None = None,
    rating_field: str | None = None,
) -> Comparison:
    """Compare recommendation runs user by user: by measures, by exact preferences between their lists, or both.

    A list's own order is its ranking; scores and ranks are not looked at, and there are no ties to break. Ids may be
    strings or integers; an integer is the same as its decimal string.

    Args:
        qrels: The test items, such as ``split.test``. Its key fields (``user_id``) say whose lists belong together.
            Or ``ir_lexirecall.load(qrels(split.test), ...)``, which says what else counts as judged; users are those of ``user_id`` then.
        runs: The runs: a mapping of names to item list collections, or one collection whose keys identify the run
            beside the user. Lists of users without test items are ignored; a user whom a run lacks gets an empty list
            from it.
        by, baseline, margin, test, allow_empty: As in ``ir_lexirecall.compare``.
        groups: As in ``ir_lexirecall.compare``, of users: a table has ``user_id``.
        run_key: The key field, or fields, of ``runs`` that identify the run; by default all that the keys of ``qrels``
            lack. A run is called by its value, values of several fields joined by ``/``.
        rating_field: The field of the test items that holds their grades; by default, all test items are relevant.

    Returns:
        ``ir_lexirecall.Comparison``: means, tables, verdicts, explanations, pictures. Its queries are the users with test
        items; preferences leave out those of whom no test item is relevant.

    Raises:
        ValueError: fewer than two runs, keys that do not fit together, two lists of one run for one user, a list that
            is no ranking, a grade that is not a number, or a bad option; the message names the first offender.

    Source: Diaz, Ekstrand, Mitra, Recall, Robustness, and Lexicographic Evaluation, TORS 2026, doi 10.1145/3728373.

    >>> test = ItemListCollection.from_dict({7: ItemList(["x", "y"]), 8: ItemList(["x"])}, "user_id")
    >>> knn = {7: ItemList(["x", "a", "y"], ordered=True), 8: ItemList(["x", "a"], ordered=True)}
    >>> als = {7: ItemList(["a", "x", "y"], ordered=True)}
    >>> runs = {name: ItemListCollection.from_dict(lists, "user_id") for name, lists in (("knn", knn), ("als", als))}
    >>> result = compare(test, runs, ["lexirecall", "RR"], baseline="als", test=SignificanceTest(correction=None))
    >>> result.table("lexirecall")[["run_a", "run_b", "wins", "losses", "ties"]]
      run_a run_b  wins  losses  ties
    0   knn   als     2       0     0
    >>> result.explain("knn", "als")[["query_id", "winner", "level", "doc_id", "rank_a", "rank_b"]]
      query_id winner  level doc_id  rank_a  rank_b
    0        7    knn      1      x       1       2
    1        8    knn      1      x       1    <NA>
    """
    user_key: Sequence[str] = ["user_id"]
    judged: pl.DataFrame | Judgments
    users: Iterable[str]
    if isinstance(qrels, ItemListCollection):
        user_key, judged = qrels.key_fields, _qrels_table(qrels, rating_field)
        for criterion in parse_criteria(by).values():
            if rating_field is None and isinstance(criterion, Preference) and criterion["rel"] not in (None, 1):
                raise ValueError(f"{criterion} needs rating_field, the field of the test items that holds their grades")
        users = _by_user(qrels.items(), user_key, "qrels")
    elif isinstance(qrels, Judgments):
        judged, users = qrels, dict.fromkeys(qrels.query_ids)
    else:
        raise ValueError(
            f"qrels must be an ItemListCollection of test items, such as split.test, not {type(qrels).__name__}; "
            "the runs come second"
        )
    tested, tables = SignificanceTest.by_name(test), {}
    for name, of_run in progress_bar(tested.progress, _lists_by_run(runs, user_key, run_key).items(), desc="lists"):
        lists = {user: of_run[user] for user in users if user in of_run}
        for user, items in lists.items():
            check_ranking(items, f"run {name!r}, user {user!r}")
        rows, number = _rows(lists)
        # Scores fall with the rank, in steps that 32-bit floats hold.
        tables[name] = rows.with_columns(score=-position_in_segment(number).astype(np.float64))
    baseline = None if baseline is None else _name(baseline)
    options: dict[str, Any] = {"groups": groups, "allow_empty": allow_empty}
    return ir_lexirecall.compare(judged, tables, by, baseline=baseline, margin=margin, test=tested, **options)


@entry
def qrels(test: ItemListCollection, rating_field: str | None = None) -> pl.DataFrame:
    """Test items as qrels, a row per user and item: for ``ir_lexirecall.load``, ``evaluate`` and all else that takes qrels.

    Args:
        test: The test items, such as ``split.test``, by ``user_id``.
        rating_field: The field that holds their grades; by default, all are relevant.

    >>> qrels(ItemListCollection.from_dict({7: ItemList(["x", "y"])}, "user_id")).rows()
    [('7', 'x', 1.0), ('7', 'y', 1.0)]
    """
    return _qrels_table(test, rating_field)


def _lists_by_run(runs: Any, user_key: Sequence[str], run_key: str | Sequence[str] | None) -> dict[str, _Lists]:
    single = isinstance(runs, ItemListCollection)
    if not single and not isinstance(runs, Mapping):
        raise ValueError(
            f"runs must be an ItemListCollection, or a mapping of names to several, not {type(runs).__name__}"
        )
    if not single and run_key is not None:
        raise ValueError(
            f"run_key={run_key!r}: a mapping names the runs itself; run_key belongs to a single collection"
        )
    for owner, run in [("runs", runs)] if single else [(f"run {name!r}", run) for name, run in runs.items()]:
        if not isinstance(run, ItemListCollection):
            raise ValueError(f"{owner} is of type {type(run).__name__}, not an ItemListCollection")
        if missing := [field for field in user_key if field not in run.key_fields]:
            raise ValueError(
                f"{owner}: the keys ({', '.join(run.key_fields)}) lack the field {missing[0]!r}, by which the test lists "
                "are keyed; ItemListCollection.rename_key changes a field's name"
            )
    if not single:
        lists = {str(name): _by_user(run.items(), user_key, f"run {str(name)!r}") for name, run in runs.items()}
        if len(lists) < len(runs):
            raise ValueError(f"runs: names must differ as strings, but they are {', '.join(map(repr, runs))}")
        return lists
    others = [field for field in runs.key_fields if field not in user_key]
    fields = others if run_key is None else [run_key] if isinstance(run_key, str) else list(run_key)
    if unknown := [field for field in fields if field not in others]:
        raise ValueError(
            f"run_key: {unknown[0]!r} is not a key field that could identify a run; there are "
            f"{', '.join(others) or 'none'} beside those of the test collection"
        )
    if not fields:
        raise ValueError(
            f"runs: no key field identifies the run, for {', '.join(runs.key_fields)} identify the test lists; give several "
            "collections by name, or one that ItemListCollection.add_from filled with a further field"
        )
    by_run: dict[str, list[tuple[Any, ItemList]]] = {}
    values: dict[str, tuple[Any, ...]] = {}
    for key, items in runs.items():
        value = tuple(getattr(key, field) for field in fields)
        name = _name(value)
        if values.setdefault(name, value) != value:
            raise ValueError(f"runs: the runs {values[name]!r} and {value!r} are both called {name!r}; rename one")
        by_run.setdefault(name, []).append((key, items))
    return {name: _by_user(of_run, user_key, f"run {name!r}") for name, of_run in by_run.items()}


def _name(value: Any) -> str:
    """How a run is called: its value, or several joined."""
    return "/".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _by_user(lists: Iterable[tuple[Any, ItemList]], user_key: Sequence[str], owner: str) -> _Lists:
    """Item lists by the string that their user's key fields make."""
    by_user: _Lists = {}
    for key, items in lists:
        user = "/".join(id_string(getattr(key, field)) for field in user_key)
        if user in by_user:
            raise ValueError(f"{owner}: there are two lists for user {user!r} ({', '.join(user_key)}); keep one")
        by_user[user] = items
    return by_user


def _qrels_table(test: ItemListCollection, rating_field: str | None) -> pl.DataFrame:
    users = _by_user(test.items(), test.key_fields, "qrels")
    grade = [grades(items, rating_field, f"test items of user {user!r}") for user, items in users.items()]
    return _rows(users)[0].with_columns(relevance=np.concatenate([np.zeros(0), *grade]))


def _rows(lists: _Lists) -> tuple[pl.DataFrame, Ints]:
    """Users and items, a row for each item of each list, and the list's number."""
    number = np.repeat(np.arange(len(lists)), [len(items) for items in lists.values()])
    query_id = pl.Series(list(lists), dtype=pl.String).gather(number)
    several = [items for items in lists.values() if len(items)]
    doc_id = pl.Series([], dtype=pl.String)
    if several:
        vocabulary, numbers = several[0].vocabulary, np.array([-1])
        if vocabulary is not None and all(items.vocabulary is vocabulary for items in several):
            # To look all items up at once takes a fraction of the time that one list after the other takes.
            numbers = np.concatenate([items.numbers(missing="negative") for items in several])
        if (numbers >= 0).all():
            doc_id = pl.Series(vocabulary.id_array().take(pa.array(numbers)))
        else:
            doc_id = pl.Series(pa.concat_arrays([items.ids(format="arrow") for items in several]))
    return pl.DataFrame({"query_id": query_id, "doc_id": doc_id}), number
