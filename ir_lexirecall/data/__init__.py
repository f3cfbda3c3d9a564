"""Judgments, runs aligned with them, and collections."""
