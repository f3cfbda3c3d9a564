"""What a result says of its making: versions of what computed it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache


@cache
def _version(distribution: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(distribution)
    except PackageNotFoundError:
        return ""


def versions(distributions: Iterable[str] = ("ir-lexirecall", "numpy", "scipy")) -> dict[str, str]:
    """Versions of installed distributions, and Python's.

    >>> list(versions(["numpy", "no-such-distribution"]))
    ['numpy', 'python']
    """
    import platform

    installed = {name.replace("-", "_"): _version(name) for name in distributions}
    return {name: number for name, number in installed.items() if number} | {
        "python": platform.python_version()
    }
