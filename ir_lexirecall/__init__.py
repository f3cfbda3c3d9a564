"""Lexicographic recall, C/W/L variants of ERR, rank-biased utility and multi-aspect measures.

Importing this package makes ir_measures know the measures: as objects, as strings, and in every
tool built on it.

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

from ir_lexirecall import measures as _measures
from ir_lexirecall._util.lazy import exports as _exports
from ir_lexirecall.evaluation import provider
from ir_lexirecall.measures import Measure as Measure

if TYPE_CHECKING:
    from ir_lexirecall.benchmarks import benchmark as benchmark
    from ir_lexirecall.comparison import compare as compare
    from ir_lexirecall.comparison import gate as gate
    from ir_lexirecall.data import demo as demo
    from ir_lexirecall.data.judgments import load as load
    from ir_lexirecall.descriptions import describe as describe
    from ir_lexirecall.evaluation.acceleration import accelerate as accelerate
    from ir_lexirecall.evaluation.evaluating import evaluate as evaluate
    from ir_lexirecall.evaluation.evaluating import tie_audit as tie_audit
    from ir_lexirecall.evaluation.one_ranking import scorer as scorer
    from ir_lexirecall.judging.bounds import judgment_bounds as judgment_bounds
    from ir_lexirecall.reports import report as report
    from ir_lexirecall.significance import SignificanceTest as SignificanceTest

    def __getattr__(name: str) -> Measure: ...

else:
    _FUNCTIONS = {
        "SignificanceTest": "ir_lexirecall.significance",
        "accelerate": "ir_lexirecall.evaluation.acceleration",
        "benchmark": "ir_lexirecall.benchmarks",
        "compare": "ir_lexirecall.comparison",
        "gate": "ir_lexirecall.comparison",
        "describe": "ir_lexirecall.descriptions",
        "evaluate": "ir_lexirecall.evaluation.evaluating",
        "judgment_bounds": "ir_lexirecall.judging.bounds",
        "load": "ir_lexirecall.data.judgments",
        "report": "ir_lexirecall.reports",
        "scorer": "ir_lexirecall.evaluation.one_ranking",
        "tie_audit": "ir_lexirecall.evaluation.evaluating",
    }
    _MODULES = {
        name: f"ir_lexirecall.{name}" for name in ("meta", "plots", "significance")
    }
    _MODULES["demo"] = "ir_lexirecall.data.demo"
    __getattr__, __dir__ = _exports(__name__, _FUNCTIONS | _MODULES)
    globals().update({name: getattr(_measures, name) for name in _measures.__all__})
    __all__ = ["Measure", *_FUNCTIONS, *_measures.__all__]

__version__ = "0.1.0"

provider.register()
if _os.environ.get("IR_LEXIRECALL_ACCELERATE", "0") not in ("", "0"):
    from ir_lexirecall.evaluation import acceleration as _acceleration

    _acceleration.accelerate()
