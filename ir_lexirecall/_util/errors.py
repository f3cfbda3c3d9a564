"""How errors name the offender, and the checks that many functions share.

A message says what is wrong, where (query, document, file), and what to do. It begins with the
function that the user called, which ``entry`` puts before whatever is raised.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import math
import numbers
import operator
import sys
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar, Token
from typing import Any, ParamSpec, TypeGuard, TypeVar

import numpy as np

from ir_lexirecall._util.selecting import without

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T", bound=Hashable)
PLEASE_REPORT = (
    "please report it to the person who gave you the package, which has no public "
    "address yet"
)
_called: ContextVar[str | None] = ContextVar(
    "the function that the user called", default=None
)

_source: ContextVar[str] = ContextVar("the input that warnings name", default="")


def entry(function: Callable[P, R], name: str = "") -> Callable[P, R]:
    """Let errors raised by a public function begin with its name.

    The name is that of the outermost such function, which the user called.

    Whatever it calls raises without naming itself. A misspelt keyword argument gets a hint at the
    nearest name. A constructor (``__init__``, ``__post_init__``) has the name of its class; a class
    or static method is decorated below ``classmethod``. ``name`` is another name by which users
    call the function.

    >>> @entry
    ... def compare(cutoff=1):
    ...     raise ValueError(f"cutoff must be an integer of at least 1, not {cutoff}")
    >>> compare(0)
    Traceback (most recent call last):
    ValueError: compare: cutoff must be an integer of at least 1, not 0
    >>> compare(cutof=3)
    Traceback (most recent call last):
    TypeError: compare: unexpected argument 'cutof'; did you mean 'cutoff'?
    """
    name = name or function.__name__
    if name.startswith("__"):
        name = function.__qualname__.split(".")[-2]

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        with called(name):
            try:
                return function(*args, **kwargs)
            except TypeError:
                hint = _hint_at_unexpected(function, kwargs)
                if hint is None:
                    raise
                raise TypeError(f"{name}: unexpected argument {hint}") from None

    return call


def _hint_at_unexpected(
    function: Callable[..., Any], arguments: Iterable[str]
) -> str | None:
    """Return the first argument that a function does not take, with a hint.

    The hint says where the argument belongs now, or the nearest parameter, or all of them. The
    answer is None if the function takes all arguments.
    """
    parameters = inspect.signature(function).parameters
    if any(
        parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()
    ):
        return None
    unknown = next(iter(without(arguments, parameters)), None)
    if unknown is None:
        return None
    takes_criteria = not {"by", "qrels"}.isdisjoint(parameters)
    if unknown in _MOVED and takes_criteria:
        return f"{unknown!r}; {_MOVED[unknown]}"
    names = without(parameters, ("self", "cls"))
    nearest = did_you_mean(unknown, names)
    if nearest:
        return f"{unknown!r}{nearest}"
    return f"{unknown!r}; it takes {', '.join(names) or 'none'}"


class called:
    """Let each ``ValueError`` raised within begin with the name of the function the user called.

    It also decorates functions that users call by another name. If several are nested, the
    outermost name is used; an empty name adds nothing. Like ``naming``, this is a class because
    small inputs enter it several times.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._token: Token[str | None] | None = None

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        """Return a function that does the same, and whose errors begin with the name."""

        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            with called(self._name):
                return function(*args, **kwargs)

        return call

    def __enter__(self) -> None:
        """Keep the name for errors, unless a function further out has set its own."""
        if _called.get() is None:
            self._token = _called.set(self._name)

    def __exit__(self, _: Any, error: BaseException | None, __: Any) -> None:
        """Put the name of the function in front of the message of a ``ValueError``."""
        if self._token is None:
            return
        _called.reset(self._token)
        prefix = f"{self._name}: " if self._name else ""
        if not isinstance(error, ValueError) or str(error).startswith(prefix):
            return
        if getattr(error, _FOREIGN, False):
            return
        # A UnicodeDecodeError, say, makes its text from other attributes.
        if type(error).__str__ is not ValueError.__str__:
            raise ValueError(f"{prefix}{error}") from error
        error.args = (f"{prefix}{error}",)


_FOREIGN = "_raised_by_another_package"


@contextmanager
def keeping_errors_of(package: str) -> Iterator[None]:
    """Let the ``ValueError``s that another package raises itself keep their text."""
    try:
        yield
    except ValueError as error:
        *_, (frame, _) = traceback.walk_tb(error.__traceback__)
        if frame.f_globals.get("__name__", "").partition(".")[0] == package:
            setattr(error, _FOREIGN, True)
        raise


_MOVED = {
    **dict.fromkeys(
        ("rel", "cutoff"),
        "write it into the name of a preference, such as 'lexirecall(rel=2)@100'",
    ),
    **dict.fromkeys(
        ("exclude", "judged_only", "queries", "rules", "trec_eval", "levels"),
        "give it to ir_lexirecall.load with the qrels",
    ),
    **dict.fromkeys(
        ("correction", "alpha", "n_resamples", "seed", "progress"),
        "give it to test=SignificanceTest(...)",
    ),
}
"""Where arguments of ``evaluate``, ``compare`` and the like are said instead."""


def counted(number: int, noun: str) -> str:
    """Return a number with its noun.

    >>> counted(1, "field"), counted(2000, "query"), counted(0, "run")
    ('1 field', '2,000 queries', '0 runs')
    """
    if number == 1:
        return f"{number:,} {noun}"
    if noun.endswith("ry"):
        return f"{number:,} {noun.removesuffix('y')}ies"
    return f"{number:,} {noun}s"


def and_more(rest: int) -> str:
    """How a message counts the offenders that it does not name.

    >>> and_more(0), and_more(2)
    ('', ' (and 2 other cases)')
    """
    if rest:
        return f" (and {rest} other case{'s' if rest > 1 else ''})"
    return ""


def repeated(names: Iterable[T]) -> T | None:
    """Return the first name that occurs again; None if each occurs once.

    >>> repeated(["a", "b", "a"]), repeated(["a", "b"])
    ('a', None)
    """
    return next(iter(all_repeated(names)), None)


def all_repeated(items: Iterable[T]) -> list[T]:
    """Return the items that occur more than once, without repetitions.

    >>> all_repeated(["a", "b", "a", "c", "c"])
    ['a', 'c']
    """
    return [item for item, count in Counter(items).items() if count > 1]


def shown(value: Any, length: int = 100) -> str:
    """Return a value as messages show it: on one line, and cut to a length.

    >>> shown("d1"), shown([1] * 1000, 12)
    ("'d1'", '[1, 1, 1, 1…')
    """
    if hasattr(value, "columns") or (
        hasattr(value, "shape") and bool(getattr(value, "ndim", 0))
    ):
        return f"a {type(value).__name__}"  # tables and arrays print in many lines
    try:
        text = " ".join(repr(value).split())
    except Exception:  # integers of thousands of digits, or what cannot print itself
        text = object.__repr__(value)
    return shortened(text, length)


def shortened(text: str, length: int = 100) -> str:
    """Return a text, cut to a length.

    >>> shortened("12", 3), shortened("12345", 3)
    ('12', '12…')
    """
    if len(text) <= length:
        return text
    return text[: length - 1] + "…"


def shown_names(names: Sequence[str], most: int = 20) -> str:
    """Names as messages list them, the first ones of many.

    >>> shown_names(["a", "b"]), shown_names([])
    ('a, b', 'none')
    """
    more = ""
    if len(names) > most:
        more = f", and {len(names) - most} more"
    return ", ".join(shown(name)[1:-1] for name in names[:most]) + more or "none"


class NotText(ValueError):
    """Raised for an id with half a character (a lone surrogate), which no file can hold."""


def check_text(text: str, what: str) -> str:
    r"""Return a text that can be written as UTF-8.

    >>> check_text("q\udc80", "ids")
    Traceback (most recent call last):
    ir_lexirecall._util.errors.NotText: ids must be Unicode texts, but one is 'q\udc80', with half a
    character (a lone surrogate)
    """
    if not text.isascii():
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            raise NotText(
                f"{what} must be Unicode texts, but one is {shown(text)}, with half a character "
                "(a lone surrogate)"
            ) from None
    return text


class naming:
    """Put the name of an input, such as a file, in front of each ``ValueError`` raised within.

    This is a class because small inputs enter it several times, and a generator decorated with
    ``contextmanager`` takes twice as long.
    """

    def __init__(self, source: str) -> None:
        self._source = source

    def __enter__(self) -> None:
        """Do nothing; the name is used only if an error is raised."""

    def __exit__(self, _: Any, error: BaseException | None, __: Any) -> None:
        """Raise a ``ValueError`` again, with the name of the input in front of its message."""
        if not isinstance(error, ValueError) or str(error).startswith(self._source):
            return
        message = str(error).removeprefix("run: ").removeprefix("qrels: ")
        kind = type(error) if isinstance(error, NotText) else ValueError
        raise kind(f"{self._source}: {message}") from None


@contextmanager
def concerning(source: str) -> Iterator[None]:
    """Let errors and warnings within begin with the name of one of several inputs.

    An empty name, as for a single input, adds nothing.

    >>> caught = warnings.catch_warnings(record=True, action="always")
    >>> with caught as messages, concerning("collection 'web'"):
    ...     warn("run 'a' is empty")
    >>> str(messages[0].message)
    "collection 'web': run 'a' is empty"
    """
    token = _source.set(source)
    try:
        with naming(source):
            yield
    finally:
        _source.reset(token)


def warn(message: str) -> None:
    """Warn at the line of the user's code that called this library, through ir_measures or not."""
    if source := _source.get():
        message = f"{source}: {message}"
    frame = sys._getframe(1)
    while frame.f_back is not None:
        package = frame.f_globals.get("__name__", "").partition(".")[0]
        if not package.endswith("_lexirecall") and package not in _CARRIERS:
            break
        frame = frame.f_back
    names = frame.f_globals
    registry = names.setdefault("__warningregistry__", {})
    where = (frame.f_code.co_filename, frame.f_lineno, names.get("__name__"), registry)
    warnings.warn_explicit(message, UserWarning, *where)


# Packages that only carry calls: their lines tell the user nothing.
_CARRIERS = ("ir_measures", "importlib", "contextlib")


def did_you_mean(name: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """Return a hint at the name that is closest to a misspelt one; empty if none is close.

    >>> did_you_mean("lexirecal", ["lexirecall", "rpp"])
    "; did you mean 'lexirecall'?"
    """
    import difflib

    close = difflib.get_close_matches(name, list(known), n=1, cutoff=cutoff)
    if close:
        return f"; did you mean {close[0]!r}?"
    return ""


def needs(what: str, package: str, extra: str) -> str:
    """Return the message about a missing package that only some functions need.

    >>> needs("a picture", "matplotlib", "plots")
    "a picture needs matplotlib: install it, or the extra 'plots' of a checkout (pip install
    '.[plots]')"
    """
    install = (
        f"install it, or the extra {extra!r} of a checkout (pip install '.[{extra}]')"
    )
    return f"{what} needs {package}: {install}"


def required(module: str, what: str, package: str, extra: str) -> Any:
    """Return a module that only ``what`` needs; ``package`` or ``extra`` installs it.

    >>> required("matplotlib", "a picture", "matplotlib", "plots").__name__
    'matplotlib'
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            needs(what, package, extra), name=module.partition(".")[0]
        ) from None


def is_number(value: Any) -> TypeGuard[float]:
    """Whether a value is a real number; truth values are none."""
    return isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_))


def is_integer(value: Any) -> TypeGuard[int]:
    """Whether a value is an integer; truth values are none."""
    if isinstance(value, (bool, np.bool_)):
        return False
    return isinstance(value, numbers.Integral)


def check_integer(
    name: str, value: Any, *, least: int = 1, most: int | None = None
) -> int:
    """Return a parameter that must be an integer in a range.

    >>> check_integer("cutoff", 0)
    Traceback (most recent call last):
    ValueError: cutoff must be an integer of at least 1, not 0
    """
    if not is_integer(value) or value < least or (most is not None and value > most):
        if most is None:
            bounds = f"of at least {least}"
        else:
            bounds = f"from {least} to {most}"
        raise ValueError(f"{name} must be an integer {bounds}, not {value!r}")
    return int(value)


def check_flag(name: str, value: Any) -> bool:
    """Return a parameter that must be True or False.

    >>> check_flag("judged_only", "no")
    Traceback (most recent call last):
    ValueError: judged_only must be True or False, not 'no'
    """
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} must be True or False, not {shown(value)}")
    return bool(value)


def check_integers(name: str, value: Any) -> list[int]:
    """Return a parameter that may be one integer above 0 or several.

    >>> check_integers("m", range(1, 4))
    [1, 2, 3]
    """
    if isinstance(value, Iterable) and not isinstance(value, str):
        several = list(value)
    else:
        several = [value]
    if not several:
        raise ValueError(f"{name}: give at least one number")
    return [check_integer(name, number) for number in several]


def check_number(
    name: str,
    value: Any,
    *,
    above: float | None = None,
    least: float | None = None,
    below: float | None = None,
) -> float:
    """Return a parameter that must be a finite number in a range.

    >>> check_number("alpha", 2, above=0, below=1)
    Traceback (most recent call last):
    ValueError: alpha must be a number above 0 and below 1, not 2
    """
    bounds = [
        (above, "above", operator.gt),
        (least, "of at least", operator.ge),
        (below, "below", operator.lt),
    ]
    limits = []
    for bound, word, holds in bounds:
        if bound is not None:
            limits.append((bound, word, holds))
    if (
        not is_number(value)
        or not math.isfinite(value)
        or not all(holds(value, limit) for limit, _, holds in limits)
    ):
        words = " and ".join(f"{word} {limit:g}" for limit, word, _ in limits)
        raise ValueError(
            f"{name} must be a number{' ' + words if words else ''}, not {value!r}"
        )
    return float(value)


def check_choice(name: str, value: Any, choices: Iterable[str]) -> str:
    """Return a parameter that must be one of several names.

    >>> check_choice("test", "foo", ["sign", "t"])
    Traceback (most recent call last):
    ValueError: unknown test 'foo'; choose from sign, t
    """
    options = list(choices)
    if not isinstance(value, str) or value not in options:
        hint = ""
        if isinstance(value, str):
            hint = did_you_mean(value, options, 0.7)
        raise ValueError(
            f"unknown {name} {shown(value)}; choose from {', '.join(options)}{hint}"
        )
    return value
