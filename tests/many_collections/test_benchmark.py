"""``benchmark``: from a collection's id and runs to an answer."""

from __future__ import annotations

import pytest

import ir_lexirecall as irl
from ir_lexirecall import demo

RUNS = demo.runs()


@pytest.mark.parametrize("dataset", ["lexirecall/demo", irl.load("lexirecall/demo")])
def test_a_collection_recommends_its_measures(dataset: object) -> None:
    result = irl.benchmark(dataset, {"ql": RUNS["ql"]})
    recommended = [str(measure) for measure in irl.load("lexirecall/demo").recommended()]
    assert result.criteria == [*recommended, "lexirecall"]


def test_the_command_line_says_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    from ir_lexirecall.cli import main

    files = [str(demo.FOLDER / "runs" / f"{name}.run") for name in RUNS]
    assert main(["eval", "lexirecall/demo", *files, "--format", "tsv"]) == 0
    header, *rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    means = irl.benchmark("lexirecall/demo", RUNS).means().pivot(index="run", columns="criterion", values="mean")
    assert {row[0]: [float(cell) for cell in row[1:]] for row in rows} == {
        n: means.loc[n, header[1:]].tolist() for n in RUNS
    }


def test_an_unknown_collection_is_named() -> None:
    with pytest.raises(ValueError, match="no/such"):
        irl.benchmark("no/such", RUNS)


def test_qrels_without_an_id_need_measures() -> None:
    with pytest.raises(ValueError, match="name the measures"):
        irl.benchmark(demo.qrels(), RUNS)


@pytest.mark.parametrize("test", ["sign", "t", "wilcoxon", "bootstrap", "randomisation", "tukey"])
def test_infinite_values_are_not_tested_but_named(test: str) -> None:
    result = irl.benchmark("lexirecall/demo", RUNS, ["AP", "SL3"], test=irl.SignificanceTest(test, n_resamples=99))
    for table in (result.table, lambda: result.best_set("SL3")):
        with pytest.raises(ValueError, match=r"SL3 is infinite for run .* on query .* give (it )?n"):
            table()
    assert "Left out, as not every value is a finite number: SL3." in result.summary()
