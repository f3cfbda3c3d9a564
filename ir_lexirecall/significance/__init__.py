"""Significance of differences between systems: tests, their intervals, corrections and power.

Everything here takes and gives arrays and knows no names of runs. A test takes ``x``, the per-query
differences (or preferences) of P pairs of systems on Q queries, shape ``(P, Q)``, and gives
estimates, intervals, p-values and effect sizes
that cannot contradict each other: an interval at confidence 1 - alpha leaves out 0 exactly where
the test rejects at alpha.

Arguments that functions share: ``x`` as above; ``values`` per query and system, shape ``(Q, S)``;
``alpha``, 1 - confidence; ``shifts``, 0 or more, shape ``(K, P)``, of K one-sided questions;
``n_resamples`` and ``seed`` of resamples, the same for all pairs; ``progress`` as in
``progress_bar``; ``groups``, a label per query, shape ``(Q,)``.
"""

from ir_lexirecall.significance.closed_form import SKEWED as SKEWED
from ir_lexirecall.significance.closed_form import group_units as group_units
from ir_lexirecall.significance.closed_form import (
    preference_interval as preference_interval,
)
from ir_lexirecall.significance.closed_form import sign_test as sign_test
from ir_lexirecall.significance.closed_form import skewness as skewness
from ir_lexirecall.significance.deviations import best_set as best_set
from ir_lexirecall.significance.deviations import rank_intervals as rank_intervals
from ir_lexirecall.significance.deviations import (
    studentised_deviations as studentised_deviations,
)
from ir_lexirecall.significance.effect_intervals import (
    effect_interval as effect_interval,
)
from ir_lexirecall.significance.evidence import differing_queries as differing_queries
from ir_lexirecall.significance.evidence import (
    least_loss_ruled_out as least_loss_ruled_out,
)
from ir_lexirecall.significance.evidence import least_margin_p as least_margin_p
from ir_lexirecall.significance.evidence import least_two_sided_p as least_two_sided_p
from ir_lexirecall.significance.evidence import may_miss as may_miss
from ir_lexirecall.significance.evidence import unseen_share as unseen_share
from ir_lexirecall.significance.outcomes import MarginTest as MarginTest
from ir_lexirecall.significance.outcomes import Resampled as Resampled
from ir_lexirecall.significance.outcomes import TestResult as TestResult
from ir_lexirecall.significance.outcomes import corrected as corrected
from ir_lexirecall.significance.outcomes import effect_of_mean as effect_of_mean
from ir_lexirecall.significance.outcomes import margin_verdicts as margin_verdicts
from ir_lexirecall.significance.over_collections import mean_interval as mean_interval
from ir_lexirecall.significance.planning import Planned as Planned
from ir_lexirecall.significance.planning import (
    detectable_difference as detectable_difference,
)
from ir_lexirecall.significance.planning import (
    queries_for_difference as queries_for_difference,
)
from ir_lexirecall.significance.planning import queries_for_margin as queries_for_margin
from ir_lexirecall.significance.repeats import RepeatedValues as RepeatedValues
from ir_lexirecall.significance.repeats import (
    difference_variance as difference_variance,
)
from ir_lexirecall.significance.repeats import (
    queries_with_repeats as queries_with_repeats,
)
from ir_lexirecall.significance.repeats import (
    repeats_with_queries as repeats_with_queries,
)
from ir_lexirecall.significance.resampling import heterogeneity as heterogeneity
from ir_lexirecall.significance.testing import TESTS as TESTS
from ir_lexirecall.significance.testing import SignificanceTest as SignificanceTest
from ir_lexirecall.significance.testing import margin_test as margin_test
from ir_lexirecall.significance.testing import margin_test_of_all as margin_test_of_all
from ir_lexirecall.significance.testing import number_of_units as number_of_units
from ir_lexirecall.significance.testing import one_sided_bounds as one_sided_bounds
from ir_lexirecall.significance.testing import smallest_p as smallest_p
