"""What the scripts of this folder share: counting which of a paper's printed numbers are also ours, and pictures."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_OFTEN = 10  # claims from which on a reason is given once, below them


@dataclass(frozen=True)
class Claim:
    """What a paper says in words.

    Attributes:
        holds: None where the data at hand cannot tell.
        why: they cannot.
    """

    text: str
    holds: bool | None
    why: str = ""

    @property
    def verdict(self) -> str:
        """Verdict in words."""
        return {True: "holds", False: "FAILS", None: "cannot tell"}[self.holds]

    def line(self, reasons: set[str]) -> str:
        """Return the claim as a line, with its reason if that is one of some."""
        return f"  {self.verdict}  {self.text}" + (
            f" ({self.why})" if self.why in reasons else ""
        )


@dataclass
class Printed:
    """Compares printed numbers with computed ones, and counts.

    Attributes:
        total, agree: numbers compared, and those that are the same.
        differ: the others, in words.
        claims: what a paper says of its results in words, and whether it holds here.
        own: what a paper says of its own printed tables, which needs no data.
        notes: what the count of agreeing numbers rests on.
        slips: misprints and slips of the text that change no number.
    """

    total: int = 0
    agree: int = 0
    differ: list[str] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    own: list[Claim] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    slips: list[str] = field(default_factory=list)

    def compare(
        self,
        what: str,
        paper: Any,
        ours: Any,
        *,
        digits: int = 4,
        within: float = 0,
        why: str = "",
    ) -> bool:
        """Count a printed number: ours must be the same to the printed digit, or ``within`` so much of it."""
        numbers = isinstance(paper, (int, float))
        left, right = (
            f"{value:.{digits}f}" if numbers else str(value) for value in (paper, ours)
        )
        same = (
            left.removeprefix("-") == right.removeprefix("-")
            if numbers and paper == 0
            else left == right
        )
        if numbers and within:
            same = abs(paper - ours) <= within
        self.total += 1
        self.agree += same
        if not same:
            self.differ.append(
                f"{what}: printed {left}, ours {right}" + (f" ({why})" if why else "")
            )
        return same

    def claim(self, text: str, holds: bool) -> None:
        """Note whether something that the paper says in words, at the place that the text begins with, holds here."""
        self.claims.append(Claim(text, bool(holds)))

    def cannot_tell(self, text: str, why: str) -> None:
        """Note what the paper says in words and the data at hand cannot decide."""
        self.claims.append(Claim(text, None, why))

    def of_itself(self, text: str, holds: bool) -> None:
        """Note whether what the paper says of its own tables is what they print."""
        self.own.append(Claim(text, bool(holds)))

    def note(self, text: str) -> None:
        """Say something that belongs to the count of agreeing numbers."""
        self.notes.append(text)

    def slip(self, text: str) -> None:
        """Note a misprint or slip of the text."""
        self.slips.append(text)

    def report(self) -> None:
        """Print the claims and the numbers that differ; last, the counts with what they rest on."""
        reasons = Counter(claim.why for claim in self.claims if claim.holds is None)
        rare = {
            why
            for why, number in reasons.items()
            if len(reasons) > 1 and number < _OFTEN
        }
        _list(
            "What the paper says in words", [claim.line(rare) for claim in self.claims]
        )
        _list(
            "What the paper says of its own tables",
            [claim.line(rare) for claim in self.own],
        )
        _list(
            "Printed numbers that are not ours", [f"  {line}" for line in self.differ]
        )
        slips = [f"  {line}" for line in self.slips]
        _list("Misprints and slips of the text that change no number", slips)
        self._count(reasons)

    def _count(self, reasons: Counter[str]) -> None:
        """Print how many numbers, statements and claims agree, and why some cannot be decided."""
        print(f"\n{self.agree} of {self.total} printed numbers agree.")
        for text in self.notes:
            print(f"  {text}")
        if self.own:
            agree = sum(bool(claim.holds) for claim in self.own)
            print(
                f"{agree} of {len(self.own)} statements agree with the paper's own tables."
            )
        counted = Counter(claim.verdict for claim in self.claims)
        print(
            f"{counted['holds']} of {len(self.claims)} claims hold, {counted['FAILS']} fail, "
            f"{counted['cannot tell']} cannot be decided with these data."
        )
        for why, number in reasons.items():
            print(f"  {number}: {why}")


def _list(title: str, lines: list[str]) -> None:
    """Print a title and lines, if there are any."""
    if lines:
        print(f"\n{title}", *lines, sep="\n")


def drawn(folder: Path | None) -> bool:
    """Whether pictures are wanted: into a folder, or by a program that shows those of pyplot."""
    return folder is not None or "matplotlib.pyplot" in sys.modules


def new_figure(width: float, height: float) -> Any:
    """An empty figure of a size in inches, pyplot's own where somebody shows its figures."""
    if "matplotlib.pyplot" in sys.modules:
        return sys.modules["matplotlib.pyplot"].figure(
            figsize=(width, height), layout="constrained"
        )
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def save(axes: Any, folder: Path | None, name: str, ending: str = "svg") -> None:
    """Write a picture into a folder, if there is one."""
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        axes.figure.savefig(folder / f"{name}.{ending}")
        print(f"  drawn: {folder / f'{name}.{ending}'}")
