"""How often tests and intervals with groups of queries as units are right, on simulated groups whose queries are alike."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.random import Generator

from ir_lexirecall import significance as sig
from ir_lexirecall.significance import SignificanceTest
from tests.simulations.rows import (
    ALPHA,
    DISCRETE,
    FEW,
    RESAMPLES,
    WITHHELD,
    Floats,
    Row,
    covers,
    false,
    tested,
)


def clusters(samples: int, rng: Generator) -> Iterator[Row]:
    """Queries of a group alike: groups of one size and of 1 to 40 queries. An interval that is not given is not false."""
    for count, unequal in (
        (6, (1, 3, 5, 10, 20, 40)),
        (10, (1, 1, 2, 2, 3, 5, 8, 13, 25, 40)),
        (30, np.linspace(1, 40, 30)),
    ):
        for what, sizes in (
            (f"{count} groups of 12", np.full(count, 12)),
            (f"{count} groups of 1 to 40", np.round(unequal).astype(int)),
        ):
            groups = np.repeat(np.arange(count), sizes)
            labels = tuple(f"{group:02}" for group in groups)
            for kind, alike in (("", 0.5), (", all alike", 1.0)):
                x = alike * rng.normal(size=(samples, count))[:, groups]
                x = x if alike == 1 else x + rng.normal(size=x.shape)
                for name, statement in (
                    ("randomisation", "signs of groups"),
                    ("bootstrap", "bootstrap of groups"),
                ):
                    test = SignificanceTest(
                        name, groups=labels, n_resamples=RESAMPLES, progress=False
                    )
                    found, reason = tested(test, x), DISCRETE if count == 6 else FEW
                    yield false(
                        f"{statement}: p at most {ALPHA:g}",
                        what + kind,
                        found.p <= ALPHA,
                        reason,
                    )
                    right = ~((found.low > 0) | (found.high < 0))
                    reason = reason if len(set(sizes.tolist())) == 1 else WITHHELD
                    yield covers(f"{statement}: interval", what + kind, right, reason)
            test = SignificanceTest(
                "randomisation", groups=labels, n_resamples=RESAMPLES, progress=False
            )
            x = 0.5 * rng.normal(size=(samples, count))[:, groups] + rng.normal(
                size=(samples, len(groups))
            )
            for verdict, gain in (("worse", 0.0), ("not worse", -0.5)):
                setting = (
                    f"{what}, {'true loss the margin' if gain else 'no difference'}"
                )
                p = getattr(
                    sig.margin_test(test, x + gain, 0.5), verdict.replace(" ", "_")
                )
                yield false(
                    f"signs of groups: {verdict}", setting, p <= ALPHA, DISCRETE
                )
            if len(set(sizes.tolist())) > 1:
                yield from _sizes_that_matter(max(1, samples // 2), sizes, what, rng)


def _sizes_that_matter(
    samples: int, sizes: Floats, what: str, rng: Generator
) -> Iterator[Row]:
    """Large groups gain more: groups are drawn with their sizes."""
    gain = 0.5 * (sizes - sizes.mean()) / sizes.std()
    truth = (sizes * gain).sum() / sizes.sum()
    right: dict[str, list[bool]] = {
        "signs of groups: interval": [],
        "bootstrap of groups: interval": [],
    }
    for sample in range(samples):
        drawn = rng.integers(len(sizes), size=len(sizes))
        groups = np.repeat(np.arange(len(sizes)), sizes[drawn])
        x = (gain[drawn] + 0.3 * rng.normal(size=len(sizes)))[groups] + rng.normal(
            size=len(groups)
        )
        labels = tuple(f"{group:02}" for group in groups)
        for statement, name in zip(right, ("randomisation", "bootstrap"), strict=True):
            test = SignificanceTest(
                name, groups=labels, n_resamples=499, seed=sample, progress=False
            )
            found = test.of_pairs(x[None])
            right[statement].append(not (found.low[0] > truth or found.high[0] < truth))
    for statement, found in right.items():
        yield covers(
            statement, f"{what}, large ones gain more", np.array(found), WITHHELD
        )
