"""What stops a gate: losses that unjudged documents could undo, or might; and runs that did not change."""

from __future__ import annotations

import json
import re
import shlex
import warnings
from collections import namedtuple
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from command_line import exit_code

import ir_lexirecall as irl
from ir_lexirecall import demo
from ir_lexirecall.comparison import Gate
from ir_lexirecall.data.alignment import align
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.present.gates import gate_text

QUERIES = [f"q{i:02}" for i in range(16)]
QRELS = {q: {"a": 1, "b": 1, "x": 0} for q in QUERIES}
BASELINE = {q: {"a": 3.0, "b": 2.0} for q in QUERIES}
NEW = {q: {"new1": 3.0, "new2": 2.0, "a": 1.0} for q in QUERIES}
"""It finds documents that nobody judged."""
BOTH = {q: {"n": 9.0} | docs for q, docs in BASELINE.items()}
SHARED = {q: {"new": 9.0, "n": 8.0, "a": 1.0} for q in QUERIES}
"""Beside ``BOTH``, with which it shares an unjudged document at another rank: bounds of AP are not exact."""
WORSE = {q: {"x": 3.0, "a": 1.0} for q in QUERIES}
HARDLY_OPEN = WORSE | {q: WORSE[q] | {"new": 0.0} for q in QUERIES[:2]}
"""It loses, whatever grades its two unjudged documents get."""


def written(run: dict[str, dict[str, float]], path: Path) -> str:
    lines = [f"{q} Q0 {d} 0 {s} t" for q, docs in run.items() for d, s in docs.items()]
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def by_python(
    baseline: Any, candidate: Any, measure: str, **options: Any
) -> tuple[int, str]:
    found = irl.gate(QRELS, baseline, candidate, measure, **options)
    return found.exit_code, str(found)


@pytest.fixture
def by_every_door(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Any:
    """A gate asked in Python, on the command line and by pytest's assertion: exit code and text."""
    from pytest_lexirecall import assert_not_worse

    def ask(
        baseline: Any, candidate: Any, measure: str, **options: Any
    ) -> tuple[int, str]:
        code, text = by_python(baseline, candidate, measure, **options)
        qrels = tmp_path / "qrels.txt"
        lines = [f"{q} 0 {d} {g}" for q, docs in QRELS.items() for d, g in docs.items()]
        qrels.write_text("\n".join(lines) + "\n")
        files = [
            written(baseline, tmp_path / "main.run"),
            written(candidate, tmp_path / "new.run"),
        ]
        words = {"strict": ["--strict"], "judged": ["--no-bounds"], "evidence": []}
        flags = words[options.get("rule", "evidence")]
        flags += ["--test", options["test"]] if "test" in options else []
        assert exit_code("gate", str(qrels), *files, "-m", measure, *flags) == code
        said = capfd.readouterr().out
        assert ("might undo" in said) == ("might undo" in text)
        assert ("might undo it" in said) == ("might undo it" in text)
        fails = pytest.raises(AssertionError) if code else nullcontext()
        with fails as caught, warnings.catch_warnings(record=True) as said_by_pytest:
            warnings.simplefilter("always")
            assert_not_worse(QRELS, baseline, candidate, measure, **options)
        warned = [str(one.message) for one in said_by_pytest]
        is_excused = not code and "could undo the loss" in text
        assert len(warned) == is_excused
        assert not warned or "or fail with strict=True" in warned[0]
        assert caught is None or ("might undo" in str(caught.value)) == (
            "might undo" in text
        )
        return code, text

    return ask


@pytest.mark.slow
def test_a_loss_that_some_grades_are_known_to_undo_is_undecided(
    by_every_door: Any,
) -> None:
    code, text = by_every_door(BASELINE, NEW, "P@2")
    assert code == 0
    assert "undecided ?" in " ".join(text.replace("|", " ").split())
    assert "judgments of unjudged documents would decide" in text
    assert "undecided ?: some grades would undo the loss" in text
    assert "worse ?:" not in text
    assert by_every_door(BASELINE, NEW, "P@2", rule="strict")[0] == 4
    code, text = by_every_door(BASELINE, NEW, "P@2", rule="judged")
    assert code == 3
    assert "?" not in text


@pytest.mark.parametrize("test", ["t", "wilcoxon"])
def test_unjudged_documents_that_count_as_not_relevant_raise_no_doubt(
    test: str,
) -> None:
    """No bounds are asked for, so that it does not matter whether there are any."""
    runs = [demo.run("bm25"), demo.run("overlap")]
    by_evidence, judged = (
        irl.gate(demo.qrels(), *runs, "Rprec", test=test, rule=rule)
        for rule in ("evidence", "judged")
    )
    assert by_evidence.exit_code == judged.exit_code == 3
    doubt = "? unjudged documents might undo the difference"
    assert doubt in str(by_evidence)
    assert "?" not in str(judged)
    assert "?" not in gate_text(judged, markdown=False)


@pytest.mark.parametrize("criterion", [["-m", "P@2"], ["-p", "lexirecall"]])
def test_the_command_that_a_gate_advises_lists_documents_by_its_criterion(
    criterion: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    qrels = tmp_path / "judged by us.txt"
    lines = [f"{q} 0 {d} {g}" for q, docs in QRELS.items() for d, g in docs.items()]
    qrels.write_text("\n".join(lines) + "\n")
    files = [written(BASELINE, tmp_path / "main.run")]
    files += [written(NEW, tmp_path / "new.run")]
    asked = [str(qrels), *files, "--judged", str(qrels), *criterion]
    for form in ("markdown", "text"):
        assert exit_code("gate", *asked, "--format", form) == 0
        said = capfd.readouterr().out
        headline = " ".join(said.partition("\n\n")[0].split())
        assert f"undecided by {criterion[1]}; unjudged documents could undo" in headline
        (advised,) = [
            line.strip() for line in said.splitlines() if " to-judge " in line
        ]
        program, command, *words = shlex.split(advised)
        assert (program, command) == ("ir-lexirecall", "to-judge")
        assert words == asked
        assert exit_code(command, *words, "--format", "csv") == 0
        listed = capfd.readouterr().out.splitlines()[1:]
        assert {line.split(",")[1] for line in listed} == {"new1", "new2"}
    assert (
        "ir-lexirecall to-judge QRELS RUN RUN -m P@2"
        in by_python(BASELINE, NEW, "P@2")[1]
    )


@pytest.mark.parametrize("form", ["text", "markdown", "json"])
def test_a_gate_that_writes_a_file_says_its_decision(
    form: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    qrels = tmp_path / "qrels.txt"
    lines = [f"{q} 0 {d} {g}" for q, docs in QRELS.items() for d, g in docs.items()]
    qrels.write_text("\n".join(lines) + "\n")
    main = written(BASELINE, tmp_path / "main.run")
    into = ["-o", str(tmp_path / "summary"), "--format", form]
    for run, code, decision in [
        (WORSE, 3, "FAILED: new is worse than main by P@2 (exit 3)"),
        (BASELINE, 0, "PASSED: nothing changed"),
        (NEW, 0, "UNDECIDED: new is not shown to be worse than main; undecided by P@2"),
    ]:
        new = written(run, tmp_path / "new.run")
        assert exit_code("gate", str(qrels), main, new, "-m", "P@2", *into) == code
        said = capfd.readouterr()
        assert said.out == ""
        assert said.err.splitlines()[-1].startswith(f"ir-lexirecall: {decision}")


@pytest.mark.sparse
@pytest.mark.parametrize(
    ("measure", "options"),
    [("P@3", {"test": "wilcoxon"}), ("Rprec", {}), ("Bpref", {})],
)
def test_a_loss_of_which_nothing_is_known_stays_worse(
    measure: str, options: Any, by_every_door: Any
) -> None:
    """There are no bounds, and no judging that is tried undoes it."""
    code, text = by_every_door(BASELINE, HARDLY_OPEN, measure, **options)
    assert code == 3
    assert "worse ?" in " ".join(text.replace("|", " ").split())
    assert "worse ?: it is not known whether grades could" in text
    assert "undecided ?:" not in text
    assert "could undo it" not in text
    strict = by_every_door(BASELINE, HARDLY_OPEN, measure, rule="strict", **options)
    assert strict[0] == 3


@pytest.mark.sparse
@pytest.mark.parametrize(
    ("baseline", "candidate", "measure", "options"),
    [
        (BASELINE, NEW, "P@2", {"test": "wilcoxon"}),  # which has no bounds
        (BOTH, SHARED, "AP", {}),  # whose bounds are not exact
        (BOTH, SHARED, "LR", {}),
    ],
)
def test_a_loss_that_a_judging_undoes_is_undecided_without_bounds(
    baseline: Any, candidate: Any, measure: str, options: Any, by_every_door: Any
) -> None:
    code, text = by_every_door(baseline, candidate, measure, **options)
    assert code == 0
    assert "undecided ?: some grades would undo the loss" in text
    assert "it is not known" not in text


@pytest.mark.parametrize("measure", ["P@2", "AP", "LR"])
def test_a_loss_that_no_grades_undo_stops_without_a_dagger(
    measure: str, by_every_door: Any
) -> None:
    code, text = by_every_door(BASELINE, WORSE, measure)
    assert code == 3
    assert "might undo" not in text


# -- runs that did not change ----------------------------------------------------------------------

SAME = "PASSED: nothing changed: {} retrieves the same documents as {}, at the same ranks, on all 16 queries"


@pytest.mark.sparse
@pytest.mark.parametrize("rule", ["evidence", "judged", "strict", "drop"])
def test_an_unchanged_run_passes_by_every_rule(rule: str) -> None:
    other = {
        q: {d: s * 7 for d, s in reversed(docs.items())} for q, docs in NEW.items()
    }
    for candidate in (NEW, dict(reversed(NEW.items())), other):
        found = irl.gate(QRELS, NEW, candidate, ["AP", "P@2", "lexirecall"], rule=rule)
        assert (found.unchanged, found.outcome, found.exit_code) == (True, "passed", 0)
        assert (found.failed, found.undecided) == ([], [])
        text = str(found)
        assert text.startswith(f"### {SAME.format('candidate', 'baseline')}")
        assert "undecided" not in text
        assert "<= -0" not in text


@pytest.mark.parametrize(
    "candidate",
    [
        {q: {"new1": 3.0, "other": 2.0, "a": 1.0} for q in QUERIES},
        {q: {"new2": 3.0, "new1": 2.0, "a": 1.0} for q in QUERIES},
        {q: docs | {"new9": 0.0} for q, docs in NEW.items()},
        {q: docs for q, docs in NEW.items() if q != "q07"},
    ],
    ids=["another document", "another order", "one more document", "one query less"],
)
def test_a_run_that_differs_in_unjudged_documents_only_has_changed(
    candidate: Any,
) -> None:
    found = irl.gate(QRELS, NEW, candidate, "P@1", rule="strict", allow_empty=True)
    assert not found.unchanged
    assert "nothing changed" not in str(found)


def test_an_unchanged_run_may_still_lose_to_the_release() -> None:
    found = irl.gate(QRELS, WORSE, WORSE, "AP", release=BASELINE)
    assert (found.unchanged, found.outcome) == (True, "worse")
    assert str(found).startswith("### FAILED: candidate is worse than release by AP")


def test_runs_that_cannot_be_read_again_are_compared_as_far_as_they_can_be() -> None:
    row = namedtuple("row", "query_id doc_id score")
    rows = [row(q, d, s) for q, docs in NEW.items() for d, s in docs.items()]
    assert irl.gate(QRELS, iter(rows), iter(rows), "AP").outcome == "passed"
    judgments = Judgments.from_qrels(QRELS)
    aligned, again = align(judgments, NEW), align(judgments, NEW)
    assert (
        irl.gate(judgments, aligned, aligned, "AP", rule="strict").outcome == "passed"
    )
    found = irl.gate(judgments, aligned, again, "AP")
    assert not found.unchanged  # unjudged documents may differ


@pytest.mark.parametrize(
    "how", ["one path", "two paths", "two spellings", "compressed"]
)
@pytest.mark.parametrize("flags", [[], ["--strict"], ["--rule", "drop"]])
def test_the_command_takes_an_unchanged_file(
    how: str,
    flags: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    import gzip

    monkeypatch.chdir(tmp_path)
    lines = [f"{q} 0 {d} {g}" for q, docs in QRELS.items() for d, g in docs.items()]
    Path("qrels.txt").write_text("\n".join(lines) + "\n")
    first = second = written(NEW, Path("main.run"))
    candidate = "main (candidate)"
    if how == "two paths":
        second, candidate = written(NEW, Path("branch.run")), "branch"
    elif how == "two spellings":
        second = "./main.run"
    elif how == "compressed":
        second, candidate = "branch.run.gz", "branch"
        Path(second).write_bytes(gzip.compress(Path(first).read_bytes()))
    assert exit_code("gate", "qrels.txt", first, second, "-m", "AP", *flags) == 0
    said = capfd.readouterr()
    assert said.out.startswith("### " + SAME.format(candidate, "main"))
    assert (
        exit_code("gate", "qrels.txt", first, second, "-m", "AP", "--format", "json")
        == 0
    )
    assert json.loads(capfd.readouterr().out)["unchanged"]


def test_a_gate_says_that_it_is_one() -> None:
    found = irl.gate(QRELS, NEW, NEW, "AP")
    assert isinstance(found, Gate)
    assert repr(found).startswith("<Gate: candidate beside baseline: passed")


def test_the_assertion_names_the_files_that_it_read(tmp_path: Path) -> None:
    from pytest_lexirecall import assert_not_worse

    qrels = tmp_path / "qrels.txt"
    lines = [f"{q} 0 {d} {g}" for q, docs in QRELS.items() for d, g in docs.items()]
    qrels.write_text("\n".join(lines) + "\n")
    files = [written(BASELINE, tmp_path / "main.run")]
    files += [written(NEW, tmp_path / "new.run")]
    command = shlex.join(["ir-lexirecall", "to-judge", str(qrels), *files, "-m", "P@2"])
    with pytest.warns(UserWarning, match=re.escape(f"judge them ({command})")):
        assert_not_worse(qrels, *files, "P@2")
    with pytest.raises(AssertionError, match=re.escape(command)):
        assert_not_worse(qrels, *files, "P@2", strict=True)
