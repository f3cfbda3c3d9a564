"""What results say, for people: sentences, caveats, and one renderer of tables."""

from typing import TYPE_CHECKING

from ir_lexirecall._util.lazy import exports

_NAMES = {
    "benchmarks": "benchmark_caveats benchmark_finding benchmark_table",
    "caveats": "comparison_caveats",
    "collections": "collection_finding",
    "comparisons": "comparison_finding comparison_table how_compared marks_of",
    "gates": "gate_json gate_junit gate_text",
    "runs": "run_caveats",
}
if not TYPE_CHECKING:
    __getattr__, __dir__ = exports(
        __name__, {name: f"{__name__}.{module}" for module, names in _NAMES.items() for name in names.split()}
    )
