"""Evaluate embedding models while they train: sentence-transformers' retrieval evaluator with our measures beside its own."""

from sentence_transformers_lexirecall.evaluator import LexiRecallEvaluator

__all__ = ["LexiRecallEvaluator"]
