"""Files that benchmarks and frameworks write, read as runs and qrels: recognised by their content, not by their names.

Beyond TREC's formats and tables (``trec``): predictions of MTEB (JSON) and sentence-transformers (JSON lines), dicts of dicts as
JSON, BEIR's qrels (TSV), folders of runs as SuiteEval and TIREx write them, metadata on top of a run, and assignments of nuggets.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ir_lexirecall import trec
from ir_lexirecall.errors import and_more, is_number
from ir_lexirecall.files import content_path, rereadable
from ir_lexirecall.lazy import LazyModule

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
else:
    pl = LazyModule("polars")

_MTEB = "mteb_model_meta"
_BEIR = ("query-id", "corpus-id", "score")
_COMPRESSIONS = (".gz", ".bz2", ".xz", ".zst")
_RUN_ENDINGS = (".res", ".run", ".txt", ".parquet", ".jsonl", "_predictions.json", ".json")
_NO_RUNS = frozenset(
    ("readme.txt", "qrels.txt", "requirements.txt", "qrels.parquet", "perquery.parquet", "package.json")
)
_TIREX_RUN = "run.txt"
_MOST_DIGITS = 300
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")

# -- runs and qrels --------------------------------------------------------------------------------


def run_batches(path: str) -> Iterator[pl.DataFrame]:
    """A run's ``query_id``, ``doc_id`` and ``score``, some million rows at a time, in the file's order.

    Args:
        path: what ``trec.run_batches`` reads, or JSON: predictions of MTEB with a single subset and split, lines of predictions
            as sentence-transformers writes them, or a dict of dicts.

    Raises:
        ValueError: the file is none of them; the message says what it was taken for, and where it fails.
    """
    with rereadable(path) as file:
        if _is_json(file):
            yield _json_run(file)
        else:
            yield from trec.run_batches(file)


def read_run(path: str) -> pl.DataFrame:
    """A whole run, see ``run_batches``."""
    with rereadable(path) as file:
        return _json_run(file) if _is_json(file) else trec.read_run(file)


def read_qrels(path: str) -> pl.DataFrame:
    """Qrels: what ``trec.read_qrels`` reads, BEIR's TSV (``query-id``, ``corpus-id``, ``score``), or a dict of dicts as JSON.

    Raises:
        ValueError: the file is none of them; the message says what it was taken for, and where it fails.
    """
    with rereadable(path) as file:
        if _is_json(file):
            return _rows(_json_dicts(file, "qrels"), "relevance")
        if not trec.is_parquet(file) and tuple(trec.first_line(file).split()) == _BEIR:
            return trec.read_lines(file, ("query_id", "doc_id", "relevance"), header=True)
        table = trec.read_qrels(file)
    if set(_BEIR) <= set(table.columns):
        table = table.rename(dict(zip(_BEIR, ("query_id", "doc_id", "relevance"), strict=True)))
    return table


def read_predictions(
    path: str | os.PathLike[str], subset: str | None = None, split: str | None = None
) -> dict[str, dict[str, float]]:
    """A run out of predictions of MTEB: ``{subset: {split: {query_id: {doc_id: score}}}}``.

    They are written before MTEB takes identical ids or first results out; ``exclude="self"`` does the former.

    Args:
        path: ``{task}_predictions.json``.
        subset, split: which, where the file holds several.

    Raises:
        ValueError: no such predictions, or several where none is named.
    """
    file = os.fspath(path)
    content = _parsed(_text(file), file, 1)
    if not isinstance(content, dict) or not _is_mteb(content):
        raise ValueError(f"{file}: no predictions of MTEB, which map subsets to splits to queries")
    return _mteb_run(content, file, subset, split)


def _is_json(path: str) -> bool:
    """Whether a file starts as JSON does; a line of six fields is TREC's whatever it starts with."""
    if trec.is_parquet(path):
        return False
    line = trec.first_line(path).lstrip("\ufeff \t\r\n")
    if not line:  # blank lines first, or an empty file
        line = trec.first_text(path).lstrip()
    return line.startswith(("{", "[")) and (len(line.split()) != len(trec.RUN_FIELDS) or '"' in line)


def _json_run(path: str) -> pl.DataFrame:
    text = _text(path)
    first, _, rest = text.lstrip().partition("\n")
    if first.startswith("{") and first.rstrip().endswith("}") and rest.strip():
        return _prediction_lines(text, path)
    content = _parsed(text, path, 1)
    if _is_prediction(content):
        return _prediction_lines(text, path)
    if isinstance(content, dict) and _is_mteb(content):
        return _rows(_mteb_run(content, path), "score")
    return _rows(_dicts(content, path, "run"), "score")


def _json_dicts(path: str, what: str) -> dict[str, dict[str, Any]]:
    return _dicts(_parsed(_text(path), path, 1), path, what)


def _dicts(content: Any, path: str, what: str) -> dict[str, dict[str, Any]]:
    value = "grade" if what == "qrels" else "score"
    if not isinstance(content, dict):
        raise ValueError(f"{path}: taken for JSON, but a {type(content).__name__} is no {what}: {_expected(value)}")
    for query_id, docs in content.items():
        if not isinstance(docs, dict):
            raise ValueError(
                f"{path}: taken for JSON, but query {query_id!r} maps to {_short(docs)}: {_expected(value)}"
            )
        odd = [doc_id for doc_id, number in docs.items() if not is_number(number)]
        if odd:
            raise ValueError(
                f"{path}: the {value} of document {odd[0]!r} for query {query_id!r} is {_short(docs[odd[0]])}, not a number"
                f"{and_more(len(odd) - 1)}"
            )
    return content


def _expected(value: str) -> str:
    return f"expected {{query_id: {{doc_id: {value}}}}}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _rows(nested: Mapping[str, Mapping[str, Any]], value: str) -> pl.DataFrame:
    numbers = [float(number) for docs in nested.values() for number in docs.values()]
    return pl.DataFrame(
        {
            "query_id": pl.Series([q for q, docs in nested.items() for _ in docs], dtype=pl.String),
            "doc_id": pl.Series([doc_id for docs in nested.values() for doc_id in docs], dtype=pl.String),
            value: pl.Series(numbers, dtype=pl.Float64),
        }
    )


# -- MTEB and sentence-transformers ------------------------------------------------------------------


def _is_mteb(content: dict[str, Any]) -> bool:
    if _MTEB in content:
        return True
    return bool(content) and all(
        isinstance(splits, dict)
        and bool(splits)
        and all(
            isinstance(run, dict) and bool(run) and all(isinstance(d, dict) for d in run.values())
            for run in splits.values()
        )
        for splits in content.values()
    )


def _mteb_run(
    content: dict[str, Any], path: str, subset: str | None = None, split: str | None = None
) -> dict[str, dict[str, float]]:
    there = [
        (name, part)
        for name, splits in content.items()
        if name != _MTEB and isinstance(splits, dict)
        for part in splits
    ]
    wanted = [(a, b) for a, b in there if subset in (None, a) and split in (None, b)]
    listed = ", ".join(f"{a}/{b}" for a, b in there) or "nothing"
    if not wanted:
        raise ValueError(
            f"{path}: no predictions of MTEB for {subset or 'any subset'}/{split or 'any split'}; it has {listed}"
        )
    if len(wanted) > 1:
        raise ValueError(
            f"{path}: predictions of MTEB for {listed}; choose with ir_lexirecall.readers.read_predictions(path, subset, split)"
        )
    a, b = wanted[0]
    return _dicts(content[a][b], f"{path} ({a}/{b})", "run")


def _is_prediction(content: Any) -> bool:
    return isinstance(content, dict) and isinstance(content.get("results"), list) and "query_id" in content


def _prediction_lines(text: str, path: str) -> pl.DataFrame:
    """Lines ``{"query_id": ..., "results": [{"corpus_id": ..., "score": ...}, ...]}``."""
    query_ids: list[str] = []
    doc_ids: list[str] = []
    scores: list[float] = []
    seen: set[str] = set()
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        place = f"{path}, line {number}"
        content = _parsed(line, path, number)
        if not _is_prediction(content):
            raise ValueError(
                f"{place}: taken for predictions of sentence-transformers, but it is not "
                '{"query_id": ..., "results": [{"corpus_id": ..., "score": ...}, ...]}'
            )
        query_id = _id(content["query_id"], "query_id", place)
        if query_id in seen:
            raise ValueError(f"{place}: query {query_id!r} occurs twice")
        seen.add(query_id)
        for result in content["results"]:
            if not isinstance(result, dict) or not {"corpus_id", "score"} <= result.keys():
                raise ValueError(
                    f"{place}: a result of query {query_id!r} is {_short(result)}, without corpus_id and score"
                )
            doc_ids.append(_id(result["corpus_id"], "corpus_id", place))
            if not is_number(result["score"]):
                raise ValueError(
                    f"{place}: the score of document {doc_ids[-1]!r} for query {query_id!r} is {_short(result['score'])}, not a "
                    "number"
                )
            scores.append(float(result["score"]))
        query_ids += [query_id] * len(content["results"])
    columns = {"query_id": query_ids, "doc_id": doc_ids}
    return pl.DataFrame(
        {
            **{name: pl.Series(ids, dtype=pl.String) for name, ids in columns.items()},
            "score": pl.Series(scores, dtype=pl.Float64),
        }
    )


def _id(value: Any, name: str, place: str) -> str:
    if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
        return str(value)
    raise ValueError(f"{place}: {name} is {_short(value)}, not a string or an integer")


def _text(path: str) -> str:
    try:
        return trec.whole_content(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = 1 + error.object.count(b"\n", 0, error.start)
        raise ValueError(f"{path}, line {line}: not UTF-8 ({error.reason})") from None


def _parsed(text: str, path: str, first_line: int) -> Any:
    try:
        content = json.loads(text, object_pairs_hook=lambda pairs: _object(pairs, path), parse_int=_integer)
        if _SURROGATE.search(text):
            json.dumps(content, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        raise ValueError(f"{path}, line {first_line + error.lineno - 1}: taken for JSON, but {error.msg}") from None
    except RecursionError:
        raise ValueError(f"{path}: taken for JSON, but nested too deeply") from None
    except UnicodeEncodeError as error:
        half = error.object[error.start].encode("ascii", "backslashreplace").decode()
        raise ValueError(f"{path}: taken for JSON, but {half} is half a character (a lone surrogate)") from None
    return content


def _integer(digits: str) -> int | float:
    """A JSON integer; one beyond the largest float as JSON's 1e999 is read: infinite."""
    return int(digits) if len(digits) <= _MOST_DIGITS else float(digits)


def _object(pairs: list[tuple[str, Any]], path: str) -> dict[str, Any]:
    """A JSON object; what it names twice would be lost."""
    content = dict(pairs)
    if len(content) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{path}: {twice!r} occurs twice in one JSON object")
    return content


# -- folders and metadata ----------------------------------------------------------------------------


def run_files(folder: str | os.PathLike[str]) -> dict[str, str]:
    """The runs in a folder by name: files such as ``bm25.res.gz``, and folders such as ``bm25/run.txt.gz`` (TIREx).

    Other files (tables of values, READMEs, hidden ones) are left alone.

    Raises:
        ValueError: two files of one name.
    """
    runs: dict[str, str] = {}
    for item in sorted(Path(folder).iterdir()):
        if item.name.startswith("."):
            continue
        if item.is_dir():
            inside = [file for file in sorted(item.iterdir()) if _without_compression(file.name) == _TIREX_RUN]
            named = [(item.name, file) for file in inside]
        else:
            named = [(name, item)] if (name := _run_name(item.name)) else []
        for name, file in named:
            if name in runs:
                raise ValueError(
                    f"{folder}: two runs have the same name, {name}: {Path(runs[name]).name} and {file.name}"
                )
            runs[name] = str(file)
    return runs


def _without_compression(name: str) -> str:
    ending = next((ending for ending in _COMPRESSIONS if name.lower().endswith(ending)), "")
    return name[: len(name) - len(ending)]


def _run_name(name: str) -> str | None:
    """What a file's run is called; None where it does not look like a run."""
    plain = _without_compression(name)
    if plain.lower() in _NO_RUNS:
        return None
    ending = next((ending for ending in _RUN_ENDINGS if plain.lower().endswith(ending)), None)
    return plain[: len(plain) - len(ending)] or None if ending else None


def run_metadata(path: str | os.PathLike[str]) -> str | None:
    """The ir-metadata of a run: its comment lines on top, or ``ir-metadata.yml`` beside it; None where there is neither.

    Returns:
        The YAML as text.
    """
    file = os.fspath(path)
    if os.path.isfile(content_path(file)) and not trec.is_parquet(file):
        header = trec.metadata_header(file)
        if header:
            return "\n".join(line.removeprefix("#").removeprefix(" ") for line in header.splitlines()[1:-1])
    beside = Path(file).parent / "ir-metadata.yml"
    if _without_compression(Path(file).name) == _TIREX_RUN and beside.is_file():
        return beside.read_text(encoding="utf-8", errors="replace").rstrip("\n")
    return None


# -- nuggets -----------------------------------------------------------------------------------------

_GRADES = {"support": 2, "partial_support": 1, "not_support": 0}


def nugget_qrels(
    assignments: str | os.PathLike[str] | Iterable[Mapping[str, Any]], *, vital: float = 1.0, okay: float = 0.5
) -> pd.DataFrame:
    """Qrels with weighted subtopics out of assignments of nuggets (TREC RAG, AutoNuggetizer).

    A record says which nuggets of a query a text supports: ``{"qid", "nuggets": [{"text", "importance", "assignment"}]}``. The
    text is called by ``docid`` (or ``doc_id``, ``docno``), and where the record is of a whole answer by ``run_id``.

    Args:
        assignments: records, or the path of a file with one per line (JSON lines).
        vital, okay: weights of nuggets of this importance.

    Returns:
        ``query_id``, ``doc_id``, ``subtopic_id`` (the nugget's text), ``relevance`` (2 support, 1 partial support, 0 none) and
        ``weight``: for RBU, ``D_nDCG``, ``IA`` and the other measures of diversity.

    Raises:
        ValueError: a record or nugget lacks a field, or one has an unknown value; the message names it.

    >>> record = {"qid": "1", "docid": "d7", "nuggets": [
    ...     {"text": "Rome was founded", "importance": "vital", "assignment": "support"},
    ...     {"text": "by twins", "importance": "okay", "assignment": "partial_support"}]}
    >>> nugget_qrels([record])
      query_id doc_id       subtopic_id  relevance  weight
    0        1     d7  Rome was founded          2     1.0
    1        1     d7          by twins          1     0.5
    """
    import pandas as pd

    weights = {"vital": vital, "okay": okay}
    for name, weight in weights.items():
        if not is_number(weight) or not 0 <= weight < float("inf"):
            raise ValueError(f"nugget_qrels: {name} must be a number of at least 0, not {weight!r}")
    rows = []
    for place, record in _records(assignments):
        query_id = _field(record, ("qid", "query_id"), place)
        doc_id = _field(record, ("docid", "doc_id", "docno", "run_id"), place)
        nuggets = record.get("nuggets")
        if not isinstance(nuggets, list):
            raise ValueError(f"{place}: no list of nuggets for query {query_id!r}")
        for nugget in nuggets:
            if not isinstance(nugget, Mapping):
                raise ValueError(f"{place}: a nugget of query {query_id!r} is {_short(nugget)}")
            text = _field(nugget, ("text",), place)
            weight = _choice(nugget, "importance", weights, place, text)
            grade = _choice(nugget, "assignment", _GRADES, place, text)
            rows.append((query_id, doc_id, text, grade, weight))
    return pd.DataFrame(rows, columns=["query_id", "doc_id", "subtopic_id", "relevance", "weight"])


def _records(source: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        items: Iterable[tuple[str, Any]] = (
            (f"{path}, line {n}", _parsed(line, path, n))
            for n, line in enumerate(_text(path).split("\n"), start=1)
            if line.strip()
        )
    else:
        items = ((f"nugget_qrels: record {n}", record) for n, record in enumerate(source, start=1))
    for place, record in items:
        if not isinstance(record, Mapping):
            raise ValueError(f"{place}: expected an assignment of nuggets, got {_short(record)}")
        yield place, record


def _field(record: Mapping[str, Any], names: tuple[str, ...], place: str) -> str:
    name = next((name for name in names if name in record), None)
    if name is None:
        raise ValueError(
            f"{place}: there is no {' or '.join(names)}; it has {', '.join(map(str, record)) or 'nothing'}"
        )
    return _id(record[name], name, place)


def _choice(nugget: Mapping[str, Any], name: str, choices: Mapping[str, Any], place: str, text: str) -> Any:
    value = nugget.get(name)
    if not isinstance(value, str) or value not in choices:
        raise ValueError(
            f"{place}: nugget {_short(text)} has the {name} {_short(value)}; expected one of {', '.join(choices)}"
        )
    return choices[value]
