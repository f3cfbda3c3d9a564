"""Pictures look as they did when somebody looked at them; letters are readable, nothing is cut off, pyplot is left alone.

Where a picture is meant to change: delete its file in ``baselines``, run the tests (which then write the new one and fail once),
look at it, commit it.
"""

from __future__ import annotations

import io
import itertools
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from fresh import python

from ir_lexirecall import SignificanceTest
from ir_lexirecall.comparison import Comparison

matplotlib = pytest.importorskip("matplotlib")

from matplotlib import image  # noqa: E402
from matplotlib.text import Text  # noqa: E402

import ir_lexirecall as irl  # noqa: E402
from ir_lexirecall import demo, meta  # noqa: E402
from ir_lexirecall.benchmarks import Benchmark  # noqa: E402
from ir_lexirecall.plots.axes import FIRST, SECOND, SMALL, line_style, new_axes  # noqa: E402
from ir_lexirecall.plots.kinds import KINDS  # noqa: E402
from ir_lexirecall.present.standings import Standing  # noqa: E402
from tests.docs.test_contributing import defined  # noqa: E402

pytestmark = pytest.mark.sparse

BASELINES = Path(__file__).parent / "baselines"
DPI = 40
TOLERANCE = 0.02  # mean difference of blurred pixels, from 0 to 1; letters of another font give about 0.003

QRELS, RUNS = demo.qrels(), demo.runs()
MEASURES = ["AP", "nDCG@10", "RR", "LR"]
IDS = sorted(QRELS["query_id"].unique())


COST = "RE(n=90)"  # the smaller value is the better one


@pytest.fixture(scope="module")
def result() -> Comparison:
    return irl.compare(
        "lexirecall/demo", RUNS, ["nDCG@10", "LR", "lexirecall", "AP", COST]
    )


@pytest.fixture(scope="module")
def suite() -> Benchmark:
    parts = {f"part {i}": QRELS[QRELS["query_id"].isin(IDS[i::2])] for i in range(2)}
    quick = SignificanceTest(n_resamples=99, progress=False)
    return irl.benchmark(
        parts, dict.fromkeys(parts, RUNS), ["LR", COST], baseline="bm25", test=quick
    )


def of_contributing(result: Comparison) -> Any:
    """The picture of CONTRIBUTING.md, by its name."""
    with patch.dict(KINDS[Comparison]):  # and taken out again
        defined("decided_queries")
        return result.plot("decided_queries")


RESULTS: dict[str, Callable[[Any, Any], Any]] = {
    "means": lambda result, _: result.plot("means", "nDCG@10"),
    "differences": lambda result, _: result.plot("differences", "lexirecall"),
    "differences of a measure": lambda result, _: result.plot("differences", "LR"),
    "differences of a cost": lambda result, _: result.plot("differences", COST),
    "means of a preference": lambda result, _: result.plot("means", "lexirecall"),
    "means of a cost": lambda result, _: result.plot("means", COST),
    "heatmap": lambda result, _: result.plot("heatmap", "lexirecall"),
    "heatmap of a cost": lambda result, _: result.plot("heatmap", COST),
    "pair": lambda result, _: result.plot("pair", "bm25", "ql", "lexirecall"),
    "pair of a measure": lambda result, _: result.plot("pair", "bm25", "ql", "AP"),
    "decided queries": lambda result, _: of_contributing(result),
    "suite": lambda _, suite: suite.plot("forest", "LR"),
    "suite of a cost": lambda _, suite: suite.plot("forest", COST),
    "suite ranks": lambda _, suite: suite.plot("rank_intervals", "LR"),
    "suite critical differences": lambda _, suite: suite.plot(
        "critical_differences", "LR"
    ),
}
STUDIES: dict[str, Callable[[], Any]] = {
    "achieved significance": lambda: meta.Study(
        MEASURES, QRELS, RUNS, progress=False
    ).achieved_significance(
        test=SignificanceTest("bootstrap", correction=None, n_resamples=99)
    ),
    "agreement": lambda: meta.Study(MEASURES, QRELS, RUNS).agreement(),
    "axioms": lambda: meta.axioms(["AP", "RR"], size=2, cases=0),
    "balancing index": lambda: meta.balancing_index(["P@5", "RR"], n=5),
    "correlation": lambda: meta.Study(MEASURES, QRELS, RUNS).correlation(),
    "degrade": lambda: meta.Study(MEASURES, QRELS, RUNS).degrade(
        fractions=[0.25, 0.5], n_samples=2
    ),
    "discriminative power": lambda: meta.Study(
        MEASURES, QRELS, RUNS, progress=False
    ).discriminative_power(
        test=SignificanceTest("bootstrap", correction=None, n_resamples=99)
    ),
    "orientation": lambda: meta.orientation(["AP", "RR", "nDCG"], n=20, m=range(1, 6)),
    "interval scale": lambda: meta.interval_scale(["P@5", "RR", "AP"]),
    "stability": lambda: meta.Study(["AP", "RR"], QRELS, RUNS).stability(
        n_resamples=20, n_samples=1
    ),
    "split half": lambda: meta.Study(["AP", "RR"], QRELS, RUNS).split_half(),
    "tie probabilities": lambda: meta.tie_probabilities(n=1000, m=range(1, 11)),
    "ties": lambda: meta.Study(MEASURES, QRELS, RUNS).ties(),
    "unanimity": lambda: meta.Study(MEASURES, QRELS, RUNS).unanimity(),
}
STORED = (
    "means",
    "differences",
    "heatmap",
    "pair",
    "pair of a measure",
    "suite",
    "achieved significance",
)


def pixels(drawn: Any, dpi: int = DPI) -> Any:
    """The picture, as grey and coloured pixels from 0 to 1."""
    written = io.BytesIO()
    drawn.figure.savefig(written, format="png", dpi=dpi)
    written.seek(0)
    return image.imread(written)[..., :3]


def blurred(picture: Any) -> Any:
    """The means of squares of 8 pixels: what a viewer sees from afar, whatever the letters' edges."""
    height, width = (side // 8 * 8 for side in picture.shape[:2])
    return (
        picture[:height, :width]
        .reshape(height // 8, 8, width // 8, 8, 3)
        .mean(axis=(1, 3))
    )


@pytest.fixture(scope="module", params=[*RESULTS, *STUDIES])
def drawn(request: pytest.FixtureRequest, result: Comparison, suite: Benchmark) -> Any:
    """Every picture, by its name."""
    name = request.param
    ax = RESULTS[name](result, suite) if name in RESULTS else meta.plot(STUDIES[name]())
    return SimpleNamespace(name=name, axes=ax)


@pytest.mark.sparse
def test_letters_are_readable_and_nothing_is_cut_off(drawn: Any) -> None:
    figure = drawn.axes.figure
    figure.draw_without_rendering()
    whole = figure.bbox
    shown = [
        text
        for text in figure.findobj(Text)
        if text.get_text().strip() and text.get_visible()
    ]
    assert drawn.axes.get_title(loc="left") or drawn.axes.get_legend()
    for text in shown:
        assert text.get_fontsize() >= SMALL, text.get_text()
        ticks = [*drawn.axes.get_xticklabels(), *drawn.axes.get_yticklabels()]
        box = text.get_window_extent()
        if text in ticks and not _within_view(drawn.axes, text):
            continue
        assert (
            min(
                box.x0 - whole.x0,
                whole.x1 - box.x1,
                box.y0 - whole.y0,
                whole.y1 - box.y1,
            )
            >= -1
        ), text.get_text()
        assert "mathdefault" not in text.get_text()


def _within_view(ax: Any, tick: Text) -> bool:
    """Whether a tick is drawn: those beyond the limits of the axis are not."""
    for labels, limits, place in (
        (ax.get_xticklabels(), ax.get_xlim(), 0),
        (ax.get_yticklabels(), ax.get_ylim(), 1),
    ):
        if tick in labels:
            return bool(min(limits) <= tick.get_position()[place] <= max(limits))
    return True


def test_letters_on_axes_do_not_overlap(drawn: Any) -> None:
    figure = drawn.axes.figure
    figure.draw_without_rendering()
    for labels in (drawn.axes.get_xticklabels(), drawn.axes.get_yticklabels()):
        boxes = [
            text.get_window_extent()
            for text in labels
            if text.get_text()
            and _within_view(drawn.axes, text)
            and text.get_rotation() in (0, 90)
        ]
        for one, other in itertools.pairwise(boxes):
            assert not one.overlaps(other), [text.get_text() for text in labels]


@pytest.mark.parametrize("name", STORED)
def test_pictures_look_as_they_did(
    name: str, result: Comparison, suite: Benchmark
) -> None:
    ax = RESULTS[name](result, suite) if name in RESULTS else meta.plot(STUDIES[name]())
    ax.figure.supxlabel("")  # it names versions
    picture = pixels(ax)
    stored = BASELINES / f"{name.replace(' ', '-')}.png"
    if not stored.exists():
        image.imsave(stored, picture)
        pytest.fail(f"{stored} is new: look at it, and commit it")
    before = image.imread(stored)[..., :3]
    assert before.shape == picture.shape
    assert np.abs(blurred(before) - blurred(picture)).mean() < TOLERANCE


# -- what pictures show ------------------------------------------------------------------------------


def faces(ax: Any) -> list[str]:
    """The colours of the points of a forest."""
    return [
        matplotlib.colors.to_hex(face) for face in ax.collections[1].get_facecolors()
    ]


@pytest.mark.parametrize("by", ["nDCG@10", "lexirecall", COST])
def test_means_and_the_best_set_are_those_of_the_result(
    result: Comparison, by: str
) -> None:
    ranking, best = result.ranking(by), result.best_set(by)
    ax = result.plot("means", by)
    assert [tick.get_text() for tick in ax.get_yticklabels()] == list(ranking["run"])
    np.testing.assert_allclose(ax.collections[1].get_offsets()[:, 0], ranking["mean"])
    hollow = [face == "#ffffff" for face in faces(ax)]
    assert hollow == [False, *best["may_be_best"].iloc[1:]]
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert legend == ["best mean", "may be best (95%)", "not among the best"]
    assert ("smaller is better" in ax.get_xlabel()) == (by == COST)


@pytest.mark.parametrize("by", ["nDCG@10", "lexirecall", COST])
@pytest.mark.parametrize("baseline", [None, "ql"])
def test_differences_are_those_of_the_table_and_their_colours_the_verdicts(
    result: Comparison, by: str, baseline: str | None
) -> None:
    compared = result.with_baseline(baseline)
    reference = baseline or compared.ranking(by)["run"].iloc[0]
    ax = compared.plot("differences", by)
    runs = [run for run in compared.ranking(by)["run"] if run != reference]
    assert [tick.get_text() for tick in ax.get_yticklabels()] == runs
    rows = {
        (row.run_a, row.run_b): row.estimate for row in compared.table(by).itertuples()
    }
    expected = [
        rows[run, reference] if (run, reference) in rows else -rows[reference, run]
        for run in runs
    ]
    np.testing.assert_allclose(ax.collections[1].get_offsets()[:, 0], expected)
    verdicts = [compared.tests.verdicts_by(by).on(run, reference) for run in runs]
    colours = {"better": FIRST, "worse": SECOND, "undecided": "#ffffff"}
    assert faces(ax) == [colours[verdict].lower() for verdict in verdicts]
    assert "worse" in verdicts
    assert ("smaller is better" in ax.get_xlabel()) == (by == COST)


@pytest.mark.parametrize("by", ["LR", "lexirecall", COST])
def test_colours_of_heatmaps_are_the_verdicts(result: Comparison, by: str) -> None:
    ax, verdicts = result.plot("heatmap", by), result.tests.verdicts_by(by)
    runs = list(result.ranking(by)["run"])
    colours = ax.images[0].get_array()
    for i, a in enumerate(runs):
        for j, b in enumerate(runs):
            way = (
                {"better": 1, "worse": -1}.get(verdicts.on(a, b) or "", 0)
                if a != b
                else 0
            )
            assert np.sign(colours[i, j]) == way
    starred = [text.get_text().endswith("*") for text in ax.texts if text.get_text()]
    assert sum(starred) == 2 * verdicts.decided > 0


@pytest.mark.parametrize("by", ["LR", COST])
def test_the_better_side_of_a_forest_is_as_its_title_says(
    suite: Benchmark, by: str
) -> None:
    """Better systems lie right of 0, or left of it by a measure of which the smaller value is better."""
    ax = suite.plot("forest", by)
    side = ax.get_title(loc="left").split()[0]
    assert side == ("Left" if by == COST else "Right")
    table = suite.by_collection(by)
    points = [line for line in ax.lines if line.get_marker() == "o"]
    values = [float(line.get_xdata()[0]) for line in points]
    assert sorted(values) == pytest.approx(sorted(table["estimate"]))
    overlap = table[table["run_a"] == "overlap"]
    assert (overlap["verdict"] != "better").all()
    assert ((overlap["estimate"] < 0) == (side == "Right")).all()
    filled = [line.get_markerfacecolor() != "white" for line in points]
    assert sum(filled) == table["verdict"].isin(["better", "worse"]).sum()


@pytest.mark.parametrize("test", ["sign", "t"])
def test_differences_are_turned_towards_the_reference(test: str) -> None:
    compared = irl.compare(QRELS, RUNS, "AP", test=test)
    standing = Standing(compared, "AP")
    leader = standing.runs[0]
    against = standing.against.set_index("run")
    known = {}
    for row in compared.table().itertuples():
        known[row.run_a, row.run_b] = (
            row.estimate,
            row.ci_low,
            row.ci_high,
            row.wins,
            row.p_corrected,
        )
        known[row.run_b, row.run_a] = (
            -row.estimate,
            -row.ci_high,
            -row.ci_low,
            row.losses,
            row.p_corrected,
        )
    assert list(against.index) == standing.runs[1:]
    for run, row in against.iterrows():
        assert (
            tuple(row[["estimate", "ci_low", "ci_high", "wins", "p_corrected"]])
            == known[run, leader]
        )


def test_wins_stand_before_losses_by_their_size_and_the_extremes_are_named() -> None:
    dice = np.random.default_rng(1)
    qrels = {f"q{i:03}": {"a": 1, "b": 1} for i in range(90)}
    runs = {
        name: {
            q: dict(zip("abxy", dice.random(4).tolist(), strict=True)) for q in qrels
        }
        for name in ("one", "two")
    }
    compared = irl.compare(qrels, runs, "AP")
    ax = compared.plot("pair", "one", "two")
    heights = [bar.get_height() for bar in ax.containers[0].patches]
    assert heights == sorted(heights, reverse=True)
    named = [tick.get_text() for tick in ax.get_xticklabels()]
    explained = compared.explain("one", "two").set_index("query_id")
    differences = (explained["value_a"] - explained["value_b"]).sort_values(
        ascending=False, kind="stable"
    )
    assert len(named) == 10
    np.testing.assert_allclose(
        differences[named], [*differences.iloc[:5], *differences.iloc[-5:]]
    )


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 4, 7])
def test_lines_that_coincide_are_told_apart(count: int) -> None:
    styles = [line_style(place, count, 30) for place in range(count)]
    for one, other in itertools.pairwise(styles):
        assert one["color"] != other["color"]
        assert one["linestyle"] != other["linestyle"]
        assert one["linewidth"] > other["linewidth"]
    ax = new_axes(None, (4, 3))
    for style in styles:
        ax.plot(range(30), range(30), **style)
    colours = {tuple(np.round(pixel, 1)) for pixel in pixels(ax, 100).reshape(-1, 3)}
    for style in styles[:7]:
        wanted = np.array(matplotlib.colors.to_rgb(style["color"]))
        assert (
            min(np.abs(wanted - np.array(colour)).sum() for colour in colours) < 0.45
        ), style


def test_ranks_of_a_single_run_by_a_preference_are_none() -> None:
    suite = irl.benchmark(
        {"one": QRELS}, {"one": {"bm25": RUNS["bm25"]}}, ["AP", "rpp"]
    )
    with pytest.warns(UserWarning, match="identical low and high xlims"):
        assert not suite.plot("rank_intervals", "rpp").get_yticklabels()


# -- pyplot ------------------------------------------------------------------------------------------


def test_axes_of_the_user_are_drawn_on_and_get_no_small_print(
    result: Comparison,
) -> None:
    from matplotlib.figure import Figure

    left, right = Figure(figsize=(12, 4)).subplots(1, 2)
    assert result.plot(ax=left) is left
    assert result.plot("differences", ax=right) is right
    assert left.figure.get_supxlabel() == ""


_COMPARED = """
import ir_lexirecall as irl
from ir_lexirecall.comparison import Comparison
from ir_lexirecall import demo
compared = irl.compare(demo.qrels(), {"bm25": demo.run("bm25"), "ql": demo.run("ql")})
"""


@pytest.mark.slow
def test_a_script_draws_without_pyplot() -> None:
    code = (
        _COMPARED
        + "ax = compared.plot(); ax.figure.savefig('/dev/null', format='png'); import sys; print('matplotlib.pyplot' in sys.modules)"
    )
    assert python(code) == "False"


@pytest.mark.slow
def test_a_script_that_uses_pyplot_keeps_its_current_figure_and_settings() -> None:
    code = _COMPARED + (
        "import matplotlib; matplotlib.use('agg'); import matplotlib.pyplot as plt\n"
        "mine = plt.figure(); before = dict(matplotlib.rcParams)\n"
        "compared.plot(); compared.plot('pair', 'bm25', 'ql')\n"
        "print(plt.get_fignums(), plt.gcf() is mine, dict(matplotlib.rcParams) == before)"
    )
    assert python(code) == "[1] True True"


def test_a_notebook_sees_its_pictures_though_it_imported_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shell = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=object()))
    shown = []
    pyplot = SimpleNamespace(
        figure=lambda **options: (
            shown.append(matplotlib.figure.Figure(**options)) or shown[-1]
        )
    )
    monkeypatch.setitem(sys.modules, "IPython", shell)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", pyplot)
    assert new_axes(None, (3, 2)).figure is shown[0]
    drawn = []
    other = threading.Thread(target=lambda: drawn.append(new_axes(None, (3, 2))))
    other.start()
    other.join()
    assert len(drawn) == len(shown) == 1
    assert drawn[0].figure is not shown[0]
