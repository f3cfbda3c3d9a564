"""The pages of the documentation, and what makes parts of them when they are built."""
