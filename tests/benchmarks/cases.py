"""The benchmarks, declared: what is measured on which inputs, and against whom."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import ir_measures

import ir_lexirecall as irl
from ir_lexirecall import CWL_ERR8, CWL_ERR9, CWL_ERR10, CWL_ERR11, RBU, TSE, LexiRecall
from ir_lexirecall.comparison import Comparison
from ir_lexirecall.comparison.compared import ComparedRuns
from ir_lexirecall.comparison.criteria import PreferenceCriterion
from ir_lexirecall.preferences.counts import PreferenceCounts
from ir_lexirecall.preferences.naming import Preference
from tests.benchmarks import data, growth, peers, suite
from tests.benchmarks.data import Collection, Dicts, Files, Size, Systems

_OURS = [TSE, LexiRecall, CWL_ERR10(max_rel=4), RBU @ 20]
_SEVEN = [*peers.STANDARD, *_OURS]
_CWL = [
    CWL_ERR8(max_rel=4) @ 20,
    CWL_ERR9(max_rel=4) @ 20,
    CWL_ERR10(max_rel=4),
    CWL_ERR11(max_rel=4),
]


@dataclass(frozen=True)
class Contender:
    """Somebody who does the work of a case on its inputs; ``needs`` is a module that may not be installed."""

    name: str
    run: Callable[[Any], Any]
    needs: str = "ir_measures"

    @property
    def installed(self) -> bool:
        """Whether the module it needs is there."""
        return find_spec(self.needs) is not None


@dataclass(frozen=True)
class Case:
    """One row of the table, or one for each peer.

    Attributes:
        build: makes the inputs for a size; files go into the folder.
        size: where the size is no matter of choice.
        memory: whether the measuring process is the one that does the work.
    """

    name: str
    what: str
    ours: Callable[[Any], Any]
    build: Callable[[Size, Path], Any]
    peers: tuple[Contender, ...] = ()
    size: Size | None = None
    memory: bool = True

    def contenders(self) -> list[Contender]:
        """This library, and the peers that are installed."""
        return [
            Contender("ours", self.ours),
            *(peer for peer in self.peers if peer.installed),
        ]


def _aggregate(inputs: Collection | Dicts) -> Any:
    return ir_measures.calc_aggregate(_OURS, inputs.qrels, inputs.run)


def _seven(inputs: Collection | Dicts) -> Any:
    return irl.evaluate(_SEVEN, inputs.qrels, inputs.run)


def _seven_accelerated(inputs: Collection | Dicts) -> Any:
    with irl.accelerate():
        return ir_measures.calc_aggregate(_SEVEN, inputs.qrels, inputs.run)


def _seven_of_files(paths: Files) -> Any:
    return [
        irl.evaluate(_SEVEN, paths.qrels, run, aggregate=True)
        for run in paths.runs.values()
    ]


def _experiment(measures: list[Any], accelerated: bool) -> Callable[[Any], Any]:
    def run(inputs: data.Experiment) -> Any:
        import pyterrier as pt

        with irl.accelerate(accelerated):
            return pt.Experiment(inputs.runs, inputs.topics, inputs.qrels, measures)

    return run


def _mean_preferences(systems: Systems) -> Any:
    counts = PreferenceCounts(systems.ranks, 1, None)
    vars(counts)["positions"] = (
        systems.positions
    )  # the loop is given its rank lists, too
    criterion = PreferenceCriterion("lexirecall", Preference("lexirecall"), counts)
    return Comparison(
        ComparedRuns(list(counts.runs), {"lexirecall": criterion})
    ).matrix()


_IR_MEASURES = Contender("ir_measures (pytrec_eval)", peers.standard, "pytrec_eval")
_IR_MEASURES_FILES = Contender(
    "ir_measures (pytrec_eval)", peers.standard_of_files, "pytrec_eval"
)
_FIRST_VALUES = (
    Contender(
        "ir_measures (pytrec_eval)",
        peers.first_evaluation(
            "import ir_measures; ir_measures.calc_aggregate([ir_measures.AP], {'q': {'d': 1}}, {'q': {'d': 1.0}})"
        ),
        "pytrec_eval",
    ),
    Contender(
        "ranx",
        peers.first_evaluation(
            "import ranx; ranx.evaluate(ranx.Qrels({'q': {'d': 1}}), ranx.Run({'q': {'d': 1.0}}), 'map')"
        ),
        "ranx",
    ),
)
_SMALL = Size(queries=1, depth=100, judged=30)

CASES = [
    Case(
        "dataframe",
        "TSE, LexiRecall, CWL_ERR10, RBU@20 of DataFrames; peers: AP, nDCG@10, R@1000",
        _aggregate,
        lambda size, _: data.collection(size),
        (_IR_MEASURES, Contender("ranx", peers.ranx_of_tables, "ranx")),
    ),
    *(
        Case(
            f"seven{name}",
            f"AP, nDCG@10, R@1000 and the four, DataFrames, through {through}; peer: AP, nDCG@10, R@1000",
            run,
            lambda size, _: data.collection(size),
            (_IR_MEASURES,),
        )
        for name, through, run in (
            ("", "evaluate", _seven),
            ("-accelerated", "ir_measures with accelerate", _seven_accelerated),
        )
    ),
    Case(
        "seven-file",
        "seven of TREC files through evaluate (a file of 3 million lines: --queries 3000); peer: AP, nDCG@10, R@1000",
        _seven_of_files,
        data.files,
        (_IR_MEASURES_FILES,),
    ),
    Case(
        "experiment",
        "plain pt.Experiment of 5 runs with accelerate, AP, nDCG@10, R@1000 and the four; peer: without accelerate",
        _experiment(_SEVEN, accelerated=True),
        lambda size, _: data.experiment(size),
        (
            Contender(
                "pt.Experiment", _experiment(_SEVEN, accelerated=False), "pyterrier"
            ),
        ),
    ),
    Case(
        "dict",
        "the same as dataframe of dicts of dicts",
        _aggregate,
        lambda size, _: data.dicts(size),
        (
            Contender("pytrec_eval", peers.pytrec_eval, "pytrec_eval"),
            Contender("ranx", peers.ranx_of_dicts, "ranx"),
        ),
    ),
    Case(
        "cwl",
        "CWL_ERR8 to CWL_ERR11; peer: NERR8 to NERR11",
        lambda inputs: ir_measures.calc_aggregate(_CWL, inputs.qrels, inputs.run),
        lambda size, _: data.collection(size),
        (Contender("ir_measures (cwl_eval)", peers.cwl_eval, "cwl"),),
    ),
    Case(
        "diversity",
        "RBU@20 on subtopics; peer: alpha_nDCG@20",
        lambda inputs: ir_measures.calc_aggregate([RBU @ 20], inputs.qrels, inputs.run),
        lambda size, _: data.diversity_collection(size),
        (Contender("ir_measures (pyndeval)", peers.pyndeval, "pyndeval"),),
    ),
    Case(
        "small-dict",
        "the four through ir_measures, 1 query x 100 documents, dicts; peer: AP, nDCG@10, R@1000",
        _aggregate,
        lambda size, _: data.dicts(size),
        (_IR_MEASURES,),
        size=_SMALL,
    ),
    Case(
        "small-kept",
        "the same with an evaluator that is kept",
        lambda inputs: peers.time_of_kept(_OURS, inputs),
        lambda size, _: data.dicts(size),
        (Contender("ir_measures (pytrec_eval)", peers.kept, "pytrec_eval"),),
        size=_SMALL,
        memory=False,
    ),
    Case(
        "small-dataframe",
        "the same as small-dict of DataFrames",
        _aggregate,
        lambda size, _: data.collection(size),
        (_IR_MEASURES,),
        size=_SMALL,
    ),
    Case(
        "import",
        "import of ir_lexirecall, and with it of ir_measures",
        lambda _: peers.time_of_import("ir_lexirecall"),
        lambda _, __: None,
        (Contender("import ir_measures", peers.import_ir_measures),),
        memory=False,
    ),
    Case(
        "start",
        "imports and the first values of one query, TSE and LR through ir_measures, in a fresh interpreter; peers: AP",
        peers.first_evaluation(
            "import ir_measures; from ir_lexirecall import TSE, LR; "
            "ir_measures.calc_aggregate([TSE, LR], {'q': {'d': 1}}, {'q': {'d': 1.0}})"
        ),
        lambda _, __: None,
        _FIRST_VALUES,
        memory=False,
    ),
    Case(
        "compare-110",
        "lexirecall, 110 systems x 249 queries x 1,000 deep, aligned, to the mean preference of every pair",
        _mean_preferences,
        lambda size, _: data.systems(size),
        (Contender("Python loop", peers.loop_over_pairs),),
        size=data.ROBUST_2004,
    ),
    Case(
        "suite",
        "3 collections x 5 Parquet runs in one benchmark call; peer: a compare call each",
        suite.benchmark_all,
        lambda size, folder: suite.write_suite(size, 3, folder),
        (Contender("compare, one by one", suite.compare_each),),
        size=Size(queries=200, depth=1000, judged=30, systems=5),
    ),
    *(
        Case(
            name,
            f"{what} of 2,000 runs x 50 queries of values (2 million pairs); beside 1,000 runs: 4 if it grows as the pairs do",
            lambda inputs, work=work: work(inputs.whole),
            growth.values,
            (Contender("1,000 runs", lambda inputs, work=work: work(inputs.half)),),
            size=growth.MANY_RUNS,
        )
        for name, what, work in (
            ("runs-2000", "table", growth.table_of),
            ("runs-2000-summary", "summary", growth.summary_of),
        )
    ),
    Case(
        "report-300",
        "report of 300 runs x 50 queries of values; beside 150 runs: 4 if it grows as the pairs do",
        lambda inputs: growth.report_of(inputs.whole, inputs.folder),
        growth.values,
        (
            Contender(
                "150 runs", lambda inputs: growth.report_of(inputs.half, inputs.folder)
            ),
        ),
        size=growth.REPORTED_RUNS,
    ),
    *(
        Case(
            name,
            f"overall() of 332 models x 41 tasks, {what} missing; beside 166 models: 4 if it grows as the pairs do",
            lambda inputs: growth.overall_of(inputs.whole),
            lambda size, _, share=share_missing: growth.leaderboard(size, share),
            (Contender("166 models", lambda inputs: growth.overall_of(inputs.half)),),
            size=growth.LEADERBOARD,
        )
        for name, what, share_missing in (
            ("leaderboard", "a tenth of them", 0.1),
            ("leaderboard-complete", "none of them", 0.0),
        )
    ),
    Case(
        "one-query",
        "AP, nDCG@10, R@1000 and the four of one query with 5 million documents; peer: AP, nDCG@10, R@1000",
        _seven,
        growth.one_query,
        (_IR_MEASURES,),
        size=growth.ONE_QUERY,
    ),
]
