"""Comparing runs on one collection."""

from ir_lexirecall.comparison.comparing import compare
from ir_lexirecall.comparison.gating import Gate, gate
from ir_lexirecall.comparison.result import Comparison

__all__ = ["Comparison", "Gate", "compare", "gate"]
