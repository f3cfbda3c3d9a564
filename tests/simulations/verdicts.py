"""False verdicts of two equal runs: by five measures at once, and under a margin."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.random import Generator

from ir_lexirecall import significance as sig
from ir_lexirecall.comparison.margins import margin_verdicts
from ir_lexirecall.significance import SignificanceTest
from tests.simulations.rows import ALPHA, FAMILY, FEW, Row, differences, false

N_MEASURES = 5
MARGIN = 0.02
ONE_SIDE = "a two-sided test, of which one side counts"


def criteria(samples: int, rng: Generator) -> Iterator[Row]:
    """Any false verdict by five correlated measures, corrected for each measure or over all."""
    test = SignificanceTest("t")
    for n_queries in (25, 50):
        shared = differences(rng, (2 * samples, 1, n_queries))
        x = shared + differences(rng, (2 * samples, N_MEASURES, n_queries))
        p = test.of_pairs(x.reshape(-1, n_queries)).p.reshape(-1, N_MEASURES)
        over_all = [sig.corrected(row, "holm", ALPHA)[1].any() for row in p]
        setting = f"2 equal runs, {N_MEASURES} measures, {n_queries} queries"
        row = false(
            "family criterion: better or worse by any",
            setting,
            (p <= ALPHA).any(axis=1),
        )
        yield replace(row, instead='take family="all"')
        yield false(
            "family all: better or worse by any", setting, np.array(over_all), FAMILY
        )
    for n_queries in (10, 25, 50):
        x = differences(rng, (2 * samples, n_queries))
        tested = sig.margin_test(test, x, MARGIN)
        two_sided = test.of_pairs(x)
        better = np.where(
            two_sided.estimate > 0, two_sided.p, 1.0
        )  # as comparisons ask
        verdicts = margin_verdicts(replace(tested, better=better), ALPHA)
        setting = f"1 rival as good, 1 measure, {n_queries} queries"
        for verdict, reason in (("better", ONE_SIDE), ("worse", FEW)):
            yield false(
                f"with a margin: any {verdict}", setting, verdicts == verdict, reason
            )
