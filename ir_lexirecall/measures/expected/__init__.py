"""Expected values: the mean of a measure over all orders of the tied documents, exactly.

McSherry and Najork (Computing Information Retrieval Performance Measures Efficiently in the
Presence of Tied Scores, ECIR 2008) give it for precision, recall, F1, average precision, reciprocal
rank and nDCG. The same facts about groups of tied documents (`groups`) give it for the others.
"""

from ir_lexirecall.measures.expected.dispatch import expected_values

__all__ = ["expected_values"]
