"""A notebook in a fresh kernel: results show a table and a picture; bars are widgets."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")
pytest.importorskip("ipykernel")
pytest.importorskip("matplotlib")

ROOT = Path(__file__).parents[2]

SETUP = """\
import ir_lexirecall as irl
from ir_lexirecall import demo, meta, plots
runs = demo.runs()
compared = irl.compare("lexirecall/demo", runs, ["lexirecall", "AP"])
one = irl.benchmark("lexirecall/demo", runs, ["nDCG@10", "AP"])
both = {"one": "lexirecall/demo", "two": "lexirecall/demo"}
suite = irl.benchmark(both, {"one": runs, "two": runs}, ["AP"], baseline="ql", test=irl.SignificanceTest(n_resamples=99))
"""
RESULTS = ["compared", "one", "suite"]
PLOTS = [
    "compared.plot()",
    "compared.plot('heatmap')",
    "compared.plot('differences')",
    "compared.plot('pair', 'bm25', 'ql')",
    "one['lexirecall/demo'].plot()",
    "suite.plot()",
    "suite.plot('rank_intervals')",
    "suite.plot('critical_differences')",
    "meta.plot(meta.tie_probabilities(n=100, m=5))",
    "meta.plot(meta.Study(['AP', 'LR'], demo.qrels(), runs).agreement())",
]
OTHERS = ["irl.describe('LR')", "repr(compared)", "print(compared)"]
WIDGET = "from ir_lexirecall._util.progress import progress_bar; [kind.__module__ for kind in type(progress_bar(None, range(3))).mro()]"
LEFT = "import sys; 'matplotlib.pyplot' in sys.modules and sys.modules['matplotlib.pyplot'].get_fignums()"


@pytest.fixture(scope="module")
def outputs() -> dict[str, list[dict[str, Any]]]:
    return run(SETUP, *RESULTS, LEFT, *OTHERS, WIDGET)


@pytest.fixture(scope="module")
def plotted() -> dict[str, list[dict[str, Any]]]:
    return run(SETUP, *PLOTS, *(f"{plot};" for plot in PLOTS))


def run(*cells: str) -> dict[str, list[dict[str, Any]]]:
    """The outputs of each cell of a notebook that is run in a kernel of its own."""
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(cell) for cell in cells]
    )
    path = os.pathsep.join(
        [str(ROOT), str(ROOT / "integrations"), os.environ.get("PYTHONPATH", "")]
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", path)
        nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    return dict(zip(cells, (cell["outputs"] for cell in notebook.cells), strict=True))


def shown(outputs: list[dict[str, Any]]) -> dict[str, str]:
    """What a cell displays, by its type."""
    return {
        kind: text
        for output in outputs
        for kind, text in output.get("data", {}).items()
    }


@pytest.mark.sparse
@pytest.mark.skipif(sys.platform == "win32", reason="kernels start otherwise there")
@pytest.mark.parametrize("cell", RESULTS)
def test_results_show_a_table_and_a_picture(
    cell: str, outputs: dict[str, list[dict[str, Any]]]
) -> None:
    page = shown(outputs[cell])["text/html"]
    assert page.startswith('<div class="irl-glance">')
    assert page.count("<table") == 1
    assert page.count('src="data:image/png;base64,') == 1


@pytest.mark.slow
@pytest.mark.parametrize("end", ["", ";"])
@pytest.mark.parametrize("cell", PLOTS)
def test_plots_show_a_picture(
    cell: str, end: str, plotted: dict[str, list[dict[str, Any]]]
) -> None:
    pictures = [
        output
        for output in plotted[cell + end]
        if "image/png" in output.get("data", {})
    ]
    assert len(pictures) == 1


def test_results_leave_no_figure_of_pyplot(
    outputs: dict[str, list[dict[str, Any]]],
) -> None:
    assert shown(outputs[LEFT])["text/plain"] in ("False", "[]")


def test_bars_are_widgets(outputs: dict[str, list[dict[str, Any]]]) -> None:
    pytest.importorskip("ipywidgets")
    assert "'tqdm.notebook'" in shown(outputs[WIDGET])["text/plain"]
    assert not [
        output for output in outputs[SETUP] if output["output_type"] == "stream"
    ]


EXPERIMENT = """\
import pyterrier as pt
from ir_lexirecall import demo
from pyterrier.measures import LR, nDCG
dataset = pt.get_dataset("lexirecall:demo")
columns = {"query_id": "qid", "doc_id": "docno"}
systems = {name: pt.Transformer.from_df(pt.model.add_ranks(demo.run(name).rename(columns=columns))) for name in ("bm25", "ql")}
table = pt.lexirecall.Experiment(systems, dataset.get_topics(), dataset.get_qrels(), [LR, nDCG @ 10], baseline="bm25", verbose=False)
"""


@pytest.mark.slow
def test_pyterriers_table_and_its_comparison_are_shown() -> None:
    pytest.importorskip("pyterrier.measures")
    cells = run(EXPERIMENT, "table", "table.attrs['comparison']")
    table, comparison = (
        shown(cells[cell])["text/html"]
        for cell in ("table", "table.attrs['comparison']")
    )
    assert table.count("<table") == 1
    for column in ("LexiRecall", "nDCG@10", "pref:lexirecall +", "pref:lexirecall -"):
        assert f"<th>{column}</th>" in table
    assert "bm25 and ql, 16 queries" in comparison
    assert (
        comparison.count("<table")
        == comparison.count('src="data:image/png;base64,')
        == 1
    )
