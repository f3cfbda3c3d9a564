"""Descriptions of measures, preferences and significance tests for readers."""

from ir_lexirecall.descriptions.describing import (
    Description,
    Parameter,
    Source,
    describe,
    entries,
)
from ir_lexirecall.measures.about import Example

__all__ = ["Description", "Example", "Parameter", "Source", "describe", "entries"]
