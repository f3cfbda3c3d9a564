"""Modules that take long to import, imported when they are first used."""

from __future__ import annotations

import importlib
from typing import Any


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
