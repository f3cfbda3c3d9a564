"""Collections by their id: qrels of every class, aspects, subtopics, recommended measures."""

from __future__ import annotations

import gzip
import itertools
import textwrap
from pathlib import Path
from typing import Any

import ir_datasets
import pytest
from fresh import python
from ir_datasets.datasets.base import Dataset
from ir_datasets.datasets.clueweb12 import EhealthQrels, MsinfoQrels
from ir_datasets.formats import TrecQrels, touche
from ir_datasets.util import LocalDownload

import ir_lexirecall as irl
from ir_lexirecall._util.measure_strings import parse_measure
from ir_lexirecall.data.collection import ASPECTS, aspect_fields

_numbers = itertools.count()


def registered(*constituents: Any) -> str:
    """The id of a new data set made of the given parts."""
    name = f"lexirecall-test/{next(_numbers)}"
    ir_datasets.registry.register(name, Dataset(*constituents))
    return name


def written(folder: Path, text: str) -> LocalDownload:
    file = folder / f"{next(_numbers)}.qrels"
    file.write_text(textwrap.dedent(text).lstrip())
    return LocalDownload(file)


def special_data_sets() -> list[str]:
    """The ids of ir_datasets whose judgments have subtopics or several aspects."""
    return [
        name
        for name in ir_datasets.registry
        if not name.startswith(("lexirecall", "trec-robust04", "trec-fair-2021"))
        and ir_datasets.registry[name].has_qrels()
        and (
            ir_datasets.registry[name].qrels_cls().__name__ in ASPECTS
            or "subtopic_id" in ir_datasets.registry[name].qrels_cls()._fields
        )
    ]


def test_all_special_data_sets_are_found() -> None:
    assert len(special_data_sets()) >= 23


@pytest.mark.parametrize("name", special_data_sets())
def test_a_special_data_set_is_understood_without_a_download(name: str) -> None:
    collection = irl.load(name)
    assert collection.aspect_fields == aspect_fields(
        ir_datasets.registry[name].qrels_cls()
    )
    assert collection.has_subtopics != bool(collection.aspect_fields)
    assert (collection.n or 0) > 1000


def test_every_class_of_qrels_is_known() -> None:
    classes = {
        ir_datasets.registry[name].qrels_cls()
        for name in ir_datasets.registry
        if ir_datasets.registry[name].has_qrels()
    }
    for qrel_class in classes:
        aspect_fields(qrel_class)


def test_a_new_field_fails_loudly() -> None:
    class EhealthQrel:
        _fields = (
            "query_id",
            "doc_id",
            "relevance",
            "trustworthiness",
            "understandability",
            "charm",
        )

    with pytest.raises(ValueError, match="charm"):
        aspect_fields(EhealthQrel)


def test_ehealth_judgments_give_their_aspects(tmp_path: Path) -> None:
    rel = written(tmp_path, "101 0 d1 2\n101 0 d2 0\n")
    trust = written(tmp_path, "101 0 d1 40\n101 0 d2 90\n")
    under = written(tmp_path, "101 0 d1 10\n101 0 d2 20\n")
    collection = irl.load(
        registered(
            EhealthQrels([rel], [trust], [under], {0: "no", 1: "somewhat", 2: "highly"})
        )
    )
    assert collection.aspects == {
        "relevance": 2,
        "trustworthiness": 90,
        "understandability": 20,
    }
    assert not collection.has_subtopics
    names = [measure.NAME for measure in collection.recommended()]
    assert "TOMA" in names
    assert "RBU" not in names
    run = {"101": {"d2": 2.0, "d1": 1.0}}
    assert (
        irl.evaluate(collection.recommended(), collection.qrels, run)
        .notna()
        .all()
        .all()
    )


def test_the_latest_round_of_ehealth_judgments_counts(tmp_path: Path) -> None:
    rounds = [
        [written(tmp_path, f"101 0 d1 {grade}\n") for grade in (relevance, 50, 50)]
        for relevance in (0, 2)
    ]
    rel, trust, under = map(list, zip(*rounds, strict=True))
    collection = irl.load(
        registered(
            EhealthQrels(rel, trust, under, {0: "no", 1: "somewhat", 2: "highly"})
        )
    )
    assert collection.qrels["relevance"].tolist() == [2]


def test_the_misspelt_field_of_misinfo_judgments_is_credibility(tmp_path: Path) -> None:
    source = written(tmp_path, "1 0 d1 2 1 1\n1 0 d2 1 0 -1\n")
    collection = irl.load(
        registered(MsinfoQrels(source, {0: "no", 1: "relevant", 2: "highly"}))
    )
    assert collection.aspects == {"relevance": 2, "effectiveness": 1, "credibility": 1}
    measure = irl.TOMA(aspects=collection.aspects) @ 10
    assert (
        measure.calc_aggregate(collection.qrels, {"1": {"d1": 2.0, "d2": 1.0}}) == 1.0
    )


@pytest.mark.parametrize(
    ("qrels_class", "aspects"),
    [
        (touche.ToucheQualityQrels, {"relevance": 2, "quality": 2}),
        (
            touche.ToucheQualityCoherenceQrels,
            {"relevance": 2, "quality": 2, "coherence": 2},
        ),
    ],
)
def test_touche_judgments_give_their_aspects(
    tmp_path: Path, qrels_class: Any, aspects: dict[str, int]
) -> None:
    sources = [
        written(tmp_path, f"1 0 d1 2\n1 0 d2 {grade}\n")
        for grade in range(len(aspects))
    ]
    collection = irl.load(
        registered(
            qrels_class(
                *sources, {0: "not relevant", 1: "relevant", 2: "highly relevant"}
            )
        )
    )
    assert collection.aspects == aspects


def test_plain_judgments_recommend_neither_rbu_nor_toma(tmp_path: Path) -> None:
    collection = irl.load(
        registered(TrecQrels(written(tmp_path, "1 0 d1 1\n"), {0: "no", 1: "yes"}))
    )
    assert collection.aspects == {}
    assert {measure.NAME for measure in collection.recommended()} == {
        "nDCG",
        "AP",
        "R",
        "TSE",
        "LexiRecall",
        "CWL_ERR10",
    }


def test_thresholds_come_from_the_official_measures() -> None:
    collection = irl.load("msmarco-passage/trec-dl-2019/judged")
    assert collection.rel == 2
    assert [str(measure) for measure in collection.official_measures] == [
        "nDCG@10",
        "RR(rel=2)",
        "AP(rel=2)",
    ]


@pytest.mark.parametrize("name", ["no/such", "msmarco-passage"])
def test_an_unusable_id_is_named(name: str) -> None:
    with pytest.raises(ValueError, match=name):
        irl.load(name)


# -- real collections, from a prepared folder ------------------------------------------------------


@pytest.fixture
def home(data: Any, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Where ir_datasets finds two collections without a download; it looks there when it is imported."""
    return {"IR_DATASETS_HOME": data.path("ir_datasets_home")}


@pytest.mark.slow
def test_rbu_by_id_equals_rbu_by_file(data: Any, home: dict[str, str]) -> None:
    qrels, run = (
        data.path("web2014-diversity/qrels.ndeval.txt.gz"),
        data.path("web2014-diversity/ql.run.gz"),
    )
    printed = python(
        f"""
        import ir_lexirecall as irl
        by_id = irl.evaluate(["RBU", "RBU(p=0.8,e=0.03)@20"], "clueweb12/trec-web-2014/diversity", {run!r})
        by_file = irl.evaluate(["RBU", "RBU(p=0.8,e=0.03)@20"], {qrels!r}, {run!r})
        both = by_id.index.intersection(by_file.index)
        print(len(both), (by_id.loc[both] == by_file.loc[both]).all().all())
        """,
        options=("-W", "ignore"),
        **home,
    )
    assert printed.split() == ["50", "True"]


@pytest.mark.slow
def test_vaswani_loads_offline_with_queries_and_size(home: dict[str, str]) -> None:
    printed = python(
        """
        import ir_lexirecall as irl
        collection = irl.load("vaswani")
        print(collection.n, len(collection.queries), len(collection.qrels), collection.max_rel)
        """,
        options=("-W", "ignore"),
        **home,
    )
    assert printed.split() == ["11429", "93", "2083", "1"]


@pytest.mark.slow
def test_toma_through_ehealth_tuples_equals_the_known_answers(
    data: Any, tmp_path: Path
) -> None:
    sources = []
    for aspect in ("relevance", "trustworthiness", "understandability"):
        file = tmp_path / aspect
        with gzip.open(data.path(f"clef-ehealth-2016/{aspect}.qrels.gz")) as packed:
            file.write_bytes(packed.read())
        sources.append([LocalDownload(file)])
    collection = irl.load(
        registered(EhealthQrels(*sources, {0: "Not", 1: "Somewhat", 2: "Highly"}))
    )
    for text, systems in data.vectors("toma.json")["clef"].items():
        measure = parse_measure(text)
        for system, expected in systems.items():
            run = data.path(f"clef-ehealth-2016/runs/{system}.gz")
            values = irl.evaluate([measure], collection.qrels, run)[str(measure)]
            assert values[list(expected)].to_dict() == pytest.approx(
                expected, rel=1e-12
            )
