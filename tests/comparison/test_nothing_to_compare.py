"""Where nothing can be compared, every door gives an answer or says so in plain words."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import ir_lexirecall as irl
from ir_lexirecall import plots
from ir_lexirecall.benchmarks import Benchmark
from ir_lexirecall.comparison import Comparison

pytestmark = pytest.mark.sparse

NOBODY = {"q": {"a": 0, "b": 0}, "r": {"c": 0}}
BOTH = {"q": {"a": 1, "b": 0}, "r": {"c": 1}}
HALF = {"q": {"a": 0, "b": 0}, "r": {"c": 1}}
ONE = {"q": {"a": 1, "b": 0}}
A = {"q": {"a": 2.0, "b": 1.0}, "r": {"c": 1.0}}
B = {"q": {"b": 2.0, "a": 1.0}, "r": {"c": 1.0}}
RUNS = {"a": A, "b": B}
ALONE = {"a": A}
GROUPS = {"q": "x", "r": "y"}
TEST = irl.SignificanceTest(n_resamples=50, progress=False)
UNITS = irl.SignificanceTest("bootstrap", n_resamples=50, progress=False, cluster=True)
CRITERIA = ["lexirecall", "AP"]


def compared(
    qrels: Any, by: Any = CRITERIA, **options: Any
) -> Callable[[], Comparison]:
    return lambda: irl.compare(qrels, RUNS, by, **{"test": TEST, **options})


def suite(
    first: Any,
    second: Any,
    of_first: Any,
    of_second: Any,
    by: Any = CRITERIA,
    **options: Any,
) -> Any:
    qrels, runs = {"one": first, "two": second}, {"one": of_first, "two": of_second}
    return lambda: irl.benchmark(
        qrels, runs, by, missing="skip", **{"test": TEST, **options}
    )


COMPARISONS = {
    "no relevant": compared(NOBODY),
    "no relevant, measure first": compared(NOBODY, CRITERIA[::-1]),
    "no relevant, margin": compared(NOBODY, baseline="a", margin=0.1),
    "no relevant, groups": compared(NOBODY, baseline="a", groups=GROUPS),
    "no relevant, units": compared(NOBODY, groups=GROUPS, test=UNITS),
    "no relevant, all at once": compared(
        NOBODY, test=irl.SignificanceTest("tukey", n_resamples=50)
    ),
    "one query": compared(ONE),
    "one query, margin": compared(ONE, baseline="a", margin=0.1),
    "a group without relevant": compared(HALF, baseline="a", groups=GROUPS, margin=0.1),
}
BENCHMARKS = {
    "only the baseline left": suite(BOTH, BOTH, RUNS, ALONE, baseline="a"),
    "only the baseline left, margin": suite(
        BOTH, BOTH, RUNS, ALONE, baseline="a", margin=0.1
    ),
    "only the baseline left, preference": suite(
        BOTH, BOTH, RUNS, ALONE, "rpp", baseline="a"
    ),
    "the baseline alone": suite(BOTH, BOTH, ALONE, ALONE, baseline="a"),
    "the baseline alone, one collection": lambda: irl.benchmark(
        BOTH, ALONE, CRITERIA, baseline="a", test=TEST
    ),
    "one run": suite(BOTH, BOTH, ALONE, ALONE),
    "one run, preference": suite(BOTH, BOTH, ALONE, ALONE, "lexirecall"),
    "no run in common": suite(BOTH, BOTH, ALONE, {"b": B}),
    "no relevant": suite(NOBODY, BOTH, RUNS, RUNS, baseline="a"),
    "one query each": suite(ONE, ONE, RUNS, RUNS, baseline="a"),
    "a value per task": lambda: irl.benchmark(
        values={
            name: {"a": {"task": {"AP": value}}}
            for name, value in (("one", 0.5), ("two", 0.4))
        },
        baseline="a",
        test=TEST,
    ),
}
"""Results of which some, or all, methods have nothing to compare."""

ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "explain": ("a", "b"),
    "queries_needed": (0.1,),
    "queries_for_margin": (0.1,),
    "with_test": ("t",),
    "with_baseline": ("a",),
}
"""What methods need to be told."""


def calls(
    result: Comparison | Benchmark, folder: Path
) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield calls of all public methods that users call, by every criterion, and all pictures."""
    kind = type(result)
    for name in sorted(
        {name for name in dir(kind) if not name.startswith("_")}
        | {"_repr_html_", "__str__"}
    ):
        method = inspect.getattr_static(kind, name)
        if isinstance(method, property) or name == "diagnostics":
            yield name, lambda name=name: getattr(result, name)
        if not inspect.isfunction(method) or name == "plot":
            continue
        parameters = inspect.signature(method).parameters
        needed = [p for p in list(parameters.values())[1:] if p.default is p.empty]
        if needed and name not in ARGUMENTS:
            continue  # of the machinery, or of a mapping
        given = ARGUMENTS.get(name, ())
        options: list[dict[str, Any]] = [{}]
        options += [{"by": by} for by in result.criteria if "by" in parameters]
        options += [{"holds": True}] if "holds" in parameters else []
        options += [{"over": "collections"}] if "over" in parameters else []
        for named in options:
            yield name, partial(getattr(result, name), *given, **named)
    for picture in plots.KINDS[kind]:
        runs = ("a", "b") if picture == "pair" else ()
        yield "plot", partial(result.plot, picture, *runs)
        yield (
            picture,
            partial(getattr(plots, picture), result, *runs, by=result.criteria[-1]),
        )
    yield "report", lambda: irl.report(result, folder / "report.html")


NUMPY_WORDS = (
    "array",
    "concatenate",
    "axis",
    "reshape",
    "shape",
    "index",
    "reduction",
    "dtype",
)


def assert_answers(result: Comparison | Benchmark, folder: Path) -> list[str]:
    """Check that every call answers, or says in plain words why it cannot; return what was said."""
    said = []
    for name, call in calls(result, folder):
        try:
            call()
        except ValueError as error:
            message = str(error)
            assert name.startswith(("_", "by_group", "check")) or message.startswith(
                f"{name}: "
            ), (
                name,
                message,
            )
            assert not any(word in message for word in NUMPY_WORDS), (name, message)
            said.append(message)
    return said


@pytest.mark.sparse
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", COMPARISONS)
def test_a_comparison_answers_or_says_why_not(case: str, tmp_path: Path) -> None:
    said = assert_answers(COMPARISONS[case](), tmp_path)
    if case.startswith("no relevant"):
        assert any(
            "no query has a relevant document: nothing can be compared" in m
            for m in said
        )


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", BENCHMARKS)
def test_a_benchmark_answers_or_says_why_not(case: str, tmp_path: Path) -> None:
    result = BENCHMARKS[case]()
    said = assert_answers(result, tmp_path)
    if case == "no run in common":
        for name in ("best_set", "friedman", "overall", "plot"):
            wanted = (
                f"{name}: no run is common to all collections: nothing can be compared"
            )
            assert any(message.startswith(wanted) for message in said)
    if case.startswith(("only the baseline left", "the baseline alone")):
        assert (
            "forest: only the baseline 'a' is left: nothing can be compared with it"
            in " ".join(said)
        )
        assert result.replicated().empty
        assert [x.shape[0] for x in result.differences_of()] == [0] * len(result)


@pytest.mark.parametrize("margin", [None, 0.1])
def test_the_summary_says_that_only_the_baseline_is_left(margin: float | None) -> None:
    result = suite(BOTH, BOTH, RUNS, ALONE, "AP", baseline="a", margin=margin)()
    assert (
        "Only the baseline a is left: nothing can be compared with it."
        in result.summary(full=True)
    )
    assert "verdict" not in result.overall()
    assert "significantly better" not in result.to_markdown()


def test_a_comparison_of_the_baseline_alone_has_a_table_without_rows() -> None:
    (alone,) = irl.benchmark(
        BOTH, ALONE, CRITERIA, baseline="a", margin=0.1, test=TEST
    ).values()
    table = alone.table()
    assert table.empty
    assert {"worse_p", "better_p", "within_p", "not_worse_p", "verdict"} <= set(
        table.columns
    )


def test_a_gate_says_how_labels_below_1_count() -> None:
    runs = {name: irl.demo.run(name) for name in ("bm25", "ql")}
    low = irl.demo.qrels()
    low = low.assign(relevance=low["relevance"] * 0.25)
    with pytest.raises(
        ValueError, match=r"highest grade is 0\.75; load .*levels=\[0\.5\]"
    ):
        irl.gate(low, runs["bm25"], runs["ql"], "AP")
    nothing = low.assign(relevance=0)
    with pytest.raises(ValueError, match=r"nothing can be compared$"):
        irl.gate(nothing, runs["bm25"], runs["ql"], "AP")


@pytest.mark.parametrize(
    "by", ["nDCG@10", "ERR@20", "LR(rel=0.5)", ["RBP", "lexirecall(rel=0.5)"]]
)
def test_a_gate_takes_criteria_that_labels_below_1_suit(by: Any) -> None:
    qrels = {f"q{i}": {"a": 0.7, "b": 0.2} for i in range(9)}
    before = {q: {"a": 2.0, "b": 1.0} for q in qrels}
    after = {q: {"b": 2.0, "a": 1.0} for q in qrels}
    assert irl.gate(qrels, before, after, by).outcome == "worse"


@pytest.mark.parametrize(
    ("label", "by", "unreached"),
    [
        (0.7, ["nDCG@10", "AP", "TSE"], "AP, TSE"),
        (0.7, "lexirecall", "lexirecall"),
        (1, ["nDCG", "P(rel=2)@1"], r"P\(rel=2\)@1"),
        (1, "LR(rel=2)", r"LR\(rel=2\)"),
    ],
)
def test_a_gate_names_criteria_for_which_nothing_is_relevant(
    label: float, by: Any, unreached: str
) -> None:
    qrels = {"q": {"a": label}}
    run = {"q": {"a": 1.0}}
    message = f"nothing can be compared by {unreached}; their highest grade is {label}"
    with pytest.raises(ValueError, match=f"^gate: .*{message}"):
        irl.gate(qrels, run, run, by)


@pytest.mark.parametrize("method", ["table", "verdicts"])
@pytest.mark.parametrize("options", [{}, {"baseline": "a"}])
def test_a_table_of_a_single_run_says_why_it_is_empty(
    options: dict[str, str], method: str
) -> None:
    qrels = {"q": {"x": 1, "y": 0}}
    runs = {"a": {"q": {"x": 2.0, "y": 1.0}}}
    both = {"c": qrels, "d": qrels}
    result = irl.benchmark(both, dict.fromkeys(both, runs), "AP", **options)
    with pytest.warns(UserWarning, match=f"^{method}: 'a' is the only run that all"):
        assert getattr(result, method)().empty
    sentence = "a is the only run that all collections have: nothing is compared."
    if options:
        sentence = "Only the baseline a is left: nothing can be compared with it."
    assert sentence in str(result)


def test_plans_say_which_queries_they_need() -> None:
    qrels = {"q1": {"a": 0}, "q2": {"b": 0}, "q3": {"c": 1}}
    runs = {name: {"q3": {"c": 1.0}, "q1": {name: 1.0}} for name in "xy"}
    result = irl.compare(qrels, runs, ["lexirecall", "AP"])
    message = "needs at least 2 queries with relevant documents, not 1"
    for plan in (result.detectable, lambda by: result.queries_needed(0.1, by=by)):
        with pytest.raises(ValueError, match=message):
            plan(by="lexirecall")


def test_a_run_that_is_left_is_not_called_the_only_one() -> None:
    qrels = {"q1": {"x": 1, "y": 0}, "q2": {"x": 1, "y": 0}}
    run = {q: {"x": 2.0, "y": 1.0} for q in qrels}
    both = {"c": qrels, "d": qrels}
    runs = {"c": {"a": run, "b": run}, "d": {"a": run}}
    result = irl.benchmark(both, runs, "AP", missing="skip")
    assert "a is the only run that all collections have: nothing" in str(result)
