"""trec_eval's names and lines: those of the program itself, run on the demo."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pytest

import ir_lexirecall as irl
from ir_lexirecall import demo
from ir_lexirecall.cli import main
from ir_lexirecall.io.measure_names import (
    EQUIVALENTS,
    equivalent,
    from_trec_eval,
    trec_eval_lines,
    trec_eval_name,
)
from tests.conftest import Data

FILES = Path(__file__).parents[1] / "files" / "values"


@pytest.mark.parametrize("run", ["bm25", "ql"])
def test_lines_are_those_of_the_program(run: str) -> None:
    measures = from_trec_eval(["num_rel", "map", "P.5"])
    values = irl.evaluate(measures, demo.qrels(), demo.run(run))
    means = irl.evaluate(measures, demo.qrels(), demo.run(run), aggregate=True)
    theirs = [
        line
        for line in (FILES / f"{run}.trec_eval").read_text().splitlines()
        if not line.startswith(("relst", "gm_"))
    ]
    assert trec_eval_lines(means, values, run=run).splitlines() == theirs


def test_our_names_become_theirs_and_the_others_stay() -> None:
    lines = trec_eval_lines({"P@5": 0.5, "NumRelRet": 3.0, "TSE": 0.25, "RelP@10": 1.0})
    assert [line.split() for line in lines.splitlines()] == [
        ["P_5", "all", "0.5000"],
        ["num_rel_ret", "all", "3"],
        ["TSE", "all", "0.2500"],
        ["relative_P_10", "all", "1.0000"],
    ]


@pytest.mark.parametrize(
    "known", [item for item in EQUIVALENTS if item.measure], ids=lambda item: item.name
)
def test_every_equivalent_is_a_measure_and_has_its_name_back(known: Any) -> None:
    name = known.name.replace("_K", "_10").replace("_X", "_0.20")
    found = equivalent(name)
    assert found is not None
    values = irl.evaluate(found.measure, demo.qrels(), demo.run("bm25"))
    assert values.notna().all().all()
    assert trec_eval_name(found.measure) == name
    assert trec_eval_name(str(ir_measures.parse_measure(found.measure))) == name


def test_every_measure_of_ir_measures_that_trec_eval_has_is_the_same_one() -> None:
    for known in EQUIVALENTS:
        name = known.name.replace("_K", "_10").replace("_X", "_0.20")
        try:
            [theirs] = ir_measures.parse_trec_measure(name)
        except ValueError:
            continue
        if known.name not in ("iprec_at_recall_X", "set_relative_P"):
            assert equivalent(name).measure == known.measure.replace(
                "@K", "@10"
            ).replace("=X", "=0.2")
            assert ir_measures.parse_measure(equivalent(name).measure) == theirs


def test_what_is_not_here_is_said() -> None:
    with pytest.raises(
        ValueError,
        match=r"from_trec_eval: trec_eval's gm_map is not available here; use np.exp",
    ):
        from_trec_eval(["gm_map"])
    with pytest.raises(
        ValueError, match="trec_eval has no single measure 'mapp'; did you mean 'map'"
    ):
        from_trec_eval(["mapp"])
    with pytest.raises(
        ValueError,
        match=r"parameters of rbp, 'p=0.8', are not read here; .* as in RBP_TE.p=0.8.",
    ):
        from_trec_eval(["rbp.p=0.8"])
    with pytest.raises(
        ValueError,
        match="trec_eval's rbp_resid is not available here; use the residual of RBP",
    ):
        from_trec_eval(["rbp_resid.p=0.8"])
    with pytest.raises(
        ValueError,
        match="trec_eval has no single measure 'all_trec'; name those that you want, or official",
    ):
        from_trec_eval(["all_trec"])
    for name, hint in {
        "11pt_avg": "is called ElevenPt here",
        "gm_map": "use np.exp",
    }.items():
        with pytest.raises(ValueError, match=hint):
            irl.evaluate(name, demo.qrels(), demo.run("bm25"))


# -- eval --format trec ------------------------------------------------------------------------------------


def evaluated(*words: str) -> list[str]:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        assert main(["eval", *words, "--format", "trec"]) == 0
    return printed.getvalue().splitlines()


@pytest.mark.slow_except("aplrob03a")
@pytest.mark.parametrize("run", ["aplrob03a", "rutcor03100"])
def test_the_command_prints_what_trec_eval_prints(data: Data, run: str) -> None:
    qrels, path = (
        data.path("robust2003/qrels.txt.gz"),
        data.path(f"robust2003/runs/{run}.gz"),
    )
    theirs = data.vectors("trec_eval10-robust2003.json")["runs"][run]
    theirs.pop("rbp_resid")
    printed = evaluated(str(qrels), str(path), "-m", *theirs, "--by-query")
    by_query = {
        f"{name:<22}\t{q}\t{value:6.4f}"
        for name, values in theirs.items()
        for q, value in values.items()
    }
    assert by_query <= set(printed)
    means = {
        f"{name:<22}\tall\t{np.mean([*values.values()]):6.4f}"
        for name, values in theirs.items()
    }
    assert means | {f"{'runid':<22}\tall\t{run}"} == set(printed) - by_query


def test_the_command_prints_the_official_measures_in_their_order() -> None:
    folder = Path(demo.__file__).parent
    names = [
        line.split()[0]
        for line in evaluated(
            str(folder / "qrels.tsv"), str(folder / "runs" / "bm25.run")
        )
    ]
    start = [
        "runid",
        "num_q",
        "num_ret",
        "num_rel",
        "num_rel_ret",
        "map",
        "gm_map",
        "Rprec",
        "bpref",
        "recip_rank",
    ]
    assert names[:10] == start
    assert names[10:] == [
        *(f"iprec_at_recall_{i / 10:.2f}" for i in range(11)),
        *(f"P_{k}" for k in CUTOFFS),
    ]


CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)


def test_the_first_line_is_what_the_run_calls_itself(tmp_path: Path) -> None:
    folder = Path(demo.__file__).parent
    (tmp_path / "renamed.run").write_bytes(
        b"# a comment\n" + (folder / "runs" / "bm25.run").read_bytes()
    )
    lines = evaluated(
        str(folder / "qrels.tsv"), str(tmp_path / "renamed.run"), "-m", "map"
    )
    assert [line.split() for line in lines] == [
        ["runid", "all", "bm25"],
        ["map", "all", "0.4979"],
    ]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-m", "yaap"], "trec_eval's yaap is not available here"),
        (["--baseline", "bm25"], "--baseline cannot be combined with --format trec"),
    ],
)
def test_the_command_names_what_it_cannot_print(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = Path(demo.__file__).parent
    assert (
        main(
            [
                "eval",
                "lexirecall/demo",
                str(folder / "runs" / "bm25.run"),
                "--format",
                "trec",
                *words,
            ]
        )
        == 1
    )
    assert message in capsys.readouterr().err


def test_counts_and_cutoffs_are_those_of_trec_eval_also_of_queries_that_the_run_lacks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Lines of trec_eval 10.0 -c: a run without q3, a query without relevant documents, a negative grade."""
    qrels, run = tmp_path / "qrels.txt", tmp_path / "a.run"
    qrels.write_text(
        "q1 0 a 1\nq1 0 b -1\nq1 0 c 0\nq1 0 x 2\nq2 0 a 1\nq2 0 d 1\nq3 0 a 1\nq3 0 b 1\nq4 0 e 0\n"
    )
    run.write_text(
        "q1 Q0 b 1 5 t\nq1 Q0 a 2 4 t\nq1 Q0 u 3 3 t\nq2 Q0 z 1 5 t\nq2 Q0 d 2 4 t\n"
    )
    names = ["num_q", "num_rel", "num_rel_ret", "success", "unj", "map"]
    assert (
        main(
            [
                "eval",
                str(qrels),
                str(run),
                "--format",
                "trec",
                "--by-query",
                "-m",
                *names,
            ]
        )
        == 0
    )
    lines = {
        tuple(line.split()[:2]): line.split()[2]
        for line in capsys.readouterr().out.splitlines()
    }
    of_all = {
        name: value
        for (name, query), value in lines.items()
        if query == "all" and name != "runid"
    }
    assert of_all == {
        "num_q": "4",
        "num_rel": "6",
        "num_rel_ret": "2",
        "success_1": "0.0000",
        "success_5": "0.5000",
        "success_10": "0.5000",
        "unj_5": "0.1500",
        "unj_10": "0.0750",
        "unj_20": "0.0375",
        "map": "0.1250",
    }
    assert (lines["num_rel", "q3"], lines["num_rel", "q4"], lines["unj_5", "q1"]) == (
        "2",
        "0",
        "0.4000",
    )
