"""Show progress bars, all alike, on a terminal or in a notebook; full ones disappear."""

from __future__ import annotations

import importlib
import sys
import threading
import warnings
import weakref
from collections.abc import Iterable, Iterator
from typing import Any

# Its attribute `bar` is a weak reference to the bar shown last.
_THREAD = threading.local()
# Seconds before a bar appears that nobody asked for: what is faster shows none.
_DELAY = 2.0


def progress_bar(
    progress: bool | None, items: Iterable[Any] | None = None, **options: Any
) -> Any:
    """Return tqdm's bar over ``items``, or of a ``total`` of steps; it appears after two seconds.

    Within another bar of the same thread, none is shown.

    Where no bar is shown, tqdm is left alone: it has a lock that a process which is forked at the
    wrong moment would wait for.

    Args:
        progress: whether to show a bar; by default on a terminal, and in a notebook, where it is
            tqdm's widget if ipywidgets is installed.
        items: what to go through.
        options: of tqdm, such as ``total`` and ``desc``.

    >>> list(progress_bar(False, "ab", desc="letters"))
    ['a', 'b']
    """
    in_notebook = _is_notebook()
    if progress is None:
        shown = in_notebook or _is_terminal()
    else:
        shown = progress
    if sys.stderr is None or not shown or _is_within_a_bar():  # no stderr: in services
        return _Hidden(items)
    with warnings.catch_warnings():
        # tqdm warns where there are no widgets; the bar is a text there.
        warnings.simplefilter("ignore")
        bar = importlib.import_module("tqdm.auto" if in_notebook else "tqdm").tqdm
    delay = 0.0 if progress else _DELAY
    opened = bar(items, leave=False, delay=delay, **options)
    _THREAD.bar = weakref.ref(opened)
    return opened


def _is_within_a_bar() -> bool:
    """Return whether this thread has a bar that is neither closed nor left."""
    bar = getattr(_THREAD, "bar", lambda: None)()
    return bar is not None and not bar.disable  # tqdm disables bars that it closes


def _is_notebook() -> bool:
    """Return whether this is the main thread of a notebook's kernel, the only place for widgets."""
    if (
        "ipykernel" not in sys.modules
        or threading.current_thread() is not threading.main_thread()
    ):
        return False
    get_ipython = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)
    return getattr(get_ipython(), "kernel", None) is not None


def _is_terminal() -> bool:
    """Return whether bars would be seen on a terminal."""
    try:
        return bool(sys.stderr.isatty())
    except (AttributeError, ValueError, OSError):
        # The stream is closed, or something that only takes texts.
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
        """Count steps done."""
