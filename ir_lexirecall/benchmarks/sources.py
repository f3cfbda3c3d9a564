"""What users give a benchmark: one collection or many, and the runs of each."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias, TypeGuard

from ir_lexirecall._util.errors import (
    check_choice,
    did_you_mean,
    is_number,
    naming,
    repeated,
)
from ir_lexirecall._util.paths import PathLike, is_path
from ir_lexirecall._util.selecting import with_keys, without_keys
from ir_lexirecall.comparison.comparing import parse_criteria
from ir_lexirecall.data.alignment import RunLike
from ir_lexirecall.data.collection import DEMO, Collection
from ir_lexirecall.data.judgments import Judgments, QrelsLike, load
from ir_lexirecall.data.tie_rule import order_of_version
from ir_lexirecall.io.files import File, Location, named_files
from ir_lexirecall.io.frames import readable_again
from ir_lexirecall.io.relevant_documents import lists_ids
from ir_lexirecall.io.run_folders import all_runs, run_files
from ir_lexirecall.io.values import warn_of_files
from ir_lexirecall.significance import SignificanceTest
from ir_lexirecall.significance.draws import OVER

CollectionsLike: TypeAlias = (
    "QrelsLike | Sequence[str | Collection] | Mapping[str, QrelsLike]"
)
"""One collection (an id, a ``Collection``, qrels in any form), or many.

Many are a list of ids, or a mapping of names to any of these.
"""
_LARGEST_FILE = 2**21  # bytes of a TOML file
_MOST_DOTS = 100
_PARTS_OF_LINE = re.compile(r"[=,{\[]")

# Type checkers read an alias of one string only.
RunsLike: TypeAlias = "Mapping[str, RunLike] | Mapping[str, Mapping[str, RunLike]] | str | os.PathLike[str] | Callable[[str], Mapping[str, RunLike]]"  # noqa: E501
"""Runs by name.

For many collections a mapping of collections to those, a folder, or a function of a collection's
name.
"""


def named_collections(
    collections: CollectionsLike, runs: RunsLike
) -> tuple[dict[str, QrelsLike], RunsLike]:
    """Return collections by their names, and their runs by collection.

    A mapping is one of names to collections unless it is the qrels of one: a dict of dicts of
    grades, or of relevant documents.

    >>> list(named_collections(["beir/scifact/test", "beir/arguana"], "runs")[0])
    ['beir/scifact/test', 'beir/arguana']
    >>> named_collections({"q1": {"d1": 1}}, {"bm25": "bm25.run"})[1]
    {'collection': {'bm25': 'bm25.run'}}

    Raises:
        ValueError: there are no collections, or two have the same name.
    """
    if isinstance(collections, (Mapping, list, tuple)) and not collections:
        raise ValueError("there are no collections; give at least one")
    several = _several_collections(collections)
    twice = repeated([name for name, _ in several])
    if twice:
        raise ValueError(f"two collections have the same name, {twice}")
    if several:
        return dict(several), runs

    name = _name_of_collection(collections)
    is_below_name = isinstance(runs, Mapping) and len(runs) == 1 and name in runs
    runs_of_one: Any = runs
    if isinstance(runs, Mapping) and not is_below_name:
        runs_of_one = {name: runs}
    single: Any = collections
    return {name: single}, runs_of_one


def _several_collections(collections: CollectionsLike) -> list[tuple[str, Any]]:
    """Return names and collections; nothing if the argument is a single collection."""
    if isinstance(collections, Mapping):
        if any(map(_is_collection, collections.values())):
            return [(str(name), qrels) for name, qrels in collections.items()]
        return []
    if not isinstance(collections, (list, tuple)):
        return []
    if not all(isinstance(item, (str, Collection)) for item in collections):
        return []
    named = []
    for item in collections:
        if isinstance(item, str):
            named.append((item, item))
        else:
            named.append((item.dataset_id, item))
    return named


def _name_of_collection(qrels: Any) -> str:
    """Return the name of a single collection: its id, its file's name, or `collection`."""
    if is_path(qrels):
        if named_files(qrels):
            return str(os.path.basename(qrels))
        return str(qrels)
    for attribute in ("dataset_id", "source"):
        name = getattr(qrels, attribute, "")
        if name:
            return str(name)
    return "collection"


def _is_collection(value: Any) -> bool:
    """Return whether a value of a mapping is a collection, not the documents of a query."""
    if isinstance(value, Mapping):
        return any(
            isinstance(docs, Mapping) or lists_ids(docs) for docs in value.values()
        )
    if not lists_ids(value):
        return True
    return not all(isinstance(item, (str, int)) for item in value)


def runs_by_collection(
    runs: RunsLike, collections: Sequence[str]
) -> Iterator[tuple[str, Mapping[str, RunLike]]]:
    """Yield the runs of each named collection in turn.

    A function is called for one collection after the other.
    """
    if is_path(runs):
        runs = runs_in_folder(runs, collections)
    if callable(runs):
        for name in collections:
            made = runs(name)
            if not isinstance(made, Mapping):
                raise ValueError(
                    f"the function of runs gave {made!r} for collection {name!r}, "
                    "not a mapping of names to runs"
                )
            yield name, made
        return
    if not isinstance(runs, Mapping):
        raise ValueError(
            "give the runs of many collections as a mapping of collections to mappings of names "
            "to runs, a folder, or a function of a collection's name"
        )
    for name, of_collection in _by_name("runs", runs, collections).items():
        if not isinstance(of_collection, Mapping) or any(
            map(is_number, of_collection.values())
        ):
            raise ValueError(
                f"collection {name!r}: give its runs as a mapping of names to runs"
            )
        yield name, of_collection


def runs_in_folder(
    folder: PathLike, collections: Sequence[str]
) -> dict[str, dict[str, str]]:
    """Return the run files of each collection below a folder.

    The folder is laid out as SuiteEval or TIREx write it: ``{collection}/{run}.res.gz`` or
    ``{collection}/{run}/run.txt.gz`` (any ending of runs, compressed or not). The folder of a
    collection has its name, or its name with dashes for slashes, in lower case.

    Raises:
        ValueError: the folder, or that of a collection, is missing or has no runs; or two files
            have one name.
    """
    path = Path(folder)
    if not path.exists():
        raise ValueError(f"{path}: there is no such folder")
    if not path.is_dir():
        raise ValueError(f"{path} is a file, not a folder")
    runs = {}
    for name in collections:
        below = _folder_of_collection(path, name)
        runs[name] = run_files(below) if _qrels_in(below) else all_runs(below)
        if not runs[name]:
            raise ValueError(
                f"{below} has no runs, such as bm25.res.gz or bm25/run.txt.gz"
            )
    files = [item.name for item in sorted(path.iterdir()) if item.is_file()]
    warn_of_files(path, [name for name in files if not name.startswith(".")])
    return runs


def _folder_of_collection(path: Path, name: str) -> Path:
    """Return the folder of a collection's runs.

    Raises:
        ValueError: there is none.
    """
    with_dashes = name.replace("/", "-")
    candidates = [path / name, path / with_dashes, path / with_dashes.lower()]
    folders = [candidate for candidate in candidates if candidate.is_dir()]
    if folders:
        return folders[0]
    names = sorted(item.name for item in path.iterdir() if item.is_dir())
    hint = ""
    if names:
        hint = f"; there are {', '.join(names)}"
    if not any(path.iterdir()):
        hint = "; it is empty"
    raise ValueError(f"{path} has no folder for collection {name!r}{hint}")


def groups_by_collection(groups: Any, collections: Sequence[str]) -> dict[str, Any]:
    """Return the groups of the queries of each collection.

    They are the same for all collections, unless ``groups`` is a mapping of collections.

    >>> groups_by_collection({"q1": "who", "q2": "how"}, ["c"])
    {'c': {'q1': 'who', 'q2': 'how'}}
    >>> groups_by_collection({"c": "types.tsv", "d": {"q1": "who", "q2": "how"}}, ["c", "d"])
    {'c': 'types.tsv', 'd': {'q1': 'who', 'q2': 'how'}}
    """
    if isinstance(groups, Mapping) and any(str(name) in collections for name in groups):
        return _by_name("groups", groups, collections)
    return dict.fromkeys(collections, readable_again(groups))


def predicted_by_collection(
    predicted: Any, collections: Sequence[str]
) -> dict[str, Any]:
    """Predicted judgments of the collections that have them; of a single one also by themselves."""
    if predicted is None:
        return {}
    if isinstance(predicted, Mapping):
        are_known = [str(name) in collections for name in predicted]
    else:
        are_known = []
    if len(collections) == 1 and not (are_known and all(are_known)):
        return {collections[0]: predicted}
    if not any(are_known):
        raise ValueError(
            f"predicted must be a mapping of collections, such as {collections[0]!r}, to judgments"
        )
    return _by_name("predicted judgments", predicted, collections, complete=False)


def _by_name(
    what: str,
    given: Mapping[Any, Any],
    collections: Sequence[str],
    complete: bool = True,
) -> dict[str, Any]:
    """Return the part of a mapping for each collection, in the order of the collections.

    Raises:
        ValueError: an unknown collection, or one that a ``complete`` mapping lacks.
    """
    part_of = {str(name): part for name, part in given.items()}
    for name in part_of:
        if name not in collections:
            hint = did_you_mean(name, collections)
            raise ValueError(
                f"{what} of an unknown collection, {name!r}{hint}; give {what} by collection: "
                f"{{{collections[0]!r}: ...}}"
            )
    if complete:
        _check_none_is_empty(what, part_of, collections)
    return with_keys(part_of, collections)


def _check_none_is_empty(
    what: str, part_of: Mapping[str, Any], collections: Sequence[str]
) -> None:
    """Raise if a collection has no part of a mapping, or an empty one."""
    parts = {name: part_of.get(name, {}) for name in collections}
    missing = []
    for name, part in parts.items():
        if isinstance(part, Mapping) and not part:
            missing.append(name)
    if not missing:
        return
    others = ""
    if missing[1:]:
        others = f", nor for {', '.join(map(repr, missing[1:]))}"
    raise ValueError(f"there are no {what} for collection {missing[0]!r}{others}")


# -- folders and TOML files ------------------------------------------------------------------------

_KEYS: dict[str, tuple[str, tuple[type, ...]]] = {
    "collections": ("a table", (dict,)),
    "runs": ("a text or a table", (str, dict)),
    **dict.fromkeys(("by", "smaller_is_better"), ("a text or a list", (str, list))),
    **dict.fromkeys(
        ("baseline", "over", "missing", "groups", "test", "correction", "family"),
        ("a text", (str,)),
    ),
    **dict.fromkeys(("cluster", "rules", "allow_empty"), ("true or false", (bool,))),
    "margin": ("a text or a number", (str, float, int)),
    "alpha": ("a number", (float, int)),
    **dict.fromkeys(("n_resamples", "seed", "trec_eval"), ("an integer", (int,))),
}
_OF_TEST = {"test": "name"} | {
    name: name
    for name in ("correction", "alpha", "n_resamples", "seed", "cluster", "family")
}

_OF_READING = ("rules", "trec_eval")  # keys of a TOML file that say how qrels are read


@dataclass(frozen=True)
class Source:
    """Collections and their runs, as a folder or a TOML file names them.

    Attributes:
        collections: ids or files of qrels by name.
        runs: files by name, of each collection.
        options: what else a TOML file says.
    """

    collections: dict[str, str]
    runs: dict[str, dict[str, str]]
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def qrels(self) -> dict[str, QrelsLike]:
        """The collections, read with the file's `rules` and `trec_eval`."""
        reading = with_keys(self.options, _OF_READING)
        if not reading:
            return dict(self.collections)
        return {
            name: load(source, **reading) for name, source in self.collections.items()
        }

    @property
    def arguments(self) -> dict[str, Any]:
        """The options that ``benchmark`` takes, without ``over``, which its tables take."""
        others = without_keys(self.options, (*_OF_TEST, *_OF_READING, "over"))
        test = _test_in(self.options)
        return others if test is None else others | {"test": test}

    def options_with(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options of a call of ``benchmark``; the file's replace those that are None."""
        resolved = dict(options)
        for name, value in self.arguments.items():
            if options[name] is None:
                resolved[name] = value
        if options["test"] is not None:
            resolved["test"] = self._test_with(options["test"])
        return resolved

    def _test_with(self, test: str | SignificanceTest) -> SignificanceTest:
        """Return the test of the file under another name, or another test with the file's units.

        Args:
            test: a name, which keeps the level, correction, resamples and seed of the file; or a
                whole test, which replaces them.
        """
        of_file = self.arguments.get("test", SignificanceTest())
        if isinstance(test, SignificanceTest):
            return replace(test, cluster=test.cluster or of_file.cluster)
        return replace(of_file, name=test)


def _test_in(options: Mapping[str, Any]) -> SignificanceTest | None:
    """Return the test that a TOML file describes; None if it says nothing of tests."""
    tested = {}
    for key, name in _OF_TEST.items():
        if key in options:
            tested[name] = options[key]
    if tested.get("correction") == "none":
        tested["correction"] = None
    return SignificanceTest(**tested) if tested else None


def is_source(collections: Any) -> TypeGuard[PathLike]:
    """Return whether collections are given as a folder or a TOML file.

    There is such a folder or file, or it is written as only a path is.
    """
    if not is_path(collections):
        return False
    path = os.fspath(collections)
    if os.path.isdir(path) or path.lower().endswith(".toml"):
        return True
    if os.path.exists(path):
        return False
    if isinstance(collections, os.PathLike):
        return True
    return path.startswith((".", "/")) or path.endswith("/")


def read_source(path: PathLike) -> Source:
    """Return the collections and runs that a folder or a TOML file names.

    A folder has a folder for each collection, or is that of one: its runs (also in a folder
    ``runs`` there), and its qrels in a file ``qrels.*``; without, its name is a data set's id, with
    dashes for slashes.

    Raises:
        ValueError: no such folder or file, no collection or runs in it, or what TOML or its keys do
            not allow.
    """
    source = Path(path)
    if source.is_dir():
        return _from_folder(source)
    is_toml = source.suffix.lower() == ".toml"
    if not source.exists():
        raise ValueError(
            f"{path}: there is no such {'file' if is_toml else 'folder or file'}"
        )
    if not is_toml:
        raise ValueError(f"{path}: expected a folder or a .toml file")
    return _from_toml(source)


def _check_dots(text: str, location: Location) -> None:
    """Raise if a key has so many parts that Python's reader of TOML would take minutes."""
    for number, line in enumerate(text.split("\n"), start=1):
        if line.lstrip().startswith("#"):
            continue
        if any(part.count(".") > _MOST_DOTS for part in _PARTS_OF_LINE.split(line)):
            raise ValueError(
                f"{location(number)}: a name with more than {_MOST_DOTS} dots; a line of this "
                'file is, for example, "bm25" = "runs/bm25.run"'
            )


def _from_toml(path: Path) -> Source:
    """Return the collections and runs that a TOML file names, their paths seen from its folder.

    Raises:
        ValueError: it is not TOML, or a key is unknown, missing or of another type.
    """
    file = File.opened(path)
    text = file.text(_LARGEST_FILE)
    _check_dots(text, file.line_name)
    try:
        options: dict[str, Any] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path}: {error}") from None
    except RecursionError:
        raise ValueError(f"{path}: nested too deeply") from None
    _check_keys(path, options)
    with naming(str(path)):
        _check_choices(options)
    if "groups" in options:
        options["groups"] = str(path.parent / options["groups"])
    collections, runs = options.pop("collections"), options.pop("runs")
    collections = {
        name: _beside(path, source, f"collections.{name}")
        for name, source in collections.items()
    }
    if isinstance(runs, str):
        return Source(
            collections, runs_in_folder(path.parent / runs, list(collections)), options
        )
    for name, of_collection in runs.items():
        if not isinstance(of_collection, dict):
            raise ValueError(
                f"{path}: runs.{name} must be a table of names to files, not {of_collection!r}"
            )
        runs[name] = {
            run: _beside(path, file, f"runs.{name}.{run}")
            for run, file in of_collection.items()
        }
    with naming(str(path)):
        runs = _by_name("runs", runs, list(collections))
    return Source(collections, runs, options)


def _check_keys(path: Path, options: Mapping[str, Any]) -> None:
    """Raise if a key of a TOML file is unknown, of another type, or missing."""
    for key, value in options.items():
        if key not in _KEYS:
            hint = did_you_mean(key, _KEYS)
            raise ValueError(
                f"{path}: unknown key {key!r}; choose from {', '.join(_KEYS)}{hint}"
            )
        kind, types = _KEYS[key]
        if type(value) not in types:
            raise ValueError(f"{path}: {key} must be {kind}, not {value!r}")
    missing = [key for key in ("collections", "runs") if not options.get(key)]
    if missing:
        raise ValueError(f"{path}: there is no {missing[0]}")


def _check_choices(options: Mapping[str, Any]) -> None:
    """Raise if a TOML file names an unknown test, criterion or choice."""
    _test_in(options)
    if "by" in options:
        parse_criteria(options["by"])
    for name, choices in {"over": OVER, "missing": ("error", "skip")}.items():
        if name in options:
            check_choice(name, options[name], choices)
    if "trec_eval" in options:
        order_of_version(options["trec_eval"])


def _from_folder(folder: Path) -> Source:
    """Return the collections and runs of a folder of folders, or of one collection.

    Raises:
        ValueError: there is no collection in it, or one without runs.
    """
    below = []
    for item in folder.iterdir():
        if item.is_dir() and not item.name.startswith("."):
            below.append(item)
    is_collection = bool(_qrels_in(folder) and _runs_in(folder))
    collections, runs = {}, {}
    for path in [folder] if is_collection else sorted(below):
        if path is folder:
            name = folder.resolve().name
        else:
            name = path.name
        qrels = _qrels_in(path)
        if qrels:
            collections[name] = _one_of(qrels)
        else:
            collections[name] = _data_set_of(path, name)
        runs[name] = _runs_in(path, warned=True)
        if not runs[name]:
            raise ValueError(
                f"{path}: there are no runs in it, such as bm25.res.gz, bm25/run.txt.gz or "
                "runs/bm25.run"
            )
    if not collections:
        raise ValueError(
            f"{folder}: there is no folder of a collection in it; each holds the runs of one, and "
            "its qrels in a file qrels.* (without, its name is a data set's id), such as "
            "robust04/bm25.run and robust04/qrels.txt"
        )
    return Source(collections, runs)


def _data_set_of(path: Path, name: str) -> str:
    """Return the id of the data set whose folder this is: its name, with slashes for dashes.

    Raises:
        ValueError: there is no such data set.
    """
    import ir_datasets

    ids = {
        dataset_id.replace("/", "-").lower(): dataset_id
        for dataset_id in [*ir_datasets.registry, DEMO]
    }
    if name.lower() not in ids:
        hint = did_you_mean(name.lower(), ids)
        raise ValueError(
            f"{path}: no data set has this id, and there is no file qrels.* in it{hint}"
        )
    return ids[name.lower()]


def _qrels_in(folder: Path) -> list[Path]:
    """Return the qrels in a collection's folder.

    Their names begin with ``qrels``, or have it as a part between dots.
    """
    files = []
    for file in sorted(folder.iterdir()):
        if (
            file.is_file()
            and not file.name.startswith(".")
            and _names_qrels(file.name.lower())
        ):
            files.append(file)
    return files


def _names_qrels(name: str) -> bool:
    return name.startswith("qrels") or "qrels" in name.split(".")


def _runs_in(folder: Path, *, warned: bool = False) -> dict[str, str]:
    """Return the runs in a collection's folder: beside the qrels, and in a folder ``runs`` there.

    Args:
        folder: the collection's folder.
        warned: whether the folder is known to be that of a collection: files in ``runs`` that do
            not look like runs are warned about.

    Raises:
        ValueError: two runs have the same name, or there are qrels in ``runs``, too.
    """
    qrels = {str(file) for file in _qrels_in(folder)}
    runs = {name: path for name, path in run_files(folder).items() if path not in qrels}
    below = folder / "runs"
    if not below.is_dir():
        return runs
    if inner := _qrels_in(below):
        if qrels and (runs or warned):
            raise ValueError(
                f"{inner[0]}: qrels among runs, where others are beside the folder runs; take "
                "them out"
            )
        return runs  # a collection of its own
    runs.pop(below.name, None)  # a folder of Parquet runs is not a run
    if warned:
        more = all_runs(below)
    else:
        more = run_files(below)
    twice = repeated([*runs, *more])
    if twice is not None:
        raise ValueError(
            f"{folder}: the run {twice} is both in it and in runs; keep one"
        )
    return runs | more


def _one_of(files: list[Path]) -> str:
    """Return the file of qrels.

    Of several that judge the same documents alike, it is the one with most columns.
    """
    if len(files) == 1:
        return str(files[0])
    judged = [Judgments.from_qrels(str(file)) for file in files]
    contents = [(one.query_ids, one.doc_ids, one.grade.tolist()) for one in judged]
    for file, one in zip(files, contents, strict=True):
        if one != contents[0]:
            raise ValueError(
                f"{file.parent}: there are two files of qrels, {files[0].name} and {file.name}; "
                "keep one"
            )
    columns = [len(one.aspect_rows.columns) for one in judged]
    return str(files[columns.index(max(columns))])


def _beside(path: Path, source: Any, key: str) -> str:
    """Return the path of a file that a TOML file names, or the id if there is no such file."""
    if not isinstance(source, str):
        raise ValueError(f"{path}: {key} must be a text, not {source!r}")
    file = path.parent / source
    if named_files(str(file)) or key.startswith("runs."):
        return str(file)
    return source
