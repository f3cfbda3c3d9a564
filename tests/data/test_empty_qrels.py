"""Qrels without any judgment raise the same error in memory and in a file, at every door."""

import ir_measures
import numpy as np
import pandas as pd
import polars as pl
import pytest

import ir_lexirecall as irl
from ir_lexirecall.cli import main
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.judging.files import merged, merged_judges
from ir_lexirecall.meta import Study

RUN = {"q1": {"b": 2.0, "a": 1.0}, "q2": {"c": 1.0}}
RUNS = {"one": RUN, "two": {"q1": {"a": 2.0}, "q2": {"x": 1.0}}}
QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"c": 2}}
COLUMNS = ["query_id", "doc_id", "relevance"]


def used_up():
    generator = iter([ir_measures.Qrel("q1", "a", 1)])
    list(generator)
    return generator


EMPTY = {
    "a used-up generator": used_up,
    "a dict": dict,
    "a list": list,
    "a tuple": tuple,
    "a query without documents": lambda: {"q": {}},
    "queries without relevant documents": lambda: {"q": set(), "p": []},
    "a pandas frame": lambda: pd.DataFrame(columns=COLUMNS),
    "a pandas frame with grades": lambda: pd.DataFrame(
        {"query_id": ["q"], "doc_id": ["a"], "relevance": [1]}
    )[:0],
    "a frame with subtopics": lambda: pd.DataFrame(columns=[*COLUMNS, "iteration"]),
    "a Polars frame": lambda: pl.DataFrame(schema=dict.fromkeys(COLUMNS, pl.String)),
    "an Arrow table": lambda: pl.DataFrame(
        schema=dict.fromkeys(COLUMNS, pl.String)
    ).to_arrow(),
    "NumPy records": lambda: np.array(
        [], dtype=[("query_id", "U5"), ("doc_id", "U5"), ("relevance", "i8")]
    ),
}

DOORS = {
    "evaluate": lambda qrels: irl.evaluate("AP", qrels, RUN),
    "compare": lambda qrels: irl.compare(qrels, RUNS),
    "benchmark": lambda qrels: irl.benchmark({"c": qrels}, {"c": RUNS}, "AP"),
    "gate": lambda qrels: irl.gate(qrels, RUN, RUNS["two"], "AP", margin=0),
    "judgment_bounds": lambda qrels: irl.judgment_bounds("AP", qrels, RUN),
    "tie_audit": lambda qrels: irl.tie_audit("AP", qrels, RUN),
    "load": irl.load,
    "from_qrels": Judgments.from_qrels,
    "Study": lambda qrels: Study(["AP", "RR"], qrels, RUNS),
    "merged": lambda qrels: merged(Judgments.from_qrels(QRELS), qrels),
    "merged_judges": lambda qrels: merged_judges(QRELS, qrels),
    "predicted": lambda qrels: irl.compare(QRELS, RUNS, predicted=qrels),
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("kind", EMPTY)
def test_no_judgment_is_an_error(kind, door):
    with pytest.raises(ValueError, match="there are no judgments in it"):
        DOORS[door](EMPTY[kind]())


@pytest.mark.parametrize("content", ["", "\n", "{}", '{"q": {}}', '{"q": []}'])
def test_a_file_says_the_same(tmp_path, content):
    path = tmp_path / "qrels.json"
    path.write_text(content)
    with pytest.raises(
        ValueError, match=r"^evaluate: .*json: there are no judgments in it; add some$"
    ):
        irl.evaluate("AP", str(path), RUN)


def test_an_iterator_is_told_from_a_list():
    with pytest.raises(
        ValueError, match=r"^evaluate: qrels: .* only once: give a list$"
    ):
        irl.evaluate("AP", used_up(), RUN)
    with pytest.raises(ValueError, match=r"there are no judgments in it; add some$"):
        irl.evaluate("AP", [], RUN)


def test_predicted_judgments_are_named():
    with pytest.raises(
        ValueError,
        match=r"^compare: predicted: there are no judgments in it; add some$",
    ):
        irl.compare(QRELS, RUNS, predicted={})


def test_no_relevant_query_is_left():
    with pytest.raises(
        ValueError,
        match=r"^load: queries='relevant': no query has a relevant .*leave queries out$",
    ):
        irl.load({"q": {"a": 0}}, queries="relevant")


def test_a_query_without_documents_stays_beside_others():
    table = irl.evaluate("AP", QRELS | {"q3": {}}, RUN)
    assert table["AP"].to_dict() == {"q1": 0.5, "q2": 1.0, "q3": 0.0}


@pytest.mark.parametrize("empty", [{}, [], {"q": {}}])
def test_ir_measures_gives_nothing_for_nothing(empty):
    """Other providers of ir_measures take qrels without judgments."""
    with pytest.warns(UserWarning, match="there are no judgments in the qrels"):
        metrics = list(ir_measures.iter_calc([irl.LR], empty, RUN))
    assert all(metric.value == 0 for metric in metrics)


BY_IR_MEASURES = {
    "calc_aggregate": lambda qrels: ir_measures.calc_aggregate([irl.LR], qrels, RUN),
    "several measures": lambda qrels: ir_measures.calc_aggregate(
        [irl.LR, irl.TSE], qrels, RUN
    ),
    "evaluator": lambda qrels: ir_measures.evaluator([irl.LR], qrels),
}


@pytest.mark.parametrize("kind", ["a dict", "a list", "a pandas frame"])
@pytest.mark.parametrize("door", BY_IR_MEASURES)
def test_ir_measures_warns_of_qrels_without_judgments(kind, door):
    with pytest.warns(UserWarning, match="there are no judgments in the qrels"):
        BY_IR_MEASURES[door](EMPTY[kind]())


@pytest.mark.filterwarnings("error")
def test_ir_measures_is_not_warned_of_qrels_without_relevant_documents():
    ir_measures.calc_aggregate([irl.LR], {"q1": {"a": 1, "b": 0}, "q2": {"c": 0}}, RUN)


def test_the_report_refuses_them(tmp_path):
    with pytest.raises(ValueError, match="there are no judgments in it"):
        irl.report(irl.compare({}, RUNS), tmp_path / "report.html")


@pytest.mark.parametrize("command", ["eval", "compare", "gate", "to-judge"])
def test_the_command_line_refuses_them(tmp_path, command, capsys):
    qrels, run, other = tmp_path / "qrels", tmp_path / "a.run", tmp_path / "b.run"
    qrels.write_text("")
    for path, doc_id in ((run, "a"), (other, "b")):
        path.write_text(f"q1 Q0 {doc_id} 1 2.0 r\n")
    arguments = [
        command,
        qrels,
        run,
        other,
        *(["-m", "AP"] if command == "eval" else []),
    ]
    assert main(list(map(str, arguments))) == 1
    assert "there are no judgments in it" in capsys.readouterr().err
