"""Search engines' evaluations and judgment lists: read as they are, refused by name where they are damaged."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

import ir_lexirecall as irl
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.io.search_engines import qrels_in, read_judgments, read_rank_eval
from ir_lexirecall.judging.files import merged


def hit(
    doc: str, rating: int | None, score: float | None, index: str = "films"
) -> dict[str, Any]:
    return {"hit": {"_index": index, "_id": doc, "_score": score}, "rating": rating}


REQUEST = {
    "requests": [
        {
            "id": "amsterdam",
            "request": {"query": {"match": {"text": "amsterdam"}}},
            "ratings": [
                {"_index": "films", "_id": doc, "rating": grade}
                for doc, grade in [("d2", 0), ("d3", 1), ("d5", 3)]
            ],
        },
        {
            "id": "berlin",
            "request": {},
            "ratings": [{"_index": "films", "_id": "d1", "rating": 1}],
        },
    ],
    "metric": {"precision": {"k": 20, "relevant_rating_threshold": 1}},
}
RESPONSE = {
    "rank_eval": {},
    "metric_score": 0.25,
    "details": {
        "amsterdam": {
            "metric_score": 0.5,
            "unrated_docs": [{"_index": "films", "_id": "d9"}],
            "hits": [
                hit("d9", None, 1.0),
                hit("d3", 1, 1.0),
                hit("d2", 0, None),
                hit("d5", 3, None),
            ],
        },
        "berlin": {"metric_score": 0.0, "unrated_docs": [], "hits": []},
    },
    "failures": {},
}


def test_a_response_is_a_run_and_its_request_qrels(tmp_path: Path) -> None:
    for name, content in (("request", REQUEST), ("response", RESPONSE)):
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    found = read_rank_eval(tmp_path / "response.json", tmp_path / "request.json")
    assert found == read_rank_eval(RESPONSE, REQUEST)
    assert found.qrels == {
        "amsterdam": {"d2": 0, "d3": 1, "d5": 3},
        "berlin": {"d1": 1},
    }
    assert found.unrated == {"amsterdam": ["d9"], "berlin": []}
    assert found.values == {"amsterdam": 0.5, "berlin": 0}
    values = irl.evaluate(["P@4", "RR", "LR"], found.qrels, found.run)
    assert values["P@4"].tolist() == [
        0.5,
        0,
    ]  # the engine's precision, and the engine's order with equal and missing scores
    assert values["RR"].tolist() == [0.5, 0]


def test_files_are_runs_and_qrels_as_they_are(tmp_path: Path) -> None:
    for name, content in (("request", REQUEST), ("response", RESPONSE)):
        (tmp_path / f"{name}.json").write_text(json.dumps(content, indent=2))
    (tmp_path / "list.csv").write_text(
        "query,docid,rating\namsterdam,d2,0\namsterdam,d3,1\namsterdam,d5,3\nberlin,d1,1\n"
    )
    found = read_rank_eval(RESPONSE, REQUEST)
    expected = irl.evaluate(["RR", "LR"], found.qrels, found.run)
    for qrels in ("request.json", "list.csv"):
        assert irl.evaluate(
            ["RR", "LR"], tmp_path / qrels, tmp_path / "response.json"
        ).equals(expected)
    broken = {**RESPONSE, "failures": {"berlin": "timeout"}}
    (tmp_path / "response.json").write_text(json.dumps(broken))
    with pytest.raises(
        ValueError, match=r"response.json.*queries failed: .'berlin': 'timeout'"
    ):
        irl.evaluate("RR", tmp_path / "request.json", tmp_path / "response.json")


def test_a_response_alone_knows_what_it_returned_only() -> None:
    found = read_rank_eval(RESPONSE)
    assert found.qrels == {"amsterdam": {"d3": 1, "d2": 0, "d5": 3}, "berlin": {}}


def test_several_indexes_are_told_apart() -> None:
    response = copy.deepcopy(RESPONSE)
    response["details"]["amsterdam"]["hits"].append(hit("d3", None, 0.1, "books"))  # type: ignore[index]
    found = read_rank_eval(response, REQUEST)
    assert list(found.run["amsterdam"]) == [
        "films/d9",
        "films/d3",
        "films/d2",
        "films/d5",
        "books/d3",
    ]
    assert found.unrated["amsterdam"] == ["films/d9", "books/d3"]
    assert found.qrels["berlin"] == {"films/d1": 1}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda a, q: a.pop("details"),
            "response: not a response of _rank_eval: it has rank_eval, metric_score, failures",
        ),
        (
            lambda a, q: a.update(failures={"berlin": {"type": "parse"}}),
            "response: queries failed: .'berlin': .*parse",
        ),
        (
            lambda a, q: a["details"].pop("berlin"),
            "query 'berlin' is in the request only; are they of one evaluation",
        ),
        (
            lambda a, q: a["details"]["berlin"]["hits"].append({"hit": {}}),
            "a hit of query 'berlin' is .*without hit and _id",
        ),
        (
            lambda a, q: a["details"]["berlin"].update(hits=3),
            "the hits of query 'berlin' are 3, not a list",
        ),
        (
            lambda a, q: q["requests"][1].update(ratings=None),
            "expected id and a list of ratings, got",
        ),
        (
            lambda a, q: q["requests"][1]["ratings"].extend(
                {**rated, "rating": rated["rating"] + 1}
                for rated in [*q["requests"][1]["ratings"]]
            ),
            "request: document 'd1' .* twice",
        ),
        (
            lambda a, q: q["requests"][1]["ratings"][0].update(rating=10**400),
            "rating of document 'd1' .* not a number",
        ),
        (
            lambda a, q: a["details"]["berlin"]["hits"].extend([hit("d", 1, 1)] * 2),
            "document 'd' appears twice for query 'berlin'",
        ),
        (
            lambda a, q: q.pop("requests"),
            "request: there is no list of requests in it: it has metric",
        ),
        (
            lambda a, q: q["requests"][1].update(id="amsterdam"),
            "two requests have the id 'amsterdam'",
        ),
        (
            lambda a, q: q["requests"][1].pop("id"),
            "expected id and a list of ratings, got",
        ),
        (
            lambda a, q: q["requests"][1]["ratings"].append({"_id": "x"}),
            "a rating of query 'berlin' is .*without _id and rating",
        ),
        (
            lambda a, q: q["requests"][1]["ratings"][0].update(rating="high"),
            "rating of document 'd1' .* is 'high', not a number",
        ),
    ],
)
def test_what_is_no_evaluation_is_refused(change: Any, message: str) -> None:
    response, request = copy.deepcopy(RESPONSE), copy.deepcopy(REQUEST)
    change(response, request)
    with pytest.raises(ValueError, match=f"read_rank_eval: .*{message}"):
        read_rank_eval(response, request)


@pytest.mark.parametrize(
    ("header", "row"),
    [
        ("query,docid,rating", '"red, dress","B07","3"'),
        ("Query,DocId,Judgement", '"red, dress","B07","3"'),
        ("rating,query,doc_id", '"3","red, dress","B07"'),
        ("query_text,_id,grade,note", '"red, dress","B07","3","x"'),
        ("Query Text,Doc ID,Rating", '"red, dress","B07","3"'),
    ],
)
def test_judgment_lists_are_qrels(header: str, row: str, tmp_path: Path) -> None:
    (tmp_path / "list.csv").write_text(f"\ufeff{header}\n{row}\n")
    assert read_judgments(tmp_path / "list.csv") == {"red, dress": {"B07": 3.0}}


def test_quepid_names_queries_that_nobody_rated_in_rows_of_their_own(
    tmp_path: Path,
) -> None:
    (tmp_path / "list.csv").write_text(
        'query,docid,rating\nheart,doc1,1\n"kidney, left"\nlung,doc2,0\nliver\n'
    )
    assert read_judgments(tmp_path / "list.csv") == {
        "heart": {"doc1": 1},
        "lung": {"doc2": 0},
    }
    (tmp_path / "list.csv").write_text("query,docid,rating\nheart,doc1,1\nlun")
    with pytest.raises(
        ValueError, match=r"list.csv, line 3: 1 field where 3 are expected"
    ):
        read_judgments(tmp_path / "list.csv")


def test_lists_of_the_workbench(tmp_path: Path) -> None:
    content = {
        "name": "x",
        "judgmentRatings": [
            {
                "query": "laptop",
                "ratings": [
                    {"docId": "a", "rating": 1},
                    {"docId": "b", "rating": "0.5"},
                ],
            }
        ],
    }
    (tmp_path / "list.json").write_text(json.dumps(content))
    qrels = read_judgments(tmp_path / "list.json")
    assert qrels == {"laptop": {"a": 1, "b": 0.5}}
    answer = {
        "took": 3,
        "hits": {"total": {"value": 1}, "hits": [{"_id": "7", "_source": content}]},
    }
    (tmp_path / "answer.json").write_text(json.dumps(answer))
    assert read_judgments(answer) == read_judgments(tmp_path / "answer.json") == qrels
    assert (
        irl.evaluate("R@1", tmp_path / "answer.json", {"laptop": {"a": 1.0}}).iloc[0, 0]
        == 1
    )
    graded = read_judgments(content, levels=4)
    assert graded == {"laptop": {"a": 4, "b": 2}}
    assert irl.evaluate("R@1", graded, {"laptop": {"b": 1.0}}).iloc[0, 0] == 0.5
    with pytest.raises(
        ValueError,
        match="the rating of document 'a' for query 'q' is 3; levels are for ratings between 0 and 1",
    ):
        read_judgments(
            {
                "judgmentRatings": [
                    {"query": "q", "ratings": [{"docId": "a", "rating": 3}]}
                ]
            },
            levels=4,
        )
    with pytest.raises(
        ValueError, match="levels must be an integer of at least 1, not 0"
    ):
        read_judgments(content, levels=0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "there are no ratings in it"),
        ("query,docid,rating\n", "there are no ratings in it"),
        ("query,docid,rating\nq,d,\n", "there are no ratings in it"),
        (
            "query,rating\nq,1\n",
            "line 1: no column docid or doc_id or document_id: it has query, rating",
        ),
        ("query,docid,rating\nq,d,1\nq,e\n", "line 3: 2 fields where 3 are expected"),
        (
            "query,docid,rating\nq,d,1\nq,d,2\n",
            "line 3: document 'd' is rated twice for query 'q'",
        ),
        (
            "query,docid,rating\nq,d,good\n",
            "line 2: the rating of document 'd' for query 'q' is 'good', not a number",
        ),
        ("query,docid,rating\nq,,1\n", "line 2: there is no document"),
        ('query,docid,rating\n"q,d,1\n', "line 2: a quotation mark is not closed"),
        (
            '{"ratings": []}',
            "there is no list of judgmentRatings in it: it has ratings",
        ),
        (
            '{"judgmentRatings": [{"ratings": []}]}',
            "expected query and a list of ratings",
        ),
        (
            '{"judgmentRatings": [{"query": "q", "rating": []}]}',
            "expected query and a list of ratings",
        ),
        (
            '{"judgmentRatings": [{"query": "q", "ratings": [{"rating": 1}]}]}',
            "without docId and rating",
        ),
    ],
)
def test_what_is_no_judgment_list_is_refused(
    text: str, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "list.txt"
    path.write_text(text)
    with pytest.raises(ValueError, match=f"read_judgments: {path}.*{message}"):
        read_judgments(path)


def test_the_same_rating_twice_is_one_rating(tmp_path: Path) -> None:
    rated = {"docId": "A", "rating": "3"}
    content = {
        "judgmentRatings": [
            {"query": "phone", "ratings": [rated]},
            {"query": "phone", "ratings": [rated, {"docId": "B", "rating": 1}, rated]},
        ]
    }
    assert read_judgments(content) == {"phone": {"A": 3, "B": 1}}
    (tmp_path / "list.csv").write_text(
        "query,docid,rating\nphone,A,3\nphone,B,1\nphone,A,3.0\n"
    )
    assert read_judgments(tmp_path / "list.csv") == {"phone": {"A": 3, "B": 1}}
    with pytest.raises(
        ValueError, match="document 'A' is rated twice for query 'phone'"
    ):
        read_judgments(
            {
                "judgmentRatings": [
                    {"query": "phone", "ratings": [rated, {**rated, "rating": 2}]}
                ]
            }
        )


def test_rows_of_quepid_without_a_document(tmp_path: Path) -> None:
    (tmp_path / "list.csv").write_text("query,docid,rating\none,d,1\ntwo,,\n")
    assert read_judgments(tmp_path / "list.csv") == {"one": {"d": 1}}


def test_lists_with_semicolons_and_cut_lists(tmp_path: Path) -> None:
    path = tmp_path / "list.csv"
    path.write_text("query;docid;rating\nred, blue;d;10\nq;e;1\n")
    assert read_judgments(path) == {"red, blue": {"d": 10}, "q": {"e": 1}}
    assert irl.load(path).doc_ids == ["e", "d"]
    path.write_text("query,docid,rating\nq,d,10\nq,e,1")
    with pytest.raises(
        ValueError, match=r"line 3: the file ends with the rating 1.*was it cut"
    ):
        read_judgments(path)
    path.write_text("query,docid,rating\nq,d,2\nq,e,1")
    assert read_judgments(path) == {"q": {"d": 2, "e": 1}}


def test_a_document_that_a_request_rates_alike_twice_is_rated_once() -> None:
    rated = {"_index": "i", "_id": "d1", "rating": 2}
    request = {"requests": [{"id": "q", "ratings": [rated, dict(rated)]}]}
    assert qrels_in(request) == {"q": {"d1": 2.0}}


PYTERRIER = {
    "comma": "qid,docno,label\nq,x,1\nq,y,\n",
    "semicolon": "qid;docno;label\nq;x;1\nq;y;\n",
    "tab": "qid\tdocno\tlabel\nq\tx\t1\nq\ty\t\n",
    "quotes": '"qid","docno","label"\n"q","x","1"\n"q","y",""\n',
    "texts": "qid,query,docno,text,label\nq,what,x,foo,1\nq,what,y,bar,\n",
    "another order": "label,docno,qid\n1,x,q\n,y,q\n",
}


@pytest.mark.parametrize("form", PYTERRIER)
def test_a_table_for_judges_with_names_of_pyterrier_is_no_judgment_list(
    form: str, tmp_path: Path
) -> None:
    path = tmp_path / ("pool.tsv" if form == "tab" else "pool.csv")
    path.write_text(PYTERRIER[form])
    judgments = Judgments.from_qrels({"q": {"a": 1}})
    with pytest.warns(UserWarning, match="1 of 2 documents have no grade yet"):
        assert merged(judgments, path).doc_ids == ["a", "x"]
    with pytest.raises(ValueError, match="line 3: there is no relevance"):
        irl.load(str(path))


def test_subtopics_in_a_table_with_names_of_pyterrier_are_read(tmp_path: Path) -> None:
    path = tmp_path / "qrels.csv"
    path.write_text("qid,docno,label,iteration\nq,x,1,s1\nq,x,0,s2\nq,a,1,s2\n")
    judgments = Judgments.from_qrels(path)
    assert judgments.aspect_names == {"s1", "s2"}
    assert judgments.grade.tolist() == [1.0, 1.0]
