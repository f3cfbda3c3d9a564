"""Configuration of the documentation.

``python -m sphinx -W -n -b html ir_lexirecall/pt_docs site`` builds it without a network.

The pages are plain reStructuredText and also build inside PyTerrier's documentation, which copies
this folder and has a configuration of its own. What only this build can make (the pages of the
measures with their pictures, the gallery, the changelog) stands in the pages as a comment,
``.. made: NAME``, and is put there by ``placeholders.py``; elsewhere it stays a comment.
"""

from __future__ import annotations

import warnings
from importlib.util import find_spec

import matplotlib

import ir_lexirecall
from ir_lexirecall.pt_docs import placeholders

project = "ir-lexirecall"
author = copyright = "The ir-lexirecall developers"
version = release = ir_lexirecall.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "myst_parser",
    "ir_lexirecall.pt_docs.placeholders",
]
exclude_patterns = ["gallery/**/*.md"]
suppress_warnings = ["myst.header"]

# -- references ------------------------------------------------------------------------------------

nitpicky = True
# What other packages define: their documentation is not at hand where there is no network.
ELSEWHERE = [
    (
        r"(os|datetime|pathlib|typing|collections|numpy|np|pandas|pd|polars|pl|pyarrow|pa|matplotlib|"
        r"ir_measures|ir_datasets)\..*"
    ),
    r"(pyterrier|pt|pyspark|lenskit|sentence_transformers|torch)\..*",
    (
        r"(Any|Callable|Mapping|Sequence|Iterable|Iterator|Unpack|NDArray|Floats|Ints|Bools|Path|"
        r"Provider|IRMeasure|optional|array|Mapping\[str|ItemListCollection|DataFrame|ValuesLike|"
        r"LevelsLike|DepthLike|RepeatsLike|ProvidersLike)"
    ),
]
# Fields of results that are for the library itself; the options of a function, which its docstring
# lists.
INTERNAL = [
    r"\w*Options",
    (
        r"ir_lexirecall\.(significance|preferences|"
        r"data\.(judgments|qrels|reading|collection|alignment|pools|tie_rule))\.\w+(\.\w+)?"
    ),
    (
        r"ir_lexirecall\.(comparison\.\w+|io\.(frames|mteb_results|query_columns|repeated_values|"
        r"shared_values|source|value_\w+|texts|groups)|judging\.\w+)\.\w+|"
        r"ir_lexirecall\.io\.values\.Grid|ir_lexirecall\.data\.aligned_run\.Ties"
    ),
    (  # names of types in annotations
        r"(TextsLike|TextSources|JSONLike|JSONObject|NumbersByQuery|PathLike|Names|Repeats|Contrasts|"
        r"PairedTest|Criterion|ComparedRuns|PairTests|MissingJudgments)"
    ),
    r"ir_lexirecall\.(descriptions\.description|measures\.about|_util\.arrays)\.\w+",
    r"pyterrier_lexirecall\.experiment\.SignTest",
]
nitpick_ignore_regex = [(r"py:.*", name) for name in ELSEWHERE] + [
    (r"py:class", name) for name in INTERNAL
]

# The integrations' signatures can be read without the frameworks.
autodoc_mock_imports = [
    name
    for name in ("lenskit", "pyspark", "sentence_transformers", "torch")
    if find_spec(name) is None
]
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
napoleon_numpy_docstring = False
napoleon_use_rtype = False

# -- gallery ---------------------------------------------------------------------------------------

warnings.filterwarnings("ignore", message=".*non-interactive.*", category=UserWarning)
# Pictures of the examples are pyplot's then, which the gallery collects.
matplotlib.interactive(True)
sphinx_gallery_conf = {
    "examples_dirs": ["../../examples/tutorials"],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"\.py$",
    "within_subsection_order": "ir_lexirecall.pt_docs.placeholders.reading_order",
    "abort_on_example_error": True,
    "show_signature": False,
    "remove_config_comments": True,
    "download_all_examples": True,
    "write_computation_times": False,
    "thumbnail_size": (720, 440),
}

# -- pages -----------------------------------------------------------------------------------------

smartquotes = False
html_theme = "pydata_sphinx_theme"
html_title = "ir-lexirecall"
# Pages without a section around them.
html_sidebars = {path.stem: [] for path in placeholders.HERE.glob("*.rst")}
html_sidebars["gallery/**"] = html_sidebars["measures/index"] = []  # room for code
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_search_scorer = str(placeholders.HERE / "_static" / "scorer.js")
html_context = {"default_mode": "auto"}
html_show_sourcelink = False
html_copy_source = False
html_use_index = False  # the reference lists every name
html_math_renderer = "mathml"
html_theme_options = {
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 6,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
