"""The example scripts run, and print what they promise."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ir_lexirecall.pt_docs.placeholders import verdicts

pytestmark = pytest.mark.slow_except(
    "test_scores_of_reranked_tops_tie_where_preferences_do_not"
)

EXAMPLES = Path(__file__).parents[2] / "examples"


def printed_by(script: str, *arguments: str) -> str:
    command = [sys.executable, "-W", "ignore", str(EXAMPLES / script), *arguments]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def shown_by(tutorial: str, **environment: str) -> str:
    """What the cells of a tutorial print and show, without the larger data that a developer may have."""
    command = [
        sys.executable,
        str(Path(__file__).parents[1] / "support" / "cells.py"),
        str(EXAMPLES / "tutorials" / f"{tutorial}.py"),
    ]
    plain = {"IR_DATASETS_HOME": os.devnull, "IR_LEXIRECALL_DATA": os.devnull}
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **plain, **environment},
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_scores_of_reranked_tops_tie_where_preferences_do_not() -> None:
    printed = printed_by("reranking.py")
    assert "TSE            0" in printed
    assert "LexiRecall     0" in printed
    assert "  23      27     0" in printed


def test_the_experiment_shows_standard_and_exact_results_in_one_table() -> None:
    pytest.importorskip("pyterrier.measures")
    printed = printed_by("pyterrier_experiment.py")
    assert "nDCG@10" in printed
    assert "pref:lexirecall p-value corrected" in printed
    assert "pref:lexirecall p-value (ql)" in printed


def test_a_benchmark_of_many_collections(tmp_path: Path, data: Any) -> None:
    arguments = ["--n-resamples", "200", "--plots", str(tmp_path)]
    printed = printed_by("benchmark_suite.py", *arguments)
    assert "The embedded collection by subject: nature, kitchen, body" in printed
    assert "Friedman's test by nDCG@10" in printed
    assert {file.name for file in tmp_path.iterdir()} == {
        "forest.svg",
        "ranks.svg",
        "cd.svg",
    }
    folder = str(Path(data.path("robust2003")).parent)
    printed = printed_by("benchmark_suite.py", "--n-resamples", "50", "--data", folder)
    assert "web 2012   nDCG@10  ql 0.123" in printed
    assert "vaswani    bm25          0.361  0.904" in printed
    assert "Four runs each of TREC 2003 Robust and CLEF eHealth 2016" in printed


def test_retrieval_from_an_id_to_what_decided(tmp_path: Path) -> None:
    pytest.importorskip("bm25s")
    pytest.importorskip("pyterrier.measures")
    printed = printed_by("retrieval_experiment.py", "--plots", str(tmp_path))
    assert "lexirecall/demo: 90 documents, 16 queries" in printed
    assert "What decided between bm25 and bm25 >> coverage" in printed
    assert {file.name for file in tmp_path.iterdir()} == {"preferences.svg", "pair.svg"}


def test_the_embedded_runs_are_what_the_script_makes(tmp_path: Path) -> None:
    runs = Path(__file__).parents[2] / "ir_lexirecall" / "data" / "demo" / "runs"
    printed_by("make_demo_runs.py", "--out", str(tmp_path))
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == {
        file.name: file.read_bytes() for file in runs.iterdir()
    }


def test_the_picture_of_the_readme_says_what_is_drawn_of_the_embedded_collection(
    tmp_path: Path,
) -> None:
    printed_by("make_overview.py", "--out", str(tmp_path))
    for drawn in tmp_path.iterdir():
        stored = EXAMPLES.parent / "ir_lexirecall" / "pt_docs" / drawn.name
        titles = [
            re.findall("<title>(.+)</title>", path.read_text(encoding="utf-8"))
            for path in (drawn, stored)
        ]
        assert titles[0] == titles[1] != []


# -- tutorials ---------------------------------------------------------------------------------------


def test_pipelines_up_to_a_papers_table(tmp_path: Path) -> None:
    for package in ("pyterrier.measures", "bm25s", "sklearn"):
        pytest.importorskip(package)
    shown = shown_by("pyterrier_pipelines", IR_DATASETS_HOME=str(tmp_path))
    assert "lexirecall/demo: 90 documents, 16 queries" in shown
    assert "Only 8 queries: tests detect only large differences." in shown
    assert re.search(
        r"b & BM25 \+ letters +& +0.593 & \\textbf{0.887} & \\textbf{0.044}", shown
    )


def test_pipelines_on_vaswani_show_what_the_page_says_of_it(data: Any) -> None:
    for package in ("pyterrier.measures", "bm25s", "sklearn"):
        pytest.importorskip(package)
    shown = shown_by(
        "pyterrier_pipelines", IR_DATASETS_HOME=data.path("ir_datasets_home")
    )
    assert "vaswani: 11429 documents, 93 queries" in shown
    for system, value, wins in (
        ("letters", "0.279", "35.0"),
        ("BM25 + letters", "0.380", "37.0"),
    ):
        assert re.search(rf"& {re.escape(system)} +& +{value}", shown)
        assert re.search(rf"^{re.escape(system)} +0\.\d+ +{wins}", shown, re.MULTILINE)


def test_predictions_of_an_embedding_model() -> None:
    pytest.importorskip("sklearn")
    shown = shown_by("mteb_predictions")
    values = re.findall(r"nDCG@10 +([\d.]+)\n", shown)
    assert (
        values[1] == values[2]
    )  # MTEB's file and sentence-transformers' hold the same run
    assert float(values[0]) < float(values[1])  # documents that find themselves
    trained = "dev_cosine_LR = 0." in shown
    assert trained != ("sentence-transformers is not installed" in shown)


def test_recommenders_without_lenskit() -> None:
    shown = shown_by("lenskit_movielens")
    assert "Made-up ratings: 14353 films liked by 300 users" in shown
    assert re.search(r"EASE +0.505 +0.966 +0.873 +0.114", shown)
    assert ("LensKit is not installed" in shown) != ("RBP(p=0.9)" in shown)


def test_recommenders_on_movielens(data: Any) -> None:
    shown = shown_by(
        "lenskit_movielens",
        IR_LEXIRECALL_DATA=str(Path(data.path("movielens-small")).parent),
    )
    assert "MovieLens: 43362 films liked by 554 users" in shown


def test_models_of_systematic_reviews() -> None:
    pytest.importorskip("sklearn")
    shown = shown_by("systematic_reviews", OMP_NUM_THREADS="1")
    loss = {
        name: float(value)
        for name, value in re.findall(
            r"^(\S[\w ]+?) +\{.*'RecallLoss': ([\d.]+)", shown, re.MULTILINE
        )
    }
    assert loss["logistic"] < loss["naive Bayes"] < 0.2 < 0.4 < loss["chance"]
    assert re.search(r"logistic +chance +14 +0 +0", shown)


def test_missing_judgments_and_two_judges() -> None:
    pytest.importorskip("krippendorff")
    pytest.importorskip("matplotlib")
    shown = shown_by("missing_judgments")
    assert "depth 20: at most one run can win on 7 queries, either on 9" in shown
    assert "open before: 9, after 50 judgments: 6" in shown
    careless, partial = (
        np.array(re.findall(r"^ *\d +(\d.+)$", part, re.MULTILINE)[:3])
        for part in shown.split("partial\n")
    )
    kappa, kept = (
        [
            [float(line.split()[column]) for line in judge]
            for judge in (careless, partial)
        ]
        for column in (0, 3)
    )
    assert sum(kappa[1]) > sum(kappa[0])
    assert sum(kept[1]) < sum(kept[0]) == 12
    estimate, all_people, program = (
        float(re.findall(r"overlap +(.+)$", shown, re.MULTILINE)[-1].split()[i])
        for i in (0, 5, 6)
    )
    assert abs(estimate - all_people) < 0.05 < abs(program - all_people)


def test_missing_judgments_on_robust(data: Any) -> None:
    pytest.importorskip("krippendorff")
    pytest.importorskip("matplotlib")
    shown = shown_by(
        "missing_judgments",
        IR_LEXIRECALL_DATA=str(Path(data.path("robust2003")).parent),
    )
    for depth, certain in ((10, 100), (100, 88), (1000, 0)):
        assert (
            f"depth {depth}: at most one run can win on {certain} queries, either on {100 - certain}"
            in shown
        )
    assert "open before: 12, after 50 judgments: 8" in shown


def test_what_may_be_concluded_from_several_collections() -> None:
    shown = shown_by("several_collections")
    for line in (
        r"twin +equal +[\d.]+ +[\d.]+ +no difference shown",
        r"better +better everywhere +0.0\d+ +0.0\d+ +a difference on these and on others",
        r"specialist +depends +0.0\d+ +[\d.]+ +a difference on these collections only",
        r"worse +worse everywhere +0.0\d+ +0.0\d+ +a difference on these and on others",
    ):
        assert re.search(line, shown)


def test_a_measure_from_its_definition_to_a_paragraph() -> None:
    shown = shown_by("proposing_a_measure")
    assert re.search(
        r"strict swap +\[1 1 0\] scores 1, not more than \[1 0 1\], 1", shown
    )
    table = shown[shown.index("axioms failed") :]
    fails, power = (
        {
            m: float(re.search(rf"{m} +(\S+) +\S+ +(\S+)", table)[column])
            for m in ("HalfRecall", "AnyShare", "AP")
        }  # type: ignore[index]
        for column in (1, 2)
    )
    assert fails["AnyShare"] < fails["HalfRecall"]
    assert power["HalfRecall"] < power["AnyShare"] < power["AP"]


def test_the_index_lists_every_example() -> None:
    index = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"\]\(([\w/]+\.py)\)", index))
    assert listed == {
        path.relative_to(EXAMPLES).as_posix() for path in EXAMPLES.rglob("*.py")
    }


# -- papers ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("paper", "lines"),
    [
        (
            "ferrante_2015 --topics 100 --repetitions 60 --cases 10",
            [
                "Equation 1: 81 of 81 rankings",
                "r <= s holds for 2307 ordered pairs; swaps and replacements lead from r to s in 2307, the same: True",
                "a=10: n = 5, 10, 20, 50, 100: [5, 10, 19, 49, 99] and [5, 10, 19, 49, 99]",
                "x=1/16, n = 10, 100: Algorithm 1 [3, 7]; exponent k-b [3, 7]; printed exponent k-1 [3, 4]",
                "Equation 1 for sets: 81 of 81",
                "12 of 14 printed numbers agree",
                "25 of 28 claims hold, 3 fail, 0 cannot be decided",
            ],
        ),
        (
            "amigo_2018",
            [  # the marks beside the printed ones are counted among the numbers that agree
                "RBU@k         +        +        +        +        +        +        +        +        +        + -      +",
                "RBU(gain='exp'): top grade satisfies with probability 1/2: 0.1980, then 0.2715: fails",
                "RBU(gain='linear'): top grade satisfies with probability 1: 0.4455, then 0.3965: holds",
                "holds  Property 4 of MU: a copy of another measure changes nothing (0.4150, 0.4150)",
                "cut at 0..50          0.9386     0.9386        1.0000       1.0000",
                "RBU(p=0.5)            +        +        +        -        +        +        +        +        +        -        +",
                "18 of 43 claims hold, 8 fail, 17 cannot be decided",
                "175 of 201 printed numbers agree",
                "in the narrower reading, unseen elsewhere, 183 of 201 agree",
            ],
        ),
        (
            "diaz_2026 --queries 4000 --cases 10",
            [
                "100000 10          0 5.263e-05         0.826  0.8263        0.998  0.998   0",
                "  strictly increasing in swapping up    - -         + +         - -         - +",
                "20000    0.8179 0.9926 1.0000      0.0615",
                "(exact 0.9803; a misprint)",
                "eps=0.1 6307 of 6307; eps=0.5 6307 of 6307; eps=0.9 6307 of 6307",
                "recorded numbers, not computed now",
                "FAILS  6.2.1, MovieLens: nDCG's agreement rises with depth (0.924, 0.871, 0.734)",
                "cannot tell  6.2.3, MovieLens: Figure 13: the lead shrinks as depth decreases (+0, +2, -1) (one pair",
                "38 of 88 claims hold, 11 fail, 39 cannot be decided",
                "123 of 127 printed numbers agree",
            ],
        ),
        (
            "azzopardi_2021",
            [
                "ERR                       0.2971   0.5885   0.9347",
                "6 of 6 printed numbers agree",
                "Equation 6: k=10^2 0.574365, k=10^4 0.416974, k=10^6 0.327214",
                "3 of 3 statements agree with the paper's own tables",
                "6 of 14 claims hold, 0 fail, 8 cannot be decided",
            ],
        ),
        (
            "missing_labels",
            [
                "Recorded numbers, not computed now (draws of labels: 20, resamples: 2,000)",
                "Robust 2003, old topics: 50 queries, 4416 relevant documents, 15 runs of 15 groups, depth 1000",
                "MovieLens, pooled: 656 queries, 6433 relevant documents, 12 runs of 6 groups",
                "What holds on these collections (exploratory)",
                "Declared for --confirm, before any further collection is looked at",
                "decisions kept, pool of depth 10: lexirecall - AP is less than 0, by 0.03 at least",
            ],
        ),
        (
            "maistro_2021",
            [
                "Table 3, AP: 73 of 75 values agree",
                "MM here is half of Eq. 6: 13 of 15 cells agree. By Eq. 6 as printed, 5 do",
                "MM here is half of Eq. 6: 15 of 15 cells agree. By Eq. 6 as printed, 1 do",
                "16 of 19 statements agree with the paper's own tables",
                "157 of 159 printed numbers agree",
                "22 cells (MM, Table 3) agree by half of Eq. 6; by Eq. 6 as printed, 6 of MM's 30 cells agree",
            ],
        ),
    ],
)
def test_papers_numbers_stand_beside_ours(paper: str, lines: list[str]) -> None:
    name, *options = paper.split()
    printed = printed_by(f"papers/{name}.py", *options)
    assert [line for line in lines if line not in printed] == []
    if name != "missing_labels":  # nothing is printed to compare it with
        agree, total = re.findall(r"(\d+) of (\d+) printed numbers agree", printed)[-1]
        assert re.match(
            rf"Of {total} printed numbers .*?\b{agree} are reproduced",
            first_paragraph(name),
        )
    page = f"{ast.get_docstring(ast.parse((EXAMPLES / 'papers' / f'{name}.py').read_text(encoding='utf-8')))} {verdicts(printed)}"
    assert len(page.split()) <= 2000
    if name == "ferrante_2015":
        assert_says_how_many_claims_hold(name, printed)


def first_paragraph(paper: str) -> str:
    """What a page says first, below its title."""
    text = (EXAMPLES / "papers" / f"{paper}.py").read_text(encoding="utf-8")
    return " ".join(text.split("\n\n")[1].split())


def assert_says_how_many_claims_hold(paper: str, printed: str) -> None:
    held, total, failed, open_ = re.findall(
        r"(\d+) of (\d+) claims hold, (\d+) fail, (\d+) cannot be decided", printed
    )[-1]
    said = rf"\b[Oo]f {total} claims\b[^.;]* {held} hold, {failed} fail and {open_} cannot be decided"
    assert re.search(said, first_paragraph(paper))


@pytest.mark.parametrize(
    ("paper", "folder", "lines", "pictures"),
    [
        (
            "diaz_2026 --queries 4000 --cases 10",
            "robust2003",
            [
                "lexirecall                               0.0007             102",
                "R@1000                   1.0000          0.1674              97",
                "AP                       0.7972          0.0007              88",
                "lexirecall   102  108         83",
                "lexirecall and the better one of R@1000 and RP: sign 102 : 102, level; t 108 : 97, ahead; Tukey HSD 83 : 68, ahead",
                "sign 72 : 72, t 78 : 69, Tukey HSD 63 : 51",
                "(half removed: 0.686; at random 0.885)",
                "FAILS  6.2.3, retrieval: Figure 13: the lead shrinks as depth decreases (+17, +15 pairs)",
                "holds  6.2.3, retrieval: Figure 13: it is that of earlier preferences (rpp 79, AP 67)",
                "77 of 120 claims hold, 29 fail, 14 cannot be decided",
            ],
            15,
        ),
        (
            "amigo_2018",
            "web2014-diversity",
            [
                "cut at 0..50: RBU is strictly ahead of all other measures, the best of which are EU (0.9854, 0.9854)",
                "26 of 67 claims hold, 14 fail, 27 cannot be decided",
            ],
            3,
        ),
        (
            "azzopardi_2021",
            "robust2003",
            [
                "17 runs, 100 topics",
                "With ERR of top grade 3, the best cutoffs k of E8 and E9 are [3, 5, 7, 20]; of the paper's four best cutoffs k, "
                "[3, 5, 7, 20], 4 are",
                "Fitted on the 50 old topics, tested on the 50 new ones, ERR of top grade 3",
                "0.0030 is lost at most by fitting on the old ones",
                "16 of 19 claims hold, 0 fail, 3 cannot be decided",
            ],
            4,
        ),
        (
            "missing_labels --samples 1 --resamples 40",
            "robust2003",
            [
                "Robust 2003, old topics: 50 queries, 4416 relevant documents, 15 runs of 15 groups, depth 1000",
                "Robust 2003, new topics: 50 queries, 1658 relevant documents, 15 runs of 15 groups, depth 1000",
                "CLEF eHealth 2016: 50 queries, 3706 relevant documents, 14 runs of 5 groups, depth 1000",
                "MovieLens, deep: 656 queries, 10522 relevant documents, 12 runs of 6 groups",
                "MovieLens, pooled: 656 queries, 6433 relevant documents, 12 runs of 6 groups",
                "66: 0.288, 0.000",
                "63: 0.476, 0.000",
                "What holds on these collections (exploratory)",
            ],
            1,
        ),
        (
            "maistro_2021",
            "clef-ehealth-2016",
            [
                "77.10 75.85 77.78 78.17 78.45",
                "  AP     CAM 0.9946 0.928        58 %      0 %",
                "the 39477 labels above 0 of the 21294 documents that are not relevant are taken as 0",
                "EUCL-MANH     0.19 to 1.00             0.983   1.00 to 1.00           1.000",
                "11 of 24 claims hold, 12 fail, 1 cannot be decided",
            ],
            8,
        ),
    ],
)
def test_papers_analyses_on_real_runs(
    paper: str, folder: str, lines: list[str], pictures: int, data: Any, tmp_path: Path
) -> None:
    pytest.importorskip("matplotlib")
    name, *options = paper.split()
    printed = printed_by(
        f"papers/{name}.py",
        str(Path(data.path(folder)).parent),
        "--plots",
        str(tmp_path),
        *options,
    )
    assert [line for line in lines if line not in printed] == []
    assert len(list(tmp_path.iterdir())) == pictures
    if name in ("amigo_2018", "azzopardi_2021", "diaz_2026", "maistro_2021"):
        assert_says_how_many_claims_hold(name, printed)


def test_numeric_properties_and_equally_spaced_values() -> None:
    printed = printed_by("papers/further.py", "--cases", "2")
    assert re.search(r"RBP\(p=0.8\)(?: +\+){6} +-", printed)  # all but the last
    assert re.search(r"TSE(?: +\+){2}(?: +-){5}", printed)
    for measure, is_spaced, is_interval in (
        ("P@5", True, False),
        ("RBP(p=0.5,rel=1)", True, True),
        ("RBP(p=0.8,rel=1)", False, False),
        ("AP", False, False),
    ):
        line = rf"^ *{re.escape(measure)} .* {is_spaced} +{is_interval}$"
        assert re.search(line, printed, re.MULTILINE)


def test_further_papers_on_robust_and_clef(data: Any) -> None:
    printed = printed_by(
        "papers/further.py", str(Path(data.path("robust2003")).parent), "--samples", "1"
    )
    for line in (
        r"rpp +AP +0.8970 +0.0184 +0.0007 +98 +88",
        r"lexiprecision +RR +1.0000 +0.0007 +0.4062 +32 +23",
        r"lexirecall +R@1000 +1.0000 +0.0007 +0.1674 +102 +97",
        r"rpp +AP +[\d. ]+ 90 +86",
        r"lexiprecision +RR +1.0000 +[\d. ]+ 61 +46",
        r"100 +0.5471 +40.6471 +-0.0071 +-0.0339",
    ):
        assert re.search(line, printed)
    tau = {
        name: list(map(float, of.split()))
        for name, of in re.findall(
            r"^(AP|Bpref|infAP) +([\d. ]+)$", printed, re.MULTILINE
        )
    }
    assert tau["infAP"][-1] > tau["AP"][-1]  # what it was made for


def test_recommenders_are_studied_as_runs_are(data: Any, tmp_path: Path) -> None:
    pytest.importorskip(
        "lenskit.metrics", reason="LensKit is not installed"
    )  # a folder of tests is called lenskit
    pytest.importorskip("matplotlib")
    (tmp_path / "movielens-small").symlink_to(data.path("movielens-small"))
    options = [
        "--users",
        "40",
        "--queries",
        "100",
        "--cases",
        "1",
        "--resamples",
        "50",
        "--plots",
    ]
    printed = printed_by(
        "papers/diaz_2026.py", str(tmp_path), *options, str(tmp_path / "plots")
    )
    assert "The folder has no robust2003" in printed
    assert "MovieLens: 40 users" in printed
    assert "holds  6.2.1, MovieLens: R@1000 agrees most, at every depth" in printed
    assert len(list((tmp_path / "plots").iterdir())) == 5 + 2 * 3 * 2
