"""A result as one HTML file: the finding, the numbers behind it, every query, and how it was made.

Nothing else is needed.
"""

from __future__ import annotations

import datetime
import hashlib
import os
import shlex
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ir_lexirecall._util.errors import entry
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.selecting import without_keys
from ir_lexirecall._util.versions import versions
from ir_lexirecall.benchmarks import Benchmark
from ir_lexirecall.comparison import Comparison
from ir_lexirecall.data.alignment import RunLike
from ir_lexirecall.io.files import written_whole
from ir_lexirecall.io.texts import TextsLike, TextSources
from ir_lexirecall.judging.files import check_folder, page_template
from ir_lexirecall.present.caveats import UNSEEN_LOSSES, caveats_without
from ir_lexirecall.present.comparisons import comparison_glance
from ir_lexirecall.present.findings import grouped
from ir_lexirecall.present.glance import glance_html
from ir_lexirecall.present.macro_means import benchmark_caveats, benchmark_glance
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
from ir_lexirecall.reports.report_tables import (
    fitting,
    minus,
    number,
    signed,
    tables_of,
)

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

    The page follows the reader's light or dark scheme, can be printed, and fits a phone. It begins
    with the table of ``result.summary()``. Numbers have four decimal places; the attribute
    ``data-value`` of their cells, and the CSV files that the page offers, have all digits. A query
    browser shows two rankings of a query side by side. The query browser, the section of tables and
    all heatmaps except the first are stored compressed and need JavaScript.

    Args:
        result: what to report: of ``compare``, ``benchmark``, or the table of
            ``pt.lexirecall.Experiment``, which carries a comparison.
        path: the file, which is replaced if it exists: by the whole page, or not at all.
        title: of the page; by default it names the collection.
        runs: the runs by name, in any form (of many collections: by collection, then by name). The
            query browser then names unjudged documents, too; results do not hold them. Names that
            the result does not have are ignored.
        texts: texts of documents (``io.texts.TextsLike``: a mapping by id, a file, an id of
            ir_datasets, PyTerrier's ``text_loader``, ...); by default those that the result knows,
            or of the data set evaluated, where they are on this machine already.
        queries: texts of queries, in the same forms; by default those of the collection of the
            documents' texts.
        inputs: files and ids of data sets by their role, such as ``{"qrels": "qrels.txt", "bm25":
            "bm25.run"}``. A file is listed with its SHA-256 (of its bytes as stored), anything else
            as it is.
        command: the command line that made the report, if one did.
        date: date of the evaluation; by default that of the report.
        details: largest number of pairs of runs in the query browser, pairs of the best runs first;
            by default as many as keep the file small. Many collections share the room of one: each
            has fewer queries (those on which the runs differ most) and fewer pairs;
            ``report(suite[name], ...)`` shows one of them in full. 0 leaves the browser out.
        progress: show a progress bar over the pairs; by default on a terminal only.

    Returns:
        The file's path.

    Raises:
        ModuleNotFoundError: Jinja2 is not installed.
        ValueError: not a result, ``details`` is negative, or the file's folder does not exist.
        OSError: the file cannot be written, or an input cannot be read.
    """
    shown = _result_of(result)
    if details is not None and details < 0:
        raise ValueError(f"details must be at least 0, not {details!r}")
    check_folder(path)
    template = _template(shown)
    browsers = browsers_of(
        shown, runs or {}, TextSources(texts, queries), details, progress
    )
    if isinstance(shown, Benchmark) and len(shown) == 1:
        shown = next(iter(shown.values()))
    if date is None:
        date = datetime.datetime.now(datetime.UTC)
    if title is None:
        title = _title(shown)
    page = template.render(
        title=title,
        date=_iso(date),
        browsers=browsers,
        **_findings(shown),
        **_tables(shown),
        **_provenance(shown, inputs or {}, command),
    )
    with written_whole(path) as temporary:
        temporary.write_text(
            page, encoding="utf-8", errors="xmlcharrefreplace", newline="\n"
        )
    return Path(path)


def _result_of(result: Any) -> Comparison | Benchmark:
    """Return the result to report; raise if there is none."""
    carried = getattr(result, "attrs", {}).get("comparison")  # by PyTerrier's table
    if isinstance(carried, Comparison):
        return carried
    if isinstance(result, (Comparison, Benchmark)):
        return result
    raise ValueError(
        f"expected a result of compare or benchmark, got {type(result).__name__!r}; "
        "studies have to_html"
    )


def _template(result: Comparison | Benchmark) -> Any:
    """Return the page's template, with its filters for numbers and names."""
    short = short_names(result.criteria)
    filters = {
        "number": number,
        "signed": signed,
        "p_value": lambda p: minus(format_p(p, result.test.alpha)),
        "verdict": verdict_words,
        "packed": lambda markup: packed_text(str(markup)),
        "brief": lambda sentence: in_short(sentence, short).replace("p <= ", "p ≤ "),
    }
    return page_template(
        "ir_lexirecall.reports",
        "report",
        "a report",
        filters,
        # Texts without characters that a reader's screen would obey.
        finalize=lambda x: (
            printable(x) if isinstance(x, str) and not hasattr(x, "__html__") else x
        ),
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _title(result: Comparison | Benchmark) -> str:
    """Return the title of a page that was given none."""
    sources = []
    if isinstance(result, Benchmark):
        sources = list(result)
    elif result.compared.source:
        sources = [result.compared.source]
    if not sources:
        return "Retrieval evaluation"
    return f"Retrieval evaluation: {listed(sources, _MOST_TITLES)}"


def _iso(date: datetime.date) -> str:
    """Return a date, or a time to the second."""
    if isinstance(date, datetime.datetime):
        return date.isoformat(timespec="seconds")
    return date.isoformat()


def _findings(result: Comparison | Benchmark) -> dict[str, Any]:
    """Return the result at a glance, its caveats and the rankings."""
    collections = {}
    if isinstance(result, Benchmark):
        glance, notes = benchmark_glance(result), benchmark_caveats(result)
        for name, one in result.items():
            collections[name] = len(one.query_ids)
    else:
        glance = comparison_glance(result)
        notes = caveats_without(result, [UNSEEN_LOSSES])  # the glance says it
    rankings = sections.rankings_of(result, notes)
    over_all = isinstance(result, Benchmark) and len(result.runs) > 1
    return {
        "glance": glance_html(replace(glance, notes=()), is_report=True),
        "forest": sections.FOREST,
        "direction_words": direction_words,
        "notes": grouped(note for note in notes if len(note.runs) < 2),
        "of_pairs": [note for note in notes if len(note.runs) == 2],
        "rankings": rankings,
        "collections": collections,
        "baseline": result.baseline,
        "confidence": confidence_words(result.provenance),
        "overall": over_all and bool(rankings),
    }


def _tables(result: Comparison | Benchmark) -> dict[str, Any]:
    """Return the tables that fit the page, and sentences on those that do not."""
    tables, left_out = fitting(tables_of(result), _MOST_CELLS)
    values = []
    if isinstance(result, Comparison):
        values = [
            (f"{by} by query, a column per run", result.per_query(by).reset_index(), 1)
            for by in result.criteria
        ]
    by_query, too_many = fitting(values, _MOST_VALUES)
    return {
        "tables": tables | by_query,
        "left_out": list(filter(None, [left_out, too_many])),
    }


def _provenance(
    result: Comparison | Benchmark, inputs: Mapping[str, Any], command: str | None
) -> dict[str, Any]:
    """Return how the result was made: command, files, settings, versions."""
    facts = {}
    for name, fact in without_keys(result.provenance, ("metadata", "versions")).items():
        if fact is not None and fact != {}:
            facts[name.replace("_", " ")] = fact_words(fact)
    for name, metadata in (result.provenance.get("metadata") or {}).items():
        facts[f"{name} says"] = fact_words(metadata)
    if command is not None:
        command = _without_folders(command)
    numbers = versions(_RELIED_ON)
    python = numbers.pop("python")
    return {
        "command": command,
        "files": [_file(what, os.fspath(name)) for what, name in inputs.items()],
        "settings": facts,
        "versions": {
            "Python": python,
            **{name.replace("_", "-"): number for name, number in numbers.items()},
        },
    }


def _without_folders(command: str) -> str:
    """Return a command line with the names of files instead of absolute paths.

    >>> command = "ir-lexirecall report /home/me/qrels.txt runs/a.run -o '/tmp/my page.html'"
    >>> _without_folders(command)
    "ir-lexirecall report qrels.txt runs/a.run -o 'my page.html'"
    """
    words = []
    for word in shlex.split(command):
        if os.path.isabs(word):
            words.append(Path(word).name)
        else:
            words.append(word)
    return shlex.join(words)


def _file(what: str, name: str) -> dict[str, Any]:
    """Return what the page lists of an input: of a file its size and SHA-256, and no folders.

    A page is passed on, and absolute paths name people and machines.
    """
    source, label = name, what
    if os.path.isabs(name):
        source = Path(name).name
        label = what.replace(name, source)
    file: dict[str, Any] = {
        "what": label,
        "source": source,
        "size": None,
        "sha256": None,
    }
    if os.path.isfile(name):
        with open(name, "rb") as stream:
            file["sha256"] = hashlib.file_digest(stream, "sha256").hexdigest()
            file["size"] = stream.tell()
    return file
