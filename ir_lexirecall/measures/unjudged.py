"""How much of a ranking's top nobody has judged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ir_lexirecall._util.arrays import Floats
from ir_lexirecall.measures.about import About, Example
from ir_lexirecall.measures.declaration import UNIT, Measure
from ir_lexirecall.measures.parameters import cutoff

if TYPE_CHECKING:
    from ir_lexirecall.data.aligned_run import AlignedRun


class Unjudged(Measure):
    """Share of the first k documents without a judgment (smaller is better).

    Share of the first k documents that have no judgment: (1/k) times their number.

    Smaller is better, and 0 says that a measure of the first k documents rests on judgments alone. A ranking of fewer documents has
    fewer without a judgment. ``Unjudged@5`` is trec_eval 10's ``unj_5``, for which a
    negative grade says that a document was pooled and not judged; where it stands for spam, ``Judged`` counts it as judged.

    >>> from ir_lexirecall import Unjudged
    >>> (Unjudged @ 4).calc_aggregate({"q": {"a": 1, "b": 0}}, {"q": {"x": 4.0, "a": 3.0, "y": 2.0, "b": 1.0, "z": 0.0}})
    0.5
    """

    PRETTY_NAME: ClassVar[str] = "Unjudged Documents"
    SMALLER_IS_BETTER: ClassVar[bool] = True
    RANGE = UNIT
    FAMILY: ClassVar[str] = "unjudged"
    ABOUT = About(
        formula=r"\frac{1}{k} |\{i \le k : d_i \text{ unjudged}\}|",
        plain="documents without a judgment among the first k, over k",
        symbols="d_i: the document at rank i",
        values="0 to 1; smaller is better",
        zero="all of the first k documents are judged, or the ranking is empty",
        ties="as many unjudged documents among the first k",
        use="beside any measure of the first k documents: whether its value rests on judgments",
        example=Example("Unjudged@4", (None, 1, None, 0), 0.5, "Two of the first four have no judgment: 2/4."),
        source="moffat2008",
        see_also=("Judged", "P"),
    )
    params: dict[str, Any] = {"cutoff": cutoff(required=True)}

    def score(self, run: AlignedRun) -> Floats:
        k = self["cutoff"]
        judged = np.bincount(run.query[(run.rank <= k) & (run.grade >= 0)], minlength=len(run.depth))
        return (np.minimum(run.depth, k) - judged) / float(k)
