"""Benchmarks: runs on a collection, or on many."""

from ir_lexirecall.benchmark.single import Benchmark, benchmark

__all__ = ["Benchmark", "benchmark"]
