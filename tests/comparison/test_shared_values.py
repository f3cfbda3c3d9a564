"""Values of three and more runs, some of which are missing: each pair is compared on what both have."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ir_lexirecall as irl
from ir_lexirecall import cli
from ir_lexirecall.io.values import read_values

RUNS = ("a", "b", "c", "d")
OF_THE_FAMILY = {
    "criterion",
    "p_corrected",
    "p_corrected_all",
    "verdict",
    "queries",
    "cells",
}
OF_THE_FAMILY |= {"worse_p", "better_p", "not_worse_p", "within_p"}
"""Columns of a pair whose values depend on the other pairs of the comparison."""


def values_with_gaps(n_queries: int = 30, share: float = 0.15) -> dict[str, Any]:
    """Two measures of four runs, of which some queries are missing."""
    rng = np.random.default_rng(3)
    runs: dict[str, Any] = {run: {} for run in RUNS}
    for run in RUNS:
        for query in range(n_queries):
            ap, acc = float(rng.random()), float(rng.integers(2))
            if rng.random() >= share:
                runs[run][f"q{query:02}"] = {"AP": ap, "acc": acc}
    return runs


def write_mteb(folder: Path, runs: tuple[str, ...] = RUNS) -> Path:
    """Results of MTEB where the splits and subsets of the models differ."""
    rng = np.random.default_rng(5)
    for run in RUNS:
        for task in range(12):
            cells = [(split, subset) for split in ("dev", "test") for subset in "xyz"]
            scores: dict[str, list[Any]] = {
                "test": [{"hf_subset": "all have", "main_score": 0.5}]
            }
            for split, subset in cells:
                score = float(rng.random())
                if rng.random() < 0.6:
                    entry = {"hf_subset": subset, "main_score": score}
                    scores.setdefault(split, []).append(entry)
            if run in runs:
                path = folder / run / f"T{task}.json"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(json.dumps({"task_name": f"T{task}", "scores": scores}))
    return folder


def check_same_as_alone(table: pd.DataFrame, alone: pd.DataFrame) -> None:
    """Check that the rows of a pair are those of a comparison of the pair alone."""
    assert len(table) == len(alone)
    for column in set(alone.columns) - OF_THE_FAMILY:
        assert column in table
        pd.testing.assert_series_equal(
            table[column].reset_index(drop=True), alone[column], check_exact=True
        )


@pytest.mark.sparse
@pytest.mark.parametrize("test", ["t", "sign", "wilcoxon", "randomisation"])
@pytest.mark.parametrize("baseline", [None, "b"])
def test_a_pair_is_compared_as_if_alone(test: str, baseline: str | None) -> None:
    runs = values_with_gaps()
    options: dict[str, Any] = {"by": ["AP", "acc"], "test": test, "baseline": baseline}
    if baseline is not None:
        options["margin"] = 0.05
    table = irl.compare(values=read_values(runs, missing="skip"), **options).table()
    pairs = table[["run_a", "run_b"]].drop_duplicates().to_numpy().tolist()
    assert len(pairs) == (6 if baseline is None else 3)
    assert table["queries"].nunique() > 2
    for a, b in pairs:
        rows = table[(table["run_a"] == a) & (table["run_b"] == b)]
        two = read_values(
            {run: runs[run] for run in RUNS if run in (a, b)}, missing="skip"
        )
        check_same_as_alone(rows, irl.compare(values=two, **options).table())
        assert set(rows["queries"]) == {len(set(runs[a]) & set(runs[b]))}


def test_pairs_of_mteb_are_compared_on_the_cells_that_both_have(tmp_path: Path) -> None:
    table = irl.compare(values=write_mteb(tmp_path / "all")).table()
    content = {
        (run, task): json.loads((tmp_path / "all" / run / f"T{task}.json").read_text())[
            "scores"
        ]
        for run in RUNS
        for task in range(12)
    }
    for a, b in combinations(RUNS, 2):
        rows = table[(table["run_a"] == a) & (table["run_b"] == b)]
        two = write_mteb(tmp_path / f"{a}{b}", (a, b))
        check_same_as_alone(rows, irl.compare(values=two).table())
        differences, n_cells = [], 0
        for task in range(12):
            scores = [
                {
                    (split, x["hf_subset"]): x["main_score"]
                    for split in s
                    for x in s[split]
                }
                for s in (content[a, task], content[b, task])
            ]
            both = scores[0].keys() & scores[1].keys()
            n_cells += len(both)
            means = [
                sum(of_run[cell] for cell in both) / len(both) for of_run in scores
            ]
            differences.append(means[0] - means[1])
        assert rows["difference"].item() == pytest.approx(
            np.mean(differences), abs=1e-12
        )
        assert (rows["cells"].item(), rows["queries"].item()) == (n_cells, 12)


def test_what_follows_from_pairs_takes_their_queries() -> None:
    runs = values_with_gaps()
    result = irl.compare(values=read_values(runs, missing="skip"), by="AP")
    table = result.table()
    matrix, detectable = result.matrix(), result.detectable()
    for row, (a, b) in enumerate(combinations(RUNS, 2)):
        two = irl.compare(
            values=read_values({x: runs[x] for x in (a, b)}, missing="skip"), by="AP"
        )
        assert matrix.loc[a, b] == -matrix.loc[b, a] == table["difference"][row]
        assert detectable["difference"][row] == two.detectable()["difference"][0]
        pd.testing.assert_frame_equal(result.explain(b, a), two.explain(b, a))
        against = result.with_baseline(a).table()
        assert against[against["run_a"] == b]["difference"].item() == matrix.loc[b, a]
    means = result.means()["mean"].tolist()
    common = set.intersection(*(set(of_run) for of_run in runs.values()))
    expected = [np.mean([runs[run][q]["AP"] for q in sorted(common)]) for run in RUNS]
    np.testing.assert_allclose(means, expected, rtol=1e-12)


def test_what_is_missing_is_listed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result = irl.compare(
        values=read_values(values_with_gaps(), missing="skip"), by="AP"
    )
    summary = result.summary(full=True)
    assert "lack a value of some run: left out of the means (a " in summary
    assert (
        "Each pair of runs is compared on the queries that both have, means" in summary
    )
    folder = write_mteb(tmp_path)
    assert cli.main(["compare", "--values", str(folder), "--caveats"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert (
        "cells (task, split, subset) that some run lacks are left out of the means: T0"
        in shown
    )
    assert "or in comparisons both runs of the pair." in shown


def test_cells_that_only_pairs_share(tmp_path: Path) -> None:
    """A task of which each pair of models, but not all three have a cell."""
    cells = {"a": "xy", "b": "yz", "c": "xz"}
    for run, subsets in cells.items():
        for task in ("T", "U", "V"):
            names = subsets if task == "T" else "w"
            entries = [{"hf_subset": name, "main_score": 0.5} for name in names]
            path = tmp_path / run / f"{task}.json"
            path.parent.mkdir(exist_ok=True)
            path.write_text(
                json.dumps({"task_name": task, "scores": {"test": entries}})
            )
    result = irl.compare(values=tmp_path)
    assert result.query_ids == ["U", "V"]
    assert result.table()["queries"].tolist() == [3, 3, 3]
    assert result.table()["cells"].tolist() == [3, 3, 3]


def test_a_pair_that_shares_nothing_is_an_error() -> None:
    whole = {f"q{i}": {"AP": 0.5} for i in range(6)}
    runs = {
        "a": whole,
        "b": dict(list(whole.items())[:3]),
        "c": dict(list(whole.items())[3:]),
    }
    with pytest.raises(
        ValueError, match=r"^read_values: values: no query has all values; .*leave out"
    ):
        read_values(runs, missing="skip")


@pytest.mark.parametrize("options", [{"test": "tukey"}, {"groups": "all"}])
def test_groups_and_tests_of_all_runs_take_the_queries_of_all(
    options: dict[str, Any],
) -> None:
    runs = values_with_gaps()
    table = read_values(runs, missing="skip")
    if "groups" in options:
        options = {
            "groups": {
                query: "x" if query[-1] in "01234" else "y" for query in runs["a"]
            }
        }
        options["groups"] |= dict.fromkeys(set(table.query_ids) - set(runs["a"]), "x")
    compared = irl.compare(values=table, by="AP", **options).table()
    assert "queries" not in compared
    assert set(compared["wins"] + compared["losses"] + compared["ties"]) == {
        len(table.query_ids)
    }


def test_the_share_of_missing_values_stands_beside_every_mean() -> None:
    runs = values_with_gaps()
    queries = set().union(*runs.values())
    share = {
        run: f"{1 - len(of_run) / len(queries):.1%}" for run, of_run in runs.items()
    }
    assert len(set(share.values())) > 2
    table = read_values(runs, missing="skip")
    for options in ({}, {"baseline": "b"}, {"baseline": "b", "margin": 0.1}):
        result = irl.compare(values=table, **options)
        rows = [line.split() for line in result.summary(full=True).splitlines()]
        html, markdown, latex = (
            result._repr_html_(),
            result.to_markdown(),
            result.to_latex(),
        )
        for run in RUNS:
            cells = next(c for c in rows if run in c[:2] and len(c) > 4)
            assert cells.count(share[run]) == 2  # one for each criterion
            assert html.count(f">{share[run]}<") == 2 * [*share.values()].count(
                share[run]
            )
            table_rows = [
                line.replace(" ", "").split("|") for line in markdown.splitlines()
            ]
            (row,) = (x for x in table_rows if len(x) > 5 and x[-5] == run)
            assert row[-2] == share[run]
            assert share[run].replace("%", r"\%") in latex
        assert "missing: share of the queries for which the run has no value" in str(
            result
        )
        assert "Missing: share of the queries" in markdown
        pairs = result.table()
        for side in "ab":
            expected = [table.missing_share(run) for run in pairs[f"run_{side}"]]
            assert pairs[f"missing_{side}"].tolist() == expected
    whole = {run: {"q": {"AP": 0.5}, "r": {"AP": 0.25}} for run in "abc"}
    assert "missing" not in irl.compare(values=whole).summary(full=True)


def test_over_collections_the_share_is_of_all_queries() -> None:
    first, second = values_with_gaps(20), values_with_gaps(40)
    result = irl.benchmark(values={"c1": first, "c2": second}, missing="skip")
    n_queries = sum(len(set().union(*part.values())) for part in (first, second))
    for run in RUNS:
        n_values = len(first[run]) + len(second[run])
        row = next(x for x in result.to_markdown().splitlines() if f"| {run} " in x)
        assert f" {1 - n_values / n_queries:.1%} |" in row


def test_a_task_has_the_shares_over_all_tasks(tmp_path: Path) -> None:
    folder = write_mteb(tmp_path)
    (folder / "a" / "T0.json").unlink()
    (folder / "a" / "T1.json").unlink()
    result = irl.benchmark(values=folder, missing="skip")
    means = result.means().set_index("run")["missing"]
    assert set(means["a"]) == {2 / 12}
    assert set(means["b"]) == {0.0}
    assert "1 run lacks tasks (a has 10 of 12)" in result.summary(full=True)
