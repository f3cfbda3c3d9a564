"""Progress bars, all alike: on a terminal or in a notebook unless asked otherwise, and gone when they are full."""

from __future__ import annotations

import functools
import importlib
import sys
import threading
import warnings
from collections.abc import Iterable, Iterator
from typing import Any


def progress_bar(progress: bool | None, items: Iterable[Any] | None = None, **options: Any) -> Any:
    """tqdm's bar over ``items`` (or of a ``total`` of steps); ``progress``: whether to show it, None: where a person looks.

    That is on a terminal, and in a notebook, where the bar is a widget if ipywidgets is installed. Where none is shown, tqdm is
    left alone: it has a lock that a process which is forked at the wrong moment would wait for.

    >>> list(progress_bar(False, "ab", desc="letters"))
    ['a', 'b']
    """
    in_notebook = _is_notebook()
    shown = (in_notebook or _is_terminal()) if progress is None else progress
    if sys.stderr is None or not shown:  # there is none in services
        return _Hidden(items)
    if not in_notebook:
        from tqdm import tqdm

        return tqdm(items, leave=False, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that there are no widgets: the bar is text then
        from tqdm.auto import tqdm as bar
    if not any(kind.__module__ == "tqdm.notebook" for kind in bar.__mro__):
        return bar(items, leave=False, **options)
    return _widget()(items, leave=False, display=False, **options)


@functools.cache
def _widget() -> Any:
    """tqdm's widget, which takes all of it out of the notebook when it is closed.

    tqdm closes the widget, but not the output in which it was shown: its text would be saved with the notebook.
    """
    display: Any = importlib.import_module("IPython.display").display
    from tqdm.notebook import tqdm_notebook

    class Widget(tqdm_notebook):  # type: ignore[misc, unused-ignore]
        """A bar in an output that has a name, so that it can be emptied."""

        def __init__(self, *args: Any, **options: Any) -> None:
            self._output: Any = None
            super().__init__(*args, **options)
            if not self.disable:
                self._output = display(self.container, display_id=True)
                self.displayed = True

        def close(self) -> None:
            super().close()
            output, self._output = self._output, None
            if output is not None:
                output.update({}, raw=True)

    return Widget


def _is_notebook() -> bool:
    """Whether this process is the kernel of a notebook, and this its main thread: widgets are not for others."""
    if "ipykernel" not in sys.modules or threading.current_thread() is not threading.main_thread():
        return False
    get_ipython = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)
    return getattr(get_ipython(), "kernel", None) is not None


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
        """Count steps done."""
