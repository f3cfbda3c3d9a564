"""Count what ruff's rules of legibility find, file by file, and shrink the list of exceptions.

    .venv/bin/python .ci/legibility.py            the counts, and exceptions not needed any more
    .venv/bin/python .ci/legibility.py --write    take these out of pyproject.toml

The exceptions stand in pyproject.toml between two marks. A file that is not among them has to obey
all rules, so the list only gets shorter.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[1]
RULES = ["C901", "PLR0912", "PLR0915", "E501", "W505", "D"]
FOLDERS = ["ir_lexirecall", "integrations"]
_FIRST, _LAST = "# Exceptions, which get fewer:", "# End of the exceptions"


def violations() -> dict[str, Counter[str]]:
    """Return how often each file breaks each rule, whatever its exceptions."""
    settings = [
        'lint.pydocstyle.convention="google"',
        'lint.pydocstyle.property-decorators=["ir_lexirecall._util.lazy.cached_property"]',
        "lint.pycodestyle.max-doc-length=100",
        "lint.mccabe.max-complexity=10",
    ]
    command = [
        "ruff",
        "check",
        "--isolated",
        "--line-length=100",
        "--target-version=py311",
    ]
    command += [word for setting in settings for word in ("--config", setting)]
    # ruff's convention leaves D401 out unless it is named.
    command += [
        "--select",
        ",".join([*RULES, "D401"]),
        "--output-format=json",
        *FOLDERS,
    ]
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for violation in json.loads(done.stdout):
        path = Path(violation["filename"]).relative_to(ROOT).as_posix()
        counts[path][violation["code"]] += 1
    return counts


def listed(text: str) -> dict[str, set[str]]:
    """Return the exceptions of pyproject.toml: rules by file."""
    section = text.partition(_FIRST)[2].partition(_LAST)[0]
    lines = re.findall(r'^"([^"]+)" = \[(.*)\]$', section, re.MULTILINE)
    return {path: set(re.findall(r'"(\w+)"', rules)) for path, rules in lines}


def written(text: str, exceptions: dict[str, set[str]]) -> str:
    """Return the text of pyproject.toml with other exceptions."""
    lines = [
        f'"{path}" = [{", ".join(f"{rule!r}" for rule in sorted(rules))}]'.replace(
            "'", '"'
        )
        for path, rules in sorted(exceptions.items())
        if rules
    ]
    head, _, rest = text.partition(_FIRST)
    return "\n".join([f"{head}{_FIRST}", *lines, f"{_LAST}{rest.partition(_LAST)[2]}"])


def main(arguments: list[str]) -> int:
    """Print the counts; return 1 if the list has exceptions that are not needed any more."""
    project = ROOT / "pyproject.toml"
    text, counts = project.read_text(encoding="utf-8"), violations()
    before = listed(text)
    needed = {path: rules & counts[path].keys() for path, rules in before.items()}
    n_of_rule = Counter(
        rule for of_file in counts.values() for rule in of_file.elements()
    )
    for rule, n in n_of_rule.most_common():
        print(
            f"{n:5} {rule}, in {sum(rule in of_file for of_file in counts.values())} files"
        )
    needless = {
        path: before[path] - needed[path]
        for path in before
        if before[path] - needed[path]
    }
    for path, rules in needless.items():
        print(f"not needed any more: {path} {' '.join(sorted(rules))}")
    if "--write" in arguments:
        project.write_text(written(text, needed), encoding="utf-8")
        return 0
    return int(bool(needless))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
