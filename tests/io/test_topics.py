"""Topics of TREC, and texts that are made to take long: each is read in time linear in its length."""

import contextlib
import gzip

import pytest

from ir_lexirecall.io.names import DOCUMENTS, QUERIES
from ir_lexirecall.io.texts import texts_of
from ir_lexirecall.io.topics import read_topics

LONG = 2**20
BLANKS = " " * LONG
TRAPS = {
    "unclosed topics": "<top>" * (LONG // 5),
    "unclosed topics as in XML": "<topic " * (LONG // 7),
    "unclosed topics of both kinds": "<top><topic>" * (LONG // 12),
    "topics that begin within one": "<topic" * (LONG // 6) + "</topic>",
    "blanks after the number's tag": f"<top><num>{BLANKS}</top>",
    "blanks after Number": f"<top><num>Number{BLANKS}<title>a</top>",
    "numbers without end": "<top>" + "<num> " * (LONG // 6) + "</top>",
    "blanks in an attribute": f"<topic number{BLANKS}></topic>",
    "attributes without value": "<topic " + "number " * (LONG // 7) + "></topic>",
    "titles without end": "<top><num>1" + "<title>" * (LONG // 7) + "</top>",
    "blanks after Topic": f"<top><num>1<title>Topic{BLANKS}</top>",
    "tags without end": "<top><num>1<title>" + "<a" * (LONG // 2) + "</top>",
    "a tag without end": "<top><num>1<title><a" + "b" * LONG + "</top>",
    "angle brackets": "<" * LONG,
}


@pytest.mark.sparse
@pytest.mark.parametrize("trap", TRAPS)
def test_long_topics(trap, tmp_path):
    path = tmp_path / "topics.txt"
    path.write_text(TRAPS[trap])
    with contextlib.suppress(ValueError, UserWarning):
        texts_of(str(path), ["1"], QUERIES)


@pytest.mark.parametrize(
    "text",
    [
        "{x}" + "\n" * LONG,
        "{x}" + " " * LONG + "\n",
        "{" + "}" * LONG + "\n",
        "{" + "} " * (LONG // 2) + "\n\n",
        "{" * LONG,
        "{}\n" + BLANKS + "x",
    ],
    ids=[
        "newlines",
        "blanks",
        "ends",
        "ends and blanks",
        "beginnings",
        "a second line",
    ],
)
@pytest.mark.parametrize("ending", [".json", ".json.gz"])
def test_long_json(text, ending, tmp_path):
    path = tmp_path / f"texts{ending}"
    path.write_bytes(
        gzip.compress(text.encode()) if ending.endswith("gz") else text.encode()
    )
    with pytest.raises(ValueError, match=r"texts\.json"):
        texts_of(str(path), ["1"], DOCUMENTS)


def test_forms_of_topics():
    text = """
    <top> <num> Number: 301 <title> Topic: Crime &amp; law
    <desc> Description: Which? </top>
    <TOP><NUM>302</NUM><TITLE>a < b</TITLE></TOP>
    <topic number="3" type="x"><query>cats</query><description>no</description></topic>
    <topic id = '4'><description>only <b>this</b></description></topic>
    <top><num>5<desc>Description: last
    """
    assert list(read_topics(text, "t")) == [
        ("301", "Crime & law"),
        ("302", "a < b"),
        ("3", "cats"),
        ("4", "only this"),
    ]


@pytest.mark.parametrize(
    "text", ["<top><title>a</top>", "<top><num>1</top>", "<topic>a</topic>"]
)
def test_a_topic_needs_a_number_and_a_text(text):
    with pytest.raises(
        ValueError, match=r"^t: a topic has no number, or neither a title"
    ):
        list(read_topics(text, "t"))
