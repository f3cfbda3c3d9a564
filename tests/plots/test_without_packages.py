"""Without the packages of an extra, every picture and every door names the package and the extra."""

from __future__ import annotations

import sys
from typing import Any

import pytest

import ir_lexirecall as irl
from ir_lexirecall import demo, meta, plots
from ir_lexirecall.benchmarks import Benchmark
from ir_lexirecall.cli import main
from ir_lexirecall.comparison import Comparison
from ir_lexirecall.evaluation.evaluating import recall_curves

RUNS = {name: demo.run(name) for name in ("bm25", "ql")}
TEST = irl.SignificanceTest(n_resamples=50, progress=False)
PICTURE = r"a picture needs matplotlib: install it, or the extra 'plots'"


@pytest.fixture
def no_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    hide(monkeypatch, "matplotlib")


def hide(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    """Let imports of a package fail as they do where it is not installed."""
    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        monkeypatch.setitem(sys.modules, name, None)
    for name in (
        package,
        "matplotlib.figure",
        "matplotlib.colors",
        "statsmodels.stats.multitest",
    ):
        if name.partition(".")[0] == package:
            monkeypatch.setitem(sys.modules, name, None)


@pytest.fixture(scope="module")
def results() -> dict[type, Any]:
    groups = {f"q{i:02}": "first" if i <= 8 else "second" for i in range(1, 17)}
    compared = irl.compare(
        "lexirecall/demo", RUNS, "AP", baseline="ql", groups=groups, test=TEST
    )
    suite = irl.benchmark("lexirecall/demo", RUNS, "AP", baseline="ql", test=TEST)
    return {Comparison: compared, Benchmark: suite}


@pytest.mark.parametrize(
    ("kind", "picture"),
    [(kind, name) for kind in (Comparison, Benchmark) for name in plots.KINDS[kind]],
)
@pytest.mark.usefixtures("no_matplotlib")
def test_every_picture_names_matplotlib(
    kind: type, picture: str, results: dict[type, Any]
) -> None:
    runs = ("bm25", "ql") if picture == "pair" else ()
    with pytest.raises(ModuleNotFoundError, match=PICTURE):
        results[kind].plot(picture, *runs)
    with pytest.raises(ModuleNotFoundError, match=PICTURE):
        getattr(plots, picture)(results[kind], *runs)


@pytest.mark.usefixtures("no_matplotlib")
def test_pictures_of_studies_and_of_recall_name_matplotlib() -> None:
    table = meta.Study(["AP", "nDCG@10"], demo.qrels(), RUNS).correlation()
    with pytest.raises(ModuleNotFoundError, match=PICTURE):
        meta.plot(table)
    with pytest.raises(ModuleNotFoundError, match=PICTURE):
        plots.recall_curves(recall_curves(demo.qrels(), RUNS, n=200))


@pytest.mark.parametrize("kind", ["heatmap", "means", "differences"])
@pytest.mark.usefixtures("no_matplotlib")
def test_the_command_names_matplotlib(
    kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [str(demo.FOLDER / "runs" / f"{name}.run") for name in RUNS]
    assert (
        main(["compare", "lexirecall/demo", *runs, "--plot", "x.svg", "--kind", kind])
        == 1
    )
    assert (
        "ir-lexirecall: a picture needs matplotlib: install it"
        in capsys.readouterr().err
    )


def test_reports_and_highlights_name_jinja2(
    monkeypatch: pytest.MonkeyPatch, results: dict[type, Any], tmp_path: Any
) -> None:
    hide(monkeypatch, "jinja2")
    for result in results.values():
        with pytest.raises(
            ModuleNotFoundError, match=r"Jinja2: install it, or the extra 'report'"
        ):
            irl.report(result, tmp_path / "x.html")


def test_corrections_name_statsmodels(monkeypatch: pytest.MonkeyPatch) -> None:
    hide(monkeypatch, "statsmodels")
    test = irl.SignificanceTest(correction="fdr_bh")
    with pytest.raises(
        ModuleNotFoundError, match=r"statsmodels: install it, or the extra 'compare'"
    ):
        irl.compare("lexirecall/demo", RUNS, "AP", test=test).table()


def test_pairs_that_were_not_compared_are_hatched_and_said() -> None:
    runs = {name: demo.run(name) for name in ("bm25", "ql", "tfidf")}
    for baseline, hatched in (("ql", 2), (None, 0)):
        ax = irl.compare(
            "lexirecall/demo", runs, "AP", baseline=baseline, test=TEST
        ).plot("heatmap")
        patches = [one for one in ax.collections if one.get_hatch()]
        assert sum(len(one.get_paths()) for one in patches) == hatched
        assert ("hatched: not compared" in ax.get_title(loc="left")) == bool(hatched)
