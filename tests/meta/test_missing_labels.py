"""The study of missing labels: what goes, what is counted, what a declared contrast comes to; and the manuscript's numbers."""

from __future__ import annotations

import doctest
import gzip
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from scipy import stats

from ir_lexirecall.data.alignment import align
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.meta import Study
from ir_lexirecall.meta.missing_labels import TwoWay, without_labels

PAPERS = Path(__file__).parents[2] / "examples" / "papers"
MANUSCRIPT = PAPERS / "manuscript"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    pytest.importorskip("matplotlib")
    sys.path[:0] = [str(PAPERS), str(MANUSCRIPT)]
    try:
        import missing_labels
        import write  # noqa: F401
    finally:
        del sys.path[:2]
    return missing_labels


def engine() -> ModuleType:
    return sys.modules["label_loss"]


def made_up(
    depth: int = 25, queries: int = 12
) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, list[str]]]]:
    """Eight relevant of 40 documents a query, and five runs that see them through more or less noise."""
    rng = np.random.default_rng(1)
    qrels = {f"q{q}": {f"d{i}": int(i < 8) for i in range(40)} for q in range(queries)}
    runs: dict[str, dict[str, list[str]]] = {}
    for s in range(5):
        runs[f"run{s}"] = {
            q: [
                f"d{i}"
                for i in np.argsort(
                    -0.3 * s * (np.arange(40) < 8) - rng.normal(size=40)
                )[:depth]
            ]
            for q in qrels
        }
    return qrels, runs


def systems(depth: int = 25) -> object:
    qrels, runs = made_up(depth)
    judgments = Judgments.from_qrels(qrels)
    aligned = {
        name: align(
            judgments,
            {q: {d: -float(i) for i, d in enumerate(docs)} for q, docs in run.items()},
        )
        for name, run in runs.items()
    }
    return engine().Systems(
        "made up", "simulated", judgments, aligned, {name: name for name in runs}
    )


def test_which_labels_go(script: ModuleType) -> None:
    some = systems()
    ranks, relevant = engine().pool_depth(some), some.judgments.grade > 0  # type: ignore[attr-defined]
    query = some.judgments.query  # type: ignore[attr-defined]
    (pool,) = engine().missing(some, "pool", 3, 5)
    assert (pool == (relevant & (ranks > 3))).all()
    assert pool.any()
    reverse, *again = engine().missing(some, "reverse", 3, 5)
    assert any(
        (other != reverse).any() for other in again
    )  # equally high ones are drawn
    randoms = [*engine().missing(some, "random", 3, 5)]
    assert len(randoms) == 5
    assert (randoms[0] != randoms[1]).any()
    for removed in (reverse, *randoms):
        assert not (removed & ~relevant).any()
        assert (
            np.bincount(query[removed], minlength=12)
            == np.bincount(query[pool], minlength=12)
        ).all()
    for q in range(12):
        here = relevant & (query == q)
        if reverse[here].any() and not reverse[here].all():
            assert ranks[here & reverse].max() <= ranks[here & ~reverse].min()
    (share,) = engine().missing(some, "share", 3, 1)
    assert (
        len(set(np.bincount(query[share], minlength=12))) == 1
    )  # all queries have eight relevant documents


def test_conclusions_are_those_of_students_t(script: ModuleType) -> None:
    some = systems()
    study = Study(["AP"], some.judgments, some.runs, progress=False)  # type: ignore[attr-defined]
    x = engine().differences(study, "AP", study.queries)
    resamples = TwoWay.draw(study, None, 20, 0)
    found = engine().concluded(x, resamples)
    test = stats.ttest_1samp(x, 0, axis=1)
    assert (found[0] == np.sign(test.statistic) * (test.pvalue < 0.01)).all()
    assert 0 < np.count_nonzero(found[0]) < len(x)
    drawn = np.repeat(x, resamples.query_weight[1].astype(int), axis=1)
    test = stats.ttest_1samp(drawn, 0, axis=1)
    assert (found[1] == np.sign(test.statistic) * (test.pvalue < 0.01)).all()


def test_where_nothing_is_missing_there_is_no_cell(script: ModuleType) -> None:
    places = [(policy, depth) for policy in engine().POLICIES for depth in (3, 39)]
    lost = engine().study_of(systems(40), places=places, samples=1, n_resamples=20)
    assert lost.nothing == [(policy, 39) for policy in engine().POLICIES]
    assert {(policy, depth) for policy, depth, _ in lost.cells} == {
        (policy, 3) for policy in engine().POLICIES
    }


def test_a_cell_counts_what_is_lost_and_kept(script: ModuleType) -> None:
    """By hand: the pool of depth 3, all pairs of runs and queries with all labels and with fewer."""
    some = systems()
    lost = engine().study_of(some, places=[("pool", 3)], n_resamples=5)
    study = Study(["AP"], some.judgments, some.runs, progress=False)  # type: ignore[attr-defined]
    (removed,) = engine().missing(some, "pool", 3, 1)
    fewer = study.with_judgments(without_labels(some.judgments, removed))  # type: ignore[attr-defined]
    x, after = (engine().differences(of, "AP", study.queries) for of in (study, fewer))
    before, still = (
        stats.ttest_1samp(of, 0, axis=1).pvalue < 0.01 for of in (x, after)
    )
    cell = lost.cells["pool", 3, "AP"]
    assert cell.significant == before.sum() > 0
    assert cell.lost[0] == (before & ~still).sum() / before.sum()
    assert cell.decided[0] == (np.sign(x) == np.sign(after))[x != 0].mean() < 1


def test_all_groups_are_left_out(script: ModuleType) -> None:
    """By hand: each of five runs without the labels that it alone contributes, against the four others."""
    some = systems()
    lost = engine().study_of(some, places=[("left out", 3)], n_resamples=5)
    judgments = some.judgments  # type: ignore[attr-defined]
    study = Study(["AP"], judgments, some.runs, progress=False)  # type: ignore[attr-defined]
    relevant = judgments.grade > 0
    ranks = {name: engine().pool_depth(some, [name]) for name in study.names}
    a, b = study.pairs
    kept = []
    full = without_labels(
        judgments, relevant & (np.min(list(ranks.values()), axis=0) > 3)
    )
    for run, name in enumerate(study.names):
        others = np.min(
            [rank for other, rank in ranks.items() if other != name], axis=0
        )
        fewer = without_labels(full, others > 3)
        x, after = (
            engine().differences(study.with_judgments(of), "AP", study.queries)[
                (a == run) | (b == run)
            ]
            for of in (full, fewer)
        )
        kept.append((np.sign(x) == np.sign(after))[x != 0])
    assert lost.cells["left out", 3, "AP"].decided[0] == pytest.approx(
        np.concatenate(kept).mean()
    )


def test_the_error_of_the_draws_is_that_of_the_outcome_and_of_the_difference(
    script: ModuleType,
) -> None:
    lost = engine().study_of(
        systems(), places=[("random", 3), ("pool", 3)], samples=6, n_resamples=5
    )
    draws = {
        measure: lost.cells["random", 3, measure].draws
        for measure in ("lexirecall", "AP")
    }
    for outcome in ("lost", "decided"):
        of_lr, of_ap = (draws[measure][outcome] for measure in draws)
        assert of_lr.shape == (6,)
        assert lost.values(outcome, "random", 3, "lexirecall")[0] == pytest.approx(
            of_lr.mean()
        )
        assert lost.error(outcome, "random", 3, "lexirecall") == stats.sem(of_lr)
        assert lost.error(outcome, "random", 3, "lexirecall", "AP") == stats.sem(
            of_lr - of_ap
        )
        assert lost.error(outcome, "pool", 3, "lexirecall", "AP") == 0
    assert lost.error("lost", "random", 3, "lexirecall") != lost.error(
        "decided", "random", 3, "lexirecall"
    )
    once = engine().study_of(
        systems(), places=[("random", 3)], samples=1, n_resamples=5
    )
    found = engine().Estimate(0.3, 0.2, 0.4)
    assert found.depends_on_draws(
        lambda moved: moved.side, once.error("decided", "random", 3, "AP")
    )


def test_intervals_hold_together(script: ModuleType) -> None:
    assert doctest.testmod(engine()).failed == 0
    rng = np.random.default_rng(0)
    for groups in (
        5,
        15,
    ):  # runs of one group each, 30 queries, effects of both: the design of the study
        a, b = np.triu_indices(groups, 1)
        held = 0
        for _ in range(100):
            of_groups, of_queries = (
                np.concatenate(
                    [
                        np.ones((1, size)),
                        rng.multinomial(size, np.full(size, 1 / size), size=200),
                    ]
                )
                for size in (groups, 30)
            )
            weight = of_groups[:, a] * of_groups[:, b]
            values = []
            for _ in range(4):
                u, v = rng.normal(size=30), rng.normal(size=groups)
                x = 0.3 * (u + (v[a] + v[b])[:, None]) + rng.normal(size=(len(a), 30))
                with np.errstate(invalid="ignore"):
                    values.append(
                        ((weight @ x) * of_queries).sum(axis=1)
                        / (weight.sum(axis=1) * 30)
                    )
            held += all(
                found.low <= 0 <= found.high
                for found in engine().simultaneous(values, groups)
            )
        assert held >= 90


def test_the_verdict_on_a_declared_contrast(script: ModuleType) -> None:
    less, more = (script.Declared("decided", "pool", 10, way, 0.03) for way in (-1, 1))
    for value, low, high, verdict in (
        (-0.05, -0.09, -0.01, "holds"),
        (-0.02, -0.03, -0.01, "cannot tell"),  # below 0, not surely too small
        (-0.02, -0.025, -0.015, "fails"),  # below 0, surely too small
        (0.05, 0.01, 0.09, "fails"),
        (-0.05, -0.12, 0.02, "cannot tell"),
        (float("nan"), float("nan"), float("nan"), "cannot tell"),
    ):
        assert less.verdict(engine().Estimate(value, low, high)) == verdict
        assert more.verdict(engine().Estimate(-value, -high, -low)) == verdict


def test_the_declared_family_is_small_and_has_directions(script: ModuleType) -> None:
    assert len(script.CONFIRMED) <= 8
    assert all(
        abs(contrast.direction) == 1 and contrast.least > 0
        for contrast in script.CONFIRMED
    )
    assert len(set(map(str, script.CONFIRMED))) == len(script.CONFIRMED)


def write_made_up(folder: Path, layout: str) -> None:
    """The made-up collection as files: a folder of runs, or one file of all."""
    qrels, runs = made_up()
    files = {
        "qrels.txt.gz": "".join(
            f"{q} 0 {d} {grade}\n" for q, of in qrels.items() for d, grade in of.items()
        )
    }
    lines = {
        name: "".join(
            f"{q} Q0 {d} {i + 1} {-i} {name}\n"
            for q, docs in run.items()
            for i, d in enumerate(docs)
        )
        for name, run in runs.items()
    }
    if layout == "runs":
        (folder / "runs").mkdir()
        (folder / "runs" / ".DS_Store").write_bytes(b"\0")
        files |= {f"runs/{name}.gz": text for name, text in lines.items()}
    else:
        files["runs.gz"] = "".join(lines.values())
    for name, text in files.items():
        (folder / name).write_bytes(gzip.compress(text.encode()))


@pytest.mark.parametrize("layout", ["runs", "runs.gz"])
def test_a_folder_of_ones_own(
    script: ModuleType, layout: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_made_up(tmp_path, layout)
    script.main(["--confirm", str(tmp_path), "--samples", "1", "--resamples", "50"])
    printed = capsys.readouterr().out
    assert "12 queries, 96 relevant documents, 5 runs of 5 groups, depth 25" in printed
    assert len(re.findall(r"skipped +there are 5 teams, fewer than 10", printed)) == 5
    assert len(re.findall(r"needs 3 collections", printed)) == 5


def test_a_folder_that_lacks_something_is_refused(
    script: ModuleType, tmp_path: Path
) -> None:
    with pytest.raises(SystemExit, match=r"gone: no such folder"):
        script.main(["--confirm", str(tmp_path / "gone")])
    with pytest.raises(SystemExit, match=r"no qrels.txt.gz"):
        script.main(["--confirm", str(tmp_path)])
    with gzip.open(tmp_path / "qrels.txt.gz", "wt") as file:
        file.write("q 0 d 1\n")
    (tmp_path / "runs").mkdir()
    with pytest.raises(SystemExit, match=r"neither runs/NAME.gz nor runs.gz"):
        script.main(["--confirm", str(tmp_path)])
    (tmp_path / "runs.gz").write_text("q Q0 d 1 0.5 one\n")
    with pytest.raises(SystemExit, match=r"Not a gzipped file"):
        script.main(["--confirm", str(tmp_path)])


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("q Q0 d 2 0.5 one", "line 2: run one, query q: document d a second time"),
        (
            "q Q0 e 2 one",
            "line 2: expected 'query Q0 document rank score tag', got 'q Q0 e 2 one'",
        ),
        ("q Q0 e 2 high one", "got 'q Q0 e 2 high one'"),
        (
            "q Q0 e 2 nan one",
            "line 2: expected 'query Q0 document rank score tag', got 'q Q0 e 2 nan one'",
        ),
    ],
)
def test_a_bad_line_is_named(
    script: ModuleType, line: str, said: str, tmp_path: Path
) -> None:
    for name, text in {
        "qrels.txt.gz": "q 0 d 1\n",
        "runs.gz": f"q Q0 d 1 1.0 one\n{line}\n",
    }.items():
        (tmp_path / name).write_bytes(gzip.compress(text.encode()))
    with pytest.raises(SystemExit, match=re.escape(said)):
        script.main(["--confirm", str(tmp_path)])


def test_what_is_said_of_pools_is_what_is_recorded(script: ModuleType) -> None:
    explored = json.loads(script.RECORDED.read_text(encoding="utf-8"))["explored"]
    rows = [row for found in explored.values() for row in found["contrasts"]]
    sides = [
        (row["low"] > 0) - (row["high"] < 0)
        for row in rows
        if (row["outcome"], row["policy"], row["minus"]) == ("decided", "pool", "AP")
    ]
    page = (PAPERS.parents[1] / "ir_lexirecall" / "pt_docs" / "judging.rst").read_text(
        encoding="utf-8"
    )
    text = " ".join(page.split())
    assert f"of {len(sides)} simultaneous intervals of the difference" in text
    assert f"{sides.count(-1)} are below 0, and {sides.count(0)} are undecided" in text
    assert not any(
        row["error"] == 0 and row["policy"] == "random"
        for row in rows
        if row["outcome"] == "decided"
    )


def test_pages_say_how_the_confirmation_came_out(script: ModuleType) -> None:
    record = json.loads(script.RECORDED.read_text(encoding="utf-8"))
    counts = script.counted(found["rows"] for found in record["confirmed"].values())
    assert counts == {"holds": 4, "fails": 16, "cannot tell": 3, "skipped": 1}
    page = (PAPERS.parents[1] / "ir_lexirecall" / "pt_docs" / "judging.rst").read_text(
        "utf-8"
    )
    readme = (PAPERS.parent / "README.md").read_text("utf-8")
    for text in (script.__doc__, page, readme):
        words = " ".join(text.split())
        assert f"of 23 tests, {script.count_sentence(counts)}" in words.replace(
            "of 23 tests on TREC-8, TREC-COVID (round 5) and CLEF eHealth 2015,",
            "of 23 tests,",
        ).replace("16 fail and 3", "16 fail, 3").replace(
            "4 confirm it, 16 do not, and 3 cannot tell",
            "4 hold, 16 fail, 3 cannot be decided",
        )
        assert "needs deep pools" not in words
        assert "mostly failed" in words.replace("**", "")


def test_a_recorded_verdict_follows_from_its_interval(script: ModuleType) -> None:
    record = json.loads(script.RECORDED.read_text(encoding="utf-8"))
    for found in record["confirmed"].values():
        for row in [*found["rows"], *found["teams"]["rows"]]:
            if row["verdict"] == "skipped":
                continue
            estimate = script.Estimate(row["value"], row["low"], row["high"])
            contrast = script.contrast_of(row)
            ends = contrast.direction * np.array([row["low"], row["high"]])
            # Recorded numbers have three digits, which cannot tell an end at 0 or at the least effect.
            if (np.abs(np.subtract.outer(ends, [0, contrast.least])) > 0.0006).all():
                assert contrast.verdict(estimate) == row["verdict"], row


def test_holding_and_failing_are_mirror_images(script: ModuleType) -> None:
    contrast = script.Declared("decided", "pool", 10, -1, 0.03)
    lenient, shown = (
        script.Estimate(-0.04, -0.06, -0.01),
        script.Estimate(-0.04, -0.05, -0.03),
    )
    assert [contrast.verdict(lenient), contrast.verdict(shown)] == ["holds", "holds"]
    assert [contrast.is_shown(lenient), contrast.is_shown(shown)] == [False, True]
    row = {"contrast": str(script.CONFIRMED[0]), "verdict": "holds", **vars(lenient)}
    row |= {"too_small": False, "depends_on_draws": False}
    assert script.verdict_of(row) == "holds°"
    assert script.verdict_of(row | vars(shown)) == "holds"


def test_teams_come_from_a_file(script: ModuleType, tmp_path: Path) -> None:
    write_made_up(tmp_path, "runs.gz")
    runs = list(script.own(tmp_path).runs)
    path = tmp_path / "teams.csv"
    path.write_text(
        "run,group\n" + "".join(f"{run},team{i % 2}\n" for i, run in enumerate(runs))
    )
    assert set(script.own(tmp_path, path).groups.values()) == {"team0", "team1"}
    for text, reason in {
        "name,group\na,b\n": "no column 'run'",
        f"run,group\n{runs[0]},a\n{runs[0]},b\n": "is named twice",
        f"run,group\n{runs[0]},a\n": "has no group; add a line for it",
    }.items():
        path.write_text(text)
        with pytest.raises(ValueError, match=reason):
            script.own(tmp_path, path)


# -- the manuscript ----------------------------------------------------------------------------------


def test_the_manuscripts_numbers_are_those_of_the_record(
    script: ModuleType, tmp_path: Path
) -> None:
    sys.modules["write"].main(["--out", str(tmp_path), "--no-figure"])
    for name in ("numbers.tex", "tables.tex"):
        assert (tmp_path / name).read_text(encoding="utf-8") == (
            MANUSCRIPT / name
        ).read_text(encoding="utf-8"), name


def test_the_manuscript_has_no_number_of_its_own(script: ModuleType) -> None:
    text = (MANUSCRIPT / "paper.tex").read_text(encoding="utf-8")
    body = text.split("\\begin{document}")[1].split("\\begin{thebibliography}")[0]
    assert re.findall(r"\d", body) == []
    words = "three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|fifty|hundred|thousand"
    assert (
        re.findall(rf"\b(?:{words})\b", re.sub(r"\\[A-Za-z]+", "", body), re.IGNORECASE)
        == []
    )
    defined = set(
        re.findall(
            r"\\newcommand\{\\(\w+)\}",
            (MANUSCRIPT / "numbers.tex").read_text(encoding="utf-8"),
        )
    )
    used = {
        name for name in re.findall(r"\\([A-Z]\w+)", body) if name not in ("Delta",)
    }
    assert used <= defined
    assert len(used) > 40


def test_what_is_declared_is_what_the_manuscript_lists(script: ModuleType) -> None:
    listed = (MANUSCRIPT / "tables.tex").read_text(encoding="utf-8")
    assert all(str(contrast) in listed for contrast in script.CONFIRMED)
    second = sys.modules["second_round"].SECOND
    assert all(str(contrast).replace("%", r"\%") in listed for contrast in second)


@pytest.mark.parametrize(
    ("verdict", "outcome"),
    [("fails", "mostly failed"), ("holds", "mostly held"), ("", "little")],
)
def test_the_title_follows_the_outcome(
    script: ModuleType, verdict: str, outcome: str
) -> None:
    counts = {"holds": 1, "fails": 1, "cannot tell": 3, "skipped": 0}
    counts |= {verdict: 9} if verdict else {}
    assert outcome in sys.modules["write"].outcome_of(counts)


def test_an_untested_manuscript_says_so(script: ModuleType) -> None:
    record = json.loads(script.RECORDED.read_text(encoding="utf-8")) | {"confirmed": {}}
    macros = sys.modules["write"].numbers(record)
    assert macros["ConfirmedOutcome"] == "an exploratory study"
    assert (
        macros["ConfirmedAbstract"]
        == "The declared contrasts have not been tested yet."
    )


CONTRASTS = [
    row["contrast"]
    for row in json.loads(
        (PAPERS / "missing_labels_recorded.json").read_text(encoding="utf-8")
    )["confirmed"]["trec8-adhoc"]["rows"]
]


def with_three_confirmed(record: dict[str, Any]) -> dict[str, Any]:
    """The record with every verdict there is, in three made-up collections."""
    keys = ("verdict", "value", "low", "high", "too_small")
    told = [
        ("holds", -0.1, -0.15, -0.05, False),
        ("fails", -0.01, -0.015, -0.005, True),
    ]
    told.append(("cannot tell", 0.1, -0.1, 0.3, False))
    kinds: list[dict[str, Any]] = [
        dict(zip(keys, one, strict=True)) | {"depends_on_draws": True} for one in told
    ]
    kinds.append({"verdict": "skipped", "why": "the runs are not deeper than 100"})
    sizes = {"samples": 20, "n_resamples": 1000}
    confirmed = {
        name: {
            "told": name,
            "sizes": sizes,
            "rows": [
                {"contrast": CONTRASTS[i], **kinds[(i + j) % 4]}
                for i in range(len(CONTRASTS))
            ],
        }
        for j, name in enumerate(
            ("first-collection-2019", "second-collection-2020", "third-collection-2022")
        )
    }
    return record | {"confirmed": confirmed, "by_runs": []}


def test_verdicts_are_tabulated_by_number(script: ModuleType) -> None:
    record = json.loads(script.RECORDED.read_text(encoding="utf-8"))
    written = sys.modules["write"].tables(with_three_confirmed(record))
    table = written[: written.index("tab:second")].rpartition(r"\begin{table}")[0]
    table = table[table.rindex(r"\begin{table}") :]
    rows = re.findall(r"^ *(\d) & (.*) \\\\$", table, re.MULTILINE)
    assert [number for number, _ in rows] == list("12345678")
    assert [cell.strip() for cell in rows[1][1].split(" & ")][:2] == [
        "fails, small{*}",
        "$-$0.010 ± 0.005",
    ]
    assert [cell.strip() for cell in rows[3][1].split(" & ")][:2] == ["skipped", ""]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("latexmk") is None, reason="TeX is not installed")
@pytest.mark.parametrize("tested", [False, True], ids=["open", "three collections"])
def test_the_manuscript_builds(
    script: ModuleType, tested: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(MANUSCRIPT / "paper.tex", tmp_path)
    if tested:
        record = with_three_confirmed(
            json.loads(script.RECORDED.read_text(encoding="utf-8"))
        )
        (tmp_path / "record.json").write_text(json.dumps(record), encoding="utf-8")
        monkeypatch.setattr(sys.modules["write"], "RECORDED", tmp_path / "record.json")
    sys.modules["write"].main(["--out", str(tmp_path)])
    command = ["latexmk", "-pdf", "-interaction=nonstopmode", "paper.tex"]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, done.stdout[-2000:]
    log = (tmp_path / "paper.log").read_text(encoding="latin-1")
    assert int(re.search(r"\((\d+) pages", log)[1]) <= 5  # type: ignore[index]
    assert "undefined" not in log
    assert [
        float(wide)
        for wide in re.findall(r"Overfull \\hbox \(([\d.]+)pt", log)
        if float(wide) > 2
    ] == []
