"""Forms in which two programs often write the same id, to say why ids do not meet."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from ir_lexirecall._util.errors import shown

Form: TypeAlias = Callable[[str], str]

_LONGEST_ENDING = 5  # characters, without the dot
_ENDING = re.compile(r"[A-Za-z]\w*")
_PREFIX = re.compile(r"^[^\d\s]+[\W_](?=\w)")
_LETTERS = re.compile(r"^[A-Za-z]+(?=\d)")
_LAST_NUMBER = re.compile(r"\.\d{1,9}\Z", re.ASCII)
_CONTROL_CHARACTERS = [*map(chr, range(32)), "\x7f"]
# Besides them soft hyphens, marks of width zero and of direction, byte order marks.
_INVISIBLE = re.compile(
    "[\0-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff]"
)


def without_endings(text: str) -> str:
    """Return a name without its endings, such as those of `a.tar.gz`.

    >>> without_endings("a.tar.gz"), without_endings("1.5")
    ('a', '1.5')
    """
    end = len(text)
    while True:
        dot = text.rfind(".", max(0, end - _LONGEST_ENDING - 1), end)
        if dot < 0 or not _ENDING.fullmatch(text, dot + 1, end):
            return text[:end]
        end = dot


def are_plain(ids: Sequence[str]) -> bool:
    """Return whether ids have printable ASCII characters only, and no blanks around them.

    >>> are_plain(["d 1", "d2"]), are_plain(["d1 "]), are_plain(["caf\u00e9"])
    (True, False, False)
    """
    text = "".join(ids)
    if not text.isascii() or any(sign in text for sign in _CONTROL_CHARACTERS):
        return False
    return " " not in text or all(one == one.strip() for one in ids)


def visible(text: str) -> str:
    """Return an id without blanks around it and characters that cannot be seen, in the form NFKC.

    >>> visible("\ufeffd1 "), visible("\uff44\uff11")
    ('d1', 'd1')
    """
    if text.isascii() and text.isprintable():
        return text.strip()
    return unicodedata.normalize("NFKC", _INVISIBLE.sub("", text)).strip()


def _without_folder(text: str) -> str:
    return text[max(text.rfind("/"), text.rfind("\\")) + 1 :]


def _without_prefix(text: str) -> str:
    return _PREFIX.sub("", text)


def _without_letters(text: str) -> str:
    return _LETTERS.sub("", text)


_AFTER_DOT = "without the number after the last dot"
_WITH_ZEROS = "without the letters and zeros before the number"
QUERY_FORMS: Mapping[str, Form] = {
    "in lower case": str.casefold,
    "without blanks": str.strip,
    "in one Unicode form (NFC)": lambda text: unicodedata.normalize("NFC", text),
    "without invisible characters": lambda text: _INVISIBLE.sub("", text),
    "in one width (NFKC)": lambda text: unicodedata.normalize("NFKC", text),
    "without '.0' at the end": lambda text: text.removesuffix(".0"),
    "without leading zeros": lambda text: text.lstrip("0"),
    _AFTER_DOT: lambda text: _LAST_NUMBER.sub("", text),
    "without the folder": _without_folder,
    "without the ending": without_endings,
    "without the folder and the ending": lambda text: _without_folder(text).partition(
        "."
    )[0],
    "without the prefix": _without_prefix,
    "without the letters before the number": _without_letters,
    _WITH_ZEROS: lambda text: _LETTERS.sub("", text).lstrip("0"),
}
"""Forms of ids of queries, by the words that say so. The simplest come first."""

FORMS: Mapping[str, Form] = {
    name: form
    for name, form in QUERY_FORMS.items()
    if name not in (_AFTER_DOT, _WITH_ZEROS)
}
"""Forms of ids of documents, in which numbers after dots and zeros tell documents apart."""

FORMS_OF_ONE_SOURCE: Mapping[str, Form] = {
    name: form
    for name, form in FORMS.items()
    if form not in (_without_prefix, _without_letters)
}
"""Forms of ids of documents in which letters before a number tell sources apart."""


class Match(NamedTuple):
    """Two ids that differ, and the form in which they are the same."""

    form: str
    first: str
    second: str


def matches(
    ids: Iterable[str], others: Iterable[str], forms: Mapping[str, Form] = FORMS
) -> list[Match]:
    """Return the ids that differ from all others, but not in some form.

    >>> matches(["FT1", "FT2"], ["ft1.txt", "FT1"])
    []
    >>> matches(["007", "008"], ["7"])
    [Match(form='without leading zeros', first='007', second='7')]
    """
    distinct, others = list(dict.fromkeys(ids)), list(dict.fromkeys(others))
    pairs = []
    for name, form in forms.items():
        other_in_form: dict[str, str] = {}
        for other in others:
            other_in_form.setdefault(form(other), other)
        for one in distinct:
            other = other_in_form.get(form(one), one)
            if other != one and form(one):
                pairs.append(Match(name, one, other))
    return pairs


def best_match(candidates: Iterable[Match]) -> Match | None:
    """Return a match of the simplest form that has at least half of the most matches.

    A form that takes much away, such as the prefix, also matches ids of different documents. None
    without any match.
    """
    by_form: dict[str, list[Match]] = {name: [] for name in QUERY_FORMS}
    for match in candidates:
        by_form[match.form].append(match)
    most = max(map(len, by_form.values()))
    if not most:
        return None
    return next(found[0] for found in by_form.values() if len(found) >= most / 2)


def form_hint(ids: Iterable[str], others: Iterable[str], sides: tuple[str, str]) -> str:
    """Return a sentence on the form in which ids of queries are the same; empty if there is none.

    Args:
        ids: ids of one side, which do not occur on the other.
        others: ids of the other side.
        sides: whose they are, such as ``("run's", "qrels'")``.

    >>> form_hint(["1"], ["001"], ("run's", "qrels'"))
    "The run's '1' and the qrels' '001' are the same without leading zeros"
    """
    return sentence(best_match(matches(ids, others, QUERY_FORMS)), sides)


def sentence(match: Match | None, sides: tuple[str, str]) -> str:
    """Return a sentence on a match; empty without one."""
    if match is None:
        return ""
    first, second = (
        f"the {side} {shown(one)}" for side, one in zip(sides, match[1:], strict=True)
    )
    text = f"{first} and {second} are the same {match.form}"
    return text[0].upper() + text[1:]
