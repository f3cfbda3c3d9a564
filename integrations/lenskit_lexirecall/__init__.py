"""Our measures as LensKit's metrics, and comparisons of its runs.

>>> from lenskit.data import ItemList, ItemListCollection
>>> from lenskit.metrics import NDCG, MeasurementCollector
>>> from lenskit_lexirecall import TSE, LexiRecall, Metric, compare
>>> test = ItemListCollection.from_dict({1: ItemList([31, 42]), 2: ItemList([17])}, "user_id")
>>> recs = ItemListCollection.empty(["model", "user_id"])
>>> recs.add(ItemList([31, 50, 42], ordered=True), model="knn", user_id=1)
>>> recs.add(ItemList([17, 50], ordered=True), model="knn", user_id=2)
>>> recs.add(ItemList([31, 50, 60, 42], ordered=True), model="als", user_id=1)
>>> recs.add(ItemList([17, 50], ordered=True), model="als", user_id=2)
>>> collector = MeasurementCollector()
>>> for metric in (TSE(), LexiRecall(), Metric("RBP(p=0.5)"), NDCG(10)):
...     collector.add_metric(metric)
>>> measure = getattr(collector, "add_list_measurement", None)
>>> measure = measure or collector.measure_list  # before LensKit 2026
>>> for key, items in recs:
...     measure(items, test.lookup_projected(key), model=key.model, user_id=key.user_id)
>>> collector.list_metrics().groupby("model").mean().round(3)
         TSE  LexiRecall  RBP(p=0.5)  NDCG@10
model
als    0.625       0.933       0.531    0.875
knn    0.667       0.967       0.562    0.908
>>> compare(test, recs).matrix()
     knn  als
knn  0.0  0.5
als -0.5  0.0

In metrics, a list's order is its ranking, so there are no ties to break: neither scores nor item
ids are looked at. All test items have grade 1, unless ``rating_field`` names the field with their
grades. As LensKit's metrics do, these give NaN to a list without relevant test items (in whose
place LensKit's tables show 0 before 2026); and LensKit measures no test user for whom there is no
list. ``compare`` counts such a user as one with an empty list.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import polars as pl
from ir_measures.measures.base import Measure as IRMeasure

import ir_lexirecall
from ir_lexirecall import measures
from ir_lexirecall._util.arrays import Floats
from ir_lexirecall._util.errors import and_more, entry, is_number, naming, needs
from ir_lexirecall._util.progress import progress_bar
from ir_lexirecall._util.selecting import index_of, with_keys, without
from ir_lexirecall.comparison import Comparison
from ir_lexirecall.comparison.compared import MarginLike
from ir_lexirecall.comparison.comparing import CriteriaLike, parse_criteria
from ir_lexirecall.data.aligned_run import AlignedRun
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.io.cells import id_of
from ir_lexirecall.io.groups import GroupsLike
from ir_lexirecall.measures.declaration import Measure
from ir_lexirecall.measures.parsing import MeasureLike, parse_measures
from ir_lexirecall.measures.scoring import check_served, values
from ir_lexirecall.measures.trec_eval import optional
from ir_lexirecall.significance import SignificanceTest

try:
    import pyarrow as pa
    from lenskit.data import ItemList, ItemListCollection
    from lenskit.metrics import ListMetric, RankingMetricBase
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        needs("lenskit_lexirecall", "LensKit", "lenskit"), name=error.name
    ) from None

__all__ = ["TSE", "LexiRecall", "Metric", "compare", "qrels"]

_PARAMETERS = {"n": "cutoff", "n_items": "n", "patience": "p"}
"""What the parameters of measures are called in LensKit, where these are other names."""


class Metric(ListMetric, RankingMetricBase):  # type: ignore[misc]
    """Any measure of ``ir_lexirecall`` and ``ir_measures`` on item lists.

    The label is the measure as it prints, such as ``TSE(exposure='nDCG')@10``: variants of a
    measure can stand side by side.

    Args:
        measure: An object or a string, such as ``"LexiRecall@10"``, ``"RBU(p=0.9)"`` or
            ``"nDCG@5"``. Aspects that it names are fields of the test items; ``relevance`` is the
            grade.
        rating_field: The field of the test items that holds their grades; by default, all test
            items have grade 1.

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

    def __init__(
        self, measure: MeasureLike, *, rating_field: str | None = None
    ) -> None:
        [self.measure] = parse_measures([measure]).values()
        check_served([self.measure])
        self.rating_field = rating_field
        if rating_field is None and self._rel not in (None, 1):
            needs_field = "needs rating_field, the field of the test items that holds their grades"
            raise ValueError(f"{self.label}: rel={self._rel} {needs_field}")
        RankingMetricBase.__init__(self, self.measure.params.get("cutoff"))

    @property
    def label(self) -> str:
        """The measure with its parameters."""
        return str(self.measure)

    @property
    def _rel(self) -> float | None:
        """The smallest grade that counts as relevant, for measures that have one."""
        rel = optional(self.measure, "rel")
        return rel if is_number(rel) else None

    def measure_list(self, recs: ItemList, test: ItemList, /) -> float:
        """Return the value for one list; NaN if no test item is relevant.

        Raises:
            ValueError: the list is unordered, holds an item twice, or is longer than the measure's
                ``n`` allows; a grade cannot be read.
        """
        with naming(self.label):
            _check_ranking(recs)
            grade = _grades(test, self.rating_field)
            labels = {name: _grades(test, name) for name in self._further_aspects}
        # An integer is the same id as its decimal string.
        if (recs.ids().dtype.kind in "iu") != (test.ids().dtype.kind in "iu"):
            recs = ItemList(recs.ids().astype(str), ordered=True)
            test = ItemList(test.ids().astype(str), ordered=True)
        # Of an item that is listed twice, the last row counts.
        row_of_item = index_of(test.ids().tolist())
        rows = list(row_of_item.values())
        judgments = Judgments(
            ["of this list"],
            np.zeros(len(rows), dtype=np.int64),
            list(map(str, row_of_item)),
            grade[rows],
        )
        if not self._has_relevant(judgments):
            return float("nan")
        if labels:
            judgments = judgments.with_labels(
                {name: label[rows] for name, label in labels.items()}
            )
        judgment_of_item = index_of(row_of_item)
        position = np.flatnonzero(recs.isin(test))
        judged = [judgment_of_item[item] for item in recs.ids()[position].tolist()]
        run = AlignedRun(
            judgments,
            query=np.zeros_like(position),  # the only one
            doc=np.array(judged, dtype=np.int64),
            rank=position + 1,
            depth=np.array([len(recs)]),
        )
        return float(values(self.measure, run)[0])

    @property
    def _further_aspects(self) -> list[str]:
        """The aspects of the measure besides relevance."""
        if "aspects" not in self.measure.SUPPORTED_PARAMS:
            return []
        return [name for name in self.measure["aspects"] if name != "relevance"]

    def _has_relevant(self, judgments: Judgments) -> bool:
        """Return whether a grade reaches the threshold; without one, whether it is above 0."""
        if self._rel is None:
            return bool((judgments.grade > 0).any())
        return bool((judgments.grade >= self._rel).any())


class _LensKitMetric(Metric):
    """A measure whose parameters go by LensKit's names."""

    MEASURE: ClassVar[Measure]

    def __init__(
        self, n: int | None = None, *, rating_field: str | None = None, **params: Any
    ) -> None:
        ours = {
            _PARAMETERS.get(name, name): value
            for name, value in {"n": n, **params}.items()
        }
        super().__init__(self.MEASURE(**ours), rating_field=rating_field)


class TSE(_LensKitMetric):
    """Total search efficiency: the exposure of the last relevant item, TSE = e(p_m).

    It equals ``Metric(ir_lexirecall.TSE)``.

    How soon does a user find *every* relevant item? With the default exposure e(i) = 1/i it is the
    reciprocal rank of the last one. A relevant item that the list lacks sits at the bottom of the
    catalogue (``impute='pessimistic'``: rank ``n_items``, infinity without), or follows the list at
    once (``'optimistic'``).

    Args:
        n: The maximum recommendation list length: what is ranked below counts as not recommended
            (``cutoff`` of ``ir_lexirecall.TSE``).
        rating_field: As in ``Metric``.
        params: Parameters of ``ir_lexirecall.TSE``: ``exposure``, ``impute``, ``normalize``,
            ``rel``, ...; its ``p`` is ``patience`` here, its ``n``, the number of items that can be
            recommended, ``n_items``.

    Raises:
        ValueError: as for ``Metric``.

    Source: Diaz, Ekstrand, Mitra, Recall, Robustness, and Lexicographic Evaluation, TORS 2026,
        doi 10.1145/3728373.

    >>> recs = ItemList([31, 50, 60, 42], ordered=True)
    >>> test = ItemList([31, 42], rating=[5.0, 3.0])
    >>> TSE().measure_list(recs, test), TSE(rating_field="rating", rel=4).measure_list(recs, test)
    (0.25, 1.0)
    >>> TSE(3).label, TSE(3).measure_list(recs, test), TSE(3, n_items=100).measure_list(recs, test)
    ('TSE@3', 0.0, 0.01)
    """

    MEASURE = measures.TSE


class LexiRecall(_LensKitMetric):
    """Lexicographic recall as a number.

    Lists are ordered first by recall, then by the last relevant item, and so on. It equals
    ``Metric(ir_lexirecall.LexiRecall)``. A better list never gets a smaller number; but lists that
    share their whole tail can get the same one: ``compare`` compares exactly.

    Arguments, errors and source as in ``TSE``; the ``params`` are those of
    ``ir_lexirecall.LexiRecall`` (``form``, ``eps``, ``rel``).

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


def _check_ids(items: ItemList) -> None:
    """Refuse a list of item numbers without a vocabulary: the items it holds are unknown."""
    if items.vocabulary is None:
        try:
            items.ids()
        except RuntimeError as error:
            raise ValueError(str(error)) from None


def _check_ranking(recs: ItemList) -> None:
    """Raise if a list is unordered, not in the order of its ranks, or has an item twice."""
    _check_ids(recs)
    if len(recs) == 0:
        return
    if not recs.ordered:
        way = "use the output of a ranker, or ItemList(..., ordered=True)"
        raise ValueError(f"the list is not ordered, so it is not a ranking; {way}")
    ranks = recs.ranks()
    falls = np.flatnonzero(ranks[1:] <= ranks[:-1])
    if len(falls):
        message = (
            f"rank {ranks[falls[0] + 1]} follows rank "
            f"{ranks[falls[0]]}{and_more(len(falls) - 1)}"
        )
        raise ValueError(
            f"{message}; the list's own order is the ranking, so sort it by rank"
        )
    if recs.vocabulary is None:
        numbers = recs.ids()
    else:
        numbers = recs.numbers(missing="negative")
    # Items that the vocabulary lacks have one number: ids tell them apart.
    if len(set(numbers.tolist())) < len(recs):
        twice = []
        for item, times in Counter(recs.ids().tolist()).items():
            if times > 1:
                twice.append(item)
        if twice:
            raise ValueError(
                f"item {twice[0]!r} appears twice in the list{and_more(len(twice) - 1)}; keep one"
            )


def _grades(test: ItemList, rating_field: str | None) -> Floats:
    """Grade of every test item: 1, or its value in ``rating_field``; an item has one."""
    _check_ids(test)
    if rating_field is None or len(test) == 0:
        return np.ones(len(test))
    ratings = test.field(rating_field)
    if ratings is None:
        fields = without(test.arrow_types(ids=False), ["rank"])
        raise ValueError(
            f"the test items have no field {rating_field!r}; "
            f"they have {', '.join(fields) or 'none'}"
        )
    items, listed = test.ids().tolist(), ratings.tolist()
    if ratings.dtype.kind in "iufb":
        bad = np.flatnonzero(~np.isfinite(ratings))
    else:
        bad = np.arange(len(ratings))
    if len(bad):
        message = (
            f"the {rating_field} of test item {items[bad[0]]!r} is {listed[bad[0]]!r}, "
            "not a finite number"
        )
        raise ValueError(f"{message}{and_more(len(bad) - 1)}")
    last = dict(zip(items, listed, strict=True))
    differ = [
        (item, rating)
        for item, rating in zip(items, listed, strict=True)
        if rating != last[item]
    ]
    if differ:
        item, rating = differ[0]
        message = f"test item {item!r} has {rating_field} {rating} and {last[item]}"
        raise ValueError(f"{message}{and_more(len(differ) - 1)}; keep one")
    return np.asarray(ratings, dtype=np.float64)


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
    """Compare recommendation runs user by user.

    The criteria are measures, exact preferences between lists, or both.

    A list's own order is its ranking; scores and ranks are not looked at, and there are no ties to
    break. Ids may be strings or integers; an integer is the same as its decimal string.

    Args:
        qrels: The test items, such as ``split.test``. Its key fields (``user_id``) say whose lists
            belong together. Or ``ir_lexirecall.load(qrels(split.test), ...)``, which says what else
            counts as judged; users are those of ``user_id`` then.
        runs: The runs: a mapping of names to item list collections, or one collection whose keys
            identify the run beside the user. Lists of users without test items are ignored; a user
            whom a run lacks gets an empty list from it.
        by: The measures and preferences, as in ``ir_lexirecall.compare``.
        baseline: As in ``ir_lexirecall.compare``.
        margin: As in ``ir_lexirecall.compare``.
        test: As in ``ir_lexirecall.compare``.
        groups: As in ``ir_lexirecall.compare``, of users: a table has ``user_id``.
        allow_empty: As in ``ir_lexirecall.compare``.
        run_key: The key field, or fields, of ``runs`` that identify the run; by default all that
            the keys of ``qrels`` lack. A run is called by its value, values of several fields
            joined by ``/``.
        rating_field: The field of the test items that holds their grades; by default, all test
            items are relevant.

    Returns:
        ``ir_lexirecall.Comparison``: means, tables, verdicts, explanations, pictures. Its queries
        are the users with test items; preferences leave out those of whom no test item is relevant.

    Raises:
        ValueError: fewer than two runs, keys that do not fit together, two lists of one run for one
            user, a list that is no ranking, a grade that is not a number, or a bad option; the
            message names the first offender.

    Source: Diaz, Ekstrand, Mitra, Recall, Robustness, and Lexicographic Evaluation, TORS 2026,
        doi 10.1145/3728373.

    >>> relevant = {7: ItemList(["x", "y"]), 8: ItemList(["x"])}
    >>> test = ItemListCollection.from_dict(relevant, "user_id")
    >>> knn = {7: ItemList(["x", "a", "y"], ordered=True), 8: ItemList(["x", "a"], ordered=True)}
    >>> als = {7: ItemList(["a", "x", "y"], ordered=True)}
    >>> runs = {
    ...     name: ItemListCollection.from_dict(lists, "user_id")
    ...     for name, lists in (("knn", knn), ("als", als))
    ... }
    >>> uncorrected = SignificanceTest(correction=None)
    >>> result = compare(test, runs, ["lexirecall", "RR"], baseline="als", test=uncorrected)
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
    if isinstance(qrels, ItemListCollection):
        user_key, judged = qrels.key_fields, _qrels_table(qrels, rating_field)
        if rating_field is None:
            _check_needs_no_grades(by)
        users: Iterable[str] = _by_user(qrels.items(), user_key)
    elif isinstance(qrels, Judgments):
        judged, users = qrels, qrels.query_ids
    else:
        expected = "an ItemListCollection of test items, such as split.test"
        raise ValueError(
            f"qrels must be {expected}, not {type(qrels).__name__}; the runs come second"
        )
    tested, tables = SignificanceTest.by_name(test), {}
    for name, of_run in progress_bar(
        tested.progress, _lists_by_run(runs, user_key, run_key).items(), desc="lists"
    ):
        # Lists of other users alone are kept, for the message that no user is shared.
        lists = with_keys(of_run, users) or of_run
        for user, items in lists.items():
            with naming(f"run {name!r}, user {user!r}"):
                _check_ranking(items)
        # Scores fall with the rank, in steps that 32-bit floats hold.
        score = [-np.arange(len(items), dtype=np.float64) for items in lists.values()]
        tables[name] = _rows(lists, "score", score)
    if baseline is not None:
        if isinstance(baseline, tuple):
            baseline = "/".join(map(str, baseline))
        else:
            baseline = str(baseline)
    options: dict[str, Any] = {"groups": groups, "allow_empty": allow_empty}
    return ir_lexirecall.compare(
        judged, tables, by, baseline=baseline, margin=margin, test=tested, **options
    )


def _check_needs_no_grades(by: CriteriaLike) -> None:
    """Raise if a criterion asks for other grades than 1, which all test items have."""
    for criterion in parse_criteria(by).values():
        rel = criterion.params.get("rel")
        if is_number(rel) and rel != 1:
            raise ValueError(
                f"{criterion} needs rating_field, the field of the test items that holds their "
                "grades"
            )


@entry
def qrels(test: ItemListCollection, rating_field: str | None = None) -> pl.DataFrame:
    """Return test items as qrels, a row per user and item.

    The table can be given to ``ir_lexirecall.load``, ``evaluate`` and everything else that takes
    qrels.

    Args:
        test: The test items, such as ``split.test``, by ``user_id``.
        rating_field: The field that holds their grades; by default, all are relevant.

    >>> qrels(ItemListCollection.from_dict({7: ItemList(["x", "y"])}, "user_id")).rows()
    [('7', 'x', 1.0), ('7', 'y', 1.0)]
    """
    return _qrels_table(test, rating_field)


def _lists_by_run(
    runs: Any, user_key: Sequence[str], run_key: str | Sequence[str] | None
) -> dict[str, dict[str, ItemList]]:
    """Return the lists of each run by user."""
    if isinstance(runs, ItemListCollection):
        _check_collection("runs", runs, user_key)
        lists_of_run = _parted_by_key(runs, _run_fields(runs, user_key, run_key))
    elif isinstance(runs, Mapping):
        lists_of_run = _lists_of_named_runs(runs, user_key, run_key)
    else:
        kind = type(runs).__name__
        raise ValueError(
            f"runs must be an ItemListCollection, or a mapping of names to several, not {kind}"
        )
    return {
        name: _by_user(lists, user_key, f"run {name!r}")
        for name, lists in lists_of_run.items()
    }


def _check_collection(owner: str, run: Any, user_key: Sequence[str]) -> None:
    """Raise unless a run is a collection of lists with the key fields of the test lists."""
    if not isinstance(run, ItemListCollection):
        raise ValueError(
            f"{owner} is of type {type(run).__name__}, not an ItemListCollection"
        )
    missing = without(user_key, run.key_fields)
    if missing:
        raise ValueError(
            f"{owner}: the keys ({', '.join(run.key_fields)}) lack the field {missing[0]!r}, "
            "by which the test lists are keyed; "
            "ItemListCollection.rename_key changes a field's name"
        )


def _lists_of_named_runs(
    runs: Mapping[Any, Any],
    user_key: Sequence[str],
    run_key: str | Sequence[str] | None,
) -> dict[str, list[tuple[Any, ItemList]]]:
    """Return the keys and lists of each run of a mapping."""
    if run_key is not None:
        raise ValueError(
            f"run_key={run_key!r}: a mapping names the runs itself; "
            "run_key belongs to a single collection"
        )
    for name, run in runs.items():
        _check_collection(f"run {name!r}", run, user_key)
    lists_of_run = {str(name): list(run.items()) for name, run in runs.items()}
    if len(lists_of_run) < len(runs):
        names = ", ".join(map(repr, runs))
        raise ValueError(f"runs: names must differ as strings, but they are {names}")
    return lists_of_run


def _run_fields(
    runs: ItemListCollection,
    user_key: Sequence[str],
    run_key: str | Sequence[str] | None,
) -> list[str]:
    """Return the key fields that identify a run: ``run_key``, by default all but the user's."""
    candidates = without(runs.key_fields, user_key)
    if run_key is None:
        fields = candidates
    elif isinstance(run_key, str):
        fields = [run_key]
    else:
        fields = list(run_key)
    unknown = without(fields, candidates)
    if unknown:
        raise ValueError(
            f"run_key: {unknown[0]!r} is not a key field that could identify a run; there are "
            f"{', '.join(candidates) or 'none'} besides those of the test collection"
        )
    if not fields:
        raise ValueError(
            f"runs: no key field identifies the run, for {', '.join(runs.key_fields)} identify the "
            "test lists; give several collections by name, or one that "
            "ItemListCollection.add_from filled with a further field"
        )
    return fields


def _parted_by_key(
    runs: ItemListCollection, fields: Sequence[str]
) -> dict[str, list[tuple[Any, ItemList]]]:
    """Return the keys and lists of each run of a collection; ``fields`` of the key name the run."""
    lists_of_run: dict[str, list[tuple[Any, ItemList]]] = {}
    key_of_name: dict[str, tuple[Any, ...]] = {}
    for key, items in runs.items():
        run = tuple(getattr(key, field) for field in fields)
        name = "/".join(map(str, run))
        if key_of_name.setdefault(name, run) != run:
            raise ValueError(
                f"runs: the runs {key_of_name[name]!r} and {run!r} are both called {name!r}; "
                "rename one"
            )
        lists_of_run.setdefault(name, []).append((key, items))
    return lists_of_run


def _by_user(
    lists: Iterable[tuple[Any, ItemList]], user_key: Sequence[str], owner: str = "qrels"
) -> dict[str, ItemList]:
    """Item lists by the string that their user's key fields make."""
    by_user: dict[str, ItemList] = {}
    for key, items in lists:
        user = "/".join(id_of(getattr(key, field)) for field in user_key)
        if user in by_user:
            raise ValueError(
                f"{owner}: there are two lists for user {user!r} ({', '.join(user_key)}); keep one"
            )
        by_user[user] = items
    return by_user


def _qrels_table(test: ItemListCollection, rating_field: str | None) -> pl.DataFrame:
    """Return the test items of all users as qrels."""
    lists = _by_user(test.items(), test.key_fields)
    grades = []
    for user, items in lists.items():
        with naming(f"test items of user {user!r}"):
            grades.append(_grades(items, rating_field))
    return _rows(lists, "relevance", grades)


def _rows(
    lists: Mapping[str, ItemList], name: str, numbers: Sequence[Floats]
) -> pl.DataFrame:
    """Users and items, a row for each item of each list, and a column of one number each."""
    query_id = pl.Series(list(lists), dtype=pl.String).gather(
        np.repeat(np.arange(len(lists)), list(map(len, numbers)))
    )
    several = [items for items in lists.values() if len(items)]
    doc_id = pl.Series([], dtype=pl.String)
    if several:
        vocabulary, places = several[0].vocabulary, np.array([-1])
        if vocabulary is not None and all(
            items.vocabulary is vocabulary for items in several
        ):
            # To look all items up at once takes a fraction of the time that one list after the
            # other takes.
            places = np.concatenate(
                [items.numbers(missing="negative") for items in several]
            )
        if (places >= 0).all():
            doc_id = pl.Series(vocabulary.id_array().take(pa.array(places)))
        else:
            doc_id = pl.Series(
                pa.concat_arrays([items.ids(format="arrow") for items in several])
            )
    return pl.DataFrame(
        {
            "query_id": query_id,
            "doc_id": doc_id,
            name: np.concatenate([np.zeros(0), *numbers]),
        }
    )
