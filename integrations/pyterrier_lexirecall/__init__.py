"""PyTerrier plug-in: ``pt.lexirecall``, and our measures in ``pt.measures``.

``import pyterrier as pt`` is enough to have both.

PyTerrier loads this module by its entry point ``pyterrier.modules``. An exception here would break
``import pyterrier``, so a broken installation is reported as a warning.

>>> import pyterrier as pt
>>> pt.measures.LR, pt.measures.RBU(p=0.9) @ 20
(LexiRecall, RBU(p=0.9)@20)
"""

from __future__ import annotations

import warnings

__all__ = ["Benchmark", "Experiment", "compare", "sign_test"]

try:
    import pyterrier.measures

    from ir_lexirecall import compare
    from ir_lexirecall.measures import REGISTRY
    from pyterrier_lexirecall.benchmark import Benchmark
    from pyterrier_lexirecall.datasets import IRDS_NAME, RegisteredDemo
    from pyterrier_lexirecall.experiment import Experiment, sign_test

    for _name, _measure in REGISTRY.items():
        # PyTerrier copied ir_measures' registry before it loaded its plug-ins.
        if not hasattr(pyterrier.measures, _name):
            setattr(pyterrier.measures, _name, _measure)
    pyterrier.datasets.DATASET_MAP.setdefault(IRDS_NAME, RegisteredDemo())
except Exception as error:
    warnings.warn(
        f"pt.lexirecall is not available: {type(error).__name__}: {error}", stacklevel=2
    )
