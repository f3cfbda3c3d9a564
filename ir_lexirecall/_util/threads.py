"""Work in other threads: where none can be started (little memory, the end of a program), in this one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent import futures  # which imports what starts threads when that is first needed
from contextvars import copy_context
from typing import TypeVar

T = TypeVar("T")


def started(threads: futures.ThreadPoolExecutor, work: Callable[[], T]) -> Callable[[], T]:
    """Start to work in one of the threads; what is returned waits for the result.

    >>> with futures.ThreadPoolExecutor(1) as threads:
    ...     wait = started(threads, lambda: 6 * 7)
    >>> wait(), started(threads, lambda: 6 * 7)()
    (42, 42)
    """
    try:
        return threads.submit(copy_context().run, work).result  # errors name the function that the user called
    except RuntimeError:
        return work


def one_ahead(items: Iterator[T]) -> Iterator[T]:
    """The same items, each made in another thread while the one before is in use.

    >>> list(one_ahead(iter("abc")))
    ['a', 'b', 'c']
    """
    end = object()

    def make() -> T | object:
        return next(items, end)

    with futures.ThreadPoolExecutor(1) as thread:
        coming = started(thread, make)
        while (item := coming()) is not end:
            coming = started(thread, make)
            yield item  # type: ignore[misc]
