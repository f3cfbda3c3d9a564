"""Change one thing in the source at a time and see whether the tests notice; outside the default tests.

    python -m tests.faults.mutate --seed 0 --n 200 --survivors

A mutant differs from the source by one comparison, operator, constant, condition or call. Mutants are drawn from each module
alike. One process for each group of modules collects their tests and notes which lines each test runs; a fork of it changes
the code of a mutant's functions in place and runs the tests of the changed line, quick ones first, until one fails. Hypothesis
tries ten examples, others each time. ``--log`` keeps what is known: a run goes on where it ended, and draws the same mutants
first whatever ``--n``; ``--again`` tries the survivors again. Needs ``os.fork`` (not Windows).
"""

from __future__ import annotations

import argparse
import ast
import gc
import importlib
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest

PACKAGE = Path(__file__).parents[2] / "ir_lexirecall"
BROKEN = 99  # exit code of a fork that could not make its mutant
GROUPS = {  # modules, and the tests that cover them
    "measures/*.py": "measures test_vectors.py test_small_inputs.py test_bad_input.py",
    "alignment.py lookup.py": "test_lookup.py test_small_inputs.py test_ties.py test_inputs.py test_exclude.py test_judged_only.py"
    " test_laws.py test_bad_input.py",
    "preferences/*.py": "preferences test_bad_input.py test_summary.py",
    "significance/*.py": "test_significance.py test_power.py",
}
SWAPPED = [
    (ast.Lt, ast.LtE), (ast.Gt, ast.GtE), (ast.Eq, ast.NotEq), (ast.Is, ast.IsNot), (ast.In, ast.NotIn), (ast.And, ast.Or),
    (ast.Add, ast.Sub), (ast.Mult, ast.Div), (ast.BitAnd, ast.BitOr), (ast.UAdd, ast.USub),
]  # fmt: skip
OPERATORS: dict[Any, Any] = dict(SWAPPED) | {b: a for a, b in SWAPPED} | {ast.Pow: ast.Mult, ast.FloorDiv: ast.Mult}
PAIRS = "minimum maximum, min max, floor ceil, any all, zeros ones, left right, argmin argmax, lower upper, log2 log"
NAMES = {a: b for pair in PAIRS.split(", ") for a, b in (pair.split(), pair.split()[::-1])}
SKIPPED = (ast.Raise, ast.Import, ast.ImportFrom, ast.JoinedStr, ast.FormattedValue, ast.arguments, ast.AnnAssign)


def changes(node: ast.AST) -> Iterator[tuple[str, Any]]:
    """Fields of a node and what a mutant has there instead."""
    operator = getattr(node, "op", None) or (
        node.ops[0] if isinstance(node, ast.Compare) and len(node.ops) == 1 else None
    )
    if type(operator) in OPERATORS:
        changed = OPERATORS[type(operator)]()
        yield ("ops", [changed]) if isinstance(node, ast.Compare) else ("op", changed)
    elif isinstance(operator, (ast.Not, ast.Invert)):
        yield "operand", ast.UnaryOp(operator, node.operand)  # type: ignore[attr-defined]
    value = getattr(node, "value", None) if isinstance(node, ast.Constant) else None
    if isinstance(value, (bool, int, float)):
        others = (
            (not value,)
            if isinstance(value, bool)
            else (value + 1, value - 1)
            if isinstance(value, int)
            else (value * 1.5 + 0.5,)
        )
        yield from (("value", other) for other in others)
    name = "attr" if isinstance(node, ast.Attribute) else "id" if isinstance(node, ast.Name) else "value"
    if isinstance(getattr(node, name, None), str) and getattr(node, name) in NAMES:
        yield name, NAMES[getattr(node, name)]
    if isinstance(node, (ast.If, ast.IfExp)):
        yield from (("test", ast.Constant(value)) for value in (True, False))
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield "value", ast.Constant(None)


def nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """Nodes that run: no messages, imports, annotations, defaults or declarations of parameters or classes."""
    yield tree
    definition = isinstance(tree, (ast.ClassDef, ast.FunctionDef))
    for _, field in [("body", tree.body)] if definition else ast.iter_fields(tree):  # type: ignore[attr-defined]
        for child in field if isinstance(field, list) else [field]:
            declared = isinstance(child, ast.Call) and getattr(child.func, "id", "") in ("Param", "cutoff_param")
            typing = isinstance(child, ast.If) and getattr(child.test, "id", "") == "TYPE_CHECKING"
            if isinstance(child, ast.AnnAssign) and child.value and not isinstance(tree, ast.ClassDef):
                yield from nodes(child.value)
            elif isinstance(child, ast.AST) and not (isinstance(child, SKIPPED) or declared or typing):
                yield from nodes(child)


def mutants(source: str) -> list[tuple[int, int]]:
    """All mutants of a source: the number of a node and the number of its change."""
    return [(i, j) for i, node in enumerate(nodes(ast.parse(source))) for j, _ in enumerate(changes(node))]


def mutated(source: str, node_number: int, change: int) -> tuple[ast.Module, set[int], bool, str]:
    """The tree of a mutant, the lines that it changes, whether they stand in a function, and what it changes in words."""
    tree = ast.parse(source)
    node: Any = list(nodes(tree))[node_number]
    place = node.test if isinstance(node, (ast.If, ast.IfExp)) else node
    before = ast.unparse(node).splitlines()[0]
    field, value = list(changes(node))[change]
    setattr(node, field, value)
    ast.fix_missing_locations(tree)
    what = f"line {node.lineno}: {before} -> {ast.unparse(node).splitlines()[0]}"
    lines = set(range(place.lineno, (place.end_lineno or 0) + 1))
    functions = [f for f in ast.walk(tree) if isinstance(f, (ast.FunctionDef, ast.Lambda))]
    return tree, lines, any(f.lineno <= node.lineno <= (f.end_lineno or 0) for f in functions), what


def codes(old: CodeType, new: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    """The code of each function before and after."""
    yield old, new
    inner = ([const for const in code.co_consts if isinstance(const, CodeType)] for code in (old, new))
    for pair in zip(*inner, strict=True):
        yield from codes(*pair)


def change_in_place(module: Any, source: str, tree: ast.Module) -> None:
    """Give the functions of an imported module the code of a mutant, and its constants their values."""
    old, new = (compile(code, module.__file__, "exec", dont_inherit=True) for code in (source, tree))
    changed = {before: after for before, after in codes(old, new) if before != after}
    for thing in gc.get_objects():
        if isinstance(thing, FunctionType) and thing.__code__ in changed:
            thing.__code__ = changed[thing.__code__]
    bodies: list[Any] = [(module, ast.parse(source).body, tree.body)]
    bodies += [
        (vars(module)[b.name], a.body, b.body)
        for a, b in zip(*bodies[0][1:], strict=True)
        if isinstance(b, ast.ClassDef)
    ]
    for holder, *statements in bodies:
        for before, after in zip(*statements, strict=True):
            if isinstance(after, (ast.Assign, ast.AnnAssign)) and ast.dump(before) != ast.dump(after):
                names = dict(vars(module))
                exec(compile(ast.Module([after], []), module.__file__, "exec"), names)
                targets = after.targets if isinstance(after, ast.Assign) else [after.target]
                for name in (target.id for target in targets if isinstance(target, ast.Name)):
                    was = vars(holder)[name]
                    for other in [holder, *(m for m in list(sys.modules.values()) if vars(m).get(name) is was)]:
                        setattr(other, name, names[name])


def in_a_fork(work: Callable[[], int], limit: float = 3600) -> int | None:
    """What ``work`` returns in a forked process; None where it takes longer than so many seconds."""
    child = os.fork()
    if not child:
        os.setpgid(0, 0)
        code = BROKEN
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            os.dup2(1, 2)
            code = work()
        finally:
            os._exit(code)
    end = time.monotonic() + limit
    while not (ended := os.waitpid(child, os.WNOHANG))[0]:
        if time.monotonic() > end:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return None
        time.sleep(0.01)
    return os.waitstatus_to_exitcode(ended[1])


def failed(item: pytest.Item) -> bool:
    """Whether a test fails."""
    before = item.session.testsfailed
    item.ihook.pytest_runtest_protocol(item=item, nextitem=None)
    return item.session.testsfailed > before


class Trial:
    """A plug-in of pytest that runs the tests of each mutant in place of all tests."""

    def __init__(self, modules: list[str], args: argparse.Namespace, known: dict[Any, Any], notes: Path) -> None:
        self.modules, self.args, self.known, self.notes = modules, args, known, notes

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Draw mutants and try them."""
        sources = {name: (PACKAGE / name).read_text(encoding="utf-8") for name in self.modules}
        in_a_fork(lambda: self.note_lines(session.items))
        noted = json.loads(self.notes.read_text())
        good = sorted((i for i, n in enumerate(noted) if not n["failed"]), key=lambda i: noted[i]["seconds"])
        drawn = []
        for name, source in sources.items():
            everything = mutants(source)
            random.Random(f"{self.args.seed} {name}").shuffle(everything)
            drawn += [(i, name, *key) for i, key in enumerate(everything[: self.args.each])]
        for _, name, *key in sorted(drawn):
            if (name, *key) not in self.known:
                tree, lines, in_a_function, what = mutated(sources[name], *key)
                ran = {i: set(noted[i]["lines"].get(str(PACKAGE / name), ())) for i in good}
                tests = [i for i in good if ran[i] & lines] or [i for i in good if ran[i] and not in_a_function]
                work = partial(self.try_one, name, sources[name], tree, [session.items[i] for i in tests])
                code = in_a_fork(work, limit=10 + 2 * sum(noted[i]["seconds"] for i in tests))
                result = {"module": name, "key": key, "what": what, "killed": code != 0, "tests": len(tests)}
                if code != BROKEN:  # else it uses other variables of outer functions, and cannot be changed in place
                    with self.args.log.open("a") as log:
                        log.write(json.dumps(result) + "\n")
        return True

    def note_lines(self, items: list[pytest.Item]) -> int:
        """Write down for each test which lines of the modules it runs, whether it fails, and its time."""
        files = {str(PACKAGE / name) for name in self.modules}
        lines: dict[str, set[int]] = defaultdict(set)

        def trace(frame: Any, event: str, _: Any) -> Any:
            if frame.f_code.co_filename in files:
                lines[frame.f_code.co_filename].add(frame.f_lineno)
                return trace
            return None

        notes = []
        for item in items:
            lines.clear()
            start = time.monotonic()
            threading.settrace(trace)
            sys.settrace(trace)
            bad = failed(item)
            sys.settrace(None)
            ran = {file: sorted(numbers) for file, numbers in lines.items()}
            notes.append({"failed": bad, "seconds": time.monotonic() - start, "lines": ran})
        self.notes.write_text(json.dumps(notes))
        return 0

    def try_one(self, name: str, source: str, tree: ast.Module, items: list[pytest.Item]) -> int:
        """Run the tests of a mutant until one fails."""
        module = importlib.import_module("ir_lexirecall." + name[:-3].replace("/", "."))
        change_in_place(module, source, tree)
        return int(any(failed(item) for item in items))


def main() -> None:
    """Draw mutants, run their tests, print the score of each module."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.faults.mutate", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--n", type=int, default=200, help="mutants over all modules")
    parser.add_argument("--only", nargs="*", default=[""], help="parts of modules' names")
    parser.add_argument("--log", type=Path, help="file of JSON lines to continue")
    parser.add_argument("--again", action="store_true", help="try the survivors in the log again")
    parser.add_argument("--survivors", action="store_true", help="list what no test noticed")
    args = parser.parse_args()
    folder = Path(tempfile.mkdtemp())
    args.log = args.log or folder / "log"
    os.environ["HYPOTHESIS_PROFILE"] = "quick"
    groups = {}
    for patterns, tests in GROUPS.items():
        paths = [path for pattern in patterns.split() for path in sorted(PACKAGE.glob(pattern))]
        names = [path.relative_to(PACKAGE).as_posix() for path in paths]
        groups[tests] = [name for name in names if any(part in name for part in args.only)]
    args.each = -(-args.n // sum(map(len, groups.values())))
    for tests, modules in groups.items():
        known = {key: result for key, result in read(args.log).items() if result["killed"] or not args.again}
        paths = [PACKAGE.parent / "tests" / test for test in tests.split()] + [PACKAGE / name for name in modules]
        words = ["-qs", "-n0", "-p", "no:cacheprovider", *map(str, paths)]
        if modules:
            trial = Trial(modules, args, known, folder / "notes")
            in_a_fork(partial(pytest.main, words, plugins=[trial]))
    known = read(args.log)
    for name in [name for names in groups.values() for name in names]:
        results = [result for result in known.values() if result["module"] == name]
        counts = Counter(bool(result["killed"]) for result in results)
        print(f"{name:32} {len(results):4} mutants {counts[True]:4} killed {counts[False]:4} survived")
        for result in results if args.survivors else []:
            if not result["killed"]:
                print(f"    {result['what']}")
    shutil.rmtree(folder)


def read(log: Path) -> dict[Any, Any]:
    """What a log says of each mutant, the last time that it was tried."""
    lines = log.read_text().splitlines() if log.exists() else []
    return {(result["module"], *result["key"]): result for result in map(json.loads, lines)}


if __name__ == "__main__":
    main()
