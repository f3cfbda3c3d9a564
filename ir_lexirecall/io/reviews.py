"""Systematic reviews: simulations and projects of ASReview (2 and 3) as qrels and runs.

A review is a query, a model is a run, the order of labelling is its ranking. ASReview itself is not needed: a project file is a
zip with JSON and SQLite databases.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import tempfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from ir_lexirecall._util.errors import and_more, entry, shown
from ir_lexirecall.io.files import parsed_json

ReviewFiles: TypeAlias = (
    "str | os.PathLike[str] | Iterable[str | os.PathLike[str]] | Mapping[str, Any]"
)
"""An ``.asreview`` file, a folder of them, several, or a mapping of models' names to any of these."""

_LARGEST = 2**32  # bytes of a database in a project file
_QUERIES = (  # to the databases of records and of labels
    "SELECT record_id, included, duplicate_of FROM record ORDER BY record_id",
    "SELECT record_id, label, classifier, feature_extractor, querier FROM results ORDER BY rowid",
)
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    RuntimeError,
    UnicodeDecodeError,
)  # RuntimeError: with a password


@dataclass(frozen=True)
class Simulation:
    """What an ``.asreview`` file says.

    Attributes:
        review: name of the data set.
        model: classifier, feature extractor and querier, joined by ``-``.
        ranking: ids of all records: those labelled, in that order, then the others, relevant ones last.
        relevant: ids of those that are relevant.
        labelled: how many were labelled.
        priors: ids of the records that the model was given; left out of the rest unless asked for.
    """

    review: str
    model: str
    ranking: tuple[str, ...]
    relevant: frozenset[str]
    labelled: int
    priors: frozenset[str]


@dataclass(frozen=True)
class Reviews:
    """Simulations of several models on several reviews.

    Attributes:
        qrels: for each review, the grades of all its records, 1 or 0.
        runs: for each model, the rankings of all records of each review; scores are negative ranks.
    """

    qrels: dict[str, dict[str, int]]
    runs: dict[str, dict[str, dict[str, float]]]

    @property
    def n(self) -> dict[str, int]:
        """Number of records of each review."""
        return {review: len(records) for review, records in self.qrels.items()}


@entry
def read_reviews(files: ReviewFiles, *, priors: bool = False) -> Reviews:
    """Read simulations of ASReview as qrels and runs for ``evaluate`` and ``compare``.

    Records that were never labelled end the ranking, the relevant ones last; so measures of total recall find the whole
    collection in it (``n='ranking'``, their default).

    Args:
        files: ``.asreview`` files of ASReview 2 or 3, a folder of them, or a mapping of models' names to these; without names, a
            model is called by its classifier, feature extractor and querier.
        priors: count the records that models were given to start with, as their first ones; otherwise they are left out of
            rankings and judgments.

    Raises:
        ValueError: a file cannot be read, has no relevant record, or does not fit the others; the message names it.
    """
    if not (named := list(_named_files(files))):
        raise ValueError("no .asreview files are given")
    qrels: dict[str, dict[str, int]] = {}
    runs: dict[str, dict[str, dict[str, float]]] = {}
    where: dict[tuple[str, str], str] = {}
    for name, path in named:
        found = read_asreview(path, priors=priors)
        model = name or found.model
        if (other := where.setdefault((model, found.review), path)) != path:
            raise ValueError(
                f"{path}: model {model!r} has a simulation of review {found.review!r} already, {other}; name the models: "
                "{name: files}, or NAME=FILE on the command line"
            )
        grades = {
            record: int(record in found.relevant) for record in sorted(found.ranking, key=int)
        }
        if qrels.setdefault(found.review, grades) != grades:
            first = next(path for (_, review), path in where.items() if review == found.review)
            before = qrels[found.review]
            record = next(
                record
                for record in {**before, **grades}
                if grades.get(record) != before.get(record)
            )
            raise ValueError(
                f"{path}: review {found.review!r} has other records than in {first}, or other labels, such as of record {record}; "
                "were they simulated with other prior knowledge? priors=True (--priors) counts it"
            )
        ranking = {record: -float(rank) for rank, record in enumerate(found.ranking, 1)}
        runs.setdefault(model, {})[found.review] = ranking
    for model, rankings in runs.items():
        if lacking := [review for review in qrels if review not in rankings]:
            raise ValueError(
                f"model {model!r} has no simulation of review {lacking[0]!r}{and_more(len(lacking) - 1)}; add it, or leave out the model or the "
                "review"
            )
    return Reviews(qrels, runs)


def _named_files(files: Any) -> Iterator[tuple[str, str]]:
    if isinstance(files, Mapping):
        for name, part in files.items():
            yield from ((str(name), path) for _, path in _named_files(part))
    elif isinstance(files, (str, os.PathLike)):
        if os.path.isdir(files):
            yield from (("", str(path)) for path in sorted(Path(files).glob("*.asreview")))
        else:
            yield "", os.fspath(files)
    else:
        for item in files:
            yield from _named_files(item)


# -- one file ----------------------------------------------------------------------------------------------


@entry
def read_asreview(path: str | os.PathLike[str], *, priors: bool = False) -> Simulation:
    """Read a project or simulation of ASReview 2 or 3.

    A record is relevant if it was labelled so; where it was not labelled, if the data set says so (column ``included``).
    Duplicates, which ASReview 3 labels with their record, are no records of their own.

    Args:
        path: the ``.asreview`` file.
        priors: see ``read_reviews``.

    Raises:
        ValueError: it is damaged, of another version, or has no relevant record.
    """
    file = os.fspath(path)
    if not os.path.isfile(file):
        raise ValueError(f"{file}: there is no such file")
    try:
        with (
            zipfile.ZipFile(file) as archive,
            tempfile.TemporaryDirectory(prefix="ir-lexirecall-") as folder,
        ):
            size = {item.filename: item.file_size for item in archive.infolist()}
            if "project.json" not in size:
                raise ValueError(f"{file}: not a project of ASReview: it has no project.json")
            project = parsed_json(
                archive.read("project.json").decode("utf-8"), f"{file} (project.json)"
            )
            if not isinstance(project, dict):
                raise ValueError(
                    f"{file}: its project.json holds {shown(project)}, not what ASReview writes"
                )
            states = sorted(
                name
                for name in size
                if name.startswith("reviews/") and name.endswith("/results.db")
            )
            if len(states) > 1:
                raise ValueError(f"{file}: it holds {len(states)} reviews; give a file with one")
            databases = (
                ("results.db", "results.db") if "results.db" in size else ("data_store.db", *states)
            )
            if len(databases) < 2 or databases[0] not in size:
                raise ValueError(
                    f"{file}: a project of ASReview {project.get('version', '?')}, which is not readable; bring it to version 2 or 3 "
                    "with 'asreview migrate', or finish the simulation"
                )
            tables = []
            for place, (member, query) in enumerate(zip(databases, _QUERIES, strict=True)):
                if size[member] > _LARGEST:
                    raise ValueError(f"{file}: {member} is too large ({size[member]:,} bytes)")
                database = Path(folder, f"{place}.db")
                database.write_bytes(archive.read(member))
                with contextlib.closing(
                    sqlite3.connect(f"file:{database}?mode=ro", uri=True)
                ) as connection:
                    tables.append(connection.execute(query).fetchall())
    except _DAMAGE as error:
        raise ValueError(
            f"{file}: not a project of ASReview, or a damaged one: {error}; save or simulate it again"
        ) from None
    except sqlite3.Error as error:
        raise ValueError(
            f"{file}: its database cannot be read: {error}; save or simulate it again"
        ) from None
    except OSError as error:
        raise ValueError(f"{file} cannot be read: {error}") from None
    records, results = tables
    done = [row for row in results if row[1] is not None]
    original = {
        record: record if duplicate is None else duplicate for record, _, duplicate in records
    }
    everything = {
        str(record): included for record, included, duplicate in records if duplicate is None
    }
    if unknown := [row[0] for row in done if str(original.get(row[0])) not in everything]:
        raise ValueError(
            f"{file}: record {unknown[0]} was labelled, but is not in the data set{and_more(len(unknown) - 1)}"
        )
    if odd := [row for row in done if row[1] not in (0, 1)]:
        record, label, *_ = odd[0]
        raise ValueError(
            f"{file}: the label of record {record} is {shown(label)}, not 0 or 1{and_more(len(odd) - 1)}"
        )
    labels: dict[str, Any] = {}  # ASReview 3 labels duplicates with their record
    for record, label, *_ in done:
        labels.setdefault(str(original[record]), label)
    given = frozenset(str(original[row[0]]) for row in done if row[4] is None)
    left_out = frozenset() if priors else given
    order = [record for record in labels if record not in left_out]
    relevant = frozenset(
        r
        for r, included in everything.items()
        if labels.get(r, included) == 1 and r not in left_out
    )
    if not relevant:
        raise ValueError(f"{file}: no record is relevant, so that there is nothing to find")
    others = sorted(
        {*everything} - {*order, *left_out}, key=lambda record: (record in relevant, int(record))
    )
    datasets = project.get("datasets")
    datasets = datasets if isinstance(datasets, list) else []
    names = [item.get("name") for item in datasets if isinstance(item, dict)]
    name = names[0] if names and isinstance(names[0], str) else project.get("name")
    if not isinstance(name, str) or not name:
        raise ValueError(f"{file}: the project has no name: {shown(name)}")
    # What chose most of the records is the model.
    chosen = Counter(row[2:] for row in done if row[4] is not None)
    trained = {parts: count for parts, count in chosen.items() if parts[0] is not None} or chosen
    parts: tuple[Any, ...] = max(trained, key=lambda key: trained[key], default=("unknown",))
    model = "-".join(str(part) for part in parts if part is not None)
    return Simulation(
        Path(name).stem or name, model, (*order, *others), relevant, len(order), given
    )
