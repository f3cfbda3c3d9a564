"""Results as one HTML file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ir_lexirecall.lazy import LazyModule, exports

if TYPE_CHECKING:
    import os
    from pathlib import Path

    from ir_lexirecall.benchmark import Benchmark, BenchmarkSuite
    from ir_lexirecall.preferences import Preferences
    from ir_lexirecall.report import page
    from ir_lexirecall.report.page import Report
else:
    page = LazyModule("ir_lexirecall.report.page")
    __getattr__, __dir__ = exports(__name__, {"Report": "ir_lexirecall.report.page"})

__all__ = ["Report", "report"]


def report(result: Benchmark | BenchmarkSuite | Preferences, path: str | os.PathLike[str], **options: Any) -> Path:
    """Write the result of ``benchmark`` or ``compare`` as one HTML file, which needs no network.

    Args:
        result: what to report.
        path: the file, which is replaced if it exists.
        options: attributes of ``Report`` by name, such as ``title``, ``runs``, ``texts``.

    Returns:
        The file's path.

    Raises:
        ModuleNotFoundError: Jinja2 is not installed.
        ValueError: the file's folder does not exist, or an option is out of range.
        OSError: the file cannot be written, or an input not be read.
    """
    return page.Report(result, **options).write(path)
