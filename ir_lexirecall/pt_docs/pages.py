"""The pages of the measures as docstrings of modules, for documentation that has autodoc but none of this folder's extensions.

In PyTerrier's documentation, ``.. automodule:: ir_lexirecall.pt_docs.pages.TSE`` shows what ``made.py`` puts there in ours.
"""

from __future__ import annotations

import sys
from types import ModuleType

from ir_lexirecall.pt_docs import measure_pages

for path in measure_pages.HERE.glob("measures/*.rst"):
    if path.stem not in ("index", "standard"):
        module = ModuleType(f"{__name__}.{path.stem}", measure_pages.body(path.stem, measure_pages.rubric))
        sys.modules[module.__name__] = globals()[path.stem] = module
