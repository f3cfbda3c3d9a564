"""Scales: are the values of a measure equally spaced?"""

from __future__ import annotations

from itertools import product

import numpy as np

from ir_lexirecall._util.errors import check_integer
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.progress import progress_bar
from ir_lexirecall.measures.parsing import MeasuresLike
from ir_lexirecall.meta.decisions import parse_measures_for
from ir_lexirecall.meta.made_up_rankings import Ranking, values
from ir_lexirecall.meta.records import Headline, Option, recorded, study
from ir_lexirecall.plots.studies import Bars

_LONGEST = 12  # documents, of which there are 4,096 rankings
_DIGITS = 10


@study(
    "Whether values are equally spaced, as those of an interval scale are",
    Headline("ratio", "largest step between neighbouring values over the smallest", "most", "least"),
    Bars("Steps between neighbouring values for {n} documents: 1 where they are equal", largest_first=True),
    example="-m P@5 AP RBP(p=0.5,rel=1)",
    options={"n": Option("documents of a ranking (default: 5)", int)},
)
def interval_scale(measures: MeasuresLike, n: int = 5) -> pd.DataFrame:
    """Whether the values that a measure can have are equally spaced, as those of an interval scale are.

    All 2^n rankings of n documents, each relevant (grade 1, or the measure's ``rel``) or not, are scored in one topic with n relevant
    documents. A measure is equally spaced if all steps v_(i+1) - v_i between its different values v_1 < v_2 < ... are the same, as are those of a
    measure with two values, such as TSE there. Values are compared to 10 digits.

    Args:
        measures: measures or strings, as for ``evaluate``.
        n: documents of a ranking, 1 to 12.

    Returns:
        A row per measure: ``measure``, ``values`` (how many different ones), ``smallest_step``, ``largest_step``, ``ratio`` (the largest step
        over the smallest; NaN where all values are the same, or one is infinite), and ``equally_spaced`` (False there).

    Raises:
        ValueError: an unknown measure, or n out of range.

    Sources: Ferrante, Ferro, Pontarollo, Are IR Evaluation Measures on an Interval Scale?, ICTIR 2017; Ferrante, Ferro, Losiouk, How do
    Interval Scales Help Us with Better Understanding IR Evaluation Results?, Information Retrieval Journal 2020,
    doi 10.1007/s10791-019-09362-z.

    >>> interval_scale(["P@5", "RBP(p=0.5,rel=1)", "AP"]).round(4)
                measure  values  smallest_step  largest_step  ratio  equally_spaced
    0               P@5       6         0.2000        0.2000    1.0            True
    1  RBP(p=0.5,rel=1)      32         0.0312        0.0312    1.0            True
    2                AP      31         0.0067        0.2000   30.0           False
    """
    parsed = parse_measures_for(measures)
    check_integer("n", n, most=_LONGEST)
    rows = []
    for name, measure in progress_bar(None, parsed.items(), desc="measures"):
        top = measure.params.get("rel", 1)
        rankings = [
            Ranking(labels, (top,) * labels.count(0) + (0,) * (n - labels.count(0)))
            for labels in product((0, top), repeat=n)
        ]
        steps = np.diff(np.unique(np.round(values(measure, rankings), _DIGITS)))
        least, most = (float(steps.min()), float(steps.max())) if len(steps) else (np.nan, np.nan)
        rows.append((name, len(steps) + 1, least, most, most / least, bool(most - least < 10 ** (1 - _DIGITS))))
    names = ["measure", "values", "smallest_step", "largest_step", "ratio", "equally_spaced"]
    facts = {"measures": list(parsed), "n": n, "source": "Ferrante, Ferro, Pontarollo, ICTIR 2017"}
    return recorded(pd.DataFrame(rows, columns=names), "interval_scale", **facts)
