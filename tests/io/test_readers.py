"""Files that frameworks write: recognised by content, read to the same values, refused with the line where they fail."""

from __future__ import annotations

import gzip
import json
import re
import tempfile
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ir_lexirecall as irl
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.io import files, lines, run_folders
from ir_lexirecall.io.columns import run_table
from ir_lexirecall.io.files import File
from ir_lexirecall.io.readers import nugget_qrels
from ir_lexirecall.io.texts import texts_of
from ir_lexirecall.judging.files import merged

FILES = Path(__file__).parents[1] / "files" / "frameworks"
MTEB = FILES / "TinyArguments_predictions.json"
LINES = FILES / "Information-Retrieval_evaluation_tiny_predictions_cosine.jsonl"
BEIR_RUN, BEIR_QRELS = FILES / "beir.run", FILES / "beir_qrels.tsv"
QRELS = {"q1": {"d1": 1, "d4": 1}, "q2": {"d2": 1}}
SCORES = json.loads(MTEB.read_text())["default"]["test"]

# -- files of the frameworks ---------------------------------------------------------------------------


@pytest.mark.parametrize("file", [MTEB, LINES, BEIR_RUN])
def test_predictions_are_the_scores_in_them(file: Path) -> None:
    values = irl.evaluate(["nDCG@10", "LR", "RR"], QRELS, file)
    pd.testing.assert_frame_equal(
        values, irl.evaluate(["nDCG@10", "LR", "RR"], QRELS, SCORES)
    )


def test_the_values_are_those_that_the_frameworks_say() -> None:
    without_self = irl.evaluate(
        "nDCG@10", irl.load(BEIR_QRELS, exclude="self"), MTEB, aggregate=True
    )
    assert without_self["nDCG@10"] == pytest.approx(0.95986, abs=1e-5)
    values = irl.evaluate(["nDCG@3", "AP@5", "RR@3"], BEIR_QRELS, LINES, aggregate=True)
    assert values.to_list() == pytest.approx([0.6934264036172708, 0.75, 0.75])


def test_beirs_qrels_are_those_of_its_dicts() -> None:
    judgments = Judgments.from_qrels(BEIR_QRELS)
    assert list(zip(judgments.query.tolist(), judgments.doc_ids, strict=True)) == [
        (0, "d1"),
        (0, "d4"),
        (1, "d2"),
    ]


def test_json_dicts_are_runs_and_qrels(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(json.dumps(SCORES, indent=1))
    (tmp_path / "qrels.json").write_text("\n\n" + json.dumps(QRELS))
    assert irl.evaluate("LR", tmp_path / "qrels.json", tmp_path / "run.json").equals(
        irl.evaluate("LR", QRELS, SCORES)
    )


def test_several_subsets_are_told_apart(tmp_path: Path) -> None:
    file = tmp_path / "X_predictions.json"
    file.write_text(
        json.dumps(
            {
                "mteb_model_meta": {},
                "en": {"test": SCORES},
                "de": {"test": SCORES, "dev": {}},
            }
        )
    )
    with pytest.raises(
        ValueError,
        match=r"it has en/test, de/test, de/dev; give one of them: json.load",
    ):
        irl.evaluate("LR", QRELS, file)


def test_a_trec_line_may_begin_as_json_does(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("{1 Q0 d1 1 2.0 tag\n")
    assert irl.evaluate("RR", {"{1": {"d1": 1}}, tmp_path / "run")["RR"].to_list() == [
        1.0
    ]


# -- what is none of them ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"q1": {"d1": 1.0, "d2": }}', "line 1: taken for JSON, but Expecting value"),
        ('{"q1":\n {"d1": 1.0,\n', "line 3: taken for JSON"),
        (
            '{"q1": {"d1": "high"}}',
            "the score of document 'd1' for query 'q1' is 'high', not a number",
        ),
        ('{"q1": {"d1": true}}', "'d1' for query 'q1' is True"),
        ('{"q1": {"d1": null, "d2": null}}', "and 1 other case"),
        ('{"q1": [1, 2]}', "query 'q1' maps to"),
        ('["q1"]', "a list is not a run"),
        ('{"q1": {"d1": 1.0, "d1": 2.0}}', "'d1' occurs twice in one JSON object"),
        ('{"q1": {"d1": NaN}}', "'d1'"),
        (
            '{"query_id": "q", "results": []}\n{"query": "q"}',
            "line 2: taken for predictions of sentence-transformers",
        ),
        (
            '{"query_id": "q", "results": []}\n{"query_id": "q", "results": []}',
            "line 2: query 'q' occurs twice",
        ),
        (
            '{"query_id": "q", "results": [{"corpus_id": "d"}]}',
            "line 1: a result of query 'q' is",
        ),
        (
            '{"query_id": "q", "results": [{"corpus_id": "d", "score": "x"}]}',
            "score of document 'd' for query 'q' is 'x'",
        ),
        (
            '{"query_id": "q", "results": [{"corpus_id": "d", "score": 1}, {"corpus_id": "d", "score": 2}]}',
            "line 1: document 'd' appears twice for query 'q'; keep one",
        ),
        (
            '{"query_id": 1.5, "results": []}',
            "line 1: query_id is 1.5, not a string or an integer",
        ),
        ('{"mteb_model_meta": {}}', "predictions of MTEB .*it has nothing"),
        ("[" * 100_000, "nested too deeply|line 1"),
    ],
)
def test_what_is_no_run_is_refused_by_name_and_place(
    content: str, message: str, tmp_path: Path
) -> None:
    file = tmp_path / "run.json"
    file.write_text(content)
    with pytest.raises(ValueError, match=message) as error:
        irl.evaluate("LR", QRELS, file)
    assert str(file) in str(error.value)


def test_a_bad_grade_in_beirs_qrels_is_named_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "test.tsv").write_text(BEIR_QRELS.read_text() + "q2\td9\tgood\n")
    with pytest.raises(ValueError, match=r"test\.tsv, line 5: .*'d9'.*'q2'.*'good'"):
        irl.evaluate("LR", tmp_path / "test.tsv", SCORES)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"q1": {"d1\\ud800": 1.0}}', r"but \\ud800 is half a character"),
        ('{"q1": {"d1": "x", "d2": 1}, "q2": {}}', "the score of document 'd1'"),
    ],
)
def test_odd_texts_are_named(content: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "run").write_text(content)
    with pytest.raises(ValueError, match=message):
        irl.evaluate("LR", QRELS, tmp_path / "run")


def test_infinite_scores_are_refused(tmp_path: Path) -> None:
    """In every format: they are no more a place in an order than what is not a number."""
    message = "the score of document 'd1' for query 'q1' is -?inf, not a finite number"
    for number in ("9" * 400, "9" * 5000, "1e999"):
        (tmp_path / "run").write_text(
            f'{{"q1": {{"x": 1.5, "d1": {number}}}, "q2": {{"d2": 1}}}}'
        )
        with pytest.raises(ValueError, match=message):
            irl.evaluate("RR", QRELS, tmp_path / "run")
    (tmp_path / "trec").write_text("q1 Q0 x 1 1.5 t\nq1 Q0 d1 2 -inf t\n")
    run = {"q1": {"x": 1.5, "d1": float("inf")}, "q2": {"d2": 1.0}}
    rows = [
        (query, doc, score)
        for query, docs in run.items()
        for doc, score in docs.items()
    ]
    for form in (
        tmp_path / "trec",
        run,
        pd.DataFrame(rows, columns=["query_id", "doc_id", "score"]),
    ):
        with pytest.raises(ValueError, match=message):
            irl.evaluate("RR", QRELS, form)


# -- metadata and folders --------------------------------------------------------------------------------

HEADER = "# ir_metadata.start\n# tag: bm25\n# platform:\n#   hardware:\n#     ram: 4 GB\n# ir_metadata.end\n"


def test_metadata_on_top_of_a_run_is_kept(tmp_path: Path) -> None:
    for name in ("bm25.run", "bm25.run.gz"):
        content = (HEADER + BEIR_RUN.read_text()).encode()
        (tmp_path / name).write_bytes(
            gzip.compress(content) if name.endswith("gz") else content
        )
        (result,) = irl.benchmark(QRELS, {"bm25": tmp_path / name}, ["LR"]).values()
        assert (
            result.per_query("LR")["bm25"].tolist()
            == irl.evaluate("LR", QRELS, BEIR_RUN)["LR"].tolist()
        )
        said = "tag: bm25\nplatform:\n  hardware:\n    ram: 4 GB"
        assert result.means().attrs["metadata"] == {"bm25": said}
        for aggregate in (False, True):
            assert irl.evaluate(
                "LR", QRELS, tmp_path / name, aggregate=aggregate
            ).attrs == {"metadata": said}
        compared = irl.compare(QRELS, {"bm25": str(tmp_path / name), "plain": BEIR_RUN})
        assert compared.table().attrs["metadata"] == {"bm25": said}
        assert "platform" not in str(compared)
    assert irl.evaluate("LR", QRELS, BEIR_RUN).attrs == {}


def test_a_bad_line_after_metadata_is_counted_from_the_top(tmp_path: Path) -> None:
    (tmp_path / "run").write_text(HEADER + "q1 Q0 d1 1 2.0 tag\nq1 Q0 d2\n")
    with pytest.raises(ValueError, match="line 8: 3 fields where 6 are expected"):
        irl.evaluate("LR", QRELS, tmp_path / "run")


COMMENTS = (
    "# something\n",
    "#\n",
    " \t# q1 Q0 d1 1 2.0 tag\n",
    "#q1 0 d1 1\n",
    "\n",
    '# "quoted \u00e9\n',
)


@pytest.mark.slow
@given(
    st.lists(st.lists(st.sampled_from(COMMENTS), max_size=2), min_size=6, max_size=6),
    st.booleans(),
)
def test_comments_are_left_out_wherever_they_stand(
    comments: list[list[str]], tabs: bool
) -> None:
    """trec_eval 10's: lines whose first character that is no blank is ``#``; such characters elsewhere are text."""
    run = [
        "q1 Q0 d1 1 2.0 #tag\n",
        "q1 Q0 d#2 2 1.0 tag\n",
        "q1 Q0 d4 3 0.5 tag\n",
        "q2 Q0 d2 1 1 tag\n",
    ]
    qrels = ["q1 0 d#2 1\n", "q1 0 d4 1\n", "q2 0 d2 1\n"]
    with tempfile.TemporaryDirectory() as folder:
        for name, lines in (("run", run), ("qrels", qrels)):
            text = "".join(
                part
                for parts in zip_longest(map("".join, comments), lines, fillvalue="")
                for part in parts
            )
            Path(folder, name).write_text(text.replace(" ", "\t") if tabs else text)
            Path(folder, f"plain-{name}").write_text("".join(lines))
        found = irl.evaluate(["LR", "AP"], f"{folder}/qrels", f"{folder}/run")
        assert found.equals(
            irl.evaluate(["LR", "AP"], f"{folder}/plain-qrels", f"{folder}/plain-run")
        )


def test_lines_are_counted_with_comments(tmp_path: Path) -> None:
    (tmp_path / "run").write_text(
        "# one\n# two\nq1 Q0 d1 1 2.0 tag\n# \xff\n\nq1 Q0 d2\n", encoding="latin-1"
    )
    with pytest.raises(ValueError, match="line 6: 3 fields where 6 are expected"):
        irl.evaluate("LR", QRELS, tmp_path / "run")


def test_comments_may_stand_above_the_header_of_a_table(tmp_path: Path) -> None:
    (tmp_path / "run.csv").write_text(
        "# one\n\n # two\nquery_id,doc_id,score\nq1,d1,2.0\n"
    )
    assert run_table(str(tmp_path / "run.csv")).rows() == [("q1", "d1", 2.0)]


def test_quotation_marks_in_comments_do_not_make_a_table_slow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(lines.Layout, "checked")  # which reads value by value
    (tmp_path / "run.csv").write_text(
        '# tag: "x" or "y\nquery_id,doc_id,score\nq1,"d1",2.0\n'
    )
    assert run_table(str(tmp_path / "run.csv")).rows() == [("q1", "d1", 2.0)]


def test_a_file_of_comments_only(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("# nothing\n# at all")
    assert len(run_table(str(tmp_path / "file"))) == 0
    with pytest.raises(ValueError, match="there are no judgments in it"):
        irl.evaluate("LR", tmp_path / "file", {"q": {"d": 1.0}})


def test_folders_of_suiteeval_and_tirex(tmp_path: Path) -> None:
    run = gzip.compress(BEIR_RUN.read_bytes())
    (tmp_path / "bm25.res.gz").write_bytes(run)
    (tmp_path / "perquery.csv").write_text("name,qid\n")
    (tmp_path / "README.md").write_text("")
    (tmp_path / ".hidden.run").write_text("")
    (tmp_path / "colbert").mkdir()
    (tmp_path / "colbert" / "run.txt.gz").write_bytes(run)
    (tmp_path / "colbert" / "ir-metadata.yml").write_text("tag: colbert\n")
    files = run_folders.run_files(tmp_path)
    assert {name: Path(path).name for name, path in files.items()} == {
        "bm25": "bm25.res.gz",
        "colbert": "run.txt.gz",
    }
    assert File.opened(files["colbert"]).metadata == "tag: colbert"
    assert File.opened(files["bm25"]).metadata == ""
    (tmp_path / "bm25.run").write_text("")
    with pytest.raises(
        ValueError,
        match=r"two runs have the same name, bm25: bm25\.res\.gz and bm25\.run",
    ):
        run_folders.run_files(tmp_path)


# -- nuggets -------------------------------------------------------------------------------------------

RECORD = {
    "qid": 7,
    "query": "rome",
    "run_id": "answer",
    "nuggets": [
        {"text": "founded", "importance": "vital", "assignment": "support"},
        {"text": "twins", "importance": "okay", "assignment": "not_support"},
        {"text": "wolf", "importance": "okay", "assignment": "partial_support"},
    ],
}


def test_nuggets_are_weighted_subtopics(tmp_path: Path) -> None:
    qrels = nugget_qrels([RECORD], okay=0.25)
    assert qrels["weight"].tolist() == [1.0, 0.25, 0.25]
    assert qrels["relevance"].tolist() == [2, 0, 1]
    (tmp_path / "assignments.jsonl").write_text(json.dumps(RECORD) + "\n\n")
    assert nugget_qrels(tmp_path / "assignments.jsonl", okay=0.25).equals(qrels)
    (tmp_path / "none.jsonl").write_text("\n")
    assert nugget_qrels(tmp_path / "none.jsonl").equals(nugget_qrels([]))
    # w 2/3 and 1/3 of the covered nuggets that any text supports: founded 1, wolf 1/2.
    assert irl.evaluate("StRecall@1", qrels, {"7": {"answer": 1.0}})[
        "StRecall@1"
    ].to_list() == [1.0]
    weights = Judgments.from_qrels(nugget_qrels([RECORD])).aspects.weight
    assert sorted(weights.tolist()) == pytest.approx([0, 1 / 3, 2 / 3])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"nuggets": None}, "record 1: no list of nuggets for query '7'"),
        (
            {"nuggets": [{"text": "x", "importance": "big", "assignment": "support"}]},
            "importance 'big'; expected one of vital",
        ),
        ({"nuggets": [{"text": "x", "importance": "vital"}]}, "assignment None"),
        ({"nuggets": [{"importance": "vital"}]}, "there is no text"),
        ({"qid": None}, "qid is None"),
    ],
)
def test_bad_nuggets_are_named(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        nugget_qrels([RECORD | change])


@pytest.mark.parametrize(
    "text", ['{"q": {"d": 1, "d": 1}}', '{"q": {"d": 1, "d": 1.0}}']
)
def test_the_same_grade_twice_in_one_json_object_is_one_grade(
    text: str, tmp_path: Path
) -> None:
    (tmp_path / "qrels.json").write_text(text, encoding="utf-8")
    qrels = Judgments.from_qrels(str(tmp_path / "qrels.json"))
    assert qrels.grade.tolist() == [1.0]


@pytest.mark.parametrize(
    "text",
    [
        '{"q": {"d": 1, "d": 2}}',
        '{"q": {"d": 1}, "q": {"d": 1}}',
        '{"q": {"d": "a", "d": "b"}}',
    ],
)
def test_different_values_of_one_name_in_a_json_object_are_refused(
    text: str, tmp_path: Path
) -> None:
    (tmp_path / "qrels.json").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match="occurs twice in one JSON object"):
        Judgments.from_qrels(str(tmp_path / "qrels.json"))


# -- quotation marks between tabs ------------------------------------------------------------------

IDS = ["q1", 'q"2', "q 3"]
"""Ids with nothing, a quotation mark and a blank in them."""


def quoted(text: str) -> str:
    """Return a field as CSV quotes it."""
    return '"' + text.replace('"', '""') + '"'


def between_tabs(rows: list[list[str]], where: str) -> str:
    """Return a table between tabs below a plain header, with quotation marks around some fields."""
    header, *others = rows
    lines = ["\t".join(header)]
    for number, row in enumerate(others):
        first, *rest = row
        if where == "all":
            row = list(map(quoted, row))
        elif where == "ids":
            row = [*map(quoted, row[:-1]), row[-1]]
        elif where == "first" and number == 1:  # as csv.QUOTE_MINIMAL does
            row = [quoted(first), *rest]
        lines.append("\t".join(row))
    return "\n".join(lines) + "\n"


QUOTED = pytest.mark.parametrize("where", ["all", "ids", "first"])


@QUOTED
@pytest.mark.parametrize("block", [1, 10, 10**6])
@pytest.mark.parametrize(
    "names",
    [
        ("query_id", "doc_id", "relevance"),
        ("qid", "docno", "label"),
        ("query-id", "corpus-id", "score"),
        ("query_id", "note", "doc_id", "relevance"),
    ],
)
@pytest.mark.parametrize("ending", ["tsv", "txt"])
def test_quotation_marks_between_tabs_are_no_part_of_ids_in_qrels(
    names: tuple[str, ...],
    where: str,
    block: int,
    ending: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(files, "_BLOCK", block)
    ids = [name for name in IDS if " " not in name or names[0] != "query-id"]
    rows = [[one, *["d" + one] * (len(names) - 2), "1"] for one in ids]
    path = tmp_path / f"qrels.{ending}"
    path.write_text(between_tabs([list(names), *rows], where))
    judgments = Judgments.from_qrels(path)
    assert sorted(judgments.query_ids) == sorted(ids)
    assert sorted(judgments.doc_ids) == sorted("d" + one for one in ids)


@QUOTED
@pytest.mark.parametrize("value", ["score", "rank"])
def test_quotation_marks_between_tabs_are_no_part_of_ids_in_runs(
    value: str, where: str, tmp_path: Path
) -> None:
    rows = [[one, "d" + one, "1"] for one in IDS]
    path = tmp_path / "run.tsv"
    path.write_text(between_tabs([["query_id", "doc_id", value], *rows], where))
    qrels = {one: {"d" + one: 1} for one in IDS}
    assert irl.evaluate("RR", qrels, path)["RR"].tolist() == [1.0] * len(IDS)


@QUOTED
def test_quotation_marks_between_tabs_are_no_part_of_ids_in_pools(
    where: str, tmp_path: Path
) -> None:
    rows = [[one, "d" + one, "1"] for one in IDS]
    path = tmp_path / "pool.tsv"
    path.write_text(between_tabs([["query_id", "doc_id", "relevance"], *rows], where))
    people = Judgments.from_qrels({one: {"other": 0} for one in IDS})
    judged = merged(people, path)
    assert sorted(judged.doc_ids) == sorted(["other"] * 3 + ["d" + one for one in IDS])


@QUOTED
@pytest.mark.parametrize("header", [[], [["doc_id", "text"]]], ids=["bare", "header"])
def test_quotation_marks_between_tabs_are_no_part_of_ids_of_texts(
    header: list[list[str]], where: str, tmp_path: Path
) -> None:
    path = tmp_path / "texts.tsv"
    rows = [[one, f"about {one}"] for one in IDS]
    path.write_text(between_tabs([*(header or [["x", "y"]]), *rows], where))
    assert texts_of(path, IDS) == {one: f"about {one}" for one in IDS}


@pytest.mark.parametrize("text", ['"to be" or "not"', '"as a phrase"'])
def test_a_text_keeps_its_own_quotation_marks(text: str, tmp_path: Path) -> None:
    path = tmp_path / "queries.tsv"
    path.write_text(f"q1\t{text}\n")
    assert texts_of(path, ["q1"]) == {"q1": text}


@pytest.mark.parametrize("one_id", ['5"', '"5', '"5" disk', 'say "5"', '"'])
def test_ids_between_tabs_keep_quotation_marks_that_are_not_around_them(
    one_id: str, tmp_path: Path
) -> None:
    path = tmp_path / "qrels.tsv"
    path.write_text(f"query_id\tdoc_id\trelevance\n{one_id}\td\t1\n")
    assert Judgments.from_qrels(path).query_ids == [one_id]


def test_an_id_of_quotation_marks_alone_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "qrels.tsv"
    path.write_text('query_id\tdoc_id\trelevance\nq\td\t1\n""\td\t1\n')
    with pytest.raises(ValueError, match=r"line 3: there is no query_id"):
        Judgments.from_qrels(path)


@pytest.mark.parametrize("form", ["dicts", "lines", "indented"])
def test_json_that_is_cut_off_is_named(form: str, tmp_path: Path) -> None:
    content = {"q1": {"a": 1.25, "b": True}, "q2": {"c": 1}}
    rows = [{"query_id": "q1", "doc_id": doc, "score": 1.25} for doc in "ab"]
    text = {
        "dicts": json.dumps(content),
        "indented": json.dumps(content, indent=1),
        "lines": "\n".join(map(json.dumps, rows)),
    }[form]
    path = tmp_path / "run.json"
    n_cut = 0
    for length in range(len(text) - 1, 1, -1):
        path.write_text(text[:length])
        ends = ""
        try:
            irl.evaluate("RR", {"q1": {"a": 1}}, path)
        except ValueError as error:
            ends = str(error)
        n_cut += "was it cut off?" in ends
        assert re.search("^$|within a value|there is no|not a number", ends)
    assert n_cut > len(text) / 2
