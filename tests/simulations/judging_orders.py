"""How many judgments until comparisons say what all judgments say? Judgments are hidden and come back in some order.

    python -m tests.simulations.judging_orders DATA [--collections robust2003 ...] [--picture orders.svg] [--table orders.csv]

DATA is a folder with robust2003, clef-ehealth-2016 and movielens-small (this one where LensKit is installed). Rankings are cut at 100
documents; the judged ones among them are hidden, and k per query come back: those that ``decides`` puts first, asked again after
every step (ours), by smallest rank (depth), at random. Printed is the share of pairs of runs whose mean difference has the sign that it
has with all judgments, with a 95% interval over resampled queries. What is hidden was judged because some pool
held it: the truth is that of pools.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

import ir_measures
import numpy as np
import pandas as pd

from ir_lexirecall._util.arrays import position_in_segment
from ir_lexirecall.data.alignment import AlignedRun, RunLike, align
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.data.pools import Pool
from ir_lexirecall.judging.algorithms import Judgings
from ir_lexirecall.judging.ordering import decides
from ir_lexirecall.measures.scoring import values
from ir_lexirecall.preferences.counts import PreferenceCounts
from ir_lexirecall.preferences.naming import Preference

DEPTH = 100
STEPS = (1, 2, 3, 5, 7, 10, 14, 20, 28, 40)
CRITERIA = ("lexirecall", "AP", "nDCG@10")
ORDERS = ("ours", "depth", "random")
Bools = np.ndarray


@dataclass(frozen=True)
class World:
    """A collection whose judgments can be hidden.

    Attributes:
        judgments: all of them.
        pool: the judged documents among the first 100 of any run, with their ranks there.
        runs: the runs, cut at 100.
    """

    judgments: Judgments
    pool: Pool
    runs: dict[str, AlignedRun]

    @classmethod
    def of_runs(cls, judgments: Judgments, runs: dict[str, RunLike]) -> World:
        pool = Pool.from_runs(judgments, runs, DEPTH)
        pool = replace(
            pool, rank=np.where(pool.rank <= DEPTH, pool.rank, 0), retrieved=np.minimum(pool.retrieved, DEPTH)
        )
        aligned = {name: cut(align(judgments, run)) for name, run in runs.items()}
        return cls(judgments, pool.only(pool.is_judged & (pool.rank > 0).any(axis=0)), aligned)

    @property
    def pairs(self) -> tuple[np.ndarray, np.ndarray]:
        a, b = np.array(list(combinations(range(len(self.runs)), 2))).T
        return a, b

    def with_known(self, known: Bools) -> Judgments:
        """The judgments of some documents of the pool; all others count as not relevant."""
        grade = np.zeros(len(self.judgments.grade))
        rows = self.pool.doc[known]
        grade[rows] = self.judgments.grade[rows]
        return self.judgments.with_grades(grade)

    def scored(self, criterion: str, judgments: Judgments) -> np.ndarray:
        """Values of a measure for every run and query."""
        measure = ir_measures.parse_measure(criterion)
        return np.stack([values(measure, replace(run, judgments=judgments)) for run in self.runs.values()])

    def differences(self, criterion: str, known: Bools) -> np.ndarray:
        """Differences (preferences) of all pairs on all queries, shape ``(P, Q)``."""
        judgments = self.with_known(known)
        a, b = self.pairs
        if criterion != "lexirecall":
            scores = self.scored(criterion, judgments)
            return scores[a] - scores[b]
        runs = {name: replace(run, judgments=judgments) for name, run in self.runs.items()}
        counts = PreferenceCounts(runs, 1, None)
        out = np.zeros((len(a), len(judgments)))
        out[:, counts.queries] = np.concatenate(list(counts.of_pairs("lexirecall", a, b)))
        return out

    def next_ones(self, criterion: str, order: str, known: Bools, k: int, rng: np.random.Generator) -> Bools:
        """k more documents of each query."""
        score, second = self._scores(criterion, order, known)
        hidden = np.flatnonzero(~known)
        chance = rng.random(len(hidden))
        hidden = hidden[np.lexsort((chance, -second[hidden], -score[hidden], self.pool.query[hidden]))]
        place = position_in_segment(self.pool.query[hidden])
        more = known.copy()
        more[hidden[place < k]] = True
        return more

    def _scores(self, criterion: str, order: str, known: Bools) -> tuple[np.ndarray, np.ndarray]:
        nothing = np.zeros(len(known))
        if order == "random":
            return nothing, nothing
        if order == "depth":
            return -self.pool.rank.min(axis=0, where=self.pool.rank > 0, initial=DEPTH + 1).astype(float), nothing
        judgments = self.with_known(known)
        pool = replace(self.pool, judgments=judgments, doc=np.where(known, self.pool.doc, -1))
        if criterion == "lexirecall":
            return decides(pool, Preference(criterion), *self.pairs, Judgings(DEPTH))
        measure = ir_measures.parse_measure(criterion)
        top = max(1.0, self.judgments.highest_grade)
        scores = self.scored(criterion, judgments)
        return decides(pool, measure, *self.pairs, Judgings(DEPTH, top), scores)


def cut(run: AlignedRun) -> AlignedRun:
    """The first 100 documents of a run."""
    keep = run.rank <= DEPTH
    part = {"query": run.query[keep], "doc": run.doc[keep], "rank": run.rank[keep]}
    return replace(run, **part, depth=np.minimum(run.depth, DEPTH), ties=None)


def agreement(world: World, criterion: str, order: str, steps: tuple[int, ...], seeds: int) -> pd.DataFrame:
    """Share of pairs with their final sign after k judgments per query, with its interval over resampled queries."""
    rng = np.random.default_rng(0)
    truth = world.differences(criterion, np.ones(len(world.pool.query), dtype=bool))
    queries = truth.shape[1]
    weights = np.vstack([np.ones(queries), rng.multinomial(queries, np.full(queries, 1 / queries), size=500)]).T
    final = signs(truth @ weights)
    rows = []
    shares: dict[int, list[np.ndarray]] = {}
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        known, done = np.zeros(len(world.pool.query), dtype=bool), 0
        for k in steps:
            known = world.next_ones(criterion, order, known, k - done, rng)
            done = k
            now = signs(world.differences(criterion, known) @ weights)
            shares.setdefault(k, []).append((now == final).mean(axis=0))
    for k, per_seed in shares.items():
        mean = np.mean(per_seed, axis=0)
        low, high = np.quantile(mean[1:], [0.025, 0.975])
        rows.append({"criterion": criterion, "order": order, "k": k, "share": mean[0], "ci_low": low, "ci_high": high})
    return pd.DataFrame(rows)


def signs(sums: np.ndarray) -> np.ndarray:
    """Signs of sums in which rounding leaves less than 1e-9."""
    return np.sign(np.where(np.abs(sums) < 1e-9, 0.0, sums))


def worlds(data: Path, names: list[str]) -> dict[str, World]:
    """The collections that are there."""
    found = {}
    for name, qrels in {"robust2003": "qrels.txt.gz", "clef-ehealth-2016": "relevance.qrels.gz"}.items():
        if name in names and (data / name).is_dir():
            judgments = Judgments.from_qrels(data / name / qrels)
            runs = {path.stem: path for path in sorted((data / name / "runs").iterdir())}
            deep = {n: path for n, path in runs.items() if align(judgments, path).depth.max() > DEPTH}
            found[name] = World.of_runs(judgments, deep)
    if "movielens-small" in names and (data / "movielens-small").is_dir():
        sys.path.insert(0, str(Path(__file__).parents[2] / "examples" / "papers"))
        from recommenders import has_lenskit, recommended

        if has_lenskit():
            qrels, lists = recommended(data / "movielens-small")
            found["movielens-small"] = World.of_runs(Judgments.from_qrels(qrels), lists)
    return found


def picture(table: pd.DataFrame, path: str) -> None:
    """A curve per order, a panel per collection and criterion."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "judging orders"})
    from matplotlib import pyplot

    panels = list(table.groupby(["collection", "criterion"], sort=False))
    columns = table["criterion"].nunique()
    figure, axes = pyplot.subplots(
        -(-len(panels) // columns),
        columns,
        figsize=(4 * columns, 3 * -(-len(panels) // columns)),
        squeeze=False,
        sharey=True,
    )
    for ax, ((collection, criterion), part) in zip(axes.flat, panels, strict=True):
        for (order, rows), marker in zip(part.groupby("order", sort=False), "os^", strict=False):
            ax.plot(rows["k"], rows["share"], marker=marker, ms=3, label=order)
            ax.fill_between(rows["k"], rows["ci_low"], rows["ci_high"], alpha=0.15)
        ax.set(title=f"{collection}, {criterion}", xlabel="judgments per query", ylabel="pairs with their final sign")
    axes.flat[0].legend()
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None} if path.endswith("svg") else None)


def main() -> None:
    """Print the table of every collection."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    names = ["robust2003", "clef-ehealth-2016", "movielens-small"]
    parser.add_argument("--collections", nargs="+", default=names, choices=names)
    parser.add_argument("--seeds", type=int, default=3, help="orders of documents that are equal (default: 3)")
    parser.add_argument("--picture", help="write curves to this file")
    parser.add_argument("--table", help="write all numbers to this CSV file")
    options = parser.parse_args()
    tables = []
    for name, world in worlds(options.data, options.collections).items():
        queries = len(np.unique(world.pool.query))
        print(
            f"{name}: {len(world.runs)} runs, {queries} queries, {len(world.pool.query) / queries:.0f} judged documents each"
        )
        for criterion in CRITERIA:
            for order in ORDERS:
                table = agreement(world, criterion, order, STEPS, options.seeds)
                tables.append(table.assign(collection=name))
                cells = (
                    f"{row.k}: {row.share:.3f} [{row.ci_low:.2f}, {row.ci_high:.2f}]" for row in table.itertuples()
                )
                print(f"  {criterion:10} {order:7}", "  ".join(cells), flush=True)
    result = pd.concat(tables, ignore_index=True)
    if options.table:
        result.to_csv(options.table, index=False)
    if options.picture:
        picture(result, options.picture)


if __name__ == "__main__":
    main()
