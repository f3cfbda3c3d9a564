"""Results as one HTML file."""

from __future__ import annotations

import datetime
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ir_lexirecall._util.errors import entry
from ir_lexirecall._util.lazy import LazyModule, exports

if TYPE_CHECKING:
    import pandas as pd

    from ir_lexirecall.benchmarks import Benchmark
    from ir_lexirecall.comparison import Comparison
    from ir_lexirecall.data.alignment import RunLike
    from ir_lexirecall.io.texts import TextsLike
    from ir_lexirecall.reports import page
    from ir_lexirecall.reports.page import Report
else:
    page = LazyModule("ir_lexirecall.reports.page")
    __getattr__, __dir__ = exports(__name__, {"Report": "ir_lexirecall.reports.page"})

__all__ = ["Report", "report"]


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

    The page follows the reader's light or dark scheme, prints, and reads on a phone. It begins with what ``result.summary()``
    says. Numbers are shown with four decimal places; the attribute ``data-value`` of their cells, and the CSV files that the
    page offers, have all digits. A query browser shows two rankings of a query side by side.

    Args:
        result: what to report: of ``compare``, ``benchmark``, or the table of ``pt.lexirecall.Experiment``, which carries a comparison.
        path: the file, which is replaced if it exists: by the whole page, or not at all.
        title: of the page; by default it names the collection.
        runs: the runs by name, in any form (of many collections, by collection, then by name): then the query browser names
            documents without judgment, too, which results do not hold. Names that the result does not have are ignored.
        texts: texts of documents (``io.texts.TextsLike``: a mapping by id, a file, an id of ir_datasets, PyTerrier's ``text_loader``, ...);
            by default those that the result knows, or of the data set evaluated, where they are on this machine already.
        queries: texts of queries, alike; by default those of the collection that the documents' texts are from.
        inputs: files and data set ids by what they are, such as ``{"qrels": "qrels.txt", "bm25": "bm25.run"}``. A file is
            listed with its SHA-256 (of its bytes as stored), anything else as it is.
        command: the command line that made the report, if one did.
        date: when the evaluation was made; by default, when the report is.
        details: how many pairs of runs at most are in the query browser, those of the runs that rank highest first; by default
            as many as keep the file small: many collections share the room of one, with fewer queries of each (those on which the
            runs differ most) and fewer pairs; ``report(suite[name], ...)`` shows one of them whole. 0 leaves it out.
        progress: show a progress bar over the pairs; by default on a terminal only.

    Returns:
        The file's path.

    Raises:
        ModuleNotFoundError: Jinja2 is not installed.
        ValueError: not a result, ``details`` is negative, or the file's folder does not exist.
        OSError: the file cannot be written, or an input not be read.
    """
    shown = page.Report(result, title, runs or {}, texts, queries, inputs or {}, command, date, details, progress)
    return shown.write(path)
