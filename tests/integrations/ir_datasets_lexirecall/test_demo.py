"""The embedded collection as a data set of ir_datasets and of PyTerrier."""

from __future__ import annotations

import os
from pathlib import Path

import ir_datasets
import ir_datasets_lexirecall
import pytest
from fresh import python

import ir_lexirecall as irl
from ir_lexirecall import demo

NAME = ir_datasets_lexirecall.NAME


def test_it_has_documents_queries_and_judgments() -> None:
    data_set = ir_datasets.load(NAME)
    assert [
        data_set.docs_count(),
        data_set.queries_count(),
        data_set.qrels_count(),
    ] == [
        len(demo.docs()),
        len(demo.queries()),
        len(demo.qrels()),
    ]
    assert [doc.doc_id for doc in data_set.docs_iter()] == demo.docs()[
        "doc_id"
    ].tolist()
    assert {qrel.query_id for qrel in data_set.qrels_iter()} == set(
        demo.queries()["query_id"]
    )


def test_documents_are_looked_up() -> None:
    data_set = ir_datasets.load(NAME)
    ids = demo.docs()["doc_id"].tolist()
    assert data_set.docs_store().get(ids[3]).doc_id == ids[3]
    assert set(data_set.docs_store().get_many(ids[:2])) == set(ids[:2])


def test_its_id_is_enough() -> None:
    by_id = irl.evaluate(["RBU@20", "LR"], NAME, demo.run("ql"))
    by_table = irl.evaluate(["RBU@20", "LR"], demo.qrels(), demo.run("ql"))
    assert (by_id == by_table).all().all()


@pytest.mark.sparse
@pytest.mark.parametrize(
    "modules",
    ["ir_datasets, ir_datasets_lexirecall", "ir_datasets_lexirecall, ir_lexirecall"],
)
def test_importing_the_module_registers_it(modules: str) -> None:
    code = f"import {modules}; import ir_datasets; print(ir_datasets.load({NAME!r}).queries_count())"
    assert python(code) == "16"


def test_importing_the_library_alone_registers_nothing() -> None:
    code = f"""
        import sys
        before = list(sys.meta_path)
        import ir_lexirecall, ir_datasets
        print({NAME!r} in ir_datasets.registry, sys.meta_path == before)
    """
    assert python(code) == "False True"


def test_a_second_registration_changes_nothing() -> None:
    before = ir_datasets.registry[NAME]
    ir_datasets_lexirecall.register()
    assert ir_datasets.registry[NAME] is before


@pytest.mark.slow
def test_nothing_is_written_into_the_package(tmp_path: Path) -> None:
    before = sorted(demo.FOLDER.rglob("*.tsv")), sorted(os.listdir(demo.FOLDER))
    code = f"""
        import ir_datasets, ir_datasets_lexirecall
        data_set = ir_datasets.load({NAME!r})
        data_set.docs_store().get("bee-01")
        print(data_set.docs.lookup("bee-02").doc_id)
    """
    assert (
        python(code, IR_DATASETS_HOME=str(tmp_path), PYTHONDONTWRITEBYTECODE="1")
        == "bee-02"
    )
    assert (
        sorted(demo.FOLDER.rglob("*.tsv")),
        sorted(os.listdir(demo.FOLDER)),
    ) == before
    assert not list(tmp_path.rglob("*lexirecall*"))


@pytest.mark.slow
def test_pyterrier_finds_it_without_a_further_import() -> None:
    pytest.importorskip("pyterrier")
    code = f"""
        import pyterrier as pt
        print(len(pt.get_dataset("irds:{NAME}").get_topics()))
    """
    assert python(code).splitlines()[-1] == "16"


def test_pyterrier_finds_it_both_ways() -> None:
    pt = pytest.importorskip("pyterrier")
    ours, theirs = pt.get_dataset("lexirecall:demo"), pt.get_dataset(f"irds:{NAME}")
    assert ours.get_topics().equals(theirs.get_topics())
    assert ours.get_qrels()["label"].tolist() == theirs.get_qrels()["label"].tolist()
    ids = [
        [doc["docno"] for doc in dataset.get_corpus_iter(verbose=False)]
        for dataset in (ours, theirs)
    ]
    assert ids[0] == ids[1] == demo.docs()["doc_id"].tolist()
    with pytest.raises(KeyError, match="nope"):
        pt.get_dataset("lexirecall:nope")
