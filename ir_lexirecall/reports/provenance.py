"""How a result came about: inputs with their checksums, settings, versions."""

from __future__ import annotations

import hashlib
import os
import platform
from dataclasses import dataclass

from ir_lexirecall._util.provenance import versions
from ir_lexirecall.benchmarks import Benchmark
from ir_lexirecall.comparison import Comparison
from ir_lexirecall.present.words import fact_words

_RELIED_ON = (
    *("ir-lexirecall", "ir-measures", "ir-datasets", "numpy", "scipy", "pandas", "polars", "statsmodels"),
    *("pytrec-eval-terrier", "cwl-eval", "jinja2"),
)


@dataclass(frozen=True)
class InputFile:
    """An input: a file with its size in bytes and its SHA-256, or an id that has neither."""

    what: str
    source: str
    size: int | None = None
    sha256: str | None = None

    @classmethod
    def from_source(cls, what: str, source: str) -> InputFile:
        """Look at a source; what is no file is listed as it is."""
        if not os.path.isfile(source):
            return cls(what, source)
        digest = hashlib.sha256()
        with open(source, "rb") as file:
            while block := file.read(2**20):
                digest.update(block)
            return cls(what, source, file.tell(), digest.hexdigest())


def settings(result: Comparison | Benchmark) -> dict[str, str]:
    """What was asked, by name."""
    facts = dict(result.provenance)
    said = facts.pop("metadata", None) or {}
    facts |= {f"{name} says": metadata for name, metadata in said.items()}
    facts.pop("versions")
    return {name.replace("_", " "): "none" if fact is None else fact_words(fact) for name, fact in facts.items()}


def relied_on() -> dict[str, str]:
    """Versions of what the numbers come from, as far as installed."""
    found = {name.replace("_", "-"): number for name, number in versions(_RELIED_ON).items() if name != "python"}
    return {"Python": platform.python_version(), **found}
