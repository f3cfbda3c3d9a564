"""Runs whose document ids are not those of the qrels are said, with what would make them meet."""

from __future__ import annotations

import json
import re
import unicodedata
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ir_measures
import pandas as pd
import polars as pl
import pytest

import ir_lexirecall as irl
from ir_lexirecall import cli, meta
from ir_lexirecall.data.aligned_run import AlignedRun
from ir_lexirecall.data.alignment import align
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.io.groups import read_groups
from ir_lexirecall.io.id_forms import QUERY_FORMS, matches
from ir_lexirecall.judging.files import merged, merged_judges

QUERIES = [f"q{i}" for i in range(30)]
QRELS = {q: {f"FT911-{q[1:]}{i}": i % 2 for i in range(8)} for q in QUERIES}
GOOD = {
    q: {doc_id: float(i) for i, doc_id in enumerate(docs)} for q, docs in QRELS.items()
}


def written(form: Callable[[str], str], some: int = 30) -> dict[str, dict[str, float]]:
    """The run with the ids of some queries written otherwise."""
    return {
        q: {form(d) if i < some else d: score for d, score in docs.items()}
        for i, (q, docs) in enumerate(GOOD.items())
    }


LOWER = written(str.lower)
DOORS = {
    "compare": lambda allow: irl.compare(
        QRELS, {"good": GOOD, "lower": LOWER}, "AP", allow_empty=allow
    ),
    "gate": lambda allow: irl.gate(QRELS, GOOD, LOWER, "AP", allow_empty=allow),
    "benchmark": lambda allow: irl.benchmark(
        QRELS, {"good": GOOD, "lower": LOWER}, ["AP"], allow_empty=allow
    ),
    "evaluate": lambda allow: irl.evaluate("AP", QRELS, LOWER, allow_empty=allow),
    "tie_audit": lambda allow: irl.tie_audit(
        "AP", QRELS, {"lower": LOWER}, allow_empty=allow
    ),
}


@pytest.mark.parametrize("door", DOORS)
def test_a_run_without_judged_documents_is_refused(door: str) -> None:
    said = "retrieves nothing that the qrels judge.*'ft911-00'.*'FT911-00' are the same in lower case"
    with pytest.raises(ValueError, match=f"^{door}: .*{said}; allow_empty=True"):
        DOORS[door](False)
    with pytest.warns(UserWarning, match=said):
        DOORS[door](True)


@pytest.mark.parametrize(
    ("form", "words"),
    [
        (str.lower, "in lower case"),
        (lambda d: f" {d}", "without blanks"),
        (lambda d: f"{d}.0", "without '.0' at the end"),
        (lambda d: f"000{d}", "without leading zeros"),
        (lambda d: f"/data/ft/{d}", "without the folder"),
        (lambda d: f"data\\{d}.txt.gz", "without the folder and the ending"),
        (lambda d: f"{d}.html", "without the ending"),
        (lambda d: f"doc_{d}", "without the prefix"),
        (lambda d: f"msmarco_passage_{d}", "without the prefix"),
        (lambda d: d.removeprefix("FT"), "without the letters before the number"),
    ],
)
def test_what_would_make_ids_meet(form: Callable[[str], str], words: str) -> None:
    with pytest.warns(UserWarning, match=rf"are the same {words}$"):
        irl.evaluate("AP", QRELS, written(form))
    frame = pd.DataFrame(
        [(q, d, s) for q, docs in written(form).items() for d, s in docs.items()]
    )
    frame.columns = ["query_id", "doc_id", "score"]
    with pytest.warns(UserWarning, match=rf"are the same {words}$"):
        irl.evaluate("AP", QRELS, frame)


def test_far_fewer_judged_documents_than_in_the_other_runs_are_a_caveat() -> None:
    runs = {"good": GOOD, "other": GOOD, "partly": written(str.lower, 20)}
    (note,) = [
        note
        for note in irl.compare(QRELS, runs, "AP").diagnostics
        if "of its first" in note
    ]
    assert note == (
        "partly: 33% of its first 10 documents are judged, 100% of the other runs'; those without a judgment count as not "
        "relevant. The run's 'ft911-00' and the qrels' 'FT911-00' are the same in lower case."
    )
    few = irl.compare(QRELS, runs | {"partly": written(str.lower, 10)}, "AP")
    assert not [note for note in few.diagnostics if "of its first" in note]
    assert [
        note
        for note in irl.benchmark(
            {"x": QRELS, "y": QRELS}, {"x": runs, "y": runs}, ["AP"]
        ).diagnostics
        if "in lower" in note
    ]


def test_documents_of_another_source_are_no_other_form_of_judged_ones() -> None:
    numbers = [f"88{i:04d}" for i in range(20)]
    qrels = {q: {f"WSJ{n}": 1 for n in numbers} for q in ("q1", "q2")}
    good = {q: {doc: 1.0 - i / 100 for i, doc in enumerate(qrels[q])} for q in qrels}
    ids = ["WSJ880000", "WSJ880001", *(f"AP{n}" for n in numbers)]
    mixed = {q: {doc: 1.0 - i / 100 for i, doc in enumerate(ids)} for q in qrels}
    for run, is_form in (
        (mixed, False),
        ({q: dict.fromkeys(ids[2:], 1.0) for q in qrels}, True),
    ):
        result = irl.compare(qrels, {"good": good, "b": run}, "AP", allow_empty=True)
        (note,) = [note for note in result.diagnostics if "of its first" in note]
        assert ("are the same" in note) == is_form


WITHOUT_CAVEATS = {
    "tie_audit": lambda runs: irl.tie_audit("AP", QRELS, runs),
    "agreement": lambda runs: meta.Study(["AP", "RR"], QRELS, runs).agreement(),
}


@pytest.mark.parametrize("door", WITHOUT_CAVEATS)
def test_tables_without_caveats_warn_of_them(door: str) -> None:
    runs = {"good": GOOD, "other": GOOD, "partly": written(str.lower, 20)}
    with pytest.warns(
        UserWarning,
        match="^partly: 33% of its first 10 .*'ft911-00' .* are the same in lower case",
    ):
        WITHOUT_CAVEATS[door](runs)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        WITHOUT_CAVEATS[door]({"good": GOOD, "other": GOOD})


EMPTY = {
    "a few unjudged documents": {"q0": {"x": 1.0}},
    "16 unjudged documents": {f"q{i}": {"x": 1.0} for i in range(16)},
    "queries without documents": {q: {} for q in QRELS},
    "nothing": {},
    "aligned": align(Judgments.from_qrels(QRELS), {"q0": {"x": 1.0}}),
}


@pytest.mark.parametrize("kind", EMPTY)
@pytest.mark.parametrize("arm", ["baseline", "candidate"])
def test_an_arm_without_judged_documents_is_refused_however_small(
    kind: str, arm: str
) -> None:
    run = EMPTY[kind]
    qrels: Any = run.judgments if isinstance(run, AlignedRun) else QRELS
    runs = {"baseline": GOOD, "candidate": GOOD} | {arm: run}
    doors: list[Callable[..., Any]] = [
        lambda **options: irl.compare(
            qrels, runs, "AP", baseline="baseline", **options
        ),
        lambda **options: irl.gate(qrels, *runs.values(), "AP", **options),
        lambda **options: irl.benchmark(
            {"c": qrels}, {"c": runs}, ["AP"], baseline="baseline", **options
        ),
    ]
    for door in doors:
        with pytest.raises(
            ValueError,
            match=f"{arm}.* (retrieves nothing|is empty).*; allow_empty=True",
        ):
            door()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            door(allow_empty=True)


def test_excluded_documents_match() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        irl.compare(
            irl.load(QRELS, exclude="self"),
            {"good": GOOD, "own": {q: {q: 1.0, "x": 0.5} for q in QUERIES}},
            "AP",
        )


@pytest.mark.parametrize("command", ["eval", "compare", "gate", "report", "benchmark"])
def test_the_command_line_refuses_it(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "collection"
    folder.mkdir()
    (folder / "qrels.txt").write_text(
        "".join(
            f"{q} 0 {d} {g}\n" for q, docs in QRELS.items() for d, g in docs.items()
        )
    )
    for name, run in {"good": GOOD, "lower": LOWER}.items():
        rows = [
            f"{q} Q0 {d} 0 {s} {name}\n"
            for q, docs in run.items()
            for d, s in docs.items()
        ]
        (folder / f"{name}.run").write_text("".join(rows))
    files = [str(folder / name) for name in ("qrels.txt", "good.run", "lower.run")]
    words = [
        command,
        *([str(tmp_path)] if command == "benchmark" else files),
        "-m",
        "AP",
        "-o",
        str(tmp_path / "out"),
    ]
    assert cli.main(words) == 1
    assert (
        "run 'lower' retrieves nothing that the qrels judge" in capsys.readouterr().err
    )
    assert cli.main([*words, "--allow-empty"]) in (0, 3)


# -- query ids -----------------------------------------------------------------------------------------

QUERY_PAIRS = [
    ("1", "001", "without leading zeros"),
    ("1", "1.0", r"without '\.0' at the end"),
    ("Q1", "q1", "in lower case"),
    ("2024-1", "2024-1.1", "without the number after the last dot"),
    ("query-q01", "q01", "without the prefix"),
    ("topic_7", "7", "without the prefix"),
    ("q01", "1", "without the letters and zeros before the number"),
    ("q7", "7", "without the letters before the number"),
    (" 7", "7", "without blanks"),
    (
        unicodedata.normalize("NFD", "caf\u00e9"),
        "caf\u00e9",
        r"in one Unicode form \(NFC\)",
    ),
    ("topics/7", "7", "without the folder"),
]
QUERY_DOORS = {
    "evaluate": lambda qrels, run: irl.evaluate("AP", qrels, run, allow_empty=False),
    "compare": lambda qrels, run: irl.compare(
        qrels, {"one": run, "two": run | {"x": {}}}
    ),
    "gate": lambda qrels, run: irl.gate(qrels, run, run, "AP"),
    "tie_audit": lambda qrels, run: irl.tie_audit("AP", qrels, {"one": run}),
}


@pytest.mark.parametrize(("in_run", "in_qrels", "words"), QUERY_PAIRS)
@pytest.mark.parametrize("turned", [False, True])
def test_query_ids_that_do_not_meet(
    in_run: str, in_qrels: str, words: str, turned: bool
) -> None:
    if turned:
        in_run, in_qrels = in_qrels, in_run
    qrels, run = {in_qrels: {"a": 1}}, {in_run: {"a": 1.0}}
    firsts = re.escape(
        f"The run's first is {in_run!r}, the qrels' first is {in_qrels!r}. "
    )
    same = re.escape(f"The run's {in_run!r} and the qrels' {in_qrels!r} are the same ")
    with pytest.warns(
        UserWarning, match=f"do their query ids agree. {firsts}{same}{words}$"
    ):
        irl.evaluate("AP", qrels, run)


@pytest.mark.parametrize("door", QUERY_DOORS)
def test_every_door_shows_query_ids_of_both_sides(door: str) -> None:
    said = (
        r"The run's first is '1', the qrels' first is '001'\. .* without leading zeros"
    )
    with pytest.raises(ValueError, match=said):
        QUERY_DOORS[door](
            {"001": {"a": 1}, "002": {"b": 1}}, {"1": {"a": 1.0}, "2": {"b": 1.0}}
        )


def test_documents_in_two_unicode_forms() -> None:
    composed, decomposed = (
        unicodedata.normalize(form, "caf\u00e9") for form in ("NFC", "NFD")
    )
    with pytest.warns(UserWarning, match=r"are the same in one Unicode form \(NFC\)$"):
        irl.evaluate("AP", {"q": {composed: 1}}, {"q": {decomposed: 1.0}})


def test_query_ids_without_a_common_form() -> None:
    with pytest.warns(
        UserWarning, match="The run's first is 'x', the qrels' first is 'y'$"
    ):
        irl.evaluate("AP", {"y": {"a": 1}}, {"x": {"a": 1.0}})


def test_an_empty_run_is_called_so(tmp_path: Path) -> None:
    path = tmp_path / "empty.run"
    path.write_text("\n")
    for run in (
        {},
        [],
        str(path),
        pd.DataFrame(columns=["query_id", "doc_id", "score"]),
    ):
        with pytest.warns(UserWarning, match="the run is empty: it has no rows$"):
            irl.evaluate("AP", {"q": {"a": 1}}, run)


def test_added_judgments_and_groups_say_so() -> None:
    judgments = Judgments.from_qrels({"001": {"a": 1}})
    with pytest.raises(
        ValueError, match="added '1' and the qrels' '001' are the same without lead"
    ):
        merged(judgments, {"1": {"b": 1}})
    with pytest.raises(
        ValueError, match="first judge's 'Q1' and the second judge's 'q1' are the same"
    ):
        merged_judges({"Q1": {"b": 1}}, {"q1": {"b": 1}})
    with pytest.raises(
        ValueError, match="'q1' and the one with a group, 'Q1' are the same in lower"
    ):
        read_groups({"Q1": "a", "Q2": "b"}, ["q1", "q2"])


def test_ids_of_a_million_characters() -> None:
    long = {
        "dots": ".a" * 2**19,
        "folders": "/a" * 2**19,
        "letters": "a" * 2**20 + "!",
        "zeros": "0" * 2**20,
    }
    for name, text in long.items():
        assert not matches([text], ["b"], QUERY_FORMS), name


ACCENTED = (
    "caf\u00e9",
    "\u00c5ngstr\u00f6m",
    "\ud55c\uad6d\uc5b4",
    "na\u00efve",
)  # Hangul, too


def _as_file(run: dict[str, dict[str, float]], folder: Path) -> Path:
    lines = [
        f"{q} Q0 {d} 1 {score} tag\n"
        for q, docs in run.items()
        for d, score in docs.items()
    ]
    (folder / "accented.run").write_text("".join(lines), encoding="utf-8")
    return folder / "accented.run"


def _as_frame(run: dict[str, dict[str, float]], folder: Path) -> pd.DataFrame:
    rows = [(q, d, score) for q, docs in run.items() for d, score in docs.items()]
    return pd.DataFrame(rows, columns=["query_id", "doc_id", "score"])


FORMS_OF_RUNS = {"dict": lambda run, folder: run, "file": _as_file, "frame": _as_frame}


@pytest.mark.parametrize("name", ACCENTED)
@pytest.mark.parametrize("form", FORMS_OF_RUNS)
@pytest.mark.parametrize("forms", [("NFC", "NFD"), ("NFD", "NFC")])
def test_some_documents_in_another_unicode_form_are_counted(
    name: str, form: str, forms: tuple[str, str], tmp_path: Path
) -> None:
    in_qrels, in_run = (unicodedata.normalize(one, name) for one in forms)
    qrels = {"q": {in_qrels: 1, "b": 0, "c": 1}}
    run = FORMS_OF_RUNS[form]({"q": {in_run: 3.0, "b": 2.0, "c": 1.0}}, tmp_path)
    expected = f"1 of its ids is in the qrels in another Unicode form.*{re.escape(ascii(in_run))}"
    with pytest.warns(UserWarning, match=expected):
        irl.evaluate(["AP"], qrels, run)


def test_some_queries_in_another_unicode_form_are_counted() -> None:
    composed, decomposed = (
        unicodedata.normalize(form, "caf\u00e9") for form in ("NFC", "NFD")
    )
    qrels = {"q": {"a": 1}, composed: {"a": 1}}
    run = {"q": {"a": 1.0}, decomposed: {"a": 1.0, "b": 0.5}}
    with pytest.warns(
        UserWarning, match=r"run 'second': 1 of its ids is in the qrels in another"
    ):
        irl.compare(qrels, {"first": qrels, "second": run}, "AP")


ACCENTED_QRELS = {"q": {"caf\u00e9": 1, "b": 0}, "r": {"b": 1}}
DECOMPOSED = {"q": {"cafe\u0301": 2.0, "b": 1.0}, "r": {"b": 1.0}}


@pytest.mark.parametrize("form", FORMS_OF_RUNS)
def test_one_warning_names_all_runs_in_another_unicode_form(
    form: str, tmp_path: Path
) -> None:
    runs = {}
    for name in "dacb":
        (tmp_path / name).mkdir()
        runs[name] = FORMS_OF_RUNS[form](DECOMPOSED, tmp_path / name)
    runs["empty"] = {"q": {"x": 1.0}}
    with pytest.warns(UserWarning, match="do") as caught:
        irl.compare(ACCENTED_QRELS, runs, "AP", allow_empty=True)
    nothing_shared, other_forms = (str(warning.message) for warning in caught)
    assert nothing_shared.startswith("run 'empty' retrieves nothing that the qrels")
    assert other_forms.startswith("run 'a': 1 of its ids is in the qrels in another")
    assert other_forms.endswith(". The same holds for run 'b', run 'c', run 'd'")


def test_warnings_of_a_benchmark_name_the_collection() -> None:
    collections = {"one": ACCENTED_QRELS, "two": {"q": {"b": 1}, "r": {"b": 1}}}
    runs = {"x": DECOMPOSED, "y": DECOMPOSED}
    with pytest.warns(UserWarning, match="another Unicode form") as caught:
        irl.benchmark(collections, dict.fromkeys(collections, runs), "AP")
    (message,) = (str(warning.message) for warning in caught)
    assert message.startswith("collection 'one': run 'x': 1 of its ids is")
    assert message.endswith("The same holds for run 'y'")
    with pytest.warns(UserWarning, match=r"^run 'x': 1 of its ids"):
        irl.benchmark({"one": ACCENTED_QRELS}, {"one": runs}, "AP")


def test_curves_give_one_warning_for_several_runs() -> None:
    with pytest.warns(UserWarning, match="another Unicode form") as caught:
        irl.evaluation.evaluating.recall_curves(
            ACCENTED_QRELS, {"x": DECOMPOSED, "y": DECOMPOSED}
        )
    assert len(caught) == 1


@pytest.mark.parametrize("form", FORMS_OF_RUNS)
def test_accented_ids_that_meet_are_no_matter(form: str, tmp_path: Path) -> None:
    both = [unicodedata.normalize(one, "caf\u00e9") for one in ("NFC", "NFD")]
    qrels = {"q": {both[0]: 1, both[1]: 1, "b": 0}}
    run = {"q": {both[0]: 3.0, both[1]: 2.5, "\u00e9t\u00e9": 2.0, "\u65e5\u672c": 1.0}}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        irl.evaluate(["AP"], qrels, FORMS_OF_RUNS[form](run, tmp_path))


def test_an_iterator_that_was_read_before_is_called_so() -> None:
    rows = [ir_measures.ScoredDoc("q", "a", 1.0)]
    qrels, once = {"q": {"a": 1}}, "an iterator can be read only once: give a list"
    for spent in (iter(rows), (row for row in rows)):
        assert irl.evaluate("AP", qrels, spent).loc["q", "AP"] == 1
        with pytest.warns(UserWarning, match=f"it has no rows; {once}$"):
            irl.evaluate("AP", qrels, spent)
        with pytest.raises(ValueError, match=f"^compare: run 'b' is empty.*{once}"):
            irl.compare(qrels, {"a": rows, "b": spent}, "AP")


@pytest.mark.parametrize("ending", ["", "csv", "parquet", "jsonl"])
@pytest.mark.parametrize("n_documents", [3, 400])
def test_a_blank_at_the_end_of_some_ids_is_told(
    n_documents: int, ending: str, tmp_path: Path
) -> None:
    ids = [f"d{i}" for i in range(n_documents)]
    frame = pd.DataFrame({"query_id": "q", "doc_id": ids, "score": range(len(ids))})
    qrels = {"q": dict.fromkeys(ids, 1)}
    for blank in ("", " "):
        frame.loc[1, "doc_id"] = f"d1{blank}"
        run: Any = frame
        if ending:
            run = tmp_path / f"run{blank}.{ending}"
        if ending == "csv":
            frame.to_csv(run, index=False)
        elif ending == "parquet":
            frame.to_parquet(run)
        elif ending == "jsonl":
            frame.to_json(run, orient="records", lines=True)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always", UserWarning)
            irl.evaluate("AP", qrels, run)
        messages = [str(one.message) for one in told if one.category is UserWarning]
        assert len(messages) == len(blank)
        assert all("1 of its ids is in the qrels without" in one for one in messages)


def test_blanks_that_the_qrels_have_are_not_told() -> None:
    frame = pd.DataFrame({"query_id": "q", "doc_id": ["a ", "b", "c "], "score": 1.0})
    for qrels in ({"q": {"a ": 1, "a": 1}}, {"q": {"a ": 1, "b": 0}}, {"q": {"b": 1}}):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            irl.evaluate("AP", qrels, frame)


LOOK_ALIKE = {
    "blank at the end": "d1 ",
    "blank in front": " d1",
    "end of line": "d1\n",
    "carriage return": "d1\r",
    "zero byte": "d1\0",
    "delete": "d1\x7f",
    "vertical tab": "d1\v",
    "form feed": "d1\f",
    "width zero": "d\u200b1",
    "direction": "\u200ed1",
    "byte order mark": "\ufeffd1",
    "soft hyphen": "d\u00ad1",
    "blank that does not break": "d1\u00a0",
    "wide letters": "\uff441",
}


def _as_json(run: dict[str, dict[str, float]], folder: Path) -> Path:
    (folder / "run.json").write_text(json.dumps(run))
    return folder / "run.json"


def _as_lines(run: dict[str, dict[str, float]], folder: Path) -> Path:
    _as_frame(run, folder).to_json(folder / "r.jsonl", orient="records", lines=True)
    return folder / "r.jsonl"


def _as_parquet(run: dict[str, dict[str, float]], folder: Path) -> Path:
    _as_frame(run, folder).to_parquet(folder / "run.parquet")
    return folder / "run.parquet"


def _as_csv(run: dict[str, dict[str, float]], folder: Path) -> Path:
    _as_frame(run, folder).to_csv(folder / "run.csv", index=False)
    return folder / "run.csv"


def _as_polars(run: dict[str, dict[str, float]], folder: Path) -> Any:
    return pl.DataFrame(_as_frame(run, folder))


def _as_arrow(run: dict[str, dict[str, float]], folder: Path) -> Any:
    return _as_polars(run, folder).to_arrow()


ALL_FORMS: dict[str, Callable[..., Any]] = {
    "dict": lambda run, folder: run,
    **{made.__name__: made for made in (_as_frame, _as_polars, _as_arrow, _as_json)},
    **{made.__name__: made for made in (_as_lines, _as_parquet, _as_csv)},
}


@pytest.mark.parametrize("odd", LOOK_ALIKE.values(), ids=LOOK_ALIKE)
@pytest.mark.parametrize("form", ALL_FORMS)
@pytest.mark.parametrize("side", ["run", "qrels"])
@pytest.mark.parametrize("of", ["documents", "queries"])
def test_ids_that_look_alike_and_differ_are_told(
    of: str, side: str, form: str, odd: str, tmp_path: Path
) -> None:
    def run_with(one: str) -> dict[str, dict[str, float]]:
        if of == "documents":
            return {"q": {one: 3.0, "b": 2.0, "c": 1.0}}
        return {"q": {"b": 2.0}, one: {"b": 2.0, "c": 1.0}}

    in_run, in_qrels = (odd, "d1") if side == "run" else ("d1", odd)
    qrels = {
        query_id: dict.fromkeys(docs, 1)
        for query_id, docs in run_with(in_qrels).items()
    }
    run = ALL_FORMS[form](run_with(in_run), tmp_path)
    if form == "_as_csv" and in_run.startswith("\ufeff") and of == "queries":
        pytest.skip("the mark of a part does not count")
    if form == "_as_csv" and in_run.endswith("\r"):
        pytest.skip("a carriage return within a line is an error")
    if form == "_as_csv" and "\0" in in_run:
        pytest.skip("a zero byte within a text is an error")
    with pytest.warns(UserWarning, match="1 of its ids is in the qrels .*not meet"):
        irl.evaluate("AP", qrels, run)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        irl.evaluate("AP", run_with(in_run), run)


DEEP = {
    "blank at the end": "d18000 ",
    "blank in front": " d18000",
    "width zero": "d18000\u200b",
    "wide letters": "\uff4418000",
}


@pytest.mark.parametrize("odd", DEEP.values(), ids=DEEP)
@pytest.mark.parametrize(
    "form", ["dict", "_as_file", "_as_lines", "_as_parquet", "_as_csv"]
)
@pytest.mark.parametrize("side", ["run", "qrels"])
def test_an_id_deep_in_a_file_that_looks_alike_is_told(
    side: str, form: str, odd: str, tmp_path: Path
) -> None:
    ids = [f"d{i}" for i in range(18_001)]
    both = [odd if one == "d18000" else one for one in ids], ids
    of_run, of_qrels = both if side == "run" else both[::-1]
    if form == "_as_file" and " " in "".join(of_run):
        pytest.skip("blanks separate the fields")
    as_file = {"_as_file": _as_file, **ALL_FORMS}[form]
    run = as_file({"q": {one: -float(i) for i, one in enumerate(of_run)}}, tmp_path)
    with pytest.warns(UserWarning, match="1 of its ids is in the qrels .*not meet"):
        irl.evaluate("AP", {"q": dict.fromkeys(of_qrels[-9:], 1)}, run)


@pytest.mark.parametrize("form", ALL_FORMS)
def test_ids_with_blanks_within_are_not_told(form: str, tmp_path: Path) -> None:
    run = {"q 1": {"a b": 3.0, "c": 2.0}}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        irl.evaluate("AP", {"q 1": {"a b": 1, "ab": 1}}, ALL_FORMS[form](run, tmp_path))


def by_query(table: pd.DataFrame, column: str) -> dict[str, dict[str, float]]:
    """Return a run, or qrels, as dicts of dicts."""
    dicts: dict[str, dict[str, float]] = {}
    for query, doc, number in table[["query_id", "doc_id", column]].itertuples(
        index=False
    ):
        dicts.setdefault(query, {})[doc] = number
    return dicts


def test_qrels_and_run_in_the_wrong_order_are_told_apart_by_their_numbers() -> None:
    """As dicts they have one form, so that any numbers were taken for grades."""
    qrels = by_query(irl.demo.qrels(), "relevance")
    run = by_query(irl.demo.run("bm25"), "score")
    said = "while many grades of the qrels are fractions and differ"
    with pytest.warns(UserWarning, match=said):
        irl.evaluate("AP", run, qrels)
    with pytest.warns(UserWarning, match=said):
        irl.compare(run, {"a": qrels, "b": by_query(irl.demo.run("ql"), "score")}, "AP")
    steps = {query: dict.fromkeys(docs, 1.0) for query, docs in run.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        irl.evaluate("AP", qrels, run)
        irl.evaluate("AP", qrels, steps)
