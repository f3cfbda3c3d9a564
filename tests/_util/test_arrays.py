"""Products of matrices: those of NumPy, without threads of BLAS where these cost more than they gain."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from ir_lexirecall._util.arrays import product

# Seconds of processor time that a call of `work` takes in threads other than the main one, beside
# those of the main one. A computation of its own comes first: threads start once.
_IN_OTHER_THREADS = """
import time
import numpy as np
from ir_lexirecall.significance import Resampled, studentised_deviations
from ir_lexirecall.significance.over_collections import macro_bootstrap
from ir_lexirecall.significance.resampling import by_bootstrap, by_randomisation
rng = np.random.default_rng(0)
few = rng.random((2, 40, 41))
no_shift = np.zeros((1, 40))

{work}
whole, own = time.process_time(), time.thread_time()
{work}
own = time.thread_time() - own
print(time.process_time() - whole - own, own)
"""


@pytest.mark.parametrize(
    ("n_rows", "n_terms", "n_columns"),
    [(1, 1, 1), (3, 0, 2), (0, 3, 2), (33, 129, 65), (70, 41, 500), (1, 300, 20)],
)
def test_a_product_in_parts_is_the_product(
    n_rows: int, n_terms: int, n_columns: int
) -> None:
    rng = np.random.default_rng(0)
    a, b = rng.random((n_rows, n_terms)), rng.random((n_terms, n_columns))
    np.testing.assert_allclose(product(a, b), a @ b, rtol=1e-12)
    np.testing.assert_allclose(product(b.T, a.T), (a @ b).T, rtol=1e-12)
    assert product(a.astype(np.float32), b.astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize("n_terms", [7, 25, 60, 90])
@pytest.mark.parametrize("n_columns", [999, 2_000])
def test_a_row_has_the_same_product_beside_any_other_rows(
    n_terms: int, n_columns: int
) -> None:
    """The interval of a pair or a run does not depend on which others are compared with it."""
    rng = np.random.default_rng(0)
    rows, counts = rng.random((40, n_terms)), rng.integers(0, 3, (n_columns, n_terms))
    of_all = product(rows, counts.T.astype(np.float64))
    for some in ([3], [1, 0], [30, 2, 39], list(range(9, 21))):
        alone = product(rows[some], counts.T.astype(np.float64))
        np.testing.assert_array_equal(alone, of_all[some])


@pytest.mark.parametrize(
    "work",
    [
        "studentised_deviations([few[0]], draws=Resampled(2000))",
        "studentised_deviations([*few], 'collections', draws=Resampled(2000))",
        "macro_bootstrap([*few], 'queries', Resampled(9999))",
        "by_bootstrap(few[0], no_shift, 0.05, Resampled(2000))",
        "by_randomisation(few[0], no_shift, 0.05, Resampled(2000))",
    ],
)
def test_resamples_of_few_queries_are_computed_in_one_thread(work: str) -> None:
    environment = {
        name: value for name, value in os.environ.items() if "_NUM_THREADS" not in name
    }
    finished = subprocess.run(
        [sys.executable, "-c", _IN_OTHER_THREADS.format(work=work)],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    in_other_threads, in_main_thread = map(float, finished.stdout.split())
    assert in_other_threads <= 0.02 * in_main_thread + 0.002
