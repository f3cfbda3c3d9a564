"""Which of two rankings is better: preferences, their counts, and what decided."""
