"""Significance of differences between systems: paired tests on per-query values, and randomised Tukey HSD.

Each test takes ``x``, the per-query differences (or preferences) of P pairs, shape ``(P, Q)``, and returns a p-value
and an effect size per pair. Where nothing differs, p is 1 and the effect 0.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, TypedDict

import numpy as np

from ir_lexirecall.arrays import Bools, Floats
from ir_lexirecall.progress import progress_bar

_BLOCK = 2**22  # numbers that a resampling block may hold


def sign_test(x: Floats) -> tuple[Floats, Floats]:
    """Exact two-sided binomial test of wins against losses, ties left out; effect (wins - losses) / (wins + losses).

    >>> p, effect = sign_test(np.array([[1.0, 1.0, 1.0, 0.0, -1.0], [0.0, 0.0, 0.0, 0.0, 0.0]]))
    >>> p.tolist(), effect.tolist()
    ([0.625, 1.0], [0.5, 0.0])
    """
    from scipy import stats  # takes longer to import than all of this library

    wins, losses = (x > 0).sum(axis=1), (x < 0).sum(axis=1)
    decided = wins + losses
    # Symmetric under p = 1/2: twice the smaller tail, which is all when both are equal.
    p = np.minimum(1, 2 * stats.binom.cdf(np.minimum(wins, losses), np.maximum(decided, 1), 0.5))
    return np.where(decided == 0, 1.0, p), _ratio(wins - losses, decided)


def t_test(x: Floats) -> tuple[Floats, Floats]:
    """Paired t-test; effect mean / standard deviation (Cohen's d_z)."""
    from scipy import stats  # takes longer to import than all of this library

    p = np.ones(len(x))
    varies = np.any(x != x[:, :1], axis=1) if x.shape[1] > 1 else np.zeros(len(x), dtype=bool)
    if varies.any():
        p[varies] = stats.ttest_1samp(x[varies], 0, axis=1).pvalue
    constant = ~varies & np.any(x != 0, axis=1)
    p[constant] = 0.0 if x.shape[1] > 1 else np.nan
    return p, effect_of_mean(x)


def wilcoxon(x: Floats) -> tuple[Floats, Floats]:
    """Wilcoxon signed-rank test, zeros left out; effect: matched-pairs rank-biserial correlation."""
    from scipy import stats  # takes longer to import than all of this library

    p, effect = np.ones(len(x)), np.zeros(len(x))
    known: dict[bytes, float] = {}  # p depends on the signed ranks only; preferences have few different ones
    for i, row in enumerate(x):  # scipy takes zeros out per sample
        row = np.round(row[row != 0], 12)  # equal differences share a rank, whatever their last bits
        if len(row):
            signed = np.sort(stats.rankdata(np.abs(row)) * np.sign(row))
            key = signed.tobytes()
            if key not in known:
                known[key] = float(stats.wilcoxon(signed).pvalue)
            p[i] = known[key]
            effect[i] = float(signed.sum() / np.abs(signed).sum())
    return p, effect


def bootstrap(x: Floats, *, n_resamples: int, seed: int, progress: bool | None = False) -> tuple[Floats, Floats]:
    """Paired bootstrap test of the mean (Sakai, SIGIR 2006): the share of resamples, drawn from the differences
    shifted to mean 0, whose studentised mean is at least as far from 0; effect as in ``t_test``.
    """
    queries = x.shape[1]
    centred = x - x.mean(axis=1, keepdims=True)
    observed = np.abs(_studentised(x.mean(axis=1), x.std(axis=1, ddof=1), queries)) if queries > 1 else np.zeros(len(x))
    beyond = np.zeros(len(x))
    rng = np.random.default_rng(seed)
    for size in _blocks(n_resamples, queries * max(1, len(x) // 8), progress, "bootstrap"):
        # How often each query is drawn, the same for all pairs.
        draw = rng.integers(queries, size=(size, queries))
        count = np.zeros((size, queries))
        np.add.at(count, (np.arange(size)[:, None], draw), 1)
        mean = count @ centred.T / queries
        variance = np.maximum(count @ (centred**2).T / queries - mean**2, 0) * queries / max(queries - 1, 1)
        # Wins and losses repeat the same few sums: equal ones must not be told apart by their last bits.
        beyond += (np.abs(_studentised(mean, np.sqrt(variance), queries)) >= observed * (1 - 1e-9)).sum(axis=0)
    p = beyond / n_resamples
    return np.where(np.any(x != 0, axis=1), p, 1.0), effect_of_mean(x)


def _studentised(mean: Floats, deviation: Floats, queries: int) -> Floats:
    """Mean over its standard error; a mean of 0 is 0, another one without any spread infinitely far."""
    with np.errstate(divide="ignore", invalid="ignore"):
        t = mean / (deviation / np.sqrt(queries))
    return np.where(np.abs(mean) < 1e-12, 0.0, t)


def tukey_hsd(values: Floats, *, n_resamples: int, seed: int, progress: bool | None = False) -> Floats:
    """Randomised Tukey HSD (Carterette, TOIS 2012): p-values of all pairs at once, shape ``(S, S)``.

    ``values`` has shape ``(Q, S)``. Each permutation reorders the systems within every query; p is the share of
    permutations whose largest difference of means is at least the pair's. The family is accounted for already.
    """
    queries, systems = values.shape
    mean = values.mean(axis=0)
    observed = np.abs(mean[:, None] - mean[None, :])
    largest = []
    rng = np.random.default_rng(seed)
    for size in _blocks(n_resamples, queries * systems, progress, "Tukey HSD"):
        shuffled = rng.permuted(np.broadcast_to(values, (size, queries, systems)), axis=2)
        means = shuffled.mean(axis=1)
        largest.append(means.max(axis=1) - means.min(axis=1))
    spread = np.sort(np.concatenate(largest))
    # Sums of the same numbers in another order may differ in the last bits.
    at_least = n_resamples - np.searchsorted(spread, observed - 1e-12 * np.maximum(1, observed))
    p = at_least / n_resamples
    np.fill_diagonal(p, 1.0)
    return p


def _blocks(total: int, width: int, progress: bool | None, what: str) -> Iterator[int]:
    """Sizes of blocks of resamples that hold a bounded number of values each."""
    size = max(1, _BLOCK // max(1, width))
    with progress_bar(progress, total=total, desc=what) as bar:
        for start in range(0, total, size):
            block = min(size, total - start)
            yield block
            bar.update(block)


def _ratio(above: Floats, below: Floats) -> Floats:
    return np.divide(above, below, out=np.zeros(len(below)), where=below != 0)


def effect_of_mean(x: Floats) -> Floats:
    """Cohen's d_z of each row: mean over standard deviation."""
    if x.shape[1] < 2:
        return np.zeros(len(x))
    mean = x.mean(axis=1)
    deviation = np.where(np.all(x == x[:, :1], axis=1), 0.0, x.std(axis=1, ddof=1))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(mean == 0, 0.0, mean / deviation)


def confidence_interval(x: Floats, alpha: float) -> tuple[Floats, Floats]:
    """The t interval of the mean of each row of ``x`` at confidence 1 - ``alpha``."""
    from scipy import stats  # takes longer to import than all of this library

    queries = x.shape[1]
    mean = x.mean(axis=1)
    if queries < 2:
        return np.full(len(x), np.nan), np.full(len(x), np.nan)
    half = stats.t.ppf(1 - alpha / 2, queries - 1) * x.std(axis=1, ddof=1) / np.sqrt(queries)
    return mean - half, mean + half


def check_correction(method: str | None) -> None:
    """Refuse a correction that statsmodels does not know; without statsmodels, nothing is known of it yet."""
    if method is None or method == "holm":
        return
    if not isinstance(method, str):
        raise ValueError(f"there is no correction {method!r}; name one, such as 'holm', or None")
    try:
        from statsmodels.stats.multitest import multitest_alias, multitest_methods_names
    except ModuleNotFoundError:
        return
    if method not in {*multitest_methods_names, *multitest_alias}:
        raise ValueError(
            f"there is no correction {method!r}; holm, bonferroni, fdr_bh and what else statsmodels' multipletests lists"
        )


def corrected(p: Floats, method: str | None, alpha: float) -> tuple[Floats, Bools]:
    """p-values adjusted for the family of comparisons, and which are rejected, by statsmodels' ``multipletests``.

    Only the default, Holm's, is at hand without statsmodels.

    >>> corrected(np.array([0.04, 0.01]), "holm", 0.05)
    (array([0.04, 0.02]), array([ True,  True]))

    Raises:
        ValueError: no such method.
        ModuleNotFoundError: statsmodels is not installed.
    """
    if method is None or len(p) == 0:
        return p, p <= alpha
    if method == "holm":
        return _holm(p, alpha)
    try:
        from statsmodels.stats.multitest import multipletests
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            f"the correction {method!r} needs statsmodels: pip install 'ir-lexirecall[compare]', "
            "or ask for 'holm' or None"
        ) from None
    check_correction(method)
    reject, adjusted, *_ = multipletests(p, alpha=alpha, method=method)
    return adjusted, reject & ~np.isnan(p)


def _holm(p: Floats, alpha: float) -> tuple[Floats, Bools]:
    """Step down from the smallest p-value: it counts against all comparisons, the next one against the rest, ..."""
    order = np.argsort(p)
    left = np.arange(len(p), 0, -1)
    adjusted, reject = np.empty(len(p)), np.empty(len(p), dtype=bool)
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * left), 1)
    reject[order] = np.logical_and.accumulate(p[order] <= alpha / left)
    return adjusted, reject


class TestOptions(TypedDict, total=False):
    """Options that travel with a test: ``correction``, ``alpha``, ``n_resamples``, ``seed``, ``progress``."""

    correction: str | None
    alpha: float
    n_resamples: int
    seed: int
    progress: bool | None


@dataclass(frozen=True)
class TestResult:
    """What a test says of every pair, in arrays of one shape: what it estimates, an interval, p-value, effect size."""

    estimate: Floats
    low: Floats
    high: Floats
    p: Floats
    effect_size: Floats

    __test__ = False  # not one of pytest's

    @classmethod
    def without_data(cls, pairs: int) -> TestResult:
        """Of pairs without queries."""
        unknown = np.full(pairs, np.nan)
        return cls(unknown, unknown, unknown, np.ones(pairs), unknown)

    @classmethod
    def concatenate(cls, parts: Sequence[TestResult]) -> TestResult:
        """One result of several parts."""
        return cls(*(np.concatenate([getattr(part, f.name) for part in parts]) for f in fields(cls)))

    def __getitem__(self, places: Any) -> TestResult:
        return TestResult(*(getattr(self, f.name)[places] for f in fields(self)))


PAIRED: dict[str, Callable[[Floats], tuple[Floats, Floats]]] = {"sign": sign_test, "t": t_test, "wilcoxon": wilcoxon}
TESTS = (*PAIRED, "bootstrap", "tukey")


@dataclass(frozen=True)
class SignificanceTest:
    """How differences are tested.

    Attributes:
        name: ``'sign'``, ``'t'``, ``'wilcoxon'``, ``'bootstrap'`` or ``'tukey'``.
        correction: for the family of comparisons, as statsmodels' ``multipletests`` calls it, or None.
        alpha: significance level.
        n_resamples, seed: of resampling tests.
        progress: whether to show progress bars; None: on a terminal.
    """

    name: str = "sign"
    correction: str | None = "holm"
    alpha: float = 0.05
    n_resamples: int = 10_000
    seed: int = 0
    progress: bool | None = None

    __test__ = False  # not one of pytest's

    def __post_init__(self) -> None:
        check_correction(self.correction)
        if self.name not in TESTS:
            raise ValueError(f"compare: there is no test {self.name!r}; there are {', '.join(TESTS)}")
        if isinstance(self.alpha, bool) or not isinstance(self.alpha, numbers.Real) or not 0 < self.alpha < 1:
            raise ValueError(f"compare: alpha must lie between 0 and 1, not {self.alpha!r}")
        if (
            isinstance(self.n_resamples, bool)
            or not isinstance(self.n_resamples, numbers.Integral)
            or self.n_resamples < 1
        ):
            raise ValueError(f"compare: n_resamples must be at least 1, not {self.n_resamples!r}")
        if isinstance(self.seed, bool) or not isinstance(self.seed, numbers.Integral) or self.seed < 0:
            raise ValueError(f"compare: seed must be an integer of at least 0, not {self.seed!r}")

    @property
    def resampled(self) -> bool:
        """Whether random numbers are drawn."""
        return self.name in ("bootstrap", "tukey")

    @property
    def counted_correction(self) -> str | None:
        """The correction; None for Tukey's HSD, which accounts for the family itself."""
        return None if self.name == "tukey" else self.correction

    @property
    def _resampling(self) -> dict[str, Any]:
        return {"n_resamples": self.n_resamples, "seed": self.seed, "progress": self.progress}

    @classmethod
    def coerce(
        cls, test: str | SignificanceTest, *, caller: str, like: SignificanceTest | None = None, **options: Any
    ) -> SignificanceTest:
        """A test by its name and options, or as it is; ``like`` gives the options that are left out."""
        try:
            base = test if isinstance(test, SignificanceTest) else replace(like or cls(), name=test)
            return replace(base, **options)
        except ValueError as error:
            raise ValueError(f"{caller}: {str(error).removeprefix('compare: ')}") from None

    def of_pairs(self, x: Floats, *, bounds: tuple[float, float] | None = None) -> TestResult:
        """The test of every pair from its per-query differences, shape ``(P, Q)``."""
        p, effect = bootstrap(x, **self._resampling) if self.name == "bootstrap" else PAIRED[self.name](x)
        low, high = confidence_interval(x, self.alpha)
        return TestResult(x.mean(axis=1), low, high, p, effect)

    def of_all(self, values: Floats, *, bounds: tuple[float, float] | None = None) -> TestResult:
        """Tukey's HSD of all pairs, shape ``(S, S)``, from values per query and run, shape ``(Q, S)``."""
        p = tukey_hsd(values, **self._resampling)
        mean = values.mean(axis=0)
        difference = mean[:, None] - mean[None, :]
        return TestResult(difference, difference, difference, p, np.zeros_like(p))

    def corrected(self, p: Floats) -> tuple[Floats, Bools]:
        """p-values adjusted for the family of comparisons, and which are rejected."""
        return corrected(p, self.counted_correction, self.alpha)
