"""Simulations of systematic reviews: read as ASReview reads them, valued as its own tools value them."""

from __future__ import annotations

import io
import json
import sqlite3
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import asreview_lexirecall
import ir_measures
import numpy as np
import pandas as pd
import pytest

import ir_lexirecall as irl
from ir_lexirecall.io import archives
from ir_lexirecall.io.reviews import read_asreview, read_reviews

FILES = (
    Path(__file__).parents[1] / "files" / "asreview"
)  # simulations of ASReview 2.2 and 3.0.8
INSIGHTS = json.loads(
    (FILES / "insights.json").read_text()
)  # what asreview-insights 1.6.1 says of them
Labels = Sequence[tuple[int, int | None, str | None]]


def project(
    path: Path,
    labels: Labels,
    included: Sequence[int | None],
    *,
    version: int = 3,
    name: str = "made.csv",
    model: str = "nb",
    duplicates: dict[int, int] | None = None,
) -> Path:
    """A file as ASReview writes it: labels are (record, label, querier), where priors have no querier."""
    duplicates = duplicates or {}
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(
            "project.json",
            json.dumps({"version": f"{version}.0", "datasets": [{"name": name}]}),
        )
        databases = (
            [("results.db", "results.db")]
            if version == 3
            else [("data_store.db", "reviews/1/results.db")]
        )
        for records_name, results_name in databases:
            for target in dict.fromkeys((records_name, results_name)):
                connection = sqlite3.connect(":memory:")
                if target == records_name:
                    connection.execute(
                        "CREATE TABLE record (record_id INTEGER PRIMARY KEY, included INTEGER, duplicate_of INTEGER)"
                    )
                    rows = [
                        (i, value, duplicates.get(i))
                        for i, value in enumerate(included)
                    ]
                    connection.executemany("INSERT INTO record VALUES (?, ?, ?)", rows)
                if target == results_name:
                    connection.execute(
                        "CREATE TABLE results (record_id INTEGER UNIQUE, label INTEGER, classifier TEXT, feature_extractor TEXT, querier TEXT)"
                    )
                    chosen = [
                        (r, label, q and model, q and "tfidf", q)
                        for r, label, q in labels
                    ]
                    connection.executemany(
                        "INSERT INTO results VALUES (?, ?, ?, ?, ?)", chosen
                    )
                connection.commit()
                file = path.with_suffix(".db")
                file.unlink(missing_ok=True)
                connection.execute("VACUUM INTO ?", (str(file),))
                archive.write(file, target)
    return path


# -- real files ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", INSIGHTS)
def test_values_are_those_of_asreview_insights(name: str) -> None:
    theirs = INSIGHTS[name]
    reviews = read_reviews(FILES / name)
    [review], [run] = reviews.qrels, reviews.runs.values()
    assert reviews.n == {review: theirs["n"]}
    cutoffs = {
        share: int(np.floor(float(share) * theirs["n"] + 1e-9))
        for share in theirs["recall"]
    }
    measures = {
        "loss": "RecallLoss",
        "atd": "ATD",
        **{share: f"R@{max(k, 1)}" for share, k in cutoffs.items()},
    }
    ours = irl.evaluate(measures, reviews.qrels, run).loc[review]
    assert ours["loss"] == pytest.approx(theirs["loss"], abs=1e-15)
    assert ours["atd"] == theirs["atd"]
    assert [ours[share] for share in cutoffs] == [
        theirs["recall"][share] for share in cutoffs
    ]


def test_insights_rounds_the_number_that_chance_finds() -> None:
    """Work saved over sampling differs: at the last recall level below r, and against round(linspace(0, m, n))."""
    reviews = read_reviews(FILES / "bees-nb-v2.asreview")
    [run] = reviews.runs.values()
    ours = irl.evaluate("WSS@0.95", reviews.qrels, run).iloc[0, 0]
    grades = [reviews.qrels["bees"][record] for record in run["bees"]]
    m, n = sum(grades), len(grades)
    last = max(i for i, grade in enumerate(grades, 1) if grade)
    j = int(np.searchsorted(np.arange(1, m + 1) / m, 0.95, side="right"))
    chance = np.searchsorted(np.round(np.linspace(0, m, n)), j)
    found = np.searchsorted(np.cumsum(grades), j)
    assert (chance - found) / n == pytest.approx(INSIGHTS["bees-nb-v2.asreview"]["wss"])
    assert ours == pytest.approx((n - last) / n - 0.05)
    assert ours != pytest.approx(INSIGHTS["bees-nb-v2.asreview"]["wss"], abs=0.004)


def test_both_versions_say_the_same() -> None:
    for model in ("nb", "logistic"):
        old, new = (
            read_asreview(FILES / f"bees-{model}-v{version}.asreview")
            for version in (2, 3)
        )
        assert old == new
        assert (old.review, old.model) == ("bees", f"{model}-tfidf-max")
        assert len(old.priors) == 2
        assert not old.priors & set(old.ranking)


def test_models_are_compared_on_reviews() -> None:
    files = [
        FILES / f"{review}-{model}-v2.asreview"
        for review in ("bees", "tides")
        for model in ("nb", "logistic")
    ]
    reviews = read_reviews(files)
    assert reviews.n == {"bees": 22, "tides": 22}
    result = irl.compare(reviews.qrels, reviews.runs)
    assert len(result.query_ids) == 2
    named = read_reviews({"mine": files[0::2], "theirs": files[1::2]})
    assert list(named.runs) == ["mine", "theirs"]
    assert list(named.runs["mine"].values()) == list(
        reviews.runs["nb-tfidf-max"].values()
    )


# -- made files ------------------------------------------------------------------------------------------

PRIORS: Labels = [(5, 1, None), (6, 0, None)]
LABELS: Labels = [*PRIORS, (0, 0, "max"), (2, 1, "max"), (1, 0, "max"), (4, 1, "max")]
INCLUDED = [0, 0, 1, 0, 1, 1, 0, 0]


@pytest.mark.parametrize("version", [2, 3])
def test_the_ranking_is_the_order_of_labelling(version: int, tmp_path: Path) -> None:
    path = project(tmp_path / "made.asreview", LABELS, INCLUDED, version=version)
    found = read_asreview(path)
    assert found.ranking == ("0", "2", "1", "4", "3", "7")
    assert found.relevant == {"2", "4"}
    assert (found.labelled, found.priors) == (4, {"5", "6"})
    whole = read_asreview(path, priors=True)
    assert whole.ranking == ("5", "6", "0", "2", "1", "4", "3", "7")
    assert whole.relevant == {"2", "4", "5"}
    reviews = read_reviews(path)
    assert reviews.n == {"made": 6}
    values = irl.evaluate(
        ["LastRel", "ATD"], reviews.qrels, reviews.runs["nb-tfidf-max"]
    )
    assert values.loc["made"].tolist() == [4, 3]


def test_what_was_not_found_stands_last(tmp_path: Path) -> None:
    found = read_asreview(project(tmp_path / "made.asreview", LABELS[:4], INCLUDED))
    assert found.ranking == ("0", "2", "1", "3", "7", "4")


def test_labels_count_more_than_the_data_set(tmp_path: Path) -> None:
    labels = [*PRIORS, (0, 1, "max"), (2, 0, "max"), (3, None, "max")]
    found = read_asreview(project(tmp_path / "made.asreview", labels, [None] * 8))
    assert (found.relevant, found.labelled) == ({"0"}, 2)
    assert found.ranking == ("0", "2", "1", "3", "4", "7")


def test_duplicates_are_no_records(tmp_path: Path) -> None:
    found = read_asreview(
        project(tmp_path / "made.asreview", LABELS, INCLUDED, duplicates={7: 3})
    )
    assert found.ranking == ("0", "2", "1", "4", "3")


@pytest.mark.parametrize("version", [2, 3])
def test_duplicates_that_are_labelled_with_their_record_are_no_records(
    version: int, tmp_path: Path
) -> None:
    """As ASReview 3 labels them: 5 and 8 (priors), 2 and 9, each at once."""
    labels = [
        (5, 1, None),
        (8, 1, None),
        (6, 0, None),
        (0, 0, "max"),
        (2, 1, "max"),
        (9, 1, "max"),
        (4, 1, "max"),
    ]
    path = tmp_path / "made.asreview"
    project(path, labels, [*INCLUDED, 1, 1], duplicates={8: 5, 9: 2}, version=version)
    found = read_asreview(path)
    assert found.ranking == ("0", "2", "4", "1", "3", "7")
    assert (found.relevant, found.labelled, found.priors) == ({"2", "4"}, 3, {"5", "6"})
    assert read_asreview(path, priors=True).ranking[:2] == ("5", "6")


def test_files_that_do_not_fit_each_other(tmp_path: Path) -> None:
    one = project(tmp_path / "one.asreview", LABELS, INCLUDED)
    other_priors = [(5, 1, None), (7, 0, None), *LABELS[2:]]
    two = project(tmp_path / "two.asreview", other_priors, INCLUDED, model="svm")
    with pytest.raises(
        ValueError,
        match=r"two.asreview: review 'made' has other records than in .*one.asreview.*priors=True",
    ):
        read_reviews([one, two])
    assert len(read_reviews([one, two], priors=True).runs) == 2
    with pytest.raises(
        ValueError,
        match=r"model 'nb-tfidf-max' has a simulation of review 'made' already.*name the models",
    ):
        read_reviews([one, project(tmp_path / "three.asreview", LABELS, INCLUDED)])
    elsewhere = project(
        tmp_path / "four.asreview", LABELS, INCLUDED, name="else.csv", model="svm"
    )
    with pytest.raises(
        ValueError, match=r"model 'nb-tfidf-max' has no simulation of review 'else'"
    ):
        read_reviews([one, elsewhere])
    longer = project(tmp_path / "five.asreview", LABELS, [*INCLUDED, 0], model="svm")
    with pytest.raises(
        ValueError, match=r"review 'made' has other records.*such as of record 8"
    ):
        read_reviews([one, longer])
    other = project(
        tmp_path / "six.asreview", [*LABELS[:-1], (4, 0, "max")], INCLUDED, model="svm"
    )
    with pytest.raises(ValueError, match="or other labels, such as of record 4"):
        read_reviews([one, other])


@pytest.mark.parametrize("label", ["yes", 7, 1.5, "x" * 1000])
def test_labels_of_the_data_set_are_0_or_1(label: Any, tmp_path: Path) -> None:
    odd: list[Any] = [label, *INCLUDED[1:]]
    path = project(tmp_path / "odd.asreview", LABELS, odd)
    with pytest.raises(
        ValueError, match=r"the data set labels record 0 .*, not 0 or 1$"
    ):
        read_asreview(path)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    whole = (FILES / "bees-nb-v3.asreview").read_bytes()
    for content, message in [
        (b"", "not a project of ASReview, or a damaged one"),
        (whole[: len(whole) // 2], "not a project of ASReview, or a damaged one"),
        (archive({"run.txt": b"q Q0 d 1 1 t"}), "it has no project.json"),
        (
            archive({"project.json": b"{"}),
            r"\(project.json\), line 1: taken for JSON, but",
        ),
        (
            archive(
                {"project.json": b'{"version": "1.6"}', "reviews/1/results.sql": b""}
            ),
            "ASReview 1.6, which is not.*migrate",
        ),
        (
            archive(
                {"project.json": b'{"name": "x"}', "results.db": b"no database at all"}
            ),
            "its database cannot be read",
        ),
        (
            archive({"project.json": b"{}", "results.db": b""}),
            "its database cannot be read: no such table",
        ),
        (
            archive({"project.json": b"[]", "results.db": b""}),
            "its project.json holds .., not what ASReview writes",
        ),
        (
            b"".join([whole[:4000], bytes(600), whole[4600:]]),
            "not a project of ASReview, or a damaged one: .*again",
        ),
    ]:
        (tmp_path / "bad.asreview").write_bytes(content)
        with pytest.raises(
            ValueError, match=f"read_asreview: .*bad.asreview.*{message}"
        ):
            read_asreview(tmp_path / "bad.asreview")
    with pytest.raises(ValueError, match="there is no such file"):
        read_reviews([tmp_path / "nowhere.asreview"])
    with pytest.raises(ValueError, match=r"no .asreview files are given"):
        read_reviews([])
    with pytest.raises(ValueError, match="no record is relevant"):
        read_asreview(project(tmp_path / "none.asreview", [(0, 0, "max")], [0, 0]))
    with pytest.raises(ValueError, match="the label of record 1 is 3, not 0 or 1"):
        read_asreview(project(tmp_path / "odd.asreview", [(1, 3, "max")], [0, 1]))
    with pytest.raises(
        ValueError, match="record 9 was labelled, but is not in the data set"
    ):
        read_asreview(project(tmp_path / "odd.asreview", [(9, 1, "max")], [0, 1]))


def archive(files: dict[str, bytes]) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as made:
        for name, data in files.items():
            made.writestr(name, data)
    return content.getvalue()


# -- other formats ---------------------------------------------------------------------------------------


def test_runs_of_clef_tar_are_read(tmp_path: Path) -> None:
    """Topic, interaction (or threshold), document, rank, score, run: the whole collection is ranked."""
    (tmp_path / "run").write_text(
        "CD007394 AF 23 1 0.9 bm25\nCD007394 AF 21 2 0.5 bm25\nCD007394 NF 22 3 -0.1 bm25\n"
    )
    (tmp_path / "qrels").write_text(
        "CD007394 0 21 1\nCD007394 0 22 0\nCD007394 0 23 0\n"
    )
    values = irl.evaluate(["LastRel", "WSS@1"], tmp_path / "qrels", tmp_path / "run")
    assert values.loc["CD007394"].tolist() == [2, pytest.approx(1 / 3)]


def test_frames_of_tarexp_are_judgments_and_runs() -> None:
    """``getMetrics`` evaluates one frame of all documents, with columns of its own."""
    frame = pd.DataFrame(
        {
            "query_id": "0",
            "iteration": "3",
            "relevance": [0, 1, 0, 1],
            "score": [0.1, 0.7, 0.2, 0.3],
            "known": [True] * 4,
        }
    ).assign(control=False, doc_id=list("0123"))
    measures = [irl.LastRel, irl.WSS @ 0.95, ir_measures.parse_measure("LR"), irl.TSE]
    values = ir_measures.calc_aggregate(measures, frame, frame)
    assert [values[m] for m in measures[:2]] == [2, pytest.approx(0.45)]
    assert values[irl.TSE] == 0.5
    tarexp: Any = pytest.importorskip("tarexp", reason="TARexp is not installed")
    ledger = tarexp.ledger.Ledger(4)
    ledger.annotate({i: bool(grade) for i, grade in enumerate(frame["relevance"])})
    found = tarexp.evaluation.evaluate(
        frame["relevance"], ledger, frame["score"].to_numpy(), measures
    )
    assert {
        key.measure: value for key, value in found.items() if key.section == "all"
    } == values


# -- curves and the command ------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_command_compares_evaluates_and_draws(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    pytest.importorskip("matplotlib")
    files = [
        str(FILES / f"{review}-{model}-v2.asreview")
        for review in ("bees", "tides")
        for model in ("nb", "logistic")
    ]
    command = asreview_lexirecall.EntryPoint()
    command.execute(["eval", *files, "-m", "RecallLoss", "--by-review"])
    assert f"{INSIGHTS['bees-nb-v2.asreview']['loss']:.4f}" in capsys.readouterr().out
    command.execute(["compare", *files])
    assert "logistic-tfidf-max" in capsys.readouterr().out
    command.execute(["plot", *files, "-o", str(tmp_path / "recall.svg")])
    assert (tmp_path / "recall.svg").stat().st_size > 1000
    with pytest.raises(
        SystemExit, match=r"asreview lexirecall: .*there is no such file"
    ):
        command.execute(["compare", str(tmp_path / "nowhere.asreview")])
    capsys.readouterr()
    command.execute(["compare", f"mine={files[0]}", f"yours={files[1]}", files[0]])
    assert "3 runs, 1 query" in (out := capsys.readouterr().out)
    assert all(name in out for name in ("mine", "yours", "nb-tfidf-max"))


def test_asreview_reads_the_same(tmp_path: Path) -> None:
    asreview: Any = pytest.importorskip(
        "asreview", reason="ASReview is not installed; stored files stand for it"
    )
    name = f"bees-nb-v{asreview.__version__.partition('.')[0]}.asreview"
    file = FILES / name
    if hasattr(asreview, "open_state"):
        with asreview.open_state(str(file)) as state:
            table = state.get_results_table(
                columns=["record_id", "label"], priors=False
            )
    else:
        with asreview.Project.load(str(file), str(tmp_path)).db as database:
            table = database.get_results_table(
                columns=["record_id", "label"], priors=False
            )
    found = read_asreview(file)
    assert found.ranking[: found.labelled] == tuple(map(str, table["record_id"]))
    relevant = set(map(str, table.loc[table["label"] == 1, "record_id"]))
    assert relevant == found.relevant & set(found.ranking[: found.labelled])


# -- files made to fill the memory, or never to end ------------------------------------------------------


def archived(
    path: Path,
    *statements: str,
    project: bytes = b'{"name": "made"}',
    packed: bool = True,
) -> Path:
    """Write a project whose database is made by some statements."""
    database = path.with_suffix(".db")
    database.unlink(missing_ok=True)
    connection = sqlite3.connect(database)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()
    with zipfile.ZipFile(
        path, "w", zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED
    ) as archive:
        archive.writestr("project.json", project)
        archive.write(database, "results.db")
    return path


ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
RECORD = "CREATE TABLE record (record_id INTEGER PRIMARY KEY, included INTEGER, duplicate_of INTEGER)"
RESULTS = (
    "CREATE TABLE results (record_id, label, classifier, feature_extractor, querier)"
)
FILLED = (RECORD, "INSERT INTO record VALUES (1, 1, NULL)")
LABEL = "INSERT INTO results VALUES (1, 1, 'nb', 'tfidf', 'max')"
TRAPS = {
    "an endless view of records": (
        (
            f"CREATE VIEW record AS {ENDLESS} SELECT i AS record_id, 1 AS included, NULL AS duplicate_of FROM n",
            RESULTS,
        ),
        "record is not a table that is stored",
    ),
    "an endless view in capitals": (
        (
            f"CREATE VIEW RECORD AS {ENDLESS} SELECT i AS record_id, 1 AS included, NULL AS duplicate_of FROM n",
            RESULTS,
        ),
        "record is not a table that is stored",
    ),
    "an endless view of results": (
        (
            *FILLED,
            f"CREATE VIEW results AS {ENDLESS} SELECT 1 record_id, 1 label, 'a' classifier, 'b' feature_extractor, 'c' querier FROM n",
        ),
        "results is not a table that is stored",
    ),
    "a finite view": (
        (
            *FILLED,
            RESULTS.replace("TABLE results", "TABLE other"),
            "CREATE VIEW results AS SELECT * FROM other",
        ),
        "results is not a table that is stored",
    ),
    "a computed column": (
        (
            *FILLED,
            "CREATE TABLE results (record_id, label, classifier AS (hex(zeroblob(9000000))), feature_extractor, querier)",
        ),
        "the column classifier of results is computed, not stored",
    ),
    "a virtual table": (
        (
            "CREATE VIRTUAL TABLE record USING fts5(record_id, included, duplicate_of)",
            RESULTS,
        ),
        "record is not a table that is stored",
    ),
    "a huge value": (
        (
            *FILLED,
            RESULTS,
            "INSERT INTO results VALUES (1, 1, hex(zeroblob(9000000)), 'b', 'c')",
        ),
        "its database cannot be read: .*too big",
    ),
}


@pytest.mark.parametrize("trap", TRAPS)
def test_databases_that_compute(trap: str, tmp_path: Path) -> None:
    statements, message = TRAPS[trap]
    with pytest.raises(ValueError, match=f"^read_asreview: .*trap.asreview: {message}"):
        read_asreview(archived(tmp_path / "trap.asreview", *statements))


ANY_RECORD = "CREATE TABLE record (record_id, included, duplicate_of)"


@pytest.mark.parametrize(
    ("records", "results", "message"),
    [
        ("(1, 0, NULL), (1, 1, NULL)", "(1, 1)", "record 1 is in the data set twice"),
        ("(1, 1, NULL), (2, 0, NULL), (1, 1, NULL)", "(1, 1)", "record 1 is .* twice"),
        ("(1, 1, NULL), (2, 0, NULL), (2, 0, 1)", "(1, 1)", "record 2 is .* twice"),
        ("(1, 1, NULL), (NULL, 0, 1)", "(1, 1)", "id of a record is None"),
        ("(1, 1, NULL), (x'ff00', 0, 1)", "(1, 1)", "id of a record is b'"),
        (
            "(1, 1, NULL), (2, 0, NULL)",
            "(1, 1), (1, 0)",
            "record 1 was labelled 0 and 1",
        ),
        (
            "(1, 1, NULL), (2, 0, NULL)",
            "(2, 0), (1, 1), (2, 1)",
            "record 2 was labelled",
        ),
    ],
)
def test_a_record_is_there_once_with_one_label(
    records: str, results: str, message: str, tmp_path: Path
) -> None:
    path = archived(
        tmp_path / "odd.asreview",
        ANY_RECORD,
        f"INSERT INTO record VALUES {records}",
        RESULTS,
        f"INSERT INTO results (record_id, label) VALUES {results}",
    )
    with pytest.raises(
        ValueError, match=f"^read_asreview: .*odd.asreview: .*{message}"
    ):
        read_asreview(path)


def test_projects_that_unpack_to_much(tmp_path: Path) -> None:
    much = b'{"name": "' + b" " * 2**25 + b'"}'
    path = archived(tmp_path / "a.asreview", *FILLED, RESULTS, LABEL, project=much)
    assert path.stat().st_size < 2**17
    too_large = r"project.json is too large \(33,554,444 bytes, where 1,048,576 are read at most\)"
    with pytest.raises(ValueError, match=f"a.asreview: {too_large}"):
        read_asreview(path)


def test_a_database_that_unpacks_to_much(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "HARMLESS", 2**16)
    blank = (
        *FILLED,
        RESULTS,
        LABEL,
        "CREATE TABLE t (x)",
        f"INSERT INTO t VALUES (zeroblob({2**22}))",
    )
    path = archived(tmp_path / "a.asreview", *blank)
    with pytest.raises(
        ValueError,
        match=r"results.db: [\d,]+ bytes hold 4,.*; this looks like an attack",
    ):
        read_asreview(path)
    assert read_asreview(
        archived(tmp_path / "b.asreview", *blank, packed=False)
    ).relevant == {"1"}


def test_a_table_that_takes_too_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = f"INSERT INTO record {ENDLESS} SELECT i, 1, NULL FROM n LIMIT 50000"
    path = archived(tmp_path / "a.asreview", RECORD, rows, RESULTS, LABEL)
    assert len(read_asreview(path).ranking) == 50000
    monkeypatch.setattr(archives, "_STEP", 1)
    with pytest.raises(
        ValueError,
        match=r"a.asreview: the table record takes more steps to read than its size explains",
    ):
        read_asreview(path)


def test_ctrl_c_ends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(self: Any) -> bool:
        raise KeyboardInterrupt

    rows = f"INSERT INTO record {ENDLESS} SELECT i, 1, NULL FROM n LIMIT 50000"
    path = archived(tmp_path / "a.asreview", RECORD, rows, RESULTS, LABEL)
    monkeypatch.setattr(archives._Budget, "__call__", interrupt)
    with pytest.raises(KeyboardInterrupt):
        read_asreview(path)


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("lost", [1, 10, 100, 4096, 5000])
def test_a_database_that_is_cut_is_refused(
    version: int, lost: int, tmp_path: Path
) -> None:
    """SQLite itself reads what its last page lacks as zeros: labels became others."""
    path = project(
        tmp_path / "a.asreview",
        [(0, 1, None), (1, 0, "max"), (2, 1, "max")],
        [1, 0, 1, 0],
        version=version,
    )
    assert read_asreview(path).relevant == {"2"}
    with zipfile.ZipFile(path) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    for cut in [name for name in contents if name.endswith(".db")]:
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in contents.items():
                archive.writestr(name, content[:-lost] if name == cut else content)
        with pytest.raises(ValueError, match=r"its database is cut; save or simulate"):
            read_asreview(path)


@pytest.mark.parametrize(
    "method", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2, zipfile.ZIP_DEFLATED]
)
def test_packed_content_that_is_damaged(method: int, tmp_path: Path) -> None:
    path = tmp_path / "bad.asreview"
    with zipfile.ZipFile(path, "w", method) as made:
        made.writestr("project.json", b'{"name": "made"}')
        made.writestr("results.db", bytes(range(256)) * 100)
    content = bytearray(path.read_bytes())
    start = content.find(b"results.db") + len("results.db")
    for place in range(start + 20, start + 60):
        content[place] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"^read_asreview: .*bad\.asreview"):
        read_asreview(path)


@pytest.mark.parametrize("original", [77, -1, "1", 2.5])
def test_duplicates_are_of_a_record_that_there_is(
    original: Any, tmp_path: Path
) -> None:
    path = archived(
        tmp_path / "odd.asreview",
        "CREATE TABLE record (record_id INTEGER PRIMARY KEY, included, duplicate_of)",
        f"INSERT INTO record VALUES (1, 1, NULL), (2, 1, {original!r})",
        RESULTS,
        LABEL,
    )
    with pytest.raises(
        ValueError, match=r"record 2 is a duplicate of record .*, which"
    ):
        read_asreview(path)
