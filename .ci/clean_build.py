"""The build backend: setuptools', from the sources alone. What an earlier build left in the checkout belongs to no wheel."""

import shutil
from typing import Any

from setuptools import build_meta
from setuptools.build_meta import *  # noqa: F403


def build_wheel(*arguments: Any, **options: Any) -> str:
    """Build a wheel, as setuptools does, after forgetting earlier builds."""
    shutil.rmtree("build/lib", ignore_errors=True)
    return build_meta.build_wheel(*arguments, **options)
