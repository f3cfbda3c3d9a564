"""Files that benchmarks and frameworks write, read as runs and qrels: recognised by their content, not by their names.

Beyond TREC's formats and tables (``trec``): predictions of MTEB (JSON) and sentence-transformers (JSON lines), dicts of dicts as
JSON, BEIR's qrels (TSV), folders of runs as SuiteEval and TIREx write them, metadata on top of a run, and assignments of nuggets.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from ir_lexirecall._util.lazy import polars as pl
from ir_lexirecall.io import search_engines, trec
from ir_lexirecall.io.content import first_line, is_parquet, metadata_header, parsed_json, text_of_file
from ir_lexirecall.io.files import content_path, parquet_parts, rereadable
from ir_lexirecall.io.json_runs import (
    is_json,
    is_mteb,
    json_qrels,
    json_run,
    mteb_run,
    table_of_dicts,
)

_RANKED = ("query_id", "doc_id", "position")
_BEIR = ("query-id", "corpus-id", "score")
_COMPRESSIONS = (".gz", ".bz2", ".xz", ".zst")
_RUN_ENDINGS = (".res", ".run", ".txt", ".parquet", ".jsonl", "_predictions.json", ".json")
_NO_RUNS = frozenset(
    ("readme.txt", "qrels.txt", "requirements.txt", "qrels.parquet", "perquery.parquet", "package.json")
)
_TIREX_RUN = "run.txt"

# -- runs and qrels --------------------------------------------------------------------------------


def run_batches(path: str) -> Iterator[pl.DataFrame]:
    """A run's ``query_id``, ``doc_id`` and ``score``, some million rows at a time, in the file's order.

    Args:
        path: what ``trec.run_batches`` reads, or JSON: predictions of MTEB with a single subset and split, lines of predictions
            as sentence-transformers writes them, or a dict of dicts; or lines ``query document rank`` (MS MARCO, Pyserini); or a
            folder of Parquet files.
    """
    for part in parquet_parts(path) or [path]:
        with rereadable(part) as file:
            if is_json(file):
                yield json_run(file)
            elif _has_ranks_only(file):
                yield _ranked(file)
            else:
                yield from trec.run_batches(file)


def read_run(path: str) -> pl.DataFrame:
    """A whole run, see ``run_batches``."""
    empty = pl.DataFrame(schema={"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64})
    return trec.stacked([*run_batches(path)], empty)


def read_qrels(path: str) -> pl.DataFrame:
    """Qrels: what ``trec.read_qrels`` reads, BEIR's TSV (``query-id``, ``corpus-id``, ``score``), or a dict of dicts as JSON."""
    if parts := parquet_parts(path):
        return trec.stacked([*map(read_qrels, parts)])
    with rereadable(path) as file:
        if is_json(file):
            return table_of_dicts(json_qrels(file), "relevance")
        if not is_parquet(file) and search_engines.is_judgment_list(first_line(file)):
            return table_of_dicts(search_engines.read_judgments(file), "relevance")
        if not is_parquet(file) and tuple(first_line(file).split()) == _BEIR:
            return trec.read_lines(file, ("query_id", "doc_id", "relevance"), header=True)
        table = trec.read_qrels(file)
    if set(_BEIR) <= set(table.columns):
        table = table.rename(dict(zip(_BEIR, ("query_id", "doc_id", "relevance"), strict=True)))
    return table


def read_predictions(
    path: str | os.PathLike[str], subset: str | None = None, split: str | None = None
) -> dict[str, dict[str, float]]:
    """A run out of predictions of MTEB: ``{subset: {split: {query_id: {doc_id: score}}}}``.

    They are written before MTEB takes identical ids or first results out; ``load(qrels, exclude="self")`` does the former.

    Args:
        path: ``{task}_predictions.json``.
        subset, split: which, where the file holds several.

    Raises:
        ValueError: no such predictions, or several where none is named.
    """
    file = os.fspath(path)
    content = parsed_json(text_of_file(file), file, 1)
    if not isinstance(content, dict) or not is_mteb(content):
        raise ValueError(f"{file}: no predictions of MTEB, which map subsets to splits to queries")
    return mteb_run(content, file, subset, split)


def _has_ranks_only(path: str) -> bool:
    """Whether the first line is a query, a document and a whole number, as in runs of MS MARCO."""
    if is_parquet(path):
        return False
    fields = first_line(path).split()
    return len(fields) == len(_RANKED) and fields[2].isdecimal()


def _ranked(path: str) -> pl.DataFrame:
    """A run of lines ``query document rank``: the smaller the rank, the higher the score."""
    table = trec.read_lines(path, _RANKED, header=False)
    query, rank = table["query_id"].to_list(), table["position"].to_list()
    ranks: dict[str, set[float]] = {}
    for query_id, position in zip(query, rank, strict=True):
        ranks.setdefault(query_id, set()).add(position)
    sizes = Counter(query)
    for query_id, seen in ranks.items():
        if len(seen) < sizes[query_id] or seen != set(range(1, len(seen) + 1)):
            raise ValueError(
                f"{path}: taken for lines of query, document and rank, but the ranks of query {query_id!r} are not 1, 2, 3, ...; "
                "a TREC run has six fields: query Q0 document rank score tag"
            )
    return table.select("query_id", "doc_id", score=-table["position"])


# -- folders and metadata ----------------------------------------------------------------------------


def run_files(folder: str | os.PathLike[str]) -> dict[str, str]:
    """The runs in a folder by name: files such as ``bm25.res.gz``, and folders such as ``bm25/run.txt.gz`` (TIREx).

    Other files (tables of values, READMEs, hidden ones) are left alone.
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
    """Name of a file's run; None if it does not look like a run."""
    plain = _without_compression(name)
    if plain.lower() in _NO_RUNS:
        return None
    if plain != name and "." not in plain:
        return plain  # Sel50.gz
    ending = next((ending for ending in _RUN_ENDINGS if plain.lower().endswith(ending)), None)
    return plain[: len(plain) - len(ending)] or None if ending else None


def run_metadata(path: str | os.PathLike[str]) -> str | None:
    """The ir-metadata of a run: its comment lines on top, or ``ir-metadata.yml`` beside it; None where there is neither."""
    file = os.fspath(path)
    if os.path.isfile(content_path(file)) and not is_parquet(file):
        header = metadata_header(file)
        if header:
            return "\n".join(line.removeprefix("#").removeprefix(" ") for line in header.splitlines()[1:-1])
    beside = Path(file).parent / "ir-metadata.yml"
    if _without_compression(Path(file).name) == _TIREX_RUN and beside.is_file():
        return beside.read_text(encoding="utf-8", errors="replace").rstrip("\n")
    return None
