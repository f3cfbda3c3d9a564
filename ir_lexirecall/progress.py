"""Progress bars, all alike: on a terminal unless asked otherwise, and gone when they are full."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Any


def progress_bar(progress: bool | None, items: Iterable[Any] | None = None, **options: Any) -> Any:
    """tqdm's bar over ``items`` (or of a ``total`` of steps); ``progress``: whether to show it, None: on a terminal only.

    Where none is shown, tqdm is left alone: it has a lock that a process which is forked at the wrong moment would wait for.

    >>> list(progress_bar(False, "ab", desc="letters"))
    ['a', 'b']
    """
    if sys.stderr is None or not (_is_terminal() if progress is None else progress):  # there is none in services
        return _Hidden(items)
    from tqdm import tqdm

    return tqdm(items, leave=False, **options)


def _is_terminal() -> bool:
    try:
        return bool(sys.stderr.isatty())
    except (AttributeError, ValueError, OSError):  # closed, or something that only takes texts
        return False


class _Hidden:
    """What is used of a bar, without one."""

    def __init__(self, items: Iterable[Any] | None) -> None:
        self._items = () if items is None else items

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items)

    def __enter__(self) -> _Hidden:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def update(self, n: float = 1) -> None:
        """Take note of so many steps."""
