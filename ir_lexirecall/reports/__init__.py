"""Results as one HTML file."""

from ir_lexirecall.reports.page import report

__all__ = ["report"]
