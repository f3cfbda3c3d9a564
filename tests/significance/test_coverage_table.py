"""The table of coverage: every part of it runs, and the stored one has no row that is off."""

from __future__ import annotations

import csv
import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import ir_lexirecall as irl
from ir_lexirecall import demo, meta
from ir_lexirecall.comparison import Comparison
from tests.simulations import coverage, real_runs
from tests.simulations.groups import clusters
from tests.simulations.seeds import seeds
from tests.simulations.verdicts import criteria

STORED = Path(irl.__file__).parent / "pt_docs" / "coverage_table.txt"


CLAIM = re.compile(
    r"(.+_)?(low|high|p|verdict|may_be_best|differ|better_on_at_least|e|e_corrected)|p_.+"
)
"""Columns of intervals, of p and e, and of verdicts."""
TESTS = [
    f"{test}: interval"
    for test in ("t", "sign", "wilcoxon", "bootstrap", "randomisation")
]
TESTED = [
    *TESTS,
    "tukey: intervals of all pairs",
    "signs of groups: interval",
    "bootstrap of groups: interval",
]
TESTED += ["prediction-powered difference", "prediction-powered preference"]
"""Of p, as well: an interval leaves out 0 exactly where p <= alpha."""
FAMILIES = ["t with Holm: any pair", "tukey: any pair"]
MEANS = ["mean of a measure", "mean preference"]
SAME = ["differences are the same in all parts (groups, collections)"]
MARGIN = {"worse_p": ["gate: worse by any measure"], "within_p": ["within margin"]}
MARGIN["better_p"] = ["with a margin: any better|t: better, worse, not worse"]
MARGIN["not_worse_p"] = ["not worse|t: better, worse, not worse"]
GROUPS = ["in groups of queries: any better or worse"]
LABELS = {
    "agreement": "missing labels: agreement",
    "p": "missing labels: p of a contrast",
}
PRINTED: dict[str, dict[str, list[str]]] = {
    "table": {
        "ci": TESTED,
        "p": TESTED,
        "effect": ["effect size d_z"],
        "p_corrected": FAMILIES,
        "verdict": FAMILIES,
        "bound": MARGIN["not_worse_p"],  # inverts the one-sided tests
        **MARGIN,
    },
    "means": {"ci": MEANS},
    "verdicts": dict.fromkeys(["p_corrected", "p_of_verdict", "verdict"], FAMILIES),
    "best_set": {
        key: ["best set: the best run is kept"]
        for key in ["p_not_beaten", "may_be_best"]
    },
    "group_means": {"ci": MEANS},
    "group_table": {
        "ci": TESTS,
        "p": TESTS,
        "effect": ["effect size d_z"],
        **dict.fromkeys(["p_corrected", "verdict", "bound", *MARGIN], GROUPS),
    },
    "group_differences": {"p": SAME, "p_corrected": SAME, "differ": SAME},
    "queries_needed": {"ci": ["queries needed"]},
    "queries_for_margin": {"ci": ["queries for a margin"]},
    "detectable": {"ci": ["detectable difference"]},
    "bounds": {
        "ci": ["bounds of judgments: interval"],
        "": [],
    },  # low, high: no sample, but every judging
    "sequential": {
        key: ["sequential sign test"] for key in ["verdict", "e", "e_corrected"]
    },
    "overall": {
        "ci": ["macro mean"],
        **{
            key: ["macro difference"]
            for key in ["difference", "p", "p_corrected", "verdict"]
        },
        "rank": ["rank intervals: true ranks of all runs"],
        "effect": ["random effects: mean"],
        "next": ["random effects: next collection"],
        "p_heterogeneity": SAME,
    },
    "by_collection": {
        "ci": TESTS,
        "p": TESTS,
        "effect": ["effect size d_z"],
        **{key: ["colours per collection: any"] for key in ["p_corrected", "verdict"]},
    },
    "replicated": {
        key: ["better on at least: one too many, any rival"]
        for key in ["better_on_at_least", "p_1", "p_2"]
    },
    "friedman": {
        "p": ["Friedman: p at most 0.05"],
        "p_pairs": ["Nemenyi: any pair"],
        "p_wilcoxon": ["Wilcoxon with Holm: any pair"],
    },
    "judges": {},  # whose columns of resampled tau are no interval of the true one
    "stability": {
        "ci": [LABELS["agreement"]],
        "decided": [LABELS["agreement"]],
        "p": [LABELS["p"]],
    },
    "achieved_significance": {"p": TESTS, "p_corrected": FAMILIES},
}
"""What tables print, by the beginnings of the columns' names, and the statements of the rows that say how often it is right (symmetric|real)."""


@cache
def printed() -> dict[str, list[str]]:
    """The columns of all tables that print an interval, a p or a verdict."""
    qrels, runs = demo.qrels(), demo.runs()
    groups = {f"q{i:02}": "first" if i <= 8 else "second" for i in range(1, 17)}
    beside = irl.compare(qrels, runs, "AP", baseline="bm25", margin=0.02, groups=groups)
    both = irl.benchmark(
        {"a": qrels, "b": qrels}, {"a": runs, "b": runs}, "AP", baseline="bm25"
    )
    study = meta.Study(["AP", "RR"], qrels, runs)
    tables: dict[str, pd.DataFrame] = {
        name: getattr(beside, name)()
        for name in [
            "table",
            "means",
            "verdicts",
            "best_set",
            "group_means",
            "group_table",
            "group_differences",
            "bounds",
        ]
    }
    tables |= {
        "queries_needed": beside.queries_needed(0.05),
        "queries_for_margin": beside.queries_for_margin(0.05),
        "detectable": beside.detectable(),
        "sequential": irl.compare(qrels, runs, "AP").sequential(),
        "overall": both.overall("collections"),
        "by_collection": both.by_collection(),
        "replicated": both.replicated(),
        "friedman": pd.DataFrame(columns=[*both.friedman()]),
        "judges": study.judges(qrels),
        "stability": study.stability(n_resamples=10),
        "achieved_significance": study.achieved_significance(test="t"),
    }
    return {
        name: [column for column in table if CLAIM.fullmatch(column)]
        for name, table in tables.items()
    }


@pytest.mark.sparse
@pytest.mark.parametrize("table", PRINTED)
def test_whatever_tables_print_has_a_row_of_symmetric_and_of_real_differences(
    table: str,
) -> None:
    ends = {re.sub(r"_?(low|high|from|to)$", "", column) for column in printed()[table]}
    assert ends == set(PRINTED[table])
    for statement in {
        statement for statements in PRINTED[table].values() for statement in statements
    }:
        symmetric, _, real = statement.partition("|")
        rows = [(row[0], "real" in row[1]) for row in stored_rows()]
        assert (symmetric, False) in rows
        assert (real or symmetric, True) in rows or symmetric in LABELS.values()


def stored_rows() -> list[list[str]]:
    """The rows below the head of the table in the documentation."""
    return list(
        csv.reader(
            line.strip() for line in STORED.read_text(encoding="utf-8").splitlines()[4:]
        )
    )


@pytest.mark.slow_except("tests")
@pytest.mark.parametrize(
    "simulate", coverage.TABLE, ids=lambda function: function.__name__
)
def test_every_row_is_a_share_of_a_statement_that_the_table_has(simulate) -> None:
    if simulate in real_runs.REAL and not real_runs.DATA.exists():
        pytest.skip(f"no real runs at {real_runs.DATA}")
    rows = [*simulate(10, np.random.default_rng(0))]
    stored = {tuple(row[:3]) for row in stored_rows()}
    assert rows
    for row in rows:
        assert 0 <= row.share <= 1
        assert row.level in (
            (0.8,) if row.reached else (coverage.ALPHA, 1 - coverage.ALPHA)
        )
        assert (row.statement, row.setting, f"{row.level:.2f}") in stored


OTHER_SAMPLES = {
    coverage.tests: 1000,
    coverage.families: 200,
    coverage.margins: 1000,
    coverage.means: 1000,
}
OTHER_SAMPLES |= {
    coverage.effects: 1000,
    clusters: 200,
    coverage.best: 50,
    coverage.many_collections: 150,
}
OTHER_SAMPLES |= {
    coverage.replicability: 200,
    coverage.missing_judgments: 500,
    coverage.parts: 500,
}
OTHER_SAMPLES |= {coverage.few_units: 100, coverage.predicted_values: 1000}
OTHER_SAMPLES |= {seeds: 100, criteria: 200}


@pytest.mark.slow_except("families")
@pytest.mark.parametrize(
    "simulate", OTHER_SAMPLES, ids=lambda function: function.__name__
)
def test_other_samples_say_what_is_stored(simulate) -> None:
    """A test that rejects, or an interval that holds, more or less often than when the table was made is another one."""
    stored = {(row[0], row[1]): float(row[3]) for row in stored_rows()}
    for row in simulate(OTHER_SAMPLES[simulate], np.random.default_rng(2)):
        share = stored[row.statement, row.setting]
        deviation = np.sqrt(
            np.clip(share * (1 - share), 0.01, None) * (1 / row.samples + 1 / 1000)
        )
        assert row.share == pytest.approx(share, abs=4 * deviation), (
            row.statement,
            row.setting,
        )


def test_a_stored_row_that_is_off_says_what_to_do_instead() -> None:
    remarks = [row[5] for row in stored_rows()]
    assert len(remarks) > 200
    assert not {"off", "off for some pairs", "conservative: unexplained"} & set(remarks)


def test_rows_that_are_off_say_so() -> None:
    """1,000 intervals, of which 93 in 100 hold the truth; and verdicts, of which 7 in 100 are false."""
    holds = np.arange(1000) % 100 < 93
    assert coverage.covers("mean", "x", holds).remark == "off"
    assert (
        coverage.covers("mean", "x", holds | True).remark == "conservative: unexplained"
    )
    assert (
        coverage.covers("mean", "x", holds | True, "few queries").remark
        == "conservative: few queries"
    )
    assert coverage.false("worse", "x", ~holds).remark == "off"
    assert (
        replace(coverage.covers("mean", "x", holds), instead="take more").remark
        == "off: take more"
    )
    fine = coverage.covers("mean", "x", np.arange(1000) % 100 < 95)
    assert (fine.remark, replace(fine, worst=0.91).remark) == ("", "")
    assert (
        replace(fine, worst=0.9, instead="take more").remark
        == "off for some pairs: take more"
    )
    assert coverage.Row("power", "x", 0.8, 0.97, 1000, reached=True).remark == ""
    assert coverage.false("worse", "x", np.arange(1000) % 100 < 6).remark == ""


@pytest.mark.parametrize(
    ("shares", "worst", "remarks"),
    [
        ([0.90, 0.92, 0.95], None, ["off: take more queries"] * 2 + [""]),
        (
            [0.90, 0.92],
            None,
            ["off: take more queries", "off: more queries were not measured"],
        ),
        ([0.92, 0.90], None, ["off: more queries do not help"] * 2),
        ([0.92], None, ["off: more queries were not measured"]),
        (
            [0.95] * 3,
            [0.89, 0.86, 0.92],
            [
                "off for some pairs: take 48 queries or more",
                "off for some pairs: take more queries",
                "",
            ],
        ),
    ],
)
def test_advice_to_take_more_queries_follows_the_rows(
    tmp_path: Path, shares: list[float], worst: list[float] | None, remarks: list[str]
) -> None:
    rows = [
        replace(
            coverage.covers("interval", f"CLEF, {12 * 2**i} of 500 queries", [share]),
            samples=2000,
            worst=None if worst is None else worst[i],
            instead="take more queries",
        )
        for i, share in enumerate(shares)
    ]
    text = coverage.page(rows)
    printed_rows = csv.reader(line.strip() for line in text.splitlines()[4:])
    assert [row[5] for row in printed_rows] == remarks
    page = tmp_path / "table.txt"
    page.write_text(text)
    assert coverage.page([], page) == text


def test_texts_give_the_shares_of_the_table() -> None:
    shares = {(row[0], row[1]): float(row[3]) for row in stored_rows()}
    of_any = [shares[key] for key in shares if key[0].startswith("family criterion")]
    page = (STORED.parent / "testing.rst").read_text(encoding="utf-8")
    for text in (page, irl.SignificanceTest.__doc__ or ""):
        _, _, rest = " ".join(text.split()).partition(
            "differ significantly by at least one of"
        )
        low, high = map(float, re.findall(r"0\.\d\d", rest)[:2])
        assert low - 0.005 <= min(of_any)
        assert max(of_any) <= high + 0.005
    kept = re.findall(r"0\.\d\d", Comparison.best_set.__doc__ or "")[:2]
    for said, n_queries in zip(kept, (10, 25), strict=True):
        setting = "6 runs, the best one gains 0.8 on a tenth of the queries"
        row = "best set: the best run is kept", f"1 x {n_queries} queries, {setting}"
        assert shares[row] == pytest.approx(float(said), abs=0.0051)


def test_the_stored_advice_follows_the_stored_rows() -> None:
    assert coverage.page([], STORED) == STORED.read_text(encoding="utf-8")


def test_the_program_fails_where_a_row_is_off(monkeypatch, tmp_path, capsys) -> None:
    def lies(samples, rng):
        yield coverage.covers("mean", "always wrong", np.zeros(samples))

    page = tmp_path / "table.txt"
    monkeypatch.setattr(coverage, "TABLE", [lies])
    monkeypatch.setattr("sys.argv", ["coverage", "--samples", "7", "--page", str(page)])
    assert coverage.main() == 1
    assert "always wrong" in capsys.readouterr().out
    assert page.read_text().endswith("\n   mean,always wrong,0.95,0.000,,off\n")


def test_a_run_that_was_stopped_goes_on_where_it_was(
    monkeypatch, tmp_path, capsys
) -> None:
    measured = []

    def first(samples, rng):
        measured.append("first")
        yield coverage.covers("mean", "first", rng.random(samples) < 2)

    def second(samples, rng):
        measured.append("second")
        if len(measured) == 2:
            raise KeyboardInterrupt
        yield replace(
            coverage.covers("mean", "second", np.ones(samples), "few"), worst=0.9
        )

    page, records = tmp_path / "table.txt", tmp_path / "records"
    command = [
        "coverage",
        "--samples",
        "7",
        "--page",
        str(page),
        "--records",
        str(records),
    ]
    monkeypatch.setattr(coverage, "TABLE", [first, second])
    monkeypatch.setattr("sys.argv", command)
    with pytest.raises(KeyboardInterrupt):
        coverage.main()
    coverage.main()
    text = page.read_text()
    assert measured == ["first", "second", "second"]
    assert "mean,first,0.95,1.000,," in text
    coverage.main()
    assert page.read_text() == text
    assert measured == ["first", "second", "second"]
    monkeypatch.setattr("sys.argv", [*command, "--samples", "8"])
    coverage.main()
    assert measured[3:] == ["first", "second"]
