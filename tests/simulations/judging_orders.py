"""How many judgments until comparisons say what all judgments say? Judgments are hidden and come back in some order.

    python -m tests.simulations.judging_orders DATA [--collections robust2003 ...] [--picture orders.svg] [--table orders.csv]

DATA is a folder with robust2003, clef-ehealth-2016 and movielens-small (this one where LensKit is installed). Rankings are cut at 100
documents; the judged ones among them are hidden, and k per query come back, in these orders:

- ours: those that ``decides`` puts first, asked again after every step;
- static: p (1 - p), p the share of runs that retrieve the document;
- depth: by smallest rank, as pools do; random;
- mtc: by how much the document moves differences in AP, sum over pairs, given the relevant documents so far (Carterette, Allan, Sitaraman,
  SIGIR 2006, doi 10.1145/1148170.1148219);
- rbp: by the sum of weights .8^rank over the runs (Moffat, Webber, Zobel, SIGIR 2007);
- front: move-to-front pooling, the runs in turn, one that gives a document that is not relevant goes to the end (Cormack, Palmer, Clarke,
  SIGIR 1998);
- bandit: Thompson sampling of runs (Losada, Parapar, Barreiro, SAC 2016).

Printed are, of the pairs of runs whose mean difference is significant with all judgments (paired t, Holm, .05), the share that has this sign
after k judgments; the difference of that share to depth's, with a 95% interval over resampled queries, the same for both; and wrong
conclusions: of the pairs that are significant after k, those whose final difference has the other sign. What is hidden was judged because some
pool held it: the truth is that of pools.
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
from scipy import stats

from ir_lexirecall._util.arrays import position_in_segment
from ir_lexirecall.data.alignment import AlignedRun, RunLike, align
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.data.pools import Pool
from ir_lexirecall.judging.algorithms import Judgings
from ir_lexirecall.judging.ordering import decides
from ir_lexirecall.measures.scoring import values
from ir_lexirecall.preferences.counts import PreferenceCounts
from ir_lexirecall.preferences.naming import Preference
from ir_lexirecall.significance import corrected

DEPTH = 100
STEPS = (1, 2, 5, 10, 20, 40)
CRITERIA = ("lexirecall", "AP", "nDCG@10")
ORDERS = ("depth", "ours", "static", "random", "mtc", "rbp", "front", "bandit")
BASELINE = "depth"
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
            pool,
            rank=np.where(pool.rank <= DEPTH, pool.rank, 0),
            retrieved=np.minimum(pool.retrieved, DEPTH),
        )
        aligned = {name: cut(align(judgments, run)) for name, run in runs.items()}
        return cls(
            judgments, pool.only(pool.is_judged & (pool.rank > 0).any(axis=0)), aligned
        )

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
        return np.stack(
            [
                values(measure, replace(run, judgments=judgments))
                for run in self.runs.values()
            ]
        )

    def differences(self, criterion: str, known: Bools) -> np.ndarray:
        """Differences (preferences) of all pairs on all queries, shape ``(P, Q)``."""
        judgments = self.with_known(known)
        a, b = self.pairs
        if criterion != "lexirecall":
            scores = self.scored(criterion, judgments)
            return scores[a] - scores[b]
        runs = {
            name: replace(run, judgments=judgments) for name, run in self.runs.items()
        }
        counts = PreferenceCounts(runs, 1, None)
        out = np.zeros((len(a), len(judgments)))
        out[:, counts.queries] = np.concatenate(
            list(counts.of_pairs("lexirecall", a, b))
        )
        return out

    def next_ones(
        self, criterion: str, order: str, known: Bools, k: int, rng: np.random.Generator
    ) -> Bools:
        """k more documents of each query."""
        score, second = self._scores(criterion, order, known)
        hidden = np.flatnonzero(~known)
        chance = rng.random(len(hidden))
        hidden = hidden[
            np.lexsort(
                (chance, -second[hidden], -score[hidden], self.pool.query[hidden])
            )
        ]
        place = position_in_segment(self.pool.query[hidden])
        more = known.copy()
        more[hidden[place < k]] = True
        return more

    def _scores(
        self, criterion: str, order: str, known: Bools
    ) -> tuple[np.ndarray, np.ndarray]:
        nothing = np.zeros(len(known))
        rank = self.pool.rank
        if order == "random":
            return nothing, nothing
        if order == "depth":
            return -rank.min(axis=0, where=rank > 0, initial=DEPTH + 1).astype(
                float
            ), nothing
        if order == "static":
            share = (rank > 0).mean(axis=0)
            return share * (1 - share), nothing
        if order == "rbp":
            return np.where(rank > 0, 0.8**rank, 0.0).sum(axis=0), nothing
        if order == "mtc":
            return self._moves_of_ap(known), nothing
        judgments = self.with_known(known)
        pool = replace(
            self.pool, judgments=judgments, doc=np.where(known, self.pool.doc, -1)
        )
        if criterion == "lexirecall":
            return decides(pool, Preference(criterion), self.pairs, Judgings(DEPTH))
        measure = ir_measures.parse_measure(criterion)
        top = max(1.0, self.judgments.highest_grade)
        scores = self.scored(criterion, judgments)
        return decides(pool, measure, self.pairs, Judgings(DEPTH, top), scores)

    def _moves_of_ap(self, known: Bools) -> np.ndarray:
        """Sum over pairs of |A_a - A_b|, A_s(i) = 1/r_s(i) + sum over relevant documents j so far of 1/max(r_s(i), r_s(j))."""
        rank = np.where(self.pool.rank > 0, self.pool.rank.astype(float), np.inf)
        relevant = known & self.is_relevant
        worth = 1 / rank
        for query in np.unique(self.pool.query[relevant]):
            here = np.flatnonzero(self.pool.query == query)
            others = here[relevant[here]]
            worth[:, here] += (
                1 / np.maximum(rank[:, here, None], rank[:, None, others])
            ).sum(axis=2)
        weight = (
            2 * np.arange(len(rank)) - len(rank) + 1
        )  # of sorted values: the sum of all differences
        return weight @ np.sort(worth, axis=0)

    @property
    def is_relevant(self) -> Bools:
        """Which documents of the pool are relevant."""
        return self.judgments.grade[self.pool.doc] >= self.judgments.threshold

    def in_turn(self, order: str, most: int, rng: np.random.Generator) -> np.ndarray:
        """When each document of the pool is judged, where runs take turns by what they gave so far: 0, 1, ... in its query."""
        when = np.full(len(self.pool.query), np.iinfo(np.int64).max)
        relevant = self.is_relevant
        for query in np.unique(self.pool.query):
            here = np.flatnonzero(self.pool.query == query)
            rank = self.pool.rank[:, here]
            lists = [
                [*here[np.argsort(row, kind="stable")][np.sort(row) > 0]]
                for row in rank
            ]
            queue = [*rng.permutation(len(lists))]
            found = np.ones(
                (len(lists), 2)
            )  # relevant and other documents of each run, and one
            for step in range(most):
                for documents in lists:
                    while documents and when[documents[0]] <= step:
                        documents.pop(0)
                queue = [run for run in queue if lists[run]]
                if not queue:
                    break
                run = (
                    queue[0]
                    if order == "front"
                    else max(queue, key=lambda r: rng.beta(*found[r]))
                )
                document = lists[run].pop(0)
                when[document] = step
                found[run, 0 if relevant[document] else 1] += 1
                if not relevant[document]:
                    queue.remove(run)
                    queue.append(run)
        return when


def cut(run: AlignedRun) -> AlignedRun:
    """The first 100 documents of a run."""
    keep = run.rank <= DEPTH
    part = {"query": run.query[keep], "doc": run.doc[keep], "rank": run.rank[keep]}
    return replace(run, **part, depth=np.minimum(run.depth, DEPTH), ties=None)


def agreement(
    world: World, criterion: str, orders: tuple[str, ...], seeds: int
) -> pd.DataFrame:
    """Final signs of significant pairs, and wrong conclusions, after k judgments per query; intervals over resampled queries."""
    truth = world.differences(criterion, np.ones(len(world.pool.query), dtype=bool))
    queries = truth.shape[1]
    rng = np.random.default_rng(0)
    weights = np.vstack(
        [
            np.ones(queries),
            rng.multinomial(queries, np.full(queries, 1 / queries), size=500),
        ]
    ).T
    sure = significant(truth)
    final = signs(truth @ weights)[sure]
    shares: dict[tuple[str, int], list[np.ndarray]] = {}
    wrong: dict[tuple[str, int], list[tuple[int, int]]] = {}
    for order in orders:
        for seed in range(
            seeds if order not in ("static", "depth", "rbp", "mtc") else min(seeds, 2)
        ):
            rng = np.random.default_rng(seed)
            known, done = np.zeros(len(world.pool.query), dtype=bool), 0
            when = (
                world.in_turn(order, max(STEPS), rng)
                if order in ("front", "bandit")
                else None
            )
            for k in STEPS:
                known = (
                    world.next_ones(criterion, order, known, k - done, rng)
                    if when is None
                    else when < k
                )
                done = k
                now = world.differences(criterion, known)
                shares.setdefault((order, k), []).append(
                    (signs(now[sure] @ weights) == final).mean(axis=0)
                )
                concluded = significant(now)
                opposite = signs(now.sum(axis=1)) * signs(truth.sum(axis=1)) < 0
                wrong.setdefault((order, k), []).append(
                    (int((concluded & opposite).sum()), int(concluded.sum()))
                )
    rows = []
    for (order, k), several in shares.items():
        mean = np.mean(several, axis=0)
        gain = mean - np.mean(shares[BASELINE, k], axis=0)
        row = {
            "criterion": criterion,
            "order": order,
            "k": k,
            "pairs": int(sure.sum()),
            "share": mean[0],
        }
        row |= dict(
            zip(
                ("ci_low", "ci_high"),
                np.quantile(mean[1:], [0.025, 0.975]),
                strict=True,
            )
        ) | {"gain": gain[0]}
        row |= dict(
            zip(
                ("gain_low", "gain_high"),
                np.quantile(gain[1:], [0.025, 0.975]),
                strict=True,
            )
        )
        row |= dict(
            zip(("wrong", "significant"), np.mean(wrong[order, k], axis=0), strict=True)
        )
        rows.append(row)
    return pd.DataFrame(rows)


def significant(x: np.ndarray) -> Bools:
    """Pairs whose mean difference is significant: paired t, Holm over all pairs, .05."""
    with np.errstate(invalid="ignore", divide="ignore"):
        p = stats.ttest_1samp(x, 0, axis=1).pvalue
    p = np.where(np.isnan(p), np.where(np.abs(x).max(axis=1) > 0, 0.0, 1.0), p)
    return corrected(p, "holm", 0.05)[1]


def signs(sums: np.ndarray) -> np.ndarray:
    """Signs of sums in which rounding leaves less than 1e-9."""
    return np.sign(np.where(np.abs(sums) < 1e-9, 0.0, sums))


def worlds(data: Path, names: list[str]) -> dict[str, World]:
    """The collections that are there."""
    found = {}
    for name, qrels in {
        "robust2003": "qrels.txt.gz",
        "clef-ehealth-2016": "relevance.qrels.gz",
    }.items():
        if name in names and (data / name).is_dir():
            judgments = Judgments.from_qrels(data / name / qrels)
            runs = {
                path.stem: path for path in sorted((data / name / "runs").iterdir())
            }
            deep = {
                n: path
                for n, path in runs.items()
                if align(judgments, path).depth.max() > DEPTH
            }
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
    matplotlib.rcParams.update(
        {"svg.fonttype": "none", "svg.hashsalt": "judging orders"}
    )
    from matplotlib import pyplot

    panels = list(table.groupby(["collection", "criterion"], sort=False))
    columns = table["criterion"].nunique()
    rows = -(-len(panels) // columns)
    figure, axes = pyplot.subplots(
        rows, columns, figsize=(4 * columns, 3 * rows), squeeze=False, sharey=True
    )
    for ax, ((collection, criterion), part) in zip(axes.flat, panels, strict=True):
        for (order, rows), marker in zip(
            part.groupby("order", sort=False), "os^Dvx+*", strict=False
        ):
            ax.plot(rows["k"], rows["share"], marker=marker, ms=3, label=order)
            ax.fill_between(rows["k"], rows["ci_low"], rows["ci_high"], alpha=0.15)
        ax.set(title=f"{collection}, {criterion}", xlabel="judgments per query")
        ax.set_ylabel("significant pairs with their final sign")
    axes.flat[0].legend()
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None} if path.endswith("svg") else None)
    if path.endswith("svg"):
        from ir_lexirecall.pt_docs.drawings import shorter

        Path(path).write_text(shorter(Path(path).read_text("utf-8")), "utf-8")


def main() -> None:
    """Print the table of every collection."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    names = ["robust2003", "clef-ehealth-2016", "movielens-small"]
    parser.add_argument("--collections", nargs="+", default=names, choices=names)
    parser.add_argument("--criteria", nargs="+", default=CRITERIA, choices=CRITERIA)
    parser.add_argument("--orders", nargs="+", default=ORDERS, choices=ORDERS)
    parser.add_argument(
        "--seeds",
        type=int,
        default=3,
        help="orders of documents that are equal (default: 3)",
    )
    parser.add_argument("--picture", help="write curves to this file")
    parser.add_argument("--table", help="write all numbers to this CSV file")
    options = parser.parse_args()
    tables = []
    for name, world in worlds(options.data, options.collections).items():
        queries = len(np.unique(world.pool.query))
        print(
            f"{name}: {len(world.runs)} runs, {queries} queries, {len(world.pool.query) / queries:.0f} judged documents each"
        )
        for criterion in options.criteria:
            table = agreement(world, criterion, tuple(options.orders), options.seeds)
            tables.append(table.assign(collection=name))
            print(
                f"  {criterion}: {table['pairs'].iloc[0]} of {len(world.pairs[0])} pairs are significant with all judgments"
            )
            for order, rows in table.groupby("order", sort=False):
                cells = (
                    f"{row.k}: {row.share:.3f} ({row.gain:+.3f} [{row.gain_low:+.2f}, {row.gain_high:+.2f}]; wrong {row.wrong:.1f} of {row.significant:.0f})"
                    for row in rows.itertuples()
                )
                print(f"    {order:9}", "  ".join(cells), flush=True)
    result = pd.concat(tables, ignore_index=True)
    if options.table:
        result.to_csv(options.table, index=False)
    if options.picture:
        picture(result, options.picture)


if __name__ == "__main__":
    main()
