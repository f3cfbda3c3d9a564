"""Values in files of evaluation programs: the values that the programs say, and what failed, is missing or cut off."""

from __future__ import annotations

import json
import shutil
import struct
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from command_line import exit_code

import ir_lexirecall as irl
from ir_lexirecall.io.value_formats import FORMATS
from ir_lexirecall.io.values import ValueTable, read_values

FILES = Path(__file__).parents[1] / "files" / "coming_from"
LOGS = [FILES / "main.eval", FILES / "branch.eval"]


def means(table: ValueTable) -> dict[str, list[float]]:
    return {name: x.mean(axis=1).round(4).tolist() for name, x in table.values.items()}


def written(path: Path, content: Any) -> Path:
    path.write_text(json.dumps(content))
    return path


def lines(path: Path, records: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


# -- inspect_ai ------------------------------------------------------------------------------------


def sample(item: Any, value: Any, epoch: int = 1, **more: Any) -> dict[str, Any]:
    return {"id": item, "epoch": epoch, "scores": {"match": {"value": value}}, **more}


def log(*samples: dict[str, Any], model: str = "m", **more: Any) -> dict[str, Any]:
    return {
        "status": "success",
        "eval": {"model": model, "task": "t"},
        "samples": [*samples],
        **more,
    }


@pytest.mark.parametrize("epoch", [1, 2])
def test_logs_of_inspect_have_the_accuracy_that_they_say(epoch: int) -> None:
    pytest.importorskip("backports.zstd")
    table = read_values([str(path) for path in LOGS], where={"epoch": epoch})
    assert table.runs == ["main", "branch"]  # one model: the files name the runs
    assert means(table) == {"match": [0.875, 0.625], "includes": [0.875, 0.625]}
    assert any("C 1, P 0.5, I 0, N 0" in note for note in table.notes)
    assert not table.cut


def test_epochs_are_repeats_that_are_not_averaged_unasked() -> None:
    pytest.importorskip("backports.zstd")
    with pytest.raises(
        ValueError, match=r"given twice .* the rows differ in epoch \(1, 2\)"
    ):
        read_values(str(LOGS[0]))


SCORES: list[tuple[Any, float]] = [
    *(("C", 1.0), ("I", 0.0), ("P", 0.5), ("N", 0.0), (True, 1.0), (False, 0.0)),
    *(("yes", 1.0), ("No", 0.0), ("true", 1.0), ("0.25", 0.25), (3, 3.0)),
]


@pytest.mark.parametrize(("value", "expected"), SCORES)
def test_scores_of_inspect_count_as_its_reducers_have_them(
    value: Any, expected: float, tmp_path: Path
) -> None:
    path = written(tmp_path / "a.json", log(sample("x", value), sample("y", 0.5)))
    assert read_values(path).values["match"].tolist() == [[expected, 0.5]]


def test_a_scorer_with_several_scores_has_a_column_for_each(tmp_path: Path) -> None:
    value = {"precision": 0.5, "recall": "C"}
    table = read_values(written(tmp_path / "a.json", log(sample("x", value))))
    assert means(table) == {"match.precision": [0.5], "match.recall": [1.0]}


def test_a_score_that_is_a_text_is_named(tmp_path: Path) -> None:
    path = written(tmp_path / "a.json", log(sample("x", "Paris"), sample("y", 1)))
    with pytest.raises(
        ValueError, match="sample_id 'x': match is 'Paris', not a number"
    ):
        read_values(path)


def test_samples_that_failed_are_missing_and_counted_beside_the_means(
    tmp_path: Path,
) -> None:
    failed = sample("y", "C", error={"message": "no container"})
    good = log(sample("x", "C"), sample("y", "C"), sample("z", "I"), model="good")
    poor = log(sample("x", "C"), failed, sample("z", "C"), model="poor")
    paths = [
        str(written(tmp_path / f"{i}.json", one)) for i, one in enumerate((good, poor))
    ]
    with pytest.raises(
        ValueError, match="the match of run 'poor' for query 'y' is missing"
    ):
        read_values(paths)
    table = read_values(paths, missing="skip")
    assert (table.runs, table.skipped) == (["good", "poor"], ("y",))
    assert table.missing_of_run == {"poor": 1}
    result = irl.compare(values=table)
    assert result.means()["missing"].round(4).tolist() == [0.0, 0.3333]
    sentence = "1 query (y) lacks a value of some run: left out (poor 1 of 3, 33.3%)."
    assert sentence in result.diagnostics
    assert exit_code("compare", "--values", *paths, "--missing", "skip") == 0


def test_items_that_one_model_lacks_are_named(tmp_path: Path) -> None:
    paths = [
        written(
            tmp_path / "a.json", log(sample("x", "C"), sample("y", "C"), model="a")
        ),
        written(tmp_path / "b.json", log(sample("x", "C"), model="b")),
    ]
    with pytest.raises(ValueError, match="match of run 'b' for query 'y' is missing"):
        read_values(list(map(str, paths)))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            {"eval": {"model": "m"}, "status": "success"},
            "a log of inspect_ai without samples",
        ),
        (log({"id": 1, "epoch": 1, "scores": {}}), "none of its items has a score"),
        (log({"epoch": 1, "scores": {}}), "sample 1 of the log has no id"),
        (log(sample(1, "C"), sample(1, "I")), "sample_id '1', .*given twice"),
    ],
)
def test_logs_without_values_say_so(content: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        read_values(written(tmp_path / "a.json", content))


# -- files that are cut off, or damaged -----------------------------------------------------------


def test_a_run_that_did_not_finish_is_compared_only_if_asked(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    spec = {"model": "b", "dataset": {"samples": 5}, "config": {"epochs": 1}}
    cut = {
        "status": "cancelled",
        "eval": spec,
        "samples": [sample(f"q{i}", "C") for i in range(3)],
    }
    whole = log(*[sample(f"q{i}", "I") for i in range(5)], model="a")
    paths = [
        str(written(tmp_path / f"{i}.json", one)) for i, one in enumerate((whole, cut))
    ]
    with pytest.raises(
        ValueError, match=r"3 of 5 samples are in it; the status .* 'cancelled'"
    ):
        read_values(paths)
    assert exit_code("compare", "--values", *paths) == 1
    assert exit_code("compare", "--values", *paths, "--missing", "skip") == 5
    assert "3 of 5 samples are in it" in capfd.readouterr().err
    assert exit_code("gate", "--values", *paths, "--missing", "skip") == 5
    assert exit_code(
        "gate", "--values", *reversed(paths), "--missing", "skip", "--margin=0"
    ) in (
        3,
        5,
    )


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize("share", [0.3, 0.6, 0.97])
def test_an_archive_that_is_cut_off_gives_what_is_whole(
    compression: int, share: float, tmp_path: Path
) -> None:
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w", compression) as archive:
        start = {"version": 2, "eval": {"model": "m", "dataset": {"samples": 40}}}
        archive.writestr("_journal/start.json", json.dumps(start))
        for i in range(40):
            archive.writestr(f"samples/{i}_epoch_1.json", json.dumps(sample(i, "C")))
    data = path.read_bytes()
    whole = read_values(path, missing="skip")  # a crash: no header.json
    assert len(whole.query_ids) == 40
    path.write_bytes(data[: int(share * len(data))])
    table = read_values(path, missing="skip")
    assert 0 < len(table.query_ids) <= 40
    assert f"{len(table.query_ids)} of 40 samples are in it" in table.cut[0]
    with pytest.raises(
        ValueError, match=r"the status of the run is 'started'\. Give missing='skip'"
    ):
        read_values(path)


@pytest.mark.parametrize("size", [4, 20, 60])
def test_an_archive_without_anything_whole_is_named(size: int, tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    path.write_bytes(LOGS[0].read_bytes()[:size])
    with pytest.raises(
        ValueError, match=r"log\.eval: the archive is cut off, and nothing"
    ):
        read_values(path)


def test_a_damaged_archive_is_named(tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps(log()))
        archive.writestr("samples/1.json", json.dumps(sample(1, "C")))
    data = bytearray(path.read_bytes())
    data[60] ^= 255
    path.write_bytes(bytes(data))
    with pytest.raises(ValueError, match=r"log\.eval: the archive is damaged"):
        read_values(path)


@pytest.mark.parametrize("is_cut", [False, True])
@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, 93, 14])
def test_an_archive_that_says_it_is_too_large_is_named(
    method: int, is_cut: bool, tmp_path: Path
) -> None:
    """What its own tables of contents say, whatever it is packed with."""
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", json.dumps(log()))
        archive.writestr("samples/1.json", json.dumps(sample(1, "C")))
    data = bytearray(path.read_bytes())
    contents = data.index(b"PK\x01\x02")
    for start, method_at, size_at in ((0, 8, 22), (contents, 10, 24)):
        struct.pack_into("<H", data, start + method_at, method)
        struct.pack_into("<I", data, start + size_at, 2**32 - 2)
    path.write_bytes(bytes(data[:contents] if is_cut else data))
    with pytest.raises(
        ValueError,
        match=r"^read_values: .*log\.eval: its content is too large \(4,294,967,... bytes, "
        r"where 2,147,483,648 are read at most\)$",
    ):
        read_values(path)


@pytest.mark.parametrize("is_cut", [False, True])
def test_what_is_packed_too_well_is_refused(is_cut: bool, tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps(log()))
        archive.writestr("samples/1.json", json.dumps(sample(1, "C")))
    data = bytearray(path.read_bytes())
    contents = data.index(b"PK\x01\x02")
    struct.pack_into("<I", data, 22, 2**29)
    struct.pack_into("<I", data, contents + 24, 2**29)
    path.write_bytes(bytes(data[:contents] if is_cut else data))
    with pytest.raises(
        ValueError, match=r"log\.eval: its content: .* looks like an attack"
    ):
        read_values(path)


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, 93])
@pytest.mark.parametrize("is_cut", [False, True])
def test_damaged_members_are_named(method: int, is_cut: bool, tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", json.dumps(log()))
    data = bytearray(path.read_bytes())
    contents = data.index(b"PK\x01\x02")
    struct.pack_into("<H", data, 8, method)
    struct.pack_into("<H", data, contents + 10, method)
    path.write_bytes(bytes(data[:contents] if is_cut else data))
    with pytest.raises(
        ValueError, match=r"^read_values: .*log\.eval: .*(damaged|backports)"
    ):
        read_values(path)


@pytest.mark.parametrize("n_bytes", [1, 7, 19, 60])
def test_an_archive_that_lacks_bytes_before_its_contents_is_named(
    n_bytes: int, tmp_path: Path
) -> None:
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", json.dumps(log()))
        archive.writestr("samples/1.json", json.dumps(sample(1, "C")))
    path.write_bytes(path.read_bytes()[n_bytes:])
    with pytest.raises(ValueError, match=r"^read_values: .*log\.eval"):
        read_values(path)
    whole = path.read_bytes()
    path.write_bytes(b"PK\x03\x04" + whole[n_bytes + 4 :])
    with pytest.raises(ValueError, match=r"^read_values: .*log\.eval"):
        read_values(path)


def test_an_encrypted_archive_is_named(tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", json.dumps(log()))
    data = bytearray(path.read_bytes())
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(bytes(data))
    with pytest.raises(ValueError, match=r"^read_values: .*log\.eval: .*encrypted"):
        read_values(path)


def test_an_archive_of_another_program_is_named(tmp_path: Path) -> None:
    path = tmp_path / "files.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.csv", "query_id,a\nq,1\n")
    with pytest.raises(
        ValueError, match="a zip archive that is not a log of inspect_ai; unpack it"
    ):
        read_values(path)


NO_LOG = (
    "a zip archive that is not a log of inspect_ai; unpack it, or save a spreadsheet"
)
NO_PART = "looks like a file of inspect_ai, but .* write it again, or give a table"


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"samples/1.json": {}}, "sample 1 of the log has no id"),
        ({"samples/1.json": []}, "sample 1 of the log has no id"),
        ({"samples/1.json": 5}, NO_PART),
        ({"samples/1.json": sample(1, "C") | {"scores": 5}}, NO_PART),
        ({"samples/1.json": sample(1, "C") | {"scores": {"match": 5}}}, NO_PART),
        ({"samples/1.json": sample(1, "C") | {"scores": [5]}}, NO_PART),
        ({"summaries.json": {"a": 1}}, "sample 1 of the log has no id"),
        ({"summaries.json": 5}, NO_PART),
        ({"header.json": []}, NO_LOG),
        ({"header.json": None}, NO_LOG),
        ({"header.json": {}}, NO_LOG),
        ({"header.json": {"eval": 5}}, NO_LOG),
        ({"header.json": log(results=5)}, NO_PART),
        ({"header.json": log(results={"total_samples": "x"})}, NO_PART),
        ({"header.json": log(results={"total_samples": 1e999})}, NO_PART),
        ({"header.json": log() | {"eval": {"model": ["m"]}}}, NO_PART),
        ({"header.json": log() | {"eval": {"model": "m", "dataset": 3}}}, NO_PART),
    ],
)
def test_parts_of_an_archive_of_another_type_are_named(
    members: dict[str, Any], message: str, tmp_path: Path
) -> None:
    path = tmp_path / "log.eval"
    parts = {"header.json": log(), "samples/1.json": sample(1, "C"), **members}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, json.dumps(content))
    with pytest.raises(ValueError, match=rf"^read_values: .*log\.eval: .*{message}"):
        read_values(path)


@pytest.mark.parametrize("name", ["header.json", "summaries.json", "samples/1.json"])
@pytest.mark.parametrize(
    ("content", "message"),
    [(b"\xff\xfe{}", "not UTF-8"), (b"{", "taken for JSON, but")],
)
def test_members_of_an_archive_that_are_no_json_are_named(
    name: str, content: bytes, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "log.eval"
    parts = {"header.json": json.dumps(log()), name: content}
    with zipfile.ZipFile(path, "w") as archive:
        for member, text in parts.items():
            archive.writestr(member, text)
    with pytest.raises(ValueError, match=rf"log\.eval \({name}\).*: {message}"):
        read_values(path)


@pytest.mark.parametrize("name", [5, None, True, 1e999])
def test_a_measure_without_a_text_for_a_name_is_refused(
    name: Any, tmp_path: Path
) -> None:
    case = {"name": "case", "metricsData": [{"name": name, "score": 1.0}]}
    path = written(tmp_path / "run.json", {"testCases": [case]})
    with pytest.raises(ValueError, match=r"run\.json: a measure is called .*, not by"):
        read_values(path)


def test_lines_of_json_that_are_cut_off_are_named(tmp_path: Path) -> None:
    path = lines(tmp_path / "a.jsonl", [{"id": i, "acc": 1} for i in range(4)])
    path.write_text(path.read_text()[:-6])
    with pytest.raises(
        ValueError, match=r"line 4 is cut off, after 3 whole lines\. Give missing"
    ):
        read_values(path)
    table = read_values(path, missing="skip")
    assert table.query_ids == ["0", "1", "2"]
    assert table.cut
    path.write_text('{"id": 1, "acc": 1}\n{"id": 2, "ac')
    assert read_values(path, missing="skip").cut  # one whole line
    path.write_text('{"id": 1, "acc": 1}\n{"id": 2, "ac\n{"id": 3, "acc": 1}\n')
    with pytest.raises(ValueError, match="line 2: taken for JSON"):
        read_values(path, missing="skip")


# -- the other programs ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("files", "options", "expected"),
    [
        (
            ["samples_gsm8k_main.jsonl", "samples_gsm8k_branch.jsonl"],
            {"where": {"filter": "strict-match"}},
            {"exact_match": [0.9333, 0.6]},
        ),
        (
            ["samples_gsm8k_main.jsonl", "samples_gsm8k_branch.jsonl"],
            {"where": {"filter": "flexible-extract"}},
            {"exact_match": [1.0, 1.0]},
        ),
        (["swe_main.json", "swe_branch.json"], {}, {"resolved": [0.9, 0.5667]}),
        (
            ["eval_results_main.json", "eval_results_branch.json"],
            {},
            {"base": [0.8333, 0.75], "plus": [0.75, 0.75]},
        ),
        (["promptfoo.json"], {"measures": "score"}, {"score": [0.9333, 0.6]}),
        (
            ["evaluation_results.json"],
            {},
            {"Precision@5": [0.76, 0.56], "NDCG@5": [0.6733, 0.54]},
        ),
        (
            ["assignments.jsonl"],
            {},
            {
                "strict_vital_score": [0.9333, 0.6],
                "strict_all_score": [0.4667, 0.3],
                "vital_score": [0.9333, 0.6],
                "all_score": [0.7167, 0.55],
            },
        ),
        (
            ["test_run_main.json", "test_run_branch.json"],
            {"missing": "skip"},
            {"Exact": [0.8571, 0.5714]},
        ),
        (["ragas_main.csv", "ragas_branch.csv"], {}, {"faithfulness": [0.95, 0.7]}),
        (
            ["mteb"],
            {"runs": ["org__main", "org__branch"]},
            {"main_score": [0.625, 0.5775]},
        ),
    ],
)
def test_values_of_other_programs(
    files: list[str], options: dict[str, Any], expected: Mapping[str, list[float]]
) -> None:
    paths = [str(FILES / name) for name in files]
    table = read_values(paths[0] if len(paths) == 1 else paths, **options)
    order = sorted(range(2), key=lambda i: "branch" in table.runs[i])
    assert {
        name: [row[i] for i in order] for name, row in means(table).items()
    } == expected


@pytest.mark.parametrize("name", ["strict", "flexible"])
def test_samples_of_lm_eval_have_the_means_that_its_results_say(name: str) -> None:
    paths = sorted(map(str, FILES.glob("lm-eval/*/samples_*.jsonl")))
    table = read_values(paths, where={"filter": name})
    assert table.runs == ["org/a", "org/b"]
    for path, mean in zip(
        sorted(FILES.glob("lm-eval/*/results_*.json")),
        means(table)["exact_match"],
        strict=True,
    ):
        results = json.loads(path.read_text())["results"]["sums"]
        assert mean == pytest.approx(results[f"exact_match,{name}"], abs=1e-4)


def test_two_filters_of_lm_eval_need_a_choice() -> None:
    path = FILES / "samples_gsm8k_main.jsonl"
    with pytest.raises(
        ValueError, match=r"rows differ in filter .* where=\{'filter': 'strict-match'\}"
    ):
        read_values(path)
    with pytest.raises(
        ValueError, match=r"no row has filter == 'strict'; there are strict-match, flex"
    ):
        read_values(path, where={"filter": "strict"})
    with pytest.raises(
        ValueError, match=r"has no column 'filterr': it has .*did you mean 'filter'"
    ):
        read_values(path, where={"filterr": "strict"})


def test_where_needs_a_table() -> None:
    path = FILES.parent / "values" / "bm25.trec_eval"
    with pytest.raises(ValueError, match="there is no table with a column 'filter'"):
        read_values(path, where={"filter": "x"})


def test_models_of_lm_eval_are_those_of_the_results_beside_the_samples(
    tmp_path: Path,
) -> None:
    for model in ("a", "b"):
        folder = tmp_path / model
        folder.mkdir()
        shutil.copy(
            FILES / "samples_gsm8k_main.jsonl",
            folder / "samples_x_2026-01-21T03-44-18.4.jsonl",
        )
        written(
            folder / "results_2026-01-21T03-44-18.4.json",
            {"model_name": f"org/{model}"},
        )
    paths = sorted(map(str, tmp_path.rglob("samples*")))
    assert read_values(paths, where={"filter": "strict-match"}).runs == [
        "org/a",
        "org/b",
    ]


def test_helm_takes_the_quality_of_answers_and_others_by_name() -> None:
    paths = sorted(map(str, FILES.glob("helm/*/per_instance_stats.json")))
    table = read_values(paths)
    assert table.runs == ["openai_branch", "openai_main"]
    assert means(table) == {"exact_match": [0.6, 0.9333]}
    assert means(read_values(paths, measures="num_references")) == {
        "num_references": [4.0, 4.0]
    }


def test_perturbations_of_helm_are_told_apart(tmp_path: Path) -> None:
    stats = [{"name": {"name": "f1"}, "mean": 0.5}]
    record = {"instance_id": "i", "train_trial_index": 0, "stats": stats}
    path = written(
        tmp_path / "s.json", [record, record | {"perturbation": {"name": "typos"}}]
    )
    with pytest.raises(ValueError, match="rows differ in perturbation"):
        read_values(path)
    for value in (None, "typos"):
        assert read_values(path, where={"perturbation": value}).query_ids == ["i"]


def test_swe_bench_counts_errors_as_not_resolved_and_says_so(tmp_path: Path) -> None:
    table = read_values(FILES / "swe_main.json")
    assert "1 error of 30 instances count 0" in table.notes[0]
    report = json.loads((FILES / "swe_main.json").read_text())
    report["incomplete_ids"] = ["django__django-9"]
    path = written(tmp_path / "r.json", report)
    with pytest.raises(ValueError, match="query 'django__django-9' is missing"):
        read_values(path)


def test_swe_bench_without_what_was_run_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "r.json", {"resolved": ["a__a-1"], "no_generation": []})
    with pytest.raises(
        ValueError,
        match="lists the instances that were resolved, not those that failed",
    ):
        read_values(path)


def test_details_of_swe_bench_per_instance(tmp_path: Path) -> None:
    details = {
        f"a__a-{i}": {"resolved": i > 1, "tests_status": {"x": []}} for i in range(4)
    }
    assert means(read_values(written(tmp_path / "r.json", details))) == {
        "resolved": [0.5]
    }


def test_test_cases_of_deepeval_are_known_by_their_names_or_inputs(
    tmp_path: Path,
) -> None:
    def run(*names: str) -> dict[str, Any]:
        cases = [
            {
                "name": name,
                "input": f"input of {name}",
                "metricsData": [{"name": "F", "score": 0.5}],
            }
            for name in names
        ]
        return {"testCases": cases}

    named = read_values(written(tmp_path / "a.json", run("capital", "river")))
    assert named.query_ids == ["capital", "river"]
    numbered = read_values(
        written(tmp_path / "b.json", run("test_case_0", "test_case_1"))
    )
    assert numbered.query_ids == ["input of test_case_0", "input of test_case_1"]


def test_promptfoo_parts_prompts_and_leaves_errors_out(tmp_path: Path) -> None:
    def result(prompt: str, variable: int, **more: Any) -> dict[str, Any]:
        return {
            "provider": {"id": "p"},
            "prompt": {"label": prompt},
            "vars": {"x": variable},
            "success": True,
            "score": 1,
            **more,
        }

    failed = result("new", 2, error="timeout", score=0, success=False, failureReason=2)
    content = {
        "results": {
            "results": [*(result("old", i) for i in (1, 2)), result("new", 1), failed]
        }
    }
    path = written(tmp_path / "r.json", content)
    with pytest.raises(
        ValueError, match=r"score of run 'p, new' for query .* is missing"
    ):
        read_values(path)
    assert read_values(path, missing="skip").missing_of_run == {"p, new": 1}


def test_a_named_score_of_failed_tests_of_promptfoo_is_no_measure(
    tmp_path: Path,
) -> None:
    results = [
        {"provider": {"id": "p"}, "vars": {"x": i}, "success": True, "score": 1}
        for i in range(3)
    ]
    results[2] |= {"success": False, "failureReason": 2, "namedScores": {"n": 0.5}}
    path = written(tmp_path / "r.json", {"results": {"results": results}})
    with pytest.raises(ValueError, match=r"the score .* is missing"):
        read_values(path)
    table = read_values(path, missing="skip")
    assert table.measures == ["score", "success"]


def test_a_part_of_the_results_of_opensearch_is_incomplete(tmp_path: Path) -> None:
    content = json.loads((FILES / "evaluation_results.json").read_text())
    content["hits"]["total"]["value"] = 100
    with pytest.raises(
        ValueError, match=r"60 of 100 results are in it; ask for more \(size\)"
    ):
        read_values(written(tmp_path / "r.json", content))


def test_nuggets_of_another_scale_are_named(tmp_path: Path) -> None:
    nugget = {"text": "a", "importance": "vital", "assignment": "maybe"}
    path = lines(tmp_path / "a.jsonl", [{"qid": "1", "nuggets": [nugget]}] * 2)
    with pytest.raises(
        ValueError, match="importance 'vital' and assignment 'maybe'; expected vital"
    ):
        read_values(path)


def test_two_models_of_one_name_keep_the_names_of_their_files(tmp_path: Path) -> None:
    paths = [
        str(written(tmp_path / f"{name}.json", log(sample("x", "C"), sample("y", "I"))))
        for name in ("before", "after")
    ]
    assert read_values(paths).runs == ["before", "after"]


# -- files of no known program ----------------------------------------------------------------------


def test_an_unknown_table_says_what_each_column_could_be(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    rows = [
        f"p{i},{llm},{seed},{i % 2}\n"
        for i in range(6)
        for llm in "ab"
        for seed in (1, 2, 3)
    ]
    path.write_text("problem,llm,seed,correct\n" + "".join(rows))
    with pytest.raises(
        ValueError,
        match=r"it has problem, llm, seed, correct \(could be a run \(run=\): problem, llm; "
        r"a repeat \(where=\): seed; values: correct\)",
    ):
        read_values(path)
    table = read_values(path, query="problem", run="llm", where={"seed": 1})
    assert (table.runs, len(table.query_ids)) == (["a", "b"], 6)


def test_the_column_of_runs_may_be_named(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    path.write_text("id,run,arm,acc\n1,7,old,1\n2,7,old,0\n1,8,new,1\n2,8,new,1\n")
    assert read_values(path).runs == ["7", "8"]
    assert read_values(path, run="arm").runs == ["old", "new"]
    with pytest.raises(
        ValueError, match=r"has no column 'amr' to name runs: .*did you mean 'arm'"
    ):
        read_values(path, run="amr")


def test_words_of_the_command_line_settle_an_unknown_table(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "results.csv"
    rows = [
        f"p{i},{llm},{seed},{i % 2}\n"
        for i in range(6)
        for llm in "ab"
        for seed in (1, 2, 3)
    ]
    path.write_text("problem,llm,seed,correct\n" + "".join(rows))
    assert exit_code("compare", "--values", str(path)) == 1
    assert "a run (--run-column)" in capfd.readouterr().err
    options = ["--query-column", "problem", "--run-column", "llm"]
    assert exit_code("compare", "--values", str(path), *options) == 1
    refused = capfd.readouterr().err
    assert "say what they are: --repeats-are samples" in refused
    assert "as --where seed=1 does" in refused
    assert (
        exit_code("compare", "--values", str(path), *options, "--where", "seed=1") == 0
    )


def test_compare_and_benchmark_take_the_same_arguments() -> None:
    files = [str(FILES / f"samples_gsm8k_{name}.jsonl") for name in ("main", "branch")]
    options: dict[str, Any] = {"where": {"filter": "strict-match"}}
    result = irl.compare(values=files, **options)
    assert result.table()["wins"].tolist() == [10]
    suite = irl.benchmark(values={"gsm8k": files}, **options)
    assert suite["gsm8k"].table()["wins"].tolist() == [10]


def test_each_format_has_an_example_here() -> None:
    assert [one.program for one in FORMATS] == [
        *(
            "inspect_ai",
            "lm-eval",
            "HELM",
            "OpenSearch",
            "SWE-bench",
            "DeepEval",
            "promptfoo",
        ),
        "nuggetizer",
        "EvalPlus",
    ]


# -- samples of lm-eval: the same documents, and the same filter --------------------------------------


def samples_of_lm_eval(
    folder: Path, name: str, hashes: str, filters: str = "f"
) -> Path:
    rows = [
        {"doc_id": i, "metrics": ["acc"], "acc": i % 2, "doc_hash": text, "filter": one}
        for one in filters
        for i, text in enumerate(hashes)
    ]
    path = folder / f"{name}.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def test_an_id_that_is_another_document_is_refused(tmp_path: Path) -> None:
    a = samples_of_lm_eval(tmp_path, "a", "wxyz")
    for hashes in ("xwyz", "wxyv", "efgh"):
        b = samples_of_lm_eval(tmp_path, "b", hashes)
        with pytest.raises(
            ValueError,
            match=r"b.jsonl, doc_id '\d': doc_id '\d' stands for another document than in the "
            r"other runs, by doc_hash; give samples of one version of the task, or if the "
            r"documents are the same, say so: query='doc_id'",
        ):
            read_values([a, b])
        assert len(read_values([a, b], query="doc_id").query_ids) == 4
    b = samples_of_lm_eval(tmp_path, "b", "wxyz")
    assert len(read_values([a, b]).query_ids) == 4


def test_runs_of_different_filters_are_said_to_be(tmp_path: Path) -> None:
    a = samples_of_lm_eval(tmp_path, "a", "wxyz", "s")
    b = samples_of_lm_eval(tmp_path, "b", "wxyz", "t")
    said = f"The runs differ in their filter: s in {a}; t in {b}."
    assert read_values([a, b]).notes == (said,)
    assert said in " ".join(irl.compare(values=[a, b]).summary(full=True).split())
    both = [samples_of_lm_eval(tmp_path, name, "wxyz", "st") for name in "cd"]
    assert read_values(both, where={"filter": "s"}).notes == ()
    assert read_values([a, both[0]], where={"filter": "s"}).notes == ()


# -- EvalPlus, and results beside settings ---------------------------------------------------------


def eval_plus(*solutions: list[tuple[str, str | None]]) -> dict[str, Any]:
    """What EvalPlus writes: a list of solutions for each task, each with two statuses."""
    tasks = {}
    for number, statuses in enumerate(solutions):
        tasks[f"HumanEval/{number}"] = [
            {"task_id": f"HumanEval/{number}", "base_status": base, "plus_status": plus}
            for base, plus in statuses
        ]
    return {"date": "2026-01-01 10:00", "hash": "a1", "eval": tasks}


def test_eval_plus_counts_what_passed(tmp_path: Path) -> None:
    passed, failed, half = ("pass", "pass"), ("fail", "pass"), ("pass", "timeout")
    for run, tasks in {
        "a": [passed, failed, half],
        "b": [half, passed, failed],
    }.items():
        content = eval_plus(*([one] for one in tasks))
        (tmp_path / f"{run}.json").write_text(json.dumps(content))
    table = read_values(tmp_path)
    assert table.query_ids == ["HumanEval/0", "HumanEval/1", "HumanEval/2"]
    assert table.values["base"].tolist() == [[1, 0, 1], [1, 1, 0]]
    assert table.values["plus"].tolist() == [[1, 0, 0], [0, 1, 0]]


def test_several_solutions_of_eval_plus_are_repeats(tmp_path: Path) -> None:
    for run in "ab":
        content = eval_plus([("pass", None), ("fail", None)], [("pass", None)] * 2)
        (tmp_path / f"{run}.json").write_text(json.dumps(content))
    with pytest.raises(
        ValueError, match=r'the rows differ in sample .* repeats="samples"'
    ):
        read_values(tmp_path)
    table = read_values(tmp_path, repeats="samples")
    assert table.values["base"].tolist() == [[0.5, 1], [0.5, 1]]


@pytest.mark.parametrize(
    ("content", "program"),
    [
        ({"results": {"arc": {"acc,none": 0.5}}, "configs": {}, "versions": {}}, "lm-eval"),
        ({"results": {"arc": {"acc": 0.5}}, "versions": {"arc": 1}, "config": {}}, "lm-eval"),
        ({"results": {"recall": 0.5, "mrr": 0.3}, "config": {"k": 10}}, "a program's results"),
        ({"results": [{"query": "a", "score": 1}], "config": {}}, "a program's results"),
        ({"results": {"q1": {"AP": 1}}, "model_name": "m"}, "a program's results"),
        ({"results": {"q1": {"AP": 1}}, "date": "2026", "args": {}}, "a program's results"),
    ],
)  # fmt: skip
def test_results_beside_settings_are_those_of_their_program(
    content: Any, program: str, tmp_path: Path
) -> None:
    (tmp_path / "a.json").write_text(json.dumps(content))
    with pytest.raises(ValueError, match=program) as raised:
        read_values(tmp_path / "a.json")
    assert ("lm-eval" in str(raised.value)) is (program == "lm-eval")
