"""The sections of the measures as docstrings of modules, which pages show by autodoc, here and inside PyTerrier's documentation."""

from __future__ import annotations

import sys
from types import ModuleType

from ir_lexirecall.pt_docs import measure_pages

for _name, _body in measure_pages.bodies():
    _module = ModuleType(f"{__name__}.{_name}", _body)
    sys.modules[_module.__name__] = globals()[_name] = _module
