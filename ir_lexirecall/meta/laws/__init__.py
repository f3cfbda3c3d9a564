"""The properties of measures that ``check`` and ``axioms`` search for, one file per paper."""

from ir_lexirecall.meta.laws import amigo, diaz, ferrante, maistro
from ir_lexirecall.meta.laws.properties import Claim, Property, Space

PROPERTIES: tuple[Property, ...] = (
    *ferrante.PROPERTIES,
    *diaz.PROPERTIES,
    *amigo.PROPERTIES,
    *maistro.PROPERTIES,
)
"""The properties, in the order in which they are reported."""

__all__ = ["PROPERTIES", "Claim", "Property", "Space"]
