"""Benchmarks: runs on a collection, or on many."""

from ir_lexirecall.benchmark.running import benchmark
from ir_lexirecall.benchmark.single import Benchmark
from ir_lexirecall.benchmark.suite import BenchmarkSuite

__all__ = ["Benchmark", "BenchmarkSuite", "benchmark"]
