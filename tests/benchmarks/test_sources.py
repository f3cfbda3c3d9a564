"""What a TOML file says of the test stays where a call, or the command line, names another test."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import ir_lexirecall as irl
from ir_lexirecall import demo

FILE = {"correction": "holm-sidak", "alpha": 0.2, "n_resamples": 150, "seed": 7}


def written(folder: Path, **more: Any) -> str:
    """Write a benchmark of the demo whose file says everything about the test; return its path."""
    facts = {"by": "LR", "baseline": "bm25", "test": "sign", **FILE, **more}
    lines = [
        f"{key} = {str(value).lower() if value is True else repr(value)}"
        for key, value in facts.items()
    ]
    lines += ["[collections]", 'demo = "lexirecall/demo"', "[runs.demo]"]
    lines += [
        f"{name} = '{demo.FOLDER / 'runs' / f'{name}.run'}'"
        for name in ("bm25", "ql", "tfidf")
    ]
    path = folder / "suite.toml"
    path.write_text("\n".join(lines) + "\n")
    return str(path)


@pytest.mark.parametrize(
    "name", ["t", "sign", "wilcoxon", "bootstrap", "randomisation", "tukey"]
)
def test_a_name_changes_the_name_alone(name: str, tmp_path: Path) -> None:
    test = irl.benchmark(written(tmp_path), test=name).test
    assert test == irl.SignificanceTest(name, **FILE)


def test_a_path_and_other_arguments_keep_the_test(tmp_path: Path) -> None:
    result = irl.benchmark(
        Path(written(tmp_path)), by="AP", baseline="ql", test="wilcoxon"
    )
    assert result.test == irl.SignificanceTest("wilcoxon", **FILE)
    assert result["demo"].test == result.test
    assert irl.benchmark(written(tmp_path)).test == irl.SignificanceTest("sign", **FILE)


def test_a_whole_test_replaces_that_of_the_file(tmp_path: Path) -> None:
    whole = irl.SignificanceTest("t", alpha=0.01)
    assert irl.benchmark(written(tmp_path), test=whole).test == whole


def test_units_of_the_file_stay(tmp_path: Path) -> None:
    groups = tmp_path / "groups.csv"
    ids = sorted(demo.qrels()["query_id"].unique())
    groups.write_text(
        "query_id,group\n" + "".join(f"{q},{i // 2}\n" for i, q in enumerate(ids))
    )
    path = written(tmp_path, test="randomisation", cluster=True, groups="groups.csv")
    named = irl.benchmark(path, test="bootstrap").test
    assert named == irl.SignificanceTest("bootstrap", cluster=True, **FILE)
    whole = irl.benchmark(path, test=irl.SignificanceTest("bootstrap")).test
    assert whole == irl.SignificanceTest("bootstrap", cluster=True)
    with pytest.raises(ValueError, match=r"^benchmark: groups of queries are units of"):
        irl.benchmark(path, test="t")


def test_a_misspelt_name_is_an_error_of_benchmark(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"^benchmark: unknown test 'wilcoxn'"):
        irl.benchmark(written(tmp_path), test="wilcoxn")


def test_arguments_hold_over_the_file_also_where_they_are_the_default(
    tmp_path: Path,
) -> None:
    path = written(tmp_path, missing="skip")
    text = Path(path).read_text()
    other = 'other = "lexirecall/demo"\n[runs.demo]'
    text = text.replace("[runs.demo]", other)
    text += f"[runs.other]\nbm25 = '{demo.FOLDER / 'runs' / 'bm25.run'}'\n"
    Path(path).write_text(text)
    assert irl.benchmark(path).runs == ["bm25"]
    with pytest.raises(ValueError, match="lacks run 'ql'"):
        irl.benchmark(path, missing="error")


def test_a_file_nested_too_deeply_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "suite.toml"
    path.write_text("x = " + "[" * 100_000)
    with pytest.raises(ValueError, match=f"{path}: nested too deeply"):
        irl.benchmark(str(path))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a." * 200_000 + "a = 1", "line 1: a name with more than 100 dots"),
        ("# ok\n[" + "a." * 101 + "a]", "line 2: a name with more than 100 dots"),
        ("x = {y = 1, " + '"a".' * 101 + "a = 1}", "line 1: a name with more"),
        (" " * 2**22, "is too large"),
    ],
    ids=["key", "table", "inline", "blanks"],
)
def test_a_file_that_takes_minutes_to_read_is_refused(
    content: str, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "suite.toml"
    path.write_text(content)
    with pytest.raises(ValueError, match=f"^benchmark: {path}.*{message}"):
        irl.benchmark(path)


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/full", "/dev/urandom"])
def test_a_link_to_a_device_is_refused(device: str, tmp_path: Path) -> None:
    if not Path(device).exists():
        pytest.skip("there is no such device")
    path = tmp_path / "suite.toml"
    path.symlink_to(device)
    with pytest.raises(ValueError, match=f"{path} is a device, not a file"):
        irl.benchmark(path)


def test_a_comment_of_dots_is_none(tmp_path: Path) -> None:
    path = tmp_path / "suite.toml"
    path.write_text(f"# {'.' * 200}\n")
    with pytest.raises(ValueError, match="there is no collections"):
        irl.benchmark(path)


@pytest.mark.parametrize("name", ["qrels.txt", "qrels.csv"])
@pytest.mark.parametrize("beside", [True, False])
def test_qrels_among_runs_do_not_hide_them(
    name: str, beside: bool, tmp_path: Path
) -> None:
    collection = tmp_path / "web"
    (collection / "runs").mkdir(parents=True)
    (collection / "qrels.txt").write_text("q 0 a 1\n")
    (collection / "runs" / "x.run").write_text("q Q0 a 1 1 x\n")
    if beside:
        (collection / "y.run").write_text("q Q0 a 1 1 y\n")
    (collection / "runs" / name).write_text("q 0 a 1\n")
    for source in (tmp_path, collection) if beside else (tmp_path,):
        with pytest.raises(
            ValueError, match=f"runs/{name}: qrels among runs, .*; take"
        ):
            irl.benchmark(source, by="AP")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("[runs.c]", "there are no runs for collection 'a', nor for 'c'"),
        ("[runs.c]\nbm25 = 'bm25.run'", "there are no runs for collection 'a'"),
        ("[runs.b]\nbm25 = 'bm25.run'", "runs of an unknown collection, 'b'"),
        ("by = 'nDGC@10'\n[runs.a]", "unknown measure 'nDGC@10'; did you mean nDCG@10"),
        ("by = ['AP', 'lexirecal']\n[runs.a]", "unknown measure 'lexirecal'"),
        ("alpha = 2\n[runs.a]", "alpha must be"),
        ("test = 'anova'\n[runs.a]", "unknown test 'anova'"),
        ("correction = 'bonf2'\n[runs.a]", "unknown correction 'bonf2'"),
        ("family = 'some'\n[runs.a]", "unknown family 'some'"),
        ("seed = -1\n[runs.a]", "seed must be"),
        ("over = 'documents'\n[runs.a]", "unknown over 'documents'"),
        ("missing = 'ignore'\n[runs.a]", "unknown missing 'ignore'"),
        ("trec_eval = 8\n[runs.a]", "trec_eval must be 9"),
    ],
)
def test_what_is_wrong_in_a_file_is_said_with_its_name(
    more: str, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "suite.toml"
    collections = '[collections]\na = "lexirecall/demo"\nc = "lexirecall/demo"\n'
    keys, _, tables = more.rpartition("[runs")
    path.write_text(f"{keys}\n{collections}\n[runs{tables}\n")
    with pytest.raises(ValueError, match=f"^benchmark: {path}: {message}"):
        irl.benchmark(path)
