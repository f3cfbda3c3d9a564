"""Import modules, and compute properties, that take long when they are first needed."""

from __future__ import annotations

import concurrent.futures.thread  # noqa: F401 - what is loaded late needs it, and it cannot be loaded once a program is ending
import contextlib
import functools
import importlib
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

P = ParamSpec("P")
S = TypeVar("S", bound="Memoised")
T = TypeVar("T")


class LazyModule:
    """Stands for a module and imports it at the first look at one of its attributes.

    >>> LazyModule("math").gcd(4, 6)
    2
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        value = getattr(importlib.import_module(self._name), attribute)
        self.__dict__[attribute] = value
        return value


if TYPE_CHECKING:
    import pandas as pandas
    import polars as polars
    from scipy import special as special
    from scipy import stats as stats
else:  # each takes longer to import than most of what is done without it
    pandas, polars = LazyModule("pandas"), LazyModule("polars")
    special, stats = LazyModule("scipy.special"), LazyModule("scipy.stats")


def installed(*modules: str) -> Any:
    """Import and return the first of several modules that is installed, else return None.

    >>> installed("no_such_module", "math").gcd(4, 6)
    2
    """
    for name in modules:
        with contextlib.suppress(ModuleNotFoundError):
            return importlib.import_module(name)
    return None


def exports(
    package: str, modules: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package that imports its exports late (PEP 562).

    Args:
        package: its ``__name__``.
        modules: for each exported name, the module that defines it, or is it (where its last part
            is the name).
    """

    def get(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = importlib.import_module(modules[name])
        if modules[name].rpartition(".")[2] == name:
            value = module
        else:
            value = getattr(module, name)
        setattr(sys.modules[package], name, value)
        return value

    return get, lambda: sorted({*vars(sys.modules[package]), *modules})


class Memoised:
    """Base of objects that keep what is computed from them; a changed copy begins anew."""

    def cached(self, key: Any, compute: Callable[[], T]) -> T:
        """Return the result of ``compute``, computed once for each ``key``."""
        kept: dict[Any, T] = self.__dict__.setdefault("_kept", {})
        if key not in kept:
            kept[key] = compute()
        return kept[key]

    def forget(self) -> None:
        """Let go of what was kept, to save memory."""
        self.__dict__.pop("_kept", None)


def memoised(method: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[S, P], T]:
    """Let a method of a ``Memoised`` keep what it gives, for each of its arguments."""

    @functools.wraps(method)
    def kept(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self.cached(
            (method.__qualname__, *args, *kwargs.items()),
            lambda: method(self, *args, **kwargs),
        )

    return kept


if TYPE_CHECKING:
    from functools import cached_property as cached_property  # noqa: TID251 - only the type

else:

    class cached_property(functools.cached_property):  # noqa: TID251 - this is the cure
        """``functools.cached_property`` without the lock that it has before Python 3.12.

        That lock is shared by all objects of a class: threads would wait for each other, and a
        process that is forked while another thread holds it would wait for ever.
        """

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            if instance is None:
                return self
            value = instance.__dict__[self.attrname] = self.func(instance)
            return value
