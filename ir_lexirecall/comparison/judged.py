"""What judgments that are missing, or made by a program, mean for a comparison."""

from __future__ import annotations

from typing import Any

import numpy as np

from ir_lexirecall._util.errors import entry
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall.judging import of_comparisons
from ir_lexirecall.judging.left_open import LeftOpen, left_open
from ir_lexirecall.judging.predicted import PredictionPowered


class Judged:
    """Methods of ``Comparison`` about judgments."""

    provenance: Any
    cluster: bool
    test: Any
    cached: Any
    criterion: Any
    _names: Any
    _frame: Any

    def left_open(self, by: str) -> LeftOpen | None:
        """What unjudged documents could change by a criterion, at a depth of its cutoff or 100; None where that is not known."""
        return self.cached(("left open", by), lambda: left_open(self, by))

    def powered(self, by: str) -> PredictionPowered:
        """What human and predicted judgments say of every pair together."""
        return self.cached(("powered", by), lambda: of_comparisons.powered(self, by))

    def _refuse_clusters(self, what: str) -> None:
        """Refuse groups as units for what looks at single queries."""
        if self.cluster:
            raise ValueError(f"{what} queries that are independent of each other; compare without cluster=True")

    @entry
    def bounds(
        self, by: str | None = None, depth: int | None = None, *, max_rel: float | None = None, unretrieved: int = 0
    ) -> pd.DataFrame:
        """What any judging of the retrieved unjudged documents can make of each pair: a row per criterion and pair.

        An unjudged document counts as not relevant; here it may have any grade, the same in both rankings, so that what both
        retrieved at the same rank cancels. Of a preference: ``certain_wins`` (queries on which ``run_a`` can win under some judging and
        ``run_b`` cannot), ``certain_losses``, ``open`` (either can), ``certain_ties``. Of a measure: ``low``, ``high`` of the mean
        difference, and ``ci_low``, ``ci_high``, which hold sampling of queries, too (missing with ``cluster=True``). ``exact``:
        whether some judging reaches the bounds; ``depth``: down to which rank unjudged documents count.

        Args:
            depth: what is ranked below it in both rankings and unjudged is not relevant; by default the criterion's cutoff, or all.
            max_rel: top grade of the scale; by default the measure's own, else the highest grade of the qrels.
            unretrieved: relevant documents of each query, at most, that neither run retrieved and nobody judged.

        Raises:
            ValueError: no criterion has a proven algorithm, ``depth`` is above a cutoff, or the runs cannot be read again.
        """
        table = of_comparisons.bounds(self, self._names(by), depth, max_rel, unretrieved)
        if self.cluster and "ci_low" in table:
            table[["ci_low", "ci_high"]] = np.nan  # of independent queries
        table.attrs = {**self.provenance, **table.attrs}
        return table

    @entry
    def to_judge(
        self, n: int = 100, by: str | None = None, depth: int | None = None, *, max_rel: float | None = None
    ) -> pd.DataFrame:
        """The n unjudged documents whose judgment decides most between the runs, by one criterion.

        Columns: ``query_id``, ``doc_id``, ``decides``, ``runs`` (how many retrieved it), ``rank_NAME`` for every run. Documents that
        cannot change who is better are left out: judging all of them leaves nothing open.

        Args:
            n: how many at most.
            depth, max_rel: as in ``bounds``.
        """
        return self._frame(of_comparisons.to_judge(self, n, self.criterion(by).name, depth, max_rel))

    @entry
    def sequential(self, by: str | None = None, alpha: float | None = None, seed: int = 0) -> pd.DataFrame:
        """Queries in random order until the sign test has seen enough, valid whenever one stops: a row per pair.

        Columns: ``run_a``, ``run_b``, ``verdict`` on ``run_a``, ``decided_after`` (queries; missing: never), ``queries``, and ``e``, the
        evidence then: decided where it reached 1 / alpha. It does not cure an order that is not random, nor asking again on
        the same queries.

        Args:
            alpha: by default the test's.
            seed: of the order.
        """
        self._refuse_clusters("the sequential test looks at")
        alpha = self.test.alpha if alpha is None else alpha
        return self._frame(of_comparisons.sequential(self, self.criterion(by).name, alpha, seed))
