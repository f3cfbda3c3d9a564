"""A result as one HTML file: the finding, the numbers behind it, every query, and how it was made.

Nothing else is needed.
"""

from __future__ import annotations

import datetime
import hashlib
import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from ir_lexirecall._util.errors import entry
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.versions import versions
from ir_lexirecall.benchmarks import Benchmark
from ir_lexirecall.comparison import Comparison
from ir_lexirecall.data.alignment import RunLike
from ir_lexirecall.io.files import written_whole
from ir_lexirecall.io.texts import TextsLike, TextSources
from ir_lexirecall.judging.files import check_folder, page_template
from ir_lexirecall.present.caveats import comparison_caveats
from ir_lexirecall.present.comparisons import comparison_finding
from ir_lexirecall.present.findings import grouped
from ir_lexirecall.present.macro_means import benchmark_caveats, benchmark_finding
from ir_lexirecall.present.standings import direction_words, verdict_words
from ir_lexirecall.present.text import (
    confidence_words,
    fact_words,
    format_p,
    in_short,
    listed,
    printable,
    short_names,
)
from ir_lexirecall.reports import sections
from ir_lexirecall.reports.query_browser import browsers_of, packed_text
from ir_lexirecall.reports.report_tables import fitting, minus, number, signed, tables_of

_MOST_TITLES = 3  # collections that the title names
_MOST_CELLS = 60_000  # of all tables together
_MOST_VALUES = 20_000  # by query
_RELIED_ON = (
    *(
        "ir-lexirecall",
        "ir-measures",
        "ir-datasets",
        "numpy",
        "scipy",
        "pandas",
        "polars",
        "statsmodels",
    ),
    *("pytrec-eval-terrier", "cwl-eval", "jinja2"),
)


@entry
def report(
    result: Comparison | Benchmark | pd.DataFrame,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    runs: Mapping[str, RunLike | Mapping[str, RunLike]] | None = None,
    texts: TextsLike | None = None,
    queries: TextsLike | None = None,
    inputs: Mapping[str, str | os.PathLike[str]] | None = None,
    command: str | None = None,
    date: datetime.date | None = None,
    details: int | None = None,
    progress: bool | None = None,
) -> Path:
    """Write the result of ``compare`` or ``benchmark`` as one HTML file, which needs no network.

    The page follows the reader's light or dark scheme, prints, and reads on a phone. It begins with
    what ``result.summary()`` says. Numbers are shown with four decimal places; the attribute
    ``data-value`` of their cells, and the CSV files that the page offers, have all digits. A query
    browser shows two rankings of a query side by side. The query browser, the section of tables and
    all heatmaps but the first are stored compressed: they need JavaScript.

    Args:
        result: what to report: of ``compare``, ``benchmark``, or the table of
            ``pt.lexirecall.Experiment``, which carries a comparison.
        path: the file, which is replaced if it exists: by the whole page, or not at all.
        title: of the page; by default it names the collection.
        runs: the runs by name, in any form (of many collections, by collection, then by name): then
            the query browser names documents without judgment, too, which results do not hold.
            Names that the result does not have are ignored.
        texts: texts of documents (``io.texts.TextsLike``: a mapping by id, a file, an id of
            ir_datasets, PyTerrier's ``text_loader``, ...); by default those that the result knows,
            or of the data set evaluated, where they are on this machine already.
        queries: texts of queries, alike; by default those of the collection that the documents'
            texts are from.
        inputs: files and data set ids by what they are, such as ``{"qrels": "qrels.txt", "bm25":
            "bm25.run"}``. A file is listed with its SHA-256 (of its bytes as stored), anything else
            as it is.
        command: the command line that made the report, if one did.
        date: when the evaluation was made; by default, when the report is.
        details: how many pairs of runs at most are in the query browser, those of the runs that
            rank highest first; by default as many as keep the file small: many collections share
            the room of one, with fewer queries of each (those on which the runs differ most) and
            fewer pairs; ``report(suite[name], ...)`` shows one of them whole. 0 leaves it out.
        progress: show a progress bar over the pairs; by default on a terminal only.

    Returns:
        The file's path.

    Raises:
        ModuleNotFoundError: Jinja2 is not installed.
        ValueError: not a result, ``details`` is negative, or the file's folder does not exist.
        OSError: the file cannot be written, or an input not be read.
    """
    carried = getattr(result, "attrs", {}).get("comparison")  # by PyTerrier's table
    shown: Any = carried if isinstance(carried, Comparison) else result
    if not isinstance(shown, (Comparison, Benchmark)):
        raise ValueError(
            f"expected what compare or benchmark gave, got {type(shown).__name__!r}; studies have to_html"
        )
    if details is not None and details < 0:
        raise ValueError(f"details must be at least 0, not {details!r}")
    check_folder(path)
    short = short_names(shown.criteria)
    filters = {
        "number": number,
        "signed": signed,
        "p_value": lambda p: minus(format_p(p)),
        "verdict": partial(verdict_words, has_margin=getattr(shown, "margins", None) is not None),
        "packed": lambda markup: packed_text(str(markup)),
        "brief": lambda sentence: in_short(sentence, short).replace("p <= ", "p ≤ "),
    }
    template = page_template(
        "ir_lexirecall.reports",
        "report",
        "a report",
        filters,
        # Texts without characters that a reader's screen would obey.
        finalize=lambda x: printable(x) if isinstance(x, str) and not hasattr(x, "__html__") else x,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    browsers = browsers_of(shown, runs or {}, TextSources(texts, queries), details, progress)
    if isinstance(shown, Benchmark) and len(shown) == 1:
        shown = next(iter(shown.values()))
    many = isinstance(shown, Benchmark)
    if title is None:
        sources = list(shown) if many else list(filter(None, [shown.source]))
        title = ": ".join(
            ["Retrieval evaluation", *([listed(sources, _MOST_TITLES)] if sources else [])]
        )
    date = datetime.datetime.now(datetime.UTC) if date is None else date
    found = versions(_RELIED_ON)
    facts = {
        name: fact
        for name, fact in shown.provenance.items()
        if name not in ("metadata", "versions")
    }
    facts |= {
        f"{name} says": metadata
        for name, metadata in (shown.provenance.get("metadata") or {}).items()
    }
    finding = benchmark_finding(shown) if many else comparison_finding(shown)
    notes = benchmark_caveats(shown) if many else comparison_caveats(shown)
    rankings = sections.rankings_of(shown, notes)
    tables, left_out = fitting(tables_of(shown), _MOST_CELLS)
    names = [] if many else shown.criteria
    values = [
        (f"{by} by query, a column per run", shown.per_query(by).reset_index(), 1) for by in names
    ]
    by_query, too_many = fitting(values, _MOST_VALUES)
    files = []
    for what, name in (inputs or {}).items():
        file: dict[str, Any] = {
            "what": what,
            "source": os.fspath(name),
            "size": None,
            "sha256": None,
        }
        if os.path.isfile(name):
            with open(name, "rb") as stream:
                file |= {
                    "sha256": hashlib.file_digest(stream, "sha256").hexdigest(),
                    "size": stream.tell(),
                }
        files.append(file)
    page = template.render(
        title=title,
        date=date.isoformat(
            **({"timespec": "seconds"} if isinstance(date, datetime.datetime) else {})
        ),
        forest=sections.FOREST,
        direction_words=direction_words,
        sentences=finding.sentences,
        notes=grouped(note for note in notes if len(note.runs) < 2),
        of_pairs=[note for note in notes if len(note.runs) == 2],
        rankings=rankings,
        best=sections.best_sets(rankings),
        collections={name: len(one.query_ids) for name, one in shown.items()} if many else {},
        baseline=shown.baseline,
        confidence=confidence_words(shown.provenance),
        overall=many and bool(rankings) and len(shown.runs) > 1,
        tables=tables | by_query,
        left_out=list(filter(None, [left_out, too_many])),
        browsers=browsers,
        command=command,
        files=files,
        settings={
            name.replace("_", " "): "none" if x is None else fact_words(x)
            for name, x in facts.items()
        },
        versions={
            "Python": found.pop("python"),
            **{name.replace("_", "-"): found[name] for name in found},
        },
    )
    with written_whole(path) as temporary:
        temporary.write_text(page, encoding="utf-8", errors="xmlcharrefreplace", newline="\n")
    return Path(path)
