"""``ir-lexirecall meta``: a command prints what the function of its name gives."""

from __future__ import annotations

import inspect
import json
import math
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from command_line import Said, exit_code

from ir_lexirecall import SignificanceTest, demo
from ir_lexirecall import meta as studies
from ir_lexirecall.cli import main
from ir_lexirecall.cli import meta as commands
from ir_lexirecall.cli.arguments import JUDGMENTS

pytestmark = pytest.mark.sparse

RUNS = ("bm25", "ql", "tfidf")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, str]]:
    """The embedded collection as files: the qrels' path and the runs' paths by name."""
    folder: Path = tmp_path_factory.mktemp("meta")
    qrels = (
        demo.qrels()[["query_id", "doc_id", "relevance"]]
        .groupby(["query_id", "doc_id"], as_index=False)
        .max()
    )
    qrels.assign(iteration=0)[["query_id", "iteration", "doc_id", "relevance"]].to_csv(
        folder / "qrels.txt", sep=" ", header=False, index=False
    )
    for name in RUNS:
        demo.run(name).assign(q0="Q0", rank=0, tag="t")[
            ["query_id", "q0", "doc_id", "rank", "score", "tag"]
        ].to_csv(folder / f"{name}.run", sep=" ", header=False, index=False)
    return str(folder / "qrels.txt"), {
        name: str(folder / f"{name}.run") for name in RUNS
    }


Meta = Callable[..., Said]


@pytest.fixture
def meta(capsys: pytest.CaptureFixture[str], files: tuple[str, dict[str, str]]) -> Meta:
    """Calls a study; QRELS and RUNS stand for the files."""
    qrels, runs = files
    known = {
        "QRELS": [qrels],
        "RUNS": list(runs.values()),
        "GROUPS": [f"{name}={name}" for name in runs],
    }

    def call(*words: str) -> Said:
        return Said(
            exit_code(
                "meta", *(part for word in words for part in known.get(word, [word]))
            ),
            *capsys.readouterr(),
        )

    return call


def plain(value: Any) -> Any:
    """A cell as JSON gives it."""
    if isinstance(value, tuple):
        return [plain(part) for part in value]
    if (
        value is None
        or value is pd.NA
        or (isinstance(value, float) and math.isnan(value))
    ):
        return None
    return str(value) if isinstance(value, Fraction) else value


def records(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [
        {name: plain(value) for name, value in row.items()}
        for row in table.to_dict(orient="records")
    ]


ON_RUNS = ("QRELS", "RUNS")
CASES: dict[str, list[tuple[tuple[str, ...], Callable[[str, dict[str, str]], Any]]]] = {
    "agreement": [
        (
            (*ON_RUNS, "-m", "lexirecall", "R@10", "--rel", "2", "--cutoff", "10"),
            lambda q, r: studies.Study(
                ["lexirecall@10", "R@10"], q, r, rel=2
            ).agreement(),
        )
    ],
    "axioms": [
        (
            (
                "-m",
                "RR",
                "--cases",
                "5",
                "--seed",
                "2",
                "--grades",
                "0",
                "2",
                "--size",
                "3",
            ),
            lambda q, r: studies.axioms("RR", cases=5, seed=2, grades=[0, 2], size=3),
        ),
    ],
    "correlation": [
        (
            (*ON_RUNS, "-m", "LR", "AP", "nDCG@5", "--by", "runs"),
            lambda q, r: studies.Study(["LR", "AP", "nDCG@5"], q, r).correlation(
                by="runs"
            ),
        ),
    ],
    "degrade": [
        (
            (
                *(*ON_RUNS, "-m", "LR", "--fractions", "0.5", "0.8"),
                *("--policy", "pool", "--n-samples", "2", "--seed", "1", "--aggregate"),
            ),
            lambda q, r: studies.Study("LR", q, r).degrade(
                [0.5, 0.8], policy="pool", n_samples=2, seed=1, aggregate=True
            ),
        ),
    ],
    "discriminative-power": [
        (
            (
                *ON_RUNS,
                "-m",
                "AP lexirecall",
                "--n-resamples",
                "100",
                "--seed",
                "3",
                "--alpha",
                "0.01",
            ),
            lambda q, r: studies.Study(["AP", "lexirecall"], q, r).discriminative_power(
                test=SignificanceTest(
                    "bootstrap", correction=None, alpha=0.01, n_resamples=100, seed=3
                )
            ),
        ),
    ],
    "interval-scale": [
        (("-m", "P@5", "--n", "3"), lambda q, r: studies.interval_scale("P@5", 3)),
        (
            ("-m", "P@5", "--n", "3", "--m", "2", "--order", "relevant"),
            lambda q, r: studies.interval_scale("P@5", 3, 2, order="relevant"),
        ),
    ],
    "judges": [
        (
            (
                *ON_RUNS,
                "-m",
                "AP lexirecall",
                "--qrels-b",
                *ON_RUNS[:1],
                "--n-resamples",
                "50",
                "--correction",
                "none",
            ),
            lambda q, r: studies.Study(["AP", "lexirecall"], q, r).judges(
                q, n_resamples=50, test=SignificanceTest(None, correction=None)
            ),
        )
    ],
    "orientation": [
        (
            ("-m", "RR", "--n", "10", "20", "--m", "3"),
            lambda q, r: studies.orientation("RR", [10, 20], 3),
        ),
    ],
    "stability": [
        (
            (
                *ON_RUNS,
                "-m",
                "LR AP",
                "--fractions",
                "0.5",
                "--policies",
                "pool",
                "random",
                "--n-resamples",
                "50",
            ),
            lambda q, r: studies.Study(["LR", "AP"], q, r).stability(
                [0.5], policies=["pool", "random"], n_resamples=50
            ),
        ),
        (
            (
                *ON_RUNS,
                "-m",
                "LR AP",
                "--groups",
                "GROUPS",
                "--contrasts",
                "LR:AP",
                "--n-resamples",
                "50",
            ),
            lambda q, r: studies.Study(["LR", "AP"], q, r).stability(
                groups={n: n for n in r}, contrasts=[("LR", "AP")], n_resamples=50
            ),
        ),
    ],
    "split-half": [
        (
            (
                *ON_RUNS,
                "-m",
                "LR AP",
                "--n-splits",
                "20",
                "--n-queries",
                "5",
                "--seed",
                "2",
            ),
            lambda q, r: studies.Study(["LR", "AP"], q, r).split_half(
                n_splits=20, n_queries=5, seed=2
            ),
        )
    ],
    "tie-probabilities": [
        (
            (
                "--n",
                "1000",
                "10000",
                "--m",
                "10",
                "--k",
                "10",
                "20",
                "--depth",
                "50",
                "100",
            ),
            lambda q, r: studies.tie_probabilities(
                [1000, 10000], 10, k=[10, 20], depth=[50, 100]
            ),
        ),
    ],
    "ties": [
        (
            (*ON_RUNS, "-m", "lexirecall R@10", "--rel", "2", "--cutoff", "10"),
            lambda q, r: studies.Study(["lexirecall@10", "R@10"], q, r, rel=2).ties(),
        ),
        (
            (*ON_RUNS, "-m", "R@10", "--aggregate"),
            lambda q, r: studies.Study("R@10", q, r).ties(aggregate=True),
        ),
    ],
    "unanimity": [
        (
            (*ON_RUNS, "-m", "LR AP", "RR", "R@10", "--rel", "2"),
            lambda q, r: studies.Study(
                ["LR", "AP", "RR", "R@10"], q, r, rel=2
            ).unanimity(),
        )
    ],
}


for _name, _record in commands.STUDIES.items():
    if _name not in CASES:  # then its example says all
        _measures = _record.example.removeprefix("qrels.txt *.run -m ").split()
        _study = getattr(studies.Study, _record.name)
        CASES[_name] = [
            (
                (*ON_RUNS, "-m", *_measures),
                lambda q, r, m=_measures, f=_study: f(studies.Study(m, q, r)),
            )
        ]


def studied(name: str) -> Callable[..., pd.DataFrame]:
    """A function of ``meta``, or a method of ``Study``."""
    found: Callable[..., pd.DataFrame] = getattr(studies.Study, name, None) or getattr(
        studies, name
    )
    return found


def parameters(name: str) -> set[str]:
    return set(inspect.signature(studied(name)).parameters)


@pytest.mark.parametrize("name", commands.STUDIES)
def test_options_are_the_parameters_of_the_function(name: str, meta: Meta) -> None:
    said = meta(name, "--help")
    assert said.code == 0
    record = commands.STUDIES[name]
    known = parameters(record.name) - {"progress", "self"}
    known |= {"measures", "qrels", "runs", *record.runs} if record.runs else set()
    if record.test is not None:
        known |= {"correction", "alpha", "n_resamples", "seed"}
    for parameter in known:
        written = {"qrels": "QRELS", "runs": "RUN"}.get(
            parameter, f"--{parameter.replace('_', '-')}"
        )
        assert written in said.out, parameter
    options = {
        word.strip("[],") for word in said.out.split() if word.startswith(("--", "[--"))
    }
    shared = {
        "--help",
        "--plot",
        "--format",
        "--places",
        "--wide",
        "--output",
        "--measures",
    }
    if record.runs:  # how judgments are read
        reading = {f"--{option.replace('_', '-')}" for option in JUDGMENTS[1:]}
        assert reading <= options
        shared |= reading
    examples = said.out.partition("example:")[2]
    assert {option for option in options - shared if option not in examples} <= {
        f"--{parameter.replace('_', '-')}" for parameter in known
    }
    assert "example: ir-lexirecall meta" in said.out


@pytest.mark.parametrize("name", commands.STUDIES)
def test_defaults_are_those_of_the_function(name: str) -> None:
    record = commands.STUDIES[name]
    known = inspect.signature(studied(record.name)).parameters
    for option, declared in record.options.items():
        if said := re.search(r"\(default: ([a-z0-9.]+)\)", declared.help):
            default = known[option].default
            assert said[1] == str(default) or (
                default is None and option in ("n_queries", "depth")
            ), option


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("axioms", "(default: 0 and rel for binary measures, else 0, 1 and 2, up to"),
        ("axioms", "documents (default: 8 of two grades, 5 of three)"),
        ("axioms", "random cases per axiom (default: 200)"),
        ("orientation", "documents in the collection (default: 1000)"),
        ("orientation", "relevant documents (default: 1 to 15)"),
        ("ties", "show sums over the queries"),
        ("degrade", "show means over the draws"),
        ("degrade", "at 'random' (the default), the deepest ('pool'), or of documents"),
        ("stability", "retrieve ('frequency') (default: all three)"),
        ("stability", "show also the difference A - B of these measures"),
        ("interval-scale", "the first rank that differs ('top', the default)"),
        ("unanimity", "than by chance a measure rises if no other falls"),
    ],
)
def test_help_says_what_an_option_does_without_the_page(
    name: str, said: str, meta: Meta
) -> None:
    assert said in " ".join(meta(name, "--help").out.split())


@pytest.mark.parametrize(
    ("name", "case"),
    [(name, i) for name, cases in CASES.items() for i in range(len(cases))],
)
def test_a_study_prints_what_its_function_gives(
    name: str, case: int, meta: Meta, files: tuple[str, dict[str, str]]
) -> None:
    words, expected = CASES[name][case]
    said = meta(name, *words, "--format", "json")
    assert (said.code, said.err) == (0, "")
    printed = json.loads(said.out)
    assert printed == records(expected(*files))
    assert printed


def test_the_rel_of_a_collection_is_its_own(
    meta: Meta, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ir_lexirecall.data.collection import Collection

    arguments = (
        "lexirecall/demo",
        "RUNS",
        "-m",
        "lexirecall",
        "--aggregate",
        "--format",
        "json",
    )
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
        (
            ("discriminative-power", *ON_RUNS, "-m", "AP", "--resamples", "2"),
            "--resamples",
        ),
        (
            ("stability", *ON_RUNS, "-m", "AP", "--groups", "bm25"),
            "'bm25' must look like RUN=GROUP",
        ),
        (("power", *ON_RUNS, "-m", "AP"), "power"),
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
        (
            ("ties", *ON_RUNS, "nowhere.run", "-m", "AP"),
            "nowhere.run: there is no such file",
        ),
        (("ties", *ON_RUNS, "-m", "AP", "nowhere"), "'nowhere'"),
        (("tie-probabilities", "--n", "10", "--m", "20"), "tie-probabilities: m=20"),
        (("correlation", *ON_RUNS, "-m", "AP", "LR", "--by", "foo"), "foo"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else value,
)
def test_bad_input_is_one_line(
    words: tuple[str, ...], message: str, meta: Meta
) -> None:
    said = meta(*words)
    assert (said.code, said.out) == (1, "")
    assert said.err.startswith("ir-lexirecall: ")
    assert message in said.err
    assert len(said.err.splitlines()) == 1


@pytest.mark.parametrize("name", CASES)
def test_a_study_is_drawn_into_a_file(name: str, meta: Meta, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    words, _ = CASES[name][-1]
    picture = tmp_path / "study.svg"
    said = meta(name, *words, "--plot", str(picture))
    assert (said.code, said.err) == (0, "")
    assert picture.read_text().lstrip().startswith("<?xml")


def _written(folder: Path, texts: dict[str, str]) -> dict[str, str]:
    """Write files into a folder; return their paths by their names."""
    paths = {}
    for name, text in texts.items():
        (folder / name).write_text(text)
        paths[name] = str(folder / name)
    return paths


def test_judges_take_a_run_without_judged_documents_where_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = {
        "qrels.txt": "q 0 a 1\nq 0 b 0\n",
        "x.run": "q Q0 a 1 2 x\nq Q0 b 2 1 x\n",
        "y.run": "q Q0 z 1 2 y\n",
    }
    files = list(_written(tmp_path, texts).values())
    words = [
        "meta",
        "judges",
        *files,
        "--qrels-b",
        files[0],
        "-m",
        "AP",
        "--n-resamples",
        "9",
    ]
    assert main(words) == 1
    assert "--allow-empty takes such a run" in capsys.readouterr().err
    assert main([*words, "--allow-empty"]) == 0


def test_several_judges_have_their_grades_in_one_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = {
        "qrels.txt": "q 0 a 1\nq 0 b 0\nq 0 c 1\n",
        "llama.qrels": "q 0 a 1\nq 0 b 1\nq 0 c 1\n",
        "gpt.qrels": "q 0 a 2\nq 0 b 0\nq 0 c 1\n",
        "x.run": "q Q0 a 1 2 x\nq Q0 b 2 1 x\n",
        "y.run": "q Q0 b 1 2 y\nq Q0 a 2 1 y\n",
    }
    paths = _written(tmp_path, texts)
    words = [
        "meta",
        "judges",
        paths["qrels.txt"],
        paths["x.run"],
        paths["y.run"],
        "-m",
        "AP",
    ]
    words += [
        "--qrels-b",
        paths["llama.qrels"],
        paths["gpt.qrels"],
        "--n-resamples",
        "5",
    ]
    assert main(words) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["judge", "kappa", "alpha", "grade", "0", "1", "2"] in lines
    grades = [
        [row[0], *row[-4:]]
        for row in lines
        if len(row) == 7 and row[0] in ("llama", "gpt")
    ]
    assert grades == [
        ["llama", "0", "0", "1", "0"],
        ["llama", "1", "0", "2", "0"],
        ["gpt", "0", "1", "0", "0"],
        ["gpt", "1", "0", "1", "1"],
        ["gpt", "2", "0", "0", "0"],
    ]
