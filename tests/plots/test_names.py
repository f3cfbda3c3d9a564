"""Names of runs, queries and measures are data in pictures: neither mathematics nor markup; pictures stay of a size."""

from __future__ import annotations

import io
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")

import ir_lexirecall as irl  # noqa: E402
from ir_lexirecall import demo, meta  # noqa: E402
from ir_lexirecall.plots.axes import finish, labels, new_axes  # noqa: E402

pytestmark = pytest.mark.sparse

NAMES = ["a$b$c", "_x", "$\\frac{1}{2", "<b>&", "new\nline", "\x1b[31m", "文書"]
SHOWN = [
    "a$b$c",
    "_x",
    "$\\frac{1}{2",
    "&lt;b&gt;&amp;",
    "new\\nline",
    "\\x1b[31m",
    "文書",
]
QRELS = {f"q{i}$x$": {"a": 1, "b": 1 + i % 2} for i in range(9)}


def runs(names: list[str]) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    return {
        name: {q: dict(zip("abxy", rng.random(4).tolist(), strict=True)) for q in QRELS}
        for name in names
    }


def svg(axes: Any) -> str:
    written = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none"}):
        axes.figure.savefig(written, format="svg")
    return written.getvalue()


def png(axes: Any) -> bytes:
    written = io.BytesIO()
    axes.figure.savefig(written, format="png", metadata={"Software": None})
    return written.getvalue()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Glyph")
def test_names_are_shown_as_they_are() -> None:
    compared = irl.compare(QRELS, runs(NAMES), ["lexirecall", "AP"])
    for name in NAMES:
        other = NAMES[NAMES.index(name) - 1]
        pictures = (
            compared.plot("pair", name, other),
            compared.plot("pair", name, other, "AP"),
        )
        for picture in map(svg, pictures):
            assert SHOWN[NAMES.index(name)] in picture
            assert SHOWN[NAMES.index(other)] in picture
            assert "q0$x$" in picture
    heatmap = svg(compared.plot("heatmap"))
    assert all(heatmap.count(shown) >= 2 for shown in SHOWN)


def test_shortened_names_are_told_apart() -> None:
    names = [f"{'x' * 500}{i}{'y' * 500}" for i in range(30)]
    shown = labels([*names, names[0]])
    assert len(set(shown)) == 30
    assert shown[-1] == shown[0]
    assert max(map(len, shown)) <= 46


@pytest.mark.slow
def test_long_names_of_measures_are_short_and_explained_below() -> None:
    from matplotlib.text import Text

    from ir_lexirecall import demo

    name = "TOMA(aspects={'credibility':2,'relevance':3})@10"
    runs = {run: demo.run(run) for run in ("bm25", "ql", "tfidf")}
    compared = irl.compare(demo.qrels(), runs, name)
    parts = {"one": demo.qrels(), "two": demo.qrels()}
    quick = irl.SignificanceTest(n_resamples=99, progress=False)
    suite = irl.benchmark(
        parts, dict.fromkeys(parts, runs), [name], baseline="ql", test=quick
    )
    pictures = [
        compared.plot(),
        compared.plot("heatmap"),
        compared.plot("differences"),
        compared.plot("pair", "bm25", "ql"),
    ]
    pictures += [
        suite.plot(),
        suite.plot("rank_intervals"),
        suite.plot("critical_differences"),
    ]
    pictures += [meta.plot(meta.Study([name, "AP"], demo.qrels(), runs).ties())]
    for axes in pictures:
        texts = [
            " ".join(shown.get_text().split()) for shown in axes.figure.findobj(Text)
        ]
        below = [shown for shown in texts if f"TOMA(aspects=...)@10 is {name}" in shown]
        assert len(below) == 1
        others = [shown for shown in texts if shown not in below]
        assert any("TOMA(aspects=...)@10" in shown for shown in others)
        assert not any("credibility" in shown for shown in others)


@pytest.mark.slow
def test_pictures_in_threads_are_alike_and_leave_the_settings_alone() -> None:
    compared = irl.compare(QRELS, runs(["good", "bad"]))
    before = dict(matplotlib.rcParams)
    with ThreadPoolExecutor(4) as threads:
        pictures = list(
            threads.map(lambda _: png(compared.plot("pair", "good", "bad")), range(8))
        )
    assert len(set(pictures)) == 1
    changed = {
        name: value
        for name, value in matplotlib.rcParams.items()
        if before.get(name) != value
    }
    assert changed == {}


def test_a_long_caption_takes_no_room_from_the_axes() -> None:
    runs = {
        "a": {"q": {"d": 1.0}},
        "b": {"q": {"x": 2.0, "d": 1.0}},
        "c": {"q": {"x": 2.0}},
    }
    with pytest.warns(UserWarning, match="run 'c' retrieves nothing"):
        compared = irl.compare({"q": {"d": 1}}, runs, allow_empty=True)
    shares = []
    for caption in ("short", "a long caption, " * 60):
        ax = new_axes(None, (6.0, 5.0))
        finish(compared.plot("heatmap", ax=ax), caption)
        ax.figure.canvas.draw()
        shares.append(ax.get_position().width)
        (small,) = [
            text for text in ax.figure.texts if text.get_text().startswith(caption[:5])
        ]
        assert small.get_window_extent().x1 <= ax.figure.bbox.x1
    assert shares[1] > 0.8 * shares[0]


def test_logarithmic_axes_show_plain_numbers() -> None:
    runs = {"a": {"q$1$": {"d": 1.0}}, "b": {"q$1$": {"x": 2.0, "d": 1.0}}}
    ax = irl.compare({"q$1$": {"d": 1}}, runs).plot("pair", "a", "b")
    ax.figure.canvas.draw()
    assert ax.get_yscale() == "log"
    assert all(
        "$" not in shown.get_text() for shown in ax.get_yticklabels(which="both")
    )
    assert not any(shown.get_parse_math() for shown in ax.get_xticklabels())


def test_axes_say_in_full_what_they_show() -> None:
    ax = irl.compare(QRELS, runs(["a", "b"]), "lexirecall").plot()
    assert (
        "mean preference over all other runs by lexirecall, 95% intervals"
        in ax.get_xlabel().replace("\n", " ")
    )


def test_a_wrong_name_of_a_run_or_an_argument_of_a_pair_says_which_there_are() -> None:
    compared = irl.compare("lexirecall/demo", demo.runs(), "AP")
    runs = "bm25, bm25_rerank, ql, tfidf, overlap"
    for names in [(), ("bm25",), (None, "ql")]:
        with pytest.raises(ValueError, match=f"plot: name two of the runs, {runs}"):
            compared.plot("pair", *names)
    for names in [("bm25", "nosuch"), ("nosuch", "ql"), ("bm25", "AP"), ("bm25", 1)]:
        with pytest.raises(ValueError, match=f"plot: unknown run .*{runs}"):
            compared.plot("pair", *names)
    options = {"run_a": "bm25", "run_b": "ql"}
    with pytest.raises(
        TypeError, match=r"unexpected argument 'run_a'; it takes .*a, b"
    ):
        compared.plot("pair", **options)
    with pytest.raises(TypeError, match="argument 'axes'; did you mean 'ax'"):
        compared.plot("means", axes=None)
