"""A Python of its own, for what must be seen where nothing else was imported."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap


def python(
    code: str, *arguments: str, options: tuple[str, ...] = (), **environment: str
) -> str:
    """What a program prints that must end well."""
    command = [sys.executable, *options, "-c", textwrap.dedent(code), *arguments]
    done = subprocess.run(
        command,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
