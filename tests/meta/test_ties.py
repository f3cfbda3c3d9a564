"""Ties of random rankings and of runs, against enumeration and known answers."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ir_lexirecall as irl
from ir_lexirecall import meta

# -- random rankings -------------------------------------------------------------------------------


def exact(table: pd.DataFrame) -> dict[str, Fraction]:
    return dict(zip(table["measure"], table["exact"], strict=True))


def tied(n: int, m: int, outcome: Callable[[tuple[int, ...]], Any]) -> Fraction:
    """Probability that two random rankings have the same outcome, by counting all placements."""
    placements = list(itertools.combinations(range(1, n + 1), m))
    return Fraction(
        sum(count**2 for count in Counter(map(outcome, placements)).values()),
        len(placements) ** 2,
    )


@pytest.mark.parametrize(
    ("n", "m"), [(n, m) for n in range(1, 9) for m in range(1, n + 1)]
)
def test_tie_probabilities_are_those_of_all_pairs_of_rankings(n: int, m: int) -> None:
    """Cut at a depth, missing documents at the bottom: TSE and RR without exposure."""
    whole = meta.tie_probabilities(n, m, k=3)
    pd.testing.assert_frame_equal(whole, meta.tie_probabilities(n, m, k=3, depth=n))
    for depth in range(1, n + 1):
        outcomes: dict[str, Callable[[tuple[int, ...]], Any]] = {
            "LexiRecall": lambda p, d=depth: [rank for rank in p if rank <= d],
            "TSE": lambda p, d=depth: p[-1] if p[-1] <= d else None,
            "RR": lambda p, d=depth: p[0] if p[0] <= d else None,
            "R@3": lambda p, d=depth: sum(rank <= min(3, d) for rank in p),
            "Rprec": lambda p, d=depth: sum(rank <= min(m, d) for rank in p),
        }
        table = meta.tie_probabilities(n, m, k=3, depth=depth)
        assert (table["depth"] == depth).all()
        assert exact(table) == {
            name: tied(n, m, lambda p, of=of: repr(of(p)))
            for name, of in outcomes.items()
        }


NAMES = {"LR": "LexiRecall", "R1000": "R@1000", "RP": "Rprec", "TSE": "TSE"}


def test_tie_probabilities_equal_the_known_values(data: Any) -> None:
    for n, known in data.vectors("ties.json")["m=10"].items():
        found = meta.tie_probabilities(int(n.removeprefix("n=")), 10).set_index(
            "measure"
        )["probability"]
        assert {name: found[NAMES[name]] for name in known} == pytest.approx(
            known, rel=1e-12, abs=0
        )


# Diaz et al., TORS 2026, Figure 8: n = 250,000, mean over m = 5..50; expected values that are not printed there.
FIGURE_8 = {
    250_000: (0.818, 0.993, 0.000, 0.000),
    225_000: (0.818, 0.993, 0.785, 0.000),
    200_000: (0.818, 0.993, 0.935, 0.000),
    100_000: (0.818, 0.993, 0.999, 0.000),
    50_000: (0.818, 0.993, 1, 0.0065),
    20_000: (0.818, 0.993, 1, 0.0615),
    10_000: (0.818, 0.993, 1, 0.180),
    5_000: (0.818, 0.993, 1, 0.379),
    2_000: (0.818, 0.993, 1, 0.658),
    1_000: (0.818, 0.993, 1, 0.807),
    100: (0.978, 0.993, 1, 0.978),
}


def test_ties_of_rankings_cut_at_a_depth_are_those_expected_in_figure_8() -> None:
    table = meta.tie_probabilities(250_000, range(5, 51), depth=FIGURE_8)
    means = table.groupby(["depth", "measure"])["probability"].mean().unstack()
    for depth, expected in FIGURE_8.items():
        found = means.loc[depth, ["R@1000", "Rprec", "TSE", "LexiRecall"]]
        assert found.to_numpy(float) == pytest.approx(expected, abs=5.1e-4), depth


def test_tie_probabilities_of_large_collections_are_exact() -> None:
    n, m = 10**9, 40
    found = exact(meta.tie_probabilities(n, m))
    assert found["TSE"] == found["RR"]
    assert found["LexiRecall"] < found["TSE"] < Fraction(1, 10**6)
    assert exact(meta.tie_probabilities(5, 5))["TSE"] == 1


# -- runs ------------------------------------------------------------------------------------------

DOCS = ["a", "b", "c", "d", "e", "f"]
JUDGED = st.dictionaries(st.sampled_from(DOCS), st.integers(0, 1), min_size=1)
ROW = st.dictionaries(st.sampled_from(DOCS), st.integers(0, 9))
RUN = st.fixed_dictionaries({"q1": ROW, "q2": ROW})
MEASURES = ["AP", "R@2", "TSE"]


@pytest.mark.slow
@given(
    qrels=st.fixed_dictionaries({"q1": JUDGED, "q2": JUDGED}),
    runs=st.fixed_dictionaries({"r1": RUN, "r2": RUN, "r3": RUN}),
)
def test_ties_are_counted_pair_by_pair(qrels: Any, runs: Any) -> None:
    values = {name: irl.evaluate(MEASURES, qrels, run) for name, run in runs.items()}
    queries = sorted(q for q, grades in qrels.items() if max(grades.values()) > 0)
    pairs = list(itertools.combinations(runs, 2))
    if not queries:
        with pytest.raises(
            ValueError, match=r"^ties: no query of the qrels has a relevant document"
        ):
            meta.Study(MEASURES, qrels, runs, allow_empty=True).ties()
        return
    table = meta.Study(MEASURES, qrels, runs, allow_empty=True).ties()
    assert list(zip(table["measure"], table["query_id"], strict=True)) == list(
        itertools.product(MEASURES, queries)
    )
    for row in table.itertuples():
        value = {name: values[name].loc[row.query_id, row.measure] for name in runs}
        assert row.ties == sum(value[x] == value[y] for x, y in pairs)
        assert row.share == row.ties / 3
    for row in (
        meta.Study(MEASURES, qrels, runs, allow_empty=True)
        .ties(aggregate=True)
        .itertuples()
    ):
        rows = table[table["measure"] == row.measure]
        assert (row.pairs, row.ties) == (3 * len(queries), rows["ties"].sum())
        assert row.share == row.ties / row.pairs


# All 17 runs: shares of tied pairs, which Diaz et al., TORS 2026, Figure 11, show for other data.
ROBUST = {
    "lexirecall": 0.0007,
    "AP": 0.0007,
    "nDCG": 0.0007,
    "nDCG@10": 0.076,
    "Rprec": 0.140,
    "R@1000": 0.167,
    "RR": 0.406,
    "TSE": 0.712,
}


@pytest.mark.slow
def test_lexirecall_ties_least_on_robust_2003(robust: Any) -> None:
    share = (
        meta.Study([*ROBUST], *robust)
        .ties(aggregate=True)
        .set_index("measure")["share"]
    )
    assert share.round(4)[:3].to_dict() == {
        name: ROBUST[name] for name in list(ROBUST)[:3]
    }
    assert share.round(3)[3:].to_dict() == {
        name: ROBUST[name] for name in list(ROBUST)[3:]
    }
    assert share["lexirecall"] == share.min()
