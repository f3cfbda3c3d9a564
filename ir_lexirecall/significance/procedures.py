"""What a significance test is: a ``Procedure``, declared beside its arithmetic and named in ``testing.TESTS``."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from ir_lexirecall._util.arrays import Floats, row_blocks
from ir_lexirecall._util.progress import progress_bar
from ir_lexirecall.significance.outcomes import Sides, TestResult

_BLOCK = 2**22  # numbers that a block of resamples may hold


@dataclass(frozen=True)
class Resampled:
    """How many resamples are drawn, with which seed, and whether a bar shows how far it is."""

    number: int
    seed: int
    progress: bool | None = False

    def blocks(self, total: int, width: int, what: str) -> Iterator[slice]:
        """Slices of resamples that hold a bounded number of values each."""
        with progress_bar(self.progress, total=total, desc=what) as bar:
            for some in row_blocks(total, width, _BLOCK):
                yield some
                bar.update(some.stop - some.start)


@dataclass(frozen=True)
class Procedure:
    """A significance test: all that is computed and said of it.

    Attributes:
        name: as users write it, ``test='wilcoxon'``.
        title: as sentences call it.
        meaning, plain, ties, use, see_also: as in ``About``.
        of: what theta is: the mean difference; of signs, the share of decided queries won less that lost, whatever the size of the
            differences; or another centre of them.
        kernel: of a test of means, a ``Kernel`` with resamples as the last argument; rows of one magnitude have a test of their own.
        two_sided, one_sided: of any other one, given differences, shape ``(P, Q)``: the test of 0 with an interval at 1 - alpha; p of
            theta <= -shift and of theta >= shift, of shifts of 0 or more, shape ``(K, P)``.
        estimate, effect: theta and the effect size in words.
        exact: queries up to which p is that of all assignments of signs.
        resampled: whether random numbers may be drawn.
        also_called: names that users may expect.

    But for signs, differences come scaled: the largest magnitude of a row lies in [1/2, 1). Without any of the three functions, all
    systems are tested at once.
    """

    name: str
    title: str
    meaning: str
    plain: str
    use: str
    see_also: tuple[str, ...]
    ties: str = "tied queries count as differences of 0"
    of: Literal["mean", "signs", "centre"] = "mean"
    kernel: Callable[[Floats, Floats, float | None, Resampled], Sides] | None = None
    two_sided: Callable[[Floats, float, Resampled], TestResult] | None = None
    one_sided: Callable[[Floats, Floats, Resampled], tuple[Floats, Floats]] | None = None
    estimate: str = "mean difference"
    effect: str = "mean / standard deviation of the differences (Cohen's d_z)"
    exact: float = 0
    resampled: bool = False
    also_called: tuple[str, ...] = ()

    @property
    def at_once(self) -> bool:
        """Whether all systems are tested at once."""
        return self.kernel is None and self.two_sided is None

    def smallest_p(self, queries: int, n_resamples: int) -> float:
        """The smallest p that is possible."""
        if queries < 2:
            return 1.0
        if queries <= self.exact:
            return math.ldexp(1.0, 1 - queries)
        return 1 / (n_resamples + 1) if self.resampled else 0.0
