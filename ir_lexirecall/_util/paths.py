"""Paths, as users give them."""

from __future__ import annotations

import os
from typing import Any, TypeAlias, TypeGuard

PathLike: TypeAlias = str | os.PathLike[str]


def is_path(value: Any) -> TypeGuard[PathLike]:
    """Return whether a value is a text or a path.

    >>> is_path("bm25.run"), is_path({"q1": {"d1": 1.0}})
    (True, False)
    """
    return isinstance(value, (str, os.PathLike))
