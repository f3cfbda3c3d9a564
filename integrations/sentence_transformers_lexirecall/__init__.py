"""Evaluate embedding models and rerankers while they train: sentence-transformers' evaluators with our measures beside their own."""

from ir_lexirecall._util.errors import needs

try:
    import sentence_transformers  # noqa: F401
except ModuleNotFoundError as error:
    message = needs("sentence_transformers_lexirecall", "sentence-transformers", "sentence-transformers")
    raise ModuleNotFoundError(message, name=error.name) from None

from sentence_transformers_lexirecall.evaluators import (
    LexiRecallEvaluator,
    LexiRecallRerankingEvaluator,
    LexiRecallSparseEvaluator,
)

__all__ = ["LexiRecallEvaluator", "LexiRecallRerankingEvaluator", "LexiRecallSparseEvaluator"]
