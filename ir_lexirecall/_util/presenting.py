"""What results ask of the modules that show them.

``present`` and ``plots`` read results, so that results cannot import them. They are loaded when a
result is first shown. The protocols name what is called, so that types are checked here, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, cast

from ir_lexirecall._util.lazy import LazyModule


class Table(Protocol):
    """A table for a paper."""

    def markdown(self) -> str:
        """Return the table in Markdown."""
        ...

    def latex(self, *, label: str) -> str:
        """Return the table in LaTeX."""
        ...


class Presentation(Protocol):
    """The functions of ``present`` that results call."""

    def comparison_caveats(self, result: Any) -> Sequence[str]:
        """Return the notes on a comparison, the gravest first."""
        ...

    def rare_losses(
        self, result: Any, names: Sequence[str], *, on_all: bool, in_groups: bool
    ) -> Iterable[str]:
        """Return which losses the queries may miss, where a run is not worse."""
        ...

    def comparison_glance(self, result: Any) -> object:
        """Return a comparison at a glance, whose text is the summary."""
        ...

    def comparison_table(
        self,
        result: Any,
        places: int,
        *,
        holds: bool,
        columns: str,
        caption: str | None = None,
    ) -> Table:
        """Return the table of a comparison for a paper."""
        ...

    def benchmark_caveats(self, result: Any) -> Sequence[str]:
        """Return the notes on a benchmark, the gravest first."""
        ...

    def benchmark_glance(self, result: Any, over: str | None) -> object:
        """Return a benchmark at a glance, whose text is the summary."""
        ...

    def benchmark_table(
        self,
        result: Any,
        over: str | None,
        places: int,
        *,
        columns: str | None,
        caption: str | None = None,
    ) -> Table:
        """Return the table of a benchmark for a paper."""
        ...

    def full_text(self, glance: Any, provenance: Mapping[str, Any]) -> str:
        """Return every row and note of a result at a glance, and how it was made."""
        ...

    def gate_text(self, gate: Any) -> str:
        """Return the summary of a gate in Markdown."""
        ...


class Pictures(Protocol):
    """The functions of ``plots`` that results call."""

    def notebook(self, result: Any) -> str:
        """Return a result as notebooks show it, in HTML."""
        ...

    def picture(self, result: type, kind: str) -> Callable[..., Any]:
        """Return the function that draws results of a type as a kind of picture."""
        ...


present = cast(Presentation, LazyModule("ir_lexirecall.present"))
plots = cast(Pictures, LazyModule("ir_lexirecall.plots"))
