"""The measures. A family is one file: declaration, formula, ``score(run)``; defining a class registers it.

What is exported here are the measures as ir_measures hands out its own: objects without parameters (``TSE``), which take
them by call.
"""

from ir_lexirecall.measures import (  # noqa: F401  # defining registers
    cwl,
    diversity,
    lexirecall,
    log_dcg,
    multi_aspect,
    rbu,
    search_length,
    tse,
)
from ir_lexirecall.measures.base import REGISTRY, Measure, Param, Utility

TSE = REGISTRY["TSE"]
LexiRecall = LR = REGISTRY["LexiRecall"]
CWL_ERR8 = REGISTRY["CWL_ERR8"]
CWL_ERR9 = REGISTRY["CWL_ERR9"]
CWL_ERR10 = REGISTRY["CWL_ERR10"]
CWL_ERR11 = REGISTRY["CWL_ERR11"]
CWL_RBP = REGISTRY["CWL_RBP"]
RBU = REGISTRY["RBU"]
TOMA = REGISTRY["TOMA"]
CAM = REGISTRY["CAM"]
MM = REGISTRY["MM"]
IA = REGISTRY["IA"]
D_nDCG = REGISTRY["D_nDCG"]
DSharp = REGISTRY["DSharp"]
EU = REGISTRY["EU"]
CT = REGISTRY["CT"]
SRR = REGISTRY["SRR"]
GERR = REGISTRY["GERR"]
SL3 = REGISTRY["SL3"]
RE = REGISTRY["RE"]
nDCG_JK = REGISTRY["nDCG_JK"]

__all__ = [
    "CAM",
    "CT",
    "CWL_ERR8",
    "CWL_ERR9",
    "CWL_ERR10",
    "CWL_ERR11",
    "CWL_RBP",
    "EU",
    "GERR",
    "IA",
    "LR",
    "MM",
    "RBU",
    "RE",
    "REGISTRY",
    "SL3",
    "SRR",
    "TOMA",
    "TSE",
    "DSharp",
    "D_nDCG",
    "LexiRecall",
    "Measure",
    "Param",
    "Utility",
    "nDCG_JK",
]
