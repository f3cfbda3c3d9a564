"""Comparing runs by exact preferences between their rankings."""

from ir_lexirecall.preferences.comparison import compare
from ir_lexirecall.preferences.result import Preferences

__all__ = ["Preferences", "compare"]
