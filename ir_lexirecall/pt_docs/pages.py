"""The sections of each page of measures, and the table of tests, as docstrings of modules, which pages show by autodoc, here and inside PyTerrier's documentation."""

from __future__ import annotations

import sys
from types import ModuleType

from ir_lexirecall.pt_docs import measure_pages

for _name, _text in (*measure_pages.sections(), ("tests", measure_pages.tests())):
    _module = ModuleType(f"{__name__}.{_name}", _text)
    sys.modules[_module.__name__] = globals()[_name] = _module
