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

from ir_lexirecall.alignment import RunLike
from ir_lexirecall.benchmark import Benchmark, BenchmarkSuite
from ir_lexirecall.collections import Collection
from ir_lexirecall.errors import needs
from ir_lexirecall.files import written_whole
from ir_lexirecall.lazy import cached_property
from ir_lexirecall.preferences.result import Preferences
from ir_lexirecall.report import forests, rewards
from ir_lexirecall.report.browsing import BrowserData, Sources, browser_data
from ir_lexirecall.report.cells import Table, meanings, number, p_value, signed, values_by_query
from ir_lexirecall.report.findings import summary_of
from ir_lexirecall.report.overall import quantities_of
from ir_lexirecall.report.pairs import comparisons_of
from ir_lexirecall.report.provenance import InputFile, relied_on, settings
from ir_lexirecall.report.standings import leading_group, rankings_of
from ir_lexirecall.summary import leading_everywhere, listed
from ir_lexirecall.text import in_short, short_names


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.timezone.utc)


@dataclass(frozen=True)
class Report:
    """A result as a page that stands alone: ``Report(result).write("report.html")``.

    The file needs no network, follows the reader's light or dark scheme, prints, and reads on a phone. It begins with what
    ``result.summary()`` says. Numbers are shown with four decimal places; the attribute ``data-value`` of their cells, and the
    CSV files that the page offers, have all digits. A query browser shows two rankings of a query side by side.

    Attributes:
        result: what ``benchmark`` or ``compare`` gave.
        title: of the page; by default it names the collection.
        runs: the runs by name, in any form (of many collections, by collection, then by name): then the query browser names
            documents without judgment, too, which results do not hold. Names that the result does not have are ignored.
        texts: texts by document id, or a ``Collection`` that holds them; by default those of the data set evaluated, where
            they are on this machine already.
        queries: texts by query id; by default those of the collection that the documents' texts are from.
        inputs: files and data set ids by what they are, such as ``{"qrels": "qrels.txt", "bm25": "bm25.run"}``. A file is
            listed with its SHA-256 (of its bytes as stored), anything else as it is.
        command: the command line that made the report, if one did.
        date: when the evaluation was made; by default, when the report is.
        details: how many pairs of runs at most are in the query browser, those of the runs that rank highest first; by default
            as many as keep the file small: many collections share the room of one, with fewer queries of each (those on which the
            runs differ most) and fewer pairs; ``report(suite.results[name], ...)`` shows one of them whole. 0 leaves it out.
        progress: show a progress bar over the pairs; by default on a terminal only.

    Raises:
        ValueError: the result is none, or ``details`` is negative.

    >>> from ir_lexirecall import benchmark, demo
    >>> result = benchmark("lexirecall/demo", {"bm25": demo.run("bm25"), "ql": demo.run("ql")}, ["nDCG@10", "LR"])
    >>> page = Report(result, title="Two runs", date=datetime.date(2026, 1, 31)).html()
    >>> "<h1>Two runs</h1>" in page
    True
    """

    result: Benchmark | BenchmarkSuite | Preferences
    title: str | None = None
    runs: Mapping[str, RunLike | Mapping[str, RunLike]] = field(default_factory=dict)
    texts: Mapping[str, str] | Collection | None = None
    queries: Mapping[str, str] | None = None
    inputs: Mapping[str, str | os.PathLike[str]] = field(default_factory=dict)
    command: str | None = None
    date: datetime.date = field(default_factory=_now)
    details: int | None = None
    progress: bool | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.result, (Benchmark, BenchmarkSuite, Preferences)):
            raise ValueError(
                f"report: expected what benchmark or compare gave, got {type(self.result).__name__!r}; studies have to_html"
            )
        if self.details is not None and self.details < 0:
            raise ValueError(f"report: details must be at least 0, not {self.details!r}")

    def summary(self) -> str:
        """What the page says at its top, as text: the result's ``summary``."""
        return self.result.summary()

    def write(self, path: str | os.PathLike[str]) -> Path:
        """Write the page into the file ``path``, which is replaced if it exists: by the whole page, or not at all.

        Returns:
            The file's path.

        Raises:
            ModuleNotFoundError: Jinja2 is not installed.
            ValueError: the file's folder does not exist.
            OSError: the file cannot be written, or an input not be read.
        """
        path = Path(path)
        if not path.parent.is_dir():
            raise ValueError(f"{path}: there is no folder {str(path.parent)!r} to write into")
        page = self.html()
        with written_whole(path) as temporary:
            temporary.write_text(page, encoding="utf-8", errors="xmlcharrefreplace", newline="\n")
        return path

    def html(self) -> str:
        """The page as text.

        Raises:
            ModuleNotFoundError: Jinja2 is not installed.
            OSError: an input cannot be read.
        """
        try:
            import jinja2
        except ModuleNotFoundError:
            raise ModuleNotFoundError(needs("a report", "Jinja2", "report"), name="jinja2") from None
        environment = jinja2.Environment(
            loader=jinja2.PackageLoader("ir_lexirecall.report"),
            autoescape=True,
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        environment.filters.update(number=number, signed=signed, p_value=p_value, brief=self._brief)
        style, script = _asset("report.css"), _asset("report.js")
        isodate = self.date.isoformat(**({"timespec": "seconds"} if isinstance(self.date, datetime.datetime) else {}))
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
            settings=settings(self.result),
            versions=relied_on(),
            meanings=meanings,
            leading_everywhere=leading_everywhere,
            **self._sections(),
        )

    def _brief(self, sentence: str) -> str:
        """A text with short names of measures."""
        return in_short(sentence, self._short)

    @cached_property
    def _short(self) -> dict[str, str]:
        return short_names(self.result.finding.measures)

    def _default_title(self) -> str:
        """What the page is, and of which collections."""
        result = self.result
        if isinstance(result, BenchmarkSuite):
            sources = result.collections
        else:
            scored = result.scored if isinstance(result, Benchmark) else None
            judgments = self._preferences.counts.judgments if scored is None and self._preferences else None
            judgments = judgments if scored is None else scored.judgments
            sources = [judgments.source] if judgments is not None and judgments.source else []
        return f"Retrieval evaluation: {listed(sources, _MOST_TITLES)}" if sources else "Retrieval evaluation"

    @property
    def _preferences(self) -> Preferences | None:
        """The preferences of the result, if it has any."""
        if isinstance(self.result, Preferences):
            return self.result
        return self.result.preferences if isinstance(self.result, Benchmark) else None

    def _sections(self) -> dict[str, Any]:
        """What the sections show."""
        result = self.result
        summary = summary_of(result)
        if isinstance(result, BenchmarkSuite):
            suite = {"suite": self._suite(result), "browsers": self._browsers(result.results)}
            return {"summary": summary, "rankings": [], **suite, **dict.fromkeys(_SINGLE)}
        preferences = self._preferences
        rankings = rankings_of(result, summary)
        return {
            "summary": summary,
            "suite": None,
            "rankings": rankings,
            "group": leading_group(rankings),
            "comparisons": [] if preferences is None else comparisons_of(preferences),
            "means": Table.from_frame(result.table.rename_axis("run")) if isinstance(result, Benchmark) else None,
            "tests": Table.from_frame(result.tests().set_index(["measure", "run_a", "run_b"]))
            if isinstance(result, Benchmark) and len(result.runs) > 1
            else None,
            "by_query": values_by_query(result.per_query, result.runs) if isinstance(result, Benchmark) else None,
            "browsers": self._browsers({"": result}),
        }

    def _browsers(self, results: Mapping[str, Benchmark | Preferences]) -> list[BrowserData]:
        """What the query browser shows, for each collection that has something to browse."""
        runs: Mapping[str, Any] = self.runs
        made = (
            browser_data(
                result,
                self._sources(result, runs.get(name, {}) if name else runs),
                self.details,
                self.progress,
                collection=name,
                parts=len(results),
            )
            for name, result in results.items()
        )
        return [data for data in made if data is not None]

    def _sources(self, result: Benchmark | Preferences, runs: Mapping[str, Any]) -> Sources:
        preferences = result.preferences if isinstance(result, Benchmark) else result
        source = "" if preferences is None else preferences.counts.judgments.source
        return Sources({str(name): run for name, run in runs.items()}, self.texts, self.queries, source)

    @staticmethod
    def _suite(suite: BenchmarkSuite) -> dict[str, Any]:
        overall = {"queries": suite.overall("queries")} if suite.runs else {}
        if len(suite.collections) > 1 and suite.runs:
            overall["collections"] = suite.overall("collections")
        return {
            "collections": {name: len(result.query_ids) for name, result in suite.results.items()},
            "baseline": suite.baseline,
            "confidence": f"{100 * (1 - suite.test.alpha):g} %",
            "quantities": quantities_of(suite, overall["queries"]) if suite.runs else [],
            "overall": {over: Table.from_frame(table.set_index(["measure", "run"])) for over, table in overall.items()},
            "means": Table.from_frame(suite.table),
            "preferences": {
                name: Table.from_frame(compared.table().set_index(["run_a", "run_b"]))
                for name, compared in suite.preferences.items()
                if compared is not None
            },
        }


_MOST_TITLES = 3  # collections that the title names
_SINGLE = ("group", "comparisons", "means", "tests", "by_query")  # sections of a single collection


def _asset(name: str) -> str:
    return files("ir_lexirecall.report").joinpath(f"templates/{name}").read_text(encoding="utf-8").strip()


def _hash(text: str) -> str:
    return b64encode(hashlib.sha256(text.encode()).digest()).decode()
