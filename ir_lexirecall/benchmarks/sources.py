"""What users give a benchmark: one collection or many, and the runs of each."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from ir_lexirecall._util.errors import did_you_mean, is_number
from ir_lexirecall.data.alignment import RunLike
from ir_lexirecall.data.collection import Collection
from ir_lexirecall.data.judgments import QrelsLike
from ir_lexirecall.io.columns import is_file
from ir_lexirecall.io.readers import run_files

CollectionsLike: TypeAlias = "QrelsLike | Sequence[str | Collection] | Mapping[str, QrelsLike]"
"""One collection (an id, a ``Collection``, qrels in any form), or many: a list of ids, or a mapping of names to any of these."""

RunsLike: TypeAlias = "Mapping[str, RunLike] | Mapping[str, Mapping[str, RunLike]] | str | os.PathLike[str] | Callable[[str], Mapping[str, RunLike]]"
"""Runs by name; for many collections a mapping of collections to those, a folder, or a function of a collection's name."""


def named_collections(collections: CollectionsLike, runs: RunsLike) -> tuple[dict[str, QrelsLike], RunsLike]:
    """Collections by their names, and their runs by collection.

    A mapping is one of names to collections unless it is a dict of dicts of grades, which are the qrels of one.

    >>> list(named_collections(["beir/scifact/test", "beir/arguana"], "runs")[0])
    ['beir/scifact/test', 'beir/arguana']
    >>> named_collections({"q1": {"d1": 1}}, {"bm25": "bm25.run"})[1]
    {'collection': {'bm25': 'bm25.run'}}
    """
    if isinstance(collections, Mapping) and not all(map(_is_grades, collections.values())):
        return _distinct([(str(name), qrels) for name, qrels in collections.items()]), runs
    if isinstance(collections, (Mapping, list, tuple)) and not collections:
        raise ValueError("there are no collections")
    if isinstance(collections, (list, tuple)) and all(isinstance(item, (str, Collection)) for item in collections):
        return _distinct([(item if isinstance(item, str) else item.dataset_id, item) for item in collections]), runs
    name = _name_of(collections)
    of_one: Any = {name: runs} if _is_runs_by_name(runs, name) else runs
    qrels: Any = collections
    return {name: qrels}, of_one


def _name_of(collection: Any) -> str:
    """What a single collection is called: by its id, or its file's name."""
    if isinstance(collection, (str, os.PathLike)):
        return os.path.basename(collection) if is_file(collection) else str(collection)
    return str(getattr(collection, "dataset_id", "") or getattr(collection, "source", "") or "collection")


def _is_runs_by_name(runs: Any, collection: str) -> bool:
    """Whether the runs of a single collection are given by name, not below the collection's."""
    return isinstance(runs, Mapping) and (len(runs) != 1 or collection not in runs)


def _distinct(named: list[tuple[str, QrelsLike]]) -> dict[str, QrelsLike]:
    names = [name for name, _ in named]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ValueError(f"two collections have the same name, {twice}")
    return dict(named)


def _is_grades(value: Any) -> bool:
    """Whether a value of a mapping is one query's documents with their grades."""
    return isinstance(value, Mapping) and not any(isinstance(grade, Mapping) for grade in value.values())


def runs_by_collection(runs: RunsLike, collections: Sequence[str]) -> Iterator[tuple[str, Mapping[str, RunLike]]]:
    """The runs of each named collection in turn: a function is called for one collection after the other."""
    if isinstance(runs, (str, os.PathLike)):
        runs = runs_in_folder(runs, collections)
    if callable(runs):
        for name in collections:
            made = runs(name)
            if not isinstance(made, Mapping):
                raise ValueError(
                    f"the function of runs gave {made!r} for collection {name!r}, not a mapping of names to runs"
                )
            yield name, made
        return
    if not isinstance(runs, Mapping):
        raise ValueError(
            "give the runs of many collections as a mapping of collections to mappings of names to runs, a folder, or "
            "a function of a collection's name"
        )
    if unknown := [str(name) for name in runs if str(name) not in collections]:
        raise ValueError(f"runs of an unknown collection, {unknown[0]!r}{did_you_mean(unknown[0], collections)}")
    if missing := [name for name in collections if not runs.get(name)]:
        raise ValueError(f"there are no runs for collection {missing[0]!r}{_others(missing[1:])}")
    for name in collections:
        of_collection = runs[name]
        if not isinstance(of_collection, Mapping) or any(map(is_number, of_collection.values())):
            raise ValueError(f"collection {name!r}: give its runs as a mapping of names to runs")
        yield name, of_collection


def runs_in_folder(folder: str | os.PathLike[str], collections: Sequence[str]) -> dict[str, dict[str, str]]:
    """The run files of each collection below a folder, laid out as SuiteEval or TIREx write it.

    ``{collection}/{run}.res.gz`` or ``{collection}/{run}/run.txt.gz`` (any ending of runs, compressed or not). The folder of a
    collection has its name, or its name with dashes for slashes, in lower case.

    Raises:
        ValueError: the folder, or that of a collection, is missing or has no runs; or two files of one name.
    """
    path = Path(folder)
    if not path.is_dir():
        raise ValueError(f"{path} is a file, not a folder" if path.exists() else f"{path}: there is no such folder")
    runs = {}
    for name in collections:
        places = [path / name, path / name.replace("/", "-"), path / name.replace("/", "-").lower()]
        place = next((place for place in places if place.is_dir()), None)
        if place is None:
            known = sorted(item.name for item in path.iterdir() if item.is_dir())
            there = f"; there are {', '.join(known)}" if known else "; it is empty" if not any(path.iterdir()) else ""
            raise ValueError(f"{path} has no folder for collection {name!r}{there}")
        runs[name] = run_files(place)
        if not runs[name]:
            raise ValueError(f"{place} has no runs, such as bm25.res.gz or bm25/run.txt.gz")
    return runs


def groups_by_collection(groups: Any, collections: Sequence[str]) -> dict[str, Any]:
    """What says which group the queries of each collection are in: the same for all, unless it is a mapping of collections.

    >>> groups_by_collection({"q1": "who", "q2": "how"}, ["c"])
    {'c': {'q1': 'who', 'q2': 'how'}}
    >>> groups_by_collection({"c": "types.tsv", "d": {"q1": "who", "q2": "how"}}, ["c", "d"])
    {'c': 'types.tsv', 'd': {'q1': 'who', 'q2': 'how'}}
    """
    by_collection = isinstance(groups, Mapping) and any(str(name) in collections for name in groups)
    if not by_collection:
        return dict.fromkeys(collections, groups)
    named = {str(name): part for name, part in groups.items()}
    if unknown := [name for name in named if name not in collections]:
        raise ValueError(f"groups of an unknown collection, {unknown[0]!r}{did_you_mean(unknown[0], collections)}")
    if missing := [name for name in collections if name not in named]:
        raise ValueError(f"there are no groups for collection {missing[0]!r}{_others(missing[1:])}")
    return named


def _others(names: Sequence[str]) -> str:
    return f", nor for {', '.join(map(repr, names))}" if names else ""
