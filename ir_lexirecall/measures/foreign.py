"""Measures that only another ir_measures provider can score.

Such a provider gets a stand-in run: the same judged documents at the same ranks, every other document with a made-up
name. So its values rest on the same ranks, and the same tie rule, as all others of a table.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from subprocess import CalledProcessError
from typing import TYPE_CHECKING

import ir_measures
import numpy as np
from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall._util.arrays import Floats

if TYPE_CHECKING:
    from ir_lexirecall.data.aligned_run import AlignedRun

_MOST_DOCUMENTS = 2**26  # of a stand-in run


def values(measure: IRMeasure, run: AlignedRun) -> Floats:
    """Values of any measure that an installed ir_measures provider scores, shape ``(Q,)``.

    Raises:
        ValueError: no provider scores it, it fails, a grade is not a whole number, or the rankings are too long to make up.
    """
    import pandas as pd

    judgments = run.judgments
    judgments.check_whole_grades(str(measure))
    if run.depth.sum() > _MOST_DOCUMENTS:
        raise ValueError(
            f"{measure} needs every document of the rankings, which are {run.depth.sum():,} together; at most "
            f"{_MOST_DOCUMENTS:,} can be made up"
        )
    names = [f"judged-{row}" for row in range(len(judgments.query))]  # no name of an unjudged document
    renamed = judgments.renamed(names)
    stand_in = pd.DataFrame(replace(run, judgments=renamed).as_run("unjudged-"))
    with failing(measure):
        metrics = ir_measures.iter_calc([measure], renamed.for_ir_measures(), stand_in)
        by_query = {metric.query_id: metric.value for metric in metrics}
    return np.array([by_query.get(query_id, measure.DEFAULT) for query_id in judgments.query_ids], dtype=np.float64)


@contextmanager
def failing(*measures: IRMeasure) -> Iterator[None]:
    """Let what another program fails with be a ``ValueError`` that names the measures it was to score."""
    try:
        yield
    except (ArithmeticError, CalledProcessError) as error:
        names = ", ".join(map(str, measures))
        raise ValueError(f"{names}: ir_measures' provider cannot compute this: {error}") from error
