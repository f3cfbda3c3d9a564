"""Significance of differences between systems: tests, their intervals, corrections and power.

Everything here takes and gives arrays and knows no names of runs. A test takes ``x``, the per-query differences (or
preferences) of P pairs of systems on Q queries, shape ``(P, Q)``, and gives estimates, intervals, p-values and effect sizes
that cannot contradict each other: an interval at confidence 1 - alpha leaves out 0 exactly where the test rejects at alpha.
"""

from ir_lexirecall.significance.binomial import sign_test
from ir_lexirecall.significance.clusters import clustered_bootstrap, clustered_t_test, group_units
from ir_lexirecall.significance.corrections import check_correction, corrected
from ir_lexirecall.significance.deviations import Deviations, best_set, rank_intervals, studentised_deviations
from ir_lexirecall.significance.intervals import Bounds, TestResult, effect_of_mean
from ir_lexirecall.significance.margins import (
    MarginTest,
    falls_by_more,
    margin_test,
    margin_test_of_all,
    margin_verdicts,
    verdicts,
)
from ir_lexirecall.significance.one_magnitude import preference_interval
from ir_lexirecall.significance.over_collections import mean_interval
from ir_lexirecall.significance.planning import (
    Planned,
    detectable_difference,
    effect_interval,
    queries_for_difference,
    queries_for_margin,
)
from ir_lexirecall.significance.resampling import bootstrap, randomisation, tukey_hsd
from ir_lexirecall.significance.signed_rank import wilcoxon
from ir_lexirecall.significance.student import t_test
from ir_lexirecall.significance.testing import TESTS, SignificanceTest, smallest_p

__all__ = [
    "TESTS",
    "Bounds",
    "Deviations",
    "MarginTest",
    "Planned",
    "SignificanceTest",
    "TestResult",
    "best_set",
    "bootstrap",
    "check_correction",
    "clustered_bootstrap",
    "clustered_t_test",
    "corrected",
    "detectable_difference",
    "effect_interval",
    "effect_of_mean",
    "falls_by_more",
    "group_units",
    "margin_test",
    "margin_test_of_all",
    "margin_verdicts",
    "mean_interval",
    "preference_interval",
    "queries_for_difference",
    "queries_for_margin",
    "randomisation",
    "rank_intervals",
    "sign_test",
    "smallest_p",
    "studentised_deviations",
    "t_test",
    "tukey_hsd",
    "verdicts",
    "wilcoxon",
]
