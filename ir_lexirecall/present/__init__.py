"""Results for people: at a glance, as tables for papers, and what to be careful about."""

from typing import TYPE_CHECKING

from ir_lexirecall._util.lazy import exports

_NAMES = {
    "macro_means": "benchmark_caveats benchmark_glance benchmark_table",
    "caveats": "comparison_caveats rare_losses",
    "comparisons": "comparison_glance",
    "findings": "collection_finding deepest_cutoff run_caveats",
    "gates": "MOST_LOST gate_glance gate_json gate_screen gate_text headline",
    "glance": "full_text glance_html glance_markdown glance_text",
    "paper_tables": "comparison_table marks_of undone_words",
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
