"""Plain text of formulas in LaTeX, so that a formula is written once."""

from __future__ import annotations

import re

_COMMAND = re.compile(r"\\([A-Za-z]+|.)")
_WRITTEN = {
    "le": " <= ", "ge": " >= ", "cdot": " ", "ldots": "...", "quad": " ",
    ",": " ", ";": " ", " ": " ",
    "left": "", "right": "", "lceil": "ceil(", "rceil": ")", "lfloor": "floor(", "rfloor": ")",
    "mid": " | ", "in": " in ", "epsilon": "eps", "varepsilon": "eps",
}  # fmt: skip
# A name with its indices and powers; each alternative is matched in linear time.
_ATOM = re.compile(
    r"[\w.'@]*+(?:\^[\w*]++)*+"
    r"|(?:\w*+[.'@])*+[^\W_]*+(?:[_^][\w*]++)*+"
    r"|\*"
)
_OVER = {"sum": "sum", "prod": "product", "max": "max", "min": "min"}


def plain_text(latex: str) -> str:
    r"""Return a formula as text that a terminal can show.

    >>> plain_text(r"\frac{1}{m} \sum_{i=1}^{m} \frac{p_i}{\log_2(i + 1)}")
    '(1/m) sum over i = 1..m of p_i / log2(i + 1)'
    >>> plain_text(r"\alpha^{k-1} \left( 1 - \binom{n}{m} \right)")
    'alpha^(k-1) (1 - C(n, m))'
    """
    text, index = "", 0
    while index < len(latex):
        character = latex[index]
        if character == "\\":
            part, index = _command(latex, index)
            text += part
        elif character in "_^":
            argument, index = _argument(latex, index + 1)
            inner = plain_text(argument)
            text += character + (_grouped(inner) if character == "^" else inner)
        else:
            text += "" if character in "{}" else character
            index += 1
    return _spaced(text)


def _command(latex: str, index: int) -> tuple[str, int]:
    """Return the text of the command that begins at an index, and the index behind it."""
    match = _COMMAND.match(latex, index)
    if match is None:  # a backslash that ends the text
        return "", len(latex)
    name, index = match[1], match.end()
    if name in ("frac", "tfrac"):
        return _fraction(latex, index)
    if name == "binom":
        above, index = _argument(latex, index)
        below, index = _argument(latex, index)
        return f"C({plain_text(above)}, {plain_text(below)})", index
    if name in ("mathrm", "text"):
        argument, index = _argument(latex, index)
        return plain_text(argument.replace(r"\_", "_")), index
    if name in _OVER:
        return _operator(_OVER[name], latex, index)
    if name == "log" and latex.startswith("_2", index):
        return "log2 ", index + 2
    return _WRITTEN.get(name, name), index


def _fraction(latex: str, index: int) -> tuple[str, int]:
    """Return a fraction; one that multiplies what follows stands in parentheses."""
    above, index = _argument(latex, index)
    below, index = _argument(latex, index)
    above, below = plain_text(above), plain_text(below)
    is_short = (
        len(above) + len(below) < 5
        and _ATOM.fullmatch(above)
        and _ATOM.fullmatch(below)
    )
    needs_group = re.search(r" [-+] | over | = |\w-\d", above) is not None
    numerator = _grouped(above) if needs_group else above
    if is_short:
        text = f"{above}/{below}"
    else:
        text = f"{numerator} / {_grouped(below)}"
    rest = latex[index:].lstrip(" \\,;")
    is_factor = (
        rest != ""
        and rest[0] not in "+-=,)}]"
        and not rest.startswith(("quad", "right"))
    )
    return (f"({text}) " if is_factor else text), index


def _operator(word: str, latex: str, index: int) -> tuple[str, int]:
    """Return a sum, product, maximum or minimum with what it runs over."""
    limits = {"_": "", "^": ""}
    while index < len(latex) and latex[index] in "_^":
        sign = latex[index]
        argument, index = _argument(latex, index + 1)
        limits[sign] = plain_text(argument)
    if not limits["_"]:
        return word, index
    end = f"..{limits['^']}" if limits["^"] else ""
    return f"{word} over {limits['_']}{end} of ", index


def _argument(latex: str, index: int) -> tuple[str, int]:
    """Return the argument of a command that begins at an index, and the index behind it."""
    while latex[index] == " ":
        index += 1
    if latex[index] == "\\":
        match = _COMMAND.match(latex, index)
        if match:
            return (match[0], match.end())
        return ("", len(latex))
    if latex[index] != "{":
        return latex[index], index + 1
    depth = 0
    for end in range(index, len(latex)):
        depth += (latex[end] == "{") - (latex[end] == "}")
        if depth == 0:
            return latex[index + 1 : end], end + 1
    return latex[index + 1 :], len(latex)


def _grouped(text: str) -> str:
    """Return a text in parentheses unless it is one name, number, call, or size of a set."""
    if _ATOM.fullmatch(text) or re.fullmatch(r"\|[^|]*\|", text):
        return text
    call = re.fullmatch(r"[\w.]*\((.*)\)", text)
    is_one_call = call is not None and _is_balanced(call[1])
    return text if is_one_call else f"({text})"


def _is_balanced(text: str) -> bool:
    """Return whether no bracket of a text closes one that is outside it."""
    depth = 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if depth < 0:
            return False
    return depth == 0


def _spaced(text: str) -> str:
    """Return a text with one blank around relations, and none inside brackets."""
    text = re.sub(r"(?<![<>=])([<>=])(?![<>=])", r" \1 ", text)
    text = re.sub(r"\s+", " ", text)
    text = re.sub(r"\( | (?=[),])", lambda match: match[0].strip(), text)
    return re.sub(r"(?<=log2) (?=\()", "", text).strip()
