"""A measure that a user defines outside the package works wherever the measures of the library do.

The measure is the example of CONTRIBUTING.md.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import AP, nDCG

import ir_lexirecall as irl
from ir_lexirecall._util.measure_strings import parse_measure
from ir_lexirecall.data.aligned_run import AlignedRun
from ir_lexirecall.measures.declaration import Measure, Utility
from tests.conftest import CUTOFFS, collections

pytestmark = pytest.mark.usefixtures("_registries_as_before")

CONTRIBUTING = Path(__file__).parents[2] / "CONTRIBUTING.md"
QRELS = {"q1": {"a": 2, "b": 1}, "q2": {"a": 1}, "q3": {"a": 1}}
RUN = {
    "q1": {"x": 5.0, "b": 4.0, "y": 3.0, "a": 2.0},
    "q2": {"a": 1.0},
    "q3": {"x": 3.0, "y": 2.0},
}
BETTER = {"q1": {"a": 1.0}, "q2": {"x": 2.0, "a": 1.0}, "q3": {"a": 1.0}}
EXPECTED = {
    "q1": 1.0,
    "q2": 0.0,
    "q3": 2.0,
}  # where nothing relevant is retrieved: the depth of the ranking
EXPECTED_REL_2 = {"q1": 3.0, "q2": 1.0, "q3": 2.0}


def example() -> str:
    """The code of the measure."""
    (code,) = re.findall(
        r"```python\n(.*?class ESL.*?)```",
        CONTRIBUTING.read_text(encoding="utf-8"),
        re.DOTALL,
    )
    return re.sub(r"^   ", "", str(code), flags=re.MULTILINE)


def defined(code: str) -> Any:
    """The class that the code of a script or of a notebook's cell defines."""
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(code, "<cell>", "exec"), names)
    return names["ESL"]


@pytest.fixture
def esl() -> Any:
    return defined(example())


# -- in a script -------------------------------------------------------------------------------------

SCRIPT = """
import json, sys
import ir_measures
import ir_lexirecall as irl
from ir_lexirecall._util.measure_strings import parse_measure
from esl import ESL

qrels, run, better = json.load(sys.stdin)
strings = ["ESL", "ESL@1", "ESL(rel=2)", "ESL(rel=2,judged_only=True)@10"]
aggregate = ir_measures.calc_aggregate([ir_measures.AP, ESL @ 10, ESL(rel=2)], qrels, run)
print(json.dumps({
    "round trip": [str(parse_measure(text)) for text in strings],
    "types": [type(parse_measure(text)) is ESL for text in strings],
    "providers": [p.NAME for p in ir_measures.DefaultPipeline.providers if p.supports(ESL())],
    "evaluate": irl.evaluate(["ESL", ESL(rel=2), ESL, ir_measures.AP], qrels, run).to_dict(),
    "mean": irl.evaluate(ESL @ 10, qrels, run, aggregate=True).to_dict(),
    "aggregate": {str(measure): value for measure, value in aggregate.items()},
    "iter_calc": {m.query_id: m.value for m in ESL().iter_calc(qrels, run)},
    "compare": irl.compare(qrels, {"run": run, "better": better}, ["lexirecall", ESL]).matrix(ESL).to_dict(),
    "benchmark": irl.benchmark(qrels, {"run": run, "better": better}, [ESL])["collection"].means().set_index("run")["mean"].to_dict(),
}))
"""


@pytest.mark.slow
def test_a_script_takes_it_wherever_measures_go(tmp_path: Path) -> None:
    """In a folder with the measure in a module of its own."""
    (tmp_path / "esl.py").write_text(example(), encoding="utf-8")
    command = [sys.executable, "-W", "error::UserWarning", "-c", SCRIPT]
    given = json.dumps([QRELS, RUN, BETTER])
    done = subprocess.run(
        command,
        cwd=tmp_path,
        input=given,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    assert printed["round trip"] == [
        "ESL",
        "ESL@1",
        "ESL(rel=2)",
        "ESL(rel=2,judged_only=True)@10",
    ]
    assert printed["types"] == [True] * 4
    assert printed["providers"] == ["ir_lexirecall"]
    assert printed["iter_calc"] == EXPECTED
    assert printed["aggregate"] == {
        "AP": pytest.approx((0.5 + 1) / 3),
        "ESL@10": 1.0,
        "ESL(rel=2)": 2.0,
    }
    assert list(printed["evaluate"]) == ["ESL", "ESL(rel=2)", "AP"]
    assert printed["evaluate"]["ESL"] == EXPECTED
    assert printed["evaluate"]["ESL(rel=2)"] == EXPECTED_REL_2
    assert printed["mean"] == {"ESL@10": 1.0}


# -- on the command line -----------------------------------------------------------------------------


def test_the_command_line_computes_it(
    esl: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from ir_lexirecall.cli import main

    qrels, run = tmp_path / "qrels", tmp_path / "my.run"
    qrels.write_text(
        "".join(
            f"{q} 0 {d} {g}\n" for q, docs in QRELS.items() for d, g in docs.items()
        )
    )
    run.write_text(
        "".join(
            f"{q} Q0 {d} 0 {s} tag\n"
            for q, docs in RUN.items()
            for d, s in docs.items()
        )
    )
    assert (
        main(
            [
                "eval",
                str(qrels),
                str(run),
                "-m",
                "ESL(rel=2)@10",
                "--by-query",
                "--format",
                "tsv",
            ]
        )
        == 0
    )
    _, *rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert {row[-2]: float(row[-1]) for row in rows} == EXPECTED_REL_2


# -- in a notebook -----------------------------------------------------------------------------------


def test_a_cell_that_runs_again_takes_the_place_of_the_measure() -> None:
    old = defined(example())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        new = defined(example().replace("return value", "return value + 100"))
    assert type(parse_measure("ESL")) is new
    assert irl.evaluate("ESL", QRELS, RUN)["ESL"].tolist() == [101, 100, 102]
    assert irl.evaluate(new, QRELS, RUN)["ESL"].tolist() == [101, 100, 102]
    assert irl.evaluate(old, QRELS, RUN)["ESL"].tolist() == [
        1,
        0,
        2,
    ]  # what holds the old class still means it


def test_a_measure_needs_no_more_than_score() -> None:
    class Depth(Measure):
        """Documents retrieved."""

        def score(self, run: AlignedRun) -> Any:
            return run.depth

    assert (Depth.NAME, Depth.PRETTY_NAME, Depth.SHORT_DESC) == (
        "Depth",
        "Depth",
        "Documents retrieved.",
    )
    assert irl.evaluate(
        ["Depth", "Depth(judged_only=True)"], QRELS, RUN
    ).to_numpy().tolist() == [
        [4, 2],
        [1, 1],
        [2, 0],
    ]
    with pytest.raises(
        ValueError, match="Depth has no parameter 'rel'; it has judged_only"
    ):
        Depth(rel=2)


def test_a_name_that_ir_measures_has_given_away_stays_where_it_is() -> None:
    with pytest.warns(UserWarning, match="another measure called 'AP'"):
        other = type("AP", (defined(example()),), {"__doc__": "Another one."})
    assert parse_measure("AP") == AP
    assert type(parse_measure("AP")) is type(AP)
    assert irl.evaluate(other(), QRELS, RUN).iloc[:, 0].to_dict() == EXPECTED
    assert irl.evaluate("AP", QRELS, RUN)["AP"]["q1"] == 0.5


# -- what is refused ---------------------------------------------------------------------------------

WRONG: dict[str, Any] = {
    "one number": lambda run: 0.5,
    "none": lambda run: None,
    "a list": lambda run: [0.0] * len(run.judgments),
    "a number too few": lambda run: np.zeros(len(run.judgments) - 1),
    "a number per judged document": lambda run: np.zeros(len(run.judgments.doc_ids)),
    "a table": lambda run: np.zeros((len(run.judgments), 1)),
    "truth values": lambda run: np.ones(len(run.judgments), dtype=bool),
    "text": lambda run: np.array(["0"] * len(run.judgments)),
    "a utility of numbers": lambda run: Utility(*[np.zeros(2)] * 4),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_score_that_is_not_a_number_per_query_is_refused(wrong: str) -> None:
    measure = type("Wrong", (Measure,), {"score": lambda self, run: WRONG[wrong](run)})
    for call in (
        lambda: irl.evaluate([AP, measure], QRELS, RUN),
        lambda: ir_measures.calc_aggregate([measure(), nDCG @ 10], QRELS, RUN),
        lambda: irl.compare(QRELS, {"a": RUN, "b": BETTER}, measure()),
    ):
        with pytest.raises(
            ValueError,
            match=r"Wrong: score must give an array of 3 numbers, one per query, not ",
        ):
            call()


def test_bad_parameters_are_refused_as_those_of_the_library_are(esl: Any) -> None:
    with pytest.raises(
        ValueError,
        match="ESL has no parameter 'depth'; it has cutoff, rel, judged_only",
    ):
        esl(depth=3)
    for text, offender in {
        "ESL@0": "cutoff",
        "ESL(rel=0)": "rel",
        "ESL(judged_only=3)": "judged_only",
    }.items():
        with pytest.raises(ValueError, match=f"^evaluate: ESL.*: .*{offender} must be"):
            irl.evaluate(text, QRELS, RUN)


# -- what it computes --------------------------------------------------------------------------------


@given(collections(), CUTOFFS, st.sampled_from([1, 2]))
def test_it_follows_its_definition(
    collection: Any, k: int | None, threshold: float
) -> None:
    qrels, run = collection
    measure = defined(example())(cutoff=k, rel=threshold)
    expected = {}
    for q, judged in qrels.items():
        ranking = reference.order(run.get(q, {}))
        found = reference.positions(ranking, judged, threshold, k)
        expected[q] = found[0] - 1 if found else len(ranking)
    assert irl.evaluate({"ESL": measure}, qrels, run)["ESL"].to_dict() == expected
