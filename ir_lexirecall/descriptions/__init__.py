"""Help for readers: what a measure, a preference or a significance test means, as ``describe`` says it."""

from ir_lexirecall.descriptions.describing import describe
from ir_lexirecall.descriptions.description import Description, Parameter, Source
from ir_lexirecall.measures.about import Example

__all__ = ["Description", "Example", "Parameter", "Source", "describe"]
