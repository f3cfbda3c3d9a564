"""Results as one HTML file."""

from ir_lexirecall.report.page import Report, report

__all__ = ["Report", "report"]
