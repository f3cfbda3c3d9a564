"""``--bounds``, ``to-judge``, ``--judged`` and ``--predicted``: commands print what the functions give."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from chromium import Browser, wait_for
from command_line import Cli
from pandas.testing import assert_frame_equal

import ir_lexirecall as irl
from ir_lexirecall import demo
from ir_lexirecall.io.values import read_values

RUNS = ("bm25", "ql", "tfidf")
DEMO = "lexirecall/demo"


@pytest.fixture
def files(folder: Path) -> list[str]:
    """Runs of the embedded collection, and its judgments as files: all, of some queries (also in a folder), and by another judge."""
    Path("suite/one").mkdir(parents=True)
    for path in (
        path for name in RUNS for path in (f"{name}.run", f"suite/one/{name}.run")
    ):
        Path(path).write_bytes((demo.FOLDER / "runs" / Path(path).name).read_bytes())
    qrels = (
        demo.qrels().groupby(["query_id", "doc_id"], as_index=False)["relevance"].max()
    )
    qrels.to_csv("all.csv", index=False)
    qrels[qrels["query_id"] > "q04"].to_csv("people.csv", index=False)
    qrels[qrels["query_id"] > "q04"].to_csv("suite/one/qrels.csv", index=False)
    qrels.assign(relevance=qrels["relevance"].clip(upper=2) + qrels.index % 2).to_csv(
        "model.csv", index=False
    )
    return [f"{name}.run" for name in RUNS]


def table(said: str) -> pd.DataFrame:
    return pd.read_csv(io.StringIO(said))


def test_eval_bounds_are_those_of_the_function(cli: Cli, files: list[str]) -> None:
    said = cli(
        "eval",
        DEMO,
        *files,
        "-m",
        "P@5 AP",
        "--bounds",
        "--depth",
        "20",
        "--format",
        "csv",
    )
    assert (said.code, said.err) == (0, "")
    rows = table(said.out).set_index("run")
    by_query = cli(
        "eval",
        DEMO,
        *files,
        "-m",
        "P@5 AP",
        "--bounds",
        "--depth",
        "20",
        "--format",
        "csv",
        "--by-query",
    )
    values = table(by_query.out).set_index(["run", "query_id"])
    for name in RUNS:
        bounds = irl.judgment_bounds(["P@5", "AP"], DEMO, f"{name}.run", depth=20)
        for measure in ("P@5", "AP"):
            for end in ("low", "high"):
                assert rows.loc[name, f"{measure} {end}"] == pytest.approx(
                    bounds[measure, end].mean(), abs=1e-12
                )
                assert (
                    values.loc[name, f"{measure} {end}"].tolist()
                    == bounds[measure, end].tolist()
                )
            assert (
                rows.loc[name, f"{measure} low"]
                <= rows.loc[name, measure]
                <= rows.loc[name, f"{measure} high"]
            )


def test_eval_bounds_name_measures_without_an_algorithm(
    cli: Cli, files: list[str]
) -> None:
    said = cli("eval", DEMO, files[0], "-m", "P@5 Bpref", "--bounds")
    assert said.rows[0] == ["run", "P@5", "P@5", "low", "P@5", "high", "Bpref"]
    assert said.err == "ir-lexirecall: no proven algorithm bounds Bpref\n"
    assert "smallest and largest value, whatever grades" in said.out


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["eval", "--depth", "3"], "--depth belongs to --bounds"),
        (["compare", "--max-rel", "3"], "--max-rel belongs to --bounds"),
        (
            ["eval", "--bounds", "--baseline", "bm25"],
            "`compare --bounds` bounds differences",
        ),
        (["compare", "--bounds", "--explain", "bm25", "ql"], "leave out --explain"),
        (["compare", "--kind", "means"], "--kind says what --plot FILE draws"),
        (
            ["compare", "--plot", "x.svg", "--kind", "pair"],
            "--kind pair draws two runs; name them: --explain A B",
        ),
        (
            ["compare", "--bounds", "--depth", "5"],
            "depth 5 leaves out unjudged documents that nDCG@10 looks at",
        ),
        (
            ["to-judge", "-m", "AP"],
            "one criterion orders the documents; choose one of nDCG@10, AP",
        ),
        (["to-judge", "-n", "0"], "n must be an integer of at least 1"),
        (["eval", "--judged", "nowhere.qrels"], "nowhere.qrels"),
        (["compare", "--missing", "skip"], "--missing needs --values"),
        (
            ["compare", "--baseline", "bm25", "--margin", "=0.1"],
            "--margin '=0.1' must be one number",
        ),
        (
            ["compare", "--predicted", "people.csv"],
            "query 'q01' is judged, but has no predicted judgments",
        ),
    ],
)
def test_what_does_not_go_together_is_refused(
    cli: Cli, files: list[str], words: list[str], error: str
) -> None:
    said = cli(words[0], DEMO, *files, "-m", "nDCG@10", *words[1:])
    assert said.code == 1
    assert error in said.err


def test_compare_bounds_are_those_of_the_comparison(cli: Cli, files: list[str]) -> None:
    words = [
        "-m",
        "nDCG@10",
        "-p",
        "lexirecall",
        "--bounds",
        "--depth",
        "20",
        "--unretrieved",
        "2",
        "--max-rel",
        "3",
    ]
    said = cli("compare", DEMO, *files, *words, "--format", "csv")
    result = irl.compare(
        DEMO, {name: f"{name}.run" for name in RUNS}, ["nDCG@10", "lexirecall"]
    )
    expected = result.bounds(depth=20, unretrieved=2, max_rel=3)
    assert_frame_equal(table(said.out), table(expected.to_csv(index=False)))
    shallow = cli("compare", DEMO, *files, "--bounds", "--depth", "100").out
    assert "retrieve fewer than 100 documents for every query" in shallow


@pytest.mark.slow
def test_what_was_judged_shrinks_bounds_in_every_command(
    cli: Cli, files: list[str]
) -> None:
    assert (
        cli(
            "to-judge", "all.csv", *files, "-n", "5", "--depth", "20", "-o", "pool.csv"
        ).out
        == "pool.csv\n"
    )
    pool = pd.read_csv("pool.csv")
    expected = irl.compare("all.csv", {name: f"{name}.run" for name in RUNS}).to_judge(
        5, depth=20
    )
    assert pool["doc_id"].tolist() == expected["doc_id"].tolist()
    said = cli("compare", "all.csv", *files, "--judged", "pool.csv")
    assert (
        said.err
        == "ir-lexirecall: compare: pool.csv: no document in it has a grade; fill in the column 'relevance'\n"
    )
    pool["relevance"] = ["2", "0", "1", "", "3"]
    pool.to_csv("pool.csv", index=False)
    words = [
        "compare",
        "all.csv",
        *files,
        "--bounds",
        "--depth",
        "20",
        "--format",
        "csv",
    ]
    before, after = cli(*words), cli(*words, "--judged", "pool.csv")
    assert (
        after.err
        == "ir-lexirecall: pool.csv: 1 of 5 documents have no grade yet and are left out\n"
    )
    assert table(after.out)["open"].sum() < table(before.out)["open"].sum()
    judged = pool[pool["relevance"] != ""][["query_id", "doc_id", "relevance"]]
    pd.concat([pd.read_csv("all.csv"), judged]).to_csv("merged.csv", index=False)
    for command in ("eval", "compare", "to-judge", "gate"):
        of_command = files[:2] if command == "gate" else files
        measures = ["-m", "nDCG@10"]
        ours = cli(
            command, "all.csv", *of_command, *measures, "--judged", "pool.csv"
        ).out
        assert ours == cli(command, "merged.csv", *of_command, *measures).out.replace(
            "merged.csv", "all.csv"
        )
    assert (
        cli(
            "report",
            "all.csv",
            *files,
            "-m",
            "AP",
            "--judged",
            "pool.csv",
            "-o",
            "report.html",
        ).code
        == 0
    )
    assert "judged pool.csv" in Path("report.html").read_text()


def test_benchmark_takes_further_judgments_by_collection(
    cli: Cli, files: list[str]
) -> None:
    qrels = pd.read_csv("people.csv")
    more = qrels.groupby("query_id").head(1).assign(doc_id="bees-01", relevance=3)
    more = more.merge(qrels, on=["query_id", "doc_id"], how="left", indicator=True)
    more = more[more["_merge"] == "left_only"].rename(
        columns={"relevance_x": "relevance"}
    )
    more[["query_id", "doc_id", "relevance"]].to_csv("more.csv", index=False)
    words = ["benchmark", "suite", "-m", "AP", "--format", "csv"]
    judged = cli(*words, "--judged", "one=more.csv")
    assert judged.code == 0
    assert judged.out != cli(*words).out
    pd.concat([qrels, pd.read_csv("more.csv")]).to_csv(
        "suite/one/qrels.csv", index=False
    )
    assert judged.out == cli(*words).out
    assert "unknown collection 'two'" in cli(*words, "--judged", "two=more.csv").err
    assert "must look like COLLECTION=FILE" in cli(*words, "--judged", "more.csv").err


def test_to_judge_writes_a_page_with_texts_and_grades_of_the_collection(
    cli: Cli, files: list[str]
) -> None:
    assert (
        cli("to-judge", DEMO, *files, "-n", "3", "--depth", "20", "-o", "pool.html").out
        == "pool.html\n"
    )
    page, pool = Path("pool.html").read_text(), pool_of("pool.html")
    assert "what makes a volcano eruption explosive" in page
    assert "double espresso" in page
    assert len(pool["grades"]) == 4
    rows = cli("to-judge", DEMO, *files, "-n", "3", "--depth", "20").rows
    assert rows[0] == [
        "query_id",
        "doc_id",
        "decides",
        "runs",
        "rank_bm25",
        "rank_ql",
        "rank_tfidf",
    ]
    assert [row[1] for row in rows[1:4]] == [
        document["doc"] for document in pool["documents"]
    ]


def test_texts_of_files_go_into_the_page_and_the_table(
    cli: Cli, files: list[str]
) -> None:
    docs = demo.docs()
    docs.rename(columns={"doc_id": "docno"}).to_csv("docs.tsv", sep="\t", index=False)
    topics = "".join(
        f"<top>\n<num> Number: {q}\n<title> {text}\n</top>\n"
        for q, text in demo.queries().values
    )
    Path("topics.trec").write_text(topics)
    words = ["to-judge", "all.csv", *files, "-n", "3", "--depth", "20"]
    words += ["--texts", "docs.tsv", "--queries", "topics.trec"]
    assert cli(*words, "-o", "pool.html", "--labels", "no, somewhat").code == 0
    pool = pool_of("pool.html")
    assert pool["grades"] == ["no", "somewhat", "", ""]
    texts = {doc_id: f"{title}\n{text}" for doc_id, title, text in docs.values}
    assert [document["text"] for document in pool["documents"]] == [
        texts[d["doc"]] for d in pool["documents"]
    ]
    assert pool["queries"]["q03"] == dict(demo.queries().values)["q03"]
    assert cli(*words, "-o", "pool.csv").code == 0
    assert pd.read_csv("pool.csv")["text"].tolist() == [
        document["text"] for document in pool["documents"]
    ]
    assert "name one of these" in cli(*words).err
    for output in (["-o", "pool.csv"], []):
        command = ["to-judge", "all.csv", *files, *output, "--labels", "no"]
        assert "--labels needs a page" in cli(*command).err
    docs.head(1).to_csv("docs.tsv", sep="\t", index=False)
    assert (
        "docs.tsv has no text of 3 of 3 documents" in cli(*words, "-o", "pool.html").err
    )


def pool_of(path: str) -> dict[str, Any]:
    """What a page to judge in holds."""
    page = Path(path).read_text()
    found: dict[str, Any] = json.loads(
        page.partition('id="pool"')[2].partition(">")[2].partition("</script>")[0]
    )
    return found


def test_from_the_command_to_the_page_to_the_next_comparison(
    cli: Cli, files: list[str], browser: Browser
) -> None:
    words = [*files, "--depth", "20"]
    assert cli("to-judge", DEMO, *words, "-n", "4", "-o", "pool.html").code == 0
    before = cli("compare", "all.csv", *words, "--bounds", "--format", "csv")
    for judge, grades in (("ada", "2010"), ("ben", "2012")):
        browser.open(Path("pool.html").absolute(), 390)
        browser.js("localStorage.clear()")
        browser.open(Path("pool.html").absolute(), 390)
        browser.js(f"document.getElementById('name').value = {judge!r}")
        for grade in grades:
            browser.press(grade)
        browser.download_to(Path.cwd())
        browser.click("document.getElementById('save')")
        file = Path(f"judged-{judge}.qrels")
        wait_for(lambda file=file: file.exists() and file.read_text().count("\n") == 4)
    said = cli(
        "merge-judged",
        "judged-ada.qrels",
        "judged-ben.qrels",
        "-o",
        "agreed.qrels",
        "--disagreements",
        "d.csv",
    )
    assert said.out == "3 agreed, 1 with two grades\n"
    documents = [(d["query"], d["doc"]) for d in pool_of("pool.html")["documents"]]
    agreed = {
        tuple(line.split()[::2]): line.split()[3]
        for line in Path("agreed.qrels").read_text().splitlines()
    }
    assert agreed == dict(zip(documents[:3], "201", strict=True))
    differ = pd.read_csv("d.csv")
    assert differ.to_numpy().tolist() == [[*documents[3], 0, 2]]
    again = ["merge-judged", "judged-ada.qrels", "judged-ben.qrels", "-o", "agreed.csv"]
    again += ["--disagreements", "again.html"]
    assert cli(*again, "--texts", DEMO, "--queries", DEMO).code == 0
    assert pool_of("again.html")["documents"][0]["text"]
    assert pd.read_csv("agreed.csv")["relevance"].tolist() == [
        int(agreed[pair]) for pair in sorted(agreed)
    ]
    after = cli(
        "compare",
        "all.csv",
        *words,
        "--bounds",
        "--format",
        "csv",
        "--judged",
        "agreed.qrels",
    )
    assert (after.code, after.err) == (0, "")
    assert table(after.out)["open"].sum() < table(before.out)["open"].sum()
    assert "name a file that ends with .csv or .html" in cli(*again[:-1], "d.txt").err
    assert (
        "--texts, --queries and --labels need a page"
        in cli(*again[:-1], "d.csv", "--texts", DEMO).err
    )


def test_no_cell_of_merged_judgments_is_a_formula(cli: Cli, folder: Path) -> None:
    judged = {"=1+1": {"+3": 1, "'-2": 0, "d": 1}, "-q": {"@x": 2}}
    lines = [f"{q} 0 {d} {g}\n" for q, docs in judged.items() for d, g in docs.items()]
    for judge in ("ada", "ben"):
        Path(f"{judge}.qrels").write_text("".join(lines))
    assert cli("merge-judged", "ada.qrels", "ben.qrels", "-o", "agreed.csv").code == 0
    ids = Path("agreed.csv").read_text().replace("\n", ",").split(",")
    assert not [cell for cell in ids if cell.startswith(("=", "+", "-", "@"))]
    for form in ("agreed.csv", judged):
        values = irl.evaluate("AP", form, judged)
        assert values["AP"].to_dict() == {"=1+1": 1, "-q": 1}


@pytest.mark.parametrize("form", ["csv", "tsv"])
def test_ids_and_names_of_values_come_back(form: str, cli: Cli, folder: Path) -> None:
    ids = ["-1", "=2", "'+3", "q"]
    Path("qrels").write_text("".join(f"{q} 0 a 1\n" for q in ids))
    for run, (first, second) in (("=a", "ax"), ("b", "xa")):
        lines = (f"{q} Q0 {first} 1 2 t\n{q} Q0 {second} 2 1 t\n" for q in ids)
        Path(f"{run}.run").write_text("".join(lines))
    said = cli(
        "eval", "qrels", "=a.run", "b.run", "-m", "AP", "--by-query", "--format", form
    )
    assert said.err == ""
    Path(f"v.{form}").write_text(said.out)
    table = read_values(f"v.{form}")
    assert sorted(table.query_ids) == sorted(ids)
    assert sorted(table.runs) == ["=a", "b"]


def test_merged_judges_keep_quotes_of_ids(cli: Cli, folder: Path) -> None:
    for judge, grade in (("ada", 0), ("ben", 1)):
        Path(f"{judge}.qrels").write_text(f'q1 0 d"1 1\nq1 0 "e" 0\nq1 0 f {grade}\n')
    assert cli("merge-judged", "ada.qrels", "ben.qrels", "-o", "agreed.qrels").code == 0
    assert sorted(Path("agreed.qrels").read_text().splitlines()) == [
        'q1 0 "e" 0',
        'q1 0 d"1 1',
    ]


def test_judges_are_merged_into_both_files_or_neither(cli: Cli, folder: Path) -> None:
    Path("ada.qrels").write_text("q1 0 d 1\nq1 0 e 12\n")
    Path("ben.qrels").write_text("q1 0 d 1\nq1 0 e 3\n")
    words = [
        "merge-judged",
        "ada.qrels",
        "ben.qrels",
        "-o",
        "agreed.qrels",
        "--disagreements",
    ]
    for name, said in (
        ("again.html", "grades up to 9, and one is 12; name a .csv file"),
        ("nowhere/d.csv", "nowhere"),
    ):
        refused = cli(*words, name)
        assert refused.code == 1
        assert said in refused.err
        assert not Path("agreed.qrels").exists()
    assert cli(*words, "d.csv").out == "1 agreed, 1 with two grades\n"
    assert pd.read_csv("d.csv").to_numpy().tolist() == [["q1", "e", 12, 3]]


@pytest.mark.slow
def test_predicted_judgments_are_those_of_compare(cli: Cli, files: list[str]) -> None:
    words = [
        "compare",
        "people.csv",
        *files,
        "-m",
        "nDCG@10",
        "-p",
        "lexirecall",
        "--predicted",
        "model.csv",
    ]
    runs = {name: f"{name}.run" for name in RUNS}
    result = irl.compare(
        "people.csv", runs, ["nDCG@10", "lexirecall"], predicted="model.csv"
    )
    said = table(cli(*words, "--format", "csv").out)
    assert said["n_effective"].tolist() == pytest.approx(
        result.table()["n_effective"].tolist(), rel=1e-12, nan_ok=True
    )
    text = cli(*words).out
    assert "That holds only if people's queries were drawn at random." in text
    assert "prediction-powered t-test" in cli(*words, "--all").out


@pytest.mark.slow
def test_predicted_judgments_are_taken_by_every_command(
    cli: Cli, files: list[str]
) -> None:
    runs = {name: f"{name}.run" for name in RUNS}
    words = ["-m", "nDCG@10", "--predicted", "model.csv"]
    gated = cli("gate", "people.csv", *files[:2], *words, "--format", "json")
    expected = irl.gate(
        "people.csv",
        "bm25.run",
        "ql.run",
        "nDCG@10",
        names=("bm25", "ql"),
        predicted="model.csv",
    )
    assert gated.code == expected.exit_code
    assert (
        json.loads(gated.out)["criteria"][0]["n_effective"]
        == expected.table["n_effective"][0]
    )
    assert cli("report", "people.csv", *files, *words, "-o", "report.html").code == 0
    page = Path("report.html").read_text()
    assert "drawn at random" in page
    assert "model.csv" in page
    measures = {
        source: irl.compare(source, runs, ["nDCG@10", "AP"])
        for source in ("people.csv", "model.csv")
    }
    for source, result in measures.items():
        rows = [result.per_query(by).stack().rename(by) for by in result.criteria]
        table_of_values = (
            pd.concat(rows, axis=1).rename_axis(["query_id", "run"]).reset_index()
        )
        table_of_values.to_csv(f"values-{source}", index=False)
    both = ["--values", "values-people.csv", "--predicted", "values-model.csv"]
    assert cli("report", *both, "-o", "values.html").code == 0
    assert "drawn at random" in Path("values.html").read_text()
    said = cli(
        "benchmark",
        "suite",
        "-m",
        "nDCG@10",
        "--predicted",
        "one=model.csv",
        "--report",
        "suite.html",
    )
    assert said.code == 0
    assert "drawn at random" in Path("suite.html").read_text()
    assert (
        "--predicted 'model.csv' must look like COLLECTION=FILE"
        in cli("benchmark", "suite", "-m", "AP", "--predicted", "model.csv").err
    )


def test_compare_says_which_differences_hold(cli: Cli, files: list[str]) -> None:
    Path("overlap.run").write_bytes((demo.FOLDER / "runs" / "overlap.run").read_bytes())
    words = [
        "compare",
        DEMO,
        *files,
        "overlap.run",
        "-m",
        "P@5",
        "--baseline",
        "bm25",
        "--holds",
    ]
    rows = table(cli(*words, "--format", "csv").out)
    result = irl.compare(
        DEMO,
        {name: f"{name}.run" for name in (*RUNS, "overlap")},
        "P@5",
        baseline="bm25",
    )
    verdicts = result.verdicts(holds=True)
    assert rows["holds"].fillna("").tolist() == verdicts["holds"].fillna("").tolist()
    assert rows["depth"].tolist() == [5] * 3
    assert set(rows["holds"].dropna()) == {"under any judging"}
    queries = [f"q{i}" for i in range(8)]
    Path("few.txt").write_text("".join(f"{q} 0 a 1\n{q} 0 b 0\n" for q in queries))
    for name, docs in (("good", "aub"), ("bad", "vwa")):
        lines = (
            f"{q} Q0 {doc} {rank} {-rank} t\n"
            for q in queries
            for rank, doc in enumerate(docs, start=1)
        )
        Path(f"{name}.run").write_text("".join(lines))
    words = ["compare", "few.txt", "good.run", "bad.run", "-m", "P@1", "--format"]
    for form, dagger in (("markdown", "†"), ("latex", "textdagger")):
        assert dagger in cli(*words, form, "--holds").out
        assert dagger not in cli(*words, form).out
    assert table(cli(*words, "csv", "--holds").out)["holds"].tolist() == [
        "could be undone"
    ]


def test_two_judges_who_agree_on_nothing(cli: Cli) -> None:
    Path("ada.qrels").write_text("q1 0 a 1\n")
    Path("ben.qrels").write_text("q1 0 a 0\n")
    said = cli("merge-judged", "ada.qrels", "ben.qrels", "-o", "agreed.qrels")
    assert (said.code, said.out) == (0, "0 agreed, 1 with two grades\n")
    assert Path("agreed.qrels").read_text() == ""


@pytest.mark.parametrize(
    ("arguments", "documents"),
    [
        (["-p", "lexirecall"], "the top 100"),
        (["-m", "AP"], "the top 100"),
        (["-m", "nDCG@10"], "the top 10"),
        (["-m", "AP", "--depth", "20"], "the top 20"),
        (["-m", "AP", "--depth", "all"], "whole rankings"),
    ],
)
def test_nothing_to_judge_is_said_of_a_depth(
    cli: Cli, folder: Path, arguments: list[str], documents: str
) -> None:
    Path("qrels.txt").write_text("q 0 a 1\nq 0 b 0\n")
    for name, first, second in (("x", "a", "b"), ("y", "b", "a")):
        Path(f"{name}.run").write_text(
            f"q Q0 {first} 1 2 {name}\nq Q0 {second} 2 1 {name}\n"
        )
    output = cli("to-judge", "qrels.txt", "x.run", "y.run", *arguments)
    sentence = f"No unjudged document of {documents} can change who is better."
    assert sentence in output.out
