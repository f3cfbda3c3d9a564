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
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.versions import versions
from ir_lexirecall.benchmarks import Benchmark
from ir_lexirecall.comparison import Comparison
from ir_lexirecall.data.alignment import RunLike
from ir_lexirecall.io.files import written_whole
from ir_lexirecall.io.texts import TextsLike
from ir_lexirecall.present.caveats import comparison_caveats
from ir_lexirecall.present.comparisons import comparison_finding
from ir_lexirecall.present.macro_means import benchmark_caveats, benchmark_finding
from ir_lexirecall.present.notes import grouped
from ir_lexirecall.present.standings import direction_words, verdict_words
from ir_lexirecall.present.text import fact_words, in_short, listed, printable, short_names
from ir_lexirecall.reports import sections, svg
from ir_lexirecall.reports.query_browser import BrowserData, Sources, browser_data
from ir_lexirecall.reports.report_tables import fitting, number, p_value, signed, tables_of, values_by_query

_MOST_TITLES = 3  # collections that the title names
_MOST_CELLS = 60_000  # of all tables together
_MOST_VALUES = 20_000  # by query
_RELIED_ON = (
    *("ir-lexirecall", "ir-measures", "ir-datasets", "numpy", "scipy", "pandas", "polars", "statsmodels"),
    *("pytrec-eval-terrier", "cwl-eval", "jinja2"),
)


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

    result: Comparison | Benchmark | pd.DataFrame
    title: str | None = None
    runs: Mapping[str, RunLike | Mapping[str, RunLike]] = field(default_factory=dict)
    texts: TextsLike | None = None
    queries: TextsLike | None = None
    inputs: Mapping[str, str | os.PathLike[str]] = field(default_factory=dict)
    command: str | None = None
    date: datetime.date | None = None
    details: int | None = None
    progress: bool | None = None

    def __post_init__(self) -> None:
        if isinstance(known := getattr(self.result, "attrs", {}).get("comparison"), Comparison):
            object.__setattr__(self, "result", known)  # PyTerrier's table, which carries it
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
            # Texts without characters that a reader's screen would obey.
            finalize=lambda x: printable(x) if isinstance(x, str) and not hasattr(x, "__html__") else x,
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        short = short_names(self.result.criteria)
        environment.filters.update(
            number=number,
            signed=signed,
            p_value=p_value,
            verdict=verdict_words,
            brief=lambda sentence: in_short(sentence, short).replace("p <= ", "p ≤ "),
        )
        result: Any = self.result
        if isinstance(result, Benchmark) and len(result) == 1:
            result = next(iter(result.values()))
        many = isinstance(result, Benchmark)
        sources = list(result) if many else list(filter(None, [result.source]))
        title = ": ".join(["Retrieval evaluation", *([listed(sources, _MOST_TITLES)] if sources else [])])
        date = datetime.datetime.now(datetime.UTC) if self.date is None else self.date
        style, script = (
            files("ir_lexirecall.reports").joinpath(f"templates/report.{kind}").read_text(encoding="utf-8").strip()
            for kind in ("css", "js")
        )
        found = versions(_RELIED_ON)
        facts = {name: fact for name, fact in result.provenance.items() if name not in ("metadata", "versions")}
        facts |= {f"{name} says": metadata for name, metadata in (result.provenance.get("metadata") or {}).items()}
        finding = benchmark_finding(result) if many else comparison_finding(result)
        notes = benchmark_caveats(result) if many else comparison_caveats(result)
        rankings = sections.rankings_of(result, notes)
        tables, left_out = fitting(tables_of(result), _MOST_CELLS)
        by_query, too_many = fitting(values_by_query(result), _MOST_VALUES)
        return environment.get_template("report.html").render(
            title=title if self.title is None else self.title,
            version=version("ir-lexirecall"),
            date=date.isoformat(**({"timespec": "seconds"} if isinstance(date, datetime.datetime) else {})),
            style=style,
            style_hash=_hash(style),
            script=script,
            script_hash=_hash(script),
            forest=svg.FOREST,
            direction_words=direction_words,
            reward=svg.REWARD,
            sentences=finding.sentences,
            notes=grouped(note for note in notes if len(note.runs) < 2),
            of_pairs=[note for note in notes if len(note.runs) == 2],
            rankings=rankings,
            best=sections.best_sets(rankings),
            collections={name: len(one.query_ids) for name, one in result.items()} if many else {},
            baseline=result.baseline,
            overall=sections.overall_of(result, rankings) if many else [],
            groups=[] if many else sections.groups_of(result),
            heatmaps=[] if many else sections.heatmaps_of(result),
            tables=tables | by_query,
            left_out=list(filter(None, [left_out, too_many])),
            browsers=self._browsers(),
            command=self.command,
            files=[_input(what, os.fspath(source)) for what, source in self.inputs.items()],
            settings={name.replace("_", " "): "none" if x is None else fact_words(x) for name, x in facts.items()},
            versions={"Python": found.pop("python"), **{name.replace("_", "-"): found[name] for name in found}},
        )

    def _browsers(self) -> list[BrowserData]:
        """What the query browser shows, for each collection that has something to browse."""
        many = isinstance(self.result, Benchmark)
        results = dict(self.result) if isinstance(self.result, Benchmark) else {"": self.result}
        made = []
        for name, result in results.items():
            runs: Any = self.runs.get(name, {} if len(results) > 1 else self.runs) if many else self.runs
            sources = Sources(
                {str(run): source for run, source in runs.items()},
                result.texts.texts if self.texts is None else self.texts,
                result.texts.queries if self.queries is None else self.queries,
                result.source,
            )
            made.append(browser_data(result, sources, self.details, self.progress, collection=name, parts=len(results)))
        return [data for data in made if data is not None]


def _hash(text: str) -> str:
    return b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _input(what: str, source: str) -> dict[str, Any]:
    """An input: a file with its size in bytes and its SHA-256; what is no file is listed as it is."""
    if not os.path.isfile(source):
        return {"what": what, "source": source, "size": None, "sha256": None}
    digest = hashlib.sha256()
    with open(source, "rb") as file:
        while block := file.read(2**20):
            digest.update(block)
        return {"what": what, "source": source, "size": file.tell(), "sha256": digest.hexdigest()}
