"""``Unjudged``: what documents without a judgment could change between compared runs, wherever their rows are."""

from __future__ import annotations

import numpy as np
from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall._util.arrays import Floats, Ints
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.data.pools import Pool
from ir_lexirecall.judging.algorithms import Judgings
from ir_lexirecall.judging.bounds import ValueBounds, WinBounds, bounds_of_differences, bounds_of_wins
from ir_lexirecall.judging.ordering import decides, depends_on_others, to_judge_table
from ir_lexirecall.preferences.naming import Preference


class Unjudged:
    """What a comparison asks about unjudged documents; ``a``, ``b``, ``judgings`` and ``values`` as in ``bounds_of_differences``.

    Here the documents are those of a ``pool``; where they are elsewhere, a subclass asks there.
    """

    def __init__(self, pool: Pool) -> None:
        self.pool: Pool = pool
        self.judgments: Judgments = pool.judgments
        self.names: list[str] = pool.names
        self.deepest: Ints = pool.retrieved.max(axis=1, initial=0)  # documents of each run's longest ranking, (S,)

    def documents(self, depth: int) -> tuple[int, Ints]:
        """How many documents can matter, all runs together and each one ``(S,)``: with a gain, or unjudged down to ``depth`` of any run."""
        pool = self.pool
        pool = pool.only(np.where(pool.is_judged, pool.grade > 0, pool.within(depth)))
        return len(pool.query), (pool.rank > 0).sum(axis=1)

    @property
    def all_judged(self) -> bool:
        """Whether none is unjudged."""
        return bool(self.pool.is_judged.all())

    def wins(self, preference: Preference, a: Ints, b: Ints, judgings: Judgings | None) -> WinBounds | None:
        """See ``bounds_of_wins``."""
        return bounds_of_wins(self.pool, preference, a, b, judgings)

    def differences(
        self, measure: IRMeasure, values: Floats, a: Ints, b: Ints, judgings: Judgings
    ) -> ValueBounds | None:
        """See ``bounds_of_differences``."""
        return bounds_of_differences(self.pool, measure, values, a, b, judgings)

    def to_judge(
        self, what: IRMeasure | Preference, n: int, a: Ints, b: Ints, judgings: Judgings, values: Floats | None
    ) -> pd.DataFrame:
        """See ``to_judge_table``."""
        return to_judge_table(self.pool, n, *decides(self.pool, what, a, b, judgings, values))

    def depends_on_others(self, what: IRMeasure | Preference) -> bool:
        """See ``ordering.depends_on_others``."""
        return depends_on_others(what, self.judgments)
