"""What is done when it is first needed: modules that take long to import, properties that take long to compute."""

from __future__ import annotations

import functools
import importlib
from typing import TYPE_CHECKING, Any


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
    from functools import cached_property as cached_property
else:

    class cached_property(functools.cached_property):
        """``functools.cached_property`` without the lock that it has before Python 3.12.

        That lock is shared by all objects of a class: threads would wait for each other, and a process that is forked while
        another thread holds it would wait for ever.
        """

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            if instance is None:
                return self
            value = instance.__dict__[self.attrname] = self.func(instance)
            return value
