"""``ir-lexirecall``: the measures from the command line."""

from __future__ import annotations

import importlib
import os
import re
import sys
import traceback
import warnings
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from subprocess import CalledProcessError
from typing import Any

from ir_lexirecall import __version__
from ir_lexirecall._util.errors import PLEASE_REPORT, called
from ir_lexirecall._util.lazy import LazyModule
from ir_lexirecall._util.selecting import among

# Loaded late: an error needs little of it.
output: Any = LazyModule("ir_lexirecall.cli.output")
files_named: Any = LazyModule("ir_lexirecall.cli.arguments")
text: Any = LazyModule("ir_lexirecall.present.text")
_EXPECTED = (ValueError, OSError, ModuleNotFoundError, CalledProcessError, RuntimeError)
_OPTIONS = {
    "a margin needs a baseline; pass baseline=": ("--margin needs --baseline"),
    "missing='skip'": "--missing skip",
    "say so: query=": "say so: --query-column ",
    "say so: run=": "say so: --run-column ",
    "names the queries: query=": "names the queries: --query-column ",
    "which it is: query=": "which it is: --query-column ",
    'say what they are: repeats="samples" (noise of each query) or repeats="seeds"': (
        "say what they are: --repeats-are samples (noise of each query) or --repeats-are seeds"
    ),
    "leave query= out": "leave --query-column out",
    "a run (run=)": "a run (--run-column)",
    "a repeat (where=)": "a repeat (--where)",
    "name two, baseline= and candidate=": "name two, --baseline and --candidate",
    "cluster=True": "--cluster",
    "pass groups=": "give --groups",
    "allow_empty=True (--allow-empty)": "--allow-empty",
    "pass baseline=": "give --baseline",
    "(by=...)": "(-m)",
    "leave out values= and": "omit --values and",
}
"""Arguments in Python that messages name, and what they are here."""
_WHERE = re.compile(r"where=\{'([^']*)': '([^']*)'\}")
_COMMANDS = {
    "eval": "eval",
    "compare": "compare",
    "report": "compare",
    "demo": "eval",
    "measures": "eval",
    "explain-measure": "eval",
    "benchmark": "benchmarks",
    "gate": "compare",
    "to-judge": "judging",
    "merge-judged": "judging",
    "meta": "meta",
}
"""The commands, and the modules that have them: ``add_NAME`` declares one, ``run_NAME`` runs it."""
_TRACEBACK = "IR_LEXIRECALL_TRACEBACK"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Returns:
        The exit code: 0, 1 for bad input or a failure, 3 where ``gate`` finds the candidate worse,
            4 where it is undecided with ``--strict``, 5 where a file of values is cut off, 130 if
            interrupted.

    Raises:
        SystemExit: bad usage (code 2), ``--help`` and ``--version`` (code 0).
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    with warnings.catch_warnings():
        # Deprecations concern programmers, not users of a command.
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.showwarning = lambda message, *_: say(str(message))
        options = None
        try:
            options = _parsed(words)
            with ExitStack() as options.resources, called(options.name):
                files_named.check_output(options)
                return options.command(options) or 0
        except KeyboardInterrupt:
            _abandon_output()
            say("interrupted")
            return 130
        except BrokenPipeError:  # the reader of our output has seen enough
            _abandon_output()
            return getattr(options, "found", 0)
        except SystemExit:
            raise
        except BaseException as error:  # a panic of Polars is no Exception
            _abandon_output()
            say(_message_of(error))
            if os.environ.get(_TRACEBACK):
                traceback.print_exc()
            return 1


def _message_of(error: BaseException) -> str:
    """Return the message of an error, in which arguments are called by their options."""
    if isinstance(error, MemoryError):
        return "there is not enough memory"
    if isinstance(error, OSError) and error.strerror:
        if error.filename is None:
            return error.strerror
        return f"{error.filename}: {error.strerror}"
    if not isinstance(error, _EXPECTED):
        origin = f"({_TRACEBACK}=1 in the environment shows where it comes from)"
        return f"unexpected {type(error).__name__}: {error}; {PLEASE_REPORT} {origin}"
    message = str(error) or type(error).__name__
    for argument, option in _OPTIONS.items():
        message = message.replace(argument, option)
    return _WHERE.sub(r"--where \1=\2", message)


def _parsed(words: list[str]) -> Any:
    """Parse the command line; if it begins with a command, load no other one."""
    from ir_lexirecall.cli.arguments import Parser, files_first

    try:
        parser = Parser(
            prog="ir-lexirecall",
            description="Evaluate rankings, compare them, and test changes, with the measures of "
            "ir_measures, TSE, lexicographic recall, C/W/L ERR, RBU, TOMA and more.",
            codes={
                3: "gate: the candidate is worse",
                4: "gate --strict: undecided",
                5: "compare, report, gate: a file of --values is cut off",
            },
        )
        parser.add_argument(
            "--version", action="version", version=f"ir-lexirecall {__version__}"
        )
        commands = parser.add_subparsers(required=True, metavar="COMMAND", dest="name")
        # Loading takes time: load the module of the named command, or of all if none is named.
        for name in among(words[:1], _COMMANDS) or _COMMANDS:
            module = importlib.import_module(f"ir_lexirecall.cli.{_COMMANDS[name]}")
            key = name.replace("-", "_")
            getattr(module, f"add_{key}")(commands)
            commands.choices[name].set_defaults(command=getattr(module, f"run_{key}"))
        if "_ARGCOMPLETE" in os.environ:  # a shell asks for what could follow
            importlib.import_module("argcomplete").autocomplete(parser)
        options = parser.parse_args(files_first(words))
    except SystemExit:
        if sys.stdout is not None:
            output.emit("")  # a help text that cannot be printed is a failure, too
        raise
    options.words = words
    return options


def say(message: str) -> None:
    """Print one line to standard error, where there is one."""
    if sys.stderr is None:
        return
    with suppress(OSError, ValueError):  # nobody listens
        print(
            f"ir-lexirecall: {text.printable(' '.join(message.split()))}",
            file=sys.stderr,
            flush=True,
        )


def _abandon_output() -> None:
    """Print nothing more: at its end, Python would complain that it cannot be printed."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError, AttributeError):
        with suppress(OSError, ValueError, AttributeError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
