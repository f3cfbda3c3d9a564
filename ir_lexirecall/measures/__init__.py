"""The measures. A family is one file: declaration, formula, ``score(run)``; defining a class registers it.

What is exported here are the measures as ir_measures hands out its own: objects without parameters (``TSE``), which take
them by call.
"""

from ir_lexirecall.measures import cwl, lexirecall, multi_aspect, rbu, tse
from ir_lexirecall.measures.base import REGISTRY, Measure, Param, Utility

TSE = tse.TSE()
LexiRecall = LR = lexirecall.LexiRecall()
CWL_ERR8 = cwl.CWL_ERR8()
CWL_ERR9 = cwl.CWL_ERR9()
CWL_ERR10 = cwl.CWL_ERR10()
CWL_ERR11 = cwl.CWL_ERR11()
CWL_RBP = cwl.CWL_RBP()
RBU = rbu.RBU()
TOMA = multi_aspect.TOMA()
CAM = multi_aspect.CAM()
MM = multi_aspect.MM()

__all__ = [
    "CAM",
    "CWL_ERR8",
    "CWL_ERR9",
    "CWL_ERR10",
    "CWL_ERR11",
    "CWL_RBP",
    "LR",
    "MM",
    "RBU",
    "REGISTRY",
    "TOMA",
    "TSE",
    "LexiRecall",
    "Measure",
    "Param",
    "Utility",
]
