"""Help for readers: what a measure, a preference or a significance test means, as ``describe`` says it."""

from ir_lexirecall.descriptions.describing import Description, Parameter, Source, describe
from ir_lexirecall.measures.about import Example

__all__ = ["Description", "Example", "Parameter", "Source", "describe"]
