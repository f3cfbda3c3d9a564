"""Systems with several runs in `pt.lexirecall.Experiment`: a list of pipelines, frames or files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import pyterrier as pt

from ir_lexirecall._util.paths import is_path
from ir_lexirecall._util.selecting import among
from ir_lexirecall.io.repeated_values import CHOICES, RepeatLabels, Repeats, RepeatsLike


@dataclass(frozen=True)
class RepeatedSystems:
    """The runs of systems that have several.

    Attributes:
        repeats: what the runs of a system are.
        runs: all runs by label.
        labels: of each system the labels of its runs.
    """

    repeats: Repeats
    runs: Mapping[str, Any]
    labels: RepeatLabels

    @classmethod
    def of(
        cls,
        systems: Sequence[Any],
        names: Sequence[Any],
        repeats: RepeatsLike | None,
        deterministic: str | Iterable[str] | None,
    ) -> RepeatedSystems | None:
        """Return the runs of systems; None if each system has one.

        Args:
            systems: a run of each system, or a list of runs.
            names: names of the systems.
            repeats: what the runs of a system are.
            deterministic: systems that have one run.

        Raises:
            ValueError: a list of runs without `repeats`, too few runs, or an unclear name.
        """
        checked = Repeats.from_argument(repeats, deterministic)
        if checked is None:
            for name, system in zip(names, systems, strict=True):
                if isinstance(system, (list, tuple)):
                    raise ValueError(
                        f"system {str(name)!r} is a list of {len(system)} runs; say what they "
                        f"are: {CHOICES}"
                    )
            return None
        if len(set(map(str, names))) < len(names):
            raise ValueError(
                "repeats need systems of different names; name them by names="
            )
        runs = {}
        labels: dict[str, list[str]] = {str(name): [] for name in names}
        for name, system in zip(names, systems, strict=True):
            is_list = isinstance(system, (list, tuple))
            for number, run in enumerate(system if is_list else [system], start=1):
                if is_list:
                    label = f"{name}, repeat {number}"
                else:
                    label = str(name)
                runs[label] = _as_system(run)
                labels[str(name)].append(label)
        checked.check_labels(labels)
        with_runs = {name: of_system for name, of_system in labels.items() if of_system}
        return cls(checked, runs, with_runs)

    def averaged(self, result: Any, places: int | Mapping[str, int] | None) -> Any:
        """Return a result of `pt.Experiment` on all runs, averaged over the runs of each system.

        Args:
            result: averages or values per topic, a frame; or both, in a tuple.
            places: decimal places of all columns, or by the name of a column.
        """
        if isinstance(result, tuple):
            parts = [self.averaged(part, places) for part in result]
            if hasattr(result, "_fields"):
                return type(result)(*parts)
            return tuple(parts)
        keys = among(("name", "qid", "measure"), result)
        system_of_label: dict[str, str] = {}
        for system, labels in self.labels.items():
            system_of_label |= dict.fromkeys(labels, system)
        of_systems = result.assign(name=result["name"].map(system_of_label))
        averages = of_systems.groupby(keys, sort=False, as_index=False).mean()
        if "measure" not in keys:
            if places is None:
                return averages
            return averages.round(places)
        if isinstance(places, Mapping):
            digits = averages["measure"].map(places)
        else:
            digits = places
        return averages.assign(value=_rounded(averages["value"], digits))


def _as_system(run: Any) -> Any:
    """Return a run as `pt.Experiment` takes it: a file is read."""
    if is_path(run):
        return pt.io.read_results(os.fspath(run))
    return run


def _rounded(values: pd.Series, digits: int | pd.Series | None) -> list[float]:
    """Round values, each to its own number of digits; not where there is none."""
    if digits is None:
        return [float(value) for value in values]
    if isinstance(digits, int):
        digits_of_value = [digits] * len(values)
    else:
        digits_of_value = digits.tolist()
    rounded = []
    for value, n_digits in zip(values, digits_of_value, strict=True):
        if pd.isna(n_digits):
            rounded.append(float(value))
        else:
            rounded.append(round(float(value), int(n_digits)))
    return rounded
