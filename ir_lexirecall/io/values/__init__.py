"""Values per query that something else computed, as one table."""

from ir_lexirecall.io.values.reading import ValuesLike, read_collections, read_values
from ir_lexirecall.io.values.table import ValueTable

__all__ = ["ValueTable", "ValuesLike", "read_collections", "read_values"]
