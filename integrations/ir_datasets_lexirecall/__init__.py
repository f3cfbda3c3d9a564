"""Collections of ir_datasets with everything an evaluation needs: judgments with subtopics and aspects, the collection's
size, and the measures that make sense for them.

>>> from ir_datasets_lexirecall import load
>>> collection = load("lexirecall/demo")
>>> collection.n, collection.has_subtopics, collection.aspects
(90, True, {'relevance': 3, 'credibility': 2, 'readability': 2})
"""

from ir_datasets_lexirecall.collection import ASPECTS, Collection, load

__all__ = ["ASPECTS", "Collection", "load"]
