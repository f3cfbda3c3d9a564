"""Groups of queries: from whatever says them, one for each query."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ir_lexirecall as irl
from ir_lexirecall.io.groups import read_groups

QUERIES = ["q1", "q2", "q3", "q4"]
GROUPS = {"q1": "who", "q2": "how", "q3": "who", "q4": "why", "other": "x"}
FRAME = pd.DataFrame(
    {"query_id": list(GROUPS), "group": list(GROUPS.values()), "words": range(5)}
)


@pytest.mark.parametrize(
    "groups",
    [
        GROUPS,
        FRAME,
        FRAME[["query_id", "group"]].rename(
            columns={"query_id": "qid", "group": "kind"}
        ),
        pl.DataFrame(FRAME),
        pa.Table.from_pandas(FRAME),
        FRAME.set_index("query_id")["group"],
    ],
    ids=["mapping", "frame", "renamed", "polars", "arrow", "column"],
)
def test_every_source_says_the_same(groups: Any) -> None:
    found = read_groups(groups, QUERIES)
    assert found.names == ["how", "who", "why"]
    assert found.labels.tolist() == ["who", "how", "who", "why"]
    assert {name: places.tolist() for name, places in found} == {
        "how": [1],
        "who": [0, 2],
        "why": [3],
    }
    assert (found.sizes, len(found)) == ({"how": 1, "who": 2, "why": 1}, 3)


@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz", "parquet", "lines"])
def test_files(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"groups.{ending}"
    if ending == "parquet":
        FRAME.to_parquet(path)
    elif ending == "lines":
        path.write_text(
            "# types of questions\n" + "".join(f"{q} {g}\n" for q, g in GROUPS.items())
        )
    else:
        FRAME.to_csv(path, index=False, sep="\t" if ending == "tsv" else ",")
    assert read_groups(path, QUERIES).labels.tolist() == ["who", "how", "who", "why"]


def test_a_column_of_the_table_of_values() -> None:
    values = pd.DataFrame(
        {
            "run": ["a"] * 3 + ["b"] * 3,
            "query_id": ["1", "2", "3"] * 2,
            "lang": ["de", "en", "de"] * 2,
        }
    )
    assert read_groups("lang", ["3", "2", "1"], table=values).labels.tolist() == [
        "de",
        "en",
        "de",
    ]
    assert read_groups("words", QUERIES, table=FRAME).names == ["0", "1", "2", "3"]


def test_numbers_are_texts_in_their_order() -> None:
    found = read_groups({1: 10.0, 2: 9, 3: 10}, ["1", "2", "3"])
    assert (found.names, found.code.tolist()) == (["9", "10"], [1, 0, 1])


@given(st.dictionaries(st.text("ab", min_size=1), st.sampled_from("xyz"), min_size=2))
def test_groups_part_the_queries(groups: dict[str, str]) -> None:
    queries = sorted(groups)
    if len(set(groups.values())) < 2:
        with pytest.raises(ValueError, match="all queries are in one group"):
            read_groups(groups, queries)
        return
    found = read_groups(groups, queries)
    assert sorted(np.concatenate([places for _, places in found]).tolist()) == list(
        range(len(queries))
    )
    assert [groups[q] for q in queries] == found.labels.tolist()


@pytest.mark.parametrize(
    ("groups", "options", "message"),
    [
        (
            {"q1": "a", "q2": "b"},
            {},
            r"groups: query 'q3' has no group \(and 1 other case\); add it",
        ),
        ({"1": "a", "2": "b"}, {}, "query 'q1' has no group .*it has 1, 2; add it"),
        (
            dict.fromkeys(QUERIES, "a"),
            {},
            "all queries are in one group, a; leave groups out",
        ),
        ({**GROUPS, "q2": None}, {}, "query 'q2' has no group"),
        ({**GROUPS, "q2": ["a"]}, {}, r"one query maps to \['a'\]"),
        (
            pd.concat([FRAME, FRAME.assign(group="z")]),
            {},
            "row 6: query 'q1' is in group 'who' and in 'z'; keep one",
        ),
        (
            FRAME.rename(columns={"group": "a"}),
            {},
            "several columns, none of them called group: .*; call one group, or",
        ),
        (
            "kind",
            {"table": FRAME},
            "no column 'kind': it has query_id, group, words; name one of these",
        ),
        (
            FRAME.drop(columns="query_id"),
            {},
            "the table of groups has no column query_id: it has group, words",
        ),
        (3, {}, "groups of type int cannot be read"),
        (
            "nowhere.csv",
            {},
            "there is no file 'nowhere.csv'; to use a column of a table, give the table",
        ),
    ],
)
def test_what_does_not_fit_is_named(
    groups: Any, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=f"read_groups: .*{message}"):
        read_groups(groups, QUERIES, **options)


def test_groups_may_have_commas_and_quotes(tmp_path: Path) -> None:
    path = tmp_path / "groups.csv"
    path.write_text('# types\nquery_id,group\nq1,"who, where"\nq2,"""how"""\nq3, why\n')
    assert read_groups(path, ["q1", "q2", "q3"]).names == ['"how"', "who, where", "why"]
    path.write_text('query_id,group\nq1,"who\n')
    with pytest.raises(
        ValueError,
        match=f"^read_groups: {path}, line 2: a quotation mark is not closed",
    ):
        read_groups(path, ["q1"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "there are no groups in it"),
        ("query_id,group\nq1,a\nq2\n", "line 3: 1 field where 2 are expected"),
        ("q1 a b\n", "line 1: 3 fields where 2 are expected: query_id, group"),
        ("query_id,group\nq1,a\nq2,\n", "line 3: query 'q2' has no group"),
        ("query_id,group\n,a\n", "line 2: there is no query"),
    ],
)
def test_damaged_files_are_named(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "groups.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=f"read_groups: {path}.*{message}"):
        read_groups(path, ["q1", "q2"])


@pytest.mark.parametrize("separator", [",", "\t", ";", " "])
@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize(
    "groups",
    [("who", "how many", "how"), ("1", "2", "12"), ("a", "b", "bb"), ("x", "y", "yes")],
)
def test_no_cut_file_gives_other_groups(
    separator: str, header: bool, groups: tuple[str, ...], tmp_path: Path
) -> None:
    """Cut anywhere in its last line, a file has the groups of the whole file, or is refused."""
    if separator == " ":
        groups = tuple(group.replace(" ", "_") for group in groups)
    rows = [f"q{i}{separator}{groups[i % 2]}" for i in range(9)]
    rows += [f"q9{separator}{groups[2]}", f"q10{separator}{max(groups, key=len)}"]
    if header:
        rows.insert(0, f"query_id{separator}group")
    if separator == " " and header:
        return
    query_ids = [f"q{i}" for i in range(11)]
    path = tmp_path / "groups.txt"
    path.write_text("\n".join(rows) + "\n")
    whole = read_groups(path, query_ids).labels.tolist()
    for n_lost in range(1, len(rows[-1]) + 1):
        path.write_text(("\n".join(rows) + "\n")[: -n_lost or None])
        try:
            labels = read_groups(path, query_ids).labels.tolist()
        except ValueError as error:
            messages = [str(error)]
        else:
            messages = [] if labels == whole else [f"{labels}"]
        assert all(message.startswith(f"read_groups: {path}") for message in messages)


def test_a_group_that_begins_another_one_may_be_cut(tmp_path: Path) -> None:
    path = tmp_path / "groups.csv"
    path.write_text("query_id,group\nq1,whom\nq2,whom\nq3,who")
    message = (
        r"^read_groups: .*groups.csv, line 4: the file ends with the group 'who', without an end "
        r"of line: was it cut\? Another one is 'whom'; write it again, or end its last line$"
    )
    with pytest.raises(ValueError, match=message):
        read_groups(path, ["q1", "q2", "q3"])
    path.write_text("query_id,group\nq1,whom\nq2,whom\nq3,who\n")
    assert read_groups(path, ["q1", "q2", "q3"]).names == ["who", "whom"]


@pytest.mark.parametrize("name", ["", "Unnamed: 0", "index", "level_0", "row_nr"])
def test_numbers_of_rows_are_no_groups(name: str, tmp_path: Path) -> None:
    table = pd.DataFrame(
        {name: range(4), "query_id": list("abcd"), "kind": list("xyxy")}
    )
    table.to_csv(tmp_path / "g.csv", index=False)
    qrels = {query: {"d": 1, "e": 0} for query in "abcd"}
    runs = {
        "a": {query: {"d": 2.0, "e": 1.0} for query in "abcd"},
        "b": {query: {"d": 1.0, "e": 2.0} for query in "abcd"},
    }
    for groups in (table, tmp_path / "g.csv", pl.DataFrame(table.to_dict("list"))):
        result = irl.compare(qrels, runs, "AP", groups=groups)
        assert result.group_table()["group"].tolist() == ["x", "y"]
    with pytest.raises(ValueError, match="several columns, none of them called group"):
        irl.compare(qrels, runs, "AP", groups=table.assign(other=list("uvuv")))
