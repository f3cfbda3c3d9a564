"""Help for readers: what each measure means, as ``describe`` says it."""

from ir_lexirecall.descriptions.base import Description, Example, Parameter, Source
from ir_lexirecall.descriptions.describing import describe

__all__ = ["Description", "Example", "Parameter", "Source", "describe"]
