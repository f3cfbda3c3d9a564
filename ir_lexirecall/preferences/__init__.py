"""Which of two rankings is better, exactly: preferences of aligned runs, their counts, and what decided."""
