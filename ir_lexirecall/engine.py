"""Whether Polars can compute in this process: not in one that was forked after Polars had been loaded.

Polars computes in threads of its own. A fork copies a process without its threads, and whatever waits for them waits for
ever. Taking tables apart and putting them together, value by value, needs no threads; all else is done in Python there.
"""

from __future__ import annotations

import os
import sys
import threading

WHERE = "in a process that was forked after Polars had been loaded"
"""How messages call a process in which it cannot; ``spawn`` and ``forkserver`` start others."""

_FORKED = 0x40  # in the flags of /proc/self/stat: forked, and no other program started since
_PATIENCE = 2.0  # seconds


def computes() -> bool:
    """Whether Polars can be asked for what it does in threads.

    >>> computes()
    True
    """
    global _computes
    if _computes is None:
        _computes = _answers()
    return _computes


def _is_forked() -> bool:
    try:
        with open("/proc/self/stat", "rb") as stream:
            return bool(int(stream.read().rpartition(b")")[2].split()[6]) & _FORKED)
    except (OSError, ValueError, IndexError):
        from multiprocessing import parent_process

        return parent_process() is not None


def _answers() -> bool:
    """Try, in a thread that may wait for ever."""

    def try_it() -> None:
        import polars

        polars.DataFrame({"number": [2, 1]}).sort("number")

    thread = threading.Thread(target=try_it, daemon=True)
    thread.start()
    thread.join(_PATIENCE)
    return not thread.is_alive()


def _after_fork() -> None:
    global _computes
    if "polars" in sys.modules:
        _computes = False


# Whether Polars was loaded before this module and before a fork cannot be known: None, to be tried.
_computes: bool | None = None if "polars" in sys.modules and _is_forked() else True
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
