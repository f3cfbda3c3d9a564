"""What a result says of its making: versions of what computed it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, NoReturn, Self


@cache
def _version(distribution: str) -> str:
    """Return the version of a distribution; empty if it is not installed."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(distribution)
    except PackageNotFoundError:
        return ""


def versions(
    distributions: Iterable[str] = ("ir-lexirecall", "numpy", "scipy"),
) -> dict[str, str]:
    """Versions of installed distributions, and Python's.

    >>> list(versions(["numpy", "no-such-distribution"]))
    ['numpy', 'python']
    """
    import platform

    installed = {name.replace("-", "_"): _version(name) for name in distributions}
    return {name: number for name, number in installed.items() if number} | {
        "python": platform.python_version()
    }


class Facts(dict[str, Any]):
    """Facts that all copies of a table share.

    pandas copies the `attrs` of a table deeply at almost every step. These facts are not copied,
    and cannot be changed: that would change the result and its other tables.
    """

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (dict(self),)

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        """Raise, whatever the change."""
        raise TypeError(
            "tables of a result share these facts; copy them first: dict(facts)"
        )

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse


def copied_as_one(provenance: Mapping[str, Any]) -> dict[str, Any]:
    """Return provenance for the `attrs` of tables, whose inner mappings are not copied.

    >>> from copy import deepcopy
    >>> provenance = copied_as_one({"versions": {"numpy": "2.1.0"}, "alpha": 0.05})
    >>> provenance, deepcopy(provenance)["versions"] is provenance["versions"]
    ({'versions': {'numpy': '2.1.0'}, 'alpha': 0.05}, True)
    """
    copied = {}
    for name, fact in provenance.items():
        if isinstance(fact, dict):
            copied[name] = Facts(fact)
        else:
            copied[name] = fact
    return copied
