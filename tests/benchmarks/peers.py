"""What this library is compared with: other evaluation tools, plain Python loops."""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import cache
from typing import Any

import ir_measures
from ir_measures import AP, NERR8, NERR9, NERR10, NERR11, R, alpha_nDCG, nDCG

from tests.benchmarks.data import Collection, Dicts, Files, Systems
from tests.support.reference import lexirecall_preference

STANDARD = [AP, nDCG @ 10, R @ 1000]
_CWL_EVAL = [
    NERR8(max_rel=4) @ 20,
    NERR9(max_rel=4) @ 20,
    NERR10(max_rel=4),
    NERR11(max_rel=4),
]
_TREC_EVAL_NAMES = {"map", "ndcg_cut.10", "recall.1000"}
_RANX_NAMES = ["map", "ndcg@10", "recall@1000"]


class Elapsed(float):
    """Seconds that a contender took by its own clock, because only a part of its work counts."""


def standard(inputs: Collection | Dicts) -> Any:
    """AP, nDCG@10 and R@1000 by ir_measures, which calls pytrec_eval."""
    return ir_measures.calc_aggregate(STANDARD, inputs.qrels, inputs.run)


def kept(inputs: Dicts) -> Elapsed:
    """AP, nDCG@10 and R@1000 by an evaluator of ir_measures that has read the qrels already."""
    return time_of_kept(STANDARD, inputs)


def time_of_kept(measures: list[Any], inputs: Dicts, calls: int = 20) -> Elapsed:
    """How long an evaluator takes for a run once it has read the qrels."""
    evaluator = ir_measures.evaluator(measures, inputs.qrels)
    evaluator.calc_aggregate(inputs.run)
    start = time.perf_counter()
    for _ in range(calls):
        evaluator.calc_aggregate(inputs.run)
    return Elapsed((time.perf_counter() - start) / calls)


def standard_of_files(paths: Files) -> Any:
    """The same from TREC files."""
    qrels = ir_measures.read_trec_qrels(paths.qrels)
    return [
        ir_measures.calc_aggregate(STANDARD, qrels, ir_measures.read_trec_run(run))
        for run in paths.runs.values()
    ]


def pytrec_eval(dicts: Dicts) -> Any:
    """The same by pytrec_eval itself."""
    import pytrec_eval

    return pytrec_eval.RelevanceEvaluator(dicts.qrels, _TREC_EVAL_NAMES).evaluate(
        dicts.run
    )


def cwl_eval(collection: Collection) -> Any:
    """The C/W/L variants of ERR by ir_measures, which calls cwl_eval."""
    return ir_measures.calc_aggregate(_CWL_EVAL, collection.qrels, collection.run)


def pyndeval(collection: Collection) -> Any:
    """A diversity measure by ir_measures, which calls pyndeval."""
    return ir_measures.calc_aggregate(
        [alpha_nDCG @ 20], collection.qrels, collection.run
    )


def ranx_of_tables(collection: Collection) -> Any:
    """AP, nDCG@10 and R@1000 by ranx, from DataFrames; it takes strings as objects only."""
    import ranx

    names = {"q_id_col": "query_id", "doc_id_col": "doc_id"}
    qrels, run = (
        table.astype(dict.fromkeys(names.values(), object))
        for table in (collection.qrels, collection.run)
    )
    return ranx.evaluate(
        ranx.Qrels.from_df(qrels, **names, score_col="relevance"),
        ranx.Run.from_df(run, **names, score_col="score"),
        _RANX_NAMES,
    )


def ranx_of_dicts(dicts: Dicts) -> Any:
    """The same from dicts of dicts."""
    import ranx

    return ranx.evaluate(ranx.Qrels(dicts.qrels), ranx.Run(dicts.run), _RANX_NAMES)


def import_ir_measures(_: None) -> Elapsed:
    """How long ``import ir_measures`` takes a fresh interpreter."""
    return time_of_import("ir_measures")


def time_of_import(module: str, after: str = "sys") -> Elapsed:
    """How long a fresh interpreter takes to import a module when it has imported another one."""
    return _fresh_interpreter(
        f"import time, {after}; start = time.perf_counter(); import {module}; print(time.perf_counter() - start)"
    )


def first_evaluation(program: str) -> Callable[[Any], Elapsed]:
    """How long a fresh interpreter takes from its first import to the values of one small query."""
    timed = f"import time; start = time.perf_counter(); {program}; print(time.perf_counter() - start)"
    return lambda _: _fresh_interpreter(timed)


def _fresh_interpreter(program: str) -> Elapsed:
    """The time that a program prints. All modules are compiled by the first one, which nobody counts, as they are installed."""
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": _compiled()}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [sys.executable, "-W", "ignore", "-c", program]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env=environment
    )
    return Elapsed(done.stdout.split()[-1])


@cache
def _compiled() -> str:
    """A folder for compiled modules, for as long as this process lives."""
    folder = tempfile.mkdtemp(prefix="ir-lexirecall-compiled-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def loop_over_pairs(systems: Systems) -> list[float]:
    """Mean lexicographic preference of every pair of systems, one pair and one query at a time."""
    rankings = systems.relevant
    return [
        sum(
            lexirecall_preference(a, b)
            for a, b in zip(rankings[i], rankings[j], strict=True)
        )
        / len(rankings[i])
        for i in range(len(rankings))
        for j in range(i + 1, len(rankings))
    ]
