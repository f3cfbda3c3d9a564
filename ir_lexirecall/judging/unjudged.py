"""``Unjudged``: what documents without a judgment could change between compared runs, wherever their rows are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

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


class Unjudged(ABC):
    """What a comparison asks about unjudged documents; ``a``, ``b``, ``judgings`` and ``values`` as in ``bounds_of_differences``."""

    judgments: Judgments
    names: list[str]
    deepest: Ints  # documents of each run's longest ranking, shape ``(S,)``

    @abstractmethod
    def documents(self, depth: int) -> tuple[int, Ints]:
        """How many documents can matter, all runs together and each one ``(S,)``: with a gain, or unjudged down to ``depth`` of any run."""

    @property
    @abstractmethod
    def all_judged(self) -> bool:
        """Whether none is unjudged."""

    @abstractmethod
    def wins(self, preference: Preference, a: Ints, b: Ints, judgings: Judgings | None) -> WinBounds | None:
        """See ``bounds_of_wins``."""

    @abstractmethod
    def differences(
        self, measure: IRMeasure, values: Floats, a: Ints, b: Ints, judgings: Judgings
    ) -> ValueBounds | None:
        """See ``bounds_of_differences``."""

    @abstractmethod
    def to_judge(
        self, what: IRMeasure | Preference, n: int, a: Ints, b: Ints, judgings: Judgings, values: Floats | None
    ) -> pd.DataFrame:
        """See ``to_judge_table``."""

    @abstractmethod
    def depends_on_others(self, what: IRMeasure | Preference) -> bool:
        """See ``ordering.depends_on_others``."""


@dataclass(frozen=True)
class PooledRuns(Unjudged):
    """The documents are here."""

    pool: Pool

    def __post_init__(self) -> None:
        object.__setattr__(self, "judgments", self.pool.judgments)
        object.__setattr__(self, "names", self.pool.names)
        object.__setattr__(self, "deepest", self.pool.retrieved.max(axis=1, initial=0))

    def documents(self, depth: int) -> tuple[int, Ints]:
        pool = self.pool
        pool = pool.only(np.where(pool.is_judged, pool.grade > 0, pool.within(depth)))
        return len(pool.query), (pool.rank > 0).sum(axis=1)

    @property
    def all_judged(self) -> bool:
        return bool(self.pool.is_judged.all())

    def wins(self, preference: Preference, a: Ints, b: Ints, judgings: Judgings | None) -> WinBounds | None:
        return bounds_of_wins(self.pool, preference, a, b, judgings)

    def differences(
        self, measure: IRMeasure, values: Floats, a: Ints, b: Ints, judgings: Judgings
    ) -> ValueBounds | None:
        return bounds_of_differences(self.pool, measure, values, a, b, judgings)

    def to_judge(
        self, what: IRMeasure | Preference, n: int, a: Ints, b: Ints, judgings: Judgings, values: Floats | None
    ) -> pd.DataFrame:
        return to_judge_table(self.pool, n, *decides(self.pool, what, a, b, judgings, values))

    def depends_on_others(self, what: IRMeasure | Preference) -> bool:
        return depends_on_others(what, self.judgments)
