"""Every file of a folder of runs is a run, or is named as left out, or is an error."""

from __future__ import annotations

import gzip
import os
import warnings
from pathlib import Path

import pandas as pd
import pytest

import ir_lexirecall as irl
from ir_lexirecall.cli.arguments import run_names
from ir_lexirecall.io.run_folders import all_runs, run_files

TREC = "q1 Q0 b 1 2 t\nq1 Q0 a 2 1 t\n"
CSV = "query_id,doc_id,score\nq1,b,2\nq1,a,1\n"
RUNS = {
    "comma.csv": CSV,
    "semicolon.csv": CSV.replace(",", ";"),
    "ranks.csv": "qid,docno,rank\nq1,b,1\nq1,a,2\n",
    "tabs.tsv": CSV.replace(",", "\t"),
    "marco.tsv": "q1\tb\t1\nq1\ta\t2\n",
    "old.trec": TREC,
    "out.out": TREC,
    "final.results": TREC,
    "input.bm25": TREC,
    "bare": TREC,
    "UPPER.RUN": TREC,
    "blanks.out": "query_id doc_id score\nq1 b 2\nq1 a 1\n",
    "named": "qid Q0 docno rank score tag\n" + TREC,
    "tag.dat": TREC.replace(" t\n", " my tag\n"),
    "res.res": TREC,
    "lines.jsonl": '{"qid": "q1", "docno": "b", "score": 2}\n{"qid": "q1", "docno": "a", "score": 1}\n',
}
NAMES = {Path(name).stem for name in RUNS} - {"input"} | {"input.bm25"}
SILENT = {".DS_Store": "\0", "ir-metadata.yml": "tag: x\n"}
HIDDEN = {"_SUCCESS": "", "._a.run": "\0"}
ABOUT_RUNS = [
    "README.md",
    "README",
    "readme.txt",
    "LICENSE",
    "LICENSE.json",
    "notice.gz",
]
LEFT_OUT = {
    "notes.md": "# q1",
    "means.csv": "run,AP\nbm25,0.3\n",
    "log.out": "took 3 s\n",
}


def fill(folder: Path, *contents: dict[str, str]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in [item for content in contents for item in content.items()]:
        (folder / name).write_text(text)
    return folder


def test_runs_of_every_ending(tmp_path: Path) -> None:
    folder = fill(tmp_path / "runs", RUNS, SILENT)
    (folder / "packed.csv.gz").write_bytes(gzip.compress(CSV.encode()))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert {*all_runs(folder)} == NAMES | {"packed"}


def test_what_is_left_out_is_named(tmp_path: Path) -> None:
    folder = fill(tmp_path / "runs", RUNS, SILENT, LEFT_OUT)
    with pytest.warns(
        UserWarning, match="log.out does not look like a run .*means.csv, notes.md"
    ):
        assert {*all_runs(folder)} == NAMES


@pytest.mark.parametrize(
    "name",
    [
        *("_rerank.run", "_x.res.gz", "notice.run", "readme.run", "LICENSE.res"),
        *("readme.trec", "copying.trec.gz"),
    ],
)
def test_a_run_by_its_ending_is_one_whatever_its_name_begins_with(
    name: str, tmp_path: Path
) -> None:
    folder = fill(tmp_path / "runs", {"a.run": TREC, **SILENT, **HIDDEN})
    content = TREC.encode()
    (folder / name).write_bytes(
        gzip.compress(content) if name.endswith(".gz") else content
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert {*all_runs(folder)} == {"a", name.split(".")[0]}


@pytest.mark.parametrize("name", [".hidden.run", "_old.txt", "_table.csv", ".a.jsonl"])
def test_a_hidden_file_that_may_be_a_run_is_named(name: str, tmp_path: Path) -> None:
    folder = fill(tmp_path / "runs", {"a.run": TREC, name: TREC})
    with pytest.warns(UserWarning, match=f"{name} is hidden by its name and is left"):
        assert {*all_runs(folder)} == {"a"}


BACKUPS = [
    "a.run~",
    "a.run.part",
    "#a.run#",
    "a.run.bak",
    "a.res.BAK",
    "a.orig",
    "a.old.gz",
    "a.~1~",
]


@pytest.mark.parametrize("name", [*BACKUPS, "a.run.swp", "a.txt.tmp", "a.run~.gz"])
def test_a_backup_is_named_and_left_out(name: str, tmp_path: Path) -> None:
    folder = fill(tmp_path / "runs", {"a.run": TREC})
    content = TREC.encode()
    if name.endswith(".gz"):
        content = gzip.compress(content)
    (folder / name).write_bytes(content)
    with pytest.warns(UserWarning, match=f"{name} is a backup by its name and is left"):
        assert {*all_runs(folder)} == {"a"}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_is_named_and_left_out(tmp_path: Path) -> None:
    (tmp_path / "a.run").write_text(TREC)
    os.mkfifo(tmp_path / "b.run")
    with pytest.warns(
        UserWarning, match=r"b\.run does not look like a run and is left"
    ):
        assert [*all_runs(tmp_path)] == ["a"]


@pytest.mark.parametrize("name", ["a.new", "a#", "older", "a.bm25", "bak", "a.tmp.run"])
def test_a_name_that_only_looks_like_a_backup_is_a_run(
    name: str, tmp_path: Path
) -> None:
    folder = fill(tmp_path / "runs", {"b.run": TREC, name: TREC})
    assert {*all_runs(folder)} == {"b", name.removesuffix(".run")}


@pytest.mark.parametrize("name", [".old", "_old", ".git"])
@pytest.mark.parametrize("file", ["run.txt", "run.txt.gz", "part.parquet"])
def test_a_hidden_folder_that_holds_a_run_is_named(
    file: str, name: str, tmp_path: Path
) -> None:
    folder = fill(tmp_path / "runs", {"a.run": TREC})
    fill(folder / name, {file: TREC})
    with pytest.warns(UserWarning, match=f"{name} is hidden by its name and is left"):
        assert {*all_runs(folder)} == {"a"}


@pytest.mark.parametrize("name", [".git", "_temporary", ".ipynb_checkpoints"])
def test_a_hidden_folder_without_a_run_needs_no_word(name: str, tmp_path: Path) -> None:
    folder = fill(tmp_path / "runs", {"a.run": TREC})
    fill(folder / name, {"config": "x"})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert {*all_runs(folder)} == {"a"}


def test_a_benchmark_has_all_runs_of_a_folder(tmp_path: Path) -> None:
    folder = fill(
        tmp_path / "all" / "mine",
        {"qrels.txt": "q1 0 a 1\n", "topics.tsv": "q1\tred\n"},
    )
    fill(folder / "runs", RUNS, SILENT)
    result = irl.benchmark(tmp_path / "all", by=["RR"])
    assert {*result.table()["run_a"], *result.table()["run_b"]} == NAMES
    fill(folder / "runs", LEFT_OUT)
    with pytest.warns(UserWarning, match="does not look like a run"):
        irl.benchmark(tmp_path / "all", by=["RR"])


def test_runs_beside_the_qrels_and_below(tmp_path: Path) -> None:
    folder = fill(
        tmp_path / "all" / "mine", {"qrels.txt": "q1 0 a 1\n", "one.csv": CSV}
    )
    fill(folder / "runs", {"two.trec": TREC})
    result = irl.benchmark(tmp_path / "all", by=["RR"])
    assert {*result.table()["run_a"], *result.table()["run_b"]} == {"one", "two"}
    fill(folder / "runs", {"one.run": TREC})
    with pytest.raises(
        ValueError, match="the run one is both in it and in runs; keep one"
    ):
        irl.benchmark(tmp_path / "all", by=["RR"])


def test_a_run_in_a_folder_of_parquet_files(tmp_path: Path) -> None:
    part = tmp_path / "runs" / "spark"
    part.mkdir(parents=True)
    pd.DataFrame({"query_id": ["q1"], "doc_id": ["a"], "score": [1.0]}).to_parquet(
        part / "1.parquet"
    )
    assert run_files(tmp_path / "runs") == {"spark": str(part)}


def test_qrels_of_beir_are_not_a_run(tmp_path: Path) -> None:
    fill(tmp_path, {"test.tsv": "query-id\tcorpus-id\tscore\nq1\ta\t1\n"})
    assert run_files(tmp_path) == {}


def test_an_empty_run_is_an_error(tmp_path: Path) -> None:
    folder = fill(tmp_path / "all" / "mine", {"qrels.txt": "q1 0 a 1\n"})
    fill(folder / "runs", {"two.trec": TREC, "empty.run": ""})
    with pytest.raises(ValueError, match="empty: it has no rows"):
        irl.benchmark(tmp_path / "all", by=["RR"])


@pytest.mark.parametrize("name", ABOUT_RUNS)
def test_a_file_about_runs_is_named_and_left_out(name: str, tmp_path: Path) -> None:
    folder = fill(tmp_path / "runs", {"a.run": TREC, name: "# runs"})
    with pytest.warns(
        UserWarning, match=f"{name} does not look like a run and is left"
    ):
        assert {*all_runs(folder)} == {"a"}


@pytest.mark.parametrize("below", [".", "mine"])
@pytest.mark.parametrize("name", ["README.md", "notes.txt.md", "means.csv"])
def test_files_in_a_folder_of_folders_of_runs_are_named(
    name: str, below: str, tmp_path: Path
) -> None:
    fill(tmp_path / "runs" / "mine", {"a.run": TREC, "b.run": TREC})
    fill(tmp_path / "runs" / below, {name: LEFT_OUT.get(name, "# runs")})
    with pytest.warns(UserWarning, match=f"{name}:? .*left out"):
        result = irl.benchmark({"mine": {"q1": {"a": 1}}}, tmp_path / "runs", ["RR"])
    assert result.runs == ["a", "b"]


@pytest.mark.parametrize(
    "ending",
    ["res", "RUN", "txt.gz", "trec", "out", "results", "dat", "tsv", "json.xz"],
)
def test_commands_name_the_run_in_a_file_as_folders_do(
    ending: str, tmp_path: Path
) -> None:
    assert run_names([f"runs/bm25.v2.{ending}"]) == ["bm25.v2"]
    (tmp_path / f"bm25.v2.{ending}").write_text(TREC)
    assert [*run_files(tmp_path)] == ["bm25.v2"]


def test_files_that_differ_by_their_endings_keep_them() -> None:
    assert run_names(["a.trec", "a.out"]) == ["a.trec", "a.out"]
    assert run_names(["a.v2", "b.run.gz", "c.trec.txt"]) == ["a.v2", "b", "c.trec"]
