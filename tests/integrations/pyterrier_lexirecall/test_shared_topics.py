"""Systems that share no topic with results get no statistics."""

import pandas as pd
import pytest

pt = pytest.importorskip("pyterrier")
pytest.importorskip("pyterrier_lexirecall")

QUERIES = [f"q{i}" for i in range(12)]
TOPICS = pd.DataFrame({"qid": QUERIES, "query": QUERIES})
QRELS = pd.DataFrame(
    [(q, doc, label) for q in QUERIES for doc, label in (("a", 1), ("b", 0))],
    columns=["qid", "docno", "label"],
)


def results(queries: list[str], first: str = "a") -> pd.DataFrame:
    second = "b" if first == "a" else "a"
    rows = [
        (q, doc, 2.0 - i, i) for q in queries for i, doc in enumerate((first, second))
    ]
    return pd.DataFrame(rows, columns=["qid", "docno", "score", "rank"])


@pytest.mark.parametrize("baseline", [None, 0, [0, 1]])
@pytest.mark.parametrize("extra", [[], [results(QUERIES)]])
def test_there_is_a_warning_and_no_statistics(baseline, extra):
    systems = [results(QUERIES[::2]), results(QUERIES[1::2], "b"), *extra]
    names = ["even", "odd", "all"][: len(systems)]
    with pytest.warns(
        UserWarning, match="'(even|odd)' and '(even|odd)' share no query"
    ):
        table = pt.lexirecall.Experiment(
            systems, TOPICS, QRELS, ["map", "P_1"], names, baseline=baseline
        )
    assert table.columns.tolist() == ["name", "map", "P_1"]


@pytest.mark.parametrize("kind", ["samples", "seeds"])
def test_the_same_holds_for_several_runs_of_a_system(kind):
    systems = [[results(QUERIES[::2])] * 2, [results(QUERIES[1::2], "b")] * 2]
    with pytest.warns(UserWarning, match="'odd' and 'even' share no query"):
        table = pt.lexirecall.Experiment(
            systems,
            TOPICS,
            QRELS,
            ["map"],
            ["even", "odd"],
            baseline="even",
            repeats=kind,
        )
    assert table.columns.tolist() == ["name", "map"]


def test_a_baseline_that_shares_topics_with_all_has_statistics(recwarn):
    systems = [results(QUERIES), results(QUERIES[::2]), results(QUERIES[1::2], "b")]
    table = pt.lexirecall.Experiment(
        systems, TOPICS, QRELS, ["map"], ["all", "even", "odd"], baseline=0
    )
    assert "map p-value" in table
    assert not [one for one in recwarn if "share no query" in str(one.message)]


@pytest.mark.parametrize(("more", "is_said"), [(0, True), (1, True), (2, False)])
def test_systems_that_hardly_share_topics_are_warned_of(more, is_said, recwarn):
    """Of 12 topics, the first 7 + more are of one system, the last 7 + more of the other."""
    systems = [results(QUERIES[: 7 + more]), results(QUERIES[5 - more :], "b")]
    table = pt.lexirecall.Experiment(
        systems, TOPICS, QRELS, ["map"], ["first", "last"], baseline=0
    )
    assert "map p-value" in table
    words = (
        f"last and first share only {2 + 2 * more} of the 12 queries that either has"
    )
    said = [str(one.message) for one in recwarn if "share only" in str(one.message)]
    assert [message.startswith(words) for message in said] == [True] * is_said
