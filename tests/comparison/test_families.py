"""Corrections over the pairs of one criterion, or over all criteria."""

from pathlib import Path

import numpy as np
import pytest

import ir_lexirecall as irl
from ir_lexirecall.cli import main
from ir_lexirecall.present.standings import _families_sentence
from ir_lexirecall.significance import SignificanceTest, corrected

BY = ["AP", "RR", "nDCG@10", "lexirecall"]


def compared(family="criterion", by=BY, **how):
    test = SignificanceTest(how.pop("name", None), family=family, **how)
    return irl.compare(
        "lexirecall/demo", irl.demo.runs(), by, baseline="bm25", test=test
    )


@pytest.mark.sparse
@pytest.mark.parametrize("correction", ["holm", "bonferroni", "fdr_bh", None])
@pytest.mark.parametrize("baseline", [None, "bm25"])
def test_the_family_of_all_criteria_is_corrected_together(correction, baseline):
    tables = {}
    for family in ("criterion", "all"):
        test = SignificanceTest(correction=correction, family=family)
        result = irl.compare(
            "lexirecall/demo", irl.demo.runs(), BY, baseline=baseline, test=test
        )
        tables[family] = result.table()
    single, together = tables["criterion"], tables["all"]
    adjusted, reject = corrected(single["p"].to_numpy(), correction, 0.05)
    np.testing.assert_allclose(single["p_corrected_all"], adjusted)
    np.testing.assert_allclose(together["p_corrected_all"], adjusted)
    np.testing.assert_allclose(together["p_corrected"], adjusted)
    assert ((together["verdict"] != "undecided") == reject).all()
    for name, rows in single.groupby("criterion", sort=False):
        one = irl.compare(
            "lexirecall/demo",
            irl.demo.runs(),
            name,
            baseline=baseline,
            test=SignificanceTest(correction=correction),
        ).table()
        np.testing.assert_allclose(rows["p_corrected"], one["p_corrected"])
        assert rows["verdict"].tolist() == one["verdict"].tolist()
        assert "p_corrected_all" not in one


def test_every_text_says_how_criteria_are_corrected():
    left = "each criterion tested by itself; corrected over all four: "
    result = compared()
    for text in (result.summary(full=True), result.to_markdown(), result.to_latex()):
        assert left in " ".join(text.lower().split())
    together = compared("all")
    together_in_full = "Holm's correction for 16 comparisons over all 4 criteria"
    for text, family in (
        (str(together), "Holm's correction over all 4 criteria"),  # on one screen
        (together.summary(full=True), together_in_full),
        (together.to_markdown(), together_in_full),
    ):
        assert "by itself" not in text
        assert family in " ".join(text.split())
    for text in (str(compared(by="AP")), compared(by="AP").to_markdown()):
        assert "tested by itself" not in text
    uncorrected = compared(correction=None)
    assert "each criterion tested by itself, without a correction" in str(uncorrected)


def test_two_runs_name_the_criteria_that_are_left():
    rng = np.random.default_rng(0)
    x = rng.normal(0, 0.1, 30)
    x -= x.mean()
    error = x.std(ddof=1) / np.sqrt(30)
    gains = {"x": 5 * error, "y": 2.2 * error, "z": 0.1 * error}  # in standard errors
    values = {
        "a": {
            f"q{q}": {n: 0.5 + d + gain for n, gain in gains.items()}
            for q, d in enumerate(x)
        },
        "b": {f"q{q}": dict.fromkeys(gains, 0.5) for q in range(30)},
    }
    result = irl.compare(values=values)
    assert (result.table()["p"] <= 0.05).tolist() == [True, True, False]
    left = "each criterion tested by itself; corrected over all three: still significant by x"
    assert left in " ".join(result.summary(full=True).split())


@pytest.mark.parametrize(
    ("left", "words"),
    [
        ({"x": 0, "y": 0}, "no significant difference"),
        ({"x": 1, "y": 1}, "1 of 4 pairs by each"),
        ({"x": 2, "y": 2}, "2 of 4 pairs by each"),
        ({"x": 0, "y": 1}, "1 of 4 pairs by y"),
        ({"x": 3, "y": 1}, "3 of 4 pairs by x and 1 by y"),
    ],
)
def test_numbers_that_are_left_are_sentences(left, words):
    said = _families_sentence(left, 4)
    assert said == f"each criterion tested by itself; corrected over both: {words}"


def test_undefined_criteria_take_no_part():
    qrels = {f"q{i}": {"a": 1} for i in range(8)}
    runs = {
        n: {q: {"a": 1.0, "b": s} for q in qrels} for n, s in (("x", 0.5), ("y", 2.0))
    }
    result = irl.compare(qrels, runs, ["AP", "RR"])
    assert result.compared.defined_criteria == ["AP", "RR"]


def test_groups_are_corrected_together_with_the_criteria():
    groups = {f"q{i:02}": "first" if i <= 8 else "second" for i in range(1, 17)}
    test = SignificanceTest(family="all")
    result = irl.compare(
        "lexirecall/demo",
        irl.demo.runs(),
        ["AP", "RR"],
        baseline="bm25",
        test=test,
        groups=groups,
    )
    table = result.group_table()
    np.testing.assert_allclose(
        table["p_corrected"], corrected(table["p"].to_numpy(), "holm", 0.05)[0]
    )


def test_margins_are_corrected_over_all_criteria_as_before():
    tables = [
        irl.compare(
            "lexirecall/demo",
            irl.demo.runs(),
            BY,
            baseline="bm25",
            margin=0.05,
            test=SignificanceTest(family=family),
        ).table()
        for family in ("criterion", "all")
    ]
    columns = ["worse_p", "better_p", "within_p", "not_worse_p", "verdict"]
    assert tables[0][columns].equals(tables[1][columns])


def test_a_benchmark_corrects_over_all_criteria():
    collections = {"x": irl.demo.qrels(), "y": irl.demo.qrels()}
    runs = {name: irl.demo.runs() for name in collections}
    tables = {}
    for family in ("criterion", "all"):
        test = SignificanceTest(family=family, n_resamples=999)
        result = irl.benchmark(
            collections, runs, ["AP", "RR"], baseline="bm25", test=test
        )
        tables[family] = result.overall()
        said = "ach criterion tested by itself; corrected over both: "
        assert (
            (said in result.summary(full=True))
            == (said in result.to_markdown())
            == (family == "criterion")
        )
    for table in tables.values():
        tested = table[table["run"] != "bm25"]
        adjusted, reject = corrected(tested["p"].to_numpy(), "holm", 0.05)
        np.testing.assert_allclose(tested["p_corrected_all"], adjusted)
    assert ((tested["verdict"] != "undecided") == reject).all()


@pytest.mark.parametrize("word", ["ALL", "criteria", "", None, 1])
def test_unknown_families_are_refused(word):
    with pytest.raises(ValueError, match="SignificanceTest: unknown family"):
        SignificanceTest(family=word)


def test_the_command_line_has_families(capsys):
    folder = Path(irl.demo.__file__).parent / "runs"
    runs = [str(folder / f"{name}.run") for name in ("bm25", "ql")]
    command = ["compare", "lexirecall/demo", *runs, "--baseline", "bm25"]
    assert main([*command, "-m", "AP RR", "--family", "all"]) == 0
    assert "over all 2 criteria" in " ".join(capsys.readouterr().out.split())


def test_exchangeable_runs_by_five_measures():
    """Any of five measures differs in 0.13 to 0.19 by itself, and in 0.05 over all."""
    rng = np.random.default_rng(0)
    single = together = 0
    samples = 1000
    for _ in range(samples):
        shared = rng.normal(size=(1, 40))
        x = 0.6 * shared + 0.8 * rng.normal(size=(5, 40))
        p = SignificanceTest("t").of_pairs(x).p
        single += (p <= 0.05).any()
        together += corrected(p, "holm", 0.05)[1].any()
    assert 0.11 <= single / samples <= 0.22
    assert together / samples <= 0.06
