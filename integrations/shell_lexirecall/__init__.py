"""Start the program ``ir-lexirecall`` from a shell.

What saves time before anything is loaded is here, apart from the library: ``--version`` takes 0.09
instead of 1.5 seconds of processor time, a small ``eval`` 0.9 instead of 1.3.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
from contextlib import suppress

_GARBAGE = (
    100_000,
    20,
    20,
)  # looked for that rarely: hundreds of modules that are loaded leave none


def main() -> int:
    """Print the version, or run the command line; return the exit code."""
    words = sys.argv[1:]
    if words == ["--version"]:
        from importlib.metadata import version

        with suppress(
            OSError, AttributeError
        ):  # nobody can read it, which the command line has words for
            sys.stdout.write(f"ir-lexirecall {version('ir-lexirecall')}\n")
            sys.stdout.flush()
            return 0
    gc.set_threshold(*_GARBAGE)
    if words[:1] == [
        "eval"
    ]:  # multiplies no matrices: threads that could would only be started, and wait
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from ir_lexirecall.__main__ import main as start

    return start()


def run() -> None:
    """Run ``main`` and end the process at once, without freeing its objects one by one."""
    try:
        code = main()
    except KeyboardInterrupt:  # while it was starting
        if sys.stderr is not None:  # else it would stand among what is printed
            print("ir-lexirecall: interrupted", file=sys.stderr)
        code = 130
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(
            AttributeError, OSError, ValueError
        ):  # none, or closed; what could not be written was said
            stream.flush()
    os._exit(code)
