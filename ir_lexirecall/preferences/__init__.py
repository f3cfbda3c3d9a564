"""Comparing systems by exact preferences between their rankings."""

from ir_lexirecall.preferences.comparison import compare, compare_ranks
from ir_lexirecall.preferences.result import Preferences

__all__ = ["Preferences", "compare", "compare_ranks"]
