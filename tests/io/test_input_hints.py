"""What is almost an input is taken, or refused with what to do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import ir_lexirecall as irl
from ir_lexirecall import cli

QRELS = {"q": {"a": 1}}
RUN = {"q": {"a": 1.0}}


@pytest.mark.parametrize("endings", [("csv", "tsv"), ("txt", "txt")])
@pytest.mark.parametrize("part", [",", "\t"])
def test_a_table_is_known_by_its_header_whatever_the_file_is_called(
    tmp_path: Path, part: str, endings: tuple[str, str]
) -> None:
    ending = endings[part == "\t"]
    qrels, run = tmp_path / f"qrels.{ending}", tmp_path / f"run.{ending}"
    qrels.write_text("query_id,docno,label\n1,07,1\n1,8,0\n".replace(",", part))
    run.write_text("qid,docno,rank,score\n1,07,2,2\n1,8,1,3\n".replace(",", part))
    assert irl.evaluate("RR", qrels, run)["RR"].to_dict() == {"1": 0.5}


def test_a_csv_file_without_a_header_is_called_one(tmp_path: Path) -> None:
    (tmp_path / "a.run").write_text("q,a,1.0\n")
    (tmp_path / "qrels.txt").write_text("q,0,a,1\n")
    with pytest.raises(
        ValueError,
        match=r"a\.run, line 1: a CSV file needs a header line with query_id, doc_id, score",
    ):
        irl.evaluate("RR", QRELS, tmp_path / "a.run")
    with pytest.raises(
        ValueError,
        match="a CSV file needs a header line with query_id, doc_id, relevance",
    ):
        irl.evaluate("RR", tmp_path / "qrels.txt", RUN)


def test_columns_of_recommenders_get_a_hint(tmp_path: Path) -> None:
    table = pd.DataFrame({"user": ["q"], "item": ["a"], "rating": [1]})
    hint = "; rename user to query_id, item to doc_id, rating to relevance$"
    with pytest.raises(ValueError, match=hint):
        irl.evaluate("AP", table, RUN)
    table.to_csv(tmp_path / "qrels.csv", index=False)
    with pytest.raises(ValueError, match=hint):
        irl.evaluate("AP", tmp_path / "qrels.csv", RUN)


def test_runs_with_integers_as_names() -> None:
    runs = {1: RUN, 2: {"q": {"b": 2.0, "a": 1.0}}}
    assert irl.compare(QRELS, runs, "RR", baseline=1).baseline == "1"
    assert irl.compare(QRELS, runs, "RR").with_baseline(2).baseline == "2"
    assert irl.benchmark(QRELS, runs, ["RR"], baseline=1).baseline == "1"
    with pytest.raises(ValueError, match="unknown baseline '3'; choose from 1, 2"):
        irl.compare(QRELS, runs, "RR", baseline=3)


def test_a_label_is_not_the_index_of_the_table() -> None:
    with pytest.raises(
        ValueError,
        match=r"^evaluate: 'query_id' is the name of the table's index; give AP another name",
    ):
        irl.evaluate({"query_id": "AP"}, {"q": {"a": 1}}, {"q": {"a": 1.0}})


@pytest.mark.parametrize(
    ("by", "meant"),
    [
        ({"AP": "nDCG@10"}, "another measure"),
        ({"run": "AP"}, "a column"),
        ({"ci_low": "AP"}, "a column"),
        ({"pref:lexirecall": "AP"}, "a column"),
        ({"rank": "AP"}, "a column"),
        ({"lexirecall": "AP"}, "a preference"),
    ],
)
def test_labels_that_mean_something_else(by: Any, meant: str) -> None:
    for function in (irl.compare, irl.benchmark):
        with pytest.raises(
            ValueError,
            match=f"{next(iter(by))!r} is the name of {meant}.*; give .* another name",
        ):
            function(QRELS, {"a": RUN, "b": RUN}, by)
    assert irl.compare(
        QRELS, {"a": RUN, "b": RUN}, {"AP": "AP(rel=2)", "gain": "nDCG@10"}
    ).criteria == ["AP", "gain"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("rob", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "relevance.qrels").write_text("q 0 a 1\n")
        (tmp_path / name / "one.run").write_text("q Q0 a 1 1.0 x\n")
    return tmp_path


def test_benchmark_takes_compressed_runs_without_an_ending(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import gzip

    for name in ("rob", "other"):
        (folder / name / "Sel50.gz").write_bytes(
            gzip.compress(b"q Q0 b 1 1.0 x\nq Q0 a 2 0.5 x\n")
        )
    assert cli.main(["benchmark", str(folder), "-m", "AP", "--format", "csv"]) == 0
    rows = [line.split(",") for line in capsys.readouterr().out.splitlines()[1:]]
    assert {run: float(mean) for _, run, mean, *_ in rows} == {"one": 1.0, "Sel50": 0.5}


def test_hints_are_in_the_words_of_the_command_line(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "rob" / "two.run").write_text("q Q0 a 1 1.0 x\n")
    assert cli.main(["benchmark", str(folder), "-m", "AP"]) == 1
    assert capsys.readouterr().err.strip().endswith("add it, or give --missing skip")


def test_runs_may_stand_in_a_folder_of_their_own(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = folder / "rob" / "runs"
    runs.mkdir()
    (folder / "rob" / "one.run").rename(runs / "one.run")
    for source in (folder, folder / "rob"):
        assert cli.main(["benchmark", str(source), "-m", "AP", "--format", "csv"]) == 0
        (row,) = capsys.readouterr().out.splitlines()[1:]
        assert row.startswith("AP,one,1.0")


# -- lines that end otherwise, rows in one line, headers again ---------------------------------------------

RUN_LINES = "q1 Q0 a 1 2.5 t\nq1 Q0 b 2 1.5 t\nq2 Q0 a 1 3.5 t\n"
RUN_TABLE = "query_id,doc_id,score\nq1,a,2.5\nq1,b,1.5\n"
QRELS_LINES = "q1 0 a 1\nq1 0 b 0\nq2 0 a 2\n"
QRELS_TABLE = "query_id,doc_id,relevance\nq1,a,1\nq1,b,0\n"
POOL = "query_id,query,doc_id,text,relevance\nq1,x,a,y,1\nq1,x,b,y,0\n"
VALUES_LINES = "map q1 0.25\nmap q2 0.75\n"
VALUES_TABLE = "query_id,bm25,ql\nq1,0.25,0.5\nq2,0.75,0.5\n"
READERS: dict[str, Callable[[Path], Any]] = {
    "run": lambda path: irl.evaluate("AP", {"q1": {"a": 1}}, path),
    "qrels": irl.load,
    "values": lambda path: irl.compare(values=path),
}
CONTENTS = [
    ("run", "a.run", RUN_LINES),
    ("run", "a.csv", RUN_TABLE),
    ("run", "a.tsv", RUN_TABLE.replace(",", "\t")),
    ("qrels", "a.txt", QRELS_LINES),
    ("qrels", "a.csv", QRELS_TABLE),
    ("qrels", "a.csv", POOL),
    ("values", "a.txt", VALUES_LINES),
    ("values", "a.csv", VALUES_TABLE),
]


@pytest.mark.parametrize(("reader", "name", "content"), CONTENTS)
def test_carriage_returns_alone_are_named(
    reader: str, name: str, content: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_bytes(content.replace("\n", "\r").encode())
    with pytest.raises(
        ValueError, match=rf"{name}: its lines end with carriage returns"
    ):
        READERS[reader](path)


@pytest.mark.parametrize(
    "joined",
    [
        RUN_LINES.replace("t\nq1 Q0 b", "t q1 Q0 b"),
        RUN_LINES.replace("t\nq1 Q0 b", "tq1 Q0 b"),
        RUN_LINES.replace("t\nq1 Q0 b", "t more words q1 Q0 b"),
        RUN_LINES.replace("t\nq2", "t\rq2"),
        RUN_LINES.replace("\n", " ", 2),
    ],
)
def test_a_row_behind_the_tag_of_another_is_no_part_of_it(
    joined: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.run"
    path.write_bytes(joined.encode())
    with pytest.raises(ValueError, match=r"a.run, line \d: .*look like another row"):
        READERS["run"](path)


def test_a_tag_of_many_words_and_numbers_is_ignored(tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    path.write_text("q1 Q0 a 1 2.5 run of 7 May, weight 0.5 and 2 1 0.5 t\n")
    assert READERS["run"](path)["AP"].tolist() == [1.0]


@pytest.mark.parametrize(
    ("reader", "name", "content"),
    [
        *(case for case in CONTENTS if "_id" in case[2]),
        ("qrels", "beir.tsv", "query-id\tcorpus-id\tscore\nq\ta\t1\nq\tb\t0\n"),
        ("values", "long.csv", "run,query_id,measure,value\na,q,AP,0.5\nb,q,AP,1.0\n"),
    ],
)
def test_a_header_again_is_named(
    reader: str, name: str, content: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text(content + content)
    with pytest.raises(ValueError, match=rf"{name}, line 4: the header is repeated"):
        READERS[reader](path)


RUNS = {"bm25": {"q": {"a": 1.0}}, "ql": {"q": {"b": 2.0}}}


@pytest.mark.parametrize(
    ("call", "hint"),
    [
        (lambda: irl.evaluate("AP", QRELS, RUNS), "runs by name; compare takes them"),
        (lambda: irl.judgment_bounds("AP", QRELS, RUNS), "runs by name; compare takes"),
        (lambda: irl.evaluate("AP", {"web": QRELS}, RUN), "collections by name; bench"),
        (lambda: irl.load({"web": QRELS}), "collections by name; benchmark takes them"),
    ],
)
def test_several_runs_where_one_is_expected_are_recognised(
    call: Callable[[], Any], hint: str
) -> None:
    with pytest.raises(
        ValueError, match=f"not a finite number.*; these look like {hint}"
    ):
        call()


@pytest.mark.parametrize("name", ["doc_id", "relevance"])
def test_a_table_to_judge_with_a_misspelt_header_is_named(
    name: str, tmp_path: Path
) -> None:
    path = tmp_path / "pool.csv"
    path.write_text(POOL.replace(name, f"{name}x"))
    with pytest.raises(ValueError, match=rf"^load: .*pool.csv.*{name}"):
        irl.load(path)
