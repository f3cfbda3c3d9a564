"""The arithmetic of the measures: pure functions of NumPy arrays over all queries at once.

Nothing here knows formats, names or errors of users: ``provider.py`` hands in checked arrays. Throughout,
``Q`` is the number of queries, and rows (of retrieved judged documents) are ordered by query, then by rank.
"""
