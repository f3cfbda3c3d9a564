"""``ir-lexirecall meta``: what the sub-commands print is what the functions give."""

from __future__ import annotations

import argparse
import json
from fractions import Fraction
from pathlib import Path

import pandas as pd
import pytest

from ir_lexirecall import cli, cli_meta, demo
from ir_lexirecall import meta as studies
from ir_lexirecall.meta.relations import correlation, per_topic_kendall, unanimity
from ir_lexirecall.meta.sensitivity import achieved_significance, discriminative_power
from ir_lexirecall.meta.stability import degrade
from ir_lexirecall.meta.study import Study


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The embedded collection as files: the qrels' path and the runs' paths by name."""
    folder: Path = tmp_path_factory.mktemp("meta")
    qrels = demo.qrels()[["query_id", "doc_id", "relevance"]].groupby(["query_id", "doc_id"], as_index=False).max()
    qrels.assign(iteration=0)[["query_id", "iteration", "doc_id", "relevance"]].to_csv(
        folder / "qrels.txt", sep=" ", header=False, index=False
    )
    for name, run in demo.runs().items():
        run.assign(q0="Q0", rank=0, tag="t")[["query_id", "q0", "doc_id", "rank", "score", "tag"]].to_csv(
            folder / f"{name}.run", sep=" ", header=False, index=False
        )
    return str(folder / "qrels.txt"), {name: str(folder / f"{name}.run") for name in demo.runs()}


@pytest.fixture
def meta(capsys):
    """Calls the command; returns what it printed as JSON, as a table."""
    parser = argparse.ArgumentParser()
    cli_meta.add(parser.add_subparsers(required=True), cli._add_qrels, cli._add_output)

    def call(*arguments):
        options = parser.parse_args(["meta", *arguments, "--format", "json"])
        assert options.command(options) is None
        return pd.DataFrame(json.loads(capsys.readouterr().out))

    return call


def same(printed, study):
    pd.testing.assert_frame_equal(printed, pd.DataFrame(study), check_dtype=False, check_categorical=False)


def test_power(meta, files):
    qrels, runs = files
    options = ("--test", "bootstrap", "--resamples", "100", "--seed", "3", "--alpha", "0.01")
    expected = {"test": "bootstrap", "n_resamples": 100, "seed": 3, "alpha": 0.01}
    printed = meta("power", qrels, *runs.values(), "-m", "AP lexirecall", *options)
    same(printed, discriminative_power(["AP", "lexirecall"], qrels, runs, **expected))
    printed = meta("power", qrels, *runs.values(), "-m", "AP lexirecall", *options, "--curve")
    same(printed, achieved_significance(["AP", "lexirecall"], qrels, runs, **expected))


def test_degrade(meta, files):
    qrels, runs = files
    arguments = (
        qrels,
        *runs.values(),
        "-m",
        "LR R@10",
        "--fractions",
        "0.5",
        "0.8",
        "--policy",
        "pool",
        "--samples",
        "2",
    )
    expected = degrade(["LR", "R@10"], qrels, runs, [0.5, 0.8], "pool", 2)
    same(meta("degrade", *arguments, "--each"), expected)
    means = meta("degrade", *arguments).set_index(["measure", "fraction"])
    for key, rows in expected.groupby(["measure", "fraction"]):
        assert means.loc[key, "agreement"] == pytest.approx(rows["agreement"].mean())
        assert means.loc[key, "ties"] == pytest.approx(rows["ties"].mean())


@pytest.mark.parametrize("by", ["scores", "systems", "topics"])
def test_correlate(meta, files, by):
    qrels, runs = files
    printed = meta("correlate", qrels, *runs.values(), "-m", "LR AP nDCG@5", "--by", by)
    measures = ["LR", "AP", "nDCG@5"]
    expected = per_topic_kendall(measures, qrels, runs) if by == "topics" else correlation(measures, qrels, runs, by=by)
    same(printed, expected)


def test_unanimity(meta, files):
    qrels, runs = files
    printed = meta("unanimity", qrels, *runs.values(), "-m", "LR AP", "--among", "RR R@10", "--rel", "2")
    same(printed, unanimity(["LR", "AP"], qrels, runs, among=["RR", "R@10"], rel=2))


def test_ties_and_agreement_on_runs(meta, files):
    qrels, runs = files
    arguments = (qrels, *runs.values(), "-m", "lexirecall R@10", "--rel", "2", "--cutoff", "10")
    by_query = studies.ties(["lexirecall", "R@10"], qrels, runs, rel=2, cutoff=10)
    same(meta("ties", *arguments, "--by-query"), by_query)
    for row in meta("ties", *arguments).itertuples():
        own = by_query[by_query["measure"] == row.measure]
        assert (row.pairs, row.ties) == (own["pairs"].sum(), own["ties"].sum())
        assert row.share == row.ties / row.pairs
    same(meta("agreement", *arguments), studies.agreement(["lexirecall", "R@10"], qrels, runs, rel=2, cutoff=10))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--documents", "10"], "--documents and --relevant"),
        (["--documents", "10", "--relevant", "2", "-m", "AP"], "QRELS, RUNs and measures"),
        (["QRELS", "RUN", "RUN", "-m", "AP", "--relevant", "2"], "without QRELS"),
        (["QRELS", "RUN", "RUN"], "name measures with -m"),
        (["--documents", "10", "--relevant", "2", "--cutoff", "3"], "--cutoff is about runs"),
        (["--documents", "10", "--relevant", "2", "--by-query"], "--by-query is about runs"),
        (["QRELS", "-m", "AP"], "at least 2 runs"),
    ],
)
def test_ties_are_of_runs_or_of_random_rankings(meta, files, arguments, message):
    qrels, runs = files
    paths = iter(runs.values())
    words = [qrels if word == "QRELS" else next(paths) if word == "RUN" else word for word in arguments]
    with pytest.raises(ValueError, match=message):
        meta("ties", *words)


def test_a_study_is_drawn_into_a_file(meta, files, tmp_path):
    pytest.importorskip("matplotlib")
    qrels, runs = files
    for name, *options in (
        ["ties"],
        ["agreement"],
        ["correlate"],
        ["power", "--test", "t"],
        ["degrade", "--samples", "1"],
        ["unanimity"],
    ):
        picture = tmp_path / f"{name}.svg"
        meta(name, qrels, *runs.values(), "-m", "LR AP", "--plot", str(picture), *options)
        assert picture.read_text().lstrip().startswith("<?xml")


def test_a_picture_that_cannot_be_written_is_an_error(meta, files, tmp_path):
    pytest.importorskip("matplotlib")
    qrels, runs = files
    with pytest.raises(ValueError, match="--plot"):
        meta("unanimity", qrels, *runs.values(), "-m", "LR AP", "--plot", str(tmp_path / "none" / "x.svg"))


def test_bad_usage_is_refused(meta, files):
    qrels, runs = files
    for arguments in (("power", qrels, *runs.values()), ("nothing",), ("correlate", qrels, "-m", "AP")):
        with pytest.raises(SystemExit):
            meta(*arguments)
    with pytest.raises(ValueError, match="at least 2 runs"):
        meta("power", qrels, next(iter(runs.values())), "-m", "AP")


def test_studies_without_runs(meta):
    same(meta("axioms", "-m", "RR"), studies.axioms("RR"))
    same(meta("orientation", "-m", "RR AP"), studies.orientation(["RR", "AP"]))
    options = ("--cases", "5", "--seed", "2", "--grades", "0", "2", "--size", "3")
    same(meta("axioms", "-m", "RR", *options), studies.axioms("RR", cases=5, seed=2, grades=[0, 2], size=3))
    same(
        meta("orientation", "-m", "RR", "--documents", "10", "20", "--relevant", "3"),
        studies.orientation("RR", 3, [10, 20]),
    )
    printed = meta("ties", "--documents", "1000", "10000", "--relevant", "10", "--cutoffs", "10", "20")
    expected = studies.tie_probabilities([1000, 10000], 10, k=[10, 20])
    assert printed["measure"].tolist() == expected["measure"].tolist()
    assert printed["probability"].tolist() == expected["probability"].tolist()


def test_exact_fractions_are_text_for_machines_and_left_out_for_readers(capsys):
    pytest.importorskip("tabulate")
    exact = [Fraction(1, 3), Fraction(10**30, 10**30 + 1)]
    study = Study.of(pd.DataFrame({"n": [1, 2], "probability": [1 / 3, 1.0], "exact": exact}), lambda _, ax: ax)
    for form in cli.FORMATS:
        cli_meta._show(study, argparse.Namespace(format=form, places=None, plot=None))
        printed = capsys.readouterr().out
        assert ("1/3" in printed) == (form in ("json", "tsv"))
        assert "0.333" in printed
    assert study["exact"].tolist() == exact
