"""What results say, for people: sentences, caveats, and one renderer of tables."""

from typing import TYPE_CHECKING

from ir_lexirecall._util.lazy import exports

_NAMES = {
    "macro_means": "benchmark_caveats benchmark_finding benchmark_table",
    "caveats": "comparison_caveats",
    "comparisons": "comparison_finding comparison_table marks_of",
    "findings": "collection_finding run_caveats",
    "gates": "gate_json gate_text",
    "standings": "how_compared",
}
if not TYPE_CHECKING:
    __getattr__, __dir__ = exports(
        __name__,
        {
            name: f"{__name__}.{module}"
            for module, names in _NAMES.items()
            for name in names.split()
        },
    )
