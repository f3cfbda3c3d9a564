"""A result as one HTML file: the finding, the numbers behind it, every query, and how it was made. Nothing else is needed."""

from __future__ import annotations

import datetime
import hashlib
import os
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

from ir_lexirecall._util.errors import required
from ir_lexirecall._util.lazy import cached_property
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall.benchmarks import Benchmark
from ir_lexirecall.comparison import Comparison
from ir_lexirecall.data.alignment import RunLike
from ir_lexirecall.data.collection import Collection
from ir_lexirecall.io.files import written_whole
from ir_lexirecall.present.benchmarks import benchmark_caveats, benchmark_finding
from ir_lexirecall.present.caveats import comparison_caveats, is_defined
from ir_lexirecall.present.comparisons import comparison_finding
from ir_lexirecall.present.notes import grouped
from ir_lexirecall.present.standings import verdict_words
from ir_lexirecall.present.text import in_short, printable, short_names
from ir_lexirecall.present.words import listed
from ir_lexirecall.reports import forests, rewards
from ir_lexirecall.reports.browsing import BrowserData, Sources, browser_data
from ir_lexirecall.reports.cells import fitting, number, p_value, signed
from ir_lexirecall.reports.overall import groups_of, overall_of
from ir_lexirecall.reports.pairs import heatmaps_of
from ir_lexirecall.reports.provenance import InputFile, relied_on, settings
from ir_lexirecall.reports.standings import best_sets, overall_table, rankings_of
from ir_lexirecall.significance.draws import OVER

_MOST_TITLES = 3  # collections that the title names
_MOST_CELLS = 60_000  # of all tables together
_MOST_VALUES = 20_000  # by query


@dataclass(frozen=True)
class Report:
    """A result as a page that stands alone: ``Report(result).write("report.html")``.

    Its attributes are as in ``report``.

    Raises:
        ValueError: ``result`` is none, or ``details`` is negative.

    >>> from ir_lexirecall import compare, demo
    >>> result = compare("lexirecall/demo", {"bm25": demo.run("bm25"), "ql": demo.run("ql")}, ["nDCG@10", "LR"])
    >>> page = Report(result, title="Two runs", date=datetime.date(2026, 1, 31)).html()
    >>> "<h1>Two runs</h1>" in page
    True
    """

    result: Comparison | Benchmark
    title: str | None = None
    runs: Mapping[str, RunLike | Mapping[str, RunLike]] = field(default_factory=dict)
    texts: Mapping[str, str] | Collection | None = None
    queries: Mapping[str, str] | None = None
    inputs: Mapping[str, str | os.PathLike[str]] = field(default_factory=dict)
    command: str | None = None
    date: datetime.date | None = None
    details: int | None = None
    progress: bool | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.result, (Comparison, Benchmark)):
            raise ValueError(
                f"expected what compare or benchmark gave, got {type(self.result).__name__!r}; studies have to_html"
            )
        if self.details is not None and self.details < 0:
            raise ValueError(f"details must be at least 0, not {self.details!r}")

    def write(self, path: str | os.PathLike[str]) -> Path:
        """Write the page into the file ``path``, which is replaced if it exists: by the whole page, or not at all."""
        path = Path(path)
        if not path.parent.is_dir():
            raise ValueError(f"{path}: there is no folder {str(path.parent)!r} to write into")
        page = self.html()
        with written_whole(path) as temporary:
            temporary.write_text(page, encoding="utf-8", errors="xmlcharrefreplace", newline="\n")
        return path

    def html(self) -> str:
        """The page as text."""
        jinja2 = required("jinja2", "a report", "Jinja2", "report")
        environment = jinja2.Environment(
            loader=jinja2.PackageLoader("ir_lexirecall.reports"),
            autoescape=True,
            finalize=_visible,
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        environment.filters.update(
            number=number, signed=signed, p_value=p_value, verdict=verdict_words, brief=self._brief
        )
        style, script = _asset("report.css"), _asset("report.js")
        date = datetime.datetime.now(datetime.timezone.utc) if self.date is None else self.date
        isodate = date.isoformat(**({"timespec": "seconds"} if isinstance(date, datetime.datetime) else {}))
        return environment.get_template("report.html").render(
            title=self._default_title() if self.title is None else self.title,
            version=version("ir-lexirecall"),
            date=isodate,
            style=style,
            style_hash=_hash(style),
            script=script,
            script_hash=_hash(script),
            forest={"width": forests.WIDTH, "height": forests.HEIGHT},
            reward={"width": rewards.WIDTH, "height": rewards.HEIGHT},
            command=self.command,
            files=[InputFile.from_source(what, os.fspath(source)) for what, source in self.inputs.items()],
            settings=settings(self._single),
            versions=relied_on(),
            **self._sections(),
        )

    @cached_property
    def _single(self) -> Comparison | Benchmark:
        """The result; of a benchmark of a single collection, its comparison."""
        if isinstance(self.result, Benchmark) and len(self.result) == 1:
            return next(iter(self.result.values()))
        return self.result

    def _brief(self, sentence: str) -> str:
        return in_short(sentence, short_names(self.result.criteria)).replace("p <= ", "p ≤ ")

    def _default_title(self) -> str:
        """What the page is, and of which collections."""
        single = self._single
        sources = list(single) if isinstance(single, Benchmark) else list(filter(None, [single.source]))
        return ": ".join(["Retrieval evaluation", *([listed(sources, _MOST_TITLES)] if sources else [])])

    def _sections(self) -> dict[str, Any]:
        result: Any = self._single
        many = isinstance(result, Benchmark)
        if many:
            finding, notes = benchmark_finding(result), benchmark_caveats(result)
        else:
            finding, notes = comparison_finding(result), comparison_caveats(result)
        rankings = rankings_of(result, notes)
        tables, left_out = fitting(_tables(result), _MOST_CELLS)
        by_query, too_many = fitting(_by_query(result), _MOST_VALUES)
        return {
            "sentences": finding.sentences,
            "notes": grouped(note for note in notes if len(note.runs) < 2),
            "of_pairs": [note for note in notes if len(note.runs) == 2],
            "rankings": rankings,
            "best": best_sets(rankings),
            "collections": {name: len(one.query_ids) for name, one in result.items()} if many else {},
            "baseline": result.baseline,
            "overall": overall_of(result, rankings) if many else [],
            "groups": [] if many else groups_of(result),
            "heatmaps": [] if many else heatmaps_of(result),
            "tables": tables | by_query,
            "left_out": list(filter(None, [left_out, too_many])),
            "browsers": self._browsers(),
        }

    def _browsers(self) -> list[BrowserData]:
        """What the query browser shows, for each collection that has something to browse."""
        many = isinstance(self.result, Benchmark)
        results = dict(self.result) if isinstance(self.result, Benchmark) else {"": self.result}
        made = []
        for name, result in results.items():
            runs: Any = self.runs.get(name, {} if len(results) > 1 else self.runs) if many else self.runs
            sources = Sources(
                {str(run): source for run, source in runs.items()}, self.texts, self.queries, result.source
            )
            made.append(browser_data(result, sources, self.details, self.progress, collection=name, parts=len(results)))
        return [data for data in made if data is not None]


def _tables(result: Comparison | Benchmark) -> list[tuple[str, pd.DataFrame, int]]:
    """The tables of a result by their titles, and how many of their columns name a row; what is most asked for first."""
    if isinstance(result, Benchmark):
        tables = []
        for over in OVER if overall_table(result) is not None else ():
            if over == "queries" and result.per_task:
                continue
            what = _RESAMPLED[over].replace("queries", "groups of queries" if result.cluster else "queries")
            tables.append((f"Over collections, {what}", result.overall(over), 2))
        tables.append(("Means on each collection", result.means(), 3))
        for name, comparison in result.items():
            pairs = [comparison.table(by) for by in _defined(comparison)]
            tables += [(f"Differences on {name}", pd.concat(pairs, ignore_index=True), 3)] if pairs else []
        defined = all(_defined(comparison) == comparison.criteria for comparison in result.values())
        return tables + _in_groups(result, defined)
    names = _defined(result)
    tables = [("Means, a row per criterion and run", result.means(), 2)]
    best = [result.best_set(by).assign(criterion=by) for by in names]
    if best:
        tables.append(("Best sets", pd.concat(best)[["criterion", "run", "p_best", "may_be_best"]], 2))
    for by in names:
        pairs = result.table(by).drop(
            columns=["criterion"] + ([] if result.by[by].is_measure else ["mean_a", "mean_b"])
        )
        tables.append((f"Differences by {by}, a row per pair of runs", pairs, 2))
    return tables + _in_groups(result, names == result.criteria)


def _in_groups(result: Comparison | Benchmark, defined: bool) -> list[tuple[str, pd.DataFrame, int]]:
    """The tables of groups of queries, if there are any: of differences where all criteria are defined."""
    if not result.grouped:
        return []
    rows = 3 if isinstance(result, Benchmark) else 2
    tables = [("Means in groups of queries", result.group_means(), rows)]
    return tables + ([("Differences in groups of queries", result.group_table(), rows)] if defined else [])


_RESAMPLED = {
    "queries": "queries resampled within each collection",
    "collections": "collections resampled, then the queries of each",
}


def _defined(result: Comparison) -> list[str]:
    """The criteria by which there are pairs to compare."""
    return [name for name, criterion in result.by.items() if is_defined(criterion)] if len(result.runs) > 1 else []


def _by_query(result: Comparison | Benchmark) -> list[tuple[str, pd.DataFrame, int]]:
    if isinstance(result, Benchmark):
        return []
    return [(f"{by} by query, a column per run", result.per_query(by).reset_index(), 1) for by in result.criteria]


def _visible(value: Any) -> Any:
    """What a page shows of a value: texts without characters that a reader's screen would obey."""
    return printable(value) if isinstance(value, str) and not hasattr(value, "__html__") else value


def _asset(name: str) -> str:
    return files("ir_lexirecall.reports").joinpath(f"templates/{name}").read_text(encoding="utf-8").strip()


def _hash(text: str) -> str:
    return b64encode(hashlib.sha256(text.encode()).digest()).decode()
