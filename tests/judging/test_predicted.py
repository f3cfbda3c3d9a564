"""Prediction-powered differences: formulas, laws, what is refused, and error rates."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import ir_lexirecall
from ir_lexirecall import benchmark, compare, gate
from ir_lexirecall.comparison import Comparison
from ir_lexirecall.data.judgments import load
from ir_lexirecall.judging.predicted import (
    human_queries,
    powered_bounds,
    powered_margin_test,
    powered_preferences,
    prediction_powered,
    with_people_alone,
)
from ir_lexirecall.significance import (
    SignificanceTest,
    margin_test,
    preference_interval,
)
from tests.simulations.judging import (
    coverage_of_values,
)

SEEDS = st.integers(0, 2**32 - 1)


def slowly(d: list[float], f: list[float], human: list[int]) -> tuple[float, float]:
    """Estimate and variance by the definition."""
    n, count = len(human), len(f)
    sampled = [f[i] for i in human]
    mean_d, mean_f = sum(d) / n, sum(sampled) / n
    covariance = sum(
        (x - mean_d) * (y - mean_f) for x, y in zip(d, sampled, strict=True)
    ) / (n - 1)
    variance_f = sum((y - mean_f) ** 2 for y in sampled) / (n - 1)
    slope = covariance / variance_f
    estimate = mean_d - slope * (mean_f - sum(f) / count)
    residuals = [
        x - mean_d - slope * (y - mean_f) for x, y in zip(d, sampled, strict=True)
    ]
    variance_d = sum((x - mean_d) ** 2 for x in d) / (n - 1)
    return estimate, (1 / n - 1 / count) * sum(r**2 for r in residuals) / (
        n - 2
    ) + variance_d / count


def drawn(
    seed: int, n: int = 12, count: int = 40
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    truth = rng.normal(0.1, 0.3, (3, count))
    human = rng.choice(count, n, replace=False)
    return truth[:, human], truth + rng.normal(0.1, 0.2, truth.shape), human


@given(seed=SEEDS)
def test_it_is_the_definition(seed: int) -> None:
    d, f, human = drawn(seed)
    result = prediction_powered(d, f, human)
    for p in range(len(d)):
        estimate, variance = slowly(d[p].tolist(), f[p].tolist(), human.tolist())
        t = stats.t.ppf(0.975, len(human) - 2)
        assert result.estimate[p] == pytest.approx(estimate, abs=1e-12)
        assert result.high[p] - result.low[p] == pytest.approx(
            2 * t * np.sqrt(variance), abs=1e-12
        )
        assert result.n_effective[p] == pytest.approx(d[p].var(ddof=1) / variance)
        assert result.rho[p] == pytest.approx(np.corrcoef(d[p], f[p, human])[0, 1])
        assert (result.p[p] <= 0.05) == (result.low[p] > 0 or result.high[p] < 0)


@pytest.mark.slow
@given(seed=SEEDS, shift=st.floats(-5, 5), scale=st.floats(0.1, 10))
def test_a_judge_that_is_biased_or_of_another_scale_changes_nothing(
    seed: int, shift: float, scale: float
) -> None:
    d, f, human = drawn(seed)
    one, other = (
        prediction_powered(d, f, human),
        prediction_powered(d, scale * f + shift, human),
    )
    np.testing.assert_allclose(one.estimate, other.estimate, atol=1e-9)
    np.testing.assert_allclose(one.p, other.p, atol=1e-7)


def test_estimates_are_those_of_ppi_python() -> None:
    ppi_py = pytest.importorskip("ppi_py")
    for seed in range(20):
        d, f, human = drawn(seed)
        for p in range(len(d)):
            slope = np.cov(d[p], f[p, human])[0, 1] / f[p, human].var(ddof=1)
            expected = ppi_py.ppi_mean_pointestimate(d[p], f[p, human], f[p], lam=slope)
            assert prediction_powered(d, f, human).estimate[p] == pytest.approx(
                expected[0], abs=1e-12
            )


def test_too_few_queries_and_queries_without_predictions_are_refused() -> None:
    with pytest.raises(
        ValueError, match="at least 10 human-judged queries are needed, not 9"
    ):
        human_queries(["a"] * 9, ["a"])
    with pytest.raises(
        ValueError,
        match=r"query 'z' is judged, but has no predicted judgments \(and 1 other case\)",
    ):
        human_queries([*"abcdefghij", "z", "y"], list("abcdefghij"))


# -- compare(predicted=) -----------------------------------------------------------------------------

QRELS = {
    q: {d: int((3 * i + j) % 4 == 0) for j, d in enumerate("abcdefgh")}
    for i, q in enumerate(map(str, range(30)))
}
PREDICTED = {
    q: {d: (g + (int(q) + ord(d)) % 5 // 4) % 2 for d, g in grades.items()}
    for q, grades in QRELS.items()
}
RUNS = {
    name: {
        q: {d: float((step * (ord(d) + i)) % 11) for d in "abcdefgh"}
        for i, q in enumerate(QRELS)
    }
    for name, step in {"x": 3, "y": 5, "z": 7}.items()
}
HUMAN = {
    q: QRELS[q]
    for q in ("1", "2", "4", "5", "8", "11", "13", "17", "19", "20", "23", "28")
}
BY = ["nDCG@5", "SL3", "lexirecall"]
GROUPS = {q: "even" if int(q) % 2 == 0 else "odd" for q in QRELS}


def test_a_comparison_with_predictions_says_what_the_formula_says() -> None:
    result = compare(HUMAN, RUNS, BY, predicted=PREDICTED)
    people, program = compare(HUMAN, RUNS, BY), compare(PREDICTED, RUNS, BY)
    place = [program.query_ids.index(q) for q in people.query_ids]
    for by in BY:
        table = result.table(by)
        for row in table.itertuples():
            if by == "lexirecall":
                d, f = (
                    c.explain(row.run_a, row.run_b, by).set_index("query_id")[
                        "preference"
                    ]
                    for c in (people, program)
                )
                d, f = (
                    x.reindex(c.query_ids).fillna(0)
                    for x, c in ((d, people), (f, program))
                )
            else:
                d, f = (
                    c.per_query(by)[row.run_a] - c.per_query(by)[row.run_b]
                    for c in (people, program)
                )
            expected = prediction_powered(
                d.to_numpy()[None], f.to_numpy()[None], np.array(place)
            )
            assert row.estimate == pytest.approx(expected.estimate[0], abs=1e-12)
            if by == "lexirecall":  # and the interval of people's queries alone
                alone = SignificanceTest("t").of_pairs(
                    d.to_numpy()[None], bounds=(-1, 1)
                )
                expected = with_people_alone(
                    expected, d.to_numpy()[None], alone, (-1, 1)
                )
            assert row.p == pytest.approx(expected.p[0], abs=1e-12)
            assert row.rho == pytest.approx(expected.rho[0], abs=1e-9)
            if by == "lexirecall":
                assert np.isnan(row.n_effective)
            else:
                assert row.n_effective == pytest.approx(
                    expected.n_effective[0], abs=1e-9
                )
            assert (row.ci_low, row.ci_high) == pytest.approx(
                (expected.low[0], expected.high[0]), abs=1e-12
            )
            assert (
                row.difference
                == row.estimate
                == result.matrix(by).loc[row.run_a, row.run_b]
            )
            assert row.difference == -result.matrix(by).loc[row.run_b, row.run_a]
    assert "predicted" not in {
        name for name, fact in people.provenance.items() if fact is not None
    }


def values_of(
    result: Comparison, runs: list[str]
) -> dict[str, dict[str, dict[str, float]]]:
    tables = {by: result.per_query(by) for by in result.criteria}
    return {
        r: {q: {by: t.loc[q, r] for by, t in tables.items()} for q in result.query_ids}
        for r in runs
    }


def test_values_from_two_judges_say_what_their_judgments_say() -> None:
    by = ["nDCG@5", "AP"]
    people, program = compare(HUMAN, RUNS, by), compare(PREDICTED, RUNS, by)
    of_program = values_of(
        program, ["z", "x", "y"]
    )  # the order of runs does not matter
    result = compare(values=values_of(people, ["x", "y", "z"]), predicted=of_program)
    expected = compare(HUMAN, RUNS, by, predicted=PREDICTED).table()
    pd.testing.assert_frame_equal(
        result.table(), expected[result.table().columns], check_exact=False, atol=1e-12
    )
    worth = r"the 12 queries that people judged, the predicted judgments of 30 queries are worth "
    assert re.search(
        worth + r"(\d+|no) more for nDCG@5 and (\d+|no) more for AP",
        result.summary(full=True),
    )
    one = compare(
        values=values_of(people, ["x", "y", "z"]),
        by="AP",
        predicted=of_program,
        baseline="y",
    )
    assert one.table()["n_effective"].notna().all()


@pytest.mark.slow
def test_intervals_of_values_from_people_and_a_program_cover() -> None:
    row = coverage_of_values(30, 200, 4000)
    assert 0.94 <= row["coverage"] <= 0.96
    assert row["width"] < 0.75 * row["people: width"]
    assert row["judge: coverage"] < 0.01
    page = (
        Path(ir_lexirecall.__file__).parent / "pt_docs" / "missing_judgments.rst"
    ).read_text()
    shown = (
        "contain the truth in {coverage:.3f} of samples and are {width:.3f} wide. "
        "Those of people alone are {people: width:.3f} wide"
    )
    said = shown.replace("{people: width", "{people").format(
        coverage=row["coverage"], width=row["width"], people=row["people: width"]
    )
    assert said in " ".join(page.split())


def judged(
    rng: np.random.Generator, samples: int, n: int, mean: float, rho: float
) -> tuple[np.ndarray, np.ndarray, float]:
    """Preferences of people on n of 200 queries, and of a biased program on all; the true mean."""
    latent = rng.normal(size=(samples, 200)) + mean
    other = (
        rho * (latent - mean)
        + np.sqrt(1 - rho**2) * rng.normal(size=latent.shape)
        + mean
        + 0.3
    )
    d, f = (np.sign(x) * (np.abs(x) > 0.3) for x in (latent, other))
    return d[:, :n], f, float(stats.norm.sf(0.3 - mean) - stats.norm.cdf(-0.3 - mean))


@pytest.mark.parametrize(("n", "mean"), [(20, 0.0), (20, 0.8), (50, 0.5)])
def test_intervals_of_predicted_preferences_cover_and_gain(n: int, mean: float) -> None:
    rng = np.random.default_rng(n)
    d, f, truth = judged(rng, 1500, n, mean, 0.8)
    human = np.arange(n)
    result, is_powered = powered_preferences(
        prediction_powered(d, f, human), d, f, human
    )
    low, high = preference_interval(d)
    holds = (result.low <= truth) & (truth <= result.high)
    assert holds[is_powered].mean() >= 0.935
    width = (result.high - result.low)[is_powered].mean()
    assert width < 0.97 * (high - low)[is_powered].mean()
    left_out = (result.low > 0) | (result.high < 0)
    np.testing.assert_array_equal((result.p <= 0.05)[is_powered], left_out[is_powered])


def test_predicted_preferences_are_those_of_residuals_with_a_win_and_a_loss() -> None:
    """By plain sums, where all queries are many."""
    rng = np.random.default_rng(3)
    d, f, _ = judged(rng, 1, 40, 0.4, 0.7)
    f = np.concatenate([f] * 4000, axis=1)
    human = np.arange(40)
    result, (is_powered,) = powered_preferences(
        prediction_powered(d, f, human), d, f, human
    )
    assert is_powered
    x, y = d[0], f[0, :40]
    slope = np.cov(x, y)[0, 1] / y.var(ddof=1)
    rest = [*(x - slope * (y - f[0].mean())), 1.0, -1.0]
    error = np.sqrt(np.sum((rest - np.mean(rest)) ** 2) / 40 / 42)
    half = stats.t.ppf(0.975, 40) * error
    assert (result.low[0], result.high[0]) == pytest.approx(
        (np.mean(rest) - half, np.mean(rest) + half), rel=1e-4
    )


def test_without_surprises_people_alone_decide() -> None:
    """A judge that is always right leaves no residuals, of which the spread could be estimated."""
    rng = np.random.default_rng(0)
    d, f, _ = judged(rng, 5, 40, 0.5, 0.8)
    f[:, :40] = d
    human = np.arange(40)
    plain = prediction_powered(d, f, human)
    for result, is_powered in (
        powered_preferences(plain, d, f, human),
        powered_preferences(plain, d[:, :19], f, np.arange(19)),
    ):
        assert not is_powered.any()
        np.testing.assert_array_equal(result.low, plain.low)


@given(seed=SEEDS, margin=st.floats(0, 0.3), sign=st.sampled_from([1, -1]))
def test_one_sided_tests_of_predictions_are_the_ends_of_their_intervals(
    seed: int, margin: float, sign: int
) -> None:
    d, f, human = drawn(seed)
    result = prediction_powered(d, f, human, alpha=0.1)
    alone = margin_test(SignificanceTest("t"), sign * d, margin, 1e-12)
    tested = powered_margin_test(result, d, alone, None, sign, margin, 1e-12)
    low, high = powered_bounds(result, d.shape[1], 0.05)
    low, high = (low, high) if sign > 0 else (-high, -low)
    for p, holds in (
        (tested.better, low > 0),
        (tested.worse, high < 0),
        (tested.not_worse, low > -margin),
        (tested.within, (low > -margin) & (high < margin)),
    ):
        np.testing.assert_array_equal(p <= 0.05, holds)
    as_preference = powered_margin_test(result, d, alone, (-1, 1), sign, margin, 1e-12)
    for name, p in vars(as_preference).items():  # those of people alone count, too
        np.testing.assert_array_equal(
            p, np.maximum(getattr(tested, name), getattr(alone, name))
        )


def test_a_margin_uses_predictions() -> None:
    table = compare(
        HUMAN, RUNS, BY, predicted=PREDICTED, baseline="x", margin=0.1
    ).table()
    plain = compare(HUMAN, RUNS, BY, predicted=PREDICTED, baseline="x").table()
    people = compare(HUMAN, RUNS, BY, baseline="x", margin=0.1).table()
    pd.testing.assert_series_equal(table["estimate"], plain["estimate"])
    columns = ["worse_p", "better_p", "not_worse_p", "within_p"]
    assert (table[columns] != people[columns]).any(axis=None)
    gated = gate(HUMAN, RUNS["x"], RUNS["y"], BY, margin=0.1, predicted=PREDICTED)
    alone = compare(
        HUMAN,
        {n: RUNS[n] for n in "xy"},
        BY,
        predicted=PREDICTED,
        baseline="x",
        margin=0.1,
    ).table()
    for name in ("estimate", "p", "not_worse_p", "n_effective"):
        np.testing.assert_array_equal(gated.table[name], alone[name])
    assert "prediction-powered" in str(gated)


def test_groups_have_the_predictions_of_their_queries() -> None:
    people = {q: QRELS[q] for q in list(QRELS)[:24]}
    result = compare(
        people, RUNS, BY, predicted=PREDICTED, groups=GROUPS, baseline="x", margin=0.1
    )
    table = result.group_table()
    for group in ("even", "odd"):
        some = {q: g for q, g in people.items() if GROUPS[q] == group}
        every = {q: g for q, g in PREDICTED.items() if GROUPS[q] == group}
        alone = compare(
            some, RUNS, BY, predicted=every, baseline="x", margin=0.1
        ).table()
        rows = table[table["group"] == group].reset_index(drop=True)
        for name in ("estimate", "ci_low", "ci_high", "p", "rho", "n_effective"):
            pd.testing.assert_series_equal(rows[name], alone[name])
    assert (
        result.table()["estimate"].tolist()
        == compare(people, RUNS, BY, predicted=PREDICTED, baseline="x")
        .table()["estimate"]
        .tolist()
    )
    by = ["nDCG@5", "AP"]
    values, more = (
        values_of(compare(qrels, RUNS, by), ["x", "y", "z"])
        for qrels in (people, PREDICTED)
    )
    of_values = compare(values=values, predicted=more, groups=GROUPS).group_table()
    of_runs = compare(
        people, RUNS, by, predicted=PREDICTED, groups=GROUPS
    ).group_table()
    np.testing.assert_allclose(of_values["estimate"], of_runs["estimate"], atol=1e-12)


def test_each_collection_of_a_benchmark_has_its_predictions() -> None:
    qrels, runs = {"one": HUMAN, "two": QRELS}, {"one": RUNS, "two": RUNS}
    result = benchmark(qrels, runs, BY, predicted={"one": PREDICTED})
    expected = compare(HUMAN, RUNS, BY, predicted=PREDICTED)
    pd.testing.assert_frame_equal(result["one"].table(), expected.table())
    assert result["two"].compared.predicted is None
    single = benchmark(load(HUMAN), RUNS, BY, predicted=PREDICTED)
    pd.testing.assert_frame_equal(next(iter(single.values())).table(), expected.table())
    for bad, said in (
        (
            {"three": PREDICTED, "one": PREDICTED},
            "predicted judgments of an unknown collection, 'three'",
        ),
        (PREDICTED, "predicted must be a mapping of collections, such as 'one'"),
        (pd.DataFrame(), "predicted must be a mapping of collections, such as 'one'"),
    ):
        with pytest.raises(ValueError, match=said):
            benchmark(qrels, runs, BY, predicted=bad)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            lambda v: {run: v[run] for run in "xy"},
            "predicted and values must have the same runs; only one of them has z",
        ),
        (
            lambda v: {r: {q: {"P@5": 0.1} for q in of_run} for r, of_run in v.items()},
            "predicted: .*no values of",
        ),
        (
            lambda v: {r: dict(list(of_run.items())[:5]) for r, of_run in v.items()},
            "has no predicted judgments",
        ),
    ],
)
def test_predicted_values_that_do_not_fit_are_refused(change: Any, said: str) -> None:
    people, program = (
        values_of(compare(qrels, RUNS, "AP"), ["x", "y", "z"])
        for qrels in (HUMAN, PREDICTED)
    )
    with pytest.raises(ValueError, match=said):
        compare(values=people, predicted=change(program))


def test_a_cost_that_is_not_compared_is_no_cost_of_predicted_values() -> None:
    people, program = (
        values_of(compare(qrels, RUNS, ["AP", "NumRet"]), ["x", "y", "z"])
        for qrels in (HUMAN, PREDICTED)
    )
    with pytest.raises(
        ValueError,
        match="predicted: smaller_is_better names 'NumRet', which is not among what is compared: AP",
    ):
        compare(values=people, predicted=program, smaller_is_better="NumRet")


@pytest.mark.parametrize("by", ["lexirecall", "rpp", "P@1"])
def test_ten_wins_out_of_ten_are_no_certainty(by: str) -> None:
    queries = [f"q{i}" for i in range(40)]
    qrels = {q: {"a": 1, "b": 0} for q in queries}
    runs = {
        name: {q: {"a": a, "b": 1.0} for q in queries}
        for name, a in {"good": 2.0, "bad": 0.0}.items()
    }
    row = (
        compare({q: qrels[q] for q in queries[:10]}, runs, by, predicted=qrels)
        .table()
        .iloc[0]
    )
    assert row["estimate"] == 1 <= row["ci_high"]
    assert 0.4 < row["ci_low"] < 0.8
    assert row["p"] == 2**-9


def test_sentences_say_what_predictions_are_worth_and_what_that_rests_on() -> None:
    text = compare(
        HUMAN, {n: RUNS[n] for n in "xy"}, "nDCG@5", predicted=QRELS
    ).summary(full=True)
    assert (
        "besides the 12 queries that people judged, the predicted judgments of 30 queries are worth 18 more."
        in text
    )
    assert "only if people's queries were drawn at random" in text
    assert "(intervals: 95%; prediction-powered t-test, p <= 0.05)" in text


@pytest.mark.parametrize(
    ("human", "predicted", "options", "said"),
    [
        (
            {q: HUMAN[q] for q in list(HUMAN)[:9]},
            PREDICTED,
            {},
            "at least 10 human-judged queries are needed, not 9",
        ),
        (
            QRELS,
            {q: g for q, g in QRELS.items() if q not in "37"},
            {},
            r"query '3' is judged, but .* \(and 1 other",
        ),
        (HUMAN, PREDICTED, {"test": "sign"}, "predicted needs the t-test, not 'sign'"),
        (
            HUMAN,
            PREDICTED,
            {"groups": GROUPS, "test": SignificanceTest(cluster=True)},
            "predicted cannot be combined with cluster=True",
        ),
        (
            HUMAN,
            PREDICTED,
            {"groups": GROUPS},
            r"fewer in even \(5\), odd \(7\): merge groups",
        ),
        (
            load(HUMAN, queries="relevant"),
            PREDICTED,
            {},
            "leave out queries='relevant'",
        ),
        (
            load(HUMAN, exclude="self"),
            PREDICTED,
            {},
            "exclude was given for the qrels, but not for predicted; load both",
        ),
        (
            load(HUMAN, judged_only=True),
            PREDICTED,
            {},
            "judged_only was given for the qrels, but not for predicted",
        ),
    ],
)
def test_what_predictions_cannot_do_is_refused(
    human: dict, predicted: dict, options: dict, said: str
) -> None:
    with pytest.raises(ValueError, match=f"^compare: .*{said}"):
        compare(human, RUNS, "nDCG@5", predicted=predicted, **options)
    assert (
        compare(HUMAN, RUNS, "AP", predicted=PREDICTED)
        .with_baseline("y")
        .table()["n_effective"]
        .notna()
        .all()
    )
    with pytest.raises(ValueError, match=r"with_test: .*not 'sign'"):
        compare(HUMAN, RUNS, "AP", predicted=PREDICTED).with_test("sign")


# -- intervals --------------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.05, 0.0015, 0.0005])
def test_an_interval_leaves_out_0_only_where_p_rejects(alpha: float) -> None:
    d = np.r_[np.full(9, 1.0), 0.999][None]
    f = np.zeros((1, 40))
    result = prediction_powered(d, f, np.arange(10), alpha=alpha)
    assert ((result.low > 0) | (result.high < 0)).tolist() == (
        result.p <= alpha
    ).tolist()


def test_few_queries_of_a_group_are_a_caveat() -> None:
    runs = {
        name: {f"q{i}": {"a": 1.0, "b": 2.0 - (i % k == 0)} for i in range(60)}
        for name, k in (("one", 2), ("two", 3))
    }
    qrels = {f"q{i}": {"a": 1} for i in range(60)}
    human = {q: qrels[q] for q in list(qrels)[:30]}
    groups = {q: f"group {i % 2}" for i, q in enumerate(qrels)}
    result = compare(human, runs, "RR", predicted=qrels, groups=groups)
    assert any(
        "15 queries of a group judged by people" in note for note in result.diagnostics
    )
