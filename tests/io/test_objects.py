"""Runs and qrels as other programs hold them: all mean the same, or the error says what to give instead."""

from __future__ import annotations

import decimal
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from ir_measures import nDCG

import ir_lexirecall as irl
from ir_lexirecall.io.columns import top_k

QRELS = {"q1": {"a": 1, "b": 2}, "q2": {"c": 1}}
RUN = {"q1": {"a": 2.5, "x": 1.5, "b": 0.25}, "q2": {"c": 0.5}}
QREL_ROWS = [(q, d, grade) for q, docs in QRELS.items() for d, grade in docs.items()]
RUN_ROWS = [(q, d, score) for q, docs in RUN.items() for d, score in docs.items()]
OUR_QRELS, OUR_RUN = (
    ["query_id", "doc_id", "relevance"],
    ["query_id", "doc_id", "score"],
)


def values(qrels: Any, run: Any) -> list[list[float]]:
    table: list[list[float]] = (
        irl.evaluate(["TSE", "nDCG@10", "AP(rel=2)"], qrels, run).to_numpy().tolist()
    )
    return table


EXPECTED = values(QRELS, RUN)


def frame(rows: list[Any], names: list[str]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=names)


def dicts(rows: list[Any], names: list[str]) -> list[dict[str, Any]]:
    return [dict(zip(names, row, strict=True)) for row in rows]


def exact(number: float) -> decimal.Decimal:
    return decimal.Decimal(str(number))


def exact_dicts(
    nested: Mapping[str, Mapping[str, float]],
) -> dict[str, dict[str, decimal.Decimal]]:
    return {
        q: {d: exact(number) for d, number in docs.items()}
        for q, docs in nested.items()
    }


def stand_in(package: str, name: str, **attributes: Any) -> Any:
    """An object of another package's class, as far as that is looked at."""
    return type(name, (), {"__module__": f"{package}.something", **attributes})()


@dataclass
class Hit:
    docid: str
    score: float


def hits() -> dict[str, list[Hit]]:
    return {q: [Hit(d, score) for d, score in docs.items()] for q, docs in RUN.items()}


def records(rows: list[Any], names: list[str], ids: str) -> Any:
    return np.array(rows, dtype=list(zip(names, (ids, ids, "f8"), strict=True)))


def trectools(attribute: str, rows: list[Any], names: list[str]) -> Any:
    return stand_in(
        "trectools", "Trec", **{attribute: frame(rows, names).assign(q0=0, system="x")}
    )


HELD: dict[str, Callable[[], tuple[Any, Any]]] = {
    "decimals in dicts": lambda: (exact_dicts(QRELS), exact_dicts(RUN)),
    "decimals in pandas": lambda: (
        frame([(q, d, exact(g)) for q, d, g in QREL_ROWS], OUR_QRELS),
        frame([(q, d, exact(s)) for q, d, s in RUN_ROWS], OUR_RUN),
    ),
    "decimals in Polars": lambda: (
        pl.DataFrame(frame(QREL_ROWS, OUR_QRELS)).cast(
            {"relevance": pl.Decimal(10, 2)}
        ),
        pl.DataFrame(frame(RUN_ROWS, OUR_RUN)).cast({"score": pl.Decimal(10, 2)}),
    ),
    "dicts": lambda: (dicts(QREL_ROWS, OUR_QRELS), dicts(RUN_ROWS, OUR_RUN)),
    "dicts, one by one": lambda: (
        iter(dicts(QREL_ROWS, OUR_QRELS)),
        iter(dicts(RUN_ROWS, OUR_RUN)),
    ),
    "dicts named by PyTerrier": lambda: (
        dicts(QREL_ROWS, ["qid", "docno", "label"]),
        dicts(RUN_ROWS, ["qid", "docno", "score"]),
    ),
    "frames named by BEIR": lambda: (
        frame(QREL_ROWS, ["query-id", "corpus-id", "score"]),
        frame(RUN_ROWS, ["query-id", "corpus-id", "score"]),
    ),
    "frames named by ranx": lambda: (
        frame(QREL_ROWS, ["q_id", "doc_id", "score"]),
        frame(RUN_ROWS, ["q_id", "doc_id", "score"]),
    ),
    "grades of ranx as floats": lambda: (
        frame(QREL_ROWS, ["q_id", "doc_id", "score"]).astype({"score": float}),
        RUN,
    ),
    "ranx": lambda: (
        stand_in("ranx", "Qrels", to_dict=lambda self: QRELS),
        stand_in("ranx", "Run", to_dict=lambda self: RUN),
    ),
    "trectools": lambda: (
        trectools("qrels_data", QREL_ROWS, ["query", "docid", "rel"]),
        trectools("run_data", RUN_ROWS, ["query", "docid", "score"]),
    ),
    "hits": lambda: (QRELS, hits()),
    "hits in tuples": lambda: (QRELS, {q: tuple(found) for q, found in hits().items()}),
    "hits of some queries": lambda: (QRELS, {"q0": [], **hits()}),
    "pairs": lambda: (QRELS, {q: list(docs.items()) for q, docs in RUN.items()}),
    "records": lambda: (
        records(QREL_ROWS, OUR_QRELS, "U9"),
        records(RUN_ROWS, OUR_RUN, "U9"),
    ),
    "records of bytes": lambda: (
        records(QREL_ROWS, OUR_QRELS, "S9"),
        records(RUN_ROWS, OUR_RUN, "S9"),
    ),
    "recarrays": lambda: (
        frame(QREL_ROWS, OUR_QRELS).to_records(index=False),
        frame(RUN_ROWS, OUR_RUN).to_records(index=False),
    ),
}


@pytest.mark.parametrize("kind", HELD)
def test_objects_mean_what_dicts_mean(kind: str) -> None:
    assert values(*HELD[kind]()) == EXPECTED


def test_objects_of_the_packages_themselves() -> None:
    ranx = pytest.importorskip("ranx")
    assert values(ranx.Qrels(QRELS), ranx.Run(RUN)) == EXPECTED


def test_trectools_itself() -> None:
    trectools = pytest.importorskip("trectools")
    qrels, run = trectools.TrecQrel(), trectools.TrecRun()
    qrels.qrels_data = frame(QREL_ROWS, ["query", "docid", "rel"]).assign(q0=0)
    run.run_data = frame(RUN_ROWS, ["query", "docid", "score"]).assign(
        q0="Q0", rank=1, system="x"
    )
    assert values(qrels, run) == EXPECTED


@pytest.mark.parametrize("how", ["sql", "df", "pl", "fetch_arrow_table"])
def test_duckdb(how: str) -> None:
    connection = pytest.importorskip("duckdb").connect()
    qrels, run = frame(QREL_ROWS, OUR_QRELS), frame(RUN_ROWS, OUR_RUN)
    connection.register("qrels", qrels)
    connection.register("run", run)
    found = [
        connection.sql(
            "select query_id, doc_id, relevance::decimal(4, 1) relevance from qrels"
        ),
        connection.sql("select query_id, doc_id, score::decimal(10, 2) score from run"),
    ]
    assert (
        values(*(one if how == "sql" else getattr(one, how)() for one in found))
        == EXPECTED
    )


@pytest.mark.parametrize("how", ["Dataset", "IterableDataset"])
def test_hugging_face(how: str) -> None:
    datasets = pytest.importorskip("datasets")
    qrels = datasets.Dataset.from_list(
        dicts(QREL_ROWS, ["query-id", "corpus-id", "score"])
    )
    run = datasets.Dataset.from_list(dicts(RUN_ROWS, OUR_RUN))
    if how == "IterableDataset":
        qrels, run = qrels.to_iterable_dataset(), run.to_iterable_dataset()
    assert values(qrels, run) == EXPECTED
    with pytest.raises(ValueError, match=r"has splits \('test'\); give one of them"):
        values(datasets.DatasetDict(test=qrels), run)


# -- Parquet, Arrow ------------------------------------------------------------------------------------


def folder(path: Path, rows: list[Any], names: list[str]) -> Path:
    """A folder of Parquet files as Spark writes it."""
    path.mkdir()
    for number, part in enumerate((rows[:1], rows[1:])):
        frame(part, names).to_parquet(path / f"part-{number}.parquet")
    (path / "_SUCCESS").touch()
    (path / ".part-0.parquet.crc").touch()
    return path


def test_a_pattern_names_the_parts_of_one_run_or_of_the_qrels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pyarrow")
    monkeypatch.chdir(tmp_path)
    folder(tmp_path / "parts", QREL_ROWS, OUR_QRELS)
    folder(tmp_path / "day 1", RUN_ROWS[1:], OUR_RUN)
    folder(tmp_path / "day 2", RUN_ROWS[:1], OUR_RUN)
    for number, (query, doc, score) in enumerate(RUN_ROWS):
        Path(f"run.{number}").write_text(f"{query} Q0 {doc} 1 {score} x\n")
    assert (
        values("parts/*", "run.?")
        == values(irl.load("parts/part-*.parquet"), Path("run.[0-9]"))
        == EXPECTED
    )
    with pytest.warns(
        UserWarning,
        match=r"day \*: query 'q1' is not contiguous; reading the file again",
    ):
        assert values("parts/**", "day *") == EXPECTED  # folders that match
    result = irl.compare("parts/*", {"all": "run.*", "one": "run.0"}, "RR")
    assert result.means()["mean"].tolist() == [1.0, 0.5]
    for qrels, run in (("parts/*.csv", "run.?"), ("parts/*", "runs/*.parquet")):
        pattern = qrels if "csv" in qrels else run
        with pytest.raises(
            ValueError, match=re.escape(f"{pattern}: no file matches this pattern")
        ):
            values(qrels, run)
    with pytest.raises(ValueError, match=r"no file matches"):
        irl.load("parts/*.csv")


def test_a_file_whose_name_looks_like_a_pattern_is_that_file(tmp_path: Path) -> None:
    for name, documents in (("run[1]", "ab"), ("run1", "ba")):
        (tmp_path / name).write_text(
            "".join(
                f"q Q0 {doc} 1 {2 - rank} x\n" for rank, doc in enumerate(documents)
            )
        )
    found = irl.evaluate("RR", {"q": {"a": 1}}, tmp_path / "run[1]")
    assert found["RR"].tolist() == [1.0]


@pytest.mark.parametrize("as_path", [str, Path])
@pytest.mark.parametrize(
    "names",
    [(OUR_QRELS, OUR_RUN), (["qid", "docno", "label"], ["qid", "docno", "score"])],
)
def test_folders_of_parquet(
    as_path: Callable[[Path], Any], names: tuple[list[str], list[str]], tmp_path: Path
) -> None:
    pytest.importorskip("pyarrow")
    qrels, run = (
        folder(tmp_path / "qrels", QREL_ROWS, names[0]),
        folder(tmp_path / "run", RUN_ROWS, names[1]),
    )
    assert values(as_path(qrels), as_path(run)) == EXPECTED


def test_folders_of_something_else(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    run = folder(tmp_path / "run", RUN_ROWS, OUR_RUN)
    (run / "notes.txt").write_text("mixed", encoding="utf-8")
    (tmp_path / "empty").mkdir()
    (tmp_path / "folders" / "msmarco").mkdir(parents=True)
    first = run / "notes.txt"
    folders = tmp_path / "folders"
    for odd, way_out in {
        run: f"give a file in it, such as {first}; the command takes all of them by {run}/*",
        tmp_path / "empty": "there is nothing in it",
        folders: f"such as {folders}/msmarco, or this folder to benchmark",
    }.items():
        message = f"{odd} is a directory, not a file; .*{re.escape(way_out)}"
        with pytest.raises(ValueError, match=message):
            values(QRELS, odd)


@pytest.mark.parametrize("how", ["dataset", "scanner", "table", "reader"])
def test_arrow(how: str, tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow.dataset")

    def read(path: Path) -> Any:
        found = arrow.dataset(sorted(map(str, path.glob("*.parquet"))))
        as_reader = {
            "dataset": lambda: found,
            "scanner": found.scanner,
            "table": found.to_table,
        }
        return as_reader[how]() if how in as_reader else found.scanner().to_reader()

    qrels, run = (
        folder(tmp_path / "qrels", QREL_ROWS, OUR_QRELS),
        folder(tmp_path / "run", RUN_ROWS, OUR_RUN),
    )
    assert values(read(qrels), read(run)) == EXPECTED


# -- files ---------------------------------------------------------------------------------------------


def test_files_of_ranks(tmp_path: Path) -> None:
    path = tmp_path / "run.tsv"
    lines = [
        f"{q}\t{d}\t{rank}\n"
        for q, docs in RUN.items()
        for rank, d in enumerate(docs, start=1)
    ]
    path.write_text("".join(lines), encoding="utf-8")
    assert values(QRELS, path) == EXPECTED


@pytest.mark.parametrize("numbers", [(3, 2, 1), (2, 3, 1)])
@pytest.mark.parametrize("name", ["run.tsv", "run.txt", "run"])
def test_a_third_field_that_does_not_rise_may_be_a_score(
    numbers: tuple[int, ...], name: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    lines = [f"q1\t{d}\t{x}\n" for d, x in zip("abc", numbers, strict=True)]
    text = "q0\ta\t1\n" + "".join(lines)
    path.write_text(text, encoding="utf-8")
    with pytest.raises(
        ValueError, match="the third field may be a rank or a score"
    ) as e:
        values(QRELS, path)
    assert all(
        way in str(e.value) for way in (name, "'q1'", "header line", "six fields")
    )
    for column, best in (("rank", numbers.index(1)), ("score", numbers.index(3))):
        path.write_text(f"query_id\tdoc_id\t{column}\n{text}", encoding="utf-8")
        run = irl.evaluate("RR", {"q1": {"abc"[best]: 1}}, path)
        assert run["RR"].tolist() == [1.0]


@pytest.mark.parametrize("ranks", [(1, 1), (1, 3), (0, 1), (2, 3), (5, 2)])
def test_files_whose_third_field_is_no_rank(
    ranks: tuple[int, int], tmp_path: Path
) -> None:
    path = tmp_path / "run.tsv"
    path.write_text(f"q1 a {ranks[0]}\nq1 b {ranks[1]}\n", encoding="utf-8")
    with pytest.raises(
        ValueError,
        match=r"run\.tsv: taken for lines of query, document and rank, but the ranks of query 'q1'",
    ):
        values(QRELS, path)


@pytest.mark.parametrize("name", ["run", "run.feather", "run.lz4", "run.zip"])
@pytest.mark.parametrize(
    ("start", "says"),
    [
        (b"ARROW1\0\0", "it is a Feather"),
        (b"\x04\x22\x4d\x18", "it is compressed with LZ4"),
        (b"PK\x03\x04", "it is a zip archive"),
        (b"\xff\xff\xff\xff\x10\0\0\0", "it is a stream of Arrow IPC"),
        (b"\x93NUMPY\x01\0", "it is an array of NumPy"),
        (b"\x80\x05\x95", "it is a pickle"),
        (b"\xd0\xcf\x11\xe0", "it is a spreadsheet of Excel"),
        (b"\xff\xfeq\0u\0", "it is a text in UTF-16, as PowerShell writes it"),
    ],
)
def test_files_are_called_what_they_are(
    name: str, start: bytes, says: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_bytes(start + b"\0\xff" * 20)
    for qrels, run in ((path, RUN), (QRELS, path)):
        with pytest.raises(ValueError, match=f"{name} cannot be read: {says}"):
            values(qrels, run)


# -- what is refused -------------------------------------------------------------------------------------


def lists() -> Any:
    return stand_in("lenskit", "ItemListCollection", __iter__=lambda self: iter(()))


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "LensKit": (lists, "run of type ItemListCollection: .*lenskit_lexirecall.compare"),
    "Spark": (
        lambda: stand_in("pyspark", "DataFrame"),
        "run of type DataFrame: .*spark_lexirecall.evaluate",
    ),
    "Dask": (
        lambda: stand_in("dask", "DataFrame", itertuples=None),
        "run of type DataFrame: .*compute",
    ),
    "a DatasetDict": (
        lambda: type("DatasetDict", (dict,), {"__module__": "datasets.d"})(dev=1),
        "has splits .'dev'.",
    ),
    "an array": (
        lambda: np.zeros((2, 3)),
        r"an array of shape \(2, 3\), without ids; .*top_k",
    ),
    "a column": (lambda: np.zeros(3), "it is a single column, without ids"),
    "odd dicts": (
        lambda: [*dicts(RUN_ROWS, OUR_RUN), {"query_id": "q"}],
        "run: row 5 is .* not a dict with query_id",
    ),
    "a hit twice": (
        lambda: {"q1": [Hit("a", 1), Hit("a", 2)]},
        "document 'a' occurs twice for query 'q1'",
    ),
    "half hits": (
        lambda: {
            "q1": [Hit("a", 1), *[Hit("b", 1)] * 0, Hit("c", 0), Hit("d", 0), "e"]
        },
        "'e' among its hits",
    ),
    "lists": (
        lambda: {"q1": ["a", "b"]},
        "query 'q1' maps to .* not to a dict of documents; give each document a score, as in",
    ),
    "no number": (
        lambda: {"q1": {"a": decimal.Decimal("nan")}},
        r"is Decimal\('NaN'\), not a finite number",
    ),
    "a signal": (
        lambda: {"q1": {"a": decimal.Decimal("snan")}},
        r"is Decimal\('sNaN'\), not a finite number",
    ),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_cannot_be_read_is_called_by_its_name(kind: str) -> None:
    make, says = REFUSED[kind]
    with pytest.raises(ValueError, match=says):
        values(QRELS, make())


# -- arrays of a search ------------------------------------------------------------------------------------


def test_top_k_is_the_run_that_it_describes() -> None:
    names, places = ["x", "c", "b", "a"], [[3, 0, 2], [1, -1, -1]]
    scores = [[2.5, 1.5, 0.25], [0.5, -3e38, -3e38]]
    assert values(QRELS, top_k(["q1", "q2"], places, scores, names=names)) == EXPECTED
    ids = [[names[place] for place in row] for row in places[:1]]
    assert values({"q1": QRELS["q1"]}, top_k(["q1"], ids, scores[:1])) == EXPECTED[:1]


def test_places_may_be_the_ids() -> None:
    run = top_k(
        [1, 2], np.array([[30, 20], [10, -1]]), np.array([[2.0, 1.0], [1.0, 0.0]])
    )
    assert run.values.tolist() == [[1, 30, 2.0], [1, 20, 1.0], [2, 10, 1.0]]
    assert values({1: {20: 1}, 2: {10: 1}}, run) == values(
        {"1": {"20": 1}, "2": {"10": 1}}, {"1": {"30": 2, "20": 1}, "2": {"10": 1}}
    )


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((["q"], [["a"], ["b"]], [[1.0], [2.0]]), "for 1 queries"),
        ((["q"], [["a", "b"]], [[1.0]]), r"\(1, 2\) and \(1, 1\)"),
        ((["q"], ["a"], [1.0]), r"the shape \(Q, k\)"),
    ],
)
def test_arrays_of_other_shapes(arguments: Any, says: str) -> None:
    with pytest.raises(ValueError, match=f"^top_k: .*{says}"):
        top_k(*arguments)


@pytest.mark.parametrize("places", [[[2]], [["a"]], [[0.0]]])
def test_places_without_a_name(places: Any) -> None:
    with pytest.raises(
        ValueError,
        match=r"^top_k: with names, documents must be places below their number, 2",
    ):
        top_k(["q"], places, [[1.0]], names=["a", "b"])


# -- the order of arguments ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "measures", ["TSE", irl.TSE, irl.LR @ 5, ["AP", irl.TSE], [nDCG @ 10], "nDCG@10"]
)
def test_evaluate_says_which_way_round(measures: Any) -> None:
    order = r"order is evaluate\(measures, qrels, run\)"
    with pytest.raises(
        ValueError, match=f"^evaluate: the third argument is a measure .*{order}"
    ):
        irl.evaluate(QRELS, RUN, measures)  # type: ignore[call-overload]
    with pytest.raises(
        ValueError, match=f"^evaluate: the second argument is a measure .*{order}"
    ):
        irl.evaluate(QRELS, measures, RUN)  # type: ignore[call-overload]
    with pytest.raises(ValueError, match=order):
        irl.evaluate("qrels.txt", "a.run", measures)


# -- downloads -----------------------------------------------------------------------------------------


def test_a_failed_download_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    ir_datasets, requests = (
        pytest.importorskip("ir_datasets"),
        pytest.importorskip("requests"),
    )

    def fail(*_: Any) -> Iterator[Any]:
        request = requests.Request("GET", "https://example.org/qrels.zip").prepare()
        raise requests.ConnectionError(
            "Max retries exceeded\nwith url: ...", request=request
        )
        yield

    dataset = ir_datasets.load("beir/scifact/test")
    monkeypatch.setattr(type(dataset.qrels_handler()), "qrels_iter", fail)
    with pytest.raises(
        ValueError,
        match=r"^evaluate: beir/scifact/test: ir_datasets could not download it from https://example.org/",
    ) as caught:
        irl.evaluate("TSE", "beir/scifact/test", RUN)
    assert "\n" not in str(caught.value)
    assert "(ConnectionError); check the network" in str(caught.value)


@pytest.mark.parametrize("ranks", [[-1, -2], [-2, -1], [1, -1], [0.0, -0.5]])
def test_ranks_are_not_negative(ranks: list[float], tmp_path: Path) -> None:
    run = pd.DataFrame({"query_id": "q", "doc_id": ["a", "b"], "rank": ranks})
    run.to_csv(tmp_path / "run.csv", index=False)
    run.to_parquet(tmp_path / "run.parquet")
    for source in (run, tmp_path / "run.csv", tmp_path / "run.parquet"):
        with pytest.raises(ValueError, match=r"the rank of document .* below 0.*score"):
            irl.evaluate("AP", {"q": {"a": 1}}, source)


def test_decimals_that_polars_does_not_have() -> None:
    pa: Any = pytest.importorskip("pyarrow")
    score = pa.array([2, 1]).cast(pa.decimal256(40, 4))
    run = pa.table({"query_id": ["q", "q"], "doc_id": ["x", "a"], "score": score})
    assert irl.evaluate("AP", {"q": {"a": 1}}, run).loc["q", "AP"] == 0.5


@pytest.mark.parametrize("grade", ["1", "0", "1.0", "-2"])
def test_numbers_that_are_texts_are_called_so(grade: str, tmp_path: Path) -> None:
    qrels = pd.DataFrame({"query_id": ["q"], "doc_id": ["a"], "relevance": [grade]})
    qrels.to_json(tmp_path / "qrels.jsonl", orient="records", lines=True)
    qrels.to_parquet(tmp_path / "qrels.parquet")
    (tmp_path / "qrels.json").write_text(json.dumps({"q": {"a": grade}}))
    files = [tmp_path / f"qrels.{ending}" for ending in ("jsonl", "parquet", "json")]
    for source in (qrels, *files, {"q": {"a": grade}}, qrels.to_dict("records")):
        with pytest.raises(ValueError, match=f"is '{grade}', not a .*; it is a text: "):
            irl.evaluate("AP", source, {"q": {"a": 1.0}})


@pytest.mark.parametrize("column", ["qid", "docno"])
@pytest.mark.parametrize("n_rows", [2, 5000])
@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
def test_empty_ids_are_refused(column: str, n_rows: int, kind: Any) -> None:
    docs = [f"d{n}" for n in range(n_rows)]
    columns = {
        "qid": ["q"] * n_rows,
        "docno": docs,
        "score": [1.0 / (n + 1) for n in range(n_rows)],
    }
    columns[column] = [*columns[column][:-1], ""]
    ours = {"qid": "query_id", "docno": "doc_id"}[column]
    with pytest.raises(
        ValueError, match=f"row {n_rows} has no usable {ours}: an id is empty"
    ):
        irl.evaluate("AP", {"q": {"d0": 1}}, kind(columns))
    columns["label"] = [1] * n_rows
    del columns["score"]
    with pytest.raises(ValueError, match="an id is empty"):
        irl.evaluate("AP", kind(columns), {"q": {"d0": 1.0}})


@pytest.mark.parametrize("run", [{"q": {"": 2.0, "d": 1.0}}, {"": {"d": 1.0}}])
def test_empty_keys_are_refused(run: Any) -> None:
    with pytest.raises(ValueError, match="run: an id is empty"):
        irl.evaluate("AP", {"q": {"d": 1}}, run)


def test_hits_of_sentence_transformers_without_queries_are_named() -> None:
    hits = [[{"corpus_id": 0, "score": 0.9}], [{"corpus_id": 1, "score": 0.8}]]
    with pytest.raises(
        ValueError, match=r"for hits of sentence-transformers, .* order of the queries"
    ):
        irl.evaluate("AP", {"q": {"d": 1}}, hits)
