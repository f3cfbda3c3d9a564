"""What the scripts of this folder share: counting which of a paper's printed numbers are also ours, and pictures."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass
class Printed:
    """Compares printed numbers with computed ones, and counts.

    Attributes:
        total, agree: numbers compared, and those that are the same.
        differ: the others, in words.
        claims: what a paper says of its results in words, and whether it holds here.
        notes: what the count of agreeing numbers rests on.
    """

    total: int = 0
    agree: int = 0
    differ: list[str] = field(default_factory=list)
    claims: list[tuple[str, bool]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def compare(self, what: str, paper: Any, ours: Any, *, digits: int = 4, within: float = 0, why: str = "") -> bool:
        """Count a printed number: ours must be the same to the printed digit, or ``within`` so much of it."""
        numbers = isinstance(paper, (int, float))
        left, right = (f"{value:.{digits}f}" if numbers else str(value) for value in (paper, ours))
        same = left.removeprefix("-") == right.removeprefix("-") if numbers and paper == 0 else left == right
        if numbers and within:
            same = abs(paper - ours) <= within
        self.total += 1
        self.agree += same
        if not same:
            self.differ.append(f"{what}: printed {left}, ours {right}" + (f" ({why})" if why else ""))
        return same

    def claim(self, text: str, holds: bool) -> None:
        """Note whether something that the paper says in words holds here."""
        self.claims.append((text, bool(holds)))

    def note(self, text: str) -> None:
        """Say something that belongs to the count of agreeing numbers."""
        self.notes.append(text)

    def report(self) -> None:
        """Print the claims, the numbers that differ, and the count with what it rests on."""
        if self.claims:
            print("\nWhat the paper says in words")
            for text, holds in self.claims:
                print(f"  {'holds' if holds else 'FAILS'}  {text}")
        if self.differ:
            print("\nPrinted numbers that are not ours")
            for line in self.differ:
                print(f"  {line}")
        held = sum(holds for _, holds in self.claims)
        if self.claims:
            print(f"\n{held} of {len(self.claims)} claims hold.")
        print(f"\n{self.agree} of {self.total} printed numbers agree.")
        for text in self.notes:
            print(f"  {text}")


def drawn(folder: Path | None) -> bool:
    """Whether pictures are wanted: into a folder, or by a program that shows those of pyplot."""
    return folder is not None or "matplotlib.pyplot" in sys.modules


def new_figure(width: float, height: float) -> Any:
    """An empty figure of a size in inches, pyplot's own where somebody shows its figures."""
    if "matplotlib.pyplot" in sys.modules:
        return sys.modules["matplotlib.pyplot"].figure(figsize=(width, height), layout="constrained")
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def save(axes: Any, folder: Path | None, name: str) -> None:
    """Write a picture into a folder, if there is one."""
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        axes.figure.savefig(folder / f"{name}.svg")
        print(f"  drawn: {folder / f'{name}.svg'}")
