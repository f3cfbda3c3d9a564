"""Runs on many collections."""

from ir_lexirecall.benchmarks.benchmarking import benchmark
from ir_lexirecall.benchmarks.result import Benchmark

__all__ = ["Benchmark", "benchmark"]
