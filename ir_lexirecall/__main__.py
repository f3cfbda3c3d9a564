"""The program ``ir-lexirecall``, also ``python -m ir_lexirecall``.

It ends with one line whatever happens.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Any, NoReturn

from ir_lexirecall._util.lazy import LazyModule

cli: Any = LazyModule("ir_lexirecall.cli")  # whose import may be interrupted, too
INTERRUPTED = 130


def main() -> int:
    """Run the command line and return the exit code.

    It is 0, 1 for bad input or a failure, 2 for bad usage, or 130 if interrupted.
    """
    # A process in the background ignores the signal.
    heeded = signal.getsignal(signal.SIGINT) is not signal.SIG_IGN
    if heeded:
        signal.signal(signal.SIGINT, _interrupt)
    try:
        code = cli.main()
        if code == INTERRUPTED:
            _leave()  # without waiting for the files that threads are reading
        return code
    except KeyboardInterrupt:
        if sys.stderr is not None:
            print("ir-lexirecall: interrupted", file=sys.stderr)
        return INTERRUPTED
    finally:
        if heeded:
            signal.signal(signal.SIGINT, _leave)


def _interrupt(*_: Any) -> NoReturn:
    # A second Ctrl-C leaves at once, before files are cleaned up.
    signal.signal(signal.SIGINT, _leave)
    raise KeyboardInterrupt


def _leave(*_: Any) -> NoReturn:
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    raise SystemExit(main())
