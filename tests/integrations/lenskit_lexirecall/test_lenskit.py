"""LensKit's lists, collections and collector of measurements with our metrics, and comparisons of its runs."""

from __future__ import annotations

import importlib.util
import math
import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ir_lexirecall.data.aligned_run import AlignedRun

# The folder of this file would pass for a package `lenskit`, so ask for what only LensKit has.
pytest.importorskip(
    "lenskit.metrics", reason="LensKit is not installed: pip install '.[lenskit]'"
)

from lenskit import metrics as lenskit_metrics
from lenskit.data import ItemList, ItemListCollection, Vocabulary
from lenskit.metrics import NDCG, MeasurementCollector
from lenskit_lexirecall import TSE, LexiRecall, Metric, compare

import ir_lexirecall as irl
from ir_lexirecall.comparison import Comparison
from ir_lexirecall.comparison.shared_queries import NothingShared

# Generated runs may have no list for any user with test items.

EXAMPLE = Path(__file__).parents[3] / "examples" / "lenskit_recommenders.py"

# -- lists and collections -------------------------------------------------------------------------


def ranking(items: Any, **fields: Any) -> ItemList:
    return ItemList(list(items), ordered=True, **fields)


def collection(lists: dict[Any, ItemList], *key: str) -> ItemListCollection:
    filled = ItemListCollection.empty(list(key) or ["user_id"])
    for name, items in lists.items():
        filled.add(items, *(name if isinstance(name, tuple) else (name,)))
    return filled


def scored(ranked: Any) -> dict[str, float]:
    """A ranking as ir_lexirecall reads it: scores that fall with the rank."""
    return {str(item): float(-place) for place, item in enumerate(ranked)}


def collected(
    recs: ItemListCollection, test: ItemListCollection, *metrics: Any
) -> MeasurementCollector:
    """LensKit's collector with the measurements of all lists; one that the test lacks has no test items."""
    collector = MeasurementCollector()
    for metric in metrics:
        collector.add_metric(metric)
    measure = (
        getattr(collector, "add_list_measurement", None) or collector.measure_list
    )  # before LensKit 2026
    for key, items in recs:
        held_out = test.lookup_projected(key)
        measure(items, ItemList() if held_out is None else held_out, **key._asdict())
    return collector


def name_of(item: int) -> str:
    return f"item {item}"


ITEMS = st.integers(0, 30)
RANKINGS = st.lists(ITEMS, unique=True, max_size=25)
USERS = st.integers(0, 9)


@st.composite
def runs_and_test(
    draw: st.DrawFn,
) -> tuple[dict[str, dict[int, list[int]]], dict[int, dict[int, int]]]:
    """Rankings by run and user, where runs lack users; graded test items by user, where users may have none."""
    users = draw(st.lists(USERS, unique=True, min_size=1, max_size=5))
    graded = st.dictionaries(ITEMS, st.integers(1, 5), max_size=5)
    test = {user: draw(graded) for user in users}
    runs = {
        name: draw(st.dictionaries(USERS, RANKINGS, max_size=6))
        for name in draw(st.sampled_from(["ab", "abc", "abcd"]))
    }
    return runs, test


# -- metrics ---------------------------------------------------------------------------------------

VARIANTS = [
    (TSE(), irl.TSE),
    (TSE(exposure="nDCG"), irl.TSE(exposure="nDCG")),
    (TSE(exposure="RBP", patience=0.7), irl.TSE(exposure="RBP", p=0.7)),
    (TSE(exposure="linear", n_items=100), irl.TSE(exposure="linear", n=100)),
    (TSE(n_items=100, normalize=True), irl.TSE(n=100, normalize=True)),
    (TSE(impute="optimistic"), irl.TSE(impute="optimistic")),
    (TSE(5), irl.TSE @ 5),
    (LexiRecall(3), irl.LexiRecall @ 3),
    (
        TSE(impute="optimistic", n_items=100, normalize=True),
        irl.TSE(impute="optimistic", n=100, normalize=True),
    ),
    (LexiRecall(), irl.LexiRecall),
    (LexiRecall(form="weighted", n_items=100), irl.LexiRecall(form="weighted", n=100)),
    (
        LexiRecall(form="weighted", n_items=100, eps=0.9),
        irl.LexiRecall(form="weighted", n=100, eps=0.9),
    ),
]


@given(
    data=runs_and_test(),
    rel=st.sampled_from([1, 2, 3.5]),
    n=st.none() | st.integers(1, 10),
)
def test_the_collector_gives_what_evaluate_gives(
    data: Any, rel: float, n: int | None
) -> None:
    run, test = data[0]["a"], data[1]
    assume(run and any(test.values()))
    graded = {
        user: ItemList(list(items), rating=list(map(float, items.values())))
        for user, items in test.items()
    }
    graded_metrics = [
        TSE(n, rating_field="rating", rel=rel),
        LexiRecall(n, rating_field="rating", rel=rel),
    ]
    recs = collection({user: ranking(items) for user, items in run.items()})
    table = collected(recs, collection(graded), *graded_metrics).list_metrics()

    measures = [
        measure(rel=rel) if n is None else measure(rel=rel) @ n
        for measure in (irl.TSE, irl.LexiRecall)
    ]
    qrels = {
        str(user): {str(i): grade for i, grade in items.items()}
        for user, items in test.items()
        if items
    }
    expected = irl.evaluate(
        measures, qrels, {str(user): scored(items) for user, items in run.items()}
    )
    for user in run:
        if str(user) in expected.index:  # others have no test items
            # Without a relevant test item there is no value; LensKit's tables show 0 in its place before 2026.
            assert (
                table.loc[user].fillna(0).tolist() == expected.loc[str(user)].tolist()
            )
            if any(grade >= rel for grade in test[user].values()):
                assert table.loc[user].notna().all()


NATIVE = [
    *[
        "AP",
        "AP(rel=2)@5",
        "RR",
        "P@3",
        "R@10",
        "nDCG",
        "nDCG@5",
        "Rprec",
        "RBP(p=0.5)",
        "NumRet",
        "Bpref",
    ],
    *[
        "CWL_ERR8(max_rel=5)@10",
        "CWL_ERR10(max_rel=5,gain='linear')",
        "CWL_RBP(max_rel=5)",
        "RBU(p=0.9,max_rel=5)@5",
    ],
    *["TSE(rel=2)@5", "LexiRecall(rel=3)", "LexiRecall(form='weighted',n=100)"],
]


CASES = [
    *VARIANTS,
    *((Metric(measure, rating_field="rating"), measure) for measure in NATIVE),
]


@pytest.mark.parametrize(
    ("metric", "measure"), CASES, ids=[str(measure) for _, measure in CASES]
)
@given(
    recs=RANKINGS,
    graded=st.dictionaries(ITEMS, st.integers(0, 5), min_size=1, max_size=6),
    strings=st.booleans(),
)
@settings(max_examples=25)
def test_any_measure_gives_a_list_what_evaluate_gives(
    metric: Any, measure: Any, recs: list[int], graded: dict[int, int], strings: bool
) -> None:
    ids: Any = name_of if strings else int
    grades = {
        ids(item): grade if metric.rating_field else 1 for item, grade in graded.items()
    }
    value = metric.measure_list(
        ranking(map(ids, recs)), ItemList(list(grades), rating=list(grades.values()))
    )
    qrels = {"u": {str(item): grade for item, grade in grades.items()}}
    expected = irl.evaluate(measure, qrels, {"u": scored(map(ids, recs))}).iloc[0, 0]
    nothing = max(grades.values()) < metric.measure.params.get("rel", 1)
    assert (
        math.isnan(value) if nothing else value == expected
    )  # as in LensKit, where nothing is relevant
    assert type(value) is float


def test_aspects_are_fields_of_the_test_items() -> None:
    recs, test = (
        ranking([5, 6, 7]),
        ItemList([7, 5, 9], rating=[2, 1, 0], novelty=[3, 0, 1]),
    )
    qrels = pd.DataFrame(
        {
            "query_id": "u",
            "doc_id": ["7", "5", "9"],
            "relevance": [2, 1, 0],
            "novelty": [3.0, 0.0, 1.0],
        }
    )
    for measure in (
        "CAM(aspects={'novelty':3,'relevance':2},base='nDCG')",
        "TOMA(aspects={'novelty':3,'relevance':2})",
    ):
        expected = irl.evaluate(measure, qrels, {"u": scored([5, 6, 7])}).iloc[0, 0]
        assert (
            Metric(measure, rating_field="rating").measure_list(recs, test) == expected
        )
    with pytest.raises(
        ValueError,
        match="the test items have no field 'charm'; they have rating, novelty",
    ):
        Metric("CAM(aspects={'charm':3},base='AP')").measure_list(recs, test)


def test_a_measure_of_one_s_own_is_a_metric() -> None:
    class Firsts(irl.Measure):
        """Whether the first item is relevant."""

        def score(self, run: AlignedRun) -> Any:
            return np.bincount(
                run.query[run.rank == 1], minlength=len(run.judgments)
            ).astype(float)

    for measure in (Firsts, Firsts(), "Firsts"):
        metric = Metric(measure)
        assert metric.label == "Firsts"
        assert [
            metric.measure_list(ranking(items), ItemList([5]))
            for items in ([5, 6], [6, 5])
        ] == [1.0, 0.0]


@pytest.mark.parametrize(
    "measure", ["Nope", "TSE(p=7)", "TSE TSE", 3, None, "TSE(rel=4)", "AP(rel=2)"]
)
def test_what_is_no_measure_or_lacks_grades_is_refused(measure: Any) -> None:
    with pytest.raises(
        ValueError,
        match=r"Nope|TSE: p must be|several measures|got|a measure|needs rating_field",
    ):
        Metric(measure)


def test_metrics_stand_beside_lenskit_s_own() -> None:
    recs = collection(
        {("als", 1): ranking([5, 6]), ("als", 2): ranking([6, 5])}, "model", "user_id"
    )
    test = collection({1: ItemList([5]), 2: ItemList([5])})
    collector = collected(recs, test, NDCG(10), TSE(10), LexiRecall(10))
    table = collector.list_metrics()
    assert table.index.names == ["model", "user_id"]
    assert table.groupby("model").mean().loc[
        "als", ["TSE@10", "LexiRecall@10"]
    ].tolist() == [
        0.75,
        0.875,
    ]
    summary = collector.summary_metrics()
    assert summary["TSE@10.mean"] == 0.75
    assert summary["NDCG@10.mean"] == pytest.approx(table["NDCG@10"].mean())


@pytest.mark.parametrize("metric", [TSE, LexiRecall])
def test_metrics_are_accepted_wherever_lenskit_takes_them(metric: Any) -> None:
    recs, test = ranking(["a", "b"]), ItemList(["a"])
    collector = MeasurementCollector()
    collector.add_metric(metric)  # a class stands for the metric with its defaults
    (getattr(collector, "add_list_measurement", None) or collector.measure_list)(
        recs, test, user_id=1
    )
    assert collector.list_metrics().loc[1, metric.__name__] == 1
    call = (
        getattr(lenskit_metrics, "measure_list", None) or lenskit_metrics.call_metric
    )  # before LensKit 2026
    assert call(metric, recs, test, n=1) == 1
    assert pickle.loads(pickle.dumps(metric(5))).measure_list(recs, test) == 1
    assert pickle.loads(pickle.dumps(Metric("nDCG@5"))).measure_list(recs, test) == 1


def test_the_list_s_own_order_is_the_ranking() -> None:
    test = ItemList([2])
    assert TSE().measure_list(ranking([1, 2, 3], scores=[0.1, 0.5, 0.9]), test) == 0.5
    assert TSE().measure_list(ranking([1, 2, 3], scores=[1.0, 1.0, 1.0]), test) == 0.5
    filtered = ranking([9, 1, 2, 3])[
        np.array([False, True, True, True])
    ]  # keeps its old ranks, 2 to 4
    assert TSE().measure_list(filtered, test) == 0.5


def test_test_items_outside_the_vocabulary_are_missed() -> None:
    vocabulary = Vocabulary(np.arange(5), "item")
    recs = ItemList(item_nums=np.array([3, 4]), vocabulary=vocabulary, ordered=True)
    test = ItemList([3, 77, 78], vocabulary=vocabulary, rating=[5.0, 5.0, 1.0])
    assert LexiRecall().measure_list(recs, test) == 0.5
    assert LexiRecall(rating_field="rating", rel=4).measure_list(recs, test) == 2 / 3


def test_an_integer_is_the_same_as_its_decimal_string() -> None:
    assert (
        TSE().measure_list(ranking([1, 2]), ItemList(["2"]))
        == TSE().measure_list(ranking("12"), ItemList([2]))
        == 0.5
    )


@pytest.mark.parametrize("metric", [TSE(), LexiRecall()])
def test_without_relevant_test_items_there_is_no_value(metric: Any) -> None:
    recs = ranking([1, 2])
    assert math.isnan(metric.measure_list(recs, ItemList()))
    graded = Metric(metric.measure(rel=4), rating_field="rating")
    assert math.isnan(graded.measure_list(recs, ItemList([1], rating=[3.0])))
    # LensKit treats nDCG alike: undefined, and its tables show for both what they show in such a place.
    collector = collected(
        collection({1: recs, 2: recs}), collection({1: ItemList([1])}), metric, NDCG()
    )
    ours, theirs = collector.list_metrics().loc[2]
    assert ours == theirs or (math.isnan(ours) and math.isnan(theirs))
    assert math.isnan(NDCG().measure_list(recs, ItemList()))


GRADED = ItemList(
    [1, 2], rating=[4.0, float("nan")], mood=np.array(["good", "bad"], dtype=object)
)


@pytest.mark.parametrize(
    ("metric", "recs", "test", "message"),
    [
        (TSE(), ItemList([1, 2]), ItemList([1]), "TSE: the list is not ordered"),
        (
            TSE(5),
            ranking([1, 2, 1]),
            ItemList([1]),
            "TSE@5: item 1 appears twice in the list; keep one",
        ),
        (
            TSE(),
            ranking("abcacb"),
            ItemList(["a"]),
            r"TSE: item 'a' appears twice in the list \(and 2 other cases\)",
        ),
        (
            TSE(),
            ranking([1, 2, 3], rank=[1, 3, 2]),
            ItemList([1]),
            "TSE: rank 2 follows rank 3; .* sort it by rank",
        ),
        (
            TSE(),
            ItemList(item_nums=[1, 2], ordered=True),
            ItemList([1]),
            "TSE: item IDs not available",
        ),
        (
            TSE(),
            ranking([1, 2]),
            ItemList(item_nums=[1, 2]),
            "TSE: item IDs not available",
        ),
        (
            TSE(n_items=2),
            ranking([1, 2, 3]),
            ItemList([3]),
            "n=2 is smaller than rank 3",
        ),
        (
            TSE(rating_field="stars"),
            ranking([1]),
            GRADED,
            "no field 'stars'; they have rating, mood",
        ),
        (
            TSE(rating_field="rating"),
            ranking([1]),
            GRADED,
            "the rating of test item 2 is nan, not a finite number",
        ),
        (
            TSE(rating_field="mood"),
            ranking([1]),
            GRADED,
            "the mood of test item 1 is 'good', .* 1 other",
        ),
        (
            TSE(rating_field="rating"),
            ranking([1]),
            ItemList([1, 1], rating=[1.0, 2.0]),
            "TSE: test item 1 has rating 1.0 and 2.0; keep one",
        ),
    ],
)
def test_what_is_no_ranking_or_no_grade_is_refused(
    metric: Any, recs: ItemList, test: ItemList, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        metric.measure_list(recs, test)


# -- compare ---------------------------------------------------------------------------------------


def wins_losses_ties(result: Comparison) -> dict[tuple[str, str], list[int]]:
    table = result.table()
    return {
        (row.run_a, row.run_b): [row.wins, row.losses, row.ties]
        for row in table.itertuples()
    }


def held_out(
    test: dict[int, dict[int, int]], user: Any = int, item: Any = int
) -> ItemListCollection:
    lists = {
        user(u): ItemList([item(i) for i in graded], rating=list(graded.values()))
        if graded
        else ItemList()
        for u, graded in test.items()
    }
    return collection(lists)


def one_collection(
    runs: dict[str, dict[int, list[int]]], user: Any = int, item: Any = int
) -> ItemListCollection:
    lists = {
        (name, user(u)): ranking(map(item, items))
        for name, users in runs.items()
        for u, items in users.items()
    }
    return collection(lists, "model", "user_id")


def by_name(
    runs: dict[str, dict[int, list[int]]], user: Any = int, item: Any = int
) -> dict[str, ItemListCollection]:
    return {
        name: collection(
            {user(u): ranking(map(item, items)) for u, items in users.items()}
        )
        for name, users in runs.items()
    }


def test_groups_of_users_give_what_compare_gives() -> None:
    kinds = {user: f"kind {i % 2}" for i, user in enumerate(TEST)}
    qrels = {
        str(user): {str(item): 1 for item in graded}
        for user, graded in TEST.items()
        if graded
    }
    plain = {
        name: {str(u): scored(items) for u, items in lists.items()}
        for name, lists in RUNS.items()
    }
    table = pd.DataFrame(kinds.items(), columns=["user_id", "kind"])
    for options in (
        {"groups": kinds},
        {"groups": table},
        {"groups": kinds, "test": irl.SignificanceTest(cluster=True)},
    ):
        result = compare(
            held_out(TEST),
            by_name(RUNS),
            ["AP", "lexirecall"],
            allow_empty=True,
            **options,
        )
        expected = irl.compare(
            qrels, plain, ["AP", "lexirecall"], allow_empty=True, **options
        )
        for found in (
            ("table", "means") if "test" in options else ("group_table", "group_means")
        ):
            pd.testing.assert_frame_equal(
                getattr(result, found)(), getattr(expected, found)(), check_exact=True
            )
    with pytest.raises(ValueError, match=r"^compare: groups: query .* has no group"):
        compare(held_out(TEST), by_name(RUNS), groups={"nobody": "a"})


@given(
    data=runs_and_test(),
    by=st.sampled_from(["lexiprecision", ["rpp", "TSE"], "nDCG@5", "SL3(n=31)"]),
)
@settings(max_examples=30)
def test_compare_gives_what_ir_lexirecall_s_compare_gives(data: Any, by: Any) -> None:
    runs, test = data
    assume(any(test.values()))
    qrels = {
        str(user): {str(item): 1 for item in graded}
        for user, graded in test.items()
        if graded
    }
    plain = {
        name: {str(u): scored(items) for u, items in lists.items()}
        for name, lists in runs.items()
    }
    try:
        expected = irl.compare(qrels, plain, by, allow_empty=True)
    except NothingShared as refusal:
        with pytest.raises(NothingShared, match=f"^{re.escape(str(refusal))}$"):
            compare(held_out(test), by_name(runs), by, allow_empty=True)
        return
    result = compare(held_out(test), by_name(runs), by, allow_empty=True)
    for table in ("means", "table", "verdicts"):
        pd.testing.assert_frame_equal(
            getattr(result, table)(), getattr(expected, table)(), check_exact=True
        )
    for name in result.criteria:
        pd.testing.assert_frame_equal(
            result.per_query(name), expected.per_query(name), check_exact=True
        )
    pd.testing.assert_frame_equal(result.explain("a", "b"), expected.explain("a", "b"))


RUNS = {
    "als": {1: [5, 9, 6], 2: [7, 8]},
    "knn": {1: [5, 6, 9], 2: [8, 3, 4, 7]},
    "pop": {1: [9, 8, 5]},
}
TEST = {1: {5: 5, 6: 3}, 2: {7: 4}, 3: {}}
PLAIN = wins_losses_ties(
    irl.compare(
        {
            str(user): {str(item): 1 for item in graded}
            for user, graded in TEST.items()
            if graded
        },
        {
            name: {str(user): scored(items) for user, items in lists.items()}
            for name, lists in RUNS.items()
        },
    )
)


def test_baseline() -> None:
    pairs = [("als", "knn"), ("pop", "knn")]
    assert compare(held_out(TEST), one_collection(RUNS), baseline="knn").pairs == pairs
    numbered = collection(
        {(number, 1): ranking([5]) for number in (10, 20)}, "seed", "user_id"
    )
    assert compare(held_out(TEST), numbered, baseline=20).pairs == [("10", "20")]
    with pytest.raises(
        ValueError, match="compare: unknown baseline 'bpr'; choose from als, knn, pop"
    ):
        compare(held_out(TEST), by_name(RUNS), baseline="bpr")


def test_a_user_whom_a_run_lacks_gets_an_empty_list_and_others_are_ignored() -> None:
    runs = {"pop": {1: [9, 8, 5]}, "als": {1: [9, 8, 5], 2: [7], 77: [5]}}
    preferences = compare(held_out(TEST), by_name(runs))
    assert preferences.query_ids == ["1", "2"]  # user 3 has no test items
    assert wins_losses_ties(preferences) == {("pop", "als"): [0, 1, 1]}
    winners = preferences.explain("pop", "als")["winner"].tolist()
    assert winners[0] is None  # a tie, also where pandas would write NaN
    assert winners[1] == "als"


@pytest.mark.parametrize(
    "ids", [np.arange(10), np.array([f"i{i}" for i in range(10)], dtype=object)]
)
def test_compare_reads_lists_with_a_vocabulary(ids: Any) -> None:
    known = Vocabulary(ids[5:], "item")  # some items are unknown to it
    for vocabulary in (Vocabulary(ids, "item"), known):
        runs = {
            name: collection(
                {
                    u: ItemList(ids[items], vocabulary=vocabulary, ordered=True)
                    for u, items in users.items()
                }
            )
            for name, users in RUNS.items()
        }
        test = collection(
            {
                u: ItemList(ids[list(items)], vocabulary=known)
                for u, items in TEST.items()
            }
        )
        assert wins_losses_ties(compare(test, runs)) == PLAIN


def test_a_named_key_field_identifies_the_run_across_folds() -> None:
    lists = {
        (name, 1 + user % 2, user): ranking(items)
        for name, run in RUNS.items()
        for user, items in run.items()
    }
    recs = collection(lists, "model", "fold", "user_id")
    preferences = compare(held_out(TEST), recs, run_key="model")
    assert wins_losses_ties(preferences) == PLAIN


def test_test_lists_may_have_several_key_fields() -> None:
    test = collection({(1, 7): ItemList([5]), (2, 7): ItemList([6])}, "fold", "user_id")
    lists = {
        (name, fold, 7): ranking(items)
        for name, items in (("a", [5, 6]), ("b", [6, 5]))
        for fold in (1, 2)
    }
    preferences = compare(test, collection(lists, "model", "fold", "user_id"))
    assert preferences.query_ids == ["1/7", "2/7"]
    assert wins_losses_ties(preferences) == {("a", "b"): [1, 1, 0]}


def test_an_argument_that_compare_does_not_have_is_named() -> None:
    with pytest.raises(
        TypeError,
        match=r"compare: unexpected argument 'group'; did you mean 'groups'\?",
    ):
        compare(held_out(TEST), by_name(RUNS), group={})  # type: ignore[call-arg]


def with_knn(lists: dict[Any, ItemList]) -> dict[str, ItemListCollection]:
    """RUNS by name, with other lists for ``knn``."""
    return by_name(RUNS) | {"knn": collection(lists)}


TWICE = collection(
    {("als", 1, 7): ranking([5]), ("als", 2, 7): ranking([6])},
    "model",
    "fold",
    "user_id",
)


@pytest.mark.parametrize(
    ("recs", "options", "message"),
    [
        (
            by_name(RUNS)["als"],
            {},
            "no key field identifies the run, for user_id identify the test lists",
        ),
        (
            one_collection(RUNS),
            {"run_key": "recommender"},
            "run_key: 'recommender' is not a key field .* there are model",
        ),
        (
            one_collection(RUNS),
            {"run_key": "user_id"},
            "run_key: 'user_id' is not a key field that could",
        ),
        (
            by_name(RUNS),
            {"run_key": "model"},
            "run_key='model': a mapping names the runs itself",
        ),
        (
            TWICE,
            {"run_key": "model"},
            r"run 'als': there are two lists for user '7' \(user_id\)",
        ),
        (
            collection(
                {("a", "b/c", 1): ranking([5]), ("a/b", "c", 1): ranking([5])},
                "x",
                "y",
                "user_id",
            ),
            {},
            r"the runs \('a', 'b/c'\) and \('a/b', 'c'\) are both called 'a/b/c'",
        ),
        (
            {"als": collection({1: ranking([5])}, "query_id")},
            {},
            r"run 'als': the keys \(query_id\) lack the field 'user_id'",
        ),
        (
            {1: collection({1: ranking([5])}), "1": collection({1: ranking([6])})},
            {},
            "names must differ as strings, but they are 1, '1'",
        ),
        (
            {"als": ranking([5])},
            {},
            "run 'als' is of type ItemList, not an ItemListCollection",
        ),
        (
            [ranking([5])],
            {},
            "compare: runs must be an ItemListCollection, or a mapping of names to several, not list",
        ),
        (
            with_knn({1: ItemList([5, 6])}),
            {},
            "run 'knn', user '1': the list is not ordered",
        ),
        (
            with_knn({b"1": ranking([5])}),
            {},
            "ids must be strings or integers, but one is b'1'",
        ),
        (
            by_name(RUNS),
            {"rating_field": "stars"},
            "test items of user '1': the test items have no field 'stars'",
        ),
        (by_name(RUNS), {"by": "rpp(rel=4)"}, r"rpp\(rel=4\) needs rating_field"),
        (by_name(RUNS), {"by": "AP(rel=2)"}, r"AP\(rel=2\) needs rating_field"),
        (
            {
                **by_name(RUNS),
                "other": ItemListCollection.from_dict(
                    {f"user-{u}": ItemList(["x"], ordered=True) for u in range(3)},
                    "user_id",
                ),
            },
            {},
            r"run 'other' retrieves nothing for any query of the qrels; do their query ids agree\? "
            r"The run's first is 'user-0'",
        ),
        (by_name(RUNS), {"by": "recall"}, "compare: unknown measure 'recall'"),
    ],
)
def test_bad_input_is_refused_by_name(
    recs: Any, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        compare(held_out(TEST), recs, **options)


def test_test_data_that_cannot_be_used_is_refused() -> None:
    with pytest.raises(
        ValueError,
        match=r"compare: qrels must be an ItemListCollection .*split\.test, not dict",
    ):
        compare({1: ItemList([5])}, by_name(RUNS))
    with pytest.raises(ValueError, match="not dict; the runs come second"):
        compare(by_name(RUNS), held_out(TEST))
    with pytest.raises(
        ValueError,
        match=r"the keys \(user_id\) lack the field 'model', by which the test lists are keyed",
    ):
        compare(one_collection(RUNS), held_out(TEST))
    twice = collection({1: ItemList([5])})
    twice.add(ItemList([6]), user_id="1")
    with pytest.raises(
        ValueError, match=r"qrels: there are two lists for user '1' \(user_id\)"
    ):
        compare(twice, by_name(RUNS))
    unrated = collection({1: ItemList([5, 6], rating=[4.0, np.nan])})
    with pytest.raises(
        ValueError,
        match="user '1': the rating of test item 6 is nan, not a finite number",
    ):
        compare(unrated, by_name(RUNS), rating_field="rating")


# -- the example -----------------------------------------------------------------------------------


def test_the_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    spec = importlib.util.spec_from_file_location("lenskit_recommenders", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    result = example.main(users=90, items=80, n=40)
    assert result.runs == ["popularity", "item-kNN", "ALS"]
    assert len(result.query_ids) == 30
    printed = capsys.readouterr().out
    assert all(
        label in printed
        for label in ("NDCG@40", "Recall@40", ")@40", "LexiRecall@40", "wins")
    )
