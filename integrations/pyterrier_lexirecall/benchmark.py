"""``pt.lexirecall.Benchmark``: run pipelines on many data sets, save the runs, and compare them."""

from __future__ import annotations

import inspect
import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pyterrier as pt

import ir_lexirecall.benchmarks as benchmarks
from ir_lexirecall._util.errors import (
    and_more,
    did_you_mean,
    entry,
    naming,
    repeated,
    shown,
)
from ir_lexirecall._util.progress import progress_bar
from ir_lexirecall.comparison.comparing import CriteriaLike
from ir_lexirecall.data.collection import PREFIX, Rules, find_collection, rules_of
from ir_lexirecall.data.judgments import Judgments
from pyterrier_lexirecall.options import OPTIONS, check_options


@partial(entry, name="pt.lexirecall.Benchmark")
def Benchmark(
    pipelines: Any,
    collections: Any,
    by: CriteriaLike | None = None,
    *,
    save_dir: str | os.PathLike[str] | None = None,
    experiment: Mapping[str, Any] | None = None,
    progress: bool | None = None,
    **options: Any,
) -> benchmarks.Benchmark:
    """Run pipelines on many data sets and compare them as ``ir_lexirecall.benchmark`` does.

    Every pipeline runs on every data set, one data set after the other, through ``pt.Experiment``.
    Its run is saved as ``{save_dir}/{data set}/{pipeline}.res.gz`` (slashes of names as dashes, in
    lower case, as SuiteEval does). A run is there whole or not at all; one that is there already is
    not made again, so a benchmark that was interrupted continues.

    Args:
        pipelines: a mapping of names to pipelines, a list of pipelines (called by what they print),
            or a function of the data set that gives either, or yields pipelines or pairs of a
            pipeline and its name.
        collections: a list of data sets (ids with or without ``irds:``, or PyTerrier's objects), a
            mapping of names to these or to pairs of topics and qrels (a frame, or what
            ``ir_lexirecall.load`` gives), or a suite of SuiteEval.
        by: as in ``ir_lexirecall.benchmark``, of pipelines.
        save_dir: where runs are kept; by default nowhere.
        experiment: options of ``pt.Experiment``, such as ``batch_size``.
        progress: show progress bars; by default on a terminal only.
        options: whatever else ``ir_lexirecall.benchmark`` takes, such as ``baseline``, ``test`` and
            ``margin``.

    Returns:
        ``Benchmark``: a ``Comparison`` for each data set, and what holds over all of them.

    Raises:
        ValueError: no data sets or pipelines, two of one name, or bad input to the evaluation.

    >>> import pandas as pd
    >>> topics = pd.DataFrame({"qid": ["1"], "query": ["x"]})
    >>> qrels = pd.DataFrame({"qid": ["1", "1"], "docno": ["a", "b"], "label": [1, 1]})
    >>> one = pd.DataFrame({"qid": "1", "docno": ["a", "b"], "score": [2.0, 1.0], "rank": [0, 1]})
    >>> result = Benchmark({"one": pt.Transformer.from_df(one)}, {"tiny": (topics, qrels)}, ["AP"])
    >>> result["tiny"].means()[["criterion", "run", "mean"]]
      criterion  run  mean
    0        AP  one   1.0
    """
    _check_options(options)
    _check_order(collections)
    _check_experiment(experiment or {})
    data = _data_sets(collections)
    judgments = {name: _judgments_of(source) for name, source in data.items()}
    runs: dict[str, dict[str, str]] = {}
    with tempfile.TemporaryDirectory(prefix="ir-lexirecall-") as temporary:
        kept = Path(temporary if save_dir is None else save_dir)
        for name, source in progress_bar(progress, data.items(), desc="data sets"):
            systems = _named(pipelines, source)
            runs[name] = _run_pipelines(
                systems, source, kept / _folder(name), experiment or {}
            )
        return benchmarks.benchmark(judgments, runs, by, **options)


# -- check ---------------------------------------------------------------------------------------

_BY_BENCHMARK = ("collections", "runs", "values", "missing")
"""Arguments of `ir_lexirecall.benchmark` that pipelines leave no choice of."""

_FIXED = {
    "names": "pipelines are named by pipelines=",
    "save_dir": "give save_dir= to pt.lexirecall.Benchmark",
    "save_format": "runs are saved in TREC's format, from which they are read again",
    "retr_systems": "give pipelines=",
    "topics": "give collections=",
    "qrels": "give collections=",
    "eval_metrics": "give by=",
    "plan": "pt.Experiment saves runs by its linear plan only",
    **dict.fromkeys(
        ("baseline", "test", "correction", "correction_alpha"),
        "runs are compared by the options of pt.lexirecall.Benchmark, baseline= and test=",
    ),
    **dict.fromkeys(
        ("perquery", "dataframe", "round", "highlight"),
        "it changes the table of pt.Experiment, which is not used",
    ),
}
"""Arguments of `pt.Experiment` that this function gives itself, and what to do instead."""


def _check_options(options: Mapping[str, Any]) -> None:
    """Raise if an option is not one of `ir_lexirecall.benchmark`."""
    parameters = inspect.signature(benchmarks.benchmark).parameters.keys() - {
        *_BY_BENCHMARK
    }
    for name in options:
        if name not in parameters:
            fixed = _FIXED.get(name)
            hint = did_you_mean(name, parameters) if fixed is None else f"; {fixed}"
            raise TypeError(
                f"pt.lexirecall.Benchmark: unexpected argument {name!r}{hint}"
            )


def _check_order(collections: Any) -> None:
    """Raise if pipelines stand where the collections do."""
    if isinstance(collections, Mapping):
        sources = [*collections.values()]
    elif isinstance(collections, (list, tuple)):
        sources = [*collections]
    else:
        sources = [collections]
    for source in sources:
        is_results = isinstance(source, pd.DataFrame) and "score" in source
        if is_results or isinstance(source, pt.Transformer):
            raise ValueError(
                "collections holds a pipeline; pipelines come first: "
                "pt.lexirecall.Benchmark(pipelines, collections, by)"
            )


def _check_experiment(experiment: Mapping[str, Any]) -> None:
    """Raise if an option is not one of `pt.Experiment`, or one that is given already."""
    if not isinstance(experiment, Mapping):
        raise ValueError(
            "experiment must be a mapping of options of pt.Experiment, such as "
            f"{{'batch_size': 100}}, not {shown(experiment)}"
        )
    for name in experiment:
        if name in _FIXED:
            raise ValueError(f"experiment may not hold {name!r}: {_FIXED[name]}")
        if name not in OPTIONS or name == "kwargs":
            hint = did_you_mean(str(name), OPTIONS)
            raise ValueError(
                f"experiment holds {name!r}, which pt.Experiment does not have{hint}"
            )
    with naming("experiment"):
        check_options(experiment)


# -- run -----------------------------------------------------------------------------------------


def _run_pipelines(
    systems: Mapping[str, Any], source: Any, folder: Path, experiment: Mapping[str, Any]
) -> dict[str, str]:
    """Run pipelines on a data set, those without a saved run; return the files of all runs."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {name: str(folder / f"{name}.res.gz") for name in systems}
    for name, file in files.items():
        if not os.path.exists(file):
            _run_pipeline(systems[name], source, file, experiment)
    return files


def _run_pipeline(
    system: Any, source: Any, file: str, experiment: Mapping[str, Any]
) -> None:
    """Run a pipeline on a data set, and save the run, whole or not at all."""
    if _is_pair(source):
        topics, qrels = source
    else:
        topics, qrels = source.get_topics(), source.get_qrels()
    _check_topics(topics)
    columns = {"query_id": "qid", "doc_id": "docno", "relevance": "label"}
    qrels = Judgments.from_qrels(qrels).for_ir_measures().rename(columns=columns)
    # The number of queries is all that is measured, and PyTerrier reads whole grades only.
    qrels["label"] = (qrels["label"] > 0).astype("int64")
    with tempfile.TemporaryDirectory(
        prefix=".partial-", dir=Path(file).parent
    ) as unfinished:
        # PyTerrier refuses some characters in names; the file gets its name when it is whole.
        saved = {"names": ["run"], "save_dir": unfinished}
        pt.Experiment(
            [_ranking(system)], topics, qrels, ["num_q"], **saved, **experiment
        )
        os.replace(Path(unfinished) / "run.res.gz", file)


def _check_topics(topics: Any) -> None:
    """Raise if topics have no ids, or integers, where those of judgments and runs are texts."""
    if not isinstance(topics, pd.DataFrame):
        return
    if "qid" not in topics:
        raise ValueError(
            f"topics lack the column qid: they have {', '.join(map(str, topics))}"
        )
    if pd.api.types.is_integer_dtype(topics["qid"]):
        raise ValueError(
            "topics: qid holds integers, where PyTerrier needs texts; give "
            "topics.astype({'qid': str})"
        )


def _ranking(system: Any) -> Any:
    """Return the pipeline of a system with ranks: PyTerrier saves no other run, nor a table."""
    if isinstance(system, pd.DataFrame):
        return pt.Transformer.from_df(_with_ranks(_with_text_ids(system)))
    if isinstance(system, pt.Transformer):
        return system >> pt.apply.generic(_with_ranks)
    return system


def _with_text_ids(results: pd.DataFrame) -> pd.DataFrame:
    """Return results whose ids are texts, as PyTerrier joins them with those of topics."""
    integers = {
        name: str
        for name in ("qid", "docno")
        if name in results and pd.api.types.is_integer_dtype(results[name])
    }
    return results.astype(integers)


def _with_ranks(results: pd.DataFrame) -> pd.DataFrame:
    """Return results with ranks by score, if they have scores only.

    Raises:
        ValueError: a score is missing, which PyTerrier would save as a row without one.
    """
    _check_scores(results)
    if "rank" in results or not {"qid", "score"} <= {*results}:
        return results
    return pt.model.add_ranks(results)


def _check_scores(results: pd.DataFrame) -> None:
    """Raise if results lack a score of a document."""
    if not {"qid", "docno", "score"} <= {*results}:
        return
    missing = results[results["score"].isna()]
    if len(missing):
        first = missing.iloc[0]
        raise ValueError(
            f"the score of document {first['docno']!r} for query {first['qid']!r} is missing"
            f"{and_more(len(missing) - 1)}"
        )


def _judgments_of(source: Any) -> Any:
    """Return the judgments of a data set, with the rules of its collection if that is known."""
    dataset_id = _id_of(source)
    if dataset_id is not None and type(source).__name__ == "IRDSDataset":
        return find_collection(dataset_id)  # with all that is known of it
    if dataset_id is None:
        rules = Rules()
    else:
        rules = rules_of(dataset_id)
    if _is_pair(source):
        qrels = source[1]
    else:
        qrels = source.get_qrels()
    return Judgments.from_qrels(qrels).with_rules(rules)


def _is_pair(source: Any) -> bool:
    """Return whether a data set is a pair of topics and qrels."""
    return isinstance(source, (tuple, list))


# -- collections and pipelines by name -----------------------------------------------------------


def _data_sets(collections: Any) -> dict[str, Any]:
    """Return data sets by name: objects of PyTerrier, or pairs of topics and qrels.

    Raises:
        ValueError: collections of another kind, or names that cannot be those of folders.
    """
    data_sets: dict[str, Any] = {}
    name_of_folder: dict[str, str] = {}
    for name, source in _named_sources(collections):
        folder = _folder(name)
        if not _names_a_file(folder):
            raise ValueError(
                f"collection {shown(name)} cannot name a folder; give collections as a mapping "
                "of other names to them"
            )
        if folder in name_of_folder:
            raise ValueError(
                f"two collections have the same name or folder, {name_of_folder[folder]}"
            )
        name_of_folder[folder] = name
        data_sets[name] = _data_set(name, source)
    if not data_sets:
        raise ValueError("there are no collections; give at least one")
    return data_sets


def _named_sources(collections: Any) -> Iterator[tuple[str, Any]]:
    """Yield data sets, or their ids, with their names."""
    pairs: Iterable[tuple[Any, Any]]
    if isinstance(collections, Mapping):
        pairs = collections.items()
    elif isinstance(collections, (list, tuple)):
        pairs = [(_name_of(source), source) for source in collections]
    elif hasattr(collections, "datasets"):  # a suite of SuiteEval
        pairs = collections.datasets
    else:
        ways = "a list of data sets, a mapping of names to them, or a suite"
        raise ValueError(f"give collections as {ways}, not {collections!r}")
    for name, source in pairs:
        yield str(name), source


def _name_of(source: Any) -> Any:
    """Return the id of a data set as its name; an object without an id is its own name."""
    if isinstance(source, str):
        return source.removeprefix(PREFIX)
    return _id_of(source) or source


def _data_set(name: str, source: Any) -> Any:
    """Return a data set of PyTerrier, or a pair of topics and qrels; raise if it is neither."""
    if isinstance(source, str):
        dataset_id = source if ":" in source else f"{PREFIX}{source}"
        try:
            source = pt.get_dataset(dataset_id)
        except KeyError:
            raise ValueError(
                f"PyTerrier has no data set {dataset_id!r}; choose from pt.list_datasets(), or "
                "give a pair of topics and qrels"
            ) from None
    is_pair = _is_pair(source) and len(source) == 2
    if not is_pair and not (
        hasattr(source, "get_topics") and hasattr(source, "get_qrels")
    ):
        raise ValueError(
            f"collection {name!r} must be a data set or a pair of topics and qrels, not {source!r}"
        )
    return source


_ADDRESS = " object at 0x"
"""Part of the text that Python prints for an object without a name."""
_LONGEST_NAME = 200  # bytes: common file systems take 255, and an ending is added
_DRIVE = re.compile(r"[A-Za-z]:($|[\\/])")  # of Windows


def _names_a_file(name: str) -> bool:
    """Return whether a name can be that of a file or folder within another folder."""
    is_path = "/" in name or "\\" in name or _DRIVE.match(name) is not None
    is_hidden = not name.strip() or name.startswith(".")
    is_unprintable = not name.isprintable() or _ADDRESS in name
    is_long = len(name.encode("utf-8", "replace")) > _LONGEST_NAME
    return not (is_path or is_hidden or is_unprintable or is_long)


def _folder(name: str) -> str:
    """Return the folder for the runs of a data set, named as SuiteEval names it."""
    return name.replace("/", "-").lower()


def _id_of(source: Any) -> str | None:
    """Return the id of a data set in ir_datasets; None if it has no such id."""
    if not hasattr(source, "irds_ref"):
        return None
    dataset_id: str | None = source.irds_ref().dataset_id()
    return dataset_id


def _named(pipelines: Any, source: Any) -> dict[str, Any]:
    """Return the pipelines of a data set by name.

    Raises:
        ValueError: there are no pipelines, or names are repeated or cannot be those of files.
    """
    if isinstance(pipelines, pt.Transformer):
        pipelines = [pipelines]
    elif callable(pipelines):
        pipelines = pipelines(source)
    pairs = _named_pipelines(pipelines)
    if any(isinstance(name, pd.DataFrame) for name, _ in pairs):
        raise ValueError(
            "a frame of results has no name; give pipelines as a mapping of names to them"
        )
    names = [str(name) for name, _ in pairs]
    if not names:
        raise ValueError("there are no pipelines")
    twice = repeated(names)
    if twice is not None:
        raise ValueError(
            f"two pipelines have the same name, {twice}; give them as a mapping of names to "
            "pipelines"
        )
    for number, name in enumerate(names, start=1):
        if _ADDRESS in name:
            raise ValueError(
                f"pipeline {number} has no name of its own; give pipelines as a mapping, "
                "{name: pipeline}"
            )
        if not _names_a_file(name):
            raise ValueError(
                f"{shown(name)} cannot name a file; give pipelines as a mapping of other names "
                "to them"
            )
    return dict(zip(names, (pipeline for _, pipeline in pairs), strict=True))


def _named_pipelines(pipelines: Any) -> list[tuple[Any, Any]]:
    """Return names and pipelines; an unnamed pipeline serves as its own name."""
    if isinstance(pipelines, Mapping):
        return list(pipelines.items())
    if isinstance(pipelines, Iterable):
        named = []
        for item in pipelines:
            if isinstance(item, tuple):
                named.append((item[1], item[0]))
            else:
                named.append((item, item))
        return named
    raise ValueError(
        f"expected pipelines, or a function that gives some, got {pipelines!r}"
    )
