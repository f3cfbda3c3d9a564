"""What measures of graded and weighted subtopics share.

Aspects (subtopics) come from the qrels' ``subtopic_id`` or ``iteration``, their weights w_t from the column ``weight``
(else equal), scaled to sum to 1 over the aspects with a relevant document. A query without relevant documents scores 0.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

import numpy as np

from ir_lexirecall._util.arrays import Floats, Ints
from ir_lexirecall.measures.declaration import Measure
from ir_lexirecall.measures.parameters import Param

if TYPE_CHECKING:
    from ir_lexirecall.data.aligned_run import AlignedRun
    from ir_lexirecall.data.judgments import Judgments


# What descriptions of several measures say.
WEIGHTS = "t: subtopics with a relevant document; w_t: their weights, equal unless the qrels have some, of sum 1"
GAIN = "r(d, t): gain of the document's grade, (2^g - 1)/2^max_rel (gain='exp') or g/max_rel ('linear')"
NOTHING = "no document relevant to a subtopic is retrieved (down to rank k), or the query has none"
BOTH = ((1, None), (None, 1))  # a ranking of a document for either subtopic


def share(desc: str, default: float) -> Param:
    """A number in [0, 1]."""
    return Param(float, desc, default=default, least=0, most=1)


def relevant_rows(run: AlignedRun, k: int | None) -> tuple[Ints, Ints, Floats]:
    """``run.aspect_rows`` of grades above 0 among the first ``k`` documents, ordered by aspect, then rank."""
    pair, rank, grade = run.aspect_rows()
    keep = (grade > 0) & (rank <= (inf if k is None else k))
    pair, rank, grade = pair[keep], rank[keep], grade[keep]
    order = np.argsort(pair, kind="stable")  # within an aspect, ranks rise already
    return pair[order], rank[order], grade[order]


def top_grades(measure: Measure, judgments: Judgments) -> Floats:
    """max_rel of every (query, aspect) pair: the parameter, or the pair's largest grade."""
    aspects = judgments.aspects
    if measure["max_rel"] is not None:
        judgments.check_top_grade_of_aspects(measure["max_rel"], str(measure))
        return np.full(len(aspects.query), float(measure["max_rel"]))
    return aspects.top_grade
