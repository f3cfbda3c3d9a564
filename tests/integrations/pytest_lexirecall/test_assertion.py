"""The assertion that fails where a change makes rankings worse, in pytest itself."""

from __future__ import annotations

import sys
import tomllib
from importlib.metadata import entry_points
from pathlib import Path
from xml.etree import ElementTree

import pytest
from pytest_lexirecall import assert_not_worse

from ir_lexirecall import demo
from ir_lexirecall.pt_docs.commands import write_files

pytestmark = pytest.mark.slow_except(
    "test_a_failure_shows_the_table_and_the_queries_that_lost_most"
)

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parents[3]
QRELS, BM25 = (
    demo.qrels(),
    demo.run("bm25"),
)  # here: pytester forgets the modules that are imported while it is in use


@pytest.fixture
def project(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> pytest.Pytester:
    """A folder with qrels and runs, where pytest loads this plugin only."""
    write_files(pytester.path)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTHONPATH", f"{ROOT}:{ROOT / 'integrations'}")
    return pytester


def run(project: pytest.Pytester, test: str, *options: str) -> pytest.RunResult:
    project.makepyfile(test)
    return project.runpytest_subprocess("-p", "pytest_lexirecall", *options)


def test_a_change_without_loss_passes_and_the_gate_can_be_asked_more(
    project: pytest.Pytester,
) -> None:
    done = run(
        project,
        """
        def test_quality(assert_not_worse):
            found = assert_not_worse("qrels.txt", "bm25.run", "bm25.run", ["nDCG@10", "lexirecall"])
            assert found.table["verdict"].tolist() == ["undecided"] * 2  # ties show nothing
        """,
    )
    done.assert_outcomes(passed=1)


@pytest.mark.slow
def test_a_failure_shows_the_table_and_the_queries_that_lost_most(
    project: pytest.Pytester,
) -> None:
    done = run(
        project,
        """
        from ir_lexirecall import SignificanceTest
        from pytest_lexirecall import assert_not_worse

        def test_quality():
            test = SignificanceTest(alpha=0.1)
            assert_not_worse("qrels.txt", "bm25.run", "overlap.run", ["nDCG@10", "AP"], margin=0.02, test=test)
        """,
    )
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(
        [
            ">*assert_not_worse(*",
            "E *AssertionError: FAILED: candidate is worse than baseline by nDCG@10 and AP (exit 3)",
            "E *criterion*difference*loses*margin*verdict",
            "E *nDCG@10*0.578*0.235*-0.343*0.02*worse",
            "E *By nDCG@10, candidate loses 16 of 16 queries (10 are shown):",
            "E *q14*0.8173*0.0000",
        ]
    )
    assert "def _passed" not in done.stdout.str()


@pytest.mark.parametrize("strict", [True, False])
def test_what_is_undecided_fails_where_it_is_asked_to(
    strict: bool, project: pytest.Pytester
) -> None:
    done = run(
        project,
        f"""
        def test_quality(assert_not_worse):
            assert_not_worse("qrels.txt", "bm25.run", "bm25_rerank.run", "nDCG@10", strict={strict})
        """,
    )
    done.assert_outcomes(failed=int(strict), passed=int(not strict))


def test_looks_are_counted_in_a_ledger(project: pytest.Pytester) -> None:
    done = run(
        project,
        """
        def test_quality(assert_not_worse):
            for candidate, number in (("bm25.run", 1), ("ql.run", 2), ("ql.run", 2)):
                found = assert_not_worse("qrels.txt", "bm25.run", candidate, "nDCG@10", ledger="gate.jsonl")
                assert found.look.number == number

        def test_release(assert_not_worse):
            assert_not_worse("qrels.txt", "overlap.run", "overlap.run", "AP", ledger="gate.jsonl", release="bm25.run")
        """,
    )
    done.assert_outcomes(passed=1, failed=1)
    done.stdout.fnmatch_lines(
        [
            "E *AssertionError: FAILED: candidate is worse than release by AP (exit 3)",
            "E *Look 3 of gate.jsonl: level*",
        ]
    )
    assert len((project.path / "gate.jsonl").read_text().splitlines()) == 6


def test_the_folder_that_a_ledger_lacks_is_named(project: pytest.Pytester) -> None:
    done = run(
        project,
        """
        def test_quality(assert_not_worse):
            assert_not_worse("qrels.txt", "bm25.run", "ql.run", "nDCG@10", ledger="none/gate.jsonl")
        """,
    )
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(
        ["E *ValueError: *there is no folder 'none'; make it, or name*"]
    )


def test_verdicts_are_in_the_junit_file(project: pytest.Pytester) -> None:
    run(
        project,
        """
        def test_quality(assert_not_worse):
            assert_not_worse("qrels.txt", "bm25.run", "overlap.run", ["nDCG@10", "AP"])
        """,
        "--junitxml=out.xml",
    )
    properties = [
        p.attrib for p in ElementTree.parse(project.path / "out.xml").iter("property")
    ]
    assert [p["name"] for p in properties] == ["nDCG@10", "AP"]
    assert properties[0]["value"].startswith(
        "difference -0.3428, 95% interval -0.4342 to -0.2514, p < 0.0001"
    )
    assert properties[0]["value"].endswith("margin 0.01: worse")


@pytest.mark.parametrize("family", ["xunit1", "xunit2", "legacy"])
def test_the_junit_file_comes_without_warnings(
    family: str, project: pytest.Pytester
) -> None:
    done = run(
        project,
        """
        import pytest

        @pytest.mark.parametrize("times", [1, 2])
        def test_quality(times, assert_not_worse):
            for _ in range(times):
                assert_not_worse("qrels.txt", "bm25.run", "ql.run", "nDCG@10")
        """,
        "--junitxml=out.xml",
        "-o",
        f"junit_family={family}",
        "-W",
        "error::pytest.PytestWarning",
    )
    done.assert_outcomes(passed=2)
    names = [
        p.get("name")
        for p in ElementTree.parse(project.path / "out.xml").iter("property")
    ]
    assert names == ["nDCG@10"] * 3


def test_bad_input_names_the_assertion() -> None:
    from pytest_lexirecall import assert_not_worse

    with pytest.raises(ValueError, match=r"^assert_not_worse: margin of AP .*-1"):
        assert_not_worse(QRELS, BM25, BM25, "AP", margin=-1)
    with pytest.raises(
        TypeError,
        match="assert_not_worse: unexpected argument 'marjin'; did you mean 'margin'",
    ):
        assert_not_worse(QRELS, BM25, BM25, "AP", marjin=0.1)


def test_pytest_starts_without_the_library(project: pytest.Pytester) -> None:
    done = run(
        project,
        """
        import sys

        def test_nothing():
            assert "pytest_lexirecall" in sys.modules
            assert not {"numpy", "pandas", "polars", "ir_lexirecall", "ir_measures"} & set(sys.modules)
        """,
    )
    done.assert_outcomes(passed=1)


def test_pytest_finds_the_plugin() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
        "project"
    ]
    assert project["entry-points"]["pytest11"] == {"lexirecall": "pytest_lexirecall"}
    installed = [
        point for point in entry_points(group="pytest11") if point.name == "lexirecall"
    ]
    assert all(point.load() is sys.modules["pytest_lexirecall"] for point in installed)


@pytest.mark.slow
def test_a_loss_that_passes_as_unjudged_documents_could_undo_it_is_warned_of(
    project: pytest.Pytester,
) -> None:
    test = """
        QUERIES = [f"q{i}" for i in range(16)]
        QRELS = {q: {"a": 1} for q in QUERIES}
        MAIN = {q: {"a": 1.0} for q in QUERIES}
        NEW = {q: {"unjudged": 2.0, "a": 1.0} for q in QUERIES}

        def test_quality(assert_not_worse):
            assert_not_worse(QRELS, MAIN, NEW, "P@1"STRICT)
        """
    passed = run(project, test.replace("STRICT", ""))
    passed.assert_outcomes(passed=1, warnings=1)
    passed.stdout.fnmatch_lines(
        [
            "*unjudged documents could undo the loss; judge them "
            "(ir-lexirecall to-judge QRELS RUN RUN -m P@1), or fail with strict=True"
        ]
    )
    strict = run(project, test.replace("STRICT", ", strict=True"))
    strict.assert_outcomes(failed=1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"strict": "yes"}, "strict must be True or False, not 'yes'"),
        ({"strict": 1}, "strict must be True or False, not 1"),
        ({"strict": None}, "strict must be True or False, not None"),
        ({"strict": True, "rule": "drop"}, "strict=True is the rule 'strict', so"),
        ({"strict": True, "rule": "judged"}, "strict=True is the rule 'strict', so"),
        ({"rule": "drops"}, "unknown rule 'drops'"),
    ],
)
def test_options_that_contradict_are_refused(
    options: dict[str, object], message: str
) -> None:
    run = {"q": {"a": 1.0}}
    with pytest.raises(ValueError, match=f"^assert_not_worse: {message}"):
        assert_not_worse({"q": {"a": 1}}, run, run, "RR", **options)
