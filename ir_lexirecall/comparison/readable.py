"""What readers get of a comparison: sentences, tables and pictures, all made by packages that are found late."""

from __future__ import annotations

from typing import Any

from ir_lexirecall._util.errors import entry
from ir_lexirecall._util.lazy import LazyModule
from ir_lexirecall.io.groups import QueryGroups

present: Any = LazyModule("ir_lexirecall.present")  # they read results
plots: Any = LazyModule("ir_lexirecall.plots")


class Readable:
    """Methods of ``Comparison`` that show it."""

    groups: QueryGroups | None
    cluster: bool

    @property
    def grouped(self) -> bool:
        """Whether there is something to show of each group of queries: not where groups are the units of the tests."""
        return self.groups is not None and not self.cluster

    @property
    def diagnostics(self) -> list[str]:
        """When not to trust the result, in words, the gravest first; empty where nothing stands out."""
        return [*present.comparison_caveats(self)]

    @entry
    def summary(self) -> str:
        """The result in a few sentences: who leads, who may lead as well, what differs, what to be careful about."""
        return str(present.comparison_finding(self))

    @entry
    def to_markdown(self, places: int = 4) -> str:
        """Means in Markdown, a row per run, best first: the best bold, marked by the verdicts, with a note on the test."""
        return str(present.comparison_table(self, places).markdown())

    @entry
    def to_latex(self, places: int = 4, *, label: str = "tab:comparison") -> str:
        """Means as a LaTeX ``table`` with caption, label and a note on the test; rows as in ``to_markdown``."""
        return str(present.comparison_table(self, places).latex(label=label))

    def _repr_html_(self) -> str:
        return str(plots.notebook(self))

    @entry
    def plot(self, by: str | None = None, ax: Any = None) -> Any:
        """Forest of the means with their intervals, best first; returns the axes."""
        return plots.means(self, by, ax=ax)

    @entry
    def plot_differences(self, by: str | None = None, ax: Any = None) -> Any:
        """Forest of the differences of all runs to the baseline, or to the leader; returns the axes."""
        return plots.differences(self, by, ax=ax)

    @entry
    def plot_groups(self, by: str | None = None, ax: Any = None) -> Any:
        """Forest of the differences to the baseline, or the leader, in each group of queries; returns the axes."""
        return plots.groups(self, by, ax=ax)

    @entry
    def plot_pairs(self, by: str | None = None, ax: Any = None) -> Any:
        """Heatmap of the differences of all pairs, best runs first, the verdicts marked; returns the axes."""
        return plots.heatmap(self, by, ax=ax)

    @entry
    def plot_pair(self, a: str, b: str, by: str | None = None, ax: Any = None) -> Any:
        """Query by query, where two runs differ; returns the axes."""
        return plots.pair(self, a, b, by, ax=ax)

    @entry
    def plot_query(self, query_id: str, ax: Any = None) -> Any:
        """Where the relevant documents of a query stand in every run, best run first; returns the axes."""
        return plots.rank_profile(self, query_id, ax=ax)
