"""Lexicographic recall, C/W/L variants of ERR, rank-biased utility and multi-aspect measures.

Importing this package makes ir_measures know the measures: as objects, as strings, and in every tool built on it.

>>> import ir_lexirecall as irl
>>> from ir_lexirecall import TSE, LR
>>> qrels = {"q1": {"d1": 1, "d2": 1}}
>>> run = {"q1": {"d1": 9.0, "d7": 8.0, "d2": 7.0}}
>>> irl.evaluate([TSE, LR, "nDCG@10"], qrels, run).round(3)
            TSE  LexiRecall  nDCG@10
query_id
q1        0.333       0.933     0.92
"""

import os as _os
from typing import TYPE_CHECKING

from ir_lexirecall import provider
from ir_lexirecall.benchmark import benchmark
from ir_lexirecall.lazy import exports as _exports
from ir_lexirecall.measures import (
    CAM,
    CT,
    CWL_ERR8,
    CWL_ERR9,
    CWL_ERR10,
    CWL_ERR11,
    CWL_RBP,
    EU,
    GERR,
    IA,
    LR,
    MM,
    RBU,
    RE,
    SL3,
    SRR,
    TOMA,
    TSE,
    D_nDCG,
    DSharp,
    LexiRecall,
    Measure,
    nDCG_JK,
)
from ir_lexirecall.report import report

if TYPE_CHECKING:
    from ir_lexirecall.acceleration import accelerate
    from ir_lexirecall.alignment import AlignedRun, align
    from ir_lexirecall.audit import tie_audit
    from ir_lexirecall.benchmark import Benchmark, BenchmarkSuite
    from ir_lexirecall.collections import Collection, load
    from ir_lexirecall.descriptions import Description, describe
    from ir_lexirecall.evaluation import evaluate
    from ir_lexirecall.judgments import Judgments
    from ir_lexirecall.preferences import Preferences, compare
    from ir_lexirecall.readers import nugget_qrels
    from ir_lexirecall.runs import ScoredRuns
    from ir_lexirecall.significance import SignificanceTest
else:
    __getattr__, __dir__ = _exports(
        __name__,
        {
            "AlignedRun": "ir_lexirecall.alignment",
            "Benchmark": "ir_lexirecall.benchmark.single",
            "BenchmarkSuite": "ir_lexirecall.benchmark.suite",
            "Collection": "ir_lexirecall.collections",
            "Description": "ir_lexirecall.descriptions",
            "Judgments": "ir_lexirecall.judgments",
            "Preferences": "ir_lexirecall.preferences",
            "ScoredRuns": "ir_lexirecall.runs",
            "SignificanceTest": "ir_lexirecall.significance",
            "accelerate": "ir_lexirecall.acceleration",
            "align": "ir_lexirecall.alignment",
            "compare": "ir_lexirecall.preferences",
            "describe": "ir_lexirecall.descriptions",
            "evaluate": "ir_lexirecall.evaluation",
            "load": "ir_lexirecall.collections",
            "nugget_qrels": "ir_lexirecall.readers",
            "tie_audit": "ir_lexirecall.audit",
            **{
                name: f"ir_lexirecall.{name}"
                for name in ("arrow", "demo", "meta", "plots", "preferences", "readers", "significance", "trec")
            },
        },
    )

__version__ = "0.1.0"

__all__ = [
    "CAM",
    "CT",
    "CWL_ERR8",
    "CWL_ERR9",
    "CWL_ERR10",
    "CWL_ERR11",
    "CWL_RBP",
    "EU",
    "GERR",
    "IA",
    "LR",
    "MM",
    "RBU",
    "RE",
    "SL3",
    "SRR",
    "TOMA",
    "TSE",
    "AlignedRun",
    "Benchmark",
    "BenchmarkSuite",
    "Collection",
    "DSharp",
    "D_nDCG",
    "Description",
    "Judgments",
    "LexiRecall",
    "Measure",
    "Preferences",
    "ScoredRuns",
    "SignificanceTest",
    "accelerate",
    "align",
    "benchmark",
    "compare",
    "describe",
    "evaluate",
    "load",
    "nDCG_JK",
    "nugget_qrels",
    "report",
    "tie_audit",
]

provider.register()
if _os.environ.get("IR_LEXIRECALL_ACCELERATE", "0") not in ("", "0"):
    from ir_lexirecall import acceleration as _acceleration

    _acceleration.accelerate()
