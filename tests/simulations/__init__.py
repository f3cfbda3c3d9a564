"""Simulated benchmarks: how often intervals hold the truth, and tests reject what is true."""
