"""Progress bars, all alike: on a terminal unless asked otherwise, and gone when they are full."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any


def progress_bar(progress: bool | None, items: Iterable[Any] | None = None, **options: Any) -> Any:
    """tqdm's bar over ``items`` (or of a ``total`` of steps); ``progress``: whether to show it, None: on a terminal only.

    >>> list(progress_bar(False, "ab", desc="letters"))
    ['a', 'b']
    """
    from tqdm import tqdm

    disable = None if progress is None else not progress
    if sys.stderr is None:  # as in services
        disable = True
    return tqdm(items, disable=disable, leave=False, **options)
