"""The properties of measures that ``axioms`` searches for, one file per group of authors."""

from ir_lexirecall.meta.laws import amigo, diaz, maistro, moffat
from ir_lexirecall.meta.laws.properties import Claim, Property, Space

PROPERTIES: tuple[Property, ...] = (
    *maistro.UTILITY_ORIENTED,
    *diaz.PROPERTIES,
    *amigo.PROPERTIES,
    *maistro.REACHABLE,
    *moffat.PROPERTIES,
)
"""The properties, in the order in which they are reported."""

__all__ = ["PROPERTIES", "Claim", "Property", "Space"]
