"""What results say, for people: sentences, caveats, and one renderer of tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ir_lexirecall._util.lazy import exports

if TYPE_CHECKING:
    from ir_lexirecall.present.benchmarks import benchmark_caveats, benchmark_finding, benchmark_table
    from ir_lexirecall.present.caveats import comparison_caveats
    from ir_lexirecall.present.collections import collection_finding
    from ir_lexirecall.present.comparisons import comparison_finding, comparison_table, how_compared, marks_of
    from ir_lexirecall.present.gates import gate_json, gate_junit, gate_text
    from ir_lexirecall.present.runs import run_caveats
else:
    __getattr__, __dir__ = exports(
        __name__,
        {
            "benchmark_caveats": "ir_lexirecall.present.benchmarks",
            "benchmark_finding": "ir_lexirecall.present.benchmarks",
            "benchmark_table": "ir_lexirecall.present.benchmarks",
            "collection_finding": "ir_lexirecall.present.collections",
            "comparison_caveats": "ir_lexirecall.present.caveats",
            "comparison_finding": "ir_lexirecall.present.comparisons",
            "comparison_table": "ir_lexirecall.present.comparisons",
            "gate_json": "ir_lexirecall.present.gates",
            "gate_junit": "ir_lexirecall.present.gates",
            "gate_text": "ir_lexirecall.present.gates",
            "how_compared": "ir_lexirecall.present.comparisons",
            "marks_of": "ir_lexirecall.present.comparisons",
            "run_caveats": "ir_lexirecall.present.runs",
        },
    )

__all__ = [
    "benchmark_caveats",
    "benchmark_finding",
    "benchmark_table",
    "collection_finding",
    "comparison_caveats",
    "comparison_finding",
    "comparison_table",
    "gate_json",
    "gate_junit",
    "gate_text",
    "how_compared",
    "marks_of",
    "run_caveats",
]
