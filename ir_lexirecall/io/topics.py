"""Topics as TREC has them: `<top>` with tags that often lack their ends, or `<topic>` as in XML.

Every pattern here is matched in time linear in the length of the text, whatever the text.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

_START = re.compile(r"<top>|<topic\b", re.IGNORECASE)
_ENDS = {
    "<top>": re.compile("</top>", re.IGNORECASE),
    "<topic": re.compile("</topic>", re.IGNORECASE),
}
_NUMBER = re.compile(r"<num>\s*+(?:Number\s*+:)?+\s*+([^\s<]+)", re.IGNORECASE)
_NUMBER_ATTRIBUTE = re.compile(r"\b(?:number|id)\s*+=\s*+[\"']([^\"']+)", re.IGNORECASE)
_TAG = r"</?[a-z!?][^<>]*>"  # "a < b" holds none
# A field ends at its end tag, else at the next tag.
_FIELDS = re.compile(
    r"<(title|query|desc|description)>\s*+(?:(?:Topic|Description)\s*+:)?+"
    rf"((?:(?!<(?:title|query|desc|description)>).)*?(?=</\1>)|(?:(?!{_TAG}).)*)",
    re.DOTALL | re.IGNORECASE,
)
_TAGS = re.compile(_TAG, re.IGNORECASE)
_TEXTS = ("title", "query", "desc", "description")
"""Fields that serve as the text of a query; the first one that is filled counts."""


def read_topics(text: str, path: str) -> Iterator[tuple[str, str]]:
    """Yield the number of each topic, and its title, else its description.

    Args:
        text: the text of the file.
        path: its name in messages.

    Raises:
        ValueError: a topic has no number or no text.

    >>> list(read_topics("<top><num> Number: 7 <title> Topic: cats </top>", "topics.txt"))
    [('7', 'cats')]
    """
    for topic in topics_in(text):
        number, query = _number_of(topic), _text_of(topic)
        if number is None or query is None:
            raise ValueError(
                f"{path}: a topic has no number, or neither a title, a query nor a description"
            )
        yield number, query


def topics_in(text: str) -> Iterator[str]:
    """Yield the topics in a text, from the tag that begins each to the one that ends it."""
    without_end = set()
    position = 0
    while start := _START.search(text, position):
        position = start.end()
        tag = start[0].lower()
        if tag in without_end:
            continue
        if end := _ENDS[tag].search(text, position):
            yield text[start.start() : end.end()]
            position = end.end()
        else:  # nor has any later one of this kind: it is not looked for again
            without_end.add(tag)


def _number_of(topic: str) -> str | None:
    """Return the number of a topic: of its own tag, else of the tag `<num>`."""
    own_tag = topic[: topic.find(">")]
    match = _NUMBER_ATTRIBUTE.search(own_tag) or _NUMBER.search(topic)
    return match[1] if match else None


def _text_of(topic: str) -> str | None:
    """Return the text of a topic without tags."""
    fields = {
        name.lower(): html.unescape(" ".join(_TAGS.sub("", marked).split()))
        for name, marked in _FIELDS.findall(topic)
    }
    return next((fields[name] for name in _TEXTS if fields.get(name)), None)
