"""``ir-lexirecall meta``: every study has a command of its name, which prints what the function gives."""

from __future__ import annotations

import inspect
import json
import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from command_line import Said, exit_code

from ir_lexirecall import demo
from ir_lexirecall import meta as studies
from ir_lexirecall.cli import main
from ir_lexirecall.cli import meta as commands

RUNS = ("bm25", "ql", "tfidf")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, str]]:
    """The embedded collection as files: the qrels' path and the runs' paths by name."""
    folder: Path = tmp_path_factory.mktemp("meta")
    qrels = demo.qrels()[["query_id", "doc_id", "relevance"]].groupby(["query_id", "doc_id"], as_index=False).max()
    qrels.assign(iteration=0)[["query_id", "iteration", "doc_id", "relevance"]].to_csv(
        folder / "qrels.txt", sep=" ", header=False, index=False
    )
    for name in RUNS:
        demo.run(name).assign(q0="Q0", rank=0, tag="t")[["query_id", "q0", "doc_id", "rank", "score", "tag"]].to_csv(
            folder / f"{name}.run", sep=" ", header=False, index=False
        )
    providers = pd.DataFrame({"doc_id": qrels["doc_id"].unique()})
    providers.assign(provider=providers["doc_id"].str[:3]).to_csv(folder / "providers.csv", index=False)
    return str(folder / "qrels.txt"), {name: str(folder / f"{name}.run") for name in RUNS}


Meta = Callable[..., Said]


@pytest.fixture
def meta(capsys: pytest.CaptureFixture[str], files: tuple[str, dict[str, str]]) -> Meta:
    """Calls a study; QRELS and RUNS stand for the files."""
    qrels, runs = files
    known = {"QRELS": [qrels], "RUNS": list(runs.values()), "PROVIDERS": [str(Path(qrels).parent / "providers.csv")]}

    def call(*words: str) -> Said:
        return Said(
            exit_code("meta", *(part for word in words for part in known.get(word, [word]))), *capsys.readouterr()
        )

    return call


def plain(value: Any) -> Any:
    """A cell as JSON gives it."""
    if isinstance(value, tuple):
        return [plain(part) for part in value]
    if value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value)):
        return None
    return str(value) if isinstance(value, Fraction) else value


def records(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [{name: plain(value) for name, value in row.items()} for row in table.to_dict(orient="records")]


ON_RUNS = ("QRELS", "RUNS")
CASES: dict[str, list[tuple[tuple[str, ...], Callable[[str, dict[str, str]], Any]]]] = {
    "achieved-significance": [
        (
            (*ON_RUNS, "-m", "AP", "lexirecall", "--test", "bootstrap", "--n-resamples", "100", "--seed", "3"),
            lambda q, r: studies.achieved_significance(["AP", "lexirecall"], q, r, n_resamples=100, seed=3),
        ),
    ],
    "agreement": [
        (
            (*ON_RUNS, "-m", "lexirecall", "R@10", "--rel", "2", "--cutoff", "10"),
            lambda q, r: studies.agreement(["lexirecall", "R@10"], q, r, rel=2, cutoff=10),
        ),
    ],
    "axioms": [
        (("-m", "RR", "AP", "--size", "3"), lambda q, r: studies.axioms(["RR", "AP"], size=3)),
        (
            ("-m", "RR", "--cases", "5", "--seed", "2", "--grades", "0", "2", "--size", "3"),
            lambda q, r: studies.axioms("RR", cases=5, seed=2, grades=[0, 2], size=3),
        ),
    ],
    "balancing-index": [
        (("-m", "AP", "--n", "10", "20"), lambda q, r: studies.balancing_index("AP", [10, 20])),
        (
            ("-m", "nDCG", "RBP", "--n", "10", "--method", "closed form", "--top", "3", "--lowest", "2"),
            lambda q, r: studies.balancing_index(["nDCG", "RBP"], 10, top=3, lowest=2, method="closed form"),
        ),
    ],
    "best-run-labels": [
        (
            (*ON_RUNS, "-m", "CAM(aspects={'relevance':3})@5", "--k", "5"),
            lambda q, r: studies.best_run_labels("CAM(aspects={'relevance':3})@5", q, r, k=5),
        ),
    ],
    "check": [(("-m", "RR", "--size", "3", "--cases", "5"), lambda q, r: studies.check("RR", size=3, cases=5))],
    "correlation": [
        ((*ON_RUNS, "-m", "LR AP nDCG@5"), lambda q, r: studies.correlation(["LR", "AP", "nDCG@5"], q, r)),
        (
            (*ON_RUNS, "-m", "LR", "AP", "nDCG@5", "--by", "runs"),
            lambda q, r: studies.correlation(["LR", "AP", "nDCG@5"], q, r, by="runs"),
        ),
    ],
    "degrade": [
        (
            (*ON_RUNS, "-m", "LR R@10", "--fractions", "0.5", "0.8", "--policy", "pool", "--n-samples", "2"),
            lambda q, r: studies.degrade(["LR", "R@10"], q, r, [0.5, 0.8], policy="pool", n_samples=2),
        ),
        (
            (*ON_RUNS, "-m", "LR", "--fractions", "0.5", "--n-samples", "2", "--seed", "1", "--aggregate"),
            lambda q, r: studies.degrade("LR", q, r, [0.5], n_samples=2, seed=1, aggregate=True),
        ),
    ],
    "discriminative-power": [
        (
            (*ON_RUNS, "-m", "AP lexirecall", "--n-resamples", "100", "--seed", "3", "--alpha", "0.01"),
            lambda q, r: studies.discriminative_power(["AP", "lexirecall"], q, r, n_resamples=100, seed=3, alpha=0.01),
        ),
        (
            (*ON_RUNS, "-m", "AP", "--test", "t", "--correction", "none"),
            lambda q, r: studies.discriminative_power("AP", q, r, test="t", correction=None),
        ),
    ],
    "fit": [
        (
            (*ON_RUNS, "-m", "RBP", "--target", "AP", "--parameter", "p", "--grid", "0.5", "0.8", "--by", "runs"),
            lambda q, r: studies.fit("RBP", "AP", q, r, "p", grid=[0.5, 0.8], by="runs"),
        ),
        (
            (*ON_RUNS, "-m", "nDCG", "--target", "AP", "--parameter", "cutoff", "--bounds", "5", "8"),
            lambda q, r: studies.fit("nDCG", "AP", q, r, "cutoff", bounds=(5, 8)),
        ),
    ],
    "orientation": [
        (("-m", "RR AP"), lambda q, r: studies.orientation(["RR", "AP"])),
        (("-m", "RR", "--n", "10", "20", "--m", "3"), lambda q, r: studies.orientation("RR", 3, [10, 20])),
    ],
    "partial-order": [
        (
            ("--rankings", "a=1,0,2", "b=2,0,1", "c=0,0,3"),
            lambda q, r: studies.partial_order({"a": [1, 0, 2], "b": [2, 0, 1], "c": [0, 0, 3]}),
        ),
        (
            ("--rankings", "a=1,0,2", "b=2,0,1", "--by", "set"),
            lambda q, r: studies.partial_order({"a": [1, 0, 2], "b": [2, 0, 1]}, by="set"),
        ),
    ],
    "per-query-kendall": [
        ((*ON_RUNS, "-m", "LR", "AP"), lambda q, r: studies.per_query_kendall(["LR", "AP"], q, r)),
    ],
    "properties": [((), lambda q, r: studies.properties())],
    "provider-exposure": [
        (
            (*ON_RUNS, "--providers", "PROVIDERS", "--exposure", "RBP", "--p", "0.5", "--rel", "2"),
            lambda q, r: studies.provider_exposure(
                q, r, pd.read_csv(Path(q).parent / "providers.csv"), exposure="RBP", p=0.5, rel=2
            ),
        ),
    ],
    "reachable-maximum": [
        (
            ("QRELS", "-m", "CAM(aspects={'relevance':3})"),
            lambda q, r: studies.reachable_maximum("CAM(aspects={'relevance':3})", q),
        ),
    ],
    "simulate-rankings": [
        (
            ("--n", "50", "--m", "3", "--depth", "20", "--queries", "4", "--systems", "3", "--seed", "5"),
            lambda q, r: studies.simulate_rankings(50, 3, 20, 4, 3, seed=5).table,
        ),
        (
            (
                "--n",
                "50",
                "--m",
                "3",
                "1",
                "--depth",
                "20",
                "--queries",
                "2",
                "--systems",
                "a",
                "b",
                "--quality",
                "1",
                "3",
            ),
            lambda q, r: studies.simulate_rankings(50, [3, 1], 20, 2, ["a", "b"], quality=[1.0, 3.0]).table,
        ),
    ],
    "split-half": [
        (
            (*ON_RUNS, "-m", "LR AP", "--targets", "nDCG", "--n-splits", "20", "--n-queries", "5", "--seed", "2"),
            lambda q, r: studies.split_half(["LR", "AP"], q, r, targets="nDCG", n_splits=20, n_queries=5, seed=2),
        ),
    ],
    "tie-probabilities": [
        (
            ("--n", "1000", "--m", "10", "--k", "10", "--depth", "50", "100"),
            lambda q, r: studies.tie_probabilities(1000, 10, k=10, depth=[50, 100]),
        ),
        (
            ("--n", "1000", "10000", "--m", "10", "--k", "10", "20"),
            lambda q, r: studies.tie_probabilities([1000, 10000], 10, k=[10, 20]),
        ),
    ],
    "ties": [
        (
            (*ON_RUNS, "-m", "lexirecall R@10", "--rel", "2", "--cutoff", "10"),
            lambda q, r: studies.ties(["lexirecall", "R@10"], q, r, rel=2, cutoff=10),
        ),
        ((*ON_RUNS, "-m", "R@10", "--aggregate"), lambda q, r: studies.ties("R@10", q, r, aggregate=True)),
    ],
    "unanimity": [
        (
            (*ON_RUNS, "-m", "LR AP", "--among", "RR", "R@10", "--rel", "2"),
            lambda q, r: studies.unanimity(["LR", "AP"], q, r, among=["RR", "R@10"], rel=2),
        ),
    ],
    "worst-case": [
        (
            (*ON_RUNS, "-m", "AP", "--enumerate-up-to", "3"),
            lambda q, r: studies.worst_case("AP", q, r, enumerate_up_to=3),
        ),
    ],
}


def public_functions() -> set[str]:
    return {name for name in studies.__all__ if inspect.isfunction(getattr(studies, name))} - {"plot", "summary"}


def test_every_study_has_a_command_of_its_name() -> None:
    assert {name.replace("-", "_") for name in commands.studies()} == public_functions()
    assert set(CASES) == set(commands.studies())


@pytest.mark.parametrize("name", commands.studies())
def test_options_are_the_parameters_of_the_function(name: str, meta: Meta) -> None:
    said = meta(name, "--help")
    assert said.code == 0
    known = set(commands.parameters(commands.studies()[name])) - {"progress"}
    for parameter in known:
        written = {"qrels": "QRELS", "runs": "RUN"}.get(parameter, f"--{parameter.replace('_', '-')}")
        assert written in said.out, parameter
    options = {word.strip("[],") for word in said.out.split() if word.startswith(("--", "[--"))}
    shared = {"--help", "--plot", "--format", "--places", "--wide", "--output", "--columns", "--aspect"}
    examples = said.out.partition("example:")[2]
    assert {option for option in options - shared if option not in examples} <= {
        f"--{parameter.replace('_', '-')}" for parameter in known
    }
    assert "example: ir-lexirecall meta" in said.out


@pytest.mark.parametrize(("name", "case"), [(name, i) for name, cases in CASES.items() for i in range(len(cases))])
def test_a_study_prints_what_its_function_gives(
    name: str, case: int, meta: Meta, files: tuple[str, dict[str, str]]
) -> None:
    words, expected = CASES[name][case]
    said = meta(name, *words, "--format", "json")
    assert (said.code, said.err) == (0, "")
    printed = json.loads(said.out)
    assert printed == records(expected(*files))
    assert printed


def test_the_rel_of_a_collection_is_its_own(meta: Meta, monkeypatch: pytest.MonkeyPatch) -> None:
    from ir_lexirecall.collections import Collection

    arguments = ("lexirecall/demo", "RUNS", "-m", "lexirecall", "--aggregate", "--format", "json")
    two = meta("ties", *arguments, "--rel", "2")
    assert two != meta("ties", *arguments)
    monkeypatch.setattr(Collection, "rel", 2)
    assert meta("ties", *arguments) == two


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("tie-probabilities", "--n", "10"), "--m"),
        (("tie-probabilities", "--n", "ten", "--m", "2"), "ten"),
        (("ties", *ON_RUNS), "-m/--measures"),
        (("ties", *ON_RUNS, "-m", "AP", "--n", "2"), "unrecognized arguments: --n 2"),
        (("correlation", "QRELS", "-m", "AP"), "RUN"),
        (("discriminative-power", *ON_RUNS, "-m", "AP", "--test", "foo"), "foo"),
        (("discriminative-power", *ON_RUNS, "-m", "AP", "--resamples", "2"), "--resamples"),
        (("power", *ON_RUNS, "-m", "AP"), "power"),
        (("partial-order", "--rankings", "a=1,x"), "NAME=GRADE"),
        ((), "STUDY"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else value,
)
def test_bad_usage_is_refused(words: tuple[str, ...], message: str, meta: Meta) -> None:
    said = meta(*words)
    assert (said.code, said.out) == (2, "")
    assert message in said.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("ties", *ON_RUNS, "nowhere.run", "-m", "AP"), "nowhere.run: there is no such file"),
        (("ties", *ON_RUNS, "-m", "AP", "nowhere"), "'nowhere'"),
        (("tie-probabilities", "--n", "10", "--m", "20"), "tie_probabilities"),
        (("check", "-m", "AP", "RR"), "--measure: name one measure, not 2: AP, RR"),
        (("fit", *ON_RUNS, "-m", "RBP", "--target", "AP", "--parameter", "q", "--grid", "1"), "q"),
        (("partial-order", "--rankings", "a=1", "a=2"), "--rankings: two rankings have the same name, a"),
        (("provider-exposure", *ON_RUNS, "--providers", "nowhere.csv"), "nowhere.csv"),
        (("correlation", *ON_RUNS, "-m", "AP", "LR", "--by", "foo"), "foo"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else value,
)
def test_bad_input_is_one_line(words: tuple[str, ...], message: str, meta: Meta) -> None:
    said = meta(*words)
    assert (said.code, said.out) == (1, "")
    assert said.err.startswith("ir-lexirecall: ")
    assert message in said.err
    assert len(said.err.splitlines()) == 1


def test_a_comparison_needs_two_runs(meta: Meta, files: tuple[str, dict[str, str]]) -> None:
    said = meta("discriminative-power", "QRELS", next(iter(files[1].values())), "-m", "AP")
    assert (said.code, said.out) == (1, "")
    assert "at least 2 runs" in said.err


@pytest.mark.parametrize("name", CASES)
def test_a_study_is_drawn_into_a_file(name: str, meta: Meta, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    words, _ = CASES[name][-1]
    picture = tmp_path / "study.svg"
    said = meta(name, *words, "--plot", str(picture))
    assert (said.code, said.err) == (0, "")
    assert picture.read_text().lstrip().startswith("<?xml")


def test_a_picture_that_cannot_be_written_is_an_error(meta: Meta, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    said = meta("unanimity", *ON_RUNS, "-m", "LR AP", "--plot", str(tmp_path / "none" / "x.svg"))
    assert (said.code, said.out) == (1, "")
    assert said.err == f"ir-lexirecall: {tmp_path / 'none' / 'x.svg'}: No such file or directory\n"


def test_exact_fractions_are_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    for form in ("table", "latex", "markdown", "json", "tsv", "csv"):
        assert main(["meta", "tie-probabilities", "--n", "3", "--m", "1", "--k", "2", "--format", form]) == 0
        printed = capsys.readouterr().out
        assert ("1/3" in printed) == (form in ("json", "tsv", "csv"))
        assert "0.333" in printed
