"""
Beyond the papers: ties of floats, shallow pools, and split halves
==================================================================

Three questions about exact preferences that none of the papers answers::

    python examples/papers/beyond.py
    python examples/papers/beyond.py DATA --plots out

1. How often do the values of a measure tie where lexicographic recall decides, by collection and by how deep a first stage is
   reranked?
2. How many judged documents does a preference need: does its decision change when the pool shrinks to the first 50, 20 or 10
   documents of every run?
3. Which measure predicts best, from one half of the queries, the order of the systems on the other half?

What can be compared: nothing is printed elsewhere; every table stands for itself. Without data, it is about the embedded collection
(16 queries, 5 runs: too few for conclusions). With DATA: TREC 2003 Robust (17 runs, 100 topics), CLEF eHealth 2016 (16 runs, 50
topics), and, where LensKit is installed, MovieLens (7 recommenders, 656 users).
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from printed import drawn, new_figure, save
from recommenders import MISSING, has_lenskit, recommended

from ir_lexirecall import demo, trec
from ir_lexirecall.alignment import AlignedRun, align
from ir_lexirecall.judgments import Judgments
from ir_lexirecall.lazy import cached_property
from ir_lexirecall.meta import agreement, split_half
from ir_lexirecall.meta.decisions import Decisions
from ir_lexirecall.meta.degradation import pool_depth, without_labels

TIED = ["TSE", "LR", "AP", "nDCG", "RBP(p=0.8)", "RBP(p=0.5)", "nDCG@10", "RR"]
SHRUNK = ["lexirecall", "rpp", "TSE", "AP", "nDCG", "R@1000", "nDCG@10"]
PREDICTING = ["lexirecall", "rpp", "TSE", "R@1000", "AP", "nDCG", "nDCG@10", "P@10", "RR"]
RERANKED = [10, 20, 50, 100, 1000]
POOLS = [10, 20, 50]
_LISTED = 1000  # documents of a first stage


@dataclass(frozen=True)
class Systems:
    """Judgments, and a table per run with ``query_id``, ``doc_id`` and ``score``."""

    name: str
    judgments: Judgments
    tables: dict[str, pd.DataFrame]

    @cached_property
    def runs(self) -> dict[str, AlignedRun]:
        """The runs, aligned."""
        return {name: align(self.judgments, table) for name, table in self.tables.items()}


def collections(data: Path | None, users: int | None) -> list[Systems]:
    """What is at hand."""
    if data is None:
        return [Systems("embedded", Judgments.from_qrels(demo.qrels()), demo.runs())]
    several = []
    for name, folder, qrels in (
        ("Robust 2003", data / "robust2003", "qrels.txt.gz"),
        ("CLEF eHealth 2016", data / "clef-ehealth-2016", "relevance.qrels.gz"),
    ):
        if folder.is_dir():
            files = sorted((folder / "runs").glob("*.gz"))
            tables = {file.name.removesuffix(".gz"): trec.read_run(str(file)).to_pandas() for file in files}
            several.append(Systems(name, Judgments.from_qrels(str(folder / qrels)), tables))
    if (data / "movielens-small").is_dir():
        if has_lenskit():
            judged, tables = recommended(data / "movielens-small", users=users)
            several.append(Systems("MovieLens", Judgments.from_qrels(judged), tables))
        else:
            print(f"{MISSING}, so MovieLens is left out.\n")
    return several


# -- 1: ties of floats -----------------------------------------------------------------------------


def ranked(table: pd.DataFrame) -> pd.DataFrame:
    """The first documents of every query in the order of trec_eval, with their ``rank``."""
    columns = table[["query_id", "doc_id", "score"]].sort_values(
        ["query_id", "score", "doc_id"], ascending=[True, False, False]
    )
    rank = columns.groupby("query_id", sort=False).cumcount() + 1
    return columns.assign(rank=rank)[rank <= _LISTED].drop(columns="score")


def reranked(first: pd.DataFrame, second: pd.DataFrame, k: int) -> pd.DataFrame:
    """The first stage with its first k documents in the order of another run; what that run lacks comes after."""
    both = first.merge(second, on=["query_id", "doc_id"], how="left", suffixes=("", "_second"))
    place = both["rank_second"].fillna(_LISTED + 1).where(both["rank"] <= k, 2 * _LISTED)
    both = both.assign(place=place).sort_values(["query_id", "place", "rank"], kind="stable")
    return pd.DataFrame(
        {"query_id": both["query_id"], "doc_id": both["doc_id"], "score": -np.arange(len(both), dtype=float)}
    )


def ties_of_floats(systems: list[Systems], plots: Path | None) -> None:
    """Of the pairs of rankings that lexirecall decides, the share that a measure ties."""
    rows = []
    for some in systems:
        ranks = {name: ranked(table) for name, table in some.tables.items()}
        listed = {name: run.doc[run.rank <= _LISTED] for name, run in some.runs.items()}
        reach = {name: int((some.judgments.grade[doc] >= 1).sum()) for name, doc in listed.items()}
        first = max(reach, key=reach.__getitem__)
        designs: dict[str, dict[str, AlignedRun]] = {}
        for k in RERANKED:
            others = {name: reranked(ranks[first], table, k) for name, table in ranks.items() if name != first}
            designs[str(k)] = {name: align(some.judgments, run) for name, run in others.items()}
        designs["as they are"] = some.runs
        for design, runs in designs.items():
            table = agreement(["lexirecall", *TIED], some.judgments, runs, progress=False)
            table = table[table["measure_a"] == "lexirecall"].set_index("measure_b")
            decided = table[["agree", "disagree", "tied_b"]].sum(axis=1)
            share = (table["tied_b"] / decided).to_dict()
            rows.append({"collection": some.name, "reranked": design, "decided": int(decided.iloc[0]), **share})
    table = pd.DataFrame(rows)
    print(
        "1. Ties of floats: of the pairs of rankings that lexirecall decides, the share whose values are equal (but for rounding)\n"
    )
    print(table.to_string(index=False, float_format=lambda share: f"{share:.4f}"))
    shallow, deep = table[table["reranked"] == "10"], table[table["reranked"] == "as they are"]
    exact = [name for name in TIED if table[name].max() <= 0.001]
    lost = shallow["LR"].min() > 0.5
    verdict = ": rerankers need the comparison of positions, whole systems can do with the number" if lost else ""
    why = ", since the last positions fill its digits" if lost else ""
    print(
        f"\n   A first stage (the run with most relevant documents) was reordered to depth k by every other run, and all pairs of\n"
        f"   results were compared, query by query. Where ten documents are reranked, TSE ties {span(shallow['TSE'])} of the pairs that\n"
        f"   lexirecall decides: its value is that of the last relevant document alone, which such a reranker does not move. Of\n"
        f"   systems as they are, it ties {span(deep['TSE'])}. LR orders as lexirecall does in exact arithmetic; as a float it ties\n"
        f"   {span(shallow['LR'])} where ten documents are reranked{why}, and {span(deep['LR'])} of systems as\n"
        f"   they are{verdict}. RR ties {span(shallow['RR'])} at ten\n"
        f"   documents. At most one in a thousand tie by: {', '.join(exact) or 'no measure'}. Limits: one first stage per collection, and\n"
        "   rerankers that are systems of their own."
    )
    if drawn(plots):
        figure = new_figure(4 * len(systems), 3.5)
        panels = np.atleast_1d(figure.subplots(1, len(systems), sharey=True))
        for axes, (name, part) in zip(panels, table.groupby("collection", sort=False), strict=True):
            for measure in TIED:
                axes.plot(part["reranked"], part[measure], ".-", label=measure)
            axes.set(title=name, xlabel="documents reranked")
            axes.tick_params("x", rotation=45)
        panels[0].set_ylabel("share of lexirecall's decisions that tie")
        panels[-1].legend(fontsize="small")
        save(panels[0], plots, "beyond_ties")


def span(shares: pd.Series) -> str:
    """The smallest and the largest share, in percent."""
    low, high = 100 * shares.min(), 100 * shares.max()
    return f"{low:.1f} %" if round(low, 1) == round(high, 1) else f"{low:.1f} to {high:.1f} %"


# -- 2: shallow pools ------------------------------------------------------------------------------


def shallow_pools(systems: list[Systems], plots: Path | None) -> None:
    """Decisions with the judgments that a shallower pool of the same runs would have."""
    rows = []
    for some in systems:
        full = Decisions.from_runs("shallow_pools", SHRUNK, some.judgments, some.runs, progress=False)
        depth = pool_depth(full)
        relevant = some.judgments.grade >= 1
        before = {label: full.signs(label) for label in SHRUNK}
        for pool in POOLS:
            fewer = full.with_judgments(without_labels(some.judgments, depth > pool))
            kept = np.isin(full.queries, fewer.queries)
            row = {"collection": some.name, "pool": pool, "queries": int(kept.sum())}
            row["judged"] = (depth <= pool).mean()
            row["relevant"] = relevant[depth <= pool].sum() / relevant.sum()
            for label in SHRUNK:
                after = fewer.signs(label)
                row[label] = float((after == before[label][:, kept]).mean())
                row[f"{label}, reversed"] = float((after * before[label][:, kept] == -1).mean())
            rows.append(row)
    table = pd.DataFrame(rows)
    same = ["collection", "pool", "queries", "judged", "relevant", *SHRUNK]
    print("\n2. Shallow pools: share of the decisions that stay the same with the judgments of a pool of that depth")
    print("   (judged, relevant: share of the documents that are left)\n")
    print(table[same].to_string(index=False, float_format=lambda share: f"{share:.3f}"))
    print("\n   Share of the decisions that are reversed\n")
    turned = table[["collection", "pool", *(f"{label}, reversed" for label in SHRUNK)]]
    print(
        turned.rename(columns=lambda c: c.removesuffix(", reversed")).to_string(
            index=False, float_format=lambda s: f"{s:.3f}"
        )
    )
    ten, fifty = table[table["pool"] == 10], table[table["pool"] == 50]
    order = ten[SHRUNK].mean().sort_values(ascending=False)
    print(
        f"\n   Judgments were taken away by pool: what no run ranks within the depth counts as not relevant. A pool of depth 10 leaves\n"
        f"   {span(ten['relevant'])} of the relevant documents, and lexirecall decides {span(ten['lexirecall'])} of the pairs as with all of them\n"
        f"   (reversed: {span(ten['lexirecall, reversed'])}); one of depth 50 leaves {span(fifty['relevant'])}, and {span(fifty['lexirecall'])} of the decisions. At\n"
        f"   depth 10, from the most to the least stable: {', '.join(f'{name} {value:.3f}' for name, value in order.items())}. What\n"
        "   decides lexirecall are the relevant documents that stand lowest, and these are the ones that a shallow pool lacks:\n"
        "   its decisions need the deep judgments that top-heavy measures can do without. Limits: pools of the same runs that are\n"
        "   compared; queries without a relevant document left take no part."
    )
    if drawn(plots):
        figure = new_figure(4 * len(systems), 3.5)
        panels = np.atleast_1d(figure.subplots(1, len(systems), sharey=True))
        for axes, (name, part) in zip(panels, table.groupby("collection", sort=False), strict=True):
            for label in SHRUNK:
                axes.plot(part["pool"].astype(str), part[label], ".-", label=label)
            axes.set(title=name, xlabel="depth of the pool")
        panels[0].set_ylabel("decisions as with all judgments")
        panels[-1].legend(fontsize="small")
        save(panels[0], plots, "beyond_pools")


# -- 3: split halves -------------------------------------------------------------------------------


def split_halves(systems: list[Systems], splits: int, plots: Path | None) -> None:
    """Kendall's tau between the orders of the systems on disjoint sets of equally many queries."""
    size = min(int((some.judgments.m() > 0).sum()) for some in systems) // 2
    tables, spread = {}, []
    for some in systems:
        table = split_half(PREDICTING, some.judgments, some.runs, n_queries=size, n_splits=splits, progress=False)
        spread += table.loc[table["measure"] == table["target"], "kendall_sd"].tolist()
        tables[some.name] = table.pivot(index="measure", columns="target", values="kendall").loc[PREDICTING, PREDICTING]
    own = pd.DataFrame({name: pd.Series(np.diag(table), index=PREDICTING) for name, table in tables.items()})
    others = pd.DataFrame(
        {name: (table.sum(axis=1) - np.diag(table)) / (len(PREDICTING) - 1) for name, table in tables.items()}
    )
    print(
        f"\n3. Split halves: Kendall's tau between the orders on two disjoint sets of {size} queries, mean of {splits} pairs of sets\n"
    )
    both = (
        own.add_suffix(", itself")
        .join(others.add_suffix(", the others"))
        .assign(mean=own.mean(axis=1), mean_others=others.mean(axis=1))
    )
    print(both.sort_values("mean_others", ascending=False).to_string(float_format=lambda tau: f"{tau:.3f}"))
    winners = ", ".join(f"{name} {table.idxmax()} ({table.max():.3f})" for name, table in others.items())
    stable = ", ".join(f"{name} {table.idxmax()} ({table.max():.3f})" for name, table in own.items())
    print(
        f'\n   "Itself" is how well a measure\'s order on one set foretells its own order on the other; "the others", the orders by all\n'
        f"   other measures there, whatever a reader cares for. Most stable: {stable}. The best\n"
        f"   predictor of the others: {winners}. lexirecall as a predictor of others: {span_of(others.loc['lexirecall'])}, nDCG {span_of(others.loc['nDCG'])},\n"
        f"   nDCG@10 {span_of(others.loc['nDCG@10'])}. Equal numbers of queries make the collections comparable. Tau of one pair of\n"
        f"   sets has a standard deviation of {min(spread):.2f} to {max(spread):.2f}; the pairs overlap, and the systems are few, so that small\n"
        "   differences between measures are no finding."
    )
    if drawn(plots):
        figure = new_figure(8, 3.5)
        for axes, table, title in zip(
            figure.subplots(1, 2, sharey=True), (own, others), ("itself", "the others"), strict=True
        ):
            for name in table:
                axes.plot(table[name], range(len(table)), "o", label=name)
            axes.set_yticks(range(len(table)), list(table.index))
            axes.set(xlabel="Kendall's tau", title=f"predicts {title}")
        axes.legend(fontsize="small")
        save(axes, plots, "beyond_split_halves")


def span_of(values: pd.Series) -> str:
    """The smallest and the largest value."""
    return f"{values.min():.3f}" if len(values) == 1 else f"{values.min():.3f} to {values.max():.3f}"


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?", help="folder with robust2003, clef-ehealth-2016, movielens-small")
    parser.add_argument("--splits", type=int, default=1000, help="pairs of sets of queries (default: %(default)s)")
    parser.add_argument("--users", type=int, help="of MovieLens that get lists (default: all)")
    parser.add_argument("--plots", type=Path, metavar="FOLDER", help="draw the figures into this folder")
    options = parser.parse_args(arguments)
    systems = collections(options.data, options.users)
    if not systems:
        parser.error(f"no collection in {options.data}")
    ties_of_floats(systems, options.plots)
    shallow_pools(systems, options.plots)
    split_halves(systems, options.splits, options.plots)


if __name__ == "__main__":
    main()
