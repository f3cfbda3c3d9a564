"""``Preferences``: the result of a comparison, and everything that can be asked of it."""

from __future__ import annotations

import html
import platform
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from importlib.metadata import version
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ir_lexirecall.alignment import JudgedRanks
from ir_lexirecall.judgments import Judgments
from ir_lexirecall.preferences import aggregation
from ir_lexirecall.preferences.explanation import explain
from ir_lexirecall.preferences.functions import (
    PAIRWISE,
    STANDINGS,
    Positions,
    dominance,
    score_standing,
)
from ir_lexirecall.scoring.arrays import Floats, Ints
from ir_lexirecall.significance import SignificanceTest, TestResult

if TYPE_CHECKING:
    import pandas as pd

    from ir_lexirecall.report import Report

_BLOCK = 2**22  # preferences that are held at once


@dataclass(frozen=True)
class _Counts:
    """Of one preference, for every ordered pair of systems, shape ``(S, S)``; and per query against the others."""

    wins: Ints
    losses: Ints
    ties: Ints
    incomparable: Ints
    mean: Floats
    against_others: Floats  # (Q, S)


@dataclass(frozen=True, eq=False)
class Preferences:
    """Preferences between systems, per query, and what follows from them. ``compare`` makes it.

    Methods take the name of a preference where several were asked for; the first one is the default.
    """

    ranks: dict[str, JudgedRanks] = field(repr=False)
    names: list[str]
    rel: float
    cutoff: int | None
    measure_scores: dict[str, Floats] = field(repr=False)
    reference: str | None
    test: SignificanceTest
    _counted: dict[str, _Counts] = field(default_factory=dict, repr=False, compare=False)

    def __deepcopy__(self, memo: dict[int, Any]) -> Preferences:
        return self  # nothing in it changes; tables that carry it in their attrs are copied often

    @cached_property
    def systems(self) -> list[str]:
        """Names of the systems, in the order given."""
        return list(self.ranks)

    @property
    def _judgments(self) -> Judgments:
        return next(iter(self.ranks.values())).judgments

    @cached_property
    def _queries(self) -> Ints:
        """Positions, in the judgments, of the queries with relevant documents."""
        return np.flatnonzero(self._judgments.m(self.rel) > 0)

    @cached_property
    def query_ids(self) -> list[str]:
        """The queries compared: those with at least one relevant document."""
        return [self._judgments.query_ids[q] for q in self._queries]

    @property
    def excluded(self) -> int:
        """How many queries of the qrels have no relevant document and take no part."""
        return len(self._judgments) - len(self.query_ids)

    @cached_property
    def _positions(self) -> Positions:
        return Positions.of(list(self.ranks.values()), self.rel, self.cutoff, self._queries)

    @property
    def provenance(self) -> dict[str, Any]:
        """What was asked and with what: in the ``attrs`` of every table, and below every text and picture."""
        return {
            "preference": ", ".join(self.names),
            "reference": self.reference,
            "rel": self.rel,
            "cutoff": self.cutoff,
            "queries": len(self.query_ids),
            "excluded_queries": self.excluded,
            "test": self.test.name,
            "correction": self.test.counted_correction,
            "alpha": self.test.alpha,
            "n_resamples": self.test.n_resamples if self.test.resampled else None,
            "seed": self.test.seed if self.test.resampled else None,
            "versions": _versions(),
        }

    @property
    def caption(self) -> str:
        """The provenance in one line."""
        given = {k: v for k, v in self.provenance.items() if v is not None and k != "versions"}
        versions = ", ".join(f"{name} {number}" for name, number in self.provenance["versions"].items())
        return "; ".join(f"{k} {v}" for k, v in given.items()) + f"; {versions}"

    def _name(self, preference: str | None) -> str:
        if preference is None:
            return self.names[0]
        if str(preference) not in self.names:
            raise ValueError(f"preference {preference!r} was not compared; there are {', '.join(self.names)}")
        return str(preference)

    def _system(self, name: str) -> int:
        if name not in self.ranks:
            raise ValueError(f"there is no system {name!r}; there are {', '.join(self.systems)}")
        return self.systems.index(name)

    @cached_property
    def _standings(self) -> dict[str, NDArray[np.int32]]:
        return {}

    def _standing(self, preference: str) -> NDArray[np.int32]:
        """How many systems are better, shape ``(S, Q)``; for preferences that order the systems of a query."""
        if preference not in self._standings:
            standing = np.empty((len(self.systems), len(self.query_ids)), dtype=np.int32)
            step = max(1, _BLOCK // len(self.systems))
            for start in range(0, standing.shape[1], step):
                block = slice(start, start + step)
                standing[:, block] = (
                    STANDINGS[preference](self._positions.part(block))
                    if preference in STANDINGS
                    else score_standing(self.measure_scores[preference][:, self._queries[block]])
                )
            self._standings[preference] = standing
        return self._standings[preference]

    def blocks(self, preference: str) -> Iterator[tuple[Any, Floats]]:
        """The preferences of all pairs, some queries at a time: the queries, and their tensor ``(q, S, S)``."""
        if _is_pairwise(preference):
            yield from self._pairwise_blocks(preference)
            return
        standing = self._standing(preference).T
        step = max(1, _BLOCK // len(self.systems) ** 2)
        for start in range(0, len(standing), step):
            block = standing[start : start + step]
            yield slice(start, start + len(block)), np.sign(block[:, None, :] - block[:, :, None]).astype(float)

    def _pairwise_blocks(self, preference: str) -> Iterable[tuple[Ints, Floats]]:
        """``blocks`` of a preference that does not order the systems; kept where all of them are few."""
        if preference in self._kept:
            return self._kept[preference]
        blocks = ((queries, self._pairwise(preference, queries)) for queries in self._alike)
        if len(self.query_ids) * len(self.systems) ** 2 > _BLOCK:
            return blocks
        return self._kept.setdefault(preference, list(blocks))

    @cached_property
    def _kept(self) -> dict[str, list[tuple[Ints, Floats]]]:
        """Blocks of preferences of all pairs that cost time and are few enough to keep."""
        return {}

    @cached_property
    def _alike(self) -> list[Ints]:
        """The queries in groups of similar numbers of relevant documents, as many as one block holds."""
        m = self._positions.m
        order = np.argsort(m, kind="stable")
        groups, start = [], 0
        while start < len(order):
            some = order[start:]
            # m rises: what the first so many queries need is their number times the last one's levels.
            needed = np.arange(1, len(some) + 1) * m[some] * len(self.systems) ** 2
            end = start + max(1, int(np.searchsorted(needed, _BLOCK // 4, side="right")))
            groups.append(order[start:end])
            start = end
        return groups

    def _pairwise(self, preference: str, queries: Ints, systems: Any = slice(None)) -> Floats:
        """Preferences of all pairs (of some systems) on some queries, for those that do not order the systems."""
        if preference == "dominance":
            return dominance([positions.padded(queries, systems) for positions in self._positions_by_grade])
        return PAIRWISE[preference](self._positions.padded(queries, systems), self._positions.m[queries])

    def _of_pair(self, preference: str, a: int, b: int) -> Floats:
        """Preferences of one system over another, shape ``(Q,)``; NaN: not comparable."""
        if preference in self._kept:
            return self.tensor(preference)[:, a, b]
        if _is_pairwise(preference):
            values = np.empty(len(self.query_ids))
            for queries in self._alike:
                values[queries] = self._pairwise(preference, queries, [a, b])[:, 0, 1]
            return values
        standing = self._standing(preference)
        return np.sign(standing[b] - standing[a]).astype(np.float64)

    @cached_property
    def _positions_by_grade(self) -> list[Positions]:
        """Positions at every grade that counts as relevant."""
        grades = np.unique(self._judgments.grade)
        systems = list(self.ranks.values())
        return [
            Positions.of(systems, grade, self.cutoff, self._queries) for grade in grades[grades >= self.rel].tolist()
        ]

    def _count(self, preference: str) -> _Counts:
        if preference not in self._counted:
            counted = self._count_pairwise if _is_pairwise(preference) else self._count_standings
            self._counted[preference] = counted(preference)
        return self._counted[preference]

    def _count_standings(self, preference: str) -> _Counts:
        standing = self._standing(preference)
        size, queries = standing.shape
        wins = np.stack([np.count_nonzero(own < standing, axis=1) for own in standing])
        losses = wins.T
        key = standing + size * np.arange(queries)
        alike = (
            np.bincount(key.ravel(), minlength=1)[key] if queries else key
        )  # who shares the standing, itself included
        worse = size - standing - alike
        return _Counts(
            wins=wins,
            losses=losses,
            ties=queries - wins - losses,
            incomparable=np.zeros((size, size), dtype=np.int64),
            mean=(wins - losses) / max(1, queries),
            against_others=(worse - standing).T / max(1, size - 1),
        )

    def _count_pairwise(self, preference: str) -> _Counts:
        size, queries = len(self.systems), len(self.query_ids)
        wins, missing = np.zeros((2, size, size), dtype=np.int64)
        total = np.zeros((size, size))
        against_others = np.zeros((queries, size))
        for where, block in self.blocks(preference):
            wins += np.count_nonzero(block > 0, axis=0)
            unordered = np.isnan(block)
            if unordered.any():
                missing += np.count_nonzero(unordered, axis=0)
                block = np.where(unordered, 0, block)
            for of_query in block:  # one by one: the same sum however many a block holds
                total += of_query
            against_others[where] = block.sum(axis=2) / max(1, size - 1)
        losses = wins.T
        return _Counts(
            wins=wins,
            losses=losses,
            ties=queries - wins - losses - missing,
            incomparable=missing,
            mean=total / max(1, queries),
            against_others=against_others,
        )

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The pairs compared: all, in the order of the systems, or each other system with the reference."""
        if self.reference is None:
            return list(combinations(self.systems, 2))
        return [(name, self.reference) for name in self.systems if name != self.reference]

    def tensor(self, preference: str | None = None) -> Floats:
        """Preference of every pair on every query, shape ``(Q, S, S)``: first over second system; NaN: not comparable."""
        size = len(self.systems)
        tensor = np.empty((len(self.query_ids), size, size))
        for where, block in self.blocks(self._name(preference)):
            tensor[where] = block
        return tensor

    @cached_property
    def _pair_indices(self) -> tuple[list[int], list[int]]:
        """The systems of every pair by their place among the systems."""
        place = {name: i for i, name in enumerate(self.systems)}
        return [place[a] for a, _ in self.pairs], [place[b] for _, b in self.pairs]

    def _of_pairs(self, preference: str) -> Iterator[Floats]:
        """Preferences per pair and query, some pairs ``(p, Q)`` at a time; what is not comparable counts as 0."""
        a, b = self._pair_indices
        if _is_pairwise(preference):
            out = np.empty((len(a), len(self.query_ids)))
            for where, block in self.blocks(preference):
                out[:, where] = np.nan_to_num(block[:, a, b], nan=0.0).T
            yield out
            return
        standing = self._standing(preference)
        step = max(1, _BLOCK // max(1, standing.shape[1]))
        for start in range(0, len(a), step):
            some = slice(start, start + step)
            yield np.sign(standing[b[some]] - standing[a[some]]).astype(np.float64)

    def table(self) -> pd.DataFrame:
        """A row per pair: how often each system wins, by how much, and whether that is more than chance.

        Columns: ``system_a``, ``system_b``, ``wins``, ``losses``, ``ties`` (of ``system_a``), ``incomparable`` (with
        ``dominance``), ``mean`` preference with its t interval ``ci_low``, ``ci_high``, ``p``, ``p_corrected``,
        ``reject`` and ``effect_size`` (sign test: (wins - losses) / (wins + losses); Wilcoxon: rank-biserial
        correlation; else mean / standard deviation). ``preference`` comes first where several were asked for.
        """
        import pandas as pd

        tables = []
        for name in self.names:
            table = self.table_of(name)
            if len(self.names) > 1:
                table.insert(0, "preference", name)
            tables.append(table)
        whole = pd.concat(tables, ignore_index=True)
        if "dominance" not in self.names:
            whole = whole.drop(columns="incomparable")
        whole.attrs.update(self.provenance)
        return whole

    def table_of(self, preference: str) -> pd.DataFrame:
        """The rows of ``table`` for one preference, with ``incomparable``."""
        import pandas as pd

        counts, test = self._count(preference), self.test
        a, b = self._pair_indices
        if len(self.query_ids) == 0:
            nothing = np.full(len(a), np.nan)
            result = TestResult(nothing, nothing, nothing, np.ones(len(a)), nothing)
        elif test.name == "tukey":  # mean preferences against all others lie in [-1, 1]
            result = test.of_all(counts.against_others, bounds=(-2, 2))[a, b]
        else:
            parts = [test.of_pairs(x, bounds=(-1, 1)) for x in self._of_pairs(preference)]
            result = TestResult.concatenate(parts)
        adjusted, reject = test.corrected(result.p)
        columns = {
            "system_a": [name for name, _ in self.pairs],
            "system_b": [name for _, name in self.pairs],
            "wins": counts.wins[a, b],
            "losses": counts.losses[a, b],
            "ties": counts.ties[a, b],
            "incomparable": counts.incomparable[a, b],
            "mean": counts.mean[a, b],
            "ci_low": result.low,
            "ci_high": result.high,
            "p": result.p,
            "p_corrected": adjusted,
            "reject": reject,
            "effect_size": result.effect_size,
        }
        return pd.DataFrame(columns)

    def matrix(self, preference: str | None = None) -> pd.DataFrame:
        """Mean preference of the system of the row over that of the column."""
        import pandas as pd

        mean = self._count(self._name(preference)).mean
        matrix = pd.DataFrame(mean.copy(), index=self.systems, columns=self.systems)
        matrix.attrs.update(self.provenance)
        return matrix

    def per_query(self, preference: str | None = None) -> pd.DataFrame:
        """The preferences one by one: ``query_id``, ``system_a``, ``system_b``, ``preference`` (NaN: not comparable)."""
        import pandas as pd

        name = self._name(preference)
        a, b = self._pair_indices
        values = np.empty((len(self.query_ids), len(a)))
        for where, block in self.blocks(name):
            values[where] = block[:, a, b]
        table = pd.DataFrame(
            {
                "query_id": np.repeat(np.array(self.query_ids, dtype=object), len(a)),
                "system_a": [first for first, _ in self.pairs] * len(self.query_ids),
                "system_b": [second for _, second in self.pairs] * len(self.query_ids),
                "preference": values.ravel(),
            }
        )
        table.attrs.update(self.provenance)
        return table

    def scores(self, preference: str | None = None) -> pd.DataFrame:
        """Mean preference of each system against all others, a row per query, a column per system."""
        import pandas as pd

        values = self._count(self._name(preference)).against_others
        table = pd.DataFrame(values.copy(), index=pd.Index(self.query_ids, name="query_id"), columns=self.systems)
        table.attrs.update(self.provenance)
        return table

    def with_test(self, name: str | None = None, **options: Any) -> Preferences:
        """The same preferences, tested otherwise; ``options`` are those of ``SignificanceTest`` (``correction``, ``alpha``, ...)."""
        if name is not None:
            options["name"] = name
        return replace(self, test=replace(self.test, **options))

    def ranking(self, method: str = "mean", preference: str | None = None) -> pd.Series:
        """The systems, best first, with the score that orders them.

        Args:
            method: ``'mean'`` preference against all others, ``'borda'`` (points per query: systems beaten, half for
                ties), ``'mc4'`` (stationary probability of the Markov chain MC4 of Dwork et al., WWW 2001) or
                ``'bradley-terry'`` (log strength, fitted by the package choix).
            preference: which of the preferences compared.

        Raises:
            ValueError: no such method.
        """
        import pandas as pd

        counts = self._count(self._name(preference))
        ties = counts.ties + counts.incomparable
        if method == "mean":
            values = counts.against_others.mean(axis=0) if len(self.query_ids) else np.zeros(len(self.systems))
        elif method in aggregation.METHODS:
            values = aggregation.METHODS[method](counts.wins, ties)
        else:
            raise ValueError(f"there is no ranking method {method!r}; there are mean, {', '.join(aggregation.METHODS)}")
        order = np.argsort(-values, kind="stable")
        series = pd.Series(values[order], index=[self.systems[i] for i in order], name=method)
        series.attrs.update(self.provenance)
        return series

    def explain(self, a: str, b: str, preference: str | None = None) -> pd.DataFrame:
        """Per query: which of two systems is preferred, and what decided.

        Columns: ``query_id``, ``winner`` (missing: a tie, or not comparable), ``preference`` of ``a`` over ``b``; for
        ``lexirecall`` and the two lexiprecisions ``level`` (the recall level that decided: the how-manieth relevant
        document), ``tied_levels`` (how many levels were equal before), ``doc_id`` (the winner's document at that level),
        ``rank_a`` and ``rank_b`` (where each system reaches the level, missing where it does not), ``other_doc_id`` (the
        loser's document there); for recall-paired preferences ``levels_a`` and ``levels_b`` (levels at which each is
        ahead); for measures ``value_a`` and ``value_b``.
        """
        name = self._name(preference)
        first, second = self._system(a), self._system(b)
        table = explain(
            name,
            (a, b),
            (first, second),
            list(self.ranks.values()),
            self._positions,
            self.query_ids,
            self._of_pair(name, first, second),
            self.measure_scores[name][:, self._queries] if name in self.measure_scores else None,
        )
        table.attrs.update(self.provenance)
        return table

    @property
    def diagnostics(self) -> list[str]:
        """When not to trust a result, in words; empty where nothing stands out."""
        notes = []
        queries, m = len(self.query_ids), self._positions.m
        if self.excluded:
            notes.append(f"{self.excluded} queries have no relevant document (rel={self.rel:g}) and take no part.")
        if queries < 25:
            notes.append(f"Only {queries} queries: a test sees no difference but a large one.")
        if queries and np.median(m) < 3:
            notes.append(
                f"Half of the queries have at most {np.median(m):g} relevant documents: few levels to compare."
            )
        for system, ranks in zip(self.systems, self.ranks.values(), strict=True):
            depth, found = ranks.depth[self._queries], self._positions.r[self._system(system)]
            shallow = int(((found < m) & (depth < np.maximum(100, m))).sum())
            if queries and shallow > queries / 2:
                notes.append(
                    f"{system}: {shallow} of {queries} rankings are shallow (median depth {np.median(depth):g}) and miss "
                    "relevant documents: recall decides most of its comparisons."
                )
            if queries and (absent := int((depth == 0).sum())):
                notes.append(f"{system}: no documents at all for {absent} of {queries} queries.")
        for name in self.names:
            counts = self._count(name)
            for a, b in self.pairs:
                i, j = self._system(a), self._system(b)
                if queries and counts.ties[i, j] > queries / 2:
                    notes.append(f"{name}, {a} and {b}: {counts.ties[i, j]} of {queries} queries are ties.")
                if queries and counts.incomparable[i, j] > queries / 2:
                    notes.append(f"{name}, {a} and {b}: {counts.incomparable[i, j]} of {queries} are not comparable.")
        return notes

    def to_markdown(self, places: int = 4) -> str:
        """The table in Markdown, with the provenance below."""
        table = self.table()
        names = ["preference", "system_a", "system_b"]
        table = table.assign(**{n: table[n].str.replace("|", r"\|", regex=False) for n in names if n in table})
        return f"{_tabulated(table, 'github', places)}\n\n{self.caption}"

    def to_latex(self, places: int = 4) -> str:
        """The table in LaTeX (booktabs), with the provenance as a comment."""
        return f"% {self.caption}\n{_tabulated(self.table(), 'latex_booktabs', places)}"

    def _repr_html_(self) -> str:
        notes = "".join(f"<li>{html.escape(note)}</li>" for note in self.diagnostics)
        table = self.table().to_html(index=False, float_format="{:.4f}".format, border=0)
        return f"{table}<p><small>{html.escape(self.caption)}</small></p>" + (f"<ul>{notes}</ul>" if notes else "")

    def report(self, **options: Any) -> Report:
        """The comparison as one HTML file: ``report(title=...).write("report.html")``; options as in ``Report``."""
        from ir_lexirecall.report import Report

        return Report.of(self, **options)

    def plot(self, preference: str | None = None, ax: Any = None) -> Any:
        """Heatmap of the mean preferences, systems ordered best first, significant ones marked; returns the axes."""
        from ir_lexirecall.plots import heatmap

        return heatmap(self, self._name(preference), ax)

    def plot_pair(self, a: str, b: str, preference: str | None = None, ax: Any = None) -> Any:
        """Per query, where two systems differ: a bar for each; returns the axes."""
        from ir_lexirecall.plots import pair

        return pair(self, a, b, self._name(preference), ax)


def _is_pairwise(preference: str) -> bool:
    """Whether a preference gives a number for every pair, not an order of the systems."""
    return preference in PAIRWISE or preference == "dominance"


def _versions() -> dict[str, str]:
    packages = {"ir_lexirecall": "ir-lexirecall", "numpy": "numpy", "scipy": "scipy"}
    return {name: _version(package) for name, package in packages.items()} | {"python": platform.python_version()}


@cache
def _version(package: str) -> str:
    return version(package)


def _tabulated(table: pd.DataFrame, style: str, places: int) -> str:
    try:
        from tabulate import tabulate
    except ModuleNotFoundError:
        raise ModuleNotFoundError("this needs tabulate: pip install 'ir-lexirecall[tables]'") from None
    text = [i for i, column in enumerate(table.columns) if column in ("preference", "system_a", "system_b")]
    return str(
        tabulate(table, headers="keys", tablefmt=style, showindex=False, floatfmt=f".{places}f", disable_numparse=text)
    )
