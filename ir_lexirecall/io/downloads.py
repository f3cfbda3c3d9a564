"""Downloads of ir_datasets that fail, as one sentence instead of a line for each attempt."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager

_ALL_FAILED = "All download sources failed"
"""First argument of ir_datasets' error where a file has several sources."""
_ATTEMPTS = ("download error:", "Download failed:")
"""How ir_datasets' messages about a single attempt begin."""
_HTTP_PACKAGES = ("requests", "urllib3", "urllib")


@contextmanager
def downloading(dataset_id: str) -> Iterator[None]:
    """Raise a download that fails as one sentence; other errors stay as they are.

    Args:
        dataset_id: what the message says was to be downloaded.

    Raises:
        ValueError: ir_datasets could not download a file that it needs.
    """
    logger = logging.getLogger("ir_datasets")
    logger.addFilter(_is_no_attempt)
    try:
        yield
    except (OSError, RuntimeError) as error:
        failure = _failure_of_http(error)
        if failure is None:
            raise
        raise ValueError(f"{dataset_id}: {_explained(failure)}") from error
    finally:
        logger.removeFilter(_is_no_attempt)


def _is_no_attempt(record: logging.LogRecord) -> bool:
    """Return whether a message of ir_datasets is about something else than a failed attempt."""
    return not str(record.msg).startswith(_ATTEMPTS)


def _failure_of_http(error: Exception) -> Exception | None:
    """Return the error of the first source that was tried, None if `error` is of something else."""
    if isinstance(error, RuntimeError):
        if len(error.args) != 2 or error.args[0] != _ALL_FAILED:
            return None
        failures = [failure for _, failure in error.args[1]]
        return next(filter(_is_of_http, failures), None)
    return error if _is_of_http(error) else None


def _is_of_http(error: Exception) -> bool:
    """Return whether an error comes from a package that downloads."""
    return type(error).__module__.partition(".")[0] in _HTTP_PACKAGES


def _explained(failure: Exception) -> str:
    """Return the message on a failed download: its source, the reason and the ways out."""
    url = getattr(getattr(failure, "request", None), "url", None) or "its source"
    status = getattr(getattr(failure, "response", None), "status_code", None)
    reason = type(failure).__name__ if status is None else f"status {status}"
    folder = os.environ.get("IR_DATASETS_HOME") or os.path.join("~", ".ir_datasets")
    return (
        f"ir_datasets could not download it from {url} ({reason}); check the network, or set "
        f"IR_DATASETS_HOME to a folder that holds its files (now {folder})"
    )
