"""Texts from everywhere: the same ones, and only those that are asked for."""

from __future__ import annotations

import gzip
import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pandas as pd
import polars as pl
import pytest

from ir_lexirecall import load
from ir_lexirecall.io.names import DOCUMENTS, QUERIES
from ir_lexirecall.io.texts import texts_of

TEXTS = {"d1": "first text", "2": "second, with comma", "d3": "third"}
TREC = """<top>
<num> Number: 301
<title> Organized &amp;
 Crime
<desc> Description:
Identify organizations
</top>
<top><num>302 <title> Topic: Polio <desc> d</top>
"""
XML = '<topics><topic number="301" type="x"><query>Organized &amp; Crime</query></topic><topic id="302"><title>Polio</title></topic></topics>'
TOPICS = {"301": "Organized & Crime", "302": "Polio"}


class Doc(NamedTuple):
    doc_id: str
    text: str

    def default_text(self) -> str:
        return self.text


class Store:
    """As ``docs_store`` of ir_datasets: looks up what is asked for, and passes over what it lacks."""

    asked: list[str]

    def get_many_iter(self, ids: list[str]) -> Iterator[Doc]:
        self.asked = ids
        return (Doc(name, TEXTS[name]) for name in ids if name in TEXTS)


class Loader:
    """As PyTerrier's text loader, which knows all that it is asked for or raises."""

    def transform(self, table: pd.DataFrame) -> pd.DataFrame:
        if lacking := [name for name in table["docno"] if name not in TEXTS]:
            raise KeyError(f"{lacking} not in index")
        return table.assign(text=table["docno"].map(TEXTS))


def written(folder: Path, form: str) -> Path:
    path = folder / f"texts.{form}"
    rows = list(TEXTS.items())
    content = {
        "tsv": "".join(f"{name}\t{text}\n" for name, text in rows),
        "txt": "".join(f"{name} {text}\n" for name, text in rows),
        "header.tsv": "docno\ttext\turl\n"
        + "".join(f"{name}\t{text}\tu\n" for name, text in rows),
        "csv": "text,doc_id\n" + "".join(f'"{text}",{name}\n' for name, text in rows),
        "jsonl": "".join(
            json.dumps({"_id": name, "title": "", "text": text}) + "\n"
            for name, text in rows
        ),
        "json": json.dumps(TEXTS),
        "tsv.gz": "".join(f"{name}\t{text}\n" for name, text in rows),
    }[form]
    path.write_bytes(
        gzip.compress(content.encode()) if form.endswith("gz") else content.encode()
    )
    return path


@pytest.mark.parametrize(
    "form", ["tsv", "txt", "header.tsv", "csv", "jsonl", "json", "tsv.gz"]
)
def test_files_of_every_form_have_the_same_texts(form: str, tmp_path: Path) -> None:
    assert texts_of(written(tmp_path, form), ["d3", "2"]) == {
        name: TEXTS[name] for name in ("2", "d3")
    }


@pytest.mark.parametrize(
    "source",
    [
        TEXTS,
        pd.DataFrame({"docno": list(TEXTS), "text": list(TEXTS.values())}),
        pl.DataFrame({"id": list(TEXTS), "contents": list(TEXTS.values())}),
        Store(),
        Loader(),
    ],
    ids=lambda source: type(source).__name__,
)
@pytest.mark.filterwarnings(
    "ignore:the .* has no text of 1 of 3 documents, such as 'nowhere'"
)
def test_objects_give_the_texts_that_they_have(source: Any) -> None:
    assert texts_of(source, ["nowhere", "d3", "2"]) == {
        name: TEXTS[name] for name in ("d3", "2")
    }
    if isinstance(source, Store):
        assert source.asked == ["nowhere", "d3", "2"]  # and nothing else


def test_a_file_is_read_to_the_last_text_that_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "texts.jsonl"
    path.write_text('{"id": "a", "text": "x"}\nno JSON\n')
    assert texts_of(path, ["a"]) == {"a": "x"}
    with pytest.raises(ValueError, match="line 2: taken for JSON"):
        texts_of(path, ["a", "b"])


@pytest.mark.parametrize(
    ("name", "content"), [("topics.trec", TREC), ("topics.xml", XML)]
)
def test_topics_of_trec(name: str, content: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content)
    assert texts_of(tmp_path / name, ["302", "301"], QUERIES) == TOPICS
    assert texts_of(
        pd.DataFrame({"qid": ["1"], "query": ["what"]}), ["1"], QUERIES
    ) == {"1": "what"}


@pytest.mark.parametrize(
    ("marked", "title"),
    [
        ("<title> is a < b\n<desc> why", "is a < b"),
        ("<title>is a < b</title>", "is a < b"),
        (
            "<title>the <i>E. coli</i> genome</title><narr>n</narr>",
            "the E. coli genome",
        ),
        ("<query><title>short</title><desc>long</desc></query>", "short"),
        ("<TITLE> short <narr> long", "short"),
    ],
)
def test_only_tags_end_or_leave_a_title(
    marked: str, title: str, tmp_path: Path
) -> None:
    (tmp_path / "topics.trec").write_text(f"<top><num> 1 {marked}</top>")
    assert texts_of(tmp_path / "topics.trec", ["1"], QUERIES) == {"1": title}


def test_integer_ids_of_a_mapping_mean_their_decimal_strings() -> None:
    assert texts_of({1: "a", -2: "b", 3: "c"}, ["1", "-2", "03", "x"]) == {
        "1": "a",
        "-2": "b",
    }
    assert texts_of({1: "a", "1": "b"}, ["1"]) == {"1": "b"}


@pytest.mark.parametrize(
    ("content", "what", "texts"),
    [
        *(
            (f"1\t{query}\n2\tother\n", QUERIES, {"1": query, "2": "other"})
            for query in ("topic", "id", "number")
        ),
        *(
            (f"{header}\nx\ta\n", DOCUMENTS, {"a": "x"})
            for header in ("title\tdocno", "text\tdocno")
        ),
    ],
)
def test_a_header_may_name_the_text_first_and_a_query_is_none(
    content: str, what: str, texts: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "texts.tsv").write_text(content)
    assert texts_of(tmp_path / "texts.tsv", texts, what) == texts


def test_a_header_without_a_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "texts.tsv"
    path.write_text("docno\turl\na\tx\n")
    with pytest.raises(ValueError, match=r"expected an id .* and a text"):
        texts_of(path, ["a"])


def test_json_lines_may_be_called_json(tmp_path: Path) -> None:
    path = tmp_path / "corpus.json"
    path.write_text('{"_id": "a", "text": "x"}\n\n{"_id": "b", "text": "y"}\n')
    assert texts_of(path, ["a", "b"]) == {"a": "x", "b": "y"}
    path.write_text('{"a":\n "x {}"\n}\n')
    assert texts_of(path, ["a"]) == {"a": "x {}"}


def test_a_title_stands_above_its_text(tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_text(
        '{"_id": "a", "title": "T", "text": "x"}\n{"_id": "b", "title": null, "text": "y"}\n'
    )
    assert texts_of(path, ["a", "b"]) == {"a": "T\nx", "b": "y"}


def test_a_collection_is_asked_by_id() -> None:
    collection = load("lexirecall/demo")
    assert (
        texts_of(collection, ["q01"], QUERIES)["q01"]
        == "how do bees survive the winter"
    )
    assert texts_of(collection, ["coffee-08"])["coffee-08"]


def test_what_is_missing_is_said(tmp_path: Path) -> None:
    path = written(tmp_path, "tsv")
    with pytest.warns(
        UserWarning, match=r"texts.tsv has no text of 1 of 2 documents, such as 'x'"
    ):
        assert texts_of(path, ["d1", "x"]) == {"d1": "first text"}
    assert texts_of(path, []) == texts_of(None, ["d1"]) == {}


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (3, "expected texts of documents as a mapping"),
        (
            "nowhere/at all",
            "there is no such file, and ir_datasets has no data set of that name",
        ),
        (
            pd.DataFrame({"docno": ["a"], "score": [1]}),
            r"expected an id .* and a text .*, got docno, score",
        ),
        (
            SimpleNamespace(
                docs_store=None, has_docs=lambda: False, dataset_id=lambda: "x"
            ),
            "the data set 'x' has no documents; give texts as a file",
        ),
    ],
)
def test_what_has_no_texts_is_refused(source: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        texts_of(source, ["a"], DOCUMENTS)


def test_rows_of_texts_with_too_many_fields_and_semicolons(tmp_path: Path) -> None:
    path = tmp_path / "texts.tsv"
    path.write_text("docid\ttext\nd1\tone\tmore\n")
    with pytest.raises(ValueError, match="line 2: 3 fields, where the header has 2"):
        texts_of(path, ["d1"])
    path = tmp_path / "texts.csv"
    path.write_text("docid;text\nd1;one, two\n")
    assert texts_of(path, ["d1"]) == {"d1": "one, two"}
    path.write_text("docid;text\nd1;one; two\n")
    with pytest.raises(ValueError, match="line 2: 3 fields, where the header has 2"):
        texts_of(path, ["d1"])


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("texts.tsv", "q1\tone text\nq12\tanother text\n"),
        ("texts.tsv", "qid\tquery\nq1\tone text\nq12\tanother text\n"),
        ("texts.csv", "qid,query\nq1,one text\nq12,another text\n"),
        ("texts.csv", 'qid,query\nq1,one text\nq12,"another text"\n'),
        ("texts.txt", "q1 one text\nq12 another text\n"),
        (
            "texts.jsonl",
            '{"qid": "q1", "query": "one text"}\n{"qid": "q12", "query": "two"}\n',
        ),
    ],
)
def test_no_cut_file_gives_other_texts_without_a_word(
    name: str, content: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text(content)
    ids = ["q1", "q12"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        whole = texts_of(path, ids, QUERIES)
    assert set(whole) == set(ids)
    start_of_last_line = content.rstrip("\n").rindex("\n") + 1
    for end in range(start_of_last_line + 1, len(content)):
        path.write_text(content[:end])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                cut = texts_of(path, ids, QUERIES)
            except (ValueError, UserWarning) as error:
                messages = [str(error)]
            else:
                messages = [] if cut == whole else [f"{cut}"]
        assert all(name in message for message in messages)
