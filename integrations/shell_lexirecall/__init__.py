"""The program ``ir-lexirecall``, as a shell starts it: it says its version without loading what computes."""

from __future__ import annotations

import sys


def main() -> int:
    """Print the version, where nothing else is asked, or start the command line; returns the exit code."""
    if sys.argv[1:] == ["--version"] and sys.stdout is not None:
        from importlib.metadata import version

        try:
            sys.stdout.write(f"ir-lexirecall {version('ir-lexirecall')}\n")
            sys.stdout.flush()
            return 0
        except OSError:
            pass  # nobody can read it: what that means is for the command line to say
    from ir_lexirecall.__main__ import main as start

    return start()
