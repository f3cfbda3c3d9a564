"""Folders of runs, as people, SuiteEval and TIREx write them: which files are runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ir_lexirecall._util.errors import and_more, warn
from ir_lexirecall._util.paths import PathLike
from ir_lexirecall.io.cells import number_of_text
from ir_lexirecall.io.files import (
    File,
    is_about_files,
    is_of_tirex,
    named_files,
    without_compression,
)
from ir_lexirecall.io.lines import header_of
from ir_lexirecall.io.names import grades_may_be_scores, our_names
from ir_lexirecall.io.readers import format_of, without_ending
from ir_lexirecall.io.schemas import RANKED_RUN, RUN

_RUN_ENDINGS = (
    ".res",
    ".run",
    ".txt",
    ".parquet",
    ".jsonl",
    "_predictions.json",
    ".json",
)
"""Endings of files that are runs, whatever they hold: a fault in them is an error."""
_POSSIBLE_ENDINGS = (
    ".csv",
    ".tsv",
    ".trec",
    ".out",
    ".results",
    ".result",
    ".trec_eval",
    ".dat",
)
"""Endings of files that are runs if they look like one."""
_ENDINGS_OF_RUNS_ONLY = (".res", ".run")
"""Endings of runs alone: such a file is a run even if it is called `_x.run` or `readme.run`."""
_OTHER_FILES = (
    "qrels.txt",
    "requirements.txt",
    "qrels.parquet",
    "perquery.parquet",
    "package.json",
)
"""Files beside runs that are called as runs may be."""
_METADATA = re.compile(r"ir[-_]metadata\.ya?ml", re.I)
"""A file that stands beside runs and needs no word."""
_BACKUP = re.compile(
    r".*(~|\.(bak|backup|crdownload|old|orig|part|rej|sw[op]|tmp))|#.*#", re.I
)
"""Names of backups that editors and people make, and of unfinished downloads."""


@dataclass(frozen=True)
class RunFolder:
    """What a folder of runs holds.

    Attributes:
        runs: paths of runs by name.
        left_out: names of the files and folders that are not runs, but ir-metadata and hidden ones
            that do not look like a run.
    """

    runs: dict[str, str]
    left_out: list[str]


def run_files(folder: PathLike) -> dict[str, str]:
    """Return the runs in a folder by name.

    They are files such as ``bm25.res.gz``, and folders such as ``bm25/run.txt.gz`` (TIREx).

    A file with another ending (CSV, TSV, ``.trec``, ``.out``, none) is a run if it looks like one.
    A file whose name begins with a point is none; with ``_``, if it ends with ``.run`` or ``.res``.

    Raises:
        ValueError: two runs have the same name.
    """
    return read_folder(folder).runs


def read_folder(folder: PathLike) -> RunFolder:
    """Return the runs in a folder, and the names of its other files and folders.

    Raises:
        ValueError: two runs have the same name.
    """
    runs: dict[str, str] = {}
    left_out = []
    for item in sorted(Path(folder).iterdir()):
        if _is_skipped(item):
            continue
        is_hidden_folder = item.is_dir() and item.name.startswith((".", "_"))
        named_files: list[tuple[str, Path]] = []
        if not is_hidden_folder and not item.is_fifo():  # reading it would block
            named_files = list(_runs_of(item))
        if not named_files:
            left_out.append(item.name)
        for name, file in named_files:
            if name in runs:
                raise ValueError(
                    f"{folder}: two runs have the same name, {name}: {Path(runs[name]).name} and "
                    f"{file.name}"
                )
            runs[name] = str(file)
    return RunFolder(runs, left_out)


def all_runs(folder: PathLike) -> dict[str, str]:
    """Return the runs of a folder that holds nothing else, and warn about what is left out."""
    content = read_folder(folder)
    if content.left_out:
        first, *more = content.left_out
        warn(
            f"{folder}: {first} {_why_left_out(first)} and is left out{and_more(len(more))}"
            f"{': ' if more else ''}{', '.join(more[:5])}"
        )
    return content.runs


def _why_left_out(name: str) -> str:
    """Return why a file or folder is not a run."""
    if name.startswith((".", "_")):
        return "is hidden by its name"
    if _is_backup(name):
        return "is a backup by its name"
    return "does not look like a run"


def _is_skipped(item: Path) -> bool:
    """Return whether to skip an item silently: it is metadata, or hidden and no run by its name.

    Copies of macOS, such as ``._bm25.run``, are hidden, too.
    """
    plain = without_compression(item.name)
    if not item.name.startswith((".", "_")):
        return _METADATA.fullmatch(plain) is not None
    if item.name.startswith("._"):
        return True
    if item.is_dir():
        return not _files_of_run(item)
    return not _ending_of(plain, (*_RUN_ENDINGS, *_POSSIBLE_ENDINGS))


def _is_about_runs(plain: str) -> bool:
    """Return whether a file is about runs by its name, as `README.md` is, not `readme.run`."""
    if plain.lower() in _OTHER_FILES:
        return True
    if not is_about_files(plain):
        return False
    if plain.lower().endswith((".txt", ".json")):
        return True
    return not _ending_of(plain, (*_RUN_ENDINGS, *_POSSIBLE_ENDINGS))


def _runs_of(item: Path) -> Iterator[tuple[str, Path]]:
    """Yield the name and the path of each run that a file or folder holds."""
    if item.is_dir():
        for file in _files_of_run(item):
            yield item.name, file
        return
    name = _run_in_file(item)
    if name is not None:
        yield name, item


def _files_of_run(folder: Path) -> list[Path]:
    """Return the files of a run that TIREx wrote, or the folder itself if it is a run in parts."""
    of_tirex = [file for file in sorted(folder.iterdir()) if is_of_tirex(file.name)]
    if of_tirex:
        return of_tirex
    return [folder] if named_files(folder) else []  # as Spark writes it


def _run_in_file(item: Path) -> str | None:
    """Return the name of the run in a file; None if it does not hold a run."""
    plain = without_compression(item.name)
    if _is_about_runs(plain) or plain.startswith("."):
        return None
    if _is_backup(item.name):
        return None
    if plain.startswith("_") and not _ending_of(plain, _ENDINGS_OF_RUNS_ONLY):
        return None
    if _ending_of(plain, _RUN_ENDINGS):
        return without_run_ending(plain)
    if plain != item.name and "." not in plain:  # bm25.gz
        return plain
    if _looks_like_a_run(str(item)):
        return without_ending(without_run_ending(plain))
    return None


def without_run_ending(name: str) -> str:
    """Return the name of a file of a run without the ending that folders of runs leave out.

    >>> without_run_ending("bm25.results"), without_run_ending("bm25.v2")
    ('bm25', 'bm25.v2')
    """
    ending = _ending_of(name, (*_RUN_ENDINGS, *_POSSIBLE_ENDINGS))
    return name.removesuffix(ending) or name


def _is_backup(name: str) -> bool:
    """Return whether a file's name is that of a backup, such as `a.run~`."""
    return _BACKUP.fullmatch(without_compression(name)) is not None


def _ending_of(name: str, endings: tuple[str, ...]) -> str:
    """Return the ending of a file's name, as it is written there; empty if it has none of these."""
    lengths = [len(ending) for ending in endings if name.lower().endswith(ending)]
    return name[-lengths[0] :] if lengths else ""


def _looks_like_a_run(path: str) -> bool:
    """Return whether a file's first line is that of a run; False if it cannot be read."""
    try:
        file = File.opened(path)
    except (ValueError, OSError):
        return False
    if format_of(file).always_has_columns:
        return True
    line = file.first_line
    names = header_of(line, file.ending)
    fields = line.split()
    if file.is_json:
        return True
    if len(fields) == 3 and fields[2].isdecimal():
        return True
    if len(fields) >= 6 and number_of_text(fields[4]) is not None:
        return True
    if grades_may_be_scores(names.names):  # BEIR's qrels
        return False
    headers = ({*names.columns(RUN)}, {*our_names(fields)})
    return any(
        {*schema.needed} <= header for schema in (RUN, RANKED_RUN) for header in headers
    )
