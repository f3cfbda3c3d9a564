"""``python -m tests.faults.command_line_run 100``: interrupt, kill and starve the command line, outside the tests.

Commands that write tables, pictures and reports get SIGINT, SIGTERM or SIGKILL at random moments, a closed pipe, a full
device, a full file system (where one may be mounted), or little memory. Afterwards the file that they were writing must be
the old one or a whole new one, and what they say must be one line and no traceback.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROGRAM = [sys.executable, "-c", "from shell_lexirecall import run; run()"]
RUNS = [str(path) for path in sorted((ROOT / "ir_lexirecall" / "data" / "demo" / "runs").iterdir())]
ENDS = {".html": "</html>", ".svg": "</svg>", ".tsv": "\n"}
COMMANDS = [
    ("report", "lexirecall/demo", *RUNS[:2], "-m", "LR", "AP", "-o", "old.html"),
    ("compare", "lexirecall/demo", *RUNS, "--plot", "old.svg"),
    ("eval", "lexirecall/demo", *RUNS, "--by-query", "-m", "LR", "AP", "-o", "old.tsv"),
    ("meta", "ties", "lexirecall/demo", *RUNS, "-m", "LR", "AP", "--plot", "old.svg"),
]
FAULTS = ["SIGINT", "SIGINT", "SIGTERM", "SIGKILL", "pipe", "device", "memory"]
CODES = {0, 1, 130, -signal.SIGTERM, -signal.SIGKILL, -signal.SIGABRT}  # Rust aborts where there is no memory


def main() -> None:
    """Run so many faults and count what came of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rounds", type=int, nargs="?", default=100)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    faults = [*FAULTS, "disk"] if may_mount() else FAULTS
    counts: Counter[str] = Counter()
    for number in range(options.rounds):
        fault = rng.choice(faults)
        command = COMMANDS[number % len(COMMANDS)]
        with tempfile.TemporaryDirectory() as folder, full_disk(folder) if fault == "disk" else nullcontext():
            code = run(command, fault, rng, Path(folder))
        counts[f"{fault} {code}"] += 1
    for outcome, count in sorted(counts.items()):
        print(f"{count:5}  {outcome}")


@contextmanager
def full_disk(folder: str) -> Iterator[None]:
    """A file system in a folder, of 4 KB: one old file fills it."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", folder], check=True, capture_output=True)
    try:
        yield
    finally:
        subprocess.run(["umount", folder], check=True)


def prepare(limit: int) -> None:
    """Limit the addresses of the process, and heed SIGINT, which what runs in the background ignores."""
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def may_mount() -> bool:
    """Whether this system lets us mount file systems."""
    try:
        with tempfile.TemporaryDirectory() as folder, full_disk(folder):
            return True
    except (OSError, subprocess.CalledProcessError):
        return False


def run(command: tuple[str, ...], fault: str, rng: random.Random, folder: Path) -> int:
    """Run a command with a fault, check what is left, and return the exit code."""
    path = folder / command[-1]
    path.write_text("old")
    limit = rng.randrange(300, 3000) * 2**20
    output = {"device": "/dev/full"}.get(fault, os.devnull)
    with open(output, "w") as stdout:
        running = subprocess.Popen(
            [*PROGRAM, *command],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "integrations")])},
            stdout=subprocess.PIPE if fault == "pipe" else stdout,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=partial(prepare, limit if fault == "memory" else resource.RLIM_INFINITY),
        )
        if running.stdout:
            running.stdout.close()
        if fault.startswith("SIG"):
            try:
                running.wait(rng.uniform(0.05, 2.5))  # the interpreter's own start cannot be interrupted neatly
            except subprocess.TimeoutExpired:
                running.send_signal(getattr(signal, fault))
        _, said = running.communicate(timeout=120)
    code = running.returncode
    left = path.read_text()
    whole = left == "old" or (
        len(left) > 100 and left.rstrip(" ").endswith((ENDS[path.suffix], ENDS[path.suffix] + "\n"))
    )
    assert whole, (command, fault, code, len(left), left[-100:])
    # Python itself was starting, or importing what the package needs before the program's first line (NumPy says ImportError).
    starting = "KeyboardInterrupt" in said or "_get_module_details" in said or (code == -signal.SIGINT and not said)
    if fault == "SIGINT" and starting and "__main__.py" not in said:
        return code
    assert code in CODES, (command, fault, code, said)
    others = [name for name in os.listdir(folder) if name != path.name]
    assert (left == "old" and code) or fault != "disk", (command, fault, code, said)
    assert not others or code < 0 or fault == "SIGINT", (command, fault, code, others)
    if fault != "memory":
        assert "Traceback" not in said, (command, fault, code, said)
        assert len(said.splitlines()) <= 1, (command, fault, code, said)
    return code


if __name__ == "__main__":
    main()
