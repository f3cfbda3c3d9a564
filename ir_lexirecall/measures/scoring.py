"""Values of any measure for an aligned run: ours, ir_measures' own, or another provider's."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from math import inf, log2
from subprocess import CalledProcessError
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import ir_measures
import numpy as np
from ir_measures.measures.base import MeanAgg, SumAgg
from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall._util.arrays import Floats
from ir_lexirecall._util.errors import and_more, shortened, shown_names, warn
from ir_lexirecall.measures.declaration import Measure, Utility
from ir_lexirecall.measures.other_programs import BY_OTHERS, is_of_ndeval, ndeval_values
from ir_lexirecall.measures.recall import nested_of_one
from ir_lexirecall.measures.trec_eval import (
    BY_TREC_EVAL,
    Score,
    is_read_by_program,
    optional,
)

if TYPE_CHECKING:
    import pandas as pd

    from ir_lexirecall.data.aligned_run import AlignedRun, Merit
    from ir_lexirecall.data.judgments import Judgments

HALF = 0.5
"""The grade from which messages propose to count documents as relevant: most judges would."""
_MOST_DOCUMENTS = 2**26  # of a stand-in run


def is_native(measure: IRMeasure) -> bool:
    """Return whether this library computes a measure itself, from ranks of judged documents."""
    return isinstance(measure, Measure) or is_standard(measure) or is_of_ndeval(measure)


def is_standard(measure: IRMeasure) -> bool:
    """Return whether a measure of ir_measures, with its parameters, is computed here.

    >>> from ir_measures import AP, RBP, Compat, P
    >>> measures = AP(rel=2) @ 100, RBP(rel=1), P @ 10, P, Compat(p=0.8)
    >>> [is_standard(measure) for measure in measures]
    [True, True, True, False, False]
    """
    supported = measure.SUPPORTED_PARAMS
    if type(measure) not in _STANDARD or not measure.params.keys() <= supported.keys():
        return False
    for name, param in supported.items():
        if param.required and name not in measure.params:
            return False
    return True


def smaller_is_better(measure: IRMeasure) -> bool:
    """Return whether the smaller value of a measure is the better one.

    >>> import ir_measures
    >>> smaller_is_better(ir_measures.AP)
    False
    """
    return isinstance(measure, Measure) and measure.is_cost()


def identical(measure: IRMeasure) -> bool:
    """Return whether `values` gives, bit for bit, what ir_measures gives for this measure.

    True for what pytrec_eval provides. Other providers break ties in other ways, and pytrec_eval
    reads only plain decimal parameters.

    >>> from ir_measures import AP, RBP, RR, nDCG
    >>> [identical(measure) for measure in (AP, nDCG @ 10, RR, RR @ 10, RBP(rel=1), AP(rel=0))]
    [True, True, True, False, False, False]
    """
    if not is_standard(measure) or measure.NAME not in BY_TREC_EVAL:
        return False
    params = measure.params.items()
    return all(is_read_by_program(measure, name, value) for name, value in params)


def check_served(measures: Iterable[IRMeasure]) -> None:
    """Raise if no provider supports a measure, before anything is scored.

    >>> class Unserved(IRMeasure):
    ...     NAME = __name__ = "Unserved"
    >>> check_served([Unserved()])
    Traceback (most recent call last):
    ValueError: Unsupported measures {Unserved}.
    """
    for measure in measures:
        if not is_native(measure):
            ir_measures.evaluator([measure], {"q": {"d": 1}})


def score(measure: IRMeasure, run: AlignedRun) -> Floats | Utility:
    """Return values of all queries, shape `(Q,)`; of C/W/L measures with cost and utility."""
    if isinstance(measure, Measure):
        result = measure.score(run.condensed() if measure["judged_only"] else run)
        array = result.value if isinstance(result, Utility) else result
        queries = len(run.judgments)
        # The score of a measure of the user's may return anything.
        if (
            not isinstance(array, np.ndarray)
            or array.shape != (queries,)
            or array.dtype.kind not in "fiu"
        ):
            shape = getattr(array, "shape", type(array).__name__)
            raise ValueError(
                f"{measure}: score must give an array of {queries} numbers, one per query, not "
                f"{shape}"
            )
        return result
    if is_standard(measure):
        return _STANDARD[type(measure)](measure, run)
    if is_of_ndeval(measure):
        return ndeval_values(measure, run)
    return _by_provider(measure, run)


def with_threshold(measure: IRMeasure, threshold: float | None) -> IRMeasure:
    """Return a measure with a threshold as its `rel`, unless it names one or has none."""
    if threshold is None or "rel" not in measure.SUPPORTED_PARAMS:
        return measure
    if "rel" in measure.params:
        return measure
    return measure(rel=threshold)


def values(
    measure: IRMeasure, run: AlignedRun, threshold: float | None = None
) -> Floats:
    """Return values of all queries, shape `(Q,)`.

    `threshold` is the measure's `rel` unless it names one itself.
    """
    result = score(with_threshold(measure, threshold), run)
    if isinstance(result, Utility):
        return result.value
    return result


def check_judgments(measures: Collection[IRMeasure], judgments: Judgments) -> None:
    """Check that judgments suit the measures; called once for all measures of a call.

    Raises:
        ValueError: a measure of this library cannot use the judgments.
    """
    for measure in measures:
        if isinstance(measure, Measure):
            measure.check_judgments(judgments)
    warn_of_grades(measures, judgments)


def warn_of_grades(measures: Collection[IRMeasure], judgments: Judgments) -> None:
    """Warn if the grades of the judgments do not suit the measures."""
    warn_of_several_grades(measures, judgments)
    least_grades = [(measure, least_grade(measure)) for measure in measures]
    warn_if_unreached(least_grades, judgments)


_OF_SEVERAL_GRADES = ("subtopics", "aspects")
"""Families of measures that look at several grades of a document."""
_OF_BEING_JUDGED = frozenset(["Judged", "Unjudged"])
_WITHOUT_GRADES = _OF_BEING_JUDGED | {"NumQ", "NumRet"}


def counts_judged(measure: IRMeasure) -> bool:
    """Return whether a measure looks at which documents are judged, not at their grades.

    >>> from ir_measures import P, Judged
    >>> counts_judged(Judged @ 10), counts_judged(P @ 10)
    (True, False)
    """
    return measure.NAME in _OF_BEING_JUDGED


def merit_in_ties(measure: IRMeasure) -> Merit:
    """Return by what tied documents are ordered for the ends of a measure.

    >>> from ir_measures import parse_measure, Judged
    >>> merit_in_ties(Judged @ 10), merit_in_ties(parse_measure("AP"))
    ('judged', 'grade')
    >>> merit_in_ties(parse_measure("GERR(max_rel=1,unjudged='best')"))
    'unjudged first'
    """
    if counts_judged(measure):
        return "judged"
    if measure.params.get("unjudged") == "best":
        return "unjudged first"
    return "grade"


_NOT_RISING = frozenset(["infAP", "BPM", "INST"])
"""Measures of one grade that can fall when a better document moves up."""


def rises_with_merit(measure: IRMeasure) -> bool:
    """Return whether a measure is known never to fall when a better document moves up.

    >>> from ir_measures import AP, infAP, alpha_nDCG
    >>> rises_with_merit(AP), rises_with_merit(infAP), rises_with_merit(alpha_nDCG)
    (True, False, False)
    """
    if isinstance(measure, Measure):
        is_of_library = type(measure).__module__.startswith("ir_lexirecall.")
        return is_of_library and measure.FAMILY not in _OF_SEVERAL_GRADES
    return is_standard(measure) and measure.NAME not in _NOT_RISING


def takes_one_grade(measure: IRMeasure) -> bool:
    """Return whether a measure looks at one grade of each document, not at those for subtopics.

    >>> from ir_measures import AP, Judged, alpha_nDCG
    >>> takes_one_grade(AP), takes_one_grade(Judged), takes_one_grade(alpha_nDCG)
    (True, False, False)
    """
    if measure.NAME in _WITHOUT_GRADES or is_of_ndeval(measure):
        return False
    return getattr(measure, "FAMILY", "") not in _OF_SEVERAL_GRADES


def warn_of_several_grades(measures: Iterable[IRMeasure], judgments: Judgments) -> None:
    """Warn if documents have several grades, of which a measure of one grade takes the highest."""
    documents = judgments.with_several_grades
    of_one_grade = [measure for measure in measures if takes_one_grade(measure)]
    if not len(documents) or not of_one_grade:
        return
    first = judgments.label_of(int(documents[0]))
    warn(several_grades_message(first, len(documents) - 1, of_one_grade))


def several_grades_message(
    first: str, n_others: int, measures: Iterable[IRMeasure]
) -> str:
    """Return the warning of documents with several grades, of which the first one is named.

    Args:
        first: the document.
        n_others: how many other documents have several grades.
        measures: the measures that take one grade, the highest, where the warning is shown.
    """
    names = shown_names([str(measure) for measure in measures], 3)
    return (
        f"{first} has several grades, for subtopics{and_more(n_others)}; here the highest one "
        f"counts by {names}, but ir_measures and pt.Experiment alone take that of the last row, "
        "so their values can differ"
    )


class GradeRange(NamedTuple):
    """The highest grade of judgments that are elsewhere, and the lowest one above 0."""

    highest_grade: float
    lowest_gain: float


def warn_if_unreached(
    least_grades: Collection[tuple[object, float]], grades: Judgments | GradeRange
) -> None:
    """Warn of criteria for which no document is relevant, or none with a grade below 1.

    Where the highest grade is 1, those between 0 and 1 are probabilities or votes as a rule, most
    of which are meant to count.

    Args:
        least_grades: criteria, each with the smallest grade that counts as relevant. Their names
            are made for warnings only: they take longer than a small evaluation.
        grades: the judgments.
    """
    top = grades.highest_grade
    # A rel below 1 is one that the user chose.
    partly = [criterion for criterion, least in least_grades if least == 1 == top]
    if partly and grades.lowest_gain < 1:
        warn(
            f"grades between 0 and 1, such as {grades.lowest_gain:g}, count as not relevant for "
            f"{_shown_once(partly)}{way_to_reach(HALF)}"
        )
    reached = max(top, 0)
    unreached = [criterion for criterion, least in least_grades if reached < least]
    if not unreached or top == -inf:  # there are no judgments
        return
    message = (
        f"no grade of the qrels is high enough to count as relevant for "
        f"{_shown_once(unreached)}: the highest is {top:g}, so every ranking scores 0"
    )
    warn(message + way_to_reach(top))


def _shown_once(criteria: Iterable[object]) -> str:
    """Return the names of criteria without repeats."""
    return shown_names(list(dict.fromkeys(map(str, criteria))))


def way_to_reach(top: float) -> str:
    """Return how to count documents of the highest grade as relevant, as the end of a message.

    It is empty if no grade is above 0.
    """
    if top <= 0:
        return ""
    if top >= 1:
        return f"; give a rel of at most {top:g}"
    level = min(HALF, top)
    return (
        f"; load the qrels with levels=[{level:g}] (--levels {level:g}) to count grades from "
        f"{level:g} on as 1, or give measures of this library a smaller rel, as in LR(rel=0.5)"
    )


def least_grade(measure: IRMeasure) -> float:
    """Return the smallest grade that counts as relevant; 0 if any grade has a gain."""
    rel = optional(measure, "rel")
    if rel is not None:
        return rel
    if isinstance(measure, Measure):
        return measure.least_grade()
    return 0.0


def aggregate(measure: IRMeasure, per_query: Floats) -> float:
    """Return one number from the values of all queries, by the measure's own aggregator.

    Values are added up in the order of the queries.
    """
    aggregator = measure.aggregator()
    if type(aggregator) in (MeanAgg, SumAgg) and len(per_query):
        # Other programs add up one by one.
        total = float(per_query[0])
        if len(per_query) > 1:
            total = float(np.cumsum(per_query)[-1])
        if type(aggregator) is MeanAgg:
            return total / len(per_query)
        return total
    for value in per_query.tolist():
        aggregator.add(value)
    return float(aggregator.result())


def mean(measure: IRMeasure, per_query: Floats) -> float:
    """Return the mean over queries, also of counts, which `aggregate` adds up."""
    total = aggregate(measure, per_query)
    if is_added_up(measure):
        return total / max(1, len(per_query))
    return total


def is_added_up(measure: IRMeasure) -> bool:
    """Return whether tables show a sum over queries (`NumRet`), not a mean."""
    return type(measure.aggregator()) is SumAgg


def _by_provider(measure: IRMeasure, run: AlignedRun) -> Floats:
    """Values of any measure that an installed ir_measures provider scores, shape ``(Q,)``.

    Raises:
        ValueError: no provider scores it, it fails, a grade is not a whole number, or the rankings
            are too long to make up.
    """
    import pandas as pd

    judgments = run.judgments
    judgments.check_whole_grades(str(measure))
    if run.depth.sum() > _MOST_DOCUMENTS:
        raise ValueError(
            f"{measure} needs every document of the rankings, {run.depth.sum():,} in all, but is "
            f"computed for at most {_MOST_DOCUMENTS:,}; cut the rankings, or name another measure"
        )
    # No unjudged document has such a name.
    names = [f"judged-{row}" for row in range(len(judgments.query))]
    renamed = replace(judgments, docs=names)
    stand_in = pd.DataFrame(replace(run, judgments=renamed).as_run("unjudged-"))
    qrels = renamed.for_ir_measures()
    try:
        by_query = _values_of_provider(measure, qrels, stand_in)
    except (ArithmeticError, CalledProcessError) as error:
        raise ValueError(_failure(measure, qrels, stand_in, error)) from error
    return np.array(
        [by_query.get(query_id, measure.DEFAULT) for query_id in judgments.query_ids],
        dtype=np.float64,
    )


def _values_of_provider(
    measure: IRMeasure, qrels: pd.DataFrame, run: pd.DataFrame
) -> dict[str, float]:
    """Return the value of each query that ir_measures' provider computes."""
    metrics = ir_measures.iter_calc([measure], qrels, run)
    return {metric.query_id: metric.value for metric in metrics}


def _failure(
    measure: IRMeasure, qrels: pd.DataFrame, run: pd.DataFrame, error: Exception
) -> str:
    """Return the message on a measure that ir_measures' provider cannot compute."""
    hint = ""
    if measure.NAME == "Accuracy":
        hint = (
            ", which it does where no document retrieved is below the level of relevance; "
            "the share of queries with a relevant document at the top is Success@1"
        )
    failing = _failing_query(measure, qrels, run)
    query = "" if failing is None else f" for query {failing!r}"
    return (
        f"{measure}: ir_measures' provider fails{query} ({shortened(str(error))}){hint}; leave out "
        f"the measure{' or the query' if query else ''}"
    )


def _failing_query(
    measure: IRMeasure, qrels: pd.DataFrame, run: pd.DataFrame
) -> str | None:
    """Return the first query for which a provider fails; None if it fails for all together."""
    for query_id, ranking in run.groupby("query_id", sort=False):
        try:
            _values_of_provider(measure, qrels[qrels["query_id"] == query_id], ranking)
        except ArithmeticError:
            return str(query_id)
        except CalledProcessError:
            return None
    return None


_STANDARD: dict[type[IRMeasure], Score] = {
    type(getattr(ir_measures, name)): function
    for name, function in {**BY_TREC_EVAL, **BY_OTHERS}.items()
}


# -- one query -------------------------------------------------------------------------------------
# The commonest measures from a few numbers: arrays would take longer to make than to compute with.
# Every function adds and
# divides doubles in the order of the formulas over all queries, so that values are theirs to the
# last bit.

OfRanks: TypeAlias = Callable[[list[int], int, float], float]
"""From the ranks of the relevant documents retrieved (down to the cutoff), m, and the cutoff."""


def function_of_ranks(measure: IRMeasure) -> OfRanks | None:
    """Return the function of ranks and m that computes a measure; None for others.

    >>> import ir_measures
    >>> function_of_ranks(ir_measures.AP)([1, 4], 2, float("inf"))
    0.75
    """
    supported = measure.SUPPORTED_PARAMS
    plain = all(
        name in ("rel", "cutoff") or value == supported[name].default
        for name, value in measure.params.items()
    )
    if plain:
        return _OF_RANKS.get(
            type(measure).__module__.partition(".")[0] + "." + measure.NAME
        )
    return None


def is_plain_ndcg(measure: IRMeasure) -> bool:
    """Return whether a measure is ir_measures' nDCG with grades as gains."""
    if type(measure) is not type(ir_measures.nDCG):
        return False
    return measure.params.keys() <= {"cutoff"}


def dcg(ranked: Sequence[tuple[int, float]], k: float) -> float:
    """Return DCG down to rank k of (rank, gain) pairs in order of rank."""
    total = 0.0
    for rank, gain in ranked:
        if rank > k:
            break
        total += gain / log2(rank + 1)
    return total


def _ap(ranks: list[int], m: int, k: float) -> float:
    """Return AP from the ranks of the m relevant documents that were retrieved."""
    total = 0.0  # not sum(), which rounds otherwise from Python 3.12 on
    for i, p in enumerate(ranks, start=1):
        total += i / p
    return total / m


_OF_RANKS: dict[str, OfRanks] = {
    "ir_measures.AP": _ap,
    "ir_measures.RR": lambda ranks, m, k: 1 / ranks[0],
    "ir_measures.P": lambda ranks, m, k: len(ranks) / k,
    "ir_measures.R": lambda ranks, m, k: len(ranks) / m,
    "ir_measures.Rprec": lambda ranks, m, k: bisect_right(ranks, m) / m,
    "ir_measures.Success": lambda ranks, m, k: 1.0,
    "ir_lexirecall.LexiRecall": lambda ranks, m, k: nested_of_one(ranks, m),
    "ir_lexirecall.TSE": lambda ranks, m, k: 1 / ranks[-1] if len(ranks) == m else 0.0,
}
