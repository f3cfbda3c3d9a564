"""Systematic reviews: simulations and projects of ASReview (2 and 3) as qrels and runs.

A review is a query, a model is a run, the order of labelling is its ranking. ASReview itself is not
needed: a project file is a zip with JSON and SQLite databases.
"""

from __future__ import annotations

import lzma
import os
import sqlite3
import tempfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from ir_lexirecall._util.errors import and_more, entry, naming, repeated, shown
from ir_lexirecall._util.paths import PathLike, is_path
from ir_lexirecall._util.selecting import without
from ir_lexirecall.io.archives import rows_of_table, text_of_member, unpack_member
from ir_lexirecall.io.cells import NumbersByQuery
from ir_lexirecall.io.files import JSONObject, member_json

ReviewFiles: TypeAlias = (
    "str | os.PathLike[str] | Iterable[str | os.PathLike[str]] | Mapping[str, Any]"
)
"""One or several ``.asreview`` files, a folder, or a mapping of models' names to any of these."""

# zipfile raises RuntimeError for an archive with a password.
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    RuntimeError,
    UnicodeDecodeError,
)


@dataclass(frozen=True)
class Simulation:
    """What an ``.asreview`` file says.

    Attributes:
        review: name of the data set.
        model: classifier, feature extractor and querier, joined by ``-``.
        ranking: ids of all records: those labelled, in that order, then the others, relevant ones
            last.
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

    Records that were never labelled end the ranking, the relevant ones last; so measures of total
    recall find the whole collection in it (``n='ranking'``, their default).

    Args:
        files: ``.asreview`` files of ASReview 2 or 3, a folder of them, or a mapping of models'
            names to these; without names, a model is called by its classifier, feature extractor
            and querier.
        priors: count the records that models were given to start with, as their first ones;
            otherwise they are left out of rankings and judgments.

    Raises:
        ValueError: a file cannot be read, has no relevant record, or does not fit the others; the
            message names it.
    """
    named_paths = list(_named_files(files))
    if not named_paths:
        raise ValueError("no .asreview files are given")
    qrels: dict[str, dict[str, int]] = {}
    runs: dict[str, NumbersByQuery] = {}
    path_of: dict[tuple[str, str], str] = {}
    for name, path in named_paths:
        simulation = read_asreview(path, priors=priors)
        model, review = name or simulation.model, simulation.review
        first_path = path_of.setdefault((model, review), path)
        if first_path != path:
            raise ValueError(
                f"{path}: model {model!r} has a simulation of review {review!r} already, "
                f"{first_path}; name the models: {{name: files}}, or NAME=FILE on the command line"
            )
        grades = _grades(simulation)
        if qrels.setdefault(review, grades) != grades:
            other_path = next(
                of for (_, other), of in path_of.items() if other == review
            )
            raise ValueError(
                f"{path}: {_message_on_labels(review, grades, qrels, other_path)}"
            )
        ranking = {
            record: -float(rank) for rank, record in enumerate(simulation.ranking, 1)
        }
        runs.setdefault(model, {})[review] = ranking
    _check_all_reviews(runs, qrels)
    return Reviews(qrels, runs)


def _grades(simulation: Simulation) -> dict[str, int]:
    """Return the grades of all records of a review: 1 if relevant, else 0."""
    records = sorted(simulation.ranking, key=int)
    return {record: int(record in simulation.relevant) for record in records}


def _message_on_labels(
    review: str,
    grades: dict[str, int],
    qrels: dict[str, dict[str, int]],
    other_path: str,
) -> str:
    """Return the message on simulations of a review with different records or labels."""
    others = qrels[review]
    records = {**others, **grades}
    differing = [one for one in records if grades.get(one) != others.get(one)]
    return (
        f"review {review!r} has other records than in {other_path}, or other labels, such as of "
        f"record {differing[0]}; were they simulated with other prior knowledge? priors=True "
        "(--priors) counts it"
    )


def _check_all_reviews(
    runs: dict[str, NumbersByQuery], reviews: Collection[str]
) -> None:
    """Raise if a model has no simulation of some review."""
    for model, rankings in runs.items():
        missing = without(reviews, rankings)
        if missing:
            others = and_more(len(missing) - 1)
            raise ValueError(
                f"model {model!r} has no simulation of review {missing[0]!r}{others}; add it, or "
                "leave out the model or the review"
            )


def _named_files(files: Any) -> Iterator[tuple[str, str]]:
    """Yield the name of the model, empty if none is given, and the path of each file."""
    if isinstance(files, Mapping):
        for name, part in files.items():
            for _, path in _named_files(part):
                yield str(name), path
    elif is_path(files):
        if os.path.isdir(files):
            for file in sorted(Path(files).glob("*.asreview")):
                yield "", str(file)
        else:
            yield "", os.fspath(files)
    else:
        for item in files:
            yield from _named_files(item)


# -- one file --------------------------------------------------------------------------------------


@entry
def read_asreview(path: PathLike, *, priors: bool = False) -> Simulation:
    """Read a project or simulation of ASReview 2 or 3.

    A record is relevant if it was labelled so; if it was not labelled, if the data set says so
    (column ``included``). Duplicates, which ASReview 3 labels with their record, are no records of
    their own.

    Args:
        path: the ``.asreview`` file.
        priors: see ``read_reviews``.

    Returns:
        The simulation.

    Raises:
        ValueError: it is damaged, of another version, or has no relevant record.
    """
    file = os.fspath(path)
    if not os.path.isfile(file):
        raise ValueError(f"{file}: there is no such file")
    with naming(file):
        project, records, results = _contents(file)
        labelled = [result for result in results if result.label is not None]
        _check_records(records)
        _check_labels(records, labelled)
        ranking = _ranking(records, labelled, priors=priors)
        if not ranking.relevant:
            raise ValueError("no record is relevant: there is nothing to find")
        return Simulation(
            review=_review_name(project),
            model=_model_name(labelled),
            ranking=(*ranking.labelled, *ranking.others),
            relevant=ranking.relevant,
            labelled=len(ranking.labelled),
            priors=ranking.priors,
        )


class _Record(NamedTuple):
    """A row of the table of records; None where a value is missing."""

    record_id: int
    included: int | None
    duplicate_of: int | None


class _Result(NamedTuple):
    """A row of the table of results: a label, and what chose the record; priors have no querier."""

    record_id: int
    label: int | None
    classifier: str | None
    feature_extractor: str | None
    querier: str | None


def _contents(file: str) -> tuple[dict[str, Any], list[_Record], list[_Result]]:
    """Return the project, the records and the results of a file."""
    try:
        with (
            zipfile.ZipFile(file) as archive,
            tempfile.TemporaryDirectory(prefix="ir-lexirecall-") as folder,
        ):
            project = _project(archive, file)
            of_records, of_results = _databases(archive, project)
            database = Path(folder, "records.db")
            unpack_member(archive, of_records, database)
            records = rows_of_table(database, "record", _Record._fields, "record_id")
            if of_results != of_records:
                database = Path(folder, "results.db")
                unpack_member(archive, of_results, database)
            results = rows_of_table(database, "results", _Result._fields, "rowid")
    except _DAMAGE as error:
        raise ValueError(
            f"not a project of ASReview, or a damaged one: {error}; save or simulate it again"
        ) from None
    except sqlite3.Error as error:
        raise ValueError(
            f"its database cannot be read: {error}; save or simulate it again"
        ) from None
    except OSError as error:
        raise ValueError(f"{file} cannot be read: {error}") from None
    return project, list(map(_Record._make, records)), list(map(_Result._make, results))


def _project(archive: zipfile.ZipFile, file: str) -> dict[str, Any]:
    """Return the content of `project.json`."""
    if "project.json" not in archive.namelist():
        raise ValueError("not a project of ASReview: it has no project.json")
    text = text_of_member(archive, "project.json")
    project = member_json(text, f"{file} (project.json)")
    if not isinstance(project, dict):
        raise ValueError(
            f"its project.json holds {shown(project)}, not what ASReview writes"
        )
    return project


def _databases(archive: zipfile.ZipFile, project: JSONObject) -> tuple[str, str]:
    """Return the names of the databases of records and of results."""
    names = archive.namelist()
    in_reviews = [name for name in names if name.startswith("reviews/")]
    states = sorted(name for name in in_reviews if name.endswith("/results.db"))
    if len(states) > 1:
        raise ValueError(f"it holds {len(states)} reviews; give a file with one")
    if "results.db" in names:  # ASReview 3
        return "results.db", "results.db"
    if "data_store.db" in names and states:
        return "data_store.db", states[0]
    raise ValueError(
        f"a project of ASReview {project.get('version', '?')}, which is not readable; bring it to "
        "version 2 or 3 with 'asreview migrate', or finish the simulation"
    )


def _check_records(records: Sequence[_Record]) -> None:
    """Raise if a record has no id of its own, is a duplicate of none, or has an odd label."""
    again = repeated([record.record_id for record in records])
    if again is not None:
        raise ValueError(
            f"record {shown(again)} is in the data set twice; save or simulate it again"
        )
    for record in records:
        if type(record.record_id) is not int:
            raise ValueError(
                f"the id of a record is {shown(record.record_id)}, not an integer"
            )
        # Older versions write -1 for a missing label.
        if record.included not in (0, 1, -1, None):
            label = shown(record.included)
            raise ValueError(
                f"the data set labels record {record.record_id} {label}, not 0 or 1"
            )
    record_ids = {record.record_id for record in records}
    for record in records:
        of_record = record.duplicate_of
        if of_record is not None and of_record not in record_ids:
            raise ValueError(
                f"record {record.record_id} is a duplicate of record {shown(of_record)}, which is "
                "not in the data set; save or simulate it again"
            )


def _check_labels(records: Sequence[_Record], labelled: Sequence[_Result]) -> None:
    """Raise if a record that was labelled is not in the data set, or has no label 0 or 1.

    Raises:
        ValueError: also if a record has both labels.
    """
    original = _original_of(records)
    originals = {record.record_id for record in records if record.duplicate_of is None}
    unknown = [
        result.record_id
        for result in labelled
        if original.get(result.record_id) not in originals
    ]
    if unknown:
        raise ValueError(
            f"record {unknown[0]} was labelled, but is not in the data set"
            f"{and_more(len(unknown) - 1)}"
        )
    if odd := [result for result in labelled if result.label not in (0, 1)]:
        raise ValueError(
            f"the label of record {odd[0].record_id} is {shown(odd[0].label)}, not 0 or 1"
            f"{and_more(len(odd) - 1)}"
        )
    label_of: dict[int, int | None] = {}
    for result in labelled:
        if label_of.setdefault(result.record_id, result.label) != result.label:
            raise ValueError(
                f"record {result.record_id} was labelled 0 and 1; save or simulate it again"
            )


def _original_of(records: Iterable[_Record]) -> dict[int, int]:
    """Return the record of which each one is a duplicate; the record itself if it is none."""
    original = {}
    for record in records:
        original[record.record_id] = record.record_id
        if record.duplicate_of is not None:
            original[record.record_id] = record.duplicate_of
    return original


class _Ranking(NamedTuple):
    """Ids of records: those labelled in their order, the others, which are relevant, and priors."""

    labelled: list[str]
    others: list[str]
    relevant: frozenset[str]
    priors: frozenset[str]


def _ranking(
    records: Sequence[_Record], labelled: Sequence[_Result], *, priors: bool
) -> _Ranking:
    """Return the order of the records; those that were not labelled follow, relevant ones last."""
    original = _original_of(records)
    label_of: dict[str, int | None] = {}
    prior_records = set()
    for result in labelled:  # ASReview 3 labels duplicates with their record
        record_id = str(original[result.record_id])
        label_of.setdefault(record_id, result.label)
        if result.querier is None:
            prior_records.add(record_id)
    left_out = set() if priors else prior_records
    included = {}
    relevant = set()
    for record in records:
        record_id = str(record.record_id)
        if record.duplicate_of is not None or record_id in left_out:
            continue
        included[record_id] = record.included
        if label_of.get(record_id, record.included) == 1:
            relevant.add(record_id)
    in_order = without(label_of, left_out)
    others = sorted(
        included.keys() - label_of.keys(),
        key=lambda record_id: (record_id in relevant, int(record_id)),
    )
    return _Ranking(in_order, others, frozenset(relevant), frozenset(prior_records))


def _review_name(project: JSONObject) -> str:
    """Return the name of the first data set, else of the project, without its ending."""
    name = None
    datasets = project.get("datasets")
    if isinstance(datasets, list):
        named = [item for item in datasets if isinstance(item, dict)]
        if named:
            name = named[0].get("name")
    if not isinstance(name, str):
        name = project.get("name")
    if not isinstance(name, str) or not name:
        raise ValueError(f"the project has no name: {shown(name)}")
    return Path(name).stem or name


def _model_name(labelled: Iterable[_Result]) -> str:
    """Return the name of the model that chose most of the records."""
    chosen = Counter(result[2:] for result in labelled if result.querier is not None)
    trained = {
        parts: count for parts, count in chosen.items() if parts[0] is not None
    } or chosen
    model: tuple[Any, ...] = max(
        trained, key=lambda parts: trained[parts], default=("unknown",)
    )
    return "-".join(str(part) for part in model if part is not None)
