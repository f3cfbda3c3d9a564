"""How the runs of a comparison stand by one criterion: what sentences, tables, pictures and reports read."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall.comparison import Comparison
from ir_lexirecall.comparison.verdicts import BETTER, UNDECIDED, WORSE, turned_verdict

MAY_BE_BEST = "="  # marks runs that may be the best as well as the leader
SIGNS = {BETTER: "+", WORSE: "-"}
NO_DIFFERENCE = "not significantly different"

_TURNED = {
    "run_a": "run_b",
    "run_b": "run_a",
    "wins": "losses",
    "losses": "wins",
    "mean_a": "mean_b",
    "mean_b": "mean_a",
}
_TURNED |= {"ci_low": "ci_high", "ci_high": "ci_low"}
_SIGNED = ["net_wins", "difference", "estimate", "ci_low", "ci_high", "effect_size"]


def verdict_words(verdict: str | None) -> str:
    """A verdict in words; those of two runs that were not compared, too.

    >>> verdict_words("worse"), verdict_words("undecided"), verdict_words(None)
    ('worse', 'not significantly different', 'not compared')
    """
    return "not compared" if verdict is None else NO_DIFFERENCE if verdict == UNDECIDED else verdict


@dataclass(frozen=True)
class Standing:
    """How the runs of a comparison stand by one criterion."""

    result: Comparison
    name: str

    @cached_property
    def ranking(self) -> pd.DataFrame:
        """``run``, ``mean``, ``ci_low``, ``ci_high``, best first."""
        return self.result.ranking(self.name)

    @cached_property
    def runs(self) -> list[str]:
        return list(map(str, self.ranking["run"]))

    @cached_property
    def leaders(self) -> list[str]:
        """The runs that share the best mean."""
        means = self.ranking["mean"].to_numpy()
        same = np.isclose(means, means[0], rtol=1e-12, atol=0)
        return [run for run, alike in zip(self.runs, same, strict=True) if alike]

    @property
    def all_alike(self) -> bool:
        return len(self.leaders) == len(self.runs)

    @cached_property
    def may_be_best(self) -> list[str]:
        """The runs that may be the best at 1 - alpha, best first; the leaders among them."""
        best = self.result.best_set(self.name).set_index("run")["may_be_best"]
        return [run for run in self.runs if best[run] or run in self.leaders]

    @cached_property
    def verdicts(self) -> Any:
        return self.result.verdicts_by(self.name)

    def beside(self, reference: str) -> pd.DataFrame:
        """The rows of ``table`` that compare a run with all others, turned so that they speak of those; best first."""
        return self._beside(self.result.table(self.name), reference)

    def in_groups(self, reference: str) -> dict[str, pd.DataFrame]:
        """``beside`` in each group of queries."""
        table = self.result.group_table(self.name)
        return {str(group): self._beside(rows, reference) for group, rows in table.groupby("group", sort=False)}

    def _beside(self, table: pd.DataFrame, reference: str) -> pd.DataFrame:
        turned = table[table["run_a"] == reference].rename(columns=_TURNED)[table.columns]
        turned[_SIGNED] = -turned[_SIGNED]
        turned["verdict"] = [turned_verdict(verdict) for verdict in turned["verdict"]]
        both = pd.concat([turned, table[table["run_b"] == reference]]).set_index("run_a")
        return both.loc[[run for run in self.runs if run in both.index]].rename_axis("run").reset_index()

    def against(self, baseline: str) -> dict[str, list[str]]:
        """The other runs by the verdict on them beside the baseline, best first."""
        groups: dict[str, list[str]] = {}
        for run in self.runs:
            if run != baseline:
                groups.setdefault(self.verdicts.on(run, baseline) or UNDECIDED, []).append(run)
        return groups

    @property
    def beaten_by(self) -> list[str]:
        """Runs that are significantly better than the leader by what was tested: wins and means may disagree."""
        return [run for run in self.runs[1:] if self.verdicts.on(run, self.runs[0]) == BETTER]
