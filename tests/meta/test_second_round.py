"""The second declaration on missing labels: what goes, what is counted, and how it combines."""

from __future__ import annotations

import doctest
import gzip
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from scipy import stats

from ir_lexirecall.data.alignment import align
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.meta.missing_labels import without_labels

PAPERS = Path(__file__).parents[2] / "examples" / "papers"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    pytest.importorskip("matplotlib")
    sys.path[:0] = [str(PAPERS)]
    try:
        import missing_labels  # noqa: F401
        import second_round
    finally:
        del sys.path[:1]
    return second_round


def made_up(teams: int = 10, queries: int = 12) -> tuple[Any, Any]:
    """Queries with 30 to 52 relevant of 160 documents, and a run or two of each team."""
    rng = np.random.default_rng(3)
    qrels = {
        f"q{q}": {f"d{i}": int(i < 30 + 2 * q) for i in range(160)}
        for q in range(queries)
    }
    names = [f"team{t}-{r}" for t in range(teams) for r in range(1 + t % 2)]
    runs = {
        name: {
            q: {
                f"d{i}": -float(p)
                for p, i in enumerate(np.argsort(noise(rng, n, labels))[:120])
            }
            for q, labels in qrels.items()
        }
        for n, name in enumerate(names)
    }
    return qrels, runs


def noise(rng: np.random.Generator, skill: int, labels: dict[str, int]) -> np.ndarray:
    return rng.normal(size=len(labels)) - (0.3 + 0.05 * skill) * np.array(
        list(labels.values())
    )


def systems(teams: int = 10) -> Any:
    qrels, runs = made_up(teams)
    judgments = Judgments.from_qrels(qrels)
    aligned = {name: align(judgments, run) for name, run in runs.items()}
    groups = {name: name.partition("-")[0] for name in runs}
    return sys.modules["label_loss"].Systems(
        "made up", "simulated", judgments, aligned, groups
    )


def test_wins_that_a_sign_test_needs(script: ModuleType) -> None:
    assert doctest.testmod(script).failed == 0
    for n, needed in enumerate(script.least_wins(40).tolist()):
        p = [
            stats.binomtest(k, n).pvalue if n else 1.0
            for k in range((n + 1) // 2, n + 1)
        ]
        significant = [
            k
            for k, value in zip(range((n + 1) // 2, n + 1), p, strict=True)
            if value < 0.01
        ]
        assert needed == min(significant, default=n + 1)


def test_pools_of_teams_that_were_drawn(script: ModuleType) -> None:
    some = systems()
    relevant = some.judgments.grade > 0
    teams = dict(list(script.runs_of_teams(some.groups).items())[:7])
    pools = dict(script.draw_pools(some, teams, np.random.default_rng(0)))
    drawn = [run for runs in teams.values() for run in runs]
    reached = sys.modules["label_loss"].pool_depth(some, drawn) <= 10
    assert (
        pools["all"] >= (relevant & ~reached)
    ).all()  # one run of each cannot reach more
    assert (pools["few"] >= pools["all"]).all()
    assert pools["few"].sum() > pools["all"].sum() > 0
    query = some.judgments.query
    assert (
        np.bincount(query[pools["random"]]) == np.bincount(query[pools["all"]])
    ).all()
    assert (pools["random"] != pools["all"]).any()


def test_shares_are_counted_pair_by_pair_and_query_by_query(script: ModuleType) -> None:
    some = systems()
    tester = script.Tester(some)
    rng = np.random.default_rng(1)
    removed = (some.judgments.grade > 0) & (rng.random(len(some.judgments.grade)) < 0.5)
    fewer = tester.study.with_judgments(without_labels(some.judgments, removed))
    resample = tester.draw()
    topics = script.thirds(some.judgments.m())
    pairs = len(tester.study.pairs[0])
    for label in ("AP", "lexirecall"):
        before, after = tester.before[label], tester.signs(fewer, label)
        found = script.outcomes(before, after, resample, topics)
        for topic, chosen in topics.items():
            weight = (
                resample.pair_weight[:, None]
                * (resample.query_weight[3] * chosen)[None]
            )
            kept, decided = (
                sum(
                    weight[pair, q]
                    for pair in range(pairs)
                    for q in range(12)
                    if before[pair, q] and (every or before[pair, q] == after[pair, q])
                )
                for every in (False, True)
            )
            assert found["decided", topic][3] == pytest.approx(kept / decided)
        lost = conclusions = 0.0
        for pair in range(pairs):
            earlier, later = (
                significant(
                    np.repeat(signs[pair], resample.query_weight[3].astype(int))
                )
                for signs in (before, after)
            )
            conclusions += resample.pair_weight[pair] * (earlier != 0)
            lost += resample.pair_weight[pair] * (earlier != 0 and later == 0)
        assert conclusions > 0
        assert found["lost", "all"][3] == pytest.approx(lost / conclusions)


def significant(signs: np.ndarray) -> int:
    wins, losses = int((signs > 0).sum()), int((signs < 0).sum())
    is_clear = wins + losses and stats.binomtest(wins, wins + losses).pvalue < 0.01
    return int(np.sign(wins - losses)) if is_clear else 0


def test_a_team_drawn_twice_counts_twice_and_its_own_pairs_once_each_time(
    script: ModuleType,
) -> None:
    some = systems()
    tester = script.Tester(some)
    resample = tester.draw()
    a, b = tester.study.pairs
    team = [some.groups[name] for name in tester.study.names]
    present = set(resample.teams)
    for pair in range(len(a)):
        is_there = {team[a[pair]], team[b[pair]]} <= present
        assert (resample.pair_weight[pair] > 0) == is_there
    assert resample.query_weight.sum(axis=1).tolist() == [12] * script.QUERY_DRAWS


def test_thirds_go_by_the_number_of_relevant_documents(script: ModuleType) -> None:
    topics = script.thirds(np.array([5, 1, 9, 3, 7, 2]))
    assert np.flatnonzero(topics["fewest"]).tolist() == [1, 5]
    assert np.flatnonzero(topics["most"]).tolist() == [2, 4]
    assert topics["all"].all()


def test_broken_runs_are_left_out_and_named(script: ModuleType) -> None:
    some = systems()
    qrels, runs = made_up()
    short = {
        q: dict(list(scores.items())[:50]) for q, scores in runs["team0-0"].items()
    }
    bad = {
        q: {f"x{i}": -float(i) for i in range(120)} | {"d159": -199.0} for q in qrels
    }
    for name, run in (("short", short), ("bad", bad)):
        some.runs[name] = align(some.judgments, run)
        some.groups[name] = name
    kept, broken = script.without_broken(some)
    assert broken == ["short", "bad"]
    assert set(kept.runs) == set(runs) == set(kept.groups)


@pytest.mark.parametrize(
    ("value", "low", "high", "verdict"),
    [
        (-0.05, -0.06, -0.04, "shown"),
        (-0.05, -0.09, -0.01, "holds"),
        (-0.02, -0.025, -0.015, "fails"),
        (-0.02, -0.04, -0.01, "cannot tell"),
        (0.05, 0.01, 0.09, "fails"),
        (float("nan"), float("nan"), float("nan"), "cannot tell"),
    ],
)
def test_verdicts(
    script: ModuleType, value: float, low: float, high: float, verdict: str
) -> None:
    estimate = sys.modules["label_loss"].Estimate
    less, more = (script.Contrast("decided", "few", way, 0.03) for way in (-1, 1))
    assert less.verdict(estimate(value, low, high)) == verdict
    assert more.verdict(estimate(-value, -high, -low)) == verdict


def test_few_contrasts_are_declared_with_directions(script: ModuleType) -> None:
    assert len(script.SECOND) <= 5
    assert len(set(map(str, script.SECOND))) == len(script.SECOND)
    assert all(abs(c.direction) == 1 and c.least > 0 for c in script.SECOND)


@pytest.mark.slow
def test_a_collection_is_tested(script: ModuleType) -> None:
    found = script.confirm(systems(), samples=3, blocks=10)
    assert found["sizes"] == {"samples": 3, "n_resamples": 500}
    assert all(0 < share < 1 for share in found["missing"].values())
    tested = [row for row in found["rows"] if "value" in row]
    assert len(tested) >= 3
    for row in tested:
        assert row["low"] <= row["value"] <= row["high"]
        assert 0 < row["low_error"] < 1
        assert row["variance"] > 0
    mild = [row for row in found["rows"] if "value" not in row]
    assert all("of the labels are missing, less than 20%" in row["why"] for row in mild)


def test_too_few_teams_or_labels(script: ModuleType) -> None:
    few = script.confirm(systems(9), samples=1, blocks=1)
    assert {row["why"] for row in few["rows"]} == {"there are 9 teams, fewer than 10"}
    result = script.Shares({}, {}, {"few": 0.25, "all": 0.1, "random": 0.1}, 10, 25)
    reasons = [
        script.skipped(contrast, systems(), result) for contrast in script.SECOND
    ]
    assert [bool(reason) for reason in reasons] == [False, False, False, True, False]


def test_monte_carlo_errors_shrink_with_resamples(script: ModuleType) -> None:
    rng = np.random.default_rng(0)
    few, many = (np.r_[0.0, rng.normal(size=25 * blocks)] for blocks in (40, 4000))
    (small,), (large,) = (script.monte_carlo_errors([x], 50, 25) for x in (many, few))
    assert 3 * small[0] < large[0] < 1
    assert script.monte_carlo_errors([few[:26]], 50, 25) == [(np.inf, np.inf)]


def collection(value: float, variance: float = 1e-5) -> dict[str, Any]:
    return {"rows": [{"value": value, "variance": variance}] * 5}


def test_collections_combine_by_a_random_effects_mean(script: ModuleType) -> None:
    two = {"a": collection(-0.05), "b": collection(-0.06)}
    assert {row["verdict"] for row in script.combined(two)} == {"needs 3 collections"}
    three = two | {"c": collection(-0.055)}
    row = script.combined(three)[0]
    values, half = np.array([-0.05, -0.06, -0.055]), stats.t.ppf(1 - 0.005, 2)
    half *= values.std(ddof=1) / np.sqrt(3)
    assert (row["value"], row["low"], row["high"]) == pytest.approx(
        (-0.055, -0.055 - half, -0.055 + half), abs=1e-6
    )
    assert row["verdict"] == ("shown" if -0.055 + half <= -0.03 else "holds")
    spread = two | {"c": collection(0.04)}
    assert script.combined(spread)[0]["verdict"] == "cannot tell"


@pytest.mark.slow
def test_the_command_tests_folders_and_records_them(
    script: ModuleType,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    main = sys.modules["missing_labels"]
    qrels, runs = made_up()
    folder = tmp_path / "one"
    folder.mkdir()
    lines = [f"{q} 0 {d} {g}\n" for q, of in qrels.items() for d, g in of.items()]
    (folder / "qrels.txt.gz").write_bytes(gzip.compress("".join(lines).encode()))
    ranked = [
        f"{q} Q0 {d} 0 {s} {name}\n"
        for name, run in runs.items()
        for q, scores in run.items()
        for d, s in scores.items()
    ]
    (folder / "runs.gz").write_bytes(gzip.compress("".join(ranked).encode()))
    teams = "".join(f"{name},{name.partition('-')[0]}\n" for name in runs)
    (folder / "groups.csv").write_text(f"run,group\n{teams}")
    recorded = main.RECORDED
    (tmp_path / "record.json").write_text(
        recorded.read_text(encoding="utf-8"), encoding="utf-8"
    )
    monkeypatch.setattr(main, "RECORDED", tmp_path / "record.json")
    main.main(
        ["--confirm", str(folder), "--samples", "2", "--resamples", "100", "--record"]
    )
    printed = capsys.readouterr().out
    assert "15 runs of 10 groups" in printed
    assert "needs 3 collections" in printed
    record = json.loads((tmp_path / "record.json").read_text())["second"]["one"]
    assert [row["contrast"] for row in record["rows"]] == list(map(str, script.SECOND))
    main.main([])
    assert "15 runs of 10 groups" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main.main(["--groups", "teams.csv"])
