"""Do something once another package has been imported, without importing it now."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any


class _Waiting(MetaPathFinder):
    """Finds one package as everybody does, and calls back when its code has run."""

    def __init__(self, name: str, then: Callable[[], Any]) -> None:
        self.name = name
        self.then = then

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self.name:
            return None
        sys.meta_path.remove(self)
        spec = find_spec(fullname)
        if spec is None or spec.loader is None:
            return spec
        run = spec.loader.exec_module

        def run_and_call(module: ModuleType) -> None:
            run(module)
            self.then()

        spec.loader.exec_module = run_and_call  # type: ignore[method-assign]
        return spec


def import_after(name: str, follower: str) -> None:
    """Import the module ``follower`` right after the package ``name``, or now if that is there already."""

    def follow() -> None:
        importlib.import_module(follower)

    if name in sys.modules:
        follow()
    elif not any(isinstance(finder, _Waiting) and finder.name == name for finder in sys.meta_path):
        sys.meta_path.insert(0, _Waiting(name, follow))
