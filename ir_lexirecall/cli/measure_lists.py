"""Which words of a command line name measures: ``-m`` takes one or several, in one word or in many."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Any

import ir_measures

from ir_lexirecall._util.lazy import LazyModule
from ir_lexirecall.data.collection import find_collection
from ir_lexirecall.io.files import STDIN
from ir_lexirecall.io.measure_names import equivalent

# Most words that are looked up name measures.
preference_functions: Any = LazyModule("ir_lexirecall.preferences.functions")

# Options that take measures, one or several.
_LISTS = ("-m", "--measures", "-p", "--preference")


def split_measures(words: str | Sequence[str] | None) -> list[str]:
    """Measure strings out of words; blanks, commas and semicolons part them, but not within brackets or quotes.

    >>> split_measures("TSE@1000 RBU(p=0.9, e=0.1)@20, LR")
    ['TSE@1000', 'RBU(p=0.9, e=0.1)@20', 'LR']
    >>> split_measures(["LR AP", "nDCG@10"])
    ['LR', 'AP', 'nDCG@10']
    """
    parts: list[str] = []
    for word in [words] if isinstance(words, str) else words or []:
        current, depth, quote = "", 0, ""
        for character in word + " ":
            if not quote and not depth and character in " \t\n,;":
                if current:
                    parts.append(current)
                current = ""
                continue
            current += character
            if quote:
                quote = "" if character == quote else quote
            elif character in "'\"":
                quote = character
            else:
                depth += (character in "({[") - (character in ")}]")
                if depth < 0:
                    raise ValueError(f"measures: {character!r} has no opening bracket in {current!r}")
        if current.strip():
            raise ValueError(f"measures: a bracket or quote is not closed in {current.strip()!r}")
    return parts


def with_lists(words: Sequence[str]) -> list[str]:
    """The words of a command line with a ``-m`` before every measure, ahead of the files.

    ``-m`` takes as many words as name measures; a word that is not a measure but a file, or a data set's id, ends them,
    and so does ``--``.

    >>> with_lists(["eval", "qrels.txt", "bm25.run", "-m", "LR", "nDCG@10", "--by-query"])
    ['eval', '-m', 'LR', '-m', 'nDCG@10', 'qrels.txt', 'bm25.run', '--by-query']
    """
    lists, others = [], []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "--":
            others += [word, *rest]
            break
        option = next((o for o in _LISTS if word == o or word.startswith(o + "=" * o.startswith("--"))), None)
        if option is None or (word == option and (not rest or _is_option(rest[0]))):
            others.append(word)
            continue
        attached = word.removeprefix(option).removeprefix("=" * option.startswith("--"))
        lists += [option, rest.pop(0) if word == option else attached]
        while rest and _names_measures(rest[0]):
            lists += [option, rest.pop(0)]
    commands = 2 if others[:1] == ["meta"] else 1
    return [*others[:commands], *lists, *others[commands:]]


def _is_option(word: str) -> bool:
    return word.startswith("-") and word != STDIN


def _names_measures(word: str) -> bool:
    """Whether a word after a measure is another one, not the next argument."""
    if _is_option(word) or word == STDIN:
        return False
    try:
        heads = [re.split(r"[(@]", part)[0] for part in split_measures(word)]
    except ValueError:  # brackets: whatever is wrong with it, it is a measure
        return True
    if all(head in ir_measures.measures.registry or head in preference_functions.NAMES for head in heads):
        return True
    if equivalent(word.partition(",")[0]):  # trec_eval's P.5,10
        return True
    plain = re.sub(r"[({\[].*[)}\]]", "", word)
    if os.path.exists(word) or "/" in plain or os.sep in plain or "." in plain:
        return False
    try:
        find_collection(word)
    except (ValueError, OSError):
        return True
    return False
