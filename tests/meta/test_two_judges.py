"""Two sets of judgments: agreement on documents, orders of runs, conclusions."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ir_lexirecall import demo
from ir_lexirecall.meta import Study
from ir_lexirecall.meta.two_judges import tau_ap

pytest.importorskip("krippendorff")
pytest.importorskip("statsmodels")
MEASURES = ["AP", "nDCG@10", "lexirecall"]


def as_dict(table: Any) -> dict[str, dict[str, int]]:
    return {
        q: dict(zip(rows["doc_id"], rows["relevance"], strict=True))
        for q, rows in table.groupby("query_id")
    }


QRELS = as_dict(demo.qrels())
RUNS = demo.runs()


def another_judge(share: float, seed: int = 0) -> dict[str, dict[str, int]]:
    """A judge who takes a share of the documents for something else."""
    dice = random.Random(seed)
    return {
        q: {
            d: dice.randrange(4) if dice.random() < share else g
            for d, g in docs.items()
        }
        for q, docs in QRELS.items()
    }


def test_a_judge_agrees_with_itself() -> None:
    table = Study(MEASURES, QRELS, RUNS).judges(QRELS, n_resamples=20)
    assert table["rel"].tolist() == [1, 2, 3] * 3
    assert (table[["kappa", "alpha", "tau"]] == 1).all(axis=None)
    assert (table[["only_a", "only_b", "opposite"]] == 0).all(axis=None)
    assert (table["both"] + table["neither"] == 10).all()
    assert table.attrs["kappa_of_grades"] == table.attrs["alpha_of_grades"] == 1


def test_kappa_and_alpha_are_what_they_are_by_hand() -> None:
    a = {"q": {"a": 1, "b": 1, "c": 0, "d": 0, "only a": 1}}
    b = {"q": {"a": 1, "b": 0, "c": 0, "d": 0, "only b": 1}}
    runs = {
        name: {"q": {doc: -i for i, doc in enumerate(order)}}
        for name, order in {"x": "abcd", "y": "dcba"}.items()
    }
    row = Study("AP", a, runs).judges(b, n_resamples=5).iloc[0]
    assert row["documents"] == 4
    assert row["kappa"] == pytest.approx((0.75 - 0.5) / 0.5)
    # Krippendorff: 1 - (n - 1) x (disagreeing pairs) / (n0 x n1), with n = 8 values, 3 of them 1 and 5 of them 0
    assert row["alpha"] == pytest.approx(1 - 7 * 1 / (3 * 5))


def test_conclusions_in_opposite_directions_are_counted() -> None:
    queries = [f"q{i}" for i in range(12)]
    runs = {
        "x": {q: {"a": 2, "b": 1} for q in queries},
        "y": {q: {"a": 1, "b": 2} for q in queries},
    }
    a, b = ({q: {"a": grade, "b": 1 - grade} for q in queries} for grade in (1, 0))
    row = Study("lexirecall", a, runs).judges(b, n_resamples=5).iloc[0]
    assert (row["pairs"], row["opposite"], row["both"], row["tau"], row["kappa"]) == (
        1,
        1,
        0,
        -1,
        -1,
    )


def test_queries_and_grades_of_one_judge_alone_take_no_part() -> None:
    a = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1, "b": -2}}
    b = {"q2": {"a": 2, "b": 0}, "q3": {"a": 0}}
    runs = {"x": {"q2": {"a": 2, "b": 1}}, "y": {"q2": {"a": 1, "b": 2}}}
    table = Study("AP", a, runs).judges(b, n_resamples=5)
    assert table["queries"].tolist() == [1]  # the first judge gives no grade 2
    # The first judge's grade of document b is negative: it was pooled, not judged.
    assert table.attrs["confusion"] == {1: {1: 0, 2: 1}, 2: {1: 0, 2: 0}}
    with pytest.raises(
        ValueError, match="judges: the two sets of judgments have no query in common"
    ):
        Study("AP", {"q1": {"a": 1}}, runs, allow_empty=True).judges({"q2": {"a": 1}})


@given(
    st.integers(2, 7).flatmap(
        lambda n: st.tuples(*(st.lists(st.integers(0, 4), min_size=n, max_size=n),) * 2)
    )
)
def test_tau_ap_is_its_definition(means: tuple[list[int], list[int]]) -> None:
    truth, other = means
    order = sorted(range(len(truth)), key=lambda i: -other[i])

    def right(i: int, j: int) -> float:
        return (
            0.5
            if truth[i] == truth[j] or other[i] == other[j]
            else float(truth[j] > truth[i])
        )

    total = sum(
        np.mean([right(order[i], order[j]) for j in range(i)])
        for i in range(1, len(order))
    )
    expected = 2 * total / (len(order) - 1) - 1
    assert tau_ap(np.array(truth)[:, None], np.array(other)[:, None])[
        0
    ] == pytest.approx(expected)


def test_intervals_hold_the_estimate_mostly_and_are_seeded() -> None:
    one, again = (
        Study(MEASURES, QRELS, RUNS).judges(another_judge(0.3), n_resamples=200, seed=3)
        for _ in range(2)
    )
    assert one.equals(again)
    assert (one["tau_p05"] <= one["tau_p95"]).all()
    assert (one["tau_p05"] < 1).any()


def test_means_far_below_one_are_told_apart() -> None:
    def run(rank: int) -> dict[str, dict[str, float]]:
        return {
            f"q{i}": {
                "found" if r == rank else f"d{r}": -float(r) for r in range(1, 60)
            }
            for i in range(30)
        }

    qrels = {f"q{i}": {"found": 1} for i in range(30)}
    table = Study(
        ["TSE(exposure='RBP',p=0.5)"], qrels, {"a": run(42), "b": run(45), "c": run(50)}
    ).judges(qrels)
    assert table[["tau", "tau_ap", "both"]].iloc[0].tolist() == [1, 1, 3]


def test_thresholds_per_judge() -> None:
    doubled = {q: {d: 2 * g for d, g in docs.items()} for q, docs in QRELS.items()}
    study = Study("AP", QRELS, RUNS, rel=1)
    (row,) = study.judges(doubled, rel_b=2, n_resamples=5).to_dict("records")
    assert (row["rel"], row["rel_b"], row["kappa"], row["tau"]) == (1, 2, 1, 1)
    table = study.judges(doubled, rel_b={1: 2, 2: 4, 3: 2}, n_resamples=5)
    assert table["kappa"].eq(1).tolist() == [True, True, False]
    with pytest.raises(ValueError, match="judges: rel_b must be"):
        study.judges(doubled, rel_b=0)


def test_thresholds_at_which_a_judge_has_nothing_relevant_are_named() -> None:
    binary = {q: {d: min(g, 1) for d, g in docs.items()} for q, docs in QRELS.items()}
    table = Study("AP", QRELS, RUNS).judges(binary, n_resamples=5)
    assert table["rel"].tolist() == [1]
    assert table.attrs["left_out"] == [
        "the other judge gives no grade 2 or more",
        "the other judge gives no grade 3 or more",
    ]
    from ir_lexirecall import meta

    assert "Left out, as a judge has nothing relevant: the other judge" in meta.summary(
        table
    )
    with pytest.raises(
        ValueError, match="judges: a judge has nothing relevant at any threshold"
    ):
        Study("AP", QRELS, RUNS).judges(binary, rel_b=3)


def test_several_judges_in_one_table_have_the_rows_of_each() -> None:
    others = {"one": another_judge(0.2, 1), "two": another_judge(0.5, 2)}
    study = Study(["AP", "lexirecall"], QRELS, RUNS)
    table = study.judges(others, n_resamples=20)
    for name, qrels in others.items():
        alone = study.judges(qrels, n_resamples=20)
        rows = (
            table[table["judge"] == name].drop(columns="judge").reset_index(drop=True)
        )
        assert rows.equals(alone)
        for fact in ("confusion", "kappa_of_grades", "alpha_of_grades"):
            assert table.attrs[fact][name] == alone.attrs[fact]
        n_documents = sum(
            sum(row.values()) for row in table.attrs["confusion"][name].values()
        )
        assert n_documents == sum(map(len, QRELS.values()))
    with pytest.raises(ValueError, match="judges: judge 'none': the two sets"):
        study.judges({"one": QRELS, "none": {"q": {"a": 1}}})


def test_several_judges_are_one_picture() -> None:
    pytest.importorskip("matplotlib")
    from ir_lexirecall import meta

    table = Study("AP", QRELS, RUNS).judges(
        {"a": QRELS, "b": another_judge(0.3)}, n_resamples=5
    )
    labels = [tick.get_text() for tick in meta.plot(table).get_yticklabels()]
    assert len(labels) == len(table)
    assert labels[0].startswith("a: AP")


def test_runs_that_all_tie_have_no_order() -> None:
    """Neither tau has a value, nor a range, where a judge puts all runs level."""
    grades = {f"q{i}": {"a": 1, "b": 0, "c": 2} for i in range(6)}
    level = {run: {q: {"a": 3, "b": 2, "c": 1} for q in grades} for run in "xyz"}
    table = Study(["AP", "lexirecall"], grades, level).judges(grades, n_resamples=20)
    columns = [
        f"{tau}{end}" for tau in ("tau", "tau_ap") for end in ("", "_p05", "_p95")
    ]
    assert table[columns].isna().all(axis=None)
    assert not {"tau_low", "tau_high"} & set(table)
    apart = {**level, "x": {q: {"c": 3, "b": 2, "a": 1} for q in grades}}
    table = Study("nDCG", grades, apart).judges(grades, n_resamples=20)
    assert table[["tau", "tau_ap"]].notna().all(axis=None)


def test_a_judge_who_puts_all_level_on_the_sample_has_no_range() -> None:
    """Queries that cancel: a resample has an order, the sample has none."""
    first, second = {"a": 1, "b": 0}, {"a": 0, "b": 1}
    grades = {f"q{i}": first if i % 2 else second for i in range(6)}
    runs = {
        "x": {q: {"a": 2, "b": 1} for q in grades},
        "y": {q: {"b": 2, "a": 1} for q in grades},
    }
    row = Study("RR", grades, runs).judges(grades, n_resamples=50).iloc[0]
    columns = [
        f"{tau}{end}" for tau in ("tau", "tau_ap") for end in ("", "_p05", "_p95")
    ]
    assert row[columns].isna().all()
