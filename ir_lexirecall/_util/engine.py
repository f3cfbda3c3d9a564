"""Tell whether Polars can compute in this process.

It cannot in a process that was forked after Polars had been loaded, or that lacks memory.

Polars computes in threads of its own. A fork copies a process without its threads, and whatever
waits for them waits for ever; so does, now and then, what waits for threads that a limit of the
address space (``ulimit -v``) kept from starting. Taking tables apart and putting them together,
value by value, needs no threads; all else is done in Python there.
"""

from __future__ import annotations

import importlib
import os
import sys
import threading
from collections.abc import Callable, Iterator

# It imports its thread pools only when they are first used.
from concurrent import futures
from contextvars import copy_context
from typing import Any, TypeVar

from ir_lexirecall._util.lazy import polars

T = TypeVar("T")

_ROOM = 3 * 2**30  # bytes of addresses that Polars' threads, and ours, may reserve
# Flag of /proc/self/stat: forked, and no other program started since.
_FORKED = 0x40
_PATIENCE = 2.0  # seconds


def computes() -> bool:
    """Return whether Polars can be asked for what it does in threads.

    >>> computes()
    True
    """
    global _computes
    if _computes is None:  # tried, in a thread that may wait for ever
        thread = threading.Thread(
            target=lambda: polars.DataFrame({"number": [2, 1]}).sort("number"),
            daemon=True,
        )
        thread.start()
        thread.join(_PATIENCE)
        _computes = not thread.is_alive()
    return _computes


def where() -> str:
    """Return what messages call a process in which Polars cannot compute."""
    forked = "in a process that was forked after Polars had been loaded"
    if _has_room():
        return forked
    return "under so low a limit of memory"


def _has_room() -> bool:
    """Whether the process may reserve as many addresses as threads need."""
    try:
        resource = importlib.import_module("resource")
        with open("/proc/self/statm", "rb") as stream:
            used = int(stream.read().split()[0]) * resource.getpagesize()
    except (ModuleNotFoundError, OSError):  # Windows, macOS
        return True
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return limit == resource.RLIM_INFINITY or bool(limit - used >= _ROOM)


def _is_forked() -> bool:
    """Return whether this process was forked, and no other program started since."""
    try:
        with open("/proc/self/stat", "rb") as stream:
            return bool(int(stream.read().rpartition(b")")[2].split()[6]) & _FORKED)
    except (OSError, ValueError, IndexError):
        from multiprocessing import parent_process

        return parent_process() is not None


def _after_fork() -> None:
    """Remember in a forked process that Polars, whose threads are gone, cannot compute."""
    global _computes
    if "polars" in sys.modules:
        _computes = False


# Whether Polars was loaded before this module and before a fork cannot be known: None, to be tried.
_computes: bool | None = (
    None if "polars" in sys.modules and _is_forked() else _has_room()
)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


# -- work in other threads -------------------------------------------------------------------------
# Where none can be started (little memory, the end of a program), it is done in this one.


def started(
    threads: futures.ThreadPoolExecutor, work: Callable[[], T]
) -> Callable[[], T]:
    """Start to work in one of the threads; what is returned waits for the result.

    >>> with futures.ThreadPoolExecutor(1) as threads:
    ...     wait = started(threads, lambda: 6 * 7)
    >>> wait(), started(threads, lambda: 6 * 7)()
    (42, 42)
    """
    try:
        return threads.submit(
            copy_context().run, work
        ).result  # errors name the function that the user called
    except RuntimeError:
        return work


def one_ahead(items: Iterator[T]) -> Iterator[T]:
    """Yield the same items, each made in another thread while the one before is in use.

    >>> list(one_ahead(iter("abc")))
    ['a', 'b', 'c']
    """
    end: Any = object()
    with futures.ThreadPoolExecutor(1) as thread:
        coming = started(thread, lambda: next(items, end))
        while (item := coming()) is not end:
            coming = started(thread, lambda: next(items, end))
            yield item
