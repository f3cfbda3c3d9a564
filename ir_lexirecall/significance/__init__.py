"""Significance of differences between systems: tests, their intervals, corrections and power.

Everything here takes and gives arrays and knows no names of runs. A test takes ``x``, the per-query differences (or
preferences) of P pairs of systems on Q queries, shape ``(P, Q)``, and gives estimates, intervals, p-values and effect sizes
that cannot contradict each other: an interval at confidence 1 - alpha leaves out 0 exactly where the test rejects at alpha.
"""

from ir_lexirecall.significance.closed_form import sign_test, t_test
from ir_lexirecall.significance.corrections import check_correction, corrected
from ir_lexirecall.significance.intervals import Bounds, TestResult, effect_of_mean
from ir_lexirecall.significance.power_analysis import (
    power,
    power_of_all,
    queries_needed,
    queries_needed_of_all,
    sign_test_power,
    sign_test_queries_needed,
    smallest_p,
    t_test_power,
    t_test_queries_needed,
)
from ir_lexirecall.significance.resampling import bootstrap, randomisation, tukey_hsd
from ir_lexirecall.significance.signed_rank import wilcoxon
from ir_lexirecall.significance.testing import TESTS, SignificanceTest, TestOptions

__all__ = [
    "TESTS",
    "Bounds",
    "SignificanceTest",
    "TestOptions",
    "TestResult",
    "bootstrap",
    "check_correction",
    "corrected",
    "effect_of_mean",
    "power",
    "power_of_all",
    "queries_needed",
    "queries_needed_of_all",
    "randomisation",
    "sign_test",
    "sign_test_power",
    "sign_test_queries_needed",
    "smallest_p",
    "t_test",
    "t_test_power",
    "t_test_queries_needed",
    "tukey_hsd",
    "wilcoxon",
]
