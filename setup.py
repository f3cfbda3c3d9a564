"""Build from the sources alone: what an earlier build left in the checkout belongs to no wheel."""

import shutil

from setuptools import setup

shutil.rmtree("build/lib", ignore_errors=True)
setup()
