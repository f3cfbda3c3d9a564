"""The report of a benchmark of many collections."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

import ir_lexirecall as irl
from ir_lexirecall import demo

RUNS = {name: demo.run(name) for name in ("bm25", "ql", "tfidf")}
IDS = sorted(demo.qrels()["query_id"].unique())
PARTS = {f"part <{i}>": demo.qrels()[demo.qrels()["query_id"].isin(IDS[i::2])] for i in range(2)}


@pytest.mark.parametrize("baseline", [None, "bm25"])
def test_it_shows_what_holds_over_collections(baseline: str | None, tmp_path: Path) -> None:
    suite = irl.benchmark(PARTS, dict.fromkeys(PARTS, RUNS), ["LR"], baseline=baseline, n_resamples=99, progress=False)
    page = irl.report(suite, tmp_path / "suite.html", progress=False).read_text(encoding="utf-8")
    assert "part &lt;0&gt;" in page
    assert "part <0>" not in page
    for value in suite.overall("queries")["mean"]:
        assert f'data-value="{value!r}"' in page
    pictures = 2 * (2 + (baseline is not None))
    assert page.count("<svg") == pictures
    for svg in page.split("<svg")[1:]:
        ElementTree.fromstring("<svg" + svg.split("</svg>")[0] + "</svg>")
    assert ("differences of" in page.lower()) == (baseline is not None)
    assert "chi-squared" in page


def test_a_single_run_has_no_pictures(tmp_path: Path) -> None:
    runs = {"bm25": RUNS["bm25"]}
    suite = irl.benchmark(PARTS, dict.fromkeys(PARTS, runs), ["LR"], n_resamples=99, progress=False)
    assert "<svg" not in irl.report(suite, tmp_path / "suite.html", progress=False).read_text(encoding="utf-8")
