"""How much is computed at once: large inputs are worked through in blocks of this size."""

BLOCK = 2**22
"""Numbers that a block holds: 32 MB of them, enough for fast products of matrices."""
