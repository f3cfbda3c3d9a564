"""The pages of the measures as docstrings of modules, for documentation that has autodoc but none of this folder's extensions.

In PyTerrier's documentation, ``.. automodule:: ir_lexirecall.pt_docs.pages.TSE`` shows what ``placeholders.py`` puts there in ours.
"""

from __future__ import annotations

import sys
from types import ModuleType

from ir_lexirecall.pt_docs import measure_pages

for _path in measure_pages.HERE.glob("measures/*.rst"):
    if _path.stem not in ("index", "standard"):
        _module = ModuleType(f"{__name__}.{_path.stem}", measure_pages.body(_path.stem, measure_pages.rubric))
        sys.modules[_module.__name__] = globals()[_path.stem] = _module
