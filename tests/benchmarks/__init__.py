"""Time and memory of this library and of its peers, side by side: ``python -m tests.benchmarks``."""
